import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting, .tags(.editor), .enabled(if: isNeovimReady, "nvim is missing"))
struct `The client for Neovim: what others do while Neovim is at something else` {
  /// A Neovim in a terminal that shows a note, and another process.
  private final class Screen {
    let folder: TemporaryFolder
    let other: Server
    let terminal: Terminal
    let note: JSON

    init(_ program: String, text: String, setup: String = "") throws {
      folder = TemporaryFolder()
      other = try Server(folder("notes"))
      try other.initialize()
      let made = try other.call("note/create", ["title": "Note", "text": .string(text)])
      note = .raw(made["note"]!["id"]!.written)
      let settings = folder("init.lua")
      try (Neovim.settings(notebook: folder("notes")) + setup)
        .write(toFile: settings, atomically: true, encoding: .utf8)
      let id = note.text.dropFirst().dropLast()
      terminal = try Terminal(
        "exec \(quoted(program)) -n -i NONE -u \(quoted(settings)) -c 'edit note://\(id)'")
      try terminal.wait("the note") { $0.contains { $0.contains("connected") } }
    }

    func set(_ text: String) throws {
      try other.call("note/setText", ["id": note, "text": .string(text)])
    }

    var stored: String {
      get throws { try other.call("note/get", ["id": note])["text"]!.string! }
    }

    func waitFor(_ text: String, line: Int = #line) throws {
      try terminal.wait("line \(line): \(text.debugDescription) there") { _ in try stored == text }
      let lines = text.components(separatedBy: "\n")
      try terminal.wait("line \(line): \(text.debugDescription) here") {
        Array($0.prefix(lines.count)) == lines && $0[lines.count].hasPrefix("~")
      }
    }
  }

  @Test(arguments: Neovim.programs, ["nosplit", "split"])
  func `what others do during a preview of a substitution stays, with Enter and with Escape`(
    _ program: String, _ inccommand: String
  ) throws {
    let screen = try Screen(
      program, text: "foo one\nfoo two", setup: "vim.o.inccommand = '\(inccommand)'\n")
    let terminal = screen.terminal
    try terminal.type(":%s/foo/Q")
    try terminal.wait("the preview") { $0[0] == "Q one" }
    try screen.set("top\nfoo one\nfoo two\nlast")
    try terminal.type("X")
    try terminal.wait("the preview") { $0[0] == "QX one" }
    try terminal.press("Enter")
    try screen.waitFor("top\nQX one\nQX two\nlast")
    try terminal.type("gg:%s/QX/Y")
    try terminal.wait("the preview") { $0.contains("Y one") }
    try screen.set("first\ntop\nQX one\nQX two\nlast\nend")
    try terminal.type("Z")
    try terminal.wait("the preview") { $0.contains("YZ one") }
    try terminal.press("Escape")
    try screen.waitFor("first\ntop\nQX one\nQX two\nlast\nend")
    try terminal.type("Iz")
    try screen.waitFor("first\nztop\nQX one\nQX two\nlast\nend")
  }

  @Test(arguments: Neovim.programs)
  func `a search that is given up leaves the cursor at its text, though lines came above`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "one\ntwo\nthree", setup: "vim.o.incsearch = true\n")
    let note = "require('decent-notes.note').of()"
    try scene.editor.type("j/thr")
    try scene.editor.wait("the pattern", "vim.fn.getcmdline() == 'thr'")
    try scene.set("zero\none\ntwo\nthree")
    try scene.editor.wait("a push", "\(note).skipped == \(note).version")
    try scene.editor.type("e<Esc>")
    try scene.expect("zero\none\ntwo\nthree")
    #expect(try scene.editor.value("vim.fn.getline('.')") == "two")
    // A command that shows what it would do, as plugins make it.
    guard try scene.editor.value("vim.fn.has('nvim-0.8')") == "1" else { return }
    try scene.editor.lua(
      """
      local function change(it, space)
        vim.api.nvim_buf_set_lines(0, 0, -1, false, { it.args, it.args })
        previews = (previews or 0) + 1
        return 1
      end
      vim.api.nvim_create_user_command('Replace', change, { nargs = 1, preview = change })
      """)
    try scene.editor.type(":Replace a")
    try scene.editor.wait("the preview", "previews == 1")
    try scene.set("-1\nzero\none\ntwo\nthree")
    try scene.editor.type("b<Esc>")
    try scene.expect("-1\nzero\none\ntwo\nthree")
    try scene.type("Iz<Esc>", "-1\nzero\none\nztwo\nthree")
  }

  @Test(arguments: Neovim.programs)
  func `line breaks of others at the end of the line that is typed into leave the cursor there`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(
      program, text: "alpha", setup: "vim.o.autoindent = false\n")
    try scene.type("A typing", "alpha typing")
    try scene.other.call("note/append", ["id": scene.note, "text": "\nfrom cron\n"])
    try scene.expect("alpha typing\nfrom cron\n")
    try scene.type(" more", "alpha typing more\nfrom cron\n")
    try scene.receive("alpha typing more\n\nfrom cron\n")
    try scene.type("!", "alpha typing more!\n\nfrom cron\n")
    // In a line that is empty.
    try scene.type("<Esc>Go", "alpha typing more!\n\nfrom cron\n\n")
    try scene.other.call("note/append", ["id": scene.note, "text": "\nagain\n"])
    try scene.expect("alpha typing more!\n\nfrom cron\n\n\nagain\n")
    try scene.type("x", "alpha typing more!\n\nfrom cron\n\nx\nagain\n")
  }

  @Test(arguments: Neovim.programs)
  func `typing goes on while the server is stopped, and all arrives when it continues`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "start")
    let server = try scene.editor.serverProcess()
    kill(server, SIGSTOP)
    defer { kill(server, SIGCONT) }
    var expected = "start"
    // More than a pipe holds: each change has the whole line.
    let long = String(repeating: "abcdefghij", count: 100)
    try scene.editor.type("A")
    for index in 0..<200 {
      let word = index < 20 ? long : " w\(index)"
      try scene.editor.type(word)
      expected += word
    }
    try scene.editor.wait("the text", "#text() == \(expected.utf8.count)")
    #expect(try scene.editor.value("vim.fn.mode() .. tostring(vim.bo.modified)") == "itrue")
    try scene.set("zero\nstart")
    kill(server, SIGCONT)
    try scene.expect("zero\n" + expected)
    try scene.type("!", "zero\n" + expected + "!")
    try scene.editor.type("<Esc>:w<CR>")
    try scene.editor.wait("the answer", "told[1] and told[#told]:find('written')")
  }

  /// Nothing is typed afterwards: the next change would have sent it.
  @Test(arguments: Neovim.programs)
  func `what is typed while a note is resumed is sent by the answer`(_ program: String) throws {
    let folder = TemporaryFolder()
    let server = try HeldServer(in: folder)
    let scene = try NeovimScene(
      program, text: "start", setup: "vim.g.decent_notes_command = [[\(server.path)]]\n")
    let note = "require('decent-notes.note').of()"
    try scene.type("A one", "start one")
    try server.hold()
    kill(try scene.editor.serverProcess(), SIGKILL)
    try scene.editor.wait("the request", "not \(note).attachment and \(note).is_opening")
    try scene.editor.type(" two")
    try scene.editor.wait("the text", "text() == 'start one two' and vim.bo.modified")
    #expect(try scene.editor.value("\(note).is_opening") == "true")
    #expect(try scene.stored == "start one")
    try server.release()
    try scene.expect("start one two")
  }

  @Test(arguments: Neovim.programs)
  func `what others did while Neovim was stopped is there when it continues`(_ program: String)
    throws
  {
    let scene = try NeovimScene(program, text: "one\ntwo\nthree")
    try scene.type("jAx", "one\ntwox\nthree")
    kill(scene.editor.process, SIGSTOP)
    defer { kill(scene.editor.process, SIGCONT) }
    // More than a pipe holds.
    let block = String(repeating: "0123456789\n", count: 10_000)
    for index in 0..<20 { try scene.set("\(index)\n" + block + "one\ntwox\nthree") }
    kill(scene.editor.process, SIGCONT)
    try scene.expect("19\n" + block + "one\ntwox\nthree")
    try scene.type("y", "19\n" + block + "one\ntwoxy\nthree")
  }

  @Test(arguments: Neovim.programs)
  func `writing tells of a server that does not answer, and leaving waits no longer for it`(
    _ program: String
  ) throws {
    let state = TemporaryFolder()
    let scene = try NeovimScene(
      program, text: "one", environment: ["XDG_STATE_HOME": state("state")])
    let server = try scene.editor.serverProcess()
    kill(server, SIGSTOP)
    defer { kill(server, SIGKILL) }
    try scene.editor.type("Ax<Esc>:w<CR>")
    try scene.editor.wait(
      "the answer", "told[2] and told[2]:find('not saved: no answer; :NotesRestart ', 1, true)")
    // Times depend on the machine: here is how long each wait is allowed to be.
    try scene.editor.lua(
      """
      local server, wait, longest = require('decent-notes.server'), nil, 0
      wait = server.wait
      server.wait = function(milliseconds, condition)
        longest = math.max(longest, milliseconds)
        return wait(milliseconds, condition)
      end
      vim.api.nvim_create_autocmd('VimLeave', { callback = function()
        vim.fn.writefile({ tostring(longest) }, [[\(state("longest"))]])
      end })
      """)
    try scene.editor.type(":qa!<CR>")
    #expect(try scene.editor.waitForEnd() == .status(0))
    #expect(try String(contentsOfFile: state("longest"), encoding: .utf8) == "200\n")
    #expect(scene.editor.errorText.contains("could not be sent; its text is in"))
    #expect(kill(server, 0) == -1)
  }
}
