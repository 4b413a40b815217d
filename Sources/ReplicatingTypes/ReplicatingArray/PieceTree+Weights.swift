// Finding the weights of nodes, which are kept with each change only after somebody has asked for them.

extension PieceTree {
  /// The weights of the nodes, for a question. O(n) if they are not kept, and nobody has asked since the last change.
  ///
  /// - Parameter weight: of a visible piece.
  func weights(_ weight: (Piece) -> TextWeight) -> FoundWeights? {
    if keepsWeights { return nil }
    return memory.weights {
      var top: [TextWeight] = []
      var slots = [TextWeight](repeating: .zero, count: nodes.blockCount * sizes.block)
      forEachLeaf { place, slot, pieces in
        if place == top.count { top.append(.zero) }
        for piece in pieces where !piece.isRemoved { slots[slot] += weight(piece) }
        top[place] += slots[slot]
      }
      return FoundWeights(top: top, slots: slots)
    }
  }

  /// Finds the weights of the nodes after changes that have not kept them, or have said none. O(n).
  ///
  /// - Parameter weight: of a visible piece.
  mutating func weigh(_ weight: (Piece) -> TextWeight) {
    own()
    let nodes = nodes
    for place in 0..<nodes.blockCount { nodes.top[place].weight = .zero }
    forEachLeaf { place, slot, pieces in
      var sum = TextWeight.zero
      for piece in pieces where !piece.isRemoved { sum += weight(piece) }
      nodes.slots[slot].weight = sum
      nodes.slots[slot].continuations = sum.continuations
      nodes.top[place].weight += sum
    }
    wasAsked = false
  }

  /// Visits all leaves in their order: the place of the block, the leaf's slot, and its pieces.
  private func forEachLeaf(_ body: (Int, Int, UnsafeBufferPointer<Piece>) -> Void) {
    for place in 0..<nodes.blockCount {
      let block = Int(nodes.top[place].block)
      let base = block &* sizes.block
      for slot in base..<base + Int(nodes.blocks[block].count) {
        body(place, slot, pieces(of: Int(nodes.slots[slot].leaf)))
      }
    }
  }
}
