import Foundation
import NoteFiles
import TestSupport
import Testing

@Suite struct `The name of a file` {
  @Test(arguments: [
    ("Plan", "Plan.md"), ("a/b\\c:d*e?f\"g<h>i|j#k^l[m]n", "a-b-c-d-e-f-g-h-i-j-k-l-m-n.md"),
    ("a\tb\u{1}c\u{7F}d\u{85}", "a-b-c-d-.md"), (".hidden", "hidden.md"), ("...", "untitled.md"),
    ("", "untitled.md"),
    (" a. . ", "a.md"), ("nul.txt", "_nul.txt.md"), ("NUL", "_NUL.md"), ("com1", "_com1.md"),
    ("COM¹", "_COM¹.md"), ("lpt9.x.y", "_lpt9.x.y.md"), ("com10", "com10.md"),
    ("console", "console.md"),
    ("aux .md", "_aux .md.md"), ("conin$", "_conin$.md"), ("e\u{301}", "é.md"), ("4913", "4913.md"),
    ("a.sync-conflict-b", "a-sync-conflict-b.md"), ("a.md", "a.md.md"), ("~", "~.md"),
    ("x~", "x~.md"),
    ("🏴‍☠️", "🏴‍☠️.md"), ("\u{FEFF}", "\u{FEFF}.md"),
  ])
  func `says what the title says`(title: String, name: String) {
    #expect(Array(FileName.of(title: title).utf8) == Array(name.utf8))
  }

  @Test(arguments: seeds(20)) func `is one that a note can have, whatever the title`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 {
      var title = ""
      for _ in 0..<(1 + random.below(6)) {
        let word = random.pick(
          Hostile.words + ["nul", "com1", "...", "\u{301}", "👩‍👩‍👧‍👦", "각", "\u{1100}\u{1161}"])
        title += String(repeating: word, count: random.chance(10) ? 1 + random.below(120) : 1)
      }
      let name = FileName.of(title: title, number: 1 + random.below(20_000))
      #expect(name.utf8.count <= 200, "\(title)")
      #expect(NotePath.isValid(name), "\(title)")
      #expect(
        Array(name.utf8) == Array(name.precomposedStringWithCanonicalMapping.utf8),
        "\(title) \(name)")
      #expect(!name.hasSuffix(" .md") && !name.hasPrefix(" "))
      #expect(FileType(path: name) == .markdown)
      // The title is the stem, or is said in the header.
      let note = NoteFile(path: name, title: String(title.prefix(1000)), text: [])
      if NoteFile.isTitle(note.title) {
        #expect(throws: Never.self) { try note.rendered() }
      }
    }
  }

  @Test func `is cut between characters`() {
    let families = String(repeating: "👩‍👩‍👧‍👦", count: 20)
    #expect(FileName.of(title: families) == String(repeating: "👩‍👩‍👧‍👦", count: 7) + ".md")
    let marks = "a" + String(repeating: "\u{301}", count: 500)
    #expect(FileName.of(title: marks).utf8.count > 190)
    #expect(FileName.of(title: String(repeating: "x", count: 5000)).utf8.count == 199)
    #expect(FileName.of(title: "nul." + String(repeating: "x", count: 5000)).utf8.count == 200)
    #expect(FileName.of(title: "nul" + String(repeating: " ", count: 300) + "x") == "_nul.md")
  }

  /// Foundation takes scalars beyond the first plane for those whose last bits they have, and knows no newer marks than Unicode 15.
  @Test func `is composed as Foundation does it`() {
    for value in UInt32(0xA0)...0xFFFF {
      guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age.major < 16
      else { continue }
      let title = "x\(scalar)\u{323}\u{301}"
      let name = FileName.of(title: title)
      let expected = title.precomposedStringWithCanonicalMapping + ".md"
      if !name.utf8.elementsEqual(expected.utf8), !scalar.properties.isWhitespace,
        scalar.properties.generalCategory != .control
      {
        Issue.record("U+\(String(value, radix: 16)) \(name)")
      }
    }
  }
}

@Suite struct `Names in a folder` {
  @Test func `are never given twice`() {
    var names = FileNames()
    #expect(names.add(title: "A") == "A.md")
    #expect(names.add(title: "a") == "a (2).md")
    #expect(names.add(title: "A") == "A (3).md")
    #expect(names.add(title: "É") == "É.md")
    #expect(names.add(title: "E\u{301}") == "É (2).md")
    #expect(names.add(title: "STRASSE") == "STRASSE.md")
    #expect(names.add(title: "straße") == "straße (2).md")
    #expect(names.add(title: "a (2)") == "a (2) (2).md")
    #expect(names.add(title: "A", folder: "f") == "f/A.md")
    #expect(names.isTaken("F/a.MD"))
    names.remove("F/a.MD")
    #expect(!names.isTaken("f") && !names.isTaken("f/A.md"))
    #expect(names.add(path: "f/A.md") == "f/A.md")
    #expect(names.add(path: "f/a.md") == "f/a (2).md")
    let isNew = names.insert("f/a.md")
    #expect(!isNew)
    #expect(names.add(path: "f/.x") == "f/.x")
    #expect(names.add(path: "f/.x") == "f/.x (2)")
  }

  @Test func `keep files and folders apart`() {
    var names = FileNames()
    names.insert("a.md/x.md")
    #expect(names.add(title: "a") == "a (2).md")
    names.insert("b.md")
    #expect(names.isTaken("b.md/c.md"))
    #expect(names.add(path: "B.md/c.md") == "B (2).md/c.md")
    #expect(names.add(path: "b.md/d.md") == "B (2).md/d.md")
    names.remove("a.md/x.md")
    #expect(names.add(title: "a") == "a.md")
  }

  /// A file system as a list of paths, each compared to all others.
  private struct Paths {
    let (tellsCase, tellsForm): (Bool, Bool)
    var all: [String] = []

    func areSame(_ a: String, _ b: String) -> Bool {
      func read(_ text: String) -> String {
        let text = tellsForm ? text : text.precomposedStringWithCanonicalMapping
        return tellsCase ? text : text.lowercased()
      }
      return read(a).utf8.elementsEqual(read(b).utf8)
    }

    /// One of two paths is a file where the other one needs that or a folder.
    func collide(_ a: String, _ b: String) -> Bool {
      let (a, b) = (a.split(separator: "/"), b.split(separator: "/"))
      return zip(a, b).allSatisfy { areSame(String($0), String($1)) }
    }

    func isTaken(_ path: String) -> Bool { all.contains { collide($0, path) } }

    /// True if no folder has two spellings.
    var isSpelledOnce: Bool {
      let folders = all.flatMap { path in
        path.indices.filter { path[$0] == "/" }.map { String(path[..<$0]) }
      }
      return folders.allSatisfy { a in
        folders.allSatisfy { !areSame($0, a) || $0.utf8.elementsEqual(a.utf8) }
      }
    }
  }

  @Test(arguments: seeds(200))
  func `collide where a file system takes them for one`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let parts = ["a", "A", "b", "\u{E9}", "e\u{301}", "E\u{301}", "a (2)"]
    var paths = Paths(tellsCase: random.chance(50), tellsForm: random.chance(50))
    var names = FileNames(tellingCase: paths.tellsCase, tellingForm: paths.tellsForm)
    for _ in 0..<60 {
      let path = (0...random.below(3)).map { _ in random.pick(parts) }.joined(separator: "/")
      #expect(names.isTaken(path) == paths.isTaken(path), "\(path) among \(paths)")
      switch random.below(4) {
      case 0 where !paths.all.isEmpty:
        names.remove(paths.all.remove(at: random.below(paths.all.count)))
      case 1:
        let added = names.add(title: path)
        #expect(!paths.isTaken(added), "\(added) among \(paths)")
        let loose = Paths(tellsCase: false, tellsForm: false, all: paths.all)
        #expect(!loose.all.contains { loose.areSame($0, added) }, "\(added) among \(paths)")
        paths.all.append(added)
      default:
        let (isTaken, added) = (paths.isTaken(path), names.add(path: path))
        #expect(!paths.isTaken(added), "\(path): \(added) among \(paths)")
        if !isTaken { #expect(paths.areSame(added, path)) }
        paths.all.append(added)
      }
      #expect(paths.isSpelledOnce)
    }
  }

  @Test func `take as long for the last note of a title as for the first`() {
    var names = FileNames()
    let time = processorTime {
      for _ in 0..<10_000 { _ = names.add(title: "Untitled é") }
    }
    #expect(names.add(title: "Untitled é") == "Untitled é (10001).md")
    #expect(time < .seconds(5), "\(time)")
  }

  @Test func `have room for their numbers`() {
    var names = FileNames()
    let path = String(repeating: "é", count: 126) + ".md"
    #expect(names.add(path: path) == path)
    let other = names.add(path: path)
    #expect(other.hasSuffix("é (2).md") && NotePath.isValid(other))
  }
}

@Suite(.computing) struct `Files that are left alone` {
  @Test(
    arguments: [
      ("a.md", .none), (".a.md", .ignored), ("a.md~", .ignored), (".#a.md", .ignored),
      ("#a.md#", .ignored),
      (".a.md.swp", .ignored), ("a.swx", .ignored), ("4913", .ignored), ("a.tmp", .ignored),
      ("f/.git/a.md", .ignored), ("a.sync-conflict-20261123-100000-ABCDEFG.md", .conflictCopy),
      ("a.sw", .none),
      ("a.swap", .none), ("#a", .none), ("f~/a.md", .ignored), ("49130.md", .none),
    ] as [(String, IgnoredNames.Kind)])
  func `are known by their names`(path: String, kind: IgnoredNames.Kind) {
    #expect(IgnoredNames.kind(of: path) == kind)
  }

  private func isIgnored(_ patterns: String, _ path: String) -> Bool {
    IgnorePatterns(parsing: Array(patterns.utf8)).isIgnored(path)
  }

  @Test(arguments: [
    ("*.log", "a.log", true), ("*.log", "f/a.log", true), ("/a", "f/a", false),
    ("f/", "f/a.md", true),
    ("f/", "x/f", false), ("f/*.md", "f/g/a.md", false), ("f/**/a.md", "f/x/y/a.md", true),
    ("f/**/a.md", "f/a.md", true), ("**/a", "x/y/a", true), ("f/**", "f/x/y", true),
    ("f/**", "f", false),
    ("*\n!a.md", "a.md", false), ("f/\n!f/a.md", "f/a.md", true), ("# c\n\n", "# c", false),
    ("\\#a", "#a", true), ("a?c", "abc", true), ("a?c", "a/c", false), ("[a-c]x", "bx", true),
    ("[!a-c]x", "bx", false), ("[]x]", "]", true), ("[x", "[x", true), ("a  ", "a", true),
    ("a\\ ", "a ", true),
    ("é", "e\u{301}", true), ("a**b", "axxb", true), ("*a*a*b", "aaaaaaaab", true),
    ("\\!a", "!a", true),
    ("x\r\ny", "y", true), ("x\r\ny", "x", true), ("**", "a/b", true), ("a/b", "x/a/b", false),
  ])
  func `are named by patterns`(patterns: String, path: String, expected: Bool) {
    #expect(isIgnored(patterns, path) == expected)
  }

  @Test(.tags(.tool), .enabled(if: hasTool("git")), arguments: seeds(2))
  func `are those that git ignores`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let folder = TemporaryFolder()
    try shell("git init -q \"$2\"", folder.path)
    let parts = [
      "a", "b", "ab", "*", "**", "?", "/", "/", "[ab]", "[!a]", "a*", "!", "\\a", "c.md",
    ]
    let names = ["a", "b", "ab", "ba", "c.md", "aab"]
    for step in 0..<15 {
      let patterns = (0..<(1 + random.below(4))).map { _ in
        (0..<(1 + random.below(5))).map { _ in random.pick(parts) }.joined()
      }
      let paths = (0..<60).map { _ in
        (0..<(1 + random.below(4))).map { _ in random.pick(names) }.joined(separator: "/")
      }
      let text = patterns.joined(separator: "\n") + "\n"
      try text.write(toFile: folder(".gitignore"), atomically: true, encoding: .utf8)
      try (paths.joined(separator: "\n") + "\n").write(
        toFile: folder("paths"), atomically: true, encoding: .utf8)
      try shell(
        "cd \"$2\" && git check-ignore --no-index --stdin < paths > out || true", folder.path)
      let ignored = Set(
        try String(contentsOfFile: folder("out"), encoding: .utf8).split(separator: "\n").map(
          String.init))
      for path in paths {
        #expect(
          isIgnored(text, path) == ignored.contains(path), "\(at(seed, step)) \(patterns) \(path)")
      }
    }
  }

  @Test func `are known in bounded time, whatever the patterns`() {
    let path = String(repeating: "a", count: 1000)
    let stars = String(repeating: "*a", count: 500) + "b"
    let folders = String(repeating: "**/", count: 300) + "b"
    let time = processorTime {
      #expect(!isIgnored(stars, path))
      #expect(!isIgnored(folders, String(repeating: "a/", count: 500)))
      #expect(
        !isIgnored(String(repeating: String(repeating: "[", count: 1000) + "\n", count: 60), path))
    }
    #expect(time < .seconds(20), "\(time)")
  }
}
