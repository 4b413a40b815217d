import Foundation
import JSONRPC
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NotesServer

/// Ana's process with a link to Ben's machine: the process there that serves the link, and Ben's own.
final class LinkScene {
  let scratch = TemporaryFolder()
  let ana: Peer
  let ben: Peer
  private(set) var served: ServerPartner
  private var lastSeed: UInt64 = 1000

  /// - Parameter isOlder: whether the process that serves the link is of a version that nobody can follow.
  init(isOlder: Bool = false, syncPiece: Int = 64 << 10, stays: Bool = true) {
    ana = Peer(
      scratch("ana"), seed: 1, state: scratch("ana.state"), peers: stays ? ["ben"] : [],
      syncPiece: syncPiece, name: "Ana")
    ben = Peer(scratch("ben"), seed: 2, state: scratch("ben.state"), name: "Ben")
    served = ServerPartner(
      scratch("ben"), seed: 3, state: scratch("ben.state"), isOlder: isOlder)
    ana.initialize()
    ben.initialize()
    ana.wait(.zero)
    carry()
  }

  /// The process that serves the link is another one.
  func restart(isOlder: Bool = false) {
    lastSeed += 1
    served = ServerPartner(
      scratch("ben"), seed: lastSeed, state: scratch("ben.state"), isOlder: isOlder)
  }

  /// Everything that is under way arrives.
  func carry() {
    for _ in 0..<10 {
      served.wait()
      for number in ana.exchanges { ana.carryAll(number, with: served) }
      ben.folderChanged()
    }
  }

  /// Lets some time pass everywhere.
  func wait(_ time: Duration) {
    // A process tells on a moment later what it was told.
    for part in 1...4 {
      let time = part == 1 ? time - .milliseconds(180) : .milliseconds(60)
      ana.wait(time)
      ben.wait(time)
      served.wait(time)
      carry()
    }
  }

  var status: JSON? { ana.call("notebook/status")["peers"]?[0] }
}

@Suite(.computing) struct `A link that stays` {
  @Test func `tells each side at once what is new there, and nothing twice`() {
    let scene = LinkScene()
    #expect(scene.status?["live"] == true)
    let note = scene.ana.create(["text": "milk"])
    scene.carry()
    #expect(scene.ben.text(note) == "milk")
    scene.ben.call("note/append", ["id": .string(note), "text": "\neggs"])
    scene.carry()
    #expect(scene.ana.text(note) == "milk\neggs")
    for number in 0..<20 {
      let (one, other) = number.isMultiple(of: 2) ? (scene.ana, scene.ben) : (scene.ben, scene.ana)
      one.call("note/append", ["id": .string(note), "text": .string(" \(number)")])
      scene.carry()
      #expect(other.text(note) == one.text(note))
    }
    #expect(scene.ana.revision == scene.ben.revision)
    #expect(scene.ana.exchanges.count == 1 && scene.status?["owed"] == 0)
    // One message for each change, and no echo.
    let counts = scene.served.counts
    scene.ben.call("note/append", ["id": .string(note), "text": "one"])
    scene.carry()
    scene.ana.call("note/append", ["id": .string(note), "text": "two"])
    scene.carry()
    #expect(scene.served.counts.received == counts.received + 1)
    #expect(scene.served.counts.sent == counts.sent + 2)
  }

  @Test func `sends a keystroke as a few hundred bytes, whatever was before`() {
    let scene = LinkScene()
    let note = scene.ana.create(["text": .string(String(repeating: "line\n", count: 10_000))])
    // Very many sessions have written here.
    for seed in 0..<200 {
      let other = Peer(scene.scratch("ana"), seed: UInt64(5000 + seed))
      other.initialize()
      other.call("note/append", ["id": .string(note), "text": "x"])
      other.call("shutdown")
      other.notify("exit")
    }
    scene.ana.folderChanged()
    scene.carry()
    #expect(scene.ben.text(note) == scene.ana.text(note))
    let before = scene.served.bytes
    scene.ana.call("note/append", ["id": .string(note), "text": "y"])
    scene.carry()
    scene.ben.call("note/append", ["id": .string(note), "text": "z"])
    scene.carry()
    #expect(scene.ana.text(note).hasSuffix("yz"))
    let after = scene.served.bytes
    #expect(after.received - before.received < 600 && after.sent - before.sent < 900)
  }

  @Test func `carries what is longer than a message, in both directions`() {
    let scene = LinkScene()
    let (first, second) = (
      String(repeating: "0123456789abcde\n", count: 400_000),
      String(repeating: "fedcba987654321\n", count: 400_000)
    )
    let one = scene.ana.create(["text": .string(first)])
    scene.carry()
    #expect(scene.ben.text(one) == first)
    let two = scene.ben.create(["text": .string(second)])
    scene.carry()
    #expect(scene.ana.text(two) == second)
  }

  @Test func `brings what was made while the exchange was under way`() {
    let scene = LinkScene(syncPiece: 500, stays: false)
    scene.ana.create()
    scene.ben.merge(from: scene.ana)
    for number in 0..<50 { scene.ana.create(["text": .string("note \(number)")]) }
    let id = scene.ana.send("notebook/sync", ["peer": "ben", "stay": true])
    var number = 0
    while !scene.ana.hasAnswer(to: id), number < 1000 {
      scene.ana.carry(scene.ana.exchanges[0], with: scene.served)
      if number < 40 {
        scene.ana.create(["text": .string("during \(number)")])
        scene.ben.create(["text": .string("there \(number)")])
        scene.served.wait()
      }
      number += 1
    }
    scene.carry()
    #expect(scene.ana.list().count == scene.ben.list().count)
    #expect(scene.ana.revision == scene.ben.revision)
  }

  // MARK: - Requests

  @Test func `is answered after the first exchange, and stays until it is cancelled`() {
    let scene = LinkScene(stays: false)
    let note = scene.ana.create(["text": "milk"])
    let id = scene.ana.send("notebook/sync", ["peer": "ben", "stay": true])
    #expect(!scene.ana.hasAnswer(to: id))
    scene.carry()
    #expect(scene.ana.answer(to: id)?["sent"]?.integer ?? 0 > 0)
    #expect(scene.status?["live"] == true && scene.ana.exchanges.count == 1)
    scene.ana.notify("$/cancelRequest", ["id": JSON(id)])
    #expect(scene.ana.exchanges == [] && scene.status?["live"] == nil)
    scene.wait(.seconds(120))
    #expect(scene.ana.exchanges == [])
    scene.ana.call("note/append", ["id": .string(note), "text": " eggs"])
    scene.carry()
    #expect(scene.ben.text(note) == "milk")
  }

  @Test func `ends when a request says that it is not to stay, after one more exchange`() {
    let scene = LinkScene()
    scene.ana.create()
    scene.restart()
    let id = scene.ana.send("notebook/sync", ["peer": "ben", "stay": false])
    #expect(scene.ana.exchanges.count == 1)
    scene.carry()
    scene.ana.partnerEnded(scene.ana.exchanges[0])
    #expect(scene.ana.answer(to: id)?["revision"] != nil)
    scene.wait(.seconds(120))
    #expect(scene.ana.exchanges == [])
    #expect(scene.ana.revision == scene.ben.revision)
  }

  @Test
  func `stays where it stands already, after another exchange, until that request is cancelled`() {
    let scene = LinkScene(stays: false)
    scene.ana.create(["text": "milk"])
    let first = scene.ana.send("notebook/sync", ["peer": "ben", "stay": true])
    scene.carry()
    let link = scene.ana.exchanges
    let id = scene.ana.send("notebook/sync", ["peer": "ben", "stay": true])
    let other = ServerPartner(scene.scratch("ben"), seed: 77, state: scene.scratch("ben.state"))
    let number = scene.ana.exchanges.last!
    scene.ana.carryAll(number, with: other)
    scene.ana.partnerEnded(number)
    #expect(scene.ana.answer(to: first) != nil && scene.ana.answer(to: id)?["sent"] == 0)
    #expect(scene.ana.exchanges == link && scene.status?["live"] == true)
    scene.ana.notify("$/cancelRequest", ["id": JSON(id)])
    #expect(scene.ana.exchanges == [] && scene.status?["live"] == nil)
    scene.wait(.seconds(120))
    #expect(scene.ana.exchanges == [])
  }

  @Test func `does not stay where the first exchange fails`() {
    let scene = LinkScene(stays: false)
    let id = scene.ana.send("notebook/sync", ["peer": "ben", "stay": true])
    scene.ana.partnerEnded(scene.ana.exchanges[0], failure: "away")
    #expect(scene.ana.answer(to: id)?.error?.reason == "peerUnreachable")
    scene.wait(.seconds(1200))
    #expect(scene.ana.exchanges == [])
  }

  @Test func `is an exchange now and then with a peer of an older version`() {
    let scene = LinkScene(isOlder: true, stays: false)
    let note = scene.ana.create(["text": "milk"])
    let id = scene.ana.send("notebook/sync", ["peer": "ben", "stay": true])
    scene.carry()
    scene.ana.partnerEnded(scene.ana.exchanges[0])
    #expect(scene.ana.answer(to: id)?["sent"]?.integer ?? 0 > 0)
    #expect(scene.status?["live"] == nil && scene.ana.exchanges == [])
    scene.ana.call("note/append", ["id": .string(note), "text": " eggs"])
    scene.restart(isOlder: true)
    scene.ana.wait(.zero)
    scene.wait(.seconds(29))
    #expect(scene.ben.text(note) == "milk")
    scene.ana.wait(.seconds(1))
    scene.carry()
    #expect(scene.ben.text(note) == "milk eggs")
    scene.ana.partnerEnded(scene.ana.exchanges[0])
    // It has become a newer one: from now on its link stays.
    scene.restart()
    scene.ana.wait(.zero)
    scene.wait(.seconds(30))
    #expect(scene.status?["live"] == true)
  }

  @Test func `is not kept with a store of files`() {
    let ana = Peer(TemporaryFolder()("notes"), seed: 1, peers: ["rclone:remote:notes"])
    ana.initialize()
    ana.wait(.zero)
    let partner = FalsePartner([
      "initialize": [
        "notebook": ["id": nil, "revision": "0"],
        "capabilities": ["notebook": ["follow": true]],
      ]
    ])
    ana.carryAll(ana.exchanges[0], with: partner)
    #expect(partner.methods.contains("shutdown") && !partner.methods.contains("notebook/follow"))
  }

  // MARK: - Lines that break

  @Test func `asks every ten seconds, and is given up after thirty without an answer`() {
    let scene = LinkScene()
    for _ in 0..<20 { scene.wait(.seconds(10)) }
    #expect(scene.status?["live"] == true && scene.ana.exchanges.count == 1)
    scene.ana.create()
    scene.carry()
    // From now on nothing arrives.
    let number = scene.ana.exchanges[0]
    scene.ana.run(for: .milliseconds(29_900))
    #expect(scene.ana.exchanges == [number])
    scene.ana.run(for: .milliseconds(200))
    #expect(scene.ana.exchanges == [])
    #expect(scene.status?["failure"] == "ben: no answer for 30 seconds")
    scene.restart()
    scene.wait(.seconds(1))
    #expect(scene.status?["live"] == true && scene.status?["failure"] == nil)
  }

  @Test func `is asked at once after a sleep, and given up soon where no answer comes`() {
    let scene = LinkScene()
    scene.wait(.seconds(5))
    let number = scene.ana.exchanges[0]
    // Its answer comes: the link goes on.
    scene.ana.wait(.seconds(3600))
    #expect(scene.ana.exchanges == [number])
    scene.carry()
    scene.ana.run(for: .seconds(5))
    #expect(scene.ana.exchanges == [number] && scene.status?["live"] == true)
    scene.ana.wait(.seconds(3600))
    scene.ana.run(for: .milliseconds(1900))
    #expect(scene.ana.exchanges == [number])
    scene.ana.run(for: .milliseconds(100))
    #expect(scene.ana.exchanges == [])
    scene.restart()
    scene.ana.run(for: .milliseconds(500))
    scene.carry()
    #expect(scene.status?["live"] == true)
  }

  @Test func `stays when the clocks of the machines are set`() {
    let scene = LinkScene()
    let note = scene.ana.create(["text": "text"])
    scene.carry()
    for (number, years) in [-50, 30, -10, 60].enumerated() {
      let peer = number.isMultiple(of: 2) ? scene.ana : scene.ben
      peer.jumpClock(by: Int64(years) * 365 * 86_400_000)
      for one in [scene.ana, scene.ben] {
        one.call("note/append", ["id": .string(note), "text": .string(" \(number)")])
        scene.carry()
      }
      for _ in 0..<10 { scene.wait(.seconds(10)) }
      #expect(scene.status?["live"] == true && scene.ana.exchanges.count == 1)
    }
    #expect(scene.ana.text(note) == "text 0 0 1 1 2 2 3 3")
    #expect(scene.ben.text(note) == scene.ana.text(note))
  }

  /// Otherwise its cursors would stand there, and its process would hold what it holds.
  @Test func `is given up at the other end, too, after 45 seconds in which nothing came`() {
    let scene = LinkScene()
    scene.served.wait(.zero)
    scene.served.wait(.milliseconds(44_900))
    #expect(scene.served.exitStatus == nil)
    scene.served.wait(.milliseconds(200))
    #expect(scene.served.exitStatus == 1)
  }

  @Test func `comes back at once, then later and later, and after a sleep at once again`() {
    let scene = LinkScene()
    scene.wait(.seconds(60))
    /// The time after the end of an exchange, or of a link, at which the next begins.
    func end(_ failure: String = "away") -> Duration? {
      scene.ana.partnerEnded(scene.ana.exchanges[0], failure: failure)
      scene.ana.wait(.zero)
      guard let next = scene.ana.syncIfDue() else { return nil }
      _ = scene.ana.syncIfDue(after: next)
      return scene.ana.exchanges.count == 1 ? next : nil
    }
    #expect(end() == .milliseconds(250))
    #expect(end() == .milliseconds(500))
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] { #expect(end() == .seconds(seconds)) }
    #expect(scene.ana.take("window/logMessage").map { $0["message"] } == ["ben: away"])
    scene.ana.partnerEnded(scene.ana.exchanges[0], failure: "away")
    scene.ana.wait(.zero)
    // The machine sleeps: nothing calls the server although it has asked for it.
    scene.ana.wait(.seconds(35))
    #expect(scene.ana.exchanges.count == 1)
    scene.restart()
    scene.carry()
    #expect(scene.status?["live"] == true)
    // A link that ends at once, again and again, is not tried again and again, and nobody is told that it is back.
    #expect(end() == .milliseconds(500))
    scene.restart()
    scene.carry()
    #expect(scene.status?["live"] == true)
    #expect(end() == .seconds(1))
    #expect(scene.ana.take("window/logMessage") == [])
    scene.restart()
    scene.carry()
    for _ in 0..<3 { scene.wait(.seconds(1)) }
    #expect(
      scene.ana.take("window/logMessage").map { $0["message"] } == ["ben: can be reached again"])
    #expect(end() == .milliseconds(250))
  }

  /// What comes from such a peer is no answer: it doesn't read what it is told.
  @Test func `is given up, too, where the peer only notifies`() {
    let scene = LinkScene()
    scene.wait(.seconds(10))
    let number = scene.ana.exchanges[0]
    func drip() {
      for notification in [
        #"{"jsonrpc":"2.0","method":"notebook/presence","params":{"participants":"AA=="}}"#,
        #"{"jsonrpc":"2.0","method":"$/other"}"#,
      ] {
        let frame = "Content-Length: \(notification.utf8.count)\r\n\r\n\(notification)"
        scene.ana.receive(Array(frame.utf8), fromPeer: number)
      }
    }
    var seconds = 0
    while scene.ana.exchanges == [number], seconds < 60 {
      drip()
      scene.ana.run(for: .seconds(1))
      seconds += 1
    }
    #expect(seconds >= 28 && seconds <= 32)
    #expect(scene.status?["failure"] == "ben: no answer for 30 seconds")
  }

  @Test func `is one, also while it is made, and is given up then, too`() {
    let scene = LinkScene(stays: false)
    let first = scene.ana.send("notebook/sync", ["peer": "ben", "stay": true])
    _ = scene.ana.send("notebook/sync", ["peer": "ben", "stay": true])
    #expect(scene.ana.exchanges.count == 2 && scene.ana.linkCount == 1)
    _ = scene.ana.send("notebook/sync", ["peer": "ben", "stay": false])
    #expect(scene.ana.linkCount == 0)
    #expect(scene.ana.answer(to: first)?.error?.code == -32800)

    // One that comes back is given up before it stands.
    let other = LinkScene()
    other.ana.partnerEnded(other.ana.exchanges[0], failure: "away")
    other.ana.run(for: .seconds(1))
    #expect(other.ana.exchanges.count == 1 && other.ana.linkCount == 1)
    _ = other.ana.send("notebook/sync", ["peer": "ben", "stay": false])
    #expect(other.ana.exchanges.count == 1 && other.ana.linkCount == 0)
    other.ana.partnerEnded(other.ana.exchanges[0], failure: "away")
    other.ana.run(for: .seconds(120))
    #expect(other.ana.exchanges == [])
  }

  @Test func `is tried at once when the network has changed`() {
    let scene = LinkScene()
    for _ in 0..<6 {
      scene.ana.partnerEnded(scene.ana.exchanges[0], failure: "away")
      scene.ana.wait(.zero)
      if let next = scene.ana.syncIfDue() { _ = scene.ana.syncIfDue(after: next) }
    }
    scene.ana.partnerEnded(scene.ana.exchanges[0], failure: "away")
    scene.ana.wait(.zero)
    #expect(scene.ana.exchanges == [])
    scene.ana.networkChanged()
    #expect(scene.ana.exchanges.count == 1)
  }

  @Test func `loses nothing and doubles nothing when it breaks anywhere`() {
    var random = SplitMix64(seed: 5)
    for _ in 0..<seeds(10).count {
      let scene = LinkScene(syncPiece: 300)
      let note = scene.ana.create(["text": "\n"])
      scene.carry()
      var words: [String] = []
      for step in 0..<30 {
        for peer in [scene.ana, scene.ben] {
          let word = "w\(random.next())w"
          words.append(word)
          peer.call("note/append", ["id": .string(note), "text": .string(" \(word)")])
        }
        if step % 7 == 3 {
          // Some of what is under way arrives, and the rest is lost.
          for number in scene.ana.exchanges {
            for _ in 0..<random.below(3) { scene.ana.carry(number, with: scene.served) }
            scene.ana.partnerEnded(number, failure: "away")
          }
          scene.restart()
          scene.ana.wait(.zero)
          scene.ana.wait(.seconds(60))
        } else if random.chance(50) {
          scene.carry()
        }
      }
      scene.ana.wait(.zero)
      scene.ana.wait(.seconds(60))
      scene.carry()
      let text = scene.ana.text(note)
      #expect(scene.ben.text(note) == text && scene.status?["live"] == true)
      for word in words { #expect(text.components(separatedBy: word).count == 2, "\(word)") }
    }
  }

  // MARK: - Participants

  private func open(_ peer: Peer, _ note: String) -> JSON {
    peer.call("note/open", ["id": .string(note), "mode": "edit"])["attachment"]!
  }

  private func cursor(_ peer: Peer, _ attachment: JSON, at place: Int) {
    let position: JSON = ["line": 0, "character": JSON(place)]
    peer.notify(
      "note/cursor",
      [
        "attachment": attachment, "version": 0, "rev": 0,
        "ranges": [["start": position, "end": position]],
      ])
  }

  /// Whom a client was told of last, by name and place.
  private func participants(_ peer: Peer) -> [String: Int]? {
    guard let peers = peer.take("note/presence").last?["peers"]?.array else { return nil }
    return Dictionary(
      uniqueKeysWithValues: peers.map {
        ($0["name"]!.string!, $0["ranges"]![0]!["start"]!["character"]!.integer!)
      })
  }

  @Test func `shows the cursors of each side on the other, until they are gone`() throws {
    let scene = LinkScene()
    let note = scene.ana.create(["text": "one two three"])
    scene.carry()
    let (here, there) = (open(scene.ana, note), open(scene.ben, note))
    cursor(scene.ana, here, at: 3)
    cursor(scene.ben, there, at: 7)
    scene.wait(.seconds(1))
    #expect(participants(scene.ben) == ["Ana": 3])
    #expect(participants(scene.ana) == ["Ben": 7])
    cursor(scene.ana, here, at: 4)
    scene.wait(.milliseconds(200))
    #expect(participants(scene.ben) == ["Ana": 4])
    scene.ben.call("note/close", ["attachment": there])
    scene.wait(.seconds(1))
    #expect(participants(scene.ana) == [:])
    // The link ends, and with it what it has told.
    scene.ana.partnerEnded(scene.ana.exchanges[0], failure: "away")
    scene.served.inputEnded()
    scene.served.wait()
    scene.ben.wait(.seconds(5))
    scene.ben.folderChanged()
    let third = Peer(scene.scratch("ben"), seed: 9, state: scene.scratch("ben.state"), name: "Cleo")
    third.initialize()
    _ = open(third, note)
    #expect(third.take("note/presence") == [])
  }

  @Test(arguments: [true, false])
  func `keeps little for an end that does not read, and tells it then where all are`(
    isOurs: Bool
  ) throws {
    let scene = LinkScene()
    let notes = (0..<60).map { _ in
      scene.ana.create(["text": .string(String(repeating: "x", count: 300))])
    }
    scene.carry()
    let (writer, reader) = isOurs ? (scene.ana, scene.ben) : (scene.ben, scene.ana)
    let attachments = notes.map { open(writer, $0) }
    let watching = open(reader, notes[59])
    scene.wait(.seconds(1))
    var most = 0
    for move in 1...200 {
      for attachment in attachments { cursor(writer, attachment, at: move) }
      writer.wait(.milliseconds(50))
      if !isOurs { scene.served.wait(.milliseconds(50)) }
      let unread = isOurs ? scene.ana.unsent(scene.ana.exchanges[0]) : scene.served.unread
      most = max(most, unread)
    }
    // A megabyte, and what was told when it was reached.
    #expect((1 << 20..<(1 << 20) + 50_000).contains(most), "\(most)")
    reader.notifications = []
    scene.wait(.seconds(1))
    let told = reader.take("note/presence").last { $0["attachment"] == watching }
    #expect(told?["peers"]?[0]?["ranges"]?[0]?["end"]?["character"] == 200)
    #expect(reader.participantsElsewhere.count == 60)
  }

  @Test func `writes nothing of a cursor to a log`() throws {
    let scene = LinkScene()
    let note = scene.ana.create(["text": "one two three"])
    scene.wait(.seconds(1))
    let (here, there) = (open(scene.ana, note), open(scene.ben, note))
    func sizes() throws -> [String: Int] {
      var sizes: [String: Int] = [:]
      for folder in ["ana", "ben"] {
        for path in try FileManager.default.subpathsOfDirectory(atPath: scene.scratch(folder)) {
          sizes["\(folder)/\(path)"] =
            try FileManager.default.attributesOfItem(atPath: "\(scene.scratch(folder))/\(path)")[
              .size] as? Int
        }
      }
      return sizes
    }
    let before = try sizes()
    for place in 0..<13 {
      cursor(scene.ana, here, at: place)
      cursor(scene.ben, there, at: place)
      scene.wait(.milliseconds(250))
    }
    #expect(participants(scene.ben) == ["Ana": 12])
    #expect(try sizes() == before)
  }

  // MARK: - Peers that do harm

  /// A peer whose link stands, and what it sends then.
  private func link(_ ana: Peer, then sends: [UInt8]) {
    let partner = FalsePartner([
      "initialize": [
        "notebook": ["id": nil, "revision": "0"],
        "capabilities": ["notebook": ["follow": true]],
      ],
      "notebook/follow": ["revision": "0"],
    ])
    ana.wait(.zero)
    let number = ana.exchanges[0]
    ana.carryAll(number, with: partner)
    #expect(ana.isStanding(number))
    ana.receive(sends, fromPeer: number)
  }

  private func notification(_ method: String, _ params: JSON) -> [UInt8] {
    FalsePartner.frame(["method": .string(method), "params": params])
  }

  @Test(
    arguments: [
      ("notebook/newChanges", ["changes": "????"]), ("notebook/newChanges", ["changes": "AAAA"]),
      ("notebook/newChanges", [:]),
      ("notebook/newChanges", ["changes": "AAAA", "offset": 5, "size": 20]),
      ("notebook/newChanges", ["changes": "AAAA", "size": 1_000_000_000_000]),
      ("notebook/presence", ["participants": "????"]), ("notebook/presence", [:]),
      ("notebook/presence", ["participants": "/////w8="]),
      ("notebook/presence", ["participants": "AQEBAQ=="]),
    ] as [(String, JSON)])
  func `is ended by what no peer sends, and told so`(_ method: String, _ params: JSON) {
    let folder = TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let ana = Peer(folder("notes"), seed: 1, peers: ["ben"])
    ana.initialize()
    link(ana, then: notification(method, params))
    #expect(ana.exchanges == [])
    let failure = ana.call("notebook/status")["peers"]?[0]?["failure"]?.string ?? ""
    #expect(failure.hasPrefix("ben: "), "\(failure)")
    #expect(ana.create() != "")
  }

  @Test(arguments: ["A\nB", "\u{0}", " Ana", "A\u{1B}[31m", "A\u{202E}B", "A\u{85}"])
  func `is ended by names that are no line`(_ name: String) throws {
    let ana = Peer(TemporaryFolder()("notes"), seed: 1, peers: ["ben"])
    ana.initialize()
    let note = try #require(NoteID(ana.create(["text": "text"])))
    for name in ["", "Ben", name] {
      let told = ToldParticipant(
        key: .init(process: Identifier(high: 7, low: 7), attachment: 1), moves: 1, hops: 0,
        name: name, note: note, selections: [Selection(start: .start, end: .start)])
      let content = Data(ToldParticipant.contents([told])[0]).base64EncodedString()
      if ana.exchanges.isEmpty { link(ana, then: []) }
      ana.receive(
        notification("notebook/presence", ["participants": .string(content)]),
        fromPeer: ana.exchanges[0])
      #expect(ana.exchanges.isEmpty == (name != "" && name != "Ben"))
    }
  }

  @Test func `takes a thousand participants of a peer, with names of a hundred bytes`() throws {
    let ana = Peer(TemporaryFolder()("notes"), seed: 1, peers: ["ben"])
    ana.initialize()
    let note = try #require(NoteID(ana.create(["text": "text"])))
    _ = open(ana, "\(note)")
    func told(_ numbers: Range<Int>, name: String) -> [ToldParticipant] {
      numbers.map {
        ToldParticipant(
          key: .init(process: Identifier(high: 7, low: UInt64($0)), attachment: 1), moves: 1,
          hops: 0, name: name, note: note, selections: [Selection(start: .start, end: .start)])
      }
    }
    var sends: [UInt8] = []
    for part in 0..<100 {
      for content in ToldParticipant.contents(
        told(part * 1000..<part * 1000 + 1000, name: "Somebody"))
      {
        sends += notification(
          "notebook/presence", ["participants": .string(Data(content).base64EncodedString())])
      }
    }
    link(ana, then: sends)
    ana.wait(.seconds(1))
    #expect(ana.take("note/presence").last?["peers"]?.array?.count == 1000)
    #expect(ana.keptParticipants == 1000)
    #expect(ana.exchanges.count == 1)
    let name = String(repeating: "x", count: 10_000_000)
    let huge = ToldParticipant.contents(told(0..<1, name: name))[0]
    ana.receive(
      notification(
        "notebook/presence", ["participants": .string(Data(huge).base64EncodedString())]),
      fromPeer: ana.exchanges[0])
    #expect(ana.exchanges == [])
    // And what it has told is forgotten with it.
    ana.wait(.seconds(1))
    #expect(ana.take("note/presence").last?["peers"] == [])
  }

  /// Each of its messages makes the editor wait for no more than it brings.
  @Test
  func `tells the client of cursors that move without end no more than twenty times a second`()
    throws
  {
    let ana = Peer(TemporaryFolder()("notes"), seed: 1, peers: ["ben"])
    ana.initialize()
    let note = try #require(NoteID(ana.create(["text": "text"])))
    _ = open(ana, "\(note)")
    link(ana, then: [])
    ana.notifications = []
    for move in 1...1000 {
      let told = ToldParticipant(
        key: .init(process: Identifier(high: 7, low: 7), attachment: 1), moves: move, hops: 0,
        name: "Ben", note: note, selections: [Selection(start: .start, end: .start)])
      let content = Data(ToldParticipant.contents([told])[0]).base64EncodedString()
      ana.receive(
        notification("notebook/presence", ["participants": .string(content)]),
        fromPeer: ana.exchanges[0])
      ana.wait(.milliseconds(1))
    }
    #expect((1...21).contains(ana.take("note/presence").count))
  }

  @Test func `is served by a process that is confined`() {
    let scratch = TemporaryFolder()
    let ana = Peer(scratch("ana"), seed: 1, peers: ["ben"])
    ana.initialize()
    let note = ana.create(["text": "milk"])
    let ben = ServerPartner(scratch("ben"), seed: 2, isConfined: true)
    ana.wait(.zero)
    ana.carryAll(ana.exchanges[0], with: ben)
    #expect(ana.isStanding(ana.exchanges[0]))
    let reader = Peer(scratch("ben"), seed: 3)
    reader.initialize()
    #expect(reader.text(note) == "milk")
  }
}
