/// The pieces of a sequence in their order, counted.
///
/// A B-tree of three levels and little depth: leaves of up to 64 pieces, blocks of up to 128 leaves, and one flat list of
/// blocks. A leaf's pieces stand in one array, at places that belong to the leaf; a block's leaves likewise, each with the
/// number of its visible elements and their weight. Nodes are numbers, so nothing is retained or released on the way
/// through them, and arrays are all there is to copy.
///
/// A cursor remembers where the last edit was. Leaves are never empty, but the only one of an empty sequence.
struct PieceTree: Sendable {
  /// The capacities of nodes. Tests use tiny nodes, so that splits happen.
  struct NodeSizes: Sendable {
    var leaf = 64
    var block = 128
    /// Longer runs are several pieces: within a piece, lines are found by looking at every byte.
    var piece: UInt32 = Piece.largest
  }

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

  /// A leaf in its block: its number, its visible elements and their weight.
  struct Slot: Sendable {
    var leaf: UInt32 = 0
    var visible: Int32 = 0
    var weight = TextWeight.zero

    @inline(__always)
    mutating func add(_ elements: Int, _ more: TextWeight) {
      visible &+= Int32(truncatingIfNeeded: elements)
      weight += more
    }
  }

  /// A block in the list: its number, its visible elements and their weight.
  struct Top: Sendable {
    var block: UInt32 = 0
    var weight = TextWeight.zero
    var visible = 0

    @inline(__always)
    mutating func add(_ elements: Int, _ more: TextWeight) {
      visible &+= elements
      weight += more
    }
  }

  let sizes: NodeSizes
  /// The pieces of leaf `l` are at `l * sizes.leaf` and on.
  var pieces: [Piece]
  var leafCounts: [Int32] = [0]
  /// The block that a leaf is in.
  var leafBlocks: [UInt32] = [0]
  /// Its place there.
  var leafSlots: [UInt32] = [0]
  /// The leaves of block `b` are at `b * sizes.block` and on.
  var slots: [Slot]
  var blockCounts: [Int32] = [1]
  /// Where a block stands in `top`.
  var blockPlaces: [UInt32] = [0]
  var top: [Top] = [Top()]
  /// The number of visible elements.
  var visible = 0
  /// False while very many edits follow each other: all weights are zero until `weigh`.
  var isWeighed = true
  var cursor = Cursor()

  init(_ sizes: NodeSizes) {
    precondition(sizes.leaf >= 4 && sizes.block >= 2 && sizes.piece <= Piece.largest)
    self.sizes = sizes
    pieces = Array(repeating: Piece(0, 0, 0), count: sizes.leaf)
    slots = Array(repeating: Slot(), count: sizes.block)
  }

  var isEmpty: Bool { leafCounts[0] == 0 && top.count == 1 && blockCounts[0] == 1 }

  /// Where the cursor's piece stands in `pieces`.
  var at: Int { cursor.leaf &* sizes.leaf &+ cursor.index }

  var current: Piece {
    get { pieces[at] }
    set { pieces[at] = newValue }
  }

  /// True if it is certain, without a look at them, that visible elements are bytes of ASCII: they are in the cursor's leaf, and none there continues a
  /// scalar. Its last one may begin a scalar that goes on in the next leaf, so of that nothing is certain.
  @inline(__always)
  func isPlain(in range: Range<Int>) -> Bool {
    range.lowerBound >= cursor.leafStart
      && range.upperBound < cursor.leafStart &+ cursor.leafVisible
      && slots[cursor.block &* sizes.block &+ cursor.slot].weight.continuations == 0
  }

  /// Places for which that is certain.
  var plain: Range<Int> {
    let slot = slots[cursor.block &* sizes.block &+ cursor.slot]
    guard cursor.leafVisible > 0, slot.weight.continuations == 0 else { return 0..<0 }
    return cursor.leafStart..<cursor.leafStart &+ cursor.leafVisible &- 1
  }

  // MARK: - Moving the cursor

  /// Moves to the piece that holds the visible element at `position`, which exists; returns its place in that piece.
  @inline(__always)
  mutating func seek(_ position: Int) -> UInt32 {
    if position < cursor.leafStart || position >= cursor.leafStart &+ cursor.leafVisible {
      seekLeaf(position)
      if position &- cursor.leafStart > cursor.leafVisible / 2 {
        cursor.index = Int(leafCounts[cursor.leaf])
        cursor.start = cursor.leafStart &+ cursor.leafVisible
      }
    }
    let base = cursor.leaf &* sizes.leaf
    var index = cursor.index
    var start = cursor.start
    if position >= start {
      while true {
        let next = start &+ pieces[base &+ index].visibleCount
        if position < next { break }
        start = next
        index &+= 1
      }
    } else {
      repeat {
        index &-= 1
        start &-= pieces[base &+ index].visibleCount
      } while position < start
    }
    cursor.index = index
    cursor.start = start
    return UInt32(truncatingIfNeeded: position &- start)
  }

  /// Moves to the leaf that holds the visible element at `position`: from leaf to leaf if it is in the same block.
  @inline(never)
  private mutating func seekLeaf(_ position: Int) {
    if position < cursor.blockStart
      || position >= cursor.blockStart &+ top[cursor.place].visible
    {
      seekBlock(position)
    }
    let base = cursor.block &* sizes.block
    var slot = cursor.slot
    var start = cursor.leafStart
    while position < start {
      slot &-= 1
      start &-= Int(slots[base &+ slot].visible)
    }
    while true {
      let count = Int(slots[base &+ slot].visible)
      if position < start &+ count {
        cursor.leafVisible = count
        break
      }
      start &+= count
      slot &+= 1
    }
    cursor.slot = slot
    cursor.leaf = Int(slots[base &+ slot].leaf)
    cursor.leafStart = start
    cursor.index = 0
    cursor.start = start
  }

  /// Moves to the first leaf of the block that holds the visible element at `position`.
  private mutating func seekBlock(_ position: Int) {
    var place = 0
    var start = 0
    while position >= start &+ top[place].visible {
      start &+= top[place].visible
      place &+= 1
    }
    cursor.place = place
    cursor.block = Int(top[place].block)
    cursor.blockStart = start
    cursor.slot = 0
    cursor.leafStart = start
  }

  mutating func moveToStart() {
    let block = Int(top[0].block)
    cursor = Cursor(
      leaf: Int(slots[block &* sizes.block].leaf), block: block,
      leafVisible: Int(slots[block &* sizes.block].visible))
  }

  /// Moves to the last piece.
  mutating func moveToEnd() {
    cursor.place = top.count &- 1
    cursor.block = Int(top[cursor.place].block)
    cursor.blockStart = visible &- top[cursor.place].visible
    cursor.slot = Int(blockCounts[cursor.block]) &- 1
    enterSlot()
    cursor.leafStart = visible &- cursor.leafVisible
    cursor.index = max(0, Int(leafCounts[cursor.leaf]) &- 1)
    cursor.start = visible &- current.visibleCount
  }

  /// Moves to the first piece of a leaf: from leaf to leaf if it is in the same block. O(blocks + leaves of a block).
  @inline(never)
  mutating func move(toLeaf leaf: Int) {
    let block = Int(leafBlocks[leaf])
    if block != cursor.block {
      cursor.block = block
      cursor.place = Int(blockPlaces[block])
      cursor.blockStart = 0
      for before in 0..<cursor.place { cursor.blockStart &+= top[before].visible }
      cursor.slot = 0
      cursor.leafStart = cursor.blockStart
    }
    let base = block &* sizes.block
    let slot = Int(leafSlots[leaf])
    var passed = cursor.slot
    var start = cursor.leafStart
    while passed < slot {
      start &+= Int(slots[base &+ passed].visible)
      passed &+= 1
    }
    while passed > slot {
      passed &-= 1
      start &-= Int(slots[base &+ passed].visible)
    }
    cursor.leaf = leaf
    cursor.slot = slot
    cursor.leafStart = start
    cursor.leafVisible = Int(slots[base &+ slot].visible)
    cursor.index = 0
    cursor.start = start
  }

  /// Moves to the piece of the cursor's leaf that holds an element; false if none does. Looks before and behind the cursor
  /// in turn: as a rule it is near.
  mutating func moveInLeaf(to element: LocalID) -> Bool {
    let base = cursor.leaf &* sizes.leaf
    let end = Int(leafCounts[cursor.leaf])
    var (before, beforeStart) = (cursor.index, cursor.start)
    var (behind, behindStart) = (before, beforeStart)
    while before > 0 || behind < end {
      if before > 0 {
        before &-= 1
        let piece = pieces[base &+ before]
        beforeStart &-= piece.visibleCount
        if piece.contains(element) {
          (cursor.index, cursor.start) = (before, beforeStart)
          return true
        }
      }
      if behind < end {
        let piece = pieces[base &+ behind]
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
    let end = Int(leafCounts[cursor.leaf])
    var (index, start) = (cursor.index, cursor.start)
    while index < end {
      let piece = pieces[base &+ index]
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
    if cursor.index &+ 1 < Int(leafCounts[cursor.leaf]) {
      cursor.start &+= current.visibleCount
      cursor.index &+= 1
      return true
    }
    if cursor.slot &+ 1 < Int(blockCounts[cursor.block]) {
      cursor.slot &+= 1
    } else if cursor.place &+ 1 < top.count {
      cursor.blockStart &+= top[cursor.place].visible
      cursor.place &+= 1
      cursor.block = Int(top[cursor.place].block)
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
      cursor.blockStart &-= top[cursor.place].visible
      cursor.block = Int(top[cursor.place].block)
      cursor.slot = Int(blockCounts[cursor.block]) &- 1
    } else {
      return false
    }
    enterSlot()
    cursor.leafStart &-= cursor.leafVisible
    cursor.index = Int(leafCounts[cursor.leaf]) &- 1
    cursor.start = cursor.leafStart &+ cursor.leafVisible &- current.visibleCount
    return true
  }

  private mutating func enterSlot() {
    let slot = cursor.block &* sizes.block &+ cursor.slot
    cursor.leaf = Int(slots[slot].leaf)
    cursor.leafVisible = Int(slots[slot].visible)
  }

  /// The element directly behind the cursor's piece.
  @inline(__always)
  var following: LocalID {
    if cursor.index &+ 1 < Int(leafCounts[cursor.leaf]) { return pieces[at &+ 1].first }
    return firstOfNextLeaf
  }

  @inline(never)
  private var firstOfNextLeaf: LocalID {
    if cursor.slot &+ 1 < Int(blockCounts[cursor.block]) {
      return pieces[Int(slots[cursor.block &* sizes.block &+ cursor.slot &+ 1].leaf) &* sizes.leaf]
        .first
    }
    if cursor.place &+ 1 < top.count {
      let block = Int(top[cursor.place &+ 1].block)
      return pieces[Int(slots[block &* sizes.block].leaf) &* sizes.leaf].first
    }
    return .none
  }

  // MARK: - Order

  /// True if one leaf stands before another.
  func isLeaf(_ a: Int, before b: Int) -> Bool {
    let (blockA, blockB) = (Int(leafBlocks[a]), Int(leafBlocks[b]))
    if blockA != blockB { return blockPlaces[blockA] < blockPlaces[blockB] }
    return leafSlots[a] < leafSlots[b]
  }

  // MARK: - Visiting

  /// Visits all pieces in order.
  @inline(__always)
  func forEachPiece(_ body: (Piece) -> Void) {
    for place in top {
      let base = Int(place.block) &* sizes.block
      for slot in base..<base &+ Int(blockCounts[Int(place.block)]) {
        let leaf = Int(slots[slot].leaf)
        let first = leaf &* sizes.leaf
        for index in first..<first &+ Int(leafCounts[leaf]) { body(pieces[index]) }
      }
    }
  }
}
