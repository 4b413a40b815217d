import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// A set of changes taken apart, so that it can be put together wrong.
struct Forgery {
  struct Group {
    var replica: ReplicaID
    var first: UInt64
    var changes: [[UInt8]]
  }

  var groups: [Group] = []

  init(_ changes: ChangeSet) {
    groups = changes.groups.map { group in
      Group(
        replica: group.replica, first: group.first,
        changes: (group.first..<group.end).map { Array(group[$0]!) })
    }
  }

  /// The encoding, with a right checksum.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.identifier(notebook)
    for group in groups {
      writer.identifier(group.replica)
      writer.varint(group.first)
      writer.varint(group.changes.count)
      for change in group.changes { writer.counted(change) }
    }
    return containerHeader(1) + containerBlock(writer.bytes)
  }

  /// Changes one thing, or a few, in a way that no author would.
  mutating func mutate(_ generator: inout SplitMix64) {
    guard !groups.isEmpty else { return }
    let group = generator.below(groups.count)
    guard !groups[group].changes.isEmpty else { return }
    let index = generator.below(groups[group].changes.count)
    switch generator.below(16) {
    case 0: groups[group].first = generator.pick([0, 1, 2, 3, 1 << 62, 1 << 63, .max])
    case 1: groups[group].replica = replicaID(UInt64(1 + generator.below(5)))
    case 2: groups[group].changes.remove(at: index)
    case 3: groups[group].changes.insert(groups[group].changes[index], at: index)
    case 4: groups.swapAt(group, generator.below(groups.count))
    case 5: groups.append(groups[group])
    case 6:
      let other = generator.pick(groups)
      guard let change = other.changes.randomElement(using: &generator) else { return }
      groups[group].changes[index] = change
    case 7:
      // The end of one change behind the beginning of another.
      guard let other = generator.pick(groups).changes.randomElement(using: &generator) else {
        return
      }
      let head = groups[group].changes[index]
      groups[group].changes[index] =
        Array(head.prefix(generator.below(head.count + 1)))
        + other.suffix(generator.below(other.count + 1))
    case 8:
      // An operation of any kind at the end.
      let kind: UInt8 = generator.pick([
        1, 2, 0x10, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1c, 0x1d, 0x1e,
        0x1f, 0x20,
      ])
      groups[group].changes[index] +=
        [kind] + (0..<generator.below(6)).map { _ in UInt8(generator.below(4)) }
    default: generator.forge(&groups[group].changes[index], with: groups.flatMap(\.changes))
    }
  }
}

extension Forgery {
  /// Changes understood, so that one part of one of them can be wrong while its encoding is right.
  static func decoded(_ book: NoteBook) -> [Change] {
    var changes: [Change] = []
    for replica in book.version.replicas {
      try! book.forEachChange(of: replica, upTo: book.version[replica]) { change, _ in
        changes.append(change)
      }
    }
    return changes
  }

  /// Encodes changes whatever they say, but for a base on a change of the author's that is not an earlier one: that has no encoding, and
  /// stands for none. Of each replica in the order given.
  init(_ changes: [Change]) {
    var states: [ReplicaID: (time: Int64, mentions: ReplicaTable)] = [:]
    for var change in changes {
      for (place, operation) in change.operations.enumerated() {
        guard case .edit(let note, .base(let base)) = operation, base.previous >= change.id.number
        else { continue }
        change.operations[place] = .edit(note, .base(TextBase(heads: base.heads, previous: 0)))
      }
      var (time, mentions) = states[change.id.replica] ?? (0, ReplicaTable())
      let encoded = change.encoded(after: time, &mentions)
      states[change.id.replica] = (change.time, mentions)
      if let index = groups.firstIndex(where: { $0.replica == change.id.replica }) {
        groups[index].changes.append(encoded)
      } else {
        groups.append(
          Group(replica: change.id.replica, first: change.id.number, changes: [encoded]))
      }
    }
  }

  static func mutate(_ changes: inout [Change], _ generator: inout SplitMix64) {
    let index = generator.below(changes.count)
    let other = generator.pick(changes)
    let place = generator.below(changes[index].operations.count)
    switch generator.below(13) {
    case 0:
      changes[index].time = generator.pick([
        0, -1, 3_155_760_000_000_000, -3_155_760_000_000_000, 3_155_760_000_000_001,
      ])
    case 1: changes[index].predecessors = generator.pick([[], [other.id], other.predecessors])
    case 2:
      for number in changes[index].predecessors.indices {
        changes[index].predecessors[number].number &+= UInt64(generator.below(3)) &- 1
      }
    case 3: changes[index].operations.append(generator.pick(other.operations))
    case 4: changes[index].operations.insert(generator.pick(other.operations), at: place)
    case 5: changes[index].operations.shuffle(using: &generator)
    case 6: changes[index].operations = other.operations
    case 7 where changes[index].operations.count > 1: changes[index].operations.remove(at: place)
    case 12:
      // The same twice, or in a change of somebody else.
      let operation = changes[index].operations[place]
      let target = generator.chance(50) ? index : generator.below(changes.count)
      changes[target].operations.append(operation)
    case 8:
      let note = generator.note(changes)
      let operation =
        generator.chance(10)
        ? Change.Operation.purge(note)
        : .edit(note, generator.operation(changes, changes[index].id))
      changes[index].operations.insert(operation, at: place)
    default: changes[index].operations[place] = generator.spoiled(changes, changes[index], place)
    }
  }
}

extension SplitMix64 {
  fileprivate mutating func note(_ changes: [Change]) -> NoteID {
    NoteID(creation: pick(changes).id)
  }

  fileprivate mutating func element(_ changes: [Change]) -> ElementID? {
    if chance(20) { return nil }
    return ElementID(
      author: pick(changes).id.replica, offset: pick([0, 1, 2, 3, 5, 9, Int(Int32.max)]))
  }

  /// An operation made up of what there is.
  fileprivate mutating func operation(_ changes: [Change], _ own: ChangeID) -> Note.Operation {
    let tag = Tag(pick(["home", "work", "", "\n", String(repeating: "x", count: 201)]))
    let changed = [own, pick(changes).id].sorted()
    switch below(11) {
    case 0: return .tags(.insert(tag))
    case 1: return .tags(.remove(tag, observed: chance(50) ? [own] : changed))
    case 2:
      var covered = Version()
      for change in changed { covered[change.replica] = change.number }
      return .delete(covered: covered)
    case 3: return .restore
    case 4:
      return .title(.init(value: pick(["", "x", "\n"]), time: pick([0, -1, 7_258_118_400_000])))
    case 5:
      let bytes: [UInt8] = pick([[], [0], [0x61], [0x80], Array("é".utf8)])
      return .text(.insert(bytes, after: element(changes), before: element(changes)))
    case 6:
      let offset = pick([0, 1, 2, 5, Int(Int32.max)])
      let count = pick([0, 1, 2, 5, Int(Int32.max)])
      return .text(
        .remove(ElementRange(author: pick(changes).id.replica, offset: offset, count: count)))
    case 7:
      return .base(
        TextBase(
          heads: pick([[], changed, [own]]), previous: UInt64(below(Int(min(own.number, 4))))))
    case 8:
      let name = pick(["path", "header:a", "", "\r", String(repeating: "x", count: 221)])
      return .property(PropertyName(name), .init(value: pick(["", "\n"]), time: pick([-1, 5])))
    case 9:
      let time: Int64 = pick([0, -5, 3_155_760_000_000_000])
      return chance(50) ? .created(time) : .modified(time)
    default:
      return .priority(.init(value: .high, time: pick([0, 7_258_118_400_001, 5])))
    }
  }

  /// A withdrawal of changes that there are, and of some that there are not.
  fileprivate mutating func withdrawal(
    _ changes: [Change], like change: Change
  ) -> Note.Operation {
    let known = changes.map(\.id).filter { $0.replica == change.id.replica && $0 < change.id }
    let runs = (0...below(2)).map { _ in
      let id = pick(chance(70) ? known + change.predecessors + [changes[0].id] : changes.map(\.id))
      let first = chance(80) ? id.number : UInt64(1 + below(9))
      let count = chance(80) ? UInt64(0) : pick([1, 5, 1 << 31, 1 << 62])
      return ChangeRanges.Run(id.replica, first...first + count)
    }
    return .withdraw(ChangeRanges(runs))
  }

  /// One operation of a change, with one part of it wrong.
  fileprivate mutating func spoiled(
    _ changes: [Change], _ change: Change, _ place: Int
  ) -> Change.Operation {
    switch change.operations[place] {
    case .create: return chance(50) ? .create : .edit(note(changes), .restore)
    case .place(var placement):
      switch below(3) {
      case 0: placement.element = note(changes).creation
      case 1: placement.after = element(changes)
      default: placement.before = element(changes)
      }
      return .place(placement)
    case .purge, .redacted:
      let ticks = pick([0, 1, 1 << 26, UInt64(1 << 26 + 1)])
      return chance(50)
        ? .purge(note(changes)) : .redacted(note(changes), ticks: ticks, names: [])
    case .edit(let id, let edit):
      if chance(20) { return .edit(note(changes), edit) }
      switch edit {
      case .text(.insert(let bytes, let after, let before, _)):
        switch below(5) {
        case 0: return .edit(id, .text(.insert(bytes, after: element(changes), before: before)))
        case 1: return .edit(id, .text(.insert(bytes, after: after, before: element(changes))))
        case 2: return .edit(id, .text(.insert(bytes + [0xC3], after: after, before: before)))
        default:
          let divider = pick([1, bytes.count - 1, bytes.count, -1, 1000])
          return .edit(
            id, .text(.insert(bytes, after: after, before: before, divider: divider)))
        }
      case .text(.remove(var range)):
        if chance(50) { range.offset += 1 } else { range.count += pick([1, 2, 1000]) }
        return .edit(id, .text(.remove(range)))
      default: return .edit(id, operation(changes, change.id))
      }
    }
  }
}

@Suite struct `Hostile changes` {
  /// Three people, a few notes, every kind of operation, concurrent work.
  static func history(_ seed: UInt64, steps: Int = 12) throws -> [Person] {
    var generator = SplitMix64(seed: seed)
    let people = (1...3).map { Person($0) }
    people[0].create("title", "text é")
    for _ in 0..<steps {
      let person = generator.pick(people)
      if generator.chance(35) { try person.pull(generator.pick(people)) }
      if seed.isMultiple(of: 3) { generator.actOrPurge(person) } else { generator.act(person) }
    }
    return people
  }

  /// What must hold after bytes from outside: refused and nothing changed, or taken and all in order.
  static func feed(_ bytes: [UInt8], to before: NoteBook, _ comment: Comment) -> Bool {
    guard let changes = try? ChangeSet.decode(bytes).changes else { return false }
    var book = before
    do { try book.merge(foreign: changes) } catch {
      #expect(book == before, comment)
      return false
    }
    checkInvariants(book, comment)
    // Again: nothing new.
    var again = book
    do {
      let effects = try again.merge(foreign: changes)
      #expect(effects.isEmpty && again == book, comment)
    } catch { Issue.record("accepted, and refused the second time: \(error), \(comment)") }
    // From here to others.
    do {
      let travelling = book.changes(since: Version()).encoded(of: notebook)
      var other = NoteBook()
      try other.merge(foreign: try ChangeSet.decode(travelling).changes)
      #expect(other == book, comment)
    } catch { Issue.record("accepted, and refused elsewhere: \(error), \(comment)") }
    // One by one they give the same.
    var slow = NoteBook()
    while slow.version != book.version {
      do {
        try slow.merge(foreign: try book.changes(since: slow.version, limit: 1).changes)
      } catch {
        Issue.record("accepted at once, and refused one by one: \(error), \(comment)")
        break
      }
    }
    #expect(slow == book, comment)
    // And the past can be read.
    for note in book.notes {
      let past = try! book.note(note.id, at: book.version)!
      #expect(past.utf8 == note.text.utf8 && past.note.isTrashed == note.isTrashed, comment)
      #expect(past.note.tags.values == note.tags.values, comment)
    }
    // And life goes on.
    let person = Person(77)
    person.book = book
    for note in book.notes {
      person.setTitle(note.id, "on")
      person.setText(note.id, note.text.string + "!")
      person.setTags(note.id, "new")
      person.move(note.id, to: 0)
      person.delete(note.id)
    }
    checkInvariants(person.book, comment)
    var later = before
    do {
      try later.merge(foreign: person.book.changes(since: before.version))
      #expect(later == person.book, comment)
    } catch { Issue.record("an honest change after it is refused: \(error), \(comment)") }
    return true
  }

  @Test func `every truncation and every flipped bit of an encoded set is an error`() throws {
    let people = try Self.history(1)
    let bytes = people[0].book.changes(since: Version()).encoded(of: notebook)
    #expect(throws: Never.self) { try ChangeSet.decode(bytes) }
    for count in 0..<bytes.count {
      #expect(throws: DecodingFailure.self) { try ChangeSet.decode(Array(bytes.prefix(count))) }
    }
    for index in bytes.indices {
      for bit in 0..<8 {
        var flipped = bytes
        flipped[index] ^= 1 << UInt8(bit)
        #expect(throws: DecodingFailure.self) { try ChangeSet.decode(flipped) }
      }
    }
    #expect(throws: DecodingFailure.self) { try ChangeSet.decode(bytes + [0]) }
  }

  @Test func `every truncation with a right checksum is refused, or is a part`() throws {
    let people = try Self.history(2)
    let bytes = people[0].book.changes(since: Version()).encoded(of: notebook)
    let content = bytes.dropFirst(containerHeader(1).count + blockPrefix)
    for count in 0..<content.count {
      let part = Array(content.prefix(count))
      _ = Self.feed(
        containerHeader(1) + containerBlock(part), to: NoteBook(), "truncated to \(part.count)")
    }
  }

  @Test func `mutated bytes with a right checksum change nothing, or all is in order`() throws {
    var accepted = 0
    var total = 0
    for seed in seeds(150) {
      var generator = SplitMix64(seed: seed)
      let people = try Self.history(seed % 40)
      let full = people[1].book
      let starts = [NoteBook(), people[0].book, people[2].book]
      for round in 0..<3 {
        let start = starts[round]
        var forgery = Forgery(full.changes(since: generator.chance(50) ? Version() : start.version))
        for _ in 0..<1 + generator.below(2) { forgery.mutate(&generator) }
        if Self.hasTwins(forgery) { continue }
        total += 1
        if Self.feed(forgery.encoded, to: start, at(seed, round)) { accepted += 1 }
      }
    }
    // Most must be refused, and some (a last change dropped, a letter changed) accepted, or this tests nothing.
    #expect(accepted > total / 100 && accepted < total * 3 / 4, "\(accepted) of \(total) accepted")
  }

  @Test func `well encoded changes that no author makes change nothing, or all is in order`() throws
  {
    var accepted = 0
    var total = 0
    for seed in seeds(150) {
      var generator = SplitMix64(seed: seed &+ 9_000)
      let people = try Self.history(seed % 40)
      let honest = Forgery.decoded(people[1].book)
      guard !honest.isEmpty else { continue }
      for round in 0..<3 {
        var changes = honest
        for _ in 0..<1 + generator.below(2) { Forgery.mutate(&changes, &generator) }
        total += 1
        if Self.feed(Forgery(changes).encoded, to: NoteBook(), at(seed, round)) { accepted += 1 }
      }
    }
    #expect(accepted > total / 100 && accepted < total * 3 / 4, "\(accepted) of \(total) accepted")
  }

  @Test func `withdrawals that no author makes change nothing, or all is in order`() throws {
    var accepted = 0
    var total = 0
    for seed in seeds(50) {
      var generator = SplitMix64(seed: seed &+ 12_000)
      let people = (1...3).map { Person($0) }
      people[0].create("title", "text é")
      for _ in 0..<12 {
        let person = generator.pick(people)
        if generator.chance(35) { try person.pull(generator.pick(people)) }
        generator.actOrWithdraw(person)
      }
      let honest = Forgery.decoded(people[1].book)
      guard !honest.isEmpty else { continue }
      for round in 0..<3 {
        var changes = honest
        let index = generator.below(changes.count)
        let place = generator.below(changes[index].operations.count + 1)
        let note = generator.chance(80) ? changes[0].id : generator.pick(changes).id
        let withdrawal = generator.withdrawal(changes, like: changes[index])
        changes[index].operations.insert(.edit(NoteID(creation: note), withdrawal), at: place)
        var forgery = Forgery(changes)
        if generator.chance(20) {
          let group = generator.below(forgery.groups.count)
          let last = forgery.groups[group].changes.count - 1
          forgery.groups[group].changes[last] +=
            [0x19] + (0..<generator.below(8)).map { _ in UInt8(generator.below(4)) }
        }
        total += 1
        if Self.feed(forgery.encoded, to: NoteBook(), at(seed, round)) { accepted += 1 }
      }
    }
    #expect(accepted > total / 20 && accepted < total * 3 / 4, "\(accepted) of \(total) accepted")
  }

  /// Whether a forgery tells one change in two ways: a test of its own.
  private static func hasTwins(_ forgery: Forgery) -> Bool {
    var told: [ChangeID: [UInt8]] = [:]
    for group in forgery.groups where group.first < 1 << 40 {
      for (index, bytes) in group.changes.enumerated() {
        let id = ChangeID(replica: group.replica, number: group.first + UInt64(index))
        if let other = told[id], other != bytes { return true }
        told[id] = bytes
      }
    }
    return false
  }

  // MARK: - One by one

  private let alice = Person(1)

  private func refusal(_ forgery: Forgery, _ book: NoteBook = NoteBook()) -> MergeRefusal? {
    var result = book
    do { try result.merge(foreign: try ChangeSet.decode(forgery.encoded).changes) } catch {
      #expect(result == book)
      return error as? MergeRefusal
    }
    return nil
  }

  private func isInvalid(_ forgery: Forgery, _ book: NoteBook = NoteBook()) -> Bool {
    if case .invalid = refusal(forgery, book) { true } else { false }
  }

  private func isMissing(_ forgery: Forgery, _ book: NoteBook = NoteBook()) -> Bool {
    if case .missing = refusal(forgery, book) { true } else { false }
  }

  /// Before an operation is found wrong it is asked whether it goes on from what is shown.
  @Test(arguments: [2, 3, 4, 1 << 32, 1 << 40, Int.max - 1])
  func `elements that nobody has inserted are refused, however large their numbers`(offset: Int)
    throws
  {
    let (ana, ben) = (Person(1), Person(2))
    let note = ana.create("", "abc")
    try ben.pull(ana)
    let element = ElementID(author: ana.id, offset: offset)
    for operation in [
      .insert([0x78], after: element, before: nil, divider: 0),
      .remove(ElementRange(author: ana.id, offset: offset, count: 1)),
    ] as [ReplicatingText.Operation] {
      let change = ben.book.change(
        by: ben.id, at: ben.now, isImport: false, request: nil, [.edit(note, .text(operation))])
      var set = ChangeSet(since: ana.book.version)
      set.append(change.id, ben.book.encode(change).bytes[...])
      if offset < 3 {
        var book = ana.book
        try book.merge(foreign: set)
      } else {
        #expect(throws: MergeRefusal.self, "\(operation)") {
          var book = ana.book
          try book.merge(foreign: set)
        }
      }
    }
  }

  @Test func `gaps and unknown predecessors are told as missing`() {
    let note = alice.create("title", "text")
    alice.setTitle(note, "other")
    var forgery = Forgery(alice.book.changes(since: Version()))
    #expect(refusal(forgery) == nil)
    forgery.groups[0].first = 2
    #expect(isMissing(forgery))
    forgery.groups[0].first = UInt64(Int64.max)
    #expect(isMissing(forgery))
    forgery = Forgery(alice.book.changes(since: Version()))
    forgery.groups[0].changes.removeFirst()
    #expect(isInvalid(forgery) || isMissing(forgery))
    for predecessor in [
      ChangeID(replica: replicaID(9), number: 1), ChangeID(replica: replicaID(9), number: .max),
    ] {
      var changes = Forgery.decoded(alice.book)
      changes[0].predecessors = [predecessor]
      var needed = Version()
      needed.insert(predecessor)
      #expect(refusal(Forgery(changes)) == .missing(MissingChanges(needed: needed)))
    }
  }

  @Test func `a change that follows itself, or lists predecessors twice, is invalid`() {
    alice.create("title", "text")
    let changes = Forgery.decoded(alice.book)
    let other = ChangeID(replica: replicaID(9), number: 1)
    for predecessors in [
      [changes[0].id], [other, other], [other, ChangeID(replica: replicaID(2), number: 1)],
    ] {
      var forged = changes
      forged[0].predecessors = predecessors
      #expect(isInvalid(Forgery(forged)))
    }
  }

  /// A rename in three notes, of which two were one: what the second insertion did depended on what it was merged with.
  @Test func `two insertions of one change between the same elements are invalid in any order`()
    throws
  {
    let bob = Person(2)
    let note = alice.create("title", "see [[T00]]\n")
    try bob.pull(alice)
    alice.make(
      bob.book[note]!.text.operations(for: [
        Edit(range: 6..<9, replacement: Array("Renamed".utf8))
      ]).map { .edit(note, .text($0)) })
    bob.setText(note, "do see [[T00]]\n")
    var changes = Forgery.decoded(alice.book)
    #expect(refusal(Forgery(changes)) == nil)
    let rename = changes[1].operations
    let order = Change.Operation.place(bob.book.placement(of: note, at: 0))
    for twice in [rename + rename, rename + [rename[0]], [rename[0]] + rename, [order, order]] {
      changes[1].operations = twice
      let reason = "two insertions between the same elements"
      let refused = MergeRefusal.invalid(changes[1].id, reason: reason)
      #expect(refusal(Forgery(changes)) == refused)
      #expect(refusal(Forgery([changes[1]]), bob.book) == refused)
      let known = Forgery.decoded(bob.book).filter { $0.id.replica == bob.id }
      #expect(refusal(Forgery(changes + known)) == refused)
      #expect(refusal(Forgery(known + changes)) == refused)
    }
  }

  @Test func `two changes that follow each other are missing for ever`() {
    let bob = Person(2)
    alice.create("a")
    bob.create("b")
    var changes = Forgery.decoded(alice.book) + Forgery.decoded(bob.book)
    changes[0].predecessors = [changes[1].id]
    changes[1].predecessors = [changes[0].id]
    #expect(isMissing(Forgery(changes)))
  }

  @Test func `a creation without a place, a second one, and a place without a note are invalid`() {
    alice.create("title", "text")
    let change = Forgery.decoded(alice.book)[0]
    let operations = change.operations
    let absent = NoteID(creation: ChangeID(replica: replicaID(1), number: 5))
    for wrong: [Change.Operation] in [
      [.create], [operations[1], operations[0]], operations + [.create], [.create, .create],
      [.create, operations[2]], Array(operations.dropFirst()), [],
      [.create, .place(.init(absent.creation, after: nil, before: nil))],
      operations + [.place(.init(absent.creation, after: nil, before: nil))],
      operations + [.edit(absent, .restore)],
    ] {
      var forged = change
      forged.operations = wrong
      #expect(isInvalid(Forgery([forged])))
    }
  }

  @Test func `counts that promise gigabytes, and numbers of more than 64 bits, are invalid`() {
    alice.create("title", "text")
    let bytes = Forgery(alice.book.changes(since: Version())).groups[0].changes[0]
    let huge: [[UInt8]] = [
      [0xFF, 0xFF, 0xFF, 0xFF, 0x07], [0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
      [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
      [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], [0x80, 0x00], [0x80],
    ]
    for place in bytes.indices {
      for number in huge {
        var forgery = Forgery(alice.book.changes(since: Version()))
        forgery.groups[0].changes[0].replaceSubrange(place..<place + 1, with: number)
        _ = Self.feed(forgery.encoded, to: NoteBook(), "\(number) at \(place)")
        forgery.groups[0].changes[0] = Array(bytes[..<place]) + number
        _ = Self.feed(forgery.encoded, to: NoteBook(), "\(number) at \(place), the end")
      }
    }
    for count in huge {
      var writer = ByteWriter()
      writer.identifier(notebook)
      writer.identifier(replicaID(1))
      writer.varint(1)
      writer.raw(count)
      #expect(throws: DecodingFailure.self) {
        try ChangeSet.decode(containerHeader(1) + containerBlock(writer.bytes))
      }
    }
  }

  @Test func `times at the extremes are refused, or do no harm`() {
    let note = alice.create("title", "text")
    for time: Int64 in [.min, -1, 0, 7_258_118_400_000, 7_258_118_400_001, 3_155_760_000_000_000] {
      var changes = Forgery.decoded(alice.book)
      changes[0].operations[2] = .edit(note, .title(.init(value: "x", time: max(time, -1 << 61))))
      let isValid = (0...7_258_118_400_000).contains(time)
      #expect(isInvalid(Forgery(changes)) == !isValid)
      changes = Forgery.decoded(alice.book)
      changes[0].time = max(time, -1 << 61)
      _ = Self.feed(Forgery(changes).encoded, to: NoteBook(), "a change at \(time)")
    }
  }

  @Test func `another change under a known name is invalid`() {
    let note = alice.create("title", "text")
    let fork = Person(1)
    fork.create("other", "text")
    #expect(isInvalid(Forgery(fork.book.changes(since: Version())), alice.book))
    alice.setTitle(note, "longer")
    #expect(isInvalid(Forgery(fork.book.changes(since: Version())), alice.book))
  }

  @Test func `a set that tells one change in two ways is invalid`() throws {
    let fork = Person(1)
    alice.create("title", "text")
    fork.create("other", "text")
    var forgery = Forgery(alice.book.changes(since: Version()))
    forgery.groups += Forgery(fork.book.changes(since: Version())).groups
    #expect(isInvalid(forgery))
  }

  @Test func `of an author who tells one change in two ways nothing later is taken`() throws {
    let fork = Person(1)
    let note = alice.create("title", "text")
    fork.create("other", "text")
    fork.setTags(note, "forked")
    var pending = PendingChanges(fork.book.changes(since: Version()))
    let refused = alice.book.drain(&pending).refused
    #expect(refused.map(\.change) == [ChangeID(replica: replicaID(1), number: 1)])
    #expect(alice.book.version[replicaID(1)] == 1)
    #expect(alice.book[note]!.tags.values.isEmpty)
  }

  @Test func `what a later version has written is told from damage, and nothing of it is taken`()
    throws
  {
    let (a, b) = (Person(1), Person(2))
    let note = a.create("Milk")
    b.book.merge(a.book)
    a.make([.edit(note, .priority(.init(value: .high, time: a.now)))])
    let news = a.book.changes(since: b.book.version)
    func refusal(_ alter: (inout [UInt8]) -> Void) throws -> MergeRefusal? {
      var forgery = Forgery(news)
      alter(&forgery.groups[0].changes[0])
      let changes = try ChangeSet.decode(forgery.encoded).changes
      var book = b.book
      do { try book.merge(foreign: changes) } catch {
        #expect(book == b.book)
        return error
      }
      return nil
    }
    let change = ChangeID(replica: replicaID(1), number: 2)
    #expect(try refusal { _ in } == nil)
    // An operation of a kind that there is not, behind one that there is; and a priority.
    for (altered, reason) in [
      ((try refusal { $0.append(0x7F) }), "an operation of an unknown kind, 127"),
      ((try refusal { $0[$0.count - 1] = 9 }), "an unknown priority"),
    ] {
      guard case .newer(change, let told) = altered else {
        Issue.record("\(String(describing: altered))")
        continue
      }
      #expect(told.hasPrefix(reason))
    }
    // What no version writes.
    guard case .invalid(change, _) = try refusal({ $0.removeLast() }) else {
      Issue.record("a change that was cut is no damage")
      return
    }
    // A format of changes that there is not.
    let block = Forgery(news).encoded.dropFirst(containerHeader(1).count)
    for (header, isLater) in [
      (containerHeader(1, version: 9), true), (containerHeader(1, version: 0), false),
      (containerHeader(2), false), (Array(containerHeader(1, version: 9).dropLast()) + [0], false),
    ] {
      do {
        _ = try ChangeSet.decode(header + block)
        Issue.record("read")
      } catch { #expect(error.isOfLaterVersion == isLater) }
    }
  }

  @Test func `a removal or deletion that names its own change is invalid, or does no harm`() throws
  {
    let note = alice.create("title", "text")
    var changes = Forgery.decoded(alice.book)
    let own = changes[0].id
    changes[0].operations += [
      .edit(note, .tags(.remove(Tag("home"), observed: [own]))),
      .edit(note, .tags(.insert(Tag("home")))),
    ]
    guard !isInvalid(Forgery(changes)) else { return }
    var book = NoteBook()
    _ = try? book.merge(foreign: try ChangeSet.decode(Forgery(changes).encoded).changes)
    var same = book[note]!
    try same.apply(same.changes(since: same.version))
    #expect(same == book[note]!)
  }

  @Test func `a refused change leaves nothing behind that a later one can use`() throws {
    // Bob's note is unknown to Carol's first change; her forged first one says that it had seen it.
    let (bob, carol) = (Person(2), Person(3))
    let note = bob.create("bob's")
    carol.create("carol's")
    let honest = Forgery.decoded(carol.book)
    var forged = honest
    forged[0].predecessors = [ChangeID(replica: replicaID(2), number: 1)]
    forged[0].operations.append(
      .edit(note, .text(.remove(ElementRange(author: replicaID(9), offset: 0, count: 1)))))
    var pending = PendingChanges(try ChangeSet.decode(Forgery(forged).encoded).changes)
    let refused = bob.book.drain(&pending).refused
    #expect(refused.count == 1)
    // Her first change is made here, and a second one comes that edits what she never saw.
    try bob.book.apply(honest[0])
    var second = honest[0]
    second.id.number = 2
    second.operations = [.edit(note, .restore)]
    let set = Forgery(honest + [second])
    #expect(isInvalid(set), "an empty notebook refuses it")
    var known = NoteBook()
    known.merge(bob.book)
    #expect(isInvalid(set, known), "one that never saw the forgery refuses it")
    #expect(isInvalid(set, bob.book))
  }

  /// Of a set that is refused nothing is taken, but what a log holds is drained: there the rest of it stays.
  @Test func `a refused change leaves the order and its notes as they were`() throws {
    let bob = Person(2)
    let first = alice.create("first")
    let second = alice.create("second")
    try bob.pull(alice)
    bob.move(second, to: bob.book.notes.first!.id == second ? 1 : 0)
    bob.setTitle(first, "later")
    var changes = Forgery.decoded(bob.book).filter { $0.id.replica == replicaID(2) }
    #expect(changes.count == 2)
    guard case .place = changes[0].operations[0] else {
      Issue.record("no move: \(changes[0])")
      return
    }
    // The move is in order, what follows it is not.
    changes[0].operations += [
      .edit(first, .title(.init(value: "forged", time: 0))),
      .edit(first, .text(.remove(ElementRange(author: replicaID(9), offset: 0, count: 1)))),
    ]
    let before = alice.book
    var pending = PendingChanges(try ChangeSet.decode(Forgery(changes).encoded).changes)
    let merged = alice.book.drain(&pending)
    #expect(merged.refused.map(\.change) == [changes[0].id] && merged.unreadable == nil)
    #expect(merged.effects.isEmpty && pending.isEmpty)
    #expect(alice.book == before)
    #expect(alice.book.notes.map(\.id) == before.notes.map(\.id))
    checkInvariants(alice.book, "refused")
  }

  /// It was accepted, and trapped when the note was put away.
  @Test func `a removal of a tag may name a change that added none`() throws {
    let (ana, ben) = (Person(1), Person(2))
    let note = ben.create("one")
    ben.edit(note, .tags(.remove(Tag("home"), observed: [note.creation])))
    try ana.pull(ben)
    let before = ana.book[note]!
    try ana.putAway(andReopen: true)
    #expect(ana.book[note]! == before)
    ben.edit(note, .tags(.remove(Tag("home"), observed: [])))
    #expect(throws: MergeRefusal.self) { try ana.pull(ben) }
  }
}
