public import Notes

// Reading the folder.

extension NoteStore {
  /// Takes what other processes have written since the last call.
  public func refresh() -> Effects {
    _ = folder.drainWatch()
    return read(.noticed)
  }

  /// Takes what other processes have written, if the watcher tells of anything; nil if not. That takes one call of the
  /// system. Without a watcher it is always nil.
  public func refreshIfNoticed() -> Effects? {
    guard folder.watch.isUsable, folder.drainWatch() else { return nil }
    return read(.noticed)
  }

  func read(_ scope: LogFolder.Scope) -> Effects {
    var effects = Effects()
    if folder.needsFullPass(scope) || folder.watch.isSnapshotNoticed {
      findSnapshots()
      // Small snapshots are read at once, others when there is time.
      while snapshots.isReadingLittle { effects.merge(readSnapshots()) }
    }
    effects.merge(merge(folder.readNew(scope)))
    // Pieces of snapshots may go on behind the new records, and files behind these pieces.
    while coverWaiting() { effects.merge(merge(folder.readNew(.noticed))) }
    // An archive would spare the next run reading these folders again.
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
