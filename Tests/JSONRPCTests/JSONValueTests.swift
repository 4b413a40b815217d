import JSONRPC
import TestSupport
import Testing

private func parse(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

@Suite
struct `A JSON value` {
  @Test func `knows its kind`() throws {
    let kinds: [(String, JSONValue.Kind)] = [
      ("null", .null), ("true", .boolean), ("false", .boolean), ("-1", .number), ("0", .number),
      ("\"\"", .string), ("[]", .array), ("{}", .object), (" \t\r\n[ ] \n", .array),
    ]
    for (text, kind) in kinds {
      let value = try parse(text)
      #expect(value.kind == kind, "\(text)")
      #expect(value.isNull == (kind == .null))
      #expect((value.boolean != nil) == (kind == .boolean))
      #expect((value.integer != nil) == (kind == .number))
      #expect((value.double != nil) == (kind == .number))
      #expect((value.string != nil) == (kind == .string))
      #expect((value.utf8 != nil) == (kind == .string))
      #expect((value.array != nil) == (kind == .array))
      #expect(value["a"] == nil)
      #expect(value.members.isEmpty)
    }
    #expect(try parse("true").boolean == true)
    #expect(try parse("false").boolean == false)
  }

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("7", 7), ("-12", -12), ("3.0", 3), ("1e2", 100), ("1E+2", 100),
      ("100e-2", 1), ("0.5e1", 5), ("0.001e3", 1), ("-2.50e1", -25), ("0e999999999999999999999", 0),
      ("0.000e-5", 0), ("9223372036854775807", Int.max), ("-9223372036854775808", Int.min),
      ("9223372036854775807.000", Int.max), ("0.9223372036854775807e19", Int.max),
      ("1000000000000000000000e-20", 10), ("1e18", 1_000_000_000_000_000_000),
      ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1e19", nil), ("0.5", nil),
      ("1e-1", nil), ("-1.5", nil), ("18446744073709551616", nil), ("1e999999999999999999999", nil),
      ("1e-999999999999999999999", nil), ("10.01", nil), ("99999999999999999999", nil),
    ] as [(String, Int?)])
  func `gives exact integers and no others`(text: String, expected: Int?) throws {
    #expect(try parse(text).integer == expected)
  }

  @Test(arguments: seeds(200))
  func `gives the integers of a few digits that others give`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let digits = (0...random.below(21)).map { _ in String(random.below(10)) }.joined()
    let text = digits == "0" ? digits : String(digits.drop { $0 == "0" })
    if text.isEmpty { return }
    #expect(try parse(text).integer == Int(text))
    #expect(try parse("-\(text)").integer == Int("-\(text)"))
  }

  @Test func `tells whether it is a string, with escapes or without`() throws {
    for written in ["\"2.0\"", "\"2\\u002e0\"", "\"\\u0032.0\""] {
      #expect(try parse(written).isString("2.0"))
    }
    for written in ["\"2.00\"", "\"2.1\"", "\"\"", "2.0", "null", "[\"2.0\"]", "\"2\\u002e1\""] {
      #expect(!(try parse(written).isString("2.0")))
    }
    // Equal by their bytes, as names of members are.
    #expect(!(try parse("\"e\u{301}\"").isString("é")))
    #expect(!(try parse("\"\\u0065\\u0301\"").isString("é")))
  }

  @Test func `gives integers however many zeros they are written with`() throws {
    let zeros = String(repeating: "0", count: 100_000)
    #expect(try parse("5\(zeros)e-100000").integer == 5)
    #expect(try parse("0.\(zeros)5e100001").integer == 5)
    #expect(try parse("5.\(zeros)").integer == 5)
    #expect(try parse("5\(zeros)").integer == nil)
    #expect(try parse("5\(zeros)").double == nil)
  }

  @Test func `gives finite doubles only`() throws {
    #expect(try parse("0.1").double == 0.1)
    #expect(try parse("-2.5e-3").double == -0.0025)
    #expect(try parse("1e308").double == 1e308)
    #expect(try parse("1e309").double == nil)
    #expect(try parse("1e-999").double == 0)
  }

  @Test func `decodes every escape sequence`() throws {
    let value = try parse(#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00x""#)
    #expect(value.string == "\"\\/\u{8}\u{C}\n\r\tAé€😀x")
    #expect(value.utf8 == Array("\"\\/\u{8}\u{C}\n\r\tAé€😀x".utf8))
    #expect(try parse(#""\u0000""#).utf8 == [0])
    #expect(try parse("\"é中😀\"").string == "é中😀")
  }

  @Test func `finds members by the UTF-8 of their names, and the last of doubled ones`() throws {
    let value = try parse(
      #"{"a": 1, "b": {"a": 2}, "\u0063": [3, {"x": 4}], "a": 5, "é": 6, "": 7, "a\u0000": 8}"#)
    #expect(value["a"]?.integer == 5)
    #expect(value["b"]?["a"]?.integer == 2)
    #expect(value["c"]?.array?.count == 2)
    #expect(value["é"]?.integer == 6)
    #expect(value["e\u{301}"] == nil)
    #expect(value[""]?.integer == 7)
    #expect(value["x"] == nil)
    #expect(value["a\u{0}"]?.integer == 8)
    #expect(value.members.map(\.name) == ["a", "b", "c", "a", "é", "", "a\u{0}"])
    #expect(value.members.count == 7)
    let long = "aVeryLongNameThatDoesNotFitASmallString"
    #expect(try parse("{\"\(long)\": 1}")[long]?.integer == 1)
  }

  @Test func `steps over what is in its values`() throws {
    let value = try parse(#"[[1, [2, 3]], {"a": [4], "b": {}}, "five", 6, [], [[[]]]]"#)
    let array = try #require(value.array)
    #expect(array.count == 6)
    #expect(
      array.map(\.kind) == [.array, .object, .string, .number, .array, .array])
    #expect(
      array.map { String(decoding: $0.rawBytes, as: UTF8.self) } == [
        "[1, [2, 3]]", #"{"a": [4], "b": {}}"#, "\"five\"", "6", "[]", "[[[]]]",
      ])
    #expect(Array(array)[1]["b"]?.members.isEmpty == true)
  }

  @Test(arguments: [
    "", " ", "nul", "nulL", "True", "tru", "falsey", "+1", "01", "-", "-a", "1.", ".5", "1.e1",
    "1e",
    "1e+", "0x1", "00", "-01", "1 2", "NaN", "Infinity", "-Infinity", "[1,]", "[,1]", "[1 2]", "[",
    "]", "[}", "{]", "{", "}", "{a:1}", "{'a':1}", #"{"a"}"#, #"{"a" 1}"#, #"{"a":}"#, #"{"a":1,}"#,
    #"{,"a":1}"#, #"{"a":1 "b":2}"#, #"{1:2}"#, #"{"a":1]"#, "\"", #""\"#, #""\""#, #""\x""#,
    #""\u12""#, #""\u12G4""#, #""\uD800""#, #""\uD800x""#, #""\uD800\n""#, #""\uDC00""#,
    #""\uD800\uD800""#, #""\uD800\u0041""#, #""\uDC00\uDC00""#, #""\uDFFF\uDFFF""#, "\"\n\"",
    "\"\t\"", "\"\u{0}\"", "\"\u{1F}\"",
    "\u{FEFF}1", "1\u{FEFF}", "1\u{0}", "/* */1", "1//", "\u{A0}1", "\u{B}1", "\u{C}1", "'a'",
    "[1]]",
    "{}{}", "null,", "\u{2028}1",
  ])
  func `is not made of what is no JSON`(text: String) {
    #expect(throws: JSONError.self, "\(text)") { try parse(text) }
  }

  @Test func `refuses invalid UTF-8 in strings`() {
    let invalid: [[UInt8]] = [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x22], [0xC2, 0xC2],
      [0xE0, 0x80, 0x80],
      [0xE0, 0x9F, 0xBF], [0xE1, 0x80], [0xE1, 0x80, 0xC0], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
      [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF1, 0x80, 0x80],
      [0xF1, 0x80, 0x80, 0x00],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    ]
    for sequence in invalid {
      for padding in [0, 1, 15, 31, 32, 33, 64] {
        let quoted = [0x22] + [UInt8](repeating: 0x61, count: padding) + sequence + [0x22]
        #expect(throws: JSONError.self, "\(sequence)") { try JSONValue(parsing: quoted) }
      }
    }
  }

  @Test func `accepts every Unicode scalar as it is`() throws {
    var text: [UInt8] = [0x22]
    var expected: [UInt8] = []
    for value in UInt32(0x20)...0x10FFFF where value != 0x22 && value != 0x5C {
      guard let scalar = Unicode.Scalar(value) else { continue }
      expected.append(contentsOf: UTF8.encode(scalar)!)
    }
    text += expected
    text.append(0x22)
    #expect(try JSONValue(parsing: text).utf8 == expected)
  }

  @Test func `accepts every escaped code unit, surrogates in pairs only`() throws {
    func escaped(_ unit: Int) -> String {
      "\\u" + String(repeating: "0", count: 4 - String(unit, radix: 16).count)
        + String(unit, radix: 16)
    }
    for unit in 0...0xFFFF {
      let value = try? parse("\"" + escaped(unit) + "\"")
      let expected = Unicode.Scalar(UInt16(unit)).map { String($0) }
      if value?.string != expected { Issue.record("U+\(String(unit, radix: 16))") }
    }
    for scalar: Unicode.Scalar in ["\u{10000}", "\u{1F600}", "\u{FFFFF}", "\u{10FFFF}"] {
      let pair = String(scalar).utf16.map { escaped(Int($0)) }.joined()
      #expect(try parse("\"" + pair + "\"").string == String(scalar))
    }
  }

  @Test func `says where the error is`() {
    let errors = [
      ("[1, x]", 4), ("{\"a\" 1}", 5), ("[1", 2), ("\"ab", 0), ("[\"a\u{1}\"]", 3), ("1 2", 2),
      ("", 0),
      ("[\"\\q\"]", 2),
    ]
    for (text, offset) in errors {
      let error = #expect(throws: JSONError.self) { try parse(text) }
      #expect(error?.offset == offset, "\(text)")
      #expect(error?.reason.isEmpty == false)
    }
  }

  @Test func `is never a document cut off anywhere`() throws {
    let text = #"{"a": [1.5e+3, "x\n\ud83d\ude00é"], "b": {"c": [true, false, null, [[]], {}]}}"#
    let bytes = Array(text.utf8)
    _ = try JSONValue(parsing: bytes)
    for length in 0..<bytes.count {
      #expect(throws: JSONError.self) { try JSONValue(parsing: Array(bytes[..<length])) }
    }
  }
}

@Suite
struct `The limits of a JSON document` {
  private func nested(_ depth: Int, _ open: String, _ inside: String, _ close: String) -> String {
    String(repeating: open, count: depth) + inside + String(repeating: close, count: depth)
  }

  @Test func `nesting is limited, not to say fatal`() throws {
    for (open, inside, close) in [("[", "", "]"), ("{\"a\":", "1", "}"), ("[{\"a\":", "1", "}]")] {
      let levels = open.hasPrefix("[{") ? 2 : 1
      _ = try parse(nested(128 / levels, open, inside, close))
      #expect(throws: JSONError.self) { try parse(nested(130 / levels, open, inside, close)) }
    }
    let error = #expect(throws: JSONError.self) { try parse(nested(1_000_000, "[", "", "")) }
    #expect(error?.offset == 128)
    let deep = try JSONValue(
      parsing: Array(nested(200_000, "[", "", "]").utf8), maximumDepth: 200_000)
    #expect(deep.array?.count == 1)
    #expect(throws: JSONError.self) { try JSONValue(parsing: [0x5B, 0x5D], maximumDepth: 0) }
    #expect(throws: JSONError.self) { try JSONValue(parsing: [0x5B, 0x5D], maximumDepth: -1) }
  }

  @Test func `values and names are counted`() throws {
    let text = Array(#"{"a": [1, 2], "b": null}"#.utf8)  // an object, 2 names, 4 values
    _ = try JSONValue(parsing: text, maximumValues: 7)
    for limit in [6, 1, 0, -1] {
      #expect(throws: JSONError.self) { try JSONValue(parsing: text, maximumValues: limit) }
    }
  }

  @Test func `many siblings are no depth`() throws {
    let text = "[" + Array(repeating: "[]", count: 10_000).joined(separator: ",") + "]"
    #expect(try parse(text).array?.count == 10_000)
    #expect(try parse(text).array?.reduce(0) { count, _ in count + 1 } == 10_000)
  }
}
