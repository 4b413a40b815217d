internal import Bytes
internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// Between a file and its note.

extension NotesServer {
  // MARK: - From a file to a note

  /// Creates the note of a file. Machines that read the same file before they meet create one note: it is named by its path and bytes. A file
  /// without text gets a note of its own everywhere, since programs make such files before anything is written.
  ///
  /// - Parameters:
  ///   - path: where the file is in its folder; nil for a note that is one of several in a file.
  ///   - placement: the place of the note in the list. A function of the notebook as it is then.
  ///   - isImport: true if a user imports the file.
  ///   - announce: called before the note is written, with the note and the change that creates it.
  mutating func create(
    from file: ReadFile, at path: FilePath?,
    _ placement: (borrowing NotesServer, NoteID) throws(ResponseError) -> NoteBook.Placement,
    importing isImport: Bool,
    announce: (NoteID, ChangeID) throws(StoreError) -> Void = { _, _ in }
  ) throws(ResponseError) -> NoteID {
    if let path, file.text.contains(where: { $0 > 0x20 }) {
      let first = ContentAddressedChange { change in
        creation(
          of: NoteID(creation: change), from: file, at: path,
          .init(change, after: nil, before: nil), time: 0)
      }
      let id = NoteID(creation: first.id)
      let isNew = try commit(
        [first],
        then: { server throws(ResponseError) in
          [.place(try placement(server, id))] + server.dates(id, file)
        },
        telling: true, importing: isImport,
        announce: { () throws(StoreError) in try announce(id, first.id) })
      if isNew { return id }
    }
    let session = try nextSession()
    let id = NoteID(creation: book.next(by: session))
    var operations = creation(of: id, from: file, at: path, try placement(self, id), time: now)
    operations.insert(contentsOf: dates(id, file), at: 2)
    try commit(operations, as: session, telling: true, importing: isImport) {
      change throws(StoreError) in
      try announce(id, change)
    }
    return id
  }

  /// The operations that say when the note of a file was created, and when it was last changed.
  private func dates(_ id: NoteID, _ file: ReadFile) -> [Change.Operation] {
    let dates = file.dates(at: environment.now())
    return [.edit(id, .created(dates.created)), .edit(id, .modified(dates.modified))]
  }

  /// The operations that create a note as a file says.
  private func creation(
    of id: NoteID, from file: ReadFile, at path: FilePath?, _ placement: NoteBook.Placement,
    time: Int64
  ) -> [Change.Operation] {
    var operations: [Change.Operation] = [.create, .place(placement)]
    operations += contents(
      of: id, title: file.content.file.title, file.priority, tags: Set(file.tags), text: file.text,
      at: time)
    var properties: [(PropertyName, String)] = path.map { [(.path, $0.text)] } ?? []
    properties.append((.file, file.hashText))
    properties += file.header.map { (.header($0.key), $0.value) }
    return operations
      + properties.map { .edit(id, .property($0.0, .init(value: $0.1, time: time))) }
  }

  /// The operations that bring into a note what has changed in its file.
  ///
  /// - Parameter base: the note as the file had it before; nil if that is not known. Then the note becomes what the file says.
  func operations(
    reading file: ReadFile, into note: Note, from base: FileState?
  ) throws(ResponseError) -> [Change.Operation] {
    let now = environment.now()
    let id = note.id
    let state = try base.flatMap { base throws(ResponseError) in try self.state(of: note, base) }
    // Where both have the same text there is nothing to do, whatever that came from.
    var operations =
      file.text == note.text.utf8
      ? [] : try operations(setting: file.text, of: id, in: state ?? EditedState())
    // The file can't have the note's values of these, since the header's are not understood.
    let locked = file.content.file.header.lockedFacts
    let title = file.content.file.title
    if !locked.contains(.title), !title.isIdentical(to: base?.title ?? note.title.value),
      !title.isIdentical(to: note.title.value)
    {
      operations.append(.edit(id, .title(note.title.assignment(of: title, at: now))))
    }
    if !locked.contains(.priority), file.priority != base?.priority ?? note.priority.value,
      file.priority != note.priority.value
    {
      operations.append(
        .edit(id, .priority(note.priority.assignment(of: file.priority, at: now))))
    }
    if locked.contains(.tags) {
      return operations + properties(reading: file, into: note, from: base)
    }
    let (present, tags) = (note.tags.values, file.tags)
    let known = base?.tags ?? present.distinct
    let kept = present.filter { tag in
      tags.hasEquivalent(of: tag) || !known.hasEquivalent(of: tag)
    }
    let added = tags.filter { !kept.hasEquivalent(of: $0) && !known.hasEquivalent(of: $0) }
    operations += note.operations(settingTags: kept.union(added)).map { .edit(id, $0) }
    return operations + properties(reading: file, into: note, from: base)
  }

  /// True if operations that bring the content of a file into its note say more than which file it is.
  func isNews(_ operations: [Change.Operation]) -> Bool {
    operations.contains { operation in
      if case .edit(_, .property(.file, _)) = operation { false } else { true }
    }
  }

  private func properties(
    reading file: ReadFile, into note: Note, from base: FileState?
  ) -> [Change.Operation] {
    let header = file.header
    let known = Dictionary(
      (base?.header ?? []).map { (FilePath($0.key), $0.hash) }, uniquingKeysWith: { $1 })
    var wanted: [(PropertyName, String)] = header.filter { key, value in
      known[FilePath(key)] != SHA256.prefix64(of: Array(value.utf8)[...])
    }.map { (.header($0.key), $0.value) }
    let keys = Set(header.map { FilePath($0.key) })
    let removed =
      base == nil ? note.header.map(\.key) : base!.header.map(\.key)
    wanted += removed.filter { !keys.contains(FilePath($0)) }.map { (.header($0), "") }
    wanted.append((.file, file.hashText))
    return wanted.compactMap { name, value in
      note.operation(setting: name, to: value, at: environment.now()).map { .edit(note.id, $0) }
    }
  }

  /// The state of a note's text in a file; nil if changes that it follows are not known here.
  func state(of note: Note, _ base: FileState) throws(ResponseError) -> EditedState? {
    let version = try recall { book throws(ArchiveFailure) in try book.version(of: base.heads) }
    guard let version, version.contains(note.id.creation) || !base.own.isEmpty else { return nil }
    if base.own.isEmpty {
      return version == book.version ? EditedState() : try state(of: note, at: version, base.heads)
    }
    guard base.own.allSatisfy(book.version.contains) else { return nil }
    let session = try nextSession()
    let own = note.text.touched(by: base.own.filter { !version.contains($0) })
    let hidden = try view(of: note.id, at: version).hidden
      .subtracting(ElementRanges(own.compactMap(\.inserted)))
      .union(own.flatMap(\.removed))
    var view = SequenceView(hidden: hidden, revealed: nil)
    // The last of them says by its own base what it was made on. One of another process counts with all that this had seen.
    let last = base.own[base.own.count - 1]
    let textBase =
      last.replica == session
      ? TextBase(heads: base.heads, previous: last.number)
      : TextBase(heads: base.heads + base.own)
    let unseen = try recall { book throws(ArchiveFailure) in
      try book.unseen(in: note.id, on: textBase, by: session)
    }
    guard let unseen else { return EditedState(view: view, base: nil) }
    view.unseen = unseen
    return EditedState(view: view, base: textBase)
  }

  // MARK: - From a note to a file

  /// The file of a note at a path.
  func file(of note: Note, at path: FilePath) -> NoteFile {
    NoteFile(
      path: path.text, header: FileHeader(fields: note.header), title: note.title.value,
      tags: note.tags.values.distinct.map(\.name),
      priority: FilePriority(rawValue: note.priority.value.name) ?? .normal,
      text: note.text.utf8)
  }

  /// A note as it was written to a file just now: these bytes.
  func state(of note: Note, at path: FilePath, _ bytes: [UInt8]) -> FileState {
    // What was rendered can be read.
    let heads = book.revision.heads
    if let file = try? ReadFile(bytes, path: path, zone: environment.zone) {
      return file.state(heads: heads)
    }
    return FileState(
      hash: SHA256.prefix64(of: bytes[...]), heads: heads, title: note.title.value,
      tags: note.tags.values.distinct, priority: note.priority.value, header: [])
  }
}
