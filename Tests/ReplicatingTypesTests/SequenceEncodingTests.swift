import Testing

@testable import ReplicatingTypes

/// What holds for the bytes of two values of one history.
func expectEncodings<Value: Replicable & BinaryCodable>(
  _ a: Value, _ b: Value, empty: Value, _ comment: Comment
) throws where Value.Changes: BinaryCodable {
  let bytes = a.encoded()
  let decoded = try Value(encoded: bytes)
  #expect(decoded == a, "what is read is what was written, \(comment)")
  #expect(decoded.encoded() == bytes, "and is written the same again, \(comment)")
  let merged = a.merged(with: b)
  #expect(merged.encoded() == b.merged(with: a).encoded(), "equal values, \(comment)")
  for since in [a.version, empty.version] {
    let changes = b.changes(since: since).encoded()
    var joined = a
    try joined.apply(Value.Changes(encoded: changes))
    #expect(joined == merged, "changes that traveled, \(comment)")
    #expect(try Value.Changes(encoded: changes).encoded() == changes, "changes, \(comment)")
  }
}
