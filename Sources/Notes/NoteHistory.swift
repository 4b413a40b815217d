public import ReplicatingTypes

/// The changes that one session made to a note within some minutes.
public struct HistoryEntry: Equatable, Sendable {
  /// The note as its author saw it after the last of these changes.
  public var revision: Revision
  /// When that was made, by its author's clock. Milliseconds since 1970.
  public var time: Int64
  /// The session that made the changes.
  public var replica: ReplicaID
  /// The author of the changes; nil if none is named.
  public var author: Author?
  /// The kinds of the changes.
  public var what: ChangeKind
  /// The bytes of text that the changes inserted.
  public var inserted = 0
  /// The bytes of text that the changes removed.
  public var deleted = 0

  /// - Parameter contributions: those of its session up to the last of the changes, in order. Takes those of the changes.
  fileprivate init(
    _ entry: LogEntry, taking contributions: inout [ReplicatingArray<UInt8>.Contribution]
  ) {
    revision = entry.revision
    time = entry.time
    replica = entry.last.replica
    author = entry.author
    what = entry.what
    while let last = contributions.last, last.number >= entry.first {
      inserted += last.inserted
      deleted += last.removed
      contributions.removeLast()
    }
  }
}

extension NoteBook {
  /// The history of a note, but for its places among the others, beginning with its creation; the newest first, at most `limit` entries.
  ///
  /// O(changes of the sessions that wrote in the note, back to the oldest entry or to its creation).
  public func history(of id: NoteID, limit: Int) throws(ArchiveFailure) -> [HistoryEntry] {
    guard let note = try note(id) else { return [] }
    var contributions = Dictionary(
      uniqueKeysWithValues: note.contributions.map { ($0.author, $0.changes) })
    var log = try self.log(of: note)
    var entries: [HistoryEntry] = []
    _ = try log.proceed(in: self) { entry in
      entries.append(
        HistoryEntry(entry, taking: &contributions[entry.last.replica, default: []]))
      return entries.count < limit
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
