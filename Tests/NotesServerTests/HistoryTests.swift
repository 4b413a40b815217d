import TestSupport
import Testing

@Suite
struct `The history of a note` {
  let scratch = TemporaryFolder()

  private func entries(_ peer: Peer, _ id: String, _ more: [String: JSON] = [:]) -> [JSON] {
    let params = JSON(more.merging(["id": .string(id)], uniquingKeysWith: { $1 }))
    return peer.call("note/history", params)["entries"]?.array ?? []
  }

  private func peer(_ name: String, seed: UInt64) -> Peer {
    let peer = Peer(scratch(name), seed: seed)
    peer.initialize()
    return peer
  }

  @Test func `has an entry for what one session did without a pause`() throws {
    let peer = peer("notes", seed: 1)
    let id = peer.create()
    peer.call("note/append", ["id": .string(id), "text": "one"])
    peer.call("note/append", ["id": .string(id), "text": " two"])
    peer.call("note/setText", ["id": .string(id), "text": "one 2"])
    // Whatever is created takes some seconds of this clock.
    for _ in 0..<61 { _ = peer.create() }
    peer.call("note/append", ["id": .string(id), "text": "!"])
    let entries = entries(peer, id)
    #expect(entries.count == 2)
    #expect(entries.map { $0["inserted"] } == [1, 8] && entries.map { $0["deleted"] } == [0, 3])
    #expect(entries.first?["time"] == "2026-01-01T00:02:08.000Z")
    #expect(Set(entries.map { $0["replica"]!.string! }).count == 1)
    for (entry, text) in zip(entries, ["one 2!", "one 2"]) {
      let then = peer.call("note/get", ["id": .string(id), "revision": entry["revision"]!])
      #expect(then["text"]?.string == text)
    }
  }

  @Test func `begins an entry with every tenth minute of the clock`() {
    let peer = peer("notes", seed: 1)
    let id = peer.create()
    for _ in 0..<1300 { peer.call("note/append", ["id": .string(id), "text": "x"]) }
    let entries = entries(peer, id)
    #expect(entries.map { $0["inserted"] } == [103, 600, 597])
  }

  @Test func `tells what two people did apart, as each of them saw it`() {
    let (ana, ben) = (peer("ana", seed: 1), peer("ben", seed: 2))
    let id = ana.create()
    ana.call("note/append", ["id": .string(id), "text": "one"])
    ben.merge(from: ana)
    for _ in 0..<3 {
      ana.call("note/append", ["id": .string(id), "text": "a"])
      ben.call("note/append", ["id": .string(id), "text": "bb"])
    }
    ben.merge(from: ana)
    ana.merge(from: ben)
    #expect(entries(ana, id) == entries(ben, id))
    let entries = entries(ana, id)
    #expect(Set(entries.map { $0["inserted"]!.integer! }) == [6])
    let texts = entries.map {
      ana.call("note/get", ["id": .string(id), "revision": $0["revision"]!])["text"]!.string!
    }
    #expect(texts.sorted() == ["oneaaa", "onebbbbbb"])
  }

  @Test func `has as much as the text is long, at the end of any history`() throws {
    var random = SplitMix64(seed: 5)
    let (ana, ben) = (peer("ana", seed: 1), peer("ben", seed: 2))
    let id = ana.create()
    ben.merge(from: ana)
    for _ in 0..<60 {
      let peer = random.chance(50) ? ana : ben
      var text = Array(peer.text(id).unicodeScalars)
      if !text.isEmpty, random.chance(40) { text.remove(at: random.below(text.count)) }
      text.insert("é", at: random.below(text.count + 1))
      var view = String.UnicodeScalarView()
      view.append(contentsOf: text)
      peer.call("note/setText", ["id": .string(id), "text": .string(String(view))])
      if random.chance(20) { ana.merge(from: ben) }
      if random.chance(20) { ben.merge(from: ana) }
    }
    // What both have deleted at once is deleted twice in the history.
    for peer in [ana, ben] {
      for entry in entries(peer, id).prefix(20) {
        let revision = entry["revision"]!
        let text = peer.call("note/get", ["id": .string(id), "revision": revision])["text"]
        #expect(text != nil)
      }
      let counts = entries(peer, id).map { ($0["inserted"]!.integer!, $0["deleted"]!.integer!) }
      let rest = counts.reduce(0) { $0 + $1.0 - $1.1 }
      #expect(rest <= peer.text(id).utf8.count)
    }
  }

  @Test func `shows as many as are asked for, and of a note that is empty its creation`() {
    let peer = peer("notes", seed: 1)
    let id = peer.create(["title": "Empty"])
    #expect(entries(peer, id).map { $0["inserted"] } == [0])
    for _ in 0..<3 {
      for _ in 0..<60 { _ = peer.create() }
      peer.call("note/append", ["id": .string(id), "text": "x"])
    }
    #expect(entries(peer, id).count == 4)
    #expect(entries(peer, id, ["limit": 2]) == Array(entries(peer, id).prefix(2)))
    for wrong in [["limit": 0], ["limit": -1], ["limit": "1"]] as [[String: JSON]] {
      let params = JSON(wrong.merging(["id": .string(id)], uniquingKeysWith: { $1 }))
      #expect(peer.ask("note/history", params).error?.code == -32602)
    }
    #expect(peer.ask("note/history", ["id": "none"]).error?.reason == "noSuchNote")
    #expect(peer.ask("note/history").error?.code == -32602)
    // Another process finds the same.
    let other = self.peer("notes", seed: 9)
    #expect(entries(other, id) == entries(peer, id))
  }
}
