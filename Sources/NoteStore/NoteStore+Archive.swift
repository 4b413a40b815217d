public import Notes
internal import ReplicatingTypes

// What a store keeps between two runs: the notebook as an archive, and how far it had read the folder then. So the next
// run reads what is new, and a note when somebody asks for it. None of it is ever needed.
//
//     appendix = format (a byte, 5), count*(16 bytes of identity, number) of changes read from the log of each session,
//                count*(name, status, counted holdings) of snapshots that were read, number and bytes of complete files that nobody has
//                folded, when to look what can be removed (signed nanoseconds; 0: never), and the folder's bookmark

/// What is kept, and what is being written to be kept next.
struct Archiving {
  /// The folder for the state of this user's programs.
  let state: String?
  /// Bytes of the archive that the notebook rests on, and of changes since.
  var size = 0
  var unkept = 0
  var writing: (writer: ArchiveWriter, file: StateFolder.NewArchive, unkept: Int)?
  /// Bytes of changes that an archive has taken out of memory.
  fileprivate(set) var released = 0
  /// An archive is written at the end of the process if more than this is new.
  fileprivate static let worthKeeping = 1 << 16
  /// Nothing more is tried until so many bytes have come: the disk may be full, or refuse.
  fileprivate var nextTry = 0

  init(state: String?) {
    self.state = state
  }

  /// Whether so much is new that a new archive pays: beside a large one that takes more.
  fileprivate var isDue: Bool { unkept > max(1 << 20, size / 4, nextTry) }
  /// Whether much more is new than should be: all of it is in memory.
  fileprivate var isOverdue: Bool { unkept > max(32 << 20, size / 2, nextTry) }
}

extension NoteStore {
  /// Where the notebook is kept, if it can be.
  var stateFolder: StateFolder? {
    guard let state = archiving.state, let identity else { return nil }
    return StateFolder(
      state, notebook: identity, at: path, on: folder.system, closer: folder.syncs)
  }

  /// Goes on where an earlier run has left a notebook. Before anything is read.
  func resume() {
    guard let archive = stateFolder?.openArchive() else { return }
    var reader = ByteReader(archive.appendix)
    do {
      guard try reader.byte() == 5 else { return }
      var counts: [ReplicaID: UInt64] = [:]
      let count = try reader.count()
      counts.reserveCapacity(min(count, reader.remaining / 17))
      for _ in 0..<count { counts[try reader.identifier()] = try reader.varint() }
      var known: [String: KnownSnapshot] = [:]
      for _ in 0..<(try reader.count()) {
        let name = String(decoding: try reader.counted(), as: UTF8.self)
        known[name] = try KnownSnapshot(decoding: &reader)
      }
      let unfolded = (files: try reader.count(), bytes: try reader.varint())
      let sweepDue = try reader.signed()
      try folder.resume(at: &reader)
      self.counts = counts
      snapshots.known = known
      folder.unfolded = unfolded
      snapshots.sweepDue = sweepDue == 0 ? nil : sweepDue
    } catch { return }
    notebook = NoteBook(archive)
    elsewhere = notebook.version
    archiving.size = archive.size
  }

  // MARK: - In the background

  /// Whether there is something to do that can wait for whatever else there is to do.
  public var hasWork: Bool {
    folder.isVerifying || snapshots.reading != nil || archiving.writing != nil
      || canArchive && archiving.isDue || hasCompaction
  }

  /// Whether it can't wait long: what it would put away fills the memory.
  public var isWorkUrgent: Bool { canArchive && archiving.isOverdue }

  /// How many bytes of changes were taken out of memory so far, about: what they took there is free.
  public var released: Int { archiving.released }

  /// Does some of it, for a few milliseconds at most.
  public func work() -> Effects {
    if folder.isVerifying {
      let records = folder.verify(atMost: 64)
      // No start sees this without the archive: a `call`, which does not verify, would miss it for ever.
      if !records.isEmpty { archiving.unkept += Archiving.worthKeeping }
      return merge(records)
    }
    if snapshots.reading != nil {
      var effects = readSnapshots()
      // Files may have waited for what it stands for.
      if snapshots.reading == nil { effects.merge(read(.noticed)) }
      return effects
    }
    if archiving.writing != nil || canArchive && archiving.isDue {
      archive()
    } else if hasCompaction {
      proceedCompacting()
    }
    return Effects()
  }

  /// Keeps the notebook for the next run as far as there is time, if there is much to keep: for the end of the process.
  public func keep(while isTime: () -> Bool) {
    guard canArchive, archiving.writing != nil || archiving.unkept > Archiving.worthKeeping else {
      return
    }
    repeat { archive() } while archiving.writing != nil && isTime()
    archiving.writing = nil
  }

  /// While changes wait for others the archive would know neither them nor where to read them again. What was refused is to
  /// be read again, too: by every run, which reports it, and some day by a version of the program that understands it. And
  /// what the folder lacks has to be written again first: nobody would miss it any more.
  private var canArchive: Bool {
    pending.isEmpty && refusals.isEmpty && snapshots.reading == nil && snapshots.waiting.isEmpty
      && archiving.state != nil && !isInDoubt
  }

  /// Writes a piece of an archive.
  private func archive() {
    do {
      guard var writing = archiving.writing else { return try beginArchive() }
      archiving.writing = nil
      if let bytes = try writing.writer.next() {
        try writing.file.append(bytes)
        archiving.writing = writing
      } else {
        try finishArchive(writing.writer, writing.file, writing.unkept)
      }
    } catch {
      archiving.nextTry = archiving.unkept + 1 << 22
    }
  }

  private func beginArchive() throws {
    guard let stateFolder else {
      archiving.nextTry = archiving.unkept + 1 << 22
      return
    }
    var appendix = ByteWriter()
    appendix.byte(5)
    let counts = counts.merging(written) { max($0, $1) }
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
    appendix.varint(folder.unfolded.files)
    appendix.varint(folder.unfolded.bytes)
    appendix.signed(snapshots.sweepDue ?? 0)
    appendix.raw(folder.bookmark(knowing: Set(snapshots.known.keys)))
    let file = try stateFolder.createArchive("\(folder.makeIdentifier())")
    archiving.writing = (
      ArchiveWriter(&notebook, appendix: appendix.bytes), file, archiving.unkept
    )
  }

  /// Rests on the archive that was written.
  private func finishArchive(
    _ writer: ArchiveWriter, _ file: StateFolder.NewArchive, _ unkept: Int
  ) throws {
    guard let archive = try file.finish() else {
      archiving.nextTry = archiving.unkept + 1 << 22
      return
    }
    try notebook.adopt(archive, markedAt: writer.mark)
    archiving.size = archive.size
    archiving.unkept -= unkept
    archiving.released += unkept
    archiving.nextTry = 0
  }
}
