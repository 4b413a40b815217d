internal import JSONRPC
internal import NoteStore
internal import Notes

// A search for text in all notes takes longer than a request may hold up others, so it is done in pieces.

/// The parameters of `notebook/search`.
struct SearchParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case query, limit }

  private static let longestQuery = 1000

  let query: [UInt8]
  let limit: Int

  init(_ params: Parameters) throws(ResponseError) {
    query = try params.requiredText(Name.query)
    guard query.count <= Self.longestQuery else {
      throw .invalidParams("query", "must be at most \(Self.longestQuery) bytes")
    }
    limit = try params.limit(Name.limit)
  }
}

extension NotesServer {
  /// The bytes that are searched at once: a few milliseconds.
  private static let searchPiece = 1 << 20
  /// The length of a result, in bytes, above which further matches are left out; the result says so.
  private static let largestSearchResult = 8 << 20

  /// Begins a search, which is answered when it is complete. A small notebook is searched at once.
  mutating func search(_ id: RequestID, _ params: SearchParameters) throws(ResponseError) {
    guard let search = NoteSearch(for: params.query, in: book) else {
      throw .invalidParams("query", "must have something else than marks")
    }
    var result = JSONWriter()
    result.beginObject()
    result.key("matches")
    result.beginArray()
    requests.searches.append(
      SearchRequest(id: id, search: search, limit: params.limit, result: result))
    if requests.searches.count == 1 { proceedSearching() }
  }

  /// Does a piece of the search that came first.
  mutating func proceedSearching() {
    var request = requests.searches.removeFirst()
    let encoding = client.encoding
    var isMore = false
    do {
      let isIncomplete = try request.search.proceed(Self.searchPiece) { match in
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
      if isIncomplete { return requests.searches.insert(request, at: 0) }
    } catch {
      // The next search finds what is in the logs.
      store?.giveUpArchive()
      return currentOutbox.respond(to: request.id, error: ResponseError(error))
    }
    request.result.endArray()
    request.result.member("more", isMore)
    request.result.endObject()
    let result = request.result.bytes
    currentOutbox.respond(to: request.id) { $0.raw(result) }
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
      self.range(range.start, range.end)
    }
    endArray()
  }
}
