// Encodings of values of Foundation that registers, sets, dictionaries and constants may hold.

public import Foundation
public import ReplicatingTypes

/// Its 16 bytes. In a list of parts it stands as it is: an identity never changes.
extension UUID: BinaryCodable, ConstantPart {
  public func encode(into writer: inout ByteWriter) {
    withUnsafeBytes(of: uuid) { writer.raw($0) }
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    let bytes = try reader.raw(16)
    withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
    self.init(uuid: uuid)
  }
}

/// The seconds since the beginning of 2001, as a `Double`: eight bytes. In a list of parts it stands as it is: a date of creation never
/// changes. A date that does stands in a register.
extension Date: BinaryCodable, ConstantPart {
  public func encode(into writer: inout ByteWriter) {
    timeIntervalSinceReferenceDate.encode(into: &writer)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    self.init(timeIntervalSinceReferenceDate: try Double(from: &reader))
  }
}

/// The number of bytes, and the bytes.
extension Data: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { writer.counted(self) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    self.init(try reader.counted())
  }
}

/// The text of the URL, and, if there is one, that of the URL to which it is relative.
extension URL: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    relativeString.encode(into: &writer)
    (baseURL?.absoluteString).encode(into: &writer)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    let text = try String(from: &reader)
    var base: URL?
    if let text = try String?(from: &reader) {
      base = URL(string: text)
      guard base != nil else { throw start.failure("\(text), which is no URL") }
    }
    guard let url = URL(string: text, relativeTo: base) else {
      throw start.failure("\(text), which is no URL")
    }
    self = url
  }
}

/// Its digits, as `description` has them.
extension Decimal: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { description.encode(into: &writer) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    let text = try String(from: &reader)
    let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) ?? .nan
    guard number.description == text else { throw start.failure("\(text), which is no number") }
    self = number
  }
}

/// A value whose encoding is its `Codable` form, in JSON: for whatever is `Codable` and merges as a whole.
///
///     struct Address: Hashable, JSONCodable { var street: String; var city: String }
///     var home = ReplicatingRegister(Address(street: "Main Street 1", city: "Springfield"))
///
/// Keys are sorted, so that equal values have equal bytes as long as what they have has an order: a property that is a `Set` has none.
/// An enumeration with a raw value needs less, `enum Priority: Int, BinaryCodable`.
public protocol JSONCodable: BinaryCodable, Codable {}

extension JSONCodable {
  /// Writes the number of bytes, and the JSON. Ends the program if the value refuses to be encoded; numbers that are none are strings.
  public func encode(into writer: inout ByteWriter) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do { writer.counted(try encoder.encode(self)) } catch {
      fatalError("\(Self.self) refuses to be encoded: \(error)")
    }
  }

  /// Reads what `encode(into:)` wrote. Throws where there is no JSON, or not of such a value.
  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    let bytes = try reader.counted()
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do { self = try decoder.decode(Self.self, from: Data(bytes)) } catch {
      throw start.failure("JSON that is no \(Self.self)")
    }
  }
}
