import Foundation
import JSONRPC
import TestSupport
import Testing

#if os(Linux)
  @Suite(
    .waitingLong, .tags(.root, .slow), .serialized,
    .enabled(
      if: Mount.isPossibleFromFile || isContinuousIntegration,
      "needs root, ext4 and loop devices"))
  struct `Power cuts` {
    /// Cuts the power under processes that write, and opens what is there afterwards.
    ///
    /// - Parameter write: sends changes, and returns the words that have to be there.
    private func cut(
      _ arguments: [String] = [], write: ([Server], JSON, inout Ledger) throws -> Set<String>
    ) throws {
      let disk = try Mount(megabytes: 16)
      let folder = disk.path + "/notes"
      var ledger = Ledger()
      let servers = try (0..<2).map { _ in try Server(folder, arguments) }
      for server in servers { try server.initialize() }
      let note = try servers[0].create("first", &ledger).get()
      try servers[1].awaitRevision(of: servers[0])
      let durable = try write(servers, note, &ledger)
      // What nobody synchronizes shows that the power was cut. A process that does, for its own files, would put this on disk, too.
      let control = disk.path + "/control"
      try whileStopped(servers.filter(\.isRunning)) {
        try writeControl(control)
        try disk.cutPower()
      }
      // Nothing can be written now, and reading goes on.
      let response = try servers[1].response(
        to: try servers[1].post("note/append", ["id": note, "text": " never"]))
      #expect(response["error"]?.code == -32803, "\(response.written)")
      #expect(try servers[1].words()["first"] == 1)
      for server in servers where server.isRunning { try server.killNow() }
      try disk.restorePower()
      #expect(FileManager.default.contents(atPath: control) ?? Data() == Data())

      let fresh = try Server(folder)
      try fresh.initialize()
      let words = try fresh.words()
      for word in durable.sorted() { #expect(words[word] == 1, "\(word) was durable") }
      for (word, count) in words {
        #expect(count == 1, "\(word)")
        #expect(ledger.kept.contains(word) || ledger.uncertain.contains(word), "\(word)")
      }
      // It can be written on.
      try fresh.call("note/create", ["title": "after"])
      try fresh.leave()
    }

    private func whileStopped(_ servers: [Server], _ body: () throws -> Void) throws {
      for server in servers { kill(server.process, SIGSTOP) }
      defer { for server in servers { kill(server.process, SIGCONT) } }
      for server in servers {
        try waitUntil("all threads to stop") {
          let tasks = "/proc/\(server.process)/task"
          return try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy {
            let status = try String(contentsOfFile: "\(tasks)/\($0)/stat", encoding: .utf8)
            return status[status.lastIndex(of: ")")!...].hasPrefix(") T")
          }
        }
      }
      try body()
    }

    /// Foundation would leave the file open in processes that other tests start at this moment, and with them the file system.
    private func writeControl(_ path: String) throws {
      let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(file) }
      guard file >= 0, write(file, "lost", 4) == 4 else { throw Failure("\(path): \(errno)") }
    }

    @Test(arguments: 1...UInt64(2 * seedFactor))
    func `What was there when a flush was answered stays`(_ seed: UInt64) throws {
      var random = SplitMix64(seed: seed)
      try cut { servers, note, ledger in
        var durable: Set<String> = []
        for number in 0..<(10 + random.below(20)) {
          let server = servers[random.below(2)]
          if random.below(4) == 0 {
            _ = try server.create("c\(number)", &ledger).get()
          } else {
            _ = try server.append("a\(number)", to: note, &ledger).get()
          }
          if random.below(6) == 0 {
            for server in servers { try server.call("notebook/flush") }
            durable = ledger.kept
          }
        }
        return durable
      }
    }

    @Test(arguments: [false, true])
    func `A flush covers also what others wrote and has been built on`(isKilled: Bool) throws {
      try cut { servers, note, ledger in
        for server in servers { try server.call("notebook/flush") }
        _ = try servers[0].append("base", to: note, &ledger).get()
        // It will never synchronize that itself.
        if isKilled { try servers[0].killNow() } else { kill(servers[0].process, SIGSTOP) }
        try servers[1].wait(for: "the other's word") { try servers[1].words()["base"] == 1 }
        _ = try servers[1].append("dependent", to: note, &ledger).get()
        try servers[1].call("notebook/flush")
        return ledger.kept
      }
    }

    @Test
    func `What was written by a process that left stays`() throws {
      try cut { servers, note, ledger in
        try servers[0].call("notebook/flush")
        let leaving = try Server(servers[0].folder!)
        try leaving.initialize()
        for number in 0..<5 { _ = try leaving.append("a\(number)", to: note, &ledger).get() }
        try leaving.leave()
        return ledger.kept
      }
    }

    @Test(
      arguments: 1...UInt64(2 * seedFactor))
    func `With durability by reply, what was answered stays`(_ seed: UInt64) throws {
      var random = SplitMix64(seed: seed)
      try cut(["--durability", "reply"]) { servers, note, ledger in
        var requests: [(server: Server, id: Int, word: String)] = []
        for number in 0..<40 {
          let word = "a\(number)"
          let server = servers[random.below(2)]
          ledger.sent(word)
          let params: JSON = ["id": note, "text": .string(" \(word)")]
          requests.append((server, try server.post("note/append", params), word))
        }
        // The power goes while some are still waiting.
        _ = try requests[random.below(requests.count)].server.receive()
        for server in servers { try server.receiveAvailable() }
        for (server, id, word) in requests where server.takeResponse(id)?["result"] != nil {
          ledger.keep(word)
        }
        return ledger.kept
      }
    }
  }
#endif
