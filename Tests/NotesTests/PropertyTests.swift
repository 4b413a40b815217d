import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite("Properties of a note") struct PropertyTests {
  private let alice = Person(1)
  private let bob = Person(2)

  private func share() throws -> NoteID {
    let note = alice.create("note", "text")
    try exchangeAll([alice, bob])
    return note
  }

  @Test func `the last writer of each property wins`() throws {
    let note = try share()
    bob.now += 5
    alice.set(.path, of: note, to: "alice.md")
    bob.set(.path, of: note, to: "bob.md")
    alice.set(.header("author"), of: note, to: "author: alice\n")
    bob.set(.header("lang"), of: note, to: "lang: de\n")
    try exchangeAll([alice, bob])
    let merged = alice.book[note]!
    #expect(merged.path == "bob.md")
    #expect(merged.header.map(\.key) == ["author", "lang"])
    #expect(merged.header.map(\.value) == ["author: alice\n", "lang: de\n"])
    #expect(NoteSummary(merged).path == "bob.md")
  }

  @Test func `a property without a value is none, and what is no news is no change`() throws {
    let note = try share()
    alice.set(.header("a"), of: note, to: "a: 1\n")
    let revision = alice.book.revision
    alice.set(.header("a"), of: note, to: "a: 1\n")
    #expect(alice.book.revision == revision)
    alice.set(.header("a"), of: note, to: "")
    #expect(alice.book[note]!.header.isEmpty && alice.book[note]![.header("a")].isEmpty)
    #expect(alice.book[note]!.path.isEmpty)
  }

  @Test func `a part of a header brings a deleted note back, and a path does not`() throws {
    let note = try share()
    alice.delete(note)
    bob.set(.path, of: note, to: "a.md")
    try exchangeAll([alice, bob])
    #expect(alice.book[note]!.isTrashed && alice.book[note]!.path == "a.md")
    alice.restore(note)
    try exchangeAll([alice, bob])
    alice.delete(note)
    bob.set(.header("a"), of: note, to: "a: 1\n")
    try exchangeAll([alice, bob])
    #expect(!alice.book[note]!.isTrashed)
  }

  @Test(arguments: [0, 1, 220, 221])
  func `a property has a name of 1 to 220 bytes, or its change is refused`(length: Int) throws {
    let note = try share()
    let name = PropertyName(String(repeating: "x", count: length))
    let change = alice.book.change(
      by: alice.id, at: alice.now, [.edit(note, .property(name, .init(value: "v", time: 5)))])
    var changes = ChangeSet(since: bob.book.version)
    changes.append(change.id, alice.book.encode(change).bytes[...])
    if (1...220).contains(length) {
      try bob.book.merge(foreign: changes)
      #expect(bob.book[note]![name] == "v")
    } else {
      #expect(throws: MergeRefusal.self) { try bob.book.merge(foreign: changes) }
    }
  }

  @Test func `a past state has its properties`() throws {
    let note = try share()
    alice.set(.path, of: note, to: "a.md")
    let version = alice.book.version
    alice.set(.path, of: note, to: "b.md")
    #expect(try alice.book.note(note, at: version)!.note.path == "a.md")
  }

  @Test func `a note is as old as its author has said`() throws {
    let note = alice.create("old", created: 86_400_000)
    try bob.pull(alice)
    #expect(bob.book[note]!.created == 86_400_000)
    #expect(bob.book[note]!.modified == alice.now)
    #expect(try bob.book.note(note, at: bob.book.version)!.note.created == 86_400_000)
    try alice.putAway(andReopen: true)
    #expect(alice.book[note]!.created == 86_400_000)
  }

  @Test func `a later change makes a note older, and not younger`() throws {
    let note = alice.create("old", created: 86_400_000)
    try bob.pull(alice)
    alice.edit(note, .created(90_000_000))
    bob.edit(note, .created(5))
    try exchangeAll([alice, bob])
    #expect(alice.book[note]!.created == 5)
  }
}
