import TestSupport

/// A header that YAML's readers understand, of one seed: facts of a note in any form, among other fields in any form.
struct RandomYAML {
  /// A field that has a fact.
  struct Fact {
    /// The key as a reader has it.
    var key: String
    var isLocked: Bool
  }

  private var random: SplitMix64
  private(set) var title: Fact?
  private(set) var tags: Fact?
  private(set) var priority: Fact?
  /// True if no field can be added.
  private(set) var isClosed = false
  private var lines: [String] = []
  private var number = 0

  init(random: SplitMix64) { self.random = random }

  /// The header with its delimiters, and a text.
  mutating func file() -> String {
    var parts: [[String]] = []
    title = nil
    tags = nil
    priority = nil
    isClosed = false
    if random.chance(70) { parts.append(titleLines()) }
    if random.chance(80) { parts.append(tagLines()) }
    if random.chance(50) { parts.append(priorityLines()) }
    for _ in 0..<random.below(5) { parts.append(otherLines()) }
    parts.shuffle(using: &random)
    if random.chance(10) {
      // An alias stands behind its anchor.
      parts.insert(["base: &base {x: 1}"], at: 0)
      parts.append(
        random.pick([["<<: *base"], ["copy: *base"], ["copy:", "  <<: *base", "  y: 2"]]))
      if parts.last![0].hasPrefix("<<") { isClosed = true }
    }
    if random.chance(5) {
      parts.append(
        random.pick([["? complex", ": value"], ["!!str typed: value"], ["&k anchored: a"]]))
      isClosed = true
    }
    let lines = parts.flatMap { gap() + $0 } + gap()
    let end = random.pick(["\n", "\n", "\n", "\r\n"])
    return random.pick(["", "", "", "\u{FEFF}"]) + "---" + end + lines.map { $0 + end }.joined()
      + random.pick(["---", "---", "..."]) + end + random.pick(["", "Text", "---\na: b\n---\n"])
  }

  private mutating func gap() -> [String] {
    random.chance(25)
      ? random.pick([["# note \(next())"], [""], ["", "# note \(next()): [a"]]) : []
  }

  private mutating func next() -> Int {
    number += 1
    return number
  }

  private mutating func comment() -> String { random.chance(25) ? " # note \(next())" : "" }

  private mutating func key(_ names: [String]) -> (name: String, written: String) {
    let name = random.pick(names)
    let written = random.pick([name, name, name, name, "\"\(name)\"", "'\(name)'"])
    return (name, written + random.pick([":", ":", ":", " :"]))
  }

  // MARK: - Facts

  private mutating func titleLines() -> [String] {
    let key = key(["title", "title", "Title", "TITLE"])
    let comment = comment()
    let known: [[String]] = [
      [" Some words\(comment)"], [" 'it''s'\(comment)"], [" \"a \\\" b\"\(comment)"],
      [" \"a", "  b\"\(comment)"], [" >-\(comment)", "  a", "  b"], [" |\(comment)", "  a: [b"],
      [comment], [" ~\(comment)"], [" 2024\(comment)"], [" a", "  b", "  c"],
      [" |+", "  a", ""], ["   wide\(comment)"],
    ]
    let unknown = [
      [" &t Some words"], [" !!str 12"], [" {a: b}"], [" [a]"], ["", "  Some words"],
      ["", "  a: b"], ["", "- a"],
    ]
    let isLocked = random.chance(20)
    let value = random.pick(isLocked ? unknown : known)
    title = Fact(key: key.name, isLocked: isLocked)
    return [key.written + value[0]] + value.dropFirst()
  }

  private mutating func priorityLines() -> [String] {
    let key = key(["priority", "Priority"])
    let isLocked = random.chance(20)
    let comment = comment()
    let value =
      isLocked
      ? random.pick([" 1", " urgent", " [high]", " &p high", " !!str low", " {level: 2}"])
      : random.pick([" high", " Low", " 'normal'", " \"high\"", "", "   low"]) + comment
    priority = Fact(key: key.name, isLocked: isLocked)
    return [key.written + value]
  }

  private mutating func item() -> String {
    random.pick([
      "a", "b", "x y", "'it''s'", "\"q\\\"\"", "2024", "\"#x\"", "é", "a/b", "true", "\"1\"", "x:y",
      "\"a: b\"", "'c d'",
    ])
  }

  private mutating func tagLines() -> [String] {
    let key = key(["tags", "tags", "Tags", "keywords"])
    let isLocked = random.chance(25)
    let value = isLocked ? lockedTags() : random.chance(50) ? blockTags() : flowTags()
    tags = Fact(key: key.name, isLocked: isLocked)
    var lines = [key.written + value[0]] + value.dropFirst()
    if isLocked, random.chance(20) { lines += [key.written + " [second]"] }
    return lines
  }

  private mutating func lockedTags() -> [String] {
    let indentation = random.pick(["", "  "])
    return random.pick([
      [" &t [a, b]"], [" !!seq [a, b]"], [" !!set {a, b}"], [" {a: b}"], [" [a, [b]]"],
      [" [a: b]"], [" [&x a]"], [" |", "  a", "  b"], [" &t", "\(indentation)- a"],
      ["", "\(indentation)- name: a", "\(indentation)  x: y", "\(indentation)- name: b"],
      ["", "\(indentation)- a", "\(indentation)- - b", "\(indentation)  - c"],
      ["", "\(indentation)- &x a", "\(indentation)- *x"], ["", "\(indentation)- !!str 1"],
      ["", "\(indentation)- a", "\(indentation)    b"],
      ["", "\(indentation)- |", "\(indentation)  a"],
      ["", "  a", "  b"], ["", "\(indentation)- [a]"], [" [a,", "  #x,", "  b]"], ["", "  a: b"],
      ["", "\(indentation)- [x,", "priority: 1]"],
    ])
  }

  private mutating func blockTags() -> [String] {
    let indentation = random.pick(["", "  ", "    ", " "])
    let bullet = random.pick(["- ", "-   "])
    var lines = [comment()]
    for _ in 0...random.below(4) {
      if random.chance(20) {
        lines.append(random.pick(["# note \(next())", "   # note \(next())", ""]))
      }
      let isNull = random.chance(8)
      lines.append(indentation + (isNull ? "-" : bullet + item()) + comment())
    }
    return lines
  }

  private mutating func flowTags() -> [String] {
    switch random.below(6) {
    case 0:
      return [
        random.pick([" one", " one, two", " one two", " 'one'", "", " ~", " []"]) + comment()
      ]
    case 1, 2:
      let items = (0..<random.below(4)).map { _ in item() }
      let list = items.joined(separator: random.pick([", ", ","]))
      let last = items.isEmpty ? "" : random.pick(["", "", ", "])
      return [random.pick([" [", "   [ "]) + list + last + "]" + comment()]
    case 3:
      let items = (0...random.below(4)).map { _ in item() }
      return [" [" + items[0] + "," + comment()]
        + items.dropFirst().map { "  \($0)," + comment() } + ["  z]" + comment()]
    default:
      var lines = [" [" + comment()]
      let count = random.below(5)
      for index in 0..<count {
        let comma = index < count - 1 || random.chance(50) ? random.pick([",", ",", " ,"]) : ""
        lines.append("  \(item())\(comma)" + comment())
        if random.chance(15) { lines.append("  # note \(next())") }
      }
      return lines + ["]" + comment()]
    }
  }

  // MARK: - Other fields

  private mutating func otherLines() -> [String] {
    let key = "k\(next())"
    var lines = random.pick([
      ["\(key): v"], ["\(key): 12 # note"], ["\(key): 2026-11-23"],
      ["\(key): 2026-11-23T10:00:00Z"],
      ["\(key): true"], ["\(key): ~"], ["\(key):"], ["\(key): 1.5"], ["\(key):    v   # note"],
      ["\(key)  : v"], ["\(key): [a, {b: c}]"], ["\(key): {a: 1, b: [x]}"],
      ["\(key): [a,", "  b]"],
      ["\(key): [a,", "tags: b]"], ["\(key): \"a", "tags: [no]\""],
      ["\(key): 'a", "title: it''s b'"],
      ["\(key): {a: [b,", "priority: c", "]}"], ["\(key):", "  - [a,", "tags: b]"],
      ["\(key):", "  x: \"a", "title: b\""], ["\(key):", "- \"q\": 'a", "tags: b'"],
      ["\(key): a 'b", "  \"c"], ["\(key):", "  - a", "  - b: c", "    d: e"],
      ["\(key):", "- a", "- b"],
      ["\(key):", "  a:", "    tags: [no]", "    title: no"], ["\(key):", "  - - a", "    - b"],
      ["\(key): |", "  tags: [a", "  \"", "  # no comment", "", "  b"],
      ["\(key): >-", "  - a", "  'b"],
      ["\(key): |+", "  a", "", ""], ["\(key):", "  a: |+", "    b", ""],
      ["\(key): |2-", "   a [", "  b"],
      ["\(key): &a\(key) v", "\(key)b: *a\(key)"],
      ["\(key): &a\(key)", "  - x", "\(key)b: *a\(key)"],
      ["\(key): !!str 12"], ["\(key): !!set {a, b}"], ["\"\(key) q\": v"], ["'it''s \(key)': v"],
      ["\"\(key)\\t\\u00e9\": [a]"], ["\(number): v"], ["\(key): foo", "  bar", "", "  baz"],
      ["\(key): \"a\\", "  b\""], ["\(key): http://a/b#c"], ["\(key): a-#b"],
      ["\"\(key)\":", "- 'a'"],
      ["\(key): !!map {a: b}"], ["\(key): -a"],
    ])
    if random.chance(10) { lines.append("  # note \(next())") }
    return lines
  }
}
