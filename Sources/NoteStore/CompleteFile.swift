internal import Bytes

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

  private var isNotebookFile: Bool {
    do {
      let folder = try FileDescriptor.folder(folder, on: SystemFiles.shared)
      return try NotebookFile.read(name, in: folder) != nil
    } catch {
      // One of a later version is complete, too, and keeps this version from touching the notebook.
      return error.reason == .newerFormat
    }
  }

  private static func isWhole(_ file: borrowing FileDescriptor, _ name: SegmentName) -> Bool {
    guard let size = try? file.status().size,
      let head = try? file.read(LogFormat.headerSize, at: 0),
      var scan = try? LogScan(decoding: head[...])
    else { return false }
    var limit = Int.max
    let stop = try? scan.read(file, size: size, known: .init(), limit: &limit) { _, _ in }
    return stop == .end && name.names(scan.header.segment, end: scan.hash)
  }
}
