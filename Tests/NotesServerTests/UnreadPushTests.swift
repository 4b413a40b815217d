import Foundation
import JSONRPC
import ReplicatingTypes
import TestSupport
import Testing

@testable import NotesServer

/// A client that sends requests and does not read.
private struct Silent: ~Copyable {
  private(set) var server: NotesServer
  private let start = ContinuousClock.now
  private var passed = Duration.zero
  private var lastID = 0
  private(set) var mostUnread = 0

  init(_ folder: String, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    server = NotesServer(
      NotesServer.Environment(
        folder: folder, framing: .lines, now: { 0 },
        makeIdentifier: { Identifier(high: random.next(), low: random.next()) }))
    send("initialize", [:])
  }

  mutating func send(_ method: String, _ params: JSON, isRequest: Bool = true) {
    lastID += 1
    let message =
      isRequest ? JSON.request(JSON(lastID), method, params) : .notification(method, params)
    server.receive(message.bytes[...] + [0x0A])
    pass(.milliseconds(10))
  }

  /// Lets time pass.
  mutating func pass(_ time: Duration) {
    passed += time
    _ = server.descriptors
    server.handleReady(.folder)
    server.advance(to: start + passed)
    mostUnread = max(mostUnread, server.outbox.count)
  }

  /// Reads everything; the messages.
  mutating func read() throws -> [JSON] {
    var bytes: [UInt8] = []
    var turns = 0
    while !server.outbox.isEmpty {
      turns += 1
      // What waits is a megabyte for each turn. A server that always has more to say would fill the memory.
      guard turns < 100 else { throw Failure("the server has something to say again and again") }
      bytes += server.outbox.unsent
      server.outbox.removeFirst(server.outbox.count)
      pass(.zero)
    }
    return try bytes.split(separator: UInt8(0x0A)).map { JSON(try JSONValue(parsing: Array($0))) }
  }
}

@Suite(.computing) struct `A client that does not read` {
  let scratch = TemporaryFolder()

  @Test(arguments: ["text", "lines"])
  func `is sent what is there when it reads, and little waits for it`(form: String) throws {
    let other = Peer(scratch("notes"), seed: 1)
    other.initialize()
    let line = String(repeating: "x", count: 999) + "\n"
    let id = other.create(["text": .string(String(repeating: line, count: 200))])
    var client = Silent(scratch("notes"), seed: 2)
    for _ in 0..<3 {
      client.send("note/open", ["id": .string(id), "mode": "edit", "push": .string(form)])
    }
    var text = try client.read().last { $0["result"]?["text"] != nil }!["result"]!["text"]!.string!
    for number in 0..<200 {
      other.call("note/append", ["id": .string(id), "text": .string("\(number) " + line)])
      other.call("note/update", ["id": .string(id), "title": .string("title \(number)")])
      client.pass(.milliseconds(10))
    }
    // A megabyte, and what was being pushed when it was reached.
    #expect(client.mostUnread < 3 << 20, "\(client.mostUnread)")
    let messages = try client.read()
    for edit in messages.filter({ $0["method"] == "note/edit" }).map({ $0["params"]! })
    where edit["attachment"] == 3 {
      if form == "text" {
        text = edit["text"]!.string!
        continue
      }
      var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      for change in edit["lines"]!.array!.reversed() {
        lines.replaceSubrange(
          change[0]!.integer!..<change[1]!.integer!, with: change[2]!.array!.map { $0.string! })
      }
      text = lines.joined(separator: "\n")
    }
    #expect(text == other.text(id))
    // It is told of every change, once or together with others.
    let changes = messages.filter { $0["method"] == "notebook/didChange" }.map { $0["params"]! }
    #expect(changes.last?["revision"] == other.call("notebook/status")["revision"])
    let last = try #require(changes.last?["changed"]?.array)
    #expect(last.count == 1 && last[0]["id"]?.string == id)
  }

  @Test func `costs nothing that grows with the cursors of others`() throws {
    var client = Silent(scratch("notes"), seed: 3)
    client.send("note/create", ["text": "one line"])
    let id = try client.read().last { $0["result"] != nil }!["result"]!["note"]!["id"]!
    for _ in 0..<100 { client.send("note/open", ["id": id, "mode": "edit"]) }
    _ = try client.read()
    for number in 0..<5000 {
      let place: JSON = ["line": 0, "character": JSON(number % 8)]
      client.send(
        "note/cursor",
        [
          "attachment": JSON(number % 100 + 1), "version": 0, "rev": 0,
          "ranges": [["start": place, "end": place]],
        ], isRequest: false)
    }
    #expect(client.mostUnread < 2 << 20, "\(client.mostUnread)")
    let told = try client.read().filter { $0["method"] == "note/presence" }
    // In the end everybody knows of all others.
    for attachment in 1...100 {
      let last = told.last { $0["params"]!["attachment"]!.integer == attachment }
      #expect(last?["params"]!["peers"]!.array?.count == 99)
    }
  }
}
