import Foundation
import TestSupport
import Testing

@testable import NotesServer

@Suite struct `Links between notes` {
  let scratch = TemporaryFolder()
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1, state: scratch("state"))
    peer.initialize()
  }

  /// What each link of a note names, and the title of the note that is meant, `?` where none is.
  private func links(_ id: String, of peer: Peer? = nil) -> [String] {
    let peer = peer ?? self.peer
    return peer.call("note/links", ["id": .string(id)])["links"]!.array!.map { link in
      "\(link["target"]!.string!) → \(title(link["id"]!))"
    }
  }

  private func title(_ id: JSON) -> String {
    id.isNull ? "?" : peer.call("note/get", ["id": id])["note"]!["title"]!.string!
  }

  private func backlinks(_ id: String) -> [String] {
    peer.call("note/backlinks", ["id": .string(id)])["backlinks"]!.array!.map { entry in
      "\(entry["note"]!["title"]!.string!) \(entry["ranges"]!.array!.count)"
    }
  }

  private func resolve(_ text: String) -> (meant: String, candidates: [String]) {
    let result = peer.call("notebook/resolve", ["text": .string(text)])
    return (
      title(result["id"]!), result["candidates"]!.array!.map { $0["title"]!.string! }.sorted()
    )
  }

  private func write(_ text: String, _ path: String) throws {
    let url = URL(fileURLWithPath: scratch("files/\(path)"))
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  /// The ids by title.
  private func bring() -> [String: String] {
    peer.call("notebook/import", ["path": .string(scratch("files"))])
    return Dictionary(
      peer.call("notebook/list")["notes"]!.array!.map { ($0["title"]!.string!, $0["id"]!.string!) },
      uniquingKeysWith: { $1 })
  }

  // MARK: - Where links lead

  @Test func `lead to titles, composed and without case, and to ids`() {
    let cafe = peer.create(["title": "Café Noir"])
    let note = peer.create([
      "title": "N",
      "text": .string("[[CAFE\u{301} noir]] [[n|me]] [[\(cafe)]] [[nothing]] [[café]]"),
    ])
    #expect(
      links(note) == [
        "CAFE\u{301} noir → Café Noir", "n → N", "\(cafe) → Café Noir", "nothing → ?", "café → ?",
      ])
    peer.call("note/delete", ["id": .string(cafe)])
    #expect(links(note)[0].hasSuffix("?") && links(note)[2].hasSuffix("?"))
    peer.call("note/restore", ["id": .string(cafe)])
    #expect(links(note)[0].hasSuffix("Café Noir") && links(note)[2].hasSuffix("Café Noir"))
    peer.call("note/update", ["id": .string(cafe), "title": "Nothing"])
    #expect(links(note).map { $0.hasSuffix("Nothing") } == [false, false, true, true, false])
  }

  @Test func `lead to paths and aliases of files`() throws {
    try write("---\naliases: [The Sea, \"a, b\"]\n---\n# Ocean\n", "water/sea.md")
    try write(
      "---\nalias: Tree\n---\n[s](../water/sea.md) [n](../none.md) [t](tree.txt#top)",
      "wood/wood.md")
    try write(
      "[[sea]] [[water/sea]] [[WATER/sea.md]] [[the sea]] [[a, b]] [[tree]] [[Ocean]] [x](water/sea.md)",
      "all.md")
    try write("tree", "wood/tree.txt")
    let ids = bring()
    #expect(
      links(ids["all"]!).map { String($0.split(separator: "→").last!) } == [
        " Ocean", " Ocean", " Ocean", " Ocean", " Ocean", " ?", " Ocean", " Ocean",
      ])
    #expect(links(ids["wood"]!) == ["water/sea.md → Ocean", "none.md → ?", "wood/tree.txt → tree"])
    // An alias of one note and the title of another.
    #expect(resolve("tree").candidates == ["tree", "wood"])
    #expect(
      backlinks(ids["Ocean"]!) == ["wood 1", "all 7"]
        || backlinks(ids["Ocean"]!) == ["all 7", "wood 1"])
    #expect(backlinks(ids["tree"]!) == ["wood 1"])
  }

  @Test func `that may mean several notes mean none`() {
    let (a, b) = (peer.create(["title": "Milk"]), peer.create(["title": "milk"]))
    let note = peer.create(["title": "N", "text": .string("[[MILK]] [[\(a)]]")])
    #expect(links(note) == ["MILK → ?", "\(a) → Milk"])
    #expect(resolve("milk") == ("?", ["Milk", "milk"]))
    #expect(backlinks(a) == ["N 1"] && backlinks(b) == [])
    peer.call("note/delete", ["id": .string(b)])
    #expect(links(note)[0] == "MILK → Milk" && backlinks(a) == ["N 2"])
    peer.call("note/restore", ["id": .string(b)])
    peer.call("note/rename", ["id": .string(b), "title": "Oat"])
    #expect(resolve("milk") == ("Milk", ["Milk"]) && backlinks(a) == ["N 2"])
  }

  @Test func `an id means its note, whatever titles there are`() {
    let a = peer.create(["title": "A"])
    let b = peer.create(["title": .string(a)])
    let note = peer.create(["text": .string("[[\(a)]]")])
    #expect(links(note) == ["\(a) → A"] && backlinks(b) == [] && resolve(a).meant == "A")
  }

  @Test(arguments: ["utf-8", "utf-16", "utf-32"])
  func `are told with places in the units agreed on`(encoding: String) {
    let peer = Peer(scratch(encoding), seed: 2)
    peer.initialize(encoding: encoding)
    let id = peer.create(["title": "é", "text": "😀\n😀é [[é#x]] [[é]]"])
    let links = peer.call("note/links", ["id": .string(id)])["links"]!
    let (face, letter) = ["utf-8": (4, 2), "utf-16": (2, 1), "utf-32": (1, 1)][encoding]!
    let start = face + letter + 1
    #expect(
      links[0]!["range"] == [
        "start": ["line": 1, "character": JSON(start)],
        "end": ["line": 1, "character": JSON(start + 6 + letter)],
      ])
    #expect(links[0]!["heading"] == "x" && links[1]!["heading"] == nil)
    let backlink = peer.call("note/backlinks", ["id": .string(id)])["backlinks"]![0]!
    #expect(
      backlink["ranges"]![0] == links[0]!["range"] && backlink["ranges"]![1] == links[1]!["range"])
    #expect(backlink["context"] == "😀é [[é#x]] [[é]]")
  }

  @Test func `are found where they come from, the last changed first`() {
    let target = peer.create(["title": "T"])
    let first = peer.create(["title": "one", "text": "x\nsee [[t]]\nand [[T]]"])
    peer.create(["title": "two", "text": "[[T]]"])
    peer.create(["title": "code", "text": "`[[T]]`"])
    #expect(backlinks(target) == ["two 1", "one 2"])
    peer.call("note/append", ["id": .string(first), "text": " [[T]]"])
    #expect(backlinks(target) == ["one 3", "two 1"])
    let some = peer.call("note/backlinks", ["id": .string(target), "limit": 1])
    #expect(some["backlinks"]!.array!.count == 1 && some["more"] == true)
    #expect(some["backlinks"]![0]!["context"] == "see [[t]]")
    #expect(peer.call("note/backlinks", ["id": .string(target), "limit": 2])["more"] == false)
    // As another process sees it that has just begun.
    let next = Peer(scratch("notes"), seed: 2)
    next.initialize()
    #expect(next.call("note/backlinks", ["id": .string(target)])["backlinks"]!.array!.count == 2)
    peer.call("note/delete", ["id": .string(first)])
    #expect(backlinks(target) == ["two 1"])
    peer.call("note/delete", ["id": .string(target)])
    #expect(backlinks(target) == [])
  }

  @Test func `are resolved as they stand in a link, too`() {
    peer.create(["title": "Shopping"])
    peer.create(["title": "C#"])
    for text in ["shopping", " Shopping ", "Shopping#Today", "Shopping|the list", "shopping#x|y"] {
      #expect(resolve(text) == ("Shopping", ["Shopping"]), "\(text)")
    }
    #expect(resolve("C#").meant == "C#" && resolve("c").meant == "?")
    for text in ["", " ", "#", "]]", "[[", "none", String(repeating: "[[", count: 5000)] {
      #expect(resolve(text) == ("?", []), "\(text.prefix(9))")
    }
  }

  @Test func `that are refused`() {
    #expect(peer.ask("note/links", ["id": "x"]).error?.reason == "noSuchNote")
    #expect(peer.ask("note/backlinks", ["id": "x"]).error?.reason == "noSuchNote")
    #expect(peer.ask("note/rename", ["id": "x", "title": "a"]).error?.reason == "noSuchNote")
    let id = JSON.string(peer.create())
    for (method, wrong) in [
      ("note/links", [:]), ("note/backlinks", ["id": id, "limit": 0]), ("notebook/resolve", [:]),
      ("notebook/resolve", ["text": 1]), ("notebook/complete", [:]),
      ("notebook/complete", ["kind": "word"]), ("notebook/complete", ["kind": "tag", "prefix": 1]),
      ("notebook/complete", ["kind": "link", "limit": 0]), ("note/rename", ["id": id]),
      ("note/rename", ["id": id, "title": "a\nb"]),
      ("note/rename", ["id": id, "title": "a", "dryRun": 1]),
    ] as [(String, JSON)] {
      #expect(peer.ask(method, wrong).error?.code == -32602, "\(method) \(wrong)")
    }
    peer.call("note/delete", ["id": id])
    peer.call("note/purge", ["id": id])
    for method in ["note/links", "note/backlinks"] {
      #expect(peer.ask(method, ["id": id]).error?.reason == "purged")
    }
  }

  // MARK: - What there is to link to

  private func complete(_ prefix: String, _ kind: String = "link", limit: Int? = nil) -> [String] {
    var params: [String: JSON] = ["prefix": .string(prefix), "kind": .string(kind)]
    if let limit { params["limit"] = JSON(limit) }
    return peer.call("notebook/complete", JSON(params))["results"]!.array!.map { result in
      result["label"]!.string! + (result["target"].map { " → \($0.string!)" } ?? "")
    }
  }

  @Test func `are completed: titles and aliases that begin so`() throws {
    try write("---\naliases: [Café, sea]\n---\n# Ocean\n", "a.md")
    _ = bring()
    for title in ["sea shell", "Seal", "cafe", "xsea", ""] {
      peer.create(["title": .string(title)])
    }
    let twice = peer.create(["title": "seal"])
    let odd = peer.create(["title": "Sea#1 [x]"])
    let seals = peer.call("notebook/resolve", ["text": "seal"])["candidates"]!.array!.map {
      $0["id"]!.string!
    }
    let other = seals.first { $0 != twice }!
    #expect(
      complete("SEA") == [
        "sea → sea", "sea shell → sea shell", "Sea#1 [x] → \(odd)", "Seal → \(other)|Seal",
        "seal → \(twice)|seal",
      ])
    #expect(
      complete("caf") == ["cafe → cafe", "Café → Café"]
        && complete("cafe\u{301}") == ["Café → Café"])
    #expect(complete("").count == 9 && complete("", limit: 2) == ["cafe → cafe", "Café → Café"])
    #expect(complete("sea ") == ["sea shell → sea shell"] && complete("nothing") == [])
    peer.call("note/delete", ["id": .string(twice)])
    #expect(complete("seal") == ["Seal → Seal"])
    for number in 0..<110 { peer.create(["title": .string("many \(number + 100)")]) }
    #expect(complete("many").count == 100 && complete("many", limit: 200).count == 110)
  }

  @Test func `are completed by their letters, whatever signs stand before these`() {
    for title in ["🦊 Foxes", "«Fox» tales", "[fox] list", "\"fox\"", "fox", "a fox", "-1"] {
      peer.create(["title": .string(title)])
    }
    func labels(_ prefix: String) -> [String] {
      complete(prefix).map { $0.components(separatedBy: " → ")[0] }
    }
    #expect(labels("fox") == ["\"fox\"", "[fox] list", "fox", "«Fox» tales", "🦊 Foxes"])
    #expect(labels("🦊") == ["🦊 Foxes"] && labels("[f") == ["[fox] list"] && labels("1") == ["-1"])
    #expect(complete("fox", limit: 2).count == 2)
  }

  @Test func `and tags are completed and counted`() {
    let a = peer.create(["tags": ["home", "Work"]])
    peer.create(["tags": ["home", "é"]])
    let c = peer.create(["tags": ["Homework", "e\u{301}"]])
    func tags() -> [String] {
      peer.call("notebook/tags")["tags"]!.array!.map {
        "\($0["tag"]!.string!) \($0["count"]!.integer!)"
      }
    }
    #expect(complete("HO", "tag") == ["home", "Homework"] && complete("é", "tag") == ["é"])
    #expect(
      complete("", "tag") == ["home", "Homework", "Work", "é"]
        && complete("h", "tag", limit: 1) == ["home"])
    #expect(tags() == ["Homework 1", "Work 1", "home 2", "é 2"])
    peer.call("note/delete", ["id": .string(a)])
    peer.call("note/update", ["id": .string(c), "tags": ["remove": ["é"]]])
    #expect(tags() == ["Homework 1", "home 1", "é 1"])
  }

  // MARK: - Against a look at all notes

  @Test(arguments: seeds(8)) func `are what a look at all notes finds`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let names = ["a", "A", "b", "é", "e\u{301}", "c d", "C D", "x"]
    var ids: [String] = []
    for _ in 0..<20 {
      let text = (0..<random.below(6)).map { _ in
        let name = ids.isEmpty || random.chance(85) ? random.pick(names) : random.pick(ids)
        return "[[\(name)]]"
      }.joined(separator: " and ")
      ids.append(peer.create(["title": .string(random.pick(names)), "text": .string(text)]))
    }
    for id in ids where random.chance(15) { peer.call("note/delete", ["id": .string(id)]) }
    let live = peer.list()
    let titles = Dictionary(
      uniqueKeysWithValues: live.map { id in
        (id, peer.call("note/get", ["id": .string(id)])["note"]!["title"]!.string!.lowercased())
      })
    func meant(_ name: String) -> String? {
      if live.contains(name) { return name }
      let notes = live.filter { titles[$0] == name.lowercased() }
      return notes.count == 1 ? notes[0] : nil
    }
    var expected: [String: Set<String>] = [:]
    for id in live {
      let text = peer.text(id)
      let targets = text.matches(of: /\[\[([^\]]*)\]\]/).map { String($0.1) }
      let links = peer.call("note/links", ["id": .string(id)])["links"]!.array!
      #expect(links.map { $0["id"]?.string } == targets.map(meant), at(seed))
      for target in targets {
        if let note = meant(target) { expected[note, default: []].insert(id) }
      }
    }
    for id in live {
      let found = peer.call("note/backlinks", ["id": .string(id)])["backlinks"]!.array!
      #expect(Set(found.map { $0["note"]!["id"]!.string! }) == expected[id] ?? [], at(seed))
    }
  }
}
