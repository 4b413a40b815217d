/// Everything one replica did to a sequence, in its order, in runs.
///
/// An author's insertions are numbered through: an element's offset is its place in `content`. What is known of an element
/// besides, where and when it was inserted, holds for whole runs and is looked up only when something must be decided by
/// it.
struct AuthorLog<Element: Equatable & Sendable>: Sendable {
  /// The changes that brought the elements from offset `first` on: all the same, or, stepping, one for each element. 8
  /// bytes.
  struct StampRun: ElementRun, Equatable, Sendable {
    var first: UInt32
    /// The number of the first element's change; the highest bit says stepping.
    var bits: UInt32

    init(first: UInt32, number: UInt64, isStepping: Bool = false) {
      self.first = first
      bits = UInt32(number) | (isStepping ? 1 << 31 : 0)
    }

    var number: UInt64 { UInt64(bits & ~(1 << 31)) }
    var isStepping: Bool { bits >> 31 == 1 }

    /// True if the element at `offset` is another of the run, by its stamp.
    func goesOn(with number: UInt64, _ lamport: UInt64, at offset: UInt32, _ skew: Int64) -> Bool {
      let length = UInt64(offset &- first)
      guard Int64(lamport) &- Int64(self.number &+ length) == skew else { return false }
      if number == self.number { return length == 1 || !isStepping }
      return number == self.number &+ length && (length == 1 || isStepping)
    }
  }

  /// By how much, from offset `first` on, an element's Lamport count exceeds the number of its change (and, when that
  /// brought several, the elements before it). One author alone has the same all the time.
  struct Skew: ElementRun, Equatable, Sendable {
    var first: UInt32
    var skew: Int64
  }

  /// Between which elements those from offset `first` on were inserted: the first after `left`, each other after the one
  /// before it, all before `right`. 20 bytes.
  struct Origin: ElementRun, Equatable, Sendable {
    var first: UInt32
    var left: LocalID
    var right: LocalID
  }

  let id: ReplicaID
  /// Every element it inserted, the removed ones too.
  var content: [Element] = []
  var origins: [Origin] = []
  var stamps: [StampRun] = []
  var skews: [Skew] = []
  var removals: [RemovalRun] = []
  var lastNumber: UInt64 = 0
  /// In which leaf an element is; empty until that must be known.
  var leaves = LeafIndex()

  init(id: ReplicaID) {
    self.id = id
  }

  var count: UInt32 { UInt32(truncatingIfNeeded: content.count) }

  // MARK: - Looking up

  func left(of offset: UInt32, author: AuthorIndex) -> LocalID {
    let origin = origins[origins.index(holding: offset)]
    return origin.first == offset ? origin.left : LocalID(author, offset - 1)
  }

  /// The end of the chain that goes on from an element, before `end`: of its author's next elements, each inserted behind the one before it.
  /// A chain of more than 64 runs of origins is told in parts: its elements lead to the same answers one by one. O(log runs).
  func endOfChain(from offset: UInt32, upTo end: UInt32, author: AuthorIndex) -> UInt32 {
    let first = origins.index(holding: offset) &+ 1
    var index = first
    while index < origins.count, origins[index].first < end {
      let origin = origins[index]
      if origin.left != LocalID(author, origin.first &- 1) || index &- first == 64 {
        return origin.first
      }
      index &+= 1
    }
    return end
  }

  func right(of offset: UInt32) -> LocalID { origins[origins.index(holding: offset)].right }

  func number(of offset: UInt32) -> UInt64 {
    let run = stamps[stamps.index(holding: offset)]
    return run.isStepping ? run.number + UInt64(offset - run.first) : run.number
  }

  /// The elements around one, side by side, that its change inserted. O(log runs).
  func offsets(insertedWith offset: UInt32) -> Range<UInt32> {
    let index = stamps.index(holding: offset)
    if stamps[index].isStepping { return offset..<offset + 1 }
    return stamps[index].first..<(index + 1 < stamps.count ? stamps[index + 1].first : count)
  }

  func lamport(of offset: UInt32) -> UInt64 {
    let run = stamps[stamps.index(holding: offset)]
    let skew = skews[skews.index(holding: offset)].skew
    return UInt64(bitPattern: Int64(run.number + UInt64(offset - run.first)) + skew)
  }

  /// The number of elements that changes 1 to `number` brought.
  func count(upTo number: UInt64) -> UInt32 {
    var low = 0
    var high = stamps.count
    while low < high {
      let middle = (low + high) / 2
      if stamps[middle].number <= number { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return 0 }
    let run = stamps[low - 1]
    let end = low < stamps.count ? stamps[low].first : count
    guard run.isStepping else { return end }
    return UInt32(min(UInt64(end - run.first), number - run.number + 1)) + run.first
  }

  // MARK: - Recording

  /// Takes the next elements, and notes where and when they were inserted. Runs come out the same however elements were
  /// grouped on their way here, so that equal histories are equal values. Returns the offset of the first. `whole` are the
  /// same elements if an array has them: it is appended at once.
  @inline(__always)
  mutating func insert(
    _ elements: borrowing Span<Element>, number: UInt64, lamport: UInt64, isStepping: Bool,
    left: LocalID, right: LocalID, me: AuthorIndex, whole: [Element]?
  ) -> UInt32 {
    let first = self.count
    let count = UInt32(truncatingIfNeeded: elements.count)
    recordInsertion(
      first, count: count, number: number, lamport: lamport, isStepping: isStepping, left: left,
      right: right, me: me)
    if let whole { append(whole) } else { append(elements) }
    return first
  }

  /// So many elements that come at once are followed by room for a sixteenth more. An array that has just what it holds is copied when the
  /// next element comes, and a letter behind 10 MB would take milliseconds.
  private static var manyElements: Int { 1 << 16 }

  @inline(__always)
  private mutating func append(_ whole: [Element]) {
    if content.isEmpty, whole.count >= Self.manyElements {
      content.reserveCapacity(whole.count + whole.count / 16)
    }
    content.append(contentsOf: whole)
  }

  /// Takes elements of which it is noted where and when they were inserted.
  @inline(__always)
  mutating func append(_ elements: borrowing Span<Element>) {
    if elements.count == 1 {
      content.append(elements[0])
    } else {
      elements.withUnsafeBufferPointer { content.append(contentsOf: $0) }
    }
  }

  /// Notes where and when the next elements were inserted; they are still to be appended to `content`.
  @inline(__always)
  mutating func recordInsertion(
    _ first: UInt32, count: UInt32, number: UInt64, lamport: UInt64, isStepping: Bool,
    left: LocalID, right: LocalID, me: AuthorIndex
  ) {
    let extends =
      first > 0 && left == LocalID(me, first &- 1) && !origins.isEmpty
      && origins[origins.count &- 1].right == right
    if !extends { origins.append(Origin(first: first, left: left, right: right)) }
    recordStamps(first, count: count, number: number, lamport: lamport, isStepping: isStepping)
    lastNumber = max(lastNumber, isStepping ? number &+ UInt64(count) &- 1 : number)
  }

  /// Takes the last `kept` of the elements that were typed from offset `first` on, and notes when all were: by changes of an element each, of
  /// which the last is `number` at `lamport`.
  @inline(__always)
  mutating func settleTyping(
    _ kept: Int, of typed: inout OpenEdit.Bytes, _ first: UInt32, count: UInt32,
    upTo number: UInt64, lamport: UInt64
  ) {
    if Element.self == UInt8.self { OpenEdit.append(kept, of: &typed, to: &content) }
    let others = UInt64(count &- 1)
    recordStamps(
      first, count: count, number: number &- others, lamport: lamport &- others, isStepping: true)
    lastNumber = number
  }

  @inline(__always)
  mutating func recordStamps(
    _ first: UInt32, count: UInt32, number: UInt64, lamport: UInt64, isStepping: Bool
  ) {
    let begins = recordStamp(first, number, lamport)
    guard count > 1 else { return }
    if begins {
      if isStepping {
        stamps[stamps.count &- 1] = StampRun(first: first, number: number, isStepping: true)
      }
      return
    }
    // The first belongs to the run before. If that is stepping, so do the others.
    if isStepping, stamps[stamps.count &- 1].isStepping { return }
    // Then the second begins one, or goes on as well, and the third says of which kind the run is; the others follow them.
    recordStamp(first &+ 1, isStepping ? number &+ 1 : number, lamport &+ 1)
    if count > 2, isStepping { recordStamp(first &+ 2, number &+ 2, lamport &+ 2) }
  }

  /// Notes an element; true if a run begins with it.
  @discardableResult
  private mutating func recordStamp(
    _ offset: UInt32, _ number: UInt64, _ lamport: UInt64
  ) -> Bool {
    if let last = stamps.last {
      let length = UInt64(offset &- last.first)
      let steps = number == last.number &+ length
      let skew = Int64(lamport) &- Int64(last.number &+ length)
      if skew == skews[skews.count &- 1].skew {
        if length == 1 {
          if steps || number == last.number {
            stamps[stamps.count &- 1] = StampRun(
              first: last.first, number: last.number, isStepping: steps)
            return false
          }
        } else if last.isStepping ? steps : number == last.number {
          return false
        }
      }
    }
    stamps.append(StampRun(first: offset, number: number))
    let skew = Int64(lamport) &- Int64(number)
    if skews.last?.skew != skew { skews.append(Skew(first: offset, skew: skew)) }
    return true
  }

  /// Notes that a change removed elements of one author.
  @inline(__always)
  mutating func record(
    number: UInt64, removing target: AuthorIndex, _ offset: UInt32, _ count: UInt32
  ) {
    // Only neighbours of the last run may go on with it.
    if let last = removals.last, offset &+ 1 &- last.offset <= last.count &+ 1 {
      return recordBeside(last, number: number, removing: target, offset, count)
    }
    removals.append(
      RemovalRun(
        number: UInt32(number), offset: offset, count: count, target: target, order: .atOnce))
  }

  @inline(never)
  private mutating func recordBeside(
    _ last: RemovalRun, number: UInt64, removing target: AuthorIndex, _ offset: UInt32,
    _ count: UInt32
  ) {
    let number = UInt32(number)
    if last.target == target {
      if last.order != .atOnce, UInt64(number) == last.lastNumber, last.latest &+ 1 == offset {
        // The last one was not removed alone, so it is none of a run of such.
        removals[removals.count &- 1].dropLatest()
        removals.append(
          RemovalRun(
            number: number, offset: last.latest, count: count &+ 1, target: target, order: .atOnce))
        return
      }
      let isNext = offset == last.offset &+ last.count
      if isNext, last.order == .atOnce, number == last.number {
        removals[removals.count &- 1].count &+= count
        return
      }
      if count == 1, UInt64(number) == last.lastNumber + 1 {
        let isPrevious = offset &+ 1 == last.offset
        let order: RemovalRun.Order = isNext ? .forward : .backward
        if (isNext || isPrevious) && (last.count == 1 || last.order == order) {
          removals[removals.count &- 1].extend(1, order)
          return
        }
      }
    }
    removals.append(
      RemovalRun(number: number, offset: offset, count: count, target: target, order: .atOnce))
  }

  /// Notes removals, in runs as long as they can be, however they were grouped on their way here.
  @inline(__always)
  mutating func record(_ run: RemovalRun) {
    if run.order == .atOnce {
      record(number: UInt64(run.number), removing: run.target, run.offset, run.count)
      lastNumber = max(lastNumber, UInt64(run.number))
    } else {
      recordSteps(run)
    }
  }

  /// Notes that one change, or one after the other, removed elements of several pieces: of `PieceTree.mostParts` at most.
  mutating func record(
    removing pieces: UnsafeBufferPointer<Piece>, number: UInt64, _ order: RemovalRun.Order
  ) {
    var number = number
    for (index, piece) in pieces.enumerated() {
      if order == .atOnce, let last = removals.last, last.isAtOnce, last.number == number {
        // As a rule from the second on: they can go on with the one before them, and with nothing else.
        return append(removing: UnsafeBufferPointer(rebasing: pieces[index...]), to: last)
      }
      record(Self.run(piece, number, order))
      if order != .atOnce { number &+= UInt64(piece.count) }
    }
  }

  @inline(__always)
  private static func run(
    _ piece: Piece, _ number: UInt64, _ order: RemovalRun.Order
  ) -> RemovalRun {
    RemovalRun(
      number: UInt32(number), offset: piece.offset, count: piece.count, target: piece.author,
      order: order)
  }

  /// Notes that the change of the last run removed more. An array that is asked for each of the runs takes three times as long.
  private mutating func append(removing pieces: UnsafeBufferPointer<Piece>, to last: RemovalRun) {
    precondition(pieces.count <= PieceTree.mostParts)
    withUnsafeTemporaryAllocation(of: RemovalRun.self, capacity: PieceTree.mostParts + 1) { runs in
      var (last, place) = (last, 0)
      runs[0] = last
      for piece in pieces {
        let goesOn = piece.offset == last.offset &+ last.count && piece.author == last.target
        place &+= goesOn ? 0 : 1
        if goesOn {
          last.count &+= piece.count
        } else {
          last = Self.run(piece, UInt64(last.number), .atOnce)
        }
        runs[place] = last
      }
      removals[removals.count &- 1] = runs[0]
      removals.append(contentsOf: UnsafeBufferPointer(rebasing: runs[1..<place &+ 1]))
    }
  }

  @inline(never)
  private mutating func recordSteps(_ run: RemovalRun) {
    var step: UInt32 = 0
    while step < run.count {
      let offset =
        run.order == .forward ? run.offset &+ step : run.offset &+ run.count &- 1 &- step
      record(number: UInt64(run.number &+ step), removing: run.target, offset, 1)
      step &+= 1
      let last = removals[removals.count &- 1]
      if last.count == 1 || last.order == run.order {
        // The rest goes on from there.
        if step < run.count { removals[removals.count &- 1].extend(run.count &- step, run.order) }
        break
      }
    }
    lastNumber = max(lastNumber, run.lastNumber)
  }
}

/// A property of the elements from offset `first` on, up to the next run of its kind.
protocol ElementRun {
  var first: UInt32 { get }
}

extension Array where Element: ElementRun {
  /// The run that holds `offset`, in an array that begins with offset 0. O(log n).
  func index(holding offset: UInt32) -> Int {
    var low = 0
    var high = count
    while high &- low > 1 {
      let middle = (low &+ high) / 2
      if self[middle].first <= offset { low = middle } else { high = middle }
    }
    return low
  }
}

extension AuthorLog {
  /// The removals by changes that are not withdrawn. O(1) if none is.
  func removals(without withdrawn: ChangeRanges) -> [RemovalRun] {
    guard !withdrawn.isEmpty, withdrawn.hasChanges(of: id) else { return removals }
    return removals.flatMap { $0.parts(of: id, without: withdrawn) }
  }
}
