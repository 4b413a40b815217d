/// Messages on their way out: frames that are encoded, and not yet written to the stream.
///
/// A frame is `Content-Length: N`, an empty line (both ended by `\r\n`), then N bytes of JSON; or, with
/// framing in lines, the JSON and `\n`. Framing `automatic` writes as `contentLength` does.
///
/// The owner of the stream writes as much of `unsent` as the stream takes, and removes that much. A write must
/// never wait: a client that sends thousands of requests before it reads would wait for us too.
public struct Outbox: Sendable {
  /// The framing of the frames from now on.
  public var framing: Framing

  private var pending: [UInt8] = []
  /// The number of bytes of `pending` that are sent already.
  private var sent = 0
  /// Kept between messages, so that a reply allocates nothing.
  private var writer = JSONWriter()

  /// Creates an empty outbox.
  public init(framing: Framing) {
    self.framing = framing
  }

  /// The number of bytes that are not sent yet.
  public var count: Int { pending.count - sent }

  /// True if everything is sent.
  public var isEmpty: Bool { count == 0 }

  /// The bytes that are not sent yet, oldest first. Let go of it before the next call, or that call copies it.
  public var unsent: ArraySlice<UInt8> { pending[sent...] }

  /// Removes the first `count` bytes of `unsent`: they are sent.
  ///
  /// - Complexity: O(1) amortised over the bytes sent.
  public mutating func removeFirst(_ count: Int) {
    sent += max(0, min(count, self.count))
    if sent == pending.count {
      pending.removeAll(keepingCapacity: pending.capacity <= keptCapacity)
      sent = 0
    } else if sent >= 1 << 16, sent >= pending.count / 2 {
      // This moves no more bytes than what was sent since the last time.
      pending.removeSubrange(..<sent)
      sent = 0
    }
  }

  /// Appends the response to the request `id`.
  ///
  /// - Parameter result: Writes one value, the result. If it writes nothing the result is `null`.
  public mutating func respond(to id: RequestID, result: (inout JSONWriter) -> Void) {
    writer.literal(#"{"jsonrpc":"2.0","id":"#)
    writer.requestID(id)
    writer.literal(#","result":"#)
    let start = writer.bytes.count
    result(&writer)
    if writer.bytes.count == start { writer.null() }
    endMessage()
  }

  /// Appends the response that the request `id` failed; nil means a request whose id is not known.
  public mutating func respond(to id: RequestID?, error: ResponseError) {
    respond(to: id, error: error) { writer in
      guard let reason = error.reason else { return }
      writer.beginObject()
      writer.key("reason")
      writer.string(reason)
      writer.endObject()
    }
  }

  /// Appends the response that the request `id` failed; nil means a request whose id is not known.
  ///
  /// - Parameter data: Writes one value, the error's data, in place of its reason. If it writes nothing there is none.
  public mutating func respond(
    to id: RequestID?, error: ResponseError, data: (inout JSONWriter) -> Void
  ) {
    var value = JSONWriter()
    data(&value)
    beginMessage()
    writer.key("id")
    if let id { writer.requestID(id) } else { writer.null() }
    writer.key("error")
    writer.beginObject()
    writer.key("code")
    writer.integer(error.code)
    writer.key("message")
    writer.string(error.message)
    if !value.bytes.isEmpty {
      writer.key("data")
      writer.raw(value.bytes)
    }
    writer.endObject()
    endMessage()
  }

  /// Appends a request.
  ///
  /// - Parameter params: Writes one object. If it writes nothing the params are `{}`.
  public mutating func request(
    _ id: RequestID, _ method: String, params: (inout JSONWriter) -> Void
  ) {
    beginMessage()
    writer.key("id")
    writer.requestID(id)
    endMessage(method, params)
  }

  /// Appends a notification.
  ///
  /// - Parameter params: Writes one object. If it writes nothing the params are `{}`.
  public mutating func notify(_ method: String, params: (inout JSONWriter) -> Void) {
    beginMessage()
    endMessage(method, params)
  }

  /// Appends what `other` has not sent.
  public mutating func append(_ other: Outbox) {
    pending.append(contentsOf: other.unsent)
  }

  /// Appends what `answers` has not sent as one message, a batch.
  ///
  /// - Parameter answers: An outbox whose framing is lines.
  public mutating func append(batch answers: Outbox) {
    writer.beginArray()
    for answer in answers.unsent.split(separator: UInt8(ascii: "\n")) { writer.raw(answer) }
    writer.endArray()
    endFrame()
  }

  private mutating func beginMessage() {
    writer.literal(#"{"jsonrpc":"2.0""#, endsValue: true)
  }

  private mutating func endMessage(_ method: String, _ params: (inout JSONWriter) -> Void) {
    writer.key("method")
    writer.string(method)
    writer.key("params")
    let start = writer.bytes.count
    params(&writer)
    if writer.bytes.count == start {
      writer.beginObject()
      writer.endObject()
    }
    endMessage()
  }

  private mutating func endMessage() {
    writer.endObject()
    endFrame()
  }

  private mutating func endFrame() {
    if framing != .lines {
      pending.append(contentsOf: "Content-Length: \(writer.bytes.count)\r\n\r\n".utf8)
    }
    pending.append(contentsOf: writer.bytes)
    if framing == .lines { pending.append(UInt8(ascii: "\n")) }
    writer.reset(keepingAtMost: keptCapacity)
  }
}
