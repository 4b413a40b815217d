// Library product only: the programs of this package do not use this file.

// A text without its past is written: see TrimmedEncoding.swift.

extension ReplicatingArray<UInt8> {
  /// Writes what stands above. O(elements + n log n).
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
    for author in value.authors { author.encodeTimes(&body) }
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
    let text = value.elements
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
    value.tree = PieceTree(value.tree.sizes, of: pieces, isASCII: value.isASCII) {
      TextWeight(of: text[$0].span)
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
    var recent = RecentPiece.none
    var ends = [UInt32](repeating: 0, count: authors.count)
    var isRemoved = false
    var author: AuthorIndex = 0
    for (number, run) in runs.enumerated() {
      var how = run.author == author ? PieceCode.How.distance : .author
      for back in 0..<8 {
        let piece = recent[(number + 7 - back) & 7]
        if piece.author != run.author { continue }
        if piece.end == run.start { how = .begins(back) }
        if piece.start == run.end { how = .ends(back) }
        if how != .distance, how != .author { break }
      }
      let code = PieceCode.all.first { $0.how == how }!
      let rest = Int(run.end - run.start) - 1
      let place = code.first + Swift.min(rest, code.width - 1)
      writer.byte(UInt8(place << 1 | (run.isRemoved == isRemoved ? 0 : 1)))
      if rest >= code.width - 1 { writer.varint(rest - (code.width - 1)) }
      if how == .author { writer.varint(UInt64(run.author)) }
      if how == .author || how == .distance {
        writer.signed(Int64(run.start) - Int64(ends[Int(run.author)]))
      }
      recent[number & 7] = RecentPiece(author: run.author, start: run.start, end: run.end)
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
      let count = self.count(ofRun: index)
      let isAtOnce = !run.isStepping && count > 1
      let excess = Int64(run.number) - Int64(expected)
      let code = TrimmedEncoding.shortCode(excess, isAtOnce)
      writer.varint((count - 1) << 4 | (code ?? 15))
      if code == nil { writer.varint(UInt64(bitPattern: excess + 1) << 1 | (isAtOnce ? 1 : 0)) }
      expected = run.number + (run.isStepping ? count : 1)
    }
  }

  fileprivate func encodeTimes(_ writer: inout ByteWriter) {
    var surprises = ByteWriter()
    var number = 0
    var last = 0
    var expected = LamportExpectation()
    for (index, run) in stamps.enumerated() {
      let time = lamport(of: run.first)
      let difference = Int64(time) - Int64(expected.time(of: run.number))
      if difference != 0 {
        surprises.varint(index - last)
        surprises.signed(difference)
        number += 1
        last = index
      }
      expected.pass(run.number, time, count(ofRun: index), isStepping: run.isStepping)
    }
    writer.varint(number)
    writer.raw(surprises.bytes)
  }

  private func count(ofRun index: Int) -> UInt64 {
    UInt64((index + 1 < stamps.count ? stamps[index + 1].first : count) - stamps[index].first)
  }
}
