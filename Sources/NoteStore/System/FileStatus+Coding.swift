internal import ReplicatingTypes

extension ByteWriter {
  /// Writes the status of a file or folder, but for its kind.
  mutating func status(_ status: FileStatus) {
    for number in [status.device, status.inode, status.links, status.size] { varint(number) }
    signed(status.changed)
  }
}

extension ByteReader {
  /// Reads the status of a file or folder.
  mutating func status(
    _ kind: FileStatus.Kind
  ) throws(DecodingFailure) -> FileStatus {
    FileStatus(
      kind: kind, device: try varint(), inode: try varint(), links: try varint(),
      size: try varint(), changed: try signed())
  }
}
