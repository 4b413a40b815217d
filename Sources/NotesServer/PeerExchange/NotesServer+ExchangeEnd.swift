internal import JSONRPC
internal import Notes

// The end of an exchange, or of the link that it has left: the answer, and what the user is told.

extension NotesServer {
  /// Ends an exchange: at its own effect, when the client cancels it, or when the process leaves. Its request is answered.
  mutating func end(_ id: Int, _ outcome: PeerExchange.Outcome) {
    guard let ended = exchanges.removeValue(forKey: id) else { return }
    sharedPresence?.forget(.link(id))
    record(outcome, of: ended)
    if ended.isStanding { peers.states.setLive(ended.peer, false) }
    answer(ended, outcome)
  }

  /// Answers the request of an exchange, if it has one.
  mutating func answer(_ ended: RunningExchange, _ outcome: PeerExchange.Outcome) {
    guard let request = ended.request else { return }
    if let token = request.progress { progress(token, "end") }
    if case .done = outcome, request.stays {
      peers.schedule.insert(ended.peer)
      peers.stays[ended.peer] = request.id
    }
    switch outcome {
    case .failure(var error):
      if error.reason == "foreignNotebook" {
        error.message += ", as `\(commandLine("sync", "--adopt", ended.peer))` does"
      }
      currentOutbox.respond(to: request.id, error: error)
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
  mutating func record(_ outcome: PeerExchange.Outcome, of ended: RunningExchange) {
    let peer = ended.peer
    switch outcome {
    case .done:
      noteReached(ended)
      peers.states.exchanged(with: peer, version: ended.exchange.theirs, at: environment.now())
    case .failure(let error) where error.reason == "divergedSession":
      // All that can be exchanged was. Both sides are told when the branch comes.
      noteReached(ended)
      peers.states.exchanged(with: peer, version: ended.exchange.theirs, at: environment.now())
      peers.states.failed(peer, error)
    case .failure(.requestCancelled): peers.states.insert(peer)
    case .failure(let error):
      if peers.schedule.failed(peer) { logMessage(.error, error.message) }
      peers.states.failed(peer, error)
    }
  }

  /// Tells that a peer can be reached again, if it was told that it could not. Of a link that is told when it has lasted.
  private mutating func noteReached(_ ended: RunningExchange) {
    if ended.isStanding { return }
    if peers.schedule.succeeded(ended.peer, mayLink: ended.exchange.stays) {
      logMessage(.info, "\(ended.peer): can be reached again")
    }
  }
}
