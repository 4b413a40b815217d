import Testing

@testable import JSONRPC

@Suite("Bytes, eight at a time")
struct ByteWordTests {
  /// Few different bytes, and those of which a borrow could make a wrong mark: next to a limit, and with the highest bit.
  private func bytes(_ count: Int, _ random: inout Generator) -> [UInt8] {
    let few: [UInt8] = [
      0x00, 0x01, 0x0A, 0x0B, 0x1F, 0x20, 0x22, 0x5C, 0x5D, 0x7F, 0x80, 0x8A, 0xFF,
    ]
    return (0..<count).map { _ in random.pick(few) }
  }

  @Test(arguments: UInt64(1)...20)
  func `the first byte of a kind is where it is when one looks at each`(seed: UInt64) {
    var random = Generator(seed: seed)
    for _ in 0..<2000 {
      let bytes = bytes(Int.random(in: 0..<40, using: &random), &random)
      let start = Int.random(in: 0...bytes.count, using: &random)
      let wanted = random.pick([0x00, 0x0A, 0x22, 0x5C, 0x80, 0xFF] as [UInt8])
      #expect(
        bytes.span.firstIndex(of: wanted, from: start) == bytes[start...].firstIndex(of: wanted))
      guard bytes.count >= 8 else { continue }
      let word = ByteWord(bytes.span, at: 0)
      func first(_ isOne: (UInt8) -> Bool) -> Int { bytes.prefix(8).firstIndex(where: isOne) ?? 8 }
      let limit = random.pick([0x01, 0x20, 0x7F, 0x80] as [UInt8])
      #expect(ByteWord.countBefore(word.marks(below: limit)) == first { $0 < limit })
      #expect(ByteWord.countBefore(word.marks(of: wanted)) == first { $0 == wanted })
      #expect(ByteWord.countBefore(word.marksBeyondASCII) == first { $0 >= 0x80 })
      var copy = [UInt8](repeating: 7, count: 10)
      var span = copy.mutableSpan
      word.store(into: &span, at: 1)
      #expect(copy == [7] + bytes.prefix(8) + [7])
    }
  }

  @Test func `a string is the same wherever in a word its escape sequences stand`() throws {
    for before in 0..<20 {
      for after in 0..<20 {
        let (head, tail) = (
          String(repeating: "a", count: before), String(repeating: "b", count: after)
        )
        for (written, meant) in [
          ("\\n", "\n"), ("\\u0041", "A"), ("\\ud83d\\ude00", "\u{1F600}"), ("\\\\", "\\"),
          ("\\\"", "\""), ("é", "é"), ("\\u0000", "\0"),
        ] {
          let value = try JSONValue(parsing: Array("\"\(head)\(written)\(tail)\(written)\"".utf8))
          #expect(value.string == head + meant + tail + meant)
        }
        for wrong in ["\n", "\u{1F}", "\\x", "\""] {
          #expect(throws: JSONError.self) {
            try JSONValue(parsing: Array("\"\(head)\(wrong)\(tail)\"".utf8))
          }
        }
      }
    }
  }
}
