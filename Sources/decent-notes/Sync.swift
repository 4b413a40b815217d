internal import JSONRPC
internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Exchanges changes with peers from the command line: once, or for as long as it runs.
struct Sync {
  /// The status of the program.
  let status: CommandFailure.Status

  /// Exchanges with each peer once, with all at the same time, and prints the results.
  ///
  /// - Parameter serve: serves a client of this process.
  init(_ peers: [String], adopting isAdopting: Bool, _ serve: (LocalClient) -> Void) {
    let isTerminal = isatty(STDERR_FILENO) == 1
    let requests = peers.map { peer in
      var params = JSONWriter()
      params.beginObject()
      params.key("peer")
      params.string(peer)
      params.key("adopt")
      params.boolean(isAdopting)
      params.key("workDoneToken")
      params.string(peer)
      params.endObject()
      return (method: "notebook/sync", params: params.bytes)
    }
    var left = peers.count
    var status = left > 0 ? CommandFailure.Status.failed : .done
    var failures = 0
    var isOutputGone = false
    let client = LocalClient(requests) { message in
      if message["method"]?.string == "$/progress", isTerminal,
        let peer = message["params"]?["token"]?.string,
        let text = message["params"]?["value"]?["message"]?.string
      {
        printError("\(peer): \(text)")
      }
      guard let id = message["id"]?.integer else {
        Self.show(message)
        return false
      }
      if let error = message["error"] {
        printError(error["message"]?.string ?? "an error")
        failures += 1
        // There is no notebook to do anything with.
        if id == 0 { return true }
      } else if id > 0, let result = message["result"] {
        let (sent, received) = (result["sent"]?.integer ?? 0, result["received"]?.integer ?? 0)
        do throws(CommandFailure) {
          try printLines(["\(peers[id - 1]): sent \(sent) bytes, received \(received)"])
        } catch {
          if !isOutputGone { report(error) }
          isOutputGone = true
        }
      }
      if id > 0 { left -= 1 }
      if left == 0 { status = failures > 0 || isOutputGone ? .failed : .done }
      return left == 0
    }
    serve(client)
    self.status = status
  }

  /// Exchanges with the peers of the server's schedule until the process is ended.
  init(_ serve: (LocalClient) -> Void) {
    var status = CommandFailure.Status.done
    serve(
      LocalClient([]) { message in
        guard let error = message["error"] else {
          Self.show(message)
          return false
        }
        printError(error["message"]?.string ?? "an error")
        status = .failed
        return true
      })
    self.status = status
  }

  /// Prints a message that an editor would show its user.
  private static func show(_ message: JSONValue) {
    if ["window/logMessage", "window/showMessage"].contains(message["method"]?.string),
      let text = message["params"]?["message"]?.string
    {
      printError(text)
    }
  }
}
