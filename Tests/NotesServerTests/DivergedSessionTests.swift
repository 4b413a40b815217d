import Foundation
import JSONRPC
import TestSupport
import Testing

@testable import NotesServer

/// Two processes with the same identifiers and the same clock are one that was copied while it ran, as long as they do the same.
@Suite struct `A session that two processes went on with` {
  let scratch = TemporaryFolder()

  private func peer(_ name: String, seed: UInt64) -> Peer {
    let peer = Peer(scratch(name), seed: seed)
    peer.initialize()
    return peer
  }

  private func partner(_ name: String, seed: UInt64) -> ServerPartner {
    ServerPartner(scratch(name), seed: seed)
  }

  /// Ana and Ben were one when they wrote the note. Cleo got it then.
  private func copies() -> (ana: Peer, ben: Peer, cleo: Peer, note: String) {
    let (ana, ben) = (peer("ana", seed: 1), peer("ben", seed: 1))
    let notes = [ana, ben].map { $0.create(["title": "note", "text": "shared\n"]) }
    #expect(notes[0] == notes[1] && ana.revision == ben.revision)
    let cleo = peer("cleo", seed: 3)
    #expect(cleo.sync(with: partner("ana", seed: 4)).error == nil)
    return (ana, ben, cleo, notes[0])
  }

  private func append(_ text: String, to note: String, by peer: Peer) {
    peer.call("note/append", ["id": .string(note), "text": .string(text)])
  }

  @Test func `is noticed under equal revisions, told once on both sides, and read on both`() {
    let (ana, ben, _, note) = copies()
    append("here\n", to: note, by: ana)
    append("there\n", to: note, by: ben)
    #expect(ana.revision == ben.revision && ana.text(note) != ben.text(note))
    let answer = ana.sync(with: partner("ben", seed: 5))
    #expect(answer.error?.reason == "divergedSession")
    #expect(answer.error?.message.contains("after its change 1") == true)
    ben.folderChanged()
    for peer in [ana, ben] {
      let lines = Set(peer.text(note).split(separator: "\n"))
      #expect(lines == ["shared", "here", "there"])
      let told = peer.take("window/showMessage").compactMap { $0["message"]?.string }
      #expect(told.count == 1 && told[0].hasPrefix("divergedSession: "))
      #expect(peer.call("notebook/status")["branches"]?.array?.count == 1)
      #expect(peer.call("notebook/status")["damage"] == [])
    }
    // Nothing is there to be told, or to travel, again.
    let revisions = [ana.revision, ben.revision]
    #expect(ana.sync(with: partner("ben", seed: 6)).error?.reason == "divergedSession")
    ben.folderChanged()
    #expect([ana.revision, ben.revision] == revisions)
    for peer in [ana, ben] { #expect(peer.take("window/showMessage") == []) }
    // What follows it stays where it is, and holds up nobody.
    append("more\n", to: note, by: ana)
    #expect(ana.sync(with: partner("ben", seed: 7)).error?.reason == "divergedSession")
    ben.folderChanged()
    #expect(ben.revision == revisions[1] && ana.text(note).contains("more\n"))
  }

  @Test func `is told once on a machine, by a process that has a user`() {
    let (ana, ben, _, note) = copies()
    append("here\n", to: note, by: ana)
    append("there\n", to: note, by: ben)
    _ = ana.sync(with: partner("ben", seed: 5))
    func told(isSingleRequest: Bool = false) -> Int {
      let peer = Peer(
        scratch("ben"), state: scratch("state"), isSingleRequest: isSingleRequest)
      peer.initialize()
      _ = peer.call("notebook/list")
      return peer.take("window/showMessage").count
    }
    #expect(told(isSingleRequest: true) == 0)
    #expect(told() == 1 && told() == 0 && told(isSingleRequest: true) == 0)
  }

  @Test func `holds up nothing that does not follow it`() {
    let (ana, ben, cleo, note) = copies()
    append("here\n", to: note, by: ana)
    append("there\n", to: note, by: ben)
    let new = ben.create(["title": "Ben's"])
    let own = cleo.create(["title": "Cleo's", "text": "milk"])
    append("cleo\n", to: note, by: cleo)
    #expect(cleo.sync(with: partner("ben", seed: 5)).error == nil)
    // From now on what Cleo writes follows Ben's.
    append("later\n", to: note, by: cleo)
    #expect(cleo.sync(with: partner("ben", seed: 6)).error == nil)
    #expect(ana.sync(with: partner("ben", seed: 7)).error?.reason == "divergedSession")
    #expect(ana.text(own) == "milk")
    let titles = ana.call("notebook/list")["notes"]?.array?.compactMap { $0["title"]?.string } ?? []
    #expect(Set(titles) == ["note", "Ben's", "Cleo's"])
    let lines = Set(ana.text(note).split(separator: "\n"))
    #expect(lines == ["shared", "here", "there", "cleo"])
    #expect(ana.ask("note/get", ["id": .string(new)]).error?.reason == "noSuchNote")
    // With one who knows only the one side all goes on.
    append("again\n", to: note, by: cleo)
    #expect(cleo.sync(with: partner("ben", seed: 8)).error == nil)
    ben.folderChanged()
    #expect(ben.text(note).contains("later\n") && ben.text(note).contains("again\n"))
  }

  @Test func `is noticed from its first change on, and whoever has more of it`() {
    for (mine, theirs) in [(1, 1), (1, 4), (40, 3), (3, 700)] {
      let scratch = TemporaryFolder()
      let peers = ["ana", "ben"].map { name in
        let peer = Peer(scratch(name), seed: 1)
        peer.initialize()
        return peer
      }
      for (peer, count) in zip(peers, [mine, theirs]) {
        let note = peer.create(["text": .string(peer === peers[0] ? "here" : "there")])
        for number in 1..<count { append(" \(number)", to: note, by: peer) }
      }
      let answer = peers[0].sync(with: ServerPartner(scratch("ben"), seed: 5))
      #expect(answer.error?.reason == "divergedSession", "\(mine) \(theirs)")
      #expect(answer.error?.message.contains("after its change 0") == true)
      peers[1].folderChanged()
      for peer in peers {
        let texts = Set(peer.list().map { peer.text($0).prefix { $0 != " " } })
        #expect(texts == ["here", "there"], "\(mine) \(theirs)")
        #expect(peer.list().count == 2)
      }
    }
  }

  @Test func `is not looked for with a peer that tells no digests`() {
    let (ana, ben, _, note) = copies()
    append("here\n", to: note, by: ana)
    append("there\n", to: note, by: ben)
    let old = DamagingPartner(partner("ben", seed: 5)) { answer in
      let text = String(decoding: answer, as: UTF8.self)
      guard let start = text.range(of: ",\"digest\":\"") else { return answer }
      let end = text.index(start.upperBound, offsetBy: 17)
      var body = text.replacingCharacters(in: start.lowerBound..<end, with: "")
      body.removeSubrange(body.startIndex..<body.firstIndex(of: "{")!)
      return FalsePartner.frame(Array(body.utf8))
    }
    #expect(ana.sync(with: old).error == nil)
    #expect(ana.take("window/showMessage") == [])
  }

  @Test func `of two notebooks that never had a difference is not found`() {
    for seed in seeds(10) {
      var random = SplitMix64(seed: seed)
      let scratch = TemporaryFolder()
      let peers = ["ana", "ben", "cleo"].enumerated().map { index, name in
        let peer = Peer(scratch(name), seed: seed &* 8 &+ UInt64(index))
        peer.initialize()
        return (name, peer)
      }
      peers[0].1.create(["text": "begun"])
      for step in 0..<20 {
        let (name, peer) = random.pick(peers)
        switch random.below(3) {
        case 0: peer.create(["text": .string("\(step)")])
        case 1:
          let notes = peer.list()
          if !notes.isEmpty { append(" \(step)", to: random.pick(notes), by: peer) }
        default:
          let other = random.pick(peers.filter { $0.0 != name })
          let partner = ServerPartner(
            scratch(other.0), seed: seed &* 1000 &+ 100 &+ UInt64(step))
          let reason = peer.sync(with: partner, adopting: true).error?.reason
          #expect(reason == nil, at(seed))
          other.1.folderChanged()
        }
      }
    }
  }

  @Test func `answers with an error what no exchange asks for`() {
    let ana = peer("ana", seed: 1)
    ana.create()
    let session = "00000000000000000000000000000001"
    for params: JSON in [
      ["versions": [.string("v\(session).1")]], ["versions": ["w"]], ["versions": "v"],
    ] {
      #expect(ana.ask("notebook/digests", params).error?.code == -32602)
    }
    #expect(ana.call("notebook/digests", ["versions": ["v", "v"]]) == ["digests": ["", ""]])
    #expect(ana.call("notebook/digests") == ["digests": []])
    for fork: JSON in [
      ["session": "x", "after": 1, "ours": "0000000000000000", "theirs": "0000000000000000"],
      [
        "session": .string(session), "after": -1, "ours": "0000000000000000",
        "theirs": "0000000000000000",
      ],
      ["session": .string(session), "after": 1, "ours": "0", "theirs": "0000000000000000"],
      ["session": .string(session), "after": 1], 7,
    ] {
      #expect(ana.ask("notebook/changes", ["without": [fork]]).error?.code == -32602, "\(fork)")
    }
    // Forks of what is not here leave out nothing.
    let fork: JSON = [
      "session": .string(session), "after": 9_007_199_254_740_991, "ours": "0000000000000000",
      "theirs": "0000000000000000",
    ]
    let all = ana.call("notebook/changes")
    #expect(ana.call("notebook/changes", ["without": [fork]]) == all)
    #expect(
      ana.ask("notebook/changes", ["digest": "0000000000000000"]).error?.reason == "divergedSession"
    )
  }
}
