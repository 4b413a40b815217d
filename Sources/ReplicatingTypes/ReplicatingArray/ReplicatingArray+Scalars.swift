// An edit made here is checked as a change from outside is: one that tears a scalar would be refused by every other
// replica, and with it all that its author does afterwards.

extension ReplicatingArray<UInt8> {
  /// Traps when other replicas would refuse the insertion. Typing on takes a comparison, everything else O(log n + bytes).
  @inline(__always)
  mutating func checkScalars(inserting utf8: borrowing Span<UInt8>, at offset: Int) {
    // Typing goes on behind a whole scalar.
    if utf8.count == 1, offset == open.position, (0x01..<0x80).contains(utf8[0]) { return }
    checkInsertion(of: utf8, at: offset)
  }

  @inline(never)
  private mutating func checkInsertion(of utf8: borrowing Span<UInt8>, at offset: Int) {
    precondition(
      offset >= 0 && offset <= count,
      "an insertion at byte \(offset) of a text of \(count) bytes")
    precondition(
      isText(utf8), "an insertion at byte \(offset) of what is not valid UTF-8, or holds U+0000")
    if utf8.isEmpty || offset == open.position { return }
    // The insertion does it anyway, and a search here would lead away from what is open.
    settle()
    precondition(
      isBoundary(offset), "an insertion at byte \(offset) of a text, inside a scalar")
  }

  /// Traps when other replicas would refuse the removal. O(log n), and O(1) beside the last one.
  @inline(__always)
  mutating func checkScalars(removing range: Range<Int>) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= count,
      "a removal of bytes \(range) of a text of \(count) bytes")
    let isGoingOn =
      range.count == 1
      && (range.upperBound == open.removedFrom || range.lowerBound == open.removedFrom)
    if !isGoingOn && !range.isEmpty { settle() }
    // A byte by itself is a scalar if it is of ASCII.
    precondition(
      range.isEmpty
        || (range.count == 1
          ? byte(at: range.lowerBound) < 0x80
          : isBoundary(range.lowerBound) && isBoundary(range.upperBound)),
      "a removal of bytes \(range) of a text, which tears a scalar")
  }

  /// Traps when other replicas would refuse one of the edits. O(log n + bytes) for each.
  mutating func checkScalars(_ edits: [Edit<UInt8>]) {
    var end = 0
    for edit in edits {
      let range = edit.range
      precondition(range.lowerBound >= end, "an edit of bytes \(range) behind a later one")
      end = range.upperBound
      precondition(end <= count, "an edit of bytes \(range) of a text of \(count) bytes")
      precondition(
        isText(edit.replacement.span),
        "an edit of bytes \(range) by what is not valid UTF-8, or holds U+0000")
      precondition(
        isBoundary(range.lowerBound) && (range.isEmpty || isBoundary(end)),
        "an edit of bytes \(range) of a text, which tears a scalar")
    }
  }

  private func isText(_ utf8: borrowing Span<UInt8>) -> Bool {
    !utf8.containsZero && (!utf8.containsNonASCII || (try? UTF8Span(validating: copy utf8)) != nil)
  }

  /// True if a scalar begins at an offset, or the text ends there. The offset is in the text.
  private mutating func isBoundary(_ offset: Int) -> Bool {
    offset == count || byte(at: offset) & 0xC0 != 0x80
  }

  @inline(__always)
  private mutating func byte(at offset: Int) -> UInt8 {
    if open.position >= 0 { settle() }
    // The bytes of an open removal are still in the tree: it is entered at once, when something else happens.
    let isBehind = open.removedFrom >= 0 && offset >= open.removedFrom
    let skipped = tree.seek(isBehind ? offset &+ open.removedCount : offset)
    let piece = tree.current
    return authors[Int(piece.author)].content[Int(piece.offset &+ skipped)]
  }
}
