internal import JSONRPC
internal import ReplicatingTypes

/// The result of the last exchanges with a peer.
struct PeerState {
  /// The time of the last exchange that was completed, in milliseconds since 1970; nil if there was none.
  var reached: Int64?
  /// The version of the peer at that time.
  var version = Version()
  /// The error of the last exchange; nil if it was completed.
  var failure: ResponseError?
  /// True while a link to the peer stands.
  var isLive = false

  /// The number of changes that the peer lacked when it was reached last. Of each replica it knows the first ones, or all.
  ///
  /// - Parameter ours: the version of the notebook here.
  func owed(_ ours: Version) -> UInt64 {
    ours.changes.reduce(0) { owed, last in
      owed + (last.number - min(last.number, version[last.replica]))
    }
  }
}

/// Everything about peers but the exchanges that are under way.
struct Peers {
  var states = PeerStates()
  /// The peers to exchange changes with all the time.
  var schedule: PeerSchedule
  /// The answered requests by which the client can leave peers again.
  var stays: [String: RequestID] = [:]
  /// The number of the exchange that was begun last.
  var lastExchange = 0
}

/// The states of the peers, by their addresses as the user gave them.
struct PeerStates {
  private var states: [String: PeerState] = [:]

  /// The most peers that are remembered: a client may name any number of addresses.
  private static let most = 1000

  /// Adds a peer of which nothing is known yet.
  mutating func insert(_ peer: String) {
    if states[peer] == nil, hasRoom(for: peer) { states[peer] = PeerState() }
  }

  /// Notes that an exchange was completed.
  ///
  /// - Parameters:
  ///   - version: the version of the peer now.
  ///   - time: milliseconds since 1970.
  mutating func exchanged(with peer: String, version: Version, at time: Int64) {
    guard hasRoom(for: peer) else { return }
    states[peer] = PeerState(
      reached: time, version: version, isLive: states[peer]?.isLive ?? false)
  }

  /// Notes that a link to the peer stands, or has ended.
  mutating func setLive(_ peer: String, _ isLive: Bool) { states[peer]?.isLive = isLive }

  /// Notes that an exchange has failed.
  mutating func failed(_ peer: String, _ error: ResponseError) {
    guard hasRoom(for: peer) else { return }
    states[peer, default: PeerState()].failure = error
  }

  private func hasRoom(for peer: String) -> Bool {
    states[peer] != nil || states.count < Self.most
  }

  /// Writes the member `peers` of `notebook/status`, in the order of the addresses.
  ///
  /// - Parameter ours: the version of the notebook here.
  func write(_ result: inout JSONWriter, knowing ours: Version) {
    result.key("peers")
    result.beginArray()
    for (peer, state) in states.sorted(by: { $0.key < $1.key }) {
      result.beginObject()
      result.member("peer", peer)
      if let reached = state.reached {
        result.member("reached", iso8601(reached))
        result.member("owed", Int(clamping: state.owed(ours)))
      }
      if state.isLive { result.member("live", true) }
      if let failure = state.failure { result.member("failure", failure.message) }
      result.endObject()
    }
    result.endArray()
  }
}
