import JSONRPC
import Testing

@Suite
struct `An outbox` {
  private func text(_ outbox: Outbox) -> String { String(decoding: outbox.unsent, as: UTF8.self) }

  @Test func `frames with a header`() {
    var outbox = Outbox(framing: .contentLength)
    outbox.respond(to: .integer(7)) { $0.string("é") }
    #expect(
      text(outbox) == "Content-Length: 38\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"é\"}")
  }

  @Test func `frames in lines, whatever the values hold`() {
    var outbox = Outbox(framing: .lines)
    outbox.respond(to: .string("a\n")) { $0.raw("[\n1,\r\n\"\\n\"]".utf8) }
    outbox.notify("n") {
      $0.beginObject()
      $0.key("text")
      $0.string("x\ny\r\n")
      $0.endObject()
    }
    #expect(
      text(outbox) == """
        {"jsonrpc":"2.0","id":"a\\n","result":[ 1,  "\\n"]}
        {"jsonrpc":"2.0","method":"n","params":{"text":"x\\ny\\r\\n"}}

        """)
  }

  @Test func `sends answers that were gathered as one batch`() {
    var answers = Outbox(framing: .lines)
    answers.respond(to: .string("a\n")) { $0.string("x\ny") }
    answers.respond(to: nil, error: .parseError("no"))
    let batch =
      #"[{"jsonrpc":"2.0","id":"a\n","result":"x\ny"},"#
      + #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}]"#
    var outbox = Outbox(framing: .lines)
    outbox.append(batch: answers)
    #expect(text(outbox) == batch + "\n")
    outbox = Outbox(framing: .contentLength)
    outbox.append(batch: answers)
    #expect(text(outbox) == "Content-Length: \(batch.utf8.count)\r\n\r\n\(batch)")
  }

  @Test func `writes errors with and without an id and a reason`() {
    var outbox = Outbox(framing: .lines)
    outbox.respond(to: nil, error: .parseError("no"))
    outbox.respond(to: .integer(1), error: .requestFailed("noSuchNote", "There is no note x."))
    #expect(
      text(outbox) == """
        {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}
        {"jsonrpc":"2.0","id":1,"error":{"code":-32803,"message":"There is no note x.",\
        "data":{"reason":"noSuchNote"}}}

        """)
  }

  @Test func `writes a whole message even if nothing is written for it`() {
    var outbox = Outbox(framing: .lines)
    outbox.respond(to: .integer(1)) { _ in }
    outbox.notify("n") { _ in }
    #expect(
      text(outbox) == """
        {"jsonrpc":"2.0","id":1,"result":null}
        {"jsonrpc":"2.0","method":"n","params":{}}

        """)
  }

  @Test func `never holds U+0000`() {
    var outbox = Outbox(framing: .lines)
    outbox.respond(to: .string("\u{0}")) { $0.raw(#"["\u0000"]"#.utf8) }
    outbox.respond(to: nil, error: .requestFailed("\u{0}", "\u{0}"))
    outbox.notify("\u{0}") { $0.string("\u{0}") }
    #expect(!outbox.unsent.contains(0))
    #expect(!text(outbox).contains("\\u0000"))
  }

  @Test func `gives what is left when part is sent`() {
    var outbox = Outbox(framing: .contentLength)
    #expect(outbox.isEmpty)
    var expected: [UInt8] = []
    for number in 0..<2000 {
      let body = "{\"jsonrpc\":\"2.0\",\"id\":\(number),\"result\":null}"
      expected += "Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8
      outbox.respond(to: .integer(number)) { $0.null() }
    }
    #expect(outbox.count == expected.count)
    var sent: [UInt8] = []
    var size = 1
    while !outbox.isEmpty {
      let piece = outbox.unsent.prefix(size)
      sent += piece
      outbox.removeFirst(piece.count)
      size = size % 977 + 1
    }
    #expect(sent == expected)
    outbox.removeFirst(5)
    outbox.removeFirst(-5)
    #expect(outbox.count == 0)
  }

  @Test(arguments: [Framing.contentLength, .lines, .automatic])
  func `writes what a decoder reads`(framing: Framing) throws {
    var outbox = Outbox(framing: framing)
    for number in 0..<50 {
      outbox.respond(to: .integer(number)) { $0.string(String(repeating: "\n", count: number)) }
    }
    var decoder = FrameDecoder()
    decoder.append(outbox.unsent)
    for number in 0..<50 {
      guard case .message(let bytes) = decoder.next() else {
        Issue.record("no message")
        return
      }
      let value = try JSONValue(parsing: bytes)
      #expect(value["id"]?.integer == number)
      #expect(value["result"]?.utf8?.count == number)
    }
    #expect(decoder.isAtBoundary)
  }
}

@Suite
struct `A response error` {
  @Test func `has the code of its kind`() {
    let errors: [(ResponseError, Int)] = [
      (.parseError(""), -32700), (.invalidRequest(""), -32600), (.methodNotFound("a"), -32601),
      (.invalidParams("a", "b"), -32602), (.internalError(""), -32603),
      (.serverNotInitialized, -32002), (.requestCancelled, -32800), (.contentModified, -32801),
      (.contentModified("a"), -32801), (.requestFailed("a", "b"), -32803),
    ]
    for (error, code) in errors { #expect(error.code == code) }
  }

  @Test func `names the field, the method and the reason`() {
    #expect(ResponseError.invalidParams("id", "must be a string").message == "id: must be a string")
    #expect(ResponseError.methodNotFound("note/fly").message.contains("note/fly"))
    let long = ResponseError.methodNotFound(String(repeating: "m", count: 1_000_000))
    #expect(long.message.utf8.count < 200)
    #expect(ResponseError.requestFailed("diskFull", "x").reason == "diskFull")
  }
}
