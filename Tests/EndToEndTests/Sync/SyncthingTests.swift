import Foundation
import JSONRPC
import TestSupport
import Testing

/// Instances of Syncthing that know only each other, on this machine alone.
private final class Syncthing {
  let home: String
  let folder: String
  let port: Int
  let device: String
  private var daemon: Daemon?

  init(_ folder: String, home: String) throws {
    (self.folder, self.home) = (folder, home)
    port = try freePort()
    let path = tool("syncthing")!
    try shell("\"$2\" generate --home=\"$3\" --no-default-folder --skip-port-probing", path, home)
    device = try shell("\"$2\" --home=\"$3\" --device-id", path, home)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    try FileManager.default.createDirectory(
      atPath: folder + "/.stfolder", withIntermediateDirectories: true)
    try "(?d).tmp-*\n".write(toFile: folder + "/.stignore", atomically: true, encoding: .utf8)
  }

  /// As its users have it, but for what would look for others, and with shorter waits.
  func configure(_ others: [Syncthing]) throws {
    let devices = others.map {
      """
      <device id="\($0.device)" name="\($0.port)"><address>tcp://127.0.0.1:\($0.port)</address></device>
      """
    }
    let members = others.map { "<device id=\"\($0.device)\"></device>" }
    try """
    <configuration version="36">
      <folder id="notes" label="notes" path="\(folder)" type="sendreceive" rescanIntervalS="10"
          fsWatcherEnabled="true" fsWatcherDelayS="1" ignorePerms="false" autoNormalize="true">
        <filesystemType>basic</filesystemType>
        \(members.joined())
        <minDiskFree unit="%">0</minDiskFree>
        <maxConflicts>10</maxConflicts>
        <markerName>.stfolder</markerName>
      </folder>
      \(devices.joined())
      <gui enabled="false"></gui>
      <options>
        <listenAddress>tcp://127.0.0.1:\(port)</listenAddress>
        <globalAnnounceEnabled>false</globalAnnounceEnabled>
        <localAnnounceEnabled>false</localAnnounceEnabled>
        <relaysEnabled>false</relaysEnabled>
        <natEnabled>false</natEnabled>
        <stunKeepaliveStartS>0</stunKeepaliveStartS>
        <reconnectionIntervalS>1</reconnectionIntervalS>
        <startBrowser>false</startBrowser>
        <urAccepted>-1</urAccepted>
        <autoUpgradeIntervalH>0</autoUpgradeIntervalH>
        <crashReportingEnabled>false</crashReportingEnabled>
        <minHomeDiskFree unit="%">0</minHomeDiskFree>
      </options>
    </configuration>
    """.write(toFile: home + "/config.xml", atomically: true, encoding: .utf8)
  }

  func start() throws {
    daemon = try Daemon(
      [
        tool("syncthing")!, "serve", "--home=\(home)", "--no-browser", "--no-restart",
        "--no-upgrade", "--logfile=\(home)/log",
      ], environment: ["STNOUPGRADE": "1", "HOME": home], log: home + "/errors")
    try daemon!.await(port: port)
  }

  func stop() {
    daemon?.end(SIGTERM)
    daemon = nil
  }

  var log: String { (try? String(contentsOfFile: home + "/log", encoding: .utf8)) ?? "" }
}

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
    let names = try folders.flatMap { try FileManager.default.contentsOfDirectory(atPath: $0) }
    #expect(names.contains { $0.hasPrefix("decent.sync-conflict-") })

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
