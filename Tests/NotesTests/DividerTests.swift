import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// Replacements that bring what divides them from others, in notebooks.
@Suite struct `Replacements with a divider` {
  private func replace(_ person: Person, _ note: NoteID, with new: String, _ divider: String) {
    let edit = Edit(range: 2..<7, replacement: Array(new.utf8), divider: Array(divider.utf8))
    person.make(person.book.plan(for: [edit], in: note))
  }

  private func people(_ divider: String = " ") throws -> (people: [Person], note: NoteID) {
    let people = [1, 2, 4].map { Person($0) }
    let note = people[0].create("note", "x there y")
    for person in people.dropFirst() { try person.pull(people[0]) }
    replace(people[0], note, with: "their", divider)
    replace(people[1], note, with: "then", divider)
    return (people, note)
  }

  @Test(arguments: [" ", "\n• ", "\r\n"])
  func `are the same to the byte everywhere, in archives and for earlier versions`(
    divider: String
  ) throws {
    let (people, note) = try people(divider)
    let alone = people[0].book.version
    try people[1].pull(people[0])
    try people[1].putAway(andReopen: true)
    try exchangeAll(people)
    let texts = people.map { $0.book[note]!.text.string }
    #expect(Set(texts).count == 1)
    let both = ["x their\(divider)then y", "x then\(divider)their y"]
    #expect(both.contains(texts[0]), "\(texts[0].debugDescription)")
    let bytes = try people[2].book.packed(of: notebook)
    let packed = try PackedChanges(bytes)
    for (replica, _) in packed.ranges {
      let history = people[2].book.histories[existing: replica]
      for place in packed.blocks(of: replica) {
        let block = try packed.decode(place, bytes[place.bytes])
        for number in block.numbers {
          #expect(Array(block[number].encoded) == Array(history.change(number)))
        }
      }
    }
    for person in people {
      checkInvariants(person.book, "")
      let past = try person.book.note(note, at: alone)!.utf8
      #expect(String(decoding: past, as: UTF8.self) == "x their y")
      try person.putAway(andReopen: true)
      #expect(person.book[note]!.text.string == texts[0])
      person.setText(note, person.book[note]!.text.string + "!")
    }
    try exchangeAll(people)
    people[0].purge(note)
    try exchangeAll(people)
  }

  @Test func `take a byte more than the divider, and refuse one that can be none`() throws {
    let (people, note) = try people()
    func bytes(_ divider: Int, _ text: String) throws -> Int {
      let operation = ReplicatingText.Operation.insert(
        Array(text.utf8), after: nil, before: nil, divider: divider)
      let change = people[2].book.change(
        by: people[2].id, at: people[2].now, [.edit(note, .text(operation))])
      var mentions = ReplicaTable()
      let encoded = change.encoded(after: 0, &mentions)
      mentions = ReplicaTable()
      let decoded = try Change(change.id, decoding: encoded[...], after: 0, &mentions)
      #expect(decoded == change)
      return encoded.count
    }
    #expect(try bytes(1, "their ") == bytes(0, "their") + 2)
    for divider in [6, 7] {
      #expect(throws: DecodingFailure.self) { try bytes(divider, "their ") }
    }
  }

  /// A replacement that three have made was read as damaged, when its note had been put away before the third came.
  @Test(arguments: [[0, 2], [2, 0]], ["teh", "- [ ] x", "a\nb\n"])
  func `are there when three have made the same and the note was put away`(
    order: [Int], text: String
  ) throws {
    let new = ["teh": "the", "- [ ] x": "- [x] x"][text] ?? "a\r\nb\r\n"
    let people = [1, 2, 4].map { Person($0) }
    let note = people[0].create("note", text)
    let others = (0..<8).map { people[0].create("\($0)", "x") }
    for person in people.dropFirst() { try person.pull(people[0]) }
    for (index, person) in people.enumerated() {
      person.setText(note, new)
      for other in others { person.setText(other, "x\(["a", "b", "c"][index])") }
    }
    people[1].book.noteCache.mostOpen = 2
    for other in order {
      try people[1].pull(people[other])
      for note in others { #expect(try people[1].book.open(note)) }
      #expect(try people[1].book.open(note))
      #expect(people[1].book[note]!.text.string == new)
    }
  }

  /// Two insertions of a change between the same elements are refused by other replicas. Text around single carriage returns or line feeds that
  /// become another line end made such a pair.
  @Test func `are no two insertions at one place where line ends are converted`() throws {
    func texts(of letters: [String]) -> [String] {
      var (all, longest) = ([""], [""])
      for _ in 0..<3 {
        longest = longest.flatMap { text in letters.map { text + $0 } }
        all += longest
      }
      return all
    }
    let olds = texts(of: ["b", "\r", "\n"]) + ["\nb\n", "\n\n\r\n", "b\n\n\n"]
    let news = texts(of: ["b", "u", "\r", "\n"]) + ["\ru\r\n", "\r\rb\r", "\r\r\ru", "x\r\n\r\nd"]
    for old in olds {
      for new in news {
        let (one, other) = (Person(1), Person(2))
        let note = one.create("note", old)
        try other.pull(one)
        one.setText(note, new)
        try other.pull(one)
        #expect(
          Array(other.book[note]!.text.string.utf8) == Array(new.utf8),
          "\(old.debugDescription) to \(new.debugDescription)")
      }
    }
  }
}
