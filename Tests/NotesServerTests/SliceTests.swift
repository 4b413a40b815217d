import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore
@testable import NotesServer

/// Very much that other processes have written comes while a client types.
@Suite struct `A large merge` {
  /// The work that is done before a client that types is answered: that of a slice, and of the change with which it ends.
  private static let mostWork = NoteStore.slice + 64
  private static let count = 1_000
  private static let edits = 600

  let scratch = TemporaryFolder()
  let ana: Peer
  let note: String
  let attachment: JSON

  init() {
    ana = Peer(scratch("notes"), seed: 1, state: scratch("state"))
    ana.initialize()
    note = ana.create(["text": "[]"])
    attachment = ana.call("note/open", ["id": .string(note), "mode": "edit"])["attachment"]!
    ana.wait(.zero)
    ana.notifications = []
  }

  /// Another process creates very many notes.
  private func write(_ count: Int = Self.count) throws {
    var random = SplitMix64(seed: 2)
    let store = try NoteStore(path: scratch("notes")) {
      Identifier(high: random.next(), low: random.next())
    }
    for _ in 0..<count {
      let id = NoteID(creation: store.notebook.next(by: try store.nextSession()))
      try store.commit([.create, .place(store.notebook.placement(of: id, at: 0))], at: 0)
    }
  }

  /// Types a character in front of the text; returns the work of merging that was done before the answer.
  private func type(_ version: Int, rev: Int = 0) -> Int {
    let before = ana.merging.work
    let start: JSON = ["line": 0, "character": 0]
    let id = ana.send(
      "note/change",
      [
        "attachment": attachment, "version": JSON(version), "rev": JSON(rev),
        "ranges": [["range": ["start": start, "end": start], "newText": "x"]],
      ])
    #expect(ana.answer(to: id)?.error == nil, "it is answered at once")
    return ana.merging.work - before
  }

  @Test func `is done in slices, between which what is typed is answered`() throws {
    try write()
    var (version, most) = (0, 0)
    repeat {
      version += 1
      most = max(most, type(version))
      let before = ana.merging.work
      ana.work()
      most = max(most, ana.merging.work - before)
      if ana.merging.isMore { #expect(ana.take("notebook/didChange") == [], "not told in between") }
    } while ana.merging.isMore
    #expect(version > 3 && most <= Self.mostWork)
    #expect(ana.merging.work > 3 * Self.count)
    ana.work()
    let told = ana.take("notebook/didChange").flatMap { $0["changed"]!.array! }
    #expect(told.count == Self.count)
    #expect(ana.list(["limit": 5_000]).count == Self.count + 1)
    #expect(ana.text(note) == String(repeating: "x", count: version) + "[]")
    let other = Peer(scratch("notes"), seed: 3)
    other.initialize()
    #expect(other.revision == ana.revision && other.text(note) == ana.text(note))
  }

  @Test(arguments: ["notebook/list", "notebook/status", "note/get", "note/create", "note/undo"])
  func `is done to its end before a request that needs all of it`(method: String) throws {
    try write()
    #expect(type(1) <= Self.mostWork && ana.merging.isMore)
    let params: [String: JSON] = [
      "notebook/list": ["limit": 5_000], "note/get": ["id": .string(note)],
      "note/undo": ["attachment": attachment],
    ]
    let answer = ana.send(method, params[method] ?? [:])
    let result = ana.answer(to: answer)
    #expect(!ana.merging.isMore && result?.error == nil)
    if method == "notebook/list" { #expect(result?["notes"]?.array?.count == Self.count + 1) }
    if method == "notebook/status" { #expect(result?["notes"]?.integer == Self.count + 1) }
  }

  @Test func `goes on while the client types without a pause`() throws {
    try write()
    var version = 0
    while version == 0 || ana.merging.isMore, version < 100 {
      version += 1
      #expect(type(version) <= Self.mostWork)
      // Something happened each time, so the process is never idle.
      ana.wait(.milliseconds(2))
    }
    #expect(version < 100 && !ana.merging.isMore)
  }

  @Test func `of a text is pushed in between, and each push leads to the present text`() {
    let ben = Peer(scratch("notes"), seed: 2)
    ben.initialize()
    let open = ben.call("note/open", ["id": .string(note), "mode": "edit"])
    for version in 1...Self.edits {
      let start: JSON = ["line": 0, "character": JSON(version)]
      ben.call(
        "note/change",
        [
          "attachment": open["attachment"]!, "version": JSON(version), "rev": 0,
          "ranges": [["range": ["start": start, "end": start], "newText": "y"]],
        ])
    }
    #expect(type(1) <= Self.mostWork && ana.merging.isMore)
    var revs: [Int] = []
    for _ in 0..<100 where ana.merging.isMore {
      ana.work()
      revs += ana.take("note/edit").map { $0["rev"]!.integer! }
    }
    #expect(revs.count > 1 && revs == revs.sorted() && !ana.merging.isMore)
    let text = "x[" + String(repeating: "y", count: Self.edits) + "]"
    #expect(ana.text(note) == text)
    // The client has applied all but the last of them when it types again.
    #expect(type(2, rev: revs[revs.count - 2]) == 0)
    #expect(ana.text(note) == "x" + text)
  }

  @Test func `that is not done when the process ends is done by the next one`() throws {
    try write()
    #expect(type(1) <= Self.mostWork && ana.merging.isMore)
    ana.inputEnded()
    let next = Peer(scratch("notes"), seed: 3, state: scratch("state"))
    next.initialize()
    #expect(next.list(["limit": 5_000]).count == Self.count + 1 && next.text(note) == "x[]")
  }

  @Test func `of notes that are very many is told in several messages`() throws {
    try write(1_500)
    #expect(type(1) <= Self.mostWork)
    for _ in 0..<1_000 where ana.merging.isMore || !ana.hasTold { ana.work() }
    let told = ana.take("notebook/didChange").map { $0["changed"]!.array!.count }
    #expect(told.count == 2 && told.reduce(0, +) == 1_500)
  }
}

extension Peer {
  fileprivate var hasTold: Bool { notifications.contains { $0["method"] == "notebook/didChange" } }
}
