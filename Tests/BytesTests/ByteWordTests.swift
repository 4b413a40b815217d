import Bytes
import Testing

@Suite
struct `Bytes, eight at a time` {
  /// Next to a limit, or with the highest bit: where a borrow could make a wrong mark.
  private static let odd: [UInt8] = [
    0x00, 0x01, 0x0A, 0x0B, 0x1F, 0x20, 0x22, 0x40, 0x41, 0x5A, 0x5B, 0x5C, 0x7F, 0x80, 0xC1, 0xFF,
  ]

  /// Words of two bytes and what stands around them, with every byte at every place.
  private func forEachWord(_ body: ([UInt8]) -> Void) {
    for rest in Self.odd {
      for byte in UInt8.min...UInt8.max {
        for place in 0..<8 {
          var bytes = [UInt8](repeating: rest, count: 8)
          bytes[place] = byte
          bytes[(place + 1) % 8] = Self.odd[(Int(byte) + place) % Self.odd.count]
          body(bytes)
        }
      }
    }
  }

  @Test func `the first byte of a kind is where it is when one looks at each`() {
    forEachWord { bytes in
      let word = ByteWord(bytes.span, at: 0)
      func first(_ isOne: (UInt8) -> Bool) -> Int { bytes.firstIndex(where: isOne) ?? 8 }
      for byte in [bytes[3], 0x00, 0x0A] {
        #expect(ByteWord.countBefore(word.marks(of: byte)) == first { $0 == byte })
      }
      for limit in [0x01, 0x20, 0x80] as [UInt8] {
        #expect(ByteWord.countBefore(word.marks(below: limit)) == first { $0 < limit })
      }
      #expect(ByteWord.countBefore(word.marksBeyondASCII) == first { $0 >= 0x80 })
    }
  }

  @Test func `fewer than eight bytes are those, and zeros`() {
    forEachWord { bytes in
      for count in 0...8 {
        let word = count < 8 ? ByteWord(bytes.span, at: 0, count: count) : nil
        let prefix = ByteWord(bytes.span, at: 0).prefix(count)
        var (written, expected) = ([UInt8](repeating: 1, count: 8), [UInt8](repeating: 0, count: 8))
        expected.replaceSubrange(..<count, with: bytes[..<count])
        for word in [word, prefix] {
          guard let word else { continue }
          var span = written.mutableSpan
          word.store(into: &span, at: 0)
          #expect(written == expected)
        }
      }
    }
  }

  @Test func `letters are in lower case, and all else is as it was`() {
    forEachWord { bytes in
      var lowered = [UInt8](repeating: 7, count: 10)
      var span = lowered.mutableSpan
      ByteWord(bytes.span, at: 0).lowercased.store(into: &span, at: 1)
      let expected = bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
      #expect(lowered == [7] + expected + [7])
    }
  }

  @Test func `a byte is found from any place on in texts of any length`() {
    for length in 0..<40 {
      for place in 0...length {
        var bytes = (0..<length).map { UInt8($0 % 7) + 0x60 }
        if place < length { bytes[place] = 0x0A }
        for start in 0...length {
          #expect(
            bytes.span.firstIndex(of: 0x0A, from: start)
              == (start <= place && place < length ? place : nil))
        }
      }
    }
  }
}
