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
  /// True if the open segment was checked to be in its place since the last append.
  private(set) var isChecked = false
  /// The identity of the session that the next append begins.
  private var minted: Identifier?
  private let root: NotebookRoot
  /// Tells other processes that our sessions are being written.
  private(set) var claims: SessionClaims

  init(_ root: NotebookRoot, _ claims: SessionClaims) {
    self.root = root
    self.claims = claims
  }

  /// The session of the open segment.
  var session: Identifier? { open?.session }

  /// The identity under which the next append is written. Mints one in memory when there is none.
  mutating func nextSession() -> Identifier {
    isChecked = true
    if let open { return open.session }
    if minted == nil { minted = root.makeIdentifier() }
    return minted!
  }

  /// Gives up the session; returns its last segment.
  mutating func endSession() -> OpenSegment? {
    isChecked = false
    minted = nil
    let last = open
    open = nil
    return last
  }

  /// Tells other processes that those of our sessions have ended which have no open segment left.
  mutating func releaseComplete() { claims.releaseComplete() }

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
    isChecked = false
    if let open {
      if open.isComplete { try beginSegment(after: open) }
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
    claims.add(session)
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
