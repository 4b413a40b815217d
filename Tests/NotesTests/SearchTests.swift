import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// A search finds what a naive look at every note finds, however the notes are kept.
@Suite(.computing) struct `A search` {
  private let words = [
    "apple", "Apple pie", "Äpfel", "a\u{308}pfel", "APFEL", "the", "them", "Straße", "strasse",
    "STRASSE",
    "Maß", "mass", "日本語", "日記", "ガ", "カ", "x", "ab", "abc", "naïve", "NAIVE", "ﬁn", "fin",
    "e\u{301}x",
    "\u{212A}ey", "key", "майка", "маика", "маи\u{306}ка", "ёлка", "елка", "カ\u{3099}", "각", "가",
  ]
  private let tags = [
    "home", "Home", "büro", "bu\u{308}ro", "日", "home/garden", "homework", "日/本", "büro/x/y",
    "büro/x",
  ]

  private func text(_ random: inout SplitMix64) -> String {
    var text = (0..<random.pick([0, 1, 6, 40])).map { _ in random.pick(words) }
      .joined(separator: random.pick([" ", "\n", ""]))
    if random.chance(10) { text += String(repeating: "filler ", count: 200) + random.pick(words) }
    return text
  }

  private func step(_ person: Person, _ random: inout SplitMix64) throws {
    guard let note = person.book.notes.randomElement(using: &random), random.chance(75) else {
      person.create(random.pick(words), text(&random))
      return
    }
    if random.chance(20) {
      let (key, word) = (random.pick(["alias", "Note", "title", ":lines"]), random.pick(words))
      let lines = random.pick([
        "", "\(key): \(word)\n", "# apple: x\n\n\(key): [\(word)]\n  - home\n",
      ])
      return person.set(.header(key), of: note.id, to: lines)
    }
    person.change(note, title: random.pick(words), tags: tags, &random, text)
  }

  private func folded(_ text: some Sequence<UInt8>) -> [UInt8] {
    var folded = FoldedText()
    folded.fold(Array(text)[...])
    return Array(folded.utf8)
  }

  /// The values of the header's fields.
  private func header(_ note: Note) -> String {
    note.header.filter { $0.key.lowercased() != "title" }.map { key, lines in
      if key == ":lines" { return lines }
      let parts = lines.split(separator: "\n", omittingEmptySubsequences: false)
      let field = parts.firstIndex { $0.hasPrefix(key) }!
      return parts[field...].joined(separator: "\n").dropFirst(key.count + 2) + ""
    }.joined()
  }

  /// A word of a query, and what it says of a note, by definition.
  private struct Condition {
    var text: String
    var isTrue: (Note) -> Bool
  }

  private func condition(_ random: inout SplitMix64) -> Condition {
    let word = random.pick(words)
    let part = String(word.unicodeScalars.suffix(1 + random.below(5)).map(Character.init))
    let tag = random.pick(tags)
    let has = { (text: [UInt8], word: String) -> Bool in
      let (all, wanted) = (folded(text), folded(word.utf8))
      return (0...all.count).contains { all[$0...].starts(with: wanted) }
    }
    let conditions = [word, part].filter { !folded($0.utf8).isEmpty }.flatMap { word in
      [
        Condition(text: "\"\(word)\"") {
          has(Array($0.title.value.utf8), word) || has($0.text.utf8, word)
            || has(Array(header($0).utf8), word)
        },
        Condition(text: "title:\"\(word)\"") { has(Array($0.title.value.utf8), word) },
      ]
    }
    let tagged = Condition(text: "tag:\"\(tag)\"") {
      $0.tags.values.contains {
        let parts = folded($0.name.utf8).split(separator: UInt8(ascii: "/"))
        return parts.starts(with: folded(tag.utf8).split(separator: UInt8(ascii: "/")), by: ==)
      }
    }
    let condition = random.pick(conditions + [tagged])
    guard random.chance(20) else { return condition }
    return Condition(text: "-" + condition.text) { !condition.isTrue($0) }
  }

  private func check(_ book: NoteBook, _ random: inout SplitMix64, _ comment: Comment) throws {
    let notes = book.notes
    for _ in 0..<8 {
      let conditions = (0..<random.pick([1, 1, 2, 4])).map { _ in condition(&random) }
      let isTrashed = random.chance(20)
      let query = conditions.map(\.text).joined(separator: " ") + (isTrashed ? " is:trashed" : "")
      var search = NoteSearch(for: try SearchQuery(parsing: Array(query.utf8)), in: book)
      var found: [NoteID] = []
      while try search.proceed(
        random.pick([1, 1 << 12, 1 << 20]),
        {
          found.append($0.note.id)
          return true
        })
      {}
      let expected = notes.filter { note in
        note.isTrashed == isTrashed && conditions.allSatisfy { $0.isTrue(note) }
      }.map(\.id)
      #expect(found == expected, "\(query), \(comment)")
    }
  }

  /// Notes of several sessions, some open, others packed, and others in an archive as they are, or as they were.
  @Test(arguments: seeds(20))
  func `finds what a naive look at each note finds`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let people = (0..<2).map { Person(1 + seed % 2 + $0) }
    for person in people { person.book.noteCache.mostOpen = random.pick([2, 8, 256]) }
    for round in 0..<10 {
      for _ in 0..<random.below(25) { try step(random.pick(people), &random) }
      if random.chance(40) { try exchangeAll(people) }
      let person = random.pick(people)
      if random.chance(25) {
        let (archive, mark) = try person.book.putAway()
        try person.book.adopt(archive, markedAt: mark)
        for _ in 0..<random.below(6) { try step(person, &random) }
      }
      try check(person.book, &random, at(seed, round))
    }
  }
}
