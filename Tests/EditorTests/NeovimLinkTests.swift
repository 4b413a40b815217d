// Links between notes in Neovim: followed, listed and completed.

import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting, .tags(.editor), .enabled(if: isNeovimReady, "nvim is missing"))
struct `The client for Neovim: links` {
  private let here =
    "require('decent-notes').title() .. ' ' .. table.concat(vim.api.nvim_win_get_cursor(0), ' ')"

  private func note(_ scene: NeovimScene, _ title: String, _ text: String) throws -> JSON {
    let made = try scene.other.call(
      "note/create", ["title": .string(title), "text": .string(text)])
    return .raw(made["note"]!["id"]!.written)
  }

  @Test(arguments: Neovim.programs)
  func `a link is followed, at its heading, and back`(_ program: String) throws {
    let scene = try NeovimScene(
      program, text: "é [[lisbon]] and [[Lisbon#later|x]]\nno link\n[[Nothing]]", title: "Week")
    let editor = scene.editor
    _ = try note(scene, "Lisbon", "# Now\nfado\n## Later #\nsea")
    try editor.type("fbgf")
    try editor.wait("the note", "\(here) == 'Lisbon 1 0'")
    try editor.type("<C-o>")
    try editor.wait("back", "\(here) == 'Week 1 8'")
    try editor.type("$<C-]>")
    try editor.wait("the heading", "\(here) == 'Lisbon 3 0'")
    try editor.type("<C-o>2Ggf")
    try editor.wait("no link", "told[#told] and told[#told]:find('E447')")
    try editor.type("3Ggf")
    try editor.wait(
      "no note", "told[#told]:find('no such note; :NoteNew makes one (\"Nothing\")', 1, true)")
  }

  @Test(arguments: Neovim.programs)
  func `a link opens in another window or tab page, and CTRL-T leads back`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "see [[Lisbon]] now\nword", title: "Week")
    let editor = scene.editor
    _ = try note(scene, "Lisbon", "fado")
    func expect(_ title: String, _ windows: Int, _ pages: Int) throws {
      try editor.wait(
        "\(title), \(windows) windows, \(pages) tab pages",
        "require('decent-notes').title() == '\(title)' and vim.fn.winnr('$') == \(windows) and vim.fn.tabpagenr('$') == \(pages)"
      )
    }
    try editor.type("fb<C-]>")
    try expect("Lisbon", 1, 1)
    try editor.type("<C-t>")
    try editor.wait("back", "\(here) == 'Week 1 9'")
    for (keys, windows, pages) in [("f", 2, 1), ("F", 2, 1), ("gf", 1, 2), ("gF", 1, 2)] {
      try editor.type("<C-w>\(keys)")
      try expect("Lisbon", windows, pages)
      try editor.command("close")
      try expect("Week", 1, 1)
    }
    for keys in ["gF", "vgf"] {
      try editor.type(keys)
      try expect("Lisbon", 1, 1)
      try editor.wait("Normal mode", "vim.fn.mode() == 'n'")
      try editor.type("<C-o>")
      try editor.wait("back", "\(here) == 'Week 1 9'")
    }
  }

  @Test(arguments: Neovim.programs)
  func `a word and the name of a file are none of the note's folder`(_ program: String) throws {
    let folder = TemporaryFolder()
    try "found".write(toFile: folder("a.txt"), atomically: true, encoding: .utf8)
    let scene = try NeovimScene(program, text: "word a.txt", title: "N")
    let editor = scene.editor
    try editor.command("cd \(folder.path)")
    try editor.type("0gf")
    try editor.wait("no file", "told[#told] and told[#told]:find('E447')")
    try editor.wait("the note", "require('decent-notes').title() == 'N' and vim.fn.winnr('$') == 1")
    for keys in ["$gf", "$gF", "0wv$hgf"] {
      try editor.type(keys)
      try editor.wait("the file", "vim.fn.expand('%:t') == 'a.txt'")
      try editor.type("<C-o>")
      try editor.wait("the note", "require('decent-notes').title() == 'N'")
    }
  }

  @Test(arguments: Neovim.programs)
  func `commands put the note here into the trash, and open that of the day`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "x", title: "N")
    let editor = scene.editor
    try editor.command("NoteDelete")
    try editor.wait("the trash", "require('decent-notes').status() == 'in the trash'")
    try editor.command("NoteToday")
    try editor.wait("the day", "require('decent-notes').title() == vim.fn.strftime('%Y-%m-%d')")
    try editor.command("let g:day = bufnr()")
    try editor.command("bprevious | NoteToday")
    try editor.wait("the same note", "vim.fn.bufnr() == vim.g.day")
  }

  @Test(arguments: Neovim.programs)
  func `where several notes may be meant the user says which`(_ program: String) throws {
    let scene = try NeovimScene(
      program, text: "[[MILK]]", title: "N",
      setup: "vim.ui.select = function(items, _, use) asked = #items; use(items[1]) end\n")
    _ = try note(scene, "Milk", "first")
    _ = try note(scene, "milk", "second")
    try scene.editor.type("gf")
    try scene.editor.wait("the first one", "asked == 2 and text() == 'first'")
  }

  @Test(arguments: Neovim.programs)
  func `a link in the header of a file is listed at the beginning of its note`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "x", title: "T")
    let scratch = TemporaryFolder()
    try "---\nup: \"[[T]]\"\n---\ntext\n".write(
      toFile: scratch("one.md"), atomically: true, encoding: .utf8)
    _ = try scene.other.call("notebook/import", ["path": .string(scratch("one.md"))])
    try scene.editor.command("NoteBacklinks")
    try scene.editor.wait("the list", "vim.bo.buftype == 'quickfix'")
    let items =
      "table.concat(vim.tbl_map(function(it) return it.lnum .. ':' .. it.col .. ' ' .. it.text end, vim.fn.getqflist()), '; ')"
    #expect(try scene.editor.value(items) == "1:1 up: \"[[T]]\"")
  }

  @Test(arguments: Neovim.programs)
  func `links that lead to a note are listed`(_ program: String) throws {
    let scene = try NeovimScene(program, text: "x", title: "T")
    let editor = scene.editor
    try editor.command("NoteBacklinks")
    try editor.wait("none", "told[#told]:find('no note links to this one')")
    _ = try note(scene, "one", "see [[t]]")
    _ = try note(scene, "two", "a\n[[T]] and [[t]]\nb [[T]]")
    try editor.command("NoteBacklinks")
    try editor.wait("the list", "vim.bo.buftype == 'quickfix'")
    let items =
      "table.concat(vim.tbl_map(function(it) return it.lnum .. ':' .. it.col .. ' ' .. it.text end, vim.fn.getqflist()), '; ')"
    #expect(try editor.value(items) == "2:1 [[T]] and [[t]]; 3:3 b [[T]]; 1:5 see [[t]]")
    try editor.type("2G<CR>")
    try editor.wait("the second one", "\(here) == 'two 3 2'")
  }

  @Test(arguments: Neovim.programs)
  func `names and tags are completed, while others write`(_ program: String) throws {
    let scene = try NeovimScene(program, text: "one", title: "N")
    let editor = scene.editor
    _ = try note(scene, "Shopping list", "")
    let twin = try note(scene, "Twin", "")
    _ = try note(scene, "twin", "")
    try scene.other.call("note/update", ["id": twin, "tags": ["homework", "home"]])
    try editor.type("o[[SHO<C-x><C-u>")
    try editor.wait("the title", "vim.fn.getline(2) == '[[Shopping list]]'")
    try editor.type(" [[twi<C-x><C-u>")
    try editor.wait("a choice", "vim.fn.pumvisible() == 1")
    let before = try scene.other.call("note/get", ["id": scene.note])
    try scene.other.call(
      "note/setText",
      [
        "id": scene.note, "text": .string("zero\n" + before["text"]!.string!),
        "base": .string(before["revision"]!.string!),
      ])
    try editor.type("<C-y>")
    try editor.type(" #ho<C-x><C-u>")
    try editor.wait("another choice", "vim.fn.pumvisible() == 1")
    try editor.type("<C-n> end<Esc>")
    try editor.wait(
      "all", "text():find('#homework end$') and text():find('^zero\\n') and not vim.bo.modified")
    let text = try editor.text
    #expect(text.contains("[[Shopping list]] [[") && text.contains("win]] #homework end"))
    try scene.expect(text)
    try editor.type("o[[shopp]]<Esc>hi<C-x><C-u>")
    try editor.wait("one pair of brackets", "vim.fn.getline('.') == '[[Shopping list]]'")
    try editor.type("<Esc>oplain<C-x><C-u>!<Esc>")
    try editor.wait("nothing", "vim.fn.getline('.') == 'plain!'")
  }

  @Test(arguments: Neovim.programs)
  func `keys and functions of the user's stay`(_ program: String) throws {
    let scene = try NeovimScene(program, text: "x", setup: "vim.g.decent_notes_links = false\n")
    #expect(try scene.editor.value("vim.fn.maparg('gf', 'n') .. vim.bo.completefunc") == "")
    let other = try NeovimScene(
      program, text: "x", setup: "vim.o.completefunc = 'Mine'\n")
    #expect(try other.editor.value("vim.bo.completefunc") == "Mine")
  }

  @Test(arguments: Neovim.programs)
  func `another title changes the links to the note, and says in how many notes`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "I am [[Old]]", title: "Old")
    let editor = scene.editor
    let one = try note(scene, "one", "see [[old]]")
    _ = try note(scene, "two", "[[Old|x]] and [[OLD]]")
    func text(_ note: JSON) throws -> String {
      try scene.other.call("note/get", ["id": note])["text"]!.string!
    }
    // What is not sent yet is in the note.
    try editor.type("Ax<Esc>:NoteTitle New<CR>")
    try editor.wait(
      "the title", "told[1] == 'Decent Notes: title: New; the links in 3 notes follow'")
    try scene.expect("I am [[New]]x")
    #expect(try text(one) == "see [[New]]")
    try scene.other.call("note/create", ["title": "new"])
    try editor.command("Notes")
    try editor.type("/^New<CR>r")
    try editor.wait("the question", "vim.fn.getcmdline() == 'New'")
    try editor.type("er<CR>")
    try editor.wait("the title", "told[#told]:find('title: Newer; those in 3 may mean another')")
    #expect(try text(one) == "see [[New]]")
    try editor.command("edit note://\(scene.id)")
    try editor.type("u")
    try editor.wait("undone", "require('decent-notes').title() == 'New'")
  }
}
