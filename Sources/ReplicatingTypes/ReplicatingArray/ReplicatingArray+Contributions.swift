// The contribution of each change to a sequence.

extension ReplicatingArray {
  /// The numbers of elements that a change inserted and removed. Those that it inserted and removed count as neither.
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
    settled.authors.enumerated().map { index, author in
      (author.id, author.contributions(of: AuthorIndex(index)))
    }
  }

  /// The number of elements that some changes inserted and removed, each change by itself.
  func passing(in changes: ChangeRanges) -> Int {
    changes.runs.reduce(0) { count, run in
      guard let index = index(known: run.replica) else { return count }
      let author = authors[Int(index)]
      let first = author.removals.firstIndex(after: run.numbers.lowerBound - 1)
      return author.removals[first...].prefix { UInt64($0.number) <= run.numbers.upperBound }
        .filter { $0.isPassing(of: author, index) }
        .reduce(count) { $0 + Int($1.range(upTo: UInt64($1.number)).count) }
    }
  }
}

extension AuthorLog {
  fileprivate func contributions(
    of index: AuthorIndex
  ) -> [ReplicatingArray<Element>.Contribution] {
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
          if taken == 0, run.isPassing(of: self, index) {
            changes[changes.count - 1].inserted -= Int(count)
          } else {
            changes[changes.count - 1].removed += Int(count)
          }
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

extension RemovalRun {
  /// True if its first change inserted what it removes: a divider of its author, as a rule.
  fileprivate func isPassing<Element>(of author: AuthorLog<Element>, _ index: AuthorIndex) -> Bool {
    target == index && author.number(of: range(upTo: UInt64(number)).offset) == UInt64(number)
  }
}
