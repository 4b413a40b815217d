internal import ReplicatingTypes

/// The one file that this process appends to; later, until all of it is on disk, one it used to.
///
/// What counts records here counts them over the whole life of the `LogFolder`, like `appended`.
final class LiveFile {
  let header: LogHeader
  let path: String
  let descriptor: FileDescriptor
  /// The file as it was created; its size is the number of bytes that were accepted since.
  var status: FileStatus
  var encoder: LogEncoder
  /// The records `first..<last` are in this file, `first..<synced` of them on disk for good.
  let first: UInt64
  var last: UInt64
  var synced: UInt64
  /// Folders whose entries lead to the file and are not known to be on disk.
  var folders: [OpenFolder]
  /// Never to be synchronized again: it failed once, or the file is no longer in its place.
  var isLost = false

  init(
    header: LogHeader, descriptor: consuming FileDescriptor, folders: [OpenFolder], first: UInt64
  ) throws(StoreError) {
    self.header = header
    path = descriptor.path
    status = try descriptor.status()
    self.descriptor = descriptor
    encoder = LogEncoder(header: header)
    self.first = first
    last = first
    synced = first
    self.folders = folders
  }

  var session: Identifier { header.session }

  /// What is at our path.
  enum Place {
    /// The file we write, with nothing added, removed or linked.
    case ours
    /// The file we write, but somebody else linked it or added to it. What we wrote is still there.
    case touched
    /// Nothing, or another file, or less than we wrote.
    case gone
  }

  var place: Place {
    guard let now = try? descriptor.system.status(of: path, in: nil), now.isSameFile(as: status),
      now.size >= status.size
    else { return .gone }
    return now.links == 1 && now.size == status.size ? .ours : .touched
  }

  /// Whether there is something that the next batch of the sync thread has to cover.
  var needsSync: Bool { !isLost && synced < last }
}

/// A folder that is kept open by whoever still has to synchronize it.
final class OpenFolder {
  let descriptor: FileDescriptor

  init(_ descriptor: consuming FileDescriptor) {
    self.descriptor = descriptor
  }
}
