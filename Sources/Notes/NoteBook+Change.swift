public import ReplicatingTypes

// Planning, encoding and applying changes.
//
// A method that is called for each change and changes nothing is inlined: each call would copy all properties of the notebook, 848 bytes.

extension NoteBook {
  /// The name of the next change of a replica.
  public func next(by replica: ReplicaID) -> ChangeID {
    ChangeID(replica: replica, number: version[replica] + 1)
  }

  /// A change made of operations on the present state, not applied yet.
  ///
  /// - Parameters:
  ///   - time: milliseconds since 1970.
  ///   - isImport: whether it is made from files that a user imports.
  ///   - request: the request for which it is made, if that has a key.
  @inline(__always)
  public func change(
    by replica: ReplicaID, at time: Int64, isImport: Bool = false, request: RequestMark? = nil,
    _ operations: [Change.Operation]
  ) -> Change {
    Change(
      id: next(by: replica), time: Change.clamped(time),
      predecessors: heads.changes.filter { $0.replica != replica }, isImport: isImport,
      request: request, operations: operations)
  }

  /// The next change of a replica, made of operations on the present state and encoded, and everything ready that it is about; nil if a
  /// sequence that it writes into has no room for one more author. It is not applied yet.
  ///
  /// - Parameters: those of `change(by:at:isImport:request:_:)` and `encode(_:by:)`; and the entries of history that the replica is writing.
  public mutating func encodedChange(
    by replica: ReplicaID, at time: Int64, isImport: Bool = false, request: RequestMark? = nil,
    author: Author? = nil, in entries: inout OpenEntries, _ operations: [Change.Operation]
  ) throws(ArchiveFailure) -> EncodedChange? {
    var change = change(
      by: replica, at: time, isImport: isImport, request: request, operations)
    try open(change)
    guard hasRoom(for: change) else { return nil }
    change.entryStart = try entryStart(of: change, in: &entries)
    return encode(change, by: author)
  }

  /// True if the sequences that a change writes into have room for one more author, if it is one. The change's parts are
  /// open.
  @inline(__always)
  public func hasRoom(for change: Change) -> Bool {
    // Each author of a sequence has made a change: as long as few have, there is room everywhere. A look into a text copies it.
    version.count < ReplicatingArray<UInt8>.maximumAuthors || hasRoomInEach(for: change)
  }

  private func hasRoomInEach(for change: Change) -> Bool {
    change.operations.allSatisfy { operation in
      switch operation {
      case .create, .purge, .redacted: true
      // With room for it, a placement is noted while the order is not open.
      case .place: openedOrder?.hasRoom(for: change.id.replica) ?? true
      case .edit(let id, .text):
        !noteCache.contains(id) || noteCache[existing: id].text.hasRoom(for: change.id.replica)
      case .edit: true
      }
    }
  }

  /// Gets everything ready that a change is about: the notes, the order, what its author did before, the times of what it
  /// follows. Until the next change.
  public mutating func open(_ change: Change) throws(ArchiveFailure) {
    for (index, operation) in change.operations.enumerated() {
      switch operation {
      case .create: break
      case .place(let placement):
        let isOfCreation = index == 1 && change.operations[0] == .create
        let isNoted = try isOfCreation ? canBeNoted(placement, of: change.id) : false
        if !isNoted { try openOrder() }
      case .edit(let id, _), .purge(let id), .redacted(let id, _, _):
        try noteCache.open(id)
      }
    }
    if archive == nil { return }
    try openHistory(of: change.id.replica)
    for predecessor in change.predecessors { try openLamport(of: predecessor) }
    _ = try firstStamp(of: change)
  }

  /// True if the order is not open, and need not be for the placement of a note by the change that creates it. That is prepared then.
  private mutating func canBeNoted(
    _ placement: Placement, of change: ChangeID
  ) throws(ArchiveFailure) -> Bool {
    guard lazyOrder?.isInFront(placement, of: change) == true else { return false }
    let slots = try session(of: change.replica)?.slots ?? 0
    return lazyOrder!.prepare(change.replica, slots: slots)
  }

  /// The operations that make `edits` in the present text of a note, which is open. O(log n) for each.
  ///
  /// Changes nothing but where in the text the next operation is looked for first: there it will be.
  ///
  /// - Parameter last: that of `ReplicatingText.operations(for:in:goingOnFrom:)`.
  public mutating func operations(
    for edits: [Edit<UInt8>], in note: NoteID, goingOnFrom last: ChangeID? = nil
  ) -> [Change.Operation] {
    var operations: [Change.Operation] = []
    // An edit that replaces is two operations: a removal and an insertion.
    operations.reserveCapacity(edits.count * 2)
    noteCache[existing: note].text.forEachOperation(for: edits, goingOnFrom: last) {
      operations.append(.edit(note, .text($0)))
    }
    return operations
  }

  /// Encodes a change that was planned here and is the next of its replica. Its parts are open.
  ///
  /// - Parameter author: who makes it. The change names them if the one before is another's.
  @inline(__always)
  public func encode(_ change: consuming Change, by author: Author? = nil) -> EncodedChange {
    var (mentions, previous) = histories.end(of: change.id.replica)
    change.author = histories.lastAuthor(of: change.id.replica) == author ? nil : author
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
    let hasBase = change.rareKinds.contains(.base)
    var bases = hasBase ? [:] : strayBases(of: change)
    let end = perform(change, stamp, &effects)
    admit(change, encoded: encoded.bytes[...], mentions: encoded.mentions, upTo: end)
    note(withdrawalsIn: change)
    if hasBase {
      // Where the archive can't tell what was seen, nothing counts as seen: then more is looked at than need be.
      for (note, base) in change.bases {
        let known = (try? version(of: base.heads)) ?? nil
        bases[note] = SeenChanges(
          version: known ?? Version(), own: [change.id.number], author: change.id.replica)
      }
    }
    if !bases.isEmpty { note(unaware: change, knowing: version, on: bases) }
    if !withdrawing.isEmpty || !bases.isEmpty { settleMerges(&effects) }
    noteCache.tidy()
    return effects
  }

  /// The same for a change that goes to no log.
  @discardableResult
  public mutating func apply(_ change: Change) throws(ArchiveFailure) -> Effects {
    try open(change)
    return apply(encode(change))
  }

  /// Performs the operations of a change that are all in order; returns the last tick of logical time that it takes. Its
  /// parts are open.
  mutating func perform(_ change: Change, _ first: Stamp, _ effects: inout Effects) -> UInt64 {
    var stamp = first
    let moment = WallTime(logical: first.timestamp, clock: change.time)
    // Looked at where they stand: a copy of an operation has references to count.
    let operations = change.operations.span
    for index in operations.indices {
      perform(operations[index], stamp, at: moment, &effects)
      stamp.lamport += operations[index].ticks
    }
    return max(first.lamport, stamp.lamport - 1)
  }

  /// The first logical time of a change: after that of all its predecessors.
  @inline(__always)
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
  ///
  /// - Parameter past: the change and everything it follows; nil if that is all that is known.
  mutating func admit(
    _ change: Change, encoded: ArraySlice<UInt8>, mentions: ReplicaTable, upTo end: UInt64,
    knowing past: Version? = nil
  ) {
    if histories.place(of: change.id.replica) == nil {
      histories.append(History(id: change.id.replica))
    }
    version.insert(change.id)
    histories[existing: change.id.replica].append(
      change, encoded: encoded, lamport: end, mentions: mentions, knowing: past ?? version)
    lamport = max(lamport, end)
    if change.id.number == 1, version.hasBranch(change.id.replica) {
      newBranches.append(change.id.replica)
    }
    for predecessor in change.predecessors where heads[predecessor.replica] == predecessor.number {
      heads[predecessor.replica] = 0
    }
    heads.insert(change.id)
  }

  /// Performs an operation that is in order. What it is about is open.
  mutating func perform(
    _ operation: Change.Operation, _ stamp: Stamp, at moment: WallTime, _ effects: inout Effects
  ) {
    switch operation {
    case .create:
      let id = NoteID(creation: stamp.change)
      if !noteCache.contains(id) { noteCache.insert(Note(id: id, created: moment.clock)) }
      effects.insert(.created, id)
    case .place(let placement):
      if lazyOrder == nil { order.apply(placement, stamp) }
      lazyOrder?.note(placement, stamp)
      let note = NoteID(creation: placement.element)
      if !isPurged(note) { effects.insert(.position, note) }
    case .edit(let id, let edit):
      if isPurged(id) { break }
      let wasTrashed = noteCache[existing: id].isTrashed
      let effectCount = effects.text.count
      noteCache[existing: id].apply(edit, stamp, at: moment) { effects.insert($0, id) }
      if edit.isOfText, effects.text.count == effectCount { effects.attempt(id) }
      if noteCache[existing: id].isTrashed != wasTrashed { effects.insert(.trashed, id) }
      effects.insert(edit.facets, id)
    case .purge(let id), .redacted(let id, _, _): purge(id, &effects)
    }
  }
}
