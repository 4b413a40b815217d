import Testing

@testable import ReplicatingTypes

/// One process: the only holder of its identity.
final class Author {
  var replica: Replica

  init(_ number: UInt64) { replica = Replica(id: replicaID(number)) }
}

/// Small numbers are replicas of tests; larger ones win ties.
func replicaID(_ number: UInt64) -> ReplicaID { ReplicaID(high: 0, low: number) }

/// `a` with what it lacks of `b`, as it travels; where `merge` would trap, this throws.
func joined<Value: Replicable>(_ a: Value, _ b: Value) throws(RefusedChanges) -> Value {
  var result = a
  try result.apply(b.changes(since: a.version))
  return result
}

/// `a` with all of `b`, however much of it is known already.
func joinedWhole<Value: Replicable>(
  _ a: Value, _ b: Value, _ empty: Value
) throws(RefusedChanges) -> Value {
  var result = a
  try result.apply(b.changes(since: empty.version))
  return result
}

/// The laws of merging, on the whole state, for values of one history. `join` says how two of them are joined.
func expectLaws<Value: Replicable>(
  _ a: Value, _ b: Value, _ c: Value, empty: Value, _ comment: Comment,
  join: (Value, Value) throws(RefusedChanges) -> Value
) throws {
  let ab = try join(a, b)
  #expect(ab == (try join(b, a)), "commutative, \(comment)")
  #expect((try join(ab, c)) == (try join(a, try join(b, c))), "associative, \(comment)")
  #expect((try join(a, a)) == a, "idempotent, \(comment)")
  #expect((try join(ab, b)) == ab, "a second time, \(comment)")
  #expect((try join(ab, a)) == ab, "with its own past, \(comment)")
  #expect((try join(a, ab)) == ab, "the past with what came of it, \(comment)")
  #expect((try join(a, empty)) == a, "with nothing, \(comment)")
  #expect((try join(empty, a)) == a, "nothing with something, \(comment)")
  var twice = a
  let changes = b.changes(since: a.version)
  if (try? twice.apply(changes)) != nil {
    #expect(twice == ab, "what is not known yet, \(comment)")
    try twice.apply(changes)
    #expect(twice == ab, "the same changes again, \(comment)")
  }
}

/// All laws, with whatever `merge` itself does.
func expectLaws<Value: Replicable>(
  _ a: Value, _ b: Value, _ c: Value, empty: Value, _ comment: Comment
) throws {
  try expectLaws(a, b, c, empty: empty, comment) { a, b throws(RefusedChanges) in
    try joined(a, b)
  }
  try expectLaws(a, b, c, empty: empty, comment) { a, b throws(RefusedChanges) in
    try joinedWhole(a, b, empty)
  }
  #expect(a.merged(with: b) == (try joined(a, b)), "merging is applying, \(comment)")
}

/// Random values of one history: `edit` changes one, and any two are joined now and then.
func history<Value: Replicable>(
  _ empty: Value, seed: UInt64, steps: Int,
  _ edit: (inout Value, Author, inout Generator) -> Void
) throws -> (states: [Value], final: [Value], generator: Generator) {
  var generator = Generator(seed: seed)
  let authors = (1...UInt64(3 + generator.below(2))).map(Author.init)
  var values = authors.map { _ in empty }
  var states = [empty]
  for _ in 0..<steps {
    let index = generator.below(values.count)
    if generator.chance(65) {
      edit(&values[index], authors[index], &generator)
    } else {
      values[index] = try joinedWhole(values[index], generator.pick(values), empty)
    }
    if generator.chance(40) { states.append(values[index]) }
  }
  for _ in 0..<2 {
    for index in values.indices {
      for other in values { values[index] = try joinedWhole(values[index], other, empty) }
    }
  }
  for value in values { #expect(value == values[0], at(seed)) }
  return (states, values, generator)
}

/// A value that is looked through in tests, with all values inside it.
protocol Checked: Replicable {
  func checkAll()
}

extension ReplicatingRegister: Checked {
  func checkAll() { checkInvariants() }
}

extension ReplicatingAddOnlySet: Checked {
  func checkAll() { checkInvariants() }
}

extension ReplicatingSet: Checked {
  func checkAll() { checkInvariants() }
}

extension ReplicatingOrderedSet: Checked {
  func checkAll() { checkInvariants() }
}

extension ReplicatingText: Checked {
  func checkAll() { checkInvariants() }
}

extension ReplicatingDictionary: Checked where Value: Checked {
  func checkAll() {
    checkInvariants()
    for entry in entries.values { entry.value.checkAll() }
  }
}
