import Foundation
import TestSupport
import Testing

@testable import NoteFiles

@Suite struct `Links in a text` {
  /// Each link as it stands in the text, an arrow, what it names, and the heading.
  private func links(_ text: String) -> [String] {
    let bytes = Array(text.utf8)
    return NoteLink.all(in: bytes).map { link in
      let name =
        switch link.target {
        case .name(let name): name
        case .path(let path): "path \(path)"
        }
      #expect(link.range.lowerBound < link.targetRange.lowerBound)
      #expect(link.targetRange.upperBound < link.range.upperBound)
      return string(Array(bytes[link.range])) + " → " + name
        + (link.heading.map { " # \($0)" } ?? "")
    }
  }

  @Test(arguments: [
    ("[[a]]", ["[[a]] → a"]), ("x [[a b]] y [[c]]", ["[[a b]] → a b", "[[c]] → c"]),
    ("[[ a ]]", ["[[ a ]] → a"]), ("[[a|b c]]", ["[[a|b c]] → a"]),
    ("[[a#b]]", ["[[a#b]] → a # b"]), ("[[a # b | c]]", ["[[a # b | c]] → a # b"]),
    ("[[a|b#c]]", ["[[a|b#c]] → a"]), ("| [[a\\|b]] |", ["[[a\\|b]] → a"]),
    ("[[a|b|c]]", ["[[a|b|c]] → a"]), ("[[é]]", ["[[é]] → é"]),
    ("[[]]", []), ("[[ ]]", []), ("[[#b]]", []), ("[[|b]]", []), ("[[a]", []), ("[a]]", []),
    ("[[a\nb]]", []), ("[[a[b]]", []), ("[[a]b]]", []), ("\\[[a]]", []), ("[[a\\]]", []),
    ("[[https://a.org]]", []), ("[[a:b]]", ["[[a:b]] → a:b"]), ("![[a]]", ["[[a]] → a"]),
    ("![[a.png]]", []), ("![[a.md]]", ["[[a.md]] → a.md"]),
    ("![[v1.2 x]]", ["[[v1.2 x]] → v1.2 x"]),
    ("![[a.2024]]", ["[[a.2024]] → a.2024"]), ("![[Dr. No|100]]", ["[[Dr. No|100]] → Dr. No"]),
    ("\\![[a]]", ["[[a]] → a"]), ("[[[a]]]", ["[[a]] → a"]), ("![[[a]]]", ["[[a]] → a"]),
    ("[[a [[b]]", ["[[b]] → b"]), ("[[a]][[b]]", ["[[a]] → a", "[[b]] → b"]),
    ("[[a.md]]", ["[[a.md]] → a.md"]), ("[[1-0a]]", ["[[1-0a]] → 1-0a"]),
  ])
  func `are names in double brackets`(text: String, expected: [String]) {
    #expect(links(text) == expected)
  }

  @Test(arguments: [
    ("[x](a.md)", ["path a.md"]), ("[x](../b/a.md)", ["path ../b/a.md"]),
    ("[x](a%20b.md)", ["path a b.md"]), ("[x](<a b.md>)", ["path a b.md"]),
    ("[x](a.md#b%20c)", ["path a.md # b c"]), ("[x](a.md \"t\")", ["path a.md"]),
    ("[x](a.md 't)')", ["path a.md"]), ("[x](a.md\n (t) )", ["path a.md"]),
    ("[x](a(b).md)", ["path a(b).md"]), ("[x](a\\).md)", ["path a).md"]),
    ("[x](<a\\>.md>)", ["path a>.md"]), ("[](a.md)", ["path a.md"]),
    ("[x](a.org) [y](b.TXT)", ["path a.org", "path b.TXT"]), ("[x]( a.md )", ["path a.md"]),
    ("[x](%C3%A9.md)", ["path é.md"]), ("[x](100%.md)", ["path 100%.md"]),
    ("[x [y] z](a.md)", ["path a.md"]), ("[![p](p.png)](a.md)", ["path a.md"]),
    ("[x](a.md", []), ("[x] (a.md)", []), ("[x](a b.md)", []), ("[x](<a.md)", []),
    ("[x](a.md \"t)", []), ("[x](a.md\"t\")", []), ("![x](a.md)", []), ("\\[x](a.md)", []),
    ("[x](http://a/b.md)", []), ("[x](mailto:a.md)", []), ("[x](/a.md)", []), ("[x](#a.md)", []),
    ("[x](a.png)", []), ("[x](a)", []), ("[x](%FF.md)", []), ("[x](a%00.md)", []), ("[x]()", []),
    ("[x](a%0A.md)", []), ("[x][a.md]", []), ("(a.md)", []), ("[x](a.md\n\n)", []),
  ])
  func `are relative paths of files that are notes`(text: String, expected: [String]) {
    #expect(links(text).map { String($0.split(separator: "→").last!.dropFirst()) } == expected)
  }

  @Test func `don't stand within each other: the inner one counts`() {
    #expect(links("[see [[a]] there](b.md)") == ["[[a]] → a"])
    #expect(links("[[x](a.md)]") == ["[x](a.md) → path a.md"])
    #expect(links("[[x](a.md)](b.md)") == ["[x](a.md) → path a.md"])
    #expect(links("[x [y](http://y) z](a.md)") == [])
    #expect(links("![x [y](a.md)](p.png) [z](b.md)") == ["[z](b.md) → path b.md"])
    #expect(links("[a]] [[b]] [c](d.md)") == ["[[b]] → b", "[c](d.md) → path d.md"])
  }

  @Test(arguments: [
    ("`[[a]]`", []), ("`` ` [[a]] ``", []), ("`[[a]] `` [[b]]", ["[[a]] → a", "[[b]] → b"]),
    ("\\`[[a]]`", ["[[a]] → a"]), ("`a` [[b]] `c`", ["[[b]] → b"]), ("[[a `b]] c`", []),
    ("`\n[[a]]`", []), ("`\n\n[[a]]`", ["[[a]] → a"]), ("- ` x\n- [[a]] `", ["[[a]] → a"]),
    ("# `\n[[a]] `", ["[[a]] → a"]), ("``\\``[[a]]``", ["[[a]] → a"]),
    ("```\n[[a]]\n```\n[[b]]", ["[[b]] → b"]), ("~~~ x\n[[a]]\n~~~~\n[[b]]", ["[[b]] → b"]),
    ("````\n```\n[[a]]\n````\n[[b]]", ["[[b]] → b"]), ("```\n[[a]]\n~~~\n[[b]]", []),
    ("```\n[[a]]", []),
    ("```\n- ```\n[[a]]\n```\n[[b]]", ["[[b]] → b"]), ("``` `x\n[[a]]", ["[[a]] → a"]),
    ("```[[a]]```", []),
    ("> ```\n> [[a]]\n> ```\n> [[b]]", ["[[b]] → b"]),
    ("1. x\n\n       ```\n       [[a]]\n       ```\n2. [[b]]", ["[[b]] → b"]),
    ("- ```\n  [[a]]\n  ```\n[[b]]", ["[[b]] → b"]),
    ("```\r\n[[a]]\r\n```\r\n[[b]]", ["[[b]] → b"]),
    ("x\n```\n[[a]]\n```\ny [[b]]", ["[[b]] → b"]), ("``` \n[[a]]\n``` x\n[[b]]\n```", []),
  ])
  func `are none in code`(text: String, expected: [String]) {
    #expect(links(text) == expected)
  }

  @Test(arguments: [
    ("    [[a]]", []), ("\t[[a]]", []), ("x\n    [[a]]", ["[[a]] → a"]),
    ("   [[a]]", ["[[a]] → a"]),
    ("x\n\n    [[a]]\n\n    [[b]]\ny [[c]]", ["[[c]] → c"]), ("# x\n    [[a]]", []),
    ("- x\n\n  [[a]]\n\n    [[b]]\n\n      [[c]]", ["[[a]] → a", "[[b]] → b"]),
    (
      "- x\n    - [[a]]\n        - [[b]]\n\n          [[c]]",
      ["[[a]] → a", "[[b]] → b", "[[c]] → c"]
    ),
    ("1. x\n\n    [[a]]\n\n       [[b]]", ["[[a]] → a"]), ("- x\n\nw\n\n    [[a]]", []),
    ("-     [[a]]\n- [[b]]", ["[[b]] → b"]), ("-\n      [[a]]", []),
    ("- x\n\n\t[[a]]", ["[[a]] → a"]),
    (">     [[a]]\n> [[b]]", ["[[b]] → b"]), ("> x\n    [[a]]", ["[[a]] → a"]),
    ("> - x\n>\n>   [[a]]\n>\n>       [[b]]", ["[[a]] → a"]), ("> x\n\n    [[a]]", []),
    ("> -   x\n>\n>     [[a]]", ["[[a]] → a"]),
    ("- - -\n    [[a]]", []), ("- x\n- - -\n      [[a]]", []),
    ("- [ ] x\n      [[a]]", ["[[a]] → a"]),
  ])
  func `are none in what is indented as code`(text: String, expected: [String]) {
    #expect(links(text) == expected)
    #expect(links(text.replacing("\n", with: "\r\n")) == expected)
  }

  @Test(arguments: [
    ("<!-- [[a]] --> [[b]]", ["[[b]] → b"]), ("x <!-- [[a]]\n[[c]] --> [[b]]", ["[[b]] → b"]),
    ("<!--\n\n[[a]]\n-->\n[[b]]", ["[[b]] → b"]),
    ("x <!-- [[a]]\n\n[[b]] -->", ["[[a]] → a", "[[b]] → b"]),
    ("<pre>\n\n[[a]]\n</PRE>\n[[b]]", ["[[b]] → b"]),
    ("x <pre class=\"a\">[[a]]</pre> [[b]]", ["[[b]] → b"]),
    ("<!-- [[a]]\n\n[[b]]", []), ("<prefix> [[a]]", ["[[a]] → a"]),
    ("`<!--` [[a]] -->", ["[[a]] → a"]),
    ("- <!-- [[a]]\n\n  [[b]] -->\n- [[c]]", ["[[c]] → c"]), ("\\<!-- [[a]] -->", ["[[a]] → a"]),
    ("< [[a]]", ["[[a]] → a"]), ("<", []), ("<!-", []), ("<pre", []), ("<!-->[[a]]", []),
  ])
  func `are none in comments, and in what HTML leaves as it is`(text: String, expected: [String]) {
    #expect(links(text) == expected)
  }

  /// Another reader of CommonMark tells what is code.
  @Test(.enabled(if: hasTool("pandoc") || isContinuousIntegration, "pandoc is missing"))
  func `are none where CommonMark has indented code`() throws {
    var random = SplitMix64(seed: 1)
    var (text, count) = ("", 0)
    for _ in 0..<scaled(3000, 30_000) {
      for _ in 0..<Int.random(in: 1...7, using: &random) {
        for _ in 0..<Int.random(in: 0...3, using: &random) {
          text += [" ", "  ", "    ", "\t", "- ", "-   ", "1. ", "2) ", "> ", ">", "* "]
            .randomElement(using: &random)!
        }
        if Int.random(in: 0..<5, using: &random) == 0 {
          text += ["", "", "# x", "- - -", "===", "---"].randomElement(using: &random)!
        } else {
          text += "[[w\(count)]]"
          count += 1
        }
        text += "\n"
      }
      text += "\n# end\n\n"
    }
    let folder = TemporaryFolder()
    try text.write(toFile: folder("text.md"), atomically: false, encoding: .utf8)
    let read = try shell("pandoc -f commonmark -t json < \"$2\"", folder("text.md"))
    var code: Set<String> = []
    for block in read.matches(
      of: /"t":"CodeBlock","c":\[\["",\[\],\[\]\],"((?:[^"\\]|\\.)*)"/)
    {
      code.formUnion(block.1.matches(of: /\[\[(w\d+)\]\]/).map { String($0.1) })
    }
    #expect(code.count > count / 20)
    let found = Set(
      NoteLink.all(in: Array(text.utf8)).map {
        if case .name(let name) = $0.target { name } else { "" }
      })
    let all = Set((0..<count).map { "w\($0)" })
    let differing = all.subtracting(code).symmetricDifference(found)
    for first in differing.sorted().prefix(8) {
      let part = text.components(separatedBy: "# end\n").first { $0.contains("[[\(first)]]") } ?? ""
      Issue.record(
        "\(differing.count) of \(count); \(first), code \(code.contains(first)):\n\(part)")
    }
  }

  @Test func `can be written with a title that has no signs of links`() {
    for title in ["a", "a b", "é", "a:b", "a.md", "a/b", "C++", "(x)", "*a*", "!a", "a!"] {
      #expect(NoteLink.name(for: title) == title)
    }
    for title in [
      "", " ", "a#b", "a#", "a|b", "[a]", "a]", "a[", "`a`", "a`", "\\a", "http://a", "#", "|a",
      "a\nb",
    ] {
      #expect(NoteLink.name(for: title) == nil, "\(title)")
    }
    #expect(NoteLink.words(for: "a # b") == "a # b")
    for title in ["", " ", "a|b", "[a]", "a`", "a\nb", "\\a"] {
      #expect(NoteLink.words(for: title) == nil, "\(title)")
    }
  }

  @Test(arguments: seeds(20)) func `are the same for a naive look`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let pieces = [
      "[", "]", "[[", "]]", "(", ")", "](", "a", "b.md", "a.md", "|", "#", "!", "\\", "`", "``",
      "```", "\n", "\n\n", " ", "<", ">", "\"", "é", "- ", "> ", "# ", "~~~", "[[a]]", "[x](a.md)",
      "%20", "http://", "x",
    ]
    for step in 0..<100 {
      let text = (0..<1 + random.below(25)).map { _ in random.pick(pieces) }.joined()
      let found = NoteLink.all(in: Array(text.utf8)).map {
        if case .name = $0.target { "name \($0.range)" } else { "path \($0.range)" }
      }
      #expect(found == NaiveLinks(text).found, "\(at(seed, step)): \(text.debugDescription)")
    }
  }

  @Test func `are found in a time that grows with the text, whatever it is`() {
    for piece in [
      "[", "[[", "[a](", "![", "`", "[a](<", "[a](b \"", "[a](b (", "[[a]](", "](", "[x](a.md ",
      "``` ", "`` ` ", "[a]((", "\\`", "![[", "[![a](b.png)", "> ", "- ",
    ] {
      let text = Array(String(repeating: piece, count: 5_000).utf8)
      _ = NoteLink.all(in: text)
      _ = NoteLink.all(in: text + Array("]](a.md)".utf8))
    }
    // Items within each other, and lines that are within all of them; what is not ended, in many blocks.
    let deep = "> " + String(repeating: "- ", count: 20_000) + "x\n"
    for line in [">\n", "> x\n", "<!-- x\n\n", "x <pre\n\n"] {
      _ = NoteLink.all(in: Array((deep + String(repeating: line, count: 20_000) + "[[a]]").utf8))
    }
    #expect(links(deep + "\n[[a]]") == ["[[a]] → a"])
    // Rows of backquotes, each of another length.
    let rows = (1..<400).map { String(repeating: "`", count: $0) }.joined(separator: " ")
    #expect(links(rows + " [[a]]") == ["[[a]] → a"])
  }
}

@Suite struct `Names that links use` {
  private let note = NoteNames(
    title: "Café Müller", aliases: ["CM", "the café"], path: "Places/cafe.v2.md")

  @Test func `are compared composed and without case`() {
    for name in ["Café Müller", "CAFE\u{301} mu\u{308}ller", " café müller ", "cm", "The CAFÉ"] {
      #expect(note.have(LinkName(name)), "\(name)")
      #expect(note.keys.contains(LinkName(name).key), "\(name)")
    }
    for name in ["Cafe Müller", "Café", "", " ", "müller", "the"] {
      #expect(!note.have(LinkName(name)), "\(name)")
    }
    #expect(note.isTitle(LinkName("CAFÉ MÜLLER")) && !note.isTitle(LinkName("cm")))
    #expect(!NoteNames(title: " ").have(LinkName("")))
    #expect(NoteNames(title: "Straße").have(LinkName("STRASSE")))
  }

  @Test func `are the path, with and without its folder and its suffix`() {
    for name in ["places/CAFE.v2.md", "Places/cafe.v2", "cafe.v2.MD", "cafe.v2"] {
      #expect(note.have(LinkName(name)), "\(name)")
      #expect(note.keys.contains(LinkName(name).key), "\(name)")
    }
    for name in ["cafe", "places", "/cafe.v2", "x/cafe.v2", "cafe.v2.txt", "places/"] {
      #expect(!note.have(LinkName(name)), "\(name)")
    }
    for (title, path) in [("t", "a/x.md.md"), ("TCP/IP", "y.md"), (".md", "z/.md.md")] {
      let other = NoteNames(title: title, path: path)
      for name in [title, path, String(path.dropLast(3))] {
        #expect(other.have(LinkName(name)) && other.keys.contains(LinkName(name).key), "\(name)")
      }
    }
  }

  @Test func `of a relative path are looked for from the folder of the note`() {
    func path(_ relative: String, _ from: String) -> String? {
      LinkName(.path(relative), at: from)?.text
    }
    #expect(path("a.md", "") == "a.md" && path("a.md", "x.md") == "a.md")
    #expect(path("A.md", "f/x.md") == "f/a.md" && path("./a.md", "f/x.md") == "f/a.md")
    #expect(path("../a.md", "f/g/x.md") == "f/a.md" && path("../../a.md", "f/x.md") == nil)
    #expect(path("g/../a.md", "f/x.md") == "f/a.md" && path("../a.md", "") == nil)
    let name = LinkName(.path("cafe.v2.md"), at: "Places/x.md")!
    #expect(note.have(name) && note.keys.contains(name.key))
    #expect(!note.have(LinkName(.path("cafe.v2.md"), at: "x.md")!))
    #expect(!NoteNames(title: "a.md").have(LinkName(.path("a.md"), at: "")!))
  }

  @Test(arguments: [
    ("aliases: [a, \"b c\"]\n", ["a", "b c"]), ("Aliases:\n  - a\n  - b\n", ["a", "b"]),
    ("alias: a, b\n", ["a", "b"]), ("alias: \"a, b\"\n", ["a, b"]), ("aliases:\n", []),
    ("aliases: ~\n", []), ("aliases: {a: b}\n", []), ("title: a\n", []),
    ("aliases: [a, , ~]\n", ["a"]),
  ])
  func `may be in the header`(lines: String, expected: [String]) throws {
    let fields = FileHeader.split(Array("---\n\(lines)---\n".utf8)).header.fields
    #expect(FileHeader.aliases(in: fields) == expected)
  }
}

/// Looks for links again and again from the beginning, until there is nothing more to find.
private struct NaiveLinks {
  /// `name` or `path`, and where.
  var found: [String] {
    links.sorted { $0.range.lowerBound < $1.range.lowerBound }.map {
      "\($0.isName ? "name" : "path") \($0.range)"
    }
  }

  private var links: [(range: Range<Int>, isName: Bool)] = []
  private var bytes: [UInt8]

  init(_ text: String) {
    bytes = Array(text.utf8)
    for block in TextBlocks.ranges(of: bytes) { read(block) }
  }

  private enum Mark { case plain, escaped, code, done }

  private mutating func read(_ block: Range<Int>) {
    var marks: [Mark] = Array(repeating: .plain, count: bytes.count)
    func row(_ start: Int) -> Int {
      bytes[start..<block.upperBound].prefix { $0 == UInt8(ascii: "`") }.count
    }
    /// Passes over what a backslash takes the meaning of, and code; false where there is neither.
    func pass(_ index: inout Int) -> Bool {
      if bytes[index] == UInt8(ascii: "\\"), index + 1 < block.upperBound, bytes[index + 1] < 0x80,
        !Character(Unicode.Scalar(bytes[index + 1])).isLetter,
        !Character(Unicode.Scalar(bytes[index + 1])).isNumber, bytes[index + 1] > 0x20
      {
        (marks[index], marks[index + 1]) = (.escaped, .escaped)
        index += 2
        return true
      }
      let count = row(index)
      if count == 0 { return false }
      var end = index + count
      while end < block.upperBound, row(end) != count { end += max(1, row(end)) }
      if end < block.upperBound { for place in index..<end + count { marks[place] = .code } }
      index = end < block.upperBound ? end + count : index + count
      return true
    }
    func sign(_ index: Int) -> UInt8? {
      block.contains(index) && marks[index] == .plain ? bytes[index] : nil
    }
    let (open, close) = (UInt8(ascii: "["), UInt8(ascii: "]"))
    // From left to right, each closing bracket with the nearest opening one that has none.
    var barred: Set<Int> = []
    var place = block.lowerBound
    while place < block.upperBound {
      if pass(&place) { continue }
      guard sign(place) == close else {
        place += 1
        continue
      }
      if sign(place + 1) == close,
        let start = (block.lowerBound..<place).last(where: {
          sign($0) == open || sign($0) == close || bytes[$0] == 0x0A || marks[$0] == .code
            || marks[$0] == .done
        }),
        sign(start) == open, sign(start - 1) == open, start > block.lowerBound
      {
        let range = start - 1..<place + 2
        for inner in range { marks[inner] = .done }
        let inner = string(Array(bytes[start + 1..<place]))
        var name = inner.prefix { $0 != "#" && $0 != "|" }
        if name.hasSuffix("\\"), inner.contains("|"),
          !inner.prefix(while: { $0 != "|" }).contains("#")
        {
          name.removeLast()
        }
        let isLink = !name.allSatisfy { $0 == " " } && !name.contains("://")
        if isLink {
          links.append((range, true))
          barred.formUnion(block.lowerBound..<start)
        }
        place += 2
        continue
      }
      guard let start = (block.lowerBound..<place).last(where: { sign($0) == open }) else {
        place += 1
        continue
      }
      let isPicture = sign(start - 1) == UInt8(ascii: "!")
      let end =
        barred.contains(start) && !isPicture ? nil : destination(place + 1, block.upperBound)
      marks[start] = .done
      marks[place] = .done
      guard let (end, isNote) = end else {
        place += 1
        continue
      }
      if isPicture {
        links.removeAll { (start..<end).contains($0.range.lowerBound) }
      } else {
        barred.formUnion(block.lowerBound..<start)
        if isNote { links.append((start..<end, false)) }
      }
      for inner in place..<end { marks[inner] = .done }
      place = end
    }
  }

  /// By a pattern for all of it.
  private func destination(_ start: Int, _ limit: Int) -> (end: Int, isNote: Bool)? {
    let rest = string(Array(bytes[start..<limit]))
    let sign = #"[!-\/:-@\[-`{-~]"#
    let escape = #"\\\#(sign)|\\(?!\#(sign))"#
    let letter = #"[^\x00-\x20\x7F\\()]|\#(escape)"#
    var nested = "(?:\(letter))*"
    for _ in 0..<5 { nested = #"(?:\#(letter)|\(\#(nested)\))*"# }
    let pattern = try! Regex<(Substring, Substring?, Substring?)>(
      #"\([ \t\n]*(?:<((?:[^<>\n\\]|\#(escape))*)>|(?!<)(\#(nested)))"#
        + #"(?:[ \t\n]+(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\((?:[^()\\]|\\[\s\S])*\)))?[ \t\n]*\)"#
    ).matchingSemantics(.unicodeScalar)
    guard let match = rest.prefixMatch(of: pattern) else {
      return nil
    }
    let written = String(match.1 ?? match.2 ?? "")
    let path = written.replacing(/\\([!-\/:-@\[-`{-~])/) { $0.1 }.prefix { $0 != "#" }
    let isNote =
      (path.hasSuffix(".md"))
      && path.split(separator: "/", omittingEmptySubsequences: false).last != ".md"
      && !path.hasPrefix("/") && path.firstMatch(of: /^[a-z][a-z0-9.+\-]*:/) == nil
    return (start + rest[match.range].utf8.count, isNote)
  }
}

@Suite struct `Links in a header` {
  private func links(_ fields: [(String, String)]) -> [String] {
    FileHeader.links(in: fields.map { (key: $0, value: $1) }).map { found in
      guard case .name(let name) = found.link.target else { return "?" }
      let value = Array(fields.first { $0.0 == found.key }!.1.utf8)
      let written = String(decoding: value[found.link.targetRange], as: UTF8.self)
      return "\(found.key):\(name)" + (name == written ? "" : "=\(written)")
    }
  }

  @Test func `stand in quotes and sentences`() {
    #expect(
      links([
        ("a", "a: \"[[A]]\"\n"), ("b", "b: '[[B|x]] and [[ C ]]'\n"), ("c", "c: see [[D#e]]\n"),
        ("d", "d: [[E]]\n"), ("e", "e:\n- \"[[F]]\"\n- [[G]]\n- h\n"),
        ("f", "f: [\"[[H]]\", [I]]\n"),
        ("g", "g:\n  h: \"[[J]]\"\n  i: [[K]]\n"), ("h", "h: x # [[L]]\n"),
        ("i", "i: \"[[M\\\"]]\"\n"),
        ("j", "j: \"[[https://a.b]] [[]] [[x\n"),
      ]) == ["a:A", "b:B", "b:C", "c:D", "e:F", "f:H", "g:J"])
    let toml = [
      (":frame", "+++\n+++\n"), ("a", "a = \"[[A]]\"\n"), ("b", "b = ['[[B]]', \"x\"]\n"),
    ]
    #expect(links(toml) == ["a:A", "b:B"])
  }

  @Test func `get another name where that means nothing else there`() throws {
    let value = "up: \"[[A|x]] [[A]]\"\n"
    let found = FileHeader.links(in: [(key: "up", value: value)]).map(\.link)
    #expect(FileHeader.field(value, found[1], leadingTo: "é, b") == "up: \"[[A|x]] [[é, b]]\"\n")
    #expect(FileHeader.field(value, found[0], leadingTo: "b") == "up: \"[[b|x]] [[A]]\"\n")
    for name in ["\"", "it's", "a: b", "a\\", "a #", "a\nb"] {
      #expect(FileHeader.field(value, found[0], leadingTo: name) == nil, "\(name)")
    }
  }

  @Test func `take no longer for each bracket when there are many`() {
    for part in ["[", "[[", "[[a", "[[a]", "\"[[", "\"[[a]]"] {
      let value = "a: x" + String(repeating: part, count: (1 << 18) / part.utf8.count) + "\n"
      let time = processorTime { _ = FileHeader.links(in: [(key: "a", value: value)]) }
      #expect(time < .seconds(5), "\(part): \(time)")
    }
  }
}
