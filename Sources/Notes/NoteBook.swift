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
  var histories: [ReplicaID: History] = [:]
  public internal(set) var version = Version()
  /// The changes that nothing known follows.
  var heads: Set<ChangeID> = []
  /// The last tick of logical time that any change takes.
  var lamport: UInt64 = 0
  var table = NoteTable()
  var order = ReplicatingOrderedSet<NoteID>()
  /// Of a few replicas what they had seen with their last change; see `past(of:)`.
  var pasts = Pasts()

  public init() {}

  public static func == (a: Self, b: Self) -> Bool {
    a.version == b.version && a.histories == b.histories && a.heads == b.heads
      && a.table == b.table && a.order == b.order
  }

  public var isEmpty: Bool { version.isEmpty }
  public var revision: Revision { Revision(heads: heads.sorted()) }

  public subscript(id: NoteID) -> Note? { table[id] }

  /// All notes in their order, those in the trash too. O(notes).
  public var notes: [Note] { order.elements.map { table[existing: $0] } }

  /// Looks at a note that is here, without copying it.
  public func read<Result>(_ id: NoteID, _ body: (borrowing Note) -> Result) -> Result {
    body(table[existing: id])
  }

  /// How many notes there are, without and with those in the trash.
  public var counts: (live: Int, trashed: Int) {
    let trashed = table.notes.count { $0.isTrashed }
    return (table.count - trashed, trashed)
  }

  /// The slot that puts a note at `index` of the notes that are not in the trash, counted afterwards.
  public func placement(
    of note: NoteID, at index: Int
  ) -> ReplicatingOrderedSet<NoteID>.Placement {
    order.placement(of: note, at: index) {
      table.contains($0) && !table[existing: $0].isTrashed
    }
  }

  /// The slot that puts a note directly before or after another, which is here; notes in the trash count.
  public func placement(
    of note: NoteID, beside neighbour: NoteID, isAfter: Bool
  ) -> ReplicatingOrderedSet<NoteID>.Placement {
    let others = order.elements.filter { $0 != note }
    let index = others.firstIndex(of: neighbour)! + (isAfter ? 1 : 0)
    return order.placement(of: note, at: index)
  }

  /// Whether a note is where a placement would put it already.
  public func isPlaced(_ placement: ReplicatingOrderedSet<NoteID>.Placement) -> Bool {
    var trial = order
    let stamp = Stamp(
      change: ChangeID(replica: ReplicaID(high: 0, low: 0), number: 1), lamport: lamport + 1)
    trial.apply(placement, stamp)
    return trial.elements == order.elements
  }

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
      predecessors: heads.filter { $0.replica != replica }.sorted(), operations: operations)
  }

  /// Whether the sequences that a change writes into have room for one more author, if it is one.
  public func hasRoom(for change: Change) -> Bool {
    change.operations.allSatisfy { operation in
      switch operation {
      case .create: true
      case .place: order.hasRoom(for: change.id.replica)
      case .edit(let id, .text):
        !table.contains(id) || table[existing: id].text.hasRoom(for: change.id.replica)
      case .edit: true
      }
    }
  }

  /// The encoding of a change that was planned here and is the next of its author.
  public func encode(_ change: Change) -> [UInt8] {
    var mentions = histories[change.id.replica]?.mentions ?? Mentions()
    return change.encoded(after: histories[change.id.replica]?.lastTime ?? 0, &mentions)
  }

  /// Applies a change that was planned here, on the present state.
  @discardableResult
  public mutating func apply(_ change: Change) -> Effects {
    precondition(change.id == next(by: change.id.replica), "a change out of its turn")
    var mentions = histories[change.id.replica]?.mentions ?? Mentions()
    let encoded = change.encoded(
      after: histories[change.id.replica]?.lastTime ?? 0, &mentions)
    var effects = Effects()
    perform(change, &effects)
    admit(change, encoded: encoded[...], mentions: mentions)
    return effects
  }

  /// Performs the operations of a change that are all in order.
  mutating func perform(_ change: Change, _ effects: inout Effects) {
    var stamp = firstStamp(of: change)
    for operation in change.operations {
      perform(operation, stamp, at: change.time, &effects)
      stamp.lamport += operation.ticks
    }
  }

  /// Where the logical time of a change begins: after that of all its predecessors.
  func firstStamp(of change: Change) -> Stamp {
    var lamport = histories[change.id.replica]?.lamport(change.id.number - 1) ?? 0
    for predecessor in change.predecessors {
      lamport = max(lamport, histories[predecessor.replica]!.lamport(predecessor.number))
    }
    return Stamp(change: change.id, lamport: lamport + 1)
  }

  /// Takes a change whose operations were performed into the history.
  mutating func admit(_ change: Change, encoded: ArraySlice<UInt8>, mentions: Mentions) {
    let ticks = max(1, change.operations.reduce(0) { $0 + $1.ticks })
    let end = firstStamp(of: change).lamport + ticks - 1
    histories[change.id.replica, default: History()].append(
      change, encoded: encoded, lamport: end, mentions: mentions)
    lamport = max(lamport, end)
    version.insert(change.id)
    let previous = ChangeID(replica: change.id.replica, number: change.id.number - 1)
    heads.remove(previous)
    for predecessor in change.predecessors { heads.remove(predecessor) }
    heads.insert(change.id)
  }

  /// Performs an operation that is in order.
  mutating func perform(
    _ operation: Change.Operation, _ stamp: Stamp, at time: Int64, _ effects: inout Effects
  ) {
    switch operation {
    case .create:
      let id = NoteID(creation: stamp.change)
      table.append(Note(id: id, created: time))
      order.apply(.insert(id), stamp)
      effects.insert(.created, id)
    case .place(let placement):
      order.apply(placement, stamp)
      effects.insert(.position, placement.element)
    case .edit(let id, let edit):
      let wasTrashed = table[existing: id].isTrashed
      let text = table[existing: id].apply(edit, stamp, at: time)
      if table[existing: id].isTrashed != wasTrashed { effects.insert(.trashed, id) }
      effects.insert(edit, id, text)
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

  /// The notes that changed, and in what.
  public private(set) var facets: [NoteID: Facets] = [:]
  /// What happened to their texts, in order.
  public private(set) var text: [NoteID: [ReplicatingText.Effect]] = [:]

  public init() {}

  public var isEmpty: Bool { facets.isEmpty }

  mutating func insert(_ facet: Facets, _ note: NoteID) {
    facets[note, default: []].insert(facet)
  }

  mutating func insert(
    _ operation: Note.Operation, _ note: NoteID, _ effects: [ReplicatingText.Effect]
  ) {
    switch operation {
    case .title: insert(.title, note)
    case .priority: insert(.priority, note)
    case .tags: insert(.tags, note)
    case .text:
      if effects.isEmpty { return }
      insert(.text, note)
      text[note, default: []].append(contentsOf: effects)
    case .delete, .restore: break
    }
  }

  public mutating func merge(_ other: Effects) {
    facets.merge(other.facets) { $0.union($1) }
    for (note, effects) in other.text { text[note, default: []].append(contentsOf: effects) }
  }
}
