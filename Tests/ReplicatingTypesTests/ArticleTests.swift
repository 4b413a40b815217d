import Foundation
import ReplicatingTypes
import ReplicatingTypesFoundation
import TestSupport
import Testing

/// What the articles that this project comes from test, and the note they build, in the types as they are here.

// MARK: - The articles' note, made of replicating types

private enum Priority: Int, Codable, BinaryCodable {
  case low, normal, high
}

private enum Tag: String, Codable, BinaryCodable {
  case home, work, travel, leisure
}

private struct Note: Composed, Identifiable {
  var id: UUID = .init()
  var title: ReplicatingRegister<String> = .init("")
  var text: ReplicatingArray<Character> = .init()
  var tags: ReplicatingSet<Tag> = .init()
  var priority: ReplicatingRegister<Priority> = .init(.normal)
  var creationDate: Date = .init()

  static var parts: some PartsOf<Self> {
    Composition(\Self.id, \.title, \.text, \.tags, \.priority, \.creationDate)
  }
}

/// The notes, and their order: both are replicating, so the whole is.
private struct NoteBook: Composed {
  private var notes = ReplicatingDictionary<Note.ID, Note>()
  private var order = ReplicatingOrderedSet<Note.ID>()

  static var parts: some PartsOf<Self> { Composition(\Self.notes, \.order) }

  /// The notes in order. Nothing has to be put right after a merge: what the dictionary lacks is not shown.
  var all: [Note] { order.values.compactMap { notes[$0] } }

  subscript(id: Note.ID) -> Note? { notes[id] }

  mutating func create(
    _ id: Note.ID, titled title: String, at time: Int64, by author: Author
  ) throws {
    var note = Note(id: id, creationDate: Date(timeIntervalSince1970: Double(time)))
    note.title.assign(title, at: time, by: &author.replica)
    order.insert(note.id, at: order.count, by: &author.replica)
    try notes.set(note, forKey: note.id, by: &author.replica)
  }

  mutating func edit(
    _ id: Note.ID, by author: Author, _ body: (inout Note, inout Replica) -> Void
  ) {
    // A note that is there has a beginning.
    let note = notes[id]!
    notes.update(id, default: note, by: &author.replica) { body(&$0, &$1) }
  }

  mutating func move(_ id: Note.ID, to index: Int, by author: Author) {
    order.move(id, to: index, by: &author.replica)
  }

  mutating func delete(_ id: Note.ID, by author: Author) {
    notes.remove(id, by: &author.replica)
  }
}

// MARK: - Register

@Suite struct `The articles on the register` {
  let alice = Author(1)
  let bob = Author(2)
  let carol = Author(3)

  /// A register that nobody has seen yet, as the articles make it.
  private func register(_ value: Int, at time: Int64, by author: Author) -> ReplicatingRegister<Int>
  {
    ReplicatingRegister(value, at: time, by: &author.replica)
  }

  @Test func `a new register has the value it was made with`() {
    #expect(ReplicatingRegister(1).value == 1)
  }

  @Test func `a value that is set is there, and so is the next`() {
    var a = ReplicatingRegister(1)
    for value in [2, 3] {
      a.assign(value, at: 10, by: &alice.replica)
      #expect(a.value == value)
    }
  }

  @Test func `of two that never met the later one wins`() throws {
    let (a, b) = (register(2, at: 10, by: alice), register(3, at: 11, by: bob))
    #expect(try a.merged(with: b).value == 3)
    #expect(try b.merged(with: a).value == 3)
  }

  @Test func `the last change wins, whoever makes it`() throws {
    var a = register(2, at: 10, by: alice)
    let b = register(3, at: 11, by: bob)
    a.assign(4, at: 12, by: &alice.replica)
    #expect(try a.merged(with: b).value == 4)
  }

  @Test func `one that follows another wins over it`() throws {
    let a = register(2, at: 10, by: alice)
    var b = a
    b.assign(3, at: 10, by: &bob.replica)
    #expect(try a.merged(with: b).value == 3)
    #expect(try b.merged(with: a).value == 3)
  }

  @Test(arguments: [[10, 10, 10], [10, 11, 12], [12, 11, 10], [11, 12, 10]] as [[Int64]])
  func `merging is associative, commutative and idempotent`(times: [Int64]) throws {
    let (a, b, c) = (
      register(1, at: times[0], by: alice), register(2, at: times[1], by: bob),
      register(3, at: times[2], by: carol)
    )
    try expectLaws(a, b, c)
    let last = try a.merged(with: b).merged(with: c)
    #expect(last.value == [1, 2, 3][times.lastIndex(of: times.max()!)!])
  }

  @Test func `registers with different initial values are refused, in each order and by each way`()
    throws
  {
    // The articles' registers begin with a write at a time of their own. Of initial values that nobody wrote none is the last.
    let (a, b, c) = (ReplicatingRegister(1), ReplicatingRegister(2), ReplicatingRegister(3))
    try expectLaws(a, b, c)
    var written = b
    written.assign(4, at: 10, by: &bob.replica)
    try expectLaws(a, written, c)
    try expectLaws(a, a, written)
    let first = register(1, at: 10, by: alice)
    try expectLaws(a, first, written)
    for (a, b) in [(a, b), (a, written), (written, a), (a, first), (first, a), (written, first)] {
      #expect(throws: InvalidChange.self) { try a.merged(with: b) }
      var a = a
      #expect(throws: RefusedChanges.self) { try a.apply(b.changes(since: Version())) }
    }
    // Also where both were written since, and each is told only what it lacks.
    var other = a
    other.assign(5, at: 11, by: &alice.replica)
    for (a, b) in [(other, written), (written, other), (first, written), (written, first)] {
      var a = a
      #expect(throws: RefusedChanges.self) { try a.apply(b.changes(since: a.version)) }
    }
    let long = ReplicatingRegister(String(repeating: "a", count: 1000))
    #expect {
      try long.merged(with: ReplicatingRegister(""))
    } throws: {
      "\($0)".utf8.count < 300
    }
    #expect {
      try a.merged(with: b)
    } throws: {
      "\($0)".contains("began with 2, where this one began with 1")
        && "\($0)".contains("ReplicatingRegister(value, at: now, by: &replica)")
    }
  }

  /// The laws for values that anybody may have made: where one way of merging is refused, the other one is, too.
  private func expectLaws(
    _ a: ReplicatingRegister<Int>, _ b: ReplicatingRegister<Int>, _ c: ReplicatingRegister<Int>
  ) throws {
    let ab = try? a.merged(with: b)
    #expect(ab == (try? b.merged(with: a)), "commutative")
    #expect(
      (try? ab?.merged(with: c)) == (try? a.merged(with: b.merged(with: c))), "associative")
    #expect((try a.merged(with: a)) == a, "idempotent")
    if let ab { #expect(try ab.merged(with: b) == ab) }
    var applied = a
    let isApplied = (try? applied.apply(b.changes(since: a.version))) != nil
    if let ab {
      #expect(isApplied && applied == ab, "merging is applying")
    } else {
      #expect(applied == a, "nothing of a register that began differently")
    }
  }

  @Test func `equal values are not equal registers`() {
    let (a, b) = (register(2, at: 10, by: alice), register(2, at: 10, by: bob))
    #expect(a.value == b.value)
    #expect(a != b)
    #expect(Set([a, b, a]).count == 2)
  }

  @Test func `a register comes back from its encoding`() throws {
    for a in [ReplicatingRegister(1), register(2, at: 10, by: alice)] {
      let decoded = try ReplicatingRegister<Int>(encoded: a.encoded())
      #expect(decoded == a)
    }
  }

  @Test func `two registers are a name of which each part can be changed`() throws {
    typealias Name = ReplicatingDictionary<String, ReplicatingRegister<String>>
    func set(_ name: inout Name, _ part: String, _ value: String, _ author: Author) {
      name.update(part, default: ReplicatingRegister(""), by: &author.replica) {
        $0.assign(value, at: 10, by: &$1)
      }
    }
    var a = Name()
    set(&a, "first", "Tmo", alice)
    set(&a, "last", "Cok", alice)
    var b = a
    set(&a, "first", "Tom", alice)
    set(&b, "last", "Cook", bob)
    for name in try [a.merged(with: b), b.merged(with: a)] {
      #expect(name["first"]?.value == "Tom")
      #expect(name["last"]?.value == "Cook")
    }
  }
}

// MARK: - Sets

@Suite struct `The articles on sets` {
  let alice = Author(1)
  let bob = Author(2)
  let carol = Author(3)

  private func set(_ elements: [Int], by author: Author) -> ReplicatingSet<Int> {
    var set = ReplicatingSet<Int>()
    for element in elements { set.insert(element, by: &author.replica) }
    return set
  }

  @Test func `a new set has nothing in it`() {
    #expect(ReplicatingSet<Int>().values.isEmpty)
    #expect(ReplicatingAddOnlySet<Int>().values.isEmpty)
  }

  @Test func `what is inserted is there once, and what is removed is not`() {
    var a = set([1, 2, 2], by: alice)
    #expect(a.values == [1, 2] && a.count == 2)
    a.remove(1, by: &alice.replica)
    a.remove(7, by: &alice.replica)
    #expect(a.values == [2] && !a.contains(1))
    a.insert(1, by: &alice.replica)
    #expect(a.values == [1, 2])
  }

  @Test func `an insertion tells whether it was new, and a removal what was there`() {
    var set = ReplicatingSet<Int>()
    #expect(set.insert(1, by: &alice.replica))
    #expect(!set.insert(1, by: &alice.replica))
    #expect(set.remove(1, by: &alice.replica) == 1)
    #expect(set.remove(1, by: &alice.replica) == nil)
    #expect(set.insert(1, by: &alice.replica))
    var all = ReplicatingAddOnlySet<Int>()
    #expect(all.insert(1, by: &alice.replica))
    #expect(!all.insert(1, by: &alice.replica))
    var order = ReplicatingOrderedSet<Int>()
    #expect(order.insert(1, at: 0, by: &alice.replica))
    #expect(!order.insert(1, at: 0, by: &alice.replica))
    #expect(order.remove(1, by: &alice.replica) == 1)
    #expect(order.remove(1, by: &alice.replica) == nil)
    var sets = ReplicatingDictionary<String, ReplicatingSet<Int>>()
    sets.update("a", default: ReplicatingSet(), by: &alice.replica) { $0.insert(1, by: &$1) }
    #expect(sets.dictionary.mapValues(\.values) == ["a": [1]])
    #expect(sets.values.map(\.values) == [[1]])
    #expect(sets.remove("a", by: &alice.replica)?.values == [1])
    #expect(sets.remove("a", by: &alice.replica) == nil)
    #expect(sets.dictionary.isEmpty && sets.values.isEmpty)
  }

  @Test func `several elements are inserted by one change, and none by none`() throws {
    let before = alice.replica.number
    var set = ReplicatingSet(array: [1, 2, 2, 3], by: &alice.replica)
    var all = ReplicatingAddOnlySet(array: [1, 2, 2, 3], by: &alice.replica)
    let list = ReplicatingArray(array: [1, 2, 2, 3], by: &alice.replica)
    #expect(set.values == [1, 2, 3] && all.values == [1, 2, 3] && list.values == [1, 2, 2, 3])
    #expect(alice.replica.number == before + 3)
    set.insert(contentsOf: [], by: &alice.replica)
    all.insert(contentsOf: [1, 2], by: &alice.replica)
    #expect(alice.replica.number == before + 3)
    all.insert(contentsOf: 3...5, by: &alice.replica)
    #expect(all.values == Set(1...5) && alice.replica.number == before + 4)
    // They come and go one by one afterwards.
    var other = try ReplicatingSet<Int>(encoded: set.encoded())
    #expect(other == set)
    other.remove(2, by: &bob.replica)
    set.become([3, 4, 5], by: &alice.replica)
    #expect(set.merged(with: other).values == [3, 4, 5])
    try expectLaws(set, other, set.merged(with: other), empty: ReplicatingSet(), "several at once")
    let more = ReplicatingAddOnlySet(array: [5, 6], by: &bob.replica)
    try expectLaws(all, more, all.merged(with: more), empty: ReplicatingAddOnlySet(), "add-only")
  }

  @Test func `sets that never met are united`() {
    let (a, b) = (set([1, 2, 3], by: alice), set([3, 4], by: bob))
    #expect(a.merged(with: b).values == [1, 2, 3, 4])
  }

  @Test func `a removal reaches the others, and nothing comes back`() {
    var a = set([1, 2, 3], by: alice)
    let b = a
    a.remove(2, by: &alice.replica)
    #expect(a.merged(with: b).values == [1, 3])
    #expect(b.merged(with: a).values == [1, 3])
  }

  @Test func `removals and additions of both sides meet`() {
    var a = set([1, 2, 3], by: alice)
    var b = a
    a.remove(1, by: &alice.replica)
    a.insert(5, by: &alice.replica)
    b.remove(3, by: &bob.replica)
    b.insert(4, by: &bob.replica)
    #expect(a.merged(with: b).values == [2, 4, 5])
    #expect(a.merged(with: b) == b.merged(with: a))
  }

  @Test func `merging is associative, commutative and idempotent`() {
    var (a, b, c) = (set([1, 2], by: alice), set([2, 3], by: bob), set([3, 4], by: carol))
    a.remove(2, by: &alice.replica)
    b.remove(3, by: &bob.replica)
    c.remove(4, by: &carol.replica)
    let ab = a.merged(with: b)
    #expect(ab == b.merged(with: a))
    #expect(ab.merged(with: c) == a.merged(with: b.merged(with: c)))
    #expect(ab.merged(with: b) == ab && ab.merged(with: a) == ab && a.merged(with: a) == a)
  }

  @Test func `a set comes back from its encoding`() throws {
    var a = set([1, 2, 3], by: alice)
    a.remove(2, by: &alice.replica)
    let decoded = try ReplicatingSet<Int>(encoded: a.encoded())
    #expect(decoded == a && decoded.values == [1, 3])
  }
}

// MARK: - Dictionary

@Suite struct `The articles on the dictionary` {
  private typealias Numbers = ReplicatingDictionary<String, ReplicatingRegister<Int>>
  private typealias Sets = ReplicatingDictionary<String, ReplicatingSet<Int>>
  let alice = Author(1)
  let bob = Author(2)
  let carol = Author(3)

  private func set(_ numbers: inout Numbers, _ key: String, _ value: Int, _ author: Author) {
    numbers.update(key, default: ReplicatingRegister(0), by: &author.replica) {
      $0.assign(value, at: 10, by: &$1)
    }
  }

  private func insert(_ sets: inout Sets, _ key: String, _ elements: [Int], _ author: Author) {
    sets.update(key, default: ReplicatingSet(), by: &author.replica) { set, replica in
      for element in elements { set.insert(element, by: &replica) }
    }
  }

  @Test func `a new dictionary has no keys`() {
    #expect(Numbers().count == 0 && Numbers()["1"] == nil)
  }

  @Test func `values are set, set again and removed`() {
    var a = Numbers()
    set(&a, "1", 1, alice)
    set(&a, "2", 2, alice)
    set(&a, "1", 3, alice)
    #expect(a["1"]?.value == 3 && a["2"]?.value == 2 && a.count == 2)
    a.remove("1", by: &alice.replica)
    #expect(a["1"] == nil && a.keys == ["2"])
    set(&a, "1", 4, alice)
    #expect(a["1"]?.value == 4)
  }

  @Test func `dictionaries that never met have the keys of both`() throws {
    var (a, b) = (Numbers(), Numbers())
    set(&a, "1", 1, alice)
    set(&b, "2", 2, bob)
    let both = try a.merged(with: b)
    #expect(both.keys == ["1", "2"] && both["1"]?.value == 1 && both["2"]?.value == 2)
  }

  @Test func `a removal reaches the others, and what was set since stays`() throws {
    var a = Numbers()
    for key in ["1", "2", "3"] { set(&a, key, 1, alice) }
    var b = a
    a.remove("1", by: &alice.replica)
    a.remove("2", by: &alice.replica)
    set(&b, "2", 5, bob)
    for result in try [a.merged(with: b), b.merged(with: a)] {
      #expect(result.keys == ["2", "3"] && result["2"]?.value == 5)
    }
  }

  @Test func `merging is associative, commutative and idempotent`() throws {
    var (a, b, c) = (Numbers(), Numbers(), Numbers())
    set(&a, "1", 1, alice)
    set(&b, "1", 2, bob)
    set(&b, "2", 2, bob)
    b.remove("2", by: &bob.replica)
    set(&c, "2", 3, carol)
    let ab = try a.merged(with: b)
    #expect(try ab == b.merged(with: a))
    #expect(try ab.merged(with: c) == a.merged(with: b.merged(with: c)))
    #expect(try ab.merged(with: b) == ab)
    #expect(try ab.merged(with: a) == ab)
    #expect(try a.merged(with: a) == a)
  }

  @Test func `values that replicate are merged, not one chosen of two`() {
    var (a, b) = (Sets(), Sets())
    insert(&a, "2", [3, 4, 5], alice)
    insert(&a, "3", [1], alice)
    insert(&b, "1", [1, 2, 3, 4], bob)
    insert(&b, "3", [3, 4, 5], bob)
    b.remove("1", by: &bob.replica)
    insert(&b, "3", [6], bob)
    for result in [a.merged(with: b), b.merged(with: a)] {
      #expect(result.keys == ["2", "3"])
      #expect(result["2"]?.values == [3, 4, 5])
      #expect(result["3"]?.values == [1, 3, 4, 5, 6])
    }
    // The articles lose here what A put under a key that B removes without having seen it.
    insert(&a, "1", [1, 2, 3], alice)
    #expect(a.merged(with: b)["1"]?.values == [1, 2, 3, 4])
  }

  @Test func `a dictionary comes back from its encoding`() throws {
    var a = Sets()
    insert(&a, "1", [1, 2], alice)
    insert(&a, "2", [3], alice)
    a.remove("2", by: &alice.replica)
    let decoded = try Sets(encoded: a.encoded())
    #expect(decoded == a && decoded.keys == ["1"])
  }
}

// MARK: - Array

@Suite struct `The articles on the array` {
  let alice = Author(1)
  let bob = Author(2)
  let carol = Author(3)

  private func array(_ elements: [Int], by author: Author) -> ReplicatingArray<Int> {
    var array = ReplicatingArray<Int>()
    for (index, element) in elements.enumerated() {
      array.insert(contentsOf: [element], at: index, by: &author.replica)
    }
    return array
  }

  @Test func `a new array has nothing in it`() {
    #expect(ReplicatingArray<Int>().count == 0)
  }

  @Test func `elements are appended, inserted, replaced and removed`() {
    var a = array([1, 2, 3], by: alice)
    #expect(a.values == [1, 2, 3])
    a.insert(contentsOf: [0], at: 0, by: &alice.replica)
    a.insert(contentsOf: [9], at: 2, by: &alice.replica)
    #expect(a.values == [0, 1, 9, 2, 3])
    a.remove(2..<3, by: &alice.replica)
    a.remove(0..<1, by: &alice.replica)
    #expect(a.values == [1, 2, 3] && a.count == 3)
  }

  @Test func `arrays that never met stand one behind the other`() {
    let (a, b) = (array([1, 2, 3], by: alice), array([7, 8, 9], by: bob))
    let both = a.merged(with: b)
    #expect([[1, 2, 3, 7, 8, 9], [7, 8, 9, 1, 2, 3]].contains(both.values))
    #expect(both == b.merged(with: a))
  }

  @Test func `what both sides of one array inserted and removed is merged`() {
    let base = array([1, 2, 3], by: alice)
    var (a, b) = (base, base)
    a.insert(contentsOf: [10], at: 1, by: &alice.replica)
    a.remove(0..<1, by: &alice.replica)
    b.remove(2..<3, by: &bob.replica)
    b.insert(contentsOf: [20], at: 2, by: &bob.replica)
    #expect(a.merged(with: b).values == [10, 2, 20])
    #expect(a.merged(with: b) == b.merged(with: a))
  }

  @Test func `merging is associative, commutative and idempotent`() {
    var (a, b, c) = (array([1], by: alice), array([2], by: bob), array([3], by: carol))
    a.insert(contentsOf: [4], at: 0, by: &alice.replica)
    b.remove(0..<1, by: &bob.replica)
    c.insert(contentsOf: [5], at: 1, by: &carol.replica)
    let ab = a.merged(with: b)
    #expect(ab == b.merged(with: a))
    #expect(ab.merged(with: c) == a.merged(with: b.merged(with: c)))
    #expect(ab.merged(with: b) == ab && ab.merged(with: a) == ab && a.merged(with: a) == a)
  }

  @Test func `THEAT becomes THECARE`() {
    var a = ReplicatingArray<Character>()
    a.insert(contentsOf: Array("THEAT"), at: 0, by: &alice.replica)
    var b = a
    a.insert(contentsOf: ["C"], at: 3, by: &alice.replica)
    b.insert(contentsOf: ["R"], at: 5, by: &bob.replica)
    b.insert(contentsOf: ["E"], at: 6, by: &bob.replica)
    #expect(String(a.merged(with: b).values) == "THECATRE")
    b.remove(4..<5, by: &bob.replica)
    for result in [a.merged(with: b), b.merged(with: a)] {
      #expect(String(result.values) == "THECARE")
    }
  }
}

// MARK: - The whole

@Suite struct `The articles' notebook` {
  let alice = Author(1)
  let bob = Author(2)
  let carol = Author(3)
  private let shopping = UUID()
  private let travel = UUID()

  private func notebook() throws -> NoteBook {
    var book = NoteBook()
    try book.create(shopping, titled: "Shopping", at: 100, by: alice)
    try book.create(travel, titled: "Travel", at: 200, by: alice)
    return book
  }

  @Test func `a note that is made is the same everywhere, with what never changes`() throws {
    let a = try notebook()
    var b = NoteBook()
    try b.apply(a.changes(since: b.version))
    #expect(b == a)
    #expect(b.all.map(\.id) == [shopping, travel])
    #expect(b.all.map(\.creationDate.timeIntervalSince1970) == [100, 200])
    #expect(b[travel]?.title.value == "Travel" && b[travel]?.priority.value == .normal)
  }

  @Test func `a notebook, and what another lacks of it, come back from their encodings`() throws {
    var a = try notebook()
    let b = a
    a.edit(shopping, by: alice) {
      $0.text.insert(contentsOf: Array("milk, eggs"), at: 0, by: &$1)
      $0.text.remove(4..<6, by: &$1)
      $0.tags.insert(.home, by: &$1)
      $0.priority.assign(.high, at: 300, by: &$1)
    }
    a.move(travel, to: 0, by: alice)
    a.delete(travel, by: alice)
    let decoded = try NoteBook(encoded: a.encoded())
    #expect(decoded == a)
    #expect(decoded.encoded() == a.encoded())
    var other = b
    let changes = a.changes(since: b.version)
    #expect(changes.encoded().count < a.encoded().count)
    try other.apply(NoteBook.Changes(encoded: changes.encoded()))
    #expect(other == a)
    #expect(other.encoded() == a.encoded())
  }

  @Test func `each property merges by its own rules`() throws {
    var a = try notebook()
    a.edit(shopping, by: alice) {
      $0.text.insert(contentsOf: Array("mlk and egs"), at: 0, by: &$1)
      $0.tags.insert(.home, by: &$1)
    }
    var b = a
    a.edit(shopping, by: alice) {
      $0.text.insert(contentsOf: ["i"], at: 1, by: &$1)
      $0.tags.insert(.leisure, by: &$1)
      $0.title.assign("Groceries", at: 300, by: &$1)
      $0.priority.assign(.low, at: 300, by: &$1)
    }
    b.edit(shopping, by: bob) {
      $0.text.insert(contentsOf: ["g"], at: 10, by: &$1)
      $0.tags.remove(.home, by: &$1)
      $0.tags.insert(.work, by: &$1)
      $0.priority.assign(.high, at: 301, by: &$1)
    }
    for book in try [a.merged(with: b), b.merged(with: a)] {
      let note = book[shopping]!
      // Both corrections of the text are there, and all that was done to the tags; of two priorities one.
      #expect(String(note.text.values) == "milk and eggs")
      #expect(note.tags.values == [.work, .leisure])
      #expect(note.priority.value == .high)
      #expect(note.title.value == "Groceries")
    }
    #expect(try a.merged(with: b) == b.merged(with: a))
  }

  @Test func `two moves of one note leave one note`() throws {
    let base = try notebook()
    var (a, b) = (base, base)
    a.move(shopping, to: 1, by: alice)
    b.move(shopping, to: 1, by: bob)
    for book in try [a.merged(with: b), b.merged(with: a)] {
      #expect(book.all.map(\.id) == [travel, shopping])
    }
  }

  @Test func `a note that is deleted is deleted everywhere, unless it was edited meanwhile`() throws
  {
    let base = try notebook()
    var (a, b) = (base, base)
    a.delete(shopping, by: alice)
    a.delete(travel, by: alice)
    b.edit(travel, by: bob) { $0.text.insert(contentsOf: Array("Rome"), at: 0, by: &$1) }
    for book in try [a.merged(with: b), b.merged(with: a)] {
      #expect(book.all.map(\.id) == [travel])
      #expect(book[travel]?.title.value == "Travel")
      #expect(book[travel].map { String($0.text.values) } == "Rome")
    }
  }

  @Test func `the notebook keeps the laws of merging`() throws {
    let base = try notebook()
    var (a, b, c) = (base, base, base)
    a.edit(shopping, by: alice) { $0.text.insert(contentsOf: ["a"], at: 0, by: &$1) }
    a.move(travel, to: 0, by: alice)
    b.delete(shopping, by: bob)
    b.edit(travel, by: bob) { $0.tags.insert(.travel, by: &$1) }
    try c.create(UUID(), titled: "Work", at: 400, by: carol)
    c.edit(shopping, by: carol) { $0.title.assign("Errands", at: 400, by: &$1) }
    for (x, y, z) in [(a, b, c), (b, c, a), (c, a, b), (a, a, b), (base, a, b)] {
      try expectLaws(x, y, z, empty: NoteBook(), "the articles' notebook")
    }
  }

  @Test func `whether there is anything to send is seen from the versions`() throws {
    let a = try notebook()
    var b = try NoteBook().merged(with: a)
    #expect(a.version == b.version)
    try b.merge(a)
    #expect(a.version == b.version, "merging changes nothing that would have to be sent")
    b.edit(shopping, by: bob) { $0.tags.insert(.home, by: &$1) }
    #expect(!a.version.isSuperset(of: b.version))
  }
}
