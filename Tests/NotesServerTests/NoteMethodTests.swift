import TestSupport
import Testing

@Suite
struct `The methods of notes` {
  let scratch = TemporaryFolder()
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1)
    peer.initialize()
  }

  private func note(_ id: String, _ more: [String: JSON] = [:]) -> JSON {
    JSON(more.merging(["id": .string(id)], uniquingKeysWith: { $1 }))
  }

  /// The answer's summary without what differs from run to run.
  private func summary(_ answer: JSON) -> JSON {
    guard var members = answer["note"]?.members else { return .null }
    for name in ["id", "created", "modified"] { members[name] = nil }
    return JSON(members)
  }

  // MARK: - note/create, note/get

  @Test func `make an empty note of nothing`() {
    let answer = peer.call("note/create")
    #expect(
      summary(answer) == [
        "title": "", "tags": [], "priority": "normal", "length": 0, "trashed": false,
      ])
    #expect(answer["note"]?["created"] == answer["note"]?["modified"])
    #expect(peer.text(answer["note"]!["id"]!.string!) == "")
  }

  @Test func `keep what a note is made of`() {
    let answer = peer.call(
      "note/create",
      ["title": "Ünï ☃", "text": "a\r\n😀\n", "tags": ["b", "a", "b"], "priority": "low"])
    #expect(
      summary(answer) == [
        "title": "Ünï ☃", "tags": ["a", "b"], "priority": "low", "length": 8, "trashed": false,
      ])
    #expect(peer.text(answer["note"]!["id"]!.string!).utf8.elementsEqual("a\r\n😀\n".utf8))
  }

  @Test func `make a note whose id is of its title, once, with the texts of all who make it`() {
    let other = Peer(scratch("other"), seed: 2)
    other.initialize()
    let named: [String: JSON] = ["title": "2026-11-24", "titleAsIdentity": true]
    func make(_ peer: Peer, _ text: String) -> JSON {
      let more: [String: JSON] = ["text": .string(text), "tags": ["day"], "priority": "high"]
      return peer.call("note/create", JSON(named.merging(more, uniquingKeysWith: { $1 })))
    }
    peer.create(["title": "before"])
    let answer = make(peer, "mine\n")
    let id = answer["note"]!["id"]!
    #expect(
      summary(answer) == [
        "title": "2026-11-24", "tags": ["day"], "priority": "high", "length": 5, "trashed": false,
      ])
    #expect(peer.list() == [id.string!, peer.list()[1]])
    let created = answer["note"]!["created"]!.string!
    #expect(created.hasPrefix("20") && created <= answer["note"]!["modified"]!.string!)
    #expect(make(other, "theirs\n")["note"]!["id"] == id)
    other.merge(from: peer, adopting: true)
    peer.merge(from: other, adopting: true)
    for peer in [peer, other] {
      #expect(["mine\ntheirs\n", "theirs\nmine\n"].contains(peer.text(id.string!)))
    }
    // A second one is a note of its own.
    #expect(make(peer, "")["note"]!["id"] != id)
    for (method, params) in [
      ("note/create", JSON(named.merging(["requestKey": "k"], uniquingKeysWith: { $1 }))),
      ("notebook/batch", ["requests": [["method": "note/create", "params": JSON(named)]]]),
    ] {
      let error = peer.ask(method, params).error
      #expect(error?.code == -32602 && error!.message.contains("titleAsIdentity"))
    }
  }

  @Test(
    arguments: [
      ("title", "a\nb"), ("title", "a\rb"), ("title", 1),
      ("title", .string(String(repeating: "é", count: 2049))), ("text", []), ("tags", "a"),
      ("tags", [1]), ("tags", [""]), ("tags", ["a\nb"]),
      ("tags", [.string(String(repeating: "é", count: 101))]), ("priority", "urgent"),
      ("priority", 1), ("index", 1), ("index", -1), ("index", "0"), ("index", .number(0.5)),
      ("requestKey", 1), ("titleAsIdentity", 1), ("titleAsIdentity", true),
    ] as [(String, JSON)])
  func `refuse what no note can have, by name`(field: String, value: JSON) {
    let before = peer.revision
    let error = peer.ask("note/create", JSON([field: value])).error
    #expect(error?.code == -32602)
    #expect(error?.message.contains(field) == true)
    #expect(peer.revision == before)
    #expect(peer.list() == [])
  }

  @Test func `have a title of at most 4,096 bytes`() {
    let title = String(repeating: "é", count: 2048)
    #expect(peer.call("note/create", ["title": .string(title)])["note"]?["title"] == .string(title))
  }

  @Test func `take tags that are canonically equivalent for one`() {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    func bytes(_ answer: Peer.Answer) -> [[UInt8]]? {
      answer["note"]?["tags"]?.array?.compactMap { $0.string.map { Array($0.utf8) } }
    }
    let note = peer.ask(
      "note/create", ["tags": [.string(decomposed), "a", .string(composed)]])
    let id = note["note"]!["id"]!
    #expect(bytes(note) == [Array("a".utf8), Array(composed.utf8)])
    #expect(peer.list(["tags": [.string(decomposed)]]) == [id.string!])
    let revision = peer.revision
    _ = peer.call("note/update", ["id": id, "tags": ["add": [.string(decomposed)]]])
    _ = peer.call("note/update", ["id": id, "tags": [.string(decomposed), "a"]])
    #expect(peer.revision == revision)
    let rest = peer.ask("note/update", ["id": id, "tags": ["remove": [.string(decomposed)]]])
    #expect(bytes(rest) == [Array("a".utf8)])
  }

  @Test(arguments: ["title", "text", "tags"])
  func `refuse U+0000, by name`(field: String) {
    let value = field == "tags" ? #"["\u0000"]"# : #""a\u0000b""#
    peer.write(
      #"{"jsonrpc":"2.0","id":"z","method":"note/create","params":{"\#(field)":\#(value)}}"# + "\n")
    let error = peer.responses.first { $0["id"] == "z" }?["error"]
    #expect(error?["code"] == -32602)
    #expect(error?["message"]?.string?.contains(field) == true)
    #expect(peer.revision == "0")
  }

  @Test func `take a tag of 200 bytes`() {
    let tag = String(repeating: "é", count: 100)
    let answer = peer.call("note/create", ["tags": [.string(tag)]])
    #expect(answer["note"]?["tags"] == [.string(tag)])
  }

  @Test(arguments: ["get", "update", "setText", "append", "move", "delete", "restore", "open"])
  func `refuse a note that is not there`(method: String) {
    let id = peer.create()
    for unknown in ["", "x", "99" + id.dropFirst(), id + " ", id.uppercased() + "x"] {
      let params: JSON = ["id": .string(unknown), "text": "", "index": 0, "mode": "edit"]
      let error = peer.ask("note/\(method)", params).error
      #expect(error?.code == -32803)
      #expect(error?.reason == "noSuchNote")
    }
    #expect(peer.ask("note/\(method)", ["text": ""]).error?.code == -32602)
  }

  // MARK: - The order

  @Test func `put a new note first, or where it is asked for`() {
    let one = peer.create()
    let two = peer.create()
    let three = peer.create(["index": 2])
    let four = peer.create(["index": 1])
    let five = peer.create(["after": .string(four)])
    let six = peer.create(["before": .string(two)])
    #expect(peer.list() == [six, two, four, five, one, three])
  }

  @Test func `move a note to its place afterwards, the trash not counted`() {
    var notes = (0..<7).map { _ in peer.create() }
    notes.reverse()
    let trash = [notes[0], notes[3], notes[6]]
    for id in trash { peer.call("note/delete", note(id)) }
    var expected = notes.filter { !trash.contains($0) }
    #expect(peer.list() == expected)
    var random = SplitMix64(seed: 7)
    for _ in 0..<60 {
      let id = random.pick(expected)
      let index = random.below(expected.count)
      peer.call("note/move", note(id, ["index": JSON(index)]))
      expected.removeAll { $0 == id }
      expected.insert(id, at: index)
      #expect(peer.list() == expected)
      let neighbour = random.pick(expected.filter { $0 != id })
      let isAfter = random.chance(50)
      peer.call("note/move", note(id, [isAfter ? "after" : "before": .string(neighbour)]))
      expected.removeAll { $0 == id }
      expected.insert(id, at: expected.firstIndex(of: neighbour)! + (isAfter ? 1 : 0))
      #expect(peer.list() == expected)
    }
    for id in trash { peer.call("note/restore", note(id)) }
    #expect(peer.list().filter { !trash.contains($0) } == expected)
    #expect(peer.ask("note/move", note(notes[1], ["index": 7])).error?.code == -32602)
    let twice = note(notes[1], ["index": 0, "after": "x"])
    #expect(peer.ask("note/move", twice).error?.code == -32602)
    #expect(peer.ask("note/move", note(notes[1])).error?.code == -32602)
  }

  @Test func `keep the revision when a note is moved to where it is`() {
    let ids = (0..<4).map { _ in peer.create() }
    let list = peer.list()
    let before = peer.revision
    for (index, id) in list.enumerated() {
      peer.call("note/move", note(id, ["index": JSON(index)]))
      #expect(peer.revision == before)
      if index > 0 { peer.call("note/move", note(id, ["after": .string(list[index - 1])])) }
      #expect(peer.revision == before)
    }
    // With something in the trash between them.
    peer.call("note/delete", note(list[1]))
    let live = peer.list()
    let later = peer.revision
    for (index, id) in live.enumerated() {
      peer.call("note/move", note(id, ["index": JSON(index)]))
      #expect(peer.list() == live)
    }
    #expect(peer.revision == later)
    #expect(ids.count == 4)
  }

  // MARK: - note/update

  @Test func `change what is given and keep what is not`() {
    let id = peer.create(["title": "a", "tags": ["x"], "priority": "low", "text": "t"])
    #expect(summary(peer.call("note/update", note(id, ["title": "b"])))["priority"] == "low")
    let answer = peer.call("note/update", note(id, ["priority": "high"]))
    #expect(
      summary(answer) == [
        "title": "b", "tags": ["x"], "priority": "high", "length": 1, "trashed": false,
      ])
    #expect(summary(peer.call("note/update", note(id, ["title": ""])))["title"] == "")
  }

  @Test func `set tags, add and remove them`() {
    let id = peer.create(["tags": ["b"]])
    func tags(_ value: JSON) -> JSON? {
      summary(peer.call("note/update", note(id, ["tags": value])))["tags"]
    }
    #expect(tags(["add": ["a", "b"]]) == ["a", "b"])
    #expect(tags(["remove": ["b", "c"]]) == ["a"])
    #expect(tags(["add": ["c"], "remove": ["a"]]) == ["c"])
    #expect(tags([:]) == ["c"])
    #expect(tags(["z", "y", "z"]) == ["y", "z"])
    #expect(tags([]) == [])
    // é composed and decomposed are one tag.
    #expect(tags(["\u{E9}", "e\u{301}"]) == ["\u{E9}"])
    #expect(tags(["remove": ["e\u{301}"]]) == [])
    #expect(peer.ask("note/update", note(id, ["tags": ["add": "x"]])).error?.code == -32602)
    #expect(peer.ask("note/update", note(id, ["tags": ["remove": [1]]])).error?.code == -32602)
    #expect(peer.ask("note/update", note(id, ["tags": 1])).error?.code == -32602)
  }

  @Test func `keep the revision where nothing changes`() {
    let id = peer.create(["title": "a", "text": "t", "tags": ["x"], "priority": "low"])
    let before = peer.call("note/get", note(id))
    peer.call("note/update", note(id))
    peer.call("note/update", note(id, ["title": "a", "priority": "low", "tags": ["x"]]))
    peer.call("note/update", note(id, ["tags": ["add": ["x"], "remove": ["y"]]]))
    peer.call("note/setText", note(id, ["text": "t"]))
    peer.call("note/setText", note(id, ["text": "t", "base": before["revision"]!]))
    peer.call("note/append", note(id, ["text": ""]))
    peer.call("note/restore", note(id))
    peer.call("note/move", note(id, ["index": 0]))
    #expect(peer.call("note/get", note(id)) == before)
    peer.call("note/delete", note(id))
    let trashed = peer.revision
    peer.call("note/delete", note(id))
    #expect(peer.revision == trashed)
    #expect(peer.take("notebook/didChange") == [])
  }

  @Test func `see a title composed another way as another title`() {
    let id = peer.create(["title": "caf\u{E9}", "text": "caf\u{E9}"])
    let before = peer.revision
    let answer = peer.call("note/update", note(id, ["title": "cafe\u{301}"]))
    #expect(answer["note"]?["title"] == "cafe\u{301}")
    #expect(answer["revision"]?.string != before)
    let text = peer.call("note/setText", note(id, ["text": "cafe\u{301}"]))
    #expect(text["text"] == "cafe\u{301}")
    #expect(text["revision"] != answer["revision"])
  }

  // MARK: - note/setText, note/append

  @Test func `merge a text made from an earlier one with what came since`() {
    let created = peer.call("note/create", ["text": "milk\neggs\n"])
    let id = created["note"]!["id"]!.string!
    peer.call("note/append", note(id, ["text": "bread\n"]))
    peer.call("note/update", note(id, ["title": "later"]))
    let base = created["revision"]!
    let answer = peer.call("note/setText", note(id, ["text": "oat milk\neggs\n", "base": base]))
    #expect(answer["text"] == "oat milk\neggs\nbread\n")
    #expect(answer["revision"]?.string == peer.revision)
    // The same once more: "oat " is inserted again, since the client has it from the same base.
    #expect(peer.text(id) == "oat milk\neggs\nbread\n")
    let emptied = peer.call("note/setText", note(id, ["text": "", "base": base]))
    #expect(emptied["text"] == "oat \nbread\n")
    #expect(peer.call("note/setText", note(id, ["text": "new"]))["text"] == "new")
  }

  @Test func `refuse a base that names no state of the note`() {
    let early = peer.revision
    let id = peer.create(["text": "a"])
    let other = Peer(scratch("other"), seed: 2)
    other.initialize()
    _ = other.create()
    for base in ["", "x", "0", early, other.revision, peer.revision + "+", "v", "99"] {
      let error = peer.ask("note/setText", note(id, ["text": "b", "base": .string(base)])).error
      #expect(error?.code == -32803)
      #expect(error?.reason == "unknownBase")
    }
    #expect(peer.ask("note/setText", note(id, ["text": "b", "base": 1])).error?.code == -32602)
    #expect(peer.ask("note/setText", note(id)).error?.code == -32602)
    #expect(peer.text(id) == "a")
  }

  @Test func `append as it is`() {
    let id = peer.create()
    for piece in ["a", "\r\n", "e", "\u{301}", "\n\n", "😀"] {
      peer.call("note/append", note(id, ["text": .string(piece)]))
    }
    #expect(peer.text(id).utf8.elementsEqual("a\r\ne\u{301}\n\n😀".utf8))
  }

  @Test func `change exactly what was changed, whatever the text is made of`() {
    var random = SplitMix64(seed: 11)
    let id = peer.create()
    let pieces = [
      "a", "b", "word", " ", "\n", "\r", "\r\n", "e\u{301}", "\u{E9}", "\u{301}", "😀", "👩‍👩‍👧", "🇪🇺",
      "🇺",
      "\u{FEFF}", "\u{2028}", "\u{85}", "ﷺ", "\u{10FFFF}", "\"", "\\", "\u{1}", "한",
      "\u{1112}\u{1161}",
    ]
    for run in 0..<150 {
      let text = (0..<random.below(14)).map { _ in random.pick(pieces) }.joined()
      let answer = peer.call("note/setText", note(id, ["text": .string(text)]))
      #expect(answer["text"] == .string(text), "run \(run)")
      let got = peer.call("note/get", note(id))
      #expect(got["text"] == .string(text), "run \(run)")
      #expect(got["note"]?["length"] == JSON(text.utf8.count))
    }
  }

  // MARK: - The trash

  @Test func `throw away and take back`() {
    let id = peer.create(["title": "a"])
    peer.call("note/delete", note(id))
    #expect(peer.list() == [])
    #expect(peer.list(["trashed": true]) == [id])
    #expect(summary(peer.call("note/get", note(id)))["trashed"] == true)
    peer.call("note/restore", note(id))
    #expect(peer.list() == [id])
    #expect(peer.list(["trashed": true]) == [])
  }

  @Test func `leave a note in the trash when only tags, priority or place change`() {
    let id = peer.create()
    _ = peer.create()
    peer.call("note/delete", note(id))
    peer.call("note/update", note(id, ["tags": ["a"], "priority": "high"]))
    peer.call("note/move", note(id, ["index": 0]))
    #expect(peer.list(["trashed": true]) == [id])
  }

  @Test(arguments: ["append", "setText", "update", "change"])
  func `take a note out of the trash when it is written`(way: String) {
    let id = peer.create(["text": "a"])
    let attachment = peer.call("note/open", note(id, ["mode": "edit"]))["attachment"]!
    peer.call("note/delete", note(id))
    switch way {
    case "update": peer.call("note/update", note(id, ["title": "b"]))
    case "change":
      peer.call(
        "note/change", ["attachment": attachment, "version": 1, "rev": 0, "text": "b"])
    default: peer.call("note/\(way)", note(id, ["text": "b"]))
    }
    #expect(peer.list() == [id])
    peer.call("note/delete", note(id))
    #expect(peer.list() == [])
  }

  // MARK: - The past

  @Test func `give the note as it was at each earlier revision`() {
    var random = SplitMix64(seed: 3)
    let id = peer.create(["title": "0", "text": "start"])
    var states: [JSON] = []
    for step in 0..<60 {
      switch random.below(6) {
      case 0: peer.call("note/update", note(id, ["title": .string("t\(step)")]))
      case 1: peer.call("note/update", note(id, ["tags": ["add": [.string("g\(step % 5)")]]]))
      case 2: peer.call("note/update", note(id, ["tags": ["remove": [.string("g\(step % 5)")]]]))
      case 3: peer.call("note/append", note(id, ["text": .string("\(step) é\n")]))
      case 4:
        let text = peer.text(id)
        peer.call("note/setText", note(id, ["text": .string(String(text.dropFirst(3)))]))
      default: peer.call(random.chance(50) ? "note/delete" : "note/restore", note(id))
      }
      states.append(peer.call("note/get", note(id)))
    }
    func check(_ peer: Peer) {
      for state in states {
        #expect(peer.call("note/get", note(id, ["revision": state["revision"]!])) == state)
      }
    }
    check(peer)
    let next = Peer(scratch("notes"), seed: 9)
    next.initialize()
    #expect(next.revision == states.last!["revision"]!.string)
    check(next)
    let copy = Peer(scratch("copy"), seed: 10)
    copy.initialize()
    copy.merge(from: peer)
    #expect(copy.revision == states.last!["revision"]!.string)
    check(copy)
  }

  @Test func `have no note at a revision before it`() {
    let empty = peer.revision
    let first = peer.create()
    let before = peer.revision
    let second = peer.create()
    for (id, revision) in [(first, empty), (second, before), (second, empty)] {
      let error = peer.ask("note/get", note(id, ["revision": .string(revision)])).error
      #expect(error?.reason == "noSuchNote")
    }
    for revision in ["", "x", before + "+", before + "0", "+" + before] {
      let error = peer.ask("note/get", note(first, ["revision": .string(revision)])).error
      #expect(error?.reason == "unknownRevision")
    }
    #expect(peer.ask("note/get", note(first, ["revision": 1])).error?.code == -32602)
  }

  // MARK: - requestKey

  @Test(arguments: ["note/create", "note/update", "note/setText", "note/append", "note/move"])
  func `happen once with one request key`(method: String) {
    let id = peer.create(["text": "a"])
    _ = peer.create()
    let before = peer.revision
    let params = note(id, ["requestKey": "k", "text": "b", "title": "t", "index": 0])
    let first = peer.call(method, params)
    let after = peer.revision
    #expect(after != before)
    #expect(peer.call(method, params) == first)
    #expect(peer.revision == after)
    // An error is no result: the request may be sent again.
    #expect(peer.ask("note/append", ["id": "x", "text": "", "requestKey": "e"]).error != nil)
    #expect(peer.ask("note/append", note(id, ["text": "!", "requestKey": "e"])).error == nil)
  }

  @Test func `tell request keys apart by their bytes`() {
    peer.call("note/create", ["requestKey": "caf\u{E9}"])
    peer.call("note/create", ["requestKey": "cafe\u{301}"])
    #expect(peer.list().count == 2)
  }
}
