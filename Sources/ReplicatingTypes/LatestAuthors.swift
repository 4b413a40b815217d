/// The author of the latest change of a value in logical time, as far as it is known: one of a few replicas. It is no part of the value: two values that
/// differ in it are equal. The changes of a value bring its logical time, so they follow this author.
struct LatestAuthors: Hashable, Sendable {
  private var last: ReplicaID?
  private var others: [ReplicaID] = []

  /// The replicas of which one made the change; nil if that isn't known.
  var replicas: [ReplicaID]? {
    if let last { return [last] }
    return others.isEmpty ? nil : others
  }

  /// A replica made it.
  @inline(__always)
  mutating func set(_ replica: ReplicaID) { last = replica }

  /// It came with changes of this version.
  mutating func set(among version: Version) {
    last = nil
    others = version.count <= Self.fewReplicas ? version.replicas : []
  }

  /// As many as changes may name for it.
  private static var fewReplicas: Int { 8 }

  static func == (a: Self, b: Self) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
