import TestSupport
import Testing

@testable import NotesServer

@Suite struct `A note that is renamed` {
  let scratch = TemporaryFolder()
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1, state: scratch("state"))
    peer.initialize()
  }

  @discardableResult
  private func rename(_ id: String, _ title: String, _ more: [String: JSON] = [:]) -> JSON {
    peer.call(
      "note/rename",
      JSON(more.merging(["id": .string(id), "title": .string(title)], uniquingKeysWith: { $1 })))
  }

  private func title(_ id: String) -> String {
    peer.call("note/get", ["id": .string(id)])["note"]!["title"]!.string!
  }

  private func titles(_ result: JSON, _ name: String) -> [String] {
    result[name]!.array!.map { "\($0["note"]!["title"]!.string!) \($0["ranges"]!.array!.count)" }
      .sorted()
  }

  @Test func `takes the links along that mean it by its title`() {
    let note = peer.create(["title": "Shopping", "text": "me: [[shopping]]"])
    let other = peer.create([
      "title": "O",
      "text": .string(
        "[[Shopping]] [[ SHOPPING |list]] [[shopping#Today]] `[[Shopping]]` [[\(note)]] [[Shop]]"),
    ])
    let before = peer.call("notebook/status")["version"]!.string!
    let result = rename(note, "Errands")
    #expect(title(note) == "Errands" && peer.text(note) == "me: [[Errands]]")
    #expect(
      peer.text(other)
        == "[[Errands]] [[ Errands |list]] [[Errands#Today]] `[[Shopping]]` [[\(note)]] [[Shop]]")
    #expect(titles(result, "updated") == ["Errands 1", "O 3"] && titles(result, "ambiguous") == [])
    #expect(result["note"]?["title"] == "Errands" && result["revision"]?.string == peer.revision)
    #expect(result["more"] == false)
    // One change.
    let number = { (version: String) in Int(version.split(separator: ".").last!)! }
    #expect(number(peer.call("notebook/status")["version"]!.string!) == number(before) + 1)
    // The same title changes nothing.
    let revision = peer.revision
    #expect(rename(note, "Errands")["updated"] == [] && peer.revision == revision)
  }

  @Test func `leaves alone what may mean another note, and tells of it`() {
    let note = peer.create(["title": "Milk"])
    let twin = peer.create(["title": "milk"])
    let other = peer.create(["title": "O", "text": .string("x [[Milk]] [[\(note)]]")])
    let result = rename(note, "Oat milk")
    #expect(title(note) == "Oat milk" && peer.text(other) == "x [[Milk]] [[\(note)]]")
    #expect(titles(result, "updated") == [] && titles(result, "ambiguous") == ["O 1"])
    #expect(result["ambiguous"]![0]!["context"]?.string == "x [[Milk]] [[\(note)]]")
    // Now the other one is meant.
    let next = rename(twin, "Soy milk")
    #expect(titles(next, "updated") == ["O 1"] && peer.text(other) == "x [[Soy milk]] [[\(note)]]")
  }

  @Test func `is linked to by its id where its title can't be written, or is another's, too`() {
    let note = peer.create(["title": "a"])
    let other = peer.create(["title": "O", "text": "[[a]] [[a#h]] [[a|w]]\n| [[a]] | x |"])
    rename(note, "C# [1]")
    #expect(peer.text(other) == "[[\(note)]] [[\(note)#h]] [[\(note)|w]]\n| [[\(note)]] | x |")
    peer.call("note/setText", ["id": .string(other), "text": "[[C]] [[b]]"])
    rename(note, "b")
    peer.call(
      "note/setText", ["id": .string(other), "text": "[[b]] [[b#h]] [[b|w]]\n| [[b]] | x |"])
    rename(note, "C#")
    #expect(
      peer.text(other)
        == "[[\(note)|C#]] [[\(note)#h|C#]] [[\(note)|w]]\n| [[\(note)\\|C#]] | x |")
    rename(note, "c")
    peer.call("note/setText", ["id": .string(other), "text": "[[c]]"])
    peer.create(["title": "D"])
    rename(note, "d")
    #expect(peer.text(other) == "[[\(note)|d]]")
    #expect(peer.call("note/links", ["id": .string(other)])["links"]![0]!["id"]?.string == note)
    rename(note, "")
    #expect(title(note) == "")
  }

  @Test func `may leave its links alone, or only say what would be done`() {
    let note = peer.create(["title": "a"])
    let other = peer.create(["title": "O", "text": "[[a]]"])
    let revision = peer.revision
    let dry = rename(note, "b", ["dryRun": true])
    #expect(titles(dry, "updated") == ["O 1"] && dry["note"]?["title"] == "a")
    #expect(peer.revision == revision && peer.text(other) == "[[a]]")
    let bare = rename(note, "b", ["updateLinks": false])
    #expect(titles(bare, "updated") == [] && title(note) == "b" && peer.text(other) == "[[a]]")
    // In the trash it is nobody's target.
    peer.call("note/update", ["id": .string(note), "title": "a"])
    peer.call("note/delete", ["id": .string(note)])
    #expect(titles(rename(note, "c"), "updated") == [] && peer.text(other) == "[[a]]")
  }

  @Test func `keeps what others write into the notes meanwhile`() {
    let note = peer.create(["title": "a"])
    let id = peer.create(["title": "O", "text": "[[a]]"])
    let other = Peer(scratch("other"), seed: 2)
    other.initialize()
    other.merge(from: peer)
    other.call("note/setText", ["id": .string(id), "text": "new [[a]] words"])
    rename(note, "b")
    peer.merge(from: other)
    #expect(peer.text(id) == "new [[b]] words")
  }

  // MARK: - Undo

  private func open(_ id: String) -> JSON {
    peer.call("note/open", ["id": .string(id), "mode": "edit"])["attachment"]!
  }

  @discardableResult
  private func turn(_ direction: String, _ attachment: JSON) -> Bool {
    peer.call("note/\(direction)", ["attachment": attachment])["done"] == true
  }

  @Test func `is one step for whoever has it open, or a note that links to it`() {
    let note = peer.create(["title": "a", "text": "[[a]]"])
    let one = peer.create(["title": "1", "text": "[[a]] one"])
    let two = peer.create(["title": "2", "text": "[[a]] two"])
    let third = peer.create(["title": "3", "text": "nothing"])
    let (own, other, stranger) = (open(note), open(one), open(third))
    func state() -> [String] { [title(note), peer.text(note), peer.text(one), peer.text(two)] }
    let (before, after) = (
      ["a", "[[a]]", "[[a]] one", "[[a]] two"], ["b", "[[b]]", "[[b]] one", "[[b]] two"]
    )
    rename(note, "b")
    #expect(state() == after)
    #expect(peer.stepCount(.undo, of: stranger.integer!) == 0)
    peer.notifications = []
    #expect(turn("undo", own) && state() == before)
    // The client is told of what it doesn't show.
    let told = peer.take("notebook/didChange").flatMap { $0["changed"]!.array! }
    #expect(Set(told.map { $0["id"]!.string! }) == [note, one, two])
    #expect(peer.take("note/edit").count == 2)
    // The other one has nothing more to take back.
    #expect(!turn("undo", other) && state() == before)
    #expect(turn("redo", own) && state() == after)
    #expect(turn("undo", other) && state() == before)
    #expect(turn("redo", other) && state() == after)
    peer.call("note/append", ["id": .string(one), "text": " more"])
    #expect(turn("undo", own) && state() == ["a", "[[a]]", "[[a]] one more", "[[a]] two"])
  }

  @Test func `is taken back as far as nobody has written anything else there since`() {
    let note = peer.create(["title": "a"])
    let one = peer.create(["title": "1", "text": "[[a]]"])
    let two = peer.create(["title": "2", "text": "[[a]]"])
    let own = open(note)
    rename(note, "b")
    peer.call("note/update", ["id": .string(note), "title": "c"])
    peer.call("note/delete", ["id": .string(two)])
    #expect(turn("undo", own))
    #expect(title(note) == "c" && peer.text(one) == "[[a]]" && peer.text(two) == "[[b]]")
    #expect(peer.list(["trashed": true]) == [two])
    #expect(turn("redo", own) && title(note) == "c" && peer.text(one) == "[[b]]")
  }

  @Test func `is a step also where no note links to it, and after the server has died`() {
    let note = peer.create(["title": "a", "text": "x"])
    let one = peer.create(["title": "1", "text": "[[b]]"])
    let opened = peer.call("note/open", ["id": .string(note), "mode": "edit"])
    rename(note, "b")
    rename(note, "c")
    #expect(turn("undo", opened["attachment"]!) && title(note) == "b" && peer.text(one) == "[[b]]")
    let next = Peer(scratch("notes"), seed: 2, state: scratch("state"))
    next.initialize()
    let resumed = next.call(
      "note/open",
      [
        "id": .string(note), "mode": "edit",
        "resume": ["session": opened["session"]!, "version": 0, "rev": 0, "text": "x"],
      ])
    #expect(resumed["resumed"] == "exact")
    #expect(next.call("note/redo", ["attachment": resumed["attachment"]!])["done"] == true)
    #expect(next.text(one) == "[[c]]")
    for _ in 0..<2 { next.call("note/undo", ["attachment": resumed["attachment"]!]) }
    let last = next.call("note/get", ["id": .string(note)])["note"]!
    #expect(last["title"] == "a" && next.text(one) == "[[b]]")
  }

  @Test(arguments: seeds(8)) func `and undone it is all what it was, in random notebooks`(
    seed: UInt64
  ) {
    let peer = Peer(scratch("\(seed)"), seed: seed)
    peer.initialize()
    var random = SplitMix64(seed: seed)
    let names = ["a", "b", "c#", "d e", "[f]", "é"]
    for _ in 0..<6 {
      let text = (0..<random.below(4)).map { _ in "[[\(random.pick(names))]]" }.joined(
        separator: " ")
      peer.create(["title": .string(random.pick(names)), "text": .string(text)])
    }
    let ids = peer.list()
    func state() -> [JSON] {
      ids.map { id in
        let note = peer.call("note/get", ["id": .string(id)])
        return [note["note"]!["title"]!, note["text"]!]
      }
    }
    /// What each link means.
    func meanings() -> [JSON] {
      ids.flatMap { id in
        peer.call("note/links", ["id": .string(id)])["links"]!.array!.map { $0["id"]! }
      }
    }
    let attachments = ids.map {
      peer.call("note/open", ["id": .string($0), "mode": "edit"])["attachment"]!
    }
    for step in 0..<15 {
      let (index, before, meant) = (random.below(ids.count), state(), meanings())
      peer.call(
        "note/rename", ["id": .string(ids[index]), "title": .string(random.pick(names))])
      let after = state()
      // What meant the note means it still.
      for (old, new) in zip(meant, meanings()) where old.string == ids[index] {
        #expect(new == old, at(seed, step))
      }
      if before == after { continue }
      #expect(
        peer.call("note/undo", ["attachment": attachments[index]])["done"] == true, at(seed, step))
      #expect(state() == before, at(seed, step))
      if random.chance(70) {
        peer.call("note/redo", ["attachment": attachments[index]])
        #expect(state() == after, at(seed, step))
      }
    }
  }
}
