internal import JSONRPC

/// A burst that is being carried out.
struct RunningBurst {
  /// Its messages, in order, as they came.
  private(set) var messages: [[UInt8]] = []
  /// The changes among them, which are answered when all are written, with their versions.
  var changes: [(id: RequestID, version: Int)] = []
  /// The number of bytes of the messages.
  private var size = 0

  /// A burst of so many messages or bytes ends: a client must not wait long for its first answer, and going back must not take long.
  private static let mostMessages = 256
  private static let mostBytes = 1 << 20

  /// Notes a message that was acted on.
  mutating func append(_ message: [UInt8]) {
    messages.append(message)
    size += message.count
  }

  var isFull: Bool { messages.count >= Self.mostMessages || size >= Self.mostBytes }
}
