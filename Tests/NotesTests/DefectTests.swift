import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// What went wrong with the articles' notes and notebook, one test each.
///
/// Defect 9, that a notebook of a newer format is overwritten, is a matter of the store: "of a later version is refused,
/// and nothing is touched" and "of a later version stops the first append as well" in `ForeignFileTests`, "refuses a file
/// of a later format, without touching it" in `LogFormatTests`.
@Suite struct `Defects of the articles' notes` {
  let alice = Person(1)
  let bob = Person(2)
  let carol = Person(3)

  private func share(_ titles: String..., text: String = "text") throws -> [NoteID] {
    let notes = titles.reversed().map { alice.create($0, text) }
    try bob.pull(alice)
    try carol.pull(alice)
    return notes.reversed()
  }

  private func text(of note: NoteID) -> String { alice.book[note]!.text.string }

  // MARK: - Merging

  @Test func `Defect 1: a deletion outlives any number of exchanges between two others`() throws {
    let notes = try share("note", "other")
    carol.delete(notes[0])
    let before = alice.book
    for _ in 0..<100 {
      try alice.pull(bob)
      try bob.pull(alice)
    }
    #expect(alice.book == before && alice.book.merged(with: alice.book) == before)
    try exchangeAll([alice, bob, carol])
    #expect(alice.book[notes[0]]!.isTrashed)
  }

  @Test func `Defect 8: idle notebooks have nothing to send, empty ones neither`() throws {
    let empty = (NoteBook(), NoteBook())
    #expect(empty.0 == empty.1 && empty.0.revision == empty.1.revision)
    #expect(empty.0.changes(since: empty.1.version).isEmpty)
    _ = try share("note")
    alice.setTitle(alice.book.notes[0].id, "by Alice")
    bob.setTitle(bob.book.notes[0].id, "by Bob")
    try exchangeAll([alice, bob, carol])
    let (book, version, revision) = (alice.book, alice.book.version, alice.book.revision)
    for _ in 0..<50 {
      for person in [alice, bob, carol] {
        for other in [alice, bob, carol] {
          #expect(person.book.changes(since: other.book.version).isEmpty)
          try person.pull(other)
          person.book.merge(other.book)
        }
        #expect(person.book == book)
        #expect(person.book.version == version && person.book.revision == revision)
      }
    }
  }

  // MARK: - The list of notes

  @Test func `Defect 3: a note that is deleted and edited at once is listed, with the edit`() throws
  {
    let notes = try share("note", "other")
    alice.delete(notes[0])
    bob.setText(notes[0], "text of Bob")
    try exchangeAll([alice, bob, carol])
    #expect(alice.titles == ["note", "other"] && !alice.book[notes[0]]!.isTrashed)
    #expect(text(of: notes[0]) == "text of Bob")
  }

  @Test func `Defect 3: no history of edits, moves and deletions leaves a note that no list has`()
    throws
  {
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed)
      let people = (1...3).map { Person($0) }
      for number in 0..<4 { people[0].create("\(number)") }
      for person in people[1...] { try person.pull(people[0]) }
      for _ in 0..<24 {
        let person = generator.pick(people)
        let note = generator.pick(person.book.notes).id
        switch generator.below(4) {
        case 0: try person.pull(generator.pick(people))
        case 1: person.setTitle(note, "edited")
        case 2: person.delete(note)
        default:
          if !person.book[note]!.isTrashed {
            person.move(note, to: generator.below(person.book.counts.live))
          }
        }
      }
      try exchangeAll(people, at(seed))
      for person in people {
        #expect(person.book.notes.count == 4, at(seed))
        #expect(
          Set(person.book.notes.map(\.id)) == Set(person.book.noteCache.ids), at(seed))
      }
    }
  }

  @Test func `Defect 4: three who move one note lose none`() throws {
    let notes = try share("N", "1", "2", "3")
    alice.move(notes[0], to: 1)
    bob.move(notes[0], to: 2)
    try carol.pull(alice)
    try carol.pull(bob)
    alice.move(notes[0], to: 3)
    try alice.pull(bob)
    try alice.pull(carol)
    try exchangeAll([alice, bob, carol])
    #expect(alice.titles == ["1", "2", "3", "N"])
  }

  @Test func `Defect 4: no history of moves loses or doubles a note`() throws {
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed)
      let people = (1...3).map { Person($0) }
      for number in 0..<4 { people[0].create("\(number)") }
      for person in people[1...] { try person.pull(people[0]) }
      for _ in 0..<24 {
        let person = generator.pick(people)
        if generator.chance(50) {
          person.move(generator.pick(person.book.notes).id, to: generator.below(4))
        } else {
          try person.pull(generator.pick(people))
        }
        #expect(person.titles.sorted() == ["0", "1", "2", "3"], at(seed))
      }
      try exchangeAll(people, at(seed))
    }
  }

  @Test func `Defect 13: setting all tags leaves alone those that stay`() throws {
    let notes = try share("note")
    alice.setTags(notes[0], "home", "work")
    try exchangeAll([alice, bob, carol])
    alice.setTags(notes[0], "home", "travel", "work")
    bob.setTags(notes[0], "work")
    try exchangeAll([alice, bob, carol])
    #expect(alice.book[notes[0]]!.tags.values == [Tag("travel"), Tag("work")])
    let version = alice.book.version
    alice.setTags(notes[0], "travel", "work")
    #expect(alice.book.version == version, "the same tags again are no change")
  }

  // MARK: - Text

  @Test(arguments: [
    ("\r", "\n"), ("e", "\u{301}"), ("👍", "🏽"), ("🇩", "🇪"), ("👩\u{200D}", "👧"),
    ("\u{1100}", "\u{1161}"),
  ])
  func `Defect 5: what is typed after characters joined lands where it was typed`(
    first: String, second: String
  ) throws {
    // Two people type the two halves of what is one character then.
    let notes = try share("note", text: "<>")
    alice.setText(notes[0], "<\(first)>")
    bob.setText(notes[0], "<\(second)>")
    try exchangeAll([alice, bob])
    let merged = text(of: notes[0])
    #expect(
      ["<\(first)\(second)>", "<\(second)\(first)>"].contains {
        Array($0.utf8) == Array(merged.utf8)
      })
    alice.setText(notes[0], merged + "!")
    #expect(Array(text(of: notes[0]).utf8) == Array((merged + "!").utf8))
    alice.setText(notes[0], String((merged + "!").dropLast(2)))
    #expect(Array(text(of: notes[0]).utf8) == Array(merged.utf8.dropLast()))
  }

  @Test func `Defect 5: whatever characters join or part, the text is what was written`() throws {
    let pieces = [
      "a", "e", "\u{301}", "\r", "\n", "\r\n", "👍", "🏽", "🇩", "🇪", "👩", "\u{200D}", "👧",
      "\u{1100}", "\u{1161}", "\u{11A8}",
    ]
    for seed in seeds(120) {
      var generator = SplitMix64(seed: seed)
      let people = (1...3).map { Person($0) }
      let note = people[0].create("note", "ae")
      for person in people[1...] { try person.pull(people[0]) }
      for step in 0..<20 {
        let person = generator.pick(people)
        if generator.chance(30) {
          try person.pull(generator.pick(people))
          continue
        }
        // As in an editor: whole characters, as a person sees them.
        var characters = Array(person.book[note]!.text.string)
        let start = generator.below(characters.count + 1)
        let end = min(characters.count, start + generator.below(3))
        characters.replaceSubrange(start..<end, with: Array(generator.pick(pieces)))
        let written = String(characters)
        person.setText(note, written)
        #expect(person.book[note]!.text.utf8 == Array(written.utf8), at(seed, step))
      }
      try exchangeAll(people, at(seed))
    }
  }

  @Test func `Defect 6: composing and decomposing characters are edits`() throws {
    let notes = try share("note", text: "café Å")
    for new in ["cafe\u{301} Å", "cafe\u{301} \u{212B}", "café A\u{30A}", "café Å"] {
      alice.setText(notes[0], new)
      #expect(alice.book[notes[0]]!.text.utf8 == Array(new.utf8))
      try bob.pull(alice)
      #expect(bob.book[notes[0]]!.text.utf8 == Array(new.utf8))
    }
    alice.setTags(notes[0], "é")
    alice.setTags(notes[0], "e\u{301}")
    let tags = alice.book[notes[0]]!.tags.values.map { Array($0.name.utf8) }
    #expect(tags == [Array("e\u{301}".utf8)])
  }

  @Test func `Defect 10: an editor that shows an old text removes nothing of what came since`()
    throws
  {
    let notes = try share("note", text: "hello")
    // Alice's editor shows this, while Bob's text comes in.
    let shown = alice.book[notes[0]]!.text.version
    bob.setText(notes[0], "hello from Bob")
    try alice.pull(bob)
    let present = alice.book[notes[0]]!.text
    let view = present.view(at: shown)
    #expect(present.utf8(in: view) == Array("hello".utf8))
    let edits = textDifference(from: present.utf8(in: view), to: Array("oh, hello!".utf8))
    alice.make(present.operations(for: edits, in: view).map { .edit(notes[0], .text($0)) })
    try exchangeAll([alice, bob, carol])
    #expect(
      ["oh, hello! from Bob", "oh, hello from Bob!"].contains(text(of: notes[0])),
      "\(text(of: notes[0]))")
  }

  @Test func `Defect 10: nor in random histories`() throws {
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed)
      let people = [Person(1), Person(2)]
      let note = people[0].create("note", "start")
      try people[1].pull(people[0])
      for step in 0..<12 {
        let shown = people[0].book[note]!.text.version
        let before = people[0].book[note]!.text.utf8
        // What comes since are capitals, what the editor removes are small letters.
        var letters = Array(people[1].book[note]!.text.string)
        letters.insert("X", at: generator.below(letters.count + 1))
        people[1].setText(note, String(letters))
        try people[0].pull(people[1])
        let present = people[0].book[note]!.text
        let capitals = present.utf8.count { $0 == UInt8(ascii: "X") }
        let new =
          before.filter { $0 == UInt8(ascii: "X") || generator.chance(70) }
          + Array(generator.pick(["a", "b", ""]).utf8)
        var view = try people[0].book.view(of: note, at: shown)
        // Its author knows what it does not show.
        view.unseen = ElementRanges([])
        #expect(present.utf8(in: view) == before, at(seed, step))
        let operations = present.operations(
          for: textDifference(from: before, to: new), in: view)
        people[0].make(operations.map { .edit(note, .text($0)) })
        let after = people[0].book[note]!.text.utf8
        #expect(after.count { $0 == UInt8(ascii: "X") } >= capitals, at(seed, step))
        if generator.chance(50) { try people[1].pull(people[0]) }
      }
      try exchangeAll(people, at(seed))
    }
  }

  @Test(arguments: [
    ("teh cat", "the cat", "the cat", ["the cat"]),
    ("quick fox", "rapid fox", "slow fox", ["rapid slow fox", "slow rapid fox"]),
    ("the quick fox", "the slow fox", "the fast fox", ["the slow fast fox", "the fast slow fox"]),
  ])
  func `Defect 17: two replacements of one word never mix`(
    old: String, byAlice: String, byBob: String, expected: [String]
  ) throws {
    let notes = try share("note", text: old)
    alice.setText(notes[0], byAlice)
    bob.setText(notes[0], byBob)
    try exchangeAll([alice, bob, carol])
    #expect(expected.contains(text(of: notes[0])), "\(text(of: notes[0]))")
  }

  // MARK: - Foreign data

  @Test(arguments: [UInt64.max, UInt64(Int64.max), 1 << 62])
  func `Defect 15: a number at the limit spreads nowhere and stops nobody`(number: UInt64) throws {
    let notes = try share("note")
    let before = bob.book
    // The end of a history that nobody can have, and a change that follows one.
    var far = Forgery(alice.book.changes(since: Version()))
    far.groups[0].first = number
    var changes = Forgery.decoded(alice.book)
    changes[0].predecessors = [ChangeID(replica: replicaID(9), number: number)]
    let following = Forgery(changes)
    for forgery in [far, following] {
      #expect(throws: (any Error).self) {
        let book = NoteBook()
        var result = book
        defer { #expect(result == book) }
        try result.merge(foreign: try ChangeSet.decode(forgery.encoded).changes)
      }
      if let changes = try? ChangeSet.decode(forgery.encoded).changes {
        _ = try? bob.book.merge(foreign: changes)
      }
      #expect(bob.book == before)
    }
    bob.setText(notes[0], "goes on")
    try exchangeAll([alice, bob, carol])
    #expect(text(of: notes[0]) == "goes on")
  }
}
