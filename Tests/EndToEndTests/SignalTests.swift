import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting)
struct `Signals` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  /// The names of the files in the folders of all sessions.
  private func logs() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder("notes/log"))
      .filter { $0.contains("/") }.map { $0.split(separator: "/").last.map(String.init)! }
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGINT])
  func `A process that is asked to end leaves a complete log within two seconds`(
    number: Int32
  ) throws {
    var ledger = Ledger()
    let server = try Server(folder("notes"))
    try server.initialize()
    let note = try server.create("first", &ledger).get()
    #expect(try logs() == ["0.open"])
    // It was asked for something that takes long, and for more than is read.
    for _ in 0..<100 { try server.post("notebook/search", ["query": "first"]) }
    try server.call("note/append", ["id": note, "text": " more"])
    let start = ContinuousClock.now
    kill(server.process, number)
    #expect(try server.waitForEnd() == .signal(number))
    #expect(ContinuousClock.now - start < .seconds(2))
    let name = [SIGTERM: "SIGTERM", SIGHUP: "SIGHUP", SIGINT: "SIGINT"][number]!
    let told = try server.notification("window/showMessage")
    #expect(told["type"]?.integer == 2 && told["message"]!.string!.hasPrefix("\(name) has come"))
    #expect(server.errorText == "decent-notes: \(name) has come: the server ends.\n")
    let logs = try logs()
    #expect(logs.count == 1 && logs[0].hasSuffix("-end.seg"), "\(logs)")
    let next = try Server(folder("notes"))
    try next.initialize()
    #expect(try next.words()["more"] == 1)
    try next.leave()
  }

  @Test func `A process that was started to ignore a signal goes on`() throws {
    let server = try Server(folder("notes"), shell: "trap '' HUP; exec \"$@\"")
    try server.initialize()
    kill(server.process, SIGHUP)
    try server.call("note/create", ["title": "after"])
    try server.leave()
  }

  @Test func `A client whose process was asked to end goes on with the next one`() throws {
    let server = try Server(folder("notes"))
    try server.initialize()
    let made = try server.call("note/create", ["text": "one"])
    let id = JSON.raw(made["note"]!["id"]!.written)
    let open = try server.call("note/open", ["id": id, "mode": "edit"])
    try server.call(
      "note/change",
      [
        "attachment": .raw(open["attachment"]!.written), "version": 1, "rev": 0,
        "lines": [[0, 1, ["one two"]]],
      ])
    kill(server.process, SIGTERM)
    _ = try server.waitForEnd()
    let next = try Server(folder("notes"))
    try next.initialize()
    let resume: JSON = [
      "session": .raw(open["session"]!.written), "version": 1, "rev": 0, "text": "one two three",
    ]
    let resumed = try next.call("note/open", ["id": id, "mode": "edit", "resume": resume])
    #expect(resumed["text"]?.string == "one two three", "\(resumed.written)")
    #expect(resumed["resumed"]?.string == "exact", "\(resumed.written)")
    try next.leave()
  }
}
