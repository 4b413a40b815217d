internal import Bytes
internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// `note/merge`: two notes become one, and the links to both lead there.

/// The parameters of `note/merge`.
struct MergeNoteParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case id, from, dryRun }

  let id: String
  let from: String
  let isDryRun: Bool

  init(_ params: Parameters) throws(ResponseError) {
    id = try params.requiredString(Name.id)
    from = try params.requiredString(Name.from)
    isDryRun = try params.boolean(Name.dryRun) ?? false
  }
}

extension NotesServer {
  /// Adds the lines and the tags of another note to a note, makes the links to that other note lead to this one, and puts that other note into the trash: one
  /// change, which is a step of each client that has one of the notes open. The other note keeps its text and its history.
  mutating func mergeNote(
    _ params: MergeNoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let (note, other) = (try note(params.id), try self.note(params.from, "from"))
    guard note.id != other.id else {
      throw .invalidParams(MergeNoteParameters.Name.from.rawValue, "names the note itself")
    }
    for (note, name) in [(note, "id"), (other, "from")] where note.isTrashed {
      throw .invalidParams(name, "names a note in the trash")
    }
    let (updated, ambiguous) = try notes(linkingTo: other, besides: note.id)
    if !params.isDryRun {
      let target = try target(
        of: note.id, titled: note.title.value, at: note.path,
        isNamedByTitle: !note.path.isEmpty
          && file(of: note, at: FilePath(note.path)).isNamedByTitle, without: other.id)
      let session = try nextSession()
      var operations = appending(other, to: note, updated, target, as: session)
      for source in updated where source.id != other.id {
        operations += try self.operations(leading: source, to: target)
      }
      let notes = Set(updated.map(\.id)).union([note.id, other.id])
      try commit(
        operations + [.edit(other.id, other.deletion)], as: session, asStepOf: notes)
    }
    try write(note.id, updated.filter { $0.id != other.id }, ambiguous, &result)
  }

  /// The operations that add the lines and tags of `other`, whose links to itself lead to a target, to `note`.
  private func appending(
    _ other: Note, to note: Note, _ linking: [LinkingNote], _ target: LinkTarget,
    as session: ReplicaID
  ) -> [Change.Operation] {
    var text = other.text.utf8
    if let itself = linking.first(where: { $0.id == other.id }) {
      for edit in itself.edits(leadingTo: target).reversed() {
        text.replaceSubrange(edit.range, with: edit.replacement)
      }
    }
    var operations = note.operations(making: note.tags.values.union(other.tags.values))
      .map { Change.Operation.edit(note.id, $0) }
    if !text.isEmpty {
      let (lines, end) = LineEnd.lines(of: text, appendedTo: note.text.utf8)
      operations += note.text.operations(appending: lines, endedBy: end.bytes, by: session)
        .map { .edit(note.id, .text($0)) }
    }
    return operations
  }

  /// The notes with links that lead to a note, and those with links that have one of its names and may mean another note.
  private mutating func notes(
    linkingTo note: Note, besides target: NoteID
  ) throws(ResponseError) -> (certain: [LinkingNote], ambiguous: [LinkingNote]) {
    guard let content = try content(of: note.id, withText: false) else { return ([], []) }
    let keys = Set(NoteNames(content).keys + [LinkName("\(note.id)").key])
    try finishIndexing(.all, of: keys)
    var (certain, ambiguous): ([LinkingNote], [LinkingNote]) = ([], [])
    for source in linkIndex.notes(linkingTo: keys).sorted() {
      func links(_ isCertain: Bool) throws(ResponseError) -> LinkingNote? {
        try self.links(in: source) { name in
          guard keys.contains(name.key) else { return false }
          let notes = meaning(of: name).notes
          if notes == [note.id] { return isCertain }
          // When `note` is in the trash, a name that only `target` has besides means that one.
          return !isCertain && notes.contains(note.id)
            && notes.count > (notes.contains(target) ? 2 : 1)
        }
      }
      if let found = try links(true) { certain.append(found) }
      if let found = try links(false) { ambiguous.append(found) }
    }
    return (certain, ambiguous)
  }
}
