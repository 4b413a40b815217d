internal import Notes
internal import ReplicatingTypes

/// The version of the notebook that the other end of a link knows, and the changes that it is to be told next.
///
/// A notebook that knows a change knows all that the change follows. So changes that came from there are known there, and are not told back.
struct Listener {
  /// The version that is known there once everything is read that was sent.
  private(set) var known: Version
  /// The last changes of the notebook when nothing was left to be told; nil if something may be.
  private var heads: [ChangeID]?

  init(knowing version: Version) { known = version }

  /// Notes that something is known there.
  mutating func learn(_ version: Version) { known.merge(version) }

  /// The next changes to be told, in logical time: at most so many bytes of them, or one change; nil if all is known there. They count as
  /// told. O(heads) if the notebook is as it was.
  mutating func next(
    of book: borrowing NoteBook, limit: Int
  ) throws(ArchiveFailure) -> ChangeSet? {
    let heads = book.revision.heads
    if heads == self.heads { return nil }
    let (changes, reached, isMore) = try book.changes(since: known, limit: limit)
    known.merge(reached)
    self.heads = isMore ? nil : heads
    return changes.isEmpty ? nil : changes
  }
}
