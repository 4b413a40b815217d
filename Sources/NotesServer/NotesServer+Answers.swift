internal import JSONRPC
internal import NoteStore
internal import ReplicatingTypes

// Answers to requests, and the notifications that belong to no note: messages to the user, and progress.

extension NotesServer {
  // MARK: - Answers

  /// Answers a request that succeeded. With durability `reply` the answer to a change waits until the change is on disk.
  ///
  /// - Parameter result: what a `JSONWriter` has written.
  mutating func respond(to id: RequestID, changesNotebook: Bool, _ result: [UInt8]) {
    if requests.group != nil { return requests.group!.append(id, .success(result)) }
    let progress = store?.progress ?? (appended: 0, durable: 0)
    guard environment.durability == .reply, changesNotebook,
      progress.durable < progress.appended, !connection.isOutputGone
    else { return currentOutbox.respond(to: id) { $0.written(result) } }
    connection.held.append(
      PendingReplies.Answer(
        id: id, result: result, through: progress.appended,
        after: Outbox(framing: outbox.framing)))
  }

  /// Answers a request when everything that was written before it is on disk for good.
  ///
  /// - Parameter canBeCancelled: whether the client can cancel it.
  mutating func respondWhenDurable(
    to id: RequestID, progress: [UInt8]?, canBeCancelled: Bool
  ) {
    if let progress { self.progress(progress, "begin", "Writing to disk") }
    // This comes before the records are counted, because it writes again what the folder lacks or the disk has refused.
    store?.requestSync(isRetry: true)
    requests.waitingForDisk.append(
      DiskRequest(
        id: id, progress: progress, canBeCancelled: canBeCancelled,
        through: store?.progress.appended ?? 0))
    takeDiskResult()
  }

  /// Learns which records have reached the disk, or could not, and gives the answers that have waited for them.
  mutating func takeDiskResult() {
    if let failure = store?.takeSyncResult() { showMessage(.error, "\(failure)") }
    releaseAnswers()
    let durable = store?.progress.durable ?? .max
    let doubt = store?.doubt
    for request in requests.waitingForDisk where request.through <= durable || doubt != nil {
      if let token = request.progress { progress(token, "end") }
      if request.through > durable, let doubt {
        currentOutbox.respond(to: request.id, error: ResponseError(doubt))
      } else {
        currentOutbox.respond(to: request.id) { $0.null() }
      }
    }
    requests.waitingForDisk.removeAll { $0.through <= durable || doubt != nil }
  }

  /// Gives the held answers whose changes are on disk, or cannot be put there at present.
  private mutating func releaseAnswers() {
    let durable = store?.progress.durable ?? .max
    let doubt = store?.doubt
    for answer in connection.held.take(while: { $0.through <= durable || doubt != nil }) {
      if answer.through > durable, let doubt {
        outbox.respond(to: answer.id, error: .requestFailed("notDurable", "\(doubt)"))
      } else {
        outbox.respond(to: answer.id) { $0.raw(answer.result) }
      }
      outbox.append(answer.after)
    }
  }

  /// Answers a request with an error. If the disk has refused a change, it is tried from now on whether it takes changes again.
  mutating func refuse(_ id: RequestID, _ error: ResponseError) {
    if requests.group != nil { return requests.group!.append(id, .failure(error)) }
    currentOutbox.respond(to: id, error: error)
    if store?.isRefused == true { schedule.isRefused = true }
  }

  /// Tells a client that was refused a change when the disk takes changes again: it may wait for this to save its text.
  mutating func reportRecovery() {
    guard schedule.isRefused, store?.isRefused == false else { return }
    schedule.isRefused = false
    showMessage(.info, "Changes can be saved again.")
  }

  // MARK: - Messages

  enum MessageType: Int {
    case error = 1
    case warning, info, log
  }

  /// Writes a message to the client's log, after the reply to the present request.
  mutating func logMessage(_ type: MessageType, _ message: String) {
    let message = message.escapingControlCharacters
    connection.afterReply.append { outbox in
      outbox.notify("window/logMessage") { $0.message(type.rawValue, message) }
    }
  }

  /// Shows a message to the user.
  mutating func showMessage(_ type: MessageType, _ message: String) {
    let message = message.escapingControlCharacters
    currentOutbox.notify("window/showMessage") { $0.message(type.rawValue, message) }
  }

  /// Tells the user of damage of the notebook, once of each.
  ///
  /// - Parameter isFullLook: whether every file was looked at.
  mutating func reportDamage(afterFullLook isFullLook: Bool) {
    guard let store else { return }
    let news = damageReports.news(
      store.damage, waiting: store.waiting, isFullLook: isFullLook,
      isOnlyLook: environment.isSingleRequest || environment.memoryFolder != nil)
    for message in news { showMessage(.warning, message) }
    // Only who has a user before them.
    if client.isExchange || environment.isSingleRequest { return }
    let branches = store.takeUntoldBranches()
    if !branches.isEmpty { showMessage(.warning, DamageReports.message(branches)) }
  }

  // MARK: - Progress

  /// Tells the client of the progress of a request: `begin` with a title, `report` with a message, `end`.
  ///
  /// - Parameter token: the client's name for it, as the client wrote it.
  mutating func progress(_ token: [UInt8], _ kind: String, _ text: String? = nil) {
    currentOutbox.notify("$/progress") {
      $0.beginObject()
      $0.key("token")
      $0.raw(token)
      $0.key("value")
      $0.beginObject()
      $0.member("kind", kind)
      if let text { $0.member(kind == "begin" ? "title" : "message", text) }
      $0.endObject()
      $0.endObject()
    }
  }
}

extension JSONWriter {
  fileprivate mutating func message(_ type: Int, _ message: String) {
    beginObject()
    key("type")
    integer(type)
    member("message", message)
    endObject()
  }
}

/// The messages about damage of the notebook that the user has been told.
struct DamageReports {
  /// True if every file is looked at, of which what was found is reported when all of it is merged.
  var isFullLook = false
  private var reported: Set<String> = []
  /// The report about waiting changes at the last full look.
  private var waitingAtFullLook: LogFolder.Damage?

  /// The messages that the user has not been told yet.
  ///
  /// - Parameters:
  ///   - damage: all damage there is.
  ///   - waiting: the report in `damage` about changes that wait for others. The user is told if it is the same at two full
  ///     looks in a row: while two processes write, changes may wait for a moment.
  ///   - isFullLook: whether every file was looked at.
  ///   - isOnlyLook: whether there is no second one.
  mutating func news(
    _ damage: [LogFolder.Damage], waiting: LogFolder.Damage?, isFullLook: Bool,
    isOnlyLook: Bool
  ) -> [String] {
    let isLasting = isFullLook && (isOnlyLook || waiting == waitingAtFullLook)
    if isFullLook { waitingAtFullLook = waiting }
    var news: [String] = []
    for damage in damage where damage != waiting || isLasting {
      let message = "\(damage.path), byte \(damage.offset): \(damage.description)"
      if reported.insert(message).inserted { news.append(message) }
    }
    return news
  }

  /// The message about branches.
  static func message(_ branches: [ReplicaID]) -> String {
    let names = branches.prefix(3).map(\.description).joined(separator: ", ")
    let more = branches.count > 3 ? " and \(branches.count - 3) others" : ""
    return
      "divergedSession: two programs went on as one session, as copies of a running machine do. What the other one wrote can be read"
      + " here as session \(names)\(more), and what this one wrote there. What follows them does not travel between the two: see"
      + " \"Copies of a running machine\" in the documentation"
  }
}
