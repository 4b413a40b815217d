/// The insertions at gaps where many replicas have inserted: where to begin looking, and what need not be looked at again. Only hints, which
/// may be lost.
struct SiblingCache: Sendable {
  /// Looking through fewer pieces than this needs no hint.
  private static var threshold: Int { 16 }

  struct Gap: Hashable, Sendable {
    var left: LocalID
    var right: LocalID
  }

  struct Sibling: Sendable {
    var precedence: Precedence
    var element: LocalID
  }

  private var lists: [Gap: SiblingList] = [:]
  private var unseen: [Gap: Unseen] = [:]

  var isEmpty: Bool { lists.isEmpty }

  /// The last of the known insertions at a gap that come before one.
  func last(before precedence: Precedence, at gap: Gap) -> LocalID? {
    lists[gap]?.last(before: precedence)
  }

  /// Remembers an insertion at a gap where many are.
  mutating func remember(
    _ element: LocalID, _ precedence: Precedence, at gap: Gap, afterSteps steps: Int
  ) {
    guard steps > Self.threshold || !lists.isEmpty && lists[gap] != nil else { return }
    lists[gap, default: SiblingList()].insert(Sibling(precedence: precedence, element: element))
  }

  // MARK: - What authors had not seen

  /// Changes that some authors who inserted at a gap had not seen.
  ///
  /// Who has seen any element between the ends of the gap has seen one whose own origins do not lie between them. So changes that inserted
  /// such elements have to be among these, and others needn't.
  private struct Unseen: Sendable {
    /// By replica, the first of them.
    var first: [ReplicaID: UInt64]
    /// What the authors had seen.
    var version: Version
  }

  /// So many gaps are remembered at most.
  private static var mostGaps: Int { 4 }

  /// The gaps of which it is remembered what authors had not seen there.
  var unseenGaps: [Gap] { unseen.isEmpty ? [] : Array(unseen.keys) }

  /// Remembers all changes that have inserted between the ends of a gap, if they are many: an author who had seen `version`, and changes of
  /// its own, had seen none of them.
  mutating func remember(_ changes: [ChangeID], unseenBy version: Version, at gap: Gap) {
    guard changes.count > Self.threshold else { return }
    if unseen.count >= Self.mostGaps { unseen = [:] }
    let first = Dictionary(changes.map { ($0.replica, $0.number) }, uniquingKeysWith: min)
    unseen[gap] = Unseen(first: first, version: version)
  }

  /// Remembers a change that inserts at one of the `unseenGaps`. It is the last that has come, so nobody had seen it.
  mutating func remember(_ change: ChangeID, between gap: Gap) {
    let first = unseen[gap]!.first[change.replica] ?? change.number
    unseen[gap]!.first[change.replica] = min(first, change.number)
  }

  /// True if it is certain that an author, who had seen `version` and changes of its own, had seen nothing between the ends of a gap.
  /// O(log replicas) for each replica of which nobody who has inserted there had seen so much.
  mutating func isUnseen(at gap: Gap, by author: ReplicaID, _ version: Version) -> Bool {
    guard !unseen.isEmpty, let known = unseen[gap], known.first[author] == nil,
      version.allSatisfy(beyond: known.version, { $0.number < known.first[$0.replica] ?? .max })
    else { return false }
    unseen[gap]!.version.merge(version)
    return true
  }

  /// Insertions at one gap in their order, in chunks, so that one more is little to move.
  private struct SiblingList: Sendable {
    private static var largestChunk: Int { 128 }

    /// None is empty, but the only one.
    private var chunks: [[Sibling]] = [[]]
    /// The first of each chunk but the first.
    private var bounds: [Precedence] = []

    /// The chunk in which an insertion stands or would stand.
    private func chunk(of precedence: Precedence) -> Int {
      var low = 0
      var high = bounds.count
      while low < high {
        let middle = (low + high) / 2
        if bounds[middle] >= precedence { low = middle + 1 } else { high = middle }
      }
      return low
    }

    /// The number of insertions in a chunk that come before one.
    private func rank(_ precedence: Precedence, in chunk: Int) -> Int {
      var low = 0
      var high = chunks[chunk].count
      while low < high {
        let middle = (low + high) / 2
        if chunks[chunk][middle].precedence > precedence { low = middle + 1 } else { high = middle }
      }
      return low
    }

    func last(before precedence: Precedence) -> LocalID? {
      let chunk = chunk(of: precedence)
      let rank = rank(precedence, in: chunk)
      if rank > 0 { return chunks[chunk][rank - 1].element }
      return chunk > 0 ? chunks[chunk - 1].last!.element : nil
    }

    mutating func insert(_ sibling: Sibling) {
      let chunk = chunk(of: sibling.precedence)
      chunks[chunk].insert(sibling, at: rank(sibling.precedence, in: chunk))
      guard chunks[chunk].count > Self.largestChunk else { return }
      let rest = Array(chunks[chunk][(Self.largestChunk / 2)...])
      chunks[chunk].removeSubrange((Self.largestChunk / 2)...)
      chunks.insert(rest, at: chunk + 1)
      bounds.insert(rest[0].precedence, at: chunk)
    }
  }
}
