/// One message of a client, its envelope checked.
///
/// Nothing is known of the methods here. `params` is always an object: absent, `null` and `[]` stand for
/// the empty one, which some clients cannot write any other way.
public enum Message: Sendable {
  case request(id: RequestID, method: String, params: JSONValue)
  /// A message that gets no answer, also when it is wrong: params of a kind that cannot be used come
  /// as the empty object, since an `exit` with odd params must still be an `exit`.
  case notification(method: String, params: JSONValue)
  /// An answer to us. We never ask, so it is there to be ignored; to answer it with an error would
  /// start a game of ping-pong.
  case response

  /// The reason for which a message is not acted on, and the answer to it.
  public struct Refusal: Error, Equatable, Sendable {
    /// The request's id; nil, if there is none to be read: the answer's id is `null` then.
    public var id: RequestID?
    /// The error to answer with.
    public var error: ResponseError

    /// A message that is refused with an error.
    public init(id: RequestID?, error: ResponseError) {
      self.id = id
      self.error = error
    }
  }

  /// Parses one message and checks its envelope; refuses a batch.
  ///
  /// - Throws: `Refusal` as `parse` and `init(_: JSONValue)` throw it, and for a batch (−32600).
  /// - Complexity: O(`bytes.count`).
  public init(_ bytes: [UInt8]) throws(Refusal) {
    let message = try Self.parse(bytes)
    if message.kind == .array {
      throw Self.invalid("Batches are not supported: send one message at a time.")
    }
    try self.init(message)
  }

  /// Parses the bytes of one message, or of a batch.
  ///
  /// - Throws: `Refusal` for what is no JSON (−32700; with the request's id if nothing is wrong but a text).
  public static func parse(_ bytes: [UInt8]) throws(Refusal) -> JSONValue {
    do {
      return try JSONValue(parsing: bytes)
    } catch {
      let text = "This is not JSON: \(error.reason) (at byte \(error.offset))."
      throw Refusal(
        id: error.isLoneSurrogate ? Self.id(besideLoneSurrogates: bytes) : nil,
        error: .parseError(text))
    }
  }

  /// Checks the envelope of one message.
  ///
  /// - Throws: `Refusal` for what is no request, notification or response (−32600), or a request whose params are no object (−32602).
  public init(_ message: JSONValue) throws(Refusal) {
    guard message.kind == .object else { throw Self.invalid("A message must be an object.") }

    let method = message["method"]
    if method == nil, message["result"] != nil || message["error"] != nil {
      self = .response
      return
    }
    let writtenID = message["id"]
    let id = writtenID.flatMap(RequestID.init)
    if writtenID != nil, id == nil {
      throw Self.invalid("id must be a string without U+0000 or a whole number of 64 bits.")
    }
    guard message["jsonrpc"]?.isString("2.0") == true else {
      throw Self.invalid("jsonrpc must be \"2.0\".", id: id)
    }
    guard let method = method?.string else {
      throw Self.invalid("method must be a string.", id: id)
    }
    let params = Self.object(of: message["params"])
    guard let id else {
      self = .notification(method: method, params: params ?? .emptyObject)
      return
    }
    guard let params else {
      throw Refusal(id: id, error: .invalidParams("params", "must be an object"))
    }
    self = .request(id: id, method: method, params: params)
  }

  /// The id of a request in which a text has half of a surrogate pair: without an answer its sender would wait for ever.
  private static func id(besideLoneSurrogates bytes: [UInt8]) -> RequestID? {
    var id: RequestID?
    do throws(Refusal) {
      if case .request(let found, _, _) = try Message(JSONString.replacingLoneSurrogates(bytes)) {
        id = found
      }
    } catch { id = error.id }
    // One that may have been changed here would be the answer to nothing.
    if case .string(let text) = id, text.unicodeScalars.contains("\u{FFFD}") { return nil }
    return id
  }

  private static func invalid(_ message: String, id: RequestID? = nil) -> Refusal {
    Refusal(id: id, error: .invalidRequest(message))
  }

  /// The object that `params` stand for, nil if they stand for none.
  private static func object(of params: JSONValue?) -> JSONValue? {
    guard let params else { return .emptyObject }
    switch params.kind {
    case .object: return params
    case .null: return .emptyObject
    case .array: return params.array?.isEmpty == true ? .emptyObject : nil
    default: return nil
    }
  }
}

extension RequestID {
  /// The id that `value` is, nil if it is none that could be sent back as it came.
  fileprivate init?(_ value: JSONValue) {
    if let number = value.integer {
      self = .integer(number)
    } else if let text = value.string, !text.utf8.contains(0) {
      self = .string(text)
    } else {
      return nil
    }
  }
}

/// The name that a request's sender has given it; its response carries the same.
public enum RequestID: Hashable, Sendable {
  case integer(Int)
  case string(String)
}

extension JSONWriter {
  /// Writes an id as a value.
  public mutating func requestID(_ id: RequestID) {
    switch id {
    case .integer(let number): integer(number)
    case .string(let text): string(text)
    }
  }
}
