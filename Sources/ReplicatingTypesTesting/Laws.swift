// Tests of replicating types, for whatever framework a test is written in: what does not hold is thrown.

public import ReplicatingTypes

/// A law that does not hold.
public struct BrokenLaw: Error, Equatable, Sendable, CustomStringConvertible {
  /// The law, in words.
  public var law: String
  /// The seed of the history in which it does not hold.
  public var seed: UInt64
  /// The values for which it does not hold.
  public var values: [String]

  public var description: String {
    "In the history of seed \(seed) does not hold: \(law).\n" + values.map { "  \($0)\n" }.joined()
  }
}

/// Holds a replicating type to the laws of `Replicable` in random histories: three to five authors edit values of their own and take over from each
/// other, by merging, by changes, in any order and twice; then all exchange what they have.
///
///     try expectLaws(of: ReplicatingSet<Int>()) { set, replica, generator in
///       set.insert(Int.random(in: 0..<5, using: &generator), by: &replica)
///     }
///
/// - Parameter empty: the value that all begin with.
/// - Parameter seeds: a history for each.
/// - Parameter steps: edits and exchanges in each.
/// - Parameter edit: makes a random edit. An edit may change nothing.
///
/// Throws a `BrokenLaw` with the seed, or what `edit` throws. O(seeds × steps), and what merging and comparing costs.
public func expectLaws<Value: Replicable>(
  of empty: Value, seeds: ClosedRange<UInt64> = 1...50, steps: Int = 40,
  edit: (inout Value, inout Replica, inout SeededGenerator) throws -> Void
) throws {
  for seed in seeds {
    var history = History(of: empty, seed: seed)
    try history.run(steps, edit) { _, _ in }
    for _ in 0..<8 { try history.expectLawsOfMerging() }
  }
}

/// The same for a type that has an encoding, and holds that to its laws, too: a value and its changes come out of their bytes as they were, equal
/// values have equal bytes, and bytes that were cut are refused. Values in the histories travel as bytes, too. Bytes with a bit changed are read, and what is
/// read is joined, which may be refused and then changes nothing.
public func expectLaws<Value: Replicable & BinaryCodable>(
  of empty: Value, seeds: ClosedRange<UInt64> = 1...50, steps: Int = 40,
  edit: (inout Value, inout Replica, inout SeededGenerator) throws -> Void
) throws where Value.Changes: BinaryCodable {
  for seed in seeds {
    var history = History(of: empty, seed: seed)
    try history.run(steps, edit) { value, history in
      if history.generator.chance(20) { value = try history.readAgain(value) }
    }
    for _ in 0..<8 { try history.expectLawsOfMerging() }
    try history.expectLawsOfBytes()
  }
}

/// A replica, in an array.
private final class Author {
  var replica: Replica
  init(_ number: UInt64) { replica = Replica(id: ReplicaID(high: 0, low: number)) }
}

/// A random history.
private struct History<Value: Replicable> {
  let empty: Value
  let seed: UInt64
  var generator: SeededGenerator
  /// What all of them have in the end.
  private(set) var final: [Value] = []
  /// Values that there were.
  private(set) var states: [Value]

  init(of empty: Value, seed: UInt64) {
    self.empty = empty
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    states = [empty]
  }

  func broken(_ law: String, _ values: Value...) -> BrokenLaw {
    BrokenLaw(law: law, seed: seed, values: values.map { "\($0)" })
  }

  private func expect(_ isSo: Bool, _ law: String, _ values: Value...) throws(BrokenLaw) {
    if !isSo { throw BrokenLaw(law: law, seed: seed, values: values.map { "\($0)" }) }
  }

  mutating func run(
    _ steps: Int, _ edit: (inout Value, inout Replica, inout SeededGenerator) throws -> Void,
    _ travel: (inout Value, inout Self) throws -> Void
  ) throws {
    let authors = (1...UInt64(3 + generator.below(3))).map(Author.init)
    var values = authors.map { _ in empty }
    for _ in 0..<steps {
      let index = generator.below(values.count)
      let before = values[index]
      if generator.chance(65) {
        try edit(&values[index], &authors[index].replica, &generator)
        let after = values[index]
        try expect(
          (before == after) == (before.version == after.version),
          "an edit that changes a value adds a change to its version, and no other does", before,
          after)
        try expect(
          after.version.isSuperset(of: before.version), "an edit takes no change back", before,
          after)
      } else {
        var other = values[generator.below(values.count)]
        try travel(&other, &self)
        values[index] = try joined(before, other)
      }
      if generator.chance(40) { states.append(values[index]) }
    }
    for _ in 0..<2 {
      for index in values.indices {
        for other in values { values[index] = try joined(values[index], other) }
      }
    }
    for value in values {
      try expect(value == values[0], "all that have seen the same are equal", value, values[0])
    }
    final = values
  }

  /// `a` with what `b` has, in one of the ways there are.
  private mutating func joined(_ a: Value, _ b: Value) throws -> Value {
    var result = a
    switch generator.below(3) {
    case 0: try result.merge(b)
    case 1: try applied(b.changes(since: a.version), to: &result)
    default: try applied(b.changes(since: empty.version), to: &result)
    }
    try expect(
      result.version.isSuperset(of: a.version) && result.version.isSuperset(of: b.version),
      "what was joined is in the version", a, b, result)
    return result
  }

  func applied(_ changes: Value.Changes, to value: inout Value) throws(BrokenLaw) {
    do { try value.apply(changes) } catch {
      throw broken("changes of an honest author are taken: \(error)", value)
    }
  }

  private mutating func state() -> Value { states[generator.below(states.count)] }

  mutating func expectLawsOfMerging() throws {
    let (a, b, c) = (state(), state(), state())
    let ab = try a.merged(with: b)
    try expect(try ab == b.merged(with: a), "merging is commutative", a, b)
    try expect(
      try ab.merged(with: c) == a.merged(with: b.merged(with: c)), "merging is associative", a, b, c
    )
    try expect(try a.merged(with: a) == a, "merging is idempotent", a)
    try expect(try ab.merged(with: b) == ab, "merging a second time changes nothing", a, b)
    try expect(try a.merged(with: empty) == a, "merging with nothing changes nothing", a)
    try expect(try empty.merged(with: a) == a, "nothing with something is that", a)
    for since in [a.version, empty.version, a.version.intersection(c.version)] {
      var result = a
      let changes = b.changes(since: since)
      try expect(
        changes.version.isSuperset(of: changes.since), "changes end where they begin, or later", b)
      for _ in 0..<2 {
        try applied(changes, to: &result)
        try expect(
          result == ab, "changes make what merging makes, also when they come twice", a, b, result)
      }
    }
    var behind = c
    let changes = a.changes(since: b.version)
    if !c.version.isSuperset(of: changes.since) {
      let isRefused: Bool
      do {
        try behind.apply(changes)
        isRefused = false
      } catch { isRefused = true }
      try expect(
        isRefused && behind == c,
        "changes that follow what is not here are refused, and change nothing",
        c, behind)
    }
  }
}

extension History where Value: BinaryCodable, Value.Changes: BinaryCodable {
  func readAgain(_ value: Value) throws(BrokenLaw) -> Value {
    let read: Value
    do { read = try Value(encoded: value.encoded()) } catch {
      throw broken("a value is read from its bytes: \(error)", value)
    }
    guard read == value, read.version == value.version else {
      throw broken("a value comes out of its bytes as it was", value, read)
    }
    return read
  }

  mutating func expectLawsOfBytes() throws {
    for value in final where value.encoded() != final[0].encoded() {
      throw broken("equal values have equal bytes", value, final[0])
    }
    for _ in 0..<3 {
      let (a, b) = (
        states[generator.below(states.count)], states[generator.below(states.count)]
      )
      let changes = b.changes(since: a.version).encoded()
      var result = a
      let read: Value.Changes
      do { read = try Value.Changes(encoded: changes) } catch {
        throw broken("changes are read from their bytes: \(error)", b)
      }
      try applied(read, to: &result)
      let merged = try a.merged(with: b)
      guard result == merged else {
        throw broken("changes come out of their bytes as they were", a, b, result)
      }
      let bytes = b.encoded()
      for length in bytes.indices where (try? Value(encoded: Array(bytes[..<length]))) != nil {
        throw broken("bytes of a value that were cut are refused", b)
      }
      for length in changes.indices
      where (try? Value.Changes(encoded: Array(changes[..<length]))) != nil {
        throw broken("bytes of changes that were cut are refused", b)
      }
      for _ in 0..<40 {
        try expectDamageIsHarmless(bytes, changes, to: a)
      }
    }
  }

  /// Bytes with a bit changed may be those of another value. What is refused changes nothing, and what is taken can be written again.
  private mutating func expectDamageIsHarmless(
    _ bytes: [UInt8], _ changes: [UInt8], to value: Value
  ) throws(BrokenLaw) {
    func damaged(_ bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      if !bytes.isEmpty { bytes[generator.below(bytes.count)] ^= 1 << UInt8(generator.below(8)) }
      return bytes
    }
    if let read = try? Value(encoded: damaged(bytes)) { _ = try readAgain(read) }
    guard let read = try? Value.Changes(encoded: damaged(changes)) else { return }
    var result = value
    do { try result.apply(read) } catch {
      guard result == value else {
        throw broken("changes that are refused change nothing: \(error)", value, result)
      }
      return
    }
    _ = try readAgain(result)
  }
}

/// Random numbers that are the same on every machine and in every run for the same seed: SplitMix64 (Steele, Lea, Flood: Fast Splittable
/// Pseudorandom Number Generators, 2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The numbers that belong to a seed.
  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number from 0 to `bound` - 1.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// True in `percent` of a hundred calls.
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
