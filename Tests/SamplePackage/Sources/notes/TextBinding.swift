import ReplicatingTypesFoundation

/// The text of a note for a view that gets and sets a string, as `TextEditor` does.
struct TextBinding {
  let document: Document<NoteBook>
  let id: Note.ID

  var text: String {
    get { document.value.notes.first { $0.id == id }?.text.string ?? "" }
    nonmutating set {
      document.edit { noteBook, replica in
        noteBook.edit(id, by: &replica) { $0.text.become(newValue, by: &$1) }
      }
    }
  }
}
