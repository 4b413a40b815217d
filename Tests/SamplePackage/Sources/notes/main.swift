// notes OWN-FILE SHARED-FOLDER [new TITLE | type N TEXT | tag N TAG | high N | move N TO | delete N | json]

import Foundation
import ReplicatingTypes

let arguments = CommandLine.arguments
let store = try Store(own: URL(filePath: arguments[1]), shared: URL(filePath: arguments[2]))
let document = store.document
let now = Int64(Date.now.timeIntervalSince1970 * 1000)

@MainActor func id(_ argument: Int) -> Note.ID {
  document.value.notes[Int(arguments[argument]) ?? 0].id
}

switch arguments.dropFirst(3).first {
case "new":
  try document.edit { noteBook, replica in
    var note = Note()
    note.title.assign(arguments[4], at: now, by: &replica)
    try noteBook.create(note, at: noteBook.notes.count, by: &replica)
  }
case "type":
  TextBinding(document: document, id: id(4)).text = arguments[5]
case "tag":
  guard let tag = Note.Tag(rawValue: arguments[5]) else { fatalError("no tag: \(arguments[5])") }
  document.edit { $0.edit(id(4), by: &$1) { $0.tags.insert(tag, by: &$1) } }
case "high":
  document.edit { $0.edit(id(4), by: &$1) { $0.priority.assign(.high, at: now, by: &$1) } }
case "move":
  document.edit { $0.move(id(4), to: Int(arguments[5]) ?? 0, by: &$1) }
case "delete":
  document.edit { $0.delete(id(4), by: &$1) }
case "json":
  let json = try JSONEncoder().encode(document.value)
  let read = try JSONDecoder().decode(NoteBook.self, from: json)
  print(read == document.value ? "the same notebook, in JSON" : "another notebook")
default: break
}
try store.save()
for note in document.value.notes {
  let tags = note.tags.map { " #\($0.rawValue)" }.sorted().joined()
  print(note.priority.value == .high ? "!" : "-", note.title.value + tags, note.text.string)
}
