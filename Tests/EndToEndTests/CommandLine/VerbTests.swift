import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting)
struct `Verbs` {
  let run = Commands()

  /// Changes the notebook as an editor does, in another process.
  private func edit(_ method: String, _ params: JSON) throws {
    let done = try run("call", method, "-", input: params.bytes)
    #expect(done.status == 0, "\(done.errors)")
  }

  // MARK: - What they do

  @Test func `A note is made, shown, changed, renamed, thrown away and taken back`() throws {
    let made = try run("new", "Shopping", "--text", "milk", "--tag", "home", "--tag=a,b")
    #expect(made.status == 0 && made.errors == "")
    let id = made.line
    #expect(id.hasPrefix("1-") && id.count == 34)
    #expect(try run("show", "Shopping").bytes == Array("milk".utf8))
    #expect(try run("append", "Shopping", "eggs").status == 0)
    #expect(try run("append", "Shopping", "-", input: Array("salt\npepper".utf8)).status == 0)
    #expect(try run.text("Shopping") == "milk\neggs\nsalt\npepper")
    #expect(try run("tag", "Shopping", "work", "x").output == "")
    #expect(try run("untag", "Shopping", "a,b", "none", "x").status == 0)
    #expect(try run("rename", id, "The list").status == 0)
    let listed = try run("list")
    #expect(listed.fields[0][0...3] == [id, "The list", "home,work", "normal"])
    #expect(listed.fields[0].count == 5 && listed.fields[0][4].hasSuffix("Z"))
    #expect(try run("trash", "The list").status == 0)
    #expect(try run("list").bytes == [])
    #expect(try run("list", "--trash").fields[0][0] == id)
    // Its id names it wherever it is.
    #expect(try run.text(id) == "milk\neggs\nsalt\npepper")
    #expect(try run("restore", "The list").status == 0)
    #expect(try run("list").fields.count == 1)
    #expect(try run("restore", id).status == 0)
  }

  @Test func `An appended text is made of lines, whatever the note ends with`() throws {
    for (before, text, after) in [
      ("", "a", "a\n"), ("x", "a", "x\na"), ("x\n", "a\n", "x\na\n"), ("x\n\n", "a", "x\n\na\n"),
      ("x", "", "x"), ("x", "\n", "x\n\n"), ("x\r\n", "a\r\n", "x\r\na\r\n"),
      ("", "\u{E9}", "\u{E9}\n"), ("x\r\n", "a\nb", "x\r\na\r\nb\r\n"),
      ("x\r\ny", "a", "x\r\ny\r\na"), ("x\n", "a\r\nb", "x\na\nb\n"),
    ] {
      let id = try run.make("t", before)
      #expect(try run("append", id, "-", input: Array(text.utf8)).status == 0)
      #expect(
        try run("show", id).bytes == Array(after.utf8),
        "\(before.debugDescription) \(text.debugDescription)")
    }
    // Several at once are lines, too.
    let id = try run.make("log")
    try shell(
      #"""
      export XDG_STATE_HOME="$5"; seq 20 | xargs -P 5 -I N "$2" --notebook "$3" append "$4" lineN
      """#, Server.program, run.notebook, id, run.folder("state"))
    #expect(Set(try run("show", id).lines) == Set((1...20).map { "line\($0)" }))
  }

  @Test func `Two notes become one, and the other one can be had back`() throws {
    let (a, b) = (try run.make("Day", "one\n"), try run.make("Day", "two\n", tags: ["t"]))
    let merged = try run("merge", a, b)
    #expect(merged.status == 0 && merged.output == "" && merged.errors == "")
    #expect(try run.text("Day") == "one\ntwo\n" && run("list").fields.map { $0[2] } == ["t"])
    #expect(try run("restore", b).status == 0 && run.text(b) == "two\n")
    #expect(try run("merge", a, "none").status == 4 && run("merge", a, a).status != 0)
  }

  @Test func `What an import leaves out is counted in one line, and listed on demand`() throws {
    let vault = run.folder("vault")
    try shell(
      #"""
      mkdir -p "$2" "$2.other" && cd "$2" && echo a > a.md && ln -s ../vault.other work
      """#, vault)
    let one = try run("import", vault)
    #expect(one.status == 1 && one.line == "\(vault): 1 created, 0 updated, 0 unchanged")
    #expect(
      one.errors.hasPrefix("decent-notes: work: left out: it is a link: ")
        && one.errors.split(separator: "\n").count == 1)
    try shell(
      #"""
      cd "$2" && ln -s a.md b.md && printf 'caf\351\n' > latin.md && printf 'a\0b\0' > wide.md &&
      printf 'a\0bc' > zero.md && ln -s ../vault.other private && echo private > .decentignore
      """#, vault)
    let counted = try run("import", vault)
    #expect(
      counted.errors == """
        decent-notes: \(vault): 5 left out (links to files 1, links to folders 1, UTF-16 1, not UTF-8 1, \
        U+0000 1); \
        --verbose lists them

        """)
    let listed = try run("import", "--verbose", "--dry-run", vault)
    #expect(
      listed.errors.split(separator: "\n").map { $0.split(separator: ": ")[1] }.sorted()
        == ["b.md", "latin.md", "wide.md", "work", "zero.md"])
    #expect(listed.errors.contains("iconv -f UTF-16 -t UTF-8"))
  }

  @Test func `A text comes back byte for byte, and at every revision`() throws {
    let texts = [
      "", "\n", "a", "a\r\nb", "\u{E9}e\u{301}", "\u{1F469}\u{200D}\u{1F467}", "\u{FEFF}bom",
      "a\tb\u{1B}[2J\u{9B}",
    ]
    for text in texts {
      let id = try run.make("same", text)
      #expect(try run("show", id).bytes == Array(text.utf8), "\(text.debugDescription)")
    }
    let id = try run.make("past", "one")
    try edit("note/setText", ["id": .string(id), "text": "two"])
    let history = try run("history", id)
    #expect(history.fields.count == 2 && history.fields[0].count == 6)
    #expect(history.fields.map { $0[2] } == ["text", "created"])
    #expect(history.fields[1][3...4] == ["+3", "-0"])
    for (fields, text) in zip(history.fields, ["two", "one"]) {
      #expect(try run("show", "--revision", fields[0], id).output == text)
    }
    #expect(try run("history", "--limit=1", id).fields.count == 1)
    let value = try run("history", "--json", id).values()
    #expect(value.map { $0["revision"]?.string } == history.fields.map { $0[0] })
    let shown = try run("show", "--json", id).values()[0]
    #expect(shown["text"]?.string == "two" && shown["note"]?["id"]?.string == id)
    #expect(shown["revision"]?.string == history.fields[0][0])
    let unknown = try run("show", id, "--revision", "none")
    #expect(unknown.status == 4 && unknown.errors.contains("revision"), "\(unknown.errors)")
  }

  @Test func `History has the state after each command, and a note becomes what it was then`()
    throws
  {
    let id = try run.make("sentences", "one\ntwo\nthree\nfour\nfive\n")
    #expect(try run("append", id, "six").status == 0)
    #expect(try run("append", id, "seven").status == 0)
    #expect(try run("tag", id, "a").status == 0)
    try edit("note/setText", ["id": .string(id), "text": "-\n"])
    let history = try run("history", id).fields
    #expect(history.map { $0[2] } == ["text", "tags", "text", "text", "created"])
    let shown = try history.map { try run("show", "--revision", $0[0], id).lines.count }
    #expect(shown == [1, 7, 7, 6, 5])
    #expect(try run("restore", "--revision", history[4][0], id).status == 0)
    #expect(try run("show", id).output == "one\ntwo\nthree\nfour\nfive\n")
    #expect(try run("list", "--json").values()[0]["tags"]?.array?.isEmpty == true)
    #expect(try run("restore", "--revision", history[2][0], "sentences").status == 0)
    #expect(try run("show", id).lines.count == 7)
    #expect(try run("history", id).fields.count == 7)
    let unknown = try run("restore", "--revision", "none", id)
    #expect(unknown.status == 4 && unknown.errors.contains("revision"), "\(unknown.errors)")
  }

  @Test func `Lists are filtered, and searches find`() throws {
    try run.make("Milk", "white", tags: ["a"])
    try run.make("Other", "Straße", tags: ["a", "b"])
    #expect(try run("new", "High", "--priority", "high").status == 0)
    func titles(_ words: String...) throws -> [String] { try run.run(words).fields.map { $0[1] } }
    #expect(try titles("list") == ["High", "Other", "Milk"])
    #expect(try titles("list", "--tag", "a") == ["Other", "Milk"])
    #expect(try titles("list", "--tag", "a", "--tag", "b") == ["Other"])
    #expect(try titles("list", "--priority", "high") == ["High"])
    let found = try run("search", "STRASSE")
    #expect(found.status == 0 && found.fields.map { $0[1...] } == [["Other", "Straße"]])
    #expect(try run("search", "i", "--limit", "1").fields.count == 1)
    let many = try run("search", "milk", "and", "honey")
    #expect(many.status == 4 && many.bytes == [] && many.errors == "")
    let value = try run("search", "milk", "--json").values()
    #expect(value.map { $0["note"]?["title"]?.string } == ["Milk"])
    #expect(value[0]["titleRanges"]?.array?.count == 1)
    #expect(try titles("search", "--", "tag:a", "-white") == ["Other"])
    #expect(try titles("search", "title:milk") == ["Milk"])
    let unknown = try run("search", "author:ben")
    #expect(unknown.status == 64 && unknown.errors.contains("no filter author:"))
  }

  @Test func `Links are listed in both directions, and follow a note that is renamed`() throws {
    let milk = try run.make("Milk", "white")
    let list = try run.make("List", "eggs\n[[Milk]] and [[Honey]]\n")
    #expect(try run("links", "List").fields == [[milk, "Milk", "2"], ["", "Honey", "2"]])
    #expect(try run("backlinks", "Milk").fields == [[list, "List", "[[Milk]] and [[Honey]]"]])
    for found in [try run("backlinks", "List"), try run("links", "Milk")] {
      #expect(found.status == 4 && found.bytes == [] && found.errors == "")
    }
    #expect(try run("links", "List").status == 0 && run("backlinks", "Milk").status == 0)
    #expect(try run("links", "List", "--json").values()[0]["id"]?.string == milk)
    #expect(try run("rename", "Milk", "Oat milk").status == 0)
    #expect(try run.text(list) == "eggs\n[[Oat milk]] and [[Honey]]\n")
    #expect(try run("rename", "--keep-links", milk, "Water").status == 0)
    #expect(try run.text(list) == "eggs\n[[Oat milk]] and [[Honey]]\n")
    #expect(try run("links", "List").fields[0][0] == "")
    // A link that may mean another note stays, and is told.
    for _ in 0..<2 { try run.make("Honey") }
    let renamed = try run("rename", try run("list").fields[0][0], "Jam")
    #expect(renamed.status == 0 && renamed.errors.contains("\(list): a link in List may mean"))
    #expect(try run.text(list).contains("[[Honey]]"))
  }

  // MARK: - Names

  @Test func `A note is named by id, title, or the beginning of its id`() throws {
    let id = try run.make("first", "text")
    let other = try run.make("second")
    #expect(try run.text(String(id.prefix(6))) == "text")
    #expect(try run("show", String(id.prefix(5))).status == 4)
    let ambiguous = try run.make("second")
    let failed = try run("show", "second")
    #expect(failed.status == 3 && failed.bytes == [])
    #expect(failed.errors.contains("\(other)  second") && failed.errors.contains(ambiguous))
    let none = try run("show", "third")
    #expect(none.status == 4 && none.errors == "decent-notes: there is no note third\n")
    #expect(try run("show", "").status == 4)
    // A title is whole, and comes before the beginning of an id.
    let named = try run.make(String(id.prefix(8)), "named so")
    #expect(try run.text(String(id.prefix(8))) == "named so")
    #expect(try run("show", String(id.prefix(7))).status == 0)
    #expect(try run.text(named) == "named so")
    // What is in the trash is said to be there.
    #expect(try run("trash", "first").status == 0)
    let trashed = try run("append", "first", "x")
    #expect(trashed.status == 4 && trashed.errors.contains("in the trash there is \(id)"))
    #expect(try run("restore", "second").errors.contains("outside there is"))
    // Nothing is done where one of several is not there.
    #expect(try run("trash", other, "nothing").status == 4)
    #expect(try run("list").fields.count == 3)
    #expect(try run("trash", other, ambiguous).status == 0)
    #expect(try run("list").fields.count == 1)
    #expect(try run("restore", "second").status == 3)
  }

  @Test func `A note that was forgotten is refused`() throws {
    let id = try run.make("gone")
    #expect(try run("trash", id).status == 0)
    #expect(try run("purge", id).status == 0)
    for words in [
      ["show", id], ["append", id, "x"], ["tag", id, "x"], ["trash", id], ["restore", id],
      ["rename", id, "x"], ["history", id], ["edit", id], ["links", id], ["backlinks", id],
    ] {
      let refused = try run.run(words)
      #expect(refused.status == 2 && refused.errors.contains("forgotten for good"), "\(words)")
    }
    #expect(try run("show", "gone").status == 4)
  }

  // MARK: - Wrong input

  @Test func `What can be no title, tag or text is refused, and nothing is done`() throws {
    try run.make("there")
    for (words, message) in [
      (["new", "a\nb"], "title"), (["new", String(repeating: "x", count: 4097)], "title"),
      (["new", "a", "--tag", ""], "tag"), (["tag", "there", "a\nb"], "tag"),
      (["rename", "there", "\n"], "title"),
      (["new", "a", "--priority", "huge"], "--priority must"),
      (["search", ""], "query"), (["search", "\u{301}"], "query"),
      (["list", "--limit", "1"], "--limit"),
      (["search", "a", "--limit", "0"], "--limit"), (["new"], "TITLE"),
      (["append", "there"], "TEXT"),
      (["show"], "NOTE"), (["tag", "there"], "TAG"), (["list", "x"], "x"),
      (["show", "a", "b"], "quotes"),
      (["new", "a", "--text", "x", "--template", "y"], "two ways"),
      (["list", "--json", "-0"], "two ways"), (["daily", "2026-02-30"], "DATE"),
      (["daily", "someday"], "DATE"), (["undo", "--by", "a"], "--since"),
      (["undo", "--since", "2h"], "--by"), (["undo", "--by", "a", "--since", "soon"], "--since"),
      (["undo", "--by", "a", "--since", "2026-02-30"], "--since"),
      (["completions", "tcsh"], "SHELL"),
      (["new", "-draft"], "-draft"),
    ] {
      let refused = try run.run(words)
      #expect(refused.status == 64 && refused.bytes == [], "\(words): \(refused.errors)")
      #expect(refused.errors.contains(message), "\(words): \(refused.errors)")
      #expect(refused.errors.split(separator: "\n").count == 1, "\(refused.errors)")
    }
    #expect(try run("list").fields.map { $0[1] } == ["there"])
    #expect(try run("new", "--", "-draft").status == 0)
    #expect(try run("show", "--", "-draft").status == 0)
  }

  @Test(arguments: [
    ("lst", "list"), ("histroy", "history"), ("apend", "append"), ("--notebok", "--notebook"),
    ("ist", "list"),
  ])
  func `A mistyped word gets the one that was meant`(_ word: String, _ meant: String) throws {
    let refused = try run.run(word.hasPrefix("-") ? ["list", word, "x"] : [word])
    #expect(refused.status == 64 && refused.errors.contains("did you mean \(meant)?"))
    #expect(!(try run("frobnicate").errors.contains("did you mean")))
  }

  @Test func `Standard input that is no text is refused, and nothing is done`() throws {
    let id = try run.make("there", "text")
    for input in [[0x61, 0xFF, 0x62], [0x61, 0, 0x62], [0xC3], [0xED, 0xA0, 0x80]] as [[UInt8]] {
      for words in [["append", id, "-"], ["new", "x", "--text", "-"]] {
        let refused = try run.run(words, input: input)
        #expect(refused.status == 1, "\(words) \(input)")
        #expect(refused.errors.hasPrefix("decent-notes: standard input: it is no text"))
      }
    }
    let closed = try run("append", id, "-", shell: "\"$@\" <&-")
    #expect(closed.status == 1 && closed.errors.contains("standard input: Bad file"), "\(closed)")
    let folder = try run("append", id, "-", shell: "\"$@\" < /")
    #expect(folder.status == 1 && folder.errors.contains("standard input: Is a directory"))
    let long = try run("append", id, "-", shell: "head -c 70000000 /dev/zero | tr '\\0' x | \"$@\"")
    #expect(long.status == 1 && long.errors.contains("more than 67108864 bytes"), "\(long.errors)")
    #expect(try run("list").fields.count == 1)
    #expect(try run.text(id) == "text")
  }

  @Test func `Where there is no notebook, only what begins one does something`() throws {
    for words in [
      ["list"], ["show", "x"], ["search", "x"], ["append", "x", "y"], ["trash", "x"],
      ["new", "x", "--template", "y"], ["history", "x"],
    ] {
      let refused = try run.run(words)
      #expect(refused.status == 4 && refused.errors.contains("there is no notebook in"), "\(words)")
    }
    #expect(access(run.notebook, F_OK) != 0)
    #expect(try run("new", "x").status == 0)
    #expect(try run("list").fields.count == 1)
  }

  // MARK: - Output

  /// Titles and tags with everything that could separate fields or command a terminal.
  private static let hostile = "a\tb\u{1B}[2J\u{7F}\u{9B}1m\u{85}"

  @Test func `Control characters are escaped in lines, and exact where they are wanted`() throws {
    let id = try run.make(Self.hostile, "milk\u{1B}c\tx\nother", tags: ["t\tu"])
    let escaped = #"a\x09b\x1b[2J\x7f\x9b1m\x85"#
    let listed = try run("list")
    #expect(listed.fields.count == 1 && listed.fields[0][1...2] == [escaped, #"t\x09u"#])
    #expect(try run("search", "milk").fields == [[id, escaped, #"milk\x1bc\x09x"#]])
    for words in [["list"], ["search", "milk"], ["history", id]] {
      let records = try run.run(words + ["-0"])
      #expect(records.bytes.last == 0 && records.bytes.count { $0 == 0 } == 1)
      #expect(!records.output.contains("\n"))
      if words[0] != "history" { #expect(records.output.contains("\t\(Self.hostile)\t")) }
      let json = try run.run(words + ["--json"])
      #expect(json.bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A })
      #expect(!json.output.unicodeScalars.contains { (0x7F...0x9F).contains($0.value) })
      let value = try json.values()[0]
      if words[0] == "list" { #expect(value["title"]?.string == Self.hostile) }
      if words[0] == "search" { #expect(value["note"]?["title"]?.string == Self.hostile) }
    }
    // In messages, too.
    _ = try run.make(Self.hostile)
    let ambiguous = try run("show", Self.hostile)
    #expect(ambiguous.status == 3 && ambiguous.errors.contains("  \(escaped)\n"))
  }

  @Test(.enabled(if: Terminal.isPossible || isContinuousIntegration, "tmux is missing"))
  func `A terminal gets colours unless they are not wanted, and never a control character`() throws
  {
    let id = try run.make(Self.hostile, "one\u{1B}[31mred\ttab\nlast")
    /// What a terminal gets.
    func typescript(_ words: String..., environment: [String: String] = [:]) throws -> String {
      let line = (["decent-notes", "--notebook", run.notebook] + words).map(quoted)
        .joined(separator: " ")
      let target = run.folder("typescript")
      let terminal = try Terminal(
        "script -q -c \(quoted(line)) \(quoted(target)) < /dev/null; touch \(quoted(target + ".done")); sleep 60",
        environment: ["XDG_STATE_HOME": run.folder("state"), "NO_COLOR": ""].merging(environment) {
          $1
        })
      defer { withExtendedLifetime(terminal) {} }
      try waitUntil("the end of \(line)") { access(target + ".done", F_OK) == 0 }
      unlink(target + ".done")
      let text = try contents(of: URL(fileURLWithPath: target))
      // The program `script` writes lines of its own.
      return text.split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("Script ") }.joined(separator: "\n")
    }
    let coloured = try typescript("list")
    #expect(coloured.contains("\u{1B}[2m\(id)\u{1B}[m\t\u{1B}[1ma\\x09b\\x1b[2J"), "\(coloured)")
    let codes = coloured.components(separatedBy: "\u{1B}").dropFirst()
    #expect(codes.allSatisfy { $0.hasPrefix("[1m") || $0.hasPrefix("[2m") || $0.hasPrefix("[m") })
    for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
      #expect(!(try typescript("list", environment: environment)).contains("\u{1B}"))
    }
    for words in [["list", "-0"], ["list", "--json"]] {
      let plain = try typescript(words[0], words[1])
      #expect(
        !plain.unicodeScalars.contains { "\u{1B}\u{9B}\u{7F}\u{85}".unicodeScalars.contains($0) })
    }
    let shown = try typescript("show", id)
    #expect(shown.contains("one\\x1b[31mred\ttab\r\nlast\r\n"), "\(shown.debugDescription)")
  }

  @Test func `Output that can't be written is an error, and a reader that leaves is none`() throws {
    let text = "text [[note]]"
    let id = try run.make("note", text)
    for words in [
      ["list"], ["list", "--json"], ["list", "-0"], ["show", id], ["search", "text"],
      ["history", id], ["links", id], ["backlinks", id],
      ["new", "another"], ["daily"], ["help", "new"], ["help", "--man"], ["completions", "zsh"],
      ["complete", "fish", "--", "decent-notes", ""],
    ] {
      let full = try run.run(words, shell: "\"$@\" > /dev/full")
      #expect(full.status == 1, "\(words)")
      #expect(full.errors.contains("standard output: No space left"), "\(words) \(full.errors)")
      let closed = try run.run(words, shell: "\"$@\" >&-")
      #expect(closed.status == 1, "\(words)")
      #expect(closed.errors.contains("standard output: Bad file descriptor"), "\(closed.errors)")
      let gone = try run.run(words, shell: "{ \"$@\" || echo $? >&2; } | true")
      #expect(gone.errors == "", "\(words): \(gone.errors)")
    }
    // Nothing was written into the notebook in the place of standard output.
    #expect(try run("check").status == 0)
    #expect(try run.text(id) == text)
    for stream in ["<&-", "2>&-", "<&- >&- 2>&-"] {
      _ = try run("new", "closed", shell: "\"$@\" \(stream)")
    }
    #expect(try run("check").status == 0)
    #expect(try run("list").fields.count { $0[1] == "closed" } == 3)
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `A signal ends a list that nobody reads`(_ number: Int32) throws {
    try run.makeMany(3_000)
    let listing = try Server(run.notebook, ["list", "--json"], environment: run.environment)
    #expect(awaitInput([listing.output], milliseconds: Int32(patience * 1000)))
    kill(listing.process, number)
    #expect(try listing.waitForEnd(reading: false) == .signal(number))
    #expect(try run("check").status == 0)
  }

  @Test func `A folder that is no notebook is told`() throws {
    try "x".write(toFile: run.notebook, atomically: false, encoding: .utf8)
    for words in [["list"], ["new", "x"], ["daily"], ["edit", "x"], ["append", "x", "y"]] {
      let refused = try run.run(words)
      #expect(refused.status == 1 && refused.errors.contains(run.notebook), "\(refused.errors)")
    }
  }

  // MARK: - What somebody did

  @Test(arguments: ["1h", "1d", "1000000d", "today", "yesterday", "2020-01-01", "2020-01-01T09:30"])
  func `What an agent did is taken back, since a moment as people write it`(since: String) throws {
    let id = try run.make("list", "milk\n")
    let made = try run("--name", "agent", "new", "made")
    #expect(try run("--name", "agent", "append", id, "wine").status == 0)
    #expect(try run("append", id, "eggs").status == 0)
    #expect(try run("--name", "agent", "tag", id, "x").status == 0)
    let told = try run("undo", "--by", "agent", "--since", since, "--dry-run")
    #expect(
      told.status == 0
        && told.fields.map { $0[1...] } == [["list", "text,tags"], ["made", "trash"]])
    #expect(try run("list").fields.count == 2)
    let undone = try run("undo", "--by", "agent", "--since", since, "--json")
    #expect(try undone.values().map { $0["note"]?["id"]?.string } == [id, made.line])
    #expect(try run.text("list") == "milk\neggs\n")
    #expect(try run("list").fields.map { $0[1...2] } == [["list", ""]])
    #expect(try run("list", "--trash").fields.map { $0[0] } == [made.line])
    let again = try run("undo", "--by", "agent", "--since", since)
    #expect(again.status == 4 && again.bytes == [])
    #expect(try run("undo", "--by", "agent", "--since", "0m").status == 4)
  }

  // MARK: - Traces

  @Test(.enabled(if: memoryFolder != stateFolder, "there is no folder in memory"))
  func `Verbs leave few files, and no trace where they only read`() throws {
    let memory = memoryFolder + "/verbs-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: memory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: memory) }
    run.environment["XDG_RUNTIME_DIR"] = memory
    let id = try run.make("note", "text")
    for number in 0..<10 {
      #expect(try run("append", id, "\(number)").status == 0)
      #expect(try run("tag", id, "t\(number)").status == 0)
      #expect(try run("daily").status == 0)
    }
    let logs = try logs(of: run.notebook)
    #expect(logs.count == 1 && logs[0].hasSuffix(".seg"), "\(logs)")
    let before = try contents(of: run.notebook)
    for words in [
      ["list"], ["show", id], ["search", "text"], ["history", id], ["list", "--trash"], ["daily"],
      ["show", "nothing"], ["tag", id, "t1"], ["restore", id], ["append", id, ""],
      ["complete", "zsh", "--", "decent-notes", "show", ""],
    ] {
      _ = try run.run(words)
      #expect(try contents(of: run.notebook) == before, "\(words)")
    }
  }

  @Test func `History names the verb and the user`() throws {
    let id = try run.make("note")
    for (words, what) in [
      (["append", id, "x"], "append"), (["rename", id, "y"], "rename"), (["tag", id, "z"], "tag"),
      (["trash", id], "trash"), (["restore", id], "restore"),
    ] {
      #expect(try run.run(["--name", "Ana"] + words).status == 0)
      let entry = try run("history", "--json", "--limit", "1", id).values()[0]
      #expect(entry["author"]?["name"]?.string == "Ana")
      #expect(entry["author"]?["program"]?.string == "decent-notes \(what)")
    }
  }

  @Test(.tags(.slow))
  func `A hundred thousand notes are listed, and a reader that leaves ends that`() throws {
    try run.makeMany(100_000)
    #expect(try run("list").bytes.count { $0 == 0x0A } == 100_000)
    let head = try run("list", shell: "\"$@\" | head -n 3")
    #expect(head.fields.map { $0[1] } == ["Note 99999", "Note 99998", "Note 99997"])
    #expect(head.errors == "")
    #expect(Set(try run("list", "--json").values().map { $0["id"]!.string! }).count == 100_000)
    #expect(try run.text("Note 12345") == "text of 12345")
    #expect(try run("show", "Note 100000").status == 4)
    let id = try run("search", "text of 54321").fields[0][0]
    let beginning = id.prefix { $0 != "-" } + id.dropFirst(id.prefix { $0 != "-" }.count).prefix(5)
    #expect(try run.text(String(beginning)) == "text of 54321")
    #expect(try run("daily").status == 0)
  }
}
