internal import ReplicatingTypes

/// A file below `log`, as far as it was read.
struct LogFile {
  /// The position up to which it was read; nil until its header was.
  var scan: LogScan?
  /// Its status when it was last opened for reading, or when this process ended writing it.
  var seen: FileStatus?
  /// True if it has to be read again even if its status is the same.
  var isUnread = false
  /// The position behind damage at which reading goes on as soon as the records before it are known, and the number of
  /// records there.
  var salvage: (scan: LogScan, count: UInt64)?
  /// The first damage in it that did not keep its records from being read.
  var mended: (offset: UInt64, description: String)?
  /// True if it ends before the head of its session, and has other records than were read before: that is reported.
  var isContradicting = false
  /// The last full pass that found it.
  var pass = 0
  /// True if it is counted in `LogReader.unfolded`, or was before the last compaction.
  var isCounted = false
}

/// Reads the logs of all sessions, and knows the files and how far each session was read.
///
/// Records that stand in several files are handed out once, those of a session in their order. A segment whose
/// predecessors are not known waits for them.
///
/// This file holds the state and the steps that change it. `LogReader+Files.swift` reads files, `LogReader+Salvage.swift`
/// reads what can be read of damaged ones.
struct LogReader {
  let root: NotebookRoot
  let damage: DamageList
  let coverage: SnapshotCoverage

  /// The files below `log`, by their paths there.
  private(set) var files: [String: LogFile] = [:]
  /// The sessions, as far as their records were handed out or appended by this process.
  private(set) var sessions: [Identifier: SessionProgress] = [:]
  /// The complete files that were read or written since the last compaction began: how many, and their bytes.
  private(set) var unfolded: (files: Int, bytes: UInt64) = (0, 0)
  /// The number of full passes that were begun.
  private(set) var passes = 0
  /// The sessions whose files are not read, to find out what the folder holds without them.
  var ignored: Set<Identifier> = []
  /// Kept for other parts until `forgetNoticed()`: the files of others with new records that may not be on disk, by their paths
  /// below `log`. (They are not in `ReadPass`, so that the buffer stays and reading a keystroke allocates nothing for it.)
  private(set) var unsynced: [(key: String, session: Identifier)] = []
  /// Kept for other parts until `forgetNoticed()`: the sessions of which the folder should hold the records up to these numbers.
  private(set) var expected: [(session: Identifier, number: UInt64)] = []
  /// The files that waited for records which are known now; the next one is at the end.
  private var ready: [String] = []

  init(_ root: NotebookRoot, _ damage: DamageList, _ coverage: SnapshotCoverage) {
    self.root = root
    self.damage = damage
    self.coverage = coverage
  }

  mutating func beginFullPass() { passes += 1 }

  // MARK: - Sessions

  /// The position of the last record of a session that is known.
  func head(of session: Identifier) -> ChainPosition { sessions[session]?.head ?? .init() }

  /// Notes that a session is known up to `head`, and makes the files ready that waited for that.
  mutating func advance(_ session: Identifier, to head: ChainPosition) {
    guard head.number > sessions[session]?.head.number ?? 0 else { return }
    sessions[session, default: .init()].head = head
    guard let waiting = sessions[session]?.waiting, !waiting.isEmpty else { return }
    // The first one last, because `ready` is taken from the end.
    for (key, before) in waiting.sorted(by: { $0.value > $1.value }) where before <= head.number {
      sessions[session]!.waiting[key] = nil
      makeReady(key)
    }
  }

  /// Notes that a file waits until the record `number` of its session is known.
  mutating func wait(_ key: String, for number: UInt64, of session: Identifier) {
    sessions[session, default: .init()].waiting[key] = number
  }

  /// Notes where the segment ends after which this process has begun another one with `header`.
  mutating func addEnd(before header: LogHeader) {
    let end = ChainPosition(number: header.recordsBefore, hash: header.hashBefore)
    let last = sessions[header.session]?.ends.last?.number ?? 0
    if end.number > last { sessions[header.session, default: .init()].ends.append(end) }
  }

  /// Compares the position in the header of a segment with what is known of its session.
  mutating func fit(_ header: LogHeader) -> SessionProgress.Fit {
    sessions[header.session, default: .init()].fit(header)
  }

  /// Notes that the records of a piece are known from a snapshot. The session's files are read from its end on.
  mutating func cover(_ piece: SessionPiece) -> Cover {
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
    advance(piece.session, to: ChainPosition(number: piece.end.number, hash: piece.end.hash))
    return .advances
  }

  /// The effect of a piece of a snapshot.
  enum Cover {
    /// The session is known further than before.
    case advances
    /// The session was already known up to the end of the piece.
    case known
    /// Records before the piece are missing.
    case waits
    /// The piece belongs to a divergent history of the session.
    case differs
  }

  // MARK: - Files

  mutating func setFile(_ file: LogFile, at key: String) { files[key] = file }

  /// Forgets a file; returns it.
  @discardableResult
  mutating func removeFile(at key: String) -> LogFile? { files.removeValue(forKey: key) }

  /// Notes that a file can be read on.
  mutating func makeReady(_ key: String) {
    files[key]?.isUnread = true
    ready.append(key)
  }

  /// The next file that can be read on; the caller reads it.
  mutating func takeReady() -> String? { ready.popLast() }

  /// Takes over a segment of this process, so that reading goes on where it was written to.
  mutating func remember(_ segment: OpenSegment, isUnread: Bool) {
    var file = LogFile()
    file.scan = LogScan(
      header: segment.header, offset: segment.status.size, number: segment.end.number,
      hash: segment.end.hash)
    file.seen = (try? segment.descriptor.status()) ?? segment.status
    file.isUnread = isUnread
    files[segment.key] = file
  }

  /// Notes that a segment of this process got its final name, which was `key` before.
  mutating func rename(_ key: String, to segment: OpenSegment) {
    files[segment.key] = files.removeValue(forKey: key)
    files[segment.key]?.isCounted = true
    countUnfolded(1, segment.status.size)
  }

  /// Counts complete files that are not folded.
  mutating func countUnfolded(_ files: Int, _ bytes: UInt64) {
    unfolded.files += files
    unfolded.bytes += bytes
  }

  /// Sets the number of complete files that are not folded.
  mutating func setUnfolded(_ unfolded: (files: Int, bytes: UInt64)) { self.unfolded = unfolded }

  /// Takes over the files and sessions of a bookmark. Call it before anything is read.
  mutating func restore(files: [String: LogFile], sessions: [Identifier: SessionProgress]) {
    self.files = files
    self.sessions = sessions
  }

  /// True if the folder has the records of a segment at least as far as `scan` had them.
  ///
  /// - Parameter openSession: the session that is being written. `OpenSegment.place` tells whether its file is there.
  func holds(_ scan: LogScan, openSession: Identifier?) -> Bool {
    if scan.number == scan.header.recordsBefore || scan.header.session == openSession {
      return true
    }
    let isInFile = files.values.contains {
      $0.scan.map { $0.header == scan.header && $0.number >= scan.number } ?? false
    }
    return isInFile
      || coverage.contains(scan.header.recordsBefore + 1...scan.number, of: scan.header.session)
  }

  // MARK: - Notices for other parts

  mutating func noteUnsynced(_ key: String, of session: Identifier) {
    unsynced.append((key, session))
  }

  mutating func noteExpected(_ number: UInt64, of session: Identifier) {
    expected.append((session, number))
  }

  /// Forgets what was noticed for other parts, which have it now.
  mutating func forgetNoticed() {
    unsynced.removeAll(keepingCapacity: true)
    expected.removeAll(keepingCapacity: true)
  }

  // MARK: - Records

  /// Hands out the records that can be read on from `scan`.
  mutating func handOut(
    _ scan: inout LogScan, of file: borrowing FileDescriptor, size: UInt64, _ pass: inout ReadPass
  ) throws(StoreError) -> LogScan.Stop {
    let session = scan.header.session
    var left = pass.left
    defer { pass.left = left }
    return try scan.read(file, size: size, known: head(of: session), limit: &left) {
      entries, head in
      for entry in entries {
        pass.records.append(
          LogRecord(
            session: session, number: entry.number, type: entry.type, payload: entry.payload))
      }
      advance(session, to: head)
    }
  }
}

/// One pass over files of the folder: the records that were read, and notices of `LogReader` for the other parts of a
/// `LogFolder`. (More of these are in `LogReader.unsynced` and `expected`.)
struct ReadPass {
  /// The session of the open segment. Copies of it are not read before it ends.
  let openSession: Identifier?
  /// Reading stops after about this many more bytes of payload.
  var left: Int
  /// The records that were read, those of each session in their order.
  var records: [LogRecord] = []

  /// True if every file could be listed: only then is a file that was not found missing.
  var isComplete = true
  /// The folders in `log` that this user may not read, by their names. What is in them is not missing.
  var unreadable: Set<String> = []
  /// True if records that were read before are in no file any more.
  var isMissingRecords = false
  /// Folders in `log` in which there is more to read.
  var unfinished: [String] = []

  init(openSession: Identifier?, limit: Int = .max) {
    self.openSession = openSession
    left = limit
  }
}
