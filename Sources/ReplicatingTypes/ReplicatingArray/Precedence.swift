/// Decides which of two insertions between the same elements comes first: the greater one.
struct Precedence: Comparable {
  private let rank: UInt8
  private let timestamp: LamportTimestamp

  init(rank: UInt8, count: UInt64, replica: ReplicaID) {
    self.rank = rank
    timestamp = LamportTimestamp(count: count, replica: replica)
  }

  static func < (one: Self, other: Self) -> Bool {
    one.rank == other.rank ? one.timestamp < other.timestamp : one.rank < other.rank
  }
}
