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

/// The units in which places in a text are counted.
public enum TextUnit: CaseIterable, Sendable {
  /// Bytes of UTF-8, the unit of all offsets.
  case utf8
  case utf16
  /// Unicode scalars.
  case utf32
  /// Lines, from 0, separated by "\n" and by nothing else. A line's place is its beginning; a place's line is the one that
  /// holds it.
  case line
}

/// Text from strings and back.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var text = ReplicatingText("milk", by: &replica)
///     text.append(", eggs", by: &replica)
///     text.insert("oat ", at: 0, by: &replica)
///     text.become("oat milk, two eggs", by: &replica)
///     String(text)  // "oat milk, two eggs"
///
/// There is no literal, and no text from a string alone: what it held would have no author, and two replicas that began with
/// it would have it twice, or two texts that never meet.
extension ReplicatingText {
  /// A text that a replica has typed, as one change; as none if it is empty.
  public init(_ string: String, by replica: inout Replica) {
    self.init()
    insert(string, at: 0, by: &replica)
  }

  /// Inserts a string, as one change; an empty one is none.
  ///
  /// Traps where `offset`, in bytes of UTF-8, is outside the text or inside a scalar, and where the string holds U+0000: other replicas would refuse the
  /// change. O(log n + bytes).
  public mutating func insert(_ string: String, at offset: Int, by replica: inout Replica) {
    insert(Array(string.utf8).span, at: offset, by: &replica)
  }

  /// Inserts a string at the end, as `insert` does.
  public mutating func append(_ string: String, by replica: inout Replica) {
    insert(string, at: count, by: &replica)
  }

  /// Makes the text equal to a string by what differs: for views that tell their text, and not what was typed. Nothing else is touched, so what others insert
  /// or remove elsewhere at the same time stays.
  ///
  /// Traps where the string holds U+0000. As `textDifference` O(bytes), and bounded where much differs; for each edit O(log n).
  public mutating func become(_ string: String, by replica: inout Replica) {
    replace(textDifference(from: utf8, to: Array(string.utf8)), by: &replica)
  }
}

extension String {
  /// The text. O(count + n).
  public init(_ text: ReplicatingText) { self = text.string }
}

/// Parts of a text, between two offsets in UTF-8 bytes.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var text = ReplicatingText("oat milk", by: &replica)
///     text[4..<8]  // "milk"
///     text.replace(0..<3, with: "rice", by: &replica)
///     text.string  // "rice milk"
///
/// A text is no `Collection`: `utf8` and `string` are, and which of them is meant has to be said. The offset of an index of a
/// string is `string.utf8.distance(from: string.startIndex, to: index)`; of a place in other units it is
/// `convert(place, from: .utf16, to: .utf8)`, which is `nil` inside a scalar.
extension ReplicatingText {
  /// True if nothing is visible. O(1).
  public var isEmpty: Bool { count == 0 }

  /// A part of the text. Traps when it reaches beyond the text or tears a scalar; `utf8(in:)` does not. O(log n + bytes + pieces).
  public subscript(range: Range<Int>) -> String {
    guard let part = utf8(in: range) else {
      preconditionFailure("bytes \(range) of a text of \(count) bytes")
    }
    guard let string = String(validating: part, as: UTF8.self) else {
      preconditionFailure("bytes \(range) of a text, which tear a scalar")
    }
    return string
  }

  /// Puts a string in the place of a part, by a change for the insertion and one for each stretch that is removed. Traps as
  /// `replace(_:by:)` does. O(n + runs) to copy, and O(log n + bytes).
  public mutating func replace(
    _ range: Range<Int>, with string: String, by replica: inout Replica
  ) {
    replace([Edit(range: range, replacement: Array(string.utf8))], by: &replica)
  }

  /// Removes all that is visible, as one change; of an empty text as none. What others insert meanwhile stays. O(pieces).
  public mutating func removeAll(by replica: inout Replica) {
    remove(0..<count, by: &replica)
  }
}
