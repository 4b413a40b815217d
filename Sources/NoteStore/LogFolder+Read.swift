internal import ReplicatingTypes

/// What is known of a file below `log`.
struct LogFile {
  /// How far it was read; nil until its header was.
  var scan: LogScan?
  /// What it looked like when it was last read as far as it went.
  var seen: FileStatus?
  /// Whether there is something to read even if it looks the same.
  var isUnread = false
  /// Where reading goes on behind damage, as soon as what is missing before that is here, and how many records there are.
  var salvage: (scan: LogScan, count: UInt64)?
  /// What is damaged in it, where first, and could be read all the same.
  var mended: (offset: UInt64, description: String)?
  /// The last look at everything that found it.
  var look = 0
  /// Whether it was counted among the complete files.
  var isCounted = false
}

/// A folder in `log` with nothing but complete segments of one session, all read.
struct SettledFolder: Equatable {
  /// What it looks like as long as that is so.
  var status: FileStatus
  /// How many records of the session come before those in it, and how many there are up to its last.
  var first: UInt64
  var last: UInt64
  /// The session has ended at `last`: its writer has nothing to add.
  var isEnded: Bool
  /// The look that found it so; 0 for an earlier run: what is known of its files is this then.
  var look = 0

  var isRemembered: Bool { look == 0 }
}

extension LogFolder {
  /// A folder is listed so often in one look, if files in it vanish while it is read.
  private static let mostListings = 100

  /// Which files to look at.
  public enum Scope: Sendable {
    /// All of them. At the start, now and then, and wherever watching is silent.
    case everything
    /// Those that `drainWatch()` heard of; everything, where there is no watching.
    case noticed
  }

  /// The records that were not handed out yet, of all sessions but the one being written. Those of one
  /// session come in their order; a segment whose predecessors are not here waits for them.
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
    let all = looksEverywhere(scope)
    if all {
      watches.isEverythingNoticed = false
      prepareWatches()
      looks += 1
      isLookComplete = true
    }
    let noticed = watches.noticed
    watches.noticed = [:]
    if all || identities.isEmpty {
      do {
        try readIdentities()
        clearDamage("\(path)/\(NotebookFile.name)")
      } catch {
        // The logs can be read all the same.
        report("\(path)/\(NotebookFile.name)", 0, error.description)
      }
    }
    if all { checkKept() }
    do {
      let root = try openRoot()
      if all { isSilent = system.isSilent(root.number) }
      let log = try root.folder("log")
      let names = try all ? log.names() : noticed.keys.sorted()
      let isLeavingOut =
        isResuming && settled.count { $0.value.isEnded } > mostEndedLookedAt
      for name in names {
        if isLeavingOut, settled[name]?.isEnded == true {
          unverified.append(name)
        } else {
          let what = all ? .everything : noticed[name] ?? .everything
          look(at: name, what, in: log, limit: &left, into: &records)
        }
      }
      isResuming = false
      while left > 0, let key = ready.popLast() {
        readAgain(key, in: log, limit: &left, into: &records)
      }
      clearDamage("\(path)/log")
      if all, left > 0, isLookComplete { missWhatIsGone(names: Set(names)) }
    } catch {
      if error.reason != .notFound {
        report("\(path)/log", 0, error.description)
      } else if all {
        missWhatIsGone(names: [])
      }
    }
    return records
  }

  /// Whether the next look will be one at everything.
  func looksEverywhere(_ scope: Scope) -> Bool {
    if case .everything = scope { return true }
    return watches.isEverythingNoticed || usableWatcher == nil
  }

  /// Reads what was noticed of `name`: a file, or files in the folder called so.
  mutating func look(
    at name: String, _ noticed: Watches.Noticed, in log: borrowing FileDescriptor,
    limit: inout Int, into records: inout [Record]
  ) {
    guard limit > 0 else {
      watches.noticed[name] = noticed
      return
    }
    guard !Self.isTemporary(name) else { return }
    let path = "\(log.path)/\(name)"
    do {
      guard let status = try log.status(of: name) else {
        // It may have been a folder of logs.
        watches.isEverythingNoticed = true
        return
      }
      switch status.kind {
      case .file: read(name, in: log, key: name, limit: &limit, into: &records)
      case .folder:
        // First the watch, then the look: what comes in between is noticed or seen.
        watchSession(name)
        if settled[name]?.status == status { return }
        unsettle(name)
        let now = system.now
        let complete = try readFolder(name, noticed, in: log, limit: &limit, into: &records)
        clearDamage(path)
        // What changes in one tick of the clock that files have looks the same before and after.
        if let complete, status.changed < now - 2_000_000_000 { settle(name, complete, status) }
      case .other: return
      }
    } catch {
      guard error.reason != .notFound else { return }
      isLookComplete = false
      report(path, 0, error.description)
    }
  }

  /// Reads files in the folder called `name`; folders inside it are nobody's. Returns what is in it, if all of that is
  /// complete and known.
  private mutating func readFolder(
    _ name: String, _ noticed: Watches.Noticed, in log: borrowing FileDescriptor,
    limit: inout Int, into records: inout [Record]
  ) throws(StoreError) -> [String]? {
    let folder = try log.folder(name)
    var noticed = noticed
    for _ in 0..<Self.mostListings {
      let files: [String]
      switch noticed {
      case .everything: files = try folder.names()
      case .files(let some): files = some.sorted()
      }
      // By their number, so that segments rarely have to wait: 9 before 10.
      let numbers = files.map { UInt64($0.prefix { $0.isASCII && $0.isNumber }) ?? .max }
      var isAllThere = true
      for index in files.indices.sorted(by: { (numbers[$0], $0) < (numbers[$1], $1) }) {
        guard limit > 0 else {
          watches.notice(name)
          return nil
        }
        let file = files[index]
        let isThere = read(
          file, in: folder, key: "\(name)/\(file)", limit: &limit, into: &records)
        isAllThere = isAllThere && isThere
      }
      if isAllThere {
        guard case .everything = noticed else { return nil }
        return files.allSatisfy { isSettled("\(name)/\($0)") } ? files : nil
      }
      // Its writer may have given it its final name meanwhile.
      noticed = .everything
    }
    // A program goes on renaming files there. The next look goes on.
    watches.notice(name)
    isLookComplete = false
    return nil
  }

  /// Notes that a folder need not be looked at as long as it looks like this, if what its files hold is without gaps.
  private mutating func settle(_ name: String, _ complete: [String], _ status: FileStatus) {
    var held = NumberRanges()
    for case let scan? in complete.map({ files["\(name)/\($0)"]?.scan })
    where scan.number > scan.header.recordsBefore {
      held.insert(scan.header.recordsBefore + 1...scan.number)
    }
    guard held.ranges.count == 1, let numbers = held.ranges.first else { return }
    let isEnded = complete.contains {
      Self.segmentName("\(name)/\($0)")?.endsSession == true
        && files["\(name)/\($0)"]?.scan?.number == numbers.upperBound
    }
    settled[name] = SettledFolder(
      status: status, first: numbers.lowerBound - 1, last: numbers.upperBound, isEnded: isEnded,
      look: looks)
  }

  /// No longer relies on what is known of a folder.
  mutating func unsettle(_ name: String) {
    guard let folder = settled.removeValue(forKey: name), folder.isRemembered,
      let session = Identifier(name)
    else { return }
    promised[session] = sessions[session]?.head.number
    outdated += 1
  }

  /// Whether a file is a complete segment of the session its folder is named after, and everything in it was read.
  private func isSettled(_ key: String) -> Bool {
    guard let name = Self.segmentName(key), let file = files[key], !file.isUnread,
      file.mended == nil,
      let scan = file.scan, scan.offset == file.seen?.size,
      key.hasPrefix(scan.header.session.description)
    else { return false }
    return name.names(scan.header.segment, end: scan.hash)
  }

  /// Reads a file that was waiting for others.
  private mutating func readAgain(
    _ key: String, in log: borrowing FileDescriptor, limit: inout Int,
    into records: inout [Record]
  ) {
    let parts = key.split(separator: "/").map(String.init)
    guard parts.count == 2 else {
      read(key, in: log, key: key, limit: &limit, into: &records)
      return
    }
    guard let folder = try? log.folder(parts[0]) else { return }
    read(parts[1], in: folder, key: key, limit: &limit, into: &records)
  }

  /// Reads on in one file; returns false if nothing has its name any more.
  @discardableResult
  private mutating func read(
    _ name: String, in folder: borrowing FileDescriptor, key: String, limit: inout Int,
    into records: inout [Record]
  ) -> Bool {
    guard !Self.isTemporary(name) else { return true }
    var file = files[key] ?? LogFile()
    let before = file.scan
    let path = "\(folder.path)/\(name)"
    do {
      guard let status = try folder.status(of: name) else { return false }
      guard status.kind == .file else { return true }
      if file.seen == nil { takeOver(&file, status, called: name, in: folder.path, key: key) }
      if let seen = file.seen {
        if seen == status, !file.isUnread {
          file.look = looks
          files[key] = file
          return true
        }
        // Another file in the same place, or a shorter one: read from the start, to check what it says
        // about records that are known already.
        let isShorter = status.size < file.scan?.offset ?? 0
        if !seen.isSameFile(as: status) || isShorter { file = LogFile() }
        if seen != status { file.salvage = nil }
        // What was damaged may have been put right.
        if seen != status, file.mended != nil || file.scan?.headerState == .lost {
          file = LogFile()
        }
      }
      guard let opened = try folder.regularFile(name) else { return true }
      file.seen = try opened.status()
      file.isUnread = false
      try read(opened, &file, key: key, limit: &limit, into: &records)
    } catch {
      guard error.reason != .notFound else { return false }
      file.isUnread = true
      report(path, file.scan?.offset ?? 0, error.description)
    }
    file.look = looks
    files[key] = file
    let isAsFar = before.map { $0.header == file.scan?.header && $0.number <= file.scan!.number }
    if let before, isAsFar == false, !isHeld(before) { isLacking = true }
    return true
  }

  /// What is known of a segment from before it was complete and got its name: it need not be read again.
  private mutating func takeOver(
    _ file: inout LogFile, _ status: FileStatus, called name: String, in folder: String, key: String
  ) {
    guard let before = SegmentName(name)?.whileOpen else { return }
    let old = key.dropLast(name.utf8.count) + before
    guard files[String(old)]?.seen?.isSameFile(as: status) == true else { return }
    file = files.removeValue(forKey: String(old))!
    file.isUnread = true
    clearDamage("\(folder)/\(before)")
  }

  private mutating func read(
    _ opened: borrowing FileDescriptor, _ file: inout LogFile, key: String, limit: inout Int,
    into records: inout [Record]
  ) throws(StoreError) {
    let size = file.seen?.size ?? 0
    let isFromStart = file.scan == nil
    // What a damaged header said may be known by now.
    if isFromStart || file.scan?.headerState == .lost {
      file.scan = try begin(opened, key: key, size: size)
      if file.scan?.headerState != .lost { file.salvage = nil }
    }
    guard var scan = file.scan else { return }
    let session = scan.header.session
    if ignored.contains(session) { return }
    guard session != live?.session else {
      // A copy of what we are writing. It counts when we have stopped.
      file.isUnread = true
      return
    }
    switch scan.headerState {
    case .read: break
    case .mended: file.mended = file.mended ?? (0, "\(Self.damagedHeader); its records are kept")
    case .lost:
      if file.salvage == nil {
        file.salvage = try scan.continuation(behind: scan.window, in: opened, size: size)
      }
      // It may be no log at all.
      guard file.salvage != nil else { return }
      return try salvage(
        opened, &file, key: key, from: scan.window, Self.damagedHeader, limit: &limit,
        into: &records)
    }
    if scan.number == scan.header.recordsBefore {
      switch sessions[session, default: .init()].fit(scan.header) {
      case .fits: break
      case .waits:
        sessions[session]!.waiting[key] = scan.header.recordsBefore
        return settleDamage(opened.path, file)
      case .differs:
        return report(opened.path, 0, "it continues other content than was read of the session")
      }
    }
    var stop = try handOut(&scan, of: opened, size: size, limit: &limit, into: &records)
    try mend(&scan, &stop, of: opened, &file, size: size, limit: &limit, into: &records)
    // Complete segments are on disk.
    if scan.number > file.scan?.number ?? 0, Self.segmentName(key) == nil {
      unsynced.insert(key)
      // It counts as not there, like all that the session has written before.
      if unreliable.contains(session) { isLacking = true }
    }
    if scan.header.recordsBefore > 0, scan.number > file.scan?.number ?? 0 {
      // The segments before it may be known from files that are gone. Then nobody else can read this one.
      promised[session] = max(scan.number, promised[session] ?? 0)
    }
    file.scan = scan
    switch stop {
    case .damaged(let offset, let description):
      try salvage(
        opened, &file, key: key, from: offset, description, limit: &limit, into: &records)
    case .rewritten:
      // The same file with other bytes where ours were. From the start, but not for ever: somebody may
      // be writing it right now.
      file.scan = nil
      file.isUnread = isFromStart
      if !isFromStart { try read(opened, &file, key: key, limit: &limit, into: &records) }
    case .limited:
      file.isUnread = true
      watches.notice(String(key.prefix { $0 != "/" }))
      settleDamage(opened.path, file)
    case .end, .needs:
      if let name = Self.segmentName(key),
        stop != .end || !name.names(scan.header.segment, end: scan.hash)
      {
        let description = "it ends otherwise than its name says"
        return try salvage(
          opened, &file, key: key, from: scan.offset, description, limit: &limit, into: &records)
      }
      settleDamage(opened.path, file)
      if stop == .end, Self.segmentName(key) != nil, !file.isCounted {
        file.isCounted = true
        unfolded.files += 1
        unfolded.bytes += size
      }
      try checkShorterCopy(scan, key: key, path: opened.path)
    }
  }

  /// Hands out what can be read on from `scan`.
  mutating func handOut(
    _ scan: inout LogScan, of file: borrowing FileDescriptor, size: UInt64, limit: inout Int,
    into records: inout [Record]
  ) throws(StoreError) -> LogScan.Stop {
    let session = scan.header.session
    let known = sessions[session]?.head ?? .init()
    return try scan.read(file, size: size, known: known, limit: &limit) { entries, head in
      for entry in entries {
        records.append(
          Record(
            session: session, number: entry.number, type: entry.type, payload: entry.payload))
      }
      advance(session, to: head)
    }
  }

  /// Notes that a session is known up to `head`, and which files can be read now.
  mutating func advance(_ session: Identifier, to head: LogScan.Known) {
    guard head.number > sessions[session]?.head.number ?? 0 else { return }
    sessions[session, default: .init()].head = head
    guard let waiting = sessions[session]?.waiting, !waiting.isEmpty else { return }
    // The first last, because `ready` is taken from the end.
    for (key, before) in waiting.sorted(by: { $0.value > $1.value }) where before <= head.number {
      sessions[session]!.waiting[key] = nil
      files[key]?.isUnread = true
      ready.append(key)
    }
  }

  /// Compares a file that ends before what is known of its session with what is known.
  ///
  /// Where no segment is known to end there, another file is read again instead of remembering a hash for every
  /// record: that is rare (conflict copies, restored backups).
  private mutating func checkShorterCopy(
    _ scan: LogScan, key: String, path: String
  ) throws(StoreError) {
    let header = scan.header
    guard scan.number > header.recordsBefore, let progress = sessions[header.session],
      scan.number < progress.head.number
    else { return }
    let differs = "another content of the session than was read before"
    let end = LogScan.Known(number: scan.number, hash: scan.hash)
    if let known = progress.firstEnd(after: header.recordsBefore), known.number <= scan.number {
      if known != end { report(path, scan.offset, differs) }
      return
    }
    for (otherKey, other) in files where otherKey != key {
      guard other.mended == nil, let otherScan = other.scan, otherScan.header == header,
        otherScan.number >= scan.number
      else { continue }
      guard let opened = try open(otherKey) else { continue }
      let size = try opened.status().size
      let bytes = try opened.read(LogFormat.headerSize, at: 0)
      guard var again = try? LogScan(decoding: bytes[...]) else { continue }
      var limit = Int.max
      let stop = try again.read(opened, size: size, known: end, limit: &limit) { _, _ in }
      if case .damaged = stop, again.number < scan.number { report(path, scan.offset, differs) }
      return
    }
  }

  /// Opens a file by its path below `log`; nil if it is gone, or no regular file.
  private func open(_ key: String) throws(StoreError) -> FileDescriptor? {
    let parts = key.split(separator: "/")
    do {
      let root = try openRoot()
      var folder = try root.folder("log")
      if parts.count > 1 { folder = try folder.folder(String(parts[0])) }
      return try folder.regularFile(String(parts[parts.count - 1]))
    } catch {
      if error.reason == .notFound { return nil }
      throw error
    }
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
      var bytes = try file.read(wanted, at: window)
      // In front of the first record stands the hash of a header that is damaged.
      if headerState == .mended, window < UInt64(LogFormat.headerSize),
        bytes.count >= LogFormat.hashSize
      {
        bytes.setInteger(hash.byteSwapped, at: 0)
      }
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
