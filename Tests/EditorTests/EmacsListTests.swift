import Foundation
import JSONRPC
import TestSupport
import Testing

/// Lists, buffers' names and what a user's own settings make of notes, by keys.
@Suite(
  .waiting, .tags(.editor),
  .enabled(
    if: hasTool("emacs") && Terminal.isPossible || isContinuousIntegration,
    "emacs or tmux is missing"))
struct `The client for Emacs: the list` {
  @Test func `a list that was hidden shows what others did when it is shown again`() throws {
    let session = try EmacsSession(
      [("Apples", "red"), ("Pears", "green"), ("Plums", "blue")], start: "(decent-notes)")
    let emacs = session.emacs
    try emacs.wait("the list") { $0[3].hasPrefix(" Plums") }
    try emacs.press("Enter")
    try emacs.wait("a note") { $0.contains { $0.contains("Note[connected]") } }
    let id = JSON.string(try session.note("Plums")!["id"]!.string!)
    try session.peer.call("note/update", ["id": id, "title": "Damsons"])
    try session.peer.call("note/create", ["title": "Cherries"])
    try emacs.type("ripe ")
    try session.wait(for: "ripe red", in: "Apples")
    try emacs.press("C-x", "b")
    try emacs.type("*decent-notes*\r")
    try emacs.wait("what others did") {
      $0[1].hasPrefix(" Cherries") && $0[2].hasPrefix(" Apples") && $0[4].hasPrefix(" Damsons")
    }
    // It stays on its note, and follows while it is shown.
    try session.peer.call(
      "note/delete", ["id": JSON.string(try session.note("Cherries")!["id"]!.string!)])
    try emacs.wait("one less") { $0[1].hasPrefix(" Apples") && $0[4].isEmpty }
    try emacs.type("d")
    try emacs.wait("the word about it") { $0.last == "In the trash: Apples" }
    try session.wait("one note is trashed") { try session.note("Apples") == nil }
    #expect(try session.note("Pears") != nil)
    try session.quit()
  }

  @Test func `the title gives the mode and the name, and the trash is seen`() throws {
    let session = try EmacsSession(
      [("journal.org", "* One\n")], start: "(decent-notes-open \"journal.org\")")
    let emacs = session.emacs
    try emacs.wait("the note") {
      $0.contains { $0.contains("journal.org ") && $0.contains("(Org ") }
    }
    let id = JSON.string(try session.note("journal.org")!["id"]!.string!)
    try emacs.press("M->")
    try emacs.type("** Two")
    // An append that did not know this text could come before it, on its line.
    try session.wait(for: "* One\n** Two", in: "journal.org")
    try emacs.press("M-<", "Tab")
    try emacs.wait("the fold") { $0[0] == "* One..." }
    try session.peer.call("note/append", ["id": id, "text": "\n** Three"])
    try session.wait(for: "* One\n** Two\n** Three", in: "journal.org")
    try session.peer.call("note/update", ["id": id, "title": "journal"])
    try emacs.wait("another mode") {
      $0.contains { $0.contains(" journal ") && $0.contains("(Text ") }
    }
    try emacs.wait("all of it") { $0.prefix(3) == ["* One", "** Two", "** Three"] }
    try session.peer.call("note/delete", ["id": id])
    try emacs.wait("the trash") {
      $0.contains { $0.contains("Note[in the trash]") }
        && $0.last?.contains("journal is in the trash now") == true
    }
    try session.peer.call("note/restore", ["id": id])
    try emacs.wait("out of the trash") { $0.contains { $0.contains("Note[connected]") } }
    try session.quit()
  }

  @Test func `others break the line where the user types, and point stays, in both windows`() throws
  {
    let session = try EmacsSession("alpha")
    let emacs = session.emacs
    try emacs.press("C-x", "2", "C-e")
    try emacs.type(" typing")
    try session.wait(for: "alpha typing")
    try emacs.press("C-x", "o", "C-e")
    try session.append("\nfrom cron\n")
    try emacs.wait("theirs in both windows") { $0.filter { $0 == "from cron" }.count == 2 }
    try emacs.type(" more")
    try session.wait(for: "alpha typing more\nfrom cron\n")
    try session.replace("more\n", "more\n\n")
    try emacs.wait("a line break") { $0[1].isEmpty && $0[2] == "from cron" }
    try emacs.press("C-x", "o")
    try emacs.type(",")
    try session.wait(for: "alpha typing, more\n\nfrom cron\n")
    try session.quit()
  }

  @Test func `the desktop brings back the note, with point, in the next Emacs`() throws {
    let folder = TemporaryFolder()
    let start = """
      (setq desktop-path '("\(folder.path)") desktop-save t desktop-load-locked-desktop t)
      (desktop-save-mode 1)
      (desktop-read)
      """
    let text = "one\n" + String(repeating: "a line\n", count: 50) + "here it is\n"
    let session = try EmacsSession([("Note", text)], start: start)
    try session.emacs.wait("Emacs") { $0.contains { $0.contains("*scratch*") } }
    try session.emacs.press("M-x")
    try session.emacs.type("decent-notes-open\rNote\r")
    try session.emacs.wait("the note") { $0.contains { $0.contains("Note[connected]") } }
    try session.emacs.press("C-s")
    try session.emacs.type("here \r")
    try session.emacs.wait("the place") { $0.contains("here it is") }
    try session.quit()
    let again = try session.again(start: start)
    // What the terminal answers to an Emacs that begins must not come among the keys.
    try again.wait("Emacs") { $0.contains { $0.contains("F1 ") } }
    try again.press("C-x", "b")
    try again.type("Note\r")
    try again.wait("the note again") {
      $0.contains { $0.contains("Note[connected]") } && $0.contains("here it is")
    }
    try again.press("F6")
    try again.wait("point") { $0.last == "before <it is>" }
    try again.press("C-x", "C-c")
    try again.waitForEnd()
  }
}
