internal import NoteStore
internal import Notes
internal import NotesServer
internal import ReplicatingTypes

/// Reads everything in a notebook's folder, and says in a user's words what is there and what is damaged.
///
/// No file that was found is changed: a damaged one may be the only copy.
struct Check {
  /// The lines of the report.
  let lines: [String]
  /// True if nothing is damaged.
  let isSound: Bool

  /// - Parameters:
  ///   - stateFolder: the folder where the user's programs keep their state, if damage is to be repaired with what is there; else nil.
  ///   - makeIdentifier: makes random identifiers.
  init(
    folder: String, repair stateFolder: String?, makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    var lines: [String] = []
    if let stateFolder {
      lines += try Self.repaired(folder, stateFolder, makeIdentifier)
    }
    // Nothing is written, so no identity is needed; and nothing is taken from the state folder, which may hide damage.
    let store = try NoteStore(path: folder, makeIdentifier: { Identifier(high: 0, low: 0) })
    store.verifySnapshots()
    isSound = store.damage.isEmpty
    guard let identity = store.identity else {
      self.lines = lines + ["\(folder): there is no notebook"] + Self.damageLines(store)
      return
    }
    let counts = store.readableNotebook.counts
    let changes = store.notebook.version.changes.reduce(0) { $0 + $1.number }
    lines += [
      "\(folder): notebook \(identity)",
      "\(Self.count(counts.live, "note")), \(counts.trashed) in the trash;"
        + " \(Self.count(Int(clamping: changes), "change")) in"
        + " \(Self.count(store.notebook.version.count, "session"))",
    ]
    lines += store.notebook.version.branches.map {
      "divergedSession: session \($0) stands for changes that another machine knows under another session's names;"
        + " both are here, and what follows them does not travel between the two"
    }
    lines += Self.damageLines(store)
    if let refusal = store.writeRefusal { lines.append("nothing can be changed here: \(refusal)") }
    lines.append(
      isSound
        ? "everything can be read"
        : "everything else can be read; nothing that is damaged was changed, and nothing should be"
          + " deleted")
    self.lines = lines
  }

  /// Repairs what can be repaired without changing damaged files; returns lines for the report.
  private static func repaired(
    _ folder: String, _ stateFolder: String, _ makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) -> [String] {
    let fresh = try NoteStore(path: folder, makeIdentifier: makeIdentifier)
    fresh.verifySnapshots()
    let store = try NoteStore(
      path: folder, state: stateFolder, keys: .links, makeIdentifier: makeIdentifier)
    guard store.identity != nil else { return [] }
    let repair = try store.repair(fresh.damage)
    return repair.copies.map { "copied what is damaged to \($0)" }
      + [
        repair.isRestored
          ? "wrote again what was known of this notebook and not in its folder any more"
          : "nothing is known of this notebook that is not in its folder"
      ]
      + (repair.forgotten == 0
        ? []
        : [
          "changes of \(count(repair.forgotten, "session")) that were known here are nowhere any more, and not missed from now on"
        ])
  }

  private static func damageLines(_ store: NoteStore) -> [String] {
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
