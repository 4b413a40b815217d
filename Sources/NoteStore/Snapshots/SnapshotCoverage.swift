internal import ReplicatingTypes

/// The records that the snapshots in a notebook's folder stand for. The log files of these records may be gone.
///
/// Read from the snapshots' beginnings when it is asked for, and kept until `invalidate()`.
final class SnapshotCoverage {
  private let root: NotebookRoot
  private var known: [Identifier: NumberRanges]?
  /// The names of the snapshots that were read for it.
  private(set) var snapshots: [String] = []

  /// Files that cannot be read, with the status that they had then: they are not read again before that changes.
  private var unreadable: [String: FileStatus] = [:]

  init(_ root: NotebookRoot) { self.root = root }

  /// The records of each session. O(snapshots) when they may have changed.
  func ranges() -> [Identifier: NumberRanges] {
    if let known { return known }
    var coverage: [Identifier: NumberRanges] = [:]
    snapshots = []
    if let folder = try? openFolder(), let names = try? folder.names() {
      for name in names where !LogName.isTemporary(name) {
        // A snapshot that cannot be read stands for nothing.
        guard let pieces = pieces(of: name, in: folder) else { continue }
        coverage.insert(pieces)
        snapshots.append(name)
      }
    }
    known = coverage
    return coverage
  }

  private func pieces(
    of name: String, in folder: borrowing FileDescriptor
  ) -> [SessionPiece]? {
    guard let status = try? folder.status(of: name), unreadable[name] != status else { return nil }
    unreadable[name] = nil
    do { return try SnapshotFile.coverage(of: name, in: folder) } catch {
      if error.isOfContent { unreadable[name] = status }
      return nil
    }
  }

  /// True if snapshots stand for these records of a session.
  func contains(_ records: ClosedRange<UInt64>, of session: Identifier) -> Bool {
    ranges().contains(records, of: session)
  }

  /// Forgets the records, because the snapshots may have changed.
  func invalidate() { known = nil }

  /// Opens the folder of snapshots; fails where there is none.
  func openFolder() throws(StoreError) -> FileDescriptor {
    try root.open().folder(SnapshotFormat.folder)
  }
}
