import Foundation
import ReplicatingTypes
import Testing

@testable import NoteStore

@Suite struct `Files that somebody takes away` {
  private let disk = MemoryDisk()

  init() { disk.put([], at: "/home/.profile") }

  private func open(state: String? = nil) throws -> NoteStore {
    try NoteStore(path: Day.path, state: state, on: disk, makeIdentifier: makeIdentifier)
  }

  /// The file that holds what a new process writes.
  private func write(_ text: String) throws -> String {
    let store = try open()
    try store.create(text)
    return "\(Day.path)/log/\(try store.nextSession())/0.open"
  }

  @Test func `are written again when what was read in them had to wait until later`() throws {
    let (first, second) = (try write("a1"), try write("b1"))
    let bytes = disk.files[first]!
    disk.take(first)
    let store = try open()
    #expect(store.texts == [])
    disk.take(second)
    _ = store.rescan()
    disk.put(bytes, at: first)
    _ = store.rescan()
    #expect(Set(store.texts) == ["a1", "b1"])
    #expect(try open().notebook == store.notebook)
  }

  @Test func `are written again with what follows them in a file that comes later`() throws {
    let first = try open()
    try first.create("a1")
    let folder = "\(Day.path)/log/\(try first.nextSession())"
    let now = Instant(nanoseconds: 0)
    for seconds in [0, 10] { _ = first.sealIfDue(at: now + .seconds(seconds)) }
    try first.create("a2")
    let bytes = disk.files["\(folder)/1.open"]!
    disk.take("\(folder)/1.open")
    let store = try open()
    #expect(store.texts == ["a1"])
    disk.take(folder)
    _ = store.rescan()
    disk.put(bytes, at: "\(folder)/1.open")
    _ = store.rescan()
    #expect(Set(store.texts) == ["a1", "a2"])
    #expect(try open().notebook == store.notebook)
  }

  @Test func `are written again when a shorter one came in their place and went, too`() throws {
    let first = try open()
    try first.create("a1")
    let file = "\(Day.path)/log/\(try first.nextSession())/0.open"
    let shorter = disk.files[file]!
    try first.create("a2")
    try first.end()
    let store = try open()
    disk.take(disk.files.keys.first { $0.hasSuffix(".seg") }!)
    disk.put(shorter, at: file)
    _ = store.rescan()
    disk.take(file)
    _ = store.rescan()
    #expect(Set(store.texts) == ["a1", "a2"])
    #expect(try open().notebook == store.notebook)
  }

  /// Its own look has missed the file, and a closer one has found it.
  @Test func `are written again when they came back for a moment between two looks`() throws {
    let file = try write("a1")
    let bytes = disk.files[file]!
    let store = try open()
    disk.take(file)
    _ = store.refresh()
    #expect(store.isInDoubt)
    disk.put(bytes, at: file)
    try store.create("b1")
    #expect(!store.isInDoubt)
    disk.take(file)
    // And once more.
    _ = store.refresh()
    disk.put(bytes, at: file)
    try store.create("b2")
    disk.take(file)
    _ = store.rescan()
    #expect(Set(store.texts) == ["a1", "b1", "b2"])
    #expect(try open().notebook == store.notebook)
  }

  /// What was kept says that the folder holds it; it came after the first look and went before the second.
  @Test func `are written again when they were there but for the looks of who was told of them`()
    throws
  {
    let file = try write("a1")
    let bytes = disk.files[file]!
    let first = try open(state: "/home/state")
    first.archiving.unkept += 1 << 21
    while first.hasWork { _ = first.work() }
    disk.take(file)
    let store = try open(state: "/home/state")
    #expect(store.texts == ["a1"])
    disk.put(bytes, at: file)
    try store.create("b1")
    disk.take(file)
    _ = store.rescan()
    #expect(try open().notebook == store.notebook)
  }

  /// Whoever reads nothing else finds all its records, and who knows the first history never will: a closer look each time would
  /// find no more.
  @Test
  func `are not looked for again and again where another history of a session took its place`()
    throws
  {
    let session = makeIdentifier()
    func write(_ texts: [String], on disk: MemoryDisk) throws {
      disk.put([], at: "/home/.profile")
      let store = try NoteStore(path: Day.path, on: disk) { session }
      for text in texts { try store.create(text) }
    }
    let other = MemoryDisk()
    try write(["a1", "a2"], on: disk)
    try write(["x1", "x2", "x3"], on: other)
    let file = "\(Day.path)/log/\(session)/0.open"
    let store = try open()
    #expect(Set(store.texts) == ["a1", "a2"])
    _ = store.rescan()
    func callsOfRescan() -> Int {
      let before = disk.calls
      _ = store.rescan()
      return disk.calls - before
    }
    let calm = callsOfRescan()
    disk.put(other.files[file]!, at: file)
    #expect(callsOfRescan() > calm)
    for _ in 0..<4 { _ = store.rescan() }
    #expect(callsOfRescan() < 2 * calm)
  }

  @Test func `are not kept beside the folder as if they were in it`() throws {
    let file = try write("a1")
    let store = try open(state: "/home/state")
    disk.take(file)
    _ = store.refresh()
    store.archiving.unkept += 1 << 21
    while store.hasWork { _ = store.work() }
    let next = try open(state: "/home/state")
    _ = next.rescan()
    #expect(try open().notebook == next.notebook)
  }

  /// A file of ours that could not be looked after is given up: it can be read, and nobody puts it on disk.
  @Test func `are not taken to be in one that was given up before it was on disk`() throws {
    let store = try open()
    try store.create("a")
    let given = "\(Day.path)/log/\(try store.nextSession())/0.open"
    let before = Set(disk.files.keys)
    // Not even its status can be asked for; then it is written again elsewhere.
    disk.fault = { _, call in call == .status ? .error(EIO) : nil }
    _ = store.rescan()
    disk.fault = nil
    _ = store.rescan()
    try store.sync()
    let copies = disk.files.keys.filter { !before.contains($0) }
    #expect(!copies.isEmpty && disk.files[given] != nil)
    for copy in copies { disk.take(copy) }
    _ = store.rescan()
    try store.sync()
    let disk = disk.afterWorstPowerCut()
    let fresh = try NoteStore(path: Day.path, on: disk, makeIdentifier: makeIdentifier)
    #expect(fresh.texts == ["a"])
  }
}
