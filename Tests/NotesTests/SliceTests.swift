import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// Merging that stops after some work and goes on later, with changes made in between.
@Suite struct `Merging in slices` {
  /// The work of the largest change here, with the notes that it opens.
  private static let largestChange = 256

  private func history(_ random: inout SplitMix64) throws -> [Person] {
    let people = (1...UInt64(2 + random.below(3))).map(Person.init)
    for _ in 0..<40 {
      let person = random.pick(people)
      if random.chance(20) { try person.pull(random.pick(people)) }
      random.actOrWithdraw(person)
    }
    return people
  }

  /// What came, in pieces, in any order, some of it twice.
  private func pieces(_ people: [Person], _ random: inout SplitMix64) -> [ChangeSet] {
    var pieces: [ChangeSet] = []
    for person in people {
      let numbers = person.book.version.replicas.map { ($0, person.book.version[$0]) }
      var known = Version()
      while known != person.book.version {
        for (replica, last) in numbers {
          known[replica] = min(last, known[replica] + UInt64(random.below(8)))
        }
        var before = Version()
        for (replica, _) in numbers {
          before[replica] = UInt64(random.below(Int(known[replica]) + 1))
        }
        pieces.append(person.book.changes(since: before))
      }
      pieces.append(person.book.changes(since: Version()))
    }
    return pieces.shuffled(using: &random)
  }

  @Test func `a slice ends among the changes of one replica`() throws {
    var random = SplitMix64(seed: 1)
    let (writer, editor) = (Person(1), Person(2))
    for _ in 0..<600 { random.actOrWithdraw(writer) }
    var pending = PendingChanges()
    pending.insert(writer.book.changes(since: Version()))
    var slices = 0
    while pending.isReady {
      let merged = editor.book.drain(&pending, atMost: 10)
      #expect(merged.work < 10 + Self.largestChange)
      slices += 1
    }
    #expect(slices > 20 && editor.book.version == writer.book.version)
  }

  @Test func `random histories end in the state of one merge, with an editor in between`() throws {
    for seed in seeds(30) {
      var random = SplitMix64(seed: seed)
      let people = try history(&random)
      let (editor, witness) = (Person(98), Person(97))
      if random.chance(50) { try editor.pull(people[0]) }
      if random.chance(30) { try editor.putAway(andReopen: true) }
      var pieces = pieces(people, &random)
      var pending = PendingChanges()
      while !pieces.isEmpty || pending.isReady {
        switch random.below(6) {
        case 0: random.actOrWithdraw(editor)
        case 1: try witness.pull(editor)
        case 2: if !random.chance(70) { try editor.putAway(andReopen: random.chance(50)) }
        case 3: if let piece = pieces.popLast() { pending.insert(piece) }
        default:
          let limit = 1 + random.below(20)
          let (before, wasReady) = (editor.book.version, pending.isReady)
          let merged = editor.book.drain(&pending, atMost: limit)
          #expect(merged.refused.isEmpty && merged.unreadable == nil, at(seed))
          #expect(merged.work < limit + Self.largestChange, at(seed))
          #expect(merged.work > 0 || !wasReady, at(seed))
          var after = before
          for (replica, number) in merged.advanced {
            #expect(after[replica] == number, at(seed))
            after[replica] = editor.book.version[replica]
          }
          #expect(after == editor.book.version, at(seed))
          if random.chance(20) { checkInvariants(editor.book, at(seed)) }
        }
      }
      #expect(pending.isEmpty, at(seed))
      // As processes do that merge each of these sets at once: before the editor's changes, or after them.
      let (early, late) = (Person(99), Person(100))
      for person in people { try early.pull(person) }
      try early.pull(editor)
      try late.pull(editor)
      for person in people { try late.pull(person) }
      try exchangeAll([editor, witness, early, late] + people, at(seed))
    }
  }

  /// Changes of many authors who have seen nothing but the first note, and of one that has made many.
  private func crowd(_ count: UInt64) -> (book: NoteBook, pending: PendingChanges) {
    let author = Person(1)
    let note = author.create("note", "text")
    var pending = PendingChanges()
    for number in 2..<count + 2 {
      let person = Person(number)
      person.book = author.book
      for _ in 0..<(number == 2 ? Int(count) : 1) { person.setText(note, "a text of \(number)") }
      person.create("another")
      pending.insert(person.book.changes(since: author.book.version))
    }
    return (author.book, pending)
  }

  @Test func `a slice does no more than it may, and all of them together what one merge does`() {
    var (book, pending) = crowd(300)
    var (whole, all) = (book, pending)
    let work = whole.drain(&all).work
    #expect(all.isEmpty && work > 1_000)
    var (slices, sum) = (0, 0)
    while pending.isReady {
      let merged = book.drain(&pending, atMost: 50)
      #expect(merged.work < 50 + Self.largestChange)
      slices += 1
      sum += merged.work
    }
    #expect(pending.isEmpty && slices > work / (50 + Self.largestChange))
    #expect(sum <= work + slices && book.pasts.steps == whole.pasts.steps)
    #expect(book == whole)
  }

  @Test func `a change whose predecessors come in a later slice is not looked at before`() throws {
    let people = (1...UInt64(40)).map(Person.init)
    let note = people[0].create("note")
    // Each one's change follows that of the one before.
    for (person, next) in zip(people, people.dropFirst()) {
      try next.pull(person)
      next.setTitle(note, "title \(next.id)")
    }
    let changes = people.last!.book.changes(since: Version()).consecutive
    var pending = PendingChanges()
    for (first, encoded) in changes.reversed() { pending.insert(first, Array(encoded[0])) }
    var book = NoteBook()
    var work = 0
    while pending.isReady { work += book.drain(&pending, atMost: 1).work }
    #expect(book == people.last!.book)
    // Each is found to wait for one other, and applied.
    #expect(work < 40 * 10)
  }
}
