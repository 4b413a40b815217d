internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// `note/restoreVersion`: a note becomes what it was.

/// The parameters of `note/restoreVersion`.
struct RestoreVersionParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case id, revision }

  let id: String
  let revision: String

  init(_ params: Parameters) throws(ResponseError) {
    id = try params.requiredString(Name.id)
    revision = try params.requiredString(Name.revision)
  }
}

extension NotesServer {
  /// Makes text, title, tags and priority what they were at a revision: one change of the present state, which is a step of each client that
  /// has the note open.
  mutating func restoreVersion(
    _ params: RestoreVersionParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let id = try note(params.id).id
    let operations = try operations(restoring: params.revision, of: id)
    let (editors, journal) = (openTexts.editors(of: id), journal)
    var made: ChangeID?
    store!.endEntry(of: id)
    try commit(operations) { change in
      made = change
      for editor in editors { journal?.append(.step(change), of: editor) }
    }
    store!.endEntry(of: id)
    for editor in editors {
      if let made { openTexts[undoListOf: editor].record(made) }
      openTexts[undoListOf: editor].close()
    }
    try writeNoteAndRevision(id, &result)
  }

  private func operations(
    restoring name: String, of id: NoteID
  ) throws(ResponseError) -> [Change.Operation] {
    if name == revision { return [] }
    let past = try pastNote(id, at: name)
    let present = try note("\(id)")
    let now = environment.now()
    var edits: [Note.Operation] = []
    let title = past.note.title.value
    if !title.utf8.elementsEqual(present.title.value.utf8) {
      edits.append(.title(present.title.assignment(of: title, at: now)))
    }
    let priority = past.note.priority.value
    if priority != present.priority.value {
      edits.append(.priority(present.priority.assignment(of: priority, at: now)))
    }
    edits += present.operations(making: past.note.tags.values)
    return try operations(setting: past.utf8, of: id, in: EditedState())
      + edits.map { .edit(id, $0) }
  }
}
