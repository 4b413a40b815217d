internal import Notes

/// A file of a notebook that never changes again, somewhere outside of a notebook: one that is being carried.
public enum CompleteFile {
  /// Whether a file is all that its name says: a complete log, a snapshot, or `decent.json`. It is read as a whole.
  ///
  /// - Complexity: O(size), and no more memory than a record needs.
  public static func isWhole(_ name: String, in folder: String) -> Bool {
    guard let folder = try? FileDescriptor.folder(folder, on: SystemFiles.shared) else {
      return false
    }
    if name.hasSuffix(".json") {
      // One of a later version is whole, too, and says that nothing here is to be touched.
      do { return try NotebookFile.read(name, in: folder) != nil } catch {
        return error.reason == .newerFormat
      }
    }
    guard let file = try? folder.regularFile(name), let size = try? file.status().size else {
      return false
    }
    if let segment = SegmentName(name) { return isWhole(file, size, segment) }
    guard SnapshotFile.isName(name) else { return false }
    var hash = SHA256()
    var offset: UInt64 = 0
    while let bytes = try? file.next(&offset) { hash.update(bytes) }
    return hash.snapshotName == name
  }

  private static func isWhole(
    _ file: borrowing FileDescriptor, _ size: UInt64, _ name: SegmentName
  ) -> Bool {
    guard let head = try? file.read(LogFormat.headerSize, at: 0),
      var scan = try? LogScan(decoding: head[...])
    else { return false }
    var limit = Int.max
    let stop = try? scan.read(file, size: size, known: .init(), limit: &limit) { _, _ in }
    return stop == .end && name == SegmentName(segment: scan.header.segment, end: scan.hash)
  }
}
