// Library product only: the programs of this package do not use this file.

internal import Bytes

// `Codable` for values that are kept in another document. It takes a third more room than the encoding itself, which `encoded()` gives.

/// A value whose `Codable` form is a string, the base64 of its encoding.
///
/// A composed value has it, too, if it says so: `struct Memo: Composed, StringCodable`.
public protocol StringCodable: BinaryCodable, Codable {}

extension StringCodable {
  /// Writes the base64 of the encoding.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Base64.encode(encoded()))
  }

  /// Reads what `encode(to:)` wrote. Throws `DecodingError.dataCorrupted` where there is no base64, or not of such a value.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let bytes = Base64.decode(Array(text.utf8)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "A \(Self.self) can't be read: no base64.")
    }
    do { try self.init(encoded: bytes) } catch {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "A \(Self.self) can't be read: \(error)")
    }
  }
}

extension ReplicatingText: StringCodable {}
extension ReplicatingText.Changes: StringCodable {}
extension ReplicatingArray: StringCodable, Codable where Element: BinaryCodable {}
extension ReplicatingArray.Changes: StringCodable, Codable where Element: BinaryCodable {}
extension ReplicatingRegister: StringCodable, Codable where Value: BinaryCodable {}
extension ReplicatingRegister.Changes: StringCodable, Codable where Value: BinaryCodable {}
extension ReplicatingSet: StringCodable, Codable where Element: BinaryCodable {}
extension ReplicatingSet.Changes: StringCodable, Codable where Element: BinaryCodable {}
extension ReplicatingAddOnlySet: StringCodable, Codable where Element: BinaryCodable {}
extension ReplicatingAddOnlySet.Changes: StringCodable, Codable where Element: BinaryCodable {}
extension ReplicatingOrderedSet: StringCodable, Codable where Element: BinaryCodable {}
extension ReplicatingOrderedSet.Changes: StringCodable, Codable where Element: BinaryCodable {}
extension ReplicatingDictionary: StringCodable, Codable
where Key: BinaryCodable, Value: BinaryCodable {}
extension ReplicatingDictionary.Changes: StringCodable, Codable
where Key: BinaryCodable, Value: BinaryCodable, Value.Changes: BinaryCodable {}
extension Version: StringCodable {}

/// Its 32 digits.
extension Identifier: Codable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let identifier = Identifier(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "An identifier can't be read: not 32 lower-case hexadecimal digits.")
    }
    self = identifier
  }
}
