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
  /// A file that was replaced, in which one who has it open may still write.
  struct Replaced {
    let file: any SetAside
    let path: FilePath
    let hash: UInt64
    let due: Instant
  }

  /// Why nothing is deleted, or nothing is read or written, until the user says so.
  enum Brake: Equatable {
    case deletions(Int)
    case changes(Int)
    /// The number of files that would be removed, or get other bytes, because their notes were trashed or have changed.
    case removals(Int)
    case writes(Int)
    case folder(String)
  }

  /// What the notebook lacks of what the files and their records have, and what came of that.
  struct Lacking {
    /// Notes that were made of files whose notes the notebook lacks, and notes that have got what later states had.
    var created = 0
    var updated = 0
    /// Files whose notes are expected to come.
    var waiting: Set<FilePath> = []
    /// Files that stay as they are, though by what the notebook has they would be removed or written, with their notes.
    var kept: [FilePath: NoteID] = [:]
    /// True if files were written from changes that the notebook lacks.
    var isOlder = false
    /// True if the notebook's folder was looked through again, since changes wait for others.
    var isLookedThrough = false
    /// What the user was told last.
    var told: String?
  }

  /// What becomes of a file by what its note is.
  enum Outcome { case same, written, removed }

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
  /// Files of which the newest state may not be there: a process that was killed has noted it, and perhaps not replaced the file.
  private(set) var unconfirmed: Set<FilePath>
  /// The last state of the notebook that was noted, and when one may be noted next.
  private var noted: FileRecords.Rest?
  private var nextNote: Instant
  private static let noteInterval = Duration.seconds(10)
  /// The size of the entries that were appended since all was written, in bytes; 0 if all is to be written next.
  var appended = 0

  /// The states that this process has written, and whether programs have read them.
  var writtenStates = WrittenStates()
  var touched = TouchedFiles()
  /// The notes whose files may lack something.
  var changed: Set<NoteID> = [] {
    didSet {
      if changed.count > weighedCount { isWeighed = false }
      weighedCount = changed.count
    }
  }
  private var weighedCount = 0
  /// Some of these, whose files can be written, the next at the end.
  private var writable: [NoteID] = []
  var missing = MissingFiles()
  /// True while it is looked whether so many files have really changed as were touched.
  var isCounting = false
  /// Files that are no notes, and why. They are left alone until they change.
  var refused: [FilePath: UInt64] = [:]
  /// The paths of what is left out that the user was told of.
  var toldSkipped: Set<String> = []
  var replaced: [Replaced] = []
  /// What the watcher has reported and was not looked at.
  private var report = TreeReport()
  /// No more events are kept: a look through the folders finds as much.
  private static let mostEvents = 65_536
  /// Notes that could not be written to their files. It is tried again after the next look through the folders.
  var unwritten: Set<NoteID> = []
  /// Whether the user was told of that.
  var isUnwrittenTold = false
  /// The paths of notes whose files have other ones, since this folder takes their names for those of others; and these.
  var otherNames: [(path: String, file: String)] = []
  /// What would become of the files of notes that have changed, where very many have; and those of which that is not known yet.
  var outcomes: [NoteID: Outcome] = [:]
  var unweighed: [NoteID] = []
  /// True if that is known of all, and they are not too many.
  var isWeighed = false
  var lacking = Lacking()
  /// The files as they were when they were last looked at.
  var statuses: [FilePath: FileStatus] = [:]
  var brake: Brake?
  /// The look through the folders that is going on.
  var walk: MirrorWalk?
  var nextWalk: Instant
  /// True if it was at rest once.
  var hasRested = false
  /// The time of the last look through all folders that is complete: when it began. And the number of files that it has found.
  var lastWalk: Instant?
  var foundCount = 0
  /// The notes that have a path, by that, of several with one the smallest; nil if it is to be looked up anew.
  var notesByPath: [FilePath: NoteID]?
  /// The paths of the notes' files; nil as long as no file was to be named.
  private var knownNames: FileNames?
  /// When the user has said that what is gone, or has changed, is meant so: brakes have no effect until everything is taken over.
  var confirmed: Instant?
  /// True while files are written again as the notes are, because the user has said so.
  var isRestoring = false

  /// - Parameters:
  ///   - records: what the file says.
  ///   - isMade: whether the notebook has a change. States with others never were in it: the process was killed before that.
  init(
    _ tree: any FileTree, _ file: StateFile?, _ records: FileRecords, after earlier: FileRecords,
    marker: [UInt8],
    now: Instant, isMade: (ChangeID) -> Bool
  ) {
    self.tree = tree
    self.file = file
    self.marker = marker
    self.earlier = earlier
    self.records = records
    self.records.settle(isMade: isMade)
    unconfirmed = self.records.pathsWrittenSinceRest
    watcher = tree.makeWatcher()
    nextWalk = now
    nextNote = now
    noted = self.records.rest
  }

  /// The name of the file that says whose mirror a folder is.
  static let markerFile = ".decent-mirror"

  // MARK: - What was seen

  /// Notes which notes have changed, so that their files are written.
  func note(_ effects: Effects) {
    for (note, facets) in effects.facets {
      changed.insert(note)
      outcomes[note] = nil
      if !facets.isDisjoint(with: [.created, .path, .trashed, .purged]) { notesByPath = nil }
    }
    // Of a purged note no earlier entry may stay.
    if !effects.purged.isEmpty, (try? file?.replace(with: records.encoded)) == nil { appended = 0 }
  }

  func touch(_ path: FilePath, complete isComplete: Bool, at now: Instant) {
    // Another one may write it since it was closed.
    touched.insert(
      path, TouchedFiles.Touch(last: now, isComplete: isComplete, due: now + Self.rest))
  }

  /// Notes that a file is gone, which may only have got another path.
  func miss(_ path: FilePath, since instant: Instant) {
    touched.remove(path)
    missing.insert(path, since: instant, records[path], statuses[path])
  }

  /// Takes what the watcher has to report, without a time: a file rests from the time at which that is looked at, since the last time
  /// that is known may be long past.
  ///
  /// - Parameter path: a file that was replaced since the last call. What was read of it before that was its state before the last.
  func readReport(replaced path: FilePath? = nil) {
    guard let new = watcher?.report() else { return }
    let replacement = new.events.lastIndex { $0.kind == .complete && FilePath($0.path) == path }
    for (index, event) in new.events.enumerated() {
      if event.kind != .read {
        report.events.append(event)
        // The replacement itself is the mirror's: where two files exchange their names it is told as several events.
        if event.kind != .folder, FilePath(event.path) != path {
          // A program that opens a file for writing and closes it need not have written anything.
          writtenStates.overwrite(FilePath(event.path), certain: event.kind == .touched)
        }
      } else if index > replacement ?? -1 || FilePath(event.path) != path {
        noteRead(event.path)
      } else {
        writtenStates.read(path!, before: 1)
      }
    }
    if new.isIncomplete || report.events.count > Self.mostEvents {
      report = TreeReport()
      report.isIncomplete = true
      writtenStates.removeAll()
    }
  }

  /// Notes that a program has read a file, or one that was set aside while the program had it open.
  private func noteRead(_ path: String) {
    if let mark = AsideName.mark(of: path) {
      for one in replaced where AsideName.isOne(path, of: one.path.text) {
        if mark == ReadFile.text(one.hash) { writtenStates.read(one.path, hash: one.hash) }
      }
    } else if NotePath.isValid(path) {
      writtenStates.read(FilePath(path), before: 0)
    }
  }

  /// True if what programs read in the folder of a file is reported.
  func isWatching(_ path: FilePath) -> Bool {
    let end = path.text.lastIndex(of: "/")
    return watcher?.isWatching(end.map { String(path.text[..<$0]) } ?? "") ?? false
  }

  /// Looks at what the watcher has reported.
  func takeReport(at now: Instant) {
    readReport()
    defer { report = TreeReport() }
    for event in report.events {
      if event.path == Self.markerFile { nextWalk = now }
      let kind = IgnoredNames.kind(of: event.path)
      if kind == .ignored { continue }
      switch event.kind {
      case .read: break
      case .folder: nextWalk = min(nextWalk, now)
      case .complete, .touched:
        guard kind == .conflictCopy || NotePath.isValid(event.path) else { continue }
        touch(FilePath(event.path), complete: event.kind == .complete, at: now)
      }
    }
    if report.isIncomplete { nextWalk = now }
  }

  /// Brakes have an effect again when everything that the user has confirmed is taken over.
  func endConfirmation() {
    guard confirmed != nil || isRestoring, touched.isEmpty, missing.isEmpty, isWritten else {
      return
    }
    isRestoring = false
    if let lastWalk, let confirmed, lastWalk >= confirmed { self.confirmed = nil }
  }

  /// What could not be written, or was kept, is to be tried again.
  func retryUnwritten() {
    changed.formUnion(unwritten)
    changed.formUnion(lacking.kept.values)
    unwritten = []
    lacking.kept = [:]
  }

  /// The number of all files, also of those that were not read yet.
  var fileCount: Int { max(records.byPath.count, foundCount) }

  /// True if everything was looked at, read and written, but for files that are left alone.
  var isAtRest: Bool {
    lastWalk != nil && walk == nil && touched.isEmpty && missing.isEmpty && isWritten
      && replaced.isEmpty && brake == nil
  }

  /// True if the files of all notes that have changed were written, but for files that are left alone.
  private var isWritten: Bool {
    changed.allSatisfy { records.paths[$0].map { refused[$0] != nil } ?? false }
      && unwritten.isEmpty
  }

  /// The time at which something is to be done.
  func due(after now: Instant) -> Instant? {
    if walk != nil || brake == nil && (isCounting || !unweighed.isEmpty) { return now }
    var due = nextWalk
    if brake == nil {
      due = min(due, touched.due(after: now) ?? due)
      for since in missing.since.values { due = min(due, since + Self.absence) }
    } else {
      due = min(due, now + .seconds(1))
    }
    for one in replaced { due = min(due, one.due) }
    // A note waits for its file, when that is being written.
    if due > now, !changed.isEmpty, !writable.isEmpty || changed.contains(where: isReady()) {
      due = now
    }
    return due
  }

  /// Tells whether a note can be written to its file: not while somebody else writes that, nor when it is gone or was refused; nor, if it
  /// has none, while there are files that were not read yet, of which one may be its own.
  private func isReady() -> (NoteID) -> Bool {
    guard lastWalk != nil, brake == nil else { return { _ in false } }
    let hasUnread = touched.paths.contains { records[$0] == nil && refused[$0] == nil }
    return { [self] note in
      guard let path = records.paths[note] else { return !hasUnread }
      return touched[path] == nil && missing[path] == nil && refused[path] == nil
    }
  }

  /// The next notes that can be written to their files; they are not taken for changed any more.
  ///
  /// - Complexity: O(atMost), and O(changed notes) once for all that can be written; O(touched files) if there are any.
  func takeWritable(at now: Instant, atMost most: Int) -> [NoteID] {
    if changed.isEmpty { return [] }
    // While many files are read their notes only wait.
    if writable.isEmpty, let due = touched.due(after: now), due <= now { return [] }
    let isReady = isReady()
    if writable.isEmpty { writable = changed.filter(isReady).sorted(by: >) }
    var taken: [NoteID] = []
    while taken.count < most, let note = writable.popLast() {
      if isReady(note), changed.remove(note) != nil { taken.append(note) }
    }
    // Room for very many is given back.
    if changed.isEmpty { (changed, writable) = ([], []) }
    return taken
  }

  // MARK: - What is known

  /// Notes what is known of a file from now on, before that is done of which it tells.
  ///
  /// - Parameter earlier: states that count if the process is killed before that is done (`FileRecords.settle`).
  /// - Throws: the disk's error. Then it must not be done: after a kill the file would be taken for another.
  func remember(
    _ path: FilePath, _ record: FileRecords.Record?, after earlier: [FileState] = []
  ) throws(StoreError) {
    unconfirmed.remove(path)
    if records[path] == record { return }
    let isNew = records[path] == nil
    var written = record
    written?.states.insert(contentsOf: earlier.suffix(FileRecords.mostStates - 1), at: 0)
    let entry = FileRecords.entry(path, written)
    // All of it is written anew at the beginning, after a failure, and when much of it counts no more.
    if appended == 0 || appended > 1 << 20 && appended > records.byPath.count << 10 {
      appended = 0
      var next = records
      next[path] = written
      try file?.replace(with: next.encoded)
      appended = 1
    } else {
      let before = appended
      appended = 0
      try file?.append(entry)
      appended = before + entry.count
    }
    records[path] = record
    if (record?.states.count ?? 0) < 2 { writtenStates.remove(path) }
    if record == nil {
      knownNames?.remove(path.text)
    } else if isNew, knownNames?.insert(path.text) == false {
      // The file system takes it for the path that the file had until now.
      knownNames = nil
    }
  }

  /// Takes back what was noted of a file, if it has the bytes that it had before: the process was killed before it could replace it.
  ///
  /// Nobody has read or written anything then. So who has read an older state may still have that.
  func takeBackUnmade(_ path: FilePath, hash: UInt64) throws(StoreError) {
    guard unconfirmed.remove(path) != nil, var record = records[path],
      record.states.last!.hash != hash, record.states.dropLast().last?.hash == hash
    else { return }
    record.states.removeLast()
    try remember(path, record)
    changed.insert(record.note)
  }

  /// Notes that files had these bytes before they were replaced, and so have been replaced.
  func confirm(replacing hash: UInt64, _ isFile: (FilePath) -> Bool) {
    for path in unconfirmed
    where isFile(path) && records[path]?.states.dropLast().last?.hash == hash {
      unconfirmed.remove(path)
    }
  }

  /// The state that a file has, or had before somebody removed it.
  func lastState(of path: FilePath) -> FileState? {
    let states = records[path]?.states ?? []
    return unconfirmed.contains(path) ? states.dropLast().last : states.last
  }

  /// The paths of the notes' files, so that no two get one.
  var names: FileNames {
    get {
      if knownNames == nil {
        let told = tree.nameSensitivity
        var names = FileNames(tellingCase: told.case, tellingForm: told.form)
        for path in records.byPath.keys.sorted() { names.insert(path.text) }
        knownNames = names
      }
      return knownNames!
    }
    _modify {
      _ = names
      yield &knownNames!
    }
  }

  /// Notes a state of the notebook with which everything is at rest, now and then, and at the end.
  ///
  /// The next process looks at those notes only that were changed since. No other one can need to be written: here each note was looked at that was
  /// changed before, by whomever, since this process knew of the change; and of the files that were written or read since, an entry
  /// stands behind this one. Files that somebody has changed are found without it.
  ///
  /// - Parameter now: nil at the end of the process.
  func noteRest(_ rest: FileRecords.Rest, at now: Instant?) {
    guard rest != noted, now ?? nextNote >= nextNote else { return }
    nextNote = (now ?? nextNote) + Self.noteInterval
    let entry = FileRecords.entry(rest)
    // It may be lost.
    do {
      if appended == 0 {
        try file?.replace(with: records.encoded + entry)
        appended = 1
      } else {
        try file?.append(entry)
        appended += entry.count
      }
      noted = rest
    } catch { appended = 0 }
  }
}

/// The mirror of this process, or why there is none.
struct Mirroring {
  var mirror: Mirror?
  /// True after it has begun once.
  var hasBegun = false
  /// The last failure that the user was told of: it is told once.
  var told: String?
  /// Since when another process has been found to mirror the folder.
  var heldSince: Instant?
  /// When it is tried again to begin.
  var retry: Instant?
}
