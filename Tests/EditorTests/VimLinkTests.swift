// Links between notes in Vim: followed, listed and completed.

import Foundation
import TestSupport
import Testing

@Suite(
  .waiting, .tags(.editor),
  .enabled(if: Vim.isPossible || isContinuousIntegration, "vim or tmux is missing"))
struct `The client for Vim: links` {
  private let here = "[get(b:, 'note_title', ''), getcurpos()[1:2]]->string()"

  @Test func `a link is followed, at its heading, and back`() throws {
    let vim = try Vim()
    _ = try vim.note("Shopping", "# Now\nmilk\n## Later #\neggs")
    let week = try vim.note("Week", "é [[shopping]] and [[Shopping#later|x]]\nno link")
    try vim.run("edit note://\(week)")
    try vim.terminal.type("fpgf")
    try vim.wait(here, "['Shopping', [1, 1]]")
    try vim.terminal.press("C-o")
    try vim.wait(here, "['Week', [1, 9]]")
    try vim.terminal.type("$")
    try vim.terminal.press("C-]")
    try vim.wait(here, "['Shopping', [3, 1]]")
    try vim.terminal.press("C-o")
    // Where there is no link the keys do what they always do.
    try vim.terminal.type("2G")
    try vim.terminal.press("C-]")
    try vim.terminal.wait("the message") { $0.last?.contains("E433: No tags file") == true }
    try vim.terminal.type("S[[Nothing]]\u{1b}gf")
    try vim.terminal.wait("the message") {
      $0.last?.contains("no such note; :NoteNew makes one (\"Nothing\")") == true
    }
    try vim.agree(week, on: "é [[shopping]] and [[Shopping#later|x]]\n[[Nothing]]")
  }

  @Test func `a link opens in another window or tab page, and CTRL-T leads back`() throws {
    let vim = try Vim()
    _ = try vim.note("Shopping", "milk")
    let week = try vim.note("Week", "see [[Shopping]] now\nword")
    try vim.run("edit note://\(week)")
    let state = "[get(b:, 'note_title', ''), winnr('$'), tabpagenr('$')]->string()"
    try vim.terminal.type("fp")
    try vim.terminal.press("C-]")
    try vim.wait(state, "['Shopping', 1, 1]")
    try vim.terminal.press("C-t")
    try vim.wait(here, "['Week', [1, 10]]")
    for (keys, expected) in [
      ("f", "['Shopping', 2, 1]"), ("F", "['Shopping', 2, 1]"), ("gf", "['Shopping', 1, 2]"),
      ("gF", "['Shopping', 1, 2]"),
    ] {
      try vim.terminal.press("C-w")
      try vim.terminal.type(keys)
      try vim.wait(state, expected)
      try vim.run("close")
      try vim.wait(state, "['Week', 1, 1]")
    }
    try vim.terminal.type("gF")
    try vim.wait(state, "['Shopping', 1, 1]")
    try vim.terminal.press("C-o")
    try vim.wait(here, "['Week', [1, 10]]")
    try vim.terminal.type("vgf")
    try vim.wait(state, "['Shopping', 1, 1]")
    try vim.wait("mode()", "n")
  }

  @Test func `a word and the name of a file are none of the note's folder`() throws {
    let vim = try Vim()
    let folder = TemporaryFolder()
    try "found".write(toFile: folder("a.txt"), atomically: true, encoding: .utf8)
    let note = try vim.note("N", "word a.txt")
    try vim.run("cd \(folder.path)")
    try vim.run("edit note://\(note)")
    for keys in ["gf", "gF", "vegf"] {
      try vim.terminal.type("0\(keys)")
      try vim.terminal.wait("the message") { $0.last?.contains("Can't find file") == true }
      try vim.terminal.type("\u{1b}:\r")
      try vim.wait("[b:note_title, winnr('$')]->string()", "['N', 1]")
    }
    for keys in ["$gf", "$gF", "0wv$hgf"] {
      try vim.terminal.type(keys)
      try vim.wait("expand('%:t')", "a.txt")
      try vim.terminal.press("C-o")
      try vim.wait("get(b:, 'note_title', '')", "N")
    }
  }

  @Test func `commands put the note here into the trash, and open that of the day`() throws {
    let vim = try Vim()
    let note = try vim.note("N", "text")
    try vim.run("edit note://\(note)")
    try vim.run("NoteDelete")
    try vim.wait("get(b:, 'note_trashed', v:false) ? 1 : 0", "1")
    try vim.run("NoteToday")
    try vim.wait("b:note_title == strftime('%Y-%m-%d') ? 1 : 0", "1")
    let id = try vim.eval("decent_notes#live#Of(bufnr()).id")
    try vim.run("edit note://\(note)")
    try vim.run("NoteToday")
    try vim.wait("decent_notes#live#Of(bufnr()).id", id)
  }

  @Test func `where several notes may be meant the user says which`() throws {
    let vim = try Vim()
    let first = try vim.note("Milk", "first")
    _ = try vim.note("milk", "second")
    let note = try vim.note("N", "[[MILK]]")
    try vim.run("edit note://\(note)")
    try vim.terminal.type("gf")
    try vim.terminal.wait("the question") { $0.contains { $0.hasPrefix("2. milk") } }
    try vim.terminal.type("1\r")
    try vim.wait("g:Text()", "first")
    #expect(try vim.eval("decent_notes#live#Of(bufnr()).id") == first)
  }

  @Test func `links that lead to a note are listed`() throws {
    let vim = try Vim()
    let target = try vim.note("T", "x")
    _ = try vim.note("one", "see [[t]]")
    _ = try vim.note("two", "a\n[[T]] and\nb [[T]]")
    try vim.run("edit note://\(target)")
    try vim.run("NoteBacklinks")
    try vim.wait(
      "getqflist()->map('[v:val.lnum, v:val.col, v:val.text]')->string()",
      "[[2, 1, '[[T]] and'], [3, 3, 'b [[T]]'], [1, 5, 'see [[t]]']]")
    try vim.wait(here, "['two', [2, 1]]")
    try vim.run("Notes")
    try vim.terminal.type("gg/one\r:NoteBacklinks\r")
    try vim.terminal.wait("the message") { $0.last?.contains("no note links to this one") == true }
  }

  @Test func `a link in the header of a file is listed at the beginning of its note`() throws {
    let vim = try Vim()
    let target = try vim.note("T", "x")
    let scratch = TemporaryFolder()
    try "---\nup: \"[[T]]\"\n---\ntext\n".write(
      toFile: scratch("one.md"), atomically: true, encoding: .utf8)
    _ = try vim.other.call("notebook/import", ["path": .string(scratch("one.md"))])
    try vim.run("edit note://\(target)")
    try vim.run("NoteBacklinks")
    try vim.wait(
      "getqflist()->map('[v:val.lnum, v:val.col, v:val.text]')->string()",
      "[[1, 1, 'up: \"[[T]]\"']]")
    try vim.wait(here, "['one', [1, 1]]")
  }

  @Test func `names and tags are completed, while others write`() throws {
    let vim = try Vim()
    _ = try vim.note("Shopping list", "")
    let twin = try vim.note("Twin", "")
    _ = try vim.note("twin", "")
    try vim.other.call(
      "note/update", ["id": .string(twin), "tags": ["homework", "home"]])
    let note = try vim.note("N", "one")
    try vim.run("edit note://\(note)")
    try vim.terminal.type("o[[SHO")
    try vim.terminal.press("C-x", "C-u")
    try vim.wait("getline(2)", "[[Shopping list]]")
    // What others write waits for the end of a choice.
    try vim.terminal.type(" [[twi")
    try vim.terminal.press("C-x", "C-u")
    try vim.wait("pumvisible()", "1")
    try vim.change(note) { $0 = "zero\n" + $0 }
    try vim.waitUntilSkipped()
    try vim.terminal.press("C-y")
    try vim.terminal.type(" #ho")
    try vim.wait("line('.')", "3")
    try vim.terminal.press("C-x", "C-u")
    try vim.wait("pumvisible()", "1")
    try vim.terminal.press("C-n")
    try vim.terminal.type(" end\u{1b}")
    let text = try vim.agree(note)
    #expect(text.hasPrefix("zero\none\n[[Shopping list]] [[") && text.hasSuffix("]] #homework end"))
    #expect(text.contains("|Twin]]") || text.contains("|twin]]"))
    // Brackets that are there are not doubled; elsewhere nothing is completed.
    try vim.terminal.type("o[[shopp]]\u{1b}hi")
    try vim.terminal.press("C-x", "C-u")
    try vim.wait("getline('.')", "[[Shopping list]]")
    try vim.terminal.type("\u{1b}oplain")
    try vim.terminal.press("C-x", "C-u")
    try vim.terminal.type("!\u{1b}")
    try vim.wait("getline('.')", "plain!")
  }

  @Test func `keys and functions of the user's stay`() throws {
    let vim = try Vim()
    let note = try vim.note("N", "text")
    try vim.run("let g:decent_notes_links = 0")
    try vim.run("edit note://\(note)")
    #expect(try vim.eval("[maparg('gf', 'n'), &completefunc]->string()") == "['', '']")
    let other = try vim.note("O", "text")
    try vim.run("let g:decent_notes_links = 1 | set completefunc=Mine | edit note://\(other)")
    #expect(try vim.eval("&completefunc") == "Mine")
    #expect(try vim.eval("maparg('gf', 'n')").contains("Follow"))
    try vim.run("saveas! \(vim.folder("file"))")
    #expect(try vim.eval("maparg('gf', 'n')") == "")
  }
}
