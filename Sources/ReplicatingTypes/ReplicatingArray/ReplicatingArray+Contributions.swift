// What each change did, as far as the sequence tells.

extension ReplicatingArray {
  /// How many elements a change inserted, and how many it removed.
  public struct Contribution: Equatable, Sendable {
    /// The number of the change among its author's.
    public var number: UInt64
    public var inserted = 0
    /// What others had removed at the same time counts too.
    public var removed = 0

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
    /// How many elements of the current run of removals were taken already.
    var taken: UInt32 = 0
    func takeRemovals(before number: UInt64) {
      while removal < removals.count {
        let run = removals[removal]
        let isAtOnce = run.order == .atOnce
        while taken < run.count {
          let next = UInt64(run.number) + (isAtOnce ? 0 : UInt64(taken))
          // What one change inserts and removes is entered with what it inserts.
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
