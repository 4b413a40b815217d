internal import ReplicatingTypes

/// The changes that the author of a change had seen with it, the change included.
struct Past: Sendable {
  /// The changes before it; perhaps without some of its author's.
  var version: Version
  var change: ChangeID
  /// True if the version is that of the notebook.
  let isComplete: Bool
  /// The number of its author's first change with which that had seen no others than with this one.
  let since: UInt64
  /// By note, what the author had seen of the text, where the change has a base for it.
  var bases: [NoteID: SeenChanges] = [:]

  func contains(_ other: ChangeID) -> Bool {
    other.replica == change.replica && other.number <= change.number || version.contains(other)
  }

  /// The same as one value.
  var awareness: Awareness { Awareness(version: version, since: since) }

  /// The same of the text of a note.
  func awareness(whenEditing note: NoteID) -> Awareness {
    guard !bases.isEmpty, let seen = bases[note] else { return awareness }
    return Awareness(version: seen.version, since: change.number)
  }

  /// True if the author had seen a change when editing the text of a note.
  func contains(_ other: ChangeID, whenEditing note: NoteID) -> Bool {
    bases.isEmpty ? contains(other) : bases[note]?.contains(other) ?? contains(other)
  }
}

/// What some changes follow, and they themselves: of those that were asked for lately. A cache: bounded, and never needed for the result.
///
/// They share what they have in common, so that one more takes O(log replicas) of memory as a rule.
struct CausalHistoryCache: Sendable {
  /// So many are kept, and up to twice as many. Fewer in tests.
  var limit = 1024
  /// The number of changes that were looked at because no past was kept. For tests.
  var steps = 0

  private var recent: [ChangeID: Version] = [:]
  private var older: [ChangeID: Version] = [:]

  /// What a change follows, and it itself, if that is here.
  subscript(change: ChangeID) -> Version? { recent[change] ?? older[change] }

  /// The same; then it is kept as one that was asked for last.
  mutating func take(_ change: ChangeID) -> Version? {
    if let past = recent[change] { return past }
    guard let past = older[change] else { return nil }
    insert(past, of: change)
    return past
  }

  mutating func insert(_ past: Version, of change: ChangeID) {
    if recent.count >= limit {
      older = recent
      recent = [:]
    }
    recent[change] = past
  }
}
