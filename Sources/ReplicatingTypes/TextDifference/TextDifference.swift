// From two texts to the edits that lead from one to the other.
//
// The comparing is the standard library's `difference(from:)`: over lines, over words where lines differ, and over characters where
// a few words do. Its time is the square of what differs, so it is given small parts of the texts only, which are found before:
//
// - What both texts begin and end with is left out, in blocks of bytes: what is typed or deleted at one place is known then. Through
//   `String.difference` a letter in a text of 100 kB would take a thousand times as long.
// - Lines, and in what is left words, that occur once in each text and stand in the same order are taken for the same (patience
//   difference). Typing, deleting and breaking lines anew moves no word, so no word that occurs once is ever taken for deleted and
//   typed again, which would double it if another replica did the same. And what one edit leads to does not depend on whether
//   there are others.
// - Lines, words and characters are held against each other by hashes of their bytes (`TextDifference+Pieces.swift`): two texts
//   that differ only in how characters are composed do differ. Long rows of them are cut (`CommonPieces.swift`).
//
// Where too much differs, in one hunk or in all, hunks are replaced as they stand. At last what is ambiguous is settled as people
// mean it (`WordSnapping.swift`): a word that both loses and gains letters is replaced whole, and so is a number.

/// The edits that lead from `old` to `new`, both valid UTF-8: sorted, apart from each other, between scalars. Applied to
/// `old` they give exactly `new`.
///
/// O(n) in bytes and O(n log n) in the lines and words of the region that differs, and bounded work within them.
public func textDifference(from old: [UInt8], to new: [UInt8]) -> [Edit<UInt8>] {
  var budget = TextDifference.budget
  return textDifference(from: old, to: new, &budget)
}

/// Edits of a text that are sorted and apart from each other, without what each puts in the place of itself: that would be typed
/// again. They lead to the same text. As long, for all of them together, as one difference may take.
public func differences(within edits: [Edit<UInt8>], of text: [UInt8]) -> [Edit<UInt8>] {
  var budget = TextDifference.budget
  var result: [Edit<UInt8>] = []
  result.reserveCapacity(edits.count)
  for edit in edits {
    if edit.range.isEmpty || edit.replacement.isEmpty {
      result.append(edit)
      continue
    }
    if let alone = Edit(
      replacing: edit.range, of: text, with: edit.replacement, lookingAt: edit.range)
    {
      result.append(alone)
      continue
    }
    let start = edit.range.lowerBound
    for part in textDifference(from: Array(text[edit.range]), to: edit.replacement, &budget) {
      let range = start + part.range.lowerBound..<start + part.range.upperBound
      result.append(Edit(range: range, replacement: part.replacement))
    }
  }
  return result
}

extension Edit<UInt8> {
  /// The only edit of the difference between a part of a text and what is put in its place, if it only inserts or only deletes; else
  /// nil. Only both ends are compared, and nothing is copied but what is inserted.
  ///
  /// - Parameter bounds: a part of the text, around `range` or the same; nothing beyond it says where words begin and end.
  /// - Complexity: O(bytes), eight at a time.
  public init?(
    replacing range: Range<Int>, of text: [UInt8], with replacement: [UInt8],
    lookingAt bounds: Range<Int>
  ) {
    let rest = Hunk(old: range, new: 0..<replacement.count).trimmed(text, replacement)
    guard rest.old.isEmpty != rest.new.isEmpty else { return nil }
    self = WordSnapping(text: text, bounds: bounds)
      .settle(Edit(range: rest.old, replacement: Array(replacement[rest.new])))
  }
}

private func textDifference(
  from old: [UInt8], to new: [UInt8], _ budget: inout Int
) -> [Edit<UInt8>] {
  let rest = Hunk(old: 0..<old.count, new: 0..<new.count).trimmed(old, new)
  if rest.old.isEmpty || rest.new.isEmpty {
    // Text was typed or deleted at one place: nothing has to be compared.
    if rest.old.isEmpty && rest.new.isEmpty { return [] }
    return [
      WordSnapping(text: old).settle(Edit(range: rest.old, replacement: Array(new[rest.new])))
    ]
  }
  var difference = TextDifference(old: old, new: new, budget: budget)
  difference.compare(rest)
  budget = difference.budget
  let snapping = WordSnapping(text: old)
  return snapping.snap(snapping.slide(difference.edits.joiningNeighbours()))
}

/// A comparison under way: hunks are looked at in order, so that edits are found in order.
struct TextDifference {
  let old: [UInt8]
  let new: [UInt8]
  private(set) var edits: [Edit<UInt8>] = []

  /// The steps that `difference(from:)` may take for one difference: they bound it to a tenth of a second.
  static let budget = 1 << 21
  /// The number that is left of these.
  private(set) var budget: Int

  /// The words of the hunk that was cut into words last: if none of them occurs once, they are needed again.
  private var words: (hunk: Hunk, pieces: (old: Pieces, new: Pieces))?

  /// The number of bytes of a hunk that are looked through for words.
  private static let mostBytes = 1 << 22
  /// The number of scalars that the two sides of a hunk may have together to be compared by characters.
  private static let mostCharacters = 64

  init(old: [UInt8], new: [UInt8], budget: Int = Self.budget) {
    self.old = old
    self.new = new
    self.budget = budget
  }

  mutating func compare(_ hunk: Hunk) {
    guard let hunk = rest(of: hunk) else { return }
    for part in hunks(between: uniquePieces(of: hunk, cutAt: .lines), in: hunk) {
      guard let part = rest(of: part) else { continue }
      let whole = wholeWords(of: part)
      for part in hunks(between: uniquePieces(of: whole, cutAt: .words), in: whole) {
        compareLines(of: part)
      }
    }
  }

  private mutating func compareLines(of hunk: Hunk) {
    guard let hunk = rest(of: hunk) else { return }
    guard old[hunk.old].contains(lineFeed) || new[hunk.new].contains(lineFeed) else {
      return compareWords(of: hunk)
    }
    for part in hunks(between: commonPieces(of: hunk, cutAt: .lines), in: hunk) {
      compareWords(of: part)
    }
  }

  private mutating func compareWords(of hunk: Hunk) {
    guard let hunk = rest(of: hunk) else { return }
    let whole = wholeWords(of: hunk)
    for part in hunks(between: commonPieces(of: whole, cutAt: .words), in: whole) {
      compareCharacters(of: part)
    }
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

  private mutating func compareCharacters(of hunk: Hunk) {
    guard let hunk = rest(of: hunk) else { return }
    guard isSmall(hunk) || isBlank(hunk) else { return compareWordByWord(hunk) }
    guard !isReplaced(hunk) else { return replace(hunk) }
    for part in hunks(between: commonPieces(of: hunk, cutAt: .characters), in: hunk) {
      if let part = rest(of: part) { replace(part) }
    }
  }

  /// Holds each word of a hunk against the one that stands for it on the other side, if all have only lost letters or only gained
  /// some. Else the hunk is replaced.
  private mutating func compareWordByWord(_ hunk: Hunk) {
    var rest = wholeWords(of: hunk)
    var words: [Hunk] = []
    // Nothing is cut beforehand: in texts that have nothing to do with each other the first words decide.
    var left = rest
    while let word = firstWord(of: old, in: left.old) {
      guard let other = firstWord(of: new, in: left.new), isSubsequence(old[word], new[other])
      else { return replace(hunk) }
      words.append(Hunk(old: word, new: other))
      left.old = word.upperBound..<left.old.upperBound
      left.new = other.upperBound..<left.new.upperBound
    }
    guard words.count > 1, firstWord(of: new, in: left.new) == nil else { return replace(hunk) }
    for word in words {
      compareCharacters(
        of: Hunk(
          old: rest.old.lowerBound..<word.old.lowerBound,
          new: rest.new.lowerBound..<word.new.lowerBound))
      compareCharacters(of: word)
      rest.old = word.old.upperBound..<rest.old.upperBound
      rest.new = word.new.upperBound..<rest.new.upperBound
    }
    compareCharacters(of: rest)
  }

  /// The first run of letters; nil if there is none.
  private func firstWord(of text: [UInt8], in range: Range<Int>) -> Range<Int>? {
    var start = range.lowerBound
    while start < range.upperBound, lengthOfLetter(in: text, at: start) == nil {
      start += sizeOfScalar(beginningWith: text[start])
    }
    var end = start
    while end < range.upperBound, let count = lengthOfLetter(in: text, at: end) { end += count }
    return start < end ? start..<end : nil
  }

  private mutating func replace(_ hunk: Hunk) {
    edits.append(Edit(range: hunk.old, replacement: Array(new[hunk.new])))
  }

  private func isSmall(_ hunk: Hunk) -> Bool {
    scalarCount(of: old[hunk.old]) + scalarCount(of: new[hunk.new]) <= Self.mostCharacters
  }

  /// True for white space only, as the line ends of many blank lines.
  private func isBlank(_ hunk: Hunk) -> Bool {
    old[hunk.old].allSatisfy { $0 <= 0x20 } && new[hunk.new].allSatisfy { $0 <= 0x20 }
  }

  /// True if the hunk is replaced whole whichever way its characters are compared, which needn't be done then. A page of
  /// replaced words would be taken apart only to be put together again.
  private func isReplaced(_ hunk: Hunk) -> Bool {
    let (before, after) = (old[hunk.old], new[hunk.new])
    // A part of one word loses and gains letters if neither side can be had from the other by taking letters out.
    return WordSnapping.isWord(before) && WordSnapping.isWord(after)
      && !isSubsequence(before, after)
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

  private mutating func pieces(
    of hunk: Hunk, cutAt cut: Pieces.Cut
  ) -> (old: Pieces, new: Pieces)? {
    if cut == .words, let words, words.hunk == hunk { return words.pieces }
    guard hunk.old.count + hunk.new.count <= Self.mostBytes || cut == .lines,
      let before = Pieces(of: old, in: hunk.old, cutAt: cut),
      let after = Pieces(of: new, in: hunk.new, cutAt: cut)
    else { return nil }
    if cut == .words { words = (hunk, (before, after)) }
    return (before, after)
  }

  /// Lines, or words, that occur once on either side: as many as stand in the same order. None if there are too many to be looked at.
  private mutating func uniquePieces(of hunk: Hunk, cutAt cut: Pieces.Cut) -> [Hunk] {
    guard let pieces = pieces(of: hunk, cutAt: cut) else { return [] }
    let pairs = uniquePairs(pieces.old.hashes, pieces.new.hashes)
    return longestIncrease(pairs).map {
      Hunk(old: pieces.old.ranges[$0.old], new: pieces.new.ranges[$0.new])
    }
  }

  /// As many pieces as possible that both sides have in the same order.
  private mutating func commonPieces(of hunk: Hunk, cutAt cut: Pieces.Cut) -> [Hunk] {
    guard let pieces = pieces(of: hunk, cutAt: cut) else { return [] }
    let common = CommonPieces(of: pieces.old.hashes, pieces.new.hashes, budget: budget)
    budget = common.budget
    return common.pairs.map {
      Hunk(old: pieces.old.ranges[$0.old], new: pieces.new.ranges[$0.new])
    }
  }
}

private let lineFeed = UInt8(ascii: "\n")

private func scalarCount(of utf8: ArraySlice<UInt8>) -> Int {
  var count = 0
  for byte in utf8 where byte & 0xC0 != 0x80 { count += 1 }
  return count
}

/// True if one of two texts can be had from the other by taking bytes out.
private func isSubsequence(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
  let (part, whole) = one.count < other.count ? (one, other) : (other, one)
  var next = part.startIndex
  for byte in whole where next < part.endIndex && byte == part[next] { next += 1 }
  return next == part.endIndex
}
