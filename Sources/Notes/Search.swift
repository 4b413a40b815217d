internal import Bytes
internal import ReplicatingTypes

/// A note that a search has found.
public struct NoteMatch: Sendable {
  /// The note that was found.
  public var note: NoteSummary
  /// Where in the title: bytes of UTF-8.
  public var titleRanges: [Range<Int>]
  /// Where in the text: bytes of UTF-8. Of very many, the first.
  public var ranges: [Range<Int>]
  /// The lines of its file's header with a match, in UTF-8; of very many, the first.
  public var headerLines: [ArraySlice<UInt8>]
  /// The text of the note, in UTF-8.
  public var utf8: [UInt8]

  /// The line of the first match in the text, or a part of it; else that of the first match in the header; else the first line that isn't blank.
  public var snippet: ArraySlice<UInt8> {
    if ranges.isEmpty, titleRanges.isEmpty, let line = headerLines.first {
      return Self.snippet(of: Array(line), at: 0)
    }
    return Self.snippet(
      of: utf8, at: ranges.first?.lowerBound ?? utf8.firstIndex { $0 > 0x20 } ?? 0)
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
/// Notes are looked through in the user's order, some at once, where they lie: in the archive from the first of these to the last, of most
/// notes nothing but the text, and only those whose signatures have what is looked for. Those that were found are opened then. Memory
/// is taken for a piece of the archive and for one note.
public struct NoteSearch: Sendable {
  private let book: NoteBook
  private var matcher: Matcher
  /// The notes of the archive that may be found; nil before that was found out, and without an archive.
  private var candidates: Candidates?
  /// The position of the next note in the user's order.
  private var position = 0
  /// The notes that are looked through, in the user's order, and which of them were found.
  private var notes: [NoteID] = []
  private var isFound: [Bool] = []
  /// Those of them that are to be looked for in the archive, by their places in its index, the last one first; and the others, by their slots.
  private var archived: [(place: Int, index: Int)] = []
  private var others: [(slot: Int, index: Int)] = []
  /// The slot that was found last: as a rule the next one is beside it.
  private var slot = 0
  /// The next one of them that may be reported.
  private var next = 0

  /// The most ranges that are told of a title or a text.
  public static let mostRanges = 1000
  /// The most lines of a header that are told.
  public static let mostHeaderLines = 20
  /// Notes that are looked through at once in the beginning, since a few may be all that are wanted.
  private static let firstNotes = 64
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
    while rest > 0 {
      if let archive = book.archive, !archived.isEmpty {
        try look(into: archive, &rest)
      } else if let (slot, index) = others.popLast() {
        if let note = book.noteCache.openNote(inSlot: slot) {
          isFound[index] = fits(note, &rest)
        } else {
          isFound[index] = try fits(
            book.noteCache.packed(inSlot: slot)[...], hasSummary: true, &rest)
        }
      } else if next < notes.count {
        next += 1
        guard isFound[next - 1] else { continue }
        guard let note = try book.note(notes[next - 1]) else {
          throw ArchiveFailure(reason: "no note")
        }
        let match = match(note)
        rest -=
          Self.opening + 4 * matcher.effort * note.text.count + Self.telling * match.ranges.count
        guard report(match) else { return false }
      } else if try !takeNotes(&rest) {
        return false
      }
    }
    return true
  }

  private mutating func match(_ note: Note) -> NoteMatch {
    let utf8 = note.text.utf8
    return NoteMatch(
      note: NoteSummary(note),
      titleRanges: matcher.ranges(in: Array(note.title.value.utf8), isTitle: true),
      ranges: matcher.ranges(in: utf8, isTitle: false),
      headerLines: matcher.lines(of: note.headerText), utf8: utf8)
  }

  /// Takes the next notes in the user's order. False if there are none.
  private mutating func takeNotes(_ rest: inout Int) throws(ArchiveFailure) -> Bool {
    if candidates == nil, let archive = book.archive {
      candidates = try book.noteCache.candidates(with: matcher.query.features, in: archive)
      rest -= archive.count
    }
    let limit = position == 0 ? Self.firstNotes : NotebookArchive.listed
    let count: Int
    (notes, count) = try book.ids(from: position, atMost: limit, among: candidates)
    position += count
    isFound = [Bool](repeating: false, count: notes.count)
    next = 0
    rest -= count
    for (index, id) in notes.enumerated() where !book.isPurged(id) {
      let slot = book.noteCache.slot(of: id, near: self.slot)
      if let slot { self.slot = slot }
      if let slot, !book.noteCache.isAsArchived(inSlot: slot) {
        if book.noteCache.isTrashed(inSlot: slot) == matcher.query.isTrashed {
          others.append((slot, index))
        }
      } else {
        guard let archive = book.archive, let place = archive.place(of: id) else {
          throw ArchiveFailure(reason: "a place of a note that is not here")
        }
        if archive.isTrashed(at: place) == matcher.query.isTrashed {
          archived.append((place, index))
        }
      }
    }
    archived.sort { $1.place < $0.place }
    return count > 0
  }

  /// Looks through some of the notes that are in the archive, one behind the other there.
  private mutating func look(
    into archive: NotebookArchive, _ rest: inout Int
  ) throws(ArchiveFailure) {
    let first = archive.noteBlock(at: archived[archived.count - 1].place)
    var some: [(index: Int, block: Container.Block)] = []
    while let (place, index) = archived.last {
      let block = archive.noteBlock(at: place)
      if let last = some.last?.block {
        guard block.start == last.bytes.upperBound,
          block.start + block.size - first.start < min(Self.piece, rest)
        else { break }
      }
      some.append((index, block))
      archived.removeLast()
    }
    let bytes = try archive.blocks(from: first, to: some[some.count - 1].block)
    for (index, block) in some {
      let content = try NotebookArchive.content(
        of: block, in: bytes, at: block.start - first.start)
      isFound[index] = try fits(content, hasSummary: false, &rest)
    }
  }

  private mutating func fits(_ note: borrowing Note, _ rest: inout Int) -> Bool {
    rest -= matcher.effort * note.text.count + 64
    let tags = matcher.query.hasTags ? note.tags.values : []
    let text = note.text
    return matcher.fits(
      Array(note.title.value.utf8)[...], tags, { note.headerText }, { text.utf8[...] })
  }

  /// - Parameter note: as `Note` encodes itself, perhaps behind its summary.
  private mutating func fits(
    _ note: ArraySlice<UInt8>, hasSummary: Bool, _ rest: inout Int
  ) throws(ArchiveFailure) -> Bool {
    rest -= matcher.effort * note.count + 64
    do {
      var reader = ByteReader(note)
      if hasSummary { try NoteSummary.skip(&reader) }
      let content = try EncodedContent(
        from: &reader, withTags: matcher.query.hasTags, withText: true)
      return matcher.fits(
        content.title, content.tags, { content.headerText }, { content.text })
    } catch { throw ArchiveFailure(error) }
  }
}

/// Holds notes against a query.
private struct Matcher: Sendable {
  let query: SearchQuery
  private var folded = FoldedText()
  /// The terms that the title, and then the header, leave open.
  private var open: [Int] = []

  init(_ query: SearchQuery) { self.query = query }

  /// By how much longer it takes than to look for one word.
  var effort: Int { 1 + query.terms.count / 4 }

  mutating func fits(
    _ title: ArraySlice<UInt8>, _ tags: Set<Tag>, _ header: () -> [UInt8],
    _ text: () -> ArraySlice<UInt8>
  ) -> Bool {
    open.removeAll(keepingCapacity: true)
    // One word is looked for in what is not folded. For several it is folded once.
    let isAlone = query.terms.count == 1
    if !isAlone { folded.fold(title) }
    for (index, term) in query.terms.enumerated() {
      switch term.field {
      case .title, .any:
        let isThere = isAlone ? term.pattern.isIn(title, &folded) : term.pattern.isIn(folded)
        if term.field == .title {
          if isThere == term.isNegated { return false }
        } else if !isThere {
          open.append(index)
        } else if term.isNegated {
          return false
        }
      case .tag: break
      }
    }
    if query.hasTags, !fits(tags) { return false }
    if open.isEmpty { return true }
    let header = header()
    if !header.isEmpty {
      folded.fold(header[...])
      let isThere = open.filter { query.terms[$0].pattern.isIn(folded) }
      if isThere.contains(where: { query.terms[$0].isNegated }) { return false }
      open.removeAll { isThere.contains($0) }
      if open.isEmpty { return true }
    }
    let text = text()
    if open.count == 1 {
      let term = query.terms[open[0]]
      return term.pattern.isIn(text, &folded) != term.isNegated
    }
    folded.fold(text)
    return open.allSatisfy { query.terms[$0].pattern.isIn(folded) != query.terms[$0].isNegated }
  }

  private mutating func fits(_ tags: Set<Tag>) -> Bool {
    let names = tags.map { tag in
      folded.fold(Array(tag.name.utf8)[...])
      return Array(folded.utf8)
    }
    return query.terms.allSatisfy { term in
      guard term.field == .tag else { return true }
      let tag = term.pattern.bytes
      // Those below it are of it, too: work/alpha of work.
      let isThere = names.contains {
        $0.starts(with: tag) && ($0.count == tag.count || $0[tag.count] == UInt8(ascii: "/"))
      }
      return isThere != term.isNegated
    }
  }

  /// The lines of a header in which one of the words stands that are looked for.
  mutating func lines(of header: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    for line in header.split(separator: 0x0A) where lines.count < NoteSearch.mostHeaderLines {
      folded.fold(line)
      let isFound = query.terms.contains {
        !$0.isNegated && $0.field == .any && $0.pattern.isIn(folded)
      }
      if isFound { lines.append(line) }
    }
    return lines
  }

  /// Where the words are that are looked for there: of very many the first, in order, and where they touch as one.
  mutating func ranges(in text: [UInt8], isTitle: Bool) -> [Range<Int>] {
    folded.fold(text[...], withOrigins: true)
    var all: [Range<Int>] = []
    for term in query.terms where !term.isNegated {
      guard term.field == .any || isTitle && term.field == .title else { continue }
      all += term.pattern.ranges(in: folded, atMost: NoteSearch.mostRanges)
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
