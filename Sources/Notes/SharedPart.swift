public import ReplicatingTypes

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
