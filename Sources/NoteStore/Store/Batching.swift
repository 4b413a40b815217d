internal import Notes
internal import ReplicatingTypes

/// Changes that were made and are not written yet, because they are written together with others, or not at all.
///
/// A class: it is looked at with every change, and no look may copy the notebook that it holds.
final class Batching {
  let session: ReplicaID
  /// The number of the session's last change before them.
  let number: UInt64
  /// The notebook without them; nil for a burst, for which it would have to be made.
  let before: NoteBook?
  /// One record for each change.
  private(set) var records: [(type: UInt8, payload: [UInt8])] = []
  /// The bytes of all changes.
  private(set) var size = 0

  init(_ session: ReplicaID, at number: UInt64, before: NoteBook?) {
    self.session = session
    self.number = number
    self.before = before
  }

  /// The changes, in order: the next ones of the session.
  var changes: [ChangeID] {
    records.indices.map { ChangeID(replica: session, number: number + 1 + UInt64($0)) }
  }

  /// True if one append can hold a change with the others.
  func hasRoom(for change: EncodedChange) -> Bool {
    change.bytes.count + size + (records.count + 1) * LogFormat.maximumOverhead
      <= LogFormat.maximumAppend
  }

  /// Adds a change for which there is room.
  func append(_ change: EncodedChange) {
    size += change.bytes.count
    records.append((RecordType.change.rawValue, change.bytes))
  }
}
