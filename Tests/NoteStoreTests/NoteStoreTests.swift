import Foundation
import Notes
import ReplicatingTypes
import Testing

@testable import NoteStore

extension Scratch {
  fileprivate func store() throws(StoreError) -> NoteStore {
    try NoteStore(path: notebook, makeIdentifier: makeIdentifier)
  }
}

extension NoteStore {
  fileprivate func create(_ text: String) throws(StoreError) -> NoteID {
    let id = NoteID(creation: notebook.next(by: session()))
    try commit(
      [
        .create, .place(notebook.placement(of: id, at: 0)),
        .edit(id, .text(.insert(Array(text.utf8), after: nil, before: nil))),
      ], at: 1_767_225_600_000)
    return id
  }

  fileprivate func append(_ text: String, to id: NoteID) throws(StoreError) {
    let present = notebook[id]!.text
    let edit = Edit(range: present.count..<present.count, replacement: Array(text.utf8))
    try commit(
      present.operations(for: [edit]).map { .edit(id, .text($0)) }, at: 1_767_225_600_000)
  }

  fileprivate func text(_ id: NoteID) -> String? { notebook[id]?.text.string }
}

@Suite("A notebook in its folder")
struct NoteStoreTests {
  private let scratch = Scratch()

  @Test func `is what its log says when it is opened again`() throws {
    let store = try scratch.store()
    let id = try store.create("one")
    try store.append(" two", to: id)
    let again = try scratch.store()
    #expect(again.notebook == store.notebook)
    #expect(again.text(id) == "one two")
    #expect(again.identity == store.identity)
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

  @Test func `keeps what it merges, once`() throws {
    let other = Scratch()
    let source = try other.store()
    let id = try source.create("one")
    let changes = source.notebook.changes(since: Version()).encoded(of: source.identity!)
    let store = try scratch.store()
    #expect(!(try store.merge(changes)).isEmpty)
    #expect((try store.merge(changes)).isEmpty)
    let again = try scratch.store()
    #expect(again.notebook == source.notebook)
    #expect(again.identity == source.identity)
    #expect(again.text(id) == "one")
  }
}
