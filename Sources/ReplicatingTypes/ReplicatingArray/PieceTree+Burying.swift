// Making many pieces of a leaf tombstones in one pass.

extension PieceTree {
  /// `buryAcross` makes no more pieces tombstones at once.
  static var mostParts: Int { 63 }

  /// Makes at most `most` visible elements of the cursor's leaf, which have a weight, tombstones: all behind `skipped` of the cursor's piece, and the next
  /// ones. They are joined with their neighbours in the leaf where they can be. The leaf isn't full. Returns their number, and that of the pieces they were,
  /// which are put into `parts`.
  ///
  /// Each piece is looked at once and written once. Whether one is removed, or joined with the one before it, is not foreseeable, so there is no branch for it.
  mutating func buryAcross(
    _ most: Int, behind skipped: UInt32, _ weight: TextWeight,
    into parts: UnsafeMutableBufferPointer<Piece>
  ) -> (count: Int, parts: Int) {
    precondition(parts.count == Self.mostParts)
    own()
    let largest = sizes.piece
    let leaf = nodes.pieces + cursor.leaf &* sizes.leaf
    let pieces = Int(nodes.leaves[cursor.leaf].count)
    // Places before `to` are done, those from `from` on untouched. `to` is never beyond `from`, and before it where it is written to.
    var (to, from) = (cursor.index, cursor.index &+ 1)
    precondition(to >= 0 && from <= pieces && pieces <= sizes.leaf &- 2)
    let first = leaf[to].dropping(skipped)
    precondition(Int(first.count) <= most)
    var rest = most &- Int(first.count)
    parts[0] = first
    var found = 1
    // The last tombstone, which may still grow.
    var tomb = first.removed
    if skipped > 0 {
      leaf[to] = leaf[to].prefix(skipped)
      to &+= 1
    } else if to > 0, leaf[to &- 1].goes(before: tomb, largest) {
      to &-= 1
      tomb = leaf[to].extended(by: tomb.count)
      cursor.index = to
    }
    var behind = tomb.nextPlace
    while rest > 0, from < pieces, found < Self.mostParts {
      let piece = leaf[from]
      let next = piece.removed
      from &+= 1
      rest &-= piece.visibleCount
      parts[found] = piece
      found &+= piece.isRemoved ? 0 : 1
      leaf[to] = tomb
      // The rule of `goes`, but without a wait for the last tombstone.
      let isTooLong = UInt64((largest &- tomb.count &- next.count) &>> 31)
      let joins = (next.place ^ behind) | isTooLong == 0
      behind = next.nextPlace
      to &+= joins ? 0 : 1
      tomb = joins ? tomb.extended(by: next.count) : next
    }
    // The part of the last piece that is not to go.
    var left: Piece?
    if rest < 0 {
      let last = parts[found &- 1]
      let more = UInt32(truncatingIfNeeded: 0 &- rest)
      parts[found &- 1] = last.prefix(last.count &- more)
      left = last.dropping(last.count &- more)
      tomb = tomb.prefix(tomb.count &- more)
      rest = 0
    } else if from < pieces, tomb.goes(before: leaf[from], largest) {
      tomb = tomb.extended(by: leaf[from].count)
      from &+= 1
    }
    // Only now `to` may be `from`, and a part left the second piece for which there has to be room.
    let end = to &+ (left == nil ? 1 : 2)
    (leaf + end).update(from: leaf + from, count: pieces &- from)
    leaf[to] = tomb
    if let left { leaf[to &+ 1] = left }
    nodes.leaves[cursor.leaf].count = Int32(truncatingIfNeeded: end &+ (pieces &- from))
    add(rest &- most, -weight)
    return (most &- rest, found)
  }

  /// The weight of the cursor's leaf, if `buryAcross` would make all that is visible there tombstones.
  func weightOfLeaf(ifWithin most: Int, behind skipped: UInt32) -> TextWeight? {
    guard cursor.start == cursor.leafStart, skipped == 0, cursor.leafVisible <= most,
      nodes.leaves[cursor.leaf].count <= Self.mostParts
    else { return nil }
    let slot = nodes.slots[cursor.block &* sizes.block &+ cursor.slot]
    return keepsWeights ? slot.weight : TextWeight(continuations: slot.continuations)
  }

  /// Visits the pieces that `buryAcross` would make tombstones.
  func forEachPartInLeaf(_ most: Int, behind skipped: UInt32, _ body: (Piece) -> Void) {
    let pieces = pieces(of: cursor.leaf)
    let first = pieces[cursor.index].dropping(skipped)
    body(first)
    var rest = most &- Int(first.count)
    var (index, found) = (cursor.index &+ 1, 1)
    while rest > 0, index < pieces.count, found < Self.mostParts {
      let piece = pieces[index]
      index &+= 1
      if piece.isRemoved { continue }
      found &+= 1
      body(piece.prefix(UInt32(truncatingIfNeeded: min(Int(piece.count), rest))))
      rest &-= Int(piece.count)
    }
  }
}
