internal import Bytes
internal import ReplicatingTypes

/// Bytes as they are stored: compressed, if that makes them smaller.
///
///     stored = 00 bytes                 as they are
///            | 01 count block           a block as in LZ4.swift, in Bytes, that makes `count` bytes: a varint, at most 2^20
///
/// They have no checksum: whoever stores them has one of all that is stored, and looks at it before anything is made of them. So a damaged
/// byte costs what it would have cost uncompressed: all that shares the checksum.
///
/// More than 2^20 bytes stay as they are. So whatever bytes are read, no more memory is taken than that or their own size, and compressing takes a
/// limited time.
enum StoredBytes {
  /// The most bytes that are compressed.
  static let limit = 1 << 20
  private static let plain: UInt8 = 0
  private static let compressed: UInt8 = 1

  /// Bytes as they are stored. They are compressed if that saves a sixteenth: for less, reading them need not take longer.
  ///
  /// - Complexity: O(`bytes.count`); see `LZ4.compress(_:)`.
  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    if bytes.count <= limit {
      let block = LZ4.compress(bytes[...])
      var writer = ByteWriter(capacity: block.count + 4)
      writer.byte(compressed)
      writer.varint(bytes.count)
      writer.raw(block)
      if writer.bytes.count <= bytes.count - bytes.count / 16 { return writer.bytes }
    }
    return [plain] + bytes
  }

  /// The bytes that `encode` has stored. O(answer).
  static func decode(_ stored: ArraySlice<UInt8>) throws(DecodingFailure) -> ArraySlice<UInt8> {
    var reader = ByteReader(stored)
    let start = reader
    switch try reader.byte() {
    case plain: return stored.dropFirst()
    case compressed:
      let count = try reader.count()
      guard count <= limit else { throw reader.failure("compressed bytes that are \(count)") }
      let block = try reader.raw(reader.remaining)
      do { return try LZ4.decompress(block, count: count)[...] } catch {
        let offset = stored.count - block.count + error.offset
        throw DecodingFailure(offset: offset, reason: "compressed bytes: \(error.reason)")
      }
    default: throw start.failure("bytes in a form that is none")
    }
  }
}
