internal import ReplicatingTypes

/// The replicas that an author has named in its changes, in that order.
struct Mentions: Equatable, Sendable {
  private(set) var replicas: [ReplicaID] = []
  /// Where each of them stands, as soon as they are many: looking at a few takes less time than hashing.
  private var places: [ReplicaID: Int] = [:]

  func place(of replica: ReplicaID) -> Int? {
    places.isEmpty ? replicas.firstIndex(of: replica) : places[replica]
  }

  mutating func append(_ replica: ReplicaID) {
    replicas.append(replica)
    if replicas.count > 16 {
      places[replica] = replicas.count - 1
    } else if replicas.count == 16 {
      for (place, replica) in replicas.enumerated() { places[replica] = place }
    }
  }

  /// Forgets those that were named last, down to `count` of them.
  mutating func removeLast(downTo count: Int) {
    while replicas.count > count { places[replicas.removeLast()] = nil }
    if count < 16 { places = [:] }
  }
}
