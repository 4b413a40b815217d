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
}
