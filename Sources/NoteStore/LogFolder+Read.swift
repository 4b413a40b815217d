internal import ReplicatingTypes

/// What is known of a file below `log`.
struct LogFile {
  /// How far it was read; nil until its header was.
  var scan: LogScan?
  /// What it looked like when it was last read as far as it went.
  var seen: FileStatus?
  /// Whether there is something to read even if it looks the same.
  var isUnread = false
}

extension LogFolder {
  /// Which files to look at.
  public enum Scope: Sendable {
    /// All of them. At the start, now and then, and wherever watching is silent.
    case everything
    /// Those that `drainWatch()` heard of; everything, where there is no watching.
    case noticed
  }

  /// The records that were not handed out yet, of all sessions but the one being written. Those of one
  /// session come in their order.
  ///
  /// A record that is not complete, or the rest of its append is not, is handed out by a later call. A
  /// file that cannot be read further is listed in `damage`; that is never an error.
  ///
  /// - Parameter limit: stop after about so many bytes of payload; call again to go on. An empty result
  ///   means that nothing is left.
  /// - Complexity: O(new bytes + files looked at).
  public mutating func readNew(
    _ scope: Scope = .everything, limit: Int = .max
  ) -> [Record] {
    var records: [Record] = []
    var left = limit
    let all = scope == .everything || watches.isEverythingNoticed || usableWatcher == nil
    if all {
      watches.isEverythingNoticed = false
      prepareWatches()
    }
    let names = watches.noticed
    watches.noticed = []
    do {
      try readIdentity()
      clearDamage("\(path)/\(NotebookFile.name)")
    } catch {
      // The logs can be read all the same.
      report("\(path)/\(NotebookFile.name)", 0, error.description)
    }
    do {
      let root = try FileDescriptor.folder(path, followingLinks: true, on: system)
      let log = try root.folder("log")
      for name in try all ? log.names() : names.sorted() {
        if left <= 0 {
          watches.noticed.insert(name)
          continue
        }
        switch try log.status(of: name)?.kind {
        case .file: read(name, in: log, key: name, limit: &left, into: &records)
        case .folder: readFolder(name, in: log, limit: &left, into: &records)
        default: continue
        }
      }
      clearDamage("\(path)/log")
    } catch {
      if error.reason != .notFound { report("\(path)/log", 0, error.description) }
    }
    return records
  }

  /// Reads the files in the folder called `name`; folders inside it are nobody's.
  private mutating func readFolder(
    _ name: String, in log: borrowing FileDescriptor, limit: inout Int, into records: inout [Record]
  ) {
    guard !Self.isTemporary(name) else { return }
    // First the watch, then the look: what comes in between is noticed or seen.
    watchSession(name)
    let path = "\(log.path)/\(name)"
    do {
      let folder = try log.folder(name)
      for file in try folder.names() {
        guard limit > 0 else {
          watches.noticed.insert(name)
          break
        }
        read(file, in: folder, key: "\(name)/\(file)", limit: &limit, into: &records)
      }
      clearDamage(path)
    } catch {
      if error.reason != .notFound { report(path, 0, error.description) }
    }
  }

  /// Reads on in one file.
  private mutating func read(
    _ name: String, in folder: borrowing FileDescriptor, key: String, limit: inout Int,
    into records: inout [Record]
  ) {
    guard !Self.isTemporary(name) else { return }
    var file = files[key] ?? LogFile()
    let path = "\(folder.path)/\(name)"
    do {
      guard let status = try folder.status(of: name), status.kind == .file else { return }
      if let seen = file.seen {
        if seen == status, !file.isUnread { return }
        // Another file in the same place, or a shorter one: read from the start, to check what it says
        // about records that are known already.
        let isShorter = status.size < file.scan?.offset ?? 0
        if !seen.isSameFile(as: status) || isShorter { file = LogFile() }
      }
      guard let opened = try folder.regularFile(name) else { return }
      file.seen = try opened.status()
      file.isUnread = false
      try read(opened, &file, key: key, limit: &limit, into: &records)
    } catch {
      guard error.reason != .notFound else { return }
      file.isUnread = true
      report(path, file.scan?.offset ?? 0, error.description)
    }
    files[key] = file
  }

  private mutating func read(
    _ opened: borrowing FileDescriptor, _ file: inout LogFile, key: String, limit: inout Int,
    into records: inout [Record]
  ) throws(StoreError) {
    let size = file.seen?.size ?? 0
    let isFromStart = file.scan == nil
    if isFromStart { file.scan = try begin(opened, key: key, size: size) }
    guard var scan = file.scan else { return }
    let session = scan.header.session
    guard session != live?.session else {
      // A copy of what we are writing. It counts when we have stopped.
      file.isUnread = true
      return
    }
    let stop = try scan.read(opened, size: size, known: known[session] ?? .init(), limit: &limit) {
      entries, head in
      for entry in entries {
        records.append(
          Record(
            session: session, number: entry.number, type: entry.type, payload: entry.payload))
      }
      if head.number > known[session]?.number ?? 0 { known[session] = head }
    }
    file.scan = scan
    switch stop {
    case .damaged(let offset, let description):
      report(opened.path, offset, description)
    case .rewritten:
      // The same file with other bytes where ours were. From the start, but not for ever: somebody may
      // be writing it right now.
      file.scan = nil
      file.isUnread = isFromStart
      if !isFromStart { try read(opened, &file, key: key, limit: &limit, into: &records) }
    case .limited:
      file.isUnread = true
      watches.noticed.insert(String(key.prefix { $0 != "/" }))
      clearDamage(opened.path)
    case .end, .needs:
      clearDamage(opened.path)
      try checkShorterCopy(scan, key: key, path: opened.path)
    }
  }

  /// Reads the header of a file; nil when it is no log, not yet one, or damaged.
  private mutating func begin(
    _ opened: borrowing FileDescriptor, key: String, size: UInt64
  ) throws(StoreError) -> LogScan? {
    let bytes = try opened.read(min(LogFormat.headerSize, Int(clamping: size)), at: 0)
    do {
      let scan = try LogScan(decoding: bytes[...])
      guard scan.header.segment == 0, scan.number == 0 else {
        report(opened.path, 0, "a later segment, which this version cannot read")
        return nil
      }
      aliases.insert(scan.header.notebook)
      return scan
    } catch {
      switch error {
      case .incomplete: clearDamage(opened.path)
      case .damaged: report(opened.path, 0, "a damaged header")
      case .newerFormat(let version): report(opened.path, 0, "of a later format (\(version))")
      case .foreign:
        // Only what is called like a log is expected to be one.
        if Self.isLogName(key) { report(opened.path, 0, "not a log") }
      }
      return nil
    }
  }

  /// Compares a file that ends before what is known of its session with one that goes further.
  ///
  /// Rare (conflict copies, restored backups), so it reads the other file again instead of remembering
  /// a hash for every record.
  private mutating func checkShorterCopy(
    _ scan: LogScan, key: String, path: String
  ) throws(StoreError) {
    let session = scan.header.session
    guard scan.number > 0, scan.number < known[session]?.number ?? 0 else { return }
    let end = LogScan.Known(number: scan.number, hash: scan.hash)
    for (otherKey, other) in files where otherKey != key {
      guard let otherScan = other.scan, otherScan.header.session == session,
        otherScan.number >= scan.number
      else { continue }
      let parts = otherKey.split(separator: "/")
      let root = try FileDescriptor.folder(self.path, followingLinks: true, on: system)
      var folder = try root.folder("log")
      if parts.count > 1 { folder = try folder.folder(String(parts[0])) }
      guard let opened = try folder.regularFile(String(parts[parts.count - 1])) else { continue }
      let size = try opened.status().size
      let bytes = try opened.read(min(LogFormat.headerSize, Int(clamping: size)), at: 0)
      guard var again = try? LogScan(decoding: bytes[...]) else { continue }
      var limit = Int.max
      let stop = try again.read(opened, size: size, known: end, limit: &limit) { _, _ in }
      if case .damaged = stop, again.number < scan.number {
        report(path, scan.offset, "another content of the session than was read before")
      }
      return
    }
  }

  /// Names that synchronisation engines and we use for files that are not finished.
  private static func isTemporary(_ name: String) -> Bool {
    name.hasPrefix(".") || name.hasPrefix("~") || name.hasSuffix(".tmp")
      || name.hasSuffix(".partial")
  }

  /// Whether a path below `log` is one that we would give: `<32 hex>/<number>.open`.
  private static func isLogName(_ key: String) -> Bool {
    let parts = key.utf8.split(separator: UInt8(ascii: "/"))
    guard parts.count == 2, Identifier(Substring(parts[0])) != nil, key.hasSuffix(".open") else {
      return false
    }
    return parts[1].dropLast(5).allSatisfy { (0x30...0x39).contains($0) }
  }
}

extension LogScan {
  /// How much is read from a file at once, unless an append is larger.
  private static let readSize = 1 << 18

  /// Reads on in a file as far as it is complete.
  ///
  /// - Parameter hand: takes the records of some appends, and the place in the chain after them.
  mutating func read(
    _ file: borrowing FileDescriptor, size: UInt64, known: Known, limit: inout Int,
    hand: ([Entry], Known) -> Void
  ) throws(StoreError) -> Stop {
    var need = Self.readSize
    while true {
      // Never more than the file has: a length in it is a claim, its size is a fact.
      guard size > window else { return .end }
      let rest = Int(clamping: size - window)
      let wanted = min(need, rest)
      let bytes = try file.read(wanted, at: window)
      var entries: [Entry] = []
      let before = window
      let isShort = bytes.count < wanted  // the file shrank while it was read
      let stop = consume(bytes, known: known, limit: &limit, into: &entries)
      if window > before { hand(entries, Known(number: number, hash: hash)) }
      switch stop {
      case .damaged, .rewritten, .limited: return stop
      case .needs(let count):
        guard !isShort, count <= Int(clamping: size - window) else { return stop }
        // Twice as much when all of it was one append: reading that again must not become quadratic.
        need = max(count, window > before ? Self.readSize : need * 2)
      case .end:
        guard !isShort, window + UInt64(LogFormat.hashSize) < size else { return .end }
        need = Self.readSize
      }
    }
  }
}
