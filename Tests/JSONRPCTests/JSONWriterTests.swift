import JSONRPC
import TestSupport
import Testing

private func written(_ write: (inout JSONWriter) -> Void) -> String {
  var writer = JSONWriter()
  write(&writer)
  return String(decoding: writer.bytes, as: UTF8.self)
}

@Suite
struct `A JSON writer` {
  @Test func `puts commas and colons where they belong`() {
    let text = written {
      $0.beginObject()
      $0.key("a")
      $0.beginArray()
      $0.integer(-1)
      $0.beginArray()
      $0.endArray()
      $0.beginObject()
      $0.endObject()
      $0.null()
      $0.endArray()
      $0.key("b")
      $0.boolean(true)
      $0.key("c")
      $0.raw(Array("[1,2]".utf8))
      $0.key("d")
      $0.string("x")
      $0.endObject()
    }
    #expect(text == #"{"a":[-1,[],{},null],"b":true,"c":[1,2],"d":"x"}"#)
  }

  @Test func `writes whole numbers`() {
    for number in [0, 1, -1, 9, 10, -10, 99, 1_000_000, Int.max, Int.min] {
      #expect(written { $0.integer(number) } == String(number))
    }
    for number: UInt64 in [0, 9, 10, .max] {
      #expect(written { $0.unsigned(number) } == String(number))
    }
  }

  @Test func `escapes what must be, and nothing else`() {
    #expect(written { $0.string("\"\\/\n\t\r\u{8}\u{C}") } == #""\"\\/\n\t\r\b\f""#)
    #expect(written { $0.string("\u{1}\u{B}\u{1A}\u{1F}") } == #""\u0001\u000b\u001a\u001f""#)
    #expect(written { $0.string("é\u{7F}\u{2028}\u{2029}😀") } == "\"é\u{7F}\u{2028}\u{2029}😀\"")
    #expect(written { $0.key("a\"b") } == #""a\"b":"#)
  }

  @Test func `writes U+0000 as a replacement character`() {
    #expect(written { $0.string("a\u{0}b") } == "\"a\u{FFFD}b\"")
    #expect(written { $0.raw(#""a\u0000\\u0000\\\u0000""#.utf8) } == #""a\ufffd\\u0000\\\ufffd""#)
    #expect(written { $0.raw(#""\u000"#.utf8) } == #""\u000"#)
  }

  @Test func `writes a raw value in one line`() {
    #expect(written { $0.raw("{\r\n \"a\\n\" : [\n1\t]\n}".utf8) } == "{   \"a\\n\" : [ 1 ] }")
  }

  @Test func `writes the same from text, bytes, slices and other collections`() {
    let text = "line\nline \"two\"\\ é\u{1}"
    let bytes = Array(text.utf8)
    let expected = written { $0.string(text) }
    #expect(written { $0.string(utf8: bytes) } == expected)
    #expect(written { $0.string(utf8: ([0] + bytes)[1...]) } == expected)
    #expect(written { $0.string(utf8: text.utf8) } == expected)
  }

  @Test func `sees what must be escaped at every place of a block`() throws {
    for length in 0..<100 {
      for place in 0...length {
        for special in ["\"", "\\", "\u{1F}", "\n", "é", "\u{7F}"] {
          let text =
            String(repeating: "a", count: place) + special
            + String(repeating: "b", count: length - place)
          let json = Array(written { $0.string(text) }.utf8)
          if try JSONValue(parsing: json).string != text { Issue.record("\(length), \(place)") }
          guard special == "\n" else { continue }
          let unescaped = Array("\"\(text)\"".utf8)
          let error = #expect(throws: JSONError.self) { try JSONValue(parsing: unescaped) }
          if error?.offset != place + 1 { Issue.record("\(length), \(place)") }
        }
      }
    }
  }

  @Test func `gives back all of Unicode through the parser`() throws {
    var text = ""
    for value in UInt32(1)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      text.unicodeScalars.append(scalar)
    }
    let parsed = try JSONValue(parsing: Array(written { $0.string(text) }.utf8))
    #expect(parsed.utf8 == Array(text.utf8))
  }

  @Test(arguments: UInt64(1)...3)
  func `gives back any text through the parser`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let pieces = [
      "a", "plain text of some length, more than a block", "\n", "\"", "\\", "\u{1}", "é", "😀",
    ]
    for round in 0..<500 {
      let text = (0..<Int.random(in: 0..<20, using: &generator)).map { _ in generator.pick(pieces) }
        .joined()
      var writer = JSONWriter()
      writer.beginArray()
      writer.string("before")
      writer.string(text)
      writer.string("after")
      writer.endArray()
      let array = try #require(try JSONValue(parsing: writer.bytes).array)
      #expect(array.map(\.string) == ["before", text, "after"], "seed \(seed), round \(round)")
    }
  }

  @Test(arguments: UInt64(1)...3)
  func `writes any document so that it parses to the same again`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    for round in 0..<300 {
      let first = try JSONValue(parsing: Array(generator.document().utf8))
      var writer = JSONWriter()
      write(first, to: &writer)
      var again = JSONWriter()
      write(try JSONValue(parsing: writer.bytes), to: &again)
      #expect(writer.bytes == again.bytes, "seed \(seed), round \(round)")
    }
  }

  private func write(_ value: JSONValue, to writer: inout JSONWriter) {
    switch value.kind {
    case .null: writer.null()
    case .boolean: writer.boolean(value.boolean!)
    case .number: if let number = value.integer { writer.integer(number) } else { writer.null() }
    case .string: writer.string(value.string!)
    case .array:
      writer.beginArray()
      for value in value.array! { write(value, to: &writer) }
      writer.endArray()
    case .object:
      writer.beginObject()
      for (name, value) in value.members {
        writer.key(name)
        write(value, to: &writer)
      }
      writer.endObject()
    }
  }
}
