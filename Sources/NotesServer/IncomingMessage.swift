internal import JSONRPC

/// A message of the client, its envelope checked.
enum IncomingMessage {
  case change(ChangeRequest)
  case other(Message)

  /// Reads a message.
  ///
  /// - Throws: what `Message` throws.
  init(_ bytes: [UInt8], _ environment: NotesServer.Environment) throws(Message.Refusal) {
    // A process of one request refuses names that it does not know.
    if environment.isSingleRequest {
      self = .other(try Message(bytes))
    } else if let change = ChangeRequest(bytes) {
      self = .change(change)
    } else {
      let message = try Message(bytes)
      self = ChangeRequest(message).map(Self.change) ?? .other(message)
    }
  }
}
