/// The memory of a piece tree's nodes. The pieces of a leaf are at places that are the leaf's, and so are the leaves of a block.
///
/// It is managed here, because an edit does little else than change some of it: checks of uniqueness and bounds, for each array and
/// each change, took a seventh of its time. It is safe because of these invariants, which `checkInvariants` compares with what is there:
/// - No other tree has this memory while it is changed: functions of `PieceTree` that change nodes ask `own` first.
/// - Numbers of leaves are less than `leafCount`, those of blocks less than `blockCount`, and there is memory for so many.
/// - A leaf has no more pieces than places, and a block no more leaves. Only so many are initialised, and read; of a leaf without
///   pieces, the first place.
/// - The visible elements counted in slots and in the list of blocks are those of the pieces below. So a search for a position that is less than the
///   number of all ends at a piece.
struct PieceNodes {
  /// The capacities of nodes. Tests use tiny nodes, so that splits happen.
  struct Sizes: Sendable {
    var leaf = 64
    var block = 128
    /// Longer runs are several pieces: within a piece, lines are found by looking at every byte.
    var piece: UInt32 = Piece.largest
  }

  /// A leaf: the number of its pieces, its block, and its place there.
  struct Leaf {
    var count: Int32 = 0
    var block: UInt32 = 0
    var slot: UInt32 = 0
  }

  /// A block: the number of its leaves, and its place in the list.
  struct Block {
    var count: Int32 = 0
    var place: UInt32 = 0
  }

  /// A leaf in its block: its number, its visible elements and their weight, which is right if the tree keeps weights.
  struct Slot {
    var leaf: UInt32 = 0
    var visible: Int32 = 0
    var weight = TextWeight.zero
    /// The visible bytes that begin no scalar, which are counted in any case.
    var continuations: Int32 = 0

    @inline(__always)
    mutating func add(_ elements: Int, _ more: TextWeight) {
      visible &+= Int32(truncatingIfNeeded: elements)
      weight += more
      continuations &+= more.continuations
    }
  }

  /// A block in the list: its number, its visible elements and their weight.
  struct Top {
    var block: UInt32 = 0
    var weight = TextWeight.zero
    var visible = 0

    @inline(__always)
    mutating func add(_ elements: Int, _ more: TextWeight) {
      visible &+= elements
      weight += more
    }
  }

  /// The pieces of leaf `l` are at `l * sizes.leaf` and on.
  let pieces: UnsafeMutablePointer<Piece>
  /// The blocks in their order.
  let top: UnsafeMutablePointer<Top>
  /// The leaves of block `b` are at `b * sizes.block` and on.
  let slots: UnsafeMutablePointer<Slot>
  let leaves: UnsafeMutablePointer<Leaf>
  let blocks: UnsafeMutablePointer<Block>
  private(set) var leafCount = 0
  private(set) var blockCount = 0
  /// There is memory for so many.
  let leafRoom: Int
  let blockRoom: Int

  /// Memory without any node.
  init(_ sizes: Sizes, leaves leafRoom: Int, blocks blockRoom: Int) {
    let (places, slots) = (leafRoom * sizes.leaf, blockRoom * sizes.block)
    self.leafRoom = leafRoom
    self.blockRoom = blockRoom
    // One piece of memory, the longest alignment first: so each begins where it may.
    let start = UnsafeMutableRawPointer.allocate(
      byteCount: places * MemoryLayout<Piece>.stride + blockRoom * MemoryLayout<Top>.stride
        + slots * MemoryLayout<Slot>.stride + leafRoom * MemoryLayout<Leaf>.stride
        + blockRoom * MemoryLayout<Block>.stride,
      alignment: MemoryLayout<Piece>.alignment)
    pieces = start.bindMemory(to: Piece.self, capacity: places)
    top = UnsafeMutableRawPointer(pieces + places).bindMemory(to: Top.self, capacity: blockRoom)
    self.slots = UnsafeMutableRawPointer(top + blockRoom).bindMemory(to: Slot.self, capacity: slots)
    leaves = UnsafeMutableRawPointer(self.slots + slots)
      .bindMemory(to: Leaf.self, capacity: leafRoom)
    blocks = UnsafeMutableRawPointer(leaves + leafRoom)
      .bindMemory(to: Block.self, capacity: blockRoom)
  }

  /// The same nodes in memory of their own, with room for so many. O(n).
  init(
    copying other: PieceNodes, _ sizes: Sizes, leaves: Int, blocks: Int
  ) {
    precondition(leaves >= other.leafCount && blocks >= other.blockCount)
    self.init(sizes, leaves: leaves, blocks: blocks)
    (leafCount, blockCount) = (other.leafCount, other.blockCount)
    for leaf in 0..<leafCount {
      let first = leaf * sizes.leaf
      (pieces + first).initialize(
        from: other.pieces + first, count: max(1, Int(other.leaves[leaf].count)))
    }
    for block in 0..<blockCount {
      let first = block * sizes.block
      (slots + first).initialize(from: other.slots + first, count: Int(other.blocks[block].count))
    }
    self.leaves.initialize(from: other.leaves, count: leafCount)
    self.blocks.initialize(from: other.blocks, count: blockCount)
    top.initialize(from: other.top, count: blockCount)
  }

  func deallocate() { UnsafeMutableRawPointer(pieces).deallocate() }

  /// Adds a leaf for which there is room, and returns its number. Its pieces are still to be initialised.
  @discardableResult
  mutating func add(_ leaf: Leaf) -> Int {
    precondition(leafCount < leafRoom)
    (leaves + leafCount).initialize(to: leaf)
    leafCount += 1
    return leafCount - 1
  }

  /// Adds a block for which there is room, at a place in the list, and returns its number. Its slots are still to be initialised.
  @discardableResult
  mutating func add(_ block: Block, _ entry: Top, at place: Int) -> Int {
    precondition(blockCount < blockRoom && place <= blockCount)
    (blocks + blockCount).initialize(to: block)
    (top + (place + 1)).update(from: top + place, count: blockCount - place)
    (top + place).initialize(to: entry)
    top[place].block = UInt32(blockCount)
    blockCount += 1
    for moved in place..<blockCount { blocks[Int(top[moved].block)].place = UInt32(moved) }
    return blockCount - 1
  }
}
