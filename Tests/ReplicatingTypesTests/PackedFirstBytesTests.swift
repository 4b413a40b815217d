import TestSupport
import Testing

@testable import ReplicatingTypes

/// Changes of a text in bytes, taken apart step by step.
struct ChangesInBytes {
  /// All before the first bytes, with format 2.
  private var head: [UInt8]
  /// For each author with steps the three numbers before them, and each step or note: its first byte, and the others.
  private var makers: [(head: [UInt8], steps: [(first: UInt8, rest: [UInt8])])] = []

  init(_ bytes: [UInt8]) throws {
    var reader = ByteReader(bytes)
    let format = try reader.format(2, or: 3, of: "changes of a sequence")
    _ = try reader.varint()
    for _ in 0..<(try reader.count()) {
      _ = try reader.identifier()
      _ = (try reader.varint(), try reader.varint())
    }
    _ = try reader.counted()
    head = [2] + bytes[1..<reader.offset]
    var firstBytes = format == 3 ? try Self.firstBytes(&reader)[...] : []
    for _ in 0..<(try reader.count()) {
      let start = reader
      _ = (try reader.varint(), try reader.varint())
      let count = try reader.count()
      makers.append((Array(reader.bytes(since: start)), []))
      var steps = 0
      while steps < count {
        let first = format == 3 ? firstBytes.removeFirst() : try reader.byte()
        let start = reader
        switch try reader.stepOrNote(behind: first) {
        case .step: steps += 1
        case .note(.right, 0...): _ = try reader.varint()
        case .note: break
        }
        makers[makers.count - 1].steps.append((first, Array(reader.bytes(since: start))))
      }
    }
    #expect(reader.isAtEnd && firstBytes.isEmpty)
  }

  private static func firstBytes(_ reader: inout ByteReader) throws -> [UInt8] {
    let used = Array(try reader.raw(Int(try reader.byte())))
    let count = try reader.count()
    let width = width(used.count)
    let packed = Array(try reader.raw((count * width + 7) / 8))
    return (0..<count).map { index in
      let bits = (0..<width).map { packed[(index * width + $0) / 8] >> ((index * width + $0) % 8) }
      return used[bits.reversed().reduce(0) { $0 << 1 | Int($1 & 1) }]
    }
  }

  private static func width(_ used: Int) -> Int { [4, 5, 6].first { 1 << $0 >= used } ?? 8 }

  var firstBytes: [UInt8] { makers.flatMap(\.steps).map(\.first) }

  var plain: [UInt8] {
    head + [UInt8(makers.count)]
      + makers.flatMap { $0.head + $0.steps.flatMap { [$0.first] + $0.rest } }
  }

  /// In format 3, whether that is shorter or not.
  var packed: [UInt8] {
    let used = Set(firstBytes).sorted()
    let width = Self.width(used.count)
    var bits = firstBytes.flatMap { byte in
      (0..<width).map { used.firstIndex(of: byte)! >> $0 & 1 }
    }
    bits += Array(repeating: 0, count: -bits.count & 7)
    var writer = ByteWriter()
    writer.raw([3] + head.dropFirst())
    writer.counted(used)
    writer.varint(firstBytes.count)
    for start in stride(from: 0, to: bits.count, by: 8) {
      writer.byte((0..<8).reduce(0) { $0 | UInt8(bits[start + $1]) << UInt8($1) })
    }
    writer.varint(makers.count)
    for maker in makers { writer.raw(maker.head + maker.steps.flatMap(\.rest)) }
    return writer.bytes
  }

  /// In the format in which they are to be written.
  var written: [UInt8] {
    let isLong = firstBytes.count >= 64 && Set(firstBytes).count <= 64
    return isLong && packed.count < plain.count ? packed : plain
  }
}

/// Writes a letter at many places, in a text that another author has written.
func scattered(
  _ edits: Int, in length: Int, _ generator: inout SplitMix64
) -> (before: ReplicatingText, after: ReplicatingText) {
  let (alice, bob) = (Author(1), Author(2))
  var text = ReplicatingText()
  text.insert([UInt8](repeating: 120, count: length).span, at: 0, by: &alice.replica)
  let before = text
  for _ in 0..<edits {
    let place = generator.below(text.count)
    if generator.chance(33) {
      text.remove(place..<place + 1, by: &bob.replica)
    } else {
      text.insert([97].span, at: place, by: &bob.replica)
    }
  }
  return (before, text)
}

@Suite(.computing) struct `Changes of many steps in bytes` {
  /// Changes of one kind or of many, near each other or far apart.
  private func edit(
    _ text: inout ReplicatingText, _ author: Author, kinds: Int, reach: Int,
    _ generator: inout SplitMix64
  ) {
    var place = 0
    for _ in 0..<1 + generator.below(300) {
      let next = generator.chance(50) ? place + generator.below(reach) : generator.below(1 << 20)
      place = next % (text.count + 1)
      let end = min(place + 1 + generator.below(kinds), text.count)
      switch generator.below(4) {
      case 0: text.remove(place..<end, by: &author.replica)
      case 1 where kinds > 1:
        for _ in place..<end { text.remove(place..<place + 1, by: &author.replica) }
      case 2 where kinds > 1:
        for letter in UInt8(97)...(98 + UInt8(generator.below(kinds))) {
          text.insert([letter].span, at: place, by: &author.replica)
          place += 1
        }
      default:
        let word = [UInt8](repeating: 100, count: 1 + generator.below(kinds))
        text.insert(word.span, at: place, by: &author.replica)
      }
    }
  }

  @Test func `are read as they were written, in one form or the other`() throws {
    var packed = 0
    var all = 0
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      let authors = (1...3).map(Author.init)
      var start = ReplicatingText()
      let length = generator.pick([0, 100, 5_000, 200_000])
      start.insert([UInt8](repeating: 120, count: length).span, at: 0, by: &authors[0].replica)
      let (kinds, reach) = (generator.pick([1, 2, 20]), generator.pick([1, 10, 10_000]))
      var texts = [start, start]
      edit(&texts[0], authors[0], kinds: kinds, reach: reach, &generator)
      edit(&texts[1], authors[1], kinds: kinds, reach: reach, &generator)
      texts[1].merge(texts[0])
      edit(&texts[1], authors[generator.below(2) + 1], kinds: kinds, reach: reach, &generator)
      for before in [ReplicatingText(), start, texts[0]] {
        let bytes = texts[1].changes(since: before.version).encoded()
        let apart = try ChangesInBytes(bytes)
        #expect(apart.written == bytes, at(seed))
        packed += bytes[0] == 3 ? 1 : 0
        all += 1
        if bytes[0] == 2 {
          #expect(throws: DecodingFailure.self, at(seed)) {
            try ReplicatingText.Changes(encoded: apart.packed)
          }
        }
        // An earlier version wrote the same in format 2.
        for form in [bytes, apart.plain] {
          let read = try ReplicatingText.Changes(encoded: form)
          #expect(read.encoded() == bytes, at(seed))
          var joined = before
          try joined.apply(read)
          #expect(joined == texts[1], at(seed))
        }
      }
    }
    #expect(packed > all / 5 && packed < all * 4 / 5, "both forms: \(packed) of \(all)")
  }

  @Test func `take two bytes and a half where places are far apart`() throws {
    var generator = SplitMix64(seed: 1)
    let (before, after) = scattered(1_000, in: 100_000, &generator)
    let bytes = after.changes(since: before.version).encoded()
    let letters = after.utf8.count { $0 == 97 }
    #expect(bytes[0] == 3 && bytes.count - letters < 2_800, "\(bytes.count), \(letters) letters")
  }

  @Test func `stay in the form that earlier versions read if they are few`() throws {
    for seed in seeds(20) {
      var generator = SplitMix64(seed: seed)
      let (before, after) = scattered(60, in: 100_000, &generator)
      let bytes = after.changes(since: before.version).encoded()
      let count = try ChangesInBytes(bytes).firstBytes.count
      #expect(bytes[0] == (count < 64 ? 2 : 3), at(seed))
    }
  }

  /// The bytes of 65 letters that Bob writes behind each tenth of Alice's, with other first bytes.
  private func letters(_ used: [UInt8], _ count: Int, _ places: [UInt8], steps: Int = 65) -> [UInt8]
  {
    var writer = ByteWriter()
    writer.format(3)
    writer.varint(1_000 + steps)
    writer.varint(2)
    for (author, numbers) in [(1, [1, 0]), (2, [steps, steps])] {
      writer.identifier(replicaID(UInt64(author)))
      for number in numbers { writer.varint(number) }
    }
    writer.counted([UInt8](repeating: 97, count: steps))
    writer.counted(used)
    writer.varint(count)
    writer.raw(places)
    writer.raw([1, 1, 0, UInt8(steps)])
    // The author of the gaps, by how much the time is later than expected, and the distance of each step.
    writer.signed(0)
    writer.signed(1_000)
    writer.raw([UInt8](repeating: 15, count: steps))
    return writer.bytes
  }

  @Test func `have one form that is packed`() throws {
    let zeros = [UInt8](repeating: 0, count: 33)
    let sound = letters([5, 250, 252], 67, [0x12] + zeros)
    let (alice, bob) = (Author(1), Author(2))
    var text = ReplicatingText()
    text.insert([UInt8](repeating: 120, count: 1_000).span, at: 0, by: &alice.replica)
    let before = text.version
    for index in 1...65 { text.insert([97].span, at: 11 * index - 1, by: &bob.replica) }
    #expect(text.changes(since: before).encoded() == sound)
    #expect(try ReplicatingText.Changes(encoded: ChangesInBytes(sound).plain).encoded() == sound)
    let (disorder, longer) = (
      "first bytes out of order", "first bytes written longer than they are"
    )
    let wrong: [(reason: String, bytes: [UInt8])] = [
      (disorder, letters([250, 5, 252], 67, [0x02] + zeros.map { _ in 0x11 })),
      (disorder, letters([5, 5, 250, 252], 67, [0x23] + zeros)),
      // One that is not used; the last one not used; a bit behind the last place.
      (longer, letters([5, 6, 250, 252], 67, [0x23] + zeros)),
      (longer, letters([5, 250, 252, 253], 67, [0x12] + zeros)),
      (longer, letters([5, 250, 252], 67, [0x12] + zeros.dropLast() + [0x10])),
      ("first byte 3 of 3", letters([5, 250, 252], 67, [0x13] + zeros)),
      ("67 first bytes, 0 of them different, packed", letters([], 67, [0x12] + zeros)),
      ("67 first bytes, 65 of them different, packed", letters(Array(5...69), 67, [0x12] + zeros)),
      (
        "63 first bytes, 3 of them different, packed",
        letters([5, 250, 252], 63, [0x12] + zeros.dropLast(2), steps: 61)
      ),
      ("first bytes of no step", letters([5, 250, 252], 68, [0x12] + zeros)),
      ("a step without a first byte", letters([5, 250, 252], 66, [0x12] + zeros.dropLast())),
      (
        "1073741824 bytes promised, 106 left",
        letters([5, 250, 252], Int(Int32.max), [0x12] + zeros)
      ),
    ]
    for (reason, bytes) in wrong {
      do throws(DecodingFailure) {
        _ = try ReplicatingText.Changes(encoded: bytes)
        Issue.record("read: \(reason)")
      } catch {
        #expect(error.reason == reason)
      }
    }
    let few = try ChangesInBytes(letters([5, 250, 252], 63, [0x12] + zeros.dropLast(2), steps: 61))
    #expect(try ReplicatingText.Changes(encoded: few.plain).encoded() == few.plain)
  }

  @Test func `have a format that is told from damage`() throws {
    var bytes = letters([5, 250, 252], 67, [0x12] + [UInt8](repeating: 0, count: 33))
    bytes[0] = 4
    let reason = "format 4 of changes of a sequence, of which 2 and 3 are known"
    #expect(throws: DecodingFailure(offset: 0, reason: reason, isOfLaterVersion: true)) {
      try ReplicatingText.Changes(encoded: bytes)
    }
  }
}
