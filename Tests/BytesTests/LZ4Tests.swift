import Bytes
import TestSupport
import Testing

@Suite(.computing) struct `Compressed bytes` {
  /// Bytes of many kinds: random, repeating, of few values, texts, and parts of what stood before.
  private func bytes(_ generator: inout SplitMix64, upTo limit: Int) -> [UInt8] {
    let words = (0..<20).map { _ in generator.bytes(1 + generator.below(8)) + [32] }
    let count = generator.below(limit)
    var bytes: [UInt8] = []
    while bytes.count < count {
      let length = 1 + generator.below(generator.chance(10) ? 3000 : 40)
      switch generator.below(5) {
      case 0: bytes += generator.bytes(length)
      case 1: bytes += [UInt8](repeating: UInt8(generator.below(256)), count: length)
      case 2: bytes += (0..<length).map { _ in UInt8(generator.below(3)) }
      case 3 where !bytes.isEmpty:
        let start = generator.below(bytes.count)
        bytes += bytes[start..<min(start + length, bytes.count)]
      default: for _ in 0..<1 + length / 5 { bytes += generator.pick(words) }
      }
    }
    return bytes
  }

  /// Checks that bytes come back, also from a decoder written as the format is described.
  private func check(_ bytes: [UInt8], _ comment: Comment? = nil) throws {
    let block = LZ4.compress(bytes[...])
    #expect(try LZ4.decompress(block[...], count: bytes.count) == bytes, comment)
    #expect(naive(block, limit: bytes.count)?.bytes == bytes, comment)
    #expect(block.count <= bytes.count + bytes.count / 255 + 2, comment)
    #expect(LZ4.compress(([1, 2] + bytes).dropFirst(2)) == block, comment)
  }

  @Test(
    arguments: [
      [0x00], [0x10, 7], [0x30, 1, 2, 3],
      // Ten times the same: a match that repeats itself.
      [0x11, 7, 1, 0, 0x40, 7, 7, 7, 7],
      // A match from three before.
      [0x33, 1, 2, 3, 3, 0, 0x10, 9],
      // 15 literals and one more byte, 0, that says so.
      [0xF0, 0] + [UInt8](0..<15),
      // 15 + 255 + 2 literals, and a match of 4 + 15 + 255 + 1.
      [0xFF, 255, 2] + [UInt8](repeating: 5, count: 272) + [2, 0, 255, 1, 0x00],
    ] as [[UInt8]])
  func `are what the format says`(block: [UInt8]) throws {
    let expected = try #require(naive(block, limit: 1000)).bytes
    #expect(try LZ4.decompress(block[...], count: expected.count) == expected)
    let part = [9, 9] + block + [9]
    #expect(try LZ4.decompress(part[2..<2 + block.count], count: expected.count) == expected)
    for count in 0..<expected.count + 20 where count != expected.count {
      #expect(throws: LZ4.Failure.self) { try LZ4.decompress(block[...], count: count) }
    }
  }

  @Test func `come back as they were`() throws {
    try check([])
    for count in 1..<70 {
      try check([UInt8](repeating: 7, count: count))
      try check((0..<count).map { UInt8($0) })
      try check((0..<count).map { UInt8($0 % 5) })
    }
    for seed in seeds(300) {
      var generator = SplitMix64(seed: seed)
      try check(bytes(&generator, upTo: generator.chance(5) ? 200_000 : 4_000), at(seed))
    }
  }

  @Test(arguments: [65_534, 65_535, 65_536, 65_537, 131_071])
  func `come back where a match is as far as it may be, and farther`(distance: Int) throws {
    var generator = SplitMix64(seed: UInt64(distance))
    let piece = generator.bytes(100)
    let bytes = piece + generator.bytes(distance - piece.count) + piece + generator.bytes(20)
    try check(bytes)
    // Four random bytes are the same somewhere by chance.
    let match = naive(LZ4.compress(bytes[...]), limit: bytes.count)?.lastMatch
    #expect((match?.count ?? 0 > 90) == (distance <= 65_535))
  }

  @Test func `of one value are some four in a thousand`() throws {
    let bytes = [UInt8](repeating: 0, count: 1 << 20)
    try check(bytes)
    #expect(LZ4.compress(bytes[...]).count < bytes.count / 250)
  }

  @Test func `of a text are half of it`() throws {
    var generator = SplitMix64(seed: 1)
    let words = (0..<2_000).map { _ in generator.bytes(2 + generator.below(9)) }
    var text: [UInt8] = []
    for _ in 0..<20_000 {
      text += words[min(generator.below(2_000), generator.below(2_000))] + [32]
    }
    #expect(LZ4.compress(text[...]).count < text.count * 6 / 10)
  }

  /// The end of a block as other readers may count on it.
  @Test func `end with five literals, and with no match in twelve`() {
    for seed in seeds(100) {
      var generator = SplitMix64(seed: seed &+ 1000)
      let bytes = bytes(&generator, upTo: 500)
      guard let match = naive(LZ4.compress(bytes[...]), limit: bytes.count)?.lastMatch else {
        continue
      }
      #expect(match.lowerBound <= bytes.count - 12 && match.upperBound <= bytes.count - 5, at(seed))
    }
  }

  // MARK: - What is no block

  @Test func `that are damaged are refused, or other bytes, and as many`() throws {
    for seed in seeds(20) {
      var generator = SplitMix64(seed: seed &+ 2000)
      let bytes = bytes(&generator, upTo: 300)
      let block = LZ4.compress(bytes[...])
      for count in block.indices {
        compare(Array(block.prefix(count)), bytes.count, at(seed, count))
        for bit in 0..<8 {
          var damaged = block
          damaged[count] ^= 1 << UInt8(bit)
          compare(damaged, bytes.count, at(seed, count))
        }
      }
    }
  }

  @Test func `that are forged are refused, or what the format says`() {
    for seed in seeds(2_000) {
      var generator = SplitMix64(seed: seed &+ 3000)
      var block = generator.bytes(generator.below(60))
      for index in block.indices where generator.chance(50) {
        block[index] = generator.pick([0, 1, 4, 15, 0x10, 0x1F, 0xF0, 255])
      }
      let count = naive(block, limit: 20_000)?.bytes.count ?? generator.below(400)
      compare(block, count, at(seed))
      compare(block, generator.below(400), at(seed))
    }
  }

  /// Both decoders do the same.
  private func compare(_ block: [UInt8], _ count: Int, _ comment: Comment) {
    let expected = naive(block, limit: count).flatMap { $0.bytes.count == count ? $0.bytes : nil }
    #expect((try? LZ4.decompress(block[...], count: count)) == expected, comment)
  }

  @Test(arguments: [-1, .min, 256 * 4, 1 << 40, .max])
  func `make no more than they can`(count: Int) {
    #expect(throws: LZ4.Failure.self) { try LZ4.decompress([0xFF, 255, 255, 255], count: count) }
  }

  @Test(
    arguments: [
      ([], 0, "it ends too soon"),
      ([0x01], 0, "it ends in a match, or at byte 0 of 0"),
      ([0x10, 7], 2, "it ends in a match, or at byte 1 of 2"),
      ([0x20, 7], 2, "more literals than there is room for"),
      ([0xF0, 255], 9, "it ends too soon"),
      ([0x10, 7, 1], 9, "it ends too soon"),
      ([0x10, 7, 0, 0, 0], 5, "a match of 4 bytes, 0 before byte 1"),
      ([0x10, 7, 2, 0, 0], 5, "a match of 4 bytes, 2 before byte 1"),
      ([0x11, 7, 1, 0, 0], 5, "a match of 5 bytes, 1 before byte 1"),
    ] as [([UInt8], Int, String)])
  func `that are none are refused, with the reason`(block: [UInt8], count: Int, reason: String) {
    let failure = #expect(throws: LZ4.Failure.self) {
      try LZ4.decompress(block[...], count: count)
    }
    #expect(failure?.reason == reason)
    #expect((0...block.count).contains(failure?.offset ?? -1))
  }

  /// The bytes that a block makes, and where the last match is put; nil if it is no block, or makes more than `limit`.
  private func naive(
    _ block: [UInt8], limit: Int
  ) -> (bytes: [UInt8], lastMatch: Range<Int>?)? {
    var rest = block[...]
    var bytes: [UInt8] = []
    var lastMatch: Range<Int>?
    func number(_ half: UInt8) -> Int? {
      var number = Int(half)
      guard half == 15 else { return number }
      while let more = rest.popFirst() {
        number += Int(more)
        if more != 255 { return number }
      }
      return nil
    }
    while let token = rest.popFirst() {
      guard let literals = number(token >> 4), literals <= rest.count else { return nil }
      bytes += rest.prefix(literals)
      rest = rest.dropFirst(literals)
      if rest.isEmpty { return token & 15 == 0 && bytes.count <= limit ? (bytes, lastMatch) : nil }
      guard let low = rest.popFirst(), let high = rest.popFirst(), let more = number(token & 15)
      else { return nil }
      let distance = Int(high) * 256 + Int(low)
      guard distance > 0, distance <= bytes.count, bytes.count + more + 4 <= limit else {
        return nil
      }
      lastMatch = bytes.count..<bytes.count + more + 4
      for _ in 0..<more + 4 { bytes.append(bytes[bytes.count - distance]) }
    }
    return nil
  }
}
