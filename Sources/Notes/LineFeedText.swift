public import ReplicatingTypes

/// A text as a client shows it that hides carriage returns: each `\r\n` is a line feed.
///
/// A text whose lines end with `\r\n` is edited in this form. Lines that others end with `\n` alone are shown as all are. Edits of the
/// shown text leave the ends of other lines as they are, and end new lines with `\r\n`.
public struct LineFeedText: Sendable {
  /// The shown text.
  public var shown: TextBuffer
  /// The offsets in the shown text of the line feeds that are two bytes of the text, in order.
  private let long: [Int]

  /// True if a text has lines, and all of them end with `\r\n`. O(bytes).
  public static func isPossible(for text: [UInt8]) -> Bool {
    var previous: UInt8 = 0
    var hasLines = false
    for byte in text {
      if byte == 0x0A {
        if previous != 0x0D { return false }
        hasLines = true
      }
      previous = byte
    }
    return hasLines
  }

  /// The form of a text. O(bytes).
  public init(_ text: [UInt8]) {
    var long: [Int] = []
    shown = TextBuffer(Self.hidingReturns(in: text) { long.append($0) })
    self.long = long
  }

  /// - Parameter note: is called with the place in the result of each line feed behind a hidden carriage return.
  private static func hidingReturns(in text: [UInt8], _ note: (Int) -> Void = { _ in }) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    for byte in text {
      if byte == 0x0A, result.last == 0x0D {
        result.removeLast()
        note(result.count)
      }
      result.append(byte)
    }
    return result
  }

  // MARK: - Offsets

  /// The number of hidden carriage returns up to the first, in the order of the text, for which `isBefore` is false. O(log lines).
  private func countReturns(while isBefore: (Int) -> Bool) -> Int {
    var (low, high) = (0, long.count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The number of hidden carriage returns before an offset in the shown text. O(log lines).
  private func returns(before offset: Int) -> Int { countReturns { long[$0] < offset } }

  /// The offset in the text of an offset in the shown text: before a hidden carriage return rather than behind it. O(log lines).
  public func offset(ofShown offset: Int) -> Int { offset + returns(before: offset) }

  /// The offset in the shown text of an offset in the text. O(log lines).
  public func shownOffset(of offset: Int) -> Int {
    // The carriage return hidden before the line feed `long[index]` is at `long[index] + index`.
    offset - countReturns { long[$0] + $0 < offset }
  }

  // MARK: - Edits

  /// Edits of the shown text, sorted and apart, as edits of the text without dividers: what then is shown is the shown text with these edits.
  ///
  /// - Complexity: O(bytes of the edits, and edits × log lines).
  public func edits(forShown edits: [Edit<UInt8>]) -> [Edit<UInt8>] {
    Self.joined(edits).map { edit in
      var end = edit.range.upperBound
      var replacement = Self.withReturns(edit.replacement)
      // A carriage return that comes to stand before a line feed alone would be hidden.
      let start = edit.range.lowerBound
      let previous = edit.replacement.last ?? (start > 0 ? shown.utf8[start - 1] : nil)
      if previous == 0x0D, end < shown.count, shown.utf8[end] == 0x0A,
        returns(before: end) == returns(before: end + 1)
      {
        end += 1
        replacement += [0x0D, 0x0A]
      }
      return Edit(range: offset(ofShown: start)..<offset(ofShown: end), replacement: replacement)
    }.joiningNeighbours()
  }

  /// Edits without dividers, those that touch each other made one.
  private static func joined(_ edits: [Edit<UInt8>]) -> [Edit<UInt8>] {
    edits.map { Edit(range: $0.range, replacement: $0.replacement) }.joiningNeighbours()
  }

  private static func withReturns(_ text: [UInt8]) -> [UInt8] {
    text.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
  }

  /// Edits of the text, sorted and apart, as edits of the shown text, which are none where only hidden carriage returns come or go.
  ///
  /// - Parameter text: the text before the edits.
  /// - Complexity: O(bytes of the edits, and edits × log lines).
  public func shownEdits(for edits: [Edit<UInt8>], of text: [UInt8]) -> [Edit<UInt8>] {
    let whole = Self.joined(edits).map { Self.withWholeLineEnds($0, of: text) }
    return whole.joiningNeighbours().compactMap { edit in
      let start = shownOffset(of: edit.range.lowerBound)
      let end = shownOffset(of: edit.range.upperBound)
      let new = Self.hidingReturns(in: edit.replacement)
      let old = shown.utf8[start..<end]
      // Line ends that were added above, as far as they stay.
      func isKept(_ old: UInt8, _ new: UInt8) -> Bool { old == new && (old == 0x0A || old == 0x0D) }
      let head = zip(old, new).prefix(while: isKept).count
      let tail = zip(old.dropFirst(head).reversed(), new.dropFirst(head).reversed())
        .prefix(while: isKept).count
      if head + tail == old.count && head + tail == new.count { return nil }
      return Edit(
        range: start + head..<end - tail, replacement: Array(new[head..<new.count - tail]))
    }
  }

  /// The same edit with the neighbours that make one line end with what it removes or inserts.
  private static func withWholeLineEnds(_ edit: Edit<UInt8>, of text: [UInt8]) -> Edit<UInt8> {
    var (start, end, replacement) = (edit.range.lowerBound, edit.range.upperBound, edit.replacement)
    if end < text.count, text[end] == 0x0A {
      replacement.append(0x0A)
      end += 1
    }
    if start > 0, text[start - 1] == 0x0D,
      replacement.first == 0x0A || end > start && text[start] == 0x0A
    {
      replacement.insert(0x0D, at: 0)
      start -= 1
    }
    return Edit(range: start..<end, replacement: replacement)
  }
}
