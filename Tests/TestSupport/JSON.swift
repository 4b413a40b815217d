// JSON of tests: built, compared, changed and written by code that shares nothing with the writer under test.

import Foundation
package import JSONRPC

/// A JSON document as a value. Two strings are equal if their bytes are, two objects whatever the order of their members.
package indirect enum JSON: Sendable {
  case null
  case boolean(Bool)
  case number(Double)
  case string(String)
  /// A string that need not be well encoded.
  case utf8([UInt8])
  case array([JSON])
  /// Members in the order in which they are written; a name may stand there twice.
  case object([(name: String, value: JSON)])
  /// Anything, as it stands.
  case raw(String)

  /// A whole number, exact however large.
  package init(_ number: Int) {
    self = number.magnitude <= 1 << 53 ? .number(Double(number)) : .raw("\(number)")
  }
  package init(_ text: String) { self = .string(text) }
  package init(_ texts: [String]) { self = .array(texts.map { .string($0) }) }

  /// An object, its members sorted by name.
  package init(_ members: [String: JSON]) {
    self = .object(members.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
  }

  package init(_ value: JSONValue) {
    switch value.kind {
    case .null: self = .null
    case .array: self = .array(value.array!.map(JSON.init))
    case .object: self = .object(value.members.map { (name: $0.name, value: JSON($0.value)) })
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

  package init(parsing text: String) throws {
    self.init(try JSONValue(parsing: Array(text.utf8)))
  }

  /// A request of JSON-RPC.
  package static func request(_ id: JSON, _ method: String, _ params: JSON? = nil) -> JSON {
    message([("id", id), ("method", .string(method))], params)
  }

  /// A notification of JSON-RPC.
  package static func notification(_ method: String, _ params: JSON? = nil) -> JSON {
    message([("method", .string(method))], params)
  }

  private static func message(_ members: [(name: String, value: JSON)], _ params: JSON?) -> JSON {
    .object([("jsonrpc", "2.0")] + members + (params.map { [("params", $0)] } ?? []))
  }

  // MARK: - Parts

  package subscript(name: String) -> JSON? {
    get {
      guard case .object(let members) = self else { return nil }
      return members.last { $0.name == name }?.value
    }
    set {
      guard case .object(let members) = self else { return }
      let others = members.filter { $0.name != name }
      self = .object(others + (newValue.map { [(name, $0)] } ?? []))
    }
  }

  /// The same object with a member added, or replaced and moved to the end.
  package func with(_ name: String, _ value: JSON) -> JSON {
    var copy = self
    copy[name] = value
    return copy
  }

  package subscript(index: Int) -> JSON? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  package var string: String? { if case .string(let text) = self { text } else { nil } }
  package var boolean: Bool? { if case .boolean(let boolean) = self { boolean } else { nil } }
  package var array: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
  package var isNull: Bool { if case .null = self { true } else { false } }

  package var members: [String: JSON]? {
    guard case .object(let members) = self else { return nil }
    return Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
  }

  package var integer: Int? {
    if case .number(let number) = self { Int(exactly: number) } else { nil }
  }

  // MARK: - Writing

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return bytes
  }

  private func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .boolean(let value): bytes += (value ? "true" : "false").utf8
    case .number(let value): bytes += (Int(exactly: value).map { "\($0)" } ?? "\(value)").utf8
    case .string(let value): Self.write(Array(value.utf8), to: &bytes)
    case .utf8(let value): Self.write(value, to: &bytes)
    case .array(let values):
      bytes.append(0x5B)
      var isFirst = true
      for value in values {
        if !isFirst { bytes.append(0x2C) }
        isFirst = false
        value.write(to: &bytes)
      }
      bytes.append(0x5D)
    case .object(let members):
      bytes.append(0x7B)
      var isFirst = true
      for (name, value) in members {
        if !isFirst { bytes.append(0x2C) }
        isFirst = false
        Self.write(Array(name.utf8), to: &bytes)
        bytes.append(0x3A)
        value.write(to: &bytes)
      }
      bytes.append(0x7D)
    case .raw(let text): bytes += text.utf8
    }
  }

  /// What needs an escape, as a string of C.
  private static let special = (1..<0x20).map { CChar($0) } + [0x22, 0x5C, 0]

  private static func write(_ string: consuming [UInt8], to bytes: inout [UInt8]) {
    bytes.append(0x22)
    // The C library looks for bytes that need an escape: there are messages of megabytes. A zero ends its search, wherever it stands.
    string.append(0)
    string.withUnsafeBytes { string in
      let characters = string.assumingMemoryBound(to: CChar.self).baseAddress!
      var start = 0
      while true {
        let end = start + strcspn(characters + start, special)
        bytes += string[start..<end]
        guard end < string.count - 1 else { break }
        writeEscape(of: string[end], to: &bytes)
        start = end + 1
      }
    }
    bytes.append(0x22)
  }

  private static func writeEscape(of byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case 0x22, 0x5C: bytes += [0x5C, byte]
    case 0x0A: bytes += [0x5C, 0x6E]
    default:
      let digits = String(byte, radix: 16)
      bytes += "\\u".utf8
      bytes += String(repeating: "0", count: 4 - digits.utf8.count).utf8
      bytes += digits.utf8
    }
  }
}

extension JSON: Equatable {
  package static func == (a: JSON, b: JSON) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.boolean(let a), .boolean(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    case (.utf8(let a), .utf8(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object, .object): a.members! == b.members!
    case (.raw(let a), .raw(let b)): a.utf8.elementsEqual(b.utf8)
    default: false
    }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByNilLiteral, CustomStringConvertible
{
  package init(stringLiteral text: String) { self = .string(text) }
  package init(integerLiteral number: Int) { self = .number(Double(number)) }
  package init(booleanLiteral boolean: Bool) { self = .boolean(boolean) }
  package init(arrayLiteral elements: JSON...) { self = .array(elements) }
  package init(dictionaryLiteral members: (String, JSON)...) {
    self = .object(members.map { (name: $0.0, value: $0.1) })
  }
  package init(nilLiteral: ()) { self = .null }

  package var description: String { text }
}

extension JSONValue {
  /// The value as it was written.
  package var written: String { String(decoding: rawBytes, as: UTF8.self) }

  /// Of an error: its code.
  package var code: Int? { self["code"]?.integer }
  /// Of an error: `data.reason`.
  package var reason: String? { self["data"]?["reason"]?.string }
}
