internal import JSONRPC
internal import NoteStore
internal import Notes

// A search for text in all notes takes longer than a request may hold up others, so it is done in pieces.

/// The parameters of `notebook/search`.
struct SearchParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case query, mode, limit }

  private static let longestQuery = 1000

  let query: SearchQuery
  let limit: Int

  init(_ params: Parameters) throws(ResponseError) {
    let text = try params.requiredText(Name.query)
    guard text.count <= Self.longestQuery else {
      throw .invalidParams("query", "must be at most \(Self.longestQuery) bytes")
    }
    let isText = try params.word(Name.mode, [("words", false), ("text", true)]) ?? false
    do { query = try isText ? SearchQuery(text: text) : SearchQuery(parsing: text) } catch {
      throw .invalidParams("query", error.reason)
    }
    limit = try params.limit(Name.limit)
  }
}

extension QueryMistake {
  fileprivate var reason: String {
    switch self {
    case .empty: "must have something to look for"
    case .nothingBut(marks: ""): "must have something between its quotes"
    case .nothingBut(let marks): "must have something else than the marks \(marks)"
    case .unknownFilter(let filter):
      "there is no filter \(filter); there are tag:, title: and is:trashed, and what stands in quotes is none"
    }
  }
}

/// A search that is not complete.
private struct SearchRequest: Lookup {
  let id: RequestID
  var search: NoteSearch
  /// The most matches that are wanted.
  let limit: Int
  let encoding: PositionEncoding
  /// The number of matches that were found.
  private var count = 0
  /// The result as far as it is known.
  private var result = JSONWriter()

  /// The bytes that are searched at once: a few milliseconds.
  private static let piece = 1 << 20

  init(_ id: RequestID, _ search: NoteSearch, limit: Int, _ encoding: PositionEncoding) {
    self.id = id
    self.search = search
    self.limit = limit
    self.encoding = encoding
    result.beginObject()
    result.key("matches")
    result.beginArray()
  }

  mutating func proceed(in store: NoteStore?) throws(ResponseError) -> [UInt8]? {
    var isMore = false
    do {
      let isIncomplete = try search.proceed(Self.piece) { match in
        if count == limit || result.bytes.count >= Requests.largestLookup {
          isMore = true
          return false
        }
        count += 1
        result.match(match, encoding)
        return true
      }
      if isIncomplete { return nil }
    } catch {
      // The next search finds what is in the logs.
      store?.giveUpArchive()
      throw ResponseError(error)
    }
    result.endArray()
    result.member("more", isMore)
    result.endObject()
    return result.bytes
  }
}

extension NotesServer {
  /// Begins a search, which is answered when it is complete. A small notebook is searched at once.
  mutating func search(_ id: RequestID, _ params: SearchParameters) {
    let search = NoteSearch(for: params.query, in: store?.readableNotebook ?? NoteBook())
    begin(SearchRequest(id, search, limit: params.limit, client.encoding))
  }
}

extension JSONWriter {
  fileprivate mutating func match(_ match: NoteMatch, _ encoding: PositionEncoding) {
    beginObject()
    key("note")
    summary(match.note)
    ranges("titleRanges", match.titleRanges, in: Array(match.note.title.utf8), encoding)
    ranges("ranges", match.ranges, in: match.utf8, encoding)
    if !match.headerLines.isEmpty {
      key("headerLines")
      beginArray()
      for line in match.headerLines { string(utf8: NoteMatch.snippet(of: Array(line), at: 0)) }
      endArray()
    }
    key("snippet")
    string(utf8: match.snippet)
    endObject()
  }

  private mutating func ranges(
    _ name: String, _ ranges: [Range<Int>], in text: [UInt8], _ encoding: PositionEncoding
  ) {
    key(name)
    beginArray()
    for range in NoteMatch.positions(of: ranges, in: text, encoding) {
      self.range(range.start, range.end)
    }
    endArray()
  }
}
