import TestSupport
import Testing

@testable import ReplicatingTypes

// Changes are joined into an empty sequence by a list, and one by one in any other. Here both are done, and what comes of
// them is held against each other.

extension ReplicatingArray {
  /// Joins as into a sequence that is not empty.
  fileprivate mutating func joinOneByOne(_ changes: Changes) {
    settle()
    var names = Names(changes.authors.count)
    var index = Changes.StepIndex()
    join(changes, from: &index, &names)
  }

  /// Joins by a list, however few changes there are; returns how many were.
  fileprivate mutating func joinByList(_ changes: Changes) -> Changes.StepIndex {
    settle()
    var names = Names(changes.authors.count)
    let made = loadByList(changes, &names)
    var index = made
    join(changes, from: &index, &names)
    return made
  }

  fileprivate func isAll(_ made: Changes.StepIndex, of changes: Changes) -> Bool {
    made.insertions == changes.insertions.count && made.removals == changes.removals.count
      && made.elements == changes.content.count
  }
}

extension Piece {
  fileprivate var elements: [LocalID] { (offset..<end).map { LocalID(author, $0) } }
}

private let nodeSizes = [(4, 2, 3), (4, 4, 5), (6, 3, 7), (64, 128, 2047)].map {
  PieceNodes.Sizes(leaf: $0.0, block: $0.1, piece: UInt32($0.2))
}

/// An element in which every byte is one now and then.
private protocol Countable: Hashable, Sendable, BinaryCodable {
  init(truncatingIfNeeded number: UInt64)
}

extension UInt8: Countable {}
extension Int: Countable {}

private func elements<Element: Countable>(
  _ count: Int, _ generator: inout SplitMix64
) -> [Element] {
  // White space and letters are most of them: they have different ranks at one place.
  (0..<count).map { _ in
    let number = generator.next() >> 56
    let few: [UInt64] = [0x20, 0x0A, 0x0D, 0x61, 0x62]
    return Element(truncatingIfNeeded: number < 150 ? few[Int(number % 5)] : number)
  }
}

private func edit<Element: Countable>(
  _ array: inout ReplicatingArray<Element>, _ author: Author, _ generator: inout SplitMix64
) {
  // Some places are chosen by all.
  var place =
    generator.chance(40)
    ? generator.pick([0, array.count / 2, array.count]) : generator.below(array.count + 1)
  switch generator.below(6) {
  case 0, 1:
    let step = generator.below(2)
    for _ in 0..<1 + generator.below(6) {
      array.insert(contentsOf: elements(1, &generator), at: place, by: &author.replica)
      place += step
    }
  case 2:
    let new: [Element] = elements(2 + generator.below(8), &generator)
    array.insert(contentsOf: new, at: place, by: &author.replica)
  case 3:
    let end = min(place + generator.below(9), array.count)
    array.remove(place..<end, by: &author.replica)
  case 4:
    for _ in 0..<1 + generator.below(4) where place > 0 {
      array.remove(place - 1..<place, by: &author.replica)
      place -= 1
    }
  default:
    for _ in 0..<1 + generator.below(4) where place < array.count {
      array.remove(place..<place + 1, by: &author.replica)
    }
  }
}

private func expectSame<Element: Countable>(
  _ a: ReplicatingArray<Element>, _ b: ReplicatingArray<Element>, _ comment: Comment
) {
  a.checkInvariants()
  b.checkInvariants()
  #expect(a == b, comment)
  #expect(a.values == b.values && a.count == b.count, comment)
  #expect(a.version == b.version && a.lamport == b.lamport, comment)
  #expect(a.latest.replicas == b.latest.replicas, comment)
  #expect(a.joined.version == b.joined.version, comment)
  #expect(a.isContested == b.isContested && a.isConcurrent == b.isConcurrent, comment)
  #expect(a.hasWithdrawals == b.hasWithdrawals, comment)
  #expect(a.spared == b.spared && a.withdrawn == b.withdrawn, comment)
  #expect(a.encoded() == b.encoded(), comment)
  #expect(
    a.changes(since: Version()).encoded() == b.changes(since: Version()).encoded(), comment)
}

/// Joins changes in both ways, and goes on with both values. Returns whether all were joined by a list.
private func expectSameLoaded<Element: Countable>(
  _ changes: ReplicatingArray<Element>.Changes, into empty: ReplicatingArray<Element>,
  then others: [ReplicatingArray<Element>], _ seed: UInt64
) -> Bool {
  var (loaded, joined) = (empty, empty)
  let made = loaded.joinByList(changes)
  joined.joinOneByOne(changes)
  expectSame(loaded, joined, at(seed))
  var generators = (SplitMix64(seed: seed), SplitMix64(seed: seed))
  let authors = (Author(77), Author(77))
  for (step, other) in others.enumerated() {
    edit(&loaded, authors.0, &generators.0)
    edit(&joined, authors.1, &generators.1)
    expectSame(loaded, joined, at(seed, step))
    loaded.join(other.changes(since: loaded.version))
    joined.join(other.changes(since: joined.version))
    expectSame(loaded, joined, at(seed, step))
    #expect(
      loaded.changes(since: other.version).encoded()
        == joined.changes(since: other.version).encoded(), at(seed, step))
  }
  return loaded.isAll(made, of: changes)
}

private func expectSameInHistories<Element: Countable>(
  of: Element.Type, _ seeds: ClosedRange<UInt64>
) throws {
  var (joined, loaded) = (0, 0)
  for seed in seeds {
    let empty = ReplicatingArray<Element>(nodeSizes: nodeSizes[Int(seed % 4)])
    var (states, final, generator) = try history(empty, seed: seed, steps: 60, edit)
    states += final
    for _ in 0..<4 {
      let changes = generator.pick(states).changes(since: Version())
      if changes.insertions.isEmpty { continue }
      let others = (0..<3).map { _ in generator.pick(states) }
      let decoded = try ReplicatingArray<Element>.Changes(encoded: changes.encoded())
      for changes in [changes, decoded] {
        joined += 1
        if expectSameLoaded(changes, into: empty, then: others, seed) { loaded += 1 }
      }
    }
  }
  #expect(loaded * 100 >= joined * 95, "only \(loaded) of \(joined) were joined by a list alone")
}

@Suite struct `Joining into an empty sequence` {
  @Test func `gives what joining one by one gives, and goes on alike, in random histories`()
    throws
  {
    try expectSameInHistories(of: UInt8.self, seeds(40))
    try expectSameInHistories(of: Int.self, seeds(40))
  }

  @Test func `is by a list where there are many changes, as others join them`() throws {
    for seed in seeds(4) {
      let empty = ReplicatingArray<UInt8>(nodeSizes: nodeSizes[Int(seed % 4)])
      let (_, final, _) = try history(empty, seed: seed, steps: 300, edit)
      let changes = final[0].changes(since: Version())
      #expect(changes.areWorthLoading, at(seed))
      var (merged, joined) = (empty, empty)
      merged.merge(final[0])
      #expect(!merged.isIndexed, at(seed))
      joined.joinOneByOne(changes)
      #expect(joined.isIndexed, at(seed))
      expectSame(merged, joined, at(seed))
    }
  }

  @Test func `is by a list after changes that concern other values`() throws {
    let author = Author(1)
    for _ in 0..<5 { _ = author.replica.stamp(after: 0) }
    var array = ReplicatingArray<Int>()
    var seen = ReplicatingArray<Int>()
    let stamp = author.replica.stamp(after: 0)
    for index in [0, 1] {
      let note = ReplicatingArray<Int>.Operation.insert([], after: nil, before: nil)
      if index == 0 { array.apply(note, stamp) } else { seen.apply(note, stamp) }
    }
    array.insert(contentsOf: [1, 2, 3], at: 0, by: &author.replica)
    array.remove(1..<2, by: &author.replica)
    #expect(expectSameLoaded(array.changes(since: seen.version), into: seen, then: [array], 1))
  }

  @Test func `is not by a list if something is here, or was`() throws {
    let (author, other) = (Author(1), Author(2))
    var array = ReplicatingArray<Int>()
    array.insert(contentsOf: [1, 2, 3], at: 0, by: &author.replica)
    var present = ReplicatingArray<Int>()
    present.insert(contentsOf: [4], at: 0, by: &other.replica)
    var removed = present
    removed.remove(0..<1, by: &other.replica)
    let changes = array.changes(since: Version())
    for var value in [present, removed, array] {
      var joined = value
      joined.joinOneByOne(changes)
      let made = value.joinByList(changes)
      #expect(made.insertions == 0 && made.removals == 0 && made.elements == 0)
      expectSame(value, joined, "\(value.values)")
    }
  }

  @Test func `goes on one by one where many concurrent insertions stand at one place`() throws {
    for count in [20, 100, 200] {
      let (first, second, last) = (Author(1), Author(2), Author(3))
      var base = ReplicatingArray<Int>()
      base.insert(contentsOf: [1, 2], at: 0, by: &first.replica)
      var between = base
      between.insert(contentsOf: [3], at: 1, by: &second.replica)
      var whole = base
      for number in 0..<count {
        let author = Author(UInt64(10 + number))
        var copy = base
        copy.insert(contentsOf: [4 + number], at: 1, by: &author.replica)
        whole.merge(copy)
      }
      // Later than all of them, between elements that stand side by side for this author only.
      for number in 0..<count { _ = last.replica.stamp(after: UInt64(number)) }
      between.insert(contentsOf: [0], at: 1, by: &last.replica)
      whole.merge(between)
      whole.insert(contentsOf: [-1], at: 3, by: &first.replica)
      let changes = whole.changes(since: Version())
      var (loaded, joined) = (ReplicatingArray<Int>(), ReplicatingArray<Int>())
      let made = loaded.joinByList(changes)
      #expect(loaded.isAll(made, of: changes) == (count < 64), "\(count)")
      #expect(made.insertions > 0)
      joined.joinOneByOne(changes)
      expectSame(loaded, joined, "\(count) at one place")
      #expect(loaded == whole, "\(count) at one place")
    }
  }

  @Test func `goes on one by one where everything is removed again and again`() throws {
    for count in [4, 400] {
      let first = Author(1)
      var base = ReplicatingArray<Int>()
      base.insert(contentsOf: Array(0..<1_000), at: 0, by: &first.replica)
      var whole = base
      for number in 0..<count {
        let author = Author(UInt64(10 + number))
        var copy = base
        copy.remove(0..<1_000 - number, by: &author.replica)
        whole.merge(copy)
      }
      let changes = whole.changes(since: Version())
      var (loaded, joined) = (ReplicatingArray<Int>(), ReplicatingArray<Int>())
      let made = loaded.joinByList(changes)
      #expect(loaded.isAll(made, of: changes) == (count == 4), "\(count)")
      #expect(made.removals >= 4)
      joined.joinOneByOne(changes)
      expectSame(loaded, joined, "\(count) removals")
      #expect(loaded == whole, "\(count) removals")
    }
  }

  @Test func `a list has the elements in pieces, removed or not, as long as they can be`() {
    var list = ElementList([130, 3])
    list.insert(100, by: 0, behind: 0)
    list.insert(3, by: 1, behind: list.number(of: LocalID(0, 63)))
    list.insert(30, by: 0, behind: list.number(of: LocalID(0, 99)))
    let wasRemoved = list.remove(60, 70, of: 0)
    #expect(wasRemoved)
    let pieces = [
      Piece(0, 0, 50), Piece(0, 50, 10), Piece(0, 60, 4).removed, Piece(1, 0, 3),
      Piece(0, 64, 50).removed, Piece(0, 114, 16).removed,
    ]
    let listed = list.pieces(largest: 50)
    #expect(listed == pieces)
    let element = list.element(list.number(of: LocalID(1, 2)))
    #expect(element == LocalID(1, 2))
    let here = [LocalID(0, 129), LocalID(0, 130), LocalID(2, 0), .none].map { list.contains($0) }
    #expect(here == [true, false, false, true])
    #expect(!ElementList.hasRoom(for: [Int(UInt32.max), 1]))
    #expect(!ElementList.hasRoom(for: [Int.max]) && ElementList.hasRoom(for: [Int(Int32.max), 1]))
  }

  // MARK: - Negative controls

  @Test func `would be wrong if each insertion went directly behind its left origin`() throws {
    var caught = 0
    for seed: UInt64 in 1...20 {
      let (_, final, _) = try history(ReplicatingArray<Int>(), seed: seed, steps: 60, edit)
      let changes = final[0].changes(since: Version())
      var list = ElementList(final[0].authors.map(\.content.count))
      for insertion in changes.insertions {
        list.insert(
          insertion.count, by: insertion.author, behind: list.number(of: insertion.left))
      }
      let linked = list.pieces(largest: Piece.largest).flatMap(\.elements)
      var order: [LocalID] = []
      final[0].settled.tree.forEachPiece { order += $0.elements }
      #expect(Set(linked) == Set(order), at(seed))
      if linked != order { caught += 1 }
    }
    #expect(caught >= 15, "only \(caught) of 20 histories have contested insertions")
  }
}

@Suite struct `Origins that their author did not see` {
  typealias Changes = ReplicatingArray<UInt8>.Changes

  /// Five replicas: z; a, beside it, which is removed; y before a; b, by the author of a, which names the beginning and z, though it follows
  /// a; w, which is between the beginning and z. `place`: how many insertions come before the removal.
  private func changes(removalAt place: UInt32) -> Changes {
    let authors = (1...UInt64(5)).map(replicaID)
    var version = Version()
    for (author, number) in zip(authors, [UInt64(1), 2, 1, 1, 1]) { version[author] = number }
    let (z, a) = (LocalID(0, 0), LocalID(1, 0))
    let steps: [(author: AuthorIndex, offset: UInt32, left: LocalID, right: LocalID)] = [
      (0, 0, .none, .none), (1, 0, .none, .none), (3, 0, .none, a), (1, 1, .none, z),
      (4, 0, .none, z),
    ]
    return Changes(
      since: Version(), version: version, lamport: 5, authors: authors,
      insertions: steps.enumerated().map { index, step in
        Changes.Insertion(
          author: step.author, offset: step.offset, count: 1, isStepping: false, left: step.left,
          right: step.right, number: UInt64(step.offset) + 1, lamport: UInt64(index) + 1)
      },
      removals: [
        Changes.Removal(
          author: 2, place: place,
          run: RemovalRun(number: 1, offset: 0, count: 1, target: 1, order: .atOnce))
      ], content: Array("zaybw".utf8))
  }

  @Test(arguments: 2...5)
  func `bring the same order, however pieces are cut and however they are joined`(
    place: Int
  ) throws {
    let changes = changes(removalAt: UInt32(place))
    var checked = ReplicatingArray<UInt8>()
    // They are taken: what their author saw is not known.
    try checked.joinIfValid(changes)
    var (loaded, joined) = (ReplicatingArray<UInt8>(), ReplicatingArray<UInt8>())
    let made = loaded.joinByList(changes)
    joined.joinOneByOne(changes)
    #expect(made.insertions == 5 && made.removals == 1)
    for value in [checked, loaded, joined] {
      #expect(String(decoding: value.values, as: UTF8.self) == "ywbz", "removed at \(place)")
      #expect(try ReplicatingArray<UInt8>(encoded: value.encoded()) == value)
    }
    expectSame(loaded, joined, "removed at \(place)")
  }

  @Test func `a chain of many runs of origins is passed in parts, to the same place`() throws {
    var (first, second) = (ReplicatingArray<UInt8>(), ReplicatingArray<UInt8>())
    let (alice, bob, carol) = (Author(1), Author(2), Author(3))
    first.insert(contentsOf: [91, 93], at: 0, by: &alice.replica)
    second.merge(first)
    var third = first
    // Each letter has another behind it that came in between: 300 runs of origins side by side.
    for index in 0..<300 {
      first.insert(contentsOf: [97], at: 1 + index, by: &alice.replica)
      second.merge(first)
      second.insert(contentsOf: [98], at: 2 + index, by: &bob.replica)
      first.merge(second)
    }
    third.insert(contentsOf: [99], at: 1, by: &carol.replica)
    let merged = first.merged(with: third)
    #expect(merged.values == third.merged(with: first).values)
    let changes = merged.changes(since: Version())
    var (loaded, joined) = (ReplicatingArray<UInt8>(), ReplicatingArray<UInt8>())
    _ = loaded.joinByList(changes)
    joined.joinOneByOne(changes)
    expectSame(loaded, joined, "a chain of 300 runs")
    #expect(loaded == merged)
  }
}
