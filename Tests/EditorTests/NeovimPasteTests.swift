import Foundation
import JSONRPC
import TestSupport
import Testing

/// A terminal's paste comes to Neovim in pieces of at most 4,095 bytes, which end anywhere, also inside a character.
@Suite(.waiting, .tags(.editor), .enabled(if: isNeovimReady, "nvim is missing"))
struct `The client for Neovim: pasting` {
  /// Has characters of 1, 2, 3 and 4 bytes.
  private static let unit = "aé日😀"

  @Test(arguments: Neovim.programs)
  func `a paste in pieces that end inside characters arrives whole, as one change`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "<>")
    for (key, mode) in [("a", "i"), ("", "n")] {
      try scene.receive("<>")
      try scene.editor.type("<Esc>0" + key)
      try scene.editor.wait("the mode", "vim.fn.mode() == '\(mode)' and vim.fn.col('.') <= 2")
      let version = Int(try scene.editor.value("require('decent-notes.note').of().version"))!
      let bytes = Array((Self.unit + "\n" + Self.unit).utf8)
      // Each piece is a message of its own, after which Neovim waits for the next.
      for (index, byte) in bytes.enumerated() {
        let phase = index == 0 ? 1 : index == bytes.count - 1 ? 3 : 2
        try scene.editor.lua("vim.api.nvim_paste('\\\(byte)', false, \(phase))")
      }
      try scene.expect("<" + Self.unit + "\n" + Self.unit + ">")
      #expect(
        try scene.editor.value("require('decent-notes.note').of().version") == "\(version + 1)")
      try scene.editor.type("<Esc>")
      try scene.editor.wait("normal mode", "vim.fn.mode() == 'n'")
      try scene.type("u", "<>")
    }
    #expect(try scene.editor.value("told_of_notes()") == "")
  }

  @Test(arguments: Neovim.programs)
  func `what others do during a paste comes after it, and a paste that is cut off is sent`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "one")
    try scene.editor.type("A")
    try scene.editor.wait("insert mode", "vim.fn.mode() == 'i'")
    try scene.editor.lua("vim.api.nvim_paste('two', false, 1)")
    try scene.set("zero\none")
    let note = "require('decent-notes.note').of()"
    try scene.editor.wait("a push", "\(note).skipped == \(note).version")
    #expect(try scene.editor.text == "onetwo")
    #expect(try scene.editor.value("vim.bo.modified") == "true")
    try scene.editor.lua("vim.api.nvim_paste('three', false, 3)")
    try scene.expect("zero\nonetwothree")
    // No end comes.
    try scene.editor.lua("vim.api.nvim_paste('four', false, 1)")
    try scene.expect("zero\nonetwothreefour")
    // The server dies while half a character is there.
    try scene.editor.lua("vim.api.nvim_paste('\\195', false, 1)")
    kill(try scene.editor.serverProcess(), SIGKILL)
    try scene.editor.wait("another", "require('decent-notes.server').is_ready()")
    try scene.editor.lua("vim.api.nvim_paste('\\169', false, 3)")
    try scene.expect("zero\nonetwothreefouré")
    #expect(try scene.editor.value("told_of_notes()") == "")
  }

  @Test(arguments: Neovim.programs)
  func `what a terminal pastes is exact, wherever its pieces end`(_ program: String) throws {
    let folder = TemporaryFolder()
    let other = try Server(folder("notes"))
    try other.initialize()
    let note = JSON.raw(try other.call("note/create", ["title": "Paste"])["note"]!["id"]!.written)
    let settings = folder("init.lua")
    try Neovim.settings(notebook: folder("notes"))
      .write(toFile: settings, atomically: true, encoding: .utf8)
    let id = note.text.dropFirst().dropLast()
    let terminal = try Terminal(
      "exec \(quoted(program)) -n -i NONE -u \(quoted(settings)) -c 'edit note://\(id)'")
    try terminal.wait("the note") { $0.contains { $0.contains("connected") } }

    func paste(_ text: String) throws {
      try other.call("note/setText", ["id": note, "text": ""])
      try terminal.wait("an empty note") { $0[0] == "" && $0[1].hasPrefix("~") }
      try terminal.type("i")
      // The last line tells that all is there.
      try terminal.paste(text + "\nend")
      var stored = ""
      try terminal.wait("the end") { _ in
        stored = try other.call("note/get", ["id": note])["text"]!.string!
        return stored.hasSuffix("end")
      }
      guard stored == text + "\nend" else {
        throw Failure(
          "of \(text.utf8.count) bytes \(stored.utf8.count - 4) arrived, with "
            + "\(stored.unicodeScalars.filter { $0 == "\u{FFFD}" }.count) that were mended")
      }
      try terminal.press("Escape")
      try terminal.wait("the screen") { $0.contains("end") }
    }
    // Ten bytes: each shift has other characters at the ends of the three pieces.
    for shift in 0..<10 {
      try paste(
        String(repeating: "x", count: shift) + String(repeating: Self.unit, count: 1230))
    }
    guard isLong else { return }
    for pieces in 1...16 {
      for size in (pieces * 4095 - 12)...(pieces * 4095 + 4) {
        let whole = String(repeating: Self.unit, count: size / 10)
        try paste(String(repeating: "x", count: size % 10) + whole)
      }
    }
    for size in 1...100 { try paste(String(repeating: "é", count: size)) }
  }

  @Test(arguments: Neovim.programs)
  func `keys and pastes while a note is opened go into that note, also at a start`(
    _ program: String
  ) throws {
    let folder = TemporaryFolder()
    let other = try Server(folder("notes"))
    try other.initialize()
    let note = JSON.raw(try other.call("note/create", ["title": "Paste"])["note"]!["id"]!.written)
    // A program that is stopped at its start.
    try writeProgram(
      "#!/bin/sh\necho $$ >\(folder("process"))\nkill -STOP $$\nexec decent-notes \"$@\"\n",
      to: folder("program"))
    let settings = folder("init.lua")
    try
      (Neovim.settings(notebook: folder("notes"))
      + "vim.g.decent_notes_command = [[\(folder("program"))]]\n")
      .write(toFile: settings, atomically: true, encoding: .utf8)
    let terminal = try Terminal(
      "exec \(quoted(program)) -n -i NONE -u \(quoted(settings)) -c 'Note Paste'")
    let server: pid_t = try waitFor("the server") {
      (try? String(contentsOfFile: folder("process"), encoding: .utf8))
        .flatMap { $0.hasSuffix("\n") ? pid_t($0.dropLast()) : nil }
    }
    defer { kill(server, SIGKILL) }
    // Keys right behind a paste may come before it, since Neovim takes keys at once: people's come later.
    func write(_ text: String, until sign: String? = nil) throws {
      try terminal.type("Go\(text) ")
      try terminal.paste("pasted\nlines")
      guard let sign else { return }
      try terminal.wait("\(sign)") { $0.contains { $0.contains(sign) } }
      try end(text)
    }
    func end(_ text: String) throws {
      try terminal.type(" \(text)")
      try terminal.press("Escape")
    }
    func expect(_ text: String) throws {
      try terminal.wait("\(text.debugDescription) there") { _ in
        try other.call("note/get", ["id": note])["text"]!.string! == text
      }
      try terminal.wait("the note") { $0.contains { $0.contains("connected") } }
    }
    // Brackets around a paste come when the terminal was asked for them.
    try terminal.wait("why nothing happens") { $0.contains { $0.contains("no answer") } }
    try write("a")
    kill(server, SIGCONT)
    try terminal.wait("the paste") { $0.contains { $0.contains("a pasted") } }
    try end("a")
    try expect("\na pasted\nlines a")
    try terminal.type(":enew\r")
    try terminal.wait("another buffer") { $0[0] == "" }
    kill(server, SIGSTOP)
    try terminal.type(":Note Paste\r")
    try write("b", until: ":NotesRestart")
    kill(server, SIGCONT)
    try expect("\na pasted\nlines a\nb pasted\nlines b")
    // What is typed behind a command that is given up goes nowhere.
    try terminal.type(":enew\r")
    try terminal.wait("another buffer") { $0[0] == "" }
    kill(server, SIGSTOP)
    try terminal.type(":Note Paste\r")
    try write("c", until: "CTRL-C")
    try terminal.press("C-c")
    try terminal.wait("the end of the command") { $0.contains { $0.contains("not answered") } }
    kill(server, SIGCONT)
    try terminal.type("ix")
    try terminal.wait("an empty buffer") { $0[0] == "x" }
    try terminal.paste("y")
    try terminal.wait("the paste") { $0[0] == "xy" }
    #expect(
      try other.call("note/get", ["id": note])["text"]!.string!
        == "\na pasted\nlines a\nb pasted\nlines b")
  }
}
