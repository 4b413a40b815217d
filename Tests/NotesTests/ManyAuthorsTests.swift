import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// Changes of very many authors in one merge. What took 3 to 12 s for 16,000 to 32,000 of them took sixteen times as long for four times as
/// many; how long it takes now, a benchmark tells.
@Suite struct `Changes of very many authors` {
  /// The author of the note, and the changes that so many others make who have seen nothing but the note.
  private static func crowd(
    _ count: UInt64, _ make: (Person, NoteID) -> Void
  ) -> (NoteBook, ChangeSet) {
    let author = Person(1)
    let note = author.create("note", "[]\n")
    var pending = PendingChanges()
    for number in 2..<count + 2 {
      let person = Person(number)
      person.book = author.book
      make(person, note)
      for (first, encoded) in person.book.changes(since: author.book.version).consecutive {
        for (index, bytes) in encoded.enumerated() {
          pending.insert(
            ChangeID(replica: first.replica, number: first.number + UInt64(index)), Array(bytes))
        }
      }
    }
    var all = author.book
    let refused = all.drain(&pending).refused
    #expect(refused.isEmpty && pending.isEmpty)
    return (author.book, all.changes(since: author.book.version))
  }

  /// How much longer the merge takes for four times as many.
  private static func growth(_ make: (Person, NoteID) -> Void) -> Double {
    let sizes: [UInt64] = [700, 2_800]
    let siblings = sizes.map { crowd($0, make) }
    var times = sizes.map { _ in Duration.seconds(1000) }
    // By turns, so that what else the machine does is beside both.
    for _ in 0..<6 {
      for (place, (book, changes)) in siblings.enumerated() {
        let time = processorTime {
          var book = book
          book.join(changes)
          #expect(book.version.count == Int(sizes[place]) + 1)
        }
        times[place] = min(times[place], time)
      }
    }
    return times[1] / times[0]
  }

  @Test func `at one place of a note are not looked at by each other`() {
    #expect(
      Self.growth { person, note in
        let insertion = Edit(range: 1..<1, replacement: Array("x".utf8))
        person.make(person.book.plan(for: [insertion], in: note))
      } < 8)
  }

  @Test func `that create a note each are not looked at by each other`() {
    #expect(Self.growth { person, _ in _ = person.create("another") } < 8)
  }
}
