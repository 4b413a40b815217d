/// The numbers of shown elements at places, and their sums from the beginning, while the numbers change.
///
/// Counts stand in levels: one for each place, for each 16 places, for each 256, and so on. A change adds to one count of each
/// level. A sum takes, of each level, the counts in front of one within the 16 that stand side by side, and adds them as
/// vectors. The others are masked out, so no branch depends on how far a step is from the one before, which can't be foretold.
///
/// O(1) for both, and O(places / 65,536) beside that for a sum.
///
/// The memory is managed here, since checks took as long as the sums. It is safe because of these invariants:
/// - Who asks names a place less than `capacity`; each level has room for the counts of these, rounded up to whole groups of 16.
/// - `masks` has 16 numbers that take and 16 that do not, so 16 of them are there from each of the first 17 on.
///
/// A count is at most that of a piece, so the counts of 65,536 places fit a lane.
struct ShownCounts: ~Copyable {
  private typealias Lanes = SIMD16<UInt32>

  private let ones: UnsafeMutablePointer<UInt32>
  private let groups: UnsafeMutablePointer<UInt32>
  private let largeGroups: UnsafeMutablePointer<UInt32>
  private let hugeGroups: UnsafeMutablePointer<UInt32>
  /// Those of 65,536 places each.
  private let blocks: UnsafeMutablePointer<Int>
  private let masks: UnsafeMutablePointer<UInt32>

  /// Nothing is shown at so many places.
  init(capacity: Int) {
    precondition(Int(Piece.largest) <= Int(UInt32.max) >> 16)
    func counts(_ groupSize: Int) -> UnsafeMutablePointer<UInt32> {
      let count = (capacity / groupSize / 16 + 1) * 16
      let counts = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
      counts.initialize(repeating: 0, count: count)
      return counts
    }
    (ones, groups, largeGroups, hugeGroups) = (counts(1), counts(16), counts(256), counts(4096))
    blocks = .allocate(capacity: capacity >> 16 + 1)
    blocks.initialize(repeating: 0, count: capacity >> 16 + 1)
    masks = .allocate(capacity: 32)
    masks.initialize(repeating: .max, count: 16)
    (masks + 16).initialize(repeating: 0, count: 16)
  }

  deinit {
    ones.deallocate()
    groups.deallocate()
    largeGroups.deallocate()
    hugeGroups.deallocate()
    blocks.deallocate()
    masks.deallocate()
  }

  /// Adds to the number at a place; it stays between 0 and that of a piece.
  @inline(__always)
  mutating func add(_ elements: Int, at place: Int) {
    let more = UInt32(truncatingIfNeeded: elements)
    ones[place] &+= more
    groups[place &>> 4] &+= more
    largeGroups[place &>> 8] &+= more
    hugeGroups[place &>> 12] &+= more
    blocks[place &>> 16] &+= elements
  }

  /// The sum of the numbers before a place.
  @inline(__always)
  func sum(before place: Int) -> Int {
    let all =
      (counts(ones, before: place) &+ counts(groups, before: place &>> 4))
      &+ (counts(largeGroups, before: place &>> 8) &+ counts(hugeGroups, before: place &>> 12))
    let eight = all.lowHalf &+ all.highHalf
    let four = eight.lowHalf &+ eight.highHalf
    let two = four.lowHalf &+ four.highHalf
    var sum = Int(two.x &+ two.y)
    var block = place &>> 16
    while block > 0 {
      block &-= 1
      sum &+= blocks[block]
    }
    return sum
  }

  /// Of the 16 counts of a group those before one, and 0 for the others.
  @inline(__always)
  private func counts(_ counts: UnsafeMutablePointer<UInt32>, before index: Int) -> Lanes {
    let group = UnsafeRawPointer(counts + (index & ~15)).loadUnaligned(as: Lanes.self)
    let mask = UnsafeRawPointer(masks + (16 &- (index & 15))).loadUnaligned(as: Lanes.self)
    return group & mask
  }
}
