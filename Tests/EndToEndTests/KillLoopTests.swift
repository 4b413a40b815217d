import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting)
struct `Kills at random` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  /// One of the processes that write into the folder, and who writes through it.
  private final class Writer {
    let server: Server
    let live: AttachedClient
    var ledger = Ledger()
    private var requests: [Int: String] = [:]

    init(_ folder: String, note: JSON) throws {
      server = try Server(folder)
      try server.initialize()
      live = try AttachedClient(server, note)
    }

    func create(_ word: String) throws {
      ledger.sent(word)
      requests[try server.post("note/create", ["title": .string(word)])] = word
    }

    func append(_ word: String, to note: JSON) throws {
      ledger.sent(word)
      let params: JSON = ["id": note, "text": .string("\n\(word)")]
      requests[try server.post("note/append", params)] = word
    }

    /// Takes the answers that have come.
    func proceed() throws {
      try server.receiveAvailable()
      for (id, word) in requests {
        guard let response = server.takeResponse(id) else { continue }
        requests[id] = nil
        guard response["result"] != nil else { throw Failure(response.written) }
        ledger.keep(word)
      }
    }

    var isIdle: Bool { requests.isEmpty }

    /// Ends it in the midst of what it is doing, and says what is known of its words.
    func kill() throws -> (kept: Set<String>, uncertain: Set<String>) {
      Foundation.kill(server.process, SIGKILL)
      try server.killNow()
      try proceed()
      try live.takeAnswers()
      return account
    }

    var account: (kept: Set<String>, uncertain: Set<String>) {
      (
        ledger.kept.union(live.kept),
        ledger.uncertain.union(live.pendingWords)
      )
    }
  }

  @Test(
    arguments: 1...UInt64(2 * seedFactor))
  func `Of three processes killed at random nothing acknowledged is lost or doubled`(_ seed: UInt64)
    throws
  {
    var random = SplitMix64(seed: seed)
    let path = folder("notes")
    let first = try Server(path)
    try first.initialize()
    let shared = try first.call("note/create", ["text": "shared"])["note"]!["id"]!.written
    let note = JSON.raw(shared)
    try first.killNow()
    var kept: Set<String> = ["shared"]
    var uncertain: Set<String> = []
    func settle(_ account: (kept: Set<String>, uncertain: Set<String>)) {
      kept.formUnion(account.kept)
      uncertain.formUnion(account.uncertain)
    }
    var writers = try (0..<3).map { _ in try Writer(path, note: note) }
    var number = 0
    for _ in 0..<scaled(12, 60) {
      for _ in 0..<(5 + random.below(20)) {
        number += 1
        let writer = writers[random.below(3)]
        switch random.below(4) {
        case 0: try writer.create("c\(number)")
        case 1: try writer.append("a\(number)", to: note)
        default: try writer.live.type("t\(number)", &random)
        }
        if random.below(3) == 0 {
          let reader = writers[random.below(3)]
          try reader.live.proceed()
          try reader.proceed()
        }
      }
      let victim = random.below(3)
      settle(try writers[victim].kill())
      writers[victim] = try Writer(path, note: note)
    }
    // Then all come to rest: every request answered, every process at one state.
    let deadline = Deadline()
    while true {
      for writer in writers {
        try writer.live.proceed()
        try writer.proceed()
      }
      if writers.allSatisfy({ $0.isIdle && $0.live.isIdle }) {
        let revisions = Set(try writers.map { try $0.server.revision })
        let texts = Set(writers.map { $0.live.text })
        if revisions.count == 1, texts.count == 1 { break }
      }
      guard !deadline.isOver else {
        throw Failure("seed \(seed): the processes did not come to agree")
      }
      awaitInput(writers.map(\.server.output), milliseconds: 20)
    }
    for writer in writers { settle(writer.account) }
    let fresh = try Server(path)
    try fresh.initialize()
    #expect(try fresh.revision == writers[0].server.revision, "seed \(seed)")
    for server in writers.map(\.server) + [fresh] {
      let words = try server.words()
      for word in kept { #expect(words[word] == 1, "seed \(seed): \(word)") }
      for (word, count) in words {
        #expect(count == 1, "seed \(seed): \(word)")
        #expect(kept.contains(word) || uncertain.contains(word), "seed \(seed): \(word)")
      }
      #expect(try server.damage == [], "seed \(seed)")
    }
  }

  @Test(
    arguments: 1...UInt64(2 * seedFactor))
  func `Clients of processes killed at random go on with others, and every word is there once`(
    _ seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let path = folder("notes")
    let state = folder("state")
    func start() throws -> Server {
      let server = try Server(path, environment: ["XDG_STATE_HOME": state])
      try server.initialize()
      return server
    }
    let first = try start()
    let note = JSON.raw(
      try first.call("note/create", ["text": "shared"])["note"]!["id"]!.written)
    var servers = [first, try start()]
    let clients = try [0, 0, 1].map { try AttachedClient(servers[$0], note) }
    var typed = ["shared"]
    for _ in 0..<scaled(15, 80) {
      for _ in 0..<(5 + random.below(25)) {
        typed.append("t\(typed.count)x")
        let client = clients[random.below(3)]
        try client.type(typed.last!, &random)
        if random.below(3) == 0 { try clients[random.below(3)].proceed() }
      }
      let victim = random.below(2)
      let orphans = clients.filter { $0.server === servers[victim] }
      try servers[victim].killNow()
      while random.below(3) == 0 {
        // This one dies too, before anybody has heard from it.
        let server = try start()
        for client in orphans {
          _ = try server.post("note/open", client.resumption(of: note))
        }
        if !orphans.isEmpty, random.below(2) == 0 { _ = try server.receive() }
        try server.killNow()
      }
      servers[victim] = try start()
      for client in orphans {
        // Also with one that ran already, and may not have read what the dead one wrote.
        try client.resume(note, with: servers[random.below(2)])
      }
    }
    try run(clients) {
      clients.allSatisfy(\.isIdle) && Set(clients.map(\.text)).count == 1
        && clients[0].text.count >= typed.reduce(0) { $0 + $1.utf8.count + 2 } - 2
    }
    // Two may have come to stand together: what is typed beside a blank can begin before it or behind it.
    let all = String(decoding: clients[0].text, as: UTF8.self)
    for word in typed {
      #expect(all.components(separatedBy: word).count == 2, "seed \(seed): \(word)")
    }
    #expect(
      all.count { $0.isLetter || $0.isNumber } == typed.reduce(0) { $0 + $1.count },
      "seed \(seed)")
    let fresh = try start()
    let text = try fresh.call("note/get", ["id": note])["text"]!.utf8
    #expect(text == clients[0].text, "seed \(seed)")
  }
}
