// Library product only: the programs of this package do not use this file.

// Finding places in the tree by what stands before them. Nothing here moves the cursor.

/// The length of a stretch of text in every unit.
struct TextMeasure: Equatable, Sendable {
  var utf8 = 0
  var lines = 0
  var continuations = 0
  var astral = 0

  @inline(__always)
  subscript(unit: TextUnit) -> Int {
    switch unit {
    case .utf8: utf8
    case .utf16: utf8 &- continuations &+ astral
    case .utf32: utf8 &- continuations
    case .line: lines
    }
  }

  @inline(__always)
  mutating func add(_ count: Int, _ weight: TextWeight) {
    utf8 &+= count
    lines &+= Int(weight.lines)
    continuations &+= Int(weight.continuations)
    astral &+= Int(weight.astral)
  }

  @inline(__always)
  static func + (a: Self, b: Self) -> Self {
    TextMeasure(
      utf8: a.utf8 &+ b.utf8, lines: a.lines &+ b.lines,
      continuations: a.continuations &+ b.continuations, astral: a.astral &+ b.astral)
  }

  static func - (a: Self, b: Self) -> Self {
    TextMeasure(
      utf8: a.utf8 &- b.utf8, lines: a.lines &- b.lines,
      continuations: a.continuations &- b.continuations, astral: a.astral &- b.astral)
  }
}

extension PieceTree {
  /// A leaf: the place of its block in the list, its own in the block, and what stands before it.
  struct LeafPlace {
    var place: Int
    var slot: Int
    var leaf: Int
    var before: TextMeasure
  }

  /// The leaf with which there is more than `amount` of a unit; `nil` if there never is. What all hold goes to `total`
  /// then. O(blocks + leaves of a block).
  ///
  /// - Parameter weights: those that were found for the question; nil if the tree keeps them, or elements alone are counted.
  func leaf(
    exceeding amount: Int, _ unit: TextUnit, _ weights: FoundWeights?, total: inout TextMeasure
  ) -> LeafPlace? {
    var before = TextMeasure()
    for place in 0..<nodes.blockCount {
      var next = before
      next.add(nodes.top[place].visible, weights?.top[place] ?? nodes.top[place].weight)
      if next[unit] <= amount {
        before = next
        continue
      }
      let block = Int(nodes.top[place].block)
      let base = block &* sizes.block
      for slot in base..<base &+ Int(nodes.blocks[block].count) {
        next = before
        next.add(Int(nodes.slots[slot].visible), weights?.slots[slot] ?? nodes.slots[slot].weight)
        if next[unit] > amount {
          return LeafPlace(
            place: place, slot: slot &- base, leaf: Int(nodes.slots[slot].leaf), before: before)
        }
        before = next
      }
    }
    total = before
    return nil
  }

  /// Visits what a range of visible elements consists of, piece by piece. O(log n + pieces).
  func forEachPart(of range: Range<Int>, _ body: (Piece) -> Void) {
    var total = TextMeasure()
    guard !range.isEmpty, var at = leaf(exceeding: range.lowerBound, .utf8, nil, total: &total)
    else { return }
    var skipped = range.lowerBound &- at.before.utf8
    var rest = range.count
    while true {
      for piece in pieces(of: at.leaf) {
        let count = piece.visibleCount
        if skipped >= count {
          skipped &-= count
          continue
        }
        let taken = min(count &- skipped, rest)
        body(
          piece.dropping(UInt32(truncatingIfNeeded: skipped))
            .prefix(UInt32(truncatingIfNeeded: taken)))
        skipped = 0
        rest &-= taken
        if rest == 0 { return }
      }
      guard step(&at) else { return }
    }
  }

  /// Moves one leaf on; false at the end. What is before the leaf is not kept.
  private func step(_ at: inout LeafPlace) -> Bool {
    at.slot &+= 1
    if at.slot == Int(nodes.blocks[Int(nodes.top[at.place].block)].count) {
      at.place &+= 1
      at.slot = 0
      if at.place == nodes.blockCount { return false }
    }
    at.leaf = Int(nodes.slots[Int(nodes.top[at.place].block) &* sizes.block &+ at.slot].leaf)
    return true
  }
}
