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
  /// end of the process; in a group, when that is finished.
  ///
  /// - Parameters:
  ///   - expected: the session that the operations were planned for, if they name it.
  ///   - now: milliseconds since 1970.
  ///   - author: who makes the change; nil for nobody in particular.
  ///   - isImport: whether the change is made from files that a user imports.
  ///   - request: the request for which it is made, if that has a key.
  ///   - announce: called with the change's name before the change is written. No other change ever gets this name. When
  ///     it throws, the change is not made; in a group it must not throw.
  /// - Throws: the error that kept the change from being written, `tooLarge` for one that could not travel. It did not happen then.
  @discardableResult
  public func commit(
    _ operations: [Change.Operation], as expected: ReplicaID? = nil, at now: Int64,
    by author: Author? = nil, isImport: Bool = false, request: RequestMark? = nil,
    announce: (ChangeID) throws(StoreError) -> Void = { _ in }
  ) throws(StoreError) -> Effects {
    let isAlone = own.group == nil
    if isAlone { try beginGroup() }
    // A group that was written, or given up, is none any more.
    defer { if isAlone { abandonGroup() } }
    let change = try plan(
      operations, as: expected, at: now, by: author, isImport: isImport, request: request)
    do { try announce(change.change.id) } catch {
      // Otherwise the next change would have the same name.
      folder.endSession()
      throw error
    }
    own.group!.append(change)
    if isAlone { try writeAlone() }
    return notebook.apply(change)
  }

  /// Plans the next change of the group.
  private func plan(
    _ operations: [Change.Operation], as expected: ReplicaID? = nil, at now: Int64,
    by author: Author?, isImport: Bool, request: RequestMark? = nil
  ) throws(StoreError) -> EncodedChange {
    let group = own.group!
    guard expected == nil || expected == group.session else {
      throw failure(.other, "the session has ended; plan the change anew")
    }
    var isPlanned = false
    // A change that is not made has no entry, and the entries that are open are looked up again.
    defer { if !isPlanned { own.entries = OpenEntries() } }
    let planned = try reading { book throws(ArchiveFailure) in
      try book.encodedChange(
        by: group.session, at: now, isImport: isImport, request: request, author: author,
        in: &own.entries, operations)
    }
    guard let change = planned else {
      throw failure(.tooLarge, "too many replicas have written there")
    }
    guard group.hasRoom(for: change) else {
      let isAlone = group.records.isEmpty
      throw failure(
        .tooLarge, isAlone ? "it takes more than 64 MiB" : "they take more than 64 MiB together")
    }
    isPlanned = true
    return change
  }

  /// Writes a group of one change, which is not applied yet.
  private func writeAlone() throws(StoreError) {
    do { try finishGroup() } catch { throw error.cause }
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
    _ created: [ContentAddressedChange], then operations: () -> [Change.Operation]?, at now: Int64,
    by author: Author? = nil, isImport: Bool = false,
    announce: () throws(StoreError) -> Void = {}
  ) throws(StoreError) -> Effects? {
    if notebook.version.contains(created[0].id) { return nil }
    guard own.group == nil else { throw failure(.other, "it can't be one of a batch") }
    try beginGroup(creating: created)
    defer { abandonGroup() }
    let merged = try reading { book throws(ArchiveFailure) in
      var pending = PendingChanges(ContentAddressedChange.changeSet(of: created))
      let merged = book.drain(&pending)
      if let unreadable = merged.unreadable { throw unreadable }
      return merged
    }
    if let refused = merged.refused.first { throw failure(.tooLarge, refused.reason) }
    guard let operations = operations() else { return nil }
    let change = try plan(operations, at: now, by: author, isImport: isImport)
    do { try announce() } catch {
      // Otherwise the next change would have the same name.
      folder.endSession()
      throw error
    }
    own.group!.append(change)
    try writeAlone()
    var effects = merged.effects.ofThisProcess
    effects.merge(notebook.apply(change))
    // Changes that were read before may have waited for these.
    merging.pending.retry()
    return effects
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
    if let group = own.group { return group.session }
    goOn()
    var session = folder.session()
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
