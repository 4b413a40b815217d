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
    Self.snippet(of: utf8, at: ranges.first?.lowerBound ?? utf8.firstIndex { $0 > 0x20 } ?? 0)
  }

  /// The line of a place in a text, where a scalar begins, or a part of it. O(its length).
  public static func snippet(of utf8: [UInt8], at place: Int) -> ArraySlice<UInt8> {
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
///     var search = NoteSearch(for: try SearchQuery(parsing: Array("green tag:home".utf8)), in: book)
///     while try search.proceed(1 << 20, { show($0); return true }) {}
///
/// First all notes are looked through where they lie, since that is quick: the archive from its beginning to its end, of most
/// notes nothing but the text. Then those that were found are opened in the user's order. Memory is taken for a piece of the
/// archive, for one note, and for the names of the notes found.
public struct NoteSearch: Sendable {
  private let book: NoteBook
  private var matcher: Matcher
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

  /// Begins a search; nothing is read yet.
  public init(for query: SearchQuery, in book: NoteBook) {
    matcher = Matcher(query)
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
      rest -=
        Self.opening + 4 * matcher.effort * note.text.count + Self.telling * match.ranges.count
      guard report(match) else { return false }
    }
    return next < listed.count
  }

  private mutating func match(_ note: Note) -> NoteMatch {
    let utf8 = note.text.utf8
    return NoteMatch(
      note: NoteSummary(note),
      titleRanges: matcher.ranges(in: Array(note.title.value.utf8), isTitle: true),
      ranges: matcher.ranges(in: utf8, isTitle: false), utf8: utf8)
  }

  /// Looks through some notes.
  private mutating func look(_ rest: inout Int) throws(ArchiveFailure) {
    let shelf = book.shelf
    if slot < shelf.slotCount {
      let (id, content) = shelf.content(ofSlot: slot, inTrash: matcher.query.isTrashed)
      slot += 1
      rest -= 64
      if let content, !book.isPurged(id) { try look(at: id, content, &rest) }
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
      if archive.isTrashed(at: place) == matcher.query.isTrashed, book.shelf.isAsArchived(id),
        !book.isPurged(id)
      {
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
      rest -= matcher.effort * note.text.count + 64
      let tags = matcher.query.hasTags ? note.tags.elements : []
      if matcher.fits(Array(note.title.value.utf8)[...], tags, { note.text.utf8[...] }) {
        found.insert(id)
      }
    case .encoded(let bytes, let hasSummary):
      rest -= matcher.effort * bytes.count + 64
      do {
        var reader = ByteReader(bytes)
        if hasSummary { try NoteSummary.skip(&reader) }
        let content = try EncodedContent(
          from: &reader, withTags: matcher.query.hasTags, withText: true)
        if matcher.fits(content.title, content.tags, { content.text }) { found.insert(id) }
      } catch { throw ArchiveFailure(error) }
    }
  }
}

/// Holds notes against a query.
private struct Matcher: Sendable {
  let query: SearchQuery
  private var folded = FoldedText()
  /// The terms that the title leaves open.
  private var open: [Int] = []

  init(_ query: SearchQuery) { self.query = query }

  /// By how much longer it takes than to look for one word.
  var effort: Int { 1 + query.terms.count / 4 }

  mutating func fits(
    _ title: ArraySlice<UInt8>, _ tags: Set<Tag>, _ text: () -> ArraySlice<UInt8>
  ) -> Bool {
    folded.fold(title)
    open.removeAll(keepingCapacity: true)
    for (index, term) in query.terms.enumerated() {
      switch term.field {
      case .title: if term.needle.isIn(folded) == term.isNegated { return false }
      case .any:
        if !term.needle.isIn(folded) {
          open.append(index)
        } else if term.isNegated {
          return false
        }
      case .tag: break
      }
    }
    if query.hasTags, !fits(tags) { return false }
    if open.isEmpty { return true }
    folded.fold(text())
    return open.allSatisfy { query.terms[$0].needle.isIn(folded) != query.terms[$0].isNegated }
  }

  private mutating func fits(_ tags: Set<Tag>) -> Bool {
    let names = tags.map { tag in
      folded.fold(Array(tag.name.utf8)[...])
      return Array(folded.utf8)
    }
    return query.terms.allSatisfy { term in
      term.field != .tag || names.contains(term.needle.bytes) != term.isNegated
    }
  }

  /// Where the words are that are looked for there: of very many the first, in order, and where they touch as one.
  mutating func ranges(in text: [UInt8], isTitle: Bool) -> [Range<Int>] {
    folded.fold(text[...], withOrigins: true)
    var all: [Range<Int>] = []
    for term in query.terms where !term.isNegated {
      guard term.field == .any || isTitle && term.field == .title else { continue }
      all += term.needle.ranges(in: folded, atMost: NoteSearch.mostRanges)
    }
    if query.terms.count == 1 { return all }
    all.sort { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
    var ranges: [Range<Int>] = []
    for range in all {
      if let last = ranges.last, range.lowerBound < last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else if ranges.count < NoteSearch.mostRanges {
        ranges.append(range)
      } else {
        break
      }
    }
    return ranges
  }
}
