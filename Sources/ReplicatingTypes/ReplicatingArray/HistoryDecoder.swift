// Reading a history: its steps are made again, one after the other.
//
// At first in a list, as long as each step is at a position and later than all before it; a history that one author
// wrote, or several who took turns, has no others. From the first other step on in a tree, which is built of the list then.

/// The part of a history before its steps: authors, logical time, and all elements.
struct HistoryHead<Element: Equatable & Sendable & BinaryCodable> {
  /// The authors, who have done nothing yet.
  fileprivate var value = ReplicatingArray<Element>()
  fileprivate var lastNumbers: [UInt64] = []
  fileprivate let lamport: UInt64
  fileprivate let elements: [Element]
  fileprivate let steps: Int
  /// The number of bytes behind it: a step takes one at least.
  private let remaining: Int

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
    elements = try reader.elements()
    steps = try reader.count()
    remaining = reader.remaining
    guard count > 0 || steps == 0 && lamport == 0 else { throw reader.failure("steps by nobody") }
  }

  /// True if making the steps in a list takes less time than in a tree: from some 64 steps on, unless these are few and long. A list has its
  /// memory before the first step is read, so there must be bytes for all of them.
  var areWorthListing: Bool {
    steps >= 64 && steps <= remaining && elements.count / 1024 <= steps
  }
}

struct HistoryDecoder<Element: Equatable & Sendable & BinaryCodable>: ~Copyable {
  private(set) var value: ReplicatingArray<Element>
  private let lastNumbers: [UInt64]
  private let lamport: UInt64
  private let elements: [Element]
  private let steps: Int
  private var expected: ExpectedSteps
  private var cursor = 0
  private var tombstones = KnownTombstones()
  /// The largest logical time of an insertion so far.
  private var latest: UInt64 = 0
  private var latestRemoved = LatestRemoved()
  /// The list in which steps are made, unless they are made in the tree of `value`.
  private var replay = HistoryReplay()
  private(set) var isReplaying: Bool

  /// `byList`: whether steps are made in a list, as far as they can be.
  init(_ head: HistoryHead<Element>, byList: Bool) {
    isReplaying = byList
    (value, lastNumbers) = (head.value, head.lastNumbers)
    (lamport, elements, steps) = (head.lamport, head.elements, head.steps)
    expected = ExpectedSteps(max(lastNumbers.count, 1))
  }

  mutating func decode(_ reader: inout ByteReader) throws(DecodingFailure) {
    let elements = elements
    beginReplay(reader)
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
        case .left, .right:
          endReplay()
          let element = try element(value, &reader)
          if note == .left { left = element } else { right = element }
        default: try take(note, value, reader)
        }
      case .step(let step, let distance):
        let author = expected.author
        let number = expected.number
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
    if isReplaying {
      value.build(from: replay.list)
    } else if !value.isASCII {
      // No edit has said what it adds.
      value.weigh()
    }
  }

  // MARK: - In a list

  private mutating func beginReplay(_ reader: ByteReader) {
    if isReplaying, let totals = totals(reader), ElementList.hasRoom(for: totals) {
      replay = HistoryReplay(totals)
    } else {
      isReplaying = false
    }
    guard value.authors.count == 1 else { return }
    if isReplaying {
      value.authors[0].content = elements
    } else {
      value.authors[0].content.reserveCapacity(elements.count)
    }
  }

  /// The number of elements that each author inserts before the first step with a note of elements, which is not made in a list; `nil` if a
  /// wrong one comes before it.
  private func totals(_ reader: ByteReader) -> [Int]? {
    guard value.authors.count > 1 else { return [elements.count] }
    var reader = reader
    var totals = Array(repeating: 0, count: value.authors.count)
    var (author, start, made) = (0, 0, 0)
    while made < steps {
      guard let next = try? reader.stepOrNote() else { return nil }
      switch next {
      case .note(.author, let value):
        guard totals.indices.contains(value) else { return nil }
        author = value
      case .note(.left, _), .note(.right, _): return totals
      case .note: break
      case .step(let step, _):
        made += 1
        if step.isRemoval { continue }
        guard step.count <= elements.count - start else { return nil }
        start += step.count
        totals[author] += step.count
      }
    }
    return totals
  }

  /// Goes on in a tree.
  @inline(never)
  private mutating func endReplay() {
    guard isReplaying else { return }
    let first = replay.list.count(by: 0)
    value.build(from: replay.list, isLast: false)
    replay = HistoryReplay()
    isReplaying = false
    guard value.authors.count == 1 else { return }
    value.authors[0].content.removeLast(elements.count - Int(first))
    value.authors[0].content.reserveCapacity(elements.count)
  }

  private mutating func take(
    _ note: StepNote, _ value: Int, _ reader: ByteReader
  ) throws(DecodingFailure) {
    switch note {
    case .author where value != expected.author && lastNumbers.indices.contains(value):
      expected.turn(to: value)
    case .number:
      let number = Int(expected.number) + value
      // Another step of the last change is the least.
      guard value != 0, number >= max(1, Int(self.value.authors[expected.author].lastNumber)),
        number <= lastNumbers[expected.author]
      else {
        throw reader.failure("changes out of order")
      }
      expected.number = UInt64(number)
    case .lamport:
      let time = Int(expected.lamport) &+ value
      guard value != 0, time > 0, time <= Int(lamport) else {
        throw reader.failure("a logical time of \(time)")
      }
      expected.lamport = UInt64(time)
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
    let time = expected.lamport
    let last = time &+ UInt64(step.count) &- 1
    // Other elements than its neighbours may have to be looked at.
    if time <= latest { endReplay() }
    let present =
      isReplaying ? replay.list.count(by: author) : value.authors[expected.author].count
    guard last <= lamport, Int(present) &+ step.count <= ReplicatingArray<Element>.maximumCount
    else { throw reader.failure("a logical time after the last") }
    guard Int(time) &- Int(number) >= expected.leastSkew else {
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
      cursor = value.tree.cursor.start &+ Int(value.tree.current.count)
    } else {
      guard left == nil, right == nil else { throw reader.failure("half an insertion") }
      let position = cursor &+ distance
      guard position >= 0, position <= visible else {
        throw reader.failure("position \(position) of \(visible)")
      }
      if isReplaying {
        let count = UInt32(truncatingIfNeeded: step.count)
        let (left, right) = replay.insert(count, by: author, at: position)
        value.record(
          elements, present, by: author, number: number, lamport: time,
          isStepping: step.kind == .typed, left: left, right: right)
        if replay.isLarge { endReplay() }
      } else {
        let (left, right, skipped) = value.moveToGap(at: position)
        if time <= latest { try check(left, right, author, time, reader) }
        value.insert(
          elements, by: author, number: number, lamport: time, isStepping: step.kind == .typed,
          left: left, right: right, behind: skipped, weight: .zero)
      }
      cursor = position &+ step.count
    }
    latest = max(latest, last)
    expected.make(step, number: number, lamport: time)
  }

  /// The number of visible elements.
  @inline(__always)
  private var visible: Int { isReplaying ? replay.count : value.tree.visible }

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
      guard start >= 0, start &+ step.count <= visible else {
        throw reader.failure("a removal beyond the end")
      }
      let range = start..<start &+ step.count
      if isReplaying {
        replay.remove(range, number: number, order) { value.authors[Int(author)].record($0) }
        if replay.isLarge { endReplay() }
      } else {
        value.removeNow(range, by: author, number: number, order)
      }
      cursor = start
    }
    // One author has seen all.
    if goesOn, value.authors.count > 1 {
      let removals = value.authors[Int(author)].removals
      for run in removals[max(0, recorded - 1)...] where run.lastNumber >= number {
        let new = run.dropping(upTo: number - 1)
        guard !value.removesUnseen(new, of: new.target, by: author) else {
          throw reader.failure("a removal of what its change has not seen")
        }
      }
    }
    expected.make(step, number: number, lamport: expected.lamport)
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

extension ReplicatingArray {
  /// Notes an insertion of the next elements of an author, which is made in a list. The only author has its elements already.
  @inline(__always)
  fileprivate mutating func record(
    _ elements: borrowing Span<Element>, _ first: UInt32, by author: AuthorIndex, number: UInt64,
    lamport: UInt64, isStepping: Bool, left: LocalID, right: LocalID
  ) {
    let count = UInt32(truncatingIfNeeded: elements.count)
    authors[Int(author)].recordInsertion(
      first, count: count, number: number, lamport: lamport, isStepping: isStepping, left: left,
      right: right, me: author)
    if authors.count > 1 { authors[Int(author)].append(elements) }
    let time = lamport &+ UInt64(count) &- 1
    if time > self.lamport {
      self.lamport = time
      latest.set(authors[Int(author)].id)
    }
  }
}
