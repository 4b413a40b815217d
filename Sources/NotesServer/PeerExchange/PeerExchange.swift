internal import JSONRPC
internal import Notes
internal import ReplicatingTypes

// An exchange of changes with a peer: a state machine without I/O. It is given events and returns effects, which the driver
// (`NotesServer+Sync.swift`) carries out. It is a client of the peer, in the protocol that this program serves itself:
//
//     initialize                             which notebook it is, and its revision, which is often one that is known here
//     notebook/status                        if the revision is not known here: what the peer knows
//     notebook/changes {since}, again        what is missing here, in pieces: the next may come while one is merged
//     notebook/merge {changes}, again        what is missing there, several pieces under way at once
//     notebook/flush, shutdown, exit
//
// An exchange that is to stay ends with `notebook/follow` in place of `shutdown`, if the peer knows that: what comes then is the business of
// `StandingLink`.
//
// Where the two know different changes under the same names (`Fork`), which digests tell, these are looked for, and then what is shared
// is exchanged, the branches of what is not, and nothing else:
//
//     notebook/digests {versions}, again     from where on the changes differ
//     notebook/changes {since, without}      what is missing here and shared
//
// Every piece is causally closed, and is kept once it is answered. So an exchange can end at any point and nothing has to be
// undone: the next one goes on from there. Two exchanges at the same time only send some changes twice.
//
// In the states comparing, adopting, digesting, sharing, merging, mergingLast and reading the machine waits for the result of its last effect,
// which the driver gives before any other event. In all others but new, standing and closed it waits for the peer.
//
// "stays": the exchange is to stay, the peer can be followed, and no fork was found.
//
// "lacks": the peer does not know everything that was known here when the first piece was read (`goal`). Changes that are made
// later go with the next exchange; otherwise an exchange during which the user types might never end.
//
//     state         event                                  next          effects
//     ------------  -------------------------------------  ------------  ---------------------------
//     new           begin                                  initializing  send initialize
//     initializing  initialized                            comparing     recognize
//     comparing     recognized, peer lacks changes         reading       read
//     comparing     recognized, peer lacks nothing         leaving       send shutdown
//     comparing     recognized, nothing lacks, stays       joining       send follow
//     comparing     recognized, version unknown            asking        send status
//     comparing     foreign                                closed        end foreignNotebook
//     comparing     foreign, to be adopted                 adopting      adopt
//     adopting      adopted, peer lacks changes            reading       read
//     adopting      adopted, peer lacks nothing            leaving       send shutdown
//     adopting      adopted, nothing lacks, stays          joining       send follow
//     adopting      adopted, version unknown               asking        send status
//     asking        status, peer has more                  pulling       send changes
//     asking        status, peer has no more and tells digests  locating  send digests
//     asking        status, peer lacks changes             reading       read
//     asking        status, peer lacks nothing             leaving       send shutdown
//     asking        status, nothing lacks, stays           joining       send follow
//     pulling       failed, diverged                       locating      send digests
//     locating      digests                                digesting     digest
//     digesting     digested, more to be looked for        locating      send digests
//     digesting     digested, no fork, peer has more       pulling       send changes
//     digesting     digested, no fork, peer lacks changes  reading       read
//     digesting     digested, no fork, peer lacks nothing  leaving       send shutdown
//     digesting     digested, nothing lacks, stays         joining       send follow
//     digesting     digested, forks                        sharing       share
//     sharing       shared                                 pulling       send changes
//     pulling       changes, more to come                  merging       send changes, merge
//     pulling       changes                                mergingLast   merge
//     merging       merged                                 pulling       report
//     merging       merged, too many empty pieces          closed        report, end badPeer
//     mergingLast   merged, peer lacks changes             reading       report, read
//     mergingLast   merged, peer lacks nothing             leaving       report, send shutdown
//     mergingLast   merged, nothing lacks, stays           joining       report, send follow
//     reading       piece, room for another                reading       send merge, read
//     reading       piece                                  pushing       send merge
//     pushing       accepted, peer lacks changes           reading       report, read
//     pushing       accepted, others under way             pushing       report
//     pushing       accepted                               flushing      report, send flush
//     flushing      flushed                                leaving       send shutdown
//     flushing      flushed, stays                         joining       send follow
//     joining       following                              standing      stand
//     leaving       shutDown                               over          send exit
//     over          ended                                  closed        end done
//     over          ended, after forks were found          closed        end divergedSession
//     over          ended, failure                         closed        end peerUnreachable
//     comparing     refused                                closed        end of its error
//     adopting      refused                                closed        end of its error
//     digesting     refused                                closed        end of its error
//     sharing       refused                                closed        end of its error
//     merging       refused                                closed        end of its error
//     mergingLast   refused                                closed        end of its error
//     reading       refused                                closed        end of its error
//     any other     ended                                  closed        end peerUnreachable
//     any           failed                                 closed        end peerFailed
//     any           failed, foreign                        closed        end foreignNotebook
//     any           violated                               closed        end badPeer
//     any           notified, arrived, presence            the same
//     standing      any                                    standing
//     closed        any                                    closed
//
// No other pair can come about, whatever the peer sends, because `PeerWire` passes on only answers to requests. If one does, the
// exchange ends with an internal error.

/// The state of an exchange of changes with a peer, and its transitions.
struct PeerExchange {
  /// The exchange waits for something in each state.
  enum State: CaseIterable {
    /// `begin` is to come.
    case new
    /// The answer to `initialize` is to come.
    case initializing
    /// The result of the effect `recognize` is to come.
    case comparing
    /// The result of the effect `adopt` is to come.
    case adopting
    /// The answer to `notebook/status` is to come.
    case asking
    /// The answer to `notebook/digests` is to come.
    case locating
    /// The result of the effect `digest` is to come.
    case digesting
    /// The result of the effect `share` is to come.
    case sharing
    /// The answer to `notebook/changes` is to come.
    case pulling
    /// The result of the effect `merge` is to come, and then the next piece of the peer.
    case merging
    /// The result of the effect `merge` is to come, and no further piece.
    case mergingLast
    /// The result of the effect `read` is to come.
    case reading
    /// Answers to `notebook/merge` are to come.
    case pushing
    /// The answer to `notebook/flush` is to come.
    case flushing
    /// The answer to `notebook/follow` is to come.
    case joining
    /// The exchange has ended, and its link stays.
    case standing
    /// The answer to `shutdown` is to come.
    case leaving
    /// All was sent, `exit` last; the end of the link is to come.
    case over
    /// The exchange has ended.
    case closed
  }

  /// An event: at the peer, or here as the result of an effect.
  enum Event: Equatable {
    /// The link to the peer can be used.
    case begin
    /// Answers of the peer: to `initialize`, `notebook/status`, `notebook/digests`, `notebook/changes`, `notebook/merge`,
    /// `notebook/flush`, `notebook/follow`, `shutdown`. `digest` is that of the revision; nil if the peer, of an older version, tells
    /// none. `tellsNews` is true if the peer can be followed.
    case initialized(notebook: Identifier?, revision: String, digest: UInt64?, tellsNews: Bool)
    case status(Version)
    case digests([[UInt64]])
    /// `reached` is the revision of the peer that the piece leads to.
    case changes([UInt8], reached: String, isMore: Bool)
    case accepted, flushed, following, shutDown
    /// The peer has answered with an error.
    case failed(reason: String?, message: String?)
    /// On a link that stands: changes that are new there; the answer that the peer is there, with what it knows.
    case arrived([UInt8])
    case alive(revision: String, digest: UInt64?)
    case presence([UInt8])
    /// The peer has sent another notification.
    case notified(method: String)
    /// The peer has sent what this protocol does not allow.
    case violated(String)
    /// The link to the peer has ended; `failure` says why, in a user's words, nil if it ended in order.
    case ended(failure: String?)

    /// Results of effects. Both notebooks are one, or can become one; the version is that of the peer's revision, nil if the
    /// revision has changes that are missing here, or others under the same names.
    case recognized(Version?)
    /// The peer has another notebook than this one.
    case foreign(there: Identifier, here: Identifier, Version?)
    case adopted, merged
    /// The digests of versions here, and the version of what is shared with a peer.
    case digested([[UInt64]])
    case shared(Version)
    /// Changes that the peer lacks, encoded, and the version that they lead to.
    case piece([UInt8], upTo: Version)
    /// An effect could not be carried out here.
    case refused(ResponseError)
  }

  /// A message to the peer.
  enum Message: Equatable {
    case initialize, status
    /// Asks for the digests of versions that both know.
    case digests([Version])
    /// Asks for at most so many bytes of changes: if the digests of `common` are the same here and there, and without what is contested
    /// by forks.
    case changes(since: String, limit: Int, common: Version? = nil, without: [Fork] = [])
    case merge([UInt8], isAdopting: Bool)
    case flush, shutdown
    /// Asks to be told at once what is new to who knows this version.
    case follow(since: Version)
    /// On a link that stands: asks the peer whether it is there; tells of participants, which has no answer.
    case pulse
    case presence([UInt8])
    /// A notification, which has no answer.
    case exit
  }

  /// A task for the driver. `recognize`, `adopt`, `digest`, `share`, `merge` and `read` have a result; each is the last in its list.
  enum Effect: Equatable {
    case send(Message)
    /// Find out whether the peer's notebook is the one here, and the version of its revision.
    case recognize(notebook: Identifier?, revision: String, digest: UInt64?)
    /// Find the digests of versions here.
    case digest([Version])
    /// Find out what can be shared with a peer that knows other changes, and read that from now on.
    case share([Fork])
    /// Make the two notebooks one.
    case adopt(Identifier)
    /// Merge encoded changes.
    case merge([UInt8])
    /// Read the next changes that are not in a version, at most so many bytes.
    case read(since: Version, limit: Int)
    /// Report the bytes of changes so far.
    case report(received: Int, sent: Int)
    /// The exchange is complete, and the link stays.
    case stand
    /// The exchange has ended.
    case end(Outcome)
  }

  /// The end of an exchange.
  enum Outcome: Equatable {
    case done
    case failure(ResponseError)
  }

  /// The most pieces under way to the peer: several, so that a connection with a long delay is not idle between them.
  static let mostUnderWay = 16
  /// The most pieces in a row that bring nothing new. A few may, because their changes have come another way meanwhile. With a peer
  /// that sends nothing else an exchange would never end.
  static let mostEmptyPieces = 1000

  /// The peer as the user has called it, for messages to the user.
  let peer: String
  /// True if two notebooks that were begun independently are to become one.
  let isAdopting: Bool
  /// True if the link is to stay when the exchange is complete.
  let stays: Bool
  /// Bytes of changes in one piece.
  let pieceSize: Int

  private(set) var state = State.new
  /// Bytes of changes that came from the peer.
  private(set) var received = 0
  /// Bytes of changes that the peer has accepted.
  private(set) var sent = 0
  /// The version of the peer, with the pieces that are under way to it.
  private(set) var theirs = Version()

  /// The version of the peer's revision, nil if it is not known here; kept while a notebook is adopted.
  private var recognized: Version?
  /// The version that the peer has to have at the end of the exchange, at least.
  private var goal = Version()
  /// The sizes of the pieces that are under way to the peer, in bytes, the oldest first.
  private var underWay: [Int] = []
  /// The version here before the piece that is being merged.
  private var versionBeforeMerge = Version()
  private var emptyPiecesInARow = 0
  /// True if the peer tells digests.
  private var tellsDigests = false
  /// True if the peer can be followed.
  private var tellsNews = false
  private var search = ForkSearch(common: Version())
  /// The digests of the search's probes there.
  private var digestsThere: [[UInt64]] = []
  /// The version of what is shared with the peer, where the two know different changes under the same names.
  private var shared: Version?

  /// Creates an exchange that has not begun.
  init(with peer: String, isAdopting: Bool, stays: Bool = false, pieceSize: Int) {
    self.peer = peer
    self.isAdopting = isAdopting
    self.stays = stays
    self.pieceSize = pieceSize
  }

  /// Makes the transition that an event leads to.
  ///
  /// - Parameter ours: the version of the notebook here, now.
  /// - Returns: the effects, to be carried out in this order.
  mutating func handle(_ event: Event, knowing ours: Version) -> [Effect] {
    switch (state, event) {
    case (.closed, _), (.standing, _), (_, .notified), (_, .arrived), (_, .presence):
      return []
    case (_, .violated(let detail)): return fail(violation(detail))
    case (.pulling, .failed("divergedSession", _)) where shared == nil: return locate(ours)
    case (_, .failed(let reason, let message)): return fail(failure(reason, message))
    case (.over, .ended(nil)):
      guard search.forks.isEmpty else { return fail(diverged) }
      return go(to: .closed, [.end(.done)])
    case (_, .ended(let failure)): return fail(unreachable(failure))
    case (.comparing, .refused(let error)), (.adopting, .refused(let error)),
      (.digesting, .refused(let error)), (.sharing, .refused(let error)),
      (.reading, .refused(let error)):
      return fail(error)
    case (.merging, .refused(var error)), (.mergingLast, .refused(var error)):
      error.message = "\(peer): \(error.message)"
      return fail(error)

    case (.new, .begin): return go(to: .initializing, [.send(.initialize)])
    case (.initializing, .initialized(let notebook, let revision, let digest, let tellsNews)):
      tellsDigests = digest != nil
      self.tellsNews = tellsNews
      return go(
        to: .comparing, [.recognize(notebook: notebook, revision: revision, digest: digest)])
    case (.comparing, .recognized(let version)): return compare(version, ours)
    case (.comparing, .foreign(let there, let here, let version)):
      guard isAdopting else { return fail(foreign(there, here)) }
      recognized = version
      return go(to: .adopting, [.adopt(there)])
    case (.adopting, .adopted): return compare(recognized, ours)
    case (.asking, .status(let version)):
      theirs = version
      guard ours.isSuperset(of: version) else { return startPulling(from: ours) }
      // Its revision wasn't known here although all of its names are: they may name something else.
      return tellsDigests ? locate(ours) : startPushing(to: ours)

    case (.locating, .digests(let digests)):
      guard search.isAnswer(digests) else {
        return fail(violation("digests of something else than was asked for"))
      }
      digestsThere = digests
      return go(to: .digesting, [.digest(search.probes)])
    case (.digesting, .digested(let digests)):
      search.narrow(digests, digestsThere)
      if !search.probes.isEmpty { return go(to: .locating, [.send(.digests(search.probes))]) }
      guard search.forks.isEmpty else { return go(to: .sharing, [.share(search.forks)]) }
      tellsDigests = false
      return ours.isSuperset(of: theirs) ? startPushing(to: ours) : startPulling(from: ours)
    case (.sharing, .shared(let version)):
      shared = version
      return startPulling(from: version)

    case (.pulling, .changes(let bytes, let reached, let isMore)):
      return take(bytes, reached, isMore, ours)
    case (.merging, .merged): return finishMerge(ours)
    case (.mergingLast, .merged): return [report] + startPushing(to: ours)

    case (.reading, .piece(let bytes, let version)):
      theirs.merge(version)
      underWay.append(bytes.count)
      return [.send(.merge(bytes, isAdopting: isAdopting))] + continuePushing()
    case (.pushing, .accepted):
      sent += underWay.removeFirst()
      return [report] + continuePushing()
    case (.flushing, .flushed): return finish()
    case (.joining, .following): return go(to: .standing, [.stand])
    case (.leaving, .shutDown): return go(to: .over, [.send(.exit)])
    default: return fail(.internalError("\(peer): an exchange received an event out of turn"))
    }
  }

  private mutating func go(to next: State, _ effects: [Effect]) -> [Effect] {
    state = next
    return effects
  }

  private var report: Effect { .report(received: received, sent: sent) }

  // MARK: - Changes that are different here

  private mutating func locate(_ ours: Version) -> [Effect] {
    search = ForkSearch(common: ours.intersection(theirs))
    return go(to: .locating, [.send(.digests(search.probes))])
  }

  private var diverged: ResponseError {
    let names = search.forks.prefix(3).map { "\($0.replica) after its change \($0.shared)" }
    let more = search.forks.count > 3 ? ", and \(search.forks.count - 3) others" : ""
    return .requestFailed(
      "divergedSession",
      "\(peer): there and here are different changes under the same names, in session "
        + names.joined(separator: ", ") + more
        + ": two programs went on as one, as copies of a running machine do. Both can be read on both"
        + " sides now, and everything else was exchanged; what follows them does not travel")
  }

  // MARK: - Changes that are missing here

  /// - Parameter version: what is known here of what can be exchanged.
  private mutating func startPulling(from version: Version) -> [Effect] {
    let common = tellsDigests && shared == nil ? version.intersection(theirs) : nil
    return go(
      to: .pulling,
      [
        .send(
          .changes(
            since: version.description, limit: pieceSize, common: common, without: search.forks))
      ])
  }

  private mutating func compare(_ version: Version?, _ ours: Version) -> [Effect] {
    guard let version else { return go(to: .asking, [.send(.status)]) }
    theirs = version
    return startPushing(to: ours)
  }

  private mutating func take(
    _ bytes: [UInt8], _ reached: String, _ isMore: Bool, _ ours: Version
  ) -> [Effect] {
    received += bytes.count
    versionBeforeMerge = ours
    guard isMore else { return go(to: .mergingLast, [.merge(bytes)]) }
    // The next piece can come while this one is merged.
    return go(
      to: .merging,
      [.send(.changes(since: reached, limit: pieceSize, without: search.forks)), .merge(bytes)])
  }

  private mutating func finishMerge(_ ours: Version) -> [Effect] {
    emptyPiecesInARow = ours == versionBeforeMerge ? emptyPiecesInARow + 1 : 0
    guard emptyPiecesInARow < Self.mostEmptyPieces else {
      return [report]
        + fail(violation("more: is true again and again, and nothing new comes"))
    }
    return go(to: .pulling, [report])
  }

  // MARK: - Changes that are missing there

  private mutating func startPushing(to ours: Version) -> [Effect] {
    goal = shared ?? ours
    return continuePushing()
  }

  private mutating func continuePushing() -> [Effect] {
    if underWay.count < Self.mostUnderWay, !theirs.isSuperset(of: goal) {
      return go(to: .reading, [.read(since: theirs, limit: pieceSize)])
    }
    if !underWay.isEmpty { return go(to: .pushing, []) }
    if sent > 0 { return go(to: .flushing, [.send(.flush)]) }
    return finish()
  }

  private mutating func finish() -> [Effect] {
    guard stays, tellsNews, search.forks.isEmpty else {
      return go(to: .leaving, [.send(.shutdown)])
    }
    return go(to: .joining, [.send(.follow(since: theirs))])
  }

  // MARK: - Failures

  private mutating func fail(_ error: ResponseError) -> [Effect] {
    go(to: .closed, [.end(.failure(error))])
  }

  private func violation(_ detail: String) -> ResponseError {
    .requestFailed("badPeer", "\(peer): this does not speak our protocol: \(detail)")
  }

  private func failure(_ reason: String?, _ message: String?) -> ResponseError {
    .requestFailed(
      reason == "foreignNotebook" ? "foreignNotebook" : "peerFailed",
      "\(peer): \(message?.prefix(1000) ?? "an error")")
  }

  private func unreachable(_ failure: String?) -> ResponseError {
    .requestFailed(
      "peerUnreachable", "\(peer): \(failure ?? "it ended before everything was said")")
  }

  private func foreign(_ there: Identifier, _ here: Identifier) -> ResponseError {
    .requestFailed(
      "foreignNotebook",
      "\(peer): this is another notebook, \(there), and ours is \(here); with"
        + " \"adopt\": true the two become one that has the notes of both")
  }
}
