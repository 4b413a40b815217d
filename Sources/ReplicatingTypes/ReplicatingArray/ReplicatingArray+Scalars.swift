// An edit made here is checked as a change from outside is: one that tears a scalar would be refused by every other
// replica, and with it all that its author does afterwards.

extension ReplicatingArray<UInt8> {
  /// Inserts text that goes on with what was typed last, which ends with a whole scalar.
  @inline(__always)
  mutating func goOnTypingScalars(
    _ utf8: borrowing Span<UInt8>, at offset: Int, by replica: inout Replica
  ) -> Bool {
    utf8.count == 1 && (0x01..<0x80).contains(utf8[0])
      && goOnTyping(utf8, at: offset, by: &replica, isPlain: true)
  }

  /// Removes a byte of ASCII if that goes on with what was removed last.
  @inline(__always)
  mutating func goOnRemovingScalars(_ range: Range<Int>, by replica: inout Replica) -> Bool {
    let plain = open.plain
    return goOnRemoving(range, by: &replica) { plain.contains($0) }
  }

  /// Inserts text. Traps when other replicas would refuse the insertion. O(log n + bytes).
  @inline(never)
  mutating func insertScalars(
    _ utf8: borrowing Span<UInt8>, at offset: Int, by replica: inout Replica
  ) {
    precondition(
      offset >= 0 && offset <= count,
      "an insertion at byte \(offset) of a text of \(count) bytes")
    let countsLines = tree.keepsWeights || utf8.count < TextWeight.manyBytes
    guard let weight = TextWeight(ofText: utf8, countingLines: countsLines) else {
      preconditionFailure(
        "an insertion at byte \(offset) of what is not valid UTF-8, or holds U+0000")
    }
    if utf8.isEmpty { return }
    if offset != open.position {
      // The insertion does it anyway, and a search here would lead away from what is open.
      settle()
      precondition(
        isBetweenScalars(offset), "an insertion at byte \(offset) of a text, inside a scalar")
    }
    insertAnew(utf8, at: offset, by: &replica, weight, hasLines: countsLines)
  }

  /// True if no scalar has bytes on both sides of an offset in the text. Nothing is open.
  @inline(__always)
  mutating func isBetweenScalars(_ offset: Int) -> Bool {
    // An insertion looks for the byte before it, too: where that is of ASCII, a scalar ends there.
    offset == 0 || isPlain(at: offset &- 1) || isBoundary(offset)
  }

  /// Traps when other replicas would refuse the removal. O(log n), and O(1) beside the last one.
  @inline(__always)
  mutating func checkScalars(removing range: Range<Int>) {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= count,
      "a removal of bytes \(range) of a text of \(count) bytes")
    precondition(
      range.isEmpty || hasWholeScalars(range),
      "a removal of bytes \(range) of a text, which tears a scalar")
  }

  /// True if scalars begin at both ends of a range of the text that isn't empty. Enters what is open, unless the removal goes on with it.
  @inline(__always)
  mutating func hasWholeScalars(_ range: Range<Int>) -> Bool {
    if range.count == 1 {
      if range.upperBound != open.removedFrom && range.lowerBound != open.removedFrom { settle() }
      // A byte by itself is a scalar if it is of ASCII.
      let place = placeInTree(of: range.lowerBound)
      open.plain =
        tree.isPlain(in: place..<place &+ 1) ? tree.plain : plainPlaces(around: place)
      return open.plain.contains(place)
    }
    settle()
    return hasWholeScalarsInTree(range)
  }

  /// Places around one, and it among them, that hold bytes of ASCII; none if it doesn't. In a leaf with other scalars they are a few in its piece, so that deleting
  /// on need not look for each byte.
  @inline(never)
  private mutating func plainPlaces(around place: Int) -> Range<Int> {
    let skipped = tree.seek(place)
    if tree.isPlain(in: place..<place &+ 1) { return tree.plain }
    let piece = tree.current
    let content = authors[Int(piece.author)].content
    let at = Int(piece.offset &+ skipped)
    if content[at] >= 0x80 { return place..<place }
    let first = Swift.max(Int(piece.offset), at &- Self.fewPlaces)
    let end = Swift.min(Int(piece.end), at &+ Self.fewPlaces)
    var (low, high) = (at, at &+ 1)
    while low > first, content[low &- 1] < 0x80 { low &-= 1 }
    while high < end, content[high] < 0x80 { high &+= 1 }
    return place &- (at &- low)..<place &+ (high &- at)
  }

  private static var fewPlaces: Int { 8 }

  private mutating func hasWholeScalarsInTree(_ range: Range<Int>) -> Bool {
    if tree.isPlain(in: range) { return true }
    let skipped = Int(tree.seek(range.lowerBound))
    if tree.isPlain(in: range) { return true }
    let piece = tree.current
    if skipped &+ range.count <= Int(piece.count) {
      // As a rule all of it is in one piece, where the removal begins to look.
      let place = Int(piece.offset) &+ skipped
      let first = authors[Int(piece.author)].content[place]
      let last = authors[Int(piece.author)].content[place &+ range.count &- 1]
      return first & 0xC0 != 0x80 && (last < 0x80 || isBoundary(range.upperBound))
    }
    return isBoundary(range.lowerBound) && isBoundary(range.upperBound)
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
        edit.replacement.span.isText,
        "an edit of bytes \(range) by what is not valid UTF-8, or holds U+0000")
      precondition(
        isBoundary(range.lowerBound) && (range.isEmpty || isBoundary(end)),
        "an edit of bytes \(range) of a text, which tears a scalar")
    }
  }

  /// True if a scalar begins at an offset, or the text ends there. The offset is in the text.
  private mutating func isBoundary(_ offset: Int) -> Bool {
    offset == count || byte(at: offset) & 0xC0 != 0x80
  }

  @inline(__always)
  private mutating func byte(at offset: Int) -> UInt8 {
    let place = placeInTree(of: offset)
    let skipped = tree.seek(place)
    let piece = tree.current
    return authors[Int(piece.author)].content[Int(piece.offset &+ skipped)]
  }

  /// The place in the tree of a visible byte. The bytes of an open removal are still there: it is entered at once, when something else happens.
  @inline(__always)
  private mutating func placeInTree(of offset: Int) -> Int {
    if open.position >= 0 { settle() }
    let isBehind = open.removedFrom >= 0 && offset >= open.removedFrom
    return isBehind ? offset &+ open.removedCount : offset
  }

  /// True if the byte that the tree has at a place is of ASCII. As a rule all bytes of the cursor's leaf are.
  @inline(__always)
  private mutating func isPlain(at place: Int) -> Bool {
    tree.isPlain(in: place..<place &+ 1) || isPlainByte(at: place)
  }

  @inline(never)
  private mutating func isPlainByte(at place: Int) -> Bool {
    let skipped = tree.seek(place)
    if tree.isPlain(in: place..<place &+ 1) { return true }
    let piece = tree.current
    return authors[Int(piece.author)].content[Int(piece.offset &+ skipped)] < 0x80
  }
}
