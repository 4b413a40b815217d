import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite struct `Notes by their names` {
  private static let titles = [
    "", "a", "ab", "abc", "\u{E9}", "e\u{301}", "\u{E9}t\u{E9}", "b\u{E9}",
    String(repeating: "x", count: 127), String(repeating: "x", count: 128),
    String(repeating: "\u{20AC}", count: 1365),
  ]

  /// What has to be found, by a look at all notes.
  private func expected(
    _ isWanted: (NoteSummary) -> Bool, in book: NoteBook, isTrashed: Bool, limit: Int
  ) -> (notes: [NoteSummary], isMore: Bool) {
    let all = book.summaries.filter { $0.isTrashed == isTrashed && isWanted($0) }
      .sorted { ($0.created, $0.id) < ($1.created, $1.id) }
    return (Array(all.prefix(limit)), all.count > limit)
  }

  @Test func `are those that a look at all notes finds, whatever the archive has`() throws {
    for seed in seeds(20) {
      var generator = SplitMix64(seed: seed)
      let people = (1...3).map { Person($0) }
      for step in 0..<60 {
        let person = generator.pick(people)
        person.now += Int64(generator.below(3)) * 1000
        let notes = person.book.notes.map(\.id)
        switch generator.below(10) {
        case 0...3: person.create(generator.pick(Self.titles))
        case 4 where !notes.isEmpty:
          person.setTitle(generator.pick(notes), generator.pick(Self.titles))
        case 5 where !notes.isEmpty: person.delete(generator.pick(notes))
        case 6 where !notes.isEmpty: person.setTags(generator.pick(notes), "t")
        case 7: try person.pull(generator.pick(people))
        case 8: try person.putAway(andReopen: generator.chance(50))
        case 9 where step > 30:
          if let note = person.book.notes.first(where: \.isTrashed) { person.purge(note.id) }
        default: break
        }
      }
      for person in people {
        let book = person.book
        for isTrashed in [false, true] {
          for limit in [1, 3, 100] {
            for title in Self.titles {
              let same = book.summaries.contains {
                $0.isTrashed == isTrashed && $0.title.utf8.elementsEqual(title.utf8)
              }
              let wanted = expected(
                { same ? $0.title.utf8.elementsEqual(title.utf8) : $0.title == title }, in: book,
                isTrashed: isTrashed, limit: limit)
              let found = try book.notes(
                named: .title(title), isTrashed: isTrashed, atMost: limit)
              #expect(found == wanted, at(seed))
            }
            for beginning in ["", "a", "ab", "e", "x"] {
              let wanted = expected(
                { $0.title.utf8.starts(with: beginning.utf8) }, in: book, isTrashed: isTrashed,
                limit: limit)
              let found = try book.notes(
                named: .titleBeginning(beginning), isTrashed: isTrashed, atMost: limit)
              #expect(found.isMore == wanted.isMore, at(seed))
              #expect(found.notes.count == wanted.notes.count, at(seed))
              #expect(found.notes.allSatisfy { $0.title.utf8.starts(with: beginning.utf8) })
              if !found.isMore { #expect(found.notes == wanted.notes, at(seed)) }
            }
            let tagged = expected(
              { $0.title == "a" && !$0.tags.isEmpty }, in: book, isTrashed: isTrashed, limit: limit)
            let found = try book.notes(
              named: .title("a"), isTrashed: isTrashed, tags: [Tag("t")], atMost: limit)
            #expect(found == tagged, at(seed))
          }
        }
        for note in book.summaries {
          #expect(try book.summary(of: note.id) == note, at(seed))
          let name = try #require(NoteName(idBeginning: "\(note.id)"))
          let found = try book.notes(named: name, isTrashed: note.isTrashed, atMost: 2)
          #expect(found == ([note], false), at(seed))
        }
        for id in book.purged { #expect(try book.summary(of: id) == nil) }
      }
    }
  }

  @Test(arguments: [
    ("1-5dc8", true), ("1-5dc", false), ("1-", false), ("-5dc8", false), ("0-5dc8", false),
    ("01-5dc8", false), ("+1-5dc8", false), ("1-5DC8", false), ("1-5dcx", false),
    ("1-5dc8-1", false), ("2026-1124", true), ("2026-11-24", false), ("x", false), ("", false),
    ("18446744073709551615-0000", true), ("18446744073709551616-0000", false),
    ("1-0123456789abcdef0123456789abcdef", true), ("1-0123456789abcdef0123456789abcdef0", false),
    ("1-5dé8", false),
  ])
  func `are beginnings of ids only with a number, a hyphen and four digits`(
    _ text: String, _ isOne: Bool
  ) {
    #expect((NoteName(idBeginning: text) != nil) == isOne)
  }

  @Test func `are found without reading more than the summaries`() throws {
    let person = Person(1)
    for number in 0..<3000 { person.create("note \(number)", String(repeating: "t", count: 500)) }
    let disk = try Disk(&person.book)
    let book = NoteBook(try disk.archive())
    let start = disk.read
    let found = try book.notes(named: .title("note 2999"), isTrashed: false, atMost: 5)
    #expect(found.notes.map(\.title) == ["note 2999"])
    #expect(disk.read - start < 3000 * 40)
    let before = disk.read
    #expect(
      try book.notes(named: .title("none"), isTrashed: false, atMost: 5) == ([], false))
    #expect(disk.read - before < 3000 * 40)
    disk.breakDown()
    #expect(throws: ArchiveFailure(reason: "the disk is broken")) {
      try book.notes(named: .title("note 1"), isTrashed: false, atMost: 5)
    }
  }

  @Test func `are read from damaged archives without a trap`() throws {
    let person = Person(1)
    for number in 0..<40 { person.create(String(repeating: "note ", count: number * 3)) }
    let disk = try Disk(&person.book)
    let summaries = try #require(disk.bytes.firstIndex(of: UInt8(ascii: "n")))
    var generator = SplitMix64(seed: 7)
    for round in 0..<400 {
      var bytes = disk.bytes
      let place = summaries + generator.below(bytes.count - summaries)
      bytes[place] ^= UInt8(1 << generator.below(8))
      // What the head and the index say is checked when an archive is opened.
      guard let archive = try? NotebookArchive(bytes) else { continue }
      let book = NoteBook(archive)
      for name in [NoteName.title("note note note "), .titleBeginning("n"), .title("\u{E9}")] {
        do {
          let found = try book.notes(named: name, isTrashed: false, atMost: 3)
          #expect(found.notes.allSatisfy { $0.title.hasPrefix("n") }, "\(round)")
        } catch { #expect(!error.reason.isEmpty) }
      }
    }
  }
}

/// Swift has no equality of pairs in `#expect` that shows them.
private func == (
  a: (notes: [NoteSummary], isMore: Bool), b: (notes: [NoteSummary], isMore: Bool)
) -> Bool { a.notes == b.notes && a.isMore == b.isMore }
