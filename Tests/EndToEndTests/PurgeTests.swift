import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting)
struct `Purging` {
  let temporary: TemporaryFolder
  let path: String
  let state: String

  init() throws {
    temporary = TemporaryFolder()
    path = temporary("notes")
    state = temporary("state")
  }

  private func run(_ words: String..., folder: String? = nil) throws -> Outcome {
    try Outcome(
      ["--notebook", folder ?? path] + words, environment: ["XDG_STATE_HOME": state])
  }

  private func call(_ method: String, _ params: String = "{}") throws -> JSONValue {
    let outcome = try run("call", method, params)
    #expect(outcome.ending == .status(0), "\(method) \(outcome.errors)")
    return try JSONValue(parsing: Array(outcome.output.utf8))
  }

  private func create(_ title: String, _ text: String) throws -> String {
    try call("note/create", #"{"title":"\#(title)","text":"\#(text)"}"#)["note"]!["id"]!.string!
  }

  /// The files below the notebooks and the state folder with a text in their bytes.
  private func files(with text: String) throws -> [String] {
    var found: [String] = []
    for name in try FileManager.default.subpathsOfDirectory(atPath: temporary.path) {
      guard let content = FileManager.default.contents(atPath: temporary(name)) else { continue }
      if content.range(of: Data(text.utf8)) != nil { found.append(name) }
    }
    return found
  }

  @Test
  func
    `A purged note's words are in no file of the notebook, the state folder or a peer that has folded`()
    throws
  {
    let note = try create("abracadabra", "simsalabim")
    let other = try create("other", "stays")
    _ = try call("note/append", #"{"id":"\#(note)","text":" hocuspocus"}"#)
    let peer = temporary("peer")
    #expect(try run("sync", peer).ending == .status(0))
    let words = ["abracadabra", "simsalabim", "hocuspocus"]
    for word in words { #expect(try files(with: word).count > 1, "\(word)") }

    // Only from the trash, all or none.
    let early = try run("purge", note, other)
    #expect(early.ending == .status(1) && early.errors.contains("it is not in the trash"))
    _ = try call("note/delete", #"{"id":"\#(note)"}"#)
    let mixed = try run("purge", note, other, "nonsense")
    #expect(mixed.ending == .status(1) && mixed.errors.split(separator: "\n").count == 2)
    let young = try run("purge", "--trash", "--older", "30d")
    #expect(young.output == "there is nothing to purge")
    // A note is not older for what its file says.
    try FileManager.default.createDirectory(
      atPath: temporary("old"), withIntermediateDirectories: true)
    try Data("---\ncreated: 2001-01-01\nupdated: 2001-01-01\n---\n".utf8).write(
      to: URL(fileURLWithPath: temporary("old") + "/ancient.md"))
    #expect(try run("import", temporary("old")).ending == .status(0))
    #expect(try run("trash", "ancient").ending == .status(0))
    #expect(
      try run("purge", "--trash", "--older", "30d").output == "there is nothing to purge")
    #expect(try run("restore", "ancient").ending == .status(0))
    #expect(try run("purge", "--trash").output.hasPrefix("purged 1 note: "))
    let again = try run("purge", note)
    #expect(again.ending == .status(1) && again.errors.contains("it was purged before"))

    // The peer does something to the note meanwhile.
    let late = try run("call", "note/append", #"{"id":"\#(note)","text":" fidibus"}"#, folder: peer)
    #expect(late.ending == .status(0))
    #expect(try run("sync", peer).ending == .status(0))
    for folder in [path, peer] {
      let compact = try run("compact", "--purged", folder: folder)
      #expect(compact.ending == .status(0) && compact.output.contains("with words of notes"))
      #expect(compact.output.contains("not reached: "))
    }
    for word in words + ["fidibus"] { #expect(try files(with: word) == [], "\(word)") }
    #expect(try !files(with: "stays").isEmpty)
    for folder in [path, peer] {
      let get = try run("call", "note/get", #"{"id":"\#(note)"}"#, folder: folder)
      #expect(get.errors.contains("purged"))
      let list = try run("call", "notebook/list", folder: folder)
      #expect(list.output.contains("other") && !list.output.contains("abracadabra"))
      #expect(try run("check", folder: folder).ending == .status(0))
    }
    // Nothing is left to do.
    #expect(try run("compact", "--purged").output.contains("there is nothing to fold"))
    #expect(try run("purge", "--trash").output == "there is nothing to purge")
  }

  @Test
  func `What a running process is writing is told of`() throws {
    let server = try Server(path, environment: ["XDG_STATE_HOME": state])
    try server.initialize()
    let note = try server.call("note/create", ["text": "abracadabra"])["note"]!["id"]!.string!
    try server.call("note/delete", ["id": .string(note)])
    try server.call("note/purge", ["id": .string(note)])
    // It completes its file by itself.
    try waitUntil("the file is complete") {
      try run("compact", "--purged").ending == .status(0) && files(with: "abracadabra").isEmpty
    }
    try server.leave()
    #expect(try run("check").ending == .status(0))
    #expect(try files(with: "abracadabra") == [])
  }
}
