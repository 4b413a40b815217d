import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waitingLong, .tags(.slow))
struct `Exchanging changes with peers` {
  let folder: TemporaryFolder
  let a: String
  let b: String

  init() throws {
    folder = TemporaryFolder()
    (a, b) = (folder("a"), folder("b"))
  }

  /// A command that serves a notebook, as a peer.
  private func command(_ folder: String) -> String { "\(Server.program) --notebook '\(folder)'" }

  @Test
  func `A folder that is not there yet gets all, both ways; and what is alike is not touched`()
    throws
  {
    var ledger = Ledger()
    try begin(a, ["one", "two"], bytes: 200_000, &ledger)
    let first = try sync(a, with: b)
    #expect(first.sent > 400_000 && first.received == 0)
    try audit(b, ledger)
    // Both go on, and each has something for the other.
    for (notebook, word) in [(a, "three"), (b, "four")] {
      let server = try serve(notebook)
      try server.write([word], bytes: 1000, &ledger)
      try server.leave()
    }
    let second = try sync(b, with: a)
    #expect((1000..<3000).contains(second.sent) && (1000..<3000).contains(second.received))
    for notebook in [a, b] { try audit(notebook, ledger) }
    let before = (try contents(of: a), try contents(of: b))
    for (notebook, peer) in [(a, b), (b, a), (a, command(b))] {
      let none = try sync(notebook, with: peer)
      #expect(none == (0, 0))
    }
    #expect(try contents(of: a) == before.0)
    #expect(try contents(of: b) == before.1)

    // By an editor's process, which tells how far it is.
    let (other, server) = (try serve(a), try serve(b))
    try other.write(["five"], bytes: 600_000, &ledger)
    let result = try server.call("notebook/sync", ["peer": .string(a), "workDoneToken": "t"])
    #expect(result["received"]!.integer! > 600_000 && result["sent"]?.integer == 0)
    let told = server.notifications.filter { $0["method"]?.string == "$/progress" }
      .map { $0["params"]!["value"]! }
    #expect(told.first?["kind"]?.string == "begin" && told.last?["kind"]?.string == "end")
    #expect(told.dropFirst().dropLast().allSatisfy { $0["kind"]?.string == "report" })
    #expect(told.count > 3)
    #expect(try server.revision == result["revision"]?.string)
    _ = try server.notification("notebook/didChange")
    let peer = try server.peer(a)
    #expect(peer?["owed"]?.integer == 0 && peer?["reached"] != nil && peer?["failure"] == nil)
    for server in [other, server] { try server.leave() }
    try audit(b, ledger)
  }

  @Test
  func `Notebooks that were begun independently become one only when that is asked for`() throws {
    var (ours, theirs) = (Ledger(), Ledger())
    try begin(a, ["ours"], &ours)
    try begin(b, ["theirs"], &theirs)
    let before = (try contents(of: a), try contents(of: b))
    for (notebook, peer) in [(a, b), (b, command(a))] {
      #expect(try failure(notebook, with: peer).contains("this is another notebook"))
    }
    #expect(try contents(of: a) == before.0)
    #expect(try contents(of: b) == before.1)
    try sync(a, with: b, ["--adopt"])
    for word in ["theirs"] { ours.keep(word) }
    for notebook in [a, b] { try audit(notebook, ours) }
    // From now on without a word; also those that only one of them has met.
    #expect(try sync(b, with: a) == (0, 0))
    try sync(b, with: folder("c"))
    #expect(try sync(a, with: folder("c")) == (0, 0))
    try audit(folder("c"), ours)
  }

  @Test(.timeLimit(.minutes(1)))
  func `What is no peer is told in one line`() throws {
    var ledger = Ledger()
    try begin(a, ["one"], &ledger)
    for (peer, words) in [
      ("/dev/null/x", "Not a directory"), ("no-such-program at all", "No such file"),
      ("false", "it ended before everything was said"),
      ("sh -c 'echo one >&2; echo three reasons >&2; exit 3'", "one; three reasons"),
      ("sh -c 'echo Welcome to this machine; exec cat'", "Welcome to this machine"),
      ("sleep 1000", isLong ? "no answer for 25 seconds" : ""),
      ("cat", "does not speak our protocol"), ("yes", "does not speak our protocol"),
    ] where !words.isEmpty {
      let errors = try failure(a, with: peer)
      #expect(errors.contains(words), "\(peer): \(errors)")
      #expect(errors.split(separator: "\n").count == 1, "\(peer): \(errors)")
    }
    try audit(a, ledger)
  }

  @Test
  func `A peer that has closed its standard error, or floods it, is waited for like any other`()
    throws
  {
    var ledger = Ledger()
    try begin(a, ["one"], &ledger)
    let server = try serve(a)
    let before = server.processorTime
    try server.call(
      "notebook/sync", ["peer": .string("sh -c 'exec 2>&-; sleep 1; exec \(command(b))'")])
    // It would be a second of them.
    #expect(server.processorTime - before < 0.5)
    let flood = "sh -c 'yes >&2 & \(command(b)); kill $!'"
    try server.call("notebook/sync", ["peer": .string(flood)])
    try server.leave()
    try audit(b, ledger)
  }

  @Test
  func `A command may begin with the home folder's sign`() throws {
    var ledger = Ledger()
    try begin(a, ["one"], &ledger)
    try writeProgram("#!/bin/sh\nexec \(command(b))\n", to: folder("serve"))
    let outcome = try sync(a, with: "~/serve now", environment: ["HOME": folder.path])
    #expect(outcome.sent > 0)
    try audit(b, ledger)
  }

  @Test
  func `A client that asks for far too many exchanges at once gets some, and goes on editing`()
    throws
  {
    let server = try serve(a)
    let ids = try (0..<100).map { _ in
      try server.post("notebook/sync", ["peer": "sleep 1000"])
    }
    let refused = try ids.suffix(36).map { try server.response(to: $0)["error"] }
    #expect(refused.allSatisfy { $0?.reason == "peerFailed" })
    // Each with the shell that would end it.
    try server.wait(for: "the others' processes") { server.children.count == 128 }
    for id in ids.prefix(64) { try server.notify("$/cancelRequest", ["id": JSON(id)]) }
    for id in ids.prefix(64) { #expect(try server.response(to: id)["error"]?.code == -32800) }
    try server.call("note/create", ["title": "still here"])
    try server.leave()
  }

  @Test
  func `A sync with several peers fails if one of them does, and the others get all the same`()
    throws
  {
    var ledger = Ledger()
    try begin(a, ["one"], &ledger)
    for peers in [[b, "false"], ["false", folder("c")], ["false", folder("d"), "false"]] {
      let outcome = try Outcome(["--notebook", a, "sync"] + peers)
      #expect(outcome.ending == .status(1), "\(peers)")
      let good = peers.first { $0 != "false" }!
      #expect(
        outcome.output.hasPrefix(good + ": sent ")
          && outcome.output.split(separator: "\n").count == 1)
      #expect(outcome.errors.contains("false"), "\(outcome.errors)")
      try audit(good, ledger)
    }
    let outcome = try Outcome(["--notebook", a, "sync", b, folder("c")])
    #expect(outcome.ending == .status(0) && outcome.errors.isEmpty)
    #expect(outcome.output.split(separator: "\n").count == 2)
  }

  @Test
  func `An exchange that is cancelled leaves no process, and goes on where it was`() throws {
    var ledger = Ledger()
    try begin(b, (0..<10).map { "b\($0)" }, bytes: 150_000, &ledger)
    let server = try serve(a)
    // One that never says a word, and has started another; and one that is at it.
    for (peer, bytes) in [("sh -c 'sleep 1000 & sleep 1000'", 0), (command(b), 400_000)] {
      let params: JSON = ["peer": .string(peer), "workDoneToken": "t"]
      let id = try server.post("notebook/sync", params)
      if bytes > 0 { try server.awaitProgress("t", bytes: bytes) }
      try waitUntil("the peer's process") { !server.children.isEmpty }
      let group = server.children
      try server.notify("$/cancelRequest", ["id": JSON(id)])
      #expect(try server.response(to: id)["error"]?.code == -32800)
      try waitUntil("the peer's end") { group.allSatisfy { kill(-$0, 0) != 0 } }
      #expect(server.children.isEmpty)
    }
    let rest = try server.call("notebook/sync", ["peer": .string(b)])
    #expect((1...1_200_000).contains(rest["received"]!.integer!))
    try server.leave()
    try audit(a, ledger)
  }

  @Test
  func `Editing goes on while much is exchanged`() throws {
    var ledger = Ledger()
    try begin(a, ["first"], &ledger)
    try sync(a, with: b)
    try begin(b, (0..<10).map { "b\($0)" }, bytes: 100_000, &ledger)
    let server = try serve(a)
    let note = try server.create("mine", &ledger).get()
    try server.write((0..<5).map { "a\($0)" }, bytes: 100_000, &ledger)
    let id = try server.post("notebook/sync", ["peer": .string(b)])
    var slowest = 0.0
    var count = 0
    while true {
      try server.receiveAvailable()
      if let response = server.takeResponse(id) {
        #expect(response["result"]?["received"]?.integer ?? 0 > 1_000_000)
        break
      }
      let start = Date()
      _ = try server.append("typed\(count)", to: note, &ledger).get()
      slowest = max(slowest, -start.timeIntervalSinceNow)
      count += 1
    }
    #expect(count > 10)
    // Of a program that is built for debugging, on a machine that does much else.
    #expect(slowest < 5)
    try server.leave()
    try audit(a, ledger)
    try sync(b, with: a)
    try audit(b, ledger)
  }

  @Test
  func `Many exchanges at once, in both directions, bring the same as one`() throws {
    var ledger = Ledger()
    try begin(a, ["first"], &ledger)
    try sync(a, with: b)
    let servers = [try serve(a), try serve(b)]
    for (number, server) in servers.enumerated() {
      try server.write((0..<5).map { "w\(number)x\($0)" }, bytes: 60_000, &ledger)
    }
    var ids: [(Server, Int)] = []
    for _ in 0..<3 {
      for (server, peer) in zip(servers, [b, a]) {
        ids.append((server, try server.post("notebook/sync", ["peer": .string(peer)])))
      }
    }
    for (server, id) in ids { _ = try server.result(of: id) }
    for server in servers {
      let objections = ledger.objections(to: try server.words())
      #expect(objections.isEmpty)
    }
    for server in servers { try server.leave() }
    for notebook in [a, b] { try audit(notebook, ledger) }
    #expect(try sync(a, with: b) == (0, 0))
  }

  @Test
  func `A peer that goes away is told once, and when it is back; meanwhile the status knows`()
    throws
  {
    var ledger = Ledger()
    let away = folder("away")
    let peer =
      "sh -c 'test ! -e \(away) || { echo nobody home >&2; exit 1; }; exec \(Server.program) --notebook \(b)'"
    let server = try serve(a, ["--sync", peer, "--every", "1s"])
    try server.write(["first"], &ledger)
    try server.wait(for: "the first exchange") {
      let state = try server.peer(peer)
      return state?["reached"] != nil && state?["owed"]?.integer == 0
    }
    _ = FileManager.default.createFile(atPath: away, contents: nil)
    for child in server.children { kill(child, SIGKILL) }
    try server.write(["second"], &ledger)
    try server.wait(for: "a failure") { try server.peer(peer)?["failure"] != nil }
    let state = try server.peer(peer)!
    #expect(state["failure"]!.string!.contains("nobody home"))
    #expect(state["owed"]!.integer! > 0 && state["reached"] != nil)
    let told = try server.notification("window/logMessage")
    #expect(told["type"]?.integer == 1)
    #expect(told["message"]?.string?.contains("nobody home") == true)
    unlink(away)
    let back = try server.notification("window/logMessage")
    #expect(back["message"]?.string?.hasSuffix("can be reached again") == true)
    #expect(back["type"]?.integer == 3)
    try server.wait(for: "what was owed") { try server.peer(peer)?["owed"]?.integer == 0 }
    #expect(try server.peer(peer)?["failure"] == nil)
    #expect(!server.notifications.contains { $0["method"]?.string == "window/logMessage" })
    try server.leave()
    try audit(b, ledger)

    // The same from the command line, where nobody edits.
    let (writer, keeper) = (try serve(b), try Server(a, ["sync", "--every", "1s", b]))
    try writer.write(["third"], &ledger)
    try waitUntil("what the peer wrote") {
      try Outcome(["--notebook", a, "call", "notebook/list"]).output.contains("third")
    }
    kill(keeper.process, SIGTERM)
    #expect(try keeper.waitForEnd() == .signal(SIGTERM))
    try writer.leave()
    try audit(a, ledger)
  }

  @Test(
    arguments: [["--sync"], ["sync"]])
  func
    `Exchanges with an older peer begin as often as --every says, also when nothing else happens`(
      way: [String]
    )
    throws
  {
    let times = folder("times")
    let peer = "sh -c 'date +%s.%N >>\(times); exec \(try olderPeer(b))'"
    let words =
      way == ["sync"] ? ["sync", "--every", "1s", peer] : ["--every", "1s", "--sync", peer]
    let server = try Server(a, words)
    if way != ["sync"] { try server.initialize() }
    var begun: [Double] = []
    try server.wait(for: "five exchanges") {
      begun = ((try? String(contentsOfFile: times, encoding: .utf8)) ?? "")
        .split(separator: "\n").compactMap { Double($0) }
      return begun.count > 4
    }
    // Four seconds, and as many again for a machine that is busy. A timer of five seconds that happens to be there needs twenty.
    #expect(begun[4] - begun[0] < 12)
    // No exchange begins before its time.
    #expect(begun[4] - begun[0] > 3)
    kill(server.process, SIGTERM)
    #expect(try server.waitForEnd() == .signal(SIGTERM))
  }

  @Test(
    .enabled(
      if: Mount.isPossible || isContinuousIntegration, "only root can mount a file system to fill"))
  func `A peer without room is told, and gets the rest when there is room`() throws {
    let disk = try Mount(memory: "size=1m")
    var ledger = Ledger()
    try begin(a, (0..<10).map { "w\($0)" }, bytes: 150_000, &ledger)
    let peer = disk.path + "/notes"
    let told = try failure(a, with: peer)
    #expect(told.contains("No space left") || told.contains("full"), "\(told)")
    try disk.remount("size=40m")
    let rest = try sync(a, with: peer)
    #expect((1..<1_400_000).contains(rest.sent))
    try audit(peer, ledger)
    // The other way about: the room is missing here.
    let small = try Mount(memory: "size=1m")
    let error = try failure(small.path + "/notes", with: a)
    #expect(error.contains("No space left") || error.contains("full"), "\(error)")
    try small.remount("size=40m")
    try sync(small.path + "/notes", with: a)
    try audit(small.path + "/notes", ledger)
  }
}
