internal import Notes
internal import ReplicatingTypes

/// Changes that were made and are not written yet, because they are written together with others, or not at all.
///
/// A class: it is looked at with every change, and no look may copy the notebook that it holds.
final class Batching {
  let session: ReplicaID
  /// The number of the session's last change before them.
  let number: UInt64
  /// The notebook without them, and what was counted of it; nil for a burst, for which it would have to be made.
  let before: NoteBook?
  let written: UInt64
  let unkept: Int
  /// One record for each change.
  private(set) var records: [(type: UInt8, payload: [UInt8])] = []
  private var size = 0

  init(
    _ session: ReplicaID, at number: UInt64, before: NoteBook?, written: UInt64, unkept: Int
  ) {
    self.session = session
    self.number = number
    self.before = before
    self.written = written
    self.unkept = unkept
  }

  /// The changes, in order: the next ones of the session.
  var changes: [ChangeID] {
    records.indices.map { ChangeID(replica: session, number: number + 1 + UInt64($0)) }
  }

  /// True if one append can hold a change with the others.
  func hasRoom(for change: EncodedChange) -> Bool {
    change.bytes.count <= LogFormat.maximumAppend - LogFormat.maximumOverhead - size
  }

  /// Adds a change for which there is room.
  func append(_ change: EncodedChange) {
    size += change.bytes.count + LogFormat.maximumOverhead
    records.append((RecordType.change.rawValue, change.bytes))
  }
}
