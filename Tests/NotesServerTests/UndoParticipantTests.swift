import TestSupport
import Testing

@testable import NotesServer

@Suite struct `What a participant did` {
  let scratch = TemporaryFolder()
  private static let start: Int64 = 1_767_225_600_000
  private static let hour: Int64 = 3_600_000
  /// Between what was there and what the participant does.
  private static let since: JSON = "2026-01-01T00:30:00Z"
  let ana: Peer
  let bot: Peer
  let ben: Peer

  init() {
    (ana, bot, ben) = Self.people(scratch("notes"), scratch("state"), seed: 1)
  }

  private static func people(
    _ folder: String, _ state: String, seed: UInt64
  ) -> (Peer, Peer, Peer) {
    let people = [("Ana", 0), ("bot", 1), ("Ben", 2)].map { name, hours in
      Peer(
        folder, seed: 3 * seed + UInt64(hours), clock: start + Int64(hours) * hour, state: state,
        name: name)
    }
    for peer in people { peer.initialize() }
    return (people[0], people[1], people[2])
  }

  /// Takes it back, and returns what became of which notes.
  @discardableResult
  private func undo(
    by name: String = "bot", since: JSON = since, _ more: [String: JSON] = [:], in peer: Peer? = nil
  ) -> [String: Set<String>] {
    let peer = peer ?? ben
    peer.folderChanged()
    let params = more.merging(["by": .string(name), "since": since], uniquingKeysWith: { $1 })
    let result = peer.call("notebook/undo", JSON(params))
    #expect(result["more"] == false && result["revision"]?.string == peer.revision)
    var notes: [String: Set<String>] = [:]
    for note in result["notes"]?.array ?? [] {
      notes[note["note"]!["id"]!.string!] = Set(note["what"]!.array!.map { $0.string! })
    }
    for other in [ana, bot, ben] { other.folderChanged() }
    return notes
  }

  private func title(_ id: String, in peer: Peer? = nil) -> String {
    (peer ?? ben).call("note/get", ["id": .string(id)])["note"]!["title"]!.string!
  }

  /// Everything that can be said of the notes, but for times; of those in the trash too.
  private static func state(_ peer: Peer) -> [String] {
    peer.folderChanged()
    var notes: [String] = []
    for trashed in [false, true] {
      let list = peer.call("notebook/list", ["trashed": .boolean(trashed)])["notes"]!.array!
      for note in list {
        let id = note["id"]!.string!
        notes.append(
          "\(id) \(trashed) \(note["title"]!) \(note["tags"]!) \(note["priority"]!) \(peer.text(id))"
        )
      }
    }
    return notes
  }

  // MARK: - All of it

  @Test func `is taken back, and nothing else`() {
    let (a, b) = (ana.create(["title": "a", "text": "milk", "tags": ["x"]]), ana.create())
    let c = ana.create(["title": "c"])
    let d = ana.create(["title": "d"])
    ana.call("note/delete", ["id": .string(c)])
    let before = Self.state(ana)
    bot.folderChanged()
    let new = bot.create(["title": "new", "text": "n"])
    bot.call("note/setText", ["id": .string(a), "text": "oat milk\neggs"])
    bot.call(
      "note/update",
      ["id": .string(a), "title": "A", "tags": ["y"] as JSON, "priority": "high"])
    bot.call("note/delete", ["id": .string(b)])
    bot.call("note/restore", ["id": .string(c)])
    bot.call("note/append", ["id": .string(c), "text": "c"])
    bot.call("note/move", ["id": .string(d), "index": 3])
    #expect(
      undo() == [
        new: ["trash"], a: ["text", "title", "tags", "priority"], b: ["restore"],
        c: ["trash"], d: ["move"],
      ])
    let after = Self.state(ben)
    #expect(
      after.filter { !$0.hasPrefix(new) && !$0.hasPrefix(c) } == before.filter { !$0.hasPrefix(c) })
    #expect(Set(ben.list(["trashed": true])) == [new, c])
    // A note that the participant made goes to the trash as it is.
    #expect(ben.text(new) == "n" && title(new) == "new")
    #expect(Self.state(ana) == after && Self.state(bot) == after)
  }

  @Test(arguments: seeds(6))
  func `leaves what was there, in random notebooks`(seed: UInt64) {
    let (ana, bot, ben) = Self.people(
      scratch("notes\(seed)"), scratch("state\(seed)"), seed: seed + 10)
    var random = SplitMix64(seed: seed)
    var notes = (0..<6).map { number in
      ana.create(["title": .string("t\(number)"), "text": .string("word\(number) more")])
    }
    ana.call("note/delete", ["id": .string(notes[0])])
    let before = Self.state(ana)
    bot.folderChanged()
    var made: Set<String> = []
    for step in 0..<40 {
      let id = JSON.string(random.pick(notes))
      switch random.below(9) {
      case 0:
        notes.append(bot.create(["title": .string("n\(step)")]))
        made.insert(notes.last!)
      case 1: bot.call("note/append", ["id": id, "text": .string(" \(step)")])
      case 2: bot.call("note/setText", ["id": id, "text": .string("all \(step) new")])
      case 3: bot.call("note/update", ["id": id, "title": .string("title \(step)")])
      case 4:
        bot.call(
          "note/update", ["id": id, "tags": .array([.string(random.pick(["x", "y", "z"]))])])
      case 5:
        bot.call("note/update", ["id": id, "priority": .string(random.pick(["low", "high"]))])
      case 6: bot.call("note/move", ["id": id, "index": JSON(random.below(bot.list().count))])
      case 7: bot.call("note/delete", ["id": id])
      default: bot.call("note/restore", ["id": id])
      }
    }
    ben.folderChanged()
    ben.call("notebook/undo", ["by": "bot", "since": Self.since])
    let trash = Set(ben.list(["trashed": true]))
    #expect(made.isSubset(of: trash), "seed \(seed)")
    let left = { (state: [String]) in
      // In the trash a note stays as it is.
      state.filter { !$0.contains(" true ") }
    }
    #expect(left(Self.state(ben)) == left(before), "seed \(seed)")
    #expect(trash.subtracting(made) == [notes[0]], "seed \(seed)")
    #expect(
      ben.call("notebook/undo", ["by": "bot", "since": Self.since])["notes"] == [], "seed \(seed)")
  }

  // MARK: - And what others did meanwhile

  @Test func `leaves what others wrote inside of it`() {
    let id = ana.create(["title": "a", "text": "one two"])
    bot.folderChanged()
    bot.call("note/setText", ["id": .string(id), "text": "one 1 2 3 4 two"])
    ana.folderChanged()
    ana.call("note/setText", ["id": .string(id), "text": "one 1 2 ANA 3 4 two"])
    #expect(undo() == [id: ["text"]])
    #expect(ben.text(id) == "one ANA two")
  }

  /// Each row: a text, what the participant inserts where, what another one inserts then, and what is left.
  @Test(arguments: [
    ("eggs", (4, "\nrobot was here\n"), (20, "by me"), "eggs\nby me"),
    ("eggs", (4, "\r\nrobot was here\r\n"), (22, "by me"), "eggs\r\nby me"),
    ("eggs", (4, " bread"), (10, "s"), "eggs s"),
    ("eggs", (4, " bread"), (8, "XY"), "eggs XY"),
    ("eggs milk", (4, " bread"), (7, "X"), "eggs X milk"),
    // Nobody has written beside it, so what was one line is one again, and what was one word.
    ("eggs", (2, "\nrobot\n"), (0, "by me "), "by me eggs"),
    ("eggs", (2, " robot "), (0, "by me "), "by me eggs"),
    // There is a line feed beside it, or no separator in it.
    ("eggs", (4, "\nrobot\n"), (11, "\nme"), "eggs\nme"),
    ("eggs", (4, "bread"), (9, "s"), "eggss"),
  ])
  func `leaves no lines or words of others joined`(
    text: String, robot: (Int, String), other: (Int, String), left: String
  ) {
    func insert(_ new: (Int, String), in peer: Peer) {
      peer.folderChanged()
      var text = peer.text(note)
      text.unicodeScalars.insert(
        contentsOf: new.1.unicodeScalars,
        at: text.unicodeScalars.index(text.unicodeScalars.startIndex, offsetBy: new.0))
      peer.call("note/setText", ["id": .string(note), "text": .string(text)])
    }
    let note = ana.create(["title": "Shopping", "text": .string(text)])
    insert(robot, in: bot)
    insert(other, in: ana)
    let before = ana.text(note)
    undo()
    #expect(ben.text(note) == left)
    // When that is taken back, the participant's text is there again, and no separator more.
    undo(by: "Ben", since: "2026-01-01T01:30:00Z")
    #expect(ben.text(note) == before)
  }

  /// Each row: a text, what the participant makes of it, what another one makes of that, and what is left.
  @Test(arguments: [
    ("Hello.\n", "Dear all,\n\nwelcome.\n", "Dear all,\n\nBen was here.\n\nwelcome.\n"),
    ("line one\n", "A\nB\n", "A\nX\nB\n"),
    (
      "The meeting is on Monday.", "The meeting is on Tuesday at ten.",
      "The meeting is on Tuesday at ten or eleven."
    ),
    ("buy milk today", "buy some butter today", "buy some good butter today"),
    ("two", "TWO by agent", "TWO by good agent"), ("old\n", "new text\n", "new text Ben\n"),
    ("été", "Winter here", "Winter is here"),
  ])
  func `comes back in one piece beside what others wrote in its place`(
    text: String, robot: String, other: String
  ) {
    let note = ana.create(["title": "Meeting", "text": .string(text)])
    for (peer, new) in [(bot, robot), (ana, other)] {
      peer.folderChanged()
      peer.call("note/setText", ["id": .string(note), "text": .string(new)])
    }
    let before = ana.text(note)
    undo()
    let left = ben.text(note)
    // The words of both, whole.
    let words = { (text: String) in text.split { " .\n".contains($0) }.map(String.init) }
    let added = words(other).filter { !words(robot).contains($0) }
    for word in words(text) + added {
      #expect(words(left).contains(word), "\(left): \(word)")
    }
    undo(by: "Ben", since: "2026-01-01T01:30:00Z")
    #expect(ben.text(note) == before)
  }

  @Test func `comes back around what others wrote there without having seen what replaced it`() {
    let note = ana.create(["title": "Meeting", "text": "Monday"])
    bot.folderChanged()
    let base = ana.revision
    bot.call("note/setText", ["id": .string(note), "text": "Winter"])
    // Made on the text that was replaced.
    ana.call("note/setText", ["id": .string(note), "text": "MXonday", "base": .string(base)])
    ana.folderChanged()
    undo()
    #expect(ben.text(note) == "MXonday")
  }

  @Test func `is left where another one has decided the same since`() {
    let note = ana.create(["title": "T"])
    let values: (JSON, JSON, JSON) = ("G", "high", ["x"])
    func update(_ peer: Peer, _ title: JSON, _ priority: JSON, _ tags: JSON) {
      peer.folderChanged()
      peer.call(
        "note/update",
        ["id": .string(note), "title": title, "priority": priority, "tags": tags])
    }
    update(bot, values.0, values.1, values.2)
    update(ana, "B", "low", [])
    update(ana, values.0, values.1, values.2)
    #expect(undo() == [:])
    let found = ben.call("note/get", ["id": .string(note)])["note"]!
    #expect(found["title"] == values.0 && found["priority"] == values.1)
    #expect(found["tags"] == values.2)
  }

  @Test func `goes to the trash although a part of it was taken back before`() {
    let note = bot.create(["title": "n", "text": "first\n"])
    bot.jumpClock(by: Self.hour / 4)
    bot.call("note/append", ["id": .string(note), "text": "second\n"])
    let part = undo(since: "2026-01-01T01:10:00Z")
    #expect(part == [note: ["text"]] && ben.text(note) == "first\n")
    #expect(undo() == [note: ["trash"]])
    #expect(ben.list(["trashed": true]) == [note])
  }

  @Test func `asked for again by who did it changes nothing, and keeps lines apart`() {
    let note = ana.create(["title": "n", "text": "head\n"])
    bot.folderChanged()
    bot.call("note/append", ["id": .string(note), "text": "a 1\na 2\n"])
    ana.folderChanged()
    ana.call("note/setText", ["id": .string(note), "text": "head\na 1 ben\na 2 ben\n"])
    #expect(undo(in: bot) == [note: ["text"]])
    let left = bot.text(note)
    #expect(left.hasPrefix("head\n") && left.split(separator: "\n").count == 3)
    for _ in 0..<3 {
      #expect(undo(in: bot) == [:])
      #expect(bot.text(note) == left)
    }
  }

  @Test func `leaves what others have changed since`() {
    let (a, b) = (ana.create(["title": "a"]), ana.create(["title": "b"]))
    let (c, d) = (ana.create(["title": "c"]), ana.create(["title": "d"]))
    bot.folderChanged()
    bot.call("note/update", ["id": .string(a), "title": "A", "tags": ["bot"], "priority": "low"])
    bot.call("note/delete", ["id": .string(b)])
    bot.call("note/move", ["id": .string(c), "index": 2])
    bot.call("note/delete", ["id": .string(d)])
    ana.folderChanged()
    ana.call("note/update", ["id": .string(a), "title": "Ana's", "tags": ["add": ["ana"]]])
    ana.call("note/restore", ["id": .string(b)])
    ana.call("note/delete", ["id": .string(b)])
    ana.call("note/move", ["id": .string(c), "index": 0])
    #expect(undo() == [a: ["tags", "priority"], d: ["restore"]])
    #expect(title(a) == "Ana's" && ben.list(["tags": ["ana"]]) == [a])
    #expect(ben.list(["tags": ["bot"]]) == [] && ben.list(["trashed": true]) == [b])
    #expect(ben.list().first == c)
  }

  @Test func `leaves a note that it made, if others have written in it, with what they wrote`() {
    bot.create(["title": "none"])
    let id = bot.create(["title": "bot's", "text": "bot was here"])
    ana.folderChanged()
    ana.call("note/setText", ["id": .string(id), "text": "bot ANA was here"])
    #expect(undo()[id] == ["text"])
    #expect(ben.text(id) == "ANA " && title(id) == "bot's" && ben.list() == [id])
  }

  @Test func `is what it did since then, under this name, with whatever program`() {
    let id = bot.create(["title": "a", "text": "1"])
    bot.call("note/append", ["id": .string(id), "text": " 2"])
    bot.jumpClock(by: Self.hour)
    bot.call("note/append", ["id": .string(id), "text": " 3"])
    let robot = Peer(scratch("notes"), seed: 77, clock: Self.start + 5 * Self.hour)
    robot.call(
      "initialize", ["clientInfo": ["name": "other"], "participant": ["name": "bot"]])
    robot.call("note/append", ["id": .string(id), "text": " 4"])
    let other = Peer(scratch("notes"), seed: 78, clock: Self.start + 5 * Self.hour, name: "bots")
    other.initialize()
    other.call("note/append", ["id": .string(id), "text": " 5"])
    #expect(undo(since: "2026-01-01T02:00:00Z") == [id: ["text"]])
    #expect(ben.text(id) == "1 2 5")
    #expect(undo(by: "nobody") == [:] && undo(since: "2027-01-01T00:00:00Z") == [:])
    // Without a zone it is local: here an hour ahead.
    #expect(undo(since: "2026-01-01 02:00") == [id: ["text"]] && ben.text(id) == " 5")
  }

  // MARK: - One change

  @Test func `may only be told`() {
    let id = ana.create(["text": "a"])
    bot.folderChanged()
    bot.call("note/append", ["id": .string(id), "text": "b"])
    let before = Self.state(ben)
    let revision = ben.revision
    let told = undo(["dryRun": true])
    #expect(told == [id: ["text"]] && ben.revision == revision && Self.state(ben) == before)
    #expect(undo() == told && ben.text(id) == "a")
  }

  @Test func `is taken back once, and comes back when that is taken back`() {
    let (a, b) = (ana.create(["title": "a", "text": "a"]), ana.create(["title": "b"]))
    bot.folderChanged()
    let new = bot.create(["title": "new"])
    bot.call("note/append", ["id": .string(a), "text": "b"])
    bot.call("note/update", ["id": .string(a), "title": "B"])
    bot.call("note/delete", ["id": .string(b)])
    let before = Self.state(ben)
    #expect(undo().count == 3)
    let revision = ben.revision
    #expect(undo() == [:] && ben.revision == revision)
    #expect(undo(by: "Ben") == [a: ["text", "title"], b: ["trash"], new: ["restore"]])
    #expect(Set(Self.state(ben)) == Set(before))
    // The title, and what is in the trash, is what Ben has decided.
    #expect(undo() == [a: ["text"]])
  }

  @Test func `may be one's own, and is taken back once then, too`() {
    let (a, b) = (bot.create(["title": "a", "text": "a"]), bot.create(["title": "b"]))
    bot.jumpClock(by: Self.hour)
    let new = bot.create(["title": "new"])
    bot.call("note/append", ["id": .string(a), "text": "b"])
    bot.call("note/update", ["id": .string(a), "title": "B"])
    bot.call("note/delete", ["id": .string(b)])
    bot.call("note/move", ["id": .string(a), "index": 0])
    let done = undo(since: "2026-01-01T01:30:00Z", in: bot)
    #expect(done == [a: ["text", "title", "move"], b: ["restore"], new: ["trash"]])
    #expect(bot.list() == [b, a] && bot.text(a) == "a" && title(a) == "a")
    #expect(undo(since: "2026-01-01T01:30:00Z", in: bot) == [:])
  }

  @Test func `is one step of those who have it open, who get one push`() {
    let (a, b) = (ana.create(["text": "a"]), ana.create(["text": "b"]))
    ben.folderChanged()
    let opened = [a, b].map { ben.call("note/open", ["id": .string($0), "mode": "edit"]) }
    bot.folderChanged()
    for id in [a, b] { bot.call("note/append", ["id": .string(id), "text": " bot"]) }
    bot.call("note/append", ["id": .string(a), "text": " more"])
    ben.folderChanged()
    ben.notifications = []
    undo()
    #expect(ben.take("note/edit").count == 2)
    #expect(ben.text(a) == "a" && ben.text(b) == "b")
    #expect(ben.call("note/undo", ["attachment": opened[0]["attachment"]!])["done"] == true)
    #expect(ben.text(a) == "a bot more" && ben.text(b) == "b bot")
    #expect(ana.take("notebook/didChange").count > 0)
  }

  @Test(
    arguments: [
      ["by": "bot"], ["since": "2026-01-01"], ["by": "", "since": "2026-01-01"],
      ["by": 1, "since": "2026-01-01"], ["by": "bot", "since": "yesterday"],
      ["by": "bot", "since": 1], ["by": "bot", "since": "2026-02-30"],
      ["by": "bot", "since": "2026-01-01", "dryRun": 1],
    ] as [JSON])
  func `is asked for by a name and a time`(params: JSON) {
    let error = ben.ask("notebook/undo", params).error
    #expect(error?.code == -32602)
  }
}
