// Changing the pieces of a leaf, and splitting what is full.

extension PieceTree {
  /// True if the cursor's leaf has no room for the two pieces that an edit can add.
  @inline(__always)
  var isFull: Bool { Int(nodes.leaves[cursor.leaf].count) > sizes.leaf &- 2 }

  /// Lengthens the cursor's piece by `count` elements of a weight. It has room for them.
  @inline(__always)
  mutating func lengthen(by count: UInt32, _ weight: TextWeight) {
    own()
    add(Int(count), weight)
    nodes.pieces[at] = current.extended(by: count)
  }

  /// The same by a piece that would stand behind `skipped` of its elements, if the two go on; false if they don't.
  @inline(__always)
  mutating func extend(by piece: Piece, behind skipped: UInt32, _ weight: TextWeight) -> Bool {
    let old = current
    guard skipped > 0, skipped == old.count, old.goes(before: piece, sizes.piece) else {
      return false
    }
    lengthen(by: piece.count, weight)
    return true
  }

  /// Puts a piece, which has a weight, behind `skipped` elements of the cursor's piece; only at the very beginning that is 0. Moves to it.
  /// The leaf isn't full.
  @inline(__always)
  mutating func put(_ piece: Piece, behind skipped: UInt32, _ weight: TextWeight) {
    changeLeaf(Int(piece.count), weight) { leaf, count, cursor in
      if skipped == 0 {
        Self.makeRoom(for: 1, at: cursor.index, in: leaf, &count)[0] = piece
        return
      }
      let old = leaf[cursor.index]
      if skipped < old.count {
        leaf[cursor.index] = old.prefix(skipped)
        let room = Self.makeRoom(for: 2, at: cursor.index &+ 1, in: leaf, &count)
        room[0] = piece
        room[1] = old.dropping(skipped)
      } else {
        Self.makeRoom(for: 1, at: cursor.index &+ 1, in: leaf, &count)[0] = piece
      }
      cursor.start &+= old.prefix(skipped).visibleCount
      cursor.index &+= 1
    }
  }

  /// Makes elements behind `skipped` of the cursor's piece, which are its own, visible and have a weight, tombstones: joined with their neighbours
  /// in the leaf where they can be. The leaf isn't full.
  @inline(__always)
  mutating func bury(_ part: Piece, behind skipped: UInt32, _ weight: TextWeight) {
    let largest = sizes.piece
    let count = part.count
    let tomb = part.removed
    changeLeaf(-Int(count), -weight) { leaf, pieces, cursor in
      let index = cursor.index
      let old = leaf[index]
      let rest = old.count &- skipped &- count
      if rest == 0, index &+ 1 < pieces, tomb.goes(before: leaf[index &+ 1], largest) {
        leaf[index &+ 1] = leaf[index &+ 1].extended(forwardBy: count)
        if skipped > 0 {
          leaf[index] = old.prefix(skipped)
          return
        }
        Self.remove(at: index, in: leaf, &pieces)
        guard index > 0 else { return }
        // Between two tombstones nothing is left.
        let previous = leaf[index &- 1]
        if previous.goes(before: leaf[index], largest) {
          leaf[index &- 1] = previous.extended(by: leaf[index].count)
          Self.remove(at: index, in: leaf, &pieces)
        }
        cursor.index &-= 1
        cursor.start &-= leaf[cursor.index].visibleCount
      } else if skipped == 0, index > 0, leaf[index &- 1].goes(before: tomb, largest) {
        leaf[index &- 1] = leaf[index &- 1].extended(by: count)
        if rest > 0 {
          leaf[index] = old.dropping(count)
        } else {
          Self.remove(at: index, in: leaf, &pieces)
          cursor.index &-= 1
        }
      } else {
        Self.cut(tomb, behind: skipped, at: index, in: leaf, &pieces)
      }
    }
  }

  /// Makes elements behind `skipped` of the cursor's piece, which are its own, a visible piece of their own with a weight. They are tombstones, and the leaf
  /// isn't full.
  mutating func raise(_ part: Piece, behind skipped: UInt32, _ weight: TextWeight) {
    changeLeaf(Int(part.count), weight) { leaf, pieces, cursor in
      Self.cut(part, behind: skipped, at: cursor.index, in: leaf, &pieces)
    }
  }

  @inline(__always)
  private static func cut(
    _ part: Piece, behind skipped: UInt32, at index: Int, in leaf: UnsafeMutablePointer<Piece>,
    _ count: inout Int
  ) {
    let old = leaf[index]
    let seen = skipped &+ part.count
    if skipped == 0 {
      leaf[index] = part
      if seen < old.count {
        makeRoom(for: 1, at: index &+ 1, in: leaf, &count)[0] = old.dropping(seen)
      }
    } else {
      leaf[index] = old.prefix(skipped)
      let room = makeRoom(for: seen < old.count ? 2 : 1, at: index &+ 1, in: leaf, &count)
      room[0] = part
      if seen < old.count { room[1] = old.dropping(seen) }
    }
  }

  /// Has `body` change the pieces of the cursor's leaf, and their number: by so many visible elements of a weight. The leaf has the cursor's piece, unless it is
  /// empty, and isn't full.
  ///
  /// All that `body` may read and write are the places of the leaf: the first `count`, and two more. `cursor.index` is one of
  /// them, and so is the next; one before it is looked at only where it isn't the first.
  @inline(__always)
  private mutating func changeLeaf(
    _ elements: Int, _ weight: TextWeight,
    _ body: (_ leaf: UnsafeMutablePointer<Piece>, _ count: inout Int, _ cursor: inout Cursor) ->
      Void
  ) {
    own()
    add(elements, weight)
    let leaf = cursor.leaf
    var count = Int(nodes.leaves[leaf].count)
    precondition(cursor.index >= 0 && cursor.index <= count && count <= sizes.leaf &- 2)
    body(nodes.pieces + leaf &* sizes.leaf, &count, &cursor)
    nodes.leaves[leaf].count = Int32(truncatingIfNeeded: count)
  }

  /// Adds to the counts on the way to the cursor's leaf.
  @inline(__always)
  mutating func add(_ elements: Int, _ weight: TextWeight) {
    nodes.slots[cursor.block &* sizes.block &+ cursor.slot].add(elements, weight)
    nodes.top[cursor.place].add(elements, weight)
    visible &+= elements
    cursor.leafVisible &+= elements
  }

  /// Moves the pieces of a leaf from `index` on by `new` places, which are in the leaf. Returns the first of those.
  @inline(__always)
  private static func makeRoom(
    for new: Int, at index: Int, in leaf: UnsafeMutablePointer<Piece>, _ count: inout Int
  ) -> UnsafeMutablePointer<Piece> {
    precondition(index <= count)
    let place = leaf + index
    (place + new).update(from: place, count: count &- index)
    count &+= new
    return place
  }

  /// Takes a piece out of a leaf that has it.
  @inline(__always)
  private static func remove(
    at index: Int, in leaf: UnsafeMutablePointer<Piece>, _ count: inout Int
  ) {
    precondition(index < count)
    count &-= 1
    (leaf + index).update(from: leaf + (index &+ 1), count: count &- index)
  }

  // MARK: - Splitting

  /// Splits the cursor's leaf; the cursor keeps its piece. Returns the new leaf.
  @inline(never)
  mutating func splitLeaf(_ weigh: (Piece) -> TextWeight) -> Int {
    let isBlockFull = Int(nodes.blocks[cursor.block].count) == sizes.block
    reserve(blocks: isBlockFull ? 1 : 0)
    if isBlockFull { splitBlock() }
    let old = cursor.leaf
    let slot = cursor.block * sizes.block + cursor.slot
    let count = Int(nodes.leaves[old].count)
    let half = count / 2
    let new = nodes.add(
      PieceNodes.Leaf(
        count: Int32(count - half), block: UInt32(cursor.block), slot: UInt32(cursor.slot + 1)))
    (nodes.pieces + new * sizes.leaf).initialize(
      from: nodes.pieces + (old * sizes.leaf + half), count: count - half)
    nodes.leaves[old].count = Int32(half)
    let visible = pieces(of: new).reduce(0) { $0 &+ $1.visibleCount }
    var weight = TextWeight.zero
    if keepsWeights || nodes.slots[slot].continuations != 0 {
      // The half with fewer elements is weighed.
      if visible <= cursor.leafVisible / 2 {
        for piece in pieces(of: new) where !piece.isRemoved { weight += weigh(piece) }
      } else {
        weight =
          keepsWeights
          ? nodes.slots[slot].weight
          : TextWeight(continuations: nodes.slots[slot].continuations)
        for piece in pieces(of: old) where !piece.isRemoved { weight += -weigh(piece) }
      }
    }
    nodes.slots[slot].add(-visible, -weight)
    insertSlot(
      PieceNodes.Slot(
        leaf: UInt32(new), visible: Int32(visible), weight: weight,
        continuations: weight.continuations), at: slot + 1)
    cursor.leafVisible -= visible
    if cursor.index >= half {
      cursor.leaf = new
      cursor.slot += 1
      cursor.leafStart += cursor.leafVisible
      cursor.leafVisible = visible
      cursor.index -= half
    }
    return new
  }

  /// Makes room for a leaf more, and for so many blocks. Nobody else has the nodes then.
  private mutating func reserve(blocks: Int) {
    let (leafRoom, blockRoom) = (nodes.leafRoom, nodes.blockRoom)
    if nodes.leafCount == leafRoom || nodes.blockCount + blocks > blockRoom {
      copyNodes(
        leaves: nodes.leafCount == leafRoom ? leafRoom * 2 : leafRoom,
        blocks: nodes.blockCount + blocks > blockRoom ? blockRoom * 2 : blockRoom)
    } else {
      own()
    }
  }

  /// Puts a leaf into the cursor's block, at a place that is not its first, and for which there is room.
  private mutating func insertSlot(_ slot: PieceNodes.Slot, at place: Int) {
    let end = cursor.block * sizes.block + Int(nodes.blocks[cursor.block].count)
    (nodes.slots + (place + 1)).update(from: nodes.slots + place, count: end - place)
    nodes.slots[place] = slot
    nodes.blocks[cursor.block].count += 1
    for moved in place + 1..<end + 1 { nodes.leaves[Int(nodes.slots[moved].leaf)].slot += 1 }
  }

  /// Splits the cursor's block, which is full. There is room for a new one, and nobody else has the nodes.
  private mutating func splitBlock() {
    let old = cursor.block
    let half = sizes.block / 2
    var (visible, weight) = (0, TextWeight.zero)
    let moved = UnsafeBufferPointer(
      start: nodes.slots + (old * sizes.block + half), count: sizes.block - half)
    for slot in moved {
      visible += Int(slot.visible)
      weight += slot.weight
    }
    nodes.top[cursor.place].add(-visible, -weight)
    nodes.blocks[old].count = Int32(half)
    let new = nodes.add(
      PieceNodes.Block(count: Int32(moved.count)),
      PieceNodes.Top(weight: weight, visible: visible), at: cursor.place + 1)
    (nodes.slots + new * sizes.block).initialize(from: moved.baseAddress!, count: moved.count)
    for (place, slot) in moved.enumerated() {
      nodes.leaves[Int(slot.leaf)].block = UInt32(new)
      nodes.leaves[Int(slot.leaf)].slot = UInt32(place)
    }
    if cursor.slot >= half {
      cursor.block = new
      cursor.slot -= half
      cursor.blockStart += nodes.top[cursor.place].visible
      cursor.place += 1
    }
  }
}
