internal import JSONRPC

// The answers to the agent. A request that the agent has cancelled gets none.

/// The time for which a client may keep a result, and the users for whom.
enum Freshness {
  /// The same for everybody, as long as this program runs.
  case lasting
  /// Changes at any time.
  case passing

  /// In milliseconds.
  fileprivate var milliseconds: Int { self == .lasting ? 3_600_000 : 0 }
  fileprivate var scope: String { self == .lasting ? "public" : "private" }
}

extension AgentServer {
  /// Answers a request of the agent.
  ///
  /// - Parameters:
  ///   - freshness: nil for a result that is not kept.
  ///   - members: writes the members of the result.
  mutating func answer(
    _ id: RequestID, _ freshness: Freshness? = nil, _ members: (inout JSONWriter) -> Void
  ) {
    guard underway.removeValue(forKey: id) != nil else { return }
    respond(to: id, freshness, members: members)
  }

  /// The same for a request that is not underway.
  mutating func respond(
    to id: RequestID, _ freshness: Freshness? = nil,
    meta: (inout JSONWriter) -> Void = { _ in }, members: (inout JSONWriter) -> Void
  ) {
    let (isStateless, version) = (era == .stateless, options.version)
    outbox.respond(to: id) { result in
      result.beginObject()
      if isStateless {
        result.member("resultType", "complete")
        if let freshness {
          result.member("ttlMs", freshness.milliseconds)
          result.member("cacheScope", freshness.scope)
        }
        result.key("_meta")
        result.beginObject()
        meta(&result)
        result.key(MetaName.serverInfo)
        Self.writeImplementation(version, &result)
        result.endObject()
      }
      members(&result)
      result.endObject()
    }
  }

  /// Answers a request of the agent with an error.
  mutating func refuse(_ id: RequestID, _ error: ResponseError) {
    guard underway.removeValue(forKey: id) != nil else { return }
    outbox.respond(to: id, error: error)
  }

  /// Answers a request for a resource that is not there.
  mutating func refuseResource(_ id: RequestID, _ uri: String) {
    guard underway.removeValue(forKey: id) != nil else { return }
    let code =
      era == .stateless ? ResponseError.Code.invalidParams : ErrorCode.resourceNotFound
    outbox.respond(
      to: id, error: ResponseError(code: code, message: "uri: there is no such resource")
    ) {
      $0.beginObject()
      $0.member("uri", uri)
      $0.endObject()
    }
  }

  /// Answers a request of the agent for which the notebook has failed.
  mutating func refuse(_ id: RequestID, because failure: NotebookFailure) {
    refuse(id, .internalError(failure.advice()))
  }

  /// This program, as the protocol names one.
  static func writeImplementation(_ version: String, _ result: inout JSONWriter) {
    result.beginObject()
    result.member("name", "decent-notes")
    result.member("title", "Decent Notes")
    result.member("version", version)
    result.endObject()
  }
}
