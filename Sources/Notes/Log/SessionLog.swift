internal import ReplicatingTypes

/// A note whose entries alone are told, without those that only moved it.
struct LoggedNote: Sendable {
  let id: NoteID
  /// The last tick of its creation. Every other change of it follows that, so it comes later.
  let created: UInt64
  /// When it was created, in milliseconds since 1970.
  let time: Int64
}

/// Goes back through the changes of one replica and makes entries of them, sitting by sitting.
struct SessionLog {
  let replica: ReplicaID
  private let authors: AuthorRuns
  private var reader: EffectReader
  /// A change that was read and not gone through.
  private struct Read {
    let number: UInt64
    let time: Int64
    let lamport: UInt64
    /// The number of the change with which an entry begins, if this one says so; else 0.
    let entryStart: UInt64
    /// The places in `told` of what entries say about the change.
    let told: Range<Int>
  }
  /// In the order of their numbers, and what is told of them.
  private var read: [Read] = []
  private var told: [(note: NoteID, what: ChangeKind)] = []
  /// The number of the last change that was not read.
  private var rest: UInt64
  /// The change that was gone through last; nil if that was in a later sitting.
  private var last: (number: UInt64, time: Int64, lamport: UInt64)?
  /// The entries of its sitting, as far as they are known: the newest first.
  private var entries: [LogEntry] = []
  /// The numbers of those that were taken, and of those that can be: nothing is added to them any more.
  private var taken = 0
  private var complete = 0
  private var isSittingOver = false
  /// The oldest entry of each note in it, the time of its oldest change, and the number before which no change is one of it.
  private var oldest: [NoteID: (place: Int, time: Int64, start: UInt64)] = [:]

  /// - Parameter end: the change to begin with, with which a sitting ends.
  init(of replica: ReplicaID, from end: UInt64, in book: borrowing NoteBook) throws(ArchiveFailure)
  {
    self.replica = replica
    rest = end
    authors = try book.authors(of: replica)
    reader = EffectReader(of: replica, mentions: try book.mentions(of: replica))
  }

  /// No later entry comes; nil if that is not known better than before.
  var bound: LamportTimestamp? {
    let lamport =
      taken < entries.count
      ? entries[taken].lamport : read.last?.lamport ?? last.map { max($0.lamport, 1) - 1 }
    return lamport.map { LamportTimestamp(count: $0, replica: replica) }
  }

  /// True if an entry can be taken.
  var isReady: Bool { taken < complete }

  /// True if nothing is left.
  var isAtEnd: Bool { !isReady && read.isEmpty && rest == 0 && (isSittingOver || last == nil) }

  /// The next entry, if `isReady`.
  mutating func takeFirst() -> LogEntry {
    defer { taken += 1 }
    return entries[taken]
  }

  /// Goes on until an entry can be taken, a sitting is over, or more has to be read, and reads that; returns the work that this took.
  ///
  /// - Parameter note: the only note whose entries are wanted; nil for all.
  mutating func proceed(
    in book: borrowing NoteBook, only note: LoggedNote?
  ) throws(ArchiveFailure) -> Int {
    if isSittingOver { beginSitting() }
    if read.isEmpty, rest > 0 { return try readBlock(of: book, only: note) }
    var work = 1
    while !isReady, let next = read.last {
      if let last,
        LogEntry.isSittingEnd(next.number, at: next.time, before: last.time)
          || authors.isNamed(by: last.number)
      {
        endSitting()
        return work
      }
      read.removeLast()
      work += 1 + next.told.count
      for (changed, what) in told[next.told] { add(next, changed, what) }
      // Before it was created nobody has done anything with a note.
      while complete < entries.count, entries[complete].what.contains(.created) { complete += 1 }
      last = (next.number, next.time, next.lamport)
    }
    if read.isEmpty, rest == 0 { endSitting() }
    return work
  }

  private mutating func beginSitting() {
    (entries, oldest, last) = ([], [:], nil)
    (taken, complete, isSittingOver) = (0, 0, false)
  }

  private mutating func endSitting() {
    complete = entries.count
    isSittingOver = true
  }

  private mutating func add(_ change: Read, _ note: NoteID, _ what: ChangeKind) {
    if let (place, time, start) = oldest[note], abs(time - change.time) < LogEntry.pause,
      change.number >= start
    {
      entries[place].first = change.number
      entries[place].what.formUnion(what)
      oldest[note] = (place, change.time, max(start, change.entryStart))
      return
    }
    oldest[note] = (entries.count, change.time, change.entryStart)
    entries.append(
      LogEntry(
        last: ChangeID(replica: replica, number: change.number), first: change.number,
        time: change.time, note: note, what: what, author: authors.author(of: change.number),
        lamport: change.lamport))
  }

  /// Reads the block that has the next change: of the archive, or in memory.
  private mutating func readBlock(
    of book: borrowing NoteBook, only note: LoggedNote?
  ) throws(ArchiveFailure) -> Int {
    let (numbers, timeBefore) = try book.stretch(of: replica, upTo: rest)
    told.removeAll(keepingCapacity: true)
    var time = timeBefore
    var size = 0
    var failure: DecodingFailure?
    try book.forEachEncoded(of: replica, in: numbers) { number, encoded, lamport in
      // An archive may say anything.
      time = Change.clamped(time &+ encoded.timeStep)
      size += encoded.count
      do throws(DecodingFailure) { try reader.read(number, encoded) } catch {
        failure = error
        return false
      }
      let start = told.count
      let change = ChangeID(replica: replica, number: number)
      // A change that is named by its content has no time.
      if reader.isContentAddressed, let note { time = note.time }
      for (changed, what) in reader.effects where note != nil || !reader.isContentAddressed {
        let what = Self.told(what, of: changed, by: change, in: book, only: note?.id)
        if !what.isEmpty { told.append((changed, what)) }
      }
      read.append(
        Read(
          number: number, time: time, lamport: lamport, entryStart: reader.entryStart,
          told: start..<told.count))
      return true
    }
    if let failure { throw ArchiveFailure(failure) }
    guard read.count == numbers.count else {
      throw ArchiveFailure(reason: "changes of \(replica) are missing")
    }
    rest = numbers.lowerBound - 1
    // No earlier change of the replica can be one of this note.
    if let note, let first = read.first, first.lamport <= note.created { rest = 0 }
    return 16 + 2 * read.count + size / 256
  }

  /// The kinds of changes to a note that an entry names. The log of one note has no moves of it, and that of the notebook of a purged note only the purge.
  private static func told(
    _ what: ChangeKind, of changed: NoteID, by change: ChangeID, in book: borrowing NoteBook,
    only note: NoteID?
  ) -> ChangeKind {
    let what = what.subtracting(.property)
    if let note {
      // Of a creation that is named by its content the log of all notes tells when each replica has made it.
      let kept = what.subtracting(changed.creation == change ? .move : [.move, .created])
      let isTold = kept == what || !kept.subtracting(.imported).isEmpty
      return changed == note && isTold ? kept : []
    }
    return book.isPurged(changed) ? what.intersection(.purge) : what
  }
}

extension NoteBook {
  /// Changes of a replica, up to one of them, that are read together, and the time of the change before them.
  func stretch(
    of replica: ReplicaID, upTo number: UInt64
  ) throws(ArchiveFailure) -> (numbers: ClosedRange<UInt64>, timeBefore: Int64) {
    if let place = histories.place(of: replica), histories.all[place].archived < number {
      return histories.all[place].stretch(upTo: number)
    }
    guard let (stretch, timeBefore) = try session(of: replica)?.stretch(with: number) else {
      throw ArchiveFailure(reason: "changes of \(replica) are missing")
    }
    return (stretch.numbers.lowerBound...number, timeBefore)
  }

  /// The number of a replica's last change whose last tick comes before one of any replica; 0 if there is none. O(log changes), and where the
  /// archive has it a block of that.
  func lastNumber(
    of replica: ReplicaID, before time: LamportTimestamp
  ) throws(ArchiveFailure) -> UInt64 {
    if let place = histories.place(of: replica),
      let number = histories.all[place].number(before: time)
    {
      return number
    }
    guard let archive, let session = try session(of: replica) else { return 0 }
    guard let (stretch, _) = session.stretch(from: time.count) else { return session.count }
    var last = stretch.numbers.lowerBound - 1
    _ = try archive.forEachChange(of: session, in: stretch.numbers) { number, _, lamport in
      guard LamportTimestamp(count: lamport, replica: replica) < time else { return false }
      last = number
      return true
    }
    return last
  }

  /// The last tick of a replica's last change. O(log replicas).
  func lastLamport(of replica: ReplicaID) throws(ArchiveFailure) -> UInt64 {
    if let place = histories.place(of: replica) {
      let history = histories.all[place]
      return history.lamport(history.count) ?? 0
    }
    return archive?.lamport(of: replica) ?? 0
  }
}

extension ArraySlice<UInt8> {
  /// By how much the time of the change that this is exceeds that of its replica's change before.
  var timeStep: Int64 {
    var reader = ByteReader(self)
    return (try? reader.signed()) ?? 0
  }
}
