internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// Exchanges with peers, for requests of the client and on the schedule. The server gives events to `PeerExchange` and carries
// out its effects on the notebook. The owner of the server carries the bytes to the peers and back.

/// The parameters of `notebook/sync`.
struct SyncParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case peer, adopt, stay, workDoneToken }

  /// The address of the peer, as the user gave it.
  let peer: String
  let isAdopting: Bool
  /// True if a link to the peer is to stay, false if none is to; nil if changes are exchanged once.
  let stays: Bool?
  /// The token of the progress as the client wrote it; nil if the client wants no reports.
  let progress: [UInt8]?

  init(_ params: Parameters) throws(ResponseError) {
    peer = try params.requiredString(Name.peer)
    guard PeerAddress(peer) != nil else {
      throw .invalidParams(
        "peer", "must be a folder, a command, or rclone: with the name of a remote")
    }
    isAdopting = try params.boolean(Name.adopt) ?? false
    stays = try params.boolean(Name.stay)
    progress = try params.progressToken()
  }
}

extension NotesServer {
  /// The most exchanges under way for requests. Each needs two processes, and six descriptors here.
  private static let mostExchanges = 64

  // MARK: - Beginning

  /// `notebook/sync`: answered when the peer and this notebook have the changes of both. If it is to stay, this goes on then, until the
  /// request is cancelled, or another one says that it is not to stay.
  mutating func sync(_ id: RequestID, _ params: SyncParameters) throws(ResponseError) {
    if params.stays == false { leave(params.peer) }
    guard exchanges.count < Self.mostExchanges else {
      throw .requestFailed("peerFailed", "notebook/sync: so many are under way already")
    }
    if let token = params.progress { progress(token, "begin", "Exchanging changes") }
    let stays = params.stays == true
    beginExchange(
      with: params.peer,
      for: RunningExchange.Request(id: id, progress: params.progress, stays: stays),
      adopting: params.isAdopting, staying: stays && !isLinking(to: params.peer))
  }

  /// True if a link to a peer stands, or an exchange is under way that is to leave one.
  private func isLinking(to peer: String) -> Bool {
    exchanges.values.contains { $0.peer == peer && $0.exchange.stays }
  }

  /// Exchanges nothing more with a peer by itself: links end, and so do exchanges that would leave one.
  private mutating func leave(_ peer: String) {
    peers.schedule.remove(peer)
    let links = exchanges.values.filter { $0.peer == peer && $0.exchange.stays }
    for id in links.map(\.id).sorted() { end(id, .failure(.requestCancelled)) }
  }

  /// Leaves the peer with which a request, that was answered, has begun to exchange; returns false if there is none.
  mutating func leavePeer(ofRequest id: RequestID) -> Bool {
    guard let peer = peers.stays.first(where: { $0.value == id })?.key else { return false }
    peers.stays[peer] = nil
    leave(peer)
    return true
  }

  /// Begins the exchanges that are due.
  ///
  /// - Returns: the time of the next one; nil if there is none, or if the time depends on exchanges under way.
  mutating func syncIfDue(at now: Instant) -> Instant? {
    guard client.phase == .ready, !isOver else { return nil }
    let exchanges = exchanges
    let (due, next) = peers.schedule.takeDue(at: now) { peer in
      exchanges.values.contains { $0.peer == peer }
    }
    for peer in due {
      peers.states.insert(peer)
      beginExchange(with: peer, for: nil, adopting: false, staying: true)
    }
    return next
  }

  private mutating func beginExchange(
    with peer: String, for request: RunningExchange.Request?, adopting isAdopting: Bool,
    staying isStaying: Bool
  ) {
    // A remote of rclone is a store of files, which tells nothing.
    let stays = isStaying && !PeerAddress.isStore(peer)
    peers.lastExchange += 1
    exchanges[peers.lastExchange] = RunningExchange(
      id: peers.lastExchange, request: request,
      exchange: PeerExchange(
        with: peer, isAdopting: isAdopting, stays: stays, pieceSize: environment.syncPiece),
      wire: PeerWire(programVersion: Self.programVersion))
    advance(peers.lastExchange, by: .begin)
  }

  // MARK: - Events and effects

  /// Takes bytes from a peer, and acts on every message that is whole.
  public mutating func receive(_ bytes: ArraySlice<UInt8>, fromPeer id: Int) {
    exchanges[id]?.wire.append(bytes)
    while let event = exchanges[id]?.wire.next() {
      if exchanges[id]!.isStanding { take(event, ofLink: id) } else { advance(id, by: event) }
    }
    push()
  }

  /// Notes that the link to a peer has ended, or could not be made.
  ///
  /// - Parameter failure: the reason in a user's words; nil if the link ended in order.
  public mutating func peerEnded(_ id: Int, failure: String?) {
    let event = PeerExchange.Event.ended(failure: failure)
    if exchanges[id]?.isStanding == true { take(event, ofLink: id) } else { advance(id, by: event) }
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
      case .stand: stand(id)
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
    var revision: String?
    if case .follow(let version) = message {
      // A version is named in full where that can't be read.
      revision = try? recall { book throws(ArchiveFailure) in
        "\(try book.revision(of: version))"
      }
    }
    exchanges[id]?.wire.send(message, digest: digest, revision: revision)
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
}
