internal import JSONRPC
internal import Notes

// Looking for text in all notes. It takes longer than a request may hold up the others, so it is done in pieces.

/// A search under way.
struct SearchRequest {
  let id: RequestID
  var search: NoteSearch
  /// The most matches that are wanted, and how many there are.
  let limit: Int
  var count = 0
  /// The result as far as it is known.
  var result: JSONWriter
}

extension NotesServer {
  /// Bytes that are looked through in one go: a few milliseconds.
  private static let searchPiece = 1 << 20
  /// No answer grows much larger; what is left out then is told.
  private static let largestSearchResult = 8 << 20
  private static let longestQuery = 1000

  mutating func search(_ id: RequestID, _ params: Parameters) throws(ResponseError) {
    let query = try params.requiredText("query")
    guard query.count <= Self.longestQuery else {
      throw .invalidParams("query", "must be at most \(Self.longestQuery) bytes")
    }
    let limit = try limit(params)
    guard let search = NoteSearch(for: query, in: book) else {
      throw .invalidParams("query", "must have something else than marks")
    }
    var result = JSONWriter()
    result.beginObject()
    result.key("matches")
    result.beginArray()
    searches.append(SearchRequest(id: id, search: search, limit: limit, result: result))
    // Most notebooks are small.
    if searches.count == 1 { proceedSearching() }
  }

  /// Does a piece of the search that came first.
  mutating func proceedSearching() {
    var request = searches.removeFirst()
    let encoding = encoding
    var isMore = false
    do {
      let goesOn = try request.search.proceed(Self.searchPiece) { match in
        if request.count == request.limit
          || request.result.bytes.count >= Self.largestSearchResult
        {
          isMore = true
          return false
        }
        request.count += 1
        request.result.match(match, encoding)
        return true
      }
      if goesOn { return searches.insert(request, at: 0) }
    } catch {
      return said.respond(to: request.id, error: ResponseError(error))
    }
    request.result.endArray()
    request.result.member("more", isMore)
    request.result.endObject()
    let result = request.result.bytes
    said.respond(to: request.id) { $0.raw(result) }
  }
}

extension JSONWriter {
  fileprivate mutating func match(_ match: NoteMatch, _ encoding: PositionEncoding) {
    beginObject()
    key("note")
    summary(match.note)
    ranges("titleRanges", match.titleRanges, in: Array(match.note.title.utf8), encoding)
    ranges("ranges", match.ranges, in: match.utf8, encoding)
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
      beginObject()
      key("start")
      position(range.start)
      key("end")
      position(range.end)
      endObject()
    }
    endArray()
  }
}
