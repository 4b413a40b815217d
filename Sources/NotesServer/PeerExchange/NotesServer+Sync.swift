internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// Exchanges with peers, for requests of the client and on the schedule. The server gives events to `PeerExchange` and carries
// out its effects on the notebook. The owner of the server carries the bytes to the peers and back.

/// The parameters of `notebook/sync`.
struct SyncParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case peer, adopt, workDoneToken }

  /// The address of the peer, as the user gave it.
  let peer: String
  let isAdopting: Bool
  /// The token of the progress as the client wrote it; nil if the client wants no reports.
  let progress: [UInt8]?

  init(_ params: Parameters) throws(ResponseError) {
    peer = try params.requiredString(Name.peer)
    guard PeerAddress(peer) != nil else {
      throw .invalidParams(
        "peer", "must be a folder, a command, or rclone: with the name of a remote")
    }
    isAdopting = try params.boolean(Name.adopt) ?? false
    progress = try params.progressToken()
  }
}

extension NotesServer {
  /// The most exchanges under way for requests. Each needs a process, and three descriptors here.
  private static let mostExchanges = 64

  // MARK: - Beginning

  /// `notebook/sync`: answered when the peer and this notebook have the changes of both.
  mutating func sync(_ id: RequestID, _ params: SyncParameters) throws(ResponseError) {
    guard exchanges.count < Self.mostExchanges else {
      throw .requestFailed("peerFailed", "notebook/sync: so many are under way already")
    }
    if let token = params.progress { progress(token, "begin", "Exchanging changes") }
    beginExchange(
      with: params.peer, for: RunningExchange.Request(id: id, progress: params.progress),
      adopting: params.isAdopting)
  }

  /// Begins the exchanges that are due.
  ///
  /// - Returns: the time of the next one; nil if there is none, or if the time depends on exchanges under way.
  public mutating func syncIfDue(
    at now: ContinuousClock.Instant
  ) -> ContinuousClock.Instant? {
    guard client.phase == .ready, !isOver else { return nil }
    let exchanges = exchanges
    let (due, next) = peers.schedule.takeDue(at: now) { peer in
      exchanges.values.contains { $0.peer == peer }
    }
    for peer in due {
      peers.states.insert(peer)
      beginExchange(with: peer, for: nil, adopting: false)
    }
    return next
  }

  private mutating func beginExchange(
    with peer: String, for request: RunningExchange.Request?, adopting isAdopting: Bool
  ) {
    peers.lastExchange += 1
    exchanges[peers.lastExchange] = RunningExchange(
      id: peers.lastExchange, request: request,
      exchange: PeerExchange(
        with: peer, isAdopting: isAdopting, pieceSize: environment.syncPiece),
      wire: PeerWire(programVersion: Self.programVersion))
    advance(peers.lastExchange, by: .begin)
  }

  // MARK: - Events and effects

  /// Takes bytes from a peer, and acts on every message that is whole.
  public mutating func receive(_ bytes: ArraySlice<UInt8>, fromPeer id: Int) {
    exchanges[id]?.wire.append(bytes)
    while let event = exchanges[id]?.wire.next() { advance(id, by: event) }
    push()
  }

  /// Notes that the link to a peer has ended, or could not be made.
  ///
  /// - Parameter failure: the reason in a user's words; nil if the link ended in order.
  public mutating func peerEnded(_ id: Int, failure: String?) {
    advance(id, by: .ended(failure: failure))
    push()
  }

  /// Gives an event to an exchange, carries out the effects, and goes on with the result of the last one, if it has any.
  private mutating func advance(_ id: Int, by event: PeerExchange.Event) {
    var next: PeerExchange.Event? = event
    while let event = next {
      next = nil
      let ours = book.version
      let effects = exchanges[id]?.exchange.handle(event, knowing: ours) ?? []
      for effect in effects { next = perform(effect, of: id) }
    }
  }

  /// Carries out an effect; returns its result.
  private mutating func perform(
    _ effect: PeerExchange.Effect, of id: Int
  ) -> PeerExchange.Event? {
    do throws(ResponseError) {
      switch effect {
      case .send(let message): send(message, in: id)
      case .recognize(let notebook, let revision, let digest):
        return try recognize(notebook, revision, digest)
      case .adopt(let notebook):
        do { try store?.adopt(notebook) } catch { throw ResponseError(error) }
        return .adopted
      case .digest(let versions):
        return .digested(try digests(of: versions))
      case .share(let forks):
        let part = try recall { book throws(ArchiveFailure) in try SharedPart(of: book, forks) }
        exchanges[id]?.shared = part
        return .shared(part.version)
      case .merge(let bytes):
        try merge(changes: bytes)
        reportDamage(afterFullLook: false)
        return .merged
      case .read(let version, let limit):
        return try piece(of: exchanges[id]?.shared, since: version, limit)
      case .report(let received, let sent):
        if let token = exchanges[id]?.request?.progress {
          progress(token, "report", "received \(received) bytes, sent \(sent)")
        }
      case .end(let outcome): end(id, outcome)
      }
      return nil
    } catch {
      return .refused(error)
    }
  }

  private mutating func send(_ message: PeerExchange.Message, in id: Int) {
    var digest: UInt64?
    if case .changes(_, _, let common?, _) = message {
      // Where the archive can't be read nothing is compared, and the exchange ends when that is read.
      digest = try? self.digest(of: common)
    }
    exchanges[id]?.wire.send(message, digest: digest)
  }

  private func recognize(
    _ notebook: Identifier?, _ revision: String, _ digest: UInt64?
  ) throws(ResponseError) -> PeerExchange.Event {
    var version = try version(ofRevision: revision)
    if let known = version, let digest, try self.digest(of: known) != digest {
      version = nil
    }
    guard let store, let notebook, let ours = store.identity, !store.isOurs(notebook) else {
      return .recognized(version)
    }
    return .foreign(there: notebook, here: ours, version)
  }

  /// The version that a revision of a peer stands for; nil if it has something that is missing here.
  private func version(ofRevision revision: String) throws(ResponseError) -> Version? {
    // In most exchanges both notebooks are alike, and the past need not be read.
    if revision == self.revision { return book.version }
    return try recall { book throws(ArchiveFailure) in try book.version(ofRevision: revision) }
  }

  private func piece(
    of part: SharedPart?, since version: Version, _ limit: Int
  ) throws(ResponseError) -> PeerExchange.Event {
    let (changes, reached, _) = try recall { book throws(ArchiveFailure) in
      guard let part else { return try book.changes(since: version, limit: limit) }
      return try part.changes(of: book, since: version, limit: limit)
    }
    let identity = store?.identity ?? Identifier(high: 0, low: 0)
    return .piece(changes.encoded(of: identity), upTo: reached)
  }

  // MARK: - Ending

  /// Ends an exchange: at its own effect, when the client cancels it, or when the process leaves. Its request is answered.
  mutating func end(_ id: Int, _ outcome: PeerExchange.Outcome) {
    guard let ended = exchanges.removeValue(forKey: id) else { return }
    if let token = ended.request?.progress { progress(token, "end") }
    record(outcome, of: ended)
    guard let request = ended.request else { return }
    switch outcome {
    case .failure(let error): currentOutbox.respond(to: request.id, error: error)
    case .done:
      let revision = revision
      currentOutbox.respond(to: request.id) {
        $0.beginObject()
        $0.member("sent", ended.exchange.sent)
        $0.member("received", ended.exchange.received)
        $0.member("revision", revision)
        $0.endObject()
      }
    }
  }

  /// Records the outcome of an exchange, and logs when a peer of the schedule goes away or comes back.
  private mutating func record(_ outcome: PeerExchange.Outcome, of ended: RunningExchange) {
    let peer = ended.peer
    switch outcome {
    case .done:
      if peers.schedule.succeeded(peer) { logMessage(.info, "\(peer): can be reached again") }
      peers.states.exchanged(with: peer, version: ended.exchange.theirs, at: environment.now())
    case .failure(let error) where error.reason == "divergedSession":
      // All that can be exchanged was. Both sides are told when the branch comes.
      if peers.schedule.succeeded(peer) { logMessage(.info, "\(peer): can be reached again") }
      peers.states.exchanged(with: peer, version: ended.exchange.theirs, at: environment.now())
      peers.states.failed(peer, error)
    case .failure(.requestCancelled): peers.states.insert(peer)
    case .failure(let error):
      if peers.schedule.failed(peer) { logMessage(.error, error.message) }
      peers.states.failed(peer, error)
    }
  }

  /// Writes the member `peers` of `notebook/status`.
  func writePeers(_ result: inout JSONWriter) { peers.states.write(&result, knowing: book.version) }
}
