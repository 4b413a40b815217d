import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// Looking for a text among the states of a note.
@Suite(.computing) struct `Texts that a note has had` {
  /// What several people did, who know some of each other.
  private func people(_ seed: UInt64, steps: Int) throws -> [Person] {
    var generator = SplitMix64(seed: seed)
    let people = (1...4).map { Person($0) }
    people[0].create("first", "one two\nthree\n")
    for person in people.dropFirst() { try person.pull(people[0]) }
    for _ in 0..<steps {
      let person = generator.pick(people)
      if generator.chance(20) { try person.pull(generator.pick(people)) }
      generator.actOrWithdraw(person)
    }
    return people
  }

  /// The states of a note that are looked at: after each change of its text, as its author saw it, and in the order of logical time.
  private func states(of note: Note, _ book: NoteBook) throws -> [Version] {
    var changes: [(time: LamportTimestamp, change: ChangeID)] = []
    for replica in book.version.replicas {
      try book.forEachEncoded(of: replica, in: 1...book.version[replica]) { number, _, lamport in
        let time = LamportTimestamp(count: lamport, replica: replica)
        changes.append((time, ChangeID(replica: replica, number: number)))
        return true
      }
    }
    var ordered: [Version] = []
    for (_, change) in changes.sorted(by: { $0.time < $1.time }) {
      var version = ordered.last ?? Version()
      version.insert(change)
      ordered.append(version)
    }
    let touching = note.contributions.flatMap { author, changes in
      changes.map { ChangeID(replica: author, number: $0.number) }
    }
    return try ordered + touching.map { try book.version(of: [$0])! }
  }

  @Test(arguments: seeds(20))
  func `have the sum of their bytes, on whatever way it is come to`(seed: UInt64) throws {
    let people = try people(seed, steps: 50)
    try exchangeAll(people)
    let book = people[0].book
    var generator = SplitMix64(seed: seed)
    for note in book.notes {
      var sum = TextFingerprint(of: note.text, note.withdrawals)
      #expect(sum.value == 0)
      for version in try states(of: note, book).shuffled(using: &generator) {
        sum.move(to: version)
        let text = note.text.utf8(in: try book.view(of: note, at: version))
        #expect(sum.value == sum.value(of: text), at(seed))
      }
      let longer = sum.value(of: note.text.utf8 + Array("?".utf8))
      #expect(longer != sum.value(of: note.text.utf8))
    }
  }

  @Test(arguments: seeds(20))
  func `are found, as their authors saw them and in the order of logical time`(seed: UInt64) throws
  {
    let people = try people(seed, steps: 50)
    try exchangeAll(people)
    if seed.isMultiple(of: 2) { try people[0].putAway(andReopen: seed.isMultiple(of: 4)) }
    let book = people[0].book
    for note in book.notes {
      for version in try states(of: note, book) where version.contains(note.id.creation) {
        let text = note.text.utf8(in: try book.view(of: note, at: version))
        let found = try #require(try book.version(of: note, withText: text), at(seed))
        let again = note.text.utf8(in: try book.view(of: note, at: found))
        #expect(again == text, at(seed))
        #expect(found.contains(note.id.creation), at(seed))
        // It is a state: all that its changes know is in it.
        #expect(try book.version(of: found.changes) == found, at(seed))
      }
      #expect(try book.version(of: note, withText: Array("never".utf8)) == nil, at(seed))
    }
  }

  @Test func `are the newest of those that are equal`() throws {
    let person = Person(1)
    let note = person.create("", "a")
    for text in ["ab", "a", "ab", "abc"] { person.setText(note, text) }
    let found = try person.book.version(of: person.book[note]!, withText: Array("ab".utf8))
    #expect(found?[person.id] == 4)
    let present = try person.book.version(of: person.book[note]!, withText: Array("abc".utf8))
    #expect(present == person.book.version)
  }

  @Test func `are none before there was the note`() throws {
    let person = Person(1)
    let full = person.create("", "a")
    #expect(try person.book.version(of: person.book[full]!, withText: []) == nil)
    let empty = person.create("", "")
    person.setText(empty, "a")
    #expect(try person.book.version(of: person.book[empty]!, withText: [])?[person.id] == 2)
  }

  /// A note that one person has changed very often.
  ///
  /// - Parameter next: the edit of each change.
  private func longHistory(_ count: Int, _ next: (Int) -> Edit<UInt8>) throws -> NoteBook {
    let person = Person(1)
    let note = person.create("", "start")
    for number in 0..<count {
      person.make(person.book.plan(for: [next(number)], in: note))
    }
    return person.book
  }

  /// Beyond that nothing is found, and what is found before takes no longer for it.
  @Test func `are looked for among the latest changes only`() throws {
    let count = 100_000
    let book = try longHistory(count) {
      Edit(
        range: 5..<($0.isMultiple(of: 2) ? 5 : 6), replacement: $0.isMultiple(of: 2) ? [0x61] : [])
    }
    let note = book.notes[0]
    var absent = VersionFinder(for: Array("never".utf8), in: note, of: book)
    #expect(try absent.find() == nil)
    #expect(absent.changes == VersionFinder.mostChanges && absent.reads == 0)
    // Of each of these changes an element and a time; and all elements again, on the way to those that the authors saw.
    #expect(absent.steps <= 2 * VersionFinder.mostChanges + 3 * count)
    var near = VersionFinder(for: Array("starta".utf8), in: note, of: book)
    #expect(try near.find()?.count == 1)
    #expect(near.changes == 1 && near.reads == 1 && near.steps < 1000)
  }

  /// Moving a line to and fro does not change the bytes' sum.
  @Test func `are read few times, also where many have the same bytes`() throws {
    let book = try longHistory(4000) { number in
      switch number % 4 {
      case 0: Edit(range: 0..<1, replacement: [])
      case 1: Edit(range: 4..<4, replacement: [0x73])
      case 2: Edit(range: 4..<5, replacement: [])
      default: Edit(range: 0..<0, replacement: [0x73])
      }
    }
    var search = VersionFinder(for: Array("trast".utf8), in: book.notes[0], of: book)
    #expect(try search.find() == nil)
    #expect(search.reads == VersionFinder.mostReads)
  }

  /// Each change removes all that there was.
  @Test func `are not looked for any longer when that has taken many steps`() throws {
    let letters = [0x61, 0x62].map { Array(repeating: UInt8($0), count: 100_000) }
    let person = Person(1)
    let note = person.create("", "")
    for number in 0..<40 {
      let length = person.book[note]!.text.count
      let edit = Edit(range: 0..<length, replacement: letters[number % 2])
      person.make(person.book.plan(for: [edit], in: note))
    }
    var search = VersionFinder(for: [0x61], in: person.book[note]!, of: person.book)
    #expect(try search.find() == nil)
    #expect(search.changes < 40)
    #expect(search.steps <= VersionFinder.mostSteps + 2 * 200_000)
  }

  /// A change may remove the same million elements very often.
  @Test func `are not looked for where very much was removed`() throws {
    let count = 1 << 20
    let person = Person(1)
    let note = person.create("", "")
    let text = Edit(range: 0..<0, replacement: Array(repeating: UInt8(0x61), count: count))
    person.make(person.book.plan(for: [text], in: note))
    let all = ElementRange(author: person.id, offset: 0, count: count)
    person.make(Array(repeating: .edit(note, .text(.remove(all))), count: 40))
    var search = VersionFinder(
      for: text.replacement, in: person.book[note]!, of: person.book)
    #expect(try search.find() == nil)
    #expect(search.steps == 0)
  }
}
