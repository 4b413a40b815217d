internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// Requests with a key: the same key again is answered as the first time and changes nothing, also by another process than the one that has
// made the change. The change itself says for which key it was made, so there is no moment at which the one is written and the other is not.

extension NotesServer {
  /// The key of a request, if it has one.
  func requestKey(_ params: Parameters) throws(ResponseError) -> [UInt8]? {
    guard let key = try params.string("requestKey") else { return nil }
    guard key.utf8.count <= 1024 else {
      throw .invalidParams("requestKey", "must be at most 1024 bytes")
    }
    return Array(key.utf8)
  }

  /// The result of a request that a process which may be gone has carried out under this key; nil if none is known here.
  mutating func repeatedResult(
    of request: KeyedRequest, _ key: [UInt8], _ params: Parameters
  ) throws(ResponseError) -> [UInt8]? {
    let made = try changes(madeFor: key)
    guard let first = made.first else { return nil }
    guard first.kind == request.rawValue else {
      let known = KeyedRequest(rawValue: first.kind)?.method ?? "another method"
      throw .invalidParams("requestKey", "was used for \(known)")
    }
    var result = JSONWriter()
    if request == .batch {
      defer { requests.batch = nil }
      try write(BatchParameters(params), made, &result)
    } else {
      try write(request, params, first.change, &result)
    }
    return result.bytes
  }

  /// True if a change was made for a key in the last day.
  mutating func isMade(_ key: [UInt8]) throws(ResponseError) -> Bool {
    try !changes(madeFor: key).isEmpty
  }

  private mutating func changes(
    madeFor key: [UInt8]
  ) throws(ResponseError) -> [KnownRequests.Made] {
    let now = environment.now()
    requests.known.learn(try newRequests(at: now), upTo: book.version, at: now)
    return requests.known.changes(of: KeyedRequest.hash(of: key), at: now)
  }

  private func newRequests(at now: Int64) throws(ResponseError) -> [KnownRequests.Made] {
    let known = requests.known
    return try recall { book throws(ArchiveFailure) in try known.new(in: book, at: now) }
  }

  /// Writes the result of a request for which a change was made: what was so when it was made.
  private func write(
    _ request: KeyedRequest, _ params: Parameters, _ change: ChangeID, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let revision = "\(Revision(of: change))"
    result.beginObject()
    switch request {
    case .create: try write(NoteID(creation: change), at: revision, &result)
    case .update, .restoreVersion: try write(try changed(params), at: revision, &result)
    case .rename, .merge:
      try write(try changed(params), at: revision, &result)
      // The links that were changed are not looked up again.
      for name in ["updated", "ambiguous"] {
        result.key(name)
        result.beginArray()
        result.endArray()
      }
      result.member("more", true)
    case .setText: result.member("text", utf8: try pastNote(try changed(params), at: revision).utf8)
    case .append, .move, .delete, .restore, .purge, .batch: break
    }
    result.member("revision", revision)
    result.endObject()
  }

  /// Writes the results of the requests of a batch. Where one has changed nothing, its result is what was so after the one before.
  private mutating func write(
    _ batch: BatchParameters, _ made: [KnownRequests.Made], _ result: inout JSONWriter
  ) throws(ResponseError) {
    requests.batch = RunningBatch()
    result.beginObject()
    result.key("results")
    result.beginArray()
    var (change, rest) = (made[0].change, made[...])
    for (place, request) in batch.requests.enumerated() {
      if let next = rest.first, Int(next.place) == place {
        change = next.change
        rest = rest.dropFirst()
        if request.kind == .create { requests.batch?[place] = NoteID(creation: change) }
      }
      try write(request.kind, request.params, change, &result)
    }
    result.endArray()
    result.member("revision", "\(Revision(of: made.last!.change))")
    result.endObject()
  }

  private func changed(_ params: Parameters) throws(ResponseError) -> NoteID {
    try note(try params.requiredString(NoteParameters.Name.id)).id
  }

  private func write(
    _ id: NoteID, at revision: String, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let (past, utf8) = try pastNote(try note("\(id)").id, at: revision)
    result.key("note")
    result.summary(NoteSummary(past, length: utf8.count))
  }
}
