extension ReplicatingArray {
  /// Checks everything that must hold between the authors' runs, the tree and the index. O(elements): for tests.
  public func checkInvariants() {
    let value = settled
    value.checkTree()
    var seen = value.authors.map { _ in 0 }
    value.tree.forEachPiece { seen[Int($0.author)] += Int($0.count) }
    for (author, count) in zip(value.authors, seen) {
      precondition(author.content.count == count, "elements that stand nowhere, or twice")
      author.leaves.checkInvariants()
      for runs in [
        author.origins.map(\.first), author.stamps.map(\.first), author.skews.map(\.first),
      ] {
        precondition(runs.first ?? 0 == 0 && zip(runs, runs.dropFirst()).allSatisfy(<), "runs")
      }
    }
  }

  private func checkTree() {
    precondition(!tree.keepsWeights || tree.memory.weights == nil, "weights kept and found")
    var visible = 0
    var previous: Piece?
    let nodes = tree.nodes
    for place in 0..<nodes.blockCount {
      let block = Int(nodes.top[place].block)
      precondition(Int(nodes.blocks[block].place) == place, "a block that is elsewhere")
      if place == tree.cursor.place {
        precondition(tree.cursor.blockStart == visible, "a cursor in another block")
      }
      let (blockVisible, blockWeight) = checkBlock(block, visible, &previous)
      precondition(nodes.top[place].visible == blockVisible, "a block's count")
      precondition(
        !tree.keepsWeights || nodes.top[place].weight == blockWeight, "a block's weight")
      visible += blockVisible
    }
    precondition(visible == tree.visible, "the count is \(tree.visible), visible are \(visible)")
  }

  private func checkBlock(
    _ block: Int, _ start: Int, _ previous: inout Piece?
  ) -> (visible: Int, weight: TextWeight) {
    var visible = 0
    var weight = TextWeight.zero
    let nodes = tree.nodes
    for slot in 0..<Int(nodes.blocks[block].count) {
      let place = block * tree.sizes.block + slot
      let leaf = Int(nodes.slots[place].leaf)
      precondition(Int(nodes.leaves[leaf].block) == block, "a leaf that is elsewhere")
      precondition(Int(nodes.leaves[leaf].slot) == slot, "a leaf that is elsewhere in its block")
      precondition(nodes.leaves[leaf].count > 0 || tree.isEmpty, "an empty leaf")
      if leaf == tree.cursor.leaf {
        precondition(tree.cursor.leafStart == start + visible, "a cursor out of step")
        precondition(tree.cursor.block == block && tree.cursor.slot == slot, "a cursor elsewhere")
      }
      var leafVisible = 0
      var leafWeight = TextWeight.zero
      for (index, piece) in tree.pieces(of: leaf).enumerated() {
        precondition((1...tree.sizes.piece).contains(piece.count), "a piece of a wrong size")
        if leaf == tree.cursor.leaf && index == tree.cursor.index {
          precondition(tree.cursor.start == start + visible + leafVisible, "a cursor out of step")
        }
        leafVisible += piece.visibleCount
        if !piece.isRemoved {
          leafWeight += Self.weight(of: piece, in: authors[Int(piece.author)].content)
        }
        if isIndexed {
          for offset in piece.offset..<piece.end {
            precondition(authors[Int(piece.author)].leaves[offset] == leaf, "a wrong index")
          }
        }
        previous = piece
      }
      precondition(Int(nodes.slots[place].visible) == leafVisible, "a leaf's count")
      precondition(
        !tree.keepsWeights || nodes.slots[place].weight == leafWeight, "a leaf's weight")
      precondition(
        tree.memory.weights.map { $0.slots[place] == leafWeight } ?? true, "a leaf's found weight")
      precondition(
        nodes.slots[place].continuations == leafWeight.continuations, "a leaf's continuations")
      visible += leafVisible
      weight += leafWeight
    }
    return (visible, weight)
  }
}
