internal import JSONRPC

/// The messages of one array of the agent, whose answers are sent as one array.
///
/// One batch is carried out at a time, by the rules for messages that come one by one: so it takes no more memory but for its answers, which have a limit.
struct MessageBatch {
  /// The most messages that a batch may have.
  static let mostMessages = 1000
  /// The length of its answers from which on requests in it are refused, in bytes.
  private static let mostBytes = 32 << 20

  /// The messages that were not looked at yet.
  private var waiting: ArraySlice<JSONValue>
  /// The answers so far.
  var answers = Outbox(framing: .lines)

  /// - Throws: the error for a batch without messages, or with too many.
  init(_ messages: [JSONValue]) throws(ResponseError) {
    if messages.isEmpty { throw .invalidRequest("A batch must have at least one message.") }
    if messages.count > Self.mostMessages {
      throw .invalidRequest("A batch must have at most \(Self.mostMessages) messages.")
    }
    waiting = messages[...]
  }

  /// True if all messages were looked at.
  var isTaken: Bool { waiting.isEmpty }

  /// True if no further request is carried out.
  var isTooLong: Bool { answers.count >= Self.mostBytes }

  /// Takes the next message.
  mutating func takeNext() -> JSONValue? { waiting.popFirst() }
}
