// Making elements tombstones, and noting by which change.

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
    let isPlain = tree.isLeafPlain && !tree.keepsWeights
    let weight = isPlain ? .zero : weightInLeaf(most, behind: skipped)
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
}
