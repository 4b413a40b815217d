/// The changes that a replica has seen, as a version vector: of each replica the number of its last known change.
///
/// Numbers have no gaps, so `version[r] == n` says that changes 1 to n of `r` have been seen: those of them that concern the
/// value, if `r` edits several. Copies that differ in little share the rest of their memory, and comparing or joining them is
/// looking at the difference: *d* below is the number of replicas in which two versions differ that were made of one another or
/// of the same one; else count all replicas.
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
  private var tree = VersionTree.empty

  /// Nothing was seen.
  public init() {}

  private init(_ tree: VersionTree) { self.tree = tree }

  /// The last number seen of `replica`; 0 if none was. O(log n).
  public subscript(replica: ReplicaID) -> UInt64 {
    get { tree.number(of: replica) }
    set { tree.set(ChangeID(replica: replica, number: newValue)) }
  }

  /// True if nothing was seen.
  public var isEmpty: Bool { tree.isEmpty }

  /// The replicas of which anything was seen, in their order. O(n log n).
  public var replicas: [ReplicaID] { changes.map(\.replica) }

  /// The last change seen of each replica, in order. O(n log n).
  public var changes: [ChangeID] { tree.sortedChanges }

  /// The number of these replicas. O(n).
  public var count: Int { tree.count }

  /// True if the condition holds for all of these changes, the last of each replica. In no order, but O(n).
  public func allSatisfy(_ condition: (ChangeID) -> Bool) -> Bool {
    tree.allSatisfy(beyond: .empty, condition)
  }

  /// True if the condition holds for the last change of each replica of which more was seen than `other` has. In no order.
  /// O(d log n).
  public func allSatisfy(beyond other: Version, _ condition: (ChangeID) -> Bool) -> Bool {
    tree.allSatisfy(beyond: other.tree, condition)
  }

  /// True if a change was seen. O(log n).
  public func contains(_ change: ChangeID) -> Bool {
    self[change.replica] >= change.number
  }

  /// Adds a change, and with it all those of its replica before it. O(log n).
  public mutating func insert(_ change: ChangeID) {
    tree.insert(change)
  }

  /// Adds what `other` has seen. O(d log n).
  public mutating func merge(_ other: Version) {
    if !other.isEmpty { tree = tree.joined(with: other.tree) }
  }

  /// True if everything that `other` has seen has been seen here. O(d log n).
  public func isSuperset(of other: Version) -> Bool {
    other.allSatisfy(beyond: self) { _ in false }
  }

  /// The changes that both have seen. O(d log n).
  public func intersection(_ other: Version) -> Version {
    Version(tree.intersection(other.tree))
  }
}
