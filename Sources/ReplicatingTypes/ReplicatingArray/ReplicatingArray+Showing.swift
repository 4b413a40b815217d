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
      let count = Swift.min(UInt32(range.end), piece.end) &- offset
      if piece.isRemoved == isShown {
        if isShown { raise(skipped, count) } else { bury(skipped, count) }
        report(ElementRange(author: range.author, offset: Int(offset), count: Int(count)))
      }
      offset &+= count
    }
  }

  /// Makes `count` elements behind `skipped` of the cursor's piece, which are tombstones, visible: a piece of their own.
  private mutating func raise(_ skipped: UInt32, _ count: UInt32) {
    if tree.isFull { splitLeaf() }
    let live = tree.current.dropping(skipped).prefix(count).shown
    tree.count(Int(count), weight(of: live))
    tree.cut(live, behind: skipped)
  }
}
