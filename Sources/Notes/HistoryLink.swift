internal import ReplicatingTypes

/// The changes that a change follows besides its author's previous one, and the bases of its edits.
struct HistoryLink: Sendable {
  let number: UInt64
  let predecessors: [ChangeID]
  let bases: [(note: NoteID, base: TextBase)]

  /// The same without bases in notes that were purged; nil if nothing is left.
  func redacted(_ purged: Set<NoteID>) -> HistoryLink? {
    if bases.isEmpty { return self }
    let rest = bases.filter { !purged.contains($0.note) }
    if rest.isEmpty, predecessors.isEmpty { return nil }
    return HistoryLink(number: number, predecessors: predecessors, bases: rest)
  }
}

extension [HistoryLink] {
  /// The number of links, which are in order, of changes up to one. O(log n).
  func count(upTo number: UInt64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].number <= number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The link of a change; nil if it has none. O(log n).
  func link(of number: UInt64) -> HistoryLink? {
    let count = count(upTo: number)
    return count > 0 && self[count - 1].number == number ? self[count - 1] : nil
  }
}

/// A few links of one replica, without gaps, and what its first change of them follows: a walk through the past stops at the
/// beginning of a run.
struct LinkRun: Sendable {
  /// The number of links in a run, about, and at most in memory.
  static let length = 32

  /// The number of the change that the run begins with.
  let first: UInt64
  /// That change and everything it follows; nil if an archive leaves it out, because it is long.
  let past: Version?
  /// In order. The link of the first change may have gone with a purged note.
  var links: [HistoryLink]
}

/// The links of one replica in runs.
struct LinkRuns: Sendable {
  private(set) var runs: [LinkRun] = []

  /// The last link.
  var last: HistoryLink? { runs.last { !$0.links.isEmpty }?.links.last }

  /// The last run that begins with a change up to `number`. O(log n).
  func run(upTo number: UInt64) -> LinkRun? {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].first <= number { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? runs[low - 1] : nil
  }

  /// Adds the link of a change that comes after all others here.
  ///
  /// - Parameter past: the change and everything it follows.
  mutating func append(_ link: HistoryLink, knowing past: @autoclosure () -> Version) {
    if let last = runs.last, last.links.count < LinkRun.length {
      runs[runs.count - 1].links.append(link)
    } else {
      runs.append(LinkRun(first: link.number, past: past(), links: [link]))
    }
  }

  /// The runs with changes after one: the first of them may have others, too.
  func after(_ number: UInt64) -> LinkRuns {
    var rest = self
    rest.runs.removeAll { ($0.links.last?.number ?? 0) <= number }
    return rest
  }

  /// Leaves no bases in notes that were purged.
  mutating func redact(_ purged: Set<NoteID>) {
    for place in runs.indices {
      runs[place].links = runs[place].links.compactMap { $0.redacted(purged) }
    }
  }
}
