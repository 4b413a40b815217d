internal import Bytes
internal import ReplicatingTypes

/// Checks whether a file that is being copied to a notebook is complete. It may be a complete segment, a snapshot, or
/// `decent.json`.
public final class CompleteFile {
  private let name: String
  private let folder: String
  private let file: OpenDescriptor?
  private var hash = SHA256()
  private var offset: UInt64 = 0

  /// Opens the file at `path`. A file that is not there is not complete.
  public init(_ path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    name = String(parts.last ?? "")
    folder = parts.dropLast().joined(separator: "/")
    file = try? Self.open(name, in: folder)
  }

  /// Reads on, a MiB of a snapshot and any other file as a whole; returns nil if there is more to read, else true if the file
  /// is complete.
  public func isWhole() -> Bool? {
    guard let file else { return false }
    if name.hasSuffix(".json") { return isNotebookFile }
    if let segment = SegmentName(name) { return Self.isWhole(file.descriptor, segment) }
    guard SnapshotFile.isName(name) else { return false }
    if let bytes = try? file.descriptor.next(&offset) {
      hash.update(bytes)
      return nil
    }
    return SnapshotFormat.name(of: hash) == name
  }

  private static func open(_ name: String, in folder: String) throws(StoreError) -> OpenDescriptor?
  {
    let folder = try FileDescriptor.folder(folder, on: SystemFiles.shared)
    guard let file = try folder.regularFile(name) else { return nil }
    return OpenDescriptor(file)
  }

  /// The size of the beginning of a segment that is not whole from which something can be read; 0 for any other file.
  public var readableSize: UInt64 {
    guard let file, SegmentName(name) != nil,
      let (scan, stop, size) = try? Self.scan(file.descriptor)
    else { return 0 }
    // What is behind damage may be read as well; but no segment is as long as this.
    if stop != .end, size <= Self.longestSegment,
      (try? scan.continuation(behind: scan.window, in: file.descriptor, size: size)) ?? nil != nil
    {
      return size
    }
    return scan.number > scan.header.recordsBefore ? scan.offset : 0
  }

  /// What is full, and one more append.
  private static let longestSegment = UInt64(2 * LogFormat.maximumAppend)

  /// True if it is a `decent.json` of another version of the program, which keeps this version from touching the notebook.
  public var isOfOtherVersion: Bool {
    guard name.hasSuffix(".json") else { return false }
    do {
      _ = try identity
      return false
    } catch { return error.isOfOtherVersion }
  }

  private var identity: Identifier? {
    get throws(StoreError) {
      let folder = try FileDescriptor.folder(folder, on: SystemFiles.shared)
      return try NotebookFile.read(name, in: folder)
    }
  }

  private var isNotebookFile: Bool { (try? identity) ?? nil != nil }

  private static func isWhole(_ file: borrowing FileDescriptor, _ name: SegmentName) -> Bool {
    guard let (scan, stop, _) = try? scan(file) else { return false }
    return stop == .end && name.names(scan.header.segment, end: scan.hash)
  }

  /// Reads a segment as far as it is whole.
  private static func scan(
    _ file: borrowing FileDescriptor
  ) throws -> (LogScan, LogScan.Stop, size: UInt64) {
    let size = try file.status().size
    var scan = try LogScan(decoding: try file.read(LogFormat.headerSize, at: 0)[...])
    var limit = Int.max
    let stop = try scan.read(file, size: size, known: .init(), limit: &limit) { _, _ in }
    return (scan, stop, size)
  }
}
