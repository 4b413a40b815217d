import TestSupport
import Testing

@testable import ReplicatingTypes

/// A note of which much was edited by many.
private struct Leaf: Composed {
  var title = ReplicatingRegister("")
  var text = ReplicatingText()
  var tags = ReplicatingSet<String>()
  var priority = ReplicatingRegister(0)
  var shown = ReplicatingAddOnlySet<String>()
  var list = ReplicatingOrderedSet<String>()
  var notes = ReplicatingDictionary<String, ReplicatingSet<Int>>()
  static var parts: some PartsOf<Self> {
    Composition(\Self.title, \.text, \.tags, \.priority, \.shown, \.list, \.notes)
  }

  mutating func edit(by replica: inout Replica, _ generator: inout SplitMix64) {
    let letter = generator.pick(["a", "b", "c"])
    switch generator.below(10) {
    case 0: title.assign(letter, at: generator.pick([0, 5, 6]), by: &replica)
    case 1: tags.insert(letter, by: &replica)
    case 2: tags.remove(letter, by: &replica)
    case 3: shown.insert(letter, by: &replica)
    case 4: list.insert(letter, at: generator.below(list.count + 1), by: &replica)
    case 5: list.remove(letter, by: &replica)
    case 6:
      let number = generator.below(3)
      notes.update(letter, default: ReplicatingSet(), by: &replica) {
        $0.insert(number, by: &$1)
      }
    case 7: notes.remove(letter, by: &replica)
    case 8 where text.count > 1:
      let start = generator.below(text.count - 1)
      text.remove(start..<start + 1 + generator.below(2), by: &replica)
    default:
      let letters = [UInt8](letter.utf8)
      text.insert(letters.span, at: generator.below(text.count + 1), by: &replica)
    }
  }
}

@Suite(.computing) struct `What changes follow` {
  /// Changes reach values that lack much of what their authors had seen. Where they are taken all the same, the value must be what
  /// its version says: the same as any other of that version.
  @Test(.tags(.slow)) func `is enough for whoever has it`() throws {
    var taken = 0
    var refused = 0
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed)
      let authors = (1...UInt64(4 + generator.below(4))).map(Author.init)
      var values = authors.map { _ in Leaf() }
      // The bytes of the first value of each version.
      var known: [Version: [UInt8]] = [:]
      func expectKnown(_ value: Leaf, _ step: Int) {
        let bytes = value.encoded()
        #expect(known[value.version, default: bytes] == bytes, at(seed, step))
        known[value.version] = bytes
      }
      for step in 0..<120 {
        let index = generator.below(values.count)
        if generator.chance(50) {
          values[index].edit(by: &authors[index].replica, &generator)
        } else {
          // Of one value, since what another has, or two of them have, for a third.
          let other = generator.pick(values)
          var since = generator.pick(values).version
          if generator.chance(20) { since = since.intersection(generator.pick(values).version) }
          let bytes = other.changes(since: since).encoded()
          let changes = try Leaf.Changes(encoded: bytes)
          do {
            try values[index].apply(changes)
            taken += 1
            #expect(values[index].version.isSuperset(of: changes.version), at(seed, step))
          } catch {
            guard case .missing(let missing) = error else {
              Issue.record("\(error), \(at(seed, step))")
              continue
            }
            refused += 1
            #expect(!values[index].version.isSuperset(of: missing.needed), at(seed, step))
          }
        }
        expectKnown(values[index], step)
        // What is read again does not remember who was the last.
        if generator.chance(20) { values[index] = try Leaf(encoded: values[index].encoded()) }
      }
      var all = Leaf()
      for value in values { all = try joined(all, value) }
      for value in values { #expect(try joined(value, all) == all, at(seed)) }
      expectKnown(all, -1)
    }
    #expect(taken > 500 && refused > 500, "taken \(taken), refused \(refused)")
  }

  @Test func `does not grow with the replicas of the past`() throws {
    var generator = SplitMix64(seed: 1)
    var leaf = Leaf()
    var resumed = Leaf()
    var replica = Replica(id: generator.id())
    for launch in 0..<1000 {
      var next = Replica(id: generator.id())
      leaf = try Leaf(encoded: leaf.encoded())
      leaf.text.insert("ab".utf8.span, at: generator.below(leaf.text.count + 1), by: &next)
      if launch.isMultiple(of: 10) { leaf.tags.insert("\(launch)", by: &next) }
      let saved = try SavedReplica(encoded: replica.saved.encoded())
      replica = try Replica(resuming: saved, in: resumed.version)
      resumed.text.insert("ab".utf8.span, at: generator.below(2 * launch + 1), by: &replica)
    }
    var next = Replica(id: generator.id())
    var size = 0
    func measure(_ edit: (inout Leaf, inout Replica) -> Void) throws {
      var leaf = leaf
      let before = leaf
      edit(&leaf, &next)
      let bytes = leaf.changes(since: before.version).encoded()
      var other = before
      try other.apply(Leaf.Changes(encoded: bytes))
      #expect(other == leaf)
      size = bytes.count
    }
    try measure { $0.text.insert("x".utf8.span, at: 1000, by: &$1) }
    #expect(size < 130, "a keystroke: \(size) bytes")
    try measure { $0.text.remove(1000..<1001, by: &$1) }
    #expect(size < 130, "a deletion: \(size) bytes")
    try measure { $0.title.assign("a", at: 1, by: &$1) }
    #expect(size < 100, "a title: \(size) bytes")
    try measure { $0.tags.insert("a", by: &$1) }
    #expect(size < 100, "a tag: \(size) bytes")

    let text = leaf.text
    leaf.text.insert("x".utf8.span, at: 1000, by: &next)
    #expect(leaf.text.changes(since: text.version).encoded().count < 100)

    let before = resumed
    resumed.text.insert("x".utf8.span, at: 1000, by: &replica)
    let bytes = resumed.changes(since: before.version).encoded()
    #expect(bytes.count < 100, "a keystroke of a replica that was resumed: \(bytes.count) bytes")
    var other = before
    try other.apply(Leaf.Changes(encoded: bytes))
    #expect(other == resumed)
  }
}

@Suite struct `A replica that is resumed` {
  @Test func `is refused where something was restored`() throws {
    var replica = Replica(id: replicaID(1))
    var title = ReplicatingRegister("")
    title.assign("a", at: 1, by: &replica)
    let (saved, early) = (replica.saved, title)
    title.assign("b", at: 2, by: &replica)
    let later = replica.saved
    #expect(throws: ReplicaIsNotAsLeft(saved: 1, found: 2)) {
      _ = try Replica(resuming: saved, in: title.version)
    }
    #expect(throws: ReplicaIsNotAsLeft(saved: 2, found: 1)) {
      _ = try Replica(resuming: later, in: early.version)
    }
    var resumed = try Replica(resuming: later, in: title.version)
    title.assign("c", at: 3, by: &resumed)
    #expect(title.version[replicaID(1)] == 3)
    let isSeenBySaved = replica.isUsedElsewhere(in: title.version)
    let isSeenByResumed = resumed.isUsedElsewhere(in: title.version)
    #expect(isSeenBySaved && !isSeenByResumed)
  }

  @Test func `goes on in number and in logical time`() throws {
    var replica = Replica(id: replicaID(1))
    _ = replica.stamp(after: 41, ticks: 3)
    let saved = try SavedReplica(encoded: replica.saved.encoded())
    var version = Version()
    version[replicaID(1)] = 1
    var resumed = try Replica(resuming: saved, in: version)
    let stamp = resumed.stamp(after: 0)
    #expect(stamp.change.number == 2 && stamp.lamport == 45)
  }

  @Test func `is read from no other bytes`() throws {
    var replica = Replica(id: replicaID(1))
    _ = replica.stamp(after: 300)
    let bytes = replica.saved.encoded()
    for length in bytes.indices {
      #expect(throws: DecodingFailure.self) {
        try SavedReplica(encoded: Array(bytes[..<length]))
      }
    }
    for bit in 0..<8 * bytes.count {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      guard let saved = try? SavedReplica(encoded: damaged) else { continue }
      #expect(saved.encoded() == damaged)
    }
    #expect(throws: DecodingFailure.self) {
      try SavedReplica(encoded: [1] + [UInt8](repeating: 0, count: 16) + [5, 4])
    }
  }
}

extension SplitMix64 {
  fileprivate mutating func id() -> ReplicaID { ReplicaID(high: next(), low: next()) }
}
