import Foundation
import TestSupport
import Testing

@testable import NotesServer

@Suite struct `A confined client` {
  let folder = TemporaryFolder()

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
  }

  @Test func `reads and writes the notes of the folder that it was given`() {
    let peer = Peer(folder("notes"), isConfined: true)
    let answer = peer.call("initialize")
    #expect(answer["capabilities"]?["notebook"]?["sync"] == false)
    let id = peer.create(["title": "ours"])
    peer.call("note/setText", ["id": .string(id), "text": "text"])
    let changes = peer.call("notebook/changes")["changes"]!
    #expect(peer.call("notebook/merge", ["changes": changes])["revision"] != nil)
  }

  @Test(arguments: ["other", "notes/../other", "notes/log", "", "~"])
  func `opens no other folder`(_ name: String) throws {
    let peer = Peer(folder("notes"), isConfined: true)
    let path = name == "~" ? name : folder(name)
    let error = peer.ask(
      "initialize", ["initializationOptions": ["notebook": .string(path)]]
    ).error
    #expect(error?.code == -32803 && error?.reason == "confined", "\(path)")
    #expect(peer.ask("notebook/list").error?.code == -32002)
    // The one of the command line it may name.
    peer.call("initialize", ["initializationOptions": ["notebook": .string(folder("notes"))]])
    peer.create(["title": "ours"])
    #expect(try names() == ["notes"])
  }

  @Test(arguments: [
    "notebook/sync", "notebook/import", "notebook/export", "notebook/mirror", "note/purge",
  ])
  func `reaches nothing outside by a method`(_ method: String) throws {
    let peer = Peer(folder("notes"), isConfined: true)
    peer.call("initialize")
    let id = peer.create(["title": "ours"])
    let params: JSON = [
      "peer": .string("touch \(folder("run"))"), "path": .string(folder("run")), "id": .string(id),
    ]
    let error = peer.ask(method, params).error
    #expect(error?.code == -32803 && error?.reason == "confined")
    #expect(error?.message.hasPrefix(method + ": ") == true)
    peer.run(for: .seconds(1))
    #expect(try names() == ["notes"])
    #expect(peer.call("note/get", ["id": .string(id)])["note"]?["title"] == "ours")
  }

  @Test func `is refused nothing when it is not confined`() {
    let peer = Peer(folder("notes"))
    peer.call("initialize", ["initializationOptions": ["notebook": .string(folder("other"))]])
    #expect(peer.ask("notebook/import").error?.code == -32602)
    #expect(peer.ask("note/purge", ["id": "x"]).error?.reason == "noSuchNote")
  }
}
