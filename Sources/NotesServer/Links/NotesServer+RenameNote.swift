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
  /// the notes open. Links by the old title that may mean another note are left alone, and told.
  mutating func renameNote(
    _ params: RenameNoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try note(params.id)
    let old = LinkName(note.title.value)
    let isSame = params.title.utf8.elementsEqual(note.title.value.utf8)
    var (updated, ambiguous): ([LinkingNote], [LinkingNote]) = ([], [])
    if params.updatesLinks, !isSame, !note.isTrashed, !old.text.isEmpty {
      try finishIndexing(.all, of: [old.key])
      var linking: [LinkingNote] = []
      for source in linkIndex.notes(linkingTo: [old.key]) {
        if let found = try links(in: source, where: { $0 == old }) { linking.append(found) }
      }
      if meaning(of: old) == .note(note.id) {
        updated = linking
      } else {
        ambiguous = linking
      }
    }
    if !params.isDryRun, !isSame { try rename(note, params.title, updated) }
    try write(note.id, updated, ambiguous, &result)
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
    _ note: Note, _ title: String, _ linking: [LinkingNote]
  ) throws(ResponseError) {
    let assignment = note.title.assignment(of: title, at: environment.now())
    var operations: [Change.Operation] = [.edit(note.id, .title(assignment))]
    let target = try target(ofRenamed: note.id, title)
    for source in linking {
      do {
        operations += try store!.operations(
          for: source.edits(leadingTo: target), in: source.id, nil)
      } catch { throw ResponseError(error) }
    }
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

/// What links are to have between their brackets.
struct LinkTarget {
  let name: String
  /// What is shown in place of the name, where a link has no words of its own; nil for the name.
  var words: String?
}

extension NotesServer {
  /// What links to a note have when it has a title: that, if no other note has it and it can be written so, else the note's id.
  ///
  /// - Parameter gone: a note that does not count.
  mutating func target(
    ofRenamed note: NoteID, _ title: String, without gone: NoteID? = nil
  ) throws(ResponseError) -> LinkTarget {
    if let name = NoteLink.name(for: title) {
      try finishIndexing(.names, of: [LinkName(name).key])
      let others = meaning(of: LinkName(name)).notes.filter { $0 != note && $0 != gone }
      if others.isEmpty { return LinkTarget(name: name) }
    }
    return LinkTarget(name: "\(note)", words: NoteLink.words(for: title))
  }
}

extension LinkingNote {
  /// The edits by which the links lead to a target.
  func edits(leadingTo target: LinkTarget) -> [Edit<UInt8>] {
    links.flatMap { link in
      var edits = [Edit(range: link.targetRange, replacement: Array(target.name.utf8))]
      if let words = target.words, !link.hasWords {
        let end = link.range.upperBound - 2
        // In a table a bar would end the cell.
        let bar = isInTable(link) ? "\\|" : "|"
        edits.append(Edit(range: end..<end, replacement: Array((bar + words).utf8)))
      }
      return edits
    }
  }

  private func isInTable(_ link: NoteLink) -> Bool {
    let before = utf8[..<link.range.lowerBound]
    let line = before[(before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0)...]
    return line.first { $0 != 0x20 && $0 != 0x09 } == UInt8(ascii: "|")
  }
}
