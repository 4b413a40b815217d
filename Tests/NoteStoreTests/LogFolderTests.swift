import Foundation
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

@Suite struct `A log folder` {
  let scratch = TemporaryFolder()

  @Test func `gives back what was appended, in order, once`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix64(seed: seed)
    var writer = try scratch.open()
    var expected: [Line] = []
    var number: UInt64 = 0
    let session = writer.session()
    for _ in 0..<60 {
      var records: [(type: UInt8, payload: [UInt8])] = []
      for _ in 0..<(1 + random.below(4)) {
        let size = random.below(8) == 0 ? random.below(3_000) : random.below(40)
        records.append((UInt8(random.below(256)), random.bytes(size)))
        number += 1
        let record = LogRecord(
          session: session, number: number, type: records.last!.type,
          payload: records.last!.payload)
        expected.append(Line(record))
      }
      try writer.append(records)
    }
    #expect(writer.appended == number)
    #expect(writer.readNew().isEmpty, "our own live session is not news")
    var reader = try scratch.open()
    #expect(reader.readNew().map(Line.init) == expected, "seed \(seed)")
    #expect(reader.readNew().isEmpty)
    #expect(reader.damage == [])
    #expect(reader.notebook!.description == writer.notebook!.description)
  }

  @Test func `reads in portions when asked to`() throws {
    var writer = try scratch.open()
    for i in 0..<50 { try writer.append("record \(i)") }
    var reader = try scratch.open()
    var texts: [String] = []
    while case let part = reader.readNew(.noticed, limit: 30), !part.isEmpty {
      #expect(part.count <= 4)
      texts += part.map { String(decoding: $0.payload, as: UTF8.self) }
    }
    #expect(texts == (0..<50).map { "record \($0)" })
  }

  @Test func `takes records up to 64 MiB together, and no more`() throws {
    var writer = try scratch.open()
    let large = [UInt8](repeating: 7, count: 1 << 20)
    try writer.append([(1, large), (2, large)])
    let session = writer.session().description
    let tooLarge = [UInt8](repeating: 0, count: 1 << 26)
    let error = #expect(throws: StoreError.self) { () throws in
      try writer.append([(1, tooLarge)])
    }
    #expect(error?.reason == .tooLarge)
    #expect(writer.session().description == session)
    try writer.append("after")
    var reader = try scratch.open()
    #expect(reader.readNew().map(\.payload.count) == [1 << 20, 1 << 20, 5])
  }

  @Test func `is left alone by a thousand opens`() throws {
    for _ in 0..<500 {
      var folder = try scratch.open()
      #expect(folder.readNew().isEmpty)
      _ = folder.session()
      #expect(folder.notebook == nil)
    }
    #expect(listing(scratch.path) == [])

    var writer = try scratch.open()
    try writer.append("one")
    let before = listing(scratch.path)
    #expect(before.count == 5)
    for _ in 0..<1_000 {
      var folder = try scratch.open()
      #expect(folder.newTexts() == ["one"])
      _ = folder.session()
    }
    #expect(listing(scratch.path) == before)
  }

  @Test func `creates private files and folders, with the folders above`() throws {
    var writer = try LogFolder(path: scratch.path + "/a/b/c/", makeIdentifier: makeIdentifier)
    try writer.append("one")
    let root = scratch.path + "/a/b/c"
    #expect(writer.path == root)
    let session = "\(root)/log/\(writer.session().description)"
    for folder in [scratch.path + "/a", scratch.path + "/a/b", root, "\(root)/log", session] {
      #expect(mode(folder) == 0o700, "\(folder)")
    }
    for file in ["\(root)/decent.json", "\(session)/0.open"] {
      #expect(mode(file) == 0o600, "\(file)")
    }
    let id = writer.notebook!.description
    let text = "{\"format\":\"Decent Notes\",\"version\":1,\"notebook\":\"\(id)\"}\n"
    #expect(contents("\(root)/decent.json") == Array(text.utf8))
    #expect(listing(root).count == 4, "no temporary file stays")
  }

  @Test func `has one identity for two sessions that were first at once`() throws {
    var one = try scratch.open()
    var two = try scratch.open()
    one.adopt(notebook: Identifier(high: 1, low: 1))
    two.adopt(notebook: Identifier(high: 2, low: 2))
    try one.append("one")
    try two.append("two")
    #expect(one.notebook!.description == Identifier(high: 1, low: 1).description)
    #expect(two.notebook!.description == Identifier(high: 1, low: 1).description)
    #expect(one.newTexts() == ["two"])
    #expect(two.newTexts() == ["one"])
    two.adopt(notebook: Identifier(high: 3, low: 3))
    #expect(two.notebook!.description == Identifier(high: 1, low: 1).description)
  }

  @Test func `takes its identity from the logs when decent.json is missing`() throws {
    var writer = try scratch.open()
    try writer.append("one")
    try FileManager.default.removeItem(atPath: scratch.notebook + "/decent.json")
    var other = try scratch.open()
    #expect(other.notebook == nil)
    #expect(other.newTexts() == ["one"])
    try other.append("two")
    #expect(other.notebook!.description == writer.notebook!.description)
  }

  @Test func `hands a live writer's records to a reader once each`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix64(seed: seed)
    var writer = try scratch.open()
    var reader = try scratch.open()
    var other = try scratch.open()
    var seen: [String] = []
    var wanted: [String] = []
    for i in 0..<400 {
      try writer.append("\(i)")
      wanted.append("\(i)")
      if random.below(10) == 0 { try other.append("other") }
      if random.below(3) == 0 { seen += reader.newTexts().filter { $0 != "other" } }
    }
    seen += reader.newTexts().filter { $0 != "other" }
    #expect(seen == wanted, "seed \(seed)")
    #expect(reader.damage == [])
  }
}

@Suite struct `Synchronizing a log folder` {
  let scratch = TemporaryFolder()

  @Test func `happens in the background, in groups`() throws {
    var writer = try scratch.open()
    try writer.append("one", "two")
    #expect((writer.appended, writer.durable) == (2, 0))
    writer.requestSync()
    try writer.append("three")
    writer.requestSync()
    writer.requestSync()
    while writer.durable < 3 {
      var entry = pollfd(fd: writer.wakeDescriptor, events: Int16(POLLIN), revents: 0)
      #expect(poll(&entry, 1, 10_000) == 1)
      try writer.drainWakeUps()
    }
    try writer.drainWakeUps()
    #expect(writer.doubtful == nil)
  }

  @Test func `can be waited for`() throws {
    var writer = try scratch.open()
    try writer.sync()
    for i in 0..<20 {
      try writer.append("\(i)")
      if i % 3 == 0 { writer.requestSync() }
    }
    try writer.sync()
    #expect((writer.appended, writer.durable) == (20, 20))
  }

  @Test func `leaves records in doubt whose file was taken away`() throws {
    var writer = try scratch.open()
    try writer.append("one", "two")
    try writer.sync()
    try FileManager.default.removeItem(atPath: writer.livePath())
    let session = writer.session()
    #expect(writer.doubtful == 0..<2)
    #expect(writer.durable == 0)
    try writer.append("one again", "two again")
    #expect(throws: StoreError.self) { () throws in try writer.sync() }
    writer.markRewritten()
    try writer.sync()
    #expect((writer.appended, writer.durable) == (4, 4))
    var reader = try scratch.open()
    #expect(reader.newTexts() == ["one again", "two again"])
    #expect(session.description == writer.session().description)
  }
}
