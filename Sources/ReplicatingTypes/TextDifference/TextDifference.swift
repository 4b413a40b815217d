internal import Bytes

// From two texts to the edits that lead from one to the other.
//
// The comparing is the standard library's `difference(from:)` over lines, and over words where lines differ. Its time is the square of what
// differs, so it is given small parts of the texts only, which are found before:
//
// - What both texts begin and end with is left out, in blocks of bytes: what is typed or deleted at one place is known then. Through
//   `String.difference` a letter in a text of 100 kB would take a thousand times as long.
// - Lines, and in what is left words, that occur once in each text and stand in the same order are taken for the same (patience
//   difference). Typing, deleting and breaking lines anew moves no word, so no word that occurs once is deleted and
//   typed again, which would double it if another replica did the same. And what one edit leads to does not depend on whether
//   there are others.
// - Lines and words are held against each other by hashes of their bytes (`TextDifference+Pieces.swift`): two texts
//   that differ only in how characters are composed do differ. Long rows of them are cut (`CommonPieces.swift`).
//
// Words that both texts have are anchors (`Anchors.swift`), but for those of a sentence most of whose words are new: such a sentence is
// replaced whole. What stands between two anchors is replaced as it stands, line by line where both sides have as many lines.
//
// All this sees line feeds only. A line end that becomes one of another kind is an edit by itself (`LineEndKinds.swift`), also where it touches another edit.
//
// At last what is ambiguous is settled as people mean it (`WordSnapping.swift`), edits are widened to whole tokens
// (`WordSnapping+Tokens.swift`), and each replacement gets its divider (`DividedEdits.swift`).

/// The edits that lead from `old` to `new`, both valid UTF-8: sorted, apart from each other, between scalars. Applied to
/// `old` they give exactly `new`.
///
/// O(n) in bytes and O(n log n) in the lines and words of the region that differs, and bounded work within them.
public func textDifference(from old: [UInt8], to new: [UInt8]) -> [Edit<UInt8>] {
  let rest = Hunk(old: 0..<old.count, new: 0..<new.count).trimmed(old, new)
  if rest.old.isEmpty && rest.new.isEmpty { return [] }
  if let edits = editsBesideCarriageReturns(from: old, to: new, in: rest, textDifference) {
    return edits
  }
  let snapping = WordSnapping(text: old)
  if rest.old.isEmpty || rest.new.isEmpty {
    // Text was typed or deleted at one place: nothing has to be compared.
    let edit = Edit(range: rest.old, replacement: Array(new[rest.new]))
    let settled = snapping.settle(edit)
    return settled.count == 1 ? settled[0].keepingWholeLine(in: old) ?? settled : settled
  }
  var budget = TextDifference.budget
  let difference = UnsettledDifference(from: old, to: new, &budget)
  return DividedEdits(of: old, lastRewritten: difference.lastRewritten)
    .divided(snapping.snap(difference.edits))
}

/// Edits of a text that are sorted and apart from each other, without what each puts in the place of itself: that would be typed
/// again. They lead to the same text. As long, for all of them together, as one difference may take.
///
/// Each replacement is widened to whole tokens, also beyond the range that its edit names. One character in the place of several was typed over
/// them: it is none of these, also where it is equal to one.
public func differences(within edits: [Edit<UInt8>], of text: [UInt8]) -> [Edit<UInt8>] {
  if let edits = editsBesideCarriageReturns(edits, of: text, differences) { return edits }
  var budget = TextDifference.budget
  var result: [Edit<UInt8>] = []
  result.reserveCapacity(edits.count)
  var given: Set<Int> = []
  var lastRewritten: Int?
  for edit in edits {
    if edit.range.isEmpty || edit.replacement.isEmpty {
      given.insert(edit.range.lowerBound)
      result.append(edit)
      continue
    }
    if edit.isTypedOver(in: text) {
      result.append(edit)
      continue
    }
    let start = edit.range.lowerBound
    var difference = UnsettledDifference(
      from: Array(text[edit.range]), to: edit.replacement, &budget)
    lastRewritten = difference.lastRewritten.map { $0 + start } ?? lastRewritten
    difference.move(by: start)
    result += difference.edits
  }
  let snapped = WordSnapping(text: text).snap(result) {
    given.contains($0.range.lowerBound) && ($0.range.isEmpty || $0.replacement.isEmpty)
  }
  return DividedEdits(of: text, lastRewritten: lastRewritten).divided(snapped)
}

extension Edit<UInt8> {
  /// True if one character, no white one, is put in the place of several.
  fileprivate func isTypedOver(in text: [UInt8]) -> Bool {
    guard let first = replacement.first, first > 0x20, replacement.count <= 32 else { return false }
    func isCharacter(_ utf8: ArraySlice<UInt8>) -> Bool {
      let string = String(decoding: utf8, as: UTF8.self)
      return string.index(after: string.startIndex) == string.endIndex
    }
    return isCharacter(replacement[...]) && !isCharacter(text[range].prefix(64))
  }

  /// The only edit of the difference between a part of a text and what is put in its place, if it only inserts or only deletes; else
  /// nil. Only both ends are compared, and nothing is copied but what is inserted.
  ///
  /// - Parameter bounds: a part of the text, around `range` or the same, with the same end; nothing beyond it says where words begin and end.
  /// - Complexity: O(bytes), eight at a time.
  public init?(
    replacing range: Range<Int>, of text: [UInt8], with replacement: [UInt8],
    lookingAt bounds: Range<Int>
  ) {
    let carriageReturn = UInt8(ascii: "\r")
    // That of the line end, which both lines have.
    let hasReturn = text[range].last == carriageReturn && replacement.last == carriageReturn
    let end = range.upperBound - (hasReturn ? 1 : 0)
    let newEnd = replacement.count - (hasReturn ? 1 : 0)
    let bounds = bounds.clamped(to: 0..<end)
    guard text.span.extracting(bounds).firstIndex(of: carriageReturn) == nil,
      replacement.span.extracting(0..<newEnd).firstIndex(of: carriageReturn) == nil
    else { return nil }
    let rest = Hunk(old: range.lowerBound..<end, new: 0..<newEnd).trimmed(text, replacement)
    guard rest.old.isEmpty != rest.new.isEmpty else { return nil }
    let edits = WordSnapping(text: text, bounds: bounds)
      .settle(Edit(range: rest.old, replacement: Array(replacement[rest.new])))
    // The divider of a line has its line end.
    guard let edit = edits.first, edits.count == 1,
      !hasReturn || edit.range.isEmpty || edit.replacement.isEmpty
    else { return nil }
    self = edit
  }
}

/// Edits from one text to another that are slid to where they begin best, but not yet widened to whole tokens.
private struct UnsettledDifference {
  private(set) var edits: [Edit<UInt8>]
  private(set) var lastRewritten: Int?

  init(from old: [UInt8], to new: [UInt8], _ budget: inout Int) {
    let rest = Hunk(old: 0..<old.count, new: 0..<new.count).trimmed(old, new)
    if rest.old.isEmpty && rest.new.isEmpty {
      edits = []
    } else if rest.old.isEmpty || rest.new.isEmpty {
      let edit = Edit(range: rest.old, replacement: Array(new[rest.new]))
      edits = WordSnapping(text: old).slide([edit]).flatMap { $0.keepingEmptyLine(in: old) }
    } else {
      var difference = TextDifference(old: old, new: new, budget: budget)
      difference.compare(rest)
      budget = difference.budget
      lastRewritten = difference.lastRewritten
      let snapping = WordSnapping(text: old)
      edits = snapping.slide(difference.edits.joiningNeighbours())
    }
  }

  mutating func move(by distance: Int) {
    for index in edits.indices {
      let range = edits[index].range
      edits[index].range = range.lowerBound + distance..<range.upperBound + distance
    }
  }
}

/// A comparison under way: hunks are looked at in order, so that edits are found in order.
struct TextDifference {
  let old: [UInt8]
  let new: [UInt8]
  private(set) var edits: [Edit<UInt8>] = []
  /// The place in `old` of the last word that is replaced with its sentence, though the new text has it too.
  private(set) var lastRewritten: Int?

  /// The steps that `difference(from:)` may take for one difference: they bound it to a tenth of a second.
  static let budget = 1 << 21
  /// The number that is left of these.
  private(set) var budget: Int

  /// Lines that occur once on either side and stand elsewhere. Their words are not compared with those of other lines.
  private var moved: (old: [Range<Int>], new: [Range<Int>]) = ([], [])

  /// The number of bytes of a hunk that are looked through for words.
  private static let mostBytes = 1 << 22

  /// The greatest number of lines without a common word that are replaced one by one. More are replaced as a whole.
  private static let mostLines = 256

  init(old: [UInt8], new: [UInt8], budget: Int = Self.budget) {
    self.old = old
    self.new = new
    self.budget = budget
  }

  mutating func compare(_ hunk: Hunk) {
    guard let trimmed = rest(of: hunk) else { return }
    let hunk = wholeSentences(of: trimmed)
    for part in hunks(between: uniqueLines(of: hunk), in: hunk) {
      guard let part = rest(of: part) else { continue }
      compareWords(of: wholeSentences(of: part))
    }
  }

  /// Keeps the words that both sides have in the same order, and replaces what is between them.
  private mutating func compareWords(of hunk: Hunk) {
    guard hunk.old.count + hunk.new.count <= Self.mostBytes,
      let before = Pieces(of: old, in: hunk.old, cutAt: .words),
      let after = Pieces(of: new, in: hunk.new, cutAt: .words)
    else { return compareLines(of: hunk) }
    var anchors = Anchors(old: before, new: after)
    anchors.fill { _ in longestIncrease(uniquePairs(before.hashes, after.hashes)) }
    anchors.filter { isEqual(before.ranges[$0.old], after.ranges[$0.new]) }
    let words = (old: before, new: after)
    anchors.fill { commonLines(in: bytes(of: $0, in: hunk, words), words) }
    anchors.fill { gap in
      let common = CommonPieces(
        of: Array(before.hashes[gap.old]), Array(after.hashes[gap.new]), budget: budget)
      budget = common.budget
      return common.pairs.map { ($0.old + gap.old.lowerBound, $0.new + gap.new.lowerBound) }
    }
    anchors.filter {
      isEqual(before.ranges[$0.old], after.ranges[$0.new])
        && !isMoved(before.ranges[$0.old], after.ranges[$0.new])
    }
    anchors.dropLoneWord(in: new, hunk.new)
    if let last = anchors.dropRewritten(in: new).last { lastRewritten = last }
    anchors.dropChance(in: old)
    var rest = hunk
    for pair in anchors.pairs {
      let (word, other) = (before.ranges[pair.old], after.ranges[pair.new])
      replace(Hunk(from: rest.start, to: (word.lowerBound, other.lowerBound)))
      rest = Hunk(from: (word.upperBound, other.upperBound), to: rest.end)
    }
    replace(rest)
  }

  /// Compares a hunk that is too large to be looked through for words: each line with its like, if both sides have as many.
  private mutating func compareLines(of hunk: Hunk) {
    let lines = Line.lines(of: old, in: hunk.old)
    let newLines = Line.lines(of: new, in: hunk.new)
    guard lines.count == newLines.count, lines.count > 1 else {
      for part in hunks(between: commonPieces(of: hunk, cutAt: .lines), in: hunk) { replace(part) }
      return
    }
    for (line, newLine) in zip(lines, newLines) {
      let whole = Hunk(
        old: line.content.lowerBound..<line.end.upperBound,
        new: newLine.content.lowerBound..<newLine.end.upperBound)
      guard let part = rest(of: whole) else { continue }
      compareWords(of: wholeSentences(of: part))
    }
  }

  /// The bytes between the words before and behind a gap.
  private func bytes(of gap: Anchors.Gap, in hunk: Hunk, _ words: (old: Pieces, new: Pieces))
    -> Hunk
  {
    func bytes(_ gap: Range<Int>, _ ranges: [Range<Int>], _ all: Range<Int>) -> Range<Int> {
      let low = gap.lowerBound > 0 ? ranges[gap.lowerBound - 1].upperBound : all.lowerBound
      let high = gap.upperBound < ranges.count ? ranges[gap.upperBound].lowerBound : all.upperBound
      return low..<high
    }
    return Hunk(
      old: bytes(gap.old, words.old.ranges, hunk.old),
      new: bytes(gap.new, words.new.ranges, hunk.new))
  }

  /// The words of the lines that both sides of a hunk have.
  private mutating func commonLines(
    in hunk: Hunk, _ words: (old: Pieces, new: Pieces)
  ) -> [(old: Int, new: Int)] {
    guard old[hunk.old].contains(lineFeed), new[hunk.new].contains(lineFeed) else { return [] }
    var pairs: [(old: Int, new: Int)] = []
    for line in commonPieces(of: hunk, cutAt: .lines) where isEqual(line.old, line.new) {
      let places = [(words.old, line.old), (words.new, line.new)].map { pieces, line in
        firstIndex(
          pieces.ranges, at: line.lowerBound)..<firstIndex(
            pieces.ranges, at: line.upperBound)
      }
      // A line may begin within a word of the hunk, where that is not whole.
      guard places[0].count == places[1].count else { continue }
      pairs += zip(places[0], places[1]).map { ($0, $1) }
    }
    return pairs
  }

  /// The first of some sorted ranges that begins at a place or behind it.
  private func firstIndex(_ ranges: [Range<Int>], at place: Int) -> Int {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].lowerBound < place { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func isEqual(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
    one.count == other.count
      && commonPrefix(
        old, from: one.lowerBound, new, from: other.lowerBound, atMost: one.count) == one.count
  }

  /// A hunk with the whole of the sentences that it begins or ends in, in the same lines: what both sides begin and end with was cut off by
  /// bytes.
  private func wholeSentences(of hunk: Hunk) -> Hunk {
    let (oldLow, newLow) = hunk.start
    var before = commonSuffix(
      old, before: oldLow, new, before: newLow, atMost: min(oldLow, newLow, Self.reach))
    while before > 0, old[oldLow - before] & 0xC0 == 0x80 { before -= 1 }
    let low = oldLow - sentenceStart(in: old, before: oldLow, from: oldLow - before)
    let (oldHigh, newHigh) = hunk.end
    var behind = commonPrefix(
      old, from: oldHigh, new, from: newHigh,
      atMost: min(old.count - oldHigh, new.count - newHigh, Self.reach))
    while oldHigh + behind < old.count, old[oldHigh + behind] & 0xC0 == 0x80 { behind -= 1 }
    let high = sentenceEnd(in: old, behind: oldHigh, to: oldHigh + behind) - oldHigh
    return Hunk(from: (oldLow - low, newLow - low), to: (oldHigh + high, newHigh + high))
  }

  /// The number of bytes of a sentence that are looked at before and behind a hunk.
  private static let reach = 1024

  // MARK: - Edits

  /// Replaces what is left of a hunk that has no common words: line by line, if both sides have as many.
  private mutating func replace(_ hunk: Hunk) {
    guard var rest = rest(of: hunk) else { return }
    rest = withWords(rest, in: hunk)
    rest = withLineMark(rest, in: hunk)
    let (lines, newLines) = (Line.lines(of: old, in: rest.old), Line.lines(of: new, in: rest.new))
    if lines.count == newLines.count, lines.count <= Self.mostLines {
      if replaceBetweenBlankLines(rest) { return }
      for (line, newLine) in zip(lines, newLines) { replaceContent(line, newLine) }
    } else if isBlank(rest) {
      for part in hunks(between: commonPieces(of: rest, cutAt: .characters), in: rest) {
        append(part)
      }
    } else {
      append(rest)
    }
  }

  /// Replaces as many lines by others where an empty line would become a written one, and a written one an empty one: a line was written above
  /// the empty line and another one deleted below it, or the other way round. Whole lines are inserted and deleted then.
  ///
  /// - Returns: False if that is not so.
  private mutating func replaceBetweenBlankLines(_ hunk: Hunk) -> Bool {
    let (end, newEnd) = hunk.end
    guard end < old.count, old[end] == lineFeed, newEnd < new.count, new[newEnd] == lineFeed,
      isLineStart(old, hunk.old.lowerBound), isLineStart(new, hunk.new.lowerBound)
    else { return false }
    // The last of the lines that both have is no line.
    let whole = Hunk(from: hunk.start, to: (end + 1, newEnd + 1))
    let lines = Array(Line.lines(of: old, in: whole.old).dropLast())
    let newLines = Array(Line.lines(of: new, in: whole.new).dropLast())
    let kinds = zip(lines, newLines).map { ($0.content.isEmpty, $1.content.isEmpty) }
    guard kinds.contains(where: { $0 && !$1 }), kinds.contains(where: { !$0 && $1 }) else {
      return false
    }
    let steps = lines.count * newLines.count
    guard budget >= steps else { return false }
    budget -= steps
    var rest = whole
    for (line, newLine) in likes(lines, newLines) {
      let (line, newLine) = (lines[line], newLines[newLine])
      append(Hunk(from: rest.start, to: (line.content.lowerBound, newLine.content.lowerBound)))
      replaceContent(line, newLine)
      rest = Hunk(from: (line.end.upperBound, newLine.end.upperBound), to: rest.end)
    }
    append(rest)
    return true
  }

  /// The pairs of empty lines, and of written lines, that are in the same order: as many as there can be, empty ones first.
  ///
  /// - Complexity: O(lines × lines).
  private func likes(_ lines: [Line], _ newLines: [Line]) -> [(Int, Int)] {
    var best = Array(
      repeating: Array(repeating: 0, count: newLines.count + 1), count: lines.count + 1)
    func weight(_ index: Int, _ newIndex: Int) -> Int {
      let isEmpty = lines[index].content.isEmpty
      return isEmpty != newLines[newIndex].content.isEmpty ? 0 : isEmpty ? 3 : 2
    }
    for index in lines.indices.reversed() {
      for newIndex in newLines.indices.reversed() {
        let weight = weight(index, newIndex)
        best[index][newIndex] = max(
          best[index + 1][newIndex], best[index][newIndex + 1],
          weight > 0 ? best[index + 1][newIndex + 1] + weight : 0)
      }
    }
    var pairs: [(Int, Int)] = []
    var (index, newIndex) = (0, 0)
    while index < lines.count, newIndex < newLines.count {
      let weight = weight(index, newIndex)
      if weight > 0, best[index][newIndex] == best[index + 1][newIndex + 1] + weight {
        pairs.append((index, newIndex))
        (index, newIndex) = (index + 1, newIndex + 1)
      } else if best[index][newIndex] == best[index + 1][newIndex] {
        index += 1
      } else {
        newIndex += 1
      }
    }
    return pairs
  }

  /// A part of a hunk with the words of the hunk that were cut off, because both sides begin or end with them: they are no anchors.
  private func withWords(_ part: Hunk, in hunk: Hunk) -> Hunk {
    func words(_ range: Range<Int>) -> Range<Int>? {
      var scanner = TokenScanner(old, in: range)
      var words: Range<Int>?
      while let token = scanner.next() {
        if token.isWord {
          words = (words?.lowerBound ?? token.range.lowerBound)..<token.range.upperBound
        }
      }
      return words
    }
    let (low, newLow) = part.start
    let (high, newHigh) = part.end
    let first = words(hunk.old.lowerBound..<low)?.lowerBound ?? low
    // A box or a number that begins the line is none of them.
    let line = startOfMarkedLine(old, first)
    let mark = line.map { $0 + lengthOfLineMark(old, $0..<low) } ?? first
    let before = low - max(first, mark)
    let behind = (words(high..<hunk.old.upperBound)?.upperBound ?? high) - high
    return Hunk(from: (low - before, newLow - before), to: (high + behind, newHigh + behind))
  }

  /// A part of a hunk with the beginning of the line in which it begins, if the hunk has it.
  private func withLineMark(_ part: Hunk, in hunk: Hunk) -> Hunk {
    var (low, newLow) = part.start
    while low > hunk.old.lowerBound, newLow > hunk.new.lowerBound, !isLineStart(old, low) {
      (low, newLow) = (low - 1, newLow - 1)
    }
    return isLineStart(old, low) ? Hunk(from: (low, newLow), to: part.end) : part
  }

  /// Replaces a line's mark, and what follows it, each by its like.
  private mutating func replaceContent(_ line: Line, _ newLine: Line) {
    let mark = line.isWhole(old) ? lengthOfLineMark(old, line.content) : 0
    let newMark = newLine.isWhole(new) ? lengthOfLineMark(new, newLine.content) : 0
    var content = Hunk(old: line.content, new: newLine.content)
    if mark > 0, newMark > 0 {
      let start = (content.old.lowerBound + mark, content.new.lowerBound + newMark)
      append(Hunk(from: content.start, to: start))
      content = Hunk(from: start, to: content.end)
    }
    append(content)
  }

  private mutating func append(_ whole: Hunk) {
    var hunk = whole.trimmed(old, new)
    if hunk.old.isEmpty, hunk.new.isEmpty { return }
    if !hunk.old.isEmpty, !hunk.new.isEmpty { hunk = withWords(hunk, in: whole) }
    let edit = Edit(range: hunk.old, replacement: Array(new[hunk.new]))
    if (edits.last?.range.upperBound ?? -1) < hunk.old.lowerBound {
      edits += edit.keepingEmptyLine(in: old)
    } else {
      edits.append(edit)
    }
  }

  /// True for white space only, as the line ends of many blank lines.
  private func isBlank(_ hunk: Hunk) -> Bool {
    old[hunk.old].allSatisfy { $0 <= 0x20 } && new[hunk.new].allSatisfy { $0 <= 0x20 }
  }

  // MARK: - Parts of hunks

  /// The rest of a hunk without the beginning and the end that both sides have. If only one side has a rest, that is an edit.
  private mutating func rest(of hunk: Hunk) -> Hunk? {
    let hunk = hunk.trimmed(old, new)
    if !hunk.old.isEmpty && !hunk.new.isEmpty { return hunk }
    append(hunk)
    return nil
  }

  /// The parts of a hunk before, between and behind those taken for equal. Pieces are found by their hashes, so here
  /// their bytes are compared.
  private func hunks(between equals: [Hunk], in hunk: Hunk) -> [Hunk] {
    var hunks: [Hunk] = []
    var rest = hunk
    for equal in equals where isEqual(equal.old, equal.new) {
      let part = Hunk(from: rest.start, to: equal.start)
      if !part.old.isEmpty || !part.new.isEmpty { hunks.append(part) }
      rest = Hunk(from: equal.end, to: rest.end)
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

  /// Lines that occur once on either side: as many as stand in the same order. None if there are too many to be looked at.
  private mutating func uniqueLines(of hunk: Hunk) -> [Hunk] {
    guard let pieces = pieces(of: hunk, cutAt: .lines) else { return [] }
    let pairs = uniquePairs(pieces.old.hashes, pieces.new.hashes)
    let kept = longestIncrease(pairs)
    var next = 0
    for pair in pairs {
      if next < kept.count, kept[next] == pair {
        next += 1
      } else {
        moved.old.append(pieces.old.ranges[pair.old])
        moved.new.append(pieces.new.ranges[pair.new])
      }
    }
    moved.new.sort { $0.lowerBound < $1.lowerBound }
    return kept.map { Hunk(old: pieces.old.ranges[$0.old], new: pieces.new.ranges[$0.new]) }
  }

  /// True if one of two words stands in a line that was moved as it is.
  private func isMoved(_ word: Range<Int>, _ newWord: Range<Int>) -> Bool {
    func contains(_ lines: [Range<Int>], _ place: Int) -> Bool {
      let index = firstIndex(lines, at: place + 1)
      return index > 0 && lines[index - 1].contains(place)
    }
    return contains(moved.old, word.lowerBound) || contains(moved.new, newWord.lowerBound)
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

/// A part of the old text, and the part of the new one that stands in its place.
struct Hunk: Equatable {
  var old: Range<Int>
  var new: Range<Int>

  init(old: Range<Int>, new: Range<Int>) {
    self.old = old
    self.new = new
  }

  init(from start: (old: Int, new: Int), to end: (old: Int, new: Int)) {
    self.init(old: start.old..<end.old, new: start.new..<end.new)
  }

  var start: (old: Int, new: Int) { (old.lowerBound, new.lowerBound) }
  var end: (old: Int, new: Int) { (old.upperBound, new.upperBound) }
}
