extension ReplicatingArray {
  /// The indices of the changes' authors here, and the last change known before of each; looked up when first needed.
  struct Names {
    private var indices: [AuthorIndex]
    private(set) var known: [UInt64]
    var tombstones = KnownTombstones()
    var latestRemoved = LatestRemoved()

    init(_ count: Int) {
      indices = Array(repeating: .max, count: count)
      known = Array(repeating: 0, count: count)
    }

    @inline(__always)
    mutating func index(
      _ author: AuthorIndex, _ authors: [ReplicaID], _ value: inout ReplicatingArray
    ) -> AuthorIndex {
      let index = indices[Int(author)]
      return index != .max ? index : find(author, authors, &value)
    }

    @inline(never)
    private mutating func find(
      _ author: AuthorIndex, _ authors: [ReplicaID], _ value: inout ReplicatingArray
    ) -> AuthorIndex {
      let index = value.index(of: authors[Int(author)])
      indices[Int(author)] = index
      known[Int(author)] = value.authors[Int(index)].lastNumber
      return index
    }

    @inline(__always)
    mutating func element(
      _ element: LocalID, _ authors: [ReplicaID], _ value: inout ReplicatingArray
    ) -> LocalID {
      if element.isNone { return element }
      return LocalID(index(element.author, authors, &value), element.offset)
    }
  }
}
