import TestSupport
import Testing

@testable import ReplicatingTypes

@Suite struct `Pieces of a text` {
  /// Of the pieces of this test all but white space is a part of a word.
  private func isLetter(_ byte: UInt8) -> Bool { byte > 0x20 }

  @Test func `are the text, and have equal hashes where they are equal`() throws {
    for seed in seeds(100) {
      var generator = SplitMix64(seed: seed)
      let utf8 = (0..<generator.below(200)).flatMap { _ in
        Array(
          generator.pick(["a", "b", "ab", "é", "e\u{301}", "b\u{301}", " ", "\n", "\r\n"]).utf8)
      }
      for cut in [Pieces.Cut.lines, .words, .characters] {
        let start = generator.below(3)
        guard start <= utf8.count else { continue }
        var range = start..<utf8.count
        while !range.isEmpty, utf8[range.lowerBound] & 0xC0 == 0x80 { range.removeFirst() }
        let pieces = try #require(Pieces(of: utf8, in: range, cutAt: cut))
        var end = range.lowerBound
        var hashes: [[UInt8]: UInt64] = [:]
        for (index, hash) in pieces.hashes.enumerated() {
          let between = utf8[end..<pieces.ranges[index].lowerBound]
          let piece = Array(utf8[pieces.ranges[index]])
          end = pieces.ranges[index].upperBound
          #expect(hashes.updateValue(hash, forKey: piece) ?? hash == hash, at(seed))
          switch cut {
          case .lines:
            #expect(between.allSatisfy { $0 <= 0x20 } && (index == 0 || between.contains(0x0A)))
            #expect(!piece.contains(0x0A) && piece.first! > 0x20 && piece.last! > 0x20, at(seed))
          case .words:
            #expect(!between.contains { isLetter($0) })
            #expect(piece.allSatisfy { isLetter($0) }, at(seed))
          case .characters:
            #expect(between.isEmpty || Array(between) == [0x0D] && piece == [0x0A], at(seed))
            #expect(String(decoding: piece, as: UTF8.self).count == 1, at(seed))
          }
        }
        let behind = utf8[end..<range.upperBound]
        switch cut {
        case .lines: #expect(behind.allSatisfy { $0 <= 0x20 }, at(seed))
        case .words: #expect(!behind.contains { isLetter($0) }, at(seed))
        case .characters: #expect(behind.isEmpty, at(seed))
        }
        #expect(Set(hashes.values).count == hashes.count, at(seed))
      }
    }
  }

  @Test func `in common are as many as there can be`() throws {
    for seed in seeds(300) {
      var generator = SplitMix64(seed: seed)
      let kinds = UInt64(generator.pick([2, 5, 50]))
      let rows = (0..<2).map { _ in
        (0..<generator.below(30)).map { _ in generator.next() % kinds }
      }
      var lengths = Array(repeating: Array(repeating: 0, count: rows[1].count + 1), count: 1)
      for old in rows[0] {
        var next = [0]
        for (index, new) in rows[1].enumerated() {
          next.append(
            old == new ? lengths.last![index] + 1 : max(lengths.last![index + 1], next[index]))
        }
        lengths.append(next)
      }
      let common = CommonPieces(of: rows[0], rows[1], budget: 1 << 20)
      #expect(common.pairs.count == lengths.last!.last!, at(seed))
      var end = (old: -1, new: -1)
      for pair in common.pairs {
        #expect(rows[0][pair.old] == rows[1][pair.new], at(seed))
        #expect(pair.old > end.old && pair.new > end.new, at(seed))
        end = pair
      }
      let none = CommonPieces(of: [90] + rows[0] + [91], [92] + rows[1] + [93], budget: 0)
      #expect(none.pairs.isEmpty)
    }
  }

  @Test func `that occur once on either side are found, as many as stand in one order`() {
    for seed in seeds(200) {
      var generator = SplitMix64(seed: seed)
      let kinds = UInt64(generator.pick([5, 50, 500]))
      let rows = (0..<2).map { _ in
        (0..<generator.below(200)).map { _ in generator.next() % kinds }
      }
      let expected = rows[0].indices.filter { place in
        rows.allSatisfy { $0.count { $0 == rows[0][place] } == 1 }
      }
      let pairs = uniquePairs(rows[0], rows[1])
      #expect(pairs.map(\.old) == expected, at(seed))
      #expect(pairs.allSatisfy { rows[0][$0.old] == rows[1][$0.new] }, at(seed))
      let increase = longestIncrease(pairs)
      #expect(zip(increase, increase.dropFirst()).allSatisfy { $0.new < $1.new }, at(seed))
    }
  }

  @Test func `whose hashes were made to meet in one slot are not looked for long`() {
    let hashes = (0..<20_000).map { UInt64($0) << 32 }
    let pairs = uniquePairs(hashes, hashes)
    #expect(pairs.allSatisfy { $0.old == $0.new })
  }

  /// A line whose first eight bytes are followed by their own hash: all of these have one hash, and anybody can make them.
  @Test func `that differ and have one hash are not taken for equal`() throws {
    var generator = SplitMix64(seed: 1)
    var lines: [[UInt8]] = []
    while lines.count < 6 {
      let head = (0..<8).map { _ in UInt8(0x61 + generator.below(26)) }
      let hash = try #require(Pieces(of: head, in: 0..<8, cutAt: .lines)).hashes[0]
      let tail = (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
      if tail.allSatisfy({ (0x21...0x7E).contains($0) }) { lines.append(head + tail + [0x0A]) }
    }
    let hashes = try #require(Pieces(of: Array(lines.joined()), in: 0..<102, cutAt: .lines)).hashes
    try #require(Set(hashes).count == 1)
    for _ in 0..<100 {
      let texts = (0..<2).map { _ in
        (0..<5).flatMap { _ in generator.chance(50) ? generator.pick(lines) : Array("a b\n".utf8) }
      }
      #expect(defect(ofDifferenceFrom: texts[0], to: texts[1]) == nil)
    }
    #expect(defect(ofDifferenceFrom: lines[0], to: lines[1]) == nil)
    let common = Array("x\n".utf8)
    #expect(defect(ofDifferenceFrom: common + lines[0], to: lines[1] + common) == nil)
  }
}
