/// The elements of several authors in document order, linked: for building a sequence of which no positions are asked
/// meanwhile.
///
/// Elements are numbered through, those of one author by their offsets, so an element is found without a search. Behind an
/// element stands the next of its author, unless it ends a run: only then is it linked to what stands behind it. An
/// insertion between neighbours changes two links, wherever it is, and no run is searched or split. Removed elements keep
/// their places; one bit says that they are removed.
///
/// 34 bits for each element. Inserting between neighbours is O(1); removing and visiting all is O(elements / 64), and
/// O(runs) beside that.
///
/// The memory is managed here, since a step does little else than a few changes of it, and checks of uniqueness and bounds took longer. It is
/// safe because of these invariants:
/// - A `Number` is 0, or that of an element that is here. `number(of:)` looks at the author, and who asks it knows that the element is here: from
///   `contains` or from a link. Those of an author are less than the next
///   author's first number, and for all of them there are links and bits.
/// - The last element of each author that is here ends a run, and so does 0. So a search for the end of a run finds one.
struct ElementList: ~Copyable {
  /// The number of an element; 0 is before the first and behind the last.
  typealias Number = UInt32

  private let authors: Int
  /// The number of each author's first element, and of one more's. Between the authors one number is left out, so that numbers
  /// that follow each other are those of one author.
  private let starts: UnsafeMutablePointer<Number>
  /// The number of elements of each author that are here.
  private let counts: UnsafeMutablePointer<UInt32>
  /// The element behind each one that ends a run.
  private let links: UnsafeMutablePointer<Number>
  /// The elements that end a run, one bit for each.
  private let ends: UnsafeMutablePointer<UInt64>
  private let removed: UnsafeMutablePointer<UInt64>
  /// The number of words of `ends`, and of `removed`.
  private let words: Int
  /// The number of words of `removed` that were written.
  private var written = 0

  /// True if elements have enough numbers: so many of each author.
  static func hasRoom(for totals: [Int]) -> Bool {
    var room = Int(Number.max) - 2
    for total in totals {
      guard total < room - 1 else { return false }
      room -= total + 1
    }
    return true
  }

  /// An empty list with room for so many elements of each author, which have enough numbers.
  init(_ totals: [Int]) {
    precondition(Self.hasRoom(for: totals), "more elements than there are numbers")
    authors = totals.count
    starts = .allocate(capacity: authors + 1)
    counts = .allocate(capacity: authors)
    counts.initialize(repeating: 0, count: authors)
    var next = 2
    for (author, total) in totals.enumerated() {
      (starts + author).initialize(to: Number(next))
      next += total + 1
    }
    (starts + authors).initialize(to: Number(next))
    links = .allocate(capacity: next)
    links.initialize(repeating: 0, count: next)
    words = next / 64 + 1
    ends = .allocate(capacity: words)
    ends.initialize(repeating: 0, count: words)
    removed = .allocate(capacity: words)
    removed.initialize(repeating: 0, count: words)
    ends[0] = 1
  }

  deinit {
    starts.deallocate()
    counts.deallocate()
    links.deallocate()
    ends.deallocate()
    removed.deallocate()
  }

  // MARK: - Looking up

  @inline(__always)
  func number(of element: LocalID) -> Number {
    if element.isNone { return 0 }
    precondition(Int(element.author) < authors)
    return starts[Int(element.author)] &+ element.offset
  }

  /// True if an element is here, or is none.
  @inline(__always)
  func contains(_ element: LocalID) -> Bool {
    element.isNone
      || Int(element.author) < authors && element.offset < counts[Int(element.author)]
  }

  /// The number of elements of an author that are here.
  @inline(__always)
  func count(by author: AuthorIndex) -> UInt32 {
    precondition(Int(author) < authors)
    return counts[Int(author)]
  }

  /// An element by its number; none by 0.
  @inline(__always)
  func element(_ number: Number) -> LocalID {
    if number == 0 { return .none }
    let author = author(of: number)
    return LocalID(AuthorIndex(author), number &- starts[author])
  }

  @inline(__always)
  private func author(of number: Number) -> Int {
    var (low, high) = (0, authors)
    while high &- low > 1 {
      let middle = (low &+ high) / 2
      if starts[middle] <= number { low = middle } else { high = middle }
    }
    return low
  }

  /// The element behind another one.
  @inline(__always)
  func follower(of number: Number) -> Number {
    endsRun(number) ? links[Int(number)] : number &+ 1
  }

  /// The last element of a run that holds this one.
  @inline(__always)
  func end(of number: Number) -> Number {
    var word = Int(number &>> 6)
    var bits = ends[word] & (~0 &<< UInt64(number & 63))
    while bits == 0 {
      word &+= 1
      bits = ends[word]
    }
    return Number(truncatingIfNeeded: word &<< 6 &+ bits.trailingZeroBitCount)
  }

  @inline(__always)
  private func endsRun(_ number: Number) -> Bool {
    ends[Int(number &>> 6)] &>> UInt64(number & 63) & 1 != 0
  }

  // MARK: - Changing

  /// The number of the next element of an author.
  @inline(__always)
  func next(by author: AuthorIndex) -> Number { starts[Int(author)] &+ count(by: author) }

  /// Puts the next `count` elements of an author, for which there is room, behind an element.
  @inline(__always)
  mutating func insert(_ count: UInt32, by author: AuthorIndex, behind left: Number) {
    let first = next(by: author)
    let last = first &+ count &- 1
    precondition(count > 0 && Int(first) &+ Int(count) < Int(starts[Int(author) &+ 1]))
    counts[Int(author)] &+= count
    links[Int(last)] = follower(of: left)
    ends[Int(last &>> 6)] |= 1 &<< UInt64(last & 63)
    if left &+ 1 == first {
      ends[Int(left &>> 6)] &= ~(1 &<< UInt64(left & 63))
    } else {
      links[Int(left)] = first
      ends[Int(left &>> 6)] |= 1 &<< UInt64(left & 63)
    }
  }

  /// Removes elements of one author, which are here. Returns false, and removes nothing, when many long runs were removed before: to
  /// remove the same elements again takes as long as the first time, and there may be any number of such removals.
  @inline(__always)
  mutating func remove(_ offset: UInt32, _ count: UInt32, of author: AuthorIndex) -> Bool {
    precondition(count > 0 && Int(offset) &+ Int(count) <= Int(self.count(by: author)))
    let first = starts[Int(author)] &+ offset
    let last = first &+ count &- 1
    let (from, to) = (Int(first &>> 6), Int(last &>> 6))
    let (head, tail): (UInt64, UInt64) = (
      ~0 &<< UInt64(first & 63), ~0 &>> UInt64(63 &- last & 63)
    )
    if from == to {
      removed[from] |= head & tail
      return true
    }
    return remove(from, head, to, tail)
  }

  @inline(never)
  private mutating func remove(_ from: Int, _ head: UInt64, _ to: Int, _ tail: UInt64) -> Bool {
    guard written <= Self.mostRounds * words else { return false }
    written += to - from
    removed[from] |= head
    for word in from + 1..<to { removed[word] = ~0 }
    removed[to] |= tail
    return true
  }

  /// As often as that all elements may be removed.
  private static var mostRounds: Int { 8 }

  // MARK: - Visiting

  /// All elements in order, in pieces as long as they can be and as `largest` allows.
  func pieces(largest: UInt32) -> [Piece] {
    var pieces: [Piece] = []
    var next = links[0]
    var (author, start, end): (Int, Number, Number) = (0, 0, 0)
    while next != 0 {
      if next < start || next >= end {
        author = self.author(of: next)
        (start, end) = (starts[author], starts[author] &+ counts[author])
      }
      let last = self.end(of: next)
      while next <= last {
        let isRemoved = removed[Int(next &>> 6)] &>> UInt64(next & 63) & 1 != 0
        let stop = min(self.stop(from: next, isRemoved, upTo: last), last &+ 1)
        while next < stop {
          let piece = Piece(AuthorIndex(author), next &- start, min(stop &- next, largest))
          pieces.append(isRemoved ? piece.removed : piece)
          next &+= piece.count
        }
      }
      next = links[Int(last)]
    }
    return pieces
  }

  /// The first number from one on that is removed, or is not, other than that one; any beyond `last` if there is none
  /// before.
  @inline(__always)
  private func stop(from number: Number, _ isRemoved: Bool, upTo last: Number) -> Number {
    let flip: UInt64 = isRemoved ? ~0 : 0
    let lastWord = Int(last &>> 6)
    var word = Int(number &>> 6)
    var bits = (removed[word] ^ flip) & (~0 &<< UInt64(number & 63))
    while bits == 0 {
      word &+= 1
      if word > lastWord { return last &+ 1 }
      bits = removed[word] ^ flip
    }
    return Number(truncatingIfNeeded: word &<< 6 &+ bits.trailingZeroBitCount)
  }
}
