internal import Bytes
internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// One note at a time, without opening its text: read, change, move, delete, restore, purge.

// MARK: - note/get

/// The parameters of `note/get`.
struct GetNoteParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case id, revision }

  let id: String
  let revision: String?

  init(_ params: Parameters) throws(ResponseError) {
    id = try params.requiredString(Name.id)
    revision = try params.string(Name.revision)
  }
}

extension NotesServer {
  func getNote(
    _ params: GetNoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let (present, isSupposed) = try noteForReading(params.id)
    var state = (note: present, utf8: [UInt8]())
    // What is shown without missing changes is no state of the notebook, and no base of an edit.
    var name = isSupposed ? "0" : revision
    if let wanted = params.revision, wanted != name {
      state = try pastNote(present.id, at: wanted)
      name = wanted
    } else {
      state.utf8 = present.text.utf8
    }
    result.beginObject()
    result.key("note")
    result.summary(NoteSummary(state.note, length: state.utf8.count))
    result.member("text", utf8: state.utf8)
    result.header(FileHeader(fields: state.note.header))
    result.member("revision", name)
    result.endObject()
  }

  /// A note that is here as it was at a revision, and its text then.
  func pastNote(
    _ id: NoteID, at revision: String
  ) throws(ResponseError) -> (note: Note, utf8: [UInt8]) {
    guard
      let version = try recall({ book throws(ArchiveFailure) in
        try book.version(ofRevision: revision)
      })
    else {
      throw .requestFailed("unknownRevision", "revision: no state of this notebook has this name")
    }
    guard let past = try recall({ book throws(ArchiveFailure) in try book.note(id, at: version) })
    else {
      throw .requestFailed("noSuchNote", "id: the note did not exist at that revision")
    }
    return past
  }
}

extension JSONWriter {
  /// The header of a note's file, if it has one, and what is not understood of it.
  fileprivate mutating func header(_ header: FileHeader) {
    if header.isEmpty { return }
    member("header", utf8: header.bytes())
    let issues = header.issues.map(\.name)
    if !issues.isEmpty { member("headerIssues", issues) }
  }
}

// MARK: - note/update

/// The parameters of `note/update`.
struct UpdateNoteParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable {
    case id, title, priority, tags

    var members: [String] { self == .tags ? TagName.allCases.map(\.rawValue) : [] }
  }

  enum TagName: String, ParameterName, CaseIterable { case add, remove }

  enum TagChange {
    case all(Set<Tag>)
    case some(adding: Set<Tag>, removing: Set<Tag>)
  }

  let id: String
  let title: String?
  let priority: Priority?
  let tags: TagChange?

  init(_ params: Parameters) throws(ResponseError) {
    id = try params.requiredString(Name.id)
    title = try params.title(Name.title)
    priority = try params.priority(Name.priority)
    if params[Name.tags]?.kind == .object {
      let change = try params.requiredObject(Name.tags)
      tags = .some(
        adding: try change.tags(TagName.add) ?? [],
        removing: try change.tags(TagName.remove, asGiven: true) ?? [])
    } else {
      tags = try params.tags(Name.tags).map { .all($0) }
    }
  }
}

extension NotesServer {
  mutating func updateNote(
    _ params: UpdateNoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try note(params.id)
    let now = environment.now()
    var edits: [Note.Operation] = []
    if let title = params.title, !title.utf8.elementsEqual(note.title.value.utf8) {
      edits.append(.title(note.title.assignment(of: title, at: now)))
    }
    if let priority = params.priority, priority != note.priority.value {
      edits.append(.priority(note.priority.assignment(of: priority, at: now)))
    }
    switch params.tags {
    case .all(let tags)?:
      edits += note.operations(making: tags)
    case .some(let added, let removed)?:
      let kept = note.tags.values.filter { !removed.hasEquivalent(of: $0) }
      edits += note.operations(
        settingTags: kept.union(added.distinct.filter { !kept.hasEquivalent(of: $0) }))
    case nil: break
    }
    try commit(edits.map { .edit(note.id, $0) })
    try writeNoteAndRevision(note.id, &result)
  }
}

extension Note {
  /// The operations that make the tags these; a tag stays in the form in which it is there.
  func operations(making tags: Set<Tag>) -> [Note.Operation] {
    let kept = self.tags.values.filter { tags.hasEquivalent(of: $0) }
    return operations(settingTags: kept.union(tags.distinct.filter { !kept.hasEquivalent(of: $0) }))
  }
}

// MARK: - note/setText, note/append

/// The parameters of `note/setText`.
struct SetTextParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case id, text, base }

  let id: String
  let text: [UInt8]
  let base: String?

  init(_ params: Parameters) throws(ResponseError) {
    id = try params.requiredString(Name.id)
    text = try params.requiredText(Name.text)
    base = try params.string(Name.base)
  }
}

/// The parameters of `note/append`.
struct AppendTextParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case id, text, lines }

  let id: String
  let text: [UInt8]
  /// True for whole lines; false for the text as it is.
  let lines: Bool

  init(_ params: Parameters) throws(ResponseError) {
    id = try params.requiredString(Name.id)
    text = try params.requiredText(Name.text)
    lines = try params.boolean(Name.lines) ?? false
  }
}

/// The state of a text that a client has and sends another text for.
struct EditedState {
  /// Nil for the present one.
  var view: SequenceView?
  /// The state as a change says it that is made on it; nil if it lacks nothing, or can't be said.
  var base: TextBase?
}

extension NotesServer {
  mutating func setText(
    _ params: SetTextParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let id = try note(params.id).id
    if try noteForReading(params.id).isSupposed { throw .waits("id") }
    let state = try params.base.map { base throws(ResponseError) in
      try self.state(of: try note(params.id), at: base)
    }
    try commit(try operations(setting: params.text, of: id, in: state ?? EditedState()))
    store!.endEntry(of: id)
    result.beginObject()
    result.member("text", utf8: try read(id) { $0.text.utf8 })
    result.member("revision", revision)
    result.endObject()
  }

  /// The state of a note's text at the revision that a client names.
  private func state(of note: Note, at base: String) throws(ResponseError) -> EditedState {
    if base == revision { return EditedState() }
    let heads = Revision(base)?.heads ?? []
    let version = try recall { book throws(ArchiveFailure) in try book.version(of: heads) }
    guard let version, version.contains(note.id.creation) else {
      throw .requestFailed("unknownBase", "base: no state of this note has this name")
    }
    return try state(of: note, at: version, heads)
  }

  /// The state of a note's text at a version that is known here.
  ///
  /// - Parameter heads: the changes of the version that no other one of it follows.
  func state(
    of note: Note, at version: Version, _ heads: [ChangeID]
  ) throws(ResponseError) -> EditedState {
    EditedState(
      view: try view(of: note.id, at: version),
      base: version.isSuperset(of: note.text.version) ? nil : TextBase(heads: heads))
  }

  /// The operations that lead from the text that a client has to another one.
  func operations(
    setting text: [UInt8], of note: NoteID, in state: EditedState
  ) throws(ResponseError) -> [Change.Operation] {
    let old = try read(note) { state.view.map($0.text.utf8(in:)) ?? $0.text.utf8 }
    let edits = textDifference(from: old, to: text)
    if edits.isEmpty { return [] }
    do {
      return (state.base.map { [.edit(note, .base($0))] } ?? [])
        + (try store!.operations(for: edits, in: note, state.view))
    } catch {
      throw ResponseError(error)
    }
  }

  mutating func appendText(
    _ params: AppendTextParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let id = try note(params.id).id
    let session = try nextSession()
    try commit(try appending(params, as: session).map { .edit(id, .text($0)) }, as: session)
    writeRevision(&result)
  }

  private func appending(
    _ params: AppendTextParameters, as session: ReplicaID
  ) throws(ResponseError) -> [ReplicatingText.Operation] {
    let text = try note(params.id).text
    if params.text.isEmpty { return [] }
    if params.lines {
      let (lines, end) = LineEnd.lines(of: params.text, appendedTo: text.utf8)
      return text.operations(appending: lines, endedBy: end.bytes, by: session)
    }
    return text.operations(for: [Edit(range: text.count..<text.count, replacement: params.text)])
  }

  private func writeRevision(_ result: inout JSONWriter) {
    result.beginObject()
    result.member("revision", revision)
    result.endObject()
  }
}

// MARK: - note/move, note/delete, note/restore, note/purge

/// The parameters of `note/move`.
struct MoveNoteParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case id, index, before, after }

  let id: String
  let place: ListPlace

  init(_ params: Parameters) throws(ResponseError) {
    id = try params.requiredString(Name.id)
    guard
      let place = try ListPlace(params, index: Name.index, before: .before, after: .after)
    else { throw .invalidParams("index", "one of index, before and after must be given") }
    self.place = place
  }
}

/// The parameters of `note/delete`, `note/restore` and `note/purge`.
struct NoteParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case id }

  let id: String

  init(_ params: Parameters) throws(ResponseError) { id = try params.requiredString(Name.id) }
}

extension NotesServer {
  mutating func moveNote(
    _ params: MoveNoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try note(params.id)
    let placement = try placement(of: note.id, at: params.place)
    if !book.isPlaced(placement) { try commit([.place(placement)]) }
    writeRevision(&result)
  }

  mutating func deleteNote(
    _ params: NoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try note(params.id)
    if !note.isTrashed { try commit([.edit(note.id, note.deletion)]) }
    writeRevision(&result)
  }

  mutating func restoreNote(
    _ params: NoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try note(params.id)
    if note.isTrashed { try commit([.edit(note.id, .restore)]) }
    writeRevision(&result)
  }

  mutating func purgeNote(
    _ params: NoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try note(params.id)
    guard note.isTrashed else {
      throw .requestFailed("notTrashed", "id: the note is not in the trash")
    }
    try commit([.purge(note.id)])
    writeRevision(&result)
  }
}
