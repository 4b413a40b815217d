public import ReplicatingTypes

// Changes of a notebook, in memory or in its archive.

extension NoteBook {
  /// Gets what is known of a replica ready for its next change.
  mutating func openHistory(of replica: ReplicaID) throws(ArchiveFailure) {
    guard let archive, histories.place(of: replica) == nil,
      let session = try archive.session(replica)
    else { return }
    histories.append(History(id: replica, session: session))
  }

  /// The changes that the archive has.
  public var archivedVersion: Version { archive?.version ?? Version() }

  /// The session of a replica in the archive; `nil` if there is none.
  func session(of replica: ReplicaID) throws(ArchiveFailure) -> NotebookArchive.Session? {
    if let place = histories.place(of: replica) { return histories.all[place].session }
    return try archive?.session(replica)
  }

  /// Whom a replica has named, by its last change.
  func mentions(of replica: ReplicaID) throws(ArchiveFailure) -> ReplicaTable {
    if histories.place(of: replica) != nil { return histories.end(of: replica).mentions }
    return try session(of: replica)?.mentions ?? ReplicaTable()
  }

  /// The last tick of a change that is known. O(1) for the last of its replica, or if it is in memory; else a block of the
  /// archive.
  @inline(__always)
  func lamport(of change: ChangeID) throws(ArchiveFailure) -> UInt64 {
    if let place = histories.place(of: change.replica),
      let lamport = histories.all[place].lamport(change.number)
    {
      return lamport
    }
    return try archivedLamport(of: change)
  }

  private func archivedLamport(of change: ChangeID) throws(ArchiveFailure) -> UInt64 {
    if let ticks = archivedTicks[change.replica], let tick = ticks[change.number] { return tick }
    if let archive, archive.version[change.replica] == change.number {
      return archive.lamport(of: change.replica)!
    }
    var found: UInt64 = 0
    _ = try forEachArchived(of: change.replica, in: change.number...change.number) {
      found = $2
      return false
    }
    return found
  }

  /// The most blocks of the archive's changes whose ticks are kept.
  private static let mostTicks = 8

  /// Gets the last tick of a change ready for `lamport(of:)`, if a block of the archive has it: changes beside it are asked for next, as a rule.
  mutating func openLamport(of change: ChangeID) throws(ArchiveFailure) {
    guard let archive, archive.version[change.replica] > change.number,
      archivedTicks[change.replica]?[change.number] == nil,
      let session = try session(of: change.replica),
      let (stretch, _) = session.stretch(with: change.number)
    else { return }
    var ticks = ArchivedTicks(first: stretch.numbers.lowerBound)
    _ = try archive.forEachChange(of: session, in: stretch.numbers) { _, _, lamport in
      ticks.all.append(lamport)
      return true
    }
    if archivedTicks.count >= Self.mostTicks { archivedTicks = [:] }
    archivedTicks[change.replica] = ticks
  }

  /// The last run of a replica's links that begins with a change up to one of them, known here; nil if there is none. Bases of notes that were
  /// purged may be among these: no question is about them, and an archive is written without them. O(log runs).
  func run(of replica: ReplicaID, upTo number: UInt64) throws(ArchiveFailure) -> LinkRun? {
    if let place = histories.place(of: replica), histories.all[place].archived < number,
      let run = histories.all[place].links.run(upTo: number)
    {
      return run
    }
    guard let archive, let session = try session(of: replica) else { return nil }
    return try archive.run(of: session, upTo: number)
  }

  /// All links of a replica. O(links).
  func links(of replica: ReplicaID) throws(ArchiveFailure) -> [HistoryLink] {
    let recent = histories.place(of: replica).map { place in
      histories.all[place].links.runs.flatMap(\.links).filter {
        $0.number > histories.all[place].archived
      }
    }
    guard let archive, let session = try session(of: replica) else { return recent ?? [] }
    return try archive.links(of: session) + (recent ?? [])
  }

  /// Visits changes of a replica that are in the archive, each with its last tick, until the visitor has seen enough;
  /// whether it has not.
  func forEachArchived(
    of replica: ReplicaID, in numbers: ClosedRange<UInt64>,
    _ body: (_ number: UInt64, _ encoded: ArraySlice<UInt8>, _ lamport: UInt64) -> Bool
  ) throws(ArchiveFailure) -> Bool {
    guard let archive, let session = try session(of: replica) else { return true }
    guard isArchiveBehind else { return try archive.forEachChange(of: session, in: numbers, body) }
    var redactor = Redactor(purged, author: replica, mentions: session.mentions)
    var failure: DecodingFailure?
    let isMore = try archive.forEachChange(of: session, in: numbers) { number, encoded, lamport in
      do throws(DecodingFailure) {
        let redacted = try redactor.redacted(encoded)
        return body(number, redacted.map { $0[...] } ?? encoded, lamport)
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw ArchiveFailure(failure) }
    return isMore
  }

  /// True if notes were purged since the archive was begun, so that changes in it may still tell of them.
  var isArchiveBehind: Bool { archive.map { $0.purged.count < purged.count } ?? false }

  /// True if notes have no signature in the archive because there was no time for it.
  var isArchiveUnsigned: Bool { archive.map { $0.signatures.left > 0 } ?? false }

  /// True if another archive would tell less of notes that were purged, or have signatures that this one lacks.
  public var isArchiveIncomplete: Bool { isArchiveBehind || isArchiveUnsigned }

  /// Visits changes of a replica, all known, in order, each with its last tick, until the visitor has seen enough.
  public func forEachEncoded(
    of replica: ReplicaID, in numbers: ClosedRange<UInt64>,
    _ body: (_ number: UInt64, _ encoded: ArraySlice<UInt8>, _ lamport: UInt64) -> Bool
  ) throws(ArchiveFailure) {
    let archived = try session(of: replica)?.count ?? 0
    if numbers.lowerBound <= archived {
      let old = numbers.lowerBound...min(numbers.upperBound, archived)
      guard try forEachArchived(of: replica, in: old, body) else { return }
    }
    guard numbers.upperBound > archived, let place = histories.place(of: replica) else { return }
    let history = histories.all[place]
    var redactor =
      unredacted.isEmpty
      ? nil : Redactor(unredacted, author: replica, mentions: history.mentions)
    for number in max(numbers.lowerBound, archived + 1)...numbers.upperBound {
      let encoded = history.change(number)
      // Reading does not fail: the change was read before it was applied.
      let redacted = try? redactor?.redacted(encoded)
      guard body(number, redacted.map { $0[...] } ?? encoded, history.lamport(number)!) else {
        return
      }
    }
  }

  // MARK: - Putting away

  /// Lets go of what is in an archive that was made of this notebook as it was when it was marked.
  public mutating func adopt(_ archive: NotebookArchive, markedAt mark: UInt64)
    throws(ArchiveFailure)
  {
    var rest = Histories()
    for history in histories.all {
      guard let session = try archive.session(history.id) else {
        rest.append(history)
        continue
      }
      if session.count < history.count { rest.append(history.adopting(session)) }
    }
    histories = rest
    // The changes that are left were applied when these notes were known as purged, so they were redacted then.
    unredacted.subtract(archive.purged)
    noteCache.adopt(archive, markedAt: mark)
    self.archive = archive
    lazyOrder?.adopt(archive)
  }

  /// A moment, for `adopt`.
  public mutating func mark() -> UInt64 { noteCache.mark() }
}

/// Changes that a replica has not seen, in logical time, read block by block.
struct News {
  /// The changes of one replica.
  private struct Queue {
    let replica: ReplicaID
    /// The changes that were read ahead, and the number of them that were taken.
    var changes: [(encoded: ArraySlice<UInt8>, lamport: UInt64)] = []
    var next = 0
    /// The number after the last that was read, and that of the last one to be read.
    var number: UInt64
    let last: UInt64

    var time: LamportTimestamp {
      LamportTimestamp(count: changes[next].lamport, replica: replica)
    }
  }

  private var queues: [Queue] = []
  private var order: LamportQueue
  private static let ahead: UInt64 = 256

  /// - Parameter part: the version up to which changes are read, all known.
  init(of book: NoteBook, since version: Version, within part: Version) throws(ArchiveFailure) {
    // Of very many replicas few have something new, as a rule.
    var new: [ChangeID] = []
    _ = part.allSatisfy(beyond: version) {
      new.append($0)
      return true
    }
    for last in new {
      var queue = Queue(
        replica: last.replica, number: version[last.replica] + 1, last: last.number)
      try Self.fill(&queue, from: book)
      queues.append(queue)
    }
    order = LamportQueue(queues.map(\.time))
  }

  private static func fill(_ queue: inout Queue, from book: NoteBook) throws(ArchiveFailure) {
    let end = min(queue.last, queue.number + ahead - 1)
    queue.changes = []
    queue.next = 0
    guard queue.number <= end else { return }
    var changes: [(encoded: ArraySlice<UInt8>, lamport: UInt64)] = []
    try book.forEachEncoded(of: queue.replica, in: queue.number...end) { _, encoded, lamport in
      changes.append((encoded, lamport))
      return true
    }
    guard changes.count == end - queue.number + 1 else {
      throw ArchiveFailure(reason: "changes of \(queue.replica) are missing")
    }
    queue.changes = changes
    queue.number = end + 1
  }

  mutating func next(
    in book: NoteBook
  ) throws(ArchiveFailure) -> (change: ChangeID, encoded: ArraySlice<UInt8>)? {
    guard let row = order.first else { return nil }
    let queue = queues[row]
    let number = queue.number - UInt64(queue.changes.count - queue.next)
    let change = ChangeID(replica: queue.replica, number: number)
    queues[row].next += 1
    if queues[row].next == queue.changes.count { try Self.fill(&queues[row], from: book) }
    if queues[row].changes.isEmpty {
      order.removeFirst()
    } else {
      order.moveFirst(to: queues[row].time)
    }
    return (change, queue.changes[queue.next].encoded)
  }
}
