import TestSupport

/// Headers that somebody might have written, and such that nobody should, of one seed.
struct RandomHeader {
  var random: SplitMix64

  private mutating func word() -> String {
    random.chance(60)
      ? random.pick(["a", "b", "foo", "x y", "é", "2024"]) : random.pick(Hostile.words)
  }

  /// A scalar in any style, right or wrong.
  private mutating func scalar() -> String {
    let word = word()
    switch random.below(6) {
    case 0: return "'\(word.replacing("'", with: "''"))'"
    case 1: return "\"\(word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    case 2: return "\"\(word)\\u00e9\\x41\\n\""
    case 3: return "'\(word)"
    default: return word
    }
  }

  private mutating func comment() -> String {
    random.chance(20) ? random.pick([" # c", " #c", "#c", "  "]) : ""
  }

  private mutating func value() -> [String] {
    switch random.below(12) {
    case 0: return [""]
    case 1, 2:
      let separator = random.pick([", ", ",", " , ", ",, "])
      return ["[" + (0..<random.below(4)).map { _ in scalar() }.joined(separator: separator) + "]"]
    case 3:
      return ["["] + (0..<random.below(4)).map { _ in "  \(scalar())," } + [
        random.pick(["]", "  ]", ""])
      ]
    case 4, 5:
      let indentation = random.pick(["", "  ", "    ", "\t"])
      var lines = [""]
      for _ in 0..<(1 + random.below(4)) {
        if random.chance(10) { lines.append(random.pick(["# c", "  # c", "", "  "])) }
        lines.append(indentation + random.pick(["- ", "-   ", "-"]) + scalar() + comment())
      }
      return lines
    case 6:
      let sign = random.pick(["|", ">", ">-", "|+", "|2", ">1-", "|#"])
      return [sign]
        + (0..<random.below(4)).map { _ in random.pick(["  ", "   ", "", "\t"]) + word() }
    case 7:
      return [
        (0..<random.below(4)).map { _ in word() }.joined(separator: random.pick([", ", " "]))
      ]
    case 8: return [scalar(), "  " + scalar(), random.pick(["", "  x: y", "  - z", " w"])]
    case 9:
      return [
        random.pick([
          "&a x", "*a", "!!set {a}", "{a: b}", "? a", "[a, [b]]", "[a", "low", "HIGH", "Normal",
        ])
      ]
    default: return [scalar() + comment()]
    }
  }

  /// A header and a text.
  mutating func file() -> String {
    let lineEnd = random.pick(["\n", "\n", "\n", "\r\n"])
    let keys = [
      "title", "tags", "keywords", "priority", "id", "date", "created", "other", "Title", "TAGS",
      "a b",
    ]
    var lines = ["---" + random.pick(["", "", "", " ", "\t"])]
    for _ in 0..<random.below(6) {
      if random.chance(15) { lines.append(random.pick(["# c", "", "  ", "\t# c"])) }
      if random.chance(4) {
        lines.append(random.pick(["garbage", "{a: b}", "? x", "]", "-", " i", "\"q\": r", ":x"]))
      }
      let value = value()
      lines.append(
        random.pick(keys) + random.pick([":", ":", ": ", ":  ", " : "])
          + (random.chance(90) && value[0] != "" ? " " : "") + value[0])
      lines += value.dropFirst()
    }
    if random.chance(15) { lines.append(random.pick(["# c", ""])) }
    lines.append(random.pick(["---", "---", "...", "--- "]))
    let mixed = lines.map { $0 + (random.chance(3) ? "\n" : lineEnd) }.joined()
    return random.pick(["", "", "", "\u{FEFF}"]) + mixed + random.pick(Hostile.texts)
  }
}
