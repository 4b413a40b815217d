// Taking changes of a text back, by name.
//
// A withdrawal is a change that names other changes, which its author knew. Let S be a set of changes that contains whatever its changes
// know. A withdrawal of S counts if no withdrawal of S that counts names it. A change of S is withdrawn if a withdrawal that counts names it.
//
// The text of S is that of the changes of S that are not withdrawn: what a withdrawn change inserted is not shown, and what it removed is
// shown unless another change removed it. The rules of merging (DuplicateCoalescing.swift, SeparatorPreservation.swift) are applied as if
// the withdrawn changes were not in S. Their elements keep their places, for what others have written beside them and in them.
//
// To take a withdrawal back is to withdraw it. Who has made the same replacement as somebody else withdraws only its own: the text stays
// until both have done so.
//
// It is a function of the set of changes: a withdrawal names only what comes before it in logical time, so beginning with the latest each
// is known to count or not.

/// The withdrawals of a text.
public struct Withdrawals: Equatable, Sendable {
  /// A change that names others.
  public struct Withdrawal: Equatable, Sendable {
    /// Its name and its logical time, which is later than that of what it names.
    public var stamp: Stamp
    /// The changes that it names.
    public var changes: ChangeRanges

    /// True if it comes before another one in logical time, or at the same time as an earlier change of its author: a change may end at
    /// the time at which the next one begins.
    public func isBefore(_ other: Withdrawal) -> Bool {
      (stamp.timestamp, stamp.change) < (other.stamp.timestamp, other.stamp.change)
    }

    /// A withdrawal of some changes.
    public init(_ changes: ChangeRanges, _ stamp: Stamp) {
      self.changes = changes
      self.stamp = stamp
    }
  }

  /// In logical time.
  public private(set) var list: [Withdrawal] = []

  /// None.
  public init() {}

  /// True if there are none.
  public var isEmpty: Bool { list.isEmpty }

  /// Adds a withdrawal, which may be here already; returns whether it was not. O(1) for the latest.
  @discardableResult
  public mutating func insert(_ withdrawal: Withdrawal) -> Bool {
    var place = list.count
    while place > 0, withdrawal.isBefore(list[place - 1]) { place -= 1 }
    if place > 0, list[place - 1].stamp.change == withdrawal.stamp.change { return false }
    list.insert(withdrawal, at: place)
    return true
  }

  /// The changes that are withdrawn in the state of a version; nil for all that are here. O(n log n) in the runs of changes.
  public func withdrawn(at version: Version? = nil) -> ChangeRanges {
    let counted = list.filter { version?.contains($0.stamp.change) ?? true }
    if counted.isEmpty { return ChangeRanges() }
    let order = counted.indices.sorted { counted[$0].stamp.change < counted[$1].stamp.change }
    /// By the places in `order`: the first withdrawal that comes behind a change.
    func place(after change: ChangeID) -> Int {
      var low = 0
      var high = order.count
      while low < high {
        let middle = (low + high) / 2
        if counted[order[middle]].stamp.change <= change { low = middle + 1 } else { high = middle }
      }
      return low
    }
    var isWithdrawn = Array(repeating: false, count: counted.count)
    var runs: [ChangeRanges.Run] = []
    for index in counted.indices.reversed() where !isWithdrawn[index] {
      for run in counted[index].changes.runs {
        runs.append(run)
        var next = place(after: ChangeID(replica: run.replica, number: run.numbers.lowerBound - 1))
        while next < order.count, counted[order[next]].stamp.change <= run.last {
          isWithdrawn[order[next]] = true
          next += 1
        }
      }
    }
    return ChangeRanges(runs)
  }
}
