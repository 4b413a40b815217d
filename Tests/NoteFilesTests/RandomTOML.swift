import TestSupport

/// A TOML header, of one seed: facts of a note in any form, among other keys and tables.
struct RandomTOML {
  struct Fact {
    /// The path with dots.
    var path: String
    var isLocked: Bool
  }

  private var random: SplitMix64
  private(set) var title: Fact?
  private(set) var tags: Fact?
  private(set) var priority: Fact?
  private var number = 0

  init(random: SplitMix64) { self.random = random }

  /// The header with its delimiters, and a text.
  mutating func file() -> String {
    title = nil
    tags = nil
    priority = nil
    var top: [[String]] = []
    if random.chance(70) { top.append(titleLines()) }
    if random.chance(50) { top.append(priorityLines()) }
    if random.chance(40) { top.append(tagLines("tags", path: "tags")) }
    for _ in 0..<random.below(5) { top.append(otherLines()) }
    top.shuffle(using: &random)
    var tables: [[String]] = []
    if random.chance(40) { tables.append(taxonomies()) }
    for _ in 0..<random.below(3) { tables.append(tableLines()) }
    tables.shuffle(using: &random)
    let lines = (top + tables).flatMap { gap() + $0 } + gap()
    let end = random.pick(["\n", "\n", "\n", "\r\n"])
    return random.pick(["", "", "", "\u{FEFF}"]) + "+++" + end + lines.map { $0 + end }.joined()
      + "+++" + end + random.pick(["", "Text", "---\na: b\n---\n"])
  }

  private mutating func gap() -> [String] {
    random.chance(25)
      ? random.pick([["# note \(next())"], [""], ["", "# note \(next()) = ["]]) : []
  }

  private mutating func next() -> Int {
    number += 1
    return number
  }

  private mutating func comment() -> String { random.chance(25) ? " # note \(next())" : "" }

  // MARK: - Facts

  private mutating func titleLines() -> [String] {
    let key = random.pick(["title = ", "title = ", "title=", "\"title\" = ", "'title'   = "])
    let isLocked = random.chance(20)
    title = Fact(path: "title", isLocked: isLocked)
    return random.pick(
      isLocked
        ? [
          [key + "\"\"\"", "a", "tags = [\"no\"]\"\"\""], [key + "12"], [key + "2026-11-23"],
          [key + "{a = 1}"], [key + "'''a'''"],
        ]
        : [
          [key + "\"a \\\" b # no\"" + comment()], [key + "'a # no'" + comment()],
          [key + "\"\\u00e9 \\\\\"" + comment()], [key + "''"],
        ])
  }

  private mutating func priorityLines() -> [String] {
    let isLocked = random.chance(20)
    priority = Fact(path: "priority", isLocked: isLocked)
    let value = random.pick(isLocked ? ["1", "'urgent'", "[\"high\"]"] : ["\"high\"", "'Low'"])
    return ["priority = " + value + comment()]
  }

  private mutating func tagLines(_ key: String, path: String) -> [String] {
    let isLocked = random.chance(20)
    if tags == nil || path == "tags" { tags = Fact(path: path, isLocked: isLocked) }
    if isLocked {
      return random.pick([
        ["\(key) = [\"a\", [\"b\"]]"], ["\(key) = {a = 1}"], ["\(key) = 12"],
        ["\(key) = [{a = 1}]"],
        ["\(key) = [\"\"\"", "a\"\"\"]"],
      ])
    }
    let value = list()
    return ["\(key) = \(value[0])"] + value.dropFirst()
  }

  private mutating func item() -> String {
    random.pick(["\"a\"", "'b'", "\"x y\"", "\"q\\\"]\"", "'#c'", "2024", "\"é\"", "'it\"s'"])
  }

  private mutating func list() -> [String] {
    if random.chance(10) { return ["\"one\"" + comment()] }
    let items = (0..<random.below(4)).map { _ in item() }
    if random.chance(50) {
      let last = items.isEmpty ? "" : random.pick(["", ", "])
      return ["[" + items.joined(separator: random.pick([", ", ","])) + last + "]" + comment()]
    }
    var lines = ["[" + comment()]
    for (index, item) in items.enumerated() {
      let comma = index < items.count - 1 || random.chance(50) ? random.pick([",", " ,"]) : ""
      lines.append("  \(item)\(comma)" + comment())
      if random.chance(15) { lines.append("# note \(next()), ]") }
    }
    return lines + ["]" + comment()]
  }

  private mutating func taxonomies() -> [String] {
    var lines = ["[taxonomies]" + comment()]
    if random.chance(30) { lines.append("categories = ['c']") }
    if random.chance(70) {
      lines += tagLines("tags", path: "taxonomies.tags")
    } else if tags == nil {
      tags = Fact(path: "taxonomies.tags", isLocked: false)
    }
    if random.chance(30) { lines.append("  authors = ['d']" + comment()) }
    return lines
  }

  // MARK: - Other keys

  private mutating func otherLines() -> [String] {
    let key = "k\(next())"
    return random.pick(
      [
        ["\(key) = 12 # note"], ["\(key) = 2026-11-23"], ["\(key) = 2026-11-23T10:00:00+01:00"],
        ["\(key) = 2026-11-23 10:00:00"], ["\(key) = 10:00:00.5"], ["\(key) = true"],
        ["\(key) = +1.5e3"],
        ["\(key) = \"\"\"", "tags = [\"no\"]", "[table]", "\\\"\"\" \"\"\"\"\""],
        ["\(key) = '''", "title = \"no\"", "\"\"\" '''"], ["\(key) = [[1, 2], [\"]\", '[']]"],
        ["\(key) = { a = 1, b = [\"}\"] }"], ["\(key).tags = [\"no\"]"], ["\(key) . title = 'no'"],
        ["\"\(key) q.r\" = 'v'"], ["'\(key) = x' = 1"], ["\(key) = ["], ["\(key) = inf"],
      ].map { $0.last!.hasSuffix("= [") ? $0 + ["  1, # note ]", "  2", "]"] : $0 })
  }

  private mutating func tableLines() -> [String] {
    let key = "t\(next())"
    return random.pick([
      ["[\(key)]", "title = 'no'", "tags = ['no']"],
      ["[[\(key)]]", "tags = ['no']", "[[\(key)]]", "a = 1"],
      ["[\(key).\"x.y\"] # note", "  priority = 'no'"], ["[ \(key) ]"],
    ])
  }
}
