internal import Bytes
internal import Notes
internal import ReplicatingTypes

/// Reads the complete segments of all sessions, to find those that a snapshot may stand for.
///
/// It relies on nothing that was read before. A segment counts only if its chain is whole, goes on from a known position,
/// and holds the same changes as the notebook, byte for byte, but for what was redacted.
struct Sweep {
  /// A file in `log` that is not written any more.
  struct Segment {
    let folder: String
    let name: String
    let status: FileStatus
    /// The records in it.
    let piece: SessionPiece
    /// The last change of each other session in it.
    let carried: [ChangeID]
    /// True if it has words of notes that were purged.
    let isUnredacted: Bool
  }

  /// The folders that were not read, the next one at the end; and the unread files of the one that is being read.
  private var folders: [String]
  private var files: [String] = []
  /// The known positions in the session whose folder is being read, with the number of changes before each.
  private var points: [SessionPoint] = []
  private var folder = ""
  private(set) var segments: [Segment] = []
  /// The files that have, or may have, words of purged notes and can't be folded now, by their paths in `log`: they are being written,
  /// wait for records that are missing, may not be read by this user, or have names that are no segments'.
  private(set) var unfoldable: [String] = []
  /// The positions that snapshots name.
  private let known: [Identifier: [SessionPoint]]
  /// The records that snapshots stand for.
  private let coverage: [SessionPiece]
  /// The session that this process is writing. Its open segment must not be folded.
  private let openSession: Identifier?

  /// The age in nanoseconds at which an open segment counts as abandoned by its writer: 30 days.
  static let abandonedTime: Int64 = 30 * 86_400_000_000_000

  init(folders: [String], coverage: [SessionPiece], openSession: Identifier?) {
    self.folders = folders.filter { Identifier($0) != nil }.reversed()
    var known: [Identifier: [SessionPoint]] = [:]
    for piece in coverage { known[piece.session, default: []] += [piece.start, piece.end] }
    self.known = known
    self.coverage = coverage
    self.openSession = openSession
  }

  /// Reads the next folder or file; returns the number of bytes read, nil when there is none left. Files that cannot be read
  /// are left out.
  mutating func next(in log: borrowing FileDescriptor, _ book: NoteBook) -> Int? {
    if files.isEmpty {
      guard let next = folders.popLast() else { return nil }
      folder = next
      let session = Identifier(next)!
      points = [SessionPoint()] + (known[session] ?? [])
      let names: [String]
      do { names = try log.folder(next).names() } catch {
        note(error, at: next, book)
        return 0
      }
      // The last one first: they are taken from the end.
      files = names.map { (number: UInt64($0.prefix { $0.isNumber }) ?? .max, name: $0) }
        .sorted { $0 > $1 }.map(\.name)
      return 0
    }
    return look(at: files.removeLast(), in: log, book)
  }

  /// Reads a file; returns the number of bytes read.
  private mutating func look(
    at name: String, in log: borrowing FileDescriptor, _ book: NoteBook
  ) -> Int {
    let key = "\(folder)/\(name)"
    let sealed = LogName.segment(key)
    guard sealed != nil || LogName.isSegment(key) || !book.purged.isEmpty,
      let file = open(name, in: log, book), let status = try? file.status(),
      sealed != nil || status.changed < log.system.now - Self.abandonedTime
        || !book.purged.isEmpty
    else { return 0 }
    let isFoldable =
      sealed != nil
      || LogName.isSegment(key) && status.changed < log.system.now - Self.abandonedTime
    let (header, entries, end) = Self.records(of: file, status.size)
    guard let header, header.session == Identifier(self.folder), let end,
      sealed.map({ $0.names(header.segment, end: end.hash) })
        ?? (!isFoldable || header.session != openSession)
    else { return Int(clamping: status.size) }
    let changes = UInt64(entries.count { $0.type == RecordType.change.rawValue })
    // The segment has to begin, or to end, at a known position.
    var start = points.first {
      $0.number == header.recordsBefore && $0.hash == header.hashBefore
    }
    if start == nil,
      let after = points.first(where: { $0.number == end.number && $0.hash == end.hash }),
      after.changes >= changes
    {
      start = SessionPoint(
        number: header.recordsBefore, hash: header.hashBefore, changes: after.changes - changes)
    }
    var isUnredacted = false
    if start == nil { start = position(before: entries, header, end, book) }
    guard let start else {
      // Its records before this one are missing, so nobody can tell yet which changes it has.
      if !book.purged.isEmpty { unfoldable.append(key) }
      return Int(clamping: status.size)
    }
    guard let carried = Self.compare(entries, of: header.session, start, book, &isUnredacted)
    else {
      if !book.purged.isEmpty { unfoldable.append(key) }
      return Int(clamping: status.size)
    }
    guard isFoldable else {
      if isUnredacted { unfoldable.append(key) }
      return Int(clamping: status.size)
    }
    let point = SessionPoint(
      number: end.number, hash: end.hash, changes: start.changes + changes)
    points.append(point)
    segments.append(
      Segment(
        folder: self.folder, name: name, status: status,
        piece: SessionPiece(session: header.session, start: start, end: point), carried: carried,
        isUnredacted: isUnredacted))
    return Int(clamping: status.size)
  }

  private mutating func open(
    _ name: String, in log: borrowing FileDescriptor, _ book: NoteBook
  ) -> FileDescriptor? {
    do { return try log.folder(folder).regularFile(name) } catch {
      note(error, at: "\(folder)/\(name)", book)
      return nil
    }
  }

  /// Notes a file or folder that this user may not read.
  private mutating func note(_ error: StoreError, at key: String, _ book: NoteBook) {
    if error.reason == .permission, !book.purged.isEmpty { unfoldable.append(key) }
  }

  /// The position before a segment inside of a piece that a snapshot stands for, which an engine has brought back without its neighbours;
  /// nil if there is no such piece. Of the session's changes its first is the one that is the same in the notebook.
  private func position(
    before entries: [LogScan.Entry], _ header: LogHeader, _ end: ChainPosition, _ book: NoteBook
  ) -> SessionPoint? {
    let piece = coverage.first {
      $0.session == header.session && $0.start.number <= header.recordsBefore
        && end.number <= $0.end.number
    }
    guard let piece else { return nil }
    var changes = piece.start.changes
    if let first = entries.first(where: { $0.type == RecordType.change.rawValue }) {
      let last = min(piece.end.changes, book.version[header.session])
      guard changes < last else { return nil }
      var number: UInt64?
      try? book.forEachEncoded(of: header.session, in: changes + 1...last) { next, encoded, _ in
        if ChangeHash.isSame(first.payload[...], encoded) { number = next }
        return number == nil
      }
      guard let number else { return nil }
      changes = number - 1
    }
    return SessionPoint(
      number: header.recordsBefore, hash: header.hashBefore, changes: changes)
  }

  /// The records of a file, and the position at its end; nil instead of that if the file is not whole.
  private static func records(
    of file: borrowing FileDescriptor, _ size: UInt64
  ) -> (LogHeader?, [LogScan.Entry], ChainPosition?) {
    guard let head = try? file.read(LogFormat.headerSize, at: 0),
      var scan = try? LogScan(decoding: head[...])
    else { return (nil, [], nil) }
    var entries: [LogScan.Entry] = []
    var limit = Int.max
    let stop = try? scan.read(file, size: size, known: .init(), limit: &limit) { read, _ in
      entries += read
    }
    // A file with half an append at its end is still being written or copied, or its writer was killed.
    guard stop == .end, scan.number > scan.header.recordsBefore else {
      return (scan.header, [], nil)
    }
    return (scan.header, entries, ChainPosition(number: scan.number, hash: scan.hash))
  }

  /// Compares the changes in records with those of the notebook.
  ///
  /// - Returns: the last change of each other session in them; nil if the notebook lacks one or has another content of it.
  private static func compare(
    _ entries: [LogScan.Entry], of session: Identifier, _ start: SessionPoint, _ book: NoteBook,
    _ isUnredacted: inout Bool
  ) -> [ChangeID]? {
    var own: [ArraySlice<UInt8>] = []
    var carried: [ChangeID] = []
    for entry in entries {
      switch RecordType(rawValue: entry.type) {
      case .change: own.append(entry.payload[...])
      case .changes:
        guard let (_, changes) = try? ChangeSet.decode(entry.payload) else { return nil }
        for (first, encoded) in changes.consecutive {
          guard knows(encoded, from: first, book, &isUnredacted) else { return nil }
          carried.append(
            ChangeID(replica: first.replica, number: first.number + UInt64(encoded.count) - 1))
        }
      case nil: return nil
      }
    }
    let first = ChangeID(replica: session, number: start.changes + 1)
    return knows(own, from: first, book, &isUnredacted) ? carried : nil
  }

  private static func knows(
    _ changes: [ArraySlice<UInt8>], from first: ChangeID, _ book: NoteBook,
    _ isUnredacted: inout Bool
  ) -> Bool {
    if changes.isEmpty { return true }
    let last = first.number + UInt64(changes.count) - 1
    guard book.version[first.replica] >= last else { return false }
    var (isEqual, isComplete) = (true, false)
    var hasOther = false
    try? book.forEachEncoded(of: first.replica, in: first.number...last) { number, encoded, _ in
      let known = changes[Int(number - first.number)]
      isEqual = known.isEqual(to: encoded)
      if !isEqual, ChangeHash.isSame(known, encoded) { (isEqual, hasOther) = (true, true) }
      if isEqual { isComplete = number == last }
      return isEqual
    }
    isUnredacted = isUnredacted || hasOther
    return isEqual && isComplete
  }
}
