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
