internal import JSONRPC
internal import NotesServer

// Notes by the names that a user gives: an id, a title, or the beginning of an id.

extension LocalNotebook {
  /// So many notes of one name are listed.
  private static let mostListed = 10

  /// The summary of the note that goes by a name.
  ///
  /// - Parameters:
  ///   - isTrashed: whether titles and beginnings are looked for in the trash.
  ///   - tags: those that it must have.
  func note(
    named name: String, isTrashed: Bool = false, tags: [String] = []
  ) throws(CommandFailure) -> JSONValue {
    let found = try notes(named: name, isTrashed: isTrashed, tags: tags, atMost: Self.mostListed)
    if found.notes.count == 1, let note = found.notes.first { return note }
    if found.notes.isEmpty {
      let kind = tags.isEmpty ? "" : " with the tag \(tags.joined(separator: ", "))"
      throw CommandFailure(
        .nothingFound,
        ["\(isTrashed ? "in the trash " : "")there is no note \(name)\(kind)"]
          + (try hint(name, isTrashed: isTrashed, tags)))
    }
    throw CommandFailure(
      .ambiguous,
      ["\(found.isMore ? "more than " : "")\(found.notes.count) notes go by the name \(name):"]
        + found.notes.map { "\($0.id)  \($0.title)" })
  }

  /// The notes that go by a name, the oldest first.
  func notes(
    named name: String, isTrashed: Bool = false, tags: [String] = [], isBeginning: Bool = false,
    atMost limit: Int
  ) throws(CommandFailure) -> (notes: [JSONValue], isMore: Bool) {
    let result = try request("notebook/find") {
      $0.member("name", name)
      $0.member("trashed", isTrashed)
      $0.member("tags", tags)
      $0.member("beginning", isBeginning)
      $0.member("limit", limit)
    }
    return (result["notes"]?.array.map(Array.init) ?? [], result["more"]?.boolean ?? false)
  }

  /// Tells where a note is that is not where it was looked for.
  private func hint(
    _ name: String, isTrashed: Bool, _ tags: [String]
  ) throws(CommandFailure) -> [String] {
    let others = try notes(named: name, isTrashed: !isTrashed, tags: tags, atMost: 1)
    return others.notes.map { "\(isTrashed ? "outside" : "in the trash") there is \($0.id)" }
  }
}

/// A summary of a note.
extension JSONValue {
  var id: String { self["id"]?.string ?? "" }
  var title: String { self["title"]?.string ?? "" }
  var tags: [String] { self["tags"]?.array.map { $0.compactMap(\.string) } ?? [] }
}
