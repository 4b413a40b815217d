internal import ReplicatingTypes

/// The folder of a notebook, as far as its logs go: one segment to append to, and the files of all sessions to read.
///
///     var folder = try LogFolder(path: path, makeIdentifier: makeIdentifier)
///     for record in folder.readNew() { … }
///     let session = folder.session()  // goes into the change that is encoded next
///     try folder.append([(type: 1, payload: bytes)])
///     folder.requestSync()
///
/// A record is in the folder when `append` returns: other processes see it and a kill does not take it
/// back. It is on disk for good when `durable` has passed it.
///
/// Absence means nothing: a file that vanishes or shrinks takes back no record that was handed out.
/// No file that was found is ever changed here, and only `SessionCompletion` removes one.
///
/// Other modules see nothing of it but the name `Damage`.
///
/// One owner, one thread. A second thread exists from the first `requestSync` or `sync` on; it only
/// waits for the disk.
///
/// The folder is a façade: each part owns its state, and notices of one part for another pass through here.
///
///     root             path, identities, `decent.json`
///     writer           the session and the open segment
///     reader           files and sessions, as far as they were read
///     completeFolders  folders that need not be listed again
///     coverage         the records that snapshots stand for
///     ledger           the records and files that the folder must hold
///     disk             synchronization, and the records that are on disk
///     watch            events about changes of others
///
/// This file holds the parts and the end of a session, which all other files need. The other files are, bottom up:
/// `+Sync` (the disk), `+Append` (writing), `+Missing` (the ledger), `+Read` (reading), `+Bookmark`.
public struct LogFolder: ~Copyable {
  /// A file that could not be read to its end.
  public typealias Damage = FileDamage

  let root: NotebookRoot
  let coverage: SnapshotCoverage
  let damageList = DamageList()
  var writer: SegmentWriter
  var reader: LogReader
  var completeFolders = CompleteFolders()
  var ledger = FolderLedger()
  var disk: SyncState
  var watch: FolderWatch

  /// Opens a notebook for reading. Writes nothing and creates nothing; a folder that does not exist is
  /// an empty notebook.
  ///
  /// - Parameters:
  ///   - path: the notebook's folder. Made absolute by the caller if the working directory can change.
  ///   - state: the folder for the state of this user's programs; nil for none.
  ///   - memory: the folder in memory through which processes hand their sessions over; nil for none.
  ///   - makeIdentifier: 128 random bits; a new session or notebook takes its identity from here.
  /// - Throws: `newerFormat` when a later version of the program wrote the folder; `damaged` when
  ///   `decent.json` is not what it should be; or the system's error.
  init(
    path: String, state: String? = nil, memory: String? = nil,
    on system: any FileSystem = SystemFiles.shared,
    makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    let root = try NotebookRoot(path: path, on: system, makeIdentifier: makeIdentifier)
    let queue = try system.makeSyncQueue(path: root.path)
    self.root = root
    coverage = SnapshotCoverage(root)
    writer = SegmentWriter(
      root, SessionLocks(root, state: state), SessionTransfers(root, memory: memory))
    reader = LogReader(root, damageList, coverage)
    disk = SyncState(root, queue)
    watch = FolderWatch(root)
  }

  deinit {
    // The queue has to end before the descriptors are closed that it may be working on.
    disk.queue.finish()
  }

  /// The folder's path, as given, without slashes at the end.
  var path: String { root.path }

  /// The notebook's identity; nil for a new notebook.
  ///
  /// A notebook has several identities when several machines wrote to its folder before they met. The smallest one
  /// names the notebook on every machine.
  var notebook: Identifier? { root.notebook }

  /// True if `identity` is one of this notebook's.
  func isOurs(_ identity: Identifier) -> Bool { root.isOurs(identity) }

  /// Takes over the identity of a notebook elsewhere, for a folder that has none. It is written with the
  /// first append; if another process was first then, its identity counts.
  ///
  /// Does nothing when `notebook` is not nil.
  mutating func adopt(notebook: Identifier) { root.adopt(notebook: notebook) }

  /// The files that could not be read to their end, one entry each. An entry goes when its file could be read after all
  /// (because a synchronisation engine has finished, for example).
  var damage: [Damage] { damageList.entries }

  /// The number of records that were appended since the folder was opened.
  var appended: UInt64 { writer.appended }

  /// Records that were appended and may not be there after all: because an `fdatasync` failed, or
  /// because a file of ours was taken away. Their numbers are those of `appended`. Append them again,
  /// then call `markRewritten()`; until then `durable` does not pass them and `sync()` throws.
  var doubtful: Range<UInt64>? { disk.doubtful }

  /// True if records that were read or appended may be in no file of the folder any more, because a file is gone or became
  /// shorter. The caller that writes them again, or finds all of them, resets it.
  var needsRepublish: Bool {
    get { ledger.needsRepublish }
    set { ledger.needsRepublish = newValue }
  }

  // MARK: - The end of a session

  /// Ends the session; the next append begins another one.
  mutating func endSession() { abandon(takenAway: false) }

  /// Gives up the current session. Its files are read like those of any other session from now on.
  ///
  /// - Parameter takenAway: whether the file itself is gone, so that even synchronized records
  ///   may not be in the folder any more.
  mutating func abandon(takenAway: Bool) {
    guard let file = writer.endSession() else { return }
    reader.advance(file.session, to: file.end)
    // A file without records is not remembered: none can be missing, and the file may have been removed again.
    let isKept = !file.isComplete && file.last > file.first
    // A failed append may have arrived in full.
    if isKept { reader.remember(file, isUnread: true) }
    watch.notice(file.session.description)
    if takenAway {
      ledger.needsRepublish = true
      lose(file, from: file.first, Self.replaced(file.path))
    } else if isKept {
      ledger.add(file)
      if file.needsSync { disk.close(file) }
    }
  }

  /// Puts the records of `file` from `from` on in doubt, and everything after them: the rest of the session cannot be
  /// read without them.
  mutating func lose(_ file: OpenSegment, from: UInt64, _ cause: StoreError) {
    disk.giveUp(file)
    if from < file.last { lose(file.session, from: from, cause) }
  }

  /// Puts the records of a session of ours from `from` on in doubt, and ends it.
  mutating func lose(_ session: Identifier, from: UInt64, _ cause: StoreError) {
    if writer.session == session { abandon(takenAway: false) }
    disk.lose(session, from: from, cause, appended: writer.appended)
  }

  /// The error about records whose file is not in its place any more.
  static func replaced(_ path: String) -> StoreError {
    StoreError(operation: "append", path: path, reason: .other, detail: "the file was replaced")
  }
}
