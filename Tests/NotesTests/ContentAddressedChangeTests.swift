import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite struct `Changes that are named by their content` {
  @Test func `two replicas that have not met create one note, and its edits merge`() throws {
    let (alice, bob, carol) = (Person(1), Person(2), Person(4))
    alice.create("before")
    bob.now += 7
    let note = try #require(alice.createByContent("new", "one\ntwo\n"))
    #expect(bob.createByContent("new", "one\ntwo\n") == note)
    alice.setText(note, "ONE\none\ntwo\n")
    bob.setText(note, "one\ntwo\nthree\n")
    bob.setTags(note, "work")
    #expect(carol.createByContent("new", "one\ntwo\n") == note)
    try exchangeAll([alice, bob, carol])
    #expect(alice.titles.filter { $0 == "new" }.count == 1)
    let merged = try #require(bob.book[note])
    #expect(merged.text.string == "ONE\none\ntwo\nthree\n" && merged.tags.values == [Tag("work")])
    // It is as old as the first of the three has made it.
    #expect(merged.created == alice.now)
  }

  @Test func `a deletion by one replica is a deletion of the note of all`() throws {
    let (alice, bob) = (Person(1), Person(2))
    let note = try #require(alice.createByContent("new", "text"))
    bob.createByContent("new", "text")
    alice.delete(note)
    try exchangeAll([alice, bob])
    #expect(bob.book[note]!.isTrashed)
  }

  @Test func `a purge by one replica takes the words out of the change of the other`() throws {
    let (alice, bob) = (Person(1), Person(2))
    let note = try #require(alice.createByContent("new", "secret"))
    bob.createByContent("new", "secret")
    alice.delete(note)
    alice.purge(note)
    try exchangeAll([alice, bob])
    #expect(bob.book.isPurged(note))
    for book in [alice.book, bob.book] {
      let bytes = book.changes(since: Version()).encoded(of: notebook)
      #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
    }
    // A replica that comes later with the same content has no note of it any more.
    let carol = Person(5)
    carol.createByContent("new", "secret")
    try exchangeAll([alice, carol])
    #expect(carol.book.isPurged(note))
  }

  @Test func `other content, or another predecessor, makes another change`() {
    let one = creation(titled: "new", "text")
    #expect(one.id == creation(titled: "new", "text").id && one.id.number == 1)
    let others = [
      creation(titled: "new", "text\n"), creation(titled: "New", "text"),
      ContentAddressedChange(following: one.id) { _ in [.edit(NoteID(creation: one.id), .restore)]
      },
      ContentAddressedChange { _ in [.edit(NoteID(creation: one.id), .restore)] },
    ]
    #expect(Set(others.map(\.id)).union([one.id]).count == 5)
  }

  @Test func `a name that the content does not have is refused`() throws {
    let person = Person(1)
    let change = creation(titled: "new", "text")
    let other = creation(titled: "other", "text")
    /// Changes under a name of which the first is this one.
    func set(_ name: ChangeID, _ encoded: [UInt8]) -> ChangeSet {
      var changes = ChangeSet()
      changes.append(name, encoded[...])
      return changes
    }
    for (name, encoded) in [
      (other.id, change.encoded.bytes),
      (ChangeID(replica: person.id, number: 1), change.encoded.bytes),
    ] {
      let refusal = #expect(throws: MergeRefusal.self) {
        try person.book.merge(foreign: set(name, encoded))
      }
      #expect(
        refusal == .invalid(name, reason: "a change named by other content than it has"))
    }
    // Without the mark it is any change.
    var plain = change.encoded.bytes
    plain.remove(at: 2)
    try person.book.merge(foreign: set(ChangeID(replica: replicaID(9), number: 1), plain))
    try person.book.merge(foreign: change.changeSet)
    #expect(person.titles == ["new", "new"])
  }

  @Test func `the log tells when each replica has made it, and the history when it was made first`()
    throws
  {
    let (alice, bob) = (Person(1), Person(2))
    alice.now = 1_000_000_000
    bob.now = 900_000_000
    let note = try #require(alice.createByContent("new", "text"))
    bob.createByContent("new", "text")
    alice.setText(note, "text\nmore")
    try exchangeAll([alice, bob])
    var told: [String] = []
    var log = try bob.book.log()
    _ = try log.proceed(in: bob.book) { entry in
      told.append("\(entry.time) \(entry.author?.name ?? "")")
      return true
    }
    #expect(told.sorted() == ["1000000000 person 1", "900000000 person 2"])
    let history = try bob.book.history(of: note, limit: 10)
    #expect(history.map(\.time) == [1_000_000_000, 900_000_000])
    #expect(history.last?.what == .created && history.last?.author == nil)
  }

  /// A note that several replicas create by content is there once, in whatever order they meet.
  @Test func `each content is one note after all have met`() throws {
    for seed in seeds(100) {
      var random = SplitMix64(seed: seed)
      let people = (1...3).map { Person($0) }
      var contents: Set<String> = []
      for _ in 0..<20 {
        let person = random.pick(people)
        let (title, text) = (random.pick(["a", "b"]), random.pick(["x\n", "y\n", "x\r\n"]))
        if person.createByContent(title, text) != nil { contents.insert("\(title) \(text)") }
        if random.chance(30) { try person.pull(random.pick(people)) }
        if random.chance(20) { try person.putAway(andReopen: random.chance(50)) }
      }
      try exchangeAll(people, "seed \(seed)")
      let found = people[0].book.notes.map { "\($0.title.value) \($0.text.string)" }
      #expect(found.count == contents.count && Set(found) == contents, "seed \(seed)")
    }
  }
}
