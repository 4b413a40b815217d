import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes
@testable import NotesServer

@Suite struct `Keys of requests` {
  let scratch = TemporaryFolder()
  private static let day: Int64 = 24 * 60 * 60 * 1000
  private let start: Int64 = 1_767_225_600_000

  private func open(_ seed: UInt64, after: Int64 = 600_000, in folder: String = "notes") -> Peer {
    let peer = Peer(scratch(folder), seed: seed, clock: start + after)
    peer.initialize()
    return peer
  }

  private func params(
    _ id: String, _ revision: JSON, _ key: String = "k", from other: String = ""
  ) -> JSON {
    [
      "id": .string(id), "from": .string(other), "text": "b", "title": "t", "index": 0,
      "tags": ["x"], "priority": "high",
      "revision": revision, "requestKey": .string(key),
    ]
  }

  @Test(arguments: KeyedRequest.allCases.filter { $0 != .batch }.map(\.method))
  func `are known after the process has died, and to another one`(method: String) {
    let (first, witness) = (open(1, after: 0), open(3, after: 0))
    let id = first.create(["text": "a", "title": "old"])
    let from = first.create()
    let revision = first.call("note/append", ["id": .string(id), "text": "!"])["revision"]!
    first.call("note/append", ["id": .string(id), "text": "?"])
    if method == "note/restore" || method == "note/purge" {
      first.call("note/delete", ["id": .string(id)])
    }
    let params = params(id, revision, from: from)
    let before = first.revision
    let answer = first.call(method, params)
    let after = first.revision
    #expect(before != after)
    // A later change makes no difference to the answer.
    if method != "note/purge" { first.call("note/append", ["id": .string(id), "text": "later"]) }
    // The process is gone without a word. Another one has begun before, and a third one begins.
    for other in [open(2), witness] {
      other.folderChanged()
      let known = other.revision
      if method == "note/rename" || method == "note/merge" {
        let again = other.call(method, params)
        #expect(again["note"] == answer["note"] && again["revision"] == answer["revision"])
        #expect(again["more"] == true)
      } else {
        #expect(other.call(method, params) == answer)
      }
      #expect(other.revision == known)
      #expect(other.call(method, params)["revision"] == answer["revision"])
      // Another key is another request.
      let more = other.ask(method, self.params(id, revision, "l\(known)", from: from))
      #expect(more.error?.reason == (method == "note/purge" ? "purged" : nil))
    }
  }

  @Test func `are kept for a day`() {
    let first = open(1, after: 0)
    first.call("note/create", ["requestKey": "k"])
    let inTime = open(2, after: Self.day - 60_000)
    inTime.call("note/create", ["requestKey": "k"])
    #expect(inTime.list().count == 1)
    let late = open(3, after: Self.day + 60_000)
    late.call("note/create", ["requestKey": "k"])
    #expect(late.list().count == 2)
  }

  @Test func `are kept for a day by a process that has read them earlier, too`() {
    let first = open(1, after: 0)
    first.call("note/create", ["requestKey": "k"])
    let reader = open(2, after: Self.day - 60_000)
    reader.call("note/create", ["requestKey": "l"])
    reader.jumpClock(by: 120_000)
    reader.call("note/create", ["requestKey": "k"])
    #expect(reader.list().count == 3)
  }

  @Test func `are those of one method`() {
    let first = open(1, after: 0)
    let id = first.create()
    first.call("note/append", ["id": .string(id), "text": "a", "requestKey": "k"])
    let error = open(2).ask("note/create", ["requestKey": "k"]).error
    #expect(error?.code == -32602 && error?.message.contains("note/append") == true)
  }

  @Test func `travel with the changes`() {
    let first = open(1, after: 0)
    let note = first.call("note/create", ["requestKey": "k"])["note"]
    let other = open(2, in: "other")
    other.call("notebook/merge", ["changes": first.call("notebook/changes")["changes"]!])
    #expect(other.call("note/create", ["requestKey": "k"])["note"] == note)
    #expect(other.list().count == 1)
  }

  @Test func `say when what they made was purged`() {
    let first = open(1, after: 0)
    let id = first.call("note/create", ["requestKey": "k"])["note"]!["id"]!
    first.call("note/delete", ["id": id])
    first.call("note/purge", ["id": id])
    #expect(open(2).ask("note/create", ["requestKey": "k"]).error?.reason == "purged")
  }

  @Test func `are not kept where nothing was changed`() {
    let first = open(1, after: 0)
    let id = first.create(["tags": ["x"]])
    first.call("note/update", ["id": .string(id), "tags": ["add": ["x"]], "requestKey": "k"])
    let other = open(2)
    other.call("note/update", ["id": .string(id), "tags": [] as JSON])
    other.call("note/update", ["id": .string(id), "tags": ["add": ["x"]], "requestKey": "k"])
    #expect(other.list(["tags": ["x"]]) == [id])
  }

  @Test func `are forgotten from the oldest on where somebody makes very many`() {
    var known = KnownRequests(most: 10)
    func made(_ number: Int) -> KnownRequests.Made {
      KnownRequests.Made(
        key: Identifier(high: 0, low: UInt64(number)),
        change: ChangeID(replica: Identifier(high: 1, low: 0), number: UInt64(number)), kind: 1,
        place: 0,
        time: Int64(number))
    }
    for number in 1...100 {
      known.learn([made(number)], upTo: Version(), at: 100)
      let kept = (1...number).filter {
        !known.changes(of: Identifier(high: 0, low: UInt64($0)), at: 100).isEmpty
      }
      #expect(kept == Array(kept.first!...number) && kept.count <= 10, "\(number)")
      #expect(kept.count >= min(number, 5), "\(number)")
    }
  }
}
