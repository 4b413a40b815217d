internal import Bytes
import ReplicatingTypes

// THE FORMAT OF A LOG FILE
//
// Integers are little-endian, identities and hashes are bytes in the order in which they are printed.
//
//   header, 72 bytes
//      0   8  magic: 8A 44 4E 6C 6F 67 0D 0A. Not ASCII at the front and a line end at the back, so
//             that a transfer that rewrites text is noticed at once.
//      8   4  format version: 1
//     12   4  segment: 0 for the first file of a session, then one more each time
//     16  16  notebook
//     32  16  session
//     48   8  records of the session that stand in earlier segments: 0 for segment 0, and only there
//     56   8  hash at the end of the segment before: 0 for segment 0
//     64   8  hash: the first 8 bytes of SHA-256 of bytes 0–63
//
//   record, repeated to the end of the file
//      0   4  bits 0–26: n, how many bytes follow the checksum, at least 10. All records of
//             an append together take at most 2^26 bytes
//             bits 27–30: 0
//             bit 31: more records of the same append follow this one
//      4   4  CRC-32C of the four bytes before and of type, number and payload
//      8   1  type: see `RecordType`; without a meaning in this layer
//      9   v  number: 1 for a session's first record, then one more each time; as a varint (seven
//             bits a byte, lowest first, no needless zero at the end)
//    9+v   …  payload: without a meaning in this layer
//      …   8  hash: the first 8 bytes of SHA-256 of everything from the hash before (the header's, or
//             the record's before) to the end of the payload
//
// A record takes 18 bytes more than its payload, 19 from the 128th of its session on, 20 from the 16,384th on.
//
// The checksum detects accidents inside one record. The hash chains the records: it detects a record left out, moved,
// taken from another file, and two different continuations of one session (a process whose virtual machine was set back to an
// earlier state). Two files with the same hash after record k go on after the same k records. 64 bits are enough against accidents.
// They need not be enough against forgery: a program that may write into the folder can add a session of its own anyway.
//
// SEGMENTS
//
// A session is a chain of records. The chain is cut into files, the segments, so that most records soon stand in files that
// are not written any more. A synchronisation engine that replaces a file with an older copy can harm only the open segment.
//
//   log/<session>/<segment>.open          open, or its writer was killed
//   log/<session>/<segment>-<hash8>.seg   complete; never changed again; removed by any process once it is folded, or when a longer
//                                         one has its place
//   log/<session>/<segment>-<hash8>-end.seg   the same, and the session has ended with it
//
// where hash8 is the first eight digits of the hash of its last record, in lower case, and the segment is a decimal
// number. A file is completed by a change of its name when all of it is on disk. The next segment may have been begun
// before that. A reader needs no name: the header of a segment holds the position of the record before it.
//
// A process to which a session is transferred writes `<segment>.open` anew, with all of the complete file in front of its own records,
// and removes that file when the longer one is complete and on disk: Log/SessionTransfer.swift.
//
// What a killed process has left is completed by another one, which copies it: Log/SessionCompletion.swift.
//
// A process that ends in order marks the end in the name of its last segment, unless that was complete before. Such a session
// has no more records, so a reader that has read it to the end need not list its folder again. Any other session may always
// get more records.
//
// Segments are not compressed, also when they are complete. By LZ4 in blocks of 64 KiB (LZ4/LZ4.swift in Bytes) they would take 73 % of their bytes where
// their records are keystrokes, of which 12 of 34 bytes are checksum and hash, and 42 % where they are imported files (2026-11-25). But no more than
// 1 MiB of them waits to be folded into a snapshot, which is compressed, and what was folded is gone a day later. For half a megabyte less a file
// would be completed by writing all of it a second time, in place of a change of its name, and a damaged byte would take what stands behind it
// in its block, where it takes one record.
//
// A complete file may be removed once a snapshot has stood for it for a day: Snapshots/Compaction.swift. So the first file of
// a session may have any number; the records before it are known from a snapshot, or the file waits for them.
//
// Readers recognise files by their first eight bytes, whatever their names are: the copies that synchronisation engines make
// of a file with two versions are more input. Names that begin with `.` or `~` or end in `.tmp`, `.partial`, `.part`,
// `.filepart` or `.!sync` are not read: such files are not finished. Records that stand in several files count once.
// A segment whose predecessors are missing is not damaged; it waits for them. It is damaged if the hash before it is not that of
// the record before it: then it belongs to a divergent history of the session. It is damaged, too, if its name is that of a
// complete segment and it does not end with the hash in the name.
//
// WHY A CRASH AT ANY POINT IS SAFE
//
// A file has one writer, which only appends, with one write per append (what stands before goes with the first),
// and no process opens it for writing again. So after a crash of the process the file is what was written, up to some
// byte. Records before that byte are complete and read as before. The append that the byte cuts is
// missing its end: either a length that reaches past the end of the file, or a record that announces
// another. Readers take appends whole or not at all, so it did not happen, and since no process appends to
// that file any more, it never will. If the writer is alive and the reader only came in the middle of an
// append, the rest arrives and the append is read then. The same holds for copies that a
// synchronisation engine delivers in pieces.
//
// A change of name is one step. It happens after the bytes are on disk, so after a crash of the machine the whole file
// is there under one name or the other. The next segment may be on disk when the one before is not. Then it waits for ever;
// but none of its records was reported as on disk, because that is counted in the order of the records. If a
// segment cannot be put on disk, its session ends, and all later records of the session are written again elsewhere.
//
// After a crash of the machine, what was not synchronized may also be zeros or old bytes: that is a
// complete record whose checksum is wrong (zeros are a length of 0, which is too small). It ends the
// valid part of the file, and it is reported. What is valid before it stays.
//
// WHAT CAN BE READ BEHIND DAMAGE
//
// A record behind damage is found by its own checksum and by the hash in front of it. Its number tells which records are
// missing before it; it waits for them like a segment that came too early. A copy of the file may bring them.
//
// Some damage loses nothing:
// - A header with one wrong bit is restored from its hash. Any other damaged header is restored from the names of the file
//   and its folder and the records before it, if the file's chain begins with the hash of the restored header.
// - A record with a damaged length or checksum ends where the next record begins, or where the file ends. The hash at its
//   end, which covers both, proves it.
//
// A length that reaches past the end of a file is damage if a later record follows, and else an append that is not complete
// yet.

/// The limits and constants of the format.
enum LogFormat {
  static let magic: [UInt8] = [0x8a, 0x44, 0x4e, 0x6c, 0x6f, 0x67, 0x0d, 0x0a]
  static let version: UInt32 = 1
  static let headerSize = 72
  /// Length and checksum.
  static let prefixSize = 8
  static let hashSize = 8
  /// The smallest n: type, one byte of number, no payload, hash.
  static let minimumLength = 10
  /// The most bytes that the records of one append may have: 64 MiB.
  static let maximumAppend = 1 << 26
  /// The largest size of a record without its payload.
  static let maximumOverhead = prefixSize + 1 + 10 + hashSize
  static let moreFollows: UInt32 = 1 << 31
}

/// The header of a log file.
struct LogHeader: Equatable {
  var notebook: Identifier
  var session: Identifier
  var segment: UInt32 = 0
  var recordsBefore: UInt64 = 0
  var hashBefore: UInt64 = 0

  /// The reason why bytes are not a header.
  enum Failure: Error {
    /// The file does not begin like a log.
    case foreign
    /// The beginning of a header; the rest is not there yet.
    case incomplete
    case newerFormat(UInt32)
    case damaged
  }

  /// The 72 bytes of the header.
  func encoded() -> [UInt8] {
    var bytes = LogFormat.magic
    bytes.appendInteger(LogFormat.version)
    bytes.appendInteger(segment)
    for word in [notebook.high, notebook.low, session.high, session.low] {
      bytes.appendInteger(word.byteSwapped)
    }
    bytes.appendInteger(recordsBefore)
    bytes.appendInteger(hashBefore.byteSwapped)
    bytes.appendInteger(SHA256.prefix64(of: bytes[...]).byteSwapped)
    return bytes
  }

  /// Reads a header from the first bytes of a file. The hash that the chain begins with is the last
  /// eight of its bytes.
  init(decoding bytes: ArraySlice<UInt8>) throws(Failure) {
    let magic = bytes.prefix(LogFormat.magic.count)
    guard magic.elementsEqual(LogFormat.magic.prefix(magic.count)) else { throw .foreign }
    guard bytes.count >= LogFormat.headerSize else { throw .incomplete }
    let start = bytes.startIndex
    let version = bytes.integer(at: start + 8, as: UInt32.self)
    guard version <= LogFormat.version else { throw .newerFormat(version) }
    guard Self.isIntact(bytes) else { throw .damaged }
    func word(_ at: Int) -> UInt64 { bytes.integer(at: start + at, as: UInt64.self) }
    segment = bytes.integer(at: start + 12, as: UInt32.self)
    notebook = Identifier(high: word(16).byteSwapped, low: word(24).byteSwapped)
    session = Identifier(high: word(32).byteSwapped, low: word(40).byteSwapped)
    recordsBefore = word(48)
    hashBefore = word(56).byteSwapped
    // No segment is empty, so there are records before every segment but the first.
    guard isPossible, version == LogFormat.version else { throw .damaged }
  }

  private var isPossible: Bool {
    (segment == 0) == (recordsBefore == 0) && (segment > 0 || hashBefore == 0)
  }

  /// True if the hash at the end of a header's bytes is right, whatever they mean.
  static func isIntact(_ bytes: ArraySlice<UInt8>) -> Bool {
    let hash = bytes.integer(at: bytes.startIndex + 64, as: UInt64.self).byteSwapped
    return hash == SHA256.prefix64(of: bytes.prefix(64))
  }

  /// Restores a header of which one bit is wrong in `bytes`; nil if more is wrong. The hash proves the result.
  init?(mending bytes: [UInt8]) {
    guard bytes.count >= LogFormat.headerSize else { return nil }
    var bytes = bytes
    for bit in 0..<(8 * LogFormat.headerSize) {
      bytes[bit / 8] ^= 1 << (bit % 8)
      if let header = try? LogHeader(decoding: bytes[...]) {
        self = header
        return
      }
      bytes[bit / 8] ^= 1 << (bit % 8)
    }
    return nil
  }

  /// A header with values that were found out elsewhere; nil if they contradict each other.
  init?(
    notebook: Identifier, session: Identifier, segment: UInt32, before: ChainPosition
  ) {
    self.init(notebook: notebook, session: session)
    self.segment = segment
    (recordsBefore, hashBefore) = (before.number, before.hash)
    guard isPossible else { return nil }
  }

  /// The hash at its end, with which the chain of its file begins.
  var hash: UInt64 { encoded()[64...].integer(at: 64, as: UInt64.self).byteSwapped }

  /// The header of a session's first segment.
  init(notebook: Identifier, session: Identifier) {
    self.notebook = notebook
    self.session = session
  }

  /// The header of the segment after the one that begins with `header` and ends at `end`; nil after the last possible number.
  init?(after header: LogHeader, end: ChainPosition) {
    self.init(notebook: header.notebook, session: header.session)
    guard header.segment < .max else { return nil }
    segment = header.segment + 1
    (recordsBefore, hashBefore) = (end.number, end.hash)
  }
}

/// Encodes records as the bytes of one append, and keeps the position in the chain.
struct LogEncoder {
  /// The number of the last record that was accepted.
  private(set) var number: UInt64
  /// The hash that the next record continues.
  private(set) var hash: UInt64
  /// The bytes to write begin at `start`. In front of them stands the hash before the first record, which its own hash covers.
  private(set) var bytes: [UInt8] = []
  private(set) var start = 0
  private var isHeaderWritten = false
  private var pending: (number: UInt64, hash: UInt64) = (0, 0)

  /// An encoder for a new file whose first append begins with `header`.
  init(header: LogHeader) {
    bytes = header.encoded()
    number = header.recordsBefore
    hash = header.hash
  }

  /// An encoder for a new file whose first append begins with `content`, all of a file of the same segment that ends at `end`.
  init(content: [UInt8], end: ChainPosition) {
    bytes = content
    (number, hash) = (end.number, end.hash)
  }

  /// Encodes `records` as one append. Call `accept` when the bytes are written.
  mutating func encode(_ records: [(type: UInt8, payload: [UInt8])]) {
    if isHeaderWritten {
      // The buffer is kept from append to append, unless one was unusually large.
      bytes.removeAll(keepingCapacity: bytes.count <= 1 << 20)
      bytes.appendInteger(hash.byteSwapped)
      start = LogFormat.hashSize
    }
    pending = (number, hash)
    for index in records.indices {
      pending.number += 1
      let at = bytes.count
      bytes.appendInteger(UInt64(0))
      bytes.append(records[index].type)
      bytes.appendVarint(pending.number)
      bytes += records[index].payload
      var length = UInt32(bytes.count - at)  // from the type on, plus the hash
      if index + 1 < records.count { length |= LogFormat.moreFollows }
      bytes.setInteger(length, at: at)
      var sum = CRC32C()
      sum.update(bytes[at..<(at + 4)])
      sum.update(bytes[(at + 8)...])
      bytes.setInteger(sum.value, at: at + 4)
      pending.hash = SHA256.prefix64(of: bytes[(at - LogFormat.hashSize)...])
      bytes.appendInteger(pending.hash.byteSwapped)
    }
  }

  /// Moves the position behind the encoded records, which are in the file now.
  mutating func accept() {
    (number, hash) = pending
    isHeaderWritten = true
  }
}

extension [UInt8] {
  mutating func appendInteger(_ value: some FixedWidthInteger & BitwiseCopyable) {
    // Appended at once: byte by byte, it would cost more than the hash.
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  mutating func appendVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  mutating func setInteger<Integer: FixedWidthInteger>(_ value: Integer, at index: Int) {
    for i in 0..<(Integer.bitWidth / 8) {
      self[index + i] = UInt8(truncatingIfNeeded: value >> Integer(8 * i))
    }
  }
}

extension ArraySlice<UInt8> {
  /// The little-endian integer at `index`; its bytes must be inside.
  func integer<Integer: FixedWidthInteger>(at index: Int, as: Integer.Type) -> Integer {
    precondition(Integer.bitWidth <= 64)
    var value: UInt64 = 0
    var next = index + Integer.bitWidth / 8
    while next > index {
      next &-= 1
      value = value &<< 8 | UInt64(truncatingIfNeeded: self[next])
    }
    return Integer(truncatingIfNeeded: value)
  }
}
