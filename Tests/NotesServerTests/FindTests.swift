import TestSupport
import Testing

@Suite struct `Finding notes by a name` {
  let scratch = TemporaryFolder()
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1)
    peer.initialize()
  }

  private func find(_ name: String, _ others: [String: JSON] = [:]) -> [String] {
    let params = others.merging(["name": .string(name)]) { $1 }
    return peer.call("notebook/find", JSON(params))["notes"]!.array!.map { $0["id"]!.string! }
  }

  @Test func `an id comes before a title, and a title before the beginning of an id`() {
    let first = peer.create(["title": "first"])
    #expect(find(first) == [first])
    let beginning = String(first.prefix(6))
    #expect(beginning.hasPrefix("1-") && find(beginning) == [first])
    #expect(find(String(first.prefix(5))) == [])
    // Notes that are called as another one is named.
    let titled = peer.create(["title": .string(beginning)])
    let posed = peer.create(["title": .string(first)])
    #expect(find(beginning) == [titled])
    #expect(find(first) == [first])
    peer.call("note/delete", ["id": .string(titled)])
    #expect(find(beginning) == [first])
    #expect(find("first") == [first] && find("First") == [] && find("firs") == [])
    #expect(find(String(posed.prefix(6))) == [posed])
  }

  @Test func `the trash is looked through when it is asked for, but for ids`() {
    let (a, b) = (peer.create(["title": "t"]), peer.create(["title": "t"]))
    #expect(find("t") == [a, b])
    peer.call("note/delete", ["id": .string(a)])
    #expect(find("t") == [b] && find("t", ["trashed": true]) == [a])
    #expect(find(a) == [a] && find(b, ["trashed": true]) == [b])
    #expect(find(String(a.prefix(6))) == [])
    #expect(find(String(a.prefix(6)), ["trashed": true]) == [a])
    peer.call("note/purge", ["id": .string(a)])
    #expect(find("t", ["trashed": true]) == [] && find(String(a.prefix(6))) == [])
    #expect(peer.ask("notebook/find", ["name": .string(a)]).error?.reason == "purged")
  }

  @Test func `the oldest come first, and tell that there are more`() {
    let ids = (0..<5).map { _ in peer.create(["title": "same", "tags": ["x"]]) }
    #expect(find("same") == ids)
    let some = peer.call("notebook/find", ["name": "same", "limit": 2])
    #expect(some["notes"]!.array!.map { $0["id"]!.string! } == Array(ids.prefix(2)))
    #expect(some["more"]?.boolean == true)
    #expect(peer.call("notebook/find", ["name": "same", "limit": 5])["more"]?.boolean == false)
    let other = peer.create(["title": "same"])
    #expect(find("same", ["tags": ["x"]]) == ids && find("same").last == other)
    #expect(find(other, ["tags": ["x"]]) == [])
    #expect(find("sa", ["beginning": true]).count == 6 && find("sa") == [])
    #expect(find("", ["beginning": true, "limit": 3]).count == 3)
  }

  @Test func `a title is found in the other form of its letters, too`() {
    let composed = peer.create(["title": "Caf\u{E9}"])
    #expect(find("Cafe\u{301}") == [composed] && find("Cafe") == [])
    let decomposed = peer.create(["title": "Cafe\u{301}"])
    #expect(find("Cafe\u{301}") == [decomposed] && find("Caf\u{E9}") == [composed])
  }

  @Test func `parameters that can't be used are refused`() {
    for wrong in [
      [:], ["name": 1], ["name": "a", "limit": 0], ["name": "a", "tags": "x"],
      ["name": "a", "trashed": 1], ["name": "a", "beginning": "x"],
    ] as [JSON] {
      #expect(peer.ask("notebook/find", wrong).error?.code == -32602, "\(wrong)")
    }
  }
}
