internal import ReplicatingTypes

// Reading the files in `log`, one after the other: a file that was read before is read on, one that was replaced is read
// again and compared with the records that are known.

extension LogReader {
  /// A folder is listed at most this often in one pass, if files in it vanish while it is read.
  private static let mostListings = 100

  /// Reads files in `folder`, which has the name `name`. Folders inside it are ignored.
  ///
  /// - Returns: the names of the files in the folder, if all of them are complete segments that were read to their ends;
  ///   else nil.
  mutating func readFolder(
    _ name: String, _ noticed: NoticedFiles, in folder: borrowing FileDescriptor,
    _ pass: inout ReadPass
  ) throws(StoreError) -> [String]? {
    var noticed = noticed
    for _ in 0..<Self.mostListings {
      let files: [String]
      switch noticed {
      case .everything: files = try folder.names()
      case .files(let some): files = some.sorted()
      }
      // The files are read in the order of their numbers (9 before 10), so that segments rarely have to wait for others.
      let numbers = files.map { file in
        UInt64(Substring(file.utf8.prefix { (0x30...0x39).contains($0) })) ?? .max
      }
      var isAllThere = true
      for index in files.indices.sorted(by: { (numbers[$0], $0) < (numbers[$1], $1) }) {
        guard pass.left > 0 else {
          pass.unfinished.append(name)
          return nil
        }
        let file = files[index]
        let isThere = read(file, in: folder, key: "\(name)/\(file)", &pass)
        isAllThere = isAllThere && isThere
      }
      if isAllThere {
        guard case .everything = noticed else { return nil }
        return files.allSatisfy { isCompleteAndRead("\(name)/\($0)") } ? files : nil
      }
      // A file that is gone may have got its final name meanwhile.
      noticed = .everything
    }
    // A program keeps renaming files there. The next pass goes on.
    pass.unfinished.append(name)
    pass.isComplete = false
    return nil
  }

  /// The record numbers in a folder that holds nothing but the complete segments called `files`; nil if they have gaps.
  func completeFolder(
    _ name: String, _ files: [String], _ status: FileStatus
  ) -> CompleteFolder? {
    var held = NumberRanges()
    for case let scan? in files.map({ self.files["\(name)/\($0)"]?.scan })
    where scan.number > scan.header.recordsBefore {
      held.insert(scan.header.recordsBefore + 1...scan.number)
    }
    guard held.ranges.count == 1, let numbers = held.ranges.first else { return nil }
    let isEnded = files.contains {
      LogName.segment("\(name)/\($0)")?.endsSession == true
        && self.files["\(name)/\($0)"]?.scan?.number == numbers.upperBound
    }
    return CompleteFolder(
      status: status, first: numbers.lowerBound - 1, last: numbers.upperBound, isEnded: isEnded,
      pass: passes, news: news(of: name, files, upTo: numbers.upperBound))
  }

  /// The records that the archive lacks of a complete folder of these files; nil where that can't be told.
  private func news(of name: String, _ files: [String], upTo last: UInt64) -> FolderNews? {
    guard let progress = Identifier(name).flatMap({ sessions[$0] }),
      let end = progress.known(at: last)
    else { return nil }
    let known = progress.archived.number < last ? progress.archived : end
    let scans = files.compactMap { file in
      self.files["\(name)/\(file)"]?.scan.map { (file: file, scan: $0) }
    }
    let new = scans.filter { $0.scan.number > known.number }
      .sorted { $0.scan.header.segment < $1.scan.header.segment }
    return FolderNews(known: known, end: end, files: new.map(\.file))
  }

  /// True if a file is a complete segment of the session that its folder is named after, was read to its end, and has nothing to report.
  func isCompleteAndRead(_ key: String) -> Bool {
    guard let name = LogName.segment(key), let file = files[key], !file.isUnread,
      file.mended == nil, !file.isContradicting,
      let scan = file.scan, scan.offset == file.seen?.size,
      key.hasPrefix(scan.header.session.description)
    else { return false }
    return name.names(scan.header.segment, end: scan.hash)
  }

  /// Reads on in the files that waited for records which are known now.
  mutating func readReady(in log: borrowing FileDescriptor, _ pass: inout ReadPass) {
    while pass.left > 0, let key = takeReady() {
      let parts = key.split(separator: "/").map(String.init)
      if parts.count != 2 {
        read(key, in: log, key: key, &pass)
      } else if let folder = try? log.folder(parts[0]) {
        read(parts[1], in: folder, key: key, &pass)
      }
    }
  }

  /// Reads on in one file; returns false if there is no file of its name any more.
  @discardableResult
  mutating func read(
    _ name: String, in folder: borrowing FileDescriptor, key: String, _ pass: inout ReadPass
  ) -> Bool {
    guard !LogName.isTemporary(name) else { return true }
    var file = files[key] ?? LogFile()
    let before = file.scan
    let path = "\(folder.path)/\(name)"
    do {
      guard let status = try folder.status(of: name) else { return false }
      guard status.kind == .file else { return true }
      if file.seen == nil { takeOver(&file, status, called: name, in: folder.path, key: key) }
      if let seen = file.seen {
        if seen == status, !file.isUnread {
          file.pass = passes
          setFile(file, at: key)
          return true
        }
        // Another file in the same place, or a shorter one, is read from the start, to compare it with the records
        // that are known.
        let isShorter = status.size < file.scan?.offset ?? 0
        if !seen.isSameFile(as: status) || isShorter { file = LogFile() }
        if seen != status { file.salvage = nil }
        // Its damage may have been repaired.
        if seen != status, file.mended != nil || file.scan?.headerState == .lost {
          file = LogFile()
        }
      }
      guard let opened = try folder.regularFile(name) else { return true }
      file.seen = try opened.status()
      file.isUnread = false
      try read(opened, &file, key: key, &pass)
    } catch {
      guard error.reason != .notFound else { return false }
      file.isUnread = true
      damage.report(path, file.scan?.offset ?? 0, error)
    }
    file.pass = passes
    setFile(file, at: key)
    let isAsFar = before.map { $0.header == file.scan?.header && $0.number <= file.scan!.number }
    if let before, isAsFar == false, !holds(before, openSession: pass.openSession) {
      pass.isMissingRecords = true
    }
    return true
  }

  /// Moves the state of an open segment to the name that it got when it was completed, so that it need not be read again.
  private mutating func takeOver(
    _ file: inout LogFile, _ status: FileStatus, called name: String, in folder: String, key: String
  ) {
    guard let before = SegmentName(name)?.whileOpen else { return }
    let old = String(key.dropLast(name.utf8.count) + before)
    guard files[old]?.seen?.isSameFile(as: status) == true else { return }
    file = removeFile(at: old)!
    file.isUnread = true
    damage.clear("\(folder)/\(before)")
  }

  private mutating func read(
    _ opened: borrowing FileDescriptor, _ file: inout LogFile, key: String, _ pass: inout ReadPass
  ) throws(StoreError) {
    let size = file.seen?.size ?? 0
    let isFromStart = file.scan == nil
    // The records that prove a damaged header may be known by now.
    if isFromStart || file.scan?.headerState == .lost {
      file.scan = try begin(opened, key: key, size: size)
      if file.scan?.headerState != .lost { file.salvage = nil }
    }
    guard var scan = file.scan else { return }
    let session = scan.header.session
    if ignored.contains(session) { return }
    guard session != pass.openSession else {
      // A copy of the open segment. It is read when the session has ended.
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
        opened, &file, key: key, from: scan.window, Self.damagedHeader, &pass)
    }
    if scan.number == scan.header.recordsBefore {
      switch fit(scan.header) {
      case .fits: break
      case .waits:
        wait(key, for: scan.header.recordsBefore, of: session)
        return reportReadToEnd(opened.path, file)
      case .differs:
        return damage.report(
          opened.path, 0, "it continues other content than was read of the session", .refused)
      }
    }
    var stop = try handOut(&scan, of: opened, size: size, &pass)
    try mend(&scan, &stop, of: opened, &file, size: size, &pass)
    if scan.number > file.scan?.number ?? 0 { noteNewRecords(scan, key: key) }
    file.scan = scan
    switch stop {
    case .damaged(let offset, let description):
      try salvage(opened, &file, key: key, from: offset, description, &pass)
    case .rewritten:
      // The bytes of the file that were read before have changed. It is read from the start, but only once in a pass:
      // another program may be writing it at this moment.
      file.scan = nil
      file.isUnread = isFromStart
      if !isFromStart { try read(opened, &file, key: key, &pass) }
    case .limited:
      file.isUnread = true
      pass.unfinished.append(LogName.top(key))
      reportReadToEnd(opened.path, file)
    case .end, .needs:
      if let name = LogName.segment(key),
        stop != .end || !name.names(scan.header.segment, end: scan.hash)
      {
        return try salvage(opened, &file, key: key, from: scan.offset, Self.otherEnd, &pass)
      }
      reportReadToEnd(opened.path, file)
      if stop == .end, LogName.segment(key) != nil, !file.isCounted {
        file.isCounted = true
        countUnfolded(1, size)
      }
      file.isContradicting = try isContradicting(scan, key: key, path: opened.path)
    }
  }

  /// Notes for other parts of the folder that a file was read up to `scan`.
  private mutating func noteNewRecords(_ scan: LogScan, key: String) {
    let session = scan.header.session
    // Complete segments are on disk.
    if LogName.segment(key) == nil { noteUnsynced(key, of: session) }
    // The segments before it may be known from files that are gone. Then no other process can read this one.
    if scan.header.recordsBefore > 0 { noteExpected(scan.number, of: session) }
  }

  /// Compares a file that ends before the head of its session with the records that were read before. Returns true, and reports it, if it has others.
  ///
  /// The end of a segment in the file is compared if one is known; otherwise another file of the segment is read again.
  /// That is rare (conflict copies, restored backups), and no hash has to be kept for every record.
  private func isContradicting(
    _ scan: LogScan, key: String, path: String
  ) throws(StoreError) -> Bool {
    let header = scan.header
    guard scan.number > header.recordsBefore, let progress = sessions[header.session],
      scan.number < progress.head.number
    else { return false }
    let differs = "another content of the session than was read before"
    let end = ChainPosition(number: scan.number, hash: scan.hash)
    if let known = progress.firstEnd(after: header.recordsBefore), known.number <= scan.number {
      if known != end { damage.report(path, scan.offset, differs, .refused) }
      return known != end
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
      guard case .damaged = stop, again.number < scan.number else { return false }
      damage.report(path, scan.offset, differs, .refused)
      return true
    }
    return false
  }

  /// Opens a file by its path below `log`; nil if it is gone, or no regular file.
  private func open(_ key: String) throws(StoreError) -> FileDescriptor? {
    let parts = key.split(separator: "/")
    do {
      let root = try root.open()
      var folder = try root.folder("log")
      if parts.count > 1 { folder = try folder.folder(String(parts[0])) }
      return try folder.regularFile(String(parts[parts.count - 1]))
    } catch {
      if error.reason == .notFound { return nil }
      throw error
    }
  }
}
