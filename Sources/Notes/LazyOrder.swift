internal import ReplicatingTypes

/// The order of the notes while only an archive has it: its first slot, and the notes that were created in front of that since.
///
/// Most notes are created in front of all others. Such a placement goes between the beginning and the first slot. Nothing can stand between
/// these, so the first slot is all of the order that is needed to check and to apply it. Any other placement needs the order itself: `opened()` reads
/// that, and applies there what was noted here. So the order comes out as if it had been open all the time, and what is refused is the same.
struct LazyOrder: Sendable {
  private var archive: NotebookArchive
  /// The slot in front of all others; nil if there is none.
  private(set) var first: OrderSlot?
  /// The placements since, the oldest first: the newest stands in front.
  private var placements: [(placement: Change.Placement, stamp: Stamp)] = []
  /// The number of slots that each replica of these has made in the archive, and of those that it has made by now.
  private var counts: [ReplicaID: (archived: Int, now: Int)] = [:]

  /// With more placements the order is opened: each of them would be looked at for a note's position.
  private static let mostPlacements = 1024

  init(_ archive: NotebookArchive) {
    self.archive = archive
    first = archive.firstSlot
  }

  /// True if there are notes that were created since the archive.
  var isChanged: Bool { !placements.isEmpty }

  // MARK: - Placing

  /// The placement of a new note in front of all others. O(1).
  func placementInFront(_ note: NoteID) -> Change.Placement {
    Change.Placement(note.creation, after: nil, before: first?.id)
  }

  /// True if a placement puts the note that a change creates in front of all others, and there is room for it here. O(1).
  func isInFront(_ placement: Change.Placement, of change: ChangeID) -> Bool {
    placement.element == change && placement.after == nil && placement.before == first?.id
      && placements.count < Self.mostPlacements
      && archive.slotAuthors + placements.count < MovableList<ChangeID>.maximumAuthors
  }

  /// Gets ready for a placement by a replica that has made so many slots in the archive; returns whether there is room for one more.
  mutating func prepare(_ replica: ReplicaID, slots: Int) -> Bool {
    let count = counts[replica] ?? (slots, slots)
    counts[replica] = count
    return count.now < MovableList<ChangeID>.maximumCount
  }

  /// Checks the placement that was prepared, as `MovableList` does. Throws when its author had not seen what it goes in front of.
  func validate(isKnown: (ChangeID) -> Bool) throws(InvalidChange) {
    guard first.map({ isKnown($0.change) }) ?? true else {
      throw InvalidChange("an origin that its author could not know")
    }
  }

  /// Takes the placement that was prepared.
  mutating func note(_ placement: Change.Placement, _ stamp: Stamp) {
    let replica = stamp.change.replica
    first = OrderSlot(
      id: ElementID(author: replica, offset: counts[replica]!.now), change: stamp.change)
    counts[replica]!.now += 1
    placements.append((placement, stamp))
  }

  /// Goes on with an archive that was made while nothing had been noted here: it has the same order.
  mutating func adopt(_ archive: NotebookArchive) { self.archive = archive }

  /// The order itself.
  func opened() throws(ArchiveFailure) -> MovableList<ChangeID> {
    var order = try archive.order()
    // The placements were noted by what the archive's head says of the order.
    guard order.firstSlot == archive.firstSlot, order.authorCount == archive.slotAuthors,
      counts.allSatisfy({ order.slotCount(of: $0.key) == $0.value.archived })
    else { throw ArchiveFailure(reason: "an order with other slots than were said") }
    for (placement, stamp) in placements { order.apply(placement, stamp) }
    return order
  }

  // MARK: - Listing

  /// Some of the notes in their order from a position on, and how many places that are; none at the end. See `NoteBook.ids`.
  func ids(
    from position: Int, atMost limit: Int, among candidates: Candidates?
  ) throws(ArchiveFailure) -> (ids: [NoteID], count: Int) {
    if position < placements.count {
      let ids = placements.reversed()[...].dropFirst(position).prefix(limit).map {
        NoteID(creation: $0.placement.element)
      }
      return (ids, ids.count)
    }
    let places = try archive.list(from: position - placements.count).prefix(limit)
    let wanted =
      candidates.map { candidates in places.filter { candidates[$0] } } ?? Array(places)
    return (wanted.map { archive.id(at: $0) }, places.count)
  }

  /// The position among all of a note that is here. O(notes).
  func position(of id: NoteID) throws(ArchiveFailure) -> Int {
    if let index = placements.lastIndex(where: { $0.placement.element == id.creation }) {
      return placements.count - 1 - index
    }
    return try archive.position(of: id) + placements.count
  }
}
