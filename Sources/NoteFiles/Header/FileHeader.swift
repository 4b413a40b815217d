internal import Bytes

/// What stands before the text of a file: the front matter, byte for byte, as fields in their order; and the byte order mark.
///
/// A header has one of three syntaxes:
///
/// - YAML: the first line is `---` and a later one `---` or `...`. The first line between them that is neither blank nor a comment begins
///   a field (`HeaderLine.swift`), or there is none. JSON and other YAML that begins with a sign, or with an indented key, is a header,
///   too, that nothing is understood of.
/// - TOML: the first line and a later one are `+++`. The first line between them that is neither blank nor a comment begins a key or a
///   table (`TOMLScan.swift`), or there is none.
/// - JSON: an object at the beginning that has the members of a header (`JSONHeader.swift`). It is kept, and nothing is read from it.
///
/// All else is text: a rule with prose below it, a header that is never closed, and what is larger than `longest` or has more than
/// `mostFields` fields. Delimiters may have blanks behind them.
///
/// The bytes of a file are those of its header and those of its text, for every file: `split` loses nothing. A header is also a map of
/// strings to strings (`fields`), so that each field can be a register of its own.
public struct FileHeader: Sendable {
  /// How a file of a type says that something is a header.
  public enum Form: Sendable {
    /// Lines as they are: Markdown, plain text.
    case plain
    /// Each line behind `# `, a comment for Org mode, where `---` would be text.
    case comment

    var prefix: [UInt8] { self == .plain ? [] : [.hash, .space] }
  }

  struct Field: Sendable {
    /// The name, or a reserved one.
    var key: String
    /// The line of the key and those that belong to it, with blank lines and comments before it.
    var lines: [UInt8]
  }

  /// The most bytes of a header, delimiters and all.
  public static let longest = 1 << 18
  /// The most fields of a header.
  public static let mostFields = 1000

  /// The byte order mark, if there is one, and the line of the first delimiter, if there is a header. Of JSON the brace.
  private(set) var opening: [UInt8] = []
  var entries: [Field] = []
  /// Blank lines and comments behind the last field, and the line of the second delimiter. Of JSON the line from the last brace on.
  var closing: [UInt8] = []

  /// No header.
  public init() {}

  /// True if there are delimiters. There may be a byte order mark all the same.
  public var isEmpty: Bool { closing.isEmpty }

  /// True if a byte order mark stands before the header, or before the text where there is none.
  public var hasByteOrderMark: Bool { opening.starts(with: Self.mark) }

  var syntax: HeaderSyntax {
    switch opening.dropFirst(hasByteOrderMark ? Self.mark.count : 0).first {
    case UInt8.plus: .toml
    case UInt8.openingBrace: .json
    default: .yaml
    }
  }

  static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  // MARK: - Files

  /// The header of a file, and where its text begins.
  ///
  /// - Returns: `isTooLarge` is true if there would be a header, but for the bounds.
  /// - Complexity: O(length of the header); where none is closed, O(`longest`).
  public static func split(
    _ bytes: [UInt8], form: Form = .plain
  ) -> (header: FileHeader, textStart: Int, isTooLarge: Bool) {
    let mark = bytes.starts(with: mark) ? mark.count : 0
    var header = FileHeader()
    header.opening = Array(bytes[..<mark])
    let file = bytes[...]
    let prefix = form.prefix
    var line = mark
    var end = file.endOfLine(from: line)
    func content() -> ArraySlice<UInt8>? {
      file[line..<end].starts(with: prefix) ? file[(line + prefix.count)..<end] : nil
    }
    if let found = JSONHeader(in: bytes, from: mark, prefix: prefix, longest: longest) {
      header.setJSON(found)
      return (header, found.textStart, false)
    }
    guard let first = content(), let syntax = syntax(ofOpening: first) else {
      return (header, mark, false)
    }
    var inner: [UInt8] = []
    while true {
      line = end
      end = file.endOfLine(from: line)
      guard line < end, let next = content() else { return (header, mark, false) }
      if end - mark > longest { return (header, mark, true) }
      if isClosing(next, syntax) {
        guard (try? UTF8Span(validating: inner.span)) != nil,
          let parts = parts(of: inner, syntax)
        else {
          return (header, mark, false)
        }
        if parts.fields.count > mostFields { return (header, mark, true) }
        header.opening += first
        header.entries = parts.fields
        header.closing = parts.rest + next
        return (header, end, false)
      }
      inner += next
    }
  }

  /// The bytes of the header.
  public func bytes(form: Form = .plain) -> [UInt8] {
    if isEmpty { return opening }
    let mark = hasByteOrderMark ? Self.mark : []
    let lines = opening.dropFirst(mark.count) + entries.flatMap(\.lines) + closing
    return form == .plain ? mark + lines : mark + lines[...].lines.flatMap { form.prefix + $0 }
  }

  /// The bytes of a file with this header and a text.
  ///
  /// - Complexity: O(n).
  public func file(text: [UInt8], form: Form = .plain) -> [UInt8] {
    var bytes = bytes(form: form)
    if !isEmpty, !text.isEmpty, closing.last != .lineFeed { bytes += lineEnd }
    return bytes + text
  }

  /// What lines of the header end with.
  var lineEnd: [UInt8] {
    let end = (syntax == .json ? closing : opening)[...].lineEnd
    return end.isEmpty ? [.lineFeed] : Array(end)
  }

  private mutating func setJSON(_ json: JSONHeader) {
    opening.append(.openingBrace)
    entries = [Field(key: Self.otherKey, lines: json.members)]
    closing = json.closing
  }

  private static func isDelimiter(_ line: ArraySlice<UInt8>, _ sign: UInt8) -> Bool {
    let content = line.withoutLineEnd
    return content.starts(with: repeatElement(sign, count: 3))
      && content.dropFirst(3).allSatisfy(\.isBlank)
  }

  private static func syntax(ofOpening line: ArraySlice<UInt8>) -> HeaderSyntax? {
    guard line.last == .lineFeed else { return nil }
    return [.yaml, .toml].first { isDelimiter(line, $0.delimiterSign) }
  }

  private static func isClosing(_ line: ArraySlice<UInt8>, _ syntax: HeaderSyntax) -> Bool {
    isDelimiter(line, syntax.delimiterSign) || syntax == .yaml && isDelimiter(line, .dot)
  }

  // MARK: - Fields

  /// The name of the field that is all that can't be understood, the last one.
  static let otherKey = ":lines"

  /// With what lines begin that may be other YAML than a key: not prose.
  private static let signs: Set<UInt8> = Set("{\"'?%!&".utf8)

  /// The fields of the lines between the delimiters, and the blank lines and comments behind the last; `nil` if the lines can't be a header.
  static func parts(of inner: [UInt8], _ syntax: HeaderSyntax) -> (fields: [Field], rest: [UInt8])?
  {
    switch syntax {
    case .yaml: yamlParts(of: inner)
    case .toml: tomlParts(of: inner)
    case .json: nil
    }
  }

  private static func yamlParts(of inner: [UInt8]) -> (fields: [Field], rest: [UInt8])? {
    var fields: [Field] = []
    var counts: [String: Int] = [:]
    var gap: [UInt8] = []
    var brackets = OpenBrackets()
    // Brackets that are never closed hold no lines together.
    var areClosed = true
    var start = 0
    while start < inner.count {
      var end = inner[...].endOfLine(from: start)
      let line = inner[start..<end]
      let kind = HeaderLine(line)
      switch kind {
      case .gap: gap += line
      case .key(let count):
        fields.append(
          Field(key: fieldKey(HeaderLine.name(of: line.prefix(count)), &counts), lines: gap))
        brackets = OpenBrackets()
      case .continuation, .other:
        if fields.isEmpty {
          let isIndentedKey = HeaderLine(line.drop(while: \.isBlank)).isKey
          guard kind == .other ? signs.contains(line.first!) : isIndentedKey else { return nil }
          return ([Field(key: otherKey, lines: gap + inner[start...])], [])
        }
        guard kind == .continuation || brackets.isOpen else {
          fields.append(Field(key: otherKey, lines: gap + inner[start...]))
          return (fields, [])
        }
        fields[fields.count - 1].lines += gap
      }
      if kind != .gap {
        gap = []
        brackets.read(line)
        if brackets.isOpen, areClosed {
          if let closed = brackets.closing(in: inner, from: end) {
            (end, brackets) = closed
          } else {
            areClosed = false
          }
        }
        fields[fields.count - 1].lines += inner[start..<end]
      }
      start = end
    }
    return (fields, gap)
  }

  private static func tomlParts(of inner: [UInt8]) -> (fields: [Field], rest: [UInt8])? {
    let scan = TOMLScan(inner)
    var fields: [Field] = []
    var counts: [String: Int] = [:]
    var start = 0
    for entry in scan.entries where entry.table.isEmpty && !entry.isInArray {
      let key = inner[entry.line.lowerBound..<(entry.keyEnd - 1)].trimmed
      if key.count > HeaderLine.longestKey { break }
      fields.append(
        Field(key: fieldKey(key.text, &counts), lines: Array(inner[start..<entry.line.upperBound])))
      start = entry.line.upperBound
    }
    let rest = Array(inner[start...])
    if rest[...].lines.allSatisfy(ScalarReader.isGap) { return (fields, rest) }
    if !scan.hasKey, scan.tables.isEmpty { return nil }
    return (fields + [Field(key: otherKey, lines: rest)], [])
  }

  /// The name of a field, or the reserved one if there is a field of that name.
  private static func fieldKey(_ key: String, _ counts: inout [String: Int]) -> String {
    counts[key, default: 0] += 1
    let number = counts[key]!
    return number == 1 ? key : ":\(number):\(key)"
  }
}

extension OpenBrackets {
  /// The end of the line that closes the quotes and brackets; nil if none does, or something stands behind them. O(n).
  fileprivate func closing(in inner: [UInt8], from start: Int) -> (end: Int, OpenBrackets)? {
    var (brackets, end) = (self, start)
    while brackets.isOpen, end < inner.count {
      let next = inner[...].endOfLine(from: end)
      brackets.read(inner[end..<next])
      end = next
    }
    return brackets.isOpen || brackets.isDamaged ? nil : (end, brackets)
  }
}

extension FileHeader: Equatable {
  public static func == (a: Self, b: Self) -> Bool {
    a.opening == b.opening && a.closing == b.closing
      && a.entries.map(\.lines) == b.entries.map(\.lines)
  }
}

// MARK: - As a map

extension FileHeader {
  /// The key of the register that has the byte order mark, the delimiters, and the order of the fields.
  public static let frameKey = ":frame"

  /// The header as a map: of each field its lines by its name, in their order, behind the frame. Empty if the header is `FileHeader()`.
  ///
  /// Keys that begin with a colon are reserved: the frame, the second and further fields of one name (`:2:title`), and what can't be understood
  /// (`:lines`). The frame begins with the lengths of its two parts: `4 4\n---\n---\ntitle\ntags`.
  public var fields: [(key: String, value: String)] {
    if opening.isEmpty { return [] }
    let frame =
      "\(opening.count) \(closing.count)\n" + opening[...].text + closing[...].text
      + entries.map(\.key).joined(separator: "\n")
    return [(Self.frameKey, frame)] + entries.map { ($0.key, $0.lines[...].text) }
  }

  /// The header with what registers say, each of which may have been written by another machine.
  ///
  /// Fields stand in the order of the frame; those that it doesn't name stand behind them in the order of their names' bytes.
  /// What can't be is left out: a value that isn't lines of such a field, and fields beyond `mostFields`. Where the frame is
  /// missing or wrong, the delimiters are `---`.
  ///
  /// - Complexity: O(n log n).
  public init(fields: some Sequence<(key: String, value: String)>) {
    var values: [[UInt8]: [UInt8]] = [:]
    for (key, value) in fields { values[Array(key.utf8)] = Array(value.utf8) }
    let frame = Frame(values.removeValue(forKey: Array(Self.frameKey.utf8)) ?? [])
    self.init()
    opening = frame.opening
    if syntax == .json {
      opening.removeLast()
      let members = values[Array(Self.otherKey.utf8)] ?? []
      let bytes = [.openingBrace] + members + frame.closing
      if let json = JSONHeader(in: bytes, from: 0, prefix: [], longest: Self.longest),
        json.textStart == bytes.count, json.members == members
      {
        setJSON(json)
      }
      return
    }
    let syntax = syntax
    let named = Set(frame.order)
    let others = values.keys.filter { !named.contains($0) }
      .sorted { $0.lexicographicallyPrecedes($1) }
    let last = Array(Self.otherKey.utf8)
    var seen: Set<[UInt8]> = []
    var inner: [UInt8] = []
    for key in (frame.order + others).filter({ $0 != last }) + [last] {
      guard let value = values[key], seen.insert(key).inserted,
        seen.count <= Self.mostFields, Self.isField(value, key: key, syntax)
      else { continue }
      inner += value
    }
    let parts = Self.parts(of: inner, syntax) ?? ([], [])
    entries = parts.fields
    closing = frame.closing
    if closing.isEmpty, !entries.isEmpty { addDelimiters(lineEnd: [.lineFeed]) }
  }

  /// Makes the header an empty one where there is none.
  mutating func addDelimiters(lineEnd: [UInt8]) {
    let delimiter = [.hyphen, .hyphen, .hyphen] + lineEnd
    opening += delimiter
    closing = delimiter
  }

  /// True if the lines are one field called `key` wherever they stand.
  static func isField(_ lines: [UInt8], key: [UInt8], _ syntax: HeaderSyntax) -> Bool {
    field(in: lines, key: key, syntax).map { $0.rest.isEmpty } ?? false
  }

  /// The one field called `key` that the lines are wherever they stand, and blank lines and comments behind it.
  static func field(
    in lines: [UInt8], key: [UInt8], _ syntax: HeaderSyntax
  ) -> (lines: [UInt8], rest: [UInt8])? {
    guard lines.last == .lineFeed, !lines[...].lines.contains(where: { isClosing($0, syntax) })
    else { return nil }
    if key.elementsEqual(otherKey.utf8) { return isOther(lines, syntax) ? (lines, []) : nil }
    guard let parts = parts(of: lines, syntax), parts.fields.count == 1 else { return nil }
    let found = parts.fields[0].key.utf8
    if !found.elementsEqual(key) {
      // The second one of a name: `:2:title`.
      guard key.first == .colon, let end = key.dropFirst().firstIndex(of: .colon),
        let number = Int(key[1..<end].text), number > 1,
        key[1..<end].elementsEqual("\(number)".utf8), found.elementsEqual(key[(end + 1)...])
      else { return nil }
    }
    return (parts.fields[0].lines, parts.rest)
  }

  /// True for lines that nothing is understood of, alone or behind a field.
  private static func isOther(_ lines: [UInt8], _ syntax: HeaderSyntax) -> Bool {
    let field = Array((syntax == .yaml ? "a:\n" : "a = 1\n").utf8)
    let (alone, behind) = (parts(of: lines, syntax), parts(of: field + lines, syntax))
    return alone?.fields.map(\.key) == [otherKey]
      || behind?.fields.dropFirst().map(\.key) == [otherKey]
  }

  /// What the register of the frame says, as far as it can be right.
  private struct Frame {
    var opening: [UInt8] = []
    var closing: [UInt8] = []
    var order: [[UInt8]] = []

    init(_ value: [UInt8]) {
      let end = value[...].endOfLine(from: 0)
      let counts = value[..<end].withoutLineEnd.split(separator: .space).map { Int($0.text) ?? -1 }
      guard counts.count == 2, counts.allSatisfy({ (0...FileHeader.longest).contains($0) }),
        value.count - end >= counts[0] + counts[1]
      else { return }
      let parts = value[end...]
      order = parts.dropFirst(counts[0] + counts[1]).split(separator: .lineFeed).map(Array.init)
      let opening = parts.prefix(counts[0])
      let closing = parts.dropFirst(counts[0]).prefix(counts[1])
      let isMarked = opening.starts(with: FileHeader.mark)
      let delimiter = opening.dropFirst(isMarked ? FileHeader.mark.count : 0)
      if delimiter.isEmpty {
        if closing.isEmpty { self.opening = Array(opening) }
      } else if delimiter.elementsEqual([.openingBrace]) {
        self.opening = Array(opening)
        self.closing = Array(closing)
      } else if let syntax = FileHeader.syntax(ofOpening: delimiter) {
        self.opening = Array(opening)
        let lines = closing.lines
        let isRight =
          lines.last.map { FileHeader.isClosing($0, syntax) } == true
          && lines.dropLast().allSatisfy { line in
            syntax == .yaml ? HeaderLine(line) == .gap : ScalarReader.isGap(line)
          }
        self.closing = isRight ? Array(closing) : Array(delimiter)
      }
    }
  }
}
