import Foundation
import JSONRPC
import TestSupport
import Testing

@testable import NotesServer

extension SplitMix64 {
  /// The beginning of changes in Base64.
  private static let changes = Data(containerHeader(1).prefix(6)).base64EncodedString()

  private static let values: [JSON] = [
    nil, true, false, 0, 1, -1, .number(1.5), .number(1e300), "", "0", "a", "v", "null", [], [:],
    [[]],
    .string(String(repeating: "x", count: 5000)), .raw("18446744073709551616"), .raw("-0"),
    .raw("9007199254740993"), .string("v00000000000000000000000000000000.18446744073709551615"),
    .string("00000000000000000000000000000000.9223372036854775807"), .string("\u{0}"),
  ]

  /// Changes something in a message: its values, and the encoded changes in it, whose checksum is right.
  ///
  /// - Parameter others: values of other messages, which are right there.
  fileprivate mutating func forge(_ message: JSON, _ others: [JSON]) -> JSON {
    switch message {
    case .string(let text) where text.hasPrefix(Self.changes) && chance(80):
      guard let bytes = Data(base64Encoded: text).map([UInt8].init), bytes.count > 24 else {
        return pick(Self.values)
      }
      var content = Array(bytes.dropFirst(containerHeader(1).count + blockPrefix))
      forge(&content, with: [content])
      let forged = containerHeader(1) + containerBlock(content)
      return .string(Data(forged).base64EncodedString())
    case .string(let text) where chance(40):
      var bytes = Array(text.utf8)
      forge(&bytes)
      return .string(String(decoding: bytes, as: UTF8.self))
    case .array(let elements) where !elements.isEmpty && chance(60):
      var elements = elements
      let index = below(elements.count)
      elements[index] = forge(elements[index], others)
      return .array(elements)
    default: break
    }
    if let members = message.members, !members.isEmpty, chance(85) {
      let name = pick(members.keys.sorted())
      var message = message
      if chance(10) {
        message[name] = nil
      } else {
        message[name] = forge(members[name]!, others)
      }
      return message
    }
    return chance(40) && !others.isEmpty ? pick(others) : pick(Self.values)
  }
}

/// Messages with wrong values in which all is right that guards them.
@Suite struct `Forged messages` {
  private static func author(_ folder: String) -> Peer {
    let author = Peer(folder, seed: 1)
    author.initialize()
    let id = JSON.string(author.create(["title": "one", "text": "one two", "tags": ["a", "b"]]))
    author.create(["title": "two", "priority": "high"])
    author.call("note/setText", ["id": id, "text": "one 2 three"])
    author.call("note/update", ["id": id, "tags": ["b"], "title": "u", "priority": "low"])
    author.call("note/move", ["id": id, "index": 0])
    author.call("note/delete", ["id": id])
    author.call("note/restore", ["id": id])
    return author
  }

  /// What has to hold afterwards: the note that was there is, all can be read, here and by another process, and work goes on.
  private static func check(_ peer: Peer, _ folder: String, _ note: String, _ seed: UInt64) {
    #expect(peer.list().contains(note), at(seed))
    for id in peer.list() {
      #expect(peer.ask("note/get", ["id": .string(id)]).error == nil, at(seed))
    }
    peer.call("note/append", ["id": .string(note), "text": "!"])
    #expect(peer.call("notebook/status")["damage"]?.array?.isEmpty == true, at(seed))
    let other = Peer(folder, seed: seed &+ 7_000_000)
    other.initialize()
    #expect(other.revision == peer.revision && other.list() == peer.list(), at(seed))
  }

  @Test func `that are requests of another machine change nothing, or all is in order`() async {
    let trace = ForgingTrace()
    await #expect(processExitsWith: .success) { [path = trace.path as String] in
      let scratch = TemporaryFolder()
      let author = Self.author(scratch("author"))
      let status = author.call("notebook/status")
      let all = author.call("notebook/changes")
      let revision = status["revision"]!
      let (notebook, version) = (status["notebook"] ?? nil, status["version"]!)
      let requests: [(String, JSON)] = [
        ("notebook/merge", ["changes": all["changes"]!]),
        ("notebook/merge", ["changes": all["changes"]!, "adopt": true, "requestKey": "k"]),
        ("notebook/changes", ["since": version, "limit": 100]),
        ("notebook/changes", ["since": revision]),
        ("note/get", ["id": "0.1", "revision": revision]),
        ("notebook/list", ["limit": 2, "tags": ["b"]]),
        ("notebook/find", ["name": "b", "limit": 2, "tags": ["b"]]),
      ]
      let others = [notebook, version, revision, all["changes"]!]
      try feed(seeds(25), trace: path) { seed in
        var generator = SplitMix64(seed: seed)
        let folder = scratch("target\(seed)")
        let peer = Peer(folder, seed: seed &+ 100)
        peer.initialize()
        let note = peer.create(["text": "milk"])
        for _ in 0..<8 {
          let (method, params) = generator.pick(requests)
          let before = peer.revision
          let forged = generator.forge(params, others)
          guard forged.members != nil else { continue }
          let answer = peer.ask(method, forged)
          if let error = answer.error {
            #expect(
              [-32803, -32602].contains(error.code) && error.message.utf8.count < 2000, at(seed))
            #expect(peer.revision == before, at(seed))
          }
        }
        Self.check(peer, folder, note, seed)
      }
    }
    trace.check()
  }

  @Test func `that are answers of a peer end the exchange, and do no harm`() async {
    let trace = ForgingTrace()
    await #expect(processExitsWith: .success) { [path = trace.path as String] in
      let scratch = TemporaryFolder()
      _ = Self.author(scratch("author"))
      try feed(seeds(25), trace: path) { seed in
        var generator = SplitMix64(seed: seed)
        let folder = scratch("ana\(seed)")
        let peer = Peer(folder, seed: seed &+ 100)
        peer.initialize()
        let note = peer.create(["text": "milk"])
        let honest = ServerPartner(scratch("author"), seed: seed &+ 200)
        var seen: [JSON] = []
        // One answer of the first few is forged, or one of them all the time.
        let victim = generator.below(6)
        var count = 0
        let partner = DamagingPartner(honest) { bytes in
          var frames = FrameDecoder(framing: .contentLength)
          frames.append(bytes[...])
          var answer: [UInt8] = []
          while case .message(let message)? = frames.next() {
            guard let json = (try? JSONValue(parsing: message)).map({ JSON($0) }) else { continue }
            seen += json["result"]?.members?.values.map { $0 } ?? []
            var sent = json
            if count == victim, let result = json["result"] {
              sent["result"] = generator.forge(result, seen)
            } else if count == victim {
              sent = generator.forge(json, seen)
            }
            count += 1
            answer += FalsePartner.frame(sent.bytes)
          }
          return answer
        }
        // Notebooks of two machines that were never one, which is most of what a forged identity leads to.
        let answer = peer.sync(with: partner, adopting: generator.chance(80))
        if let error = answer.error {
          #expect(!error.message.isEmpty && error.message.utf8.count < 3000, at(seed))
        }
        #expect(peer.exchanges == [], at(seed))
        Self.check(peer, folder, note, seed)
      }
    }
    trace.check()
  }
}
