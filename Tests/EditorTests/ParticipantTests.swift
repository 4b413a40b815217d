// What the clients show of the others in a note: names that somebody gave who may wish them no good, and colours.

import Foundation
import JSONRPC
import TestSupport
import Testing

/// A name as somebody gave it, and as all clients show it: one line of at most 20 columns in which nothing is hidden.
struct HostileName: CustomTestStringConvertible, Sendable {
  var given: String
  var shown: String

  init(_ given: String, _ shown: String) { (self.given, self.shown) = (given, shown) }

  var testDescription: String { given.debugDescription }

  static let all = [
    HostileName("Ana", "Ana"),
    // Nothing, and nothing that could be seen.
    HostileName("", ""),
    HostileName(" \t ", ""),
    HostileName("\u{200B}\u{2060}\u{FE0F}\u{FEFF}\u{3164}\u{E0041}", ""),
    HostileName("\u{A0}\u{2800}\u{3000}\u{2003}", ""),
    HostileName("\u{301}\u{20DD}", ""),
    // Control characters, commands for a terminal, ends of lines.
    HostileName("Ana\nBen\r\n", "Ana Ben"),
    HostileName("\u{1B}[31mAna\u{7}\u{9B}0m", "[31mAna 0m"),
    HostileName("\u{1B}]0;title\u{1B}\\", "]0;title \\"),
    HostileName("A\u{8}\u{7F}n\u{85}a\u{2028}b\u{2029}", "A n a b"),
    // What turns round what stands beside it.
    HostileName("\u{202E}anA\u{202C}", "anA"),
    HostileName("\u{2067}Ana\u{2069}\u{200F}\u{61C}", "Ana"),
    // What is not seen between letters.
    HostileName("A\u{200B}n\u{AD}\u{200D}a\u{FEFF}", "Ana"),
    HostileName("Ana\u{FFFF}\u{70F}\u{FFF9}\u{1D173}", "Ana"),
    HostileName("  A\u{2003}\u{3000}n \u{A0} a  ", "A n a"),
    // Accents by the dozen, and without a letter.
    HostileName("A" + String(repeating: "\u{301}", count: 40) + "na", "A\u{301}\u{301}na"),
    HostileName("\u{308}Ana \u{327}b", "Ana b"),
    HostileName("e\u{301}e\u{301}", "e\u{301}e\u{301}"),
    // What is wide, and what is long.
    HostileName("漢字", "漢字"),
    HostileName(String(repeating: "漢", count: 30), String(repeating: "漢", count: 9) + "…"),
    HostileName("👩‍👩‍👧", "👩👩👧"),
    HostileName(String(repeating: "x", count: 20), String(repeating: "x", count: 20)),
    HostileName(String(repeating: "x", count: 20) + "  ", String(repeating: "x", count: 20)),
    HostileName(String(repeating: "x", count: 20) + " y", String(repeating: "x", count: 19) + "…"),
    HostileName(String(repeating: "x", count: 100), String(repeating: "x", count: 19) + "…"),
    HostileName(String(repeating: "x", count: 19) + "漢", String(repeating: "x", count: 19) + "…"),
    HostileName(
      String(repeating: "e\u{301}", count: 33), String(repeating: "e\u{301}", count: 19) + "…"),
    // Signs that status lines take for orders.
    HostileName("%f %b%n 100%", "％f ％b％n 100％"),
    HostileName("%{system('touch x')}", "％{system('touch x'…"),
    HostileName("%#Error#%=%<%!x()", "％#Error#％=％<％!x…"),
    HostileName("\\\"'`$x&|<CR>^M", "\\\"'`$x&|<CR>^M"),
    // Written from right to left, which Emacs does.
    HostileName("שלום", "שלום"),
  ]
}

@Suite(
  .waiting, .tags(.editor, .slow),
  .enabled(if: Editor.arePossible || isContinuousIntegration, "an editor or tmux is missing"))
struct `The others in a note` {
  /// What an editor says of the note in its status line.
  private func status(_ editor: Editor, _ screen: [String]) -> String? {
    let line = screen[screen.count - 2]
    guard editor == .emacs else { return line }
    guard let start = line.range(of: "Note[")?.upperBound,
      let end = line.range(of: "])", options: .backwards)?.lowerBound
    else { return nil }
    return String(line[start..<end])
  }

  /// A name as an editor draws it. (In the mode line of Emacs a mark follows that ends the other direction, which a terminal has as a blank.)
  private func drawn(_ name: String, _ editor: Editor) -> String {
    let isHebrew = name.unicodeScalars.contains { (0x5D0...0x5EA).contains($0.value) }
    return isHebrew && editor == .emacs ? String(name.reversed()) : name
  }

  /// Waits until the lines have these names behind them, and the status line has this.
  private func wait(
    _ audience: Audience, _ what: String, _ names: [Int: String], _ status: String
  ) throws {
    let editor = audience.typist.editor
    var seen = ""
    try audience.typist.terminal.wait("\(editor.rawValue), \(what)") { screen in
      seen = (self.status(editor, screen) ?? "").trimmingCharacters(in: [" "])
      return screen.prefix(Audience.lines.count).enumerated().allSatisfy { row, line in
        let name = names[row] ?? ""
        return line.utf8.elementsEqual(
          (Audience.lines[row] + (name.isEmpty ? "" : " " + drawn(name, editor))).utf8)
      } && seen.utf8.elementsEqual(drawn(status, editor).utf8)
    }
  }

  @Test(arguments: Editor.allCases)
  func `have names of one table, which all clients show alike`(_ editor: Editor) throws {
    let audience = try Audience(editor)
    for (number, name) in HostileName.all.enumerated() {
      let line = number % Audience.lines.count
      try audience.tell([OtherParticipant(name: name.given, line: line)])
      try wait(
        audience, name.testDescription, [line: name.shown],
        name.shown.isEmpty ? "1 other" : name.shown)
    }
    // All at once, as far as there are lines.
    let all = HostileName.all.prefix(Audience.lines.count)
    try audience.tell(
      all.enumerated().map { OtherParticipant(name: $1.given, line: $0) })
    let names = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($0, $1.shown) })
    try wait(audience, "all", names, "Ana, Ana Ben, [31mAna 0m +17")
    #expect(
      try audience.other.call("note/get", ["id": .string(audience.note)])["text"]?.string
        == Audience.lines.joined(separator: "\n"))
  }

  @Test(arguments: Editor.allCases)
  func `may have one name, and are gone when nobody tells of them any more`(_ editor: Editor)
    throws
  {
    let audience = try Audience(editor)
    try audience.tell([
      OtherParticipant(name: "Ana", line: 3), OtherParticipant(name: "Ben", line: 3),
      OtherParticipant(name: "Ana", line: 5),
    ])
    try wait(audience, "two of one name", [3: "Ana Ben", 5: "Ana"], "Ana, Ben")
    try audience.tell([OtherParticipant(name: "Ana", line: 5)])
    try wait(audience, "one has left", [5: "Ana"], "Ana")
    // Their places are those of another text.
    try audience.tell([OtherParticipant(name: "Cleo", line: 7)], ["version": 1000])
    try audience.tell([OtherParticipant(name: "Dan", line: 8)])
    try wait(audience, "the next", [8: "Dan"], "Dan")
    // Where nobody is left there are no places.
    try audience.tell([], ["version": 1000])
    try wait(audience, "nobody", [:], "connected")
  }

  @Test(arguments: Editor.allCases)
  func `are as many as there are, of whom thirty-two are shown`(_ editor: Editor) throws {
    let audience = try Audience(editor)
    let lines = Audience.lines.count
    func participants(_ round: Int) -> [OtherParticipant] {
      (0..<1000).map { number in
        let name = number < 32 ? "N\(number)" : "r\(round)n\(number)"
        return OtherParticipant(name: name, line: number % lines, color: number % 16)
      }
    }
    var names: [Int: String] = [:]
    for number in 0..<32 {
      names[number % lines, default: ""] += (number < lines ? "" : " ") + "N\(number)"
    }
    let status = "N0, N1, N2 +997"
    try audience.tell(participants(0))
    try wait(audience, "a thousand", names, status)
    // Whoever types goes on typing while they move and get other names all the time.
    let editor = audience.typist.editor
    try audience.typist.terminal.type(editor == .emacs ? "\u{1B}>" : "GA")
    let word = " typed"
    for (round, letter) in word.enumerated() {
      try audience.typist.terminal.type(String(letter))
      try audience.tell(participants(round + 1))
    }
    let text = Audience.lines.joined(separator: "\n") + word
    try waitUntil("the word") {
      try audience.other.call("note/get", ["id": .string(audience.note)])["text"]?.string == text
    }
    try audience.tell([])
    try audience.typist.wait("nobody") { $0.status == "connected" && $0.text == Array(text.utf8) }
  }

  @Test func `have one colour in all editors`() throws {
    let colors: [[String?]] = try Editor.allCases.map { editor in
      let audience = try Audience(editor)
      let participants = (0..<16).map { OtherParticipant(name: "Ana", line: $0, color: $0) }
      try audience.tell(participants)
      let names = Dictionary(uniqueKeysWithValues: (0..<16).map { ($0, "Ana") })
      try wait(audience, "colours", names, "Ana")
      return try (0..<16).map { try audience.typist.terminal.background(of: "Ana", inRow: $0) }
    }
    #expect(colors[0].allSatisfy { $0 != nil } && Set(colors[0]).count == 8)
    // Where there are fewer than sixteen, it is the remainder.
    #expect(colors[0][..<8] == colors[0][8...])
    #expect(colors[1] == colors[0] && colors[2] == colors[0])
  }
}

@Suite(
  .waiting, .tags(.editor, .slow),
  .enabled(if: Editor.arePossible || isContinuousIntegration, "an editor or tmux is missing"))
struct `Editors that are linked` {
  private func text(_ server: Server, _ note: String) throws -> String {
    try server.call("note/get", ["id": .string(note)])["text"]?.string ?? ""
  }

  /// The keys that type at the end of the text, and end in a mode for commands.
  private func append(_ text: String, _ editor: Editor) -> String {
    editor == .emacs ? "\u{1B}>" + text : "GA" + text + "\u{1B}"
  }

  @Test func `each user is called in the others' editors as the settings say`() throws {
    let folder = TemporaryFolder()
    let server = try Server(folder("notes"))
    try server.initialize()
    let note = try server.call("note/create", ["title": "Note", "text": "text"])["note"]!["id"]!
      .string!
    let names = ["Ana", "Ben", "Cleo"]
    let typists = try zip(Editor.allCases, names).map { editor, name in
      try Typist(
        editor, note: note, places: [], notebook: folder("notes"), folder: folder, seed: 1,
        name: name)
    }
    for (typist, name) in zip(typists, names) {
      // They are told of in no certain order.
      let others = names.filter { $0 != name }
      let said = [others, others.reversed()].map { $0.joined(separator: ", ") }
      try typist.wait("the others") { said.contains($0.status) }
      // The name of each is beside the cursor, at the beginning of the one line.
      try typist.terminal.wait("\(name)'s screen") { screen in
        others.allSatisfy { screen[0].contains($0) } && !screen[0].contains(name)
      }
    }
    try typists[0].terminal.type(":qa!\r")
    try typists[0].terminal.waitForEnd()
    for (typist, other) in [(typists[1], "Cleo"), (typists[2], "Ben")] {
      try typist.wait("Ana has left") { $0.status == other }
    }
  }

  @Test(arguments: Editor.allCases)
  func `a command begins a link, which outlives the server, and another ends it`(
    _ editor: Editor
  ) throws {
    let folder = TemporaryFolder()
    let server = try Server(folder("here"))
    try server.initialize()
    let note = try server.call("note/create", ["title": "Note", "text": "text"])["note"]!["id"]!
      .string!
    let typist = try Typist(
      editor, note: note, places: [], notebook: folder("here"), folder: folder, seed: 1,
      name: "Ana")
    let (terminal, peer) = (typist.terminal, folder("there"))

    func command(_ vim: String, _ emacs: String) throws {
      if editor == .emacs {
        try terminal.type("\u{1B}x\(emacs)\r")
        if emacs != "decent-notes-peers" { try terminal.type("\(peer)\r") }
      } else {
        try terminal.type(":\(vim)\r")
      }
    }
    /// Waits until the editor says how the peer is, in the last lines of the screen.
    func awaitState(_ state: String) throws {
      let deadline = Deadline()
      while true {
        try command("NotesSync", "decent-notes-peers")
        let again = Deadline(in: 1)
        while !again.isOver {
          if try terminal.screen().joined().contains("\(peer)  \(state)") {
            return try endMessage()
          }
          pause(0.02)
        }
        try endMessage()
        guard !deadline.isOver else {
          throw Failure("not \(state):\n\(try terminal.screen().joined(separator: "\n"))")
        }
      }
    }
    /// Vim waits for a key after more than a line. Emacs gets none: C-g would quit the command before this one where that
    /// still runs, and take typed keys with it that were not read yet.
    func endMessage() throws {
      if editor != .emacs { try terminal.press("Escape") }
    }

    try command("NotesSync \(peer)", "decent-notes-sync")
    try awaitState("linked")
    let reader = try Server(peer)
    try reader.initialize()
    #expect(try text(reader, note) == "text")
    try terminal.type(append(" one", editor))
    try waitUntil("what is typed") { try text(reader, note) == "text one" }
    // And what the other side types is shown here.
    try reader.call("note/append", ["id": .string(note), "text": " two"])
    try typist.wait("what the peer types") { $0.text == Array("text one two".utf8) }

    let process = try typist.look().process
    kill(process, SIGKILL)
    try typist.wait("another server") {
      $0.process != process && $0.process > 0 && $0.status != "offline"
    }
    try awaitState("linked")
    try terminal.type(append(" three", editor))
    try waitUntil("what is typed then") { try text(reader, note) == "text one two three" }

    try command("NotesSync! \(peer)", "decent-notes-sync-end")
    try awaitState("reached 20")
    // No other process begins it again.
    let second = try typist.look().process
    kill(second, SIGKILL)
    try typist.wait("a third server") {
      $0.process != second && $0.process > 0 && $0.status != "offline"
    }
    try terminal.type(append(" four", editor))
    try waitUntil("the word") { try text(server, note) == "text one two three four" }
    try command("NotesSync", "decent-notes-peers")
    let none = editor == .emacs ? "There are no peers" : "there are no peers"
    try terminal.wait("no peers") { $0.joined().contains(none) }
    #expect(try text(reader, note) == "text one two three")
  }

  /// Writes an ssh that asks for a password at the terminal, whatever its standard input is, and then does what it is to do here.
  private func askingShell(in folder: TemporaryFolder) throws -> [String: String] {
    try FileManager.default.createDirectory(
      atPath: folder("bin"), withIntermediateDirectories: true)
    try writeProgram(
      """
      #!/bin/sh
      if ! (: <>/dev/tty) 2>/dev/null; then
        echo 'Permission denied (publickey,password).' >&2
        exit 255
      fi
      printf 'The password: ' >/dev/tty
      read -r password </dev/tty
      [ "$password" = secret ] || exit 255
      shift
      exec "$@"

      """, to: folder("bin") + "/ssh")
    return ["PATH": folder("bin") + ":" + pathWithProgram]
  }

  @Test(arguments: Editor.allCases)
  func `a peer that asks for a password gets none from an editor, which goes on`(
    _ editor: Editor
  ) throws {
    let folder = TemporaryFolder()
    let server = try Server(folder("notes"))
    try server.initialize()
    let note = try server.call("note/create", ["title": "Note", "text": "text"])["note"]!["id"]!
      .string!
    let typist = try Typist(
      editor, note: note, places: [], notebook: folder("notes"), folder: folder, seed: 1,
      environment: try askingShell(in: folder))
    let peer = "ssh home decent-notes --notebook \(folder("there"))"
    try typist.terminal.type(
      editor == .emacs ? "\u{1B}xdecent-notes-sync\r\(peer)\r" : ":NotesSync \(peer)\r")
    try typist.terminal.wait("the failure") {
      $0.joined().contains("Permission denied (publickey,password).")
    }
    #expect(!(try typist.terminal.screen().joined().contains("The password")))
    if editor != .emacs { try typist.terminal.press("Escape") }
    try typist.terminal.type(append(" typed", editor))
    try waitUntil("what is typed") { try text(server, note) == "text typed" }
  }

  @Test func `who exchanges changes by a command line can be asked for a password`() throws {
    let folder = TemporaryFolder()
    let server = try Server(folder("here"))
    try server.initialize()
    let note = try server.call("note/create", ["text": "text"])["note"]!["id"]!.string!
    let terminal = try Terminal(
      "decent-notes --notebook \(folder("here")) sync 'ssh home decent-notes --notebook "
        + "\(folder("there"))'; read line",
      environment: try askingShell(in: folder))
    try terminal.wait("the question") { $0.contains { $0.hasPrefix("The password:") } }
    try terminal.type("secret\r")
    try terminal.wait("the exchange") { $0.joined().contains("received 0") }
    let reader = try Server(folder("there"))
    try reader.initialize()
    #expect(try text(reader, note) == "text")
  }
}
