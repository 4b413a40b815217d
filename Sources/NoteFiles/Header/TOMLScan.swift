/// The keys and tables of TOML, and where they stand.
///
/// The scan ends at the first line that is no TOML. Values are told from what follows them, and not checked further.
struct TOMLScan {
  struct Entry {
    /// The table's path and the parts of the key, without quotes.
    var path: [String]
    /// The path of the table.
    var table: [String]
    /// True below `[[table]]`.
    var isInArray: Bool
    /// The end of the key, with its equals sign.
    var keyEnd: Int
    /// The bytes of the value.
    var value: Range<Int>
    /// The lines of key and value.
    var line: Range<Int>
  }

  struct Table {
    var path: [String]
    var isArray: Bool
    var line: Range<Int>
  }

  let bytes: [UInt8]
  private(set) var entries: [Entry] = []
  private(set) var tables: [Table] = []
  /// True if some line begins a key, which may have no value.
  private(set) var hasKey = false
  /// True if all lines are TOML.
  private(set) var isComplete = false
  private let reader: ScalarReader
  private var index = 0

  /// - Complexity: O(n).
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    reader = ScalarReader(bytes: bytes)
    while index < bytes.count {
      let start = index
      index = reader.skippingBlanks(from: index)
      if !reader.isLineEnd(index), bytes[index] != .hash {
        guard bytes[index] == .openingBracket ? readTable(start) : readEntry(start) else { return }
      }
      index = bytes[...].endOfLine(from: index)
    }
    isComplete = true
  }

  private mutating func readTable(_ start: Int) -> Bool {
    let isArray = bytes[index...].starts(with: "[[".utf8)
    index += isArray ? 2 : 1
    guard let path = key(), take(.closingBracket), !isArray || take(.closingBracket),
      isLineDone()
    else { return false }
    let line = start..<bytes[...].endOfLine(from: index)
    tables.append(Table(path: path, isArray: isArray, line: line))
    return true
  }

  private mutating func readEntry(_ start: Int) -> Bool {
    guard let key = key(), take(.equals) else { return false }
    hasKey = true
    let keyEnd = index
    index = reader.skippingBlanks(from: index)
    let value = index
    guard skipValue() else { return false }
    let valueEnd = index
    guard isLineDone() else { return false }
    let table = tables.last?.path ?? []
    entries.append(
      Entry(
        path: table + key, table: table, isInArray: tables.last?.isArray ?? false, keyEnd: keyEnd,
        value: value..<valueEnd, line: start..<bytes[...].endOfLine(from: index)))
    return true
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  /// True if nothing but blanks and a comment follows on the line.
  private func isLineDone() -> Bool {
    let next = reader.skippingBlanks(from: index)
    return reader.isLineEnd(next) || bytes[next] == .hash
  }

  // MARK: - Keys

  /// Moves behind the parts of a key and the blanks around them.
  private mutating func key() -> [String]? {
    var parts: [String] = []
    repeat {
      index = reader.skippingBlanks(from: index)
      guard index < bytes.count else { return nil }
      let start = index
      if bytes[index] == .quote || bytes[index] == .apostrophe {
        guard let text = string(at: index) else { return nil }
        parts.append(text.text)
        index = text.range.upperBound
      } else {
        while index < bytes.count, Self.isBare(bytes[index]) { index += 1 }
        if index == start { return nil }
        parts.append(bytes[start..<index].text)
      }
      index = reader.skippingBlanks(from: index)
    } while take(.dot)
    return parts
  }

  private static func isBare(_ byte: UInt8) -> Bool {
    byte.isDigit || byte == .hyphen || byte == UInt8(ascii: "_")
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  // MARK: - Values

  /// A string on one line.
  func string(at start: Int) -> HeaderScalar? {
    guard !isMultiline(at: start), let scalar = reader.quoted(at: start, syntax: .toml),
      !bytes[scalar.range].contains(.lineFeed)
    else { return nil }
    return scalar
  }

  private func isMultiline(at start: Int) -> Bool {
    bytes[start...].starts(with: repeatElement(bytes[start], count: 3))
  }

  private mutating func skipValue() -> Bool {
    var depth = 0
    repeat {
      skipGaps(isInBrackets: depth > 0)
      guard index < bytes.count else { return false }
      switch bytes[index] {
      case .openingBracket, .openingBrace:
        depth += 1
        index += 1
      case .closingBracket where depth > 0, .closingBrace where depth > 0:
        depth -= 1
        index += 1
      case .comma where depth > 0, .equals where depth > 0: index += 1
      case .quote, .apostrophe: guard skipString() else { return false }
      default: guard skipBareValue() else { return false }
      }
    } while depth > 0
    return true
  }

  /// Moves to the next value in brackets.
  private mutating func skipGaps(isInBrackets: Bool) {
    guard isInBrackets else { return }
    while index < bytes.count {
      if bytes[index] == .hash {
        index = reader.endOfContent(from: index)
      } else if bytes[index].isBlank || reader.isLineEnd(index) {
        index += 1
      } else {
        return
      }
    }
  }

  private mutating func skipString() -> Bool {
    guard isMultiline(at: index) else {
      guard let end = string(at: index)?.range.upperBound else { return false }
      index = end
      return true
    }
    let quote = bytes[index]
    index += 3
    while index < bytes.count {
      if bytes[index] == .backslash, quote == .quote {
        index += 2
      } else if isMultilineEnd(quote) {
        index += 3
        // One or two quotes may stand before the last three.
        while take(quote) {}
        return true
      } else {
        index += 1
      }
    }
    return false
  }

  private func isMultilineEnd(_ quote: UInt8) -> Bool {
    bytes[index] == quote && bytes[index...].starts(with: repeatElement(quote, count: 3))
  }

  /// Moves behind a number, a time, a truth value, or a key in an inline table. Between date and time may be a space.
  private mutating func skipBareValue() -> Bool {
    let start = index
    skipBareWord()
    if index - start == 10, bytes[start + 4] == .hyphen, index + 1 < bytes.count,
      bytes[index] == .space, bytes[index + 1].isDigit
    {
      index += 1
      skipBareWord()
    }
    return index > start
  }

  private mutating func skipBareWord() {
    while index < bytes.count,
      Self.isBare(bytes[index]) || bytes[index] == .plus
        || bytes[index] == .colon || bytes[index] == .dot
    {
      index += 1
    }
  }

  /// The value of an entry.
  func value(of entry: Entry) -> HeaderValue {
    HeaderValue(
      bytes: bytes, keyEnd: entry.keyEnd, range: entry.value, kind: kind(entry.value),
      syntax: .toml)
  }

  private func kind(_ range: Range<Int>) -> HeaderValue.Kind {
    switch bytes[range.lowerBound] {
    case .quote, .apostrophe: string(at: range.lowerBound).map { .scalar($0) } ?? .other
    case .openingBracket: items(range).map { .flow($0) } ?? .other
    case .openingBrace: .other
    default:
      .scalar(HeaderScalar(style: .plain, range: range, text: bytes[range].text))
    }
  }

  /// The items of an array; nil if one is of several lines or an array or a table.
  private func items(_ range: Range<Int>) -> [HeaderValue.Item]? {
    var scan = self
    var items: [HeaderValue.Item] = []
    scan.index = range.lowerBound + 1
    while true {
      scan.skipGaps(isInBrackets: true)
      let start = scan.index
      switch bytes[start] {
      case .closingBracket: return items
      case .comma: scan.index += 1
      case .quote, .apostrophe:
        guard let text = string(at: start) else { return nil }
        items.append(.init(range: text.range, style: text.style, text: text.text))
        scan.index = text.range.upperBound
      default:
        guard scan.skipBareValue() else { return nil }
        let text = bytes[start..<scan.index].text
        items.append(.init(range: start..<scan.index, style: .plain, text: text))
      }
    }
  }
}

extension HeaderValue {
  /// Reads the lines of a field that begins with a key.
  init(_ bytes: [UInt8], _ syntax: HeaderSyntax) {
    self.init(bytes)
    guard syntax == .toml else { return }
    makeOther()
    let scan = TOMLScan(bytes)
    if let entry = scan.entries.first { self = scan.value(of: entry) }
  }
}
