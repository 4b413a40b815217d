// Slots as they are in memory, opened at once: for a process that keeps them for itself and can make them anew, since the
// format may change with every version. Equal slots have equal snapshots.
//
//     lamport    varint: the largest logical time seen
//     authors    varint: how many; of each, in their order, 16 bytes of identity, and varints: the number of its last
//                change, how many slots it made. Below, an author is its place here
//     runs       of each author: its stamps, origins and elements
//     pieces     varint: how many; neighbouring slots of one author, all visible or all hidden, as many as can be
//
//     stamps     varint: how many; of each, varint: the slots, four times, and 1 if each has the next number, and 2 if a
//                skew begins; signed: the number less that of the slot before; signed, if so: the skew less the one before
//     origins    varint: how many; of each, varint: the first slot less that of the one before; left, right
//     left,      varint: 0 for none, 1 for the author's slot before the first, else the author and 2, and, as a varint, which
//     right      slot of that
//     elements   of each slot, varint: 0 if its element is named by its change, else 1 and the `ChangeID`
//     piece      varint: the count, four times, and 2 if it is hidden, and 1 if it is of another author than the one before;
//                if so, varint: the author; signed: the first slot less what is behind the author's piece before

extension MovableList<ChangeID> {
  /// O(slots).
  public func encodeSnapshot(into writer: inout ByteWriter) {
    let authors = sequence.authors
    let order = authors.indices.sorted { authors[$0].id < authors[$1].id }
    var ranks = Array(repeating: 0, count: order.count)
    for (rank, author) in order.enumerated() { ranks[author] = rank }
    writer.varint(sequence.lamport)
    writer.varint(order.count)
    for author in order {
      writer.identifier(authors[author].id)
      writer.varint(authors[author].lastNumber)
      writer.varint(authors[author].content.count)
    }
    for author in order {
      authors[author].encodeStamps(into: &writer)
      authors[author].encodeOrigins(of: AuthorIndex(author), ranks, into: &writer)
      authors[author].encodeElements(into: &writer)
    }
    encodePieces(ranks, into: &writer)
  }

  private func encodePieces(_ ranks: [Int], into writer: inout ByteWriter) {
    var pieces = ByteWriter()
    var count = 0
    var ends: [UInt32] = Array(repeating: 0, count: ranks.count)
    var author: AuthorIndex = 0
    /// Pieces that can be one.
    var run: (author: AuthorIndex, isHidden: Bool, first: UInt32, end: UInt32)?
    func write() {
      guard let run else { return }
      count += 1
      let isOther = run.author != author
      author = run.author
      pieces.varint(
        UInt64(run.end - run.first) << 2 | (run.isHidden ? 2 : 0) | (isOther ? 1 : 0))
      if isOther { pieces.varint(ranks[Int(author)]) }
      pieces.signed(Int64(run.first) - Int64(ends[Int(author)]))
      ends[Int(author)] = run.end
    }
    if let first = ranks.firstIndex(of: 0) { author = AuthorIndex(first) }
    sequence.tree.forEachPiece { piece in
      if let last = run, last.author == piece.author, last.isHidden == piece.isRemoved,
        last.end == piece.offset
      {
        run!.end = piece.end
      } else {
        write()
        run = (piece.author, piece.isRemoved, piece.offset, piece.end)
      }
    }
    write()
    writer.varint(count)
    writer.raw(pieces.bytes)
  }

  /// O(slots), and O(log slots) for each that moved something.
  public init(snapshot reader: inout ByteReader) throws(DecodingFailure) {
    var sequence = ReplicatingArray<ChangeID>()
    sequence.lamport = try reader.lamport()
    var counts: [UInt32] = []
    var total = 0
    let authors = try reader.count()
    guard authors <= ReplicatingArray<ChangeID>.maximumAuthors else {
      throw reader.failure("\(authors) authors")
    }
    for _ in 0..<authors {
      let id = try reader.identifier()
      if let last = sequence.authors.last, last.id >= id {
        throw reader.failure("authors out of order")
      }
      let index = sequence.index(of: id)
      let (number, count) = (try reader.count(), try reader.count())
      sequence.authors[Int(index)].lastNumber = UInt64(number)
      // Of each slot there is a byte at least.
      guard count <= reader.remaining else { throw reader.failure("more slots than bytes") }
      counts.append(UInt32(count))
      total += count
    }
    var moved: [LocalID] = []
    for author in counts.indices {
      try sequence.authors[author].decodeStamps(counts[author], from: &reader)
      try sequence.authors[author].decodeOrigins(AuthorIndex(author), counts, from: &reader)
      try sequence.authors[author].decodeElements(
        counts[author], AuthorIndex(author), &moved, from: &reader)
    }
    let pieces = try Self.pieces(counts, total, sequence.tree.sizes.piece, from: &reader)
    sequence.tree = PieceTree(sequence.tree.sizes, of: pieces, isASCII: true)
    self.init(sequence, moved: moved)
  }

  /// Every slot once.
  private static func pieces(
    _ counts: [UInt32], _ total: Int, _ largest: UInt32, from reader: inout ByteReader
  ) throws(DecodingFailure) -> [Piece] {
    var pieces: [Piece] = []
    var ends: [Int64] = Array(repeating: 0, count: counts.count)
    var starts = [0]
    for count in counts { starts.append(starts.last! + Int(count)) }
    var isThere = Array(repeating: false, count: total)
    var author = 0
    var rest = total
    let runs = try reader.count()
    pieces.reserveCapacity(min(runs, total))
    for _ in 0..<runs {
      let head = try reader.varint()
      if head & 1 == 1 { author = try reader.count() }
      guard author < counts.count else { throw reader.failure("author \(author)") }
      let first = ends[author] &+ (try reader.signed())
      let count = head &>> 2
      guard first >= 0, count > 0, first <= counts[author],
        count <= UInt64(counts[author]) - UInt64(first)
      else { throw reader.failure("a piece of what is not there") }
      let end = first + Int64(count)
      ends[author] = end
      for slot in starts[author] + Int(first)..<starts[author] + Int(end) {
        guard !isThere[slot] else { throw reader.failure("a slot twice") }
        isThere[slot] = true
      }
      rest -= Int(count)
      var start = UInt32(first)
      while start < UInt32(end) {
        let part = min(largest, UInt32(end) - start)
        let piece = Piece(AuthorIndex(author), start, part)
        pieces.append(head & 2 == 2 ? piece.removed : piece)
        start += part
      }
    }
    guard rest == 0 else { throw reader.failure("slots that stand nowhere") }
    return pieces
  }
}

extension AuthorLog<ChangeID> {
  fileprivate func encodeStamps(into writer: inout ByteWriter) {
    writer.varint(stamps.count)
    var last: UInt64 = 0
    var skew = 0
    for (index, run) in stamps.enumerated() {
      let end = index + 1 < stamps.count ? stamps[index + 1].first : count
      // A skew begins with a run of stamps, always.
      let isSkewed = skew < skews.count && skews[skew].first == run.first
      writer.varint(
        UInt64(end - run.first) << 2 | (isSkewed ? 2 : 0) | (run.isStepping ? 1 : 0))
      writer.signed(Int64(run.number) - Int64(last))
      if isSkewed {
        writer.signed(skews[skew].skew - (skew > 0 ? skews[skew - 1].skew : 0))
        skew += 1
      }
      last = run.isStepping ? run.number + UInt64(end - run.first) - 1 : run.number
    }
  }

  fileprivate mutating func decodeStamps(
    _ count: UInt32, from reader: inout ByteReader
  ) throws(DecodingFailure) {
    var first: UInt64 = 0
    var last: Int64 = 0
    var skew: Int64 = 0
    let runs = try reader.count()
    // Not more than the bytes pay for.
    stamps.reserveCapacity(min(runs, Int(count)))
    skews.reserveCapacity(min(runs, Int(count)))
    for _ in 0..<runs {
      let head = try reader.varint()
      let length = head >> 2
      let isStepping = head & 1 == 1
      let number = last &+ (try reader.signed())
      guard length > 0, length <= UInt64(count) - first, number > 0, number >= last else {
        throw reader.failure("a run of other slots, or of an earlier change")
      }
      last = isStepping ? number &+ Int64(length) &- 1 : number
      guard number <= last, last <= lastNumber else {
        throw reader.failure("a change after the last")
      }
      stamps.append(
        StampRun(first: UInt32(first), number: UInt64(number), isStepping: isStepping))
      if head & 2 == 2 {
        skew &+= try reader.signed()
        skews.append(Skew(first: UInt32(first), skew: skew))
      }
      guard !skews.isEmpty, skew.magnitude <= LamportTimestamp.largestCount else {
        throw reader.failure("slots without a time, or a skew of \(skew)")
      }
      first += length
    }
    guard first == count else { throw reader.failure("slots without a stamp") }
  }

  fileprivate func encodeOrigins(
    of author: AuthorIndex, _ ranks: [Int], into writer: inout ByteWriter
  ) {
    func write(_ slot: LocalID, before first: UInt32) {
      if slot.isNone {
        writer.varint(0)
      } else if slot.author == author, slot.offset &+ 1 == first {
        writer.varint(1)
      } else {
        writer.varint(ranks[Int(slot.author)] + 2)
        writer.varint(UInt64(slot.offset))
      }
    }
    writer.varint(origins.count)
    var last: UInt32 = 0
    for run in origins {
      writer.varint(UInt64(run.first - last))
      last = run.first
      write(run.left, before: run.first)
      write(run.right, before: run.first)
    }
  }

  fileprivate mutating func decodeOrigins(
    _ author: AuthorIndex, _ counts: [UInt32], from reader: inout ByteReader
  ) throws(DecodingFailure) {
    let count = counts[Int(author)]
    func slot(
      before first: UInt32, from reader: inout ByteReader
    ) throws(DecodingFailure) -> LocalID {
      let head = try reader.count()
      if head == 0 { return .none }
      if head == 1, first > 0 { return LocalID(author, first - 1) }
      let offset = try reader.count()
      guard head > 1, head - 2 < counts.count, offset < counts[head - 2] else {
        throw reader.failure("an origin that is not there")
      }
      return LocalID(AuthorIndex(head - 2), UInt32(offset))
    }
    var first: UInt64 = 0
    let runs = try reader.count()
    origins.reserveCapacity(min(runs, Int(count)))
    for index in 0..<runs {
      let step = try reader.varint()
      guard (step == 0) == (index == 0), step < count, first + step < count else {
        throw reader.failure("origins out of order")
      }
      first += step
      let left = try slot(before: UInt32(first), from: &reader)
      let right = try slot(before: UInt32(first), from: &reader)
      origins.append(Origin(first: UInt32(first), left: left, right: right))
    }
    guard count == 0 || !origins.isEmpty else { throw reader.failure("slots without origins") }
  }

  fileprivate func encodeElements(into writer: inout ByteWriter) {
    forEachStamp { offset, number in
      let element = content[Int(offset)]
      if element.replica == id, element.number == number {
        writer.varint(0)
      } else {
        writer.varint(1)
        element.encode(into: &writer)
      }
    }
  }

  fileprivate mutating func decodeElements(
    _ count: UInt32, _ author: AuthorIndex, _ moved: inout [LocalID],
    from reader: inout ByteReader
  ) throws(DecodingFailure) {
    var elements: [ChangeID] = []
    elements.reserveCapacity(Int(count))
    var last: UInt64 = 0
    for (index, run) in stamps.enumerated() {
      let end = index + 1 < stamps.count ? stamps[index + 1].first : count
      for offset in run.first..<end {
        let number = run.isStepping ? run.number + UInt64(offset - run.first) : run.number
        switch try reader.varint() {
        case 0:
          // Only the first slot of a change is found by its name.
          if number == last { moved.append(LocalID(author, offset)) }
          elements.append(ChangeID(replica: id, number: number))
        case 1:
          moved.append(LocalID(author, offset))
          elements.append(try ChangeID(from: &reader))
        default: throw reader.failure("an element of no kind")
        }
        last = number
      }
    }
    content = elements
  }

  /// Visits all slots with the numbers of their changes.
  private func forEachStamp(_ body: (_ offset: UInt32, _ number: UInt64) -> Void) {
    for (index, run) in stamps.enumerated() {
      let end = index + 1 < stamps.count ? stamps[index + 1].first : count
      for offset in run.first..<end {
        body(offset, run.isStepping ? run.number + UInt64(offset - run.first) : run.number)
      }
    }
  }
}
