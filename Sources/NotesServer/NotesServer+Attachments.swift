internal import JSONRPC
internal import Notes
internal import ReplicatingTypes

// Open texts: looking attachments up, journaling what their clients show, and the positions that clients send.

extension NotesServer {
  // MARK: - Looking up

  /// The attachment of this number, whose text a client may change.
  ///
  /// - Throws: when it is not open, or only observes.
  func editableAttachment(_ id: Int) throws(ResponseError) -> Attachment {
    try checkEditable(id)
    return openTexts[open: id]
  }

  /// The attachment of this number.
  func attachment(_ id: Int) throws(ResponseError) -> Attachment {
    try checkOpen(id)
    return openTexts[open: id]
  }

  /// Throws when the attachment of this number is not open, or only observes. (A copy of an attachment has many references to count.)
  func checkEditable(_ id: Int) throws(ResponseError) {
    try checkOpen(id)
    guard !openTexts[open: id].options.isObserver else {
      throw .requestFailed("readOnly", "attachment: \(id) only observes")
    }
  }

  private func checkOpen(_ id: Int) throws(ResponseError) {
    if openTexts.isOpen(id) { return }
    if openTexts.hasEnded(id) {
      throw .requestFailed("purged", "attachment: \(id) has ended: its note was purged")
    }
    throw .requestFailed("reopen", "attachment: \(id) is not open")
  }

  /// The text of an open note: that of a view, or the present one.
  func buffer(of note: NoteID, _ view: SequenceView?) throws(ResponseError) -> TextBuffer {
    if view == nil, let present = openTexts[text: note].present { return present }
    return TextBuffer(try read(note) { view.map($0.text.utf8(in:)) ?? $0.text.utf8 })
  }

  /// A text as the client of an attachment shows it, if that hides carriage returns; else nil.
  func shownForm(of text: TextBuffer, by attachment: Int) -> LineFeedText? {
    openTexts[open: attachment].options.hidesReturns ? LineFeedText(text.utf8) : nil
  }

  /// The place of a position that a client has sent, as an offset in the text that it shows.
  ///
  /// - Parameter name: of the position, for the error.
  func offset(
    of position: TextPosition, _ name: String, in buffer: inout TextBuffer
  ) throws(ResponseError) -> Int {
    guard let offset = buffer.offset(of: position, client.encoding) else {
      throw .contentModified("\(name): no such position in the text")
    }
    return offset
  }

  /// The result of `note/open`, with the members of a resumption at its end.
  ///
  /// - Parameter text: what the client shows.
  func writeOpened(
    _ id: Int, text: [UInt8], _ result: inout JSONWriter,
    _ resumed: (inout JSONWriter) -> Void = { _ in }
  ) {
    result.beginObject()
    result.member("attachment", id)
    result.member("session", journal?.resumeToken(of: id) ?? "\(environment.makeIdentifier())")
    result.member("version", openTexts[open: id].version)
    result.member("rev", openTexts[open: id].rev)
    result.member("text", utf8: text)
    if openTexts[open: id].options.hidesReturns { result.member("hidesReturns", true) }
    result.member("readOnly", openTexts[open: id].options.isObserver)
    resumed(&result)
    result.endObject()
  }

  // MARK: - The journal

  /// Notes the text that a client shows when `note/open` is answered, before it is answered.
  mutating func journal(opening id: Int) {
    if journal == nil, let store {
      journal = AttachmentJournal(
        environment.makeIdentifier(), in: store, longSize: environment.longJournal)
    }
    let hidden = openTexts[open: id].shown.hidden
    journal?.append(entry(opening: openTexts[open: id], hidden), of: id)
  }

  /// Notes that a client will show the present text when it has applied a push, before the push is sent.
  mutating func journal(pushing rev: Int, to id: Int) {
    journal?.append(.push(rev: rev, state(nil)), of: id)
  }

  /// - Parameter hidden: the elements of the present text that the client does not show; nil if they are the removed ones.
  private func entry(opening attachment: Attachment, _ hidden: ElementRanges?) -> JournalEntry {
    .open(
      note: attachment.note, version: attachment.version, rev: attachment.rev, state(hidden),
      openTexts[undoListOf: attachment.id])
  }

  private func state(_ hidden: ElementRanges?) -> JournalEntry.State {
    JournalEntry.State(heads: book.revision.heads, hidden: hidden?.sorted)
  }

  /// Writes the journal anew when it has become long.
  mutating func shortenJournal() {
    guard let journal, journal.isLong else { return }
    var entries: [(attachment: Int, entry: JournalEntry)] = []
    do {
      for id in openTexts.ids {
        let attachment = openTexts[open: id]
        let hidden = try hidden(attachment.shown, by: attachment)
        entries.append((id, entry(opening: attachment, hidden)))
        for (rev, push) in attachment.pending {
          let shown = try self.hidden(push, by: attachment)
          entries.append((id, .push(rev: rev, state(shown))))
        }
      }
    } catch { return journal.giveUp() }
    journal.rewrite(entries)
  }

  /// The elements of the present text that a client does not show; nil if they are the removed ones.
  private func hidden(
    _ shown: Attachment.Shown, by attachment: Attachment
  ) throws(ResponseError) -> ElementRanges? {
    guard let view = openTexts[text: attachment.note].view(of: shown, by: attachment.id) else {
      return nil
    }
    guard let revealed = view.revealed else { return view.hidden }
    return try self.view(of: attachment.note, at: book.version).hidden.subtracting(revealed)
      .union(view.hidden.sorted)
  }

  /// The text of a note, which is open, in the state of a version that is known here.
  func view(of note: NoteID, at version: Version) throws(ResponseError) -> SequenceView {
    try recall { book throws(ArchiveFailure) in try book.view(of: note, at: version) }
  }
}

extension Parameters {
  /// The range between the positions `start` and `end`.
  func range() throws(ResponseError) -> (start: TextPosition, end: TextPosition) {
    (try position("start"), try position("end"))
  }

  private func position(_ name: String) throws(ResponseError) -> TextPosition {
    let position = try requiredObject(name)
    return TextPosition(
      line: try position.requiredCount("line"), character: try position.requiredCount("character"))
  }
}
