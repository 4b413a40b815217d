internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// THE FORMAT IN WHICH PROCESSES TELL EACH OTHER OF THEIR CLIENTS' CURSORS
//
//     content   = count*(attachment note count*(anchor anchor))      the attachments with selections, in order; the start and the
//                                                                    end of each selection
//     anchor    = 00 | (01 | 02) author offset                       the start of the text; behind, or before an element
//     note      = replica number                                     the change that created it
//
// Numbers are varints, an author or replica has 16 bytes. `PresenceFolder.swift` has the files in which the content stands.

/// Tells other processes of the cursors here, and reads the participants of which they tell.
struct SharedPresence {
  /// Cursors move with each key. Other processes are told no more often than this.
  static let tellingInterval = Duration.milliseconds(50)
  /// The interval for reading others' files where there are no notifications of changes.
  static let pollInterval = Duration.seconds(1)
  /// The same while participants are shown: one may be gone without a notification.
  static let checkInterval = Duration.seconds(2)
  /// The same while none is shown.
  static let idleInterval = Duration.seconds(30)
  /// The most attachments of which a process tells.
  private static let mostAttachments = 64
  /// The most participants that are taken from all other processes together.
  private static let mostParticipants = 1000

  let folder: PresenceFolder
  /// The value of `cursorMoves` when others were told last, and when they may be told again.
  private var toldMoves = 0
  private var nextTelling: ContinuousClock.Instant?
  private var lookDue: ContinuousClock.Instant?

  init(_ folder: PresenceFolder) { self.folder = folder }

  /// Tells other processes of the cursors here, if they have moved and it is time.
  ///
  /// - Returns: when to call it again, if cursors have moved since others were told.
  mutating func tell(
    _ texts: borrowing OpenTexts, at now: ContinuousClock.Instant
  ) -> ContinuousClock.Instant? {
    guard texts.cursorMoves != toldMoves else { return nil }
    if let nextTelling, now < nextTelling { return nextTelling }
    folder.tell(Self.content(texts.attachmentsWithCursors))
    toldMoves = texts.cursorMoves
    nextTelling = now + Self.tellingInterval
    return nil
  }

  /// The latest time at which to read what others tell.
  mutating func nextLook(
    isShowing: Bool, at now: ContinuousClock.Instant
  ) -> ContinuousClock.Instant {
    let interval =
      if folder.mustPoll {
        Self.pollInterval
      } else if isShowing {
        Self.checkInterval
      } else {
        Self.idleInterval
      }
    let due = min(lookDue ?? now + interval, now + interval)
    lookDue = due
    return due
  }

  /// Reads the participants of which the other processes tell.
  mutating func readParticipants() -> [NoteID: [Participant]] {
    lookDue = nil
    var participants: [NoteID: [Participant]] = [:]
    var count = 0
    for (process, content) in folder.others() {
      for (attachment, note, selections) in Self.attachments(content) ?? [] {
        guard count < Self.mostParticipants else { return participants }
        count += 1
        participants[note, default: []].append(
          Participant(id: "\(process).\(attachment)", selections: selections))
      }
    }
    return participants
  }

  // MARK: - Encoding

  private static func content(_ attachments: [Attachment]) -> [UInt8]? {
    var told: [[UInt8]] = []
    var room = PresenceFolder.longestContent - 1
    for attachment in attachments.prefix(mostAttachments) {
      var writer = ByteWriter()
      writer.attachment(attachment)
      // Some dozen attachments with a hundred selections each don't fit. Those that don't are left out.
      guard writer.bytes.count <= room else { continue }
      room -= writer.bytes.count
      told.append(writer.bytes)
    }
    if told.isEmpty { return nil }
    var writer = ByteWriter()
    writer.varint(told.count)
    for bytes in told { writer.raw(bytes) }
    return writer.bytes
  }

  private typealias Told = (attachment: Int, note: NoteID, selections: [Selection])

  /// The attachments in a content; nil if any of it is not as a process writes it.
  private static func attachments(_ content: ArraySlice<UInt8>) -> [Told]? {
    var reader = ByteReader(content)
    guard let count = try? reader.count(), count <= mostAttachments else { return nil }
    var list: [Told] = []
    for _ in 0..<count {
      guard let next = try? reader.attachment(), next.attachment > list.last?.attachment ?? 0,
        !next.selections.isEmpty
      else { return nil }
      list.append(next)
    }
    return reader.isAtEnd ? list : nil
  }
}

extension ByteWriter {
  fileprivate mutating func attachment(_ attachment: Attachment) {
    varint(attachment.id)
    identifier(attachment.note.creation.replica)
    varint(attachment.note.creation.number)
    varint(attachment.selections.count)
    for selection in attachment.selections {
      anchor(selection.start)
      anchor(selection.end)
    }
  }

  private mutating func anchor(_ anchor: Anchor) {
    switch anchor {
    case .start: byte(0)
    case .after: byte(1)
    case .before: byte(2)
    }
    guard let element = anchor.element else { return }
    identifier(element.author)
    varint(element.offset)
  }
}

extension ByteReader {
  fileprivate mutating func attachment() throws(DecodingFailure) -> (
    attachment: Int, note: NoteID, selections: [Selection]
  ) {
    let attachment = try count()
    let note = NoteID(creation: ChangeID(replica: try identifier(), number: try varint()))
    let count = try count()
    guard count <= Selection.mostPerAttachment else { throw failure("too many selections") }
    var selections: [Selection] = []
    for _ in 0..<count { selections.append(Selection(start: try anchor(), end: try anchor())) }
    return (attachment, note, selections)
  }

  private mutating func anchor() throws(DecodingFailure) -> Anchor {
    switch try byte() {
    case 0: .start
    case 1: .after(try element())
    case 2: .before(try element())
    default: throw failure("no anchor")
    }
  }

  private mutating func element() throws(DecodingFailure) -> ElementID {
    ElementID(author: try identifier(), offset: try count())
  }
}
