import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite struct `An order that only the archive has` {
  /// A notebook whose order is opened only when that is needed, and beside it the oracle: the same with the order open all the time.
  private struct Twins {
    static let id = replicaID(9)
    var unopened: NoteBook
    var opened: NoteBook

    init(_ archive: NotebookArchive) throws {
      unopened = NoteBook(archive)
      opened = unopened
      try opened.openOrder()
    }

    /// Merges changes into both; they must be refused by both, for the same reason, or by none.
    mutating func merge(_ changes: ChangeSet, _ comment: Comment) {
      var refusals: [MergeRefusal?] = []
      for path in [\Twins.unopened, \Twins.opened] {
        do {
          try self[keyPath: path].merge(foreign: changes)
          refusals.append(nil)
        } catch { refusals.append(error) }
      }
      #expect(refusals[0] == refusals[1], comment)
    }

    /// Makes a change in both, a process's own.
    mutating func make(_ operations: [Change.Operation]) throws {
      try unopened.apply(unopened.change(by: Self.id, at: 0, operations))
      try opened.apply(opened.change(by: Self.id, at: 0, operations))
    }

    /// Creates a note in front.
    mutating func create(_ comment: Comment) throws {
      let note = NoteID(creation: unopened.next(by: Self.id))
      let placement = unopened.placementInFront(of: note)
      #expect(placement == opened.placement(of: note, at: 0), comment)
      try make([.create, .place(placement)])
    }

    /// Puts both away; their archives are the same to the byte.
    mutating func putAway(andReopen isReopening: Bool, _ comment: Comment) throws {
      let (one, other) = (try Disk(&unopened), try Disk(&opened))
      #expect(one.bytes == other.bytes, comment)
      if isReopening {
        self = try Twins(one.archive())
      } else {
        try unopened.adopt(one.archive(), markedAt: unopened.mark())
        try opened.adopt(one.archive(), markedAt: opened.mark())
      }
    }

    func check(_ random: inout SplitMix64, _ comment: Comment) throws {
      func list(_ book: NoteBook, after note: NoteID?) throws -> [NoteID] {
        var notes: [NoteID] = []
        try book.forEachSummary(after: note) {
          notes.append($0.id)
          return true
        }
        return notes
      }
      let all = try list(unopened, after: nil)
      #expect(try all == list(opened, after: nil), comment)
      for note in [all.first, all.randomElement(using: &random)] {
        #expect(try list(unopened, after: note) == list(opened, after: note), comment)
      }
      for limit in [1, 3] {
        let page = try unopened.listing(in: .order, from: nil, atMost: limit) { !$0.isTrashed }
        let same = try opened.listing(in: .order, from: nil, atMost: limit) { !$0.isTrashed }
        #expect(page?.notes == same?.notes && page?.next == same?.next, comment)
      }
      var copy = unopened
      try copy.openOrder()
      #expect(copy == opened && copy.revision == opened.revision, comment)
      #expect(copy.counts == opened.counts, comment)
    }
  }

  /// A change that creates a note as its author can't have done, or might.
  private func forged(
    _ random: inout SplitMix64, for book: NoteBook, by replica: ReplicaID
  ) -> ChangeSet {
    let id = book.next(by: replica)
    let front = book.order.firstSlot?.id
    let other = book.version.changes.randomElement(using: &random)
    let slot = other.map { ElementID(author: $0.replica, offset: random.below(3)) }
    let placement = NoteBook.Placement(
      random.chance(90) ? id : other ?? id, after: random.chance(80) ? nil : slot,
      before: random.chance(80) ? front : random.pick([nil, slot]))
    var operations: [Change.Operation] = [.create, .place(placement)]
    if random.chance(20) { operations.append(.place(placement)) }
    if random.chance(10) { operations.swapAt(0, 1) }
    if random.chance(10) { operations.append(.edit(NoteID(creation: id), .restore)) }
    let heads = book.revision.heads.filter { $0.replica != replica }
    let change = Change(
      id: id, time: 0, predecessors: random.chance(70) ? heads : [], isImport: false, request: nil,
      operations: operations)
    var changes = ChangeSet(since: book.version)
    changes.append(change.id, book.encode(change).bytes[...])
    return changes
  }

  @Test func `comes out as if it had been open all the time`() throws {
    var (steps, unopened) = (0, 0)
    for seed in seeds(40) {
      unopened += try live(seed)
      steps += 40
    }
    // A note that is named by its content is placed among all others: for that the order is opened.
    #expect(unopened > steps / 5, "the order was open nearly all the time")
  }

  /// Returns the number of steps after which the order was not open.
  private func live(_ seed: UInt64) throws -> Int {
    var random = SplitMix64(seed: seed)
    let people = (1...4).map { Person($0) }
    for _ in 0..<random.below(40) {
      let person = random.pick(people)
      if random.chance(30) { try person.pull(random.pick(people)) }
      random.act(person)
    }
    var twins = try Twins(people[0].book.putAway().archive)
    var unopened = 0
    for step in 0..<40 {
      let comment = at(seed, step)
      let person = random.pick(people)
      switch random.below(20) {
      case 0..<9:
        if random.chance(80) { try person.pull(twins.opened) }
        person.create("new")
        twins.merge(person.book.changes(since: twins.opened.version), comment)
      case 9..<11: try twins.create(comment)
      case 11: random.act(person)
      case 12: twins.merge(person.book.changes(since: twins.opened.version), comment)
      case 13..<16:
        let stranger = replicaID(20 + UInt64(random.below(3)))
        twins.merge(forged(&random, for: twins.opened, by: stranger), comment)
      case 16: try twins.putAway(andReopen: random.chance(70), comment)
      case 17:
        if random.chance(20) { try twins.unopened.openOrder() }
      case 18:
        if let note = twins.opened.notes.randomElement(using: &random) {
          try twins.make([.edit(note.id, random.chance(50) ? note.deletion : .restore)])
        }
      default:
        try person.pull(twins.unopened)
      }
      if twins.unopened.openedOrder == nil { unopened += 1 }
      try twins.check(&random, comment)
    }
    checkInvariants(twins.unopened, at(seed))
    for person in people { try person.pull(twins.unopened) }
    return unopened
  }

  @Test func `is not read for notes that are created in front, as long as they are few`() throws {
    let person = Person(1)
    for number in 0..<2_000 { person.create("note \(number)") }
    let disk = try Disk(&person.book)
    var twins = try Twins(disk.archive())
    var sizes: [Int] = []
    for count in 1...1_100 {
      let start = disk.read
      try twins.create("\(count)")
      sizes.append(disk.read - start)
    }
    #expect(sizes[..<1_024].allSatisfy { $0 == 0 })
    #expect(sizes[1_024...].contains { $0 > 1_000 })
    #expect(twins.unopened == twins.opened)
  }
}
