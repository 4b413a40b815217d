/// The error that a response carries instead of a result.
public struct ResponseError: Error, Equatable, Sendable {
  /// The codes of JSON-RPC and of the language server protocol that this package uses.
  public enum Code {
    public static let parseError = -32700
    public static let invalidRequest = -32600
    public static let methodNotFound = -32601
    public static let invalidParams = -32602
    public static let internalError = -32603
    public static let serverNotInitialized = -32002
    public static let requestCancelled = -32800
    public static let contentModified = -32801
    public static let requestFailed = -32803
  }

  /// What kind of error it is, for programs.
  public var code: Int
  /// What happened, in words for a person.
  public var message: String
  /// Which failure of its kind it is, for programs: `data.reason` on the wire.
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

  /// What the request refers to is no longer as the client thinks.
  public static let contentModified = contentModified(
    "The text is not what the client thinks it is.")

  /// What came is not JSON, or not framed as it must be.
  public static func parseError(_ message: String) -> ResponseError {
    ResponseError(code: Code.parseError, message: message)
  }

  /// What came is JSON, but not a request that can be answered here or now.
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

  /// What the request refers to is no longer as the client thinks, and `message` says how.
  public static func contentModified(_ message: String) -> ResponseError {
    ResponseError(code: Code.contentModified, message: message)
  }

  /// The request is a valid one and could not be done; `reason` names the failure for programs.
  public static func requestFailed(_ reason: String, _ message: String) -> ResponseError {
    ResponseError(code: Code.requestFailed, message: message, reason: reason)
  }
}
