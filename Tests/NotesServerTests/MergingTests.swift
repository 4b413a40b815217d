import Foundation
import TestSupport
import Testing

/// The examples of merging in `Protocol/README.md`.
@Suite struct `What people mean` {
  private struct Example {
    var base: String
    var one: String
    var other: String
    var both: String
  }

  private func examples() throws -> [Example] {
    let text = try contents(of: protocolFolder.appendingPathComponent("README.md"))
    let table = text.components(
      separatedBy: "| both have | one makes | the other makes | both get |\n")
    let rows = try #require(table.dropFirst().first).split(separator: "\n").dropFirst()
    return rows.prefix { $0.hasPrefix("|") }.map { row in
      // Every second part stands in backticks.
      let parts = row.split(separator: "`", omittingEmptySubsequences: false)
      let cells = stride(from: 1, to: parts.count, by: 2).map {
        String(parts[$0]).replacingOccurrences(of: "⏎", with: "\n")
      }
      return Example(base: cells[0], one: cells[1], other: cells[2], both: cells[3])
    }
  }

  @Test func `two processes that had not seen each other's change show what the examples say`()
    throws
  {
    let examples = try examples()
    #expect(examples.count >= 8)
    let scratch = TemporaryFolder()
    for (number, example) in examples.enumerated() {
      for texts in [[example.one, example.other], [example.other, example.one]] {
        let peers = ["one", "other"].map {
          Peer(scratch("\($0) \(number) \(texts[0] == example.one)"))
        }
        for peer in peers { peer.initialize() }
        let id = try #require(
          peers[0].ask("note/create", ["title": "note", "text": .string(example.base)])["note"]?[
            "id"])
        func tell(_ sender: Peer, _ receiver: Peer) throws {
          let changes = try #require(sender.ask("notebook/changes")["changes"])
          let answer = receiver.ask("notebook/merge", ["changes": changes])
          #expect(answer.error == nil)
        }
        try tell(peers[0], peers[1])
        for (peer, text) in zip(peers, texts) {
          #expect(peer.ask("note/setText", ["id": id, "text": .string(text)]).error == nil)
        }
        try tell(peers[0], peers[1])
        try tell(peers[1], peers[0])
        for peer in peers {
          #expect(peer.ask("note/get", ["id": id])["text"]?.string == example.both)
        }
      }
    }
  }
}
