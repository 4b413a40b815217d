internal import JSONRPC

// Messages of the agent: which era its connection is of, and how each is handled.

extension AgentServer {
  /// The instructions that the server gives to a model.
  private static let instructions = """
    These are notes of the user, who may be typing in them while you work, as may other people. Find notes with search_notes or list_notes and \
    read them with read_note. To change a text use edit_note with the revision that you have read as base: what others type meanwhile stays. \
    Deleted notes go to a trash.
    """

  mutating func handle(_ event: FrameDecoder.Event) {
    switch event {
    case .refused(let error), .broken(let error): outbox.respond(to: nil, error: error)
    case .message(let bytes):
      do {
        switch try Message(bytes) {
        case .request(let id, let method, let params): receive(id, method, params)
        case .notification(let method, let params): receive(method, params)
        case .response: break
        }
      } catch {
        outbox.respond(to: error.id, error: error.error)
      }
    }
  }

  // MARK: - Requests

  private mutating func receive(_ id: RequestID, _ method: String, _ params: JSONValue) {
    guard underway[id] == nil, !subscriptions.has(id) else {
      return outbox.respond(
        to: id, error: .invalidRequest("Another request with this id is not answered yet."))
    }
    switch era {
    case .unsettled: begin(id, method, params)
    case .handshake:
      if method == "initialize" {
        outbox.respond(to: id, error: .invalidRequest("initialize: it was sent already."))
      } else if Self.hasEnvelope(params) {
        outbox.respond(
          to: id,
          error: .invalidRequest(
            "This connection has begun with initialize: a request has no protocol version of its own."
          ))
      } else {
        answerWithHandshake(id, method, params)
      }
    case .stateless:
      if method == "initialize" {
        refuseVersion(
          id, params["protocolVersion"]?.string,
          "initialize: this connection has begun without it.", [ProtocolVersion.stateless])
      } else if checkEnvelope(id, params) {
        answerStateless(id, method, params)
      }
    }
  }

  /// Answers a request before which nothing was settled.
  private mutating func begin(_ id: RequestID, _ method: String, _ params: JSONValue) {
    if method == "initialize" {
      initialize(id, params)
    } else if Self.hasEnvelope(params) {
      guard checkEnvelope(id, params) else { return }
      if Self.statelessMethods.contains(method) { era = .stateless }
      answerStateless(id, method, params)
    } else if method == "ping" {
      outbox.respond(to: id) {
        $0.beginObject()
        $0.endObject()
      }
    } else {
      outbox.respond(
        to: id,
        error: .invalidParams(
          "_meta",
          "must be an object with \(MetaName.protocolVersion) and \(MetaName.clientCapabilities),"
            + " unless initialize was sent first"))
    }
  }

  private static func hasEnvelope(_ params: JSONValue) -> Bool {
    params["_meta"]?[MetaName.protocolVersion] != nil
  }

  /// Returns true if a request says what it has to; else it is refused.
  private mutating func checkEnvelope(_ id: RequestID, _ params: JSONValue) -> Bool {
    let meta = params["_meta"]
    var problem: ResponseError?
    if meta?.kind != .object {
      problem = .invalidParams("_meta", "must be an object")
    } else if meta?[MetaName.protocolVersion]?.kind != .string {
      problem = .invalidParams("_meta.\(MetaName.protocolVersion)", "must be a string")
    } else if meta?[MetaName.clientCapabilities]?.kind != .object {
      problem = .invalidParams("_meta.\(MetaName.clientCapabilities)", "must be an object")
    }
    if let problem {
      outbox.respond(to: id, error: problem)
      return false
    }
    let version = meta?[MetaName.protocolVersion]?.string
    guard version == ProtocolVersion.stateless else {
      let others = era == .unsettled ? [ProtocolVersion.withHandshake] : []
      refuseVersion(
        id, version, "This version of the protocol is not spoken here.",
        [ProtocolVersion.stateless] + others)
      return false
    }
    takeName(meta?[MetaName.clientInfo])
    return true
  }

  private mutating func refuseVersion(
    _ id: RequestID, _ requested: String?, _ message: String, _ supported: [String]
  ) {
    outbox.respond(
      to: id, error: ResponseError(code: ErrorCode.unsupportedVersion, message: message)
    ) {
      $0.beginObject()
      $0.member("supported", supported)
      $0.member("requested", ToolArguments.shortened(requested ?? ""))
      $0.endObject()
    }
  }

  /// Notes the name of the agent, if it is the first.
  private mutating func takeName(_ info: JSONValue?) {
    guard agentName == nil, let name = info?["name"]?.string, !name.isEmpty else { return }
    agentName = name
  }

  /// `initialize`.
  private mutating func initialize(_ id: RequestID, _ params: JSONValue) {
    guard let requested = params["protocolVersion"]?.string else {
      return outbox.respond(to: id, error: .invalidParams("protocolVersion", "must be a string"))
    }
    guard params["clientInfo"]?["name"]?.kind == .string else {
      return outbox.respond(
        to: id, error: .invalidParams("clientInfo", "must be an object with a name"))
    }
    era = .handshake
    takeName(params["clientInfo"])
    let version =
      ProtocolVersion.handshakes.contains(requested) ? requested : ProtocolVersion.withHandshake
    let program = options.version
    respond(to: id) { result in
      result.member("protocolVersion", version)
      Self.writeCapabilities(&result)
      result.key("serverInfo")
      Self.writeImplementation(program, &result)
      result.member("instructions", Self.instructions)
    }
  }

  private static func writeCapabilities(_ result: inout JSONWriter) {
    result.key("capabilities")
    result.beginObject()
    result.key("tools")
    result.beginObject()
    result.member("listChanged", false)
    result.endObject()
    result.key("resources")
    result.beginObject()
    result.member("subscribe", true)
    result.member("listChanged", true)
    result.endObject()
    result.endObject()
  }

  private mutating func answerWithHandshake(
    _ id: RequestID, _ method: String, _ params: JSONValue
  ) {
    underway[id] = (isLong: isLong(method, params), notebookRequest: nil)
    switch method {
    case "ping": answer(id) { _ in }
    case "resources/subscribe": subscribe(id, params, ending: false)
    case "resources/unsubscribe": subscribe(id, params, ending: true)
    default: answerInBoth(id, method, params)
    }
  }

  /// Those that can be answered, and so settle the era.
  private static let statelessMethods: Set = [
    "server/discover", "subscriptions/listen", "tools/list", "tools/call", "resources/list",
    "resources/templates/list", "resources/read",
  ]

  private mutating func answerStateless(_ id: RequestID, _ method: String, _ params: JSONValue) {
    underway[id] = (isLong: isLong(method, params), notebookRequest: nil)
    switch method {
    case "server/discover":
      answer(id, .lasting) { result in
        result.member("supportedVersions", [ProtocolVersion.stateless])
        Self.writeCapabilities(&result)
        result.member("instructions", Self.instructions)
      }
    case "subscriptions/listen": listen(id, params)
    default: answerInBoth(id, method, params)
    }
  }

  private mutating func answerInBoth(_ id: RequestID, _ method: String, _ params: JSONValue) {
    switch method {
    case "tools/list": listTools(id, params)
    case "tools/call": callTool(id, params)
    case "resources/list": listResources(id, params)
    case "resources/templates/list": listTemplates(id)
    case "resources/read": readResource(id, params)
    default: refuse(id, .methodNotFound(method))
    }
  }

  // MARK: - Tools

  /// True for a request during which others are carried out.
  private func isLong(_ method: String, _ params: JSONValue) -> Bool {
    method == "tools/call" && params["name"]?.string == "search_notes"
  }

  private mutating func listTools(_ id: RequestID, _ params: JSONValue) {
    // There is one page.
    guard params["cursor"]?.isNull ?? true else {
      return refuse(id, .invalidParams("cursor", "no page goes on there: list from the beginning"))
    }
    let tools = Tool.all(isReadOnly: options.isReadOnly)
    answer(id, .lasting) { result in
      result.key("tools")
      result.beginArray()
      for tool in tools { tool.write(&result) }
      result.endArray()
    }
  }

  private mutating func callTool(_ id: RequestID, _ params: JSONValue) {
    guard let name = params["name"]?.string else {
      return refuse(id, .invalidParams("name", "must be a string"))
    }
    guard let tool = Tool.named(name, isReadOnly: options.isReadOnly) else {
      let isWriting = Tool.named(name, isReadOnly: false) != nil
      return refuse(
        id,
        .invalidParams(
          "name",
          "there is no tool \(ToolArguments.shortened(name))"
            + (isWriting ? " here: nothing may be changed" : "")))
    }
    let value = params["arguments"] ?? .emptyObject
    guard value.kind == .object else {
      return refuse(id, .invalidParams("arguments", "must be an object"))
    }
    do throws(ToolArguments.Mistake) {
      let arguments = try ToolArguments(value, of: tool.arguments)
      tool.perform(&self, Tool.Call(id: id, arguments: arguments))
    } catch {
      fail(id, error.message)
    }
  }

  // MARK: - Notifications

  private mutating func receive(_ method: String, _ params: JSONValue) {
    switch method {
    case "notifications/initialized": if era == .handshake { beginTelling() }
    case "notifications/cancelled": cancel(params["requestId"])
    default: break
    }
  }

  /// Gives a request up: it gets no answer.
  private mutating func cancel(_ value: JSONValue?) {
    let id: RequestID
    if let number = value?.integer {
      id = .integer(number)
    } else if let text = value?.string {
      id = .string(text)
    } else {
      return
    }
    if subscriptions.remove(id) { return }
    guard let request = underway.removeValue(forKey: id)?.notebookRequest else { return }
    tell("$/cancelRequest") { $0.member("id", request) }
  }
}
