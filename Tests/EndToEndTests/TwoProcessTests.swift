import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting)
struct `Two processes` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  private func server(_ name: String = "notes") throws -> Server {
    let server = try Server(folder(name))
    try server.initialize()
    return server
  }

  /// As where the user's other programs have used up the system's watchers.
  @Test(
    .enabled(if: canTrace || isContinuousIntegration, "strace is missing"),
    arguments: ["inotify_init1:error=EMFILE", "inotify_add_watch:error=ENOSPC"])
  func `Without a watcher what another one writes is seen within two seconds`(
    fault: String
  ) throws {
    let a = try server()
    let b = try Server(
      folder("notes"), shell: "exec strace -f -qq -o /dev/null -e inject=\(fault) \"$@\"")
    try b.initialize()
    // Right after the start, also where the notebook is made only now, and later.
    for title in ["first", "second"] {
      let start = ContinuousClock.now
      try a.call("note/create", ["title": .string(title)])
      _ = try b.notification("notebook/didChange") { _ in true }
      #expect(ContinuousClock.now - start < .seconds(2))
    }
    try b.leave()
    try a.leave()
  }

  @Test
  func `What one writes appears in the other, and is pushed to who has it open`() throws {
    let (a, b) = (try server(), try server())
    let note = try a.call("note/create", ["title": "t", "text": "one\ntwo"])["note"]!["id"]!
    let id = JSON.raw(note.written)
    func told(_ what: String) throws -> Bool {
      _ = try b.notification("notebook/didChange") {
        $0["changed"]!.array!.contains {
          $0["id"]?.string == note.string && $0["what"]!.array!.contains { $0.string == what }
        }
      }
      return true
    }
    #expect(try told("created"))
    var opened: [String: String] = [:]
    for form in ["lines", "ranges", "text"] {
      let open = try b.call("note/open", ["id": id, "mode": "observe", "push": .string(form)])
      #expect(open["readOnly"]?.boolean == true)
      opened[form] = open["attachment"]!.written
    }
    try a.call("note/setText", ["id": id, "text": "one\n2\ntwo"])
    #expect(try told("text"))
    for (form, attachment) in opened {
      let push = try b.notification("note/edit") { $0["attachment"]?.written == attachment }
      #expect(push["version"]?.integer == 0)
      #expect(push["rev"]?.integer == 1)
      #expect(push["sha256"]?.string == sha256(Array("one\ntwo".utf8)))
      #expect(push[form] != nil)
    }
    try a.call("note/update", ["id": id, "title": "u", "tags": ["x"], "priority": "low"])
    let facets: Set<String> = ["title", "tags", "priority"]
    _ = try b.notification("notebook/didChange") {
      $0["changed"]!.array!.contains { Set($0["what"]!.array!.map { $0.string! }) == facets }
    }
    try a.call("note/delete", ["id": id])
    #expect(try told("trashed"))
    try a.call("note/restore", ["id": id])
    #expect(try told("trashed"))
    try a.call("note/create", ["title": "second"])
    try a.call("note/move", ["id": id, "index": 0])
    #expect(try told("position"))
    let lists = [a, b].map { try? $0.call("notebook/list").written }
    #expect(lists[0] != nil && lists[0] == lists[1])
    // Nobody is told what it did itself.
    #expect(!a.notifications.contains { $0["method"]?.string == "notebook/didChange" })
  }

  @Test
  func `A process that starts shows what was answered, also beyond what an archive holds`() throws {
    let variables = ["XDG_STATE_HOME": folder("state")]
    func start() throws -> Server {
      let server = try Server(folder("notes"), environment: variables)
      try server.initialize()
      return server
    }
    func isComplete(_ log: String) -> Bool { log.hasSuffix(".seg") }
    let a = try start()
    let id = try a.call("note/create", ["text": "one"])["note"]!["id"]!
    let params: JSON = ["id": .raw(id.written)]
    try a.wait(for: "a complete segment") { try logs(of: folder("notes")).allSatisfy(isComplete) }
    // What changes within two seconds may look the same before and after.
    sleep(3)
    let b = try start()
    try b.call("note/create", ["text": .string(String(repeating: "b", count: 100_000))])
    try b.leave()
    #expect(
      try FileManager.default.subpathsOfDirectory(atPath: folder("state")).contains {
        $0.hasSuffix("archive")
      })
    try a.call("note/append", params.with("text", " and two"))
    #expect(try logs(of: folder("notes")).filter { !isComplete($0) }.count == 1)
    let outcome = try Outcome(
      ["--notebook", folder("notes"), "call", "note/get", params.text], environment: variables)
    let answer = try JSONValue(parsing: Array(outcome.output.utf8))
    #expect(answer["text"]?.string == "one and two", "\(outcome)")
    let c = try start()
    #expect(try c.call("note/get", params)["text"]?.string == "one and two")
    #expect(try c.call("notebook/status")["damage"]?.array?.isEmpty == true)
  }

  @Test
  func `A client with the same note open is seen, with its cursor, until it leaves or dies`() throws
  {
    let state = folder("state")
    func server() throws -> Server {
      let server = try Server(folder("notes"), environment: ["XDG_STATE_HOME": state])
      try server.initialize()
      return server
    }
    func files() throws -> [String] {
      try FileManager.default.subpathsOfDirectory(atPath: state)
        .filter { $0.contains("/presence/") }
    }
    func open(_ server: Server, _ id: JSON) throws -> JSON {
      .raw(try server.call("note/open", ["id": id, "mode": "edit"])["attachment"]!.written)
    }
    func cursor(_ server: Server, _ attachment: JSON, _ character: Int) throws {
      let place: JSON = ["line": 0, "character": JSON(character)]
      try server.notify(
        "note/cursor",
        [
          "attachment": attachment, "version": 0, "rev": 0,
          "ranges": [["start": place, "end": place]],
        ])
    }
    func others(_ server: Server, _ characters: [Int]) throws {
      _ = try server.notification("note/presence") {
        $0["peers"]!.array!.map { peer in
          Array(peer["ranges"]!.array!)[0]["end"]!["character"]!.integer!
        } == characters
      }
    }
    let a = try server()
    let id = JSON.raw(try a.call("note/create", ["text": "one two"])["note"]!["id"]!.written)
    try a.call("notebook/flush")
    let b = try server()
    let (here, there) = (try open(a, id), try open(b, id))
    #expect(try files() == [])
    for place in 0...7 { try cursor(b, there, place) }
    try others(a, [7])
    try cursor(a, here, 3)
    try others(b, [3])
    #expect(try files().count == 2)
    // Also while the other one types without a pause.
    let other = try open(a, JSON.raw(try a.call("note/create")["note"]!["id"]!.written))
    a.notifications = []
    try cursor(b, there, 6)
    let deadline = Deadline()
    var version = 0
    while !a.notifications.contains(where: { $0["method"]?.string == "note/presence" }),
      !deadline.isOver
    {
      version += 1
      try a.call(
        "note/change",
        [
          "attachment": other, "version": JSON(version), "rev": 0,
          "lines": [[0, 1, [.string("\(version)")]]],
        ])
    }
    #expect(!deadline.isOver)
    try others(a, [6])
    try b.killNow()
    try others(a, [])
    let c = try server()
    let again = try open(c, id)
    try others(c, [3])
    try cursor(c, again, 1)
    try others(a, [1])
    try c.leave()
    try others(a, [])
    try a.leave()
    #expect(try files() == [])
  }

  @Test(
    arguments: [1, 2, 3] as [UInt64])
  func `Two who type into one note at once lose and double nothing`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let (a, b) = (try server(), try server())
    let note = try a.call("note/create", ["text": "shopping list"])["note"]!["id"]!.written
    _ = try b.notification("notebook/didChange")
    let clients = [try AttachedClient(a, .raw(note)), try AttachedClient(b, .raw(note))]
    var typed: Set<String> = ["shopping", "list"]
    for number in 0..<scaled(300, 3000) {
      let who = random.below(2)
      let word = "w\(who)n\(number)"
      typed.insert(word)
      try clients[who].type(word, &random)
      if random.below(3) == 0 { try clients[random.below(2)].proceed() }
    }
    try run(clients) {
      clients.allSatisfy(\.isIdle) && clients[0].text == clients[1].text
        && clients[0].words.count == typed.count
    }
    #expect(Set(clients[0].words.keys) == typed)
    #expect(clients[0].words.values.allSatisfy { $0 == 1 })
    for server in [a, b] {
      let text = try server.call("note/get", ["id": .raw(note)])["text"]!.utf8
      #expect(text == clients[0].text)
      try server.leave()
    }
  }

  @Test(
    arguments: [4, 5] as [UInt64])
  func `One of two is killed while both type, and nothing acknowledged is lost`(_ seed: UInt64)
    throws
  {
    var random = SplitMix64(seed: seed)
    let a = try server()
    var b = try server()
    let note = try a.call("note/create", ["text": "shopping list"])["note"]!["id"]!.written
    _ = try b.notification("notebook/didChange")
    var clients = [try AttachedClient(a, .raw(note)), try AttachedClient(b, .raw(note))]
    var certain: Set<String> = ["shopping", "list"]
    var possible: Set<String> = []
    for number in 0..<300 {
      if number == 150 {
        kill(b.process, SIGKILL)
        try b.killNow()
        try clients[1].takeAnswers()
        certain.formUnion(clients[1].kept)
        possible = clients[1].pendingWords
        b = try server()
        clients[1] = try AttachedClient(b, .raw(note))
      }
      let who = random.below(2)
      try clients[who].type("w\(who)n\(number)", &random)
      if random.below(3) == 0 { try clients[random.below(2)].proceed() }
    }
    try run(clients) {
      clients.allSatisfy(\.isIdle) && clients[0].text == clients[1].text
        && certain.union(clients[0].kept).union(clients[1].kept)
          .isSubset(of: clients[0].words.keys)
    }
    certain.formUnion(clients[0].kept)
    certain.formUnion(clients[1].kept)
    #expect(clients[0].words.values.allSatisfy { $0 == 1 })
    #expect(Set(clients[0].words.keys).subtracting(certain).isSubset(of: possible))
  }

  @Test
  func `Two that write first into a folder that is not there are one notebook`() throws {
    for round in 0..<scaled(10, 200) {
      let servers = [try server("new\(round)/notes"), try server("new\(round)/notes")]
      let requests = try servers.map { try $0.post("note/create", ["title": "first"]) }
      for (server, request) in zip(servers, requests) { _ = try server.result(of: request) }
      for server in servers {
        while try server.call("notebook/list")["notes"]!.array!.count < 2 {
          _ = try server.notification("notebook/didChange")
        }
      }
      let statuses = try servers.map { try $0.call("notebook/status") }
      #expect(statuses[0]["revision"]?.string == statuses[1]["revision"]?.string)
      let third = try Server(folder("new\(round)/notes"))
      #expect(try third.initialize()["notebook"]?["id"]?.string != nil)
      // One identity: what either gives out is known to the other.
      let changes = try servers[0].call("notebook/changes")["changes"]!.string!
      let merged = try servers[1].call("notebook/merge", ["changes": .string(changes)])
      #expect(merged["changed"]?.array?.isEmpty == true)
    }
  }
}

@Suite(.waiting)
struct `Exchange` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  private func server(_ name: String) throws -> Server {
    let server = try Server(folder(name))
    try server.initialize()
    return server
  }

  /// Hands over in pieces what `to` has not seen; returns the ids of the notes that changed.
  @discardableResult
  private func exchange(_ from: Server, _ to: Server, limit: Int? = nil) throws -> [String] {
    var since = JSON.string(try to.call("notebook/status")["version"]!.string!)
    var changed: [String] = []
    for _ in 0..<10_000 {
      let params: JSON = ["since": since, "limit": limit.map { JSON($0) } ?? .null]
      let piece = try from.call("notebook/changes", params)
      let changes = JSON.string(piece["changes"]!.string!)
      let merged = try to.call("notebook/merge", ["changes": changes])
      changed += merged["changed"]!.array!.map { $0.string! }
      guard piece["more"]!.boolean! else { return changed }
      since = .string(piece["revision"]!.string!)
    }
    throw Failure("there was no end of changes")
  }

  @Test(arguments: [nil, 1, 300])
  func `Two folders that exchange what they know agree`(_ limit: Int?) throws {
    let (a, b) = (try server("a"), try server("b"))
    for number in 0..<10 {
      try a.call("note/create", ["title": .string("a\(number)"), "text": "one\ntwo"])
    }
    #expect(try exchange(a, b, limit: limit).count >= 10)
    let list = try a.call("notebook/list", ["limit": 1])
    let note = JSON.raw(list["notes"]!.array!.first { _ in true }!["id"]!.written)
    try a.call("note/setText", ["id": note, "text": "one and a half\ntwo"])
    try b.call("note/setText", ["id": note, "text": "one\ntwo and a half"])
    try b.call("note/create", ["title": "b"])
    try a.call("note/move", ["id": note, "index": 5])
    try exchange(b, a, limit: limit)
    try exchange(a, b, limit: limit)
    #expect(try a.call("notebook/list").written == b.call("notebook/list").written)
    let text = try a.call("note/get", ["id": note])["text"]!.string
    #expect(text == "one and a half\ntwo and a half")
    // Once more changes nothing, and tells nobody.
    let revision = try b.call("notebook/status")["revision"]!.string
    b.notifications = []
    let all = try a.call("notebook/changes")["changes"]!.string!
    let again = try b.call("notebook/merge", ["changes": .string(all)])
    #expect(again["changed"]?.array?.isEmpty == true)
    #expect(again["revision"]?.string == revision)
    #expect(b.notifications.isEmpty)
    // It is the same after a restart.
    try b.killNow()
    let next = try Server(folder("b"))
    let start = try next.initialize()
    #expect(start["notebook"]?["revision"]?.string == revision)
    let other = try Server(folder("a")).initialize()["notebook"]!["id"]!.string
    #expect(start["notebook"]?["id"]?.string == other)
  }

  @Test
  func `Changes of another notebook, or that are damaged, are refused as a whole`() throws {
    let (a, b) = (try server("a"), try server("b"))
    for number in 0..<3 { try a.call("note/create", ["title": .string("a\(number)")]) }
    let own = try b.call("note/create", ["title": "b"])["revision"]!.string
    let changes = try a.call("notebook/changes")["changes"]!.string!
    let foreign = try b.error("notebook/merge", ["changes": .string(changes)])
    #expect(foreign.code == -32803)
    #expect(foreign.reason == "foreignNotebook")
    for wrong in [
      "*", "AAA", changes + "=", changes + "\n", " " + changes, changes + "=" + changes,
    ] {
      let error = try b.error("notebook/merge", ["changes": .string(wrong)])
      #expect(error.code == -32602, "\(wrong)")
    }
    let c = try server("c")
    let bytes = [UInt8](Data(base64Encoded: changes)!)
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 0x10
      let text = Data(damaged).base64EncodedString()
      let error = try c.error("notebook/merge", ["changes": .string(text)])
      #expect(error.code == -32803)
      #expect(error.reason == "damagedChanges", "byte \(index): \(error.written)")
    }
    for length in 0..<bytes.count {
      let text = Data(bytes[..<length]).base64EncodedString()
      #expect(try c.error("notebook/merge", ["changes": .string(text)]).code == -32803)
    }
    // Nothing was taken, and nothing written.
    #expect(try b.call("notebook/status")["revision"]?.string == own)
    #expect(try c.call("notebook/status")["revision"]?.string == "0")
    #expect(access(folder("c"), F_OK) != 0)
    // A piece without the one before it.
    let first = try a.call("notebook/changes", ["limit": 1])["revision"]!.string!
    let rest = try a.call("notebook/changes", ["since": .string(first)])["changes"]!.string!
    let missing = try c.error("notebook/merge", ["changes": .string(rest)])
    #expect(missing.reason == "missingChanges")
    #expect(try a.error("notebook/changes", ["since": "nonsense"]).code == -32602)
  }
}
