extension ReplicatingArray: Equatable {
  /// Equal histories: the same elements in the same order by the same authors, inserted and removed by the same changes.
  /// O(elements + n + runs).
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

  /// The removals of an author, in runs that are the same however they came about.
  private func removals(of author: AuthorLog<Element>) -> [NamedRemoval] {
    author.removals.map {
      NamedRemoval(number: $0.number, range: range(of: $0), order: $0.order)
    }
  }

  private func range(of run: RemovalRun) -> ElementRange {
    ElementRange(
      author: authors[Int(run.target)].id, offset: Int(run.offset), count: Int(run.count))
  }
}

private struct OrderedRun: Equatable {
  var range: ElementRange
  var isRemoved: Bool
}

private struct NamedRemoval: Equatable {
  var number: UInt32
  var range: ElementRange
  var order: RemovalRun.Order
}
