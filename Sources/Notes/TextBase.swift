public import ReplicatingTypes

/// The state of a note's text that the edits of a change were made on, where that is less than all that is in the change's past.
///
/// A process knows more than its client shows: the edit of the client may cross those of others, and a client may send a text that it has read
/// long ago. Without the base such an edit would count as made by somebody who had seen all of these.
///
/// The author of the edits had *seen* the changes at `heads` with all that they follow; `previous`, and what its author had seen; and nothing
/// else of what concerns the text.
public struct TextBase: Equatable, Sendable {
  /// The changes that no other one of the state follows: sorted, of each replica at most one.
  public var heads: [ChangeID]
  /// The number of an earlier change of the same author, which the client had made itself; 0 for none.
  ///
  /// A client makes several changes before it learns of those of others. The later ones are made on the state of the earlier ones, and
  /// these follow, as changes of the process, what the client has not seen.
  public var previous: UInt64

  /// A base of these changes, in any order, and of an earlier change of the author with its base.
  public init(heads: [ChangeID], previous: UInt64 = 0) {
    var version = Version()
    for head in heads { version.insert(head) }
    self.heads = version.replicas.map { ChangeID(replica: $0, number: version[$0]) }.sorted()
    self.previous = previous
  }

  /// So many changes may be made on the base of one another at most.
  public static let longestChain = 1024
}

/// The changes that the author of a change had seen when editing a text, by its base; the change included.
struct SeenChanges: Sendable {
  /// The heads, and all that they follow.
  var version: Version
  /// Changes of the author itself that are not in `version`.
  var own: Set<UInt64>
  var author: ReplicaID

  func contains(_ change: ChangeID) -> Bool {
    version.contains(change) || change.replica == author && own.contains(change.number)
  }
}
