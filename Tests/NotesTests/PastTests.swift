import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// A change as it travels, and all that its author had seen before it: what its notebook held.
private struct MadeChange {
  var change: Change
  var encoded: [UInt8]
  var seen: Version
}

/// A history that several people make together, who take over from each other what they have, or had some time ago.
private struct RandomHistory {
  private(set) var changes: [ChangeID: MadeChange] = [:]
  private(set) var version = Version()

  init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var people = (1...UInt64(2 + random.below(14))).map { Person($0) }
    // A session follows another now and then.
    var number = UInt64(people.count)
    var books: [NoteBook] = []
    let note = people[0].create("note")
    keepLast(of: people[0], after: Version())
    let partners = random.pick([1, 3, 100])
    for _ in 0..<80 {
      let place = random.below(people.count)
      if random.chance(10) {
        number += 1
        let next = Person(number)
        next.book = people[place].book
        people[place] = next
      }
      let person = people[place]
      if random.chance(45) {
        let other = people[(place + 1 + random.below(partners)) % people.count]
        try! person.pull(random.chance(20) ? random.pick(books + [other.book]) : other.book)
      } else {
        let seen = person.book.version
        if person.book[note] == nil || random.chance(5) {
          _ = person.create("another")
        } else {
          person.setText(note, random.edited(person.book[note]!.text.string))
        }
        keepLast(of: person, after: seen)
      }
      books.append(person.book)
    }
  }

  private mutating func keepLast(of person: Person, after seen: Version) {
    let number = person.book.version[person.id]
    guard number > seen[person.id] else { return }
    var encoded: [UInt8] = []
    try! person.book.forEachEncoded(of: person.id, in: number...number) { _, bytes, _ in
      encoded = Array(bytes)
      return true
    }
    try! person.book.forEachChange(of: person.id, upTo: number) { change, _ in
      guard change.id.number == number else { return }
      changes[change.id] = MadeChange(change: change, encoded: encoded, seen: seen)
      version.insert(change.id)
    }
  }
}

@Suite struct `The past of a change` {
  @Test(arguments: seeds(40))
  func `is what its author's notebook held, in whichever order changes come`(seed: UInt64) throws {
    let history = RandomHistory(seed: seed)
    var random = SplitMix64(seed: seed &+ 1_000_000)
    let person = Person(99)
    person.book.pasts.limit = random.pick([1, 3, 1024])
    var waiting = history.changes
    while !waiting.isEmpty {
      let next = waiting.values
        .filter { made in
          made.seen[made.change.id.replica] == person.book.version[made.change.id.replica]
            && person.book.version.isSuperset(of: made.seen)
        }
        .sorted { $0.change.id < $1.change.id }
      let made = random.pick(next)
      let past = try person.book.past(of: made.change)
      for other in history.changes.keys.sorted() {
        let isSeen = other == made.change.id || made.seen.contains(other)
        #expect(past.contains(other) == isSeen, at(seed))
      }
      #expect(past.isComplete == (made.seen == person.book.version), at(seed))
      checkSince(past.since, made, history, seed)
      var pending = PendingChanges()
      pending.insert(made.change.id, made.encoded)
      let refused = person.book.drain(&pending).refused
      #expect(refused.isEmpty && pending.isEmpty, at(seed))
      waiting[made.change.id] = nil
      if random.chance(3) { try person.putAway(andReopen: random.chance(50)) }
    }
    #expect(person.book.version == history.version, at(seed))
  }

  /// Beside the rule by which changes are looked through stands what notes were then and are now.
  @Test(arguments: seeds(40))
  func `says which notes were changed since`(seed: UInt64) throws {
    let history = RandomHistory(seed: seed)
    let person = Person(99)
    var pending = PendingChanges()
    for made in history.changes.values { pending.insert(made.change.id, made.encoded) }
    _ = person.book.drain(&pending)
    try person.putAway(andReopen: seed % 2 == 0)
    var random = SplitMix64(seed: seed)
    let made = history.changes.values.sorted { $0.change.id < $1.change.id }
    for seen in [Version(), history.version] + (0..<5).map({ _ in random.pick(made).seen }) {
      let changed = try person.book.notes(changedSince: seen)
      let expected = made.filter { !seen.contains($0.change.id) }.flatMap { made in
        made.change.operations.compactMap { operation -> NoteID? in
          switch operation {
          case .create: NoteID(creation: made.change.id)
          case .edit(let note, _): note
          default: nil
          }
        }
      }
      #expect(changed == Set(expected), at(seed))
      for id in Set(expected) {
        let (past, now) = (try person.book.note(id, at: seen), try person.book.note(id))
        if past?.utf8 != now?.text.utf8 { #expect(changed.contains(id), at(seed)) }
      }
    }
  }

  /// Since the change that is said its author has seen nothing of others.
  private func checkSince(
    _ since: UInt64, _ made: MadeChange, _ history: RandomHistory, _ seed: UInt64
  ) {
    #expect(since <= made.change.id.number, at(seed))
    for number in since...made.change.id.number {
      let id = ChangeID(replica: made.change.id.replica, number: number)
      var seen = history.changes[id]!.seen
      seen[id.replica] = made.seen[id.replica]
      #expect(seen == made.seen, at(seed))
    }
  }

  /// Each of them had the steps of all before it when what a change follows was looked up anew.
  @Test func `is found in a few steps where each of many sessions follows the one before`() throws {
    let (author, reader) = (Person(1), Person(3))
    let note = author.create("note", "text")
    try reader.pull(author)
    reader.setText(note, "offline text")
    var last = author
    for number in 10..<1_010 as Range<UInt64> {
      let next = Person(number)
      next.book = last.book
      next.setTitle(note, "\(number)")
      last = next
    }
    reader.book.pasts.steps = 0
    try reader.pull(last)
    #expect(reader.book.version.count == 1_002 && reader.book.revision.heads.count == 2)
    #expect(reader.book.pasts.steps < 10)
  }

  /// More of them than there is room for, were the pasts kept of all replicas.
  @Test func `is found in a few steps where many authors take turns`() throws {
    let (author, reader) = (Person(1), Person(3))
    let note = author.create("note", "text")
    try reader.pull(author)
    reader.setText(note, "offline text")
    let people = (10..<310 as Range<UInt64>).map { Person($0) }
    var book = author.book
    for turn in 0..<1_200 {
      let person = people[turn % people.count]
      person.book = book
      person.setTitle(note, "\(turn)")
      book = person.book
    }
    reader.book.pasts.steps = 0
    reader.book.pasts.limit = 8
    try reader.pull(book)
    #expect(reader.book.revision.heads.count == 2)
    #expect(reader.book.pasts.steps < 10)
  }

  /// Long histories of few authors, so that links stand in many runs, and archives of archives.
  @Test(arguments: seeds(10))
  func `is the same in memory, in an archive, and in those that follow it`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let people = (1...4).map { Person($0) }
    let note = people[0].create("note", "text")
    for person in people.dropFirst() { try person.pull(people[0]) }
    let reader = Person(99)
    var seen: [ChangeID: Version] = [:]
    for step in 0..<500 {
      let person = random.pick(people)
      // Two of them are away for a while.
      let isAway = (200..<350).contains(step)
      let others = people.filter { !isAway || ($0.id < people[2].id) == (person.id < people[2].id) }
      if random.chance(70) { try person.pull(random.pick(others)) }
      let change = person.book.next(by: person.id)
      person.setTitle(note, "\(step)")
      seen[change] = person.book.version
      if random.chance(10) { try reader.pull(random.pick(people)) }
      if random.chance(5) { try reader.putAway(andReopen: random.chance(50)) }
      if random.chance(3) { try person.putAway(andReopen: random.chance(50)) }
    }
    for person in people { try reader.pull(person) }
    func check(_ book: NoteBook) throws {
      for (change, past) in seen {
        #expect(try book.version(of: [change]) == past, at(seed))
      }
      #expect(try book.revision(of: book.version) == book.revision, at(seed))
    }
    try check(reader.book)
    for isReopening in [false, true] {
      try reader.putAway(andReopen: isReopening)
      try check(reader.book)
    }
    let all = Person(98)
    try all.pull(reader)
    try check(all.book)
    try all.putAway(andReopen: true)
    try check(all.book)
  }

  /// Two type in turn, so each of their changes follows the other's. With all of that in an archive, two others change a note, unseen by each
  /// other, and take back what they did.
  @Test func `is found with as few reads of an archive after many keys as after few`() throws {
    func bytesRead(keys: Int) throws -> (meeting: Int, undo: Int) {
      let (ana, ben) = (Person(1), Person(2))
      let typed = ana.create("typed")
      let lines = ana.create("lines", "one\ntwo\nthree\n")
      try ben.pull(ana)
      for key in 0..<keys {
        let (writer, other) = key.isMultiple(of: 2) ? (ana, ben) : (ben, ana)
        writer.setTitle(typed, "\(key)")
        try other.pull(writer)
      }
      let disk = try Disk(&ana.book)
      let (carl, dora) = (Person(4), Person(5))
      carl.book = NoteBook(try disk.archive())
      dora.book = NoteBook(try disk.archive())
      carl.setText(lines, "onetwo\nthree\n")
      dora.setText(lines, "one\n two\nthree\n")
      var start = disk.read
      try carl.pull(dora)
      try dora.pull(carl)
      let meeting = disk.read - start
      #expect(carl.book == dora.book && carl.book[lines]!.text.string == "one\n two\nthree\n")
      start = disk.read
      for person in [carl, dora] {
        let changes = ChangeRanges([ChangeRanges.Run(person.id, 1...1)])
        person.withdraw(lines, changes)
      }
      try carl.pull(dora)
      try dora.pull(carl)
      #expect(carl.book[lines]!.text.string == "one\ntwo\nthree\n")
      return (meeting, disk.read - start)
    }
    let (few, many) = (try bytesRead(keys: 100), try bytesRead(keys: 4_000))
    #expect(few.meeting > 0 && many.meeting < 3 * few.meeting, "\(few), \(many)")
    #expect(many.undo < 2 * few.undo + 1_000, "\(few), \(many)")
  }

  /// Each of them follows another change that the archive has.
  @Test func `of changes that come one after the other reads a block of an archive once`() throws {
    let (ana, ben) = (Person(1), Person(2))
    let (first, second) = (ana.create("first"), ana.create("second"))
    try ben.pull(ana)
    for key in 0..<1_000 {
      ana.setTitle(first, "\(key)")
      try ben.pull(ana)
      ben.setTitle(second, "\(key)")
    }
    let disk = try Disk(&ana.book)
    let reader = Person(4)
    reader.book = NoteBook(try disk.archive())
    let start = disk.read
    try reader.pull(ben)
    #expect(reader.book == ben.book)
    #expect(disk.read - start < disk.bytes.count * 2)
  }
}
