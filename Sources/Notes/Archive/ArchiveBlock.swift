internal import ReplicatingTypes

/// Where the bytes of a block of an archive are.
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
