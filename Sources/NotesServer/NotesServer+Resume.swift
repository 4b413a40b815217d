internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// How a client goes on when the process it spoke to has died: with the text it has, which nobody may overwrite.

/// What a client says of itself that comes back.
struct Resumption {
  /// What its last `note/open` was answered with.
  let session: String
  let version: Int
  let rev: Int
  let text: [UInt8]
  /// A text that the server is known to have had.
  let baseText: [UInt8]?

  init(_ params: Parameters) throws(ResponseError) {
    session = try params.requiredString("session")
    version = try params.requiredCount("version")
    rev = try params.requiredCount("rev")
    _ = try params.required("text")
    text = try params.text("text")!
    baseText = try params.text("baseText")
  }
}

extension NotesServer {
  /// Opens a note for a client that shows a text of its own.
  ///
  /// If the journal knows what it showed at its numbers, then what it has typed since is the difference, nothing else. If it is not
  /// known, a text that the server once had tells the same, up to what cannot be told apart. Without that its text becomes a
  /// note of its own. In each case the client keeps its text, and what it lacks is pushed.
  mutating func resume(
    _ note: Note, _ resume: Resumption, _ session: LiveSession?,
    _ options: (isObserver: Bool, form: Attachment.Form, check: Attachment.Check),
    _ result: inout JSONWriter
  ) throws(ResponseError) {
    let known = try session.flatMap { session throws(ResponseError) in
      try hidden(in: session, resume, note)
    }
    if options.isObserver {
      // It has nothing to lose, and must not write.
      let shown = known.map { note.text.utf8(in: SequenceView(hidden: $0, revealed: nil)) }
      guard shown == resume.text else {
        throw .requestFailed(
          "reopen", "resume: what the observer shows is not known any more; open without it")
      }
    }
    var attachment = live.open(
      note.id, isObserver: options.isObserver, form: options.form, check: options.check)
    attachment.version = resume.version
    do throws(ResponseError) {
      let outcome: (name: String, copy: NoteID?)
      if let known, let session {
        attachment.shown.hidden = known
        restoreUndoList(of: session, note, to: attachment)
        outcome = ("exact", nil)
      } else {
        outcome = try adopt(resume, note, &attachment)
      }
      journal(opening: attachment)
      try changeText(to: resume, attachment, adding: known == nil ? nil : session)
      // The same window with this server, after a `reopen`.
      for old in live.attachments.keys where journal?.session(of: old) == resume.session {
        live.close(old)
      }
      writeOpened(attachment, text: resume.text, &result) {
        $0.member("resumed", outcome.name)
        if let copy = outcome.copy { $0.member("copy", "\(copy)") }
      }
    } catch {
      live.close(attachment.id)
      throw error
    }
  }

  /// Makes the text that a client has of the one that it showed.
  private mutating func changeText(
    to resume: Resumption, _ attachment: Attachment, adding session: LiveSession?
  ) throws(ResponseError) {
    let view = attachment.shown.hidden.map { SequenceView(hidden: $0, revealed: nil) }
    let edits = textDifference(
      from: try read(attachment.note) { view.map($0.text.utf8(in:)) ?? $0.text.utf8 },
      to: resume.text)
    let operations: [Change.Operation]
    do { operations = try store!.operations(for: edits, in: attachment.note, view) } catch {
      throw ResponseError(error)
    }
    let (store, journal, name) = (store!, journal, environment.makeIdentifier())
    let effects = try commit(operations, from: attachment.id) { change throws(StoreError) in
      // For the next one, if we die before the client has read the answer.
      try session?.add(change, version: resume.version, name, in: store)
      journal?.append(.change(version: resume.version, isJoined: false, change), of: attachment.id)
    }
    let removals = Array(operations.removals)
    live.record(
      UndoList.Step(inserted: UndoList.Step(effects).inserted, removed: removals), joining: false,
      by: attachment)
    live[undoListOf: attachment.id].close()
    live.record(repeated: removals, on: attachment.note, from: attachment.id)
    live[attachment.id] = attachment
  }

  // MARK: - A session that is known

  /// Reads what the process that died has written, if this one ran already and has not heard of it yet: it would seem never to
  /// have been made.
  mutating func readFolder(for session: LiveSession?) {
    if let session {
      let heads = session.states.values.lazy.flatMap(\.heads)
      let steps = session.steps.lazy.map(\.step.change)
      if heads.allSatisfy(book.version.contains), steps.allSatisfy(book.version.contains) { return }
    }
    readFolder(lookingEverywhere: true)
  }

  /// The elements of the present text that a client does not show, the removed ones among them; nil if that is not known.
  private func hidden(
    in session: LiveSession, _ resume: Resumption, _ note: Note
  ) throws(ResponseError) -> ElementRanges? {
    guard session.note == note.id, let state = session.states[resume.rev],
      let version = try recall({ book throws(ArchiveFailure) in try book.version(of: state.heads) })
    else { return nil }
    let own = note.text.touched(
      by: session.changes.filter { $0.version <= resume.version }.map(\.change)
        .filter { book.version.contains($0) && !version.contains($0) })
    let hidden: ElementRanges
    if let then = state.hidden {
      hidden = note.text.insertions(after: version).union(then)
    } else {
      hidden = note.text.view(at: version).hidden
    }
    return hidden.subtracting(ElementRanges(own.compactMap(\.inserted)))
      .union(own.flatMap(\.removed))
  }

  /// Lets the client undo and redo what it could before.
  private mutating func restoreUndoList(
    of session: LiveSession, _ note: Note, to attachment: Attachment
  ) {
    var list = session.undoing.list
    for copies in session.undoing.copies { live.append(copies, unseenBy: attachment) }
    let touched = note.text.touched(by: session.steps.map(\.step.change))
    for ((isOwn, step), touched) in zip(session.steps, touched)
    where book.version.contains(step.change) {
      let made = UndoList.Step(
        inserted: touched.inserted.map { [$0] } ?? [], removed: touched.removed)
      switch step {
      case .change(_, let isJoined):
        if isOwn { list.record(live.replacing(made, by: attachment), joining: isJoined) }
      case .turn(let direction, _, let copied):
        if isOwn { list.turn(direction, by: made) }
        guard !made.inserted.isEmpty else { continue }
        let copies = ElementCopies(of: copied, as: made.inserted)
        list.replace(by: copies)
        // It may show what they are copies of.
        live.append(copies, unseenBy: attachment)
      }
    }
    live[undoListOf: attachment.id] = list
  }

  // MARK: - A session that is not known

  /// Finds elements for what a client shows whose past is not known: what it has in common with the present is that; for the
  /// rest there are new elements, which are removed at once. Then it can type on, and be told what it lacks.
  ///
  /// `attachment` shows afterwards what the client had when it last agreed with the server, or what it has now.
  private mutating func adopt(
    _ resume: Resumption, _ note: Note, _ attachment: inout Attachment
  ) throws(ResponseError) -> (name: String, copy: NoteID?) {
    let present = note.text.utf8
    var base = resume.text
    if let text = resume.baseText {
      var buffer = TextBuffer(text)
      buffer.apply(
        alike(textDifference(from: text, to: present), textDifference(from: text, to: resume.text)))
      base = buffer.utf8
    }
    try adopt(base, of: note, present, &attachment)
    guard resume.baseText == nil, resume.text != present else { return ("merged", nil) }
    // At last: when something fails, the client comes again, and there must not be a copy each time.
    return ("conflict", try makeCopy(resume.text, of: note))
  }

  /// What two have done to one text alike: the same, or one the beginning, the end or the middle of what the other did. It was done
  /// once, most likely: it came here, and its answer did not arrive, or the one or the other has gone on.
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

  /// Whether a text is a part of another; where looking for it everywhere would take too long, its beginning or its end.
  private func contains(_ long: [UInt8], _ short: [UInt8]) -> Bool {
    if long.starts(with: short) || long.suffix(short.count).elementsEqual(short) { return true }
    return long.count.multipliedReportingOverflow(by: short.count).partialValue <= 1 << 26
      && long.contains(short)
  }

  private mutating func adopt(
    _ text: [UInt8], of note: Note, _ present: [UInt8], _ attachment: inout Attachment
  ) throws(ResponseError) {
    let differences = textDifference(from: present, to: text)
    guard !differences.isEmpty else { return }
    let session: ReplicaID
    let lacking: [ElementRange]
    var operations: [Change.Operation]
    do {
      session = try store!.nextSession()
      // Planned only: what would be removed is what the client does not show.
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
    let count = operations.reduce(0) {
      if case .edit(_, .text(.insert(let text, _, _))) = $1 { $0 + text.count } else { $0 }
    }
    let added = ElementRange(author: session, offset: first, count: count)
    if count > 0 { operations.append(.edit(note.id, .text(.remove(added)))) }
    try commit(operations, as: session)
    attachment.shown.seen = live[text: note.id].count
    attachment.shown.hidden = try read(note.id) { [version = book.version] in
      $0.text.view(at: version).hidden.subtracting(ElementRanges([added])).union(lacking)
    }
  }

  /// A new note behind another one, which holds what a client has.
  private mutating func makeCopy(
    _ text: [UInt8], of note: Note
  ) throws(ResponseError) -> NoteID {
    let session: ReplicaID
    do { session = try store!.nextSession() } catch { throw ResponseError(error) }
    let id = NoteID(creation: book.next(by: session))
    try commit(try creation(of: id, with: text, likeThatOf: note), as: session)
    return id
  }

  // MARK: - Noting it down

  /// Notes what a client shows, before it is told.
  mutating func journal(opening attachment: Attachment) {
    if journal == nil, let store {
      journal = LiveJournal(
        environment.makeIdentifier(), in: store, longSize: environment.longJournal)
    }
    journal?.append(entry(opening: attachment), of: attachment.id)
  }

  private func entry(opening attachment: Attachment) -> LiveEntry {
    .open(
      note: attachment.note, version: attachment.version, rev: attachment.rev,
      state(attachment.shown.hidden),
      LiveEntry.Undoing(
        list: live[undoListOf: attachment.id], copies: live.copies(unseenBy: attachment)))
  }

  /// Notes that a client will show the present text when it has applied a push.
  mutating func journal(pushing rev: Int, to attachment: Int) {
    journal?.append(.push(rev: rev, state(nil)), of: attachment)
  }

  private func state(_ hidden: ElementRanges?) -> LiveEntry.State {
    LiveEntry.State(heads: book.revision.heads, hidden: hidden?.sorted)
  }

  /// Writes the journal anew when it has become long.
  mutating func shortenJournal() {
    guard let journal, journal.isLong else { return }
    var entries: [(attachment: Int, entry: LiveEntry)] = []
    do {
      for id in live.attachments.keys.sorted() {
        var attachment = live[id]!
        attachment.shown.hidden = try hidden(attachment.shown, by: attachment)
        entries.append((id, entry(opening: attachment)))
        for (rev, push) in attachment.pending {
          let shown = try hidden(push, by: attachment)
          entries.append((id, .push(rev: rev, state(shown))))
        }
      }
    } catch { return journal.giveUp() }
    journal.rewrite(entries)
  }

  /// The elements of the present text that are not shown in a state; nil for those that were removed.
  private func hidden(
    _ shown: Attachment.Shown, by attachment: Attachment
  ) throws(ResponseError) -> ElementRanges? {
    guard let view = live[text: attachment.note].view(of: shown, by: attachment.id) else {
      return nil
    }
    guard let revealed = view.revealed else { return view.hidden }
    return try read(attachment.note) { [version = book.version] in
      $0.text.view(at: version).hidden.subtracting(revealed).union(view.hidden.sorted)
    }
  }
}

extension LiveSession.Step {
  var change: ChangeID {
    switch self {
    case .change(let change, _), .turn(_, let change, _): change
    }
  }
}

extension [Change.Operation] {
  /// The elements of a text that these remove.
  var removals: [ElementRange] {
    compactMap { if case .edit(_, .text(.remove(let range))) = $0 { range } else { nil } }
  }
}
