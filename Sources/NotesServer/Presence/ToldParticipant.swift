internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// THE FORMAT IN WHICH PROCESSES TELL EACH OTHER OF PARTICIPANTS
//
//     content      = count*(participant)                           in the order of processes and attachments, each once
//     participant  = process attachment moves hops name note count*(anchor anchor)
//                                                                  the start and the end of each selection
//     anchor       = 00 | (01 | 02) author offset                  the start of the text; behind, or before an element
//     name         = count, that many bytes of UTF-8: none, or a name as authors have them (`Author.swift`)
//     note         = replica number                                the change that created it
//
// Numbers are varints, a process, author or replica has 16 bytes. `PresenceFolder.swift` has the files in which a content stands. On
// a link (`notebook/presence`) it has what is new, and a participant without selections is one of whom the sender knows nothing more.

/// A participant as processes tell each other of it.
struct ToldParticipant: Equatable {
  /// The name of an attachment among those of all processes.
  struct Key: Hashable, Comparable {
    var process: Identifier
    var attachment: Int

    static func < (a: Key, b: Key) -> Bool { (a.process, a.attachment) < (b.process, b.attachment) }
  }

  /// The most participants that are taken from one source.
  static let most = 1000
  /// The most selections of all of them together. Of a participant beyond that the cursor is left.
  static let mostSelections = 4096
  /// Somebody of whom one heard over so many processes is not told on. Where links go round in a circle, each would otherwise go on
  /// believing the others about somebody who has left.
  static let mostHops = 16
  /// The longest name, in bytes.
  static let longestName = 100

  var key: Key
  /// Grows with each move of the cursors: of two tellings the one with more is the newer.
  var moves: Int
  /// The number of processes by way of which it has come here.
  var hops: Int
  /// The participant's name.
  var name: String
  var note: NoteID
  var selections: [Selection]

  /// Leaves so many selections, and of all that has any the first.
  mutating func keepSelections(_ most: Int) {
    if selections.count > max(1, most) { selections = Array(selections.prefix(max(1, most))) }
  }

  // MARK: - Encoding

  /// The participants as contents, each of which has room in a file; they are in order. None if there are none.
  static func contents(_ participants: some Sequence<ToldParticipant>) -> [[UInt8]] {
    var contents: [[UInt8]] = []
    var (told, count) = (ByteWriter(), 0)
    func end() {
      var writer = ByteWriter()
      writer.varint(count)
      writer.raw(told.bytes)
      contents.append(writer.bytes)
      (told, count) = (ByteWriter(), 0)
    }
    for participant in participants {
      var writer = ByteWriter()
      writer.participant(participant)
      // The count takes two bytes at most.
      let isFull = told.bytes.count + writer.bytes.count + 2 > PresenceFolder.longestContent
      if count == most || isFull && count > 0 { end() }
      told.raw(writer.bytes)
      count += 1
    }
    if count > 0 { end() }
    return contents
  }

  /// The participants in a content; nil if any of it is not as a process writes it.
  static func list(in content: ArraySlice<UInt8>) -> [ToldParticipant]? {
    var reader = ByteReader(content)
    guard let count = try? reader.count(), count <= most else { return nil }
    var list: [ToldParticipant] = []
    for _ in 0..<count {
      guard let next = try? reader.participant(), list.last.map({ $0.key < next.key }) ?? true
      else { return nil }
      list.append(next)
    }
    return reader.isAtEnd ? list : nil
  }
}

extension ByteWriter {
  fileprivate mutating func participant(_ told: ToldParticipant) {
    identifier(told.key.process)
    varint(told.key.attachment)
    varint(told.moves)
    varint(told.hops)
    counted(told.name.utf8)
    identifier(told.note.creation.replica)
    varint(told.note.creation.number)
    varint(told.selections.count)
    for selection in told.selections {
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
  fileprivate mutating func participant() throws(DecodingFailure) -> ToldParticipant {
    let key = ToldParticipant.Key(process: try identifier(), attachment: try self.count())
    let (moves, hops) = (try self.count(), try self.count())
    let bytes = try counted()
    guard key.attachment > 0, hops <= ToldParticipant.mostHops,
      bytes.count <= ToldParticipant.longestName,
      let name = String(validating: bytes, as: UTF8.self), name.isEmpty || Author.isName(name)
    else { throw failure("no participant") }
    let note = NoteID(creation: ChangeID(replica: try identifier(), number: try varint()))
    let count = try self.count()
    guard count <= Selection.mostPerAttachment else { throw failure("too many selections") }
    var selections: [Selection] = []
    for _ in 0..<count { selections.append(Selection(start: try anchor(), end: try anchor())) }
    return ToldParticipant(
      key: key, moves: moves, hops: hops, name: name, note: note, selections: selections)
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
