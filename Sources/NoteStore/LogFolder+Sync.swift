internal import ReplicatingTypes

/// What the sync thread was asked to do, in the order in which it answers.
struct SyncJob {
  /// The file of ours that this is about; nil if it is a file or folder of somebody else.
  var file: LiveFile?
  /// What to synchronize before the file, kept open until then; nil for the file itself.
  var before: OpenDescriptor?
  var isFolder = false
  /// The session of somebody else that this is about.
  var other: Identifier?
  /// What `LiveFile.synced` may be set to if it succeeds.
  var through: UInt64 = 0
  /// The file's new name is what is synchronized.
  var isRename = false
  /// It is about no log: whoever asked looks for `asideAnswer`.
  var isAside = false
}

/// Whether files of others have to be put on disk before ours count.
enum AwaitedOthers { case none, wanted, submitted }

extension LogFolder {
  /// How many of the appended records are on disk for good: the first so many since opening.
  ///
  /// It only goes down when somebody takes a file of ours away: see `doubtful`.
  public var durable: UInt64 {
    let reached = reached
    let certain = min(reached, doubtful?.lowerBound ?? reached)
    // What was in doubt is on disk when it is where it was appended again.
    guard let recovering, reached < recovering.until else { return certain }
    return min(certain, recovering.from)
  }

  /// Asks for everything appended so far to be put on disk, and returns at once.
  ///
  /// When that happened, `wakeDescriptor` becomes readable. If the disk is busy with an earlier request,
  /// one `fdatasync` afterwards covers everything that was appended in the meantime.
  public mutating func requestSync() {
    if jobs.isEmpty { submitBatch() } else { isSyncWanted = true }
  }

  /// Waits until everything appended so far is on disk. For the end of the process, and for whoever
  /// asked to wait.
  ///
  /// - Throws: the cause, when some of it is not known to be (see `doubtful`).
  public mutating func sync() throws(StoreError) {
    while true {
      takeAnswers()
      if jobs.isEmpty {
        submitBatch()
        if jobs.isEmpty { break }
      }
      syncs.wait()
    }
    if let doubtCause { throw doubtCause }
  }

  /// Readable when a requested synchronization ended: then call `drainWakeUps()`.
  public var wakeDescriptor: Int32 { syncs.descriptor }

  /// Asks for a file or folder that is no log to be put on disk; `asideAnswer` tells when it was. One at a time.
  mutating func synchronizeAside(_ opened: OpenDescriptor, isFolder: Bool) {
    asideAnswer = nil
    jobs.append(SyncJob(before: opened, isFolder: isFolder, isAside: true))
    syncs.submit(opened.descriptor.number, isFolder: isFolder)
  }

  /// Waits until something that was asked for is on disk.
  mutating func awaitSync() {
    if !jobs.isEmpty { syncs.wait() }
    takeAnswers()
  }

  /// Learns what the disk did since the last call; never waits.
  ///
  /// - Throws: once, when an `fdatasync` failed. It is not tried again, because the system has forgotten
  ///   what it could not write. The session is given up, and `doubtful` says which records are not known
  ///   to be on disk.
  public mutating func drainWakeUps() throws(StoreError) {
    let failure = takeAnswers()
    if jobs.isEmpty, isSyncWanted { submitBatch() }
    if let failure { throw failure }
  }

  /// Whether records that were in doubt are not known to be on disk where they were appended again.
  public var isRecovering: Bool { recovering.map { reached < $0.until } ?? false }

  /// Says that the doubtful records were appended again.
  public mutating func settleDoubt() {
    if let doubtful { recovering = (min(durable, doubtful.lowerBound), appended) }
    doubtful = nil
    doubtCause = nil
  }

  /// Everything before this was synchronized, or its synchronization was given up.
  private var reached: UInt64 {
    if awaitedOthers != .none { return 0 }
    for file in closing where file.needsSync { return file.synced }
    if let live, live.needsSync { return live.synced }
    return appended
  }

  private mutating func submitBatch() {
    isSyncWanted = false
    var files = closing
    if let live, !live.isComplete { files.append(live) }
    files.removeAll { !$0.needsSync }
    // Even if all of ours is on disk: what it follows may have been taken away and written again elsewhere.
    if files.isEmpty, appended == 0 { return }
    submitOthers()
    if awaitedOthers != .none { awaitedOthers = jobs.isEmpty ? .none : .submitted }
    for file in files { submit(file) }
  }

  /// Counts nothing as on disk until what others wrote is, as far as it was read.
  mutating func awaitOthers() { awaitedOthers = .wanted }

  /// The system has written by itself, surely, what is older than this, in nanoseconds: ten minutes.
  private static var writebackTime: Int64 { 600_000_000_000 }

  /// Synchronizes what others wrote and we have read, before the records of ours that follow it: whoever
  /// wrote it may have been killed, or be slower. Without it, ours could not be read after a power cut.
  private mutating func submitOthers() {
    let keys = unsynced.sorted()
    unsynced = []
    for key in keys {
      guard let file = files[key], let session = file.scan?.header.session, let seen = file.seen,
        !ours.contains(session), !unreliable.contains(session),
        seen.changed > system.now - Self.writebackTime
      else { continue }
      do { try submit(key, of: session) } catch {
        // What is gone has another name now, or is missed when somebody looks. All else has to be tried again, and until then
        // nothing is on disk that may follow it.
        guard error.reason != .notFound else { continue }
        unsynced.insert(key)
        doubt(from: reached, error)
      }
    }
  }

  private mutating func submit(_ key: String, of session: Identifier) throws(StoreError) {
    let root = try openRoot()
    let log = OpenDescriptor(try root.folder("log"))
    let parts = key.split(separator: "/").map(String.init)
    let folder = parts.count > 1 ? OpenDescriptor(try log.descriptor.folder(parts[0])) : log
    guard let file = try folder.descriptor.regularFile(parts[parts.count - 1]) else { return }
    if syncedEntries.insert(key).inserted {
      for folder in [log, folder] {
        jobs.append(SyncJob(before: folder, isFolder: true, other: session))
        syncs.submit(folder.descriptor.number, isFolder: true)
      }
    }
    let opened = OpenDescriptor(file)
    jobs.append(SyncJob(before: opened, other: session))
    syncs.submit(opened.descriptor.number, isFolder: false)
  }

  private mutating func submit(_ file: LiveFile) {
    for folder in file.folders {
      jobs.append(SyncJob(file: file, before: folder, isFolder: true, through: file.synced))
      syncs.submit(folder.descriptor.number, isFolder: true)
    }
    file.folders = []
    jobs.append(SyncJob(file: file, through: file.last))
    syncs.submit(file.descriptor.number, isFolder: false)
  }

  /// Takes the answers that are there; returns the first failure among them.
  @discardableResult
  private mutating func takeAnswers() -> StoreError? {
    var failure: StoreError?
    while !jobs.isEmpty, let answer = syncs.answer() {
      let job = jobs.removeFirst()
      if job.isAside {
        asideAnswer = answer
        continue
      }
      // A second fdatasync after a failed one says "done" and means nothing. Of a rename that is not on disk
      // the name before is, and it is as good.
      if job.isRename || job.file?.isLost ?? false { continue }
      if answer == 0 {
        if let file = job.file {
          file.synced = max(file.synced, job.through)
          if !job.isFolder { successes += 1 }
        }
        continue
      }
      let error = StoreError(
        operation: job.isFolder ? "fsync" : "fdatasync",
        path: job.before?.descriptor.path ?? job.file?.path ?? path, errno: answer)
      failure = failure ?? error
      if let file = job.file { lose(file, from: file.synced, error) }
      if let session = job.other { lose(other: session, error) }
    }
    if jobs.isEmpty, awaitedOthers == .submitted { awaitedOthers = .none }
    finishClosed()
    return failure
  }

  /// Puts the records of `file` from `from` on in doubt, and everything after them: what follows in the session cannot be
  /// read without them.
  mutating func lose(_ file: LiveFile, from: UInt64, _ cause: StoreError) {
    file.isLost = true
    // It can be read, and may not be there tomorrow: what is looked for in the folder must stand elsewhere.
    if file.synced < file.last { unreliable.insert(file.session) }
    if from < file.last { lose(file.session, from: from, cause) }
  }

  /// Puts our records in doubt that may follow what could not be put on disk of another session. Its own process would
  /// write it again, but may be no more: so it counts as not there.
  private mutating func lose(other session: Identifier, _ cause: StoreError) {
    unreliable.insert(session)
    isLacking = true
    doubt(from: reached, cause)
  }

  mutating func lose(_ session: Identifier, from: UInt64, _ cause: StoreError) {
    if live?.session == session { abandon(takenAway: false) }
    for file in closing where file.session == session && file.last > from {
      file.isLost = true
      if file.synced < file.last { unreliable.insert(session) }
    }
    doubt(from: from, cause)
  }

  private mutating func doubt(from: UInt64, _ cause: StoreError) {
    // With a second copy, the first ones are in doubt again.
    var from = from
    if let recovering, from < recovering.until { from = min(from, recovering.from) }
    doubtful = min(from, doubtful?.lowerBound ?? from)..<appended
    doubtCause = doubtCause ?? cause
  }
}
