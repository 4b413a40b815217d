internal import Bytes

/// What a link names, as names are compared: composed (NFC), without case and without blanks at its ends.
public struct LinkName: Hashable, Sendable {
  /// The name, or the path from the folder of all notes, as compared.
  public let text: String
  /// True for a path, which nothing else is looked for under.
  public let isPath: Bool
  /// The path as it is, composed; empty for other names. Of several notes whose paths differ by case only it means the one with this.
  private let path: String

  /// Any name of a note: its id, its path, with or without what a note's file ends with, the name of its file, its title, or an alias.
  public init(_ name: String) { self.init(folding: name, isPath: false) }

  private init(folding name: String, isPath: Bool) {
    text = Self.folded(name)
    self.isPath = isPath
    path = isPath ? name.composed : ""
  }

  public static func == (a: Self, b: Self) -> Bool { a.text == b.text && a.isPath == b.isPath }
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }

  /// True if this is just the path of a note, in case, too. O(length).
  public func isWritten(as path: String) -> Bool {
    isPath && self.path.utf8.elementsEqual(path.composed.utf8)
  }

  /// What a link means that stands in the note at `path`, which is empty where the note has none; nil if it leads out of the folder of all notes.
  public init?(_ target: NoteLink.Target, at path: String) {
    switch target {
    case .name(let name): self.init(name)
    case .path(let relative):
      guard let path = Self.path(relative, from: path) else { return nil }
      self.init(folding: path, isPath: true)
    }
  }

  /// The hash by which notes are looked up that may have the name: names that are compared as equal have the same one. Archives keep such hashes (`NoteKeys`
  /// in `Notes`): with other ones their format has to be another one.
  public var key: UInt64 { Self.key(of: text) }

  static func folded(_ name: String) -> String {
    var bytes = Array(name.utf8)[...]
    bytes = bytes.trimmed
    return (bytes.count == name.utf8.count ? name : bytes.text).foldedName
  }

  /// Of a path as of a title only the last part counts, without what a note's file ends with.
  static func key(of folded: String) -> UInt64 {
    var hash = WordHash()
    for byte in stem(of: Array(folded.utf8)[...]) { hash.combine(byte) }
    return hash.value
  }

  /// The last part of a path, without what a note's file ends with, however often.
  private static func stem(of folded: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let start = folded.lastIndex(of: .slash).map { $0 + 1 } ?? folded.startIndex
    var stem = folded[start...]
    while true {
      let shorter = withoutSuffix(stem)
      if shorter.count == stem.count { return stem }
      stem = shorter
    }
  }

  /// A path, or the name of a file, without what a note's file ends with.
  static func withoutSuffix(_ folded: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let dot = folded.lastIndex(of: .dot), dot > folded.startIndex,
      folded[dot - 1] != .slash, FileType(path: "a" + folded[dot...].text) != nil
    else { return folded }
    return folded[..<dot]
  }

  /// The destination of a link in the note at `source` that leads to `path`, both from the folder of all notes: relative, with signs that mean something
  /// in a link as `%20`. O(length).
  public static func destination(_ path: String, from source: String) -> String {
    var folder = source.utf8.split(separator: .slash).dropLast()[...]
    var parts = path.utf8.split(separator: .slash)[...]
    while let first = folder.first, parts.count > 1, first.elementsEqual(parts.first!) {
      folder.removeFirst()
      parts.removeFirst()
    }
    var relative = folder.map { _ in "..".utf8[...] } + parts
    // What looks like a scheme is none behind this.
    if folder.isEmpty, relative[0].contains(.colon) { relative.insert(".".utf8[...], at: 0) }
    let signs = Array("%()<>#?\\\"`[]*_|".utf8)
    var bytes: [UInt8] = []
    for byte in relative.joined(separator: [UInt8.slash]) {
      if byte <= 0x20 || byte == 0x7F || signs.contains(byte) {
        let digits = String(byte, radix: 16, uppercase: true)
        bytes += "%\(digits.count == 1 ? "0" : "")\(digits)".utf8
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The path from the folder of all notes of what is a relative path in the note at `path`; nil if it leads out of the folder. O(length).
  public static func path(_ relative: String, from path: String) -> String? {
    var parts = path.utf8.split(separator: .slash).dropLast().map { Substring($0) }
    for part in relative.utf8.split(separator: .slash).map({ Substring($0) }) where part != "." {
      if part != ".." {
        parts.append(part)
      } else if parts.popLast() == nil {
        return nil
      }
    }
    return parts.joined(separator: "/")
  }
}

/// The names of a note by which links may find it, but for its id.
public struct NoteNames: Equatable, Sendable {
  /// The title.
  public let title: String
  /// Other titles, as the header has them.
  public let aliases: [String]
  /// The path of its file from the folder of all notes; empty if it has none.
  public let path: String

  /// The names of a note.
  public init(title: String, aliases: [String] = [], path: String = "") {
    self.title = title
    self.aliases = aliases
    self.path = path
  }

  /// The keys of all its names, each once. O(their length).
  public var keys: [UInt64] {
    var keys: [UInt64] = []
    for name in [title, path] + aliases {
      let folded = LinkName.folded(name)
      if folded.isEmpty { continue }
      let key = LinkName.key(of: folded)
      if !keys.contains(key) { keys.append(key) }
    }
    return keys
  }

  /// True if a link that names this may mean the note. O(length of its names).
  public func have(_ name: LinkName) -> Bool {
    if name.text.isEmpty { return false }
    if !name.isPath, isTitle(name) || aliases.contains(where: { LinkName.folded($0) == name.text })
    {
      return true
    }
    if path.isEmpty { return false }
    let folded = LinkName.folded(path)
    if folded == name.text { return true }
    if name.isPath { return false }
    let bytes = Array(folded.utf8)[...]
    let file = bytes[(bytes.lastIndex(of: .slash).map { $0 + 1 } ?? 0)...]
    return [file, LinkName.withoutSuffix(bytes), LinkName.withoutSuffix(file)].contains {
      $0.elementsEqual(name.text.utf8)
    }
  }

  /// True if the title is what a link names.
  public func isTitle(_ name: LinkName) -> Bool {
    !name.isPath && LinkName.folded(title) == name.text
  }
}

extension FileHeader {
  /// The other titles that a header gives its note, of the fields `aliases` or `alias`: the values of registers as in `fields`. O(n).
  public static func aliases(in fields: some Sequence<(key: String, value: String)>) -> [String] {
    let fields = Array(fields)
    let syntax = FileHeader(fields: fields.filter { $0.key == frameKey }).syntax
    var aliases: [String] = []
    for (key, value) in fields where ["aliases", "alias"].contains(key.lowercased()) {
      switch HeaderValue(Array(value.utf8), syntax).kind {
      case .scalar(let scalar) where scalar.style == .plain && !scalar.isNull:
        aliases += scalar.text.utf8.split(separator: .comma).map { Array($0)[...].trimmed.text }
      case .scalar(let scalar) where scalar.style != .plain: aliases.append(scalar.text)
      case .flow(let items), .block(let items): aliases += items.compactMap(\.text)
      case .scalar, .empty, .other: break
      }
    }
    return aliases.filter { !$0.isEmpty }
  }
}
