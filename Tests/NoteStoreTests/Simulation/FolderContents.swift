import ReplicatingTypes

@testable import NoteStore
@testable import Notes

/// Which changes stand in the files of a notebook's folder: what `LogFolder` finds out bit by bit, read at once and in the
/// plainest way.
///
/// Where a file is damaged, or not all there, what is behind that counts as far as a process finds it: what the rest proves is no
/// business of the plainest way.
struct FolderContents {
  /// A log file as far as it is valid.
  struct Log {
    var session: Identifier
    var entries: [LogScan.Entry]
    var isWhole: Bool

    /// Nil for what is no log.
    init?(_ bytes: [UInt8]) {
      guard var scan = try? LogScan(decoding: bytes[...]) else { return nil }
      var limit = Int.max
      entries = []
      let window = Array(bytes[Int(scan.window)...])
      let stop = scan.consume(window, known: ChainPosition(), limit: &limit, into: &entries)
      isWhole = stop == .end
      session = scan.header.session
    }
  }

  /// A snapshot, if all of it is valid.
  struct Snapshot {
    var coverage: [SessionPiece]
    var changes: PackedChanges

    /// Nil for what is no snapshot.
    init?(_ bytes: [UInt8]) {
      var reader = ByteReader(bytes)
      guard (try? reader.header(.snapshot)) != nil, let head = try? reader.block(),
        let coverage = try? SnapshotFormat.coverage(decoding: head)
      else { return nil }
      let packed = Array(bytes.suffix(reader.remaining))
      guard let changes = try? PackedChanges(packed) else { return nil }
      for (replica, _) in changes.ranges {
        for block in changes.blocks(of: replica) {
          guard (try? changes.decode(block, packed[block.bytes])) != nil else { return nil }
        }
      }
      (self.coverage, self.changes) = (coverage, changes)
    }
  }

  /// Files that were read before: most stay as they are.
  final class Cache {
    fileprivate var logs: [[UInt8]: Log?] = [:]
    fileprivate var snapshots: [[UInt8]: Snapshot?] = [:]
    /// What folders had that were read lately: most of them stay as they are from one look to the next.
    private var folders: [(files: [String: [UInt8]], contents: FolderContents)] = []

    /// What stands in these files.
    func contents(of files: [String: [UInt8]]) -> FolderContents {
      if let known = folders.first(where: { $0.files == files }) { return known.contents }
      let contents = FolderContents(files, self)
      if folders.count == 16 { folders.removeFirst() }
      folders.append((files, contents))
      return contents
    }
  }

  /// What stands in files behind all earlier records of its session. Others that it follows may be missing.
  private(set) var changes: Set<ChangeID> = []
  /// How many records of each session can be read, from the first one on.
  private(set) var lengths: [Identifier: UInt64] = [:]
  /// Sessions of which files tell two histories.
  private(set) var forks: Set<Identifier> = []

  /// - Parameter files: all of the folder, by their paths in it.
  private init(_ files: [String: [UInt8]], _ cache: Cache) {
    var sessions: [Identifier: [UInt64: LogScan.Entry]] = [:]
    var pieces: [Identifier: [SessionPiece]] = [:]
    for (path, bytes) in files where path.hasPrefix("snap/") && !path.hasPrefix("snap/.") {
      let snapshot = cache.snapshots[bytes] ?? Snapshot(bytes)
      cache.snapshots[bytes] = .some(snapshot)
      guard let snapshot else { continue }
      for piece in snapshot.coverage {
        pieces[piece.session, default: []].append(piece)
        sessions[piece.session, default: [:]] = sessions[piece.session] ?? [:]
      }
      for (replica, numbers) in snapshot.changes.ranges {
        for number in numbers { changes.insert(ChangeID(replica: replica, number: number)) }
      }
    }
    var isDamaged = false
    for (path, bytes) in files where Self.isRead(path) {
      let log = cache.logs[bytes] ?? Log(bytes)
      cache.logs[bytes] = .some(log)
      if log?.isWhole != true { isDamaged = true }
      guard let log else { continue }
      for entry in log.entries {
        let other = sessions[log.session, default: [:]].updateValue(entry, forKey: entry.number)
        if let other, other != entry { forks.insert(log.session) }
      }
    }
    for (session, entries) in sessions {
      var (record, change): (UInt64, UInt64) = (1, 1)
      while true {
        guard let entry = entries[record] else {
          let piece = pieces[session]?.first { $0.numbers.contains(record) }
          guard let end = piece?.end else { break }
          (record, change) = (end.number + 1, end.changes + 1)
          lengths[session] = end.number
          continue
        }
        switch RecordType(rawValue: entry.type) {
        case .change:
          changes.insert(ChangeID(replica: session, number: change))
          change += 1
        case .changes:
          for group in (try? ChangeSet.decode(entry.payload).changes)?.groups ?? [] {
            for number in group.first..<group.end {
              changes.insert(ChangeID(replica: group.replica, number: number))
            }
          }
        case nil: break
        }
        lengths[session] = record
        record += 1
      }
    }
    if isDamaged { insertFound(files) }
  }

  /// Adds what a process finds there that knows nothing from elsewhere.
  private mutating func insertFound(_ files: [String: [UInt8]]) {
    let disk = MemoryDisk()
    for (path, bytes) in files.sorted(by: { $0.key < $1.key }) {
      // Half of it would keep the process from looking any further.
      if path == NotebookFile.name, bytes.last != 0x0a { continue }
      disk.put(bytes, at: "/notes/\(path)")
    }
    let store = try! NoteStore(path: "/notes", on: disk) { Identifier(high: 0, low: 0) }
    for last in store.notebook.version.changes {
      for number in 1...last.number {
        changes.insert(ChangeID(replica: last.replica, number: number))
      }
    }
    for (session, progress) in store.folder.reader.sessions {
      lengths[session] = max(lengths[session] ?? 0, progress.head.number)
    }
  }

  /// Files in `log` and in folders there, but for those that somebody has not finished.
  private static func isRead(_ path: String) -> Bool {
    let parts = path.split(separator: "/")
    return parts.first == "log" && parts.count <= 3
      && !parts.dropFirst().contains { $0.hasPrefix(".") || $0.hasPrefix("~") }
  }
}
