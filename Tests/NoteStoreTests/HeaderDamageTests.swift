import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

@Suite(.computing) struct `A log whose header is damaged` {
  private static let root = "/home/notes"
  private static let notebook = Identifier(high: 0x0123, low: 0x4567)
  private static let session = Identifier(high: 0xaaaa, low: 0xbbbb)
  private static let folder = "\(root)/log/\(session)"
  private static let texts = (1...9).map { "record \($0)" }

  /// Three segments of three records each.
  private let segments: [(name: String, bytes: [UInt8])]

  init() {
    var segments: [(name: String, bytes: [UInt8])] = []
    var header = LogHeader(notebook: Self.notebook, session: Self.session)
    for texts in [Self.texts[..<3], Self.texts[3..<6], Self.texts[6...]] {
      var encoder = LogEncoder(header: header)
      var bytes: [UInt8] = []
      for text in texts {
        encoder.encode([(type: 1, payload: Array(text.utf8))])
        bytes += encoder.bytes[encoder.start...]
        encoder.accept()
      }
      let end = ChainPosition(number: encoder.number, hash: encoder.hash)
      segments.append(("\(header.segment).open", bytes))
      header = LogHeader(after: header, end: end)!
    }
    self.segments = segments
  }

  private func disk(_ files: [(name: String, bytes: [UInt8])]) -> MemoryDisk {
    let disk = MemoryDisk()
    disk.put(NotebookFile.encoded(Self.notebook), at: "\(Self.root)/decent.json")
    for (name, bytes) in files { disk.put(bytes, at: "\(Self.folder)/\(name)") }
    return disk
  }

  private func open(_ disk: MemoryDisk) throws(StoreError) -> LogFolder {
    try LogFolder(path: Self.root, on: disk, makeIdentifier: makeIdentifier)
  }

  private func damage(_ segment: Int, _ description: String) -> [LogFolder.Damage] {
    [
      .init(
        path: "\(Self.folder)/\(segment).open", offset: 0, description: description,
        cause: .damaged)
    ]
  }

  private let kept = "a damaged header; its records are kept"

  @Test func `is read all the same where it is any one bit`() throws {
    let segment = 1
    for bit in 0..<(8 * LogFormat.headerSize) {
      var files = segments
      files[segment].bytes[bit / 8] ^= 1 << (bit % 8)
      let disk = disk(files)
      let before = disk.files
      var reader = try open(disk)
      #expect(reader.newTexts() == Self.texts, "bit \(bit)")
      #expect(reader.damage == damage(segment, kept), "bit \(bit)")
      #expect(reader.newTexts() == [] && reader.damage == damage(segment, kept), "bit \(bit)")
      #expect(disk.files == before)
      // A good copy, in its place or beside it.
      disk.put(segments[segment].bytes, at: "\(Self.folder)/copy")
      #expect(reader.newTexts() == [] && reader.damage.count == 1, "bit \(bit)")
      disk.put(segments[segment].bytes, at: "\(Self.folder)/\(segment).open")
      #expect(reader.newTexts() == [] && reader.damage == [], "bit \(bit)")
    }
  }

  @Test func `is read where it is any one bit and nothing else is there`() throws {
    for bit in 0..<(8 * LogFormat.headerSize) {
      let disk = MemoryDisk()
      var bytes = segments[0].bytes
      bytes[bit / 8] ^= 1 << (bit % 8)
      disk.put(bytes, at: "\(Self.folder)/0.open")
      var reader = try open(disk)
      #expect(reader.newTexts() == Array(Self.texts[..<3]), "bit \(bit)")
      #expect(reader.damage == damage(0, kept), "bit \(bit)")
      #expect(reader.notebook == Self.notebook)
    }
  }

  @Test(arguments: [0..<8, 8..<16, 16..<32, 32..<48, 48..<64, 64..<72, 0..<72])
  func `is read where much of it is, if the folder says what it said`(field: Range<Int>) throws {
    for segment in 0..<3 {
      for filler in [0, 0xff, 0x5a] as [UInt8] {
        var files = segments
        for index in field { files[segment].bytes[index] = filler }
        if files[segment].bytes == segments[segment].bytes { continue }
        let disk = disk(files)
        var reader = try open(disk)
        #expect(reader.newTexts() == Self.texts)
        #expect(reader.damage.map(\.path) == ["\(Self.folder)/\(segment).open"])
        // What was in front of it may come later.
        guard segment > 0 else { continue }
        disk.take("\(Self.folder)/\(segment - 1).open")
        reader = try open(disk)
        #expect(reader.newTexts() == Array(Self.texts[..<(3 * segment - 3)]))
        #expect(reader.damage.count == 1)
        disk.put(segments[segment - 1].bytes, at: "\(Self.folder)/\(segment - 1).open")
        #expect(reader.newTexts() == Array(Self.texts[(3 * segment - 3)...]))
        #expect(reader.damage.count == 1)
      }
    }
  }

  @Test func `waits for what was behind it and is damaged too`() throws {
    // The first page of a file.
    for segment in 0..<3 {
      for count in [80, 100, 110] {
        var files = segments
        for index in 0..<count { files[segment].bytes[index] = 0 }
        let disk = disk(files)
        var reader = try open(disk)
        #expect(reader.newTexts() == Array(Self.texts[..<(3 * segment)]))
        let description = try #require(reader.damage.first?.description)
        #expect(description.contains("wait for what is missing"), "\(description)")
        // The beginning, from before.
        disk.put(Array(segments[segment].bytes[..<150]), at: "\(Self.folder)/copy")
        #expect(reader.newTexts() == Array(Self.texts[(3 * segment)...]), "\(segment), \(count)")
        #expect(reader.newTexts() == [] && reader.damage.count == 1)
      }
    }
  }

  @Test func `is reported by each run, and never folded or removed`() throws {
    let disk = MemoryDisk()
    disk.put([], at: "/home/.profile")
    func open() throws -> NoteStore {
      try NoteStore(
        path: Self.root, state: "/home/state", on: disk, makeIdentifier: makeIdentifier)
    }
    let store = try open()
    for text in ["a", "b"] {
      try store.create(text)
      store.folder.seal()
      for _ in 0..<3 {
        disk.performSyncs()
        _ = store.takeSyncResult()
      }
    }
    let name = try #require(disk.files.keys.first { $0.contains("/0-") })
    var bytes = disk.files[name]!
    bytes[40] ^= 4
    disk.put(bytes, at: name)
    for _ in 0..<3 {
      disk.pass(86_400 + 100)
      let reader = try open()
      while reader.folder.isVerifying { _ = reader.work() }
      #expect(reader.texts.sorted() == ["a", "b"])
      #expect(reader.damage.map(\.path) == [name])
      #expect(reader.loss(at: name) == .mended)
      _ = try reader.compact()
      #expect(disk.files[name] == bytes)
      reader.archiving.unkept += 1 << 20
      reader.keep { true }
    }
  }

  @Test func `is nobody's when it says of the session what is not so`() throws {
    // As if it had been moved from another folder, and then damaged.
    let other = Identifier(high: 1, low: 1)
    let disk = disk([])
    var bytes = segments[0].bytes
    for index in 16..<32 { bytes[index] = 0 }
    disk.put(bytes, at: "\(Self.root)/log/\(other)/0.open")
    var reader = try open(disk)
    #expect(reader.newTexts() == [])
    #expect(reader.damage.count == 1)
  }
}
