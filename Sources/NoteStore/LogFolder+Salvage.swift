internal import ReplicatingTypes

// What can be read of files that are damaged. Nothing is believed that a hash does not prove, and the files stay as they are.

extension LogFolder {
  /// Reads the header of a file; nil when it is no log, not yet one, or damaged beyond what can be found out.
  mutating func begin(
    _ opened: borrowing FileDescriptor, key: String, size: UInt64
  ) throws(StoreError) -> LogScan? {
    let bytes = try opened.read(LogFormat.headerSize, at: 0)
    do {
      let scan = try LogScan(decoding: bytes[...])
      identities.insert(scan.header.notebook)
      return scan
    } catch {
      if case .incomplete = error {
        if Self.segmentName(key) == nil {
          clearDamage(opened.path)
        } else {
          report(opened.path, 0, "it ends otherwise than its name says")
        }
        return nil
      }
      // Only what is called like a log is expected to be one.
      if case .foreign = error, !Self.isLogName(key) { return nil }
      if case .newerFormat(let version) = error, LogHeader.isIntact(bytes[...]) {
        report(opened.path, 0, "of a later format (\(version))")
        return nil
      }
      let scan = try mendHeader(bytes, of: opened, key: key, size: size)
      if let scan, scan.headerState == .mended {
        identities.insert(scan.header.notebook)
        return scan
      }
      switch error {
      case .newerFormat(let version):
        // As far as can be told.
        report(opened.path, 0, "of a later format (\(version))")
        return nil
      case .foreign: report(opened.path, 0, "not a log")
      default: report(opened.path, 0, Self.damagedHeader)
      }
      return scan
    }
  }

  static var damagedHeader: String { "a damaged header" }

  /// Finds out what a damaged header said: all of it, if no more than a bit is wrong or if what its name and the folder say of
  /// it is so; or else the session.
  private mutating func mendHeader(
    _ bytes: [UInt8], of opened: borrowing FileDescriptor, key: String, size: UInt64
  ) throws(StoreError) -> LogScan? {
    if let header = LogHeader(mending: bytes) { return LogScan(mending: header) }
    let parts = key.split(separator: "/")
    guard parts.count == 2, let session = Identifier(parts[0]),
      let segment = UInt32(parts[1].prefix { $0.isASCII && $0.isNumber })
    else { return nil }
    let lost = LogScan(lostHeaderOf: session)
    guard let first = try lost.firstNumber(in: opened, size: size) else { return lost }
    let progress = sessions[session] ?? SessionProgress()
    if first - 1 > progress.head.number {
      sessions[session, default: .init()].waiting[key] = first - 1
    }
    guard let before = progress.known(at: first - 1) else { return lost }
    // There are more than one only where machines met; no file is worth trying a thousand.
    for notebook in identities.sorted().prefix(16) {
      guard
        let header = LogHeader(
          notebook: notebook, session: session, segment: segment, before: before)
      else { break }
      let scan = LogScan(mending: header)
      var first = scan
      var limit = 1
      _ = try first.read(opened, size: size, known: .init(number: .max), limit: &limit) { _, _ in }
      if first.number > scan.number { return scan }
    }
    return lost
  }

  /// Reports damage, and reads what is behind it, if everything before that is here.
  mutating func salvage(
    _ opened: borrowing FileDescriptor, _ file: inout LogFile, key: String, from damage: UInt64,
    _ description: String, limit: inout Int, into records: inout [Record]
  ) throws(StoreError) {
    guard let size = file.seen?.size, let scan = file.scan else { return }
    let session = scan.header.session
    if file.salvage == nil {
      file.salvage = try scan.continuation(behind: damage, in: opened, size: size)
    }
    var text = description
    if scan.headerState != .lost {
      text += "; the \(scan.number - scan.header.recordsBefore) records before it are kept"
    }
    defer {
      if let mended = file.mended {
        report(opened.path, mended.offset, "\(mended.description); at byte \(damage) \(text)")
      } else {
        report(opened.path, damage, text)
      }
    }
    guard let (found, count) = file.salvage else { return }
    var next = found
    let head = sessions[session]?.head ?? .init()
    // The damage may be that it tells the session differently.
    if next.number == head.number, next.hash != head.hash { return }
    if next.number > head.number {
      text += ", \(count) records from byte \(next.offset) on wait for what is missing"
      let earliest = sessions[session]?.waiting[key] ?? .max
      sessions[session, default: .init()].waiting[key] = min(earliest, next.number)
      return
    }
    text += ", and \(count) after it"
    let stop = try handOut(&next, of: opened, size: size, limit: &limit, into: &records)
    file.salvage = (next, count)
    switch stop {
    case .end, .needs: break
    case .limited:
      file.isUnread = true
      watches.notice(String(key.prefix { $0 != "/" }))
    case .rewritten: file.salvage = nil
    case .damaged(let again, _):
      // What is behind that waits for its own gap to be filled.
      file.salvage = try next.continuation(behind: again, in: opened, size: size)
      guard let number = file.salvage?.scan.number else { return }
      if number > sessions[session]!.head.number {
        sessions[session]!.waiting[key] = number
      } else {
        file.isUnread = true
        ready.append(key)
      }
    }
  }

  /// How many records of a file are mended at a time.
  private static let mostMended = 64

  /// Goes on behind records that are damaged where neither their contents nor what is behind them depends on that.
  ///
  /// - Parameter stop: why reading stopped, and why it stops now.
  mutating func mend(
    _ scan: inout LogScan, _ stop: inout LogScan.Stop, of opened: borrowing FileDescriptor,
    _ file: inout LogFile, size: UInt64, limit: inout Int, into records: inout [Record]
  ) throws(StoreError) {
    let session = scan.header.session
    // Each takes a look at what is behind it: whoever makes a file may damage every record of it.
    for _ in 0..<Self.mostMended {
      switch stop {
      case .damaged(scan.offset, _), .needs: break
      default: return
      }
      if limit == 0 {
        stop = .limited
        return
      }
      var mended = scan
      guard let entry = try mended.mend(in: opened, size: size) else { break }
      let known = sessions[session]?.head ?? .init()
      if mended.number == known.number, mended.hash != known.hash { break }
      file.mended =
        file.mended ?? (scan.offset, "a wrong length or checksum; the record is kept")
      scan = mended
      if entry.number > known.number {
        limit -= min(limit, max(1, entry.payload.count))
        records.append(
          Record(
            session: session, number: entry.number, type: entry.type, payload: entry.payload))
        advance(session, to: LogScan.Known(number: scan.number, hash: scan.hash))
      }
      stop = try handOut(&scan, of: opened, size: size, limit: &limit, into: &records)
    }
    // An append that is not all there yet looks the same as one whose length is damaged, but nothing follows it.
    if case .needs = stop,
      let behind = try scan.continuation(behind: scan.offset, in: opened, size: size),
      behind.scan.number > scan.number
    {
      stop = .damaged(offset: scan.offset, "a length beyond the end")
    }
  }

  /// Takes back what was reported about a file that was read to its end, but for what is damaged all the same.
  mutating func settleDamage(_ path: String, _ file: LogFile) {
    if let mended = file.mended {
      report(path, mended.offset, mended.description)
    } else {
      clearDamage(path)
    }
  }
}
