import Foundation
import TestSupport
import Testing

/// The examples of merging in `Protocol/README.md`.
@Suite struct `What people mean` {
  private struct Example {
    var base: String
    var one: String
    var other: String
    /// What both get: one of these, where it is left to the order of what two people put in one place.
    var both: [String]
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
          .replacingOccurrences(of: "␍", with: "\r")
      }
      return Example(base: cells[0], one: cells[1], other: cells[2], both: Array(cells[3...]))
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
        // What the third one types is the same as the first does. What is only inserted would be there twice.
        let isTwice = number % 2 == 0 && !isInsertion(texts[0], into: example.base)
        let peers = (isTwice ? ["one", "other", "third"] : ["one", "other"]).map {
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
        for peer in peers[1...] { try tell(peers[0], peer) }
        for (peer, text) in zip(peers, texts + [texts[0]]) {
          #expect(peer.ask("note/setText", ["id": id, "text": .string(text)]).error == nil)
        }
        for sender in peers { for receiver in peers { try tell(sender, receiver) } }
        let shown = peers.map { $0.ask("note/get", ["id": id])["text"]?.string }
        #expect(Set(shown).count == 1)
        #expect(example.both.contains(shown[0] ?? ""), "\(shown), not \(example.both)")
      }
    }
  }

  /// The ways in which clients of one process change the same text, without having seen each other's change.
  enum Way: CaseIterable { case base, text, lines, ranges, part }

  @Test(arguments: Way.allCases)
  func `two clients of one process that had not seen each other's change show the same`(
    way: Way
  ) throws {
    let scratch = TemporaryFolder()
    let peer = Peer(scratch("notes"))
    peer.initialize()
    for example in try examples() {
      for texts in [[example.one, example.other], [example.other, example.one]] {
        let created = peer.call(
          "note/create", ["title": "note", "text": .string(example.base)])
        let id = try #require(created["note"]?["id"])
        let base = try #require(created["revision"])
        let attachments = texts.map { _ in
          peer.call("note/open", ["id": id, "mode": "edit"])["attachment"]!
        }
        for (attachment, text) in zip(attachments, texts) {
          switch way {
          case .base:
            peer.call("note/setText", ["id": id, "text": .string(text), "base": base])
          case .text:
            peer.call(
              "note/change",
              ["attachment": attachment, "version": 1, "rev": 0, "text": .string(text)])
          case .lines:
            func lines(_ text: String) -> [Substring.UnicodeScalarView] {
              text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            }
            let count = lines(example.base).count
            let lines = lines(text).map { JSON.string(String($0)) }
            let all: JSON = .array([0, .number(Double(count)), .array(lines)])
            peer.call(
              "note/change",
              ["attachment": attachment, "version": 1, "rev": 0, "lines": .array([all])])
          case .ranges, .part:
            // All of the text, or what an editor sees that compares scalars. What is only deleted an editor names as it was selected.
            let (old, new) = (Array(example.base.unicodeScalars), Array(text.unicodeScalars))
            var (start, kept) = (0, 0)
            if way == .part {
              start = zip(old, new).prefix { $0 == $1 }.count
              kept = zip(old.reversed(), new.reversed()).prefix { $0 == $1 }.count
              kept = min(kept, old.count - start, new.count - start)
              if start + kept == new.count { (start, kept) = (0, 0) }
            }
            peer.call(
              "note/change",
              [
                "attachment": attachment, "version": 1, "rev": 0,
                "ranges": [
                  [
                    "range": [
                      "start": position(of: start, in: old),
                      "end": position(of: old.count - kept, in: old),
                    ], "newText": .string(string(new[start..<new.count - kept])),
                  ]
                ],
              ])
          }
        }
        let shown = peer.call("note/get", ["id": id])["text"]?.string ?? ""
        #expect(example.both.contains(shown), "\(shown), not \(example.both)")
        for attachment in attachments { peer.call("note/close", ["attachment": attachment]) }
      }
    }
  }

  /// Whether a text is another one with something more at one place.
  private func isInsertion(_ text: String, into base: String) -> Bool {
    let common = zip(text.utf8, base.utf8).prefix { $0 == $1 }.count
    let rest = zip(text.utf8.reversed(), base.utf8.reversed()).prefix { $0 == $1 }.count
    return text.utf8.count > base.utf8.count && common + rest >= base.utf8.count
  }

  private func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    String(String.UnicodeScalarView(scalars))
  }

  private func position(of place: Int, in text: [Unicode.Scalar]) -> JSON {
    let line = text[..<place].split(separator: "\n", omittingEmptySubsequences: false)
    return ["line": JSON(line.count - 1), "character": JSON(string(line.last!).utf16.count)]
  }

  @Test func `a client that takes no pushes goes on for as long as it likes`() throws {
    let scratch = TemporaryFolder()
    let (peer, other) = (Peer(scratch("notes")), Peer(scratch("notes"), seed: 2))
    for peer in [peer, other] { peer.initialize() }
    let id = peer.create(["text": "text"])
    let attachment = peer.call("note/open", ["id": .string(id), "mode": "edit"])["attachment"]!
    peer.call("note/append", ["id": .string(id), "text": " and more"])
    let count = 1100
    for version in 1...count {
      let text = String(repeating: "x", count: version) + "text"
      let answer = peer.ask(
        "note/change",
        ["attachment": attachment, "version": JSON(version), "rev": 0, "text": .string(text)])
      #expect(answer.error == nil)
    }
    let wanted = String(repeating: "x", count: count) + "text and more"
    #expect(peer.text(id) == wanted)
    other.folderChanged()
    #expect(other.text(id) == wanted)
  }
}
