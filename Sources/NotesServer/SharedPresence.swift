internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// WHAT PROCESSES TELL EACH OTHER OF THEIR CLIENTS' CURSORS
//
//     content   = count*(attachment note count*(anchor anchor))      the attachments that have any, in order; the start and the
//                                                                    end of each selection
//     anchor    = 00 | (01 | 02) author offset                       the start of the text; behind, or before an element
//     note      = replica number                                     the change that created it
//
// Numbers are varints, an author or replica has 16 bytes. How it gets to the others is told in `PresenceFolder.swift`.

/// Tells other processes of the cursors here, and hears of theirs.
struct SharedPresence {
  /// Cursors move with each key. Nobody follows more often than this.
  static let tellingInterval = Duration.milliseconds(50)
  /// How often it is looked what others tell: where nothing tells of that; while somebody is shown, who may be gone; else.
  private static let pollInterval = Duration.seconds(1)
  private static let checkInterval = Duration.seconds(2)
  private static let idleInterval = Duration.seconds(30)
  /// So many attachments are told of by a process, and so many are taken of all others.
  private static let mostAttachments = 64
  private static let mostPeers = 1000

  let folder: PresenceFolder
  /// The moves of cursors that were told, and when the next may be.
  private var toldMoves = 0
  private var nextTelling: ContinuousClock.Instant?
  private var lookDue: ContinuousClock.Instant?

  init(_ folder: PresenceFolder) { self.folder = folder }

  /// Tells of the cursors here, if they have moved and it is time. Returns when to call it again at the latest, if there is
  /// something that was not told.
  mutating func tell(
    _ live: LiveNotes, at now: ContinuousClock.Instant
  ) -> ContinuousClock.Instant? {
    guard live.cursorMoves != toldMoves else { return nil }
    if let nextTelling, now < nextTelling { return nextTelling }
    folder.tell(Self.content(live.attachmentsWithCursors))
    toldMoves = live.cursorMoves
    nextTelling = now + Self.tellingInterval
    return nil
  }

  /// When to look at the latest what others tell.
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

  /// Who the other processes tell of.
  mutating func look() -> [NoteID: [PeerCursors]] {
    lookDue = nil
    var peers: [NoteID: [PeerCursors]] = [:]
    var count = 0
    for (process, content) in folder.others() {
      for (attachment, note, selections) in Self.attachments(content) ?? [] {
        guard count < Self.mostPeers else { return peers }
        count += 1
        peers[note, default: []].append(
          PeerCursors(id: "\(process).\(attachment)", selections: selections))
      }
    }
    return peers
  }

  // MARK: - Encoding

  private static func content(_ attachments: [Attachment]) -> [UInt8]? {
    var told: [[UInt8]] = []
    var room = PresenceFolder.longestContent - 1
    for attachment in attachments.prefix(mostAttachments) {
      var writer = ByteWriter()
      writer.attachment(attachment)
      // Some dozen clients with a hundred selections each don't fit. Then the others don't hear of all.
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

  /// Nil if that is not what another process writes: nothing of it counts then.
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

extension NotesServer {
  /// Readable when other processes may have told something: then call `presenceChanged`. Nil as long as no note was opened, and
  /// where there is no watching.
  public var presenceDescriptor: Int32? { sharedPresence?.folder.watchDescriptor }

  /// Other processes may have told something of their clients' cursors.
  public mutating func presenceChanged() {
    guard sharedPresence?.folder.drainWatch() == true else { return }
    // What the cursors are at was written before them.
    folderChanged()
    lookForPeers()
    push()
  }

  /// Tells the others of the cursors here, and looks for theirs, if it is time; costs nothing else. Returns when to call it
  /// again at the latest.
  public mutating func sharePresence(
    at now: ContinuousClock.Instant
  ) -> ContinuousClock.Instant? {
    guard sharedPresence != nil else { return nil }
    let telling = sharedPresence!.tell(live, at: now)
    var look = sharedPresence!.nextLook(isShowing: !live.foreignPeers.isEmpty, at: now)
    if now >= look {
      lookForPeers()
      push()
      look = sharedPresence!.nextLook(isShowing: !live.foreignPeers.isEmpty, at: now)
    }
    return min(telling ?? look, look)
  }

  /// Begins with the first note that is opened. Who opens none, looks at none and is told of none.
  mutating func beginSharingPresence() {
    guard sharedPresence == nil, let folder = store?.openPresence() else { return }
    sharedPresence = SharedPresence(folder)
    lookForPeers()
  }

  /// The others no longer hear of this process.
  mutating func stopSharingPresence() {
    sharedPresence?.folder.tell(nil)
    sharedPresence = nil
  }

  private mutating func lookForPeers() {
    guard let peers = sharedPresence?.look() else { return }
    live.setForeignPeers(peers)
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
    guard count <= NotesServer.mostSelections else { throw failure("too many selections") }
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
