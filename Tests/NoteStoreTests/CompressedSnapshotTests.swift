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
      var reader = ByteReader(bytes)
      try reader.header(.snapshot)
      _ = try reader.block()
      start = reader.offset
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
        let isLength = at - block.lowerBound < 8
        let reason = "a wrong checksum of \(isLength ? "the length of " : "")a block"
        #expect(
          store.damage.map(\.description) == ["\(reason), in the block at \(block.lowerBound)"])
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
    let content = block.lowerBound + blockPrefix
    bytes.replaceSubrange(content..<content + beginning.count, with: beginning)
    seal(&bytes, block)
    let store = try folded.opened(bytes)
    #expect(store.texts.count == 1)
    #expect(store.damage.count == 1)
    #expect(store.damage.first?.description.hasPrefix(reason) == true, "\(store.damage)")
  }
}
