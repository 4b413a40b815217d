import Foundation
import TestSupport
import Testing

@Suite(
  .waiting, .tags(.editor),
  .enabled(if: Terminal.isPossible || isContinuousIntegration, "tmux is missing"))
struct `A terminal` {
  @Test func `shows what a program writes and types what it reads`() throws {
    let terminal = try Terminal(
      "read a; echo \"got $a in $X\"; read b", environment: ["X": "a 'b'"])
    try terminal.type("it's é; \"$HOME\"")
    try terminal.press("Enter")
    try terminal.wait("the answer") { $0.contains("got it's é; \"$HOME\" in a 'b'") }
    #expect(terminal.isRunning)
    try terminal.press("Enter")
    try terminal.waitForEnd()
  }

  @Test func `the last row belongs to the screen`() throws {
    let terminal = try Terminal("printf '\\033[24;1Hhere'; read a", rows: 24)
    try terminal.wait("the last row") { $0.count == 24 && $0.last == "here" }
  }
}
