public import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// What a notebook and a peer's say to each other until each has the changes of both. We are a client of the peer, in the protocol
// that we serve ourselves:
//
//     initialize                             which notebook it is, and in which state: often one that is known here
//     notebook/status                        if not, what it knows
//     notebook/changes {since}, again        what is missing here, in pieces: while one is merged the next may come
//     notebook/merge {changes}, again        what is missing there, a few pieces under way at once
//     notebook/flush, shutdown, exit
//
// Every piece is causally closed and kept when it is answered. So a conversation can end at any point and nothing has to be undone;
// the next one begins with what each knows then. Two at once only send some changes twice.

/// A conversation with a peer. Whoever owns the descriptors carries it: reaches the peer, moves the bytes, and tells the end.
public struct PeerConversation {
  enum Step {
    case initializing
    case asking
    case pulling
    case pushing
    case flushing
    case leaving
  }

  /// Who wants to hear how it ends.
  struct Request {
    let id: RequestID
    /// What the client calls its progress, as it wrote it.
    var progress: [UInt8]?
  }

  public let id: Int
  /// As the user has called it.
  public let peer: String
  /// nil if nobody has asked, but the schedule.
  let request: Request?
  /// Whether two notebooks that are not one shall become one.
  let isAdopting: Bool

  /// What the peer is still to read.
  public var outbox = Outbox(framing: .contentLength)
  var input = FrameDecoder(framing: .contentLength)
  var step = Step.initializing
  /// The first line that it says, as far as a user wants to see it: what a login prints there is no answer.
  private(set) var beginning: [UInt8] = []
  /// Everything was said: the peer is to be left alone, and may end.
  public internal(set) var isOver = false
  /// Requests that are not answered, and the last one's number.
  var unanswered = 0
  private(set) var lastRequest = 0

  /// Bytes of changes that the peer has taken, and that came from it.
  var (sent, received) = (0, 0)
  /// The bytes of each piece under way.
  var underWay: [Int] = []
  /// What the peer knows, as far as we do.
  var theirs = Version()
  /// What the peer shall know in the end. What is typed meanwhile goes the next time, or it might never end.
  var goal = Version()
  /// Pieces in a row that have brought nothing new.
  var vainPieces = 0

  init(_ id: Int, with peer: String, for request: Request?, isAdopting: Bool) {
    self.id = id
    self.peer = peer
    self.request = request
    self.isAdopting = isAdopting
  }

  /// Takes bytes that the peer has said.
  mutating func hear(_ bytes: ArraySlice<UInt8>) {
    if beginning.count < 80, !beginning.contains(0x0A) {
      beginning = Array((beginning + bytes).prefix(80))
    }
    input.append(bytes)
  }

  mutating func ask(_ method: String, _ params: (inout JSONWriter) -> Void = { _ in }) {
    lastRequest += 1
    unanswered += 1
    outbox.request(.integer(lastRequest), method, params: params)
  }
}

extension NotesServer {
  /// A line that is slow to answer can be full of pieces all the same.
  private static let mostUnderWay = 16
  /// A peer may send what has come on another way meanwhile. One that does nothing else would never end.
  private static let mostVainPieces = 1000

  /// Takes bytes from a peer, and acts on every message that is whole.
  public mutating func receive(_ bytes: ArraySlice<UInt8>, fromPeer id: Int) {
    conversations[id]?.hear(bytes)
    while let event = conversations[id]?.input.next() {
      do throws(ResponseError) {
        switch event {
        case .message(let bytes): try handle(bytes, fromPeer: id)
        case .refused(let error): throw nonsense(id, error.message)
        case .broken(let error):
          let line = conversations[id]?.beginning.prefix { $0 != 0x0A && $0 != 0x0D } ?? []
          let isBeginning = conversations[id]?.step == .initializing
          throw nonsense(
            id, isBeginning ? "it says: \(String(decoding: line, as: UTF8.self))" : error.message)
        }
      } catch {
        end(id, .failure(error))
      }
    }
    push()
  }

  private func nonsense(_ id: Int, _ detail: String) -> ResponseError {
    .requestFailed(
      "badPeer", "\(conversations[id]?.peer ?? ""): this does not speak our protocol: \(detail)")
  }

  private mutating func handle(_ bytes: [UInt8], fromPeer id: Int) throws(ResponseError) {
    guard var talk = conversations[id] else { return }
    let message: JSONValue
    do { message = try JSONValue(parsing: bytes) } catch {
      throw nonsense(id, "\(error.reason), at byte \(error.offset)")
    }
    // It tells of changes, and that it is busy; we find out. But it asks nothing: that would be we ourselves, heard by an echo.
    if message["method"] != nil {
      guard message["id"] == nil else { throw nonsense(id, "a request") }
      return
    }
    // Answers come in order, so it says which.
    guard talk.unanswered > 0, message["id"]?.integer == talk.lastRequest - talk.unanswered + 1
    else { throw nonsense(id, "an answer to nothing") }
    talk.unanswered -= 1
    if let error = message["error"] {
      let reason = error["data"]?["reason"]?.string
      throw .requestFailed(
        reason == "foreignNotebook" ? "foreignNotebook" : "peerFailed",
        "\(talk.peer): \(error["message"]?.string?.prefix(1000) ?? "an error")")
    }
    guard let result = message["result"] else { throw nonsense(id, "neither result nor error") }
    // Taken out, so that nothing is copied.
    conversations[id] = nil
    defer { conversations[id] = talk }
    do throws(ResponseError) {
      try proceed(&talk, with: Parameters(value: result))
    } catch {
      guard error.code == ResponseError.Code.invalidParams else { throw error }
      throw .requestFailed(
        "badPeer", "\(talk.peer): this does not speak our protocol: \(error.message)")
    }
  }

  /// Acts on the answer to the oldest question.
  private mutating func proceed(
    _ talk: inout PeerConversation, with result: Parameters
  ) throws(ResponseError) {
    switch talk.step {
    case .initializing:
      guard let notebook = try result.object("notebook") else {
        throw .invalidParams("notebook", "is missing")
      }
      try compare(notebook, &talk)
      if let version = try version(ofRevision: try notebook.requiredString("revision")) {
        talk.theirs = version
        try startPushing(&talk)
      } else {
        talk.step = .asking
        talk.ask("notebook/status")
      }
    case .asking:
      guard let version = Version(try result.requiredString("version")) else {
        throw .invalidParams("version", "is none")
      }
      talk.theirs = version
      if book.version.isSuperset(of: version) {
        try startPushing(&talk)
      } else {
        talk.step = .pulling
        pull(&talk, since: book.version.description)
      }
    case .pulling: try take(result, &talk)
    case .pushing:
      talk.sent += talk.underWay.removeFirst()
      report(talk)
      try sendPieces(&talk)
    case .flushing:
      talk.step = .leaving
      talk.ask("shutdown")
    case .leaving:
      talk.outbox.notify("exit") { _ in }
      talk.isOver = true
    }
  }

  /// Whether the peer's notebook is ours, or becomes it.
  private mutating func compare(
    _ notebook: Parameters, _ talk: inout PeerConversation
  ) throws(ResponseError) {
    guard let name = try notebook.string("id") else { return }
    guard let identity = Identifier(name) else { throw .invalidParams("notebook.id", "is none") }
    guard let ours = store?.identity, !(store?.isOurs(identity) ?? true) else { return }
    guard talk.isAdopting else {
      throw .requestFailed(
        "foreignNotebook",
        "\(talk.peer): this is another notebook, \(identity), and ours is \(ours); with"
          + " \"adopt\": true (sync --adopt) the two become one that has the notes of both")
    }
    do { try store?.adopt(identity) } catch { throw ResponseError(error) }
  }

  /// What a peer knows in this state; nil if it has something that is missing here.
  private func version(ofRevision revision: String) throws(ResponseError) -> Version? {
    // Most of the time.
    if revision == self.revision { return book.version }
    return try recall { book throws(ArchiveFailure) in try book.version(ofRevision: revision) }
  }

  // MARK: - What is missing here

  private func pull(_ talk: inout PeerConversation, since: String) {
    let size = environment.syncPiece
    talk.ask("notebook/changes") {
      $0.beginObject()
      $0.member("since", since)
      $0.member("limit", size)
      $0.endObject()
    }
  }

  private mutating func take(
    _ result: Parameters, _ talk: inout PeerConversation
  ) throws(ResponseError) {
    let text = try result.requiredText("changes")
    let reached = try result.requiredString("revision")
    guard let bytes = Base64.decode(text) else { throw .invalidParams("changes", "is not base64") }
    // The next one can come while this one is merged.
    let isMore = try result.boolean("more") ?? false
    if isMore { pull(&talk, since: reached) }
    let before = book.version
    do { try merge(changes: bytes) } catch {
      throw ResponseError(
        code: error.code, message: "\(talk.peer): \(error.message)", reason: error.reason)
    }
    talk.received += bytes.count
    report(talk)
    guard isMore else { return try startPushing(&talk) }
    talk.vainPieces = book.version == before ? talk.vainPieces + 1 : 0
    guard talk.vainPieces < Self.mostVainPieces else {
      throw .invalidParams("more", "is true again and again, and nothing new comes")
    }
  }

  // MARK: - What is missing there

  private func startPushing(_ talk: inout PeerConversation) throws(ResponseError) {
    talk.step = .pushing
    talk.goal = book.version
    try sendPieces(&talk)
  }

  private func sendPieces(_ talk: inout PeerConversation) throws(ResponseError) {
    while talk.underWay.count < Self.mostUnderWay, !talk.theirs.isSuperset(of: talk.goal) {
      let (theirs, size) = (talk.theirs, environment.syncPiece)
      let (changes, version, _) = try recall { book throws(ArchiveFailure) in
        try book.changes(since: theirs, limit: size)
      }
      let encoded = changes.encoded(of: store?.identity ?? Identifier(high: 0, low: 0))
      talk.theirs.merge(version)
      talk.underWay.append(encoded.count)
      let isAdopting = talk.isAdopting
      talk.ask("notebook/merge") {
        $0.beginObject()
        $0.member("changes", Base64.encode(encoded))
        if isAdopting { $0.member("adopt", true) }
        $0.endObject()
      }
    }
    guard talk.underWay.isEmpty else { return }
    if talk.sent > 0 {
      talk.step = .flushing
      talk.ask("notebook/flush")
    } else {
      talk.step = .leaving
      talk.ask("shutdown")
    }
  }
}
