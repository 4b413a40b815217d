import TestSupport
import Testing

@testable import ReplicatingTypes

/// Copies of a sequence have the nodes of their tree in common until one of them is changed.
@Suite struct `Copies of a sequence` {
  private let sizes = [
    PieceNodes.Sizes(), PieceNodes.Sizes(leaf: 4, block: 2, piece: 3),
    PieceNodes.Sizes(leaf: 6, block: 3, piece: 7),
  ]

  /// A value, and what it was when it was copied.
  private struct Copy {
    var text: ReplicatingText
    let utf8: [UInt8]
    let encoded: [UInt8]

    init(_ text: ReplicatingText) {
      self.text = text
      utf8 = text.utf8
      encoded = text.encoded()
    }
  }

  @Test func `stay as they are, whatever is done to another`() {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      let author = Author(1)
      var text = ReplicatingText(bytes: ReplicatingArray(nodeSizes: sizes[Int(seed % 3)]))
      var copies: [Copy] = []
      var withdrawn = ChangeRanges()
      for step in 0..<120 {
        if generator.chance(30) { copies.append(Copy(text)) }
        switch generator.below(10) {
        case 0..<5:
          let words = Array(generator.pick(["a", "b\n", "some words ", "\n\n"]).utf8)
          text.insert(words.span, at: generator.below(text.count + 1), by: &author.replica)
        case 5..<8 where text.count > 0:
          let start = generator.below(text.count)
          let count = generator.below(min(text.count - start, 9)) + 1
          text.remove(start..<start + count, by: &author.replica)
        case 8 where author.replica.number > 0:
          // Elements that were removed are shown again, and inserted ones are not.
          let last = author.replica.number
          let first = UInt64(generator.below(Int(last))) + 1
          withdrawn = ChangeRanges([ChangeRanges.Run(author.replica.id, first...last)])
          text.withdraw(withdrawn) { _ in }
        case 9 where !copies.isEmpty:
          // A copy is edited as well, by somebody else, and the other copies of it stay.
          var copy = generator.pick(copies).text
          var other = Replica(id: ReplicaID(high: 0, low: 2))
          copy.insert("xyz".utf8.span, at: generator.below(copy.count + 1), by: &other)
          copy.checkInvariants()
        default: break
        }
        text.checkInvariants()
        for copy in copies.suffix(5) {
          #expect(copy.text.utf8 == copy.utf8, at(seed, step))
          copy.text.bytes.checkInvariants()
        }
      }
      for copy in copies {
        #expect(copy.text.utf8 == copy.utf8 && copy.text.encoded() == copy.encoded, at(seed))
      }
    }
  }
}
