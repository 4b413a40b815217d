import Foundation
import JSONRPC
import TestSupport
import Testing

/// Emacs or its server is stopped for a while, as by the lid of a laptop.
@Suite(
  .waiting, .tags(.editor),
  .enabled(
    if: hasTool("emacs") && Terminal.isPossible || isContinuousIntegration,
    "emacs or tmux is missing"))
struct `The client for Emacs: a server that is stopped` {
  /// How long something is stopped.
  private static let seconds: UInt32 =
    ProcessInfo.processInfo.environment["DECENT_NOTES_LONG"] == "1" ? 30 : 2

  private func stopping(_ process: pid_t, _ body: () throws -> Void) throws {
    kill(process, SIGSTOP)
    defer { kill(process, SIGCONT) }
    try body()
  }

  @Test func `what is typed while the server is stopped arrives when it runs again, without a key`()
    throws
  {
    let session = try EmacsSession("one\ntwo\n")
    let emacs = session.emacs
    let server = try session.processes().server
    try emacs.press("C-e")
    for round in 1...2 {
      try stopping(server) {
        for word in 1...3 {
          try emacs.type(" r\(round)w\(word)")
          try session.append("theirs \(round) \(word)\n")
        }
        // Emacs shows what is typed, and does what it is told, all the same.
        try emacs.wait("typing") { $0[0].hasSuffix(" r\(round)w1 r\(round)w2 r\(round)w3") }
        sleep(Self.seconds)
        try emacs.press("F6")
        try emacs.wait("point") { $0.last == "before <>" }
      }
      // No key is pressed here.
      try session.wait("what was typed") {
        try session.text()?.hasPrefix(
          "one" + (1...round).map { " r\($0)w1 r\($0)w2 r\($0)w3" }.joined() + "\ntwo\n") == true
      }
      try emacs.wait("what others did") { $0.contains("theirs \(round) 3") }
      try emacs.wait("kept") { $0.contains { $0.hasPrefix("-UUU:----") } }
    }
    let theirs = (1...2).flatMap { round in (1...3).map { "theirs \(round) \($0)\n" } }.joined()
    try session.wait(for: "one r1w1 r1w2 r1w3 r2w1 r2w2 r2w3\ntwo\n" + theirs)
    try emacs.press("C-x", "C-s")
    try emacs.wait("written") { $0.last?.hasSuffix("written") == true }
    try session.quit()
  }

  @Test func `an Emacs that was stopped goes on with what others wrote and with what was typed`()
    throws
  {
    let session = try EmacsSession("one\ntwo\n")
    let emacs = session.emacs
    let process = try session.processes().emacs
    try emacs.press("C-e")
    try emacs.type(" before")
    try session.wait(for: "one before\ntwo\n")
    try stopping(process) {
      try emacs.type(" meanwhile")
      for number in 1...20 { try session.append("theirs \(number)\n") }
      sleep(Self.seconds)
    }
    let theirs = (1...20).map { "theirs \($0)\n" }.joined()
    try session.wait(for: "one before meanwhile\ntwo\n" + theirs)
    try emacs.type(" after")
    try session.wait(for: "one before meanwhile after\ntwo\n" + theirs)
    try emacs.wait("what others did") { $0.contains("theirs 20") }
    try session.quit()
  }
}
