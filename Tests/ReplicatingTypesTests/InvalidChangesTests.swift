import Testing

@testable import ReplicatingTypes

/// Changes that no honest author can have made: refused, with the reason, and nothing of them taken.
@Suite struct `Invalid changes` {
  private typealias Set = ReplicatingSet<String>
  private typealias Sets = ReplicatingDictionary<String, ReplicatingSet<Int>>
  private typealias Registers = ReplicatingDictionary<String, ReplicatingRegister<String>>
  let alice = Author(1)
  let bob = Author(2)
  let mallory = Author(666)

  private func expectRefusal<Value: Replicable>(
    of changes: Value.Changes, by value: Value, _ reason: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var result = value
    #expect(
      throws: RefusedChanges.invalid(InvalidChange(reason)), sourceLocation: sourceLocation
    ) { try result.apply(changes) }
    #expect(result == value, sourceLocation: sourceLocation)
  }

  /// What `edit` makes of changes that are in order.
  private func altered<Value: Replicable>(
    _ value: Value, since version: Version = Version(), _ edit: (inout Value.Changes) -> Void
  ) -> Value.Changes {
    var changes = value.changes(since: version)
    edit(&changes)
    return changes
  }

  private func version(_ author: Author, _ number: UInt64) -> Version {
    var version = Version()
    version[author.replica.id] = number
    return version
  }

  private func change(_ author: Author, _ number: UInt64) -> ChangeID {
    ChangeID(replica: author.replica.id, number: number)
  }

  // MARK: - Registers

  @Test func `of a register`() {
    let empty = ReplicatingRegister("")
    var a = empty
    a.assign("a", at: 5, by: &alice.replica)
    let time = "a time outside the years 1970 to 2200"
    for wrong in [-1, .min, .max, ReplicatingRegister<String>.latestTime + 1] {
      expectRefusal(of: altered(a) { $0.winner!.0.time = wrong }, by: empty, time)
    }
    let beyond = "a change beyond those promised"
    expectRefusal(of: altered(a) { $0.version = Version() }, by: empty, beyond)
    expectRefusal(of: altered(a) { $0.winner!.1.change.number = 2 }, by: empty, beyond)
    expectRefusal(of: altered(a) { $0.winner!.1.change.number = 0 }, by: empty, beyond)
    expectRefusal(
      of: altered(a) { $0.since = a.version }, by: a, "a change that was known before")
    expectRefusal(
      of: altered(a) { ($0.since, $0.version) = (a.version, Version()) }, by: a,
      "changes that end before they begin")
    expectRefusal(
      of: altered(a) { $0.winner = nil }, by: empty,
      "a register that was written, without what was")
    let other = "a write other than was known by its name"
    expectRefusal(of: altered(a) { $0.winner!.0.value = "b" }, by: a, other)
    expectRefusal(of: altered(a) { $0.winner!.0.time = 6 }, by: a, other)
    var b = a
    b.assign("b", at: 5, by: &bob.replica)
    // It lost, and now it pretends to have been later.
    expectRefusal(of: altered(a) { $0.winner!.0.time = 9 }, by: b, other)
  }

  // MARK: - Sets

  @Test func `of an add-only set`() {
    let empty = ReplicatingAddOnlySet<String>()
    var a = empty
    a.insert("a", by: &alice.replica)
    let beyond = "a change beyond those promised"
    expectRefusal(of: altered(a) { $0.version = Version() }, by: empty, beyond)
    expectRefusal(of: altered(a) { $0.additions[0].1.number = 0 }, by: empty, beyond)
    expectRefusal(
      of: altered(a) { $0.since = a.version }, by: a, "a change that was known before")
    expectRefusal(
      of: altered(a) { $0.additions += $0.additions }, by: empty, "an element twice")
    expectRefusal(
      of: altered(a) { ($0.since, $0.version, $0.additions) = (a.version, Version(), []) }, by: a,
      "changes that end before they begin")
  }

  @Test func `of a set`() {
    let empty = Set()
    var a = empty
    a.insert("a", by: &alice.replica)
    let first = a.version
    a.insert("b", by: &alice.replica)
    a.remove("a", by: &alice.replica)
    let beyond = "a change beyond those promised"
    expectRefusal(of: altered(a) { $0.version = first }, by: empty, beyond)
    expectRefusal(of: altered(a) { $0.removals[0].change.number = 4 }, by: empty, beyond)
    let known = "a change that was known before"
    expectRefusal(of: altered(a) { $0.since = a.version }, by: a, known)
    expectRefusal(
      of: altered(a, since: first) { $0.removals[0].change.number = 1 }, by: a, known)
    expectRefusal(
      of: altered(a) { $0.additions += $0.additions }, by: empty, "an addition twice")
    let unknown = "a removal of what its author could not know"
    for observed in [change(bob, 1), change(alice, 0), change(alice, 3), change(alice, 4)] {
      expectRefusal(of: altered(a) { $0.removals[0].observed = [observed] }, by: empty, unknown)
    }
    let nothing = "a removal of nothing, or of something twice"
    expectRefusal(of: altered(a) { $0.removals[0].observed = [] }, by: empty, nothing)
    expectRefusal(
      of: altered(a) { $0.removals[0].observed += $0.removals[0].observed }, by: empty, nothing)
    expectRefusal(
      of: altered(a) { $0.additions.append(("a", self.change(alice, 1))) }, by: empty,
      "an addition that stands although it was removed")
    a.remove("b", by: &alice.replica)
    expectRefusal(of: altered(a) { $0.removals.reverse() }, by: empty, "removals out of order")
    expectRefusal(
      of: altered(empty) { $0.lamport = 1 }, by: empty, "a logical time before the first change")
  }

  // MARK: - Dictionaries

  private func sets() -> Sets {
    var sets = Sets()
    for key in ["a", "b"] {
      sets.update(key, default: ReplicatingSet(), by: &alice.replica) { $0.insert(1, by: &$1) }
    }
    return sets
  }

  @Test func `of the parts of a dictionary`() throws {
    let (a, empty) = (sets(), Sets())
    expectRefusal(of: altered(a) { $0.parts += $0.parts }, by: empty, "a key twice")
    let foreign = "changes of a value that are none of the dictionary"
    expectRefusal(of: altered(a) { $0.version = Version() }, by: empty, foreign)
    func adding(_ additions: Version) -> Sets.Changes {
      altered(a) {
        guard case .value(let value, _) = $0.parts[0].part else { return }
        $0.parts[0].part = .value(value, additions: additions)
      }
    }
    expectRefusal(of: adding(version(bob, 1)), by: empty, foreign)
    expectRefusal(of: adding(Version()), by: empty, "a value that nobody put there")
    expectRefusal(
      of: altered(a) {
        guard case .value(let value, _) = $0.parts[0].part else { return }
        $0.parts[0].part = .changes(value.changes(since: Version()))
      }, by: empty, "changes of a value that is not here")
    // Changes of a value that is known.
    func changing(_ alter: (inout ReplicatingSet<Int>.Changes) -> Void) -> Sets.Changes {
      var next = a
      next.update("a", default: ReplicatingSet(), by: &alice.replica) { $0.insert(2, by: &$1) }
      var changes = next.changes(since: a.version)
      guard case .changes(var part) = changes.parts[0].part else {
        Issue.record("a whole value, where changes are enough")
        return changes
      }
      alter(&part)
      changes.parts[0].part = .changes(part)
      return changes
    }
    expectRefusal(of: changing { $0.since = self.version(bob, 1) }, by: a, foreign)
    expectRefusal(of: changing { $0.version[bob.replica.id] = 1 }, by: a, foreign)
    expectRefusal(
      of: changing {
        ($0.since, $0.version, $0.additions, $0.lamport) = (Version(), Version(), [], 0)
      }, by: a, "a value without a change")
    expectRefusal(
      of: altered(a) { ($0.since, $0.parts) = ($0.version, $0.parts) }, by: a,
      "a value without a change")
    // What is wrong in a part is found by the part.
    expectRefusal(
      of: changing { $0.additions[0].1.number = 9 }, by: a, "a change beyond those promised")

    var settings = Registers()
    settings.update("a", default: ReplicatingRegister(""), by: &alice.replica) {
      $0.assign("x", at: 5, by: &$1)
    }
    expectRefusal(
      of: altered(settings) {
        $0.parts[0].part = .value(ReplicatingRegister("other"), additions: $0.version)
      }, by: settings,
      """
      a register that began with other, where this one began with . A first value that replicas don't agree on is written: \
      ReplicatingRegister(value, at: now, by: &replica)
      """)
    var late = ReplicatingRegister("")
    late.apply(
      .init(value: "x", time: 5),
      Stamp(change: ChangeID(replica: alice.replica.id, number: 1), lamport: 1 << 40 + 1))
    expectRefusal(
      of: altered(settings) { $0.parts[0].part = .value(late, additions: $0.version) },
      by: Registers(), "a logical time of 1099511627777, where 0 is the latest known")
  }

  @Test func `of the removals of a dictionary`() {
    var a = sets()
    let (before, empty) = (a, Sets())
    a.remove("a", by: &alice.replica)
    expectRefusal(
      of: altered(a) { $0.removals[0].1.change.number = 4 }, by: empty,
      "a change beyond those promised")
    let second = Sets.Removal(change: change(alice, 2), covered: version(alice, 1))
    expectRefusal(
      of: altered(a) { $0.removals.append(("a", second)) }, by: empty, "removals out of order")
    expectRefusal(
      of: altered(a) {
        $0.version.insert(self.change(bob, 1))
        $0.removals.append(
          ("a", .init(change: self.change(bob, 1), covered: self.version(alice, 1))))
      }, by: empty, "a removal beside one that says more")
    let unknown = "a removal of what its author could not know"
    for covered in [Version(), version(alice, 2), version(bob, 1)] {
      expectRefusal(of: altered(a) { $0.removals[0].1.covered = covered }, by: empty, unknown)
      expectRefusal(
        of: altered(a, since: before.version) { $0.removals[0].1.covered = covered }, by: before,
        unknown)
    }
    expectRefusal(of: altered(a) { $0.removals[0].0 = "nobody used it" }, by: empty, unknown)
    expectRefusal(
      of: altered(a) { $0.since = self.version(alice, 3) }, by: a, "a value without a change")
    expectRefusal(
      of: altered(a, since: before.version) { $0.since = self.version(alice, 3) }, by: a,
      "a change that was known before")
  }

  @Test func `of one who has forgotten what it removed`() {
    // Bob and Carol change a value; Mallory removes what Bob did, and later what Carol did, but not what Bob did.
    let carol = Author(3)
    var a = Sets()
    a.update("a", default: ReplicatingSet(), by: &bob.replica) { $0.insert(1, by: &$1) }
    a.update("a", default: ReplicatingSet(), by: &carol.replica) { $0.insert(2, by: &$1) }
    var changes = a.changes(since: a.version)
    (changes.since, changes.version) = (a.version, a.version)
    changes.version.merge(version(mallory, 1))
    changes.removals = [("a", .init(change: change(mallory, 1), covered: version(bob, 1)))]
    a.join(changes)
    changes.since = a.version
    changes.version.merge(version(mallory, 2))
    changes.removals = [("a", .init(change: change(mallory, 2), covered: version(carol, 1)))]
    expectRefusal(of: changes, by: a, "a removal by one who has forgotten another")
  }

  @Test func `of a text in a dictionary whose beginning is missing`() {
    typealias Texts = ReplicatingDictionary<Int, ReplicatingText>
    var (a, b) = (Texts(), Texts())
    for text in ["one", "two"] {
      a.update(0, default: ReplicatingText(), by: &alice.replica) {
        $0.insert(Array(text.utf8).span, at: $0.count, by: &$1)
      }
    }
    // Bob has seen Alice's first change, but it was another one.
    b.update(1, default: ReplicatingText(), by: &Author(1).replica) {
      $0.insert([33].span, at: 0, by: &$1)
    }
    let changes = a.changes(since: b.version)
    var result = b
    #expect(throws: RefusedChanges.self) { try result.apply(changes) }
    #expect(result == b)
  }

  // MARK: - Ordered sets

  @Test func `of an ordered set`() {
    typealias Order = ReplicatingOrderedSet<String>
    let empty = Order()
    var a = empty
    a.insert("a", at: 0, by: &alice.replica)
    var removing = ReplicatingArray<String>()
    removing.insert(contentsOf: ["a", "b"], at: 0, by: &mallory.replica)
    removing.remove(0..<1, by: &mallory.replica)
    expectRefusal(
      of: altered(a) { $0.slots = ReplicatingArray<String>().changes(since: Version()) },
      by: empty, "a member without a place")
    expectRefusal(
      of: altered(a) { $0.slots = removing.changes(since: Version()) }, by: empty,
      "a slot that is removed")
    expectRefusal(
      of: altered(a) { $0.members.additions[0].1.number = 2 }, by: empty,
      "a change beyond those promised")
    expectRefusal(
      of: altered(a) { $0.slots.since = self.version(alice, 1) }, by: a,
      "changes of a part that follow more than the whole")
    // A slot that is known already, said to hold something else.
    var b = empty
    b.insert("b", at: 0, by: &mallory.replica)
    var known = a.changes(since: Version()).slots
    known.content = ["b"]
    expectRefusal(of: altered(b) { $0.slots = known }, by: a, "a member without a place")
    var bytes = ByteWriter()
    bytes.format(1)
    removing.encode(into: &bytes)
    ReplicatingSet<String>().encode(into: &bytes)
    let encoded = bytes.bytes
    #expect(throws: DecodingFailure.self) { try Order(encoded: encoded) }
  }

  // MARK: - Logical time

  @Test func `a logical time at the end of the numbers spreads to nobody`() throws {
    let far = LamportTimestamp.largestStep
    for wrong in [far + 2, far * 2, 1 << 62, 1 << 63, .max] {
      var a = Set()
      a.insert("a", by: &alice.replica)
      let lamport = a.changes(since: Version()).lamport
      var register = ReplicatingRegister("")
      register.assign("a", at: 5, by: &bob.replica)
      let wrong = max(wrong, lamport + far + 1)
      let changes = altered(a) { $0.lamport = wrong }
      expectRefusal(
        of: changes, by: a, "a logical time of \(wrong), where \(lamport) is the latest known")
      expectRefusal(
        of: altered(register) { $0.winner!.1.lamport = wrong }, by: ReplicatingRegister(""),
        "a logical time of \(wrong), where 0 is the latest known")
      if wrong > 1 << 62 {
        #expect(throws: DecodingFailure.self) { try Set.Changes(encoded: changes.encoded()) }
      } else {
        // The bytes are in order. Whoever took it before must be able to read what it wrote.
        let decoded = try Set.Changes(encoded: changes.encoded())
        #expect(decoded.lamport == wrong)
      }
    }
  }

  @Test func `what a value has is read again, however late it is`() throws {
    // Pushed forward as far as is believed, again and again.
    var a = Set()
    a.insert("a", by: &alice.replica)
    var register = ReplicatingRegister("")
    register.assign("a", at: 5, by: &alice.replica)
    for step in 1...20 as ClosedRange<UInt64> {
      let pushed = altered(a) { $0.lamport += LamportTimestamp.largestStep }
      try a.apply(pushed)
      a.insert("\(step)", by: &alice.replica)
      let late = Stamp(
        change: change(mallory, step), lamport: step * LamportTimestamp.largestStep)
      register.apply(.init(value: "\(step)", time: 5), late)
      register.assign("after \(step)", at: 5, by: &bob.replica)
      #expect(register.value == "after \(step)")
    }
    let decoded = try Set(encoded: a.encoded())
    #expect(decoded == a && a.count == 21)
    let decodedRegister = try ReplicatingRegister<String>(encoded: register.encoded())
    #expect(decodedRegister == register)
  }

  @Test func `a replica's stamps go on whatever it is told`() {
    var replica = Replica(id: replicaID(1))
    var last = replica.stamp(after: 0)
    for seen in [0, 5, 1 << 40, 1 << 62, 1 << 63, .max, .max] as [UInt64] {
      for ticks in [0, 1, 1 << 62, .max] as [UInt64] {
        let next = replica.stamp(after: seen, ticks: ticks)
        #expect(next.change.number == last.change.number + 1)
        #expect(next.lamport >= last.lamport)
        last = next
      }
    }
  }
}
