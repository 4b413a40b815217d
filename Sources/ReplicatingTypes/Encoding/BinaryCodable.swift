/// A value that is written in exactly one way: equal values have equal bytes, however they came about.
///
/// A reader of an encoding trusts nothing in it. Bytes that stand for no value are refused with the place where they go
/// wrong, and nothing is allocated that the bytes do not pay for. A sequence can be read from other bytes than it is written
/// in; to get the one encoding, write again what was read. (Strings are equal that differ in their bytes: see below.)
/// Each type's file describes its encoding; a replicating type begins with the number of its format, so that a later one is
/// told from damage.
///
///     let bytes = "milk".encoded()            // [4, 109, 105, 108, 107]
///     try String(encoded: bytes) == "milk"    // true
public protocol BinaryCodable {
  /// Writes the value behind what is there.
  func encode(into writer: inout ByteWriter)

  /// Reads what `encode(into:)` wrote, and no further. Throws, with the offset, when that is not what stands there.
  init(from reader: inout ByteReader) throws(DecodingFailure)
}

extension BinaryCodable {
  /// The value in bytes.
  @inlinable
  public func encoded() -> [UInt8] {
    var writer = ByteWriter()
    encode(into: &writer)
    return writer.bytes
  }

  /// The value that `bytes` encode, all of them. Throws when they encode none, or are more than that takes.
  @inlinable
  public init(encoded bytes: [UInt8]) throws(DecodingFailure) {
    var reader = ByteReader(bytes)
    try self.init(from: &reader)
    guard reader.isAtEnd else { throw reader.failure("\(reader.remaining) bytes too many") }
  }
}

extension ByteWriter {
  /// The number of a format, which begins an encoding that may have others some day.
  @usableFromInline
  mutating func format(_ number: UInt8) { byte(number) }
}

extension ByteReader {
  /// Reads the number of a format; it must be this one.
  @usableFromInline
  mutating func format(_ number: UInt8, of type: String) throws(DecodingFailure) {
    let start = self
    let found = try byte()
    guard found == number else {
      throw start.failure(
        "format \(found) of \(type), of which \(number) is known", isOfLaterVersion: found > number)
    }
  }
}

// MARK: - Plain values

extension UInt8: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { writer.byte(self) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) { self = try reader.byte() }
}

extension Bool: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { writer.byte(self ? 1 : 0) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    let byte = try reader.byte()
    guard byte < 2 else { throw start.failure("\(byte) where 0 or 1 is expected") }
    self = byte == 1
  }
}

extension UInt64: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { writer.varint(self) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) { self = try reader.varint() }
}

extension Int64: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { writer.signed(self) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) { self = try reader.signed() }
}

extension Int: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { writer.signed(Int64(self)) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    self = Int(try reader.signed())
  }
}

/// A count of bytes, and the UTF-8. Strings that compare equal but differ in their bytes are two values here.
extension String: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { writer.counted(utf8) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    guard let string = String(validating: try reader.counted(), as: UTF8.self) else {
      throw start.failure("a string that is not valid UTF-8")
    }
    self = string
  }
}

extension Character: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { writer.counted(utf8) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    let string = try String(from: &reader)
    guard string.count == 1 else { throw start.failure("\(string.count) characters for one") }
    self = Character(string)
  }
}

extension Identifier: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { writer.identifier(self) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    self = try reader.identifier()
  }
}
