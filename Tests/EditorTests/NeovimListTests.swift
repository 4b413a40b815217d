import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting, .tags(.editor), .enabled(if: isNeovimReady, "nvim is missing"))
struct `The client for Neovim: the list` {
  /// The titles that are shown.
  private let titles = """
    table.concat(vim.tbl_map(function(line) return line:match('^(.-)  ') or line end, \
    vim.api.nvim_buf_get_lines(0, 0, -1, true)), ' ')
    """

  /// A notebook with these notes, the first one first, and a Neovim whose first command is `:Notes`.
  private func scene(
    _ program: String, _ notes: [String], environment: [String: String?] = [:]
  ) throws -> (TemporaryFolder, Server, Neovim, [JSON]) {
    let folder = TemporaryFolder()
    let other = try Server(folder("notes"))
    try other.initialize()
    let ids = try notes.reversed().map {
      let made = try other.call("note/create", ["title": .string($0), "text": .string("in " + $0)])
      return JSON.raw(made["note"]!["id"]!.written)
    }
    let editor = try Neovim(
      program, notebook: folder("notes"), in: folder, environment: environment)
    try editor.command("Notes")
    // On a busy machine the rows may come after the command: keys would find no note.
    let rows = min(notes.count, 50)
    try editor.wait("rows", "vim.fn.getline('$') ~= '' and vim.fn.line('$') >= \(rows)")
    return (folder, other, editor, ids.reversed())
  }

  @Test(arguments: Neovim.programs)
  func `the list follows changes when it is the first there is`(_ program: String) throws {
    let (folder, other, editor, ids) = try scene(program, ["a", "b", "c"])
    defer { withExtendedLifetime(folder) {} }
    #expect(try editor.value(titles) == "a b c")
    try other.call("note/create", ["title": "new"])
    try editor.wait("a new note", "\(titles) == 'new a b c'")
    try other.call("note/update", ["id": ids[1], "title": "B"])
    try editor.wait("a new title", "\(titles) == 'new a B c'")
    try other.call("note/delete", ["id": ids[0]])
    try editor.wait("one less", "\(titles) == 'new B c'")
    try other.call("note/delete", ["id": ids[2]])
    try editor.wait("the last one less", "\(titles) == 'new B'")
    try other.call("note/move", ["id": ids[1], "index": 0])
    try editor.wait("another order", "\(titles) == 'B new'")
    try other.call("note/restore", ["id": ids[0]])
    try editor.wait("one more", "\(titles):find('a') and vim.fn.line('$') == 3")
    // Several at once, and some that do not stay.
    for index in 0..<10 { try other.call("note/create", ["title": .string("n\(index)")]) }
    try other.call("note/delete", ["id": ids[1]])
    try editor.wait(
      "ten more",
      "\(titles):find('^n9 n8 n7 n6 n5 n4 n3 n2 n1 n0 ') and vim.fn.line('$') == 12")
    // Hidden, and shown again.
    try editor.command("enew")
    try other.call("note/create", ["title": "hidden"])
    try editor.command("Notes")
    try editor.wait("all", "\(titles):find('^hidden n9 ') and vim.fn.line('$') == 13")
  }

  @Test(arguments: Neovim.programs)
  func `dd puts one note into the trash, a count, a motion or a selection as many as they say`(
    _ program: String
  ) throws {
    let (folder, other, editor, _) = try scene(
      program, ["a", "b", "c", "d", "e", "f", "g", "h", "i"])
    defer { withExtendedLifetime(folder) {} }
    func type(_ keys: String, _ shown: String, line: Int = #line) throws {
      try editor.type(keys)
      try editor.wait("line \(line): \(keys)", "\(titles) == '\(shown)'")
    }
    try type("dd", "b c d e f g h i")
    try type("2dd", "d e f g h i")
    try type("dj", "f g h i")
    try type("Vjd", "h i")
    try type("u", "g h i")
    try type("ggdddd", "i")
    // The selection is about notes, though others make some above.
    try type("ggVG", "i")
    try other.call("note/create", ["title": "above"])
    pause(0.5)
    try type("d", "above")
    try type("TGVggu", "The trash is empty.")
    try editor.type("T")
    try editor.wait("all", "vim.fn.line('$') == 10")
  }

  @Test(arguments: Neovim.programs)
  func `the list has the user's dates, sorts, and keeps to a tag`(_ program: String) throws {
    func today() -> String {
      String(Date(timeIntervalSinceNow: 14 * 3600).formatted(.iso8601).prefix(10))
    }
    let before = today()
    let (folder, other, editor, ids) = try scene(
      program, ["b", "c", "a"], environment: ["TZ": "UTC-14"])
    defer { withExtendedLifetime(folder) {} }
    let text = try editor.text
    #expect([before, today()].contains { text.contains("  \($0) ") })
    pause(0.002)
    try other.call("note/append", ["id": ids[1], "text": "more"])
    for (order, shown) in [
      ("modified", "c b a"), ("created", "b c a"), ("title", "a b c"), ("order", "b c a"),
    ] {
      try editor.type("o")
      try editor.wait(
        order,
        "\(titles) == '\(shown)' and require('decent-notes.list').describe() == "
          + (order == "order" ? "'Notes'" : "'Notes by \(order)'"))
      if order == "modified" {
        // What is changed now comes first.
        pause(0.002)
        try other.call("note/append", ["id": ids[2], "text": "more"])
        try editor.wait("a first", "\(titles) == 'a c b'")
      }
      if order == "title" {
        try editor.type("J")
        try editor.wait("the reason", "told[1] and told[#told]:find('by title')")
      }
    }
    try other.call("note/update", ["id": ids[0], "tags": ["home"]])
    try editor.wait("the tag", "text():find('home')")
    try editor.type("fho<Tab><CR>")
    try editor.wait("the tag", "\(titles) == 'b'")
    try editor.type("f<C-u>nothing<CR>")
    try editor.wait("none", "text() == 'No note has this tag.'")
    try editor.type("f<C-u><CR>")
    try editor.wait("all", "vim.fn.line('$') == 3")
  }

  @Test(arguments: Neovim.programs)
  func `in a list of many notes a change of others is one question and one line`(
    _ program: String
  ) throws {
    let (folder, other, editor, ids) = try scene(program, (1...1200).map { "note \($0)" })
    defer { withExtendedLifetime(folder) {} }
    try editor.wait("all", "vim.fn.line('$') == 1200 and require('decent-notes.rows').is_complete")
    try editor.lua(
      """
      server = require('decent-notes.server')
      local request, set = server.request, vim.api.nvim_buf_set_lines
      asked, lines = 0, 0
      function server.request(method, params, use)
        if method == 'notebook/list' then asked = asked + params.limit end
        return request(method, params, use)
      end
      function vim.api.nvim_buf_set_lines(buffer, first, last, strict, new)
        if buffer == list then lines = lines + #new end
        return set(buffer, first, last, strict, new)
      end
      list = vim.fn.bufnr()
      vim.cmd('split')
      """)
    for index in [0, 600, 1199] {
      try other.call("note/update", ["id": ids[index], "title": .string("changed \(index)")])
      try editor.wait("the title", "vim.fn.getline(\(index + 1)):find('changed \(index)')")
    }
    #expect(try editor.value("asked .. ' ' .. lines") == "3 3")
    try other.call("note/create", ["title": "new"])
    try editor.wait("a new one", "vim.fn.getline(1):find('new')")
    #expect(try editor.value("asked .. ' ' .. lines") == "203 4")
    try other.call("note/delete", ["id": ids[700]])
    try editor.wait("one less", "vim.fn.line('$') == 1200")
    #expect(try editor.value("asked .. ' ' .. lines") == "204 4")
    // Nobody looks.
    try editor.command("only | enew")
    for index in 0..<5 { try other.call("note/append", ["id": ids[index], "text": "x"]) }
    try editor.wait("the last of it", "server.call('notebook/flush')")
    pause(0.4)
    #expect(try editor.value("asked .. ' ' .. lines") == "204 4")
  }

  @Test(arguments: Neovim.programs)
  func `Neovim ends when its terminal is closed while it shows the list`(_ program: String) throws {
    let folder = TemporaryFolder()
    let settings = folder("init.lua")
    try
      (Neovim.settings(notebook: folder("notes"))
      + "vim.fn.writefile({ tostring(vim.fn.getpid()) }, [[\(folder("process"))]])")
      .write(toFile: settings, atomically: true, encoding: .utf8)
    // The only reference: the terminal is closed when it goes.
    var terminal: Terminal? = try Terminal(
      "exec \(quoted(program)) -n -i NONE -u \(quoted(settings)) -c Notes")
    try terminal?.wait("the list") { $0.contains { $0.hasPrefix("No notes") } }
    let written = try String(contentsOfFile: folder("process"), encoding: .utf8)
    let process = try #require(pid_t(written.trimmingCharacters(in: .newlines)))
    defer { kill(process, SIGKILL) }
    #expect(kill(process, 0) == 0)
    terminal = nil
    try waitUntil("Neovim has not ended", every: 0.02) { kill(process, 0) == -1 }
  }

  @Test(arguments: Neovim.programs)
  func `an action is for the notes that were selected when its key was pressed`(_ program: String)
    throws
  {
    let (folder, other, editor, ids) = try scene(program, ["a", "b", "c", "d", "e"])
    defer { withExtendedLifetime(folder) {} }
    let rows = """
      table.concat(vim.tbl_map(function(it) return it.note.title end, \
      require('decent-notes.rows').all), ' ')
      """
    try editor.lua("vim.fn.confirm = function(question) asked = question return 1 end")
    func title(_ index: Int) throws -> String {
      try other.call("note/get", ["id": ids[index]])["note"]!["title"]!.string!
    }
    // Others make and trash notes while lines are selected.
    try editor.type("2GVj")
    try other.call("note/create", ["title": "new"])
    try other.call("note/delete", ["id": ids[0]])
    try other.call("note/delete", ["id": ids[2]])
    try editor.wait("the news", "\(rows) == 'new b d e'")
    #expect(try editor.value(titles) == "a b c d e")
    try editor.type("d")
    try editor.wait("b and c are in the trash", "\(titles) == 'new d e'")
    // In the trash, with the question.
    try editor.type("T")
    try editor.wait("the trash", "\(titles) == 'a b c'")
    try editor.type("2GVj")
    try other.call("note/delete", ["id": ids[3]])
    try editor.wait("the news", "\(rows) == 'a b c d'")
    try editor.type("D")
    try editor.wait("the rest", "\(titles) == 'a d'")
    #expect(
      try editor.value("asked") == "Forget 2 notes for good, on all machines: \"b\", \"c\"?")
    // A question names its note, and keeps it.
    try editor.type("ggur")
    try editor.wait("the question", "vim.fn.mode() == 'c'")
    try other.call("note/restore", ["id": ids[3]])
    try editor.wait("the news", "#require('decent-notes.rows').all == 0")
    #expect(try editor.value(titles) == "d")
    try editor.type("x<CR>")
    try editor.wait("the title", "told[#told] == 'Decent Notes: title: dx'")
    #expect(try title(3) == "dx")
    try editor.type("T")
    try editor.wait("the notes", "\(titles) == 'new a dx e'")
    // So does a command while it is typed.
    try editor.type("G:NoteTitle ex")
    try editor.wait("the command", "vim.fn.getcmdline() == 'NoteTitle ex'")
    try other.call("note/delete", ["id": ids[4]])
    try editor.wait("the news", "\(rows) == 'new a dx'")
    try editor.type("<CR>")
    try editor.wait("the title", "told[#told] == 'Decent Notes: title: ex'")
    #expect(try title(4) == "ex")
    #expect(try title(3) == "dx")
  }
}
