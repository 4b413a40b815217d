import TestSupport
import Testing

@testable import ReplicatingTypes

/// A random history: each author edits a value of its own or takes over another's; then all are exchanged.
private func expectLaws<Value: Checked>(
  _ empty: Value, seeds: ClosedRange<UInt64>,
  _ edit: (inout Value, Author, inout SplitMix64) -> Void
) throws {
  for seed in seeds {
    var generator = SplitMix64(seed: seed)
    let authors = (1...UInt64(3 + generator.below(3))).map(Author.init)
    var values = authors.map { _ in empty }
    var states = [empty]
    for step in 0..<40 {
      let index = generator.below(values.count)
      if generator.chance(65) {
        edit(&values[index], authors[index], &generator)
      } else {
        let other = generator.pick(values)
        values[index] =
          generator.chance(50)
          ? try joined(values[index], other) : try joinedWhole(values[index], other, empty)
        #expect(values[index].version.isSuperset(of: other.version), at(seed, step))
      }
      values[index].checkAll()
      if generator.chance(40) { states.append(values[index]) }
    }
    for _ in 0..<2 {
      for index in values.indices {
        for other in values { values[index] = try joined(values[index], other) }
      }
    }
    for value in values { #expect(value == values[0], at(seed)) }
    for _ in 0..<6 {
      let (a, b, c) = (generator.pick(states), generator.pick(states), generator.pick(states))
      try expectLaws(a, b, c, empty: empty, at(seed))
    }
  }
}

/// Merging as generic code sees it.
private func mergedGenerically<Value: Replicable>(_ a: Value, _ b: Value) throws -> Value {
  try a.merged(with: b)
}

@Suite struct `Replicating add-only set` {
  let alice = Author(1)
  let bob = Author(2)

  @Test func `keeps the laws of merging in random histories`() throws {
    try expectLaws(ReplicatingAddOnlySet<Int>(), seeds: seeds(60)) { set, author, generator in
      let element = generator.below(8)
      let (before, count) = (set, set.count)
      set.insert(element, by: &author.replica)
      #expect(set.contains(element))
      #expect(set.count == count + (before.contains(element) ? 0 : 1))
      #expect((set == before) == before.contains(element), "adding again is no change")
    }
  }

  @Test func `merging is the union`() {
    var (a, b) = (ReplicatingAddOnlySet<Int>(), ReplicatingAddOnlySet<Int>())
    for element in [1, 2] { a.insert(element, by: &alice.replica) }
    for element in [2, 3] { b.insert(element, by: &bob.replica) }
    #expect(a.merged(with: b).values == [1, 2, 3])
    #expect(a.merged(with: b) == b.merged(with: a))
  }

  @Test func `refuses changes that follow what is not here`() throws {
    var a = ReplicatingAddOnlySet<Int>()
    a.insert(1, by: &alice.replica)
    let seen = a.version
    a.insert(2, by: &alice.replica)
    var empty = ReplicatingAddOnlySet<Int>()
    #expect(throws: RefusedChanges.missing(MissingChanges(needed: seen))) {
      try empty.apply(a.changes(since: seen))
    }
    #expect(empty == ReplicatingAddOnlySet<Int>())
  }
}

@Suite struct `Replicating dictionary` {
  private typealias Sets = ReplicatingDictionary<String, ReplicatingSet<Int>>
  private typealias Registers = ReplicatingDictionary<String, ReplicatingRegister<String>>
  private typealias Nested = ReplicatingDictionary<String, Sets>
  let alice = Author(1)
  let bob = Author(2)
  let carol = Author(3)

  private static func edit(
    _ sets: inout Sets, _ author: inout Replica, _ generator: inout SplitMix64
  ) {
    let key = generator.pick(["a", "b", "c"])
    let others = sets.keys.subtracting([key])
    if generator.chance(30) {
      sets.remove(key, by: &author)
      #expect(sets[key] == nil && sets.keys == others)
      return
    }
    let (before, element) = (sets, generator.below(4))
    if generator.chance(30) {
      // A new value, a copy of another key's, or this one's, with an edit or without.
      var value =
        generator.pick([ReplicatingSet(), sets.entries[key]?.value, sets.values.first])
        ?? ReplicatingSet()
      if generator.chance(60) { value.insert(generator.below(4), by: &author) }
      let before = sets
      do {
        try sets.set(value, forKey: key, by: &author)
        #expect(sets.keys == others.union([key]) && sets.version != before.version)
      } catch {
        #expect(sets == before && sets.version == before.version, "refused, and yet changed")
      }
      return
    }
    sets.update(key, default: ReplicatingSet(), by: &author) { set, replica in
      if generator.chance(70) {
        set.insert(element, by: &replica)
      } else {
        set.remove(element, by: &replica)
      }
    }
    if sets.version == before.version {
      #expect(sets == before, "a body that changes nothing leaves no trace")
    } else {
      #expect(sets.keys == others.union([key]))
    }
    #expect(sets.count == sets.keys.count)
  }

  // MARK: - Laws

  @Test func `of sets keeps the laws of merging in random histories`() throws {
    try expectLaws(Sets(), seeds: seeds(60)) { sets, author, generator in
      Self.edit(&sets, &author.replica, &generator)
    }
  }

  @Test func `of registers keeps the laws of merging in random histories`() throws {
    try expectLaws(Registers(), seeds: seeds(40)) { registers, author, generator in
      let key = generator.pick(["a", "b"])
      if generator.chance(30) {
        registers.remove(key, by: &author.replica)
        return
      }
      let value = generator.pick(["1", "2", "3"])
      registers.update(key, default: ReplicatingRegister(""), by: &author.replica) {
        $0.assign(value, at: generator.pick([0, 5, 6]), by: &$1)
      }
      #expect(registers[key]?.value == value)
    }
  }

  @Test func `of dictionaries of sets keeps the laws of merging in random histories`() throws {
    try expectLaws(Nested(), seeds: seeds(60)) { nested, author, generator in
      let key = generator.pick(["x", "y"])
      if generator.chance(15) {
        nested.remove(key, by: &author.replica)
        return
      }
      nested.update(key, default: Sets(), by: &author.replica) { sets, replica in
        Self.edit(&sets, &replica, &generator)
      }
    }
  }

  @Test func `of texts keeps the laws of merging in random histories`() throws {
    typealias Texts = ReplicatingDictionary<Int, ReplicatingText>
    try expectLaws(Texts(), seeds: seeds(30)) { texts, author, generator in
      let key = generator.below(2)
      if generator.chance(20) {
        texts.remove(key, by: &author.replica)
        return
      }
      texts.update(key, default: ReplicatingText(), by: &author.replica) { text, replica in
        let start = generator.below(text.count + 1)
        let end = start + generator.below(text.count - start + 1)
        let new = Array(generator.pick(["", "a", "bc"]).utf8)
        text.replace([Edit(range: start..<end, replacement: new)], by: &replica)
      }
    }
  }

  // MARK: - Scenarios

  private func assign(_ registers: inout Registers, _ value: String, _ author: Author) {
    registers.update("key", default: ReplicatingRegister(""), by: &author.replica) {
      $0.assign(value, at: 5, by: &$1)
    }
  }

  private func insert(_ sets: inout Sets, _ element: Int, _ author: Author) {
    sets.update("key", default: ReplicatingSet(), by: &author.replica) {
      $0.insert(element, by: &$1)
    }
  }

  /// Joins values in every order.
  private func everyOrder<Value: Replicable>(_ a: Value, _ b: Value, _ c: Value) throws -> [Value] {
    [
      try a.merged(with: b).merged(with: c), try a.merged(with: c).merged(with: b),
      try b.merged(with: a).merged(with: c), try b.merged(with: c).merged(with: a),
      try c.merged(with: a).merged(with: b), try c.merged(with: b).merged(with: a),
    ]
  }

  @Test func `D1: a value assigned beside a concurrent removal stays`() throws {
    var a = Registers()
    assign(&a, "first", alice)
    var (b, c) = (a, a)
    assign(&a, "assigned", alice)
    b.remove("key", by: &bob.replica)
    c.remove("key", by: &carol.replica)
    #expect(b["key"] == nil && b.keys.isEmpty && b.count == 0)
    for result in try everyOrder(a, b, c) {
      #expect(result["key"]?.value == "assigned")
      #expect(try result == a.merged(with: b).merged(with: c))
    }
  }

  @Test func `D2: with a change inside that a removal had not seen the whole value is back`() throws
  {
    var a = Sets()
    for element in [1, 2] { insert(&a, element, alice) }
    var (b, c) = (a, a)
    insert(&a, 3, alice)
    b.remove("key", by: &bob.replica)
    c.remove("key", by: &carol.replica)
    for result in try everyOrder(a, b, c) { #expect(result["key"]?.values == [1, 2, 3]) }
    // Whoever has seen it may remove it.
    var all = a.merged(with: b).merged(with: c)
    all.remove("key", by: &carol.replica)
    for result in try everyOrder(a, b, all) { #expect(result.keys.isEmpty) }
  }

  @Test func `two removals that together saw all changes do not remove`() throws {
    var (a, b) = (Sets(), Sets())
    insert(&a, 1, alice)
    insert(&b, 2, bob)
    let both = a.merged(with: b)
    a.remove("key", by: &alice.replica)
    b.remove("key", by: &bob.replica)
    for result in try everyOrder(a, b, both) { #expect(result["key"]?.values == [1, 2]) }
  }

  @Test func `a removal of the inner key and one of the outer meet`() throws {
    var a = Nested()
    for inner in ["k", "l"] {
      a.update("outer", default: Sets(), by: &alice.replica) { sets, replica in
        sets.update(inner, default: ReplicatingSet(), by: &replica) { $0.insert(1, by: &$1) }
      }
    }
    var b = a
    a.update("outer", default: Sets(), by: &alice.replica) { $0.remove("k", by: &$1) }
    b.remove("outer", by: &bob.replica)
    for result in try everyOrder(a, b, a) { #expect(result["outer"]?.keys == ["l"]) }
  }

  @Test func `a removed key that is used again has what it held`() {
    var a = Sets()
    insert(&a, 1, alice)
    a.remove("key", by: &alice.replica)
    #expect(a["key"] == nil)
    insert(&a, 2, alice)
    #expect(a["key"]?.values == [1, 2])
  }

  @Test func `a body that changes nothing leaves no trace, and one that throws what it did`() {
    struct Refusal: Error {}
    var a = Sets()
    a.update("key", default: ReplicatingSet(), by: &alice.replica) { _, _ in }
    #expect(a == Sets())
    #expect(throws: Refusal.self) {
      try a.update("key", default: ReplicatingSet(), by: &alice.replica) {
        (set: inout ReplicatingSet<Int>, replica: inout Replica) throws(Refusal) in
        set.insert(1, by: &replica)
        throw Refusal()
      }
    }
    #expect(a["key"]?.values == [1])
    #expect(Sets().merged(with: a) == a)
  }

  // MARK: - Finished values

  @Test func `a value that its author has edited is put under a key`() throws {
    var tags = ReplicatingSet<Int>()
    for element in [1, 2] { tags.insert(element, by: &alice.replica) }
    var (a, b) = (Sets(), Sets())
    try a.set(tags, forKey: "key", by: &alice.replica)
    #expect(a["key"] == tags && a.keys == ["key"] && a.dictionary == ["key": tags])
    insert(&b, 3, bob)
    for result in try everyOrder(a, b, a) { #expect(result["key"]?.values == [1, 2, 3]) }
    // A copy that was changed.
    var copy = try #require(a["key"])
    copy.remove(1, by: &alice.replica)
    try a.set(copy, forKey: "key", by: &alice.replica)
    #expect(a["key"]?.values == [2])
    for result in try everyOrder(a, b, b) { #expect(result["key"]?.values == [2, 3]) }
  }

  @Test func `an empty value makes its key present, and a removed one present again`() throws {
    var a = Sets()
    try a.set(ReplicatingSet(), forKey: "key", by: &alice.replica)
    #expect(a.keys == ["key"] && a.count == 1 && a["key"]?.values == [])
    var b = Sets()
    try b.apply(a.changes(since: b.version))
    #expect(b == a)
    #expect(try Sets(encoded: a.encoded()) == a)
    b.remove("key", by: &bob.replica)
    #expect(b.keys.isEmpty && b.merged(with: a).keys.isEmpty)
    // Beside the removal, and after it.
    try a.set(ReplicatingSet(), forKey: "key", by: &alice.replica)
    for result in try everyOrder(a, b, a) { #expect(result.keys == ["key"]) }
    try b.set(ReplicatingSet(), forKey: "key", by: &bob.replica)
    #expect(b.keys == ["key"])
  }

  @Test func `a value whose changes were made before others comes whole`() throws {
    var (a, tags) = (Sets(), ReplicatingSet<Int>())
    tags.insert(1, by: &alice.replica)
    insert(&a, 2, alice)
    // Bob has seen a later change of hers.
    var b = a
    insertCopy(&b, 3, bob)
    try a.set(tags, forKey: "copy", by: &alice.replica)
    try b.apply(Sets.Changes(encoded: a.changes(since: b.version).encoded()))
    #expect(b["copy"]?.values == [1, 3])
    let known = b.version
    insertCopy(&b, 4, bob)
    guard case .changes = b.changes(since: known).parts[0].part else {
      Issue.record("the whole value for one who has it")
      return
    }
  }

  private func insertCopy(_ sets: inout Sets, _ element: Int, _ author: Author) {
    sets.update("copy", default: ReplicatingSet(), by: &author.replica) {
      $0.insert(element, by: &$1)
    }
  }

  @Test func `a value that others changed unseen is refused, and one that began otherwise`() throws
  {
    var a = Sets()
    var foreign = ReplicatingSet<Int>()
    foreign.insert(1, by: &bob.replica)
    let before = a
    #expect {
      try a.set(foreign, forKey: "key", by: &alice.replica)
    } throws: {
      "\($0)".contains("the key key that others have changed")
    }
    #expect(a == before && a.version.isEmpty)
    // Two values that she has changed apart; registers have one write each, so nothing is missing there.
    insert(&a, 1, alice)
    var apart = ReplicatingSet<Int>()
    apart.insert(2, by: &alice.replica)
    #expect {
      try a.set(apart, forKey: "key", by: &alice.replica)
    } throws: {
      "\($0)".contains("Change the value that is here, by update")
    }
    #expect(a["key"]?.values == [1])
    var written = Registers()
    for value in ["first", "second"] {
      let register = ReplicatingRegister(value, at: 5, by: &alice.replica)
      try written.set(register, forKey: "key", by: &alice.replica)
      #expect(written["key"]?.value == value)
    }
    var registers = Registers()
    assign(&registers, "first", alice)
    let kept = registers
    #expect {
      try registers.set(ReplicatingRegister("other"), forKey: "key", by: &alice.replica)
    } throws: {
      "\($0)".contains("a register that began with other")
    }
    #expect(registers == kept)
  }

  @Test func `removing a key again and again keeps one removal of it`() {
    var a = Sets()
    for element in 0..<20 {
      insert(&a, element, alice)
      a.remove("key", by: &alice.replica)
      a.remove("key", by: &alice.replica)
      a.remove("other", by: &alice.replica)
    }
    #expect(a.changes(since: Version()).removals.count == 1)
    #expect(a.version[replicaID(1)] == 40)
  }

  @Test func `only what is not known travels`() {
    var a = Sets()
    for key in ["a", "b", "c"] {
      a.update(key, default: ReplicatingSet(), by: &alice.replica) { $0.insert(1, by: &$1) }
    }
    let known = a.version
    a.update("b", default: ReplicatingSet(), by: &alice.replica) { $0.insert(2, by: &$1) }
    #expect(a.changes(since: known).parts.map(\.key) == ["b"])
    #expect(a.changes(since: a.version).parts.isEmpty)
  }

  @Test func `refuses changes that follow what is not here`() throws {
    var a = Sets()
    insert(&a, 1, alice)
    let known = a.version
    insert(&a, 2, alice)
    var empty = Sets()
    #expect(throws: RefusedChanges.missing(MissingChanges(needed: known))) {
      try empty.apply(a.changes(since: known))
    }
    #expect(empty == Sets())
  }

  // MARK: - Defects of the articles' dictionary

  @Test func `Defect 1: merging changes nothing but what it brings, and a removal stays`() throws {
    var a = Sets()
    insert(&a, 1, alice)
    #expect(a.merged(with: a) == a && a.merged(with: a).version == a.version)
    var b = a
    var c = a
    c.remove("key", by: &carol.replica)
    // The two others only exchange what they have, a thousand times.
    for _ in 0..<500 {
      a.merge(b)
      b.merge(a)
    }
    #expect(a == b)
    for result in try everyOrder(a, b, c) {
      #expect(result.keys.isEmpty)
      #expect(result == c)
    }
  }

  @Test func `Defect 2: values merge at any depth, and through generic code`() throws {
    typealias Deep = ReplicatingDictionary<Int, Nested>
    func insert(_ deep: inout Deep, _ element: Int, _ author: Author) {
      deep.update(0, default: Nested(), by: &author.replica) { nested, replica in
        nested.update("outer", default: Sets(), by: &replica) { sets, replica in
          sets.update("inner", default: ReplicatingSet(), by: &replica) {
            $0.insert(element, by: &$1)
          }
        }
      }
    }
    var a = Deep()
    insert(&a, 0, alice)
    var b = a
    insert(&a, 1, alice)
    insert(&b, 2, bob)
    for result in try [a.merged(with: b), b.merged(with: a), mergedGenerically(a, b)] {
      #expect(result[0]?["outer"]?["inner"]?.values == [0, 1, 2])
    }
  }

  @Test func `Defect 2: also when neither had the key before`() throws {
    var (a, b) = (Sets(), Sets())
    insert(&a, 1, alice)
    insert(&b, 2, bob)
    for result in try [a.merged(with: b), b.merged(with: a), mergedGenerically(a, b)] {
      #expect(result["key"]?.values == [1, 2])
    }
  }
}
