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

/// The name of a piece of a note as a resource: that of the note, with the lines behind it where these are not all.
struct PieceURI {
  /// For the list of templates.
  static let template = NoteURI.template + "{?from_line,to_line,offset}"

  let note: NoteURI
  let lines: LineRange

  init(_ note: NoteURI, _ lines: LineRange) { (self.note, self.lines) = (note, lines) }

  /// The piece that a name means; nil if it means none.
  init?(_ text: String) {
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let note = NoteURI(String(parts[0])) else { return nil }
    var lines = LineRange()
    if parts.count == 2 {
      var names: Set<Substring> = []
      for field in parts[1].split(separator: "&", omittingEmptySubsequences: false) {
        let (name, value) = (field.prefix { $0 != "=" }, field.drop { $0 != "=" }.dropFirst())
        guard let number = Int(value), number <= LineRange.greatest, names.insert(name).inserted
        else { return nil }
        switch name {
        case "from_line" where number > 0: lines.first = number
        case "to_line" where number > 0: lines.last = number
        case "offset" where number >= 0: lines.offset = number
        default: return nil
        }
      }
    }
    self.init(note, lines)
  }

  var text: String {
    var fields: [String] = []
    if lines.first != 1 { fields.append("from_line=\(lines.first)") }
    if let last = lines.last { fields.append("to_line=\(last)") }
    if lines.offset != 0 { fields.append("offset=\(lines.offset)") }
    return fields.isEmpty ? note.text : "\(note.text)?\(fields.joined(separator: "&"))"
  }
}
