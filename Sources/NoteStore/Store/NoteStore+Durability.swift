internal import Notes
internal import ReplicatingTypes

// Putting changes on disk, and knowing which of them are there.

extension NoteStore {
  /// True if everything that was written is on disk for good.
  public var isDurable: Bool { progress.durable == progress.appended }

  /// The number of records that were written, and how many of them are on disk for good: none while records are missing.
  public var progress: (appended: UInt64, durable: UInt64) {
    (folder.appended, republishing.missing == nil ? folder.durable : 0)
  }

  /// The error that keeps missing records from being written again, or that made records doubtful; nil if there is none.
  public var doubt: StoreError? {
    if republishing.missing != nil { return republishing.failure }
    return folder.doubtful == nil ? nil : folder.disk.doubtCause
  }

  /// Asks for everything to be put on disk; `wakeDescriptor` tells when it was.
  ///
  /// - Parameter isRetry: whether to write once more the records that the disk has refused twice. Do not ask for it with each
  ///   change: each copy holds everything that is in doubt.
  public func requestSync(isRetry: Bool = false) {
    if isRetry || !republishing.isDiskFailing || folder.needsRepublish { tryToRepublish() }
    folder.requestSync()
  }

  /// Waits until everything is on disk for good.
  ///
  /// - Throws: the disk's error, when it refused a second copy as well.
  public func sync() throws(StoreError) {
    if isInDoubt { _ = mergeAll() }
    tryToRepublish()
    do { try folder.sync() } catch {
      // A file that failed is never synchronized again, but its records may reach the disk in another file.
      try republish()
      try folder.sync()
    }
    if let doubt { throw doubt }
  }

  /// True if the folder is to be looked through for words of purged notes. Our own segment is to be complete then, so that it can be folded:
  /// that takes a second, in which many notes may be purged.
  var isPurgeDue: Bool { snapshots.redactionsLooked < notebook.redactions }

  /// Completes our segment if it is time, without waiting; what was written since the last call counts as written now.
  /// Returns when to call it again at the latest, if nothing is written until then.
  public func sealIfDue(at now: Instant) -> Instant? {
    folder.sealIfDue(at: now, isSoon: isPurgeDue)
  }

  /// Completes our segment and what killed processes have left, ends the session, or leaves it to another process, and waits until
  /// everything is on disk for good: for the end of the process.
  ///
  /// - Throws: the disk's error, when it refused a second copy as well.
  public func end() throws(StoreError) {
    if isInDoubt { _ = mergeAll() }
    tryToRepublish()
    let last = folder.finishSession()
    defer { completeAbandoned() }
    try sync()
    folder.writer.releaseComplete()
    folder.writer.handOver(last, changes: last.map { own.written[$0.session] } ?? 0)
  }

  /// Readable when data reached the disk: then call `takeSyncResult`.
  public var wakeDescriptor: Int32 { folder.wakeDescriptor }

  /// True if files may change without an event: then call `rescan` about every second.
  public var mustPoll: Bool { folder.mustPoll }

  /// Readable when files changed: then call `refresh`. `nil` where there is no watching.
  public var watchDescriptor: Int32? { folder.watchDescriptor }

  /// Takes the results of synchronizations that have ended; returns the first error among them.
  public func takeSyncResult() -> StoreError? {
    let isSecond = folder.isRecovering
    let successes = folder.disk.successes
    do {
      try folder.drainWakeUps()
      if isDurable || folder.disk.successes > successes {
        let isBack = republishing.isDiskFailing
        republishing.isDiskFailing = false
        // The disk takes records again, so all that it has refused is written once more.
        if isBack, isInDoubt { requestSync() }
      }
      return nil
    } catch {
      // A second copy may reach the disk. If that has failed too, another one at once would only fill the disk.
      republishing.isDiskFailing = republishing.isDiskFailing || isSecond
      if !republishing.isDiskFailing { tryToRepublish() }
      return error
    }
  }
}
