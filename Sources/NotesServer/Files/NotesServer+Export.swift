internal import Bytes
internal import FileTree
internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

/// The parameters of `notebook/export`.
struct ExportParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case path, into, ids, workDoneToken }

  let path: String
  /// True if the folder may have files that this program has not written.
  let isInto: Bool
  /// True if the header of each file gets the note's id.
  let hasIDs: Bool
  let progress: [UInt8]?

  init(_ params: Parameters) throws(ResponseError) {
    path = try params.requiredString(Name.path)
    isInto = try params.boolean(Name.into) ?? false
    hasIDs = try params.boolean(Name.ids) ?? false
    progress = try params.progressToken()
  }
}

extension NotesServer {
  /// `notebook/export`: answered when all files are written.
  mutating func exportFiles(_ id: RequestID, _ params: ExportParameters) throws(ResponseError) {
    let path = expandingHome(params.path)
    let tree: any FileTree
    do { tree = try environment.openTree(path, true) } catch { throw .files(error) }
    try refuseNotebook(tree)
    let records = try knownFiles().records(below: tree.resolvedPath)
    if records.byPath.isEmpty, !params.isInto {
      let entries: [FileEntry]
      do { entries = try tree.entries(of: "") } catch { throw .files(error) }
      guard entries.isEmpty else {
        throw .requestFailed(
          "notEmpty",
          "path: \(path) has files that this program has not written; into: true writes beside them"
        )
      }
    }
    let (notes, otherNames) = try paths(records, in: tree)
    let paths = Set(notes.map(\.path))
    var task = ExportTask(
      id: id, progress: params.progress, hasIDs: params.hasIDs, tree: tree, records: records,
      notes: notes,
      removals: records.byPath.filter { $1.folder == tree.resolvedPath && !paths.contains($0) }
        .keys.sorted())
    task.otherNames = otherNames
    respell(&task)
    // A folder without notes is known as ours, too.
    if let token = params.progress { progress(token, "begin", "Exporting") }
    requests.fileTasks.append(.exporting(task))
  }

  /// The paths of the notes that are not in the trash, in their order.
  ///
  /// A path that a note has stays; of two notes with one path the older has it. A note without one keeps the file that it has, if its
  /// name comes from its title. So no file gets another name because there is another note.
  ///
  /// - Returns: with them, the paths of notes whose files have other ones from now on, since the folder takes their names for those of others.
  private func paths(
    _ records: FileRecords, in tree: any FileTree
  ) throws(ResponseError) -> (
    notes: [(id: NoteID, path: FilePath)], others: [(path: String, file: String)]
  ) {
    var notes: [(id: NoteID, title: String, path: String, created: Int64)] = []
    try recall { book throws(ArchiveFailure) in
      notes = []
      try book.forEachSummary { note in
        if !note.isTrashed { notes.append((note.id, note.title, note.path, note.created)) }
        return true
      }
    }
    let told = tree.nameSensitivity
    var names = FileNames(tellingCase: told.case, tellingForm: told.form)
    var found: [NoteID: String] = [:]
    var others: [(path: String, file: String)] = []
    let inOrder = notes.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
    for note in inOrder where NotePath.isValid(note.path) {
      let paths = records.allPaths(of: note.id)
      // The file of a note with a path stays where an import or export of another folder, above this one or below it, has placed it.
      guard !paths.isEmpty, !paths.contains(where: { records[$0]!.folder == tree.resolvedPath })
      else { continue }
      if let path = paths.min(), names.insert(path.text) { found[note.id] = path.text }
    }
    for note in inOrder where found[note.id] == nil && NotePath.isValid(note.path) {
      let isOther = names.isTakenByOther(note.path)
      let path = names.add(path: note.path)
      if isOther, records[FilePath(path)]?.note != note.id { others.append((note.path, path)) }
      found[note.id] = path
    }
    for note in inOrder where found[note.id] == nil {
      guard let path = records.paths[note.id]?.text,
        Self.isName(path, of: note.title), names.insert(path)
      else { continue }
      found[note.id] = path
    }
    for note in inOrder where found[note.id] == nil {
      found[note.id] = names.add(title: note.title)
    }
    return (notes.map { ($0.id, FilePath(found[$0.id]!)) }, others)
  }

  /// Gives files the names that their notes have now, where the folder takes these for the names that the files have.
  private func respell(_ task: inout ExportTask) {
    let (told, tree) = (task.tree.nameSensitivity, task.tree)
    if told.case, told.form { return }
    var names = FileNames(tellingCase: told.case, tellingForm: told.form)
    for note in task.notes { names.insert(note.path.text) }
    for old in task.removals where names.isTaken(old.text) {
      for new in names.paths(like: old.text).map({ FilePath($0) }) where task.records[new] == nil {
        do {
          // One is there already if a process was killed after this.
          if try !tree.hasEntry(new.text) {
            guard try tree.hasEntry(old.text), try tree.status(of: new.text) != nil else {
              continue
            }
            try tree.move(old.text, to: new.text)
          } else if try tree.hasEntry(old.text) {
            continue
          }
        } catch {
          task.skipped.append(SkippedFile(new.text, .unwritable, error.cause))
        }
        task.records[new] = task.records[old]
        task.records[old] = nil
      }
    }
    task.removals.removeAll { task.records[$0] == nil }
  }

  /// True if a file of this name may have got it from a title.
  static func isName(_ path: String, of title: String) -> Bool {
    if path.isIdentical(to: FileName.of(title: title)) { return true }
    guard let open = path.lastIndex(of: "("), let close = path.lastIndex(of: ")"), open < close,
      let number = Int(path[path.index(after: open)..<close]), number > 1
    else { return false }
    return path.isIdentical(to: FileName.of(title: title, number: number))
  }

  /// Does a piece of an export; true if there is more to do.
  mutating func proceed(_ task: inout ExportTask) throws(ResponseError) -> Bool {
    var size = 0
    while task.next < task.notes.count, size < Self.fileSlice {
      let (id, path) = task.notes[task.next]
      task.next += 1
      guard let note = try lookUp(id), !note.isTrashed else { continue }
      do {
        var file = file(of: note, at: path)
        if task.hasIDs { file.id = "\(id)" }
        let bytes = try file.rendered()
        size += bytes.count + 4096
        do { try write(bytes, of: note, to: path, &task) } catch {
          // Nothing else could be written either.
          if error.reason == .diskFull { throw ResponseError.files(error) }
          task.skipped.append(SkippedFile(path.text, .unwritable, error.cause))
        }
      } catch let failure as ResponseError {
        throw failure
      } catch {
        task.skipped.append(SkippedFile(path.text, .unwritable, "it can't be a file: \(error)"))
      }
    }
    if let token = task.progress {
      progress(token, "report", "\(task.next) of \(task.notes.count) notes")
    }
    if task.next < task.notes.count { return true }
    for path in task.removals.prefix(64) { try remove(path, &task) }
    task.removals.removeFirst(min(64, task.removals.count))
    if !task.removals.isEmpty { return true }
    // The order of what the notebook has is not that of all files.
    if task.isOlder || store?.gaps.isEmpty == false { return false }
    do { try writeOrder(task) } catch { throw .files(error) }
    return false
  }

  private func write(
    _ bytes: [UInt8], of note: Note, to path: FilePath, _ task: inout ExportTask
  ) throws(FileTreeError) {
    let hash = SHA256.prefix64(of: bytes[...])
    let old = try task.tree.read(path.text, limit: ReadFile.longest)
    let oldHash = old.map { SHA256.prefix64(of: $0.bytes[...]) }
    let record = task.records[path]
    if oldHash == hash {
      task.unchanged += 1
    } else {
      if let oldHash {
        let isOurs =
          record?.states.contains { $0.hash == oldHash } == true
          || note.path.isIdentical(to: path.text) && note[.file] == ReadFile.text(oldHash)
        guard isOurs else { return task.skipped.append(SkippedFile(path.text, .changed)) }
        if let state = record?.states.last, !has(state) { return keep(path, &task) }
        let (_, aside) = try task.tree.replace(path.text, bytes)
        guard isExpected(aside, oldHash) else {
          // It was written in this moment.
          try putBack(aside, at: path, over: hash, in: task.tree)
          return task.skipped.append(SkippedFile(path.text, .changed))
        }
        aside.discard()
      } else {
        _ = try task.tree.create(path.text, bytes)
      }
      task.written += 1
    }
    let known = record.flatMap { $0.note == note.id ? $0.folder : nil }
    task.records[path] = .init(
      note: note.id, states: [state(of: note, at: path, bytes)],
      folder: known ?? task.tree.resolvedPath)
  }

  /// True if a file that was set aside has certain bytes; false, too, if it can't be read.
  private func isExpected(_ aside: any SetAside, _ hash: UInt64) -> Bool {
    guard let bytes = try? aside.read(limit: ReadFile.longest).bytes else { return false }
    return SHA256.prefix64(of: bytes[...]) == hash
  }

  /// Gives a file that somebody wrote while it was replaced its path again. What was written there since is newer, and stays.
  ///
  /// - Parameter hash: of the bytes that it was replaced by.
  private func putBack(
    _ aside: any SetAside, at path: FilePath, over hash: UInt64, in tree: any FileTree
  ) throws(FileTreeError) {
    var newest = aside
    if let present = try tree.takeAway(path.text) {
      if isExpected(present, hash) {
        present.discard()
      } else {
        aside.discard()
        newest = present
      }
    }
    if try !newest.putBack() { newest.discard() }
  }

  /// Leaves a file as it is, since its note may be another one in what the notebook lacks.
  private func keep(_ path: FilePath, _ task: inout ExportTask) {
    if store?.gaps.isEmpty ?? true { task.isOlder = true }
    task.skipped.append(SkippedFile(path.text, .notebook))
  }

  /// Removes a file that is ours, whose note has no file there any more.
  private func remove(_ path: FilePath, _ task: inout ExportTask) throws(ResponseError) {
    if let record = task.records[path] {
      let isGone = try isUnknown(record.note) || !has(record.states.last!)
      if isGone || !(store?.gaps.isEmpty ?? true) { return keep(path, &task) }
    }
    let states = task.records[path]?.states ?? []
    task.records[path] = nil
    do {
      // By a name that the file system takes for this one there may be the file of a note.
      let told = task.tree.nameSensitivity
      if !told.case || !told.form, try !task.tree.hasEntry(path.text) { return }
      guard let aside = try task.tree.takeAway(path.text) else { return }
      guard states.contains(where: { isExpected(aside, $0.hash) }) else {
        // Who has written another one in this moment has replaced this one.
        if try !aside.putBack() { aside.discard() }
        return task.skipped.append(
          SkippedFile(path.text, .changed, "its note is gone, and it was changed by somebody else"))
      }
      aside.discard()
      task.removed += 1
      task.tree.removeEmptyFolders(above: path.text)
    } catch {
      task.skipped.append(SkippedFile(path.text, .unwritable, error.cause))
    }
  }

  /// Says in which order the notes are, if that is not the order of their paths.
  private func writeOrder(_ task: ExportTask) throws(FileTreeError) {
    let paths = task.notes.map(\.path)
    let wanted =
      paths == paths.sorted() ? [] : Array(paths.map { $0.text + "\n" }.joined().utf8)
    let present = try task.tree.read(Self.orderFile, limit: 256 << 20)?.bytes ?? []
    if present == wanted { return }
    if wanted.isEmpty {
      try task.tree.takeAway(Self.orderFile)?.discard()
    } else if present.isEmpty, try task.tree.status(of: Self.orderFile) == nil {
      _ = try task.tree.create(Self.orderFile, wanted)
    } else {
      try task.tree.replace(Self.orderFile, wanted).old.discard()
    }
  }

  /// Answers an export that is complete, or has failed.
  mutating func finish(_ task: ExportTask, _ failure: ResponseError?) {
    if let token = task.progress { progress(token, "end") }
    keep(task.records, of: task.tree)
    if let failure { return refuse(task.id, failure) }
    tellLacking(of: task.tree, task.isOlder, isImport: false)
    if !task.otherNames.isEmpty { tellOtherNames(task.otherNames, of: "export") }
    var result = JSONWriter()
    result.beginObject()
    result.member("written", task.written)
    result.member("unchanged", task.unchanged)
    result.member("removed", task.removed)
    result.skipped(task.skipped)
    result.endObject()
    currentOutbox.respond(to: task.id) { $0.raw(result.bytes) }
  }
}
