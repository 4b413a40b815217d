import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

@Suite struct `Requests with a key in the folder` {
  private static let path = "/home/notes"

  private static func open(_ disk: MemoryDisk, _ random: inout SplitMix64) throws -> NoteStore {
    let (high, low) = (random.next(), random.next())
    var number: UInt64 = 0
    return try NoteStore(path: path, on: disk) {
      number += 1
      return Identifier(high: high, low: low &+ number)
    }
  }

  /// Makes a note for a request, as a server does.
  private static func make(_ number: UInt64, in store: NoteStore) throws {
    let id = NoteID(creation: store.notebook.next(by: try store.nextSession()))
    try store.openOrder()
    let mark = RequestMark(key: Identifier(high: 0, low: number), kind: 1)
    try store.commit(
      [.create, .place(store.notebook.placement(of: id, at: 0))], as: id.creation.replica,
      at: 1_767_225_600_000, request: mark)
  }

  /// The notes there are, and those of which a key is known.
  private static func notes(on disk: MemoryDisk) throws -> (all: Set<NoteID>, known: Set<NoteID>) {
    var random = SplitMix64(seed: 99)
    let store = try open(disk, &random)
    var known: Set<NoteID> = []
    try store.recall { book throws(ArchiveFailure) in
      try book.forEachRequest(after: Version(), since: 0) { _, change, _ in
        known.insert(NoteID(creation: change))
      }
    }
    var all: Set<NoteID> = []
    try store.openOrder()
    try store.notebook.forEachSummary {
      all.insert($0.id)
      return true
    }
    return (all, known)
  }

  @Test func `a kill or a power cut at any call leaves a change and its key, or neither`() throws {
    for seed in seeds(3) {
      var random = SplitMix64(seed: seed)
      let disk = MemoryDisk()
      disk.put([], at: "/home/.profile")
      var (calls, made) = (0, 0)
      var broken: String?
      disk.watch = {
        calls += 1
        guard broken == nil else { return }
        do {
          let killed = try Self.notes(on: disk.afterKill())
          if killed.all != killed.known || killed.all.count < made {
            broken = "killed at call \(calls): \(killed)"
          }
          let cut = try Self.notes(on: disk.afterPowerCut(&random))
          if cut.all != cut.known { broken = "without power at call \(calls): \(cut)" }
        } catch { broken = "\(error)" }
      }
      var identities = SplitMix64(seed: seed)
      for session in 0..<2 {
        let store = try Self.open(disk, &identities)
        for number in 0..<3 {
          try Self.make(UInt64(session * 3 + number), in: store)
          made += 1
          disk.performSyncs()
          _ = store.takeSyncResult()
        }
        try store.end()
      }
      #expect(broken == nil && calls > 20, "seed \(seed)")
    }
  }

  /// Makes some notes as one batch.
  private static func makeBatch(_ count: Int, in store: NoteStore) throws {
    try store.beginGroup()
    do {
      for number in 0..<count { try make(UInt64(number), in: store) }
      try store.finishGroup()
    } catch {
      store.abandonGroup()
      throw error
    }
  }

  @Test func `a kill or a power cut at any call leaves all of a batch, or nothing`() throws {
    for seed in seeds(3) {
      var random = SplitMix64(seed: seed)
      var identities = SplitMix64(seed: seed)
      let disk = MemoryDisk()
      disk.put([], at: "/home/.profile")
      var broken: String?
      var seen: Set<Int> = []
      disk.watch = {
        guard broken == nil else { return }
        do {
          for left in [disk.afterKill(), disk.afterPowerCut(&random)] {
            let notes = try Self.notes(on: left)
            seen.insert(notes.all.count)
            if ![0, 3, 7].contains(notes.all.count) || notes.all != notes.known {
              broken = "\(notes)"
            }
          }
        } catch { broken = "\(error)" }
      }
      let store = try Self.open(disk, &identities)
      for count in [3, 4] {
        try Self.makeBatch(count, in: store)
        disk.performSyncs()
        _ = store.takeSyncResult()
      }
      try store.end()
      #expect(broken == nil && seen == [0, 3, 7], "seed \(seed)")
    }
  }

  @Test func `a batch that the disk refuses has not happened, and the next one has`() throws {
    for call in 1..<60 {
      var identities = SplitMix64(seed: 1)
      let disk = MemoryDisk()
      disk.put([], at: "/home/.profile")
      let store = try Self.open(disk, &identities)
      try Self.makeBatch(2, in: store)
      let revision = store.notebook.revision
      var number = 0
      disk.fault = { _, _ in
        number += 1
        return number == call ? .error(28) : nil
      }
      do {
        try Self.makeBatch(3, in: store)
      } catch {
        #expect(store.notebook.revision == revision, "call \(call)")
      }
      disk.fault = nil
      try Self.makeBatch(4, in: store)
      let there = try Self.notes(on: disk.afterKill()).all
      #expect(there.count == store.notebook.counts.live, "call \(call)")
      #expect([6, 9].contains(there.count), "call \(call)")
      if number < call { break }
    }
  }

  @Test func `a batch that is given up leaves nothing, and its names are used again`() throws {
    var identities = SplitMix64(seed: 1)
    let disk = MemoryDisk()
    disk.put([], at: "/home/.profile")
    let store = try Self.open(disk, &identities)
    try Self.makeBatch(2, in: store)
    let (session, revision) = (try store.nextSession(), store.notebook.revision)
    try store.beginGroup()
    try Self.make(7, in: store)
    #expect(store.groupedChanges == [ChangeID(replica: session, number: 3)])
    store.abandonGroup()
    #expect(store.notebook.revision == revision && store.groupedChanges == [])
    try Self.make(8, in: store)
    #expect(try store.nextSession() == session)
    #expect(try Self.notes(on: disk.afterKill()).all.count == 3)
  }
}
