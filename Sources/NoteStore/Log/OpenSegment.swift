internal import ReplicatingTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A segment that this process appends to, or has appended to and that is not all on disk yet.
///
/// Record counts here are counts over the whole life of the `LogFolder`, like `LogFolder.appended`.
final class OpenSegment {
  let header: LogHeader
  /// The session's folder.
  let folder: OpenDescriptor
  /// The file's name in that folder.
  private(set) var name: String {
    didSet { path = "\(folder.descriptor.path)/\(name)" }
  }
  /// Its path. It is looked at before every change, so it is made once.
  private(set) var path: String
  let descriptor: FileDescriptor
  /// The file's status when it was created; its size is the number of bytes that were accepted since.
  private(set) var status: FileStatus
  private var encoder: LogEncoder
  /// The records `first..<last` are in this file, `first..<synced` of them on disk for good.
  let first: UInt64
  private(set) var last: UInt64
  private(set) var synced: UInt64
  /// The folders whose entries lead to the file and are not known to be on disk.
  private var unsyncedFolders: [OpenDescriptor]
  /// True if it must never be synchronized again, because that failed once or the file is no longer in its place.
  var isLost = false
  /// True if nothing more is appended. The file gets its final name as soon as it is on disk; the session goes on in the next
  /// segment.
  private(set) var isComplete = false
  /// True if the session ends with this segment: then the final name says so.
  var endsSession = false
  /// The times at which `completionTime` first found records in it, and first found that `last` was `seenLast`.
  private var began: Instant?
  private var grew: Instant?
  private var seenLast: UInt64 = 0

  /// The file that holds the beginning of this one, and goes when this one is complete and on disk.
  private let superseded: Superseded?

  /// A complete file of the same segment that a later one holds all of.
  struct Superseded {
    let name: String
    let status: FileStatus
    let content: [UInt8]
    let end: ChainPosition
  }

  /// Creates the file in `folder`.
  ///
  /// - Parameters:
  ///   - unsyncedFolders: the folders that lead to it and may not be on disk, `folder` included.
  ///   - first: the number of records that were appended before.
  ///   - superseded: the complete file of the segment with all of which this one begins.
  init(
    header: LogHeader, in folder: OpenDescriptor, unsyncedFolders: [OpenDescriptor], first: UInt64,
    superseding superseded: Superseded? = nil
  ) throws(StoreError) {
    self.superseded = superseded
    self.header = header
    self.folder = folder
    name = SegmentName.whileOpen(header.segment)
    path = "\(folder.descriptor.path)/\(name)"
    let descriptor = try folder.descriptor.createFile(name)
    status = try descriptor.status()
    self.descriptor = descriptor
    encoder =
      superseded.map { LogEncoder(content: $0.content, end: $0.end) } ?? LogEncoder(header: header)
    self.first = first
    last = first
    synced = first
    self.unsyncedFolders = unsyncedFolders
  }

  var session: Identifier { header.session }
  /// Its path below `log`.
  var key: String { "\(session.description)/\(name)" }
  /// The position after its last record, which the session's next record continues.
  var end: ChainPosition { ChainPosition(number: encoder.number, hash: encoder.hash) }
  /// The numbers of the records in it, which must not be empty.
  var numbers: ClosedRange<UInt64> { header.recordsBefore + 1...encoder.number }
  /// True if the next batch of synchronizations has to include it.
  var needsSync: Bool { !isLost && synced < last }

  // MARK: - Appending

  /// Appends records with one `write`.
  func append(_ records: [(type: UInt8, payload: [UInt8])]) throws(StoreError) {
    encoder.encode(records)
    try descriptor.append(encoder.bytes[encoder.start...])
    status.size += UInt64(encoder.bytes.count - encoder.start)
    encoder.accept()
    last += UInt64(records.count)
  }

  /// Removes the file if its first append did not arrive, and the session's folder if it was the first segment:
  /// otherwise every attempt on a full disk would leave one behind. No process can have read anything in it.
  func discardIfEmpty() {
    guard last == first, let size = try? descriptor.status().size,
      size < encoder.bytes.count - encoder.start
    else { return }
    folder.descriptor.remove(name)
    guard header.segment == 0, unsyncedFolders.count > 1 else { return }
    unsyncedFolders[1].descriptor.removeFolder(session.description)
  }

  // MARK: - Completing

  /// A segment is completed at this size.
  static let fullSize: UInt64 = 65_536
  /// A segment is completed when it has not grown for this long.
  private static let idleTime = Duration.seconds(5)
  /// The same while the folder is to be looked through for words of purged notes.
  private static let shortIdleTime = Duration.seconds(1)
  /// A segment is completed when it has had records for this long.
  private static let longestTime = Duration.seconds(60)

  /// The latest time at which to complete it, if nothing is appended until then; nil when it is time now.
  func completionTime(at now: Instant, isSoon: Bool) -> Instant? {
    let began = began ?? now
    self.began = began
    if seenLast != last { (seenLast, grew) = (last, now) }
    let idleTime = isSoon ? Self.shortIdleTime : Self.idleTime
    let due = min(began + Self.longestTime, (grew ?? now) + idleTime)
    return status.size < Self.fullSize && now < due ? due : nil
  }

  /// True if it is complete, or nothing was appended to it.
  var isCompleteOrEmpty: Bool { isComplete || last == first }

  /// Ends appending to it.
  func complete() { isComplete = true }

  /// Gives it the final name of a complete segment, unless that name is taken.
  func rename() throws(StoreError) {
    let sealed = SegmentName(
      segment: header.segment, end: encoder.hash, endsSession: endsSession
    ).description
    guard try folder.descriptor.status(of: sealed) == nil else {
      throw StoreError(operation: "rename", path: path, errno: EEXIST, detail: sealed)
    }
    try folder.descriptor.rename(name, to: sealed)
    name = sealed
  }

  /// Removes the file that holds the beginning of this one. Call it when this one has its final name, and that is on disk.
  func removeSuperseded() {
    guard let superseded,
      (try? folder.descriptor.status(of: superseded.name)) == superseded.status
    else { return }
    folder.descriptor.remove(superseded.name)
  }

  // MARK: - The disk

  /// Takes the folders that the caller has to synchronize before the file.
  func takeUnsyncedFolders() -> [OpenDescriptor] {
    let folders = unsyncedFolders
    unsyncedFolders = []
    return folders
  }

  /// Notes that the records up to `last` are on disk.
  func markSynced(through last: UInt64) { synced = max(synced, last) }

  /// The state of the file at its path.
  enum Place {
    /// The file is there with nothing added, removed or linked.
    case ours
    /// The file is there, but another process linked it or added to it. All our records are still in it.
    case touched
    /// There is nothing, another file, fewer bytes than were written, or a file that others cannot read.
    case gone
  }

  var place: Place {
    guard let now = try? descriptor.system.status(of: path, in: nil), now.isSameFile(as: status),
      now.size >= status.size, now.isReadable
    else { return .gone }
    return now.links == 1 && now.size == status.size ? .ours : .touched
  }
}
