/// What a replica has seen: for each replica the number of its last change known. (A version vector.)
///
/// Numbers have no gaps, so `version[r] == n` says that changes 1 to n of `r` have been seen: those of them that concern the
/// value, if `r` edits several.
///
///     var alice = Replica(id: ReplicaID(high: 0, low: 1))
///     var a = ReplicatingSet<String>()
///     a.insert("milk", by: &alice)
///     let seen = a.version
///     a.insert("eggs", by: &alice)
///     a.version[alice.id]             // 2
///     a.version.isSuperset(of: seen)  // true
///     seen.isSuperset(of: a.version)  // false
public struct Version: Hashable, Sendable {
  private var numbers: [ReplicaID: UInt64] = [:]

  public init() {}

  /// The last number seen of `replica`; 0 if none was.
  public subscript(replica: ReplicaID) -> UInt64 {
    get { numbers[replica] ?? 0 }
    set { numbers[replica] = newValue == 0 ? nil : newValue }
  }

  /// Whether nothing was seen.
  public var isEmpty: Bool { numbers.isEmpty }

  /// The replicas of which anything was seen, in their order. O(n log n).
  public var replicas: [ReplicaID] { numbers.keys.sorted() }

  /// How many replicas these are.
  public var count: Int { numbers.count }

  /// Whether a change was seen. O(1).
  public func contains(_ change: ChangeID) -> Bool {
    self[change.replica] >= change.number
  }

  /// Adds a change, and with it all those of its replica before it. O(1).
  public mutating func insert(_ change: ChangeID) {
    if !contains(change) { numbers[change.replica] = change.number }
  }

  /// Adds what `other` has seen. O(replicas of `other`).
  public mutating func merge(_ other: Version) {
    for (replica, number) in other.numbers where number > self[replica] {
      numbers[replica] = number
    }
  }

  /// Whether everything that `other` has seen has been seen here. O(replicas of `other`).
  public func isSuperset(of other: Version) -> Bool {
    other.numbers.allSatisfy { self[$0.key] >= $0.value }
  }

  /// What both have seen. O(replicas).
  public func intersection(_ other: Version) -> Version {
    var result = Version()
    for (replica, number) in numbers { result[replica] = min(number, other[replica]) }
    return result
  }
}
