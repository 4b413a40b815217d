internal import Notes
internal import ReplicatingTypes

/// The participants in other processes, by whom they were told of.
///
/// A participant of whom one source tells is told to the others, and not back. If several tell of one, the newest telling counts, and of equally new
/// ones that which came over fewer processes.
struct KnownParticipants {
  typealias Key = ToldParticipant.Key

  enum Source: Hashable {
    /// The files of the other processes that have this notebook open.
    case folder
    /// The client, if it follows.
    case follower
    /// The peer of a link, by the number of its exchange.
    case link(Int)
  }

  private var told: [Source: [Key: ToldParticipant]] = [:]
  /// How many selections all of them have that a source tells of.
  private var selectionCounts: [Source: Int] = [:]
  /// Grows whenever something may have changed.
  private(set) var news = 0

  /// Takes all that a source tells now.
  mutating func replace(_ participants: [Key: ToldParticipant], from source: Source) {
    guard told[source] ?? [:] != participants else { return }
    told[source] = participants
    selectionCounts[source] = participants.values.reduce(0) { $0 + $1.selections.count }
    news += 1
  }

  /// Takes what a source tells besides. One without selections is forgotten; of more than there may be the rest is left out.
  mutating func update(_ participants: [ToldParticipant], from source: Source) {
    for var participant in participants {
      let old = told[source]?.removeValue(forKey: participant.key)
      let rest = selectionCounts[source, default: 0] - (old?.selections.count ?? 0)
      let isTaken =
        !participant.selections.isEmpty
        && (old != nil || told[source]?.count ?? 0 < ToldParticipant.most)
      if isTaken {
        participant.keepSelections(ToldParticipant.mostSelections - rest)
        told[source, default: [:]][participant.key] = participant
      }
      selectionCounts[source] = rest + (isTaken ? participant.selections.count : 0)
    }
    if !participants.isEmpty { news += 1 }
  }

  /// Forgets what a source has told: it is gone.
  mutating func forget(_ source: Source) {
    if told.removeValue(forKey: source) != nil { news += 1 }
    selectionCounts[source] = nil
  }

  /// The participants as far as others than a source tell of them, and that source does not know as much.
  ///
  /// - Complexity: O(participants of all sources).
  func all(besides source: Source? = nil, excluding process: Identifier?) -> [Key: ToldParticipant]
  {
    var newest: [Key: ToldParticipant] = [:]
    for (other, participants) in told where other != source {
      for (key, participant) in participants where key.process != process {
        if let present = newest[key],
          (present.moves, -present.hops) >= (participant.moves, -participant.hops)
        {
          continue
        }
        newest[key] = participant
      }
    }
    guard let source, let known = told[source] else { return newest }
    return newest.filter { key, participant in
      known[key].map { $0.moves < participant.moves } ?? true
    }
  }
}
