public import Notes
public import ReplicatingTypes

// Making changes, and merging those of other notebooks.

extension NoteStore {
  /// The operations that make `edits` in the text of a note that exists.
  ///
  /// - Parameters:
  ///   - view: the text that the edits are about; nil for the present text.
  ///   - last: the change with which the edits go on, if they are a part of the same step.
  /// - Throws: `damaged` when the archive that holds the note cannot be read.
  public func operations(
    for edits: [Edit<UInt8>], in note: NoteID, _ view: SequenceView?,
    goingOnFrom last: ChangeID? = nil
  ) throws(StoreError) -> [Change.Operation] {
    guard let view else {
      return try reading { book throws(ArchiveFailure) in
        try book.open(note) ? book.operations(for: edits, in: note, goingOnFrom: last) : []
      }
    }
    return try read(note) { $0.text.operations(for: edits, in: view, goingOnFrom: last) }
      .map { .edit(note, .text($0)) }
  }

  /// The size of the largest set of changes that is merged at once, in bytes: one record of a log.
  public static var largestChangeSet: Int { LogFormat.maximumAppend - LogFormat.maximumOverhead }
  /// The size of the largest change, in bytes: alone in a set it can be merged elsewhere.
  static var largestChange: Int { largestChangeSet - 256 }

  /// Makes one change of operations on the present notebook. When this returns, the change is in the log and survives the
  /// end of the process.
  ///
  /// - Parameters:
  ///   - expected: the session that the operations were planned for, if they name it.
  ///   - now: milliseconds since 1970.
  ///   - author: who makes the change; nil for nobody in particular.
  ///   - isImport: whether the change is made from files that a user imports.
  ///   - request: the request for which it is made, if that has a key.
  ///   - created: changes in the notebook that are written with it, in front of it.
  ///   - announce: called with the change's name before the change is written. No other change ever gets this name. When
  ///     it throws, the change is not made.
  /// - Throws: the error that kept the change from being written, `tooLarge` for one that could not travel. It did not happen then.
  @discardableResult
  public func commit(
    _ operations: [Change.Operation], as expected: ReplicaID? = nil, at now: Int64,
    by author: Author? = nil, isImport: Bool = false, request: RequestMark? = nil,
    following created: ChangeSet = ChangeSet(),
    announce: (ChangeID) throws(StoreError) -> Void = { _ in }
  ) throws(StoreError) -> Effects {
    let session = try nextSession()
    guard expected == nil || expected == session else {
      throw failure(.other, "the session has ended; plan the change anew")
    }
    let planned = try reading { book throws(ArchiveFailure) in
      try book.encodedChange(
        by: session, at: now, isImport: isImport, request: request, author: author,
        in: &own.entries,
        operations)
    }
    var isMade = false
    // A change that was not made has no entry, and the entries that are open are looked up again.
    defer { if !isMade { own.entries = OpenEntries() } }
    guard let encoded = planned else {
      throw failure(.tooLarge, "too many replicas have written there")
    }
    var records = [(type: RecordType.change.rawValue, payload: encoded.bytes)]
    if !created.isEmpty { records.insert(record(created), at: 0) }
    let size = records.reduce(0) { $0 + $1.payload.count }
    guard size <= Self.largestChange else {
      throw failure(.tooLarge, "it takes more than 64 MiB")
    }
    let batching = batching
    guard batching?.hasRoom(for: encoded) ?? true else {
      throw failure(.tooLarge, "they take more than 64 MiB together")
    }
    do {
      try announce(encoded.change.id)
      if batching == nil { try append(records) }
    } catch {
      // Otherwise the next change would have the same name.
      folder.endSession()
      throw error
    }
    isMade = true
    // Those that are gathered are counted together, when they are written.
    if let batching {
      batching.append(encoded)
    } else {
      own.written[session] += 1
      archiving.unkept += size
    }
    return notebook.apply(encoded)
  }

  /// Makes changes that are named by their content, and one of this session that follows them: with one write. When this returns, they are in
  /// the log and survive the end of the process.
  ///
  /// - Parameters:
  ///   - created: at least one; each follows the one before it. Where the notebook knows a change with the name of the first, nothing is done.
  ///   - plan: the operations of the session's change, on the notebook with `created`; nil if nothing is to be done.
  ///   - now: milliseconds since 1970.
  ///   - author: who makes the session's change; nil for nobody in particular.
  ///   - isImport: whether it is made from files that a user imports.
  ///   - announce: called before the changes are written. When it throws, none is made.
  /// - Returns: the effects; nil if nothing was done.
  /// - Throws: the error that kept the changes from being written; none happened then.
  public func commit(
    _ created: [ContentAddressedChange], then plan: () -> [Change.Operation]?, at now: Int64,
    by author: Author? = nil, isImport: Bool = false,
    announce: () throws(StoreError) -> Void = {}
  ) throws(StoreError) -> Effects? {
    if notebook.version.contains(created[0].id) { return nil }
    guard batching == nil else { throw failure(.other, "it can't be one of a batch") }
    var isMade = false
    defer { if !isMade { takeOut(created) } }
    let changes = ContentAddressedChange.changeSet(of: created)
    let merged = try reading { book throws(ArchiveFailure) in
      var pending = PendingChanges(changes)
      let merged = book.drain(&pending)
      if let unreadable = merged.unreadable { throw unreadable }
      return merged
    }
    if let refused = merged.refused.first { throw failure(.tooLarge, refused.reason) }
    guard let operations = plan() else { return nil }
    var effects = merged.effects.ofThisProcess
    effects.merge(
      try commit(
        operations, at: now, by: author, isImport: isImport, following: changes
      ) { _ throws(StoreError) in try announce() })
    isMade = true
    // Changes that were read before may have waited for these.
    merging.pending.retry()
    return effects
  }

  /// Takes changes that are not written out of the notebook. Nothing follows them.
  private func takeOut(_ changes: [ContentAddressedChange]) {
    for change in changes.reversed() where notebook.version.contains(change.id) {
      func book() -> NoteBook? { try? notebook.without(changesOf: change.id.replica, after: 0) }
      guard let before = book() ?? (giveUpArchive() ? book() : nil) else {
        // Neither the archive nor the folder can be read. So the change stays, and is written from memory when that can be done.
        folder.needsRepublish = true
        return
      }
      notebook = before
      // The archive that is being written is one of the notebook that was left.
      archiving.writing = nil
    }
  }

  /// Ends the entry of history that our session is writing about a note: the next change begins another.
  public func endEntry(of note: NoteID) { own.entries.end(note) }

  private func failure(_ reason: StoreError.Reason, _ detail: String) -> StoreError {
    StoreError(operation: "change", path: path, reason: reason, detail: detail)
  }

  /// The session of the next change. Changes that are missing are written again first, and doubtful ones unless the disk has
  /// refused them twice. Ask before each change: after a failure it is another session.
  ///
  /// - Throws: the error that keeps these changes from being written again.
  public func nextSession() throws(StoreError) -> ReplicaID {
    if let batching { return batching.session }
    return try nextSession(isLooking: true)
  }

  /// - Parameter isLooking: whether to look now that the open segment is in its place; else the write does it.
  func nextSession(isLooking: Bool) throws(StoreError) -> ReplicaID {
    goOn()
    var session = folder.session(isLooking: isLooking)
    if isInDoubt, !republishing.isDiskFailing || folder.needsRepublish {
      try republish()
      session = folder.session()
    }
    // The number of a change is not in its record, it follows from the records before it. If another process has appended to
    // our session (a copy of this one, or a forgery), the numbers of our changes would be wrong from then on.
    if notebook.version[session] != own.written[session] {
      folder.endSession()
      session = folder.session()
    }
    return session
  }

  /// Begins a turn: the requests of one read are carried out, without waiting for anything. One look whether our open segment is still in
  /// its place is enough then; see `LogFolder.session()`.
  public func beginTurn() { folder.beginTurn() }

  /// Ends the turn.
  public func endTurn() { folder.endTurn() }

  /// Notes that something was done in the turn that may have taken a while: another look is needed before the next change.
  public func requireLook() { folder.requireLook() }

  /// Goes on with the session that another process has left, if all of it is known here, and nothing else.
  private func goOn() {
    guard let offer = folder.writer.offer, folder.writer.session == nil else { return }
    let isKnown =
      folder.reader.head(of: offer.session) == offer.end
      && notebook.version[offer.session] == offer.changes
      && counts[offer.session] == offer.changes
    guard let session = folder.writer.acceptOffer()?.session, isKnown, !isInDoubt else {
      return folder.endSession()
    }
    own.written[session] = offer.changes
  }

  // MARK: - Changes of others

  /// The reason why changes were not merged.
  public enum MergeError: Error {
    /// The bytes are no change set.
    case undecodable(DecodingFailure)
    /// They belong to another notebook.
    case foreign(Identifier)
    /// The notebook refuses one of the changes.
    case refused(MergeRefusal)
    /// The changes are valid and could not be written.
    case notKept(StoreError)
  }

  /// Merges an encoded `ChangeSet`: all of it, or nothing. A notebook without an identity takes over that of the notebook
  /// that the changes come from. Writes only changes that were not known.
  ///
  /// - Parameter isAdopting: whether changes of another notebook make that one and this one the same, from now on.
  /// - Returns: what has happened here, and the version of who knows the changes of the set.
  public func merge(
    _ encoded: [UInt8], adopting isAdopting: Bool = false
  ) throws(MergeError) -> (effects: Effects, version: Version) {
    let decoded: (notebook: Identifier, changes: ChangeSet)
    do { decoded = try ChangeSet.decode(encoded) } catch { throw .undecodable(error) }
    return (try merge(decoded, adopting: isAdopting), decoded.changes.version)
  }

  private func merge(
    _ decoded: (notebook: Identifier, changes: ChangeSet), adopting isAdopting: Bool
  ) throws(MergeError) -> Effects {
    if decoded.changes.isEmpty { return Effects() }
    folder.requireLook()
    let isForeign = identity != nil && !folder.isOurs(decoded.notebook)
    if isForeign, !isAdopting { throw .foreign(decoded.notebook) }
    var (merged, effects) = (notebook, Effects())
    do { effects = try merged.merge(foreign: decoded.changes) } catch {
      guard case .unreadable = error, giveUpArchive() else { throw .refused(error) }
      merged = notebook
      do { effects = try merged.merge(foreign: decoded.changes) } catch { throw .refused(error) }
    }
    do { if isForeign { try adopt(decoded.notebook) } } catch { throw .notKept(error) }
    guard merged.version != notebook.version else { return Effects() }
    let new: ChangeSet
    do { new = try merged.changes(since: notebook.version, limit: .max).changes } catch {
      throw .refused(.unreadable(error))
    }
    do {
      folder.adopt(notebook: decoded.notebook)
      _ = try nextSession()
      try append(new)
    } catch { throw .notKept(error) }
    notebook = merged
    var all = effects
    // Changes that were read before may have waited for these. Where others are being merged, these come with them.
    let wasMerging = isMerging
    merging.pending.retry()
    if !wasMerging { all.merge(drainPending().effects) }
    return all
  }

  /// Makes the identity of another notebook one of this notebook's, for good: from then on changes of both are merged here.
  ///
  /// - Throws: the disk's error; then nothing has changed.
  public func adopt(_ identity: Identifier) throws(StoreError) { try folder.root.join(identity) }
}
