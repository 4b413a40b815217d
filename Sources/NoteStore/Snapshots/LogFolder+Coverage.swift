internal import ReplicatingTypes

// What snapshots say of sessions. Their files need not be there any more then.

extension LogFolder {
  /// The records that the snapshots in the folder stand for. Reads their beginnings, if they may have changed.
  mutating func coverage() -> [Identifier: NumberRanges] {
    if let coverage = knownCoverage { return coverage }
    var coverage: [Identifier: NumberRanges] = [:]
    coveringSnapshots = []
    if let folder = try? snapshotFolder(), let names = try? folder.names() {
      for name in names where !Self.isTemporary(name) {
        // One that cannot be read stands for nothing.
        guard let pieces = try? SnapshotFile.coverage(of: name, in: folder) else { continue }
        coverage.insert(pieces)
        coveringSnapshots.append(name)
      }
    }
    knownCoverage = coverage
    return coverage
  }

  /// The folder of snapshots; fails where there is none.
  func snapshotFolder() throws(StoreError) -> FileDescriptor {
    try openRoot().folder(SnapshotFormat.folder)
  }

  /// Takes note that the records of a piece are known: their changes were read from a snapshot. Whoever reads the session's
  /// files goes on behind them.
  ///
  /// - Returns: what became of it.
  mutating func cover(_ piece: SessionPiece) -> Cover {
    // We know better than anybody what we have written, and count it otherwise.
    if ours.contains(piece.session) || live?.session == piece.session { return .known }
    let progress = sessions[piece.session] ?? SessionProgress()
    if piece.start.number > progress.head.number { return .waits }
    for point in [piece.start, piece.end] {
      let end =
        point.number == progress.head.number
        ? progress.head.hash : progress.end(at: point.number)?.hash
      if let end, end != point.hash { return .differs }
    }
    if piece.end.number <= progress.head.number { return .known }
    sessions[piece.session, default: .init()].covered = piece.end.number
    advance(piece.session, to: LogScan.Known(number: piece.end.number, hash: piece.end.hash))
    return .advances
  }

  enum Cover {
    /// The session is known further than before.
    case advances
    /// It was known as far.
    case known
    /// Something before it is missing.
    case waits
    /// It tells another history of the session.
    case differs
  }

  /// A snapshot that was there is no more. What it stood for may stand elsewhere.
  mutating func missSnapshot() {
    knownCoverage = nil
    for (session, progress) in sessions where session != live?.session {
      promised[session] = progress.head.number
    }
  }
}
