internal import ReplicatingTypes

/// The histories of replicas, as far as they are in memory.
///
/// One is looked at and changed where it stands. (A dictionary of such large values would copy one for each look, reference
/// by reference.) As a rule the one that was changed last is wanted again, so that one is found without hashing.
struct Histories: Sendable {
  private var places: [ReplicaID: Int] = [:]
  private(set) var all: [History] = []
  private var latest = 0

  /// Where the history of a replica stands among `all`; that stays.
  func place(of replica: ReplicaID) -> Int? {
    latest < all.count && all[latest].id == replica ? latest : places[replica]
  }

  subscript(replica: ReplicaID) -> History? { place(of: replica).map { all[$0] } }

  /// The state of a replica after its last change: its mentions and the change's time.
  func end(of replica: ReplicaID) -> (mentions: ReplicaTable, time: Int64) {
    place(of: replica).map { (all[$0].mentions, all[$0].lastTime) } ?? (ReplicaTable(), 0)
  }

  /// The author of a replica's last change.
  func lastAuthor(of replica: ReplicaID) -> Author? {
    place(of: replica).flatMap { all[$0].lastAuthor }
  }

  /// A history that is here, in its place.
  subscript(existing replica: ReplicaID) -> History {
    _read { yield all[place(of: replica)!] }
    _modify {
      latest = place(of: replica)!
      yield &all[latest]
    }
  }

  /// Leaves nothing of what changes here did to notes that were purged. O(changes here).
  mutating func redact(_ purged: Set<NoteID>) {
    for place in all.indices { all[place].redact(purged) }
  }

  mutating func append(_ history: History) {
    latest = all.count
    places[history.id] = latest
    all.append(history)
  }
}
