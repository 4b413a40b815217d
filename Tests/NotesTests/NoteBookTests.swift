import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// What a person saw at a moment.
private struct WallTime {
  var revision: String
  var version: Version
  var faces: [NoteID: Face]

  init(_ book: NoteBook) {
    revision = book.revision.description
    version = book.version
    faces = Dictionary(uniqueKeysWithValues: book.notes.map { ($0.id, Face($0)) })
  }
}

@Suite struct `Notebook` {
  let alice = Person(1)
  let bob = Person(2)
  let carol = Person(3)

  private func share(_ titles: String...) throws -> [NoteID] {
    let notes = titles.reversed().map { alice.create($0, "text") }
    try bob.pull(alice)
    try carol.pull(alice)
    return notes.reversed()
  }

  // MARK: - Random histories

  @Test func `random histories end in one state, however the changes travel`() throws {
    for seed in seeds(25) {
      var generator = SplitMix64(seed: seed)
      let people = (1...UInt64(3 + generator.below(2))).map(Person.init)
      var waiting = people.map { _ in PendingChanges() }
      for step in 0..<40 {
        let index = generator.below(people.count)
        let person = people[index]
        let other = generator.pick(people)
        switch generator.below(10) {
        case 0: try person.pull(other)
        case 1: person.book.merge(other.book)
        case 3 where generator.chance(50): try person.putAway(andReopen: generator.chance(50))
        case 2:
          // In slices, each delivered twice.
          var isMore = true
          while isMore {
            let slice = try other.book.changes(
              since: person.book.version, limit: generator.below(80))
            isMore = slice.isMore
            let (_, changes) = try ChangeSet.decode(slice.changes.encoded(of: notebook))
            let before = person.book.version
            try person.book.merge(foreign: changes)
            var expected = before
            expected.merge(slice.version)
            #expect(person.book.version == expected, at(seed, step))
            let effects = try person.book.merge(foreign: changes)
            #expect(effects.isEmpty, at(seed, step))
            if generator.chance(20) { break }
          }
        case 3:
          // Out of order: what follows something unknown waits.
          var version = Version()
          for replica in other.book.version.replicas {
            version[replica] = UInt64(generator.below(Int(other.book.version[replica]) + 1))
          }
          waiting[index].insert(other.book.changes(since: version))
          waiting[index].retry()
          let merged = person.book.drain(&waiting[index])
          #expect(merged.refused.isEmpty, at(seed, step))
        default: generator.actOrWithdraw(person)
        }
        checkInvariants(person.book, at(seed, step))
      }
      try exchangeAll(people, at(seed))
      for index in people.indices {
        waiting[index].retry()
        let merged = people[index].book.drain(&waiting[index])
        #expect(merged.effects.isEmpty && merged.refused.isEmpty, at(seed))
        #expect(waiting[index].isEmpty, at(seed))
      }
    }
  }

  @Test func `keeps the laws of merging in random histories`() throws {
    for seed in seeds(15) {
      var generator = SplitMix64(seed: seed)
      let people = (1...3).map { Person($0) }
      var states = [NoteBook()]
      for _ in 0..<30 {
        let person = generator.pick(people)
        if generator.chance(30) { try person.pull(generator.pick(people)) }
        generator.actOrWithdraw(person)
        states.append(person.book)
      }
      for _ in 0..<5 {
        let (a, b, c) = (
          generator.pick(states), generator.pick(states), generator.pick(states)
        )
        try expectLaws(a, b, c, empty: NoteBook(), at(seed))
      }
    }
  }

  @Test func `shows every earlier state by its revision`() throws {
    for seed in seeds(15) {
      var generator = SplitMix64(seed: seed &+ 500)
      let people = (1...3).map { Person($0) }
      var moments = [WallTime(NoteBook())]
      for _ in 0..<40 {
        let person = generator.pick(people)
        if generator.chance(30) {
          try person.pull(generator.pick(people))
        } else {
          generator.actOrWithdraw(person)
        }
        moments.append(WallTime(person.book))
      }
      try exchangeAll(people, at(seed))
      let book = people[0].book
      for moment in moments {
        #expect(try book.version(ofRevision: moment.revision) == moment.version, at(seed))
        #expect(try book.revision(of: moment.version).description == moment.revision, at(seed))
        #expect(Revision(moment.revision)?.description == moment.revision, at(seed))
        #expect(Version(moment.version.description) == moment.version, at(seed))
        for id in book.notes.map(\.id) {
          let past = try book.note(id, at: moment.version).map { Face($0.note, text: $0.utf8) }
          var face = moment.faces[id]
          // A note is as old as is known now.
          let created = book[id]!.created
          if let known = face?.created, known != created {
            #expect(known == 0 || created < known, at(seed))
            if face!.modified == known { face!.modified = created }
            face!.created = created
          }
          #expect(past == face, at(seed))
        }
      }
    }
  }

  @Test func `a note keeps the laws of merging as a value of its own`() throws {
    for seed in seeds(15) {
      var generator = SplitMix64(seed: seed)
      let people = (1...3).map { Person($0) }
      let note = people[0].create("title", "text")
      let created = people[0].book[note]!
      var states = [created]
      for person in people[1...] { try person.pull(people[0]) }
      for _ in 0..<40 {
        let person = generator.pick(people)
        if generator.chance(30) { try person.pull(generator.pick(people)) }
        // Whole values know nothing of causes. What is, or was, spared or withheld in them is the notebook's, and so is what an author
        // had not seen of its own text: nobody edits on a base here.
        person.reader = nil
        generator.act(person)
        let state = person.book[note]!
        if !state.text.isContested, state.text.copies.isEmpty { states.append(state) }
      }
      #expect(states.count > 5)
      for _ in 0..<6 {
        let (a, b, c) = (
          generator.pick(states), generator.pick(states), generator.pick(states)
        )
        try expectLaws(a, b, c, empty: created, at(seed)) { a, b throws(RefusedChanges) in
          var result = a
          try result.apply(b.changes(since: Version()))
          return result
        }
        // Whoever knows more of the notebook knows more of the note.
        if a.version.isSuperset(of: b.version) {
          var result = a
          try result.apply(b.changes(since: Version()))
          #expect(result == a, at(seed))
        }
      }
    }
  }

  @Test func `a note merges with what another replica did later in several of its parts`() throws {
    let note = alice.create("title", "text")
    alice.setText(note, "text 1")
    alice.setTitle(note, "title 1")
    let before = alice.book[note]!
    alice.setText(note, "text 2")
    let after = alice.book[note]!
    // `merge` traps here.
    var result = before
    try result.apply(after.changes(since: before.version))
    #expect(result == after)
  }

  // MARK: - Scenarios

  @Test func `D1: what is assigned stays when another deletes`() throws {
    let notes = try share("note")
    alice.setTitle(notes[0], "assigned")
    bob.delete(notes[0])
    carol.setPriority(notes[0], .high)
    try exchangeAll([alice, bob, carol])
    let note = alice.book[notes[0]]!
    #expect(!note.isTrashed && note.title.value == "assigned" && note.priority.value == .high)
  }

  @Test func `D2: an edit that the deletion had not seen brings the note back, with the edit`()
    throws
  {
    let notes = try share("note", "other")
    alice.setText(notes[0], "text and more")
    bob.delete(notes[0])
    carol.delete(notes[0])
    #expect(bob.book.counts == (1, 1))
    try exchangeAll([alice, bob, carol])
    let note = alice.book[notes[0]]!
    #expect(!note.isTrashed && note.text.string == "text and more")
    #expect(alice.titles == ["note", "other"])
    bob.delete(notes[0])
    try exchangeAll([alice, bob, carol])
    #expect(alice.book[notes[0]]!.isTrashed)
  }

  @Test func `a deletion holds against a concurrent move, tag and priority`() throws {
    let notes = try share("1", "2")
    alice.move(notes[0], to: 1)
    bob.setTags(notes[0], "home")
    bob.setPriority(notes[0], .low)
    carol.delete(notes[0])
    try exchangeAll([alice, bob, carol])
    #expect(alice.book[notes[0]]!.isTrashed)
    alice.restore(notes[0])
    try exchangeAll([alice, bob, carol])
    #expect(!carol.book[notes[0]]!.isTrashed)
    #expect(carol.book[notes[0]]!.tags.values == [Tag("home")])
    #expect(carol.titles == ["2", "1"])
  }

  @Test func `typing into a note in the trash takes it out`() throws {
    let notes = try share("note")
    alice.delete(notes[0])
    try bob.pull(alice)
    bob.setText(notes[0], "new")
    try exchangeAll([alice, bob])
    #expect(!alice.book[notes[0]]!.isTrashed)
  }

  @Test func `a restoration holds against a concurrent second deletion that had not seen it`()
    throws
  {
    let notes = try share("note")
    alice.delete(notes[0])
    try exchangeAll([alice, bob, carol])
    alice.restore(notes[0])
    bob.delete(notes[0])
    try exchangeAll([alice, bob, carol])
    #expect(!carol.book[notes[0]]!.isTrashed)
  }

  @Test func `M1: concurrent moves of one note leave it once, at one of the places`() throws {
    let notes = try share("x", "1", "2", "3")
    alice.move(notes[0], to: 1)
    bob.move(notes[0], to: 3)
    try exchangeAll([alice, bob, carol])
    #expect(alice.titles == ["1", "2", "3", "x"])
  }

  @Test func `M2: a note put beside the old place of a moved one stays there`() throws {
    let notes = try share("1", "x", "2")
    alice.move(notes[1], to: 2)
    bob.create("y", at: 1)
    try exchangeAll([alice, bob, carol])
    #expect(alice.titles == ["1", "y", "2", "x"])
  }

  @Test func `M3: a move and an edit both happen`() throws {
    let notes = try share("x", "1")
    alice.move(notes[0], to: 1)
    bob.setText(notes[0], "edited text")
    try exchangeAll([alice, bob, carol])
    #expect(alice.titles == ["1", "x"])
    #expect(alice.book[notes[0]]!.text.string == "edited text")
  }

  @Test func `M4: a note that is moved and deleted lies in the trash, and comes back in its place`()
    throws
  {
    let notes = try share("x", "1", "2")
    alice.move(notes[0], to: 1)
    bob.delete(notes[0])
    try exchangeAll([alice, bob, carol])
    #expect(alice.book[notes[0]]!.isTrashed)
    carol.restore(notes[0])
    try exchangeAll([alice, bob, carol])
    #expect(alice.titles == ["1", "x", "2"])
    #expect(alice.book.counts == (3, 0))
  }

  @Test func `three replicas that only move notes lose none`() throws {
    // The articles' code loses N here: each of its three copies is removed by somebody.
    let notes = try share("N", "1", "2", "3")
    alice.move(notes[0], to: 1)
    bob.move(notes[0], to: 2)
    try carol.pull(alice)
    try carol.pull(bob)
    #expect(carol.titles.count == 4)
    alice.move(notes[0], to: 3)
    try alice.pull(bob)
    try alice.pull(carol)
    try exchangeAll([alice, bob, carol])
    #expect(alice.titles == ["1", "2", "3", "N"])
  }

  @Test func `setting tags touches only those that differ`() throws {
    let notes = try share("note")
    alice.setTags(notes[0], "home", "work")
    try exchangeAll([alice, bob, carol])
    alice.setTags(notes[0], "home", "work", "travel")
    bob.setTags(notes[0], "work")
    try exchangeAll([alice, bob, carol])
    #expect(alice.book[notes[0]]!.tags.values == [Tag("travel"), Tag("work")])
  }

  @Test func `a clock that ran ahead locks nobody out`() throws {
    let notes = try share("note")
    alice.now = 2_524_608_000_000
    alice.setTitle(notes[0], "from 2050")
    try exchangeAll([alice, bob, carol])
    bob.now = 0
    bob.setTitle(notes[0], "later")
    try exchangeAll([alice, bob, carol])
    #expect(alice.titles == ["later"])
  }

  @Test func `an idle notebook has nothing to send`() throws {
    _ = try share("note")
    try exchangeAll([alice, bob, carol])
    let before = alice.book
    for _ in 0..<3 {
      try exchangeAll([alice, bob, carol])
      #expect(bob.book.changes(since: alice.book.version).isEmpty)
    }
    #expect(alice.book == before && alice.book.revision == before.revision)
  }

  // MARK: - Times

  @Test func `a clock five years ahead says when a note is modified until the next change`()
    throws
  {
    let notes = try share("note")
    bob.now += 5 * 365 * 86_400_000
    bob.setText(notes[0], "text of 2031")
    try exchangeAll([alice, bob, carol])
    #expect(alice.book[notes[0]]!.modified == bob.now)
    alice.now += 1000
    alice.setTags(notes[0], "home")
    try exchangeAll([alice, bob, carol])
    for person in [alice, bob, carol] {
      #expect(person.book[notes[0]]!.modified == alice.now)
      #expect(person.book.summaries[0].modified == alice.now)
      try person.putAway(andReopen: true)
      #expect(person.book.summaries[0].modified == alice.now)
      #expect(person.book[notes[0]]!.modified == alice.now)
    }
    // Also where the clock has been put right again meanwhile.
    bob.now = alice.now - 10
    bob.setTitle(notes[0], "title")
    try exchangeAll([alice, bob, carol])
    #expect(carol.book[notes[0]]!.modified == bob.now)
    // A place is nothing of the note itself.
    carol.now += 5000
    carol.move(notes[0], to: 0)
    #expect(carol.book[notes[0]]!.modified == bob.now)
  }

  @Test func `of concurrent changes the last in logical time says when a note is modified`()
    throws
  {
    let notes = try share("note")
    (alice.now, bob.now, carol.now) = (3000, 2000, 1000)
    // One tick each, so that replicas decide: Carol's is the greatest.
    for person in [alice, bob, carol] { person.setTags(notes[0], "\(person.now)") }
    try exchangeAll([alice, bob, carol])
    #expect(alice.book[notes[0]]!.modified == 1000)
    // Alice has made one more than Carol.
    alice.setTags(notes[0], "3000", "home")
    alice.now = 500
    alice.setTags(notes[0], "home")
    carol.setTags(notes[0], "1000")
    try exchangeAll([alice, bob, carol])
    #expect(alice.book[notes[0]]!.modified == 500)
  }

  @Test func `modified follows from the changes alone, and from none that another follows`()
    throws
  {
    for seed in seeds(8) {
      var generator = SplitMix64(seed: seed &+ 900)
      let people = (1...3).map { Person($0) }
      for _ in 0..<40 {
        let person = generator.pick(people)
        if generator.chance(30) { try person.pull(generator.pick(people)) }
        generator.actOrWithdraw(person)
        // Whatever clocks say: no two changes at one time.
        person.now = Int64(generator.next() >> 16)
        if let note = person.book.notes.randomElement(using: &generator) {
          person.setTags(note.id, "\(person.now)")
        }
      }
      var books: [NoteBook] = []
      for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        books.append(order.reduce(NoteBook()) { $0.merged(with: people[$1].book) })
      }
      try exchangeAll(people, at(seed))
      let book = people[0].book
      for note in book.notes {
        var edits: [(change: ChangeID, time: Int64)] = []
        for replica in book.version.replicas {
          try book.forEachChange(of: replica, upTo: book.version[replica]) { change, _ in
            let isCounted = change.operations.contains {
              if case .edit(note.id, let edit) = $0 { edit.isModification } else { false }
            }
            if change.id == note.id.creation {
              // One that is named by its content has no time.
              let made = change.isContentAddressed ? note.created : change.time
              edits.append((change.id, note.imported ?? made))
            } else if isCounted {
              edits.append((change.id, max(change.time, note.imported ?? change.time)))
            }
          }
        }
        let last = edits.filter { $0.time == note.modified }
        #expect(!last.isEmpty, at(seed))
        let isFollowed = try last.allSatisfy { change in
          try edits.contains { other in
            try other.change != change.change
              && book.version(of: [other.change])!.contains(change.change)
          }
        }
        #expect(!isFollowed, at(seed))
        for other in books { #expect(other[note.id] == note, at(seed)) }
      }
    }
  }

  @Test func `a note that was deleted as soon as it was created is in the trash in its past, too`()
    throws
  {
    // The title's own time is a tick later than the change, as Bob's deletion is, who is the lesser replica.
    let note = carol.create("title")
    try bob.pull(carol)
    bob.delete(note)
    let past = try bob.book.note(note, at: bob.book.version)!
    #expect(bob.book[note]!.isTrashed && past.note.isTrashed)
  }

  // MARK: - Names of states

  @Test func `the past of a change with several operations is as it was`() throws {
    // Alice's title is older than Bob's, whatever else there is in her change.
    let notes = try share("title")
    try bob.pull(alice)
    let text = alice.book[notes[0]]!.text
    let insertion = text.operations(for: [Edit(range: 0..<0, replacement: Array("long".utf8))])
    alice.make(
      [
        .edit(notes[0], .title(alice.book[notes[0]]!.title.assignment(of: "A", at: alice.now)))
      ] + insertion.map { .edit(notes[0], .text($0)) })
    bob.setPriority(notes[0], .high)
    bob.setTitle(notes[0], "B")
    try exchangeAll([alice, bob])
    let present = alice.book[notes[0]]!
    let past = try alice.book.note(notes[0], at: alice.book.version)!
    #expect(present.title.value == "B")
    #expect(past.note.title == present.title)
  }

  @Test func `a name of a state has one way of being written`() throws {
    let names = (1...2).map { replicaID($0).description }
    #expect(Revision("0")?.heads == [])
    #expect(Revision("\(names[0]).1+\(names[1]).2") != nil)
    for wrong in [
      "", "0+0", "+", "\(names[0])", "\(names[0]).0", "\(names[0]).01", "\(names[0]).1+",
      "+\(names[0]).1", "\(names[1]).1+\(names[0]).1", "\(names[0]).1+\(names[0]).1",
      "\(names[0]).-1", "\(names[0]).+1", "\(names[0]).18446744073709551616", "v",
      "\(names[0].dropLast()).1", "\(names[0].uppercased())g.1", "\(names[0]).1 ",
    ] {
      #expect(Revision(wrong) == nil, "\(wrong)")
    }
    #expect(Version("v") == Version())
    for wrong in ["", "V", "v+", "v0", "\(names[0]).1", "v\(names[0]).1+\(names[0]).2"] {
      #expect(Version(wrong) == nil, "\(wrong)")
    }
    #expect(Revision("\(names[0]).1+\(names[0]).2") == nil)

    #expect(Version("v\(names[1]).1+\(names[0]).1") == nil)
  }

  @Test func `an unknown state has no version`() throws {
    _ = try share("note")
    let book = alice.book
    #expect(try book.version(ofRevision: "0") == Version())
    #expect(try book.version(ofRevision: "\(replicaID(1)).2") == nil)
    #expect(try book.version(ofRevision: "\(replicaID(1)).18446744073709551615") == nil)
    #expect(try book.version(ofRevision: "\(replicaID(9)).1") == nil)
    #expect(try book.version(ofRevision: "nonsense") == nil)
    #expect(
      try book.note(NoteID(creation: ChangeID(replica: replicaID(9), number: 1)), at: Version())
        == nil)
  }

  @Test func `slices of any size together are the whole`() throws {
    var generator = SplitMix64(seed: 3)
    for _ in 0..<40 { generator.act(alice) }
    try bob.pull(alice)
    for _ in 0..<40 { generator.act(bob) }
    for limit in [0, 1, 20, 100, 1000, Int.max] {
      var book = NoteBook()
      var version = Version()
      var isMore = true
      while isMore {
        let slice = try bob.book.changes(since: version, limit: limit)
        #expect(!slice.changes.isEmpty)
        try book.merge(foreign: slice.changes)
        #expect(slice.version != version)
        (version, isMore) = (slice.version, slice.isMore)
        #expect(book.version == version)
      }
      #expect(book == bob.book)
    }
  }

  /// Times are compared with each other only.
  @Test func `changes of two who took turns cost no more than those of two who did not`() throws {
    func time(isInTurns: Bool) throws -> Duration {
      let people = [Person(1), Person(2)]
      let note = people[0].create("title")
      let book = people[0]
      for step in 0..<1500 {
        let author = isInTurns ? people[step % 2].id : people[step / 750].id
        try book.book.apply(book.book.change(by: author, at: 0, [.edit(note, .restore)]))
      }
      let changes = book.book.changes(since: Version())
      var other = NoteBook()
      let duration = try processorTime { try other.merge(foreign: changes) }
      #expect(other == book.book)
      return duration
    }
    let apart = try time(isInTurns: false)
    let inTurns = try time(isInTurns: true)
    #expect(inTurns < apart * 6)
  }

  /// Times are compared with each other only.
  @Test func `changes of ten who take turns cost no more each than those of two`() throws {
    func time(_ count: Int) throws -> Duration {
      let people = (1...UInt64(count)).map { Person($0) }
      let note = people[0].create("title")
      var book = people[0].book
      var other = book
      var duration = Duration.zero
      for step in 0..<800 {
        try book.apply(book.change(by: people[step % count].id, at: 0, [.edit(note, .restore)]))
        var pending = PendingChanges(book.changes(since: other.version))
        duration += processorTime { _ = other.drain(&pending) }
      }
      #expect(other == book)
      return duration
    }
    let ofTwo = try time(2)
    let ofTen = try time(10)
    #expect(ofTen < ofTwo * 3)
  }
}
