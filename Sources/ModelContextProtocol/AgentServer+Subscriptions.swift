internal import JSONRPC

// `subscriptions/listen`, `resources/subscribe`, and what is told by them.

extension AgentServer {
  /// While this many bytes wait for the agent to read them, nothing is told.
  private static let fullOfNews = 1 << 20

  // MARK: - Subscribing

  /// `subscriptions/listen`: acknowledges, and is answered when the process ends. `notifications/cancelled` ends it without an answer.
  mutating func listen(_ id: RequestID, _ params: JSONValue) {
    guard let wanted = params["notifications"], wanted.kind == .object else {
      return refuse(id, .invalidParams("notifications", "must be an object"))
    }
    let uris = wanted["resourceSubscriptions"]
    guard uris == nil || uris!.array?.allSatisfy({ $0.kind == .string }) == true else {
      return refuse(
        id, .invalidParams("notifications.resourceSubscriptions", "must be an array of strings"))
    }
    let wantsList = wanted["resourcesListChanged"]?.boolean == true
    let notes = Set((uris?.array).map { $0.compactMap { $0.string.flatMap(NoteURI.init) } } ?? [])
    guard subscriptions.hasRoom(forResources: notes.count, stream: true) else {
      return refuse(
        id,
        .invalidParams(
          "notifications",
          "there may be \(Subscriptions.mostStreams) subscriptions, with"
            + " \(Subscriptions.mostResources) resources in all of them"))
    }
    // From when it is open on the notebook's server tells of changes.
    ask("notebook/status", for: id) { _ in
    } then: { server, answer in
      if case .failure(let failure) = answer { return server.refuse(id, because: failure) }
      // It is none of those that hold others up.
      guard server.underway.removeValue(forKey: id) != nil else { return }
      server.subscriptions.add(.init(id: id, wantsList: wantsList, notes: notes))
      server.outbox.notify("notifications/subscriptions/acknowledged") {
        $0.beginObject()
        Self.writeSubscription(id, &$0)
        $0.key("notifications")
        $0.beginObject()
        if wantsList { $0.member("resourcesListChanged", true) }
        if !notes.isEmpty { $0.member("resourceSubscriptions", notes.map(\.text).sorted()) }
        $0.endObject()
        $0.endObject()
      }
    }
  }

  /// Answers all `subscriptions/listen`: their streams end.
  mutating func endListening() {
    for stream in subscriptions.streams {
      guard let id = stream.id, subscriptions.remove(id) else { continue }
      respond(to: id) { meta in
        meta.key(MetaName.subscription)
        meta.requestID(id)
      } members: { _ in
      }
    }
  }

  /// Begins to tell of the list, as soon as the agent has said that it is ready.
  mutating func beginTelling() {
    guard !subscriptions.has(nil) else { return }
    subscriptions.add(.init(id: nil, wantsList: true, notes: []))
    ask("notebook/status") { _ in
    } then: { _, _ in
    }
  }

  /// `resources/subscribe` and `resources/unsubscribe`.
  mutating func subscribe(_ id: RequestID, _ params: JSONValue, ending isEnding: Bool) {
    guard let uri = params["uri"]?.string else {
      return refuse(id, .invalidParams("uri", "must be a string"))
    }
    guard let note = NoteURI(uri) else { return refuseResource(id, uri) }
    beginTelling()
    if isEnding {
      subscriptions.change { $0.notes.remove(note) }
      return answer(id) { _ in }
    }
    guard subscriptions.hasRoom(forResources: 1, stream: false) else {
      return refuse(
        id, .invalidParams("uri", "there are \(Subscriptions.mostResources) subscriptions already"))
    }
    ask("note/get", for: id) {
      $0.member("id", note.id)
    } then: { server, answer in
      switch answer {
      case .success:
        server.subscriptions.change { $0.notes.insert(note) }
        server.answer(id) { _ in }
      case .failure(let failure) where failure.isAboutMissingNote:
        server.refuseResource(id, uri)
      case .failure(let failure): server.refuse(id, because: failure)
      }
    }
  }

  // MARK: - Telling

  /// `notebook/didChange`: what others have done.
  mutating func noteChanges(_ params: JSONValue?) {
    for change in params?["changed"]?.array.map(Array.init) ?? [] {
      guard let id = change["id"]?.string else { continue }
      noteChange(of: id, change["what"]?.array?.compactMap(\.string) ?? [])
    }
  }

  /// Notes a change that others have made, or the agent itself.
  mutating func noteChange(of id: String, _ what: [String]) {
    if !Set(what).isDisjoint(with: ["created", "title", "trashed", "purged"]) {
      subscriptions.noteList()
    }
    if what.contains(where: { $0 != "position" }) { subscriptions.note(NoteURI(id: id)) }
  }

  /// Tells what is to be told, as far as there is room.
  mutating func tellNews() {
    while outbox.count < Self.fullOfNews, let (stream, note) = subscriptions.takeNews() {
      let method =
        note == nil ? "notifications/resources/list_changed" : "notifications/resources/updated"
      outbox.notify(method) {
        $0.beginObject()
        if let stream { Self.writeSubscription(stream, &$0) }
        if let note { $0.member("uri", note.text) }
        $0.endObject()
      }
    }
  }

  private static func writeSubscription(_ id: RequestID, _ params: inout JSONWriter) {
    params.key("_meta")
    params.beginObject()
    params.key(MetaName.subscription)
    params.requestID(id)
    params.endObject()
  }
}
