// Notes whose lines end with CRLF, in the three editors: shown, continued, and converted as DOS files are.

import Foundation
import TestSupport
import Testing

@Suite(.waiting, .tags(.editor))
struct `A note that is a DOS file` {
  private static let text = "one\r\ntwo\r\n"

  @Test(.enabled(if: Vim.isPossible || isContinuousIntegration, "vim or tmux is missing"))
  func `is one in Vim`() throws {
    let (vim, id) = try Vim.showing(Self.text)
    func wait(_ text: String, _ lines: [String]) throws {
      try waitUntil("\(text.debugDescription), not \(try vim.text(id).debugDescription)") {
        try vim.text(id) == text
      }
      try vim.wait("g:Text()", lines.joined(separator: "\n"))
      try vim.wait("&modified", "0")
    }
    try vim.wait("&fileformat .. &modified", "dos0")
    try wait(Self.text, ["one", "two", ""])
    try vim.terminal.type("ggonew\u{1b}")
    try wait("one\r\nnew\r\ntwo\r\n", ["one", "new", "two", ""])
    // A line of somebody who ends it otherwise is a line.
    try vim.change(id) { $0 = "top\n" + $0.replacingOccurrences(of: "two", with: "2") }
    try wait("top\none\r\nnew\r\n2\r\n", ["top", "one", "new", "2", ""])
    kill(pid_t(try vim.eval("decent_notes#server#Process()"))!, SIGKILL)
    try vim.terminal.type("ggA!\u{1b}")
    try wait("top!\none\r\nnew\r\n2\r\n", ["top!", "one", "new", "2", ""])
    try vim.terminal.type("jJ")
    try wait("top!\none new\r\n2\r\n", ["top!", "one new", "2", ""])
    try vim.run("write ~/copy")
    #expect(
      try String(contentsOfFile: vim.folder("copy"), encoding: .utf8)
        == "top!\r\none new\r\n2\r\n")
    try vim.run("edit!")
    try vim.wait("&fileformat .. &modified", "dos0")
    try vim.terminal.type("u")
    try wait("top!\none\r\nnew\r\n2\r\n", ["top!", "one", "new", "2", ""])
    try vim.terminal.type(":set fileformat=unix\r:w\r")
    try wait("top!\none\nnew\n2\n", ["top!", "one", "new", "2", ""])
    try vim.terminal.type("Goend\u{1b}")
    try wait("top!\none\nnew\n2\n\nend", ["top!", "one", "new", "2", "", "end"])
    try vim.terminal.type(":set fileformat=dos\r:w\r")
    try wait("top!\r\none\r\nnew\r\n2\r\n\r\nend", ["top!", "one", "new", "2", "", "end"])
    try vim.terminal.type("Olast\u{1b}")
    try wait(
      "top!\r\none\r\nnew\r\n2\r\n\r\nlast\r\nend", ["top!", "one", "new", "2", "", "last", "end"])
    // While it is open a text without lines stays one.
    try vim.terminal.type("ggdGione\u{1b}")
    try wait("one", ["one"])
    try vim.terminal.type(":edit\rotwo\u{1b}")
    try wait("one\r\ntwo", ["one", "two"])
    let problem = try vim.eval("v:errmsg")
    #expect(problem == "")
  }

  @Test(
    .enabled(if: isNeovimReady, "nvim is missing"), arguments: Neovim.programs)
  func `is one in Neovim`(program: String) throws {
    let scene = try NeovimScene(program, text: Self.text)
    func wait(_ text: String, _ shown: String, line: Int = #line) throws {
      var there = ""
      try waitUntil(
        "line \(line): \(there.debugDescription), shown \(try scene.editor.text.debugDescription)"
      ) {
        there = try scene.stored
        return try there == text && scene.editor.text == shown
          && scene.editor.value("vim.bo.modified") == "false"
      }
    }
    try wait(Self.text, "one\ntwo\n")
    #expect(try scene.editor.value("vim.bo.fileformat") == "dos")
    try scene.editor.type("ggonew<Esc>")
    try wait("one\r\nnew\r\ntwo\r\n", "one\nnew\ntwo\n")
    try scene.set("top\none\r\nnew\r\n2\r\n")
    try wait("top\none\r\nnew\r\n2\r\n", "top\none\nnew\n2\n")
    kill(try scene.editor.serverProcess(), SIGKILL)
    try scene.editor.type("ggA!<Esc>")
    try wait("top!\none\r\nnew\r\n2\r\n", "top!\none\nnew\n2\n")
    try scene.editor.type("jJ")
    try wait("top!\none new\r\n2\r\n", "top!\none new\n2\n")
    try scene.editor.command("write \(scene.folder("copy"))")
    #expect(
      try String(contentsOfFile: scene.folder("copy"), encoding: .utf8)
        == "top!\r\none new\r\n2\r\n")
    try scene.editor.command("edit!")
    try scene.editor.type("u")
    try wait("top!\none\r\nnew\r\n2\r\n", "top!\none\nnew\n2\n")
    #expect(try scene.editor.value("vim.bo.fileformat") == "dos")
    try scene.editor.type(":set fileformat=unix<CR>:w<CR>")
    try wait("top!\none\nnew\n2\n", "top!\none\nnew\n2\n")
    try scene.editor.type("Goend<Esc>")
    try wait("top!\none\nnew\n2\n\nend", "top!\none\nnew\n2\n\nend")
    try scene.editor.type(":set fileformat=dos<CR>:w<CR>")
    try wait("top!\r\none\r\nnew\r\n2\r\n\r\nend", "top!\none\nnew\n2\n\nend")
    try scene.editor.type("Olast<Esc>")
    try wait("top!\r\none\r\nnew\r\n2\r\n\r\nlast\r\nend", "top!\none\nnew\n2\n\nlast\nend")
  }

  @Test(
    .enabled(
      if: hasTool("emacs") && Terminal.isPossible || isContinuousIntegration,
      "emacs or tmux is missing"))
  func `is one in Emacs`() throws {
    let session = try EmacsSession(Self.text)
    func wait(_ text: String, _ shown: [String]) throws {
      try session.wait(for: text)
      try session.emacs.wait("\(shown)") { Array($0.prefix(shown.count)) == shown }
    }
    try session.emacs.wait("a DOS file") { $0.contains { $0.contains("(DOS)") } }
    try wait(Self.text, ["one", "two", ""])
    try session.emacs.press("C-e", "Enter")
    try session.emacs.type("new")
    try wait("one\r\nnew\r\ntwo\r\n", ["one", "new", "two", ""])
    try session.replace("one", "top\none")
    try wait("top\none\r\nnew\r\ntwo\r\n", ["top", "one", "new", "two", ""])
    try session.emacs.press("F5", "M-<")
    try session.emacs.type("> ")
    try wait("> top\none\r\nnew\r\ntwo\r\n", ["> top", "one", "new", "two", ""])
    try session.emacs.press("C-x", "Enter", "f")
    try session.emacs.type("unix\r")
    try session.emacs.press("C-x", "C-s")
    try wait("> top\none\nnew\ntwo\n", ["> top", "one", "new", "two", ""])
    try session.emacs.press("M->")
    try session.emacs.type("end\r")
    try wait("> top\none\nnew\ntwo\nend\n", ["> top", "one", "new", "two", "end", ""])
    try session.emacs.press("C-x", "Enter", "f")
    try session.emacs.type("dos\r")
    try session.emacs.press("C-x", "C-s")
    try wait("> top\r\none\r\nnew\r\ntwo\r\nend\r\n", ["> top", "one", "new", "two", "end", ""])
    try session.emacs.press("C-x", "C-w")
    try session.emacs.press("C-a", "C-k")
    try session.emacs.type("~/copy\r")
    try waitUntil("no copy") {
      (try? String(contentsOfFile: session.folder("copy"), encoding: .utf8))
        == "> top\r\none\r\nnew\r\ntwo\r\nend\r\n"
    }
  }
}
