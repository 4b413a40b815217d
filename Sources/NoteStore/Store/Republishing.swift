internal import Notes
internal import ReplicatingTypes

/// The state of writing changes and records again that the folder has lost, or may have lost.
struct Republishing {
  /// The records that a full reread did not find, until they are written again.
  var missing: MissingRecords?
  /// True if the disk has refused a second copy of records that it had refused before.
  var isDiskFailing = false
  /// The error that kept the records from being written again.
  var failure: StoreError?
  /// The replicas of changes that were pending at the last full reread, and how much of them was known then. Such a change
  /// may be one that the folder lacks.
  private var waiting: [(replica: ReplicaID, number: UInt64)] = []

  /// Notes the replicas of pending changes.
  mutating func wait(for replicas: some Sequence<ReplicaID>, _ version: Version) {
    waiting = replicas.map { ($0, version[$0]) }
  }

  /// Forgets the replicas of which more is known now; returns whether there are any.
  mutating func endWaiting(_ version: Version) -> Bool {
    let count = waiting.count
    waiting.removeAll { version[$0.replica] > $0.number }
    return waiting.count < count
  }
}

/// Changes and records that are in no file of the folder any more. Without the records the rest of their sessions cannot be
/// read.
struct MissingRecords {
  /// The replicas of which changes or records are missing.
  var replicas: Set<ReplicaID> = []
  /// The records.
  var pieces: [SessionPiece] = []
}
