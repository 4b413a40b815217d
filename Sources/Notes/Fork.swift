internal import Bytes
public import ReplicatingTypes

/// A replica of which two notebooks know different changes under the same names, from some number on.
///
/// Its changes after that number mean different things here and there, and so do all that follow them. These are *contested*: neither
/// side takes them from the other as they are. All others are shared (`SharedPart`).
///
/// What each side knows of the replica itself is shown to the other as that of another replica, its *branch*.
public struct Fork: Equatable, Sendable {
  /// The replica.
  public let replica: ReplicaID
  /// The number of the last change that both know; 0 if the first is different already.
  public let shared: UInt64
  /// The digest of the replica's changes up to the first that is different, as they are here.
  public let ours: UInt64
  /// The same, as they are there.
  public let theirs: UInt64

  /// A replica of which the changes after number `shared` differ.
  public init(replica: ReplicaID, shared: UInt64, ours: UInt64, theirs: UInt64) {
    self.replica = replica
    self.shared = shared
    self.ours = ours
    self.theirs = theirs
  }

  /// The name under which changes of the replica after `shared` are shown where others have their names. Everyone who sees that they differ
  /// gives them this one name.
  ///
  /// It stands beside the replica's own in the order of names, so what it puts between the elements of others stays there.
  ///
  /// - Parameter digest: of the changes up to the first of them.
  func branch(_ digest: UInt64) -> ReplicaID {
    var bytes = Array("branch".utf8)
    for word in [replica.high, replica.low, shared, digest] { bytes.appendBigEndian(word) }
    return Identifier(
      high: replica.high,
      low: Self.mark << 52 | SHA256.prefix64(of: bytes[...]) >> 12)
  }

  /// The first twelve bits of the lower half of a branch's name. The rest is of the hash.
  fileprivate static var mark: UInt64 { 0xb7a }
}

extension Version {
  /// The branches among the replicas, in order: each has the upper half of its name from another replica. O(replicas).
  public var branches: [ReplicaID] {
    var candidates: [ReplicaID] = []
    var names: Set<UInt64> = []
    var shared: Set<UInt64> = []
    _ = allSatisfy { last in
      if last.replica.low >> 52 == Fork.mark { candidates.append(last.replica) }
      if !names.insert(last.replica.high).inserted { shared.insert(last.replica.high) }
      return true
    }
    return candidates.filter { shared.contains($0.high) }.sorted()
  }

  /// True if a replica is a branch of one that is here. O(1) for nearly all that are none, else O(replicas).
  func hasBranch(_ replica: ReplicaID) -> Bool {
    replica.low >> 52 == Fork.mark
      && !allSatisfy { $0.replica == replica || $0.replica.high != replica.high }
  }
}
