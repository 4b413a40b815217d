internal import NoteStore
internal import Notes
internal import ReplicatingTypes

/// Forgets notes of the trash for good.
struct Purge {
  /// The number of notes that were forgotten.
  private(set) var count = 0
  /// The reasons why nothing was done: one for each note that can't be purged.
  private(set) var failures: [String] = []

  /// So many notes are purged with one change: each is opened for that.
  private static let mostAtOnce = 256

  /// Purges the notes with these names, if all of them can be.
  init(of names: [String], in store: NoteStore, by author: Author?, at now: Int64)
    throws(StoreError)
  {
    var notes: [NoteID] = []
    for name in names {
      let id = NoteID(name)
      if let id, store.notebook.isPurged(id) {
        failures.append("\(name): it was purged before")
      } else if let id, let note = try store.note(id) {
        if !note.isTrashed { failures.append("\(name): it is not in the trash") }
        if !notes.contains(id) { notes.append(id) }
      } else {
        failures.append("\(name): there is no such note")
      }
    }
    if failures.isEmpty { try purge(notes, in: store, by: author, at: now) }
  }

  /// Purges the notes that have been in the trash for `age` milliseconds.
  init(trashOf store: NoteStore, olderThan age: Int64, by author: Author?, at now: Int64)
    throws(StoreError)
  {
    var notes: [NoteID] = []
    try store.openOrder()
    do {
      try store.recall { book throws(ArchiveFailure) in
        notes = []
        try book.forEachSummary { summary in
          if let trashed = summary.trashed, trashed <= now - age { notes.append(summary.id) }
          return true
        }
      }
    } catch { throw error }
    try purge(notes, in: store, by: author, at: now)
  }

  private mutating func purge(
    _ notes: [NoteID], in store: NoteStore, by author: Author?, at now: Int64
  ) throws(StoreError) {
    var rest = notes[...]
    while !rest.isEmpty {
      try store.commit(rest.prefix(Self.mostAtOnce).map { .purge($0) }, at: now, by: author)
      rest = rest.dropFirst(Self.mostAtOnce)
    }
    count = notes.count
  }
}
