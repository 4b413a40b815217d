internal import ReplicatingTypes

// WHAT IS DONE WITH THE SEGMENTS OF A PROCESS THAT WAS KILLED, AND WHY THAT IS SAFE
//
// Programs that carry files leave out open segments, so what a killed process has written would stay where it is. Another process of
// its user and machine, which knows that it is dead (`SessionLocks`), completes its segments:
//
// 1. It copies the whole appends at the beginning of `<segment>.open` to a file with a temporary name, puts that on disk, and
//    reads it again: it is a segment if all of it can be read.
// 2. It gives the copy the name of a complete segment, without the mark of an end, and puts the name on disk.
// 3. It removes `<segment>.open`, if all that can be read of that is in the copy.
//
// The open segment itself is not written to, so a reader that is in the midst of it, or an engine that copies it, sees what was there
// before. Behind damage the rest of the file stays where it is.
//
// No record is added to the session, so nothing can go wrong for good even if its writer lives against all evidence: the copy is the
// beginning of what it writes, as the copies of synchronization engines are, and it finds that its file is gone, begins another session, and
// writes again what the folder lacks (`OpenSegment.place`). That is why the name has no mark of an end.
//
// After a crash between any two steps the next process does what is left. If two processes are at it, which locks prevent, both make the
// same file.

/// Completes the open segments of sessions whose writers were killed. It works in steps of a few milliseconds.
final class SessionCompletion {
  private enum Stage {
    case begin
    case next
    case copy(Segment)
    case check(Segment)
    case remove(Segment)
    case done
  }

  /// An open segment that is being completed.
  private struct Segment {
    let folder: OpenDescriptor
    let name: String
    let file: OpenDescriptor
    let status: FileStatus
    /// The end of the whole appends at its beginning.
    let end: LogScan
    /// True if no record can be read behind them.
    let isAll: Bool
    let temporary: String
    /// The file with its copy, as far as it is written.
    var copy: OpenDescriptor?
    var copied: UInt64 = 0

    var newName: String { SegmentName(segment: end.header.segment, end: end.hash).description }
  }

  private static let copySize = 1 << 20

  private var stage = Stage.begin
  /// The claims of the sessions that are left, which keep other processes from completing them; the next one is at the end.
  private var locks: [SessionLocks.Claim] = []
  /// The open segments of the session that is being completed, the next one at the end.
  private var names: [String] = []
  private var folder: OpenDescriptor?
  /// The file or folder that has to be put on disk before the next step; `isWaiting` once that was submitted.
  private var sync: (opened: OpenDescriptor, isFolder: Bool)?
  private(set) var isWaiting = false

  var isDone: Bool { if case .done = stage { true } else { false } }

  /// Does one step, or nothing while it waits for the disk.
  ///
  /// - Throws: the error that stops it; another attempt goes on where it was.
  func step(_ folder: inout LogFolder) throws(StoreError) {
    if isWaiting {
      guard let answer = folder.disk.takeAsideAnswer() else { return }
      isWaiting = false
      let done = sync!
      sync = nil
      guard answer == 0 else {
        throw StoreError(
          operation: done.isFolder ? "fsync" : "fdatasync", path: done.opened.descriptor.path,
          errno: answer)
      }
    }
    if let sync {
      folder.disk.synchronizeAside(sync.opened, isFolder: sync.isFolder)
      isWaiting = true
      return
    }
    let current = stage
    stage = .done  // or what is in it would be copied
    switch current {
    case .begin:
      locks = folder.writer.locks.abandoned()
      try beginSession(folder.root)
    case .next: try next(folder.root)
    case .copy(let segment): try copy(segment)
    case .check(let segment): try check(segment)
    case .remove(let segment): remove(segment)
    case .done: break
    }
  }

  /// Looks for the open segments of the next session.
  private func beginSession(_ root: NotebookRoot) throws(StoreError) {
    guard let claim = locks.last else { return }
    do {
      let folder = OpenDescriptor(
        try root.open().folder("log").folder(claim.session.description))
      // What another process has left that was killed while it did the same.
      folder.descriptor.removeLeftovers(olderThan: 0)
      names = try folder.descriptor.names().filter {
        LogName.isOpenSegment("\(claim.session)/\($0)")
      }
      self.folder = folder
    } catch {
      // It was killed before it has written, or its segments were complete, and folded since.
      guard error.reason == .notFound else { throw error }
    }
    stage = .next
  }

  /// Begins with the next open segment; after the last one of a session, with the next session.
  private func next(_ root: NotebookRoot) throws(StoreError) {
    guard let name = names.popLast(), let folder else {
      if let claim = locks.popLast() {
        // Only if nothing is left in it.
        try? root.open().folder("log").removeFolder(claim.session.description)
        claim.remove()
      }
      folder = nil
      return try beginSession(root)
    }
    stage = .next
    guard let opened = try folder.descriptor.regularFile(name) else { return }
    let file = OpenDescriptor(opened)
    let status = try file.descriptor.status()
    // After a power cut nothing may be left of a file but its name.
    guard status.size >= UInt64(LogFormat.headerSize) else {
      return remove(name, status, in: folder)
    }
    let header = try file.descriptor.read(LogFormat.headerSize, at: 0)
    // A damaged header, or none: the file stays as it is.
    guard var scan = try? LogScan(decoding: header[...]),
      scan.header.session == locks.last?.session,
      name == SegmentName.whileOpen(scan.header.segment), root.isOurs(scan.header.notebook)
    else { return }
    let stop = try Self.scan(file.descriptor, &scan, status.size)
    let isAll =
      switch stop {
      case .end: true
      case .needs:
        try scan.continuation(behind: scan.window, in: file.descriptor, size: status.size) == nil
      default: false
      }
    guard scan.number > scan.header.recordsBefore else {
      if isAll { remove(name, status, in: folder) }
      return
    }
    let segment = Segment(
      folder: folder, name: name, file: file, status: status, end: scan, isAll: isAll,
      temporary: FileDescriptor.temporary + "\(root.makeIdentifier())")
    stage =
      try folder.descriptor.status(of: segment.newName) == nil
      ? .copy(segment) : .check(segment)
  }

  /// Reads a file from the beginning, as far as its appends are whole.
  private static func scan(
    _ file: borrowing FileDescriptor, _ scan: inout LogScan, _ size: UInt64
  ) throws(StoreError) -> LogScan.Stop {
    var limit = Int.max
    return try scan.read(file, size: size, known: .init(), limit: &limit) { _, _ in }
  }

  private func copy(_ segment: Segment) throws(StoreError) {
    var segment = segment
    if segment.copy == nil {
      segment.copy = OpenDescriptor(try segment.folder.descriptor.createFile(segment.temporary))
    }
    do {
      let count = min(UInt64(Self.copySize), segment.end.offset - segment.copied)
      let bytes = try segment.file.descriptor.read(Int(count), at: segment.copied)
      try segment.copy!.descriptor.append(bytes[...])
      segment.copied += UInt64(bytes.count)
      if segment.copied < segment.end.offset, !bytes.isEmpty {
        stage = .copy(segment)
      } else {
        sync = (segment.copy!, false)
        stage = .check(segment)
      }
    } catch {
      segment.folder.descriptor.remove(segment.temporary)
      throw error
    }
  }

  /// Checks that the copy is the segment, and gives it its name.
  private func check(_ segment: Segment) throws(StoreError) {
    let folder = segment.folder
    let name = segment.copy == nil ? segment.newName : segment.temporary
    guard try isComplete(name, of: segment) else {
      // Something else is writing to the one file or the other.
      if segment.copy != nil { folder.descriptor.remove(name) }
      throw StoreError(
        operation: "copy", path: "\(folder.descriptor.path)/\(segment.name)", reason: .other,
        detail: "it changed meanwhile")
    }
    if segment.copy != nil {
      let isNew = try folder.descriptor.publish(segment.temporary, as: segment.newName)
      folder.descriptor.remove(segment.temporary)
      guard isNew else {
        var segment = segment
        segment.copy = nil
        stage = .check(segment)
        return
      }
    }
    sync = (folder, true)
    stage = .remove(segment)
  }

  /// True if a file holds what is to be kept of the segment, and nothing else.
  private func isComplete(_ name: String, of segment: Segment) throws(StoreError) -> Bool {
    guard let file = try segment.folder.descriptor.regularFile(name) else { return false }
    let size = try file.status().size
    let header = try file.read(LogFormat.headerSize, at: 0)
    guard var scan = try? LogScan(decoding: header[...]), scan.header == segment.end.header else {
      return false
    }
    return try Self.scan(file, &scan, size) == .end && scan.offset == size
      && scan.number == segment.end.number && scan.hash == segment.end.hash
  }

  private func remove(_ segment: Segment) {
    stage = .next
    if segment.isAll { remove(segment.name, segment.status, in: segment.folder) }
  }

  /// Removes a file that is as it was when it was read: an engine may have put another one in its place.
  private func remove(_ name: String, _ status: FileStatus, in folder: OpenDescriptor) {
    guard (try? folder.descriptor.status(of: name)) == status else { return }
    folder.descriptor.remove(name)
  }
}
