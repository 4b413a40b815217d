internal import ReplicatingTypes

// Reading files that are damaged. Only what a hash proves is read, and the files stay as they are.

extension LogReader {
  /// Reads the header of a file; nil if it is no log, shorter than a header, of a later format, or so damaged that not even its
  /// session is known.
  mutating func begin(
    _ opened: borrowing FileDescriptor, key: String, size: UInt64
  ) throws(StoreError) -> LogScan? {
    let bytes = try opened.read(LogFormat.headerSize, at: 0)
    do {
      let scan = try LogScan(decoding: bytes[...])
      root.learn(scan.header.notebook)
      return scan
    } catch {
      if case .incomplete = error {
        if LogName.segment(key) == nil {
          damage.clear(opened.path)
        } else {
          damage.report(opened.path, 0, Self.otherEnd)
        }
        return nil
      }
      // Only a file with the name of a segment is expected to be one.
      if case .foreign = error, !LogName.isSegment(key) { return nil }
      if case .newerFormat(let version) = error, LogHeader.isIntact(bytes[...]) {
        damage.report(opened.path, 0, "of a later format (\(version))")
        return nil
      }
      let scan = try mendHeader(bytes, of: opened, key: key, size: size)
      if let scan, scan.headerState == .mended {
        root.learn(scan.header.notebook)
        return scan
      }
      switch error {
      case .newerFormat(let version):
        // The version itself may be what is damaged.
        damage.report(opened.path, 0, "of a later format (\(version))")
        return nil
      case .foreign: damage.report(opened.path, 0, "not a log")
      default: damage.report(opened.path, 0, Self.damagedHeader)
      }
      return scan
    }
  }

  static var damagedHeader: String { "a damaged header" }
  static var otherEnd: String { "it ends otherwise than its name says" }

  /// Restores a damaged header: all of it, if one bit is wrong, or if the first record proves what the names of the file and its
  /// folder and the records before it say; otherwise only the session; nil if that is not known either.
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
    if first - 1 > progress.head.number { wait(key, for: first - 1, of: session) }
    guard let before = progress.known(at: first - 1) else { return lost }
    // A notebook has several identities only if notebooks became one, so more attempts than these are not worth it.
    for notebook in root.identities.sorted().prefix(16) {
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

  /// Reports damage, and reads the records behind it if all records before them are known.
  mutating func salvage(
    _ opened: borrowing FileDescriptor, _ file: inout LogFile, key: String, from start: UInt64,
    _ description: String, _ pass: inout ReadPass
  ) throws(StoreError) {
    guard let size = file.seen?.size, let scan = file.scan else { return }
    let session = scan.header.session
    if file.salvage == nil {
      file.salvage = try scan.continuation(behind: start, in: opened, size: size)
    }
    var text = description
    if scan.headerState != .lost {
      text += "; the \(scan.number - scan.header.recordsBefore) records before it are kept"
    }
    defer {
      if let mended = file.mended {
        damage.report(
          opened.path, mended.offset, "\(mended.description); at byte \(start) \(text)")
      } else {
        damage.report(opened.path, start, text)
      }
    }
    guard let (found, count) = file.salvage else { return }
    var next = found
    let head = head(of: session)
    // The damage may be that the file holds a divergent history of the session.
    if next.number == head.number, next.hash != head.hash { return }
    if next.number > head.number {
      text += ", \(count) records from byte \(next.offset) on wait for what is missing"
      let earliest = sessions[session]?.waiting[key] ?? .max
      wait(key, for: min(earliest, next.number), of: session)
      return
    }
    text += ", and \(count) after it"
    let stop = try handOut(&next, of: opened, size: size, &pass)
    file.salvage = (next, count)
    switch stop {
    case .end, .needs: break
    case .limited:
      file.isUnread = true
      pass.unfinished.append(LogName.top(key))
    case .rewritten: file.salvage = nil
    case .damaged(let again, _):
      // The records behind this second damage wait until the records before them are known.
      file.salvage = try next.continuation(behind: again, in: opened, size: size)
      guard let number = file.salvage?.scan.number else { return }
      if number > self.head(of: session).number {
        wait(key, for: number, of: session)
      } else {
        file.isUnread = true
        makeReady(key)
      }
    }
  }

  /// The most records of a file that are mended at a time.
  private static let mostMended = 64

  /// Reads on behind damaged records whose content is proven all the same.
  ///
  /// - Parameter stop: the reason why reading stopped; on return, the reason why it stopped again.
  mutating func mend(
    _ scan: inout LogScan, _ stop: inout LogScan.Stop, of opened: borrowing FileDescriptor,
    _ file: inout LogFile, size: UInt64, _ pass: inout ReadPass
  ) throws(StoreError) {
    let session = scan.header.session
    // Mending a record costs O(bytes behind it), and in a hostile file every record may be damaged.
    for _ in 0..<Self.mostMended {
      switch stop {
      case .damaged(scan.offset, _), .needs: break
      default: return
      }
      if pass.left == 0 {
        stop = .limited
        return
      }
      var mended = scan
      guard let entry = try mended.mend(in: opened, size: size) else { break }
      let known = head(of: session)
      if mended.number == known.number, mended.hash != known.hash { break }
      file.mended =
        file.mended ?? (scan.offset, "a wrong length or checksum; the record is kept")
      scan = mended
      if entry.number > known.number {
        pass.left -= min(pass.left, max(1, entry.payload.count))
        pass.records.append(
          LogRecord(
            session: session, number: entry.number, type: entry.type, payload: entry.payload))
        advance(session, to: ChainPosition(number: scan.number, hash: scan.hash))
      }
      stop = try handOut(&scan, of: opened, size: size, &pass)
    }
    // An append that is not complete yet looks like one with a damaged length, but no record follows it.
    if case .needs = stop,
      let behind = try scan.continuation(behind: scan.offset, in: opened, size: size),
      behind.scan.number > scan.number
    {
      stop = .damaged(offset: scan.offset, "a length beyond the end")
    }
  }

  /// Updates the report about a file that was read to its end: only mended damage remains in it.
  func reportReadToEnd(_ path: String, _ file: LogFile) {
    if let mended = file.mended {
      damage.report(path, mended.offset, mended.description)
    } else {
      damage.clear(path)
    }
  }
}
