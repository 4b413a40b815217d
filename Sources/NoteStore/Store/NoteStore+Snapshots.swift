internal import Bytes
internal import Notes
internal import ReplicatingTypes

// Snapshots are read before the logs: the records that they stand for are not read again.

extension NoteStore {
  /// The number of bytes of changes that are read at once.
  private static var pieceSize: Int { 256 << 10 }

  /// Lists the snapshots, and begins to read those that are new.
  func findSnapshots() {
    guard snapshots.reading == nil else { return }
    folder.watch.clearSnapshotNotice()
    // A snapshot may have come and gone that was never read.
    folder.coverage.invalidate()
    var files: [SnapshotFile] = []
    var names: [String] = []
    var gone: [KnownSnapshot] = []
    let path = "\(path)/\(SnapshotFormat.folder)"
    do {
      let folder = try folder.coverage.openFolder()
      names = try folder.names().filter { !LogName.isTemporary($0) }
      self.folder.damageList.clear(path)
      for name in names { open(name, in: folder, into: &files, &gone) }
    } catch {
      guard error.reason == .notFound else {
        return folder.damageList.report(path, 0, error)
      }
    }
    for (name, snapshot) in snapshots.known where !names.contains(name) {
      gone.append(snapshot)
      snapshots.known[name] = nil
      folder.damageList.clear("\(path)/\(name)")
    }
    for name in snapshots.unreadable.keys where !names.contains(name) {
      snapshots.unreadable[name] = nil
      folder.damageList.clear("\(path)/\(name)")
    }
    if !gone.isEmpty { checkHoldings(of: gone) }
    if !files.isEmpty {
      snapshots.reading = (SnapshotNews(of: files, since: notebook.version), files)
    }
  }

  private func open(
    _ name: String, in folder: borrowing FileDescriptor, into files: inout [SnapshotFile],
    _ gone: inout [KnownSnapshot]
  ) {
    let path = "\(folder.path)/\(name)"
    do throws(StoreError) {
      guard let status = try folder.status(of: name), status.kind == .file else { return }
      guard snapshots.known[name]?.status != status, snapshots.unreadable[name] != status else {
        return
      }
      snapshots.unreadable[name] = nil
      if let before = snapshots.known.removeValue(forKey: name) { gone.append(before) }
      do throws(StoreError) { try read(name, in: folder, into: &files) } catch {
        if error.isOfContent { snapshots.unreadable[name] = status }
        throw error
      }
    } catch {
      guard error.reason != .notFound else { return }
      self.folder.damageList.report(
        path, 0, error.detail.isEmpty ? error.description : error.detail,
        error.isOfContent ? .damaged : .unreadable)
    }
  }

  private func read(
    _ name: String, in folder: borrowing FileDescriptor, into files: inout [SnapshotFile]
  ) throws(StoreError) {
    guard let file = try SnapshotFile(name, in: folder) else { return }
    self.folder.coverage.invalidate()
    self.folder.root.learn(file.changes.notebook)
    files.append(file)
  }

  /// Checks whether the folder still holds the changes of snapshots that are gone. As a rule a greater snapshot has taken
  /// their place.
  private func checkHoldings(of gone: [KnownSnapshot]) {
    folder.noteMissingSnapshot()
    var changes: [Identifier: NumberRanges] = [:]
    if let folder = try? folder.coverage.openFolder(), let names = try? folder.names() {
      for name in names where !LogName.isTemporary(name) && snapshots.unreadable[name] == nil {
        for (replica, numbers) in (try? SnapshotFile(name, in: folder))?.changes.ranges ?? [] {
          changes.insert(numbers, of: replica)
        }
      }
    }
    // If snapshots do not hold them, the logs may. A full reread finds out.
    if !gone.allSatisfy({ $0.isHeld(by: changes) }) { folder.needsRepublish = true }
  }

  /// Reads some changes of the snapshots that are new, which can be merged then. What was read before is merged.
  func readSnapshots() {
    guard case (var news, let files)? = snapshots.reading else { return }
    snapshots.reading = nil  // or it would be copied
    var size = 0
    while size < Self.pieceSize {
      guard let (change, encoded) = news.next() else {
        // First the last of them are merged: a snapshot must hold what it stands for.
        if merging.pending.isReady {
          snapshots.reading = (news, files)
        } else {
          finish(files, news.failures)
        }
        return
      }
      guard !notebook.version.contains(change) else { continue }
      merging.pending.insert(change, Array(encoded))
      size += encoded.count
    }
    snapshots.reading = (news, files)
  }

  /// Ends reading snapshots: the logs need not be read where the snapshots stand for them.
  private func finish(_ files: [SnapshotFile], _ failures: [String: StoreError]) {
    for file in files {
      if let failure = failures[file.name] {
        if failure.isOfContent { snapshots.unreadable[file.name] = file.status }
        // The logs may still be there, and hold the same changes.
        folder.damageList.report(
          file.path, 0, failure.detail.isEmpty ? failure.description : failure.detail,
          failure.isOfContent ? .damaged : .unreadable)
        continue
      }
      folder.damageList.clear(file.path)
      snapshots.known[file.name] = KnownSnapshot(file)
      // The next start has to read it, unless a new archive says that it is known.
      archiving.unkept += Int(clamping: file.status.size)
      let due = file.status.changed + Compaction.grace
      snapshots.sweepDue = max(due, snapshots.sweepDue ?? due)
      let ranges = Dictionary(
        file.changes.ranges.map { ($0.replica, $0.numbers) }, uniquingKeysWith: { a, _ in a })
      for piece in file.coverage {
        // A snapshot that stands for changes of a session must hold them, unless they are known.
        let last = max(
          notebook.version[piece.session], ranges[piece.session]?.upperBound ?? 0)
        guard piece.end.changes <= last else {
          folder.damageList.report(file.path, 0, "it lacks changes of session \(piece.session)")
          continue
        }
        cover(piece, file.path)
      }
    }
    _ = coverWaiting()
  }

  /// Covers the pieces of sessions that waited for the records before them; returns whether there were any.
  func coverWaiting() -> Bool {
    if snapshots.waiting.isEmpty { return false }
    var left: [SessionPiece] = []
    swap(&left, &snapshots.waiting)
    let count = left.count
    for piece in left.sorted(by: { $0.start.number < $1.start.number }) { cover(piece, path) }
    return snapshots.waiting.count < count
  }

  private func cover(_ piece: SessionPiece, _ path: String) {
    switch folder.cover(piece) {
    case .advances: counts[piece.session] = piece.end.changes
    case .known: break
    case .waits: snapshots.waiting.append(piece)
    case .differs:
      folder.damageList.report(
        path, 0, "it tells session \(piece.session) otherwise than it was read before", .refused)
    }
  }
}

extension NoteStore {
  /// Compares the bytes of all snapshots with the hashes in their names, and reports those that differ. O(bytes).
  public func verifySnapshots() {
    guard let folder = try? folder.coverage.openFolder(),
      let names = try? folder.names()
    else { return }
    for name in names where SnapshotFile.isName(name) {
      guard let file = try? SnapshotFile(name, in: folder) else { continue }
      var hash = SHA256()
      var offset: UInt64 = 0
      while let bytes = try? file.descriptor.next(&offset) { hash.update(bytes) }
      if SnapshotFormat.name(of: hash) != name {
        self.folder.damageList.report(file.path, 0, SnapshotFile.otherContent)
      }
    }
  }
}
