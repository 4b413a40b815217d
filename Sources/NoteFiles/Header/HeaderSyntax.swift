internal import Bytes

/// The language of a header.
enum HeaderSyntax {
  case yaml, toml, json

  /// The sign of which a delimiter has three.
  var delimiterSign: UInt8 { self == .toml ? .plus : .hyphen }
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
  static let plus = UInt8(ascii: "+")
  static let ampersand = UInt8(ascii: "&")
  static let questionMark = UInt8(ascii: "?")
  static let verticalBar = UInt8(ascii: "|")
  static let greaterThan = UInt8(ascii: ">")
  static let equals = UInt8(ascii: "=")

  /// A space or a tab.
  var isBlank: Bool { self == .space || self == .tab }
  var isDigit: Bool { self &- 0x30 < 10 }
  /// A sign of ASCII that is neither a letter nor a digit: a backslash takes away what it means.
  var isPunctuation: Bool {
    (0x21...0x2F).contains(self) || (0x3A...0x40).contains(self) || (0x5B...0x60).contains(self)
      || (0x7B...0x7E).contains(self)
  }
}
