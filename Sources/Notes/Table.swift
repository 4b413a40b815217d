/// The notes of a notebook, by their names.
///
/// A note is a large value; it is looked at and changed where it stands. (A dictionary of notes would copy one for each
/// look, reference by reference.)
struct NoteTable: Sendable {
  private var places: [NoteID: Int] = [:]
  private(set) var notes: [Note] = []

  var count: Int { notes.count }

  func contains(_ id: NoteID) -> Bool { places[id] != nil }

  /// A copy of a note.
  subscript(id: NoteID) -> Note? { places[id].map { notes[$0] } }

  /// A note that is here, in its place.
  subscript(existing id: NoteID) -> Note {
    _read { yield notes[places[id]!] }
    _modify { yield &notes[places[id]!] }
  }

  mutating func append(_ note: Note) {
    places[note.id] = notes.count
    notes.append(note)
  }

  mutating func removeLast() {
    places[notes.removeLast().id] = nil
  }
}

extension NoteTable: Equatable {
  /// The same notes, whatever order they came in.
  static func == (a: Self, b: Self) -> Bool {
    a.count == b.count && a.notes.allSatisfy { b[$0.id] == $0 }
  }
}
