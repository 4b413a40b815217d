import TestSupport
import Testing

@testable import ReplicatingTypes

/// What is edited here is what others take: anything else traps, or is not made.
@Suite struct `Edits of whole scalars` {
  private let pieces = ["one ", "two ", "é", "e\u{301}", "あ", "😀", "\n", ".", "🇦🇹"]

  private func string(_ generator: inout SplitMix64, atMost most: Int) -> String {
    (0..<generator.below(most + 1)).map { _ in generator.pick(pieces) }.joined()
  }

  /// An offset between two scalars.
  private func place(in string: String, _ generator: inout SplitMix64) -> Int {
    let offsets = string.unicodeScalars.indices.map {
      string.utf8.distance(from: string.startIndex, to: $0)
    }
    return generator.pick(offsets + [string.utf8.count])
  }

  /// Every kind of edit, beside the same on plain bytes: also where typing, or deleting, goes on in the place of the last one.
  @Test func `do to a text what they do to its bytes`() {
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed)
      let author = Author(1)
      var text = ReplicatingText(string(&generator, atMost: 9), by: &author.replica)
      var bytes = text.utf8
      for step in 0..<40 {
        let shown = String(decoding: bytes, as: UTF8.self)
        let (one, other) = (place(in: shown, &generator), place(in: shown, &generator))
        let range = min(one, other)..<max(one, other)
        let new = string(&generator, atMost: 3)
        switch generator.below(7) {
        case 0:
          text.append(new, by: &author.replica)
          bytes += Array(new.utf8)
        case 1:
          text.replace(range, with: new, by: &author.replica)
          bytes.replaceSubrange(range, with: Array(new.utf8))
        case 2:
          text.remove(range, by: &author.replica)
          bytes.removeSubrange(range)
        case 3:
          // A letter at a time, back, and forward.
          var end = one
          for letter in ["a", "b", "c", "d"] {
            text.insert(letter.utf8.span, at: end, by: &author.replica)
            end += 1
          }
          for _ in 0..<2 {
            end -= 1
            text.remove(end..<end + 1, by: &author.replica)
          }
          for _ in 0..<2 { text.remove(one..<one + 1, by: &author.replica) }
        case 4:
          text.become(new, by: &author.replica)
          bytes = Array(new.utf8)
        default:
          text.insert(new.utf8.span, at: one, by: &author.replica)
          bytes.insert(contentsOf: Array(new.utf8), at: one)
        }
        #expect(text.utf8 == bytes, at(seed, step))
        #expect(text.isEmpty == bytes.isEmpty && text.count == bytes.count, at(seed, step))
        let middle = place(in: String(text), &generator)
        let parts = text[0..<middle] + text[middle..<text.count]
        #expect(Array(parts.utf8) == bytes, at(seed, step))
      }
      text.removeAll(by: &author.replica)
      #expect(text.isEmpty && text.string.isEmpty, at(seed))
      text.checkInvariants()
    }
  }

  /// What is asked before an edit, beside a look at the bytes: in leaves and pieces so small that a scalar may be in two of them.
  @Test func `are told from those that tear one`() {
    let sizes = [
      PieceNodes.Sizes(leaf: 4, block: 2, piece: 1),
      PieceNodes.Sizes(leaf: 4, block: 2, piece: 3),
      PieceNodes.Sizes(leaf: 6, block: 3, piece: 7), PieceNodes.Sizes(),
    ]
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      let author = Author(1)
      var text = ReplicatingText()
      text.bytes = ReplicatingArray(nodeSizes: sizes[Int(seed % 4)])
      for step in 0..<30 {
        let shown = text.string
        let (one, other) = (place(in: shown, &generator), place(in: shown, &generator))
        let bytes = text.utf8
        if generator.chance(20) {
          text.remove(min(one, other)..<max(one, other), by: &author.replica)
        } else if generator.chance(30), let letter = bytes.firstIndex(where: { $0 < 0x80 }) {
          // Left open.
          text.remove(letter..<letter + 1, by: &author.replica)
        } else {
          let new = generator.chance(50) ? "plain" : string(&generator, atMost: 3)
          text.insert(new.utf8.span, at: one, by: &author.replica)
        }
        Self.expectJudgements(of: text, "\(at(seed, step))")
      }
    }
  }

  private static func expectJudgements(of text: ReplicatingText, _ place: Comment) {
    let bytes = text.utf8
    let isBetween = (0...bytes.count).map { $0 == bytes.count || bytes[$0] & 0xC0 != 0x80 }
    var settled = text.bytes.settled
    var asked = text.bytes
    for start in 0...bytes.count {
      #expect(settled.isBetweenScalars(start) == isBetween[start], place)
      for end in start..<max(start, min(bytes.count, start + 9)) {
        let range = start..<end + 1
        let isWhole = isBetween[start] && isBetween[end + 1]
        #expect(settled.hasWholeScalars(range) == isWhole, place)
        if range.count == 1 {
          // Deleting on trusts these.
          let plain = settled.open.plain
          #expect(plain.contains(start) == isWhole && bytes[plain].allSatisfy { $0 < 0x80 }, place)
        }
        // Each time with what is open.
        var open = text.bytes
        #expect(open.hasWholeScalars(range) == isWhole, place)
        #expect(asked.hasWholeScalars(range) == isWhole, place)
      }
    }
  }

  @Test func `are taken by others`() throws {
    for seed in seeds(30) {
      var generator = SplitMix64(seed: seed)
      let authors = [Author(1), Author(2)]
      var texts = [ReplicatingText(), ReplicatingText()]
      for step in 0..<30 {
        let index = generator.below(2)
        let old = String(texts[index])
        if generator.chance(30) {
          texts[index].become(string(&generator, atMost: 9), by: &authors[index].replica)
        } else {
          let new = string(&generator, atMost: 2)
          texts[index].insert(new, at: place(in: old, &generator), by: &authors[index].replica)
        }
        if generator.chance(40) {
          try texts[index].apply(texts[1 - index].changes(since: texts[index].version))
        }
        let copy = try ReplicatingText(encoded: texts[index].encoded())
        #expect(copy == texts[index], at(seed, step))
      }
      try texts[0].apply(texts[1].changes(since: texts[0].version))
      try texts[1].apply(texts[0].changes(since: texts[1].version))
      #expect(texts[0] == texts[1], at(seed))
    }
  }

  // MARK: - What traps

  @Test func `an insertion inside a scalar is refused`() async {
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      var text = ReplicatingText("é", by: &author.replica)
      text.insert("abc".utf8.span, at: 1, by: &author.replica)
    }
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      var text = ReplicatingText("é", by: &author.replica)
      text.insert("a".utf8.span, at: 1, by: &author.replica)
    }
  }

  @Test func `what is no text is refused, also where typing goes on`() async {
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      var text = ReplicatingText("a", by: &author.replica)
      text.insert([0].span, at: 1, by: &author.replica)
    }
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      var text = ReplicatingText("a", by: &author.replica)
      text.insert([0xC3].span, at: 1, by: &author.replica)
    }
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      var text = ReplicatingText("a", by: &author.replica)
      text.replace([Edit(range: 0..<1, replacement: [0xA9])], by: &author.replica)
    }
  }

  @Test func `half a scalar is not removed, also where deleting goes on`() async {
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      var text = ReplicatingText("aé", by: &author.replica)
      text.remove(0..<2, by: &author.replica)
    }
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      var text = ReplicatingText("éab", by: &author.replica)
      text.remove(3..<4, by: &author.replica)
      text.remove(2..<3, by: &author.replica)
      text.remove(1..<2, by: &author.replica)
    }
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      var text = ReplicatingText("abé", by: &author.replica)
      text.remove(0..<1, by: &author.replica)
      text.remove(0..<1, by: &author.replica)
      text.remove(0..<1, by: &author.replica)
    }
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      var text = ReplicatingText("aé", by: &author.replica)
      text.replace(0..<2, with: "b", by: &author.replica)
    }
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      let text = ReplicatingText("aé", by: &author.replica)
      _ = text[0..<2]
    }
  }

  @Test func `edits out of order, or one inside another, are refused`() async {
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      var text = ReplicatingText("abc", by: &author.replica)
      text.replace(
        [Edit(range: 1..<3, replacement: []), Edit(range: 0..<2, replacement: [])],
        by: &author.replica)
    }
  }
}
