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
///     list.elements  // ["eggs", "milk"]
///
/// `count` and `contains` are O(1), all else is O(slots): insertions and moves ever made. Removing and joining are, beside
/// that, as in a `ReplicatingSet`.
///
/// Compiled specially for the names of changes: used from another module, unspecialised, it is many times slower.
public struct ReplicatingOrderedSet<Element: Hashable & Sendable>: Sendable {
  /// One slot's place: directly after one slot and before another.
  public struct Placement: Equatable, Sendable {
    public var element: Element
    public var after: ElementID?
    public var before: ElementID?

    public init(_ element: Element, after: ElementID?, before: ElementID?) {
      self.element = element
      self.after = after
      self.before = before
    }

    var operation: ReplicatingArray<Element>.Operation {
      .insert([element], after: after, before: before)
    }
  }

  private(set) var slots = ReplicatingArray<Element>()
  private(set) var members = ReplicatingSet<Element>()

  public init() {}

  /// Parts that were looked after.
  init(slots: ReplicatingArray<Element>, members: ReplicatingSet<Element>) {
    self.slots = slots
    self.members = members
  }

  public var count: Int { members.count }
  public func contains(_ element: Element) -> Bool { members.contains(element) }

  /// The elements in order.
  public var elements: [Element] {
    @specialized(where Element == ChangeID)
    get {
      // As many slots as members: nothing was ever moved or removed, and the slots are the places.
      if slots.count == members.count { return slots.elements }
      let places = self.places
      var result: [Element] = []
      result.reserveCapacity(members.count)
      slots.forEachSlot { element, id, _ in
        if places[element]?.id == id, members.contains(element) { result.append(element) }
      }
      return result
    }
  }

  /// For each element its newest slot.
  private var places: [Element: (id: ElementID, time: LamportTimestamp)] {
    var places: [Element: (id: ElementID, time: LamportTimestamp)] = [:]
    places.reserveCapacity(members.count)
    slots.forEachSlot { element, id, time in
      if let place = places[element], place.time > time { return }
      places[element] = (id, time)
    }
    return places
  }

  // MARK: - Editing

  /// Inserts an element, as one change, or moves it there when it is a member already. `index` is among the other elements,
  /// at most their number; what is larger counts as the end.
  public mutating func insert(_ element: Element, at index: Int, by replica: inout Replica) {
    let placement = placement(of: element, at: index)
    let stamp = replica.stamp(after: lamport)
    apply(placement, stamp)
    if !members.contains(element) { apply(.insert(element), stamp) }
  }

  /// Moves a member to `index` of the elements afterwards, as one change. Traps when it is none.
  public mutating func move(_ element: Element, to index: Int, by replica: inout Replica) {
    precondition(members.contains(element), "a move of what is no member")
    apply(placement(of: element, at: index), replica.stamp(after: lamport))
  }

  /// Removes an element, as far as its insertions are known here, as one change. Removing what is no member is none.
  public mutating func remove(_ element: Element, by replica: inout Replica) {
    guard let removal = members.removal(of: element) else { return }
    apply(removal, replica.stamp(after: lamport))
  }

  /// The slot that puts `element` at `index` of the elements afterwards, of which only those count that `isCounted`.
  @specialized(where Element == ChangeID)
  public func placement(
    of element: Element, at index: Int, counting isCounted: (Element) -> Bool = { _ in true }
  ) -> Placement {
    // At the very beginning whatever stands first follows, be it the place of something or not.
    if index == 0 {
      return Placement(element, after: nil, before: slots.firstElement)
    }
    let places = self.places
    var before: ElementID?
    var last: ElementID?
    var passed = 0
    slots.forEachSlot { other, id, _ in
      defer { last = id }
      guard passed <= index, places[other]?.id == id, members.contains(other), isCounted(other),
        other != element
      else { return }
      if passed == index { before = id }
      passed += 1
    }
    // Before the slot that is to follow; at the end when there is none.
    guard let before else { return Placement(element, after: last, before: nil) }
    return Placement(element, after: slots.element(before: before), before: before)
  }

  /// Makes a slot: one planned here, or one that `validate` passed. What is no member stays none.
  @specialized(where Element == ChangeID)
  public mutating func apply(_ placement: Placement, _ stamp: Stamp) {
    slots.apply(placement.operation, stamp)
  }

  /// Makes an element a member, or none, by an author who had seen no more of the set than is here. A member needs a slot.
  @specialized(where Element == ChangeID)
  public mutating func apply(_ operation: ReplicatingSet<Element>.Operation, _ stamp: Stamp) {
    members.apply(operation, stamp)
  }

  /// Whether a replica may place elements.
  public func hasRoom(for author: ReplicaID) -> Bool { slots.hasRoom(for: author) }

  /// Looks whether a placement from outside may be applied, as `ReplicatingArray` does with an insertion. Throws when not.
  @specialized(where Element == ChangeID)
  public mutating func validate(
    _ placement: Placement, by author: ReplicaID, isKnown: (ChangeID) -> Bool
  ) throws(InvalidChange) {
    try slots.validate(placement.operation, by: author, isKnown: isKnown)
  }

  private var lamport: UInt64 { max(slots.lamport, members.lamport) }
}

extension ReplicatingOrderedSet: Replicable {
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
    var version = slots.version
    version.merge(members.version)
    return version
  }

  public func changes(since version: Version) -> Changes {
    Changes(
      since: version.intersection(self.version), slots: slots.changes(since: version),
      members: members.changes(since: version))
  }

  public func validate(_ changes: Changes) throws(InvalidChange) {
    try changes.checkVersion()
    guard changes.since.isSuperset(of: changes.slots.since),
      changes.since.isSuperset(of: changes.members.since)
    else { throw InvalidChange("changes of a part that follow more than the whole") }
    guard changes.slots.removals.isEmpty else { throw InvalidChange("a slot that is removed") }
    let joined = try slots.joining(changes.slots)
    try members.validate(changes.members)
    // Looked for in what came of the slots: one that was known already brings nothing, whatever it claims to hold.
    var homeless = Set(changes.members.additions.map(\.0))
    if homeless.isEmpty { return }
    joined.forEachSlot { element, _, _ in homeless.remove(element) }
    guard homeless.isEmpty else { throw InvalidChange("a member without a place") }
  }

  public mutating func join(_ changes: Changes) {
    slots.join(changes.slots)
    members.join(changes.members)
  }

  /// Checks what must always hold. O(slots and removals): for tests.
  public func checkInvariants() {
    slots.checkInvariants()
    members.checkInvariants()
    precondition(Set(elements) == members.elements, "a member without a place")
  }
}

extension ReplicatingArray {
  /// Whether anything was ever removed.
  var hasRemovals: Bool { authors.contains { !$0.removals.isEmpty } }

  fileprivate var firstElement: ElementID? {
    var copy = self
    return id(of: copy.moveToGap(at: 0).right)
  }

  /// The element that stands directly before one that is here.
  fileprivate func element(before element: ElementID) -> ElementID? {
    var copy = self
    copy.locate(local(element))
    let piece = copy.tree.current
    if element.offset > Int(piece.offset) {
      return ElementID(author: element.author, offset: element.offset - 1)
    }
    return copy.tree.stepBackward() ? id(of: copy.tree.current.last) : nil
  }
}
