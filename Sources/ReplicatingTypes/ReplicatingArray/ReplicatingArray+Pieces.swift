// How a sequence is kept: what each author did, as runs, and one list of pieces that orders it.

extension ReplicatingArray {
  /// The name of an element inside one value: the author by its place in `authors`.
  struct Local: Equatable, Sendable {
    var author: UInt32
    var offset: UInt32
  }

  /// Neighbouring elements of one author with consecutive offsets, all visible or all removed.
  struct Piece: Sendable {
    var author: UInt32
    var offset: UInt32
    var countAndFlag: UInt32

    init(author: UInt32, offset: UInt32, count: UInt32, isRemoved: Bool) {
      self.author = author
      self.offset = offset
      countAndFlag = count | (isRemoved ? 1 << 31 : 0)
    }

    var count: UInt32 { countAndFlag & ~(1 << 31) }
    var isRemoved: Bool { countAndFlag >> 31 == 1 }
    var visibleCount: Int { isRemoved ? 0 : Int(count) }
    var end: UInt32 { offset + count }
    var first: Local { Local(author: author, offset: offset) }
    var last: Local { Local(author: author, offset: offset + count - 1) }

    func contains(_ element: Local) -> Bool {
      author == element.author && element.offset >= offset && element.offset - offset < count
    }

    /// Whether `next` could be the same piece.
    func joins(_ next: Piece) -> Bool {
      author == next.author && end == next.offset && isRemoved == next.isRemoved
    }
  }

  struct Cursor: Sendable {
    var piece: Int
    var start: Int
  }

  /// The changes that brought elements from offset `first` on: all one change, or, stepping, a change for each element.
  /// In either case each element takes one tick of logical time.
  struct StampRun: ElementRun, Equatable, Sendable {
    var first: UInt32
    var number: UInt64
    var lamport: UInt64
    var isStepping: Bool
  }

  /// Between which elements those from offset `first` on were inserted: the first of them after `left`, each other after
  /// the one before it, all before `right`.
  struct Origin: ElementRun, Equatable, Sendable {
    var first: UInt32
    var left: Local?
    var right: Local?
  }

  struct Removal: Equatable, Sendable {
    var number: UInt64
    var target: UInt32
    var offset: UInt32
    var count: UInt32
  }

  /// Everything one replica did to the sequence, in its order.
  struct Author: Sendable {
    let id: ReplicaID
    /// Every element it inserted, the removed ones too: an element's offset is its place here.
    var content: [Element] = []
    var origins: [Origin] = []
    var stamps: [StampRun] = []
    var removals: [Removal] = []
    var lastNumber: UInt64 = 0

    func origin(at offset: UInt32) -> Origin {
      origins[origins.index(holding: offset)]
    }

    func left(of offset: UInt32, author: UInt32) -> Local? {
      let origin = origin(at: offset)
      return origin.first == offset ? origin.left : Local(author: author, offset: offset - 1)
    }

    func lamport(of offset: UInt32) -> UInt64 {
      let run = stamps[stamps.index(holding: offset)]
      return run.lamport + UInt64(offset - run.first)
    }

    func number(of offset: UInt32) -> UInt64 {
      let run = stamps[stamps.index(holding: offset)]
      return run.isStepping ? run.number + UInt64(offset - run.first) : run.number
    }

    /// How many elements changes 1 to `number` brought.
    func count(upTo number: UInt64) -> Int {
      var low = 0
      var high = stamps.count
      while low < high {
        let middle = (low + high) / 2
        if stamps[middle].number <= number { low = middle + 1 } else { high = middle }
      }
      guard low > 0 else { return 0 }
      let run = stamps[low - 1]
      let end = low < stamps.count ? Int(stamps[low].first) : content.count
      guard run.isStepping else { return end }
      let steps = number - run.number + 1
      return steps >= UInt64(end - Int(run.first)) ? end : Int(run.first) + Int(steps)
    }

    mutating func record(_ removal: Removal) {
      if let last = removals.last, last.number == removal.number, last.target == removal.target,
        last.offset + last.count == removal.offset
      {
        removals[removals.count - 1].count += removal.count
      } else {
        removals.append(removal)
      }
    }

    /// Notes where and when the elements that are about to be appended were inserted. Runs come out the same however the
    /// elements were grouped on their way here, so that equal histories are equal values.
    mutating func record(
      _ count: Int, stamped run: StampRun, left: Local?, right: Local?, me: UInt32
    ) {
      let first = UInt32(content.count)
      let extends =
        first > 0 && left == Local(author: me, offset: first - 1) && origins.last?.right == right
      if !extends { origins.append(Origin(first: first, left: left, right: right)) }
      // The first two elements decide how a run goes on; the others follow them.
      for step in 0..<UInt32(min(count, 2)) {
        recordStamp(
          first + step, number: run.isStepping ? run.number + UInt64(step) : run.number,
          lamport: run.lamport + UInt64(step))
      }
    }

    private mutating func recordStamp(_ offset: UInt32, number: UInt64, lamport: UInt64) {
      if let last = stamps.last {
        let length = UInt64(offset - last.first)
        if lamport == last.lamport + length {
          let steps = number == last.number + length
          if length == 1 && (steps || number == last.number) {
            stamps[stamps.count - 1].isStepping = steps
            return
          }
          if length > 1 && (last.isStepping ? steps : number == last.number) { return }
        }
      }
      stamps.append(StampRun(first: offset, number: number, lamport: lamport, isStepping: false))
    }
  }

  /// A part of a piece that a view shows, or doesn't, as a whole.
  struct Segment {
    var author: UInt32
    var offset: Int
    var count: Int
    var isInView: Bool
    var isInPresent: Bool
  }

  // MARK: - Names

  mutating func index(of replica: ReplicaID) -> UInt32 {
    if let index = authorIndex[replica] { return index }
    let index = UInt32(authors.count)
    authors.append(Author(id: replica))
    authorIndex[replica] = index
    return index
  }

  func id(of element: Local) -> ElementID {
    ElementID(author: authors[Int(element.author)].id, offset: Int(element.offset))
  }

  /// The element's name inside this value. It must be here.
  func local(_ element: ElementID?) -> Local? {
    guard let element else { return nil }
    return Local(author: authorIndex[element.author]!, offset: UInt32(element.offset))
  }

  func range(of removal: Removal) -> ElementRange {
    ElementRange(
      author: authors[Int(removal.target)].id, offset: Int(removal.offset),
      count: Int(removal.count))
  }

  func content(of segment: Segment) -> ArraySlice<Element> {
    authors[Int(segment.author)].content[segment.offset..<segment.offset + segment.count]
  }

  // MARK: - Places

  /// The piece that holds the visible element at `position`, which exists.
  func seek(_ position: Int) -> Cursor {
    var place = position < cursor.start / 2 ? Cursor(piece: 0, start: 0) : cursor
    if position >= place.start {
      while position >= place.start + pieces[place.piece].visibleCount {
        place.start += pieces[place.piece].visibleCount
        place.piece += 1
      }
    } else {
      repeat {
        place.piece -= 1
        place.start -= pieces[place.piece].visibleCount
      } while position < place.start
    }
    return place
  }

  /// The piece that holds an element, which exists. Looks outwards from the last edit.
  func locate(_ element: Local) -> Cursor {
    var before = cursor
    var after = cursor
    while true {
      if after.piece < pieces.count {
        if pieces[after.piece].contains(element) { return after }
        after.start += pieces[after.piece].visibleCount
        after.piece += 1
      }
      if before.piece > 0 {
        before.piece -= 1
        before.start -= pieces[before.piece].visibleCount
        if pieces[before.piece].contains(element) { return before }
      }
      precondition(
        before.piece > 0 || after.piece < pieces.count, "an element that was never inserted")
    }
  }

  /// The element that follows `element`, which is in `piece`; removed ones count.
  func element(after element: Local, in piece: Int) -> Local? {
    if element.offset + 1 < pieces[piece].end {
      return Local(author: element.author, offset: element.offset + 1)
    }
    return piece + 1 < pieces.count ? pieces[piece + 1].first : nil
  }

  /// Visits all elements in order, cut where visibility in `view` changes.
  func forEachSegment(in view: SequenceView, _ body: (Segment) -> Void) {
    for piece in pieces {
      let author = authors[Int(piece.author)].id
      var offset = Int(piece.offset)
      let end = Int(piece.end)
      while offset < end {
        let hidden = view.hidden.run(of: author, from: offset, to: end)
        var stop = hidden.end
        var isInView = !hidden.isMember
        if isInView && piece.isRemoved, let revealed = view.revealed {
          let run = revealed.run(of: author, from: offset, to: stop)
          isInView = run.isMember
          stop = run.end
        }
        body(
          Segment(
            author: piece.author, offset: offset, count: stop - offset, isInView: isInView,
            isInPresent: !piece.isRemoved))
        offset = stop
      }
    }
  }

  // MARK: - Changing pieces

  /// Removes elements, and tells which of them had been visible until now.
  mutating func erase(_ range: ElementRange) -> [ElementRange] {
    var erased: [ElementRange] = []
    let author = authorIndex[range.author]!
    var offset = UInt32(range.offset)
    let end = UInt32(range.end)
    while offset < end {
      let place = locate(Local(author: author, offset: offset))
      let piece = pieces[place.piece]
      let stop = min(end, piece.end)
      if !piece.isRemoved {
        bury(offset..<stop, in: place)
        erased.append(
          ElementRange(author: range.author, offset: Int(offset), count: Int(stop - offset)))
      } else {
        cursor = place
      }
      offset = stop
    }
    return erased
  }

  /// Makes a part of a visible piece a tombstone, joined with its neighbours where it can be.
  private mutating func bury(_ range: Range<UInt32>, in place: Cursor) {
    let index = place.piece
    let piece = pieces[index]
    count -= range.count
    var low = index
    var high = index + 1
    var start = place.start
    var tomb = Piece(
      author: piece.author, offset: range.lowerBound, count: UInt32(range.count), isRemoved: true)
    var replacement: [Piece] = []
    if range.lowerBound > piece.offset {
      replacement.append(
        Piece(
          author: piece.author, offset: piece.offset, count: range.lowerBound - piece.offset,
          isRemoved: false))
    } else if index > 0, pieces[index - 1].joins(tomb) {
      low -= 1
      tomb = Piece(
        author: tomb.author, offset: pieces[low].offset, count: tomb.end - pieces[low].offset,
        isRemoved: true)
    }
    if range.upperBound == piece.end, high < pieces.count, tomb.joins(pieces[high]) {
      tomb = Piece(
        author: tomb.author, offset: tomb.offset, count: pieces[high].end - tomb.offset,
        isRemoved: true)
      high += 1
    }
    replacement.append(tomb)
    if range.upperBound < piece.end {
      replacement.append(
        Piece(
          author: piece.author, offset: range.upperBound, count: piece.end - range.upperBound,
          isRemoved: false))
    }
    start -= low < index ? pieces[low].visibleCount : 0
    replace(low..<high, with: replacement)
    cursor = Cursor(piece: low, start: start)
  }

  /// Puts new elements into the gap behind `skipped` elements of a piece.
  mutating func put(_ piece: Piece, behind skipped: UInt32, of place: Cursor) {
    count += Int(piece.count)
    let index = place.piece
    guard index < pieces.count else {
      pieces.append(piece)
      cursor = place
      return
    }
    let old = pieces[index]
    if skipped == 0 {
      pieces.insert(piece, at: index)
      cursor = place
      return
    }
    if skipped == old.count {
      if old.joins(piece) {
        pieces[index].countAndFlag += piece.count
        cursor = place
        return
      }
      pieces.insert(piece, at: index + 1)
    } else {
      let head = Piece(
        author: old.author, offset: old.offset, count: skipped, isRemoved: old.isRemoved)
      let tail = Piece(
        author: old.author, offset: old.offset + skipped, count: old.count - skipped,
        isRemoved: old.isRemoved)
      replace(index..<index + 1, with: [head, piece, tail])
    }
    cursor = Cursor(piece: index + 1, start: place.start + pieces[index].visibleCount)
  }

  private mutating func replace(_ range: Range<Int>, with new: [Piece]) {
    if new.count == range.count {
      for (index, piece) in zip(range, new) { pieces[index] = piece }
    } else {
      pieces.replaceSubrange(range, with: new)
    }
  }
}

/// What holds for elements from offset `first` on, up to the next of its kind.
protocol ElementRun {
  var first: UInt32 { get }
}

extension Array where Element: ElementRun {
  /// The run that holds `offset`, in an array that begins with offset 0. O(log n).
  func index(holding offset: UInt32) -> Int {
    var low = 0
    var high = count
    while high - low > 1 {
      let middle = (low + high) / 2
      if self[middle].first <= offset { low = middle } else { high = middle }
    }
    return low
  }
}
