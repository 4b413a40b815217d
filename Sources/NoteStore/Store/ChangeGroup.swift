internal import Notes
internal import ReplicatingTypes

/// Changes of one session that go to the log together, with one append: a group commit.
///
/// A reader takes an append whole or not at all. So there are only two things that can become of a group, also where the process is killed in the
/// middle of the write, or the disk takes half of it; and there is a way back for all of its changes together, and none for some.
///
/// A class: it is looked at with every change, and no look may copy its records.
final class ChangeGroup {
  let session: ReplicaID
  /// The number of the session's last change before them.
  let number: UInt64
  /// Changes of other names that are written in front of them.
  let created: [ContentAddressedChange]
  private(set) var records: [(type: UInt8, payload: [UInt8])]
  /// The bytes of all records.
  private(set) var size: Int
  /// The number of changes of the session.
  private(set) var count: UInt64 = 0

  init(
    _ session: ReplicaID, after number: UInt64, creating created: [ContentAddressedChange],
    _ records: [(type: UInt8, payload: [UInt8])]
  ) {
    (self.session, self.number, self.created, self.records) = (session, number, created, records)
    size = records.reduce(0) { $0 + $1.payload.count }
  }

  /// The changes of the session, in order.
  var changes: [ChangeID] {
    (0..<count).map { ChangeID(replica: session, number: number + 1 + $0) }
  }

  /// True if one append, and one change set, can hold a change with the others.
  func hasRoom(for change: EncodedChange) -> Bool {
    change.bytes.count + size <= NoteStore.largestChange
      && change.bytes.count + size + (records.count + 1) * LogFormat.maximumOverhead
        <= LogFormat.maximumAppend
  }

  /// Adds a change for which there is room.
  func append(_ change: EncodedChange) {
    count += 1
    size += change.bytes.count
    records.append((RecordType.change.rawValue, change.bytes))
  }
}

/// The changes that this process makes, as far as they are known.
struct OwnChanges {
  /// The number of changes that it wrote in each of its sessions.
  var written = Version()
  /// The entries of history that its session is writing.
  var entries = OpenEntries()
  /// Those that are made together and not written yet.
  var group: ChangeGroup?
}
