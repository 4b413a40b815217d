import Foundation
import JSONRPC
import TestSupport
import Testing

/// Emacs's own input methods, by keys, while somebody else edits the same note.
@Suite(
  .waiting, .tags(.editor),
  .enabled(
    if: hasTool("emacs") && Terminal.isPossible || isContinuousIntegration,
    "emacs or tmux is missing"))
struct `The client for Emacs: input methods` {
  /// Emacs with an input method, at the end of the first line.
  private func session(_ method: String) throws -> EmacsSession {
    let session = try EmacsSession(
      [("Note", "one\ntwo\n")],
      start: """
        (progn (decent-notes-open "Note") (set-language-environment "UTF-8")
          (activate-input-method "\(method)") (end-of-line))
        """)
    try session.emacs.wait(within: 2 * patience, "the note is open") {
      $0.contains { $0.contains("Note[connected]") }
    }
    return session
  }

  /// Waits until Emacs shows `line`, and then as long as Emacs needs to send what is unsent in a pause, while the peer edits.
  private func expectNothingSent(
    _ session: EmacsSession, showing line: String, theirs: (old: String, new: String)
  ) throws {
    try session.emacs.wait("the letters that are to be converted") { $0.first == line }
    let before = try session.text()!
    try session.replace(theirs.old, theirs.new)
    for _ in 0..<15 {
      usleep(100_000)
      #expect(
        try session.text() == before.replacing(theirs.old, with: theirs.new, maxReplacements: 1))
    }
  }

  @Test func `Japanese is sent when its conversion has ended, as one step of undo`() throws {
    let session = try session("japanese")
    let emacs = session.emacs
    try emacs.type("kanj")
    try expectNothingSent(session, showing: "oneかんj", theirs: ("two", "two theirs"))
    #expect(try emacs.screen().contains("two"), "a push has come within a conversion")
    try emacs.type("i")
    try emacs.wait("kana") { $0.first == "oneかんじ" }
    try emacs.type(" ")
    try emacs.wait("a conversion") { $0.first?.hasPrefix("one") == true && $0.first != "oneかんじ" }
    try expectNothingSent(
      session, showing: try emacs.screen().first!, theirs: ("theirs", "of theirs"))
    try emacs.press("Enter")
    try session.wait("what was converted") {
      let first = try session.text()?.split(separator: "\n").first ?? ""
      return first.count == 5 && first.dropFirst(3).allSatisfy { !$0.isASCII }
    }
    let converted = try session.text()!
    #expect(converted.hasSuffix("\ntwo of theirs\n"))
    try emacs.wait("their edits") { $0.contains("two of theirs") }
    // The letters behind it are a step of their own.
    try emacs.press("C-\\")
    try emacs.type("xy")
    try session.wait(for: converted.replacing("\n", with: "xy\n", maxReplacements: 1))
    try emacs.press("C-_")
    try session.wait(for: converted)
    try emacs.press("C-_")
    try session.wait(for: "one\ntwo of theirs\n")
    try session.quit()
  }

  @Test func `a conversion that is given up leaves no trace`() throws {
    let session = try session("japanese")
    let emacs = session.emacs
    try emacs.type("ka")
    try expectNothingSent(session, showing: "oneか", theirs: ("two", "2"))
    try emacs.press("BSpace")
    try emacs.wait("their edit") { $0.first == "one" && $0.contains("2") }
    try emacs.press("C-\\")
    try emacs.type("!")
    try session.wait(for: "one!\n2\n")
    try emacs.press("M-:")
    try emacs.type("(message \"sent %d\" (decent-notes--note-version decent-notes--here))\r")
    try emacs.wait("one change was sent") { $0.last == "\"sent 1\"" }
    try session.quit()
  }

  @Test func `Korean is sent when the word has ended`() throws {
    let session = try session("korean-hangul")
    let emacs = session.emacs
    try emacs.type("gksrmf")
    try expectNothingSent(session, showing: "one한글", theirs: ("two", "2"))
    try emacs.type(" ")
    try session.wait(for: "one한글 \n2\n")
    try emacs.wait("their edit") { $0.contains("2") }
    try emacs.press("C-_")
    try emacs.press("C-_")
    try session.wait(for: "one\n2\n")
    try session.quit()
  }

  @Test func `Chinese and dead keys are sent when a character is chosen`() throws {
    let session = try session("chinese-py")
    let emacs = session.emacs
    try emacs.type("zhong")
    try expectNothingSent(session, showing: "one中", theirs: ("two", "2"))
    try emacs.type("1")
    try session.wait("a character") {
      let first = try session.text()?.split(separator: "\n").first ?? ""
      return first.count == 4 && first.last!.isLetter && !first.last!.isASCII
    }
    let chosen = try session.text()!
    try emacs.press("C-\\")
    try emacs.press("C-x", "Enter")
    try emacs.press("C-\\")
    try emacs.type("latin-1-prefix\r")
    try emacs.type("'")
    try expectNothingSent(
      session, showing: String(chosen.split(separator: "\n")[0]) + "'", theirs: ("2", "3"))
    try emacs.type("e")
    try session.wait(for: chosen.replacing("\n2\n", with: "é\n3\n"))
    try session.quit()
  }
}
