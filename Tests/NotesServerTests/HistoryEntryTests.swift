import Foundation
import TestSupport
import Testing

@testable import NotesServer

/// What a client does, and where entries of history begin because of it. A peer's clock goes on by a second with each change.
@Suite struct `An entry of the history` {
  let scratch = TemporaryFolder()
  let peer: Peer
  let tree = MemoryTree("/mirror")

  init() {
    peer = Peer(scratch("notes"), seed: 1, state: scratch("state"), mirror: tree)
    peer.initialize()
    peer.run(for: .seconds(5))
  }

  /// An editor that shows a note of one line and writes at its end.
  private final class Editor {
    let peer: Peer
    let attachment: JSON
    private var version = 0
    private var count = 0

    init(_ id: String, of peer: Peer) {
      self.peer = peer
      let opened = peer.call("note/open", ["id": .string(id), "mode": "edit", "push": "text"])
      attachment = opened["attachment"]!
      count = opened["text"]!.string!.utf16.count
    }

    private func change(_ range: Range<Int>, _ text: String) {
      version += 1
      peer.call(
        "note/change",
        [
          "attachment": attachment, "version": JSON(version), "rev": 0,
          "ranges": [
            [
              "range": [
                "start": ["line": 0, "character": JSON(range.lowerBound)],
                "end": ["line": 0, "character": JSON(range.upperBound)],
              ], "newText": .string(text),
            ]
          ],
        ])
      count += text.utf16.count - range.count
    }

    func type(_ text: String) { change(count..<count, text) }
    func remove(_ length: Int) { change(count - length..<count, "") }
    func save() { peer.call("notebook/flush", ["attachment": attachment]) }
  }

  private func entries(_ id: String, of peer: Peer? = nil) -> [JSON] {
    (peer ?? self.peer).call("note/history", ["id": .string(id)])["entries"]!.array!
  }

  /// The texts at the ends of the entries, the newest first.
  private func texts(_ id: String, of peer: Peer? = nil) -> [String] {
    let peer = peer ?? self.peer
    return entries(id, of: peer).map {
      peer.call("note/get", ["id": .string(id), "revision": $0["revision"]!])["text"]!.string!
    }
  }

  @Test func `ends with a save, so five sentences that were saved and deleted can be restored`() {
    let id = peer.create()
    let editor = Editor(id, of: peer)
    for word in ["one", "two", "three", "four", "five"] { editor.type("\(word) is a sentence. ") }
    let text = peer.text(id)
    editor.save()
    for _ in 0..<5 { editor.remove(text.utf8.count / 5) }
    editor.type("other words")
    let history = entries(id)
    #expect(history.count == 2 && texts(id)[1] == text)
    peer.call("note/restoreVersion", ["id": .string(id), "revision": history[1]["revision"]!])
    #expect(peer.text(id) == text)
    // What was there before is an entry's end, too.
    #expect(texts(id) == [text, "one other words", text])
  }

  @Test func `is of what was saved: without an attachment, or of another note, a flush ends none`()
  {
    let (id, other) = (peer.create(), peer.create())
    let (editor, second) = (Editor(id, of: peer), Editor(other, of: peer))
    editor.type("one ")
    second.type("one ")
    peer.call("notebook/flush")
    second.save()
    // To save twice is to save once.
    second.save()
    for editor in [editor, second] { editor.type("two") }
    #expect(texts(id) == ["one two"] && texts(other) == ["one two", "one "])
    #expect(peer.ask("notebook/flush", ["attachment": 77]).error?.reason == "reopen")
    #expect(peer.ask("notebook/flush", ["attachment": "1"]).error?.code == -32602)
  }

  @Test func `ends with the attachment of an editor, and not with that of an observer`() {
    let id = peer.create()
    let first = Editor(id, of: peer)
    first.type("one ")
    let observer = peer.call("note/open", ["id": .string(id), "mode": "observe"])["attachment"]!
    peer.call("note/close", ["attachment": observer])
    first.type("and ")
    peer.call("note/close", ["attachment": first.attachment])
    Editor(id, of: peer).type("two")
    #expect(texts(id) == ["one and two", "one and "])
  }

  @Test func `ends with each whole text, and with what a note was created with`() {
    let id = peer.create(["text": "a"])
    peer.call("note/append", ["id": .string(id), "text": "b"])
    peer.call("note/append", ["id": .string(id), "text": "c"])
    for text in ["d", "e"] {
      peer.call("note/setText", ["id": .string(id), "text": .string(text)])
    }
    let requests: [JSON] = ["f", "g"].map {
      ["method": "note/setText", "params": ["id": .string(id), "text": .string($0)]]
    }
    peer.call("notebook/batch", ["requests": .array(requests)])
    #expect(texts(id) == ["g", "f", "e", "d", "a"])
    // A batch that fails leaves what was there as it was.
    let wrong: JSON = ["method": "note/append", "params": ["id": "none", "text": "x"]]
    #expect(peer.ask("notebook/batch", ["requests": .array(requests + [wrong])]).error != nil)
    peer.call("note/append", ["id": .string(id), "text": "h"])
    #expect(texts(id) == ["gh", "g", "f", "e", "d", "a"])
  }

  @Test func `ends with what was written to a file of a mirror, and with an import`() throws {
    tree.write("one\n", "Note.md")
    peer.run(for: .seconds(3))
    let id = peer.list()[0]
    for text in ["one\ntwo\n", "one\ntwo\nthree\n"] {
      tree.write(text, "Note.md")
      peer.run(for: .seconds(1))
    }
    #expect(texts(id) == ["one\ntwo\nthree\n", "one\ntwo\n", "one\n"])
    let folder = URL(fileURLWithPath: scratch("in"))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var imported: [String] = []
    for text in ["a\n", "a\nb\n", "a\nb\nc\n"] {
      try Data(text.utf8).write(to: folder.appending(path: "Imported.md"))
      peer.call("notebook/import", ["path": .string(folder.path)])
      imported.append(text)
    }
    let new = peer.list().first { $0 != id }!
    #expect(texts(new) == imported.reversed())
  }

  @Test func `ends with the process, and is the same in the next one and on another machine`() {
    let id = peer.create()
    let editor = Editor(id, of: peer)
    for word in ["one ", "two ", "three "] { editor.type(word) }
    editor.save()
    editor.type(String(repeating: "x", count: 300))
    editor.remove(300)
    let next = Peer(scratch("notes"), seed: 2, clock: 1_767_225_620_000, state: scratch("state"))
    next.initialize()
    Editor(id, of: next).type("four")
    let history = entries(id, of: next)
    #expect(texts(id, of: next).map(\.count) == [18, 14, 314, 14])
    let machine = Peer(scratch("machine"), seed: 3)
    machine.initialize()
    machine.merge(from: next)
    #expect(entries(id, of: machine) == history && texts(id, of: machine) == texts(id, of: next))
    let third = Peer(scratch("notes"), seed: 4, state: scratch("state"))
    third.initialize()
    #expect(entries(id, of: third) == history)
    // The log of the notebook has the same entries.
    let log = third.call("notebook/log")["entries"]!.array!.filter { $0["id"]?.string == id }
    #expect(log.map { $0["revision"] } == history.map { $0["revision"] })
    // Page by page, too.
    var pages: [JSON] = []
    while true {
      let before: JSON = pages.last.map { $0["revision"]! } ?? .null
      let page = third.call("notebook/log", ["limit": 1, "before": before])["entries"]!.array!
      if page.isEmpty { break }
      pages += page
    }
    #expect(pages.filter { $0["id"]?.string == id } == log)
  }

  @Test func `of two participants who write in turns is one for each turn, on both machines`() {
    let ben = Peer(scratch("ben"), seed: 2)
    ben.initialize()
    let id = peer.create()
    ben.merge(from: peer)
    var expected: [String] = []
    for turn in 0..<4 {
      let (writer, other) = turn.isMultiple(of: 2) ? (peer, ben) : (ben, peer)
      writer.merge(from: other)
      // Some seconds go by.
      for _ in 0..<5 { _ = writer.create() }
      for letter in ["a", "b"] {
        writer.call("note/append", ["id": .string(id), "text": .string("\(turn)\(letter) ")])
      }
      expected.append(writer.text(id))
    }
    peer.merge(from: ben)
    #expect(texts(id).prefix(4) == expected.reversed()[...])
    #expect(entries(id) == entries(id, of: ben))
  }

  @Test func `ends before undoing, and before a version that is restored`() {
    let id = peer.create()
    let editor = Editor(id, of: peer)
    editor.type("one ")
    editor.type("two ")
    #expect(peer.call("note/undo", ["attachment": editor.attachment])["done"] == true)
    #expect(texts(id).count == 2 && texts(id)[1] == "one two ")
  }
}
