internal import ReplicatingTypes

/// A note that a search has found.
public struct NoteMatch: Sendable {
  /// The note that was found.
  public var note: NoteSummary
  /// Where in the title: bytes of UTF-8.
  public var titleRanges: [Range<Int>]
  /// Where in the text: bytes of UTF-8. Of very many, the first.
  public var ranges: [Range<Int>]
  /// The text of the note, in UTF-8.
  public var utf8: [UInt8]

  /// The line of the first match in the text, or a part of it; else the first line that isn't blank.
  public var snippet: ArraySlice<UInt8> {
    let place: Int
    if let first = ranges.first {
      place = first.lowerBound
    } else {
      place = utf8.firstIndex { $0 > 0x20 } ?? 0
    }
    var start = utf8[..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    if place - start > Self.lead { start = place - Self.lead }
    var end = utf8[place...].firstIndex(of: 0x0A) ?? utf8.count
    if end - start > Self.longestSnippet { end = start + Self.longestSnippet }
    // Not inside a scalar.
    while start < place, utf8[start] & 0xC0 == 0x80 { start += 1 }
    while end > start, end < utf8.count, utf8[end] & 0xC0 == 0x80 { end -= 1 }
    return utf8[start..<end]
  }

  /// The numbers of bytes of a long line that a snippet has before the match, and in all.
  private static let lead = 60
  private static let longestSnippet = 240
}

extension NoteMatch {
  /// Ranges of a text that are in order, as a client counts. O(n).
  public static func positions(
    of ranges: [Range<Int>], in utf8: [UInt8], _ encoding: PositionEncoding
  ) -> [(start: TextPosition, end: TextPosition)] {
    var place = TextPosition(line: 0, character: 0)
    var index = 0
    func position(of offset: Int) -> TextPosition {
      while index < offset {
        if utf8[index] == 0x0A {
          place = TextPosition(line: place.line + 1, character: 0)
        } else {
          place.character += encoding.units(ofScalarBeginningWith: utf8[index])
        }
        index += PositionEncoding.utf8.units(ofScalarBeginningWith: utf8[index])
      }
      return place
    }
    return ranges.map { (position(of: $0.lowerBound), position(of: $0.upperBound)) }
  }
}

/// A search through the notes of a notebook, as they were when it began, in steps.
///
///     var search = NoteSearch(for: "grun", in: book)!
///     while try search.proceed(1 << 20, { show($0); return true }) {}
///
/// First all notes are looked through where they lie, since that is quick: the archive from its beginning to its end, of most
/// notes nothing but the text. Then those that were found are opened in the user's order. Memory is taken for a piece of the
/// archive, for one note, and for the names of the notes found.
public struct NoteSearch: Sendable {
  private let book: NoteBook
  private var query: Query
  private var slot = 0
  private var place = 0
  private var found: Set<NoteID> = []
  /// The notes that were found, in the user's order; `nil` while they are looked for.
  private var listed: [NoteID]?
  private var next = 0

  /// The most ranges that are told of a title or a text.
  public static let mostRanges = 1000
  /// Bytes of the archive that are read at once.
  private static let piece = 1 << 18
  /// Opening a note takes as long as looking through so many bytes, and so does telling of a place in it.
  private static let opening = 1 << 14
  private static let telling = 1 << 10

  /// `nil` if nothing is left of the text when case and marks are taken away.
  public init?(for text: [UInt8], in book: NoteBook) {
    guard let query = Query(text) else { return nil }
    self.query = query
    var book = book
    // A change that is made meanwhile need not copy them.
    book.histories = Histories()
    self.book = book
  }

  /// Goes on, for about as long as looking through so many bytes takes, and reports matches in the user's order until
  /// the visitor wants no more. Whether there is more to do.
  public mutating func proceed(
    _ effort: Int, _ report: (NoteMatch) -> Bool
  ) throws(ArchiveFailure) -> Bool {
    var rest = effort
    while rest > 0, listed == nil { try look(&rest) }
    guard let listed else { return true }
    while rest > 0, next < listed.count {
      guard let note = try book.note(listed[next]) else { throw ArchiveFailure(reason: "no note") }
      next += 1
      let match = match(note)
      rest -= Self.opening + 4 * note.text.count + Self.telling * match.ranges.count
      guard report(match) else { return false }
    }
    return next < listed.count
  }

  private mutating func match(_ note: Note) -> NoteMatch {
    let utf8 = note.text.utf8
    return NoteMatch(
      note: NoteSummary(note), titleRanges: query.ranges(in: Array(note.title.value.utf8)),
      ranges: query.ranges(in: utf8), utf8: utf8)
  }

  /// Looks through some notes.
  private mutating func look(_ rest: inout Int) throws(ArchiveFailure) {
    let shelf = book.shelf
    if slot < shelf.slotCount {
      let (id, bytes) = shelf.content(ofSlot: slot)
      slot += 1
      rest -= 64
      if let bytes { try look(at: id, bytes, &rest) }
    } else if let archive = book.archive, place < archive.count {
      try look(into: archive, &rest)
    } else {
      listed = found.isEmpty ? [] : try book.listedNotes().filter { found.contains($0) }
    }
  }

  private mutating func look(
    into archive: NotebookArchive, _ rest: inout Int
  ) throws(ArchiveFailure) {
    let first = archive.noteBlock(at: place)
    var blocks = [first]
    var end = place + 1
    while end < archive.count {
      let last = blocks[blocks.count - 1]
      let block = archive.noteBlock(at: end)
      guard block.start == last.start + last.size + 4,
        block.start + block.size - first.start < min(Self.piece, rest)
      else { break }
      blocks.append(block)
      end += 1
    }
    let bytes = try archive.blocks(from: first, to: blocks[blocks.count - 1])
    for block in blocks {
      let id = archive.id(at: place)
      if !archive.isTrashed(at: place), book.shelf.isAsArchived(id) {
        let start = block.start - first.start
        try look(at: id, .encoded(bytes[start..<start + block.size], hasSummary: false), &rest)
      } else {
        rest -= 64
      }
      place += 1
    }
  }

  private mutating func look(
    at id: NoteID, _ content: Shelf.Content, _ rest: inout Int
  ) throws(ArchiveFailure) {
    switch content {
    case .open(let note):
      rest -= note.text.count + 64
      if query.isIn(Array(note.title.value.utf8)[...]) || query.isIn(note.text.utf8[...]) {
        found.insert(id)
      }
    case .encoded(let bytes, let hasSummary):
      rest -= bytes.count + 64
      do {
        var reader = ByteReader(bytes)
        if hasSummary { try NoteSummary.skip(&reader) }
        let (title, text) = try Note.content(from: &reader)
        if query.isIn(title) || query.isIn(text) { found.insert(id) }
      } catch { throw ArchiveFailure(error) }
    }
  }
}

/// The words that are looked for.
private struct Query: Sendable {
  private let needle: [UInt8]
  /// Where in it the three bytes are that texts have least.
  private let rarest: (Int, Int, Int)
  private var folded = FoldedText()

  init?(_ text: [UInt8]) {
    folded.fold(text[...])
    needle = Array(folded.utf8)
    if needle.isEmpty { return nil }
    // From the commonest to the rarest; what is not among them is rarer still.
    let common = [UInt8](" etaoinsrhldcumfpgwybvkxjqz\n".utf8)
    let order = needle.indices.sorted { [needle] in
      (common.firstIndex(of: needle[$0]) ?? 99, $0) > (common.firstIndex(of: needle[$1]) ?? 99, $1)
    }
    rarest = (order[0], order[min(1, order.count - 1)], order[min(2, order.count - 1)])
  }

  mutating func isIn(_ text: ArraySlice<UInt8>) -> Bool {
    folded.fold(text)
    return folded.utf8.span.firstRange(of: needle.span, rarest, from: 0) != nil
  }

  mutating func ranges(in text: [UInt8]) -> [Range<Int>] {
    folded.fold(text[...], withOrigins: true)
    var ranges: [Range<Int>] = []
    var start = 0
    while ranges.count < NoteSearch.mostRanges,
      let found = folded.utf8.span.firstRange(of: needle.span, rarest, from: start)
    {
      let range = folded.range(of: found)
      // Two matches may be within what one scalar folds to.
      if range.lowerBound >= ranges.last?.upperBound ?? 0 { ranges.append(range) }
      start = found.upperBound
    }
    return ranges
  }
}

extension Span<UInt8> {
  /// Where a text of at least one byte stands first, at `start` or later. O(n), and the length of the text for each place where
  /// three bytes of it stand as they do in it.
  fileprivate func firstRange(
    of needle: Span<UInt8>, _ places: (Int, Int, Int), from start: Int
  ) -> Range<Int>? {
    let length = needle.count
    guard length <= count - start else { return nil }
    let end = count &- length &+ 1
    let bytes = (needle[places.0], needle[places.1], needle[places.2])
    var block = start
    while block < end {
      let stop = Swift.min(block &+ 128, end)
      let first = extracting(block &+ places.0..<stop &+ places.0)
      let second = extracting(block &+ places.1..<stop &+ places.1)
      let third = extracting(block &+ places.2..<stop &+ places.2)
      if Self.haveInOnePlace(first, second, third, bytes) {
        for index in first.indices where first[index] == bytes.0 && second[index] == bytes.1 {
          let place = block &+ index
          var offset = 0
          while offset < length, self[place &+ offset] == needle[offset] { offset &+= 1 }
          if offset == length { return place..<place &+ length }
        }
      }
      block = stop
    }
    return nil
  }

  /// True if at some index each has its byte. Not inlined, so that the compiler makes vectors of it.
  @inline(never)
  private static func haveInOnePlace(
    _ first: Span<UInt8>, _ second: Span<UInt8>, _ third: Span<UInt8>,
    _ bytes: (UInt8, UInt8, UInt8)
  ) -> Bool {
    let count = first.count
    precondition(second.count == count && third.count == count)
    var isFound: UInt8 = 0
    var index = 0
    while index < count {
      let difference =
        (first[index] ^ bytes.0) | (second[index] ^ bytes.1) | (third[index] ^ bytes.2)
      isFound |= difference == 0 ? 1 : 0
      index &+= 1
    }
    return isFound != 0
  }
}
