// From two texts to the edits that lead from one to the other.
//
// First the region: what both begin and end with is left out, in blocks of bytes. Then lines: those that occur once in each
// text and stand in the same order are taken for the same (patience difference), which leaves hunks. In a hunk the same is done
// with words: typing, deleting and breaking lines anew moves no word, so no word that occurs once is ever taken
// for deleted and typed again, which would double it if another replica did the same. Then as many words as possible that both
// have in the same order are taken for the same; where too much differs for that, those that occur once. What then differs is compared as a person sees it, by characters, and these by their bytes: two texts that
// differ only in how characters are composed do differ. `String.difference` does that for a few words; for a page
// without spaces it would take too long. The work on words and characters is quadratic, so where too much differs, in one
// hunk or in all, hunks are replaced as they stand. At last what is ambiguous is settled as people mean it
// (`WordSnapping.swift`): a word that both loses and gains letters is replaced whole.

public import ReplicatingTypes

/// The edits that lead from `old` to `new`, both valid UTF-8: sorted, apart from each other, between scalars. Applied to
/// `old` they give exactly `new`.
///
/// O(n) in bytes and O(n log n) in the lines of the region that differs, and bounded work within them.
public func textDifference(from old: [UInt8], to new: [UInt8]) -> [Edit<UInt8>] {
  var budget = TextDifference.budget
  return textDifference(from: old, to: new, &budget)
}

/// Edits of a text that are sorted and apart from each other, without what each puts in the place of itself: that would be typed
/// again. They lead to the same text. As long, for all of them together, as one difference may take.
public func differences(within edits: [Edit<UInt8>], of text: [UInt8]) -> [Edit<UInt8>] {
  var budget = TextDifference.budget
  return edits.flatMap { edit in
    if edit.range.isEmpty || edit.replacement.isEmpty { return [edit] }
    let start = edit.range.lowerBound
    return textDifference(from: Array(text[edit.range]), to: edit.replacement, &budget).map {
      Edit(
        range: start + $0.range.lowerBound..<start + $0.range.upperBound,
        replacement: $0.replacement)
    }
  }
}

private func textDifference(
  from old: [UInt8], to new: [UInt8], _ budget: inout Int
) -> [Edit<UInt8>] {
  var difference = TextDifference(old: old, new: new, budget: budget)
  difference.compareLines(of: Hunk(old: 0..<old.count, new: 0..<new.count))
  budget = difference.budget
  let snapping = WordSnapping(text: old)
  return snapping.snap(snapping.slide(difference.edits.joiningNeighbours()))
}

/// A comparison under way: hunks are looked at in order, so that edits are found in order.
struct TextDifference {
  let old: [UInt8]
  let new: [UInt8]
  private(set) var edits: [Edit<UInt8>] = []

  /// The number of words and characters that may be held against each other: it bounds a difference to a few tenths of a
  /// second.
  static let budget = 1 << 23
  /// The number that is left of these.
  private(set) var budget: Int

  /// The number of characters that the two sides of a hunk may have together for `String.difference`, whose steps cost some
  /// twenty times as much as those of `commonRuns`.
  private static let mostCharacters = 32

  /// The number of bytes of a hunk that are looked through for words.
  private static let mostWords = 1 << 20

  init(old: [UInt8], new: [UInt8], budget: Int = Self.budget) {
    self.old = old
    self.new = new
    self.budget = budget
  }

  mutating func compareLines(of hunk: Hunk) {
    guard let hunk = rest(of: hunk) else { return }
    let equal = pieces(of: hunk, cutAt: .lines).map(uniquePieces) ?? []
    for part in hunks(between: equal, in: hunk) { compareUniqueWords(of: part) }
  }

  private mutating func compareUniqueWords(of hunk: Hunk) {
    guard let part = rest(of: hunk) else { return }
    guard part.old.count + part.new.count <= Self.mostWords else { return compareWords(of: part) }
    let whole = wholeWords(of: part)
    let (before, after) = (Words(of: old, in: whole.old), Words(of: new, in: whole.new))
    let equal = longestIncrease(uniquePairs(before.hashes, after.hashes)).map {
      Hunk(old: before.ranges[$0.old], new: after.ranges[$0.new])
    }
    for part in hunks(between: equal, in: whole) { compareWords(of: part) }
  }

  /// A hunk with the whole of the words that it begins or ends in: what both sides begin and end with was cut off by bytes. Lines are
  /// not left.
  private func wholeWords(of hunk: Hunk) -> Hunk {
    var low = hunk.old.lowerBound
    var shift = hunk.new.lowerBound - low
    while low > 0, low + shift > 0 {
      var start = low - 1
      while start > 0, old[start] & 0xC0 == 0x80 { start -= 1 }
      guard start + shift >= 0, old[start..<low] == new[start + shift..<low + shift],
        lengthOfLetter(in: old, at: start) != nil
      else { break }
      low = start
    }
    let newLow = low + shift
    var high = hunk.old.upperBound
    shift = hunk.new.upperBound - high
    while high < old.count, let count = lengthOfLetter(in: old, at: high),
      high + shift + count <= new.count,
      old[high..<high + count] == new[high + shift..<high + shift + count]
    {
      high += count
    }
    return Hunk(old: low..<high, new: newLow..<high + shift)
  }

  /// - Parameter whole: what begins and ends with whole words.
  private mutating func compareWords(of whole: Hunk) {
    guard let hunk = rest(of: whole) else { return }
    if let equal = commonWords(of: whole) {
      for part in hunks(between: equal, in: whole) { compareCharacters(of: part) }
      return
    }
    guard let words = pieces(of: hunk, cutAt: .words) else { return replace(hunk) }
    if let equal = commonPieces(of: words) {
      for part in hunks(between: equal, in: hunk) { compareCharacters(of: part) }
      return
    }
    for part in hunks(between: uniquePieces(of: words), in: hunk) {
      guard let part = rest(of: part) else { continue }
      // Where hundreds of words differ, hundreds of characters do.
      guard part != hunk, let words = pieces(of: part, cutAt: .words),
        let equal = commonPieces(of: words)
      else {
        replace(part)
        continue
      }
      for part in hunks(between: equal, in: part) { compareCharacters(of: part) }
    }
  }

  /// As many words as possible that both sides have in the same order, with other words between them or not: where lines are
  /// broken anew, a word and the blank behind it are not the same as before. Nothing if too many differ.
  private mutating func commonWords(of hunk: Hunk) -> [Hunk]? {
    guard hunk.old.count + hunk.new.count <= Self.mostWords else { return nil }
    let (before, after) = (Words(of: old, in: hunk.old), Words(of: new, in: hunk.new))
    return commonRuns(before.hashes, after.hashes, &budget)?.flatMap { run in
      zip(run.old, run.new).map { Hunk(old: before.ranges[$0], new: after.ranges[$1]) }
    }
  }

  private mutating func compareCharacters(of hunk: Hunk) {
    guard let hunk = rest(of: hunk) else { return }
    let size = scalarCount(of: old[hunk.old]) + scalarCount(of: new[hunk.new])
    // A step of `String.difference`, and cutting a text into characters, cost more than a step of ours.
    let cost = size <= Self.mostCharacters ? size * size * 4 : size * 16
    guard !isReplaced(hunk), cost <= budget else { return replace(hunk) }
    budget -= cost
    if size <= Self.mostCharacters {
      compareFewCharacters(of: hunk)
    } else if let characters = pieces(of: hunk, cutAt: .characters),
      let equal = commonPieces(of: characters)
    {
      for part in hunks(between: equal, in: hunk) {
        if let part = rest(of: part) { replace(part) }
      }
    } else {
      replace(hunk)
    }
  }

  private mutating func replace(_ hunk: Hunk) {
    edits.append(Edit(range: hunk.old, replacement: Array(new[hunk.new])))
  }

  private mutating func compareFewCharacters(of hunk: Hunk) {
    let before = String(decoding: old[hunk.old], as: UTF8.self)
    let after = String(decoding: new[hunk.new], as: UTF8.self)
    let lengths = (before.map { $0.utf8.count }, after.map { $0.utf8.count })
    var removed = Array(repeating: false, count: lengths.0.count)
    var inserted = Array(repeating: false, count: lengths.1.count)
    for change in after.difference(from: before, by: { $0.utf8.elementsEqual($1.utf8) }) {
      switch change {
      case .remove(let offset, _, _): removed[offset] = true
      case .insert(let offset, _, _): inserted[offset] = true
      }
    }
    var place = (hunk.old.lowerBound, hunk.new.lowerBound)
    var index = (0, 0)
    while index.0 < removed.count || index.1 < inserted.count {
      let start = place
      while index.0 < removed.count, removed[index.0] {
        place.0 += lengths.0[index.0]
        index.0 += 1
      }
      while index.1 < inserted.count, inserted[index.1] {
        place.1 += lengths.1[index.1]
        index.1 += 1
      }
      if place != start {
        edits.append(Edit(range: start.0..<place.0, replacement: Array(new[start.1..<place.1])))
      }
      while index.0 < removed.count, index.1 < inserted.count,
        !removed[index.0], !inserted[index.1]
      {
        place.0 += lengths.0[index.0]
        place.1 += lengths.1[index.1]
        index.0 += 1
        index.1 += 1
      }
    }
  }

  /// True if the hunk is replaced whole whichever way its characters are compared, which needn't be done then. A page of
  /// replaced words would be taken apart only to be put together again.
  private func isReplaced(_ hunk: Hunk) -> Bool {
    let (before, after) = (old[hunk.old], new[hunk.new])
    // A part of one word loses and gains letters if neither side can be had from the other by taking letters out.
    return WordSnapping.isWord(before) && WordSnapping.isWord(after)
      && !isSubsequence(before, of: after) && !isSubsequence(after, of: before)
      || !hasCommonByte(before, after)
  }

  /// The rest of a hunk without the beginning and the end that both sides have. If only one side has a rest, that is an edit.
  private mutating func rest(of hunk: Hunk) -> Hunk? {
    let hunk = hunk.trimmed(old, new)
    if !hunk.old.isEmpty && !hunk.new.isEmpty { return hunk }
    if !hunk.old.isEmpty || !hunk.new.isEmpty { replace(hunk) }
    return nil
  }

  /// The parts of a hunk before, between and behind those taken for equal. Pieces are found by their hashes, so here
  /// their bytes are compared.
  private func hunks(between equals: [Hunk], in hunk: Hunk) -> [Hunk] {
    var hunks: [Hunk] = []
    var rest = hunk
    for equal in equals
    where equal.old.count == equal.new.count
      && commonPrefix(
        old, from: equal.old.lowerBound, new, from: equal.new.lowerBound,
        atMost: equal.old.count) == equal.old.count
    {
      let part = Hunk(
        old: rest.old.lowerBound..<equal.old.lowerBound,
        new: rest.new.lowerBound..<equal.new.lowerBound)
      if !part.old.isEmpty || !part.new.isEmpty { hunks.append(part) }
      rest.old = equal.old.upperBound..<rest.old.upperBound
      rest.new = equal.new.upperBound..<rest.new.upperBound
    }
    hunks.append(rest)
    return hunks
  }

  private func pieces(of hunk: Hunk, cutAt cut: Pieces.Cut) -> (old: Pieces, new: Pieces)? {
    guard let before = Pieces(of: old, in: hunk.old, cutAt: cut),
      let after = Pieces(of: new, in: hunk.new, cutAt: cut)
    else { return nil }
    return (before, after)
  }

  /// Lines, or words, that occur once on either side: as many as stand in the same order.
  private func uniquePieces(of pieces: (old: Pieces, new: Pieces)) -> [Hunk] {
    // A blank line that stands once in each text need not be the same one.
    let pairs = uniquePairs(pieces.old.hashes, pieces.new.hashes).filter {
      old[pieces.old[$0.old]].contains { $0 > 0x20 }
    }
    return longestIncrease(pairs).map { Hunk(old: pieces.old[$0.old], new: pieces.new[$0.new]) }
  }

  /// As many pieces as possible that both sides have in the same order, those in a row as one. Nothing if too many differ.
  private mutating func commonPieces(of pieces: (old: Pieces, new: Pieces)) -> [Hunk]? {
    commonRuns(pieces.old.hashes, pieces.new.hashes, &budget)?.map {
      Hunk(old: pieces.old[$0.old], new: pieces.new[$0.new])
    }
  }
}

private func scalarCount(of utf8: ArraySlice<UInt8>) -> Int {
  var count = 0
  for byte in utf8 where byte & 0xC0 != 0x80 { count += 1 }
  return count
}

private func isSubsequence(_ part: ArraySlice<UInt8>, of whole: ArraySlice<UInt8>) -> Bool {
  var next = part.startIndex
  for byte in whole where next < part.endIndex && byte == part[next] { next += 1 }
  return next == part.endIndex
}

private func hasCommonByte(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
  // A bit for each byte that occurs.
  var bits = SIMD4<UInt64>()
  for byte in one { bits[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }
  return other.contains { bits[Int($0 >> 6)] & 1 << UInt64($0 & 63) != 0 }
}
