import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// Changes that are written together, beside the same ones alone.
@Suite struct `A group of changes` {
  private static let path = "/home/notes"

  /// A store of its own disk; the same identifiers in each.
  private static func open() throws -> NoteStore {
    let disk = MemoryDisk()
    disk.put([], at: "/home/.profile")
    var number: UInt64 = 0
    return try NoteStore(path: path, on: disk) {
      number += 1
      return Identifier(high: 1, low: number)
    }
  }

  private static func make(_ count: Int, in store: NoteStore) throws {
    for _ in 0..<count {
      let id = NoteID(creation: store.notebook.next(by: try store.nextSession()))
      try store.commit(
        [.create, .place(store.notebook.placement(of: id, at: 0))], at: 1_767_225_600_000)
    }
  }

  @Test func `counts as much as its changes alone, once it is written`() throws {
    let alone = try Self.open()
    try Self.make(5, in: alone)
    let together = try Self.open()
    try together.beginGroup()
    try Self.make(3, in: together)
    #expect(together.groupedChanges == (1...3).map { change(together, $0) })
    #expect(together.archiving.unkept == 0 && together.own.written.isEmpty)
    together.abandonGroup()
    #expect(together.archiving.unkept == 0 && together.own.written.isEmpty)
    #expect(together.notebook.version.isEmpty)
    try together.beginGroup()
    try Self.make(5, in: together)
    try together.finishGroup()
    #expect(alone.archiving.unkept > 5)
    #expect(together.archiving.unkept == alone.archiving.unkept)
    #expect(together.own.written == alone.own.written)
    #expect(together.own.written == together.notebook.version)
  }

  private func change(_ store: NoteStore, _ number: UInt64) -> ChangeID {
    ChangeID(replica: store.notebook.version.replicas[0], number: number)
  }
}
