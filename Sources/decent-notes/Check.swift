internal import NoteStore
internal import Notes
internal import ReplicatingTypes

/// Reads everything in a notebook's folder, and says in a user's words what is there and what is wrong with it.
///
/// Changes nothing in what it finds: what is damaged may be all there is.
struct Check {
  /// What to tell.
  let lines: [String]
  let isSound: Bool

  /// - Parameter repair: where programs keep their state, if what can be repaired is to be.
  init(
    folder: String, repair stateFolder: String?, makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    var lines: [String] = []
    if let stateFolder {
      lines += try Self.repaired(folder, stateFolder, makeIdentifier)
    }
    // Nothing is written, so no identity is ever needed; and nothing is believed that was kept elsewhere.
    let store = try NoteStore(path: folder, makeIdentifier: { Identifier(high: 0, low: 0) })
    store.verifySnapshots()
    isSound = store.damage.isEmpty
    guard let identity = store.identity else {
      self.lines = lines + ["\(folder): there is no notebook"] + Self.told(store)
      return
    }
    let counts = store.notebook.counts
    let changes = store.notebook.version.changes.reduce(0) { $0 + $1.number }
    lines += [
      "\(folder): notebook \(identity)",
      "\(Self.count(counts.live, "note")), \(counts.trashed) in the trash;"
        + " \(Self.count(Int(clamping: changes), "change")) in"
        + " \(Self.count(store.notebook.version.count, "session"))",
    ]
    lines += Self.told(store)
    lines.append(
      isSound
        ? "everything can be read"
        : "everything else can be read; nothing that is damaged was changed, and nothing should be"
          + " deleted")
    self.lines = lines
  }

  /// Does what can be done without touching what is damaged, and tells it.
  private static func repaired(
    _ folder: String, _ stateFolder: String, _ makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) -> [String] {
    let fresh = try NoteStore(path: folder, makeIdentifier: makeIdentifier)
    fresh.verifySnapshots()
    let store = try NoteStore(path: folder, state: stateFolder, makeIdentifier: makeIdentifier)
    guard store.identity != nil else { return [] }
    let repair = try store.repair(fresh.damage)
    return repair.copies.map { "copied what is damaged to \($0)" }
      + [
        repair.isRestored
          ? "wrote again what was known of this notebook and not in its folder any more"
          : "nothing is known of this notebook that is not in its folder"
      ]
  }

  private static func told(_ store: NoteStore) -> [String] {
    store.damage.map { damage in
      let line = "damage: \(damage.path), byte \(damage.offset): \(damage.description)"
      switch store.loss(at: damage.path) {
      case .mended: return line + "; nothing is lost by it"
      case .nothing: return line + "; nothing is lost by it, all of it stands in other files"
      case .records(let missing):
        return line + "; \(count(Int(clamping: missing), "record")) of it can't be found anywhere"
      case .unknown: return line + "; what else it held, if anything, can't be told"
      case nil: return line
      }
    }
  }

  private static func count(_ count: Int, _ thing: String) -> String {
    count == 1 ? "1 \(thing)" : "\(count) \(thing)s"
  }
}
