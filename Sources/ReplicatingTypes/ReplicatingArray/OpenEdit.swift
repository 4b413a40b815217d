/// Typing, or deleting, that goes on in one place and is not yet in the tree.
///
/// Most edits continue the one before. Such an edit only adds to a count here; `settle` enters them all at once, before
/// anything else is done with the sequence.
struct OpenEdit<Element: Sendable>: Sendable {
  /// Where typing would go on, and where it would have to stop; −1 for nowhere. The tree's cursor is on the piece that ends
  /// there, and that piece is the author's latest.
  var position = -1
  var limit = -1
  /// While typing may go on: everything that the author inserted, taken out of `authors`, so that a keystroke has one array
  /// to touch. What begins at `first` is not in the tree.
  var content: [Element] = []
  var first = 0
  /// Elements from here on are removed; −1 for none.
  var removedFrom = -1
  var removedCount = 0
  var order = RemovalRun.Order.atOnce
  /// The author, and the number that a change must have to continue it.
  var author: AuthorIndex = 0
  var replica = ReplicaID(high: 0, low: 0)
  var nextNumber: UInt64 = 0

  var isEmpty: Bool { position < 0 && removedFrom < 0 }
  var typedCount: Int { content.count &- first }

  mutating func begin(_ author: AuthorIndex, after change: ChangeID) {
    self.author = author
    replica = change.replica
    nextNumber = change.number &+ 1
  }
}
