import Foundation
public import ReplicatingTypes

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
