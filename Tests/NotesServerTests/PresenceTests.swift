import TestSupport
import Testing

@Suite
struct `Presence` {
  let scratch = TemporaryFolder()
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1)
    peer.initialize()
  }

  private func open(_ id: String, mode: String = "edit", hidesReturns: Bool = false) -> JSON {
    peer.call(
      "note/open",
      ["id": .string(id), "mode": .string(mode), "hidesReturns": .boolean(hidesReturns)])[
        "attachment"]!
  }

  private func range(_ start: (Int, Int), _ end: (Int, Int)) -> JSON {
    [
      "start": ["line": JSON(start.0), "character": JSON(start.1)],
      "end": ["line": JSON(end.0), "character": JSON(end.1)],
    ]
  }

  private func cursor(
    _ attachment: JSON, _ ranges: JSON, version: Int = 0, rev: Int = 0
  ) {
    peer.notify(
      "note/cursor",
      [
        "attachment": attachment, "version": JSON(version), "rev": JSON(rev), "ranges": ranges,
      ])
  }

  private func change(_ attachment: JSON, _ version: Int, rev: Int = 0, _ text: String) {
    peer.call(
      "note/change",
      [
        "attachment": attachment, "version": JSON(version), "rev": JSON(rev),
        "text": .string(text),
      ])
  }

  /// What was told lately, by whom it was told to.
  private func told() -> [JSON] { peer.take("note/presence") }

  private func ranges(_ told: JSON?) -> JSON? { told?["peers"]?[0]?["ranges"] }

  @Test func `tells the others where a cursor is, and nobody as long as none has been told`() {
    let id = peer.create(["text": "one two\nthree"])
    let (ana, ben, observer) = (open(id), open(id), open(id, mode: "observe"))
    _ = open(peer.create(["text": "another note"]))
    change(ana, 1, "one two\nthree!")
    #expect(told() == [])
    cursor(ben, [range((0, 4), (0, 7))], rev: 1)
    let list = told()
    #expect(list.map { $0["attachment"] } == [ana, observer])
    #expect(list.map { ranges($0) } == [[range((0, 4), (0, 7))], [range((0, 4), (0, 7))]])
    #expect(list.map { $0["version"] } == [1, 0] && list.map { $0["rev"] } == [0, 1])
    cursor(ben, [range((0, 4), (0, 7))], rev: 1)
    #expect(told() == [])
    // Who comes later is told at once.
    let carl = open(id)
    #expect(told().map { $0["attachment"] } == [carl])
    cursor(observer, [range((1, 6), (1, 6))], rev: 1)
    let peers = told().map { $0["peers"]!.array!.count }
    #expect(peers == [2, 1, 2])
  }

  @Test func `shows a selection at the same words where carriage returns are hidden`() {
    let id = peer.create(["text": "one\r\n two\r\nthree"])
    let (ana, ben) = (open(id), open(id, hidesReturns: true))
    for (from, to) in [
      ((1, 1), (1, 4)), ((2, 0), (2, 5)), ((0, 3), (0, 3)), ((1, 4), (2, 0)), ((0, 0), (2, 3)),
    ] as [((Int, Int), (Int, Int))] {
      for (mover, watcher) in [(ana, ben), (ben, ana)] {
        cursor(mover, [range(from, to)])
        let list = peer.take("note/presence").filter { $0["attachment"] == watcher }
        #expect(ranges(list.last) == [range(from, to)], "\(from) \(to)")
      }
    }
    // Between the two characters of a line end there is one place in Ben's text.
    cursor(ana, [range((0, 4), (0, 4))])
    #expect(
      ranges(peer.take("note/presence").last { $0["attachment"] == ben }) == [range((0, 3), (0, 3))]
    )
    cursor(ben, [range((0, 4), (0, 4))])
    #expect(told() == [])
  }

  @Test func `lets cursors stay at what they are at`() {
    let id = peer.create(["text": "one two\nthree"])
    let (ana, ben) = (open(id), open(id))
    cursor(ben, [range((0, 4), (0, 7)), range((1, 2), (1, 2)), range((1, 3), (1, 1))])
    #expect(told().count == 1)
    change(ana, 1, "zero\none and two\nthree")
    #expect(
      ranges(told().first)
        == [range((1, 8), (1, 11)), range((2, 2), (2, 2)), range((2, 3), (2, 1))])
    // What is typed at the ends of a selection is not in it, and what is typed at a cursor comes after it.
    change(ana, 2, "zero\none and [two]\nth|ree")
    #expect(
      ranges(told().first)
        == [range((1, 9), (1, 12)), range((2, 2), (2, 2)), range((2, 4), (2, 1))])
    change(ana, 3, "")
    #expect(
      ranges(told().first)
        == [range((0, 0), (0, 0)), range((0, 0), (0, 0)), range((0, 0), (0, 0))])
  }

  @Test func `tells anew whenever the numbers have changed that it goes by`() {
    let id = peer.create(["text": "one"])
    let (ana, ben) = (open(id), open(id))
    cursor(ben, [range((0, 3), (0, 3))])
    #expect(told().map { $0["version"] } == [0])
    change(ana, 1, "one!")
    #expect(told().map { $0["version"] } == [1])
    change(ben, 1, rev: 1, "one!?")
    let list = told()
    #expect(list.map { $0["attachment"] } == [ana] && list.map { $0["rev"] } == [1])
    // The push comes first.
    #expect(peer.notifications.last?["method"] == "note/edit")
  }

  @Test func `takes a cursor as the client saw the text, and none of another text`() {
    let id = peer.create(["text": "one two"])
    let (ana, ben) = (open(id), open(id))
    change(ana, 1, "zero one two")
    // Ben has not seen that yet.
    cursor(ben, [range((0, 4), (0, 7))])
    #expect(ranges(told().first) == [range((0, 9), (0, 12))])
    for (version, rev) in [(1, 0), (0, 2), (7, 1)] {
      cursor(ben, [range((0, 0), (0, 1))], version: version, rev: rev)
    }
    for bad in [
      [range((0, 0), (0, 8))], [range((3, 0), (3, 0))], [1], [["start": 1, "end": 2]], 7, nil,
      [["start": ["line": 0, "character": 0]]], [range((0, -1), (0, 0))],
    ] as [JSON] {
      cursor(ben, bad)
    }
    peer.notify("note/cursor")
    peer.notify("note/cursor", ["attachment": 99, "version": 0, "rev": 0, "ranges": []])
    #expect(told() == [])
    cursor(ben, [range((0, 0), (0, 4))], rev: 1)
    #expect(ranges(told().first) == [range((0, 0), (0, 4))])
  }

  @Test func `has left when it is not in the list`() {
    let id = peer.create(["text": "one"])
    let (ana, ben, carl) = (open(id), open(id), open(id))
    cursor(ben, [range((0, 0), (0, 0))])
    cursor(carl, [range((0, 1), (0, 1))])
    _ = told()
    cursor(ben, [])
    #expect(told().map { $0["peers"]!.array!.count } == [1, 0])
    peer.call("note/close", ["attachment": carl])
    #expect(told().map { $0["peers"]!.array!.count } == [0, 0])
    change(ana, 1, "two")
    #expect(told() == [])
    peer.call("note/close", ["attachment": ben])
    #expect(told() == [])
  }

  @Test func `keeps nothing of it`() {
    let id = peer.create(["text": "one"])
    let (ana, ben) = (open(id), open(id))
    let revision = peer.revision
    cursor(ana, [range((0, 0), (0, 3))])
    #expect(told().map { $0["attachment"] } == [ben])
    #expect(peer.revision == revision)
    let many = JSON.array((0..<200).map { _ in range((0, 0), (0, 3)) })
    cursor(ben, many)
    #expect(ranges(told().first)?.array?.count == 100)
  }
}
