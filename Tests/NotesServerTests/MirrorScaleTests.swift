import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NotesServer

/// What a mirror leaves out, because nothing can have changed there, and what it does in several slices.
@Suite("A mirror of many files", .computing) struct MirrorScaleTests {
  let scratch = TemporaryFolder()
  let tree = MemoryTree("/mirror")

  private func makePeer(_ seed: UInt64, isMirroring: Bool = true) -> Peer {
    let peer = Peer(
      scratch("notes"), seed: seed, state: scratch("state"), mirror: isMirroring ? tree : nil)
    peer.initialize()
    return peer
  }

  private func makeFiles(_ count: Int) {
    for number in 0..<count { tree.write("text of \(number)\n", "n\(1000 + number).md") }
  }

  private func notes(_ peer: Peer) -> [JSON] {
    peer.call("notebook/list", ["limit": 10_000])["notes"]!.array!
  }

  private func texts(_ peer: Peer) -> [String] {
    notes(peer).map { peer.call("note/get", ["id": $0["id"]!])["text"]!.string! }
  }

  private var paths: [String] { tree.files.keys.filter { !$0.hasPrefix(".") }.sorted() }

  /// What the state folder knows of the files.
  private func records() throws -> FileRecords {
    let names = FileManager.default.enumerator(atPath: scratch("state"))
    while let name = names?.nextObject() as? String {
      guard name.contains("/mirror-"),
        let data = FileManager.default.contents(atPath: scratch("state") + "/" + name),
        FileRecords.isEncoded(Array(data))
      else { continue }
      return FileRecords(decoding: Array(data))
    }
    throw Failure("nothing is known of the mirror")
  }

  /// Each old name and each new one is told of by an event of its own, or events are lost and a look through the folders finds them.
  @Test(arguments: [false, true])
  func `files that all get other names keep their notes`(losesEvents: Bool) {
    makeFiles(600)
    let peer = makePeer(1)
    peer.run(for: .seconds(10))
    let before = notes(peer).map { $0["id"]!.string! }
    #expect(before.count == 600)
    tree.losesEvents = losesEvents
    // The new names come before the old ones, and after them.
    for number in 0..<600 {
      tree.rename("n\(1000 + number).md", "\(number % 2 == 0 ? "a" : "z")/\(number).md")
    }
    peer.run(for: .seconds(60))
    #expect(Set(notes(peer).map { $0["id"]!.string! }) == Set(before))
    #expect(paths.count == 600 && paths.allSatisfy { $0.hasPrefix("a/") || $0.hasPrefix("z/") })
  }

  @Test func `files that are all touched and not changed stop nothing`() {
    makeFiles(600)
    let peer = makePeer(1)
    peer.run(for: .seconds(10))
    let revision = peer.call("notebook/status")["revision"]
    makeFiles(600)
    tree.write("text of 7, changed\n", "n1007.md")
    peer.run(for: .seconds(10))
    #expect(peer.take("window/showMessage").isEmpty)
    #expect(peer.call("notebook/status")["revision"] != revision)
    let changed = texts(peer).filter { $0.contains("changed") }
    #expect(changed == ["text of 7, changed\n"])
  }

  @Test func `files that are all changed are read when the user says so, and not before`() throws {
    makeFiles(600)
    let peer = makePeer(1)
    peer.run(for: .seconds(10))
    for number in 0..<600 { tree.write("other \(number)\n", "n\(1000 + number).md") }
    peer.run(for: .seconds(10))
    let told = peer.take("window/showMessage").map { $0["message"]!.string! }
    #expect(told.count == 1 && told[0].contains("600 of 600 files have changed at once"), "\(told)")
    try peer.answerMirror(.confirm)
    peer.run(for: .seconds(40))
    #expect(texts(peer).filter { $0.hasPrefix("other ") }.count == 600)
  }

  @Test func `a part of many files that changes while the others are read first stops nothing`() {
    makeFiles(3000)
    let peer = makePeer(1)
    // Files that are found must be at rest for two seconds.
    peer.run(for: .milliseconds(1_900))
    let before = tree.readCount
    tree.beforeCall = { [tree] _ in
      guard tree.readCount == before + 200 else { return }
      tree.beforeCall = nil
      // All that were read change, and more, but less than a quarter of all.
      for number in 0..<700 { tree.write("other \(number)\n", "n\(1000 + number).md") }
    }
    peer.run(for: .seconds(40))
    #expect(tree.beforeCall == nil)
    #expect(peer.take("window/showMessage").isEmpty)
    #expect(texts(peer).filter { $0.hasPrefix("other ") }.count == 700)
  }

  @Test func `files that are gone are deleted in slices, but for one that is there again`() throws {
    makeFiles(600)
    let peer = makePeer(1)
    peer.run(for: .seconds(10))
    for number in 0..<500 { tree.remove("n\(1000 + number).md") }
    peer.run(for: .seconds(10))
    try peer.answerMirror(.confirm)
    peer.run(for: .seconds(1))
    tree.write("again\n", "n1000.md")
    peer.run(for: .seconds(60))
    #expect(notes(peer).count == 101 && paths.count == 101)
  }

  /// The rest is noted, and after it the folder of the notebook gets changes that were made before and after it, by one that mirrors nothing,
  /// and by one elsewhere that had seen none of it. The next mirror writes all of them.
  @Test func `a start writes what others have changed since the last rest, whenever they did`()
    throws
  {
    makeFiles(3)
    let (first, other) = (makePeer(1), Peer(scratch("other"), seed: 2))
    first.run(for: .seconds(11))
    other.initialize()
    _ = other.call("notebook/merge", ["changes": first.call("notebook/changes")["changes"]!])
    let ids = notes(first).map { $0["id"]!.string! }
    other.call("note/setText", ["id": .string(ids[0]), "text": "from elsewhere\n"])
    first.call("note/append", ["id": .string(ids[1]), "text": "here\n"])
    first.run(for: .seconds(60))
    let rest = try records().rest
    #expect(rest != nil)
    first.inputEnded()
    let plain = makePeer(3, isMirroring: false)
    _ = plain.call("notebook/merge", ["changes": other.call("notebook/changes")["changes"]!])
    plain.call("note/append", ["id": .string(ids[2]), "text": "by another\n"])
    let next = makePeer(4)
    next.run(for: .seconds(3))
    // One that lives on beside the mirror.
    plain.call("note/append", ["id": .string(ids[1]), "text": "later\n"])
    next.run(for: .seconds(40))
    for id in ids {
      let note = next.call("note/get", ["id": .string(id)])
      #expect(tree.text(note["note"]!["path"]!.string!) == note["text"]!.string!)
    }
    let all = paths.map { tree.text($0)! }.joined()
    for words in ["from elsewhere", "here", "by another", "later"] {
      #expect(all.contains(words), "\(words)")
    }
    #expect(try records().rest != rest)
  }

  @Test func `what is known of a file after the last rest is looked at again`() throws {
    var records = FileRecords()
    let record = FileRecords.Record(
      note: NoteID(creation: ChangeID(replica: ReplicaID(high: 1, low: 2), number: 3)),
      states: [
        FileState(hash: 1, heads: [], title: "a", tags: [], priority: .normal, header: [])
      ])
    let rest = FileRecords.Rest(heads: [record.note.creation], program: "1")
    records[FilePath("a")] = record
    let bytes =
      records.encoded + FileRecords.entry(rest) + FileRecords.entry(FilePath("b"), record)
    let read = FileRecords(decoding: bytes)
    #expect(read.rest == rest && read.changedSinceRest == [FilePath("b")])
    #expect(read.allPaths(of: record.note).sorted() == [FilePath("a"), FilePath("b")])
    // A part of an entry is none.
    let cut = FileRecords(decoding: bytes.dropLast())
    #expect(cut.rest == rest && cut.changedSinceRest.isEmpty)
    // Written anew it says nothing of a rest.
    #expect(FileRecords(decoding: read.encoded).rest == nil)
  }
}
