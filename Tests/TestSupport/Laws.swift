// The laws of merging: commutative, associative, idempotent, on whole states.

package import ReplicatingTypes
package import Testing

/// `a` with what it lacks of `b`, as it travels; where `merge` would trap, this throws.
package func joined<Value: Replicable>(_ a: Value, _ b: Value) throws(RefusedChanges) -> Value {
  var result = a
  try result.apply(b.changes(since: a.version))
  return result
}

/// `a` with all of `b`, however much of it is known already.
package func joinedWhole<Value: Replicable>(
  _ a: Value, _ b: Value, _ empty: Value
) throws(RefusedChanges) -> Value {
  var result = a
  try result.apply(b.changes(since: empty.version))
  return result
}

/// The laws of merging, on the whole state, for values of one history. `join` says how two of them are joined.
package func expectLaws<Value: Replicable>(
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
package func expectLaws<Value: Replicable>(
  _ a: Value, _ b: Value, _ c: Value, empty: Value, _ comment: Comment
) throws {
  try expectLaws(a, b, c, empty: empty, comment) { a, b throws(RefusedChanges) in
    try joined(a, b)
  }
  try expectLaws(a, b, c, empty: empty, comment) { a, b throws(RefusedChanges) in
    try joinedWhole(a, b, empty)
  }
  #expect((try a.merged(with: b)) == (try joined(a, b)), "merging is applying, \(comment)")
}
