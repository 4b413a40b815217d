internal import JSONRPC

// Requests of the notebook. It is opened by the first one, so that changes carry the name that the agent has given by then.

extension AgentServer {
  /// Makes a request of the notebook's server.
  ///
  /// - Parameters:
  ///   - agentRequest: the request of the agent that it is made for.
  ///   - params: writes the members of its parameters.
  ///   - then: takes the answer.
  mutating func ask(
    _ method: String, for agentRequest: RequestID? = nil, _ params: (inout JSONWriter) -> Void,
    then: @escaping Continuation
  ) {
    let bytes = object(params)
    switch phase {
    case .open: post(method, bytes, for: agentRequest, then: then)
    case .left: then(&self, .failure(.gone))
    case .closed, .opening:
      deferred.append(
        Deferred(method: method, params: bytes, agentRequest: agentRequest, then: then))
      if phase == .closed { open() }
    }
  }

  /// Tells the notebook's server something, if the notebook is open.
  mutating func tell(_ method: String, _ params: (inout JSONWriter) -> Void) {
    guard phase == .open else { return }
    post(method, id: nil, object(params))
  }

  /// Puts the notebook's changes on disk and ends its server, once all requests before are answered.
  mutating func leave(then: @escaping (inout AgentServer) -> Void) {
    guard phase == .open else {
      phase = .left
      return then(&self)
    }
    post("shutdown", object { _ in }, for: nil) { server, _ in
      server.post("exit", id: nil, server.object { _ in })
      server.phase = .left
      then(&server)
    }
  }

  private mutating func open() {
    phase = .opening
    let name = agentName ?? options.name
    let params = object { params in
      params.key("participant")
      params.beginObject()
      params.member("name", name)
      params.endObject()
      // Positions in bytes are those of the text as it is compared here.
      params.key("capabilities")
      params.beginObject()
      params.key("general")
      params.beginObject()
      params.member("positionEncodings", ["utf-8"])
      params.endObject()
      params.endObject()
    }
    post("initialize", params, for: nil) { server, answer in
      let requests = server.deferred
      server.deferred = []
      switch answer {
      case .success:
        server.phase = .open
        for request in requests {
          server.post(
            request.method, request.params, for: request.agentRequest, then: request.then)
        }
      case .failure(let failure):
        // The next request tries again: the folder may be there by then.
        server.phase = .closed
        for request in requests { request.then(&server, .failure(failure)) }
      }
    }
  }

  private mutating func post(
    _ method: String, _ params: [UInt8], for agentRequest: RequestID?, then: @escaping Continuation
  ) {
    lastRequest += 1
    waiting[lastRequest] = then
    if let agentRequest { underway[agentRequest]?.notebookRequest = lastRequest }
    post(method, id: lastRequest, params)
  }

  private mutating func post(_ method: String, id: Int?, _ params: [UInt8]) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("jsonrpc", "2.0")
    if let id { writer.member("id", id) }
    writer.member("method", method)
    writer.key("params")
    writer.raw(params)
    writer.endObject()
    requests += writer.bytes
    requests.append(0x0A)
  }

  private func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    members(&writer)
    writer.endObject()
    return writer.bytes
  }
}
