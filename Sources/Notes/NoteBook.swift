public import ReplicatingTypes

/// The notes and their order.
///
/// A notebook is the sum of its changes. It keeps each of them as its author encoded it, and beside them what they amount
/// to: the notes, and the order of the notes. Two notebooks that know the same changes are equal, whatever the way the
/// changes came.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var book = NoteBook()
///     let change = book.change([.create, .place(book.placement(of: note, at: 0))], ...)
///     book.apply(change)
///
/// A change is planned first (`change(by:at:_:)`, which changes nothing), then kept, then applied: what could not be
/// written to a log has not happened.
public struct NoteBook: Sendable, Equatable {
  var histories = Histories()
  public internal(set) var version = Version()
  /// The changes that nothing known follows.
  var heads = Version()
  /// The last tick of logical time that any change takes.
  var lamport: UInt64 = 0
  var shelf = Shelf()
  /// Where everything is that is not in memory.
  var archive: NotebookArchive?
  /// `nil` as long as only the archive has it.
  var openedOrder: ReplicatingSlots<ChangeID>? = ReplicatingSlots()
  /// Of a few replicas what they had seen with their last change; see `past(of:)`.
  var pasts = Pasts()

  public typealias Placement = ReplicatingSlots<ChangeID>.Placement

  public init() {}

  /// A notebook as it was put away. Reads nothing more yet.
  public init(_ archive: NotebookArchive) {
    self.archive = archive
    shelf = Shelf(archive)
    version = archive.version
    heads = archive.heads
    lamport = archive.lamport
    openedOrder = nil
  }

  /// The same changes, and so the same of everything, in memory or not. What can't be read is not equal. O(all of both).
  public static func == (a: Self, b: Self) -> Bool {
    guard a.version == b.version, a.heads == b.heads, a.shelf == b.shelf else { return false }
    var (a, b) = (a, b)
    do {
      try a.openOrder()
      try b.openOrder()
      guard a.order == b.order else { return false }
      for replica in a.version.replicas {
        var changes: [ArraySlice<UInt8>] = []
        let all = 1...a.version[replica]
        try a.forEachEncoded(of: replica, in: all) { _, encoded, _ in
          changes.append(encoded)
          return true
        }
        var place = 0
        try b.forEachEncoded(of: replica, in: all) { _, encoded, _ in
          guard place < changes.count, changes[place] == encoded else { return false }
          place += 1
          return true
        }
        guard place == all.upperBound else { return false }
      }
      return true
    } catch {
      return false
    }
  }

  /// The notes in their order, by the changes that created them: for these the type is compiled specially. It is open. Each
  /// note has a slot since its creation, and nothing else has one.
  var order: ReplicatingSlots<ChangeID> {
    _read { yield openedOrder! }
    _modify { yield &openedOrder! }
  }

  /// Gets the notes' order ready, before a place is planned. O(1) if it is.
  public mutating func openOrder() throws(ArchiveFailure) {
    if openedOrder == nil { openedOrder = try archive!.order() }
  }

  public var isEmpty: Bool { version.isEmpty }
  public var revision: Revision { Revision(heads: heads.changes) }

  /// What there is to list, in the notes' order, those in the trash too, as long as the visitor wants more: all, or those
  /// behind a note that is here. O(log notes + visited) when the order is open; else, where only what is behind a note is
  /// asked for, O(notes).
  public func forEachSummary(
    after last: NoteID? = nil, _ body: (NoteSummary) -> Bool
  ) throws(ArchiveFailure) {
    var position = try last.map { id throws(ArchiveFailure) in try self.position(of: id) + 1 } ?? 0
    var visited = 0
    var all: [UInt8]?
    while true {
      let ids = try ids(from: position)
      if ids.isEmpty { return }
      position += ids.count
      for id in ids {
        // Whoever wants many is better served by one look at all of them.
        if visited == 64 { all = try archive?.allSummaries() }
        visited += 1
        guard body(try shelf.summary(of: id, among: all)) else { return }
      }
    }
  }

  /// Some of the notes in their order, from a position on; none at the end.
  private func ids(from position: Int) throws(ArchiveFailure) -> [NoteID] {
    // As long as nobody has asked for the order, it is that of the archive.
    guard let openedOrder else {
      return try archive!.list(from: position).map { archive!.id(at: $0) }
    }
    var ids: [NoteID] = []
    openedOrder.forEachElement(from: position) {
      ids.append(NoteID(creation: $0))
      return ids.count < 64
    }
    return ids
  }

  /// Where a note that is here stands among all.
  private func position(of id: NoteID) throws(ArchiveFailure) -> Int {
    guard let openedOrder else { return try archive!.position(of: id) }
    guard let position = openedOrder.position(of: id.creation) else {
      throw ArchiveFailure(reason: "a note without a place")
    }
    return position
  }

  /// The notes in their order, those in the trash too. O(notes).
  func listedNotes() throws(ArchiveFailure) -> [NoteID] {
    var all: [NoteID] = []
    while true {
      let some = try ids(from: all.count)
      if some.isEmpty { return all }
      all += some
    }
  }

  /// Gets a note ready for being read and changed; whether there is one. It is until the next change, or the next one is
  /// opened. O(1) if it was used lately, else O(its history).
  public mutating func open(_ id: NoteID) throws(ArchiveFailure) -> Bool {
    guard shelf.contains(id) else { return false }
    shelf.tidy()
    try shelf.open(id)
    return true
  }

  /// A copy of a note. O(1) if it is open, else O(its history).
  public func note(_ id: NoteID) throws(ArchiveFailure) -> Note? { try shelf.note(id) }

  /// How many notes are open: what memory there is for notes goes to these.
  public var openNoteCount: Int { shelf.openCount }

  /// Looks at a note that is open, without copying it.
  public func read<Result>(_ id: NoteID, _ body: (borrowing Note) -> Result) -> Result {
    body(shelf[existing: id])
  }

  /// How many notes there are, without and with those in the trash. O(1).
  public var counts: (live: Int, trashed: Int) {
    (shelf.count - shelf.trashedCount, shelf.trashedCount)
  }

  /// Whether a note is here and not in the trash. O(1).
  public func isLive(_ id: NoteID) -> Bool { shelf.contains(id) && !shelf.isTrashed(id) }

  /// The slot that puts a note at `index` of the notes that are not in the trash, counted afterwards. The order is open.
  /// O(log slots) as long as the trash is empty; else O(notes), and O(log slots) for each note in the trash.
  public func placement(
    of note: NoteID, at index: Int
  ) -> Placement {
    // In front of everything, where most notes are created, nothing is counted.
    let trashed = index == 0 ? [] : shelf.trashed.compactMap { order.position(of: $0.creation) }
    return order.placement(of: note.creation, at: index, notCounting: trashed.sorted())
  }

  /// The slot that puts a note directly before or after another, which is here; notes in the trash count. O(log slots).
  public func placement(
    of note: NoteID, beside neighbour: NoteID, isAfter: Bool
  ) -> Placement {
    order.placement(of: note.creation, beside: neighbour.creation, isAfter: isAfter)
  }

  /// Whether a note is where a placement, planned on the present order, would put it already. O(log slots).
  public func isPlaced(_ placement: Placement) -> Bool { order.isPlaced(placement) }

  // MARK: - Changing

  /// The name of the next change of a replica.
  public func next(by replica: ReplicaID) -> ChangeID {
    ChangeID(replica: replica, number: version[replica] + 1)
  }

  /// A change made of operations on the present state, not applied yet. `time`: milliseconds since 1970.
  public func change(
    by replica: ReplicaID, at time: Int64, _ operations: [Change.Operation]
  ) -> Change {
    Change(
      id: next(by: replica), time: Change.clamped(time),
      predecessors: heads.changes.filter { $0.replica != replica }, operations: operations)
  }

  /// Whether the sequences that a change writes into have room for one more author, if it is one. The change's parts are
  /// open.
  public func hasRoom(for change: Change) -> Bool {
    change.operations.allSatisfy { operation in
      switch operation {
      case .create: true
      case .place: order.hasRoom(for: change.id.replica)
      case .edit(let id, .text):
        !shelf.contains(id) || shelf[existing: id].text.hasRoom(for: change.id.replica)
      case .edit: true
      }
    }
  }

  /// Gets everything ready that a change is about: the notes, the order, what its author did before, the times of what it
  /// follows. Until the next change.
  public mutating func open(_ change: Change) throws(ArchiveFailure) {
    for operation in change.operations {
      switch operation {
      case .create: break
      case .place: try openOrder()
      case .edit(let id, _): if shelf.contains(id) { try shelf.open(id) }
      }
    }
    if archive == nil { return }
    try openHistory(of: change.id.replica)
    _ = try firstStamp(of: change)
  }

  /// The operations that make `edits` in the present text of a note, which is open. O(log n) for each.
  ///
  /// Changes nothing but where in the text the next operation is looked for first: there it will be.
  public mutating func operations(
    for edits: [Edit<UInt8>], in note: NoteID
  ) -> [Change.Operation] {
    var operations: [Change.Operation] = []
    shelf[existing: note].text.forEachOperation(for: edits) {
      operations.append(.edit(note, .text($0)))
    }
    return operations
  }

  /// Encodes a change that was planned here and is the next of its author. Its parts are open.
  public func encode(_ change: Change) -> EncodedChange {
    var (mentions, previous) = histories.end(of: change.id.replica)
    let bytes = change.encoded(after: previous, &mentions)
    return EncodedChange(change: change, bytes: bytes, mentions: mentions)
  }

  /// Applies a change that was planned here, on the present state. Its parts are open.
  @discardableResult
  public mutating func apply(_ encoded: EncodedChange) -> Effects {
    let change = encoded.change
    precondition(change.id == next(by: change.id.replica), "a change out of its turn")
    // It follows nothing but the latest changes, and their times are at hand.
    let stamp: Stamp
    do { stamp = try firstStamp(of: change) } catch { preconditionFailure("\(error.reason)") }
    var effects = Effects()
    let end = perform(change, stamp, &effects)
    admit(change, encoded: encoded.bytes[...], mentions: encoded.mentions, upTo: end)
    shelf.tidy()
    return effects
  }

  /// The same for a change that nobody has to write to a log.
  @discardableResult
  public mutating func apply(_ change: Change) throws(ArchiveFailure) -> Effects {
    try open(change)
    return apply(encode(change))
  }

  /// Performs the operations of a change that are all in order; returns the last tick of logical time that it takes. Its
  /// parts are open.
  mutating func perform(_ change: Change, _ first: Stamp, _ effects: inout Effects) -> UInt64 {
    var stamp = first
    for operation in change.operations {
      perform(operation, stamp, at: change.time, &effects)
      stamp.lamport += operation.ticks
    }
    return max(first.lamport, stamp.lamport - 1)
  }

  /// Where the logical time of a change begins: after that of all its predecessors.
  func firstStamp(of change: Change) throws(ArchiveFailure) -> Stamp {
    var latest: UInt64 = 0
    if change.id.number > 1 {
      latest = try lamport(
        of: ChangeID(replica: change.id.replica, number: change.id.number - 1))
    }
    for predecessor in change.predecessors { latest = max(latest, try lamport(of: predecessor)) }
    return Stamp(change: change.id, lamport: latest + 1)
  }

  /// Takes a change whose operations were performed, up to a tick of logical time, into the history.
  mutating func admit(
    _ change: Change, encoded: ArraySlice<UInt8>, mentions: Mentions, upTo end: UInt64
  ) {
    if histories.place(of: change.id.replica) == nil {
      histories.append(History(id: change.id.replica))
    }
    histories[existing: change.id.replica].append(
      change, encoded: encoded, lamport: end, mentions: mentions)
    lamport = max(lamport, end)
    version.insert(change.id)
    for predecessor in change.predecessors where heads[predecessor.replica] == predecessor.number {
      heads[predecessor.replica] = 0
    }
    heads.insert(change.id)
  }

  /// Performs an operation that is in order. What it is about is open.
  mutating func perform(
    _ operation: Change.Operation, _ stamp: Stamp, at time: Int64, _ effects: inout Effects
  ) {
    switch operation {
    case .create:
      let id = NoteID(creation: stamp.change)
      if !shelf.contains(id) { shelf.insert(Note(id: id, created: time)) }
      effects.insert(.created, id)
    case .place(let placement):
      order.apply(placement, stamp)
      effects.insert(.position, NoteID(creation: placement.element))
    case .edit(let id, let edit):
      let wasTrashed = shelf[existing: id].isTrashed
      shelf[existing: id].apply(edit, stamp, at: time) { effects.insert($0, id) }
      if shelf[existing: id].isTrashed != wasTrashed { effects.insert(.trashed, id) }
      effects.insert(edit.facets, id)
    }
  }
}

/// What changes did to the notes.
public struct Effects: Sendable {
  public struct Facets: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let created = Facets(rawValue: 1)
    public static let title = Facets(rawValue: 2)
    public static let text = Facets(rawValue: 4)
    public static let tags = Facets(rawValue: 8)
    public static let priority = Facets(rawValue: 16)
    public static let position = Facets(rawValue: 32)
    public static let trashed = Facets(rawValue: 64)
  }

  /// What happened to the texts of notes, in order.
  public private(set) var text: [(note: NoteID, effect: ReplicatingText.Effect)] = []
  /// What else happened to them, in order; neighbours of one note are one.
  private var changed: [(note: NoteID, facets: Facets)] = []

  public init() {}

  public var isEmpty: Bool { changed.isEmpty && text.isEmpty }

  /// The notes that changed, and in what.
  public var facets: [NoteID: Facets] {
    var all: [NoteID: Facets] = [:]
    for (note, facets) in changed { all[note, default: []].formUnion(facets) }
    var last: NoteID?
    for (note, _) in text where note != last {
      all[note, default: []].insert(.text)
      last = note
    }
    return all
  }

  mutating func insert(_ facets: Facets, _ note: NoteID) {
    if facets.isEmpty { return }
    if let last = changed.last, last.note == note {
      changed[changed.count - 1].facets.formUnion(facets)
    } else {
      changed.append((note, facets))
    }
  }

  mutating func insert(_ effect: ReplicatingText.Effect, _ note: NoteID) {
    text.append((note, effect))
  }

  public mutating func merge(_ other: Effects) {
    for (note, facets) in other.changed { insert(facets, note) }
    text += other.text
  }
}

extension Note.Operation {
  /// What it changes for certain: not a text, whose elements may be gone already.
  fileprivate var facets: Effects.Facets {
    switch self {
    case .title: .title
    case .priority: .priority
    case .tags: .tags
    case .text, .delete, .restore: []
    }
  }
}
