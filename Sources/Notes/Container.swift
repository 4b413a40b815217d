// THE CONTAINER
//
// Every file but `decent.json` and the logs, and all changes that travel as bytes, consist of the same parts:
//
//     header    8A 44 4E 62 0D 0A, kind, 01, CRC-32C of these     12 bytes; 01 is the version of the kind's format
//     block     length, CRC-32C of the length, CRC-32C of the content, content     4 bytes each, the lowest first
//     footer    where the last block begins, and the length of its content         8 bytes each; only where blocks are read one by one
//
// The file of a kind says what its blocks hold, and what stands between them.
//
// The checksum of the length tells a block that is cut, as a kill in the middle of a write leaves it, from a damaged one.

internal import Bytes
public import ReplicatingTypes

/// The header and the blocks of files.
public enum Container {
  /// A kind of content. Its raw value is the byte before the version.
  public enum Kind: UInt8, Sendable {
    /// Changes that travel: `ChangeSet.swift`.
    case changes = 1
    /// Changes that stand for segments: `Snapshots/SnapshotFile.swift` in NoteStore.
    case snapshot
    /// A notebook put away: `Archive/NotebookArchive.swift`.
    case archive
    /// Files and the notes that they are: `Files/FileRecords.swift` in NotesServer.
    case fileRecords
    /// The attachments of a process: `JournalEntry.swift` in NotesServer.
    case journal
    /// Beside an archive, what the next start may believe: `Log/StartManifest.swift` in NoteStore.
    case manifest
    /// A session that is left to the next process: `Log/SessionTransfer.swift` in NoteStore.
    case transfer
    /// A message to other processes: `PresenceFolder.swift` in NoteStore.
    case presence
  }

  /// The version of all kinds.
  public static let version: UInt8 = 1
  private static let magic: [UInt8] = [0x8a, 0x44, 0x4e, 0x62, 0x0d, 0x0a]
  /// The number of bytes of a header.
  public static let headerSize = 12
  /// The number of bytes of a footer.
  public static let footerSize = 16
  /// The number of bytes of a block before its content.
  public static let prefixSize = 12

  /// The header of a kind.
  public static func header(_ kind: Kind) -> [UInt8] {
    var writer = ByteWriter(capacity: headerSize)
    writer.raw(magic + [kind.rawValue, version])
    writer.fixed(CRC32C.checksum(of: writer.bytes[...]))
    return writer.bytes
  }

  /// A header and one block.
  public static func encode(_ content: [UInt8], as kind: Kind) -> [UInt8] {
    var writer = ByteWriter(capacity: content.count + headerSize + prefixSize)
    writer.raw(header(kind))
    writer.block(content)
    return writer.bytes
  }

  /// The content of the one block behind a header.
  public static func decode(
    _ bytes: [UInt8], as kind: Kind
  ) throws(DecodingFailure) -> ArraySlice<UInt8> {
    var reader = ByteReader(bytes)
    try reader.header(kind)
    let content = try reader.block()
    guard reader.isAtEnd else { throw reader.failure("\(reader.remaining) bytes too many") }
    return content
  }

  /// True if bytes begin as a container does, of whatever kind and version.
  public static func isContainer(_ bytes: some Sequence<UInt8>) -> Bool {
    bytes.starts(with: magic)
  }

  /// The place of a block, and the number of bytes of its content.
  struct Block: Equatable, Sendable {
    var start: Int
    var size: Int

    /// All of its bytes.
    var bytes: Range<Int> { start..<start + Container.prefixSize + size }

    func encode(into writer: inout ByteWriter) {
      writer.varint(start)
      writer.varint(size)
    }
  }
}

extension ByteWriter {
  /// Writes a block.
  public mutating func block(_ content: some Collection<UInt8>) {
    let start = beginBlock()
    raw(content)
    endBlock(start)
  }

  /// Begins a block, whose content is written next. Returns where it begins, for `endBlock`.
  public mutating func beginBlock() -> Int {
    fixed(UInt64(0))
    fixed(UInt32(0))
    return bytes.count - Container.prefixSize
  }

  /// Ends the block that begins at `start`: its content is all behind its prefix.
  public mutating func endBlock(_ start: Int) {
    let content = start + Container.prefixSize
    replace(UInt32(bytes.count - content), at: start)
    replace(CRC32C.checksum(of: bytes[start..<start + 4]), at: start + 4)
    replace(CRC32C.checksum(of: bytes[content...]), at: start + 8)
  }
}

extension ByteReader {
  /// Reads the header of a container, which has to be of this kind. A later version is told from damage.
  public mutating func header(_ kind: Container.Kind) throws(DecodingFailure) {
    let start = self
    let header = Container.header(kind)
    let found = try raw(Container.headerSize - 4)
    let version = found.last!
    guard found.dropLast().elementsEqual(header.prefix(found.count - 1)),
      try fixed(UInt32.self) == CRC32C.checksum(of: found)
    else { throw start.failure("this does not begin as it should") }
    guard version <= Container.version else {
      throw start.failure("of a later format (\(version))", isOfLaterVersion: true)
    }
    guard version == Container.version else { throw start.failure("of no format (\(version))") }
  }

  /// Reads a block; returns its content.
  public mutating func block() throws(DecodingFailure) -> ArraySlice<UInt8> {
    let start = self
    guard let content = try blockIfComplete() else {
      throw start.failure("a block that is cut")
    }
    return content
  }

  /// Reads a block; `nil` if it is cut, where `self` stays.
  public mutating func blockIfComplete() throws(DecodingFailure) -> ArraySlice<UInt8>? {
    guard remaining >= Container.prefixSize else { return nil }
    let start = self
    let length = try raw(4)
    guard try fixed(UInt32.self) == CRC32C.checksum(of: length) else {
      throw start.failure("a wrong checksum of the length of a block")
    }
    let sum = try fixed(UInt32.self)
    let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
    guard count <= remaining else {
      self = start
      return nil
    }
    let content = try raw(count)
    guard CRC32C.checksum(of: content) == sum else {
      throw start.failure("a wrong checksum of a block")
    }
    return content
  }

  /// Reads the place of a block.
  mutating func blockPlace() throws(DecodingFailure) -> Container.Block {
    let (start, size) = (try varint(), try varint())
    guard start < 1 << 48, size < 1 << 48 else { throw failure("a block that is nowhere") }
    return Container.Block(start: Int(start), size: Int(size))
  }
}
