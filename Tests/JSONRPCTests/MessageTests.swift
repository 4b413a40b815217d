import JSONRPC
import TestSupport
import Testing

@Suite
struct `A message` {
  private func message(_ text: String) throws(Message.Refusal) -> Message {
    try Message(Array(text.utf8))
  }

  @Test(
    arguments: [
      ("1", .integer(1)), ("-7", .integer(-7)), ("2.0", .integer(2)), ("\"\"", .string("")),
      ("\"a\"", .string("a")), ("\"1\"", .string("1")), ("9223372036854775807", .integer(Int.max)),
    ] as [(String, RequestID)])
  func `with an id is a request`(written: String, expected: RequestID) throws {
    let text = #"{"method":"m","params":{"x":1},"id":\#(written),"jsonrpc":"2.0","more":[]}"#
    guard case .request(let id, "m", let params) = try message(text) else {
      Issue.record("no request: \(text)")
      return
    }
    #expect(id == expected)
    #expect(params["x"]?.integer == 1)
  }

  @Test func `without an id is a notification`() throws {
    let text = #"{"jsonrpc":"2.0","method":"exit","params":{"x":1}}"#
    guard case .notification("exit", let params) = try message(text) else {
      Issue.record("no notification")
      return
    }
    #expect(params["x"]?.integer == 1)
  }

  @Test(arguments: ["", #","params":null"#, #","params":[]"#, #","params":[ ]"#, #","params":{}"#])
  func `has an empty object as params when there are none`(params: String) throws {
    guard
      case .request(_, _, let value) = try message(
        #"{"jsonrpc":"2.0","method":"m","id":1\#(params)}"#)
    else {
      Issue.record("no request")
      return
    }
    #expect(value.kind == .object)
    #expect(value.members.isEmpty)
    #expect(value.rawBytes.elementsEqual("{}".utf8))
  }

  @Test(arguments: ["1", "\"x\"", "true", "[1]", "[[]]"])
  func `with params that are no object is refused, a notification taken without them`(
    params: String
  ) throws {
    let refusal = #expect(throws: Message.Refusal.self) {
      try message(#"{"jsonrpc":"2.0","method":"m","id":"a","params":\#(params)}"#)
    }
    #expect(refusal?.id == .string("a"))
    #expect(refusal?.error.code == -32602)
    #expect(refusal?.error.message.hasPrefix("params") == true)
    guard
      case .notification("exit", let value) = try message(
        #"{"jsonrpc":"2.0","method":"exit","params":\#(params)}"#)
    else {
      Issue.record("no notification")
      return
    }
    #expect(value.members.isEmpty)
  }

  @Test(arguments: [
    #"{"jsonrpc":"2.0","id":1,"result":null}"#, #"{"jsonrpc":"2.0","id":1,"result":[]}"#,
    #"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#, #"{"id":1,"result":1}"#,
  ])
  func `with a result or an error is a response, and never answered`(text: String) throws {
    guard case .response = try message(text) else {
      Issue.record("no response: \(text)")
      return
    }
  }

  @Test(
    arguments: [
      ("", -32700, nil), ("{", -32700, nil), ("{\"jsonrpc\":\"2.0\",}", -32700, nil),
      ("\u{FEFF}{}", -32700, nil),
      (#"{"jsonrpc":"2.0","id":1,"method":"a"} x"#, -32700, nil),
      (#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"text":"\ud83d"}}"#, -32700, .integer(1)),
      (
        #"{"params":{"a":["\uDC00\uDC00\\uD800"]},"id":"x\ud800","jsonrpc":"2.0","method":"a"}"#,
        -32700, nil
      ),
      (#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"text":"\ud83d"}"#, -32700, nil),
      (#"{"jsonrpc":"2.0","id":1.5,"method":"a","params":{"text":"\ud83d"}}"#, -32700, nil),
      (#"{"jsonrpc":"2.0","id":"x","params":"\uDC00\uDC00\\uD800"}"#, -32700, .string("x")),
      ("[]", -32600, nil), (#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, -32600, nil),
      ("1", -32600, nil), ("\"a\"", -32600, nil), ("null", -32600, nil), ("{}", -32600, nil),
      (#"{"jsonrpc":"2.0"}"#, -32600, nil), (#"{"jsonrpc":"2.0","id":4}"#, -32600, .integer(4)),
      (#"{"method":"m","id":4}"#, -32600, .integer(4)), (#"{"method":"m"}"#, -32600, nil),
      (#"{"jsonrpc":"1.0","method":"m","id":"x"}"#, -32600, .string("x")),
      (#"{"jsonrpc":2.0,"method":"m","id":4}"#, -32600, .integer(4)),
      (#"{"jsonrpc":"2.0","method":1,"id":4}"#, -32600, .integer(4)),
      (#"{"jsonrpc":"2.0","method":null,"id":4}"#, -32600, .integer(4)),
      (#"{"jsonrpc":"2.0","method":1}"#, -32600, nil),
      (#"{"jsonrpc":"2.0","method":"m","id":null}"#, -32600, nil),
      (#"{"jsonrpc":"2.0","method":"m","id":1.5}"#, -32600, nil),
      (#"{"jsonrpc":"2.0","method":"m","id":{}}"#, -32600, nil),
      (#"{"jsonrpc":"2.0","method":"m","id":[]}"#, -32600, nil),
      (#"{"jsonrpc":"2.0","method":"m","id":true}"#, -32600, nil),
      (#"{"jsonrpc":"2.0","method":"m","id":9223372036854775808}"#, -32600, nil),
      (#"{"jsonrpc":"2.0","method":"m","id":"a\u0000"}"#, -32600, nil),
    ] as [(String, Int, RequestID?)])
  func `that is wrong is refused with the right code and id`(
    text: String, code: Int, id: RequestID?
  ) {
    let refusal = #expect(throws: Message.Refusal.self) { try message(text) }
    #expect(refusal?.error.code == code)
    #expect(refusal?.id == id)
    #expect(refusal?.error.message.isEmpty == false)
  }

  @Test func `that is no JSON is refused with the place and the reason`() {
    let refusal = #expect(throws: Message.Refusal.self) { try message("{\"a\":}") }
    #expect(refusal?.error.message.contains("byte 5") == true)
    #expect(refusal?.error.message.contains("a value") == true)
  }

  @Test func `of a million brackets is refused`() {
    let refusal = #expect(throws: Message.Refusal.self) {
      try message(String(repeating: "[", count: 1_000_000))
    }
    #expect(refusal?.error.code == -32700)
  }
}
