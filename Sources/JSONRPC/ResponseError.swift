/// The error that a response carries instead of a result.
public struct ResponseError: Error, Equatable, Sendable {
  /// The codes of JSON-RPC and of the language server protocol that this package uses.
  public enum Code {
    /// The message is not JSON.
    public static let parseError = -32700
    /// The message is JSON, and no request or notification.
    public static let invalidRequest = -32600
    /// There is no such method.
    public static let methodNotFound = -32601
    /// A parameter is missing, or is not what it may be.
    public static let invalidParams = -32602
    /// The server failed.
    public static let internalError = -32603
    /// A request came before `initialize`.
    public static let serverNotInitialized = -32002
    /// The client has cancelled the request.
    public static let requestCancelled = -32800
    /// The state that the request is about has changed meanwhile.
    public static let contentModified = -32801
    /// The request is in order and could not be carried out.
    public static let requestFailed = -32803
  }

  /// The kind of error, for programs.
  public var code: Int
  /// The failure, for people to read.
  public var message: String
  /// The failure among those of its kind, for programs: `data.reason` on the wire.
  public var reason: String?

  /// Creates an error; without a `reason` it carries no data.
  public init(code: Int, message: String, reason: String? = nil) {
    self.code = code
    self.message = message
    self.reason = reason
  }
}

extension ResponseError {
  /// A request came before `initialize`.
  public static let serverNotInitialized = ResponseError(
    code: Code.serverNotInitialized, message: "The first request must be initialize.")

  /// The client has cancelled the request.
  public static let requestCancelled = ResponseError(
    code: Code.requestCancelled, message: "The request was cancelled.")

  /// The state that the request refers to is no longer as the client thinks.
  public static let contentModified = contentModified(
    "The text is not what the client thinks it is.")

  /// The bytes are not JSON, or not framed as they must be.
  public static func parseError(_ message: String) -> ResponseError {
    ResponseError(code: Code.parseError, message: message)
  }

  /// The message is JSON, but not a request that can be answered here or now.
  public static func invalidRequest(_ message: String) -> ResponseError {
    ResponseError(code: Code.invalidRequest, message: message)
  }

  /// There is no method called `method`; the message quotes the start of a long one.
  public static func methodNotFound(_ method: String) -> ResponseError {
    var name = String(method.unicodeScalars.prefix(100))
    if name.utf8.count < method.utf8.count { name += "…" }
    return ResponseError(
      code: Code.methodNotFound, message: "There is no method called \(name).")
  }

  /// The parameter `field` is missing or cannot be used; the message is the field, then the problem.
  public static func invalidParams(_ field: String, _ problem: String) -> ResponseError {
    ResponseError(code: Code.invalidParams, message: "\(field): \(problem)")
  }

  /// Something went wrong here that is not the client's doing.
  public static func internalError(_ message: String) -> ResponseError {
    ResponseError(code: Code.internalError, message: message)
  }

  /// The state that the request refers to is no longer as the client thinks; `message` says how it differs.
  public static func contentModified(_ message: String) -> ResponseError {
    ResponseError(code: Code.contentModified, message: message)
  }

  /// The request is a valid one and could not be done; `reason` names the failure for programs.
  public static func requestFailed(_ reason: String, _ message: String) -> ResponseError {
    ResponseError(code: Code.requestFailed, message: message, reason: reason)
  }
}
