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
    var length: [UInt8] = []
    length.appendInteger(count)
    var head = containerHeader(2) + length
    head.appendInteger(CRC32C.checksum(of: length[...]))
    head.appendInteger(UInt32(0))
    #expect(try damage(head, size: Self.terabytes) == ["a coverage of \(count) bytes"])
  }

  private let head = SnapshotFormat.head([])

  @Test(arguments: [1 << 28 + 1, 1 << 41] as [UInt64])
  func `are not read where it is the directory`(count: UInt64) throws {
    var footer: [UInt8] = []
    footer.appendInteger(UInt64(0))
    footer.appendInteger(count)
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
    var tail = containerBlock(directory.bytes)
    tail.appendInteger(UInt64(blockPrefix) + length)
    tail.appendInteger(UInt64(directory.bytes.count))
    let size = UInt64(head.count + blockPrefix) + length + UInt64(tail.count)
    #expect(try damage(head, size: size, tail) == ["a block of \(length) bytes"])
  }
}

/// What cannot be read is read once, as far as it seems to be something.
@Suite struct `Snapshots that cannot be read` {
  private static let path = "/home/notes"
  private static let name = String(repeating: "0", count: 32) + ".snap"
  private let disk = MemoryDisk()

  private func open(_ random: UInt64 = 1) throws -> NoteStore {
    var random = SplitMix64(seed: random)
    return try NoteStore(path: Self.path, on: disk) {
      Identifier(high: random.next(), low: random.next())
    }
  }

  /// The number of bytes that are read while `body` runs.
  private func count(_ body: () throws -> Void) rethrows -> Int {
    let before = disk.bytesRead
    try body()
    return disk.bytesRead - before
  }

  private func put(_ bytes: [UInt8]) { disk.put(bytes, at: "\(Self.path)/snap/\(Self.name)") }

  /// A long coverage that says of itself how long it is, and whose first pieces are right.
  private var hollow: [UInt8] {
    let piece = { (number: UInt64) in
      SessionPiece(
        session: Identifier(high: number, low: 1), start: SessionPoint(),
        end: SessionPoint(number: 1, hash: 1, changes: 1))
    }
    var file = SnapshotFormat.head((1...1000).map(piece))
    file.removeLast(4)
    file.setInteger(UInt32(8 << 20), at: 12)
    // Its number of pieces, as it would be if all of it were filled.
    file.replaceSubrange(17..<19, with: [0x80, 0x80, 0x0d])
    return file + [UInt8](repeating: 0, count: 8 << 20)
  }

  @Test func `cost their beginning where they are hollow, and nothing later`() throws {
    try open().create("a")
    let plain = try count { _ = try open() }
    for number in 0..<5 {
      disk.put(hollow, at: "\(Self.path)/snap/\(String(repeating: "\(number)", count: 32)).snap")
    }
    let store = try open(2)
    #expect(try count { _ = try open(3) } - plain < 5 * (1 << 20))
    #expect(store.texts == ["a"])
    #expect(store.damage.count == 5)
    try store.create("b")
    let look = count { for _ in 0..<3 { _ = store.rescan() } }
    #expect(look < 64 << 10, "\(look)")
    #expect(try count { _ = try store.compact() } < 5 * (1 << 20))
    #expect(store.damage.count == 5)
  }

  @Test func `with more redactions than there can be are refused`() throws {
    func coverage(_ redactions: UInt64) throws -> [SessionPiece] {
      var writer = ByteWriter()
      writer.varint(redactions)
      writer.varint(0)
      return try SnapshotFormat.coverage(decoding: writer.bytes[...])
    }
    #expect(try coverage(SnapshotFormat.mostRedactions).isEmpty)
    for redactions in [SnapshotFormat.mostRedactions + 1, .max] {
      #expect(throws: DecodingFailure.self) { try coverage(redactions) }
    }
  }

  @Test func `are read again when they have changed, and are forgotten when they are gone`() throws
  {
    let writer = try open()
    for number in 0..<3 { try writer.create("note \(number)") }
    try writer.end()
    _ = try open(2).compact()
    let (key, whole) = try #require(
      disk.files(below: "\(Self.path)/snap").first { $0.key.hasSuffix(".snap") })
    let snapshot = "\(Self.path)/snap/\(key)"
    for log in disk.files(below: "\(Self.path)/log").keys { disk.take("\(Self.path)/log/\(log)") }
    var damaged = whole
    damaged[SnapshotFormat.head([]).count + 80] ^= 1
    disk.take(snapshot)
    disk.put(damaged, at: snapshot)
    let reader = try open(3)
    #expect(reader.texts.isEmpty && reader.damage.count == 1)
    #expect(count { _ = reader.rescan() } < whole.count / 2)
    #expect(reader.damage.count == 1)
    disk.take(snapshot)
    _ = reader.rescan()
    #expect(reader.damage.isEmpty)
    disk.put(damaged, at: snapshot)
    _ = reader.rescan()
    #expect(reader.damage.count == 1)
    disk.take(snapshot)
    disk.put(whole, at: snapshot)
    _ = reader.rescan()
    #expect(reader.texts.count == 3 && reader.damage.isEmpty, "\(reader.damage)")
  }

  /// A disk that fails for a moment says nothing about the file.
  @Test func `are tried again after an error of the disk`() throws {
    let writer = try open()
    try writer.create("a note")
    try writer.end()
    _ = try open(2).compact()
    for log in disk.files(below: "\(Self.path)/log").keys { disk.take("\(Self.path)/log/\(log)") }
    let (key, bytes) = try #require(disk.files(below: "\(Self.path)/snap").first)
    disk.take("\(Self.path)/snap/\(key)")
    let reader = try open(3)
    disk.put(bytes, at: "\(Self.path)/snap/\(key)")
    disk.fault = { _, call in call == .read ? .error(EIO) : nil }
    _ = reader.rescan()
    #expect(reader.texts.isEmpty && !reader.damage.isEmpty)
    disk.fault = nil
    _ = reader.rescan()
    #expect(reader.texts == ["a note"] && reader.damage.isEmpty, "\(reader.damage)")
  }
}

extension ChangePacker {
  /// The whole of a file.
  fileprivate var finished: [UInt8] {
    var packer = self
    return packer.finish()
  }
}
