// Neovim: files in and out, notes that are forgotten for good, and very long messages.

import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting, .tags(.editor), .enabled(if: isNeovimReady, "nvim is missing"))
struct `The client for Neovim: files and the trash` {
  private static let titles = """
    table.concat(vim.tbl_map(function(line) return line:match('^(.-)  ') or line end, \
    vim.api.nvim_buf_get_lines(0, 0, -1, true)), ' ')
    """

  /// Questions are noted in `asked`, and answered by `answer`, when `is_asking` is set back.
  private static let questions = """
    asked, answer, is_asking, is_held = {}, 2, false, false
    vim.fn.confirm = function(question)
      asked[#asked + 1], is_asking = question, true
      vim.wait(30000, function() return not is_held end)
      is_asking = false
      return answer
    end
    """

  private func scene(_ program: String, _ titles: [String]) throws
    -> (TemporaryFolder, Server, Neovim, [String: JSON])
  {
    let folder = TemporaryFolder()
    let other = try Server(folder("notes"))
    try other.initialize()
    var ids: [String: JSON] = [:]
    for title in titles.reversed() {
      let made = try other.call("note/create", ["title": .string(title), "text": .string(title)])
      ids[title] = .raw(made["note"]!["id"]!.written)
    }
    let editor = try Neovim(
      program, notebook: folder("notes"), in: folder,
      environment: ["HOME": folder.path])
    try editor.lua(Self.questions)
    try editor.command("Notes")
    try editor.wait(
      "the list",
      "\(Self.titles) == '\(titles.isEmpty ? "No notes; n makes one." : titles.joined(separator: " "))'"
    )
    return (folder, other, editor, ids)
  }

  private let last = "(told[#told] or '')"

  @Test(arguments: Neovim.programs)
  func `a folder is imported, and exported, and what is left out is in the quickfix list`(
    _ program: String
  ) throws {
    let (folder, _, editor, _) = try scene(program, [])
    let files = folder("my files")
    try writeFiles(["one.md": "first\n", "sub/two.txt": "2", "bad.md": "a\0b"], in: files)
    try editor.type(":NotesImport ~/my\\ files<CR>")
    try editor.wait("counts", "\(last):find('2 created; 1 left out, see :copen', 1, true)")
    try editor.wait("the list", "\(Self.titles) == 'one two'")
    #expect(try editor.value("vim.fn.getline(2):match('%d  (.*)')") == "sub/two.txt")
    let skipped = "vim.fn.getqflist()[1]"
    #expect(
      try editor.value("vim.fn.bufname(\(skipped).bufnr) .. ': ' .. \(skipped).text")
        == "\(files)/bad.md: there is U+0000 at byte 1, as in no text: take it out")
    try editor.type("gg<CR>")
    try editor.wait("the path", "require('decent-notes').path() == 'one.md'")
    #expect(try editor.value("require('decent-notes.buffer').heading()") == "one (one.md)")
    try editor.type("Aagain<Esc>")
    try editor.wait("kept", "not vim.bo.modified and text() == 'firstagain\\n'")
    try editor.type(":NotesExport ~/my\\ files<CR>")
    try editor.wait("counts", "\(last):find('1 written, 1 unchanged$')")
    #expect(try String(contentsOfFile: files + "/one.md", encoding: .utf8) == "firstagain\n")
    try writeFiles(["x": "mine"], in: folder("theirs"))
    try editor.type(":NotesExport $HOME/theirs<CR>")
    try editor.wait("why not", "\(last):find('other files are there', 1, true)")
    try editor.type(":NotesExport! $HOME/theirs<CR>")
    try editor.wait("counts", "\(last):find(': 2 written$')")
    #expect(try String(contentsOfFile: folder("theirs/x"), encoding: .utf8) == "mine")
    try editor.type(":NotesImport /nowhere<CR>")
    try editor.wait("why not", "\(last):find('/nowhere', 1, true)")
  }

  @Test(arguments: Neovim.programs)
  func `CTRL-C gives up an import, and Neovim goes on`(_ program: String) throws {
    let (folder, other, editor, _) = try scene(program, [])
    defer { withExtendedLifetime(folder) {} }
    let files = folder("files")
    for part in 0..<20 {
      try writeFiles(
        Dictionary(uniqueKeysWithValues: (0..<250).map { ("\($0).md", "\($0) of \(part)\n") }),
        in: files + "/\(part)")
    }
    try editor.lua(
      """
      progress = ''
      local echo = vim.api.nvim_echo
      vim.api.nvim_echo = function(chunks, ...)
        progress = chunks[1][1]
        return echo(chunks, ...)
      end
      """)
    let process = try editor.serverProcess()
    kill(process, SIGSTOP)
    try editor.type(":NotesImport ~/files<CR>")
    try waitUntil("no progress", every: 0) {
      try runBriefly(process)
      return try editor.value("progress").contains(" of 5000 files (CTRL-C")
    }
    // Not from the driver: what it calls next would be interrupted in Neovim 0.7.
    try editor.lua(
      "vim.loop.new_timer():start(20, 0, function() vim.api.nvim_input('<C-c>') end)")
    try editor.wait("the end", "progress:find('is being given up', 1, true)")
    kill(process, SIGCONT)
    try editor.wait("the end", "\(last):find('given up; what was done', 1, true)")
    let count = try other.call("notebook/list")["notes"]!.array!.count
    #expect(count > 0 && count < 5000)
    try editor.wait("the list", "vim.fn.line('$') == \(count)")
  }

  @Test(arguments: Neovim.programs)
  func `a note is forgotten from the trash only, and after a question`(_ program: String) throws {
    let (folder, other, editor, ids) = try scene(program, ["a", "b", "c", "d", "e", "f"])
    defer { withExtendedLifetime(folder) {} }
    func type(_ keys: String, _ shown: String, _ said: String, line: Int = #line) throws {
      try editor.lua("told = {}")
      try editor.type(keys)
      try editor.wait(
        "line \(line)", "\(Self.titles) == '\(shown)' and \(last):find('\(said)', 1, true)")
    }
    try type("D", "a b c d e f", "only notes in the trash")
    #expect(try editor.value("#asked") == "0")
    try type("6dd", "No notes; n makes one.", "")
    try type("T", "a b c d e f", "")
    // No answer is a no.
    try type("ggD", "a b c d e f", "")
    try editor.wait("a question", "asked[1] == 'Forget \"a\" for good, on all machines?'")
    try editor.lua("answer = 1")
    try type("D", "b c d e f", "the note is forgotten for good")
    #expect(throws: (any Error).self) { try other.call("note/get", ["id": ids["a"]!]) }
    try type("VjD", "d e f", "2 forgotten for good")
    #expect(
      try editor.value("asked[#asked]")
        == "Forget 2 notes for good, on all machines: \"b\", \"c\"?")
    // Others restore a note, and forget one, while the question waits.
    for (title, method, rest, said) in [
      ("d", "note/restore", "e f", "not in the trash any more"),
      ("e", "note/purge", "f", "forgotten by others"),
    ] {
      try editor.lua("is_held, told = true, {}")
      try editor.type("ggD")
      try editor.wait("the question", "is_asking and asked[#asked]:find('\"\(title)\"')")
      try other.call(method, ["id": ids[title]!])
      try editor.lua("is_held = false")
      try editor.wait(
        "the rest", "\(Self.titles) == '\(rest)' and \(last):find('\(said)', 1, true)")
    }
    try editor.command("edit note://\(ids["d"]!.text.filter { $0 != "\"" })")
    try editor.lua("told = {}")
    try editor.command("NotePurge")
    try editor.wait("why not", "\(last):find('only notes in the trash', 1, true)")
  }

  @Test(arguments: Neovim.programs)
  func `a trash of thousands is emptied at once`(_ program: String) throws {
    let (folder, other, editor, _) = try scene(program, ["kept"])
    defer { withExtendedLifetime(folder) {} }
    let count = scaled(3000, 20_000)
    try fillTrash(other, count)
    try editor.type("T")
    try editor.wait("the trash", "vim.fn.line('$') == \(count)")
    try editor.lua(
      """
      answer, lists, most, under_way = 1, 0, 0, 0
      local server = require('decent-notes.server')
      local request = server.request
      function server.request(method, params, use)
        lists = lists + (method == 'notebook/list' and 1 or 0)
        if method ~= 'note/purge' then return request(method, params, use) end
        under_way = under_way + 1
        most = math.max(most, under_way)
        return request(method, params, function(...)
          under_way = under_way - 1
          return use(...)
        end)
      end
      """)
    try editor.type("E")
    try editor.wait(
      "the count", "\(last):find(' \(count) forgotten for good', 1, true) and text():find('empty')")
    #expect(try editor.value("asked[1]:match('Its %d+ notes')") == "Its \(count) notes")
    // Some at once, and not all. The list is not read again for each, but once, in pages, and perhaps for what was changed before.
    #expect(try editor.value("most") == "64")
    #expect(Int(try editor.value("lists"))! < 50 + count / 50)
    #expect(try other.call("notebook/list", ["trashed": true])["notes"]!.array!.isEmpty)
    #expect(try other.call("notebook/list")["notes"]!.array!.count == 1)
    try editor.type("E")
    try editor.wait("nothing", "\(last):find('the trash is empty', 1, true)")
  }

  @Test(arguments: Neovim.programs)
  func `the buffer of a note that is forgotten says so, and keeps its text`(_ program: String)
    throws
  {
    let state = TemporaryFolder()
    let scene = try NeovimScene(
      program, text: "precious", environment: ["XDG_STATE_HOME": state.path])
    let editor = scene.editor
    try scene.type("A words<Esc>", "precious words")
    try scene.other.call("note/delete", ["id": scene.note])
    try editor.wait("the trash", "require('decent-notes').status() == 'in the trash'")
    try scene.other.call("note/purge", ["id": scene.note])
    try editor.wait("the word about it", "\(last):find('was forgotten; :saveas', 1, true)")
    #expect(
      try editor.value(
        "require('decent-notes').status() .. text() .. tostring(vim.bo.modified or vim.bo.modifiable)"
      )
        == "forgottenprecious wordsfalse")
    try editor.lua("told = {}")
    try editor.command("w")
    try editor.wait("why not", "\(last):find(':saveas keeps its text', 1, true)")
    try editor.command("saveas \(state("kept.txt"))")
    #expect(try String(contentsOfFile: state("kept.txt"), encoding: .utf8) == "precious words")
    #expect(try editor.value("vim.bo.modifiable") == "true")
    // What was typed while the process did not run is in a file, too, if it was not taken.
    let second = try scene.other.call("note/create", ["title": "Second", "text": "old"])["note"]!
    let id = second["id"]!.string!
    try editor.command("edit note://\(id)")
    let process = try editor.serverProcess()
    kill(process, SIGSTOP)
    try editor.type("A and new<Esc>")
    try editor.wait("typed", "text() == 'old and new'")
    try scene.other.call("note/delete", ["id": .string(id)])
    try scene.other.call("note/purge", ["id": .string(id)])
    kill(process, SIGKILL)
    try editor.wait("the end", "require('decent-notes').status() == 'forgotten'")
    #expect(try editor.text == "old and new")
    let unsent = state("decent-notes/unsent")
    let file = try #require(
      try FileManager.default.contentsOfDirectory(atPath: unsent).first { $0.hasSuffix(".txt") })
    #expect(try String(contentsOfFile: unsent + "/" + file, encoding: .utf8) == "old and new")
  }

  @Test(arguments: Neovim.programs)
  func `a note of 40 MB is opened, and changed`(_ program: String) throws {
    let (folder, other, editor, _) = try scene(program, [])
    defer { withExtendedLifetime(folder) {} }
    let id = try longNote(other)
    try editor.command("edit note://\(id)")
    try editor.wait("all of it", "vim.fn.line('$') == \(LongText.lines + 1)")
    try editor.type("Githe end<Esc>")
    try editor.wait("kept", "not vim.bo.modified and vim.fn.getline('$') == 'the end'")
    #expect(
      try other.call("note/get", ["id": .string(id)])["text"]!.string!.hasSuffix("the end"))
  }

  @Test(arguments: Neovim.programs, BrokenServer.allCases)
  func `a program that is none of ours is given up, and Neovim says why`(
    _ program: String, _ server: BrokenServer
  ) throws {
    let folder = TemporaryFolder()
    let editor = try Neovim(
      program, notebook: folder("notes"), in: folder,
      setup: "vim.g.decent_notes_command = [[\(try server.write(in: folder))]]\n")
    for _ in 1...2 {
      try editor.lua("told = {}")
      try editor.command("Notes")
      try editor.wait("why", "\(last):find('does not speak the protocol: ', 1, true)")
    }
    try editor.type("ihere<Esc>")
    try editor.wait("the text", "text() == 'here'")
  }
}
