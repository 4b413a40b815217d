import Foundation
import TestSupport
import Testing

@testable import NotesServer

@Suite struct `Folders that were imported before` {
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

  private func move(_ path: String, _ new: String) throws {
    let parent = URL(fileURLWithPath: scratch(new)).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: scratch(path), toPath: scratch(new))
  }

  /// What an import has counted: created, updated, unchanged.
  private func bring(_ path: String, dryRun: Bool = false) -> [Int] {
    let answer = peer.call(
      "notebook/import", ["path": .string(scratch(path)), "dryRun": dryRun ? true : false])
    return ["created", "updated", "unchanged"].map { answer[$0]?.integer ?? -1 }
  }

  private func out(_ path: String) -> [Int] {
    let answer = peer.call("notebook/export", ["path": .string(scratch(path)), "into": true])
    return ["written", "unchanged", "removed"].map { answer[$0]?.integer ?? -1 }
  }

  private func texts() -> [String] {
    peer.list().map { peer.call("note/get", ["id": .string($0)])["text"]!.string! }.sorted()
  }

  private func setText(_ text: String, of title: String) {
    let note = peer.call("notebook/list")["notes"]!.array!.first { $0["title"]?.string == title }!
    peer.call("note/setText", ["id": note["id"]!, "text": .string(text)])
  }

  private func fill(_ folder: String) throws {
    for name in ["a", "b", "sub/c", "sub/deep/d"] {
      try write("one of \(name)\ntwo of \(name)\n", "\(folder)/\(name).md")
    }
  }

  @Test func `a folder that was moved is known, and what was edited on both sides is merged`()
    throws
  {
    try fill("old")
    #expect(bring("old") == [4, 0, 0])
    setText("one of a\ntwo of a\nthree\n", of: "a")
    try move("old", "new/place")
    try write("zero\none of a\ntwo of a\n", "new/place/a.md")
    #expect(bring("new/place", dryRun: true) == [0, 1, 3])
    #expect(bring("new/place") == [0, 1, 3])
    #expect(bring("new/place") == [0, 0, 4])
    #expect(texts().contains("zero\none of a\ntwo of a\nthree\n"))
    // Moved again, and back.
    try move("new/place", "third")
    #expect(bring("third") == [0, 0, 4])
    try move("third", "old")
    #expect(bring("old") == [0, 0, 4])
    #expect(texts().count == 4)
  }

  @Test
  func `a copy of a folder that is still there is new notes, also one of a folder that was moved`()
    throws
  {
    try fill("old")
    _ = bring("old")
    try fill("copy")
    #expect(bring("copy") == [4, 0, 0])
    try move("old", "new")
    #expect(bring("new") == [0, 0, 4])
    try fill("other")
    #expect(bring("other") == [4, 0, 0])
  }

  @Test func `another folder with files of the same names is new notes where the old one is gone`()
    throws
  {
    for name in ["readme", "todo", "ideas"] {
      try write("what \(name) says first\n", "old/\(name).md")
    }
    _ = bring("old")
    try FileManager.default.removeItem(atPath: scratch("old"))
    for name in ["readme", "todo"] { try write("nothing of the kind here\n", "new/\(name).md") }
    try write("what ideas says first\n", "new/ideas.md")
    #expect(bring("new") == [3, 0, 0])
  }

  @Test
  func
    `a folder within an imported one and the folder above are known, whichever was imported first`()
    throws
  {
    try fill("vault")
    #expect(bring("vault") == [4, 0, 0])
    #expect(bring("vault/sub") == [0, 0, 2])
    #expect(bring("vault/sub/deep") == [0, 0, 1])
    #expect(bring("") == [0, 0, 4])
    try fill("other/inner")
    #expect(bring("other/inner/sub") == [2, 0, 0])
    #expect(bring("other/inner") == [2, 0, 2])
    #expect(texts().count == 8)
  }

  @Test(arguments: seeds(6))
  func
    `edits of files come into their notes once, through whichever of nested folders they are imported`(
      seed: UInt64
    ) throws
  {
    var random = SplitMix64(seed: seed)
    let folders = ["v", "v/sub", "v/sub/deep"]
    var text = "start\n"
    try write(text, "v/sub/deep/d.md")
    _ = bring("v")
    var expected = ["start"]
    for step in 0..<20 {
      switch random.below(3) {
      case 0:
        expected.append("file \(step)")
        text = try String(contentsOfFile: scratch("v/sub/deep/d.md"), encoding: .utf8)
        try write(text + "file \(step)\n", "v/sub/deep/d.md")
        #expect(bring(random.pick(folders)) == [0, 1, 0], at(seed))
      case 1:
        expected.append("note \(step)")
        setText(texts()[0] + "note \(step)\n", of: "d")
      default:
        #expect(bring(random.pick(folders)) == [0, 0, 1], at(seed))
        let folder = random.pick(folders)
        #expect(out(folder)[2] == 0, at(seed))
      }
    }
    _ = bring("v")
    #expect(texts().count == 1, at(seed))
    let lines = texts()[0].split(separator: "\n").map(String.init)
    #expect(lines.sorted() == expected.sorted(), at(seed))
    #expect(
      FileManager.default.subpaths(atPath: scratch("v"))?.filter { $0.hasSuffix(".md") } == [
        "sub/deep/d.md"
      ], at(seed))
  }

  @Test func `a note without a path has a file in an exported folder, and in the one above it`()
    throws
  {
    peer.create(["title": "m", "text": "x\n"])
    #expect(out("all/inner") == [1, 0, 0])
    #expect(out("all") == [1, 0, 0])
    let files = FileManager.default.subpaths(atPath: scratch("all"))?.filter { $0.hasSuffix(".md") }
    #expect(files?.sorted() == ["inner/m.md", "m.md"])
    #expect(out("all/inner") == [0, 1, 0] && out("all") == [0, 1, 0])
  }

  @Test func `an export into a folder within an imported one leaves its files where they are`()
    throws
  {
    try fill("vault")
    _ = bring("vault")
    _ = bring("vault/sub")
    #expect(out("vault/sub")[1...] == [2, 0])
    setText("other\n", of: "c")
    _ = out("vault/sub")
    #expect(try String(contentsOfFile: scratch("vault/sub/c.md"), encoding: .utf8) == "other\n")
  }
}
