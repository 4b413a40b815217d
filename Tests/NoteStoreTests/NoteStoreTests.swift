import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

extension TemporaryFolder {
  fileprivate func store() throws(StoreError) -> NoteStore {
    try NoteStore(path: notebook, makeIdentifier: makeIdentifier)
  }
}

extension NoteStore {
  fileprivate func text(_ id: NoteID) -> String? { try! note(id)?.text.string }
}

@Suite
struct `A notebook in its folder` {
  private let scratch = TemporaryFolder()

  @Test func `is what its log says when it is opened again`() throws {
    let store = try scratch.store()
    let id = try store.create("one")
    try store.append(" two", to: id)
    let again = try scratch.store()
    #expect(again.notebook == store.notebook)
    #expect(again.text(id) == "one two")
    #expect(again.identity == store.identity)
  }

  @Test func `never gives the name of a change that was not made to another one`() throws {
    let store = try scratch.store()
    let id = try store.create("one")
    var names: [ChangeID] = []
    func append(_ text: [UInt8], refusing: Bool = false) throws {
      let edit = Edit(range: 0..<0, replacement: text)
      try store.commit(try store.operations(for: [edit], in: id, nil), at: 0) {
        change throws(StoreError) in
        names.append(change)
        if refusing {
          throw StoreError(operation: "note", path: "", reason: .diskFull, detail: "")
        }
      }
    }
    #expect(throws: StoreError.self) { try append([0x61], refusing: true) }
    try append([0x62])
    // One that could not travel gets no name.
    #expect(throws: StoreError.self) { try append(Array(repeating: 0x63, count: 1 << 26)) }
    try append([0x64])
    #expect(names.count == 3 && Set(names).count == 3)
    #expect(try scratch.store().text(id) == "dbone")
  }

  @Test func `writes again what somebody deletes while it runs`() throws {
    let store = try scratch.store()
    let id = try store.create("one")
    try store.sync()
    try FileManager.default.removeItem(atPath: scratch.notebook + "/log")
    try store.append(" two", to: id)
    #expect(try scratch.store().notebook == store.notebook)
  }

  @Test func `writes it again also if nothing more is changed`() throws {
    let store = try scratch.store()
    let id = try store.create("one")
    try FileManager.default.removeItem(atPath: scratch.notebook + "/log")
    #expect(store.rescan().isEmpty)
    #expect(try scratch.store().text(id) == "one")
  }

  @Test func `writes again what others had written, when somebody deletes it`() throws {
    let id = try scratch.store().create("one")
    for way in 0..<3 {
      let store = try scratch.store()
      let other = try scratch.store()
      try store.append(" \(way)", to: id)
      _ = other.rescan()
      switch way {
      case 0: try FileManager.default.removeItem(atPath: scratch.notebook + "/log")
      case 1: try FileManager.default.removeItem(atPath: scratch.notebook)
      default:
        for name in try FileManager.default.subpathsOfDirectory(atPath: scratch.notebook)
        where name.hasSuffix(".open") || name.hasSuffix(".seg") {
          #expect(truncate(scratch.notebook + "/" + name, 100) == 0)
        }
      }
      // Who has only read writes it, too: there may be nobody else.
      #expect(other.rescan().isEmpty)
      #expect(try scratch.store().notebook == store.notebook, "way \(way)")
      try store.append("!", to: id)
      #expect(try scratch.store().notebook == store.notebook, "way \(way)")
    }
  }

  @Test func `misses nothing when a file got another name`() throws {
    let id = try scratch.store().create("one")
    let store = try scratch.store()
    let log = scratch.notebook + "/log"
    let session = try FileManager.default.contentsOfDirectory(atPath: log)[0]
    #expect(rename("\(log)/\(session)/0.open", "\(log)/\(session)/another name") == 0)
    let before = listing(scratch.notebook)
    #expect(store.rescan().isEmpty)
    #expect(listing(scratch.notebook) == before)
    #expect(store.text(id) == "one")
  }

  @Test func `has not changed if a change could not be written`() throws {
    let store = try scratch.store()
    let id = try store.create("one")
    let before = store.notebook
    // A file stands where the log of the next session would be.
    try FileManager.default.removeItem(atPath: scratch.notebook + "/log")
    write([], to: scratch.notebook + "/log")
    #expect(throws: StoreError.self) { try store.append(" two", to: id) }
    #expect(store.notebook == before)
    try FileManager.default.removeItem(atPath: scratch.notebook + "/log")
    try store.append(" three", to: id)
    #expect(try scratch.store().text(id) == "one three")
  }

  @Test func `sees what another process writes, and the other way round`() throws {
    let one = try scratch.store()
    let two = try scratch.store()
    let id = try one.create("one")
    #expect(!two.rescan().isEmpty)
    try two.append(" two", to: id)
    #expect(!one.rescan().isEmpty)
    #expect(one.notebook == two.notebook)
    #expect(one.text(id) == "one two")
  }

  @Test func `writes again also what it had merged, when somebody deletes it`() throws {
    let source = try TemporaryFolder().store()
    let id = try source.create("one")
    let store = try scratch.store()
    _ = try store.merge(source.notebook.changes(since: Version()).encoded(of: source.identity!))
    try FileManager.default.removeItem(atPath: scratch.notebook + "/log")
    let own = try store.create("two")
    let again = try scratch.store()
    #expect(again.text(id) == "one")
    #expect(again.text(own) == "two")
    #expect(again.damage == [])
  }

  @Test func `begins a new session when somebody else goes on in its name`() throws {
    let store = try scratch.store()
    let id = try store.create("one")
    // A copy of this process makes the next change of its session, and sends it to us.
    var copy = store.notebook
    let change = copy.change(
      by: id.creation.replica, at: 1_767_225_600_000, [.edit(id, .restore)])
    try copy.apply(change)
    _ = try store.merge(copy.changes(since: Version()).encoded(of: store.identity!))
    try store.append(" two", to: id)
    try store.append(" three", to: id)
    let again = try scratch.store()
    #expect(again.text(id) == "one two three")
    #expect(again.notebook == store.notebook)
    #expect(again.damage == [])
  }

  @Test func `keeps its identity when decent.json is missing`() throws {
    let store = try scratch.store()
    _ = try store.create("one")
    try FileManager.default.removeItem(atPath: scratch.notebook + "/decent.json")
    let again = try scratch.store()
    #expect(again.identity == store.identity)
    let other = try TemporaryFolder().store()
    _ = try other.create("foreign")
    let changes = other.notebook.changes(since: Version()).encoded(of: other.identity!)
    #expect(throws: NoteStore.MergeError.self) { _ = try again.merge(changes) }
  }

  @Test func `keeps what it merges, once`() throws {
    let other = TemporaryFolder()
    let source = try other.store()
    let id = try source.create("one")
    let changes = source.notebook.changes(since: Version()).encoded(of: source.identity!)
    let store = try scratch.store()
    #expect(!(try store.merge(changes)).effects.isEmpty)
    #expect((try store.merge(changes)).effects.isEmpty)
    let again = try scratch.store()
    #expect(again.notebook == source.notebook)
    #expect(again.identity == source.identity)
    #expect(again.text(id) == "one")
  }
}
