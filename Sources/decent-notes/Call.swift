internal import JSONRPC
internal import NotesServer

/// One request, made in this process.
struct Call {
  /// The result as JSON.
  let result: String
  /// True if the notebook is known to lack something.
  private(set) var isIncomplete = false

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
    // Asked for when the server tells of damage, for instance: then the result may lack what could not be read.
    var (statusID, status): (Int?, JSONValue?)
    var made: LocalClient?
    let client = LocalClient([(method, params)]) { message in
      if message["method"]?.string == "window/showMessage",
        let text = message["params"]?["message"]?.string
      {
        printError(text)
        statusID = statusID ?? made?.post("notebook/status", Array("{}".utf8))
      }
      let id = message["id"]?.integer
      if id != nil, id == statusID {
        status = message
      } else if id == 1 || message["error"] != nil {
        answer = message
      }
      return answer != nil && (statusID == nil || status != nil || answer?["error"] != nil)
    }
    made = client
    serve(client)
    made = nil
    isIncomplete = status?["result"]?["complete"]?.boolean == false
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
