import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// The log of a notebook from all of its changes, decoded, sorted and gone through one by one.
private struct NaiveLog {
  private struct Step {
    let change: Change
    let author: Author?
    let lamport: UInt64
  }

  private let book: NoteBook
  private var steps: [ReplicaID: [Step]] = [:]

  init(_ book: NoteBook) {
    self.book = book
    for replica in book.version.replicas {
      var author: Author?
      var steps: [Step] = []
      try! book.forEachChange(of: replica, upTo: book.version[replica]) { change, first in
        author = change.author ?? author
        let ticks = max(1, change.operations.reduce(0) { $0 + $1.ticks })
        steps.append(Step(change: change, author: author, lamport: first.lamport + ticks - 1))
      }
      self.steps[replica] = steps
    }
  }

  /// The words for what a change did with each note.
  private func what(_ change: Change) -> [NoteID: Set<String>] {
    var words: [NoteID: Set<String>] = [:]
    var touched: Set<NoteID> = []
    for operation in change.operations {
      switch operation {
      case .create: words[NoteID(creation: change.id), default: []].insert("created")
      case .place(let placement):
        words[NoteID(creation: placement.element), default: []].insert("move")
      case .purge(let note): words[note, default: []].insert("purge")
      case .redacted: break
      case .edit(let note, let edit):
        touched.insert(note)
        switch edit {
        case .title: words[note, default: []].insert("title")
        case .priority: words[note, default: []].insert("priority")
        case .tags: words[note, default: []].insert("tags")
        case .text, .withdraw: words[note, default: []].insert("text")
        case .delete: words[note, default: []].insert("trash")
        case .restore: words[note, default: []].insert("restore")
        case .created: words[note, default: []].insert("created")
        case .base, .property, .modified: break
        }
      }
    }
    for (note, set) in words where set.contains("created") { words[note] = ["created"] }
    if change.isImport {
      for note in touched.union(words.keys) { words[note, default: []].insert("import") }
    }
    for note in words.keys where book.isPurged(note) { words[note]!.formIntersection(["purge"]) }
    return words.filter { !$0.value.isEmpty }
  }

  /// The numbers with which entries of each note begin because changes of it say so.
  private func starts(of changes: [Change]) -> [NoteID: Set<UInt64>] {
    var starts: [NoteID: Set<UInt64>] = [:]
    for change in changes {
      guard let start = change.entryStart else { continue }
      for note in what(change).keys { starts[note, default: []].insert(start) }
    }
    return starts
  }

  struct Entry: Equatable {
    var last: ChangeID
    var numbers: [UInt64]
    var time: Int64
    var note: NoteID
    var what: Set<String>
    var author: Author?
    var lamport: UInt64
  }

  /// All entries, the newest first.
  func entries(only note: NoteID? = nil) -> [Entry] {
    var all: [Entry] = []
    for (_, steps) in steps {
      var sitting: [Entry] = []
      var times: [NoteID: Int64] = [:]
      let starts = starts(of: steps.map(\.change))
      for (place, step) in steps.enumerated() {
        let change = step.change
        // A change that is named by its content has no time, and is the only one of its replica.
        var time = change.time
        if change.isContentAddressed, let note { time = book[note]!.created }
        if place > 0 {
          let before = steps[place - 1].change
          func window(_ time: Int64) -> Int64 {
            Int64((Double(time) / 600_000).rounded(.down))
          }
          if window(before.time) != window(change.time) || before.id.number % 4096 == 0
            || step.author != steps[place - 1].author
          {
            all += sitting
            (sitting, times) = ([], [:])
          }
        }
        for (changed, words) in what(change).sorted(by: { $0.key < $1.key }) {
          let all = words
          var words = words
          if let note {
            guard changed == note else { continue }
            words.remove("move")
            if changed.creation != change.id { words.remove("created") }
            if words != all, words.subtracting(["import"]).isEmpty { continue }
          } else if change.isContentAddressed {
            continue
          }
          let isPaused = times[changed].map { abs($0 - time) >= 60_000 } ?? true
          let before = sitting.last { $0.note == changed }?.numbers.last ?? 0
          // An entry of this note begins in between.
          let isNew =
            isPaused
            || starts[changed, default: []].contains { before < $0 && $0 <= change.id.number }
          times[changed] = time
          if isNew {
            sitting.append(
              Entry(
                last: change.id, numbers: [change.id.number], time: time, note: changed,
                what: words, author: step.author, lamport: step.lamport))
          } else {
            let index = sitting.lastIndex { $0.note == changed }!
            sitting[index].last = change.id
            sitting[index].numbers.append(change.id.number)
            sitting[index].time = time
            sitting[index].what.formUnion(words)
            sitting[index].lamport = step.lamport
          }
        }
      }
      all += sitting
    }
    return all.sorted {
      ($0.lamport, $0.last.replica, $0.note) > ($1.lamport, $1.last.replica, $1.note)
    }
  }
}

extension ChangeKind {
  fileprivate var words: Set<String> {
    let all: [(ChangeKind, String)] = [
      (.created, "created"), (.text, "text"), (.title, "title"), (.tags, "tags"),
      (.priority, "priority"), (.trash, "trash"), (.restore, "restore"), (.move, "move"),
      (.purge, "purge"), (.imported, "import"),
    ]
    return Set(all.filter { contains($0.0) }.map(\.1))
  }
}

extension NotebookLog {
  /// The next entries: so many and those of the last one's revision, with so much work at once.
  fileprivate mutating func take(
    _ count: Int = .max, in book: NoteBook, atMost limit: Int = .max
  ) throws -> [LogEntry] {
    var entries: [LogEntry] = []
    var isMore = true
    while isMore {
      var isFull = false
      isMore = try proceed(in: book, atMost: limit) { entry in
        isFull = entries.count >= count && entries.last!.last != entry.last
        if !isFull { entries.append(entry) }
        return !isFull
      }
      if isFull { break }
    }
    return entries
  }
}

@Suite(.computing) struct `The log of a notebook` {
  /// Entries of one change, of several notes, are in no order that matters.
  private func sorted(_ entries: [LogEntry]) -> [LogEntry] {
    entries.sorted { ($0.timestamp, $0.note) > ($1.timestamp, $1.note) }
  }

  private func check(_ entries: [LogEntry], _ expected: [NaiveLog.Entry], _ comment: Comment) {
    #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.timestamp >= $1.timestamp }, comment)
    let entries = sorted(entries)
    #expect(entries.count == expected.count, comment)
    for (entry, wanted) in zip(entries, expected) {
      let isSame =
        entry.last == wanted.last && entry.first == wanted.numbers[0] && entry.time == wanted.time
        && entry.note == wanted.note && entry.what.words == wanted.what
        && entry.author == wanted.author && entry.lamport == wanted.lamport
      #expect(isSame, "\(entry), not \(wanted), \(comment)")
      if !isSame { return }
    }
  }

  /// Changes of several people, with pauses.
  private func people(_ seed: UInt64, steps: Int) throws -> [Person] {
    var generator = SplitMix64(seed: seed)
    let people = (1...4).map { Person($0) }
    var now: Int64 = 1_767_225_600_000
    for _ in 0..<steps {
      let person = generator.pick(people)
      if generator.chance(20) { try person.pull(generator.pick(people)) }
      generator.actOrPurge(person)
      // The times of the changes are those of this clock, but for a few.
      now += generator.pick([0, 500, 5000, 20_000, 59_999, 60_000, 400_000])
      let skew: Int64 = generator.chance(5) ? generator.pick([-700_000, 5_000_000_000]) : 0
      if let note = person.book.notes.randomElement(using: &generator) {
        person.now = now + skew
        person.setText(note.id, note.text.string + "x")
        if generator.chance(30) { person.setTitle(note.id, "\(now)") }
      }
      if generator.chance(4) { try person.putAway(andReopen: generator.chance(50)) }
    }
    for other in people { try people[0].pull(other) }
    return people
  }

  @Test func `has what all changes together say, whatever is in memory and however it is read`()
    throws
  {
    var count = 0
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      let person = try people(seed, steps: 60)[0]
      let expected = NaiveLog(person.book).entries()
      count += expected.count
      for _ in 0..<3 {
        var log = try person.book.log()
        check(
          try log.take(in: person.book, atMost: generator.pick([1, 50, .max])), expected, at(seed))
        try person.putAway(andReopen: generator.chance(50))
      }
      // Page by page.
      var pages: [LogEntry] = []
      while pages.count <= expected.count {
        var log = try person.book.log(before: pages.last?.revision)
        let page = try log.take(1 + generator.below(7), in: person.book)
        if page.isEmpty { break }
        pages += page
        if generator.chance(10) { try person.putAway(andReopen: generator.chance(50)) }
      }
      check(pages, expected, at(seed))
    }
    #expect(count > 3000)
  }

  @Test func `of one note is its history, with all bytes that its text has got and lost`() throws {
    for seed in seeds(30) {
      let person = try people(seed &+ 1000, steps: 60)[0]
      let naive = NaiveLog(person.book)
      for note in person.book.notes {
        let history = try person.book.history(of: note.id, limit: .max)
        let expected = naive.entries(only: note.id)
        #expect(history.map(\.revision) == expected.map { Revision(heads: [$0.last]) }, at(seed))
        #expect(history.map { $0.what.words } == expected.map(\.what), at(seed))
        #expect(history.map(\.author) == expected.map(\.author), at(seed))
        #expect(history.map(\.time) == expected.map(\.time), at(seed))
        let contributions = note.contributions
        for (entry, wanted) in zip(history, expected) {
          let own = contributions.first { $0.author == entry.replica }?.changes ?? []
          let all = own.filter { wanted.numbers.contains($0.number) }
          #expect(entry.inserted == all.reduce(0) { $0 + $1.inserted }, at(seed))
          #expect(entry.deleted == all.reduce(0) { $0 + $1.removed }, at(seed))
        }
        let bytes = contributions.flatMap(\.changes).reduce(0) { $0 + $1.inserted + $1.removed }
        #expect(history.reduce(0) { $0 + $1.inserted + $1.deleted } == bytes, at(seed))
        let some = try person.book.history(of: note.id, limit: 3)
        #expect(some == Array(history.prefix(3)), at(seed))
      }
    }
  }

  @Test func `tells no entry twice and leaves none out while others write`() throws {
    for seed in seeds(30) {
      var generator = SplitMix64(seed: seed)
      let people = try people(seed &+ 2000, steps: 40)
      let person = people[0]
      let before = NaiveLog(person.book).entries().map(\.last)
      var told: [LogEntry] = []
      while told.count < 10_000 {
        var log = try person.book.log(before: told.last?.revision)
        var page: [LogEntry] = []
        var isOver = false
        while !isOver {
          let isMore = try log.proceed(in: person.book, atMost: 20) { entry in
            isOver = page.count >= 5 && page.last!.last != entry.last
            if !isOver { page.append(entry) }
            return !isOver
          }
          isOver = isOver || !isMore
          // In the middle of it, too.
          if generator.chance(20) { person.setTitle(person.book.notes[0].id, "meanwhile") }
        }
        if page.isEmpty { break }
        told += page
        person.now += generator.pick([500, 70_000])
        person.setText(person.book.notes[0].id, "more and more \(told.count)")
        if generator.chance(30) {
          let other = generator.pick(people)
          if other !== person {
            generator.act(other)
            try person.pull(other)
          }
        }
      }
      let isOrdered = zip(told, told.dropFirst()).allSatisfy { $0.timestamp >= $1.timestamp }
      #expect(isOrdered, at(seed))
      let changes = told.map { "\($0.last) \($0.note)" }
      #expect(Set(changes).count == changes.count, at(seed))
      // Entries that were there are told, except those that have gone on or were purged.
      let later = Set(NaiveLog(person.book).entries().map(\.last))
      let missed = Set(before).subtracting(told.map(\.last))
      #expect(missed.isDisjoint(with: later), at(seed))
    }
  }

  @Test
  func `ends an entry with a pause, an interval of the clock, another author, and 4,096 changes`()
    throws
  {
    let person = Person(1)
    person.now = 1_767_225_600_000
    let (note, other) = (person.create("note"), person.create("other"))
    func entries(of id: NoteID) throws -> [[UInt64]] {
      var log = try person.book.log()
      return try log.take(in: person.book).filter { $0.note == id }
        .map { [$0.first, $0.last.number] }
    }
    person.now += 59_999
    person.setTitle(note, "in time")
    #expect(try entries(of: note) == [[1, 3]])
    person.now += 60_000
    person.setTitle(note, "later")
    #expect(try entries(of: note) == [[4, 4], [1, 3]])
    // Others that go on make no difference, nor does it to them.
    for _ in 0..<3 {
      person.now += 30_000
      person.setTitle(other, "\(person.now)")
    }
    person.setTitle(note, "after a pause")
    #expect(try entries(of: note) == [[8, 8], [4, 4], [1, 3]])
    #expect(try entries(of: other) == [[5, 7], [2, 2]])
    // The first ten minutes are over.
    person.now = 1_767_225_600_000 + 599_999
    person.setTitle(note, "the last one")
    person.now += 1
    person.setTitle(note, "the first one")
    #expect(try entries(of: note).prefix(2) == [[10, 10], [9, 9]])
    for number in 11...4100 {
      person.setTitle(number == 4000 ? other : note, "\(number)")
    }
    #expect(try entries(of: note).prefix(2) == [[4097, 4100], [10, 4096]])
    try person.putAway(andReopen: true)
    #expect(try entries(of: note).prefix(3) == [[4097, 4100], [10, 4096], [9, 9]])
    // Clocks before 1970 have such intervals, too.
    for time in [-600_001, -600_000, -1, 0] as [Int64] {
      person.now = time
      person.setPriority(note, time < -1 ? .high : .low)
      person.setTags(note, "\(time)")
    }
    #expect(
      try entries(of: note).prefix(4) == [
        [4107, 4108], [4105, 4106], [4103, 4104], [4101, 4102],
      ])
  }

  @Test func `reads no more of an archive than it tells of`() throws {
    let person = Person(1)
    var notes: [NoteID] = []
    for number in 0..<300 {
      notes.append(person.create("note \(number)", String(repeating: "text ", count: 2000)))
    }
    let others = (10..<40).map { Person($0) }
    for other in others {
      try other.pull(person)
      for _ in 0..<5 { other.setText(notes[5], "\(other.id) ") }
      try person.pull(other)
    }
    let disk = try Disk(&person.book)
    let book = NoteBook(try disk.archive())
    let start = disk.read
    var log = try book.log()
    let entries = try log.take(3, in: book)
    #expect(entries.map(\.author) == others.suffix(3).reversed().map(\.author))
    #expect(disk.read - start < 10_000)
    // Of the session with all the texts no more than two blocks.
    var later = try book.log(before: entries[2].revision)
    #expect(try later.take(28, in: book).last?.what == .created)
    #expect(disk.read - start < 400_000 && disk.bytes.count > 2_000_000)
  }
}
