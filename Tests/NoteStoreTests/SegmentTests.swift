import Foundation
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// The segments of a session as files, complete, with the names they have then.
func segments(
  of session: Identifier, _ contents: [[[String]]]
) -> [(name: String, bytes: [UInt8])] {
  var header = LogHeader(notebook: Identifier(high: 7, low: 7), session: session)
  var files: [(name: String, bytes: [UInt8])] = []
  for appends in contents {
    var encoder = LogEncoder(header: header)
    var bytes: [UInt8] = []
    for append in appends {
      encoder.encode(append.map { (type: 1, payload: Array($0.utf8)) })
      bytes += encoder.bytes[encoder.start...]
      encoder.accept()
    }
    let end = ChainPosition(number: encoder.number, hash: encoder.hash)
    files.append(
      (SegmentName(segment: header.segment, end: encoder.hash).description, bytes))
    header = LogHeader(after: header, end: end)!
  }
  return files
}

@Suite struct `The segments of a session` {
  static let session = Identifier(high: 0xaaaa, low: 0xbbbb)
  static let root = "/home/notes"
  static let folder = "\(root)/log/\(session.description)"
  /// Twelve segments, so that in the order of their names 10 stands before 2.
  static let contents = (0..<12).map { segment in
    (0..<(1 + segment % 3)).map { append in
      (0...append).map { "\(segment).\(append).\($0)" }
    }
  }
  static let texts = contents.flatMap { $0.flatMap(\.self) }

  private func open(_ disk: MemoryDisk) throws(StoreError) -> LogFolder {
    try LogFolder(path: Self.root, on: disk, makeIdentifier: makeIdentifier)
  }

  @Test func `are read in their order`() throws {
    let disk = MemoryDisk()
    for file in segments(of: Self.session, Self.contents) {
      disk.put(file.bytes, at: "\(Self.folder)/\(file.name)")
    }
    var reader = try open(disk)
    #expect(reader.newTexts() == Self.texts)
    #expect(reader.damage == [])
    let calls = disk.calls
    #expect(reader.newTexts() == [])
    #expect(disk.calls - calls < 30, "what did not change is not opened again")
  }

  /// What is left in the folder looks complete.
  @Test(arguments: [["11"], ["0"], (0..<12).map(String.init)])
  func `are missed when they are taken away, however late one looks`(taken: [String]) throws {
    let disk = MemoryDisk()
    let files = segments(of: Self.session, Self.contents)
    for file in files { disk.put(file.bytes, at: "\(Self.folder)/\(file.name)") }
    var reader = try open(disk)
    for seconds in [0, 100] as [Int64] {
      disk.moveClock(by: seconds * 1_000_000_000)
      _ = reader.readNew()
    }
    let needsRepublish = reader.needsRepublish
    #expect(!needsRepublish)
    for file in files where taken.contains(String(file.name.prefix { $0 != "-" })) {
      disk.take("\(Self.folder)/\(file.name)")
    }
    disk.moveClock(by: 100_000_000_000)
    #expect(reader.newTexts() == [])
    let needsRepublishNow = reader.needsRepublish
    #expect(needsRepublishNow)
  }

  @Test func `are read in portions when asked to`() throws {
    let disk = MemoryDisk()
    for file in segments(of: Self.session, Self.contents).reversed() {
      disk.put(file.bytes, at: "\(Self.folder)/x\(file.name)")
    }
    var reader = try open(disk)
    var texts: [String] = []
    while case let part = reader.readNew(limit: 12), !part.isEmpty {
      #expect(part.count <= 6)
      texts += part.map { String(decoding: $0.payload, as: UTF8.self) }
    }
    #expect(texts == Self.texts)
  }

  @Test func `wait for those before them, in whatever order and form they come`() throws {
    let files = segments(of: Self.session, Self.contents)
    for seed in seeds(40) {
      var random = SplitMix64(seed: seed)
      let disk = MemoryDisk()
      var reader = try open(disk)
      var texts: [String] = []
      var missing = Array(files.indices)
      while !missing.isEmpty {
        let file = files[missing.remove(at: random.below(missing.count))]
        let path =
          switch random.below(4) {
          case 0: "\(Self.root)/log/\(file.name) (1)"
          case 1: "\(Self.folder)/copy of \(file.name)"
          default: "\(Self.folder)/\(file.name)"
          }
        switch random.below(4) {
        case 0:
          // First a part, under the name it had then.
          let open = "\(Self.folder)/\(SegmentName(file.name)!.whileOpen)"
          disk.put(Array(file.bytes.prefix(random.below(file.bytes.count))), at: open)
          texts += reader.newTexts()
        case 1: disk.put(file.bytes, at: "\(Self.root)/log/again \(file.name)")
        default: break
        }
        disk.put(file.bytes, at: path)
        if random.below(2) == 0 {
          texts += reader.newTexts()
          #expect(texts == Array(Self.texts.prefix(texts.count)), "seed \(seed)")
        }
        #expect(reader.damage == [], "seed \(seed)")
      }
      texts += reader.newTexts()
      #expect(texts == Self.texts, "seed \(seed)")
      #expect(reader.damage == [], "seed \(seed)")
      #expect(reader.newTexts() == [], "seed \(seed)")
    }
  }

  @Test func `are damage when they don't end as their name says`() throws {
    let file = segments(of: Self.session, Self.contents)[2]
    for cut in 0..<file.bytes.count {
      let disk = MemoryDisk()
      for file in segments(of: Self.session, Self.contents).prefix(2) {
        disk.put(file.bytes, at: "\(Self.folder)/\(file.name)")
      }
      disk.put(Array(file.bytes[..<cut]), at: "\(Self.folder)/\(file.name)")
      var reader = try open(disk)
      _ = reader.newTexts()
      #expect(reader.damage.map(\.path) == ["\(Self.folder)/\(file.name)"], "cut at \(cut)")
      disk.put(file.bytes, at: "\(Self.folder)/\(file.name)")
      _ = reader.newTexts()
      #expect(reader.damage == [], "cut at \(cut)")
    }
  }

  @Test func `are damage when they go on with another history`() throws {
    var other = Self.contents
    other[1][0] = ["something else"]
    let files = segments(of: Self.session, Self.contents)
    let others = segments(of: Self.session, other)
    let disk = MemoryDisk()
    for file in files { disk.put(file.bytes, at: "\(Self.folder)/\(file.name)") }
    for (index, file) in others.enumerated() {
      disk.put(file.bytes, at: "\(Self.root)/log/other \(index)")
    }
    var reader = try open(disk)
    #expect(reader.newTexts() == Self.texts)
    #expect(
      Set(reader.damage.map(\.path)) == Set((1..<12).map { "\(Self.root)/log/other \($0)" }))
  }

  @Test func `are damage when they are cut elsewhere`() throws {
    let whole = segments(of: Self.session, [Self.contents[0] + [["more"]]])
    let parts = segments(of: Self.session, Self.contents)
    for (first, second) in [(whole, parts), (parts, whole)] {
      let disk = MemoryDisk()
      for file in first { disk.put(file.bytes, at: "\(Self.folder)/\(file.name)") }
      var reader = try open(disk)
      let texts = reader.newTexts()
      #expect(reader.damage == [])
      for file in second { disk.put(file.bytes, at: "\(Self.root)/log/other \(file.name)") }
      #expect(reader.newTexts() == [])
      #expect(!reader.damage.isEmpty)
      #expect(
        texts == (first.count == 1 ? Self.contents[0].flatMap(\.self) + ["more"] : Self.texts))
    }
  }

  @Test func `have names of digits only`() {
    let name = SegmentName(segment: 12, end: 0x00ab_cdef_0123_4567)
    #expect(name.description == "12-00abcdef.seg")
    #expect(SegmentName("12-00abcdef.seg") == name)
    let last = SegmentName(segment: 12, end: 0x00ab_cdef_0123_4567, endsSession: true)
    #expect(last.description == "12-00abcdef-end.seg")
    #expect(SegmentName("12-00abcdef-end.seg") == last)
    #expect(last.whileOpen == name.whileOpen)
    for name in [
      "", "-", "12-00abcdef.SEG", "12-00ABCDEF.seg", "012-00abcdef.seg", "+2-00abcdef.seg",
      "12-00abcdef-end", "12-00abcdef-end-end.seg", "12-00abcdef--end.seg", "12-00abcdef-End.seg",
      "12-0abcdef.seg", "12-+0abcdef.seg", "12-00abcdef.seg.", "12-00abcdef-.seg", "12.open",
      "4294967296-00abcdef.seg", "-1-00abcdef.seg",
    ] {
      #expect(SegmentName(name) == nil, "\(name)")
    }
  }

  @Test func `begin with a header that agrees with itself`() throws {
    var header = LogHeader(notebook: Self.session, session: Self.session)
    #expect(try LogHeader(decoding: header.encoded()[...]) == header)
    header.segment = 1
    #expect(throws: LogHeader.Failure.self) { try LogHeader(decoding: header.encoded()[...]) }
    header.recordsBefore = 3
    header.hashBefore = 0x0102_0304_0506_0708
    #expect(try LogHeader(decoding: header.encoded()[...]) == header)
    #expect(Array(header.encoded()[56..<64]) == [1, 2, 3, 4, 5, 6, 7, 8])
    header.segment = 0
    #expect(throws: LogHeader.Failure.self) { try LogHeader(decoding: header.encoded()[...]) }
  }
}

@Suite struct `Sealing` {
  static let root = "/home/notes"
  let disk = MemoryDisk()
  let start = Instant(nanoseconds: 0)

  init() { disk.put([], at: "/home/.profile") }

  private func open() throws(StoreError) -> LogFolder {
    try LogFolder(path: Self.root, on: disk, makeIdentifier: makeIdentifier)
  }

  /// The names of the files in the log, in their order.
  private var names: [String] {
    disk.files.keys.filter { $0.contains("/log/") }.map { $0.split(separator: "/").last! }.sorted()
      .map(String.init)
  }

  @Test func `happens after five seconds without writes`() throws {
    var writer = try open()
    #expect(writer.sealIfDue(at: start) == nil)
    try writer.append("one")
    #expect(writer.sealIfDue(at: start + .seconds(1)) == start + .seconds(6))
    try writer.append("two")
    #expect(writer.sealIfDue(at: start + .seconds(4)) == start + .seconds(9))
    #expect(writer.sealIfDue(at: start + .seconds(8)) == start + .seconds(9))
    #expect(names == ["0.open"])
    #expect(writer.sealIfDue(at: start + .seconds(9)) == nil)
    #expect(names == ["0.open"], "the disk was not waited for")
    disk.performSyncs()
    try writer.drainWakeUps()
    #expect(names.count == 1 && SegmentName(names[0])?.segment == 0)
    #expect((writer.appended, writer.durable) == (2, 2))
    #expect(writer.sealIfDue(at: start + .seconds(90)) == nil)
    var reader = try open()
    #expect(reader.newTexts() == ["one", "two"])
    #expect(reader.damage == [])
  }

  @Test func `happens every minute of constant writing, and the session goes on`() throws {
    var writer = try open()
    var reader = try open()
    let session = writer.session().description
    var texts: [String] = []
    for second in 0..<200 {
      try writer.append("\(second)")
      _ = writer.sealIfDue(at: start + .seconds(second))
      disk.performSyncs()
      try writer.drainWakeUps()
      texts += reader.newTexts()
    }
    try writer.sync()
    #expect(names.map { SegmentName($0)?.segment } == [0, 1, 2, nil])
    #expect(names.last == "3.open")
    #expect(writer.session().description == session)
    #expect(texts == (0..<200).map { "\($0)" })
    #expect(reader.damage == [])
    var late = try open()
    #expect(late.newTexts() == texts)
  }

  @Test func `happens at 64 KiB`() throws {
    var writer = try open()
    try writer.append(String(repeating: "x", count: 65_000))
    #expect(writer.sealIfDue(at: start) != nil)
    try writer.append(String(repeating: "y", count: 1_000))
    #expect(writer.sealIfDue(at: start) == nil)
    try writer.append("more")
    try writer.sync()
    #expect(names.count == 2 && SegmentName(names[0]) != nil && names[1] == "1.open")
  }

  @Test func `leaves the file as it is when its name cannot be changed`() throws {
    var writer = try open()
    try writer.append("one")
    disk.fault = { _, call in call == .rename ? .error(EIO) : nil }
    writer.seal()
    try writer.sync()
    disk.fault = nil
    try writer.append("two")
    writer.seal()
    try writer.sync()
    #expect(names.count == 2 && names[0] == "0.open" && SegmentName(names[1])?.segment == 1)
    #expect(writer.durable == 2)
    var reader = try open()
    #expect(reader.newTexts() == ["one", "two"])
    #expect(reader.damage == [])
  }

  @Test func `goes on in a new session when a segment cannot be put on disk`() throws {
    var writer = try open()
    try writer.append("one")
    try writer.sync()
    writer.seal()
    try writer.append("two")
    writer.seal()
    try writer.append("three")
    let session = writer.session().description
    disk.fault = { _, call in call == .synchronizeFile ? .error(EIO) : nil }
    #expect(throws: StoreError.self) { () throws in try writer.sync() }
    disk.fault = nil
    #expect(writer.doubtful == 1..<3, "what follows cannot be read without it")
    #expect(writer.session().description != session)
    try writer.append("two", "three")
    writer.markRewritten()
    try writer.sync()
    #expect(disk.violations == [])
    #expect(names.count == 4)
  }

  @Test func `notices when a sealed file goes away`() throws {
    var writer = try open()
    try writer.append("one")
    writer.seal()
    try writer.sync()
    try writer.append("two")
    writer.seal()
    try writer.sync()
    #expect(writer.doubtful == nil)
    let session = writer.session().description
    disk.take("\(Self.root)/log/\(session)/\(names[0])")
    #expect(writer.newTexts() == [])
    #expect(writer.doubtful == 0..<2)
    #expect(writer.session().description != session)
    writer.markRewritten()
    #expect(writer.newTexts() == [])
    #expect(writer.doubtful == nil, "it is missed once")
  }

  @Test func `notices before the next segment when the one before went away`() throws {
    var writer = try open()
    try writer.append("one")
    writer.seal()
    try writer.sync()
    let session = writer.session().description
    disk.take("\(Self.root)/log/\(session)/\(names[0])")
    #expect(writer.session().description != session)
    #expect(writer.doubtful == 0..<1)
  }

  @Test func `is read once by who read the file before`() throws {
    var writer = try open()
    var reader = try open()
    try writer.append("one")
    #expect(reader.newTexts() == ["one"])
    try writer.append("two")
    writer.seal()
    try writer.sync()
    #expect(reader.newTexts() == ["two"])
    try writer.append("three")
    #expect(reader.newTexts() == ["three"])
    #expect(reader.damage == [])
  }
}
