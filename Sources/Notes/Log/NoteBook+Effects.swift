public import ReplicatingTypes

// What changes did with notes, read from their bytes.

extension NoteBook {
  /// The notes that changes are about which a version has not. O(replicas + those changes).
  public func notes(changedSince version: Version) throws(ArchiveFailure) -> Set<NoteID> {
    var notes: Set<NoteID> = []
    try forEachEffect(after: version) { note, _ in notes.insert(note) }
    return notes
  }

  /// Visits what changes did with notes which a version has not, replica by replica. O(replicas + those changes).
  func forEachEffect(
    after version: Version, _ body: (NoteID, WhatHappened) -> Void
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
    _ body: (_ number: UInt64, _ lamport: UInt64, NoteID, WhatHappened) -> Void
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
