internal import ReplicatingTypes

// THE FORMAT OF A BOOKMARK
//
// The positions up to which everything was read. The next run, which has those records from an archive, reads only the rest.
//
//     counted bytes       the start of the machine during which it was written (`FileSystem.boot`)
//     count*(16 bytes)    identities of the notebook
//     count*(session)     16 bytes of identity, number of its last record and the hash after it,
//                         count*(number, hash)   of the ends of its segments,
//                         number of the last record that was read from a snapshot,
//                         number up to which the folder held, or should have held, all of its records; 0 if snapshots and
//                         the folders below hold as many
//     count*(folder)      of complete folders: name in `log`, status, number of records before those in it, number of the
//                         last, a byte: 1 if the session has ended there
//     count*(file)        of others: path below `log`, status, the 72 bytes of the header, offset, number of the last record
//                         and the hash after it
//
//     status = device, inode, links, size, time of the last change
//
// Names are counted bytes, hashes are eight bytes, all other numbers varints.

extension LogFolder {
  /// The positions up to which everything was read and written.
  ///
  /// - Parameter snapshots: the names of the snapshots that the archive knows: the next run notices if one of them is gone.
  func bookmark(knowing snapshots: Set<String>) -> [UInt8] {
    var writer = ByteWriter()
    writer.counted(root.system.boot.utf8)
    writer.varint(root.identities.count)
    for identity in root.identities.sorted() { writer.identifier(identity) }
    var sessions = reader.sessions
    if let open = self.writer.open { sessions[open.session, default: .init()].head = open.end }
    sessions = sessions.filter { $0.value.head.number > 0 }
    writer.varint(sessions.count)
    let reaches = reaches()
    // Those with files that were not read are listed by the next run. It doesn't know then what they held.
    let folders = completeFolders.folders.filter { $0.value.unreadNews == nil }
    var remembered = rememberedPieces(in: folders).mapValues(\.reach)
    // The next run would not notice that another snapshot than these is gone, so none is relied on if there is another.
    if !snapshots.isSuperset(of: coverage.snapshots) { remembered = [:] }
    for (session, progress) in sessions {
      writer.identifier(session)
      writer.position(progress.head)
      writer.varint(progress.ends.count)
      for end in progress.ends { writer.position(end) }
      writer.varint(progress.covered)
      let reach = max(reaches[session] ?? 0, ledger.expectedRecords[session] ?? 0)
      writer.varint(reach > remembered[session] ?? 0 ? reach : 0)
    }
    writer.varint(folders.count)
    for (name, folder) in folders {
      writer.counted(name.utf8)
      writer.status(folder.status)
      writer.varint(folder.first)
      writer.varint(folder.last)
      writer.byte(folder.isEnded ? 1 : 0)
    }
    let others = reader.files.filter { key, file in
      // Files that are damaged or not complete are read again, and reported again.
      file.scan != nil && file.scan?.offset == file.seen?.size && !file.isUnread
        && file.mended == nil && !file.isContradicting
        && completeFolders.folders[LogName.top(key)] == nil
    }
    writer.varint(others.count)
    for (key, file) in others {
      let scan = file.scan!
      writer.counted(key.utf8)
      writer.status(file.seen!)
      writer.raw(scan.header.encoded())
      writer.varint(scan.offset)
      writer.position(ChainPosition(number: scan.number, hash: scan.hash))
    }
    return writer.bytes
  }

  /// Goes on where a bookmark was made: records that were read before it are not handed out again. Call it before anything is
  /// read.
  ///
  /// The first full pass after this compares the status of each complete folder with that in the bookmark, and reads what is
  /// new in it. Where there are more than `mostEndedCompared` folders of ended sessions, it leaves these out: the name of the
  /// last segment that was read says that the session has no more records, so no process adds any. `verify` finds files that
  /// were put there or removed by hand.
  ///
  /// - Parameter kept: the complete folders that were kept beside the archive (StartManifest.swift).
  mutating func resume(
    at bookmark: inout ByteReader, kept: [KeptFolder] = []
  ) throws(DecodingFailure) {
    let boot = String(decoding: try bookmark.counted(), as: UTF8.self)
    var identities: Set<Identifier> = []
    for _ in 0..<(try bookmark.count()) { identities.insert(try bookmark.identifier()) }
    var sessions: [Identifier: SessionProgress] = [:]
    var expected: [Identifier: UInt64] = [:]
    let count = try bookmark.count()
    sessions.reserveCapacity(min(count, bookmark.remaining / 27))
    for _ in 0..<count {
      let session = try bookmark.identifier()
      var progress = SessionProgress()
      progress.head = try bookmark.position()
      progress.archived = progress.head
      let ends = try bookmark.count()
      progress.ends.reserveCapacity(min(ends, bookmark.remaining / 9))
      for _ in 0..<ends { progress.ends.append(try bookmark.position()) }
      progress.covered = try bookmark.amount()
      sessions[session] = progress
      let reach = try bookmark.amount()
      if reach > 0 { expected[session] = reach }
    }
    var folders: [String: CompleteFolder] = [:]
    let folderCount = try bookmark.count()
    // A folder takes five bytes of its status and four more at least.
    folders.reserveCapacity(min(folderCount, bookmark.remaining / 9))
    for _ in 0..<folderCount {
      let name = String(decoding: try bookmark.counted(), as: UTF8.self)
      let status = try bookmark.status(.folder)
      let (first, last) = (try bookmark.amount(), try bookmark.amount())
      guard first <= last else { throw bookmark.failure("records out of order") }
      folders[name] = CompleteFolder(
        status: status, first: first, last: last, isEnded: try bookmark.byte() == 1)
    }
    var takenOver: Set<String> = []
    for kept in kept where kept.isOf(sessions) && kept.isNewer(than: folders[kept.name]) {
      folders[kept.name] = kept.folder
      takenOver.insert(kept.name)
    }
    var files: [String: LogFile] = [:]
    for _ in 0..<(try bookmark.count()) {
      let key = String(decoding: try bookmark.counted(), as: UTF8.self)
      var file = LogFile()
      file.seen = try bookmark.status(.file)
      let start = bookmark
      // Of the files in a complete folder nothing is known but their records.
      if !takenOver.isEmpty, takenOver.contains(LogName.top(key)) {
        _ = (try bookmark.raw(LogFormat.headerSize), try bookmark.amount(), try bookmark.position())
        continue
      }
      guard let header = try? LogHeader(decoding: try bookmark.raw(LogFormat.headerSize)) else {
        throw start.failure("no header of a log")
      }
      let offset = try bookmark.amount()
      guard offset >= LogFormat.headerSize, offset <= file.seen!.size else {
        throw bookmark.failure("a place outside of its file")
      }
      let end = try bookmark.position()
      file.scan = LogScan(header: header, offset: offset, number: end.number, hash: end.hash)
      files[key] = file
    }
    for identity in identities { root.learn(identity) }
    // After a power cut a file may have the same status and hold zeros. Files that are not complete are read again then.
    reader.restore(files: boot == root.system.boot ? files : [:], sessions: sessions)
    ledger.setExpected(expected)
    completeFolders.resume(folders)
    // Files that are not complete may have been read before they were on disk.
    for key in files.keys where LogName.segment(key) == nil { disk.addUnsynced(key) }
  }

  /// True if folders wait for `verify`.
  var isVerifying: Bool { !completeFolders.unverified.isEmpty }

  /// Compares the statuses of some of the folders that the first pass has left out, and reads what is new in them.
  mutating func verify(atMost count: Int) -> [LogRecord] {
    var pass = ReadPass(openSession: writer.session)
    do {
      let root = try root.open()
      let log = try root.folder("log")
      for name in completeFolders.unverified(atMost: count) {
        readEntry(name, .everything, in: log, &pass)
      }
    } catch {
      // The next full pass reads these folders, or reports the error.
    }
    apply(pass)
    completeFolders.removeUnverified(atMost: count)
    return pass.records
  }
}

extension ByteWriter {
  /// Writes the status of a file or folder, but for its kind.
  mutating func status(_ status: FileStatus) {
    for number in [status.device, status.inode, status.links, status.size] { varint(number) }
    signed(status.changed)
  }
}

extension ByteReader {
  /// Reads the status of a file or folder.
  mutating func status(
    _ kind: FileStatus.Kind
  ) throws(DecodingFailure) -> FileStatus {
    FileStatus(
      kind: kind, device: try varint(), inode: try varint(), links: try varint(),
      size: try varint(), changed: try signed())
  }
}
