// The contribution of each change to a sequence.

extension ReplicatingArray {
  /// The numbers of elements that a change inserted and removed.
  public struct Contribution: Equatable, Sendable {
    /// The number of the change among its author's.
    public var number: UInt64
    /// The number of elements that it inserted.
    public var inserted = 0
    /// The number of elements it removed, those that others removed at the same time included.
    public var removed = 0

    /// A change that inserted and removed nothing yet.
    public init(number: UInt64) { self.number = number }
  }

  /// The changes that inserted or removed something, of each author in their order. O(changes).
  public var contributions: [(author: ReplicaID, changes: [Contribution])] {
    settled.authors.map { ($0.id, $0.contributions) }
  }
}

extension Author {
  fileprivate var contributions: [ReplicatingArray<Element>.Contribution] {
    var changes: [ReplicatingArray<Element>.Contribution] = []
    var removal = 0
    func insert(_ number: UInt64, _ count: Int) {
      takeRemovals(before: number)
      if changes.last?.number != number { changes.append(.init(number: number)) }
      changes[changes.count - 1].inserted += count
    }
    /// The number of elements of the current run of removals that were taken already.
    var taken: UInt32 = 0
    func takeRemovals(before number: UInt64) {
      while removal < removals.count {
        let run = removals[removal]
        let isAtOnce = run.order == .atOnce
        while taken < run.count {
          let next = UInt64(run.number) + (isAtOnce ? 0 : UInt64(taken))
          // The removals of a change that also inserts are entered with its insertions.
          guard next < number else { return }
          let count = isAtOnce ? run.count : 1
          if changes.last?.number != next { changes.append(.init(number: next)) }
          changes[changes.count - 1].removed += Int(count)
          taken += count
        }
        removal += 1
        taken = 0
      }
    }
    for (index, run) in stamps.enumerated() {
      let end = index + 1 < stamps.count ? stamps[index + 1].first : count
      guard run.isStepping else {
        insert(run.number, Int(end - run.first))
        continue
      }
      for step in 0..<UInt64(end - run.first) { insert(run.number + step, 1) }
    }
    takeRemovals(before: .max)
    return changes
  }
}
