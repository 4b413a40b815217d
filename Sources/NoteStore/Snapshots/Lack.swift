internal import Notes
internal import ReplicatingTypes

/// What was in a folder and is not there any more: changes, and records, without which the rest of their sessions can't be
/// read.
struct Lack {
  /// The replicas of which changes are missing, or records.
  var replicas: Set<ReplicaID> = []
  var pieces: [SessionPiece] = []

  /// What `found`, which has read the folder as it is, does not know; nil if it knows everything.
  init?(of found: NoteStore, than store: NoteStore) {
    for change in store.notebook.version.changes where !found.notebook.version.contains(change) {
      replicas.insert(change.replica)
    }
    for (session, progress) in store.folder.sessions where session != store.folder.live?.session {
      let (start, end) = (found.folder.sessions[session]?.head ?? .init(), progress.head)
      guard start.number < end.number else { continue }
      let piece = SessionPiece(
        session: session,
        start: SessionPoint(
          number: start.number, hash: start.hash, changes: found.counts[session] ?? 0),
        end: SessionPoint(
          number: end.number, hash: end.hash,
          changes: store.written[session] ?? store.counts[session] ?? 0))
      // What was refused, or waits, is not known.
      guard piece.end.changes <= store.notebook.version[session],
        (piece.start.changes...piece.start.changes + UInt64(piece.numbers.count))
          .contains(piece.end.changes)
      else { continue }
      pieces.append(piece)
      if piece.end.changes > 0 { replicas.insert(session) }
      // Records that are no changes of their session hold changes of others. Of which is not known any more; and whoever has
      // read the snapshot will not read them.
      if piece.end.changes - piece.start.changes < piece.end.number - piece.start.number {
        replicas.formUnion(store.notebook.version.replicas)
      }
    }
    if replicas.isEmpty && pieces.isEmpty { return nil }
  }
}

extension NoteStore {
  /// Writes a snapshot of what the folder lacks, and waits until it is on disk. (A snapshot, and no records of our own: only so
  /// can others go on reading the sessions that it was of.)
  func publish(_ lack: Lack) throws(StoreError) {
    let root = try folder.establish()
    try root.createFolder(SnapshotFormat.folder)
    let new = try NewSnapshot(in: root, folder.makeIdentifier())
    // From the first change on: what is known of a replica later on would have to be found out.
    var writer = SnapshotWriter(
      of: identity!,
      coverage: lack.pieces.sorted { $0.session < $1.session },
      parts: lack.replicas.filter { notebook.version[$0] > 0 }.map {
        SnapshotWriter.Part(replica: $0, numbers: 1...notebook.version[$0], state: ReplicaState())
      }, folding: [])
    while let bytes = try writer.next(notebook) { try new.file.descriptor.append(bytes[...]) }
    try new.file.descriptor.synchronizeFile()
    let snapshot = try new.publish(as: writer.name)
    try new.folder.descriptor.synchronizeFolder()
    try root.synchronizeFolder()
    // It can't be read without what it follows.
    folder.awaitOthers()
    snapshots.known[snapshot.name] = KnownSnapshot(snapshot)
    folder.knownCoverage = nil
  }
}
