/// The SHA-256 of bytes that change: what stands before the first byte that has changed is not hashed again.
///
/// It keeps the hash of all bytes up to each 4,096th, so a hash costs the bytes from the last of these places before the change on: at the end of a text
/// 4,096 bytes at most, in the middle half of it.
public struct HashedPieces: Sendable {
  private static let size = 4096

  /// The hashes of the first piece, of the first two, and so on: 48 bytes each.
  private var hashes: [SHA256] = []

  /// Nothing that is known.
  public init() {}

  /// Notes that bytes from an offset on are others now. O(pieces behind it).
  public mutating func change(from offset: Int) {
    let unchanged = offset / Self.size
    if unchanged < hashes.count { hashes.removeLast(hashes.count - unchanged) }
  }

  /// The hash of all bytes, as 64 lower-case hexadecimal digits. These are the bytes that were hashed last, but for what was noted since.
  ///
  /// - Complexity: O(bytes behind the first of these changes, and 4,096).
  public mutating func hexDigest(of bytes: [UInt8]) -> String {
    var hash = hashes.last ?? SHA256()
    var offset = hashes.count * Self.size
    while bytes.count - offset >= Self.size {
      hash.update(bytes[offset..<offset + Self.size])
      hashes.append(hash)
      offset += Self.size
    }
    hash.update(bytes[offset...])
    return hash.hexDigest
  }
}
