import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// What a notebook shows of changes that follow missing ones.
@Suite("A notebook that lacks changes") struct SupposingTests {
  private let alice = Person(1)
  private let bob = Person(2)
  private let carol = Person(4)

  /// A notebook that has got all changes of another one but for those of some replicas from a number on, and the changes that wait in it.
  private func lacking(
    _ missing: [ReplicaID: UInt64], of full: NoteBook, in book: NoteBook = NoteBook()
  ) throws -> (book: NoteBook, pending: PendingChanges) {
    var (book, pending) = (book, PendingChanges())
    for last in full.version.changes {
      let end = min(last.number, (missing[last.replica] ?? .max) - 1)
      if end <= book.version[last.replica] { continue }
      try full.forEachEncoded(of: last.replica, in: book.version[last.replica] + 1...end) {
        number, encoded, _ in
        pending.insert(ChangeID(replica: last.replica, number: number), Array(encoded))
        return true
      }
    }
    let merged = book.drain(&pending)
    #expect(merged.refused.isEmpty && merged.unreadable == nil && !pending.isReady)
    return (book, pending)
  }

  private func lacking(
    _ person: Person, since number: UInt64 = 1, of full: NoteBook
  ) throws -> (known: NoteBook, shown: NoteBook) {
    let (book, pending) = try lacking([person.id: number], of: full)
    return (book, try book.supposing(pending))
  }

  @Test func `shows the notes that others made after what is missing`() throws {
    let note = alice.create("of alice", "text")
    try bob.pull(alice)
    let other = bob.create("of bob", "milk")
    try carol.pull(bob)
    carol.setText(other, "milk and eggs")
    carol.setTags(other, "home")
    carol.setTitle(note, "renamed")
    let (known, shown) = try lacking(alice, of: carol.book)
    #expect(known.isEmpty)
    #expect(shown.notes.map(\.id) == [other])
    #expect(shown[other]!.text.string == "milk and eggs")
    #expect(shown[other]!.tags.values == [Tag("home")])
    #expect(shown.incompleteChanges == 1)
  }

  @Test func `leaves out an edit that names what is missing, whole, and later ones of its author`()
    throws
  {
    let note = bob.create("list", "milk")
    try alice.pull(bob)
    alice.setText(note, "milk123")
    try bob.pull(alice)
    // It removes what is here, and inserts behind what is missing.
    bob.setText(note, "mil123eggs")
    bob.setText(note, "<mil123eggs")
    bob.setTitle(note, "shopping")
    try carol.pull(bob)
    carol.setText(note, "[<mil123eggs")
    let (known, shown) = try lacking(alice, of: carol.book)
    #expect(known[note]!.text.string == "milk" && known[note]!.title.value == "list")
    // What carol wrote stands beside what bob wrote, which can't be shown.
    #expect(shown[note]!.text.string == "milk")
    #expect(shown[note]!.title.value == "shopping")
    #expect(shown.incompleteChanges == 3)
  }

  @Test func `shows what others write in the same text beside that`() throws {
    let note = bob.create("list", "milk")
    try alice.pull(bob)
    alice.setText(note, "milk123")
    try bob.pull(alice)
    bob.setText(note, "milk123eggs")
    try carol.pull(bob)
    carol.setText(note, "m-ilk123eggs")
    let (_, shown) = try lacking(alice, of: carol.book)
    #expect(shown[note]!.text.string == "m-ilk")
  }

  @Test func `puts a note in front whose place is beside a missing one`() throws {
    let first = bob.create("first")
    try alice.pull(bob)
    alice.create("missing")
    try bob.pull(alice)
    let second = bob.create("second", at: 1)
    let third = bob.create("third", at: 3)
    let (_, shown) = try lacking(alice, of: bob.book)
    #expect(shown.notes.map(\.id) == [second, first, third])
  }

  @Test func `counts the places of missing notes among those of their authors`() throws {
    let first = bob.create("first")
    try alice.pull(bob)
    let missing = alice.create("missing")
    try bob.pull(alice)
    bob.move(missing, to: 1)
    let second = bob.create("second", at: 1)
    let third = bob.create("third", at: 2)
    #expect(bob.titles == ["first", "second", "third", "missing"])
    let (_, shown) = try lacking(alice, of: bob.book)
    #expect(shown.notes.map(\.id) == [first, second, third])
    #expect(shown.order.count == 3)
  }

  @Test func `counts a missing change as later than all that is known without it`() throws {
    let note = bob.create("one")
    for title in ["two", "three", "four", "five"] { bob.setTitle(note, title) }
    try alice.pull(bob)
    alice.create("missing")
    try carol.pull(alice)
    carol.setTitle(note, "six")
    let (known, shown) = try lacking(alice, of: carol.book)
    #expect(known[note]!.title.value == "five")
    #expect(shown[note]!.title.value == "six")
  }

  /// An ideograph of its own.
  private func sign(_ number: Int) -> String { String(Unicode.Scalar(0x4E00 + UInt32(number))!) }

  @Test(arguments: 1...UInt64(60 * seedFactor))
  func `shows all of each note that nothing missing has edited`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let people = [1, 2, 3, 4, 5].map { Person($0) }
    var token = 0
    for _ in 0..<80 {
      let person = random.pick(people)
      if random.chance(40) { try person.pull(random.pick(people)) }
      let note = person.book.notes.randomElement(using: &random)?.id
      token += 1
      switch random.below(10) {
      case 0...2:
        person.create("\(token)", sign(token), at: random.below(person.book.counts.live + 1))
      case 3: if let note { person.setTags(note, random.pick(["a", "b", "c"]), "\(token)") }
      case 4: if let note { person.delete(note) }
      case 5: if let note { person.move(note, to: random.below(max(1, person.book.counts.live))) }
      default:
        guard let note else { continue }
        // No rule of merging finds anything to do: no white characters, no words to be divided, and no two edits are the same.
        var text = Array(person.book[note]!.text.string)
        let start = random.below(text.count + 1)
        let end = random.chance(60) ? start : start + random.below(text.count - start + 1)
        text.replaceSubrange(start..<end, with: sign(token))
        person.setText(note, String(text))
      }
    }
    for person in people { try people[0].pull(person) }
    let full = people[0].book
    let victims =
      random.chance(30) ? [random.pick(people), random.pick(people)] : [random.pick(people)]
    var missing: [ReplicaID: UInt64] = [:]
    for victim in victims { missing[victim.id] = UInt64(1 + random.below(8)) }
    func isMissing(_ change: ChangeID) -> Bool { change.number >= missing[change.replica] ?? .max }
    let known: NoteBook
    var pending: PendingChanges
    if random.chance(50) {
      (known, pending) = try lacking(missing, of: full)
    } else {
      // The notebook goes on from an archive.
      var (before, _) = try lacking(missing.mapValues { max(1, $0 / 2) }, of: full)
      (known, pending) = try lacking(
        missing, of: full, in: NoteBook(try before.putAway().archive))
    }
    let shown = try known.supposing(pending)

    // What a missing change has edited, and what was placed beside it, is shown as far as it can be.
    var edited: Set<NoteID> = []
    var changes: [Change] = []
    for replica in full.version.replicas {
      try full.forEachChange(of: replica, upTo: full.version[replica]) { change, _ in
        changes.append(change)
        guard isMissing(change.id) else { return }
        for case .edit(let note, _) in change.operations { edited.insert(note) }
      }
    }
    var guessed: Set<NoteID> = []
    var followers = Set(changes.map(\.id).filter(isMissing))
    while true {
      let more = changes.filter { change in
        let previous = ChangeID(replica: change.id.replica, number: change.id.number - 1)
        return !followers.contains(change.id)
          && (change.predecessors + [previous]).contains(where: followers.contains)
      }
      if more.isEmpty { break }
      for change in more {
        followers.insert(change.id)
        for case .edit(let note, _) in change.operations { guessed.insert(note) }
      }
    }
    for note in full.notes where !isMissing(note.id.creation) {
      let found = shown[note.id]
      #expect(found != nil, "seed \(seed): \(note.id)")
      guard let found, !edited.contains(note.id) else { continue }
      // What follows a missing change and what does not may stand at one place, in an order that is a guess.
      if guessed.contains(note.id) {
        #expect(found.text.string.sorted() == note.text.string.sorted(), "seed \(seed): \(note.id)")
      } else {
        #expect(found.text.string == note.text.string, "seed \(seed): \(note.id)")
      }
      #expect(found.tags.values == note.tags.values, "seed \(seed): \(note.id)")
      #expect(found.title.value == note.title.value, "seed \(seed): \(note.id)")
      #expect(found.isTrashed == note.isTrashed, "seed \(seed): \(note.id)")
    }
    #expect(shown.notes.allSatisfy { !isMissing($0.id.creation) }, "seed \(seed)")
    check(shown, "seed \(seed)")

    // Nothing of it has come to the notebook, and what is missing may still come.
    var book = known
    for (replica, first) in missing where full.version[replica] >= first {
      try full.forEachEncoded(of: replica, in: first...full.version[replica]) {
        number, encoded, _ in
        pending.insert(ChangeID(replica: replica, number: number), Array(encoded))
        return true
      }
    }
    _ = book.drain(&pending)
    #expect(book == full, "seed \(seed)")
  }

  /// Withdrawals, purges, bases, white characters and equal edits, too.
  @Test(arguments: 1...UInt64(60 * seedFactor))
  func `shows each note whose creation is there, whatever people do`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let people = [1, 2, 3, 4].map { Person($0) }
    for _ in 0..<120 {
      let person = random.pick(people)
      if random.chance(30) { try person.pull(random.pick(people)) }
      random.actOrPurge(person)
    }
    for person in people { try people[0].pull(person) }
    let full = people[0].book
    for victim in people {
      let first = UInt64(1 + random.below(12))
      let (known, pending) = try lacking([victim.id: first], of: full)
      let shown = try known.supposing(pending)
      for note in full.notes
      where note.id.creation.replica != victim.id || note.id.creation.number < first {
        #expect(shown[note.id] != nil, "seed \(seed): \(note.id)")
      }
      check(shown, "seed \(seed)")
    }
  }

  /// What holds for a notebook that readers are shown.
  private func check(_ book: NoteBook, _ comment: Comment) {
    book.order.checkInvariants()
    #expect(Set(book.notes.map(\.id)) == Set(book.noteCache.ids).subtracting(book.purged), comment)
    #expect(book.notes.count == book.noteCache.count - book.purged.count, comment)
    #expect(book.counts.trashed == book.notes.count { $0.isTrashed }, comment)
    for note in book.notes { note.text.checkInvariants() }
    #expect(book.summaries == book.notes.map { NoteSummary($0) }, comment)
    #expect(
      try! book.listing(in: .modified, from: nil, atMost: 1000, where: { _ in true })?.notes.count
        == book.notes.count, comment)
  }

  @Test(arguments: [1 << 19, 1 << 30, UInt64.max])
  func `takes a bounded time for a change that names one far away`(number: UInt64) throws {
    let note = alice.create("note")
    var change = alice.book.change(
      by: bob.id, at: alice.now,
      [.edit(note, .title(.init(value: "forged", time: alice.now + 1)))])
    change.predecessors = [
      alice.book.heads.changes[0], ChangeID(replica: carol.id, number: number),
    ].sorted()
    var mentions = ReplicaTable()
    var pending = PendingChanges()
    pending.insert(change.id, change.encoded(after: 0, &mentions))
    var book = alice.book
    _ = book.drain(&pending)
    let shown = try book.supposing(pending)
    #expect(shown[note]!.title.value == (number < 1 << 20 ? "forged" : "note"))
    #expect(shown.incompleteChanges == (number < 1 << 20 ? 0 : 1))
  }
}
