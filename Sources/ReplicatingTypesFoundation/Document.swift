public import Observation
public import ReplicatingTypes

/// A replicating value for views: the value comes out, edits go in, and changes go out as they come.
///
///     let document = Document(ReplicatingText())
///     document.onEdit = { changes in send(changes.encoded()) }
///     document.edit { $0.become("Milk", by: &$1) }
///     document.value.string  // Milk
///
/// A view that shows `value` is shown anew when it changes. Two documents have two authors, unless they are given one: of one value there may be
/// several in a process. A document belongs to one thread or actor.
@Observable public final class Document<Value: Replicable> {
  /// The value, as it is now.
  public private(set) var value: Value
  /// The author of the edits.
  @ObservationIgnored public let author: Author
  /// Called after each edit that changed something, with what it changed: for a file, or for other replicas, of which each takes them by `apply`.
  @ObservationIgnored public var onEdit: ((Value.Changes) -> Void)?

  /// A document of a value.
  public init(_ value: Value, by author: Author = Author()) {
    self.value = value
    self.author = author
  }

  /// Lets `body` edit the value, by the replica that it is given. What it did before it throws stays, and goes out, too. The body may read the document,
  /// which has the value before the edit until it ends, and must not edit it once more. So an edit copies what it touches: O(size of that).
  @discardableResult
  public func edit<Result, Failure: Error>(
    _ body: (inout Value, inout Replica) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let before = value.version
    var edited = value
    defer {
      if edited.version != before {
        value = edited
        onEdit?(edited.changes(since: before))
      }
    }
    return try author.edit { (replica) throws(Failure) in try body(&edited, &replica) }
  }

  /// Joins changes of others, wherever they come from. Throws, and leaves the value as it was, when they follow something that is not here, or when no
  /// honest author can have made them.
  public func apply(_ changes: Value.Changes) throws(RefusedChanges) { try value.apply(changes) }
}

/// The author of edits: a replica that views and observable objects can hold. A `Replica` can't be copied, so no structure that is copied may have one.
///
///     let author = Author()
///     var title = ReplicatingRegister("")
///     author.edit { title.assign("Shopping", at: 1_767_225_600_000, by: &$0) }
///
/// Two authors are two replicas, in one process, too. An author belongs to one thread or actor.
public final class Author {
  private var replica: Replica

  /// An author with a new identity of 128 random bits.
  public convenience init() {
    var generator = SystemRandomNumberGenerator()
    self.init(Replica(id: .random(using: &generator)))
  }

  /// An author who goes on as a replica that was resumed, or that has a given identity.
  public init(_ replica: consuming Replica) { self.replica = replica }

  /// The identity under which changes are made.
  public var id: ReplicaID { replica.id }

  /// The replica, put down: `Replica(resuming:in:)` says when it may be taken up again. No edits are made by this author afterwards.
  public var saved: SavedReplica { replica.saved }

  /// Lets `body` make edits. It must not use the author again.
  public func edit<Result, Failure: Error>(
    _ body: (inout Replica) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(&replica)
  }
}
