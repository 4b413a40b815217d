/// A set of changes: of each replica, ranges of numbers.
public struct ChangeRanges: Equatable, Sendable {
  /// Changes of one replica with consecutive numbers.
  public struct Run: Equatable, Sendable {
    /// The author.
    public var replica: ReplicaID
    /// The numbers of its changes, from 1.
    public var numbers: ClosedRange<UInt64>

    /// Changes of one replica.
    public init(_ replica: ReplicaID, _ numbers: ClosedRange<UInt64>) {
      self.replica = replica
      self.numbers = numbers
    }

    /// The first of them.
    public var first: ChangeID { ChangeID(replica: replica, number: numbers.lowerBound) }
    /// The last of them.
    public var last: ChangeID { ChangeID(replica: replica, number: numbers.upperBound) }
  }

  /// The changes by replica and number, in runs as long as can be.
  public private(set) var runs: [Run] = []

  /// No changes.
  public init() {}

  /// The changes of all these runs, which may overlap and come in any order. O(n log n).
  public init(_ runs: some Sequence<Run>) {
    let sorted = runs.sorted { $0.first < $1.first }
    for run in sorted {
      if let last = self.runs.last, last.replica == run.replica,
        run.numbers.lowerBound - 1 <= last.numbers.upperBound
      {
        let end = max(last.numbers.upperBound, run.numbers.upperBound)
        self.runs[self.runs.count - 1].numbers = last.numbers.lowerBound...end
      } else {
        self.runs.append(run)
      }
    }
  }

  /// One change.
  public init(_ change: ChangeID) {
    runs = [Run(change.replica, change.number...change.number)]
  }

  /// True if there are none.
  public var isEmpty: Bool { runs.isEmpty }

  /// The change, if there is just one.
  var only: ChangeID? { runs.count == 1 && runs[0].numbers.count == 1 ? runs[0].first : nil }

  /// True if a change is one of them. O(log n).
  public func contains(_ change: ChangeID) -> Bool {
    change.number > 0
      && run(of: change.replica, from: change.number, to: change.number).isMember
  }

  /// True if some change of a replica is one of them. O(log n).
  func hasChanges(of replica: ReplicaID) -> Bool {
    let place = index(after: ChangeID(replica: replica, number: 0))
    return place < runs.count && runs[place].replica == replica
  }

  /// Adds a change. O(1) if it comes behind all that are here.
  public mutating func insert(_ change: ChangeID) {
    guard let last = runs.last, last.last < change else {
      if !contains(change) { self = union(ChangeRanges(change)) }
      return
    }
    if last.replica == change.replica, last.numbers.upperBound + 1 == change.number {
      runs[runs.count - 1].numbers = last.numbers.lowerBound...change.number
    } else {
      runs.append(Run(change.replica, change.number...change.number))
    }
  }

  /// The changes of this set and of another. O(n log n).
  public func union(_ other: ChangeRanges) -> ChangeRanges {
    if other.isEmpty { return self }
    return isEmpty ? other : ChangeRanges(runs + other.runs)
  }

  /// The changes of this set that are not in another. O(n log n).
  public func subtracting(_ other: ChangeRanges) -> ChangeRanges {
    if other.isEmpty { return self }
    var rest = ChangeRanges()
    for run in runs {
      var number = run.numbers.lowerBound
      while true {
        let part = other.run(of: run.replica, from: number, to: run.numbers.upperBound)
        if !part.isMember { rest.runs.append(Run(run.replica, number...part.last)) }
        if part.last == run.numbers.upperBound { break }
        number = part.last + 1
      }
    }
    return rest
  }

  /// The changes of this set that are in a version. O(n log n).
  public func intersection(_ version: Version) -> ChangeRanges {
    ChangeRanges(
      runs.compactMap { run in
        let last = min(run.numbers.upperBound, version[run.replica])
        return last < run.numbers.lowerBound ? nil : Run(run.replica, run.numbers.lowerBound...last)
      })
  }

  /// Membership of the change `number` of a replica in the set, and the number up to which it stays the same, at most `last`. O(log n).
  func run(
    of replica: ReplicaID, from number: UInt64, to last: UInt64
  ) -> (isMember: Bool, last: UInt64) {
    let place = index(after: ChangeID(replica: replica, number: number - 1))
    guard place < runs.count, runs[place].replica == replica else { return (false, last) }
    let numbers = runs[place].numbers
    if numbers.lowerBound <= number { return (true, min(last, numbers.upperBound)) }
    return (false, min(last, numbers.lowerBound - 1))
  }

  /// The first run that has changes behind `change`, in the order of replicas and numbers.
  private func index(after change: ChangeID) -> Int {
    var low = 0
    var high = runs.count
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].last <= change { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
