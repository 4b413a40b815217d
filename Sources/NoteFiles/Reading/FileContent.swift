internal import Bytes

/// Where the title of a note was found in its file.
public enum TitleSource: Sendable {
  /// In the header.
  case field
  /// In the text: the first line is its only heading of the first level.
  case heading
  /// In the text of an Org file: `#+title:`.
  case keyword
  /// In the name of the file.
  case stem
}

/// Why a file is no note.
public enum FileRefusal: Error, Equatable, Sendable {
  /// No type that is read (`FileType`).
  case type
  /// No path that a note can have (`NotePath`).
  case path
  /// More bytes than are allowed.
  case tooLarge(limit: Int)
  /// Text in UTF-16: with its byte order mark, or with a zero in most pairs of bytes.
  case utf16
  /// U+0000 at this byte.
  case zero(offset: Int)
  /// No UTF-8 from this byte on.
  case notUTF8(offset: Int)
}

/// What was read from a file.
public struct FileContent: Sendable {
  /// The note.
  public var file: NoteFile
  /// Where its title comes from.
  public var titleSource: TitleSource
  /// The dates that header, text and name say.
  public var dates: WrittenDates
  /// When it was created, as header, text or name say. Milliseconds since 1970.
  public var created: Int64? { dates.created.lazy.compactMap(\.time).first ?? dates.named?.time }
  /// When it was last changed, as header or text say. Milliseconds since 1970.
  public var modified: Int64? { dates.modified.lazy.compactMap(\.time).first }
  /// What is in the header, or is one, and was not taken over.
  public var issues: [FileIssue]

  /// A note that was read from something else than a file of its own.
  public init(_ file: NoteFile, _ dates: WrittenDates) {
    self.file = file
    self.dates = dates
    titleSource = .field
    issues = []
  }

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - bytes: All of the file.
  ///   - path: Where it stands, relative to the folder of all notes.
  ///   - limit: The most bytes that it may have.
  ///   - zone: For times without a zone.
  /// - Complexity: O(n).
  public init(
    reading bytes: [UInt8], path: String, limit: Int, zone: LocalZone
  ) throws(FileRefusal) {
    guard let type = FileType(path: path) else { throw .type }
    guard NotePath.isValid(path) else { throw .path }
    guard bytes.count <= limit else { throw .tooLarge(limit: limit) }
    if let offset = bytes.span.firstIndex(of: 0) {
      throw UTF16Text.isLikely(bytes) ? .utf16 : .zero(offset: offset)
    }
    do {
      _ = try UTF8Span(validating: bytes.span)
    } catch {
      throw UTF16Text.isLikely(bytes)
        ? .utf16 : .notUTF8(offset: error.byteOffsets.lowerBound)
    }
    let split = FileHeader.split(bytes, form: type.headerForm)
    let text = Array(bytes[split.textStart...])
    let facts = HeaderFacts(split.header)
    let derived = DerivedFacts(path: path, type: type, text: text)
    file = NoteFile(
      path: path, header: split.header, title: facts.title ?? derived.title,
      tags: facts.tags ?? derived.tags, priority: facts.priority ?? .normal, id: facts.id,
      text: text)
    titleSource = facts.title == nil ? derived.titleSource : .field
    dates = WrittenDates(split.header, zone: zone)
    derived.add(to: &dates, zone: zone)
    issues = facts.issues + (split.isTooLarge ? [.headerTooLarge] : [])
  }
}

extension NoteFile {
  /// True if the name of the file alone gives the title, as it is: neither header nor text has one. O(n).
  public var isNamedByTitle: Bool {
    guard let type = FileType(path: path) else { return false }
    let (facts, derived) = (HeaderFacts(header), DerivedFacts(path: path, type: type, text: text))
    guard facts.title == nil, !facts.locked.contains(.title), derived.titleSource == .stem else {
      return false
    }
    let name = path.utf8.split(separator: .slash).last ?? path.utf8[...]
    return name[..<(name.lastIndex(of: .dot) ?? name.endIndex)].elementsEqual(title.utf8)
  }
}

/// What a file says of its note outside of the header.
struct DerivedFacts {
  var title: String
  var titleSource: TitleSource
  var tags: [String]
  private let org: OrgKeywords?
  private let joplin: WrittenDates
  /// The date in the name.
  private let named: String?

  init(path: String, type: FileType, text: [UInt8]) {
    let parts = NameParts(path: path)
    let org = type == .org ? OrgKeywords(text[...]) : nil
    if let heading = type == .org ? nil : Headings.soleFirst(in: text[...]),
      NoteFile.isTitle(heading)
    {
      (title, titleSource) = (heading, .heading)
    } else if let keyword = org?.title, !keyword.isEmpty, NoteFile.isTitle(keyword) {
      (title, titleSource) = (keyword, .keyword)
    } else {
      (title, titleSource) = (parts.title, .stem)
    }
    tags = HeaderFacts.fitting(org?.tags ?? parts.tags).tags
    joplin = type == .org ? WrittenDates() : WrittenDates(joplin: text[...])
    named = parts.created
    self.org = org
  }

  /// Adds the dates that are not in the header.
  func add(to dates: inout WrittenDates, zone: LocalZone) {
    func read(_ list: [(key: String, value: String)]) -> [WrittenDate] {
      list.map { .init(key: $0.key, time: FileTime.milliseconds($0.value, zone: zone)) }
    }
    dates.created += read(org?.created ?? []) + joplin.created
    dates.modified += read(org?.modified ?? []) + joplin.modified
    // Other names begin so, too.
    if let named, let time = FileTime.milliseconds(named, zone: zone) {
      dates.named = WrittenDate(key: "name", time: time)
    }
  }
}

/// Text in UTF-16, known by its bytes.
enum UTF16Text {
  /// True if a file begins with a byte order mark of UTF-16, or most pairs of bytes at its beginning have a zero at the same place, as text of European
  /// languages has, and none at the other.
  static func isLikely(_ bytes: [UInt8]) -> Bool {
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return true }
    if bytes.count % 2 != 0 { return false }
    let pairs = min(bytes.count, 4096) / 2
    var zeros = (0, 0)
    for pair in 0..<pairs {
      if bytes[2 * pair] == 0 { zeros.0 += 1 }
      if bytes[2 * pair + 1] == 0 { zeros.1 += 1 }
    }
    return min(zeros.0, zeros.1) == 0 && 2 * max(zeros.0, zeros.1) > pairs
  }
}
