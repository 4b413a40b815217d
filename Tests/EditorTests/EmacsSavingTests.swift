import Foundation
import JSONRPC
import TestSupport
import Testing

/// What people hang on saving a file, and the commands by which they save, by keys.
@Suite(
  .waiting, .tags(.editor),
  .enabled(
    if: hasTool("emacs") && Terminal.isPossible && EmacsSession.hasEvil || isContinuousIntegration,
    "emacs, tmux, elpa-evil or elpa-undo-tree is missing"))
struct `The client for Emacs: saving` {
  private func session(_ settings: String) throws -> EmacsSession {
    let session = try EmacsSession(
      [("Note", "one\ntwo\n")],
      start: """
        (progn \(EmacsSession.packages) \(settings)
          (add-hook 'before-save-hook #'whitespace-cleanup)
          (add-hook 'after-save-hook (lambda () (append-to-file "saved\\n" nil "~/saved")))
          (decent-notes-open "Note"))
        """)
    try session.emacs.wait(within: 2 * patience, "the note is open") {
      $0.contains { $0.contains("Note[connected]") }
    }
    return session
  }

  /// The number of times that `after-save-hook` ran.
  private func saves(_ session: EmacsSession) -> Int {
    let log = try? String(contentsOfFile: session.folder("saved"), encoding: .utf8)
    return log?.split(separator: "\n").count ?? 0
  }

  private func waitForSaves(_ count: Int, _ session: EmacsSession, text: String) throws {
    try session.wait(for: text)
    try session.wait("save \(count)") { saves(session) == count }
  }

  @Test func `runs the hooks, by the key and by the name of the command`() throws {
    let session = try session("")
    let emacs = session.emacs
    try emacs.press("C-e")
    try emacs.type("   ")
    try session.wait(for: "one   \ntwo\n")
    try emacs.press("C-x", "C-s")
    try waitForSaves(1, session, text: "one\ntwo\n")
    try emacs.wait("the word about it") { $0.last == "Note written" }
    try emacs.type(" ")
    try session.wait(for: "one \ntwo\n")
    try emacs.press("M-x")
    try emacs.type("save-buffer\r")
    try waitForSaves(2, session, text: "one\ntwo\n")
    try emacs.press("C-x", "C-s")
    try emacs.type("!")
    try session.wait(for: "one!\ntwo\n")
    #expect(saves(session) == 2, "nothing was changed, and yet the hooks ran")
    try session.quit()
  }

  @Test func `runs the hooks by the commands of evil, which leave the note a note`() throws {
    let session = try session(EmacsSession.evil)
    let emacs = session.emacs
    func ends(_ command: String, _ count: Int) throws {
      try emacs.type("A  ")
      // Escape that is followed by a colon before Emacs has read it is `M-:`.
      try emacs.wait("Insert state") { $0.contains { $0.contains(" <I> ") } }
      try emacs.press("Escape")
      try emacs.wait("Normal state") { $0.contains { $0.contains(" <N> ") } }
      try session.wait("the blanks") { try session.text()?.hasPrefix("one  \n") == true }
      try emacs.type(":\(command)\r")
      try waitForSaves(count, session, text: "one\ntwo\n")
    }
    try ends("w", 1)
    try ends("w!", 2)
    try ends("update", 3)
    try emacs.type(":w ~/copy\r")
    try session.wait("the copy") {
      (try? String(contentsOfFile: session.folder("copy"), encoding: .utf8)) == "one\ntwo\n"
    }
    // A part of a file is written only with a name, too.
    try emacs.type(":1w\r")
    try emacs.wait("the word about it") {
      $0.last?.contains("A note is saved as a whole") == true
    }
    try emacs.wait("it is a note still") { $0.contains { $0.contains("Note[connected]") } }
    try emacs.press("C-x")
    try emacs.type("2")
    try ends("wq", 4)
    try emacs.press("C-x")
    try emacs.type("2")
    try ends("x", 5)
    try emacs.wait("one window") { screen in
      screen.filter { $0.contains("Note[connected]") }.count == 1
    }
    try session.quit()
  }
}
