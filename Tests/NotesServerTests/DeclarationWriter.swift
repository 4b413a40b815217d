import TestSupport

/// Makes declarations for TypeScript of `Protocol/metaModel.json`. They say nothing that the model does not say.
struct DeclarationWriter {
  private let model: JSON

  init(_ model: JSON) { self.model = model }

  /// The text of `Protocol/decent-notes.d.ts`.
  var declarations: String {
    ([
      """
      // The messages of Decent Notes, for TypeScript. Made of metaModel.json by a test, and held against it.

      /** Exactly one of these members is given. */
      export type OneOf<T> = { [K in keyof T]: { [P in K]: T[P] } & { [P in Exclude<keyof T, K>]?: never } }[keyof T]
      """,
      messages("Requests", list("requests"), "What a client asks for, by method."),
      messages(
        "ClientNotifications",
        list("notifications").filter { $0["messageDirection"] != "serverToClient" },
        "What a client tells without an answer, by method."),
      messages(
        "ServerNotifications",
        list("notifications").filter { $0["messageDirection"] != "clientToServer" },
        "What the server tells without being asked, by method."),
    ] + list("structures").map(structure) + list("enumerations").map(enumeration)
      + list("typeAliases").map(alias)).joined(separator: "\n\n") + "\n"
  }

  // MARK: - Messages

  private func messages(_ name: String, _ messages: [JSON], _ documentation: String) -> String {
    var text = "/** \(documentation) */\nexport interface \(name) {\n"
    for message in messages {
      text += comment(message, "  ")
      let params = message["params"].map(type) ?? "Record<string, never>"
      let result = message["result"].map { "; result: \(type($0))" } ?? ""
      text += "  '\(message["method"]!.string!)': { params: \(params)\(result) }\n"
    }
    return text + "}"
  }

  // MARK: - Types

  private func structure(_ structure: JSON) -> String {
    let (name, properties) = (structure["name"]!.string!, structure["properties"]!.array!)
    let alternatives = alternatives(in: structure["documentation"]?.string ?? "")
    let (alone, others) = (
      properties.filter { alternatives.contains($0["name"]!.string!) },
      properties.filter { !alternatives.contains($0["name"]!.string!) }
    )
    if alone.isEmpty {
      return "\(comment(structure))export interface \(name) {\(members(others))}"
    }
    let oneOf = alone.map { comment($0, "  ") + "  \($0["name"]!.string!): \(type($0["type"]!))\n" }
    return "\(comment(structure))export type \(name) = {\(members(others))} & OneOf<{\n"
      + oneOf.joined() + "}>"
  }

  private func members(_ properties: [JSON]) -> String {
    if properties.isEmpty { return "" }
    return properties.reduce("\n") { text, property in
      let mark = property["optional"]?.boolean == true ? "?" : ""
      return text + comment(property, "  ")
        + "  \(property["name"]!.string!)\(mark): \(type(property["type"]!))\n"
    }
  }

  /// The members of which a structure has exactly one, by the words of its documentation.
  private func alternatives(in documentation: String) -> [String] {
    guard let match = documentation.firstMatch(of: /Exactly one of (.+?) is present/) else {
      return []
    }
    return match.1.matches(of: /`(\w+)`/).map { String($0.1) }
  }

  private func enumeration(_ enumeration: JSON) -> String {
    var values = enumeration["values"]!.array!.map { $0["value"]!.text }
    if enumeration["supportsCustomValues"]?.boolean == true {
      // A string of any other value, while the known ones are still offered.
      values.append("(string & {})")
    }
    let documented = enumeration["values"]!.array!.compactMap { value in
      value["documentation"]?.string.map { "`\(value["value"]!.text)`: \($0)" }
    }
    let words = ([enumeration["documentation"]?.string].compactMap(\.self) + documented)
    return comment(words, "") + "export type \(enumeration["name"]!.string!) =\n"
      + values.map { "  | \($0)" }.joined(separator: "\n")
  }

  private func alias(_ alias: JSON) -> String {
    "\(comment(alias))export type \(alias["name"]!.string!) = \(type(alias["type"]!))"
  }

  private func type(_ type: JSON) -> String {
    switch type["kind"]!.string! {
    case "base":
      switch type["name"]!.string! {
      case "integer", "uinteger": return "number"
      case "object": return "Record<string, unknown>"
      case let name: return name
      }
    case "reference": return type["name"]!.string!
    case "array":
      let element = self.type(type["element"]!)
      return element.contains(" ") ? "(\(element))[]" : "\(element)[]"
    case "tuple": return "[\(items(type).joined(separator: ", "))]"
    case "or": return items(type).joined(separator: " | ")
    case "stringLiteral": return type["value"]!.text
    case let kind: preconditionFailure("the model has a type of the unknown kind \(kind)")
    }
  }

  private func items(_ type: JSON) -> [String] { type["items"]!.array!.map(self.type) }

  // MARK: - The model

  private func list(_ name: String) -> [JSON] { model[name]!.array! }

  private func comment(_ part: JSON, _ indent: String = "") -> String {
    comment(part["documentation"]?.string.map { [$0] } ?? [], indent)
  }

  private func comment(_ lines: [String], _ indent: String) -> String {
    let lines = lines.map { $0.replacing("*/", with: "*\u{200B}/") }
    switch lines.count {
    case 0: return ""
    case 1: return "\(indent)/** \(lines[0]) */\n"
    default:
      return "\(indent)/**\n" + lines.map { "\(indent) * \($0)\n" }.joined() + "\(indent) */\n"
    }
  }
}
