/// A set to which elements are added and from which they are removed; an addition wins over a concurrent removal.
///
/// Each addition has a name of its own, the change that made it. A removal takes away the additions that its author had
/// seen, and no other (the observed-remove set: Shapiro, Preguiça, Baquero, Zawirski, "A comprehensive study of
/// Convergent and Commutative Replicated Data Types", 2011, §3.3.5). So an element that one replica removes while
/// another adds it again stays.
///
///     var alice = Replica(id: ReplicaID(high: 0, low: 1))
///     var bob = Replica(id: ReplicaID(high: 0, low: 2))
///     var a = ReplicatingSet<String>()
///     a.insert("home", by: &alice)
///     var b = a
///     a.remove("home", by: &alice)
///     b.insert("home", by: &bob)
///     a.merged(with: b).values  // ["home"]
///
/// Every removal is kept, so that those who lack it can be told; r are those ever made. `contains` is O(1), `insert`
/// O(additions of the element that stand), `remove` the same and O(removals by replicas of greater identity); `values` is
/// O(count), `==` and `changes(since:)` are O(count + r); joining is O(changes + r), and O(r) for each removal that is new.
public struct ReplicatingSet<Element: Hashable & Sendable>: Sendable, Hashable {
  /// An addition or removal that has no author yet.
  public enum Operation: Hashable, Sendable {
    case insert(Element)
    /// Takes away these additions of the element.
    case remove(Element, observed: [ChangeID])
  }

  struct Removal: Hashable, Sendable {
    var element: Element
    var observed: [ChangeID]
    var change: ChangeID
  }

  /// The additions that stand, for each element, in order. Never empty for a key.
  private var additions: [Element: [ChangeID]] = [:]
  /// Every removal, in the order of their changes: what a replica that lacks it must be told.
  private var removals: [Removal] = []
  /// The largest logical time seen.
  public private(set) var lamport: UInt64 = 0
  private var latest = LatestAuthors()
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

  /// The additions of an element that stand, in order; none if it is not there. O(1).
  public func additions(of element: Element) -> [ChangeID] { additions[element] ?? [] }

  /// The removal of what is here of `element`; `nil` if there is nothing.
  public func removal(of element: Element) -> Operation? {
    additions[element].map { .remove(element, observed: $0) }
  }

  /// Adds an element, as one change; also when it is there already, and then no removal that saw less takes it away. Returns true if it was not
  /// there.
  @discardableResult
  public mutating func insert(_ element: Element, by replica: inout Replica) -> Bool {
    let isNew = !contains(element)
    apply(.insert(element), replica.stamp(after: lamport))
    return isNew
  }

  /// Adds elements, as one change; none is no change.
  public mutating func insert(
    contentsOf elements: some Sequence<Element>, by replica: inout Replica
  ) {
    var stamp: Stamp?
    for element in elements {
      stamp = stamp ?? replica.stamp(after: lamport)
      apply(.insert(element), stamp!)
    }
  }

  /// Removes an element, as far as its additions are known here, as one change, and returns it. Removing what is not there is no change; then nil
  /// is returned.
  @discardableResult
  public mutating func remove(_ element: Element, by replica: inout Replica) -> Element? {
    guard let removal = removal(of: element) else { return nil }
    apply(removal, replica.stamp(after: lamport))
    return element
  }

  /// Applies an operation of an author who had seen no more of the set than is here.
  public mutating func apply(_ operation: Operation, _ stamp: Stamp) {
    version.insert(stamp.change)
    if stamp.lamport > lamport {
      lamport = stamp.lamport
      latest.set(stamp.change.replica)
    }
    switch operation {
    case .insert(let element):
      additions[element, default: []].insertSorted(stamp.change)
    case .remove(let element, let observed):
      // Its author had seen them, even if one of them added nothing here: only a forger names that.
      for change in observed { version.insert(change) }
      let removal = Removal(element: element, observed: observed.sorted(), change: stamp.change)
      let place = removals.lastIndex { $0.change <= removal.change }.map { $0 + 1 } ?? 0
      removals.insert(removal, at: place)
      take(removal)
    }
  }

  private mutating func take(_ removal: Removal) {
    guard var standing = additions[removal.element] else { return }
    standing.removeAll { removal.observed.contains($0) }
    additions[removal.element] = standing.isEmpty ? nil : standing
  }
}

extension ReplicatingSet: Replicable {
  /// The changes that a set at one version has and a set at another lacks.
  public struct Changes: ReplicatingChanges, Sendable {
    public var since: Version
    public internal(set) var version: Version
    var additions: [(Element, ChangeID)]
    var removals: [Removal]
    var lamport: UInt64
  }

  public func changes(since version: Version) -> Changes {
    var followed = FollowedChanges(of: self.version, since: version)
    var changes = Changes(
      since: Version(), version: Version(), additions: [], removals: [], lamport: 0)
    if followed.isEmpty { return changes }
    followed.follow(latest.replicas)
    changes.lamport = lamport
    for removal in removals {
      if !version.contains(removal.change) {
        changes.removals.append(removal)
        for addition in removal.observed { followed.follow(addition.replica) }
      } else if !removal.observed.allSatisfy(version.contains) {
        followed.follow(removal.change.replica)
      }
    }
    (changes.since, changes.version) = (followed.since, followed.version)
    for (element, standing) in additions {
      for addition in standing where !version.contains(addition) {
        changes.additions.append((element, addition))
      }
    }
    return changes
  }

  public func validate(_ changes: Changes) throws(InvalidChange) {
    // Nothing, as for most parts of a composed value. (No addition or removal is read that the version does not have.)
    if changes.since.isEmpty, changes.version.isEmpty, changes.lamport == 0 { return }
    try validateSome(changes)
  }

  /// Apart, since the type of an addition is looked up at its beginning.
  @inline(never)
  private func validateSome(_ changes: Changes) throws(InvalidChange) {
    try changes.check()
    try LamportTimestamp.validate(changes.lamport, after: lamport)
  }

  public mutating func join(_ changes: Changes) {
    for (element, addition) in changes.additions where !version.contains(addition) {
      additions[element, default: []].insertSorted(addition)
    }
    for removal in changes.removals where !version.contains(removal.change) {
      let place = removals.lastIndex { $0.change <= removal.change }.map { $0 + 1 } ?? 0
      removals.insert(removal, at: place)
    }
    // Also the removals that were here before: they may cover additions that came only now.
    if !changes.additions.isEmpty || !changes.removals.isEmpty {
      for removal in removals { take(removal) }
    }
    if changes.lamport > lamport {
      lamport = changes.lamport
      latest.set(among: changes.version)
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

extension ReplicatingSet.Changes {
  /// Throws when no set can have these changes.
  func check() throws(InvalidChange) {
    try checkVersion()
    guard lamport == 0 || !version.isEmpty else {
      throw InvalidChange("a logical time before the first change")
    }
    var standing: [Element: Set<ChangeID>] = [:]
    for (element, addition) in additions {
      try checkIsNew(addition)
      guard standing[element, default: []].insert(addition).inserted else {
        throw InvalidChange("an addition twice")
      }
    }
    var last: ChangeID?
    for removal in removals {
      try checkIsNew(removal.change)
      if let last, removal.change < last { throw InvalidChange("removals out of order") }
      last = removal.change
      try check(removal, standing[removal.element] ?? [])
    }
  }

  private func check(
    _ removal: ReplicatingSet.Removal, _ standing: Set<ChangeID>
  ) throws(InvalidChange) {
    guard !removal.observed.isEmpty, removal.observed.isStrictlyIncreasing else {
      throw InvalidChange("a removal of nothing, or of something twice")
    }
    for addition in removal.observed {
      let isOwn = addition.replica == removal.change.replica
      guard addition.number > 0, version.contains(addition),
        !isOwn || addition.number < removal.change.number
      else { throw InvalidChange("a removal of what its author could not know") }
      guard !standing.contains(addition) else {
        throw InvalidChange("an addition that stands although it was removed")
      }
    }
  }
}

extension ReplicatingSet {
  /// Checks what must always hold. O(additions and removals): for tests.
  public func checkInvariants() {
    precondition(lamport == 0 || !version.isEmpty, "a logical time before the first change")
    for standing in additions.values {
      precondition(!standing.isEmpty && standing.isStrictlyIncreasing, "additions out of order")
      for addition in standing {
        precondition(addition.number > 0 && version.contains(addition), "an unseen addition")
      }
    }
    for (removal, next) in zip(removals, removals.dropFirst()) {
      precondition(removal.change <= next.change, "removals out of order")
    }
    for removal in removals {
      precondition(version.contains(removal.change), "a removal that was not seen")
      precondition(removal.observed.allSatisfy(version.contains), "what was removed was not seen")
      let standing = additions[removal.element] ?? []
      precondition(!standing.contains(where: removal.observed.contains), "removed, and stands")
    }
  }
}

extension Array where Element: Comparable {
  var isStrictlyIncreasing: Bool { zip(self, dropFirst()).allSatisfy(<) }

  /// Inserts into a sorted array, once.
  mutating func insertSorted(_ element: Element) {
    let place = lastIndex { $0 <= element }
    if let place, self[place] == element { return }
    insert(element, at: place.map { $0 + 1 } ?? 0)
  }
}
