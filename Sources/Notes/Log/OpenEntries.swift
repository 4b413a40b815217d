internal import ReplicatingTypes

/// The entries of history that a session is writing, and where new ones begin.
///
/// A reader of the history can't find all of them out: the author decides, and records it with the change (`Change.entryStart`). An entry of a
/// note begins
///
/// - with the first change after a save, the end of an attachment, or the end of the process that had the session before;
/// - with a change that removes much: 200 bytes, or half of the text where that is 20 bytes or more;
/// - with the first of several changes that remove, and insert nothing, if together they remove much;
/// - with the first of several withdrawals (undo, redo);
/// - with a change five seconds or more after the last one, if others have written in the note in between.
///
/// So the state before each of these is the end of an entry.
public struct OpenEntries: Sendable {
  /// The last changes of a note by the session.
  fileprivate struct Entry {
    /// The last change, and its time.
    var last: UInt64
    var time: Int64
    /// True if the next change begins an entry.
    var isOver = false
    /// True if the last change of the text was a withdrawal.
    var isWithdrawing = false
    var removal: Removal?
  }

  /// Changes one behind the other that remove, and insert nothing.
  fileprivate struct Removal {
    let first: UInt64
    /// The length of the text before them.
    let length: Int
    var removed = 0
    /// True if an entry begins with the first.
    var isStart: Bool
  }

  fileprivate private(set) var entries: [NoteID: Entry] = [:]
  private var session: ReplicaID?

  /// The most notes that are remembered. Of one that was forgotten the next change begins an entry.
  private static let mostNotes = 1024
  /// The pause in milliseconds after which an entry begins if others have written.
  fileprivate static let turn: Int64 = 5000
  /// The bytes of a large removal; fewer where the text is short.
  private static let large = 200
  private static let smallestLarge = 20

  /// Creates the entries of a session that has written nothing in this process.
  public init() {}

  /// The next change of a note begins an entry.
  public mutating func end(_ note: NoteID) { entries[note]?.isOver = true }

  /// The number of bytes whose removal from a text is a large one.
  static func largeRemoval(from length: Int) -> Int {
    min(large, max(smallestLarge, (length + 1) / 2))
  }
}

/// The part of a change in a note, as far as it matters for entries.
private struct NoteEdit {
  let note: NoteID
  var inserted = 0
  var removed = 0
  var isWithdrawal = false
}

extension NoteBook {
  /// The number of the change with which an entry begins, if a planned change has to say so: its own or an earlier one. Its parts are open.
  ///
  /// O(operations). After a pause of seconds in a note that others write in, too, O(replicas that wrote together).
  mutating func entryStart(
    of change: Change, in entries: inout OpenEntries
  ) throws(ArchiveFailure) -> UInt64? {
    let (first, others) = change.toldEdits
    guard let first else { return nil }
    entries.begin(change.id.replica)
    var start = try entryStart(of: change, first, in: &entries)
    for edit in others {
      guard let next = try entryStart(of: change, edit, in: &entries) else { continue }
      start = max(start ?? 0, next)
    }
    return start
  }

  private func entryStart(
    of change: Change, _ edit: NoteEdit, in entries: inout OpenEntries
  ) throws(ArchiveFailure) -> UInt64? {
    let (number, session) = (change.id.number, change.id.replica)
    if edit.note.creation == change.id {
      entries.note(edit, change, of: 0, isStart: true)
      return nil
    }
    guard noteCache.contains(edit.note) else { return nil }
    var length = 0
    if edit.removed > 0 { length = noteCache[existing: edit.note].text.count }
    guard let last = entries.entries[edit.note] else {
      let isKnown = number > 1 && noteCache[existing: edit.note].version[session] > 0
      entries.note(edit, change, of: length, isStart: true)
      return isKnown ? number : nil
    }
    let isNatural = last.isFollowed(by: change)
    var isStart = last.isOver || edit.isWithdrawal && !last.isWithdrawing
    isStart = isStart || edit.removed > 0 && edit.removed >= OpenEntries.largeRemoval(from: length)
    if !isStart, !isNatural, last.isTurn(before: change) {
      isStart = try hasOthersChanges(
        in: edit.note, unseenBy: ChangeID(replica: session, number: last.last))
    }
    let first = entries.note(edit, change, of: length, isStart: isStart || isNatural)
    return isStart ? number : first
  }

  /// True if others wrote in a note what the author of a change had not seen with it.
  private func hasOthersChanges(
    in note: NoteID, unseenBy change: ChangeID
  ) throws(ArchiveFailure) -> Bool {
    guard let known = try version(of: [change]) else { return true }
    let content = noteCache[existing: note].content
    return content.replicas.contains { $0 != change.replica && content[$0] > known[$0] }
  }
}

extension OpenEntries.Entry {
  /// True if an entry ends behind its last change whatever is recorded.
  fileprivate func isFollowed(by change: Change) -> Bool {
    abs(change.time - time) >= LogEntry.pause
      || LogEntry.isSittingEnd(last, at: time, before: change.time)
      || LogEntry.end(of: last, upTo: .max) < change.id.number
  }

  fileprivate func isTurn(before change: Change) -> Bool {
    abs(change.time - time) >= OpenEntries.turn
  }
}

extension OpenEntries {
  /// Forgets what another session than this one did.
  fileprivate mutating func begin(_ session: ReplicaID) {
    if self.session != session { (self.session, entries) = (session, [:]) }
  }

  /// Notes a change; returns the number of an earlier one with which an entry begins because of it.
  ///
  /// - Parameter isStart: whether an entry begins with the change itself.
  @discardableResult
  fileprivate mutating func note(
    _ edit: NoteEdit, _ change: Change, of length: Int, isStart: Bool
  ) -> UInt64? {
    let number = change.id.number
    if entries[edit.note] == nil, entries.count >= Self.mostNotes { entries = [:] }
    return entries[edit.note, default: Entry(last: number, time: change.time)].note(
      edit, number, at: change.time, of: length, isStart: isStart)
  }
}

extension OpenEntries.Entry {
  fileprivate mutating func note(
    _ edit: NoteEdit, _ number: UInt64, at time: Int64, of length: Int, isStart: Bool
  ) -> UInt64? {
    (last, self.time, isOver) = (number, time, false)
    if isStart { removal = nil }
    if edit.inserted > 0 || edit.isWithdrawal {
      (removal, isWithdrawing) = (nil, edit.isWithdrawal)
      return nil
    }
    guard edit.removed > 0 else { return nil }
    isWithdrawing = false
    var removal =
      removal ?? OpenEntries.Removal(first: number, length: length, isStart: isStart)
    removal.removed += edit.removed
    let isLarge = removal.removed >= OpenEntries.largeRemoval(from: removal.length)
    let isNew = isLarge && !removal.isStart
    if isNew { removal.isStart = true }
    self.removal = removal
    return isNew ? removal.first : nil
  }
}

extension Change {
  /// The parts of the change in each note that its entries tell of, but for new places. As a rule that is one note.
  fileprivate var toldEdits: (first: NoteEdit?, others: [NoteEdit]) {
    var first: NoteEdit?
    var others: [NoteEdit] = []
    var places: [NoteID: Int] = [:]
    for operation in operations {
      let note: NoteID
      switch operation {
      case .create: note = NoteID(creation: id)
      case .edit(_, .base), .edit(_, .property), .edit(_, .created), .edit(_, .modified): continue
      case .edit(let edited, _): note = edited
      case .place, .purge, .redacted: continue
      }
      if first == nil { first = NoteEdit(note: note) }
      if first!.note == note {
        first!.add(operation)
        continue
      }
      let place = places[note] ?? others.count
      if place == others.count {
        others.append(NoteEdit(note: note))
        places[note] = place
      }
      others[place].add(operation)
    }
    return (first, others)
  }
}

extension NoteEdit {
  fileprivate mutating func add(_ operation: Change.Operation) {
    guard case .edit(_, let edit) = operation else { return }
    switch edit {
    case .text(.insert(let bytes, _, _, _)): inserted += bytes.count
    case .text(.remove(let range)): removed += range.count
    case .withdraw: isWithdrawal = true
    default: break
    }
  }
}
