public import Notes

// Background work, done while there is nothing else to do.

extension NoteStore {
  /// True if there is background work: merging, giving up an archive, verifying folders, reading snapshots, archiving, completing what
  /// killed processes have left, compacting.
  public var hasWork: Bool {
    isMerging || archiving.isUnreadable || folder.isVerifying || snapshots.reading != nil
      || archiving.writing != nil
      || isArchiveDue && canArchive || hasCompletion || hasCompaction
  }

  /// True if enough is new for another archive, or there is one that tells of notes which were purged, or lacks signatures.
  private var isArchiveDue: Bool {
    archiving.isDue
      || notebook.isArchiveIncomplete && !archiving.hasFailed
  }

  /// True if the work cannot wait long: what others have written is to be seen soon, or the changes that an archive would take out of
  /// memory are many.
  public var isWorkUrgent: Bool { isMerging || archiving.isOverdue && canArchive }

  /// True if what others have written may wait for the work, or so much is to be folded that it cannot wait for a moment in which nobody types.
  public var isWorkAwaited: Bool {
    archiving.isUnreadable || folder.isVerifying || snapshots.reading != nil
      || hasCompaction && (compaction?.unfolded ?? folder.reader.unfolded).bytes > 32 << 20
  }

  /// About how many bytes of changes archives have taken out of memory so far.
  public var released: Int { archiving.released }

  /// Does some of the work, for a few milliseconds at most.
  public func work() -> Effects {
    if archiving.isUnreadable {
      archiving.isUnreadable = false
      // If that is not possible the changes wait for the next ones, and the next start.
      guard giveUpArchive() else { return Effects() }
      merging.pending.retry()
    }
    if isMerging { return mergeSlice() }
    if folder.isVerifying {
      let records = folder.verify(atMost: 64)
      // An archive is worth writing: with the old one the next start leaves these folders out, and a `call`, which does not
      // verify, would never read them.
      if !records.isEmpty { archiving.isOutdated = true }
      take(records)
      return mergePending(atMost: Self.slice)
    }
    if snapshots.reading != nil {
      readSnapshots()
      // Files may have waited for the records that it stands for.
      if snapshots.reading == nil { begin(.noticed) }
      return mergePending(atMost: Self.slice)
    }
    if archiving.writing != nil || isArchiveDue && canArchive {
      archive()
    } else if hasCompletion {
      proceedCompleting()
    } else if hasCompaction {
      proceedCompacting()
    }
    return Effects()
  }

  /// The bytes of notes that get signatures where time is short: those of 25,000 notes of 1 kB, some 200 ms.
  private static let signedInHaste = 32 << 20

  /// Writes an archive for the next run, if enough is new. Stops without one when `isTime` returns false: then the next run has it all to do
  /// again. Call it at the end of the process.
  ///
  /// - Parameters:
  ///   - isFolding: as long as this is true, what is due is folded, too: for a process of one request, which is never idle.
  ///   - isInHaste: true if time is short: then of very many new notes some get their signatures with one of the next archives.
  public func keep(
    folding isFolding: () -> Bool = { false }, inHaste isInHaste: Bool = false,
    while isTime: () -> Bool
  ) {
    while isMerging, isTime() { _ = proceed(atMost: Self.slice, reading: pieceSize) }
    defer { keepManifest() }
    guard canArchive,
      archiving.writing != nil || archiving.isWorthKeeping || notebook.isArchiveIncomplete
    else { return }
    // Folding comes before the archive, which then tells the next process that these files are folded.
    fold(while: isFolding)
    repeat {
      archive(signing: isInHaste ? Self.signedInHaste : .max)
    } while archiving.writing != nil && isTime()
    archiving.writing = nil
  }
}

// Completing the open segments of processes that were killed, one step at a time.

extension NoteStore {
  /// True if there may be something to complete that need not wait for the disk. A compaction that was begun comes first.
  var hasCompletion: Bool {
    if let running = completing.running {
      return !running.isWaiting || folder.disk.asideAnswer != nil
    }
    return completing.isDue && compaction == nil
  }

  /// Does one step. After a failure the next look tries again.
  func proceedCompleting() {
    let completion = completing.running ?? SessionCompletion()
    completing = Completing(isDue: false)
    do { try completion.step(&folder) } catch { return }
    if !completion.isDone { completing.running = completion }
  }

  /// Completes the open segments of processes of this user and machine that were killed. Waits for the disk.
  public func completeAbandoned() {
    guard compaction == nil else { return }
    while completing.isDue || completing.running != nil {
      proceedCompleting()
      if completing.running?.isWaiting == true, folder.disk.asideAnswer == nil {
        folder.awaitSync()
      }
    }
  }
}

/// The completion of what killed processes have left.
struct Completing {
  /// True if it is time to look for something.
  var isDue: Bool
  /// The completion that was begun and is not done.
  var running: SessionCompletion?
}
