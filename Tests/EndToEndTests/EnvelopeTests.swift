import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting)
struct `The envelope` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  private func server(
    _ delimiter: Delimiter = .headers, _ arguments: [String] = []
  ) throws -> Server {
    try Server(folder("notes"), arguments, delimiter: delimiter)
  }

  @Test(arguments: Delimiter.allCases)
  func `Both framings are understood by the first byte`(_ delimiter: Delimiter) throws {
    let server = try server(delimiter)
    try server.initialize()
    let note = try server.call("note/create", ["title": "Grüße 👋", "text": "a\nb"])["note"]
    #expect(note?["title"]?.string == "Grüße 👋")
    #expect(note?["length"]?.integer == 3)
    try server.leave()
  }

  @Test(arguments: Delimiter.allCases)
  func `A framing that was asked for is kept`(_ delimiter: Delimiter) throws {
    let name = delimiter == .lines ? "lines" : "content-length"
    let server = try server(delimiter, ["--framing", name])
    if delimiter == .lines { try server.write("\r\n  \n") }
    try server.initialize()
    try server.leave()
  }

  @Test(
    arguments: [
      "content-length: %\r\n\r\n", "CONTENT-LENGTH:%\r\n\r\n", "Content-Length: %\n\n",
      "X-Unknown: 1\r\nContent-Length: %\r\n\r\n",
      "Content-Length: %\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
      "cOnTeNt-LeNgTh:   %  \nA: b: c\n\n", "Content-Length: 00000%\r\n\r\n",
    ])
  func `Headers may have any case and order, be unknown, and end in a bare line feed`(
    _ template: String
  ) throws {
    let server = try server()
    let body = JSON.request(7, "initialize", [:]).text
    let header = template.replacingOccurrences(of: "%", with: "\(body.utf8.count)")
    for byte in (header + body).utf8 { try server.write([byte]) }
    #expect(try server.result(of: 7)["protocolVersion"]?.string != nil)
  }

  @Test
  func `Before initialize requests are refused and notifications dropped`() throws {
    let server = try server()
    try server.notify("note/create", ["title": "no"])
    try server.notify("$/unknown")
    for method in ["notebook/list", "note/create", "shutdown", "no/such", "$/no"] {
      #expect(try server.error(method).code == -32002)
    }
    try server.initialize()
    #expect(try server.call("notebook/list")["notes"]?.array?.isEmpty == true)
    #expect(access(folder("notes"), F_OK) != 0)
  }

  @Test
  func `An exit before initialize ends the process with status 1`() throws {
    let server = try server()
    try server.notify("exit")
    #expect(try server.waitForEnd() == .status(1))
  }

  @Test
  func `Only the first initialize is accepted`() throws {
    let server = try server()
    try server.initialize()
    #expect(try server.error("initialize").code == -32600)
    try server.call("notebook/list")
    try server.notify("initialized", [:])
    try server.call("notebook/list")
  }

  @Test
  func `After shutdown requests are refused, and exit has status 0`() throws {
    let server = try server()
    try server.initialize()
    try server.call("note/create", ["title": "kept"])
    #expect(try server.call("shutdown").isNull)
    for method in ["notebook/list", "note/create", "shutdown", "initialize", "no/such"] {
      #expect(try server.error(method).code == -32600)
    }
    try server.notify("exit", [1, 2])
    #expect(try server.waitForEnd() == .status(0))
  }

  @Test
  func `What is sent right behind shutdown is refused too`() throws {
    let server = try server()
    try server.initialize()
    let messages: [JSON] = [
      .request("a", "note/create", ["title": "before"]), .request("b", "shutdown"),
      .request("c", "note/create", ["title": "after"]), .request("d", "notebook/list"),
      .notification("exit"),
    ]
    try server.write(messages.flatMap { Delimiter.headers.frame($0.bytes) })
    #expect(try server.waitForEnd() == .status(0))
    let after = try server.response(to: "\"c\"")
    let list = try server.response(to: "\"d\"")
    #expect(after["error"]?.code == -32600)
    #expect(list["error"]?.code == -32600)
  }

  @Test
  func `An exit without shutdown has status 1, and keeps everything`() throws {
    let first = try server()
    try first.initialize()
    try first.call("note/create", ["title": "kept"])
    try first.notify("exit")
    #expect(try first.waitForEnd() == .status(1))
    let second = try server()
    try second.initialize()
    #expect(try second.call("notebook/list")["notes"]?.array?.count == 1)
  }

  @Test(arguments: [false, true])
  func `The end of the input is an orderly end within two seconds`(afterShutdown: Bool) throws {
    let server = try server()
    try server.initialize()
    try server.call("note/create", ["title": "kept"])
    if afterShutdown { try server.call("shutdown") }
    // The answer to a request that comes with the end is not lost.
    let last = afterShutdown ? nil : try server.post("notebook/list")
    server.closeInput()
    let start = Date()
    #expect(try server.waitForEnd() == .status(afterShutdown ? 0 : 1))
    #expect(-start.timeIntervalSinceNow < 2)
    if let last {
      #expect(try server.result(of: last)["notes"]?.array?.count == 1)
    }
  }

  @Test
  func `A last line without a line feed is a message`() throws {
    let server = try server(.lines)
    try server.initialize()
    try server.write(JSON.request(99, "notebook/list").text)
    server.closeInput()
    #expect(try server.waitForEnd() == .status(1))
    #expect(try server.result(of: 99)["notes"]?.array?.isEmpty == true)
  }

  @Test
  func `The process leaves when the one it serves is gone`() throws {
    let sleeper = try Server.spawn(["/bin/sleep", "600"], [:], [:], errors: "/dev/null")
    let server = try server()
    try server.call("initialize", ["processId": JSON(Int(sleeper))])
    try server.call("note/create", ["title": "kept"])
    #expect(server.isRunning)
    kill(sleeper, SIGKILL)
    var status: Int32 = 0
    waitpid(sleeper, &status, 0)
    #expect(try server.waitForEnd(within: 15) == .status(1))
    let told = try server.notification("window/showMessage")["message"]!.string!
    #expect(told.contains("\(sleeper)") && server.errorText == "decent-notes: \(told)\n")
  }

  @Test(arguments: Delimiter.allCases)
  func `A byte order mark before the first message is passed over`(delimiter: Delimiter) throws {
    let server = try server(delimiter)
    try server.write([0xEF, 0xBB, 0xBF])
    try server.initialize()
    try server.leave()
  }

  @Test
  func `A processId that no process can have is refused`() throws {
    for wrong: JSON in [-1, "1", .raw("1e300"), [], [:], .raw("4294967297")] {
      let server = try server()
      let error = try server.error("initialize", ["processId": wrong])
      #expect(error.code == -32602)
      #expect(error["message"]?.string?.contains("processId") == true)
      try server.call("initialize", ["processId": nil])
    }
  }

  @Test
  func `Of methods that begin with $/ notifications are ignored and requests refused`() throws {
    let server = try server()
    try server.initialize()
    try server.notify("$/whatever", ["a": 1])
    try server.notify("$/cancelRequest", ["id": 12345])
    try server.notify("$/cancelRequest", ["id": [1]])
    try server.notify("$/setTrace", ["value": "off"])
    try server.notify("no/such")
    #expect(try server.error("$/whatever").code == -32601)
    #expect(try server.error("$/cancelRequest").code == -32601)
    #expect(server.anonymous.isEmpty)
    #expect(server.notifications.isEmpty)
    try server.notify("$/setTrace", ["value": "messages"])
    try server.call("notebook/list")
    _ = try server.notification("$/logTrace")
    try server.notify("$/setTrace", ["value": "off"])
    try server.call("notebook/list")
    server.notifications = []
    try server.call("notebook/list")
    #expect(server.notifications.isEmpty)
  }

  @Test(arguments: Delimiter.allCases)
  func `Batches are refused`(_ delimiter: Delimiter) throws {
    let server = try server(delimiter)
    try server.initialize()
    for batch in ["[]", "[1]", "[\(JSON.request(1, "notebook/list").text)]"] {
      try server.send(.raw(batch))
      try server.call("notebook/status")
      let answer = server.anonymous.popLast()
      #expect(answer?["error"]?.code == -32600)
      #expect(answer?["id"]?.isNull == true)
    }
    try server.leave()
  }

  @Test
  func `A batch may be the first line`() throws {
    let server = try server(.lines)
    try server.write("[{}]\n")
    try server.initialize()
    #expect(server.anonymous.first?["error"]?.code == -32600)
  }

  @Test
  func `The params may be absent, null or an empty array`() throws {
    let server = try server()
    try server.initialize()
    for params: JSON? in [nil, .null, [], [:]] {
      #expect(try server.call("notebook/list", params)["notes"] != nil)
    }
    for params: JSON in [[1], "x", 1, true] {
      #expect(try server.error("notebook/list", params).code == -32602)
    }
    #expect(try server.error("note/get").code == -32602)
  }

  @Test
  func `An unknown method is named in a short answer`() throws {
    let server = try server()
    try server.initialize()
    let long = String(repeating: "m", count: 1 << 16)
    for method in ["note/explode", "", "/", "initialized", "exit", long] {
      let error = try server.error(method)
      #expect(error.code == -32601)
      #expect((error["message"]?.string?.count ?? 0) < 500)
    }
  }

  @Test
  func `Unknown parameters and members are ignored`() throws {
    let server = try server()
    try server.initialize()
    try server.call("note/create", ["title": "t", "color": "red", "nested": ["a": [1, 2, nil]]])
    try server.send(
      .raw(#"{"x":1,"params":{},"id":"u","extra":[{}],"method":"notebook/list","jsonrpc":"2.0"}"#))
    #expect(try server.response(to: "\"u\"")["result"]?["notes"]?.array?.count == 1)
  }

  @Test
  func `An id is echoed as it came`() throws {
    let server = try server()
    try server.initialize()
    for id: JSON in ["x", "", "ü\"\\", 0, -1, JSON(.max), JSON(.min), "1"] {
      try server.send(.request(id, "notebook/list"))
      _ = try server.response(to: id.text)
    }
    #expect(server.answered.last == "\"1\"")
    for id: JSON in [nil, [], [:], true, .raw("1.5"), .raw("1e400"), "a\u{0}b"] {
      try server.send(.request(id, "notebook/list"))
      try server.call("notebook/status")
      #expect(server.anonymous.popLast()?["error"]?.code == -32600)
    }
  }

  @Test
  func `Requests are answered in the order in which they came`() throws {
    let server = try server()
    try server.initialize()
    var expected: [String] = []
    let before = server.answered.count
    let methods = ["note/create", "notebook/list", "no/such", "note/get", "notebook/status"]
    for number in 0..<300 {
      expected.append("\(try server.post(methods[number % 5], [:]))")
    }
    _ = try server.response(to: expected.last!)
    #expect(Array(server.answered[before...]) == expected)
  }

  @Test
  func `A response of the client is ignored, an odd envelope is refused`() throws {
    let server = try server()
    try server.initialize()
    try server.send(.raw(#"{"jsonrpc":"2.0","id":5,"result":null}"#))
    try server.send(.raw(#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#))
    try server.call("notebook/status")
    #expect(server.anonymous.isEmpty)
    for (odd, id) in [
      (#"{"id":"o","method":"notebook/list"}"#, "\"o\""),
      (#"{"jsonrpc":"1.0","id":"p","method":"notebook/list"}"#, "\"p\""),
      (#"{"jsonrpc":"2.0","id":"q","method":7}"#, "\"q\""),
      (#"{"jsonrpc":"2.0","id":"r"}"#, "\"r\""),
    ] {
      try server.send(.raw(odd))
      #expect(try server.response(to: id)["error"]?.code == -32600)
    }
  }

  @Test(arguments: [false, true])
  func `A reader that goes away ends the process in order`(whileIdle: Bool) throws {
    let server = try server()
    try server.initialize()
    try server.call("note/create", ["title": "kept", "text": "text"])
    server.closeOutput()
    if !whileIdle { try server.notify("$/nothing") }
    #expect(try server.waitForEnd(within: 10) == .status(1))
    let next = try self.server()
    try next.initialize()
    #expect(try next.call("notebook/list")["notes"]?.array?.count == 1)
  }

  @Test
  func `The same request key gives the same result, and changes nothing`() throws {
    let server = try server()
    try server.initialize()
    let first = try server.call("note/create", ["title": "one", "text": "x", "requestKey": "k0"])
    let id = JSON.string(first["note"]!["id"]!.string!)
    let attachment = try server.call("note/open", ["id": id, "mode": "edit"])["attachment"]!
    let changes = try server.call("notebook/changes")["changes"]!.string!
    let change: JSON = [
      "attachment": .raw(attachment.written), "version": 9, "rev": 0, "text": "typed",
      "requestKey": "k9",
    ]
    let requests: [(String, JSON)] = [
      ("note/create", ["title": "two", "requestKey": "k1"]),
      ("note/update", ["id": id, "title": "three", "requestKey": "k2"]),
      ("note/append", ["id": id, "text": "more", "requestKey": "k3"]),
      ("note/setText", ["id": id, "text": "other", "requestKey": "k4"]),
      ("note/move", ["id": id, "index": 1, "requestKey": "k5"]),
      ("note/delete", ["id": id, "requestKey": "k6"]),
      ("note/restore", ["id": id, "requestKey": "k7"]),
      ("notebook/merge", ["changes": .string(changes), "requestKey": "k8"]),
      ("note/change", change),
    ]
    var results: [String] = []
    for (method, params) in requests { results.append(try server.call(method, params).written) }
    let revision = try server.call("notebook/status")["revision"]!.string!
    for (index, (method, params)) in requests.enumerated().reversed() {
      #expect(try server.call(method, params).written == results[index], "\(method)")
    }
    #expect(try server.call("notebook/status")["revision"]!.string == revision)
    // An error is not remembered: the request did not happen.
    let wrong: JSON = ["id": "nothing", "text": "x", "requestKey": "k10"]
    #expect(try server.error("note/append", wrong).code == -32803)
    try server.call("note/append", wrong.with("id", id))
  }

  @Test
  func `Ten thousand request keys are remembered`() throws {
    let server = try server()
    try server.initialize()
    let first = try server.call("note/create", ["title": "one", "requestKey": "first"])
    let id = JSON.string(first["note"]!["id"]!.string!)
    var last = 0
    for number in 1..<10_000 {
      last = try server.post("note/restore", ["id": id, "requestKey": .string("\(number)")])
    }
    _ = try server.result(of: last)
    let again = try server.call("note/create", ["title": "one", "requestKey": "first"])
    #expect(again.written == first.written)
    #expect(try server.call("notebook/list")["notes"]?.array?.count == 1)
  }
}
