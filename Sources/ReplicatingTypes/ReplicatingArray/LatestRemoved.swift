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
