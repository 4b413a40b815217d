import Foundation
import TestSupport

/// `Protocol/metaModel.json`, which says what every message looks like, and the check that one does.
struct MetaModel: Sendable {
  enum Sender: String {
    case client = "clientToServer"
    case server = "serverToClient"
  }

  private(set) var requests: [String: JSON] = [:]
  private(set) var notifications: [String: JSON] = [:]
  private(set) var structures: [String: [JSON]] = [:]
  private var enumerations: [String: JSON] = [:]
  private var aliases: [String: JSON] = [:]

  init() throws {
    let file = protocolFolder.appendingPathComponent("metaModel.json")
    let model = try JSON(parsing: try contents(of: file))
    for request in model["requests"]!.array! { requests[request["method"]!.string!] = request }
    for notification in model["notifications"]!.array! {
      notifications[notification["method"]!.string!] = notification
    }
    for structure in model["structures"]!.array! {
      structures[structure["name"]!.string!] = structure["properties"]!.array!
    }
    for enumeration in model["enumerations"]!.array! {
      enumerations[enumeration["name"]!.string!] = enumeration
    }
    for alias in model["typeAliases"]!.array! { aliases[alias["name"]!.string!] = alias["type"]! }
  }

  // MARK: - Messages

  /// What is wrong with a message; empty, if nothing is. `method` names the request that a response answers.
  ///
  /// What the server sends may hold nothing that the model doesn't know; of a client unknown members are passed over.
  func problems(of message: JSON, from sender: Sender, answering method: String?) -> [String] {
    guard let members = message.members else { return ["no object"] }
    var problems: [String] = []
    if members["jsonrpc"] != "2.0" { problems.append("jsonrpc is not 2.0") }
    if let method = members["method"]?.string {
      let isRequest = members["id"] != nil
      guard let known = isRequest ? requests[method] : notifications[method] else {
        return problems + ["\(method) is unknown"]
      }
      if ![sender.rawValue, "both"].contains(known["messageDirection"]?.string) {
        problems.append("\(method) goes the other way")
      }
      problems += unknown(in: members, beside: ["jsonrpc", "id", "method", "params"], sender)
      var params = members["params"] ?? [:]
      if params.isNull || params == [] { params = [:] }
      guard let type = known["params"] else {
        return problems + unknown(in: params.members ?? ["params": params], beside: [], sender)
      }
      problems += self.problems(of: params, type, "params", sender)
      return problems
    }
    problems += unknown(in: members, beside: ["jsonrpc", "id", "result", "error"], sender)
    guard let id = members["id"], id.integer != nil || id.string != nil || id.isNull else {
      return problems + ["neither method nor id"]
    }
    switch (members["result"], members["error"]) {
    case (let result?, nil):
      guard let method, let known = requests[method] else {
        return problems + ["a result of nothing that was asked"]
      }
      return problems + self.problems(of: result, known["result"]!, "result", sender)
    case (nil, let error?):
      problems += self.problems(
        of: error, ["kind": "reference", "name": "ResponseError"], "error", sender)
      let isFailure = error["code"]?.integer == -32803
      if isFailure != (error["data"] != nil) { problems.append("data goes with -32803") }
      return problems
    default: return problems + ["result and error, or neither"]
    }
  }

  private func unknown(
    in members: [String: JSON], beside known: [String], _ sender: Sender
  ) -> [String] {
    guard sender == .server else { return [] }
    return members.keys.filter { !known.contains($0) }.sorted().map { "\($0) is unknown" }
  }

  // MARK: - Values

  /// What is wrong with a value that should be a structure.
  func problems(of value: JSON, structure: String) -> [String] {
    problems(of: value, ["kind": "reference", "name": .string(structure)], structure, .server)
  }

  private func problems(
    of value: JSON, _ type: JSON, _ path: String, _ sender: Sender
  ) -> [String] {
    let name = type["name"]?.string ?? ""
    switch type["kind"]!.string! {
    case "base": return isBase(name, value) ? [] : ["\(path) is no \(name)"]
    case "reference":
      if let properties = structures[name] {
        return self.problems(of: value, properties: properties, path, sender)
      }
      if let enumeration = enumerations[name] {
        let values = enumeration["values"]!.array!.map { $0["value"]! }
        let isOpen = enumeration["supportsCustomValues"]?.boolean == true
        if !isOpen && !values.contains(value) { return ["\(path) is no \(name)"] }
        return problems(of: value, enumeration["type"]!, path, sender)
      }
      guard let alias = aliases[name] else { return ["\(path): the model has no \(name)"] }
      return problems(of: value, alias, path, sender)
    case "array":
      guard let elements = value.array else { return ["\(path) is no array"] }
      return elements.enumerated().flatMap {
        problems(of: $0.element, type["element"]!, "\(path)[\($0.offset)]", sender)
      }
    case "tuple":
      let items = type["items"]!.array!
      guard let elements = value.array, elements.count == items.count else {
        return ["\(path) is no tuple of \(items.count)"]
      }
      return zip(elements, items).enumerated().flatMap {
        problems(of: $0.element.0, $0.element.1, "\(path)[\($0.offset)]", sender)
      }
    case "or":
      let all = type["items"]!.array!.map { problems(of: value, $0, path, sender) }
      return all.contains([]) ? [] : ["\(path) is none of the alternatives: \(all.joined())"]
    case "stringLiteral": return value == type["value"]! ? [] : ["\(path) is another word"]
    case let kind: return ["\(path): the check knows no \(kind)"]
    }
  }

  private func problems(
    of value: JSON, properties: [JSON], _ path: String, _ sender: Sender
  ) -> [String] {
    guard let members = value.members else { return ["\(path) is no object"] }
    var problems = unknown(
      in: members, beside: properties.map { $0["name"]!.string! }, sender
    ).map { "\(path).\($0)" }
    for property in properties {
      let name = property["name"]!.string!
      if let member = members[name] {
        // A client may say null for what it leaves out.
        if sender == .client, member.isNull, property["optional"]?.boolean == true { continue }
        problems += self.problems(of: member, property["type"]!, "\(path).\(name)", sender)
      } else if property["optional"]?.boolean != true {
        problems.append("\(path).\(name) is missing")
      }
    }
    return problems
  }

  private func isBase(_ name: String, _ value: JSON) -> Bool {
    switch name {
    case "string": value.string != nil
    case "integer": value.integer != nil
    case "uinteger": value.integer.map { $0 >= 0 } ?? false
    case "boolean": value.boolean != nil
    case "null": value.isNull
    case "object": value.members != nil
    default: false
    }
  }
}
