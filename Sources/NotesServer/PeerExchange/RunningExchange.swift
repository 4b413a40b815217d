public import JSONRPC
internal import Notes

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
  /// What is exchanged with a peer that knows other changes under the same names; nil where everything is.
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
