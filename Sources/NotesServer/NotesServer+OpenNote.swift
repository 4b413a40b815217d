internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// `note/open` and `note/close`.

/// The parameters of `note/open`.
struct OpenNoteParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable {
    case id, mode, push, check, hidesReturns, resume
  }

  let id: String
  /// With `hidesReturns` if the client would show a text so whose lines all end with `\r\n`.
  let options: Attachment.Options
  /// Given by a client that had the text open with a server that has died.
  let resumption: Resumption?

  init(_ params: Parameters) throws(ResponseError) {
    id = try params.requiredString(Name.id)
    resumption = try params.object(Name.resume).map { params throws(ResponseError) in
      try Resumption(params)
    }
    guard let isObserver = try params.word(Name.mode, [("edit", false), ("observe", true)]) else {
      throw .invalidParams("mode", "is missing")
    }
    let form = try params.word(
      Name.push,
      [
        ("lines", Attachment.Form.lines), ("ranges", .ranges), ("rangesOrLines", .rangesOrLines),
        ("text", .text),
      ])
    let check = try params.word(
      Name.check, [("sha256", Attachment.Check.sha256), ("length", .length), ("none", .none)])
    options = Attachment.Options(
      isObserver: isObserver, form: form ?? .lines, check: check ?? .sha256,
      hidesReturns: try params.boolean(Name.hidesReturns) ?? false)
  }
}

/// The parameters of a method that has an attachment and nothing else: `note/close`, `note/undo`, `note/redo`.
struct AttachmentParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case attachment }

  let attachment: Int

  init(_ params: Parameters) throws(ResponseError) {
    attachment = try params.requiredCount(Name.attachment)
  }
}

extension NotesServer {
  mutating func openNote(
    _ params: OpenNoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    if let resumption = params.resumption { return try resume(params, resumption, &result) }
    let note = try note(params.id)
    beginSharingPresence()
    // Whoever writes will ask what there is to link to, unless it is another process that exchanges changes.
    if !params.options.isObserver, !client.isExchange { indexing.isWanted = true }
    let id = openTexts.open(note.id, params.options, at: book.revision.heads)
    journal(opening: id)
    let text = openTexts[text: note.id].present ?? TextBuffer(note.text)
    if params.options.hidesReturns {
      openTexts[open: id].options.hidesReturns = LineFeedText.isPossible(for: text.utf8)
    }
    writeOpened(id, text: shownForm(of: text, by: id)?.shown.utf8 ?? text.utf8, &result)
    openTexts.keep(present: text, of: note.id)
  }

  private mutating func resume(
    _ params: OpenNoteParameters, _ resumption: Resumption, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let journaled = JournaledAttachment(resumption.session, in: store!)
    readFolder(for: journaled)
    let note = try note(params.id)
    beginSharingPresence()
    try resume(note, resumption, journaled, params.options, &result)
  }

  mutating func closeNote(
    _ params: AttachmentParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let attachment = try attachment(params.attachment)
    openTexts.close(attachment.id)
    if !attachment.options.isObserver { store!.endEntry(of: attachment.note) }
    result.null()
  }
}
