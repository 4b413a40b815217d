/// A value of a JSON document.
///
/// Parsing validates the whole document in one pass (`JSONParser.swift` has the rules) and notes where
/// each value stands. Strings and numbers are decoded at each call, and only then.
/// A value shares its document's bytes: copying it costs a reference count, and holding it keeps the
/// whole document alive.
public struct JSONValue: Sendable {
  /// The kinds of values.
  public enum Kind: Sendable {
    case null, boolean, number, string, array, object
  }

  let document: JSONDocument
  /// Where the value stands on the document's tape.
  let index: Int

  init(document: JSONDocument, index: Int) {
    self.document = document
    self.index = index
  }

  /// Parses a document that consists of one value, with white space around it at most.
  ///
  /// - Parameters:
  ///   - bytes: The document, UTF-8 without a byte order mark, less than 2 GiB.
  ///   - maximumDepth: How many arrays and objects may be open at the same time.
  ///   - maximumValues: How many values and member names the document may have in all.
  /// - Throws: `JSONError` for the first byte that breaks a rule or a limit.
  /// - Complexity: O(`bytes.count`) time; at most 16 bytes of memory per value, and never recursive.
  public init(
    parsing bytes: [UInt8], maximumDepth: Int = 128, maximumValues: Int = 4_000_000
  ) throws(JSONError) {
    let tape = try JSONParser.tape(
      of: bytes, maximumDepth: maximumDepth, maximumValues: maximumValues)
    self.init(document: JSONDocument(bytes: bytes, tape: tape), index: 0)
  }

  /// The object without members.
  public static let emptyObject = JSONValue(
    document: JSONDocument(
      bytes: [UInt8(ascii: "{"), UInt8(ascii: "}")],
      tape: [JSONDocument.Entry(position: 0, extra: 1), JSONDocument.Entry(position: 1, extra: 0)]),
    index: 0)

  /// The kind of the value.
  public var kind: Kind {
    switch document.firstByte(at: index) {
    case UInt8(ascii: "n"): .null
    case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
    case UInt8(ascii: "\""): .string
    case UInt8(ascii: "["): .array
    case UInt8(ascii: "{"): .object
    default: .number
    }
  }

  /// True if the value is `null`.
  public var isNull: Bool { kind == .null }

  /// The value of `true` or `false`; nil for every other kind.
  public var boolean: Bool? {
    switch document.firstByte(at: index) {
    case UInt8(ascii: "t"): true
    case UInt8(ascii: "f"): false
    default: nil
    }
  }

  /// The value of a number that is a whole one and fits `Int`, however it is written (`3.0`, `1e2`).
  ///
  /// Nil for every other number (nothing is rounded) and every other kind.
  ///
  /// - Complexity: O(length of the number).
  public var integer: Int? {
    guard kind == .number else { return nil }
    let bytes = document.bytes
    return JSONNumber.integer(bytes.span.extracting(document.byteRange(at: index)))
  }

  /// The floating-point value nearest to a number; nil if that is not finite, and for every other kind.
  ///
  /// - Complexity: O(length of the number).
  public var double: Double? {
    guard kind == .number,
      let value = Double(String(decoding: rawBytes, as: UTF8.self)), value.isFinite
    else { return nil }
    return value
  }

  /// The contents of a string; nil for every other kind.
  ///
  /// - Complexity: O(length of the string).
  public var string: String? {
    guard kind == .string else { return nil }
    if document.hasEscapes(at: index) {
      return String(decoding: unescaped, as: UTF8.self)
    }
    return String(decoding: document.bytes[document.contentRange(at: index)], as: UTF8.self)
  }

  /// True if the value is a string with these contents. Contents are the same when their UTF-8 is.
  ///
  /// - Complexity: O(length of the string).
  public func isString(_ contents: String) -> Bool {
    guard kind == .string else { return false }
    if document.hasEscapes(at: index) {
      return unescaped.span.hasSameBytes(as: contents.utf8.span)
    }
    let bytes = document.bytes
    return bytes.span.extracting(document.contentRange(at: index))
      .hasSameBytes(as: contents.utf8.span)
  }

  /// The contents of a string as UTF-8, always valid, which may hold U+0000; nil for every other kind.
  ///
  /// - Complexity: O(length of the string).
  public var utf8: [UInt8]? {
    guard kind == .string else { return nil }
    return document.hasEscapes(at: index)
      ? unescaped : Array(document.bytes[document.contentRange(at: index)])
  }

  private var unescaped: [UInt8] {
    let bytes = document.bytes
    return JSONString.unescaped(bytes.span.extracting(document.contentRange(at: index)))
  }

  /// The value as it is written in the document, without white space around it.
  public var rawBytes: ArraySlice<UInt8> { document.bytes[document.byteRange(at: index)] }
}
