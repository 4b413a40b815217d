internal import JSONRPC
internal import NoteStore
internal import Notes

// `notebook/find`: the notes that a person means by a name.

/// The parameters of `notebook/find`.
struct FindNotesParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case name, beginning, trashed, tags, limit }

  /// The most notes that are found.
  private static let most = 1000

  let name: String
  /// True for the notes whose titles begin with the name.
  let isBeginning: Bool
  let isTrashed: Bool
  let tags: [Tag]
  let limit: Int

  init(_ params: Parameters) throws(ResponseError) {
    name = try params.requiredString(Name.name)
    isBeginning = try params.boolean(Name.beginning) ?? false
    isTrashed = try params.boolean(Name.trashed) ?? false
    tags = try params.strings(Name.tags)?.map(Tag.init) ?? []
    limit = min(try params.limit(Name.limit), Self.most)
  }
}

extension NotesServer {
  func findNotes(
    _ params: FindNotesParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let (notes, isMore) = try found(params)
    result.beginObject()
    result.key("notes")
    result.beginArray()
    for note in notes { result.summary(note) }
    result.endArray()
    result.member("more", isMore)
    result.member("revision", revision)
    result.endObject()
  }

  /// The notes by an id, or else by a title, or else by the beginning of an id.
  private func found(
    _ params: FindNotesParameters
  ) throws(ResponseError) -> (notes: [NoteSummary], isMore: Bool) {
    func notes(_ name: NoteName) throws(ResponseError) -> (notes: [NoteSummary], isMore: Bool) {
      try recallReadable { book throws(ArchiveFailure) in
        try book.notes(
          named: name, isTrashed: params.isTrashed, tags: params.tags, atMost: params.limit)
      }
    }
    if params.isBeginning { return try notes(.titleBeginning(params.name)) }
    if let id = NoteID(params.name) {
      if book.isPurged(id) {
        throw .requestFailed("purged", "name: the note was forgotten for good")
      }
      // Whoever knows the id means this note, wherever it is.
      if let note = try recallReadable({ book throws(ArchiveFailure) in try book.summary(of: id) })
      {
        return (params.tags.allSatisfy { note.tags.hasTag(of: $0) } ? [note] : [], false)
      }
    }
    let titled = try notes(.title(params.name))
    guard titled.notes.isEmpty, let name = NoteName(idBeginning: params.name) else { return titled }
    return try notes(name)
  }
}
