// Library product only: the programs of this package do not use this file.

// A text without its past in bytes.
//
//     length      varint: how many bytes follow
//     format      a byte, 1
//     lamport     varint: the largest logical time seen
//     authors     varint: how many; of each, in their order, 16 bytes of identity, and as varints the number of the last
//                 change seen and how many elements it inserted
//     text        varint: how many bytes; the visible text, UTF-8
//     pieces      varint: how many; all elements in their order, the removed ones too, in pieces as long as they can be
//     stamps      of each author, varint: how many runs; the runs
//     times       of each author, varint: how many runs of stamps begin at another logical time than is expected; of each,
//                 varint: how many runs after the last, and the signed difference
//     origins     varint: how many were guessed wrong (OriginGuess.swift); of each: varints: author, offset less the end of
//                 the last if that had the same author, count; left and right, each 0 or 1 + author, and offset
//
// A piece is a byte that says how its offsets are found, its count if that is small, and whether it is removed other than
// the piece before; then the rest of a larger count; then what else must be known. Most pieces were cut from others, so
// they begin where one of the last eight ended, or end where one of these began. Before the first there are eight empty ones,
// at offset 0 of author 0:
//
//     how                                                    counts that fit
//     offsets: signed distance from that author's last end   1 … 35
//     author: varint, and then as above                      1
//     begins where the piece k back ended, k = 0 … 7         1 … 13, 23, 5, 5, 3, 3, 1, 1
//     ends where the piece k back began, k = 0 … 7           1 … 13, 1, 1, 1, 1, 1, 1, 1
//
// The byte is twice the number of the code in this order (each has one more for larger counts), plus 1 for a change of
// being removed; the first piece follows one that isn't.
//
// A run of stamps is a varint: its count less one, times 16, plus a code. 0 … 9: typed, and by how much the number of the
// first change exceeds what is expected, the number after the last. 10 … 14: several elements inserted by one change, and
// the same less 10. 15: a varint follows, twice one more than that difference, which may be −1 for another run of one
// change, plus 1 for several elements inserted by one change. Expected is that logical time grew by one for each element
// and for each change that inserted nothing.
//
// The code that is written is the first one of a piece that fits: of the smallest k, beginning before ending; distance;
// author. What is read besides: any other code that fits, and origins that were guessed right. Pieces and runs are as long as
// they can be.

/// The pieces of a text as codes.
struct PieceCode {
  enum How: Equatable {
    case distance, author
    case begins(Int)
    case ends(Int)
  }

  var how: How
  var first: Int
  /// The number of codes: one for each count from 1 on, but the last, which is for all larger ones.
  var width: Int

  static let all: [PieceCode] = {
    var codes: [PieceCode] = []
    func add(_ how: How, _ width: Int) {
      codes.append(
        PieceCode(how: how, first: codes.last.map { $0.first + $0.width } ?? 0, width: width))
    }
    add(.distance, 36)
    add(.author, 2)
    for (back, width) in [14, 24, 6, 6, 4, 4, 2, 2].enumerated() { add(.begins(back), width) }
    for (back, width) in [14, 2, 2, 2, 2, 2, 2, 2].enumerated() { add(.ends(back), width) }
    return codes
  }()
}

/// One of the last eight pieces, which stand in an array at their number modulo 8.
struct RecentPiece {
  var author: AuthorIndex = 0
  var start: UInt32 = 0
  var end: UInt32 = 0

  static let none = [RecentPiece](repeating: RecentPiece(), count: 8)
}

/// The logical time that an author's next insertion has, if nothing of others was seen since the last.
struct LamportExpectation {
  private var number: UInt64 = 1
  private var next: UInt64 = 1

  /// A change that inserted nothing took one tick. Another run of the last change goes on.
  func time(of number: UInt64) -> UInt64 {
    next + (number > self.number ? number - self.number : 0)
  }

  mutating func pass(_ number: UInt64, _ time: UInt64, _ count: UInt64, isStepping: Bool) {
    self.number = number + (isStepping ? count : 1)
    next = time + count
  }
}

/// The bytes of a text without its past, of which the head and the text were looked at.
struct TrimmedEncoding {
  /// All of it but its length.
  let bytes: ArraySlice<UInt8>
  let textRange: Range<Int>
  private(set) var version = Version()
  private let lamport: UInt64
  private var authors: [(id: ReplicaID, lastNumber: UInt64, count: UInt32)] = []

  var text: [UInt8] { Array(bytes[textRange]) }

  /// The changes for a replica that has seen the same: none.
  var noChanges: ReplicatingArray<UInt8>.Changes {
    ReplicatingArray.Changes(since: version, version: version, lamport: lamport, authors: [])
  }

  init(_ reader: inout ByteReader) throws(DecodingFailure) {
    bytes = try reader.counted()
    var head = ByteReader(bytes)
    try head.format(1, of: "a trimmed text")
    lamport = try head.varint()
    guard lamport <= LamportTimestamp.largestCount else {
      throw head.failure("a logical time of \(lamport)")
    }
    let count = try head.count()
    guard count <= head.remaining / 18, count <= ReplicatingArray<UInt8>.maximumAuthors else {
      throw head.failure("\(count) authors")
    }
    for _ in 0..<count {
      let id = try head.identifier()
      if let last = authors.last, last.id >= id { throw head.failure("authors out of order") }
      let number = try head.varint()
      guard number > 0, number <= ReplicatingArray<UInt8>.maximumNumber else {
        throw head.failure("change \(number) of one author")
      }
      authors.append((id, number, UInt32(try head.count())))
      version[id] = number
    }
    let text = try head.counted()
    textRange = text.startIndex..<text.endIndex
    guard !text.span.containsZero, String(validating: text, as: UTF8.self) != nil else {
      throw head.failure("text that is not valid UTF-8, or holds U+0000")
    }
  }

  /// Reads the structure.
  func decoded() throws(DecodingFailure) -> ReplicatingArray<UInt8> {
    var reader = ByteReader(bytes[textRange.upperBound...])
    var value = ReplicatingArray<UInt8>()
    for author in authors {
      let index = Int(value.index(of: author.id))
      value.authors[index].lastNumber = author.lastNumber
    }
    value.lamport = lamport
    try readPieces(&reader, &value)
    for index in authors.indices {
      try value.authors[index].readStamps(&reader, authors[index].count, authors[index].lastNumber)
    }
    for index in authors.indices {
      try value.authors[index].readTimes(&reader, authors[index].count, upTo: lamport)
    }
    value.unrestored = UnrestoredOrigins(
      counts: authors.map(\.count), wrong: try readWrongGuesses(&reader))
    guard reader.isAtEnd else { throw reader.failure("\(reader.remaining) bytes too many") }
    return value
  }

  /// The meaning of a code, without a case to match.
  private struct PlainCode {
    var count: Int
    /// True if more of the count follows.
    var isLarger: Bool
    /// The distance back to the piece from which it was cut; −1 if a distance follows, −2 if an author and a distance.
    var back: Int
    var isEnd: Bool

    static let all: [PlainCode] = PieceCode.all.flatMap { code in
      let (back, isEnd) =
        switch code.how {
        case .distance: (-1, false)
        case .author: (-2, false)
        case .begins(let back): (back, false)
        case .ends(let back): (back, true)
        }
      return (1...code.width).map {
        PlainCode(count: $0, isLarger: $0 == code.width, back: back, isEnd: isEnd)
      }
    }
  }

  private func readPieces(
    _ reader: inout ByteReader, _ value: inout ReplicatingArray<UInt8>
  ) throws(DecodingFailure) {
    let count = try reader.count()
    guard count <= reader.remaining else { throw reader.failure("\(count) pieces") }
    // The elements of all authors, one author's after the other's.
    var starts: [Int] = [0]
    for author in authors { starts.append(starts.last! + Int(author.count)) }
    let elements = starts.last!
    // Removed elements take no bytes here, but memory.
    guard elements <= Self.largestCount else { throw reader.failure("\(elements) elements") }
    let runs = try readRuns(&reader, count, starts)
    guard isCover(runs, of: elements) else {
      throw reader.failure("an element that stands nowhere, or twice")
    }
    let visible = runs.reduce(0) { $0 + ($1.isRemoved ? 0 : Int($1.count)) }
    guard visible == textRange.count else {
      throw reader.failure("\(visible) visible elements, and a text of \(textRange.count)")
    }
    guard areWholeAndApart(runs) else {
      throw reader.failure("a piece that is part of another, or tears a scalar")
    }
    let content = content(of: runs, elements)
    value.tree = PieceTree(
      value.tree.sizes, of: pieces(of: runs, starts, largest: value.tree.sizes.piece),
      isASCII: !bytes[textRange].span.containsNonASCII
    ) { range in
      let start = textRange.lowerBound &+ range.lowerBound
      return TextWeight(of: bytes[start..<start &+ range.count].span)
    }
    if authors.count == 1 {
      value.authors[0].content = content
    } else {
      for index in authors.indices {
        value.authors[index].content = Array(content[starts[index]..<starts[index + 1]])
      }
    }
  }

  /// A piece as long as it can be, by its place among the elements of all authors.
  private struct Run {
    var author: AuthorIndex = 0
    var start: UInt32 = 0
    var count: UInt32 = 0
    var isRemoved = false
  }

  private func readRuns(
    _ reader: inout ByteReader, _ count: Int, _ starts: [Int]
  ) throws(DecodingFailure) -> [Run] {
    let codes = PlainCode.all
    // The pieces before the first, which are empty.
    var runs = [Run](repeating: Run(), count: 8)
    runs.reserveCapacity(count + 8)
    var ends = starts
    var isRemoved = false
    var author = 0
    for number in 8..<count &+ 8 {
      let byte = try reader.byte()
      let code = codes[Int(byte &>> 1)]
      isRemoved = isRemoved != (byte & 1 == 1)
      var length = code.count
      if code.isLarger { length &+= try reader.count() }
      let start: Int
      if code.back >= 0 {
        let other = runs[number &- 1 &- code.back]
        author = Int(other.author)
        start = Int(other.start) &+ (code.isEnd ? 0 &- length : Int(other.count))
      } else {
        if code.back == -2 { author = try reader.count() }
        guard author < authors.count else { throw reader.failure("author \(author)") }
        let distance = try reader.signed()
        guard distance.magnitude <= UInt64(Int32.max) else {
          throw reader.failure("a distance of \(distance)")
        }
        start = ends[author] &+ Int(distance)
      }
      let end = start &+ length
      guard author < authors.count, start >= starts[author], end <= starts[author &+ 1] else {
        throw reader.failure("elements of an author that are not there")
      }
      ends[author] = end
      runs.append(
        Run(
          author: AuthorIndex(truncatingIfNeeded: author), start: UInt32(truncatingIfNeeded: start),
          count: UInt32(truncatingIfNeeded: length), isRemoved: isRemoved))
    }
    runs.removeFirst(8)
    return runs
  }

  /// True if runs cover a whole, each part of it once: then each begins where another ends, but for the whole's two ends.
  private func isCover(_ runs: [Run], of count: Int) -> Bool {
    var starts = [UInt64](repeating: 0, count: count / 64 + 1)
    var ends = starts
    var twice: UInt64 = 0
    func mark(_ place: Int, in marks: inout MutableSpan<UInt64>) {
      let bit = 1 as UInt64 &<< UInt64(truncatingIfNeeded: place & 63)
      twice |= marks[place &>> 6] & bit
      marks[place &>> 6] |= bit
    }
    do {
      var starts = starts.mutableSpan
      var ends = ends.mutableSpan
      for run in runs {
        mark(Int(run.start), in: &starts)
        mark(Int(run.start &+ run.count), in: &ends)
      }
      mark(count, in: &starts)
      mark(0, in: &ends)
    }
    return twice == 0 && starts == ends
  }

  /// True if pieces are as long as they can be, and none begins inside a scalar. They are all of the text.
  private func areWholeAndApart(_ runs: [Run]) -> Bool {
    let text = bytes[textRange].span
    var position = 0
    var last = Run(author: .max)
    for run in runs {
      if run.start == last.start &+ last.count, run.author == last.author,
        run.isRemoved == last.isRemoved
      {
        return false
      }
      if !run.isRemoved {
        if text[position] & 0xC0 == 0x80 { return false }
        position += Int(run.count)
      }
      last = run
    }
    return true
  }

  /// All elements, the forgotten ones as such.
  private func content(of runs: [Run], _ count: Int) -> [UInt8] {
    var content = [UInt8](repeating: ReplicatingArray.forgotten, count: count)
    // There is one reference to this array, so nothing is copied for the span.
    var all = content.mutableSpan
    let text = bytes[textRange].span
    var position = 0
    for run in runs where !run.isRemoved {
      let end = position &+ Int(run.count)
      all.copy(text.extracting(position..<end), to: Int(run.start))
      position = end
    }
    return content
  }

  private func pieces(of runs: [Run], _ starts: [Int], largest: UInt32) -> [Piece] {
    var pieces: [Piece] = []
    pieces.reserveCapacity(runs.count)
    for run in runs {
      var offset = run.start &- UInt32(truncatingIfNeeded: starts[Int(run.author)])
      var rest = run.count
      repeat {
        let piece = Piece(run.author, offset, min(rest, largest))
        pieces.append(run.isRemoved ? piece.removed : piece)
        offset &+= piece.count
        rest &-= piece.count
      } while rest > 0
    }
    return pieces
  }

  /// The most elements, visible and removed, that a text has.
  private static var largestCount: Int { 1 << 28 }

  private func readWrongGuesses(
    _ reader: inout ByteReader
  ) throws(DecodingFailure) -> [GuessedOrigin] {
    let count = try reader.count()
    guard count <= reader.remaining else { throw reader.failure("\(count) origins") }
    var wrong: [GuessedOrigin] = []
    var last = (author: 0, end: 0)
    for _ in 0..<count {
      let author = try reader.count()
      guard author >= last.author, author < authors.count else {
        throw reader.failure("author \(author)")
      }
      let first = try reader.count() + (author == last.author ? last.end : 0)
      let length = try reader.count()
      guard length > 0, first + length <= Int(authors[author].count) else {
        throw reader.failure("origins of elements that are not there")
      }
      let left = try element(&reader)
      let right = try element(&reader)
      wrong.append(
        GuessedOrigin(
          author: AuthorIndex(author), first: UInt32(first), count: UInt32(length), left: left,
          right: right))
      last = (author, first + length)
    }
    return wrong
  }

  private func element(_ reader: inout ByteReader) throws(DecodingFailure) -> LocalID {
    let author = try reader.count() - 1
    if author < 0 { return .none }
    guard author < authors.count else { throw reader.failure("author \(author)") }
    let offset = try reader.count()
    guard offset < authors[author].count else {
      throw reader.failure("an element that is not there")
    }
    return LocalID(AuthorIndex(author), UInt32(offset))
  }
}

extension Author {
  fileprivate mutating func readStamps(
    _ reader: inout ByteReader, _ count: UInt32, _ last: UInt64
  ) throws(DecodingFailure) {
    let runs = try reader.count()
    guard runs <= reader.remaining, runs > 0 || count == 0 else {
      throw reader.failure("\(runs) runs of stamps")
    }
    stamps.reserveCapacity(runs)
    var first: UInt64 = 0
    var expected: UInt64 = 1
    for _ in 0..<runs {
      let head = try reader.varint()
      let length = head >> 4 + 1
      let code = Int64(head & 15)
      var isAtOnce = code >= 10
      var excess = isAtOnce ? code - 10 : code
      if code == 15 {
        let more = try reader.varint()
        isAtOnce = more & 1 == 1
        excess = Int64(more >> 1) - 1
        guard TrimmedEncoding.shortCode(excess, isAtOnce) == nil else {
          throw reader.failure("a long code")
        }
      }
      guard length <= UInt64(count) - first, excess <= Int64(Int32.max), !isAtOnce || length > 1
      else { throw reader.failure("stamps of elements that are not there") }
      let number = UInt64(bitPattern: Int64(expected) + excess)
      let end = number + (isAtOnce ? 0 : length - 1)
      guard number > 0, end <= last else { throw reader.failure("a change after the last") }
      stamps.append(
        StampRun(first: UInt32(first), number: number, isStepping: !isAtOnce && length > 1))
      first += length
      expected = end + 1
    }
    guard first == UInt64(count) else { throw reader.failure("elements without stamps") }
  }

  fileprivate mutating func readTimes(
    _ reader: inout ByteReader, _ count: UInt32, upTo last: UInt64
  ) throws(DecodingFailure) {
    var left = try reader.count()
    guard left <= stamps.count else { throw reader.failure("\(left) surprises") }
    var surprise = left > 0 ? try reader.count() : .max
    var expected = LamportExpectation()
    var latest: UInt64 = 0
    for index in stamps.indices {
      let run = stamps[index]
      var time = expected.time(of: run.number)
      if index == surprise {
        let difference = try reader.signed()
        guard difference != 0, difference.magnitude <= LamportTimestamp.largestCount else {
          throw reader.failure("a difference of \(difference)")
        }
        time = UInt64(bitPattern: Int64(time) &+ difference)
        left -= 1
        let distance = left > 0 ? try reader.count() : 0
        guard left == 0 || distance > 0 else { throw reader.failure("two surprises at once") }
        surprise = left > 0 ? index + distance : .max
      }
      let length = UInt64((index + 1 < stamps.count ? stamps[index + 1].first : count) - run.first)
      guard time > latest, time <= last, length - 1 <= last - time else {
        throw reader.failure("a logical time of \(Int64(bitPattern: time))")
      }
      if let last = skews.last, index > 0,
        stamps[index - 1].goesOn(with: run.number, time, at: run.first, last.skew)
      {
        throw reader.failure("a run of stamps that is part of another")
      }
      latest = time + length - 1
      let skew = Int64(time) - Int64(run.number)
      if skews.last?.skew != skew { skews.append(Skew(first: run.first, skew: skew)) }
      expected.pass(run.number, time, length, isStepping: run.isStepping)
    }
    guard left == 0 else { throw reader.failure("surprises of runs that are not there") }
  }
}

extension TrimmedEncoding {
  /// By how much the number of a run's first change exceeds what is expected, and whether one change made it all, in four
  /// bits; `nil` if that doesn't fit.
  static func shortCode(_ excess: Int64, _ isAtOnce: Bool) -> UInt64? {
    guard excess >= 0, excess < (isAtOnce ? 5 : 10) else { return nil }
    return UInt64(excess) + (isAtOnce ? 10 : 0)
  }
}
