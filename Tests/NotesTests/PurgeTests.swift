import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// All changes that people have made, as they encoded them.
private struct Originals {
  private(set) var changes: [ChangeID: [UInt8]] = [:]

  /// Adds what a person has made and others don't have yet. A purge leaves what it says in its own change.
  mutating func add(_ person: Person) {
    let last = person.book.version[person.id]
    // Changes that are named by their content are of replicas of their own, and the only ones of these.
    for replica in person.book.version.replicas where replica.high > 3 {
      let id = ChangeID(replica: replica, number: 1)
      if changes[id] == nil { changes[id] = try! person.book.encoded(id) }
    }
    guard last > 0 else { return }
    try! person.book.forEachEncoded(of: person.id, in: last...last) { number, encoded, _ in
      let id = ChangeID(replica: person.id, number: number)
      if changes[id] == nil { changes[id] = Array(encoded) }
      return true
    }
  }

  /// Everything by all replicas, in no order, one by one: what `body` makes of a change.
  func pending(_ body: (ChangeID, [UInt8]) -> [UInt8]) -> [(ChangeID, [UInt8])] {
    changes.sorted { $0.key < $1.key }.map { ($0.key, body($0.key, $0.value)) }
  }
}

/// A history in which notes are purged, and what it consists of.
private func history(
  _ seed: UInt64, steps: Int = 60
) throws -> (people: [Person], originals: Originals) {
  var generator = SplitMix64(seed: seed)
  let people = (1...3).map { Person($0) }
  var originals = Originals()
  for _ in 0..<steps {
    let person = generator.pick(people)
    if generator.chance(25) { try person.pull(generator.pick(people)) }
    generator.actOrPurge(person)
    originals.add(person)
    if generator.chance(5) { try person.putAway(andReopen: generator.chance(50)) }
  }
  return (people, originals)
}

extension NoteBook {
  fileprivate func encoded(_ change: ChangeID) throws -> [UInt8] {
    var result: [UInt8] = []
    try forEachEncoded(of: change.replica, in: change.number...change.number) { _, encoded, _ in
      result = Array(encoded)
      return true
    }
    return result
  }

  fileprivate func archived() throws -> [UInt8] {
    var (book, bytes) = (self, [UInt8]())
    var writer = ArchiveWriter(&book, appendix: [])
    while let piece = try writer.next() { bytes += piece }
    return bytes
  }
}

extension [UInt8] {
  fileprivate func contains(_ word: String) -> Bool {
    let word = Array(word.utf8)
    return indices.contains { self[$0...].starts(with: word) }
  }
}

@Suite(.computing) struct `Purged notes` {
  // MARK: - What is redacted

  @Test func `a change is redacted for several notes in any order, once, and keeps its hash`()
    throws
  {
    var redactions = 0
    for seed in seeds(20) {
      let (people, originals) = try history(seed)
      var generator = SplitMix64(seed: seed)
      try exchangeAll(people, at(seed))
      let book = people[0].book
      let notes = book.noteCache.ids
      for replica in book.version.replicas {
        let mentions = try book.mentions(of: replica).replicas
        // As in the book, of each change whom its author has named before it.
        var named = ReplicaTable()
        var time: Int64 = 0
        for number in 1...book.version[replica] {
          let id = ChangeID(replica: replica, number: number)
          let original = originals.changes[id]![...]
          let some = Set(notes.filter { _ in generator.chance(40) })
          let others = Set(notes.filter { _ in generator.chance(40) })
          func redact(_ encoded: ArraySlice<UInt8>, _ notes: Set<NoteID>) throws -> [UInt8]? {
            var redactor = Redactor(notes, author: replica, mentions: mentions)
            return try redactor.redacted(encoded)
          }
          let one = try redact(original, some).map { $0[...] } ?? original
          let other = try redact(original, others).map { $0[...] } ?? original
          let both = try redact(original, some.union(others)).map { $0[...] } ?? original
          #expect(try redact(one, others).map { $0[...] } ?? one == both, at(seed))
          #expect(try redact(other, some).map { $0[...] } ?? other == both, at(seed))
          #expect(try redact(both, some) == nil, at(seed))
          #expect(ChangeHash.hash(of: both) == ChangeHash.hash(of: original), at(seed))
          #expect(ChangeHash.isSame(one, other), at(seed))

          var (before, after) = (named, named)
          let change = try Change(id, decoding: original, after: time, &before)
          let rest = try Change(id, decoding: both, after: time, &after)
          #expect(before == after, "whom it names, \(at(seed))")
          #expect(rest.time == change.time && rest.predecessors == change.predecessors, at(seed))
          #expect(
            rest.operations.reduce(0) { $0 + $1.ticks }
              == change.operations.reduce(0) { $0 + $1.ticks }, at(seed))
          #expect(!rest.edits(anyOf: some.union(others)), at(seed))
          #expect(
            change.edits(anyOf: some.union(others)) == (rest.original != nil), at(seed))
          var again = named
          #expect(rest.encoded(after: time, &again)[...] == both, at(seed))
          if rest.original != nil { redactions += 1 }
          // What is kept is as it was, with the logical times that it had.
          func kept(_ change: Change) -> [Change.Operation] {
            change.operations.filter {
              switch $0 {
              case .edit(let note, _): !some.contains(note) && !others.contains(note)
              case .redacted: false
              default: true
              }
            }
          }
          #expect(kept(rest) == kept(change), at(seed))
          (named, time) = (before, change.time)
        }
      }
    }
    #expect(redactions > 100)
  }

  @Test func `other changes have other hashes`() throws {
    let person = Person(1)
    let note = person.create("title", "one")
    person.setText(note, "two")
    person.setText(note, "six")
    let last = person.book.version[person.id]
    let encoded = try (last - 1...last).map {
      try person.book.encoded(ChangeID(replica: person.id, number: $0))[...]
    }
    var redactor = Redactor([note], author: person.id, mentions: [])
    let redacted = try encoded.map { try redactor.redacted($0)![...] }
    for (a, b) in [
      (encoded[0], encoded[1]), (redacted[0], encoded[1]), (encoded[0], redacted[1]),
      (redacted[0], redacted[1]),
    ] {
      #expect(!ChangeHash.isSame(a, b))
    }
    #expect(
      ChangeHash.isSame(encoded[0], redacted[0]) && ChangeHash.isSame(redacted[1], encoded[1]))
  }

  // MARK: - Notebooks

  @Test func `keeps the laws of merging in random histories`() throws {
    for seed in seeds(12) {
      var generator = SplitMix64(seed: seed)
      let people = (1...3).map { Person($0) }
      var states = [NoteBook()]
      for step in 0..<40 {
        let person = generator.pick(people)
        if generator.chance(30) { try person.pull(generator.pick(people)) }
        generator.actOrPurge(person)
        if generator.chance(5) { try person.putAway(andReopen: generator.chance(50)) }
        checkInvariants(person.book, at(seed, step))
        states.append(person.book)
      }
      for _ in 0..<5 {
        let (a, b, c) = (
          generator.pick(states), generator.pick(states), generator.pick(states)
        )
        try expectLaws(a, b, c, empty: NoteBook(), at(seed))
      }
      try exchangeAll(people, at(seed))
    }
  }

  @Test func `whoever gets originals and redacted changes in any order ends with the same bytes`()
    throws
  {
    var purged = 0
    for seed in seeds(20) {
      var generator = SplitMix64(seed: seed)
      let (people, originals) = try history(seed)
      let alone = people.map(\.book)
      try exchangeAll(people, at(seed))
      var book = people[0].book
      purged += book.purged.count
      let digest = try book.digest(of: book.version)
      let packed = try book.packed(of: notebook)
      let mentions = try Dictionary(
        uniqueKeysWithValues: book.version.replicas.map { ($0, try book.mentions(of: $0)) })
      for round in 0..<4 {
        // Some of what was purged is redacted, as somebody has done who did not know all; in the last round nothing is.
        let changes = originals.pending { id, encoded in
          let known = book.purged.filter { _ in round < 3 && generator.chance(50) }
          var redactor = Redactor(known, author: id.replica, mentions: mentions[id.replica]!)
          return try! redactor.redacted(encoded[...]) ?? encoded
        }.shuffled(using: &generator)
        var other = round == 0 ? NoteBook() : generator.pick(alone)
        var pending = PendingChanges()
        for (id, encoded) in changes {
          pending.insert(id, encoded)
          if generator.chance(20) {
            #expect(other.drain(&pending).refused.isEmpty, at(seed, round))
          }
          if generator.chance(3) {
            let (archive, mark) = try other.putAway()
            try other.adopt(archive, markedAt: mark)
          }
        }
        #expect(other.drain(&pending).refused.isEmpty && pending.isEmpty, at(seed, round))
        #expect(other == book, at(seed, round))
        #expect(try other.digest(of: other.version) == digest, at(seed, round))
        #expect(try other.packed(of: notebook) == packed, at(seed, round))
        checkInvariants(other, at(seed, round))
        var reopened = NoteBook(try other.putAway().archive)
        #expect(reopened == book, at(seed, round))
        #expect(try reopened.digest(of: reopened.version) == digest, at(seed, round))
        // Blocks of an archive end elsewhere where it was made of another one.
        if round == 0,
          let all = try? ChangeSet.decode(
            book.changes(since: Version()).encoded(of: notebook)
          ).changes
        {
          var fresh = NoteBook()
          try fresh.merge(foreign: all)
          var again = NoteBook()
          try again.merge(foreign: other.changes(since: Version()))
          #expect(try fresh.archived() == again.archived(), at(seed, round))
        }
      }
    }
    #expect(purged > 10)
  }

  @Test func `what is read is the same before and after memory is redacted`() throws {
    func read(_ book: NoteBook) throws -> [[UInt8]] {
      var result: [[UInt8]] = []
      for replica in book.version.replicas {
        try book.forEachEncoded(of: replica, in: 1...book.version[replica]) { _, encoded, lamport in
          result.append(Array(encoded) + Array("\(lamport)".utf8))
          return true
        }
        result += try book.links(of: replica).compactMap { link in
          link.redacted(book.purged).map { Array("\($0)".utf8) }
        }
      }
      return result
    }
    /// The changes in memory that tell of what was purged.
    func unredacted(_ book: NoteBook) throws -> Int {
      try book.histories.all.reduce(0) { sum, history in
        var redactor = Redactor(book.purged, author: history.id, mentions: history.mentions)
        return try sum
          + (history.archived..<history.count).count {
            try redactor.redacted(history.change($0 + 1)) != nil
          }
      }
    }
    var (changes, bases) = (0, 0)
    for seed in seeds(30) {
      let (people, _) = try history(seed)
      try exchangeAll(people, at(seed))
      for person in people {
        var book = person.book
        changes += try unredacted(book)
        bases += book.histories.all.reduce(0) { sum, history in
          sum
            + history.links.runs.flatMap(\.links).count {
              $0.bases.contains { book.isPurged($0.note) }
            }
        }
        let known = try read(book)
        let (archive, _) = try book.putAway()
        for replica in book.version.replicas {
          let session = try #require(try archive.session(replica))
          let written = try archive.links(of: session).flatMap(\.bases)
          #expect(!written.contains { book.isPurged($0.note) }, at(seed))
        }
        book.redactHistories()
        #expect(try unredacted(book) == 0, at(seed))
        #expect(try read(book) == known, at(seed))
        #expect(book == person.book, at(seed))
        // The next change does not alter those before it.
        let replica = person.id
        func own(_ book: NoteBook) throws -> [[UInt8]] {
          var result: [[UInt8]] = []
          try book.forEachEncoded(of: replica, in: 1...book.version[replica]) { _, encoded, _ in
            result.append(Array(encoded))
            return true
          }
          return result
        }
        let before = try own(person.book)
        person.book.redactHistories()
        person.create("later", "text")
        let after = try own(person.book)
        #expect(after.count == before.count + 1 && Array(after.dropLast()) == before, at(seed))
      }
    }
    #expect(changes > 100)
    #expect(bases > 0)
  }

  @Test func `nothing happens to other notes`() throws {
    for seed in seeds(20) {
      var generator = SplitMix64(seed: seed)
      let (people, _) = try history(seed)
      try exchangeAll(people, at(seed))
      let person = people[0]
      guard let note = person.book.notes.randomElement(using: &generator) else { continue }
      person.delete(note.id)
      let others = person.book.notes.filter { $0.id != note.id }
      let places = person.book.summaries.map(\.id).filter { $0 != note.id }
      let counts = person.book.counts
      person.purge(note.id)
      #expect(person.book.notes.map(\.id) == places, at(seed))
      #expect(person.book.counts == (counts.live, counts.trashed - 1), at(seed))
      for other in others { #expect(person.book[other.id] == other, at(seed)) }
      #expect(try person.book.note(note.id) == nil && person.book.isPurged(note.id), at(seed))
      #expect(try !person.book.open(note.id), at(seed))
      #expect(try person.book.history(of: note.id, limit: 9).isEmpty, at(seed))
      #expect(try person.book.note(note.id, at: person.book.version) == nil, at(seed))
      checkInvariants(person.book, at(seed))
      // Notes go where they are put, whatever place is still taken.
      for _ in 0..<5 { generator.act(person) }
    }
  }

  @Test func `what somebody who was away has done to it is gone, and what they did besides is not`()
    throws
  {
    let (one, away) = (Person(1), Person(2))
    let note = one.create("secret", "abracadabra")
    let other = one.create("other", "stays")
    try away.pull(one)
    away.setText(note, "abracadabra simsalabim")
    away.restore(note)
    away.make([
      .edit(note, .title(.init(value: "hocuspocus", time: away.now))),
      .edit(other, .title(.init(value: "renamed", time: away.now))),
    ])
    one.delete(note)
    one.purge(note)
    try one.pull(away)
    try away.pull(one)
    let late = Person(3)
    try late.pull(away)
    for person in [one, away, late] {
      #expect(person.titles == ["renamed"])
      #expect(person.book.isPurged(note) && person.book == one.book)
      checkInvariants(person.book, "")
      let travelling = person.book.changes(since: Version()).encoded(of: notebook)
      for word in ["secret", "abracadabra", "simsalabim", "hocuspocus"] {
        #expect(try !travelling.contains(word) && !person.book.archived().contains(word))
        #expect(try !person.book.packed(of: notebook).contains(word))
      }
      #expect(travelling.contains("renamed"))
    }
    // A step back doesn't bring it, nor does anything.
    one.withdraw(other, ChangeRanges([.init(away.id, 1...3)]))
    #expect(one.book.isPurged(note))
  }

  @Test func `an archive tells nothing more of it when it is read, and the next one has nothing`()
    throws
  {
    let person = Person(1)
    let note = person.create("secret", "abracadabra")
    let other = person.create("other", "stays")
    try person.putAway(andReopen: true)
    person.setText(note, "abracadabra simsalabim")
    try person.putAway(andReopen: true)
    #expect(try person.book.archived().contains("abracadabra"))
    person.delete(note)
    person.purge(note)
    #expect(person.book.isArchiveBehind)
    let travelling = person.book.changes(since: Version()).encoded(of: notebook)
    #expect(!travelling.contains("abracadabra") && travelling.contains("stays"))
    #expect(try !person.book.archived().contains("abracadabra"))
    try person.putAway(andReopen: false)
    #expect(!person.book.isArchiveBehind)
    try person.putAway(andReopen: true)
    #expect(person.book.isPurged(note) && !person.book.isArchiveBehind)
    #expect(try person.book.archived().contains("stays"))
    #expect(person.titles == ["other"])
    var fresh = NoteBook()
    try fresh.merge(foreign: try ChangeSet.decode(travelling).changes)
    #expect(fresh == person.book && fresh.isPurged(note))
    person.setText(other, "stays here")
    checkInvariants(person.book, "")
  }

  // MARK: - Forgeries

  @Test func `a redaction that no redactor makes is refused`() throws {
    let person = Person(1)
    let note = person.create("title", "text")
    let last = person.book.next(by: person.id)
    func refusal(_ original: UInt64?, _ operations: [Change.Operation]) -> Bool {
      let change = Change(
        id: last, time: person.now, predecessors: [], original: original, operations: operations)
      var mentions = ReplicaTable()
      var pending = PendingChanges()
      pending.insert(last, change.encoded(after: person.now, &mentions))
      var book = person.book
      return !book.drain(&pending).refused.isEmpty
    }
    let edit = Change.Operation.edit(note, .restore)
    func redaction(_ ticks: UInt64 = 1) -> Change.Operation {
      .redacted(note, ticks: ticks, names: [])
    }
    #expect(!refusal(7, [redaction()]) && !refusal(nil, [edit]) && !refusal(nil, [.purge(note)]))
    #expect(refusal(nil, [redaction()]), "without a hash")
    #expect(refusal(7, [edit]), "a hash of what is not redacted")
    #expect(refusal(7, [redaction(), redaction()]) && refusal(7, [edit, redaction()]))
    #expect(refusal(7, [redaction(), edit]))
    #expect(!refusal(7, [redaction(1 << 26)]) && refusal(7, [redaction(1 << 26 + 1)]))
    let unknown = NoteID(creation: ChangeID(replica: replicaID(9), number: 1))
    #expect(refusal(nil, [.purge(unknown)]))
    #expect(refusal(7, [.redacted(unknown, ticks: 0, names: [])]))
  }

  @Test func `a change that edits a note and purges it leaves nothing`() throws {
    let person = Person(1)
    let note = person.create("title", "text")
    person.make([
      .edit(note, .title(.init(value: "last words", time: person.now))), .purge(note),
      .edit(note, .title(.init(value: "afterwards", time: person.now))),
    ])
    #expect(person.book.isPurged(note))
    checkInvariants(person.book, "")
    let other = Person(2)
    try other.pull(person)
    #expect(other.book == person.book)
    let travelling = other.book.changes(since: Version()).encoded(of: notebook)
    #expect(!travelling.contains("last words") && !travelling.contains("afterwards"))
  }
}
