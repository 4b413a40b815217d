import TestSupport

/// Makes a JSON Schema of `Protocol/metaModel.json`. It says nothing that the model does not say.
struct SchemaWriter {
  private let model: JSON
  /// The structures that a client sends, in which `null` means the same as an absent member.
  private let sent: Set<String>

  init(_ model: JSON) {
    self.model = model
    sent = Self.structures(sentIn: model)
  }

  // MARK: - JSON Schema

  /// A schema of every message: one for all, and in `$defs` one for each.
  var schema: JSON {
    var messages: [(String, JSON)] = []
    for request in list("requests") {
      let name = Self.name(of: request["method"]!.string!)
      messages.append(("\(name)Request", message(request, isRequest: true)))
      messages.append(("\(name)Response", response(to: request)))
    }
    for notification in list("notifications") {
      let name = Self.name(of: notification["method"]!.string!)
      messages.append(("\(name)Notification", message(notification, isRequest: false)))
    }
    messages.append(("ErrorResponse", errorResponse))
    return object([
      ("$schema", "https://json-schema.org/draft/2020-12/schema"),
      ("title", "The messages of Decent Notes"),
      (
        "description",
        "Made of metaModel.json. A message is one of these; the response to a request is that of its method, or an error."
      ),
      ("anyOf", .array(messages.map { reference($0.0) })),
      ("$defs", object(messages + types)),
    ])
  }

  private func message(_ message: JSON, isRequest: Bool) -> JSON {
    var properties: [(String, JSON)] = [("jsonrpc", object([("const", "2.0")]))]
    if isRequest { properties.append(("id", object([("type", ["integer", "string"])]))) }
    properties.append(("method", object([("const", message["method"]!)])))
    var required: [JSON] = isRequest ? ["jsonrpc", "id", "method"] : ["jsonrpc", "method"]
    if let params = message["params"] {
      let needsParams = structure(params["name"]!.string!)!.contains {
        $0["optional"]?.boolean != true
      }
      if needsParams { required.append("params") }
      let schema = schema(of: params)
      properties.append(
        ("params", needsParams ? schema : object([("anyOf", [schema, noParams])])))
    } else {
      properties.append(("params", object([("anyOf", [object([("type", "object")]), noParams])])))
    }
    return object(
      described(message) + [
        ("type", "object"), ("properties", object(properties)), ("required", .array(required)),
      ])
  }

  /// `null` or `[]`, which mean `{}`.
  private var noParams: JSON {
    object([("anyOf", [object([("type", "null")]), object([("type", "array"), ("maxItems", 0)])])])
  }

  private func response(to request: JSON) -> JSON {
    object([
      ("description", .string("The answer to \(request["method"]!.string!) where it succeeds.")),
      ("type", "object"),
      (
        "properties",
        object([
          ("jsonrpc", object([("const", "2.0")])),
          ("id", object([("type", ["integer", "string"])])),
          ("result", schema(of: request["result"]!)),
        ])
      ),
      ("required", ["jsonrpc", "id", "result"]),
    ])
  }

  private var errorResponse: JSON {
    object([
      ("description", "The answer to a request that fails, or to what is none."),
      ("type", "object"),
      (
        "properties",
        object([
          ("jsonrpc", object([("const", "2.0")])),
          ("id", object([("type", ["integer", "string", "null"])])),
          ("error", reference("ResponseError")),
        ])
      ),
      ("required", ["jsonrpc", "id", "error"]),
    ])
  }

  // MARK: - Types

  private var types: [(String, JSON)] {
    let structures = list("structures").map { structure in
      (structure["name"]!.string!, schema(ofStructure: structure))
    }
    let enumerations = list("enumerations").map { enumeration in
      (enumeration["name"]!.string!, schema(ofEnumeration: enumeration))
    }
    let aliases = list("typeAliases").map { alias in
      (
        alias["name"]!.string!,
        object(described(alias) + members(of: schema(of: alias["type"]!)))
      )
    }
    return structures + enumerations + aliases
  }

  private func schema(ofStructure structure: JSON) -> JSON {
    let isSent = sent.contains(structure["name"]!.string!)
    var properties: [(String, JSON)] = []
    var required: [JSON] = []
    for property in structure["properties"]!.array! {
      let isOptional = property["optional"]?.boolean == true
      if !isOptional { required.append(property["name"]!) }
      var schema = schema(of: property["type"]!)
      if isOptional, isSent { schema = object([("anyOf", [schema, object([("type", "null")])])]) }
      properties.append(
        (property["name"]!.string!, object(described(property) + members(of: schema))))
    }
    var all = described(structure) + [("type", "object"), ("properties", object(properties))]
    if !required.isEmpty { all.append(("required", .array(required))) }
    return object(all)
  }

  private func schema(ofEnumeration enumeration: JSON) -> JSON {
    let values = JSON.array(enumeration["values"]!.array!.map { $0["value"]! })
    let isOpen = enumeration["supportsCustomValues"]?.boolean == true
    let type = members(of: schema(of: enumeration["type"]!))
    return object(described(enumeration) + type + [(isOpen ? "examples" : "enum", values)])
  }

  private func schema(of type: JSON) -> JSON {
    let name = type["name"]?.string ?? ""
    switch type["kind"]!.string! {
    case "base":
      return name == "uinteger"
        ? object([("type", "integer"), ("minimum", 0)]) : object([("type", .string(name))])
    case "reference": return reference(name)
    case "array":
      return object([("type", "array"), ("items", schema(of: type["element"]!))])
    case "tuple":
      let items = type["items"]!.array!
      return object([
        ("type", "array"), ("prefixItems", .array(items.map { schema(of: $0) })),
        ("minItems", JSON(items.count)), ("maxItems", JSON(items.count)),
      ])
    case "or":
      return object([("anyOf", .array(type["items"]!.array!.map { schema(of: $0) }))])
    case "stringLiteral": return object([("const", type["value"]!)])
    case let kind: preconditionFailure("the model has a type of the unknown kind \(kind)")
    }
  }

  private func reference(_ name: String) -> JSON {
    object([("$ref", .string("#/$defs/" + name))])
  }

  // MARK: - The model

  private func list(_ name: String) -> [JSON] { model[name]!.array! }

  private func structure(_ name: String) -> [JSON]? {
    list("structures").first { $0["name"]?.string == name }?["properties"]?.array
  }

  private func described(_ part: JSON) -> [(String, JSON)] {
    part["documentation"].map { [("description", $0)] } ?? []
  }

  private func object(_ members: [(String, JSON)]) -> JSON {
    .object(members.map { (name: $0.0, value: $0.1) })
  }

  private func members(of value: JSON) -> [(String, JSON)] {
    guard case .object(let members) = value else { return [] }
    return members.map { ($0.name, $0.value) }
  }

  /// `note/setText` becomes `NoteSetText`.
  static func name(of method: String) -> String {
    method.split { "/.$".contains($0) }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  private static func structures(sentIn model: JSON) -> Set<String> {
    var properties: [String: [JSON]] = [:]
    for structure in model["structures"]!.array! {
      properties[structure["name"]!.string!] = structure["properties"]!.array!
    }
    var sent: Set<String> = []
    func visit(_ type: JSON) {
      if type["kind"] == "reference", let name = type["name"]?.string,
        let members = properties[name],
        sent.insert(name).inserted
      {
        for member in members { visit(member["type"]!) }
      }
      if let element = type["element"] { visit(element) }
      for item in type["items"]?.array ?? [] { visit(item) }
    }
    for kind in ["requests", "notifications"] {
      for message in model[kind]!.array! where message["messageDirection"] != "serverToClient" {
        if let params = message["params"] { visit(params) }
      }
    }
    return sent
  }
}

extension JSON {
  /// The value for people to read: short values in a line, members of others each in a line of its own.
  func laidOut(_ indent: Int = 0) -> String {
    let line = text
    if line.utf8.count + indent <= 140 { return line }
    let (inner, outer) = (
      String(repeating: " ", count: indent + 2), String(repeating: " ", count: indent)
    )
    switch self {
    case .array(let elements):
      return "[\n" + elements.map { inner + $0.laidOut(indent + 2) }.joined(separator: ",\n")
        + "\n\(outer)]"
    case .object(let members):
      return "{\n"
        + members.map { "\(inner)\(JSON($0.name).text): \($0.value.laidOut(indent + 2))" }
        .joined(separator: ",\n") + "\n\(outer)}"
    default: return line
    }
  }
}
