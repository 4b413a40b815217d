/// Writes the steps of a history: makes all changes again, to see where each was.
struct HistoryEncoder<Element: Equatable & Sendable>: ~Copyable {
  typealias Changes = ReplicatingArray<Element>.Changes

  /// Removals that go on from each other.
  private struct Pending {
    var step: Step
    var author: AuthorIndex
    var number: UInt64
    var position: Int
  }

  /// The authors in their order, and the places of the value's authors among them.
  let names: [ReplicaID]
  private let places: [Int]
  private(set) var writer: StepBytes
  private(set) var steps = 0
  private var expected: ExpectedSteps
  private var fragments: Fragments
  private var stretches: [(range: Range<UInt32>, isRemoved: Bool)] = []
  /// The author of the last step, by its place in the value.
  private var author: AuthorIndex = .max
  /// The position at which the last step ended.
  private var cursor = 0
  /// A removal that may go on. There is one if its step has elements.
  private var pending = Pending(
    step: Step(kind: .removedForward, count: 0), author: 0, number: 0, position: 0)

  init(of value: ReplicatingArray<Element>, by fragments: consuming Fragments) {
    self.fragments = fragments
    names = value.version.replicas
    let indices = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    places = value.authors.map { indices[$0.id] ?? 0 }
    expected = ExpectedSteps(max(names.count, 1))
    // As a rule a step takes two bytes.
    let steps = value.authors.reduce(0) { $0 + $1.origins.count + $1.removals.count }
    writer = StepBytes(capacity: 2 * steps)
  }

  /// The steps of the only author.
  mutating func encode(_ author: Author<Element>) {
    var steps = AuthorSteps(of: author, 0, since: 0)
    while let step = steps.step() {
      switch step {
      case .insertion(let insertion): encode(insertion)
      case .removal(let run): encode(run, by: 0)
      }
    }
    flush()
  }

  /// The steps of several.
  mutating func encode(_ changes: Changes) {
    var next = 0
    for (index, insertion) in changes.insertions.enumerated() {
      while next < changes.removals.count, Int(changes.removals[next].place) <= index {
        encode(changes.removals[next].run, by: changes.removals[next].author)
        next += 1
      }
      encode(insertion)
    }
    for removal in changes.removals[next...] { encode(removal.run, by: removal.author) }
    flush()
  }

  @inline(__always)
  private mutating func encode(_ insertion: Changes.Insertion) {
    flush()
    let step = Step(
      kind: insertion.isStepping || insertion.count == 1 ? .typed : .inserted,
      count: Int(insertion.count))
    turn(to: insertion.author, number: insertion.number)
    let lamport = expected.lamport
    if insertion.lamport != lamport {
      writer.note(.lamport, Int(insertion.lamport) - Int(lamport))
    }
    let first = LocalID(insertion.author, insertion.offset)
    let isGap = fragments.isGap(between: insertion.left, and: insertion.right, for: first)
    let position = fragments.insert(first, insertion.count)
    if isGap {
      writer.step(step, distance: position &- cursor)
    } else {
      note(.left, insertion.left)
      note(.right, insertion.right)
      writer.step(step, distance: 0)
    }
    steps &+= 1
    expected.make(step, number: insertion.number, lamport: insertion.lamport)
    cursor = position &+ Int(insertion.count)
  }

  @inline(__always)
  private mutating func turn(to author: AuthorIndex, number: UInt64) {
    if author != self.author { turn(to: author) }
    let next = expected.number
    if number != next { writer.note(.number, Int(number) - Int(next)) }
  }

  @inline(never)
  private mutating func turn(to author: AuthorIndex) {
    self.author = author
    let place = places[Int(author)]
    guard place != expected.author else { return }
    writer.note(.author, place)
    expected.turn(to: place)
  }

  @inline(never)
  private mutating func note(_ note: StepNote, _ element: LocalID) {
    if element.isNone {
      writer.note(note, -1)
    } else {
      writer.note(note, places[Int(element.author)])
      writer.varint(UInt64(element.offset))
    }
  }

  // MARK: - Removals

  @inline(__always)
  private mutating func encode(_ run: RemovalRun, by author: AuthorIndex) {
    guard let position = fragments.removeFragment(run) else {
      return encodeStretches(of: run, by: author)
    }
    append(
      Self.step(run, Int(run.count)), by: author, number: UInt64(run.number),
      at: position, isAtOnce: run.isAtOnce)
  }

  /// Removes stretch after stretch in the order in which that was done, as far as positions go on.
  @inline(never)
  private mutating func encodeStretches(of run: RemovalRun, by author: AuthorIndex) {
    var number = UInt64(run.number)
    fragments.find(run, &stretches)
    let isBackward = run.order == .backward
    if isBackward { stretches.reverse() }
    for index in stretches.indices {
      let (range, isRemoved) = stretches[index]
      let step = Self.step(run, range.count)
      if isRemoved {
        flush()
        turn(to: author, number: number)
        note(.left, LocalID(run.target, isBackward ? range.upperBound - 1 : range.lowerBound))
        writer.step(step, distance: 0)
        steps += 1
        expected.make(step, number: number, lamport: expected.lamport)
      } else {
        let first = LocalID(run.target, range.lowerBound)
        let position = fragments.position(of: first)
        append(step, by: author, number: number, at: position, isAtOnce: run.isAtOnce)
        fragments.remove(first, range.count)
      }
      if !run.isAtOnce { number += UInt64(range.count) }
    }
  }

  @inline(__always)
  private static func step(_ run: RemovalRun, _ count: Int) -> Step {
    let one = run.isForward ? Step.Kind.removedForward : .removedBackward
    return Step(
      kind: count == 1 ? .removedForward : run.isAtOnce ? .removedAtOnce : one, count: count)
  }

  /// Lets the pending removal go on, or begins another.
  @inline(__always)
  private mutating func append(
    _ step: Step, by author: AuthorIndex, number: UInt64, at position: Int, isAtOnce: Bool
  ) {
    let last = pending
    if last.step.count > 0, last.author == author {
      let total = last.step.count &+ step.count
      let isHere = position == last.position
      if isAtOnce, isHere, number == last.number,
        last.step.kind == .removedAtOnce || last.step.count == 1
      {
        pending.step = Step(kind: .removedAtOnce, count: total)
        return
      }
      if !isAtOnce || step.count == 1, last.step.kind != .removedAtOnce,
        number == last.number &+ UInt64(last.step.count)
      {
        if isHere, last.step.kind == .removedForward, step.kind == .removedForward {
          pending.step.count = total
          return
        }
        let isBackward =
          (last.step.kind == .removedBackward || last.step.count == 1)
          && (step.kind == .removedBackward || step.count == 1)
        if position &+ step.count == last.position, isBackward {
          pending.step = Step(kind: .removedBackward, count: total)
          pending.position = position
          return
        }
      }
    }
    flush()
    pending = Pending(step: step, author: author, number: number, position: position)
  }

  @inline(__always)
  private mutating func flush() {
    let last = pending
    guard last.step.count > 0 else { return }
    pending.step.count = 0
    turn(to: last.author, number: last.number)
    let start =
      last.step.kind == .removedBackward ? last.position &+ last.step.count : last.position
    writer.step(last.step, distance: start &- cursor)
    cursor = last.position
    steps &+= 1
    expected.make(last.step, number: last.number, lamport: expected.lamport)
  }
}
