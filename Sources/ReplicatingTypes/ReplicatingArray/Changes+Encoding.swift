// A sequence, and changes of one, in bytes. A sequence is written as all of its changes: those that follow nothing.
//
//     format                 a byte, 1
//     lamport                varint: the largest logical time seen
//     authors                varint: how many; of each, in their order, 16 bytes of identity, the number of the last change
//                            contained, and how many of these are contained and not followed, two varints
//     elements               varint: how many; those inserted, in the order of the steps
//     makers                 varint: how many authors have steps; for each, in their order:
//                                varint: its place among the authors; varint: the offset of its first element;
//                                varint: how many steps; the steps (StepCode.swift), with notes before those that need one
//
// A reader may not have the state that this follows, so places are elements and not positions: gap g of an
// author is the one behind its element g − 1, and before element g, if nothing else says what it precedes. The distance of
// a step is from the last gap of that author: of others' the one where something was inserted, of its own the one behind what
// it inserted; behind removed elements, or before them if that was backward. At first it is 0. The number of a step and its
// logical time are expected to be one more than what is followed, and then to go on.
//
// Changes have one encoding, with no note that says what is plain without it; but the same may be changes cut otherwise.

extension ReplicatingArray: BinaryCodable where Element: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    changes(since: Version()).encode(into: &writer)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    let changes = try Changes(from: &reader)
    self.init()
    guard changes.since.isEmpty else {
      throw start.failure("changes that follow others, and no sequence")
    }
    do { try joinChecked(changes, isWhole: true) } catch { throw start.failure(error.reason) }
    // The bytes hold the whole value: no part of it was joined alone.
    joined = JoinedVersion()
    // Of the past states nothing is known: one author, too, may have made changes on an earlier state.
    isContested = !authors.isEmpty
    isConcurrent = isContested
  }
}

extension ReplicatingArray.Changes: BinaryCodable where Element: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    let names = version.replicas
    // Most have one author.
    let indices =
      names.count == 1
      ? [:] : Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    let places = authors.map { indices[$0] ?? 0 }
    var makers = names.indices.map { Maker($0, since: since[names[$0]]) }
    var parts: [[Range<Int>]] = Array(repeating: [], count: names.count)
    var index = StepIndex()
    while let step = step(at: &index) {
      switch step {
      case .insertion(let insertion, let elements):
        let maker = places[Int(insertion.author)]
        makers[maker].encode(insertion, places)
        parts[maker].append(elements)
      case .removal(let removal): makers[places[Int(removal.author)]].encode(removal.run, places)
      }
    }
    makers.removeAll { $0.steps == 0 }
    writer.format(1)
    writer.varint(lamport)
    writer.varint(names.count)
    for name in names {
      writer.replica(name)
      writer.varint(version[name])
      writer.varint(version[name] - since[name])
    }
    writer.elements(makers.count <= 1 ? content : parts.joined().flatMap { content[$0] })
    writer.varint(makers.count)
    for maker in makers {
      writer.varint(maker.author)
      writer.varint(UInt64(maker.first ?? 0))
      writer.varint(maker.steps)
      writer.raw(maker.writer.bytes)
    }
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "changes of a sequence")
    lamport = try reader.varint()
    guard lamport <= LamportTimestamp.largestCount else {
      throw reader.failure("a logical time of \(lamport)")
    }
    since = Version()
    version = Version()
    authors = []
    let count = try reader.count()
    guard count <= reader.remaining / (reader.leastReplicaSize + 2),
      count <= ReplicatingArray<Element>.maximumAuthors
    else {
      throw reader.failure("\(count) authors")
    }
    for _ in 0..<count {
      let id = try reader.replica()
      if let last = authors.last, last >= id { throw reader.failure("authors out of order") }
      let number = try reader.varint()
      let new = try reader.varint()
      guard number > 0, number <= ReplicatingArray<Element>.maximumNumber, new <= number else {
        throw reader.failure("changes \(new) of \(number)")
      }
      authors.append(id)
      version[id] = number
      since[id] = number - new
    }
    let elements: [Element] = try reader.elements()
    let makers = try reader.count()
    guard makers <= count else { throw reader.failure("\(makers) makers of \(count) authors") }
    var steps = DecodedSteps<Element>(elements.count)
    var last = -1
    for _ in 0..<makers {
      let author = try reader.count()
      guard author > last, author < count else { throw reader.failure("makers out of order") }
      last = author
      let maker = Maker(author, since: since[authors[author]])
      try steps.read(
        &reader, by: maker, of: count, upTo: version[authors[author]],
        lamport: lamport)
    }
    guard steps.start == elements.count else {
      throw reader.failure("elements that nobody inserted")
    }
    content = steps.putInOrder(elements)
    insertions = steps.insertions
    removals = steps.removals
  }
}

/// The steps of one author, and the expectation of its next one.
private struct Maker {
  let author: Int
  var writer = ByteWriter()
  var steps = 0
  var number: UInt64
  var lamport: UInt64
  /// Among whose elements the last step was, and the last gap there; that among its own, and those of others.
  private(set) var place: Int
  var gap = 0
  private var ownGap = 0
  private var otherGaps: [Int: Int] = [:]
  /// The offset of the first element inserted, and of the next.
  var first: UInt32?
  var next: UInt32 = 0

  init(_ author: Int, since: UInt64) {
    self.author = author
    number = since + 1
    lamport = since + 1
    place = author
  }

  mutating func move(to place: Int) {
    if self.place == author { ownGap = gap } else { otherGaps[self.place] = gap }
    self.place = place
    gap = place == author ? ownGap : otherGaps[place] ?? 0
  }

  /// The next elements were inserted at a gap.
  mutating func insert(_ count: UInt32, at gap: Int) {
    next += count
    if place == author {
      self.gap = Int(next)
    } else {
      self.gap = gap
      ownGap = Int(next)
    }
  }

  mutating func make(_ step: Step, number: UInt64, lamport: UInt64) {
    self.number = number &+ step.changes
    self.lamport = lamport &+ step.ticks
    steps += 1
  }

  // MARK: Encoding

  private mutating func begin(number: UInt64, place: Int) {
    if number != self.number { writer.note(.number, Int(number) - Int(self.number)) }
    if place != self.place {
      writer.note(.place, place)
      move(to: place)
    }
  }

  mutating func encode(_ insertion: ReplicatingArray<some Any>.Changes.Insertion, _ places: [Int]) {
    let (left, right) = (insertion.left, insertion.right)
    begin(number: insertion.number, place: left.isNone ? place : places[Int(left.author)])
    if first == nil {
      first = insertion.offset
      next = insertion.offset
    }
    if insertion.lamport != lamport {
      writer.note(.lamport, Int(insertion.lamport) - Int(lamport))
    }
    let gap = left.isNone ? 0 : Int(left.offset) + 1
    if right.isNone {
      writer.note(.right, -1)
    } else if places[Int(right.author)] != place || Int(right.offset) != gap {
      writer.note(.right, places[Int(right.author)])
      writer.varint(UInt64(right.offset))
    }
    let step = Step(
      kind: insertion.isStepping || insertion.count == 1 ? .typed : .inserted,
      count: Int(insertion.count))
    writer.step(step, distance: gap - self.gap)
    insert(insertion.count, at: gap)
    make(step, number: insertion.number, lamport: insertion.lamport)
  }

  mutating func encode(_ run: RemovalRun, _ places: [Int]) {
    begin(number: UInt64(run.number), place: places[Int(run.target)])
    let kind: Step.Kind =
      switch run.order {
      case _ where run.count == 1: .removedForward
      case .atOnce: .removedAtOnce
      case .forward: .removedForward
      case .backward: .removedBackward
      }
    let step = Step(kind: kind, count: Int(run.count))
    let isBackward = kind == .removedBackward
    writer.step(step, distance: Int(isBackward ? run.offset + run.count : run.offset) - gap)
    gap = Int(isBackward ? run.offset : run.offset + run.count)
    make(step, number: UInt64(run.number), lamport: lamport)
  }
}

/// The steps of all makers, which are put in order when all are read.
private struct DecodedSteps<Element: Equatable & Sendable & BinaryCodable> {
  typealias Insertion = ReplicatingArray<Element>.Changes.Insertion
  typealias Removal = ReplicatingArray<Element>.Changes.Removal

  private let elements: Int
  private(set) var start = 0
  /// As they were read, and in order afterwards.
  private(set) var insertions: [Insertion] = []
  private(set) var removals: [Removal] = []
  /// The makers read, each with the ends of its steps.
  private var makers: [(author: Int, insertions: Int, removals: Int)] = []

  init(_ elements: Int) {
    self.elements = elements
  }

  mutating func read(
    _ reader: inout ByteReader, by maker: Maker,
    of authors: Int, upTo last: UInt64, lamport: UInt64
  ) throws(DecodingFailure) {
    var maker = maker
    let first = try reader.count()
    maker.next = UInt32(first)
    let steps = try reader.count()
    let before = insertions.count
    var right: LocalID?
    var lastNote: StepNote?
    var (isPlaced, isTimed) = (false, false)
    while maker.steps < steps {
      switch try reader.stepOrNote() {
      case .note(let note, let value):
        guard note.isAllowed(after: lastNote) else { throw reader.failure("notes out of order") }
        lastNote = note
        if note == .right {
          right = try element(value, &reader, authors)
        } else {
          isPlaced = isPlaced || note == .place
          isTimed = isTimed || note == .lamport
          try take(note, value, &maker, authors, last, lamport, reader)
        }
      case .step(let step, let distance):
        guard maker.number &+ step.changes &- 1 <= last else {
          throw reader.failure("a change after the last")
        }
        let gap = maker.gap &+ distance
        guard gap >= 0, gap &+ step.count <= Int(Int32.max) else {
          throw reader.failure("gap \(gap)")
        }
        if step.isRemoval {
          guard right == nil, !isTimed else {
            throw reader.failure("a removal in two places, or at a time")
          }
          try remove(step, gap, &maker, reader)
        } else {
          // A step that is as expected has no note.
          guard gap > 0 || !isPlaced,
            right != LocalID(AuthorIndex(maker.place), UInt32(gap))
          else { throw reader.failure("an insertion whose place is said twice") }
          try insert(step, gap, right, &maker, lamport, reader)
        }
        right = nil
        lastNote = nil
        (isPlaced, isTimed) = (false, false)
      }
    }
    guard steps > 0, right == nil, insertions.count > before || first == 0 else {
      throw reader.failure("a maker of nothing")
    }
    makers.append((maker.author, insertions.count, removals.count))
  }

  private func element(
    _ author: Int, _ reader: inout ByteReader, _ authors: Int
  ) throws(DecodingFailure) -> LocalID {
    if author == -1 { return .none }
    guard author >= 0, author < authors else { throw reader.failure("author \(author)") }
    return LocalID(AuthorIndex(author), UInt32(try reader.count()))
  }

  private func take(
    _ note: StepNote, _ value: Int, _ maker: inout Maker, _ authors: Int, _ last: UInt64,
    _ lamport: UInt64, _ reader: ByteReader
  ) throws(DecodingFailure) {
    switch note {
    case .place where value >= 0 && value < authors && value != maker.place:
      maker.move(to: value)
    case .number:
      let number = Int(maker.number) + value
      guard value != 0, number >= max(1, Int(maker.number) - 1), number <= last else {
        throw reader.failure("changes out of order")
      }
      maker.number = UInt64(number)
    case .lamport:
      let time = Int(maker.lamport) &+ value
      guard value != 0, time > 0, time <= Int(lamport) else {
        throw reader.failure("a logical time of \(time)")
      }
      maker.lamport = UInt64(time)
    default: throw reader.failure("a note that means nothing here")
    }
  }

  @inline(__always)
  private mutating func insert(
    _ step: Step, _ gap: Int, _ right: LocalID?, _ maker: inout Maker, _ lamport: UInt64,
    _ reader: ByteReader
  ) throws(DecodingFailure) {
    let count = UInt32(truncatingIfNeeded: step.count)
    guard step.count <= elements &- start, Int(maker.next) &+ step.count <= Int(Int32.max) else {
      throw reader.failure("more is inserted than there is")
    }
    guard maker.lamport &+ step.ticks &- 1 <= lamport else {
      throw reader.failure("a logical time after the last")
    }
    let place = AuthorIndex(truncatingIfNeeded: maker.place)
    let next = UInt32(truncatingIfNeeded: gap)
    insertions.append(
      Insertion(
        author: AuthorIndex(truncatingIfNeeded: maker.author), offset: maker.next, count: count,
        isStepping: step.kind == .typed && count > 1,
        left: gap == 0 ? .none : LocalID(place, next &- 1), right: right ?? LocalID(place, next),
        number: maker.number, lamport: maker.lamport))
    start &+= step.count
    let (number, time) = (maker.number, maker.lamport)
    maker.insert(count, at: gap)
    maker.make(step, number: number, lamport: time)
  }

  @inline(__always)
  private mutating func remove(
    _ step: Step, _ gap: Int, _ maker: inout Maker, _ reader: ByteReader
  ) throws(DecodingFailure) {
    let order: RemovalRun.Order =
      switch step.kind {
      case .removedBackward: .backward
      case .removedForward: step.count == 1 ? .atOnce : .forward
      default: .atOnce
      }
    let offset = order == .backward ? gap &- step.count : gap
    guard offset >= 0 else { throw reader.failure("gap \(offset)") }
    let run = RemovalRun(
      number: UInt32(maker.number), offset: UInt32(offset), count: UInt32(step.count),
      target: AuthorIndex(truncatingIfNeeded: maker.place), order: order)
    removals.append(
      Removal(
        author: AuthorIndex(truncatingIfNeeded: maker.author),
        place: UInt32(truncatingIfNeeded: insertions.count), run: run))
    maker.gap = order == .backward ? offset : offset &+ step.count
    maker.make(step, number: maker.number, lamport: maker.lamport)
  }

  // MARK: - Order

  /// An insertion, by its place among those read, or a removal, by the complement of that.
  private struct TimedStep {
    var time: UInt64
    /// Orders steps of one time.
    var rank: Int
    var index: Int
  }

  /// Puts all steps in an order in which each can be made after those before it: insertions in logical time, each removal after
  /// what its author did before and after what it removes. Returns the elements in the order of the insertions.
  mutating func putInOrder(_ elements: [Element]) -> [Element] {
    if makers.count <= 1 { return elements }
    var starts: [Int] = []
    starts.reserveCapacity(insertions.count)
    var start = 0
    for insertion in insertions {
      starts.append(start)
      start += Int(insertion.count)
    }
    var (ordered, kept): ([Insertion], [Removal]) = ([], [])
    ordered.reserveCapacity(insertions.count)
    kept.reserveCapacity(removals.count)
    var content: [Element] = []
    content.reserveCapacity(elements.count)
    for step in timedSteps.sorted(by: { ($0.time, $0.rank) < ($1.time, $1.rank) }) {
      if step.index >= 0 {
        let insertion = insertions[step.index]
        ordered.append(insertion)
        let start = starts[step.index]
        content.append(contentsOf: elements[start..<start + Int(insertion.count)])
      } else {
        var removal = removals[~step.index]
        removal.place = UInt32(truncatingIfNeeded: ordered.count)
        kept.append(removal)
      }
    }
    (insertions, removals) = (ordered, kept)
    return content
  }

  /// All steps as they were read, maker by maker.
  private var timedSteps: [TimedStep] {
    var steps: [TimedStep] = []
    steps.reserveCapacity(insertions.count + removals.count)
    var own: [Int: Range<Int>] = [:]
    var before = 0
    for maker in makers {
      own[maker.author] = before..<maker.insertions
      before = maker.insertions
    }
    var (insertion, removal) = (0, 0)
    for maker in makers {
      var latest: UInt64 = 0
      while insertion < maker.insertions || removal < maker.removals {
        if removal < maker.removals, removals[removal].place <= insertion {
          let run = removals[removal].run
          if let range = own[Int(run.target)],
            let time = time(of: run.offset &+ run.count &- 1, among: range)
          {
            latest = max(latest, time &+ 1)
          }
          steps.append(TimedStep(time: latest, rank: steps.count, index: ~removal))
          removal += 1
        } else {
          latest = max(latest, insertions[insertion].lamport)
          steps.append(TimedStep(time: latest, rank: steps.count, index: insertion))
          insertion += 1
        }
      }
    }
    return steps
  }

  /// The logical time of an element that is inserted by steps of its author.
  private func time(of offset: UInt32, among range: Range<Int>) -> UInt64? {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if insertions[middle].offset &+ insertions[middle].count <= offset {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < range.upperBound, insertions[low].offset <= offset else { return nil }
    return insertions[low].lamport &+ UInt64(offset &- insertions[low].offset)
  }
}
