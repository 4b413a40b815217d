internal import JSONRPC
internal import NotesServer

/// The notebook of a command, in this process: a verb makes one request after the other.
///
/// What others write meanwhile is not seen, so all answers are of one state and what the verb itself has changed.
final class LocalNotebook {
  /// The messages of the server.
  private final class Mailbox {
    var answers: [Int: JSONValue] = [:]
    /// True if the server has told of an error that belongs to no request.
    var hasError = false
    /// True if it has told of damage, or of anything else to mind.
    var isWarned = false
  }

  private let client: LocalClient
  private var loop: EventLoop
  private let mailbox = Mailbox()
  private var isOver = false
  /// True if something was asked for that may change the notebook: whether that is done does not depend on what can't be read.
  private var isChanging = false

  /// The requests that change nothing.
  private static let reading: Set = [
    "note/get", "note/history", "note/links", "note/backlinks", "notebook/complete",
    "notebook/find", "notebook/list", "notebook/log", "notebook/search", "notebook/status",
  ]

  /// Does something with the notebook of a command, and leaves it when that is done: then all is on disk for good, and the session is
  /// there for the next command.
  static func open<Result>(
    _ surroundings: CommandEnvironment, _ body: (LocalNotebook) throws(CommandFailure) -> Result
  ) throws(CommandFailure) -> Result {
    let notebook = try LocalNotebook(surroundings)
    let result: Result
    do {
      result = try body(notebook)
      try notebook.noteCompleteness(in: surroundings)
    } catch {
      try? notebook.noteCompleteness(in: surroundings)
      _ = notebook.leave()
      throw error
    }
    guard notebook.leave() else { throw CommandFailure(.failed, []) }
    return result
  }

  private init(_ surroundings: CommandEnvironment) throws(CommandFailure) {
    var environment = try surroundings.environment()
    environment.framing = .lines
    environment.isSingleRequest = true
    environment.memoryFolder = surroundings.memoryFolder()
    // Both ends are in this process, and what comes from outside was limited before.
    environment.maximumMessage = .max
    client = LocalClient { [mailbox] message in
      if let id = message["id"]?.integer {
        mailbox.answers[id] = message
      } else if message["method"]?.string == "window/showMessage",
        let text = message["params"]?["message"]?.string
      {
        // Of damage, for instance: then the notebook lacks what could not be read.
        printError(text)
        mailbox.hasError = mailbox.hasError || message["params"]?["type"]?.integer == 1
        mailbox.isWarned = true
      }
      return false
    }
    loop = surroundings.makeLoop(environment, client, nil)
    _ = try answer(to: 0, "initialize")
  }

  /// Makes a request, and waits for its result.
  ///
  /// - Parameter params: writes the members of its parameters.
  @discardableResult
  func request(
    _ method: String, _ params: (inout JSONWriter) -> Void = { _ in }
  ) throws(CommandFailure) -> JSONValue {
    isChanging = isChanging || !Self.reading.contains(method)
    var writer = JSONWriter()
    writer.beginObject()
    params(&writer)
    writer.endObject()
    return try answer(to: client.post(method, writer.bytes), method)
  }

  /// Notes whether the verb has seen all of the notebook.
  private func noteCompleteness(in surroundings: CommandEnvironment) throws(CommandFailure) {
    guard mailbox.isWarned, !isChanging, !isOver else { return }
    if try request("notebook/status")["complete"]?.boolean == false {
      surroundings.completeness.isIncomplete = true
    }
  }

  private func answer(to id: Int, _ method: String) throws(CommandFailure) -> JSONValue {
    let mailbox = mailbox
    let status = loop.run { mailbox.answers[id] != nil }
    if let signal = loop.signal { EndSignals.die(by: signal) }
    isOver = status != nil
    guard status == nil, let answer = mailbox.answers.removeValue(forKey: id) else {
      throw CommandFailure("\(method): there is no answer")
    }
    if let error = answer["error"] { throw CommandFailure(error) }
    guard let result = answer["result"] else {
      throw CommandFailure("\(method): there is no answer")
    }
    return result
  }

  /// Leaves the notebook; returns false if the server has told of an error meanwhile.
  private func leave() -> Bool {
    if isOver { return false }
    mailbox.hasError = false
    loop.hangUp()
    let mailbox = mailbox
    _ = loop.run { false }
    // It may have come while the verb was writing.
    loop.noticeSignal()
    if let signal = loop.signal { EndSignals.die(by: signal) }
    return !mailbox.hasError
  }
}
