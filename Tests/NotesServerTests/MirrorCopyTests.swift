import TestSupport
import Testing

@testable import NotesServer

@Suite struct `Conflict copies in a mirror` {
  let scratch = TemporaryFolder()
  let tree = MemoryTree("/notes")
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1, state: scratch("state"), mirror: tree)
    peer.initialize()
  }

  private static let text = "one line of the list\nanother line of it\n"

  /// A note with a file, which has changed since its first text.
  private func changedNote() -> String {
    let id = note()
    tree.write(Self.text + "here\n", "a.md")
    peer.run(for: .seconds(4))
    return id
  }

  /// A note with a file, of which a copy comes.
  private func note(_ title: String = "a") -> String {
    let id = peer.create(["title": .string(title), "text": .string(Self.text)])
    peer.run(for: .seconds(3))
    return id
  }

  /// True if a text has what came into the file and into its copy, each once.
  private func isBoth(_ text: String) -> Bool {
    [
      Self.text + "here\nbread and jam\n", Self.text + "bread and jam\nhere\n",
    ].contains(text)
  }

  private var told: [String] {
    peer.take("window/showMessage").map { $0["message"]!.string! }
  }

  @Test(arguments: [
    "a.sync-conflict-20261127-101010-ABCDEF2.md", "a (Ana's conflicted copy 2026-11-27).md",
    "a (conflicted copy 2026-11-27 101010).md", "a_conflict-20261127-101010.md", "a.Conflict.md",
    "a (In Konflikt stehende Kopie von Ana 2026-11-27).md", "a.Conflict2.md", "a (1).md", "a 2.md",
    "a-DESKTOP-7F.md",
  ])
  func `are merged into their note, and moved aside`(_ name: String) {
    let id = changedNote()
    tree.write("there\n" + Self.text.replacing("another line", with: "another good line"), name)
    peer.run(for: .seconds(70))
    #expect(peer.text(id) == "there\none line of the list\nanother good line of it\nhere\n")
    #expect(peer.list() == [id] && tree.text(name) == nil && tree.text("a.md") == peer.text(id))
    #expect(tree.text(".decent-copies/\(name)")?.hasPrefix("there\n") == true)
    let told = told
    #expect(told.count == 1 && told[0].contains(".decent-copies/\(name)"), "\(told)")
  }

  @Test func `of one name are all kept`() {
    let id = changedNote()
    let name = "a (conflicted copy 2026-11-27 101010).md"
    for word in ["bread and butter", "milk of a cow", "zucchini"] {
      tree.write(Self.text + word + "\n", name)
      peer.run(for: .seconds(40))
    }
    #expect(
      peer.text(id).split(separator: "\n").sorted() == [
        "another line of it", "bread and butter", "here", "milk of a cow",
        "one line of the list", "zucchini",
      ])
    for aside in ["", "2/", "3/"] { #expect(tree.text(".decent-copies/\(aside)\(name)") != nil) }
  }

  @Test
  func
    `made from an older state take nothing away that came later, and take away what they removed`()
  {
    let id = note()
    for number in 1...20 {
      tree.write(Self.text + (1...number).map { "line number \($0)\n" }.joined(), "a.md")
      peer.run(for: .seconds(4))
    }
    // From the state with two of the lines, without the first.
    tree.write(Self.text + "line number 2\nmine\n", "a.sync-conflict-20261127-101010-ABCDEF2.md")
    peer.run(for: .seconds(70))
    let lines = peer.text(id).split(separator: "\n")
    #expect(lines.contains("mine") && lines.count { $0 == "line number 2" } == 1)
    #expect((3...20).allSatisfy { lines.contains("line number \($0)") }, "\(lines)")
    #expect(!lines.contains("line number 1"))
  }

  @Test func `take nothing away where it is not known what they were made from`() {
    // Files and copies that were there before the mirror: the copies are older, or newer; nobody knows.
    let other = MemoryTree("/vault")
    let text = Self.text + "a third line that came later\n"
    other.write(text, "a.md")
    other.write(Self.text + "old\n", "a.sync-conflict-20261127-101010-ABCDEF2.md")
    other.write(Self.text + "old\n", "a (conflicted copy 2026-11-27 101010).md")
    other.write(text.replacing("another line", with: "line"), "a (1).md")
    let peer = Peer(scratch("vault"), seed: 3, state: scratch("state"), mirror: other)
    peer.initialize()
    peer.run(for: .seconds(100))
    #expect(other.text("a.md") == text && peer.list().count == 3 && other.files.count == 5)
    // Also when the file has changed: what it had before is not known.
    other.write(text + "and more\n", "a.md")
    peer.run(for: .seconds(10))
    other.write(Self.text + "old one\n", "a.sync-conflict-20261127-101011-ABCDEF2.md")
    peer.run(for: .seconds(100))
    #expect(other.text("a.md") == text + "and more\n" && other.files.count == 6)
  }

  @Test func `are looked at one in a turn, and those that stay once`() {
    let id = changedNote()
    var reads = 0
    for number in 1...30 {
      tree.write("something else \(number)\n", "a.sync-conflict-\(number).md")
    }
    tree.beforeRead = { if $0.hasPrefix("a.sync-conflict-") { reads += 1 } }
    peer.run(for: .seconds(200))
    // Once to see whether it rests, and once more where its turn had not come.
    #expect(told.count == 30 && reads < 30 * 3, "\(reads)")
    #expect(peer.list() == [id] && tree.files.count == 32)
  }

  @Test func `that are like no known state stay, and are told`() {
    let id = note()
    let names = ["a (conflicted copy 2026-11-27 101010).md", "a.sync-conflict-1.md"]
    for name in names { tree.write("something else, written by another person\n", name) }
    peer.run(for: .seconds(70))
    #expect(peer.text(id) == Self.text && names.allSatisfy { tree.text($0) != nil })
    let told = told
    #expect(
      told.count == 2 && names.allSatisfy { name in told.contains { $0.contains(name) } }, "\(told)"
    )
    // One is a note of its own, the other none.
    #expect(peer.list().count == 2)
  }

  @Test func `that can't be moved are merged, and told once`() {
    let id = changedNote()
    let name = "a (conflicted copy 2026-11-27 101010).md"
    tree.refusesMoves = true
    tree.write(Self.text + "bread and jam\n", name)
    peer.run(for: .seconds(100))
    #expect(isBoth(peer.text(id)) && peer.list() == [id])
    let told = told
    #expect(told.count == 1 && told[0].contains("can't be moved aside"), "\(told)")
    // The next process moves it, and adds nothing.
    tree.refusesMoves = false
    peer.inputEnded()
    let next = Peer(scratch("notes"), seed: 2, state: scratch("state"), mirror: tree)
    next.initialize()
    next.run(for: .seconds(70))
    #expect(isBoth(next.text(id)) && tree.text(name) == nil)
  }

  @Test func `by their names alone are ordinary files`() {
    let id = note("Chapter")
    for (name, text) in [
      ("Chapter 2.md", "another chapter, in which much else happens\n"),
      ("Chapter (1).md", Self.text),
      ("Chapter-Ana.md", "short\n"), ("b (conflicted copy 2026-11-27).md", "no original\n"),
    ] {
      tree.write(text, name)
    }
    peer.run(for: .seconds(70))
    #expect(peer.list().count == 5 && peer.text(id) == Self.text && told == [])
    // Somebody has copied the file, which is another one by now.
    peer.call("note/append", ["id": .string(id), "text": "new\n"])
    tree.write(Self.text, "Chapter-2.md")
    peer.run(for: .seconds(70))
    #expect(peer.list().count == 6 && tree.text("Chapter-2.md") == Self.text && told == [])
    // A note that has such a name keeps its file.
    let own = peer.create([
      "title": "Chapter (conflicted copy 2026-11-27)", "text": .string(Self.text + "x\n"),
    ])
    peer.run(for: .seconds(70))
    #expect(
      peer.list().contains(own) && tree.text("Chapter (conflicted copy 2026-11-27).md") != nil)
  }

  @Test(arguments: 0..<24) func `are merged once, wherever the process is killed`(calls: Int) throws
  {
    let name = "a (conflicted copy 2026-11-27 101010).md"
    let tree = MemoryTree("/killed")
    var first: Peer? = Peer(scratch("killed"), seed: 1, state: scratch("state"), mirror: tree)
    first!.initialize()
    let id = first!.create(["title": "a", "text": .string(Self.text)])
    first!.run(for: .seconds(3))
    tree.write(Self.text + "here\n", "a.md")
    first!.run(for: .seconds(4))
    tree.write(Self.text + "bread and jam\n", name)
    tree.callsLeft = calls
    first!.run(for: .seconds(6))
    first = nil
    tree.callsLeft = nil
    let next = Peer(scratch("killed"), seed: 2, state: scratch("state"), mirror: tree)
    next.initialize()
    next.run(for: .seconds(70))
    #expect(isBoth(next.text(id)) && next.list() == [id])
    #expect(tree.text("a.md") == next.text(id) && tree.text(name) == nil)
    #expect(tree.text(".decent-copies/\(name)") == Self.text + "bread and jam\n")
  }
}
