/// The SHA-256 of bytes that change: what stands before the first byte that has changed is not hashed again.
///
/// It keeps the hash of all bytes up to each 4,096th, and up to the block in which they were changed last, since the next change is beside that as a
/// rule. So a hash costs the bytes from the last of these places before the change on: where text is typed at its end a block or two, in the middle
/// half of it.
public struct HashedPieces: Sendable {
  private static let size = 4096
  /// The bytes that SHA-256 takes in at once.
  private static let block = 64

  /// The hashes of the first piece, of the first two, and so on: 48 bytes each.
  private var hashes: [SHA256] = []
  /// The hash of the bytes up to the block of the last change, if that is not at the beginning of a piece.
  private var near: (end: Int, hash: SHA256)?
  /// The first byte that has changed since the hash was asked for.
  private var changed = Int.max

  /// Nothing that is known.
  public init() {}

  /// Notes that bytes from an offset on are others now. O(pieces behind it).
  public mutating func change(from offset: Int) {
    let unchanged = offset / Self.size
    if unchanged < hashes.count { hashes.removeLast(hashes.count - unchanged) }
    if let near, near.end > offset { self.near = nil }
    changed = min(changed, offset)
  }

  /// The hash of all bytes, as 64 lower-case hexadecimal digits. These are the bytes that were hashed last, but for what was noted since.
  ///
  /// - Complexity: O(bytes behind the first of these changes, and 4,096).
  public mutating func hexDigest(of bytes: [UInt8]) -> String {
    var hash = hashes.last ?? SHA256()
    var offset = hashes.count * Self.size
    if let near, near.end > offset { (offset, hash) = near }
    let next = min(changed, bytes.count) / Self.block * Self.block
    changed = .max
    while offset < bytes.count {
      // Up to the next place whose hash is kept.
      var end = min(bytes.count, offset / Self.size * Self.size + Self.size)
      if offset < next { end = min(end, next) }
      hash.update(bytes[offset..<end])
      offset = end
      if offset == next { near = (offset, hash) }
      if offset == hashes.count * Self.size + Self.size { hashes.append(hash) }
    }
    return hash.hexDigest
  }
}
