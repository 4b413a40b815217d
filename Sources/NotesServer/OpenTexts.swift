internal import Notes
internal import ReplicatingTypes

/// The texts that clients have open: the attachments, the effects of changes on each text, the steps that each attachment can
/// undo, and the participants.
struct OpenTexts {
  private var attachments = SlotMap<Int, Attachment>()
  private var texts = SlotMap<NoteID, OpenText>()
  /// The attachments with a cursor, by their notes, in order.
  private var withCursors: [NoteID: [Int]] = [:]
  /// The attachments whose clients may have to be told something. Whatever may make that so puts them here: nobody looks through all.
  private var untold: Set<Int> = []
  /// The one of them that was put there last; nil if that is not known.
  private var lastUntold: Int?
  /// By note, the attachments whose cursors have moved, come or gone since `takeUntold`: the others are told then, of all at once.
  private var moved: [NoteID: Movers] = [:]
  private enum Movers: Equatable {
    case one(Int)
    case several
  }
  /// The attachments with a participant whose cursor is at an element that has not come here yet.
  private var incomplete: Set<Int> = []
  /// The length of all kept texts in bytes.
  private var keptSize = 0
  private var undoLists: [Int: UndoList] = [:]
  /// The attachments that have ended because their notes were purged, and those of them of which the client was not told yet.
  private var ended: (all: Set<Int>, untold: [Int]) = ([], [])
  private var lastID = 0
  /// The participants of which other processes tell, in order.
  private(set) var participantsElsewhere: [NoteID: [Participant]] = [:]
  /// The work of merging that had been done when texts were pushed last in the middle of a merge.
  var mergedWork = 0
  /// The number of times that cursors of attachments have moved, come or gone.
  private(set) var cursorMoves = 0
  /// The texts before the group of changes that is carried out; nil if there is none.
  private var undo: OpenTextsUndo?

  // MARK: - Attachments

  /// True if no client has a text open.
  var isEmpty: Bool { attachments.isEmpty }

  /// The numbers of all attachments, in order.
  var ids: [Int] { attachments.keys.sorted() }

  /// An attachment; nil if there is none of this number.
  subscript(id: Int) -> Attachment? { attachments.place(of: id).map { attachments[place: $0] } }

  /// True if there is an attachment of this number.
  func isOpen(_ id: Int) -> Bool { attachments.contains(id) }

  /// An attachment that is open, to be looked at and changed in place.
  subscript(open id: Int) -> Attachment {
    _read { yield attachments[existing: id] }
    _modify {
      let place = attachments.place(of: id)!
      yield &attachments[place: place]
      noteUntold(id)
      if attachments[place: place].presence.isIncomplete {
        incomplete.insert(id)
      } else if !incomplete.isEmpty {
        incomplete.remove(id)
      }
    }
  }

  private mutating func noteUntold(_ id: Int) {
    // As a rule it is the same one many times.
    if id == lastUntold { return }
    lastUntold = id
    untold.insert(id)
  }

  /// Opens the text of a note for a client, which shows the present text.
  ///
  /// - Parameters:
  ///   - version: the client's version, if it resumes.
  ///   - heads: the changes that no other one follows.
  /// - Returns: the number of the attachment.
  /// - Complexity: O(1).
  mutating func open(
    _ note: NoteID, _ options: Attachment.Options, version: Int = 0, at heads: [ChangeID]
  ) -> Int {
    lastID += 1
    if !texts.contains(note) { texts.insert(OpenText(), for: note) }
    var attachment = Attachment(
      id: lastID, note: note, options, version: version,
      showing: Attachment.Shown(seen: self[text: note].count, heads: heads))
    if withCursors[note] != nil || participantsElsewhere[note]?.isEmpty == false {
      attachment.presence.moves = 1
    }
    attachments.insert(attachment, for: lastID)
    texts[existing: note].attachments.append(lastID)
    noteUntold(lastID)
    return lastID
  }

  mutating func close(_ id: Int) {
    guard let attachment = attachments.remove(id) else { return }
    undoLists[id] = nil
    untold.remove(id)
    lastUntold = nil
    incomplete.remove(id)
    texts[existing: attachment.note].attachments.removeAll { $0 == id }
    if !attachment.selections.isEmpty {
      setHasCursor(false, id, on: attachment.note)
      noteMove(of: id, on: attachment.note)
    }
    if texts[existing: attachment.note].attachments.isEmpty {
      keptSize -= texts.remove(attachment.note)?.keptSize ?? 0
    }
  }

  /// The attachments of a note, in order.
  private func attachments(of note: NoteID) -> [Int] {
    texts.place(of: note).map { texts[place: $0].attachments } ?? []
  }

  /// The attachments through which clients edit a note, in order.
  func editors(of note: NoteID) -> [Int] {
    attachments(of: note).filter { !attachments[existing: $0].options.isObserver }
  }

  /// Ends all attachments of a note that was purged.
  mutating func end(_ note: NoteID) {
    for id in attachments(of: note) {
      close(id)
      ended.all.insert(id)
      ended.untold.append(id)
    }
  }

  /// True if an attachment has ended because its note was purged.
  func hasEnded(_ id: Int) -> Bool { ended.all.contains(id) }

  // MARK: - What clients are to be told

  /// Takes the attachments that have ended and of which the client is to be told.
  mutating func takeEnded() -> [Int] {
    defer { ended.untold = [] }
    return ended.untold
  }

  /// True if a cursor has moved since `takeUntold`.
  var hasNewCursors: Bool { !moved.isEmpty }

  /// Takes the attachments whose clients may have to be told something, in order.
  mutating func takeUntold() -> [Int] {
    for (note, movers) in moved {
      for id in attachments(of: note) where movers != .one(id) {
        self[open: id].presence.moves += 1
      }
    }
    if !moved.isEmpty { moved = [:] }
    lastUntold = nil
    guard let first = untold.first else { return [] }
    defer { untold.removeAll(keepingCapacity: untold.count < 16) }
    return untold.count == 1 ? [first] : untold.sorted()
  }

  /// Puts back those that could not be told all.
  mutating func putBack(untold ids: some Sequence<Int>) {
    for id in ids where isLagging(id) || lacksPresence(id) { noteUntold(id) }
  }

  /// True if a client may not show the present text.
  func isLagging(_ id: Int) -> Bool {
    let count = texts[existing: attachments[existing: id].note].count
    return attachments[existing: id].lags(behind: count)
  }

  /// True if a client is to be told of participants.
  func lacksPresence(_ id: Int) -> Bool {
    attachments[existing: id].isPresenceDue
  }

  // MARK: - Texts

  subscript(text note: NoteID) -> OpenText {
    _read { yield texts[existing: note] }
    _modify {
      let place = texts.place(of: note)!
      keptSize -= texts[place: place].keptSize
      defer { keptSize += texts[place: place].keptSize }
      yield &texts[place: place]
    }
  }

  /// `OpenText.view(of:by:)` of the text of an open note, without a copy of it.
  func view(of shown: Attachment.Shown, of note: NoteID, by attachment: Int) -> SequenceView? {
    let place = texts.place(of: note)!
    // Asked before: the call of a large function copies the text that it is called on.
    if texts[place: place].isPresent(shown) { return nil }
    return texts[place: place].view(of: shown, by: attachment)
  }

  /// If the kept texts have more bytes than this, only the one that was used last is kept: a client may open every note.
  private static let mostKept = 64 << 20

  mutating func keep(present text: consuming TextBuffer, of note: NoteID) {
    self[text: note].keep(present: text)
    if keptSize <= Self.mostKept { return }
    for other in texts.keys where other != note { self[text: other].keepNothing() }
  }

  /// Notes the effects of changes on open texts.
  ///
  /// - Parameter source: the attachment that made the changes; nil if they came from elsewhere.
  mutating func record(_ effects: Effects, from source: Int?) {
    guard !texts.isEmpty else { return }
    var last: NoteID?
    for (note, effect) in effects.text {
      guard let place = texts.place(of: note) else { continue }
      undo?.willAppend(to: note, after: texts[place: place].count)
      texts[place: place].append(effect, from: source)
      if note != last {
        for id in texts[place: place].attachments { noteUntold(id) }
      }
      last = note
    }
    // A participant's cursor may be at one of the new elements, also where the visible text is the same.
    if incomplete.isEmpty { return }
    for id in incomplete { self[open: id].presence.moves += 1 }
  }

  /// Notes elements that an attachment removed after others had removed them, unseen by its client, or that its changes brought as dividers.
  mutating func record(repeated removals: [ElementRange], on note: NoteID, from source: Int) {
    guard !removals.isEmpty, let place = texts.place(of: note) else { return }
    undo?.willAppend(to: note, after: texts[place: place].count)
    texts[place: place].append(repeated: removals, from: source)
  }

  /// Forgets the arrivals that every client of a note has seen, if there are many.
  mutating func trim(_ note: NoteID) {
    guard undo == nil, let place = texts.place(of: note), texts[place: place].isLong else {
      return
    }
    texts[place: place].trim(seenByAll: seen(of: texts[place: place]))
  }

  /// The number of arrivals that every client of a note is known to have seen.
  private func seen(of text: OpenText) -> Int {
    text.attachments.map { attachments[existing: $0].shown.seen }.min() ?? text.count
  }

  // MARK: - Undo

  /// The steps that an attachment can undo and redo.
  subscript(undoListOf attachment: Int) -> UndoList {
    _read { yield undoLists[attachment, default: UndoList()] }
    _modify { yield &undoLists[attachment, default: UndoList()] }
  }

  /// True if the client's next change may become a part of its last step.
  func isStepOpen(of attachment: Int) -> Bool {
    undo?.isStepOpen(of: attachment) ?? self[undoListOf: attachment].isOpen
  }

  /// The last change of a client's last step; nil if it has made none.
  func lastChange(of attachment: Int) -> ChangeID? {
    undo?.lastChange(of: attachment) ?? self[undoListOf: attachment].lastChange
  }

  /// Notes a change of a client for its list of steps; nil for one that has changed nothing, which ends a step.
  mutating func record(step change: ChangeID?, joining isJoined: Bool, of attachment: Int) {
    if undo != nil { return undo!.append(step: change, joining: isJoined, of: attachment) }
    if let change {
      self[undoListOf: attachment].record(change, joining: isJoined)
    } else if !isJoined {
      self[undoListOf: attachment].close()
    }
  }

  // MARK: - Groups of changes

  /// Begins a group of changes, which `takeBackGroup` takes back. Their steps are recorded at its end.
  mutating func beginGroup() { undo = OpenTextsUndo() }

  /// Notes that an attachment is about to change. Does nothing outside a group.
  mutating func willChange(_ id: Int) {
    if undo?.knows(id) == false { undo!.append(attachments[existing: id]) }
  }

  /// Ends a group: its changes have happened.
  mutating func keepGroup() {
    guard let done = undo else { return }
    undo = nil
    for step in done.steps {
      record(step: step.change, joining: step.isJoined, of: step.attachment)
    }
    for (note, _) in done.counts { trim(note) }
  }

  /// Ends a group whose changes have not happened.
  ///
  /// - Parameter isLeavingArrivals: whether the notebook has them nevertheless. Then somebody else has made them.
  mutating func takeBackGroup(leavingArrivals isLeavingArrivals: Bool = false) {
    guard let undone = undo else { return }
    undo = nil
    for (note, count) in undone.counts {
      if isLeavingArrivals {
        self[text: note].disown(after: count)
      } else {
        self[text: note].takeBack(to: count)
      }
    }
    for before in undone.attachments {
      let (id, present) = (before.id, attachments[existing: before.id])
      attachments[existing: id] = before
      noteUntold(id)
      if present.selections == before.selections { continue }
      if present.selections.isEmpty != before.selections.isEmpty {
        setHasCursor(!before.selections.isEmpty, id, on: before.note)
      }
      noteMove(of: id, on: before.note)
    }
  }

  // MARK: - Cursors

  mutating func setSelections(_ selections: [Selection], of id: Int) {
    guard let attachment = self[id], attachment.selections != selections else { return }
    willChange(id)
    if attachment.selections.isEmpty != selections.isEmpty {
      setHasCursor(!selections.isEmpty, id, on: attachment.note)
    }
    attachments[existing: id].selections = selections
    noteMove(of: id, on: attachment.note)
    attachments[existing: id].moves = cursorMoves
  }

  private mutating func noteMove(of mover: Int, on note: NoteID) {
    cursorMoves += 1
    if moved[note] == nil { moved[note] = .one(mover) }
    if moved[note] != .one(mover) { moved[note] = .several }
  }

  /// The attachments that have cursors, in order.
  var attachmentsWithCursors: [Attachment] {
    withCursors.values.joined().sorted().map { attachments[existing: $0] }
  }

  /// The participants in the note of an attachment, without itself, in order.
  ///
  /// - Parameter name: what those in this process are called.
  func participants(besides attachment: Attachment, named name: String = "") -> [Participant] {
    (withCursors[attachment.note] ?? []).filter { $0 != attachment.id }.map {
      Participant(id: "\($0)", name: name, selections: attachments[existing: $0].selections)
    } + (participantsElsewhere[attachment.note] ?? [])
  }

  /// Notes whether an attachment has a cursor. O(cursors in the note).
  private mutating func setHasCursor(_ hasCursor: Bool, _ id: Int, on note: NoteID) {
    var ids = withCursors[note] ?? []
    if hasCursor {
      ids.insert(id, at: ids.firstIndex { $0 > id } ?? ids.endIndex)
    } else {
      ids.removeAll { $0 == id }
    }
    withCursors[note] = ids.isEmpty ? nil : ids
  }

  /// Replaces the participants of which other processes tell.
  mutating func setParticipantsElsewhere(_ participants: [NoteID: [Participant]]) {
    for note in texts.keys where participants[note] != participantsElsewhere[note] {
      for id in attachments(of: note) { self[open: id].presence.moves += 1 }
    }
    participantsElsewhere = participants
  }
}

/// The open texts before a group of changes, as far as it has changed them. Nothing is copied but the attachments through which changes are made.
struct OpenTextsUndo {
  /// The attachments that have changed, as they were.
  private(set) var attachments: [Attachment] = []
  /// The number of arrivals that each changed text had.
  private(set) var counts: [(note: NoteID, count: Int)] = []
  /// The changes for the lists of steps, which are recorded when the group is written: a list may be long, and a copy of it, too.
  private(set) var steps: [(attachment: Int, change: ChangeID?, isJoined: Bool)] = []

  /// True if it is known how the attachment was.
  func knows(_ attachment: Int) -> Bool {
    // As a rule it is the last one again.
    attachments.last?.id == attachment || attachments.contains { $0.id == attachment }
  }

  mutating func append(_ attachment: Attachment) { attachments.append(attachment) }

  /// Notes that a text which has `count` arrivals is to get another.
  mutating func willAppend(to note: NoteID, after count: Int) {
    if counts.last?.note == note || counts.contains(where: { $0.note == note }) { return }
    counts.append((note, count))
  }

  /// Notes a change for the list of steps of an attachment; nil for one that has changed nothing.
  mutating func append(step change: ChangeID?, joining isJoined: Bool, of attachment: Int) {
    if change == nil && isJoined { return }
    steps.append((attachment, change, isJoined))
  }

  /// The last change of an attachment in the group; nil if it has made none.
  func lastChange(of attachment: Int) -> ChangeID? {
    steps.last { $0.attachment == attachment && $0.change != nil }?.change
  }

  /// True if the next change of an attachment may become a part of its last step; nil if it has made no change in the group.
  func isStepOpen(of attachment: Int) -> Bool? {
    steps.last { $0.attachment == attachment }.map { $0.change != nil }
  }
}
