import TestSupport
import Testing

@testable import ReplicatingTypes

/// What holds for the bytes of two values of one history.
func expectEncodings<Value: Replicable & BinaryCodable>(
  _ a: Value, _ b: Value, empty: Value, _ comment: Comment
) throws where Value.Changes: BinaryCodable {
  let bytes = a.encoded()
  let decoded = try Value(encoded: bytes)
  #expect(decoded == a, "what is read is what was written, \(comment)")
  #expect(decoded.encoded() == bytes, "and is written the same again, \(comment)")
  let merged = try a.merged(with: b)
  #expect(try merged.encoded() == b.merged(with: a).encoded(), "equal values, \(comment)")
  for since in [a.version, empty.version] {
    let changes = b.changes(since: since).encoded()
    var joined = a
    try joined.apply(Value.Changes(encoded: changes))
    #expect(joined == merged, "changes that traveled, \(comment)")
    #expect(try Value.Changes(encoded: changes).encoded() == changes, "changes, \(comment)")
  }
}

@Suite struct `Long histories in bytes` {
  /// Words at random places, and removals, so that steps are near and far, in more than 4096 fragments.
  private func edit(
    _ text: inout ReplicatingText, _ edits: Int, by replica: inout Replica,
    _ random: inout SplitMix64
  ) {
    var place = 0
    for _ in 0..<edits {
      if Int.random(in: 0..<3, using: &random) == 0 {
        place = Int.random(in: 0...text.count, using: &random)
      }
      place = min(place, text.count)
      if Int.random(in: 0..<3, using: &random) == 0 {
        let count = min(Int.random(in: 1...4, using: &random), text.count - place)
        text.remove(place..<place + count, by: &replica)
      } else {
        let word = Array("some words".utf8.prefix(Int.random(in: 1...10, using: &random)))
        text.insert(word.span, at: place, by: &replica)
        place += Int.random(in: 0..<2, using: &random) == 0 ? word.count : 0
      }
    }
  }

  @Test(arguments: 1...3)
  func `are read as they were written`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let authors = (1...UInt64(3)).map(Author.init)
    var texts = Array(repeating: ReplicatingText(), count: 3)
    for _ in 0..<6 {
      for author in 0..<3 { edit(&texts[author], 1000, by: &authors[author].replica, &random) }
      let other = Int.random(in: 1...2, using: &random)
      texts[0].merge(texts[other])
      texts[other] = texts[0]
    }
    for (index, text) in texts.enumerated() {
      let other = texts[(index + 1) % 3]
      try expectEncodings(text, other, empty: ReplicatingText(), "seed \(seed), text \(index)")
    }
  }

  @Test func `typed at the beginning, and removed there, take seven bytes for a step`() throws {
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    var text = ReplicatingText()
    for _ in 0..<40_000 { text.insert("ab".utf8.span, at: 0, by: &replica) }
    for _ in 0..<20_000 { text.remove(0..<2, by: &replica) }
    let bytes = text.encoded()
    #expect(try ReplicatingText(encoded: bytes) == text)
    // 80,000 letters, and of 60,000 steps what each is, how far away, and before which element.
    #expect(bytes.count < 80_000 + 7 * 60_000 + 100)
  }
}

@Suite struct `Steps in bytes` {
  private func written(_ step: Step, _ distance: Int) -> [UInt8] {
    var writer = ByteWriter()
    writer.step(step, distance: distance)
    return writer.bytes
  }

  @Test func `are read as they were written`() throws {
    let kinds: [Step.Kind] = [
      .typed, .inserted, .removedBackward, .removedForward, .removedAtOnce,
    ]
    let distances = [0, 1, 2, 3, 20, 127, 128, 300, 1_663, 1_700, 70_000, 1 << 20, 1 << 29]
    for kind in kinds {
      let least = kind == .typed || kind == .removedForward ? 1 : 2
      for count in Array(least...70) + [1 << 20] {
        for distance in distances + distances.map({ -$0 }) {
          let bytes = written(Step(kind: kind, count: count), distance)
          var reader = ByteReader(bytes)
          guard case .step(let step, let read) = try reader.stepOrNote() else {
            throw Failure("no step: \(kind) \(count)")
          }
          #expect(step == Step(kind: kind, count: count) && read == distance)
          #expect(reader.remaining == 0)
        }
      }
    }
  }

  @Test func `and notes have one encoding`() throws {
    var random = SplitMix64(seed: 1)
    var steps = 0
    for first in UInt8.min...255 {
      for _ in 0..<200 {
        // Small numbers, too: they have shorter encodings.
        let rest = (0..<8).map { _ in UInt8(random.below(random.chance(50) ? 4 : 128)) }
        var reader = ByteReader([first] + rest)
        guard let read = try? reader.stepOrNote() else { continue }
        var writer = ByteWriter()
        switch read {
        case .step(let step, let distance): writer.step(step, distance: distance)
        case .note(let note, let value): writer.note(note, value)
        }
        #expect(writer.bytes == Array(([first] + rest).prefix(9 - reader.remaining)))
        steps += 1
      }
    }
    #expect(steps > 200 * 248)
    for byte in UInt8(244)...248 {
      var reader = ByteReader([byte, 0, 0])
      #expect(throws: DecodingFailure.self) { try reader.stepOrNote() }
    }
    var long = ByteReader([249, 1])
    #expect(throws: DecodingFailure.self) { try long.stepOrNote() }
  }
}
