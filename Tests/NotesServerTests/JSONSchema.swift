import TestSupport

/// A JSON Schema, and the check that a value fits it: of the language just what `Protocol/schema.json` uses. What it does not know is a problem.
struct JSONSchema: Sendable {
  private let root: JSON
  private let definitions: [String: JSON]

  init(_ root: JSON) {
    self.root = root
    definitions = root["$defs"]?.members ?? [:]
  }

  /// The reasons why a value does not fit a definition; none if it does.
  func problems(of value: JSON, as name: String) -> [String] {
    problems(of: value, ["$ref": .string("#/$defs/\(name)")], name)
  }

  /// The reasons why a value does not fit the whole schema.
  func problems(of value: JSON) -> [String] { problems(of: value, root, "the value") }

  private func problems(of value: JSON, _ schema: JSON, _ path: String) -> [String] {
    guard let keywords = schema.members else { return ["\(path): the schema is no object"] }
    var problems: [String] = []
    for (keyword, wanted) in keywords {
      problems += self.problems(of: value, keyword, wanted, path)
    }
    return problems
  }

  private func problems(
    of value: JSON, _ keyword: String, _ wanted: JSON, _ path: String
  ) -> [String] {
    switch keyword {
    case "$schema", "$defs", "title", "description", "examples": return []
    case "$ref":
      let name = String(wanted.string!.dropFirst("#/$defs/".count))
      guard let definition = definitions[name] else { return ["\(path): there is no \(name)"] }
      return problems(of: value, definition, path)
    case "type":
      let names = wanted.array ?? [wanted]
      return names.contains { isType($0.string!, value) } ? [] : ["\(path) is no \(wanted)"]
    case "const": return value == wanted ? [] : ["\(path) is not \(wanted)"]
    case "enum": return wanted.array!.contains(value) ? [] : ["\(path) is none of \(wanted)"]
    case "minimum":
      guard case .number(let number) = value, case .number(let least) = wanted else { return [] }
      return number >= least ? [] : ["\(path) is less than \(wanted)"]
    case "anyOf":
      let all = wanted.array!.map { problems(of: value, $0, path) }
      return all.contains([]) ? [] : ["\(path) is none of the alternatives: \(all.joined())"]
    case "properties":
      guard let members = value.members else { return [] }
      return wanted.members!.flatMap { name, schema in
        members[name].map { problems(of: $0, schema, "\(path).\(name)") } ?? []
      }
    case "required":
      guard let members = value.members else { return [] }
      return wanted.array!.compactMap {
        members[$0.string!] == nil ? "\(path).\($0.string!) is missing" : nil
      }
    case "items":
      return (value.array ?? []).enumerated().flatMap {
        problems(of: $0.element, wanted, "\(path)[\($0.offset)]")
      }
    case "prefixItems":
      return zip(value.array ?? [], wanted.array!).enumerated().flatMap {
        problems(of: $0.element.0, $0.element.1, "\(path)[\($0.offset)]")
      }
    case "minItems":
      return value.array.map { $0.count < wanted.integer! } == true ? ["\(path) is too short"] : []
    case "maxItems":
      return value.array.map { $0.count > wanted.integer! } == true ? ["\(path) is too long"] : []
    default: return ["\(path): the check knows no \(keyword)"]
    }
  }

  private func isType(_ name: String, _ value: JSON) -> Bool {
    switch name {
    case "string": value.string != nil
    case "integer": value.integer != nil
    case "boolean": value.boolean != nil
    case "null": value.isNull
    case "array": value.array != nil
    case "object": value.members != nil
    default: false
    }
  }
}
