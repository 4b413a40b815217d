/// Elements in an order that every replica may change: each stands at the newest of its slots in a sequence.
///
/// The part of a `ReplicatingOrderedSet` that knows the order. Who knows from elsewhere which elements there are, as a
/// notebook does, needs nothing else; nothing takes an element away.
///
/// All slots ever made stay in the sequence. Those that are not the newest of their elements are tombstones in its tree,
/// though no change removed them: so what is visible is the order, and an element and its position find each other by the
/// counts of the tree. A slot never becomes the newest again once there is a newer one.
///
/// An element may be left out: its slots stay, and neither `elements` nor a position has it, until it is taken in again.
///
/// `count` is O(1), `elements` O(slots), all else O(log slots) beside what is said.
///
/// Compiled specially for the names of changes: used from another module, unspecialised, it is many times slower.
public struct MovableList<Element: Hashable & Sendable>: Sendable {
  /// One slot's place: directly after one slot and before another.
  public struct Placement: Equatable, Sendable {
    /// The element that is placed.
    public var element: Element
    /// The slot directly before this one; `nil` for the beginning.
    public var after: ElementID?
    /// The slot that comes after this one; `nil` for the end.
    public var before: ElementID?

    /// A slot for `element` between two others.
    public init(_ element: Element, after: ElementID?, before: ElementID?) {
      self.element = element
      self.after = after
      self.before = before
    }

    var operation: ReplicatingArray<Element>.Operation {
      .insert([element], after: after, before: before)
    }
  }

  /// Its index is always there: a question moves the cursor of a copy, and nothing else may change then, or the copy would
  /// be one of everything.
  private(set) var sequence: ReplicatingArray<Element>
  /// The changes of the sequence joined so far.
  var joinedVersion: JoinedVersion? {
    get { sequence.joinedVersion }
    set { sequence.joinedVersion = newValue }
  }
  /// The newest slots of elements, but for those that are at home.
  private var places: [Element: LocalID] = [:]
  /// The elements that are left out: their newest slots are tombstones, too.
  private var leftOut: Set<Element> = []

  /// No slots.
  public init() {
    sequence = ReplicatingArray()
    sequence.buildIndex()
  }

  /// Slots of which none is hidden yet.
  init(_ sequence: ReplicatingArray<Element>) {
    self.sequence = sequence
    self.sequence.buildIndex()
    enterAll(from: [])
  }

  /// Slots of which those are hidden that are not the newest; `moved` are all that are not homes.
  init(_ sequence: ReplicatingArray<Element>, moved: [LocalID]) {
    self.sequence = sequence
    self.sequence.buildIndex()
    for slot in moved { enter(slot) }
  }

  /// The number of elements that have a slot and are not left out.
  public var count: Int { sequence.tree.visible }

  /// The elements in order.
  public var elements: [Element] {
    @specialized(where Element == ChangeID)
    get { sequence.values }
  }

  /// Visits the elements in order from a position on, as long as the visitor wants more. O(log slots + slots passed).
  @specialized(where Element == ChangeID)
  public func forEachElement(from position: Int, _ body: (Element) -> Bool) {
    guard position < count else { return }
    var tree = sequence.tree
    var skipped = tree.seek(position)
    repeat {
      let piece = tree.current
      if !piece.isRemoved {
        for offset in piece.offset + skipped..<piece.end {
          guard body(sequence.authors[Int(piece.author)].content[Int(offset)]) else { return }
        }
      }
      skipped = 0
    } while tree.stepForward()
  }

  /// The elements that had a slot at a version, in the order of then. The version has all that its changes follow. O(slots).
  @specialized(where Element == ChangeID)
  public func elements(at version: Version) -> [Element] {
    // Most elements have one slot, which needs no look at others.
    var newest: [Element: LamportTimestamp] = [:]
    sequence.forEachSlot(in: version) { element, time in
      guard places[element] != nil else { return }
      newest[element] = newest[element].map { max($0, time) } ?? time
    }
    var elements: [Element] = []
    sequence.forEachSlot(in: version) { element, time in
      if newest[element] ?? time == time { elements.append(element) }
    }
    return elements
  }

  /// Where an element stands; `nil` if it has no slot, or is left out.
  @specialized(where Element == ChangeID)
  public func position(of element: Element) -> Int? {
    if !leftOut.isEmpty, leftOut.contains(element) { return nil }
    return place(of: element).map(position(before:))
  }

  /// The author of the slot at which an element stands, and the number of the change that made it; `nil` if it has no slot.
  @specialized(where Element == ChangeID)
  public func placer(of element: Element) -> ChangeID? {
    place(of: element).map(slot).map(\.change)
  }

  // MARK: - Slots

  /// A slot, and the change that made it.
  public struct Slot: Equatable, Sendable {
    /// The slot, as an element of the sequence.
    public var id: ElementID
    /// The change.
    public var change: ChangeID

    /// The slot `id`, which a change made.
    public init(id: ElementID, change: ChangeID) {
      self.id = id
      self.change = change
    }
  }

  /// The slot in front of all others, whether or not an element stands there; `nil` if there is none. O(1).
  public var firstSlot: Slot? {
    @specialized(where Element == ChangeID)
    get {
      var tree = sequence.tree
      tree.moveToStart()
      guard !tree.isEmpty else { return nil }
      return slot(tree.current.first)
    }
  }

  private func slot(_ slot: LocalID) -> Slot {
    let author = sequence.authors[Int(slot.author)]
    return Slot(
      id: ElementID(author: author.id, offset: Int(slot.offset)),
      change: ChangeID(replica: author.id, number: author.number(of: slot.offset)))
  }

  /// The number of slots that a replica has made. O(1).
  @specialized(where Element == ChangeID)
  public func slotCount(of replica: ReplicaID) -> Int {
    sequence.count(by: replica)
  }

  /// The number of replicas that have written into the sequence.
  public var authorCount: Int { sequence.authors.count }

  /// The most replicas that may.
  public static var maximumAuthors: Int { ReplicatingArray<Element>.maximumAuthors }
  /// The most slots that one replica may make.
  public static var maximumCount: Int { ReplicatingArray<Element>.maximumCount }

  // MARK: - Places

  /// The newest slot of an element.
  private func place(of element: Element) -> LocalID? { places[element] ?? home(of: element) }

  /// The slot of an element that is the name of the change which made the slot: the author's stamps tell where it is, so
  /// most elements of such an order need no entry in `places`.
  private func home(of element: Element) -> LocalID? {
    guard let change = element as? ChangeID, change.number > 0,
      let author = sequence.index(known: change.replica)
    else { return nil }
    let offset = sequence.authors[Int(author)].count(upTo: change.number - 1)
    let slot = LocalID(author, offset)
    guard offset < sequence.authors[Int(author)].count, self.element(at: slot) == element,
      sequence.authors[Int(author)].number(of: offset) == change.number
    else { return nil }
    return slot
  }

  private func element(at slot: LocalID) -> Element {
    sequence.authors[Int(slot.author)].content[Int(slot.offset)]
  }

  /// The number of elements that stand before a slot.
  private func position(before slot: LocalID) -> Int {
    var copy = sequence
    copy.locate(slot)
    let piece = copy.tree.current
    return copy.tree.cursor.start + (piece.isRemoved ? 0 : Int(slot.offset - piece.offset))
  }

  /// Lets an element stand at a slot that is here, unless it stands at a newer one.
  private mutating func enter(_ slot: LocalID) {
    let element = element(at: slot)
    if let old = place(of: element) {
      if old == slot { return }
      if sequence.timestamp(of: old) > sequence.timestamp(of: slot) { return sequence.hide(slot) }
      sequence.hide(old)
    }
    places[element] = slot
    if leftOut.contains(element) { sequence.hide(slot) }
  }

  /// Enters all slots but the first ones of each author, so many as `known` says, and calls `body` with their elements.
  private mutating func enterAll(from known: [UInt32], _ body: (Element) -> Void = { _ in }) {
    for (author, count) in sequence.authors.map(\.count).enumerated() {
      let first = author < known.count ? known[author] : 0
      for offset in first..<count {
        let slot = LocalID(AuthorIndex(author), offset)
        enter(slot)
        body(element(at: slot))
      }
    }
  }

  /// Leaves an element out, or takes it in again, whether or not it has a slot.
  public mutating func leaveOut(_ element: Element, _ isLeftOut: Bool) {
    let isChanged =
      isLeftOut ? leftOut.insert(element).inserted : leftOut.remove(element) != nil
    guard isChanged, let slot = place(of: element) else { return }
    let range = ElementRange(
      author: sequence.authors[Int(slot.author)].id, offset: Int(slot.offset), count: 1)
    sequence.show(range, !isLeftOut) { _ in }
  }

  // MARK: - Editing

  /// The slot that puts `element` at `index` of the elements afterwards; an index that is larger than their number counts as
  /// the end. The elements at `uncounted`, positions in ascending order, are not counted. O(log slots + uncounted).
  @specialized(where Element == ChangeID)
  public func placement(
    of element: Element, at index: Int, notCounting uncounted: [Int] = []
  ) -> Placement {
    var tree = sequence.tree
    // At the very beginning the first slot follows, whether it is the place of an element or not.
    if index <= 0 {
      tree.moveToStart()
      return Placement(
        element, after: nil, before: tree.isEmpty ? nil : sequence.id(of: tree.current.first))
    }
    // The slot is to be followed by the element at `index` of those that count; the element itself, which leaves its place, is
    // none of them.
    var position = min(index, count)
    var own = self.position(of: element) ?? .max
    for uncounted in uncounted {
      if own <= min(uncounted, position) {
        if own < uncounted { position += 1 }
        own = .max
      }
      guard uncounted <= position else { break }
      position += 1
    }
    if own <= position { position += 1 }
    guard position < count else {
      tree.moveToEnd()
      return Placement(
        element, after: tree.isEmpty ? nil : sequence.id(of: tree.current.last), before: nil)
    }
    let skipped = tree.seek(position)
    let piece = tree.current
    let next = LocalID(piece.author, piece.offset + skipped)
    var previous = LocalID.none
    if skipped > 0 {
      previous = LocalID(piece.author, piece.offset + skipped - 1)
    } else if tree.stepBackward() {
      previous = tree.current.last
    }
    return Placement(element, after: sequence.id(of: previous), before: sequence.id(of: next))
  }

  /// The same beside another element; one that has no slot counts as the last.
  @specialized(where Element == ChangeID)
  public func placement(
    of element: Element, beside neighbour: Element, isAfter: Bool
  ) -> Placement {
    let place = position(of: neighbour) ?? count
    let isPassed = position(of: element).map { $0 < place } ?? false
    return placement(of: element, at: place - (isPassed ? 1 : 0) + (isAfter ? 1 : 0))
  }

  /// True if an element is already where a placement, planned on the present order, would put it.
  @specialized(where Element == ChangeID)
  public func isPlaced(_ placement: Placement) -> Bool {
    guard let own = position(of: placement.element) else { return false }
    let gap = placement.before.map { position(before: sequence.local($0)) } ?? count
    return gap == own || gap == own + 1
  }

  /// Makes a slot: one planned here, or one that `validate` passed.
  @specialized(where Element == ChangeID)
  public mutating func apply(_ placement: Placement, _ stamp: Stamp) {
    sequence.apply(placement.operation, stamp) { _ in }
    let author = sequence.index(of: stamp.change.replica)
    enter(LocalID(author, sequence.authors[Int(author)].count - 1))
  }

  /// True if a replica may place elements.
  public func hasRoom(for author: ReplicaID) -> Bool { sequence.hasRoom(for: author) }

  /// Looks whether a placement from outside may be applied, as `ReplicatingArray` does with an insertion. Throws when not.
  @specialized(where Element == ChangeID)
  public mutating func validate(
    _ placement: Placement, by author: ReplicaID, _ awareness: Awareness? = nil,
    isKnown: (ChangeID) -> Bool
  ) throws(InvalidChange) {
    try sequence.validate(placement.operation, by: author, awareness, isKnown: isKnown)
  }

  /// Joins changes, and calls `body` with the elements of the slots that came.
  mutating func join(
    _ changes: ReplicatingArray<Element>.Changes, _ body: (Element) -> Void = { _ in }
  ) {
    let known = sequence.authors.map(\.count)
    sequence.join(changes)
    enterAll(from: known, body)
  }

  /// Checks what must always hold, by looking at all slots. O(slots): for tests.
  public func checkInvariants() {
    sequence.checkInvariants()
    precondition(sequence.isIndexed, "slots without an index")
    var newest: [Element: (id: ElementID, time: LamportTimestamp)] = [:]
    sequence.forEachSlot { element, id, time in
      if let place = newest[element], place.time > time { return }
      newest[element] = (id, time)
    }
    var order: [Element] = []
    sequence.forEachSlot { element, id, _ in
      if newest[element]!.id == id, !leftOut.contains(element) { order.append(element) }
    }
    precondition(order == elements, "an element that is not at its newest slot, or at two")
    for (position, element) in order.enumerated() {
      precondition(sequence.id(of: place(of: element)!) == newest[element]!.id, "another place")
      precondition(self.position(of: element) == position, "another position")
    }
  }
}

extension MovableList: Equatable {
  /// Equal slots; the rest follows from them.
  @specialized(where Element == ChangeID)
  public static func == (a: Self, b: Self) -> Bool { a.sequence == b.sequence }
}

extension ReplicatingArray {
  /// Visits all elements in order, with their names and the times of their insertion. Nothing is open.
  func forEachSlot(_ body: (Element, ElementID, LamportTimestamp) -> Void) {
    tree.forEachPiece { piece in
      let author = authors[Int(piece.author)]
      for offset in piece.offset..<piece.end {
        body(
          author.content[Int(offset)], ElementID(author: author.id, offset: Int(offset)),
          LamportTimestamp(count: author.lamport(of: offset), replica: author.id))
      }
    }
  }

  /// Visits the elements that a version has, in order, with the times of their insertion. Nothing is open.
  fileprivate func forEachSlot(in version: Version, _ body: (Element, LamportTimestamp) -> Void) {
    let known = authors.map { author in
      let number = version[author.id]
      return number == 0 ? 0 : author.count(upTo: number)
    }
    tree.forEachPiece { piece in
      let author = authors[Int(piece.author)]
      let end = Swift.min(piece.end, known[Int(piece.author)])
      guard piece.offset < end else { return }
      for offset in piece.offset..<end {
        body(
          author.content[Int(offset)],
          LamportTimestamp(count: author.lamport(of: offset), replica: author.id))
      }
    }
  }

  /// Makes an element a tombstone without a removal.
  fileprivate mutating func hide(_ element: LocalID) {
    locate(element)
    let piece = tree.current
    guard !piece.isRemoved else { return }
    bury(Piece(element.author, element.offset, 1), behind: element.offset - piece.offset)
  }
}
