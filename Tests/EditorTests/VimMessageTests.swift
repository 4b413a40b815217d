// Vim and messages that are very long, or none.

import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(
  .waitingLong, .tags(.editor, .slow),
  .enabled(if: Vim.isPossible || isContinuousIntegration, "vim or tmux is missing"))
struct `The client for Vim: long messages` {
  @Test func `a note of 40 MB is opened, and changed`() throws {
    let vim = try Vim()
    let id = try longNote(vim.other)
    try vim.run("edit note://\(id)")
    try vim.wait("line('$')", "\(LongText.lines + 1)")
    try vim.terminal.type("Githe end\u{1b}")
    try vim.wait("&modified", "0")
    #expect(
      try vim.other.call("note/get", ["id": .string(id)])["text"]!.string!.hasSuffix("the end"))
  }

  @Test(arguments: BrokenServer.allCases)
  func `a program that is none of ours is given up, and Vim says why`(_ server: BrokenServer) throws
  {
    let folder = TemporaryFolder()
    let vim = try Vim(folder: folder, command: server.write(in: folder))
    try vim.terminal.type(":Notes\r")
    try vim.terminal.wait("why") { $0.last?.contains("does not speak the protocol: ") == true }
    try vim.wait("decent_notes#server#Process()", "0")
    // Vim goes on, and the next attempt says it again.
    try vim.terminal.type("ihere\u{1b}")
    try vim.wait("g:Text()", "here")
    try vim.terminal.type(":Notes\r")
    try vim.terminal.wait("why") { $0.last?.contains("does not speak the protocol: ") == true }
  }
}
