extension PieceTree {
  /// A tree of pieces that are in order. Its nodes are three quarters full, so that the next edits needn't split them. O(n).
  /// `weigh` is asked for ranges of visible elements, and not if there is nothing beyond ASCII.
  init(
    _ sizes: PieceNodes.Sizes, of all: [Piece], isASCII: Bool,
    _ weigh: (Range<Int>) -> TextWeight = { _ in .zero }
  ) {
    if all.isEmpty {
      self.init(sizes)
      return
    }
    let perLeaf = sizes.leaf * 3 / 4
    let perBlock = max(sizes.block * 3 / 4, 1)
    let leaves = (all.count + perLeaf - 1) / perLeaf
    let blocks = (leaves + perBlock - 1) / perBlock
    self.init(sizes, leaves: leaves, blocks: blocks)
    for block in 0..<blocks {
      let range = block * perBlock..<min((block + 1) * perBlock, leaves)
      var top = PieceNodes.Top()
      for (place, leaf) in range.enumerated() {
        let pieces = all[leaf * perLeaf..<min((leaf + 1) * perLeaf, all.count)]
        var count = 0
        for piece in pieces { count &+= piece.visibleCount }
        let weight = isASCII ? .zero : weigh(visible..<visible + count)
        nodes.add(
          PieceNodes.Leaf(count: Int32(pieces.count), block: UInt32(block), slot: UInt32(place)))
        pieces.withUnsafeBufferPointer {
          (nodes.pieces + leaf * sizes.leaf).initialize(from: $0.baseAddress!, count: $0.count)
        }
        (nodes.slots + (block * sizes.block + place)).initialize(
          to: PieceNodes.Slot(
            leaf: UInt32(leaf), visible: Int32(count), weight: weight,
            continuations: weight.continuations))
        top.add(count, weight)
        visible += count
      }
      nodes.add(PieceNodes.Block(count: Int32(range.count)), top, at: block)
    }
    moveToStart()
  }
}
