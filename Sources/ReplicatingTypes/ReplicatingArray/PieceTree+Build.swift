extension PieceTree {
  /// A tree of pieces that are in order. Its nodes are three quarters full, so that the next edits needn't split them. O(n).
  /// `weigh` is asked for ranges of visible elements.
  init(_ sizes: NodeSizes, of all: [Piece], _ weigh: (Range<Int>) -> TextWeight) {
    self.init(sizes)
    if all.isEmpty { return }
    let perLeaf = sizes.leaf * 3 / 4
    let perBlock = max(sizes.block * 3 / 4, 1)
    let leaves = (all.count + perLeaf - 1) / perLeaf
    let blocks = (leaves + perBlock - 1) / perBlock
    pieces = []
    pieces.reserveCapacity(leaves * sizes.leaf)
    leafCounts = []
    leafBlocks = []
    leafSlots = []
    slots = Array(repeating: Slot(), count: blocks * sizes.block)
    blockCounts = Array(repeating: 0, count: blocks)
    blockPlaces = (0..<UInt32(blocks)).map { $0 }
    top = blockPlaces.map { Top(block: $0) }
    let padding = repeatElement(Piece(0, 0, 0), count: sizes.leaf)
    for leaf in 0..<leaves {
      let (block, place) = leaf.quotientAndRemainder(dividingBy: perBlock)
      let range = leaf * perLeaf..<min((leaf + 1) * perLeaf, all.count)
      var count = 0
      for index in range { count &+= all[index].visibleCount }
      let weight = weigh(visible..<visible + count)
      pieces.append(contentsOf: all[range])
      pieces.append(contentsOf: padding.prefix(sizes.leaf - range.count))
      leafCounts.append(Int32(range.count))
      leafBlocks.append(UInt32(block))
      leafSlots.append(UInt32(place))
      slots[block * sizes.block + place] = Slot(
        leaf: UInt32(leaf), visible: Int32(count), weight: weight)
      blockCounts[block] += 1
      top[block].visible += count
      top[block].weight += weight
      visible += count
    }
    moveToStart()
  }
}
