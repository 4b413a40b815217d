import TestSupport
import Testing

@testable import NotesServer

@Suite struct `A mirror that is killed` {
  /// Kills the mirror's process before the call of this number after something has happened, and starts the next one.
  ///
  /// - Parameter isBetween: whether it is killed between what it notes and the change of which that tells, if there is such a moment.
  private func kill(
    after calls: Int, isBetween: Bool, preparing: (Peer, MemoryTree) -> Void,
    doing: (Peer, MemoryTree) -> Void, then check: (Peer, MemoryTree) -> Void
  ) {
    let (scratch, tree) = (TemporaryFolder(), MemoryTree("/mirror"))
    func makePeer(_ seed: UInt64) -> Peer {
      let peer = Peer(scratch("notes"), seed: seed, state: scratch("state"), mirror: tree)
      peer.initialize()
      return peer
    }
    var peer = makePeer(1)
    preparing(peer, tree)
    peer.run(for: .seconds(5))
    let disk = DiskOfKilled([scratch("notes"), scratch("state")])
    tree.callsLeft = calls
    tree.willCall = { isKilled in disk.look(isKilled: isKilled, isBetween: isBetween) }
    doing(peer, tree)
    peer.run(for: .seconds(1))
    (tree.callsLeft, tree.willCall) = (nil, nil)
    peer.abandonMirror()
    disk.restore()
    peer = makePeer(2)
    peer.run(for: .seconds(20))
    check(peer, tree)
  }

  @Test(arguments: 0..<6) func `deletes no note whose file it was about to make`(_ calls: Int) {
    kill(after: calls, isBetween: false) { peer, _ in
      peer.create(["title": "a", "text": "1"])
    } doing: { peer, _ in
      peer.create(["title": "b", "text": "2"])
    } then: { peer, tree in
      #expect(peer.list().count == 2)
      #expect(tree.text("a.md") == "1" && tree.text("b.md") == "2")
    }
  }

  @Test(arguments: 0..<8, [false, true])
  func `reads a file again, though it had noted what it has`(_ calls: Int, _ isBetween: Bool) {
    kill(after: calls, isBetween: isBetween) { peer, _ in
      for title in ["a", "b"] { peer.create(["title": .string(title), "text": "1\n"]) }
    } doing: { _, tree in
      for path in ["a.md", "b.md"] { tree.writeAtomically("1\nmore\n", path) }
    } then: { peer, tree in
      #expect(peer.list().map(peer.text) == ["1\nmore\n", "1\nmore\n"])
      #expect(tree.text("a.md") == "1\nmore\n" && tree.text("b.md") == "1\nmore\n")
    }
  }
}
