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
    enum Step {
      /// An insertion, and where its elements are in `content`.
      case insertion(Insertion, Range<Int>)
      case removal(Removal)
    }

    /// A place among the steps: the numbers of insertions, of their elements, and of removals before it.
    struct StepIndex {
      var insertions = 0
      var elements = 0
      var removals = 0
    }

    /// The step at a place, which is moved behind it; `nil` at the end. Each step comes after those that it needs.
    @inline(__always)
    func step(at index: inout StepIndex) -> Step? {
      if index.removals < removals.count,
        index.insertions == insertions.count
          || removals[index.removals].place <= index.insertions
      {
        defer { index.removals &+= 1 }
        return .removal(removals[index.removals])
      }
      guard index.insertions < insertions.count else { return nil }
      let insertion = insertions[index.insertions]
      let start = index.elements
      index.insertions &+= 1
      index.elements &+= Int(insertion.count)
      return .insertion(insertion, start..<index.elements)
    }
  }
}
