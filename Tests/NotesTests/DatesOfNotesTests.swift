import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite(.computing) struct `Dates of notes` {
  let alice = Person(1)
  let bob = Person(2)

  /// The dates of a note wherever they stand: in the note, in its summary and in its past.
  private func dates(_ note: NoteID, _ person: Person) throws -> [Int64] {
    let present = try #require(person.book[note])
    let summary = try #require(person.book.summaries.first { $0.id == note })
    let past = try #require(try person.book.note(note, at: person.book.version)).note
    #expect([present.created, present.modified] == [summary.created, summary.modified])
    #expect([present.created, present.modified] == [past.created, past.modified])
    #expect(present.trashed == summary.trashed && present.trashed == past.trashed)
    return [present.created, present.modified]
  }

  @Test
  func `an imported note was modified when its author says, on all machines and in the archive`()
    throws
  {
    let note = alice.create("old", "text", created: 5000, modified: 7000)
    #expect(try dates(note, alice) == [5000, 7000])
    try bob.pull(alice)
    #expect(try dates(note, bob) == [5000, 7000])
    try bob.putAway(andReopen: true)
    #expect(try dates(note, bob) == [5000, 7000])
  }

  @Test func `an edit of text, title or tags says when a note was modified`() throws {
    let edits: [(Person, NoteID) -> Void] = [
      { $0.setText($1, "other") }, { $0.setTitle($1, "other") }, { $0.setTags($1, "tag") },
    ]
    for edit in edits {
      let note = alice.create("old", "text", created: 5, modified: 7)
      alice.now += 1000
      edit(alice, note)
      #expect(try dates(note, alice) == [5, alice.now])
    }
  }

  @Test
  func
    `a priority, a path, a place, the trash and the way back leave the time of a note's last change`()
    throws
  {
    let note = alice.create("old", "text", created: 5, modified: 7)
    let other = alice.create("new", "text")
    let time = alice.now
    for id in [note, other] {
      alice.now += 1000
      alice.set(.path, of: id, to: "a.md")
      alice.set(.header("a"), of: id, to: "b")
      alice.edit(id, .priority(alice.book[id]!.priority.assignment(of: .high, at: alice.now)))
      alice.edit(id, alice.book[id]!.deletion)
      #expect(alice.book[id]!.trashed == alice.now)
      #expect(alice.book[id]!.modified == (id == note ? 7 : time))
      alice.edit(id, .restore)
      #expect(alice.book[id]!.trashed == nil)
      #expect(try dates(id, alice)[1] == (id == note ? 7 : time))
    }
  }

  @Test
  func `an edit by a clock that is behind the import leaves the time that the import took over`()
    throws
  {
    let note = alice.create("old", "text", modified: alice.now)
    let time = alice.now
    try bob.pull(alice)
    bob.now = time - 5000
    bob.setText(note, "other")
    #expect(bob.book[note]!.modified == time)
  }

  @Test func `of concurrent deletions the later one says since when a note is in the trash`() throws
  {
    let note = alice.create("a", "text")
    try bob.pull(alice)
    (alice.now, bob.now) = (alice.now + 1000, alice.now + 9000)
    for person in [alice, bob] { person.edit(note, person.book[note]!.deletion) }
    try exchangeAll([alice, bob], "")
    for person in [alice, bob] {
      #expect(person.book[note]!.trashed == bob.now)
      try person.putAway(andReopen: true)
      #expect(person.book[note]!.trashed == bob.now)
    }
  }

  @Test
  func
    `of several who say when a note was modified before the least counts, and edits later than that`()
    throws
  {
    let note = try #require(alice.createByContent("a", "text"))
    bob.createByContent("a", "text")
    alice.edit(note, .modified(5000))
    bob.edit(note, .modified(3000))
    try exchangeAll([alice, bob])
    #expect(bob.book[note]!.modified == 3000)
    alice.setText(note, "text\nmore")
    #expect(alice.book[note]!.modified == alice.now)
    try exchangeAll([alice, bob])
    #expect(bob.book[note]!.modified == alice.now)
  }
}
