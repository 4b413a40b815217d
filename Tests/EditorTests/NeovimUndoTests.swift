import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting, .tags(.editor), .enabled(if: isNeovimReady, "nvim is missing"))
struct `The client for Neovim: undo among other keys` {
  /// Keys in which the undo of a deletion of the second line is followed by a line below it.
  static let ways = [
    "2Gddujox<Esc>", "2G<F2>", "2G@a", ":normal 2Gddujox<CR>", ":call Keys()<CR>",
  ]

  private static let setup = """
    vim.cmd([[
      nmap <F2> ddujox<Esc>
      let @a = "ddujox\\<Esc>"
      function Keys()
        normal 2Gdd
        normal u
        normal jox
      endfunction
    ]])

    """

  @Test(arguments: Neovim.programs, ways)
  func `keys behind u act on what it has brought back`(_ program: String, _ keys: String) throws {
    let scene = try NeovimScene(program, text: "one\ntwo\nthree\nfour", setup: Self.setup)
    try scene.type(keys, "one\ntwo\nthree\nx\nfour")
    #expect(try scene.editor.value("told_of_notes()") == "")
  }

  @Test(arguments: Neovim.programs, ways)
  func `keys behind u wait for a server that is stopped`(_ program: String, _ keys: String) throws {
    let scene = try NeovimScene(program, text: "one\ntwo\nthree\nfour", setup: Self.setup)
    let server = try scene.editor.serverProcess()
    kill(server, SIGSTOP)
    try scene.editor.type(keys)
    try scene.editor.wait("the deletion", "text() == 'one\\nthree\\nfour'")
    try scene.editor.wait("silence", "require('decent-notes').status():find('NotesRestart')")
    #expect(try scene.editor.text == "one\nthree\nfour")
    kill(server, SIGCONT)
    try scene.expect("one\ntwo\nthree\nx\nfour")
  }

  @Test(arguments: Neovim.programs)
  func `u in Insert mode and redo act in order with what is typed`(_ program: String) throws {
    let scene = try NeovimScene(program, text: "one\ntwo\nthree")
    try scene.type("2Gdd", "one\nthree")
    try scene.type("ix<C-o>uy<Esc>", "one\nythree")
    try scene.type("u<C-r>Az<Esc>", "one\nythreez")
  }

  @Test(arguments: Neovim.programs)
  func `an undo that comes after its user has given up waiting leaves the cursor alone`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "one\ntwo\nthree\nfour")
    try scene.type("2Gdd", "one\nthree\nfour")
    let server = try scene.editor.serverProcess()
    // As CTRL-C does.
    try scene.editor.lua(
      """
      local server = require('decent-notes.server')
      local await = server.await
      server.await = function() server.await = await return false end
      """)
    kill(server, SIGSTOP)
    try scene.editor.type("uGA!")
    try scene.editor.wait("the text", "text() == 'one\\nthree\\nfour!'")
    kill(server, SIGCONT)
    try scene.expect("one\ntwo\nthree\nfour!")
    try scene.type("?", "one\ntwo\nthree\nfour!?")
  }

  @Test(arguments: Neovim.programs, ["2G<F2>", "2G@a"])
  func `keys behind a u that cannot be done are not typed`(_ program: String, _ keys: String) throws
  {
    let scene = try NeovimScene(program, text: "one\ntwo\nthree\nfour", setup: Self.setup)
    try scene.editor.lua("vim.g.decent_notes_command = '/nonexistent/program'")
    kill(try scene.editor.serverProcess(), SIGKILL)
    try scene.editor.wait("offline", "require('decent-notes').status() == 'offline'")
    try scene.editor.type(keys)
    try scene.editor.wait(
      "why not", "vim.fn.execute('messages'):find('nothing can be taken back now')")
    try scene.editor.type("A!<Esc>")
    try scene.editor.wait("the text", "text() == 'one\\nthree!\\nfour'")
  }

  @Test(arguments: Neovim.programs)
  func `u takes back another title, and says it when nothing is left`(_ program: String) throws {
    let scene = try NeovimScene(program, text: "one")
    try scene.editor.command("NoteTitle Other")
    try scene.editor.wait("the title", "require('decent-notes').title() == 'Other'")
    try scene.editor.type("u")
    try scene.editor.wait("the title", "require('decent-notes').title() == 'Shopping'")
    try scene.editor.type("uAx<Esc>")
    try scene.expect("onex")
    try scene.editor.wait("nothing", "told[#told]:find('nothing of yours to take back')")
  }

  @Test(arguments: Neovim.programs)
  func `a change of every line is undone at once, and places stay at their text`(
    _ program: String
  ) throws {
    let lines = (1...2000).map { "line \($0)" }
    let text = lines.joined(separator: "\n")
    let scene = try NeovimScene(program, text: text)
    try scene.editor.lua(
      """
      vim.wo.foldmethod = 'manual'
      vim.cmd('30,40fold | 20mark b')
      vim.api.nvim_win_set_cursor(0, { 1000, 5 })
      vim.api.nvim_buf_set_mark(0, 'a', 500, 5, {})
      local mark = vim.api.nvim_create_namespace('test')
      id = vim.api.nvim_buf_set_extmark(0, mark, 699, 5, {})
      function places()
        local row = vim.api.nvim_buf_get_extmark_by_id(0, mark, id, {})[1]
        return table.concat(vim.tbl_flatten({
          vim.api.nvim_win_get_cursor(0), vim.api.nvim_buf_get_mark(0, 'a'), vim.api.nvim_buf_get_mark(0, 'b'),
          row, vim.fn.foldclosed(35), vim.fn.foldclosedend(35),
        }), ' ')
      end
      """)
    // Some lines get two pieces, and two are parted from the others by lines that stay.
    try scene.receive(
      lines.enumerated().map { index, line in
        index == 900 || index == 1900
          ? line : "> " + line.replacing("line", with: index % 7 == 0 ? "line é" : "line")
      }.joined(separator: "\n"))
    #expect(try scene.editor.value("places()") == "1000 7 500 7 20 2 699 30 40")
    try scene.receive(text)
    #expect(try scene.editor.value("places()") == "1000 5 500 5 20 0 699 30 40")
    try scene.editor.command("%s/line/another line/")
    try scene.expect(text.replacing("line", with: "another line"))
    try scene.type("u", text)
    // Edits that are made one by one go through many more calls than those that are made at once.
    try scene.editor.lua(
      """
      local set_text = vim.api.nvim_buf_set_text
      calls = 0
      vim.api.nvim_buf_set_text = function(...)
        calls = calls + 1
        return set_text(...)
      end
      """)
    try scene.editor.command("%s/^/\t/")
    try scene.expect(lines.map { "\t" + $0 }.joined(separator: "\n"))
    try scene.type("u", text)
    #expect(try scene.editor.value("calls") == "0")
  }

  @Test(arguments: Neovim.programs)
  func `places between two changes of one line stay there, in however many lines`(
    _ program: String
  ) throws {
    func lines(_ line: String) -> String {
      Array(repeating: line, count: 250).joined(separator: "\n")
    }
    let scene = try NeovimScene(program, text: lines("ab é e f g cd"))
    try scene.editor.lua(
      """
      vim.api.nvim_win_set_cursor(0, { 100, 5 })
      vim.api.nvim_buf_set_mark(0, 'a', 50, 3, {})
      """)
    let places =
      "vim.inspect({vim.api.nvim_win_get_cursor(0), vim.api.nvim_buf_get_mark(0, 'a')})"
    // The first push has two ranges of each line, the second has lines.
    try scene.receive(lines("a1b é e f g c2d"))
    #expect(try scene.editor.value(places) == "{ { 100, 6 }, { 50, 4 } }")
    try scene.receive(lines("ab é e f g c2d"))
    #expect(try scene.editor.value(places) == "{ { 100, 5 }, { 50, 3 } }")
  }
}
