internal import ReplicatingTypes

/// The changes that a change follows besides its author's previous one, and the bases of its edits.
struct HistoryLink: Sendable {
  let number: UInt64
  let predecessors: [ChangeID]
  let bases: [(note: NoteID, base: TextBase)]
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
