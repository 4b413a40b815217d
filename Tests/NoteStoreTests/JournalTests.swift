import Foundation
import ReplicatingTypes
import Testing

@testable import NoteStore

@Suite struct `A journal beside a notebook` {
  private let disk = MemoryDisk()
  private let store: NoteStore

  init() throws {
    disk.put([], at: "/home/.profile")
    store = try NoteStore(
      path: Day.path, state: "/home/state", on: disk, makeIdentifier: makeIdentifier)
    try store.create("a")
  }

  private var entries: [[UInt8]] { store.journals { $0 == "j" } }

  @Test func `is not read when it was discarded, even where nothing can be removed`() throws {
    for errno in [nil, EACCES, EIO] {
      let journal = try #require(try store.createJournal("j"))
      try journal.append([1, 2, 3])
      #expect(entries == [[1, 2, 3]])
      disk.fault = { _, call in call == .remove ? errno.map(MemoryDisk.Fault.error) : nil }
      try journal.discard()
      disk.fault = nil
      #expect(entries == [])
      try journal.discard()
      #expect(disk.files.keys.allSatisfy { !$0.hasSuffix("/j") })
    }
  }

  @Test func `is discarded some other time where a disk refuses everything`() throws {
    let journal = try #require(try store.createJournal("j"))
    try journal.append([1, 2, 3])
    disk.mount = .readOnly
    #expect(throws: StoreError.self) { try journal.append([4]) }
    #expect(throws: StoreError.self) { try journal.discard() }
    #expect(entries == [[1, 2, 3]])
    disk.mount = .writable
    try journal.discard()
    #expect(entries == [])
  }
}
