import JSONRPC
import ModelContextProtocol
import TestSupport
import Testing

/// An agent's server without a notebook: the test answers its requests.
@Suite struct `The server of an agent` {
  private func server(isReadOnly: Bool = false) -> AgentServer {
    AgentServer(.init(version: "1", name: "agent", isReadOnly: isReadOnly, maximumMessage: 1 << 20))
  }

  private static let envelope: JSON = [
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": [:],
  ]

  private func call(_ id: JSON, _ tool: JSON, _ arguments: JSON) -> [UInt8] {
    let params: JSON = ["name": tool, "arguments": arguments, "_meta": Self.envelope]
    return JSON.request(id, "tools/call", params).bytes + [0x0A]
  }

  private func lines(_ bytes: some Collection<UInt8>) throws -> [JSON] {
    try bytes.split(separator: 0x0A).map { JSON(try JSONValue(parsing: Array($0))) }
  }

  /// Answers all that the server asks, with what `answer` says of each request, until it asks nothing more; returns the requests.
  private func serve(
    _ server: inout AgentServer, _ answer: (JSON) -> (name: String, value: JSON)
  ) throws -> [JSON] {
    var asked: [JSON] = []
    while true {
      let requests = try lines(server.takeRequests())
      if requests.isEmpty { return asked }
      asked += requests
      for request in requests {
        guard let id = request["id"] else { continue }
        let (name, value) = answer(request)
        let message: JSON = JSON.object([("jsonrpc", "2.0"), ("id", id), (name, value)])
        server.receiveFromNotebook(try JSONValue(parsing: message.bytes))
      }
    }
  }

  /// The results of a notebook with one note.
  private func result(_ request: JSON) -> (name: String, value: JSON) {
    let note: JSON = [
      "id": "1-a", "title": "Plan", "tags": [], "priority": "normal", "trashed": false,
      "modified": "2026-01-01T00:00:00Z",
    ]
    let results: JSON = [
      "note": note, "notes": [note], "matches": [], "more": false, "text": "milk\neggs\n",
      "revision": "r", "links": [], "backlinks": [], "attachment": 1, "version": 0, "rev": 0,
    ]
    return ("result", results)
  }

  @Test func `answers the same wherever the bytes of the agent are cut`() throws {
    let messages =
      call("é", "read_note", ["id": "1-a"]) + Array("junk\r\n\n".utf8)
      + call(2, "edit_note", ["id": "1-a", "base": "r", "old": "milk", "new": "tea"])
      + call(3, "no_tool", [:])
    func answers(cutAt cut: Int) throws -> [UInt8] {
      var server = server()
      var outbox: [UInt8] = []
      for piece in [messages[..<cut], messages[cut...]] {
        server.receive(piece)
        _ = try serve(&server, result)
        outbox += server.outbox.unsent
        server.didSend(server.outbox.count)
      }
      server.inputEnded()
      _ = try serve(&server, result)
      #expect(server.isDone)
      return outbox + server.outbox.unsent
    }
    let whole = try answers(cutAt: 0)
    #expect(try lines(whole).map { $0["id"] } == ["é", .null, 2, 3])
    for cut in messages.indices { #expect(try answers(cutAt: cut) == whole, "cut at \(cut)") }
  }

  @Test(arguments: [false, true])
  func `asks the notebook nothing but what its tools are for`(_ isReadOnly: Bool) throws {
    let reading: Set = [
      "initialize", "notebook/search", "notebook/list", "notebook/status", "note/get", "note/links",
      "note/backlinks", "shutdown", "exit",
    ]
    let writing: Set = [
      "note/create", "note/append", "note/setText", "note/update", "note/delete", "note/restore",
      "note/open", "note/cursor", "note/close",
    ]
    var random = SplitMix64(seed: 7)
    var server = server(isReadOnly: isReadOnly)
    let good: [(String, JSON)] = [
      ("search_notes", ["query": "milk"]), ("list_notes", ["tags": ["a"]]),
      ("read_note", ["id": "1-a"]), ("links_of", ["id": "1-a"]),
      ("create_note", ["title": "Plan", "text": "milk"]),
      ("append_note", ["id": "1-a", "text": "milk"]),
      ("edit_note", ["id": "1-a", "base": "r", "old": "milk", "new": "tea"]),
      ("update_note", ["id": "1-a", "title": "Plan"]), ("delete_note", ["id": "1-a"]),
      ("restore_note", ["id": "1-a"]), ("note/purge", ["id": "1-a"]),
      ("notebook/sync", ["peer": "x"]), ("notebook/import", ["path": "/"]), ("", [:]),
    ]
    let members = [
      "id", "query", "title", "text", "base", "old", "new", "tags", "path", "peer", "notebook",
      "add_tags", "revision", "dry_run",
    ]
    let values: [JSON] = [
      "1-a", "milk", "../x", ["a"], true, false, 1, nil, [:], "note/purge", "\n", "\"}}",
    ]
    var asked: Set<String> = []
    var count = 0
    for number in 0..<3000 {
      let (name, fitting) = random.pick(good)
      var arguments = fitting
      for _ in 0..<max(0, random.below(6) - 3) {
        arguments[random.pick(members)] = random.pick(values)
      }
      server.receive(call(JSON(number), .string(name), arguments)[...])
      asked.formUnion(try serve(&server, result).map { $0["method"]!.string! })
      count += try lines(server.outbox.unsent).filter { $0["id"] == JSON(number) }.count
      server.didSend(server.outbox.count)
    }
    // Each was answered, once.
    #expect(count == 3000)
    server.inputEnded()
    asked.formUnion(try serve(&server, result).map { $0["method"]!.string! })
    #expect(asked.isSubset(of: isReadOnly ? reading : reading.union(writing)), "\(asked)")
    #expect(asked.count > (isReadOnly ? 5 : 12), "\(asked)")
  }

  @Test func `answers what is forged, and no request twice`() throws {
    var random = SplitMix64(seed: 3)
    let initialize: JSON = [
      "protocolVersion": "2025-11-25", "capabilities": [:], "clientInfo": ["name": "a"],
    ]
    let valid: [[UInt8]] = [
      JSON.request(1, "initialize", initialize).bytes,
      JSON.notification("notifications/cancelled", ["requestId": 1]).bytes,
      JSON.request(1, "resources/read", ["uri": "note://1-a", "_meta": Self.envelope]).bytes,
      JSON.request(1, "resources/list", ["cursor": "x", "_meta": Self.envelope]).bytes,
      JSON.request(1, "resources/subscribe", ["uri": "note://1-a"]).bytes,
      JSON.request(
        1, "subscriptions/listen",
        ["notifications": ["resourceSubscriptions": ["note://1-a"]], "_meta": Self.envelope]
      ).bytes,
      call(1, "edit_note", ["id": "1-a", "base": "r", "old": "milk", "new": "tea"]).dropLast(),
      call(1, "search_notes", ["query": "milk", "limit": 3]).dropLast(),
    ]
    var (answers, results) = (0, 0)
    for _ in 0..<200 {
      var server = server()
      for _ in 0..<50 {
        var message = random.pick(valid)
        if random.chance(70) { random.forge(&message, with: valid) }
        let lineCount = message.count { $0 == 0x0A } + 1
        server.receive((message + [0x0A])[...])
        _ = try serve(&server) {
          random.chance(10)
            ? ("error", ["code": -32803, "message": "x", "data": ["reason": "noSuchNote"]])
            : result($0)
        }
        let said = try lines(server.outbox.unsent).filter { $0["method"] == nil }
        #expect(said.count <= lineCount, "\(String(decoding: message, as: UTF8.self))")
        answers += said.count
        results += said.count { $0["result"] != nil }
        server.didSend(server.outbox.count)
      }
      server.inputEnded()
      _ = try serve(&server, result)
      #expect(server.isDone)
    }
    #expect(answers > 5000 && results > 500, "\(answers) \(results)")
  }

  @Test func `carries out one call at a time, and searches beside it`() throws {
    var server = server()
    server.receive(call(1, "search_notes", ["query": "a"])[...])
    server.receive(call(2, "read_note", ["id": "1-a"])[...])
    server.receive(call(3, "read_note", ["id": "1-a"])[...])
    var waiting: [JSON] = []
    // The notebook is opened by the first.
    let opened = try lines(server.takeRequests())
    #expect(opened.map { $0["method"] } == ["initialize"])
    server.receiveFromNotebook(
      try JSONValue(parsing: JSON(dictionaryLiteral: ("id", 0), ("result", [:])).bytes))
    waiting = try lines(server.takeRequests())
    #expect(waiting.map { $0["method"] } == ["notebook/search", "note/get"])
    #expect(server.isFull)
    let get: JSON = ["id": waiting[1]["id"]!, "result": result([:]).value]
    server.receiveFromNotebook(try JSONValue(parsing: get.bytes))
    #expect(try lines(server.outbox.unsent).map { $0["id"] } == [2])
    #expect(try lines(server.takeRequests()).map { $0["method"] } == ["note/get"])
  }

  @Test func `tells of a note that has changed often once, when there is room`() throws {
    var server = server()
    let params: JSON = [
      "notifications": ["resourceSubscriptions": ["note://1-a"], "resourcesListChanged": true],
      "_meta": Self.envelope,
    ]
    server.receive((JSON.request(1, "subscriptions/listen", params).bytes + [0x0A])[...])
    _ = try serve(&server, result)
    #expect(try lines(server.outbox.unsent).count == 1)
    server.didSend(server.outbox.count)
    // A page of answers that nobody reads.
    let long = String(repeating: "a", count: 1 << 19)
    server.receive(call(2, "list_notes", [:])[...])
    _ = try serve(&server) { _ in
      ("result", ["notes": [["id": "1-a", "title": .string(long)]]])
    }
    let before = server.outbox.count
    #expect(before > 1 << 20)
    let change: JSON = [
      "method": "notebook/didChange",
      "params": [
        "changed": [["id": "1-a", "what": ["text", "title"]], ["id": "1-b", "what": ["text"]]]
      ],
    ]
    for _ in 0..<100 { server.receiveFromNotebook(try JSONValue(parsing: change.bytes)) }
    #expect(server.outbox.count == before)
    server.didSend(before)
    #expect(
      try lines(server.outbox.unsent).map { $0["method"] } == [
        "notifications/resources/list_changed", "notifications/resources/updated",
      ])
  }

  @Test func `shows the agent for ten seconds after its last edit`() throws {
    var server = server()
    let start = ContinuousClock.Instant.now
    let edit = { (id: JSON, server: inout AgentServer) in
      let arguments: JSON = ["id": "1-a", "base": "r", "old": "milk", "new": "eggs"]
      server.receive(call(id, "edit_note", arguments)[...])
      return try serve(&server, result).map { $0["method"]!.string! }
    }
    #expect(try edit(1, &server).suffix(2) == ["note/open", "note/cursor"])
    #expect(server.advance(to: start) == start + .seconds(10))
    #expect(server.advance(to: start + .seconds(9)) == start + .seconds(10))
    #expect(server.takeRequests().isEmpty)
    #expect(try edit(2, &server).suffix(3) == ["note/close", "note/open", "note/cursor"])
    #expect(server.advance(to: start + .seconds(12)) == start + .seconds(22))
    #expect(server.advance(to: start + .seconds(22)) == nil)
    #expect(try lines(server.takeRequests()).map { $0["method"] } == ["note/close"])
  }
}
