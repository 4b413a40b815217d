import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite struct `Stored bytes` {
  @Test(
    arguments: [
      [], [7], Array("a note of some words, which are all there is to say".utf8),
      [UInt8](repeating: 7, count: 1 << 20), [UInt8](repeating: 7, count: 1 << 20 + 1),
    ] as [[UInt8]])
  func `come back as they were`(bytes: [UInt8]) throws {
    #expect(try Array(StoredBytes.decode(StoredBytes.encode(bytes)[...])) == bytes)
  }

  @Test func `are compressed where that saves a sixteenth, and else as they are`() throws {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      var bytes = generator.bytes(400 + generator.below(400))
      bytes += bytes.prefix(generator.below(100))
      let stored = StoredBytes.encode(bytes)
      #expect(try Array(StoredBytes.decode(stored[...])) == bytes, at(seed))
      if stored[0] == 1 {
        #expect(stored.count <= bytes.count * 15 / 16 + 1, at(seed))
      } else {
        #expect(stored == [0] + bytes, at(seed))
      }
    }
    let text = Array(
      String(repeating: "ten words of which each is there again and again ", count: 30).utf8)
    #expect(StoredBytes.encode(text).count < text.count / 5)
  }

  @Test func `that are many stay as they are`() {
    let many = [UInt8](repeating: 7, count: StoredBytes.limit + 1)
    #expect(StoredBytes.encode(many) == [0] + many)
    #expect(StoredBytes.encode(many.dropLast()).count < 5_000)
  }

  @Test(
    arguments: [
      ([], "the end comes too early"), ([2], "bytes in a form that is none"),
      ([1], "the end comes too early"), ([1, 0], "compressed bytes: it ends too soon"),
      ([1, 0x81, 0x80, 0x40, 0], "compressed bytes that are 1048577"),
      ([1, 0x80, 0x80, 0x40, 0], "compressed bytes: 1 bytes do not make 1048576"),
      ([1, 2, 0x10, 7], "compressed bytes: it ends in a match, or at byte 1 of 2"),
    ] as [([UInt8], String)])
  func `that are none are refused`(stored: [UInt8], reason: String) {
    let failure = #expect(throws: DecodingFailure.self) { try StoredBytes.decode(stored[...]) }
    #expect(failure?.reason == reason)
  }
}
