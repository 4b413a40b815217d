/// The content of a record of a log.
enum RecordType: UInt8 {
  /// The next change of the session that the log is of.
  case change = 1
  /// Changes of any replicas, as a `ChangeSet`.
  case changes = 2
}
