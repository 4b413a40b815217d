internal import Notes
public import ReplicatingTypes

// The archive that a store keeps between two runs: the notebook, and the positions up to which it had read the folder then.
// With it the next run reads only what is new, and a note when it is asked for. Without it a run reads the whole folder.
//
//     appendix = count*(16 bytes of identity, number) of changes read from the log of each session,
//                count*(name, status, counted holdings, number of purged notes of which it has no words) of snapshots that
//                were read, 1 if the folder is to be looked through for words of purged notes and else 0, number and bytes of
//                complete files that are not folded, time of the next look for removable files (signed nanoseconds; 0: never), the folder's
//                bookmark

extension NoteStore {
  /// The branches that have come since the archive was written and of which the user is told now: on this machine no process has told of
  /// them before. Without a state folder each process tells.
  public func takeUntoldBranches() -> [ReplicaID] {
    let new = takeNewBranches()
    if new.isEmpty { return [] }
    let folder = stateFolder
    // A forgery could have any number of them.
    return new.prefix(100).filter { folder?.noteTelling(of: "\($0)") ?? true }
  }

  /// True if the notebook reads from an archive.
  public var hasArchive: Bool { archiving.size > 0 }

  /// Takes over the notebook and the positions of the archive, if there is one. Call it before anything is read. In an archive the
  /// rules of merging have been applied to all notes.
  func resume() {
    if !RuleGuard.excluded.isEmpty { return }
    let archive: NotebookArchive
    do {
      guard let stateFolder, let found = try stateFolder.openArchive() else { return }
      archive = found
    } catch {
      // Without it the process would take for all there is what the folder has, and leave the next one no more.
      if let error = error as? StoreError, error.isOfProcess {
        folder.damageList.noteExhaustion(error)
      }
      return
    }
    var reader = ByteReader(archive.appendix)
    do {
      var counts: [ReplicaID: UInt64] = [:]
      let count = try reader.count()
      counts.reserveCapacity(min(count, reader.remaining / 17))
      for _ in 0..<count { counts[try reader.identifier()] = try reader.amount() }
      var known: [String: KnownSnapshot] = [:]
      for _ in 0..<(try reader.count()) {
        let name = String(decoding: try reader.counted(), as: UTF8.self)
        known[name] = try KnownSnapshot(decoding: &reader)
      }
      let isLookDue = try reader.byte() == 1
      let unfolded = (files: try reader.count(), bytes: try reader.amount())
      let sweepDue = try reader.signed()
      try folder.resume(at: &reader, kept: self.stateFolder?.manifest().folders ?? [])
      self.counts = counts
      snapshots.known = known
      folder.reader.setUnfolded(unfolded)
      snapshots.sweepDue = sweepDue == 0 ? nil : sweepDue
      snapshots.redactionsLooked = isLookDue ? -1 : 0
    } catch { return }
    notebook = NoteBook(archive)
    elsewhere = notebook.version
    archiving.size = archive.size
  }

  /// True if an archive may be written. Pending changes would be neither in it nor read again. Refused records have to be
  /// read again by every run, which reports them, until a version of the program understands them. Records that the folder
  /// lacks have to be written again first: a run that has them from an archive would not notice that they are missing. In an archive
  /// the rules of merging have been applied to all notes.
  var canArchive: Bool {
    RuleGuard.excluded.isEmpty && merging.pending.isEmpty && merging.unread == nil
      && refusals.isEmpty && snapshots.reading == nil
      && snapshots.waiting.isEmpty
      && archiving.state != nil && !isInDoubt
  }

  /// Writes a piece of an archive, in which about as many bytes of notes get signatures.
  func archive(signing limit: Int = .max) {
    do {
      guard var writing = archiving.writing else { return try beginArchive(signing: limit) }
      archiving.writing = nil
      if let bytes = try writing.writer.next() {
        try writing.file.append(bytes)
        archiving.writing = writing
      } else {
        try finishArchive(writing.writer, writing.file, writing.unkept)
      }
    } catch {
      // The next one is written from what is in the folder.
      if error is ArchiveFailure { giveUpArchive() }
      archiving.postpone()
    }
  }

  private func beginArchive(signing limit: Int) throws {
    guard let stateFolder else {
      archiving.postpone()
      return
    }
    var appendix = ByteWriter()
    var counts = counts
    for last in own.written.changes {
      counts[last.replica] = max(counts[last.replica] ?? 0, last.number)
    }
    appendix.varint(counts.count)
    for (session, count) in counts {
      appendix.identifier(session)
      appendix.varint(count)
    }
    appendix.varint(snapshots.known.count)
    for (name, snapshot) in snapshots.known {
      appendix.counted(name.utf8)
      snapshot.encode(into: &appendix)
    }
    appendix.byte(snapshots.redactionsLooked < notebook.redactions ? 1 : 0)
    appendix.varint(folder.reader.unfolded.files)
    appendix.varint(folder.reader.unfolded.bytes)
    appendix.signed(snapshots.sweepDue ?? 0)
    appendix.raw(folder.bookmark(knowing: Set(snapshots.known.keys)))
    let file = try stateFolder.createArchive("\(folder.root.makeIdentifier())")
    archiving.writing = (
      ArchiveWriter(
        &notebook, appendix: appendix.bytes, keys: archiving.keys, signing: limit), file,
      archiving.unkept
    )
  }

  /// Lets the notebook read from the archive that was written.
  private func finishArchive(
    _ writer: ArchiveWriter, _ file: StateFolder.NewArchive, _ unkept: Int
  ) throws {
    guard let archive = try file.finish() else {
      archiving.postpone()
      return
    }
    folder.completeFolders.noteArchived()
    try notebook.adopt(archive, markedAt: writer.mark)
    archiving.finish(size: archive.size, kept: unkept)
  }
}
