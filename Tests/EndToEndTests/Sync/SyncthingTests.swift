import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(
  .waitingLong, .tags(.tool, .slow),
  .enabled(if: hasTool("syncthing") || isContinuousIntegration, "syncthing is missing"))
struct `A folder that Syncthing carries` {
  let temporary: TemporaryFolder

  init() throws { temporary = TemporaryFolder() }

  @Test
  func `Two sides that edit, also offline, with files deleted and rolled back, lose nothing`()
    throws
  {
    let folders = [temporary("a"), temporary("b")]
    let engines = try folders.enumerated().map {
      try Syncthing($1, home: temporary("home\($0)"))
    }
    for engine in engines { try engine.configure(engines) }
    var ledger = Ledger()
    var servers: [Server] = []
    var notes: [JSON] = []
    func say(_ text: String) {
      if isLong { print(Date(), text) }
    }
    /// Waits until both have all that was acknowledged, by way of the engine.
    func converge(_ what: String) throws {
      say(what)
      let deadline = Deadline(in: 4 * patience)
      while true {
        let objections = try servers.map { ledger.objections(to: try $0.words()) }
        if objections.allSatisfy(\.isEmpty), try servers[0].revision == servers[1].revision {
          return
        }
        guard !deadline.isOver else {
          throw Failure("\(what): \(objections)\n\(engines.map(\.log).joined(separator: "\n"))")
        }
        for server in servers {
          try server.receiveAvailable()
          pause(0.1)
        }
      }
    }
    var count = 0
    func type(seconds: Double, _ meanwhile: () throws -> Void = {}) throws {
      let end = Deadline(in: seconds)
      while !end.isOver {
        for (number, server) in servers.enumerated() {
          _ = try server.append("w\(number)x\(count)", to: notes[count % notes.count], &ledger)
            .get()
          count += 1
        }
        try meanwhile()
        pause(0.05)
      }
    }

    // Each begins for itself: two identities, of which one becomes a conflict copy.
    for (number, folder) in folders.enumerated() {
      servers.append(try serve(folder))
      notes.append(try servers[number].create("begun\(number)", &ledger).get())
    }
    for engine in engines { try engine.start() }
    try converge("the first meeting")
    // The notes may be there before the engine has come to the file that both have.
    let deadline = Deadline(in: 4 * patience)
    func hasConflict() throws -> Bool {
      try folders.flatMap { try FileManager.default.contentsOfDirectory(atPath: $0) }
        .contains { $0.hasPrefix("decent.sync-conflict-") }
    }
    while try !hasConflict(), !deadline.isOver { pause(0.1) }
    #expect(try hasConflict())

    say("live on both sides")
    try type(seconds: isLong ? 120 : 5)
    try converge("live on both sides")

    // One deletes what the other is writing, and later gets an old copy of it back.
    var copies: [String: Data] = [:]
    let mine = Set(try logs(of: folders[0]).filter { $0.hasSuffix(".open") }.map(relative))
    try type(seconds: isLong ? 30 : 3) {
      for name in mine where copies[name] == nil {
        let path = folders[1] + name
        guard let bytes = FileManager.default.contents(atPath: path), bytes.count > 200 else {
          continue
        }
        copies[name] = bytes.prefix(bytes.count / 2)
        unlink(path)
      }
    }
    #expect(!copies.isEmpty)
    for (name, bytes) in copies {
      try? bytes.write(to: URL(fileURLWithPath: folders[1] + name), options: .atomic)
    }
    try converge("files deleted and rolled back")

    // Offline: both go on, one folds and removes, the other deletes a folder of logs.
    engines[1].stop()
    try type(seconds: isLong ? 30 : 2)
    for shell in [nil, "export NO_FAKE_STAT=1; exec faketime -f '+2d' \"$@\""]
    where shell == nil || hasTool("faketime") {
      let outcome = try Outcome(["--notebook", folders[0], "compact"], shell: shell)
      #expect(outcome.ending == .status(0), "\(outcome.errors)")
    }
    let one = try logs(of: folders[1]).first { $0.hasSuffix(".seg") }
    if let one { unlink(one) }
    for (number, folder) in folders.enumerated() where number == 1 {
      // Another session, while the first one lives.
      let other = try serve(folder)
      _ = try other.append("other", to: notes[0], &ledger).get()
      try other.leave()
    }
    try engines[1].start()
    try type(seconds: isLong ? 30 : 2)
    try converge("after being offline")

    for server in servers { try server.leave() }
    // What is in the folders has to do without what the processes knew.
    for (number, folder) in folders.enumerated() {
      var objections: [String] = []
      try waitUntil("the folder to be complete", within: 4 * patience) {
        let fresh = try serve(
          folder, environment: ["XDG_STATE_HOME": temporary("state\(UUID().uuidString)")])
        objections = ledger.objections(to: try fresh.words())
        try fresh.leave()
        return objections.isEmpty
      }
      let check = try Outcome(["--notebook", folder, "check"])
      #expect(check.ending == .status(0), "\(number): \(check.output)")
    }
    say("\(count) changes; \(try logs(of: folders[0]).count) logs")
    for engine in engines { engine.stop() }
  }

  /// A path from the notebook's folder on.
  private func relative(_ path: String) -> String {
    String(path[path.range(of: "/log/")!.lowerBound...])
  }
}
