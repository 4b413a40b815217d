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
      do throws(Message.Refusal) {
        guard era.version.hasBatches else { return handle(try Message(bytes), inBatch: false) }
        let message = try Message.parse(bytes)
        guard let messages = message.array else {
          return handle(try Message(message), inBatch: false)
        }
        do { batch = try MessageBatch(Array(messages)) } catch {
          outbox.respond(to: nil, error: error)
        }
      } catch {
        outbox.respond(to: error.id, error: error.error)
      }
    }
  }

  /// Acts on the messages of the batch, as far as there is room, and sends its answers when each request is answered.
  mutating func proceedWithBatch() {
    guard batch != nil else { return }
    while !isOccupied, let message = batch!.takeNext() {
      do { handle(try Message(message), inBatch: true) } catch {
        batch!.answers.respond(to: error.id, error: error.error)
      }
    }
    guard let batch, batch.isTaken, !underway.values.contains(where: \.isInBatch) else { return }
    // Notifications get no answer, and neither does a batch of them.
    if !batch.answers.isEmpty { outbox.append(batch: batch.answers) }
    self.batch = nil
  }

  private mutating func handle(_ message: Message, inBatch isInBatch: Bool) {
    switch message {
    case .request(let id, let method, let params):
      do throws(ResponseError) {
        if isInBatch, batch!.isTooLong {
          throw .invalidRequest("The answers of this batch are too long: send this request again.")
        }
        try receive(id, method, params, inBatch: isInBatch)
      } catch {
        respond(to: id, inBatch: isInBatch, error)
      }
    case .notification(let method, let params): receive(method, params)
    case .response: break
    }
  }

  // MARK: - Requests

  private mutating func receive(
    _ id: RequestID, _ method: String, _ params: JSONValue, inBatch isInBatch: Bool
  ) throws(ResponseError) {
    guard underway[id] == nil, !subscriptions.has(id) else {
      throw .invalidRequest("Another request with this id is not answered yet.")
    }
    switch era {
    case .unsettled: try begin(id, method, params)
    case .handshake:
      if method == "initialize" { throw .invalidRequest("initialize: it was sent already.") }
      if Self.hasEnvelope(params) {
        throw .invalidRequest(
          "This connection has begun with initialize: a request has no protocol version of its own."
        )
      }
      answerWithHandshake(id, method, params, inBatch: isInBatch)
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
  private mutating func begin(
    _ id: RequestID, _ method: String, _ params: JSONValue
  ) throws(ResponseError) {
    if method == "initialize" {
      try initialize(id, params)
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
      throw .invalidParams(
        "_meta",
        "must be an object with \(MetaName.protocolVersion) and \(MetaName.clientCapabilities),"
          + " unless initialize was sent first")
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
    guard version == ProtocolVersion.stateless.rawValue else {
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
    _ id: RequestID, _ requested: String?, _ message: String, _ supported: [ProtocolVersion]
  ) {
    outbox.respond(
      to: id, error: ResponseError(code: ErrorCode.unsupportedVersion, message: message)
    ) {
      $0.beginObject()
      $0.member("supported", supported.map(\.rawValue))
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
  private mutating func initialize(
    _ id: RequestID, _ params: JSONValue
  ) throws(ResponseError) {
    guard let requested = params["protocolVersion"]?.string else {
      throw .invalidParams("protocolVersion", "must be a string")
    }
    guard params["clientInfo"]?["name"]?.kind == .string else {
      throw .invalidParams("clientInfo", "must be an object with a name")
    }
    let version = ProtocolVersion(requestedByHandshake: requested)
    era = .handshake(version)
    takeName(params["clientInfo"])
    let program = options.version
    respond(to: id) { result in
      result.member("protocolVersion", version.rawValue)
      Self.writeCapabilities(&result)
      result.key("serverInfo")
      Self.writeImplementation(program, in: version, &result)
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
    _ id: RequestID, _ method: String, _ params: JSONValue, inBatch isInBatch: Bool
  ) {
    underway[id] = Underway(isLong: isLong(method, params), isInBatch: isInBatch)
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
    underway[id] = Underway(isLong: isLong(method, params), isInBatch: false)
    switch method {
    case "server/discover":
      answer(id, .lasting) { result in
        result.member("supportedVersions", [ProtocolVersion.stateless.rawValue])
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
    let version = era.version
    answer(id, .lasting) { result in
      result.key("tools")
      result.beginArray()
      for tool in tools { tool.write(in: version, &result) }
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
    case "notifications/initialized": if case .handshake = era { beginTelling() }
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

/// The messages of one array of the agent, whose answers are sent as one array.
///
/// One batch is carried out at a time, by the rules for messages that come one by one: so it takes no more memory but for its answers, which have a limit.
struct MessageBatch {
  /// The most messages that a batch may have.
  static let mostMessages = 1000
  /// The length of its answers from which on requests in it are refused, in bytes.
  private static let mostBytes = 32 << 20

  /// The messages that were not looked at yet.
  private var waiting: ArraySlice<JSONValue>
  /// The answers so far.
  var answers = Outbox(framing: .lines)

  /// - Throws: the error for a batch without messages, or with too many.
  init(_ messages: [JSONValue]) throws(ResponseError) {
    if messages.isEmpty { throw .invalidRequest("A batch must have at least one message.") }
    if messages.count > Self.mostMessages {
      throw .invalidRequest("A batch must have at most \(Self.mostMessages) messages.")
    }
    waiting = messages[...]
  }

  /// True if all messages were looked at.
  var isTaken: Bool { waiting.isEmpty }

  /// True if no further request is carried out.
  var isTooLong: Bool { answers.count >= Self.mostBytes }

  /// Takes the next message.
  mutating func takeNext() -> JSONValue? { waiting.popFirst() }
}
