/// What the name of a file says of its note.
///
/// Denote's `20261123T100000==signature--the-title__tag_tag.md` has a time, a title with hyphens for blanks, and tags. Of Jekyll's
/// `2026-11-23-slug.md` the time is read; the title is the whole stem, since many people name notes so who want to see the day.
struct NameParts {
  var title: String
  var tags: [String] = []
  /// As `FileTime` reads it.
  var created: String?

  init(path: String) {
    let name = path.utf8.split(separator: .slash).last ?? path.utf8[...]
    let end = name.lastIndex(of: .dot) ?? name.endIndex
    let stem = Array(name[..<end])[...]
    title = stem.text
    if let identifier = Self.denoteIdentifier(stem) {
      created = identifier.text
      readDenote(stem.dropFirst(identifier.count))
    } else if stem.count >= 10,
      stem.dropFirst(10).first.map({ $0 == .hyphen || $0 == .space }) ?? true,
      stem[stem.startIndex + 4] == .hyphen
    {
      created = stem.prefix(10).text
    }
  }

  private static func denoteIdentifier(_ stem: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let identifier = stem.prefix(15)
    guard identifier.count == 15, identifier.prefix(8).allSatisfy(\.isDigit),
      identifier.dropFirst(8).first == UInt8(ascii: "T"),
      identifier.dropFirst(9).allSatisfy(\.isDigit)
    else { return nil }
    let behind = stem.dropFirst(15).prefix(2)
    return behind.isEmpty || ["--", "==", "__", "@@"].contains(behind.text) ? identifier : nil
  }

  private mutating func readDenote(_ parts: ArraySlice<UInt8>) {
    var rest = parts
    if let keywords = Self.range(of: "__", in: rest) {
      tags = rest[(keywords + 2)...].split(separator: UInt8(ascii: "_")).map(\.text)
      rest = rest[..<keywords]
    }
    if let found = Self.range(of: "--", in: rest), found + 2 < rest.endIndex {
      title = String(rest[(found + 2)...].map { $0 == .hyphen ? .space : $0 }[...].text)
    }
  }

  private static func range(of sign: String, in bytes: ArraySlice<UInt8>) -> Int? {
    let sign = Array(sign.utf8)
    return bytes.indices.dropLast().first { bytes[$0] == sign[0] && bytes[$0 + 1] == sign[1] }
  }
}
