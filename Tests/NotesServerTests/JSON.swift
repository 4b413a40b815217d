import JSONRPC

/// A JSON document as a value. Strings are equal when their bytes are, objects whatever the order of their members.
indirect enum JSON: Sendable {
  case null
  case boolean(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  init(_ value: JSONValue) {
    switch value.kind {
    case .null: self = .null
    case .array: self = .array(value.array!.map(JSON.init))
    case .object:
      self = .object(
        Dictionary(value.members.map { ($0.name, JSON($0.value)) }, uniquingKeysWith: { $1 }))
    default:
      if let boolean = value.boolean {
        self = .boolean(boolean)
      } else if let number = value.double {
        self = .number(number)
      } else {
        self = .string(value.string!)
      }
    }
  }

  init(parsing text: String) throws { self.init(try JSONValue(parsing: Array(text.utf8))) }

  subscript(name: String) -> JSON? {
    get { if case .object(let members) = self { members[name] } else { nil } }
    set {
      guard case .object(var members) = self else { return }
      members[name] = newValue
      self = .object(members)
    }
  }

  subscript(index: Int) -> JSON? {
    if case .array(let elements) = self, elements.indices.contains(index) {
      elements[index]
    } else {
      nil
    }
  }

  var string: String? { if case .string(let text) = self { text } else { nil } }
  var boolean: Bool? { if case .boolean(let boolean) = self { boolean } else { nil } }
  var array: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
  var members: [String: JSON]? { if case .object(let members) = self { members } else { nil } }
  var isNull: Bool { if case .null = self { true } else { false } }

  var integer: Int? {
    if case .number(let number) = self { Int(exactly: number) } else { nil }
  }

  /// The document as text, members sorted by name.
  var text: String {
    var writer = JSONWriter()
    write(to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private func write(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .boolean(let boolean): writer.boolean(boolean)
    case .number(let number):
      if let integer = Int(exactly: number) {
        writer.integer(integer)
      } else {
        writer.raw("\(number)".utf8)
      }
    case .string(let text): writer.string(text)
    case .array(let elements):
      writer.beginArray()
      for element in elements { element.write(to: &writer) }
      writer.endArray()
    case .object(let members):
      writer.beginObject()
      for (name, value) in members.sorted(by: { $0.key < $1.key }) {
        writer.key(name)
        value.write(to: &writer)
      }
      writer.endObject()
    }
  }
}

extension JSON: Equatable {
  static func == (a: JSON, b: JSON) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.boolean(let a), .boolean(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByNilLiteral, CustomStringConvertible
{
  init(stringLiteral text: String) { self = .string(text) }
  init(integerLiteral number: Int) { self = .number(Double(number)) }
  init(booleanLiteral boolean: Bool) { self = .boolean(boolean) }
  init(arrayLiteral elements: JSON...) { self = .array(elements) }
  init(dictionaryLiteral members: (String, JSON)...) {
    self = .object(Dictionary(uniqueKeysWithValues: members))
  }
  init(nilLiteral: ()) { self = .null }
  init(_ number: Int) { self = .number(Double(number)) }
  init(_ text: String) { self = .string(text) }
  init(_ texts: [String]) { self = .array(texts.map { .string($0) }) }

  var description: String { text }
}
