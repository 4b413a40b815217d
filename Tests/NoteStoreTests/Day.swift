import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

extension NoteStore {
  @discardableResult
  func create(_ text: String, at time: Int64 = 1_767_225_600_000) throws(StoreError) -> NoteID {
    let id = NoteID(creation: notebook.next(by: try nextSession()))
    try openOrder()
    try commit(
      [
        .create, .place(notebook.placement(of: id, at: 0)),
        .edit(id, .text(.insert(Array(text.utf8), after: nil, before: nil))),
      ], as: id.creation.replica, at: time)
    return id
  }

  func append(
    _ text: String, to id: NoteID, at time: Int64 = 1_767_225_600_000
  ) throws(StoreError) {
    let count = try note(id)!.text.count
    let edit = Edit(range: count..<count, replacement: Array(text.utf8))
    try commit(try operations(for: [edit], in: id, nil), at: time)
  }

  var texts: [String] {
    var texts: [String] = []
    try! notebook.forEachSummary {
      texts.append(try! notebook.note($0.id)!.text.string)
      return true
    }
    return texts
  }
}

/// What two processes do with a notebook on a disk that may fail, and what they were told.
final class Day {
  /// What the clients may rely on.
  struct Promises {
    /// Written, as the reply said.
    var acknowledged: [String] = []
    /// On disk for good, as another reply said.
    var flushed: [String] = []
    /// An error was the reply.
    var refused: [String] = []
  }

  static let path = "/home/notes"
  let disk: MemoryDisk
  private let makeIdentifier: () -> Identifier
  private var now = Instant(nanoseconds: 0)
  private(set) var promises = Promises()
  private(set) var first: NoteStore?
  private(set) var second: NoteStore?

  init(_ disk: MemoryDisk, seed: UInt64) {
    self.disk = disk
    makeIdentifier = Self.identifiers(seed)
    disk.put([], at: "/home/.profile")
  }

  private static func identifiers(_ seed: UInt64) -> () -> Identifier {
    var random = SplitMix64(seed: seed)
    return { Identifier(high: random.next(), low: random.next()) }
  }

  /// Opens a notebook, again and again if need be.
  func open() -> NoteStore? {
    for _ in 0..<3 {
      let store = try? NoteStore(path: Self.path, on: disk, makeIdentifier: makeIdentifier)
      if let store { return store }
    }
    return nil
  }

  /// Opens what could not be opened before.
  func goOn() {
    first = first ?? open()
    second = second ?? open()
  }

  func write(_ text: String, in store: NoteStore?) {
    do {
      guard try store?.create(text) != nil else { return }
      promises.acknowledged.append(text)
    } catch { promises.refused.append(text) }
  }

  func flush(_ stores: NoteStore?...) {
    let written = promises.acknowledged
    for store in stores {
      do { try store?.sync() } catch { return }
    }
    promises.flushed = written
  }

  /// Lets ten seconds pass.
  func rest(_ stores: NoteStore?...) {
    for store in stores {
      _ = store?.sealIfDue(at: now)
      _ = store?.sealIfDue(at: now + .seconds(10))
    }
    now += .seconds(10)
  }

  /// Lets the disk do what it was asked for, and asks for what failed.
  func sync(_ store: NoteStore?) {
    store?.requestSync()
    for _ in 0..<3 {
      disk.performSyncs()
      _ = store?.takeSyncResult()
    }
  }

  /// From opening an empty notebook to the end of both processes.
  func run() {
    first = open()
    write("a1", in: first)
    write("a2", in: first)
    write("a3", in: first)
    first?.requestSync()
    write("a4", in: first)
    sync(first)
    if first?.isDurable == true { promises.flushed = promises.acknowledged }
    write("a5", in: first)
    flush(first)
    rest(first)
    second = open()
    write("b1", in: second)
    _ = first?.rescan()
    write("a6", in: first)
    rest(first)
    write("a7", in: first)
    sync(first)
    flush(first, second)
    _ = second?.rescan()
    write("b2", in: second)
    write("a8", in: first)
    rest(second, first)
    write("a9", in: first)
    let written = promises.acknowledged
    do {
      try second?.end()
      try first?.end()
    } catch { return }
    promises.flushed = written
  }

  /// What is wrong with a disk that these promises were made on.
  static func broken(
    _ disk: MemoryDisk, acknowledged: [String], _ promises: Promises
  ) -> String? {
    let store: NoteStore
    do {
      store = try NoteStore(path: path, on: disk, makeIdentifier: identifiers(.max))
    } catch { return "not to be opened: \(error)" }
    let texts = store.texts
    let known = Set(promises.acknowledged + promises.refused)
    for text in Set(texts) where texts.count(where: { $0 == text }) > 1 || !known.contains(text) {
      return "\(text) in \(texts)"
    }
    for text in acknowledged where !texts.contains(text) {
      return "\(text) not in \(texts); \(store.damage)"
    }
    // Writing goes on there, too.
    do {
      try store.create("later")
      try store.sync()
    } catch { return "not to be written: \(error)" }
    return disk.violations.isEmpty ? nil : "\(disk.violations)"
  }
}
