import Foundation
import JSONRPC
import TestSupport
import Testing

private let hasPackages =
  (try? FileManager.default.contentsOfDirectory(atPath: "/usr/share/emacs/site-lisp/elpa"))?
  .contains { $0.hasPrefix("markdown-mode-") } == true
  && FileManager.default.fileExists(atPath: "/usr/share/emacs/site-lisp/ddskk")

/// Packages that change what keys do in a note, as Debian has them.
@Suite(
  .waiting, .tags(.editor),
  .enabled(
    if: hasTool("emacs") && Terminal.isPossible && hasPackages || isContinuousIntegration,
    "emacs, tmux, elpa-markdown-mode or ddskk is missing"))
struct `The client for Emacs: packages` {
  /// Emacs on the note "Note", with what `start` evaluates before and `then` after it is opened.
  private func session(_ text: String, _ start: String, then: String) throws -> EmacsSession {
    let session = try EmacsSession(
      [("Note", text), ("Other", "the other text")],
      start: "(progn \(EmacsSession.packages) \(start) (decent-notes-open \"Note\") \(then))")
    try session.emacs.wait(within: 2 * patience, "the note is open") {
      $0.contains { $0.contains("Note[connected]") }
    }
    return session
  }

  @Test func `Markdown mode's key follows a link, and completion completes one`() throws {
    let session = try session(
      "see [[Other]]\n", "(require 'markdown-mode)", then: "(markdown-mode)")
    let emacs = session.emacs
    try emacs.press("C-e")
    try emacs.type("\nand [[Oth")
    try emacs.press("C-M-i")
    try session.wait(for: "see [[Other]]\nand [[Other]]\n")
    try emacs.press("C-r")
    try emacs.type("Oth\r")
    try emacs.press("C-c", "C-o")
    try emacs.wait("the other note") { $0.first == "the other text" }
    try session.quit()
  }

  @Test func `SKK's words are sent when they are converted, as one step of undo`() throws {
    let session = try session(
      "one\ntwo\n",
      """
      (push "/usr/share/emacs/site-lisp/ddskk" load-path) (setq skk-show-mode-show nil) (require 'skk)
      """, then: "(skk-mode 1) (end-of-line)")
    let emacs = session.emacs
    try emacs.type("Kanji")
    try emacs.wait("kana") { $0.first == "one▽かんじ" }
    try session.replace("two", "2")
    for _ in 0..<15 {
      usleep(100_000)
      #expect(try session.text() == "one\n2\n")
    }
    try emacs.press("C-j")
    try session.wait(for: "oneかんじ\n2\n")
    try emacs.wait("their edit") { $0.first == "oneかんじ" && $0.contains("2") }
    try emacs.press("C-_")
    try session.wait(for: "one\n2\n")
    // A word that is open is saved as it stands, as in a file.
    try emacs.type("Kanji")
    try emacs.wait("kana") { $0.first == "one▽かんじ" }
    try emacs.press("C-x", "C-s")
    try session.wait(for: "one▽かんじ\n2\n")
    try emacs.wait("written") { $0.last?.contains("written") == true }
    try emacs.press("C-j")
    try session.wait(for: "oneかんじ\n2\n")
    try session.quit()
  }
}
