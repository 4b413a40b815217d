// Changing the pieces of a leaf, and splitting what is full. Whoever changes pieces here tells the counts by `count`.

extension PieceTree {
  /// Adds to the counts on the way to the cursor's leaf.
  @inline(__always)
  mutating func count(_ elements: Int, _ weight: TextWeight) {
    let slot = cursor.block &* sizes.block &+ cursor.slot
    slots[slot].add(elements, weight)
    top[cursor.place].add(elements, weight)
    visible &+= elements
    cursor.leafVisible &+= elements
  }

  /// True if the cursor's leaf has no room for the two pieces that an edit can add.
  @inline(__always)
  var isFull: Bool { Int(leafCounts[cursor.leaf]) > sizes.leaf &- 2 }

  /// Lengthens the cursor's piece by one that would stand behind `skipped` of its elements, if the two go on; false if they don't.
  @inline(__always)
  mutating func extend(by piece: Piece, behind skipped: UInt32) -> Bool {
    let old = current
    guard skipped > 0, skipped == old.count, old.goes(before: piece, sizes.piece) else {
      return false
    }
    current = old.extended(by: piece.count)
    return true
  }

  /// Puts a piece behind `skipped` elements of the cursor's piece; only at the very beginning that is 0. Moves to it. The leaf
  /// isn't full.
  @inline(__always)
  mutating func put(_ piece: Piece, behind skipped: UInt32) {
    let index = cursor.index
    if skipped == 0 {
      changeLeaf { leaf, count in Self.makeRoom(for: 1, at: index, in: leaf, &count)[0] = piece }
      return
    }
    let visible = changeLeaf { leaf, count in
      let old = leaf[index]
      if skipped < old.count {
        leaf[index] = old.prefix(skipped)
        let room = Self.makeRoom(for: 2, at: index &+ 1, in: leaf, &count)
        room[0] = piece
        room[1] = old.dropping(skipped)
      } else {
        Self.makeRoom(for: 1, at: index &+ 1, in: leaf, &count)[0] = piece
      }
      return old.prefix(skipped).visibleCount
    }
    cursor.start &+= visible
    cursor.index &+= 1
  }

  /// Makes `count` elements behind `skipped` of the cursor's piece, which is visible, tombstones: joined with their
  /// neighbours in the leaf where they can be. The leaf isn't full.
  @inline(__always)
  mutating func bury(_ skipped: UInt32, _ count: UInt32) {
    var (index, start) = (cursor.index, cursor.start)
    let largest = sizes.piece
    changeLeaf { leaf, pieces in
      let old = leaf[index]
      let tomb = old.dropping(skipped).prefix(count).removed
      let rest = old.count &- skipped &- count
      if rest == 0, index &+ 1 < pieces, tomb.goes(before: leaf[index &+ 1], largest) {
        leaf[index &+ 1] = Piece(offset: tomb.offset, bits: leaf[index &+ 1].bits &+ count)
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
        index &-= 1
        start &-= leaf[index].visibleCount
      } else if skipped == 0, index > 0, leaf[index &- 1].goes(before: tomb, largest) {
        leaf[index &- 1] = leaf[index &- 1].extended(by: count)
        if rest > 0 {
          leaf[index] = old.dropping(count)
        } else {
          Self.remove(at: index, in: leaf, &pieces)
          index &-= 1
        }
      } else {
        Self.cut(tomb, behind: skipped, at: index, in: leaf, &pieces)
      }
    }
    (cursor.index, cursor.start) = (index, start)
  }

  /// Makes elements behind `skipped` of the cursor's piece, which are its own, a piece of their own. The leaf isn't full.
  mutating func cut(_ part: Piece, behind skipped: UInt32) {
    let index = cursor.index
    changeLeaf { leaf, pieces in Self.cut(part, behind: skipped, at: index, in: leaf, &pieces) }
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

  /// Has `body` change the pieces of the cursor's leaf, and their number. The leaf has the cursor's piece, unless it is empty, and isn't full.
  ///
  /// One look whether the array is unique takes the place of one for each piece that changes. All that `body` may read and
  /// write are the `sizes.leaf` places of the leaf, which are in the array: the first `count`, and two more. `cursor.index` is one of
  /// them, and so is the next; one before it is looked at only where it isn't the first.
  @inline(__always)
  private mutating func changeLeaf<Result>(
    _ body: (_ leaf: UnsafeMutablePointer<Piece>, _ count: inout Int) -> Result
  ) -> Result {
    let base = cursor.leaf &* sizes.leaf
    let old = Int(leafCounts[cursor.leaf])
    var count = old
    precondition(cursor.index >= 0 && cursor.index <= old && old <= sizes.leaf &- 2)
    let result = pieces.withUnsafeMutableBufferPointer { all in
      precondition(base >= 0 && base &+ sizes.leaf <= all.count)
      return body(all.baseAddress! + base, &count)
    }
    if count != old { leafCounts[cursor.leaf] = Int32(truncatingIfNeeded: count) }
    return result
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

  /// Splits the cursor's leaf; the cursor keeps its piece. Returns the new leaf.
  @inline(never)
  mutating func splitLeaf(_ weigh: (Piece) -> TextWeight) -> Int {
    let old = cursor.leaf
    let new = leafCounts.count
    let count = Int(leafCounts[old])
    let half = count / 2
    pieces.append(contentsOf: repeatElement(Piece(0, 0, 0), count: sizes.leaf))
    let (first, moved) = (old * sizes.leaf, new * sizes.leaf)
    var visible = 0
    for index in 0..<count - half {
      let piece = pieces[first + half + index]
      pieces[moved + index] = piece
      visible += piece.visibleCount
    }
    // The half with fewer elements is weighed.
    var weight = TextWeight.zero
    if visible <= cursor.leafVisible / 2 {
      for index in moved..<moved + count - half where !pieces[index].isRemoved {
        weight += weigh(pieces[index])
      }
    } else {
      weight = slots[cursor.block * sizes.block + cursor.slot].weight
      for index in first..<first + half where !pieces[index].isRemoved {
        weight += -weigh(pieces[index])
      }
    }
    leafCounts[old] = Int32(half)
    leafCounts.append(Int32(count - half))
    if Int(blockCounts[cursor.block]) == sizes.block { splitBlock() }
    let base = cursor.block * sizes.block
    var slot = base + Int(blockCounts[cursor.block])
    while slot > base + cursor.slot + 1 {
      slots[slot] = slots[slot - 1]
      leafSlots[Int(slots[slot].leaf)] += 1
      slot -= 1
    }
    slots[slot] = Slot(leaf: UInt32(new), visible: Int32(visible), weight: weight)
    slots[slot - 1].visible -= Int32(visible)
    slots[slot - 1].weight += -weight
    blockCounts[cursor.block] += 1
    leafBlocks.append(UInt32(cursor.block))
    leafSlots.append(UInt32(cursor.slot + 1))
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

  private mutating func splitBlock() {
    let old = cursor.block
    let new = blockCounts.count
    let half = sizes.block / 2
    slots += repeatElement(Slot(), count: sizes.block)
    var visible = 0
    var weight = TextWeight.zero
    for slot in half..<sizes.block {
      let moved = slots[old * sizes.block + slot]
      slots[new * sizes.block + slot - half] = moved
      visible += Int(moved.visible)
      weight += moved.weight
      leafBlocks[Int(moved.leaf)] = UInt32(new)
      leafSlots[Int(moved.leaf)] -= UInt32(half)
    }
    blockCounts[old] = Int32(half)
    blockCounts.append(Int32(sizes.block - half))
    blockPlaces.append(0)
    top[cursor.place].visible -= visible
    top[cursor.place].weight += -weight
    top.insert(Top(block: UInt32(new), weight: weight, visible: visible), at: cursor.place + 1)
    for place in cursor.place + 1..<top.count { blockPlaces[Int(top[place].block)] = UInt32(place) }
    if cursor.slot >= half {
      cursor.block = new
      cursor.slot -= half
      cursor.blockStart += top[cursor.place].visible
      cursor.place += 1
    }
  }

  /// Finds all weights, after edits without them. O(n), and what `weight` takes for each visible piece.
  mutating func weigh(_ weight: (Piece) -> TextWeight) {
    isWeighed = true
    for place in top.indices {
      let block = Int(top[place].block)
      top[place].weight = .zero
      for slot in block * sizes.block..<block * sizes.block + Int(blockCounts[block]) {
        let leaf = Int(slots[slot].leaf)
        var sum = TextWeight.zero
        for index in leaf * sizes.leaf..<leaf * sizes.leaf + Int(leafCounts[leaf])
        where !pieces[index].isRemoved {
          sum += weight(pieces[index])
        }
        slots[slot].weight = sum
        top[place].weight += sum
      }
    }
  }
}
