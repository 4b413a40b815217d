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
    var decoder = try HistoryDecoder<Element>(&reader)
    try decoder.decode(&reader)
    self = decoder.value
    // Of the past states nothing is known.
    isContested = authors.count > 1
  }
}

/// The time and the numbers that the next step of each author is expected to have.
private struct Expectations {
  var numbers: [UInt64]
  var lamports: [UInt64]
  private var latest: UInt64 = 0
  private(set) var author = 0
  /// By how much at least the logical time of each author's next insertion exceeds its number: time grew by one at least
  /// with each change since the last.
  private(set) var leastSkews: [Int]

  init(_ count: Int) {
    numbers = Array(repeating: 1, count: count)
    lamports = Array(repeating: 1, count: count)
    leastSkews = Array(repeating: 0, count: count)
  }

  /// Another author goes on, having seen everything.
  mutating func turn(to author: Int) {
    self.author = author
    lamports[author] = max(lamports[author], latest + 1)
  }

  @inline(__always)
  mutating func make(_ step: Step, number: UInt64, lamport: UInt64) {
    numbers[author] = number &+ step.changes
    lamports[author] = lamport &+ step.ticks
    latest = max(latest, lamports[author] &- 1)
    if !step.isRemoval { leastSkews[author] = Int(lamports[author]) &- Int(numbers[author]) }
  }
}

// MARK: - Encoding

/// Makes all changes again, to see where each was.
private struct HistoryEncoder<Element: Equatable & Sendable & BinaryCodable> {
  /// The authors in their order, and the places of the value's authors among them.
  let names: [ReplicaID]
  private let places: [Int]
  private(set) var writer = ByteWriter()
  private(set) var steps = 0
  private var expected: Expectations
  private var fragments: Fragments
  private var stretches: [(range: Range<UInt32>, isRemoved: Bool)] = []
  private var cursor = 0
  /// A removal that may go on.
  private var pending: (step: Step, author: Int, number: UInt64, position: Int)?

  init(of changes: ReplicatingArray<Element>.Changes, by fragments: Fragments) {
    self.fragments = fragments
    names = changes.version.replicas
    let indices = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    places = changes.authors.map { indices[$0] ?? 0 }
    expected = Expectations(max(names.count, 1))
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
    let lamport = expected.lamports[expected.author]
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
    let next = expected.numbers[author]
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
    fragments.find(run, &stretches)
    let isBackward = run.order == .backward
    if isBackward { stretches.reverse() }
    for index in stretches.indices {
      let (range, isRemoved) = stretches[index]
      let kind: Step.Kind =
        switch run.order {
        case _ where range.count == 1: .removedForward
        case .atOnce: .removedAtOnce
        case .forward: .removedForward
        case .backward: .removedBackward
        }
      let step = Step(kind: kind, count: range.count)
      if isRemoved {
        flush()
        turn(to: author, number: number)
        note(.left, LocalID(run.target, isBackward ? range.upperBound - 1 : range.lowerBound))
        writer.step(step, distance: 0)
        steps += 1
        expected.make(step, number: number, lamport: expected.lamports[author])
      } else {
        let first = LocalID(run.target, range.lowerBound)
        let position = fragments.position(of: first)
        append(step, by: author, number: number, at: position, isAtOnce: run.order == .atOnce)
        fragments.remove(first, range.count)
      }
      if run.order != .atOnce { number += UInt64(range.count) }
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
    expected.make(step, number: number, lamport: expected.lamports[author])
  }
}

extension ReplicatingArray {
  /// The visible position at which an author who sees this value inserts between two elements, if there is one.
  fileprivate mutating func position(between left: LocalID, and right: LocalID) -> Int? {
    if left.isNone {
      tree.moveToStart()
      return (tree.isEmpty ? .none : tree.current.first) == right ? 0 : nil
    }
    locate(left)
    let piece = tree.current
    guard !piece.isRemoved else { return nil }
    let next =
      left.offset &+ 1 < piece.end ? LocalID(left.author, left.offset &+ 1) : tree.following
    return next == right ? tree.cursor.start + Int(left.offset - piece.offset) + 1 : nil
  }
}

// MARK: - Decoding

private struct HistoryDecoder<Element: Equatable & Sendable & BinaryCodable> {
  private(set) var value = ReplicatingArray<Element>()
  private var lastNumbers: [UInt64] = []
  private let lamport: UInt64
  private var expected: Expectations
  private let elements: [Element]
  private let steps: Int
  private var cursor = 0
  private var tombstones = KnownTombstones()
  /// The largest logical time of an insertion so far.
  private var latest: UInt64 = 0
  private var latestRemoved = LatestRemoved()

  init(_ reader: inout ByteReader) throws(DecodingFailure) {
    lamport = try reader.varint()
    guard lamport <= LamportTimestamp.largestCount else {
      throw reader.failure("a logical time of \(lamport)")
    }
    let count = try reader.count()
    guard count <= reader.remaining / (reader.leastReplicaSize + 1),
      count <= ReplicatingArray<Element>.maximumAuthors
    else {
      throw reader.failure("\(count) authors")
    }
    for _ in 0..<count {
      let id = try reader.replica()
      if let last = value.authors.last, last.id >= id {
        throw reader.failure("authors out of order")
      }
      _ = value.index(of: id)
      let number = try reader.varint()
      guard number > 0, number <= ReplicatingArray<Element>.maximumNumber else {
        throw reader.failure("change \(number) of one author")
      }
      lastNumbers.append(number)
    }
    expected = Expectations(max(count, 1))
    elements = try reader.elements()
    steps = try reader.count()
    guard count > 0 || steps == 0 && lamport == 0 else { throw reader.failure("steps by nobody") }
  }

  mutating func decode(_ reader: inout ByteReader) throws(DecodingFailure) {
    let elements = elements
    value.tree.isWeighed = false
    if value.authors.count == 1 { value.authors[0].content.reserveCapacity(elements.count) }
    var start = 0
    var left: LocalID?
    var right: LocalID?
    var last: StepNote?
    var isTimed = false
    var made = 0
    while made < steps {
      switch try reader.stepOrNote() {
      case .note(let note, let value):
        guard note.isAllowed(after: last) else { throw reader.failure("notes out of order") }
        last = note
        isTimed = isTimed || note == .lamport
        switch note {
        case .left: left = try element(value, &reader)
        case .right: right = try element(value, &reader)
        default: try take(note, value, reader)
        }
      case .step(let step, let distance):
        let author = expected.author
        let number = expected.numbers[author]
        guard number &+ step.changes &- 1 <= lastNumbers[author] else {
          throw reader.failure("a change after the last")
        }
        if step.isRemoval {
          guard right == nil, !isTimed, left == nil || distance == 0 else {
            throw reader.failure("a removal in two places, or at a time")
          }
          try remove(step, number, distance, left, reader)
        } else {
          guard step.count <= elements.count - start else {
            throw reader.failure("more is inserted than there is")
          }
          let range = start..<start &+ step.count
          try insert(
            step, elements.span.extracting(range), number, distance, left, right, reader)
          start = range.upperBound
        }
        left = nil
        right = nil
        last = nil
        isTimed = false
        made += 1
      }
    }
    guard start == elements.count else { throw reader.failure("elements that nobody inserted") }
    guard latest <= lamport else { throw reader.failure("a logical time after the last") }
    for author in value.authors.indices { value.authors[author].lastNumber = lastNumbers[author] }
    value.take(lamport, of: value.version)
    value.weigh()
  }

  private mutating func take(
    _ note: StepNote, _ value: Int, _ reader: ByteReader
  ) throws(DecodingFailure) {
    switch note {
    case .author where value != expected.author && lastNumbers.indices.contains(value):
      expected.turn(to: value)
    case .number:
      let number = Int(expected.numbers[expected.author]) + value
      // Another step of the last change is the least.
      guard value != 0, number >= max(1, Int(self.value.authors[expected.author].lastNumber)),
        number <= lastNumbers[expected.author]
      else {
        throw reader.failure("changes out of order")
      }
      expected.numbers[expected.author] = UInt64(number)
    case .lamport:
      let time = Int(expected.lamports[expected.author]) &+ value
      guard value != 0, time > 0, time <= Int(lamport) else {
        throw reader.failure("a logical time of \(time)")
      }
      expected.lamports[expected.author] = UInt64(time)
    default: throw reader.failure("a note that means nothing here")
    }
  }

  private func element(
    _ author: Int, _ reader: inout ByteReader
  ) throws(DecodingFailure) -> LocalID {
    if author == -1 { return .none }
    guard value.authors.indices.contains(author) else { throw reader.failure("author \(author)") }
    let offset = try reader.count()
    guard offset < value.authors[author].content.count else {
      throw reader.failure("an element that is not there yet")
    }
    return LocalID(AuthorIndex(author), UInt32(offset))
  }

  @inline(__always)
  private mutating func insert(
    _ step: Step, _ elements: borrowing Span<Element>, _ number: UInt64, _ distance: Int,
    _ left: LocalID?, _ right: LocalID?, _ reader: ByteReader
  ) throws(DecodingFailure) {
    let author = AuthorIndex(truncatingIfNeeded: expected.author)
    let time = expected.lamports[expected.author]
    let present = value.authors[expected.author].count
    guard time &+ UInt64(step.count) &- 1 <= lamport,
      Int(present) &+ step.count <= ReplicatingArray<Element>.maximumCount
    else { throw reader.failure("a logical time after the last") }
    guard Int(time) &- Int(number) >= expected.leastSkews[expected.author] else {
      throw reader.failure("a logical time that does not grow")
    }
    if let left, let right {
      guard distance == 0 else { throw reader.failure("an insertion in two places") }
      try check(left, right, author, time, reader)
      guard value.position(between: left, and: right) == nil else {
        throw reader.failure("an insertion between neighbours, with notes")
      }
      _ = value.integrate(
        elements, by: author, number: number, lamport: time, isStepping: step.kind == .typed,
        left: left, right: right)
    } else {
      guard left == nil, right == nil else { throw reader.failure("half an insertion") }
      let position = cursor &+ distance
      guard position >= 0, position <= value.tree.visible else {
        throw reader.failure("position \(position) of \(value.tree.visible)")
      }
      let (left, right, skipped) = value.moveToGap(at: position)
      if time <= latest { try check(left, right, author, time, reader) }
      value.insert(
        elements, by: author, number: number, lamport: time, isStepping: step.kind == .typed,
        left: left, right: right, behind: skipped)
    }
    cursor = value.tree.cursor.start &+ Int(value.tree.current.count)
    latest = max(latest, time &+ UInt64(step.count) &- 1)
    expected.make(step, number: number, lamport: time)
  }

  /// An insertion is later than what it stands between and than what its author inserted before, and its origins stand in
  /// order.
  @inline(never)
  private mutating func check(
    _ left: LocalID, _ right: LocalID, _ author: AuthorIndex, _ time: UInt64, _ reader: ByteReader
  ) throws(DecodingFailure) {
    for element in [left, right] where !element.isNone {
      guard value.authors[Int(element.author)].lamport(of: element.offset) < time else {
        throw reader.failure("an origin that is not earlier")
      }
    }
    let present = value.authors[Int(author)].count
    guard present == 0 || value.authors[Int(author)].lamport(of: present - 1) < time,
      latestRemoved.time(of: author, in: value) < time
    else { throw reader.failure("a logical time that does not grow") }
    let cursor = value.tree.cursor
    // Not more: what was joined must be readable, and in the order of time other elements stood between them then.
    do { try value.checkOrder(left, right) } catch { throw reader.failure(error.reason) }
    value.tree.cursor = cursor
  }

  @inline(__always)
  private mutating func remove(
    _ step: Step, _ number: UInt64, _ distance: Int, _ target: LocalID?, _ reader: ByteReader
  ) throws(DecodingFailure) {
    let author = AuthorIndex(truncatingIfNeeded: expected.author)
    let goesOn = number == value.authors[Int(author)].lastNumber
    let recorded = value.authors[Int(author)].removals.count
    let order: RemovalRun.Order =
      switch step.kind {
      case .removedBackward: .backward
      case .removedForward: step.count == 1 ? .atOnce : .forward
      default: .atOnce
      }
    if let target {
      guard !target.isNone else { throw reader.failure("a removal of nothing") }
      let offset = Int(target.offset) - (order == .backward ? step.count - 1 : 0)
      guard offset >= 0, offset + step.count <= value.authors[Int(target.author)].content.count
      else { throw reader.failure("a removal of elements that are not there") }
      let run = RemovalRun(
        number: UInt32(number), offset: UInt32(offset), count: UInt32(step.count),
        target: target.author, order: order)
      let stretches = value.stretches(of: run, &tombstones)
      guard stretches.count == 1, stretches[0].isRemoved else {
        throw reader.failure("a removal that names what can be seen")
      }
      value.authors[Int(author)].record(run)
    } else {
      let start = cursor &+ distance &- (order == .backward ? step.count : 0)
      guard start >= 0, start &+ step.count <= value.tree.visible else {
        throw reader.failure("a removal beyond the end")
      }
      value.removeNow(start..<start &+ step.count, by: author, number: number, order)
      cursor = start
    }
    if goesOn {
      let removals = value.authors[Int(author)].removals
      for run in removals[max(0, recorded - 1)...] where run.lastNumber >= number {
        let new = run.dropping(upTo: number - 1)
        guard !value.removesUnseen(new, of: new.target, by: author) else {
          throw reader.failure("a removal of what its change has not seen")
        }
      }
    }
    expected.make(step, number: number, lamport: expected.lamports[expected.author])
  }
}
