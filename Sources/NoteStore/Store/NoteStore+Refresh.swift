internal import Notes

// Reading the folder, and merging what it has: all of it, or a slice at a time.
//
// What is noticed is read in pieces, and the changes of a piece are merged before the next is read. In between the notebook has a part of
// what other processes have written, with all that this part follows: so it can be changed, but it must not be shown to somebody who
// may know that there is more.

extension NoteStore {
  // MARK: - Noticing

  /// Notices what other processes have written since the last call; returns whether there may be something. Without a watcher
  /// there never is. To find that out takes one system call.
  public func notice() -> Bool {
    guard folder.watch.isUsable, folder.drainWatch() else { return false }
    begin(.noticed)
    return true
  }

  /// Begins to read what is noticed; everything where nothing is watched.
  public func beginRefresh() {
    _ = folder.drainWatch()
    begin(.noticed)
  }

  /// Begins to read what is noticed, or everything.
  func begin(_ scope: LogFolder.Scope) {
    // What could not be read may be read now.
    if merging.pending.hasUnreadable { merging.pending.retry() }
    if folder.needsFullPass(scope) || folder.watch.isSnapshotNoticed { findSnapshots() }
    if case .everything? = merging.unread { return }
    merging.unread = scope
  }

  // MARK: - Going on

  /// The bytes of records that are read at once. Where nothing is watched each piece would take a look at all files.
  var pieceSize: Int { folder.watch.isUsable ? 64 << 10 : .max }

  /// Merges some of what was read; reads a piece first if all of that is merged.
  ///
  /// - Parameters:
  ///   - limit: the work of merging after which to stop.
  ///   - size: about so many bytes are read at once.
  func proceed(atMost limit: Int = .max, reading size: Int = .max) -> Effects {
    if !merging.pending.isReady { readPiece(size) }
    return mergePending(atMost: limit)
  }

  /// Reads a piece of what is unread. Small snapshots come first, others are background work.
  private func readPiece(_ size: Int) {
    if snapshots.isReadingLittle { return readSnapshots() }
    guard let scope = merging.unread else { return }
    merging.unread = nil
    let isFull = folder.needsFullPass(scope)
    let records = folder.readNew(scope, limit: size)
    take(records)
    // With a new archive the next run need not read these folders again.
    archiving.unkept += folder.ledger.takeChangedFolders() << 8
    if records.reduce(0, { $0 + max(1, $1.payload.count) }) >= size {
      // The watch has taken note of what is left.
      merging.unread = .noticed
      merging.needsFullLook = merging.needsFullLook || isFull
    } else if coverWaiting() {
      // Pieces of snapshots may have waited for the new records, and files for these pieces.
      merging.unread = .noticed
    } else if merging.needsFullLook, !isFull {
      merging.unread = .everything
      merging.needsFullLook = false
    } else if isFull {
      merging.needsFullLook = false
    }
  }

  /// Reads everything there is, when the notebook is opened.
  func readAll() {
    findSnapshots()
    while snapshots.reading != nil {
      readSnapshots()
      _ = mergePending()
    }
    begin(.everything)
    while isMerging { _ = proceed() }
  }
}
