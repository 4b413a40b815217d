internal import Bytes
internal import Notes
internal import ReplicatingTypes

// THE FORMAT OF A SNAPSHOT
//
// A snapshot holds the changes of many segments, packed, and names the records of sessions that it stands for.
//
//   snap/<32 hex>.snap      the first 16 bytes of SHA-256 of the file; written once, never changed
//
// A container (Container.swift in Notes): a header, the coverage as a block of at most 2^28 bytes, and packed changes
// (Packed/PackedChanges.swift in Notes) to the end of the file.
//
//     coverage = redactions count*piece      redactions: one more than the snapshots have that it takes the place
//                                            of because of words of notes that were purged, and no less than any other; or 0
//     piece    = session               16 bytes
//                number hash changes   of the last record before the piece; 0, zeros and 0 for the first piece of a session
//                number hash changes   of the last record of the piece: both numbers less those before
//
// where the hash, 8 bytes, is that of the session's chain after the record, and `changes` is the number of records up to it
// that are changes of the session itself (the number of the next change follows from it, and is not in its record). Numbers
// are varints. Pieces are in the order of their sessions, those of one session in the order of their records, and do not touch.
//
// A piece names the positions before and after its records, like a segment's header and end. A process that has read the
// snapshot need not read these records. The file may hold changes that no piece covers, and changes that follow others which
// are elsewhere.
//
// A block is compressed by itself, and its checksum is that of what is stored. So a damaged byte is found before anything is made of it, and costs the
// changes of its block, at most 64 KiB of them or one that is longer. All other blocks are read. The coverage and the directory, which a start reads, are
// not compressed.
//
// The saving, on 2026-11-25 (`Benchmarks packed`): 368,345 bytes of twenty imported files take 170,618; 1,000 notes of 1 kB 348,492 in place
// of 1,025,799; automerge-paper, typed by a person, 459,505 in place of 530,907, of which nine tenths are noise in the times of keys. Reading a
// megabyte of text takes 0.8 ms longer, writing it 15.
//
// The name is the hash of the bytes, and equal knowledge makes equal bytes: two processes that fold the same logs write the
// same file. It is complete and on disk when it gets its name. Copies under other names are as good.

/// A position in a session's chain of records, with the number of records up to it that are changes of the session.
struct SessionPoint: Equatable, Hashable {
  var number: UInt64 = 0
  var hash: UInt64 = 0
  var changes: UInt64 = 0
}

/// Consecutive records of a session.
struct SessionPiece: Equatable {
  var session: Identifier
  var start: SessionPoint
  var end: SessionPoint

  /// The numbers of the records.
  var numbers: ClosedRange<UInt64> { start.number + 1...end.number }
}

enum SnapshotFormat {
  /// The number of bytes before the coverage.
  static let prefixSize = Container.headerSize + Container.prefixSize
  /// The most bytes that the coverage may have.
  static let maximumCoverage: UInt64 = 1 << 28
  static let folder = "snap"
  /// The number of digits of its hash that make the name of a file.
  static let digits = 32

  /// The beginning of a file, up to the packed changes.
  static func head(_ coverage: [SessionPiece], redactions: UInt64 = 0) -> [UInt8] {
    var list = ByteWriter(capacity: 48 * coverage.count + 8)
    list.varint(redactions)
    list.varint(coverage.count)
    for piece in coverage {
      list.identifier(piece.session)
      list.varint(piece.start.number)
      list.raw(piece.start.hash.bytes)
      list.varint(piece.start.changes)
      list.varint(piece.end.number - piece.start.number)
      list.raw(piece.end.hash.bytes)
      list.varint(piece.end.changes - piece.start.changes)
    }
    return Container.encode(list.bytes, as: .snapshot)
  }

  /// Each takes a purge and a compaction. No snapshot says more.
  static let mostRedactions: UInt64 = 1 << 48

  /// Decodes the coverage.
  static func coverage(
    decoding bytes: ArraySlice<UInt8>
  ) throws(DecodingFailure) -> [SessionPiece] {
    var decoder = CoverageDecoder(size: UInt64(bytes.count))
    try decoder.take(bytes)
    return decoder.coverage
  }

  /// Decodes a coverage that is read in slices, so that a long one that is none ends where it stops being one.
  struct CoverageDecoder {
    /// The bytes of a piece, at least and at most.
    private static let pieceSize: (least: UInt64, most: Int) = (36, 72)

    private(set) var coverage: [SessionPiece] = []
    private(set) var redactions: UInt64 = 0
    /// The number of bytes that were not taken yet.
    private var left: UInt64
    private let size: UInt64
    /// The number of pieces; nil before the first bytes.
    private var count: UInt64?
    private var rest: [UInt8] = []

    /// - Parameter size: the number of bytes of the coverage.
    init(size: UInt64) {
      self.size = size
      left = size
    }

    /// Takes the next bytes of the coverage.
    mutating func take(_ bytes: ArraySlice<UInt8>) throws(DecodingFailure) {
      rest += bytes
      left -= UInt64(bytes.count)
      var reader = ByteReader(rest)
      if count == nil {
        redactions = try reader.varint()
        guard redactions <= SnapshotFormat.mostRedactions else {
          throw reader.failure("\(redactions) redactions")
        }
        count = try reader.varint()
      }
      let count = count!
      guard count <= size / Self.pieceSize.least else {
        throw reader.failure("more pieces than there is room for")
      }
      while coverage.count < count, left == 0 || reader.remaining >= Self.pieceSize.most {
        coverage.append(try piece(&reader))
      }
      if UInt64(coverage.count) == count, left > 0 || !reader.isAtEnd {
        throw reader.failure("more than the pieces")
      }
      rest = Array(rest.suffix(reader.remaining))
    }

    private func piece(_ reader: inout ByteReader) throws(DecodingFailure) -> SessionPiece {
      let session = try reader.identifier()
      let start = try point(&reader)
      let records = try reader.varint()
      let hash = UInt64(bigEndian: try reader.raw(8))
      let changes = try reader.varint()
      let (number, overflow) = start.number.addingReportingOverflow(records)
      guard records > 0, !overflow, changes <= records else {
        throw reader.failure("a piece of no records, or of too many")
      }
      if let last = coverage.last {
        guard last.session < session || last.session == session && last.end.number < start.number
        else { throw reader.failure("pieces out of order") }
      }
      let end = SessionPoint(number: number, hash: hash, changes: start.changes + changes)
      return SessionPiece(session: session, start: start, end: end)
    }
  }

  private static func point(_ reader: inout ByteReader) throws(DecodingFailure) -> SessionPoint {
    let number = try reader.varint()
    let hash = UInt64(bigEndian: try reader.raw(8))
    let point = SessionPoint(number: number, hash: hash, changes: try reader.varint())
    guard point.changes <= number, number > 0 || hash == 0 else {
      throw reader.failure("a place that can't be")
    }
    return point
  }
}

/// The place of a snapshot in the order by which one of two that say the same is removed: the smaller one goes. Why this order: Compaction.swift.
struct SnapshotRank: Comparable {
  private let redactions: UInt64
  private let changes: UInt64
  private let records: UInt64
  private let size: UInt64
  private let name: String

  /// O(coverage + replicas).
  init(
    _ head: SnapshotFormat.CoverageDecoder, _ changes: PackedChanges, size: UInt64, _ name: String
  ) {
    redactions = head.redactions
    self.changes = Self.count(changes.ranges.map(\.numbers))
    records = Self.count(head.coverage.map(\.numbers))
    self.size = size
    self.name = name
  }

  private static func count(_ ranges: [ClosedRange<UInt64>]) -> UInt64 {
    ranges.reduce(0) { sum, numbers in
      // A forged file may have any numbers.
      let (next, overflow) = sum.addingReportingOverflow(numbers.upperBound - numbers.lowerBound)
      return overflow || next == .max ? .max : next + 1
    }
  }

  static func < (a: SnapshotRank, b: SnapshotRank) -> Bool {
    (a.redactions, a.changes, a.records, a.size, a.name)
      < (b.redactions, b.changes, b.records, b.size, b.name)
  }
}

/// A snapshot in the folder: the records that it covers, a directory of its changes, and its blocks on demand.
final class SnapshotFile {
  let name: String
  let status: FileStatus
  let coverage: [SessionPiece]
  /// How often it was written in the place of another one because of words of notes that were purged.
  let redactions: UInt64
  let changes: PackedChanges
  /// The place in the order by which one of two snapshots that say the same is removed: see Compaction.swift.
  let rank: SnapshotRank
  private let file: OpenDescriptor
  /// The offset of the packed changes.
  private let start: UInt64

  var descriptor: FileDescriptor { _read { yield file.descriptor } }
  var path: String { file.descriptor.path }

  /// Opens the file called `name`; nil if it is no snapshot.
  ///
  /// - Throws: `damaged` or `newerFormat` when it should be one and cannot be read; or the system's error.
  /// - Complexity: O(coverage + directory).
  init?(_ name: String, in folder: borrowing FileDescriptor) throws(StoreError) {
    guard let opened = try folder.regularFile(name) else { return nil }
    let status = try opened.status()
    let path = opened.path
    self.name = name
    self.status = status
    file = OpenDescriptor(opened)
    guard let (head, start) = try Self.head(of: file.descriptor, status.size, name) else {
      return nil
    }
    coverage = head.coverage
    redactions = head.redactions
    self.start = start
    let length = Int(clamping: status.size - start)
    let footer = try file.descriptor.bytes(
      start + UInt64(max(0, length - PackedChanges.footerLength))..<status.size)
    let range = try Self.decoded(path) { () throws(DecodingFailure) in
      try PackedChanges.directory(in: length, footer: footer[...])
    }
    let directory = try file.descriptor.bytes(
      start + UInt64(range.lowerBound)..<start + UInt64(range.upperBound))
    changes = try Self.decoded(path) { () throws(DecodingFailure) in
      try PackedChanges(directory: directory[...], at: range.lowerBound)
    }
    rank = SnapshotRank(head, changes, size: status.size, name)
  }

  /// Calls `body`; a failure becomes an error about the file at `path`.
  private static func decoded<Result>(
    _ path: String, _ body: () throws(DecodingFailure) -> Result
  ) throws(StoreError) -> Result {
    do { return try body() } catch { throw damaged(path, error.reason) }
  }

  /// The records that the file called `name` covers, without reading its changes; nil if it is no snapshot.
  static func coverage(
    of name: String, in folder: borrowing FileDescriptor
  ) throws(StoreError) -> [SessionPiece]? {
    guard let opened = try folder.regularFile(name) else { return nil }
    return try head(of: opened, try opened.status().size, name)?.head.coverage
  }

  private static func head(
    of file: borrowing FileDescriptor, _ size: UInt64, _ name: String
  ) throws(StoreError) -> (head: SnapshotFormat.CoverageDecoder, end: UInt64)? {
    let prefix = try file.read(SnapshotFormat.prefixSize, at: 0)
    do {
      var reader = ByteReader(prefix)
      try reader.header(.snapshot)
    } catch {
      guard isName(name) || error.isOfLaterVersion else { return nil }
      throw StoreError(
        operation: "read", path: file.path,
        reason: error.isOfLaterVersion ? .newerFormat : .damaged,
        detail: error.isOfLaterVersion ? error.reason : "no snapshot, or not all of it")
    }
    guard prefix.count == SnapshotFormat.prefixSize else {
      throw damaged(file.path, "not all of it")
    }
    func word(_ place: Int) -> UInt32 { prefix[...].integer(at: place, as: UInt32.self) }
    let start = Container.headerSize
    guard CRC32C.checksum(of: prefix[start..<start + 4]) == word(start + 4) else {
      throw damaged(file.path, "a wrong checksum at its beginning")
    }
    let count = UInt64(word(start))
    let end = UInt64(SnapshotFormat.prefixSize) + count
    // Neither the length nor the size of a file (which may have holes) proves that the bytes are there.
    guard count <= SnapshotFormat.maximumCoverage else {
      throw damaged(file.path, "a coverage of \(count) bytes")
    }
    guard end <= size else {
      throw damaged(file.path, "not all of it")
    }
    var decoder = SnapshotFormat.CoverageDecoder(size: count)
    var sum = CRC32C()
    var failure: DecodingFailure?
    var offset = UInt64(SnapshotFormat.prefixSize)
    while offset < end {
      let bytes = try file.bytes(offset..<min(offset + sliceSize, end))
      offset += UInt64(bytes.count)
      sum.update(bytes[...])
      do { try decoder.take(bytes[...]) } catch {
        // Of a short one all is read, to tell damage from what was never a coverage.
        failure = error
        if offset < end { throw damaged(file.path, error.reason) }
      }
    }
    guard sum.value == word(start + 8) else {
      throw damaged(file.path, "a wrong checksum at its beginning")
    }
    if let failure { throw damaged(file.path, failure.reason) }
    return (decoder, end)
  }

  /// The number of bytes of a coverage that are read at once.
  private static let sliceSize: UInt64 = 256 << 10

  /// True if the name is one that only a snapshot has.
  static func isName(_ name: String) -> Bool {
    name.hasSuffix(".snap") && Identifier(name.dropLast(5)) != nil
  }

  static let otherContent = "its content is not what its name says"

  static func damaged(_ path: String, _ reason: String) -> StoreError {
    StoreError(operation: "read", path: path, reason: .damaged, detail: reason)
  }

  /// The packed bytes of a block.
  func bytes(of block: PackedChanges.Block) throws(StoreError) -> [UInt8] {
    try file.descriptor.bytes(
      start + UInt64(block.bytes.lowerBound)..<start + UInt64(block.bytes.upperBound))
  }

  /// The changes of a block.
  func read(_ block: PackedChanges.Block) throws(StoreError) -> ChangeBlock {
    let bytes = try bytes(of: block)
    do { return try changes.decode(block, bytes[...]) } catch {
      throw Self.damaged(
        path, "\(error.reason), in the block at \(start + UInt64(block.bytes.lowerBound))")
    }
  }
}

extension FileDescriptor {
  /// Bytes that are in the file.
  fileprivate func bytes(_ range: Range<UInt64>) throws(StoreError) -> [UInt8] {
    let bytes = try read(Int(clamping: range.upperBound - range.lowerBound), at: range.lowerBound)
    guard bytes.count == range.count else { throw SnapshotFile.damaged(path, "it became shorter") }
    return bytes
  }
}

extension UInt64 {
  /// The bytes of a hash, in the order in which it is printed.
  fileprivate var bytes: [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: self >> UInt64(56 - 8 * $0)) }
  }

  fileprivate init(bigEndian bytes: ArraySlice<UInt8>) {
    self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension SnapshotFormat {
  /// The name of a snapshot whose bytes have this hash.
  static func name(of hash: SHA256) -> String { hash.hexDigest.prefix(digits) + ".snap" }
}
