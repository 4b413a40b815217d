internal import ReplicatingTypes

/// A record that was read from a log, of another session or of an earlier one of this process.
struct LogRecord: Sendable {
  /// The session that wrote it.
  var session: Identifier
  /// Its number in that session: 1 for the first, then one more each time.
  var number: UInt64
  /// The type that its writer gave it, a `RecordType` for those of this program.
  var type: UInt8
  /// The content, as its writer passed it to `append`.
  var payload: [UInt8]
}

/// A position in a session's chain of records: the number of a record and the hash after it.
///
/// The default is the position before the first record. Files with the same position have the same records of the session up to it,
/// in themselves or in earlier segments.
struct ChainPosition: Equatable {
  var number: UInt64 = 0
  var hash: UInt64 = 0
}

extension ByteWriter {
  /// Writes the number of a record and the hash after it.
  mutating func position(_ position: ChainPosition) {
    varint(position.number)
    fixed(position.hash)
  }
}

extension ByteReader {
  /// Reads a number of records, changes or bytes: small enough that no sum of such numbers overflows.
  mutating func amount() throws(DecodingFailure) -> UInt64 {
    let amount = try varint()
    guard amount < 1 << 60 else { throw failure("an amount of \(amount)") }
    return amount
  }

  /// Reads the number of a record and the hash after it.
  mutating func position() throws(DecodingFailure) -> ChainPosition {
    ChainPosition(number: try amount(), hash: try fixed(UInt64.self))
  }
}

/// The content of a record of a log.
enum RecordType: UInt8 {
  /// The next change of the session that the log is of.
  case change = 1
  /// Changes of any replicas, as a `ChangeSet`.
  case changes = 2
}
