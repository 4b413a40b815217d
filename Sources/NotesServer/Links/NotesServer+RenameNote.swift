internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// `note/rename`: another title, and the links that have the old one.

/// The parameters of `note/rename`.
struct RenameNoteParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case id, title, updateLinks, dryRun }

  let id: String
  let title: String
  let updatesLinks: Bool
  let isDryRun: Bool

  init(_ params: Parameters) throws(ResponseError) {
    id = try params.requiredString(Name.id)
    guard let title = try params.title(Name.title) else {
      throw .invalidParams("title", "is missing")
    }
    self.title = title
    updatesLinks = try params.boolean(Name.updateLinks) ?? true
    isDryRun = try params.boolean(Name.dryRun) ?? false
  }
}

extension NotesServer {
  /// Gives a note another title, and the links that mean it by the old one the new one: one change, which is a step of each client that has one of
  /// the notes open. Links that may mean another note are left alone, and told.
  ///
  /// Where the name of the note's file is its title, the file gets another name with it, and so do links by that. Where the title comes from elsewhere
  /// the file keeps its name, and links by that stay, since other programs follow them to the file.
  mutating func renameNote(
    _ params: RenameNoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try note(params.id)
    let isSame = params.title.utf8.elementsEqual(note.title.value.utf8)
    let path = isSame || note.isTrashed ? nil : try path(of: note, renamed: params.title)
    var (updated, ambiguous): ([LinkingNote], [LinkingNote]) = ([], [])
    if params.updatesLinks, !isSame, !note.isTrashed {
      let old = NoteNames(title: note.title.value, path: path == nil ? "" : note.path)
      let kept = NoteNames(title: "", path: path == nil ? note.path : "")
      try finishIndexing(.all, of: Set(old.keys))
      func isCertain(_ name: LinkName) -> Bool {
        meaning(of: name) == .note(note.id)
          // Other programs follow it to the file, whatever other notes' titles are.
          || path != nil && linkIndex.files(named: name) == [note.id]
      }
      for source in linkIndex.notes(linkingTo: old.keys) {
        func links(certain isWanted: Bool) throws(ResponseError) -> LinkingNote? {
          try self.links(in: source) { name in
            old.have(name) && !kept.have(name)
              && isCertain(name) == isWanted
          }
        }
        if let found = try links(certain: true) { updated.append(found) }
        if let found = try links(certain: false) { ambiguous.append(found) }
      }
    }
    if !params.isDryRun, !isSame { try rename(note, params.title, path, updated) }
    try write(note.id, updated, ambiguous, &result)
  }

  /// The path that the file of a note gets with a title; nil if it keeps its own, or has none.
  private func path(of note: Note, renamed title: String) throws(ResponseError) -> String? {
    guard NotePath.isValid(note.path), file(of: note, at: FilePath(note.path)).isNamedByTitle
    else { return nil }
    var names = FileNames(tellingCase: true, tellingForm: true)
    try recall { book throws(ArchiveFailure) in
      names = FileNames(tellingCase: true, tellingForm: true)
      try book.forEachSummary { other in
        if other.id != note.id, !other.path.isEmpty { names.insert(other.path) }
        return true
      }
    }
    let name = NotePath.lastPart(note.path)
    // In bytes: a sign that combines with the slash before it is one character with that.
    let folder = note.path.utf8.dropLast(name.utf8.count + 1)
    let path = names.add(
      title: title, folder: String(decoding: folder, as: UTF8.self),
      suffix: String(name.dropFirst(NotePath.withoutSuffix(name).count)))
    return NotePath.isValid(path) && !path.isIdentical(to: note.path) ? path : nil
  }

  /// Writes a note, and the notes whose links to it were changed, and those whose links may mean another one.
  func write(
    _ note: NoteID, _ updated: [LinkingNote], _ ambiguous: [LinkingNote],
    _ result: inout JSONWriter
  ) throws(ResponseError) {
    result.beginObject()
    result.key("note")
    result.summary(NoteSummary(try self.note("\(note)")))
    result.member("revision", revision)
    var isMore = false
    try write("updated", updated, &isMore, &result)
    try write("ambiguous", ambiguous, &isMore, &result)
    result.member("more", isMore)
    result.endObject()
  }

  private func write(
    _ name: String, _ notes: [LinkingNote], _ isMore: inout Bool, _ result: inout JSONWriter
  ) throws(ResponseError) {
    result.key(name)
    result.beginArray()
    for note in notes {
      isMore = isMore || result.bytes.count >= Requests.largestLookup
      if isMore { break }
      for summary in try summaries(of: [note.id]) {
        result.linkingNote(note, summary, client.encoding)
      }
    }
    result.endArray()
  }

  private mutating func rename(
    _ note: Note, _ title: String, _ path: String?, _ linking: [LinkingNote]
  ) throws(ResponseError) {
    let now = environment.now()
    var operations: [Change.Operation] = [
      .edit(note.id, .title(note.title.assignment(of: title, at: now)))
    ]
    if let path, let operation = note.operation(setting: .path, to: path, at: now) {
      operations.append(.edit(note.id, operation))
    }
    let target = try target(
      of: note.id, titled: title, at: path ?? note.path, isNamedByTitle: path != nil)
    for source in linking { operations += try self.operations(leading: source, to: target) }
    try commit(operations, asStepOf: Set(linking.map(\.id)).union([note.id]))
  }

  /// Makes a change that is a step of each client that has one of the notes open.
  mutating func commit(
    _ operations: [Change.Operation], as session: ReplicaID? = nil, asStepOf notes: Set<NoteID>
  ) throws(ResponseError) {
    let editors = notes.flatMap { openTexts.editors(of: $0) }
    let journal = journal
    var made: ChangeID?
    try commit(operations, as: session) { change in
      made = change
      for editor in editors { journal?.append(.step(change), of: editor) }
    }
    for editor in editors {
      if let made { openTexts[undoListOf: editor].record(made) }
      openTexts[undoListOf: editor].close()
    }
  }
}
