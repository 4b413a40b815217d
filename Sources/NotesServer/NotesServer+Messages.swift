internal import JSONRPC
internal import NoteStore

// Messages of the client: their order, the phases of the connection, and how each is handled.

extension NotesServer {
  // MARK: - Bytes

  /// Takes bytes from the client, and acts on every message that is whole.
  ///
  /// Changes that another process had answered when the bytes were sent are noticed first. Waiting for the descriptor of the folder is not
  /// enough: a request may be sent after the owner has polled the descriptors and before it reads the request. If they are few, they are
  /// merged at once; else by the first request that needs all of them, or as background work.
  ///
  /// - Complexity: that of the requests in them.
  public mutating func receive(_ bytes: ArraySlice<UInt8>) {
    schedule.noteEvent()
    client.follower?.heard = nil
    let wasMerging = store?.isMerging == true
    if store?.notice() == true, !wasMerging {
      schedule.noteOther()
      mergeSlice()
      push()
    }
    connection.input.append(bytes)
    proceed()
  }

  /// Notes that the client's input has ended. The requests in it are carried out, their changes are put on disk, and the process ends.
  public mutating func inputEnded() {
    schedule.noteOther()
    connection.isInputOver = true
    proceed()
  }

  /// Tells the user why the process is going to end, where its client did not ask for that: by the client, and on standard error.
  ///
  /// - Parameter reason: a sentence without its full stop.
  public mutating func tellEnd(because reason: String) {
    guard client.phase != .shutDown, !isOver, !connection.isInputOver else { return }
    let message = "\(reason): the server ends."
    showMessage(.warning, message)
    environment.reportEnd(message)
  }

  /// Notes that the client has closed its end of the input, though not all of it may have been read yet.
  public mutating func inputHungUp() {
    schedule.noteOther()
    connection.hasInputHungUp = true
  }

  /// Notes that the client reads no more. The changes that it has asked for are still made, and nothing is answered; then the process
  /// ends.
  public mutating func outputFailed() {
    connection.loseOutput()
    requests.lookups = []
    inputEnded()
  }

  /// Acts on messages that have come, as far as there is room for the answers.
  mutating func proceed() {
    while client.exitStatus == nil, !isFull {
      guard let event = connection.input.next() else {
        endGroup()
        if connection.isInputOver { finish() }
        break
      }
      handle(event)
      if connection.isOutputGone { connection.dropOutput() }
    }
    endGroup()
    if connection.isOutputGone { connection.dropOutput() }
    if openTexts.hasNewCursors { push() }
    forgetFiles()
    // One request to the disk for all changes that came together.
    if !connection.held.isEmpty { store?.requestSync() }
  }

  /// Leaves when all requests are answered. Searches and work on files go on as other work does, until `endIfDue` gives them up.
  private mutating func finish() {
    if let event = connection.input.finish() { handle(event) }
    if !requests.hasWork { leave() }
  }

  /// Ends the connection as `exit` does: with status 0 after `shutdown`, else 1.
  private mutating func leave() {
    forgetFiles()
    cancelWork()
    endMirror()
    for id in exchanges.keys.sorted() { end(id, .failure(.requestCancelled)) }
    stopSharingPresence()
    // After `shutdown`, or without an open text, no client resumes. A client that has only closed the pipe may, so its journal stays,
    // unless it was given up: then the disk is asked once more to remove it.
    if client.phase == .shutDown || openTexts.isEmpty || journal?.isGivenUp == true {
      journal?.giveUp()
    }
    do { try store?.end() } catch { showMessage(.error, "\(error)") }
    takeDiskResult()
    if client.exitStatus == nil { client.exitStatus = client.phase == .shutDown ? 0 : 1 }
  }

  /// Answers the searches, and the requests about files, of a client whose input has ended as cancelled, and leaves.
  mutating func giveUpWork() {
    if !requests.hasWork { return }
    cancelWork()
    proceed()
  }

  private mutating func cancelWork() {
    while !requests.fileTasks.isEmpty { cancelFileTask(at: 0) }
    for id in requests.waitingForMirror { currentOutbox.respond(to: id, error: .requestCancelled) }
    requests.waitingForMirror = []
    for lookup in requests.lookups {
      currentOutbox.respond(to: lookup.id, error: .requestCancelled)
    }
    requests.lookups = []
  }

  // MARK: - Messages

  private mutating func handle(_ event: FrameDecoder.Event) {
    if environment.framing == .automatic { outbox.framing = connection.input.framing }
    let message: Message
    switch event {
    case .message(let bytes):
      do { message = try Message(bytes) } catch {
        endGroup()
        return currentOutbox.respond(to: error.id, error: error.error)
      }
      if isInGroup(message) { requests.group!.count(bytes: bytes.count) } else { endGroup() }
    case .refused(let error):
      endGroup()
      return currentOutbox.respond(to: nil, error: error)
    case .broken(let error):
      endGroup()
      currentOutbox.respond(to: nil, error: error)
      return leave()
    }
    switch message {
    case .request(let id, let method, let params):
      if method != "note/change" { schedule.noteOther() }
      if requests.group == nil, openTexts.hasNewCursors { push() }
      answer(id, method, params)
    case .notification(let method, let params):
      schedule.noteOther()
      handleNotification(method, Parameters(value: params))
    case .response: break
    }
    if requests.group?.isFull == true { endGroup() }
  }

  private mutating func handleNotification(_ name: String, _ params: Parameters) {
    if name == "exit" { return leave() }
    guard client.phase == .ready else { return }
    switch name {
    case "$/cancelRequest": cancel(params)
    case "note/cursor":
      // Others are told when all cursors that came one after the other are set.
      setCursor(params)
    case "notebook/presence": takePresence(params)
    case "$/setTrace": client.isTracing = params["value"]?.string ?? "off" != "off"
    default: break
    }
  }

  private mutating func cancel(_ params: Parameters) {
    let id: RequestID
    if let number = params["id"]?.integer {
      id = .integer(number)
    } else if let text = params["id"]?.string {
      id = .string(text)
    } else {
      return
    }
    if let index = requests.lookups.firstIndex(where: { $0.id == id }) {
      requests.lookups.remove(at: index)
      return currentOutbox.respond(to: id, error: .requestCancelled)
    }
    if let index = requests.fileTasks.firstIndex(where: { $0.id == id }) {
      return cancelFileTask(at: index)
    }
    if let index = requests.waitingForMirror.firstIndex(of: id) {
      requests.waitingForMirror.remove(at: index)
      return currentOutbox.respond(to: id, error: .requestCancelled)
    }
    if let exchange = exchanges.values.first(where: { $0.request?.id == id }) {
      return end(exchange.id, .failure(.requestCancelled))
    }
    if leavePeer(ofRequest: id) { return }
    guard
      let index = requests.waitingForDisk.firstIndex(where: { $0.id == id && $0.canBeCancelled })
    else { return }
    if let token = requests.waitingForDisk.remove(at: index).progress { progress(token, "end") }
    currentOutbox.respond(to: id, error: .requestCancelled)
  }

  // MARK: - Requests

  private mutating func answer(_ id: RequestID, _ name: String, _ params: JSONValue) {
    do throws(ResponseError) {
      try checkPhase(of: name)
      if environment.isConfined, Method.reachingOutside.contains(name) {
        throw .confined("\(name): this process serves one notebook, and nothing else")
      }
      guard let method = Method.named(name) else { throw .methodNotFound(name) }
      if environment.isSingleRequest || method.refusesUnknown { try method.refuseUnknown(params) }
      if environment.isSingleRequest { try refuseMissingNotebook(method) }
      let params = Parameters(value: params)
      // What the folder lacks is told from what is not merged yet only when all is.
      if method.needsAll || store?.isInDoubt == true, mergeAll() { push() }
      switch method.kind {
      case .immediate(let perform):
        // The answer would not be read, so only changes are made.
        if connection.isOutputGone, !method.changesNotebook { return }
        let result = try result(of: method, params, perform)
        respond(to: id, changesNotebook: method.changesNotebook, result)
      case .longRunning(let begin):
        if connection.isOutputGone { return }
        return try begin(&self, id, params)
      case .onDisk(let isLast, let begin):
        let progress = try params.progressToken()
        try begin(&self, params)
        // From now on only `exit` is accepted, although the answer may take a moment.
        if isLast { client.phase = .shutDown }
        return respondWhenDurable(to: id, progress: progress, canBeCancelled: !isLast)
      }
    } catch {
      refuse(id, error)
    }
    endAnswer(name)
  }

  private mutating func endAnswer(_ name: String) {
    if requests.group != nil { return }
    reportRecovery()
    if client.isTracing { trace("answered \(name)") }
    push()
  }

  private func checkPhase(of name: String) throws(ResponseError) {
    switch client.phase {
    case .new: if name != "initialize" { throw .serverNotInitialized }
    case .ready:
      if name == "initialize" { throw .invalidRequest("initialize: this has been done") }
    case .shutDown: throw .invalidRequest("\(name): after shutdown only exit is allowed")
    }
  }

  private func refuseMissingNotebook(_ method: Method) throws(ResponseError) {
    if let store, store.identity == nil, !method.mayBeginNotebook {
      throw .requestFailed("noNotebook", "there is no notebook in \(store.path)")
    }
  }

  /// The result of a request that is answered at once, as JSON; if the request key is known, the result that was given before.
  private mutating func result(
    of method: Method, _ params: Parameters,
    _ perform: (inout NotesServer, Parameters, inout JSONWriter) throws(ResponseError) -> Void
  ) throws(ResponseError) -> [UInt8] {
    let key = method.changesNotebook ? try requestKey(params) : nil
    if let key, let (known, result) = requests.remembered[key] {
      guard known == method.name else {
        throw .invalidParams("requestKey", "was used for \(known)")
      }
      return result
    }
    var result: [UInt8]?
    if let key, let request = KeyedRequest(method: method.name) {
      result = try repeatedResult(of: request, key, params)
      requests.mark = request.mark(key)
    }
    defer { requests.mark = nil }
    if result == nil {
      var writer = JSONWriter()
      try perform(&self, params, &writer)
      result = writer.bytes
    }
    if let key { requests.remembered[key] = (method.name, result!) }
    return result!
  }

  private mutating func trace(_ message: String) {
    currentOutbox.notify("$/logTrace") {
      $0.beginObject()
      $0.member("message", message)
      $0.endObject()
    }
  }
}
