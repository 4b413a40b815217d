import Foundation
import JSONRPC
import TestSupport
import Testing

@testable import NotesServer

@Suite(.computing)
struct `Exchanging changes with a peer` {
  let scratch = TemporaryFolder()

  private func peer(_ name: String, seed: UInt64, clock: Int64 = 1_767_225_600_000) -> Peer {
    let peer = Peer(scratch(name), seed: seed, clock: clock)
    peer.initialize()
    return peer
  }

  private func partner(_ name: String, seed: UInt64, clock: Int64 = 1_767_225_600_000)
    -> ServerPartner
  {
    ServerPartner(scratch(name), seed: seed, clock: clock)
  }

  private func bytes(_ answer: Peer.Answer) -> [Int?] {
    [answer["sent"]?.integer, answer["received"]?.integer]
  }

  // MARK: - Between two

  @Test func `brings each what the other has, and then nothing`() throws {
    let ana = peer("ana", seed: 1)
    let note = ana.create(["title": "Shopping", "text": "milk"])
    let first = ana.sync(with: partner("ben", seed: 2))
    #expect(try #require(first["sent"]?.integer) > 0 && first["received"] == 0)

    let ben = peer("ben", seed: 3)
    #expect(ben.text(note) == "milk")
    ben.call("note/append", ["id": .string(note), "text": "\neggs"])
    ana.call("note/append", ["id": .string(note), "text": "\nbread"])
    ana.notifications = []
    let second = ana.sync(with: partner("ben", seed: 4))
    #expect(try #require(second["sent"]?.integer) > 0)
    #expect(try #require(second["received"]?.integer) > 0)
    ben.folderChanged()
    #expect(ana.text(note) == ben.text(note) && ana.revision == ben.revision)
    #expect(ana.take("notebook/didChange").map { $0["changed"]?[0]?["id"] } == [.string(note)])

    let files = try FileManager.default.subpathsOfDirectory(atPath: scratch("ben"))
    let idle = ana.sync(with: partner("ben", seed: 5))
    #expect(bytes(idle) == [0, 0] && idle["revision"]?.string == ana.revision)
    #expect(ana.take("notebook/didChange") == [])
    #expect(try FileManager.default.subpathsOfDirectory(atPath: scratch("ben")) == files)
  }

  @Test func `does nothing with two that are nothing yet`() {
    let ana = peer("ana", seed: 1)
    #expect(bytes(ana.sync(with: partner("ben", seed: 2))) == [0, 0])
    #expect(!FileManager.default.fileExists(atPath: scratch("ana")))
    #expect(!FileManager.default.fileExists(atPath: scratch("ben")))
  }

  @Test func `gives a new notebook the identity of the peer's`() {
    let ben = peer("ben", seed: 1)
    let note = ben.create(["text": "milk"])
    let ana = peer("ana", seed: 2)
    #expect(ana.sync(with: partner("ben", seed: 3)).error == nil)
    #expect(ana.text(note) == "milk")
    let (a, b) = (peer("ana", seed: 4), peer("ben", seed: 5))
    ana.create(["title": "one"])
    #expect(a.sync(with: partner("ben", seed: 6)).error == nil)
    #expect(b.sync(with: partner("ana", seed: 7)).error == nil)
  }

  @Test func `goes in pieces, and on from where it was cut off`() throws {
    let ana = Peer(scratch("ana"), seed: 1, syncPiece: 500)
    ana.initialize()
    for number in 0..<40 {
      ana.create(["text": .string(String(repeating: "text \(number) ", count: 40))])
    }
    // Cut off in the middle of sending.
    let id = ana.send("notebook/sync", ["peer": "partner"])
    let cut = partner("ben", seed: 2)
    for _ in 0..<3 { ana.carry(ana.exchanges[0], with: cut) }
    ana.partnerEnded(ana.exchanges[0], failure: "the line is dead")
    #expect(ana.answer(to: id)?.error?.reason == "peerUnreachable")
    #expect(ana.answer(to: id) == nil)
    let there = peer("ben", seed: 3).list().count
    #expect(there > 0 && there < 40)
    let rest = try #require(ana.sync(with: partner("ben", seed: 4))["sent"]?.integer)
    #expect(rest < (40 - there) * 600)

    // And in the middle of receiving.
    let cleo = Peer(scratch("cleo"), seed: 5, syncPiece: 500)
    cleo.initialize()
    cleo.send("notebook/sync", ["peer": "partner"])
    let slow = partner("ben", seed: 6)
    for _ in 0..<4 { cleo.carry(cleo.exchanges[0], with: slow) }
    cleo.partnerEnded(cleo.exchanges[0], failure: "the line is dead")
    let here = cleo.list().count
    #expect(here > 0 && here < 40)
    #expect(cleo.sync(with: partner("ben", seed: 7)).error == nil)
    #expect(cleo.revision == ana.revision)
  }

  @Test func `carries a note that is longer than any message, and what comes after it`() throws {
    let ana = peer("ana", seed: 1)
    let long = String(repeating: "0123456789abcde\n", count: 1_600_000)
    let note = ana.create(["text": .string(long)])
    let other = ana.create(["text": "short"])
    // There.
    #expect(ana.sync(with: partner("ben", seed: 2)).error == nil)
    // And here.
    let cleo = peer("cleo", seed: 3)
    let answer = cleo.sync(with: partner("ben", seed: 4))
    #expect(answer.error == nil)
    #expect(try #require(answer["received"]?.integer) > 25_600_000)
    #expect(cleo.text(other) == "short" && cleo.text(note) == long)
    #expect(cleo.revision == ana.revision)
    // No message was longer than a peer takes: see `DamagingPartner` below.
    var longest = 0
    let counting = DamagingPartner(partner("ben", seed: 5)) {
      longest = max(longest, $0.count)
      return $0
    }
    #expect(peer("dan", seed: 6).sync(with: counting).error == nil)
    #expect(longest < 8 << 20)
  }

  @Test func `ends with an error where the parts of changes do not fit together`() {
    let ana = peer("ana", seed: 1)
    ana.create(["text": "milk"])
    for (size, part) in [(1 << 30, "AAAA"), (10, ""), (3, "AAAA"), (4, "AAAA")] {
      let lying = FalsePartner([
        "initialize": ["notebook": ["id": nil, "revision": "0123456789abcdef0123456789abcdef.1"]],
        "notebook/status": ["version": "v0123456789abcdef0123456789abcdef.1"],
        "notebook/changes": [
          "changes": .string(part), "size": JSON(size), "revision": "0", "more": false,
        ],
      ])
      let reason = ana.sync(with: lying).error?.reason
      #expect(reason == "badPeer" || reason == "damagedChanges", "\(size) \(part)")
      #expect(lying.methods.filter { $0 == "notebook/changes" }.count <= 4)
    }
  }

  @Test func `is answered while others are, and two at once do no harm`() {
    let (ana, ben) = (peer("ana", seed: 1), peer("ben", seed: 2))
    for number in 0..<30 { ana.create(["title": .string("\(number)")]) }
    #expect(ben.sync(with: partner("ana", seed: 3)).error == nil)
    ben.create(["title": "another"])
    ana.create(["title": "a third"])
    let ids = [1, 2].map { _ in ana.send("notebook/sync", ["peer": "partner"]) }
    let partners = [partner("ben", seed: 4), partner("ben", seed: 5)]
    var isCarrying = true
    while isCarrying {
      isCarrying = false
      for (number, partner) in zip(ana.exchanges, partners) {
        if ana.carry(number, with: partner) { isCarrying = true }
      }
      #expect(ana.ask("notebook/status").error == nil)
    }
    for number in ana.exchanges { ana.partnerEnded(number) }
    for id in ids { #expect(ana.answer(to: id)?.error == nil) }
    ben.folderChanged()
    #expect(ana.revision == ben.revision && ana.list().count == 32)
  }

  @Test func `ends while the user types all the time`() {
    let ana = peer("ana", seed: 1)
    let note = ana.create()
    let id = ana.send("notebook/sync", ["peer": "partner"])
    let ben = partner("ben", seed: 2)
    var turns = 0
    while turns < 50, ana.carry(ana.exchanges[0], with: ben), ana.answer(to: id) == nil {
      ana.call("note/append", ["id": .string(note), "text": "x"])
      turns += 1
    }
    #expect(turns < 20)
  }

  @Test func `can be cancelled, and reports its progress`() {
    let ana = peer("ana", seed: 1)
    ana.create(["text": "milk"])
    let id = ana.send("notebook/sync", ["peer": "partner", "workDoneToken": "t"])
    ana.carry(ana.exchanges[0], with: partner("ben", seed: 2))
    ana.notify("$/cancelRequest", ["id": JSON(id)])
    #expect(ana.answer(to: id)?.error?.code == -32800)
    #expect(ana.exchanges == [])
    ana.notifications = []
    _ = ana.send("notebook/sync", ["peer": "partner", "workDoneToken": "t"])
    let ben = partner("ben", seed: 3)
    ana.carryAll(ana.exchanges[0], with: ben)
    ana.partnerEnded(ana.exchanges[0])
    let kinds = ana.take("$/progress").map { $0["value"]?["kind"]?.string }
    #expect(kinds.first == "begin" && kinds.contains("report") && kinds.last == "end")
  }

  // MARK: - Two notebooks

  @Test func `does not mix notebooks that were begun independently`() {
    let (ana, ben) = (peer("ana", seed: 1), peer("ben", seed: 2))
    ana.create(["title": "one"])
    ben.create(["title": "two"])
    let answer = ana.sync(with: partner("ben", seed: 3))
    #expect(answer.error?.reason == "foreignNotebook")
    #expect(answer.error?.message.contains("adopt") == true)
    ben.folderChanged()
    #expect(ana.list().count == 1 && ben.list().count == 1)
  }

  @Test(arguments: [true, false])
  func `makes two notebooks one when asked to, for good`(isFirst: Bool) {
    let (ana, ben) = (peer("ana", seed: isFirst ? 1 : 2), peer("ben", seed: isFirst ? 2 : 1))
    let one = ana.create(["title": "one", "text": "milk"])
    let two = ben.create(["title": "two", "text": "eggs"])
    #expect(ana.sync(with: partner("ben", seed: 3), adopting: true).error == nil)
    ben.folderChanged()
    #expect(Set(ana.list()) == [one, two] && Set(ben.list()) == [one, two])

    // Without asking again, both ways, also from processes that begin then.
    ben.call("note/append", ["id": .string(one), "text": "\nbread"])
    #expect(ana.sync(with: partner("ben", seed: 4)).error == nil)
    ana.call("note/append", ["id": .string(two), "text": "\nrice"])
    #expect(ben.sync(with: partner("ana", seed: 5)).error == nil)
    let (a, b) = (peer("ana", seed: 6), peer("ben", seed: 7))
    #expect(a.sync(with: partner("ben", seed: 8)).error == nil)
    #expect(b.sync(with: partner("ana", seed: 9)).error == nil)
    for peer in [a, b] {
      #expect(peer.text(one) == "milk\nbread" && peer.text(two) == "eggs\nrice")
    }

    // And a third, that knew only one of them.
    let cleo = peer("cleo", seed: 10)
    #expect(cleo.sync(with: partner("ben", seed: 11)).error == nil)
    #expect(cleo.sync(with: partner("ana", seed: 12)).error == nil)
    #expect(cleo.revision == a.revision)
  }

  // MARK: - On a schedule

  @Test func `reaches peers of an older version again and again, and reports failures once`() {
    let ana = Peer(scratch("ana"), seed: 1, peers: ["partner"])
    #expect(ana.syncIfDue() == nil)
    ana.initialize()
    ana.create(["text": "milk"])
    func reach(_ after: Duration, failure: String?) -> Duration? {
      _ = ana.syncIfDue(after: after)
      guard let number = ana.exchanges.first else {
        Issue.record("nothing is due")
        return nil
      }
      if failure == nil {
        let seed = UInt64.random(in: 2...(.max))
        ana.carryAll(number, with: ServerPartner(scratch("ben"), seed: seed, isOlder: true))
      }
      ana.partnerEnded(number, failure: failure)
      return ana.syncIfDue()
    }
    func status() -> JSON? { ana.call("notebook/status")["peers"]?[0] }

    #expect(reach(.zero, failure: nil) == .seconds(30))
    #expect(ana.syncIfDue(after: .seconds(29)) == .seconds(1) && ana.exchanges == [])
    ana.create()
    #expect(status()?["owed"] == 1 && status()?["reached"] != nil && status()?["failure"] == nil)

    // Three times it is tried again soon, without a word.
    #expect(reach(.seconds(1), failure: "away") == .seconds(1))
    #expect(reach(.seconds(1), failure: "away") == .seconds(2))
    #expect(reach(.seconds(2), failure: "away") == .seconds(4))
    #expect(ana.take("window/logMessage") == [])
    #expect(reach(.seconds(4), failure: "away") == .seconds(60))
    #expect(ana.take("window/logMessage").map { $0["message"] } == ["partner: away"])
    #expect(reach(.seconds(60), failure: "away") == .seconds(120))
    for delay in [120, 240, 480, 600, 600] { _ = reach(.seconds(delay), failure: "away") }
    #expect(ana.syncIfDue() == .seconds(600))
    #expect(ana.take("window/logMessage") == [])
    #expect(status()?["failure"] == "partner: away" && status()?["owed"] == 1)

    #expect(reach(.seconds(600), failure: nil) == .seconds(30))
    #expect(ana.take("window/logMessage").count == 1)
    #expect(status()?["failure"] == nil && status()?["owed"] == 0)
    #expect(peer("ben", seed: 99).list().count == 2)
  }

  // MARK: - Hostile peers

  private static let identity = String(repeating: "0", count: 31) + "7"

  private static func results(_ more: [String: JSON] = [:]) -> [String: JSON] {
    [
      "initialize": ["notebook": ["id": nil, "revision": .string("\(identity).5")]],
      "notebook/status": ["version": "v"],
      "notebook/merge": ["revision": "0", "changed": []], "notebook/flush": nil, "shutdown": nil,
    ].merging(more) { $1 }
  }

  private static let answer = FalsePartner.frame(
    ["id": 1, "result": ["notebook": ["id": nil, "revision": .string("\(identity).5")]]])

  private static let violations: [(String, [UInt8])] = [
    ("a banner", Array("Welcome to the machine\n".utf8)),
    ("no JSON", FalsePartner.frame(Array("hello".utf8))),
    ("no message", FalsePartner.frame(Array("17".utf8))),
    ("a batch", FalsePartner.frame(Array("[]".utf8))),
    ("neither result nor error", FalsePartner.frame(["id": 1])),
    ("an answer to something else", FalsePartner.frame(["id": 7, "result": [:]])),
    ("two answers to one request", answer + answer),
    ("a request, as an echo sends it", FalsePartner.frame(["id": 1, "method": "initialize"])),
    ("an answer without an id", FalsePartner.frame(["id": nil, "result": [:]])),
    ("a negative length", Array("Content-Length: -1\r\n\r\n".utf8)),
    ("a huge length", Array("Content-Length: 99999999999\r\n\r\n".utf8)),
    ("an endless header", [UInt8](repeating: 0x41, count: 20_000)),
    (
      "an identity that is none",
      FalsePartner.frame(["id": 1, "result": ["notebook": ["id": "x"]]])
    ),
    (
      "an identity of a wrong type",
      FalsePartner.frame(["id": 1, "result": ["notebook": ["id": 7]]])
    ),
    ("much nesting", FalsePartner.frame([UInt8](repeating: 0x5B, count: 100_000))),
  ]

  @Test(arguments: violations)
  func `refuses what does not speak the protocol`(name: String, bytes: [UInt8]) {
    let ana = peer("ana", seed: 1)
    ana.create(["text": "milk"])
    let before = ana.revision
    let answer = ana.sync(with: FalsePartner { _, _, _ in bytes })
    #expect(answer.error?.reason == "badPeer", "\(name): \(String(describing: answer.error))")
    #expect((answer.error?.message.utf8.count ?? .max) < 2000)
    #expect(ana.revision == before && ana.exchanges == [])
  }

  @Test(
    arguments: [
      ["notebook/status": [:]], ["notebook/status": ["version": "x"]],
      ["notebook/status": ["version": 7]],
      ["notebook/status": ["version": .string("v\(identity).18446744073709551616")]],
      later([:]), later(["changes": 7, "revision": "a"]), later(["changes": "!", "revision": "a"]),
      later(["changes": ""]), later(["changes": "AAAA", "revision": "a", "more": 3]),
    ] as [[String: JSON]])
  func `refuses answers that are none`(results: [String: JSON]) {
    let ana = peer("ana", seed: 1)
    ana.create(["text": "milk"])
    let before = ana.revision
    let reason = ana.sync(with: FalsePartner(Self.results(results))).error?.reason
    #expect(["badPeer", "damagedChanges"].contains(reason), "\(results): \(reason ?? "no error")")
    #expect(ana.revision == before)
  }

  /// A peer that knows something, and answers this when asked for it.
  private static func later(_ changes: JSON) -> [String: JSON] {
    ["notebook/status": ["version": .string("v\(identity).5")], "notebook/changes": changes]
  }

  @Test func `does not go on for ever with one that always has more`() {
    let ana = peer("ana", seed: 1)
    let note = ana.create(["text": "milk"])
    let nothing = ana.call("notebook/changes", ["since": ana.call("notebook/status")["version"]!])
    let all = ana.call("notebook/changes")
    for changes in [nothing, all] {
      let partner = FalsePartner(
        Self.results(
          Self.later(["changes": changes["changes"]!, "revision": "0", "more": true])))
      #expect(ana.sync(with: partner).error?.reason == "badPeer")
      #expect(partner.methods.count < 2000)
    }
    #expect(ana.text(note) == "milk")
  }

  @Test func `passes over notifications`() {
    let ana = peer("ana", seed: 1)
    ana.create(["text": "milk"])
    let ben = partner("ben", seed: 2)
    let notification = FalsePartner.frame(["method": "window/showMessage", "params": ["type": 3]])
    let partner = DamagingPartner(ben) {
      $0.isEmpty ? [] : notification + $0 + notification
    }
    let answer = ana.sync(with: partner)
    #expect(answer.error == nil)
    #expect(peer("ben", seed: 3).list().count == 1)
  }

  @Test func `reports the error of a peer`() {
    let ana = peer("ana", seed: 1)
    ana.create(["text": "milk"])
    let partner = FalsePartner { method, id, _ in
      if method != "notebook/merge" {
        return FalsePartner.frame(["id": id, "result": Self.results()[method] ?? [:]])
      }
      return FalsePartner.frame(
        [
          "id": id,
          "error": ["code": -32803, "message": .string(String(repeating: "no ", count: 9999))],
        ])
    }
    let answer = ana.sync(with: partner)
    #expect(answer.error?.reason == "peerFailed")
    #expect((answer.error?.message.utf8.count ?? .max) < 2000)
    #expect(ana.sync(with: self.partner("ben", seed: 4)).error == nil)
  }

  @Test(arguments: seeds(20))
  func `takes damage for damage, and loses nothing by it`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let (ana, ben) = (peer("ana", seed: seed << 8 | 1), peer("ben", seed: seed << 8 | 2))
    let note = ana.create(["text": "milk"])
    #expect(ben.sync(with: partner("ana", seed: seed << 8 | 3)).error == nil)
    ben.call("note/append", ["id": .string(note), "text": "\neggs"])
    ana.call("note/append", ["id": .string(note), "text": "\nbread"])
    for turn in 0..<6 {
      let victim = random.below(8)
      var replies = 0
      let damaged = DamagingPartner(partner("ben", seed: seed << 8 | UInt64(10 + turn))) { reply in
        replies += 1
        guard replies > victim, !reply.isEmpty else { return reply }
        var bytes = reply
        switch random.below(3) {
        case 0: bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
        case 1: bytes.removeLast(random.below(bytes.count))
        default:
          let start = random.below(bytes.count)
          bytes.removeSubrange(start..<min(bytes.count, start + 1 + random.below(20)))
        }
        return bytes
      }
      // Whatever comes of it; often the damage is in what doesn't matter.
      _ = ana.sync(with: damaged)
      #expect(ana.exchanges == [])
      #expect(["milk\nbread", "milk\neggs\nbread", "milk\nbread\neggs"].contains(ana.text(note)))
    }
    #expect(ana.sync(with: partner("ben", seed: seed << 8 | 20)).error == nil)
    ben.folderChanged()
    #expect(ana.text(note) == ben.text(note) && ana.text(note).utf8.count == 15)
    #expect(ana.call("notebook/status")["damage"] == [])
  }

  /// 1970, 2050, and the last there is.
  @Test(arguments: [0, 2_524_608_000_000, Int64.max - 1_000_000])
  func `lives with a peer whose clock is wrong`(clock: Int64) {
    let ana = peer("ana", seed: 1)
    let note = ana.create(["title": "now", "text": "milk"])
    #expect(ana.sync(with: partner("ben", seed: 2)).error == nil)
    let ben = peer("ben", seed: 3, clock: clock)
    ben.call("note/update", ["id": .string(note), "title": "then"])
    ben.call("note/append", ["id": .string(note), "text": "\neggs"])
    #expect(ana.sync(with: partner("ben", seed: 4)).error == nil)
    ana.call("note/append", ["id": .string(note), "text": "\nbread"])
    #expect(ana.sync(with: partner("ben", seed: 5)).error == nil)
    ben.folderChanged()
    #expect(ana.text(note) == "milk\neggs\nbread" && ana.revision == ben.revision)
    #expect(ana.call("notebook/list") == ben.call("notebook/list"))
    // A replica that knows of a later title can give a new one all the same.
    ana.call("note/update", ["id": .string(note), "title": "again"])
    #expect(ana.call("note/get", ["id": .string(note)])["note"]?["title"] == "again")
  }
}
