/// The visible elements of an `ElementList` by position: for making the steps of a history again, which name positions.
///
/// Runs of elements whose numbers follow each other stand in blocks, each with the number of its elements. A search goes
/// from the last place, block by block, then run by run: most steps of a history are near the one before. What is removed
/// is no longer here, so there are fewer runs than a tree with all its tombstones has pieces.
///
/// O(blocks + runs of a block) for a search, O(runs of a block) for a change, and O(blocks) when a block is split. It is not
/// for very many runs: who makes a history again goes on with a tree when `isLarge`.
///
/// The memory is managed here, since checks of uniqueness and bounds took as long as everything else. It is safe because of these
/// invariants, on which each function relies:
/// - `0 <= slot < slots`; block `b` of the order has its runs at `base` and on, `base + size <= size * capacity`, and
///   `0 <= count <= size - 2` when no function is under way. So there is room for two runs more in it.
/// - `visible` of a block is the sum of its runs, none of which is empty, and `count` the sum of all `visible`. So a search for a
///   position below `count`, which is looked at first, ends at a run.
/// - `0 <= index <= count` of the block, `blockStart` is the sum of the blocks before it, and `start` that of the runs before `index`.
/// - `skipped` is at most the number of elements of that run: `moveToGap` sets it, and `insert`, which comes directly behind that, looks at it.
struct VisibleRuns: ~Copyable {
  typealias Number = ElementList.Number

  private struct Run {
    var first: Number
    var count: UInt32
  }

  private struct Block {
    /// The index of its first run.
    var base: Int
    /// The number of its runs, and of their elements.
    var count: Int
    var visible: Int
  }

  /// The room for runs in a block, and the number of blocks from which on there are too many to go through.
  private let size: Int
  private let mostBlocks: Int
  private var runs: UnsafeMutablePointer<Run>
  /// In their order.
  private var blocks: UnsafeMutablePointer<Block>
  private var slots = 1
  /// The number of blocks for which there is memory.
  private var capacity = 1
  /// The number of all elements.
  private(set) var count = 0

  /// The last place: a block by its place in the order, the position of its first element, a run there, and the position of its
  /// first element.
  private var slot = 0
  private var blockStart = 0
  private var index = 0
  private var start = 0
  /// The number of elements of that run before the gap.
  private var skipped: UInt32 = 0

  init(size: Int = 32, mostBlocks: Int = 1024) {
    precondition(size >= 4)
    (self.size, self.mostBlocks) = (size, mostBlocks)
    runs = .allocate(capacity: size)
    runs.initialize(repeating: Run(first: 0, count: 0), count: size)
    blocks = .allocate(capacity: 1)
    blocks.initialize(to: Block(base: 0, count: 0, visible: 0))
  }

  deinit {
    runs.deallocate()
    blocks.deallocate()
  }

  /// True if this is no longer to be used.
  var isLarge: Bool { slots > mostBlocks }

  // MARK: - Finding

  /// Moves to the run that holds the element at a position; returns its place in that run.
  @inline(__always)
  private mutating func seek(_ position: Int) -> UInt32 {
    precondition(position >= 0 && position < count)
    if position < blockStart || position >= blockStart &+ blocks[slot].visible {
      seekBlock(position)
    }
    let runs = runs + blocks[slot].base
    var index = index
    var start = start
    while position < start {
      index &-= 1
      start &-= Int(runs[index].count)
    }
    while true {
      let end = start &+ Int(runs[index].count)
      if position < end { break }
      start = end
      index &+= 1
    }
    self.index = index
    self.start = start
    return UInt32(truncatingIfNeeded: position &- start)
  }

  /// Moves to the block that holds a position, to its nearer end.
  @inline(never)
  private mutating func seekBlock(_ position: Int) {
    var slot = slot
    var start = blockStart
    while position < start {
      slot &-= 1
      start &-= blocks[slot].visible
    }
    while position >= start &+ blocks[slot].visible {
      start &+= blocks[slot].visible
      slot &+= 1
    }
    self.slot = slot
    blockStart = start
    let block = blocks[slot]
    (index, self.start) =
      position &- start > block.visible / 2 ? (block.count, start &+ block.visible) : (0, start)
  }

  // MARK: - Changing

  /// Moves to the gap before a position. Returns the element before it, 0 at the beginning.
  @inline(__always)
  mutating func moveToGap(at position: Int) -> Number {
    if position == 0 {
      (slot, blockStart, index, start, skipped) = (0, 0, 0, 0, 0)
      return 0
    }
    skipped = seek(position &- 1) &+ 1
    return runs[blocks[slot].base &+ index].first &+ skipped &- 1
  }

  /// Inserts elements at the gap to which it was moved: `first`, and those that follow it by number.
  @inline(__always)
  mutating func insert(_ first: Number, _ count: UInt32) {
    blocks[slot].visible &+= Int(count)
    self.count &+= Int(count)
    let run = runs + (blocks[slot].base &+ index)
    let new = Run(first: first, count: count)
    if skipped == 0 {
      // Only at the very beginning.
      open(1, at: index)
      run[0] = new
      if blocks[slot].count > size &- 2 { split() }
      return
    }
    let old = run[0]
    precondition(index < blocks[slot].count && skipped <= old.count)
    let rest = old.count &- skipped
    if rest > 0 {
      open(2, at: index &+ 1)
      run[0].count = skipped
      run[1] = new
      run[2] = Run(first: old.first &+ skipped, count: rest)
    } else if old.first &+ skipped == first {
      run[0].count &+= count
      return
    } else {
      open(1, at: index &+ 1)
      run[1] = new
    }
    if blocks[slot].count > size &- 2 { split() }
  }

  /// Removes elements from a position on: as many as one run has of `count`, which are there. Returns them, the first by its
  /// number.
  @inline(__always)
  mutating func remove(_ count: UInt32, from position: Int) -> (first: Number, count: UInt32) {
    let skipped = seek(position)
    let run = runs[blocks[slot].base &+ index]
    return remove(min(count, run.count &- skipped), of: run, behind: skipped)
  }

  /// The same up to a position.
  @inline(__always)
  mutating func remove(_ count: UInt32, upTo position: Int) -> (first: Number, count: UInt32) {
    let end = seek(position &- 1) &+ 1
    let removed = min(count, end)
    return remove(removed, of: runs[blocks[slot].base &+ index], behind: end &- removed)
  }

  @inline(__always)
  private mutating func remove(
    _ count: UInt32, of old: Run, behind skipped: UInt32
  ) -> (first: Number, count: UInt32) {
    blocks[slot].visible &-= Int(count)
    self.count &-= Int(count)
    let run = runs + (blocks[slot].base &+ index)
    let rest = Run(
      first: old.first &+ skipped &+ count, count: old.count &- skipped &- count)
    if skipped > 0 {
      run[0].count = skipped
      if rest.count > 0 {
        open(1, at: index &+ 1)
        run[1] = rest
        if blocks[slot].count > size &- 2 { split() }
      }
    } else if rest.count > 0 {
      run[0] = rest
    } else {
      blocks[slot].count &-= 1
      run.update(from: run + 1, count: blocks[slot].count &- index)
    }
    return (old.first &+ skipped, count)
  }

  /// Makes room for one or two runs in the block.
  @inline(__always)
  private mutating func open(_ more: Int, at index: Int) {
    let run = runs + (blocks[slot].base &+ index)
    (run + more).update(from: run, count: blocks[slot].count &- index)
    blocks[slot].count &+= more
  }

  /// Moves the second half of the block into a new one.
  @inline(never)
  private mutating func split() {
    if slots == capacity { grow() }
    let old = blocks[slot]
    let half = old.count / 2
    let base = slots * size
    (runs + base).update(from: runs + (old.base + half), count: old.count - half)
    var elements = 0
    for place in base..<base + old.count - half { elements += Int(runs[place].count) }
    (blocks + (slot + 2)).update(from: blocks + (slot + 1), count: slots - slot - 1)
    slots += 1
    blocks[slot] = Block(base: old.base, count: half, visible: old.visible - elements)
    blocks[slot + 1] = Block(base: base, count: old.count - half, visible: elements)
    index = 0
    start = blockStart
  }

  private mutating func grow() {
    let (oldRuns, oldBlocks) = (runs, blocks)
    runs = .allocate(capacity: 2 * size * capacity)
    runs.initialize(from: oldRuns, count: size * capacity)
    (runs + size * capacity).initialize(
      repeating: Run(first: 0, count: 0), count: size * capacity)
    blocks = .allocate(capacity: 2 * capacity)
    blocks.initialize(from: oldBlocks, count: capacity)
    (blocks + capacity).initialize(
      repeating: Block(base: 0, count: 0, visible: 0), count: capacity)
    capacity *= 2
    oldRuns.deallocate()
    oldBlocks.deallocate()
  }
}
