// An agent at a process of the program: a client of the Model Context Protocol, whose frames are made by hand.

package import JSONRPC

package final class AgentClient {
  /// The revisions of the protocol that are spoken.
  package enum Era: CaseIterable, Sendable { case stateless, handshake }

  package let server: Server
  package let era: Era
  private let name: String?

  /// Starts `mcp`, and says of it what the revision demands before anything else.
  ///
  /// - Parameters:
  ///   - name: what the agent calls itself; nil if it does not.
  ///   - options: of the verb.
  package init(
    _ notebook: String, _ era: Era = .stateless, name: String? = "robot", options: [String] = [],
    environment: [String: String?] = [:]
  ) throws {
    (self.era, self.name) = (era, name)
    server = try Server(
      notebook, ["mcp"] + options, delimiter: .lines, environment: environment)
    if era == .handshake {
      let info: JSON = ["name": .string(name ?? ""), "version": "1"]
      let result = try server.call(
        "initialize",
        ["protocolVersion": "2025-11-25", "capabilities": [:], "clientInfo": info])
      guard result["protocolVersion"]?.string == "2025-11-25" else {
        throw Failure("initialize: \(result.written)")
      }
      try server.notify("notifications/initialized")
    }
  }

  /// The parameters with what each request of the revision has to say.
  package func params(_ params: JSON = [:]) -> JSON {
    if era == .handshake { return params }
    var meta: JSON = [
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": [:],
    ]
    if let name {
      meta["io.modelcontextprotocol/clientInfo"] = ["name": .string(name), "version": "1"]
    }
    return params.with("_meta", meta)
  }

  /// Makes a request that is to succeed.
  @discardableResult
  package func call(_ method: String, _ params: JSON = [:]) throws -> JSONValue {
    try server.call(method, self.params(params))
  }

  /// Makes a request that is to fail, and returns the error.
  package func error(_ method: String, _ params: JSON = [:]) throws -> JSONValue {
    try server.error(method, self.params(params))
  }

  /// Calls a tool that is to succeed, and returns the object that it gives, which is there as text, too.
  @discardableResult
  package func use(_ tool: String, _ arguments: JSON = [:]) throws -> JSONValue {
    let result = try call("tools/call", ["name": .string(tool), "arguments": arguments])
    let text = result["content"]?.array.map(Array.init)?.first?["text"]?.string ?? ""
    guard result["isError"]?.boolean == false, let object = result["structuredContent"],
      object.kind == .object, try JSON(parsing: text) == JSON(object)
    else { throw Failure("\(tool): \(result.written.prefix(500))") }
    return object
  }

  /// Calls a tool that is to fail, and returns the sentence for the agent.
  package func failure(_ tool: String, _ arguments: JSON = [:]) throws -> String {
    let result = try call("tools/call", ["name": .string(tool), "arguments": arguments])
    guard result["isError"]?.boolean == true, result["structuredContent"] == nil,
      let text = result["content"]?.array.map(Array.init)?.first?["text"]?.string
    else { throw Failure("\(tool): \(result.written.prefix(500))") }
    return text
  }

  /// Ends the input, and waits until the process has left.
  @discardableResult
  package func leave() throws -> Ending {
    server.closeInput()
    return try server.waitForEnd()
  }
}
