import FileTree
import Foundation
import TestSupport
import Testing

@testable import NotesServer

@Suite("Import and export") struct FileTests {
  let scratch = TemporaryFolder()
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1, state: scratch("state"))
    peer.initialize()
  }

  private func write(_ text: String, _ path: String) throws {
    let url = URL(fileURLWithPath: scratch(path))
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  private func text(_ path: String) -> String? {
    (try? Data(contentsOf: URL(fileURLWithPath: scratch(path)))).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// All files of a folder.
  private func files(_ path: String) -> [String: String] {
    var files: [String: String] = [:]
    let names = FileManager.default.enumerator(atPath: scratch(path))
    while let name = names?.nextObject() as? String {
      if let text = text("\(path)/\(name)") { files[name] = text }
    }
    return files
  }

  private func bring(_ path: String = "in", to other: Peer? = nil) -> JSON {
    (other ?? peer).call("notebook/import", ["path": .string(scratch(path))])
  }

  private func out(_ path: String, into: Bool = false, from other: Peer? = nil) -> JSON {
    (other ?? peer).call(
      "notebook/export", ["path": .string(scratch(path)), "into": into ? true : false])
  }

  private func counts(_ created: Int, _ updated: Int, _ unchanged: Int) -> JSON {
    [
      "created": .init(created), "updated": .init(updated), "unchanged": .init(unchanged),
      "skipped": [],
    ]
  }

  private func another(_ name: String, seed: UInt64) -> Peer {
    let other = Peer(scratch(name), seed: seed, state: scratch("state-\(name)"))
    other.initialize()
    return other
  }

  /// What is seen of the notes, in their order: title, tags, priority, text.
  private func faces(_ peer: Peer) -> [JSON] {
    peer.list().map { id in
      let note = peer.call("note/get", ["id": .string(id)])
      return [
        note["note"]!["title"]!, note["note"]!["tags"]!, note["note"]!["priority"]!, note["text"]!,
      ]
    }
  }

  @Test func `files become notes in the order of their paths, and a second import changes nothing`()
    throws
  {
    try write("---\ntitle: One\ntags: [x, y]\npriority: high\n---\ntext\n", "in/b/one.md")
    try write("# Two\n\nbody\r\n", "in/c.md")
    try write("three", "in/a.txt")
    try write("{}", "in/other.json")
    #expect(bring() == counts(3, 0, 0))
    #expect(
      faces(peer) == [
        ["a", [], "normal", "three"], ["One", ["x", "y"], "high", "text\n"],
        ["Two", [], "normal", "# Two\n\nbody\r\n"],
      ])
    let revision = peer.call("notebook/status")["revision"]
    #expect(bring() == counts(0, 0, 3))
    #expect(peer.call("notebook/status")["revision"] == revision)
    let summaries = peer.call("notebook/list")["notes"]!.array!
    #expect(summaries.map { $0["path"]?.string } == ["a.txt", "b/one.md", "c.md"])
  }

  @Test func `what was edited in both is merged, and what only the notebook has stays`() throws {
    try write("---\ntags: [a, b]\nkept: 1\n---\none\ntwo\nthree\n", "in/n.md")
    _ = bring()
    let id = peer.list()[0]
    peer.call(
      "note/update", ["id": .string(id), "tags": ["add": ["mine"], "remove": ["b"]]])
    peer.call("note/setText", ["id": .string(id), "text": "one\ntwo\nthree and mine\n"])
    try write("---\ntags: [a, b, c]\nkept: 2\n---\none of theirs\ntwo\nthree\n", "in/n.md")
    #expect(bring() == counts(0, 1, 0))
    #expect(
      faces(peer) == [["n", ["a", "c", "mine"], "normal", "one of theirs\ntwo\nthree and mine\n"]])
    // The file has what it had, and the notebook more: the next edit of the file is made on what is in it.
    try write("---\ntags: [a, b, c]\nkept: 2\n---\none of theirs\ntwo!\nthree\n", "in/n.md")
    #expect(bring() == counts(0, 1, 0))
    #expect(
      faces(peer) == [
        ["n", ["a", "c", "mine"], "normal", "one of theirs\ntwo!\nthree and mine\n"]
      ])
    #expect(bring() == counts(0, 0, 1))
    _ = out("out")
    #expect(text("out/n.md")?.contains("kept: 2\n") == true)
  }

  @Test func `an import on another machine knows which files have nothing new`() throws {
    try write("one", "in/a.md")
    try write("two", "in/b.md")
    _ = bring()
    let other = another("notes", seed: 2)
    #expect(bring(to: other) == counts(0, 0, 2))
    try write("two and more", "in/b.md")
    #expect(bring(to: other) == counts(0, 1, 1))
    #expect(faces(other) == [["a", [], "normal", "one"], ["b", [], "normal", "two and more"]])
  }

  @Test func `a file of the same path in another folder is another note`() throws {
    try write("one", "in/todo.md")
    try write("another", "more/todo.md")
    _ = bring()
    #expect(bring("more") == counts(1, 0, 0))
    #expect(bring("more") == counts(0, 0, 1))
    #expect(bring() == counts(0, 0, 1))
    try write("one", "copy/todo.md")
    #expect(bring("copy") == counts(1, 0, 0))
    peer.call("note/delete", ["id": .string(peer.list()[0])])
    _ = out("out")
    #expect(files("out") == ["todo.md": "one", "todo (2).md": "---\ntitle: todo\n---\nanother"])
  }

  @Test func `the same new file is one note of machines that import it before they meet`() throws {
    let others = [another("notes-b", seed: 2), another("notes-c", seed: 3)]
    let folders = ["in", "in-b", "in-c"]
    let peers = [peer] + others
    peer.create(["title": "before"])
    for other in others { other.merge(from: peer) }
    for (folder, peer) in zip(folders, peers) {
      try write("---\ntags: [x]\n---\nthe same\n", "\(folder)/new.md")
      // Two equal files of one import stay two.
      try write("the same\n", "\(folder)/one.md")
      try write("the same\n", "\(folder)/sub/one.md")
      // Programs make empty files before anything is written.
      try write("", "\(folder)/Untitled.md")
      #expect(bring(folder, to: peer) == counts(4, 0, 0))
    }
    let ids = try peers.map { peer in
      try #require(
        peer.list().first { id in
          peer.call("note/get", ["id": .string(id)])["note"]!["title"] == "new"
        })
    }
    #expect(Set(ids).count == 1)
    let id: JSON = .string(ids[0])
    // What each does with it counts for all.
    try write("---\ntags: [x]\n---\nthe same\nB\n", "in-b/new.md")
    #expect(bring("in-b", to: others[0]) == counts(0, 1, 3))
    others[1].call("note/update", ["id": id, "tags": ["x", "y"]])
    for one in peers {
      for other in peers where other !== one { one.merge(from: other) }
    }
    for peer in peers {
      let titles = faces(peer).map { $0.array![0].string! }
      #expect(
        titles.sorted() == ["Untitled", "Untitled", "Untitled", "before", "new", "one", "one"])
      let note = peer.call("note/get", ["id": id])
      #expect(note["text"] == "the same\nB\n" && note["note"]!["tags"] == ["x", "y"])
    }
    peers[0].call("note/delete", ["id": id])
    for one in others { one.merge(from: peer) }
    for peer in peers { #expect(!peer.list().contains(ids[0])) }
    // A copy of a file that is known is another note, with equal bytes, too. The empty one is another machine's note with its path.
    #expect(bring("in-c", to: peer) == counts(3, 0, 1))
  }

  @Test func `what can't be taken is told, and everything else is in`() throws {
    try write("fine", "in/fine.md")
    try write("a\0b", "in/zero.md")
    try Data([0x61, 0xFF]).write(to: URL(fileURLWithPath: scratch("in/latin.md")))
    try write("x", "in/x.sync-conflict-1.md")
    try write("x", "in/.hidden/x.md")
    try write("x", "in/draft.md")
    try write("draft*\n", "in/.decentignore")
    for (name, bytes): (String, [UInt8]) in [
      ("mark.md", [0xFF, 0xFE, 0x61, 0]), ("big.md", [0xFE, 0xFF, 0, 0x61]),
      ("little.md", Array("ab\u{e9}c".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
      ("odd.md", [0x61, 0, 0x61, 0, 0x61]),
    ] {
      try Data(bytes).write(to: URL(fileURLWithPath: scratch("in/\(name)")))
    }
    try write("elsewhere", "out/b.md")
    for (link, target) in [
      ("link.md", "fine.md"), ("folder", "../out"), ("dated.md", "../out"), ("gone", "nowhere"),
      ("gone.md", "nowhere"), ("picture.png", "fine.md"), ("drafts", "../out"),
    ] {
      try FileManager.default.createSymbolicLink(
        atPath: scratch("in/\(link)"), withDestinationPath: target)
    }
    let result = bring()
    #expect(result["created"] == 1)
    let skipped = result["skipped"]!.array!
    let causes = skipped.map { "\($0["path"]!.string!): \($0["cause"]!.string!)" }
    #expect(
      causes.sorted() == [
        "big.md: utf16", "dated.md: linkedFolder", "folder: linkedFolder", "gone.md: link",
        "latin.md: encoding", "link.md: link", "little.md: utf16", "mark.md: utf16", "odd.md: zero",
        "x.sync-conflict-1.md: conflictCopy", "zero.md: zero",
      ])
    for one in skipped {
      let reason = one["reason"]!.string!
      switch one["cause"]!.string! {
      case "utf16": #expect(reason.hasSuffix("save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"))
      case "encoding": #expect(reason.hasPrefix("it is not UTF-8 from byte 1 on: if it is Latin-1"))
      case "zero": #expect(reason.hasPrefix("there is U+0000 at byte 1"))
      case "conflictCopy": break
      default: #expect(reason.hasSuffix("by itself, or name it in .decentignore"))
      }
    }
    for (path, reason) in [("missing", "unusableFolder"), ("in/missing.md", "unusableFolder")] {
      let error = peer.ask("notebook/import", ["path": .string(scratch(path))]).error
      #expect(error?.reason == reason && error?.message.contains(scratch(path)) == true)
    }
  }

  @Test func `conflict copies beside their files become notes, and are told`() throws {
    for name in ["a", "a (conflicted copy 2026-11-27 101010)", "a.Conflict", "a (1)", "b.Conflict"]
    {
      try write(name, "in/\(name).md")
    }
    #expect(bring() == counts(5, 0, 0))
    // The clock of the peer is behind that of the files.
    let told = peer.take("window/showMessage").map { $0["message"]!.string! }
      .filter { !$0.hasPrefix("import: dates") }
    #expect(told.count == 1)
    #expect(
      told.first?.hasPrefix(
        "import: 2 conflict copies are notes: a (conflicted copy 2026-11-27 101010).md, a.Conflict.md. `"
      ) == true, "\(told)")
    #expect(bring() == counts(0, 0, 5))
    #expect(peer.take("window/showMessage").isEmpty)
  }

  @Test func `a dry run says what would be done, and does nothing`() throws {
    try write("one", "in/a.md")
    let dry: JSON = ["path": .string(scratch("in")), "dryRun": true]
    #expect(peer.call("notebook/import", dry) == counts(1, 0, 0))
    #expect(peer.list() == [])
    _ = bring()
    try write("one more", "in/a.md")
    #expect(peer.call("notebook/import", dry) == counts(0, 1, 0))
    #expect(faces(peer) == [["a", [], "normal", "one"]])
  }

  @Test func `an import reports its progress, and what it has done when it is cancelled stays`()
    throws
  {
    for number in 0..<300 { try write("\(number)", "in/\(number).md") }
    let request = peer.send(
      "notebook/import", ["path": .string(scratch("in")), "workDoneToken": "t"])
    peer.notify("$/cancelRequest", ["id": .init(request)])
    #expect(peer.answer(to: request)?.error?.code == -32800)
    _ = peer.call("notebook/import", ["path": .string(scratch("in")), "workDoneToken": "u"])
    let kinds = peer.notifications.filter {
      $0["method"] == "$/progress" && $0["params"]!["token"] == "u"
    }
    .map { $0["params"]!["value"]!["kind"]!.string! }
    #expect(kinds.first == "begin" && kinds.last == "end" && kinds.contains("report"))
    #expect(peer.list().count == 300)
  }

  @Test func `an export into a folder of somebody's files changes none of them`() throws {
    let originals = [
      "a.md": "---\r\ntitle: 'quoted'   # why\r\ntags:\r\n  - one\r\n  - two\r\n---\r\ntext",
      "b/c.markdown": "\u{FEFF}no title", "d.txt": "---\nnever closed\n", "e.org": "#+title: E\n",
    ]
    for (path, text) in originals { try write(text, "in/\(path)") }
    try write("other", "in/readme.rst")
    _ = bring()
    #expect(
      out("in", into: true)
        == ["written": 0, "unchanged": 4, "removed": 0, "skipped": []])
    for (path, text) in originals { #expect(self.text("in/\(path)") == text) }
    #expect(files("in").count == 5)
    // Only lines of what has changed are others.
    let note = peer.list()[0]
    peer.call("note/update", ["id": .string(note), "tags": ["one"]])
    #expect(out("in", into: true)["written"] == 1)
    #expect(
      text("in/a.md") == "---\r\ntitle: 'quoted'   # why\r\ntags:\r\n  - one\r\n---\r\ntext")
  }

  @Test func `import of an export gives the same notes in the same order`() throws {
    let titles = [
      "plain", "a/b", "plain", "", "...", "nul", "# h", "---", "title: x", "é", "e\u{301}",
      String(repeating: "長", count: 400), " blank ", "con", "PLAIN", "x.md",
    ]
    let texts = ["", "text\n", "---\ntitle: other\n---\n", "\u{FEFF}x", "# Heading\n", "---\n"]
    for (index, title) in titles.enumerated() {
      peer.create([
        "title": .string(title), "text": .string(texts[index % texts.count]),
        "tags": index % 3 == 0 ? ["a, b", "x"] : [],
        "priority": index % 4 == 0 ? "low" : "normal",
      ])
    }
    let gone = peer.create(["title": "gone"])
    peer.call("note/delete", ["id": .string(gone)])
    let result = out("out")
    #expect(result["written"]?.integer == titles.count && result["skipped"] == [])
    let other = another("other", seed: 3)
    _ = bring("out", to: other)
    #expect(faces(other) == faces(peer))
    #expect(
      out("out") == ["written": 0, "unchanged": .init(titles.count), "removed": 0, "skipped": []])
    #expect(bring("out", to: other) == counts(0, 0, titles.count))
  }

  @Test
  func `an export removes what it wrote for notes that are gone, and nothing that others wrote`()
    throws
  {
    let (a, b, c) = (
      peer.create(["title": "a"]), peer.create(["title": "b"]), peer.create(["title": "c"])
    )
    _ = out("out")
    try write("edited by somebody", "out/b.md")
    try write("edited by somebody, too", "out/c.md")
    for id in [a, b] { peer.call("note/delete", ["id": .string(id)]) }
    peer.call("note/setText", ["id": .string(c), "text": "new"])
    let result = out("out")
    #expect(result["removed"] == 1 && result["written"] == 0)
    #expect(result["skipped"]!.array!.map { $0["path"] } == ["c.md", "b.md"])
    #expect(files("out") == ["b.md": "edited by somebody", "c.md": "edited by somebody, too"])
  }

  @Test(
    arguments: [["first"], ["first", "second"], ["first", nil], ["first", ""]] as [[String?]])
  func `what somebody has written last while a file is replaced stays, and is told`(
    writings: [String?]
  ) throws {
    let id = peer.create(["title": "a"])
    _ = out("out")
    // The file is replaced, and taken away again when it is found that it was written.
    var rest = writings
    let other = Peer(
      scratch("notes"), seed: 2, state: scratch("state"),
      files: {
        BusyTree($0) { path in
          guard !rest.isEmpty else { return }
          let file = scratch("out/\(path)")
          if let text = rest.removeFirst() {
            try? text.write(toFile: file, atomically: false, encoding: .utf8)
          } else {
            unlink(file)
          }
        }
      })
    other.initialize()
    other.call("note/append", ["id": .string(id), "text": "mine"])
    let result = out("out", from: other)
    #expect(result["written"] == 0 && result["skipped"]?[0]?["path"] == "a.md" && rest.isEmpty)
    #expect(files("out") == ["a.md": (writings.last ?? nil) ?? "first"])
  }

  @Test(arguments: [nil, "", "second"])
  func `a file that somebody writes while it is removed stays, and nothing is left beside it`(
    later: String?
  ) throws {
    let id = peer.create(["title": "a"])
    _ = out("out")
    let file = scratch("out/a.md")
    let other = Peer(
      scratch("notes"), seed: 2, state: scratch("state"),
      files: {
        BusyTree(
          $0,
          afterwards: { _ in try? later?.write(toFile: file, atomically: false, encoding: .utf8) }
        ) { _ in try? "first".write(toFile: file, atomically: false, encoding: .utf8) }
      })
    other.initialize()
    other.call("note/delete", ["id": .string(id)])
    let result = out("out", from: other)
    #expect(result["removed"] == 0 && result["skipped"]?[0]?["path"] == "a.md")
    #expect(files("out") == ["a.md": later ?? "first"])
  }

  @Test func `files have the ids of their notes where that is asked for, and are the same notes`()
    throws
  {
    try write("---\nid: theirs # of another program\n---\nb", "in/b.md")
    try write("a", "in/a.md")
    _ = bring()
    let ids = peer.list()
    func out() -> JSON {
      peer.call("notebook/export", ["path": .string(scratch("out")), "ids": true])
    }
    #expect(out()["written"] == 2)
    #expect(text("out/a.md") == "---\nid: \(ids[0])\n---\na")
    #expect(text("out/b.md") == "---\nid: theirs # of another program\n---\nb")
    #expect(out() == ["written": 0, "unchanged": 2, "removed": 0, "skipped": []])
    // Read again here nothing is new; and what is written into such a file is no change of its header.
    #expect(bring("out") == counts(0, 0, 2))
    try write("---\nid: \(ids[0])\n---\na, b", "out/a.md")
    #expect(bring("out") == counts(0, 1, 1))
    #expect(peer.list() == ids)
    // Another machine keeps the field as one that it does not know.
    let other = another("other", seed: 2)
    #expect(bring("out", to: other) == counts(2, 0, 0))
    #expect(self.out("back", from: other)["written"] == 2)
    #expect(text("back/a.md") == "---\nid: \(ids[0])\n---\na, b")
  }

  @Test func `a folder with files of others is refused, and the notebook's own`() throws {
    peer.create(["title": "a"])
    try write("x", "out/x.txt")
    let error = peer.ask("notebook/export", ["path": .string(scratch("out"))]).error
    #expect(error?.reason == "notEmpty")
    #expect(files("out") == ["x.txt": "x"])
    for path in ["notes", "notes/log"] {
      let error = peer.ask(
        "notebook/export", ["path": .string(scratch(path)), "into": true]
      ).error
      #expect(error?.reason == "unusableFolder")
    }
    // A file of another's that has the name of a note is left alone.
    try write("theirs", "out/a.md")
    #expect(out("out", into: true)["skipped"]!.array!.count == 1)
    #expect(text("out/a.md") == "theirs")
  }

  @Test func `Simplenote's notes are imported once`() throws {
    let export = """
      {"activeNotes":[{"id":"1","content":"Title\\r\\n\\r\\nbody","creationDate":"2020-01-02T03:04:05.000Z","tags":["x"]},
      {"id":"2","content":"only"}],"trashedNotes":[{"id":"3","content":"gone"}]}
      """
    try write(export, "notes.json")
    #expect(bring("notes.json") == counts(3, 0, 0))
    #expect(bring("notes.json") == counts(0, 0, 3))
    #expect(peer.list().count == 2 && peer.list(["trashed": true]).count == 1)
    let note = peer.call("note/get", ["id": .string(peer.list()[0])])["note"]!
    #expect(note["title"] == "Title" && note["tags"] == ["x"])
    #expect(note["created"] == "2020-01-02T03:04:05.000Z")
    try write(export.replacing("only", with: "only more"), "notes.json")
    #expect(bring("notes.json") == counts(0, 1, 2))
    try write("[]", "notes.json")
    #expect(
      peer.ask("notebook/import", ["path": .string(scratch("notes.json"))]).error?.reason
        == "unusableFile")
  }

  @Test func `a note is as old as its file says`() throws {
    try write("---\ncreated: 2020-02-03 04:05\n---\n", "in/a.md")
    _ = bring()
    let note = peer.call("notebook/list")["notes"]!.array![0]
    #expect(note["created"] == "2020-02-03T03:05:00.000Z")
  }
}

/// A folder in which somebody does something right before a file is replaced or taken away.
private final class BusyTree: FileTree {
  private let tree: any FileTree
  private let meddle: (String) -> Void
  private let afterwards: (String) -> Void

  /// - Parameters:
  ///   - afterwards: what somebody does when a file was taken away.
  ///   - meddle: what somebody does before one is replaced or taken away.
  init(
    _ tree: any FileTree, afterwards: @escaping (_ path: String) -> Void = { _ in },
    meddle: @escaping (_ path: String) -> Void
  ) {
    self.tree = tree
    self.afterwards = afterwards
    self.meddle = meddle
  }

  var resolvedPath: String { tree.resolvedPath }

  func entries(of folder: String) throws(FileTreeError) -> [FileEntry] {
    try tree.entries(of: folder)
  }

  func status(of path: String) throws(FileTreeError) -> FileStatus? { try tree.status(of: path) }

  func read(
    _ path: String, limit: Int
  ) throws(FileTreeError) -> (bytes: [UInt8], status: FileStatus)? {
    try tree.read(path, limit: limit)
  }

  func create(_ path: String, _ bytes: [UInt8]) throws(FileTreeError) -> FileStatus {
    try tree.create(path, bytes)
  }

  func replace(
    _ path: String, _ bytes: [UInt8], mark: String
  ) throws(FileTreeError) -> (status: FileStatus, old: any SetAside) {
    meddle(path)
    return try tree.replace(path, bytes, mark: mark)
  }

  func takeAway(_ path: String, mark: String) throws(FileTreeError) -> (any SetAside)? {
    meddle(path)
    defer { afterwards(path) }
    return try tree.takeAway(path, mark: mark)
  }

  func move(_ path: String, to new: String) throws(FileTreeError) {
    try tree.move(path, to: new)
  }

  func removeEmptyFolders(above path: String) { tree.removeEmptyFolders(above: path) }

  func makeWatcher() -> (any TreeWatcher)? { tree.makeWatcher() }
}
