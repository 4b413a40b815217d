internal import Bytes
internal import Notes
internal import ReplicatingTypes

// Snapshots are read before the logs: what they stand for is not read again.

/// What is known of the snapshots in the folder.
struct Snapshots {
  /// Those whose changes are all known.
  var known: [String: KnownSnapshot] = [:]
  /// Those that are being read.
  var reading: (news: SnapshotNews, files: [SnapshotFile])?
  /// Whether what is being read is so small that nobody notices.
  var isReadingLittle: Bool {
    guard let files = reading?.files else { return false }
    return files.reduce(0) { $0 + $1.status.size } <= 1 << 20
  }
  /// What is known of sessions as soon as something before it is here.
  var waiting: [SessionPiece] = []
  /// Those whose bytes are what their names say, as far as this process has looked.
  var verified: [String: FileStatus] = [:]
  /// So much that is new is worth a snapshot.
  var enough: (files: Int, bytes: UInt64) = (64, 1 << 20)
  /// When to look what need not be there any more, by the clock that file times are taken from.
  var sweepDue: Int64?
  /// After a failure nothing is folded before that.
  var pause: Int64 = .min
}

/// A snapshot that was read.
struct KnownSnapshot: Equatable {
  /// What it looked like then.
  let status: FileStatus
  /// Of which replicas it holds which changes: 16 bytes, and two varints, the first and how many more. As bytes, because it is
  /// wanted only when the file is gone.
  let holdings: [UInt8]

  init(_ file: SnapshotFile) {
    status = file.status
    var writer = ByteWriter()
    for (replica, numbers) in file.changes.ranges {
      writer.identifier(replica)
      writer.varint(numbers.lowerBound)
      writer.varint(numbers.upperBound - numbers.lowerBound)
    }
    holdings = writer.bytes
  }

  init(decoding reader: inout ByteReader) throws(DecodingFailure) {
    status = try reader.status(.file)
    holdings = Array(try reader.counted())
  }

  func encode(into writer: inout ByteWriter) {
    writer.status(status)
    writer.counted(holdings)
  }

  /// Whether all that it held is in `others`.
  func isHeld(by others: [Identifier: NumberRanges]) -> Bool {
    var reader = ByteReader(holdings)
    while !reader.isAtEnd {
      guard let replica = try? reader.identifier(), let first = try? reader.varint(),
        let more = try? reader.varint(),
        case (let last, let overflow) = first.addingReportingOverflow(more),
        !overflow, others.contains(first...last, of: replica)
      else { return false }
    }
    return true
  }
}

extension NoteStore {
  /// How many bytes of changes are read at once.
  private static var pieceSize: Int { 256 << 10 }

  /// Looks which snapshots there are, and begins to read those that are new.
  func findSnapshots() {
    guard snapshots.reading == nil else { return }
    folder.watches.isSnapshotNoticed = false
    // One may have come and gone that was never read.
    folder.knownCoverage = nil
    var files: [SnapshotFile] = []
    var names: [String] = []
    var gone: [KnownSnapshot] = []
    let path = "\(path)/\(SnapshotFormat.folder)"
    do {
      let folder = try folder.snapshotFolder()
      names = try folder.names().filter { !LogFolder.isTemporary($0) }
      self.folder.clearDamage(path)
      for name in names { open(name, in: folder, into: &files, &gone) }
    } catch {
      guard error.reason == .notFound else { return folder.report(path, 0, error.description) }
    }
    for (name, snapshot) in snapshots.known where !names.contains(name) {
      gone.append(snapshot)
      snapshots.known[name] = nil
      folder.clearDamage("\(path)/\(name)")
    }
    if !gone.isEmpty { miss(gone) }
    if !files.isEmpty {
      snapshots.reading = (SnapshotNews(of: files, since: notebook.version), files)
    }
  }

  private func open(
    _ name: String, in folder: borrowing FileDescriptor, into files: inout [SnapshotFile],
    _ gone: inout [KnownSnapshot]
  ) {
    let path = "\(folder.path)/\(name)"
    do {
      guard let status = try folder.status(of: name), status.kind == .file else { return }
      guard snapshots.known[name]?.status != status else { return }
      if let before = snapshots.known.removeValue(forKey: name) { gone.append(before) }
      guard let file = try SnapshotFile(name, in: folder) else { return }
      self.folder.knownCoverage = nil
      self.folder.identities.insert(file.changes.notebook)
      files.append(file)
    } catch {
      guard error.reason != .notFound else { return }
      self.folder.report(path, 0, error.detail.isEmpty ? error.description : error.detail)
    }
  }

  /// Looks whether the folder still holds what snapshots held that are gone. As a rule a larger one has taken their place.
  private func miss(_ gone: [KnownSnapshot]) {
    folder.missSnapshot()
    var changes: [Identifier: NumberRanges] = [:]
    if let folder = try? folder.snapshotFolder(), let names = try? folder.names() {
      for name in names where !LogFolder.isTemporary(name) {
        for (replica, numbers) in (try? SnapshotFile(name, in: folder))?.changes.ranges ?? [] {
          changes.insert(numbers, of: replica)
        }
      }
    }
    // If not, the logs may; that takes a closer look.
    if !gone.allSatisfy({ $0.isHeld(by: changes) }) { folder.isLacking = true }
  }

  /// Reads some changes of the snapshots that are new.
  func readSnapshots() -> Effects {
    guard case (var news, let files)? = snapshots.reading else { return Effects() }
    snapshots.reading = nil  // or it would be copied
    var size = 0
    while size < Self.pieceSize {
      guard let (change, encoded) = news.next() else {
        let effects = mergePending()
        finish(files, news.failures)
        return effects
      }
      guard !notebook.version.contains(change) else { continue }
      pending.insert(change, Array(encoded))
      size += encoded.count
    }
    let effects = mergePending()
    snapshots.reading = (news, files)
    return effects
  }

  /// Everything that could be read was: now the logs need not be read where the snapshots stand for them.
  private func finish(_ files: [SnapshotFile], _ failures: [String: StoreError]) {
    for file in files {
      if let failure = failures[file.name] {
        // The logs may still be there, and say it all.
        folder.report(file.path, 0, failure.detail)
        continue
      }
      folder.clearDamage(file.path)
      snapshots.known[file.name] = KnownSnapshot(file)
      // A look at it costs the next start something, until an archive says that it is known.
      archiving.unkept += Int(clamping: file.status.size)
      let due = file.status.changed + Compaction.grace
      snapshots.sweepDue = max(due, snapshots.sweepDue ?? due)
      let ranges = Dictionary(
        file.changes.ranges.map { ($0.replica, $0.numbers) }, uniquingKeysWith: { a, _ in a })
      for piece in file.coverage {
        // Whoever says that a session's changes are here must have them.
        let last = max(
          notebook.version[piece.session], ranges[piece.session]?.upperBound ?? 0)
        guard piece.end.changes <= last else {
          folder.report(file.path, 0, "it lacks changes of session \(piece.session)")
          continue
        }
        cover(piece, file.path)
      }
    }
    _ = coverWaiting()
  }

  /// Goes on with pieces of sessions that have waited for what comes before them; whether any of them told something.
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
      folder.report(
        path, 0, "it tells session \(piece.session) otherwise than it was read before")
    }
  }
}

extension NoteStore {
  /// Looks whether the bytes of all snapshots are what their names say, and reports those that are not. O(bytes).
  public func verifySnapshots() {
    guard let folder = try? folder.snapshotFolder(), let names = try? folder.names() else { return }
    for name in names where SnapshotFile.isName(name) {
      guard let file = try? SnapshotFile(name, in: folder) else { continue }
      var hash = SHA256()
      var offset: UInt64 = 0
      while let bytes = try? file.descriptor.next(&offset) { hash.update(bytes) }
      if hash.snapshotName != name {
        self.folder.report(file.path, 0, SnapshotFile.otherContent)
      }
    }
  }
}

// MARK: - Compaction

extension NoteStore {
  /// How long nothing is tried after a failure, in nanoseconds: ten minutes.
  private static var pauseTime: Int64 { 600_000_000_000 }

  /// Whether there is something to do for a compaction: one goes on, or is due. Who has not written does not fold: opening a
  /// notebook changes nothing.
  var hasCompaction: Bool {
    if let compaction { return !compaction.isWaiting || folder.asideAnswer != nil }
    guard folder.appended > 0, !isInDoubt, snapshots.reading == nil else { return false }
    let isDue =
      folder.unfolded.files >= snapshots.enough.files
      || folder.unfolded.bytes >= snapshots.enough.bytes
      || snapshots.sweepDue.map { $0 <= folder.system.now } ?? false
    return isDue && snapshots.pause <= folder.system.now
  }

  /// Does some of a compaction.
  func proceedCompacting() {
    do { _ = try compactSome(isForced: false) } catch {
      // Nothing depends on it.
      snapshots.pause = folder.system.now + Self.pauseTime
    }
  }

  /// Does some of a compaction; returns what it has done when it is done.
  private func compactSome(isForced: Bool) throws(StoreError) -> Compaction.Result? {
    let compaction = self.compaction ?? Compaction(isForced: isForced, unfolded: folder.unfolded)
    if self.compaction == nil { folder.unfolded = (0, 0) }
    self.compaction = nil
    do { try compaction.step(self) } catch {
      folder.unfolded.files += compaction.unfolded.files
      folder.unfolded.bytes += compaction.unfolded.bytes
      throw error
    }
    guard compaction.isDone else {
      self.compaction = compaction
      return nil
    }
    let now = folder.system.now
    snapshots.sweepDue =
      compaction.result.waitingFiles > 0 || compaction.result.writtenBytes > 0
      ? now + Compaction.grace + 60_000_000_000 : nil
    return compaction.result
  }

  /// Folds complete files into a snapshot, and removes what was folded a day ago. Waits for the disk.
  ///
  /// - Parameter isForced: whether to fold all of them and all snapshots into one; else as a process does by itself, which leaves
  ///   alone what is too little to be worth it.
  /// - Throws: why it could not; nothing is lost by that.
  public func compact(isForced: Bool = true) throws(StoreError) -> Compaction.Result {
    compaction = nil
    while true {
      if let result = try compactSome(isForced: isForced) { return result }
      if compaction?.isWaiting == true, folder.asideAnswer == nil { folder.awaitSync() }
    }
  }
}
