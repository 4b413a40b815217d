public import ReplicatingTypes

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
  public internal(set) var what: WhatHappened
  /// The author of the changes; nil if none is named.
  public let author: Author?
  /// The last tick of logical time of the last change.
  let lamport: UInt64

  /// The state that its author saw after the last change.
  public var revision: Revision { Revision(heads: [last]) }

  var timestamp: LamportTimestamp { LamportTimestamp(count: lamport, replica: last.replica) }

  /// A pause of so many milliseconds ends an entry.
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
