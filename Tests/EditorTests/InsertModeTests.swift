// Habits of Insert mode, while others write above, below, before and behind what is typed. Vim and Neovim remember where an insertion began,
// and the marks of the last change, and move neither along with the edits of others.

import Foundation
import TestSupport
import Testing

private let text = "head\nfirst\nsecond line end\nthird"

/// What somebody else writes, in one place of the text: nothing at first.
private let edits = [
  ("head", "head"), ("head", "zero\nhead"), ("head\n", ""), ("third", "third!"),
  ("second", "the second"), ("second ", "2 "), ("end", "the end"), ("yp", "yXp"),
]

struct Habit: CustomTestStringConvertible {
  var name: String
  /// What is typed before and after somebody else writes, in the notation of mappings, and what the text is then without others.
  var before: String
  var typed: String
  var after: String
  var result: String

  var testDescription: String { name }

  init(_ name: String, _ before: String, _ line: String, _ after: String, _ lines: String) {
    (self.name, self.before, self.after) = (name, "gg" + before, after)
    typed = "head\nfirst\n\(line)\nthird"
    result = "head\n\(lines)\nthird"
  }

  /// The edits that make no difference to what is typed.
  var harmless: [(old: String, new: String)] {
    // What is typed again is what was typed, not what others made of it.
    let isRepeated = [".", "<C-A>"].contains { after.contains($0) } || before.contains("2i")
    // Vim and Neovim look for no abbreviation before the column where the insertion began.
    let isAbbreviation = before.contains(":iab")
    return edits.filter { old, _ in
      !(isRepeated && old == "yp") && !(isAbbreviation && old == "second ")
    }
  }

  static let all = [
    Habit(
      "CTRL-U", "/line<CR>llityped two", "second lityped twone end", "<C-U><Esc>",
      "first\nsecond line end"),
    Habit(
      "CTRL-W", "/line<CR>llityped", "second litypedne end", "<C-W><Esc>", "first\nsecond line end"),
    Habit(
      "CTRL-W, twice", "/line<CR>llityped two", "second lityped twone end", "<C-W><C-W><Esc>",
      "first\nsecond line end"),
    Habit(
      "CTRL-W in what was typed", "/line<CR>llityped two", "second lityped twone end", "<C-W><Esc>",
      "first\nsecond lityped ne end"),
    Habit(
      ".", "/line<CR>llityped", "second litypedne end", "more<Esc>?first<CR>.",
      "typedmorefirst\nsecond litypedmorene end"),
    Habit(
      ". behind", "/line<CR>llityped<Esc>", "second litypedne end", "?first<CR>.",
      "typedfirst\nsecond litypedne end"),
    Habit(
      "`[", "/line<CR>llityped<Esc>", "second litypedne end", "`[iA<Esc>",
      "first\nsecond liAtypedne end"),
    Habit(
      "`]", "/line<CR>llityped<Esc>", "second litypedne end", "`]aB<Esc>",
      "first\nsecond litypednBe end"),
    Habit(
      "`[ after the edit", "/line<CR>llityped", "second litypedne end", "<Esc>`[iA<Esc>",
      "first\nsecond liAtypedne end"),
    Habit(
      "`] after the edit", "/line<CR>llityped", "second litypedne end", "<Esc>`]aB<Esc>",
      "first\nsecond litypednBe end"),
    Habit(
      "gi", "/line<CR>llityped<Esc>", "second litypedne end", "gggi!<Esc>",
      "first\nsecond lityped!ne end"),
    Habit(
      "CTRL-A", "/line<CR>llityped<Esc>", "second litypedne end", "?first<CR>i<C-A><Esc>",
      "typedfirst\nsecond litypedne end"),
    Habit(
      "an abbreviation", ":iab teh the<CR>/line<CR>iteh", "second tehline end", " <Esc>",
      "first\nsecond the line end"),
    Habit(
      "CTRL-N", "/line<CR>ifir", "second firline end", "<C-N><C-Y> <Esc>",
      "first\nsecond first line end"),
    Habit(
      "a repeated insertion", "/line<CR>ll2ityped", "second litypedne end", "<Esc>",
      "first\nsecond litypedtypedne end"),
  ]
}

/// Characters that take more than one key, and words that the input method of a terminal has found: what is typed before and after somebody
/// else writes, and the line then.
private let conversions = [
  ("gg/line<CR>i<C-K>e", ":<Esc>", "second ëline end"),
  (":setlocal keymap=accents<CR>:set notimeout<CR>gg/line<CR>i'", "e<Esc>", "second éline end"),
  ("gg/line<CR>i", "日本語<Esc>", "second 日本語line end"),
]

/// Both editors' names of keys.
private func bytes(_ keys: String) -> String {
  var keys = keys.replacing("<CR>", with: "\r").replacing("<Esc>", with: "\u{1b}")
  for letter in "WANYUK" {
    keys = keys.replacing("<C-\(letter)>", with: String(Unicode.Scalar(letter.asciiValue! - 64)))
  }
  return keys
}

@Suite(
  .waiting, .tags(.editor),
  .enabled(if: Vim.isPossible || isContinuousIntegration, "vim or tmux is missing"))
struct `The client for Vim: Insert mode` {
  @Test(arguments: Habit.all)
  func `does what it does without others`(_ habit: Habit) throws {
    let vim = try Vim()
    for (old, new) in habit.harmless {
      let note = try vim.note("N", text)
      try vim.run("edit note://\(note)")
      try vim.terminal.type(bytes(habit.before))
      try vim.agree(note, on: habit.typed)
      try vim.change(note) { $0 = $0.replacing(old, with: new) }
      try vim.agree(note, on: habit.typed.replacing(old, with: new))
      try vim.terminal.type(bytes(habit.after))
      try vim.agree(note, on: habit.result.replacing(old, with: new))
    }
  }

  @Test func `sends a conversion when it has ended, as one step of undo`() throws {
    let vim = try Vim()
    for (before, after, line) in conversions {
      let note = try vim.note("N", text)
      try vim.run("edit note://\(note)")
      try vim.terminal.type(bytes(before))
      try vim.terminal.wait("Insert mode") { $0.last?.contains("INSERT") == true }
      usleep(300_000)
      #expect(try vim.text(note) == text)
      try vim.change(note) { $0 = $0.replacing("head", with: "zero\nhead") }
      usleep(300_000)
      #expect(try vim.text(note) == "zero\n" + text)
      try vim.terminal.type(bytes(after))
      try vim.agree(note, on: "zero\n" + text.replacing("second line end", with: line))
      try vim.terminal.type("u")
      try vim.agree(note, on: "zero\n" + text)
    }
  }
}

@Suite(.waiting, .tags(.editor), .enabled(if: isNeovimReady, "nvim is missing"))
struct `The client for Neovim: Insert mode` {
  @Test(arguments: Neovim.programs, Habit.all)
  func `does what it does without others`(_ program: String, _ habit: Habit) throws {
    let scene = try NeovimScene(program)
    for (old, new) in habit.harmless {
      try scene.receive(text)
      try scene.type(habit.before, habit.typed)
      try scene.receive(habit.typed.replacing(old, with: new))
      try scene.type(habit.after, habit.result.replacing(old, with: new))
    }
  }

  @Test(arguments: Neovim.programs)
  func `sends a conversion when it has ended, as one step of undo`(_ program: String) throws {
    let scene = try NeovimScene(program)
    for (before, after, line) in conversions {
      try scene.receive(text)
      // Neovim answers nothing before the character is complete: a timer types the rest of it.
      try scene.editor.lua(
        """
        vim.loop.new_timer():start(1200, 0, function() vim.api.nvim_input(\(luaString(after))) end)
        vim.api.nvim_input(\(luaString(before)))
        """)
      usleep(500_000)
      #expect(try scene.stored == text)
      try scene.set("zero\n" + text)
      try scene.expect("zero\n" + text.replacing("second line end", with: line))
      try scene.type("u", "zero\n" + text)
    }
  }
}
