internal import JSONRPC
internal import Notes
internal import ReplicatingTypes

// Exchanging changes with peers: when a client asks for it, and on a schedule. What is said is in `PeerConversation.swift`; whoever
// owns the descriptors reaches the peers.

/// What is known of a peer.
struct PeerState {
  /// When all was exchanged last, in milliseconds since 1970.
  var reached: Int64?
  /// What it knew then.
  var version = Version()
  /// Why it could not be reached the last time.
  var failure: ResponseError?

  // For those of the schedule.

  /// When the last exchange began; nil before the first.
  var began: ContinuousClock.Instant?
  /// When the next one is due; nil before the first, and while one goes on.
  var due: ContinuousClock.Instant?
  /// How often in a row it could not be reached.
  var failures = 0

  /// A failure that passes by itself is not worth a word: so many times it is tried again at once.
  static let quietRetries = 3

  /// When the next exchange is due, if the last one has just ended: an interval after its beginning, and no sooner than half of one after
  /// its end. After a failure the time counts from its end.
  func next(_ interval: Duration, at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    guard let began else { return now }
    if failures == 0 { return max(now + interval / 2, began + interval) }
    if failures <= Self.quietRetries { return now + min(.seconds(1 << (failures - 1)), interval) }
    let longest = max(interval, .seconds(600))
    return now + min(interval * (1 << min(failures - Self.quietRetries, 16)), longest)
  }
}

extension NotesServer {
  /// How a conversation has ended.
  enum SyncOutcome {
    case done
    case failure(ResponseError)
  }

  /// Clients name what they like: of so many peers something is known.
  private static let mostPeers = 1000
  /// Each is a process, with three descriptors here.
  private static let mostConversations = 64

  /// `notebook/sync`: answered when the peer and this notebook have the changes of both.
  mutating func sync(_ id: RequestID, _ params: Parameters) throws(ResponseError) {
    let peer = try params.requiredString("peer")
    guard PeerAddress(peer) != nil else {
      throw .invalidParams(
        "peer", "must be a folder, a command, or rclone: with the name of a remote")
    }
    let isAdopting = try params.boolean("adopt") ?? false
    let progress = try progressToken(params)
    guard conversations.count < Self.mostConversations else {
      throw .requestFailed("peerFailed", "notebook/sync: so many are under way already")
    }
    if let progress { self.progress(progress, "begin", "Exchanging changes") }
    converse(
      with: peer, for: PeerConversation.Request(id: id, progress: progress), adopting: isAdopting)
  }

  private mutating func converse(
    with peer: String, for request: PeerConversation.Request?, adopting isAdopting: Bool
  ) {
    lastConversation += 1
    var talk = PeerConversation(lastConversation, with: peer, for: request, isAdopting: isAdopting)
    talk.ask("initialize") {
      $0.beginObject()
      $0.key("clientInfo")
      $0.beginObject()
      $0.member("name", "decent-notes sync")
      $0.member("version", Self.programVersion)
      $0.endObject()
      $0.endObject()
    }
    conversations[lastConversation] = talk
  }

  /// Begins what is due.
  ///
  /// - Returns: when the next is; nil if there is none.
  public mutating func syncIfDue(
    at now: ContinuousClock.Instant
  ) -> ContinuousClock.Instant? {
    guard phase == .ready, exitStatus == nil else { return nil }
    var next: ContinuousClock.Instant?
    for peer in environment.peers where !conversations.values.contains(where: { $0.peer == peer }) {
      var state = peers[peer] ?? PeerState()
      let due = state.due ?? state.next(environment.syncInterval, at: now)
      if due > now {
        state.due = due
        next = min(next ?? due, due)
      } else {
        (state.began, state.due) = (now, nil)
        converse(with: peer, for: nil, adopting: false)
      }
      peers[peer] = state
    }
    return next
  }

  /// Tells a client that waits how far it is.
  mutating func report(_ talk: PeerConversation) {
    guard let token = talk.request?.progress else { return }
    progress(token, "report", "received \(talk.received) bytes, sent \(talk.sent)")
  }

  /// A peer is not there any more, or could not be reached.
  ///
  /// - Parameter failure: what went wrong, in a user's words; nil if it ended in order after everything had been said.
  public mutating func peerEnded(_ id: Int, failure: String?) {
    guard let talk = conversations[id] else { return }
    if talk.isOver, failure == nil {
      end(id, .done)
    } else {
      let detail = failure ?? "it ended before everything was said"
      end(id, .failure(.requestFailed("peerUnreachable", "\(talk.peer): \(detail)")))
    }
    push()
  }

  mutating func end(_ id: Int, _ outcome: SyncOutcome) {
    guard let talk = conversations.removeValue(forKey: id) else { return }
    if let token = talk.request?.progress { progress(token, "end") }
    let isScheduled = environment.peers.contains(talk.peer)
    if peers[talk.peer] != nil || peers.count < Self.mostPeers {
      note(outcome, of: talk, isScheduled: isScheduled)
    }
    guard let request = talk.request else { return }
    switch outcome {
    case .failure(let error): said.respond(to: request.id, error: error)
    case .done:
      let revision = revision
      said.respond(to: request.id) {
        $0.beginObject()
        $0.member("sent", talk.sent)
        $0.member("received", talk.received)
        $0.member("revision", revision)
        $0.endObject()
      }
    }
  }

  private mutating func note(
    _ outcome: SyncOutcome, of talk: PeerConversation, isScheduled: Bool
  ) {
    var state = peers[talk.peer] ?? PeerState()
    switch outcome {
    case .done:
      if isScheduled, state.failures > PeerState.quietRetries {
        logMessage(.info, "\(talk.peer): can be reached again")
      }
      state.reached = environment.now()
      state.version = talk.theirs
      state.failure = nil
      state.failures = 0
    case .failure(.requestCancelled): break
    case .failure(let error):
      state.failure = error
      state.failures += 1
      // Once, until it has been reached again.
      if isScheduled, state.failures == PeerState.quietRetries + 1 {
        logMessage(.error, error.message)
      }
    }
    peers[talk.peer] = state
  }

  /// The member `peers` of `notebook/status`.
  func writePeers(_ result: inout JSONWriter) {
    result.key("peers")
    result.beginArray()
    for (peer, state) in peers.sorted(by: { $0.key < $1.key }) {
      result.beginObject()
      result.member("peer", peer)
      if let reached = state.reached {
        result.member("reached", iso8601(reached))
        // Of each replica it knows the first ones, or all.
        let owed = book.version.changes.reduce(0) { owed, last in
          owed + (last.number - min(last.number, state.version[last.replica]))
        }
        result.member("owed", Int(clamping: owed))
      }
      if let failure = state.failure { result.member("failure", failure.message) }
      result.endObject()
    }
    result.endArray()
  }
}
