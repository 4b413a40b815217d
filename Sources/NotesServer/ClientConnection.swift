internal import JSONRPC

/// The two streams between the client and the server, as bytes that have come and bytes that are to be sent.
struct ClientConnection {
  var input: FrameDecoder
  var outbox: Outbox
  /// Answers that wait for the disk, with the messages that follow them.
  var held = PendingReplies()
  /// True if there was something to push and no room for it.
  var isPushHeldBack = false
  /// Notifications that follow the reply to the request that caused them.
  var afterReply: [(inout Outbox) -> Void] = []
  /// True when no more bytes come from the client.
  var isInputOver = false
  /// True when the client has closed its end of the input, though not all of it may have been read.
  var hasInputHungUp = false
  /// True when the client reads no more.
  private(set) var isOutputGone = false

  /// While this many bytes wait for the client to read them, no further request is carried out: a client that sends without
  /// reading must not fill the memory.
  private static let fullOutbox = 32 << 20

  /// While this many bytes wait for the client to read them, nothing is pushed.
  private static let fullOfPushes = 1 << 20

  init(framing: Framing, maximumMessage: Int) {
    input = FrameDecoder(framing: framing, maximumMessage: maximumMessage)
    outbox = Outbox(framing: framing)
  }

  /// True while the client has to read before further requests are carried out.
  var isFull: Bool { outbox.count + held.count >= Self.fullOutbox && !isOutputGone }

  /// True while so little waits to be read that more can be pushed.
  var hasRoomForPushes: Bool { outbox.count + held.count < Self.fullOfPushes }

  /// The outbox for the next message to the client: behind the answers that wait for the disk.
  var currentOutbox: Outbox {
    _read {
      if held.isEmpty { yield outbox } else { yield held.after }
    }
    _modify {
      if held.isEmpty { yield &outbox } else { yield &held.after }
    }
  }

  /// Notes that the client reads no more, and forgets the messages to it.
  mutating func loseOutput() {
    isOutputGone = true
    held.removeAll()
    dropOutput()
  }

  /// Forgets the messages that are to be sent.
  mutating func dropOutput() { outbox.removeFirst(outbox.count) }

  /// Puts the notifications that follow the reply into the outbox.
  mutating func flushNotifications() {
    if afterReply.isEmpty { return }
    for notify in afterReply { notify(&currentOutbox) }
    afterReply = []
  }
}
