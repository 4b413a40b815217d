/// Chooses, among edits that lead to the same text, those that people mean: here where insertions and deletions stand, in
/// `WordSnapping+Tokens.swift` what of a token is replaced.
struct WordSnapping {
  /// The text before the edits.
  let text: [UInt8]
  /// The part of the text that the edits are made in: nothing else is looked at, as if it were all of it.
  let bounds: Range<Int>

  init(text: [UInt8], bounds: Range<Int>? = nil) {
    self.text = text
    self.bounds = bounds ?? text.indices
  }

  /// The most bytes by which an edit is slid.
  static var reach: Int { 1024 }

  /// Slides pure insertions and deletions to where a line or a word begins or ends, if the text is the same then. Taking
  /// "two " out of "one two three" could be taking out "wo t" as well, and a concurrent change would tell the difference. Of equally
  /// good places it is always the last, however the edit was found: a word goes with the blank behind it. If two people's words
  /// took the blanks of different sides, they would end up without one between them.
  func slide(_ edits: [Edit<UInt8>]) -> [Edit<UInt8>] {
    var result: [Edit<UInt8>] = []
    for (index, edit) in edits.enumerated() {
      guard edit.range.isEmpty != edit.replacement.isEmpty else {
        result.append(edit)
        continue
      }
      // Apart from the neighbours by a byte at least.
      let low = max(
        result.last.map { $0.range.upperBound + 1 } ?? bounds.lowerBound,
        edit.range.lowerBound - Self.reach)
      let next =
        index + 1 < edits.count ? edits[index + 1].range.lowerBound - 1 : bounds.upperBound
      let high = min(next, edit.range.upperBound + Self.reach)
      guard low <= edit.range.lowerBound, high >= edit.range.upperBound else {
        result.append(edit)
        continue
      }
      result.append(slid(edit, within: low..<high))
    }
    return result
  }

  /// The edit, a pure insertion or deletion, where among equivalent places it begins best.
  func slid(_ edit: Edit<UInt8>, within limits: Range<Int>) -> Edit<UInt8> {
    let start = edit.range.lowerBound
    let isInsertion = edit.range.isEmpty
    let count = isInsertion ? edit.replacement.count : edit.range.count
    let end = isInsertion ? limits.upperBound + count : limits.upperBound
    // As a rule it slides nowhere, and nothing more has to be looked at.
    let moved = isInsertion ? edit.replacement[...] : text[edit.range]
    let next = edit.range.upperBound
    guard
      start > limits.lowerBound && text[start - 1] == moved.last
        || next < limits.upperBound && text[next] == moved.first
    else { return edit }
    if count == 1, let byte = moved.first, byte != 0x0A {
      return slid(edit, of: byte, within: limits)
    }
    // The text with what is inserted, or deleted, as far as it is looked at.
    let first = limits.lowerBound
    var around: [UInt8] = []
    around.reserveCapacity(end - first)
    around += text[first..<start]
    if isInsertion { around += edit.replacement }
    around += text[start..<limits.upperBound]
    let bytes = around.span
    func byte(_ place: Int) -> UInt8 { bytes[place &- first] }
    func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
    func score(_ place: Int) -> Int {
      if place == start - Self.reach, place > bounds.lowerBound { return 0 }
      let byteBehind = byte(place)
      if isContinuation(byteBehind) || place + count < end && isContinuation(byte(place + count)) {
        return -1
      }
      if place == bounds.lowerBound { return 4 }
      let byteBefore = place > first ? byte(place - 1) : text[place - 1]
      if byteBefore == 0x0A { return 4 }
      return Self.edge(byteBefore, byteBehind)
    }
    var best = (place: start, score: score(start))
    var place = start
    while place > limits.lowerBound, byte(place - 1) == byte(place + count - 1) {
      place -= 1
      let score = score(place)
      if score > best.score { best = (place, score) }
    }
    place = start
    while place + count < end, byte(place) == byte(place + count) {
      place += 1
      let score = score(place)
      if score >= best.score { best = (place, score) }
    }
    if best.place == start { return edit }
    return isInsertion
      ? Edit(
        range: best.place..<best.place,
        replacement: Array(around[best.place - first..<best.place - first + count]))
      : Edit(range: best.place..<best.place + count, replacement: [])
  }

  /// The same for an edit of one byte, no line feed: it is in a run of equal ones, and in a run only its beginning can be the beginning of a
  /// line or a word. If it is none, all places are equally good.
  private func slid(
    _ edit: Edit<UInt8>, of byte: UInt8, within limits: Range<Int>
  ) -> Edit<UInt8> {
    var low = edit.range.lowerBound
    while low > limits.lowerBound, text[low - 1] == byte { low -= 1 }
    let isBeginning =
      low > limits.lowerBound
      ? text[low - 1] == 0x0A || Self.edge(text[low - 1], byte) > 0
      : low == bounds.lowerBound
    if isBeginning {
      return Edit(range: low..<low + edit.range.count, replacement: edit.replacement)
    }
    var high = edit.range.upperBound
    while high < limits.upperBound, text[high] == byte { high += 1 }
    return Edit(range: high - edit.range.count..<high, replacement: edit.replacement)
  }

  private func isWordByte(_ byte: UInt8) -> Bool {
    byte >= 0x80 || isWordASCII(byte)
  }

  /// How well an insertion or a deletion begins between two bytes: behind a blank, in front of one or at a bracket, at a word, or within
  /// one. In a run of one byte nothing more is asked.
  private static func edge(_ before: UInt8, _ behind: UInt8) -> Int {
    if before == behind { return 0 }
    if (before <= 0x20) != (behind <= 0x20) { return before <= 0x20 ? 3 : 2 }
    if isClosingBracket(before) || isOpeningBracket(behind) { return 2 }
    return isWordByte(before) != isWordByte(behind) ? 1 : 0
  }

  private static func isOpeningBracket(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "(") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
  }

  private static func isClosingBracket(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ")") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}")
  }

  private static func isWordByte(_ byte: UInt8) -> Bool { byte >= 0x80 || isWordASCII(byte) }
}
