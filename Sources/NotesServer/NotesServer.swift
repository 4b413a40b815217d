public import JSONRPC
public import NoteStore
internal import Notes
public import ReplicatingTypes

/// Speaks the protocol of `Protocol/README.md` with one client, over a notebook in a folder.
///
/// Bytes go in (`receive`), bytes come out (`outbox`); between them nothing waits, and everything happens in the order in
/// which it came. Whoever owns the descriptors calls in when something happened outside.
public struct NotesServer: ~Copyable {
  /// What comes from the outside world, so that every run can be repeated.
  public struct Environment {
    /// The notebook's folder when the client doesn't name one.
    public var folder: String
    /// Where this user's programs keep their state, if anywhere.
    public var stateFolder: String?
    /// What "~" stands for at the beginning of a folder that the client names.
    public var homeFolder: String?
    public var framing: Framing
    /// Bytes of the longest message taken.
    public var maximumMessage: Int
    /// Bytes of a journal of live texts above which it is written anew.
    public var longJournal: Int
    /// What a reply to a request that changes something means.
    public var durability: Durability
    /// The peers to exchange changes with all the time, and how often.
    public var peers: [String] = []
    public var syncInterval = Duration.seconds(30)
    /// The client is a person at a command line who has one request. A parameter that a method does not have is an error, and so is
    /// a notebook that does not exist, unless the request begins one: both are mistyped. Nothing is watched.
    public var isSingleRequest = false
    /// Bytes of changes that go to a peer or come from it in one piece: few enough to be merged while somebody types, who has to wait
    /// for it.
    public var syncPiece = 64 << 10
    /// Milliseconds since 1970.
    public var now: () -> Int64
    public var makeIdentifier: () -> Identifier

    public init(
      folder: String, stateFolder: String? = nil, homeFolder: String? = nil,
      framing: Framing = .automatic, maximumMessage: Int = 32 << 20, longJournal: Int = 16 << 20,
      durability: Durability = .background, now: @escaping () -> Int64,
      makeIdentifier: @escaping () -> Identifier
    ) {
      self.folder = folder
      self.stateFolder = stateFolder
      self.homeFolder = homeFolder
      self.framing = framing
      self.maximumMessage = maximumMessage
      self.longJournal = longJournal
      self.durability = durability
      self.now = now
      self.makeIdentifier = makeIdentifier
    }
  }

  enum Phase { case new, ready, shutDown }

  /// A request that is answered when everything committed before it is on disk for good.
  struct DiskRequest {
    var id: RequestID
    /// What the client calls its progress, as it wrote it.
    var progress: [UInt8]?
    var isShutdown: Bool
    /// How many records had been written when it came.
    var through: UInt64
  }

  /// The version of this program.
  public static let programVersion = "0.1.0"

  let environment: Environment
  private var input: FrameDecoder
  /// What waits to be written to the client.
  public var outbox: Outbox
  /// Set when the process shall leave, once the outbox is empty.
  public private(set) var exitStatus: Int32?
  /// The process whose end is ours, as the client named it.
  public internal(set) var parentProcess: Int?

  private var isInputOver = false
  private(set) var isOutputGone = false
  var phase = Phase.new
  /// The notebook's folder, once the client has named it. Whoever waits on descriptors waits on those it has.
  public internal(set) var store: NoteStore?
  var encoding = PositionEncoding.utf16
  var isTracing = false
  var live = LiveNotes()
  /// By what clients find their texts again if this process dies; from the first open text on.
  var journal: LiveJournal?
  /// How this process and others hear of each other's cursors; from the first open text on.
  var sharedPresence: SharedPresence?
  var rememberedResults = RememberedResults()
  /// Notifications that follow the reply to the request that caused them.
  var outboxAfterReply: [(inout Outbox) -> Void] = []
  var waitingForDisk: [DiskRequest] = []
  /// Searches that are not over yet, in the order in which they came.
  var searches: [SearchRequest] = []
  /// The exchanges with peers that are under way, by number.
  public var exchanges: [Int: RunningExchange] = [:]
  var lastExchange = 0
  /// What is known of each peer, and when it is its turn.
  var peers = PeerStates()
  var peerSchedule: PeerSchedule
  /// Answers that wait for the disk, too, and what is to be said after them.
  var held = HeldAnswers()
  /// Whether the client was told that something can't be written, and not yet that it can: then `tryAgain` now and then.
  public private(set) var isRefused = false
  /// What the user was told about damage.
  var reportedDamage: Set<String> = []
  /// What waited for something that was not here when everything was looked at last.
  var waitingAtFullLook: LogFolder.Damage?

  public init(_ environment: Environment) {
    self.environment = environment
    input = FrameDecoder(
      framing: environment.framing, maximumMessage: environment.maximumMessage)
    outbox = Outbox(framing: environment.framing)
    peerSchedule = PeerSchedule(environment.peers, every: environment.syncInterval)
  }

  // MARK: - What happens outside

  /// While this many bytes wait for the client to read them, no further request of its is acted on: whoever asks without
  /// reading must not fill the memory.
  private static let fullOutbox = 32 << 20

  /// Takes bytes from the client, and acts on every message that is whole.
  ///
  /// Changes that another process had answered when the bytes were sent are read first. The owner cannot see to that: a request may be
  /// sent between its look at the descriptors and its reading.
  public mutating func receive(_ bytes: ArraySlice<UInt8>) {
    if let effects = store?.refreshIfNoticed() {
      take(effects, afterFullLook: false)
      push()
    }
    input.append(bytes)
    proceed()
  }

  /// Acts on messages that have come and were put off, as far as there is room for the answers.
  public mutating func proceed() {
    while exitStatus == nil, !isFull {
      guard let event = input.next() else {
        if isInputOver { finish() }
        break
      }
      handle(event)
      if isOutputGone { outbox.removeFirst(outbox.count) }
    }
    // Once for all that came together.
    if !held.isEmpty { store?.requestSync() }
  }

  /// Whether the client has to read before more is taken from it.
  public var isFull: Bool { outbox.count + held.count >= Self.fullOutbox && !isOutputGone }

  /// The client has nothing more to say: what it said is done and kept, and the process leaves.
  public mutating func inputEnded() {
    isInputOver = true
    proceed()
  }

  /// The client reads no more. What it asks for is still done, but answers are not kept.
  public mutating func outputFailed() {
    isOutputGone = true
    searches = []
    held.removeAll()
    outbox.removeFirst(outbox.count)
    proceed()
  }

  private mutating func finish() {
    if let event = input.finish() { handle(event) }
    leave()
  }

  /// Files of the notebook may have changed.
  public mutating func folderChanged(lookingEverywhere: Bool = false) {
    readFolder(lookingEverywhere: lookingEverywhere)
    push()
  }

  /// Takes what other processes have written.
  mutating func readFolder(lookingEverywhere: Bool) {
    guard let effects = lookingEverywhere ? store?.rescan() : store?.refresh() else { return }
    take(effects, afterFullLook: lookingEverywhere)
  }

  private mutating func take(_ effects: Effects, afterFullLook: Bool) {
    live.record(effects, from: nil)
    reportDamage(afterFullLook: afterFullLook)
    tell(effects)
  }

  /// Whether there is something to do that can wait for whatever else there is to do.
  public var hasWork: Bool { !searches.isEmpty || store?.hasWork == true }

  /// Does a piece of that, for a few milliseconds at most.
  public mutating func work() {
    if !searches.isEmpty { return proceedSearching() }
    guard let effects = store?.work(), !effects.isEmpty else { return }
    live.record(effects, from: nil)
    tell(effects)
    push()
  }

  /// Tells the client if the disk takes again what it has refused.
  public mutating func tryAgain() {
    store?.tryAgain()
    tellOfRecovery()
  }

  /// A client may wait for this with what it could not save.
  private mutating func tellOfRecovery() {
    guard isRefused, store?.isRefused == false else { return }
    isRefused = false
    showMessage(.info, "Changes can be saved again.")
  }

  /// Data reached the disk, or could not.
  public mutating func diskCaughtUp() {
    if let failure = store?.takeSyncResult() { showMessage(.error, "\(failure)") }
    releaseAnswers()
    let durable = store?.progress.durable ?? .max
    let doubt = store?.doubt
    for request in waitingForDisk where request.through <= durable || doubt != nil {
      if let token = request.progress { progress(token, "end") }
      if request.through > durable, let doubt {
        said.respond(to: request.id, error: ResponseError(doubt))
      } else {
        said.respond(to: request.id) { $0.null() }
      }
    }
    waitingForDisk.removeAll { $0.through <= durable || doubt != nil }
  }

  /// Tells how something goes on that the client waits for: `begin` with a title, `report` with a message, `end`.
  mutating func progress(_ token: [UInt8], _ kind: String, _ text: String? = nil) {
    said.notify("$/progress") {
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

  /// What the client calls the progress of a request, if it wants to hear of it, as it wrote it.
  func progressToken(_ params: Parameters) throws(ResponseError) -> [UInt8]? {
    guard let token = params["workDoneToken"] else { return nil }
    guard token.string != nil || token.integer != nil else {
      throw .invalidParams("workDoneToken", "must be a string or a whole number")
    }
    return Array(token.rawBytes)
  }

  /// Leaves as `exit` does: status 0 after `shutdown`, else 1.
  mutating func leave() {
    while !searches.isEmpty { proceedSearching() }
    for id in exchanges.keys.sorted() { end(id, .failure(.requestCancelled)) }
    stopSharingPresence()
    // Nobody will come back. Who has only closed the pipe may, and must not find what was given up before.
    if phase == .shutDown || live.attachments.isEmpty || journal?.isGivenUp == true {
      journal?.giveUp()
    }
    do { try store?.end() } catch { showMessage(.error, "\(error)") }
    diskCaughtUp()
    if exitStatus == nil { exitStatus = phase == .shutDown ? 0 : 1 }
  }

  // MARK: - Messages

  private mutating func handle(_ event: FrameDecoder.Event) {
    if environment.framing == .automatic { outbox.framing = input.framing }
    switch event {
    case .message(let bytes):
      do {
        switch try Message(bytes) {
        case .request(let id, let method, let params): answer(id, method, params)
        case .notification(let method, let params): heed(method, Parameters(value: params))
        case .response: break
        }
      } catch {
        said.respond(to: error.id, error: error.error)
      }
    case .refused(let error):
      said.respond(to: nil, error: error)
    case .broken(let error):
      said.respond(to: nil, error: error)
      leave()
    }
  }

  private mutating func heed(_ name: String, _ params: Parameters) {
    switch name {
    case "exit": leave()
    case "$/cancelRequest": if phase == .ready { cancel(params) }
    case "note/cursor": if phase == .ready { setCursor(params) }
    case "$/setTrace": if phase == .ready { isTracing = params["value"]?.string ?? "off" != "off" }
    default: break
    }
  }

  private mutating func answer(_ id: RequestID, _ name: String, _ params: JSONValue) {
    do throws(ResponseError) {
      try checkPhase(of: name)
      guard let method = Method(rawValue: name) else { throw .methodNotFound(name) }
      if environment.isSingleRequest, method != .initialize { try refuseMistyped(method, params) }
      // Nobody would hear the answer: what only asks is passed over.
      if isOutputGone, !method.isMutating, !method.waitsForDisk { return }
      if method.waitsForDisk { return try waitForDisk(id, method, Parameters(value: params)) }
      if method == .notebookSearch { return try search(id, Parameters(value: params)) }
      if method == .notebookSync { return try sync(id, Parameters(value: params)) }
      let result = try result(of: method, Parameters(value: params))
      respond(to: id, method, result)
    } catch {
      said.respond(to: id, error: error)
      if store?.isRefused ?? false { isRefused = true }
    }
    tellOfRecovery()
    if isTracing {
      said.notify("$/logTrace") {
        $0.beginObject()
        $0.key("message")
        $0.string("answered \(name)")
        $0.endObject()
      }
    }
    push()
  }

  private func refuseMistyped(_ method: Method, _ params: JSONValue) throws(ResponseError) {
    try method.refuseUnknown(params)
    if let store, store.identity == nil, !method.mayBeginNotebook {
      throw .requestFailed("noNotebook", "there is no notebook in \(store.path)")
    }
  }

  private mutating func waitForDisk(
    _ id: RequestID, _ method: Method, _ params: Parameters
  ) throws(ResponseError) {
    let progress = try progressToken(params)
    // From now on only `exit` is heeded, although the answer may take a moment.
    if method == .shutdown { phase = .shutDown }
    if let progress { self.progress(progress, "begin", "Writing to disk") }
    // First: what the folder lacks, or the disk has refused, is written again with it.
    store?.requestSync(isRetry: true)
    waitingForDisk.append(
      DiskRequest(
        id: id, progress: progress, isShutdown: method == .shutdown,
        through: store?.progress.appended ?? 0))
    diskCaughtUp()
  }

  private func checkPhase(of name: String) throws(ResponseError) {
    switch phase {
    case .new: if name != "initialize" { throw .serverNotInitialized }
    case .ready:
      if name == "initialize" { throw .invalidRequest("initialize: this has been done") }
    case .shutDown: throw .invalidRequest("\(name): after shutdown only exit is allowed")
    }
  }

  /// The result of a request, as JSON.
  private mutating func result(
    of method: Method, _ params: Parameters
  ) throws(ResponseError) -> [UInt8] {
    let key = method.isMutating ? try requestKey(params) : nil
    if let key, let (known, result) = rememberedResults[key] {
      guard known == method else {
        throw .invalidParams("requestKey", "was used for \(known.rawValue)")
      }
      return result
    }
    var writer = JSONWriter()
    try perform(method, params, &writer)
    if let key { rememberedResults[key] = (method, writer.bytes) }
    return writer.bytes
  }

  private func requestKey(_ params: Parameters) throws(ResponseError) -> [UInt8]? {
    guard let key = try params.string("requestKey") else { return nil }
    guard key.utf8.count <= 1024 else {
      throw .invalidParams("requestKey", "must be at most 1024 bytes")
    }
    return Array(key.utf8)
  }

  private mutating func perform(
    _ method: Method, _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    switch method {
    case .initialize: try initialize(params, &result)
    case .noteCreate: try createNote(params, &result)
    case .noteGet: try getNote(params, &result)
    case .noteHistory: try noteHistory(params, &result)
    case .noteUpdate: try updateNote(params, &result)
    case .noteSetText: try setText(params, &result)
    case .noteAppend: try appendText(params, &result)
    case .noteMove: try moveNote(params, &result)
    case .noteDelete: try deleteNote(params, &result)
    case .noteRestore: try restoreNote(params, &result)
    case .notebookList: try listNotes(params, &result)
    case .notebookStatus: try status(&result)
    case .notebookChanges: try changes(params, &result)
    case .notebookMerge: try merge(params, &result)
    case .noteOpen: try openNote(params, &result)
    case .noteChange: try changeNote(params, &result)
    case .noteClose: try closeNote(params, &result)
    case .noteUndo: try reverse(.undo, params, &result)
    case .noteRedo: try reverse(.redo, params, &result)
    case .shutdown, .notebookFlush, .notebookSearch, .notebookSync: break
    }
  }

  private mutating func cancel(_ params: Parameters) {
    let id: RequestID
    if let number = params["id"]?.integer {
      id = .integer(number)
    } else if let text = params["id"]?.string {
      id = .string(text)
    } else {
      return
    }
    if let index = searches.firstIndex(where: { $0.id == id }) {
      searches.remove(at: index)
      return said.respond(to: id, error: .requestCancelled)
    }
    if let exchange = exchanges.values.first(where: { $0.request?.id == id }) {
      return end(exchange.id, .failure(.requestCancelled))
    }
    guard let index = waitingForDisk.firstIndex(where: { $0.id == id && !$0.isShutdown })
    else { return }
    if let token = waitingForDisk.remove(at: index).progress { progress(token, "end") }
    said.respond(to: id, error: .requestCancelled)
  }
}

/// The results of requests that carried a key: the same key again gives the same result.
///
/// Kept for the life of the process, of at least 10,000 keys, but for results above 4 KiB: of those the older ones go when
/// all together pass 64 MiB. What that leaves is bounded too: 16,384 keys.
struct RememberedResults {
  /// By the bytes of the key: keys that only look the same are two.
  private var results: [[UInt8]: (method: Method, result: [UInt8])] = [:]
  private var keys: [[UInt8]] = []
  private var size = 0

  private static let mostKeys = 16_384
  private static let mostBytes = 64 << 20
  private static let smallResult = 4 << 10

  subscript(key: [UInt8]) -> (method: Method, result: [UInt8])? {
    get { results[key] }
    set {
      guard let newValue, results[key] == nil else { return }
      results[key] = newValue
      keys.append(key)
      size += newValue.result.count
      if size > Self.mostBytes {
        let large = keys.filter { results[$0]!.result.count > Self.smallResult }
        forget(Set(large.prefix(large.count / 2 + 1)))
      }
      if keys.count > Self.mostKeys { forget(Set(keys.prefix(keys.count / 4))) }
    }
  }

  private mutating func forget(_ victims: Set<[UInt8]>) {
    for key in victims { size -= results.removeValue(forKey: key)!.result.count }
    keys.removeAll { victims.contains($0) }
  }
}
