extension ReplicatingArray: Replicable {
  /// Insertions in logical time, and removals, each with its author and number.
  public struct Changes: ReplicatingChanges, Sendable {
    struct Insertion: Sendable {
      var author: ReplicaID
      var offset: Int
      var number: UInt64
      var lamport: UInt64
      var isStepping: Bool
      var left: ElementID?
      var right: ElementID?
      var elements: [Element]
    }

    struct Removal: Sendable {
      var author: ReplicaID
      var number: UInt64
      var order: RemovalRun.Order
      var range: ElementRange
    }

    public var since: Version
    var version: Version
    var insertions: [Insertion]
    var removals: [Removal]
    var lamport: UInt64
  }

  public var version: Version {
    var version = Version()
    for author in authors { version[author.id] = author.lastNumber }
    if open.position >= 0 || open.removedFrom >= 0 {
      version.insert(ChangeID(replica: open.replica, number: open.nextNumber - 1))
    }
    return version
  }

  /// O(runs and elements of the answer + authors × log runs).
  public func changes(since version: Version) -> Changes {
    let value = settled
    let own = value.version
    var changes = Changes(
      since: version.intersection(own), version: own, insertions: [], removals: [],
      lamport: lamport)
    for author in value.authors {
      var first = author.count(upTo: version[author.id])
      while first < author.count {
        let insertion = value.insertion(of: author, from: first)
        first += UInt32(insertion.elements.count)
        changes.insertions.append(insertion)
      }
      value.collectRemovals(of: author, since: version[author.id], &changes.removals)
    }
    changes.insertions.sort {
      LamportTimestamp(count: $0.lamport, replica: $0.author)
        < LamportTimestamp(count: $1.lamport, replica: $1.author)
    }
    return changes
  }

  /// The run that begins at an offset: up to where origin or stamp change.
  private func insertion(of author: Author<Element>, from first: UInt32) -> Changes.Insertion {
    let origin = author.origins.index(holding: first)
    let run = author.stamps.index(holding: first)
    let skew = author.skews.index(holding: first)
    var end = author.count
    if origin + 1 < author.origins.count { end = min(end, author.origins[origin + 1].first) }
    if run + 1 < author.stamps.count { end = min(end, author.stamps[run + 1].first) }
    if skew + 1 < author.skews.count { end = min(end, author.skews[skew + 1].first) }
    let isHead = author.origins[origin].first == first
    let left =
      isHead
      ? id(of: author.origins[origin].left)
      : ElementID(author: author.id, offset: Int(first) - 1)
    return Changes.Insertion(
      author: author.id, offset: Int(first), number: author.number(of: first),
      lamport: author.lamport(of: first), isStepping: author.stamps[run].isStepping,
      left: left, right: id(of: author.origins[origin].right),
      elements: Array(author.content[Int(first)..<Int(end)]))
  }

  private func collectRemovals(
    of author: Author<Element>, since number: UInt64, _ removals: inout [Changes.Removal]
  ) {
    for removal in author.removals where removal.lastNumber > number {
      let seen = removal.range(upTo: number).count
      let offset = removal.order == .backward ? removal.offset : removal.offset + seen
      removals.append(
        Changes.Removal(
          author: author.id, number: UInt64(removal.number) + UInt64(seen), order: removal.order,
          range: ElementRange(
            author: authors[Int(removal.target)].id, offset: Int(offset),
            count: Int(removal.count - seen))))
    }
  }

  public func validate(_ changes: Changes) throws(InvalidChange) {}

  public mutating func join(_ changes: Changes) {
    settle()
    let own = version
    for insertion in changes.insertions {
      let author = index(of: insertion.author)
      let known = authors[Int(author)].content.count - insertion.offset
      guard known < insertion.elements.count else { continue }
      let first = max(known, 0)
      let left =
        first == 0
        ? insertion.left : ElementID(author: insertion.author, offset: insertion.offset + first - 1)
      _ = integrate(
        insertion.elements.span.extracting(first...), by: author,
        number: insertion.number + (insertion.isStepping ? UInt64(first) : 0),
        lamport: insertion.lamport + UInt64(first), isStepping: insertion.isStepping,
        left: local(left), right: local(insertion.right))
    }
    for removal in changes.removals { apply(removal, own[removal.author]) }
    for replica in changes.version.replicas {
      let author = Int(index(of: replica))
      authors[author].lastNumber = max(authors[author].lastNumber, changes.version[replica])
    }
    lamport = max(lamport, changes.lamport)
  }

  /// Applies what of a removal comes after change `known` of its author.
  private mutating func apply(_ removal: Changes.Removal, _ known: UInt64) {
    let author = index(of: removal.author)
    if removal.order == .atOnce {
      if removal.number > known {
        erase(removal.range, by: author, number: removal.number) { _ in }
      }
      return
    }
    for step in 0..<removal.range.count where removal.number + UInt64(step) > known {
      let offset =
        removal.order == .forward
        ? removal.range.offset + step : removal.range.end - 1 - step
      let range = ElementRange(author: removal.range.author, offset: offset, count: 1)
      erase(range, by: author, number: removal.number + UInt64(step)) { _ in }
    }
  }

  /// Equal histories: the same elements in the same order by the same authors, inserted and removed by the same changes.
  public static func == (a: Self, b: Self) -> Bool {
    let (a, b) = (a.settled, b.settled)
    guard a.version == b.version, a.count == b.count, a.lamport == b.lamport,
      a.order == b.order
    else { return false }
    for x in a.authors {
      guard let index = b.authorIndex[x.id] else { continue }
      let y = b.authors[Int(index)]
      guard x.content == y.content, x.stamps == y.stamps, x.skews == y.skews,
        x.origins.count == y.origins.count,
        a.removals(of: x) == b.removals(of: y)
      else { return false }
      for (p, q) in zip(x.origins, y.origins) {
        guard p.first == q.first, a.id(of: p.left) == b.id(of: q.left),
          a.id(of: p.right) == b.id(of: q.right)
        else { return false }
      }
    }
    return true
  }

  /// All elements in order, in runs as long as they can be.
  private var order: [OrderedRun] {
    var runs: [OrderedRun] = []
    tree.forEachPiece { piece in
      let range = range(piece)
      if let last = runs.last, last.isRemoved == piece.isRemoved,
        last.range.author == range.author, last.range.end == range.offset
      {
        runs[runs.count - 1].range.count += range.count
      } else {
        runs.append(OrderedRun(range: range, isRemoved: piece.isRemoved))
      }
    }
    return runs
  }

  /// What an author removed, element by element: how it is grouped into runs may differ.
  private func removals(of author: Author<Element>) -> [RemovedElement] {
    var result: [RemovedElement] = []
    for removal in author.removals {
      for step in 0..<removal.count {
        let isBackward = removal.order == .backward
        let offset = isBackward ? removal.offset + removal.count - 1 - step : removal.offset + step
        result.append(
          RemovedElement(
            number: UInt64(removal.number) + (removal.order == .atOnce ? 0 : UInt64(step)),
            element: id(of: LocalID(removal.target, offset))))
      }
    }
    return result
  }
}

private struct OrderedRun: Equatable {
  var range: ElementRange
  var isRemoved: Bool
}

private struct RemovedElement: Equatable {
  var number: UInt64
  var element: ElementID?
}
