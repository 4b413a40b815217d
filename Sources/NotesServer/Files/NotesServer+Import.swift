internal import Bytes
internal import FileTree
internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

/// The parameters of `notebook/import`.
struct ImportParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case path, dryRun, workDoneToken }

  let path: String
  let isDryRun: Bool
  let progress: [UInt8]?

  init(_ params: Parameters) throws(ResponseError) {
    path = try params.requiredString(Name.path)
    isDryRun = try params.boolean(Name.dryRun) ?? false
    progress = try params.progressToken()
  }
}

extension NotesServer {
  /// `notebook/import`: answered when all files were read.
  mutating func importFiles(_ id: RequestID, _ params: ImportParameters) throws(ResponseError) {
    let (tree, file) = try tree(importing: expandingHome(params.path))
    let known = try knownFiles()
    var task = ImportTask(
      id: id, progress: params.progress, isDryRun: params.isDryRun, tree: tree, known: known,
      folder: known.folder(around: tree.resolvedPath),
      records: known.records(below: tree.resolvedPath))
    if let file, file.lowercased().hasSuffix(".json") {
      task.simplenotes = try simplenotes(file, in: tree, &task)
    } else if let file {
      task.files = [FilePath(file)]
    } else {
      do { task.walk = try FolderWalk(tree) } catch { throw .files(error) }
    }
    try recall { book throws(ArchiveFailure) in
      try book.forEachSummary { note in
        if !note.path.isEmpty {
          let path = FilePath(note.path)
          task.notes[path] = min(note.id, task.notes[path] ?? note.id)
        }
        return true
      }
    }
    task.elsewhere = known.notes(outside: tree.resolvedPath)
    task.noteNames()
    if let token = params.progress { progress(token, "begin", "Importing") }
    requests.fileTasks.append(.importing(task))
  }

  /// The folder that files are imported from, and the name of the file if only one is.
  private func tree(
    importing path: String
  ) throws(ResponseError) -> (any FileTree, file: String?) {
    do {
      return (try environment.openTree(path, false), nil)
    } catch let failure {
      guard failure.reason == .notFound, path.last != "/" else { throw .files(failure) }
      var (folder, name) = (".", path)
      if let slash = path.lastIndex(of: "/") {
        folder = slash == path.startIndex ? "/" : String(path[..<slash])
        name = String(path[path.index(after: slash)...])
      }
      do {
        let tree = try environment.openTree(folder, false)
        if try tree.status(of: name)?.kind == .file { return (tree, name) }
      } catch {}
      throw .files(failure)
    }
  }

  /// Does a piece of an import; true if there is more to do.
  mutating func proceed(_ task: inout ImportTask) throws(ResponseError) -> Bool {
    do throws(FileTreeError) {
      if try task.walk?.proceed(in: task.tree) == true { return true }
    } catch { throw .files(error) }
    if let walk = task.walk {
      let order: [FilePath: Int]
      do { order = try self.order(in: task.tree) } catch { throw .files(error) }
      task.files = walk.files.sorted {
        (order[$0] ?? .max, $0) < (order[$1] ?? .max, $1)
      }
      task.skipped = walk.skipped
      task.walk = nil
      takeMoved(&task)
    }
    var size = 0
    while task.next < task.files.count, size < Self.fileSlice {
      let path = task.files[task.next]
      task.next += 1
      let simplenote = task.simplenotes.isEmpty ? nil : task.simplenotes[task.next - 1]
      switch simplenote.map({ .success(ReadFile($0)) }) ?? readFile(path, in: task.tree) {
      case .success(let file):
        size += file.text.count + 4096
        if let what = file.headerText { task.headers.append((path, what)) }
        try take(file, at: path, &task)
      case .failure(let failure):
        size += 4096
        task.skipped.append(failure)
      }
    }
    if let token = task.progress {
      progress(token, "report", "\(task.next) of \(task.files.count) files")
    }
    return task.next < task.files.count
  }

  /// Takes what is known of the files of a folder that is gone for known of these, if they are the same.
  private func takeMoved(_ task: inout ImportTask) {
    guard task.records.byPath.isEmpty else { return }
    let tree = task.tree
    let moved = task.known.movedFolder(to: tree.resolvedPath, with: Set(task.files)) { folder in
      do {
        _ = try environment.openTree(folder, false)
        return false
      } catch {
        return (error as? FileTreeError)?.reason == .notFound
      }
    } hash: { path in
      let read = (try? tree.read(path.text, limit: ReadFile.longest)) ?? nil
      return read.map { SHA256.prefix64(of: $0.bytes[...]) }
    }
    guard let moved else { return }
    (task.old, task.records) = (moved.folder, moved.records)
    task.elsewhere = task.known.notes(outside: moved.folder)
    task.noteNames()
  }

  /// The places of paths in the file that says in which order the notes are; none where there is no such file.
  private func order(in tree: any FileTree) throws(FileTreeError) -> [FilePath: Int] {
    guard let bytes = try tree.read(Self.orderFile, limit: 256 << 20)?.bytes else { return [:] }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    return Dictionary(
      lines.enumerated().map { (FilePath(String($1)), $0) }, uniquingKeysWith: { first, _ in first }
    )
  }

  /// The notes in a file of Simplenote. Each gets a path, which is known only here: by that it is found when the file is imported again.
  private func simplenotes(
    _ file: String, in tree: any FileTree, _ task: inout ImportTask
  ) throws(ResponseError) -> [Simplenote.Note] {
    let bytes: [UInt8]
    do { bytes = try tree.read(file, limit: 1 << 30)?.bytes ?? [] } catch { throw .files(error) }
    let export: Simplenote
    do { export = try Simplenote(parsing: bytes) } catch {
      throw .requestFailed("unusableFile", "path: \(file) is no export of Simplenote")
    }
    if export.skipped > 0 {
      task.skipped.append(
        SkippedFile(file, .entries, "\(export.skipped) entries have no text that a note can have"))
    }
    var seen: Set<String> = []
    for (index, note) in export.notes.enumerated() {
      let name = note.id ?? "\(index)"
      task.files.append(
        FilePath("\(file)#\(seen.insert(name).inserted ? name : "\(name)#\(index)")"))
    }
    return export.notes
  }

  /// Takes in what a file says.
  private mutating func take(
    _ file: ReadFile, at path: FilePath, _ task: inout ImportTask
  ) throws(ResponseError) {
    try takeOtherSpelling(file, at: path, &task)
    var record = task.records[path]
    if let known = record {
      if try isExpected(known, at: path) {
        return task.skipped.append(
          SkippedFile(path.text, .notebook, "its note is in what can't be read at present"))
      }
      if try isUnknown(known.note) {
        task.isOlder = true
        record = nil
      }
    }
    let known =
      record?.note
      ?? task.notes[task.path(of: path)].flatMap { task.elsewhere.contains($0) ? nil : $0 }
    // A note that was known and is not there any more was forgotten for good.
    guard let known, let note = try lookUp(known) else {
      return try create(file, at: path, &task)
    }
    task.last = note.id
    var base = record?.states.last
    if let record, let state = base, !has(state) {
      // The file was written from a later state of the note than the notebook has.
      task.isOlder = true
      base = try self.base(of: file, note, among: record.states)
    } else if base?.hash == file.hash || base == nil && note[.file] == file.hashText {
      task.unchanged += 1
      if base == nil {
        // The state in which the note was when the file was read is not known here. If it has the text still, it is this one.
        if note.text.utf8 == file.text {
          remember(file, note.id, at: path, &task)
        }
      }
      return
    }
    var operations = try operations(reading: file, into: note, from: base)
    if task.isOlder, note.isTrashed, record.map({ !has($0.states.last!) }) ?? false {
      operations.append(.edit(note.id, .restore))
    }
    if isNews(operations) { task.updated += 1 } else { task.unchanged += 1 }
    if task.isDryRun { return }
    let heads = book.revision.heads
    var made: ChangeID?
    try commit(operations, telling: true, importing: true) { made = $0 }
    store!.endEntry(of: note.id)
    guard let written = try lookUp(note.id) else { return }
    if written.text.utf8 == file.text {
      remember(file, written.id, at: path, &task)
    } else if let base {
      let own = base.own + [made].compactMap { $0 }
      task.remember(file.state(heads: base.heads, own: own), of: note.id, at: path)
    } else {
      task.remember(file.state(heads: heads), of: note.id, at: path)
    }
  }

  /// Takes what is known of a file for known of a path that differs from its own by case or composition only, where that file is gone: then it
  /// was renamed.
  private mutating func takeOtherSpelling(
    _ file: ReadFile, at path: FilePath, _ task: inout ImportTask
  ) throws(ResponseError) {
    guard task.records[path] == nil else { return }
    for old in task.names.paths(like: path.text).map({ FilePath($0) }) {
      guard let record = task.records[old], let note = try lookUp(record.note),
        record.states.contains(where: { $0.hash == file.hash }) || isLike(file, record),
        (try? task.tree.hasEntry(old.text)) == false
      else { continue }
      if task.isDryRun {
        task.records[path] = record
        return
      }
      if note.path.isIdentical(to: task.path(of: old).text), !note.isTrashed,
        let operation = note.operation(
          setting: .path, to: task.path(of: path).text, at: environment.now())
      {
        try commit([.edit(note.id, operation)], telling: true, importing: true)
      }
      task.records[path] = record
      task.records[old] = nil
      return
    }
  }

  private mutating func create(
    _ file: ReadFile, at path: FilePath, _ task: inout ImportTask
  ) throws(ResponseError) {
    task.created += 1
    let issues = file.dates(at: environment.now()).issues
    if !issues.isEmpty { task.dates.append((path, issues)) }
    if let name = ConflictCopyName.all(of: path.text).first, name.isCertain,
      ((try? task.tree.status(of: name.original)) ?? nil) != nil
    {
      task.copies.append(path)
    }
    if task.isDryRun { return }
    let last = task.last
    let id = try create(
      from: file, at: file.hasPath ? task.path(of: path) : nil,
      { server, id throws(ResponseError) in try server.placement(of: id, after: last) },
      importing: true)
    if file.isTrashed, let note = try lookUp(id) {
      try commit([.edit(id, note.deletion)], telling: true, importing: true)
    }
    store!.endEntry(of: id)
    task.last = id
    task.notes[task.path(of: path)] = id
    remember(file, id, at: path, &task)
  }

  /// The place behind a note, or before all.
  private func placement(
    of id: NoteID, after last: NoteID?
  ) throws(ResponseError) -> NoteBook.Placement {
    let book = try orderedBook()
    guard let last else { return book.placement(of: id, at: 0) }
    return book.placement(of: id, beside: last, isAfter: true)
  }

  /// Notes that a note has, now, what a file says.
  private func remember(
    _ file: ReadFile, _ note: NoteID, at path: FilePath, _ task: inout ImportTask
  ) {
    if task.isDryRun { return }
    task.remember(file.state(heads: book.revision.heads), of: note, at: path)
  }

  /// Tells the user that the files of a folder are in another one now.
  private mutating func tellMoved(_ task: ImportTask) {
    guard let old = task.old else { return }
    showMessage(
      .info, "import: the files of \(old), which is gone, are in \(task.tree.resolvedPath) now")
  }

  /// Tells the user of headers that are not understood as a whole: what is not read there is not set there either.
  private mutating func tellHeaders(_ headers: [(path: FilePath, what: String)]) {
    if headers.isEmpty { return }
    let first = headers.prefix(5).map { "\($0.path.text) (\($0.what))" }.joined(separator: ", ")
    let more = headers.count > 5 ? ", and \(headers.count - 5) more" : ""
    showMessage(
      .info,
      "import: of \(headers.count) headers a part is not understood, and stays as it is whatever is set in the note: \(first)\(more)"
    )
  }

  /// Tells the user of files that are conflict copies by their names, of files beside them: they have become notes.
  private mutating func tellCopies(_ paths: [FilePath]) {
    if paths.isEmpty { return }
    let first = paths.prefix(5).map(\.text).joined(separator: ", ")
    let more = paths.count > 5 ? ", and \(paths.count - 5) more" : ""
    let what =
      paths.count == 1
      ? "a conflict copy is a note of its own" : "\(paths.count) conflict copies are notes"
    showMessage(
      .warning,
      "import: \(what): \(first)\(more). `\(commandLine("merge", "NOTE", "COPY"))` joins two notes."
    )
  }

  /// Answers an import that is complete, or has failed.
  mutating func finish(_ task: ImportTask, _ failure: ResponseError?) {
    if let token = task.progress { progress(token, "end") }
    // What was read is known from now on, also if the rest failed.
    if !task.isDryRun { keep(task.records, of: task.tree, movedFrom: task.old) }
    if let failure { return refuse(task.id, failure) }
    tellLacking(of: task.tree, task.isOlder, isImport: true)
    tellMoved(task)
    tellHeaders(task.headers)
    tellDates(task.dates, of: "import")
    tellCopies(task.copies)
    var result = JSONWriter()
    result.beginObject()
    result.member("created", task.created)
    result.member("updated", task.updated)
    result.member("unchanged", task.unchanged)
    result.skipped(task.skipped)
    result.endObject()
    respond(to: task.id, changesNotebook: true, result.bytes)
  }
}
