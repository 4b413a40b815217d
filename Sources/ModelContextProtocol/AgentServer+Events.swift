public import JSONRPC

// Events outside: bytes of the agent, messages of the notebook's server, the time.

extension AgentServer {
  /// Takes bytes from the agent, and acts on every message that is whole.
  public mutating func receive(_ bytes: ArraySlice<UInt8>) {
    input.append(bytes)
    proceed()
  }

  /// Notes that the agent's input has ended. The requests in it are carried out, and their changes are put on disk; then it `isDone`.
  public mutating func inputEnded() {
    if isInputOver { return }
    isInputOver = true
    proceed()
  }

  /// Notes that the agent reads no more: nothing is answered any more.
  public mutating func outputFailed() {
    isOutputGone = true
    inputEnded()
  }

  /// Notes that so many bytes of `outbox` were sent.
  public mutating func didSend(_ count: Int) {
    outbox.removeFirst(count)
    proceed()
  }

  /// Takes the bytes for the notebook's server, whose framing is lines.
  public mutating func takeRequests() -> [UInt8] {
    defer { requests = [] }
    return requests
  }

  /// Takes a message of the notebook's server.
  public mutating func receiveFromNotebook(_ message: JSONValue) {
    if let id = message["id"]?.integer {
      guard let then = waiting.removeValue(forKey: id) else { return }
      if let error = message["error"] {
        then(&self, .failure(NotebookFailure(error)))
      } else {
        then(&self, message["result"].map { .success($0) } ?? .failure(.gone))
      }
    } else if message["method"]?.string == "notebook/didChange" {
      noteChanges(message["params"])
    }
    proceed()
  }

  /// Takes the time, and does what is due.
  ///
  /// - Returns: when to call this again if nothing happens before; nil for never.
  public mutating func advance(
    to now: ContinuousClock.Instant
  ) -> ContinuousClock.Instant? {
    hideIfDue(at: now)
  }

  /// True when all is done and the process can end.
  public var isDone: Bool { phase == .left }

  /// Acts on messages that have come, as far as there is room for the answers.
  private mutating func proceed() {
    if isOutputGone { outbox.removeFirst(outbox.count) }
    proceedWithBatch()
    while !isFull, let event = input.next() ?? (isInputOver ? input.finish() : nil) {
      handle(event)
      proceedWithBatch()
    }
    tellNews()
    if isInputOver, batch == nil, underway.isEmpty, !isLeaving, isOutputGone || !isFull { end() }
    if isOutputGone { outbox.removeFirst(outbox.count) }
  }

  private mutating func end() {
    isLeaving = true
    endListening()
    hide()
    leave { _ in }
  }
}
