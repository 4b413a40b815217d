internal import Notes

// Compaction: folding complete segments into snapshots, one step at a time.

extension NoteStore {
  /// The time for which no compaction begins after a failure, in nanoseconds: ten minutes.
  private static var pauseTime: Int64 { 600_000_000_000 }

  /// True if a compaction is due, or is under way and need not wait for the disk. A process that has not written does not fold:
  /// opening a notebook changes nothing.
  var hasCompaction: Bool {
    if let compaction { return !compaction.isWaiting || folder.disk.asideAnswer != nil }
    // Both would wait for the same answer of the disk.
    if completing.running != nil { return false }
    guard folder.appended > 0, !isInDoubt, snapshots.reading == nil else { return false }
    // What a purge takes out of a snapshot must not be gone while the purge itself may get lost.
    if !notebook.purged.isEmpty, !isDurable { return false }
    let isDue =
      folder.reader.unfolded.files >= snapshots.enough.files
      || folder.reader.unfolded.bytes >= snapshots.enough.bytes
      || snapshots.sweepDue.map { $0 <= folder.root.system.now } ?? false
      || isPurgeDue && isOwnSegmentFoldable
    return isDue && snapshots.pause <= folder.root.system.now
  }

  /// True if a compaction that begins now can fold whatever this process has written.
  private var isOwnSegmentFoldable: Bool {
    folder.writer.open.map { $0.isCompleteOrEmpty && !$0.needsSync } ?? true
  }

  /// Does one step of a compaction; after a failure none is tried for a while.
  func proceedCompacting() {
    do { _ = try compactSome(isForced: false) } catch {
      // A compaction is never needed.
      snapshots.pause = folder.root.system.now + Self.pauseTime
    }
  }

  /// Does what is due, as far as there is time, and waits for the disk. A compaction that is not done by then is given up.
  func fold(while isTime: () -> Bool) {
    while hasCompaction, isTime() {
      proceedCompacting()
      if compaction?.isWaiting == true, folder.disk.asideAnswer == nil { folder.awaitSync() }
    }
    compaction = nil
  }

  /// Does one step of a compaction; returns the result after the last one.
  private func compactSome(
    isForced: Bool, isPurging: Bool = false
  ) throws(StoreError) -> Compaction.Result? {
    if self.compaction == nil { notebook.redactHistories() }
    let compaction =
      self.compaction
      ?? Compaction(
        isForced: isForced, isPurging: isPurging, unfolded: folder.reader.unfolded,
        // It may begin for another reason, while our own segment has words of purged notes: then these are looked for again.
        redactions: isOwnSegmentFoldable ? notebook.redactions : snapshots.redactionsLooked)
    if self.compaction == nil { folder.reader.setUnfolded((0, 0)) }
    self.compaction = nil
    do { try compaction.step(&folder, notebook, &snapshots) } catch {
      folder.reader.countUnfolded(compaction.unfolded.files, compaction.unfolded.bytes)
      throw error
    }
    guard compaction.isDone else {
      self.compaction = compaction
      return nil
    }
    let now = folder.root.system.now
    snapshots.redactionsLooked = compaction.redactions
    // What others complete later, or an engine brings back, is looked at, too.
    snapshots.sweepDue =
      compaction.result.waitingFiles > 0 || compaction.result.writtenBytes > 0
        || !notebook.purged.isEmpty
      ? now + Compaction.grace + 60_000_000_000 : nil
    return compaction.result
  }

  /// Folds complete segments into a snapshot, and removes files that were folded a day ago. Waits for the disk.
  ///
  /// - Parameter isForced: whether to fold all complete segments and all snapshots into one. Otherwise it folds as a process does
  ///   by itself: nothing unless there is enough that is new, and no snapshots that are much larger than that.
  /// - Parameter isPurging: whether to remove at once, and not a day later, what has words of notes that were purged.
  /// - Throws: the error that stopped it; nothing is lost by that.
  public func compact(
    isForced: Bool = true, isPurging: Bool = false
  ) throws(StoreError) -> Compaction.Result {
    compaction = nil
    // What a purge takes out of a snapshot must not be gone while the purge itself may get lost.
    if !notebook.purged.isEmpty { try sync() }
    while true {
      if let result = try compactSome(isForced: isForced, isPurging: isPurging) { return result }
      if compaction?.isWaiting == true, folder.disk.asideAnswer == nil { folder.awaitSync() }
    }
  }
}
