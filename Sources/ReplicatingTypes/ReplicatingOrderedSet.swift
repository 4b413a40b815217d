// Library product only: the programs of this package do not use this file.

/// Elements in an order that every replica may change, each element once.
///
/// A move does not take an element out and put it in again, which two replicas at once would turn into two copies. It
/// makes a new slot for the element in a sequence, and of an element's slots the newest (Lamport timestamp) is its place.
/// So two concurrent moves leave one element, at one of the two places; and since slots are a `ReplicatingArray`, what
/// several replicas put at one place is never mixed.
///
/// Removal covers the insertions that its author had seen, as in `ReplicatingSet`; a move never brings back what was
/// removed.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var list = ReplicatingOrderedSet<String>()
///     list.insert("milk", at: 0, by: &replica)
///     list.insert("eggs", at: 1, by: &replica)
///     list.move("eggs", to: 0, by: &replica)
///     list.values  // ["eggs", "milk"]
///
/// `count` and `contains` are O(1), `values` is O(slots): insertions and moves ever made. Inserting, moving and removing are O(log
/// slots), and beside that as in a `ReplicatingSet`, as joining is; joining is, beside that, as in a `ReplicatingArray`.
public struct ReplicatingOrderedSet<Element: Hashable & Sendable>: Sendable {
  /// One slot's place: directly after one slot and before another.
  public typealias Placement = MovableList<Element>.Placement

  /// Also of what is no member any more: that is left out.
  private(set) var slots = MovableList<Element>()
  private(set) var members = ReplicatingSet<Element>()

  /// An empty set.
  public init() {}

  /// Parts that were looked after.
  init(slots: ReplicatingArray<Element>, members: ReplicatingSet<Element>) {
    self.slots = MovableList(slots)
    self.members = members
    slots.forEachSlot { element, _, _ in leaveOutUnlessMember(element) }
  }

  /// The number of elements. O(1).
  public var count: Int { members.count }
  /// True if an element is in the set. O(1).
  public func contains(_ element: Element) -> Bool { members.contains(element) }

  /// The elements in order.
  public var values: [Element] { slots.elements }

  private mutating func leaveOutUnlessMember(_ element: Element) {
    slots.leaveOut(element, !members.contains(element))
  }

  // MARK: - Editing

  /// Inserts an element, as one change, or moves it there when it is a member already. `index` is among the other elements,
  /// at most their number; what is larger counts as the end. Returns true if it was no member.
  @discardableResult
  public mutating func insert(
    _ element: Element, at index: Int, by replica: inout Replica
  ) -> Bool {
    let isNew = !members.contains(element)
    let placement = placement(of: element, at: index)
    let stamp = replica.stamp(after: lamport)
    // First a member: its slot is then never one of what is left out, and stays in one piece with its neighbours.
    if isNew { apply(.insert(element), stamp) }
    apply(placement, stamp)
    return isNew
  }

  /// Moves a member to `index` of the elements afterwards, as one change. Traps when it is none.
  public mutating func move(_ element: Element, to index: Int, by replica: inout Replica) {
    precondition(members.contains(element), "a move of what is no member")
    apply(placement(of: element, at: index), replica.stamp(after: lamport))
  }

  /// Removes an element, as far as its insertions are known here, as one change, and returns it. Removing what is no member is no change; then nil
  /// is returned.
  @discardableResult
  public mutating func remove(_ element: Element, by replica: inout Replica) -> Element? {
    guard let removal = members.removal(of: element) else { return nil }
    apply(removal, replica.stamp(after: lamport))
    return element
  }

  /// The slot that puts `element` at `index` of the elements afterwards.
  public func placement(of element: Element, at index: Int) -> Placement {
    slots.placement(of: element, at: index)
  }

  /// Makes a slot: one planned here, or one that `validate` passed. What is no member stays none.
  public mutating func apply(_ placement: Placement, _ stamp: Stamp) {
    slots.apply(placement, stamp)
    leaveOutUnlessMember(placement.element)
  }

  /// Makes an element a member, or none, by an author who had seen no more of the set than is here. A member needs a slot.
  public mutating func apply(_ operation: ReplicatingSet<Element>.Operation, _ stamp: Stamp) {
    members.apply(operation, stamp)
    switch operation {
    case .insert(let element), .remove(let element, _): leaveOutUnlessMember(element)
    }
  }

  /// True if a replica may place elements.
  public func hasRoom(for author: ReplicaID) -> Bool { slots.hasRoom(for: author) }

  /// Looks whether a placement from outside may be applied, as `ReplicatingArray` does with an insertion. Throws when not.
  public mutating func validate(
    _ placement: Placement, by author: ReplicaID, isKnown: (ChangeID) -> Bool
  ) throws(InvalidChange) {
    try slots.validate(placement, by: author, isKnown: isKnown)
  }

  /// The largest logical time in it.
  public var lamport: UInt64 { Swift.max(slots.sequence.lamport, members.lamport) }
}

extension ReplicatingOrderedSet: Replicable {
  /// The changes that a set at one version has and a set at another lacks.
  public struct Changes: ReplicatingChanges, Sendable {
    public var since: Version
    var slots: ReplicatingArray<Element>.Changes
    var members: ReplicatingSet<Element>.Changes

    public var version: Version {
      var version = slots.version
      version.merge(members.version)
      return version
    }
  }

  public var version: Version {
    var version = slots.sequence.version
    version.merge(members.version)
    return version
  }

  public func changes(since version: Version) -> Changes {
    let slots = slots.sequence.changes(since: version)
    let members = members.changes(since: version)
    var since = slots.since
    since.merge(members.since)
    return Changes(since: since, slots: slots, members: members)
  }

  public func validate(_ changes: Changes) throws(InvalidChange) {
    try changes.checkVersion()
    guard changes.since.isSuperset(of: changes.slots.since),
      changes.since.isSuperset(of: changes.members.since)
    else { throw InvalidChange("changes of a part that follow more than the whole") }
    guard changes.slots.removals.isEmpty else { throw InvalidChange("a slot that is removed") }
    let joined = try slots.sequence.joining(changes.slots)
    try members.validate(changes.members)
    // Looked for in what came of the slots: one that was known already brings nothing.
    var homeless = Set(changes.members.additions.map(\.0))
    if homeless.isEmpty { return }
    joined.forEachSlot { element, _, _ in homeless.remove(element) }
    guard homeless.isEmpty else { throw InvalidChange("a member without a place") }
  }

  public mutating func join(_ changes: Changes) {
    members.join(changes.members)
    // A new member has a slot. An element with a new slot, or one that was removed, may be left out.
    for (element, _) in changes.members.additions { leaveOutUnlessMember(element) }
    for removal in changes.members.removals { leaveOutUnlessMember(removal.element) }
    var placed: [Element] = []
    slots.join(changes.slots) { placed.append($0) }
    for element in placed { leaveOutUnlessMember(element) }
  }

  /// The changes joined so far.
  public var joinedVersion: JoinedVersion? {
    get {
      var joined = members.joinedVersion
      if let slots = slots.joinedVersion { joined?.version.merge(slots.version) }
      return joined
    }
    set {
      slots.joinedVersion = newValue
      members.joinedVersion = newValue
    }
  }

  /// Checks what must always hold. O(slots and removals): for tests.
  public func checkInvariants() {
    slots.checkInvariants()
    members.checkInvariants()
    precondition(Set(values) == members.values, "a member without a place")
    precondition(values.count == members.count, "a member at two places")
  }
}

extension ReplicatingArray {
  /// True if anything was ever removed.
  var hasRemovals: Bool { authors.contains { !$0.removals.isEmpty } }
}
