import Foundation
import NoteFiles
import Notes
import TestSupport
import Testing

@testable import NotesServer

@Suite(.computing) struct `The index of links` {
  let scratch = TemporaryFolder()

  /// Two processes on one folder, one on another, and a folder of files.
  private final class Scene {
    var random: SplitMix64
    var peers: [Peer]
    let files: String
    private let places: [(notebook: String, state: String)]
    private var attachments: [JSON] = []
    private let names = ["Milk", "milk", "Oat", "Éclair", "E\u{301}clair", "a", "oat cakes", "x/a"]

    init(_ scratch: TemporaryFolder, seed: UInt64) {
      random = SplitMix64(seed: seed)
      files = scratch("files \(seed)")
      places = ["notes", "notes", "other"].enumerated().map { number, folder in
        (scratch("\(folder) \(seed)"), scratch("state \(number) \(seed)"))
      }
      peers = places.enumerated().map { number, place in
        let peer = Peer(place.notebook, seed: seed &* 8 &+ UInt64(number), state: place.state)
        peer.initialize()
        return peer
      }
    }

    /// The folders of the notebook and of the state of a peer.
    func folders(_ number: Int) -> (notebook: String, state: String) { places[number] }

    /// The answers of somebody about all links and names, with the ids of notes that are in the trash or forgotten.
    func answers(_ peer: Peer) -> [JSON] {
      let ids = peer.list() + peer.list(["trashed": true])
      var answers: [JSON] = []
      for id in ids {
        answers.append(peer.call("note/links", ["id": .string(id)]))
        answers.append(peer.call("note/backlinks", ["id": .string(id)]))
        answers.append(
          peer.call("note/rename", ["id": .string(id), "title": "milk", "dryRun": true]))
      }
      for name in names + ids + ["b", "x/a.md", "a.md", "milk#h", "nothing"] {
        answers.append(peer.call("notebook/resolve", ["text": .string(name)]))
      }
      return answers
    }

    private func title() -> JSON { .string(random.pick(names)) }

    private func text(_ ids: [String]) -> String {
      (0..<random.below(5)).map { _ in
        let name = ids.isEmpty || random.chance(80) ? random.pick(names) : random.pick(ids)
        return random.pick([
          "[[\(name)]]", "[[\(name)|words]]", "[[\(name)#h]]",
          "[x](\(random.pick(["a", "b", "../a"])).md)",
          "`[[\(name)]]`", name, "\n", "\n```\n",
        ])
      }.joined(separator: " ")
    }

    func step() throws {
      let peer = random.pick(peers)
      let ids = peer.list()
      guard let id = ids.randomElement(using: &random), random.chance(90) else {
        peer.create([
          "title": title(), "text": .string(text(ids)),
          "tags": .array(random.chance(30) ? [title()] : []),
        ])
        return
      }
      let note = JSON.string(id)
      switch random.below(14) {
      case 0: peer.call("note/update", ["id": note, "title": title()])
      case 1: peer.call("note/update", ["id": note, "tags": .array([title()])])
      case 2, 3: peer.call("note/setText", ["id": note, "text": .string(text(ids))])
      case 4: peer.call("note/append", ["id": note, "text": .string(text(ids))])
      case 5: peer.call("note/delete", ["id": note])
      case 6, 7:
        guard let trashed = peer.list(["trashed": true]).randomElement(using: &random) else {
          return
        }
        peer.call(random.chance(30) ? "note/purge" : "note/restore", ["id": .string(trashed)])
      case 8: peer.call("note/rename", ["id": note, "title": title()])
      case 9:
        peers[0].merge(from: peers[2], adopting: true)
        peers[2].merge(from: peers[0], adopting: true)
      case 10: try importFile(ids)
      case 11:
        let attachment = peers[0].ask("note/open", ["id": note, "mode": "edit"])["attachment"]
        if let attachment { attachments.append(attachment) }
      case 12:
        guard let attachment = attachments.randomElement(using: &random) else { return }
        _ = peers[0].ask(
          "note/change",
          [
            "attachment": attachment, "version": JSON(random.below(1000)), "rev": 0,
            "lines": [[0, 0, [.string(text(ids).replacing("\n", with: " "))]]],
          ])
      default:
        guard let attachment = attachments.randomElement(using: &random) else { return }
        _ = peers[0].ask("note/\(random.pick(["undo", "redo"]))", ["attachment": attachment])
      }
    }

    private func importFile(_ ids: [String]) throws {
      let folder = random.pick(["", "/f"])
      try FileManager.default.createDirectory(
        atPath: files + "/f", withIntermediateDirectories: true)
      let header = random.pick([
        "", "---\naliases: [\(random.pick(names)), b]\n---\n", "---\ntitle: c\n---\n",
      ])
      try Data((header + text(ids)).utf8).write(
        to: URL(fileURLWithPath: "\(files)\(folder)/\(random.pick(["a", "b", "milk"])).md"))
      random.pick(peers).call("notebook/import", ["path": .string(files)])
    }
  }

  @Test(arguments: seeds(12))
  func `is at any time what one is that is made from nothing`(seed: UInt64) throws {
    let scene = Scene(scratch, seed: seed)
    for step in 0..<60 {
      try scene.step()
      if scene.random.chance(60) { scene.peers[0].work() }
      for peer in scene.peers where scene.random.chance(40) {
        let (kept, fresh) = try peer.linkIndexes()
        #expect(kept == fresh && kept.sizes == fresh.sizes, at(seed, step))
      }
    }
  }

  /// Those who ask for a few names read the notes that the archive names, and those that are not in it as they are. Archives come and go meanwhile, of
  /// this process and of one that begins with them.
  @Test(arguments: seeds(12))
  func `that reads what an archive says answers as one that reads all`(seed: UInt64) throws {
    let scene = Scene(scratch, seed: seed)
    for peer in scene.peers { peer.looksUpLinks() }
    var archives = 0
    for step in 0..<50 {
      try scene.step()
      if scene.random.chance(20) { archives += scene.random.pick(scene.peers).putAway() ? 1 : 0 }
      guard scene.random.chance(30) else { continue }
      // A process that begins with the archive, and one without any.
      for number in [0, 2] {
        let (folder, state) = scene.folders(number)
        let beginning = Peer(folder, seed: 1_000 + UInt64(step), state: state)
        let reading = Peer(folder, seed: 2_000 + UInt64(step))
        for peer in [beginning, reading] { peer.initialize() }
        beginning.looksUpLinks()
        scene.peers[number].work()
        let expected = scene.answers(reading)
        #expect(!reading.hasUnreadLinks, at(seed, step))
        #expect(scene.answers(beginning) == expected, at(seed, step))
        #expect(scene.answers(scene.peers[number]) == expected, at(seed, step))
      }
    }
    #expect(archives > 0, at(seed))
  }

  @Test func `reads no other notes where an archive says which have a name`() throws {
    let (folder, state) = (scratch("notes"), scratch("state"))
    let writer = Peer(folder, seed: 1, state: state)
    writer.initialize()
    for number in 0..<300 {
      writer.create(["title": .string("note \(number)"), "text": .string("[[note \(number / 2)]]")])
    }
    let first = writer.list()[299]
    #expect(writer.putAway())
    let peer = Peer(folder, seed: 2, state: state)
    peer.initialize()
    #expect(peer.call("note/backlinks", ["id": .string(first)])["backlinks"]!.array!.count == 2)
    #expect(peer.call("notebook/resolve", ["text": "NOTE 17"])["id"] == .string(peer.list()[282]))
    #expect(peer.hasUnreadLinks)
    // Notes of another process are there, too.
    let new = writer.create(["title": "note 17", "text": "[[note 0]]"])
    peer.work()
    #expect(peer.call("notebook/resolve", ["text": "note 17"])["candidates"]!.array!.count == 2)
    #expect(peer.call("note/backlinks", ["id": .string(first)])["backlinks"]!.array!.count == 3)
    #expect(peer.call("note/links", ["id": .string(new)])["links"]![0]!["id"] == .string(first))
    #expect(peer.hasUnreadLinks)
  }

  @Test
  func `is begun when a note is opened to write in it, and made while there is nothing else to do`()
  {
    let peer = Peer(scratch("notes"), seed: 1)
    peer.initialize()
    let text = String(repeating: "[[a]] and more\n", count: 2000)
    for number in 0..<40 { peer.create(["title": .string("\(number)"), "text": .string(text)]) }
    let id = JSON.string(peer.list()[0])
    for _ in 0..<3 { peer.work() }
    #expect(!peer.hasLinkIndex)
    peer.call("note/open", ["id": id, "mode": "observe"])
    peer.work()
    #expect(!peer.hasLinkIndex)
    peer.call("note/open", ["id": id, "mode": "edit"])
    peer.work()
    #expect(peer.hasLinkIndex && !peer.isIndexAtRest)
    // Nothing waits for it but who asks.
    #expect(peer.ask("note/append", ["id": id, "text": "x"]).error == nil && !peer.isIndexAtRest)
    for _ in 0..<20 { peer.work() }
    #expect(peer.isIndexAtRest)
    // A few changes wait until somebody asks.
    peer.call("note/append", ["id": id, "text": "[[1]]"])
    #expect(peer.isIndexAtRest)
    #expect(
      peer.call("note/backlinks", ["id": .string(peer.list()[38])])["backlinks"]!.array!.count == 1)
  }

  @Test func `takes in many changes while there is nothing else to do`() {
    let peer = Peer(scratch("notes"), seed: 1)
    peer.initialize()
    let first = peer.create(["title": "first"])
    peer.call("note/open", ["id": .string(first), "mode": "edit"])
    peer.work()
    #expect(peer.isIndexAtRest)
    let other = Peer(scratch("other"), seed: 2)
    other.initialize()
    for number in 0..<100 { other.create(["title": .string("\(number)"), "text": "[[first]]"]) }
    peer.merge(from: other, adopting: true)
    #expect(!peer.isIndexAtRest)
    for _ in 0..<5 { peer.work() }
    #expect(peer.isIndexAtRest)
    #expect(peer.call("note/backlinks", ["id": .string(first)])["backlinks"]!.array!.count == 100)
  }

  @Test func `notices what becomes of a note in which somebody types`() throws {
    let peer = Peer(scratch("notes"), seed: 1)
    peer.initialize()
    let id = JSON.string(peer.create(["title": "a", "text": "[[x]]"]))
    let changes: [(String, JSON)] = [
      ("note/update", ["title": "b"]), ("note/update", ["tags": ["t"]]), ("note/delete", [:]),
      ("note/restore", [:]), ("note/append", ["text": " [[y]]"]),
    ]
    for (number, (method, params)) in changes.enumerated() {
      _ = try peer.linkIndexes()
      peer.call("note/append", ["id": id, "text": .string(" [[\(number)]]")])
      peer.call(method, JSON(params.members!.merging(["id": id], uniquingKeysWith: { $1 })))
      // Names are asked for apart from texts.
      let isThere = method != "note/delete"
      let found = peer.call("notebook/resolve", ["text": number == 0 ? "b" : "B"])["id"]
      #expect(found == (isThere ? id : .null), "\(method)")
      #expect(peer.call("notebook/tags")["tags"]!.array!.count == (isThere && number > 0 ? 1 : 0))
      let (kept, fresh) = try peer.linkIndexes()
      #expect(kept == fresh && kept.sizes == fresh.sizes, "\(method)")
    }
  }

  @Test func `keeps the first names of many, as a look at all of them does`() {
    for seed in seeds(20) {
      var random = SplitMix64(seed: seed)
      let letters = [
        "a", "A", "b", "é", "E\u{301}", "e", " ", "ß", "ss", "Σ", "~", "-", "1", "ﬁ", "\u{301}",
        "🦊",
      ]
      func word(_ most: Int) -> String {
        (0..<random.below(most + 1)).map { _ in random.pick(letters) }.joined()
      }
      for step in 0..<50 {
        let (prefix, limit) = (word(2), 1 + random.below(4))
        let names = (0..<random.below(30)).map { _ in word(5) }
        var few = TopK<Int>(limit, beginningWith: prefix)
        for (number, name) in names.enumerated() { few.insert(name, number) }
        let start = Array(LinkName(prefix + "x").text.utf8.dropLast())
        func fits(_ name: [UInt8]) -> Bool {
          let text = String(decoding: name, as: UTF8.self)
          let letters = text.drop { !$0.isLetter && !$0.isNumber }
          return name.starts(with: start) || letters.utf8.starts(with: start)
        }
        let folded = names.map { Array(LinkName($0).text.utf8) }
        let expected = folded.indices.filter { fits(folded[$0]) }.sorted { a, b in
          folded[a].lexicographicallyPrecedes(folded[b]) || folded[a] == folded[b] && a < b
        }
        #expect(few.elements.map(\.value) == Array(expected.prefix(limit)), at(seed, step))
      }
    }
  }
}
