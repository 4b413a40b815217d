internal import ReplicatingTypes

// What can be told of changes that follow missing ones.
//
// A notebook holds closed sets of changes: each with all that it follows. Its version says so, peers exchange no others, and what a change
// does not say follows from it: its logical time, and what its author had seen. So a change that follows a missing one is not merged, and
// stays pending. But most of what such a change does needs nothing of the missing one. A note's properties are written by name, an
// insertion names the elements beside it, a removal the elements that it removes. Only what names elements, or a note, of a missing change
// can't be done.
//
// `supposing` makes a notebook for readers, in which the missing changes count as known and as having done nothing, and what follows
// them is merged as far as it names nothing of them. This is sound for reading because it is causal delivery note by note:
//
// - A missing change could only have changed a note in ways that a later one may name; what names it is left out, the rest of that change's
//   edits of that text with it, and all later edits of that text by its author, whose elements are counted from the earlier ones. So each
//   element that is shown stands between the elements that its author put it between.
// - What the author of such a change had seen is known from below only: everything that is known to be followed. Origins may be any known
//   element, and between them only what is known to have been seen is refused. No change that its author could make is refused by that.
// - A missing change counts as later than all that was known without it, so what follows it wins over what was written before. Between what
//   follows it and what does not the order is a guess, as is what the missing change itself has written.
//
// Nothing is made on such a notebook: a change planned on it would follow what nobody may have any more. It is thrown away as soon as
// anything comes.

/// The changes of a notebook for readers that count as known without being there, and what was left out of those that follow them.
struct Supposed: Sendable {
  /// The texts of which an author's later edits are left out.
  var hidden: Set<Edited> = []
  /// The number of changes of which something was left out.
  var incomplete = 0
  /// The last changes of replicas that are here and may still be merged. What names something of them waits for it: the change through which
  /// its author had seen that may be missing.
  var coming = Version()

  struct Edited: Hashable, Sendable {
    let author: ReplicaID
    let note: NoteID
  }
}

extension NoteBook {
  /// The number of changes that follow missing ones, of which something was left out.
  public var incompleteChanges: Int { supposed?.incomplete ?? 0 }

  /// This notebook with what can be told of pending changes without the missing ones that they follow: for reading only.
  ///
  /// - Parameter pending: the changes that wait; nothing of them is ready.
  /// - Complexity: that of merging the pending changes, and O(notes) for the order.
  public func supposing(_ pending: PendingChanges) throws(ArchiveFailure) -> NoteBook {
    var book = self
    try book.openOrder()
    var pending = pending
    book.supposed = Supposed(coming: pending.lasts)
    pending.retry()
    var left = Self.mostSupposed
    while true {
      _ = book.drain(&pending)
      let missing = pending.missing
      if missing.isEmpty {
        // Changes that name one another: forgeries.
        if pending.isEmpty || book.supposed!.coming.isEmpty { break }
        book.supposed!.coming = Version()
      }
      for (change, waiter) in missing {
        let known = book.version[change.replica]
        // What is here of a replica behind what is missing of it can't be decoded.
        guard change.replica != waiter, change.number <= known || change.number - known <= left
        else {
          book.supposed!.incomplete += pending.drop(waiter)
          book.supposed!.coming[waiter] = 0
          continue
        }
        if change.number > known { left -= change.number - known }
        try book.suppose(change)
      }
      pending.retry()
    }
    book.supposed!.incomplete += pending.changeCount
    return book
  }

  /// The most changes that are supposed: a forgery may name any number.
  private static var mostSupposed: UInt64 { 1 << 20 }

  /// Counts a missing change, and those of its replica before it, as known and as having done nothing.
  private mutating func suppose(_ change: ChangeID) throws(ArchiveFailure) {
    try openHistory(of: change.replica)
    let (mentions, time) = histories.end(of: change.replica)
    // Read as a change, it takes no logical time and does nothing.
    let end = lamport + 1
    while version[change.replica] < change.number {
      let id = next(by: change.replica)
      let nothing = Change(id: id, time: time, predecessors: [], operations: [])
      admit(nothing, encoded: [], mentions: mentions, upTo: end)
    }
  }

  /// A change that is still to come and that another one, the next to be merged, names something of; nil if there is none. The notes that are
  /// here are open.
  func comingChange(namedBy change: Change) -> ChangeID? {
    let coming = supposed!.coming
    if coming.isEmpty { return nil }
    func isComing(_ other: ChangeID) -> Bool {
      other.replica != change.id.replica && !version.contains(other) && coming.contains(other)
    }
    /// The next change of the author of an element that is not here.
    func next(_ element: ElementID?, among count: (ReplicaID) -> Int) -> ChangeID? {
      guard let element, element.author != change.id.replica,
        coming[element.author] > version[element.author], element.offset >= count(element.author)
      else { return nil }
      return self.next(by: element.author)
    }
    for operation in change.operations {
      var named: [ChangeID] = []
      switch operation {
      case .create: break
      case .place(let placement):
        if placement.element != change.id { named.append(placement.element) }
        for element in [placement.after, placement.before] {
          if let next = next(element, among: { order.slotCount(of: $0) }) { return next }
        }
      case .purge(let note), .redacted(let note, _, _): named.append(note.creation)
      case .edit(let note, let edit):
        named.append(note.creation)
        switch edit {
        case .tags(.remove(_, let observed)): named += observed
        case .delete(let covered): named += covered.changes
        case .withdraw(let changes): named += changes.runs.map(\.last)
        case .text(let operation) where shelf.contains(note) && !isPurged(note):
          let text = shelf[existing: note].text
          for element in operation.named {
            if let next = next(element, among: { text.count(by: $0) }) { return next }
          }
        default: break
        }
      }
      if let first = named.first(where: isComing) { return first }
    }
    return nil
  }

  /// Performs what can be performed of the operations of a change that follows supposed ones, and leaves only that in it. Its parts are open,
  /// as far as they are here.
  ///
  /// - Returns: what its author had seen with it, nil for all that is known, and the last tick of logical time that the change takes.
  mutating func performSupposing(
    _ change: inout Change, _ first: Stamp, _ effects: inout Effects
  ) throws -> (past: Version?, end: UInt64) {
    var performed: [Change.Operation] = []
    defer { change.operations = performed }
    let past = try past(of: change)
    var stamp = first
    let moment = Moment(logical: first.timestamp, clock: change.time)
    /// The texts that the change edits, as they were before.
    var before: [NoteID: ReplicatingText] = [:]
    var isIncomplete = false
    for operation in change.operations {
      defer { stamp.lamport += operation.ticks }
      switch operation {
      case .create: break
      case .place(let placement):
        guard order.hasRoom(for: change.id.replica) else {
          isIncomplete = true
          continue
        }
        let placement = supposed(placement, by: change.id, past)
        if shelf.contains(NoteID(creation: placement.element)) {
          perform(.place(placement), stamp, at: moment, &effects)
        } else {
          // Its slot counts among those of its author.
          order.leaveOut(placement.element, true)
          order.apply(placement, stamp)
          isIncomplete = true
        }
        continue
      case .edit(_, .base): continue
      case .edit(let id, let edit):
        let edited = Supposed.Edited(author: change.id.replica, note: id)
        guard shelf.contains(id), !edit.isOfText || !supposed!.hidden.contains(edited) else {
          isIncomplete = true
          continue
        }
        if isPurged(id) { continue }
        if edit.isOfText, before[id] == nil { before[id] = shelf[existing: id].text }
        guard isValid(edit, of: change.id, in: id, past) else {
          isIncomplete = true
          if edit.isOfText {
            // The whole edit of this text, or nothing of it: half of a replacement would take words away.
            supposed!.hidden.insert(edited)
            shelf[existing: id].text = before[id]!
          }
          continue
        }
      case .purge(let id), .redacted(let id, _, _):
        guard shelf.contains(id) else {
          isIncomplete = true
          continue
        }
      }
      perform(operation, stamp, at: moment, &effects)
      performed.append(operation)
    }
    if isIncomplete { supposed!.incomplete += 1 }
    return (past.isComplete ? nil : past.version, max(first.lamport, stamp.lamport - 1))
  }

  /// True if an edit of a note that is here can be made without what is missing.
  private mutating func isValid(
    _ edit: Note.Operation, of change: ChangeID, in note: NoteID, _ past: Past
  ) -> Bool {
    guard case .text(let operation) = edit else {
      return (try? shelf[existing: note].validate(edit, of: change, past.awareness) { _ in true })
        != nil
    }
    // The first questions are about what the operation names, and its author knew that.
    var named = operation.named.count
    var known: Set<ChangeID> = []
    return
      (try? shelf[existing: note].validate(edit, of: change, past.awareness) { other in
        if named > 0 {
          named -= 1
          known.insert(other)
          return true
        }
        return known.contains(other) || past.contains(other)
      }) != nil
  }

  /// A placement, or one in front of all others where the places beside it are missing: each author's places are counted, and no note is
  /// without one.
  private mutating func supposed(
    _ placement: Placement, by change: ChangeID, _ past: Past
  ) -> Placement {
    var named = (placement.after == nil ? 0 : 1) + (placement.before == nil ? 0 : 1)
    var known: Set<ChangeID> = []
    let isValid =
      (try? order.validate(placement, by: change.replica, past.awareness) { other in
        if named > 0 {
          named -= 1
          known.insert(other)
          return true
        }
        return known.contains(other) || past.contains(other)
      }) != nil
    return isValid ? placement : order.placement(of: placement.element, at: 0)
  }
}

extension ReplicatingText.Operation {
  /// The elements that it names; of a range the last.
  fileprivate var named: [ElementID] {
    switch self {
    case .insert(_, let after, let before): [after, before].compactMap { $0 }
    case .remove(let range): [ElementID(author: range.author, offset: range.end - 1)]
    }
  }
}
