internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// `notebook/undo`: what one participant did since a time is taken back.

/// The parameters of `notebook/undo`.
struct UndoParticipantParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case by, since, dryRun }

  let name: String
  let since: String
  let isDryRun: Bool

  init(_ params: Parameters) throws(ResponseError) {
    name = try params.requiredString(Name.by)
    since = try params.requiredString(Name.since)
    isDryRun = try params.boolean(Name.dryRun) ?? false
    guard !name.isEmpty else { throw .invalidParams("by", "must not be empty") }
  }
}

extension NotesServer {
  /// True if a text is a time as `notebook/undo` takes one: a day, or a day and a time of day, with a zone or without.
  public static func isTime(_ text: String) -> Bool { writtenTime(text, zone: { _ in 0 }) != nil }

  /// Takes back what one participant did since a time: with one write, as one step of each client that edits one of the notes.
  mutating func undo(
    _ params: UndoParticipantParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    guard let since = writtenTime(params.since, zone: environment.zone) else {
      throw .invalidParams("since", "must be a time, as 2026-01-01T00:00:00Z")
    }
    let taken = try takenBack(by: params.name, since: since)
    if !params.isDryRun, !taken.notes.isEmpty { try make(taken) }
    result.beginObject()
    result.key("notes")
    result.beginArray()
    var isMore = false
    for note in taken.notes {
      isMore = result.bytes.count >= Requests.largestLookup
      if isMore { break }
      for summary in try summaries(of: [note.id]) {
        result.beginObject()
        result.key("note")
        result.summary(summary)
        result.member("what", note.what.names)
        result.endObject()
      }
    }
    result.endArray()
    result.member("more", isMore)
    result.member("revision", revision)
    result.endObject()
  }

  private func takenBack(by name: String, since: Int64) throws(ResponseError) -> TakenBack {
    _ = try orderedBook()
    let now = environment.now()
    return try recall { book throws(ArchiveFailure) in
      try book.takingBack(try book.changes(by: name, since: since), at: now)
    }
  }

  private mutating func make(_ taken: TakenBack) throws(ResponseError) {
    try asOneStep { server throws(ResponseError) in
      try server.commit(taken.operations)
      for (note, neighbours) in taken.moves {
        let placement = try server.placement(of: note, behindFirstOf: neighbours)
        if try !server.orderedBook().isPlaced(placement) { try server.commit([.place(placement)]) }
      }
    }
  }

  private func placement(
    of note: NoteID, behindFirstOf neighbours: [NoteID]
  ) throws(ResponseError) -> NoteBook.Placement {
    let book = try orderedBook()
    guard let neighbour = neighbours.first(where: { !book.isPurged($0) }) else {
      return book.placement(of: note, at: 0)
    }
    return book.placement(of: note, beside: neighbour, isAfter: true)
  }
}
