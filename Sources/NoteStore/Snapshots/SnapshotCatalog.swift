internal import Notes
internal import ReplicatingTypes

/// The snapshots in the folder: which ones are known, which are being read, and when compaction is due.
struct SnapshotCatalog {
  /// Those whose changes are all known, by their names.
  var known: [String: KnownSnapshot] = [:]
  /// Those that cannot be read, with the status that they had then: they are not read again before that changes.
  var unreadable: [String: FileStatus] = [:]
  /// Those that are being read.
  var reading: (news: SnapshotNews, files: [SnapshotFile])?
  /// Pieces of sessions that wait for the records before them.
  var waiting: [SessionPiece] = []
  /// Those whose bytes this process has compared with the hash in their names.
  var verified: [String: FileStatus] = [:]
  /// A snapshot is written when there are this many new complete segments, or bytes in them.
  var enough: (files: Int, bytes: UInt64) = (64, 1 << 20)
  /// The time of the next look for files that can be removed, by the clock that file times are taken from.
  var sweepDue: Int64?
  /// The number of the notebook's redactions (`NoteBook.redactions`) when the folder was last looked through for words of notes that
  /// were purged.
  var redactionsLooked = 0
  /// After a failure nothing is folded before this time.
  var pause: Int64 = .min

  /// True if the snapshots being read are so small that reading them at once is not noticed: 1 MiB.
  var isReadingLittle: Bool {
    guard let files = reading?.files else { return false }
    return files.reduce(0) { $0 + $1.status.size } <= 1 << 20
  }
}

/// A snapshot that was read.
struct KnownSnapshot: Equatable {
  /// Its status when it was read.
  let status: FileStatus
  /// The changes in it, for each replica: 16 bytes, and two varints, the first number and how many more. Encoded, because
  /// it is read only when the file is gone.
  let holdings: [UInt8]
  /// The number of purged notes of which it was found to have no words.
  var purged = 0

  init(_ file: SnapshotFile) {
    status = file.status
    var writer = ByteWriter()
    for (replica, numbers) in file.changes.ranges {
      writer.identifier(replica)
      writer.varint(numbers.lowerBound)
      writer.varint(numbers.upperBound - numbers.lowerBound)
    }
    holdings = writer.bytes
  }

  init(decoding reader: inout ByteReader) throws(DecodingFailure) {
    status = try reader.status(.file)
    holdings = Array(try reader.counted())
    purged = try reader.count()
  }

  func encode(into writer: inout ByteWriter) {
    writer.status(status)
    writer.counted(holdings)
    writer.varint(purged)
  }

  /// True if all changes that it held are in `others`.
  func isHeld(by others: [Identifier: NumberRanges]) -> Bool {
    var reader = ByteReader(holdings)
    while !reader.isAtEnd {
      guard let replica = try? reader.identifier(), let first = try? reader.varint(),
        let more = try? reader.varint(),
        case (let last, let overflow) = first.addingReportingOverflow(more),
        !overflow, others.contains(first...last, of: replica)
      else { return false }
    }
    return true
  }
}
