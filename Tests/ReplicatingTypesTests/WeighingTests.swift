import TestSupport
import Testing

@testable import ReplicatingTypes

/// A tree finds its weights when it is asked for what takes them, and keeps them from then on (PieceTree+Weights.swift).
@Suite(.computing) struct `Weights that are found when they are needed` {
  private static let words = ["a", "b\n", "some words ", "\n\n", "é", "中文\n", "😀", "\r\n"]
  private static let sizes = [
    PieceNodes.Sizes(), PieceNodes.Sizes(leaf: 4, block: 2, piece: 3),
    PieceNodes.Sizes(leaf: 6, block: 3, piece: 7),
  ]

  private static func text(_ seed: UInt64) -> ReplicatingText {
    ReplicatingText(bytes: ReplicatingArray(nodeSizes: sizes[Int(seed % 3)]))
  }

  /// An edit somewhere, or where the last one was.
  private static func edit(
    _ text: inout ReplicatingText, _ author: Author, _ place: inout Int, _ random: inout SplitMix64
  ) {
    let utf8 = text.utf8
    let boundaries = utf8.indices.filter { utf8[$0] & 0xC0 != 0x80 } + [utf8.count]
    if random.chance(50) || !boundaries.contains(place) { place = random.pick(boundaries) }
    let end = boundaries.first { $0 > place }
    if let end, random.chance(35) {
      text.remove(place..<end, by: &author.replica)
    } else {
      let word = Array(random.pick(words).utf8)
      text.insert(word.span, at: place, by: &author.replica)
      place += word.count
    }
  }

  /// The lines before each, and the units of UTF-16.
  private static func check(_ text: ReplicatingText, _ comment: Comment) {
    let string = text.string
    #expect(text.count(of: .line) == string.utf8.count { $0 == 0x0A } + 1, comment)
    #expect(text.count(of: .utf16) == string.utf16.count, comment)
    #expect(text.convert(text.count, from: .utf8, to: .utf32) == string.unicodeScalars.count)
    let lines = string.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
    let line = lines.count / 2
    let start = lines[..<line].reduce(0) { $0 + $1.count + 1 }
    #expect(text.range(ofLine: line) == start..<start + lines[line].count, comment)
  }

  @Test(arguments: seeds(60))
  func `are the same whenever a text, or a copy of it, is asked`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let author = Author(1)
    var (text, place) = (Self.text(seed), 0)
    var copies: [ReplicatingText] = []
    let chance = random.pick([0, 3, 20, 60])
    for step in 0..<150 {
      Self.edit(&text, author, &place, &random)
      text.checkInvariants()
      if random.chance(8) { copies.append(text) }
      if random.chance(chance) { Self.check(text, at(seed, step)) }
      if random.chance(chance), let copy = copies.randomElement(using: &random) {
        Self.check(copy, at(seed, step))
        copy.checkInvariants()
      }
      if random.chance(5), !copies.isEmpty {
        // Of two values that have the nodes in common the other one is changed.
        var (copy, end) = (copies.remove(at: random.below(copies.count)), 0)
        for _ in 0..<3 { Self.edit(&copy, Author(2), &end, &random) }
        copy.checkInvariants()
        Self.check(copy, at(seed, step))
      }
    }
    for value in copies + [text] {
      Self.check(value, at(seed))
      value.checkInvariants()
      let decoded = try ReplicatingText(encoded: value.encoded())
      decoded.checkInvariants()
      Self.check(decoded, at(seed))
      decoded.checkInvariants()
    }
  }

  @Test func `are not kept before somebody asks, and are kept from then on`() {
    for seed in seeds(9) {
      var random = SplitMix64(seed: seed)
      let author = Author(1)
      var (text, place) = (Self.text(seed), 0)
      for _ in 0..<50 { Self.edit(&text, author, &place, &random) }
      #expect(!text.bytes.tree.keepsWeights)
      _ = text.count(of: .line)
      // Two changes at other places, and what is open before the first of them.
      for _ in 0..<3 {
        text.insert("a".utf8.span, at: 0, by: &author.replica)
        text.insert("b".utf8.span, at: text.count, by: &author.replica)
      }
      #expect(text.bytes.tree.keepsWeights)
      for step in 0..<200 {
        Self.edit(&text, author, &place, &random)
        #expect(text.bytes.tree.keepsWeights && text.bytes.tree.memory.weights == nil)
        if step.isMultiple(of: 50) { Self.check(text, at(seed, step)) }
      }
      text.checkInvariants()
    }
  }

  @Test(arguments: seeds(20))
  func `are found by many threads at once, while others change copies`(seed: UInt64) async {
    var random = SplitMix64(seed: seed)
    var (text, place) = (Self.text(seed), 0)
    let author = Author(1)
    for _ in 0..<300 { Self.edit(&text, author, &place, &random) }
    let shared = text
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 as Range<UInt64> {
        group.addTask {
          var random = SplitMix64(seed: seed << 8 | task)
          for round in 0..<20 {
            if task.isMultiple(of: 2) { Self.check(shared, at(seed, round)) }
            var (copy, place) = (shared, 0)
            let author = Author(2 + task)
            for _ in 0..<4 { Self.edit(&copy, author, &place, &random) }
            Self.check(copy, at(seed, round))
            copy.checkInvariants()
          }
        }
      }
    }
    shared.checkInvariants()
  }
}
