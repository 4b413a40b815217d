internal import Bytes
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// THE FORMAT OF A JOURNAL OF LIVE TEXTS
//
// What a process notes so that the next one can go on when it dies: what each of its clients shows, and which changes are whose.
// It is a file of the state folder, as private as what is in memory, and means nothing to another notebook or machine.
//
//     entry   = length of the body, CRC-32C of the body, 4 bytes each, the lowest first; body
//     body    = 01 attachment note version rev state steps steps count*(ranges ranges)
//                                                                   open: with what can be undone, and redone, and with what
//                                                                   undoing has copied unseen by the client, and the copies
//             | 02 attachment rev state                             a push: what the client shows when it has applied it
//             | 03 attachment version change                        the client's change is to be written as this one
//             | 05 attachment version change                        so it is, and is one step with the client's last one
//             | 04 attachment direction change count*ranges         undo (0) or redo (1) is to be written as this one; its
//                                                                   insertions bring again these elements
//     state   = count*change ranges?                                the notebook that these changes and all they follow are; a
//                                                                   byte 1 and the elements of all there were then that are not
//                                                                   shown, or 0 if that is what had been removed
//     steps   = count*(ranges ranges)                               what each inserted, and removed; the last is next
//     ranges  = count*(replica offset count)
//     note    = change                                              the one that created it
//     change  = replica number
//
// Numbers are varints, a replica has 16 bytes.
//
// WHY A KILL AT ANY POINT IS SAFE
//
// An open is noted before it is answered, a push before it is sent, a change before it is written to the log. So whatever a client
// can have seen is here; and a change that is here and not in the notebook was never made. What a client shows is then: the state
// of the last push that it has applied, and its own changes since, which the log has or has not. Nothing has to happen at once in
// two files.
//
// What can't be noted happens all the same, and the file is removed, or emptied: it would take a client's own words for somebody
// else's, and they would stand there twice. While the disk refuses that, too, it is tried again with each entry; only who dies before
// the disk takes anything leaves such a file.
//
// A file of another start of the machine counts for nothing (`Journal`): a power cut takes away from both files what it will. One
// that does not end with a whole entry, or has a damaged one, is not used: something may have happened that it doesn't tell.

/// What is noted.
enum LiveEntry {
  /// What a client shows, if it has made no change since.
  struct State {
    var heads: [ChangeID]
    /// The elements that it does not show; nil for those that were removed.
    var hidden: [ElementRange]?
  }

  /// What a client can undo and redo, and what undoing has copied that it may not know of.
  struct Undoing {
    var list = UndoList()
    var copies: [ElementCopies] = []
  }

  case open(note: NoteID, version: Int, rev: Int, State, Undoing)
  case push(rev: Int, State)
  case change(version: Int, isJoined: Bool, ChangeID)
  case turn(UndoList.Direction, ChangeID, copied: [[ElementRange]])
}

/// The journal of one process's live texts.
final class LiveJournal {
  private var file: Journal?
  /// What was given up and can still be read.
  private var misleading: Journal?
  /// The size in bytes above which it is written anew with what still counts, at least, and now.
  private let longSize: Int
  private var nextRewriting: Int
  /// How many turns were appended since then. Going through them again takes long: each looks at all steps.
  private var turns = 0

  private static let mostTurns = 256

  /// - Parameter name: a new one.
  init(_ name: Identifier, in store: NoteStore, longSize: Int) {
    file = (try? store.createJournal("\(name)")) ?? nil
    self.longSize = longSize
    nextRewriting = longSize
  }

  /// By what an attachment can be resumed; nil if it can't.
  func session(of attachment: Int) -> String? { file.map { "\($0.name).\(attachment)" } }

  func append(_ entry: LiveEntry, of attachment: Int) {
    guard let file else { return giveUp() }
    var writer = ByteWriter()
    writer.entry(entry, of: attachment)
    if case .turn = entry { turns += 1 }
    do { try file.append(writer.bytes) } catch { giveUp() }
  }

  /// Whether it should be written anew.
  var isLong: Bool { file.map { $0.size > nextRewriting || turns > Self.mostTurns } ?? false }

  /// Writes it anew with these entries only.
  func rewrite(_ entries: [(attachment: Int, entry: LiveEntry)]) {
    var writer = ByteWriter()
    for (attachment, entry) in entries { writer.entry(entry, of: attachment) }
    nextRewriting = max(longSize, writer.bytes.count * 2)
    turns = 0
    do { file = try file?.replaced(by: writer.bytes) } catch { giveUp() }
  }

  var isGivenUp: Bool { file == nil }

  /// Removes it: nobody will come back. Or something could not be noted, and what is there would mislead.
  func giveUp() {
    misleading = file ?? misleading
    file = nil
    do { try misleading?.discard() } catch { return }
    misleading = nil
  }
}

/// What a journal tells of one attachment.
struct LiveSession {
  /// By which the client names it.
  private let name: String
  private let attachment: Int
  /// How many later processes have added to it.
  private var additions = 0
  var note: NoteID
  /// What the client showed after each push, and, under the first number, when it was opened.
  var states: [Int: LiveEntry.State]
  /// Its own changes.
  var changes: [(version: Int, change: ChangeID)] = []
  /// What it could undo and redo when it was opened.
  var undoing: LiveEntry.Undoing
  /// What clients of the note did since, in order; `isOwn` if it was this one.
  var steps: [(isOwn: Bool, step: Step)] = []

  enum Step {
    case change(ChangeID, isJoined: Bool)
    case turn(UndoList.Direction, ChangeID, copied: [[ElementRange]])
  }

  /// Finds the attachment that `session` names, with what later processes have added.
  init?(_ session: String, in store: NoteStore) {
    guard let dot = session.firstIndex(of: "."), let name = Identifier(session[..<dot]),
      let attachment = Int(session[session.index(after: dot)...]),
      session == "\(name).\(attachment)"
    else { return nil }
    // An addition has a longer name than what it adds to, and comes after it, in the order in which they were made.
    let files = store.journals { $0 == "\(name)" || $0.hasPrefix("\(session)-") }
    var notes: [Int: NoteID] = [:]
    var found: LiveSession?
    var others: [(attachment: Int, step: Step)] = []
    for file in files {
      let isWhole = Self.forEachEntry(in: file) { number, entry in
        let step: Step
        switch entry {
        case .open(let note, _, let rev, let state, let undoing):
          notes[number] = note
          if number == attachment {
            found = LiveSession(
              name: session, attachment: attachment, note: note, states: [rev: state],
              undoing: undoing)
            others = []
          }
          return
        case .push(let rev, let state):
          if number == attachment { found?.states[rev] = state }
          return
        case .change(let version, let isJoined, let change):
          if number == attachment { found?.changes.append((version, change)) }
          step = .change(change, isJoined: isJoined)
        case .turn(let direction, let change, let copied):
          step = .turn(direction, change, copied: copied)
        }
        others.append((number, step))
      }
      guard isWhole else { return nil }
    }
    guard var found else { return nil }
    found.additions = files.count - 1
    for (number, step) in others where notes[number] == found.note {
      found.steps.append((number == attachment, step))
    }
    self = found
  }

  private init(
    name: String, attachment: Int, note: NoteID, states: [Int: LiveEntry.State],
    undoing: LiveEntry.Undoing
  ) {
    self.name = name
    self.attachment = attachment
    self.note = note
    self.states = states
    self.undoing = undoing
  }

  /// Adds, in a later process, a change that it is about to write for the client.
  ///
  /// - Throws: what the disk says. Then the change must not be written: it would be taken for somebody else's.
  func add(
    _ change: ChangeID, version: Int, _ name: Identifier, in store: NoteStore
  ) throws(StoreError) {
    var writer = ByteWriter()
    writer.entry(.change(version: version, isJoined: false, change), of: attachment)
    let digits = String(additions, radix: 16)
    let order = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    guard let addition = try store.createJournal("\(self.name)-\(order)-\(name)") else { return }
    do { try addition.append(writer.bytes) } catch {
      // What it tells of is not going to happen.
      try? addition.discard()
      throw error
    }
  }

  /// Visits the entries up to the first that is not whole; returns whether all are.
  private static func forEachEntry(
    in bytes: [UInt8], _ body: (Int, LiveEntry) -> Void
  ) -> Bool {
    var rest = ByteReader(bytes)
    while !rest.isAtEnd {
      guard let length = try? rest.fixed(UInt32.self), let sum = try? rest.fixed(UInt32.self),
        let content = try? rest.raw(Int(length)), CRC32C.checksum(of: content) == sum
      else { return false }
      var reader = ByteReader(content)
      guard let (attachment, entry) = try? reader.entry(), reader.isAtEnd else { return false }
      body(attachment, entry)
    }
    return true
  }
}

// MARK: - Encoding

extension ByteWriter {
  fileprivate mutating func entry(_ entry: LiveEntry, of attachment: Int) {
    var body = ByteWriter()
    body.body(entry, of: attachment)
    fixed(UInt32(body.bytes.count))
    fixed(CRC32C.checksum(of: body.bytes[...]))
    raw(body.bytes)
  }

  private mutating func body(_ entry: LiveEntry, of attachment: Int) {
    switch entry {
    case .open(let note, let version, let rev, let state, let undoing):
      byte(1)
      varint(attachment)
      change(note.creation)
      varint(version)
      varint(rev)
      self.state(state)
      for steps in [undoing.list.steps(.undo), undoing.list.steps(.redo)] {
        varint(steps.count)
        for step in steps {
          ranges(step.inserted)
          ranges(step.removed)
        }
      }
      varint(undoing.copies.count)
      for copies in undoing.copies {
        let (originals, copies) = copies.pairs
        ranges(originals)
        ranges(copies)
      }
    case .push(let rev, let state):
      byte(2)
      varint(attachment)
      varint(rev)
      self.state(state)
    case .change(let version, let isJoined, let change):
      byte(isJoined ? 5 : 3)
      varint(attachment)
      varint(version)
      self.change(change)
    case .turn(let direction, let change, let copied):
      byte(4)
      varint(attachment)
      byte(direction.rawValue)
      self.change(change)
      varint(copied.count)
      for copied in copied { ranges(copied) }
    }
  }

  private mutating func change(_ change: ChangeID) {
    identifier(change.replica)
    varint(change.number)
  }

  private mutating func state(_ state: LiveEntry.State) {
    varint(state.heads.count)
    for head in state.heads { change(head) }
    byte(state.hidden == nil ? 0 : 1)
    if let hidden = state.hidden { ranges(hidden) }
  }

  private mutating func ranges(_ ranges: [ElementRange]) {
    varint(ranges.count)
    for range in ranges {
      identifier(range.author)
      varint(range.offset)
      varint(range.count)
    }
  }
}

extension ByteReader {
  fileprivate mutating func entry() throws(DecodingFailure) -> (Int, LiveEntry) {
    let kind = try byte()
    let attachment = try number()
    switch kind {
    case 1:
      let note = NoteID(creation: try change())
      let (version, rev) = (try number(), try number())
      let state = try state()
      let list = UndoList(done: try steps(), undone: try steps())
      let copies = try self.list { reader throws(DecodingFailure) in
        ElementCopies(of: [try reader.ranges()], as: try reader.ranges())
      }
      return (
        attachment,
        .open(
          note: note, version: version, rev: rev, state,
          LiveEntry.Undoing(list: list, copies: copies))
      )
    case 2: return (attachment, .push(rev: try number(), try state()))
    case 3, 5:
      return (attachment, .change(version: try number(), isJoined: kind == 5, try change()))
    case 4:
      guard let direction = UndoList.Direction(rawValue: try byte()) else {
        throw failure("no direction")
      }
      let change = try change()
      let copied = try list { reader throws(DecodingFailure) in try reader.ranges() }
      return (attachment, .turn(direction, change, copied: copied))
    default: throw failure("no entry")
    }
  }

  /// A number of the client's choice.
  private mutating func number() throws(DecodingFailure) -> Int {
    guard let number = Int(exactly: try varint()) else { throw failure("a number too large") }
    return number
  }

  private mutating func change() throws(DecodingFailure) -> ChangeID {
    ChangeID(replica: try identifier(), number: try varint())
  }

  private mutating func state() throws(DecodingFailure) -> LiveEntry.State {
    let heads = try list { reader throws(DecodingFailure) in try reader.change() }
    return LiveEntry.State(heads: heads, hidden: try byte() == 0 ? nil : try ranges())
  }

  private mutating func steps() throws(DecodingFailure) -> [UndoList.Step] {
    try list { reader throws(DecodingFailure) in
      UndoList.Step(inserted: try reader.ranges(), removed: try reader.ranges())
    }
  }

  private mutating func ranges() throws(DecodingFailure) -> [ElementRange] {
    try list { reader throws(DecodingFailure) in
      let author = try reader.identifier()
      let (offset, count) = (try reader.count(), try reader.count())
      return ElementRange(author: author, offset: offset, count: count)
    }
  }

  private mutating func list<Element>(
    _ element: (inout ByteReader) throws(DecodingFailure) -> Element
  ) throws(DecodingFailure) -> [Element] {
    // Grown as they come: a count promises nothing.
    let count = try count()
    var list: [Element] = []
    for _ in 0..<count { list.append(try element(&self)) }
    return list
  }
}
