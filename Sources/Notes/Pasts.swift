internal import ReplicatingTypes

/// The changes that the author of a change had seen with it, the change included.
struct Past: Sendable {
  /// The changes before it.
  var version: Version
  var change: ChangeID
  /// By note, what the author had seen of the text, where the change has a base for it.
  var bases: [NoteID: SeenChanges] = [:]

  func contains(_ other: ChangeID) -> Bool {
    other.replica == change.replica && other.number <= change.number || version.contains(other)
  }

  /// True if the author had seen a change when editing the text of a note.
  func contains(_ other: ChangeID, whenEditing note: NoteID) -> Bool {
    bases.isEmpty ? contains(other) : bases[note]?.contains(other) ?? contains(other)
  }
}

/// The pasts of replicas whose changes came lately. A cache: bounded, and never needed for the result.
struct Pasts: Sendable {
  private var entries: [ReplicaID: (number: UInt64, past: Version)] = [:]

  /// Takes out the past of a change, if it is here: it is about to grow into the next one's, and must not be copied.
  mutating func take(_ change: ChangeID) -> Version? {
    guard let entry = entries[change.replica], entry.number == change.number else { return nil }
    entries[change.replica] = nil
    return entry.past
  }

  mutating func set(_ replica: ReplicaID, _ number: UInt64, _ past: Version) {
    if entries.count >= 256 { entries = [:] }
    entries[replica] = (number, past)
  }
}
