internal import Bytes
internal import FileTree
internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// From the files of the mirror to the notes.

extension NotesServer {
  /// Files that are read at once, at most.
  private static let readAtOnce = 64
  /// So many files, and this part of all, are not read when they have changed at once: `git checkout` does that.
  private static let manyChanges = (count: 50, percent: 25)
  /// The same of files that are gone.
  private static let manyDeletions = (count: 10, percent: 5)

  /// Reads the files that have been at rest, a few at a time.
  mutating func readTouched(
    _ mirror: Mirror, at now: Instant
  ) throws(ResponseError) {
    mirror.isCounting = countChanged(mirror)
    if mirror.isCounting || mirror.brake != nil { return }
    let due = mirror.touched.takeDue(at: now, atMost: Self.readAtOnce) {
      mirror.records[$0] != nil
    }
    var hasCopy = false
    for path in due {
      // A copy is compared to many states.
      let isCopy = isCopy(path, mirror)
      if isCopy, hasCopy {
        mirror.touched.wait(path, until: now)
        continue
      }
      hasCopy = hasCopy || isCopy
      try readTouched(path, mirror, at: now)
    }
  }

  /// True if so many of the files that were touched have other bytes than they are known to have had.
  func isChanged(_ mirror: Mirror) -> Bool {
    let changed = mirror.touched.paths.count { path in
      guard let record = mirror.records[path],
        let (bytes, _) = (try? mirror.tree.read(path.text, limit: ReadFile.longest)) ?? nil
      else { return false }
      let hash = SHA256.prefix64(of: bytes[...])
      return !record.states.contains { $0.hash == hash }
    }
    return isMany(changed, of: mirror)
  }

  /// True if `changed` of all files of the mirror are too many to change without a question.
  func isMany(_ changed: Int, of mirror: Mirror) -> Bool {
    changed > Self.manyChanges.count
      && changed * 100 > Self.manyChanges.percent * mirror.fileCount
  }

  /// True if `gone` of all files of the mirror are too many to go without a question.
  func isManyGone(_ gone: Int, of mirror: Mirror) -> Bool {
    gone > Self.manyDeletions.count
      && gone * 100 > Self.manyDeletions.percent * mirror.fileCount
  }

  /// Looks, before very many files are read, whether as many have really other bytes, a few at a time: looking at a file changes its times,
  /// too. Those that have not are not read again. If so many have, nothing is read until the user says so.
  ///
  /// - Returns: True if there are more to be looked at.
  private mutating func countChanged(_ mirror: Mirror) -> Bool {
    guard mirror.confirmed == nil, mirror.lastWalk != nil, isMany(mirror.touched.count, of: mirror)
    else {
      return false
    }
    let known = mirror.touched.paths.filter { mirror.records[$0] != nil }
    guard isMany(known.count, of: mirror) else { return false }
    let next = Array(
      known.lazy.filter { mirror.touched[$0]!.isChanged == nil }.prefix(Self.readAtOnce))
    for path in next {
      guard let record = mirror.records[path],
        let (bytes, status) = (try? mirror.tree.read(path.text, limit: ReadFile.longest)) ?? nil
      else {
        mirror.touched.mark(path, isChanged: false)
        continue
      }
      let hash = SHA256.prefix64(of: bytes[...])
      mirror.touched.mark(path, isChanged: !record.states.contains { $0.hash == hash })
      if hash == record.states.last?.hash, has(record.states.last!),
        (try? mirror.tree.status(of: path.text)) == status
      {
        mirror.touched.remove(path)
        _ = mirror.writtenStates.restore(path)
        mirror.refused[path] = nil
        mirror.statuses[path] = status
      }
    }
    if !next.isEmpty { return true }
    let changed = known.count { mirror.touched[$0]!.isChanged == true }
    if isMany(changed, of: mirror) { stop(mirror, .changes(changed)) }
    return false
  }

  private mutating func readTouched(
    _ path: FilePath, _ mirror: Mirror, at now: Instant
  ) throws(ResponseError) {
    guard let touch = mirror.touched[path] else { return }
    if isOther(path, mirror) {
      mirror.touched.remove(path)
      return
    }
    let (bytes, status): ([UInt8], FileStatus)
    do throws(FileTreeError) {
      guard let read = try mirror.tree.read(path.text, limit: ReadFile.longest) else {
        mirror.touched.remove(path)
        if mirror.records[path] != nil { mirror.miss(path, since: now) }
        return
      }
      (bytes, status) = read
      mirror.missing.remove(path)
    } catch {
      // One file that can't be read stops none of the others.
      return refuseFile(path, mirror, hash: 0, error.cause)
    }
    do throws(StoreError) {
      try mirror.takeBackUnmade(path, hash: SHA256.prefix64(of: bytes[...]))
    } catch { throw ResponseError(error) }
    do throws(FileTreeError) {
      if isNews(bytes, path, mirror), now < touch.last + Mirror.longRest {
        // Who writes a file empties it first, and may write it in pieces.
        if !touch.isComplete || bytes.isEmpty || isBeginning(bytes, of: path, mirror) {
          mirror.touched.wait(path, until: touch.last + Mirror.longRest)
          // It may get another name before it is read.
          mirror.statuses[path] = status
          return
        }
      }
      guard try mirror.tree.status(of: path.text) == status else {
        return mirror.touch(path, complete: false, at: now)
      }
    } catch { return refuseFile(path, mirror, hash: 0, error.cause) }
    if isNews(bytes, path, mirror) {
      // The program may have read the file before it wrote this, and the watcher was not asked since.
      mirror.readReport()
    } else if let record = mirror.records[path], record.states.count > 1 {
      let known = mirror.statuses[path]
      let isOther = known.map { $0.inode != status.inode || $0.born != status.born } ?? false
      if mirror.writtenStates.restore(path) || isOther {
        // A program has written just what the mirror had written: no text before it is one that the program goes on with.
        do throws(StoreError) {
          try mirror.remember(
            path, .init(note: record.note, states: Array(record.states.suffix(1))))
        } catch { throw ResponseError(error) }
      }
    }
    mirror.touched.remove(path)
    mirror.statuses[path] = status
    do throws(FileTreeError) { try take(bytes, status, at: path, mirror) } catch {
      throw .files(error)
    }
  }

  /// True if what a path leads to is a file of another path, which the file system takes for this one.
  private func isOther(_ path: FilePath, _ mirror: Mirror) -> Bool {
    guard mirror.records[path] == nil,
      mirror.names.paths(like: path.text).contains(where: { FilePath($0) != path })
    else { return false }
    return (try? mirror.tree.hasEntry(path.text)) == false
  }

  private func isNews(_ bytes: [UInt8], _ path: FilePath, _ mirror: Mirror) -> Bool {
    mirror.records[path]?.states.last?.hash != SHA256.prefix64(of: bytes[...])
  }

  /// True if a file has a beginning of what it had, or is to have, and no more.
  func isBeginning(_ bytes: [UInt8], of path: FilePath, _ mirror: Mirror) -> Bool {
    guard let record = mirror.records[path], let note = (try? lookUp(record.note)) ?? nil else {
      return false
    }
    func isBeginning(_ part: [UInt8], of whole: [UInt8]) -> Bool {
      part.count < whole.count && whole.starts(with: part)
    }
    if let rendered = try? file(of: note, at: path).rendered(), isBeginning(bytes, of: rendered) {
      return true
    }
    guard let text = (try? ReadFile(bytes, path: path, zone: environment.zone))?.text else {
      return false
    }
    return record.states.contains { state in
      guard let edited = (try? self.state(of: note, state)) ?? nil else { return false }
      return isBeginning(text, of: edited.view.map(note.text.utf8(in:)) ?? note.text.utf8)
    }
  }

  // MARK: - One file

  /// Takes in the bytes of a file.
  private mutating func take(
    _ bytes: [UInt8], _ status: FileStatus, at path: FilePath, _ mirror: Mirror
  ) throws(FileTreeError) {
    let hash = SHA256.prefix64(of: bytes[...])
    do throws(ResponseError) {
      if try isTaken(path, hash, mirror) {
        mirror.refused[path] = nil
        return
      }
    } catch { throw FileTreeError("mirror", path.text, .other, error.message) }
    if isCopy(path, mirror), try takeCopy(bytes, status, at: path, mirror) { return }
    if IgnoredNames.kind(of: path.text) == .conflictCopy {
      return refuseFile(path, mirror, hash: hash, SkippedFile.copyReason)
    }
    let file: ReadFile
    do {
      file = try ReadFile(bytes, path: path, zone: environment.zone, status: status)
    } catch {
      return refuseFile(path, mirror, hash: hash, error.reason)
    }
    mirror.refused[path] = nil
    do throws(ResponseError) { try take(file, at: path, mirror) } catch {
      throw FileTreeError("mirror", path.text, .other, error.message)
    }
  }

  /// True if there is nothing to be taken from a file with these bytes: its note has had them. Or it waits for its note, which the notebook
  /// lacks for now.
  private func isTaken(
    _ path: FilePath, _ hash: UInt64, _ mirror: Mirror
  ) throws(ResponseError) -> Bool {
    guard let record = mirror.records[path] else { return false }
    if try waits(record, at: path, mirror) {
      mirror.lacking.waiting.insert(path)
      return true
    }
    return try !isUnknown(record.note) && record.states.last!.hash == hash
      && has(record.states.last!)
  }

  /// True if nothing is done with a file because its note is expected to come.
  private func waits(
    _ record: FileRecords.Record, at path: FilePath, _ mirror: Mirror
  ) throws(ResponseError) -> Bool {
    guard mirror.confirmed == nil else { return false }
    return try isExpected(record, at: path)
  }

  private mutating func take(
    _ file: ReadFile, at path: FilePath, _ mirror: Mirror
  ) throws(ResponseError) {
    if let record = mirror.records[path], let note = try lookUp(record.note) {
      if !has(record.states.last!) { return try takeNewer(file, into: note, at: path, mirror) }
      return try read(
        file, into: note, at: path,
        from: try base(of: file, note, among: record.states, at: path), since: record.states[0])
    }
    if let (old, record) = renamed(file, to: path, mirror) {
      if let note = try lookUp(record.note) {
        return try move(note, from: old, to: path, file, mirror)
      }
      if try waits(record, at: old, mirror) {
        mirror.lacking.waiting.insert(path)
        return
      }
    }
    if let record = mirror.earlier[path], let note = try lookUp(record.note), !note.isTrashed,
      mirror.records.paths[note.id] == nil
    {
      return try read(
        file, into: note, at: path, from: try base(of: file, note, among: record.states))
    }
    if let note = try noteWithPath(path, mirror) {
      return try adopt(file, note, at: path, mirror)
    }
    if mirror.records[path] != nil { mirror.lacking.created += 1 }
    try create(file, at: path)
  }

  /// Brings into a note what its file has, which was written from a later state of the note than the notebook has: that is older.
  private mutating func takeNewer(
    _ file: ReadFile, into note: Note, at path: FilePath, _ mirror: Mirror
  ) throws(ResponseError) {
    let base = try base(of: file, note, among: mirror.records[path]!.states)
    if try isNews(operations(reading: file, into: note, from: base)) || note.isTrashed {
      mirror.lacking.updated += 1
      try read(file, into: note, at: path, from: base)
    } else {
      try rememberFile(
        path, .init(note: note.id, states: [file.state(heads: book.revision.heads)]))
    }
    // There was a file, so the note was not in the trash; and it was at this path.
    guard let read = try lookUp(note.id) else { return }
    var operations: [Change.Operation] = read.isTrashed ? [.edit(note.id, .restore)] : []
    if !read.path.isEmpty, !mirror.names.isTaken(read.path),
      let operation = read.operation(
        setting: .path, to: path.text, at: environment.now())
    {
      operations.append(.edit(note.id, operation))
    }
    try commit(operations, telling: true)
  }

  /// Brings into a note what was written to its file before that was replaced.
  mutating func readReplaced(
    _ file: ReadFile, into note: Note, at path: FilePath, _ record: FileRecords.Record
  ) throws(ResponseError) {
    let base = try base(of: file, note, among: record.states, at: path)
    // The file has what was written to it here; its writer goes on with what that has written.
    try read(
      file, into: note, at: path, from: base, since: record.states[0],
      under: record.states.suffix(1))
  }

  /// Brings into a note what a program has written, and notes that the file is to get what the note is then.
  ///
  /// - Parameters:
  ///   - earlier: the first of the states that the file had, one of which is `base`. The user is told the words of the note that came after it
  ///     and that the program takes away.
  ///   - later: the state that stands in the file, if the program has written another file.
  mutating func read(
    _ file: ReadFile, into note: Note, at path: FilePath, from base: FileState?,
    since earlier: FileState? = nil, under later: ArraySlice<FileState> = []
  ) throws(ResponseError) {
    let operations =
      try base == nil
      ? additions(of: file, to: note) : self.operations(reading: file, into: note, from: base)
    var words: [String] = []
    if let earlier, base != earlier {
      words = try self.words(takenAwayBy: operations, from: note, since: earlier)
    }
    let before = book.revision.heads
    try commit(operations, telling: true, remembering: path, of: note.id) { change in
      let own = (base?.own ?? []) + (change.map { [$0] } ?? [])
      return [file.state(heads: base?.heads ?? before, own: own)] + later
    }
    tellTakenAway(words, of: note.id, at: path)
    guard let written = try lookUp(note.id) else { return }
    if written.text.utf8 == file.text {
      let states = [file.state(heads: book.revision.heads)] + later
      try rememberFile(path, .init(note: note.id, states: states))
    }
    mirroring.mirror!.changed.insert(note.id)
  }

  /// Makes a change, and notes before it is written what the file is known to be by then.
  ///
  /// - Parameter states: the states of the file with the change, or with none.
  private mutating func commit(
    _ operations: [Change.Operation], as session: ReplicaID? = nil, telling: Bool,
    remembering path: FilePath, of note: NoteID,
    _ states: (ChangeID?) -> [FileState]
  ) throws(ResponseError) {
    guard !operations.isEmpty else {
      return try rememberFile(path, .init(note: note, states: states(nil)))
    }
    let mirror = mirroring.mirror!
    let before = mirror.records[path].map { $0.note == note ? $0.states : [] } ?? []
    try commit(operations, as: session, telling: telling) { change throws(StoreError) in
      try mirror.remember(path, .init(note: note, states: states(change)), after: before)
    }
    store!.endEntry(of: note)
  }

  mutating func rememberFile(
    _ path: FilePath, _ record: FileRecords.Record?
  ) throws(ResponseError) {
    do { try mirroring.mirror!.remember(path, record) } catch { throw ResponseError(error) }
  }

  /// What a file has and its note has not, where it is not known on what it was made: nothing is taken away from text and tags, so
  /// nothing is lost there. Of the header each part of the file counts.
  private func additions(
    of file: ReadFile, to note: Note
  ) throws(ResponseError) -> [Change.Operation] {
    let present = note.text.utf8
    let edits = textDifference(from: present, to: file.text).filter { !$0.replacement.isEmpty }.map
    {
      Edit(range: $0.range.upperBound..<$0.range.upperBound, replacement: $0.replacement)
    }
    var operations: [Change.Operation] = []
    if !edits.isEmpty {
      do { operations = try store!.operations(for: edits, in: note.id, nil) } catch {
        throw ResponseError(error)
      }
    }
    let (tags, now) = (note.tags.values, environment.now())
    operations += file.tags.filter { !tags.hasEquivalent(of: $0) }
      .map { .edit(note.id, .tags(.insert($0))) }
    for (key, value) in file.header {
      if let operation = note.operation(setting: .header(key), to: value, at: now) {
        operations.append(.edit(note.id, operation))
      }
    }
    return operations
  }

  // MARK: - Files that are new

  /// The file that has got this path: one whose path the file system takes for this one; one that is gone, with the same bytes as it was known to
  /// have; or with the same inode and time of birth. Where that is not told it must have much of the same text, since the number of a file that is gone is given to the next one.
  private func renamed(
    _ file: ReadFile, to path: FilePath, _ mirror: Mirror
  ) -> (FilePath, FileRecords.Record)? {
    let inode = mirror.statuses[path].map { ($0.device, $0.inode) }
    let isSpelling = mirror.names.isTakenByOther(path.text)
    var candidates = mirror.names.paths(like: path.text).map { FilePath($0) }
    let spellings = isSpelling ? candidates.count : 0
    candidates += mirror.missing.candidates(hash: file.hash, mirror.statuses[path])
    // Its old path may not be known to be gone. Of very many that are touched at once known ones are looked at first.
    if mirror.touched.count <= Self.readAtOnce * 4 { candidates += mirror.touched.paths.sorted() }
    for (index, old) in candidates.enumerated() where old != path {
      guard let record = mirror.records[old] else { continue }
      let known = mirror.statuses[old]
      let hasInode = known.map { inode != nil && ($0.device, $0.inode) == inode! } == true
      let isSameFile =
        hasInode
        && (known!.born == 0 ? isLike(file, record) : known!.born == mirror.statuses[path]?.born)
      let isSame =
        index < spellings || isSameFile || record.states.contains { $0.hash == file.hash }
      let isGone =
        index < spellings
        ? (try? mirror.tree.hasEntry(old.text)) == false
        : (try? mirror.tree.status(of: old.text)) == .some(nil)
      guard isSame, isGone else { continue }
      return (old, record)
    }
    return nil
  }

  /// True if a file has most of the text that its note has.
  func isLike(_ file: ReadFile, _ record: FileRecords.Record) -> Bool {
    guard let text = (try? lookUp(record.note))?.text.utf8 else { return false }
    let removed = textDifference(from: text, to: file.text).reduce(0) { $0 + $1.range.count }
    return removed * 2 < text.count
  }

  private mutating func move(
    _ note: Note, from old: FilePath, to path: FilePath, _ file: ReadFile, _ mirror: Mirror
  ) throws(ResponseError) {
    do { try mirror.takeBackUnmade(old, hash: file.hash) } catch { throw ResponseError(error) }
    guard let record = mirror.records[old] else { return }
    let base = try base(of: file, note, among: record.states)
    try rememberFile(path, record)
    try rememberFile(old, nil)
    mirroring.mirror!.missing.remove(old)
    mirroring.mirror!.statuses[old] = nil
    let now = environment.now()
    if let operation = note.operation(setting: .path, to: path.text, at: now) {
      try commit([.edit(note.id, operation)], telling: true)
    }
    if let present = try lookUp(note.id) { try read(file, into: present, at: path, from: base) }
  }

  /// A note that has this path and no file yet: it was imported, or came from another machine.
  private func noteWithPath(_ path: FilePath, _ mirror: Mirror) throws(ResponseError) -> Note? {
    let notes: [FilePath: NoteID]
    if let known = mirror.notesByPath {
      notes = known
    } else {
      notes = try notesByPath()
      mirror.notesByPath = notes
    }
    guard let id = notes[path], mirror.records.paths[id] == nil, let note = try lookUp(id),
      !note.isTrashed
    else { return nil }
    return note
  }

  private func notesByPath() throws(ResponseError) -> [FilePath: NoteID] {
    var notes: [FilePath: NoteID] = [:]
    try recall { book throws(ArchiveFailure) in
      notes = [:]
      try book.forEachSummary { note in
        if !note.isTrashed, !note.path.isEmpty {
          let path = FilePath(note.path)
          notes[path] = min(note.id, notes[path] ?? note.id)
        }
        return true
      }
    }
    return notes
  }

  /// Takes a file for that of a note, of which it may have an earlier state.
  private mutating func adopt(
    _ file: ReadFile, _ note: Note, at path: FilePath, _ mirror: Mirror
  ) throws(ResponseError) {
    if note.text.utf8 != file.text, let version = try? book.version(of: note, withText: file.text),
      let heads = try? book.revision(of: version).heads,
      try isSame(file, note, at: path, version)
    {
      try rememberFile(path, .init(note: note.id, states: [file.state(heads: heads)]))
      mirror.changed.insert(note.id)
    } else {
      try read(file, into: note, at: path, from: nil)
    }
  }

  /// True if a file is as it would have been written for a note as it was.
  private func isSame(
    _ file: ReadFile, _ note: Note, at path: FilePath, _ version: Version
  ) throws(ResponseError) -> Bool {
    let past = try recall { book throws(ArchiveFailure) in try book.note(note.id, at: version) }
    guard let past else { return false }
    var rendered = self.file(of: past.note, at: path)
    rendered.text = past.utf8
    return (try? rendered.rendered()).map { SHA256.prefix64(of: $0[...]) } == file.hash
  }

  private mutating func create(_ file: ReadFile, at path: FilePath) throws(ResponseError) {
    let mirror = mirroring.mirror!
    // A new note with a file takes the path of none that has none.
    let notes = mirror.notesByPath
    let id = try create(
      from: file, at: path, { server, id in server.book.placementInFront(of: id) },
      importing: false,
      announce: { id, change throws(StoreError) in
        let state = file.state(heads: [], own: [change])
        try mirror.remember(path, .init(note: id, states: [state]), after: [])
      })
    mirror.notesByPath = notes
    let issues = file.dates(at: environment.now()).issues
    if !issues.isEmpty { tellDates([(path, issues)], of: "mirror") }
    try rememberFile(path, .init(note: id, states: [file.state(heads: book.revision.heads)]))
  }

  // MARK: - Files that are gone

  /// Deletes the notes whose files have been gone for a while, and were not there either in a look through all folders since.
  mutating func deleteMissing(
    _ mirror: Mirror, at now: Instant
  ) throws(ResponseError) {
    if mirror.missing.isEmpty { return }
    let due = mirror.missing.since.filter { now >= $0.value + Mirror.absence }
    if due.isEmpty { return }
    let seen = due.filter { _, since in
      mirror.lastWalk.map { $0 >= since + Mirror.absence } ?? false
    }
    if seen.count < due.count, mirror.walk == nil { mirror.nextWalk = now }
    if seen.isEmpty { return }
    if isManyGone(seen.count, of: mirror), mirror.confirmed == nil {
      return stop(mirror, .deletions(seen.count))
    }
    for path in seen.keys.sorted().prefix(Self.readAtOnce) {
      if (try? mirror.tree.status(of: path.text)) == .some(nil) {
        try delete(path, mirror)
      } else {
        // It is there again, and its event not.
        mirror.missing.remove(path)
        mirror.touch(path, complete: false, at: now)
      }
    }
  }

  private mutating func delete(_ path: FilePath, _ mirror: Mirror) throws(ResponseError) {
    mirroring.mirror!.missing.remove(path)
    mirroring.mirror!.statuses[path] = nil
    guard let record = mirroring.mirror!.records[path] else { return }
    // It is found to be gone again when the note is there.
    if try waits(record, at: path, mirror) { return }
    let last = mirror.lastState(of: path)
    // Where a file was to be moved by a process that was killed, both paths are known.
    let other = mirror.records.allPaths(of: record.note).first {
      $0 != path && (try? mirror.tree.status(of: $0.text)) ?? nil != nil
    }
    if other != nil { return try rememberFile(path, nil) }
    if let note = try lookUp(record.note), !note.isTrashed {
      // The one who removed the file has seen what was in it last.
      var seen = Version()
      if let state = last {
        let version = try recall { book throws(ArchiveFailure) in
          try book.version(of: state.heads)
        }
        if let version { seen.merge(version) }
        for change in state.own where book.version.contains(change) { seen.insert(change) }
      }
      try commit([.edit(note.id, note.deletion(seenAt: seen))], telling: true)
    }
    try rememberFile(path, nil)
    // Newer edits keep the note, and it gets its file again.
    mirroring.mirror!.changed.insert(record.note)
  }
}
