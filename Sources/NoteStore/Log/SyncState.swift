internal import ReplicatingTypes

/// Puts records on disk, and knows which of them are there for good.
///
/// A request goes to a queue that works in the background and answers in order; `jobs` has one entry for each request
/// without an answer. A file that the disk refused once is never synchronized again: the system has dropped the bytes that it
/// could not write, and would report success. Its records become doubtful.
///
/// Record counts here are those of `SegmentWriter.appended`.
struct SyncState {
  let queue: any SyncQueue
  /// Records that were appended and may not be in the folder after all.
  private(set) var doubtful: Range<UInt64>?
  /// The first error that made records doubtful.
  private(set) var doubtCause: StoreError?
  /// Sessions whose files are not all on disk and are never synchronized again, so that they may be lost in a power cut. Their
  /// records have to be written elsewhere.
  private(set) var unreliable: Set<Identifier> = []
  /// The number of times that the disk has taken records of ours.
  private(set) var successes = 0
  /// The result of `synchronizeAside`, 0 or an error number; nil until there is one.
  private(set) var asideAnswer: Int32?
  /// True if more was appended since the last batch was submitted.
  private(set) var isWanted = false

  private let root: NotebookRoot
  private var jobs: [SyncJob] = []
  /// Segments that nothing is appended to any more and that are not all on disk, oldest first.
  private var closing: [OpenSegment] = []
  /// Files of others, by their paths below `log`, whose records were read and may not be on disk.
  private var unsynced: Set<String> = []
  /// Those of them whose names are on disk, and the folders that lead to them.
  private var syncedEntries: Set<String> = []
  /// The state of the files of others whose records a snapshot of this process follows.
  private var awaitedOthers = AwaitedOthers.none
  /// The doubtful records that were appended again: those from `from` on, whose copies end before `until`.
  private var recovering: (from: UInt64, until: UInt64)?

  /// The state of files of others that have to be on disk before any record of ours counts as on disk.
  private enum AwaitedOthers { case none, wanted, submitted }

  /// A request to the queue.
  private struct SyncJob {
    /// The segment of ours that it is about.
    var file: OpenSegment?
    /// The file or folder that is synchronized, kept open until then; nil for the segment itself.
    var opened: OpenDescriptor?
    var isFolder = false
    /// The session of another process that it is about.
    var other: Identifier?
    /// The number of records of the segment that are on disk if it succeeds.
    var through: UInt64 = 0
    /// True if it puts the segment's final name on disk.
    var isRename = false
    /// True if it is about no log: then its result becomes `asideAnswer`.
    var isAside = false
  }

  /// The queue's answer to a request that was about logs.
  enum Answer {
    /// The records of a segment of ours that were not on disk before are not there.
    case refused(OpenSegment, StoreError)
    /// Records of another session are not on disk.
    case refusedOther(Identifier, StoreError)
  }

  init(_ root: NotebookRoot, _ queue: any SyncQueue) {
    self.root = root
    self.queue = queue
  }

  // MARK: - What is on disk

  /// The number of appended records that are on disk for good.
  func durable(_ writer: SegmentWriter) -> UInt64 {
    let reached = reached(writer)
    let certain = min(reached, doubtful?.lowerBound ?? reached)
    // Records that were doubtful are on disk when their copies are.
    guard let recovering, reached < recovering.until else { return certain }
    return min(certain, recovering.from)
  }

  /// The number of records that were synchronized, or whose synchronization was given up.
  private func reached(_ writer: SegmentWriter) -> UInt64 {
    if awaitedOthers != .none { return 0 }
    for file in closing where file.needsSync { return file.synced }
    if let open = writer.open, open.needsSync { return open.synced }
    return writer.appended
  }

  /// True if records were appended again because they were doubtful, and these copies are not known to be on disk.
  func isRecovering(_ writer: SegmentWriter) -> Bool {
    recovering.map { reached(writer) < $0.until } ?? false
  }

  /// Notes that the doubtful records were appended again.
  mutating func markRewritten(_ writer: SegmentWriter) {
    if let doubtful { recovering = (min(durable(writer), doubtful.lowerBound), writer.appended) }
    doubtful = nil
    doubtCause = nil
  }

  // MARK: - Requests

  /// True if the queue works at something.
  var isBusy: Bool { !jobs.isEmpty }

  /// Asks for everything appended so far, now or after the present batch.
  mutating func request(_ writer: SegmentWriter, _ reader: LogReader) {
    if jobs.isEmpty { submitBatch(writer, reader) } else { isWanted = true }
  }

  /// Submits everything that is not on disk: first the files of others that were read, since our records may follow theirs.
  mutating func submitBatch(_ writer: SegmentWriter, _ reader: LogReader) {
    isWanted = false
    var files = closing
    if let open = writer.open, !open.isComplete { files.append(open) }
    files.removeAll { !$0.needsSync }
    // Files of others are synchronized even if all of ours are on disk: records that ours follow may have been written again there.
    if files.isEmpty, writer.appended == 0 { return }
    submitOthers(writer, reader)
    if awaitedOthers != .none { awaitedOthers = jobs.isEmpty ? .none : .submitted }
    for file in files { submit(file) }
  }

  /// Asks for a file or folder that is no log; `asideAnswer` gets the result. One at a time.
  mutating func synchronizeAside(_ opened: OpenDescriptor, isFolder: Bool) {
    asideAnswer = nil
    jobs.append(SyncJob(opened: opened, isFolder: isFolder, isAside: true))
    queue.submit(opened.descriptor.number, isFolder: isFolder)
  }

  /// Takes the result of `synchronizeAside`; nil until there is one.
  mutating func takeAsideAnswer() -> Int32? {
    defer { asideAnswer = nil }
    return asideAnswer
  }

  /// Puts the final name of a segment on disk.
  mutating func submitName(of file: OpenSegment) {
    jobs.append(
      SyncJob(file: file, opened: file.folder, through: file.synced, isRename: true))
    queue.submit(file.folder.descriptor.number, isFolder: true)
  }

  private mutating func submit(_ file: OpenSegment) {
    for folder in file.takeUnsyncedFolders() {
      jobs.append(SyncJob(file: file, opened: folder, isFolder: true, through: file.synced))
      queue.submit(folder.descriptor.number, isFolder: true)
    }
    jobs.append(SyncJob(file: file, through: file.last))
    queue.submit(file.descriptor.number, isFolder: false)
  }

  /// The age in nanoseconds at which the system has certainly written a change to the disk by itself: ten minutes.
  private static var writebackTime: Int64 { 600_000_000_000 }

  /// Synchronizes the files of others that this process has read: their writers may have been killed, or be slower. Otherwise
  /// our records that follow theirs could be unreadable after a power cut.
  private mutating func submitOthers(
    _ writer: SegmentWriter, _ reader: LogReader
  ) {
    let keys = unsynced.sorted()
    unsynced = []
    for key in keys {
      guard let file = reader.files[key], let session = file.scan?.header.session,
        let seen = file.seen, !writer.sessions.contains(session), !unreliable.contains(session),
        seen.changed > root.system.now - Self.writebackTime
      else { continue }
      do { try submit(key, of: session) } catch {
        // A file that is not found has another name now, or the next full pass notices that it is missing. After any other
        // error our records are in doubt, because they may follow those of the file.
        guard error.reason != .notFound else { continue }
        unsynced.insert(key)
        doubt(from: reached(writer), error, appended: writer.appended)
      }
    }
  }

  private mutating func submit(_ key: String, of session: Identifier) throws(StoreError) {
    let log = OpenDescriptor(try root.open().folder("log"))
    let parts = key.split(separator: "/").map(String.init)
    let folder = parts.count > 1 ? OpenDescriptor(try log.descriptor.folder(parts[0])) : log
    guard let file = try folder.descriptor.regularFile(parts[parts.count - 1]) else { return }
    if syncedEntries.insert(key).inserted {
      for folder in [log, folder] {
        jobs.append(SyncJob(opened: folder, isFolder: true, other: session))
        queue.submit(folder.descriptor.number, isFolder: true)
      }
    }
    let opened = OpenDescriptor(file)
    jobs.append(SyncJob(opened: opened, other: session))
    queue.submit(opened.descriptor.number, isFolder: false)
  }

  /// Notes a file of others whose records may not be on disk, by its path below `log`.
  mutating func addUnsynced(_ key: String) { unsynced.insert(key) }

  /// Counts no record of ours as on disk until the files of others that were read are on disk.
  mutating func awaitOthers() { awaitedOthers = .wanted }

  // MARK: - Answers

  /// The next answer that is there; nil if there is none. Call it again after handling each one.
  mutating func nextAnswer() -> Answer? {
    while !jobs.isEmpty, let answer = queue.answer() {
      let job = jobs.removeFirst()
      if job.isAside {
        asideAnswer = answer
        continue
      }
      if job.isRename, answer == 0 { job.file?.removeSuperseded() }
      // A second fdatasync after a failed one reports success and means nothing. If a rename is not on disk, the name
      // before it is, which is as good.
      if job.isRename || job.file?.isLost ?? false { continue }
      if answer == 0 {
        if let file = job.file {
          file.markSynced(through: job.through)
          if !job.isFolder { successes += 1 }
        }
        continue
      }
      let error = StoreError(
        operation: job.isFolder ? "fsync" : "fdatasync",
        path: job.opened?.descriptor.path ?? job.file?.path ?? root.path, errno: answer)
      if let file = job.file { return .refused(file, error) }
      if let session = job.other { return .refusedOther(session, error) }
    }
    if jobs.isEmpty, awaitedOthers == .submitted { awaitedOthers = .none }
    return nil
  }

  /// Waits for answers from the queue.
  func wait() { queue.wait() }

  // MARK: - Segments of ours that are not written any more

  /// Keeps a segment open until it is on disk.
  mutating func close(_ file: OpenSegment) { closing.append(file) }

  /// Takes the closed segments that are on disk, or were given up.
  mutating func takeClosed() -> [OpenSegment] {
    let finished = closing.filter { !$0.needsSync }
    closing.removeAll { !$0.needsSync }
    return finished
  }

  // MARK: - Doubt

  /// Never synchronizes a segment again.
  mutating func giveUp(_ file: OpenSegment) {
    file.isLost = true
    // Its records can be read now, but may be lost in a power cut, so they must be written elsewhere.
    if file.synced < file.last { unreliable.insert(file.session) }
  }

  /// Puts the records from `from` on in doubt, and gives up the closed segments of `session` that hold such records: without
  /// them the rest of the session cannot be read.
  mutating func lose(
    _ session: Identifier, from: UInt64, _ cause: StoreError, appended: UInt64
  ) {
    for file in closing where file.session == session && file.last > from { giveUp(file) }
    doubt(from: from, cause, appended: appended)
  }

  /// Puts those of our records in doubt that may follow records of another session which the disk has refused.
  mutating func lose(
    other session: Identifier, _ cause: StoreError, _ writer: SegmentWriter
  ) {
    unreliable.insert(session)
    doubt(from: reached(writer), cause, appended: writer.appended)
  }

  private mutating func doubt(from: UInt64, _ cause: StoreError, appended: UInt64) {
    // If second copies of records are in doubt, so are the first copies.
    var from = from
    if let recovering, from < recovering.until { from = min(from, recovering.from) }
    doubtful = min(from, doubtful?.lowerBound ?? from)..<appended
    doubtCause = doubtCause ?? cause
  }
}
