/// The name of a note as a resource: `note://` and its id.
struct NoteURI: Hashable {
  /// For the list of templates.
  static let template = scheme + "{id}"

  private static let scheme = "note://"
  /// No id is as long.
  private static let longest = 200

  let id: String

  /// The name of the note with this id.
  init(id: String) { self.id = id }

  /// The note that a name means; nil if it means none.
  init?(_ text: String) {
    guard text.hasPrefix(Self.scheme), text.utf8.count <= Self.longest else { return nil }
    let id = text.dropFirst(Self.scheme.count)
    let isID = { (byte: UInt8) in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "-")
    }
    guard !id.isEmpty, id.utf8.allSatisfy(isID) else { return nil }
    self.id = String(id)
  }

  var text: String { Self.scheme + id }
}
