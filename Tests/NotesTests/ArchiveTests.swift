import ReplicatingTypes
import Synchronization
import TestSupport
import Testing

@testable import Notes

/// Bytes that tell what was read of them, and that can fail.
final class Disk: Sendable {
  let bytes: [UInt8]
  private let state = Mutex((read: 0, isBroken: false))

  init(_ book: inout NoteBook, appendix: [UInt8] = []) throws {
    var writer = ArchiveWriter(&book, appendix: appendix)
    var bytes: [UInt8] = []
    while let piece = try writer.next() { bytes += piece }
    self.bytes = bytes
  }

  var read: Int { state.withLock { $0.read } }

  func breakDown() { state.withLock { $0.isBroken = true } }
  func repair() { state.withLock { $0.isBroken = false } }

  func archive() throws(ArchiveFailure) -> NotebookArchive {
    try NotebookArchive(size: bytes.count) { range throws(ArchiveFailure) in
      let isBroken = self.state.withLock {
        $0.read += range.count
        return $0.isBroken
      }
      guard !isBroken, range.upperBound <= self.bytes.count else {
        throw ArchiveFailure(reason: "the disk is broken")
      }
      return Array(self.bytes[range])
    }
  }
}

@Suite(.computing) struct `Archive` {
  /// What several people did, who know all of each other.
  private func people(_ seed: UInt64, steps: Int) throws -> [Person] {
    var generator = SplitMix64(seed: seed)
    let people = (1...3).map { Person($0) }
    for _ in 0..<steps {
      let person = generator.pick(people)
      if generator.chance(20) { try person.pull(generator.pick(people)) }
      generator.actOrWithdraw(person)
    }
    try exchangeAll(people)
    return people
  }

  @Test func `a long change has a block of its own`() throws {
    let person = Person(1)
    let note = person.create("title", "text")
    var long: [UInt64] = []
    for (index, count) in [1, 1, 70_000, 1, 70_000, 70_000, 1].enumerated() {
      person.setText(note, String(repeating: "\(index)", count: count))
      if count > 1 { long.append(person.book.version[person.id]) }
    }
    let last = person.book.version[person.id]
    for _ in 0..<2 {
      let (archive, mark) = try person.book.putAway()
      let session = try #require(try archive.session(person.id))
      for number in 1...last {
        let (stretch, _) = try #require(session.stretch(with: number))
        let before = long.last { $0 < number } ?? 0
        let after = long.first { $0 > number } ?? last + 1
        let isLong = long.contains(number)
        #expect(stretch.numbers == (isLong ? number...number : before + 1...after - 1))
      }
      try person.book.adopt(archive, markedAt: mark)
      #expect(NoteBook(archive) == person.book)
    }
  }

  @Test func `a notebook put away is the same notebook`() throws {
    for seed in seeds(10) {
      var book = try people(seed, steps: 60)[0].book
      let all = book.changes(since: Version()).encoded(of: notebook)
      let disk = try Disk(&book, appendix: [1, 2, 3])
      let archive = try disk.archive()
      #expect(archive.appendix == [1, 2, 3])
      var again = NoteBook(archive)
      #expect(again == book && book == again, at(seed))
      #expect(again.changes(since: Version()).encoded(of: notebook) == all, at(seed))
      #expect(again.summaries == book.summaries, at(seed))
      var listed: [NoteSummary] = []
      try NoteBook(archive).forEachSummary {
        listed.append($0)
        return true
      }
      #expect(listed == book.summaries, at(seed))
      #expect(again.revision == book.revision && again.counts == book.counts, at(seed))
      // From an archive comes the same archive; from the notebook that adopted it, too.
      #expect(try Disk(&again).bytes == Disk(&book).bytes, at(seed))
      let mark = book.mark()
      try book.adopt(archive, markedAt: mark)
      #expect(book.histories.all.allSatisfy { $0.bytes.isEmpty }, at(seed))
      checkInvariants(book, at(seed))
      #expect(again == book && book == again, at(seed))
    }
  }

  @Test func `a notebook without the last changes of one replica is the one before them`() throws {
    for seed in seeds(10) {
      for isArchived in [false, true] {
        let person = try people(seed, steps: 40)[0]
        if isArchived { person.book = NoteBook(try Disk(&person.book).archive()) }
        person.create("before")
        let before = person.book
        let number = before.version[person.id]
        for step in 0..<5 {
          person.create("after \(step)")
          let notes = person.book.notes
          person.setText(notes[step % notes.count].id, "after \(step)")
          person.delete(notes[0].id)
        }
        let found = try person.book.without(changesOf: person.id, after: number)
        #expect(found == before && before == found, at(seed))
        #expect(found.revision == before.revision && found.summaries == before.summaries, at(seed))
        checkInvariants(found, at(seed))
      }
    }
  }

  @Test func `an empty notebook can be put away`() throws {
    var book = NoteBook()
    let again = NoteBook(try Disk(&book).archive())
    #expect(again == book && again.isEmpty && again.summaries.isEmpty && again.counts == (0, 0))
  }

  @Test func `what changes while an archive is written stays`() throws {
    for seed in seeds(10) {
      let person = try people(seed, steps: 40)[0]
      var writer = ArchiveWriter(&person.book, appendix: [])
      var bytes: [UInt8] = []
      while let piece = try writer.next() {
        bytes += piece
        person.create("meanwhile")
        let notes = person.book.notes
        person.setText(notes[notes.count - 1].id, "meanwhile \(bytes.count)")
        person.delete(notes[0].id)
      }
      let before = person.book
      try person.book.adopt(NotebookArchive(bytes), markedAt: writer.mark)
      #expect(person.book == before, at(seed))
      checkInvariants(person.book, at(seed))
      // And what others do then with what is there.
      let other = Person(9)
      try other.pull(person)
      other.setText(other.book.notes[0].id, "later")
      try person.pull(other)
      try other.pull(person)
      #expect(person.book == other.book, at(seed))
    }
  }

  @Test func `opening reads what is asked for, and no more`() throws {
    let person = Person(1)
    var notes: [NoteID] = []
    for number in 0..<500 {
      notes.append(person.create("note \(number)", String(repeating: "text ", count: 200)))
    }
    let disk = try Disk(&person.book)
    var book = NoteBook(try disk.archive())
    #expect(disk.read < disk.bytes.count / 20)
    #expect(book.counts == (500, 0) && book.revision == person.book.revision)
    let start = disk.read
    #expect(try book.open(notes[250]))
    #expect(book.read(notes[250]) { $0.text.count } == 1000)
    #expect(disk.read - start < 3000)
    // An edit needs the note, and what the author did before, which is in the head.
    try book.apply(
      book.change(
        by: replicaID(2), at: 0,
        book.operations(for: [Edit(range: 0..<0, replacement: [65])], in: notes[250])))
    #expect(disk.read - start < 3000)
    // What another one did comes to its note.
    let known = person.book.version
    person.setText(notes[3], "new")
    try book.merge(foreign: person.book.changes(since: known))
    #expect(disk.read - start < 6000)
    #expect(try book.note(notes[3])?.text.string == "new")
  }

  @Test func `a list goes on behind any note, whether the order is in memory or not`() throws {
    for seed in seeds(5) {
      var book = try people(seed, steps: 50)[0].book
      let all = book.summaries
      let archive = try book.putAway().archive
      var opened = NoteBook(archive)
      try opened.openOrder()
      for (index, note) in all.enumerated() {
        for book in [book, opened, NoteBook(archive)] {
          var rest: [NoteSummary] = []
          try book.forEachSummary(after: note.id) {
            rest.append($0)
            return rest.count < 5
          }
          #expect(rest == Array(all[(index + 1)...].prefix(5)), at(seed))
        }
      }
    }
  }

  @Test func `the order of many notes is read in parts`() throws {
    let person = Person(1)
    var generator = SplitMix64(seed: 1)
    var notes: [NoteID] = []
    for count in 0..<2_100 { notes.append(person.create("", at: generator.below(count + 1))) }
    for _ in 0..<20 { person.move(generator.pick(notes), to: generator.below(2_100)) }
    let all = person.book.summaries
    let disk = try Disk(&person.book)
    var book = NoteBook(try disk.archive())
    let start = disk.read
    var listed: [NoteSummary] = []
    try book.forEachSummary {
      listed.append($0)
      return listed.count < 10
    }
    #expect(listed == Array(all.prefix(10)))
    #expect(disk.read - start < 4 * 1024 + 1000)
    for index in [0, 1022, 1023, 1024, 2046, 2047, 2048, 2098, 2099] {
      listed = []
      try book.forEachSummary(after: all[index].id) {
        listed.append($0)
        return true
      }
      #expect(listed == Array(all[(index + 1)...]))
    }
    #expect(book.summaries == all)
    // What is copied from one archive to the next is what is written anew.
    let copy = try Disk(&book).bytes
    #expect(copy == disk.bytes)
    try book.openOrder()
    #expect(try Disk(&book).bytes == disk.bytes)
    checkInvariants(book, "")
  }

  @Test func `a place is planned as before, after a start and with notes in the trash`() throws {
    for seed in seeds(5) {
      var generator = SplitMix64(seed: seed)
      let person = Person(1)
      var notes: [NoteID] = []
      for count in 0..<40 { notes.append(person.create("", at: generator.below(count + 1))) }
      for _ in 0..<10 { person.delete(generator.pick(notes)) }
      var again = NoteBook(try person.book.putAway().archive)
      try again.openOrder()
      for _ in 0..<40 {
        let note = generator.pick(notes)
        let neighbour = generator.pick(notes)
        let isAfter = generator.chance(50)
        let live = person.book.counts.live - (person.book.isLive(note) ? 1 : 0)
        let index = generator.below(live + 1)
        let placement = person.book.placement(of: note, at: index)
        #expect(again.placement(of: note, at: index) == placement, at(seed))
        var moved = again
        try moved.apply(moved.change(by: replicaID(2), at: 0, [.place(placement)]))
        let before = again.summaries.map(\.id)
        let after = moved.summaries
        #expect(after.filter { !$0.isTrashed && $0.id != note }.count == live, at(seed))
        let place = after.firstIndex { $0.id == note }!
        #expect(after[..<place].count { !$0.isTrashed } == index, at(seed))
        #expect(again.isPlaced(placement) == (after.map(\.id) == before), at(seed))
        guard neighbour != note else { continue }
        let beside = again.placement(of: note, beside: neighbour, isAfter: isAfter)
        #expect(beside == person.book.placement(of: note, beside: neighbour, isAfter: isAfter))
        moved = again
        try moved.apply(moved.change(by: replicaID(2), at: 0, [.place(beside)]))
        let order = moved.summaries.map(\.id)
        #expect(
          order.firstIndex(of: note)! == order.firstIndex(of: neighbour)! + (isAfter ? 1 : -1),
          at(seed))
      }
    }
  }

  @Test func `where the archive can't be read, nothing is lost and all goes on afterwards`() throws
  {
    let person = Person(1)
    let notes = (0..<5).map { person.create("note \($0)", "text") }
    let disk = try Disk(&person.book)
    var book = NoteBook(try disk.archive())
    let known = person.book.version
    person.setText(notes[2], "changed")
    let changes = person.book.changes(since: known)
    disk.breakDown()
    let failure = ArchiveFailure(reason: "the disk is broken")
    #expect(throws: failure) { try book.note(notes[0]) }
    #expect(throws: failure) { try book.openOrder() }
    #expect(throws: failure) { try book.changes(since: Version(), limit: .max) }
    #expect(throws: MergeRefusal.unreadable(failure)) { try book.merge(foreign: changes) }
    var pending = PendingChanges(changes)
    var merged = book.drain(&pending)
    #expect(merged.effects.isEmpty && merged.refused.isEmpty && !pending.isEmpty)
    #expect(merged.unreadable == failure && pending.hasUnreadable && !pending.isReady)
    #expect(book.version == known)
    disk.repair()
    pending.retry()
    merged = book.drain(&pending)
    #expect(!merged.effects.isEmpty && merged.refused.isEmpty && merged.unreadable == nil)
    #expect(pending.isEmpty)
    #expect(book == person.book)
  }

  @Test func `a text of the past is looked for in the archive, which may fail`() throws {
    let person = Person(1)
    let note = person.create("title", "a")
    for text in ["ab", "abc", "abcd"] { person.setText(note, text) }
    let disk = try Disk(&person.book)
    var book = NoteBook(try disk.archive())
    #expect(try book.open(note))
    let present = try #require(try book.note(note))
    disk.breakDown()
    let failure = ArchiveFailure(reason: "the disk is broken")
    #expect(throws: failure) { try book.version(of: present, withText: Array("ab".utf8)) }
    #expect(try book.version(of: present, withText: Array("abcd".utf8)) == book.version)
    disk.repair()
    #expect(try book.version(of: present, withText: Array("ab".utf8))?[person.id] == 2)
  }

  /// Such a change is made on a copy of what it touches, and the order is none of that: it trapped.
  @Test func `operations of which a later one needs an earlier one don't need the order`() throws {
    let person = Person(1)
    let note = person.create("title", "text")
    let book = NoteBook(try person.book.putAway().archive)
    for offset in 0...1 {
      var other = person.book
      let inserting = other.operations(
        for: [Edit(range: 0..<0, replacement: Array("x".utf8))], in: note)
      let range = ElementRange(author: replicaID(2), offset: offset, count: 1)
      let change = other.change(
        by: replicaID(2), at: 0, inserting + [.edit(note, .text(.remove(range)))])
      var changes = ChangeSet(since: book.version)
      changes.append(change.id, other.encode(change).bytes[...])
      var merged = book
      if offset == 0 {
        try merged.merge(foreign: changes)
        #expect(try merged.note(note)?.text.string == "text")
        try other.apply(change)
        #expect(merged == other)
      } else {
        // It inserts only one byte.
        #expect(throws: MergeRefusal.self) { try merged.merge(foreign: changes) }
        #expect(merged == book)
      }
    }
  }

  /// What can be asked of a notebook that comes from an archive, with the answer.
  private enum Question {
    case order, list, signatures
    case note(Note)
    case changes([UInt8])
  }

  private func ask(
    _ question: Question, of book: inout NoteBook, _ comment: Comment
  ) throws(ArchiveFailure) {
    switch question {
    case .order:
      try book.openOrder()
      try book.forEachSummary { _ in true }
    case .list: try book.forEachSummary { _ in true }
    case .signatures:
      let archive = book.archive!
      for block in archive.signatures.blocks {
        _ = (try archive.columns(of: block), try archive.rows(of: block))
      }
      _ = try archive.unsignedPlaces()
    case .note(let note):
      let read = try book.note(note.id)
      #expect(read == note, comment)
    case .changes(let all):
      let changes = try book.changes(since: Version(), limit: .max).changes
      #expect(changes.encoded(of: notebook) == all, comment)
      _ = try book.revision(of: book.version)
    }
  }

  /// Bytes of an archive that somebody has changed, and its checksums with them. They may say anything; nothing traps.
  @Test(arguments: seeds(60))
  func `wrong bytes with right checksums are refused, or harmless`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let people = try people(seed % 6, steps: 25)
    var book = people[0].book
    let before = book
    let whole = try Disk(&book).bytes
    // Each read ends with the checksum of the rest.
    let reads = Mutex<Set<Range<Int>>>([])
    var sound = NoteBook(
      try NotebookArchive(size: whole.count) { range in
        reads.withLock { _ = $0.insert(range) }
        return Array(whole[range])
      })
    try use(&sound, like: before, by: people[1])
    let blocks = reads.withLock { $0 }.filter { $0.count > blockPrefix && isBlock(whole[$0]) }
      .sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
    for _ in 0..<20 {
      var bytes = whole
      for _ in 0..<1 + generator.below(2) {
        let block = generator.pick(blocks)
        generator.forge(
          &bytes, in: block.dropFirst(blockPrefix), with: blocks.map { Array(whole[$0]) })
        seal(&bytes, block)
      }
      guard var forged = (try? NotebookArchive(bytes)).map({ NoteBook($0) }) else { continue }
      do { try use(&forged, like: before, by: people[1]) } catch { continue }
    }
  }

  /// Asks a notebook all that may be asked, and changes it.
  private func use(_ book: inout NoteBook, like known: NoteBook, by other: Person) throws {
    /// The first failure; what comes behind it is asked all the same.
    var failure: (any Error)?
    func attempt(_ body: () throws -> Void) {
      do { try body() } catch { failure = failure ?? error }
    }
    attempt { try book.forEachSummary { _ in true } }
    for note in known.notes.map(\.id) {
      attempt { _ = try book.note(note)?.text.string }
      for version in known.version.changes.prefix(12) {
        var past = Version()
        past.insert(version)
        attempt {
          guard let past = try book.version(of: [version]) else { return }
          _ = try book.note(note, at: past)
        }
      }
      attempt {
        guard try book.open(note) else { return }
        _ = try book.view(of: note, at: Version())
      }
      attempt {
        guard let note = try book.note(note) else { return }
        _ = try book.version(of: note, withText: Array("a".utf8))
      }
    }
    for note in known.notes.map(\.id) { attempt { _ = try book.history(of: note, limit: 20) } }
    for end in [nil] + known.version.changes.map({ Revision(heads: [$0]) }) {
      attempt {
        var log = try book.log(before: end)
        while try log.proceed(in: book, atMost: 500, { _ in true }) {}
      }
    }
    for last in known.version.changes { attempt { _ = try book.author(of: last) } }
    attempt {
      var search = NoteSearch(for: try SearchQuery(text: Array("the".utf8)), in: book)
      while try search.proceed(1 << 20, { _ in true }) {}
    }
    attempt { try book.forEachSummary(tagged: [Tag("a")]) { _ in true } }
    attempt { _ = try book.notes(mayHaveOneOf: [1, 2], of: .none) }
    attempt {
      var copy = book
      _ = try copy.putAway()
    }
    attempt { _ = try book.changes(since: Version(), limit: .max) }
    attempt { _ = try book.packed(of: notebook) }
    attempt { _ = try book.revision(of: book.version) }
    attempt { _ = try book.merge(foreign: other.book.changes(since: Version())) }
    attempt { try book.openOrder() }
    if let failure { throw failure }
  }

  /// Such an archive was opened, and the next change trapped where it counts on.
  @Test(arguments: [1 << 60, .max - 1, .max] as [UInt64])
  func `numbers from which nothing can be counted on are refused`(number: UInt64) throws {
    let people = try people(1, steps: 10)
    var book = people[0].book
    let whole = try Disk(&book).bytes
    let footer = whole.count - 16
    func integer(_ place: Int) -> Int {
      (0..<8).reversed().reduce(0) { $0 << 8 | Int(whole[place + $1]) }
    }
    let (start, size) = (integer(footer) + blockPrefix, integer(footer + 8))
    /// The archive with another head.
    func archive(_ write: (inout ByteReader, inout ByteWriter) throws -> Void) throws -> [UInt8] {
      var reader = ByteReader(whole[start..<start + size])
      var writer = ByteWriter()
      try write(&reader, &writer)
      writer.raw(try reader.raw(reader.remaining))
      var bytes = Array(whole[..<(start - blockPrefix)]) + containerBlock(writer.bytes)
      for value in [start - blockPrefix, writer.bytes.count] {
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      }
      return bytes
    }
    for field in 0..<4 {
      let forged = try archive { reader, writer in
        let lamport = try reader.varint()
        writer.varint(field == 0 ? number : lamport)
        let count = try reader.count()
        writer.varint(count)
        for _ in 0..<count {
          writer.identifier(try reader.identifier())
          let changes = try reader.varint()
          writer.varint(field == 1 ? number : changes)
          writer.fixed(try reader.fixed(UInt64.self))
          var rest = ByteReader(try reader.counted())
          var other = ByteWriter()
          let last = try rest.varint()
          other.varint(field == 2 ? number : last)
          other.raw(try rest.raw(rest.remaining))
          writer.counted(other.bytes)
        }
      }
      var read: [NoteBook] = []
      do { read = [NoteBook(try NotebookArchive(forged))] } catch { continue }
      #expect(field > 1, "opened, field \(field)")
      let (other, note) = (Person(9), people[0].book.notes.first!.id)
      other.book = read[0]
      do {
        guard try other.book.open(note) else { throw ArchiveFailure(reason: "no note") }
        let change = other.book.change(by: other.id, at: 0, [.edit(note, .restore)])
        try other.book.apply(change)
        #expect(field == 3, "applied, field \(field)")
      } catch { #expect(field < 3, "\(error)") }
    }
  }

  /// Whatever is wrong in the bytes is told when it is read; nothing traps, and nothing wrong is shown.
  @Test func `every truncation and every flipped bit is noticed`() throws {
    var book = try people(3, steps: 25)[0].book
    let whole = try Disk(&book).bytes
    let all = book.changes(since: Version()).encoded(of: notebook)
    let questions =
      [Question.order, .list, .signatures] + book.notes.map { Question.note($0) }
      + [Question.changes(all)]
    func look(_ bytes: [UInt8], _ questions: [Question], _ comment: Comment) {
      do {
        for question in questions {
          var damaged = NoteBook(try NotebookArchive(bytes))
          try ask(question, of: &damaged, comment)
        }
        Issue.record("nothing was noticed, \(comment)")
      } catch {
        #expect(!error.reason.isEmpty, comment)
      }
    }
    for length in whole.indices { look(Array(whole[..<length]), questions, "length \(length)") }
    // A byte that a question does not lead to changes no answer to it, so it is asked only about those that it does.
    var asking: [[Question]] = whole.map { _ in [] }
    for question in questions {
      let read = Mutex<Set<Int>>([])
      var sound = NoteBook(
        try NotebookArchive(size: whole.count) { range in
          read.withLock { $0.formUnion(range) }
          return Array(whole[range])
        })
      try ask(question, of: &sound, "without damage")
      for place in read.withLock({ $0 }) { asking[place].append(question) }
    }
    for bit in 0..<8 * whole.count {
      var bytes = whole
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      look(bytes, asking[bit / 8], "bit \(bit)")
    }
  }
}
