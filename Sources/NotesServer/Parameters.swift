internal import Bytes
internal import JSONRPC

/// The name of a member of a JSON object: a case of the enum in which a method declares its parameters, or a plain string.
protocol ParameterName {
  /// The name on the wire.
  var rawValue: String { get }

  /// The names of the parameter's own members, where the command line checks them as it checks the parameters.
  var members: [String] { get }
}

extension ParameterName {
  var members: [String] { [] }
}

extension String: ParameterName {
  var rawValue: String { self }
}

/// The typed parameters of one method.
///
/// `Name` is the only declaration of their names. `init` reads the values by these names, and the table of methods refuses
/// other names on a command line.
protocol MethodParameters: SendableMetatype {
  associatedtype Name: ParameterName & CaseIterable

  /// Reads the values. The error names the parameter that is missing or cannot be used.
  init(_ params: Parameters) throws(ResponseError)
}

/// The parameters of a method that has none.
struct NoParameters: MethodParameters {
  enum Name: ParameterName, CaseIterable {
    var rawValue: String {
      switch self {}
    }
  }

  init(_ params: Parameters) throws(ResponseError) {}
}

/// The members of one JSON object, read by name. An error starts with the name of the member at fault.
struct Parameters {
  let value: JSONValue
  /// The name of the object that these are the members of, with a dot; empty at the top.
  let path: String
  /// The lengths of the names of all members: most of what a method could be given is absent.
  private let nameLengths: JSONValue.NameLengths

  init(value: JSONValue, path: String = "") {
    self.value = value
    self.path = path
    nameLengths = value.nameLengths
  }

  /// A member as it came; `nil` if it is absent or null.
  subscript(name: some ParameterName) -> JSONValue? {
    let name = name.rawValue
    guard nameLengths.mayHave(name.utf8.count), let member = value[name], !member.isNull else {
      return nil
    }
    return member
  }

  /// The name of a member in an error.
  private func fullName(_ name: some ParameterName) -> String { path + name.rawValue }

  func required(_ name: some ParameterName) throws(ResponseError) -> JSONValue {
    guard let member = self[name] else { throw .invalidParams(fullName(name), "is missing") }
    return member
  }

  func object(_ name: some ParameterName) throws(ResponseError) -> Parameters? {
    guard let member = self[name] else { return nil }
    guard member.kind == .object else { throw .invalidParams(fullName(name), "must be an object") }
    return Parameters(value: member, path: "\(fullName(name)).")
  }

  func requiredObject(_ name: some ParameterName) throws(ResponseError) -> Parameters {
    guard let object = try object(name) else { throw .invalidParams(fullName(name), "is missing") }
    return object
  }

  func boolean(_ name: some ParameterName) throws(ResponseError) -> Bool? {
    guard let member = self[name] else { return nil }
    guard let boolean = member.boolean else {
      throw .invalidParams(fullName(name), "must be true or false")
    }
    return boolean
  }

  /// A whole number from 0.
  func count(_ name: some ParameterName) throws(ResponseError) -> Int? {
    guard let member = self[name] else { return nil }
    guard let number = member.integer, number >= 0 else {
      throw .invalidParams(fullName(name), "must be a whole number from 0")
    }
    return number
  }

  func requiredCount(_ name: some ParameterName) throws(ResponseError) -> Int {
    guard let count = try count(name) else { throw .invalidParams(fullName(name), "is missing") }
    return count
  }

  /// A whole number from 1; without it there is no limit.
  func limit(_ name: some ParameterName) throws(ResponseError) -> Int {
    let limit = try count(name) ?? .max
    guard limit > 0 else { throw .invalidParams(fullName(name), "must be at least 1") }
    return limit
  }

  func string(_ name: some ParameterName) throws(ResponseError) -> String? {
    guard let member = self[name] else { return nil }
    guard let string = member.string else {
      throw .invalidParams(fullName(name), "must be a string")
    }
    return string
  }

  func requiredString(_ name: some ParameterName) throws(ResponseError) -> String {
    guard let string = try string(name) else { throw .invalidParams(fullName(name), "is missing") }
    return string
  }

  /// Text as UTF-8. U+0000 is refused, because editors drop a text that holds it.
  func text(_ name: some ParameterName) throws(ResponseError) -> [UInt8]? {
    guard let member = self[name] else { return nil }
    return try Self.text(member, fullName(name))
  }

  func requiredText(_ name: some ParameterName) throws(ResponseError) -> [UInt8] {
    try Self.text(try required(name), fullName(name))
  }

  func requiredArray(_ name: some ParameterName) throws(ResponseError) -> JSONArray {
    try array(try required(name), name)
  }

  /// The array that a member is.
  func array(_ member: JSONValue, _ name: some ParameterName) throws(ResponseError) -> JSONArray {
    guard let array = member.array else {
      throw .invalidParams(fullName(name), "must be an array")
    }
    return array
  }

  /// The token for reports of the progress of a request, as the client wrote it; nil if the client wants none.
  func progressToken() throws(ResponseError) -> [UInt8]? {
    guard let token = self["workDoneToken"] else { return nil }
    guard token.string != nil || token.integer != nil else {
      throw .invalidParams("workDoneToken", "must be a string or a whole number")
    }
    return Array(token.rawBytes)
  }

  /// An array of strings.
  func strings(_ name: some ParameterName) throws(ResponseError) -> [String]? {
    if self[name] == nil { return nil }
    var strings: [String] = []
    for element in try requiredArray(name) {
      guard let string = element.string else {
        throw .invalidParams(fullName(name), "must be an array of strings")
      }
      strings.append(string)
    }
    return strings
  }

  /// One of some words.
  func word<Word>(
    _ name: some ParameterName, _ allowed: [(String, Word)]
  ) throws(ResponseError) -> Word? {
    guard let word = try string(name) else { return nil }
    guard let match = allowed.first(where: { $0.0 == word }) else {
      let words = allowed.map { "\"\($0.0)\"" }.joined(separator: ", ")
      throw .invalidParams(fullName(name), "must be one of \(words)")
    }
    return match.1
  }

  static func text(_ value: JSONValue, _ name: String) throws(ResponseError) -> [UInt8] {
    guard let text = value.utf8 else { throw .invalidParams(name, "must be a string") }
    guard text.span.firstIndex(of: 0) == nil else {
      throw .invalidParams(name, "must not contain U+0000")
    }
    return text
  }
}
