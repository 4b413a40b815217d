internal import Notes

/// The client's settings, and the phase of its connection.
struct ClientState {
  enum Phase { case new, ready, shutDown }

  var phase = Phase.new
  /// The exit status of the process, once it is to end.
  var exitStatus: Int32?
  /// The number of the process with which this one ends: `processId` of `initialize`, if there was such a process then.
  var parentProcess: Int?
  /// The units in which positions count.
  var encoding = PositionEncoding.utf16
  /// The author of the changes of this process, as histories and other participants name it; nil if it has no name.
  var participant: Author?
  /// True if the client is another process that exchanges changes: what it is told no user reads.
  var isExchange = false
  /// The state of a client that follows; nil if the client doesn't.
  var follower: Follower?
  /// True if the client wants `$/logTrace`.
  var isTracing = false
}
