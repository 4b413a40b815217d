import Foundation
import JSONRPC
import TestSupport
import Testing

/// The files that a killed process leaves, and what becomes of them.
@Suite(.waiting)
struct `Killed processes` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  /// The names of the files in the folders of all sessions.
  private func logs() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder("notes/log"))
      .filter { $0.contains("/") }.map { $0.split(separator: "/").last.map(String.init)! }
  }

  /// Lets a process write a word, and kills it.
  private func leave(_ word: String) throws {
    var ledger = Ledger()
    let server = try Server(folder("notes"))
    try server.initialize()
    _ = try server.create(word, &ledger).get()
    try server.killNow()
    #expect(try logs().contains("0.open"))
  }

  private func call(_ arguments: String...) throws -> Outcome {
    try Outcome(["--notebook", folder("notes")] + arguments)
  }

  /// True if somebody who has only complete files knows a word.
  private func isCarried(_ word: String) throws -> Bool {
    let copy = folder("copy-\(UUID())")
    try shell(#"cp -a "$2" "$3"; find "$3" -name '*.open' -delete"#, folder("notes"), copy)
    let server = try Server(copy)
    try server.initialize()
    defer { try? server.leave() }
    return try server.words()[word] == 1
  }

  @Test(arguments: [
    ["call", "notebook/list"], ["call", "note/create", #"{"title":"next"}"#], ["compact"],
    ["sync", "PEER"],
  ])
  func `leave files that any later command completes`(_ command: [String]) throws {
    try leave("left")
    #expect(try !isCarried("left"))
    let outcome = try Outcome(
      ["--notebook", folder("notes")] + command.map { $0 == "PEER" ? folder("peer") : $0 })
    #expect(outcome.ending == .status(0), "\(outcome.errors)")
    let files = try logs()
    #expect(files.allSatisfy { $0.hasSuffix(".seg") }, "\(files)")
    #expect(try isCarried("left"))
    #expect(try call("check").ending == .status(0))
  }

  @Test func `leave files that an editor's process completes while it runs`() throws {
    try leave("left")
    let server = try Server(folder("notes"))
    try server.initialize()
    try waitUntil("the file is complete") { try logs().allSatisfy { $0.hasSuffix(".seg") } }
    #expect(try server.words()["left"] == 1)
    try server.call("note/create", ["title": "next"])
    try server.leave()
    #expect(try isCarried("left"))
    #expect(try isCarried("next"))
  }

  @Test func `are told from those that live, stop, or keep their state elsewhere`() throws {
    var ledger = Ledger()
    let living = try Server(folder("notes"))
    try living.initialize()
    let note = try living.create("living", &ledger).get()
    let elsewhere = try Server(
      folder("notes"), environment: ["XDG_STATE_HOME": folder("elsewhere")])
    try elsewhere.initialize()
    _ = try elsewhere.create("elsewhere", &ledger).get()
    try elsewhere.killNow()
    kill(living.process, SIGSTOP)
    for _ in 0..<3 { #expect(try call("call", "notebook/list").ending == .status(0)) }
    kill(living.process, SIGCONT)
    #expect(try logs() == ["0.open", "0.open"])
    try living.call("note/append", ["id": note, "text": " more"])
    try living.leave()
    let files = try logs()
    #expect(files.count { $0.hasSuffix("-end.seg") } == 1 && files.count == 2, "\(files)")
  }

  @Test func `leave nothing half done that a request with the same key would do again`() throws {
    for round in 0..<10 {
      let server = try Server(folder("notes"))
      try server.initialize()
      let keys = (0..<20).map { "\(round).\($0)" }
      for key in keys {
        _ = try server.post("note/create", ["title": .string(key), "requestKey": .string(key)])
      }
      // In the midst of them: after one answer, or some more.
      _ = try server.receive()
      try server.killNow()
      for key in [keys[0], keys[round], keys[19]] {
        let params = #"{"title":"\#(key)","requestKey":"\#(key)"}"#
        for _ in 0..<2 {
          #expect(try call("call", "note/create", params).ending == .status(0))
        }
        let found = try call("call", "notebook/find", #"{"name":"\#(key)"}"#).output
        #expect(found.components(separatedBy: #""id":"#).count == 2, "\(found)")
      }
    }
  }
}
