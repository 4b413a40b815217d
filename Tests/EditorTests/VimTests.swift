// The client for Vim, in a real Vim in a terminal, with another process on the same folder.

import Foundation
import JSONRPC
import TestSupport
import Testing

/// A Vim with the client, and another process on its notebook.
final class Vim {
  static let isPossible = Terminal.isPossible && hasTool("vim")
  static let plugin = projectFolder.path + "/clients/vim"

  let folder: TemporaryFolder
  let other: Server
  let terminal: Terminal
  private var lastRequest = 0

  init(
    _ arguments: String = "", columns: Int = 80, rows: Int = 24, folder: TemporaryFolder? = nil,
    command: String? = nil, environment: [String: String] = [:]
  ) throws {
    self.folder = folder ?? TemporaryFolder()
    let path = self.folder.path
    other = try Server(self.folder("notes"))
    try other.initialize()
    try FileManager.default.createDirectory(
      atPath: path + "/control", withIntermediateDirectories: true)
    try "0".write(toFile: path + "/control/in", atomically: false, encoding: .utf8)
    var variables = [
      "DECENT_NOTES": path + "/notes", "DN_TEST": path + "/control", "HOME": path,
      "XDG_STATE_HOME": path + "/state",
    ]
    variables.merge(environment) { $1 }
    let option = command.map { "--cmd \(quoted("let g:decent_notes_command = '\($0)'"))" } ?? ""
    terminal = try Terminal(
      "vim -N -n -i NONE \(option) -u \(quoted(Self.plugin + "/test/driver.vim")) \(arguments)",
      columns: columns, rows: rows, environment: variables)
  }

  /// A note made by the other process.
  func note(_ title: String, _ text: String) throws -> String {
    try other.call("note/create", ["title": .string(title), "text": .string(text)])["note"]!["id"]!
      .string!
  }

  /// A Vim with a note open.
  static func showing(_ text: String) throws -> (Vim, String) {
    let vim = try Vim()
    let id = try vim.note("Note", text)
    try vim.run("edit note://\(id)")
    return (vim, id)
  }

  /// The value of an expression; a string as it is, anything else as JSON.
  @discardableResult
  func eval(_ code: String, within seconds: TimeInterval = patience) throws -> String {
    lastRequest += 1
    let path = folder("control")
    try "\(lastRequest)\n\(code)\n".write(toFile: path + "/in", atomically: true, encoding: .utf8)
    let value = try waitFor(
      "\(code): no answer:\n\(try terminal.screen().joined(separator: "\n"))",
      within: seconds, every: 0.002
    ) {
      guard let data = FileManager.default.contents(atPath: path + "/out"),
        let answer = try? JSONValue(parsing: Array(data)).array.map(Array.init),
        answer[0].integer == lastRequest
      else { return nil as String? }
      return answer[1].string ?? answer[1].written
    }
    guard !value.hasPrefix("error: ") else { throw Failure("\(code): \(value)") }
    return value
  }

  @discardableResult
  func run(_ command: String, within seconds: TimeInterval = patience) throws -> String {
    try eval(":" + command, within: seconds)
  }

  /// Waits until an expression has a value.
  func wait(_ code: String, _ value: String) throws {
    var now = ""
    try waitUntil(
      "\(code) is \(now.suffix(2000)), not \(value.suffix(2000)):\n"
        + (try terminal.screen().joined(separator: "\n")),
      within: patience
    ) {
      now = try eval(code)
      return now == value
    }
  }

  /// The text that the other process has.
  func text(_ id: String) throws -> String {
    try other.call("note/get", ["id": .string(id)])["text"]!.string!
  }

  /// Waits until both sides have the same text, and nothing is under way; returns it.
  @discardableResult
  func agree(_ id: String) throws -> String {
    var (state, shared) = ("", "")
    try waitUntil(
      "Vim has \(try eval("strcharpart(g:Text(), 0, 2000)")), not \(shared.prefix(2000)); \(state)\n"
        + "\(try eval("[mode(1), state()]->string() .. decent_notes#live#Of(bufnr())->string()->strcharpart(0, 3000)"))\n"
        + "\(try terminal.screen().joined(separator: "\n"))",
      within: patience
    ) {
      state = try eval("[&modified, sha256(g:Text())]->string()")
      shared = try text(id)
      return state == "[0, '\(sha256(Array(shared.utf8)))']"
    }
    return shared
  }

  func agree(_ id: String, on text: String) throws {
    try waitUntil(
      "the note is \(try self.text(id).suffix(2000)), not \(text.suffix(2000))\n"
        + (try terminal.screen().joined(separator: "\n")),
      within: patience
    ) { try self.text(id) == text }
    _ = try agree(id)
  }

  /// What the other process makes of a note's text.
  func change(_ id: String, _ edit: (inout String) -> Void) throws {
    let note = try other.call("note/get", ["id": .string(id)])
    var text = note["text"]!.string!
    edit(&text)
    // What has come meanwhile is not taken back.
    try other.call(
      "note/setText",
      ["id": .string(id), "text": .string(text), "base": .string(note["revision"]!.string!)])
  }

  /// Carries out a command as if Vim did not report what it changes.
  func miss(_ command: String) throws {
    try run(
      "let g:note = decent_notes#live#Of(bufnr()) | call listener_flush()"
        + " | call listener_remove(g:note.listener) | \(command)"
        + " | let g:note.before = getline(1, '$') | call decent_notes#live#SendPending(g:note)")
  }

  /// Waits until the client has put an edit of others off.
  func waitUntilSkipped() throws {
    try wait("decent_notes#live#Of(bufnr()).skipped == decent_notes#live#Of(bufnr()).version", "1")
  }

  /// The texts in files that the server does not have, by the names of the files. One that is being replaced is not there.
  func unsentTexts() -> [String: String] {
    let path = folder("state/decent-notes/unsent")
    let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    var texts: [String: String] = [:]
    for file in files where file.hasSuffix(".txt") {
      texts[file] = try? String(contentsOfFile: "\(path)/\(file)", encoding: .utf8)
    }
    return texts
  }

  /// How often the client had to send its whole text.
  func healed() throws -> Int {
    try run("NotesLog")
    let count = try eval("len(filter(getline(1, '$'), 'v:val =~ \"whole text\"'))")
    try run("close")
    return Int(count)!
  }
}

@Suite(
  .waitingLong, .tags(.editor, .slow),
  .enabled(if: Vim.isPossible || isContinuousIntegration, "vim or tmux is missing"))
struct `The client for Vim` {
  @Test func `texts come and go as they are`() throws {
    let vim = try Vim()
    let lines = (0..<20_000).map { "line \($0) \(String(repeating: "x", count: 40))" }
    let texts = [
      "", "a\n", "\n", "\n\n", "\n\r\n", "a\r\nb\n\r", "no end", "👩‍👩‍👧 é e\u{301}\n😀", "\ta\t\n\t",
      lines.joined(separator: "\n"), String(repeating: "é", count: 200_000),
    ]
    for text in texts {
      let id = try vim.note("Text", text)
      try vim.run("edit note://\(id)")
      #expect(try vim.eval("sha256(g:Text())") == sha256(Array(text.utf8)))
      #expect(try vim.eval("&modified") == "0")
      try vim.run("call append('$', [\"\\t\\r😀\", ''])")
      try vim.agree(id, on: text + "\n\t\r😀\n")
      try vim.run("bdelete")
    }
    #expect(try vim.healed() == 0)
  }

  @Test func `what is typed arrives, and others' edits come while typing`() throws {
    let (vim, id) = try Vim.showing("milk\neggs")
    try vim.terminal.type("GA and")
    try vim.agree(id, on: "milk\neggs and")
    try vim.change(id) { $0 = "bread\n" + $0 }
    try vim.agree(id, on: "bread\nmilk\neggs and")
    #expect(try vim.eval("mode()") == "i")
    try vim.change(id) { $0 = $0.replacingOccurrences(of: "eggs", with: "eight eggs") }
    try vim.agree(id, on: "bread\nmilk\neight eggs and")
    try vim.terminal.type(" ham")
    try vim.agree(id, on: "bread\nmilk\neight eggs and ham")
    try vim.terminal.press("BSpace", "BSpace", "BSpace", "Enter")
    try vim.agree(id, on: "bread\nmilk\neight eggs and \n")
    #expect(try vim.healed() == 0)
  }

  @Test func `everything stays on its text while others edit`() throws {
    let (vim, id) = try Vim.showing((1...60).map { "line \($0) abc def" }.joined(separator: "\n"))
    try vim.run("setlocal foldmethod=manual | 20,22fold | 20foldclose")
    try vim.terminal.type("10G0fama:3yank x\r:split\r50G0\u{17}p12G0fd")
    try vim.wait("line('.')", "12")
    let where12 = try vim.eval("col('.')")
    try vim.change(id) {
      $0 = "zero\nnull\n" + $0.replacingOccurrences(of: "line 12 ", with: "the line 12 é ")
      $0 = $0.replacingOccurrences(of: "line 10 ", with: "li 10 ")
    }
    try vim.agree(id)
    #expect(try vim.eval("strpart(getline('.'), col('.') - 1)") == "def")
    #expect(try vim.eval("[line('.'), col('.')]->string()") == "[14, \(Int(where12)! + 7)]")
    #expect(try vim.eval("strpart(getline(\"'a\"), col(\"'a\") - 1)") == "abc def")
    #expect(try vim.eval("getline(\"'a\")") == "li 10 abc def")
    #expect(try vim.eval("[foldclosed(22), foldclosedend(22)]->string()") == "[22, 24]")
    #expect(try vim.eval("getreg('x')") == "line 3 abc def\n")
    try vim.terminal.press("C-w", "p")
    try vim.wait("getline('.')", "line 50 abc def")

    // A selection, whose beginning lies on a line that is changed.
    try vim.terminal.type("30G0favjj")
    try vim.wait("mode() .. line('.')", "v32")
    try vim.change(id) {
      $0 = "first\n" + $0.replacingOccurrences(of: "line 28 ", with: "long line 28 ")
    }
    try vim.agree(id)
    #expect(try vim.eval("mode()") == "v")
    try vim.terminal.type("y")
    try vim.wait("getreg('\"')", "abc def\nline 29 abc def\nline 30 a")
    #expect(try vim.healed() == 0)
  }

  @Test func `places between two changes of one line stay there, in however many lines`() throws {
    let lines = Array(repeating: "ab é e f g cd", count: 250).joined(separator: "\n")
    let (vim, id) = try Vim.showing(lines)
    try vim.terminal.type("50Gwma100Gwi")
    try vim.wait("mode() .. line('.')", "i100")
    // The first push has two ranges of each line, the others have lines.
    for new in ["a1b é e f g c2d", "ab é e f g c2d", "ab é e f g cd"] {
      try vim.change(id) {
        $0 = Array(repeating: new, count: 250).joined(separator: "\n")
      }
      try vim.agree(id)
      #expect(try vim.eval("strpart(getline('.'), col('.') - 1)[: 1]") == "é")
      #expect(try vim.eval("strpart(getline(\"'a\"), col(\"'a\") - 1)[: 1]") == "é")
    }
    #expect(try vim.healed() == 0)
  }

  @Test func `an edit of others waits while Vim remembers lines`() throws {
    let (vim, id) = try Vim.showing("one\ntwo\nthree\nfour")
    // An operator that waits for its motion.
    try vim.terminal.type("2Gd")
    try vim.wait("mode(1)", "no")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.other.call("notebook/flush")
    try vim.terminal.type("d")
    try vim.agree(id, on: "zero\none\nthree\nfour")
    // Text for a block, which the other lines get when typing ends.
    try vim.terminal.type("gg")
    try vim.terminal.press("C-v")
    try vim.terminal.type("jI- ")
    try vim.wait("mode() .. getline(1)", "i- zero")
    try vim.change(id) { $0 = "above\n" + $0 }
    try vim.terminal.type("x")
    try vim.wait("getline(1)", "- xzero")
    try vim.terminal.press("Escape")
    try vim.agree(id, on: "above\n- xzero\n- xone\nthree\nfour")
    // A choice of completions.
    try vim.terminal.type("Goth")
    try vim.terminal.press("C-n")
    try vim.wait("getline('$')", "three")
    try vim.change(id) { $0 = "top\n" + $0 }
    try vim.terminal.press("C-y", "Escape")
    try vim.agree(id, on: "top\nabove\n- xzero\n- xone\nthree\nfour\nthree")
    // A confirmation.
    try vim.terminal.type(":%s/three/3/c\r")
    try vim.wait("mode(1)", "r?")
    try vim.change(id) { $0 = "head\n" + $0 }
    try vim.terminal.type("yy")
    try vim.agree(id, on: "head\ntop\nabove\n- xzero\n- xone\n3\nfour\n3")
  }

  @Test func `an edit of others waits while a pattern is written`() throws {
    let (vim, id) = try Vim.showing("milk\nmilk\nhoney\nmilk\nend")
    // The operator has begun where the pattern is looked for from.
    try vim.terminal.type("2Gd/mi")
    try vim.wait("mode()", "c")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.waitUntilSkipped()
    try vim.terminal.type("lk\r")
    try vim.agree(id, on: "zero\nmilk\nmilk\nend")
    // Nothing but looking, which is given up.
    try vim.terminal.type(":set incsearch\r/mi")
    try vim.wait("mode() .. getline('.')", "cmilk")
    try vim.change(id) { $0 = "null\n" + $0 }
    try vim.waitUntilSkipped()
    try vim.terminal.press("Escape")
    try vim.agree(id, on: "null\nzero\nmilk\nmilk\nend")
    #expect(try vim.eval("line('.')") == "4")
  }

  @Test func `an edit of others waits while a mapping asks for a character`() throws {
    let (vim, id) = try Vim.showing("one\ntwo")
    // In an <expr> mapping Vim lets no text be changed, and what a function has found out would be wrong after it.
    try vim.run(
      "function Mark()\nlet g:asks = line('.')\ncall setline(g:asks, nr2char(getchar()))\nendfunction"
    )
    try vim.run("nnoremap <expr> X execute('let g:asks = 0') .. nr2char(getchar())")
    try vim.run("nnoremap Y <Cmd>call Mark()<CR>")
    for (keys, asks, answer, text) in [
      ("X", "0", "G", "zero\none\ntwo"), ("Y", "3", "!", "zero\nzero\none\n!"),
    ] {
      try vim.terminal.type(keys)
      try vim.wait("get(g:, 'asks', -1)", asks)
      try vim.change(id) { $0 = "zero\n" + $0 }
      try vim.waitUntilSkipped()
      try vim.terminal.type(answer)
      try vim.agree(id, on: text)
      #expect(try vim.eval("line('.')") == (keys == "X" ? "3" : "4"))
    }
    #expect(!(try vim.eval("execute('messages')")).contains("E565"))
  }

  @Test func `a block to the ends of lines stays one, and the last change one's own`() throws {
    let (vim, id) = try Vim.showing("a\nbbb\ncc\nend")
    try vim.terminal.press("C-v")
    try vim.terminal.type("jj$")
    try vim.wait("[mode(), line('.')]->string()", "['\u{16}', 3]")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.agree(id, on: "zero\na\nbbb\ncc\nend")
    try vim.terminal.type("AX\u{1b}")
    try vim.agree(id, on: "zero\naX\nbbbX\nccX\nend")
    try vim.terminal.type("GAx\u{1b}gg")
    try vim.agree(id, on: "zero\naX\nbbbX\nccX\nendx")
    try vim.change(id) { $0 = $0.replacingOccurrences(of: "bbb", with: "b") }
    try vim.agree(id, on: "zero\naX\nbX\nccX\nendx")
    #expect(try vim.eval("[line(\"'.\"), getchangelist()[0][-1].lnum]->string()") == "[5, 5]")
  }

  @Test func `a push that was made for another text is not applied`() throws {
    let (vim, id) = try Vim.showing("one\ntwo")
    try vim.miss("call setline(2, 'TWO')")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.agree(id, on: "zero\none\nTWO")
    #expect(try vim.healed() == 1)
  }

  @Test func `two refused changes are mended by one whole text, without a word`() throws {
    let (vim, id) = try Vim.showing("one\ntwo")
    try vim.miss("call setline(2, 'TWO')")
    let server = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(server, SIGSTOP)
    defer { kill(server, SIGCONT) }
    for (version, letter) in ["x", "y"].enumerated() {
      try vim.terminal.type("A\(letter)\u{1b}")
      try vim.wait("decent_notes#live#Of(bufnr()).version", "\(version + 1)")
    }
    kill(server, SIGCONT)
    try vim.agree(id, on: "onexy\nTWO")
    #expect(try vim.eval("decent_notes#live#Of(bufnr()).whole") == "3")
    #expect(try vim.eval("execute('messages')").contains("Decent Notes") == false)
    #expect(try vim.healed() == 1)
  }

  @Test(arguments: ["J", "gqip", ":1,2j\r"])
  func `lines that are joined are not typed anew`(_ keys: String) throws {
    let (vim, id) = try Vim.showing("one\ntwo three\n\nfour")
    let server = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(server, SIGSTOP)
    try vim.terminal.type(keys)
    try vim.wait("getline(1)", "one two three")
    // Whoever deletes a word at the same time has deleted it.
    try vim.change(id) { $0 = $0.replacingOccurrences(of: "two ", with: "") }
    kill(server, SIGCONT)
    try vim.agree(id, on: "one three\n\nfour")
    #expect(try vim.healed() == 0)
  }

  @Test func `undo takes back what was done here only`() throws {
    let (vim, id) = try Vim.showing("one\ntwo")
    try vim.terminal.type("othree")
    try vim.terminal.press("Enter")
    try vim.terminal.type("four")
    try vim.terminal.press("Escape")
    try vim.agree(id, on: "one\nthree\nfour\ntwo")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.agree(id, on: "zero\none\nthree\nfour\ntwo")
    try vim.terminal.type("ggx")
    try vim.agree(id, on: "ero\none\nthree\nfour\ntwo")
    try vim.terminal.type("u")
    try vim.agree(id, on: "zero\none\nthree\nfour\ntwo")
    // All that was typed at once goes at once.
    try vim.terminal.type("u")
    try vim.agree(id, on: "zero\none\ntwo")
    try vim.terminal.press("C-r")
    try vim.agree(id, on: "zero\none\nthree\nfour\ntwo")
    try vim.terminal.press("C-r")
    try vim.agree(id, on: "ero\none\nthree\nfour\ntwo")
    try vim.terminal.type("2u")
    try vim.agree(id, on: "zero\none\ntwo")
    try vim.terminal.type("u")
    try vim.terminal.wait("the message") {
      $0.last == "Decent Notes: nothing of yours to take back"
    }
    try vim.agree(id, on: "zero\none\ntwo")
    // A macro is one block, and the cursor goes to what was undone.
    try vim.terminal.type(":let @q = 'A!\u{16}\u{1b}j'\rgg3@q")
    try vim.agree(id, on: "zero!\none!\ntwo!")
    try vim.terminal.type("uG")
    try vim.agree(id, on: "zero\none\ntwo")
    try vim.terminal.press("C-r")
    try vim.agree(id, on: "zero!\none!\ntwo!")
    try vim.wait("line('.')", "1")
  }

  @Test func `what is typed into a long text is undone at once, with pauses too`() throws {
    let (vim, id) = try Vim.showing(String(repeating: "a line of some bytes\n", count: 15_000))
    try vim.terminal.type("A!")
    // The second change is the hash, when the typing has paused.
    try vim.wait("decent_notes#live#Of(bufnr()).answered", "2")
    try vim.terminal.type("?")
    try vim.terminal.press("Escape")
    try vim.wait("getline(1)", "a line of some bytes!?")
    try vim.agree(id)
    try vim.terminal.type("u")
    try vim.wait("getline(1)", "a line of some bytes")
    try vim.agree(id)
  }

  @Test func `writing tells that everything is on disk`() throws {
    let (vim, id) = try Vim.showing("one")
    try vim.terminal.type("A!")
    try vim.terminal.press("Escape")
    try vim.terminal.type(":w\r")
    try vim.terminal.wait("the message") { $0.last?.contains("\"Note\" written") == true }
    #expect(try vim.eval("&modified") == "0")
    // Whatever the user has for the writing of files is done to notes.
    try vim.run("autocmd BufWritePre * silent! %s/ \\+$//")
    try vim.terminal.type("A  \u{1b}:w\r")
    try vim.agree(id, on: "one!")
    try vim.terminal.type(":w \(vim.folder("copy"))\r")
    try vim.wait("filereadable('\(vim.folder("copy"))')", "1")
    #expect(try String(contentsOfFile: vim.folder("copy"), encoding: .utf8) == "one!")
    // All at once: the change has not been answered when Vim is asked to leave.
    try vim.terminal.type(":call setline(1, 'last') | qa\r")
    try vim.terminal.waitForEnd()
    #expect(try vim.text(id) == "last")
  }

  @Test func `commands that change many lines are told exactly`() throws {
    let (vim, id) = try Vim.showing((1...30).map { "line \($0)" }.joined(separator: "\n"))
    let keys = [
      ":g/5/m0\r", ":g/1$/d\r", ":%s/line/Zeile/g\r", ":3,6m$\r", ":2,4t0\r", ":sort! n\r",
      "ggqaA.\u{1b}0jq5@a", "ggdd...", "u", "GO\u{1b}", "Go\u{1b}", "ggO\u{1b}", "ddGp", "ggyGP",
      "gg\u{16}3jIab\u{1b}", "gg\u{16}4j$Azz\u{1b}", "3Gcwword\u{1b}j.j.", "ggVGJ", "gqq",
      ":setlocal tw=20\rgggqG", "5Gr\r", "2GJ", "gg>G", "ggguG", ":%norm Ax\r", "3Gyyp2kddp",
      "ggg~~",
      "ggxp", "Gddggdj", "5GD", "ggR12\r34\u{1b}", "yyPix\u{1b}", ":1,3co.\r", ":%!sort\r",
      "10GS\u{1b}",
      ":g/^/m0\r", "ggdGiagain\u{1b}", ":r!printf 'a\\nb'\r", "dG", "3ohi\u{1b}", "10iab \u{1b}",
    ]
    var healed = 0
    for keys in keys {
      try vim.terminal.type(keys)
      try vim.terminal.press("Escape")
      do { try vim.agree(id) } catch { throw Failure("\(keys.debugDescription): \(error)") }
      let now = try vim.healed()
      #expect(now == healed, "\(keys.debugDescription)")
      healed = now
    }
    try vim.terminal.type(
      ":call setreg('p', map(range(10000), '\"pasted \" .. v:val'), 'l')\rgg\"pp")
    try vim.wait("line('$') > 10000", "1")
    try vim.agree(id)
    #expect(try vim.healed() == 0)
  }

  @Test func `all arrives whatever both sides do at once`() throws {
    let (vim, id) = try Vim.showing((1...10).map { "line \($0)" }.joined(separator: "\n"))
    var random = SplitMix64(seed: 7)
    let commands = [
      "dd", "p", "P", "yyp", "o", "O", "A", "i", "cc", "x", "J", "gg", "G", "k", "j", ":m0\r",
      ":g/1/m$\r",
      "u", "\u{12}", ">>", "3Gdj", "xp", ":%s/line/lines/\r", ".",
    ]
    for round in 0..<scaled(40, 400) {
      let command = commands[random.below(commands.count)]
      try vim.terminal.type(command)
      if ["o", "O", "A", "i", "cc"].contains(command) { try vim.terminal.type("v\(round) ") }
      try vim.change(id) {
        var lines = $0.split(separator: "\n", omittingEmptySubsequences: false)
        let at = random.below(lines.count)
        if random.below(2) == 0 {
          lines.insert("o\(round)", at: at)
        } else {
          lines[at] += " p\(round)"
        }
        $0 = lines.joined(separator: "\n")
      }
      if random.below(3) > 0 { try vim.terminal.press("Escape") }
    }
    try vim.terminal.press("Escape")
    try vim.agree(id)
  }

  @Test func `what can't be in a note is replaced and told`() throws {
    let (vim, id) = try Vim.showing("ab")
    try vim.terminal.type("i")
    try vim.terminal.press("C-v")
    try vim.terminal.type("x00")
    try vim.agree(id, on: "\u{FFFD}ab")
    try vim.terminal.press("Escape")
    try vim.run("call setline(1, \"a\\xe9b é\\xed\\xa0\\x80\")")
    try vim.wait("getline(1)[0]", "a")
    let text = try vim.agree(id)
    #expect(text.hasPrefix("a\u{FFFD}b é\u{FFFD}"))
    #expect(try vim.eval("execute('messages')").contains("replaced by U+FFFD"))
  }

  @Test func `a note has one buffer, in any number of windows`() throws {
    let (vim, id) = try Vim.showing("one\ntwo")
    try vim.run("split note://\(id)")
    try vim.wait("len(win_findbuf(bufnr()))", "2")
    #expect(try vim.eval("len(getbufinfo())") == "1")
    try vim.terminal.type("Gothree")
    try vim.agree(id, on: "one\ntwo\nthree")
    try vim.terminal.press("Escape")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.agree(id)
    try vim.run("close")
    try vim.terminal.type("Ax")
    try vim.terminal.press("Escape")
    try vim.agree(id)
    // Read anew, it is what the notebook has.
    try vim.run("edit!")
    try vim.agree(id)
    try vim.terminal.type("ggAy")
    try vim.terminal.press("Escape")
    try vim.wait("getline(1)", "zeroy")
    try vim.agree(id)
    try vim.run("let g:buf = bufnr() | call setline(1, 'closed') | bdelete!")
    try vim.run("edit note://\(id)")
    try vim.wait("getline(1)", "closed")
    try vim.agree(id)
    // It goes on while it is not shown.
    try vim.run("enew")
    try vim.change(id) { $0 += "!" }
    try vim.run("buffer Note")
    let text = try vim.agree(id)
    // A buffer that went without an event is not taken for an empty text.
    try vim.run("noautocmd bdelete!")
    try vim.change(id) { $0 += "?" }
    try vim.wait("decent_notes#live#BufferOf('\(id)')", "0")
    #expect(try vim.text(id) == text + "?")
  }

  @Test(arguments: [0, 1, 2])
  func `a very long line is typed into, with any engine for patterns`(_ engine: Int) throws {
    let (vim, id) = try Vim.showing(String(repeating: "a", count: 300_000))
    try vim.run("set regexpengine=\(engine)")
    try vim.terminal.type("Ab\u{1b}")
    try vim.wait("getline(1)[-2:]", "ab")
    #expect(try vim.agree(id).hasSuffix("ab"))
    #expect(try vim.eval("execute('messages')").contains("E945") == false)
    // What no Unicode text can hold.
    try vim.run("call append('$', \"x\\ud800y\")")
    try vim.agree(id)
    #expect(try vim.eval("getline('$')") == "x\u{fffd}y")
  }

  @Test func `saved as a file, the buffer is the file's`() throws {
    let (vim, id) = try Vim.showing("one")
    let path = vim.folder("copy")
    try vim.terminal.type("A!\u{1b}:saveas \(path)\rA?\u{1b}:w\ru")
    try vim.wait("filereadable('\(path)') ? readfile('\(path)')->string() : ''", "['one!?']")
    try vim.wait("[g:Text(), &modified]->string()", "['one!', 1]")
    #expect(try vim.text(id) == "one!")
    try vim.run("edit note://\(id)")
    try vim.agree(id, on: "one!")
  }

  @Test func `commands do what the list does, and complete`() throws {
    let vim = try Vim()
    let shopping = try vim.note("Shopping list", "milk")
    _ = try vim.note("Sheep", "wool")
    _ = try vim.note("Twice", "first")
    let second = try vim.note("Twice", "second")
    #expect(
      try vim.eval("getcompletion('Note sh', 'cmdline')->sort()->string()")
        == "['Sheep', 'Shopping list']")
    #expect(try vim.eval("getcompletion('Note Shopping l', 'cmdline')->string()") == "['list']")
    try vim.terminal.type(":Note Shop\t\r")
    try vim.wait("g:Text()", "milk")
    #expect(try vim.eval("b:note_title") == "Shopping list")
    try vim.terminal.type(":NoteTag +ho\t +work\r")
    try vim.terminal.wait("the tags") { $0.last == "home, work" }
    try vim.terminal.type(":NoteTag -home +two\\ words\r")
    try vim.terminal.wait("the tags") { $0.last == "two words, work" }
    try vim.terminal.type(":NoteTag a b\r")
    try vim.terminal.wait("the tags") { $0.last == "a, b" }
    try vim.terminal.type(":NotePriority h\t\r")
    try vim.terminal.type(":NoteTitle Groceries\r")
    try vim.wait("get(b:, 'note_title', '')", "Groceries")
    let note = try vim.other.call("note/get", ["id": .string(shopping)])["note"]!
    #expect(note["tags"]!.written == #"["a","b"]"# && note["priority"]?.string == "high")
    #expect(note["title"]?.string == "Groceries")
    try vim.terminal.type("A, eggs\u{1b}:w\r:NoteHistory\r")
    try vim.wait("get(b:, 'note_title', '')", "history")
    #expect(try vim.eval("line('$')") == "3")
    try vim.terminal.type("G\r")
    try vim.wait("[&modifiable, getline(1)]->string()", "[0, 'milk']")
    try vim.terminal.type("qq")
    try vim.terminal.type(":Note Twice\r")
    try vim.terminal.wait("the question") { $0.contains { $0.hasPrefix("1. Twice") } }
    try vim.terminal.type("1\r")
    try vim.wait("g:Text()", "second")
    try vim.terminal.type(":Note \(shopping)\r")
    try vim.wait("g:Text()", "milk, eggs")
    try vim.terminal.type(":NoteNew A new one\r")
    try vim.wait("get(b:, 'note_title', '')", "A new one")
    try vim.terminal.type(":NotesLog\r")
    try vim.wait("&buftype", "nofile")
    #expect(second != shopping)
  }

  @Test func `what goes wrong is told in one line`() throws {
    let vim = try Vim()
    try vim.terminal.type(":Note nowhere\r")
    try vim.terminal.wait("the error") { $0.last == "Decent Notes: there is no note \"nowhere\"" }
    try vim.terminal.type(":edit note://nothing\r")
    try vim.terminal.wait("the error") { $0.last == "Decent Notes: id: there is no note nothing" }
    #expect(try vim.eval("&modifiable") == "0")
    try vim.terminal.type(":enew\r:NoteTitle x\r")
    try vim.terminal.wait("the error") { $0.last == "Decent Notes: there is no note here" }
    try vim.terminal.type(":NoteNew x\r:NotePriority huge\r")
    try vim.terminal.wait("the error") { $0.last?.hasPrefix("Decent Notes: priority") == true }
    #expect(!(try vim.eval("execute('messages')")).contains("Error detected"))

    let without = try Vim(command: "no-such-program")
    try without.terminal.type(":Notes\r")
    try without.terminal.wait("the error") {
      $0.last?.hasPrefix("Decent Notes: no program \"no-such-program\"") == true
    }
    let file = vim.folder("file")
    try "".write(toFile: file, atomically: true, encoding: .utf8)
    let wrong = try Vim(environment: ["DECENT_NOTES": file])
    try wrong.terminal.type(":Notes\r")
    try wrong.terminal.wait("the error") { $0.last?.hasPrefix("Decent Notes: ") == true }
    #expect(!(try wrong.eval("execute('messages')")).contains("Error detected"))
  }

  @Test func `a buffer that must not be left is not, and nothing is made`() throws {
    let vim = try Vim()
    _ = try vim.note("Note", "")
    try vim.run("set nohidden")
    try vim.terminal.type("ichanged\u{1b}")
    for command in ["Note Note", "NoteNew Another", "Notes"] {
      try vim.terminal.type(":\(command)\r")
      try vim.terminal.wait("the error") { $0.last?.hasPrefix("Decent Notes: E37") == true }
      try vim.terminal.type(":echo\r")
      #expect(try vim.eval("[mode(), g:Text()]->string()") == "['n', 'changed']")
    }
    #expect(try vim.other.call("notebook/list")["notes"]!.array!.count == 1)
  }

  @Test func `a message about a long title demands no key`() throws {
    let vim = try Vim()
    let id = try vim.note(String(repeating: "A long title ", count: 10), "one")
    try vim.run("edit note://\(id)")
    try vim.terminal.type("Ax\u{1b}:w\r")
    try vim.terminal.wait("the message") { $0.last?.hasSuffix("\" written") == true }
    #expect(try vim.eval("mode()") == "n")
  }

  @Test func `what is told does not disturb who is writing a command`() throws {
    let (vim, _) = try Vim.showing("eggs\nmilk")
    try vim.terminal.type("/mi")
    try vim.wait("mode()", "c")
    try vim.run("call decent_notes#server#Tell('something')")
    try vim.terminal.type("lk\r")
    try vim.terminal.wait("the words") { $0.last == "Decent Notes: something" }
    #expect(try vim.eval("[mode(), line('.')]->string()") == "['n', 2]")
  }

  @Test func `edits of others do not disturb who is writing a command`() throws {
    let (vim, id) = try Vim.showing("eggs\nmilk")
    for number in 0..<12 {
      try vim.terminal.type("/mi")
      try vim.wait("mode()", "c")
      let text = number % 2 == 0 ? "a\nb\nc\nd\neggs\nmilk\ne\nf\ng" : "eggs\nmilk"
      try vim.change(id) { $0 = text }
      try vim.waitUntilSkipped()
      try vim.terminal.type("lk\r")
      try vim.agree(id, on: text)
      #expect(try vim.eval("[mode(), getline('.')]->string()") == "['n', 'milk']")
      let screen = try vim.terminal.screen().joined(separator: "\n")
      #expect(!screen.contains("Press ENTER"), "\(number):\n\(screen)")
    }
  }

  @Test func `others in a note are shown`() throws {
    let (vim, id) = try Vim.showing("one\ntwo")
    #expect(try vim.eval("decent_notes#Status()") == "connected")
    // Another attachment of the same process.
    try vim.run(
      "let g:at = decent_notes#server#Call('note/open', {'id': '\(id)', 'mode': 'edit'}).attachment"
        + " | call decent_notes#server#Notify('note/cursor', {'attachment': g:at, 'version': 0, 'rev': 0,"
        + " 'ranges': [{'start': {'line': 1, 'character': 0}, 'end': {'line': 1, 'character': 2}}]})"
    )
    try vim.wait("decent_notes#Status() =~ '@'", "1")
    func marks(_ line: Int) -> String {
      "prop_list(\(line))->filter('v:val.id >= 0')->map('[v:val.col, v:val.length]')->string()"
    }
    try vim.wait(marks(2), "[[1, 2], [3, 1]]")
    try vim.terminal.type("ggOzero\u{1b}")
    try vim.wait(marks(3), "[[1, 2], [3, 1]]")
    try vim.run("call decent_notes#server#Call('note/close', {'attachment': g:at})")
    try vim.wait("decent_notes#Status()", "connected")
    try vim.wait("prop_list(3)->len()", "0")
  }

  @Test func `a name is behind the word, and right behind its cursor where words have no blanks`()
    throws
  {
    // In a line that is wider than the window.
    for (word, place, shown) in [
      ("日本語", 6, "日本語 Ana日本語日本語"), ("ภาษา", 0, "ภ Anaาษา"), ("word ", 6, "word word Ana word"),
      ("日本API", 6, "日本API Ana日本"),
    ] {
      let (vim, _) = try Vim.showing(String(repeating: word, count: 100))
      let at = "{'line': 0, 'character': \(place)}"
      try vim.run(
        "call decent_notes#participants#Show(bufnr(), [{'name': 'Ana', 'ranges': [{'start': \(at), 'end': \(at)}]}])"
      )
      try vim.terminal.wait("the name behind \(word)") { $0[0].hasPrefix(shown) }
    }
  }

  @Test func `others are not shown in a text that was changed since`() throws {
    let (vim, _) = try Vim.showing("one\ntwo and more")
    try vim.run(
      "let g:note = decent_notes#live#Of(bufnr()) | call setline(2, 't') | call decent_notes#live#TakePresence("
        + "{'attachment': g:note.attachment, 'version': g:note.version, 'rev': g:note.rev, 'peers': [{'ranges':"
        + " [{'start': {'line': 1, 'character': 9}, 'end': {'line': 1, 'character': 12}}]}]})")
    #expect(try vim.eval("prop_list(2)->len()") == "0")
    #expect(!(try vim.eval("execute('messages')")).contains("E964"))
  }

  @Test func `a killed server is started again, and nothing is lost or doubled`() throws {
    let (vim, id) = try Vim.showing("start\n")
    try vim.terminal.type("Go")
    var words: [String] = []
    for round in 0..<5 {
      let process = try vim.eval("decent_notes#server#Process()")
      for number in 0..<6 {
        words.append("w\(round).\(number)")
        try vim.terminal.type(words.last! + " ")
        if number == 2 { kill(pid_t(process)!, SIGKILL) }
      }
      try vim.change(id) { $0 = "other\(round)\n" + $0 }
      // Vim may not know yet that it is gone.
      try vim.wait("decent_notes#server#Process() != \(process)", "1")
      try vim.wait("decent_notes#Status()", "connected")
    }
    #expect(try vim.eval("mode()") == "i")
    let expected =
      (0..<5).reversed().map { "other\($0)\n" }.joined() + "start\n\n"
      + words.map { $0 + " " }.joined()
    try vim.agree(id, on: expected)
    // Five times in three minutes are enough: from now on at the user's wish.
    kill(pid_t(try vim.eval("decent_notes#server#Process()"))!, SIGKILL)
    try vim.wait("decent_notes#Status()", "offline")
    try vim.terminal.type("offline")
    try vim.wait("&modified", "1")
    #expect(try vim.text(id) == expected)
    try vim.terminal.press("Escape")
    try vim.terminal.type(":w\r")
    try vim.agree(id, on: expected + "offline")
  }

  @Test func `a process that does not answer is replaced at the user's wish`() throws {
    let (vim, id) = try Vim.showing("one")
    let server = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(server, SIGSTOP)
    try vim.terminal.type("A!\u{1b}:NotesRestart\r")
    try vim.agree(id, on: "one!")
    #expect(try vim.eval("decent_notes#Status()") == "connected")
    #expect(kill(server, 0) == -1)
  }

  @Test func `a process that does not read keeps nobody from typing`() throws {
    let (vim, id) = try Vim.showing(String(repeating: "x", count: 100_000))
    let server = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(server, SIGSTOP)
    defer { kill(server, SIGCONT) }
    // More than any pipe takes.
    for number in 1...4 {
      try vim.terminal.type("Aa\u{1b}")
      try vim.wait("mode() .. strlen(getline(1))", "n\(100_000 + number)")
    }
    kill(server, SIGCONT)
    #expect(try vim.agree(id).utf8.count == 100_004)
    #expect(try vim.healed() == 0)
  }

  @Test func `a note that could not be opened again is opened when it is written`() throws {
    let (vim, id) = try Vim.showing("one")
    try vim.run("let g:note = decent_notes#live#Of(bufnr()) | let g:note.id = 'nowhere'")
    kill(pid_t(try vim.eval("decent_notes#server#Process()"))!, SIGKILL)
    try vim.terminal.wait("the message") { $0.last?.contains("Note is offline") == true }
    try vim.run("let g:note.id = '\(id)'")
    try vim.terminal.type("A!\u{1b}:w\r")
    try vim.agree(id, on: "one!")
  }

  @Test func `what is under way arrives when its buffer is closed and the process killed`() throws {
    let (vim, id) = try Vim.showing("one")
    let server = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(server, SIGSTOP)
    try vim.terminal.type("A!\u{1b}")
    try vim.wait("getline(1) .. mode()", "one!n")
    try vim.terminal.type(":bdelete!\r")
    kill(server, SIGKILL)
    try vim.wait("decent_notes#live#BufferOf('\(id)')", "0")
    #expect(try vim.text(id) == "one!")
    // What a process that does not answer lacks is in a file, until it is in the note.
    let unsent = vim.folder("state/decent-notes/unsent")
    try waitUntil("a file is left in \(unsent)") {
      (try? FileManager.default.contentsOfDirectory(atPath: unsent))?.isEmpty ?? true
    }
  }

  @Test func `without the server undo takes back nothing of others`() throws {
    let (vim, id) = try Vim.showing("one")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.agree(id, on: "zero\none")
    try vim.run("let g:decent_notes_command = 'no-such-program'")
    kill(pid_t(try vim.eval("decent_notes#server#Process()"))!, SIGKILL)
    try vim.wait("decent_notes#Status()", "offline")
    try vim.terminal.type("u")
    try vim.terminal.wait("the word about it") { $0.last?.contains("taken back") == true }
    #expect(try vim.eval("g:Text()") == "zero\none")
  }

  @Test(arguments: [80, 250])
  func `a text that could not be sent is in a file`(_ columns: Int) throws {
    let vim = try Vim(columns: columns)
    let id = try vim.note("Note", "one")
    try vim.run("edit note://\(id)")
    try vim.run("let g:decent_notes_command = 'no-such-program'")
    kill(pid_t(try vim.eval("decent_notes#server#Process()"))!, SIGKILL)
    try vim.wait("decent_notes#Status()", "offline")
    try vim.terminal.type("Aé\r\u{1b}")
    try vim.wait("[line('$'), &modified]->string()", "[2, 1]")
    try vim.terminal.type(":qa\r")
    try vim.terminal.wait("the warning") {
      $0.contains { $0.contains("E37") || $0.contains("E162") }
    }
    try vim.terminal.type("\r:qa!\r")
    // Vim stays until it has been read.
    try vim.terminal.wait("the path") {
      $0.joined().contains("/state/decent-notes/unsent/\(id)")
        && $0.joined().contains("Press ENTER")
    }
    try vim.terminal.press("Enter")
    try vim.terminal.waitForEnd()
    let unsent = vim.folder("state/decent-notes/unsent")
    let files = vim.unsentTexts()
    #expect(Array(files.values) == ["oneé\n"])
    let name = try #require(files.keys.first)
    #expect(name.hasPrefix(id))
    let path = unsent + "/" + name
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(stat(unsent, &status) == 0 && status.st_mode & 0o777 == 0o700)
  }
  @Test func `a text that could not be sent is in a file when Vim is killed, too`() throws {
    let (vim, id) = try Vim.showing("one")
    try vim.run("let g:decent_notes_command = 'no-such-program'")
    kill(pid_t(try vim.eval("decent_notes#server#Process()"))!, SIGKILL)
    try vim.wait("decent_notes#Status()", "offline")
    try vim.terminal.type("A!\u{1b}")
    try vim.wait("decent_notes#live#Of(bufnr()).text", "one!")
    kill(pid_t(try vim.eval("getpid()"))!, SIGHUP)
    try vim.terminal.waitForEnd()
    let files = vim.unsentTexts()
    #expect(Array(files.values) == ["one!"] && files.keys.first?.hasPrefix(id) == true)
  }
}
