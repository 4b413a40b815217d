// Library product only: the programs of this package do not use this file.

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
