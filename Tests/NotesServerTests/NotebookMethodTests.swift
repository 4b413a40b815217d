import Foundation
import TestSupport
import Testing

@Suite
struct `The methods of the notebook` {
  let scratch = TemporaryFolder()
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1)
    peer.initialize()
  }

  private func another(_ folder: String, seed: UInt64) -> Peer {
    let other = Peer(scratch(folder), seed: seed)
    other.initialize()
    return other
  }

  // MARK: - notebook/list

  #if os(Linux)
    @Test func `an answer has all that another process had answered when the request came`() {
      let scratch = TemporaryFolder()
      let (a, b) = (Peer(scratch("notes")), Peer(scratch("notes")))
      for peer in [a, b] { peer.initialize() }
      let id = a.ask("note/create", ["text": "0"])["note"]!["id"]!
      for number in 1...50 {
        // Nobody tells b that something has happened in the folder.
        _ = a.ask("note/append", ["id": id, "text": .string(" \(number)")])
        let text = b.ask("note/get", ["id": id])["text"]?.string
        #expect(text?.hasSuffix(" \(number)") == true)
        // Its writer may complete a segment at any time.
        if number % 10 == 0 { _ = a.ask("notebook/flush") }
      }
    }
  #endif

  @Test func `list what passes every filter`() {
    let a = peer.create(["tags": ["x", "y"], "priority": "high"])
    let b = peer.create(["tags": ["x"]])
    let c = peer.create(["tags": ["y"], "priority": "high"])
    #expect(peer.list(["tags": ["x"]]) == [b, a])
    #expect(peer.list(["tags": ["x", "y"]]) == [a])
    #expect(peer.list(["tags": ["x", "x"]]) == [b, a])
    #expect(peer.list(["tags": []]) == [c, b, a])
    #expect(peer.list(["tags": ["z"]]) == [])
    #expect(peer.list(["priority": "high"]) == [c, a])
    #expect(peer.list(["priority": "high", "tags": ["x"]]) == [a])
    #expect(peer.list(["trashed": false]) == [c, b, a])
    peer.call("note/delete", ["id": .string(a)])
    #expect(peer.list(["tags": ["x"]]) == [b])
    #expect(peer.list(["tags": ["x"], "trashed": true]) == [a])
    for wrong in [
      ["tags": "x"], ["tags": [1]], ["priority": "x"], ["trashed": 1], ["limit": 0],
      ["limit": -1], ["limit": "1"], ["after": 1],
      ["sort": "size"], ["sort": 1], ["tag": "x"], ["trash": true], ["requestKey": "x"],
    ] as [JSON] {
      #expect(peer.ask("notebook/list", wrong).error?.code == -32602, "\(wrong)")
    }
    #expect(peer.ask("notebook/list", ["after": "x"]).error?.reason == "noSuchNote")
    let next = peer.call("notebook/list", ["limit": 1])["next"]!
    #expect(
      peer.ask("notebook/list", ["after": next, "sort": "title"]).error?.code == -32602)
    let stranger = another("stranger", seed: 9)
    #expect(stranger.ask("notebook/list", ["after": next]).error?.reason == "unknownRevision")
  }

  @Test func `list sorted`() {
    let b = peer.create(["title": "b"])
    let a = peer.create(["title": "É"])
    let c = peer.create(["title": "f"])
    peer.call("note/append", ["id": .string(b), "text": "x"])
    peer.call("note/move", ["id": .string(c), "index": 2])
    #expect(peer.list() == [a, b, c] && peer.list(["sort": "order"]) == [a, b, c])
    #expect(peer.list(["sort": "title"]) == [b, a, c])
    #expect(peer.list(["sort": "created"]) == [c, a, b])
    #expect(peer.list(["sort": "modified"]) == [b, c, a])
    // Behind a note as it is now.
    #expect(peer.list(["after": .string(a)]) == [b, c])
    #expect(peer.list(["after": .string(a), "sort": "title"]) == [c])
    #expect(peer.list(["after": .string(c), "sort": "created"]) == [a, b])
    #expect(peer.list(["after": .string(a), "sort": "modified"]) == [])
    peer.call("note/delete", ["id": .string(b)])
    #expect(peer.list(["after": .string(b)]) == [c])
  }

  @Test(arguments: ["order", "modified", "created", "title"])
  func `list each note once, whatever happens between two pages`(sort: String) {
    let notes = (0..<10).map { peer.create(["title": .string("note \($0)")]) }
    let expected = peer.list(["sort": .string(sort)])
    var page = peer.call("notebook/list", ["sort": .string(sort), "limit": 4])
    var listed = page["notes"]!.array!.map { $0["id"]!.string! }
    // The last one that was listed goes to the end, and one that wasn't to the beginning.
    peer.call("note/move", ["id": .string(listed[3]), "index": 9])
    peer.call("note/move", ["id": .string(expected[9]), "index": 0])
    peer.call("note/update", ["id": .string(listed[0]), "title": "zzz"])
    peer.call("note/update", ["id": .string(expected[8]), "title": "aaa"])
    peer.call("note/delete", ["id": .string(expected[6])])
    peer.create(["title": "note 5a"])
    // Another process goes on with it.
    let next = another("notes", seed: 2)
    while let after = page["next"] {
      page = next.call("notebook/list", ["after": after, "limit": 4])
      listed += page["notes"]!.array!.map { $0["id"]!.string! }
    }
    #expect(listed == expected.filter { $0 != expected[6] } && notes.count == 10)
  }

  @Test(arguments: 1...8) func `list page by page`(limit: Int) {
    let notes = (0..<7).map { peer.create(["tags": $0 % 3 == 0 ? ["x"] : []]) }
    peer.call("note/delete", ["id": .string(notes[2])])
    for filter in [[:], ["tags": ["x"]], ["trashed": true]] as [[String: JSON]] {
      var pages: [String] = []
      var params = filter
      params["limit"] = JSON(limit)
      for _ in 0..<10 {
        let page = peer.call("notebook/list", JSON(params))
        let ids = page["notes"]!.array!.map { $0["id"]!.string! }
        #expect(ids.count <= limit)
        pages += ids
        guard let next = page["next"] else { break }
        #expect(ids.count == limit)
        params["after"] = next
      }
      #expect(pages == peer.list(JSON(filter)))
    }
  }

  // MARK: - notebook/status, notebook/flush

  @Test func `tell how the notebook is`() {
    #expect(
      peer.call("notebook/status") == [
        "revision": "0", "version": "v", "durable": true, "durability": "background", "replicas": 0,
        "notes": 0, "trashed": 0,
        "damage": [], "complete": true, "branches": [], "peers": [],
      ])
    let id = peer.create()
    _ = peer.create()
    peer.call("note/delete", ["id": .string(id)])
    #expect(peer.call("notebook/flush").isNull)
    let status = peer.call("notebook/status")
    #expect(status["durable"] == true)
    #expect(status["notes"] == 1)
    #expect(status["trashed"] == 1)
    #expect(status["replicas"] == 1)
  }

  @Test func `leave the folder as it is, however often`() throws {
    for text in ["one", "two"] { _ = peer.create(["text": .string(text)]) }
    peer.inputEnded()
    let folder = scratch("notes")
    func listing() throws -> [String] {
      try ([""] + FileManager.default.subpathsOfDirectory(atPath: folder)).sorted().map {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + $0)
        let bytes = FileManager.default.contents(atPath: folder + "/" + $0)
        return "\($0) \(attributes[.modificationDate]!) \(bytes?.base64EncodedString() ?? "")"
      }
    }
    let before = try listing()
    for seed in 0..<200 * seedFactor {
      let other = another("notes", seed: UInt64(seed + 2))
      if seed % 10 == 0 { #expect(other.list().count == 2) }
      if seed % 2 == 0 { other.inputEnded() }
    }
    #expect(try listing() == before)
  }

  @Test func `tell that something is missing only if it is missing still a while later`() throws {
    let folder = scratch("waiting")
    let first = Peer(folder, seed: 21)
    first.initialize()
    let id = first.create(["text": "a"])
    let session = String(id.split(separator: "-")[1])
    let second = Peer(folder, seed: 22)
    second.initialize()
    second.call("note/append", ["id": .string(id), "text": "b"])
    let log = "\(folder)/log/\(session)"
    try FileManager.default.moveItem(atPath: log, toPath: folder + "-away")
    let next = Peer(folder, seed: 23)
    next.initialize()
    #expect(next.call("notebook/status")["damage"]?.array?.count == 1)
    #expect(next.take("window/showMessage") == [])
    next.folderChanged()
    let told = next.take("window/showMessage")
    #expect(told.count == 1 && told[0]["message"]?.string?.contains("wait for others") == true)
    try FileManager.default.moveItem(atPath: folder + "-away", toPath: log)
    next.folderChanged()
    #expect(next.text(id) == "ab")
  }

  @Test func `tell of damage in the folder`() throws {
    _ = peer.create(["text": "one"])
    peer.call("notebook/flush")
    let log = scratch("notes") + "/log"
    let session = try #require(try FileManager.default.contentsOfDirectory(atPath: log).first)
    let name = try #require(
      try FileManager.default.contentsOfDirectory(atPath: "\(log)/\(session)").first)
    let file = URL(fileURLWithPath: "\(log)/\(session)/\(name)")
    var bytes = try Data(contentsOf: file)
    bytes[bytes.count / 2] ^= 0x55
    try bytes.write(to: file)
    let next = another("notes", seed: 2)
    let damage = next.call("notebook/status")["damage"]!.array!
    let messages = next.take("window/showMessage")
    #expect(damage.count == 1)
    #expect(messages.count == 1)
    let model = try MetaModel()
    for message in messages {
      let notification: JSON = [
        "jsonrpc": "2.0", "method": "window/showMessage", "params": message,
      ]
      #expect(model.problems(of: notification, from: .server, answering: nil) == [])
      #expect(message["type"] == 2)
    }
  }

  @Test func `tell how far a flush has got, to whom asks for it`() {
    _ = peer.create()
    peer.call("notebook/flush", ["workDoneToken": "flush"])
    #expect(peer.take("$/progress").map { $0["token"] } == ["flush", "flush"])
  }

  @Test func `can be given up while they wait for the disk`() {
    _ = peer.create()
    let message = { (text: String) in #"{"jsonrpc":"2.0",\#(text)}"# + "\n" }
    peer.write(
      message(#""id":"f","method":"notebook/flush""#)
        + message(#""method":"$/cancelRequest","params":{"id":"f"}"#))
    let answers = peer.responses.filter { $0["id"] == "f" }
    #expect(answers.count == 1)
    // A disk may be quicker than the client.
    let code = answers.first?["error"]?["code"]
    #expect(code == -32800 || answers.first?["result"]?.isNull == true)
  }

  @Test func `refuse what follows a shutdown, even before it is answered`() {
    let id = peer.create()
    peer.write(
      #"{"jsonrpc":"2.0","id":"s","method":"shutdown"}"# + "\n"
        + #"{"jsonrpc":"2.0","id":"a","method":"note/append","params":{"id":"\#(id)","text":"x"}}"#
        + "\n")
    let answer = peer.responses.first { $0["id"] == "a" }
    #expect(answer?["error"]?["code"] == -32600)

    peer.notify("exit")
    #expect(peer.exitStatus == 0)
    #expect(peer.responses.contains { $0["id"] == "s" && $0["result"]?.isNull == true })
  }

  @Test func `refuse a folder that is a file`() throws {
    let path = scratch("file")
    try Data("hello".utf8).write(to: URL(fileURLWithPath: path))
    let next = Peer(path, seed: 5)
    #expect(next.ask("initialize").error?.reason == "unusableFolder")
  }

  @Test func `refuse a folder that a later version wrote`() throws {
    _ = peer.create()
    peer.call("notebook/flush")
    let file = URL(fileURLWithPath: scratch("notes") + "/decent.json")
    let later = try contents(of: file).replacing(/"version": ?\d+/, with: "\"version\": 99")
    #expect(later != (try contents(of: file)))
    try Data(later.utf8).write(to: file)
    let next = Peer(scratch("notes"), seed: 5)
    let error = next.ask("initialize").error
    #expect(error?.code == -32803)
    #expect(error?.reason == "newerFormat")
  }

  @Test func `say that writing failed, in the protocol's word for it`() throws {
    let path = scratch("file")
    try Data("hello".utf8).write(to: URL(fileURLWithPath: path))
    let next = Peer(path + "/notes", seed: 5)
    guard next.ask("initialize").error == nil else { return }
    let error = next.ask("note/create").error
    #expect(error?.code == -32803)
    #expect(next.list() == [])
    #expect(error?.reason == "writeFailed")
  }

  // MARK: - notebook/changes, notebook/merge

  @Test func `bring two replicas together, in any order and any number of times`() {
    let a = peer.create(["title": "a", "text": "one\ntwo\n"])
    let other = another("other", seed: 2)
    other.merge(from: peer)
    #expect(other.revision == peer.revision)
    peer.call("note/append", ["id": .string(a), "text": "three\n"])
    other.call("note/setText", ["id": .string(a), "text": "zero\none\ntwo\n"])
    _ = other.create(["title": "b"])
    peer.call("note/update", ["id": .string(a), "tags": ["add": ["x"]]])
    other.call("note/update", ["id": .string(a), "tags": ["add": ["y"]]])
    peer.merge(from: other)
    other.merge(from: peer)
    #expect(peer.revision == other.revision)
    #expect(peer.call("notebook/list") == other.call("notebook/list"))
    #expect(peer.text(a) == "zero\none\ntwo\nthree\n")
    #expect(other.text(a) == peer.text(a))
    for one in [peer, other] { one.notifications = [] }
    let before = peer.revision
    let all = other.call("notebook/changes")["changes"]!
    for _ in 0..<2 {
      let answer = peer.call("notebook/merge", ["changes": all])
      #expect(answer == ["changed": [], "revision": .string(before)])
    }
    #expect(peer.notifications.isEmpty)
    let next = another("notes", seed: 3)
    #expect(next.revision == before)
  }

  @Test(arguments: [0, 1, 40, 200, 100_000]) func `come in pieces`(limit: Int) {
    let id = peer.create()
    for step in 0..<20 {
      peer.call("note/append", ["id": .string(id), "text": .string("line \(step)\n")])
    }
    let other = another("other", seed: 2)
    var since = other.revision
    for piece in 0..<40 {
      let answer = peer.call(
        "notebook/changes", ["since": .string(since), "limit": JSON(limit)])
      let merged = other.call("notebook/merge", ["changes": answer["changes"]!])
      #expect(merged["revision"] == answer["revision"], "piece \(piece)")
      since = answer["revision"]!.string!
      if answer["more"] == false { break }
    }
    #expect(other.text(id) == peer.text(id))
    #expect(other.revision == peer.revision)
  }

  @Test func `know what a state with unknown sessions is lacking`() {
    let id = peer.create(["text": "a"])
    let other = another("other", seed: 2)
    other.merge(from: peer)
    other.call("note/append", ["id": .string(id), "text": "b"])
    peer.call("note/append", ["id": .string(id), "text": "c"])
    for since in [other.revision, other.call("notebook/status")["version"]!.string!] {
      let answer = peer.call("notebook/changes", ["since": .string(since)])
      other.call("notebook/merge", ["changes": answer["changes"]!])
    }
    #expect(other.text(id).utf8.sorted() == Array("abc".utf8))
    for wrong in ["", "?", "v?", "1", "0+0"] {
      #expect(peer.ask("notebook/changes", ["since": .string(wrong)]).error?.code == -32602)
    }
  }

  @Test func `give out a long piece in parts, and take it so`() throws {
    peer.create(["text": .string(String(repeating: "word ", count: 1_000_000))])
    let first = peer.call("notebook/changes", ["offset": 0])
    let size = try #require(first["size"]?.integer)
    #expect(size > 5_000_000 && first["more"] == false)
    let whole = try #require(peer.call("notebook/changes")["changes"]?.string)
    // 4 MiB, and the rest.
    let second = peer.call("notebook/changes", ["offset": 4_194_304])
    #expect(second["size"] == JSON(size))
    #expect(peer.ask("notebook/changes", ["offset": JSON(size)]).error?.code == -32602)
    #expect(
      peer.call("notebook/changes", ["offset": 0, "since": .string(peer.revision)])["size"] == nil)

    let other = another("other", seed: 2)
    func merge(_ part: JSON, at offset: Int, of size: Int) -> Peer.Answer {
      other.ask(
        "notebook/merge",
        ["changes": part["changes"]!, "offset": JSON(offset), "size": JSON(size)])
    }
    // Out of order, beyond the end, too large, without a size.
    #expect(merge(second, at: 4_194_304, of: size).error?.code == -32602)
    #expect(merge(first, at: 0, of: 1000).error?.code == -32602)
    #expect(merge(first, at: 0, of: 1 << 40).error?.code == -32602)
    #expect(
      other.ask("notebook/merge", ["changes": first["changes"]!, "offset": 0]).error?.code == -32602
    )
    // A set that was given up, and then all of it.
    for _ in 0..<2 { #expect(merge(first, at: 0, of: size)["changed"] == []) }
    #expect(other.list() == [])
    #expect(merge(second, at: 4_194_304, of: size)["changed"]?.array?.count == 1)
    #expect(other.revision == peer.revision)
    #expect(other.call("notebook/changes")["changes"]?.string == whole)
  }

  @Test func `say of changes of a later version that they are that, and merge nothing of them`()
    throws
  {
    _ = peer.create(["text": "a"])
    let bytes = [UInt8](
      try #require(Data(base64Encoded: peer.call("notebook/changes")["changes"]!.string!)))
    let other = another("other", seed: 2)
    // Another format, whose checksum is right.
    let later = containerHeader(1, version: 9) + bytes.dropFirst(containerHeader(1).count)
    for (changes, reason) in [(later, "newerChanges"), (bytes + [0], "damagedChanges")] {
      let error = other.ask(
        "notebook/merge", ["changes": .string(Data(changes).base64EncodedString())]
      ).error
      #expect(error?.reason == reason)
      #expect(other.revision == "0")
    }
  }

  @Test func `merge all of something or nothing`() throws {
    let id = peer.create(["text": "a"])
    let first = peer.revision
    peer.call("note/append", ["id": .string(id), "text": "b"])
    let all = peer.call("notebook/changes")["changes"]!
    let later = peer.call("notebook/changes", ["since": .string(first)])["changes"]!
    let other = another("other", seed: 2)
    let error = other.ask("notebook/merge", ["changes": later]).error
    #expect(error?.reason == "missingChanges")
    #expect(other.revision == "0")
    var random = SplitMix64(seed: 4)
    let bytes = [UInt8](try #require(Data(base64Encoded: all.string!)))
    for _ in 0..<100 {
      var damaged = bytes
      damaged[random.below(damaged.count)] ^= UInt8(1 << random.below(8))
      let text = Data(damaged).base64EncodedString()
      let error = other.ask("notebook/merge", ["changes": .string(text)]).error
      #expect(error?.code == -32803 && error?.reason == "damagedChanges")
      let cut = Data(bytes[..<random.below(bytes.count)]).base64EncodedString()
      #expect(other.ask("notebook/merge", ["changes": .string(cut)]).error?.code == -32803)
    }
    #expect(other.revision == "0")
    for wrong in ["?", "AAA", "A A A A", 1, []] as [JSON] {
      #expect(other.ask("notebook/merge", ["changes": wrong]).error?.code == -32602)
    }
    _ = other.create()
    #expect(other.ask("notebook/merge", ["changes": all]).error?.reason == "foreignNotebook")
    #expect(other.list().count == 1)
  }

  // MARK: - notebook/didChange

  @Test func `tell what others changed, and not what the client did itself`() {
    let id = peer.create(["text": "a"])
    let gone = peer.create()
    let second = another("notes", seed: 2)
    peer.call("note/update", ["id": .string(id), "title": "t", "tags": ["x"], "priority": "low"])
    peer.call("note/append", ["id": .string(id), "text": "b"])
    peer.call("note/move", ["id": .string(id), "index": 0])
    peer.call("note/delete", ["id": .string(gone)])
    let new = peer.create()
    #expect(peer.notifications.isEmpty)
    second.folderChanged()
    let told = second.take("notebook/didChange")
    #expect(told.last?["revision"]?.string == peer.revision)
    var what: [String: Set<String>] = [:]
    for change in told.flatMap({ $0["changed"]!.array! }) {
      what[change["id"]!.string!, default: []].formUnion(
        change["what"]!.array!.map { $0.string! })
    }
    #expect(what[id] == ["title", "tags", "priority", "text", "position"])
    #expect(what[gone] == ["trashed"])
    #expect(what[new]?.contains("created") == true)
    #expect(what.count == 3)
    second.folderChanged()
    #expect(second.notifications.isEmpty)
  }

  /// A piece of a text has at most 2,047 bytes, which is inside one of these letters. Removed piece by piece, it was refused by
  /// everybody else, and by the next run.
  @Test(arguments: [false, true])
  func `gives out the removal of a long text in whole letters`(isBehind: Bool) {
    let scratch = TemporaryFolder()
    let (one, other) = (Peer(scratch("one"), seed: 1), Peer(scratch("two"), seed: 2))
    one.initialize()
    other.initialize()
    let long = String(repeating: "é", count: 3000)
    let id = one.create(["text": .string(long)])
    let base = one.revision
    if isBehind { one.call("note/append", ["id": .string(id), "text": "!"]) }
    one.call("note/setText", ["id": .string(id), "text": "éé", "base": .string(base)])
    other.merge(from: one)
    #expect(other.text(id) == (isBehind ? "éé!" : "éé"))
    let again = Peer(scratch("one"), seed: 3)
    again.initialize()
    #expect(again.text(id) == one.text(id))
  }
}
