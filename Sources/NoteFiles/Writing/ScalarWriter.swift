/// Writes words so that YAML and TOML, ours and those of other programs, read them as text, and as the same.
enum ScalarWriter {
  /// The word in a style; in double quotes where that can't be.
  static func token(
    _ text: String, _ style: HeaderScalar.Style, inList: Bool = false,
    _ syntax: HeaderSyntax
  ) -> [UInt8] {
    switch style {
    case .plain where syntax == .yaml && isPlain(text, inList: inList): return Array(text.utf8)
    case .single where syntax == .toml && text.utf8.contains(.apostrophe): return double(text)
    case .single where !text.unicodeScalars.contains(where: needsEscape):
      return Array("'\(text.replacing("'", with: "''"))'".utf8)
    default: return double(text)
    }
  }

  private static func double(_ text: String) -> [UInt8] {
    var out = [UInt8.quote]
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": out += [.backslash, UInt8(scalar.value)]
      case "\t": out += Array("\\t".utf8)
      case _ where needsEscape(scalar):
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let count = scalar.value > 0xFFFF ? 8 : 4
        out += Array((count == 8 ? "\\U" : "\\u").utf8)
        out += Array(repeating: UInt8(ascii: "0"), count: count - digits.utf8.count)
        out += Array(digits.utf8)
      default: out += Array(String(scalar).utf8)
      }
    }
    return out + [.quote]
  }

  /// True for what YAML doesn't print, and for its line breaks.
  private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0xFEFF: true
    case let value: value & 0xFFFE == 0xFFFE
    }
  }

  /// Signs with which no plain word begins, in no place.
  private static let firstSigns: Set<UInt8> = Set("-?:,[]{}#&*!|>'\"%@`=<~ ".utf8)
  /// Signs that end a word in a list.
  private static let listSigns: Set<UInt8> = Set(",[]{}".utf8)
  /// Signs of numbers and times.
  private static let numberSigns: Set<UInt8> = Set("0123456789+-.:_/eETtZz ".utf8)
  private static let words: Set<String> = [
    "null", "true", "false", "yes", "no", "on", "off", "y", "n", ".nan", ".inf",
  ]

  /// True if the word needs no quotes.
  static func isPlain(_ text: String, inList: Bool = false) -> Bool {
    let bytes = Array(text.utf8)
    guard let first = bytes.first, !firstSigns.contains(first), bytes.last != .space,
      bytes.last != .colon, !inList || !bytes.contains(where: listSigns.contains),
      !words.contains(text.lowercased()), !text.unicodeScalars.contains(where: needsEscape)
    else { return false }
    if isNumber(bytes) { return false }
    for index in bytes.indices.dropLast()
    where bytes[index + 1] == .hash && bytes[index] == .space
      || bytes[index] == .colon && bytes[index + 1] == .space
    {
      return false
    }
    return true
  }

  /// True for what some version of YAML may read as a number or a time.
  private static func isNumber(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first, first.isDigit || first == .dot || first == .plus else {
      return false
    }
    let digits = bytes.drop { $0 == .plus }
    return bytes.allSatisfy(numberSigns.contains)
      || ["0x", "0o", "0b", ".i", ".n"].contains(digits.prefix(2).text.lowercased())
  }
}
