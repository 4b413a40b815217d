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
    guard let request = underway.removeValue(forKey: id) else { return }
    respond(to: id, inBatch: request.isInBatch, freshness, members: members)
  }

  /// The same for a request that is not underway.
  mutating func respond(
    to id: RequestID, inBatch isInBatch: Bool = false, _ freshness: Freshness? = nil,
    meta: (inout JSONWriter) -> Void = { _ in }, members: (inout JSONWriter) -> Void
  ) {
    let (isStateless, version) = (era == .stateless, options.version)
    write(inBatch: isInBatch) { outbox in
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
          Self.writeImplementation(version, in: .stateless, &result)
          result.endObject()
        }
        members(&result)
        result.endObject()
      }
    }
  }

  /// Answers a request that is not underway with an error.
  mutating func respond(to id: RequestID, inBatch isInBatch: Bool, _ error: ResponseError) {
    write(inBatch: isInBatch) { $0.respond(to: id, error: error) }
  }

  /// Writes an answer to where it is sent from: the outbox, or the answers of the batch.
  private mutating func write(inBatch isInBatch: Bool, _ answer: (inout Outbox) -> Void) {
    if isInBatch { answer(&batch!.answers) } else { answer(&outbox) }
  }

  /// Answers a request of the agent with an error.
  mutating func refuse(_ id: RequestID, _ error: ResponseError) {
    guard let request = underway.removeValue(forKey: id) else { return }
    respond(to: id, inBatch: request.isInBatch, error)
  }

  /// Answers a request for a resource that is not there.
  mutating func refuseResource(_ id: RequestID, _ uri: String) {
    guard let request = underway.removeValue(forKey: id) else { return }
    let code =
      era == .stateless ? ResponseError.Code.invalidParams : ErrorCode.resourceNotFound
    let error = ResponseError(code: code, message: "uri: there is no such resource")
    write(inBatch: request.isInBatch) {
      $0.respond(to: id, error: error) {
        $0.beginObject()
        $0.member("uri", uri)
        $0.endObject()
      }
    }
  }

  /// Answers a request of the agent for which the notebook has failed.
  mutating func refuse(_ id: RequestID, because failure: NotebookFailure) {
    refuse(id, .internalError(failure.advice()))
  }

  /// Writes the name of this program, as the protocol names one.
  ///
  /// - Parameter program: the version of this program.
  static func writeImplementation(
    _ program: String, in version: ProtocolVersion, _ result: inout JSONWriter
  ) {
    result.beginObject()
    result.member("name", "decent-notes")
    if version.hasStructuredResults { result.member("title", "Decent Notes") }
    result.member("version", program)
    result.endObject()
  }
}
