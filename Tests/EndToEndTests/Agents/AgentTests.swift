import Foundation
import JSONRPC
import TestSupport
import Testing

/// `decent-notes mcp`, spoken to with frames made by hand, in both eras of the protocol.
@Suite(.waiting)
struct `An agent` {
  let folder = TemporaryFolder()
  private var notebook: String { folder("notes") }

  private static let tools = [
    "search_notes", "list_notes", "read_note", "links_of", "create_note", "append_note",
    "edit_note", "update_note", "delete_note", "restore_note",
  ]

  private func agent(
    _ era: AgentClient.Era = .stateless, name: String? = "robot", _ options: String...
  ) throws -> AgentClient {
    try AgentClient(notebook, era, name: name, options: options)
  }

  /// Another process at the notebook.
  private func other() throws -> Server {
    let server = try Server(notebook, ["--name", "Ben"])
    try server.initialize()
    return server
  }

  private func names(_ result: JSONValue, _ list: String, _ name: String) -> [String] {
    result[list]?.array?.compactMap { $0[name]?.string } ?? []
  }

  // MARK: - Eras

  @Test func `settles its era by the first request that can be answered`() throws {
    let agent = try agent()
    let server = agent.server
    #expect(try server.error("tools/list").code == -32602)
    #expect(try server.error("tools/list", ["_meta": ["progressToken": 1]]).code == -32602)
    let unknown = agent.params().with(
      "_meta",
      [
        "io.modelcontextprotocol/protocolVersion": "1900-01-01",
        "io.modelcontextprotocol/clientCapabilities": [:],
      ])
    let refusal = try server.error("server/discover", unknown)
    #expect(refusal.code == -32022)
    #expect(
      JSON(refusal["data"]!)
        == ["supported": ["2026-07-28", "2025-11-25"], "requested": "1900-01-01"])
    try server.call("ping")
    #expect(try server.error("nothing/known", agent.params()).code == -32601)
    // None of that has settled anything.
    try agent.call("server/discover")
    let late = try server.error(
      "initialize", ["protocolVersion": "2025-11-25", "capabilities": [:], "clientInfo": [:]])
    #expect(late.code == -32022)
    #expect(JSON(late["data"]!) == ["supported": ["2026-07-28"], "requested": "2025-11-25"])
    #expect(try server.error("tools/list").code == -32602)
    #expect(try server.error("server/discover", unknown).code == -32022)
    for (name, value) in [
      ("protocolVersion", JSON.null), ("protocolVersion", 1), ("clientCapabilities", .null),
      ("clientCapabilities", []),
    ] {
      let meta = agent.params()["_meta"]!.with("io.modelcontextprotocol/\(name)", value)
      #expect(try server.error("tools/list", ["_meta": meta]).code == -32602, "\(meta)")
    }
    for method in ["ping", "resources/subscribe", "prompts/list", "note/purge", "shutdown"] {
      #expect(try agent.error(method).code == -32601, "\(method)")
    }
    #expect(try agent.leave() == .status(0))
  }

  @Test func `has one era, which initialize may begin`() throws {
    let agent = try agent(.handshake)
    let server = agent.server
    try server.call("ping")
    let again = try server.error(
      "initialize", ["protocolVersion": "2025-11-25", "capabilities": [:], "clientInfo": [:]])
    #expect(again.code == -32600)
    let enveloped = try AgentClient(notebook).params()
    #expect(try server.error("tools/list", enveloped).code == -32600)
    for method in ["server/discover", "subscriptions/listen", "completion/complete"] {
      #expect(try server.error(method).code == -32601, "\(method)")
    }
    #expect(names(try server.call("tools/list"), "tools", "name") == Self.tools)
  }

  @Test(arguments: [
    ("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2025-03-26", "2025-03-26"),
    ("2024-11-05", "2024-11-05"), ("2026-07-28", "2025-11-25"), ("next", "2025-11-25"),
    ("2024-10-07", "2025-11-25"),
  ])
  func `is answered with a revision that is spoken`(_ asked: String, _ given: String) throws {
    let server = try Server(notebook, ["mcp"], delimiter: .lines)
    for bad: JSON in [[:], ["protocolVersion": 1], ["protocolVersion": .string(asked)]] {
      #expect(try server.error("initialize", bad).code == -32602)
    }
    let result = try server.call(
      "initialize",
      [
        "protocolVersion": .string(asked), "capabilities": [:],
        "clientInfo": ["name": "robot", "version": "1"],
      ])
    #expect(result["protocolVersion"]?.string == given)
    #expect(result["serverInfo"]?["name"]?.string == "decent-notes")
    #expect(result["capabilities"]?["resources"]?["subscribe"]?.boolean == true)
  }

  private func initialize(_ server: Server, _ version: String) throws -> JSONValue {
    try server.call(
      "initialize",
      [
        "protocolVersion": .string(version), "capabilities": [:],
        "clientInfo": ["name": "robot", "version": "1"],
      ])
  }

  @Test(arguments: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
  func `is sent no field that its revision does not have`(_ version: String) throws {
    let server = try Server(notebook, ["mcp"], delimiter: .lines)
    let isStructured = version >= "2025-06-18"
    let begun = try initialize(server, version)
    #expect((begun["serverInfo"]?["title"] != nil) == isStructured)
    for tool in try server.call("tools/list")["tools"]!.array! {
      for name in ["title", "outputSchema"] { #expect((tool[name] != nil) == isStructured) }
      #expect((tool["annotations"] != nil) == (version >= "2025-03-26"))
    }
    let arguments: JSON = ["title": "Plan", "text": "milk"]
    let made = try server.call(
      "tools/call", ["name": "create_note", "arguments": arguments])
    #expect((made["structuredContent"] != nil) == isStructured)
    let text = try #require(made["content"]?.array.map(Array.init)?.first?["text"]?.string)
    #expect(try JSON(parsing: text)["revision"] != nil)
    for resource in try server.call("resources/list")["resources"]!.array! {
      for name in ["title", "annotations"] { #expect((resource[name] != nil) == isStructured) }
    }
    for template in try server.call("resources/templates/list")["resourceTemplates"]!.array! {
      #expect((template["title"] != nil) == isStructured)
    }
  }

  @Test func `of March 2025 sends batches, and gets the answers of each as one`() throws {
    let server = try Server(notebook, ["mcp"], delimiter: .lines)
    try server.write(#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"# + "\n")
    _ = try initialize(server, "2025-03-26")
    #expect(server.anonymous.popLast()?["error"]?.code == -32600)
    func batch(_ messages: String...) throws -> [JSONValue] {
      try server.write("[" + messages.joined(separator: ",") + "]\n")
      let frame = try #require(try server.frame())
      return try #require(try JSONValue(parsing: frame).array.map(Array.init))
    }
    func call(_ id: String, _ tool: String, _ arguments: String) -> String {
      #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
    }
    func ids(_ answers: [JSONValue]) -> Set<String> {
      Set(answers.map { String(decoding: $0["id"]!.rawBytes, as: UTF8.self) })
    }
    // Some take long, some are wrong, some get no answer.
    let made = try batch(
      call("1", "create_note", #"{"title":"Plan","text":"milk"}"#),
      call("2", "search_notes", #"{"query":"milk"}"#),
      #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
      #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#, call("3", "list_notes", "{}"),
      call("4", "search_notes", #"{"query":"tea"}"#), #"{"jsonrpc":"2.0","id":5,"result":{}}"#,
      #"{"jsonrpc":"2.0","id":6,"method":"no/such"}"#, "1", "[]",
      #"{"jsonrpc":"2.0","id":8,"method":"initialize"}"#)
    #expect(ids(made) == ["1", "2", "\"p\"", "3", "4", "6", "8", "null"])
    #expect(made.count == 9 && made.filter { $0["id"]!.isNull }.count == 2)
    #expect(made.filter { $0["error"] != nil }.count == 4)
    let list = try #require(made.first { $0["id"]?.integer == 3 })
    #expect(list.written.contains("Plan"))
    // One without requests gets no answer; one without messages is wrong, and so is a huge one.
    try server.write(#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"# + "\n")
    try server.write("[]\n")
    try server.write("[\(String(repeating: "1,", count: 1000))1]\n")
    try server.call("ping")
    #expect(server.anonymous.map { $0["error"]?.code } == [-32600, -32600])
    // The end of the input comes after the answers.
    try server.write("[" + call("10", "search_notes", #"{"query":"milk"}"#) + "]")
    server.closeInput()
    let last = try #require(try server.frame())
    #expect(ids(try JSONValue(parsing: last).array.map(Array.init)!) == ["10"])
    #expect(try server.waitForEnd() == .status(0))
  }

  @Test(arguments: ["2024-11-05", "2025-06-18", "2025-11-25"])
  func `of another revision sends no batches`(_ version: String) throws {
    let server = try Server(notebook, ["mcp"], delimiter: .lines)
    _ = try initialize(server, version)
    try server.write(#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"# + "\n")
    try server.call("ping")
    #expect(server.anonymous.map { $0["error"]?.code } == [-32600])
  }

  @Test func `may begin with a byte order mark`() throws {
    let server = try Server(notebook, ["mcp"], delimiter: .lines)
    try server.write([0xEF, 0xBB, 0xBF])
    #expect(try initialize(server, "2025-11-25")["protocolVersion"]?.string == "2025-11-25")
  }

  @Test(arguments: AgentClient.Era.allCases)
  func `gets results with what their revision has to say`(_ era: AgentClient.Era) throws {
    let agent = try agent(era)
    let isStateless = era == .stateless
    let note = try agent.use("create_note", ["title": "Plan"])["id"]!.string!
    let lists: [(String, JSON)] = [
      ("tools/list", [:]), ("resources/list", [:]), ("resources/templates/list", [:]),
      ("resources/read", ["uri": .string("note://\(note)")]),
    ]
    for (method, params) in lists + (isStateless ? [("server/discover", [:])] : []) {
      let result = try agent.call(method, params)
      #expect((result["ttlMs"]?.integer != nil) == isStateless, "\(method)")
      #expect(
        result["cacheScope"].map { ["public", "private"].contains($0.string!) }
          ?? false == isStateless)
      #expect(result["resultType"]?.string == (isStateless ? "complete" : nil))
    }
    // A result that is cached for everybody must have no note in it.
    if isStateless {
      let read = try agent.call("resources/read", ["uri": .string("note://\(note)")])
      #expect(read["cacheScope"]?.string == "private" && read["ttlMs"]?.integer == 0)
    }
    let called = try agent.call("tools/call", ["name": "list_notes"])
    #expect(called["ttlMs"] == nil)
    let info = called["_meta"]?["io.modelcontextprotocol/serverInfo"]
    #expect((info?["name"]?.string == "decent-notes") == isStateless)
    #expect((called["resultType"]?.string == "complete") == isStateless)
  }

  // MARK: - Hostile messages

  @Test(arguments: AgentClient.Era.allCases)
  func `that sends what is no message gets an error, and goes on`(_ era: AgentClient.Era) throws {
    let agent = try agent(era)
    try agent.call("tools/list")
    let server = agent.server
    let nested = { (depth: Int) in
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    let messages: [(String, Int)] = [
      ("{", -32700), ("nul", -32700), ("\u{1}\u{2}\u{7F}", -32700), ("[]", -32600), ("1", -32600),
      (#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
      (#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32600),
      (#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, -32600),
      (#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#, -32600),
      (nested(10_000), -32700),
      (#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":\#(nested(10_000))}"#, -32700),
    ]
    for (message, code) in messages {
      try server.write(message + "\n")
      try agent.call("tools/list")
      let answer = server.anonymous.popLast()
      #expect(answer?["error"]?.code == code, "\(message.prefix(80))")
      #expect(server.anonymous.isEmpty)
    }
    for bytes: [UInt8] in [[0xFF, 0xFE, 0x00, 0x0A], [0x80, 0x0A], [0x22, 0xC3, 0x22, 0x0A]] {
      try server.write(bytes)
      try agent.call("tools/list")
      #expect(server.anonymous.popLast()?["error"]?.code == -32700)
    }
    // Answers and notifications get no answer, whatever they are.
    for quiet in [
      #"{"jsonrpc":"2.0","id":99,"result":{}}"#, #"{"jsonrpc":"2.0","method":"no/such"}"#, "",
      #"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#, "  ",
      #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}"#,
      #"{"jsonrpc":"2.0","method":"exit"}"#,
      #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ] {
      try server.write(quiet + "\n")
    }
    try agent.call("tools/list")
    #expect(server.anonymous.isEmpty)
    #expect(server.takeResponse(99) == nil)
    #expect(try agent.leave() == .status(0))
  }

  @Test(arguments: AgentClient.Era.allCases)
  func `that sends damaged or huge arguments gets an error, and goes on`(
    _ era: AgentClient.Era
  ) throws {
    let agent = try agent(era)
    let note = try agent.use("create_note", ["title": "Plan", "text": "milk"])["id"]!.string!
    for text in [#""\ud800""#, #""a\udc00b""#] {
      let arguments = JSON.object([("id", .string(note)), ("text", .raw(text))])
      let error = try agent.error(
        "tools/call", ["name": "append_note", "arguments": arguments])
      #expect(error.code == -32700)
    }
    let call = { (arguments: JSON) in
      try agent.error("tools/call", ["name": "read_note", "arguments": arguments]).code
    }
    for arguments: JSON in [[], "x", 1, nil, true] {
      #expect(try call(arguments) == -32602, "\(arguments)")
    }
    #expect(try agent.error("tools/call", ["name": 1]).code == -32602)
    #expect(try agent.error("tools/call", ["name": "no_such_tool"]).code == -32602)
    #expect(
      try agent.failure("append_note", ["id": .string(note), "text": "a\u{0}b"]).contains("U+0000"))
    #expect(
      try agent.failure("read_note", ["id": .string(String(repeating: "x", count: 10_000))])
        .contains("at most"))
    #expect(
      try agent.failure(
        "edit_note",
        [
          "id": .string(note), "base": "x", "new": "",
          "old": .string(String(repeating: "a", count: 1 << 20 + 1)),
        ]
      ).contains("at most"))
    // More than a message may have: it is skipped, and its id is not known.
    let server = agent.server
    let huge = [UInt8](repeating: UInt8(ascii: "a"), count: 100 << 20)
    try server.write(#"{"jsonrpc":"2.0","id":"huge","method":"tools/call","params":{"x":""#)
    try server.write(huge)
    try server.write("\"}}\n")
    #expect(try agent.use("read_note", ["id": .string(note)])["text"]?.string == "milk")
    #expect(server.anonymous.first?["error"]?.code == -32600)
    if let peak = server.peakMemory { #expect(peak < 400 << 20, "\(peak >> 20) MiB") }
    #expect(try agent.leave() == .status(0))
  }

  @Test func `that does not read is not answered without bound`() throws {
    let agent = try agent()
    // Each of its characters takes thirteen bytes of an answer.
    let text = String(repeating: "\u{1}", count: 60_000)
    let note = try agent.use("create_note", ["title": "Long", "text": .string(text)])["id"]!
      .string!
    let params = agent.params(["name": "read_note", "arguments": ["id": .string(note)]])
    var requests: [UInt8] = []
    for number in 0..<300 {
      let message = JSON.request(.string("r\(number)"), "tools/call", params)
      requests += Delimiter.lines.frame(message.bytes)
    }
    try agent.server.write(requests, reading: false)
    for number in 0..<300 {
      let answer = try agent.server.response(to: #""r\#(number)""#)
      #expect(answer["result"]?["structuredContent"]?["text"]?.utf8?.count == text.utf8.count)
    }
    if let peak = agent.server.peakMemory { #expect(peak < 160 << 20, "\(peak >> 20) MiB") }
    // One that never reads does not keep the process.
    try agent.server.write(requests, reading: false)
    agent.server.closeInput()
    _ = try agent.server.waitForEnd(reading: false)
  }

  // MARK: - Tools

  @Test(arguments: AgentClient.Era.allCases)
  func `is told what is wrong with an argument, and what to do`(_ era: AgentClient.Era) throws {
    let agent = try agent(era)
    let made = try agent.use("create_note", ["title": "Plan", "text": "aaa\nmilk\nmilk"])
    let (id, revision) = (JSON(made["id"]!), JSON(made["revision"]!))
    let cases: [(String, JSON, String)] = [
      ("read_note", [:], "id: it is missing"),
      ("read_note", ["id": 1], "id: it must be a string"),
      ("read_note", ["id": id, "path": "/etc/passwd"], "path: there is no such argument"),
      ("read_note", ["id": "../../etc/passwd"], "search_notes"),
      ("read_note", ["id": id, "revision": "0.1"], "read_note"),
      ("list_notes", ["limit": 501], "limit: it must be a whole number from 1 to 500"),
      ("list_notes", ["sort": "random"], "sort: it must be one of order, modified"),
      ("list_notes", ["tags": "home"], "tags: it must be an array of strings"),
      ("list_notes", ["trashed": "yes"], "trashed: it must be true or false"),
      ("list_notes", ["cursor": "nowhere"], "without cursor"),
      ("list_notes", ["cursor": "nowhere"], "cursor: "),
      ("search_notes", ["query": ""], "query"), ("search_notes", ["query": "who:ben"], "query"),
      ("create_note", ["title": "two\nlines"], "title"),
      ("update_note", ["id": id], "There is nothing to change"),
      ("update_note", ["id": id, "priority": "urgent"], "priority: it must be one of"),
      ("edit_note", ["id": id, "base": revision, "old": "soap", "new": ""], "does not occur"),
      ("edit_note", ["id": id, "base": revision, "old": "milk", "new": ""], "several times"),
      ("edit_note", ["id": id, "base": revision, "old": "aa", "new": ""], "several times"),
      ("edit_note", ["id": id, "base": revision, "old": "", "new": "x"], "must not be empty"),
      ("edit_note", ["id": id, "base": "nowhere", "old": "aaa", "new": ""], "base: "),
      ("update_note", ["id": id, "add_tags": [""]], "add_tags: "),
      ("update_note", ["id": id, "remove_tags": [""]], "remove_tags: "),
      ("edit_note", ["id": id, "base": "7.7", "old": "aaa", "new": ""], "read_note"),
      ("edit_note", ["id": id, "old": "aaa", "new": ""], "base: it is missing"),
    ]
    for (tool, arguments, part) in cases {
      let sentence = try agent.failure(tool, arguments)
      #expect(sentence.contains(part), "\(tool) \(arguments): \(sentence)")
    }
    // A null counts as absent.
    try agent.use("list_notes", ["tags": nil, "limit": nil])
    #expect(try agent.use("read_note", ["id": id])["text"]?.string == "aaa\nmilk\nmilk")
    #expect(try agent.use("list_notes")["notes"]?.array?.count == 1)
  }

  @Test func `edits a text as it was, and what others have written since stays`() throws {
    let agent = try agent()
    let other = try other()
    let made = try agent.use("create_note", ["title": "Plan", "text": "milk\neggs\ntea"])
    let (id, base) = (JSON(made["id"]!), JSON(made["revision"]!))
    let text = { try agent.use("read_note", ["id": id])["text"]!.string! }
    try other.call("note/setText", ["id": id, "base": base, "text": "milk\nbread\neggs, ten\ntea"])
    let edit: JSON = ["id": id, "base": base, "old": "milk", "new": "oat milk"]
    let tried = try agent.use("edit_note", edit.with("dry_run", true))
    #expect(tried["lines"]?.string == "oat milk" && tried["merged"]?.boolean == true)
    #expect(try text() == "milk\nbread\neggs, ten\ntea")
    let edited = try agent.use("edit_note", edit)
    #expect(edited["merged"]?.boolean == true)
    #expect(try text() == "oat milk\nbread\neggs, ten\ntea")
    // The agent's own revision is a base as well, and so is the first one, still.
    let next = try agent.use(
      "edit_note",
      ["id": id, "base": JSON(edited["revision"]!), "old": "\ntea", "new": ""])
    #expect(next["merged"]?.boolean == false)
    try agent.use("edit_note", ["id": id, "base": base, "old": "eggs", "new": "EGGS"])
    #expect(try text() == "oat milk\nbread\nEGGS, ten")
    // What others have made the same is a change of theirs, too.
    let now = JSON(try agent.use("read_note", ["id": id])["revision"]!)
    try other.call("note/setText", ["id": id, "text": "oat milk\nbread\neggs, ten"])
    let same = try agent.use(
      "edit_note", ["id": id, "base": now, "old": "EGGS", "new": "eggs"])
    #expect(same["merged"]?.boolean == true)
    #expect(try text() == "oat milk\nbread\neggs, ten")
    try agent.use("append_note", ["id": id, "text": "soap"])
    try agent.use("append_note", ["id": id, "text": "rice\n"])
    #expect(try text() == "oat milk\nbread\neggs, ten\nsoap\nrice")
  }

  @Test func `is told all lines that came of an edit that was merged`() throws {
    let agent = try agent()
    let other = try other()
    for (text, theirs, old, new) in [
      ("a\nmilk\nb\n", "a\nrice\nb\nc\n", "milk", "tea"),
      ("a\nmilk\nb\n", "0\na\nmilk, much\nb\n", "milk", "oat milk"),
      ("a\nx y\nb\n", "a\nx\nand\ny\nb\n", "x y", "X x y Y"),
    ] {
      let made = try agent.use("create_note", ["title": "Plan", "text": .string(text)])
      let (id, base) = (JSON(made["id"]!), JSON(made["revision"]!))
      try other.call("note/setText", ["id": id, "text": .string(theirs), "base": base])
      let edited = try agent.use(
        "edit_note", ["id": id, "base": base, "old": .string(old), "new": .string(new)])
      #expect(edited["merged"]?.boolean == true)
      let present = try agent.use("read_note", ["id": id])["text"]!.string!
      // Everything between the lines that stayed.
      let start = try #require(present.range(of: "a\n")).upperBound
      let end = try #require(present.range(of: "\nb\n")).lowerBound
      #expect(edited["lines"]?.string == String(present[start..<end]), "\(present)")
    }
  }

  @Test func `writes with the line ends of the note`() throws {
    let agent = try agent()
    let made = try agent.use(
      "create_note", ["title": "Plan", "text": "one\r\ntwo\r\nthree\r\n"])
    let (id, base) = (JSON(made["id"]!), JSON(made["revision"]!))
    let text = { try agent.use("read_note", ["id": id])["text"]!.string! }
    let edited = try agent.use(
      "edit_note", ["id": id, "base": base, "old": "one\ntwo\n", "new": "one\n1.5\n2\n"])
    #expect(edited["lines"]?.string == "one\r\n1.5\r\n2")
    #expect(try text().utf8.elementsEqual("one\r\n1.5\r\n2\r\nthree\r\n".utf8))
    try agent.use("append_note", ["id": id, "text": "four\nfive"])
    #expect(
      try text().utf8.elementsEqual("one\r\n1.5\r\n2\r\nthree\r\nfour\r\nfive\r\n".utf8))
    // The request of the protocol adds just what it is given.
    try other().call("note/append", ["id": id, "text": "six\n"])
    #expect(try text().hasSuffix("five\r\nsix\n"))
  }

  @Test(arguments: AgentClient.Era.allCases)
  func `reads a long note in pieces`(_ era: AgentClient.Era) throws {
    let agent = try agent(era)
    let lines = (1...16_000).map { "line \($0) of a long note\n" }
    let long = String(repeating: "é", count: 50_000) + "\nend"
    let text = lines.joined() + long
    let made = try agent.use("create_note", ["title": "Long", "text": .string(text)])
    let id = JSON(made["id"]!)
    var (pieces, arguments): (String, JSON?) = ("", ["id": id])
    while let asked = arguments {
      let read = try agent.use("read_note", asked)
      let piece = read["text"]!.string!
      #expect(!piece.isEmpty && piece.utf8.count <= 64 << 10)
      pieces += piece
      arguments = read["next_line"].map {
        ["id": id, "from_line": JSON($0), "revision": JSON(read["revision"]!)]
      }
      if let offset = read["next_offset"] { arguments!["offset"] = JSON(offset) }
    }
    #expect(pieces == text)
    let some = try agent.use("read_note", ["id": id, "from_line": 100, "to_line": 102])
    #expect(some["text"]?.string == lines[99...101].joined())
    #expect(some["next_line"]?.integer == 103 && some["next_offset"] == nil)
    let short = try agent.use("read_note", ["id": id, "from_line": 16_002])
    #expect(short["text"]?.string == "end" && short["next_line"] == nil)
    #expect(
      try agent.failure("read_note", ["id": id, "from_line": 16_003]).contains("16002 lines"))
    // The same as a resource.
    var (resources, uri): (String, String?) = ("", "note://" + made["id"]!.string!)
    while let asked = uri {
      let contents = try agent.call("resources/read", ["uri": .string(asked)])["contents"]!
        .array.map(Array.init)!
      #expect(contents[0]["uri"]?.string == asked)
      resources += contents[0]["text"]!.string!
      uri = contents.count == 2 ? contents[1]["uri"]!.string! : nil
      #expect(
        contents.count <= 2
          && contents.dropFirst().allSatisfy {
            $0["mimeType"]?.string == "text/plain" && $0["text"]!.string!.contains(uri!)
          })
    }
    #expect(resources == text)
  }

  @Test func `has the tools that its page says, with schemas of one type each`() throws {
    let tools = try agent().call("tools/list")["tools"]!.array.map(Array.init)!
    let page = try contents(of: projectFolder.appendingPathComponent("Protocol/mcp.md"))
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") && $0.contains("_") }
      .map { $0.split(separator: "|").map { $0.matches(of: /`([^`]+)`/).map { String($0.1) } } }
      .filter { $0.count == 3 && $0[0].count == 1 }
    #expect(rows.map { $0[0][0] } == Self.tools)
    /// Names as the page has them.
    func names(_ schema: JSONValue?) -> Set<String> {
      let required = Set(schema?["required"]?.array?.compactMap(\.string) ?? [])
      return Set(schema?["properties"]?.members.map { $0.name } ?? []).reduce(into: []) {
        $0.insert(required.contains($1) ? $1 : $1 + "?")
      }
    }
    for (tool, row) in zip(tools, rows) {
      #expect(names(tool["inputSchema"]) == Set(row[1]), "\(row[0])")
      #expect(names(tool["outputSchema"]) == Set(row[2]), "\(row[0])")
      #expect(tool["inputSchema"]?["additionalProperties"]?.boolean == false)
      for (name, schema) in tool["inputSchema"]!["properties"]!.members {
        #expect(schema["type"]?.string.map { $0 != "object" } == true, "\(row[0]) \(name)")
        #expect(schema["description"]?.string?.isEmpty == false, "\(row[0]) \(name)")
      }
      let isReading = Self.tools.prefix(4).contains(row[0][0])
      #expect(tool["annotations"]?["readOnlyHint"]?.boolean == isReading)
    }
  }

  @Test func `that is not let writes nothing`() throws {
    let writer = try agent()
    let note = JSON(try writer.use("create_note", ["title": "Plan", "text": "milk"])["id"]!)
    for era in AgentClient.Era.allCases {
      let agent = try agent(era, "--read-only")
      #expect(
        names(try agent.call("tools/list"), "tools", "name") == Array(Self.tools.prefix(4)))
      for tool in Self.tools.dropFirst(4) {
        let error = try agent.error(
          "tools/call", ["name": .string(tool), "arguments": ["id": note, "text": "x"]])
        #expect(error.code == -32602 && error["message"]!.string!.contains("may be changed"))
      }
      #expect(try agent.use("read_note", ["id": note])["text"]?.string == "milk")
      #expect(try agent.leave() == .status(0))
    }
    // It is the agent that may not write: another process may.
    try writer.use("append_note", ["id": note, "text": "eggs"])
  }

  @Test(arguments: AgentClient.Era.allCases)
  func `is named in history, and is where it edits for those who look`(
    _ era: AgentClient.Era
  ) throws {
    let agent = try agent(era)
    let made = try agent.use("create_note", ["title": "Plan", "text": "one\nzwei drei\n"])
    let id = JSON(made["id"]!)
    let reader = try other()
    try reader.call("note/open", ["id": id, "mode": "edit"])
    try agent.use(
      "edit_note", ["id": id, "base": JSON(made["revision"]!), "old": "zwei", "new": "tüüü"])
    let told = try reader.notification("note/presence") {
      $0["peers"]?.array?.isEmpty == false
    }
    let peer = try #require(told["peers"]?.array.map(Array.init)?.first)
    #expect(peer["name"]?.string == "robot")
    let range = try #require(peer["ranges"]?.array.map(Array.init)?.first)
    #expect(
      JSON(range)
        == ["start": ["line": 1, "character": 0], "end": ["line": 1, "character": 7]])
    let entries = try reader.call("note/history", ["id": id])["entries"]!.array.map(Array.init)!
    #expect(Set(entries.map { $0["author"]!["name"]!.string! }) == ["robot"])
    #expect(entries[0]["author"]!["program"]!.string! == "decent-notes mcp")
    // Once the agent has left, it is not shown any more.
    try agent.leave()
    _ = try reader.notification("note/presence") { $0["peers"]?.array?.isEmpty == true }
  }

  @Test func `that does not say its name has that of the command line`() throws {
    for (name, options, author) in [
      (nil, [], "agent"), (nil, ["--name", "Helper"], "Helper"), ("\u{1}", [], "agent"),
      ("", ["--name", "Helper"], "Helper"), ("robot", ["--name", "Helper"], "robot"),
    ] as [(String?, [String], String)] {
      let agent = try AgentClient(notebook, name: name, options: options)
      let note = try agent.use("create_note", ["title": "Plan"])["id"]!
      try agent.leave()
      let entries = try other().call("note/history", ["id": JSON(note)])["entries"]!
      #expect(entries.array!.first { _ in true }!["author"]!["name"]!.string! == author)
    }
  }

  // MARK: - Resources

  @Test func `lists all notes as resources, page by page`() throws {
    let agent = try agent()
    let other = try other()
    var notes: Set<String> = []
    for number in 0..<1100 {
      let made = try other.call("note/create", ["title": .string("Note \(number)")])
      notes.insert("note://" + made["note"]!["id"]!.string!)
    }
    var listed: [String] = []
    var cursor: JSON?
    var pages = 0
    repeat {
      let page = try agent.call("resources/list", cursor.map { ["cursor": $0] } ?? [:])
      listed += names(page, "resources", "uri")
      cursor = page["nextCursor"].map { JSON($0) }
      pages += 1
    } while cursor != nil
    #expect(pages == 3)
    #expect(listed.count == 1100 && Set(listed) == notes)
    for bad: JSON in ["nowhere", 1] {
      for method in ["resources/list", "tools/list"] {
        #expect(try agent.error(method, ["cursor": bad]).code == -32602)
      }
    }
    #expect(try agent.call("resources/list", ["cursor": nil])["resources"]?.array?.count == 500)
    #expect(
      names(try agent.call("resources/templates/list"), "resourceTemplates", "uriTemplate")
        == ["note://{id}", "note://{id}{?from_line,to_line,offset}"])
  }

  @Test(arguments: AgentClient.Era.allCases)
  func `reads a note as a resource, and nothing else`(_ era: AgentClient.Era) throws {
    let agent = try agent(era)
    let note = try agent.use("create_note", ["title": "Plan", "text": "milk"])["id"]!.string!
    let read = try agent.call("resources/read", ["uri": .string("note://\(note)")])
    #expect(names(read, "contents", "text") == ["milk"])
    for uri in [
      "note://1-0000", "note://", "note://\(note)/", "note://../\(note)", "file:///etc/passwd",
      note, "NOTE://\(note)", "", "note://\(note)?from_line=2", "note://\(note)?line=1",
    ] {
      let error = try agent.error("resources/read", ["uri": .string(uri)])
      #expect(error.code == (era == .stateless ? -32602 : -32002), "\(uri)")
      #expect(error["data"]?["uri"]?.string == uri)
    }
    #expect(try agent.error("resources/read").code == -32602)
  }

  @Test func `listens, and is told of what it listens to`() throws {
    let agent = try agent()
    let server = agent.server
    let note = try agent.use("create_note", ["title": "Plan"])["id"]!.string!
    let uri = "note://\(note)"
    let listen = { (id: JSON, filter: JSON) in
      try server.send(
        .request(id, "subscriptions/listen", agent.params(["notifications": filter])))
    }
    let stream = { (params: JSONValue) in
      params["_meta"]?["io.modelcontextprotocol/subscriptionId"].map { JSON($0) }
    }
    try listen("notes", ["resourceSubscriptions": .array([.string(uri), "file:///etc/passwd"])])
    try listen(77, ["resourcesListChanged": true, "toolsListChanged": true])
    let first = try server.notification("notifications/subscriptions/acknowledged")
    #expect(stream(first) == "notes")
    #expect(JSON(first["notifications"]!) == ["resourceSubscriptions": .array([.string(uri)])])
    let second = try server.notification("notifications/subscriptions/acknowledged")
    #expect(stream(second) == 77)
    #expect(JSON(second["notifications"]!) == ["resourcesListChanged": true])
    // By others, and by the agent itself.
    let other = try other()
    try other.call("note/append", ["id": .string(note), "text": "milk"])
    let updated = try server.notification("notifications/resources/updated")
    #expect(stream(updated) == "notes" && updated["uri"]?.string == uri)
    try other.call("note/create", ["title": "Another"])
    #expect(stream(try server.notification("notifications/resources/list_changed")) == 77)
    try agent.use("append_note", ["id": .string(note), "text": "tea"])
    #expect(stream(try server.notification("notifications/resources/updated")) == "notes")
    // A stream that is cancelled is told nothing more, and gets no answer.
    try server.notify("notifications/cancelled", ["requestId": "notes"])
    try agent.use("append_note", ["id": .string(note), "text": "rice"])
    try agent.use("delete_note", ["id": .string(note)])
    #expect(stream(try server.notification("notifications/resources/list_changed")) == 77)
    #expect(!server.notifications.contains { $0["method"] == nil })
    #expect(server.notifications.isEmpty)
    for bad: JSON in [nil, [], ["resourceSubscriptions": "x"], ["resourceSubscriptions": [1]]] {
      #expect(
        try agent.error("subscriptions/listen", ["notifications": bad]).code == -32602, "\(bad)")
    }
    try listen(77, [:])
    #expect(try server.response(to: 77)["error"]?.code == -32600)
    // At the end the stream that is left is answered.
    #expect(try agent.leave() == .status(0))
    let last = try server.response(to: 77)["result"]
    #expect(last.flatMap(stream) == 77 && last?["resultType"]?.string == "complete")
    #expect(throws: Failure.self) { try server.response(to: "\"notes\"") }
  }

  @Test func `that has initialized subscribes, and is told of the list`() throws {
    let agent = try agent(.handshake)
    let server = agent.server
    let other = try other()
    let made = try other.call("note/create", ["title": "Plan"])["note"]!["id"]!.string!
    _ = try server.notification("notifications/resources/list_changed")
    let uri: JSON = ["uri": .string("note://\(made)")]
    #expect(try agent.error("resources/subscribe", ["uri": "note://1-0000"]).code == -32002)
    try agent.call("resources/subscribe", uri)
    try other.call("note/append", ["id": .string(made), "text": "milk"])
    let updated = try server.notification("notifications/resources/updated")
    #expect(JSON(updated) == uri)
    try agent.call("resources/unsubscribe", uri)
    try agent.use("append_note", ["id": .string(made), "text": "tea"])
    try agent.call("ping")
    #expect(server.notifications.isEmpty)
  }

  // MARK: - Cancelling and the end

  @Test func `that gives a search up gets no answer to it, and the next is carried out`() throws {
    let agent = try agent()
    try agent.use("create_note", ["title": "Plan", "text": "milk"])
    let search = JSON.request(
      "search", "tools/call",
      agent.params(["name": "search_notes", "arguments": ["query": "milk"]]))
    let cancel = JSON.notification("notifications/cancelled", ["requestId": "search"])
    try agent.server.write(
      Delimiter.lines.frame(search.bytes) + Delimiter.lines.frame(cancel.bytes))
    #expect(try agent.use("search_notes", ["query": "milk"])["notes"]?.array?.count == 1)
    #expect(try agent.leave() == .status(0))
    #expect(!agent.server.answered.contains("\"search\""))
  }

  @Test(arguments: [nil, SIGTERM, SIGINT, SIGHUP])
  func `leaves in order, and all that was asked for is done`(_ signal: Int32?) throws {
    let agent = try agent()
    let made = try agent.use("create_note", ["title": "Plan", "text": "x"])
    var requests: [UInt8] = []
    for number in 0..<50 {
      let arguments: JSON = [
        "id": JSON(made["id"]!), "base": JSON(made["revision"]!), "old": "x",
        "new": .string("w\(number) x"),
      ]
      let params = agent.params(["name": "edit_note", "arguments": arguments])
      requests += Delimiter.lines.frame(
        JSON.request(.string("e\(number)"), "tools/call", params).bytes)
    }
    // The last line has no end.
    try agent.server.write(Array(requests.dropLast()))
    if let signal {
      _ = try agent.server.response(to: "\"e48\"")
      kill(agent.server.process, signal)
      #expect(try agent.server.waitForEnd() == .signal(signal))
    } else {
      #expect(try agent.leave() == .status(0))
      #expect(try agent.server.response(to: "\"e49\"")["result"] != nil)
    }
    let text = try other().call("note/get", ["id": JSON(made["id"]!)])["text"]!.string!
    for number in 0..<(signal == nil ? 50 : 49) {
      #expect(text.contains("w\(number) "), "\(number)")
    }
  }

  @Test func `whose notebook can't be opened is told so, and may ask again`() throws {
    try Data("no folder".utf8).write(to: URL(fileURLWithPath: notebook))
    let agent = try agent()
    try agent.call("tools/list")
    #expect(try agent.failure("list_notes").contains("can't be opened"))
    #expect(try agent.error("resources/list").code == -32603)
    try FileManager.default.removeItem(atPath: notebook)
    try agent.use("create_note", ["title": "Plan"])
    #expect(try agent.use("list_notes")["notes"]?.array?.count == 1)
    #expect(try agent.leave() == .status(0))
  }

  @Test func `that writes nothing makes no notebook`() throws {
    let agent = try agent()
    try agent.use("list_notes")
    #expect(try agent.leave() == .status(0))
    #expect(!FileManager.default.fileExists(atPath: notebook))
  }
}
