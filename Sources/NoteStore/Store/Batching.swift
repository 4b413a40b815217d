internal import Notes
internal import ReplicatingTypes

/// Changes that were made and are not written yet, because they are written together with others, or not at all.
struct Batching {
  let session: ReplicaID
  /// The notebook without them, and what was counted of it.
  let before: NoteBook
  let written: UInt64?
  let unkept: Int
  private(set) var changes: [ChangeID] = []
  private(set) var records: [(type: UInt8, payload: [UInt8])] = []
  private var size = 0

  init(_ session: ReplicaID, before: NoteBook, written: UInt64?, unkept: Int) {
    self.session = session
    self.before = before
    self.written = written
    self.unkept = unkept
  }

  /// Adds a change; false if one append can't hold it with the others.
  mutating func append(_ change: EncodedChange) -> Bool {
    let (count, overhead) = (change.bytes.count, LogFormat.maximumOverhead)
    guard count <= LogFormat.maximumAppend - overhead - size else { return false }
    size += count + overhead
    changes.append(change.change.id)
    records.append((RecordType.change.rawValue, change.bytes))
    return true
  }
}
