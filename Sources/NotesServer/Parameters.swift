internal import Bytes
internal import JSONRPC

/// The parameters of one message. What is wrong with one is told by its name.
struct Parameters {
  let value: JSONValue
  /// The name of the object these are the members of, with a dot; empty at the top.
  var path = ""

  /// A parameter as it came; `nil` if it is absent or null.
  subscript(name: String) -> JSONValue? {
    guard let member = value[name], !member.isNull else { return nil }
    return member
  }

  func required(_ name: String) throws(ResponseError) -> JSONValue {
    guard let member = self[name] else { throw .invalidParams(path + name, "is missing") }
    return member
  }

  func object(_ name: String) throws(ResponseError) -> Parameters? {
    guard let member = self[name] else { return nil }
    guard member.kind == .object else { throw .invalidParams(path + name, "must be an object") }
    return Parameters(value: member, path: "\(path)\(name).")
  }

  func boolean(_ name: String) throws(ResponseError) -> Bool? {
    guard let member = self[name] else { return nil }
    guard let boolean = member.boolean else {
      throw .invalidParams(path + name, "must be true or false")
    }
    return boolean
  }

  /// A whole number from 0.
  func count(_ name: String) throws(ResponseError) -> Int? {
    guard let member = self[name] else { return nil }
    guard let number = member.integer, number >= 0 else {
      throw .invalidParams(path + name, "must be a whole number from 0")
    }
    return number
  }

  func requiredCount(_ name: String) throws(ResponseError) -> Int {
    _ = try required(name)
    return try count(name)!
  }

  func string(_ name: String) throws(ResponseError) -> String? {
    guard let member = self[name] else { return nil }
    guard let string = member.string else { throw .invalidParams(path + name, "must be a string") }
    return string
  }

  func requiredString(_ name: String) throws(ResponseError) -> String {
    _ = try required(name)
    return try string(name)!
  }

  /// Text as UTF-8. U+0000 is refused: editors throw away whatever holds it.
  func text(_ name: String) throws(ResponseError) -> [UInt8]? {
    guard let member = self[name] else { return nil }
    return try Self.text(member, path + name)
  }

  func requiredText(_ name: String) throws(ResponseError) -> [UInt8] {
    try Self.text(try required(name), path + name)
  }

  func requiredArray(_ name: String) throws(ResponseError) -> JSONArray {
    guard let array = try required(name).array else {
      throw .invalidParams(path + name, "must be an array")
    }
    return array
  }

  static func text(_ value: JSONValue, _ name: String) throws(ResponseError) -> [UInt8] {
    guard let text = value.utf8 else { throw .invalidParams(name, "must be a string") }
    guard text.span.firstIndex(of: 0) == nil else {
      throw .invalidParams(name, "must not contain U+0000")
    }
    return text
  }

  /// One of some words.
  func word<Word>(
    _ name: String, _ allowed: [(String, Word)]
  ) throws(ResponseError) -> Word? {
    guard let word = try string(name) else { return nil }
    guard let match = allowed.first(where: { $0.0 == word }) else {
      let words = allowed.map { "\"\($0.0)\"" }.joined(separator: ", ")
      throw .invalidParams(path + name, "must be one of \(words)")
    }
    return match.1
  }
}
