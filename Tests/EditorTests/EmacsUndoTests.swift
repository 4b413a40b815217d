import Foundation
import JSONRPC
import TestSupport
import Testing

/// Keys that undo, by whichever package, and modes of evil in which others' edits wait.
@Suite(
  .waiting, .tags(.editor),
  .enabled(
    if: hasTool("emacs") && Terminal.isPossible && EmacsSession.hasEvil || isContinuousIntegration,
    "emacs, tmux, elpa-evil or elpa-undo-tree is missing"))
struct `The client for Emacs: evil and undo-tree` {
  private func session(_ text: String, _ settings: String) throws -> EmacsSession {
    let session = try EmacsSession(
      [("Note", text)],
      start: """
        (progn \(EmacsSession.packages) \(settings) (decent-notes-open "Note"))
        """)
    // Loading evil takes as much of the processor as all else that Emacs does at its start.
    try session.emacs.wait(within: 2 * patience, "the note is open") {
      $0.contains { $0.contains("Note[connected]") }
    }
    return session
  }

  @Test(
    arguments: [
      "", "(setq evil-undo-system 'undo-redo)",
      """
      (require 'undo-tree) (global-undo-tree-mode 1) (setq evil-undo-system 'undo-tree)
      (add-hook 'evil-local-mode-hook 'turn-on-undo-tree-mode)
      """,
    ])
  func `evil's undo takes back one's own last step, with each of its undo systems`(
    _ system: String
  ) throws {
    let session = try session("one\ntwo\n", system + EmacsSession.evil)
    let emacs = session.emacs
    try emacs.type("A mine\rand more")
    try emacs.press("Escape")
    try session.wait(for: "one mine\nand more\ntwo\n")
    try session.replace("two", "two theirs")
    try emacs.wait("their edit") { $0.contains("two theirs") }
    // All that was done until Insert state ended is one step.
    try emacs.type("u")
    try session.wait(for: "one\ntwo theirs\n")
    try emacs.press("C-r")
    try session.wait(for: "one mine\nand more\ntwo theirs\n")
    try emacs.type(":undo\r")
    try session.wait(for: "one\ntwo theirs\n")
    try emacs.type("u")
    try emacs.wait("the word about it") { $0.last == "Nothing of yours left to undo" }
    // An undo is no change that `.` repeats.
    try emacs.type("ix")
    try emacs.wait("Insert state") { $0.contains { $0.contains(" <I> ") } }
    try emacs.press("Escape")
    // With a key right behind it, Escape is Meta.
    try emacs.wait("Normal state") { $0.contains { $0.contains(" <N> ") } }
    try emacs.type("u..")
    try session.wait("what was repeated") { try session.text()?.filter { $0 == "x" }.count == 2 }
    try session.quit()
  }

  @Test func `the list and old texts have their keys under evil`() throws {
    let session = try session("one\n", EmacsSession.evil)
    let emacs = session.emacs
    try session.peer.call("note/create", ["title": "Other", "text": "two"])
    try emacs.press("M-x")
    try emacs.type("decent-notes\r")
    try emacs.wait("the list") { screen in
      screen.contains { $0.contains("Other") } && screen.contains { $0.contains(" Note ") }
    }
    try emacs.type("jk")
    try emacs.type("np")
    try emacs.type("!")
    try session.wait("a priority") { try session.note("Other")?["priority"]?.string == "high" }
    try emacs.type("j")
    try emacs.press("Enter")
    try emacs.wait("the note") { $0.first == "one" }
    try emacs.type("A more")
    try emacs.press("Escape")
    try session.wait(for: "one more\n")
    try emacs.wait("Normal state") { $0.contains { $0.contains(" <N> ") } }
    try emacs.press("M-x")
    try emacs.type("decent-notes-history\r")
    try emacs.wait("the history") { screen in screen.contains { $0.contains("Inserted") } }
    try emacs.type("j")
    try emacs.press("Enter")
    try emacs.wait("the text of then") { $0.first == "one" }
    try emacs.type("ry")
    try session.wait(for: "one\n")
    try session.quit()
  }

  @Test func `undo-tree alone takes back one's own last step`() throws {
    let session = try session("one\ntwo\n", "(require 'undo-tree) (global-undo-tree-mode 1)")
    let emacs = session.emacs
    try emacs.wait("the mode") { $0.contains { $0.contains("Undo-Tree") } }
    try emacs.press("C-e")
    try emacs.type(" mine")
    try session.wait(for: "one mine\ntwo\n")
    try session.replace("two", "two theirs")
    try emacs.wait("their edit") { $0.contains("two theirs") }
    for _ in 0..<2 {
      try emacs.press("M-x")
      try emacs.type("undo-tree-undo\r")
      try session.wait(for: "one\ntwo theirs\n")
      try emacs.press("M-x")
      try emacs.type("undo-tree-redo\r")
      try session.wait(for: "one mine\ntwo theirs\n")
    }
    try emacs.press("M-x")
    try emacs.type("undo-tree-visualize\r")
    try emacs.wait("the word about it") { $0.last == "No undo information in this buffer" }
    try session.quit()
  }

  @Test func `evil inserts into the lines of its block, whatever others insert above`() throws {
    let session = try session("one\ntwo\nthree\nfour\n", EmacsSession.evil)
    let emacs = session.emacs
    try emacs.type("j")
    try emacs.press("C-v")
    try emacs.type("jI")
    try emacs.type("X")
    try session.wait(for: "one\nXtwo\nthree\nfour\n")
    try session.replace("one", "zero\none")
    try emacs.type("Y")
    try session.wait(for: "zero\none\nXYtwo\nthree\nfour\n")
    try emacs.press("Escape")
    try session.wait(for: "zero\none\nXYtwo\nXYthree\nfour\n")
    try emacs.wait("the line above") { $0.first == "zero" }
    try emacs.type("u")
    try session.wait(for: "zero\none\ntwo\nthree\nfour\n")
    try session.quit()
  }

  @Test func `evil does not replace a paste that edits of others have moved`() throws {
    let session = try session("one\ntwo\n", EmacsSession.evil)
    let emacs = session.emacs
    try emacs.type("yyjp")
    try session.wait(for: "one\ntwo\none\n")
    try session.replace("one\ntwo", "a line above\none\ntwo")
    try emacs.wait("the line above") { $0.first == "a line above" }
    try emacs.press("C-p")
    try emacs.wait("the word about it") { $0.last?.contains("undo previous change") == true }
    try session.wait(for: "a line above\none\ntwo\none\n")
    try session.quit()
  }

  @Test func `evil brings back the letters that it replaced, whatever others insert above`() throws
  {
    let session = try session("one\nabcdef\n", EmacsSession.evil)
    let emacs = session.emacs
    try emacs.type("jRxyz")
    try session.wait(for: "one\nxyzdef\n")
    try session.replace("one", "zero\none")
    try emacs.press("BSpace", "BSpace")
    try session.wait(for: "zero\none\nxbcdef\n")
    try emacs.press("Escape")
    try emacs.wait("the line above") { $0.first == "zero" }
    try session.quit()
  }
}

/// What Emacs shows and keeps while its server is stopped or gone.
@Suite(
  .waiting, .tags(.editor),
  .enabled(
    if: hasTool("emacs") && Terminal.isPossible || isContinuousIntegration,
    "emacs or tmux is missing"))
struct `The client for Emacs: a server that does not answer` {
  @Test func `the keys behind an undo act on its effect, and nothing moves point later`() throws {
    let session = try EmacsSession("one\ntwo\n")
    let emacs = session.emacs
    let server = try session.processes().server
    try emacs.press("C-e")
    try emacs.type(" mine")
    try session.wait(for: "one mine\ntwo\n")
    kill(server, SIGSTOP)
    try emacs.press("C-/", "C-a")
    try emacs.type("<")
    try emacs.press("C-e")
    try emacs.type(">")
    try emacs.press("M->")
    try emacs.type("end")
    try emacs.wait("what Emacs waits for") {
      $0.suffix(2).joined().contains("Decent Notes waits for undo (C-g gives up)")
    }
    kill(server, SIGCONT)
    try session.wait(for: "<one>\ntwo\nend")
    try emacs.type("!")
    try session.wait(for: "<one>\ntwo\nend!")
    try session.quit()
  }

  @Test func `a server that was stopped is shown within three seconds, and ended when asked for`()
    throws
  {
    let session = try EmacsSession("one\n")
    let emacs = session.emacs
    let server = try session.processes().server
    let clock = ContinuousClock()
    let stopped = clock.now
    kill(server, SIGSTOP)
    defer { kill(server, SIGKILL) }
    try emacs.wait("the word about it") { screen in
      screen.contains { $0.contains("Note[not answering]") }
        && screen.suffix(2).joined().contains("M-x decent-notes-restart")
    }
    // The limit is the user's three seconds; a machine that is busy may take one more to show it.
    #expect(clock.now - stopped < .seconds(4))
    try emacs.type("zero ")
    try emacs.press("C-x", "C-s")
    try emacs.wait("what it waits for") {
      $0.suffix(2).joined().contains("Decent Notes waits for the answer")
    }
    try emacs.press("C-g")
    try emacs.wait("giving up") { $0.last == "Quit" }
    try emacs.press("M-x")
    try emacs.type("decent-notes-restart\r")
    try emacs.wait("another server") { $0.contains { $0.contains("Note[connected]") } }
    try session.wait(for: "zero one\n")
    #expect(try session.processes().server != server)
    #expect(kill(server, 0) != 0)
    try session.quit()
  }

  @Test func `what was typed without a server outlives Emacs, and the next one merges it`() throws {
    let session = try EmacsSession("one\ntwo\n")
    let emacs = session.emacs
    let (process, server) = try session.processes()
    try emacs.press("C-e")
    try emacs.type(" kept")
    try session.wait(for: "one kept\ntwo\n")
    kill(server, SIGSTOP)
    try emacs.type(" typed")
    let folder = session.folder("state/decent-notes/unsent")
    func texts() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".txt") }
        .map { try String(contentsOfFile: folder + "/" + $0, encoding: .utf8) }
    }
    try waitUntil("the text is in a file") { (try? texts()) == ["one kept typed\ntwo\n"] }
    try emacs.type(" late")
    try waitUntil("the later text, too") { try texts() == ["one kept typed late\ntwo\n"] }
    kill(process, SIGKILL)
    kill(server, SIGKILL)
    try emacs.waitForEnd()
    let ended = try EndedEditor()
    try ended.takeOver(textsIn: folder)
    // As if Emacs had been killed while it wrote.
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      try "{".write(toFile: "\(folder)/\(file).new", atomically: false, encoding: .utf8)
    }
    try session.replace("two", "two theirs")
    let again = try session.again(start: "(decent-notes-open \"Note\")")
    try again.wait("the offer") {
      $0.last
        == "Decent Notes: what was typed in \"Note\" could not be sent: M-x decent-notes-unsent"
    }
    try again.press("M-x")
    try again.type("decent-notes-unsent\r")
    try again.wait("the question") { $0.last?.contains("(merge into the note") == true }
    try again.type("m")
    try session.wait(for: "one kept typed late\ntwo theirs\n")
    try waitUntil("no file is left") {
      try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty
    }
    try again.press("C-x", "C-c")
    try again.waitForEnd()
  }
}
