// Library product only: the programs of this package do not use this file.

/// A set to which elements are added, and from which none is ever removed. Merging is the union.
///
/// For elements that only accumulate: hints that were shown, keys of values kept elsewhere. What
/// may be taken back belongs into a `ReplicatingSet`, which costs more.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var shown = ReplicatingAddOnlySet<String>()
///     shown.insert("welcome", by: &replica)
///     shown.contains("welcome")  // true
///
/// The laws of `Replicable` hold on the whole state. When several replicas add one element, the least of their changes
/// stands for it, in whichever order they came.
///
/// An element takes its own bytes in the encoding, as a rule: changes are written in runs. Without changes a value that has such a set would
/// send all of it with each keystroke, since nothing said what others know of it.
///
/// `contains`, `insert` and `count` are O(1); `values`, `changes(since:)` and comparing are O(count); joining is
/// O(changes).
public struct ReplicatingAddOnlySet<Element: Hashable & Sendable>: Sendable, Hashable {
  /// Each element with the least of the changes that added it.
  private var additions: [Element: ChangeID] = [:]
  @usableFromInline
  var joined = JoinedVersion()
  /// The changes that are known here.
  public private(set) var version = Version()

  /// An empty set.
  public init() {}

  /// A set of some elements, which are added by one change; none is no change.
  public init(array elements: [Element], by replica: inout Replica) {
    insert(contentsOf: elements, by: &replica)
  }

  /// The number of elements. O(1).
  public var count: Int { additions.count }
  /// The elements. O(count).
  public var values: Set<Element> { Set(additions.keys) }
  /// True if an element is in the set. O(1).
  public func contains(_ element: Element) -> Bool { additions[element] != nil }

  /// Adds an element, as one change, and returns true. Adding what is there already is no change.
  @discardableResult
  public mutating func insert(_ element: Element, by replica: inout Replica) -> Bool {
    let count = count
    insert(contentsOf: CollectionOfOne(element), by: &replica)
    return self.count > count
  }

  /// Adds those of some elements that are not there, as one change; none is no change.
  public mutating func insert(
    contentsOf elements: some Sequence<Element>, by replica: inout Replica
  ) {
    var change: ChangeID?
    for element in elements where !contains(element) {
      change = change ?? replica.stamp(after: 0).change
      additions[element] = change
    }
    if let change { version.insert(change) }
  }
}

extension ReplicatingAddOnlySet: Replicable {
  /// The changes that a set at one version has and a set at another lacks.
  public struct Changes: ReplicatingChanges, Sendable {
    public var since: Version
    public internal(set) var version: Version
    var additions: [(Element, ChangeID)]
  }

  public func changes(since version: Version) -> Changes {
    var changes = Changes(since: Version(), version: Version(), additions: [])
    var followed = FollowedChanges(of: self.version, since: version)
    if followed.isEmpty { return changes }
    for (element, change) in additions {
      // Another addition of the same element may be left out for one that is known.
      followed.follow(change.replica)
      if !version.contains(change) { changes.additions.append((element, change)) }
    }
    (changes.since, changes.version) = (followed.since, followed.version)
    return changes
  }

  public func validate(_ changes: Changes) throws(InvalidChange) { try changes.check() }

  public mutating func join(_ changes: Changes) {
    for (element, change) in changes.additions {
      additions[element] = additions[element].map { Swift.min($0, change) } ?? change
    }
    version.merge(changes.version)
    joined.version.merge(changes.version)
  }

  /// The changes joined so far.
  @inlinable
  public var joinedVersion: JoinedVersion? {
    get { joined }
    set { joined = newValue ?? JoinedVersion() }
  }
}

extension ReplicatingAddOnlySet.Changes {
  /// Throws when no set can have these changes.
  func check() throws(InvalidChange) {
    try checkVersion()
    var elements: Set<Element> = []
    for (element, change) in additions {
      try checkIsNew(change)
      guard elements.insert(element).inserted else { throw InvalidChange("an element twice") }
    }
  }
}

extension ReplicatingAddOnlySet {
  /// Checks what must always hold. O(count): for tests.
  public func checkInvariants() {
    for change in additions.values {
      precondition(change.number > 0 && version.contains(change), "an addition that was not seen")
    }
  }
}
