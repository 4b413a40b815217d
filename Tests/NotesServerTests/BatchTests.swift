import TestSupport
import Testing

@testable import NotesServer

@Suite struct `A batch` {
  let scratch = TemporaryFolder()
  let peer: Peer
  let note: String

  init() {
    peer = Peer(scratch("notes"), seed: 1, state: scratch("state"))
    peer.initialize()
    note = peer.create(["title": "t", "text": "a"])
  }

  private func request(_ method: String, _ params: JSON = [:]) -> JSON {
    ["method": .string(method), "params": params]
  }

  private func append(_ id: String, _ text: String) -> JSON {
    request("note/append", ["id": .string(id), "text": .string(text)])
  }

  private var everything: JSON {
    [
      request("note/create", ["title": "first", "tags": ["x"]]),
      request("note/create", ["title": "second", "after": "#0"]),
      append("#1", "b\n"), append(note, "!"),
      request("note/setText", ["id": .string(note), "text": "new a!"]),
      request("note/update", ["id": "#0", "priority": "high"]),
      request("note/move", ["id": .string(note), "before": "#0"]),
      request("note/delete", ["id": "#0"]), request("note/restore", ["id": "#0"]),
      request("note/restore", ["id": .string(note)]),
    ]
  }

  // MARK: - All

  @Test func `does what its requests say, and answers each`() {
    let answer = peer.call("notebook/batch", ["requests": everything])
    let results = answer["results"]!.array!
    #expect(results.count == 10 && answer["revision"]?.string == peer.revision)
    let (first, second) = (results[0]["note"]!["id"]!.string!, results[1]["note"]!["id"]!.string!)
    #expect(peer.list() == [note, first, second])
    #expect(peer.text(second) == "b\n" && peer.text(note) == "new a!")
    #expect(results[4]["text"] == "new a!" && results[5]["note"]?["priority"] == "high")
    // Each result names a state that is one.
    let between = peer.call("note/get", ["id": .string(note), "revision": results[3]["revision"]!])
    #expect(between["text"] == "a!")
    #expect(results[7]["revision"] != results[8]["revision"])
    #expect(results[8]["revision"] == results[9]["revision"])
  }

  @Test func `may begin a notebook, and be one that changes nothing`() {
    let fresh = Peer(scratch("fresh"), seed: 2)
    fresh.initialize()
    fresh.call("notebook/batch", ["requests": [request("note/create")]])
    #expect(fresh.list().count == 1)
    let revision = fresh.revision
    let id = JSON.string(fresh.list()[0])
    let idle = fresh.call(
      "notebook/batch",
      ["requests": [request("note/update", ["id": id]), request("note/restore", ["id": id])]])
    #expect(idle["revision"]?.string == revision && fresh.revision == revision)
  }

  @Test func `is seen by other processes at once, with one notification`() {
    let other = Peer(scratch("notes"), seed: 2)
    other.initialize()
    peer.call("notebook/batch", ["requests": everything])
    #expect(peer.take("notebook/didChange") == [])
    other.folderChanged()
    let told = other.take("notebook/didChange")
    #expect(told.count == 1 && told.first?["changed"]?.array?.count == 3)
    #expect(other.list() == peer.list() && other.revision == peer.revision)
    // A start reads it, too.
    let third = Peer(scratch("notes"), seed: 3)
    third.initialize()
    #expect(third.list() == peer.list() && third.text(note) == "new a!")
  }

  // MARK: - Or none

  @Test(
    arguments: [
      ("note/append", ["id": "1-x", "text": ""], "noSuchNote", "requests[2] (note/append): id:"),
      ("note/append", ["id": "#1", "text": ""], "noSuchNote", "requests[2] (note/append): id:"),
      ("note/append", ["id": "#2", "text": ""], "noSuchNote", "there is no note #2"),
      ("note/append", ["id": "#00", "text": ""], "noSuchNote", "requests[2]"),
      ("note/append", ["id": "#0"], nil, "requests[2] (note/append): text: is missing"),
      ("note/setText", ["id": "#0", "text": "", "base": "x"], "unknownBase", "requests[2]"),
      ("note/create", ["title": "a\nb"], nil, "requests[2] (note/create): title:"),
      ("note/move", ["id": "#0", "index": 9], nil, "requests[2] (note/move): index:"),
      ("note/purge", ["id": "#0"], nil, "requests[2].method: must be one of note/create"),
      ("note/rename", ["id": "#0", "title": "b"], nil, "requests[2].method"),
      ("note/merge", ["id": "#0", "from": "#1"], nil, "requests[2].method"),
      ("notebook/batch", ["requests": []], nil, "requests[2].method"),
      ("note/dance", [:], nil, "requests[2].method"),
      ("note/create", ["requestKey": "k"], nil, "requests[2].params.requestKey"),
      ("note/create", 1, nil, "requests[2].params: must be an object"),
    ] as [(String, JSON, String?, String)])
  func `changes nothing where one of its requests can't be done, and says which`(
    method: String, params: JSON, reason: String?, message: String
  ) {
    peer.call("note/open", ["id": .string(note), "mode": "edit"])
    let revision = peer.revision
    let batch: JSON = [
      request("note/create", ["title": "new"]), append(note, "!"),
      ["method": .string(method), "params": params],
    ]
    let error = peer.ask("notebook/batch", ["requests": batch, "requestKey": "k"]).error
    #expect(error?.code == (reason == nil ? -32602 : -32803) && error?.reason == reason)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(peer.revision == revision && peer.list() == [note] && peer.text(note) == "a")
    #expect(peer.take("note/edit") == [] && peer.take("notebook/didChange") == [])
    // Nothing of it is left, and the next request is as good as ever.
    let next = Peer(scratch("notes"), seed: 2)
    next.initialize()
    #expect(next.revision == revision)
    peer.call("notebook/batch", ["requests": [append(note, "!")], "requestKey": "k"])
    next.folderChanged()
    #expect(next.text(note) == "a!" && peer.text(note) == "a!" && next.revision == peer.revision)
    #expect(peer.take("note/edit").count == 1)
  }

  @Test func `has from one to 1,000 requests`() {
    #expect(peer.ask("notebook/batch", ["requests": []]).error?.code == -32602)
    #expect(peer.ask("notebook/batch").error?.message == "requests: is missing")
    #expect(peer.ask("notebook/batch", ["requests": [1]]).error?.message.contains("[0]") == true)
    let many = JSON.array(Array(repeating: append(note, "x"), count: 1000))
    peer.call("notebook/batch", ["requests": many])
    #expect(peer.text(note).utf8.count == 1001)
    let more = JSON.array(Array(repeating: append(note, "x"), count: 1001))
    let error = peer.ask("notebook/batch", ["requests": more]).error
    #expect(error?.code == -32602 && error?.message.contains("1000") == true)
    #expect(peer.text(note).utf8.count == 1001)
  }

  @Test func `has an answer that is not longer than a message may be`() {
    let long = String(repeating: "x", count: 5 << 20)
    peer.call("note/setText", ["id": .string(note), "text": .string(long)])
    let base = peer.revision
    peer.call("note/setText", ["id": .string(note), "text": .string(long + long)])
    let set = request(
      "note/setText", ["id": .string(note), "text": .string(long), "base": .string(base)])
    #expect(peer.ask("notebook/batch", ["requests": [set, set]]).error == nil)
    let four = peer.ask("notebook/batch", ["requests": [set, set, set, set]]).error
    #expect(four?.code == -32602 && four?.message.contains("longer") == true)
  }

  // MARK: - One step

  private func open(_ id: String) -> JSON {
    peer.call("note/open", ["id": .string(id), "mode": "edit"])
  }

  @Test func `is one step of undo, and one push to each text`() {
    let other = peer.create(["title": "o", "text": "o"])
    let third = peer.create(["text": "3"])
    let (own, more, stranger) = (
      open(note)["attachment"]!, open(other)["attachment"]!, open(third)["attachment"]!
    )
    peer.notifications = []
    peer.call(
      "notebook/batch",
      [
        "requests": [
          append(note, "1"), append(other, "2"), append(note, "3"),
          request("note/update", ["id": .string(other), "title": "new"]),
        ]
      ])
    #expect(peer.take("note/edit").count == 2)
    #expect(peer.stepCount(.undo, of: own.integer!) == 1)
    #expect(peer.stepCount(.undo, of: more.integer!) == 1)
    #expect(peer.stepCount(.undo, of: stranger.integer!) == 0)
    #expect(peer.call("note/undo", ["attachment": own])["done"] == true)
    let title = { peer.call("note/get", ["id": .string(other)])["note"]!["title"]!.string! }
    #expect(peer.text(note) == "a" && peer.text(other) == "o" && title() == "o")
    #expect(peer.call("note/redo", ["attachment": own])["done"] == true)
    #expect(peer.text(note) == "a13" && peer.text(other) == "o2" && title() == "new")
  }

  @Test func `is one step also after the server has died`() {
    let opened = open(note)
    peer.call("notebook/batch", ["requests": [append(note, "1"), append(note, "2")]])
    peer.call("notebook/batch", ["requests": [append(note, "3"), append(note, "4")]])
    let rev = peer.take("note/edit").last!["rev"]!
    let next = Peer(scratch("notes"), seed: 2, state: scratch("state"))
    next.initialize()
    let resumed = next.call(
      "note/open",
      [
        "id": .string(note), "mode": "edit",
        "resume": ["session": opened["session"]!, "version": 0, "rev": rev, "text": "a1234"],
      ])
    #expect(resumed["resumed"] == "exact")
    for text in ["a12", "a"] {
      #expect(next.call("note/undo", ["attachment": resumed["attachment"]!])["done"] == true)
      #expect(next.text(note) == text)
    }
  }

  // MARK: - Keys

  @Test func `is done once under one key, also when the process has died`() {
    let params: JSON = ["requests": everything, "requestKey": "k"]
    let answer = peer.call("notebook/batch", params)
    #expect(peer.call("notebook/batch", params) == answer)
    peer.call("note/append", ["id": .string(note), "text": "later"])
    let next = Peer(scratch("notes"), seed: 2)
    next.initialize()
    let revision = next.revision
    #expect(next.call("notebook/batch", params) == answer)
    #expect(next.revision == revision)
    #expect(next.ask("note/create", ["requestKey": "k"]).error?.code == -32602)
  }
}
