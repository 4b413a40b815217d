public import ReplicatingTypes

/// Goes back through what happened in a notebook, the newest first: entry by entry, in the logical time of their last changes.
///
///     var log = try book.log()
///     while try log.proceed(in: book, work) { entry in … } { … }
///
/// It holds no part of the notebook, which may change between two calls; what comes meanwhile is not told. To begin with it looks at each
/// replica; from then on it reads only changes as new as the entries that are taken, and those of the sitting of each (`LogEntry`).
public struct NotebookLog: Sendable {
  private struct Row: Sendable {
    let replica: ReplicaID
    /// The number of its last change that may be told, and of its last one when the log was begun.
    let last: UInt64
    let known: UInt64
    /// Nil before it was looked for.
    var session: SessionLog?
  }

  private var rows: [Row] = []
  private var order: LamportQueue
  /// Entries are told whose last change comes before it; nil for all.
  private let end: LamportTimestamp?
  /// The only note whose entries are told; nil for all.
  private let note: LoggedNote?

  fileprivate init(
    of book: borrowing NoteBook, upTo version: Version, before end: LamportTimestamp?,
    only note: LoggedNote?
  ) throws(ArchiveFailure) {
    self.end = end
    self.note = note
    var times: [LamportTimestamp] = []
    for replica in version.replicas {
      // Where only a part of its changes is told, its last one is not looked at for that.
      let lamport = try book.lastLamport(of: replica)
      let time = LamportTimestamp(count: lamport, replica: replica)
      times.append(Self.reversed(end.map { min($0, time) } ?? time))
      rows.append(Row(replica: replica, last: version[replica], known: book.version[replica]))
    }
    order = LamportQueue(times)
  }

  /// The later a time is, the earlier this one.
  private static func reversed(_ time: LamportTimestamp) -> LamportTimestamp {
    LamportTimestamp(
      count: ~time.count, replica: ReplicaID(high: ~time.replica.high, low: ~time.replica.low))
  }

  /// Tells of the next entries, as long as the visitor wants more, and the work is less than `limit`; returns whether there may be more.
  ///
  /// The entry that the visitor does not want is not told again.
  ///
  /// - Parameter limit: counts changes, what reading them takes, and 64 for each entry. At least one entry, or block, is looked at.
  public mutating func proceed(
    in book: borrowing NoteBook, atMost limit: Int = .max, _ body: (LogEntry) -> Bool
  ) throws(ArchiveFailure) -> Bool {
    var work = 0
    while work < limit, let row = order.first {
      if rows[row].session == nil {
        rows[row].session = try session(rows[row], in: book)
        work += 64
      } else if !rows[row].session!.isReady {
        work += try rows[row].session!.proceed(in: book, only: note)
      } else {
        work += 64
        let entry = rows[row].session!.takeFirst()
        if end.map({ entry.timestamp < $0 }) ?? true, !body(entry) { return true }
      }
      if rows[row].session!.isAtEnd {
        rows[row].session = nil
        order.removeFirst()
      } else if let bound = rows[row].session!.bound {
        order.moveFirst(to: Self.reversed(end.map { min($0, bound) } ?? bound))
      }
    }
    return order.first != nil
  }

  /// The log of a replica, from the end of the sitting in which the first entry may be.
  private func session(_ row: Row, in book: borrowing NoteBook) throws(ArchiveFailure) -> SessionLog
  {
    var last = row.last
    if let end, try book.lastLamport(of: row.replica) >= end.count {
      last = min(last, try book.lastNumber(of: row.replica, before: end))
    }
    // Of one note nothing comes behind its last change, so the rest of that sitting needs no look.
    return try SessionLog(
      of: row.replica, from: note == nil ? LogEntry.end(of: last, upTo: row.known) : last, in: book)
  }
}

extension NoteBook {
  /// The log of this notebook. O(replicas).
  ///
  /// - Parameter end: a state, known here: only entries are told whose last change comes, in logical time, before the last change of that. Nil
  ///   for all.
  public func log(before end: Revision? = nil) throws(ArchiveFailure) -> NotebookLog {
    let times = try end?.heads.map { change throws(ArchiveFailure) in
      LamportTimestamp(count: try lamport(of: change), replica: change.replica)
    }
    // Before the state of nothing there is nothing.
    return try NotebookLog(
      of: self, upTo: times?.isEmpty == true ? Version() : version, before: times?.max(), only: nil)
  }

  /// The log of one note, which is here, without moves. O(replicas that have changed it), and what reading its creation takes.
  func log(of note: Note) throws(ArchiveFailure) -> NotebookLog {
    try NotebookLog(
      of: self, upTo: note.version.intersection(version), before: nil,
      only: LoggedNote(
        id: note.id, created: try lamport(of: note.id.creation), time: note.created))
  }

  /// The summary of a note; nil if there is no such note, or it was purged. O(log notes).
  public func summary(of id: NoteID) throws(ArchiveFailure) -> NoteSummary? {
    guard noteCache.contains(id), !isPurged(id) else { return nil }
    return try noteCache.summary(of: id, among: nil)
  }
}

/// The changes that one author made to one note within some minutes, as one row of a history or log.
///
/// The changes of a replica are cut into sittings: a sitting ends when another author is named, with every tenth minute of the author's
/// clock, and after at most 4,096 changes. The changes of one note in a sitting are one entry, and several where the author left the note
/// alone for a minute, and where a change says that one begins (`OpenEntries` has when). So whether two changes are in one entry depends on
/// the changes of the sitting alone, and not on those of others or on the place where reading begins.
public struct LogEntry: Equatable, Sendable {
  /// The last of the changes. Its revision is the state that its author saw then.
  public let last: ChangeID
  /// The number of the first of them.
  public internal(set) var first: UInt64
  /// The time of the last of them, by its author's clock. Milliseconds since 1970.
  public let time: Int64
  /// The note.
  public let note: NoteID
  /// The kinds of changes that were made.
  public internal(set) var what: ChangeKind
  /// The author of the changes; nil if none is named.
  public let author: Author?
  /// The last tick of logical time of the last change.
  let lamport: UInt64

  /// The state that its author saw after the last change.
  public var revision: Revision { Revision(heads: [last]) }

  var timestamp: LamportTimestamp { LamportTimestamp(count: lamport, replica: last.replica) }

  /// A pause of this length, in milliseconds, ends an entry.
  static let pause: Int64 = 60_000
  /// Sittings end with these intervals of the clock, in milliseconds.
  private static let sitting: Int64 = 600_000
  /// Sittings end with changes of these numbers.
  static let mostChanges: UInt64 = 4096

  /// True if a sitting ends with a change, by its time and that of the change behind it.
  static func isSittingEnd(_ number: UInt64, at time: Int64, before next: Int64) -> Bool {
    number.isMultiple(of: mostChanges) || interval(of: time) != interval(of: next)
  }

  /// A change that ends a sitting, with or behind another change, or the last there is.
  static func end(of number: UInt64, upTo last: UInt64) -> UInt64 {
    min(last, (number + mostChanges - 1) / mostChanges * mostChanges)
  }

  private static func interval(of time: Int64) -> Int64 {
    // Rounded down, before 1970 too.
    (time - (time % sitting + sitting) % sitting) / sitting
  }
}

// The effects of changes on notes, read from the bytes of the changes.

extension NoteBook {
  /// The notes that changes are about which a version has not. O(replicas + those changes).
  public func notes(changedSince version: Version) throws(ArchiveFailure) -> Set<NoteID> {
    var notes: Set<NoteID> = []
    try forEachEffect(after: version) { note, _ in notes.insert(note) }
    return notes
  }

  /// Visits what changes did with notes which a version has not, replica by replica. O(replicas + those changes).
  func forEachEffect(
    after version: Version, _ body: (NoteID, ChangeKind) -> Void
  ) throws(ArchiveFailure) {
    for replica in self.version.replicas where version[replica] < self.version[replica] {
      try forEachEffect(of: replica, in: version[replica] + 1...self.version[replica]) {
        _, _, note, what in body(note, what)
      }
    }
  }

  /// Calls `body` with each note that a change of a replica, known here, has changed, once for each change. O(those changes).
  func forEachEffect(
    of replica: ReplicaID, in numbers: ClosedRange<UInt64>,
    _ body: (_ number: UInt64, _ lamport: UInt64, NoteID, ChangeKind) -> Void
  ) throws(ArchiveFailure) {
    var reader = EffectReader(of: replica, mentions: try mentions(of: replica))
    try forEachEncoded(of: replica, in: numbers) { number, encoded, lamport in
      // A change that can't be read was applied once, and is damaged since: it is left out.
      guard (try? reader.read(number, encoded)) != nil else { return true }
      for (note, what) in reader.effects { body(number, lamport, note, what) }
      return true
    }
  }
}
