public import ReplicatingTypes

/// The changes that one session made to a note's text within some minutes.
public struct HistoryEntry: Equatable, Sendable {
  /// The note as its author saw it after the last of these changes.
  public var revision: Revision
  /// When that was made, by its author's clock. Milliseconds since 1970.
  public var time: Int64
  /// The session that made the changes.
  public var replica: ReplicaID
  /// Bytes of text.
  public var inserted: Int
  /// Bytes of text.
  public var deleted: Int
}

extension NoteBook {
  /// A pause of so many milliseconds ends an entry.
  private static let pause: Int64 = 60_000
  /// Nor does one last longer than this.
  private static let longestEntry: Int64 = 600_000

  /// The history of a note's text, beginning with its creation; the newest first, at most `limit` entries. Each session's
  /// changes are taken together as long as it made no pause, also when others wrote in between.
  ///
  /// O(changes of the sessions that wrote in the note, up to the last time they did); of others than the note's only the
  /// times are read.
  public func history(of id: NoteID, limit: Int) throws(ArchiveFailure) -> [HistoryEntry] {
    guard let note = try note(id) else { return [] }
    var entries: [(entry: HistoryEntry, lamport: UInt64)] = []
    var isCreationKnown = false
    for (author, changes) in note.contributions where !changes.isEmpty {
      isCreationKnown = isCreationKnown || author == id.creation.replica
      entries += try self.entries(
        of: author, author == id.creation.replica ? including(id.creation.number, changes) : changes
      )
    }
    if !isCreationKnown {
      entries += try self.entries(of: id.creation.replica, including(id.creation.number, []))
    }
    entries.sort {
      LamportTimestamp(count: $0.lamport, replica: $0.entry.replica)
        > LamportTimestamp(count: $1.lamport, replica: $1.entry.replica)
    }
    return entries.prefix(limit).map(\.entry)
  }

  /// The changes of the note's author with the one that created it.
  private func including(
    _ creation: UInt64, _ changes: [ReplicatingArray<UInt8>.Contribution]
  ) -> [ReplicatingArray<UInt8>.Contribution] {
    changes.first?.number == creation ? changes : [.init(number: creation)] + changes
  }

  /// The changes of one replica, ascending, as entries.
  private func entries(
    of replica: ReplicaID, _ changes: [ReplicatingArray<UInt8>.Contribution]
  ) throws(ArchiveFailure) -> [(entry: HistoryEntry, lamport: UInt64)] {
    var entries: [(entry: HistoryEntry, lamport: UInt64)] = []
    var start: Int64 = 0
    var time: Int64 = 0
    var next = 0
    try forEachEncoded(of: replica, in: 1...changes[changes.count - 1].number) {
      number, encoded, lamport in
      // A change begins with its distance from the time of the one before.
      var reader = ByteReader(encoded)
      guard let distance = try? reader.signed() else { return false }
      time &+= distance
      guard number == changes[next].number else { return true }
      if let last = entries.last?.entry, abs(time - last.time) < Self.pause,
        time - start < Self.longestEntry
      {
        entries[entries.count - 1].lamport = lamport
      } else {
        let entry = HistoryEntry(
          revision: Revision(heads: []), time: time, replica: replica, inserted: 0, deleted: 0)
        entries.append((entry, lamport))
        start = time
      }
      let last = entries.count - 1
      entries[last].entry.revision.heads = [ChangeID(replica: replica, number: number)]
      entries[last].entry.time = time
      entries[last].entry.inserted += changes[next].inserted
      entries[last].entry.deleted += changes[next].removed
      next += 1
      return next < changes.count
    }
    return entries
  }
}

extension Note {
  /// The numbers of bytes that each change brought into the text and took out of it, of each author in the order of its changes; a
  /// withdrawal brings what those removed that it names, and takes what they inserted. O(changes).
  var contributions: [(author: ReplicaID, changes: [ReplicatingArray<UInt8>.Contribution])] {
    var contributions = text.contributions
    if withdrawals.isEmpty { return contributions }
    for withdrawal in withdrawals.list {
      let change = withdrawal.stamp.change
      let (inserted, removed) = text.contribution(of: withdrawal.changes)
      var contribution = ReplicatingArray<UInt8>.Contribution(number: change.number)
      contribution.inserted = removed
      contribution.removed = inserted
      if let place = contributions.firstIndex(where: { $0.author == change.replica }) {
        contributions[place].changes.append(contribution)
      } else {
        contributions.append((change.replica, [contribution]))
      }
    }
    for place in contributions.indices {
      var joined: [ReplicatingArray<UInt8>.Contribution] = []
      for next in contributions[place].changes.sorted(by: { $0.number < $1.number }) {
        if joined.last?.number == next.number {
          joined[joined.count - 1].inserted += next.inserted
          joined[joined.count - 1].removed += next.removed
        } else {
          joined.append(next)
        }
      }
      contributions[place].changes = joined
    }
    return contributions
  }
}
