internal import Bytes
internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// Messages to the client without a request of its own: edits of the texts that it has open, and participants.

extension NotesServer {
  /// Pushes to a text of up to this many bytes have its hash, pushes to a longer one its size.
  private static let largestHashed = 256 << 10

  /// Sends the client everything that has happened: for each attachment the edits that lead to the present text from the one
  /// that the client shows once it has applied the pushes that are on their way.
  ///
  /// Call it after everything that may have changed the notebook or a cursor. A client that does not read is sent no more than has room:
  /// what it has not been sent is replaced by what is newer, and sent when it has read (`advance`).
  ///
  /// - Complexity: O(attachments with news), and what is sent.
  mutating func push() {
    schedule.noteEvent()
    tellPeers()
    connection.flushNotifications()
    guard connection.hasRoomForPushes else {
      connection.isPushHeldBack = true
      return
    }
    connection.isPushHeldBack = false
    tellFollower()
    tellChanges()
    for id in openTexts.takeEnded() {
      currentOutbox.notify("note/closed") {
        $0.beginObject()
        $0.member("attachment", id)
        $0.member("reason", "purged")
        $0.endObject()
      }
    }
    let ids = openTexts.takeUntold()
    let isTextDue = isTextDue
    for id in ids where isTextDue && connection.hasRoomForPushes && openTexts.isLagging(id) {
      push(to: id)
    }
    for id in ids where connection.hasRoomForPushes && openTexts.lacksPresence(id) {
      pushPresence(to: id)
    }
    openTexts.putBack(untold: ids)
    if !connection.hasRoomForPushes { connection.isPushHeldBack = true }
    shortenJournal()
  }

  /// True if texts are to be pushed now. In the middle of a merge they are pushed each time that it has done as much as naming the state
  /// takes, which a push has to: so all pushes together take no longer than the merge, though changes of very many authors come.
  private var isTextDue: Bool {
    mutating get {
      guard let store, store.isMerging else { return true }
      guard store.mergedWork - openTexts.mergedWork >= store.notebook.headCount else {
        return false
      }
      openTexts.mergedWork = store.mergedWork
      return true
    }
  }

  // MARK: - Edits

  private mutating func push(to id: Int) {
    let (note, pushed) = (openTexts[open: id].note, openTexts[open: id].pushed)
    let text = openTexts[text: note]
    let present = Attachment.Shown(seen: text.count, heads: store!.heads)
    guard let view = text.view(of: pushed, by: id) else {
      if openTexts[open: id].pending.isEmpty { openTexts[open: id].show(present) }
      return
    }
    // If the note can't be read now, the edits are sent when it can be.
    guard let edits = try? read(note, { $0.text.edits(from: view) }) else { return }
    // All that was inserted was removed again, so the client shows the present text, element by element.
    if edits.isEmpty { return openTexts[open: id].setPushed(present) }
    var shown: TextBuffer
    if let kept = openTexts[text: note].take(pushed, by: id) {
      shown = kept
    } else {
      guard let text = try? read(note, { $0.text.utf8(in: view) }) else { return }
      shown = TextBuffer(text)
    }
    let rev = openTexts[open: id].push(present)
    journal(pushing: rev, to: id)
    notify(openTexts[open: id], edits, &shown)
    openTexts.keep(present: shown, of: note)
    openTexts.trim(note)
  }

  /// A client that takes ranges or lines gets lines where there would be more ranges than these, each alone in its line: an editor that
  /// applies each of them by itself, and moves its marks each time, would take seconds for a replacement in the whole text. Where a line has
  /// several, a client that compares it with the new one could not tell where the places between them are.
  private static let mostRanges = 200

  /// - Parameter text: the text that the client shows, with its carriage returns; afterwards the present text.
  private mutating func notify(
    _ attachment: Attachment, _ edits: [Edit<UInt8>], _ text: inout TextBuffer
  ) {
    guard var form = shownForm(of: text, by: attachment.id) else {
      return write(edits, to: attachment, showing: &text)
    }
    write(form.shownEdits(for: edits, of: text.utf8), to: attachment, showing: &form.shown)
    text.apply(edits)
  }

  /// - Parameter text: the text that the client shows; afterwards that with the edits.
  private mutating func write(
    _ edits: [Edit<UInt8>], to attachment: Attachment, showing text: inout TextBuffer
  ) {
    let encoding = client.encoding
    currentOutbox.notify("note/edit") {
      $0.beginObject()
      $0.member("attachment", attachment.id)
      $0.member("version", attachment.version)
      $0.member("rev", attachment.lastRev)
      let options = attachment.options
      if options.check == .sha256 && text.count <= Self.largestHashed {
        $0.member("sha256", text.hexDigest())
      } else if options.check != .none {
        $0.member("bytes", text.count)
        $0.member("lineCount", text.lineCount)
      }
      switch options.form {
      case .lines: $0.lines(text.lineEdits(for: edits))
      case .rangesOrLines where edits.count > Self.mostRanges && text.areInLinesOfTheirOwn(edits):
        $0.lines(text.lineEdits(for: edits))
      case .ranges, .rangesOrLines:
        $0.key("ranges")
        $0.beginArray()
        for edit in edits { $0.range(edit, in: &text, encoding) }
        $0.endArray()
      case .text: break
      }
      text.apply(edits)
      if options.form == .text { $0.member("text", utf8: text.utf8) }
      $0.endObject()
    }
  }

  // MARK: - Participants

  /// Tells a client of the participants in its note. Their places are those in the present text.
  private mutating func pushPresence(to id: Int) {
    let attachment = openTexts[open: id]
    let note = attachment.note
    // If an edit can't be pushed now, the participants wait for it.
    guard openTexts[text: note].view(of: attachment.pushed, by: id) == nil else { return }
    let participants = openTexts.participants(
      besides: attachment, named: client.participant?.name ?? "")
    let elements = Set(
      participants.flatMap { $0.selections.flatMap { [$0.start, $0.end] } }.compactMap(\.element))
    guard let text = try? buffer(of: note, nil),
      let places = try? read(note, { $0.text.places(of: elements) })
    else { return }
    let (encoding, version, rev) = (client.encoding, attachment.version, attachment.pushedRev)
    var isIncomplete = false
    let form = shownForm(of: text, by: id)
    var buffer = form?.shown ?? text
    currentOutbox.notify("note/presence") {
      $0.beginObject()
      $0.member("attachment", id)
      $0.member("version", version)
      $0.member("rev", rev)
      $0.key("peers")
      $0.beginArray()
      for participant in participants {
        $0.beginObject()
        $0.member("id", participant.id)
        if !participant.name.isEmpty { $0.member("name", participant.name) }
        $0.member("color", participant.color)
        $0.key("ranges")
        $0.beginArray()
        for selection in participant.selections {
          guard let start = selection.start.offset(places), let end = selection.end.offset(places)
          else {
            isIncomplete = true
            continue
          }
          let shown = form.map { ($0.shownOffset(of: start), $0.shownOffset(of: end)) }
          let (first, last) = shown ?? (start, end)
          $0.range(buffer.position(of: first, encoding), buffer.position(of: last, encoding))
        }
        $0.endArray()
        $0.endObject()
      }
      $0.endArray()
      $0.endObject()
    }
    openTexts.keep(present: form == nil ? buffer : text, of: note)
    openTexts[open: id].presence.didTell(
      version, rev, hasParticipants: !participants.isEmpty, isIncomplete: isIncomplete)
  }
}

extension JSONWriter {
  fileprivate mutating func lines(_ edits: [LineReplacement]) {
    key("lines")
    beginArray()
    for edit in edits {
      beginArray()
      integer(edit.lines.lowerBound)
      integer(edit.lines.upperBound)
      beginArray()
      var rest = edit.text?[...]
      while let text = rest {
        let end = text.firstIndex(of: 0x0A)
        string(utf8: text[..<(end ?? text.endIndex)])
        rest = end.map { text[($0 + 1)...] }
      }
      endArray()
      endArray()
    }
    endArray()
  }

  fileprivate mutating func range(
    _ edit: Edit<UInt8>, in buffer: inout TextBuffer, _ encoding: PositionEncoding
  ) {
    beginObject()
    key("range")
    range(
      buffer.position(of: edit.range.lowerBound, encoding),
      buffer.position(of: edit.range.upperBound, encoding))
    member("newText", utf8: edit.replacement)
    endObject()
  }
}
