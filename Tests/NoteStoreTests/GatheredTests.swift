import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// Changes that are written together, beside the same ones alone.
@Suite struct `Changes that are gathered` {
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

  @Test func `count as much as alone, once they are written`() throws {
    let alone = try Self.open()
    try Self.make(5, in: alone)
    let (burst, batch) = (try Self.open(), try Self.open())
    try burst.beginBurst()
    try Self.make(5, in: burst)
    #expect(burst.archiving.unkept == 0 && burst.own.written.isEmpty)
    guard case .written = burst.finishBurst() else { throw Failure("not written") }
    try batch.beginBatch()
    try Self.make(3, in: batch)
    #expect(batch.batchedChanges == (1...3).map { change(batch, $0) })
    batch.abandonBatch()
    #expect(
      batch.archiving.unkept == 0 && batch.own.written.isEmpty && batch.notebook.version.isEmpty)
    try batch.beginBatch()
    try Self.make(5, in: batch)
    try batch.finishBatch()
    #expect(alone.archiving.unkept > 5)
    for store in [burst, batch] {
      #expect(store.archiving.unkept == alone.archiving.unkept)
      #expect(store.own.written == alone.own.written)
      #expect(store.own.written == store.notebook.version)
    }
  }

  private func change(_ store: NoteStore, _ number: UInt64) -> ChangeID {
    ChangeID(replica: store.notebook.version.replicas[0], number: number)
  }
}
