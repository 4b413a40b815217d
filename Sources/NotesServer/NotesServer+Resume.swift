internal import Bytes
internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// Resuming: a client whose server has died goes on with the text that it shows, which is never overwritten.

/// The parameter `resume` of `note/open`.
struct Resumption {
  enum Name: String, ParameterName { case session, version, rev, text, baseText, hidesReturns }

  /// The resume token: `session` of the answer to the client's last `note/open`.
  let session: String
  let version: Int
  let rev: Int
  private(set) var text: [UInt8]
  /// A text that the server is known to have had.
  let baseText: [UInt8]?
  /// The text as the client shows it.
  let shownText: [UInt8]
  /// Whether the client shows each `\r\n` as a line feed.
  let hidesReturns: Bool

  init(_ params: Parameters) throws(ResponseError) {
    session = try params.requiredString(Name.session)
    version = try params.requiredCount(Name.version)
    rev = try params.requiredCount(Name.rev)
    hidesReturns = try params.boolean(Name.hidesReturns) ?? false
    shownText = try params.requiredText(Name.text)
    let base = try params.text(Name.baseText)
    let end = LineEnd.carriageReturnLineFeed
    text = hidesReturns ? end.ending(linesOf: shownText) : shownText
    baseText = hidesReturns ? base.map(end.ending(linesOf:)) : base
  }

  /// Lets lines of the client's text end as they do in the text that the client has changed.
  fileprivate mutating func keepLineEnds(of before: [UInt8]) {
    guard hidesReturns else { return }
    let form = LineFeedText(before)
    var after = TextBuffer(before)
    after.apply(
      form.edits(forShown: textDifference(from: form.shown.utf8, to: shownText)))
    text = after.utf8
  }
}

extension NotesServer {
  /// Opens a note for a client that shows a text already. The client keeps its text, and what it lacks is pushed.
  ///
  /// If the journal has the text that the client showed at its version and rev, then the difference from it is what the user has
  /// typed since, and nothing else. Otherwise the difference from `baseText` is taken, and made as `note/setText` does, in a state of the
  /// note that had this text; a change that the dead server had made may then be made again. If no such state is found, places are found
  /// for `baseText` in the present text. Without `baseText` the client's text becomes a note of its own.
  mutating func resume(
    _ note: Note, _ resumption: Resumption, _ journaled: JournaledAttachment?,
    _ options: Attachment.Options, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let known = try journaled.flatMap { journaled throws(ResponseError) in
      try hidden(in: journaled, resumption, note)
    }
    let shown =
      options.isObserver || resumption.hidesReturns
      ? known.map { note.text.utf8(in: SequenceView(hidden: $0, revealed: nil)) } : nil
    var resumption = resumption
    if let shown { resumption.keepLineEnds(of: shown) }
    if options.isObserver {
      // An observer has typed nothing that could be lost, and must not change the note.
      guard shown == resumption.text else {
        throw .requestFailed(
          "reopen", "resume: what the observer shows is not known any more; open without it")
      }
    }
    // The client's text may become a DOS file now, and be shown as one.
    let isDOS = options.hidesReturns && LineFeedText.isPossible(for: resumption.text)
    var options = options
    options.hidesReturns = resumption.hidesReturns || isDOS
    let id = openTexts.open(
      note.id, options, version: resumption.version, at: book.revision.heads)
    do throws(ResponseError) {
      let outcome: (name: String, copy: NoteID?)
      let seen = openTexts[open: id].shown.seen
      var state: EditedState?
      if let known, let journaled {
        openTexts[open: id].show(Attachment.Shown(seen: seen, hidden: known))
        openTexts[undoListOf: id] = undoList(of: journaled)
        outcome = ("exact", nil)
      } else if let base = baseState(of: resumption, note) {
        if let hidden = base.view?.hidden {
          openTexts[open: id].show(Attachment.Shown(seen: seen, hidden: hidden))
        }
        state = base
        outcome = ("merged", nil)
      } else {
        outcome = try adopt(resumption, note, by: id)
      }
      let hidden = openTexts[open: id].shown.hidden
      journal(opening: id)
      try changeText(
        of: note.id, to: resumption, by: id,
        state ?? EditedState(view: hidden.map { SequenceView(hidden: $0, revealed: nil) }),
        known == nil ? nil : journaled)
      // After a `reopen` a client may resume an attachment of this process, which ends here.
      for old in openTexts.ids where journal?.resumeToken(of: old) == resumption.session {
        openTexts.close(old)
      }
      let shownText =
        resumption.hidesReturns
        ? resumption.shownText : shownForm(of: TextBuffer(resumption.text), by: id)?.shown.utf8
      writeOpened(id, text: shownText ?? resumption.text, &result) {
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
  /// - Parameters:
  ///   - state: what the attachment shows.
  ///   - journaled: the attachment that it resumes, if the journal knows it.
  private mutating func changeText(
    of note: NoteID, to resumption: Resumption, by id: Int, _ state: EditedState,
    _ journaled: JournaledAttachment?
  ) throws(ResponseError) {
    let operations = try operations(setting: resumption.text, of: note, in: state)
    let (store, journal, name) = (store!, journal, environment.makeIdentifier())
    var made: ChangeID?
    try commit(operations, from: id) { change throws(StoreError) in
      made = change
      // The next process needs this if this one dies before the client has read the answer.
      try journaled?.add(change, version: resumption.version, name, in: store)
      journal?.append(.change(version: resumption.version, isJoined: false, change), of: id)
    }
    if let made { openTexts[undoListOf: id].record(made) }
    openTexts[undoListOf: id].close()
    if let made { recordRemovals(of: operations, by: made, on: note, from: id) }
  }

  // MARK: - An attachment that the journal knows

  /// Reads the changes that the process which has died wrote, if this process has not read them yet. Otherwise they would seem
  /// never to have been made.
  mutating func readFolder(for journaled: JournaledAttachment?) {
    if let journaled {
      let heads = journaled.states.values.lazy.flatMap(\.heads)
      let steps = journaled.steps.lazy.map(\.change)
      if heads.allSatisfy(book.version.contains), steps.allSatisfy(book.version.contains) { return }
    }
    readFolder()
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

  /// The steps that the client could undo and redo before.
  private func undoList(of journaled: JournaledAttachment) -> UndoList {
    var list = journaled.undoing
    for step in journaled.steps where book.version.contains(step.change) {
      switch step {
      case .change(let change, let isJoined): list.record(change, joining: isJoined)
      case .turn(let direction, let change, let count): list.turn(direction, count, by: change)
      }
    }
    return list
  }

  // MARK: - A text that the note had

  /// A state of the note that had the client's `baseText`, with those of the client's edits that the note has already; nil if none is
  /// known.
  private func baseState(of resumption: Resumption, _ note: Note) -> EditedState? {
    // States in a part of the archive that can't be read are not found: the present text has been read.
    guard let base = resumption.baseText,
      let version = try? book.version(of: note, withText: base)
    else { return nil }
    if version == book.version { return EditedState() }
    guard let heads = try? book.revision(of: version).heads,
      let state = try? state(of: note, at: version, heads), let view = state.view
    else { return nil }
    let (repeated, elements) = repeatedEdits(of: base, at: version, note, resumption.text)
    if repeated.isEmpty { return state }
    let replaced = note.text.elements(in: repeated.map(\.range), view)
    let hidden = view.hidden.union(replaced).subtracting(ElementRanges(elements))
    let shown = SequenceView(hidden: hidden, revealed: nil)
    var text = TextBuffer(base)
    text.apply(repeated)
    // The elements that say the same may stand elsewhere.
    return note.text.utf8(in: shown) == text.utf8 ? EditedState(view: shown) : nil
  }

  /// If more sessions than this have changed a note since a client's base, none is looked at alone.
  private static let mostSessions = 16

  /// The edits by which the client's text differs from its base and which a session has made in it since, or all together, and the
  /// elements that they inserted.
  ///
  /// Edits that only remove are left out: what both have removed may be removed twice. So is white text that is only a part of what the
  /// other side has inserted: there is some in nearly everything that is typed.
  private func repeatedEdits(
    of base: [UInt8], at version: Version, _ note: Note, _ text: [UInt8]
  ) -> (edits: [Edit<UInt8>], elements: [ElementRange]) {
    var views: [SequenceView?] = [nil]
    let sessions = note.text.contributions.filter { author, changes in
      changes.last.map { $0.number > version[author] } ?? false
    }
    if sessions.count <= Self.mostSessions {
      for (session, _) in sessions {
        var alone = version
        alone[session] = book.version[session]
        if let view = try? view(of: note.id, at: alone) { views.append(view) }
      }
    }
    var found: (edits: [Edit<UInt8>], elements: [ElementRange]) = ([], [])
    var most = 0
    let theirs = textDifference(from: base, to: text)
    for view in views {
      let present = view.map(note.text.utf8(in:)) ?? note.text.utf8
      let ours = textDifference(from: base, to: present)
      let repeated = repeatedEdits(ours, theirs).filter {
        $0.isWhole ? !$0.edit.replacement.isEmpty : !$0.edit.replacement.allSatisfy(Self.isWhite)
      }
      let count = repeated.reduce(0) { $0 + $1.edit.replacement.count }
      if count > most {
        most = count
        found = (repeated.map(\.edit), note.text.elements(in: repeated.map(\.place), view))
      }
    }
    return found
  }

  /// An edit that was made both here and by the client.
  private struct RepeatedEdit {
    var edit: Edit<UInt8>
    /// Where its replacement is in the text here.
    var place: Range<Int>
    /// True if both have the same replacement.
    var isWhole: Bool
  }

  /// The edits of one text that were made both here and by the client: at the same range, with a replacement that contains the other one's.
  /// Most likely such an edit was made once: it came here and the answer got lost, or one side has added to it.
  private func repeatedEdits(
    _ ours: [Edit<UInt8>], _ theirs: [Edit<UInt8>]
  ) -> [RepeatedEdit] {
    var repeated: [RepeatedEdit] = []
    var others = theirs[...]
    var shift = 0
    for edit in ours {
      let start = edit.range.lowerBound + shift
      shift += edit.replacement.count - edit.range.count
      while let other = others.first, other.range.lowerBound < edit.range.lowerBound {
        others = others.dropFirst()
      }
      guard let other = others.first, other.range == edit.range else { continue }
      if let offset = offset(of: other.replacement, in: edit.replacement) {
        let place = start + offset..<start + offset + other.replacement.count
        repeated.append(RepeatedEdit(edit: other, place: place, isWhole: edit == other))
      } else if offset(of: edit.replacement, in: other.replacement) != nil {
        let place = start..<start + edit.replacement.count
        repeated.append(RepeatedEdit(edit: edit, place: place, isWhole: false))
      }
    }
    return repeated
  }

  private static func isWhite(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  /// Where `short` is in `long`; nil if it is not. If both are very long, only the beginning and the end are compared.
  private func offset(of short: [UInt8], in long: [UInt8]) -> Int? {
    if short.count > long.count { return nil }
    if long.starts(with: short) { return 0 }
    if long.suffix(short.count).elementsEqual(short) { return long.count - short.count }
    guard long.count.multipliedReportingOverflow(by: short.count).partialValue <= 1 << 26 else {
      return nil
    }
    return long.firstRange(of: short)?.lowerBound
  }

  // MARK: - A text of which nothing is known

  /// Finds elements for a text that the note never had, as far as is known: those of the present text, as far as the two agree, and for
  /// the rest new elements, which are removed at once. After that the client can type on, and what it lacks can be pushed.
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
      let repeated = repeatedEdits(
        textDifference(from: text, to: present), textDifference(from: text, to: resumption.text))
      buffer.apply(repeated.map(\.edit))
      base = buffer.utf8
    }
    try adopt(base, of: note, present, by: id)
    guard resumption.baseText == nil, resumption.text != present else { return ("merged", nil) }
    // The copy is made last: a client whose resuming fails tries again, and must not leave a copy each time.
    return ("conflict", try makeCopy(resumption.text, of: note))
  }

  private mutating func adopt(
    _ text: [UInt8], of note: Note, _ present: [UInt8], by id: Int
  ) throws(ResponseError) {
    let differences = textDifference(from: present, to: text)
    guard !differences.isEmpty else { return }
    let lacking = note.text.elements(in: differences.map(\.range), nil)
    let session: ReplicaID
    var operations: [Change.Operation]
    do {
      session = try store!.nextSession()
      // Behind the text that has replaced it: so what the client has typed in front of it is in front of both, and what it has typed
      // behind it is behind both.
      operations = try store!.operations(
        for: differences.filter { !$0.replacement.isEmpty }.map {
          Edit(range: $0.range.upperBound..<$0.range.upperBound, replacement: $0.replacement)
        }, in: note.id, nil)
    } catch { throw ResponseError(error) }
    let first = note.text.count(by: session)
    let length = operations.reduce(0) {
      if case .edit(_, .text(.insert(let text, _, _, _))) = $1 { $0 + text.count } else { $0 }
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
    let session = try nextSession()
    let id = NoteID(creation: book.next(by: session))
    try commit(try creation(of: id, with: text, likeThatOf: note), as: session)
    return id
  }
}

extension ReplicatingText {
  /// The elements in ranges of a view, or of the present text.
  fileprivate func elements(in ranges: [Range<Int>], _ view: SequenceView?) -> [ElementRange] {
    operations(for: ranges.map { Edit(range: $0, replacement: []) }, in: view).compactMap {
      if case .remove(let elements) = $0 { elements } else { nil }
    }
  }
}
