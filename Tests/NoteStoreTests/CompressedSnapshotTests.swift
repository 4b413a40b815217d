import Bytes
import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

@Suite struct `Snapshots that are compressed` {
  private static let path = "/home/notes"
  private static let text = (0..<400).map { "line \($0) of a text of many lines\n" }.joined()

  /// A folder with one snapshot of two sessions, each with one note, and no logs.
  private struct Folded {
    let disk = MemoryDisk()
    let name: String
    let bytes: [UInt8]
    let notebook: NoteBook
    /// The offset of the packed changes, and their directory.
    let start: Int
    let packed: PackedChanges

    init() throws {
      disk.put([], at: "/home/.profile")
      // Neither knows of the other when it writes.
      let stores = try [open(disk, 1), open(disk, 2)]
      for (number, store) in stores.enumerated() { try store.create("\(number) \(text)") }
      for store in stores { try store.end() }
      let store = try open(disk, 3)
      _ = try store.compact()
      notebook = store.notebook
      let files = disk.files(below: path)
      for log in files.keys where log.hasPrefix("log/") { disk.take("\(path)/\(log)") }
      let (name, bytes) = try #require(files.first { $0.key.hasSuffix(".snap") })
      (self.name, self.bytes) = ("\(path)/\(name)", bytes)
      start =
        SnapshotFormat.prefixSize + Int(bytes[...].integer(at: 12, as: UInt32.self)) + 4
      packed = try PackedChanges(Array(bytes[start...]))
    }

    /// The range of a session's block in the file.
    func block(of session: Int) -> Range<Int> {
      let block = packed.blocks(of: packed.ranges[session].replica)[0].bytes
      return start + block.lowerBound..<start + block.upperBound
    }

    /// The folder, opened with other bytes in the place of the snapshot's.
    func opened(_ bytes: [UInt8]) throws -> NoteStore {
      let disk = disk.afterKill()
      disk.put(bytes, at: name)
      return try open(disk, 9)
    }
  }

  private static func open(_ disk: MemoryDisk, _ seed: UInt64) throws -> NoteStore {
    var random = SplitMix64(seed: seed)
    return try NoteStore(path: path, on: disk) {
      Identifier(high: random.next(), low: random.next())
    }
  }

  @Test func `take less than half of the text, and say it`() throws {
    let folded = try Folded()
    #expect(folded.packed.ranges.count == 2)
    #expect(folded.bytes.count < Self.text.utf8.count)
    let store = try folded.opened(folded.bytes)
    #expect(store.notebook == folded.notebook && store.damage.isEmpty)
  }

  @Test func `lose by a damaged byte the changes of its block, and tell which`() throws {
    let folded = try Folded()
    for session in [0, 1] {
      let block = folded.block(of: session)
      for at in block where at % 97 == 0 || block.upperBound - at <= 6 || at - block.lowerBound < 4
      {
        var bytes = folded.bytes
        bytes[at] ^= 0x10
        let store = try folded.opened(bytes)
        #expect(store.texts.count == 1, "byte \(at)")
        #expect(
          store.damage.map(\.description)
            == ["the checksum of a block is wrong, in the block at \(block.lowerBound)"])
      }
    }
  }

  /// As a program might have written it that has a bug, or as somebody forges it.
  @Test(
    arguments: [
      ([1, 0x81, 0x80, 0x40], "compressed bytes that are 1048577"),
      ([1, 0x80, 0x80, 0x40], "compressed bytes: "), ([1, 0], "compressed bytes: "),
      ([2], "bytes in a form that is none"), ([0], ""),
    ] as [([UInt8], String)])
  func `refuse a block that is none, with the reason, and say the rest`(
    beginning: [UInt8], reason: String
  ) throws {
    let folded = try Folded()
    let block = folded.block(of: 0)
    var bytes = folded.bytes
    bytes.replaceSubrange(block.lowerBound..<block.lowerBound + beginning.count, with: beginning)
    let sum = CRC32C.checksum(of: bytes[block.lowerBound..<block.upperBound - 4])
    bytes.setInteger(sum, at: block.upperBound - 4)
    let store = try folded.opened(bytes)
    #expect(store.texts.count == 1)
    #expect(store.damage.count == 1)
    #expect(store.damage.first?.description.hasPrefix(reason) == true, "\(store.damage)")
  }

  @Test func `take the place of those that were written before blocks were compressed`() throws {
    let golden = GoldenNotebook(number: 2)
    let disk = MemoryDisk()
    disk.put([], at: "/home/.profile")
    for (path, bytes) in try golden.files { disk.put(bytes, at: "\(Self.path)/\(path)") }
    disk.pass(60)
    func formats() -> [UInt8] {
      disk.files(below: Self.path).filter { FolderContents.Snapshot($0.value) != nil }.map {
        let start = Int($0.value[...].integer(at: 12, as: UInt32.self)) + 4
        return $0.value[SnapshotFormat.prefixSize + start + 4]
      }
    }
    #expect(Set(formats()) == [1])
    for _ in 0..<3 {
      _ = try Self.open(disk, 1).compact()
      disk.pass(86_400 + 100)
    }
    #expect(formats() == [3])
    #expect(try Self.open(disk, 1).account() == golden.expected)
  }
}
