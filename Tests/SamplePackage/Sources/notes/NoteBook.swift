import ReplicatingTypes
import ReplicatingTypesFoundation

struct NoteBook: Composed, Codable {
  private var notesByIdentifier = ReplicatingDictionary<Note.ID, Note>()
  private var orderedNoteIdentifiers = ReplicatingOrderedSet<Note.ID>()

  static var parts: some PartsOf<Self> {
    Composition(\Self.notesByIdentifier, \.orderedNoteIdentifiers)
  }

  /// The notes, in the user's order. One that somebody deleted while another edited it is back, at the end.
  var notes: [Note] {
    let placed = orderedNoteIdentifiers.compactMap { notesByIdentifier[$0] }
    let others = notesByIdentifier.values.filter { !orderedNoteIdentifiers.contains($0.id) }
    return placed + others.sorted { $0.creationDate < $1.creationDate }
  }

  mutating func create(_ note: Note, at index: Int, by replica: inout Replica) throws {
    try notesByIdentifier.set(note, forKey: note.id, by: &replica)
    orderedNoteIdentifiers.insert(note.id, at: index, by: &replica)
  }

  mutating func edit(
    _ id: Note.ID, by replica: inout Replica, _ body: (inout Note, inout Replica) -> Void
  ) {
    guard let note = notesByIdentifier[id] else { return }
    notesByIdentifier.update(id, default: note, by: &replica, body)
  }

  mutating func move(_ id: Note.ID, to index: Int, by replica: inout Replica) {
    orderedNoteIdentifiers.move(id, to: index, by: &replica)
  }

  mutating func delete(_ id: Note.ID, by replica: inout Replica) {
    orderedNoteIdentifiers.remove(id, by: &replica)
    notesByIdentifier.remove(id, by: &replica)
  }
}
