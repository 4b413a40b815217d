import TestSupport
import Testing

@testable import NotesServer

@Suite struct `Two notes that are joined` {
  let scratch = TemporaryFolder()
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1, state: scratch("state"))
    peer.initialize()
  }

  @discardableResult
  private func merge(_ id: String, _ from: String, _ more: [String: JSON] = [:]) -> JSON {
    peer.call(
      "note/merge",
      JSON(more.merging(["id": .string(id), "from": .string(from)], uniquingKeysWith: { $1 })))
  }

  private func titles(_ result: JSON, _ name: String) -> [String] {
    result[name]!.array!.map { $0["note"]!["title"]!.string! }.sorted()
  }

  @Test(arguments: [
    ("1\n", "2\n", "1\n2\n"), ("1", "2\n", "1\n2"), ("1\r\n", "2\n3", "1\r\n2\r\n3\r\n"),
    ("", "2", "2\n"), ("1\n", "", "1\n"), ("", "", ""),
  ])
  func `have the lines of both, and the tags`(_ a: String, _ b: String, _ both: String) {
    let note = peer.create(["title": "A", "text": .string(a), "tags": ["x", "y"]])
    let from = peer.create(["title": "B", "text": .string(b), "tags": ["y", "z"]])
    let result = merge(note, from)
    #expect(result["note"]!["tags"] == ["x", "y", "z"] && result["note"]!["title"] == "A")
    #expect(peer.text(note) == both && peer.list() == [note])
    // The other one is in the trash as it was, and its history with it.
    #expect(peer.text(from) == b && peer.list(["trashed": true]) == [from])
    #expect(
      peer.call("note/history", ["id": .string(from)])["entries"]!.array!.last!["what"]!.array!
        .contains("created"))
  }

  @Test func `are led to by the links of both, by whichever name`() {
    let note = peer.create(["title": "A"])
    let from = peer.create(["title": "B", "text": "[[B]] [[A]]\n"])
    let other = peer.create([
      "title": "O", "text": .string("[[A]] [[b|x]] [[B#h]] [[\(from)]] `[[B]]`"),
    ])
    peer.call("note/setText", ["id": .string(note), "text": "see [[B]]\n"])
    let result = merge(note, from)
    #expect(titles(result, "updated") == ["A", "O"] && titles(result, "ambiguous") == [])
    #expect(peer.text(other) == "[[A]] [[A|x]] [[A#h]] [[A]] `[[B]]`")
    #expect(peer.text(note) == "see [[A]]\n[[A]] [[A]]\n" && peer.text(from) == "[[B]] [[A]]\n")
    let links = peer.call("note/backlinks", ["id": .string(note)])["backlinks"]!
    #expect(titles(["links": links], "links") == ["A", "O"])
  }

  @Test func `of one title are led to by what meant neither, and what a third has is told`() {
    let (note, from) = (peer.create(["title": "Day"]), peer.create(["title": "Day"]))
    let other = peer.create(["title": "O", "text": .string("[[day]] [[\(from)]]")])
    let third = peer.create(["title": "day"])
    let dry = merge(note, from, ["dryRun": true])
    #expect(titles(dry, "updated") == ["O"] && titles(dry, "ambiguous") == ["O"])
    #expect(peer.text(other) == "[[day]] [[\(from)]]" && peer.list().count == 4)
    peer.call("note/delete", ["id": .string(third)])
    #expect(titles(merge(note, from), "ambiguous") == [])
    #expect(peer.text(other) == "[[day]] [[Day]]")
    let links = peer.call("note/links", ["id": .string(other)])["links"]!.array!
    #expect(links.allSatisfy { $0["id"]?.string == note })
  }

  @Test func `are one step, which is taken back whole`() {
    let (note, from) = (
      peer.create(["title": "A", "text": "1\n"]), peer.create(["title": "B", "text": "2\n"])
    )
    let other = peer.create(["title": "O", "text": "[[B]]"])
    let attachment = peer.call("note/open", ["id": .string(note), "mode": "edit"])["attachment"]!
    merge(note, from)
    #expect(peer.text(note) == "1\n2\n" && peer.text(other) == "[[A]]")
    #expect(peer.call("note/undo", ["attachment": attachment])["done"] == true)
    #expect(peer.text(note) == "1\n" && peer.text(other) == "[[B]]" && peer.list().count == 3)
    #expect(peer.call("note/redo", ["attachment": attachment])["done"] == true)
    #expect(peer.text(note) == "1\n2\n" && peer.text(other) == "[[A]]" && peer.list().count == 2)
    // What another change has put into the trash stays there.
    peer.call("note/restore", ["id": .string(from)])
    peer.call("note/delete", ["id": .string(from)])
    peer.call("note/undo", ["attachment": attachment])
    #expect(peer.text(note) == "1\n" && peer.list().count == 2)
    peer.call("note/redo", ["attachment": attachment])
    // The other one that somebody has restored meanwhile stays.
    peer.call("note/restore", ["id": .string(from)])
    peer.call("note/undo", ["attachment": attachment])
    #expect(peer.text(note) == "1\n" && peer.list().count == 3)
  }

  @Test func `keep whole lines beside what others write unseen`() {
    let (note, from) = (
      peer.create(["title": "A", "text": "1\n"]), peer.create(["title": "B", "text": "2\n"])
    )
    let other = Peer(scratch("other"), seed: 2)
    other.initialize()
    other.merge(from: peer)
    merge(note, from)
    other.call("note/append", ["id": .string(note), "text": "3"])
    other.call("note/append", ["id": .string(from), "text": "4\n"])
    other.merge(from: peer)
    peer.merge(from: other)
    #expect(
      ["1\n2\n3", "1\n3\n2\n"].contains(peer.text(note)) && other.text(note) == peer.text(note))
    #expect(peer.text(from) == "2\n4\n")
  }

  @Test func `must be two, and not in the trash`() {
    let (note, from) = (peer.create(["title": "A"]), peer.create(["title": "B"]))
    #expect(
      peer.ask("note/merge", ["id": .string(note), "from": .string(note)]).error?.message.contains(
        "from") == true)
    peer.call("note/delete", ["id": .string(from)])
    for (id, other, name) in [(note, from, "from"), (from, note, "id")] {
      let error = peer.ask("note/merge", ["id": .string(id), "from": .string(other)]).error
      #expect(error?.message.hasPrefix(name) == true)
    }
    let gone = peer.ask("note/merge", ["id": .string(note), "from": "1-x"]).error
    #expect(gone?.reason == "noSuchNote" && peer.list() == [note])
  }
}
