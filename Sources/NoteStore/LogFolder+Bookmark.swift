import ReplicatingTypes

// How far everything was read, in bytes, for whoever keeps what was read: next time only the rest is read.
//
//     counted bytes       which start of the machine this was
//     count*(16 bytes)    identities of the notebook
//     count*(session)     16 bytes of identity, number of its last record and the hash after it,
//                         count*(number, hash)   of the ends of its segments,
//                         number of the last record that was read from a snapshot,
//                         number of records that its files held, fewer if some had gone; 0 if snapshots and the folders below
//                         hold as many
//     count*(folder)      name, status: of folders in `log` of which everything is known as long as they look like this;
//                         number of records before those in it, number of the last, a byte: 1 if the session has ended there
//     count*(file)        of others: path below `log`, status, the 72 bytes of the header, offset, number of the last record
//                         and the hash after it
//
//     status = device, inode, links, size, time of the last change
//
// Names are counted bytes, hashes are eight bytes, all other numbers varints.

extension LogFolder {
  /// How far everything was read and written.
  ///
  /// - Parameter snapshots: the names of those that are missed by whoever goes on here, if they are gone then.
  mutating func bookmark(knowing snapshots: Set<String>) -> [UInt8] {
    var writer = ByteWriter()
    writer.counted(system.boot.utf8)
    writer.varint(identities.count)
    for identity in identities.sorted() { writer.identifier(identity) }
    var sessions = sessions
    if let live { sessions[live.session, default: .init()].head = live.end }
    sessions = sessions.filter { $0.value.head.number > 0 }
    writer.varint(sessions.count)
    let reaches = reaches()
    var settledReaches = settledPieces().mapValues(\.reach)
    // One that nobody would miss, because it came after the last look, stands for nothing.
    if !snapshots.isSuperset(of: coveringSnapshots) { settledReaches = [:] }
    for (session, progress) in sessions {
      writer.identifier(session)
      writer.known(progress.head)
      writer.varint(progress.ends.count)
      for end in progress.ends { writer.known(end) }
      writer.varint(progress.covered)
      let reach = max(reaches[session] ?? 0, promised[session] ?? 0)
      writer.varint(reach > settledReaches[session] ?? 0 ? reach : 0)
    }
    writer.varint(settled.count)
    for (name, folder) in settled {
      writer.counted(name.utf8)
      writer.status(folder.status)
      writer.varint(folder.first)
      writer.varint(folder.last)
      writer.byte(folder.isEnded ? 1 : 0)
    }
    let others = files.filter { key, file in
      // What is damaged, or not complete, is looked at again, and reported again.
      file.scan != nil && file.scan?.offset == file.seen?.size && !file.isUnread
        && file.mended == nil && settled[String(key.prefix { $0 != "/" })] == nil
    }
    writer.varint(others.count)
    for (key, file) in others {
      let scan = file.scan!
      writer.counted(key.utf8)
      writer.status(file.seen!)
      writer.raw(scan.header.encoded())
      writer.varint(scan.offset)
      writer.known(LogScan.Known(number: scan.number, hash: scan.hash))
    }
    return writer.bytes
  }

  /// Goes on where a bookmark was made: what was read then is not handed out again. Before anything else is read.
  ///
  /// The first full look after this sees whether each settled folder is as it was left, and reads what is new in it. Where there are
  /// more than `mostEndedLookedAt` folders of ended sessions, it leaves these out: the name of the last segment that was read
  /// says that the session has no more records, so no process adds any. What somebody puts there by hand, or takes away, `verify`
  /// finds.
  mutating func resume(at bookmark: inout ByteReader) throws(DecodingFailure) {
    let boot = String(decoding: try bookmark.counted(), as: UTF8.self)
    var identities: Set<Identifier> = []
    for _ in 0..<(try bookmark.count()) { identities.insert(try bookmark.identifier()) }
    var sessions: [Identifier: SessionProgress] = [:]
    var promised: [Identifier: UInt64] = [:]
    let count = try bookmark.count()
    sessions.reserveCapacity(min(count, bookmark.remaining / 27))
    for _ in 0..<count {
      let session = try bookmark.identifier()
      var progress = SessionProgress()
      progress.head = try bookmark.known()
      for _ in 0..<(try bookmark.count()) { progress.ends.append(try bookmark.known()) }
      progress.covered = try bookmark.varint()
      sessions[session] = progress
      let reach = try bookmark.varint()
      if reach > 0 { promised[session] = reach }
    }
    var settled: [String: SettledFolder] = [:]
    for _ in 0..<(try bookmark.count()) {
      let name = String(decoding: try bookmark.counted(), as: UTF8.self)
      let status = try bookmark.status(.folder)
      settled[name] = SettledFolder(
        status: status, first: try bookmark.varint(), last: try bookmark.varint(),
        isEnded: try bookmark.byte() == 1)
    }
    var files: [String: LogFile] = [:]
    for _ in 0..<(try bookmark.count()) {
      let key = String(decoding: try bookmark.counted(), as: UTF8.self)
      var file = LogFile()
      file.seen = try bookmark.status(.file)
      let start = bookmark
      guard let header = try? LogHeader(decoding: try bookmark.raw(LogFormat.headerSize)) else {
        throw start.failure("no header of a log")
      }
      let offset = try bookmark.varint()
      let end = try bookmark.known()
      file.scan = LogScan(header: header, offset: offset, number: end.number, hash: end.hash)
      files[key] = file
    }
    self.identities.formUnion(identities)
    self.sessions = sessions
    self.promised = promised
    self.settled = settled
    // After a power cut a file may look as before and hold zeros. What is not complete is read again then.
    self.files = boot == system.boot ? files : [:]
    // What isn't complete may have been read before it was on disk.
    unsynced.formUnion(files.keys.filter { Self.segmentName($0) == nil })
    isResuming = true
  }

  /// Whether folders wait for `verify`.
  public var isVerifying: Bool { !unverified.isEmpty }

  /// Looks at some of the folders of ended sessions, whether they are as they had been left.
  public mutating func verify(atMost count: Int) -> [Record] {
    var records: [Record] = []
    var limit = Int.max
    do {
      let root = try openRoot()
      let log = try root.folder("log")
      for name in unverified.suffix(count) {
        look(at: name, .everything, in: log, limit: &limit, into: &records)
      }
    } catch {
      // The next full look will find them, or say why not.
    }
    unverified.removeLast(min(count, unverified.count))
    return records
  }
}

extension ByteWriter {
  fileprivate mutating func known(_ known: LogScan.Known) {
    varint(known.number)
    fixed(known.hash)
  }

  mutating func status(_ status: FileStatus) {
    for number in [status.device, status.inode, status.links, status.size] { varint(number) }
    signed(status.changed)
  }
}

extension ByteReader {
  fileprivate mutating func known() throws(DecodingFailure) -> LogScan.Known {
    LogScan.Known(number: try varint(), hash: try fixed(UInt64.self))
  }

  mutating func status(
    _ kind: FileStatus.Kind
  ) throws(DecodingFailure) -> FileStatus {
    FileStatus(
      kind: kind, device: try varint(), inode: try varint(), links: try varint(),
      size: try varint(), changed: try signed())
  }
}
