// A sequence in bytes, with all of its past.
//
//     format                 a byte, 2
//     lamport                varint: the largest logical time seen
//     authors                varint: how many; of each, in their order, 16 bytes of identity and as a varint the number of
//                            the last change seen
//     elements               varint: how many; all ever inserted, in the order of the steps
//     steps                  varint: how many; the steps (StepCode.swift), with notes before those that need one
//
// The steps are made one after the other, by their authors, in logical time. A decoder makes the edits again:
// "insert here, remove there", at positions among the elements visible just then. So neither the origins of an insertion
// nor what a removal removed is written. An author who edits alone, or sees the edits of others before going on, costs nothing
// but that; only an insertion or removal that others' concurrent steps make ambiguous comes with notes that name elements.
//
// The distance of a step is from where the last one ended: behind inserted elements, where removed ones were. Each author's
// changes are numbered on, and its logical time goes on, after a step of another author from the end of all that went
// before; a note tells when not. After notes of `left` and `right` the step's distance is 0: an insertion goes between these
// two, and an author of −1 is the beginning or the end. After a note of `left` alone a removal names a run of one author's
// elements, all removed already, which begins there or, if it is backward, ends there; where the last step ended stays.
//
// The steps are written as above, in steps as long as they can be, in the order in which `changes(since:)` has them. What is
// read besides: steps cut into more, and steps in another order in which each finds what it refers to. Notes that say what is
// plain without them are refused.

extension ReplicatingArray: BinaryCodable where Element: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    let value = settled
    let changes = value.changes(since: Version())
    var encoder = HistoryEncoder<Element>(of: changes, by: Fragments(of: value, for: changes))
    encoder.encode(changes)
    // Besides elements and steps, the head.
    writer.reserve(
      changes.content.count + encoder.writer.bytes.count + 64 + 32 * encoder.names.count)
    writer.format(2)
    writer.varint(changes.lamport)
    writer.varint(encoder.names.count)
    for author in encoder.names {
      writer.replica(author)
      writer.varint(changes.version[author])
    }
    writer.elements(changes.content)
    writer.varint(encoder.steps)
    writer.raw(encoder.writer.bytes)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(2, of: "a sequence")
    let head = try HistoryHead<Element>(&reader)
    var decoder = HistoryDecoder(head, byList: head.areWorthListing)
    try decoder.decode(&reader)
    self = decoder.value
    // Of the past states nothing is known.
    isContested = authors.count > 1
  }
}

// MARK: - Encoding

/// Makes all changes again, to see where each was.
private struct HistoryEncoder<Element: Equatable & Sendable & BinaryCodable>: ~Copyable {
  /// The authors in their order, and the places of the value's authors among them.
  let names: [ReplicaID]
  private let places: [Int]
  private(set) var writer = ByteWriter()
  private(set) var steps = 0
  private var expected: ExpectedSteps
  private var fragments: Fragments
  private var stretches: [(range: Range<UInt32>, isRemoved: Bool)] = []
  private var cursor = 0
  /// A removal that may go on.
  private var pending: (step: Step, author: Int, number: UInt64, position: Int)?

  init(of changes: ReplicatingArray<Element>.Changes, by fragments: consuming Fragments) {
    self.fragments = fragments
    names = changes.version.replicas
    let indices = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    places = changes.authors.map { indices[$0] ?? 0 }
    expected = ExpectedSteps(max(names.count, 1))
    // As a rule a step takes two bytes.
    writer.reserve(2 * (changes.insertions.count + changes.removals.count))
  }

  mutating func encode(_ changes: ReplicatingArray<Element>.Changes) {
    var next = 0
    for (index, insertion) in changes.insertions.enumerated() {
      while next < changes.removals.count, changes.removals[next].place <= index {
        encode(changes.removals[next])
        next += 1
      }
      encode(insertion)
    }
    for removal in changes.removals[next...] { encode(removal) }
    flush()
  }

  private mutating func encode(_ insertion: ReplicatingArray<Element>.Changes.Insertion) {
    flush()
    let step = Step(
      kind: insertion.isStepping || insertion.count == 1 ? .typed : .inserted,
      count: Int(insertion.count))
    turn(to: places[Int(insertion.author)], number: insertion.number)
    let lamport = expected.lamport
    if insertion.lamport != lamport {
      writer.note(.lamport, Int(insertion.lamport) - Int(lamport))
    }
    let isGap = fragments.isGap(between: insertion.left, and: insertion.right)
    let position = fragments.insert(
      LocalID(insertion.author, insertion.offset), insertion.count)
    if isGap {
      writer.step(step, distance: position - cursor)
    } else {
      note(.left, insertion.left)
      note(.right, insertion.right)
      writer.step(step, distance: 0)
    }
    steps += 1
    expected.make(step, number: insertion.number, lamport: insertion.lamport)
    cursor = position + Int(insertion.count)
  }

  private mutating func turn(to author: Int, number: UInt64) {
    if author != expected.author {
      writer.note(.author, author)
      expected.turn(to: author)
    }
    let next = expected.number
    if number != next { writer.note(.number, Int(number) - Int(next)) }
  }

  private mutating func note(_ note: StepNote, _ element: LocalID) {
    if element.isNone {
      writer.note(note, -1)
    } else {
      writer.note(note, places[Int(element.author)])
      writer.varint(UInt64(element.offset))
    }
  }

  // MARK: Removals

  /// Removes stretch after stretch in the order in which that was done, as far as positions go on.
  private mutating func encode(_ removal: ReplicatingArray<Element>.Changes.Removal) {
    let run = removal.run
    let author = places[Int(removal.author)]
    var number = UInt64(run.number)
    if let position = fragments.removeFragment(run) {
      let step = Step(kind: Self.kind(run.order, Int(run.count)), count: Int(run.count))
      append(step, by: author, number: number, at: position, isAtOnce: run.order == .atOnce)
      return
    }
    fragments.find(run, &stretches)
    let isBackward = run.order == .backward
    if isBackward { stretches.reverse() }
    for index in stretches.indices {
      let (range, isRemoved) = stretches[index]
      let step = Step(kind: Self.kind(run.order, range.count), count: range.count)
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
        append(step, by: author, number: number, at: position, isAtOnce: run.order == .atOnce)
        fragments.remove(first, range.count)
      }
      if run.order != .atOnce { number += UInt64(range.count) }
    }
  }

  @inline(__always)
  private static func kind(_ order: RemovalRun.Order, _ count: Int) -> Step.Kind {
    switch order {
    case _ where count == 1: .removedForward
    case .atOnce: .removedAtOnce
    case .forward: .removedForward
    case .backward: .removedBackward
    }
  }

  /// Lets the pending removal go on, or begins another.
  private mutating func append(
    _ step: Step, by author: Int, number: UInt64, at position: Int, isAtOnce: Bool
  ) {
    if var last = pending, last.author == author {
      let total = last.step.count + step.count
      let isHere = position == last.position
      if isAtOnce, isHere, number == last.number {
        let isFirst = last.step.kind == .removedAtOnce || last.step.count == 1
        if isFirst {
          last.step = Step(kind: .removedAtOnce, count: total)
          pending = last
          return
        }
      }
      if !isAtOnce || step.count == 1, last.step.kind != .removedAtOnce,
        number == last.number + UInt64(last.step.count)
      {
        let isForward = last.step.kind == .removedForward && step.kind == .removedForward
        if isHere, isForward {
          last.step.count = total
          pending = last
          return
        }
        let isBackward =
          (last.step.kind == .removedBackward || last.step.count == 1)
          && (step.kind == .removedBackward || step.count == 1)
        if position + step.count == last.position, isBackward {
          last.step = Step(kind: .removedBackward, count: total)
          last.position = position
          pending = last
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
    turn(to: author, number: number)
    let start = step.kind == .removedBackward ? position + step.count : position
    writer.step(step, distance: start - cursor)
    cursor = position
    steps += 1
    expected.make(step, number: number, lamport: expected.lamport)
  }
}
