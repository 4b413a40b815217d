public import ReplicatingTypes

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
