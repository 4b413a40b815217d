import TestSupport
import Testing

@testable import ReplicatingTypes

private let words = ["a", "b", "\n", "é", "中文", "😀", "quick ", "brown "].map { Array($0.utf8) }

/// One person's text, in full, and everything it ever was.
private final class Writer {
  let author: Author
  var text = ReplicatingText()
  var states = [ReplicatingText()]

  init(_ number: UInt64) { author = Author(number) }

  /// A place between two scalars.
  func place(_ generator: inout SplitMix64) -> Int {
    let utf8 = text.utf8
    return generator.pick((0...utf8.count).filter { $0 == utf8.count || utf8[$0] & 0xC0 != 0x80 })
  }

  /// Typing, backspacing, pasting and removing.
  func edit(_ generator: inout SplitMix64) {
    var place = place(&generator)
    switch generator.below(4) {
    case 0:
      for _ in 0..<1 + generator.below(12) {
        let letter = [UInt8(97 + generator.below(26))]
        text.insert(letter.span, at: place, by: &author.replica)
        place += 1
      }
    case 1:
      for _ in 0..<1 + generator.below(4) {
        guard place > 0, text.utf8[place - 1] < 0x80 else { break }
        place -= 1
        text.remove(place..<place + 1, by: &author.replica)
      }
    case 2:
      let word = generator.pick(words)
      text.insert(word.span, at: place, by: &author.replica)
    default:
      let other = self.place(&generator)
      let utf8 = text.utf8
      let start = min(place, other)
      // A few bytes, and then up to the next scalar.
      var end = min(max(place, other), start + 6)
      while end < utf8.count, utf8[end] & 0xC0 == 0x80 { end += 1 }
      text.remove(start..<end, by: &author.replica)
    }
  }
}

/// What several people wrote, who now and then took what the others had.
private func history(_ seed: UInt64) throws -> [Writer] {
  var generator = SplitMix64(seed: seed)
  let writers = (1...UInt64(2 + generator.below(3))).map(Writer.init)
  for _ in 0..<40 {
    let writer = generator.pick(writers)
    if generator.chance(60) {
      writer.edit(&generator)
    } else {
      let other = generator.pick(writers)
      try writer.text.apply(other.text.changes(since: writer.text.version))
    }
    writer.states.append(writer.text)
  }
  return writers
}

/// Where every element was inserted, removed ones too, in the order of the document.
private func origins(_ array: ReplicatingArray<UInt8>) -> [[ElementID?]] {
  let array = array.restored
  var all: [[ElementID?]] = []
  array.forEachSlot { _, id, _ in
    let element = array.local(id)
    let author = array.authors[Int(element.author)]
    all.append([
      id, array.id(of: author.left(of: element.offset, author: element.author)),
      array.id(of: author.right(of: element.offset)),
    ])
  }
  return all
}

@Suite struct `Trimmed text` {
  @Test func `keeps text, order, stamps and origins in random histories`() throws {
    for seed in seeds(60) {
      for writer in try history(seed) {
        let text = writer.text
        let bytes = TrimmedText(text).encoded()
        var saved = try TrimmedText(encoded: bytes)
        #expect(saved.utf8 == text.utf8, at(seed))
        #expect(saved.count == text.count, at(seed))
        #expect(saved.version == text.version, at(seed))
        #expect(saved.encoded() == bytes, at(seed))
        try saved.open()
        saved.checkInvariants()
        #expect(saved.utf8 == text.utf8, at(seed))
        #expect(saved.encoded() == bytes, "written the same again, \(at(seed))")
        let array = try TrimmedEncoding(bytes).decoded()
        #expect(origins(array) == origins(text.bytes), at(seed))
        var stamps: [LamportTimestamp] = []
        text.bytes.settled.forEachSlot { stamps.append($2) }
        array.forEachSlot { #expect($2 == stamps.removeFirst(), at(seed)) }
      }
    }
  }

  /// Trimmed in the midst of things, it goes on as the whole text does.
  @Test func `is edited and merged as the whole text is, in random histories`() throws {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed &+ 9_000_000)
      let writers = try history(seed &+ 1_000_000)
      var end = writers[0].text
      for writer in writers { end.merge(writer.text) }
      for _ in 0..<8 {
        let whole = generator.pick(generator.pick(writers).states)
        var saved = try TrimmedText(encoded: TrimmedText(whole).encoded())
        let author = Author(99)
        let place = generator.chance(50) ? whole.count : 0
        let new = [UInt8]("new".utf8)
        try saved.insert(new.span, at: place, by: &author.replica)
        var edited = whole
        try edited.apply(#require(saved.changes(since: whole.version)))
        #expect(saved.utf8 == edited.utf8, at(seed))
        // What others did meanwhile, which may contest places that were trimmed.
        try saved.apply(end.changes(since: whole.version))
        edited.merge(end)
        saved.checkInvariants()
        #expect(saved.utf8 == edited.utf8, at(seed))
        #expect(saved.version == edited.version, at(seed))
        // What is trimmed before or after is the same.
        #expect(saved.encoded() == TrimmedText(edited).encoded(), at(seed))
        #expect(saved.changes(since: Version()) == nil || whole.version.isEmpty, at(seed))
      }
    }
  }

  /// Letter by letter: by more than are kept beside the tree at once.
  @Test func `is typed in as the whole text is`() throws {
    for seed in seeds(20) {
      var generator = SplitMix64(seed: seed)
      let (author, twin) = (Author(1), Author(1))
      var (whole, start) = (ReplicatingText(), ReplicatingText())
      if generator.chance(50) {
        whole.insert("é😀\n".utf8.span, at: 0, by: &author.replica)
        start.insert("é😀\n".utf8.span, at: 0, by: &twin.replica)
      }
      var text = TrimmedText(start)
      for _ in 0..<4 {
        var place = generator.chance(50) ? whole.count : 0
        for _ in 0..<generator.below(80) {
          let letter = [UInt8(97 + generator.below(26))]
          whole.insert(letter.span, at: place, by: &author.replica)
          try text.insert(letter.span, at: place, by: &twin.replica)
          place += 1
        }
        #expect(text.string == whole.string, at(seed))
      }
      let changes = try #require(text.changes(since: start.version))
      #expect(changes.encoded() == whole.changes(since: start.version).encoded(), at(seed))
    }
  }

  @Test func `refuses a truncation or a flipped bit, or reads a text`() throws {
    let writers = try history(77)
    let bytes = TrimmedText(writers[0].text).encoded()
    for count in bytes.indices {
      #expect(throws: DecodingFailure.self) { try TrimmedText(encoded: Array(bytes[..<count])) }
    }
    var refused = 0
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << (bit % 8)
      do {
        var saved = try TrimmedText(encoded: flipped)
        try saved.open()
        saved.checkInvariants()
        let author = Author(50)
        let letter: [UInt8] = [65]
        try saved.insert(letter.span, at: 0, by: &author.replica)
        _ = saved.encoded()
      } catch {
        refused += 1
      }
    }
    #expect(refused > bytes.count)
  }

  @Test func `of many pieces is merged as the whole text is`() throws {
    for seed in seeds(3) {
      var generator = SplitMix64(seed: seed)
      let author = Author(1)
      var whole = ReplicatingText()
      for _ in 0..<1_000 {
        let place = generator.below(whole.count + 1)
        whole.insert([UInt8]("word ".utf8).span, at: place, by: &author.replica)
      }
      var saved = try TrimmedText(encoded: TrimmedText(whole).encoded())
      try saved.open()
      saved.checkInvariants()
      let other = Author(2)
      for _ in 0..<50 {
        let place = generator.below(whole.count + 1)
        whole.insert([UInt8]("new".utf8).span, at: place, by: &other.replica)
      }
      try saved.apply(whole.changes(since: saved.version))
      saved.checkInvariants()
      #expect(saved.utf8 == whole.utf8, at(seed))
    }
  }

  @Test func `is empty, and is one author's`() throws {
    var saved = try TrimmedText(encoded: TrimmedText(ReplicatingText()).encoded())
    #expect(saved.utf8.isEmpty && saved.version.isEmpty)
    let author = Author(1)
    let first = [UInt8]("first".utf8)
    try saved.insert(first.span, at: 0, by: &author.replica)
    try saved.remove(0..<1, by: &author.replica)
    #expect(saved.string == "irst")
    saved = try TrimmedText(encoded: saved.encoded())
    #expect(saved.string == "irst" && saved.count == 4)
  }
}

extension TrimmedEncoding {
  fileprivate init(_ bytes: [UInt8]) throws(DecodingFailure) {
    var reader = ByteReader(bytes)
    try self.init(&reader)
  }
}
