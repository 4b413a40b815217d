// Changes that one value has seen and another has not.

extension ReplicatingArray: Replicable {
  /// Insertions and removals in runs, in an order in which each can be made after those before it.
  ///
  /// Elements and authors are named as inside the value that made the changes: an author by its place in `authors`.
  public struct Changes: ReplicatingChanges, Sendable {
    /// Elements that one author inserted one after the other: by one change or, stepping, each by the next.
    struct Insertion: Equatable, Sendable {
      var author: AuthorIndex
      var offset: UInt32
      var count: UInt32
      var isStepping: Bool
      /// Of the first element; every other was inserted after the one before it.
      var left: LocalID
      var right: LocalID
      var number: UInt64
      var lamport: UInt64

      /// The number of the last element's change.
      var lastNumber: UInt64 { isStepping ? number + UInt64(count) - 1 : number }
    }

    struct Removal: Equatable, Sendable {
      var author: AuthorIndex
      /// The number of insertions that come before it.
      var place: UInt32
      var run: RemovalRun
    }

    fileprivate enum Operation {
      case insertion(Insertion)
      case removal(AuthorIndex, RemovalRun)
    }

    public var since: Version
    /// The version of a value that has joined them.
    public internal(set) var version: Version
    var lamport: UInt64
    var authors: [ReplicaID]
    var insertions: [Insertion] = []
    var removals: [Removal] = []
    /// The elements of the insertions, one after the other.
    var content: [Element] = []

    /// True if all is in one insertion or removal, or nothing at all.
    var isSingleStep: Bool { insertions.count + removals.count <= 1 }

    /// Adds a step without its elements, and notes to which authors' elements it refers.
    @inline(__always)
    fileprivate mutating func append(_ operation: Operation, _ isFollowed: inout [Bool]) {
      switch operation {
      case .insertion(let insertion):
        insertions.append(insertion)
        if !insertion.left.isNone { isFollowed[Int(insertion.left.author)] = true }
        if !insertion.right.isNone { isFollowed[Int(insertion.right.author)] = true }
      case .removal(let author, let run):
        isFollowed[Int(run.target)] = true
        removals.append(Removal(author: author, place: UInt32(insertions.count), run: run))
      }
    }
  }

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
    var value = settled
    if let saved = value.unrestored,
      zip(value.authors, saved.counts).contains(where: { $0.count(upTo: version[$0.id]) < $1 })
    {
      value.restoreOrigins()
    }
    let own = value.version
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
    for maker in makers {
      collect(AuthorIndex(maker), since: version[authors[maker].id]) { time, operation in
        steps.append(TimedStep(time: time, rank: steps.count, operation: operation))
      }
    }
    steps.sort { ($0.time, $0.rank) < ($1.time, $1.rank) }
    for step in steps {
      changes.append(step.operation, &isFollowed)
      guard case .insertion(let insertion) = step.operation else { continue }
      let start = Int(insertion.offset)
      changes.content.append(
        contentsOf: authors[Int(insertion.author)].content[start..<start + Int(insertion.count)])
    }
    return isFollowed
  }

  /// The same of one author: they are in order, and so are the elements.
  private func list(
    _ maker: AuthorIndex, since version: Version, _ changes: inout Changes
  ) -> [Bool] {
    var isFollowed = Array(repeating: false, count: authors.count)
    let author = authors[Int(maker)]
    let known = version[author.id]
    if known == 0 {
      changes.insertions.reserveCapacity(author.origins.count)
      changes.removals.reserveCapacity(author.removals.count)
    }
    collect(maker, since: known) { changes.append($1, &isFollowed) }
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
    var operation: Changes.Operation
  }

  /// Collects the steps of an author after change `known`, in the order of its changes: runs are cut where another kind comes
  /// between.
  @inline(__always)
  private func collect(
    _ index: AuthorIndex, since known: UInt64,
    _ body: (LamportTimestamp, Changes.Operation) -> Void
  ) {
    let author = authors[Int(index)]
    var first = author.count(upTo: known)
    var next = author.removals.firstIndex(after: known)
    var removal = next < author.removals.count ? author.removals[next].dropping(upTo: known) : nil
    var runs = Runs(of: author, at: first)
    /// By how much the author's logical time exceeds the numbers of its changes, now.
    var skew = first == 0 ? 0 : author.skew(of: first - 1)
    var latest: UInt64 = 0
    var whole = first < author.count ? runs.insertion(of: author, index, from: first) : nil
    while true {
      var insertion = whole
      if let present = insertion, let other = removal {
        let number = UInt64(other.number)
        let now = other.range(upTo: number)
        if present.number < number || other.target == index && now.offset + now.count > first {
          if present.isStepping, present.number <= number, present.lastNumber > number {
            insertion!.count = UInt32(number - present.number + 1)
          }
        } else {
          insertion = nil
          removal!.keep(upTo: present.number)
          if other.target == index, removal!.offset + removal!.count > first {
            // One by one, and the next ones are not there yet.
            removal!.count = first - removal!.offset
          }
        }
      }
      if let insertion {
        latest = Swift.max(latest, insertion.lamport)
        body(LamportTimestamp(count: latest, replica: author.id), .insertion(insertion))
        first += insertion.count
        whole = first < author.count ? runs.insertion(of: author, index, from: first) : nil
        skew = Int64(insertion.lamport + UInt64(insertion.count) - 1) - Int64(insertion.lastNumber)
      } else if let run = removal {
        latest = Swift.max(latest, UInt64(Swift.max(Int64(run.number) + skew, 0)))
        if run.target != index {
          latest = Swift.max(
            latest, authors[Int(run.target)].lamport(of: run.offset + run.count - 1) + 1)
        }
        body(LamportTimestamp(count: latest, replica: author.id), .removal(index, run))
        if run.lastNumber == author.removals[next].lastNumber {
          next += 1
          removal = next < author.removals.count ? author.removals[next] : nil
        } else {
          removal = author.removals[next].dropping(upTo: run.lastNumber)
        }
      } else {
        return
      }
    }
  }

  /// The runs of an author that hold an offset, which only grows.
  private struct Runs {
    private var origin: Int
    private var stamp: Int
    private var skew: Int

    init(of author: Author<Element>, at offset: UInt32) {
      origin = author.origins.index(holding: offset)
      stamp = author.stamps.index(holding: offset)
      skew = author.skews.index(holding: offset)
    }

    /// The run that begins at an offset: up to where origin or stamp change.
    mutating func insertion(
      of author: Author<Element>, _ index: AuthorIndex, from first: UInt32
    ) -> Changes.Insertion {
      var end = author.count
      Self.advance(&origin, in: author.origins, to: first, &end)
      Self.advance(&stamp, in: author.stamps, to: first, &end)
      Self.advance(&skew, in: author.skews, to: first, &end)
      let (origin, stamp) = (author.origins[origin], author.stamps[stamp])
      let place = UInt64(first - stamp.first)
      return Changes.Insertion(
        author: index, offset: first, count: end - first, isStepping: stamp.isStepping,
        left: origin.first == first ? origin.left : LocalID(index, first - 1),
        right: origin.right, number: stamp.number + (stamp.isStepping ? place : 0),
        lamport: UInt64(Int64(stamp.number + place) + author.skews[skew].skew))
    }

    @inline(__always)
    private static func advance<Run: ElementRun>(
      _ index: inout Int, in runs: [Run], to first: UInt32, _ end: inout UInt32
    ) {
      while index &+ 1 < runs.count {
        let next = runs[index &+ 1].first
        if next > first {
          end = Swift.min(end, next)
          return
        }
        index &+= 1
      }
    }
  }
}

extension Author {
  fileprivate func skew(of offset: UInt32) -> Int64 {
    Int64(lamport(of: offset)) - Int64(number(of: offset))
  }
}
