internal import Bytes
internal import ReplicatingTypes

// The hash of a change: the first 8 bytes of SHA-256 of it as its author encoded it.
//
// A change from which something was redacted carries the hash that it had before, between its predecessors and its operations, behind
// the byte 1D. So both have the same hash, and it tells whether two encodings are of one change.

/// The hash of a change, by which a change and what is left of it when it was redacted are known for one.
public enum ChangeHash {
  /// The byte before the hash that a redacted change carries.
  static let tag: UInt8 = 0x1d

  /// The hash of a change.
  static func hash(of encoded: ArraySlice<UInt8>) -> UInt64 {
    carried(by: encoded) ?? SHA256.prefix64(of: encoded)
  }

  /// The hash that a change carries, if it is redacted. O(predecessors).
  static func carried(by encoded: ArraySlice<UInt8>) -> UInt64? {
    var reader = ByteReader(encoded)
    return try? original(&reader)
  }

  /// True if two encodings, of changes with one name, are of the same change, which may be redacted. O(bytes).
  public static func isSame(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Bool {
    if a.isEqual(to: b) { return true }
    let (one, other) = (carried(by: a), carried(by: b))
    if one == nil, other == nil { return false }
    return (one ?? SHA256.prefix64(of: a)) == (other ?? SHA256.prefix64(of: b))
  }

  private static func original(_ reader: inout ByteReader) throws(DecodingFailure) -> UInt64? {
    _ = try reader.signed()
    for _ in 0..<(try reader.count()) {
      // A mention, with the name of a replica behind 1; and a number.
      if try reader.varint() == 1 { _ = try reader.identifier() }
      _ = try reader.varint()
    }
    guard try reader.byte() == tag else { return nil }
    return try reader.fixed(UInt64.self)
  }
}
