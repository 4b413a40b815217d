import Foundation
import JSONRPC
import TestSupport
import Testing

private typealias Scene = NeovimScene
private let ready = isNeovimReady

@Suite(.waiting, .tags(.editor), .enabled(if: ready, "nvim is missing"))
struct `The client for Neovim: live text` {
  @Test(arguments: Neovim.programs)
  func `a text is shown and kept byte for byte`(_ program: String) throws {
    let scene = try Scene(program)
    let texts = [
      "", "a", "a\n", "\n", "\r\n", "a\r\nb\r", "\u{FEFF}x",
      "\ta\u{301}\u{1F468}\u{200D}\u{1F469} é\n\n", "",
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
        == "unixfalse")
    let long = String(repeating: "0123456789 abcdef\n", count: 60_000)
    try scene.set(long)
    try scene.editor.wait("1 MB", "vim.fn.line('$') == 60001")
    try scene.editor.type("GAx<Esc>")
    try scene.editor.wait(
      "an acknowledgement", "vim.fn.getline('$') == 'x' and not vim.bo.modified")
    try scene.expect(long + "x")
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
    // Where lines begin and end: what others put above and below is no part of the line that is typed into.
    try scene.type("Go", "zero\none\ntwo\nthree\nfour\n")
    try scene.receive("zero\none\ntwo\nthree\nfour\nabove\n")
    try scene.receive("zero\none\ntwo\nthree\nfour\nabove\n\nbelow")
    try scene.type("x", "zero\none\ntwo\nthree\nfour\nabove\nx\nbelow")
    try scene.receive("zero\none\ntwo\nthree\nfour\nabove\nx\nfirst below\nbelow")
    try scene.type("y", "zero\none\ntwo\nthree\nfour\nabove\nxy\nfirst below\nbelow")
    try scene.receive("xy\nfirst below\nbelow")
    try scene.type("z<Esc>", "xyz\nfirst below\nbelow")
    #expect(try scene.editor.value("require('decent-notes').status()") == "connected")
  }

  @Test(arguments: Neovim.programs)
  func `two who type at once end with one text that has all of both`(_ program: String) throws {
    // Indentation would remove blanks of others.
    let scene = try Scene(program, text: "start\n", setup: "vim.o.autoindent = false\n")
    let client = try AttachedClient(scene.other, scene.note)
    var random = SplitMix64(seed: 7)
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
    var after = try state()
    #expect(after == before)
    now[13] = "the line 12 here, yes"
    try scene.receive(now.joined(separator: "\n"))
    after = try state()
    #expect(after == before.replacingOccurrences(of: "|e|", with: "|e, y|"))
    now[13] = "the\nline 12 here, yes"
    now.remove(at: 1)
    now[24...25] = ["changed 24 here", "x"]
    try scene.receive(now.joined(separator: "\n"))
    after = try state()
    #expect(after == before.replacingOccurrences(of: "|e|", with: "|e, y|"))
    // Within a fold: it stays whole, and no longer.
    now = (try scene.stored).components(separatedBy: "\n")
    let first = try #require(now.firstIndex(of: "line 20 here"))
    now[first] = "line 20, here"
    now[first + 2] = "line 22\nhere"
    try scene.receive(now.joined(separator: "\n"))
    after = try state()
    #expect(after == "here|e, y|12 h|12 h|e, y|here|line 20, here|line 23 here|kept")
  }

  @Test(arguments: Neovim.programs)
  func `a window does not scroll when others change the beginning of the text`(
    _ program: String
  ) throws {
    let lines = (1...90).map { "line \($0)" }
    let scene = try Scene(program, text: lines.joined(separator: "\n"))
    try scene.editor.command("normal! 50Gzt7j")
    func shown() throws -> String {
      try scene.editor.value("vim.fn.getline('w0') .. ' to ' .. vim.fn.getline('.')")
    }
    try scene.receive((["new", "newer"] + lines).joined(separator: "\n"))
    #expect(try shown() == "line 50 to line 57")
    try scene.receive(lines.dropFirst(5).joined(separator: "\n"))
    #expect(try shown() == "line 50 to line 57")
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
    // CTRL-C ends insert mode too, without saying so by InsertLeave.
    for (keys, text) in [("GAx", "twox"), ("<C-c>", "twox"), ("Ay", "twoxy"), ("<C-c>", "twoxy")] {
      try scene.type(keys, "zero!\none\n" + text)
      if keys == "<C-c>" { try scene.editor.wait("normal mode", "vim.fn.mode() == 'n'") }
    }
    try scene.type("u", "zero!\none\ntwox")
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
    #expect(try scene.editor.value("told_of_notes()") == "")
    // Each was understood at once: the whole text was never needed.
    #expect(try scene.editor.value("require('decent-notes.note').of().whole") == "0")
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
  func `what others change is no place to go back to, and one's own last places stay`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "one\ntwo\nthree\nfour")
    try scene.type("3GAx<Esc>gg", "one\ntwo\nthreex\nfour")
    try scene.receive("ONE\ntwo\n> threex\nfour\nfive")
    for keys in ["g;", "gi", "<Esc>gg`."] {
      try scene.editor.type(keys)
      try scene.editor.wait(keys, "vim.fn.line('.') == 3")
    }
  }

  @Test(arguments: Neovim.programs)
  func `undoing the deletion of the last line goes to that line`(_ program: String) throws {
    let scene = try Scene(program, text: "one\ntwo\nthree")
    try scene.type("Gddgg", "one\ntwo")
    try scene.type("u", "one\ntwo\nthree")
    #expect(try scene.editor.value("vim.fn.line('.') .. ',' .. vim.fn.col('.')") == "3,1")
  }

  @Test(arguments: Neovim.programs)
  func `pushes wait while an operator, a completion, a block or a question does`(_ program: String)
    throws
  {
    let scene = try Scene(program, text: "one one\ntwo\nthree\nfour")
    let editor = scene.editor
    func set(_ text: String) throws {
      try scene.set(text)
      let note = "require('decent-notes.note').of()"
      try editor.wait("a push", "\(note).skipped == \(note).version")
    }
    try editor.type("2Gd")
    try editor.wait("the operator", "vim.api.nvim_get_mode().mode == 'no'")
    try set("zero\none one\ntwo\nthree\nfour")
    try scene.type("d", "zero\none one\nthree\nfour")

    try editor.type("2G<C-v>jI")
    try editor.wait("insert mode", "vim.fn.mode() == 'i'")
    try set("-1\nzero\none one\nthree\nfour")
    try scene.type("> <Esc>", "-1\nzero\n> one one\n> three\nfour")

    // Without a menu too, as there is nothing to choose from.
    try scene.type("GoXxx<CR>X<C-x><C-n>", "-1\nzero\n> one one\n> three\nfour\nXxx\nXxx")
    try set("-1\nzero\n> one one\n> three\nfour\nXxx\n>> Xxx")
    try editor.type("<C-p>")
    try editor.wait("what was typed", "vim.fn.getline('.') == 'X'")
    try editor.type("<Esc>")
    try editor.wait("the push", "vim.fn.getline('.'):find('>> ')")
    try scene.receive("-1\nzero\n> one one\n> three\nfour")

    // An older Neovim hears of nothing while it asks.
    guard try editor.value("vim.fn.has('nvim-0.8')") == "1" else { return }
    try editor.type(":%s/o/0/gc<CR>")
    try editor.wait("the question", "vim.api.nvim_get_mode().mode:sub(1, 1) == 'r'")
    try set("-2\n-1\nzero\n> one one\n> three\nfour")
    try scene.type("yyyq", "-2\n-1\nzer0\n> 0ne 0ne\n> three\nfour")
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
      note.is_applying = true
      vim.fn.setline(2, 'TWO')
      note.is_applying = false
      """)
    try scene.type("Ax<Esc>", "onex\nTWO")
    try scene.editor.lua(
      """
      local note = require('decent-notes.note').of()
      note.is_applying = true
      vim.fn.setline(2, 'Two')
      note.is_applying = false
      """)
    try scene.set("zero\nonex\nTWO")
    try scene.expect("zero\nonex\nTwo")
  }

  @Test(arguments: Neovim.programs)
  func `two refused changes are mended by one whole text, without a word`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "one\ntwo")
    let note = "require('decent-notes.note').of()"
    // As if Neovim had not told of it: no hash fits any more.
    try scene.editor.lua(
      """
      local note = \(note)
      note.is_applying = true
      vim.fn.setline(2, 'TWO')
      note.is_applying = false
      """)
    let server = try scene.editor.serverProcess()
    kill(server, SIGSTOP)
    defer { kill(server, SIGCONT) }
    for (version, letter) in ["x", "y"].enumerated() {
      try scene.editor.type("A\(letter)<Esc>")
      try scene.editor.wait("a change", "\(note).version == \(version + 1)")
    }
    kill(server, SIGCONT)
    try scene.expect("onexy\nTWO")
    #expect(try scene.editor.value("\(note).whole") == "3")
    #expect(try scene.editor.value("told_of_notes()") == "")
  }

  @Test(arguments: Neovim.programs)
  func `a change that is refused is told once, and its text sent whole with the next`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "one")
    try scene.editor.lua(
      """
      server = require('decent-notes.server')
      request, refusals = server.request, 0
      function server.request(method, params, callback)
        if method ~= 'note/change' then return request(method, params, callback) end
        refusals = refusals + 1
        vim.schedule(function()
          callback({ code = -32803, message = 'The disk is full.', data = { reason = 'diskFull' } })
        end)
      end
      """)
    try scene.editor.type("Ax<Esc>")
    try scene.editor.wait("a refusal", "refusals == 1 and #told == 1")
    try scene.editor.type("Ay<Esc>")
    try scene.editor.wait("a refusal", "refusals == 2")
    #expect(try scene.editor.value("told[1]") == "Decent Notes: The disk is full.")
    #expect(try scene.editor.value("#told") == "1")
    #expect(try scene.editor.value("vim.bo.modified") == "true")
    #expect(try scene.stored == "one")
    // There is room again: the server says so.
    try scene.editor.lua("server.request = request")
    try scene.editor.lua("server.on['window/showMessage']({ type = 3, message = 'Room.' })")
    try scene.expect("onexy")
    try scene.receive("zero\nonexy")
  }

  @Test(arguments: Neovim.programs)
  func
    `a message of the server never makes Neovim wait for a key, and waits for insert mode to end`(
      _ program: String
    ) throws
  {
    let scene = try Scene(program, text: "one")
    try scene.editor.lua(
      "require('decent-notes.server').on['window/showMessage']({ type = 2, message = ('long '):rep(100) })"
    )
    #expect(try scene.editor.value("#told == 1 and #told[1] < vim.o.columns - 12") == "true")
    // Where Neovim says in which mode it is, nobody would see it.
    try scene.editor.type("A")
    try scene.editor.wait("insert mode", "vim.fn.mode() == 'i'")
    try scene.editor.lua(
      "require('decent-notes.server').on['window/showMessage']({ type = 2, message = 'later' })")
    #expect(try scene.editor.value("#told") == "1")
    try scene.editor.type("<Esc>")
    try scene.editor.wait("the message", "told[2] == 'Decent Notes: later'")
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
      note.is_applying = true
      vim.fn.setline(2, 'LONG line of text')
      note.is_applying = false
      """)
    try scene.type("x", "long line of text\nLONG" + long.dropFirst(22))
  }

  @Test(arguments: Neovim.programs)
  func `what is typed into a long text is undone at once, with pauses too, where the cursor goes`(
    _ program: String
  ) throws {
    let long = String(repeating: "long line of text\n", count: 20_000)
    let scene = try Scene(program, text: long)
    try scene.type("jjix", "long line of text\nlong line of text\nx" + long.dropFirst(36))
    try scene.editor.wait("the hash", "require('decent-notes.note').of().answered == 2")
    try scene.type("y<Esc>gg", "long line of text\nlong line of text\nxy" + long.dropFirst(36))
    try scene.type("u", long)
    #expect(try scene.editor.value("vim.fn.line('.')") == "3")
  }

  @Test(arguments: Neovim.programs)
  func `a push right behind the answer that opens a note is applied`(_ program: String) throws {
    let scene = try Scene(program, text: "one")
    try scene.editor.command("bdelete")
    // Another change of this very process: its push comes as soon as the note is open.
    try scene.editor.lua(
      """
      server = require('decent-notes.server')
      request = server.request
      function server.request(method, params, callback)
        request(method, params, callback)
        if method == 'note/open' then
          request('note/append', { id = params.id, text = ' two' })
        end
      end
      -- Who waits for the one answer gets all of them.
      wait = server.wait
      function server.wait(milliseconds, condition)
        return wait(milliseconds, condition) and (vim.wait(200, function() return false end) or true)
      end
      """)
    try scene.open()
    try scene.expect("one two")
  }
}

@Suite(.waiting, .tags(.editor), .enabled(if: ready, "nvim is missing"))
struct `The client for Neovim: buffers, commands, the list` {
  @Test(arguments: Neovim.programs)
  func `two windows on a buffer are one attachment, and so is opening a note again`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "one\ntwo")
    try scene.editor.command("split")
    try scene.editor.command("edit note://\(scene.id)/another_name")
    try scene.editor.wait("one buffer", "#vim.fn.win_findbuf(vim.fn.bufnr()) == 2")
    try scene.type("x", "ne\ntwo")
    try scene.receive("zero\nne\ntwo")
    #expect(try scene.editor.value("require('decent-notes.note').of().attachment") == "1")
  }

  @Test(arguments: Neovim.programs)
  func `a note that is read again, closed and opened stays attached`(_ program: String) throws {
    let scene = try Scene(program, text: "one")
    try scene.type("Ax<Esc>", "onex")
    try scene.editor.command("edit!")
    try scene.receive("onexy")
    try scene.type("Az<Esc>", "onexyz")
    // In one go: what was not sent yet is sent before the attachment is closed.
    try scene.editor.lua("vim.cmd('normal! A!') vim.cmd('bdelete!')")
    try scene.editor.command("enew")
    try scene.open()
    try scene.expect("onexyz!")
    try scene.receive("again\nonexyz!")
    try scene.editor.lua("vim.cmd('normal! GA?') vim.cmd('bwipeout!')")
    try scene.open()
    try scene.expect("again\nonexyz!?")
  }

  @Test(arguments: Neovim.programs)
  func `a session brings notes back, and another name makes a buffer one of a file`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "one\ntwo")
    let (session, file) = (scene.folder("session.vim"), scene.folder("file"))
    try scene.editor.command("mksession \(session)")
    try scene.editor.command("bwipeout")
    try scene.editor.command("source \(session)")
    try scene.type("Ax<Esc>", "onex\ntwo")
    try scene.editor.command("saveas \(file)")
    try scene.editor.type("Ay<Esc>:write<CR>")
    try scene.editor.wait("a buffer like others", "not vim.bo.modified and text() == 'onexy\\ntwo'")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "onexy\ntwo")
    #expect(try scene.stored == "onex\ntwo")
    try scene.editor.type("u")
    try scene.editor.wait("Neovim's own undo", "text() == 'onex\\ntwo'")
  }

  @Test(arguments: Neovim.programs)
  func `writing says when all is on disk, and modified is what is not acknowledged`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "one")
    try scene.editor.lua("vim.cmd('normal! Atwo') modified = vim.bo.modified vim.cmd('write')")
    #expect(try scene.editor.value("modified") == "true")
    #expect(try scene.editor.value("vim.bo.modified") == "false")
    #expect(try scene.editor.value("told[1]") == "Decent Notes: \"Shopping\" written")
    #expect(try scene.stored == "onetwo")
    try scene.editor.type("Ax<Esc>:wq<CR>")
    #expect(try scene.editor.waitForEnd() == .status(0))
    #expect(try scene.stored == "onetwox")
  }

  @Test(arguments: Neovim.programs)
  func `quitting sends what is unsent`(_ program: String) throws {
    let scene = try Scene(program, text: "one")
    // Not even an event of Neovim's between the last change and the end.
    try scene.editor.type(":execute 'normal! Atwo' | qall<CR>")
    #expect(try scene.editor.waitForEnd() == .status(0))
    #expect(try scene.stored == "onetwo")
    let again = try Neovim(program, notebook: scene.folder("notes"), in: scene.folder)
    try again.command("edit note://\(scene.id)")
    try again.type(":execute 'normal! Athree' | qall!<CR>")
    #expect(try again.waitForEnd() == .status(0))
    #expect(try scene.stored == "onetwothree")
  }

  @Test(arguments: Neovim.programs)
  func `what cannot be sent when Neovim quits is kept in a file`(_ program: String) throws {
    let folder = TemporaryFolder()
    let scene = try Scene(
      program, text: "one", setup: "vim.g.decent_notes_command = [[\(folder("program"))]]\n",
      environment: ["XDG_STATE_HOME": folder("state")], link: folder("program"))
    unlink(folder("program"))
    kill(try scene.editor.serverProcess(), SIGKILL)
    try scene.editor.wait("offline", "require('decent-notes').status() == 'offline'")
    try scene.editor.type("Atwo<Esc>")
    try scene.editor.wait("the text", "text() == 'onetwo' and vim.bo.modified")
    try scene.editor.type(":qall!<CR>")
    #expect(try scene.editor.waitForEnd() == .status(0))
    let unsent = folder("state") + "/decent-notes/unsent"
    let files = try FileManager.default.contentsOfDirectory(atPath: unsent)
    let file = try #require(files.first { $0.hasSuffix(".txt") })
    #expect(files.count == 2 && files.allSatisfy { $0.hasPrefix(scene.id) })
    let path = "\(unsent)/\(file)"
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "onetwo")
    #expect(scene.editor.errorText.contains(path))
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(stat(unsent, &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test(arguments: Neovim.programs)
  func `errors are told in one line, and Neovim stays usable`(_ program: String) throws {
    let folder = TemporaryFolder()
    try "no folder".write(toFile: folder("file"), atomically: true, encoding: .utf8)
    let editor = try Neovim(
      program, notebook: folder("file"), in: folder,
      setup: "vim.g.decent_notes_command = 'no-such-program'\n")
    func told(_ text: String, line: Int = #line) throws {
      let messages = try editor.value("table.concat(told, '\\n--\\n')")
      guard messages.contains(text), !messages.replacing("\n--\n", with: "").contains("\n") else {
        throw Failure("line \(line): told \(messages)")
      }
      try editor.lua("told = {}")
    }
    try editor.command("Notes")
    try told("no-such-program cannot be started")
    try editor.command("edit note://x")
    try told("no-such-program cannot be started")
    try editor.lua("vim.g.decent_notes_command = { 'sh', '-c', 'exit 3' }")
    try editor.command("Notes")
    try told("has ended")
    try editor.lua("vim.g.decent_notes_command = nil")
    try editor.command("NoteNew x")
    try told("Decent Notes: Not a directory")
    try editor.lua("vim.g.decent_notes_notebook = [[\(folder("notes"))]]")
    try editor.command("Note nothing")
    try told("no such note; :NoteNew makes one (\"nothing\")")
    try editor.command("NoteHistory")
    try told("this is no note")
    try editor.command("edit note://nothing")
    try told("there is no note")
    #expect(try editor.value("vim.bo.modifiable") == "false")
    try editor.command("write")
    try told("shows no note")
    try editor.command("set nohidden | enew | call setline(1, 'a file')")
    for command in ["Notes", "NotesLog", "NoteNew zero"] {
      try editor.command(command)
      try told("Decent Notes: E37")
    }
    try editor.command("enew! | set hidden")
    try editor.command("NoteNew one")
    try editor.command("NotePriority highest")
    try told("priority")
    try editor.command("NoteTag +a b")
    try told("either")
    #expect(try editor.value("told_of_notes()") == "")
  }

  @Test(arguments: Neovim.programs)
  func `commands open, make and change notes, and complete`(_ program: String) throws {
    let scene = try Scene(program, text: "text", title: "Über alles")
    let editor = scene.editor
    try scene.other.call("note/create", ["title": "Twice", "text": "first", "tags": ["garden"]])
    try scene.other.call("note/create", ["title": "Twice", "text": "second"])
    func note() throws -> JSONValue {
      try scene.other.call("note/get", ["id": scene.note])["note"]!
    }
    func completed(_ line: String) throws -> String {
      try editor.value("table.concat(vim.fn.getcompletion(\(luaString(line)), 'cmdline'), '|')")
    }
    #expect(try completed("Note Ü") == "Über alles")
    #expect(try completed("Note Über a").hasSuffix("alles"))
    #expect(try completed("Note t") == "Twice")
    #expect(try completed("NoteTag +g") == "+garden")
    #expect(try completed("NoteTag wo") == "work")
    #expect(try completed("NotePriority ") == "low|normal|high")
    #expect(try completed("Note").contains("NoteHistory"))

    try editor.command("enew")
    try editor.command("Note Über alles")
    let name = "note://\(scene.id.prefix(10))/Über-alles"
    #expect(try editor.value("vim.api.nvim_buf_get_name(0)") == name)
    try editor.command("NoteTag +a -b +home")
    try editor.command("NotePriority high")
    try editor.command("NoteTitle New | title")
    #expect(try note()["tags"]!.written == #"["a","home"]"#)
    #expect(try note()["priority"]!.string == "high")
    #expect(try note()["title"]!.string == "New | title")
    #expect(try editor.value("require('decent-notes').title()") == "New | title")
    try editor.command("NoteTag b c")
    #expect(try note()["tags"]!.written == #"["b","c"]"#)
    try scene.other.call("note/update", ["id": scene.note, "title": "Elsewhere"])
    try editor.wait("the title", "require('decent-notes').title() == 'Elsewhere'")

    try scene.type("ggOnew<Esc>", "new\ntext")
    try editor.command("NoteHistory")
    #expect(try editor.text.contains("+8 -0") || editor.text.contains("+4 -0"))
    try editor.type("G<CR>")
    try editor.wait("the past", "text():find('text') and not vim.bo.modifiable")

    try editor.type(":Note Twice<CR>2<CR>")
    try editor.wait("the note", "text() == 'first'")
    #expect(try editor.value("vim.api.nvim_buf_get_name(0)").hasSuffix("/Twice"))

    try editor.type(":NoteNew<CR>")
    try editor.wait("a question", "vim.fn.mode() == 'c'")
    try editor.type("Made here<CR>")
    try editor.wait("the note", "require('decent-notes').title() == 'Made here'")
    let notes = try scene.other.call("notebook/list")["notes"]!.array!.map { $0["title"]!.string! }
    #expect(notes == ["Made here", "Twice", "Twice", "Elsewhere"])
  }

  @Test(arguments: Neovim.programs)
  func `the list does by keys what there is to do, and is live`(_ program: String) throws {
    let scene = try Scene(program, text: "find me\nhere", title: "c")
    let editor = scene.editor
    func titles(_ trashed: Bool = false) throws -> [String] {
      try scene.other.call(
        "notebook/list", ["trashed": trashed ? .boolean(true) : .boolean(false)])[
          "notes"]!
        .array!.map { $0["title"]!.string! }
    }
    func row(_ title: String) -> String {
      "vim.api.nvim_get_current_line():find('^\(title) ') ~= nil"
    }
    for title in ["b", "a"] { try scene.other.call("note/create", ["title": .string(title)]) }
    try editor.command("Notes")
    #expect(
      try editor.text.split(separator: "\n").map { $0.prefix(2) } == ["a ", "b ", "c "])
    try editor.type("2G")
    // What others do shows, and the cursor stays at its note.
    try scene.other.call("note/create", ["title": "zero"])
    try editor.wait("a fourth line", "vim.fn.line('$') == 4 and vim.fn.line('.') == 3")
    try editor.type("J")
    try editor.wait("b below c", "vim.fn.line('.') == 4")
    #expect(try titles() == ["zero", "a", "c", "b"])
    try editor.type("K")
    try editor.wait("b above c", "vim.fn.line('.') == 3")
    try editor.type("K")
    try editor.wait("b above a", "vim.fn.line('.') == 2")
    #expect(try titles() == ["zero", "b", "a", "c"])
    try editor.type("p")
    try editor.wait("priority", "vim.api.nvim_get_current_line():find('high')")
    try editor.type("p")
    try editor.wait("priority", "vim.api.nvim_get_current_line():find('low')")
    try editor.type("t")
    try editor.wait("a question", "vim.fn.mode() == 'c'")
    try editor.type("home, two words<CR>")
    try editor.wait("tags", "vim.api.nvim_get_current_line():find('home, two words')")
    try editor.type("t")
    try editor.wait("a question", "vim.fn.getcmdline() == 'home, two words'")
    try editor.type("<C-u>two words<CR>")
    try editor.wait("tags", "not vim.api.nvim_get_current_line():find('home')")
    try editor.type("r")
    try editor.wait("a question", "vim.fn.getcmdline() == 'b'")
    try editor.type("<BS>bb<CR>")
    try editor.wait("a title", row("bb"))
    try editor.type("dd")
    try editor.wait("three lines", "vim.fn.line('$') == 3")
    #expect(try titles() == ["zero", "a", "c"])
    try editor.type("T")
    try editor.wait("the trash", "vim.fn.line('$') == 1 and \(row("bb"))")
    try editor.type("u")
    try editor.wait("an empty trash", "text() == 'The trash is empty.'")
    // None of these has a note to be about.
    try editor.type("ddKu<CR>T")
    try editor.wait("the notes", "vim.fn.line('$') == 4")
    try editor.type("s")
    try editor.wait("a question", "vim.fn.mode() == 'c'")
    try editor.type("HERE<CR>")
    try editor.wait("what was found", "vim.fn.line('$') == 1 and text():find('here$')")
    try editor.type("<CR>")
    try editor.wait("the place", "text() == 'find me\\nhere' and vim.fn.line('.') == 2")
    try editor.command("Notes")
    try editor.type("s")
    try editor.wait("a question", "vim.fn.getcmdline() == 'HERE'")
    try editor.type("<C-u><CR>")
    try editor.wait("the notes", "vim.fn.line('$') == 4")
    try editor.type("R:1<CR>")
    try editor.wait("the first", "vim.fn.line('.') == 1")
    try editor.type("n")
    try editor.wait("a question", "vim.fn.mode() == 'c'")
    try editor.type("fresh<CR>")
    try editor.wait("the new note", "require('decent-notes').title() == 'fresh'")
    // It leaves the windows, and how they show other buffers, as they are.
    try editor.command("split | Notes")
    try editor.wait("the list", "vim.fn.line('$') == 5")
    try editor.type("q")
    try editor.wait("no list", "require('decent-notes').title() == 'fresh' and vim.wo.wrap")
    #expect(try editor.value("vim.fn.winnr('$')") == "2")
    let told = try editor.value("table.concat(told, '; ')")
    #expect(told == "Decent Notes: title: bb")
  }

  @Test(arguments: Neovim.programs)
  func `others' cursors are shown`(_ program: String) throws {
    let scene = try Scene(program, text: "one\ntwo")
    try scene.editor.type("j$")
    // Another attachment of the same process, as another window of a client would be.
    try scene.editor.lua(
      """
      server = require('decent-notes.server')
      there = server.call('note/open', { id = require('decent-notes.note').of().id, mode = 'edit' })
      heard = nil
      local take = server.on['note/presence']
      server.on['note/presence'] = function(params)
        if there and params.attachment == there.attachment then heard = params else take(params) end
      end
      server.notify('note/cursor', { attachment = there.attachment, version = 0, rev = 0, ranges = {
        { start = { line = 0, character = 0 }, ['end'] = { line = 0, character = 3 } } } })
      """)
    try scene.editor.wait("another", "require('decent-notes').status():find('@')")
    let marks =
      "vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces()['decent-notes'], 0, -1, {})"
    // The selection, the cursor, and the name.
    #expect(try scene.editor.value("#\(marks)") == "3")
    try scene.editor.type("k")
    try scene.editor.wait(
      "our cursor", "heard and heard.peers[1] and heard.peers[1].ranges[1]['end'].line == 0")
    try scene.editor.lua("server.request('note/close', { attachment = there.attachment })")
    try scene.editor.wait(
      "nobody", "require('decent-notes').status() == 'connected' and #\(marks) == 0")
  }

  /// Neovim 0.7 shows no text within lines.
  @Test(arguments: Neovim.programs)
  func `a name is behind the word, and right behind its cursor where words have no blanks`(
    _ program: String
  ) throws {
    let scene = try Scene(program)
    for (word, place, column) in [
      ("日本語", 6, 9), ("ภาษา", 0, 3), ("word ", 6, 9), ("日本API", 6, 9),
    ] {
      try scene.receive(String(repeating: word, count: 100))
      let shown = try scene.editor.lua(
        """
        if vim.fn.has('nvim-0.10') == 0 then return \(column) end
        local place = { line = 0, character = \(place) }
        require('decent-notes.participants').show(0, { { name = 'Ana', ranges = { { start = place, ['end'] = place } } } })
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces()['decent-notes'], 0, -1, { details = true })) do
          if mark[4].virt_text_pos == 'inline' then return mark[3] end
        end
        """)
      #expect(shown?.integer == column, "\(word)")
    }
  }

  @Test(arguments: Neovim.programs)
  func `others are not shown in a text that was changed since`(_ program: String) throws {
    let scene = try Scene(program, text: "one\ntwo and more")
    let shown = try scene.editor.lua(
      """
      local note = require('decent-notes.note').of()
      vim.api.nvim_buf_set_lines(0, 1, 2, true, { 't' })
      local place = { line = 1, character = 1 }
      require('decent-notes.server').on['note/presence']({
        attachment = note.attachment, version = note.version, rev = note.rev,
        peers = { { name = 'Ana', ranges = { { start = place, ['end'] = place } } } },
      })
      local marks = vim.api.nvim_get_namespaces()['decent-notes']
      return #vim.api.nvim_buf_get_extmarks(0, marks, 0, -1, {}) .. require('decent-notes').status()
      """)
    #expect(shown?.string == "0connected")
  }

  @Test(arguments: Neovim.programs)
  func `what is told while a command is typed is shown before what is told then`(
    _ program: String
  ) throws {
    let folder = TemporaryFolder()
    let editor = try Neovim(program, notebook: folder("notes"), in: folder)
    try editor.type(":lua require('decent-notes.server').tell('second')")
    try editor.wait("a command line", "vim.api.nvim_get_mode().mode == 'c'")
    try editor.lua("require('decent-notes.server').tell('first')")
    try editor.type("<CR>")
    try editor.wait("both", "#told >= 2")
    #expect(
      try editor.value("table.concat(told, '; ')") == "Decent Notes: first; Decent Notes: second")
  }

  @Test(arguments: Neovim.programs)
  func `in a terminal the status line says connected, and messages do not stop the typing`(
    _ program: String
  ) throws {
    let folder = TemporaryFolder()
    let settings = folder("init.lua")
    try Neovim.settings(notebook: folder("notes"))
      .write(toFile: settings, atomically: true, encoding: .utf8)
    let terminal = try Terminal("\(quoted(program)) -n -i NONE -u \(quoted(settings))")
    try terminal.wait("a screen") { $0.contains { $0.hasPrefix("~") } }
    try terminal.type(":NoteNew Shopping list")
    try terminal.press("Enter")
    try terminal.wait("the status line") {
      $0.contains { $0.hasPrefix("Shopping list") && $0.contains("connected") }
    }
    try terminal.type("imilk")
    try terminal.press("Enter")
    try terminal.type("eggs")
    try terminal.press("Escape")
    let other = try Server(folder("notes"))
    try other.initialize()
    let note = try other.call("notebook/list")["notes"]!.array!.first { _ in true }!["id"]!
    try terminal.wait("the text elsewhere") { _ in
      try other.call("note/get", ["id": .raw(note.written)])["text"]!.string == "milk\neggs"
    }
    try other.call("note/setText", ["id": .raw(note.written), "text": "bread\nmilk\neggs"])
    try terminal.wait("all three") { $0.prefix(3) == ["bread", "milk", "eggs"] }
    // Substitution is previewed while it is typed: nobody else must hear of that.
    try terminal.type(":%s/e/E/g")
    try terminal.wait("the preview") { $0.prefix(3) == ["brEad", "milk", "Eggs"] }
    try terminal.press("Escape")
    try terminal.wait("no preview") { $0.prefix(3) == ["bread", "milk", "eggs"] }
    try terminal.type(":w")
    try terminal.press("Enter")
    try terminal.wait("the answer") { $0.last?.contains("written") == true }
    #expect(
      try other.call("note/get", ["id": .raw(note.written)])["text"]!.string == "bread\nmilk\neggs")
    try terminal.type(":edit note://nothing")
    try terminal.press("Enter")
    try terminal.wait("one line") { $0.last?.hasPrefix("Decent Notes: ") == true }
    #expect(try !terminal.screen().joined().contains("Error"))
    try terminal.type(":Notes")
    try terminal.press("Enter")
    try terminal.wait("the list") { $0.first?.hasPrefix("Shopping list") == true }
    try terminal.type("g?")
    try terminal.wait("the keys") { $0.contains { $0.hasPrefix("p     priority") } }
    try terminal.press("Enter")
    try terminal.type(":qa")
    try terminal.press("Enter")
    try terminal.waitForEnd()
  }
}

@Suite(.waiting, .tags(.editor), .enabled(if: ready, "nvim is missing"))
struct `The client for Neovim: a server that dies` {
  @Test(arguments: Neovim.programs)
  func `typing goes on over a server that is killed, and nothing is lost or doubled`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "start")
    var expected = "start"
    try scene.editor.type("A")
    for round in 0..<4 {
      let server = try scene.editor.serverProcess()
      for index in 0..<20 {
        try scene.editor.type(" r\(round)w\(index)")
        expected += " r\(round)w\(index)"
        if index == 10 { kill(server, SIGKILL) }
      }
      try scene.expect(expected, "after a kill")
      try scene.set("+" + expected)
      expected = "+" + expected
      try scene.expect(expected, "what another did")
    }
    #expect(try scene.editor.value("vim.fn.mode()") == "i")
  }

  @Test(arguments: Neovim.programs)
  func `two who type at once over a server that is killed lose and double nothing`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "start\n", setup: "vim.o.autoindent = false\n")
    let client = try AttachedClient(scene.other, scene.note)
    var random = SplitMix64(seed: 11)
    try scene.editor.type("Go")
    for index in 0..<60 {
      try scene.editor.type(" k\(index)")
      try client.type("w\(index)", &random)
      try client.proceed()
      if index % 15 == 14 { kill(try scene.editor.serverProcess(), SIGKILL) }
    }
    do {
      try run([client]) { client.isIdle && (0..<60).allSatisfy { client.words["k\($0)"] == 1 } }
    } catch {
      let state =
        "vim.inspect({ note = require('decent-notes.note').of(), told = told, log = require('decent-notes.server').log })"
      throw Failure(
        "\(error); \(String(decoding: client.text, as: UTF8.self).debugDescription), Neovim: "
          + (try scene.editor.text).debugDescription + (try scene.editor.value(state)))
    }
    try scene.expect(String(decoding: client.text, as: UTF8.self))
    let words = client.words
    #expect(words.values.allSatisfy { $0 == 1 } && words.count == 121)
  }

  @Test(arguments: Neovim.programs)
  func `a server that is killed is started again five times, and then when the user says so`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "start")
    for _ in 0..<6 {
      try scene.editor.wait("a server", "require('decent-notes').status() == 'connected'")
      kill(try scene.editor.serverProcess(), SIGKILL)
      try scene.editor.wait(
        "its end", "table.concat(require('decent-notes.server').log):find('status') ~= nil")
      try scene.editor.lua("require('decent-notes.server').log = {}")
    }
    try scene.editor.wait("a message", "table.concat(told):find('NotesRestart') ~= nil")
    #expect(try scene.editor.value("require('decent-notes').status()") == "offline")
    try scene.editor.type("Ax<Esc>")
    try scene.editor.wait("an edit", "text() == 'startx' and vim.bo.modified")
    try scene.editor.command("NotesRestart")
    try scene.expect("startx")
  }

  @Test(arguments: Neovim.programs)
  func `a note that could not be opened again is opened when it is written`(_ program: String)
    throws
  {
    let scene = try Scene(program, text: "one")
    try scene.editor.lua("note = require('decent-notes.note').of() note.id = 'nowhere'")
    kill(try scene.editor.serverProcess(), SIGKILL)
    try scene.editor.wait("a message", "table.concat(told):find('is offline') ~= nil")
    try scene.editor.lua("note.id = '\(scene.id)'")
    try scene.editor.type("Ax<Esc>:w<CR>")
    try scene.expect("onex")
  }

  @Test(arguments: Neovim.programs)
  func `a process that does not answer is replaced at the user's wish`(_ program: String) throws {
    let scene = try Scene(program, text: "one")
    let server = try scene.editor.serverProcess()
    kill(server, SIGSTOP)
    try scene.editor.type("Ax<Esc>")
    try scene.editor.wait("the text", "text() == 'onex' and vim.bo.modified")
    try scene.editor.command("NotesRestart")
    try scene.expect("onex")
    #expect(kill(server, 0) == -1)
  }

  @Test(arguments: Neovim.programs)
  func `what is under way arrives when its buffer is closed and the process killed`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "one")
    let server = try scene.editor.serverProcess()
    // The user waits three seconds at most. On a busy machine the next process may take longer to start.
    try scene.editor.lua(
      "local server = require('decent-notes.server') local wait = server.wait_at_end "
        + "server.wait_at_end = function(_, condition) return wait(60000, condition) end")
    kill(server, SIGSTOP)
    try scene.editor.type("Ax<Esc>:bdelete!<CR>")
    kill(server, SIGKILL)
    try scene.editor.wait("the end", "#require('decent-notes.note').all() == 0")
    #expect(try scene.stored == "onex")
    // On a busy machine the next process may be silent for two seconds, and the user is told.
    let told = try scene.editor.value("table.concat(told, '; ')")
    #expect(told.isEmpty || told.hasPrefix("Decent Notes: the program does not answer"))
  }

  @Test(arguments: Neovim.programs)
  func `a buffer that is closed before its note was opened again takes nothing from the note`(
    _ program: String
  ) throws {
    let folder = TemporaryFolder()
    let scene = try Scene(
      program, text: "one", environment: ["XDG_STATE_HOME": folder("state")])
    // The answer comes when Neovim has given up waiting for it.
    try scene.editor.lua(
      """
      server = require('decent-notes.server')
      local request = server.request
      function server.request(method, params, callback)
        request(method, params, method ~= 'note/open' and callback or function(problem, result)
          if not problem then answer = function() callback(nil, result) end end
        end)
      end
      """)
    kill(try scene.editor.serverProcess(), SIGKILL)
    try scene.editor.wait("the answer", "answer")
    try scene.editor.lua("vim.cmd('normal! Ax') vim.cmd('bdelete!') answer()")
    // Whatever was sent because of it comes before this.
    try scene.editor.lua("server.call('notebook/flush')")
    #expect(try scene.stored == "one")
    #expect(try scene.editor.value("told[1]").contains("could not be sent; its text is in"))
  }

  @Test(arguments: Neovim.programs)
  func `what was typed without a server is merged with what others did meanwhile`(
    _ program: String
  ) throws {
    let scene = try Scene(program, text: "one\ntwo\nthree")
    try scene.type("Ax<Esc>", "onex\ntwo\nthree")
    try scene.editor.lua("require('decent-notes.server').stop()")
    try scene.editor.wait("offline", "require('decent-notes').status() == 'offline'")
    try scene.editor.type("GAmine<Esc>")
    try scene.set("onex\nTWO\nthree")
    try scene.editor.command("write")
    try scene.expect("onex\nTWO\nthreemine")
    try scene.type("Ay<Esc>", "onex\nTWO\nthreeminey")
  }
}
