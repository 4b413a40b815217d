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
// Nothing is made on such a notebook: a change planned on it would follow changes that may be lost for good. It is thrown away as soon as
// anything comes.

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
}
