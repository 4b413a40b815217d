internal import Bytes

/// What stands before the text of a file: the front matter, byte for byte, as fields in their order; and the byte order mark.
///
/// A header is where the first line is `---` and a later one `---` or `...`, both with blanks behind them at most, if the first line
/// between them that is neither blank nor a comment begins a field (`HeaderSyntax.swift`), or there is none; JSON and other YAML that
/// begins with a sign is a header, too, that nothing is understood of. All else is text: a rule with prose below it, a header that is
/// never closed, TOML between `+++`, and what is larger than `longest` or has more than `mostFields` fields.
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

  /// The byte order mark, if there is one, and the line of the first delimiter, if there is a header.
  private(set) var opening: [UInt8] = []
  var entries: [Field] = []
  /// Blank lines and comments behind the last field, and the line of the second delimiter.
  private(set) var closing: [UInt8] = []

  /// No header.
  public init() {}

  /// True if there are delimiters. There may be a byte order mark all the same.
  public var isEmpty: Bool { closing.isEmpty }

  /// True if a byte order mark stands before the header, or before the text where there is none.
  public var hasByteOrderMark: Bool { opening.starts(with: Self.mark) }

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
    guard let first = content(), isOpening(first) else { return (header, mark, false) }
    var inner: [UInt8] = []
    while true {
      line = end
      end = file.endOfLine(from: line)
      guard line < end, let next = content() else { return (header, mark, false) }
      if end - mark > longest { return (header, mark, true) }
      if isClosing(next) {
        guard (try? UTF8Span(validating: inner.span)) != nil, let parts = parts(of: inner) else {
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
  var lineEnd: [UInt8] { isEmpty ? [.lineFeed] : Array(opening[...].lineEnd) }

  private static func isDelimiter(_ line: ArraySlice<UInt8>, _ sign: UInt8) -> Bool {
    let content = line.withoutLineEnd
    return content.starts(with: repeatElement(sign, count: 3))
      && content.dropFirst(3).allSatisfy(\.isBlank)
  }

  private static func isOpening(_ line: ArraySlice<UInt8>) -> Bool {
    line.last == .lineFeed && isDelimiter(line, .hyphen)
  }

  private static func isClosing(_ line: ArraySlice<UInt8>) -> Bool {
    isDelimiter(line, .hyphen) || isDelimiter(line, .dot)
  }

  // MARK: - Fields

  /// The name of the field that is all that can't be understood, the last one.
  static let otherKey = ":lines"

  /// With what lines begin that may be other YAML than a key: not prose.
  private static let signs: Set<UInt8> = Set("{\"'?%!&".utf8)

  /// The fields of the lines between the delimiters, and the blank lines and comments behind the last; `nil` if the lines can't be a header.
  static func parts(of inner: [UInt8]) -> (fields: [Field], rest: [UInt8])? {
    var fields: [Field] = []
    var counts: [String: Int] = [:]
    var gap: [UInt8] = []
    var brackets = OpenBrackets(value: [])
    var start = 0
    while start < inner.count {
      let end = inner[...].endOfLine(from: start)
      let line = inner[start..<end]
      switch HeaderLine(line) {
      case .gap: gap += line
      case .key(let count):
        let key = line.prefix(count).text
        counts[key, default: 0] += 1
        let number = counts[key]!
        fields.append(Field(key: number == 1 ? key : ":\(number):\(key)", lines: gap + line))
        gap = []
        brackets = OpenBrackets(value: line.dropFirst(line.firstColon(from: count) + 1))
      case let kind:
        if fields.isEmpty, kind == .continuation || !signs.contains(line.first!) { return nil }
        if kind == .continuation || brackets.isOpen {
          brackets.read(line)
          fields[fields.count - 1].lines += gap + line
          gap = []
        } else {
          fields.append(Field(key: otherKey, lines: gap + inner[start...]))
          return (fields, [])
        }
      }
      start = end
    }
    return (fields, gap)
  }
}

extension ArraySlice<UInt8> {
  /// How many bytes from the beginning the colon stands behind a key, with blanks before it at most.
  fileprivate func firstColon(from count: Int) -> Int {
    self[(startIndex + count)...].firstIndex(of: .colon)! - startIndex
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
    let named = Set(frame.order)
    let others = values.keys.filter { !named.contains($0) }
      .sorted { $0.lexicographicallyPrecedes($1) }
    let last = Array(Self.otherKey.utf8)
    var seen: Set<[UInt8]> = []
    var inner: [UInt8] = []
    for key in (frame.order + others).filter({ $0 != last }) + [last] {
      guard let value = values[key], seen.insert(key).inserted,
        seen.count <= Self.mostFields, Self.isField(value, key: key)
      else { continue }
      inner += value
    }
    let parts = Self.parts(of: inner) ?? ([], [])
    self.init()
    entries = parts.fields
    opening = frame.opening
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
  static func isField(_ lines: [UInt8], key: [UInt8]) -> Bool {
    guard lines.last == .lineFeed, !lines[...].lines.contains(where: isClosing) else {
      return false
    }
    let isOther = key.elementsEqual(otherKey.utf8)
    guard let parts = parts(of: isOther ? Array("a:\n".utf8) + lines : lines), parts.rest.isEmpty,
      parts.fields.count == (isOther ? 2 : 1)
    else { return false }
    let found = parts.fields.last!.key.utf8
    if found.elementsEqual(key) { return true }
    // The second one of a name: `:2:title`.
    guard key.first == .colon, let end = key.dropFirst().firstIndex(of: .colon),
      let number = Int(key[1..<end].text), number > 1, key[1..<end].elementsEqual("\(number)".utf8)
    else { return false }
    return found.elementsEqual(key[(end + 1)...])
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
      } else if FileHeader.isOpening(delimiter) {
        self.opening = Array(opening)
        let lines = closing.lines
        let isRight =
          lines.last.map(FileHeader.isClosing) == true
          && lines.dropLast().allSatisfy { HeaderLine($0) == .gap }
        self.closing =
          isRight ? Array(closing) : [.hyphen, .hyphen, .hyphen] + delimiter.lineEnd
      }
    }
  }
}
