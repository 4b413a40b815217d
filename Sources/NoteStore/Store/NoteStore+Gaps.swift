public import Notes
internal import ReplicatingTypes

// What the notebook lacks, as far as that can be told, and what can be shown in spite of it.

extension NoteStore {
  /// The files and records that could not be read, with file, offset and what was kept; the notes that are shown without the rules of
  /// merging; and the reports `waiting` and `missing`.
  public var damage: [LogFolder.Damage] {
    folder.damage + refusals + unruled + [waiting, missing].compactMap { $0 }
  }

  private var unruled: [LogFolder.Damage] {
    RuleGuard.excluded.filter { notebook.version.contains($0.creation) }.sorted().map { note in
      LogFolder.Damage(
        path: path, offset: 0,
        description:
          "note \(note) is shown without the rules of merging, because these have ended a"
          + " process; `check --repair` has them tried again", cause: .refused)
    }
  }

  /// What the folder holds, or should hold, and the notebook lacks; empty if the notebook is whole.
  ///
  /// Every entry names a file or folder and the cause. While there is one, absence proves nothing: a note that is not here may be in what
  /// can't be read, and a text that is here may be an old one. The reports of `damage` that mean no loss are not among them: damage that
  /// was mended, and records that other files hold.
  ///
  /// Complete when nothing is to be merged (`isMerging`): after the notebook was opened, from an archive or without one, and after each
  /// `mergeAll`. O(damage).
  public var gaps: [LogFolder.Damage] { damage.filter(isGap) }

  private func isGap(_ damage: LogFolder.Damage) -> Bool {
    let snapshots = "\(path)/\(SnapshotFormat.folder)/"
    if damage.path.hasPrefix(snapshots) {
      return self.snapshots.known[String(damage.path.dropFirst(snapshots.count))] == nil
    }
    guard damage.cause == .damaged else { return true }
    switch loss(at: damage.path) {
    case .nothing, .mended: return false
    case .records, .unknown: return true
    // A damaged copy of `decent.json` hides no notes.
    case nil: return damage.path.hasPrefix("\(path)/log/")
    }
  }

  /// The notebook as it is shown: `notebook`, and while changes wait for others that are missing, with what can be told of them all the
  /// same (`NoteBook.supposing`). For reading only.
  ///
  /// - Complexity: O(1) if nothing waits, or nothing is new; else that of merging what waits.
  public var readableNotebook: NoteBook {
    guard !merging.pending.isEmpty, !isMerging else { return notebook }
    let waiting = merging.pending.changeCount
    if let shown = merging.shown, shown.waiting == waiting, shown.version == notebook.version {
      return shown.notebook
    }
    // An archive that can't be read is given up where it is needed to read the notebook itself.
    guard let supposing = try? notebook.supposing(merging.pending) else { return notebook }
    merging.shown = (supposing, waiting, notebook.version)
    return supposing
  }

  /// The number of changes that wait for others that are missing.
  public var waitingChanges: Int { isMerging ? 0 : merging.pending.changeCount }

  /// Looks something up in the notebook as it is shown.
  ///
  /// - Throws: `damaged` when it can be read neither from the archive nor from the folder.
  public func recallReadable<Result>(
    _ body: (borrowing NoteBook) throws(ArchiveFailure) -> Result
  ) throws(StoreError) -> Result {
    if merging.pending.isEmpty { return try recall(body) }
    do { return try body(readableNotebook) } catch {
      merging.shown = nil
      guard giveUpArchive() else { throw unreadable(error) }
    }
    do { return try body(readableNotebook) } catch { throw unreadable(error) }
  }

  /// A report about changes that wait for others which are missing; nil if none do. With several processes in a folder
  /// there may be some for a moment, when one file was read and another not yet.
  public var waiting: LogFolder.Damage? {
    if merging.pending.isEmpty || isMerging { return nil }
    let missing = merging.pending.missing.map(\.change)
    if missing.isEmpty {
      return LogFolder.Damage(
        path: path, offset: 0,
        description:
          "\(waitingChanges) changes must wait for others, which can't be read at present",
        cause: .waiting)
    }
    let names = missing.prefix(3).map { "change \($0.number) of session \($0.replica)" }
      .joined(separator: ", ")
    let more = missing.count > 3 ? " and \(missing.count - 3) more" : ""
    let changes = waitingChanges
    return LogFolder.Damage(
      path: path, offset: 0,
      description:
        "\(changes) \(changes == 1 ? "change" : "changes") must wait for others that are missing: \(names)\(more)."
        + " What can be told without these is shown, and can't be changed before they are there",
      cause: .waiting)
  }
}
