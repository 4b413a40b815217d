internal import FileTree
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

/// A folder of files that are the notes, in both directions: what it knows of the files, and what is to be looked at when.
///
/// The notebook decides. What is written into a file is an edit of its note, made on the state of the note that the program had before it that
/// has written the file; then the file gets what the note is by now. Which state that was is not known: it is one of those that were in the
/// file since it was last read, and is taken to be the one from which the new text differs least (`FileRecords`).
final class Mirror {
  typealias Instant = ContinuousClock.Instant

  /// What is to be known of a file before it is read.
  struct Touch {
    var last: Instant
    /// True if it was closed, or came by getting its name: then its writer is done.
    var isComplete: Bool
    /// When to look at it.
    var due: Instant
  }

  /// A file that was replaced, in which one who has it open may still write.
  struct Replaced {
    let file: any SetAside
    let path: FilePath
    let hash: UInt64
    let due: Instant
  }

  /// Why nothing is deleted, or nothing is read, until the user says so.
  enum Brake: Equatable {
    case deletions(Int)
    case changes(Int)
    case folder(String)
  }

  /// The times of FILES: a file rests before it is read; longer if it may be a part of what it is to be; a file that is gone stays so
  /// before its note is deleted; a replaced file is kept; folders are looked through.
  static let rest = Duration.milliseconds(200)
  static let longRest = Duration.seconds(2)
  static let absence = Duration.seconds(2)
  static let keeping = Duration.seconds(2)
  static let rescan = Duration.seconds(30)

  let tree: any FileTree
  let file: StateFile?
  let watcher: (any TreeWatcher)?
  /// Where the marker says that the folder is this mirror's.
  let marker: [UInt8]
  var records: FileRecords
  /// What was read from these files by an import, or written to them by an export.
  let earlier: FileRecords
  /// The size of the entries that were appended since all was written, in bytes; 0 if all is to be written next.
  var appended = 0

  var touched: [FilePath: Touch] = [:]
  /// The notes whose files may lack something.
  var changed: Set<NoteID> = []
  /// The files that are gone, and since when.
  var missing: [FilePath: Instant] = [:]
  /// Files that are no notes, and why. They are left alone until they change.
  var refused: [FilePath: UInt64] = [:]
  var replaced: [Replaced] = []
  /// The files as they were when they were last looked at.
  var statuses: [FilePath: FileStatus] = [:]
  var brake: Brake?
  /// The look through the folders that is going on, and when it began.
  var walk: (walk: FolderWalk, since: Instant)?
  var nextWalk: Instant
  /// The time of the last look through all folders that is complete: when it began.
  var lastWalk: Instant?
  /// The notes that have a path, by that, of several with one the smallest; nil if it is to be looked up anew.
  var notesByPath: [FilePath: NoteID]?
  /// The paths of the notes' files, so that no two get one.
  var names = FileNames()
  /// When the user has said that what is gone, or has changed, is meant so: brakes have no effect until everything is taken over.
  var confirmed: Instant?

  init(
    _ tree: any FileTree, _ file: StateFile?, after earlier: FileRecords, marker: [UInt8],
    now: Instant
  ) {
    self.tree = tree
    self.file = file
    self.marker = marker
    self.earlier = earlier
    records = FileRecords(decoding: file?.read() ?? [])
    watcher = tree.makeWatcher()
    nextWalk = now
    for path in records.byPath.keys.sorted() { names.insert(path.text) }
  }

  /// The name of the file that says whose mirror a folder is.
  static let markerFile = ".decent-mirror"

  // MARK: - What was seen

  /// Notes which notes have changed, so that their files are written.
  func note(_ effects: Effects) {
    changed.formUnion(effects.facets.keys)
    notesByPath = nil
    // Of a purged note no earlier entry may stay.
    if !effects.purged.isEmpty, (try? file?.replace(with: records.encoded)) == nil { appended = 0 }
  }

  func touch(_ path: FilePath, complete isComplete: Bool, at now: Instant) {
    if var touch = touched[path] {
      touch.last = now
      // Another one may write it since it was closed.
      touch.isComplete = isComplete
      touch.due = now + Self.rest
      touched[path] = touch
    } else {
      touched[path] = Touch(last: now, isComplete: isComplete, due: now + Self.rest)
    }
  }

  /// Takes in what the watcher has to report.
  func takeReport(at now: Instant) {
    guard let report = watcher?.report() else { return }
    for event in report.events {
      if event.path == Self.markerFile { nextWalk = now }
      guard IgnoredNames.kind(of: event.path) == .none else { continue }
      switch event.kind {
      case .folder: nextWalk = min(nextWalk, now)
      case .complete, .touched:
        guard NotePath.isValid(event.path) else { continue }
        touch(FilePath(event.path), complete: event.kind == .complete, at: now)
      }
    }
    if report.isIncomplete { nextWalk = now }
  }

  /// True if everything was looked at, read and written.
  var isAtRest: Bool {
    lastWalk != nil && walk == nil && touched.isEmpty && changed.isEmpty && missing.isEmpty
      && replaced.isEmpty && brake == nil
  }

  /// The time at which something is to be done.
  func due(after now: Instant) -> Instant? {
    var due = walk == nil ? nextWalk : now
    if brake == nil {
      for touch in touched.values { due = min(due, touch.due) }
      for since in missing.values { due = min(due, since + Self.absence) }
    } else {
      due = min(due, now + .seconds(1))
    }
    // A note waits for its file, when that is being written.
    if changed.contains(where: { !isWaiting($0) }) { due = now }
    for one in replaced { due = min(due, one.due) }
    return due
  }

  /// True if a note is not written to its file yet, because somebody else writes that, or because it is gone or was refused; or because
  /// there are files that were not read yet.
  func isWaiting(_ note: NoteID) -> Bool {
    guard lastWalk != nil, brake == nil else { return true }
    guard let path = records.paths[note] else { return hasUnread }
    return touched[path] != nil || missing[path] != nil || refused[path] != nil
  }

  /// True if there is a file that was not read yet, which may be that of a note that has none.
  var hasUnread: Bool { touched.keys.contains { records[$0] == nil && refused[$0] == nil } }

  // MARK: - What is known

  /// Notes what is known of a file from now on, before that is done of which it tells.
  ///
  /// - Throws: the disk's error. Then it must not be done: after a kill the file would be taken for another.
  func remember(_ path: FilePath, _ record: FileRecords.Record?) throws(StoreError) {
    if records[path] == record { return }
    let isNew = records[path] == nil
    let entry = FileRecords.entry(path, record)
    // All of it is written anew at the beginning, after a failure, and when much of it counts no more.
    if appended == 0 || appended > 1 << 20 && appended > records.byPath.count << 10 {
      appended = 0
      var next = records
      next[path] = record
      try file?.replace(with: next.encoded)
      appended = 1
    } else {
      let before = appended
      appended = 0
      try file?.append(entry)
      appended = before + entry.count
    }
    records[path] = record
    if record == nil { names.remove(path.text) } else if isNew { names.insert(path.text) }
  }
}

/// The mirror of this process, or why there is none.
struct Mirroring {
  var mirror: Mirror?
  /// The last failure that the user was told of: it is told once.
  var told: String?
  /// Since when another process has been found to mirror the folder.
  var heldSince: ContinuousClock.Instant?
  /// When it is tried again to begin.
  var retry: ContinuousClock.Instant?
}
