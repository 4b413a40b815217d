internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// Resuming: a client whose server has died goes on with the text that it shows, which is never overwritten.

/// The parameter `resume` of `note/open`.
struct Resumption {
  enum Name: String, ParameterName { case session, version, rev, text, baseText }

  /// The resume token: `session` of the answer to the client's last `note/open`.
  let session: String
  let version: Int
  let rev: Int
  let text: [UInt8]
  /// A text that the server is known to have had.
  let baseText: [UInt8]?

  init(_ params: Parameters) throws(ResponseError) {
    session = try params.requiredString(Name.session)
    version = try params.requiredCount(Name.version)
    rev = try params.requiredCount(Name.rev)
    text = try params.requiredText(Name.text)
    baseText = try params.text(Name.baseText)
  }
}

extension NotesServer {
  /// Opens a note for a client that shows a text already. The client keeps its text, and what it lacks is pushed.
  ///
  /// If the journal has the text that the client showed at its version and rev, then the difference from it is what the user has
  /// typed since, and nothing else. Otherwise the difference from `baseText` is taken; a change that the dead server had made may
  /// then be made again. Without `baseText` the client's text becomes a note of its own.
  mutating func resume(
    _ note: Note, _ resumption: Resumption, _ journaled: JournaledAttachment?,
    _ options: Attachment.Options, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let known = try journaled.flatMap { journaled throws(ResponseError) in
      try hidden(in: journaled, resumption, note)
    }
    if options.isObserver {
      // An observer has typed nothing that could be lost, and must not change the note.
      let shown = known.map { note.text.utf8(in: SequenceView(hidden: $0, revealed: nil)) }
      guard shown == resumption.text else {
        throw .requestFailed(
          "reopen", "resume: what the observer shows is not known any more; open without it")
      }
    }
    let id = openTexts.open(
      note.id, options, version: resumption.version, at: book.revision.heads)
    do throws(ResponseError) {
      let outcome: (name: String, copy: NoteID?)
      if let known, let journaled {
        let seen = openTexts[open: id].shown.seen
        openTexts[open: id].show(Attachment.Shown(seen: seen, hidden: known))
        restoreUndoList(of: journaled, note, to: id)
        outcome = ("exact", nil)
      } else {
        outcome = try adopt(resumption, note, by: id)
      }
      journal(opening: id)
      try changeText(of: note.id, to: resumption, by: id, known == nil ? nil : journaled)
      // After a `reopen` a client may resume an attachment of this process, which ends here.
      for old in openTexts.ids where journal?.resumeToken(of: old) == resumption.session {
        openTexts.close(old)
      }
      writeOpened(id, text: resumption.text, &result) {
        $0.member("resumed", outcome.name)
        if let copy = outcome.copy { $0.member("copy", "\(copy)") }
      }
    } catch {
      openTexts.close(id)
      throw error
    }
  }

  /// Changes the note by the difference between the text that the attachment shows and the client's text.
  ///
  /// - Parameter journaled: the attachment that it resumes, if the journal knows it.
  private mutating func changeText(
    of note: NoteID, to resumption: Resumption, by id: Int, _ journaled: JournaledAttachment?
  ) throws(ResponseError) {
    let view = openTexts[open: id].shown.hidden.map { SequenceView(hidden: $0, revealed: nil) }
    let edits = textDifference(
      from: try read(note) { view.map($0.text.utf8(in:)) ?? $0.text.utf8 }, to: resumption.text)
    let operations: [Change.Operation]
    do { operations = try store!.operations(for: edits, in: note, view) } catch {
      throw ResponseError(error)
    }
    let (store, journal, name) = (store!, journal, environment.makeIdentifier())
    let effects = try commit(operations, from: id) { change throws(StoreError) in
      // The next process needs this if this one dies before the client has read the answer.
      try journaled?.add(change, version: resumption.version, name, in: store)
      journal?.append(.change(version: resumption.version, isJoined: false, change), of: id)
    }
    let removals = operations.removals
    openTexts.record(
      UndoList.Step(inserted: UndoList.Step(effects).inserted, removed: removals), joining: false,
      by: id)
    openTexts[undoListOf: id].close()
    openTexts.record(repeated: removals, on: note, from: id)
  }

  // MARK: - An attachment that the journal knows

  /// Reads the changes that the process which has died wrote, if this process has not read them yet. Otherwise they would seem
  /// never to have been made.
  mutating func readFolder(for journaled: JournaledAttachment?) {
    if let journaled {
      let heads = journaled.states.values.lazy.flatMap(\.heads)
      let steps = journaled.steps.lazy.map(\.step.change)
      if heads.allSatisfy(book.version.contains), steps.allSatisfy(book.version.contains) { return }
    }
    readFolder(lookingEverywhere: true)
  }

  /// The elements of the present text that a client does not show, with the removed ones; nil if that is not known.
  private func hidden(
    in journaled: JournaledAttachment, _ resumption: Resumption, _ note: Note
  ) throws(ResponseError) -> ElementRanges? {
    guard journaled.note == note.id, let state = journaled.states[resumption.rev],
      let version = try recall({ book throws(ArchiveFailure) in try book.version(of: state.heads) })
    else { return nil }
    let own = note.text.touched(
      by: journaled.changes.filter { $0.version <= resumption.version }.map(\.change)
        .filter { book.version.contains($0) && !version.contains($0) })
    let hidden: ElementRanges
    if let then = state.hidden {
      hidden = note.text.insertions(after: version).union(then)
    } else {
      hidden = try view(of: note.id, at: version).hidden
    }
    return hidden.subtracting(ElementRanges(own.compactMap(\.inserted)))
      .union(own.flatMap(\.removed))
  }

  /// Restores the steps that the client could undo and redo before.
  private mutating func restoreUndoList(
    of journaled: JournaledAttachment, _ note: Note, to id: Int
  ) {
    var list = journaled.undoing.list
    for copies in journaled.undoing.copies { openTexts.append(copies, unseenBy: id) }
    let touched = note.text.touched(by: journaled.steps.map(\.step.change))
    for ((isOwn, step), touched) in zip(journaled.steps, touched)
    where book.version.contains(step.change) {
      let made = UndoList.Step(
        inserted: touched.inserted.map { [$0] } ?? [], removed: touched.removed)
      switch step {
      case .change(_, let isJoined):
        if isOwn { list.record(openTexts.replacing(made, by: id), joining: isJoined) }
      case .turn(let direction, _, let copied):
        if isOwn { list.turn(direction, by: made) }
        guard !made.inserted.isEmpty else { continue }
        let copies = ElementCopies(of: copied, as: made.inserted)
        list.replace(by: copies)
        // The client may still show the elements that were copied.
        openTexts.append(copies, unseenBy: id)
      }
    }
    openTexts[undoListOf: id] = list
  }

  // MARK: - An attachment that is not known

  /// Finds elements for a text that the journal does not have: those of the present text, as far as the two agree, and for the
  /// rest new elements, which are removed at once. After that the client can type on, and what it lacks can be pushed.
  ///
  /// Afterwards the attachment shows `baseText` with the edits that were made both here and by the client; without `baseText`,
  /// the client's text.
  private mutating func adopt(
    _ resumption: Resumption, _ note: Note, by id: Int
  ) throws(ResponseError) -> (name: String, copy: NoteID?) {
    let present = note.text.utf8
    var base = resumption.text
    if let text = resumption.baseText {
      var buffer = TextBuffer(text)
      buffer.apply(
        alike(
          textDifference(from: text, to: present),
          textDifference(from: text, to: resumption.text)))
      base = buffer.utf8
    }
    try adopt(base, of: note, present, by: id)
    guard resumption.baseText == nil, resumption.text != present else { return ("merged", nil) }
    // The copy is made last: a client whose resuming fails tries again, and must not leave a copy each time.
    return ("conflict", try makeCopy(resumption.text, of: note))
  }

  /// The edits of one text that both lists have: at the same range, with a replacement that contains the other one's. Most likely
  /// such an edit was made once: it came here and the answer got lost, or one side has added to it.
  private func alike(_ here: [Edit<UInt8>], _ there: [Edit<UInt8>]) -> [Edit<UInt8>] {
    var alike: [Edit<UInt8>] = []
    var others = there[...]
    for edit in here {
      while let other = others.first, other.range.lowerBound < edit.range.lowerBound {
        others = others.dropFirst()
      }
      guard let other = others.first, other.range == edit.range else { continue }
      let (short, long) =
        edit.replacement.count < other.replacement.count ? (edit, other) : (other, edit)
      if contains(long.replacement, short.replacement) { alike.append(short) }
    }
    return alike
  }

  /// True if `short` is a part of `long`; if both are very long, only the beginning and the end are compared.
  private func contains(_ long: [UInt8], _ short: [UInt8]) -> Bool {
    if long.starts(with: short) || long.suffix(short.count).elementsEqual(short) { return true }
    return long.count.multipliedReportingOverflow(by: short.count).partialValue <= 1 << 26
      && long.contains(short)
  }

  private mutating func adopt(
    _ text: [UInt8], of note: Note, _ present: [UInt8], by id: Int
  ) throws(ResponseError) {
    let differences = textDifference(from: present, to: text)
    guard !differences.isEmpty else { return }
    let session: ReplicaID
    let lacking: [ElementRange]
    var operations: [Change.Operation]
    do {
      session = try store!.nextSession()
      // These removals are planned only: the client does not show the elements that they would remove.
      lacking = Array(
        try store!.operations(
          for: differences.map { Edit(range: $0.range, replacement: []) }, in: note.id, nil
        ).removals)
      operations = try store!.operations(
        for: differences.filter { !$0.replacement.isEmpty }.map {
          Edit(range: $0.range.lowerBound..<$0.range.lowerBound, replacement: $0.replacement)
        }, in: note.id, nil)
    } catch { throw ResponseError(error) }
    let first = note.text.count(by: session)
    let length = operations.reduce(0) {
      if case .edit(_, .text(.insert(let text, _, _))) = $1 { $0 + text.count } else { $0 }
    }
    let added = ElementRange(author: session, offset: first, count: length)
    if length > 0 { operations.append(.edit(note.id, .text(.remove(added)))) }
    try commit(operations, as: session)
    let hidden = try view(of: note.id, at: book.version).hidden
      .subtracting(ElementRanges([added])).union(lacking)
    let count = openTexts[text: note.id].count
    openTexts[open: id].show(Attachment.Shown(seen: count, hidden: hidden))
  }

  /// Creates a note behind another one, with the text that a client has.
  private mutating func makeCopy(
    _ text: [UInt8], of note: Note
  ) throws(ResponseError) -> NoteID {
    let session: ReplicaID
    do { session = try store!.nextSession() } catch { throw ResponseError(error) }
    let id = NoteID(creation: book.next(by: session))
    try commit(try creation(of: id, with: text, likeThatOf: note), as: session)
    return id
  }
}
