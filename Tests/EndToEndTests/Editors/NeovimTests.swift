import Foundation
import JSONRPC
import Testing

/// A note that is open in Neovim, and another process on the same folder.
private final class Scene {
  let folder: TemporaryFolder
  let other: Server
  let editor: Neovim
  let note: JSON

  init(
    _ program: String, text: String = "", title: String = "Shopping", setup: String = "",
    environment: [String: String?] = [:]
  ) throws {
    folder = try TemporaryFolder()
    other = try Server(folder("notes"))
    try other.initialize()
    let made = try other.call("note/create", ["title": .string(title), "text": .string(text)])
    note = .raw(made["note"]!["id"]!.written)
    editor = try Neovim(
      program, notebook: folder("notes"), in: folder, setup: setup, environment: environment)
    try open()
  }

  func open() throws { try editor.command("edit note://\(id)") }

  var id: String { String(note.text.dropFirst().dropLast()) }

  /// The note's text as the other process has it.
  var stored: String {
    get throws { try other.call("note/get", ["id": note])["text"]!.string! }
  }

  /// Replaces the text in the other process.
  func set(_ text: String) throws {
    try other.call("note/setText", ["id": note, "text": .string(text)])
  }

  /// Waits until the other process and the buffer have this text, all is acknowledged, and Neovim waits for a key.
  func expect(_ text: String, _ what: String = "", line: Int = #line) throws {
    let deadline = Date(timeIntervalSinceNow: Server.patience)
    while true {
      let (here, there) = (try editor.text, try stored)
      if here == text, there == text, try editor.value("vim.bo.modified") == "false" { return }
      guard Date() < deadline else {
        throw Failure(
          "line \(line) \(what): wanted \(text.debugDescription.prefix(300)), Neovim has "
            + "\(here.debugDescription.prefix(300)), the other process "
            + "\(there.debugDescription.prefix(300)), told \(try editor.value("vim.inspect(told)"))"
        )
      }
      usleep(3000)
    }
  }

  /// Types and waits for the text that is to come of it.
  func type(_ keys: String, _ text: String, line: Int = #line) throws {
    try editor.type(keys)
    try expect(text, keys, line: line)
  }

  /// Has the other process set a text and waits until it is shown.
  func receive(_ text: String, line: Int = #line) throws {
    try set(text)
    try expect(text, "received", line: line)
  }
}

private let ready = hasTool("nvim") || isContinuousIntegration

@Suite("The client for Neovim: live text", .enabled(if: ready, "nvim is missing"))
struct NeovimTests {
  @Test(arguments: Neovim.programs)
  func `a text is shown and kept byte for byte`(_ program: String) throws {
    let scene = try Scene(program)
    let texts = [
      "", "a", "a\n", "\n", "\r\n", "a\r\nb\r", "\u{FEFF}x",
      "\ta\u{301}\u{1F468}\u{200D}\u{1F469} é\n\n", "",
      String(repeating: "0123456789 abcdef\n", count: 60_000), "end",
    ]
    for text in texts {
      try scene.receive(text)
      // Read again, and changed here and back.
      try scene.editor.command("edit!")
      try scene.expect(text)
      try scene.type("GA\u{1F600}<Esc>", text + "\u{1F600}")
      try scene.type("x", text)
    }
    #expect(
      try scene.editor.value("vim.bo.fileformat .. tostring(vim.bo.endofline) .. vim.bo.buftype")
        == "unixfalseacwrite")
  }

  @Test(arguments: Neovim.programs)
  func `what is typed arrives elsewhere while insert mode lasts, and what others do arrives here`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "one\ntwo\nthree")
    try scene.type("2Gob", "one\ntwo\nb\nthree")
    try scene.receive("zero\none\ntwo\nb\nthree\nfour")
    try scene.type("c", "zero\none\ntwo\nbc\nthree\nfour")
    // On the very line, before and after what is being typed.
    try scene.receive("zero\none\ntwo\n>> bc <<\nthree\nfour")
    try scene.type("d", "zero\none\ntwo\n>> bcd <<\nthree\nfour")
    #expect(try scene.editor.value("vim.api.nvim_get_mode().mode") == "i")
    try scene.type("<Esc>dd", "zero\none\ntwo\nthree\nfour")
    #expect(try scene.editor.value("require('decent-notes').status()") == "connected")
  }

  @Test(arguments: Neovim.programs)
  func `two who type at once end with one text that has all of both`(_ program: String) throws {
    let scene = try Scene(program, text: "start\n")
    let client = try LiveClient(scene.other, scene.note)
    var random = Random(7)
    var typed: [String] = []
    for index in 0..<40 {
      typed.append("k\(index)")
      try scene.editor.type(
        (index == 0 ? "Go" : " ") + "k\(index)" + (index % 7 == 6 ? "<CR>" : ""))
      try client.type("w\(index)", &random)
      try client.proceed()
    }
    try scene.editor.type("<Esc>")
    do {
      try run([client]) { client.isIdle && typed.allSatisfy { client.words[$0] == 1 } }
    } catch {
      throw Failure(
        "\(error); \(String(decoding: client.text, as: UTF8.self).debugDescription), Neovim: "
          + (try scene.editor.text).debugDescription)
    }
    try scene.expect(String(decoding: client.text, as: UTF8.self))
    let words = client.words
    #expect((0..<40).allSatisfy { words["w\($0)"] == 1 && words["k\($0)"] == 1 })
  }

  @Test(arguments: Neovim.programs)
  func `cursor, marks, extmarks, folds, registers and other windows stay on their text`(
    _ program: String
  ) throws {
    let lines = (1...30).map { "line \($0) here" }
    let scene = try Scene(program, text: lines.joined(separator: "\n"))
    let editor = scene.editor
    try editor.lua(
      """
      vim.wo.foldmethod = 'manual'
      vim.cmd('20,23fold')
      vim.cmd('normal! zR')
      vim.fn.setreg('a', 'kept')
      vim.fn.cursor(12, 6)
      vim.cmd('normal! mxv$h\\27')
      space = vim.api.nvim_create_namespace('test')
      mark = vim.api.nvim_buf_set_extmark(0, space, 11, 8, {})
      folded = vim.api.nvim_buf_set_extmark(0, space, 29, 3, {})
      vim.cmd('split')
      vim.fn.cursor(12, 9)
      other = vim.fn.win_getid(vim.fn.winnr('#'))
      """)
    func state() throws -> String {
      try editor.value(
        """
        (function()
          local get = vim.api.nvim_buf_get_extmark_by_id
          local fold = {}
          for line = 1, vim.fn.line('$') do
            if vim.fn.foldlevel(line) > 0 then fold[#fold + 1] = vim.fn.getline(line) end
          end
          local function at(row, column) return vim.fn.getline(row):sub(column, column + 3) end
          local m, x = get(0, space, mark, {}), vim.api.nvim_buf_get_mark(0, 'x')
          local a, b = vim.api.nvim_buf_get_mark(0, '<'), vim.api.nvim_buf_get_mark(0, '>')
          local w = vim.api.nvim_win_get_cursor(other)
          return table.concat({ at(vim.fn.line('.'), vim.fn.col('.')), at(w[1], w[2] + 1),
            at(x[1], x[2] + 1), at(a[1], a[2] + 1), at(b[1], b[2] + 1), at(m[1] + 1, m[2] + 1),
            fold[1], fold[#fold], vim.fn.getreg('a') }, '|')
        end)()
        """)
    }
    let before = try state()
    #expect(before == "here|e|12 h|12 h|e|here|line 20 here|line 23 here|kept")
    // Above; on the line, before and after; a line split in front of the cursor; lines below.
    var now = ["new", "newer"] + lines
    try scene.receive(now.joined(separator: "\n"))
    #expect(try state() == before)
    now[13] = "the line 12 here, yes"
    try scene.receive(now.joined(separator: "\n"))
    #expect(try state() == before.replacingOccurrences(of: "|e|", with: "|e, y|"))
    now[13] = "the\nline 12 here, yes"
    now.remove(at: 1)
    now[24...25] = ["changed 24 here", "x"]
    try scene.receive(now.joined(separator: "\n"))
    #expect(try state() == before.replacingOccurrences(of: "|e|", with: "|e, y|"))
    // Within a fold: it stays whole, and no longer.
    now = (try scene.stored).components(separatedBy: "\n")
    let first = try #require(now.firstIndex(of: "line 20 here"))
    now[first] = "line 20, here"
    now[first + 2] = "line 22\nhere"
    try scene.receive(now.joined(separator: "\n"))
    #expect(
      try state()
        == "here|e, y|12 h|12 h|e, y|here|line 20, here|line 23 here|kept")
  }

  @Test(arguments: Neovim.programs)
  func `a visual selection stays on its text`(_ program: String) throws {
    let scene = try Scene(program, text: "one two three\nfour five six\nseven")
    let editor = scene.editor
    try editor.type("wvjw")
    try editor.wait("the selection", "vim.fn.mode() == 'v' and vim.fn.line('.') == 2")
    try scene.receive("zero\none, two three\nfour or five six\nseven")
    #expect(try editor.value("vim.fn.mode()") == "v")
    try editor.type("\"ay")
    try editor.wait("a yank", "vim.fn.mode() == 'n'")
    #expect(try editor.value("vim.fn.getreg('a')") == "two three\nfour or f")
  }

  @Test(arguments: Neovim.programs)
  func `undo takes back one's own, a stay in insert mode at once, and redo makes it again`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "one\ntwo")
    try scene.type("Ahello", "onehello\ntwo")
    try scene.receive("zero\nonehello\ntwo")
    try scene.type(" you<Esc>", "zero\nonehello you\ntwo")
    try scene.type("jdd", "zero\nonehello you")
    try scene.receive("zero!\nonehello you")
    try scene.type("u", "zero!\nonehello you\ntwo")
    try scene.type("u", "zero!\none\ntwo")
    try scene.type("u", "zero!\none\ntwo")
    try scene.editor.wait("the end", "vim.inspect(told):find('nothing of yours') ~= nil")
    try scene.type("2<C-r>", "zero!\nonehello you")
    try scene.type("2u", "zero!\none\ntwo")
    try scene.type("ccx<Esc>u", "zero!\none\ntwo")
  }

  @Test(arguments: Neovim.programs)
  func `with the option off, undo is Neovim's own and is sent as what it does`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "one", setup: "vim.g.decent_notes_undo = false\n")
    try scene.type("Atwo<Esc>", "onetwo")
    try scene.type("u", "one")
    try scene.type("<C-r>", "onetwo")
  }

  @Test(arguments: Neovim.programs)
  func `commands that change many lines at once arrive as they are`(_ program: String) throws {
    let lines = (0..<40).map { "w\($0) k" }
    let scene = try Scene(program, text: lines.joined(separator: "\n"))
    var now = lines
    func check(_ keys: String, line: Int = #line) throws {
      try scene.type(keys, now.joined(separator: "\n"), line: line)
    }
    now.removeAll { $0.contains("1") }
    try check(":g/1/d<CR>")
    now.insert(now.remove(at: 0), at: 4)
    try check(":1m5<CR>")
    now = now.reversed()
    try check(":g/^/m0<CR>")
    now = now.map { $0.replacingOccurrences(of: "k", with: "K") }
    try check(":%s/k/K/<CR>")
    now[0] = "<" + now[0]
    now[1] = "<" + now[1]
    now[2] = "<" + now[2]
    try check("ggqaI<lt><Esc>jq2@a")
    now[3] = "<" + now[3]
    try check(".")
    for row in 0..<3 { now[row] = "x" + now[row] }
    try check("gg<C-v>jjIx<Esc>")
    for row in 0..<3 { now[row] += "y" }
    try check("gg<C-v>jj$Ay<Esc>")
    now[0...1] = [now[0] + " " + now[1]]
    try check("ggJ")
    now = now.sorted()
    try check(":sort<CR>")
    now[0...9] = [now[0...9].joined(separator: " ")]
    try check(":set textwidth=500<CR>gggq9j")
    // The lines inserted are 10,000, and one is yanked and put as often.
    now.insert(contentsOf: (0..<10_000).map { "p\($0)" }, at: 0)
    try scene.editor.lua(
      """
      local lines = {}
      for i = 0, 9999 do lines[i + 1] = 'p' .. i end
      vim.fn.cursor(1, 1)
      vim.fn.setreg('p', lines, 'l')
      """)
    try check("\"pP")
    now.insert(contentsOf: Array(repeating: "p0", count: 10_000), at: 1)
    try check("ggyy10000p")
    // By undoing each once: nobody else was there, so this is what there was.
    now.removeSubrange(1...10_000)
    try check("u")
    now.removeSubrange(0..<10_000)
    try check("u")
    #expect(try scene.editor.value("#told") == "0")
  }

  @Test(arguments: Neovim.programs)
  func `what is pasted into a terminal arrives whole`(_ program: String) throws {
    let scene = try Scene(program, text: "a\nb")
    let pasted = (0..<10_000).map { "pasted \($0)" }.joined(separator: "\n")
    try scene.editor.type("Go")
    try scene.editor.wait("insert mode", "vim.fn.mode() == 'i'")
    try scene.editor.lua(
      """
      local lines = {}
      for i = 0, 9999 do lines[i + 1] = 'pasted ' .. i end
      return vim.api.nvim_paste(table.concat(lines, '\\n'), true, -1)
      """)
    try scene.expect("a\nb\n" + pasted)
  }

  @Test(arguments: Neovim.programs)
  func `pushes wait while an operator, a block or a question does`(_ program: String) throws {
    let scene = try Scene(program, text: "one one\ntwo\nthree\nfour")
    let editor = scene.editor
    func set(_ text: String) throws {
      try scene.set(text)
      try editor.wait("a push", "require('decent-notes.note').of().asking ~= nil")
    }
    try editor.type("2Gd")
    try editor.wait("the operator", "vim.api.nvim_get_mode().mode == 'no'")
    try set("zero\none one\ntwo\nthree\nfour")
    try scene.type("d", "zero\none one\nthree\nfour")

    try editor.type("2G<C-v>jI")
    try editor.wait("insert mode", "vim.fn.mode() == 'i'")
    try set("-1\nzero\none one\nthree\nfour")
    try scene.type("> <Esc>", "-1\nzero\n> one one\n> three\nfour")

    // An older Neovim hears of nothing while it asks.
    guard try editor.value("vim.fn.has('nvim-0.8')") == "1" else { return }
    try editor.type(":%s/o/0/gc<CR>y")
    try editor.wait("the question", "vim.api.nvim_get_mode().mode:sub(1, 1) == 'r'")
    try set("-2\n-1\nzero\n> one one\n> three\nfour")
    try scene.type("yyq", "-2\n-1\nzer0\n> 0ne 0ne\n> three\nfour")
  }

  @Test(arguments: Neovim.programs)
  func `bytes that no note can have are replaced, and the user is told`(_ program: String) throws {
    let scene = try Scene(program, text: "a")
    try scene.editor.lua(
      "vim.api.nvim_buf_set_lines(0, 0, 1, true, { 'b\\255\\0é\\237\\160\\128' })")
    try scene.expect("b\u{FFFD}\u{FFFD}é\u{FFFD}\u{FFFD}\u{FFFD}")
    #expect(try scene.editor.value("told[1]").contains("U+FFFD"))
    try scene.type("Ac<Esc>", "b\u{FFFD}\u{FFFD}é\u{FFFD}\u{FFFD}\u{FFFD}c")
  }

  @Test(arguments: Neovim.programs)
  func `an edit that was missed is found and mended`(_ program: String) throws {
    let scene = try Scene(program, text: "one\ntwo")
    // As if Neovim had not told of it.
    try scene.editor.lua(
      """
      local note = require('decent-notes.note').of()
      note.applying = true
      vim.fn.setline(2, 'TWO')
      note.applying = false
      """)
    try scene.type("Ax<Esc>", "onex\nTWO")
    try scene.editor.lua(
      """
      local note = require('decent-notes.note').of()
      note.applying = true
      vim.fn.setline(2, 'Two')
      note.applying = false
      """)
    try scene.set("zero\nonex\nTWO")
    try scene.expect("zero\nonex\nTwo")
  }

  @Test(arguments: Neovim.programs)
  func `a long text is checked when the typing pauses`(_ program: String) throws {
    let long = String(repeating: "long line of text\n", count: 20_000)
    let scene = try Scene(program, text: long)
    try scene.type("ix<Esc>", "x" + long)
    let sends = "require('decent-notes.note').of().version"
    try scene.editor.wait("a change of nothing", "\(sends) == 2")
    // Missed, and of the same length: only the hash can tell.
    try scene.editor.lua(
      """
      local note = require('decent-notes.note').of()
      note.applying = true
      vim.fn.setline(2, 'LONG line of text')
      note.applying = false
      """)
    try scene.type("x", "long line of text\nLONG" + long.dropFirst(22))
  }
}
