import ReplicatingTypes
import ReplicatingTypesTesting
import TestSupport
import Testing

/// A counter that goes up and down, right or with one of the mistakes that are made in it.
private struct Counter<Kind: CounterKind>: Replicable, BinaryCodable, Sendable {
  struct Share: Hashable, Sendable {
    var sum: Int
    var lastChange: UInt64
  }

  private(set) var shares: [ReplicaID: Share] = [:]

  var value: Int { shares.values.reduce(0) { $0 &+ $1.sum } }

  mutating func add(_ amount: Int, by replica: inout Replica) {
    let change = replica.stamp(after: 0).change
    let sum = shares[replica.id]?.sum ?? 0
    shares[replica.id] = Share(sum: sum &+ amount, lastChange: change.number)
  }

  var version: Version {
    var version = Version()
    for (id, share) in shares {
      version.insert(ChangeID(replica: id, number: share.lastChange))
    }
    return version
  }

  struct Changes: ReplicatingChanges, BinaryCodable {
    var shares: [ReplicaID: Share]
    var since: Version { Version() }
    var version: Version {
      var version = Version()
      for (id, share) in shares {
        version.insert(ChangeID(replica: id, number: share.lastChange))
      }
      return version
    }

    init(shares: [ReplicaID: Share]) { self.shares = shares }

    func encode(into writer: inout ByteWriter) { Counter(shares: shares).encode(into: &writer) }
    init(from reader: inout ByteReader) throws(DecodingFailure) {
      shares = try Counter(from: &reader).shares
    }
  }

  func changes(since version: Version) -> Changes {
    Changes(shares: shares.filter { $0.value.lastChange > version[$0.key] })
  }

  func validate(_ changes: Changes) throws(InvalidChange) {
    for (id, share) in changes.shares {
      if let known = shares[id], known.lastChange == share.lastChange, known != share {
        throw InvalidChange("another sum than is known of that change")
      }
    }
  }

  mutating func join(_ changes: Changes) {
    for (id, share) in changes.shares {
      shares[id] = Kind.joined(shares[id], share)
    }
  }

  init() {}

  private init(shares: [ReplicaID: Share]) { self.shares = shares }

  func encode(into writer: inout ByteWriter) {
    writer.sorted(shares) { share, writer in
      writer.signed(Kind.written(Int64(share.sum)))
      writer.varint(share.lastChange)
    }
  }

  init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.sorted(ReplicaID.self) { (id, reader) throws(DecodingFailure) in
      let sum = try Int(from: &reader)
      let start = reader
      let number = try reader.varint()
      guard number > 0 else { throw start.failure("a share of nobody's") }
      shares[id] = Share(sum: sum, lastChange: number)
    }
  }
}

private protocol CounterKind: Sendable {
  static func joined<Kind>(
    _ a: Counter<Kind>.Share?, _ b: Counter<Kind>.Share
  ) -> Counter<Kind>.Share
  static func written(_ sum: Int64) -> Int64
}

extension CounterKind {
  static func joined<Kind>(
    _ a: Counter<Kind>.Share?, _ b: Counter<Kind>.Share
  ) -> Counter<Kind>.Share {
    guard let a, a.lastChange >= b.lastChange else { return b }
    return a
  }

  static func written(_ sum: Int64) -> Int64 { sum }
}

private enum Right: CounterKind {}

/// Adds what comes to what is here: a merge that comes twice counts twice.
private enum Adding: CounterKind {
  static func joined<Kind>(
    _ a: Counter<Kind>.Share?, _ b: Counter<Kind>.Share
  ) -> Counter<Kind>.Share {
    .init(
      sum: (a?.sum ?? 0) &+ b.sum, lastChange: max(a?.lastChange ?? 0, b.lastChange))
  }
}

/// Keeps the larger sum: a counter that went down goes up again.
private enum Largest: CounterKind {
  static func joined<Kind>(
    _ a: Counter<Kind>.Share?, _ b: Counter<Kind>.Share
  ) -> Counter<Kind>.Share {
    .init(
      sum: max(a?.sum ?? .min, b.sum), lastChange: max(a?.lastChange ?? 0, b.lastChange))
  }
}

/// Takes what comes, be it old.
private enum Forgetting: CounterKind {
  static func joined<Kind>(
    _ a: Counter<Kind>.Share?, _ b: Counter<Kind>.Share
  ) -> Counter<Kind>.Share { b }
}

/// Is saved without its sign.
private enum Unsigned: CounterKind {
  static func written(_ sum: Int64) -> Int64 { Int64(sum.magnitude) }
}

@Suite(.computing) struct `Laws for one's own types` {
  private func check<Kind>(_ counter: Counter<Kind>, _ seeds: ClosedRange<UInt64>) throws {
    try expectLaws(of: counter, seeds: seeds) { counter, replica, generator in
      let before = counter.value
      let amount = Int.random(in: -3...3, using: &generator)
      counter.add(amount, by: &replica)
      #expect(counter.value == before + amount)
    }
  }

  @Test func `hold for a counter that goes up and down`() throws {
    try check(Counter<Right>(), seeds(50))
  }

  /// Each in a few seeds.
  @Test func `fail for wrong counters, and tell the law and the seed`() throws {
    func expectBroken<Kind>(_ counter: Counter<Kind>, _ laws: [String]) {
      for seed in stride(from: UInt64(1), to: 50, by: 5) {
        do {
          try check(counter, seed...seed + 4)
          Issue.record("no law is broken by \(Kind.self), \(at(seed))")
        } catch let error as BrokenLaw {
          #expect((seed...seed + 4).contains(error.seed) && !error.values.isEmpty)
          #expect(laws.contains { error.law.hasPrefix($0) }, "\(Kind.self): \(error)")
        } catch { Issue.record(error) }
      }
    }
    expectBroken(
      Counter<Adding>(), ["merging", "changes", "all that have", "nothing with something"])
    expectBroken(Counter<Largest>(), ["merging", "changes", "all that have"])
    expectBroken(Counter<Forgetting>(), ["merging", "changes", "all that have", "what was joined"])
    expectBroken(Counter<Unsigned>(), ["a value comes out of its bytes", "changes"])
  }

  @Test func `hold for the types that there are`() throws {
    try expectLaws(of: ReplicatingSet<Int>(), seeds: seeds(10)) { set, replica, generator in
      let element = Int.random(in: 0..<5, using: &generator)
      if Bool.random(using: &generator) {
        set.insert(element, by: &replica)
      } else {
        set.remove(element, by: &replica)
      }
    }
    try expectLaws(of: ReplicatingRegister(""), seeds: seeds(10)) { title, replica, generator in
      let time = Int64.random(in: 0..<5, using: &generator)
      title.assign(["a", "b"].randomElement(using: &generator)!, at: time, by: &replica)
    }
    try expectLaws(of: ReplicatingText(), seeds: seeds(10)) { text, replica, generator in
      let place = Int.random(in: 0...text.count, using: &generator)
      text.insert("ab", at: place, by: &replica)
    }
  }
}
