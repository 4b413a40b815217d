import Foundation
import TestSupport
import Testing

@Suite
struct `Search` {
  let scratch = TemporaryFolder()
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1)
    peer.initialize()
  }

  private func search(_ query: String, _ more: [String: JSON] = [:]) -> JSON {
    peer.call(
      "notebook/search", JSON(more.merging(["query": .string(query)], uniquingKeysWith: { $1 })))
  }

  private func found(_ query: String) -> [String] {
    search(query)["matches"]!.array!.map { $0["note"]!["title"]!.string! }
  }

  /// What has the query as it stands.
  private func foundText(_ query: String) -> [String] {
    search(query, ["mode": "text"])["matches"]!.array!.map { $0["note"]!["title"]!.string! }
  }

  private func range(_ line: Int, _ start: Int, _ end: Int) -> JSON {
    [
      "start": ["line": JSON(line), "character": JSON(start)],
      "end": ["line": JSON(line), "character": JSON(end)],
    ]
  }

  @Test func `finds words of a header, and tells the lines`() throws {
    try FileManager.default.createDirectory(
      atPath: scratch("in"), withIntermediateDirectories: true)
    let header =
      "---\naliases: [Zebra crossing]\nsource: https://example.org/quagga\ntags: [home]\n---\n"
    try (header + "Text\n").write(toFile: scratch("in/a.md"), atomically: true, encoding: .utf8)
    try "---\nNote: call Ben\nx: {y: 1}\npriority: {a: b}\n---\nMore quagga\n"
      .write(toFile: scratch("in/b.md"), atomically: true, encoding: .utf8)
    peer.call("notebook/import", ["path": .string(scratch("in"))])
    #expect(found("zebra") == ["a"] && found("QUAGGA") == ["a", "b"] && found("ben") == ["b"])
    #expect(
      found("quagga text") == ["a"] && found("zebra -crossing") == [] && found("-zebra") == ["b"])
    // Names of fields, and what is looked for elsewhere.
    for query in ["aliases", "source", "home", "note", "title:zebra"] {
      #expect(found(query) == [])
    }
    let match = search("zebra")["matches"]![0]!
    #expect(match["headerLines"] == ["[Zebra crossing]"] && match["snippet"] == "[Zebra crossing]")
    #expect(match["ranges"] == [] && match["titleRanges"] == [])
    let both = search("quagga")["matches"]!.array!
    #expect(both[0]["headerLines"] == ["https://example.org/quagga"])
    #expect(both[1]["headerLines"] == nil && both[1]["snippet"] == "More quagga")
    // What it has is told.
    let ids = peer.list()
    let one = peer.call("note/get", ["id": .string(ids[0])])
    #expect(one["header"]?.string == header && one["headerIssues"] == nil)
    #expect(peer.call("note/get", ["id": .string(ids[1])])["headerIssues"] == ["priority"])
    let plain = peer.create(["title": "c"])
    let three = peer.call("note/get", ["id": .string(plain)])
    #expect(three["header"] == nil && three["headerIssues"] == nil)
  }

  @Test func `finds tags below the one that is looked for, without blanks at their ends`() {
    _ = peer.create(["title": "a", "tags": ["work/alpha", " hobbies "]])
    _ = peer.create(["title": "b", "tags": ["work"]])
    _ = peer.create(["title": "c", "tags": ["workshop"]])
    #expect(found("tag:work") == ["b", "a"] && found("-tag:work") == ["c"])
    #expect(found("tag:work/alpha") == ["a"] && found("tag:alpha") == [] && found("tag:wor") == [])
    #expect(found("tag:hobbies") == ["a"] && found("tag:\" hobbies\"") == ["a"])
    for (tag, count) in [("work", 2), ("work/alpha", 1), ("hobbies", 1), ("alpha", 0)] {
      #expect(peer.list(["tags": [.string(tag)]]).count == count, "\(tag)")
    }
    #expect(peer.ask("note/create", ["tags": [" "]]).error?.code == -32602)
    peer.call(
      "note/update",
      ["id": .string(peer.list()[2]), "tags": ["add": ["  x"], "remove": ["hobbies"]]])
    #expect(found("tag:x") == ["a"] && found("tag:hobbies") == [])
  }

  @Test func `finds text whatever its case and marks, in title and text`() {
    _ = peer.create(["title": "Café", "text": "Straße nach Ångström\nΟΔΥΣΣΕΥΣ"])
    _ = peer.create(["title": "Other", "text": "cafe\u{301}, crème brûlée"])
    _ = peer.create(["title": "Third", "text": "nothing"])
    #expect(found("CAFÉ") == ["Other", "Café"])
    #expect(found("cafe") == ["Other", "Café"])
    for query in ["strasse", "STRAẞE", "angstrom", "Οδυσσευς", "nach A"] {
      #expect(found(query) == ["Café"] && foundText(query) == ["Café"], "\(query)")
    }
    #expect(found("a nach") == ["Café"] && foundText("a nach") == [])
    #expect(found("creme Brulee") == ["Other"])
    #expect(found("th") == ["Third", "Other"] || found("th") == ["Third", "Other", "Café"])
    #expect(found("cafes") == [])
  }

  @Test(arguments: ["utf-8", "utf-16", "utf-32"])
  func `tells where, in the units agreed on`(encoding: String) {
    let peer = Peer(scratch(encoding), seed: 2)
    peer.initialize(encoding: encoding)
    _ = peer.create(["title": "x E\u{301}", "text": "😀é e\u{301}\u{302}x\n\nßse"])
    let match = peer.call("notebook/search", ["query": "E"])["matches"]![0]!
    let unit = ["utf-8": (4, 2, 2), "utf-16": (2, 1, 1), "utf-32": (1, 1, 1)][encoding]!
    let (face, e, mark) = unit
    #expect(match["titleRanges"] == [range(0, 2, 3 + mark)])
    #expect(
      match["ranges"] == [
        range(0, face, face + e), range(0, face + e + 1, face + e + 2 + 2 * mark),
        range(2, e + 1, e + 2),
      ])
    #expect(match["snippet"]?.string == "😀é e\u{301}\u{302}x")
    let sharp = peer.call("notebook/search", ["query": "s"])["matches"]![0]!["ranges"]!
    #expect(sharp == [range(2, 0, e), range(2, e, e + 1)])
    #expect(
      peer.call("notebook/search", ["query": "sss"])["matches"]![0]!["ranges"]! == [
        range(2, 0, e + 1)
      ])
  }

  @Test func `shows the line of the first match`() {
    let long = String(repeating: "é", count: 500)
    let id = peer.create([
      "title": "T", "text": .string("\n  \nfirst line\n\(long)needle\(long)\nend"),
    ])
    func snippet(_ query: String) -> String { search(query)["matches"]![0]!["snippet"]!.string! }
    #expect(snippet("T") == "first line")
    #expect(snippet("line") == "first line")
    #expect(snippet("end") == "end")
    let part = snippet("needle")
    #expect(part.contains("needle") && part.utf8.count <= 240 && part.hasPrefix("é"))
    #expect(search("first")["matches"]![0]!["note"]!["id"]?.string == id)
    _ = peer.create(["title": "Empty"])
    #expect(snippet("Empty") == "")
  }

  @Test func `leaves the trash out, and keeps the user's order`() {
    let ids = (0..<5).map { peer.create(["title": .string("Note \($0)"), "text": "same"]) }
    peer.call("note/move", ["id": .string(ids[0]), "index": 0])
    peer.call("note/delete", ["id": .string(ids[3])])
    #expect(found("same") == ["Note 0", "Note 4", "Note 2", "Note 1"])
    let some = search("same", ["limit": 2])
    #expect(some["matches"]!.array!.count == 2 && some["more"] == true)
    #expect(search("same", ["limit": 4])["more"] == false)
    peer.call("note/setText", ["id": .string(ids[4]), "text": "other"])
    #expect(found("same") == ["Note 0", "Note 2", "Note 1"])
    peer.call("note/restore", ["id": .string(ids[3])])
    #expect(found("same") == ["Note 0", "Note 3", "Note 2", "Note 1"])
  }

  @Test func `refuses what can't be looked for`() {
    for wrong in [
      [:], ["query": ""], ["query": "\u{301}"], ["query": 1],
      ["query": "a", "limit": 0], ["query": .string(String(repeating: "a", count: 1001))],
      ["query": " "], ["query": "\"\""], ["query": "a \u{301}"], ["query": "author:ben"],
      ["query": "is:open"], ["query": "a", "mode": "regex"], ["query": "a", "mode": 1],
      ["query": "", "mode": "text"], ["query": "\u{301}", "mode": "text"],
      ["query": "a", "tag": "x"], ["query": "a", "requestKey": "x"],
    ] as [JSON] {
      #expect(peer.ask("notebook/search", wrong).error?.code == -32602, "\(wrong)")
    }
    #expect(
      peer.ask("notebook/search", ["query": "author:ben"]).error?.message.contains("author:")
        == true)
    // As text it is looked for.
    #expect(search("author:ben is:open", ["mode": "text"])["matches"] == [])
    #expect(search("\"author:ben\"")["matches"] == [])
  }

  @Test func `looks for words, phrases and filters, and for what isn't there`() {
    let a = peer.create([
      "title": "Oat cakes", "text": "butter, oat milk", "tags": ["Baking", "é"],
    ])
    _ = peer.create(["title": "Milk", "text": "oat or soy", "tags": ["at home"]])
    _ = peer.create(["title": "Soy", "text": "milk oat", "tags": ["baking day"]])
    #expect(found("oat milk") == ["Soy", "Milk", "Oat cakes"])
    #expect(found("\"oat milk\"") == ["Oat cakes"])
    #expect(found("oat -butter") == ["Soy", "Milk"] && found("-oat") == [])
    #expect(found("-\"oat milk\" milk") == ["Soy", "Milk"])
    #expect(found("title:oat") == ["Oat cakes"] && found("title:MIL") == ["Milk"])
    #expect(found("milk -title:milk") == ["Soy", "Oat cakes"])
    #expect(found("tag:baking") == ["Oat cakes"] && found("tag:\"baking day\"") == ["Soy"])
    #expect(found("tag:e\u{301} tag:baking") == ["Oat cakes"] && found("tag:bak") == [])
    #expect(found("-tag:baking") == ["Soy", "Milk"] && found("tag:\"at home\" soy") == ["Milk"])
    #expect(found("is:trashed") == [] && found("butter is:trashed") == [])
    peer.call("note/delete", ["id": .string(a)])
    #expect(found("is:trashed") == ["Oat cakes"] && found("-is:trashed oat") == ["Soy", "Milk"])
    #expect(found("butter is:trashed") == ["Oat cakes"] && found("butter") == [])
    #expect(found("soy is:trashed") == [])
    peer.call("note/purge", ["id": .string(a)])
    #expect(found("is:trashed") == [])
  }

  @Test func `tells of each word where it is`() {
    _ = peer.create(["title": "Milk oat", "text": "oat, milk\nmilkoat oatmilk", "tags": ["x"]])
    let match = search("milk oat title:ilk tag:x")["matches"]![0]!
    #expect(match["titleRanges"] == [range(0, 0, 4), range(0, 5, 8)])
    #expect(
      match["ranges"] == [
        range(0, 0, 3), range(0, 5, 9), range(1, 0, 4), range(1, 4, 7), range(1, 8, 11),
        range(1, 11, 15),
      ])
    #expect(match["snippet"]?.string == "oat, milk")
    let overlapping = search("oatm tmilk lko")["matches"]![0]!
    #expect(overlapping["ranges"] == [range(1, 2, 5), range(1, 8, 15)])
    // A word inside of another one takes nothing off it.
    let within = search("milkoat oatmilk lk")["matches"]![0]!
    #expect(within["ranges"] == [range(0, 7, 9), range(1, 0, 7), range(1, 8, 15)])
    let none = search("tag:x title:milk")["matches"]![0]!
    #expect(none["ranges"] == [] && none["titleRanges"] == [range(0, 0, 4)])
    _ = peer.create(["text": .string(String(repeating: "a b ", count: 2000))])
    #expect(search("a b")["matches"]![0]!["ranges"]!.array!.count == 1000)
  }

  @Test func `finds the same as a look at every note`() throws {
    var random = SplitMix64(seed: 3)
    let letters = [
      "a", "A", "ä", "á", "b", "ß", "s", "ς", "Σ", "σ", "\u{301}", " ", "\n", "가", "각", "😀", "I",
      "ı",
    ]
    func text(_ count: Int) -> String { (0..<count).map { _ in random.pick(letters) }.joined() }
    var ids: [String] = []
    for _ in 0..<60 {
      let title = text(3).unicodeScalars.filter { $0 != "\n" }.map { String($0) }.joined()
      ids.append(peer.create(["title": .string(title), "text": .string(text(random.below(40)))]))
      if random.chance(30) {
        peer.call(
          "note/update", ["id": .string(ids.last!), "tags": ["add": ["x", "y"], "remove": ["x"]]])
      }
      for _ in 0..<random.below(4) {
        let id = random.pick(ids)
        peer.call("note/setText", ["id": .string(id), "text": .string(text(random.below(40)))])
      }
    }
    let other = Peer(scratch("other"), seed: 4)
    other.initialize()
    other.merge(from: peer)
    for id in ids.prefix(20) {
      for one in [peer, other] {
        one.call("note/append", ["id": .string(id), "text": .string(text(4))])
      }
    }
    peer.merge(from: other)
    // A search changes nothing.
    let notes = peer.list().map { id in
      let note = peer.call("note/get", ["id": .string(id)])
      let (title, text) = (note["note"]!["title"]!.string!, note["text"]!.string!)
      return (id: id, text: text, folded: [naive(title), naive(text)])
    }
    let texts = Dictionary(uniqueKeysWithValues: notes.map { ($0.id, $0.text) })
    for _ in 0..<150 {
      let query = text(1 + random.below(3))
      let folded = naive(query)
      guard !folded.isEmpty else { continue }
      let expected = notes.filter { $0.folded.contains { $0.contains(folded) } }.map(\.id)
      let matches = search(query, ["mode": "text"])["matches"]!.array!
      #expect(matches.map { $0["note"]!["id"]!.string! } == expected, "\(query.debugDescription)")
      for match in matches {
        let text = texts[match["note"]!["id"]!.string!]!
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for range in match["ranges"]!.array! where range["start"]!["line"] == range["end"]!["line"]
        {
          let line = Array(lines[range["start"]!["line"]!.integer!].utf16)
          let part =
            line[range["start"]!["character"]!.integer!..<range["end"]!["character"]!.integer!]
          #expect(naive(String(decoding: part, as: UTF16.self)).contains(folded))
        }
      }
    }
  }

  @Test func `finds the same words as a look at every note`() throws {
    var random = SplitMix64(seed: 5)
    let words = ["oat", "Milk", "é", "E\u{301}a", "so", "oats", "s"]
    func some(_ count: Int) -> [String] { (0..<count).map { _ in random.pick(words) } }
    for number in 0..<40 {
      let id = peer.create([
        "title": .string(some(random.below(3)).joined(separator: " ")),
        "text": .string(some(random.below(5)).joined(separator: random.pick([" ", "", "\n"]))),
        "tags": .array(some(random.below(3)).map { .string($0) }),
      ])
      if number % 5 == 0 { peer.call("note/delete", ["id": .string(id)]) }
    }
    struct Known {
      var id: String
      var title: Scalars
      var text: Scalars
      var tags: [Scalars]
      var isTrashed: Bool
    }
    let known = [false, true].flatMap { isTrashed in
      peer.list(["trashed": .boolean(isTrashed)]).map { id in
        let note = peer.call("note/get", ["id": .string(id)])
        return Known(
          id: id, title: naive(note["note"]!["title"]!.string!), text: naive(note["text"]!.string!),
          tags: note["note"]!["tags"]!.array!.map { naive($0.string!) }, isTrashed: isTrashed)
      }
    }
    for _ in 0..<200 {
      var query: [String] = []
      var conditions: [(Known) -> Bool] = []
      for _ in 0..<1 + random.below(3) {
        let word = random.chance(70) ? random.pick(words) : some(2).joined(separator: " ")
        let folded = naive(word)
        let (field, isNegated) = (random.below(4), random.chance(30))
        query.append(
          (isNegated ? "-" : "") + ["", "", "title:", "tag:"][field]
            + (word.contains(" ") ? "\"\(word)\"" : word))
        conditions.append { note in
          let isThere =
            switch field {
            case 2: note.title.contains(folded)
            case 3: note.tags.contains(folded)
            default: note.title.contains(folded) || note.text.contains(folded)
            }
          return isThere != isNegated
        }
      }
      let isTrashed = random.chance(20)
      if isTrashed { query.append("is:trashed") }
      let expected = known.filter { note in
        note.isTrashed == isTrashed && conditions.allSatisfy { $0(note) }
      }.map(\.id)
      let text = query.joined(separator: " ")
      let found = search(text)["matches"]!.array!.map { $0["note"]!["id"]!.string! }
      #expect(found == expected, "\(text)")
    }
  }

  /// Folded by Foundation, as scalars: strings compare by characters.
  private func naive(_ text: String) -> Scalars { Scalars(text) }

  struct Scalars: Equatable {
    let scalars: [Unicode.Scalar]
    var isEmpty: Bool { scalars.isEmpty }

    init(_ text: String) {
      let folded = text.decomposedStringWithCanonicalMapping.lowercased().uppercased().lowercased()
        .decomposedStringWithCanonicalMapping
      let letters = folded.unicodeScalars.filter {
        $0.properties.generalCategory != .nonspacingMark
      }.map { String($0 == "ς" ? "σ" : $0) }.joined()
      // A syllable of Hangul is one letter.
      scalars = Array(letters.precomposedStringWithCanonicalMapping.unicodeScalars)
    }

    func contains(_ other: Scalars) -> Bool {
      scalars.indices.contains { scalars[$0...].starts(with: other.scalars) }
    }
  }

  // MARK: - In pieces

  @Test func `answers late where there is much to look through, and can be stopped`() {
    let text = String(repeating: "lorem ipsum dolor sit amet\n", count: 40_000)
    for _ in 0..<3 { _ = peer.create(["text": .string(text + "needle")]) }
    let first = peer.send("notebook/search", ["query": "needle"])
    #expect(peer.answer(to: first) == nil)
    let second = peer.send("notebook/search", ["query": "nothing like it"])
    // Nothing is held up.
    #expect(peer.ask("notebook/list").error == nil)
    peer.notify("$/cancelRequest", ["id": JSON(first)])
    #expect(peer.answer(to: first)?.error?.code == -32800)
    let third = peer.send("notebook/search", ["query": "needle"])
    // It finds what was there when it was asked.
    for id in peer.list() { peer.call("note/setText", ["id": .string(id), "text": ""]) }
    #expect(peer.answer(to: third) == nil)
    var isDone = false
    for _ in 0..<1000 where !isDone {
      peer.work()
      isDone = peer.responses.contains { $0["id"]?.integer == third }
    }
    #expect(peer.answer(to: second)?.result?["matches"] == [])
    #expect(peer.answer(to: third)?.result?["matches"]?.array?.count == 3)
    #expect(found("needle") == [])
  }

  @Test func `is answered before the end`() {
    let text = String(repeating: "lorem ipsum dolor sit amet\n", count: 40_000)
    for _ in 0..<3 { _ = peer.create(["text": .string(text)]) }
    let id = peer.send("notebook/search", ["query": "amet", "limit": 1])
    peer.inputEnded()
    while peer.exitStatus == nil { peer.work() }
    let match = peer.answer(to: id)?.result?["matches"]?[0]
    #expect(match?["ranges"]?.array?.count == 1000)
  }

  @Test func `is given up a second after the end, and at once by an exit`() {
    let text = String(repeating: "lorem ipsum dolor sit amet\n", count: 40_000)
    for _ in 0..<3 { _ = peer.create(["text": .string(text)]) }
    let late = Peer(scratch("notes"), seed: 9)
    late.initialize()
    for peer in [peer, late] {
      let ids = (0..<3).map { _ in peer.send("notebook/search", ["query": "amet"]) }
      if peer === late { peer.inputEnded() } else { peer.notify("exit") }
      if peer === late {
        peer.wait(.zero)
        peer.wait(.milliseconds(999))
        #expect(!peer.hasAnswer(to: ids[2]))
        peer.wait(.milliseconds(1))
      }
      #expect(peer.exitStatus == 1)
      #expect(peer.answer(to: ids[2])?.error?.code == -32800)
    }
  }
}
