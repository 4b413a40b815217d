public import Notes

// Reading the folder.

extension NoteStore {
  /// Reads and merges what other processes have written since the last call.
  public func refresh() -> Effects {
    _ = folder.drainWatch()
    return read(.noticed)
  }

  /// Reads and merges what other processes have written, if there was an event; nil if not. To find that out takes one system
  /// call. Without a watcher the result is always nil.
  public func refreshIfNoticed() -> Effects? {
    guard folder.watch.isUsable, folder.drainWatch() else { return nil }
    return read(.noticed)
  }

  func read(_ scope: LogFolder.Scope) -> Effects {
    var effects = Effects()
    if folder.needsFullPass(scope) || folder.watch.isSnapshotNoticed {
      findSnapshots()
      // Small snapshots are read at once, others as background work.
      while snapshots.isReadingLittle { effects.merge(readSnapshots()) }
    }
    effects.merge(merge(folder.readNew(scope)))
    // Pieces of snapshots may have waited for the new records, and files for these pieces.
    while coverWaiting() { effects.merge(merge(folder.readNew(.noticed))) }
    // With a new archive the next run need not read these folders again.
    archiving.unkept += folder.ledger.takeChangedFolders() << 8
    return effects
  }

  /// Reads everything there is, when the notebook is opened.
  func readAll() {
    findSnapshots()
    while snapshots.reading != nil { _ = readSnapshots() }
    _ = read(.everything)
  }
}
