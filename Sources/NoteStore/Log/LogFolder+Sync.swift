internal import ReplicatingTypes

// The disk: asking for records to be put on it, and learning which of them are there.

extension LogFolder {
  /// The number of appended records that are on disk for good, counted from the first one since the folder was opened.
  ///
  /// It goes down only when a file of ours is taken away (see `doubtful`), and to 0 while files of others have to be put on disk
  /// first (see `SyncState.awaitOthers`).
  var durable: UInt64 { disk.durable(writer) }

  /// Asks for everything appended so far to be put on disk, and returns at once.
  ///
  /// `wakeDescriptor` becomes readable when that has happened. If the disk is busy with an earlier request,
  /// one `fdatasync` afterwards covers everything that was appended in the meantime.
  mutating func requestSync() { disk.request(writer, reader) }

  /// Waits until everything appended so far is on disk: for the end of the process, and for callers that
  /// ask to wait.
  ///
  /// - Throws: the cause, if records are in doubt afterwards (see `doubtful`).
  mutating func sync() throws(StoreError) {
    while true {
      takeAnswers()
      if !disk.isBusy {
        disk.submitBatch(writer, reader)
        if !disk.isBusy { break }
      }
      disk.wait()
    }
    if let cause = disk.doubtCause { throw cause }
  }

  /// Readable when a requested synchronization ended: then call `drainWakeUps()`.
  var wakeDescriptor: Int32 { disk.queue.descriptor }

  /// Waits until a requested synchronization ended.
  mutating func awaitSync() {
    if disk.isBusy { disk.wait() }
    takeAnswers()
  }

  /// Takes the answers of the disk since the last call; never waits.
  ///
  /// - Throws: once, when an `fdatasync` failed. It is not tried again, because the system has forgotten
  ///   what it could not write. The session is given up, and `doubtful` says which records are not known
  ///   to be on disk.
  mutating func drainWakeUps() throws(StoreError) {
    let failure = takeAnswers()
    if !disk.isBusy, disk.isWanted { disk.submitBatch(writer, reader) }
    if let failure { throw failure }
  }

  /// True if records were appended again because they were doubtful, and these copies are not known to be on disk.
  var isRecovering: Bool { disk.isRecovering(writer) }

  /// Notes that the doubtful records were appended again.
  mutating func markRewritten() { disk.markRewritten(writer) }

  /// Takes the answers that are there; returns the first failure among them.
  @discardableResult
  private mutating func takeAnswers() -> StoreError? {
    var failure: StoreError?
    while let answer = disk.nextAnswer() {
      switch answer {
      case .refused(let file, let error):
        failure = failure ?? error
        lose(file, from: file.synced, error)
      case .refusedOther(let session, let error):
        failure = failure ?? error
        // The process of that session would write its records again, but it may have ended. So they count as missing here.
        ledger.needsRepublish = true
        disk.lose(other: session, error, writer)
      }
    }
    finishClosed()
    return failure
  }

  /// Gives the closed segments that are on disk their final names.
  mutating func finishClosed() {
    for file in disk.takeClosed() where file.isComplete && !file.isLost { rename(file) }
  }

  private mutating func rename(_ file: OpenSegment) {
    switch file.place {
    case .touched: return
    case .gone:
      ledger.needsRepublish = true
      return lose(file, from: file.first, Self.replaced(file.path))
    case .ours: break
    }
    let (key, path) = (file.key, file.path)
    guard (try? file.rename()) != nil else { return }
    reader.rename(key, to: file)
    ledger.rename(path, to: file.path)
    disk.submitName(of: file)
  }
}
