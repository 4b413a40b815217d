/// The changes that a replica has seen, as a version vector: of each replica the number of its last known change.
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
  /// The last change of each replica, in order, as long as they are few: looking at each takes less time than hashing.
  private var few: [ChangeID] = []
  /// The last number of each replica, when they are more than few. One of the two is empty, so equal versions have equal
  /// parts.
  private var many: [ReplicaID: UInt64] = [:]

  private static var limit: Int { 8 }

  /// Nothing was seen.
  public init() {}

  /// The last number seen of `replica`; 0 if none was.
  public subscript(replica: ReplicaID) -> UInt64 {
    get {
      if few.isEmpty { return many.isEmpty ? 0 : many[replica] ?? 0 }
      for change in few where change.replica == replica { return change.number }
      return 0
    }
    set {
      if many.isEmpty { return setFew(replica, newValue) }
      many[replica] = newValue == 0 ? nil : newValue
      guard many.count <= Self.limit else { return }
      few = changes
      many = [:]
    }
  }

  private mutating func setFew(_ replica: ReplicaID, _ number: UInt64) {
    var place = 0
    while place < few.count, few[place].replica < replica { place += 1 }
    if place < few.count, few[place].replica == replica {
      if number == 0 { few.remove(at: place) } else { few[place].number = number }
    } else if number > 0 {
      few.insert(ChangeID(replica: replica, number: number), at: place)
      guard few.count > Self.limit else { return }
      for change in few { many[change.replica] = change.number }
      few = []
    }
  }

  /// True if nothing was seen.
  public var isEmpty: Bool { few.isEmpty && many.isEmpty }

  /// The replicas of which anything was seen, in their order. O(n log n).
  public var replicas: [ReplicaID] { many.isEmpty ? few.map(\.replica) : many.keys.sorted() }

  /// The last change seen of each replica, in order. O(n log n).
  public var changes: [ChangeID] {
    if many.isEmpty { return few }
    return many.map { ChangeID(replica: $0, number: $1) }.sorted()
  }

  /// The number of these replicas.
  public var count: Int { few.count + many.count }

  /// True if the condition holds for all of these changes, the last of each replica. In no order, but O(replicas).
  public func allSatisfy(_ condition: (ChangeID) -> Bool) -> Bool {
    few.allSatisfy(condition)
      && many.allSatisfy { condition(ChangeID(replica: $0.key, number: $0.value)) }
  }

  /// True if a change was seen. O(1).
  public func contains(_ change: ChangeID) -> Bool {
    self[change.replica] >= change.number
  }

  /// Adds a change, and with it all those of its replica before it. O(1).
  public mutating func insert(_ change: ChangeID) {
    // Of a few, the place is looked up once.
    if let place = few.firstIndex(where: { $0.replica == change.replica }) {
      few[place].number = max(few[place].number, change.number)
    } else if !contains(change) {
      self[change.replica] = change.number
    }
  }

  /// Adds what `other` has seen. O(replicas of `other`).
  public mutating func merge(_ other: Version) {
    for change in other.few { insert(change) }
    for (replica, number) in other.many { insert(ChangeID(replica: replica, number: number)) }
  }

  /// True if everything that `other` has seen has been seen here. O(replicas of `other`).
  public func isSuperset(of other: Version) -> Bool {
    other.allSatisfy(contains)
  }

  /// The changes that both have seen. O(replicas).
  public func intersection(_ other: Version) -> Version {
    var result = Version()
    for change in few { result[change.replica] = min(change.number, other[change.replica]) }
    for (replica, number) in many { result[replica] = min(number, other[replica]) }
    return result
  }
}
