import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// Notes that are created by changes named by their content, each with a change of the session.
@Suite struct `A note that is named by its content` {
  private static let path = "/home/notes"

  private static func open(_ disk: MemoryDisk) throws -> NoteStore {
    var number: UInt64 = 0
    return try NoteStore(path: path, on: disk) {
      number += 1
      return Identifier(high: UInt64(disk.calls), low: number)
    }
  }

  private static func disk() -> MemoryDisk {
    let disk = MemoryDisk()
    disk.put([], at: "/home/.profile")
    return disk
  }

  /// Creates a note with this text in front of all others; nil if it is known.
  private static func create(_ text: String, in store: NoteStore) throws(StoreError) -> Effects? {
    let created = ContentAddressedChange { change in
      [
        .create, .place(.init(change, after: nil, before: nil)),
        .edit(
          NoteID(creation: change),
          .text(.insert(Array(text.utf8), after: nil, before: nil))),
      ]
    }
    let id = NoteID(creation: created.id)
    return try store.commit(
      [created],
      then: {
        [.place(store.notebook.placementInFront(of: id)), .edit(id, .created(1000))]
      }, at: 2000)
  }

  /// The texts of the notes, in their order, and when each was created.
  private static func faces(_ store: NoteStore) throws -> [String] {
    var faces: [String] = []
    try store.notebook.forEachSummary { note in
      faces.append("\(note.length) \(note.created)")
      return true
    }
    return faces
  }

  @Test
  func `is there with the change of its session or not at all, wherever the process is killed`()
    throws
  {
    let disk = Self.disk()
    let store = try Self.open(disk)
    #expect(try Self.create("a", in: store) != nil)
    var moments: [MemoryDisk] = []
    disk.watch = { moments.append(disk.afterKill()) }
    #expect(try Self.create("bcd", in: store) != nil)
    disk.watch = nil
    moments.append(disk.afterKill())
    #expect(moments.count > 3)
    let all = try Set(moments.map { try Self.faces(Self.open($0)).joined(separator: ", ") })
    #expect(all == ["1 1000", "3 1000, 1 1000"])
    #expect(try Self.faces(store) == ["3 1000", "1 1000"])
  }

  @Test func `is not made when the disk fails, and can be made afterwards`() throws {
    for limit in [nil, 0, 1, 40, 90] as [Int?] {
      let disk = Self.disk()
      let store = try Self.open(disk)
      #expect(try Self.create("a", in: store) != nil)
      disk.fault = { _, call in
        guard call == .append else { return nil }
        // A part of it is written, and then nothing more.
        defer { if limit != nil { disk.fault = { $1 == .append ? .error(28) : nil } } }
        return limit.map { .short($0) } ?? .error(28)
      }
      #expect(throws: StoreError.self) { _ = try Self.create("bcd", in: store) }
      #expect(try Self.faces(store) == ["1 1000"])
      #expect(try Self.faces(Self.open(disk.afterKill())) == ["1 1000"])
      disk.fault = nil
      #expect(try Self.create("bcd", in: store) != nil)
      #expect(try Self.create("bcd", in: store) == nil)
      for store in [store, try Self.open(disk.afterKill())] {
        #expect(try Self.faces(store) == ["3 1000", "1 1000"])
      }
    }
  }

  @Test func `is not made where nothing is planned`() throws {
    let store = try Self.open(Self.disk())
    let creation = ContentAddressedChange { [.create, .place(.init($0, after: nil, before: nil))] }
    #expect(try store.commit([creation], then: { nil }, at: 1) == nil)
    #expect(try Self.faces(store).isEmpty)
    #expect(try Self.create("a", in: store) != nil)
    #expect(try Self.faces(store) == ["1 1000"])
  }

  @Test func `is no part of a batch`() throws {
    let store = try Self.open(Self.disk())
    try store.beginGroup()
    #expect(throws: StoreError.self) { _ = try Self.create("a", in: store) }
    store.abandonGroup()
    #expect(try Self.create("a", in: store) != nil)
  }
}
