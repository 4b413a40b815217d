internal import JSONRPC

/// A client in this process: for what the command line asks for. Its messages are lines.
final class LocalClient {
  /// What it has to say, all at once, `initialize` first.
  let requests: [UInt8]
  private var frames = FrameDecoder(framing: .lines)
  private let hear: (JSONValue) -> Bool
  /// Whether it wants nothing more.
  private(set) var isDone = false

  /// - Parameter hear: is told what the server says, and says whether that was all.
  init(
    _ requests: [(method: String, params: [UInt8])], hear: @escaping (JSONValue) -> Bool
  ) {
    var lines: [UInt8] = []
    let initialize = (method: "initialize", params: Array("{}".utf8))
    for (index, request) in ([initialize] + requests).enumerated() {
      var writer = JSONWriter()
      writer.beginObject()
      writer.key("jsonrpc")
      writer.string("2.0")
      writer.key("id")
      writer.integer(index)
      writer.key("method")
      writer.string(request.method)
      writer.key("params")
      writer.raw(request.params)
      writer.endObject()
      lines += writer.bytes + [0x0A]
    }
    self.requests = lines
    self.hear = hear
  }

  func take(_ bytes: ArraySlice<UInt8>) {
    frames.append(bytes)
    while case .message(let message)? = frames.next() {
      guard !isDone, let value = try? JSONValue(parsing: message) else { continue }
      isDone = hear(value)
    }
  }
}

/// Why a request of the command line has no result, in one line.
struct RequestFailure: Error {
  var message: String

  init(_ message: String) { self.message = message }

  /// - Parameter answer: an answer with an error.
  init?(_ method: String, _ answer: JSONValue) {
    guard let error = answer["error"] else { return nil }
    let reason = error["data"]?["reason"]?.string.map { ", \($0)" } ?? ""
    message =
      "\(method): \(error["message"]?.string ?? "") (\(error["code"]?.integer ?? 0)\(reason))"
  }
}
