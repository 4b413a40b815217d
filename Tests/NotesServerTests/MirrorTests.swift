import Bytes
import Foundation
import TestSupport
import Testing

@testable import NotesServer

@Suite("A mirror of files") struct MirrorTests {
  let scratch = TemporaryFolder()
  let tree = MemoryTree("/mirror")
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1, state: scratch("state"), mirror: tree)
    peer.initialize()
    peer.run(for: .seconds(5))
  }

  private func text(_ id: String) -> String {
    peer.call("note/get", ["id": .string(id)])["text"]!.string!
  }

  private func title(_ id: String) -> String {
    peer.call("note/get", ["id": .string(id)])["note"]!["title"]!.string!
  }

  private func set(_ id: String, _ text: String) {
    peer.call("note/setText", ["id": .string(id), "text": .string(text)])
  }

  private var paths: [String] { tree.files.keys.filter { !$0.hasPrefix(".") }.sorted() }
  private var messages: [String] {
    peer.take("window/showMessage").map { $0["message"]!.string! }
  }

  @Test func `a note has a file within a second, and an edit of one is in the other`() {
    let id = peer.create(["title": "Shopping", "text": "milk\n"])
    peer.run(for: .seconds(1))
    #expect(tree.text("Shopping.md") == "milk\n")
    set(id, "milk\neggs\n")
    peer.run(for: .seconds(1))
    #expect(tree.load("Shopping.md") == "milk\neggs\n")
    tree.write("milk, fresh\neggs\n", "Shopping.md")
    peer.run(for: .milliseconds(300))
    #expect(text(id) == "milk, fresh\neggs\n")
    tree.writeAtomically("milk, fresh\neggs\nbread\n", "Shopping.md")
    peer.run(for: .milliseconds(300))
    #expect(text(id) == "milk, fresh\neggs\nbread\n")
    #expect(paths == ["Shopping.md"] && messages == [])
  }

  @Test
  func `the same new file is one note of two machines whose mirrors read it before they meet`() {
    let otherTree = MemoryTree("/mirror")
    let other = Peer(scratch("other"), seed: 2, state: scratch("other-state"), mirror: otherTree)
    other.initialize()
    other.run(for: .seconds(5))
    for (peer, tree) in [(peer, tree), (other, otherTree)] {
      tree.write("milk\n", "Shopping.md")
      peer.run(for: .seconds(3))
    }
    tree.writeAtomically("milk, fresh\n", "Shopping.md")
    otherTree.writeAtomically("milk\neggs\n", "Shopping.md")
    for peer in [peer, other] { peer.run(for: .seconds(4)) }
    other.merge(from: peer, adopting: true)
    peer.merge(from: other, adopting: true)
    for (peer, tree) in [(peer, tree), (other, otherTree)] {
      peer.run(for: .seconds(4))
      #expect(tree.text("Shopping.md") == "milk, fresh\neggs\n")
      #expect(tree.files.keys.filter { !$0.hasPrefix(".") } == ["Shopping.md"])
      #expect(peer.list().count == 1)
    }
  }

  @Test func `a file is a note, its name the title, and its header tags`() {
    tree.write("---\ntags: [x]\nother: 1\n---\ntext", "folder/New.md")
    peer.run(for: .seconds(3))
    let notes = peer.call("notebook/list")["notes"]!.array!
    #expect(notes.count == 1 && notes[0]["title"] == "New" && notes[0]["tags"] == ["x"])
    #expect(notes[0]["path"] == "folder/New.md")
    peer.call("note/update", ["id": notes[0]["id"]!, "tags": ["x", "z"]])
    peer.run(for: .seconds(1))
    #expect(tree.text("folder/New.md") == "---\ntags: [x, z]\nother: 1\n---\ntext")
  }

  @Test func `an edit of a state that was in the file is made on that, and keeps what came since`()
  {
    let id = peer.create(["title": "a", "text": "one\ntwo\nthree\n"])
    peer.run(for: .seconds(1))
    // A program has the file; the note changes under it.
    let buffer = tree.text("a.md")!
    set(id, "one and more\ntwo\nthree\n")
    peer.run(for: .seconds(1))
    #expect(tree.text("a.md") == "one and more\ntwo\nthree\n")
    tree.writeAtomically(buffer.replacing("three", with: "three!"), "a.md")
    peer.run(for: .seconds(4))
    #expect(text(id) == "one and more\ntwo\nthree!\n")
    #expect(tree.text("a.md") == "one and more\ntwo\nthree!\n")
  }

  @Test func `who has written right before the file was replaced goes on with what that was`() {
    let id = peer.create(["title": "a", "text": "zero\none\n"])
    peer.run(for: .seconds(1))
    set(id, "zero\none noted\n")
    tree.beforeCall = { [tree] isWriting in
      guard isWriting else { return }
      tree.beforeCall = nil
      tree.writeAtomically("zero\none typed\n", "a.md")
    }
    peer.run(for: .seconds(1))
    #expect(text(id).contains("noted") && text(id).contains("typed"))
    // The line as this program knows it has nothing of the note's.
    tree.writeAtomically("zero\n", "a.md")
    peer.run(for: .seconds(4))
    #expect(text(id).contains("noted") && !text(id).contains("typed"))
  }

  @Test func `who takes that back takes back nothing of what came into the file for a moment`() {
    let id = peer.create(["title": "a", "text": "one\n"])
    peer.run(for: .seconds(1))
    set(id, "one\nnoted\n")
    tree.beforeCall = { [tree] isWriting in
      guard isWriting else { return }
      tree.beforeCall = nil
      tree.writeAtomically("one\ntyped, and more\n", "a.md")
    }
    peer.run(for: .seconds(1))
    #expect(text(id).contains("noted\n") && text(id).contains("typed"))
    tree.writeAtomically("one\n", "a.md")
    peer.run(for: .seconds(4))
    #expect(text(id) == "one\nnoted\n")
  }

  @Test func `a word that two have written by chance says nothing of what one has seen`() {
    let id = peer.create(["title": "a", "text": "zero\none\n"])
    peer.run(for: .seconds(1))
    let buffer = tree.text("a.md")!
    set(id, "zero\none\nfrom a client\n")
    peer.run(for: .seconds(1))
    tree.writeAtomically("from an editor\n" + buffer, "a.md")
    peer.run(for: .seconds(4))
    #expect(text(id) == "from an editor\nzero\none\nfrom a client\n")
  }

  @Test func `a word that has grown together with another one is still known to be there`() {
    let (noted, typed) = ("w10123778845854w", "w66554031506706w")
    let id = peer.create(["title": "a", "text": "1\n"])
    peer.run(for: .seconds(1))
    set(id, "1\n\(noted)")
    tree.beforeCall = { [tree] isWriting in
      guard isWriting else { return }
      tree.writeAtomically("1\n\(typed)", "a.md")
      tree.beforeCall = { isWriting in
        guard isWriting else { return }
        tree.beforeCall = nil
        #expect(tree.load("a.md") == "1\n\(noted)")
      }
    }
    peer.run(for: .seconds(1))
    tree.writeAtomically("2\n1\n\(typed)", "a.md")
    peer.run(for: .seconds(1))
    #expect(
      text(id) == "2\n1\n\(typed)\(noted)" || text(id) == "2\n1\n\(noted)\(typed)")
    // Somebody has read only what was there for a moment.
    tree.writeAtomically("w12734867449253w\n\(noted)", "a.md")
    peer.run(for: .seconds(4))
    #expect(text(id) == "w12734867449253w\n\(noted)")
  }

  @Test func `who has emptied the file right before it was replaced is given time to write it`() {
    let id = peer.create(["title": "a", "text": "one\ntwo\n"])
    peer.run(for: .seconds(1))
    set(id, "one\ntwo\nthree\n")
    var open: MemoryTree.File?
    tree.beforeCall = { [tree] isWriting in
      guard isWriting else { return }
      tree.beforeCall = nil
      open = tree.open("a.md")
    }
    peer.run(for: .milliseconds(400))
    #expect(open != nil && text(id) == "one\ntwo\nthree\n")
    for piece in ["one, more\n", "two\n"] {
      tree.append(piece, to: open!)
      peer.run(for: .milliseconds(400))
      #expect(text(id) == "one\ntwo\nthree\n")
    }
    tree.close(open!)
    peer.run(for: .seconds(5))
    #expect(text(id) == "one, more\ntwo\nthree\n" && tree.text("a.md") == text(id))
  }

  @Test func `what is taken back in the file is taken back in the note`() {
    let id = peer.create(["title": "a", "text": "[ ] x\n"])
    peer.run(for: .seconds(1))
    tree.writeAtomically("[x] x\n", "a.md")
    peer.run(for: .seconds(1))
    #expect(text(id) == "[x] x\n")
    tree.writeAtomically("[ ] x\n", "a.md")
    peer.run(for: .seconds(1))
    #expect(text(id) == "[ ] x\n" && tree.text("a.md") == "[ ] x\n")
  }

  @Test func `a file that is emptied and written in pieces is read when it is whole`() {
    let id = peer.create(["title": "a", "text": "one\ntwo\n"])
    peer.run(for: .seconds(1))
    let file = tree.open("a.md")
    peer.run(for: .seconds(1))
    #expect(text(id) == "one\ntwo\n")
    tree.append("one\n", to: file)
    peer.run(for: .seconds(1))
    #expect(text(id) == "one\ntwo\n")
    tree.append("two\nthree\n", to: file)
    tree.close(file)
    peer.run(for: .seconds(1))
    #expect(text(id) == "one\ntwo\nthree\n")
    // Emptied for good.
    tree.write("", "a.md")
    peer.run(for: .seconds(3))
    #expect(text(id) == "")
  }

  /// The time that the server knows is that of its last deadline.
  @Test func `a file rests from when it was written, however long nothing has happened`() {
    let id = peer.create(["title": "a", "text": "1\n"])
    peer.run(for: .seconds(40))
    tree.write("1\n2\n", "a.md")
    peer.wake(.mirror, after: .seconds(10))
    #expect(text(id) == "1\n")
    peer.run(for: .milliseconds(199))
    #expect(text(id) == "1\n")
    peer.run(for: .milliseconds(1))
    #expect(text(id) == "1\n2\n")
  }

  @Test func `a file that is complete is read at once, though the folders are looked through`() {
    let id = peer.create(["title": "a", "text": "one\n"])
    peer.run(for: .seconds(5))
    // Before its note is deleted it is looked whether it is really gone.
    tree.remove("a.md")
    peer.run(for: .milliseconds(2150))
    tree.write("one\ntwo\n", "a.md")
    peer.run(for: .milliseconds(400))
    #expect(text(id) == "one\ntwo\n")
  }

  @Test func `a file that gets another name keeps its note`() {
    let id = peer.create(["title": "a", "text": "text"])
    peer.run(for: .seconds(1))
    tree.rename("a.md", "b/c.md")
    peer.run(for: .seconds(9))
    #expect(peer.list() == [id] && title(id) == "c" && paths == ["b/c.md"])
    // An edit and a new name at once.
    tree.writeAtomically("text and more", "b/c.md")
    tree.rename("b/c.md", "d.md")
    peer.run(for: .seconds(9))
    #expect(peer.list().count == 1 && paths == ["d.md"])
    #expect(text(peer.list()[0]) == "text and more")
  }

  @Test func `a note with another title has another file, unless it came from a file`() {
    let id = peer.create(["title": "a", "text": "text"])
    tree.write("theirs", "own.md")
    peer.run(for: .seconds(3))
    peer.call("note/update", ["id": .string(id), "title": "b"])
    let own = peer.list().first { $0 != id }!
    peer.call("note/update", ["id": .string(own), "title": "Title"])
    peer.run(for: .seconds(1))
    #expect(paths == ["b.md", "own.md"])
    #expect(tree.text("own.md") == "---\ntitle: Title\n---\ntheirs")
  }

  @Test func `a file that is removed puts its note into the trash, a note in the trash has none`() {
    let (a, b) = (
      peer.create(["title": "a", "text": "1"]), peer.create(["title": "b", "text": "2"])
    )
    peer.run(for: .seconds(1))
    tree.remove("a.md")
    peer.run(for: .seconds(1))
    #expect(peer.list().count == 2, "it may come back")
    peer.run(for: .seconds(7))
    #expect(peer.list() == [b] && peer.list(["trashed": true]) == [a])
    peer.call("note/restore", ["id": .string(a)])
    peer.call("note/delete", ["id": .string(b)])
    peer.run(for: .seconds(1))
    #expect(paths == ["a.md"] && tree.text("a.md") == "1")
  }

  @Test func `an edit that the one who removed the file had not seen keeps the note`() {
    let id = peer.create(["title": "a", "text": "1"])
    peer.run(for: .seconds(1))
    tree.remove("a.md")
    set(id, "1 and 2")
    peer.run(for: .seconds(9))
    #expect(peer.list() == [id] && tree.text("a.md") == "1 and 2")
  }

  @Test func `a file that comes back in time was never gone`() {
    let id = peer.create(["title": "a", "text": "1"])
    peer.run(for: .seconds(1))
    let revision = peer.call("notebook/status")["revision"]
    for _ in 0..<5 {
      tree.rename("a.md", "a.md~")
      peer.run(for: .milliseconds(1500))
      tree.rename("a.md~", "a.md")
      peer.run(for: .milliseconds(1500))
    }
    peer.run(for: .seconds(9))
    #expect(peer.list() == [id] && peer.call("notebook/status")["revision"] == revision)
  }

  @Test func `many files gone at once are not deleted before the user says so`() throws {
    for number in 0..<30 { peer.create(["title": .string("n\(number)")]) }
    peer.run(for: .seconds(3))
    #expect(paths.count == 30)
    for number in 0..<20 { tree.remove("n\(number).md") }
    peer.run(for: .seconds(60))
    #expect(peer.list().count == 30)
    let told = messages
    #expect(told.count == 1 && told[0].contains("20 of 30 files are gone at once"), "\(told)")
    try peer.answerMirror(.restore)
    peer.run(for: .seconds(40))
    #expect(paths.count == 30 && peer.list().count == 30)
    for number in 0..<20 { tree.remove("n\(number).md") }
    peer.run(for: .seconds(9))
    try peer.answerMirror(.confirm)
    peer.run(for: .seconds(40))
    #expect(paths.count == 10 && peer.list().count == 10)
  }

  @Test func `what the user says counts for what was asked, not for what happens later`() throws {
    for number in 0..<30 { peer.create(["title": .string("n\(number)")]) }
    peer.run(for: .seconds(3))
    try peer.answerMirror(.confirm)
    peer.run(for: .seconds(40))
    for number in 0..<20 { tree.remove("n\(number).md") }
    peer.run(for: .seconds(60))
    #expect(peer.list().count == 30 && peer.isBraked)
  }

  @Test func `a file that is written while files are gone is read, though these are written again`()
    throws
  {
    let ids = (0..<30).map { peer.create(["title": .string("n\($0)"), "text": "1\n"]) }
    peer.run(for: .seconds(3))
    for number in 0..<20 { tree.remove("n\(number).md") }
    peer.run(for: .seconds(9))
    tree.write("1\nmore\n", "n25.md")
    peer.run(for: .seconds(9))
    try peer.answerMirror(.restore)
    peer.run(for: .seconds(40))
    #expect(paths.count == 30 && tree.text("n25.md") == "1\nmore\n")
    #expect(peer.text(ids[25]) == "1\nmore\n")
  }

  @Test func `an empty folder, one that is not mounted, deletes nothing`() {
    peer.create(["title": "a"])
    peer.run(for: .seconds(1))
    for path in tree.files.keys { tree.remove(path) }
    peer.run(for: .seconds(60))
    #expect(peer.list().count == 1)
    #expect(messages.contains { $0.contains(".decent-mirror is gone") })
  }

  @Test func `what is no text is left alone and told once`() {
    let id = peer.create(["title": "a", "text": "1"])
    peer.run(for: .seconds(1))
    tree.write("a\0b", "a.md")
    tree.write("x", "a.sync-conflict-2.md")
    peer.run(for: .seconds(40))
    set(id, "2")
    peer.run(for: .seconds(40))
    #expect(tree.text("a.md") == "a\0b" && text(id) == "2")
    let told = messages.sorted()
    #expect(told.count == 2, "\(told)")
    #expect(told[0].contains("a.md is left alone") && told[1].contains("a.sync-conflict-2.md"))
    tree.write("3", "a.md")
    peer.run(for: .seconds(4))
    #expect(peer.list().count == 1 && text(id).contains("3"))
  }

  @Test
  func `of much that is left out five files are told, the number of others, and nothing twice`() {
    peer.run(for: .seconds(1))
    for number in 1...9 { tree.write("x", "a\u{1}\(number).md") }
    peer.run(for: .seconds(70))
    let told = messages
    #expect(told.count == 6, "\(told)")
    #expect(told[4].contains(#"a\x015.md is left alone"#))
    #expect(told[5].contains("4 more are left alone") && told[5].contains("--verbose"))
    tree.write("x", "b\u{1}1.md")
    peer.run(for: .seconds(70))
    let next = messages
    #expect(next.count == 1 && next[0].contains(#"b\x011.md"#), "\(next)")
  }

  @Test func `a process that starts takes over what happened meanwhile`() {
    let (a, b) = (
      peer.create(["title": "a", "text": "1\n"]), peer.create(["title": "b", "text": "2\n"])
    )
    peer.run(for: .seconds(5))
    peer.inputEnded()
    tree.write("1\nmore\n", "a.md")
    tree.remove("b.md")
    tree.write("new", "c.md")
    let next = Peer(scratch("notes"), seed: 2, state: scratch("state"), mirror: tree)
    next.initialize()
    next.call("note/append", ["id": .string(a), "text": "2\n"])
    next.run(for: .seconds(20))
    #expect(next.call("note/get", ["id": .string(a)])["text"] == "1\nmore\n2\n")
    #expect(next.list(["trashed": true]) == [b])
    #expect(next.list().count == 2 && tree.text("a.md") == "1\nmore\n2\n")
  }

  @Test(arguments: [Duration.milliseconds(1), .seconds(3)])
  func `a file that is removed after the end was as the last process has written it`(
    _ time: Duration
  ) {
    let id = peer.create(["title": "a", "text": "1\n"])
    peer.run(for: .seconds(5))
    set(id, "1\nmore\n")
    peer.run(for: time)
    #expect(tree.text("a.md") == "1\nmore\n")
    peer.inputEnded()
    tree.remove("a.md")
    let next = Peer(scratch("notes"), seed: 2, state: scratch("state"), mirror: tree)
    next.initialize()
    next.run(for: .seconds(20))
    #expect(next.list() == [] && next.list(["trashed": true]) == [id])
    #expect(paths == [])
  }

  @Test func `what a killed process has set aside is read, unless it was known`() throws {
    let (a, b) = (
      peer.create(["title": "a", "text": "1\n"]), peer.create(["title": "b", "text": "2\n"])
    )
    peer.run(for: .seconds(5))
    set(b, "2\nmore\n")
    peer.run(for: .seconds(5))
    peer.inputEnded()
    func mark(_ text: String) -> String {
      ReadFile.text(SHA256.prefix64(of: Array(text.utf8)[...]))
    }
    // Somebody writes right before the file is replaced, and the process is killed right after that.
    tree.write("1\nwritten\n", "a.md")
    _ = try tree.replace("a.md", Array("1\n".utf8), mark: mark("1\n"))
    // What it had looked at is no news, though nothing else tells that any more.
    tree.write("old\n", "b.md")
    _ = try tree.replace("b.md", Array("2\nmore\n".utf8), mark: mark("old\n"))
    let next = Peer(scratch("notes"), seed: 2, state: scratch("state"), mirror: tree)
    next.initialize()
    next.run(for: .seconds(20))
    #expect(next.text(a) == "1\nwritten\n" && next.text(b) == "2\nmore\n")
    #expect(tree.text("a.md") == "1\nwritten\n" && tree.text("b.md") == "2\nmore\n")
    #expect(tree.files.keys.sorted() == [".decent-mirror", "a.md", "b.md"])
  }

  @Test func `another machine's mirror is left alone`() {
    peer.create(["title": "a"])
    peer.run(for: .seconds(3))
    peer.inputEnded()
    let other = Peer(scratch("notes"), seed: 2, state: scratch("other"), mirror: tree)
    other.initialize()
    tree.write("theirs", "x.md")
    other.run(for: .seconds(60))
    #expect(other.list().count == 1)
    let told = other.take("window/showMessage").map { $0["message"]!.string! }
    #expect(told.count == 1 && told[0].contains("another machine"), "\(told)")
  }

  @Test func `the notes that were imported from the folder have their files there`() {
    tree.write("one", "a/x.md")
    peer.run(for: .seconds(3))
    peer.inputEnded()
    // Another machine has the notebook and the same files, and mirrors them for the first time.
    let files = MemoryTree("/files")
    files.write("one", "a/x.md")
    let other = Peer(scratch("notes"), seed: 2, state: scratch("other"), mirror: files)
    other.initialize()
    other.run(for: .seconds(5))
    #expect(other.list().count == 1 && files.files.keys.sorted() == [".decent-mirror", "a/x.md"])
  }

  @Test func `what was written into a file after it was imported is taken over, header and all`() {
    peer.inputEnded()
    let files = MemoryTree("/files")
    files.write("---\ntags: [x]\nlang: de\n---\none\ntwo\n", "a.md")
    files.write("---\ntags: [x]\n---\nsame\n", "b.md")
    let other = Peer(scratch("other"), seed: 5, state: scratch("state"), mirror: files)
    other.initialize()
    other.run(for: .milliseconds(1))
    other.abandonMirror()
    _ = other.call("notebook/import", ["path": "/files"])
    let ids = other.list()
    other.call("note/setText", ["id": .string(ids[0]), "text": "one\ntwo\nthree\n"])
    files.write("---\ntags: [x, z]\nlang: fr\n---\none!\ntwo\n", "a.md")
    files.write("---\ntags: [x, new]\n---\nsame\n", "b.md")
    other.run(for: .seconds(40))
    #expect(other.list().count == 2)
    #expect(files.text("a.md") == "---\ntags: [x, z]\nlang: fr\n---\none!\ntwo\nthree\n")
    #expect(files.text("b.md") == "---\ntags: [x, new]\n---\nsame\n")
    let tags = other.call("notebook/list")["notes"]!.array!.map { $0["tags"]! }
    #expect(tags == [["x", "z"], ["new", "x"]])
  }

  @Test func `of a purged note nothing is left in the folder and the state folder`() throws {
    let id = peer.create(["title": "secretTitle", "text": "secretText", "tags": ["secretTag"]])
    peer.create(["title": "kept", "text": "kept"])
    peer.run(for: .seconds(1))
    _ = peer.call("notebook/export", ["path": .string(scratch("out"))])
    #expect(tree.text("secretTitle.md") != nil)
    for method in ["note/delete", "note/purge"] {
      peer.call(method, ["id": .string(id)])
      peer.run(for: .seconds(5))
    }
    #expect(paths == ["kept.md"])
    #expect(
      tree.files.values.allSatisfy { !String(decoding: $0.bytes, as: UTF8.self).contains("secret") }
    )
    var found = 0
    let state = scratch("state")
    let names = FileManager.default.enumerator(atPath: state)
    while let name = names?.nextObject() as? String {
      guard name.contains("/files") || name.contains("/mirror-"),
        let data = FileManager.default.contents(atPath: "\(state)/\(name)")
      else { continue }
      found += 1
      #expect(data.range(of: Data("secret".utf8)) == nil, "\(name)")
    }
    #expect(found >= 3)
  }

  @Test func `a request is answered when everything is read and written`() {
    for number in 0..<200 { tree.write("\(number)", "\(number).md") }
    let id = peer.send("notebook/mirror")
    #expect(peer.answer(to: id) == nil)
    peer.run(for: .seconds(5))
    #expect(peer.answer(to: id)?["files"] == 200)
    let none = Peer(scratch("another"))
    none.initialize()
    #expect(none.ask("notebook/mirror").error?.reason == "noMirror")
  }

  // MARK: - Many notes at once

  @Test func `files of many notes that were trashed are removed when the user says so`() throws {
    let ids = (0..<30).map { peer.create(["title": .string("n\($0)"), "text": "1\n"]) }
    peer.run(for: .seconds(3))
    func trash() {
      for id in ids.prefix(20) { peer.call("note/delete", ["id": .string(id)]) }
      peer.run(for: .seconds(60))
    }
    trash()
    #expect(paths.count == 30 && peer.isBraked)
    let told = messages
    #expect(told.count == 1 && told[0].contains("20 of 30 files would be removed"), "\(told)")
    // It was not meant so.
    try peer.answerMirror(.restore)
    peer.run(for: .seconds(40))
    #expect(paths.count == 30 && peer.list().count == 30 && !peer.isBraked)
    trash()
    #expect(paths.count == 30)
    try peer.answerMirror(.confirm)
    peer.run(for: .seconds(40))
    #expect(paths.count == 10 && peer.list().count == 10)
    // What was said counts for what was asked.
    for id in ids.suffix(10) { peer.call("note/delete", ["id": .string(id)]) }
    for number in 30..<50 { peer.create(["title": .string("n\(number)")]) }
    peer.run(for: .seconds(40))
    #expect(paths.count == 20)
    for id in peer.list() { peer.call("note/delete", ["id": .string(id)]) }
    peer.run(for: .seconds(40))
    #expect(paths.count == 20 && peer.isBraked)
  }

  @Test func `files of many notes that have changed are written when the user says so`() throws {
    let ids = (0..<60).map { peer.create(["title": .string("n\($0)"), "text": "1\n"]) }
    peer.run(for: .seconds(3))
    func change(_ text: String) {
      for id in ids { set(id, text) }
      peer.run(for: .seconds(60))
    }
    change("2\n")
    #expect(Set(paths.map { tree.text($0) }) == ["1\n"])
    let told = messages
    #expect(told.count == 1 && told[0].contains("60 of 60 files would change"), "\(told)")
    try peer.answerMirror(.restore)
    peer.run(for: .seconds(40))
    #expect(Set(ids.map(text)) == ["1\n"] && Set(paths.map { tree.text($0) }) == ["1\n"])
    change("3\n")
    try peer.answerMirror(.confirm)
    peer.run(for: .seconds(40))
    #expect(Set(ids.map(text)) == ["3\n"] && Set(paths.map { tree.text($0) }) == ["3\n"])
  }

  @Test func `a start asks before it removes the files of many notes, and does what is said then`()
    throws
  {
    let ids = (0..<30).map { peer.create(["title": .string("n\($0)"), "text": "1\n"]) }
    peer.run(for: .seconds(3))
    peer.inputEnded()
    func start(_ seed: UInt64, _ answer: NotesServer.MirrorAnswer?) -> Peer {
      let next = Peer(
        scratch("notes"), seed: seed, state: scratch("state"), mirror: tree, answer: answer)
      next.initialize()
      return next
    }
    let plain = Peer(scratch("notes"), seed: 2, state: scratch("state"))
    plain.initialize()
    for id in ids.prefix(20) { plain.call("note/delete", ["id": .string(id)]) }
    plain.inputEnded()
    let asking = start(3, nil)
    asking.run(for: .seconds(10))
    #expect(asking.isBraked && paths.count == 30)
    asking.inputEnded()
    let restoring = start(4, .restore)
    restoring.run(for: .seconds(10))
    #expect(paths.count == 30)
    #expect(restoring.list().count == 30)
  }

  @Test func `a start waits for a lock that a process which was killed has for a moment more`()
    throws
  {
    peer.create(["title": "a", "text": "1\n"])
    peer.run(for: .seconds(3))
    peer.inputEnded()
    let names = FileManager.default.enumerator(atPath: scratch("state"))?.compactMap {
      $0 as? String
    }
    let name = try #require(names?.first { $0.contains("/mirror-") && $0.hasSuffix(".lock") })
    let file = open(scratch("state/\(name)"), O_RDWR | O_CLOEXEC)
    #expect(file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
    let next = Peer(scratch("notes"), seed: 2, state: scratch("state"), mirror: tree)
    next.initialize()
    next.create(["title": "b", "text": "2\n"])
    next.run(for: .milliseconds(300))
    #expect(paths == ["a.md"])
    close(file)
    next.run(for: .seconds(5))
    #expect(paths == ["a.md", "b.md"])
  }

  // MARK: - A notebook that lacks something

  /// A peer at the notebook as it was when its folder was copied.
  private func goBack(_ seed: UInt64, _ mirror: MemoryTree? = nil) throws -> Peer {
    try FileManager.default.removeItem(atPath: scratch("notes"))
    try FileManager.default.copyItem(atPath: scratch("backup"), toPath: scratch("notes"))
    let next = Peer(
      scratch("notes"), seed: seed, state: scratch("state"), mirror: mirror ?? tree)
    next.initialize()
    return next
  }

  private func backUp() throws {
    try FileManager.default.copyItem(atPath: scratch("notes"), toPath: scratch("backup"))
  }

  @Test func `what was written into an older notebook and into its files is there once`() throws {
    let id = peer.create(["title": "a", "text": "one\ntwo\nthree\n"])
    let back = peer.create(["title": "b", "text": "1\n"])
    peer.call("note/delete", ["id": .string(back)])
    peer.run(for: .seconds(5))
    try backUp()
    set(id, "one\ntwo, later\nthree\n")
    peer.call("note/restore", ["id": .string(back)])
    peer.create(["title": "c", "text": "2\n"])
    peer.run(for: .seconds(12))
    peer.inputEnded()
    // One who has a file open goes on with what was there.
    tree.writeAtomically("zero\none\ntwo, later\nthree\n", "a.md")
    let next = try goBack(2)
    next.call("note/setText", ["id": .string(id), "text": "one\ntwo\nthree, too\n"])
    let request = next.send("notebook/mirror")
    next.run(for: .seconds(20))
    #expect(next.answer(to: request)?.error?.reason == "incomplete")
    #expect(next.text(id) == "zero\none\ntwo, later\nthree, too\n")
    #expect(tree.text("a.md") == next.text(id))
    #expect(paths == ["a.md", "b.md", "c.md"] && next.list().count == 3)
    #expect(next.text(back) == "1\n")
    #expect(next.call("notebook/mirror")["files"] == 3)
  }

  @Test func `a file that has got another path stays there, though the note is older`() throws {
    tree.write("text\n", "x.md")
    peer.run(for: .seconds(5))
    try backUp()
    tree.rename("x.md", "y/z.md")
    peer.run(for: .seconds(15))
    peer.inputEnded()
    let next = try goBack(2)
    next.run(for: .seconds(40))
    #expect(paths == ["y/z.md"] && next.list().count == 1)
    let note = next.call("notebook/list")["notes"]![0]!
    #expect(note["path"] == "y/z.md" && note["title"] == "z")
  }
}
