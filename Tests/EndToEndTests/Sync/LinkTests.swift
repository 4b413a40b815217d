import Foundation
import JSONRPC
import TestSupport
import Testing

/// Two machines, each with an editor's process, and a link from the one to the other.
private final class TwoMachines {
  let folder = TemporaryFolder()
  /// The notebook there, and the command by which it is reached.
  let there: String
  let peer: String
  private(set) var ana: Server
  let ben: Server
  let note: JSON

  /// - Parameter line: the words before the command of the peer.
  init(line: String = "", options: [String] = []) throws {
    there = folder("ben")
    peer =
      "\(line)env XDG_STATE_HOME=\(folder("ben.state")) \(Server.program) --notebook \(there)"
    ana = try serve(
      folder("ana"), ["--sync", peer, "--name", "Ana"] + options,
      environment: ["XDG_STATE_HOME": folder("ana.state")])
    note = JSON(try ana.call("note/create", ["text": "first\n"])["note"]!["id"]!)
    let reader = try Server(
      there, ["--name", "Ben"], environment: ["XDG_STATE_HOME": folder("ben.state")])
    try reader.initialize()
    ben = reader
    try ben.wait(for: "the first note") {
      try reader.call("notebook/list")["notes"]?.array?.count == 1
    }
  }

  /// Another process of Ana's.
  func restartAna() throws {
    ana = try serve(
      folder("ana"), ["--sync", peer, "--name", "Ana"],
      environment: ["XDG_STATE_HOME": folder("ana.state")])
  }

  func awaitLink() throws {
    let (ana, peer) = (ana, peer)
    try ana.wait(for: "the link") { try ana.peer(peer)?["live"]?.boolean == true }
  }
}

@Suite struct `Links between machines` {
  private static let count = 40

  /// Both type, and both show all words in the end, each once.
  private func type(
    _ machines: TwoMachines, _ clients: [AttachedClient], from first: Int,
    _ random: inout SplitMix64, while body: (Int) throws -> Void = { _ in }
  ) throws {
    for number in 0..<Self.count {
      for (index, client) in clients.enumerated() {
        try client.type("w\(first + number)x\(index)w", &random)
        try client.proceed()
      }
      try body(number)
    }
    let expected = Set(
      (0..<first + Self.count).flatMap { n in clients.indices.map { "w\(n)x\($0)w" } })
    try run(clients) {
      clients.allSatisfy {
        $0.isIdle && expected.isSubset(of: $0.words.keys) && $0.text == clients[0].text
      }
    }
    for (word, times) in clients[0].words { #expect(times == 1, "\(word)") }
  }

  @Test func `Each editor sees what the other types, whichever process is killed meanwhile`() throws
  {
    var random = SplitMix64(seed: 1)
    let machines = try TwoMachines()
    let ben = try AttachedClient(machines.ben, machines.note)
    let ana = try AttachedClient(machines.ana, machines.note)
    try type(machines, [ana, ben], from: 0, &random)
    // The process that serves the link is killed again and again.
    try type(machines, [ana, ben], from: Self.count, &random) { number in
      if number % 15 == 7 {
        for child in machines.ana.children { kill(child, SIGKILL) }
        pause(0.3)
      }
    }
    // Ana's process is killed; her editor goes on with another one.
    kill(machines.ana.process, SIGKILL)
    _ = try machines.ana.waitForEnd()
    try machines.restartAna()
    try ana.resume(machines.note, with: machines.ana)
    try type(machines, [ana, ben], from: 2 * Self.count, &random)
    try machines.awaitLink()
    try machines.ana.leave()
    try machines.ben.leave()
    for (folder, state) in [("ana", "ana.state"), ("ben", "ben.state")] {
      let check = try Outcome(
        ["--notebook", machines.folder(folder), "check"],
        environment: ["XDG_STATE_HOME": machines.folder(state)])
      #expect(check.ending == .status(0), "\(check.output)")
    }
  }

  @Test func `A peer that stands still holds up no editor, and is given up after half a minute`()
    throws
  {
    var random = SplitMix64(seed: 2)
    let machines = try TwoMachines()
    try machines.awaitLink()
    let ana = try AttachedClient(machines.ana, machines.note)
    let stopped = machines.ana.children
    for child in stopped { kill(child, SIGSTOP) }
    for number in 0..<200 {
      try ana.type("w\(number)w", &random)
      try run([ana]) { ana.isIdle }
    }
    // Nobody lets it go on; another process takes its place, when the peer has not answered for 30 s.
    try machines.ana.wait(for: "another process", within: 30 + patience) {
      Set(machines.ana.children).isDisjoint(with: stopped) && !machines.ana.children.isEmpty
    }
    let ben = try AttachedClient(machines.ben, machines.note)
    try run([ana, ben]) { ben.text == ana.text }
    #expect(Set(ana.words.values) == [1])
    for child in stopped { kill(child, SIGKILL) }
    try machines.ana.leave()
    try machines.ben.leave()
  }

  /// After 30 seconds the one gives the link up, after 45 the other.
  @Test(arguments: [true, false])
  func `An end that is stopped for a minute gets everything once`(isOurs: Bool) throws {
    var random = SplitMix64(seed: 4)
    let machines = try TwoMachines()
    try machines.awaitLink()
    let ana = try AttachedClient(machines.ana, machines.note)
    let ben = try AttachedClient(machines.ben, machines.note)
    let stopped = isOurs ? [machines.ana.process] : machines.ana.children
    for process in stopped { kill(process, SIGSTOP) }
    for number in 0..<50 {
      try ana.type("w\(number)x0w", &random)
      try ben.type("w\(number)x1w", &random)
    }
    pause(TimeInterval(scaled(1, 60)))
    for process in stopped { kill(process, SIGCONT) }
    try run([ana, ben]) {
      ana.isIdle && ben.isIdle && ana.text == ben.text && ana.words.count > 100
    }
    #expect(Set(ana.words.values) == [1])
    try machines.awaitLink()
    try machines.ana.leave()
    try machines.ben.leave()
  }

  /// With the bytes of a link something may come that asks for them no more: no process of it stays.
  @Test func `No process is left when either end is killed`() throws {
    for isOurs in [true, false] {
      let machines = try TwoMachines()
      try machines.awaitLink()
      let served = machines.ana.children
      #expect(!served.isEmpty)
      if isOurs {
        kill(machines.ana.process, SIGKILL)
        _ = try machines.ana.waitForEnd()
      } else {
        try machines.ana.leave()
      }
      try waitUntil("its end") { served.allSatisfy { kill($0, 0) != 0 } }
      try machines.ben.leave()
    }
  }

  #if os(Linux)
    @Test(
      .enabled(
        if: getuid() == 0 && hasTool("ip") && hasTool("unshare") || isContinuousIntegration,
        "only root can make a network of its own"))
    func `A link comes back at once when the network does`() throws {
      let folder = TemporaryFolder()
      let times = folder("times")
      // It can be reached while the network is up.
      let peer =
        "sh -c 'date +%s.%N >>\(times); ip link show lo | grep -q LOWER_UP || { echo no network >&2; exit 1; }; exec \(Server.program) --notebook \(folder("b"))'"
      let server = try Server(
        folder("a"), ["--sync", peer],
        shell: "exec unshare --net sh -c 'ip link set lo up; exec \"$@\"' sh \"$@\"")
      try server.initialize()
      try server.wait(for: "the link") { try server.peer(peer)?["live"]?.boolean == true }
      func inside(_ command: String) throws {
        let status = try shell("nsenter --net=/proc/\(server.process)/ns/net \(command)")
        _ = status
      }
      try inside("ip link set lo down")
      for child in server.children { kill(child, SIGKILL) }
      func count() -> Int {
        ((try? String(contentsOfFile: times, encoding: .utf8)) ?? "").split(separator: "\n").count
      }
      // 0.5, 1, 2, 4 seconds apart: the next one would be 8 seconds later.
      try server.wait(for: "five tries") { count() >= 6 }
      pause(0.5)
      let before = Date()
      try inside("ip link set lo up")
      try server.wait(for: "the link again") { try server.peer(peer)?["live"]?.boolean == true }
      // The machine may do much else; without being told it would take at least seven seconds.
      #expect(-before.timeIntervalSinceNow < 5)
      try server.leave()
    }
  #endif
}
