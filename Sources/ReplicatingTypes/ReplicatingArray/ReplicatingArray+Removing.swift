// Making elements tombstones, noting by which change, and splitting the leaf that has no room for their pieces.

extension ReplicatingArray {
  /// Removes visible elements by changes from `number` on.
  mutating func removeNow(
    _ range: Range<Int>, by author: AuthorIndex, number: UInt64, _ order: RemovalRun.Order
  ) {
    if order == .backward { return removeBackward(range, by: author, number: number) }
    var number = number
    var rest = range.count
    while rest > 0 {
      let skipped = tree.seek(range.lowerBound)
      let piece = tree.current.dropping(skipped)
      guard rest > Int(piece.count) else {
        let removed = piece.prefix(UInt32(truncatingIfNeeded: rest))
        bury(removed, behind: skipped)
        return record(removed, removedBy: author, number: number, order)
      }
      let count = removeInLeaf(rest, behind: skipped, by: author, number: number, order)
      rest &-= count
      if order != .atOnce { number &+= UInt64(count) }
    }
  }

  /// Removes at most `most` elements behind `skipped` of the cursor's piece, more than it has there: those of a leaf at once, so that its pieces are
  /// moved once. Returns how many.
  @inline(never)
  private mutating func removeInLeaf(
    _ most: Int, behind skipped: UInt32, by author: AuthorIndex, number: UInt64,
    _ order: RemovalRun.Order
  ) -> Int {
    if tree.isFull { splitLeaf() }
    let weight = weighsNothing ? .zero : weightInLeaf(most, behind: skipped)
    return withUnsafeTemporaryAllocation(of: Piece.self, capacity: PieceTree.mostParts) { parts in
      let (count, found) = tree.buryAcross(most, behind: skipped, weight, into: parts)
      if !spared.isEmpty { for part in parts[..<found] { spareNoLonger(part) } }
      authors[Int(author)].record(
        removing: UnsafeBufferPointer(rebasing: parts[..<found]), number: number, order)
      return count
    }
  }

  /// The weight of what `removeInLeaf` removes.
  private func weightInLeaf(_ most: Int, behind skipped: UInt32) -> TextWeight {
    if let weight = tree.weightOfLeaf(ifWithin: most, behind: skipped) { return weight }
    var weight = TextWeight.zero
    tree.forEachPartInLeaf(most, behind: skipped) { weight += self.weight(of: $0) }
    return weight
  }

  /// Removes visible elements by changes from `number` on, the last one first.
  @inline(never)
  private mutating func removeBackward(
    _ range: Range<Int>, by author: AuthorIndex, number: UInt64
  ) {
    var number = number
    var rest = range.count
    while rest > 0 {
      let seen = tree.seek(range.lowerBound &+ rest &- 1) &+ 1
      let count = Swift.min(seen, UInt32(truncatingIfNeeded: rest))
      let removed = tree.current.dropping(seen &- count).prefix(count)
      bury(removed, behind: seen &- count)
      record(removed, removedBy: author, number: number, .backward)
      number &+= UInt64(count)
      rest &-= Int(count)
    }
  }

  @inline(__always)
  private mutating func record(
    _ removed: Piece, removedBy author: AuthorIndex, number: UInt64, _ order: RemovalRun.Order
  ) {
    authors[Int(author)].record(
      RemovalRun(
        number: UInt32(number), offset: removed.offset, count: removed.count,
        target: removed.author, order: order))
  }

  // MARK: - In the tree

  /// Makes elements behind `skipped` of the cursor's piece, which are its own and visible, tombstones: joined with their
  /// neighbours in the leaf where they can be.
  @inline(__always)
  mutating func bury(_ part: Piece, behind skipped: UInt32) {
    if tree.isFull { splitLeaf() }
    if !spared.isEmpty { spareNoLonger(part) }
    tree.bury(part, behind: skipped, weighsNothing ? .zero : weight(of: part))
  }

  /// True if what is visible in the cursor's leaf has no weight that has to be right: in a leaf of ASCII nothing but line feeds can be lost.
  @inline(__always)
  private var weighsNothing: Bool { tree.isLeafPlain && !tree.keepsWeights }

  /// Notes that elements are removed by a change that does not spare them.
  private mutating func spareNoLonger(_ piece: Piece) {
    spared = spared.filter { !piece.contains($0) }
  }

  @inline(never)
  mutating func splitLeaf() {
    let new: Int
    do {
      let authors = authors
      new = tree.splitLeaf { Self.weight(of: $0, in: authors[Int($0.author)].content) }
    }
    if isIndexed { enterLeaf(new) }
  }

  private mutating func enterLeaf(_ leaf: Int) {
    for piece in tree.pieces(of: leaf) { authors[Int(piece.author)].leaves.set(piece, to: leaf) }
  }
}

// Showing elements and hiding them, whether or not they were removed.

extension ReplicatingArray {
  /// Makes elements visible, or tombstones, and reports those that were not. Leaves spared what is.
  mutating func show(_ range: ElementRange, _ isShown: Bool, _ report: (ElementRange) -> Void) {
    guard let author = index(known: range.author) else { return }
    let spared = spared
    self.spared = []
    defer { self.spared = spared }
    var offset = UInt32(range.offset)
    while offset < range.end {
      locate(LocalID(author, offset))
      let piece = tree.current
      let skipped = offset &- piece.offset
      let part = piece.dropping(skipped).prefix(Swift.min(UInt32(range.end), piece.end) &- offset)
      if piece.isRemoved == isShown {
        if isShown { raise(part.shown, behind: skipped) } else { bury(part, behind: skipped) }
        report(ElementRange(author: range.author, offset: Int(offset), count: Int(part.count)))
      }
      offset &+= part.count
    }
  }

  /// Makes elements behind `skipped` of the cursor's piece, which are its own and tombstones, visible: a piece of their own.
  private mutating func raise(_ part: Piece, behind skipped: UInt32) {
    if tree.isFull { splitLeaf() }
    tree.raise(part, behind: skipped, weight(of: part))
  }
}
