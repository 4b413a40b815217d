internal import Bytes
internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

/// The messages of an exchange as bytes: encodes what goes to the peer, and decodes what comes from it into events.
///
/// Answers come in the order of the requests. A peer may also send notifications. Everything else is a violation of the protocol,
/// also a request: it can only be one of ours that the other side has echoed.
///
/// Changes that are longer than a message should be travel in parts, which the exchange does not know of: one message of it is then
/// several requests, and the event comes with the last answer.
struct PeerWire {
  /// Bytes that the peer is still to read.
  var outbox = Outbox(framing: .contentLength)
  private var input = FrameDecoder(framing: .contentLength)
  /// The first bytes that came, up to a line. A login may print a message instead of an answer, and to a user that message says
  /// more than an error of framing.
  private var beginning: [UInt8] = []
  /// True after the first answer.
  private var isAnswered = false
  /// The requests that are not answered, the oldest first.
  private var unanswered: [Request] = []
  private var lastRequest = 0
  private let programVersion: String
  /// See `RunningExchange.progress`.
  private(set) var progress = 0
  /// The bytes of the message that is not whole yet, as far as they are no progress, and those since the last answer that are.
  private var dripped = 0
  private var counted = 0

  private static let progressSize = 16 << 10
  /// An answer is no longer than that. A peer that only notifies is at its end with it.
  private static let mostCounted = 32 << 20
  private static let longestBeginning = 80

  /// The messages that are answered, by their methods.
  private enum Request: String {
    case initialize, shutdown
    case status = "notebook/status"
    case digests = "notebook/digests"
    case changes = "notebook/changes"
    case merge = "notebook/merge"
    /// The same for a part, which others follow.
    case mergePart
    case flush = "notebook/flush"
    case follow = "notebook/follow"
    /// The same of a link that stands.
    case pulse

    var method: String {
      switch self {
      case .mergePart: Self.merge.rawValue
      case .pulse: Self.follow.rawValue
      default: rawValue
      }
    }
  }

  /// The changes that were asked for last, and the parts of them that have come.
  private var pull = Pull()

  private struct Pull {
    var since = ""
    var limit = 0
    var common: UInt64?
    var forks: [Fork] = []
    var bytes: [UInt8] = []
  }

  /// The part of a set of new changes that has come.
  private var incomingChanges = IncomingChanges()

  /// - Parameter programVersion: the version of this program, for the peer.
  init(programVersion: String) { self.programVersion = programVersion }

  // MARK: - To the peer

  /// Appends a message to the outbox.
  ///
  /// - Parameters:
  ///   - digest: that of the version `common` of `changes`.
  ///   - revision: that of the version of `follow`.
  mutating func send(
    _ message: PeerExchange.Message, digest: UInt64? = nil, revision: String? = nil
  ) {
    switch message {
    case .initialize: sendInitialize()
    case .status: ask(.status)
    case .digests(let versions):
      ask(.digests) { $0.member("versions", versions.map(\.description)) }
    case .changes(let since, let limit, _, let forks):
      pull = Pull(since: since, limit: limit, common: digest, forks: forks)
      askForChanges()
    case .merge(let changes, let isAdopting): sendChanges(changes, isAdopting: isAdopting)
    case .flush: ask(.flush)
    case .follow(let version):
      ask(.follow) { $0.member("since", revision ?? version.description) }
    case .pulse: ask(.pulse)
    case .presence(let content):
      outbox.notify("notebook/presence") {
        $0.beginObject()
        $0.member("participants", Base64.encode(content))
        $0.endObject()
      }
    case .shutdown: ask(.shutdown)
    case .exit: outbox.notify("exit") { _ in }
    }
  }

  private mutating func sendInitialize() {
    let version = programVersion
    ask(.initialize) {
      $0.key("clientInfo")
      $0.beginObject()
      $0.member("name", "decent-notes sync")
      $0.member("version", version)
      $0.endObject()
      $0.key("capabilities")
      $0.beginObject()
      $0.key("notebook")
      $0.beginObject()
      $0.member("digest", true)
      $0.endObject()
      $0.endObject()
    }
  }

  private mutating func askForChanges() {
    let pull = pull
    ask(.changes) {
      $0.member("since", pull.since)
      $0.member("limit", pull.limit)
      $0.member("offset", pull.bytes.count)
      if let digest = pull.common { $0.member("digest", Digest.text(digest)) }
      if !pull.forks.isEmpty { $0.forks(pull.forks) }
    }
  }

  private mutating func sendChanges(_ changes: [UInt8], isAdopting: Bool) {
    let partSize = IncomingChanges.partSize
    var offset = 0
    repeat {
      let end = min(changes.count, offset + partSize)
      ask(end < changes.count ? .mergePart : .merge) {
        $0.member("changes", Base64.encode(Array(changes[offset..<end])))
        if isAdopting { $0.member("adopt", true) }
        // A peer of an older version takes what needs no parts.
        if changes.count > partSize {
          $0.member("offset", offset)
          $0.member("size", changes.count)
        }
      }
      offset = end
    } while offset < changes.count
  }

  private mutating func ask(_ request: Request, _ members: (inout JSONWriter) -> Void = { _ in }) {
    lastRequest += 1
    unanswered.append(request)
    outbox.request(.integer(lastRequest), request.method) {
      $0.beginObject()
      members(&$0)
      $0.endObject()
    }
  }

  // MARK: - From the peer

  /// Takes bytes that the peer has sent; `next` gives the events in them.
  mutating func append(_ bytes: ArraySlice<UInt8>) {
    if beginning.count < Self.longestBeginning, !beginning.contains(0x0A) {
      beginning = Array((beginning + bytes).prefix(Self.longestBeginning))
    }
    input.append(bytes)
    dripped += bytes.count
  }

  /// Counts what has come of a message that is not whole.
  private mutating func noteRest() {
    guard dripped >= Self.progressSize, counted < Self.mostCounted else { return }
    counted += dripped
    dripped = 0
    progress += 1
  }

  /// The next event; nil if that takes more bytes.
  mutating func next() -> PeerExchange.Event? {
    while true {
      switch input.next() {
      case .message(let bytes)?: if let event = event(bytes) { return event }
      case .refused(let error)?: return .violated(error.message)
      case .broken(let error)? where isAnswered: return .violated(error.message)
      case .broken?:
        return .violated("it says: \(String(decoding: firstLine, as: UTF8.self))")
      case nil:
        noteRest()
        return nil
      }
    }
  }

  private var firstLine: ArraySlice<UInt8> { beginning.prefix { $0 != 0x0A && $0 != 0x0D } }

  /// The event that a message is; nil if it is a part of one.
  private mutating func event(_ bytes: [UInt8]) -> PeerExchange.Event? {
    let message: JSONValue
    do { message = try JSONValue(parsing: bytes) } catch {
      return .violated("\(error.reason), at byte \(error.offset)")
    }
    dripped = 0
    if let method = message["method"] {
      guard message["id"] == nil else { return .violated("a request") }
      let params = Parameters(value: message["params"] ?? .emptyObject)
      do throws(ResponseError) { return try event(method.string ?? "", params) } catch {
        return .violated("\(method.string ?? ""): \(error.message)")
      }
    }
    guard let request = unanswered.first,
      message["id"]?.integer == lastRequest - unanswered.count + 1
    else { return .violated("an answer to nothing") }
    unanswered.removeFirst()
    isAnswered = true
    let pulled = pull.bytes.count
    // A small part of an answer is none, or a peer could give one byte each time.
    defer {
      if pull.bytes.count == 0 || pull.bytes.count - pulled >= Self.progressSize {
        progress += 1
        counted = 0
      }
    }
    if let error = message["error"] {
      return .failed(
        reason: error["data"]?["reason"]?.string, message: error["message"]?.string)
    }
    guard let result = message["result"] else { return .violated("neither result nor error") }
    do throws(ResponseError) {
      return try event(request, answeredBy: Parameters(value: result))
    } catch {
      return .violated(error.message)
    }
  }

  /// The event that a notification is.
  private mutating func event(
    _ method: String, _ params: Parameters
  ) throws(ResponseError) -> PeerExchange.Event? {
    switch method {
    case "notebook/newChanges":
      let part = try MergeParameters(params)
      return try incomingChanges.append(part.changes, part.part).map(PeerExchange.Event.arrived)
    case "notebook/presence":
      guard let content = Base64.decode(try params.requiredText("participants")) else {
        throw .invalidParams("participants", "must be base64")
      }
      return .presence(content)
    default: return .notified(method: method)
    }
  }

  private mutating func event(
    _ request: Request, answeredBy result: Parameters
  ) throws(ResponseError) -> PeerExchange.Event? {
    switch request {
    case .initialize:
      guard let notebook = try result.object("notebook") else {
        throw .invalidParams("notebook", "is missing")
      }
      let name = try notebook.string("id")
      let identity = name.flatMap(Identifier.init)
      guard (name == nil) == (identity == nil) else {
        throw .invalidParams("notebook.id", "is none")
      }
      let capabilities = try result.object("capabilities")?.object("notebook")
      return .initialized(
        notebook: identity, revision: try notebook.requiredString("revision"),
        digest: try notebook.digest("digest"),
        tellsNews: try capabilities?.boolean("follow") ?? false)
    case .status:
      guard let version = Version(try result.requiredString("version")) else {
        throw .invalidParams("version", "is none")
      }
      return .status(version)
    case .digests:
      guard let digests = try result.strings("digests")?.map(Digest.list), !digests.contains(nil)
      else { throw .invalidParams("digests", "are none") }
      return .digests(digests.map { $0! })
    case .changes:
      let text = try result.requiredText("changes")
      let reached = try result.requiredString("revision")
      guard let part = Base64.decode(text) else {
        throw .invalidParams("changes", "is not base64")
      }
      pull.bytes += part
      if let size = try result.count("size"), pull.bytes.count < size {
        guard !part.isEmpty, size <= NoteStore.largestChangeSet else {
          throw .invalidParams("size", "is \(size), and nothing of it comes, or it is too large")
        }
        askForChanges()
        return nil
      }
      let bytes = pull.bytes
      pull.bytes = []
      return .changes(bytes, reached: reached, isMore: try result.boolean("more") ?? false)
    case .mergePart: return nil
    case .merge: return .accepted
    case .flush: return .flushed
    case .follow: return .following
    case .pulse:
      return .alive(
        revision: try result.requiredString("revision"), digest: try result.digest("digest"))
    case .shutdown: return .shutDown
    }
  }
}
