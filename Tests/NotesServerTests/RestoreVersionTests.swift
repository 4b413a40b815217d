import TestSupport
import Testing

@testable import NotesServer

@Suite struct `A version that is restored` {
  let scratch = TemporaryFolder()
  let peer: Peer
  let note: String

  init() {
    peer = Peer(scratch("notes"), seed: 1, state: scratch("state"))
    peer.initialize()
    note = peer.create(["title": "one", "text": "milk\neggs\n", "tags": ["a", "b"]])
  }

  private var id: JSON { .string(note) }

  private func get() -> (text: String, title: String, tags: JSON, priority: String) {
    let result = peer.call("note/get", ["id": id])
    let summary = result["note"]!
    return (
      result["text"]!.string!, summary["title"]!.string!, summary["tags"]!,
      summary["priority"]!.string!
    )
  }

  private func open(_ peer: Peer, mode: String = "edit") -> JSON {
    peer.call("note/open", ["id": id, "mode": .string(mode)])
  }

  private func changeAll() {
    peer.call(
      "note/update",
      ["id": id, "title": "two", "tags": ["b", "c"], "priority": "high"])
    peer.call("note/setText", ["id": id, "text": "oat milk\nbread\n"])
  }

  @Test func `has the text, the title, the tags and the priority of then`() {
    let (first, count) = (peer.revision, peer.call("notebook/log")["entries"]!.array!.count)
    changeAll()
    let second = peer.revision
    let result = peer.call("note/restoreVersion", ["id": id, "revision": .string(first)])
    #expect(get() == ("milk\neggs\n", "one", ["a", "b"], "normal"))
    #expect(result["note"]?["title"] == "one" && result["note"]?["length"] == 10)
    #expect(result["revision"]?.string == peer.revision)
    peer.call("note/restoreVersion", ["id": id, "revision": .string(second)])
    #expect(get() == ("oat milk\nbread\n", "two", ["b", "c"], "high"))
    // A value that is restored already is not written again.
    let third = peer.revision
    peer.call("note/restoreVersion", ["id": id, "revision": .string(second)])
    peer.call("note/restoreVersion", ["id": id, "revision": .string(third)])
    #expect(peer.revision == third && count == 1)
    // One change each time.
    let before = peer.call("notebook/status")["version"]!.string!
    peer.call("note/restoreVersion", ["id": id, "revision": .string(first)])
    let number = { (version: String) in Int(version.split(separator: ".").last!)! }
    #expect(number(peer.call("notebook/status")["version"]!.string!) == number(before) + 1)
  }

  @Test func `is made of the present text: what others add meanwhile stays`() {
    let first = peer.revision
    peer.call("note/setText", ["id": id, "text": "oat milk\neggs\n"])
    let other = Peer(scratch("other"), seed: 2)
    other.initialize()
    other.merge(from: peer)
    other.call("note/append", ["id": id, "text": "bread\n"])
    peer.call("note/restoreVersion", ["id": id, "revision": .string(first)])
    peer.merge(from: other)
    other.merge(from: peer)
    #expect(peer.text(note) == "milk\neggs\nbread\n" && other.text(note) == peer.text(note))
  }

  @Test func `is what was there then, and undone it is what was there before, in random histories`()
  {
    struct State: Equatable {
      var text: String
      var title: String
      var tags: Set<String>
      var priority: String
    }
    for seed in seeds(8) {
      var random = SplitMix64(seed: seed)
      let peers = ["ana \(seed)", "ben \(seed)"].enumerated().map { index, name in
        let peer = Peer(scratch(name), seed: seed &* 2 &+ UInt64(index))
        peer.initialize()
        return peer
      }
      let id = JSON.string(peers[0].create(["title": "note", "text": "one two three"]))
      peers[1].merge(from: peers[0])
      func state(_ peer: Peer) -> State {
        let result = peer.call("note/get", ["id": id])
        let note = result["note"]!
        return State(
          text: result["text"]!.string!, title: note["title"]!.string!,
          tags: Set(note["tags"]!.array!.map { $0.string! }), priority: note["priority"]!.string!)
      }
      var known: [(revision: String, state: State)] = []
      let open = peers[0].call("note/open", ["id": id, "mode": "edit"])["attachment"]!
      for step in 0..<40 {
        let peer = random.pick(peers)
        switch random.below(8) {
        case 0: peer.call("note/update", ["id": id, "title": .string("title \(step)")])
        case 1: peer.call("note/update", ["id": id, "tags": ["add": [.string("t\(step % 3)")]]])
        case 2: peer.call("note/update", ["id": id, "tags": ["remove": [.string("t\(step % 3)")]]])
        case 3:
          let priority = random.pick(["low", "normal", "high"])
          peer.call("note/update", ["id": id, "priority": .string(priority)])
        case 4: peer.call("note/append", ["id": id, "text": .string(" w\(step)")])
        case 5:
          let words = state(peer).text.split(separator: " ").filter { _ in random.chance(80) }
          peer.call("note/setText", ["id": id, "text": .string(words.joined(separator: " "))])
        case 6:
          peers[0].merge(from: peers[1])
          peers[1].merge(from: peers[0])
        default:
          guard let then = known.randomElement(using: &random) else { continue }
          let before = state(peers[0])
          let params: JSON = ["id": id, "revision": .string(then.revision)]
          #expect(peers[0].ask("note/restoreVersion", params).error == nil, at(seed, step))
          #expect(state(peers[0]) == then.state, at(seed, step))
          if before != then.state, random.chance(60) {
            #expect(peers[0].call("note/undo", ["attachment": open])["done"] == true)
            #expect(state(peers[0]) == before, at(seed, step))
            if random.chance(50) {
              #expect(peers[0].call("note/redo", ["attachment": open])["done"] == true)
              #expect(state(peers[0]) == then.state, at(seed, step))
            }
          }
        }
        known.append((peers[0].revision, state(peers[0])))
        peers[0].notifications = []
      }
    }
  }

  @Test func `is refused where it is not known, or there was no note`() {
    let revision = peer.revision
    let later = peer.create(["title": "later"])
    func reason(_ id: String, _ revision: JSON) -> String? {
      peer.ask("note/restoreVersion", ["id": .string(id), "revision": revision]).error?.reason
    }
    #expect(reason(later, .string(revision)) == "noSuchNote")
    #expect(reason(note, "0") == "noSuchNote")
    #expect(reason("nothing", .string(revision)) == "noSuchNote")
    for name in ["", "x", "\(String(repeating: "0", count: 32)).1"] {
      #expect(reason(note, .string(name)) == "unknownRevision")
    }
    #expect(peer.ask("note/restoreVersion", ["id": id]).error?.code == -32602)
    #expect(peer.ask("note/restoreVersion", ["id": id, "revision": 1]).error?.code == -32602)
    peer.call("note/delete", ["id": id])
    peer.call("note/purge", ["id": id])
    #expect(reason(note, .string(revision)) == "purged")
  }

  // MARK: - Undo

  @Test func `is one step for whoever has the note open, with all that it changed`() {
    let first = peer.revision
    changeAll()
    let (one, other) = (open(peer)["attachment"]!, open(peer)["attachment"]!)
    let observer = open(peer, mode: "observe")["attachment"]!
    peer.call("note/restoreVersion", ["id": id, "revision": .string(first)])
    #expect(peer.stepCount(.undo, of: one.integer!) == 1)
    #expect(peer.stepCount(.undo, of: other.integer!) == 1)
    #expect(peer.stepCount(.undo, of: observer.integer!) == 0)
    peer.notifications = []
    #expect(peer.call("note/undo", ["attachment": one])["done"] == true)
    #expect(get() == ("oat milk\nbread\n", "two", ["b", "c"], "high"))
    // The client sees the text; of the rest it is told.
    let told = peer.take("notebook/didChange").flatMap { $0["changed"]!.array! }
    #expect(told.map { $0["what"] } == [["title", "text", "tags", "priority"]])
    // The other has nothing more to take back.
    #expect(peer.call("note/undo", ["attachment": other])["done"] == false)
    #expect(peer.call("note/redo", ["attachment": one])["done"] == true)
    #expect(get() == ("milk\neggs\n", "one", ["a", "b"], "normal"))
    #expect(peer.call("note/undo", ["attachment": one])["done"] == true)
    #expect(get() == ("oat milk\nbread\n", "two", ["b", "c"], "high"))
  }

  @Test func `is taken back as far as nobody has written anything else there since`() {
    let first = peer.revision
    changeAll()
    let attachment = open(peer)["attachment"]!
    peer.call("note/restoreVersion", ["id": id, "revision": .string(first)])
    peer.call(
      "note/update", ["id": id, "title": "three", "tags": ["add": ["d"]], "priority": "low"])
    peer.call("note/append", ["id": id, "text": "salt\n"])
    #expect(peer.call("note/undo", ["attachment": attachment])["done"] == true)
    #expect(get() == ("oat milk\nbread\nsalt\n", "three", ["b", "c", "d"], "low"))
  }

  @Test func `is a step, too, where only the title was another one`() {
    let attachment = open(peer)["attachment"]!
    peer.call("note/change", ["attachment": attachment, "version": 1, "rev": 0, "text": "x"])
    let first = peer.revision
    peer.call("note/update", ["id": id, "title": "two"])
    peer.call("note/restoreVersion", ["id": id, "revision": .string(first)])
    #expect(get().title == "one")
    #expect(peer.call("note/undo", ["attachment": attachment])["done"] == true)
    #expect(get() == ("x", "two", ["a", "b"], "normal"))
    #expect(peer.call("note/undo", ["attachment": attachment])["done"] == true)
    #expect(get() == ("milk\neggs\n", "two", ["a", "b"], "normal"))
    #expect(peer.call("note/undo", ["attachment": attachment])["done"] == false)
    for _ in 0..<2 { peer.call("note/redo", ["attachment": attachment]) }
    #expect(get() == ("x", "one", ["a", "b"], "normal"))
  }

  @Test func `is no part of a step of typing`() {
    let first = peer.revision
    let attachment = open(peer)["attachment"]!
    peer.call("note/change", ["attachment": attachment, "version": 1, "rev": 0, "text": "a"])
    peer.call("note/restoreVersion", ["id": id, "revision": .string(first)])
    let rev = peer.take("note/edit").last!["rev"]!
    peer.call(
      "note/change",
      [
        "attachment": attachment, "version": 2, "rev": rev, "text": "milk\neggs\nb",
        "sameStep": true,
      ])
    #expect(peer.stepCount(.undo, of: attachment.integer!) == 3)
    for text in ["milk\neggs\n", "a", "milk\neggs\n"] {
      #expect(peer.call("note/undo", ["attachment": attachment])["done"] == true)
      #expect(peer.text(note) == text)
    }
  }

  @Test func `is a step also after the server has died`() {
    let first = peer.revision
    changeAll()
    let opened = open(peer)
    peer.call("note/restoreVersion", ["id": id, "revision": .string(first)])
    let rev = peer.take("note/edit").last!["rev"]!
    let next = Peer(scratch("notes"), seed: 2, state: scratch("state"))
    next.initialize()
    let resumed = next.call(
      "note/open",
      [
        "id": id, "mode": "edit",
        "resume": [
          "session": opened["session"]!, "version": 0, "rev": rev, "text": "milk\neggs\n",
        ],
      ])
    #expect(resumed["resumed"] == "exact")
    #expect(next.call("note/undo", ["attachment": resumed["attachment"]!])["done"] == true)
    let note = next.call("note/get", ["id": id])
    #expect(note["text"] == "oat milk\nbread\n" && note["note"]?["title"] == "two")
  }
}
