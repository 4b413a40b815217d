internal import Bytes
internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// The cursors of the attachments here, and those of participants in other processes. A cursor is named by an element, which is the
// same everywhere, and is stored in no log. A participant's cursor may be at an element that has not come here yet: then the client
// is told of the participant without this cursor.

extension NotesServer {
  // MARK: - Cursors here

  /// `note/cursor`. It is dropped if it can't be understood, or if its `version` and `rev` are not those of a text that the client
  /// may show.
  mutating func setCursor(_ params: Parameters) {
    guard let id = try? params.requiredCount("attachment"), let attachment = openTexts[id],
      (try? params.requiredCount("version")) == attachment.version,
      let rev = try? params.requiredCount("rev"), let shown = attachment.shown(at: rev),
      let ranges = try? params.requiredArray("ranges"),
      let selections = try? selections(ranges, on: attachment.note, shown, by: id)
    else { return }
    openTexts.setSelections(selections, of: id)
  }

  private func selections(
    _ ranges: JSONArray, on note: NoteID, _ shown: Attachment.Shown, by id: Int
  ) throws(ResponseError) -> [Selection] {
    let view = openTexts[text: note].view(of: shown, by: id)
    var offsets: [(start: Int, end: Int)] = []
    let text = try buffer(of: note, view)
    let form = shownForm(of: text, by: id)
    var buffer = form?.shown ?? text
    for range in ranges.prefix(Selection.mostPerAttachment) {
      let (start, end) = try Parameters(value: range, path: "ranges.").range()
      let offset = (
        start: try offset(of: start, "ranges.start", in: &buffer),
        end: try offset(of: end, "ranges.end", in: &buffer)
      )
      offsets.append(
        form.map { ($0.offset(ofShown: offset.start), $0.offset(ofShown: offset.end)) } ?? offset)
    }
    let sorted = Set(offsets.flatMap { [$0.start, $0.end] }).sorted()
    let neighbours = try read(note) { $0.text.neighbours(of: sorted, in: view) }
    let elements = Dictionary(uniqueKeysWithValues: zip(sorted, neighbours))
    // Text that is inserted at the ends of a selection is not in it.
    func inner(_ offset: Int) -> Anchor { elements[offset]!.right.map { .before($0) } ?? .start }
    func outer(_ offset: Int) -> Anchor { elements[offset]!.left.map { .after($0) } ?? .start }
    return offsets.map { start, end in
      Selection(
        start: start < end ? inner(start) : outer(start),
        end: end < start ? inner(end) : outer(end))
    }
  }

  // MARK: - Cursors in other processes

  /// Begins to share cursors with other processes, when the first text is opened, or a link stands. Before that no other process learns of
  /// this one.
  mutating func beginSharingPresence() {
    guard sharedPresence == nil, let store else { return }
    sharedPresence = SharedPresence()
    sharedPresence!.open(store)
    sharedPresence!.readFolder(isLook: true, at: nil)
    showParticipants()
  }

  /// Tells other processes that there are no cursors here any more.
  mutating func stopSharingPresence() {
    sharedPresence?.folder?.tellNothing()
    sharedPresence = nil
  }

  /// True if `sharePresence` will read what other processes have told. A process writes elements before it tells of cursors beside them: so
  /// look first for what they have written.
  func isPresenceDue(at now: Instant) -> Bool {
    sharedPresence?.nextReading(at: now).map { now >= $0 } ?? false
  }

  /// Tells other processes of the cursors here, and reads theirs, each if it is time.
  ///
  /// - Returns: whether there are new ones, and when to call this again at the latest; nil while no text was opened and no link stands.
  mutating func sharePresence(at now: Instant) -> (isRead: Bool, due: Instant?)? {
    guard let presence = sharedPresence, let store else { return nil }
    presence.open(store)
    var look = nextLook(presence, at: now)
    if let due = look, now >= due {
      presence.readFolder(isLook: true, at: now)
      look = nextLook(presence, at: now)
    }
    var reading = presence.nextReading(at: now)
    if let due = reading, now >= due {
      presence.readFolder(isLook: false, at: now)
      reading = nil
    }
    var showing = presence.nextShowing(at: now)
    var isRead = false
    if let due = showing, now >= due {
      (isRead, showing) = (showParticipants(), nil)
      look = nextLook(presence, at: now)
    }
    let telling = tellParticipants(at: now)
    var earliest = look
    for due in [reading, showing, telling] {
      if let due { earliest = min(earliest ?? due, due) }
    }
    return (isRead, earliest)
  }

  private func nextLook(_ presence: SharedPresence, at now: Instant) -> Instant? {
    presence.nextLook(isShowing: !openTexts.participantsElsewhere.isEmpty, at: now)
  }

  /// Lets the client be told of the participants in other processes; returns whether there is something new.
  @discardableResult
  private mutating func showParticipants() -> Bool {
    guard let participants = sharedPresence?.takeNews() else { return false }
    openTexts.setParticipantsElsewhere(participants)
    return true
  }

  /// The bytes that the other end of a link has not read with which it is told nothing more of participants: what is new by then is enough.
  private static let fullOfPresence = 1 << 20

  private mutating func tellParticipants(at now: Instant) -> Instant? {
    guard let sharedPresence, sharedPresence.mayTell(openTexts.cursorMoves) else { return nil }
    let attachments = openTexts.attachmentsWithCursors
    let name = client.participant?.name ?? ""
    var messages: [(content: [UInt8], to: KnownParticipants.Source)] = []
    let isClientFull = !connection.hasRoomForPushes
    let full = Set(exchanges.filter { $0.value.outbox.count >= Self.fullOfPresence }.keys)
    let due = sharedPresence.tell(
      openTexts.cursorMoves, at: now, makeIdentifier: environment.makeIdentifier
    ) { process in
      attachments.map { attachment in
        ToldParticipant(
          key: .init(process: process, attachment: attachment.id), moves: attachment.moves, hops: 0,
          name: name, note: attachment.note, selections: attachment.selections)
      }
    } hasRoom: { source in
      switch source {
      case .folder: true
      case .follower: !isClientFull
      case .link(let id): !full.contains(id)
      }
    } _: {
      messages.append(($0, $1))
    }
    for (content, source) in messages {
      switch source {
      case .folder: break
      case .follower:
        currentOutbox.notify("notebook/presence") {
          $0.beginObject()
          $0.member("participants", Base64.encode(content))
          $0.endObject()
        }
      case .link(let id): exchanges[id]?.wire.send(.presence(content))
      }
    }
    return due
  }

  /// `notebook/presence` of a client that follows. What can't be understood is dropped.
  mutating func takePresence(_ params: Parameters) {
    guard client.follower != nil, let text = try? params.requiredText("participants"),
      let content = Base64.decode(text)
    else { return }
    _ = sharedPresence?.take(content, from: .follower)
  }
}
