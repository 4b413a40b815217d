internal import Bytes
internal import FileTree
internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// The mirror: when it begins, what is done when, and what is not done until the user says so. Reading files is in
// NotesServer+MirrorIn.swift, writing them in NotesServer+MirrorOut.swift.

extension NotesServer {
  private static let retryInterval = Duration.seconds(30)
  /// So much is done at once at most, a few milliseconds: folders, and files in one.
  private static let foldersAtOnce = 8
  private static let filesAtOnce = 256

  /// Does what is due for the mirror; returns when something is due again, nil if there is no mirror.
  mutating func proceedWithMirror(
    at now: Instant
  ) -> Instant? {
    guard let path = environment.mirror, client.phase == .ready, !isOver, store != nil else {
      return nil
    }
    // What is known of the files may follow changes that are not merged yet.
    if store!.isMerging { return now + .milliseconds(10) }
    if mirroring.mirror == nil {
      if let retry = mirroring.retry, now < retry { return retry }
      mirroring.retry = now + Self.retryInterval
      do throws(ResponseError) { try beginMirror(path, at: now) } catch {
        tellMirror(error.message)
      }
      if mirroring.mirror == nil { return mirroring.retry }
    }
    let mirror = mirroring.mirror!
    mirror.takeReport(at: now)
    do throws(ResponseError) {
      guard mirror.tree.isInPlace else {
        mirroring.retry = now + .seconds(1)
        throw .requestFailed(
          "unusableFolder",
          "\(path) is not the folder any more that it was: moved, removed or not mounted")
      }
      try look(mirror, at: now)
      if mirror.brake == nil {
        try readTouched(mirror, at: now)
        try deleteMissing(mirror, at: now)
      } else {
        try readAnswer(mirror, at: now)
      }
      if mirror.brake == nil { try writeChanged(mirror, at: now) }
      mirror.endConfirmation()
      try checkReplaced(mirror, at: now)
    } catch {
      // A disk that is full, or a folder that is gone: nothing is lost, and it is tried again.
      tellMirror(error.message)
      mirroring.mirror = nil
      return mirroring.retry
    }
    push()
    if mirror.isAtRest {
      if !mirror.hasRested {
        mirror.hasRested = true
        // Beginning takes much more room than going on.
        environment.returnMemory()
      }
      mirroring.told = nil
      noteRest(mirror, at: now)
      if !tellLacking(mirror) { answerMirrored(mirror) }
    }
    return mirror.due(after: now)
  }

  private func noteRest(_ mirror: Mirror, at now: Instant?) {
    // A note whose file is left alone is looked at again by the next process.
    guard mirror.isAtRest, mirror.changed.isEmpty, mirror.lacking.kept.isEmpty,
      mirror.lacking.waiting.isEmpty
    else { return }
    mirror.noteRest(.init(heads: book.revision.heads, program: Self.programVersion), at: now)
  }

  /// Ends the mirror with the process.
  mutating func endMirror() {
    if let mirror = mirroring.mirror { noteRest(mirror, at: nil) }
    mirroring.mirror = nil
  }

  /// `notebook/mirror`: answered when everything in the mirror's folder was read, and every note is written there.
  mutating func waitForMirror(_ id: RequestID) throws(ResponseError) {
    guard environment.mirror != nil else {
      throw .requestFailed("noMirror", "notebook/mirror: this process keeps no folder of files")
    }
    requests.waitingForMirror.append(id)
    guard let mirror = mirroring.mirror else { return }
    tellBrake(mirror)
    // What could not be written is tried again, so that it is said why.
    mirror.retryUnwritten()
  }

  /// Answers those who wait until the mirror is at rest.
  private mutating func answerMirrored(_ mirror: Mirror) {
    for id in requests.waitingForMirror {
      currentOutbox.respond(to: id) {
        $0.beginObject()
        $0.member("files", mirror.records.byPath.count)
        $0.endObject()
      }
    }
    requests.waitingForMirror = []
  }

  // MARK: - Beginning

  private mutating func beginMirror(
    _ path: String, at now: Instant
  ) throws(ResponseError) {
    let tree: any FileTree
    // One that has gone is not made again at once: somebody may be about to put another one in its place.
    do { tree = try environment.openTree(expandingHome(path), !mirroring.hasBegun) } catch {
      guard mirroring.hasBegun, error.reason == .notFound else { throw .files(error) }
      mirroring.retry = now + .seconds(1)
      throw .requestFailed(
        "unusableFolder",
        "\(path) is gone; `\(mirrorLine("--restore"))` makes it again, with its files")
    }
    try refuseNotebook(tree)
    let earlier = try knownFiles().records(below: tree.resolvedPath)
    let file: StateFile?
    let records: FileRecords
    let marker: [UInt8]
    do {
      try store!.establish()
      file = try store!.stateFile(mirrorName(tree))
      if try file?.hold() == false {
        // Another process mirrors this folder, or was killed a moment ago.
        let since = mirroring.heldSince ?? now
        mirroring.heldSince = since
        if now < since + .seconds(1) {
          mirroring.retry = now + .milliseconds(100)
          return
        }
        // It is told what the user says, and looked for again later.
        if let answer = environment.mirrorAnswer, answer != .adopt { try answerMirror(answer) }
        return refuseMirrored("mirrored", "another process mirrors \(path)")
      }
      marker = try self.marker(tree)
      records = FileRecords(decoding: try file?.read() ?? [])
    } catch { throw ResponseError(error) }
    do throws(FileTreeError) {
      let present = try tree.read(Mirror.markerFile, limit: 4096)?.bytes
      if let present, present != marker, environment.mirrorAnswer != .adopt {
        throw FileTreeError("mirror", path, .exists, try foreignFolder(tree))
      }
      let mirror = Mirror(tree, file, records, after: earlier, marker: marker, now: now) {
        book.version.contains($0)
      }
      mirror.lacking.isOlder =
        mirror.records.rest.map { !$0.heads.allSatisfy(book.version.contains) } ?? false
        || mirror.records.byPath.values.contains { !has($0.states.last!) }
      let isAnswered = [.confirm, .restore].contains(environment.mirrorAnswer)
      if isAnswered { mirror.confirmed = now }
      if present == nil, !mirror.records.byPath.isEmpty, !isAnswered {
        // Not mounted, perhaps, or emptied.
        mirror.brake = .folder("its file \(Mirror.markerFile) is gone")
      } else if present != marker {
        if present != nil { try tree.takeAway(Mirror.markerFile)?.discard() }
        _ = try tree.create(Mirror.markerFile, marker)
      }
      mirroring.mirror = mirror
      mirroring.hasBegun = true
      if mirror.brake != nil { tellBrake(mirror) }
    } catch { throw .files(error) }
  }

  /// What there is to say of a folder that is another notebook's or another machine's: it is taken over only with a word of its own.
  private func foreignFolder(_ tree: any FileTree) throws(FileTreeError) -> String {
    var walk = try FolderWalk(tree)
    while try walk.proceed(in: tree) {}
    var (notes, paths): (Int, Set<FilePath>) = (0, [])
    try? recall { book throws(ArchiveFailure) in
      (notes, paths) = (0, [])
      try book.forEachSummary { note in
        if !note.isTrashed {
          notes += 1
          if !note.path.isEmpty { paths.insert(FilePath(note.path)) }
        }
        return true
      }
    }
    let common = walk.files.count { paths.contains($0) }
    return
      "it is the mirror of another notebook or of another machine. `\(mirrorLine("--adopt"))` makes it this notebook's:"
      + " \(walk.files.count - common) of its \(walk.files.count) files become notes here, and \(notes - common) of"
      + " \(notes) notes are written into it as files"
  }

  /// What the marker of a folder says when it is this machine's: the notebook, and a word that only this machine has.
  private func marker(_ tree: any FileTree) throws(StoreError) -> [UInt8] {
    guard let word = try store!.stateFile(mirrorName(tree) + "-id") else { return [] }
    var id = try word.read()
    if id.isEmpty {
      id = Array("\(environment.makeIdentifier())".utf8)
      try word.replace(with: id)
    }
    return Array("{\"notebook\":\"\(store!.identity.map { "\($0)" } ?? "")\",\"mirror\":\"".utf8)
      + id
      + Array("\"}\n".utf8)
  }

  // MARK: - Looking through the folders

  /// Looks through the folders, a few at a time, every half minute and whenever events were lost.
  private mutating func look(
    _ mirror: Mirror, at now: Instant
  ) throws(ResponseError) {
    do throws(FileTreeError) {
      if mirror.walk == nil {
        guard now >= mirror.nextWalk else { return }
        mirror.walk = try MirrorWalk(mirror.tree, since: now)
        mirror.nextWalk = now + Mirror.rescan
      }
      var walk = mirror.walk!
      mirror.walk = nil
      for _ in 0..<Self.foldersAtOnce {
        let files = try walk.proceed(in: mirror.tree, mirror.watcher, atMost: Self.filesAtOnce)
        guard let files else { return try finish(walk, of: mirror) }
        for (path, status) in files {
          if mirror.records[path] != nil { walk.knownCount += 1 }
          mirror.missing.remove(path)
          // One that was written meanwhile is read when it is due: it may be known to be complete.
          guard let status, mirror.statuses[path] != status, mirror.touched[path] == nil else {
            continue
          }
          // The change was not reported, as one from another machine: reads may not have been either.
          mirror.writtenStates.remove(path)
          mirror.touch(mirror.records.kept(path), complete: false, at: walk.since)
        }
      }
      mirror.walk = walk
    } catch { throw .files(error) }
  }

  /// Compares what was found with what is known.
  private mutating func finish(
    _ walk: MirrorWalk, of mirror: Mirror
  ) throws(FileTreeError) {
    let isFirst = mirror.lastWalk == nil
    mirror.lastWalk = walk.since
    mirror.foundCount = walk.files.count
    if mirror.brake == nil {
      let marker = try mirror.tree.read(Mirror.markerFile, limit: 4096)?.bytes
      if marker == nil, !mirror.records.byPath.isEmpty {
        return stop(mirror, .folder("its file \(Mirror.markerFile) is gone"))
      }
      if let marker, marker != mirror.marker {
        throw FileTreeError(
          "mirror", mirror.tree.resolvedPath, .exists, try foreignFolder(mirror.tree))
      }
    }
    tellSkipped(walk.skipped, mirror)
    // Mostly all that is known was found. Where one came and one went meanwhile, the next look finds what is gone.
    if walk.knownCount < mirror.records.byPath.count || walk.files.count < mirror.statuses.count {
      let found = Set(walk.files)
      // From the last to the first, so that the first of several with the same bytes is the first that gets another path.
      let closed = walk.closed.map { $0.path + "/" }
      for folder in walk.closed {
        refuseFile(FilePath(folder.path), mirror, hash: 0, folder.reason)
      }
      for path in mirror.records.byPath.keys.filter({ !found.contains($0) }).sorted(by: >) {
        if closed.contains(where: { path.text.utf8.starts(with: $0.utf8) }) {
          mirror.refused[path] = mirror.refused[path] ?? 0
          continue
        }
        guard let record = mirror.records[path], record.isBeingMade else {
          mirror.miss(path, since: walk.since)
          continue
        }
        // The process was killed before it could make the file.
        mirror.touched.remove(path)
        mirror.changed.insert(record.note)
        do { try mirror.remember(path, nil) } catch {
          throw FileTreeError("mirror", error.path, .other, "\(error)")
        }
      }
      mirror.statuses = mirror.statuses.filter { found.contains($0.key) }
    }
    mirror.retryUnwritten()
    // A file without a record is one that was moved: it waits for its old path to be missing again.
    let isWaiting = store?.gaps.isEmpty == false && mirror.confirmed == nil
    for path in mirror.lacking.waiting where !isWaiting || mirror.records[path] != nil {
      mirror.touch(path, complete: true, at: walk.since)
      mirror.lacking.waiting.remove(path)
    }
    guard isFirst else { return }
    for aside in walk.asides.sorted() { try takeLeft(aside, mirror, at: walk.since) }
    mirror.changed.formUnion(notesToWrite(mirror))
    if environment.mirrorAnswer == .restore {
      do { try restore(mirror, at: walk.since) } catch {
        throw FileTreeError("mirror", mirror.tree.resolvedPath, .other, error.message)
      }
    }
  }

  /// The notes whose files may lack something when a mirror begins.
  private func notesToWrite(_ mirror: Mirror) -> Set<NoteID> {
    if let rest = mirror.records.rest, rest.program == Self.programVersion,
      environment.mirrorAnswer == nil,
      let notes = try? recall({ (book) throws(ArchiveFailure) -> Set<NoteID>? in
        try book.version(of: rest.heads).map { (version) throws(ArchiveFailure) in
          try book.notes(changedSince: version)
        }
      })
    {
      return notes.union(mirror.records.changedSinceRest.compactMap { mirror.records[$0]?.note })
    }
    var notes = Set(mirror.records.paths.keys)
    try? recall { book throws(ArchiveFailure) in
      try book.forEachSummary { note in
        if !note.isTrashed { notes.insert(note.id) }
        return true
      }
    }
    return notes
  }

  // MARK: - Brakes

  /// Says to the process that mirrors a folder, which may be another one, what the user wants.
  func answerMirror(_ answer: MirrorAnswer) throws(StoreError) {
    guard let path = environment.mirror, let tree = try? environment.openTree(path, false) else {
      return
    }
    try store?.stateFile(mirrorName(tree) + "-answer")?.replace(with: Array(answer.rawValue.utf8))
  }

  /// Looks whether the user has said what to do.
  private mutating func readAnswer(
    _ mirror: Mirror, at now: Instant
  ) throws(ResponseError) {
    let answered: MirrorAnswer
    do {
      guard let file = try store!.stateFile(mirrorName(mirror.tree) + "-answer") else { return }
      guard let answer = MirrorAnswer(rawValue: String(decoding: try file.read(), as: UTF8.self))
      else {
        return
      }
      try file.replace(with: [])
      answered = answer
    } catch { throw ResponseError(error) }
    if answered == .restore { try restore(mirror, at: now) }
    if answered == .confirm { mirror.confirmed = now }
    mirror.brake = nil
    mirror.nextWalk = now
    do throws(FileTreeError) {
      if try mirror.tree.status(of: Mirror.markerFile) == nil {
        _ = try mirror.tree.create(Mirror.markerFile, mirror.marker)
      }
    } catch { throw .files(error) }
  }

  /// What is gone or has changed was not meant so. Files that are gone, or those that have changed where these were too many, are to be
  /// written again as the notes are; and where too many files would be removed or written, their notes become what these have. A few files
  /// that have changed while it was waited for the user are read.
  private mutating func restore(_ mirror: Mirror, at now: Instant) throws(ResponseError) {
    switch mirror.brake {
    case .removals: return try takeBack(.removed, mirror, at: now)
    case .writes: return try takeBack(.written, mirror, at: now)
    case .deletions, .folder, .changes, nil: break
    }
    if mirror.brake == nil {
      var counts: [Mirror.Outcome: Int] = [:]
      for id in mirror.changed { counts[try outcome(of: id, mirror), default: 0] += 1 }
      if isManyGone(counts[.removed] ?? 0, of: mirror) { try takeBack(.removed, mirror, at: now) }
      if isMany(counts[.written] ?? 0, of: mirror) { try takeBack(.written, mirror, at: now) }
    }
    mirror.isRestoring = true
    for path in mirror.missing.since.keys {
      guard let record = mirror.records[path] else { continue }
      try rememberFile(path, nil)
      mirror.changed.insert(record.note)
    }
    mirror.missing = MissingFiles()
    switch mirror.brake {
    case .changes: break
    case nil: if !isChanged(mirror) { return }
    default: return
    }
    for path in mirror.touched.paths {
      guard var record = mirror.records[path], let state = record.states.last,
        let (bytes, _) = (try? mirror.tree.read(path.text, limit: ReadFile.longest)) ?? nil
      else { continue }
      // As if this had been written here: it is known, and nothing in it is news.
      var known = state
      known.hash = SHA256.prefix64(of: bytes[...])
      record.states.append(known)
      try rememberFile(path, record)
      mirror.touched.remove(path)
      mirror.changed.insert(record.note)
    }
  }

  /// Brings notes of which very many have changed to what their files have, since it was not meant so: out of the trash, and with the text of
  /// the file.
  ///
  /// - Parameter outcome: what would become of the files of these notes.
  private mutating func takeBack(
    _ outcome: Mirror.Outcome, _ mirror: Mirror, at now: Instant
  ) throws(ResponseError) {
    for id in mirror.changed.sorted() where try self.outcome(of: id, mirror) == outcome {
      let path = mirror.records.paths[id]!
      guard let note = try lookUp(id) else {
        // A note that was purged does not come back: its file is a new one.
        try rememberFile(path, nil)
        mirror.touch(path, complete: true, at: now)
        continue
      }
      if note.isTrashed { try commit([.edit(id, .restore)], telling: true) }
      guard case .success(let file) = readFile(path, in: mirror.tree) else { continue }
      try read(file, into: note, at: path, from: Self.state(of: note, heads: book.revision.heads))
    }
  }
}
