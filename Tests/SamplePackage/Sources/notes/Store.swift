import Foundation
import ReplicatingTypes
import ReplicatingTypesFoundation

/// The notebook as one device has it, and the folder by which devices exchange their changes: one file for each edit.
final class Store {
  let document: Document<NoteBook>
  private let own: URL
  private let shared: URL

  init(own: URL, shared: URL) throws {
    (self.own, self.shared) = (own, shared)
    var (noteBook, author) = (NoteBook(), Author())
    var reader = ByteReader([UInt8]((try? Data(contentsOf: own)) ?? Data(noteBook.encoded())))
    noteBook = try NoteBook(from: &reader)
    try Self.receive(from: shared, unseenIn: noteBook.version) { try noteBook.apply($0) }
    // A replica is resumed once: what was saved of it is gone before its next change, so who is killed begins another. And who is restored
    // from a copy finds changes of its own that it had not made.
    try Data(noteBook.encoded()).write(to: own, options: .atomic)
    if !reader.isAtEnd, let saved = try? SavedReplica(from: &reader),
      let replica = try? Replica(resuming: saved, in: noteBook.version)
    {
      author = Author(replica)
    }
    document = Document(noteBook, by: author)
    document.onEdit = { [author, shared] changes in
      let name = "\(author.id)-\(changes.version[author.id])"
      do {
        try Data(changes.encoded()).write(to: shared.appending(path: name), options: .atomic)
      } catch { fatalError("The change can't be saved: \(error)") }
    }
  }

  /// Takes in what others have changed.
  func receive() throws {
    try Self.receive(from: shared, unseenIn: document.value.version) { try document.apply($0) }
  }

  /// Applies all changes in a folder that `version` does not contain. Those that follow others wait for these.
  private static func receive(
    from folder: URL, unseenIn version: Version, apply: (NoteBook.Changes) throws -> Void
  ) throws {
    var waiting = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    ).filter { isNew($0.lastPathComponent, in: version) }
    var count = 0
    while waiting.count != count {
      count = waiting.count
      waiting = try waiting.filter { file in
        let changes = try NoteBook.Changes(encoded: [UInt8](Data(contentsOf: file)))
        do { try apply(changes) } catch RefusedChanges.missing { return true }
        return false
      }
    }
  }

  private static func isNew(_ name: String, in version: Version) -> Bool {
    let parts = name.split(separator: "-")
    guard parts.count == 2, let id = ReplicaID(parts[0]), let number = UInt64(parts[1]) else {
      return false
    }
    return version[id] < number
  }

  /// Saves the notebook, and the replica for the next launch.
  func save() throws {
    try Data(document.value.encoded() + document.author.saved.encoded()).write(
      to: own, options: .atomic)
  }
}
