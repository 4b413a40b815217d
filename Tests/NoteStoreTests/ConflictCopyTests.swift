import Foundation
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

@Suite struct `Conflict copies of decent.json` {
  static let root = "/home/notes"
  static let ids = (1...3).map { Identifier(high: UInt64($0), low: 7) }

  private func open(_ disk: MemoryDisk) throws(StoreError) -> LogFolder {
    try LogFolder(path: Self.root, on: disk, makeIdentifier: makeIdentifier)
  }

  @Test(arguments: [
    "decent.sync-conflict-20260101-120000-ABCDEFG.json", "decent.json.conflict1",
    "decent (someone's conflicted copy 2026-01-01).json", "decent 2.json", "decent.json..path1",
  ])
  func `give a notebook more identities, of which the smallest counts`(name: String) throws {
    let disk = MemoryDisk()
    disk.put(NotebookFile.encoded(Self.ids[1]), at: "\(Self.root)/decent.json")
    var folder = try open(disk)
    #expect(folder.notebook == Self.ids[1])
    disk.put(NotebookFile.encoded(Self.ids[0]), at: "\(Self.root)/\(name)")
    _ = folder.readNew()
    #expect(folder.notebook == Self.ids[0])
    let ours = Self.ids.map { id in folder.isOurs(id) }
    #expect(ours == [true, true, false])
    let again = try open(disk)
    #expect(again.notebook == Self.ids[0])
    // What is written from now on says so; the files stay as they are.
    try folder.append("one")
    let log = disk.files.first { $0.key.contains("/log/") }!.value
    #expect(try LogHeader(decoding: log[...]).notebook == Self.ids[0])
    #expect(disk.files["\(Self.root)/decent.json"] == NotebookFile.encoded(Self.ids[1]))
  }

  @Test func `are no copies when they hold something else`() throws {
    let disk = MemoryDisk()
    disk.put(NotebookFile.encoded(Self.ids[1]), at: "\(Self.root)/decent.json")
    disk.put(Array("{}".utf8), at: "\(Self.root)/decent work.json")
    disk.put(NotebookFile.encoded(Self.ids[0]), at: "\(Self.root)/.decent.json.tmp")
    disk.put(NotebookFile.encoded(Self.ids[0]), at: "\(Self.root)/other.json")
    var folder = try open(disk)
    _ = folder.readNew()
    #expect(folder.notebook == Self.ids[1])
    #expect(folder.damage == [])
  }

  @Test func `left half done by a crash are ignored, and removed a day later`() throws {
    let whole = NotebookFile.encoded(Self.ids[0])
    let name = ".tmp-\(Self.ids[2])-decent.json"
    for half in [[], Array(whole.prefix(20)), whole] {
      for isNew in [true, false] {
        let disk = MemoryDisk()
        disk.put(half, at: "\(Self.root)/\(name)")
        disk.put([1, 2, 3], at: "\(Self.root)/.tmp-\(Self.ids[1])")
        disk.put([4, 5, 6], at: "\(Self.root)/.tmp-somebody-else's")
        let all = disk.files.keys
        if !isNew {
          disk.put(NotebookFile.encoded(Self.ids[1]), at: "\(Self.root)/decent.json")
        }
        let store = try NoteStore(path: Self.root, on: disk, makeIdentifier: makeIdentifier)
        #expect(store.identity == (isNew ? nil : Self.ids[1]) && store.damage == [])
        try store.create("a")
        try store.end()
        #expect(store.identity != Self.ids[0])
        _ = try store.compact()
        #expect(all.allSatisfy { disk.files[$0] != nil })
        disk.pass(86_400 + 100)
        _ = try store.compact()
        #expect(all.filter { disk.files[$0] != nil } == ["\(Self.root)/.tmp-somebody-else's"])
        #expect(store.damage == [])
      }
    }
  }

  @Test func `of a later version are refused as well`() throws {
    let disk = MemoryDisk()
    disk.put(NotebookFile.encoded(Self.ids[1]), at: "\(Self.root)/decent.json")
    disk.put(
      Array(#"{"format":"Decent Notes","version":2}"#.utf8), at: "\(Self.root)/decent 2.json")
    let error = #expect(throws: StoreError.self) { () throws in _ = try open(disk) }
    #expect(error?.reason == .newerFormat)
  }

  @Test func `name the notebook where decent.json is missing`() throws {
    let disk = MemoryDisk()
    disk.put(NotebookFile.encoded(Self.ids[1]), at: "\(Self.root)/decent 2.json")
    var folder = try open(disk)
    try folder.append("one")
    #expect(disk.files["\(Self.root)/decent.json"] == NotebookFile.encoded(Self.ids[1]))
  }

  @Test func `count as the identities in the logs do`() throws {
    let disk = MemoryDisk()
    disk.put(NotebookFile.encoded(Self.ids[2]), at: "\(Self.root)/decent.json")
    let header = LogHeader(notebook: Self.ids[0], session: Self.ids[0])
    disk.put(header.encoded(), at: "\(Self.root)/log/moved here")
    var folder = try open(disk)
    #expect(folder.notebook == Self.ids[2])
    _ = folder.readNew()
    #expect(folder.notebook == Self.ids[0])
    let isOurs = folder.isOurs(Self.ids[2])
    #expect(isOurs)
  }
}
