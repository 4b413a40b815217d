public import ReplicatingTypes

/// The mark of a change that was made for a request with a key, by which the same request is known again after a death of its process.
public struct RequestMark: Hashable, Sendable {
  /// A hash of the key that the client gave.
  public let key: Identifier
  /// The kind of request; without a meaning in this module.
  public let kind: UInt8
  /// The place of the request among several that were made under one key; 0 for the first.
  public let place: UInt16

  /// Creates a mark.
  public init(key: Identifier, kind: UInt8, place: UInt16 = 0) {
    self.key = key
    self.kind = kind
    self.place = place
  }

  /// The content of the mark, as Change.swift says.
  var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 20)
    writer.byte(kind)
    writer.varint(Int(place))
    writer.identifier(key)
    return writer.bytes
  }

  /// Reads what `encoded` writes, and nothing else.
  init(decoding bytes: ArraySlice<UInt8>) throws(DecodingFailure) {
    var reader = ByteReader(bytes)
    kind = try reader.byte()
    guard let place = UInt16(exactly: try reader.varint()) else {
      throw reader.failure("a request beyond all batches")
    }
    self.place = place
    key = try reader.identifier()
    guard reader.isAtEnd else { throw reader.failure("more than the mark of a request") }
  }
}
