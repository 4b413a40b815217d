import ReplicatingTypes

// How far everything was read, in bytes, for whoever keeps what was read: next time only the rest is read.
//
//     count*(16 bytes)    identities of the notebook
//     count*(session)     16 bytes of identity, number of its last record and the hash after it,
//                         count*(number, hash)   of the ends of its segments
//     count*(folder)      name, device, inode, links, size, time of the last change: of folders in `log` of which
//                         everything is known as long as they look like this
//
// Names are counted bytes, hashes are eight bytes, all other numbers varints.

extension LogFolder {
  /// How far everything was read and written.
  func bookmark() -> [UInt8] {
    var writer = ByteWriter()
    writer.varint(identities.count)
    for identity in identities.sorted() { writer.identifier(identity) }
    var sessions = sessions
    if let live { sessions[live.session, default: .init()].head = live.end }
    sessions = sessions.filter { $0.value.head.number > 0 }
    writer.varint(sessions.count)
    for (session, progress) in sessions {
      writer.identifier(session)
      writer.known(progress.head)
      writer.varint(progress.ends.count)
      for end in progress.ends { writer.known(end) }
    }
    writer.varint(settled.count)
    for (name, status) in settled {
      writer.counted(name.utf8)
      for number in [status.device, status.inode, status.links, status.size] {
        writer.varint(number)
      }
      writer.signed(status.changed)
    }
    return writer.bytes
  }

  /// Goes on where a bookmark was made: what was read then is not handed out again. Before anything else is read.
  ///
  /// Folders that were settled are not even looked at, until `verify` does so.
  mutating func resume(at bookmark: inout ByteReader) throws(DecodingFailure) {
    var identities: Set<Identifier> = []
    for _ in 0..<(try bookmark.count()) { identities.insert(try bookmark.identifier()) }
    var sessions: [Identifier: SessionProgress] = [:]
    let count = try bookmark.count()
    sessions.reserveCapacity(min(count, bookmark.remaining / 26))
    for _ in 0..<count {
      let session = try bookmark.identifier()
      var progress = SessionProgress()
      progress.head = try bookmark.known()
      for _ in 0..<(try bookmark.count()) { progress.ends.append(try bookmark.known()) }
      sessions[session] = progress
    }
    var settled: [String: FileStatus] = [:]
    for _ in 0..<(try bookmark.count()) {
      let name = String(decoding: try bookmark.counted(), as: UTF8.self)
      settled[name] = FileStatus(
        kind: .folder, device: try bookmark.varint(), inode: try bookmark.varint(),
        links: try bookmark.varint(), size: try bookmark.varint(), changed: try bookmark.signed())
    }
    self.identities.formUnion(identities)
    self.sessions = sessions
    self.settled = settled
    isResuming = true
  }

  /// Whether folders wait for `verify`.
  public var isVerifying: Bool { !unverified.isEmpty }

  /// Looks at some of the folders that were believed to be as they had been left; hands out what is new in them.
  public mutating func verify(atMost count: Int) -> [Record] {
    var records: [Record] = []
    var limit = Int.max
    do {
      let root = try FileDescriptor.folder(path, followingLinks: true, on: system)
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
}

extension ByteReader {
  fileprivate mutating func known() throws(DecodingFailure) -> LogScan.Known {
    LogScan.Known(number: try varint(), hash: try fixed(UInt64.self))
  }
}
