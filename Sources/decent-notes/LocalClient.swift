internal import JSONRPC

/// A client in this process, for a command of the command line. Its messages are lines.
final class LocalClient {
  /// The bytes of requests that the server has not taken yet.
  private var unsent: [UInt8] = []
  private var lastID = -1
  /// Answers are as long as they are: both ends are in this process.
  private var frames = FrameDecoder(framing: .lines, maximumMessage: .max)
  private let handle: (JSONValue) -> Bool
  /// True if it needs no further message.
  private(set) var isDone = false

  /// A client that has posted `initialize`, with the id 0.
  ///
  /// - Parameters:
  ///   - requests: the requests after that, with the ids 1, 2 and so on; params as JSON.
  ///   - handle: receives each message of the server; returns true if it needs no further one.
  init(
    _ requests: [(method: String, params: [UInt8])] = [],
    handle: @escaping (JSONValue) -> Bool
  ) {
    self.handle = handle
    post("initialize", Array("{}".utf8))
    for request in requests { post(request.method, request.params) }
  }

  /// Posts a request; returns its id.
  @discardableResult
  func post(_ method: String, _ params: [UInt8]) -> Int {
    lastID += 1
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("jsonrpc")
    writer.string("2.0")
    writer.key("id")
    writer.integer(lastID)
    writer.key("method")
    writer.string(method)
    writer.key("params")
    writer.raw(params)
    writer.endObject()
    unsent += writer.bytes + [0x0A]
    return lastID
  }

  /// Takes the bytes of what was posted.
  func takeUnsent() -> [UInt8] {
    defer { unsent = [] }
    return unsent
  }

  /// Takes bytes of the server.
  func take(_ bytes: ArraySlice<UInt8>) {
    frames.append(bytes)
    while case .message(let message)? = frames.next() {
      guard !isDone, let value = try? JSONValue(parsing: message) else { continue }
      isDone = handle(value)
    }
  }
}

/// The reason why a request of the command line has no result, in one line.
struct RequestFailure: Error {
  var message: String

  /// A failure of its own, not of an answer.
  init(_ message: String) { self.message = message }

  /// The failure in an answer; nil if the answer has no error.
  init?(_ method: String, _ answer: JSONValue) {
    guard let error = answer["error"] else { return nil }
    let reason = error["data"]?["reason"]?.string.map { ", \($0)" } ?? ""
    message =
      "\(method): \(error["message"]?.string ?? "") (\(error["code"]?.integer ?? 0)\(reason))"
  }
}
