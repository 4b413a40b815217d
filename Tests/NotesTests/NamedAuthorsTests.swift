import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite struct `The authors of changes` {
  private let ana = Author(name: "ana@laptop", program: "Neovim")!

  /// The bytes of each change that a replica has made.
  private func sizes(_ book: NoteBook, of replica: ReplicaID) throws -> [Int] {
    var sizes: [Int] = []
    try book.forEachEncoded(of: replica, in: 1...book.version[replica]) { _, encoded, _ in
      sizes.append(encoded.count)
      return true
    }
    return sizes
  }

  private func type(_ text: String, by author: Author?) throws -> NoteBook {
    var book = NoteBook()
    let replica = replicaID(1)
    let note = NoteID(creation: book.next(by: replica))
    func make(_ operations: [Change.Operation]) throws {
      let change = book.change(by: replica, at: 1000, operations)
      try book.open(change)
      book.apply(book.encode(change, by: author))
    }
    try make([.create, .place(book.placement(of: note, at: 0))])
    for (place, byte) in text.utf8.enumerated() {
      try make(
        book.plan(for: [Edit(range: place..<place, replacement: [byte])], in: note))
    }
    return book
  }

  @Test func `cost a session some 20 bytes, and a keystroke nothing`() throws {
    let replica = replicaID(1)
    let plain = try sizes(try type("some words", by: nil), of: replica)
    let named = try sizes(try type("some words", by: ana), of: replica)
    // The mark, the length, the name, a line feed, and the program.
    #expect(named[0] - plain[0] == 2 + 10 + 1 + 6)
    #expect(named.dropFirst() == plain.dropFirst())
    // A packed change may need a step for the mark, and one for the number of its operations.
    func packed(_ book: NoteBook) throws -> Int {
      var packer = ChangePacker(notebook: notebook)
      packer.begin(replica)
      try book.forEachEncoded(of: replica, in: 1...book.version[replica]) { _, encoded, lamport in
        try! packer.append(encoded, lamport: lamport)
        return true
      }
      return packer.finish().count
    }
    let cost = try packed(try type("some words", by: ana)) - packed(try type("some words", by: nil))
    #expect(cost <= 2 + 10 + 1 + 6 + 3)
  }

  @Test func `are named again only when they are others`() throws {
    var book = NoteBook()
    let replica = replicaID(1)
    let others = [
      ana, ana, Author(name: "ana@laptop", program: "Vim"), nil,
      Author(name: "Ana", program: "Vim"), Author(name: "Ana", program: "Vim"), ana,
    ]
    for author in others {
      let note = NoteID(creation: book.next(by: replica))
      try book.openOrder()
      let change = book.change(
        by: replica, at: 0, [.create, .place(book.placement(of: note, at: 0))])
      try book.open(change)
      book.apply(book.encode(change, by: author))
    }
    #expect(
      book.histories[replica]!.authors.runs.map(\.first) == [1, 3, 5, 7])
    func author(_ number: UInt64) throws -> Author? {
      try book.author(of: ChangeID(replica: replica, number: number))
    }
    #expect(try author(2) == ana && author(7) == ana)
    // A change without a name is taken for one of the author before it.
    #expect(try author(4) == others[2] && author(6) == others[5])
    #expect(try author(0) == nil && author(8) == nil)
    #expect(try book.author(of: ChangeID(replica: replicaID(2), number: 1)) == nil)
    checkAuthors(book, "")
  }

  @Test func `stay with the changes of a replica that goes on behind its archive`() throws {
    for isReopening in [false, true] {
      let (alice, bob) = (Person(3), Person(1))
      let note = alice.create("note")
      for number in 0..<3 {
        alice.setTitle(note, "\(number)")
        try alice.putAway(andReopen: isReopening)
        checkAuthors(alice.book, "")
      }
      let size = try sizes(alice.book, of: alice.id)
      #expect(size[1...].allSatisfy { $0 < size[0] })
      // Now with the other program, half in the archive.
      for number in 0..<4 { alice.setTitle(note, "later \(number)") }
      #expect(try alice.book.author(of: ChangeID(replica: alice.id, number: 8))?.program == "other")
      #expect(try alice.book.author(of: ChangeID(replica: alice.id, number: 5))?.program == "tests")
      try bob.pull(alice)
      bob.delete(note)
      bob.purge(note)
      try alice.pull(bob)
      checkInvariants(alice.book, "")
      try alice.putAway(andReopen: isReopening)
      checkInvariants(alice.book, "")
      #expect(alice.book == bob.book)
    }
  }

  // MARK: - Whose effects

  @Test func `are told with the notes that they have changed, each alone`() throws {
    let (alice, bob, carol) = (Person(1), Person(2), Person(5))
    let shared = alice.create("shared", "a text of some words")
    let other = alice.create("other")
    for person in [bob, carol] { try person.pull(alice) }
    alice.setTitle(shared, "hers")
    bob.setText(shared, "a text of some other words")
    bob.setTags(other, "home")
    try bob.pull(alice)
    let known = carol.book.version
    let effects = try carol.book.merge(foreign: bob.book.changes(since: known)).notes(by: nil)
    #expect(effects[shared]?.facets == [.title, .text] && effects[shared]?.author == nil)
    #expect(effects[other]?.author == bob.author && effects.count == 2)
    // Changes of this process are its own author's.
    let own = carol.make([.edit(other, .tags(.insert(Tag("work"))))]).notes(by: carol.author)
    #expect(own[other]?.author == carol.author)
  }

  @Test func `of several and of no names are none`() throws {
    let (alice, nobody) = (Person(1), Person(4))
    let note = alice.create("note")
    try nobody.pull(alice)
    nobody.setTitle(note, "nameless")
    let reader = Person(2)
    let effects = try reader.book.merge(foreign: nobody.book.changes(since: Version()))
    #expect(effects.notes(by: reader.author)[note]?.author == nil)
    try alice.pull(nobody)
    alice.setTitle(note, "named")
    let later = try reader.book.merge(foreign: alice.book.changes(since: reader.book.version))
    #expect(later.notes(by: reader.author)[note]?.author == alice.author)
    // And when both are told of together.
    var all = effects
    all.merge(later)
    #expect(all.notes(by: nil)[note]?.author == nil)
    #expect(all.notes(by: nil)[note]?.facets == [.created, .title, .position])
  }

  @Test func `are those of all changes of a note, in random histories`() throws {
    var told = 0
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed)
      let people = (1...3).map { Person($0) }
      for _ in 0..<40 {
        let person = generator.pick(people)
        if generator.chance(30) {
          let other = generator.pick(people)
          let known = person.book.version
          var pending = PendingChanges(other.book.changes(since: known))
          var effects = Effects()
          while pending.isReady {
            effects.merge(
              person.book.drain(&pending, atMost: generator.chance(50) ? 3 : .max).effects)
          }
          var authors: [NoteID: Set<Author?>] = [:]
          for replica in person.book.version.replicas
          where known[replica] < person.book.version[replica] {
            var author: Author?
            try person.book.forEachChange(of: replica, upTo: person.book.version[replica]) {
              change, _ in
              author = change.author ?? author
              if change.id.number <= known[replica] { return }
              for note in change.notes { authors[note, default: []].insert(author) }
            }
          }
          for (note, effect) in effects.notes(by: nil) {
            let all = try #require(authors[note], at(seed))
            if all.count == 1 { #expect(effect.author == all.first!, at(seed)) }
            if let author = effect.author {
              #expect(all.contains(author), at(seed))
              told += 1
            }
          }
        }
        generator.actOrPurge(person)
      }
    }
    #expect(told > 300)
  }

  // MARK: - Bytes from outside

  private func change(_ bytes: [UInt8]) throws -> Change {
    var mentions = ReplicaTable()
    return try Change(
      ChangeID(replica: replicaID(1), number: 1), decoding: bytes[...], after: 0, &mentions)
  }

  /// A creation, with this mark.
  private func marked(_ mark: [UInt8]) -> [UInt8] { [0, 0] + mark + [1] }

  private func named(_ text: String) -> [UInt8] {
    var writer = ByteWriter()
    writer.byte(0x1f)
    writer.counted(text.utf8)
    return writer.bytes
  }

  @Test func `are read with the mark of an import behind them`() throws {
    let plain = try change(marked(named("Ana\nVim")))
    #expect(plain.author == Author(name: "Ana", program: "Vim") && !plain.isImport)
    let imported = try change(marked(named("Ana\nVim") + [0x20]))
    #expect(imported.author == plain.author && imported.isImport)
    #expect(try change(marked([0x20])).isImport)
    var mentions = ReplicaTable()
    #expect(imported.encoded(after: 0, &mentions) == marked(named("Ana\nVim") + [0x20]))
  }

  @Test(arguments: [
    "", "\n", "Ana", "Ana\n", "\nVim", " Ana\nVim", "Ana\nVim ", "Ana\nVim\n", "An\u{1b}a\nVim",
    "\(String(repeating: "x", count: 101))\nVim", "Ana\n\(String(repeating: "x", count: 41))",
    "Ana\nVim\u{202e}",
  ])
  func `that can be none are refused`(_ text: String) {
    #expect(throws: DecodingFailure.self) { try change(marked(named(text))) }
  }

  @Test func `stand once, in front of the mark of an import, and in front of the operations`()
    throws
  {
    let name = named("Ana\nVim")
    let long = "\(String(repeating: "x", count: 100))\n\(String(repeating: "x", count: 40))"
    _ = try change(marked(named(long)))
    let wrong: [[UInt8]] = [
      name + name, [0x20, 0x20], [0x20] + name, [1] + name, [1, 0x20], [0x1f, 3, 0x61, 0x0a, 0xff],
      [0x1f, 200], [0x1f], [0x1f, 0x83, 0, 0x61, 0x0a, 0x62],
    ]
    for mark in wrong {
      #expect(throws: DecodingFailure.self, "\(mark)") { try change(marked(mark)) }
    }
    // Marks alone are no change.
    #expect(throws: DecodingFailure.self) { try change([0, 0] + name + [0x20]) }
  }
}

extension Change {
  /// The notes that it does something to.
  fileprivate var notes: Set<NoteID> {
    Set(
      operations.map {
        switch $0 {
        case .create: NoteID(creation: id)
        case .place(let placement): NoteID(creation: placement.element)
        case .edit(let note, _), .purge(let note), .redacted(let note, _, _): note
        }
      })
  }
}
