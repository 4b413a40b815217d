import FileTree
import Foundation
import JSONRPC
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore
@testable import Notes
@testable import NotesServer

/// A client and its server, in this process: what is sent has been acted on when the call returns.
final class Peer {
  struct Failure: Error, Equatable {
    var code: Int
    var message: String
    var reason: String?
  }

  struct Answer {
    var result: JSON?
    var error: Failure?

    subscript(name: String) -> JSON? { result?[name] }
  }

  fileprivate var server: NotesServer
  private var unread: [UInt8] = []
  private var lastID = 0
  private var instant = ContinuousClock.now
  private let clock: Clock

  /// The clock of a machine, milliseconds since 1970.
  private final class Clock {
    var time: Int64
    init(_ time: Int64) { self.time = time }
  }

  private final class Reasons { var all: [String] = [] }
  private let reasons = Reasons()
  /// The reasons for which the server has said that it ends.
  var endReasons: [String] { reasons.all }

  /// Notifications that came, oldest first; whoever has dealt with them removes them.
  var notifications: [JSON] = []
  /// Responses that nobody has waited for.
  var responses: [JSON] = []

  /// - Parameters:
  ///   - seed: of the server's identifiers, so that no two have the same.
  ///   - state: the folder for the state of the user's programs.
  ///   - answer: what the user has said about the mirror's folder.
  ///   - name: who uses it, where the client says nothing.
  ///   - files: makes what the server gets for a folder of files.
  init(
    _ folder: String, seed: UInt64 = .random(in: 0...(.max)), clock: Int64 = 1_767_225_600_000,
    state: String? = nil, longJournal: Int = 16 << 20, peers: [String] = [],
    syncInterval: Duration = .seconds(30), syncPiece: Int = 256 << 10,
    isSingleRequest: Bool = false, isConfined: Bool = false, mirror: MemoryTree? = nil,
    answer: NotesServer.MirrorAnswer? = nil, name: String = "",
    isRunning: @escaping (_ process: Int) -> Bool = { _ in true },
    files: @escaping (any FileTree) -> any FileTree = { $0 }
  ) {
    var random = SplitMix64(seed: seed)
    let time = Clock(clock)
    self.clock = time
    var environment = NotesServer.Environment(
      folder: folder, stateFolder: state, framing: .lines, longJournal: longJournal,
      now: {
        time.time += 1000
        return time.time
      },
      makeIdentifier: { Identifier(high: random.next(), low: random.next()) })
    environment.participant = name
    environment.peers = peers
    environment.syncInterval = syncInterval
    environment.syncPiece = syncPiece
    environment.isSingleRequest = isSingleRequest
    environment.isConfined = isConfined
    environment.isRunning = isRunning
    let reasons = reasons
    environment.reportEnd = { reasons.all.append($0) }
    var names = 0
    environment.mirror = mirror?.resolvedPath
    environment.mirrorAnswer = answer
    environment.openTree = { path, isMaking throws(FileTreeError) in
      if let mirror, path == mirror.resolvedPath { return mirror }
      return files(
        try SystemFileTree(path, making: isMaking, mask: 0o022) {
          names += 1
          return "\(names)"
        })
    }
    environment.zone = { _ in 3600 }
    server = NotesServer(environment)
  }

  /// The text of a note by all changes that the server knows, applied at once.
  func rebuiltText(_ note: String) throws -> String {
    let id = NoteID(note)!
    var book = NoteBook()
    try book.merge(foreign: server.book.changes(since: Version()))
    return try book.open(id) ? String(decoding: book.note(id)!.text.utf8, as: UTF8.self) : ""
  }

  /// The scalars that one change both removed from a note and inserted into it, as far as the server knows: those of replaced sentences.
  func retypedScalars(_ note: String) throws -> Set<Unicode.Scalar> {
    let (id, book) = (NoteID(note)!, server.book)
    var content: [ReplicaID: [UInt8]] = [:]
    var edits: [(inserted: [UInt8], removed: [ElementRange])] = []
    for replica in book.version.replicas {
      try book.forEachChange(of: replica, upTo: book.version[replica]) { change, _ in
        var (inserted, removed): ([UInt8], [ElementRange]) = ([], [])
        for case .edit(id, .text(let operation)) in change.operations {
          switch operation {
          case .insert(let bytes, _, _, let divider):
            inserted += bytes.dropLast(divider)
            content[replica, default: []] += bytes
          case .remove(let range): removed.append(range)
          }
        }
        edits.append((inserted, removed))
      }
    }
    func scalars(_ bytes: some Collection<UInt8>) -> Set<Unicode.Scalar> {
      Set(String(decoding: bytes, as: UTF8.self).unicodeScalars)
    }
    return edits.reduce(into: []) { found, edit in
      let removed = edit.removed.map { scalars(content[$0.author]![$0.offset..<$0.end]) }
      found.formUnion(scalars(edit.inserted).intersection(removed.joined()))
    }
  }

  /// The author of the changes of the server's process.
  var participant: Author? { server.client.participant }

  var exitStatus: Int32? { server.exitStatus }

  // MARK: - Messages

  /// Gives the server text as it stands, and reads what it says.
  func write(_ text: String) { write(Array(text.utf8)) }

  private func write(_ bytes: [UInt8]) {
    server.receive(bytes[...])
    read()
  }

  private func read() {
    unread += server.outbox.unsent
    server.outbox.removeFirst(server.outbox.count)
    while let end = firstIndex(of: 0x0A, in: unread) {
      let line = Array(unread[..<end])
      unread.removeSubrange(...end)
      guard let message = try? JSON(JSONValue(parsing: line)) else {
        Issue.record("the server said what is no JSON: \(String(decoding: line, as: UTF8.self))")
        continue
      }
      if message["method"] != nil {
        notifications.append(message)
      } else {
        responses.append(message)
      }
    }
  }

  func notify(_ method: String, _ params: JSON = [:]) {
    let message: JSON = ["jsonrpc": "2.0", "method": .string(method), "params": params]
    write(message.bytes + [0x0A])
  }

  /// A request as it is sent.
  func line(_ method: String, _ params: JSON = [:]) -> [UInt8] {
    lastID += 1
    let message: JSON = [
      "jsonrpc": "2.0", "id": JSON(lastID), "method": .string(method), "params": params,
    ]
    return message.bytes + [0x0A]
  }

  /// Gives the server bytes as one read brings them.
  func receive(_ bytes: [UInt8]) { write(bytes) }

  /// Sends a request; the answer may come later.
  @discardableResult
  func send(_ method: String, _ params: JSON = [:]) -> Int {
    lastID += 1
    let message: JSON = [
      "jsonrpc": "2.0", "id": JSON(lastID), "method": .string(method), "params": params,
    ]
    write(message.bytes + [0x0A])
    return lastID
  }

  /// The answer to a request, if it has come.
  func answer(to id: Int) -> Answer? {
    guard let index = responses.firstIndex(where: { $0["id"]?.integer == id }) else { return nil }
    let response = responses.remove(at: index)
    guard let error = response["error"] else { return Answer(result: response["result"]) }
    return Answer(
      error: Failure(
        code: error["code"]!.integer!, message: error["message"]!.string!,
        reason: error["data"]?["reason"]?.string))
  }

  /// Sends a request and waits for its answer.
  func ask(_ method: String, _ params: JSON = [:]) -> Answer {
    let id = send(method, params)
    for _ in 0..<2000 {
      if let answer = answer(to: id) { return answer }
      server.advance(to: instant, isIdle: true)
      if server.nextDeadline! > instant { Thread.sleep(forTimeInterval: 0.001) }
      server.handleReady(.disk)
      read()
    }
    Issue.record("no answer to \(method)")
    return Answer()
  }

  /// The result of a request that succeeds.
  @discardableResult
  func call(
    _ method: String, _ params: JSON = [:], sourceLocation: SourceLocation = #_sourceLocation
  ) -> JSON {
    let answer = ask(method, params)
    if let result = answer.result { return result }
    Issue.record(
      "\(method) failed: \(answer.error?.message ?? "")", sourceLocation: sourceLocation)
    return .null
  }

  @discardableResult
  func initialize(encoding: String = "utf-16") -> JSON {
    call(
      "initialize",
      ["capabilities": ["general": ["positionEncodings": [.string(encoding)]]]])
  }

  /// Takes in what other processes wrote to the folder.
  func folderChanged() {
    server.handleReady(.folder)
    server.handleReady(.presence)
    server.readFolder()
    server.push()
    read()
    // What others tell of cursors is read no more often than they tell it.
    let now = server.schedule.instant(instant)
    guard let due = server.sharedPresence?.nextReading(at: now) else { return }
    wait(due - now)
  }

  /// Lets some time pass: the server does what is due then.
  func wait(_ time: Duration) {
    instant += time
    server.advance(to: instant)
    read()
  }

  /// A descriptor becomes readable after a while in which the server was not told the time.
  func wake(_ source: NotesServer.Source, after time: Duration) {
    instant += time
    becomesReady(source)
    wait(.zero)
  }

  /// A descriptor becomes readable, and the server is not told the time.
  func becomesReady(_ source: NotesServer.Source) { server.handleReady(source) }

  /// How long the server wants to wait at most.
  var deadline: Duration? { server.nextDeadline.map { max(.zero, $0 - instant) } }

  /// True if the server's owner may read on before it tells it the time.
  var isOnlyTyping: Bool { server.isOnlyTyping }

  /// True if the server hears from the system of what others write; from the first time that this is asked.
  var isWatching: Bool { server.descriptors.contains { $0.source == .folder } }

  /// Lets time pass as the event loop does: the server is told the time at each of its deadlines.
  ///
  /// - Parameter body: is called after each time, with how much has passed.
  func run(for time: Duration, _ body: (Duration) -> Void = { _ in }) {
    let (start, end) = (instant, instant + time)
    // The loop is idle when it has been called at once and nothing has come.
    var isIdle = false
    for _ in 0..<10_000 {
      server.advance(to: instant, isIdle: isIdle)
      read()
      body(instant - start)
      guard let deadline = server.nextDeadline, deadline < end else { break }
      isIdle = deadline <= instant
      instant = max(instant, deadline)
      // A program that another test is starting has our descriptors, and with them the lock of a mirror, until it runs.
      if server.mirroring.mirror == nil, server.mirroring.heldSince != nil { usleep(50_000) }
    }
    instant = end
    wait(.zero)
    // If something took place, its end is told.
    wait(.zero)
  }

  /// Waits until everything that the server has asked the disk for is there.
  func awaitDisk() {
    for _ in 0..<100 where call("notebook/status")["durable"] != true {
      for (source, number) in server.descriptors where source == .disk {
        var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        #expect(poll(&entry, 1, 10_000) == 1)
        server.handleReady(source)
      }
      read()
    }
  }

  /// Lets some time pass, so that the server tells other processes of its clients' cursors.
  func sharePresence(after time: Duration = .seconds(4)) { wait(time) }

  /// How many steps an attachment can undo, or redo.
  func stepCount(_ direction: UndoList.Direction, of attachment: Int) -> Int {
    server.openTexts[undoListOf: attachment].withdrawals(direction).count
  }

  /// How often the client of an attachment was to be told of participants.
  func presenceMoves(of attachment: Int) -> Int { server.openTexts[attachment]!.presence.moves }

  /// Lets the server do a piece of what can wait.
  func work() {
    server.advance(to: instant, isIdle: true)
    read()
  }

  /// The names of all participants in other processes of which the server knows.
  var participantsElsewhere: [String] {
    server.openTexts.participantsElsewhere.values.joined().map(\.name)
  }

  /// The number of participants of which the server was told and which it keeps, whether they are shown or not.
  var keptParticipants: Int { server.sharedPresence?.known.all(excluding: nil).count ?? 0 }

  /// The work of merging what other processes wrote so far, and whether there is more of it.
  var merging: (work: Int, isMore: Bool) {
    server.store.map { ($0.mergedWork, $0.isMerging) } ?? (0, false)
  }

  func inputEnded() {
    server.inputEnded()
    read()
  }

  /// The notifications of a method, which are thereby read.
  func take(_ method: String) -> [JSON] {
    defer { notifications.removeAll { $0["method"]?.string == method } }
    return notifications.filter { $0["method"]?.string == method }.map { $0["params"]! }
  }

  // MARK: - Peers

  /// The numbers of the exchanges with peers, in order.
  var exchanges: [Int] { server.exchanges.keys.sorted() }

  /// Carries what an exchange sends to its partner, and the answer back; returns whether there was anything.
  @discardableResult
  func carry(_ number: Int, with partner: any SyncPartner) -> Bool {
    guard let exchange = server.exchanges[number] else { return false }
    let bytes = Array(exchange.outbox.unsent)
    server.exchanges[number]?.outbox.removeFirst(bytes.count)
    let answer = partner.answer(bytes[...])
    if !answer.isEmpty { server.receive(answer[...], fromPeer: number) }
    read()
    return !bytes.isEmpty || !answer.isEmpty
  }

  /// Carries until there is nothing to carry.
  func carryAll(_ number: Int, with partner: any SyncPartner) {
    // An exchange takes at most a thousand pieces in a row that bring nothing, and no test has as many others.
    for _ in 0..<2000 { if !carry(number, with: partner) { return } }
    Issue.record("an exchange never comes to an end")
  }

  /// The bytes that wait for the peer of an exchange to read them.
  func unsent(_ number: Int) -> Int { server.exchanges[number]?.outbox.count ?? 0 }

  /// The link of an exchange has ended.
  func partnerEnded(_ number: Int, failure: String? = nil) {
    server.peerEnded(number, failure: failure)
    read()
  }

  /// The links that stand, and the exchanges that are to leave one.
  var linkCount: Int { server.exchanges.values.filter(\.exchange.stays).count }

  /// True if the link of an exchange stands.
  func isStanding(_ number: Int) -> Bool { server.exchanges[number]?.isStanding == true }

  /// Takes bytes from a peer.
  func receive(_ bytes: [UInt8], fromPeer number: Int) {
    server.receive(bytes[...], fromPeer: number)
    read()
  }

  /// The machine's network is another one.
  func networkChanged() {
    server.networkChanged()
    wait(.zero)
  }

  /// Begins what is due, some time after the last call; returns how long after that the next is.
  func syncIfDue(after time: Duration = .zero) -> Duration? {
    instant += time
    let now = server.schedule.instant(instant)
    return server.syncIfDue(at: now).map { $0 - now }
  }

  /// Exchanges changes with a partner, to the end.
  func sync(with partner: any SyncPartner, adopting: Bool = false) -> Answer {
    let id = send("notebook/sync", ["peer": "partner", "adopt": .boolean(adopting)])
    let number = exchanges.last!
    carryAll(number, with: partner)
    partnerEnded(number)
    return answer(to: id) ?? Answer()
  }

  /// Whether the answer to a request has come.
  func hasAnswer(to id: Int) -> Bool { responses.contains { $0["id"]?.integer == id } }

  // MARK: - Shorthands

  @discardableResult
  func create(_ params: JSON = [:]) -> String {
    call("note/create", params)["note"]?["id"]?.string ?? ""
  }

  func text(_ note: String) -> String {
    call("note/get", ["id": .string(note)])["text"]?.string ?? "?"
  }

  var revision: String { call("notebook/status")["revision"]?.string ?? "?" }

  /// The ids of the notes in the list.
  func list(_ params: JSON = [:]) -> [String] {
    call("notebook/list", params)["notes"]?.array?.compactMap { $0["id"]?.string } ?? []
  }

  /// Everything that `other` knows comes here.
  ///
  /// - Parameter adopting: whether both may have been begun on their own.
  func merge(from other: Peer, adopting isAdopting: Bool = false) {
    var since: JSON = call("notebook/status")["version"]!
    while true {
      let piece = other.call("notebook/changes", ["since": since])
      call("notebook/merge", ["changes": piece["changes"]!, "adopt": .boolean(isAdopting)])
      guard piece["more"] == true else { return }
      since = piece["revision"]!
    }
  }
}

extension Peer {
  /// The next change begins another session.
  func endSession() { server.store!.folder.endSession() }

  /// What a user says about a mirror that does nothing.
  func answerMirror(_ answer: NotesServer.MirrorAnswer) throws { try server.answerMirror(answer) }
}

extension Peer {
  /// Begins on a disk of which a test decides when it fails, or when the process is killed.
  func initialize(on disk: any FileSystem) throws {
    initialize()
    let environment = server.environment
    server.store = try NoteStore(
      path: environment.folder, state: environment.stateFolder, on: disk,
      makeIdentifier: environment.makeIdentifier)
  }

  /// The process is gone, with all that it had in memory.
  func abandonMirror() { server.mirroring.mirror = nil }

  /// True if the mirror waits for the user to say what is meant.
  var isBraked: Bool { server.mirroring.mirror?.brake != nil }

  /// True if it does so since very much has changed.
  var isBrakedByChanges: Bool {
    if case .changes = server.mirroring.mirror?.brake { true } else { false }
  }

  /// The texts of the notes outside the trash: the server is not asked for them, so that nothing happens meanwhile.
  func readTexts() throws -> [String] {
    var ids: [NoteID] = []
    try server.book.forEachSummary { note in
      if !note.isTrashed { ids.append(note.id) }
      return true
    }
    return try ids.compactMap { try server.lookUp($0) }
      .map { String(decoding: $0.text.utf8, as: UTF8.self) }
  }

  /// The clock of the machine is set.
  func jumpClock(by milliseconds: Int64) { clock.time = max(0, clock.time + milliseconds) }
}

extension Peer {
  /// The index of links with everything read that is unread, and one that was made from nothing.
  func linkIndexes() throws -> (kept: LinkIndex, fresh: LinkIndex) {
    try server.finishIndexing(.all)
    let kept = server.linkIndex
    server.indexing.index = nil
    try server.finishIndexing(.all)
    defer { server.indexing.index = kept }
    return (kept, server.linkIndex)
  }

  /// Writes an archive of all that is known, which the notebook reads from then on. Whether there is one.
  func putAway() -> Bool {
    guard let store = server.store, store.canArchive else { return false }
    repeat { store.archive() } while store.archiving.writing != nil
    return store.notebook.archive != nil
  }

  /// The process ends, on a machine that takes so long between two looks at the clock. Whether its notebook reads from an archive then.
  ///
  /// - Parameter isStopped: whether it is told to end meanwhile.
  func keep(taking time: Duration, until isStopped: () -> Bool = { false }) -> Bool {
    var now = ContinuousClock.now
    let look = {
      now += time
      return now
    }
    server.keep(now: look, until: isStopped)
    return server.store!.hasArchive
  }

  /// The bytes of changes that the notebook has in memory, and no archive: what was read from logs, and what was made since.
  var bytesInMemory: Int { server.store!.archiving.unkept }

  /// From now on links are looked up in the archive, in however few notes.
  func looksUpLinks() { server.indexing.notesForKey = 0 }

  /// True if the index of links has not read all notes.
  var hasUnreadLinks: Bool { server.linkIndex.hasUnread }

  /// True if the index of links was begun.
  var hasLinkIndex: Bool { server.indexing.index != nil }

  /// True if nothing of the index is to be read while there is nothing else to do.
  var isIndexAtRest: Bool { !server.indexing.isDue }
}
