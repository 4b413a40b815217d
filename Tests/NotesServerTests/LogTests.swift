import Foundation
import NoteStore
import Notes
import ReplicatingTypes
import TestSupport
import Testing

/// The authors of changes in the history of a note, in the log of the notebook, and in `notebook/didChange`.
@Suite struct `Who did what` {
  let scratch = TemporaryFolder()

  private func peer(_ name: String, seed: UInt64, folder: String? = nil) -> Peer {
    let peer = Peer(scratch(folder ?? name), seed: seed)
    peer.call(
      "initialize",
      ["participant": ["name": .string(name)], "clientInfo": ["name": .string("\(name)'s editor")]])
    return peer
  }

  private func author(_ name: String) -> JSON {
    ["name": .string(name), "program": .string("\(name)'s editor")]
  }

  private func log(_ peer: Peer, _ params: JSON = [:]) -> [JSON] {
    peer.call("notebook/log", params)["entries"]?.array ?? []
  }

  private func words(_ entry: JSON) -> [String] { entry["what"]!.array!.map { $0.string! } }

  // MARK: - notebook/didChange

  @Test func `is told with each note that somebody else has changed`() {
    let ana = peer("Ana", seed: 1)
    let (ben, cleo) = (peer("Ben", seed: 2), peer("Cleo", seed: 3))
    let (shared, other) = (ana.create(["title": "shared"]), ana.create(["title": "other"]))
    ben.merge(from: ana)
    func told(_ peer: Peer) -> [String: JSON] {
      let changed = peer.take("notebook/didChange").flatMap { $0["changed"]!.array! }
      return Dictionary(uniqueKeysWithValues: changed.map { ($0["id"]!.string!, $0) })
    }
    #expect(told(ben)[shared]?["author"] == author("Ana"))
    ben.call("note/append", ["id": .string(shared), "text": "Ben's"])
    ben.call("note/update", ["id": .string(other), "tags": ["home"]])
    cleo.merge(from: ben)
    let all = told(cleo)
    #expect(all[shared]?["author"] == nil, "Ana and Ben")
    #expect(all[other]?["author"] == nil)
    ana.merge(from: ben)
    let later = told(ana)
    #expect(later[shared]?["author"] == author("Ben") && later[shared]?["what"] == ["text"])
    #expect(later[other]?["author"] == author("Ben") && later[other]?["what"] == ["tags"])
  }

  @Test func `is told when another process on the folder has done it`() {
    let ana = peer("Ana", seed: 1, folder: "notes")
    let id = ana.create(["title": "note"])
    let ben = peer("Ben", seed: 2, folder: "notes")
    ben.call("note/update", ["id": .string(id), "priority": "high"])
    ana.folderChanged()
    let changed = ana.take("notebook/didChange").flatMap { $0["changed"]!.array! }
    #expect(changed == [["id": .string(id), "what": ["priority"], "author": author("Ben")]])
  }

  // MARK: - note/history

  @Test func `is in the history of a note, of which the text is only a part`() {
    let (ana, ben) = (peer("Ana", seed: 1), peer("Ben", seed: 2))
    let id = ana.create(["title": "one", "text": "text", "tags": ["a"]])
    ben.merge(from: ana)
    func pause(_ peer: Peer) { for _ in 0..<61 { peer.create() } }
    pause(ben)
    ben.call(
      "note/update", ["id": .string(id), "title": "two", "tags": ["b"], "priority": "low"])
    pause(ben)
    ben.call("note/delete", ["id": .string(id)])
    ben.call("note/restore", ["id": .string(id)])
    // A new place is no part of it.
    pause(ben)
    ben.call("note/move", ["id": .string(id), "index": 0])
    ana.merge(from: ben)
    pause(ana)
    ana.call("note/append", ["id": .string(id), "text": "!!"])
    let entries = ana.call("note/history", ["id": .string(id)])["entries"]!.array!
    #expect(
      entries.map(words) == [
        ["text"], ["trash", "restore"], ["title", "tags", "priority"], ["created"],
      ])
    #expect(entries.map { $0["author"]! } == ["Ana", "Ben", "Ben", "Ana"].map(author))
    #expect(entries.map { $0["inserted"]! } == [2, 0, 0, 4])
    let then = ana.call(
      "note/get", ["id": .string(id), "revision": entries[2]["revision"]!])["note"]!
    #expect(then["title"] == "two" && then["tags"] == ["b"] && then["trashed"] == false)
  }

  @Test func `has no author where nobody is named`() {
    let peer = Peer(scratch("notes"), seed: 1)
    peer.initialize()
    let id = peer.create(["text": "x"])
    #expect(peer.call("note/history", ["id": .string(id)])["entries"]?[0]?["author"] == nil)
    #expect(log(peer)[0]["author"] == nil)
  }

  // MARK: - notebook/log

  @Test func `is in the log, the newest first, with the titles that the notes have now`() throws {
    let (ana, ben) = (peer("Ana", seed: 1), peer("Ben", seed: 2))
    let (first, second) = (ana.create(["title": "first"]), ana.create(["title": "second"]))
    ana.call("note/append", ["id": .string(first), "text": "text"])
    ben.merge(from: ana)
    ben.call("note/update", ["id": .string(first), "title": "renamed"])
    ben.call("note/move", ["id": .string(second), "index": 1])
    ben.call("note/delete", ["id": .string(second)])
    ana.merge(from: ben)
    let entries = log(ana)
    #expect(entries.map { $0["id"]!.string! } == [second, first, first, second])
    #expect(
      entries.map(words) == [["trash", "move"], ["title"], ["created", "text"], ["created"]])
    #expect(entries.map { $0["title"]! } == ["second", "renamed", "renamed", "second"])
    #expect(entries.map { $0["author"]! } == ["Ben", "Ben", "Ana", "Ana"].map(author))
    let history = ana.call("note/history", ["id": .string(first)])["entries"]!.array!
    #expect(entries[2]["time"] == history[1]["time"])
    #expect(entries[2]["revision"] == history[1]["revision"])
    let then = ana.call(
      "note/get", ["id": .string(first), "revision": entries[2]["revision"]!])
    #expect(then["text"] == "text" && then["note"]?["title"] == "first")
    // Another process finds the same.
    #expect(log(peer("Cleo", seed: 9, folder: "Ana")) == entries)
    // And says what it does not know.
    for before in ["", "1.2", "\(String(repeating: "0", count: 32)).1"] {
      #expect(
        ana.ask("notebook/log", ["before": .string(before)]).error?.reason == "unknownRevision")
    }
    #expect(log(ana, ["before": "0"]) == [])
    for wrong: JSON in [["limit": 0], ["limit": "1"], ["before": 1]] {
      #expect(ana.ask("notebook/log", wrong).error?.code == -32602)
    }
  }

  @Test func `is there once when it is asked for page by page while others write`() {
    let (ana, ben) = (peer("Ana", seed: 1), peer("Ben", seed: 2))
    let ids = (0..<12).map { ana.create(["title": .string("\($0)")]) }
    ben.merge(from: ana)
    for id in ids.prefix(4) { ben.call("note/append", ["id": .string(id), "text": "x"]) }
    ana.merge(from: ben)
    let all = log(ana)
    #expect(all.count == 16)
    var pages: [JSON] = []
    var isMore = true
    while isMore, pages.count <= all.count {
      var params: JSON = ["limit": 5]
      if let last = pages.last { params["before"] = last["revision"]! }
      let page = ana.call("notebook/log", params)
      #expect(page["entries"]!.array!.count <= 5)
      pages += page["entries"]!.array!
      isMore = page["more"] == true
      _ = ana.create(["title": "meanwhile"])
      ben.call("note/update", ["id": .string(ids[11]), "priority": "low"])
      ana.merge(from: ben)
    }
    #expect(pages == all)
  }

  @Test func `of a note that was purged is that it was, without a title`() {
    let ana = peer("Ana", seed: 1)
    let ids = (0..<3).map { ana.create(["title": .string("secret \($0)"), "text": "words"]) }
    for id in ids.prefix(2) {
      ana.call("note/delete", ["id": .string(id)])
      ana.call("note/purge", ["id": .string(id)])
    }
    let entries = log(ana)
    #expect(entries.map(words) == [["purge"], ["purge"], ["created"]])
    #expect(entries.map { $0["id"]!.string! } == [ids[1], ids[0], ids[2]])
    #expect(entries.map { $0["title"]?.string } == [nil, nil, "secret 2"])
  }

  @Test func `is all there of a change of many notes, though fewer were asked for`() throws {
    let ana = peer("Ana", seed: 1)
    let ids = (0..<5).map { ana.create(["title": .string("\($0)")]) }
    for id in ids { ana.call("note/delete", ["id": .string(id)]) }
    ana.inputEnded()
    var random = SplitMix64(seed: 5)
    let store = try NoteStore(path: scratch("Ana")) {
      Identifier(high: random.next(), low: random.next())
    }
    try store.commit(ids.map { Change.Operation.purge(NoteID($0)!) }, at: 0)
    try store.end()
    let later = peer("Ben", seed: 2, folder: "Ana")
    let page = later.call("notebook/log", ["limit": 2])
    #expect(page["entries"]!.array!.map(words) == Array(repeating: ["purge"], count: 5))
    #expect(page["more"] == false)
  }

  @Test func `that files were imported is told, and by whom`() throws {
    let ana = peer("Ana", seed: 1)
    try FileManager.default.createDirectory(
      atPath: scratch("files"), withIntermediateDirectories: true)
    func write(_ text: String) throws {
      try text.write(toFile: scratch("files/a.md"), atomically: true, encoding: .utf8)
    }
    try write("one\n")
    ana.call("notebook/import", ["path": .string(scratch("files"))])
    #expect(log(ana).map(words) == [["created", "import"]])
    let told = ana.take("notebook/didChange").flatMap { $0["changed"]!.array! }
    #expect(told.map { $0["author"] } == [author("Ana")])
    for _ in 0..<61 { ana.create() }
    try write("one\ntwo\n")
    ana.call("notebook/import", ["path": .string(scratch("files"))])
    #expect(words(log(ana)[0]) == ["text", "import"])
    #expect(log(ana)[0]["author"] == author("Ana"))
  }

  @Test func `is looked through in slices, and can be given up`() {
    let ana = peer("Ana", seed: 1)
    for number in 0..<600 { ana.create(["title": .string("\(number)")]) }
    let (id, other) = (ana.send("notebook/log"), ana.send("notebook/log"))
    #expect(!ana.hasAnswer(to: id))
    ana.notify("$/cancelRequest", ["id": JSON(other)])
    #expect(ana.answer(to: other)?.error?.code == -32800)
    // A change that comes meanwhile is no part of the answer.
    let new = ana.create(["title": "meanwhile"])
    for _ in 0..<20 where !ana.hasAnswer(to: id) { ana.work() }
    let entries = ana.answer(to: id)?["entries"]?.array ?? []
    #expect(entries.count == 600 && !entries.contains { $0["id"]?.string == new })
    #expect(log(ana, ["limit": 1]).map { $0["id"]?.string } == [new])
  }
}
