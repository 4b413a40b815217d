internal import JSONRPC
internal import NotesServer

/// One request, made in this process.
struct Call {
  /// The result as JSON.
  let result: String

  /// Makes the request.
  ///
  /// - Parameters:
  ///   - params: JSON.
  ///   - serve: serves a client of this process.
  /// - Throws: `RequestFailure` if the params are no JSON, or there is no result.
  init(
    _ method: String, params: [UInt8], _ serve: (LocalClient) -> Void
  ) throws(RequestFailure) {
    do { _ = try JSONValue(parsing: params) } catch {
      throw RequestFailure("\(method): the parameters are not JSON: \(error.reason)")
    }
    var answer: JSONValue?
    let client = LocalClient([(method, params)]) { message in
      guard message["id"]?.integer == 1 || message["error"] != nil else {
        // Of damage, for instance: then the result lacks what could not be read.
        if message["method"]?.string == "window/showMessage",
          let text = message["params"]?["message"]?.string
        {
          printError(text)
        }
        return false
      }
      answer = message
      return true
    }
    serve(client)
    guard let answer else { throw RequestFailure("\(method): no answer") }
    if let failure = RequestFailure(
      answer["id"]?.integer == 0 ? "initialize" : method, answer)
    {
      throw failure
    }
    guard let result = answer["result"] else { throw RequestFailure("\(method): no answer") }
    self.result = String(decoding: result.rawBytes, as: UTF8.self)
  }
}
