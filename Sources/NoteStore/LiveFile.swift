internal import ReplicatingTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The one file that this process appends to, a segment of its session; later, until all of it is on disk, one it
/// used to.
///
/// What counts records here counts them over the whole life of the `LogFolder`, like `appended`.
final class LiveFile {
  let header: LogHeader
  /// The session's folder, and the file's name in it.
  let folder: OpenDescriptor
  private(set) var name: String
  let descriptor: FileDescriptor
  /// The file as it was created; its size is the number of bytes that were accepted since.
  var status: FileStatus
  var encoder: LogEncoder
  /// The records `first..<last` are in this file, `first..<synced` of them on disk for good.
  let first: UInt64
  var last: UInt64
  var synced: UInt64
  /// Folders whose entries lead to the file and are not known to be on disk.
  var folders: [OpenDescriptor]
  /// Never to be synchronized again: it failed once, or the file is no longer in its place.
  var isLost = false
  /// Nothing is appended any more, and it gets its final name as soon as it is on disk. The session goes on in the next
  /// file.
  var isComplete = false
  /// The session does not go on behind it either, and its final name says so.
  var endsSession = false
  /// When it was first seen with records in it, and when it was first seen with as many as `seenLast` says.
  var began: ContinuousClock.Instant?
  var grew: ContinuousClock.Instant?
  var seenLast: UInt64 = 0

  /// Creates the file in `folder`.
  ///
  /// - Parameters:
  ///   - folders: what leads to it and may not be on disk, that folder too.
  ///   - first: how many records were appended before.
  init(
    header: LogHeader, in folder: OpenDescriptor, folders: [OpenDescriptor], first: UInt64
  ) throws(StoreError) {
    self.header = header
    self.folder = folder
    name = "\(header.segment).open"
    let descriptor = try folder.descriptor.createFile(name)
    status = try descriptor.status()
    self.descriptor = descriptor
    encoder = LogEncoder(header: header)
    self.first = first
    last = first
    synced = first
    self.folders = folders
  }

  var session: Identifier { header.session }
  var path: String { "\(folder.descriptor.path)/\(name)" }
  /// The name under which it is known among all files.
  var key: String { "\(session.description)/\(name)" }

  /// The number of the last record in it, and the hash that the session's next one continues.
  var end: LogScan.Known { LogScan.Known(number: encoder.number, hash: encoder.hash) }

  /// What is at our path.
  enum Place {
    /// The file we write, with nothing added, removed or linked.
    case ours
    /// The file we write, but somebody else linked it or added to it. What we wrote is still there.
    case touched
    /// Nothing, or another file, or less than we wrote, or nothing that others may read.
    case gone
  }

  var place: Place {
    guard let now = try? descriptor.system.status(of: path, in: nil), now.isSameFile(as: status),
      now.size >= status.size, now.isReadable
    else { return .gone }
    return now.links == 1 && now.size == status.size ? .ours : .touched
  }

  /// Gives it the name that says that it is complete, unless something is called so.
  func seal() throws(StoreError) {
    let sealed = SegmentName(
      segment: header.segment, end: encoder.hash, endsSession: endsSession
    ).description
    guard try folder.descriptor.status(of: sealed) == nil else {
      throw StoreError(operation: "rename", path: path, errno: EEXIST, detail: sealed)
    }
    try folder.descriptor.rename(name, to: sealed)
    name = sealed
  }

  /// Whether there is something that the next batch of the sync thread has to cover.
  var needsSync: Bool { !isLost && synced < last }
}

/// A file or folder that is kept open by whoever still has to synchronize it.
final class OpenDescriptor: Sendable {
  let descriptor: FileDescriptor

  init(_ descriptor: consuming FileDescriptor) {
    self.descriptor = descriptor
  }
}
