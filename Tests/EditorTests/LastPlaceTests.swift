// The place at which a note was left, after the editor was started again, as with files.

import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting, .tags(.editor))
struct `The last place in a note` {
  private static let text = (1...60).map { "line \($0)\n" }.joined()
  /// A line that many people have in their settings.
  private static let jump =
    #"au BufReadPost * if line("'\"") > 0 && line("'\"") <= line("$") | exe "normal! g`\"" | endif"#

  /// Opens the note twice in an editor that `start` starts, and leaves it in line 17 the first time.
  private func check(_ start: (TemporaryFolder) throws -> Terminal) throws {
    let folder = TemporaryFolder()
    let other = try Server(folder("notes"))
    try other.initialize()
    let note = try other.call("note/create", ["title": "Note", "text": .string(Self.text)])
    let id = note["note"]!["id"]!.string!
    for line in [1, 17] {
      let terminal = try start(folder)
      try terminal.wait("started") { $0.contains { $0.contains("[No Name]") } }
      try terminal.type(":edit note://\(id)\r")
      try terminal.wait("the note") { $0.contains { $0.contains("connected") } }
      try terminal.type(":echo 'here' line('.') v:oldfiles->len()\r")
      let count = line == 1 ? 0 : 1
      try terminal.wait("line \(line)") { $0.last == "here \(line) \(count)" }
      if line == 17 {
        try terminal.type(":enew | edit #<1\r")
        try terminal.type(":echo 'again' line('.') bufname()[:6]\r")
        try terminal.wait("the note by its number") { $0.last == "again 17 note://" }
      }
      try terminal.type("17G:qa\r")
      try terminal.waitForEnd()
    }
  }

  @Test(.enabled(if: Vim.isPossible || isContinuousIntegration, "vim or tmux is missing"))
  func `is that of before in Vim`() throws {
    try check { folder in
      let settings = """
        set nocompatible laststatus=2
        set runtimepath^=\(Vim.plugin)
        filetype plugin on
        \(Self.jump)
        """
      try settings.write(toFile: folder("vimrc"), atomically: true, encoding: .utf8)
      return try Terminal(
        "vim -n -i \(folder("viminfo")) -u \(folder("vimrc"))",
        environment: [
          "DECENT_NOTES": folder("notes"), "HOME": folder.path, "XDG_STATE_HOME": folder("state"),
        ])
    }
  }

  @Test(
    .enabled(
      if: isNeovimReady && Terminal.isPossible || isContinuousIntegration, "nvim is missing"),
    arguments: Neovim.programs)
  func `is that of before in Neovim`(program: String) throws {
    try check { folder in
      let settings = Neovim.settings(notebook: folder("notes")) + "vim.cmd([[\(Self.jump)]])"
      try settings.write(toFile: folder("init.lua"), atomically: true, encoding: .utf8)
      return try Terminal(
        "\(program) -n -i \(folder("shada")) -u \(folder("init.lua"))",
        environment: ["HOME": folder.path, "XDG_STATE_HOME": folder("state")])
    }
  }

  @Test(
    .enabled(
      if: hasTool("emacs") && Terminal.isPossible || isContinuousIntegration,
      "emacs or tmux is missing"))
  func `is that of before in Emacs`() throws {
    let start = "(progn (save-place-mode) (column-number-mode) (decent-notes-open \"Note\"))"
    let session = try EmacsSession([("Note", Self.text)], start: start)
    try session.emacs.wait("line 1") { $0.contains { $0.contains("(1,0)") } }
    try session.emacs.press("M-g", "g")
    try session.emacs.type("17\r")
    try session.emacs.wait("line 17") { $0.contains { $0.contains("(17,0)") } }
    try session.quit()
    let again = try session.again(start: start)
    try again.wait("line 17") { $0.contains { $0.contains("(17,0)") } }
    // Also when only its buffer was closed.
    try again.press("M-g", "g")
    try again.type("20\r")
    try again.press("C-x", "k", "Enter")
    try again.press("M-x")
    try again.type("decent-notes-open\rNote\r")
    try again.wait("line 20") { $0.contains { $0.contains("(20,0)") } }
  }
}
