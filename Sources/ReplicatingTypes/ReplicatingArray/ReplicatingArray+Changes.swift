// Changes that one value has seen and another has not.

extension ReplicatingArray: Replicable {
  public var version: Version {
    var version = Version()
    for author in authors { version[author.id] = author.lastNumber }
    if open.position >= 0 || open.removedFrom >= 0 {
      version.insert(ChangeID(replica: open.replica, number: open.nextNumber - 1))
    }
    return version
  }

  /// O(runs and elements of the answer + authors × log runs); runs of several authors are sorted.
  @specialized(where Element == UInt8)
  @specialized(where Element == Character)
  @specialized(where Element == String)
  @specialized(where Element == Int)
  public func changes(since version: Version) -> Changes {
    let value = settled
    let own = value.version
    // All changes follow none.
    if version.isEmpty, own.count == 1, let author = value.authors.first {
      var changes = Changes(
        since: version, version: own, lamport: value.lamport, authors: [author.id])
      _ = value.list(0, since: version, &changes)
      return changes
    }
    var followed = FollowedChanges(of: own, since: version)
    var changes = Changes(
      since: Version(), version: Version(), lamport: followed.isEmpty ? 0 : lamport,
      authors: value.authors.map(\.id))
    if followed.isEmpty { return changes }
    followed.follow(latest.replicas)
    let makers = value.authors.indices.filter {
      value.authors[$0].lastNumber > version[value.authors[$0].id]
    }
    let isFollowed =
      makers.count == 1
      ? value.list(AuthorIndex(makers[0]), since: version, &changes)
      : value.list(makers, since: version, &changes)
    for (author, isFollowed) in zip(value.authors, isFollowed) where isFollowed {
      followed.follow(author.id)
    }
    (changes.since, changes.version) = (followed.since, followed.version)
    return changes
  }

  /// Lists the steps of several authors in the order of their times. Returns of which authors they need elements.
  private func list(
    _ makers: [Int], since version: Version, _ changes: inout Changes
  ) -> [Bool] {
    var isFollowed = Array(repeating: false, count: authors.count)
    var steps: [TimedStep] = []
    if version.isEmpty {
      steps.reserveCapacity(authors.reduce(0) { $0 + $1.origins.count + $1.removals.count })
    }
    for maker in makers { collect(AuthorIndex(maker), since: version, &steps) }
    steps.sort { ($0.time, $0.rank) < ($1.time, $1.rank) }
    for step in steps {
      switch step.step {
      case .insertion(let insertion):
        changes.insertions.append(insertion)
        if !insertion.left.isNone { isFollowed[Int(insertion.left.author)] = true }
        if !insertion.right.isNone { isFollowed[Int(insertion.right.author)] = true }
        let start = Int(insertion.offset)
        changes.content.append(
          contentsOf: authors[Int(insertion.author)].content[start..<start + Int(insertion.count)])
      case .removal(let run):
        isFollowed[Int(run.target)] = true
        changes.removals.append(
          Changes.Removal(author: step.author, place: UInt32(changes.insertions.count), run: run))
      }
    }
    return isFollowed
  }

  /// The same of one author: they are in order, and so are the elements. Those of the author itself need not be told.
  private func list(
    _ maker: AuthorIndex, since version: Version, _ changes: inout Changes
  ) -> [Bool] {
    var isFollowed = Array(repeating: false, count: authors.count)
    let author = authors[Int(maker)]
    let known = version[author.id]
    var steps = AuthorSteps(of: author, maker, since: known)
    var insertions: [Changes.Insertion] = []
    var removals: [Changes.Removal] = []
    if known == 0 {
      insertions.reserveCapacity(author.origins.count)
      removals.reserveCapacity(author.removals.count)
    }
    while let step = steps.step() {
      switch step {
      case .insertion(let insertion):
        insertions.append(insertion)
        for element in [insertion.left, insertion.right]
        where element.author != maker && !element.isNone {
          isFollowed[Int(element.author)] = true
        }
      case .removal(let run):
        if run.target != maker { isFollowed[Int(run.target)] = true }
        removals.append(
          Changes.Removal(
            author: maker, place: UInt32(truncatingIfNeeded: insertions.count), run: run))
      }
    }
    (changes.insertions, changes.removals) = (insertions, removals)
    let first = Int(author.count(upTo: known))
    changes.content = first == 0 ? author.content : Array(author.content[first...])
    return isFollowed
  }

  /// One run of one author, and when it was made. The time of a removal isn't kept; what is known is that it came after
  /// what its author did before, and after the insertion of what it removes.
  private struct TimedStep {
    var time: LamportTimestamp
    /// Orders what one author did at one time.
    var rank: Int
    var author: AuthorIndex
    var step: AuthorSteps<Element>.Step
  }

  /// Collects the steps of an author that a version does not have.
  private func collect(
    _ index: AuthorIndex, since version: Version, _ steps: inout [TimedStep]
  ) {
    let author = authors[Int(index)]
    var own = AuthorSteps(of: author, index, since: version[author.id])
    /// By how much the author's logical time exceeds the numbers of its changes, now.
    var skew = own.first == 0 ? 0 : author.skew(of: own.first - 1)
    var latest: UInt64 = 0
    while let step = own.step() {
      switch step {
      case .insertion(let insertion):
        latest = Swift.max(latest, insertion.lamport)
        skew = Int64(insertion.lamport + UInt64(insertion.count) - 1) - Int64(insertion.lastNumber)
      case .removal(let run):
        latest = Swift.max(latest, UInt64(Swift.max(Int64(run.number) + skew, 0)))
        if run.target != index {
          latest = Swift.max(
            latest, authors[Int(run.target)].lamport(of: run.offset + run.count - 1) + 1)
        }
      }
      steps.append(
        TimedStep(
          time: LamportTimestamp(count: latest, replica: author.id), rank: steps.count,
          author: index, step: step))
    }
  }
}

extension AuthorLog {
  fileprivate func skew(of offset: UInt32) -> Int64 {
    Int64(lamport(of: offset)) - Int64(number(of: offset))
  }
}

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
