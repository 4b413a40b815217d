internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

extension NotesServer {
  /// `initialize`: opens the notebook, and settles in which units positions count.
  mutating func initialize(
    _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    if let process = params["processId"] {
      guard let number = process.integer, number > 0, number <= Int(Int32.max) else {
        throw .invalidParams("processId", "must be the number of a process, or null")
      }
      parentProcess = number
    }
    encoding = try positionEncoding(params)
    _ = try params.object("clientInfo").map { info throws(ResponseError) in
      (try info.string("name"), try info.string("version"))
    }
    isTracing =
      try params.word("trace", [("off", false), ("messages", true), ("verbose", true)]) ?? false
    var path = try params.object("initializationOptions")?.string("notebook") ?? environment.folder
    if path == "~" || path.hasPrefix("~/"), let home = environment.homeFolder {
      path = home + path.dropFirst()
    }
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw .invalidParams("initializationOptions.notebook", "must be the path of a folder")
    }
    do {
      store = try NoteStore(
        path: path, state: environment.stateFolder, isWatching: !environment.isSingleRequest,
        makeIdentifier: environment.makeIdentifier)
    } catch {
      throw ResponseError(opening: error)
    }
    phase = .ready
    reportDamage(afterFullLook: true)
    writeInitializeResult(&result)
    if isTracing {
      logMessage(
        .log,
        "opened \(store?.path ?? ""): \(book.counts.live) notes, \(book.version.count) replicas")
    }
  }

  /// The first of the client's encodings that is known here; UTF-16 when it names none.
  private func positionEncoding(_ params: Parameters) throws(ResponseError) -> PositionEncoding {
    guard let general = try params.object("capabilities")?.object("general"),
      let offered = general["positionEncodings"]
    else { return .utf16 }
    guard let offers = offered.array else {
      throw .invalidParams("capabilities.general.positionEncodings", "must be an array")
    }
    for offer in offers where offer.string == nil {
      throw .invalidParams("capabilities.general.positionEncodings", "must be an array of strings")
    }
    return offers.lazy.compactMap { $0.string.flatMap(PositionEncoding.init) }.first ?? .utf16
  }

  private func writeInitializeResult(_ result: inout JSONWriter) {
    result.beginObject()
    result.member("protocolVersion", "1.0")
    result.key("serverInfo")
    result.beginObject()
    result.member("name", "decent-notes")
    result.member("version", Self.programVersion)
    result.endObject()
    result.key("capabilities")
    result.beginObject()
    result.member("positionEncoding", encoding.rawValue)
    result.key("note")
    result.beginObject()
    result.member("change", ["text", "lines", "ranges"])
    result.member("push", ["lines", "ranges", "text"])
    result.member("check", ["sha256", "length", "none"])
    for name in ["resume", "undo", "presence", "history"] { result.member(name, true) }
    result.endObject()
    result.key("notebook")
    result.beginObject()
    for name in ["search", "sync"] { result.member(name, true) }
    result.endObject()
    result.endObject()
    result.key("notebook")
    result.beginObject()
    result.key("id")
    if let identity = store?.identity { result.string("\(identity)") } else { result.null() }
    result.member("path", store?.path ?? "")
    result.member("revision", revision)
    result.endObject()
    result.member("suggestedTags", ["home", "work", "travel", "leisure"])
    result.endObject()
  }

  /// The name of the present state.
  var revision: String { store.map { "\($0.notebook.revision)" } ?? "0" }

  /// Tells the user of damage, once; that something waits for what is not here, when that was so at the full look before.
  mutating func reportDamage(afterFullLook isFullLook: Bool) {
    let waiting = store?.waiting
    let isLasting = isFullLook && waiting == waitingAtFullLook
    if isFullLook { waitingAtFullLook = waiting }
    for damage in store?.damage ?? [] where damage != waiting || isLasting {
      let message = "\(damage.path), byte \(damage.offset): \(damage.description)"
      if reportedDamage.insert(message).inserted { showMessage(.warning, message) }
    }
  }

  enum MessageType: Int {
    case error = 1
    case warning, info, log
  }

  /// Says something to whoever reads the client's log, after the reply to the present request.
  mutating func logMessage(_ type: MessageType, _ message: String) {
    outboxAfterReply.append { outbox in
      outbox.notify("window/logMessage") {
        $0.beginObject()
        $0.key("type")
        $0.integer(type.rawValue)
        $0.member("message", message)
        $0.endObject()
      }
    }
  }

  mutating func showMessage(_ type: MessageType, _ message: String) {
    said.notify("window/showMessage") {
      $0.beginObject()
      $0.key("type")
      $0.integer(type.rawValue)
      $0.member("message", message)
      $0.endObject()
    }
  }
}
