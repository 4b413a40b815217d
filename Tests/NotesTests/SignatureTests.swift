import Bytes
import Foundation
import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// In these tests notes are found by the words behind number signs.
private let hashKeys = NoteKeys(format: 7) { note in
  String(decoding: note.utf8, as: UTF8.self).split { $0 == " " || $0 == "\n" }
    .filter { $0.hasPrefix("#") }.map(key)
}

private func key(_ word: Substring) -> UInt64 {
  word.utf8.reduce(5381) { $0 &* 33 &+ UInt64($1) }
}

extension NoteBook {
  fileprivate mutating func keyed(
    _ keys: NoteKeys = hashKeys
  ) throws -> (archive: NotebookArchive, mark: UInt64) {
    var writer = ArchiveWriter(&self, appendix: [], keys: keys)
    var bytes: [UInt8] = []
    while let piece = try writer.next() { bytes += piece }
    return (try NotebookArchive(bytes), writer.mark)
  }

  /// The notes that a search finds.
  fileprivate func found(_ query: String, isText: Bool = false) throws -> [NoteID] {
    let bytes = Array(query.utf8)
    var search = NoteSearch(
      for: try isText ? SearchQuery(text: bytes) : SearchQuery(parsing: bytes), in: self)
    var found: [NoteID] = []
    while try search.proceed(
      1 << 12,
      {
        found.append($0.note.id)
        return true
      })
    {}
    return found
  }

  /// The same notebook with all of it in memory: nothing is skipped there.
  fileprivate func inMemory() throws -> NoteBook {
    var book = NoteBook()
    try book.merge(
      foreign: try ChangeSet.decode(changes(since: Version()).encoded(of: notebook)).1)
    return book
  }
}

@Suite(.computing) struct `Signatures of notes` {
  private let words = [
    "apple", "Äpfel", "a\u{308}pfel", "the", "them", "there", "#one", "#two", "#drei", "日本語", "日記",
    "Straße", "strasse", "x", "ab", "abc", "각", "\u{1100}\u{1161}\u{11A8}", "naïve", "e\u{301}x",
  ]
  private let tags = [
    "home", "Home", "büro", "bu\u{308}ro", "\u{F900}", "\u{8C48}", "日", "Ω", "\u{2126}", "a b",
  ]

  private func text(_ random: inout SplitMix64) -> String {
    // Now and then one that has a longer signature, or none.
    let count = random.pick([0, 1, 5, 20, 60])
    var text = (0..<count).map { _ in random.pick(words) }.joined(separator: " ")
    if random.chance(8) {
      let length = random.pick([300, 3_000, 40_000])
      text +=
        " "
        + String((0..<length).map { _ in Character(Unicode.Scalar(UInt8(97 + random.below(26)))) })
    }
    return text
  }

  private func step(_ person: Person, _ random: inout SplitMix64) throws {
    guard let note = person.book.notes.randomElement(using: &random), random.chance(70) else {
      person.create(random.pick(words) + " " + random.pick(words), text(&random))
      return
    }
    person.change(note, title: random.pick(words), tags: tags, &random, text)
  }

  private func check(_ book: NoteBook, _ random: inout SplitMix64, _ comment: Comment) throws {
    let plain = try book.inMemory()
    for _ in 0..<6 {
      let (word, other) = (random.pick(words), random.pick(words))
      let query = random.pick([
        word, "\(word) \(other)", "\"\(word) \(other)\"", "-\(word)", "\(other) -\(word)",
        "title:\(word)", "is:trashed \(word)", "tag:\"\(random.pick(tags))\"",
        "tag:\"\(random.pick(tags))\" \(word)", "-tag:home \(word)",
      ])
      let (found, expected) = try (book.found(query), plain.found(query))
      #expect(found == expected, "\(query), \(comment)")
      let part = String(word.unicodeScalars.prefix(1 + random.below(4)).map(Character.init))
      #expect(
        try book.found(part, isText: true) == plain.found(part, isText: true), "\(part), \(comment)"
      )
    }
    for title in words + plain.notes.prefix(5).map(\.title.value) {
      for isTrashed in [false, true] {
        let (found, expected) = try (
          book.notes(named: .title(title), isTrashed: isTrashed, atMost: 9),
          plain.notes(named: .title(title), isTrashed: isTrashed, atMost: 9)
        )
        #expect(found == expected, "\(title), \(comment)")
      }
    }
    for name in tags {
      let tag = Tag(name)
      var listed: [[NoteID]] = []
      for book in [book, plain] {
        var book = book
        try book.openOrder()
        var ids: [NoteID] = []
        try book.forEachSummary(tagged: [tag]) { note in
          if note.tags.contains(tag) { ids.append(note.id) }
          return true
        }
        listed.append(ids)
      }
      #expect(listed[0] == listed[1], "\(name), \(comment)")
    }
    for word in ["#one", "#two", "#drei", "#none"] {
      guard let found = try book.notes(mayHaveOneOf: [key(word[...])], of: hashKeys) else {
        #expect(book.archive?.signatures.format != hashKeys.format, comment)
        continue
      }
      for note in book.notes where !book.isPurged(note.id) {
        let content = NoteContent(
          title: "", path: "", header: [], tags: [], utf8: note.text.utf8)
        if hashKeys.keys(content).contains(key(word[...])) {
          #expect(found.contains(note.id), "\(word), \(comment)")
        }
      }
    }
  }

  /// Archives follow each other, with what was done between two and while one was written; now and then another process has written one.
  @Test(arguments: seeds(20))
  func `leave out no note that has what is looked for`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let person = Person(1 + seed % 2)
    for round in 0..<12 {
      for _ in 0..<random.below(25) { try step(person, &random) }
      let keys = random.chance(15) ? NoteKeys.none : hashKeys
      // Now and then there is no time for all signatures.
      let limit = random.chance(20) ? random.below(2_000) : .max
      var writer = ArchiveWriter(&person.book, appendix: [], keys: keys, signing: limit)
      var bytes: [UInt8] = []
      while let piece = try writer.next() {
        bytes += piece
        if random.chance(30) { try step(person, &random) }
      }
      let archive = try NotebookArchive(bytes)
      #expect(archive.signatures.format == keys.format)
      try person.book.adopt(archive, markedAt: writer.mark)
      try check(person.book, &random, at(seed, round))
      // A process that begins with it.
      if random.chance(30) {
        let (whole, _) = try person.book.keyed()
        let mostOpen = person.book.noteCache.mostOpen
        person.book = NoteBook(whole)
        person.book.noteCache.mostOpen = mostOpen
        try check(person.book, &random, at(seed, round))
      }
    }
  }

  /// The blocks of the longest signatures are full with 256 notes.
  @Test func `are right in blocks that are full, are copied, or taken apart`() throws {
    var random = SplitMix64(seed: 1)
    let person = Person(1)
    func long(_ number: Int) -> String {
      "number\(number)z "
        + String((0..<9_000).map { _ in Character(Unicode.Scalar(UInt8(97 + random.below(26)))) })
    }
    var notes = (0..<600).map { person.create("note \($0)", long($0)) }
    func reopen() throws -> [Signatures.Block] {
      let (archive, mark) = try person.book.keyed()
      try person.book.adopt(archive, markedAt: mark)
      return archive.signatures.blocks.filter { $0.exponent == Feature.longest }
    }
    func check() throws {
      for number in [0, 1, 7, 255, 256, 300, 511, 512, 599] where notes.indices.contains(number) {
        let note = person.book[notes[number]]!
        let words = String(decoding: note.text.utf8.prefix { $0 != 0x20 }, as: UTF8.self)
        #expect(try person.book.found(words) == (note.isTrashed ? [] : [notes[number]]))
      }
    }
    #expect(try reopen().map(\.count) == [256, 256, 88])
    try check()
    // A few changed: their columns are of no use, the blocks stay, and what is new comes behind.
    for number in [1, 255, 300] { person.setText(notes[number], long(1_000 + number)) }
    let changed = try reopen()
    #expect(changed.map(\.count) == [256, 256, 91])
    try check()
    #expect(try person.book.found("number300z").isEmpty)
    let columns = try person.book.archive!.columns(of: changed[0])
    #expect(columns.count { $0 == Signatures.none } == 2)
    // Most of the first block changed: it is taken apart.
    for number in 2..<200 { person.setText(notes[number], long(2_000 + number)) }
    #expect(try reopen().map(\.count).reduce(0, +) < 256 + 600)
    try check()
    // A note that came first moves all others in the index.
    let other = Person(0)
    let first = other.create("first", long(5_000))
    try person.pull(other)
    notes.append(first)
    _ = try reopen()
    try check()
    #expect(try person.book.found("number5000z") == [first])
    // Where words of a purged note may be left in a column, none is left.
    person.delete(notes[510])
    person.purge(notes[510])
    notes.remove(at: 510)
    let purged = try reopen()
    for block in purged {
      #expect(!(try person.book.archive!.columns(of: block).contains(Signatures.none)))
    }
    try check()
  }

  @Test func `come with the next archive where there was no time for more`() throws {
    var random = SplitMix64(seed: 4)
    let person = Person(1)
    for number in 0..<100 { person.create("note \(number)", text(&random) + " word\(number)z") }
    var left: [Int] = []
    repeat {
      var writer = ArchiveWriter(&person.book, appendix: [], keys: hashKeys, signing: 8_000)
      var bytes: [UInt8] = []
      while let piece = try writer.next() { bytes += piece }
      try person.book.adopt(try NotebookArchive(bytes), markedAt: writer.mark)
      left.append(person.book.archive!.signatures.left)
      #expect(person.book.isArchiveUnsigned == (left.last! > 0))
      try check(person.book, &random, "\(left)")
    } while left.last! > 0 && left.count < 100
    #expect(left.count > 2 && left.last == 0 && left == left.sorted(by: >))
  }

  @Test func `leave few notes that do not have what is looked for`() throws {
    var random = SplitMix64(seed: 3)
    let person = Person(1)
    let syllables = ["ka", "ro", "mi", "sten", "fel", "an", "gor", "tu", "bel", "ish", "ver", "do"]
    func word() -> String { (0...random.below(4)).map { _ in random.pick(syllables) }.joined() }
    for _ in 0..<2_000 {
      person.create(word(), (0..<150).map { _ in word() }.joined(separator: " "))
    }
    let rare = person.create("rare", "quixotic #needle")
    person.setTags(rare, "zebra")
    let (archive, mark) = try person.book.keyed()
    try person.book.adopt(archive, markedAt: mark)
    func count(_ features: [Feature]) throws -> Int {
      try NoteBook(archive).noteCache.candidates(with: features, in: archive).count
    }
    #expect(try count(SearchQuery(parsing: Array("quixotic".utf8)).features) < 10)
    #expect(try count([Feature(key: key("#needle"))]) < 3)
    #expect(try count(SearchQuery(parsing: Array("tag:zebra".utf8)).features) < 3)
    #expect(try count([]) == 2_001)
    // And they are no larger than a quarter of the texts.
    let size = archive.signatures.blocks.reduce(0) { $0 + $1.rows.size + $1.columns.size }
    #expect(size < person.book.notes.reduce(0) { $0 + $1.text.count } / 2)
  }

  /// Each scalar, and what it is canonically equivalent to.
  @Test func `of equivalent tags have one place`() {
    var folded = FoldedText()
    func features(_ name: String) -> [Feature] {
      folded.fold(Array(name.utf8)[...])
      let tag = Feature(tagFolded: folded.utf8)
      return Feature.isUsual(name) ? [tag] : [tag, .unusualTag]
    }
    var missed: [String] = []
    for value in UInt32(0x21)...0x2FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned
      else { continue }
      let name = "a" + String(scalar)
      let forms = [
        name, name.decomposedStringWithCanonicalMapping, name.precomposedStringWithCanonicalMapping,
      ]
      for (one, other) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
        // A list looks for the tag itself and for all unusual ones; for an unusual one everywhere.
        if !Feature.isUsual(forms[one]) { continue }
        let wanted = [features(forms[one])[0], .unusualTag]
        if !features(forms[other]).contains(where: { wanted.contains($0) }) {
          missed.append("U+\(String(value, radix: 16))")
        }
      }
    }
    #expect(missed.prefix(20) == [])
  }

  /// Any byte may be wrong: then it is said, or what is found is right.
  @Test(arguments: seeds(3))
  func `that are damaged are noticed`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let person = Person(1)
    for _ in 0..<150 { try step(person, &random) }
    var writer = ArchiveWriter(&person.book, appendix: [], keys: hashKeys)
    var bytes: [UInt8] = []
    while let piece = try writer.next() { bytes += piece }
    let whole = NoteBook(try NotebookArchive(bytes))
    let expected = try ["apple", "tag:home", "日本"].map { try whole.found($0) }
    var noticed = 0
    let block = try #require(whole.archive!.signatures.blocks.first)
    for round in 0..<400 {
      var damaged = bytes
      let range =
        round < 200 ? block.rows.start..<block.rows.start + block.rows.size : bytes.indices
      damaged[range.lowerBound + random.below(range.count)] ^= UInt8(1 << random.below(8))
      do {
        let book = NoteBook(try NotebookArchive(damaged))
        #expect(
          try ["apple", "tag:home", "日本"].map { try book.found($0) } == expected, at(seed, round))
        _ = try book.notes(mayHaveOneOf: [1, 2], of: hashKeys)
      } catch is ArchiveFailure { noticed += 1 }
    }
    #expect(noticed > 0)
  }

  /// Columns that name no note, with the right checksum: refused by who looks for something, and by who writes the next archive.
  @Test(arguments: [1_000, 1 << 31, UInt32.max - 1])
  func `that name no note are refused`(place: UInt32) throws {
    let person = Person(1)
    for number in 0..<50 { person.create("note \(number)", "apple \(number)") }
    var writer = ArchiveWriter(&person.book, appendix: [], keys: hashKeys)
    var bytes: [UInt8] = []
    while let piece = try writer.next() { bytes += piece }
    let columns = try #require(try NotebookArchive(bytes).signatures.blocks.first).columns
    var forged = ByteWriter()
    for _ in 0..<columns.size / 4 { forged.fixed(place) }
    forged.fixed(CRC32C.checksum(of: forged.bytes[...]))
    bytes.replaceSubrange(columns.start..<columns.start + forged.bytes.count, with: forged.bytes)
    var book = NoteBook(try NotebookArchive(bytes))
    #expect(throws: ArchiveFailure.self) { try book.found("apple") }
    #expect(throws: ArchiveFailure.self) { try book.keyed() }
  }
}
