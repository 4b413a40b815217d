internal import JSONRPC
internal import NotesServer

/// One request, made in this process.
struct Call {
  /// The result as JSON.
  let result: String

  /// A line that says why there is none.
  struct Failure: Error {
    var message: String
  }

  init(
    _ method: String, params: [UInt8], _ environment: NotesServer.Environment
  ) throws(Failure) {
    var environment = environment
    environment.framing = .lines
    do { _ = try JSONValue(parsing: params) } catch {
      throw Failure(message: "\(method): the parameters are not JSON: \(error.reason)")
    }
    var server = NotesServer(environment)
    server.receive(Self.request(1, "initialize", Array("{}".utf8))[...])
    _ = try Self.result(of: 1, "initialize", server.outbox.unsent)
    server.receive(Self.request(2, method, params)[...])
    server.inputEnded()
    result = try Self.result(of: 2, method, server.outbox.unsent)
  }

  private static func request(_ id: Int, _ method: String, _ params: [UInt8]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("jsonrpc")
    writer.string("2.0")
    writer.key("id")
    writer.integer(id)
    writer.key("method")
    writer.string(method)
    writer.key("params")
    writer.raw(params)
    writer.endObject()
    return writer.bytes + [0x0A]
  }

  /// Finds the answer among what the server said.
  private static func result(
    of id: Int, _ method: String, _ output: ArraySlice<UInt8>
  ) throws(Failure) -> String {
    for line in output.split(separator: 0x0A) {
      guard let message = try? JSONValue(parsing: Array(line)) else { continue }
      if let error = message["error"], message["id"]?.integer == id || message["id"]?.isNull == true
      {
        let reason = error["data"]?["reason"]?.string.map { ", \($0)" } ?? ""
        throw Failure(
          message: "\(method): \(error["message"]?.string ?? "")"
            + " (\(error["code"]?.integer ?? 0)\(reason))")
      }
      if message["id"]?.integer == id, let result = message["result"] {
        return String(decoding: result.rawBytes, as: UTF8.self)
      }
    }
    throw Failure(message: "\(method): no answer")
  }
}
