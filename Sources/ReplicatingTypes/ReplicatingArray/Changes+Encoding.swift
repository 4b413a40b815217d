// Changes of a sequence in bytes.
//
//     format                 a byte, 2
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

extension ReplicatingArray.Changes: BinaryCodable where Element: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    let names = version.replicas
    let indices = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    let places = authors.map { indices[$0] ?? 0 }
    var makers = names.indices.map { Maker($0, since: since[names[$0]]) }
    var parts: [[Range<Int>]] = Array(repeating: [], count: names.count)
    var start = 0
    var next = 0
    func removals(before index: Int) {
      while next < self.removals.count, self.removals[next].place <= index {
        let removal = self.removals[next]
        makers[places[Int(removal.author)]].encode(removal.run, places)
        next += 1
      }
    }
    for (index, insertion) in insertions.enumerated() {
      removals(before: index)
      let maker = places[Int(insertion.author)]
      makers[maker].encode(insertion, places)
      parts[maker].append(start..<start + Int(insertion.count))
      start += Int(insertion.count)
    }
    removals(before: .max)
    writer.format(2)
    writer.varint(lamport)
    writer.varint(names.count)
    for name in names {
      writer.replica(name)
      writer.varint(version[name])
      writer.varint(version[name] - since[name])
    }
    writer.elements(parts.joined().flatMap { content[$0] })
    makers.removeAll { $0.steps == 0 }
    writer.varint(makers.count)
    for maker in makers {
      writer.varint(maker.author)
      writer.varint(UInt64(maker.first ?? 0))
      writer.varint(maker.steps)
      writer.raw(maker.writer.bytes)
    }
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(2, of: "changes of a sequence")
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
        &reader, by: maker, of: count, upTo: version[authors[author]], lamport: lamport)
    }
    guard steps.start == elements.count else {
      throw reader.failure("elements that nobody inserted")
    }
    content.reserveCapacity(elements.count)
    for item in steps.ordered() {
      switch item.step {
      case .insertion(let insertion, let start):
        insertions.append(insertion)
        content.append(contentsOf: elements[start..<start + Int(insertion.count)])
      case .removal(let run):
        removals.append(
          Removal(
            author: AuthorIndex(item.author), place: UInt32(insertions.count), run: run))
      }
    }
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

  struct Item {
    enum Step {
      /// With the place of its first element among those of all.
      case insertion(Insertion, Int)
      case removal(RemovalRun)
    }

    var author: Int
    var step: Step
    var time: UInt64 = 0
  }

  private let elements: Int
  private(set) var start = 0
  private var items: [Item] = []
  /// The insertions of each author, in order.
  private var inserted: [Int: [Insertion]] = [:]

  init(_ elements: Int) {
    self.elements = elements
  }

  mutating func read(
    _ reader: inout ByteReader, by maker: Maker, of authors: Int, upTo last: UInt64,
    lamport: UInt64
  ) throws(DecodingFailure) {
    var maker = maker
    let first = try reader.count()
    maker.next = UInt32(first)
    let steps = try reader.count()
    var right: LocalID?
    var notes: [StepNote] = []
    var own: [Insertion] = []
    while maker.steps < steps {
      switch try reader.stepOrNote() {
      case .note(let note, let value):
        guard note.isAllowed(after: notes.last) else { throw reader.failure("notes out of order") }
        notes.append(note)
        if note == .right {
          right = try element(value, &reader, authors)
        } else {
          try take(note, value, &maker, authors, last, lamport, reader)
        }
      case .step(let step, let distance):
        guard maker.number + step.changes - 1 <= last else {
          throw reader.failure("a change after the last")
        }
        let gap = maker.gap + distance
        guard gap >= 0, gap + step.count <= Int(Int32.max) else {
          throw reader.failure("gap \(gap)")
        }
        if step.isRemoval {
          guard right == nil, !notes.contains(.lamport) else {
            throw reader.failure("a removal in two places, or at a time")
          }
          try remove(step, gap, &maker, reader)
        } else {
          // A step that is as expected has no note.
          guard gap > 0 || !notes.contains(.place),
            right != LocalID(AuthorIndex(maker.place), UInt32(gap))
          else { throw reader.failure("an insertion whose place is said twice") }
          own.append(try insert(step, gap, right, &maker, lamport, reader))
        }
        right = nil
        notes.removeAll(keepingCapacity: true)
      }
    }
    guard steps > 0, right == nil, own.isEmpty ? first == 0 : true else {
      throw reader.failure("a maker of nothing")
    }
    inserted[maker.author] = own
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

  private mutating func insert(
    _ step: Step, _ gap: Int, _ right: LocalID?, _ maker: inout Maker, _ lamport: UInt64,
    _ reader: ByteReader
  ) throws(DecodingFailure) -> Insertion {
    let count = UInt32(step.count)
    guard step.count <= elements - start, Int(maker.next) + step.count <= Int(Int32.max) else {
      throw reader.failure("more is inserted than there is")
    }
    guard maker.lamport + step.ticks - 1 <= lamport else {
      throw reader.failure("a logical time after the last")
    }
    let insertion = Insertion(
      author: AuthorIndex(maker.author), offset: maker.next, count: count,
      isStepping: step.kind == .typed && count > 1,
      left: gap == 0 ? .none : LocalID(AuthorIndex(maker.place), UInt32(gap - 1)),
      right: right ?? LocalID(AuthorIndex(maker.place), UInt32(gap)), number: maker.number,
      lamport: maker.lamport)
    items.append(Item(author: maker.author, step: .insertion(insertion, start)))
    start += step.count
    maker.insert(count, at: gap)
    maker.make(step, number: insertion.number, lamport: insertion.lamport)
    return insertion
  }

  private mutating func remove(
    _ step: Step, _ gap: Int, _ maker: inout Maker, _ reader: ByteReader
  ) throws(DecodingFailure) {
    let order: RemovalRun.Order =
      switch step.kind {
      case .removedBackward: .backward
      case .removedForward: step.count == 1 ? .atOnce : .forward
      default: .atOnce
      }
    let offset = order == .backward ? gap - step.count : gap
    guard offset >= 0 else { throw reader.failure("gap \(offset)") }
    let run = RemovalRun(
      number: UInt32(maker.number), offset: UInt32(offset), count: UInt32(step.count),
      target: AuthorIndex(maker.place), order: order)
    items.append(Item(author: maker.author, step: .removal(run)))
    maker.gap = order == .backward ? offset : offset + step.count
    maker.make(step, number: maker.number, lamport: maker.lamport)
  }

  /// All steps in an order in which each can be made after those before it: insertions in logical time, each removal after
  /// what its author did before and after what it removes.
  consuming func ordered() -> [Item] {
    var latest: UInt64 = 0
    var author = -1
    for index in items.indices {
      if items[index].author != author {
        author = items[index].author
        latest = 0
      }
      switch items[index].step {
      case .insertion(let insertion, _): latest = max(latest, insertion.lamport)
      case .removal(let run):
        if let time = time(of: run.offset + run.count - 1, by: Int(run.target)) {
          latest = max(latest, time + 1)
        }
      }
      items[index].time = latest
    }
    if inserted.count > 1 {
      let order = items.indices.sorted {
        (items[$0].time, items[$0].author, $0) < (items[$1].time, items[$1].author, $1)
      }
      return order.map { items[$0] }
    }
    return items
  }

  /// The logical time of an element that is inserted by these steps.
  private func time(of offset: UInt32, by author: Int) -> UInt64? {
    guard let runs = inserted[author] else { return nil }
    var low = 0
    var high = runs.count
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].offset + runs[middle].count <= offset {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < runs.count, runs[low].offset <= offset else { return nil }
    return runs[low].lamport + UInt64(offset - runs[low].offset)
  }
}
