import ReplicatingTypes
import TestSupport
import Testing

/// Takes no bytes.
private struct Nothing: BinaryCodable {
  init() {}
  init(from reader: inout ByteReader) throws(DecodingFailure) {}
  func encode(into writer: inout ByteWriter) {}
}

@Suite struct `Values that become others` {
  @Test func `an array becomes what it is told`() {
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed)
      let author = Author(1)
      var array = ReplicatingArray<Int>()
      for step in 0..<12 {
        let new = (0..<generator.below(12)).map { _ in generator.below(5) }
        array.become(new, by: &author.replica)
        #expect(Array(array) == new, at(seed, step))
        let version = array.version
        array.become(new, by: &author.replica)
        #expect(array.version == version, at(seed, step))
      }
      array.checkInvariants()
    }
  }

  /// No more is touched than has to be, so what another inserts beside something that stays is there afterwards, beside it.
  @Test func `what stays in an array is not touched`() throws {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      let (alice, bob) = (Author(1), Author(2))
      var a = ReplicatingArray<Int>()
      a.append(contentsOf: 0..<20, by: &alice.replica)
      var b = a
      let kept = generator.below(20)
      let new = (0..<20).flatMap { number -> [Int] in
        if number == kept || generator.chance(50) { return [number] }
        return generator.chance(50) ? [] : [number + 100, number + 200]
      }
      a.become(new, by: &alice.replica)
      #expect(Array(a) == new, at(seed))
      b.insert(-1, at: kept + 1, by: &bob.replica)
      try a.apply(b.changes(since: a.version))
      let place = try #require(a.firstIndex(of: kept))
      #expect(a[place...].contains(-1), at(seed))
      #expect(a.filter { $0 != -1 } == new, at(seed))
    }
  }

  @Test func `where too much differs, what an array begins and ends with stays`() throws {
    let (alice, bob) = (Author(1), Author(2))
    var a = ReplicatingArray<Int>()
    a.append(contentsOf: 0..<6_000, by: &alice.replica)
    var b = a
    a.become([0] + (10_000..<16_000) + [5_999], by: &alice.replica)
    #expect(a.count == 6_002 && a.first == 0 && a.last == 5_999)
    b.insert(-1, at: 6_000, by: &bob.replica)
    try a.apply(b.changes(since: a.version))
    #expect(a[6_001] == 5_999 && a[6_002] == -1)
  }

  @Test func `an array is edited element by element`() {
    for seed in seeds(20) {
      var generator = SplitMix64(seed: seed)
      let author = Author(1)
      var array = ReplicatingArray<Int>()
      var expected: [Int] = []
      for step in 0..<80 {
        let place = generator.below(expected.count + 1)
        if place < expected.count, generator.chance(40) {
          #expect(array.remove(at: place, by: &author.replica) == expected.remove(at: place))
        } else {
          array.insert(step, at: place, by: &author.replica)
          expected.insert(step, at: place)
        }
        #expect(array.values == expected, at(seed, step))
      }
      array.removeAll(by: &author.replica)
      #expect(array.isEmpty, at(seed))
    }
  }

  @Test func `an ordered set loses the element at a position`() {
    let author = Author(1)
    var order = ReplicatingOrderedSet<String>()
    for name in ["a", "b", "c"] { order.append(name, by: &author.replica) }
    order.move("c", to: 0, by: &author.replica)
    #expect(order.remove(at: 1, by: &author.replica) == "a")
    #expect(order.values == ["c", "b"])
    #expect(order.lastIndex(of: "c") == 0 && order.lastIndex(of: "a") == nil)
  }

  /// Setting all tags anew would undo what somebody else removes at the same time.
  @Test func `a set becomes another by what differs`() throws {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      let (alice, bob) = (Author(1), Author(2))
      var a = ReplicatingSet<Int>()
      func some() -> Set<Int> { Set((0..<generator.below(6)).map { _ in generator.below(8) }) }
      for step in 0..<10 {
        let (old, new, others) = (a.values, some(), some())
        var b = a
        a.become(new, by: &alice.replica)
        b.become(others, by: &bob.replica)
        #expect(a.values == new && b.values == others, at(seed, step))
        let version = a.version
        a.become(new, by: &alice.replica)
        #expect(a.version == version, at(seed, step))
        try a.apply(b.changes(since: a.version))
        let kept = old.intersection(new).intersection(others)
        let added = new.union(others).subtracting(old)
        #expect(a.values == kept.union(added), at(seed, step))
      }
    }
  }

  // MARK: - Values that are read

  @Test func `a few bytes can't promise many elements`() {
    #expect(throws: DecodingFailure.self) { try [Nothing](encoded: [0xFF, 0xFF, 0xFF, 0xFF, 7]) }
    #expect(throws: DecodingFailure.self) { try [Int](encoded: [0xFF, 0xFF, 0xFF, 0xFF, 7, 1]) }
  }

  @Test func `damaged values are an error or another value, and never a trap`() throws {
    let value: [Double?] = [1.5, nil, -2]
    let bytes = value.encoded()
    for count in bytes.indices {
      #expect(throws: DecodingFailure.self) { try [Double?](encoded: Array(bytes[..<count])) }
    }
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      if let other = try? [Double?](encoded: damaged) { #expect(other.encoded() == damaged) }
    }
    for seed in seeds(200) {
      var generator = SplitMix64(seed: seed)
      let bytes = generator.bytes(generator.below(12))
      if let value = try? [String?](encoded: bytes) { #expect(value.encoded() == bytes, at(seed)) }
    }
  }
}
