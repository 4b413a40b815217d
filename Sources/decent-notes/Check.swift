internal import NoteStore
internal import Notes
internal import ReplicatingTypes

/// Reads everything in a notebook's folder, and says in a user's words what is there and what is wrong with it.
///
/// Changes nothing: what is damaged may be all there is.
struct Check {
  /// What to tell.
  let lines: [String]
  let isSound: Bool

  init(folder: String) throws(StoreError) {
    // Nothing is written, so no identity is ever needed; and nothing is believed that was kept elsewhere.
    let store = try NoteStore(path: folder, makeIdentifier: { Identifier(high: 0, low: 0) })
    guard let identity = store.identity else {
      lines = ["\(folder): there is no notebook"] + store.damage.map(Self.line)
      isSound = store.damage.isEmpty
      return
    }
    store.verifySnapshots()
    let counts = store.notebook.counts
    let changes = store.notebook.version.changes.reduce(0) { $0 + $1.number }
    lines =
      [
        "\(folder): notebook \(identity)",
        "\(Self.count(counts.live, "note")), \(counts.trashed) in the trash;"
          + " \(Self.count(Int(changes), "change")) in"
          + " \(Self.count(store.notebook.version.count, "session"))",
      ] + store.damage.map(Self.line)
      + [
        store.damage.isEmpty
          ? "everything can be read"
          : "everything else can be read; nothing was changed, and nothing should be deleted"
      ]
    isSound = store.damage.isEmpty
  }

  private static func line(_ damage: LogFolder.Damage) -> String {
    "damage: \(damage.path), byte \(damage.offset): \(damage.description)"
  }

  private static func count(_ count: Int, _ thing: String) -> String {
    count == 1 ? "1 \(thing)" : "\(count) \(thing)s"
  }
}
