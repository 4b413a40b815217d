import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting, .tags(.editor), .enabled(if: isNeovimReady, "nvim is missing"))
struct `The client for Neovim: a note as a buffer like others` {
  @Test(arguments: Neovim.programs)
  func `a session brings back a note in two windows, with cursors and folds`(_ program: String)
    throws
  {
    let lines = (1...60).map { "line \($0)" }.joined(separator: "\n")
    let scene = try NeovimScene(program, text: lines)
    let session = scene.folder("session.vim")
    try scene.editor.command("set foldmethod=manual | 5,9fold | split | 40")
    try scene.editor.command("mksession \(session)")
    let again = try Neovim(program, notebook: scene.folder("notes"), in: scene.folder)
    try again.command("source \(session)")
    #expect(try again.value("vim.fn.winnr('$')") == "2")
    #expect(try again.text == lines)
    #expect(
      try again.value(
        "vim.inspect(vim.tbl_map(vim.api.nvim_win_get_cursor, vim.api.nvim_list_wins()))"
      ).filter { !" \n".contains($0) } == "{{40,0},{1,0}}")
    for window in [1, 2] {
      #expect(
        try again.value(
          "vim.api.nvim_win_call(vim.fn.win_getid(\(window)), function() return "
            + "vim.fn.bufname() .. vim.fn.foldclosed(7) .. '-' .. vim.fn.foldclosedend(7) end)")
          == "note://\(scene.id.prefix(10))/Shopping5-9")
    }
    #expect(try again.value("vim.v.errmsg") == "")
    try again.type("Ax<Esc>")
    try scene.expect(lines.replacing("line 40", with: "line 40x"))
  }

  @Test(arguments: Neovim.programs)
  func `a session brings back a list that lives`(_ program: String) throws {
    let scene = try NeovimScene(program, text: "text")
    let session = scene.folder("session.vim")
    try scene.editor.command("Notes")
    try scene.editor.wait("the list", "text():find('Shopping')")
    try scene.editor.command("new | wincmd p | mksession \(session)")
    let again = try Neovim(program, notebook: scene.folder("notes"), in: scene.folder)
    try again.command("source \(session)")
    try again.wait("the list", "text():find('Shopping') and vim.fn.winnr('$') == 2")
    try scene.other.call("note/create", ["title": "Later", "text": ""])
    try again.wait("what others make", "text():find('Later')")
    try again.command("call search('Shopping')")
    try again.type("<CR>")
    try again.wait("the note", "text() == 'text'")
    #expect(try again.value("vim.v.errmsg") == "")
  }

  @Test(arguments: Neovim.programs)
  func `who leaves by force is told that nothing is thrown away`(_ program: String) throws {
    let scene = try NeovimScene(program, text: "text")
    let editor = scene.editor
    for keys in [":q!<CR>", ":quit!<CR>", "ZQ"] {
      try editor.command("split | edit note://\(scene.id)")
      try scene.type("Ax<Esc>", try scene.stored + "x")
      try editor.lua("told = {}")
      try editor.type(keys)
      try editor.wait("the word", "told[#told] and told[#told]:find('is kept', 1, true)")
    }
    try editor.lua("told = {}")
    try editor.type(":new<CR>:q<CR>")
    try editor.wait("one window", "vim.fn.winnr('$') == 1")
    #expect(try editor.value("#told") == "0")
  }

  @Test(arguments: Neovim.programs)
  func `another title means another name, with marks, undo and windows as they were`(
    _ program: String
  ) throws {
    let lines = (1...60).map { "line \($0)" }.joined(separator: "\n")
    let scene = try NeovimScene(program, text: lines)
    let (editor, short) = (scene.editor, scene.id.prefix(10))
    #expect(try editor.value("vim.fn.bufname()") == "note://\(short)/Shopping")
    try scene.type("GA!<Esc>", lines + "!")
    try editor.command("set foldmethod=manual | 5,9fold | split | call cursor(40, 1)")
    try editor.command("normal! ma20Gzt2j")
    let state = """
      vim.inspect({ vim.tbl_map(function(window) return vim.api.nvim_win_call(window, function()
        local view = vim.fn.winsaveview()
        return { view.lnum, view.topline, vim.fn.foldclosedend(7), vim.api.nvim_get_current_buf() }
      end) end, vim.api.nvim_list_wins()), vim.fn.line("'a"), vim.fn.changenr(), vim.fn.bufnr('#') })
      """
    let before = try editor.value(state)
    try scene.other.call("note/update", ["id": scene.note, "title": "To do/now: 50 %"])
    try editor.wait("the name", "vim.fn.bufname() == 'note://\(short)/To-do-now-50-'")
    #expect(try editor.value(state) == before)
    #expect(try editor.value("vim.fn.bufnr('Shopping')") == "-1")
    try scene.type("u", lines)

    // A buffer that no window shows is renamed, too, and no other one is left.
    try editor.command("set hidden | only | enew")
    try editor.command("NoteNew Second")
    try scene.other.call("note/update", ["id": scene.note, "title": "Hidden"])
    try editor.wait("the name of a hidden buffer", "vim.fn.bufnr('/Hidden$') > 0")
    let names = "table.concat(vim.tbl_map(vim.fn.bufname, vim.api.nvim_list_bufs()), ' ')"
    #expect(try !editor.value(names).contains("To-do"))
    #expect(try editor.value("vim.fn.bufname()").hasSuffix("/Second"))
    for old in ["note://\(scene.id)", "note://\(scene.id)/Old_title", "note://\(short)/Shopping"] {
      try editor.command("edit \(old)")
      try editor.wait(old, "vim.fn.bufname() == 'note://\(short)/Hidden'")
      #expect(try editor.text == lines)
      try editor.command("bwipeout")
    }
    // Also where the short id is not known yet.
    let again = try Neovim(program, notebook: scene.folder("notes"), in: scene.folder)
    try again.command("edit note://\(short)/an-old-title")
    #expect(try again.text == lines)
    #expect(try again.value("vim.fn.bufname()") == "note://\(short)/Hidden")
  }

  @Test(arguments: Neovim.programs)
  func `writing a note runs what others do before and after, and what they change is written`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(
      program, text: "one  \ntwo",
      setup: """
        events = {}
        for _, event in ipairs({ 'BufWritePre', 'BufWritePost' }) do
          vim.api.nvim_create_autocmd(event, { callback = function(it)
            events[#events + 1] = event .. ' ' .. it.match .. ' ' .. tostring(vim.bo.modified)
            if event == 'BufWritePre' then vim.cmd([[keepjumps %s/\\s\\+$//e]]) end
          end })
        end

        """)
    try scene.editor.type("GAx  <Esc>:w<CR>")
    try scene.expect("one\ntwox")
    try scene.editor.wait("the answer", "told[1] and told[#told]:find('written')")
    let name = "note://\(scene.id.prefix(10))/Shopping"
    #expect(
      try scene.editor.value("table.concat(events, '|')").replacing(" true|", with: " false|")
        == "BufWritePre \(name) false|BufWritePost \(name) false")
    try scene.editor.command("1write!")
    #expect(try scene.editor.value("told[#told]").contains("as a whole"))
  }

  @Test(arguments: Neovim.programs)
  func `what was done before the note is read again can be undone`(_ program: String) throws {
    let scene = try NeovimScene(program, text: "one")
    try scene.type("Atwo<Esc>", "onetwo")
    for command in ["edit!", "edit"] {
      try scene.editor.command(command)
      try scene.expect("onetwo")
      try scene.receive("zero\nonetwo")
      try scene.type("u", "zero\none")
      try scene.type("<C-r>", "zero\nonetwo")
      try scene.receive("onetwo")
    }
    // What comes while it is read again is not lost.
    try scene.editor.lua(
      """
      local note, server = require('decent-notes.note').of(), require('decent-notes.server')
      server.call('note/append', { id = note.id, text = '!' })
      vim.cmd('edit!')
      """)
    try scene.expect("onetwo!")
    #expect(try scene.editor.value("require('decent-notes.note').of().attachment") == "1")
    try scene.editor.command("bdelete")
    try scene.open()
    try scene.expect("onetwo!")
    #expect(try scene.editor.value("require('decent-notes.note').of().attachment") == "2")
  }

  @Test(arguments: Neovim.programs)
  func `the user's own keys for undo and redo undo and redo in notes`(_ program: String) throws {
    let scene = try NeovimScene(
      program, text: "one",
      setup: "vim.keymap.set('n', 'U', '<C-r>')\nvim.cmd('nnoremap <F2> u|nnoremap Q uu')\n")
    try scene.type("Atwo<Esc>", "onetwo")
    try scene.receive("zero\nonetwo")
    try scene.type("<F2>", "zero\none")
    try scene.type("U", "zero\nonetwo")
  }

  @Test(arguments: Neovim.programs)
  func `the title says the filetype, also a new one, and else the user's option does`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(
      program, text: "# text", title: "x.py",
      setup: "vim.cmd('filetype on')\nvim.g.decent_notes_filetype = 'markdown'\n")
    func expect(_ filetype: String, line: Int = #line) throws {
      try scene.editor.wait("line \(line)", "vim.bo.filetype == '\(filetype)'")
    }
    try expect("python")
    try scene.editor.command("NoteTitle Shopping list")
    try expect("markdown")
    try scene.editor.command("NoteTitle main.c")
    try expect("c")
    // Elsewhere.
    try scene.other.call("note/update", ["id": scene.note, "title": "x.lua"])
    try expect("lua")
    try scene.editor.command("setfiletype none | set filetype=mine")
    try scene.editor.command("NoteTitle nothing")
    try expect("mine")
    try scene.editor.command("NoteTitle todo.rb")
    try expect("ruby")
    try scene.editor.command("NoteNew Untyped")
    try expect("markdown")
  }

  @Test(arguments: Neovim.programs)
  func `a note that is put into the trash by others says so until it is restored`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "one")
    let status = "require('decent-notes').status()"
    for round in 1...2 {
      try scene.other.call("note/delete", ["id": scene.note])
      try scene.editor.wait(
        "the sign", "\(status) == 'in the trash' and vim.b.decent_notes_trashed")
      #expect(try scene.editor.value("#told") == "\(2 * round - 1)")
      #expect(try scene.editor.value("told[#told]").contains("is in the trash"))
      try scene.other.call("note/restore", ["id": scene.note])
      try scene.editor.wait(
        "no sign", "\(status) == 'connected' and not vim.b.decent_notes_trashed")
      #expect(try scene.editor.value("#told") == "\(2 * round)")
    }
    // Typing takes it out.
    try scene.other.call("note/delete", ["id": scene.note])
    try scene.editor.wait("the sign", "\(status) == 'in the trash'")
    try scene.type("Ax<Esc>", "onex")
    try scene.editor.wait("no sign", "\(status) == 'connected'")
    #expect(try scene.editor.value("vim.b.decent_notes_trashed") == "false")
  }

  @Test(arguments: Neovim.programs)
  func `history has the user's time, and brings an old state back while others write`(
    _ program: String
  ) throws {
    for isOpen in [true, false] {
      let scene = try NeovimScene(program, text: "one\ntwo", environment: ["TZ": "UTC-14"])
      try scene.type("Gothree<Esc>", "one\ntwo\nthree")
      try scene.receive("zero\none\ntwo\nthree")
      let now = Date(timeIntervalSinceNow: 14 * 3600).formatted(.iso8601).prefix(13)
      try scene.editor.command("NoteHistory")
      let lines = try scene.editor.text.split(separator: "\n")
      #expect(lines[0] == "<CR> shows the text of then, r brings it back, q leaves")
      let time = lines[1].prefix(13).replacing(" ", with: "T")
      let later = Date(timeIntervalSinceNow: 14 * 3600).formatted(.iso8601).prefix(13)
      #expect(time == now || time == later)
      if isOpen {
        // It is an edit of the buffer, to be undone.
        try scene.editor.command("call search('+6 -0')")
        try scene.editor.type("<CR>")
        try scene.editor.wait(
          "the past", "text() == 'one\\ntwo\\nthree' and not vim.bo.modifiable")
        // Back to the history, and to the note, and here again.
        try scene.editor.type("q")
        try scene.editor.wait("the history", "text():find('+6 -0', 1, true)")
        try scene.editor.type("q")
        try scene.editor.wait("the note", "text() == 'zero\\none\\ntwo\\nthree'")
        try scene.editor.command("NoteHistory")
        try scene.editor.command("call search('+6 -0')")
        try scene.editor.type("<CR>")
        try scene.editor.wait(
          "the past", "text() == 'one\\ntwo\\nthree' and not vim.bo.modifiable")
        try scene.editor.type("r")
        try scene.expect("one\ntwo\nthree")
        try scene.type("u", "zero\none\ntwo\nthree")
      } else {
        // What others have done since is kept.
        try scene.editor.command("call search('+6 -0')")
        try scene.editor.command("bdelete note://\(scene.id.prefix(10))/Shopping")
        try scene.set("zero\none\ntwo\nthree\nfour")
        try scene.editor.type("r")
        try scene.editor.wait("the answer", "told[1] and told[#told]:find('is back')")
        try waitUntil("the note is \(try scene.stored)") {
          try scene.stored == "one\ntwo\nthree\nfour"
        }
      }
    }
  }

  @Test(arguments: Neovim.programs)
  func `what is found in all notes is in the quickfix list, and opens where it was found`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "milk\nbread\nMILK and milk")
    try scene.other.call("note/create", ["title": "Milk", "text": "about cows"])
    let id = try scene.other.call(
      "note/create", ["title": "Third one", "text": "nothing\n\u{FC}ber Milk"])["note"]!["id"]!
      .string!
    try scene.editor.command("NoteGrep milk")
    let list = """
      vim.tbl_map(function(it) return it.lnum .. ',' .. it.col .. ' ' .. it.text end, \
      vim.fn.getqflist())
      """
    #expect(
      try scene.editor.value("table.concat(\(list), '|')")
        == "2,7 über Milk|1,1 about cows|1,1 milk|3,1 MILK and milk")
    #expect(try scene.editor.value("vim.bo.buftype") == "quickfix")
    try scene.editor.type("<CR>")
    try scene.editor.wait("the note", "require('decent-notes').title() == 'Third one'")
    #expect(
      try scene.editor.value(
        "vim.fn.bufname() .. ' ' .. vim.fn.line('.') .. ',' .. vim.fn.col('.')")
        == "note://\(id.prefix(10))/Third-one 2,7")
    try scene.editor.command("cc 4")
    try scene.editor.wait("the note", "vim.fn.getline('.') == 'MILK and milk'")
    // By a name that it had when it was looked for.
    try scene.editor.command("bwipeout! note://\(id.prefix(10))/Third-one")
    try scene.editor.command("NoteGrep nothing")
    try scene.editor.command("cclose | edit note://\(id)/Other")
    try scene.editor.command("cc 1")
    try scene.editor.wait("one buffer", "vim.fn.bufname():find('/Third.one$')")
    try scene.editor.command("NoteGrep no such text")
    #expect(try scene.editor.value("told[#told]").contains("in no note"))
  }

  @Test(arguments: Neovim.programs)
  func `places that Neovim remembers are the same lines when a note is loaded`(_ program: String)
    throws
  {
    let folder = TemporaryFolder()
    let other = try Server(folder("notes"))
    try other.initialize()
    func make(_ title: String, hits: Set<Int>) throws -> String {
      let text = (1...20).map { "row \($0)" + (hits.contains($0) ? " needle" : "") }
        .joined(separator: "\n")
      return try other.call("note/create", ["title": .string(title), "text": .string(text)])[
        "note"]!["id"]!.string!
    }
    let id = try make("First", hits: [7, 12])
    _ = try make("Second", hits: [5])
    let settings = folder("init.lua")
    try
      (Neovim.settings(notebook: folder("notes"))
      + "vim.o.hidden, vim.o.statusline = false, 'at %l: %{getline(\".\")}'")
      .write(toFile: settings, atomically: true, encoding: .utf8)
    func start() throws -> Terminal {
      let terminal = try Terminal(
        "exec \(quoted(program)) -n -i \(quoted(folder("shada"))) -u \(quoted(settings))")
      try terminal.wait("Neovim") { $0.contains { $0.hasPrefix("at 0:") } }
      return terminal
    }
    func check(_ terminal: Terminal, _ keys: String, _ line: String) throws {
      try terminal.type(keys)
      try terminal.wait("\(line) after \(keys.debugDescription)") {
        $0.contains { $0.hasPrefix("at " + line) }
      }
    }

    var terminal = try start()
    try terminal.type(":NoteGrep needle\r")
    try terminal.wait("the quickfix list") { $0.contains { $0.contains("First|12") } }
    try check(terminal, "\r", "5: row 5 needle")
    try check(terminal, ":cnext\r", "7: row 7 needle")
    try check(terminal, ":cnext\r", "12: row 12 needle")
    try check(terminal, ":cprevious\r", "7: row 7 needle")

    try check(terminal, ":only\r4G", "4: row 4")
    try check(terminal, "9GmA", "9: row 9")
    try check(terminal, "18G", "18: row 18")
    // The buffer is unloaded.
    try check(terminal, ":enew\r", "0:")
    try check(terminal, "\u{0F}", "18: row 18")
    try check(terminal, "\u{0F}", "9: row 9")
    try check(terminal, "\u{0F}", "4: row 4")
    try terminal.type(":qa\r")
    try terminal.waitForEnd()

    terminal = try start()
    try check(terminal, "'A", "9: row 9")
    // Another name for a note that has a buffer.
    try check(terminal, ":only | edit +14 note://\(id)/Other\r", "14: row 14")
    try check(terminal, "gg'A", "9: row 9")
    try terminal.type(":qa\r")
    try terminal.waitForEnd()
  }

  @Test(
    .enabled(if: Mount.isPossible || isContinuousIntegration, "only root can mount a file system"),
    arguments: Neovim.programs)
  func `a full disk is told with its cause on the screen, without waiting for a key`(
    _ program: String
  ) throws {
    let disk = try Mount(memory: "size=200k")
    let folder = TemporaryFolder()
    let long = disk.path + "/a folder with a rather long name/of the user's own choice"
    try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: true)
    let other = try Server(long + "/notes")
    try other.initialize()
    let id = try other.call("note/create", ["title": "Shopping", "text": "one"])["note"]!["id"]!
      .string!
    let settings = folder("init.lua")
    try Neovim.settings(notebook: long + "/notes")
      .write(toFile: settings, atomically: true, encoding: .utf8)
    let terminal = try Terminal(
      "exec \(quoted(program)) -n -i NONE -u \(quoted(settings)) -c 'edit note://\(id)'",
      columns: 90)
    try terminal.wait("the note") { $0.contains { $0.contains("connected") } }
    let filler = disk.path + "/filler"
    try Data().write(to: URL(fileURLWithPath: filler))
    let file = try #require(FileHandle(forWritingAtPath: filler))
    while (try? file.write(contentsOf: Data(count: 512))) != nil {}
    // More than may still fit into the last block.
    try terminal.type("yy2000p")
    try terminal.wait("the cause") { $0.contains { $0.contains("No space left on device") } }
    try terminal.type(":w\r")
    try terminal.wait("the answer") {
      $0.last { !$0.isEmpty }?.hasPrefix("Decent Notes: not saved: No space left on device") == true
    }
    #expect(try !terminal.screen().contains { $0.contains("Press ENTER") })
    try file.close()
    unlink(filler)
    try terminal.type("Gox")
    try terminal.press("Escape")
    try terminal.wait("the text elsewhere") { _ in
      try other.call("note/get", ["id": .string(id)])["text"]!.string!.hasSuffix("one\nx")
    }
  }

  @Test(arguments: Neovim.programs)
  func `commands on a second name of an open note act on the note`(_ program: String) throws {
    let scene = try NeovimScene(program, text: "one\ntwo\nthree")
    func command(_ line: String, _ text: String, at place: Int = #line) throws {
      try scene.editor.command(line)
      try scene.expect(text, line, line: place)
    }
    let name = "note://\(scene.id)"
    try command("edit \(name) | s/one/1/", "1\ntwo\nthree")
    try command("edit \(name)/other | 2s/two/2/", "1\n2\nthree")
    try command("edit +3s/three/3/ \(name)/more", "1\n2\n3")
    try command("args \(name)/a \(name)/b | argdo 1s/$/x/", "1xx\n2\n3")
    try command("split \(name)/c | $delete", "1xx\n2")
    try command("only | enew | edit \(name)/d | normal Gdd", "1xx")
    #expect(try scene.editor.value("#vim.fn.getbufinfo({ buflisted = 1, bufloaded = 1 })") == "1")
    // A buffer that no window shows cannot be changed: nothing is thrown away.
    try scene.editor.command("enew")
    try scene.editor.lua("other = vim.fn.bufadd('\(name)/e'); vim.fn.bufload(other)")
    #expect(throws: (any Error).self) {
      try scene.editor.lua("vim.api.nvim_buf_set_lines(other, 0, 0, true, { 'lost' })")
    }
    #expect(try scene.stored == "1xx")
    #expect(try scene.editor.value("told_of_notes()") == "")
  }

  @Test(arguments: Neovim.programs, ["edit", "edit!"])
  func `a note that could not be opened is opened when the user tries again`(
    _ program: String, _ command: String
  ) throws {
    let scene = try NeovimScene(
      program, text: "one", setup: "vim.g.decent_notes_command = '/nonexistent/program'\n")
    try scene.editor.wait("why not", "told[1] and told[1]:find('cannot be started')")
    #expect(try scene.editor.text == "")
    try scene.editor.command(command)
    #expect(try scene.editor.text == "" && scene.editor.value("#told") == "2")
    try scene.editor.lua("vim.g.decent_notes_command = nil")
    try scene.editor.command(command)
    try scene.expect("one")
    try scene.type("x", "ne")
  }

  @Test(arguments: Neovim.programs)
  func `where files cannot be changed notes cannot either, until the user says so`(
    _ program: String
  ) throws {
    // As `nvim -M` sets them.
    let scene = try NeovimScene(
      program, text: "one\ntwo", setup: "vim.o.modifiable, vim.o.write = false, false\n")
    #expect(try scene.editor.value("vim.bo.modifiable") == "false")
    try scene.receive("zero\none\ntwo")
    try scene.editor.type("ddu")
    try scene.editor.wait("why not", "told[1] and told[1]:find('modifiable')")
    try scene.editor.command("edit!")
    try scene.expect("zero\none\ntwo")
    #expect(try scene.editor.value("vim.bo.modifiable") == "false")
    try scene.editor.command("setlocal modifiable")
    try scene.type("ggdd", "one\ntwo")
    kill(try scene.editor.serverProcess(), SIGKILL)
    try scene.editor.wait("another server", "require('decent-notes').status() == 'connected'")
    try scene.type("ggdd", "two")
  }

  @Test(arguments: Neovim.programs)
  func `CTRL-U deletes what was typed, whatever others write meanwhile`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "first\nsecond line\nthird")
    for (old, new) in [
      ("first", "zero\nfirst"), ("third", "third!"), ("second", "the second"), ("line", "lines"),
    ] {
      let before = try scene.stored
      try scene.type("gg/li<CR>ityped", before.replacing("li", with: "typedli"))
      let after = before.replacing(old, with: new)
      try scene.receive(after.replacing("li", with: "typedli"))
      try scene.type("<C-u>", after)
      try scene.type("X", after.replacing("li", with: "Xli"))
      try scene.type("<C-u><Esc>", after)
    }
    try scene.type("gg/li<CR>i<C-u><Esc>", "zero\nfirst\nlines\nthird!")
  }
}
