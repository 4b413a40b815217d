internal import ReplicatingTypes

/// When a change was made: by logical time, which orders changes, and by its author's clock, which people read.
struct Moment: Equatable, Sendable {
  /// Where the logical time of the change begins. No two changes have the same, and a change has a later one than all that
  /// its author had seen.
  var logical: LamportTimestamp
  /// Milliseconds since 1970.
  var clock: Int64
}
