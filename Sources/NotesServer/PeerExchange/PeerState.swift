public import JSONRPC
internal import NoteStore
internal import Notes
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

/// The client, if it is another notebook's process that is told at once what is new.
struct Follower {
  /// The time that a follower may say nothing: it is gone then, though the connection seems to stand.
  static let silence = Duration.seconds(45)

  var listener: Listener
  /// The time when something came from it last; nil until the first look at the clock after it.
  var heard: Instant?
}

/// The version of the notebook that the other end of a link knows, and the changes that it is to be told next.
///
/// A notebook that knows a change knows all that the change follows. So changes that came from there are known there, and are not told back.
struct Listener {
  /// The version that is known there once everything is read that was sent.
  private(set) var known: Version
  /// The last changes of the notebook when nothing was left to be told; nil if something may be.
  private var heads: [ChangeID]?

  init(knowing version: Version) { known = version }

  /// Notes that something is known there.
  mutating func learn(_ version: Version) { known.merge(version) }

  /// The next changes to be told, in logical time: at most `limit` bytes of them, or one change; nil if all is known there. They count as
  /// told. O(heads) if the notebook is as it was.
  mutating func next(
    of book: borrowing NoteBook, limit: Int
  ) throws(ArchiveFailure) -> ChangeSet? {
    let heads = book.revision.heads
    if heads == self.heads { return nil }
    let (changes, reached, isMore) = try book.changes(since: known, limit: limit)
    known.merge(reached)
    self.heads = isMore ? nil : heads
    return changes.isEmpty ? nil : changes
  }
}

/// An exchange with a peer that is under way: its state, its messages, and the request of the client that it answers.
///
/// The owner of the descriptors carries the bytes: it reaches `peer`, writes `outbox` to it, passes on what comes from it, and says
/// when the link has ended.
public struct RunningExchange {
  /// The request that is answered when the exchange has ended.
  struct Request {
    let id: RequestID
    /// The token of its progress as the client wrote it; nil if the client wants no reports.
    var progress: [UInt8]?
    /// True if changes are to be exchanged with the peer from then on.
    var stays = false
  }

  /// The number of the exchange. No other of this process has the same.
  public let id: Int
  /// The request that is to be answered; nil if the schedule began the exchange, or if it is answered.
  var request: Request?
  /// The state machine.
  var exchange: PeerExchange
  /// The part that is exchanged with a peer that knows other changes under the same names; nil where everything is.
  var shared: SharedPart?
  /// The messages as bytes.
  var wire: PeerWire
  /// The link, once the exchange is complete, if it stays.
  var link: StandingLink?

  /// The peer as the user has called it.
  public var peer: String { exchange.peer }

  /// Bytes that the peer is still to read.
  public var outbox: Outbox {
    get { wire.outbox }
    _modify { yield &wire.outbox }
  }

  /// A number that grows with each answer of the peer, and with each 16 KiB of one: not with its notifications, nor with single bytes.
  public var progress: Int { wire.progress }

  /// True if the exchange is complete and its link stays: then it has no end of its own, and the server finds out whether the peer is there.
  public var isStanding: Bool { link != nil }

  /// True if all was sent: the peer gets no further message and may end.
  public var isOver: Bool { exchange.state == .over }
}
