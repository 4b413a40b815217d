internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// `notebook/batch`: several requests as one, all of them or none.

/// The parameters of `notebook/batch`.
struct BatchParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case requests }
  enum RequestName: String, ParameterName { case method, params, requestKey }

  struct Request {
    let kind: KeyedRequest
    let params: Parameters
  }

  let requests: [Request]

  /// The most requests in a batch.
  static let most = 1000

  init(_ params: Parameters) throws(ResponseError) {
    let array = try params.requiredArray(Name.requests)
    var requests: [Request] = []
    for element in array {
      guard requests.count < Self.most else {
        throw .invalidParams("requests", "must be at most \(Self.most)")
      }
      let path = "requests[\(requests.count)]"
      guard element.kind == .object else { throw .invalidParams(path, "must be an object") }
      let request = Parameters(value: element, path: "\(path).")
      let method = try request.requiredString(RequestName.method)
      guard let kind = KeyedRequest(method: method), kind.canStandInBatch else {
        let all = KeyedRequest.allCases.filter(\.canStandInBatch).map(\.method)
        throw .invalidParams("\(path).method", "must be one of \(all.joined(separator: ", "))")
      }
      let members = try request.object(RequestName.params)
      guard members?[RequestName.requestKey] == nil else {
        throw .invalidParams(
          "\(path).params.requestKey", "is that of the whole batch, beside requests")
      }
      requests.append(
        Request(
          kind: kind, params: Parameters(value: members?.value ?? .emptyObject)))
    }
    guard !requests.isEmpty else { throw .invalidParams("requests", "must be at least one") }
    self.requests = requests
  }
}

extension KeyedRequest {
  /// True if a batch may have it. The others purge, which nothing takes back, or are steps of undo by themselves.
  var canStandInBatch: Bool {
    switch self {
    case .create, .update, .setText, .append, .move, .delete, .restore: true
    case .restoreVersion, .purge, .rename, .merge, .batch: false
    }
  }
}

extension ResponseError {
  /// The error of a request in a batch, as that of the batch.
  fileprivate func of(_ request: BatchParameters.Request, at place: Int) -> ResponseError {
    var error = self
    error.message = "requests[\(place)] (\(request.kind.method)): \(message)"
    return error
  }
}

extension NotesServer {
  /// Carries out all requests of a batch, or none. The changes are written with one write, and are one step of each client that edits one of
  /// their notes.
  mutating func batch(
    _ params: BatchParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let key = requests.mark?.key
    try asOneStep { server throws(ResponseError) in
      result.beginObject()
      result.key("results")
      result.beginArray()
      for (place, request) in params.requests.enumerated() {
        server.requests.mark = key.map {
          RequestMark(key: $0, kind: KeyedRequest.batch.rawValue, place: UInt16(place))
        }
        do throws(ResponseError) {
          try server.perform(request, &result)
        } catch {
          throw error.of(request, at: place)
        }
        if request.kind == .create, let note = server.lastNote {
          server.requests.batch?[place] = note
        }
        guard result.bytes.count <= server.environment.maximumMessage else {
          throw .invalidParams("requests", "the answer would be longer than a message may be")
        }
      }
      result.endArray()
      result.member("revision", server.revision)
      result.endObject()
    }
  }

  /// The note that was made with the last change.
  private var lastNote: NoteID? { store?.groupedChanges.last.map { NoteID(creation: $0) } }

  /// Carries out one request of a batch.
  private mutating func perform(
    _ request: BatchParameters.Request, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let params = request.params
    switch request.kind {
    case .create: try createNote(CreateNoteParameters(params), &result)
    case .update: try updateNote(UpdateNoteParameters(params), &result)
    case .setText: try setText(SetTextParameters(params), &result)
    case .append: try appendText(AppendTextParameters(params), &result)
    case .move: try moveNote(MoveNoteParameters(params), &result)
    case .delete: try deleteNote(NoteParameters(params), &result)
    case .restore: try restoreNote(NoteParameters(params), &result)
    case .restoreVersion, .purge, .rename, .merge, .batch:
      preconditionFailure("no request of a batch")
    }
  }
}

/// A batch of requests that is being carried out.
struct RunningBatch {
  /// The effects of its changes. No client is told of one before all changes are made.
  var effects = Effects()
  /// The notes that its requests have made, by the places of these.
  private var notes: [Int: NoteID] = [:]

  /// The note that the request at a place has made.
  subscript(place: Int) -> NoteID? {
    get { notes[place] }
    set { notes[place] = newValue }
  }

  /// The note that a later request names by the place of the one that has made it: `#0`.
  func note(named name: String) -> NoteID? {
    guard name.first == "#", let place = Int(name.dropFirst()), name == "#\(place)" else {
      return nil
    }
    return notes[place]
  }
}
