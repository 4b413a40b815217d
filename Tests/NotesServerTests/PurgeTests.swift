import Bytes
import Foundation
import JSONRPC
import TestSupport
import Testing

@testable import NotesServer

@Suite struct `Purging notes` {
  let scratch = TemporaryFolder()
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"))
    peer.initialize()
  }

  /// A note in the trash.
  private func trashed(_ text: String) -> JSON {
    let id = JSON.string(peer.create(["title": "secret", "text": .string(text)]))
    peer.call("note/delete", ["id": id])
    return id
  }

  private func reason(_ method: String, _ params: JSON) -> String? {
    peer.ask(method, params).error?.reason
  }

  @Test func `only what is in the trash is purged, and once`() {
    let id = JSON.string(peer.create(["text": "abracadabra"]))
    #expect(reason("note/purge", ["id": id]) == "notTrashed")
    peer.call("note/delete", ["id": id])
    let made = peer.call("note/purge", ["id": id, "requestKey": "k"])
    #expect(made["revision"]?.string == peer.revision)
    #expect(peer.call("note/purge", ["id": id, "requestKey": "k"]).text == made.text)
    #expect(reason("note/purge", ["id": id]) == "purged")
    #expect(reason("note/purge", ["id": "x"]) == "noSuchNote")
  }

  @Test func `whatever names a purged note is told that, whatever was known of it`() {
    let other = JSON.string(peer.create(["title": "other", "text": "stays"]))
    let id = trashed("abracadabra")
    let revision = JSON.string(peer.revision)
    peer.call("note/purge", ["id": id])
    for (method, params) in [
      ("note/get", ["id": id]), ("note/get", ["id": id, "revision": revision]),
      ("note/history", ["id": id]), ("note/update", ["id": id, "title": "x"]),
      ("note/setText", ["id": id, "text": "x"]),
      ("note/setText", ["id": id, "text": "x", "base": revision]),
      ("note/append", ["id": id, "text": "x"]), ("note/move", ["id": id, "index": 0]),
      ("note/move", ["id": other, "after": id]), ("note/create", ["before": id]),
      ("note/delete", ["id": id]), ("note/restore", ["id": id]),
      ("note/open", ["id": id, "mode": "edit"]), ("note/links", ["id": id]),
      ("note/backlinks", ["id": id]), ("note/rename", ["id": id, "title": "x"]),
      ("notebook/list", ["after": id]),
    ] as [(String, JSON)] {
      #expect(reason(method, params) == "purged", "\(method)")
    }
    #expect(peer.list() == [other.string!] && peer.list(["trashed": true]) == [])
    let status = peer.call("notebook/status")
    #expect(status["notes"]?.integer == 1 && status["trashed"]?.integer == 0)
    // The other one as it was then can still be read.
    #expect(
      peer.call("note/get", ["id": other, "revision": revision])["text"]?.string == "stays")
    for index in 0..<2 {
      let new = peer.create(["index": JSON(index)])
      #expect(peer.list().firstIndex(of: new) == index)
    }
  }

  @Test func `attachments of it end, and their clients are told`() {
    let id = trashed("abracadabra")
    let note: JSON = ["id": id, "mode": "edit"]
    let first = peer.call("note/open", note)["attachment"]!.integer!
    let second = peer.call("note/open", ["id": id, "mode": "observe"])["attachment"]!.integer!
    let other = JSON.string(peer.create(["text": "a"]))
    let kept = peer.call("note/open", ["id": other, "mode": "edit"])["attachment"]!.integer!
    peer.call("note/purge", ["id": id])
    let told = peer.take("note/closed")
    #expect(told.map { $0["attachment"]?.integer } == [first, second])
    #expect(told.allSatisfy { $0["reason"]?.string == "purged" })
    for attachment in [first, second] {
      for method in ["note/change", "note/close", "note/undo", "note/redo"] {
        let params: JSON = [
          "attachment": JSON(attachment), "version": 1, "rev": 0, "text": "again",
        ]
        #expect(reason(method, params) == "purged", "\(method)")
      }
    }
    peer.call(
      "note/change", ["attachment": JSON(kept), "version": 1, "rev": 0, "text": "b"])
    #expect(peer.text(other.string!) == "b")
    peer.run(for: .seconds(1))
    #expect(peer.take("note/closed").isEmpty)
  }

  @Test func `another process is told, and what it does to the note meanwhile is gone`() throws {
    let id = trashed("abracadabra")
    let second = Peer(scratch("notes"), seed: 2)
    second.initialize()
    let attachment = second.call("note/open", ["id": id, "mode": "edit"])["attachment"]!.integer!
    peer.call("note/purge", ["id": id])
    // It has not looked yet.
    let change: JSON = [
      "attachment": JSON(attachment), "version": 1, "rev": 0, "text": "simsalabim",
    ]
    _ = second.ask("note/change", change)
    second.folderChanged()
    #expect(second.take("note/closed").map { $0["attachment"]?.integer } == [attachment])
    let what = second.take("notebook/didChange").flatMap { $0["changed"]!.array! }
    #expect(what.contains { $0["id"] == id && $0["what"]!.text.contains("purged") })
    peer.folderChanged()
    for peer in [peer, second] {
      #expect(peer.ask("note/get", ["id": id]).error?.reason == "purged")
      let changes = peer.call("notebook/changes")["changes"]!.string!
      let bytes = String(decoding: Base64.decode(Array(changes.utf8))!, as: UTF8.self)
      #expect(!bytes.contains("abracadabra") && !bytes.contains("simsalabim"))
    }
    #expect(peer.revision == second.revision)
  }

  @Test(arguments: ["", "exit", "shutdown exit"])
  func `of notes that are purged together nothing is left that was known of their files`(
    _ end: String
  ) throws {
    let state = scratch("state")
    let peer = Peer(scratch("together"), state: state)
    peer.initialize()
    let ids = (0..<20).map { peer.create(["title": .string("secret\($0)"), "text": "text"]) }
    peer.create(["title": "kept", "text": "text"])
    _ = peer.call("notebook/export", ["path": .string(scratch("out"))])
    for id in ids { peer.call("note/delete", ["id": .string(id)]) }
    func known() -> [String] {
      let names = FileManager.default.enumerator(atPath: state)?.compactMap { $0 as? String } ?? []
      return names.filter { $0.contains("/files") }.map {
        String(decoding: FileManager.default.contents(atPath: "\(state)/\($0)")!, as: UTF8.self)
      }
    }
    #expect(known().contains { $0.contains("secret0") && $0.contains("secret19") })
    var lines = ids.enumerated().map { number, id in
      #"{"jsonrpc": "2.0", "id": \#(1000 + number), "method": "note/purge", "params": {"id": "\#(id)"}}"#
    }
    for method in end.split(separator: " ") {
      let id = method == "exit" ? "" : #""id": 2000, "#
      lines.append(#"{"jsonrpc": "2.0", \#(id)"method": "\#(method)"}"#)
    }
    peer.write(lines.joined(separator: "\n") + "\n")
    #expect((peer.exitStatus != nil) == !end.isEmpty)
    let now = known()
    #expect(!now.isEmpty && now.allSatisfy { !$0.contains("secret") && $0.contains("kept") })
  }
}
