// Vim and messages: of the server, very long or none, and to the user.

import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(
  .waitingLong, .tags(.editor, .slow),
  .enabled(if: Vim.isPossible || isContinuousIntegration, "vim or tmux is missing"))
struct `The client for Vim: messages` {
  @Test func `a note of 40 MB is opened, and changed`() throws {
    let vim = try Vim()
    let id = try longNote(vim.other)
    // As long as Vim alone takes for so much, when other tests compute beside it.
    try vim.run("edit note://\(id)", within: 4 * patience)
    try vim.wait("line('$')", "\(LongText.lines + 1)")
    try vim.terminal.type("Githe end\u{1b}")
    try vim.wait("&modified", "0")
    #expect(
      try vim.other.call("note/get", ["id": .string(id)])["text"]!.string!.hasSuffix("the end"))
  }

  @Test func `what is told while a command is typed is shown before what is told then`() throws {
    let vim = try Vim()
    try vim.run(
      "call timer_start(0, {-> feedkeys(':call decent_notes#server#Tell(\"second\", \"None\")')})")
    try vim.wait("mode()", "c")
    try vim.run("call decent_notes#server#Tell('first', 'None')")
    try vim.terminal.type("\r")
    try vim.wait(
      "execute('messages')->split('\\n')[-2:]->join()", "Decent Notes: first Decent Notes: second")
  }

  @Test(arguments: BrokenServer.allCases)
  func `a program that is none of ours is given up, and Vim says why`(_ server: BrokenServer) throws
  {
    let folder = TemporaryFolder()
    let vim = try Vim(folder: folder, command: server.write(in: folder))
    try vim.terminal.type(":Notes\r")
    try vim.terminal.wait(within: 4 * patience, "why") {
      $0.last?.contains("does not speak the protocol: ") == true
    }
    try vim.wait("decent_notes#server#Process()", "0")
    // Vim goes on, and the next attempt says it again.
    try vim.terminal.type("ihere\u{1b}")
    try vim.wait("g:Text()", "here")
    try vim.terminal.type(":Notes\r")
    try vim.terminal.wait("why") { $0.last?.contains("does not speak the protocol: ") == true }
  }
}

@Suite struct `Messages of Vim and Neovim` {
  /// Both clients cut a message to its line, in which pending keys and the ruler stand, too. A title stands last. In a narrow line
  /// what the user can do comes first.
  @Test func `what says what to do fits 80 columns, and what can be done fits 40`() throws {
    let (room, narrow) = (80 - "Decent Notes: ".count - 13, 40 - 13)
    var count = 0
    for folder in [Vim.plugin + "/autoload", projectFolder.path + "/clients/nvim/lua"] {
      for case let name as String in FileManager.default.enumerator(atPath: folder)!
      where [".vim", ".lua"].contains(where: name.hasSuffix) {
        let source = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
        for line in source.split(separator: "\n")
        where ["tell(", "Tell(", "throw "].contains(where: { line.contains($0) }) {
          for text in line.matches(of: /'([^']*; [^']*)'/) {
            let told = text.1.replacing("Decent Notes: ", with: "").replacing(
              /\ \("?(%s|\{[^}]*\})"?\)$/, with: "")
            #expect(told.count <= room, "\(name): \(told)")
            let advice = told[told.ranges(of: "; ").last!.upperBound...]
            let shown = advice.replacing(/\{len\([a-z]*\)\}/, with: "123")
            #expect(shown.count <= narrow, "\(name): \(advice)")
            count += 1
          }
        }
      }
    }
    #expect(count > 20)
  }
}
