internal import Notes
internal import ReplicatingTypes

/// One client's window on one note.
///
/// The client owns `version`, which grows with each of its changes. `rev` is the last push it is known to have applied. A
/// position from the client is a place in what it shows then; it is turned into elements, and never shifted.
struct Attachment {
  enum Form { case lines, ranges, text }
  enum Check { case sha256, length, none }

  /// What a client shows: the text as it was after the first `seen` arrivals, and whatever it did itself since.
  struct Shown {
    var seen: Int
    /// The elements of all there were then that it did not show; nil if those were just the removed ones. A client that came
    /// back after its process had died lacks what happened meanwhile.
    var hidden: ElementRanges?
  }

  let id: Int
  let note: NoteID
  let isObserver: Bool
  let form: Form
  let check: Check
  var version = 0
  var rev = 0
  var shown: Shown
  /// Pushes on their way at the present version, each leading from what the one before it left to what is shown after it.
  var pending: [(rev: Int, shown: Shown)] = []
  var lastRev = 0
  /// Where the client's cursors are, if it has said so.
  var selections: [Selection] = []
  var presence = Presence()

  /// What the client shows once it has applied all that is on its way.
  var pushed: Shown {
    get { pending.last?.shown ?? shown }
    set {
      if pending.isEmpty { shown = newValue } else { pending[pending.count - 1].shown = newValue }
    }
  }
  var pushedRev: Int { pending.last?.rev ?? rev }
}

/// The texts that clients have open, and what happened to them since.
struct LiveNotes {
  /// Something that happened to a text after a client had opened it.
  struct Arrival {
    var effect: ReplicatingText.Effect
    /// The attachment that did it; `nil` if it came from elsewhere.
    var source: Int?
    /// Whether it changed nothing, because somebody else had removed the same before: only the view of its source has
    /// lost something by it.
    var isRepetition = false
  }

  /// One note's text while it is open.
  struct LiveText {
    /// What happened, in the order in which it came here. The first `dropped` are forgotten: every client has seen them.
    var arrivals: [Arrival] = []
    var dropped = 0
    /// A text that need not be read anew, and after how many arrivals it was the present one.
    private var kept: (text: TextBuffer, count: Int)?
    /// What was inserted again, each time with how many arrivals there were then: a client that has seen fewer may still
    /// name the elements that were copied.
    var copies: [(count: Int, copies: ElementCopies)] = []

    var count: Int { dropped + arrivals.count }

    /// Bytes of it.
    var keptSize: Int { kept?.text.count ?? 0 }

    /// The present text, if it is kept.
    var present: TextBuffer? { kept?.count == count ? kept!.text : nil }

    /// Takes it out, so that it can be changed in place.
    mutating func takePresent() -> TextBuffer? {
      let present = present
      kept = nil
      return present
    }

    mutating func keep(present text: TextBuffer) { kept = (text, count) }

    mutating func keepNothing() { kept = nil }

    /// Takes out what an attachment shows, if it is kept, so that it can be changed in place.
    mutating func take(_ shown: Attachment.Shown, by attachment: Int) -> TextBuffer? {
      guard let kept, kept.count == shown.seen, shown.hidden == nil,
        !arrivals[(shown.seen - dropped)...].contains(where: { $0.source == attachment })
      else { return nil }
      self.kept = nil
      return kept.text
    }

    /// Notes removals by an attachment of what was removed before. They leave the present text as it is.
    mutating func append(repeated removals: [ElementRange], from source: Int) {
      let isPresent = present != nil
      arrivals += removals.map {
        Arrival(effect: .removed($0), source: source, isRepetition: true)
      }
      if isPresent { kept!.count += removals.count }
    }

    /// The state that is shown, with what the attachment did itself since; `nil` if that is the present.
    func view(of shown: Attachment.Shown, by attachment: Int) -> SequenceView? {
      let late = arrivals[(shown.seen - dropped)...]
      var insertions: [ElementRange] = []
      var removals: [ElementRange] = []
      var own: [ElementRange] = []
      for arrival in late {
        switch arrival.effect {
        case .inserted(let range):
          if arrival.source != attachment { insertions.append(range) }
        case .removed(let range):
          if arrival.source == attachment {
            own.append(range)
          } else if !arrival.isRepetition {
            removals.append(range)
          }
        }
      }
      if let hidden = shown.hidden {
        return SequenceView(hidden: hidden.union(insertions).union(own), revealed: nil)
      }
      if insertions.isEmpty && removals.isEmpty { return nil }
      return SequenceView(
        hidden: ElementRanges(insertions),
        revealed: ElementRanges(removals).subtracting(ElementRanges(own)))
    }
  }

  private(set) var attachments: [Int: Attachment] = [:]
  private var texts: [NoteID: LiveText] = [:]
  /// Bytes of all texts that are kept.
  private var keptSize = 0
  /// Beside the attachments, which are copied while a request is carried out.
  private var undoLists: [Int: UndoList] = [:]
  private var lastID = 0
  /// Those whom other processes tell of, in order.
  private(set) var foreignPeers: [NoteID: [PeerCursors]] = [:]
  /// How often a cursor of an attachment has moved, or come, or gone.
  private(set) var cursorMoves = 0

  subscript(id: Int) -> Attachment? {
    get { attachments[id] }
    set { attachments[id] = newValue }
  }

  subscript(text note: NoteID) -> LiveText {
    get { texts[note] ?? LiveText() }
    _modify {
      keptSize -= texts[note]?.keptSize ?? 0
      defer { keptSize += texts[note]?.keptSize ?? 0 }
      yield &texts[note, default: LiveText()]
    }
  }

  /// Above so many bytes of texts only the one is kept that was used last: a client may open all notes there are.
  private static let mostKept = 64 << 20

  mutating func keep(present text: TextBuffer, of note: NoteID) {
    self[text: note].keep(present: text)
    if keptSize <= Self.mostKept { return }
    for other in texts.keys where other != note { self[text: other].keepNothing() }
  }

  /// What an open attachment can undo and redo.
  subscript(undoListOf attachment: Int) -> UndoList {
    _read { yield undoLists[attachment, default: UndoList()] }
    _modify { yield &undoLists[attachment, default: UndoList()] }
  }

  /// The attachments whose clients may not show the present text, in order.
  var lagging: [Int] {
    attachments.values.filter {
      $0.pushed.hidden != nil || $0.pushed.seen < texts[$0.note]!.count
    }.map(\.id).sorted()
  }

  mutating func open(
    _ note: NoteID, isObserver: Bool, form: Attachment.Form, check: Attachment.Check
  ) -> Attachment {
    lastID += 1
    if texts[note] == nil { texts[note] = LiveText() }
    var attachment = Attachment(
      id: lastID, note: note, isObserver: isObserver, form: form, check: check,
      shown: Attachment.Shown(seen: self[text: note].count))
    if !peers(of: attachment).isEmpty { attachment.presence.moves = 1 }
    attachments[lastID] = attachment
    return attachment
  }

  mutating func close(_ id: Int) {
    guard let attachment = attachments.removeValue(forKey: id) else { return }
    undoLists[id] = nil
    if !attachment.selections.isEmpty { noteMove(of: attachment) }
    if !attachments.values.contains(where: { $0.note == attachment.note }) {
      keptSize -= texts.removeValue(forKey: attachment.note)?.keptSize ?? 0
    }
  }

  // MARK: - Cursors

  mutating func setSelections(_ selections: [Selection], of id: Int) {
    guard let attachment = attachments[id], attachment.selections != selections else { return }
    attachments[id]!.selections = selections
    noteMove(of: attachment)
  }

  private mutating func noteMove(of attachment: Attachment) {
    cursorMoves += 1
    for id in attachments.keys where id != attachment.id && attachments[id]!.note == attachment.note
    {
      attachments[id]!.presence.moves += 1
    }
  }

  /// The attachments whose clients are to be told of their peers, in order.
  var withoutPresence: [Int] {
    attachments.values.filter { $0.presence.isDue($0.version, $0.pushedRev) }.map(\.id).sorted()
  }

  /// The attachments that have told where their cursors are, in order.
  var attachmentsWithCursors: [Attachment] {
    attachments.values.filter { !$0.selections.isEmpty }.sorted { $0.id < $1.id }
  }

  /// All who have told where their cursors are in the note of an attachment, but itself, in order.
  func peers(of attachment: Attachment) -> [PeerCursors] {
    attachmentsWithCursors.filter { $0.note == attachment.note && $0.id != attachment.id }
      .map { PeerCursors(id: "\($0.id)", selections: $0.selections) }
      + (foreignPeers[attachment.note] ?? [])
  }

  /// Takes in what other processes tell now.
  mutating func setForeignPeers(_ peers: [NoteID: [PeerCursors]]) {
    for (id, attachment) in attachments
    where peers[attachment.note] != foreignPeers[attachment.note] {
      attachments[id]!.presence.moves += 1
    }
    foreignPeers = peers
  }

  // MARK: - What happened

  /// Notes what changes did to open texts.
  mutating func record(_ effects: Effects, from source: Int?) {
    guard !texts.isEmpty else { return }
    for (note, effect) in effects.text where texts[note] != nil {
      texts[note]!.arrivals.append(Arrival(effect: effect, source: source))
    }
    // It may be what a peer's cursor is at, also where nobody sees a difference in the text.
    for id in attachments.keys where attachments[id]!.presence.isIncomplete {
      attachments[id]!.presence.moves += 1
    }
  }

  /// Notes what an attachment removed that somebody else had removed before, unseen by it.
  mutating func record(repeated removals: [ElementRange], on note: NoteID, from source: Int) {
    texts[note]?.append(repeated: removals, from: source)
  }

  /// Notes what a change of an attachment did, as a step that it can undo or as a part of its last one.
  mutating func record(
    _ step: UndoList.Step, joining isJoined: Bool, by attachment: Attachment
  ) {
    let step = replacing(step, by: attachment)
    self[undoListOf: attachment.id].record(step, joining: isJoined)
  }

  /// A step of an attachment with copies for those elements that the client did not know to be copied.
  func replacing(_ step: UndoList.Step, by attachment: Attachment) -> UndoList.Step {
    if step.removed.isEmpty { return step }
    var step = step
    for copies in copies(unseenBy: attachment) {
      step.removed = copies.replacing(step.removed) ?? step.removed
    }
    return step
  }

  /// What was copied of elements that an attachment may still name.
  func copies(unseenBy attachment: Attachment) -> [ElementCopies] {
    guard let text = texts[attachment.note] else { return [] }
    return text.copies.filter { $0.count > attachment.shown.seen }.map(\.copies)
  }

  /// Notes copies that were made before an attachment was opened, of elements that it may name.
  mutating func append(_ copies: ElementCopies, unseenBy attachment: Attachment) {
    self[text: attachment.note].copies.append((attachment.shown.seen + 1, copies))
  }

  /// Lets copies stand for the elements that they are copies of, in what every client of a note can undo and redo.
  mutating func replace(by copies: ElementCopies, on note: NoteID) {
    for id in undoLists.keys where attachments[id]!.note == note {
      undoLists[id]!.replace(by: copies)
    }
    let seen = seen(of: note)
    self[text: note].copies.removeAll { $0.count <= seen }
    self[text: note].copies.append((self[text: note].count, copies))
  }

  /// How many arrivals every client of a note is known to have seen.
  private func seen(of note: NoteID) -> Int {
    attachments.values.filter { $0.note == note }.map(\.shown.seen).min() ?? self[text: note].count
  }

  /// Forgets what every client of a note has seen.
  mutating func trim(_ note: NoteID) {
    guard let text = texts[note], text.arrivals.count > 256 else { return }
    let seen = seen(of: note)
    guard seen - text.dropped > text.arrivals.count / 2 else { return }
    texts[note]!.arrivals.removeFirst(seen - text.dropped)
    texts[note]!.dropped = seen
  }
}
