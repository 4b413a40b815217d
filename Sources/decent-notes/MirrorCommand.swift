internal import JSONRPC
internal import NotesServer

/// Makes the files in a folder and the notes equal, once, from the command line.
struct MirrorCommand {
  /// The status of the program.
  let status: CommandFailure.Status

  /// - Parameters:
  ///   - isAnswering: whether another process that mirrors the folder is only told what the user says.
  ///   - serve: serves a client of this process.
  init(_ path: String, isAnswering: Bool, _ serve: (LocalClient) -> Void) {
    var status = CommandFailure.Status.failed
    let client = LocalClient([("notebook/mirror", Array("{}".utf8))]) { message in
      guard message["id"]?.integer == 1 || message["error"] != nil else {
        if ["window/logMessage", "window/showMessage"].contains(message["method"]?.string),
          let text = message["params"]?["message"]?.string
        {
          printError(text)
        }
        return false
      }
      if let error = message["error"] {
        let reason = error["data"]?["reason"]?.string
        let isTold = isAnswering && reason == "mirrored"
        printError((error["message"]?.string ?? "an error") + (isTold ? ", and was told" : ""))
        status = isTold ? .done : reason == "incomplete" ? .incomplete : .failed
        return true
      }
      do throws(CommandFailure) {
        try printLines(["\(path): \(message["result"]?["files"]?.integer ?? 0) files"])
        status = .done
      } catch { report(error) }
      return true
    }
    serve(client)
    self.status = status
  }
}
