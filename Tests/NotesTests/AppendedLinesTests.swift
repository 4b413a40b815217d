import Bytes
import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

extension Person {
  /// Appends whole lines, as `note/append` does.
  func append(_ lines: String, to note: NoteID) {
    let text = book[note]!.text
    let (bytes, end) = LineEnd.lines(of: Array(lines.utf8), appendedTo: text.utf8)
    make(
      text.operations(appending: bytes, endedBy: end.bytes, by: id).map { .edit(note, .text($0)) })
  }
}

/// Lines that several append to one note, and text that others type at its end, each without having seen the rest.
@Suite struct `Appended lines` {
  @Test(arguments: [
    ("", "x", "x\n"), ("a\n", "x", "a\nx\n"), ("a\n", "x\r\ny\n", "a\nx\ny\n"),
    ("a\r\n", "x", "a\r\nx\r\n"), ("a", "x", "a\nx"), ("a", "x\ny\n", "a\nx\ny"),
    ("a\r\nb", "x\ny", "a\r\nb\r\nx\r\ny"), ("a\n", "\n", "a\n\n"), ("a", "\n", "a\n\n"),
    ("a", "x\n\n", "a\nx\n\n"), ("a\r", "x", "a\r\nx"),
  ])
  func `stand behind the text, which ends as it did`(
    _ text: String, _ lines: String, _ wanted: String
  ) throws {
    for person in [Person(1), Person(3)] {
      let note = person.create("note", text)
      person.append(lines, to: note)
      #expect(person.book[note]!.text.string == wanted)
      let other = Person(2)
      try other.pull(person)
      #expect(other.book[note]!.text.string == wanted)
      #expect(other.book == person.book)
    }
  }

  @Test(arguments: ["", "a\n", "a", "a\r\n", "a\n\n"], ["", "typed", "two\nlines", "line\n"])
  func `are whole beside what others type at the end, whichever comes first`(
    _ text: String, _ typed: String
  ) throws {
    for numbers: [UInt64] in [[1, 2, 4], [4, 2, 1], [2, 4, 1], [1, 4, 2]] {
      let people = numbers.map { Person($0) }
      let note = people[0].create("note", text)
      for person in people.dropFirst() { try person.pull(people[0]) }
      people[0].append("first", to: note)
      people[1].append("second", to: note)
      for letter in typed {
        people[2].setText(note, people[2].book[note]!.text.string + String(letter))
      }
      try exchangeAll(people)
      let lines = people[0].book[note]!.text.string.split(
        omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      for line in ["first", "second"] {
        #expect(lines.count { $0 == line } == 1, "\(numbers) \(lines)")
      }
    }
  }

  @Test(arguments: ["", "a\n", "a", "a\r\n"], [true, false])
  func `have no empty line beside a line that another begins there`(
    _ text: String, _ isTyped: Bool
  ) throws {
    let end = text.hasSuffix("\r\n") ? "\r\n" : "\n"
    for numbers: [UInt64] in [[1, 2], [2, 1]] {
      for waits in 0...4 {
        let people = numbers.map { Person($0) }
        let note = people[0].create("note", text)
        try people[1].pull(people[0])
        let isWhole = text.isEmpty || text.last!.isNewline
        // As an editor does for a new line, whose line end comes first.
        var states = [text + end]
        states += ["b", "bo", "boo"].map { isWhole ? text + $0 + end : text + end + $0 }
        if !isTyped { states = [states.last!] }
        for (index, state) in states.enumerated() {
          if index == waits { people[0].append("x", to: note) }
          people[1].setText(note, state)
        }
        if waits >= states.count { people[0].append("x", to: note) }
        try exchangeAll(people)
        let lines = people[0].book[note]!.text.string.split(
          omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let wanted = ["boo", "x"] + (text.isEmpty ? [] : ["a"])
        #expect(lines.filter { $0 != "" }.sorted() == wanted.map { $0[...] }.sorted())
        #expect(
          lines.dropLast().allSatisfy { $0 != "" },
          "\(text.debugDescription) \(numbers) \(waits): \(lines)")
      }
    }
  }
}
