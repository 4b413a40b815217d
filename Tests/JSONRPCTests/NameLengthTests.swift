import JSONRPC
import TestSupport
import Testing

/// Lookups of members, held against a look at all of them.
@Suite struct `Members of an object` {
  private static let names = [
    "", "a", "b", "ab", "ba", "é", "lines", "bytes", "sha256",
    String(repeating: "n", count: 62), String(repeating: "n", count: 63),
    String(repeating: "n", count: 200),
  ]

  /// A name as it may be written: each letter as it is, or as an escape sequence.
  private static func written(_ name: String, _ random: inout SplitMix64) -> String {
    let isEscaped = random.chance(20)
    return name.unicodeScalars.map {
      guard isEscaped, $0.value < 0x10000 else { return String($0) }
      let digits = String($0.value, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }.joined()
  }

  /// The number that is a value, or stands first in it.
  private static func number(_ value: JSONValue) -> Int? {
    value.integer ?? (value["ab"] ?? value).array?.first { _ in true }?.integer
  }

  @Test(arguments: seeds(20))
  func `are found by their names, the last of each`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for step in 0..<100 {
      var expected: [String: Int] = [:]
      let members = (0..<random.below(8)).map { number in
        let name = random.pick(Self.names)
        expected[name] = number
        let value = random.pick(["%", "[%, {\"a\": 9}]", "{\"ab\": [%], \"lines\": 9}"])
          .replacing("%", with: "\(number)")
        return "\"\(Self.written(name, &random))\": \(value)"
      }
      let object = try JSONValue(parsing: Array("{\(members.joined(separator: ", "))}".utf8))
      let lengths = object.nameLengths
      for name in Self.names {
        #expect(object[name].flatMap(Self.number) == expected[name], at(seed, step))
        if expected[name] != nil { #expect(lengths.mayHave(name.utf8.count), at(seed, step)) }
      }
      let isLong = expected.keys.contains { $0.utf8.count >= 63 }
      if isLong || members.joined().contains("\\") { continue }
      for count in 0..<63 {
        let isThere = expected.keys.contains { $0.utf8.count == count }
        #expect(lengths.mayHave(count) == isThere, at(seed, step))
      }
    }
  }

  @Test func `has no names of members if it is none`() throws {
    for text in ["[\"a\"]", "1", "\"a\"", "null", "{}"] {
      let lengths = try JSONValue(parsing: Array(text.utf8)).nameLengths
      #expect((0..<100).allSatisfy { !lengths.mayHave($0) })
    }
  }

  @Test func `are what another writer has written, as it stands`() {
    var inner = JSONWriter()
    inner.beginObject()
    inner.member("a\n\"", "\u{0}\\")
    inner.endObject()
    var outer = JSONWriter()
    outer.beginArray()
    outer.written(inner.bytes)
    outer.written(inner.bytes)
    outer.integer(1)
    outer.endArray()
    let text = String(decoding: inner.bytes, as: UTF8.self)
    #expect(String(decoding: outer.bytes, as: UTF8.self) == "[\(text),\(text),1]")
  }
}
