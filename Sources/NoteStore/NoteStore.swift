public import Notes
public import ReplicatingTypes

/// A notebook and the folder it lives in.
///
/// The folder holds the logs of all sessions; the notebook is what they amount to. Whatever is read, our own past, another
/// process's present, another machine's changes, goes the same way: record, pending, merge. A change of our own is planned
/// on the notebook, appended to our log, and only then applied: what could not be kept has not happened.
///
///     let store = try NoteStore(path: path, makeIdentifier: makeIdentifier)
///     let id = NoteID(creation: store.notebook.next(by: try store.nextSession()))
///     try store.commit([.create, .place(store.notebook.placement(of: id, at: 0))], at: now)
public final class NoteStore {
  /// What a record of a log holds.
  enum RecordType: UInt8 {
    /// The next change of the session that the log is of.
    case change = 1
    /// Changes of any replicas, as a `ChangeSet`.
    case changes = 2
  }

  var folder: LogFolder
  public internal(set) var notebook = NoteBook()
  /// Read, but following something that was not read yet.
  var pending = PendingChanges()
  /// How many changes were read from the log of each session.
  var counts: [ReplicaID: UInt64] = [:]
  /// How many changes this process wrote in each of its sessions.
  var written: [ReplicaID: UInt64] = [:]
  /// What files of others hold, of each replica without gaps: all else stands in our files only.
  var elsewhere = Version()
  /// What the folder does not hold any more, while that is so.
  private var lack: Lack?
  /// What waited for others when the folder was found to lack something, and how much was known of it then: it may be what the
  /// folder lacks.
  private var waitedInDoubt: [(replica: ReplicaID, number: UInt64)] = []
  /// The disk refused a second copy of what it had refused before.
  private var isDiskFailing = false
  /// Why it could not be written again.
  private var republishFailure: StoreError?
  /// How many bytes could not be written lately; nil if the last change was.
  private var refusedSize: Int?
  /// What was read and could not be taken.
  private(set) var refusals: [LogFolder.Damage] = []
  /// What is kept of the notebook between two runs, beside the folder.
  var archiving: Archiving
  var snapshots = Snapshots()
  /// What is being folded.
  var compaction: Compaction?

  /// Opens a folder and reads what is in it. Writes nothing; a folder that doesn't exist is an empty notebook.
  ///
  /// - Parameters:
  ///   - state: the folder for the state of this user's programs. With it, what was known before is not read again, and
  ///     notes are read when they are asked for.
  ///   - isWatching: whether the system is to tell of changes from the beginning. It takes a call for each folder; a process with one
  ///     request needs none.
  ///   - makeIdentifier: 128 random bits.
  /// - Throws: `newerFormat`, `damaged`, or what the system says; nothing was touched.
  public convenience init(
    path: String, state: String? = nil, isWatching: Bool = true,
    makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    try self.init(
      path: path, state: state, isWatching: isWatching, on: SystemFiles.shared,
      makeIdentifier: makeIdentifier)
  }

  init(
    path: String, state: String? = nil, isWatching: Bool = true, mostEndedLookedAt: Int = 1_000,
    on system: any FileSystem, makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    folder = try LogFolder(path: path, on: system, makeIdentifier: makeIdentifier)
    folder.mostEndedLookedAt = mostEndedLookedAt
    archiving = Archiving(state: state)
    resume()
    if isWatching { _ = folder.watchDescriptor }
    readAll()
  }

  /// What a process would find that opened the folder now, knew nothing from before, and found no files of `ignored`.
  private init(
    reading path: String, without ignored: Set<ReplicaID>, on system: any FileSystem
  ) throws(StoreError) {
    folder = try LogFolder(path: path, on: system) { Identifier(high: 0, low: 0) }
    folder.ignored = ignored
    archiving = Archiving(state: nil)
    readAll()
  }

  public var path: String { folder.path }

  /// The notebook's identity; `nil` as long as nothing was written and none was taken over.
  public var identity: Identifier? { folder.notebook }

  /// What could not be read, with file, offset and what was kept; and what waits for something that is not here.
  public var damage: [LogFolder.Damage] {
    folder.damage + refusals + [waiting].compactMap { $0 }
  }

  /// What waits for something that is not here. With several processes in a folder that may be so for a moment, when one file was
  /// read and another not yet.
  public var waiting: LogFolder.Damage? {
    if pending.isEmpty { return nil }
    let description =
      "changes of \(pending.replicas.count) replicas wait for others that are missing"
    return LogFolder.Damage(path: path, offset: 0, description: description)
  }

  // MARK: - Notes

  /// A copy of a note, if there is one.
  public func note(_ id: NoteID) throws(StoreError) -> Note? {
    try reading { book throws(ArchiveFailure) in try book.open(id) ? book.note(id) : nil }
  }

  /// Looks at a note that there is, without copying it.
  public func read<Result>(
    _ id: NoteID, _ body: (borrowing Note) -> Result
  ) throws(StoreError) -> Result {
    try reading { book throws(ArchiveFailure) in
      let isHere = try book.open(id)
      precondition(isHere, "a note that is not here")
    }
    return notebook.read(id, body)
  }

  /// Gets the notes' order ready, for lists and places.
  public func openOrder() throws(StoreError) {
    try reading { book throws(ArchiveFailure) in try book.openOrder() }
  }

  /// Looks something up that may not be in memory.
  private func reading<Result>(
    _ body: (inout NoteBook) throws(ArchiveFailure) -> Result
  ) throws(StoreError) -> Result {
    do { return try body(&notebook) } catch { throw unreadable(error) }
  }

  private func unreadable(_ failure: ArchiveFailure) -> StoreError {
    StoreError(operation: "read", path: path, reason: .damaged, detail: failure.reason)
  }

  // MARK: - Our own changes

  /// The operations that make `edits` in the text of a note, which is here: the present text, or that of `view`.
  public func operations(
    for edits: [Edit<UInt8>], in note: NoteID, _ view: SequenceView?
  ) throws(StoreError) -> [Change.Operation] {
    guard let view else {
      return try reading { book throws(ArchiveFailure) in
        try book.open(note) ? book.operations(for: edits, in: note) : []
      }
    }
    return try read(note) { $0.text.operations(for: edits, in: view) }
      .map { .edit(note, .text($0)) }
  }

  /// Makes one change of operations on the present notebook. When this returns, the change is in the log and survives the
  /// end of the process.
  ///
  /// - Parameters:
  ///   - expected: the session that the operations were planned for, if they name it.
  ///   - now: milliseconds since 1970.
  ///   - announce: is told the change's name before it is written. It never becomes the name of another one. When it throws,
  ///     the change is not made.
  /// - Throws: what kept the change from being written. It did not happen then.
  @discardableResult
  public func commit(
    _ operations: [Change.Operation], as expected: ReplicaID? = nil, at now: Int64,
    announce: (ChangeID) throws(StoreError) -> Void = { _ in }
  ) throws(StoreError) -> Effects {
    let session = try nextSession()
    guard expected == nil || expected == session else {
      throw failure(.other, "the session has ended; plan the change anew")
    }
    let change = notebook.change(by: session, at: now, operations)
    try reading { book throws(ArchiveFailure) in try book.open(change) }
    guard notebook.hasRoom(for: change) else {
      throw failure(.tooLarge, "too many replicas have written there")
    }
    let encoded = notebook.encode(change)
    do {
      try announce(change.id)
      try append(.change, encoded.bytes)
    } catch {
      // The next change of this session would have the same name.
      folder.endSession()
      throw error
    }
    written[session, default: 0] += 1
    archiving.unkept += encoded.bytes.count
    return notebook.apply(encoded)
  }

  private func failure(_ reason: StoreError.Reason, _ detail: String) -> StoreError {
    StoreError(operation: "change", path: path, reason: reason, detail: detail)
  }

  /// The session whose change comes next, with nothing in doubt. Ask for each change anew: it is another one after a
  /// failure.
  public func nextSession() throws(StoreError) -> ReplicaID {
    var session = folder.session()
    if isInDoubt, !isDiskFailing || folder.isLacking {
      try settleDoubt()
      session = folder.session()
    }
    // A record doesn't say its number, its place does. If somebody else has gone on in our name (a copy of this process,
    // or a forgery), that would be wrong from now on.
    if notebook.version[session] != written[session] ?? 0 {
      folder.endSession()
      session = folder.session()
    }
    return session
  }

  // MARK: - Changes of others

  public enum MergeError: Error {
    case undecodable(DecodingFailure)
    /// They belong to another notebook.
    case foreign(Identifier)
    case refused(MergeRefusal)
    /// They are in order and could not be written.
    case notKept(StoreError)
  }

  /// Merges an encoded `ChangeSet`: all of it, or nothing. A notebook that is nothing yet takes over the identity of the
  /// one the changes come from. Writes only what was not known.
  ///
  /// - Parameter isAdopting: whether changes of another notebook make that one and this one the same, from now on.
  public func merge(
    _ encoded: [UInt8], adopting isAdopting: Bool = false
  ) throws(MergeError) -> Effects {
    let decoded: (notebook: Identifier, changes: ChangeSet)
    do { decoded = try ChangeSet.decode(encoded) } catch { throw .undecodable(error) }
    if decoded.changes.isEmpty { return Effects() }
    let isForeign = identity != nil && !folder.isOurs(decoded.notebook)
    if isForeign, !isAdopting { throw .foreign(decoded.notebook) }
    var merged = notebook
    let effects: Effects
    do { effects = try merged.merge(foreign: decoded.changes) } catch { throw .refused(error) }
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
    // What was read before may have waited for just this.
    all.merge(drainPending())
    return all
  }

  /// Whether `identity` is one of this notebook's: it has several where notebooks became one.
  public func isOurs(_ identity: Identifier) -> Bool { folder.isOurs(identity) }

  /// Makes the identity of another notebook one of this notebook's, for good: from now on both are one, which has the changes of
  /// both as they come.
  ///
  /// - Throws: what the disk says; then nothing has changed.
  public func adopt(_ identity: Identifier) throws(StoreError) { try folder.join(identity) }

  /// Takes what other processes have written since the last call.
  public func refresh() -> Effects {
    _ = folder.drainWatch()
    return read(.noticed)
  }

  /// The same, if the system tells of anything; nil if not. That takes one call of the system. Without a watcher it is always nil.
  public func refreshIfNoticed() -> Effects? {
    guard folder.usableWatcher != nil, folder.drainWatch() else { return nil }
    return read(.noticed)
  }

  /// The same, looking at every file, our own too: for now and then, because watching is a hint. What the folder lacks is
  /// written again only now, or with the next change: not into the midst of what somebody is doing to it.
  public func rescan() -> Effects {
    let effects = read(.everything)
    republish()
    return effects
  }

  func read(_ scope: LogFolder.Scope) -> Effects {
    var effects = Effects()
    if folder.looksEverywhere(scope) || folder.watches.isSnapshotNoticed {
      findSnapshots()
      // What is small is read at once; the rest when there is time.
      while snapshots.isReadingLittle { effects.merge(readSnapshots()) }
    }
    effects.merge(merge(folder.readNew(scope)))
    // What is new may be what a snapshot goes on behind, and files behind that.
    while coverWaiting() { effects.merge(merge(folder.readNew(.noticed))) }
    // What an archive would spare the next run.
    archiving.unkept += folder.outdated << 8
    folder.outdated = 0
    return effects
  }

  /// Reads everything there is. For the beginning.
  private func readAll() {
    findSnapshots()
    while snapshots.reading != nil { _ = readSnapshots() }
    _ = read(.everything)
  }

  /// Takes what was read, and merges whatever can be.
  func merge(_ records: [LogFolder.Record]) -> Effects {
    for record in records { take(record) }
    return mergePending()
  }

  /// Merges whatever can be of what was taken.
  func mergePending() -> Effects {
    // Only of these can anything be new: what a keystroke elsewhere costs must not grow with the sessions there ever were.
    let waiting = pending.replicas.map { ($0, number: notebook.version[$0]) }
    let effects = drainPending()
    for (replica, number) in waiting
    where notebook.version[replica] > number && elsewhere[replica] == number {
      elsewhere[replica] = notebook.version[replica]
    }
    return effects
  }

  private func drainPending() -> Effects {
    if pending.isEmpty { return Effects() }
    let (effects, refused, unreadable) = notebook.drain(&pending)
    if let unreadable { report("changes wait for what can't be read: \(unreadable.reason)") }
    let waited = waitedInDoubt.count
    waitedInDoubt.removeAll { notebook.version[$0.replica] > $0.number }
    if waitedInDoubt.count < waited { folder.isLacking = true }
    for (change, reason) in refused {
      report("change \(change.number) of \(change.replica) is left out: \(reason)")
    }
    return effects
  }

  /// A damage for each record could be as much as the records themselves.
  private func report(_ description: String) {
    guard refusals.count < 1000 else { return }
    refusals.append(LogFolder.Damage(path: path, offset: 0, description: description))
  }

  private func take(_ record: LogFolder.Record) {
    archiving.unkept += record.payload.count
    switch RecordType(rawValue: record.type) {
    case .change:
      // Of a session of our own that was given up, only what is not applied already comes back to us.
      let applied = written[record.session] ?? 0
      counts[record.session, default: applied] += 1
      let change = ChangeID(replica: record.session, number: counts[record.session]!)
      if !notebook.version.contains(change) { pending.insert(change, record.payload) }
    case .changes:
      do { pending.insert(try ChangeSet.decode(record.payload).changes) } catch {
        refuse(record, error.reason)
      }
    case nil: refuse(record, "its type, \(record.type), is of a later version")
    }
  }

  private func refuse(_ record: LogFolder.Record, _ reason: String) {
    report("record \(record.number) of session \(record.session) is left out: \(reason)")
  }

  private func append(_ changes: ChangeSet) throws(StoreError) {
    let encoded = changes.encoded(of: folder.notebook ?? Identifier(high: 0, low: 0))
    try append(.changes, encoded)
  }

  private func append(_ type: RecordType, _ payload: [UInt8]) throws(StoreError) {
    do {
      try folder.append([(type.rawValue, payload)])
      refusedSize = nil
    } catch {
      if error.reason != .tooLarge { refusedSize = max(refusedSize ?? 0, payload.count) }
      throw error
    }
  }

  // MARK: - The disk

  /// Whether everything answered is on disk for good.
  public var isDurable: Bool { progress.durable == progress.appended }

  /// How many records were written, and how many of them are on disk for good.
  public var progress: (appended: UInt64, durable: UInt64) {
    (folder.appended, lack == nil ? folder.durable : 0)
  }

  /// Why something written may not be on disk, and could not be written again.
  public var doubt: StoreError? {
    if lack != nil { return republishFailure }
    return folder.doubtful == nil ? nil : folder.doubtCause
  }

  /// Asks for everything to be put on disk; `wakeDescriptor` tells when it was.
  ///
  /// - Parameter isRetry: whether to write once more what the disk has refused twice. Not with each change: each copy holds all
  ///   that is in doubt.
  public func requestSync(isRetry: Bool = false) {
    if isRetry || !isDiskFailing || folder.isLacking { republish() }
    folder.requestSync()
  }

  /// Waits until everything is on disk for good.
  public func sync() throws(StoreError) {
    republish()
    do { try folder.sync() } catch {
      // Never again where it failed; but written once more, elsewhere, it may get there.
      try settleDoubt()
      try folder.sync()
    }
    if let doubt { throw doubt }
  }

  /// Whether the last change could not be written.
  public var isRefused: Bool { refusedSize != nil }

  /// Finds out whether what was refused could be written now.
  public func tryAgain() {
    // With a folder, a header and a record around it.
    if let refusedSize, folder.canWrite(refusedSize + 16_384) { self.refusedSize = nil }
  }

  /// Completes our file if it is time, without waiting; what was written since the last call counts as written now.
  /// Returns when to call it again at the latest, if nothing is written until then.
  public func sealIfDue(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    folder.sealIfDue(at: now)
  }

  /// Completes our file and waits until everything is on disk for good: for the end of the process.
  public func end() throws(StoreError) {
    republish()
    folder.finishSession()
    try sync()
  }

  /// Readable when data reached the disk: then call `takeSyncResult`.
  public var wakeDescriptor: Int32 { folder.wakeDescriptor }

  /// Whether files may change without our hearing of it: then call `rescan` about every second.
  public var mustPoll: Bool { folder.mustPoll }

  /// Readable when files changed: then call `refresh`. `nil` where there is no watching.
  public var watchDescriptor: Int32? { folder.watchDescriptor }

  /// Learns what the disk did; returns what it could not do, once.
  public func takeSyncResult() -> StoreError? {
    let isSecond = folder.isRecovering
    let successes = folder.successes
    do {
      try folder.drainWakeUps()
      if isDurable || folder.successes > successes {
        let isBack = isDiskFailing
        isDiskFailing = false
        // It takes something again: now all that it has refused.
        if isBack, isInDoubt { requestSync() }
      }
      return nil
    } catch {
      // A second copy may get there. If that has failed too, another at once would only fill the disk.
      isDiskFailing = isDiskFailing || isSecond
      if !isDiskFailing { republish() }
      return error
    }
  }

  /// Looks after our own file, and writes again what the folder may have lost. If that fails, the next change tries again.
  private func republish() {
    // Who has not written and misses nothing does not write now.
    guard folder.appended > 0 || folder.isLacking || lack != nil else { return }
    _ = folder.session()
    do {
      try settleDoubt()
      republishFailure = nil
    } catch { republishFailure = error }
  }

  /// Whether something may have to be written again.
  var isInDoubt: Bool { folder.doubtful != nil || folder.isLacking || lack != nil }

  /// Writes once more, under its original names, what the folder lacks, and what may not be there after all.
  private func settleDoubt() throws(StoreError) {
    if folder.isLacking,
      let found = try? NoteStore(reading: path, without: folder.unreliable, on: folder.system)
    {
      folder.isLacking = false
      elsewhere = elsewhere.intersection(found.notebook.version)
      lack = Lack(of: found, than: self)
      folder.expect(found.folder.reaches(), in: found.folder.files)
      waitedInDoubt = pending.replicas.map { ($0, notebook.version[$0]) }
    }
    if let lack {
      try publish(lack)
      for replica in lack.replicas { elsewhere[replica] = notebook.version[replica] }
      self.lack = nil
    }
    guard folder.doubtful != nil else { return }
    // What is in doubt can be read, so far: only what others wrote counts.
    var known = elsewhere
    var isMore = true
    while isMore {
      let piece: ChangeSet
      do {
        (piece, known, isMore) = try notebook.changes(since: known, limit: 16 << 20)
      } catch { throw unreadable(error) }
      if !piece.isEmpty { try append(piece) }
    }
    folder.settleDoubt()
  }
}
