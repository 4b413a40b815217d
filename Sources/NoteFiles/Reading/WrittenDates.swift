/// A date that a file says of its note.
public struct WrittenDate: Equatable, Sendable {
  /// The name of the field that has it.
  public var key: String
  /// Milliseconds since 1970; nil if it can't be read.
  public var time: Int64?

  /// A date in a field.
  public init(key: String, time: Int64?) {
    self.key = key
    self.time = time
  }
}

/// The dates that a file says of its note: of each kind the one that counts most comes first.
public struct WrittenDates: Sendable {
  /// When the note was created.
  public var created: [WrittenDate] = []
  /// When it was last changed.
  public var modified: [WrittenDate] = []
  /// When it was created, as the name of the file says: such a name may also be about a day to come.
  public var named: WrittenDate?

  /// No dates.
  public init() {}

  /// The names of fields are compared without case, and with a blank, a hyphen, a low line or nothing between their words.
  private static let createdNames = fieldNames([
    "created", "date", "created at", "date created", "creation date", "created time",
    "created date", "user created time", "create time", "creation time", "time created", "ctime",
    "birthtime",
  ])
  private static let modifiedNames = fieldNames([
    "updated", "modified", "updated at", "modified at", "date modified", "date updated", "lastmod",
    "last modified", "last modified at", "last updated", "last updated at", "modification date",
    "modified date", "updated date", "update date", "modified time", "updated time",
    "user updated time", "update time", "modification time", "last modified time",
    "last updated time", "last edited", "last edited time", "last edited at", "last changed",
    "edited", "edited at", "changed", "changed at", "mtime", "revised",
  ])
  /// Denote's: an identifier of another program may be anything.
  private static let identifier = "identifier"

  private static func fieldNames(_ names: [String]) -> FieldNames {
    FieldNames(
      names.flatMap { name in
        name.utf8.contains(.space)
          ? ["_", "", "-", " "].map { name.replacing(" ", with: $0) } : [name]
      })
  }

  init(_ header: FileHeader, zone: LocalZone) {
    if header.entries.isEmpty { return }
    created = Self.dates(header.findAll(Self.createdNames), zone)
    created += Self.dates(header.findAll(FieldNames([Self.identifier])), zone).filter {
      $0.time != nil
    }
    modified = Self.dates(header.findAll(Self.modifiedNames), zone)
  }

  /// The dates of a raw export of Joplin, from the lines behind the text of the note, such as `updated_time: 2026-11-23T10:00:05.000Z`. One of
  /// them says that it is a note.
  ///
  /// - Complexity: O(length of the last lines).
  init(joplin text: ArraySlice<UInt8>) {
    guard text.suffix(256).text.contains("\ntype_: 1") else { return }
    var fields: [String: String] = [:]
    var end = text.endIndex
    for _ in 0..<64 where end > text.startIndex {
      let before = text[..<(end - 1)]
      let start = before.lastIndex(of: .lineFeed).map { $0 + 1 } ?? text.startIndex
      let line = text[start..<end].withoutLineEnd
      end = start
      if line.isEmpty, fields.isEmpty { continue }
      guard let colon = line.prefix(40).firstIndex(of: .colon), colon > line.startIndex else {
        break
      }
      fields[line[..<colon].text] = line[(colon + 1)...].trimmed.text
    }
    guard fields["type_"] == "1" else { return }
    func dates(_ keys: [String]) -> [WrittenDate] {
      keys.compactMap { key in
        fields[key].flatMap { value in
          value.isEmpty
            ? nil : WrittenDate(key: key, time: FileTime.milliseconds(value) { _ in 0 })
        }
      }
    }
    created = dates(["user_created_time", "created_time"])
    modified = dates(["user_updated_time", "updated_time"])
  }

  private static func dates(_ fields: [FoundField], _ zone: LocalZone) -> [WrittenDate] {
    fields.compactMap { field in
      var text: String?
      switch field.value.kind {
      case .empty: return nil
      case .scalar(let scalar):
        if scalar.isNull || scalar.text.utf8.allSatisfy(\.isBlank) { return nil }
        text = scalar.text
      // An Org time in brackets, and a link to the note of a day, are lists to YAML.
      case .flow, .block, .other:
        let bytes = field.value.bytes[field.value.range].withoutLineEnd.trimmed
        if bytes.first == .openingBracket { text = bytes.text }
      }
      return WrittenDate(
        key: field.key, time: text.flatMap { FileTime.milliseconds($0, zone: zone) })
    }
  }
}
