import Bytes
import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// A file may have holes: its size costs nothing, and proves nothing.
@Suite struct `Snapshots that claim to be enormous` {
  private let scratch = TemporaryFolder()
  private var path: String { "\(scratch.notebook)/snap/\(String(repeating: "0", count: 32)).snap" }
  private static let terabytes: UInt64 = 1 << 42

  /// Puts bytes at the beginning and the end of a file of some size, with a hole between them, and tells what somebody says
  /// of it who opens the notebook.
  private func damage(_ head: [UInt8], size: UInt64, _ tail: [UInt8] = []) throws -> [String] {
    write(head, to: path)
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.truncate(atOffset: size)
    try handle.seek(toOffset: size - UInt64(tail.count))
    try handle.write(contentsOf: tail)
    try handle.close()
    let store = try NoteStore(path: scratch.notebook, makeIdentifier: makeIdentifier)
    try store.create("a")
    _ = try store.compact()
    store.verifySnapshots()
    #expect(store.texts == ["a"])
    return store.damage.map(\.description)
  }

  @Test(arguments: [1 << 28 + 1, UInt32.max] as [UInt32])
  func `are not read where it is the coverage`(count: UInt32) throws {
    var head = SnapshotFormat.magic
    head.appendInteger(SnapshotFormat.version)
    head.appendInteger(count)
    #expect(try damage(head, size: Self.terabytes) == ["a coverage of \(count) bytes"])
  }

  private let head =
    SnapshotFormat.head([])
    + ChangePacker(notebook: Identifier(high: 1, low: 2)).finished.prefix(PackedChanges.headLength)

  @Test(arguments: [1 << 28 + 1, 1 << 41] as [UInt64])
  func `are not read where it is the directory`(count: UInt64) throws {
    var footer: [UInt8] = []
    footer.appendInteger(count)
    footer.appendInteger(UInt32(0))
    let damage = try damage(head, size: Self.terabytes, footer)
    #expect(damage == ["a directory of \(count) bytes"])
  }

  @Test(arguments: [1 << 27 + 1, 1 << 31 - 1] as [UInt64])
  func `are not read where it is a block`(length: UInt64) throws {
    var directory = ByteWriter()
    directory.identifier(Identifier(high: 1, low: 2))
    // One replica.
    directory.varint(1)
    directory.identifier(Identifier(high: 5, low: 6))
    // One range: of the first replica, which has named nobody, from its first change on.
    for number: UInt64 in [1, 0, 0, 0] { directory.varint(number) }
    // One block, of one change.
    for number in [1, 1, length] { directory.varint(number) }
    for _ in 0..<4 { directory.varint(0) }
    let count = directory.bytes.count
    directory.fixed(UInt64(count))
    directory.fixed(CRC32C.checksum(of: directory.bytes[...]))
    let size = UInt64(head.count) + length + UInt64(directory.bytes.count)
    #expect(try damage(head, size: size, directory.bytes) == ["a block of \(length) bytes"])
  }
}

extension ChangePacker {
  /// The whole of a file.
  fileprivate var finished: [UInt8] {
    var packer = self
    return packer.finish()
  }
}
