internal import Bytes
internal import FileTree
internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// From the notes to the files of the mirror.

extension NotesServer {
  /// Notes that are written at once, at most.
  private static let writtenAtOnce = 64

  /// Writes the files of the notes that have changed, unless somebody else writes them at this moment.
  mutating func writeChanged(
    _ mirror: Mirror, at now: Instant
  ) throws(ResponseError) {
    if try weighChanged(mirror, at: now) { return }
    for id in mirror.takeWritable(at: now, atMost: Self.writtenAtOnce) {
      do throws(ResponseError) { try write(id, at: mirror.records.paths[id], now) } catch {
        // A full disk, or a folder that refuses to be written: the others are read and written all the same.
        mirror.unwritten.insert(id)
        guard !mirror.isUnwrittenTold || !requests.waitingForMirror.isEmpty else { continue }
        mirror.isUnwrittenTold = true
        tellMirror(error.message)
      }
    }
    if mirror.changed.isEmpty, mirror.unwritten.isEmpty { mirror.isUnwrittenTold = false }
    if !mirror.otherNames.isEmpty, mirror.changed.isEmpty {
      tellOtherNames(mirror.otherNames, of: "mirror")
      mirror.otherNames = []
    }
  }

  /// Looks, before the files of very many notes are written or removed, how many would be, a few at a time. If these are too many, nothing is
  /// written until the user says so.
  ///
  /// - Returns: True if nothing is to be written yet.
  private mutating func weighChanged(
    _ mirror: Mirror, at now: Instant
  ) throws(ResponseError) -> Bool {
    if mirror.confirmed != nil || mirror.isRestoring || mirror.isWeighed { return false }
    guard mirror.lastWalk != nil, isManyGone(mirror.changed.count, of: mirror) else {
      mirror.outcomes = [:]
      return false
    }
    // What files have is read first.
    if let due = mirror.touched.due(after: now), due <= now { return false }
    if mirror.unweighed.isEmpty {
      mirror.unweighed = mirror.changed.filter {
        mirror.outcomes[$0] == nil && mirror.records.paths[$0] != nil
      }
    }
    let next = mirror.unweighed.suffix(Self.writtenAtOnce)
    mirror.unweighed.removeLast(next.count)
    for id in next { mirror.outcomes[id] = try outcome(of: id, mirror) }
    if !mirror.unweighed.isEmpty { return true }
    let removed = mirror.changed.count { mirror.outcomes[$0] == .removed }
    let written = mirror.changed.count { mirror.outcomes[$0] == .written }
    if isManyGone(removed, of: mirror) {
      stop(mirror, .removals(removed))
    } else if isMany(written, of: mirror) {
      stop(mirror, .writes(written))
    } else {
      mirror.isWeighed = true
    }
    return mirror.brake != nil
  }

  /// What would become of a note's file.
  func outcome(of id: NoteID, _ mirror: Mirror) throws(ResponseError) -> Mirror.Outcome {
    guard let path = mirror.records.paths[id], let record = mirror.records[path],
      mirror.missing[path] == nil,
      try !keeps(record, of: try lookUp(id), mirror)
    else { return .same }
    guard let note = try lookUp(id), !note.isTrashed else { return .removed }
    guard let bytes = try? file(of: note, at: path).rendered() else { return .same }
    return SHA256.prefix64(of: bytes[...]) == record.states.last!.hash ? .same : .written
  }

  /// True if a file stays as it is, since its note may be another one in what the notebook lacks: it is neither removed nor set back.
  private func keeps(
    _ record: FileRecords.Record, of note: Note?, _ mirror: Mirror
  ) throws(ResponseError) -> Bool {
    if !has(record.states.last!) { return true }
    if note == nil, !book.isPurged(record.note) { return true }
    return (note?.isTrashed ?? true) && !(store?.gaps.isEmpty ?? true)
  }

  private mutating func write(
    _ id: NoteID, at path: FilePath?, _ now: Instant
  ) throws(ResponseError) {
    let found = try lookUp(id)
    if let path, let record = mirroring.mirror!.records[path],
      try keeps(record, of: found, mirroring.mirror!)
    {
      mirroring.mirror!.lacking.kept[path] = id
      return
    }
    guard let note = found, !note.isTrashed else {
      if let path { try remove(id, path, now) }
      return
    }
    do throws(FileTreeError) {
      let path = try place(of: note, now: path)
      let bytes: [UInt8]
      do { bytes = try file(of: note, at: path).rendered() } catch {
        showMessage(.warning, "mirror: the note \(note.title.value) can't be a file: \(error)")
        return
      }
      try write(bytes, of: note, to: path, now)
    } catch { throw .files(error) }
  }

  /// Where the file of a note is to be; a file whose name came from the title that the note had moves.
  private mutating func place(
    of note: Note, now path: FilePath?
  ) throws(FileTreeError) -> FilePath {
    guard let path else { return newPath(of: note) }
    let mirror = mirroring.mirror!
    let record = mirroring.mirror!.records[path]!
    let title = record.states.last!.title
    if !note.path.isEmpty, !note.path.isIdentical(to: path.text), NotePath.isValid(note.path) {
      // Its own name is no other one's, where the file system takes the two for one.
      mirror.names.remove(path.text)
      let isTaken = mirror.names.isTaken(note.path)
      mirror.names.insert(path.text)
      if !isTaken { return try move(record, from: path, to: FilePath(note.path)) }
    }
    guard note.path.isEmpty, Self.isName(path.text, of: title),
      !Self.isName(path.text, of: note.title.value)
    else { return path }
    mirror.names.remove(path.text)
    let new = mirror.names.add(title: note.title.value)
    mirror.names.insert(path.text)
    let place = try move(record, from: path, to: FilePath(new))
    if place.text != new {
      mirror.names.remove(new)
      mirror.names.insert(path.text)
    }
    return place
  }

  private func newPath(of note: Note) -> FilePath {
    let mirror = mirroring.mirror!
    guard NotePath.isValid(note.path) else {
      return FilePath(mirror.names.add(title: note.title.value))
    }
    let isOther = mirror.names.isTakenByOther(note.path)
    let path = mirror.names.add(path: note.path)
    if isOther { mirror.otherNames.append((note.path, path)) }
    return FilePath(path)
  }

  /// Moves a file; it stays where it is if something stands in the way.
  private mutating func move(
    _ record: FileRecords.Record, from path: FilePath, to new: FilePath
  ) throws(FileTreeError) -> FilePath {
    if path == new { return path }
    do {
      // Both are known before: after a kill one of them is missing.
      try mirroring.mirror!.remember(new, record)
      try mirroring.mirror!.tree.move(path.text, to: new.text)
      mirroring.mirror!.writtenStates.move(path, to: new)
      mirroring.mirror!.readReport(replaced: new)
      try mirroring.mirror!.remember(path, nil)
    } catch let failure as FileTreeError {
      do { try mirroring.mirror!.remember(new, nil) } catch { throw Self.failure(error) }
      // The other path counts again.
      do {
        try mirroring.mirror!.remember(path, nil)
        try mirroring.mirror!.remember(path, record)
      } catch { throw Self.failure(error) }
      guard failure.reason == .exists || failure.reason == .notFound else { throw failure }
      return path
    } catch let failure as StoreError {
      throw Self.failure(failure)
    } catch {
      return path
    }
    mirroring.mirror!.statuses[new] = mirroring.mirror!.statuses.removeValue(forKey: path)
    mirroring.mirror!.tree.removeEmptyFolders(above: path.text)
    return new
  }

  private static func failure(_ error: StoreError) -> FileTreeError {
    FileTreeError("mirror", error.path, error.reason == .diskFull ? .diskFull : .other, "\(error)")
  }

  private mutating func write(
    _ bytes: [UInt8], of note: Note, to path: FilePath, _ now: Instant
  ) throws(FileTreeError) {
    let hash = SHA256.prefix64(of: bytes[...])
    let record = mirroring.mirror!.records[path]
    if let record, let last = record.states.last, last.hash == hash,
      mirroring.mirror!.statuses[path] != nil
    {
      if last.title != note.title.value {
        // The file has got the name of the new title.
        try rememberWritten(note, path, bytes, record.states.dropLast())
      }
      return
    }
    let states = record?.states ?? []
    if record == nil {
      do throws(FileTreeError) { try rememberWritten(note, path, bytes, [], isMade: false) } catch {
        mirroring.mirror!.names.remove(path.text)
        throw error
      }
      do throws(FileTreeError) {
        mirroring.mirror!.statuses[path] = try mirroring.mirror!.tree.create(path.text, bytes)
        try rememberWritten(note, path, bytes, [])
      } catch {
        do { try mirroring.mirror!.remember(path, nil) } catch { throw Self.failure(error) }
        guard error.reason == .exists else { throw error }
        mirroring.mirror!.changed.insert(note.id)
        if try mirroring.mirror!.tree.hasEntry(path.text) {
          // Somebody has put a file there. It is read, and the note gets another name.
          mirroring.mirror!.touch(path, complete: true, at: now)
        } else {
          // This folder, unlike the one above, takes the name for that of another file.
          mirroring.mirror!.names.insert(path.text)
        }
      }
      return
    }
    // Programs that have read the file so far have read its last state.
    mirroring.mirror!.readReport()
    try rememberWritten(note, path, bytes, states[...])
    let (status, old): (FileStatus, any SetAside)
    do {
      (status, old) = try mirroring.mirror!.tree.replace(
        path.text, bytes, mark: ReadFile.text(states.last!.hash))
    } catch {
      do { try mirroring.mirror!.remember(path, record) } catch { throw Self.failure(error) }
      guard error.reason == .notFound else { throw error }
      mirroring.mirror!.miss(path, since: now)
      mirroring.mirror!.changed.insert(note.id)
      return
    }
    mirroring.mirror!.statuses[path] = status
    if mirroring.mirror!.isWatching(path) {
      mirroring.mirror!.writtenStates.insert(hash, at: path)
    }
    mirroring.mirror!.readReport(replaced: path)
    try take(old, of: path, expecting: states.last!.hash, now)
  }

  private mutating func rememberWritten(
    _ note: Note, _ path: FilePath, _ bytes: [UInt8], _ states: ArraySlice<FileState>,
    isMade: Bool = true
  ) throws(FileTreeError) {
    // The first is what was read from the file.
    var kept = Array(states)
    if kept.count >= FileRecords.mostStates { kept.remove(at: 1) }
    var written = state(of: note, at: path, bytes)
    if !isMade { written.hash = FileState.unwritten }
    do {
      try mirroring.mirror!.remember(path, .init(note: note.id, states: kept + [written]))
    } catch { throw Self.failure(error) }
  }

  /// Looks what came out when a file was replaced or taken away: if it is not what was expected, somebody has written it in this moment.
  private mutating func take(
    _ old: any SetAside, of path: FilePath, expecting hash: UInt64,
    _ now: Instant
  ) throws(FileTreeError) {
    // If it can't be read now it is looked at again.
    mirroring.mirror!.replaced.append(
      Mirror.Replaced(file: old, path: path, hash: hash, due: now + Mirror.keeping))
    let bytes = try old.read(limit: ReadFile.longest).bytes
    let found = SHA256.prefix64(of: bytes[...])
    if found == hash { return }
    // Somebody has just emptied it, and writes it now: what that comes to is looked at later.
    if bytes.isEmpty || isBeginning(bytes, of: path, mirroring.mirror!) { return }
    try takeReplaced(bytes, path)
    try old.mark(ReadFile.text(found))
    mirroring.mirror!.replaced.removeLast()
    mirroring.mirror!.replaced.append(
      Mirror.Replaced(file: old, path: path, hash: found, due: now + Mirror.keeping))
  }

  /// Looks whether somebody has written into replaced files, which is possible as long as these were open.
  mutating func checkReplaced(
    _ mirror: Mirror, at now: Instant
  ) throws(ResponseError) {
    while let index = mirror.replaced.firstIndex(where: { now >= $0.due }) {
      let one = mirror.replaced[index]
      do throws(FileTreeError) {
        let bytes = try one.file.read(limit: ReadFile.longest).bytes
        if SHA256.prefix64(of: bytes[...]) != one.hash { try takeReplaced(bytes, one.path) }
      } catch {
        // What it was is gone with whoever has removed it; otherwise it stays where it is, and is found again.
        guard error.reason == .notFound else { throw .files(error) }
      }
      one.file.discard()
      mirror.replaced.remove(at: index)
    }
  }

  /// Takes in what was written to a file that was replaced before it could be read.
  private mutating func takeReplaced(_ bytes: [UInt8], _ path: FilePath) throws(FileTreeError) {
    guard let record = mirroring.mirror!.records[path],
      let file = try? ReadFile(bytes, path: path, zone: environment.zone)
    else { return }
    do throws(ResponseError) {
      guard let note = try lookUp(record.note) else { return }
      try readReplaced(file, into: note, at: path, record)
    } catch { throw FileTreeError("mirror", path.text, .other, error.message) }
    mirroring.mirror!.changed.insert(record.note)
  }

  /// Takes in what a process that was killed has set aside, if it had not looked at it, and removes it.
  mutating func takeLeft(
    _ aside: String, _ mirror: Mirror, at now: Instant
  ) throws(FileTreeError) {
    guard let (bytes, _) = try mirror.tree.read(aside, limit: ReadFile.longest) else { return }
    let hash = SHA256.prefix64(of: bytes[...])
    // The mark is the hash of what was known to be in it.
    if AsideName.mark(of: aside) == ReadFile.text(hash) {
      mirror.confirm(replacing: hash) { AsideName.isOne(aside, of: $0.text) }
      try mirror.tree.takeAway(aside, mark: ReadFile.text(hash))?.discard()
      return
    }
    // What belongs to no file that is known is somebody else's.
    guard
      let path = mirror.records.byPath.keys.first(where: { AsideName.isOne(aside, of: $0.text) })
    else { return }
    if !mirror.records[path]!.states.contains(where: { $0.hash == hash }),
      !isBeginning(bytes, of: path, mirror)
    {
      if try mirror.tree.status(of: path.text) == nil {
        // It was taken away: it is the file again, and is read like any other.
        try mirror.tree.move(aside, to: path.text)
        mirror.missing.remove(path)
        return mirror.touch(path, complete: true, at: now)
      }
      try takeReplaced(bytes, path)
    }
    try mirror.tree.takeAway(aside, mark: ReadFile.text(hash))?.discard()
  }

  /// Removes the file of a note that is in the trash.
  private mutating func remove(
    _ id: NoteID, _ path: FilePath, _ now: Instant
  ) throws(ResponseError) {
    guard let record = mirroring.mirror!.records[path] else { return }
    do throws(FileTreeError) {
      if let old = try mirroring.mirror!.tree.takeAway(
        path.text, mark: ReadFile.text(record.states.last!.hash))
      {
        let bytes: [UInt8]
        do { bytes = try old.read(limit: ReadFile.longest).bytes } catch {
          _ = try old.putBack()
          throw error
        }
        let hash = SHA256.prefix64(of: bytes[...])
        guard record.states.contains(where: { $0.hash == hash }) else {
          // It was written and not read yet. It is read, and brings the note back.
          if try old.putBack() {
            mirroring.mirror!.touch(path, complete: true, at: now)
            mirroring.mirror!.changed.insert(id)
            return
          }
          try takeReplaced(bytes, path)
          old.discard()
          return
        }
        if hash != record.states.last!.hash { try old.mark(ReadFile.text(hash)) }
        mirroring.mirror!.replaced.append(
          Mirror.Replaced(file: old, path: path, hash: hash, due: now + Mirror.keeping))
        mirroring.mirror!.tree.removeEmptyFolders(above: path.text)
      }
    } catch { throw .files(error) }
    mirroring.mirror!.statuses[path] = nil
    // Of a purged note no earlier entry may stay either.
    if book.isPurged(id) { mirroring.mirror!.appended = 0 }
    try rememberFile(path, nil)
  }
}
