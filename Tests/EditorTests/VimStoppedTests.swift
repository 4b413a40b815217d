// Vim with a server that does not answer, or is gone: what the user is told, and what is kept when Vim is killed.

import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(
  .waiting, .tags(.editor),
  .enabled(if: Vim.isPossible || isContinuousIntegration, "vim or tmux is missing"))
struct `The client for Vim: a server that is stopped or gone` {
  /// A Vim with a note, the note's id, and the process that Vim has started.
  private func showing(_ text: String) throws -> (Vim, String, pid_t) {
    let (vim, id) = try Vim.showing(text)
    return (vim, id, pid_t(try vim.eval("decent_notes#server#Process()"))!)
  }

  /// Has no other process started, and ends this one.
  private func end(_ server: pid_t, of vim: Vim) throws {
    try vim.run("let g:decent_notes_command = 'no-such-program'")
    kill(server, SIGKILL)
    try vim.wait("decent_notes#Status()", "offline")
  }

  /// Ends Vim so that it can do nothing more.
  private func killAtOnce(_ vim: Vim, _ process: pid_t? = nil) throws {
    kill(try process ?? pid_t(vim.eval("getpid()"))!, SIGKILL)
    try vim.terminal.waitForEnd()
  }

  // MARK: - No answer

  @Test
  func `a server that does not answer is shown within three seconds, and ended when asked for`()
    throws
  {
    let (vim, id, server) = try showing("one")
    try vim.run("set laststatus=2")
    kill(server, SIGSTOP)
    let start = ContinuousClock.now
    try vim.terminal.type("A!\u{1b}")
    try vim.terminal.wait("the word about it") {
      $0.last == "Decent Notes: no answer from the program; :NotesRestart helps"
    }
    // A machine that is busy may take a second more to show it.
    #expect(start.duration(to: .now) < .seconds(4))
    try vim.terminal.wait("the status") { $0.contains { $0.contains("[no answer]") } }
    try vim.terminal.type(":NotesRestart\r")
    try vim.agree(id, on: "one!")
    #expect(kill(server, 0) == -1)
    #expect(try vim.eval("decent_notes#Status()") == "connected")
  }

  @Test func `while the user waits for a server that is stopped, Vim says how to end that`() throws
  {
    let (vim, _, server) = try showing("one")
    kill(server, SIGSTOP)
    defer { kill(server, SIGCONT) }
    for command in [":Note Other\r", "u"] {
      try vim.terminal.type(command)
      try vim.terminal.wait("the word about it") {
        $0.last == "Decent Notes: no answer (CTRL-C stops waiting); :NotesRestart helps"
      }
      try vim.terminal.press("C-c")
      try vim.terminal.wait("the end of it") { $0.last?.contains("given up waiting") == true }
      kill(server, SIGCONT)
      try vim.wait("decent_notes#Status()", "connected")
      kill(server, SIGSTOP)
    }
    try vim.terminal.type("A!\u{1b}:w\r")
    try vim.terminal.wait("why not") {
      $0.last == "Decent Notes: not written: no answer; :NotesRestart helps"
    }
  }

  @Test func `an answer that takes long, and a Vim that was stopped, are no silence`() throws {
    let (vim, id, server) = try showing("one")
    // An exchange with a peer that says nothing.
    try vim.terminal.type(":NotesSync sleep 100\r")
    try vim.terminal.wait("the exchange") { $0.last?.contains("CTRL-C") == true }
    pause(4)
    #expect(try vim.terminal.screen().last?.contains("CTRL-C") == true)
    try vim.terminal.press("C-c")
    try vim.terminal.wait("the end") { $0.last?.contains("given up") == true }
    // Vim itself.
    let process = pid_t(try vim.eval("getpid()"))!
    kill(server, SIGSTOP)
    try vim.terminal.type("A!\u{1b}")
    try vim.wait("&modified", "1")
    kill(process, SIGSTOP)
    kill(server, SIGCONT)
    pause(4)
    kill(process, SIGCONT)
    try vim.agree(id, on: "one!")
    #expect(!(try vim.eval("execute('messages')")).contains("no answer"))
  }

  // MARK: - Texts in files

  @Test
  func `what is typed while the server is gone outlives a Vim that is killed, and is offered`()
    throws
  {
    let (vim, id, server) = try showing("one\ntwo")
    try end(server, of: vim)
    // Nothing was typed yet.
    #expect(vim.unsentTexts().isEmpty)
    let start = ContinuousClock.now
    try vim.terminal.type("A é")
    try waitUntil("the file") { Array(vim.unsentTexts().values) == ["one é\ntwo"] }
    #expect(start.duration(to: .now) < .seconds(1))
    // The same file has what is typed next.
    try vim.terminal.type("!\u{1b}")
    try waitUntil("the file") { Array(vim.unsentTexts().values) == ["one é!\ntwo"] }
    let path = vim.folder("state/decent-notes/unsent")
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      #expect(stat("\(path)/\(name)", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
    // Another Vim, which answers the test from now on, offers nothing of one that runs.
    let process = pid_t(try vim.eval("getpid()"))!
    let beside = try Vim(folder: vim.folder)
    try beside.terminal.type(":NotesUnsent\r")
    try beside.terminal.wait("nothing") { $0.last?.contains("there is no unsent text") == true }
    try killAtOnce(vim, process)
    try beside.terminal.type(":qa!\r")
    try beside.terminal.waitForEnd()
    let ended = try EndedEditor()
    try ended.takeOver(textsIn: path)
    try beside.change(id) { $0 = "zero\n" + $0.replacingOccurrences(of: "two", with: "TWO") }
    let again = try Vim("+Notes", folder: vim.folder)
    try again.terminal.wait("the offer") {
      $0.last == "Decent Notes: unsent text of \"Note\" was kept: :NotesUnsent"
    }
    try again.terminal.type(":NotesUnsent\r")
    try again.terminal.wait("the question") { $0.contains { $0.hasPrefix("Text for \"Note\" of") } }
    try again.terminal.type("m")
    try again.agree(id, on: "zero\none é!\nTWO")
    try again.wait("bufname() =~ '/Note$'", "1")
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
  }

  @Test func `what a server had not answered is merged once, whether it had read it or not`() throws
  {
    for isRead in [false, true] {
      let (vim, id, server) = try showing("one\ntwo")
      try vim.terminal.type("A 1\u{1b}")
      try vim.agree(id, on: "one 1\ntwo")
      kill(server, SIGSTOP)
      try vim.terminal.type("A 2\u{1b}")
      try waitUntil("the file") { Array(vim.unsentTexts().values) == ["one 1 2\ntwo"] }
      try vim.terminal.type("A 3\u{1b}")
      try waitUntil("the file") { Array(vim.unsentTexts().values) == ["one 1 2 3\ntwo"] }
      let process = pid_t(try vim.eval("getpid()"))!
      if isRead {
        // Vim has no time to read the answers.
        kill(process, SIGSTOP)
        kill(server, SIGCONT)
        try waitUntil("the server has read it") { try vim.text(id) == "one 1 2 3\ntwo" }
      }
      try killAtOnce(vim, process)
      kill(server, SIGKILL)
      #expect(try vim.text(id) == (isRead ? "one 1 2 3\ntwo" : "one 1\ntwo"))
      let again = try Vim(folder: vim.folder)
      try again.terminal.type(":NotesUnsent\r")
      try again.terminal.wait("the question") {
        $0.contains { $0.hasPrefix("Text for \"Note\" of") }
      }
      try again.terminal.type("m")
      try again.wait("bufname() =~ '/Note$'", "1")
      try again.agree(id, on: "one 1 2 3\ntwo")
    }
  }

  @Test func `an unsent text becomes a new note, or is forgotten, at the user's wish`() throws {
    let (vim, id, server) = try showing("one")
    try end(server, of: vim)
    try vim.terminal.type("A!\u{1b}")
    try waitUntil("the file") { Array(vim.unsentTexts().values) == ["one!"] }
    try killAtOnce(vim)
    let again = try Vim(folder: vim.folder)
    try again.terminal.type(":NotesUnsent\r")
    try again.terminal.wait("the question") { $0.contains { $0.contains("(L)ater") } }
    try again.terminal.type("l")
    try again.wait("mode()", "n")
    #expect(again.unsentTexts().count == 1)
    try again.terminal.type(":NotesUnsent\r")
    try again.terminal.wait("the question") { $0.contains { $0.contains("(L)ater") } }
    try again.terminal.type("k")
    try again.wait("get(b:, 'note_title', '') .. g:Text()", "Note (unsent)one!")
    #expect(try again.text(id) == "one" && again.unsentTexts().isEmpty)
    // One that was just being replaced when its editor was killed is found, and has nothing beside it: it can't be merged.
    let path = again.folder("state/decent-notes/unsent/\(id)-20260101T000000.txt.new")
    try "old".write(toFile: path, atomically: false, encoding: .utf8)
    try again.terminal.type(":NotesUnsent\r")
    try again.terminal.wait("the question") { screen in
      screen.contains { $0.contains("(F)orget it") } && !screen.contains { $0.contains("erge it") }
    }
    try again.terminal.type("f")
    try again.wait("mode()", "n")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `what a closed buffer could not send is offered in the same Vim, too`() throws {
    let (vim, id, server) = try showing("one")
    try end(server, of: vim)
    try vim.terminal.type("A!\u{1b}:bdelete!\r")
    try vim.wait("decent_notes#live#BufferOf('\(id)')", "0")
    #expect(Array(vim.unsentTexts().values) == ["one!"])
    try vim.run("let g:decent_notes_command = 'decent-notes'")
    try vim.terminal.type(":NotesUnsent\r")
    try vim.terminal.wait("the question") { $0.contains { $0.contains("(L)ater") } }
    try vim.terminal.type("m")
    try vim.wait("bufname() =~ '/Note$'", "1")
    try vim.agree(id, on: "one!")
    #expect(vim.unsentTexts().isEmpty)
  }
}
