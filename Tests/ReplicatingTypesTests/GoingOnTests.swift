import TestSupport
import Testing

@testable import ReplicatingTypes

/// Typing and deleting that goes on is kept beside the tree, by rounds of 32 bytes.
@Suite struct `Edits that go on` {
  private let sizes = [
    PieceNodes.Sizes(), PieceNodes.Sizes(leaf: 4, block: 2, piece: 50),
    PieceNodes.Sizes(leaf: 6, block: 3, piece: 7),
  ]

  /// Beside plain bytes, and beside a text in which each keystroke is entered at once.
  @Test func `are read at every keystroke, and become what each by itself becomes`() throws {
    for seed in seeds(12) {
      var generator = SplitMix64(seed: seed)
      let (author, twin) = (Author(1), Author(1))
      let start = generator.chance(50) ? "é😀\n" : ""
      let sizes = sizes[Int(seed % 3)]
      var text = ReplicatingText(bytes: ReplicatingArray(nodeSizes: sizes))
      text.insert(start.utf8.span, at: 0, by: &author.replica)
      var entered = ReplicatingText(bytes: ReplicatingArray(nodeSizes: sizes))
      entered.insert(start.utf8.span, at: 0, by: &twin.replica)
      var bytes = Array(start.utf8)
      for step in 0..<12 {
        var place = generator.pick(
          (0...bytes.count).filter { $0 == bytes.count || bytes[$0] & 0xC0 != 0x80 })
        let isTyping = generator.chance(60)
        let isBackward = generator.chance(50)
        for _ in 0...generator.below(90) {
          let before = (text, bytes)
          if isTyping {
            let byte = generator.pick(Array("ab \n".utf8))
            text.insert([byte].span, at: place, by: &author.replica)
            entered.insert([byte].span, at: place, by: &twin.replica)
            bytes.insert(byte, at: place)
            place += 1
          } else {
            if isBackward { place -= 1 }
            guard bytes.indices.contains(place), bytes[place] < 0x80 else { break }
            text.remove(place..<place + 1, by: &author.replica)
            entered.remove(place..<place + 1, by: &twin.replica)
            bytes.remove(at: place)
          }
          entered.bytes.settle()
          #expect(text.count == bytes.count && text.utf8 == bytes, at(seed, step))
          #expect(before.0.utf8 == before.1, at(seed, step))
          let (one, other) = (
            generator.below(bytes.count + 1), generator.below(bytes.count + 1)
          )
          let range = min(one, other)..<max(one, other)
          #expect(text.utf8(in: range) == Array(bytes[range]), at(seed, step))
          if let index = range.first { #expect(text.bytes[index] == bytes[index], at(seed, step)) }
          let lines = bytes[..<one].count { $0 == 0x0A }
          #expect(text.bytes.place(one, .utf8).before.lines == lines, at(seed, step))
        }
      }
      #expect(text.encoded() == entered.encoded(), at(seed))
      text.bytes.settle()
      text.checkInvariants()
      entered.checkInvariants()
    }
  }

  /// Leaves of a few letters: those of ASCII are known to be, and the scalar of several bytes is in another.
  fileprivate static func deleting(
    _ count: Int, backwardFrom end: Int?, of string: String
  ) -> ReplicatingText {
    let author = Author(1)
    let sizes = PieceNodes.Sizes(leaf: 4, block: 2, piece: 3)
    var text = ReplicatingText(bytes: ReplicatingArray(nodeSizes: sizes))
    text.insert(string.utf8.span, at: 0, by: &author.replica)
    for step in 0..<count {
      let place = end.map { $0 - 1 - step } ?? 0
      text.remove(place..<place + 1, by: &author.replica)
    }
    return text
  }

  /// Names are asked for at every keystroke, before, at and behind the end of a round.
  @Test func `have the names of their changes at once`() {
    let author = Author(1)
    var text = ReplicatingText()
    text.insert("a".utf8.span, at: 0, by: &author.replica)
    for count in 1..<100 {
      text.insert("b".utf8.span, at: count, by: &author.replica)
      for offset in 0...count {
        let change = ChangeID(replica: author.replica.id, number: UInt64(offset + 1))
        #expect(
          text.elements(insertedBy: change)
            == ElementRange(author: author.replica.id, offset: offset, count: 1))
        #expect(
          text.insertion(of: ElementID(author: author.replica.id, offset: offset)) == change)
      }
    }
  }

  @Test func `stop at a scalar of several bytes, also in another leaf`() async {
    for (end, string) in [
      (nil, "abcdefghijklmnopqrstuvwxyzé"), (28, "éabcdefghijklmnopqrstuvwxyz"),
    ] {
      let text = Self.deleting(26, backwardFrom: end, of: string)
      #expect(text.string == "é")
      text.checkInvariants()
    }
    // The deletion itself is refused: nothing looks at the text afterwards.
    await #expect(processExitsWith: .failure) {
      _ = `Edits that go on`.deleting(27, backwardFrom: nil, of: "abcdefghijklmnopqrstuvwxyzé")
    }
    await #expect(processExitsWith: .failure) {
      _ = `Edits that go on`.deleting(27, backwardFrom: 28, of: "éabcdefghijklmnopqrstuvwxyz")
    }
  }

  @Test func `of elements that are no bytes are the same`() {
    let author = Author(1)
    var numbers = ReplicatingArray<Int>()
    for number in 0..<100 {
      numbers.insert(contentsOf: [number], at: number, by: &author.replica)
      #expect(numbers[number] == number && numbers.values == Array(0...number))
    }
    for number in (10..<100).reversed() {
      numbers.remove(number..<number + 1, by: &author.replica)
    }
    #expect(numbers.values == Array(0..<10))
    numbers.checkInvariants()
  }
}

/// A tree that keeps no weights has to know which of its leaves are of ASCII, and keeps weights when a line was asked for.
@Suite struct `Weights that are not looked for` {
  @Test func `are right of bytes that are typed one by one`() {
    let author = Author(1)
    var bytes = ReplicatingArray<UInt8>()
    var count = 0
    for word in ["a", "bé", "cd", "😀", "e"] {
      for byte in Array(word.utf8) {
        bytes.insert(contentsOf: [byte], at: count, by: &author.replica)
        count += 1
        var copy = bytes
        copy.settle()
        copy.checkInvariants()
      }
    }
    bytes.remove(0..<2, by: &author.replica)
    bytes.checkInvariants()
  }

  @Test func `are found of a long text that is put in behind a question`() {
    for length in [1, 62, 63, 64, 65, 3_000] {
      for end in ["\n", "é\n"] {
        let author = Author(1)
        var text = ReplicatingText()
        text.insert("\n".utf8.span, at: 0, by: &author.replica)
        let long = Array((String(repeating: "x", count: length) + end).utf8)
        for lines in 1...4 {
          if lines > 1 { #expect(text.bytes.place(text.count, .utf8).before.lines == lines) }
          text.insert(long.span, at: text.count, by: &author.replica)
          text.checkInvariants()
        }
        #expect(text.bytes.place(text.count, .utf8).before.lines == 5)
      }
    }
  }
}

/// Loops over words give what a look at each byte gives.
@Suite struct `Bytes counted by the word` {
  private let pieces = ["a", "some words, ", "\n", "\n\n", "é", "中", "😀", "\u{80}", "\u{7FF}"]

  @Test func `are those counted one by one`() {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      let kinds = generator.chance(50) ? 4 : pieces.count
      let length = generator.pick([9, 40, 200, 2_000, 9_000])
      var bytes: [UInt8] = []
      while bytes.count < length { bytes += Array(pieces[generator.below(kinds)].utf8) }
      for _ in 0..<60 {
        let start = generator.below(bytes.count + 1)
        let most = min(generator.pick([9, 17, 64, 65, 3_000, 9_000]), bytes.count - start)
        let range = start..<start + generator.below(most + 1)
        let part = bytes[range]
        let weight = TextWeight(
          lines: Int32(part.count { $0 == 0x0A }),
          continuations: Int32(part.count { $0 & 0xC0 == 0x80 }),
          astral: Int32(part.count { $0 >= 0xF0 }))
        #expect(TextWeight(of: range, in: bytes.span) == weight, "\(range), seed \(seed)")
      }
    }
  }

  @Test func `are a text if the standard library says so and none is 0`() {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      for _ in 0..<60 {
        var bytes: [UInt8] = []
        for _ in 0..<generator.below(generator.pick([3, 9, 9, 3_000])) {
          bytes += Array(pieces[generator.below(generator.chance(50) ? 4 : pieces.count)].utf8)
        }
        if generator.chance(50), !bytes.isEmpty {
          bytes[generator.below(bytes.count)] = generator.pick([
            0, 1, 0x7F, 0x80, 0xC3, 0xE0, 0xED, 0xF0, 0xF4, 0xFF,
          ])
        }
        let isText = !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
        #expect(bytes.span.isText == isText, "\(bytes), seed \(seed)")
        // The weight is found on the way.
        let weight = isText ? TextWeight(of: bytes.span) : nil
        #expect(TextWeight(ofText: bytes.span) == weight, "\(bytes), seed \(seed)")
      }
    }
  }

  /// Each first byte with the bounds of the second ones, and with third and fourth ones that may or may not go on.
  @Test func `are one scalar if the standard library says so`() {
    let seconds: [UInt8] = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]
    for first in UInt8(0x80)...0xFF {
      for second in seconds {
        for third: UInt8 in [0x7F, 0x80, 0xBF, 0xC0] {
          for fourth: UInt8 in [0x7F, 0x80, 0xBF, 0xC0] {
            let bytes = [first, second, third, fourth]
            for count in 1...4 {
              let part = Array(bytes[..<count])
              let isText = String(validating: part, as: UTF8.self) != nil
              if part.span.isText != isText { Issue.record("\(part)") }
            }
          }
        }
      }
    }
  }
}

/// Removals across pieces change those of a leaf at once.
@Suite struct `Removals of many pieces` {
  private let sizes = [
    PieceNodes.Sizes(), PieceNodes.Sizes(leaf: 4, block: 2, piece: 50),
    PieceNodes.Sizes(leaf: 6, block: 3, piece: 7), PieceNodes.Sizes(leaf: 200, block: 4, piece: 9),
  ]

  /// Beside plain bytes, and beside a text into which the changes are joined one by one.
  @Test func `leave what a plain array has, and are the same runs wherever they are made`() {
    for seed in seeds(24) {
      var generator = SplitMix64(seed: seed)
      let author = Author(1)
      var text = ReplicatingText(bytes: ReplicatingArray(nodeSizes: sizes[Int(seed % 4)]))
      var copy = ReplicatingText(bytes: ReplicatingArray(nodeSizes: sizes[Int(seed / 4 % 4)]))
      var bytes: [UInt8] = []
      let kinds = generator.chance(50) ? 2 : 4
      for step in 0..<300 {
        let places = (0...bytes.count).filter { $0 == bytes.count || bytes[$0] & 0xC0 != 0x80 }
        let isRemoval = generator.chance(step % 100 < 80 ? 10 : 70)
        if isRemoval {
          let start = generator.below(places.count)
          let count = generator.below(generator.pick([3, 20, places.count - start]) + 1)
          let range = places[start]..<places[min(start + count, places.count - 1)]
          text.remove(range, by: &author.replica)
          bytes.removeSubrange(range)
        } else {
          let new = Array(["a", "bc", "é", "😀"][generator.below(kinds)].utf8)
          let place = generator.pick(places)
          text.insert(new.span, at: place, by: &author.replica)
          bytes.insert(contentsOf: new, at: place)
        }
        if generator.chance(20) { copy.join(text.changes(since: copy.version)) }
        if seed % 3 == 0, step > 150 { #expect(text.bytes.place(0, .utf8).before.lines == 0) }
        if isRemoval {
          #expect(text.utf8 == bytes, at(seed, step))
          text.checkInvariants()
        }
      }
      copy.join(text.changes(since: copy.version))
      #expect(copy.utf8 == bytes && copy == text, at(seed))
      #expect(copy.encoded() == text.encoded(), at(seed))
    }
  }
}
