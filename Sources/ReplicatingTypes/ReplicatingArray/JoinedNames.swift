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

/// The latest logical time among what each author removed of others: what it did afterwards is later than that.
struct LatestRemoved {
  /// Of each author that was asked for, how many of its runs were looked at, and what came of it.
  private var known: [AuthorIndex: (runs: Int, time: UInt64)] = [:]

  /// O(the author's removals since it was last asked for).
  mutating func time<Element>(
    of author: AuthorIndex, in value: ReplicatingArray<Element>
  ) -> UInt64 {
    let removals = value.authors[Int(author)].removals
    var (runs, time) = known[author] ?? (0, 0)
    // The last run may have grown.
    for run in removals[max(0, runs - 1)...] where run.target != author {
      time = max(time, value.authors[Int(run.target)].lamport(of: run.offset + run.count - 1))
    }
    runs = removals.count
    known[author] = (runs, time)
    return time
  }
}
