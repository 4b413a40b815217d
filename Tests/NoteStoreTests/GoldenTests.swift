import Bytes
import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

@Suite(.computing) struct `Notebooks that earlier versions wrote` {
  private static let path = "/home/notes"
  private static let state = "/home/state"

  private func disk(_ files: [String: [UInt8]]) -> MemoryDisk {
    let disk = MemoryDisk()
    disk.put([], at: "/home/.profile")
    for (path, bytes) in files.sorted(by: { $0.key < $1.key }) {
      disk.put(bytes, at: "\(Self.path)/\(path)")
    }
    // What was just written may still change.
    disk.pass(60)
    return disk
  }

  private func open(_ disk: MemoryDisk, state: String? = nil) throws -> NoteStore {
    try NoteStore(path: Self.path, state: state, on: disk, makeIdentifier: makeIdentifier)
  }

  /// The parts of a folder that say all there is to say: what was folded, the logs or the snapshots say alone.
  private func parts(_ files: [String: [UInt8]]) -> [String: [String: [UInt8]]] {
    let coverage = files.values.compactMap { FolderContents.Snapshot($0)?.coverage }.joined()
    let unfolded = files.filter { path, bytes in
      guard let log = FolderContents.Log(bytes) else { return true }
      return !log.entries.allSatisfy { entry in
        coverage.contains { $0.session == log.session && $0.numbers.contains(entry.number) }
      }
    }
    return [
      "everything": files, "logs": files.filter { !$0.key.hasPrefix("snap/") },
      "snapshots": unfolded,
    ]
  }

  @Test(arguments: GoldenNotebook.all.map(\.number))
  func `say what they said then, with and without snapshots and state`(number: Int) throws {
    let golden = GoldenNotebook(number: number)
    let (files, expected) = (try golden.files, try golden.expected)
    for (name, part) in parts(files) {
      #expect(name == "everything" || part.count < files.count)
      let disk = disk(part)
      let store = try open(disk, state: Self.state)
      #expect(store.damage == [], "\(name)")
      #expect(try store.account() == expected, "\(name)")
      store.archiving.unkept += 1 << 20
      store.keep { true }
      #expect(!disk.files(below: Self.state).isEmpty)
      #expect(try open(disk, state: Self.state).account() == expected, "\(name), with state")
      #expect(disk.files(below: Self.path) == part, "\(name)")
      for day in 0..<3 {
        _ = try open(disk).compact()
        let again = try open(disk, state: day == 1 ? Self.state : nil)
        #expect(try again.account() == expected && again.damage == [], "\(name), folded")
        disk.pass(86_400 + 100)
      }
      #expect(!disk.files(below: Self.path).keys.contains { $0.hasSuffix(".seg") })
    }
  }

  /// If this fails by intention: see Tests/README.md.
  @Test func `are what is written today, to the byte`() throws {
    let (files, again) = (try GoldenScenario.files(), try GoldenScenario.files())
    #expect(files == again, "what is written for the same changes depends on chance")
    let golden = try GoldenNotebook.all.last?.files ?? [:]
    let different = Set(files.keys).union(golden.keys).filter { files[$0] != golden[$0] }
    if different.isEmpty { return }
    if ProcessInfo.processInfo.environment["DECENT_NOTES_RECORD"] != nil {
      return try GoldenNotebook.record(files, try open(disk(files)).account())
    }
    Issue.record("the format has changed: \(different.sorted())")
  }

  // MARK: - Later versions

  /// What a later version makes of a file: the same, with another version in its place.
  private func later(_ file: [UInt8]) -> [UInt8] {
    if file.starts(with: [UInt8(ascii: "{")]) {
      let text = String(decoding: file, as: UTF8.self)
      return Array(text.replacing(#""version":1"#, with: #""version":7"#).utf8)
    }
    guard file.starts(with: LogFormat.magic) else {
      return containerHeader(2, version: 7) + file.dropFirst(containerHeader(2).count)
    }
    var bytes = file
    bytes[8] = 7
    bytes.setInteger(SHA256.prefix64(of: bytes[..<64]).byteSwapped, at: 64)
    return bytes
  }

  @Test(arguments: ["decent.json", "decent.sync-conflict-20260101-120000-ABCDEFG.json"])
  func `are not opened when a later one has been there`(name: String) throws {
    var files = try #require(GoldenNotebook.all.last).files
    files[name] = later(try #require(files[name]))
    for state in [nil, Self.state] {
      let disk = disk(files)
      let error = #expect(throws: StoreError.self) { () throws in
        _ = try open(disk, state: state)
      }
      #expect(
        error?.description
          == "open \(Self.path)/\(name): written by a later version of the program (format 7)")
      #expect(error?.reason == .newerFormat)
      #expect(disk.files(below: Self.path) == files)
    }
  }

  @Test func `are read but for logs and snapshots of later ones, which stay as they are`() throws {
    let golden = try #require(GoldenNotebook.all.last).files
    for name in golden.keys.filter({ !$0.hasSuffix(".json") }).sorted() {
      var files = golden
      files[name] = later(golden[name]!)
      let disk = disk(files)
      var store = try open(disk)
      let damage = store.damage.filter { $0.path == "\(Self.path)/\(name)" }
      #expect(damage.map(\.description) == ["of a later format (7)"], "\(name)")
      // All else is read and written; nobody takes the file for one that may go.
      try store.create("more")
      try store.end()
      for _ in 0..<3 {
        _ = try open(disk).compact()
        disk.pass(86_400 + 100)
      }
      store = try open(disk, state: Self.state)
      #expect(store.texts.contains("more"))
      #expect(disk.files(below: Self.path)[name] == files[name], "\(name)")
      _ = try store.repair(store.damage)
      #expect(disk.files(below: Self.path)[name] == files[name], "\(name)")
    }
  }
}
