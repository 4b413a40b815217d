extension ReplicatingArray: Replicable {
  /// Insertions in logical time, and removals, each with its author and number.
  public struct Changes: Sendable {
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
      var range: ElementRange
    }

    var since: Version
    var version: Version
    var insertions: [Insertion]
    var removals: [Removal]
    var lamport: UInt64
  }

  public var version: Version {
    var version = Version()
    for author in authors { version[author.id] = author.lastNumber }
    return version
  }

  /// O(runs and elements of the answer + authors × log runs).
  public func changes(since version: Version) -> Changes {
    let own = self.version
    var changes = Changes(
      since: version.intersection(own), version: own, insertions: [], removals: [],
      lamport: lamport)
    for author in authors {
      var first = author.count(upTo: version[author.id])
      while first < author.content.count {
        let origin = author.origins.index(holding: UInt32(first))
        let run = author.stamps.index(holding: UInt32(first))
        var end = author.content.count
        if origin + 1 < author.origins.count {
          end = min(end, Int(author.origins[origin + 1].first))
        }
        if run + 1 < author.stamps.count { end = min(end, Int(author.stamps[run + 1].first)) }
        let isHead = Int(author.origins[origin].first) == first
        let left =
          isHead
          ? author.origins[origin].left.map { id(of: $0) }
          : ElementID(author: author.id, offset: first - 1)
        changes.insertions.append(
          Changes.Insertion(
            author: author.id, offset: first, number: author.number(of: UInt32(first)),
            lamport: author.lamport(of: UInt32(first)), isStepping: author.stamps[run].isStepping,
            left: left, right: author.origins[origin].right.map { id(of: $0) },
            elements: Array(author.content[first..<end])))
        first = end
      }
      for removal in author.removals where removal.number > version[author.id] {
        changes.removals.append(
          Changes.Removal(author: author.id, number: removal.number, range: range(of: removal)))
      }
    }
    changes.insertions.sort {
      LamportTimestamp(count: $0.lamport, replica: $0.author)
        < LamportTimestamp(count: $1.lamport, replica: $1.author)
    }
    return changes
  }

  public mutating func apply(_ changes: Changes) throws(MissingChanges) {
    let own = version
    guard own.isSuperset(of: changes.since) else { throw MissingChanges(needed: changes.since) }
    for insertion in changes.insertions {
      let author = index(of: insertion.author)
      let known = authors[Int(author)].content.count - insertion.offset
      guard known < insertion.elements.count else { continue }
      let first = max(known, 0)
      let run = StampRun(
        first: 0, number: insertion.number + (insertion.isStepping ? UInt64(first) : 0),
        lamport: insertion.lamport + UInt64(first), isStepping: insertion.isStepping)
      let left =
        first == 0
        ? insertion.left : ElementID(author: insertion.author, offset: insertion.offset + first - 1)
      _ = integrate(
        Array(insertion.elements[first...]), by: author, stamped: run, left: local(left),
        right: local(insertion.right))
    }
    for removal in changes.removals where removal.number > own[removal.author] {
      let author = index(of: removal.author)
      authors[Int(author)].record(
        Removal(
          number: removal.number, target: index(of: removal.range.author),
          offset: UInt32(removal.range.offset), count: UInt32(removal.range.count)))
      _ = erase(removal.range)
    }
    for replica in changes.version.replicas {
      let author = Int(index(of: replica))
      authors[author].lastNumber = max(authors[author].lastNumber, changes.version[replica])
    }
    lamport = max(lamport, changes.lamport)
  }

  /// Equal histories: the same elements in the same order by the same authors, inserted and removed by the same changes.
  public static func == (a: Self, b: Self) -> Bool {
    guard a.version == b.version, a.count == b.count, a.lamport == b.lamport,
      a.pieces.count == b.pieces.count
    else { return false }
    for (x, y) in zip(a.pieces, b.pieces) {
      guard a.id(of: x.first) == b.id(of: y.first), x.countAndFlag == y.countAndFlag else {
        return false
      }
    }
    for x in a.authors {
      guard let index = b.authorIndex[x.id] else { continue }
      let y = b.authors[Int(index)]
      guard x.content == y.content, x.stamps == y.stamps,
        x.origins.count == y.origins.count, x.removals.count == y.removals.count
      else { return false }
      for (p, q) in zip(x.origins, y.origins) {
        guard p.first == q.first, p.left.map(a.id) == q.left.map(b.id),
          p.right.map(a.id) == q.right.map(b.id)
        else { return false }
      }
      for (p, q) in zip(x.removals, y.removals) {
        guard p.number == q.number, a.range(of: p) == b.range(of: q) else { return false }
      }
    }
    return true
  }

  /// Checks everything that must hold between the authors' runs and the pieces. O(elements): for tests.
  public func checkInvariants() {
    var visible = 0
    var before = 0
    var seen = authors.map { _ in 0 }
    for (index, piece) in pieces.enumerated() {
      precondition(piece.count > 0, "an empty piece")
      precondition(index == 0 || !pieces[index - 1].joins(piece), "two pieces that could be one")
      if index == cursor.piece { precondition(cursor.start == visible, "a cursor out of step") }
      visible += piece.visibleCount
      seen[Int(piece.author)] += Int(piece.count)
      if index < cursor.piece { before += piece.visibleCount }
    }
    precondition(before == cursor.start, "a cursor out of step")
    precondition(visible == count, "the count is \(count), visible are \(visible)")
    for (author, count) in zip(authors, seen) {
      precondition(author.content.count == count, "elements that stand nowhere, or twice")
      for runs in [author.origins.map(\.first), author.stamps.map(\.first)] {
        precondition(runs.first ?? 0 == 0 && zip(runs, runs.dropFirst()).allSatisfy(<), "runs")
      }
    }
  }
}
