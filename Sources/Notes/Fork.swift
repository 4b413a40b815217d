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
  /// The digests of the replica's changes up to the first that is different: here, and there.
  public let ours: UInt64
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
      low: Self.mark << 52 | (SHA256.prefix64(of: bytes[...]) >> 12 & ~0xFFFF_FFFF)
        | replica.low & 0xFFFF_FFFF)
  }

  /// The first twelve bits of the lower half of a branch's name. The next twenty are of the hash, and the rest is that of the replica,
  /// which says by which rules its edits merge.
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

/// What a notebook can share with another one that knows other changes under some of the same names.
public struct SharedPart: Sendable {
  /// All that is shared: what is not contested, and the branches of what is.
  public let version: Version
  private let uncontested: Version
  private let branches: [Branch]

  private struct Branch: Sendable {
    let id: ReplicaID
    var changes: [[UInt8]]
  }

  /// The shared part of a notebook. O(links + history of the forked replicas).
  public init(of book: NoteBook, _ forks: [Fork]) throws(ArchiveFailure) {
    var limits: [ReplicaID: UInt64] = [:]
    for fork in forks {
      limits[fork.replica] = fork.shared
      limits[fork.branch(fork.ours)] = 0
      limits[fork.branch(fork.theirs)] = 0
    }
    let uncontested = try book.version(without: limits)
    self.uncontested = uncontested
    var version = uncontested
    var branches: [Branch] = []
    for fork in forks where book.version[fork.replica] > fork.shared {
      var encoder = BranchEncoder(of: fork.replica, after: fork.shared, as: fork.branch(fork.ours))
      let changes = try encoder.encode(book, within: uncontested)
      guard !changes.isEmpty else { continue }
      version[encoder.branch] = UInt64(changes.count)
      branches.append(Branch(id: encoder.branch, changes: changes))
    }
    self.version = version
    self.branches = branches
  }

  /// The shared changes that a replica at `version` has not seen, as `NoteBook.changes(since:limit:)` gives them.
  public func changes(
    of book: NoteBook, since version: Version, limit: Int
  ) throws(ArchiveFailure) -> (changes: ChangeSet, version: Version, isMore: Bool) {
    var (answer, reached, isMore) = try book.changes(
      since: version, limit: limit, within: uncontested)
    var size = 0
    for branch in branches where !isMore {
      for (index, encoded) in branch.changes.enumerated().dropFirst(
        Int(clamping: version[branch.id]))
      {
        size += encoded.count
        if size > limit && !answer.isEmpty { return (answer, reached, true) }
        let change = ChangeID(replica: branch.id, number: UInt64(index + 1))
        answer.append(change, encoded[...])
        reached.insert(change)
      }
    }
    return (answer, reached, isMore)
  }
}

extension NoteBook {
  /// The changes here that follow none of a replica after its limit. O(links × replicas that are contested).
  func version(without limits: [ReplicaID: UInt64]) throws(ArchiveFailure) -> Version {
    var rest = version
    /// Of each replica the links by which its changes follow others, until one is contested.
    var links: [ReplicaID: [HistoryLink]] = [:]
    /// The replicas that have named another one as a predecessor.
    var followers: [ReplicaID: Set<ReplicaID>] = [:]
    for replica in version.replicas {
      let own = try self.links(of: replica)
      links[replica] = own
      for link in own {
        for predecessor in link.predecessors {
          followers[predecessor.replica, default: []].insert(replica)
        }
      }
    }
    var open: [ReplicaID] = []
    for (replica, limit) in limits where rest[replica] > limit {
      rest[replica] = limit
      open.append(replica)
    }
    while let contested = open.popLast() {
      for replica in followers[contested] ?? [] {
        let first = links[replica]!.first { link in
          link.number <= rest[replica]
            && link.predecessors.contains { $0.replica == contested && !rest.contains($0) }
        }
        guard let first else { continue }
        rest[replica] = first.number - 1
        open.append(replica)
      }
    }
    return rest
  }
}
