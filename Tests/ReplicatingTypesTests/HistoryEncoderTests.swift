import TestSupport
import Testing

@testable import ReplicatingTypes

// A history is written by counts that stand at the places which elements have at the end. Here it is written by looking through all elements at
// each step, and the bytes are held against each other.

/// Writes a history with a flag for each element.
private struct NaiveHistory {
  private let changes: ReplicatingArray<UInt8>.Changes
  private let names: [ReplicaID]
  private let places: [Int]
  /// All elements in document order, and where each stands.
  private var order: [LocalID] = []
  private var indices: [LocalID: Int] = [:]
  private var isPresent: [Bool] = []
  private var isShown: [Bool] = []
  private var writer = ByteWriter()
  private var steps = 0
  private var expected = ExpectedSteps(1)
  private var cursor = 0
  private var pending: (step: Step, author: Int, number: UInt64, position: Int)?

  init(_ array: ReplicatingArray<UInt8>) {
    changes = array.changes(since: Version())
    names = changes.version.replicas
    let names = names
    places = changes.authors.map { names.firstIndex(of: $0) ?? 0 }
    array.settled.tree.forEachPiece { piece in
      for offset in piece.offset..<piece.end { order.append(LocalID(piece.author, offset)) }
    }
    for (index, element) in order.enumerated() { indices[element] = index }
    isPresent = Array(repeating: false, count: order.count)
    isShown = isPresent
    expected = ExpectedSteps(max(names.count, 1))
  }

  mutating func bytes() -> [UInt8] {
    for (index, insertion) in changes.insertions.enumerated() {
      for removal in changes.removals where Int(removal.place) == index { remove(removal) }
      insert(insertion)
    }
    for removal in changes.removals where Int(removal.place) == changes.insertions.count {
      remove(removal)
    }
    flush()
    var all = ByteWriter()
    all.format(2)
    all.varint(changes.lamport)
    all.varint(names.count)
    for name in names {
      all.identifier(name)
      all.varint(changes.version[name])
    }
    all.counted(changes.content)
    all.varint(steps)
    all.raw(writer.bytes)
    return all.bytes
  }

  /// The number of shown elements before one.
  private func position(_ index: Int) -> Int { isShown[..<index].count { $0 } }

  /// The present element behind another one, or behind the beginning.
  private func follower(_ element: LocalID) -> LocalID {
    let start = element.isNone ? 0 : indices[element]! + 1
    return (start..<order.count).first { isPresent[$0] }.map { order[$0] } ?? .none
  }

  private mutating func write(_ step: Step, _ number: UInt64, _ lamport: UInt64, _ distance: Int) {
    writer.step(step, distance: distance)
    steps += 1
    expected.make(step, number: number, lamport: lamport)
  }

  private mutating func turn(to author: Int, _ number: UInt64) {
    if author != expected.author {
      writer.note(.author, author)
      expected.turn(to: author)
    }
    if number != expected.number {
      writer.note(.number, Int(number) - Int(expected.number))
    }
  }

  private mutating func note(_ note: StepNote, _ element: LocalID) {
    writer.note(note, element.isNone ? -1 : places[Int(element.author)])
    if !element.isNone { writer.varint(UInt64(element.offset)) }
  }

  private mutating func insert(_ insertion: ReplicatingArray<UInt8>.Changes.Insertion) {
    flush()
    let step = Step(
      kind: insertion.isStepping || insertion.count == 1 ? .typed : .inserted,
      count: Int(insertion.count))
    turn(to: places[Int(insertion.author)], insertion.number)
    if insertion.lamport != expected.lamport {
      writer.note(.lamport, Int(insertion.lamport) - Int(expected.lamport))
    }
    let (left, right) = (insertion.left, insertion.right)
    let isGap = (left.isNone || isShown[indices[left]!]) && follower(left) == right
    for offset in insertion.offset..<insertion.offset + insertion.count {
      let index = indices[LocalID(insertion.author, offset)]!
      (isPresent[index], isShown[index]) = (true, true)
    }
    let start = position(indices[LocalID(insertion.author, insertion.offset)]!)
    if !isGap {
      note(.left, left)
      note(.right, right)
    }
    write(step, insertion.number, insertion.lamport, isGap ? start - cursor : 0)
    cursor = start + step.count
  }

  private mutating func remove(_ removal: ReplicatingArray<UInt8>.Changes.Removal) {
    let run = removal.run
    let author = places[Int(removal.author)]
    let elements = (run.offset..<run.offset + run.count).map { LocalID(run.target, $0) }
    // Neighbours that were removed before, and shown ones that stand side by side.
    var stretches: [[LocalID]] = []
    for element in elements {
      if let last = stretches.last?.last,
        isShown[indices[last]!] == isShown[indices[element]!],
        !isShown[indices[element]!] || follower(last) == element
      {
        stretches[stretches.count - 1].append(element)
      } else {
        stretches.append([element])
      }
    }
    if run.order == .backward { stretches.reverse() }
    var number = UInt64(run.number)
    for stretch in stretches {
      let kinds: [RemovalRun.Order: Step.Kind] = [
        .atOnce: .removedAtOnce, .forward: .removedForward, .backward: .removedBackward,
      ]
      let step = Step(
        kind: stretch.count == 1 ? .removedForward : kinds[run.order]!, count: stretch.count)
      if isShown[indices[stretch[0]]!] {
        let start = position(indices[stretch[0]]!)
        append(step, author, number, start, isAtOnce: run.order == .atOnce)
        for element in stretch { isShown[indices[element]!] = false }
      } else {
        flush()
        turn(to: author, number)
        note(.left, run.order == .backward ? stretch.last! : stretch[0])
        write(step, number, expected.lamport, 0)
      }
      if run.order != .atOnce { number += UInt64(stretch.count) }
    }
  }

  /// Lets a removal go on where one step can say both.
  private mutating func append(
    _ step: Step, _ author: Int, _ number: UInt64, _ position: Int, isAtOnce: Bool
  ) {
    if let last = pending, last.author == author {
      let total = last.step.count + step.count
      let isAlone = last.step.count == 1
      let isHere = position == last.position
      if isAtOnce, isHere, number == last.number, isAlone || last.step.kind == .removedAtOnce {
        pending!.step = Step(kind: .removedAtOnce, count: total)
        return
      }
      if last.step.kind != .removedAtOnce, step.kind != .removedAtOnce,
        number == last.number + UInt64(last.step.count)
      {
        if isHere, last.step.kind == .removedForward, step.kind == .removedForward {
          pending!.step.count = total
          return
        }
        if position + step.count == last.position, isAlone || last.step.kind == .removedBackward,
          step.count == 1 || step.kind == .removedBackward
        {
          pending = (Step(kind: .removedBackward, count: total), author, last.number, position)
          return
        }
      }
    }
    flush()
    pending = (step, author, number, position)
  }

  private mutating func flush() {
    guard let (step, author, number, position) = pending else { return }
    pending = nil
    turn(to: author, number)
    let start = step.kind == .removedBackward ? position + step.count : position
    write(step, number, expected.lamport, start - cursor)
    cursor = position
  }
}

private func edit(
  _ array: inout ReplicatingArray<UInt8>, _ author: Author, _ generator: inout SplitMix64
) {
  var place = generator.below(array.count + 1)
  for _ in 0..<1 + generator.below(4) {
    place = min(place, array.count)
    switch generator.below(7) {
    case 0, 1:
      for _ in 0..<1 + generator.below(4) {
        array.insert(contentsOf: [UInt8(generator.below(256))], at: place, by: &author.replica)
        place += generator.below(2)
      }
    case 2:
      let new = (0..<1 + generator.below(80)).map { _ in UInt8(generator.below(256)) }
      array.insert(contentsOf: new, at: place, by: &author.replica)
    case 3:
      let end = min(place + 1 + generator.below(30), array.count)
      array.remove(place..<end, by: &author.replica)
    case 4:
      for _ in 0..<1 + generator.below(4) where place > 0 {
        array.remove(place - 1..<place, by: &author.replica)
        place -= 1
      }
    case 5:
      // Each change removes one of neighbours and inserts another element, or does only that.
      for _ in 0..<1 + generator.below(5) where place < array.count {
        let new = generator.chance(80) ? [UInt8(generator.below(256))] : []
        array.replace(
          [Edit(range: place..<place + 1, replacement: new)], by: &author.replica)
        place = generator.chance(70) ? place + new.count : max(place - 1, 0)
      }
    default:
      // One change that removes and inserts.
      let end = min(place + generator.below(6), array.count)
      array.replace(
        [Edit(range: place..<end, replacement: [UInt8(generator.below(256)), 7])],
        by: &author.replica)
    }
  }
}

private func expectNaive(_ array: ReplicatingArray<UInt8>, _ comment: Comment) {
  var naive = NaiveHistory(array)
  #expect(array.encoded() == naive.bytes(), comment)
}

@Suite(.computing) struct `Histories are written` {
  @Test func `as by looking through all elements, of one author and of several who take turns`() {
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed)
      let authors = (1...UInt64(1 + generator.below(3))).map(Author.init)
      var array = ReplicatingArray<UInt8>()
      for step in 0..<60 {
        edit(&array, generator.pick(authors), &generator)
        if step.isMultiple(of: 15) { expectNaive(array, at(seed, step)) }
      }
      expectNaive(array, at(seed))
    }
  }

  @Test func `the same where authors did not see each other`() throws {
    for seed in seeds(40) {
      let (states, final, _) = try history(
        ReplicatingArray<UInt8>(), seed: seed, steps: 60, edit)
      for state in states.suffix(3) + final.prefix(1) { expectNaive(state, at(seed)) }
    }
  }

  @Test func `the same with changes that are withdrawn`() throws {
    for seed in seeds(30) {
      var (_, final, generator) = try history(
        ReplicatingArray<UInt8>(), seed: seed, steps: 40, edit)
      for author in final[0].version.changes {
        let first = UInt64(1 + generator.below(Int(author.number)))
        final[0].withdraw(
          ChangeRanges([ChangeRanges.Run(author.replica, first...author.number)])
        ) { _ in }
        expectNaive(final[0], at(seed))
      }
    }
  }
}

@Suite(.computing) struct `Shown counts` {
  @Test func `have the sums that an array has`() {
    for seed in seeds(12) {
      var generator = SplitMix64(seed: seed)
      let capacity = generator.pick([1, 16, 17, 300, 5_000, 70_000, 200_000])
      var counts = ShownCounts(capacity: capacity)
      var all = Array(repeating: 0, count: capacity)
      for step in 0..<400 {
        let place = generator.below(capacity)
        let count = generator.chance(20) ? Int(Piece.largest) : generator.below(30)
        counts.add(count - all[place], at: place)
        all[place] = count
        let asked = generator.chance(50) ? generator.below(capacity) : place
        #expect(counts.sum(before: asked) == all[..<asked].reduce(0, +), at(seed, step))
      }
    }
  }

  @Test func `hold the largest sums`() {
    let capacity = 1 << 17
    var counts = ShownCounts(capacity: capacity)
    for place in 0..<capacity { counts.add(Int(Piece.largest), at: place) }
    for place in [1, 65_535, 65_536, capacity - 1] {
      #expect(counts.sum(before: place) == place * Int(Piece.largest))
    }
  }
}

@Suite struct `Bytes of steps` {
  @Test func `are those that a writer of bytes has`() {
    var generator = SplitMix64(seed: 1)
    var writer = ByteWriter()
    var steps = StepBytes(capacity: 0)
    let kinds: [Step.Kind] = [
      .typed, .inserted, .removedBackward, .removedForward, .removedAtOnce,
    ]
    for _ in 0..<20_000 {
      let kind = generator.pick(kinds)
      let least = kind == .typed || kind == .removedForward ? 1 : 2
      let count = least + generator.below(1 << generator.below(30))
      let distance = generator.below(1 << generator.below(40)) * (generator.chance(50) ? 1 : -1)
      if generator.chance(80) {
        writer.step(Step(kind: kind, count: count), distance: distance)
        steps.step(Step(kind: kind, count: count), distance: distance)
      } else {
        writer.note(.number, distance)
        steps.note(.number, distance)
      }
    }
    var written = ByteWriter()
    steps.append(to: &written)
    #expect(written.bytes == writer.bytes && steps.count == writer.bytes.count)
  }
}
