extension ReplicatingArray {
  /// Insertions and removals in runs, in an order in which each can be made after those before it.
  ///
  /// Elements and authors are named as inside the value that made the changes: an author by its place in `authors`.
  public struct Changes: ReplicatingChanges, Sendable {
    /// Elements that one author inserted one after the other: by one change or, stepping, each by the next.
    struct Insertion: Equatable, Sendable {
      var author: AuthorIndex
      var offset: UInt32
      var count: UInt32
      var isStepping: Bool
      /// Of the first element; every other was inserted after the one before it.
      var left: LocalID
      var right: LocalID
      var number: UInt64
      var lamport: UInt64

      /// The number of the last element's change.
      var lastNumber: UInt64 { isStepping ? number + UInt64(count) - 1 : number }
    }

    struct Removal: Equatable, Sendable {
      var author: AuthorIndex
      /// The number of insertions that come before it.
      var place: UInt32
      var run: RemovalRun
    }

    /// The version without whose changes these can't be joined.
    public var since: Version
    /// The version of a value that has joined them.
    public internal(set) var version: Version
    var lamport: UInt64
    var authors: [ReplicaID]
    var insertions: [Insertion] = []
    var removals: [Removal] = []
    /// The elements of the insertions, one after the other.
    var content: [Element] = []

    /// True if all is in one insertion or removal, or nothing at all.
    var isSingleStep: Bool { insertions.count + removals.count <= 1 }
  }
}
