// Vim: files in and out, and notes that are forgotten for good.

import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(
  .waiting, .tags(.editor),
  .enabled(if: Vim.isPossible || isContinuousIntegration, "vim or tmux is missing"))
struct `The client for Vim: files and the trash` {
  /// A Vim and a folder with these files.
  static func beside(_ files: [String: String]) throws -> (Vim, String) {
    let vim = try Vim()
    let folder = vim.folder("my files")
    try writeFiles(files, in: folder)
    return (vim, folder)
  }

  @Test func `a folder is imported, and exported, and what is left out is in the quickfix list`()
    throws
  {
    let (vim, folder) = try Self.beside(["one.md": "first\n", "sub/two.txt": "2", "bad.md": "a\0b"])
    try vim.run("Notes")
    // The folder is completed, with its blank.
    try vim.terminal.type(":NotesImport ~/my\t\r")
    try vim.terminal.wait("the counts") {
      $0.last?.hasPrefix("Decent Notes: 2 created; 1 left out, see :copen") == true
    }
    try vim.wait(
      "getline(2, '$')->map('v:val[13 :]')->string()",
      "['one          one.md', 'two          sub/two.txt']")
    #expect(
      try vim.eval("getqflist()->map('bufname(v:val.bufnr) .. v:val.text')[0]")
        == "\(folder)/bad.md" + "there is U+0000 at byte 1, as in no text: take it out")
    try vim.terminal.type("2G\r")
    try vim.wait("decent_notes#Path()", "one.md")
    try vim.run("set laststatus=2")
    try vim.terminal.wait("the path") { $0[22].hasPrefix("one (one.md) ") }
    try vim.terminal.type("Aagain \u{1b}")
    try vim.wait("&modified", "0")
    try vim.terminal.type(":NotesExport ~/my\\ files\r")
    try vim.terminal.wait("the counts") {
      $0.last?.hasPrefix("Decent Notes: 1 written, 1 unchanged") == true
    }
    #expect(try String(contentsOfFile: folder + "/one.md", encoding: .utf8) == "firstagain \n")
    // A folder that has other files.
    try writeFiles(["x": "mine"], in: vim.folder("theirs"))
    try vim.terminal.type(":NotesExport $HOME/theirs\r")
    try vim.terminal.wait("why not") { $0.last?.contains("other files are there") == true }
    try vim.terminal.type(":NotesExport! $HOME/theirs\r")
    try vim.terminal.wait("the counts") { $0.last?.hasSuffix(": 2 written") == true }
    #expect(try String(contentsOfFile: vim.folder("theirs/x"), encoding: .utf8) == "mine")
    try vim.terminal.type(":NotesImport /nowhere\r")
    try vim.terminal.wait("why not") { $0.last?.contains("/nowhere") == true }
    #expect(try vim.eval("v:errmsg") == "")
  }

  @Test func `CTRL-C gives up an import, and Vim goes on`() throws {
    let (vim, folder) = try Self.beside([:])
    for part in 0..<20 {
      try writeFiles(
        Dictionary(
          uniqueKeysWithValues: (0..<250).map { ("\($0).md", "text \($0) of \(part)\n") }),
        in: folder + "/\(part)")
    }
    try vim.run("Notes")
    try vim.wait("getline(1)[:4]", "Notes")
    let process = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(process, SIGSTOP)
    try vim.terminal.type(":NotesImport ~/my\\ files\r")
    try waitUntil("no progress", every: 0) {
      try runBriefly(process)
      return try vim.terminal.screen().last?.contains(" of 5000 files (CTRL-C") == true
    }
    try vim.terminal.press("C-c")
    try vim.terminal.wait("the end") { $0.last?.contains("is being given up") == true }
    kill(process, SIGCONT)
    try vim.terminal.wait("the end") { $0.last?.contains("given up; what was done") == true }
    let count = try vim.other.call("notebook/list")["notes"]!.array!.count
    #expect(count > 0 && count < 5000)
    // The list shows what is there.
    try vim.wait("line('$')", "\(count + 1)")
  }

  @Test func `a note is forgotten from the trash only, and after a question`() throws {
    let (vim, ids) = try `The client for Vim: the list`.showing("A", "B", "C", "D", "E", "F")
    let titles = `The client for Vim: the list`.titles
    try vim.terminal.type("D")
    try vim.terminal.wait("why not") { $0.last?.contains("only notes in the trash") == true }
    try vim.terminal.type("6dd")
    try vim.terminal.type("T")
    try vim.wait(titles, "['A', 'B', 'C', 'D', 'E', 'F']")
    try vim.terminal.type("2GD")
    try vim.terminal.wait("the question") { $0.contains { $0.hasPrefix("Forget \"A\" for good") } }
    // Return takes the default.
    try vim.terminal.press("Enter")
    try vim.wait("mode()", "n")
    #expect(try vim.eval(titles) == "['A', 'B', 'C', 'D', 'E', 'F']")
    try vim.terminal.type("D")
    try vim.terminal.wait("the question") { $0.contains { $0.hasPrefix("Forget \"A\" for good") } }
    try vim.terminal.type("f")
    try vim.wait(titles, "['B', 'C', 'D', 'E', 'F']")
    try waitUntil("A is still there") {
      (try? vim.other.call("note/get", ["id": .string(ids["A"]!)])) == nil
    }
    try vim.terminal.type("Vj")
    try vim.terminal.type("D")
    try vim.terminal.wait("the question") { $0.contains { $0.hasPrefix("Forget 2 notes") } }
    try vim.terminal.type("f")
    try vim.wait(titles, "['D', 'E', 'F']")
    // Another one restores a note, and purges one, while the question waits.
    try vim.terminal.type("2GD")
    try vim.terminal.wait("the question") { $0.contains { $0.hasPrefix("Forget \"D\" for good") } }
    try vim.other.call("note/restore", ["id": .string(ids["D"]!)])
    // The list stays as it is during the question.
    try vim.wait(`The client for Vim: the list`.waitsForRest, "1")
    #expect(try vim.eval(titles) == "['D', 'E', 'F']")
    try vim.terminal.type("f")
    try vim.terminal.wait("why not") { $0.last?.contains("not in the trash any more") == true }
    try vim.wait(titles, "['E', 'F']")
    try vim.terminal.type("2GD")
    try vim.terminal.wait("the question") { $0.contains { $0.hasPrefix("Forget \"E\" for good") } }
    try vim.other.call("note/purge", ["id": .string(ids["E"]!)])
    try vim.terminal.type("f")
    try vim.terminal.wait("done") { $0.last?.contains("forgotten by others") == true }
    try vim.wait(titles, "['F']")
    #expect(try vim.other.call("notebook/list")["notes"]!.array!.count == 1)
    try vim.run("edit note://\(ids["D"]!)")
    try vim.terminal.type(":NotePurge\r")
    try vim.terminal.wait("why not") { $0.last?.contains("only notes in the trash") == true }
  }

  @Test func `a trash of thousands is emptied at once`() throws {
    let vim = try Vim()
    let count = scaled(3000, 20_000)
    try fillTrash(vim.other, count)
    let kept = try vim.note("Kept", "")
    try vim.run("Notes")
    try vim.terminal.type("T")
    try vim.wait("line('$')", "\(count + 1)")
    let before = Int(try vim.eval("b:changedtick"))!
    try vim.terminal.type("E")
    try vim.terminal.wait("the question") {
      $0.contains { $0.hasPrefix("Empty the trash? Its \(count) notes") }
    }
    try vim.terminal.type("f")
    try vim.terminal.wait("how far it is") { $0.last?.contains(" of \(count) (CTRL-C") == true }
    try vim.terminal.wait("the count") {
      $0.last?.contains("\(count) forgotten for good") == true
    }
    try vim.wait("line('$')", "1")
    // The list was read again once.
    #expect(Int(try vim.eval("b:changedtick"))! - before <= 3)
    #expect(try vim.other.call("notebook/list", ["trashed": true])["notes"]!.array!.isEmpty)
    #expect(
      try vim.other.call("notebook/list")["notes"]!.array!.map { $0["id"]!.string! } == [kept])
    try vim.terminal.type("E")
    try vim.terminal.wait("nothing") { $0.last?.contains("the trash is empty") == true }
  }

  @Test func `the buffer of a note that is forgotten says so, and keeps its text`() throws {
    let (vim, id) = try Vim.showing("precious")
    try vim.terminal.type("A words\u{1b}")
    try vim.agree(id, on: "precious words")
    try vim.other.call("note/delete", ["id": .string(id)])
    try vim.wait("decent_notes#Status()", "in the trash")
    try vim.other.call("note/purge", ["id": .string(id)])
    try vim.terminal.wait("the word about it") {
      $0.last?.hasPrefix("Decent Notes: this note was forgotten; :saveas keeps its text") == true
    }
    #expect(
      try vim.eval("[decent_notes#Status(), g:Text(), &modified, &modifiable]->string()")
        == "['forgotten', 'precious words', 0, 0]")
    try vim.terminal.type(":w\r")
    try vim.terminal.wait("why not") { $0.last?.contains(":saveas keeps its text") == true }
    try vim.run("saveas \(vim.folder("kept.txt"))")
    #expect(
      try String(contentsOfFile: vim.folder("kept.txt"), encoding: .utf8) == "precious words")
    try vim.wait("&modifiable", "1")
    // What was typed while the process did not run is in a file, too, if it was not taken.
    let second = try vim.note("Second", "old")
    try vim.run("edit note://\(second)")
    let process = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(process, SIGSTOP)
    try vim.terminal.type("A and new\u{1b}")
    try vim.wait("g:Text()", "old and new")
    try vim.other.call("note/delete", ["id": .string(second)])
    try vim.other.call("note/purge", ["id": .string(second)])
    kill(process, SIGKILL)
    try vim.wait("decent_notes#Status()", "forgotten")
    #expect(try vim.eval("g:Text()") == "old and new")
    #expect(Array(vim.unsentTexts().values) == ["old and new"])
  }
}
