/// The insertions at gaps where many replicas have inserted: where to begin looking. Only a hint, which may be lost.
struct Crowds: Sendable {
  /// Looking through fewer pieces than this needs no hint.
  private static var threshold: Int { 16 }

  struct Gap: Hashable, Sendable {
    var left: LocalID
    var right: LocalID
  }

  struct Sibling: Sendable {
    var timestamp: LamportTimestamp
    var element: LocalID
  }

  private var lists: [Gap: SiblingList] = [:]

  var isEmpty: Bool { lists.isEmpty }

  /// The oldest known insertion at a gap that is newer.
  func newer(than timestamp: LamportTimestamp, at gap: Gap) -> LocalID? {
    lists[gap]?.newer(than: timestamp)
  }

  /// Remembers an insertion at a gap where many are.
  mutating func remember(
    _ element: LocalID, _ timestamp: LamportTimestamp, at gap: Gap, afterSteps steps: Int
  ) {
    guard steps > Self.threshold || !lists.isEmpty && lists[gap] != nil else { return }
    lists[gap, default: SiblingList()].insert(Sibling(timestamp: timestamp, element: element))
  }

  /// Insertions at one gap, newest first, in chunks, so that one more is little to move.
  private struct SiblingList: Sendable {
    private static var largestChunk: Int { 128 }

    /// None is empty, but the only one.
    private var chunks: [[Sibling]] = [[]]
    /// The newest of each chunk but the first.
    private var bounds: [LamportTimestamp] = []

    /// The chunk in which an insertion stands or would stand.
    private func chunk(of timestamp: LamportTimestamp) -> Int {
      var low = 0
      var high = bounds.count
      while low < high {
        let middle = (low + high) / 2
        if bounds[middle] >= timestamp { low = middle + 1 } else { high = middle }
      }
      return low
    }

    /// The number of insertions in a chunk that are newer.
    private func rank(_ timestamp: LamportTimestamp, in chunk: Int) -> Int {
      var low = 0
      var high = chunks[chunk].count
      while low < high {
        let middle = (low + high) / 2
        if chunks[chunk][middle].timestamp > timestamp { low = middle + 1 } else { high = middle }
      }
      return low
    }

    func newer(than timestamp: LamportTimestamp) -> LocalID? {
      let chunk = chunk(of: timestamp)
      let rank = rank(timestamp, in: chunk)
      if rank > 0 { return chunks[chunk][rank - 1].element }
      return chunk > 0 ? chunks[chunk - 1].last!.element : nil
    }

    mutating func insert(_ sibling: Sibling) {
      let chunk = chunk(of: sibling.timestamp)
      chunks[chunk].insert(sibling, at: rank(sibling.timestamp, in: chunk))
      guard chunks[chunk].count > Self.largestChunk else { return }
      let rest = Array(chunks[chunk][(Self.largestChunk / 2)...])
      chunks[chunk].removeSubrange((Self.largestChunk / 2)...)
      chunks.insert(rest, at: chunk + 1)
      bounds.insert(rest[0].timestamp, at: chunk)
    }
  }
}
