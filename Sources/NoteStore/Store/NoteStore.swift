public import Notes
public import ReplicatingTypes

/// A notebook and the folder it lives in.
///
/// The folder holds the logs of all sessions; the notebook is the result of merging them. All changes that are read, of our
/// own past, of other processes and of other machines, go the same way: record, pending, merge. A change of our own is
/// planned on the notebook, appended to our log, and only then applied: a change that could not be written was not made.
///
///     let store = try NoteStore(path: path, makeIdentifier: makeIdentifier)
///     let id = NoteID(creation: store.notebook.next(by: try store.nextSession()))
///     try store.commit([.create, .place(store.notebook.placement(of: id, at: 0))], at: now)
///
/// This file holds the state and the steps that all features share. Each feature is a file above it, bottom up:
/// `+Merging`, `+Snapshots`, `+Refresh`, `+Known`, `+Gaps`, `+Republish`, `+Slices`, `+Reading`, `+Changes`, `+Batch`, `+Burst`, `+Completion`, `+Durability`, `+Compaction`,
/// `+Archive`, `+Work`, `+Repair`; `+Opening` ties them together.
public final class NoteStore {
  var folder: LogFolder
  /// The notes, as far as the folder was read. Changed by `commit`, `merge` and the calls that read the folder.
  public internal(set) var notebook = NoteBook()
  var merging = Merging()
  /// The number of changes that were read from the log of each session.
  var counts: [ReplicaID: UInt64] = [:]
  var own = OwnChanges()
  /// The changes of each replica, without gaps, that files of others hold: all later ones stand in our files only.
  var elsewhere = Version()
  var republishing = Republishing()
  var archiving: Archiving
  var snapshots = SnapshotCatalog()
  /// The compaction that was begun and is not done.
  var compaction: Compaction?
  var completing: Completing
  /// The number of the notebook's new branches that were looked at, whether the user is to be told of them.
  private var seenBranches = 0
  /// Reports about changes that were read and could not be merged.
  private(set) var refusals: [LogFolder.Damage] = []
  /// The bytes of the largest append that was refused lately; nil if the last one was accepted.
  private var refusedSize: Int?

  /// A store that has read nothing yet.
  ///
  /// - Parameters:
  ///   - state: the folder for the state of this user's programs; nil for none.
  ///   - keys: what notes are found by in archives, beside their words and tags.
  init(_ folder: consuming LogFolder, state: String?, keys: NoteKeys = .none) {
    self.folder = folder
    archiving = Archiving(state: state, keys: keys)
    completing = Completing(isDue: state != nil)
  }

  /// The notebook's folder, as given when it was opened.
  public var path: String { folder.path }

  /// The one path that leads to the folder without links; nil as long as there is no such folder.
  public var resolvedPath: String? { folder.root.system.resolved(path) }

  /// The notebook's identity; `nil` as long as nothing was written and none was taken over.
  public var identity: Identifier? { folder.notebook }

  /// True if `identity` is one of this notebook's: it has several where notebooks became one.
  public func isOurs(_ identity: Identifier) -> Bool { folder.isOurs(identity) }

  /// The folder for this notebook's archive, journals and presence; nil where there is none.
  var stateFolder: StateFolder? {
    guard let state = archiving.state, let identity else { return nil }
    return StateFolder(
      state, notebook: identity, at: path, on: folder.root.system, closer: folder.disk.queue)
  }

  // MARK: - Merging

  /// True if there is something to be read and merged at once: what others have written and is noticed here.
  public var isMerging: Bool {
    merging.unread != nil || merging.pending.isReady || snapshots.isReadingLittle
  }

  /// The work that merging has taken since the notebook was opened, in the units of `NoteBook.Merged`.
  public var mergedWork: Int { merging.work }

  // MARK: - Refusals

  /// The error with which every change would be refused at present, since this user may not write in the folder; nil if they may.
  public var writeRefusal: StoreError? { folder.root.refusal }

  /// The branches that have come since the archive was written, or since the last call.
  func takeNewBranches() -> ArraySlice<ReplicaID> {
    let new = notebook.newBranches.dropFirst(seenBranches)
    seenBranches += new.count
    return new
  }

  /// Throws the error of a file that could not be read because too little was there to read any.
  func checkExhaustion() throws(StoreError) {
    if let error = folder.damageList.exhaustion { throw error }
  }

  /// Reports changes that cannot be merged. At most 1,000: a report for each record could take as much memory as the
  /// records.
  ///
  /// Those of a later version stay in the files in which they came, and while there is a report no archive says that these were read: a later
  /// version of this program reads them again.
  func refuse(_ description: String, isOfLaterVersion: Bool = false) {
    guard refusals.count < 1000 else { return }
    refusals.append(
      LogFolder.Damage(
        path: path, offset: 0,
        description: description
          + (isOfLaterVersion ? ". A later version of this program has written it" : ""),
        cause: isOfLaterVersion ? .newer : .refused))
  }

  func unreadable(_ failure: ArchiveFailure) -> StoreError {
    StoreError(operation: "read", path: path, reason: .damaged, detail: failure.reason)
  }

  // MARK: - Appending

  func append(_ changes: ChangeSet) throws(StoreError) {
    try append([record(changes)])
  }

  /// The record of changes that have their names in it.
  func record(_ changes: ChangeSet) -> (type: UInt8, payload: [UInt8]) {
    let notebook = folder.notebook ?? Identifier(high: 0, low: 0)
    return (RecordType.changes.rawValue, changes.encoded(of: notebook))
  }

  func append(_ type: RecordType, _ payload: [UInt8]) throws(StoreError) {
    try append([(type.rawValue, payload)])
  }

  /// Appends records with one write.
  func append(_ records: [(type: UInt8, payload: [UInt8])]) throws(StoreError) {
    do {
      try folder.append(records)
      refusedSize = nil
    } catch {
      let size = records.reduce(0) { $0 + $1.payload.count }
      if error.reason != .tooLarge { refusedSize = max(refusedSize ?? 0, size) }
      throw error
    }
  }

  /// True if the last change could not be written.
  public var isRefused: Bool { refusedSize != nil }

  /// Finds out whether the change that was refused could be written now; updates `isRefused`.
  public func tryAgain() {
    // 16 KiB more, for a folder, a header and a record around it.
    if let refusedSize, folder.canWrite(refusedSize + 16_384) { self.refusedSize = nil }
  }
}

extension NoteStore {
  /// Opens a folder and reads what is in it. Writes nothing; a folder that doesn't exist is an empty notebook.
  ///
  /// - Parameters:
  ///   - path: the notebook's folder. Made absolute by the caller if the working directory can change.
  ///   - state: the folder for the state of this user's programs. With it, what was known before is not read again, and
  ///     notes are read when they are asked for.
  ///   - memory: a folder of this user in memory. With it, the store goes on with the session of a process that has ended, and leaves its
  ///     own to another one: for a process of one request.
  ///   - isWatching: whether to watch the folder from the beginning. It takes a system call for each session's folder; a
  ///     process with one request needs none.
  ///   - keys: what notes are to be found by in an archive, beside their words and tags.
  ///   - makeIdentifier: 128 random bits.
  /// - Throws: `newerFormat`, `damaged`, or the system's error, also where the process has too few descriptors or too little memory to read
  ///   all files; nothing was changed. Files that can't be read for another reason are left out: see `gaps`.
  public convenience init(
    path: String, state: String? = nil, memory: String? = nil, isWatching: Bool = true,
    keys: NoteKeys = .none, makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    try self.init(
      path: path, state: state, memory: memory, isWatching: isWatching, keys: keys,
      on: SystemFiles.shared, makeIdentifier: makeIdentifier)
  }

  convenience init(
    path: String, state: String? = nil, memory: String? = nil, isWatching: Bool = true,
    keys: NoteKeys = .none, mostEndedCompared: Int = 1_000,
    on system: any FileSystem, makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    let folder = try LogFolder(
      path: path, state: state, memory: memory, on: system, makeIdentifier: makeIdentifier)
    self.init(folder, state: state, keys: keys)
    self.folder.completeFolders.mostEndedCompared = mostEndedCompared
    self.folder.writer.takeOffer()
    resume()
    resumeKnown()
    if isWatching { _ = self.folder.watchDescriptor }
    readAll()
    try checkExhaustion()
    archiving.noteOpened()
  }
}
