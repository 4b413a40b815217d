import Foundation
import JSONRPC
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NotesServer

// Every row of the table at the head of `PeerExchange.swift`, by the words that stand there, and every pair of state and event.

@Suite struct `The transitions of an exchange with a peer` {
  typealias Event = PeerExchange.Event
  typealias State = PeerExchange.State
  typealias Effect = PeerExchange.Effect

  // MARK: - The notebooks of these tests

  private static let replica = ReplicaID(high: 0, low: 1)

  /// A version that has the first changes of one replica.
  private static func version(_ count: UInt64) -> Version {
    var version = Version()
    version[replica] = count
    return version
  }

  /// The version here unless a row has another: 3 changes.
  private static let ours = version(3)
  private static let here = Identifier(high: 0, low: 7)
  private static let there = Identifier(high: 0, low: 8)
  private static let refusal = ResponseError.requestFailed("notWritten", "the disk is full")
  private static let size = 100

  // MARK: - The table

  /// A row, and its meaning: an event after the events that lead to its state.
  struct Row: CustomTestStringConvertible, Sendable {
    /// State, event, next state and effects as the head comment has them.
    let words: [String]
    let path: [Event]
    let event: Event
    let next: State
    let effects: [Effect]
    var isAdopting = false
    /// The version here at the event.
    var knowing = `The transitions of an exchange with a peer`.ours

    var testDescription: String { "\(words[0]): \(words[1])" }
  }

  /// The shortest way to each state.
  private static func path(to state: State) -> [Event] {
    switch state {
    case .new: []
    case .initializing: [.begin]
    case .comparing: path(to: .initializing) + [initialized]
    case .adopting: path(to: .comparing) + [.foreign(there: there, here: here, nil)]
    case .asking: path(to: .comparing) + [.recognized(nil)]
    case .locating: askingWithDigests + [.status(ours)]
    case .digesting: path(to: .locating) + [.digests([[5]])]
    case .sharing: path(to: .locating) + [.digests([[7]]), .digested([[6]])] + narrowing
    case .pulling: path(to: .asking) + [.status(version(9))]
    case .merging: path(to: .pulling) + [morePieces]
    case .mergingLast: path(to: .pulling) + [lastPiece]
    case .reading: path(to: .comparing) + [.recognized(version(1))]
    case .pushing: path(to: .reading) + [piece(3)]
    case .flushing: path(to: .pushing) + [.accepted]
    case .joining: tellingNews(path(to: .comparing)) + [.recognized(ours)]
    case .standing: path(to: .joining) + [.following]
    case .leaving: path(to: .comparing) + [.recognized(ours)]
    case .over: path(to: .leaving) + [.shutDown]
    case .closed: path(to: .over) + [.ended(failure: nil)]
    }
  }

  private static let morePieces = Event.changes([1, 2], reached: "b2", isMore: true)
  private static let lastPiece = Event.changes([1, 2], reached: "b2", isMore: false)
  /// Of a peer of an older version.
  private static let initialized = Event.initialized(
    notebook: there, revision: "a1", digest: nil, tellsNews: false)

  /// The same way with a peer that can be followed.
  private static func tellingNews(_ path: [Event]) -> [Event] {
    path.map { event in
      guard case .initialized(let notebook, let revision, let digest, _) = event else {
        return event
      }
      return .initialized(notebook: notebook, revision: revision, digest: digest, tellsNews: true)
    }
  }

  /// The way to `asking` with a peer that tells digests.
  private static let askingWithDigests =
    path(to: .initializing) + [
      .initialized(notebook: there, revision: "a1", digest: 5, tellsNews: false), .recognized(nil),
    ]
  private static let fork = Fork(replica: replica, shared: 0, ours: 6, theirs: 7)

  /// The probes of changes 1 and 2 of 3: they differ too. The first of fifteen probes that has any is that of one change.
  private static let narrowing: [Event] = {
    let digests: (UInt64) -> [[UInt64]] = { digest in (6...15).map { _ in [digest] } }
    return [.digests(digests(7)), .digested(digests(6))]
  }()

  private static func piece(_ count: UInt64) -> Event {
    .piece([1, 2, 3, 4], upTo: version(count))
  }

  private static func end(_ reason: String, _ message: String) -> Effect {
    .end(.failure(.requestFailed(reason, "ben: \(message)")))
  }

  private static func read(_ count: UInt64) -> Effect { .read(since: version(count), limit: size) }

  private static let sendPiece = Effect.send(.merge([1, 2, 3, 4], isAdopting: false))

  private static func row(
    _ words: String, from state: State, via path: [Event]? = nil, _ event: Event, to next: State,
    _ effects: [Effect], isAdopting: Bool = false, knowing ours: Version = ours
  ) -> Row {
    let columns = words.components(separatedBy: " | ")
    return Row(
      words: ["\(state)", columns[0], "\(next)", columns[1]], path: path ?? Self.path(to: state),
      event: event, next: next, effects: effects, isAdopting: isAdopting, knowing: ours)
  }

  /// The rows that begin with the name of a state.
  static let rows: [Row] = beginning + locating + pulling + pushing + staying + ending

  private static let locating = [
    row(
      "status, peer has no more and tells digests | send digests", from: .asking,
      via: askingWithDigests, .status(ours), to: .locating, [.send(.digests([ours]))]),
    row(
      "failed, diverged | send digests", from: .pulling,
      via: askingWithDigests + [.status(version(9))],
      .failed(reason: "divergedSession", message: "no"), to: .locating,
      [.send(.digests([ours]))]),
    row("digests | digest", from: .locating, .digests([[5]]), to: .digesting, [.digest([ours])]),
    row(
      "digested, more to be looked for | send digests", from: .digesting, .digested([[6]]),
      to: .locating,
      [.send(.digests((1..<16).map { version(UInt64($0) * 3 / 16) }.filter { !$0.isEmpty }))]),
    row(
      "digested, no fork, peer has more | send changes", from: .digesting,
      via: askingWithDigests + [
        .status(version(9)), .failed(reason: "divergedSession", message: "no"), .digests([[5]]),
      ], .digested([[5]]), to: .pulling,
      [.send(.changes(since: "v\(replica).3", limit: size))]),
    row(
      "digested, no fork, peer lacks changes | read", from: .digesting,
      via: askingWithDigests + [.status(version(2)), .digests([[5]])], .digested([[5]]),
      to: .reading, [read(2)]),
    row(
      "digested, no fork, peer lacks nothing | send shutdown", from: .digesting, .digested([[5]]),
      to: .leaving, [.send(.shutdown)]),
    row(
      "digested, forks | share", from: .digesting,
      via: path(to: .sharing).dropLast(), narrowing[1], to: .sharing, [.share([fork])]),
    row(
      "shared | send changes", from: .sharing, .shared(version(2)), to: .pulling,
      [.send(.changes(since: "v\(replica).2", limit: size, without: [fork]))]),
  ]

  private static let beginning = [
    row("begin | send initialize", from: .new, .begin, to: .initializing, [.send(.initialize)]),
    row(
      "initialized | recognize", from: .initializing, initialized, to: .comparing,
      [.recognize(notebook: there, revision: "a1", digest: nil)]),
    row(
      "recognized, peer lacks changes | read", from: .comparing, .recognized(version(1)),
      to: .reading, [read(1)]),
    row(
      "recognized, peer lacks nothing | send shutdown", from: .comparing, .recognized(ours),
      to: .leaving, [.send(.shutdown)]),
    row(
      "recognized, version unknown | send status", from: .comparing, .recognized(nil),
      to: .asking, [.send(.status)]),
    row(
      "foreign | end foreignNotebook", from: .comparing,
      .foreign(there: there, here: here, nil), to: .closed,
      [
        end(
          "foreignNotebook",
          "this is another notebook, \(there), and ours is \(here); with \"adopt\": true"
            + " the two become one that has the notes of both")
      ]),
    row(
      "foreign, to be adopted | adopt", from: .comparing,
      .foreign(there: there, here: here, nil), to: .adopting, [.adopt(there)], isAdopting: true),
    row(
      "adopted, peer lacks changes | read", from: .adopting,
      via: path(to: .comparing) + [.foreign(there: there, here: here, version(1))], .adopted,
      to: .reading, [read(1)], isAdopting: true),
    row(
      "adopted, peer lacks nothing | send shutdown", from: .adopting,
      via: path(to: .comparing) + [.foreign(there: there, here: here, ours)], .adopted,
      to: .leaving, [.send(.shutdown)], isAdopting: true),
    row(
      "adopted, version unknown | send status", from: .adopting, .adopted, to: .asking,
      [.send(.status)], isAdopting: true),
  ]

  private static let follow = Effect.send(.follow(since: ours))

  private static let staying = [
    row(
      "recognized, nothing lacks, stays | send follow", from: .comparing,
      via: tellingNews(path(to: .comparing)), .recognized(ours), to: .joining, [follow]),
    row(
      "adopted, nothing lacks, stays | send follow", from: .adopting,
      via: tellingNews(path(to: .comparing)) + [.foreign(there: there, here: here, ours)],
      .adopted, to: .joining, [follow], isAdopting: true),
    row(
      "status, nothing lacks, stays | send follow", from: .asking,
      via: tellingNews(path(to: .asking)), .status(ours), to: .joining, [follow]),
    row(
      "digested, nothing lacks, stays | send follow", from: .digesting,
      via: tellingNews(path(to: .digesting)), .digested([[5]]), to: .joining, [follow]),
    row(
      "merged, nothing lacks, stays | report, send follow", from: .mergingLast,
      via: tellingNews(path(to: .mergingLast)), .merged, to: .joining,
      [.report(received: 2, sent: 0), .send(.follow(since: version(9)))], knowing: version(9)),
    row(
      "flushed, stays | send follow", from: .flushing, via: tellingNews(path(to: .flushing)),
      .flushed, to: .joining, [follow]),
    row("following | stand", from: .joining, .following, to: .standing, [.stand]),
  ]

  private static let pulling = [
    row(
      "status, peer has more | send changes", from: .asking, .status(version(9)), to: .pulling,
      [.send(.changes(since: "v\(replica).3", limit: size))]),
    row(
      "status, peer lacks changes | read", from: .asking, .status(version(2)), to: .reading,
      [read(2)]),
    row(
      "status, peer lacks nothing | send shutdown", from: .asking, .status(ours), to: .leaving,
      [.send(.shutdown)]),
    row(
      "changes, more to come | send changes, merge", from: .pulling, morePieces, to: .merging,
      [.send(.changes(since: "b2", limit: size)), .merge([1, 2])]),
    row("changes | merge", from: .pulling, lastPiece, to: .mergingLast, [.merge([1, 2])]),
    row(
      "merged | report", from: .merging, .merged, to: .pulling, [.report(received: 2, sent: 0)]),
    row(
      "merged, too many empty pieces | report, end badPeer", from: .merging,
      via: path(to: .merging)
        + (1..<PeerExchange.mostEmptyPieces).flatMap { _ in [.merged, morePieces] }, .merged,
      to: .closed,
      [
        .report(received: 2 * PeerExchange.mostEmptyPieces, sent: 0),
        end(
          "badPeer",
          "this does not speak our protocol: more: is true again and again, and nothing new comes"),
      ]),
    row(
      "merged, peer lacks changes | report, read", from: .mergingLast, .merged, to: .reading,
      [.report(received: 2, sent: 0), .read(since: version(9), limit: size)],
      knowing: {
        var both = version(9)
        both[ReplicaID(high: 0, low: 2)] = 1
        return both
      }()),
    row(
      "merged, peer lacks nothing | report, send shutdown", from: .mergingLast, .merged,
      to: .leaving, [.report(received: 2, sent: 0), .send(.shutdown)], knowing: version(9)),
  ]

  private static let pushing = [
    row(
      "piece, room for another | send merge, read", from: .reading, piece(2), to: .reading,
      [sendPiece, read(2)]),
    row("piece | send merge", from: .reading, piece(3), to: .pushing, [sendPiece]),
    row(
      "accepted, peer lacks changes | report, read", from: .pushing,
      via: path(to: .comparing) + [.recognized(version(1))]
        + (0..<PeerExchange.mostUnderWay).map { _ in piece(2) }, .accepted, to: .reading,
      [.report(received: 0, sent: 4), read(2)]),
    row(
      "accepted, others under way | report", from: .pushing,
      via: path(to: .reading) + [piece(2), piece(3)], .accepted, to: .pushing,
      [.report(received: 0, sent: 4)]),
    row(
      "accepted | report, send flush", from: .pushing, .accepted, to: .flushing,
      [.report(received: 0, sent: 4), .send(.flush)]),
    row(
      "flushed | send shutdown", from: .flushing, .flushed, to: .leaving, [.send(.shutdown)]),
    row("shutDown | send exit", from: .leaving, .shutDown, to: .over, [.send(.exit)]),
  ]

  private static let ending =
    [
      row("ended | end done", from: .over, .ended(failure: nil), to: .closed, [.end(.done)]),
      row(
        "ended, after forks were found | end divergedSession", from: .over,
        via: path(to: .sharing) + [.shared(ours), lastPiece, .merged, .shutDown],
        .ended(failure: nil), to: .closed,
        [
          end(
            "divergedSession",
            "there and here are different changes under the same names, in session \(replica) after"
              + " its change 0: two programs went on as one, as copies of a running machine do. Both can"
              + " be read on both sides now, and everything else was exchanged; what follows them does"
              + " not travel")
        ]),
      row(
        "ended, failure | end peerUnreachable", from: .over, .ended(failure: "no room"),
        to: .closed, [end("peerUnreachable", "no room")]),
    ]
    + [
      State.comparing, .adopting, .digesting, .sharing, .merging, .mergingLast, .reading,
    ].map { state in
      var error = refusal
      if state == .merging || state == .mergingLast { error.message = "ben: the disk is full" }
      return row(
        "refused | end of its error", from: state, .refused(refusal), to: .closed,
        [.end(.failure(error))], isAdopting: state == .adopting)
    }

  /// The rows that begin with "any": their columns, an event, and its effects; nil if the state stays.
  private static let general: [(words: [String], event: Event, effects: [Effect]?)] = [
    (
      ["any other", "ended", "closed", "end peerUnreachable"], .ended(failure: nil),
      [end("peerUnreachable", "it ended before everything was said")]
    ),
    (
      ["any other", "ended", "closed", "end peerUnreachable"], .ended(failure: "no route"),
      [end("peerUnreachable", "no route")]
    ),
    (
      ["any", "failed", "closed", "end peerFailed"], .failed(reason: "odd", message: "no"),
      [end("peerFailed", "no")]
    ),
    (
      ["any", "failed", "closed", "end peerFailed"], .failed(reason: nil, message: nil),
      [end("peerFailed", "an error")]
    ),
    (
      ["any", "failed, foreign", "closed", "end foreignNotebook"],
      .failed(reason: "foreignNotebook", message: "another"), [end("foreignNotebook", "another")]
    ),
    (
      ["any", "violated", "closed", "end badPeer"], .violated("a request"),
      [end("badPeer", "this does not speak our protocol: a request")]
    ),
    (
      ["any", "notified, arrived, presence", "the same", ""],
      .notified(method: "window/logMessage"), nil
    ), (["any", "notified, arrived, presence", "the same", ""], .arrived([1]), nil),
    (["any", "notified, arrived, presence", "the same", ""], .presence([1]), nil),
  ]

  private func exchange(after path: [Event], isAdopting: Bool) -> PeerExchange {
    // It stays only with a peer that can be followed.
    var exchange = PeerExchange(
      with: "ben", isAdopting: isAdopting, stays: true, pieceSize: Self.size)
    for event in path { _ = exchange.handle(event, knowing: Self.ours) }
    return exchange
  }

  // MARK: - Tests

  @Test(arguments: rows)
  func `makes each transition of the table`(row: Row) {
    var exchange = exchange(after: row.path, isAdopting: row.isAdopting)
    #expect("\(exchange.state)" == row.words[0])
    let effects = exchange.handle(row.event, knowing: row.knowing)
    #expect(exchange.state == row.next)
    #expect(effects == row.effects)
  }

  @Test(arguments: State.allCases)
  func `makes the transitions that every state has`(state: State) {
    for (words, event, effects) in Self.general {
      if state == .over, words[0] == "any other" { continue }
      var exchange = exchange(after: Self.path(to: state), isAdopting: state == .adopting)
      #expect(exchange.state == state)
      let found = exchange.handle(event, knowing: Self.ours)
      if state == .closed || state == .standing {
        #expect(found == [] && exchange.state == state)
      } else {
        #expect(found == effects ?? [], "\(state), \(words)")
        #expect(exchange.state == (effects == nil ? state : .closed), "\(state), \(words)")
      }
    }
  }

  /// One event of each kind.
  private static let events: [Event] = {
    let events: [Event] = [
      .begin, initialized, .status(version(9)), .changes([1], reached: "b2", isMore: false),
      .accepted, .flushed, .shutDown, .failed(reason: nil, message: nil),
      .notified(method: "window/logMessage"), .violated("a request"), .ended(failure: nil),
      .recognized(nil), .foreign(there: there, here: here, nil), .adopted, .merged, piece(3),
      .refused(refusal), .digests([[5]]), .digested([[5]]), .shared(version(2)),
      .following, .alive(revision: "a1", digest: nil), .arrived([1]), .presence([1]),
    ]
    #expect(Set(events.map(name)).count == 22)
    return events
  }()

  private static func name(_ event: Event) -> String {
    switch event {
    case .begin: "begin"
    case .initialized: "initialized"
    case .status: "status"
    case .changes: "changes"
    case .accepted: "accepted"
    case .flushed: "flushed"
    case .shutDown: "shutDown"
    case .failed: "failed"
    case .notified: "notified"
    case .violated: "violated"
    case .ended: "ended"
    case .recognized: "recognized"
    case .foreign: "foreign"
    case .adopted: "adopted"
    case .merged: "merged"
    case .piece: "piece"
    case .refused: "refused"
    case .digests: "digests"
    case .digested: "digested"
    case .shared: "shared"
    case .following: "following"
    case .alive: "alive"
    case .arrived, .presence: "notified"
    }
  }

  /// The kind of an event in the table: its column up to the comma.
  private static func kind(_ event: String) -> String {
    String(event.prefix { $0 != "," })
  }

  /// Messages on a link are for `StandingLink`.
  @Test(arguments: State.allCases.filter { $0 != .standing })
  func `refuses every pair that is not in the table`(state: State) {
    let anywhere = Set(Self.general.map { Self.kind($0.words[1]) })
    let here = Set(
      Self.rows.filter { $0.words[0] == "\(state)" }.map { Self.kind($0.words[1]) })
    for event in Self.events where !anywhere.union(here).contains(Self.name(event)) {
      var exchange = exchange(after: Self.path(to: state), isAdopting: state == .adopting)
      let effects = exchange.handle(event, knowing: Self.ours)
      #expect(exchange.state == .closed)
      guard state != .closed else {
        #expect(effects == [])
        continue
      }
      guard case .end(.failure(let error))? = effects.first, effects.count == 1 else {
        Issue.record("\(state), \(event): \(effects)")
        continue
      }
      #expect(error.code == ResponseError.Code.internalError, "\(state), \(event)")
    }
  }

  @Test func `has in its head comment the table that is tested here`() throws {
    let file = protocolFolder.deletingLastPathComponent()
      .appendingPathComponent("Sources/NotesServer/PeerExchange/PeerExchange.swift")
    let lines = try contents(of: file).components(separatedBy: "\n")
    let start = try #require(lines.firstIndex { $0.hasPrefix("//     ------------") })
    let table = lines[(start + 1)...].prefix { $0.hasPrefix("//     ") }.map { line in
      line.dropFirst("//     ".count).components(separatedBy: "  ")
        .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
    var tested = Self.rows.map(\.words) + Self.general.map(\.words)
    tested += [["closed", "any", "closed"], ["standing", "any", "standing"]]
    #expect(Set(table) == Set(tested.map { $0.filter { !$0.isEmpty } }))
    #expect(Set(table).count == table.count)
  }

  @Test func `leaves when it is not to stay, and after forks were found`() {
    var once = PeerExchange(with: "ben", isAdopting: false, pieceSize: Self.size)
    for event in Self.path(to: .joining) { _ = once.handle(event, knowing: Self.ours) }
    #expect(once.state == .leaving)
    let sharing = Self.tellingNews(Self.path(to: .sharing))
    var forked = exchange(after: sharing + [.shared(Self.ours), Self.lastPiece], isAdopting: false)
    #expect(forked.handle(.merged, knowing: Self.ours).last == .send(.shutdown))
    #expect(forked.state == .leaving)
  }

  // MARK: - Limits

  @Test func `has at most so many pieces under way`() {
    var exchange = exchange(after: Self.path(to: .comparing), isAdopting: false)
    var effects = exchange.handle(.recognized(Version()), knowing: Self.version(100))
    var sent = 0
    while case .read? = effects.last {
      sent += 1
      effects = exchange.handle(Self.piece(UInt64(sent)), knowing: Self.version(100))
    }
    #expect(sent == 16 && exchange.state == .pushing)
    effects = exchange.handle(.accepted, knowing: Self.version(100))
    #expect(effects.last == Self.read(16))
  }

  @Test func `counts only empty pieces in a row`() {
    var exchange = exchange(after: Self.path(to: .merging), isAdopting: false)
    // The version here grows with every second piece: 1998 empty ones, no two in a row.
    for piece in 0..<UInt64(2 * 1998) {
      _ = exchange.handle(.merged, knowing: Self.version(3 + (piece + 1) / 2))
      #expect(exchange.state == .pulling)
      _ = exchange.handle(Self.morePieces, knowing: Self.version(3 + (piece + 1) / 2))
    }
    for _ in 1..<1000 {
      _ = exchange.handle(.merged, knowing: Self.version(2001))
      _ = exchange.handle(Self.morePieces, knowing: Self.version(2001))
    }
    #expect(exchange.state == .merging)
    _ = exchange.handle(.merged, knowing: Self.version(2001))
    #expect(exchange.state == .closed)
  }

  @Test func `leaves out what is written after the first piece was read`() {
    var exchange = exchange(after: Self.path(to: .reading), isAdopting: false)
    _ = exchange.handle(Self.piece(3), knowing: Self.version(50))
    #expect(exchange.state == .pushing)
    let effects = exchange.handle(.accepted, knowing: Self.version(60))
    #expect(effects.last == .send(.flush))
  }
}
