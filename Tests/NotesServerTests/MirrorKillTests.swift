import TestSupport
import Testing

@testable import NotesServer

@Suite(.computing) struct `A mirror that is killed` {
  /// Where a process is killed: before one of its calls for the mirror's files, or for those of the notebook and of what it knows.
  enum Place: CaseIterable {
    case files, disk
  }

  /// Kills the mirror's process before the call of this number after something has happened, and starts the next one.
  private func kill(
    after calls: Int, _ place: Place, preparing: (Peer, MemoryTree) -> Void,
    doing: (Peer, MemoryTree) -> Void, meanwhile: (MemoryTree) -> Void = { _ in },
    then check: (Peer, MemoryTree) -> Void
  ) {
    let (scratch, tree) = (TemporaryFolder(), MemoryTree("/mirror"))
    let disk = DiskOfKilled([scratch("notes"), scratch("state")])
    var peer = Peer(scratch("notes"), seed: 1, state: scratch("state"), mirror: tree)
    try! peer.initialize(on: disk)
    preparing(peer, tree)
    peer.run(for: .seconds(5))
    switch place {
    case .files: (tree.callsLeft, tree.didKill) = (calls, disk.kill)
    case .disk: (disk.callsLeft, disk.didKill) = (calls, { tree.callsLeft = 0 })
    }
    // A request that was answered has written its change.
    disk.isWatched = false
    doing(peer, tree)
    disk.isWatched = true
    peer.run(for: .seconds(1))
    peer.abandonMirror()
    disk.restore()
    (tree.callsLeft, tree.didKill) = (nil, nil)
    meanwhile(tree)
    peer = Peer(scratch("notes"), seed: 2, state: scratch("state"), mirror: tree)
    peer.initialize()
    peer.run(for: .seconds(20))
    check(peer, tree)
  }

  @Test(arguments: 0..<6) func `deletes no note whose file it was about to make`(_ calls: Int) {
    kill(after: calls, .files) { peer, _ in
      peer.create(["title": "a", "text": "1"])
    } doing: { peer, _ in
      peer.create(["title": "b", "text": "2"])
    } then: { peer, tree in
      #expect(peer.list().count == 2)
      #expect(tree.text("a.md") == "1" && tree.text("b.md") == "2")
    }
  }

  @Test(arguments: 0..<12, Place.allCases)
  func `reads a file again, though it had noted what it has`(_ calls: Int, _ place: Place) {
    kill(after: calls, place) { peer, _ in
      for title in ["a", "b"] { peer.create(["title": .string(title), "text": "1\n"]) }
    } doing: { _, tree in
      for path in ["a.md", "b.md"] { tree.writeAtomically("1\nmore\n", path) }
    } then: { peer, tree in
      #expect(peer.list().map(peer.text) == ["1\nmore\n", "1\nmore\n"])
      #expect(tree.text("a.md") == "1\nmore\n" && tree.text("b.md") == "1\nmore\n")
    }
  }

  /// A program that has read a file may write it after the next one that the mirror has written, and also if that was to be replaced again.
  @Test(arguments: 0..<8) func `knows what was read from a file that it was about to replace`(
    _ calls: Int
  ) {
    kill(after: calls, .files) { peer, tree in
      let note = peer.create(["title": "a", "text": "read\n"])
      peer.run(for: .seconds(5))
      peer.call("note/setText", ["id": .string(note), "text": "first\nread\n"])
    } doing: { peer, _ in
      peer.call(
        "note/setText", ["id": .string(peer.list()[0]), "text": "first\nread\nsecond\n"])
    } then: { peer, tree in
      #expect(tree.text("a.md") == "first\nread\nsecond\n")
      tree.writeAtomically("read\nwritten\n", "a.md")
      peer.run(for: .seconds(5))
      let words = peer.text(peer.list()[0]).split(separator: "\n").sorted()
      #expect(words == ["first", "read", "second", "written"])
    }
  }

  @Test(arguments: 0..<8) func `deletes no note for a file that lacked what it was about to write`(
    _ calls: Int
  ) {
    var wasWritten = false
    kill(after: calls, .files) { peer, _ in
      peer.create(["title": "a", "text": "1\n"])
    } doing: { peer, _ in
      peer.call("note/setText", ["id": .string(peer.list()[0]), "text": "1\nmore\n"])
    } meanwhile: { tree in
      wasWritten = tree.text("a.md") == "1\nmore\n"
      tree.remove("a.md")
    } then: { peer, tree in
      #expect(peer.list().map(peer.text) == (wasWritten ? [] : ["1\nmore\n"]))
      #expect(tree.text("a.md") == (wasWritten ? nil : "1\nmore\n"))
    }
  }

  @Test(arguments: 0..<16, Place.allCases)
  func `has each word once of what was written right before it replaced the file`(
    _ calls: Int, _ place: Place
  ) {
    kill(after: calls, place) { peer, _ in
      peer.create(["title": "a", "text": "zero\none\n"])
    } doing: { peer, tree in
      tree.beforeCall = { [tree] isWriting in
        guard isWriting else { return }
        tree.beforeCall = nil
        tree.writeAtomically("from an editor\nzero\none\n", "a.md")
      }
      peer.call(
        "note/setText", ["id": .string(peer.list()[0]), "text": "zero\none\nfrom a client\n"])
    } then: { peer, tree in
      #expect(peer.text(peer.list()[0]) == "from an editor\nzero\none\nfrom a client\n")
      #expect(tree.text("a.md") == "from an editor\nzero\none\nfrom a client\n")
    }
  }
}
