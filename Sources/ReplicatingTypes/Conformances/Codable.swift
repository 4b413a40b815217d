// Library product only: the programs of this package do not use this file.

internal import Bytes

// `Codable` for who keeps a value in a document of his own: a string, the base64 of the encoding. It needs a third more room than the encoding
// itself, which `encoded()` gives.

extension BinaryCodable {
  fileprivate func write(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Base64.encode(encoded()))
  }

  /// Throws `DecodingError.dataCorrupted` where there is no base64, or not of such a value.
  fileprivate init(readingFrom decoder: any Decoder) throws {
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

extension ReplicatingText: Codable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingText.Changes: Codable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension TrimmedText: Codable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingArray: Codable where Element: BinaryCodable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingArray.Changes: Codable where Element: BinaryCodable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingRegister: Codable where Value: BinaryCodable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingRegister.Changes: Codable where Value: BinaryCodable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingSet: Codable where Element: BinaryCodable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingSet.Changes: Codable where Element: BinaryCodable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingAddOnlySet: Codable where Element: BinaryCodable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingAddOnlySet.Changes: Codable where Element: BinaryCodable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingOrderedSet: Codable where Element: BinaryCodable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingOrderedSet.Changes: Codable where Element: BinaryCodable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingDictionary: Codable where Key: BinaryCodable, Value: BinaryCodable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension ReplicatingDictionary.Changes: Codable
where Key: BinaryCodable, Value: BinaryCodable, Value.Changes: BinaryCodable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

extension Version: Codable {
  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
  public init(from decoder: any Decoder) throws { try self.init(readingFrom: decoder) }
}

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
