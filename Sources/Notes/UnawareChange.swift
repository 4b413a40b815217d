internal import ReplicatingTypes

/// A change of a text whose author was not aware of all that is here.
struct UnawareChange: Sendable {
  var change: ChangeID
  var note: NoteID
  /// The elements that it inserted and removed.
  var touched: [ElementRange]
  /// What its author had seen, itself included.
  var known: Version
}
