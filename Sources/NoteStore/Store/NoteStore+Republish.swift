internal import Notes
internal import ReplicatingTypes

// Writing changes and records again that the folder has lost, or may have lost.

extension NoteStore {
  /// True if something may have to be written again.
  public var isInDoubt: Bool {
    folder.doubtful != nil || folder.needsRepublish || republishing.missing != nil
  }

  /// Checks our own segment, and writes again what is missing or doubtful. If that fails, the next change tries again.
  func tryToRepublish() {
    // What is read and not merged would seem to be missing.
    if isMerging {
      merging.needsRepublish = true
      return
    }
    // A process that has not written and misses nothing does not write now.
    guard folder.appended > 0 || folder.needsRepublish || republishing.missing != nil else {
      return
    }
    _ = folder.session()
    do {
      try republish()
      republishing.failure = nil
    } catch { republishing.failure = error }
  }

  /// Writes once more, under their original names, the changes that the folder lacks, and those that may not be there after
  /// all.
  func republish() throws(StoreError) {
    if folder.needsRepublish,
      let found = try? NoteStore(
        rereading: path, without: folder.disk.unreliable, on: folder.root.system)
    {
      folder.needsRepublish = false
      elsewhere = elsewhere.intersection(found.notebook.version)
      republishing.missing = missing(in: found)
      folder.expect(found.folder.reaches(), in: found.folder.reader.files)
      republishing.wait(for: merging.pending.replicas, notebook.version)
    }
    if let missing = republishing.missing {
      try publish(missing)
      for replica in missing.replicas { elsewhere[replica] = notebook.version[replica] }
      republishing.missing = nil
    }
    guard folder.doubtful != nil else { return }
    // Doubtful changes can still be read in our files, so only the files of others count.
    var known = elsewhere
    var isMore = true
    while isMore {
      let piece: ChangeSet
      do {
        (piece, known, isMore) = try notebook.changes(since: known, limit: 16 << 20)
      } catch { throw unreadable(error) }
      if !piece.isEmpty { try append(piece) }
    }
    folder.markRewritten()
  }

  /// Reads the folder as a process does that knows nothing from before, without the files of the sessions `ignored`.
  convenience init(
    rereading path: String, without ignored: Set<ReplicaID> = [], on system: any FileSystem
  ) throws(StoreError) {
    var folder = try LogFolder(path: path, on: system) { Identifier(high: 0, low: 0) }
    folder.reader.ignored = ignored
    self.init(folder, state: nil)
    readAll()
    try checkExhaustion()
  }

  /// The changes and records that `found`, which has reread the folder, does not know; nil if it knows everything.
  private func missing(in found: NoteStore) -> MissingRecords? {
    var missing = MissingRecords()
    for change in notebook.version.changes where !found.notebook.version.contains(change) {
      missing.replicas.insert(change.replica)
    }
    for (session, progress) in folder.reader.sessions where session != folder.writer.session {
      let (start, end) = (found.folder.reader.head(of: session), progress.head)
      guard start.number < end.number else { continue }
      let piece = SessionPiece(
        session: session,
        start: SessionPoint(
          number: start.number, hash: start.hash, changes: found.counts[session] ?? 0),
        end: SessionPoint(
          number: end.number, hash: end.hash,
          changes: max(own.written[session], counts[session] ?? 0)))
      // Refused and pending changes are not known.
      guard piece.end.changes <= notebook.version[session],
        (piece.start.changes...piece.start.changes + UInt64(piece.numbers.count))
          .contains(piece.end.changes)
      else { continue }
      missing.pieces.append(piece)
      if piece.end.changes > 0 { missing.replicas.insert(session) }
      // A record that is no change of its session holds changes of others, and it is not known any more which ones. A process
      // that has read the snapshot will not read these records, so the snapshot must hold the changes of all replicas.
      if piece.end.changes - piece.start.changes < piece.end.number - piece.start.number {
        missing.replicas.formUnion(notebook.version.replicas)
      }
    }
    return missing.replicas.isEmpty && missing.pieces.isEmpty ? nil : missing
  }

  /// Writes a snapshot of what the folder lacks, and waits until it is on disk. (Records of our own would not do: only with a
  /// snapshot can other processes go on reading the sessions that the missing records belong to.)
  private func publish(_ missing: MissingRecords) throws(StoreError) {
    let root = try folder.root.establish()
    try root.createFolder(SnapshotFormat.folder)
    let new = try NewSnapshot(in: root, folder.root.makeIdentifier())
    // All changes are written, from the first one on: the state of a replica before a later one would have to be found out.
    var writer = SnapshotWriter(
      of: identity!,
      coverage: missing.pieces.sorted { $0.session < $1.session },
      parts: missing.replicas.filter { notebook.version[$0] > 0 }.map {
        SnapshotWriter.Part(replica: $0, numbers: 1...notebook.version[$0], state: ReplicaState())
      }, folding: [])
    while let bytes = try writer.next(notebook) { try new.file.descriptor.append(bytes[...]) }
    try new.file.descriptor.synchronizeFile()
    let snapshot = try new.publish(as: writer.name)
    try new.folder.descriptor.synchronizeFolder()
    try root.synchronizeFolder()
    // The snapshot cannot be read without the changes that those in it follow.
    folder.disk.awaitOthers()
    snapshots.known[snapshot.name] = KnownSnapshot(snapshot)
    folder.coverage.invalidate()
  }
}

/// The state of writing changes and records again that the folder has lost, or may have lost.
struct Republishing {
  /// The records that a full reread did not find, until they are written again.
  var missing: MissingRecords?
  /// True if the disk has refused a second copy of records that it had refused before.
  var isDiskFailing = false
  /// The error that kept the records from being written again.
  var failure: StoreError?
  /// The replicas of changes that were pending at the last full reread, and how much of them was known then. Such a change
  /// may be one that the folder lacks.
  private var waiting: [(replica: ReplicaID, number: UInt64)] = []

  /// Notes the replicas of pending changes.
  mutating func wait(for replicas: some Sequence<ReplicaID>, _ version: Version) {
    waiting = replicas.map { ($0, version[$0]) }
  }

  /// Forgets the replicas of which more is known now; returns whether there are any.
  mutating func endWaiting(_ version: Version) -> Bool {
    let count = waiting.count
    waiting.removeAll { version[$0.replica] > $0.number }
    return waiting.count < count
  }
}

/// Changes and records that are in no file of the folder any more. Without the records the rest of their sessions cannot be
/// read.
struct MissingRecords {
  /// The replicas of which changes or records are missing.
  var replicas: Set<ReplicaID> = []
  /// The records.
  var pieces: [SessionPiece] = []
}
