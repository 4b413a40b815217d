import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(
  .waiting, .tags(.tool),
  .enabled(if: hasTool("faketime") || isContinuousIntegration, "faketime is missing"))
struct `Clocks that are wrong` {
  let temporary: TemporaryFolder

  init() throws { temporary = TemporaryFolder() }

  private func server(at time: String?) throws -> Server {
    let server = try Server(
      temporary("notes"), shell: time.map { "exec faketime '\($0)' \"$@\"" })
    try server.initialize()
    return server
  }

  @Test
  func `Whoever writes last is last, in 1970 and in 2050`() throws {
    var ledger = Ledger()
    let times = ["1970-01-02 00:00:00", nil, "2050-06-01 00:00:00"]
    let servers = try times.map(server)
    let note = try servers[1].create("first", &ledger).get()
    func agree(with writer: Server) throws {
      for server in servers { try server.awaitRevision(of: writer) }
    }
    for round in 0..<3 {
      for (number, server) in servers.enumerated() {
        try agree(with: servers[(number + 2) % 3])
        // It has seen what the others did: it comes after that, whatever the clocks say.
        try server.call("note/update", ["id": note, "priority": round == 1 ? "low" : "high"])
        try server.call("note/update", ["id": note, "title": .string("first")])
        _ = try server.append("by\(number)in\(round)", to: note, &ledger).get()
        try server.call(
          "note/update", ["id": note, "tags": [.string("last-by-\(number)-in-\(round)")]])
        try agree(with: server)
        for server in servers {
          let shown = try server.call("notebook/list")["notes"]!.array!.map { $0 }[0]
          #expect(shown["tags"]?.written == "[\"last-by-\(number)-in-\(round)\"]")
          #expect(shown["priority"]?.string == (round == 1 ? "low" : "high"))
        }
      }
    }
    // All at once: some order, the same for all.
    for (number, server) in servers.enumerated() {
      try server.post("note/update", ["id": note, "priority": number == 0 ? "low" : "high"])
      ledger.sent("at\(number)once")
      try server.post("note/append", ["id": note, "text": .string(" at\(number)once")])
    }
    for (number, server) in servers.enumerated() {
      try server.call("notebook/flush")
      ledger.keep("at\(number)once")
    }
    try servers[0].wait(for: "the others' words") {
      try ledger.objections(to: servers[0].words()).isEmpty
    }
    try agree(with: servers[0])
    let lists = try servers.map { try $0.call("notebook/list").written }
    #expect(Set(lists).count == 1)
    for server in servers { try server.leave() }
    try audit(temporary("notes"), ledger)
  }

  #if os(Linux)
    @Test func `A process whose clock stands still sleeps when it has answered`() throws {
      let server = try Server(
        temporary("notes"), shell: "exec faketime -f '@2026-11-26 10:00:00 x0.000001' \"$@\"")
      try server.initialize()
      // faketime waits for the program, which it has started.
      try server.wait(for: "a child") { !server.children.isEmpty }
      let path = "/proc/\(server.children[0])/stat"
      func state() throws -> Substring? {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: ")").last?
          .split(separator: " ").first
      }
      for _ in 0..<3 {
        try server.call("notebook/status")
        try server.wait(for: "sleep") { try state() == "S" }
      }
      kill(server.children[0], SIGKILL)
    }
  #endif
}
