internal import JSONRPC

/// An argument of a tool.
struct ToolArgument: Sendable {
  enum Kind: Sendable {
    /// Text of at most so many bytes.
    case text(atMost: Int)
    case integer(ClosedRange<Int>)
    case boolean
    case words([String])
    case texts
  }

  let name: String
  let kind: Kind
  let isRequired: Bool
  let help: String

  init(_ name: String, _ kind: Kind, isRequired: Bool = false, _ help: String) {
    self.name = name
    self.kind = kind
    self.isRequired = isRequired
    self.help = help
  }

  /// Writes its schema: one type, and no choice of several.
  func writeSchema(_ writer: inout JSONWriter) {
    writer.key(name)
    writer.beginObject()
    switch kind {
    case .text: writer.member("type", "string")
    case .integer(let range):
      writer.member("type", "integer")
      writer.member("minimum", range.lowerBound)
      writer.member("maximum", range.upperBound)
    case .boolean: writer.member("type", "boolean")
    case .words(let words):
      writer.member("type", "string")
      writer.member("enum", words)
    case .texts:
      writer.member("type", "array")
      writer.key("items")
      writer.beginObject()
      writer.member("type", "string")
      writer.endObject()
    }
    writer.member("description", help)
    writer.endObject()
  }

  /// The reason why a value is refused; nil if it is not.
  fileprivate func mistake(in value: JSONValue) -> String? {
    switch kind {
    case .text(let most):
      guard value.kind == .string else { return "must be a string" }
      if value.utf8!.count > most { return "must have at most \(most) bytes" }
      return Self.hasNul(value) ? "must not have the character U+0000" : nil
    case .integer(let range):
      guard let number = value.integer, range.contains(number) else {
        return "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
      }
      return nil
    case .boolean: return value.boolean == nil ? "must be true or false" : nil
    case .words(let words):
      guard let word = value.string, words.contains(word) else {
        return "must be one of \(words.joined(separator: ", "))"
      }
      return nil
    case .texts:
      guard let values = value.array, values.allSatisfy({ $0.kind == .string }) else {
        return "must be an array of strings"
      }
      return values.contains(where: Self.hasNul) ? "must not have the character U+0000" : nil
    }
  }

  private static func hasNul(_ value: JSONValue) -> Bool { value.utf8?.contains(0) == true }
}

/// The arguments of a call of a tool, all of them as they have to be.
struct ToolArguments {
  /// The reason why they are refused, in a sentence for an agent.
  struct Mistake: Error {
    let message: String
  }

  private var values: [String: JSONValue] = [:]

  /// - Parameter value: an object. A member that is `null` counts as absent.
  init(_ value: JSONValue, of arguments: [ToolArgument]) throws(Mistake) {
    for (name, value) in value.members {
      guard let argument = arguments.first(where: { $0.name == name }) else {
        let known = arguments.map(\.name).joined(separator: ", ")
        throw Mistake(
          message: "\(Self.shortened(name)): there is no such argument. There are: \(known).")
      }
      if value.isNull { continue }
      if let mistake = argument.mistake(in: value) {
        throw Mistake(message: "\(name): it \(mistake). Correct it, and call the tool again.")
      }
      values[name] = value
    }
    for argument in arguments where argument.isRequired && values[argument.name] == nil {
      throw Mistake(message: "\(argument.name): it is missing. Give it, and call the tool again.")
    }
  }

  /// The lines that are asked for by `from_line`, `to_line` and `offset`.
  var lines: LineRange {
    LineRange(
      first: values["from_line"]?.integer ?? 1, last: values["to_line"]?.integer,
      offset: values["offset"]?.integer ?? 0)
  }

  subscript(_ name: String) -> JSONValue? { values[name] }

  /// A required text.
  func text(_ name: String) -> String { values[name]?.string ?? "" }

  /// The beginning of a text of the agent's, for a message.
  static func shortened(_ text: String) -> String {
    let scalars = text.unicodeScalars
    return scalars.count > 100 ? String(scalars.prefix(100)) + "…" : text
  }
}
