// Library product only: the programs of this package do not use this file.

// Encodings of plain values of the standard library that a register may hold.

/// Eight bytes, little-endian: the bits. Zero and minus zero, which are equal, are two values here, and so is each of those that are no number.
extension Double: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { writer.fixed(bitPattern) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    self.init(bitPattern: try reader.fixed(UInt64.self))
  }
}

/// A byte, 0 for nil and 1 before a value.
extension Optional: BinaryCodable where Wrapped: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    (self != nil).encode(into: &writer)
    self?.encode(into: &writer)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    self = try Bool(from: &reader) ? Wrapped(from: &reader) : nil
  }
}

/// The number of elements, and each of them. An element takes a byte at least.
extension Array: BinaryCodable where Element: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    writer.varint(count)
    for element in self { element.encode(into: &writer) }
  }

  /// Throws at the first element that can't be read, and at once when there are fewer bytes than elements.
  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    let count = try reader.count()
    // So that a few bytes can't promise two thousand million elements that take none.
    guard count <= reader.remaining else {
      throw start.failure("\(count) elements promised, \(reader.remaining) bytes left")
    }
    self.init()
    for _ in 0..<count { append(try Element(from: &reader)) }
  }
}

/// As the raw value: `enum Priority: UInt8, BinaryCodable { case normal, high }` needs nothing more. A raw value of no case is refused.
extension BinaryCodable where Self: RawRepresentable, RawValue: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { rawValue.encode(into: &writer) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    let raw = try RawValue(from: &reader)
    guard let value = Self(rawValue: raw) else {
      throw start.failure("\(raw), which is no \(Self.self)")
    }
    self = value
  }
}
