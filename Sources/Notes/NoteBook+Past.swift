public import ReplicatingTypes

extension NoteBook {
  /// Everything that the given changes follow, and they themselves; `nil` if one of them is not known here.
  /// O(changes that followed a change of another replica).
  public func version(
    of heads: some Sequence<ChangeID>
  ) throws(ArchiveFailure) -> Version? {
    var past = Version()
    for head in heads {
      guard version.contains(head) else { return nil }
      try extend(&past, to: head)
    }
    return past
  }

  /// The state that a revision names; `nil` if the name is none, or of a state that is not known here.
  public func version(ofRevision name: String) throws(ArchiveFailure) -> Version? {
    guard let revision = Revision(name) else { return nil }
    return try version(of: revision.heads)
  }

  /// The part of a revision of any replica that is known here: unknown heads are left out.
  public func knownVersion(of revision: Revision) throws(ArchiveFailure) -> Version {
    try version(of: revision.heads.filter { version.contains($0) }) ?? Version()
  }

  /// The revision of the state that contains `version`, which is all known here. O(replicas + merges).
  public func revision(of version: Version) throws(ArchiveFailure) -> Revision {
    var heads: Set<ChangeID> = []
    for replica in version.replicas {
      heads.insert(ChangeID(replica: replica, number: version[replica]))
    }
    for replica in version.replicas {
      for link in try links(of: replica) where link.number <= version[replica] {
        for predecessor in link.predecessors { heads.remove(predecessor) }
      }
    }
    return Revision(heads: heads.sorted())
  }

  /// Adds to `past` a known change and everything it follows. Not recursive: pasts are as deep as history is long.
  func extend(_ past: inout Version, to change: ChangeID) throws(ArchiveFailure) {
    var open = [change]
    while let next = open.popLast() {
      let seen = past[next.replica]
      guard next.number > seen else { continue }
      past[next.replica] = next.number
      let links = try links(of: next.replica)
      var index = links.count
      while index > 0, links[index - 1].number > seen {
        index -= 1
        if links[index].number <= next.number { open += links[index].predecessors }
      }
    }
  }

  /// Everything that the author of a change, the next to be admitted, had seen with it. Its predecessors are known here.
  /// O(heads) if that is all that is known, as a rule; else O(what it had not seen with its previous change).
  mutating func past(of change: Change) throws(ArchiveFailure) -> Past {
    let previous = ChangeID(replica: change.id.replica, number: change.id.number - 1)
    if heads.allSatisfy({ $0 == previous || change.predecessors.contains($0) }) {
      return Past(version: version, change: change.id)
    }
    var past = Version()
    if let known = pasts.take(previous) {
      past = known
    } else if previous.number > 0 {
      try extend(&past, to: previous)
    }
    for predecessor in change.predecessors { try extend(&past, to: predecessor) }
    past.insert(change.id)
    return Past(version: past, change: change.id)
  }

  /// Decodes changes 1 to `number` of a replica, in order, each with its first stamp. Throws also if the archive has something else in the
  /// place of a change.
  func forEachChange(
    of replica: ReplicaID, upTo number: UInt64, _ body: (Change, Stamp) -> Void
  ) throws(ArchiveFailure) {
    guard number > 0 else { return }
    var mentions = Mentions()
    var time: Int64 = 0
    var failure: ArchiveFailure?
    try forEachEncoded(of: replica, in: 1...number) { number, encoded, lamport in
      let id = ChangeID(replica: replica, number: number)
      do {
        let change = try Change(id, decoding: encoded, after: time, &mentions)
        time = change.time
        let ticks = max(1, change.operations.reduce(0) { $0 + $1.ticks })
        guard lamport >= ticks else {
          failure = ArchiveFailure(reason: "change \(id) with a wrong time")
          return false
        }
        body(change, Stamp(change: id, lamport: lamport - ticks + 1))
        return true
      } catch {
        failure = ArchiveFailure(reason: "change \(id) can't be decoded: \(error)")
        return false
      }
    }
    if let failure { throw failure }
  }
}
