internal import JSONRPC

// The revisions of the Model Context Protocol that are spoken, and the names that they have for what goes with each message.

enum ProtocolVersion {
  /// The revision without a handshake: each request says what it needs.
  static let stateless = "2026-07-28"
  /// The newest revision that begins with `initialize`.
  static let withHandshake = "2025-11-25"
  /// The revisions that a client may ask for by `initialize`. (2025-03-26 is none of them: it demands batches.)
  static let handshakes = ["2024-11-05", "2025-06-18", withHandshake]
}

/// The members of `_meta` that the protocol itself defines.
enum MetaName {
  static let protocolVersion = "io.modelcontextprotocol/protocolVersion"
  static let clientCapabilities = "io.modelcontextprotocol/clientCapabilities"
  static let clientInfo = "io.modelcontextprotocol/clientInfo"
  static let serverInfo = "io.modelcontextprotocol/serverInfo"
  static let subscription = "io.modelcontextprotocol/subscriptionId"
}

/// The kind of a connection. Its first request that can be answered settles it.
enum Era {
  case unsettled
  /// Begun by `initialize`.
  case handshake
  /// Each request names its revision.
  case stateless
}

/// The codes of errors that this protocol adds.
enum ErrorCode {
  static let unsupportedVersion = -32022
  /// Of revisions with a handshake; the stateless one has −32602 there.
  static let resourceNotFound = -32002
}

extension JSONWriter {
  /// Writes a member with a value of another document, unless there is none.
  mutating func member(_ name: String, copying value: JSONValue?) {
    guard let value else { return }
    key(name)
    raw(value.rawBytes)
  }
}
