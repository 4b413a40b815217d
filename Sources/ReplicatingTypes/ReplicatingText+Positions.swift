// Library product only: the programs of this package do not use this file.

/// Places in other units than bytes, and parts of the text.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var text = ReplicatingText()
///     text.insert("aé😀\nb".utf8.span, at: 0, by: &replica)
///     text.convert(7, from: .utf8, to: .utf16)  // 4
///     text.convert(3, from: .utf16, to: .utf8)  // nil: inside 😀
///     text.convert(1, from: .line, to: .utf8)  // 8
///     text.offset(line: 0, column: 4, .utf16)  // 7
///
/// A place outside the text or inside a scalar is none: every answer is `nil` then, and nothing traps.
///
/// All are O(log n) and the bytes of one leaf of the tree: at most 64 pieces of 2,047 bytes, often a few hundred bytes. But the first question to a
/// text counts all of its bytes, O(n): only a text that was asked, and what is copied from it then, keeps counts with each edit.
/// A question changes nothing that can be seen of a text, and copies nothing, in the midst of typing either.
extension ReplicatingText {
  /// The length of the text in a unit. There is one line more than there are line feeds.
  public func count(of unit: TextUnit) -> Int {
    unit == .utf8 ? count : bytes.measure[unit] + (unit == .line ? 1 : 0)
  }

  /// The same place in another unit.
  public func convert(_ place: Int, from unit: TextUnit, to other: TextUnit) -> Int? {
    measure(before: place, unit)?[other]
  }

  /// The line that holds an offset, and how much of a unit is in it before the offset.
  public func lineAndColumn(
    of offset: Int, _ unit: TextUnit
  ) -> (line: Int, column: Int)? {
    guard let before = measure(before: offset, .utf8) else { return nil }
    let start = measure(before: before.lines, .line)!
    return (before.lines, before[unit] - start[unit])
  }

  /// The offset of a place in a line; `nil` also if the line is shorter.
  public func offset(line: Int, column: Int, _ unit: TextUnit) -> Int? {
    guard let start = measure(before: line, .line), (0...count).contains(column),
      let place = measure(before: start[unit] + column, unit), place.lines == line
    else { return nil }
    return place.utf8
  }

  /// Where a line is, without its line feed.
  public func range(ofLine line: Int) -> Range<Int>? {
    guard let start = measure(before: line, .line) else { return nil }
    return start.utf8..<bytes.place(line, .line).before.utf8
  }

  /// A part of the text; of a scalar, if the range says so; `nil` if it reaches beyond the text. O(log n + bytes + pieces).
  public func utf8(in range: Range<Int>) -> [UInt8]? {
    guard range.lowerBound >= 0, range.upperBound <= count else { return nil }
    return bytes.elements(in: range)
  }

  /// The measure of the text before a place.
  private func measure(before place: Int, _ unit: TextUnit) -> TextMeasure? {
    // No unit has more than there are bytes.
    guard (0...count).contains(place) else { return nil }
    if unit == .line {
      if place == 0 { return TextMeasure() }
      let end = bytes.place(place - 1, .line)
      // A line feed is one of each unit.
      guard end.next == 0x0A else { return nil }
      return end.before + TextMeasure(utf8: 1, lines: 1)
    }
    let found = bytes.place(place, unit)
    guard found.before[unit] == place, found.isBoundary else { return nil }
    return found.before
  }
}
