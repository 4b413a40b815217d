import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting)
struct `The verb edit` {
  let run = Commands()

  /// Runs `edit` with an editor that is a line for `sh`, in which `$1` is the file.
  private func edit(_ note: String, _ editor: String, visual: Bool = true) throws -> Ran {
    let script = run.folder("editor \(UUID().uuidString)")
    try writeProgram("#!/bin/sh\n\(editor)\n", to: script)
    let environment = [
      "VISUAL": visual ? "'\(script)'" : nil, "EDITOR": visual ? "false" : "'\(script)'",
      "TMPDIR": run.folder.path,
    ]
    return try run("edit", note, environment: environment)
  }

  /// The folders of edited files that are left.
  private func leftovers() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: run.folder.path)
      .filter { $0.hasPrefix("decent-notes-") }
  }

  /// Every text that is kept, with its path.
  private func kept() throws -> [(path: String, text: Data)] {
    let folder = run.folder("state/decent-notes/unsent")
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.contains("/") }.sorted().map {
      ("\(folder)/\($0)", FileManager.default.contents(atPath: "\(folder)/\($0)") ?? Data())
    }
  }

  @Test func `An edited text is saved, and the file is gone`() throws {
    let id = try run.make("note", "one\ntwo\n")
    let edited = try edit(id, "sed -i s/two/2/ \"$1\"; touch \"$1~\"")
    #expect(edited.status == 0 && edited.errors == "" && edited.bytes == [])
    #expect(try run.text(id) == "one\n2\n")
    #expect(try edit(id, "printf x >> \"$1\"", visual: false).status == 0)
    #expect(try run.text(id) == "one\n2\nx")
    #expect(try leftovers() == [])
    // An editor that changes nothing makes no change.
    let revision = try run("history", id).fields[0][0]
    #expect(try edit(id, "touch \"$1\"").status == 0)
    #expect(try run("history", id).fields[0][0] == revision)
    #expect(
      try run("history", "--json", id).values()[0]["author"]?["program"]?.string
        == "decent-notes edit")
  }

  /// Runs `edit` at a terminal; returns what it says there.
  private func editAtTerminal(_ words: String..., editor: String) throws -> Ran {
    let script = run.folder("editor \(UUID().uuidString)")
    try writeProgram("#!/bin/sh\n\(editor)\n", to: script)
    return try run.run(
      ["edit"] + words, environment: ["VISUAL": "'\(script)'", "TMPDIR": run.folder.path],
      shell: #"exec script -qec "$(printf "'%s' " "$@")" /dev/null"#)
  }

  /// The records of files whose editors have returned at once.
  private func records() -> [String] {
    (try? FileManager.default.contentsOfDirectory(
      atPath: run.folder("state/decent-notes/editing"))) ?? []
  }

  @Test(.enabled(if: hasTool("script") || isContinuousIntegration, "script is missing"))
  func `The file of an editor that returns at once stays, and what is saved in it is taken up`()
    throws
  {
    let id = try run.make("note", "one\n")
    let place = run.folder("place")
    let kept = try editAtTerminal(id, editor: "printf %s \"$1\" > '\(place)'")
    #expect(kept.status == 0 && kept.output.contains("decent-notes edit --resume \(id)"), "\(kept)")
    let file = try contents(of: URL(fileURLWithPath: place))
    #expect(try contents(of: URL(fileURLWithPath: file)) == "one\n" && records().count == 1)
    let waiting = try run("edit", "--resume", id)
    #expect(waiting.status == 0 && waiting.errors.contains("nothing was saved there yet"))
    // It is saved there, and others write meanwhile.
    try "one\ntyped\n".write(toFile: file, atomically: false, encoding: .utf8)
    #expect(
      try run("call", "note/setText", "{\"id\":\"\(id)\",\"text\":\"zero\\none\\n\"}").status == 0)
    #expect(try run("edit", "--resume", "note").status == 0)
    #expect(try run.text(id) == "zero\none\ntyped\n")
    // The window shows the text of the note, and is saved once more.
    #expect(try contents(of: URL(fileURLWithPath: file)) == "zero\none\ntyped\n")
    try "zero\none\ntyped\nmore\n".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try run("edit", "--resume", id).status == 0)
    #expect(try run.text(id) == "zero\none\ntyped\nmore\n")
    // It goes with its note.
    #expect(try run("trash", id).status == 0)
    #expect(try run("purge", id).status == 0)
    #expect(access(file, F_OK) != 0 && records() == [])
    #expect(try leftovers() == [])
  }

  @Test(.enabled(if: hasTool("script") || isContinuousIntegration, "script is missing"))
  func `The file of an editor that returned at once goes after a day in which nothing was saved`()
    throws
  {
    let (id, other) = (try run.make("note", "one\n"), try run.make("other", "one\n"))
    for note in [id, other] { _ = try editAtTerminal(note, editor: ":") }
    #expect(records().count == 2)
    for (number, record) in records().sorted().enumerated() {
      let path = run.folder("state/decent-notes/editing/\(record)")
      let file = try contents(of: URL(fileURLWithPath: path)).split(separator: "\n")[1]
      try shell("touch -d '25 hours ago' \"$2\"; touch -r \"$2\" \"$3\"", path, String(file))
      // In one something was saved.
      if number == 1 { try shell("echo typed >> \"$2\"", String(file)) }
    }
    #expect(try edit(id, ":").status == 0)
    #expect(records().count == 1)
    #expect(try leftovers().count == 1)
    let note = try #require(records().first?.split(separator: "+").first)
    #expect(try run("edit", "--resume", String(note)).status == 0)
    #expect(try run.text(String(note)) == "one\ntyped\n")
  }

  @Test func `A record that names a folder of the user's removes nothing there`() throws {
    let id = try run.make("note", "one\n")
    let folder = run.folder("decent-notes-mine")
    let records = run.folder("state/decent-notes/editing")
    for path in [folder, records] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    for (record, file) in [
      ("\(id)+decent-notes-mine", "\(folder)/a.md"),
      ("\(id)+decent-notes-abcdef", "\(folder)/a.md"),
      ("\(id)+state", "\(run.folder("state"))/a.md"), ("\(id)+decent-notes-abcdef+x", "/a"),
      (id, "x"),
    ] {
      try "mine\n".write(toFile: folder + "/a.md", atomically: false, encoding: .utf8)
      try "1.1\n\(file)".write(toFile: "\(records)/\(record)", atomically: false, encoding: .utf8)
      try shell("touch -d '25 hours ago' \"$2\" \"$3\"/*", folder + "/a.md", records)
      #expect(try edit(id, "echo more >> \"$1\"").status == 0)
      #expect(try contents(of: URL(fileURLWithPath: folder + "/a.md")) == "mine\n", "\(record)")
      #expect(try run("edit", "--resume", id).status == 4, "\(record)")
    }
  }

  @Test func `An editor that returns at once without a terminal leaves nothing, and that is said`()
    throws
  {
    let id = try run.make("note", "one\n")
    let ended = try edit(id, ":")
    #expect(ended.status == 0 && ended.errors.contains("has to be told to wait"))
    #expect(records() == [])
    #expect(try leftovers() == [])
    #expect(try edit(id, "sleep 2.1").errors == "")
    #expect(try run("edit", "--resume", id).status == 4)
  }

  @Test(arguments: [
    ("a", "a\n", "a"), ("a\n", "a\nb\n", "a\nb\n"), ("a", "b\n", "b"), ("", "x\n", "x"),
    ("a\r\nb", "a\r\nc\r\n", "a\r\nc"), ("a", "a\n\n", "a\n"), ("a\n", "a", "a"), ("a", "", ""),
    ("", "a\r\nb\r\n", "a\r\nb"), ("a", "a\r\nb\r\n", "a\r\nb"), ("a", "a\r\n", "a"),
    ("a\r", "a\r\n", "a\r"),
  ])
  func `The last line end is the editor's, unless the text had one`(
    _ before: String, _ written: String, _ after: String
  ) throws {
    let id = try run.make("note", before)
    let file = run.folder("written")
    try written.write(toFile: file, atomically: false, encoding: .utf8)
    #expect(try edit(id, "cat '\(file)' > \"$1\"").status == 0)
    #expect(try run("show", id).bytes == Array(after.utf8))
  }

  @Test func `What others write meanwhile is merged`() throws {
    let id = try run.make("note", "one\ntwo\nthree\n")
    let other =
      "'\(Server.program)' --notebook '\(run.notebook)' append \(id) four; sed -i s/one/1/ \"$1\""
    let edited = try edit(id, other)
    #expect(edited.status == 0)
    #expect(edited.errors == "decent-notes: saved, and merged with what others have changed\n")
    #expect(try run.text(id) == "1\ntwo\nthree\nfour\n")
    // A note that was thrown away comes back with its edit.
    let trashing =
      "'\(Server.program)' --notebook '\(run.notebook)' trash \(id); sed -i s/two/2/ \"$1\""
    let back = try edit(id, trashing)
    #expect(back.status == 0 && back.errors.contains("was in the trash, and is not any more"))
    #expect(try run("list").fields.map { $0[0] } == [id])
  }

  @Test func `A text that can't be saved is kept in a file that is named`() throws {
    let id = try run.make("note", "text\n")
    let purge =
      "for verb in trash purge; do '\(Server.program)' --notebook '\(run.notebook)' $verb \(id); done"
    let refused = try edit(id, "echo mine >> \"$1\"; \(purge) >/dev/null")
    #expect(refused.status == 2 && refused.errors.contains("forgotten for good"))
    let first = try kept()
    #expect(first.map(\.text) == [Data("text\nmine\n".utf8)])
    #expect(refused.errors.contains("the text is kept in \(first[0].path)\n"), "\(refused.errors)")
    #expect(first[0].path.hasSuffix("/note.md"))

    let other = try run.make("other", "text\n")
    let failed = try edit(other, "echo mine >> \"$1\"; exit 3")
    #expect(failed.status == 1 && failed.errors.contains("ended with status 3"))
    let killed = try edit(other, "echo yours >> \"$1\"; kill -9 $$")
    #expect(killed.status == 1 && killed.errors.contains("ended with status 137"))
    for bytes in ["\\377", "a\\000b"] {
      let binary = try edit(other, "printf '\(bytes)' > \"$1\"")
      #expect(binary.status == 1 && binary.errors.contains("it is no text"), "\(binary.errors)")
    }
    let texts = Set(try kept().map(\.text))
    #expect(try kept().count == 5)
    #expect(texts.isSuperset(of: [Data("text\nyours\n".utf8), Data([255]), Data([97, 0, 98])]))
    #expect(try run.text(other) == "text\n")
    #expect(try leftovers() == [])
    // Others can't read what is kept.
    var status = stat()
    #expect(stat(first[0].path, &status) == 0 && status.st_mode & 0o077 == 0)
  }

  @Test func `An editor that fails without a change leaves nothing`() throws {
    let id = try run.make("note", "text\n")
    let failed = try edit(id, "exit 1")
    #expect(failed.status == 1 && failed.errors.contains("ended with status 1"))
    #expect(!failed.errors.contains("kept"))
    let missing = try run(
      "edit", id, environment: ["VISUAL": "/no/such/editor", "TMPDIR": run.folder.path])
    #expect(missing.status == 1 && missing.errors.contains("/no/such/editor ended with status 127"))
    let removed = try edit(id, "rm \"$1\"")
    #expect(removed.status == 1 && removed.errors.contains("No such file"))
    #expect(try kept().isEmpty && leftovers() == [])
    #expect(try run.text(id) == "text\n")
    let nowhere = try run("edit", id, environment: ["VISUAL": "true", "TMPDIR": "/no/such/folder"])
    #expect(nowhere.status == 1 && nowhere.errors.contains("/no/such/folder"), "\(nowhere.errors)")
  }

  @Test(.enabled(if: canDropCapabilities, "root may write everywhere"))
  func `A text stays where it was edited if it can't be kept elsewhere`() throws {
    let id = try run.make("note", "text\n")
    let script = run.folder("editor")
    try writeProgram(
      "#!/bin/sh\necho mine >> \"$1\"\nchmod 500 '\(run.folder("state/decent-notes"))'\nexit 1\n",
      to: script)
    let state = run.folder("state/decent-notes")
    try? FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    let failed = try run(
      "edit", id, environment: ["VISUAL": "'\(script)'", "TMPDIR": run.folder.path],
      shell: withoutCapabilities)
    chmod(state, 0o700)
    let folder = try #require(try leftovers().first)
    #expect(failed.errors.contains("kept in \(run.folder(folder))/note.md"), "\(failed.errors)")
    #expect(
      FileManager.default.contents(atPath: run.folder(folder) + "/note.md")
        == Data("text\nmine\n".utf8))
  }

  @Test func `The file has a name by which an editor knows what it is`() throws {
    func name(_ title: String) throws -> String {
      let id = try run.make(title, "x")
      let file = run.folder("name")
      let edited = try edit(id, "basename \"$1\" > '\(file)'")
      #expect(edited.status == 0, "\(edited.errors)")
      return try contents(of: URL(fileURLWithPath: file)).trimmingCharacters(in: .newlines)
    }
    for (title, expected) in [
      ("Shopping list", "Shopping list.md"), ("a/b\tc", "a b c.md"), ("", "note.md"),
      ("../../etc/passwd", " .. etc passwd.md"), (".hidden", "hidden.md"), ("--help", "help.md"),
      ("/", "note.md"), ("\u{1B}[2J", "\\x1b[2J.md"),
      ("$(touch x) `y` 'z' \"w\"", "$(touch x) `y` 'z' \"w\".md"),
      (String(repeating: "é", count: 200), String(repeating: "é", count: 50) + ".md"),
    ] {
      #expect(try name(title) == expected, "\(title)")
    }
    try "* Org\n".write(toFile: run.folder("plan.org"), atomically: true, encoding: .utf8)
    #expect(try run("import", run.folder("plan.org")).status == 0)
    let id = try run("search", "Org").fields[0][0]
    let file = run.folder("name")
    #expect(try edit(id, "basename \"$1\" > '\(file)'").status == 0)
    #expect(try contents(of: URL(fileURLWithPath: file)) == "plan.org\n")
  }

  @Test(
    .enabled(if: Terminal.isPossible && hasTool("vim") || isContinuousIntegration, "no tmux or vim")
  )
  func `An editor has the terminal, and CTRL-C is its own`() throws {
    let id = try run.make("note", "one")
    let terminal = try Terminal(
      "decent-notes --notebook \(quoted(run.notebook)) edit \(id); echo status $?; cat",
      environment: ["VISUAL": "vim -u NONE -N", "XDG_STATE_HOME": run.folder("state")])
    try terminal.wait("Vim") { $0.first == "one" && $0.contains { $0.contains("note.md") } }
    // Vim forgets keys that it has not read yet when it reads CTRL-C.
    try terminal.press("C-c")
    try terminal.wait("Vim's answer to CTRL-C") { $0.contains { $0.contains("to exit Vim") } }
    try terminal.type("A, two")
    try terminal.wait("text") { $0.first == "one, two" }
    try terminal.press("C-c")
    try terminal.wait("the end of inserting") { !$0.contains { $0.contains("INSERT") } }
    try terminal.type(":wq")
    try terminal.press("Enter")
    try terminal.wait("the end") { $0.contains("status 0") }
    #expect(try run.text(id) == "one, two")
  }
}
