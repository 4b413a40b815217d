import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// What people get who replace the same by the same, each without having seen what the others did.
@Suite struct `Equal replacements` {
  @Test(arguments: [
    ("teh", "the"), ("teh cat", "the cat"), ("- [ ] milk", "- [x] milk"), ("price 10", "price 20"),
    ("one\r\ntwo\r\n\r\n", "one\ntwo\n\n"), ("one\ntwo\n\n", "one\r\ntwo\r\n\r\n"),
    ("b\na\n", "a\nb\n"), ("a b c d e f", "a b\nc d\ne f"), ("word", "other"), ("日本", "日夲"),
  ])
  func `made alike are one`(_ base: String, _ new: String) throws {
    for count in 2...4 {
      let texts = Array(repeating: new, count: count)
      #expect(Set(try textsAfterMeeting(base, texts)) == [new])
      #expect(try textInOneProcess(base, texts) == new)
    }
  }

  @Test(arguments: [
    ("tally |", "tally ||", "tally |||"), ("", "new", "newnew"),
    ("a\n", "a\nb\n", "a\nb\nb\n"),
  ])
  func `are not insertions of the same`(_ base: String, _ new: String, _ both: String) throws {
    #expect(Set(try textsAfterMeeting(base, [new, new])) == [both])
    #expect(try textInOneProcess(base, [new, new]) == both)
  }

  @Test func `leave a list whole that two people sort`() throws {
    var generator = SplitMix64(seed: 1)
    func list(_ count: Int) -> (base: String, sorted: String) {
      let lines = (0..<count).map { "\(generator.below(1000)) line \($0)" }
      func text(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }
      return (text(lines), text(lines.sorted()))
    }
    let (base, sorted) = list(400)
    #expect(Set(try textsAfterMeeting(base, [sorted, sorted])) == [sorted])
    let (short, shortSorted) = list(100)
    #expect(try textInOneProcess(short, [shortSorted, shortSorted]) == shortSorted)
  }

  /// A text of lines with about this many bytes.
  private func lines(_ count: Int) -> String {
    var text = ""
    var number = 1
    while text.utf8.count < count {
      text += "\(number)\n"
      number += 1
    }
    return String(text.prefix(count))
  }

  @Test(arguments: [0, 1, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 100_000])
  func `are one, however long they are`(_ count: Int) throws {
    let base = "milk\neggs\n"
    let new = lines(count)
    #expect(Set(try textsAfterMeeting(base, [new, new, new])) == [new])
    #expect(try textInOneProcess(base, [new, new]) == new)
  }

  @Test(arguments: seeds(20))
  func `of any length are edited, taken back and merged in any order`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let base = random.pick(["milk\neggs\n", "", "a b c", lines(3000)])
    let new = lines(random.pick([0, 5, 2047, 2048, 4096, 4097, 6000, random.below(100_000)]))
    let people = [10, 11, 13].map { Person($0) }
    let note = people[0].create("note", base)
    for person in people.dropFirst() { try person.pull(people[0]) }
    var books = [people[0].book]
    for person in people.shuffled(using: &random) {
      // The same, or nearly.
      person.setText(note, random.chance(70) ? new : random.edited(new))
      let replacement = person.book.version[person.id]
      for _ in 0..<random.below(4) {
        if random.chance(30) {
          let number = random.chance(50) ? replacement : person.book.version[person.id]
          guard number > (person === people[0] ? 1 : 0) else { continue }
          person.withdraw(
            note, ChangeRanges([ChangeRanges.Run(person.id, number...number)]))
        } else if random.chance(30) {
          try person.pull(random.pick(books))
        } else {
          person.setText(note, random.edited(person.book[note]!.text.string))
        }
        books.append(person.book)
      }
      books.append(person.book)
      if random.chance(30) { try person.putAway(andReopen: random.chance(50)) }
    }
    var orders: [NoteBook] = []
    for _ in 0..<3 {
      let reader = Person(20)
      for book in books.shuffled(using: &random) { try reader.pull(book) }
      orders.append(reader.book)
    }
    for book in orders { #expect(book == orders[0], at(seed)) }
    try exchangeAll(people, at(seed))
    #expect(people[0].book == orders[0], at(seed))
    // What is put away is there again, with its copies.
    let text = people[0].book[note]!.text
    try people[0].putAway(andReopen: true)
    #expect(people[0].book[note]!.text == text, at(seed))
    #expect(people[0].book[note]!.text.copies == text.copies, at(seed))
  }

  /// Histories of two who make the same replacement: what each does after it, before they meet.
  @Test(arguments: [
    ("- [ ] milk", "- [x] milk", "- [x] oat milk", "- [x] milk today", "- [x] oat milk today"),
    ("teh", "the", "the", "the cat", "the cat"),
    ("a teh", "a the", "a the", "a th-e", "a th-e"),
    ("one\nteh\n", "one\nthe\n", "one\n", "one\nthe\n", "one\n"),
    ("a wrod b", "a word b", "a b", "a word b", "a b"),
  ])
  func `go on as one`(
    _ base: String, _ new: String, _ one: String, _ other: String, _ both: String
  ) throws {
    for texts in [[one, other], [other, one]] {
      let people = [10, 11].map { Person($0) }
      let note = people[0].create("note", base)
      try people[1].pull(people[0])
      for (person, text) in zip(people, texts) {
        person.setText(note, new)
        person.setText(note, text)
      }
      try exchangeAll(people)
      for person in people {
        checkInvariants(person.book, "")
        #expect(person.book[note]!.text.string == both)
      }
      // Who sees it all goes on, and nothing else changes.
      let text = people[0].book[note]!.text.string
      for index in 0...text.count {
        var new = text
        new.insert("y", at: text.index(text.startIndex, offsetBy: index))
        let before = people[0].book
        people[0].setText(note, new)
        try people[1].pull(people[0])
        #expect(people[1].book[note]!.text.string == new)
        people[0].setText(note, text)
        try people[1].pull(people[0])
        #expect(people[1].book[note]!.text.string == text)
        #expect(try people[0].book.note(note, at: before.version)?.utf8 == Array(text.utf8))
      }
    }
  }
}
