import Foundation
import JSONRPC
import TestSupport
import Testing

/// What a client sends that is out of order or out to break something. The program answers with an error or closes in order;
/// it never dies by a signal, and its memory is bounded.
@Suite(.waitingLong, .tags(.slow))
struct `Hostile input` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  private func server(_ delimiter: Delimiter = .headers) throws -> Server {
    let server = try Server(folder("notes"), delimiter: delimiter)
    try server.initialize()
    return server
  }

  private func expectModestMemory(_ server: Server, _ what: String) {
    guard let peak = server.peakMemory else { return }
    #expect(peak < 400 << 20, "\(what): \(peak >> 20) MiB")
  }

  @Test(
    arguments: [
      "Content-Length: -1\r\n\r\n", "Content-Length: 1000000000000000000000000000000\r\n\r\n",
      "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "Content-Type: x\r\n\r\n{}",
      "Content-Length: two\r\n\r\n{}", "Content-Length: \r\n\r\n", "Content-Length: 0x10\r\n\r\n",
      "Content-Length: 1 2\r\n\r\n", "Content-Length: +2\r\n\r\n{}", "\r\n\r\n", ": 5\r\n\r\n",
      "no colon\r\n\r\n", "\u{0}\u{1}\u{2}\n\n", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ])
  func `A header that can't be relied on is answered, and ends the process`(_ header: String) throws
  {
    let server = try server()
    try server.write(header)
    #expect(try server.waitForEnd() == .status(1))
    #expect(server.anonymous.count == 1)
    #expect(server.anonymous.first?["error"]?.code == -32700)
  }

  @Test
  func `A header that never ends is given up`() throws {
    for filler in ["a", "A: b\r\n"] {
      let server = try server()
      try? server.write(Array(String(repeating: filler, count: 20_000).utf8))
      #expect(try server.waitForEnd() == .status(1))
      #expect(server.anonymous.first?["error"]?.code == -32700)
    }
  }

  /// A program that answers, closes its output and does not read has its answer read, up to the end, while the client still writes.
  @Test
  func `An answer that comes while the client still writes is not lost`() throws {
    let answer = #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no header"}}"#
    let server = try Server(
      nil,
      shell:
        "printf 'Content-Length: \(answer.utf8.count)\r\n\r\n%s' '\(answer)'; exec >&-; sleep 0.2")
    try? server.write([UInt8](repeating: 0x61, count: 1 << 20))
    #expect(try server.waitForEnd() == .status(0))
    #expect(server.anonymous.first?["error"]?.code == -32700)
  }

  @Test
  func `A length beyond the limit is refused without waiting for it, and costs nothing`() throws {
    let server = try server()
    try server.write("Content-Length: 1000000000000000000\r\n\r\n")
    let deadline = Deadline()
    while server.anonymous.isEmpty, !deadline.isOver { _ = try server.receive() }
    #expect(server.anonymous.first?["error"]?.code == -32600)
    try server.write([UInt8](repeating: 0x78, count: 1 << 22))
    expectModestMemory(server, "10^18")
    server.closeInput()
    #expect(try server.waitForEnd() == .status(1))
  }

  @Test
  func `A message of no bytes is refused, and the next one answered`() throws {
    let server = try server()
    try server.write("Content-Length: 0\r\n\r\n")
    try server.call("notebook/list")
    #expect(server.anonymous.first?["error"]?.code == -32700)
  }

  @Test(
    arguments: [
      "Content-Le", "Content-Length: 10\r\n", "Content-Length: 10\r\n\r\n", "\r",
      "Content-Length: 100\r\n\r\n{\"jsonrpc\":", "Content-Length: 2\r\n\r\n{",
    ])
  func `An input that ends in the middle is an orderly end`(_ text: String) throws {
    let server = try server()
    try server.write(text)
    server.closeInput()
    #expect(try server.waitForEnd() == .status(1))
  }

  @Test(arguments: Delimiter.allCases)
  func `What is no JSON is refused, and the next message answered`(_ delimiter: Delimiter) throws {
    let server = try server(delimiter)
    let bad: [[UInt8]] = [
      "{", "}", "{]", "[1,]", "{\"a\":1,}", "{'a':1}", "nul", "tru", "\"", "\"\\", "\"\\u12\"",
      "\"\\x\"", "01", "1.", "-", "1e", "+1", "NaN", "Infinity", "{}{}", "{} x", "// x\n{}",
      "\u{FEFF}{}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\tb\"}", "{\"a\":\"\\ud800\"}",
      "{\"a\":\"\\udc00\\ud800\"}", "{\"a\":\"\\ud800\\u0041\"}", "{\"a\" 1}", "{1:2}", "[1 2]",
    ].map { Array($0.replacingOccurrences(of: "\n", with: " ").utf8) }
    let notUTF8: [[UInt8]] = [
      [0x80], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0xFF], [0xC3], [0xF0, 0x9F, 0x98],
    ]
    let wrapped = notUTF8.map { [0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22] + $0 + [0x22, 0x7D] }
    for message in bad + notUTF8 + wrapped {
      try server.write(delimiter.frame(message))
      try server.call("notebook/status")
      let text = String(decoding: message, as: UTF8.self)
      #expect(server.anonymous.popLast()?["error"]?.code == -32700, "\(text)")
      #expect(server.anonymous.isEmpty)
    }
    try server.leave()
  }

  @Test
  func `Text that is no Unicode, or holds U+0000, gets nowhere`() throws {
    let server = try server()
    let id = try server.call("note/create", [:])["note"]!["id"]!.written
    for text in [#""\ud800""#, #""a\udfff""#, #""\uD83D\uD83D""#] {
      for field in ["text", "title"] {
        #expect(try server.error("note/create", .object([(field, .raw(text))])).code == -32700)
      }
    }
    #expect(server.anonymous.isEmpty)
    for params in [
      #"{"text":"\u0000"}"#, #"{"title":"a\u0000"}"#, #"{"tags":["\u0000x"]}"#,
    ] {
      #expect(try server.error("note/create", .raw(params)).code == -32602)
    }
    for (method, params) in [
      ("note/get", #"{"id":"\u0000"}"#), ("note/get", #"{"id":"\#u{7f}\u0001\"\\"}"#),
      ("note/setText", #"{"id":\#(id),"text":"","base":"\u0000"}"#),
    ] {
      let error = try server.error(method, .raw(params))
      #expect([-32602, -32803].contains(error.code))
    }
    #expect(try server.error("a\u{0}b").code == -32601)
    // The longest and the oddest that is right goes through.
    let text = "\u{1}\u{8}\t\r\r\n\u{1F}\u{7F}\u{80}\u{2028}\u{FEFF}\u{FFFE}\u{10FFFF}\"\\/"
    let note = try server.call("note/create", ["text": .string(text)])["note"]!["id"]!
    let back = try server.call("note/get", ["id": .raw(note.written)])["text"]!
    #expect(back.utf8 == Array(text.utf8))
  }

  @Test(
    arguments: ["[", "{\"a\":", "[{\"a\":"])
  func `A million open brackets cost an error, not the stack`(_ opening: String) throws {
    let server = try server()
    let message = Array(String(repeating: opening, count: 1_000_000).utf8)
    try server.write(Delimiter.headers.frame(message))
    try server.call("notebook/status")
    #expect(server.anonymous.popLast()?["error"]?.code == -32700)
    expectModestMemory(server, opening)
    try server.leave()
  }

  @Test
  func `Nesting is allowed up to 128 levels`() throws {
    let server = try server()
    for (depth, isAllowed) in [(100, true), (126, true), (129, false), (5000, false)] {
      // The message and its params are two of the levels.
      let value = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      let params = JSON.raw("{\"x\":\(value)}")
      try server.send(.request("n", "notebook/list", params))
      try server.call("notebook/status")
      #expect((server.anonymous.popLast() == nil) == isAllowed, "\(depth)")
    }
    try server.leave()
  }

  @Test(
    arguments: [
      ("numbers", "1,"), ("objects", "{},"), ("strings", "\"\","), ("nested", "[[[[[[[[1]]]]]]]],"),
    ])
  func `Many small values in a message cost bounded memory`(_ name: String, _ value: String) throws
  {
    let server = try server()
    let size = isLong || name == "numbers" ? 16 << 20 : 2 << 20
    let count = size / value.utf8.count
    let array = "[" + String(repeating: value, count: count).dropLast() + "]"
    for (method, params) in [
      ("notebook/list", "{\"x\":\(array)}"), ("notebook/list", "{\"tags\":\(array)}"),
    ] {
      try server.send(.request("n", method, .raw(params)))
      try server.call("notebook/status", within: 60)
      expectModestMemory(server, "\(name) for \(method)")
    }
    try server.leave()
  }

  @Test
  func `An object of a million members costs bounded memory and time`() throws {
    let server = try server()
    let members = (0..<800_000).map { "\"m\($0)\":0" }.joined(separator: ",")
    try server.send(.request("n", "note/create", .raw("{\(members)}")))
    try server.call("notebook/status")
    expectModestMemory(server, "members")
    try server.leave()
  }
}
