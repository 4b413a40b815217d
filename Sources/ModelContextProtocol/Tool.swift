internal import JSONRPC

/// Something that an agent can have done: one row of the table of tools.
struct Tool {
  /// The effect of a tool on the notebook.
  enum Effect {
    case reads
    /// Adds something.
    case adds
    /// Changes what is there. Again with the same arguments it may change something else.
    case changes
    /// Again with the same arguments it changes nothing.
    case settles
  }

  /// A part of what it gives.
  struct Output {
    let name: String
    /// A schema.
    let schema: String
    let isRequired: Bool

    init(_ name: String, _ schema: String, isRequired: Bool = true) {
      self.name = name
      self.schema = schema
      self.isRequired = isRequired
    }

    static func text(_ name: String) -> Output { Output(name, #"{"type":"string"}"#) }
    static func integer(_ name: String) -> Output { Output(name, #"{"type":"integer"}"#) }
    static func boolean(_ name: String) -> Output { Output(name, #"{"type":"boolean"}"#) }

    /// A list of objects with these members, of which the first ones are always there.
    static func list(_ name: String, _ members: [Output]) -> Output {
      let required = members.filter(\.isRequired).map { "\"\($0.name)\"" }.joined(separator: ",")
      let properties = members.map { "\"\($0.name)\":\($0.schema)" }.joined(separator: ",")
      return Output(
        name,
        #"{"type":"array","items":{"type":"object","properties":{\#(properties)},"required":[\#(required)]}}"#
      )
    }

    /// The same, but not always there.
    var optional: Output { Output(name, schema, isRequired: false) }
  }

  /// A call of a tool.
  struct Call {
    let id: RequestID
    let arguments: ToolArguments

    /// The note that it is about.
    var note: String { arguments.text("id") }
  }

  let name: String
  let title: String
  let help: String
  let effect: Effect
  let arguments: [ToolArgument]
  let output: [Output]
  let perform: (inout AgentServer, Call) -> Void

  /// Writes its definition, as far as a revision of the protocol knows its parts.
  func write(in version: ProtocolVersion, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("name", name)
    if version.hasStructuredResults { writer.member("title", title) }
    writer.member("description", help)
    writer.key("inputSchema")
    writer.beginObject()
    writer.member("type", "object")
    writer.key("properties")
    writer.beginObject()
    for argument in arguments { argument.writeSchema(&writer) }
    writer.endObject()
    writer.member("required", arguments.filter(\.isRequired).map(\.name))
    writer.member("additionalProperties", false)
    writer.endObject()
    if version.hasStructuredResults { writeOutputSchema(&writer) }
    if version.hasToolAnnotations { writeAnnotations(&writer) }
    writer.endObject()
  }

  private func writeOutputSchema(_ writer: inout JSONWriter) {
    writer.key("outputSchema")
    writer.beginObject()
    writer.member("type", "object")
    writer.key("properties")
    writer.beginObject()
    for part in output {
      writer.key(part.name)
      writer.raw(part.schema.utf8)
    }
    writer.endObject()
    writer.member("required", output.filter(\.isRequired).map(\.name))
    writer.endObject()
  }

  private func writeAnnotations(_ writer: inout JSONWriter) {
    writer.key("annotations")
    writer.beginObject()
    writer.member("readOnlyHint", effect == .reads)
    if effect != .reads {
      writer.member("destructiveHint", effect == .changes || effect == .settles)
      writer.member("idempotentHint", effect == .settles)
    }
    writer.member("openWorldHint", false)
    writer.endObject()
  }
}

extension AgentServer {
  /// Answers a call: an object, where the revision of the protocol has that, and the same as text.
  mutating func succeed(_ call: Tool.Call, _ members: (inout JSONWriter) -> Void) {
    var object = JSONWriter()
    object.beginObject()
    members(&object)
    object.endObject()
    let isStructured = era.version.hasStructuredResults
    answer(call.id) {
      Self.writeContent(object.bytes, &$0)
      if isStructured {
        $0.key("structuredContent")
        $0.raw(object.bytes)
      }
      $0.member("isError", false)
    }
  }

  /// Answers a call that has failed.
  ///
  /// - Parameter sentence: says what is wrong and what to do.
  mutating func fail(_ call: RequestID, _ sentence: String) {
    answer(call) {
      Self.writeContent(Array(sentence.utf8), &$0)
      $0.member("isError", true)
    }
  }

  private static func writeContent(_ text: [UInt8], _ result: inout JSONWriter) {
    result.key("content")
    result.beginArray()
    result.beginObject()
    result.member("type", "text")
    result.key("text")
    result.string(utf8: text)
    result.endObject()
    result.endArray()
  }

  /// Makes a request of the notebook for a call, which fails if that does. What would follow a call that was cancelled is not done.
  mutating func ask(
    _ method: String, for call: Tool.Call, _ params: (inout JSONWriter) -> Void,
    then: @escaping (inout AgentServer, JSONValue) -> Void
  ) {
    ask(method, for: call.id, params) { server, answer in
      switch answer {
      case .success(let result): if server.underway[call.id] != nil { then(&server, result) }
      case .failure(let failure): server.fail(call.id, failure.advice(call.arguments))
      }
    }
  }
}
