public import ReplicatingTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder of a notebook, as far as its logs go: one file of our own to append to, and everybody's
/// files to read.
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
/// Nothing that was found is ever changed or removed.
///
/// One owner, one thread. A second thread exists from the first `requestSync` or `sync` on; it only
/// waits for the disk.
public struct LogFolder: ~Copyable {
  /// A record of another session, or of an earlier one of this process.
  public struct Record: Sendable {
    /// The session that wrote it.
    public var session: Identifier
    /// Its number in that session: 1 for the first, then one more each time.
    public var number: UInt64
    /// What the writer said it is.
    public var type: UInt8
    /// What the writer put into it.
    public var payload: [UInt8]
  }

  /// A file that could not be read to its end.
  public struct Damage: Equatable, Sendable {
    /// The file.
    public var path: String
    /// Where its valid part ends, in bytes from its beginning.
    public var offset: UInt64
    /// What is wrong there, for people.
    public var description: String
  }

  /// The folder's path, as given, without slashes at the end.
  public let path: String

  /// The files that could not be read to their end, one entry each. An entry goes when its file could
  /// be read after all (a synchronisation engine had not finished, say).
  public internal(set) var damage: [Damage] = []

  /// How many records were appended since the folder was opened.
  public internal(set) var appended: UInt64 = 0

  /// Records that were appended and may not be there after all: because an `fdatasync` failed, or
  /// because somebody took a file of ours away. They count like `appended`. Append them again, then
  /// call `settleDoubt()`; until then `durable` does not pass them and `sync()` throws.
  public internal(set) var doubtful: Range<UInt64>?

  /// Records that were read or appended may be in no file of the folder any more: a file went away, or
  /// got shorter. Whoever makes up for it sets it back.
  public var isLacking = false
  /// Counts the looks at everything, and says whether the present one came everywhere.
  var looks = 0
  var isLookComplete = true

  let system: any FileSystem
  let makeIdentifier: () -> Identifier
  /// The identity to give to a notebook that has none.
  var adopted: Identifier?
  /// The identities that anything in the folder names: `decent.json`, its conflict copies, the logs.
  var identities: Set<Identifier> = []
  /// Folders above, and the one we are in, whose entries lead to the notebook and may not be on disk.
  var unsynchronizedParents: [String] = []

  // Writing
  var live: LiveFile?
  /// The identity of the session that the next append begins.
  var minted: Identifier?
  /// Whether `session()` looked after the live file since the last append.
  var isChecked = false

  // Synchronizing
  /// The sessions that are or were ours: what failed there is not synchronized again as somebody else's.
  var ours: Set<Identifier> = []
  /// Sessions of which the disk has refused something, or is not asked any more: their files may not be there tomorrow.
  var unreliable: Set<Identifier> = []
  /// Files of others, by their path below `log`, whose records were read and may not be on disk.
  var unsynced: Set<String> = []
  /// Whether something was written beside the logs, and is on disk, that may follow what others wrote and is not.
  var awaitedOthers = AwaitedOthers.none
  /// Those of them whose names are on disk, and what leads to them.
  var syncedEntries: Set<String> = []
  let syncs: any SyncQueue
  /// Files that nothing is appended to any more and that are not all on disk, oldest first.
  var closing: [LiveFile] = []
  /// All files that we wrote before, as long as they are there.
  var kept: [KeptFile] = []
  var jobs: [SyncJob] = []
  var isSyncWanted = false
  /// Counts how often the disk has taken records of ours.
  var successes = 0
  /// 0 or an error number, when what was to be synchronized aside was.
  var asideAnswer: Int32?
  var doubtCause: StoreError?
  /// Doubtful records were appended again: those from `from` on stand before `until`.
  var recovering: (from: UInt64, until: UInt64)?

  // Reading
  /// What was handed out of every session, or appended by us.
  var sessions: [Identifier: SessionProgress] = [:]
  /// Files that have waited for others, which are there now; the next at the end.
  var ready: [String] = []
  /// What is known of every file, by its path below `log`.
  var files: [String: LogFile] = [:]
  /// Folders in `log` with nothing but complete segments, all read, and what they looked like then: as long as they look
  /// like this, there is nothing new in them.
  var settled: [String: SettledFolder] = [:]
  /// Settled folders of sessions that have ended, which were not looked at since the folder was opened.
  var unverified: [String] = []
  /// Whether the next full look is the first, and begins at a bookmark.
  var isResuming = false
  /// It looks at so many folders of ended sessions; where there are more, at none of them.
  var mostEndedLookedAt = 1_000
  /// How many records of sessions the folder should hold, as long as nobody looked whether it does: where something speaks
  /// against that, or a later segment was read.
  var promised: [Identifier: UInt64] = [:]
  /// How many folders are not as an earlier run has left them, any more.
  var outdated = 0
  /// What snapshots stand for, if they are still those that were looked at.
  var knownCoverage: [Identifier: NumberRanges]?
  /// The names of those snapshots.
  var coveringSnapshots: [String] = []
  /// Complete files that were read or written since anybody has folded them: how many, and their bytes.
  var unfolded: (files: Int, bytes: UInt64) = (0, 0)
  /// Sessions whose files do not count: for whoever wants to know what the folder holds without them.
  var ignored: Set<Identifier> = []

  // Watching
  var isWatchingWanted = false
  var watcher: (any Watcher)?
  var watches = Watches()
  var isSilent = false

  /// Opens a notebook for reading. Writes nothing and creates nothing; a folder that does not exist is
  /// an empty notebook.
  ///
  /// - Parameters:
  ///   - path: the notebook's folder. Made absolute by the caller if the working directory can change.
  ///   - makeIdentifier: 128 random bits; a new session or notebook takes its identity from here.
  /// - Throws: `newerFormat` when a later version of the program wrote the folder; `damaged` when
  ///   `decent.json` is not what it should be; or what the system says.
  public init(
    path: String, makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    try self.init(path: path, on: SystemFiles.shared, makeIdentifier: makeIdentifier)
  }

  init(
    path: String, on system: any FileSystem, makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    var path = path.isEmpty ? "." : path
    while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
    let found = try Self.identities(at: path, on: system)
    let syncs = try system.makeSyncQueue(path: path)
    self.system = system
    self.path = path
    self.makeIdentifier = makeIdentifier
    self.syncs = syncs
    identities = found
  }

  deinit {
    // Before the descriptors that it may be working on are closed.
    syncs.finish()
  }

  /// The notebook's identity; nil for a new notebook.
  ///
  /// Machines that wrote to the folder before they met may have given it several. All are its own; everybody calls it by
  /// the smallest.
  public var notebook: Identifier? { identities.min() ?? adopted }

  /// Whether `identity` is one of this notebook's.
  public func isOurs(_ identity: Identifier) -> Bool {
    identities.contains(identity) || identity == adopted
  }

  /// Takes over the identity of a notebook elsewhere, for a folder that has none. It is written with the
  /// first append; if another process was first then, its identity counts.
  ///
  /// Does nothing when `notebook` is not nil.
  public mutating func adopt(notebook: Identifier) {
    if self.notebook == nil { adopted = notebook }
  }

  /// Opens the notebook's folder.
  func openRoot() throws(StoreError) -> FileDescriptor {
    try FileDescriptor.folder(path, followingLinks: true, on: system)
  }

  /// Reads `decent.json` and its conflict copies, which may have come or changed since.
  mutating func readIdentities() throws(StoreError) {
    identities.formUnion(try Self.identities(at: path, on: system))
  }

  /// What `decent.json` in the folder at `path` and its conflict copies say.
  private static func identities(
    at path: String, on system: any FileSystem
  ) throws(StoreError) -> Set<Identifier> {
    do {
      let folder = try FileDescriptor.folder(path, followingLinks: true, on: system)
      return try NotebookFile.readAll(in: folder)
    } catch {
      // What is no folder can never become one; what is not there can.
      guard error.reason == .notFound, error.errno != ENOTDIR else { throw error }
      return []
    }
  }

  /// Reports that `path` is valid up to `offset` only.
  mutating func report(_ path: String, _ offset: UInt64, _ description: String) {
    let entry = Damage(path: path, offset: offset, description: description)
    if let index = damage.firstIndex(where: { $0.path == path }) {
      damage[index] = entry
    } else {
      damage.append(entry)
    }
  }

  /// Takes back what was reported about `path`.
  mutating func clearDamage(_ path: String) {
    damage.removeAll { $0.path == path }
  }
}
