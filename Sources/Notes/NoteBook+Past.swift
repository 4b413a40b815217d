public import ReplicatingTypes

extension NoteBook {
  /// Everything that the given changes follow, and they themselves; `nil` if one of them is not known here.
  /// O(replicas that wrote together with these).
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

  /// The names of who made a change, if it is known here and anybody is named. O(log authors of its replica), and where only the archive has
  /// the replica, what reading its entry there takes.
  public func author(of change: ChangeID) throws(ArchiveFailure) -> Author? {
    guard version.contains(change) else { return nil }
    if let place = histories.place(of: change.replica) {
      return histories.all[place].author(of: change.number)
    }
    return try session(of: change.replica)?.authors.author(of: change.number)
  }

  /// The authors of a replica's changes. O(authors).
  func authors(of replica: ReplicaID) throws(ArchiveFailure) -> AuthorRuns {
    if let place = histories.place(of: replica) { return histories.all[place].authors }
    return try session(of: replica)?.authors ?? AuthorRuns()
  }

  /// The revision of the state that contains `version`, which is all known here. O(replicas × log replicas), and a past for each head.
  public func revision(of version: Version) throws(ArchiveFailure) -> Revision {
    var changes: [(lamport: UInt64, id: ChangeID)] = []
    for change in version.changes { changes.append((try lamport(of: change), change)) }
    var heads: [ChangeID] = []
    var past = Version()
    // Whatever follows a change is later.
    for change in changes.sorted(by: { $0 > $1 }) where !past.contains(change.id) {
      heads.append(change.id)
      try extend(&past, to: change.id)
    }
    return Revision(heads: heads.sorted())
  }

  /// Adds to `past`, which has what its changes follow, a known change and everything it follows. Not recursive: pasts are as deep as
  /// history is long.
  ///
  /// O(runs of links of the replicas in which `past` and the result differ × log replicas): in each it goes back to the beginning of a run.
  ///
  /// - Returns: the number of changes that it has looked at.
  @discardableResult
  func extend(_ past: inout Version, to change: ChangeID) throws(ArchiveFailure) -> Int {
    var open = [change]
    var steps = 0
    while let next = open.popLast() {
      steps += 1
      let seen = past[next.replica]
      guard next.number > seen else { continue }
      if let known = pasts[next] {
        past.merge(known)
        continue
      }
      past[next.replica] = next.number
      var number = next.number
      while number > seen, let run = try run(of: next.replica, upTo: number) {
        if run.first > seen, let known = run.past { past.merge(known) }
        for link in run.links[..<run.links.count(upTo: number)] where link.number > seen {
          steps += 1
          for predecessor in link.predecessors where !past.contains(predecessor) {
            open.append(predecessor)
          }
        }
        number = run.past == nil ? run.first - 1 : 0
      }
    }
    return steps
  }

  /// Everything that the author of a change, the next to be admitted, had seen with it. Its predecessors are known here.
  ///
  /// O(predecessors × log) if that is all that is known, as a rule. Else, with a kept past of each predecessor, O(log replicas) for each
  /// replica in which these differ.
  mutating func past(of change: Change) throws(ArchiveFailure) -> Past {
    let previous = ChangeID(replica: change.id.replica, number: change.id.number - 1)
    if heads.allSatisfy({ $0 == previous || change.follows($0) }) {
      return Past(
        version: version, change: change.id, isComplete: true, since: firstKnowing(as: change))
    }
    var past = Version()
    for predecessor in change.predecessors { try join(&past, with: predecessor) }
    if previous.number > 0 { try join(&past, with: previous) }
    return Past(
      version: past, change: change.id, isComplete: false, since: firstKnowing(as: change))
  }

  /// Adds to `past`, which has what its changes follow, a known change and everything it follows; perhaps without the last changes of its
  /// replica that follow no others.
  private mutating func join(
    _ past: inout Version, with change: ChangeID
  ) throws(ArchiveFailure) {
    // Who has seen a change has seen what it follows.
    if past.contains(change) { return }
    guard let link = lastLink(upTo: change) else { return past.insert(change) }
    if !past.contains(link) {
      if let known = pasts.take(link) {
        past.merge(known)
      } else {
        var known = Version()
        pasts.steps += try extend(&known, to: link)
        pasts.insert(known, of: link)
        past.merge(known)
      }
    }
    past.insert(change)
  }

  /// The number of the first change of an author with which it had seen no others than with a later one, the next to be admitted.
  private func firstKnowing(as change: Change) -> UInt64 {
    if !change.predecessors.isEmpty || change.rareKinds.contains(.base) { return change.id.number }
    guard let place = histories.place(of: change.id.replica) else { return change.id.number }
    guard let link = histories.all[place].links.last,
      link.number > histories.all[place].archived
    else {
      return histories.all[place].archived + 1
    }
    return link.bases.isEmpty ? link.number : link.number + 1
  }

  /// The last change of a replica up to one of them that follows changes of others, as far as that is in memory; else one in the archive.
  /// `nil` if there is none.
  private func lastLink(upTo change: ChangeID) -> ChangeID? {
    guard let place = histories.place(of: change.replica) else {
      return archive.map { _ in change }
    }
    let archived = min(change.number, histories.all[place].archived)
    var number = archived
    if let links = histories.all[place].links.run(upTo: change.number)?.links {
      let count = links.count(upTo: change.number)
      if count > 0 { number = max(archived, links[count - 1].number) }
    }
    return number > 0 ? ChangeID(replica: change.replica, number: number) : nil
  }

  /// Decodes changes 1 to `number` of a replica, in order, each with its first stamp. Throws also if the archive has something else in the
  /// place of a change.
  func forEachChange(
    of replica: ReplicaID, upTo number: UInt64, _ body: (Change, Stamp) -> Void
  ) throws(ArchiveFailure) {
    guard number > 0 else { return }
    var mentions = ReplicaTable()
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

// A notebook as it was a moment ago.

extension NoteBook {
  /// The notebook without the changes of `replica` that come after number `last`: nothing else follows them, and they are in no archive.
  ///
  /// It is made anew, from the archive and the changes in memory, so a notebook that never has to go back pays nothing for it. O(changes
  /// that are not in the archive).
  public func without(
    changesOf replica: ReplicaID, after last: UInt64
  ) throws(ArchiveFailure) -> NoteBook {
    var book = archive.map { NoteBook($0) } ?? NoteBook()
    var changes = PendingChanges()
    for known in version.replicas {
      let (start, end) = (book.version[known], known == replica ? last : version[known])
      if start >= end { continue }
      try forEachEncoded(of: known, in: start + 1...end) { number, encoded, _ in
        changes.insert(ChangeID(replica: known, number: number), Array(encoded))
        return true
      }
    }
    let merged = book.drain(&changes)
    if let failure = merged.unreadable { throw failure }
    var before = version
    before[replica] = last
    guard book.version == before else { throw ArchiveFailure(reason: "changes are missing") }
    // It only grows.
    book.redactions = max(book.redactions, redactions)
    return book
  }
}
