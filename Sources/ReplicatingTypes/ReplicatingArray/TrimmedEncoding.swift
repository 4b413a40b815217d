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
//     skews       of each author, varint: how many; of each, varints: how far from the last, and the signed difference
//     origins     varint: how many were guessed wrong (OriginGuess.swift); of each: varints: author, offset less that of
//                 the last if that had the same author, count; left and right, each 0 or 1 + author, and offset
//
// A piece is a byte that says how its offsets are found, its count if that is small, and whether it is removed other than
// the piece before; then the rest of a larger count; then what else must be known. Most pieces were cut from others, so
// they begin where one of the last eight ended, or end where one of these began:
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
// A run of stamps is a varint: its count less one, times 8, plus by how much the number of its first change exceeds what is
// expected, the number after the last; 7 says that a varint follows, twice that difference and less 7 … plus 1 for
// elements inserted by one change, which otherwise were typed.

/// The pieces of a text as codes.
private struct PieceCode {
  enum How: Equatable {
    case distance, author
    case begins(Int)
    case ends(Int)
  }

  var how: How
  var first: Int
  /// How many codes: one for each count from 1 on, but the last, which is for all larger ones.
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

/// The last eight pieces.
private struct RecentPieces {
  private var pieces: [(author: AuthorIndex, start: UInt32, end: UInt32)] =
    Array(repeating: (0, 0, 0), count: 8)
  private var next = 0

  subscript(back: Int) -> (author: AuthorIndex, start: UInt32, end: UInt32) {
    pieces[(next &- 1 &- back) & 7]
  }

  mutating func append(_ author: AuthorIndex, _ start: UInt32, _ end: UInt32) {
    pieces[next & 7] = (author, start, end)
    next &+= 1
  }

  func how(_ author: AuthorIndex, _ start: UInt32, _ end: UInt32) -> PieceCode.How? {
    for back in 0..<8 {
      let piece = self[back]
      if piece.author != author { continue }
      if piece.end == start { return .begins(back) }
      if piece.start == end { return .ends(back) }
    }
    return nil
  }
}

// MARK: - Writing

extension ReplicatingArray<UInt8> {
  func encodeTrimmed(into writer: inout ByteWriter) {
    var body = ByteWriter()
    let value = canonical
    body.format(1)
    body.varint(value.lamport)
    body.varint(value.authors.count)
    for author in value.authors {
      body.identifier(author.id)
      body.varint(author.lastNumber)
      body.varint(UInt64(author.count))
    }
    body.counted(value.elements)
    value.encodePieces(&body)
    for author in value.authors { author.encodeStamps(&body) }
    for author in value.authors { author.encodeSkews(&body) }
    let wrong = value.wrongGuesses()
    body.varint(wrong.count)
    var last = (author: AuthorIndex(0), end: UInt32(0))
    for guess in wrong {
      body.varint(UInt64(guess.author))
      body.varint(UInt64(guess.first - (guess.author == last.author ? last.end : 0)))
      body.varint(UInt64(guess.count))
      for element in [guess.left, guess.right] {
        body.varint(element.isNone ? 0 : UInt64(element.author) + 1)
        if !element.isNone { body.varint(UInt64(element.offset)) }
      }
      last = (guess.author, guess.first + guess.count)
    }
    writer.counted(body.bytes)
  }

  /// The same with its authors in their order, and those left out of whom nothing is known.
  private var canonical: Self {
    var value = restored
    let order = value.authors.indices.filter { value.authors[$0].lastNumber > 0 }
      .sorted { value.authors[$0].id < value.authors[$1].id }
    if order.elementsEqual(value.authors.indices) { return value }
    var places = [AuthorIndex](repeating: .max, count: value.authors.count)
    for (place, index) in order.enumerated() { places[index] = AuthorIndex(place) }
    func moved(_ element: LocalID) -> LocalID {
      element.isNone ? element : LocalID(places[Int(element.author)], element.offset)
    }
    value.authors = order.map { index in
      var author = value.authors[index]
      author.origins = author.origins.map {
        Author.Origin(first: $0.first, left: moved($0.left), right: moved($0.right))
      }
      return author
    }
    var pieces: [Piece] = []
    value.tree.forEachPiece { piece in
      let moved = Piece(places[Int(piece.author)], piece.offset, piece.count)
      pieces.append(piece.isRemoved ? moved.removed : moved)
    }
    let authors = value.authors
    value.tree = PieceTree(value.tree.sizes, of: pieces) {
      Self.weight(of: $0, in: authors[Int($0.author)].content)
    }
    return value
  }

  private func encodePieces(_ writer: inout ByteWriter) {
    var runs: [(author: AuthorIndex, start: UInt32, end: UInt32, isRemoved: Bool)] = []
    tree.forEachPiece { piece in
      if let last = runs.last, last.author == piece.author, last.end == piece.offset,
        last.isRemoved == piece.isRemoved
      {
        runs[runs.count - 1].end = piece.end
      } else {
        runs.append((piece.author, piece.offset, piece.end, piece.isRemoved))
      }
    }
    writer.varint(runs.count)
    var recent = RecentPieces()
    var ends = [UInt32](repeating: 0, count: authors.count)
    var isRemoved = false
    var author: AuthorIndex = 0
    for run in runs {
      let how =
        recent.how(run.author, run.start, run.end)
        ?? (run.author == author ? .distance : .author)
      let code = PieceCode.all.first { $0.how == how }!
      let rest = Int(run.end - run.start) - 1
      let number = code.first + min(rest, code.width - 1)
      writer.byte(UInt8(number << 1 | (run.isRemoved == isRemoved ? 0 : 1)))
      if rest >= code.width - 1 { writer.varint(rest - (code.width - 1)) }
      if how == .author { writer.varint(UInt64(run.author)) }
      if how == .author || how == .distance {
        writer.signed(Int64(run.start) - Int64(ends[Int(run.author)]))
      }
      recent.append(run.author, run.start, run.end)
      ends[Int(run.author)] = run.end
      isRemoved = run.isRemoved
      author = run.author
    }
  }
}

extension Author {
  fileprivate func encodeStamps(_ writer: inout ByteWriter) {
    writer.varint(stamps.count)
    var expected: UInt64 = 1
    for (index, run) in stamps.enumerated() {
      let count = UInt64(
        (index + 1 < stamps.count ? stamps[index + 1].first : self.count) - run.first)
      let isAtOnce = !run.isStepping && count > 1
      // A second run of the same change comes before what is expected.
      let excess = run.number &- expected
      let isPlain = !isAtOnce && excess < 7
      writer.varint((count - 1) << 3 | (isPlain ? excess : 7))
      if !isPlain {
        writer.varint(
          (UInt64(bitPattern: Int64(bitPattern: excess) &+ 1)) << 1 | (isAtOnce ? 1 : 0))
      }
      expected = run.number + (run.isStepping ? count : 1)
    }
  }

  fileprivate func encodeSkews(_ writer: inout ByteWriter) {
    writer.varint(skews.count)
    var last: UInt32 = 0
    for skew in skews {
      writer.varint(UInt64(skew.first - last))
      writer.signed(skew.skew)
      last = skew.first
    }
  }
}

// MARK: - Reading

/// The bytes of a text without its past, of which the head and the text were looked at.
struct TrimmedEncoding {
  /// All of it.
  let bytes: [UInt8]
  let textRange: Range<Int>
  private(set) var version = Version()
  private let lamport: UInt64
  private var authors: [(id: ReplicaID, lastNumber: UInt64, count: UInt32)] = []

  var text: [UInt8] { Array(bytes[textRange]) }

  /// What somebody lacks who has seen the same.
  var noChanges: ReplicatingArray<UInt8>.Changes {
    ReplicatingArray.Changes(since: version, version: version, lamport: lamport, authors: [])
  }

  init(_ reader: inout ByteReader) throws(DecodingFailure) {
    var writer = ByteWriter()
    writer.counted(try reader.counted())
    bytes = writer.bytes
    var head = ByteReader(bytes)
    _ = try head.count()
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
    textRange = head.offset - text.count..<head.offset
    guard !text.contains(0), String(validating: text, as: UTF8.self) != nil else {
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
      try value.authors[index].readSkews(&reader, authors[index].count, upTo: lamport)
    }
    value.unrestored = UnrestoredOrigins(
      counts: authors.map(\.count), wrong: try readWrongGuesses(&reader))
    guard reader.isAtEnd else { throw reader.failure("\(reader.remaining) bytes too many") }
    return value
  }

  private struct PlainCode {
    var how: PieceCode.How
    var count: Int
    var isLarger: Bool
  }

  private func readPieces(
    _ reader: inout ByteReader, _ value: inout ReplicatingArray<UInt8>
  ) throws(DecodingFailure) {
    let codes = PieceCode.all.flatMap { code in
      (0..<code.width).map {
        PlainCode(how: code.how, count: $0 + 1, isLarger: $0 + 1 == code.width)
      }
    }
    let count = try reader.count()
    guard count <= reader.remaining else { throw reader.failure("\(count) pieces") }
    var starts: [Int] = []
    var elements = 0
    for author in authors {
      starts.append(elements)
      elements += Int(author.count)
    }
    // Removed elements take no bytes here, but memory.
    guard elements <= Self.largestCount else { throw reader.failure("\(elements) elements") }
    var content = [UInt8](repeating: 0, count: elements)
    var pieces: [Piece] = []
    pieces.reserveCapacity(count + elements / Int(value.tree.sizes.piece))
    var recent = RecentPieces()
    var ends = [UInt32](repeating: 0, count: authors.count)
    var isRemoved = false
    var author = 0
    var position = textRange.lowerBound
    var total = 0
    for _ in 0..<count {
      let byte = try reader.byte()
      let code = codes[Int(byte >> 1)]
      if byte & 1 == 1 { isRemoved.toggle() }
      var length = code.count
      if code.isLarger { length += try reader.count() }
      let start: Int
      switch code.how {
      case .begins(let back):
        author = Int(recent[back].author)
        start = Int(recent[back].end)
      case .ends(let back):
        author = Int(recent[back].author)
        start = Int(recent[back].start) &- length
      case .author, .distance:
        if code.how == .author { author = try reader.count() }
        guard author < authors.count else { throw reader.failure("author \(author)") }
        let distance = try reader.signed()
        guard distance.magnitude <= UInt64(Int32.max) else {
          throw reader.failure("a distance of \(distance)")
        }
        start = Int(ends[author]) &+ Int(distance)
      }
      guard author < authors.count, start >= 0, start &+ length <= Int(authors[author].count) else {
        throw reader.failure("elements \(start) and \(length) more of an author")
      }
      let place = starts[author] &+ start
      if isRemoved {
        for index in place..<place &+ length { content[index] = ReplicatingArray.forgotten }
      } else {
        guard length <= textRange.upperBound &- position else {
          throw reader.failure("more visible elements than there is text")
        }
        for index in 0..<length { content[place &+ index] = bytes[position &+ index] }
        position &+= length
      }
      total &+= length
      recent.append(AuthorIndex(author), UInt32(start), UInt32(start &+ length))
      ends[author] = UInt32(start &+ length)
      append(&pieces, AuthorIndex(author), start, length, isRemoved, value.tree.sizes.piece)
    }
    guard position == textRange.upperBound else { throw reader.failure("text that stands nowhere") }
    // So many elements as there are, and none that is nowhere: so none is in two places.
    guard total == elements, !content.contains(0) else {
      throw reader.failure("an element that stands nowhere, or twice")
    }
    let all = content
    value.tree = PieceTree(value.tree.sizes, of: pieces) { piece in
      let start = starts[Int(piece.author)] &+ Int(piece.offset)
      return ReplicatingArray.weight(
        of: Piece(0, UInt32(start), piece.count), in: all)
    }
    if authors.count == 1 {
      value.authors[0].content = content
    } else {
      for (index, start) in starts.enumerated() {
        value.authors[index].content = Array(content[start..<start + Int(authors[index].count)])
      }
    }
  }

  /// The most elements, visible and removed, that a text has.
  private static var largestCount: Int { 1 << 28 }

  private func append(
    _ pieces: inout [Piece], _ author: AuthorIndex, _ start: Int, _ count: Int, _ isRemoved: Bool,
    _ largest: UInt32
  ) {
    var (start, count) = (UInt32(start), UInt32(count))
    while count > 0 {
      let part = min(count, largest)
      let piece = Piece(author, start, part)
      pieces.append(isRemoved ? piece.removed : piece)
      start += part
      count -= part
    }
  }

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
      let code = try reader.varint()
      let length = code >> 3 + 1
      var excess = Int64(code & 7)
      var isAtOnce = false
      if excess == 7 {
        let more = try reader.varint()
        isAtOnce = more & 1 == 1
        excess = Int64(more >> 1) - 1
      }
      guard length <= UInt64(count) - first, excess <= Int64(Int32.max),
        !isAtOnce || length > 1
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

  fileprivate mutating func readSkews(
    _ reader: inout ByteReader, _ count: UInt32, upTo last: UInt64
  ) throws(DecodingFailure) {
    let runs = try reader.count()
    guard runs <= reader.remaining, runs > 0 || count == 0 else {
      throw reader.failure("\(runs) runs of logical time")
    }
    var first: UInt64 = 0
    for index in 0..<runs {
      let step = try reader.varint()
      guard step < UInt64(count) - first, (index == 0) == (step == 0) else {
        throw reader.failure("logical time of elements that are not there")
      }
      first += step
      let skew = try reader.signed()
      guard skew.magnitude <= LamportTimestamp.largestCount else {
        throw reader.failure("a difference of \(skew)")
      }
      skews.append(Skew(first: UInt32(first), skew: skew))
    }
    // Between two elements with the same stamp and skew logical time grows by one.
    var time: Int64 = 0
    for offset in (stamps.map(\.first) + skews.map(\.first)).sorted() {
      if offset > 0 { time = Int64(bitPattern: lamport(of: offset - 1)) }
      let next = Int64(bitPattern: lamport(of: offset))
      guard next > time || offset == 0 && next > 0 || offset > 0 && next == time + 1 else {
        throw reader.failure("a logical time that does not grow")
      }
    }
    guard count == 0 || lamport(of: count - 1) <= last else {
      throw reader.failure("a logical time after the last")
    }
  }
}
