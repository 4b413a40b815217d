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
