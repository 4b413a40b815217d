/// The pieces of a sequence in their order, counted.
///
/// A B-tree of three levels and little depth: leaves of up to 64 pieces, blocks of up to 128 leaves, and one flat list of
/// blocks. A block has of each of its leaves the number of its visible elements and their weight. Nodes are numbers, and all
/// are in one piece of memory (PieceNodes.swift), which copies of the tree share until one of them is changed.
///
/// A cursor remembers where the last edit was. Leaves are never empty, but the only one of an empty sequence.
struct PieceTree: @unchecked Sendable {
  /// A piece, how it was reached, and how many visible elements stand before it.
  struct Cursor: Sendable {
    var leaf = 0
    var block = 0
    /// The place of the leaf in its block, and of the block in the list.
    var slot = 0
    var place = 0
    var blockStart = 0
    /// The first visible position of the leaf, and how many it holds.
    var leafStart = 0
    var leafVisible = 0
    /// The piece in its leaf, and its first visible position.
    var index = 0
    var start = 0
  }

  let sizes: PieceNodes.Sizes
  /// The nodes. `memory` frees them.
  var nodes: PieceNodes
  private(set) var memory: PieceMemory
  /// The number of visible elements.
  var visible = 0
  /// True if each change keeps the weights right. Otherwise they are found when somebody asks for them: they take an eighth of an edit's
  /// time, and most texts are never asked for a line.
  var keepsWeights = false
  /// True if somebody has asked for weights that are not kept.
  var wasAsked = false
  var cursor = Cursor()

  /// A tree without pieces: of one empty leaf.
  init(_ sizes: PieceNodes.Sizes) {
    self.init(sizes, leaves: 1, blocks: 1)
    nodes.add(PieceNodes.Block(count: 1), PieceNodes.Top(), at: 0)
    nodes.add(PieceNodes.Leaf())
    nodes.slots.initialize(to: PieceNodes.Slot())
    nodes.pieces.initialize(to: Piece(0, 0, 0))
  }

  /// A tree without nodes, with room for so many.
  init(_ sizes: PieceNodes.Sizes, leaves: Int, blocks: Int) {
    precondition(sizes.leaf >= 4 && sizes.block >= 2 && sizes.piece <= Piece.largest)
    self.sizes = sizes
    nodes = PieceNodes(sizes, leaves: leaves, blocks: blocks)
    memory = PieceMemory(nodes)
  }

  /// Makes sure that no other tree has the nodes of this one, which are going to be changed. O(1), and O(n) if one has.
  @inline(__always)
  mutating func own() {
    if !isKnownUniquelyReferenced(&memory) {
      copyNodes(leaves: nodes.leafRoom, blocks: nodes.blockRoom)
    } else if memory.forgetWeights() {
      wasAsked = true
    }
  }

  /// Has the nodes, which are going to be changed, in memory of their own, with room for so many. O(n).
  @inline(never)
  mutating func copyNodes(leaves: Int, blocks: Int) {
    if memory.weights != nil { wasAsked = true }
    nodes = PieceNodes(copying: nodes, sizes, leaves: leaves, blocks: blocks)
    memory = PieceMemory(nodes)
  }

  var isEmpty: Bool { nodes.leafCount == 1 && nodes.leaves[0].count == 0 }

  /// Where the cursor's piece stands in `pieces`.
  var at: Int { cursor.leaf &* sizes.leaf &+ cursor.index }

  var current: Piece { nodes.pieces[at] }

  /// True if it is certain, without a look at them, that visible elements are bytes of ASCII: they are in the cursor's leaf, and none there continues a
  /// scalar. Its last one may begin a scalar that goes on in the next leaf, so of that nothing is certain.
  @inline(__always)
  func isPlain(in range: Range<Int>) -> Bool {
    range.lowerBound >= cursor.leafStart
      && range.upperBound < cursor.leafStart &+ cursor.leafVisible
      && isLeafPlain
  }

  /// True if no visible byte of the cursor's leaf continues a scalar.
  @inline(__always)
  var isLeafPlain: Bool {
    nodes.slots[cursor.block &* sizes.block &+ cursor.slot].continuations == 0
  }

  /// Places for which that is certain.
  var plain: Range<Int> {
    guard cursor.leafVisible > 0, isLeafPlain else { return 0..<0 }
    return cursor.leafStart..<cursor.leafStart &+ cursor.leafVisible &- 1
  }

  /// The pieces of a leaf, for as long as the tree is there and unchanged.
  @inline(__always)
  func pieces(of leaf: Int) -> UnsafeBufferPointer<Piece> {
    UnsafeBufferPointer(
      start: nodes.pieces + leaf &* sizes.leaf, count: Int(nodes.leaves[leaf].count))
  }

  // MARK: - Moving the cursor

  /// Moves to the piece that holds the visible element at `position`, which exists; returns its place in that piece.
  @inline(__always)
  mutating func seek(_ position: Int) -> UInt32 {
    if position < cursor.leafStart || position >= cursor.leafStart &+ cursor.leafVisible {
      seekLeaf(position)
      if position &- cursor.leafStart > cursor.leafVisible / 2 {
        cursor.index = Int(nodes.leaves[cursor.leaf].count)
        cursor.start = cursor.leafStart &+ cursor.leafVisible
      }
    }
    let base = cursor.leaf &* sizes.leaf
    var index = cursor.index
    var start = cursor.start
    if position >= start {
      while true {
        let next = start &+ nodes.pieces[base &+ index].visibleCount
        if position < next { break }
        start = next
        index &+= 1
      }
    } else {
      repeat {
        index &-= 1
        start &-= nodes.pieces[base &+ index].visibleCount
      } while position < start
    }
    cursor.index = index
    cursor.start = start
    return UInt32(truncatingIfNeeded: position &- start)
  }

  /// Moves to the leaf that holds the visible element at `position`: from leaf to leaf if it is in the same block.
  @inline(never)
  private mutating func seekLeaf(_ position: Int) {
    precondition(position >= 0 && position < visible, "a position outside the sequence")
    if position < cursor.blockStart
      || position >= cursor.blockStart &+ nodes.top[cursor.place].visible
    {
      seekBlock(position)
    }
    let base = cursor.block &* sizes.block
    var slot = cursor.slot
    var start = cursor.leafStart
    while position < start {
      slot &-= 1
      start &-= Int(nodes.slots[base &+ slot].visible)
    }
    while true {
      let count = Int(nodes.slots[base &+ slot].visible)
      if position < start &+ count {
        cursor.leafVisible = count
        break
      }
      start &+= count
      slot &+= 1
    }
    cursor.slot = slot
    cursor.leaf = Int(nodes.slots[base &+ slot].leaf)
    cursor.leafStart = start
    cursor.index = 0
    cursor.start = start
  }

  /// Moves to the first leaf of the block that holds the visible element at `position`.
  private mutating func seekBlock(_ position: Int) {
    var place = 0
    var start = 0
    while position >= start &+ nodes.top[place].visible {
      start &+= nodes.top[place].visible
      place &+= 1
    }
    cursor.place = place
    cursor.block = Int(nodes.top[place].block)
    cursor.blockStart = start
    cursor.slot = 0
    cursor.leafStart = start
  }

  mutating func moveToStart() {
    let block = Int(nodes.top[0].block)
    cursor = Cursor(
      leaf: Int(nodes.slots[block &* sizes.block].leaf), block: block,
      leafVisible: Int(nodes.slots[block &* sizes.block].visible))
  }

  /// Moves to the last piece.
  mutating func moveToEnd() {
    cursor.place = nodes.blockCount &- 1
    cursor.block = Int(nodes.top[cursor.place].block)
    cursor.blockStart = visible &- nodes.top[cursor.place].visible
    cursor.slot = Int(nodes.blocks[cursor.block].count) &- 1
    enterSlot()
    cursor.leafStart = visible &- cursor.leafVisible
    cursor.index = max(0, Int(nodes.leaves[cursor.leaf].count) &- 1)
    cursor.start = visible &- current.visibleCount
  }

  /// Moves to the first piece of a leaf: from leaf to leaf if it is in the same block. O(blocks + leaves of a block).
  @inline(never)
  mutating func move(toLeaf leaf: Int) {
    precondition(leaf < nodes.leafCount, "a leaf that is not here")
    let block = Int(nodes.leaves[leaf].block)
    if block != cursor.block {
      cursor.block = block
      cursor.place = Int(nodes.blocks[block].place)
      cursor.blockStart = 0
      for before in 0..<cursor.place { cursor.blockStart &+= nodes.top[before].visible }
      cursor.slot = 0
      cursor.leafStart = cursor.blockStart
    }
    let base = block &* sizes.block
    let slot = Int(nodes.leaves[leaf].slot)
    var passed = cursor.slot
    var start = cursor.leafStart
    while passed < slot {
      start &+= Int(nodes.slots[base &+ passed].visible)
      passed &+= 1
    }
    while passed > slot {
      passed &-= 1
      start &-= Int(nodes.slots[base &+ passed].visible)
    }
    cursor.leaf = leaf
    cursor.slot = slot
    cursor.leafStart = start
    cursor.leafVisible = Int(nodes.slots[base &+ slot].visible)
    cursor.index = 0
    cursor.start = start
  }

  /// Moves to the piece of the cursor's leaf that holds an element; false if none does. Looks before and behind the cursor
  /// in turn: as a rule it is near.
  mutating func moveInLeaf(to element: LocalID) -> Bool {
    let base = cursor.leaf &* sizes.leaf
    let end = Int(nodes.leaves[cursor.leaf].count)
    var (before, beforeStart) = (cursor.index, cursor.start)
    var (behind, behindStart) = (before, beforeStart)
    while before > 0 || behind < end {
      if before > 0 {
        before &-= 1
        let piece = nodes.pieces[base &+ before]
        beforeStart &-= piece.visibleCount
        if piece.contains(element) {
          (cursor.index, cursor.start) = (before, beforeStart)
          return true
        }
      }
      if behind < end {
        let piece = nodes.pieces[base &+ behind]
        if piece.contains(element) {
          (cursor.index, cursor.start) = (behind, behindStart)
          return true
        }
        behindStart &+= piece.visibleCount
        behind &+= 1
      }
    }
    return false
  }

  /// The same for an element at or behind the cursor.
  mutating func moveForwardInLeaf(to element: LocalID) -> Bool {
    let base = cursor.leaf &* sizes.leaf
    let end = Int(nodes.leaves[cursor.leaf].count)
    var (index, start) = (cursor.index, cursor.start)
    while index < end {
      let piece = nodes.pieces[base &+ index]
      if piece.contains(element) {
        (cursor.index, cursor.start) = (index, start)
        return true
      }
      start &+= piece.visibleCount
      index &+= 1
    }
    return false
  }

  /// Moves one piece on; false at the end.
  mutating func stepForward() -> Bool {
    if cursor.index &+ 1 < Int(nodes.leaves[cursor.leaf].count) {
      cursor.start &+= current.visibleCount
      cursor.index &+= 1
      return true
    }
    if cursor.slot &+ 1 < Int(nodes.blocks[cursor.block].count) {
      cursor.slot &+= 1
    } else if cursor.place &+ 1 < nodes.blockCount {
      cursor.blockStart &+= nodes.top[cursor.place].visible
      cursor.place &+= 1
      cursor.block = Int(nodes.top[cursor.place].block)
      cursor.slot = 0
    } else {
      return false
    }
    cursor.leafStart &+= cursor.leafVisible
    enterSlot()
    cursor.index = 0
    cursor.start = cursor.leafStart
    return true
  }

  /// Moves one piece back; false at the beginning.
  mutating func stepBackward() -> Bool {
    if cursor.index > 0 {
      cursor.index &-= 1
      cursor.start &-= current.visibleCount
      return true
    }
    if cursor.slot > 0 {
      cursor.slot &-= 1
    } else if cursor.place > 0 {
      cursor.place &-= 1
      cursor.blockStart &-= nodes.top[cursor.place].visible
      cursor.block = Int(nodes.top[cursor.place].block)
      cursor.slot = Int(nodes.blocks[cursor.block].count) &- 1
    } else {
      return false
    }
    enterSlot()
    cursor.leafStart &-= cursor.leafVisible
    cursor.index = Int(nodes.leaves[cursor.leaf].count) &- 1
    cursor.start = cursor.leafStart &+ cursor.leafVisible &- current.visibleCount
    return true
  }

  private mutating func enterSlot() {
    let slot = cursor.block &* sizes.block &+ cursor.slot
    cursor.leaf = Int(nodes.slots[slot].leaf)
    cursor.leafVisible = Int(nodes.slots[slot].visible)
  }

  /// The element directly behind the cursor's piece.
  @inline(__always)
  var following: LocalID {
    if cursor.index &+ 1 < Int(nodes.leaves[cursor.leaf].count) {
      return nodes.pieces[at &+ 1].first
    }
    return firstOfNextLeaf
  }

  @inline(never)
  private var firstOfNextLeaf: LocalID {
    if cursor.slot &+ 1 < Int(nodes.blocks[cursor.block].count) {
      return nodes.pieces[
        Int(nodes.slots[cursor.block &* sizes.block &+ cursor.slot &+ 1].leaf) &* sizes.leaf
      ]
      .first
    }
    if cursor.place &+ 1 < nodes.blockCount {
      let block = Int(nodes.top[cursor.place &+ 1].block)
      return nodes.pieces[Int(nodes.slots[block &* sizes.block].leaf) &* sizes.leaf].first
    }
    return .none
  }

  // MARK: - Order

  /// True if one leaf stands before another.
  func isLeaf(_ a: Int, before b: Int) -> Bool {
    precondition(a < nodes.leafCount && b < nodes.leafCount, "a leaf that is not here")
    let (blockA, blockB) = (Int(nodes.leaves[a].block), Int(nodes.leaves[b].block))
    if blockA != blockB { return nodes.blocks[blockA].place < nodes.blocks[blockB].place }
    return nodes.leaves[a].slot < nodes.leaves[b].slot
  }

  // MARK: - Visiting

  /// Visits all pieces in order.
  @inline(__always)
  func forEachPiece(_ body: (Piece) -> Void) {
    for place in UnsafeBufferPointer(start: nodes.top, count: nodes.blockCount) {
      let base = Int(place.block) &* sizes.block
      for slot in base..<base &+ Int(nodes.blocks[Int(place.block)].count) {
        for piece in pieces(of: Int(nodes.slots[slot].leaf)) { body(piece) }
      }
    }
  }
}
