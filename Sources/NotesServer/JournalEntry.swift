internal import Notes
internal import ReplicatingTypes

// THE FORMAT OF A JOURNAL OF ATTACHMENTS
//
// A process notes what each of its clients shows and which changes each has made. The next process reads that when this one has
// died. The journal is a file in the state folder that only the user can read; it means nothing to another notebook or machine.
//
// It is a container (Container.swift in Notes): behind the first block (Journal.swift in NoteStore) each block is an entry:
//
//     entry   = 01 attachment note version rev state count*changes count*(changes changes)
//                                                                   open: the steps that can be undone, and those that can be
//                                                                   redone, each with the changes that have undone it; the last
//                                                                   one is next
//             | 02 attachment rev state                             a push: the text that the client shows once it has applied it
//             | 03 attachment version change                        the client's change is about to be written as this one
//             | 05 attachment version change                        the same, and it is one step with the client's last one
//             | 06 attachment change                                a change that the client does not show yet is about to be written as
//                                                                   this one, and is one step of its
//             | 07 attachment change                                the same, and it is one step with the last one
//             | 04 attachment direction change count                undo (0) or redo (1) of so many steps is about to be written as
//                                                                   this one
//     state   = count*change ranges?                                the notebook of these changes and all that they follow; a
//                                                                   byte 1 and the elements that existed then and are not
//                                                                   shown, or 0 if those are the removed ones
//     changes = count*(change count)                                runs of changes: the first, and how many
//     ranges  = count*(replica offset count)
//     note    = change                                              the one that created it
//     change  = replica number
//
// Numbers are varints, a replica has 16 bytes.
//
// WHY A KILL AT ANY POINT IS SAFE
//
// An opening is noted before it is answered, a push before it is sent, a change before it is written to the log. So everything that a
// client can have seen is noted; and a change that is noted and not in the notebook was never made. The client shows the state of
// the last push that it has applied, with those of its own changes since that are in the log. No two files have to be written at
// once.
//
// A kill in the middle of a write may leave only the beginning of an entry: Linux looks for a kill between two pages. What that entry
// notes has not happened, and nothing comes behind it, so it is left out. That the entry is cut, and its length not damaged, is what
// the length's own checksum tells.
//
// If an entry can't be written, the server goes on without the journal and removes it, or empties it: an incomplete journal would
// make the client's own changes seem to be another client's, and they would be inserted twice. If the disk refuses that too, the
// server tries it again with each entry. An incomplete journal stays only if the process dies before the disk takes anything.
//
// A journal of an earlier start of the machine is not used (`Journal`): parts of the log and of the journal may be lost in a power
// cut. A journal with a damaged entry is not used either.

/// An entry of the journal.
enum JournalEntry {
  /// The text that a client shows, before its next change.
  struct State {
    var heads: [ChangeID]
    /// The elements that it does not show; nil if those are the removed ones.
    var hidden: [ElementRange]?
  }

  case open(note: NoteID, version: Int, rev: Int, State, UndoList)
  case push(rev: Int, State)
  case change(version: Int, isJoined: Bool, ChangeID)
  case step(ChangeID, isJoined: Bool = false)
  case turn(UndoList.Direction, ChangeID, Int)
}

// MARK: - Encoding

extension ByteWriter {
  mutating func journalEntry(_ entry: JournalEntry, of attachment: Int) {
    let start = beginBlock()
    body(entry, of: attachment)
    endBlock(start)
  }

  private mutating func body(_ entry: JournalEntry, of attachment: Int) {
    switch entry {
    case .open(let note, let version, let rev, let state, let undoing):
      byte(1)
      varint(attachment)
      change(note.creation)
      varint(version)
      varint(rev)
      self.state(state)
      varint(undoing.done.count)
      for step in undoing.done { changes(step) }
      varint(undoing.undone.count)
      for step in undoing.undone {
        changes(step.changes)
        changes(step.withdrawals)
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
    case .step(let change, let isJoined):
      byte(isJoined ? 7 : 6)
      varint(attachment)
      self.change(change)
    case .turn(let direction, let change, let count):
      byte(4)
      varint(attachment)
      byte(direction.rawValue)
      self.change(change)
      varint(count)
    }
  }

  private mutating func changes(_ changes: ChangeRanges) {
    varint(changes.runs.count)
    for run in changes.runs {
      change(run.first)
      varint(run.numbers.count)
    }
  }

  private mutating func change(_ change: ChangeID) {
    identifier(change.replica)
    varint(change.number)
  }

  private mutating func state(_ state: JournalEntry.State) {
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
  mutating func journalEntry() throws(DecodingFailure) -> (Int, JournalEntry) {
    let kind = try byte()
    let attachment = try number()
    switch kind {
    case 1:
      let note = NoteID(creation: try change())
      let (version, rev) = (try number(), try number())
      let state = try state()
      let done = try list { reader throws(DecodingFailure) in try reader.changes() }
      let undone = try list { reader throws(DecodingFailure) in
        UndoList.Undone(changes: try reader.changes(), withdrawals: try reader.changes())
      }
      return (
        attachment,
        .open(
          note: note, version: version, rev: rev, state, UndoList(done: done, undone: undone))
      )
    case 2: return (attachment, .push(rev: try number(), try state()))
    case 3, 5:
      return (attachment, .change(version: try number(), isJoined: kind == 5, try change()))
    case 6, 7: return (attachment, .step(try change(), isJoined: kind == 7))
    case 4:
      guard let direction = UndoList.Direction(rawValue: try byte()) else {
        throw failure("no direction")
      }
      return (attachment, .turn(direction, try change(), try number()))
    default: throw failure("no entry")
    }
  }

  /// A number that the client has chosen.
  private mutating func number() throws(DecodingFailure) -> Int {
    guard let number = Int(exactly: try varint()) else { throw failure("a number too large") }
    return number
  }

  private mutating func change() throws(DecodingFailure) -> ChangeID {
    ChangeID(replica: try identifier(), number: try varint())
  }

  private mutating func state() throws(DecodingFailure) -> JournalEntry.State {
    let heads = try list { reader throws(DecodingFailure) in try reader.change() }
    return JournalEntry.State(heads: heads, hidden: try byte() == 0 ? nil : try ranges())
  }

  private mutating func changes() throws(DecodingFailure) -> ChangeRanges {
    ChangeRanges(
      try list { reader throws(DecodingFailure) in
        let first = try reader.change()
        let (end, overflow) = first.number.addingReportingOverflow(UInt64(try reader.number()))
        guard !overflow, first.number > 0, end > first.number else {
          throw reader.failure("a run of no changes")
        }
        return ChangeRanges.Run(first.replica, first.number...end - 1)
      })
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
    // No room is reserved for `count`: a damaged one may be huge.
    let count = try count()
    var list: [Element] = []
    for _ in 0..<count { list.append(try element(&self)) }
    return list
  }
}
