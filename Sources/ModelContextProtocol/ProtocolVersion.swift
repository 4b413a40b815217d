internal import JSONRPC

// The revisions of the Model Context Protocol that are spoken, and the names that they have for what goes with each message.

/// A revision of the protocol, named by its date. Later ones are greater.
enum ProtocolVersion: String, Comparable {
  case november2024 = "2024-11-05"
  case march2025 = "2025-03-26"
  case june2025 = "2025-06-18"
  case november2025 = "2025-11-25"
  case july2026 = "2026-07-28"

  /// The revision without a handshake: each request says what it needs.
  static let stateless = july2026
  /// The newest revision that begins with `initialize`.
  static let withHandshake = november2025

  /// The revision with which `initialize` is answered: the requested one, else the newest that begins with it.
  init(requestedByHandshake name: String) {
    let requested = ProtocolVersion(rawValue: name)
    self = requested.flatMap { $0 < .stateless ? $0 : nil } ?? .withHandshake
  }

  /// True if messages may come as batches: arrays that are answered by one array.
  var hasBatches: Bool { self == .march2025 }
  /// True if a tool has annotations: hints on its effects.
  var hasToolAnnotations: Bool { self >= .march2025 }
  /// True if a tool's result has a form that programs read, and if tools, resources and programs have titles.
  var hasStructuredResults: Bool { self >= .june2025 }

  static func < (one: ProtocolVersion, other: ProtocolVersion) -> Bool {
    one.rawValue < other.rawValue
  }
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
enum Era: Equatable {
  case unsettled
  /// Begun by `initialize`, which has settled the revision.
  case handshake(ProtocolVersion)
  /// Each request names its revision.
  case stateless

  /// The revision whose results the agent is given.
  var version: ProtocolVersion {
    if case .handshake(let version) = self { version } else { .stateless }
  }
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
