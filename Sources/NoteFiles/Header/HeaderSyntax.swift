// The lines of a header, and which of them begin a field.
//
// A header is a block of lines at the beginning of a file between `---` and `---` or `...`. Of YAML only as much is known as is needed to
// tell its top-level fields from each other:
//
// - a *key line* begins in column 0 with a name, a colon, and a blank or the line's end;
// - what continues the field before it: an indented line; a list item (`- a`) in column 0; a line that begins with `]` or `}`; and, while
//   the field's quotes or brackets are open, any line that isn't a key line;
// - a blank line, or a comment in column 0: belongs to the field before it if that is continued behind it, and to the next one otherwise;
// - any other line: from here on to the end of the header nothing is understood, and all of it is one field.

internal import Bytes

/// What a line is within a header.
enum HeaderLine: Equatable {
  /// The line begins a field with a name of so many bytes.
  case key(Int)
  case continuation
  /// A blank line, or a comment in column 0.
  case gap
  case other

  init(_ line: ArraySlice<UInt8>) {
    let content = line.withoutLineEnd
    guard let first = content.first, let contentStart = content.firstIndex(where: { !$0.isBlank })
    else {
      self = .gap
      return
    }
    if first == .hash {
      self = .gap
    } else if first.isBlank || first == .closingBracket || first == .closingBrace
      || HeaderLine.isItem(content[contentStart...])
    {
      self = .continuation
    } else if let count = HeaderLine.keyCount(content) {
      self = .key(count)
    } else {
      self = .other
    }
  }

  /// True for `- a` and `-`.
  static func isItem(_ content: ArraySlice<UInt8>) -> Bool {
    guard content.first == .hyphen else { return false }
    return content.count == 1 || content[content.startIndex + 1].isBlank
  }

  /// The most bytes that a key may have.
  static let longestKey = 200

  /// The bytes with which YAML begins something else than a plain word.
  private static let indicators: Set<UInt8> = Set("-?:,[]{}#&*!|>'\"%@`".utf8)

  private static func keyCount(_ content: ArraySlice<UInt8>) -> Int? {
    guard let first = content.first, !indicators.contains(first) else { return nil }
    var index = content.startIndex
    let end = min(content.endIndex, content.startIndex + longestKey + 1)
    while index < end {
      if content[index] == .colon, index + 1 == content.endIndex || content[index + 1].isBlank {
        var last = index
        while last > content.startIndex, content[last - 1].isBlank { last -= 1 }
        return last - content.startIndex
      }
      if content[index] == .hash, content[index - 1].isBlank { return nil }
      if content[index] < 0x20, content[index] != .tab { return nil }
      index += 1
    }
    return nil
  }
}

/// Whether the quotes and brackets that the value of a field begins with are open at the end of its lines.
struct OpenBrackets {
  private var depth = 0
  private var quote: UInt8?
  private var isEscaped = false
  private(set) var isOpen = false

  /// Begins with what stands behind the colon of a key line.
  init(value: ArraySlice<UInt8>) {
    let content = value.drop(while: \.isBlank)
    guard let first = content.first,
      [.openingBracket, .openingBrace, .quote, .apostrophe].contains(first)
    else { return }
    isOpen = true
    read(content)
  }

  /// Reads a further line.
  mutating func read(_ line: ArraySlice<UInt8>) {
    guard isOpen else { return }
    var before: UInt8 = .space
    for byte in line {
      if isEscaped {
        isEscaped = false
      } else if let quote {
        if byte == .backslash, quote == .quote {
          isEscaped = true
        } else if byte == quote {
          self.quote = nil
        }
      } else {
        switch byte {
        case .quote, .apostrophe:
          if before.isBlank || before == .comma || before == .openingBracket
            || before == .openingBrace
          {
            quote = byte
          }
        case .openingBracket, .openingBrace: depth += 1
        case .closingBracket, .closingBrace: depth -= 1
        case .hash where before.isBlank: return
        default: break
        }
      }
      if quote == nil, depth <= 0 {
        isOpen = false
        return
      }
      before = byte
    }
  }
}

extension ArraySlice<UInt8> {
  /// The line without the line feed at its end, and the carriage return before that.
  var withoutLineEnd: ArraySlice<UInt8> {
    guard last == .lineFeed else { return self }
    let content = dropLast()
    return content.last == .carriageReturn ? content.dropLast() : content
  }

  /// The line feed at the end, with the carriage return before it; empty if there is none.
  var lineEnd: ArraySlice<UInt8> { self[withoutLineEnd.endIndex...] }

  /// Where the line that begins at `start` ends: behind its line feed, or with the bytes.
  func endOfLine(from start: Int) -> Int {
    span.firstIndex(of: .lineFeed, from: start - startIndex).map { $0 + startIndex + 1 } ?? endIndex
  }

  /// The lines, each with its line end.
  var lines: [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = startIndex
    while start < endIndex {
      let end = endOfLine(from: start)
      lines.append(self[start..<end])
      start = end
    }
    return lines
  }

  /// The bytes without blanks at both ends.
  var trimmed: ArraySlice<UInt8> {
    var slice = drop(while: \.isBlank)
    while slice.last?.isBlank == true { slice.removeLast() }
    return slice
  }

  var text: String { String(decoding: self, as: UTF8.self) }
}

extension UInt8 {
  static let tab = UInt8(ascii: "\t")
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let space = UInt8(ascii: " ")
  static let hash = UInt8(ascii: "#")
  static let hyphen = UInt8(ascii: "-")
  static let colon = UInt8(ascii: ":")
  static let comma = UInt8(ascii: ",")
  static let dot = UInt8(ascii: ".")
  static let slash = UInt8(ascii: "/")
  static let quote = UInt8(ascii: "\"")
  static let apostrophe = UInt8(ascii: "'")
  static let backslash = UInt8(ascii: "\\")
  static let openingBracket = UInt8(ascii: "[")
  static let closingBracket = UInt8(ascii: "]")
  static let openingBrace = UInt8(ascii: "{")
  static let closingBrace = UInt8(ascii: "}")
  static let openingParenthesis = UInt8(ascii: "(")
  static let closingParenthesis = UInt8(ascii: ")")
  static let backquote = UInt8(ascii: "`")
  static let exclamation = UInt8(ascii: "!")

  /// A space or a tab.
  var isBlank: Bool { self == .space || self == .tab }
  var isDigit: Bool { self &- 0x30 < 10 }
  /// A sign of ASCII that is neither a letter nor a digit: a backslash takes away what it means.
  var isPunctuation: Bool {
    (0x21...0x2F).contains(self) || (0x3A...0x40).contains(self) || (0x5B...0x60).contains(self)
      || (0x7B...0x7E).contains(self)
  }
}
