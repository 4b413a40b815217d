internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// A link that stays after an exchange. Each side tells the other at once what is new:
//
//     we ask                                              the peer tells
//     notebook/merge {changes}      what is new here      notebook/newChanges {changes}     what is new there
//     notebook/follow {}            every ten seconds: we are still here, are you?
//     notebook/presence             (a notification, both ways) where participants are
//
// The peer answers each request of ours, so a link is alive as long as answers come. It is given up when for half a minute none does.
// The next link begins with an exchange, which finds the changes that were sent and not merged there.

/// A link to a peer after the exchange that it began with.
struct StandingLink {
  /// The pause after which the peer is asked whether it is there, if nothing else was asked.
  static let pulse = Duration.seconds(10)
  /// A peer that does not answer for so long is given up.
  static let silence = Duration.seconds(30)
  /// The most pieces under way. What is made meanwhile goes with the next ones.
  private static let mostUnderWay = 16

  var listener: Listener
  /// The number of pieces that the peer has not accepted yet.
  private(set) var underWay = 0
  /// A process that looks at the clock this much later than it has meant to was stopped, or its machine slept. Then the peer is asked at
  /// once, and the answer has to come soon: where the machine has moved to another network, none ever comes.
  private static let sleep = Duration.seconds(2)
  private static let patience = Duration.seconds(2)

  /// The times of the last look at the clock, of the last question, and of the last answer; nil before the first.
  private var (looked, asked, answered): (Instant?, Instant?, Instant?) = (nil, nil, nil)
  /// The time until which an answer has to come after a sleep.
  private var awaited: Instant?
  /// The progress of the peer (`RunningExchange.progress`) at the last look at the clock.
  private var progress: Int

  /// - Parameters:
  ///   - version: what the peer knows.
  ///   - progress: of the exchange that has ended; an answer has just come.
  init(knowing version: Version, progress: Int) {
    listener = Listener(knowing: version)
    self.progress = progress - 1
  }

  var hasRoom: Bool { underWay < Self.mostUnderWay }

  /// Notes that a piece was sent.
  mutating func didSend() { underWay += 1 }

  /// Notes that the peer has merged a piece.
  mutating func didAccept() { underWay -= 1 }

  /// The action that is due.
  enum Turn: Equatable {
    case wait(until: Instant)
    /// Ask whether the peer is there.
    case ask
    /// Nothing has come for so long that the peer is given up.
    case giveUp
  }

  /// - Parameter progress: of the peer. Notifications are none: a peer that only notifies does not read what it is told.
  mutating func turn(at now: Instant, _ progress: Int) -> Turn {
    defer { looked = now }
    if progress != self.progress { (answered, awaited) = (now, nil) }
    self.progress = progress
    let asked = asked ?? now
    self.asked = asked
    if let looked, now > looked + Self.pulse + Self.sleep {
      awaited = now + Self.patience
      self.asked = now
      return .ask
    }
    let end = awaited ?? answered! + Self.silence
    if now >= end { return .giveUp }
    if now < asked + Self.pulse { return .wait(until: min(asked + Self.pulse, end)) }
    self.asked = now
    return .ask
  }
}
