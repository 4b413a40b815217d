import TestSupport

extension SplitMix64 {
  /// A random JSON document, with white space, escapes and numbers in all their ways of being written.
  mutating func document() -> String { space() + value(depth: 0) + space() }

  private mutating func space() -> String {
    chance(80) ? "" : pick([" ", "\n", "\t", "\r", " \r\n\t "])
  }

  private mutating func value(depth: Int) -> String {
    let kinds = depth < 5 ? 9 : 6
    switch Int.random(in: 0..<kinds, using: &self) {
    case 0: return pick(["true", "false"])
    case 1: return "null"
    case 2, 3: return number()
    case 4, 5: return string()
    case 6, 7:
      let members = (0..<Int.random(in: 0..<5, using: &self)).map { place in
        // The place makes names unique: which of two equal ones counts is tested elsewhere.
        "\"\(place)" + string().dropFirst() + space() + ":" + space() + value(depth: depth + 1)
      }
      return "{" + space() + members.joined(separator: space() + "," + space()) + space() + "}"
    default:
      let values = (0..<Int.random(in: 0..<5, using: &self)).map { _ in value(depth: depth + 1) }
      return "[" + space() + values.joined(separator: space() + "," + space()) + space() + "]"
    }
  }

  mutating func number() -> String {
    var text = chance(30) ? "-" : ""
    text += pick(["0", "7", "10", "123", "4096", "9007199254740993", "100000"])
    if chance(30) { text += pick([".0", ".5", ".25", ".000", ".125"]) }
    if chance(30) { text += pick(["e0", "E2", "e+3", "e-1", "e-0", "E+05"]) }
    return text
  }

  mutating func string() -> String {
    var text = "\""
    for _ in 0..<Int.random(in: 0..<(chance(10) ? 90 : 8), using: &self) {
      text += pick([
        "a", "b", "Z", "0", " ", "/", "é", "ß", "中", "😀", "\u{2028}", "e\u{301}", "\u{7F}", "\\n",
        "\\t", "\\r", "\\b", "\\f", "\\/", "\\\\", "\\\"", "\\u0041", "\\u00e9", "\\u20AC",
        "\\ud83d\\ude00", "\\uFFFF",
      ])
    }
    return text + "\""
  }
}
