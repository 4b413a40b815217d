import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// What `edits` make of `base`, each made by somebody who saw only that: what each of them shows in the end.
func textsAfterMeeting(
  _ base: String, _ edits: [String]
) throws -> [String] {
  let author = Person(10)
  let note = author.create("note", base)
  var texts: [String] = []
  let all = try edits.enumerated().map { index, text in
    let person = Person([11, 13, 14, 16][index])
    try person.pull(author)
    person.setText(note, text)
    return person
  }
  for reader in [author] + all {
    for other in all where other !== reader { try reader.pull(other) }
    checkInvariants(reader.book, "")
    texts.append(reader.book[note]!.text.string)
  }
  return texts
}

/// The same by clients of one process: each sends its text with the base that all have read.
func textInOneProcess(_ base: String, _ edits: [String]) throws -> String {
  let (author, other) = (Person(10), Person(11))
  let note = author.create("note", base)
  let read = author.book.version
  for text in edits { author.setText(note, text, base: read) }
  checkInvariants(author.book, "")
  try other.pull(author)
  #expect(author.book == other.book)
  return author.book[note]!.text.string
}
