import TestSupport
import Testing

@testable import ReplicatingTypes

private func expectLaws<Value: Checked>(
  _ empty: Value, seeds: ClosedRange<UInt64>,
  _ edit: (inout Value, Author, inout SplitMix64) -> Void
) throws {
  for seed in seeds {
    var (states, final, generator) = try history(empty, seed: seed, steps: 40, edit)
    for state in states + final { state.checkAll() }
    for _ in 0..<6 {
      let (a, b, c) = (
        generator.pick(states), generator.pick(states), generator.pick(states)
      )
      try expectLaws(a, b, c, empty: empty, at(seed))
    }
  }
}

@Suite struct `Replicating set` {
  let alice = Author(1)
  let bob = Author(2)

  @Test func `keeps the laws of merging in random histories`() throws {
    try expectLaws(ReplicatingSet<Int>(), seeds: seeds(60)) { set, author, generator in
      if generator.chance(55) {
        set.insert(generator.below(5), by: &author.replica)
      } else {
        set.remove(generator.below(5), by: &author.replica)
      }
    }
  }

  @Test func `S1: an addition wins over a concurrent removal`() {
    var a = ReplicatingSet<String>()
    a.insert("home", by: &alice.replica)
    var b = a
    a.remove("home", by: &alice.replica)
    a.insert("work", by: &alice.replica)
    a.remove("work", by: &alice.replica)
    b.insert("home", by: &bob.replica)
    #expect(a.merged(with: b).values == ["home"])
    #expect(a.merged(with: b) == b.merged(with: a))
  }

  @Test func `S2: what is added again after its removal is present`() {
    var a = ReplicatingSet<String>()
    a.insert("home", by: &alice.replica)
    var b = a
    b.remove("home", by: &bob.replica)
    a.merge(b)
    #expect(a.values.isEmpty)
    a.insert("home", by: &alice.replica)
    b.merge(a)
    #expect(b.values == ["home"])
    #expect(a.merged(with: b) == b)
  }

  @Test func `S3: a removal takes away only the addition that it saw`() {
    var (a, b) = (ReplicatingSet<String>(), ReplicatingSet<String>())
    a.insert("home", by: &alice.replica)
    b.insert("home", by: &bob.replica)
    var c = a
    c.remove("home", by: &Author(3).replica)
    for result in [
      a.merged(with: b).merged(with: c), c.merged(with: b).merged(with: a),
      b.merged(with: c).merged(with: a), a.merged(with: c).merged(with: b),
    ] {
      #expect(result.values == ["home"])
    }
  }

  @Test func `refuses changes that follow what is not here`() throws {
    var a = ReplicatingSet<Int>()
    a.insert(1, by: &alice.replica)
    let seen = a.version
    a.remove(1, by: &bob.replica)
    var empty = ReplicatingSet<Int>()
    #expect(throws: RefusedChanges.missing(MissingChanges(needed: seen))) {
      try empty.apply(a.changes(since: seen))
    }
    #expect(empty == ReplicatingSet<Int>())
  }
}

@Suite struct `Replicating register` {
  let alice = Author(1)
  let bob = Author(2)
  let carol = Author(3)
  /// The beginnings of 1970, 2026 and 2050.
  let times: [Int64] = [0, 1_767_225_600_000, 2_524_608_000_000]

  @Test func `keeps the laws of merging in random histories`() throws {
    try expectLaws(ReplicatingRegister(0), seeds: seeds(60)) { register, author, generator in
      let value = generator.below(1000)
      let clocks: [Int64] = [5, 5, 6, 7, -1, .max, .min, 7_258_118_399_999, 7_258_118_400_000]
      register.assign(value, at: generator.pick(clocks), by: &author.replica)
      #expect(register.value == value, "a later write wins over all that its author had seen")
    }
  }

  @Test func `R1: concurrent writes have one winner in every order`() throws {
    for time in times {
      for other in times {
        var (a, b, c) = (
          ReplicatingRegister(""), ReplicatingRegister(""), ReplicatingRegister("")
        )
        a.assign("a", at: time, by: &alice.replica)
        b.assign("b", at: other, by: &bob.replica)
        c.assign("c", at: time, by: &carol.replica)
        let results = [
          try a.merged(with: b).merged(with: c), try a.merged(with: c).merged(with: b),
          try b.merged(with: a).merged(with: c), try b.merged(with: c).merged(with: a),
          try c.merged(with: a).merged(with: b), try c.merged(with: b).merged(with: a),
        ]
        for result in results { #expect(result == results[0]) }
        if time != other { #expect((results[0].value == "b") == (other > time)) }
      }
    }
  }

  @Test func `R2: after a clock of 1970 or 2050, later edits win`() throws {
    for wrong in [times[0], times[2]] {
      var a = ReplicatingRegister("")
      a.assign("wrong clock", at: wrong, by: &alice.replica)
      var b = a
      b.assign("later", at: times[1], by: &bob.replica)
      for result in try [a.merged(with: b), b.merged(with: a)] { #expect(result.value == "later") }
      b.assign("last", at: times[1] + 1, by: &bob.replica)
      try a.merge(b)
      a.assign("very last", at: times[0], by: &alice.replica)
      for result in try [a.merged(with: b), b.merged(with: a)] {
        #expect(result.value == "very last")
      }
    }
  }

  @Test func `R3: assigning resolves`() throws {
    var (a, b) = (ReplicatingRegister(""), ReplicatingRegister(""))
    a.assign("a", at: times[1], by: &alice.replica)
    b.assign("b", at: times[1], by: &bob.replica)
    var c = try a.merged(with: b)
    c.assign("c", at: 0, by: &carol.replica)
    #expect(try c.merged(with: a).value == "c")
    #expect(try c.merged(with: b).value == "c")
    #expect(try a.merged(with: c) == c.merged(with: a))
  }

  @Test func `a clock outside of the years that count is that of 1970`() {
    let latest = ReplicatingRegister<String>.latestTime
    let register = ReplicatingRegister("")
    for (now, time) in [(0, 0), (-1, 0), (latest - 1, latest - 1), (latest, 0), (.max, 0)] {
      #expect(register.assignment(of: "x", at: now).time == time, "\(now)")
    }
  }

  @Test func `the last millisecond of all is no dead end`() throws {
    var a = ReplicatingRegister("")
    a.assign("a", at: ReplicatingRegister<String>.latestTime - 1, by: &alice.replica)
    for value in ["b", "c", "d"] {
      a.assign(value, at: times[1], by: &alice.replica)
      #expect(a.value == value)
    }
    var b = a
    b.assign("e", at: times[1], by: &bob.replica)
    #expect(try a.merged(with: b).value == "e")
    #expect(try b.merged(with: a).value == "e")
    #expect(throws: InvalidChange.self) {
      try ReplicatingRegister.validate(
        .init(value: "", time: ReplicatingRegister<String>.latestTime + 1))
    }
    #expect(throws: InvalidChange.self) {
      try ReplicatingRegister.validate(.init(value: "", time: -1))
    }
  }

  @Test func `refuses changes that follow what is not here`() throws {
    var a = ReplicatingRegister("")
    a.assign("a", at: 1, by: &alice.replica)
    let seen = a.version
    a.assign("a", at: 1, by: &alice.replica)
    var empty = ReplicatingRegister("")
    #expect(throws: RefusedChanges.missing(MissingChanges(needed: seen))) {
      try empty.apply(a.changes(since: seen))
    }
    #expect(empty == ReplicatingRegister(""))
    #expect(try empty.merged(with: a).value == "a", "never to be repaired")
  }
}

@Suite struct `Replicating ordered set` {
  private typealias Order = ReplicatingOrderedSet<String>
  let alice = Author(1)
  let bob = Author(2)
  let carol = Author(3)

  private func order(_ names: String...) -> Order {
    let author = Author(9)
    var order = Order()
    for (index, name) in names.enumerated() {
      order.insert(name, at: index, by: &author.replica)
    }
    return order
  }

  private func merged(_ values: Order...) -> [String] {
    var results: [Order] = []
    for first in values.indices {
      for step in 1..<values.count {
        var result = values[first]
        for index in 1..<values.count {
          let other = values[(first + index * step) % values.count]
          result = try! joinedWhole(result, other, Order())
        }
        for other in values { result = try! joinedWhole(result, other, Order()) }
        result.checkInvariants()
        results.append(result)
      }
    }
    for result in results { #expect(result == results[0]) }
    return results[0].values
  }

  private static func edit(
    _ order: inout ReplicatingOrderedSet<Int>, _ author: Author, _ generator: inout SplitMix64
  ) {
    let members = order.values
    switch generator.below(10) {
    case 0...3:
      let new = generator.below(8)
      let index = generator.below(members.count + 1)
      let others = members.filter { $0 != new }
      order.insert(new, at: min(index, others.count), by: &author.replica)
      var expected = others
      expected.insert(new, at: min(index, others.count))
      #expect(order.values == expected)
    case 4...7:
      guard let moved = members.randomElement(using: &generator) else { return }
      var expected = members.filter { $0 != moved }
      let index = generator.below(members.count)
      order.move(moved, to: index, by: &author.replica)
      expected.insert(moved, at: index)
      #expect(order.values == expected)
    default:
      guard let removed = members.randomElement(using: &generator) else { return }
      order.remove(removed, by: &author.replica)
      #expect(order.values == members.filter { $0 != removed })
    }
    order.checkInvariants()
  }

  @Test func `keeps the laws of merging in random histories`() throws {
    for seed in seeds(40) {
      let empty = ReplicatingOrderedSet<Int>()
      var (states, final, generator) = try history(empty, seed: seed, steps: 40, Self.edit)
      for state in states + final {
        state.checkInvariants()
        #expect(Set(state.values).count == state.values.count, at(seed))
        #expect(state.values.count == state.count, at(seed))
      }
      for _ in 0..<4 {
        let (a, b, c) = (
          generator.pick(states), generator.pick(states), generator.pick(states)
        )
        try expectLaws(a, b, c, empty: empty, at(seed)) { a, b throws(RefusedChanges) in
          try joinedWhole(a, b, empty)
        }
      }
    }
  }

  /// What is removed leaves no piece in the way of those that stay: inserted anew it is one with its neighbours again.
  @Test func `finds places as before where much was removed`() throws {
    let author = Author(1)
    var order = ReplicatingOrderedSet<Int>()
    var expected = Array(0..<400)
    for number in expected { order.insert(number, at: number, by: &author.replica) }
    for number in stride(from: 0, to: 400, by: 2) { order.remove(number, by: &author.replica) }
    expected.removeAll { $0.isMultiple(of: 2) }
    var generator = SplitMix64(seed: 1)
    for step in 0..<400 {
      let number = generator.below(400)
      let index = generator.below(expected.count + 1)
      if number.isMultiple(of: 2), expected.contains(number), step.isMultiple(of: 3) {
        order.remove(number, by: &author.replica)
        expected.removeAll { $0 == number }
      } else {
        expected.removeAll { $0 == number }
        order.insert(number, at: index, by: &author.replica)
        expected.insert(number, at: min(index, expected.count))
      }
      #expect(order.values == expected)
    }
    order.checkInvariants()
    let decoded = try ReplicatingOrderedSet<Int>(encoded: order.encoded())
    #expect(decoded == order && decoded.values == expected)
    decoded.checkInvariants()
  }

  @Test func `merges with what another replica did later in both of its parts`() throws {
    let first = order("a", "b")
    let author = Author(8)
    var a = first
    a.move("a", to: 1, by: &author.replica)
    a.remove("b", by: &author.replica)
    var b = a
    b.move("a", to: 0, by: &author.replica)
    // `merge` traps here.
    let both = try joined(a, b)
    #expect(both == b)
  }

  @Test func `M1: concurrent moves of one element leave one copy, at one of the two places`() {
    let base = order("x", "1", "2", "3")
    var (a, b) = (base, base)
    a.move("x", to: 1, by: &alice.replica)
    b.move("x", to: 3, by: &bob.replica)
    #expect(merged(a, b) == ["1", "2", "3", "x"])
    b.move("x", to: 2, by: &bob.replica)
    #expect(merged(a, b) == ["1", "2", "x", "3"])
  }

  @Test func `M2: what is inserted beside the old place of a moved element stays there`() {
    let base = order("1", "x", "2", "3")
    var (a, b) = (base, base)
    a.move("x", to: 3, by: &alice.replica)
    b.insert("y", at: 1, by: &bob.replica)
    b.insert("z", at: 3, by: &bob.replica)
    #expect(merged(a, b) == ["1", "y", "z", "2", "3", "x"])
  }

  @Test func `a move never brings back what was removed`() {
    let base = order("1", "x", "2")
    var (a, b) = (base, base)
    a.move("x", to: 2, by: &alice.replica)
    b.remove("x", by: &bob.replica)
    #expect(merged(a, b) == ["1", "2"])
  }

  @Test func `an addition wins over a concurrent removal, and stands at its new place`() {
    let base = order("1", "x", "2")
    var (a, b) = (base, base)
    a.remove("x", by: &alice.replica)
    a.insert("x", at: 0, by: &alice.replica)
    b.remove("x", by: &bob.replica)
    #expect(merged(a, b) == ["x", "1", "2"])
  }

  @Test func `three moves of one element lose nothing, whoever saw which`() {
    let base = order("N", "1", "2", "3")
    var (a, b) = (base, base)
    a.move("N", to: 1, by: &alice.replica)
    b.move("N", to: 2, by: &bob.replica)
    let c = a.merged(with: b)
    a.move("N", to: 3, by: &alice.replica)
    let second = a.merged(with: b)
    #expect(merged(a, b, c, second) == ["1", "2", "3", "N"])
  }

  @Test func `what two replicas put at one place is not mixed`() {
    let base = order("first", "last")
    var (a, b) = (base, base)
    for (index, name) in ["a1", "a2", "a3"].enumerated() {
      a.insert(name, at: 1 + index, by: &alice.replica)
    }
    for name in ["b3", "b2", "b1"] { b.insert(name, at: 1, by: &bob.replica) }
    #expect(
      [["b1", "b2", "b3", "a1", "a2", "a3"], ["a1", "a2", "a3", "b1", "b2", "b3"]]
        .map { ["first"] + $0 + ["last"] }.contains(merged(a, b)))
  }
}
