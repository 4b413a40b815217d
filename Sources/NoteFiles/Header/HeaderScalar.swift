// One word or sentence of YAML: plain, in quotes, or below `|` or `>`.

/// A scalar of a header, and where it stands.
struct HeaderScalar {
  enum Style {
    case plain, single, double, block
  }

  var style: Style
  var range: Range<Int>
  var text: String

  /// True for what YAML reads as nothing.
  var isNull: Bool { style == .plain && ["~", "null", "Null", "NULL"].contains(text) }
}

/// Reads scalars in the lines of one field.
struct ScalarReader {
  let bytes: [UInt8]

  /// Signs with which no plain word begins. Those of the second line are allowed before another sign than a blank.
  private static let indicators: Set<UInt8> = Set(",[]{}&*!|>%@`".utf8)
  private static let indicatorsBeforeBlank: Set<UInt8> = Set("-?:".utf8)

  func endOfContent(from start: Int) -> Int {
    bytes[start..<bytes[...].endOfLine(from: start)].withoutLineEnd.endIndex
  }

  /// True where a line ends. O(1), unlike `endOfContent`.
  func isLineEnd(_ index: Int) -> Bool {
    guard index < bytes.count else { return true }
    return bytes[index] == .lineFeed
      || bytes[index] == .carriageReturn && index + 1 < bytes.count && bytes[index + 1] == .lineFeed
  }

  func skippingBlanks(from start: Int) -> Int {
    var index = start
    while index < bytes.count, bytes[index].isBlank { index += 1 }
    return index
  }

  /// True if nothing but blanks and a comment follows on the line.
  func isLineDone(at index: Int) -> Bool {
    let next = skippingBlanks(from: index)
    return isLineEnd(next) || bytes[next] == .hash && next > index
  }

  /// True if nothing but blanks and comments follows, on this line and those below.
  func isDone(at index: Int) -> Bool {
    isLineDone(at: index)
      && bytes[bytes[...].endOfLine(from: index)...].lines.allSatisfy(Self.isGap)
  }

  /// True for a blank line, and for a comment however far it is indented.
  static func isGap(_ line: ArraySlice<UInt8>) -> Bool {
    let content = line.withoutLineEnd.drop(while: \.isBlank)
    return content.isEmpty || content.first == .hash
  }

  /// True if a plain word can begin here, which is no end of a line.
  func isPlain(at index: Int) -> Bool {
    let byte = bytes[index]
    if byte == .quote || byte == .apostrophe || Self.indicators.contains(byte) { return false }
    let next = index + 1
    return !Self.indicatorsBeforeBlank.contains(byte)
      || !isLineEnd(next) && !bytes[next].isBlank
  }

  /// A plain word up to the end of its line or a comment. A word that begins with `#` may have further ones: tags are written so.
  func plain(at start: Int, end: Int) -> HeaderScalar {
    var stop = start
    let isTag = bytes[start] == .hash
    while stop < end {
      if bytes[stop] == .hash, stop > start, bytes[stop - 1].isBlank,
        !isTag || stop + 1 == end || bytes[stop + 1].isBlank
      {
        break
      }
      stop += 1
    }
    let word = bytes[start..<stop].trimmed
    return HeaderScalar(style: .plain, range: start..<word.endIndex, text: word.text)
  }

  /// True if a plain word has a colon that would make it a map.
  static func isMap(_ content: ArraySlice<UInt8>) -> Bool {
    var index = content.startIndex
    while let colon = content[index...].firstIndex(of: .colon) {
      index = colon + 1
      if index == content.endIndex || content[index].isBlank { return true }
    }
    return false
  }

  // MARK: - Quotes

  /// What stands in quotes, on one line or several; `nil` if they aren't closed or an escape is none.
  func quoted(at start: Int, syntax: HeaderSyntax = .yaml) -> HeaderScalar? {
    bytes[start] == .quote
      ? double(at: start) : syntax == .toml ? literal(at: start) : single(at: start)
  }

  /// A literal string of TOML, in which no sign is escaped.
  private func literal(at start: Int) -> HeaderScalar? {
    let rest = bytes[(start + 1)..<endOfContent(from: start)]
    guard let end = rest.firstIndex(of: .apostrophe) else { return nil }
    return HeaderScalar(style: .single, range: start..<(end + 1), text: rest[..<end].text)
  }

  private func single(at start: Int) -> HeaderScalar? {
    var text: [UInt8] = []
    var index = start + 1
    while index < bytes.count {
      if bytes[index] == .apostrophe {
        guard index + 1 < bytes.count, bytes[index + 1] == .apostrophe else {
          return HeaderScalar(style: .single, range: start..<(index + 1), text: text[...].text)
        }
        text.append(.apostrophe)
        index += 2
      } else if bytes[index] == .lineFeed {
        index = fold(at: index, into: &text)
      } else {
        text.append(bytes[index])
        index += 1
      }
    }
    return nil
  }

  private func double(at start: Int) -> HeaderScalar? {
    var text: [UInt8] = []
    var index = start + 1
    // Blanks up to here were escaped, and are not folded.
    var kept = 0
    while index < bytes.count {
      switch bytes[index] {
      case .quote:
        return HeaderScalar(style: .double, range: start..<(index + 1), text: text[...].text)
      case .backslash:
        guard let next = escape(at: index + 1, into: &text) else { return nil }
        index = next
        kept = text.count
      case .lineFeed:
        index = fold(at: index, into: &text, keeping: kept)
      case let byte:
        text.append(byte)
        index += 1
      }
    }
    return nil
  }

  /// A line break in quotes is a space, with blanks around it; each further one is a line feed.
  private func fold(at start: Int, into text: inout [UInt8], keeping kept: Int = 0) -> Int {
    if text.last == .carriageReturn, text.count > kept { text.removeLast() }
    while text.count > kept, text.last!.isBlank { text.removeLast() }
    var count = 0
    var index = start
    while index < bytes.count, [.lineFeed, .carriageReturn, .space, .tab].contains(bytes[index]) {
      if bytes[index] == .lineFeed { count += 1 }
      index += 1
    }
    text += count == 1 ? [.space] : Array(repeating: .lineFeed, count: count - 1)
    return index
  }

  private static let escapes: [UInt8: UInt32] = {
    let pairs: [(String, UInt32)] = [
      ("0", 0), ("a", 7), ("b", 8), ("t", 9), ("\t", 9), ("n", 10), ("v", 11), ("f", 12),
      ("r", 13), ("e", 27), (" ", 32), ("\"", 34), ("/", 47), ("\\", 92), ("N", 0x85),
      ("_", 0xA0), ("L", 0x2028), ("P", 0x2029),
    ]
    return Dictionary(uniqueKeysWithValues: pairs.map { ($0.utf8.first!, $1) })
  }()

  /// What stands behind a backslash; returns where it ends.
  private func escape(at start: Int, into text: inout [UInt8]) -> Int? {
    guard start < bytes.count else { return nil }
    let sign = bytes[start]
    if let value = Self.escapes[sign] {
      text += Array(String(Unicode.Scalar(value)!).utf8)
      return start + 1
    }
    if isLineEnd(start) {
      // The line goes on below as if it had not ended.
      return skippingBlanks(from: bytes[...].endOfLine(from: start))
    }
    let counts: [UInt8: Int] = [
      UInt8(ascii: "x"): 2, UInt8(ascii: "u"): 4, UInt8(ascii: "U"): 8,
    ]
    guard let count = counts[sign], var value = hexadecimal(at: start + 1, count: count) else {
      return nil
    }
    var end = start + 1 + count
    // As JSON writes what is beyond the first plane.
    if count == 4, 0xD800..<0xDC00 ~= value, end + 1 < bytes.count, bytes[end] == .backslash,
      bytes[end + 1] == sign, let low = hexadecimal(at: end + 2, count: 4), 0xDC00..<0xE000 ~= low
    {
      value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
      end += 6
    }
    guard let scalar = Unicode.Scalar(value) else { return nil }
    text += Array(String(scalar).utf8)
    return end
  }

  private func hexadecimal(at start: Int, count: Int) -> UInt32? {
    guard start + count <= bytes.count else { return nil }
    let digits = bytes[start..<(start + count)]
    guard digits.first != UInt8(ascii: "+"), digits.first != .hyphen else { return nil }
    return UInt32(digits.text, radix: 16)
  }

  // MARK: - Blocks

  /// A scalar below `|` or `>`, without line feeds at its end; `nil` if it isn't written so.
  func block(at start: Int) -> HeaderScalar? {
    var index = start + 1
    var indentation: Int?
    while index < bytes.count, bytes[index].isDigit || "+-".utf8.contains(bytes[index]) {
      if bytes[index].isDigit { indentation = Int(bytes[index] & 0x0F) }
      index += 1
    }
    guard isLineDone(at: index) else { return nil }
    let lines = bytes[bytes[...].endOfLine(from: index)...].lines.map(\.withoutLineEnd)
    let isFolded = bytes[start] == UInt8(ascii: ">")
    let first = lines.first { !$0.allSatisfy(\.isBlank) } ?? []
    let depth = indentation ?? first.prefix { $0 == .space }.count
    guard depth > 0 || lines.isEmpty else { return nil }
    var text: [UInt8] = []
    var breaks = 0
    var end = bytes[...].endOfLine(from: index)
    for line in lines {
      if line.allSatisfy(\.isBlank) {
        breaks += 1
        continue
      }
      guard line.prefix(depth).allSatisfy({ $0 == .space }) else { return nil }
      let content = line.dropFirst(depth)
      if !text.isEmpty {
        text +=
          isFolded && breaks == 0
          ? [.space] : Array(repeating: .lineFeed, count: isFolded ? breaks : breaks + 1)
      }
      breaks = 0
      text += content
      end = line.endIndex
    }
    return HeaderScalar(style: .block, range: start..<end, text: text[...].text)
  }
}
