internal import ReplicatingTypes

/// The place of a block in an archive, and its bytes without the checksum.
struct ArchiveBlock: Equatable, Sendable {
  var start: Int
  var size: Int

  func encode(into writer: inout ByteWriter) {
    writer.varint(start)
    writer.varint(size)
  }
}

extension ByteReader {
  mutating func block() throws(DecodingFailure) -> ArchiveBlock {
    let (start, size) = (try varint(), try varint())
    guard start < 1 << 48, size < 1 << 48 else { throw failure("a block that is nowhere") }
    return ArchiveBlock(start: Int(start), size: Int(size))
  }
}
