internal import ReplicatingTypes

// Records and files that the folder must hold may be missing. A full pass that could list every folder notices it and sets
// `needsRepublish`. The full reread that follows finds out which records are missing.

extension LogFolder {
  /// Forgets the files that the last full pass did not find. Their records are missing unless another file or a snapshot has them.
  ///
  /// - Parameters:
  ///   - names: the names that the pass found in `log`.
  ///   - leftOut: the number of those that are complete folders and were not looked at (`CompleteFolders.leaveOut`). These are all complete folders that are
  ///     known if it is as large as the number of those.
  ///   - unreadable: those of folders of which nothing is known.
  mutating func detectMissingFiles(names: [String], leftOut: Int, unreadable: Set<String>) {
    if leftOut < completeFolders.folders.count {
      let names = Set(names)
      for name in completeFolders.folders.keys where !names.contains(name) {
        forgetCompleteFolder(name)
      }
    }
    let gone = reader.files.filter { key, file in
      guard file.pass < reader.passes, !unreadable.contains(LogName.top(key)) else { return false }
      // The files of a complete folder were not read in this pass. Those that were there when it was listed still are.
      return file.pass < completeFolders.folders[LogName.top(key)]?.pass ?? .max
    }
    for key in gone.keys { reader.removeFile(at: key) }
    for case let scan? in gone.values.map(\.scan)
    where !needsRepublish && !reader.holds(scan, openSession: writer.session) {
      needsRepublish = true
    }
    checkExpectedRecords()
  }

  /// Compares the records that the folder holds with those that it should.
  private mutating func checkExpectedRecords() {
    let expected = ledger.expectedRecords
    if expected.isEmpty { return }
    ledger.check(against: reaches { expected[$0] != nil })
  }

  /// Checks that the files which this process has written are still there.
  mutating func checkOwnFiles() {
    for file in ledger.ownFiles where file.isMissing(on: root.system) {
      ledger.remove(file)
      if coverage.contains(file.numbers, of: file.session) { continue }
      needsRepublish = true
      lose(file.session, from: file.first, Self.replaced(file.path))
    }
  }

  /// Forgets a complete folder that has changed or is missing. If an earlier run has read it, its files are not known here, so the
  /// records of its session are checked.
  mutating func forgetCompleteFolder(_ name: String) {
    guard let folder = completeFolders.forget(name), folder.isRemembered,
      let session = Identifier(name)
    else { return }
    ledger.noteChangedFolder(of: session, head: reader.sessions[session]?.head.number)
  }

  /// Notes that a snapshot is gone. The records of all sessions are checked, because other files may not hold those it stood for.
  mutating func noteMissingSnapshot() {
    coverage.invalidate()
    for (session, progress) in reader.sessions where session != writer.session {
      ledger.setExpected(progress.head.number, of: session)
    }
  }

  /// Expects the records that a full reread has found. If they are gone by the next pass, it notices that, even if no earlier
  /// pass has seen their files.
  ///
  /// - Parameters:
  ///   - found: how many records of sessions the reread has found.
  ///   - files: the files in which it has found them.
  /// - Complexity: O(files).
  mutating func expect(_ found: [Identifier: UInt64], in files: [String: LogFile]) {
    var expected = found
    if let session = writer.session { expected[session] = nil }
    for (key, file) in files {
      // This file holds a divergent history of its session; no pass can confirm it, and every pass would lead to a full
      // reread.
      guard let scan = file.scan, let here = reader.files[key], here.seen == file.seen,
        !here.isUnread, here.scan?.number ?? 0 < scan.number
      else { continue }
      expected[scan.header.session] = nil
    }
    for (session, number) in expected {
      guard let head = reader.sessions[session]?.head else { continue }
      ledger.expect(min(number, head.number), of: session)
    }
  }

  /// The numbers up to which the folder holds all records of sessions, as far as they were read.
  func reaches(
    of isWanted: (Identifier) -> Bool = { _ in true }
  ) -> [Identifier: UInt64] {
    var pieces = rememberedPieces(in: completeFolders.folders, of: isWanted)
    func insert(_ session: Identifier, after first: UInt64, _ last: UInt64) {
      guard first < last, isWanted(session) else { return }
      pieces.insert(first + 1...last, of: session)
    }
    for case let scan? in reader.files.values.map(\.scan) {
      insert(scan.header.session, after: scan.header.recordsBefore, scan.number)
    }
    if let open = writer.open {
      insert(open.session, after: open.header.recordsBefore, open.end.number)
    }
    return pieces.mapValues(\.reach)
  }

  /// The records that snapshots stand for and those in complete folders, as far as they were read by this run or are in the archive.
  func rememberedPieces(
    in folders: [String: CompleteFolder], of isWanted: (Identifier) -> Bool = { _ in true }
  ) -> [Identifier: NumberRanges] {
    var pieces = coverage.ranges().filter { isWanted($0.key) }
    for (name, folder) in folders {
      let last = folder.unreadNews?.known.number ?? folder.last
      guard folder.first < last, let session = Identifier(name), isWanted(session) else { continue }
      pieces.insert(folder.first + 1...last, of: session)
    }
    return pieces
  }

  /// Notes that the records of a piece are known from a snapshot. The session's files are read from its end on.
  mutating func cover(_ piece: SessionPiece) -> LogReader.Cover {
    // All records of this process's sessions are known, and `NoteStore.written` counts their changes.
    if writer.sessions.contains(piece.session) { return .known }
    return reader.cover(piece)
  }
}
