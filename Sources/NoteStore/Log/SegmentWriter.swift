internal import ReplicatingTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Appends the records of this process: the identity of its session, and the segment that is open.
///
/// Each keystroke leads to an append, so an append must not copy, and must allocate nothing but the encoded bytes.
struct SegmentWriter {
  /// The segment that is appended to, or the last one when it is complete; nil between two sessions.
  private(set) var open: OpenSegment?
  /// The number of records that were appended since the folder was opened.
  private(set) var appended: UInt64 = 0
  /// All sessions of this process, those that ended included.
  private(set) var sessions: Set<Identifier> = []
  /// The identity of the session that the next append begins.
  private var minted: Identifier?
  private let root: NotebookRoot
  /// Tells other processes that our sessions are being written.
  private(set) var locks: SessionLocks
  private let transfers: SessionTransfers
  /// The session that another process has left, until it is used or known not to fit.
  private(set) var offer: SessionTransfer?
  /// The last segment of that session, and its folder, from when it is gone on with to the first append.
  private var predecessor: Predecessor?

  /// The last segment of a session that this process goes on with.
  private struct Predecessor {
    let header: LogHeader
    let file: OpenSegment.Superseded
    let folder: OpenDescriptor
  }

  init(_ root: NotebookRoot, _ locks: SessionLocks, _ transfers: SessionTransfers) {
    self.root = root
    self.locks = locks
    self.transfers = transfers
  }

  /// The session of the open segment.
  var session: Identifier? { open?.session }

  /// The identity under which the next append is written. Mints one in memory when there is none.
  mutating func nextSession() -> Identifier {
    if let open { return open.session }
    if minted == nil { minted = root.makeIdentifier() }
    return minted!
  }

  /// Gives up the session; returns its last segment.
  mutating func endSession() -> OpenSegment? {
    minted = nil
    predecessor = nil
    let last = open
    open = nil
    return last
  }

  /// Tells other processes that those of our sessions have ended which have no open segment left.
  mutating func releaseComplete() { locks.releaseComplete() }

  /// Throws `tooLarge` if `records` are more than one append may hold.
  func checkSize(_ records: [(type: UInt8, payload: [UInt8])]) throws(StoreError) {
    var size = 0
    for record in records {
      // Compared one by one: the sum of hostile sizes could overflow.
      guard record.payload.count <= LogFormat.maximumAppend - size - LogFormat.maximumOverhead
      else {
        throw StoreError(
          operation: "append", path: root.path, reason: .tooLarge,
          detail: "more than 64 MiB at once")
      }
      size += record.payload.count + LogFormat.maximumOverhead
    }
  }

  /// Appends records to the open segment. Begins a session or a segment first if there is none that is open.
  mutating func append(_ records: [(type: UInt8, payload: [UInt8])]) throws(StoreError) {
    if let open {
      if open.isComplete { try beginSegment(after: open) }
    } else if let predecessor, predecessor.header.session == minted {
      try goOn(from: predecessor)
    } else {
      try beginSession()
    }
    guard let open else { return }
    try open.append(records)
    appended += UInt64(records.count)
  }

  /// Creates the session's folder, its first segment, and all that leads to them.
  private mutating func beginSession() throws(StoreError) {
    let root = try root.establish()
    try root.createFolder("log")
    let session = minted ?? self.root.makeIdentifier()
    minted = nil
    sessions.insert(session)
    locks.add(session)
    let log = OpenDescriptor(try root.folder("log"))
    guard try log.descriptor.createFolder(session.description) else {
      throw StoreError(
        operation: "mkdir", path: "\(log.descriptor.path)/\(session.description)", errno: EEXIST,
        detail: "a session's identity must be new")
    }
    do {
      let folder = OpenDescriptor(try log.descriptor.folder(session.description))
      // The root too: a process that created `log` may have ended before it synchronized the root.
      open = try OpenSegment(
        header: LogHeader(notebook: self.root.notebook!, session: session), in: folder,
        unsyncedFolders: [folder, log, OpenDescriptor(root)], first: appended)
    } catch {
      log.descriptor.removeFolder(session.description)
      throw error
    }
  }

  // MARK: - Sessions that are transferred

  /// Takes a session that another process has left. Call it before anything is read.
  mutating func takeOffer() { offer = transfers.take() }

  /// Goes on with the session that another process has left, if its files are as they were then.
  ///
  /// - Returns: the session, which the next append continues; nil if it begins another one.
  mutating func acceptOffer() -> SessionTransfer? {
    guard let offer else { return nil }
    self.offer = nil
    guard open == nil, minted == nil, let predecessor = try? predecessor(of: offer) else {
      return nil
    }
    self.predecessor = predecessor
    minted = offer.session
    return offer
  }

  private func predecessor(of offer: SessionTransfer) throws(StoreError) -> Predecessor? {
    let folder = OpenDescriptor(
      try root.open().folder("log").folder(offer.session.description))
    guard try !folder.descriptor.names().contains(where: { $0.hasSuffix(SegmentName.openSuffix) }),
      let file = try folder.descriptor.regularFile(offer.segment),
      try file.status() == offer.status, offer.status.size <= LogFormat.maximumAppend
    else { return nil }
    let content = try file.read(Int(offer.status.size), at: 0)
    guard var scan = try? LogScan(decoding: content.prefix(LogFormat.headerSize)) else {
      return nil
    }
    var limit = Int.max
    let stop = try scan.read(file, size: offer.status.size, known: .init(), limit: &limit) {
      _, _ in
    }
    guard stop == .end, scan.header.session == offer.session, root.isOurs(scan.header.notebook),
      ChainPosition(number: scan.number, hash: scan.hash) == offer.end
    else { return nil }
    return Predecessor(
      header: scan.header,
      file: OpenSegment.Superseded(
        name: offer.segment, status: offer.status, content: content, end: offer.end),
      folder: folder)
  }

  /// Begins the file in which the session goes on: one that holds the segment before as well, so that there is one file for many
  /// processes, or the next segment if that is large enough.
  private mutating func goOn(from predecessor: Predecessor) throws(StoreError) {
    self.predecessor = nil
    minted = nil
    sessions.insert(predecessor.header.session)
    locks.add(predecessor.header.session)
    var header = predecessor.header
    let isFull = predecessor.file.status.size >= OpenSegment.fullSize
    if isFull, let next = LogHeader(after: header, end: predecessor.file.end) { header = next }
    open = try OpenSegment(
      header: header, in: predecessor.folder, unsyncedFolders: [predecessor.folder],
      first: appended, superseding: header == predecessor.header ? predecessor.file : nil)
  }

  /// True if a session may be left to another process.
  var canHandOver: Bool { transfers.canLeave }

  /// Leaves a session to the next process: the one that ended with `last`, if all of it is complete and on disk, and the one that was
  /// taken and not used.
  mutating func handOver(_ last: OpenSegment?, changes: UInt64) {
    if let offer { transfers.leave(offer) }
    offer = nil
    guard let last, let name = SegmentName(last.name), !name.endsSession, !last.isLost,
      !last.needsSync,
      let status = try? last.folder.descriptor.status(of: last.name),
      status.isSameFile(as: last.status), status.size == last.status.size
    else { return }
    if last.first == 0, last.header.segment == 0 { transfers.removeLeftovers() }
    transfers.leave(
      SessionTransfer(
        session: last.session, segment: last.name, status: status, end: last.end, changes: changes))
  }

  /// Creates the segment that comes after `last` in its session.
  private mutating func beginSegment(after last: OpenSegment) throws(StoreError) {
    guard let header = LogHeader(after: last.header, end: last.end) else {
      throw StoreError(
        operation: "append", path: last.path, reason: .tooLarge, detail: "no more segments")
    }
    open = try OpenSegment(
      header: header, in: last.folder, unsyncedFolders: [last.folder], first: appended)
  }
}
