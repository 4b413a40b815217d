import Bytes
import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// The bytes of a log file, and where each append in it ends.
func log(
  session: Identifier, _ appends: [[String]]
) -> (bytes: [UInt8], ends: [Int]) {
  let header = LogHeader(notebook: Identifier(high: 7, low: 7), session: session)
  var encoder = LogEncoder(header: header)
  var bytes: [UInt8] = []
  var ends: [Int] = []
  for append in appends {
    var records: [(type: UInt8, payload: [UInt8])] = []
    for text in append { records.append((type: 1, payload: Array(text.utf8))) }
    encoder.encode(records)
    bytes += encoder.bytes[encoder.start...]
    encoder.accept()
    ends.append(bytes.count)
  }
  return (bytes, ends)
}

/// Where in a log an append of one record begins whose length or checksum a byte is in; nil for any other byte.
func prefix(of byte: Int, _ appends: [[String]], _ ends: [Int]) -> Int? {
  let append = ends.firstIndex { $0 > byte }!
  let start = append == 0 ? LogFormat.headerSize : ends[append - 1]
  return appends[append].count == 1 && (start..<start + 8).contains(byte) ? start : nil
}

@Suite(.computing) struct `The log format` {
  let scratch = TemporaryFolder()
  static let session = Identifier(
    high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210)
  static let appends = [["one"], ["two", "three", ""], ["four"], ["five", "six"], ["seven"]]
  var path: String { "\(scratch.notebook)/log/\(Self.session.description)/0.open" }

  /// The format on disk is a promise: these bytes must not change.
  @Test func `is what it was`() {
    let (bytes, _) = log(session: Identifier(high: 1, low: 2), [["hello"], ["a", "b"]])
    // Computed by another program, from the description of the format alone.
    let expected =
      "8a444e6c6f670d0a0100000000000000000000000000000700000000000000070000000000000001"
      + "0000000000000002000000000000000000000000000000003f5f215f26ab71cc0f000000c805beb4"
      + "010168656c6c6f7f6f01e796adb8b90b000080a8991f0e01026109621b6f15d1fdc30b000000143b"
      + "4d5c010362b493ae50a3b156de"
    let text = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(text == expected)
  }

  @Test func `costs 18 bytes a record`() {
    let (bytes, ends) = log(session: Self.session, [["123"], ["456"]])
    #expect(bytes.count == 72 + 2 * 21)
    #expect(ends == [72 + 21, 72 + 2 * 21])
  }

  @Test func `gives every append before a cut, and the rest when it comes`() throws {
    let (bytes, ends) = log(session: Self.session, Self.appends)
    for cut in 0...bytes.count {
      write(Array(bytes[..<cut]), to: path)
      var folder = try scratch.open()
      let whole = ends.filter { $0 <= cut }.count
      #expect(folder.newTexts() == Self.appends[..<whole].flatMap(\.self), "cut at \(cut)")
      append(Array(bytes[cut...]), to: path)
      #expect(folder.newTexts() == Self.appends[whole...].flatMap(\.self), "cut at \(cut)")
      #expect(folder.damage == [], "cut at \(cut)")
    }
  }

  @Test func `is read as it grows byte by byte`() throws {
    let (bytes, _) = log(session: Self.session, Self.appends)
    var folder = try scratch.open()
    var texts: [String] = []
    write([], to: path)
    for byte in bytes {
      append([byte], to: path)
      texts += folder.newTexts()
    }
    #expect(texts == Self.appends.flatMap(\.self))
    #expect(folder.damage == [])
  }

  @Test func `notices every flipped bit, and keeps whatever can be verified`() throws {
    let (bytes, ends) = log(session: Self.session, Self.appends)
    let all = Self.appends.flatMap(\.self)
    // Some bits of each byte, or all where tests are repeated.
    for bit in stride(from: 0, to: bytes.count * 8, by: seedFactor == 1 ? 3 : 1) {
      let byte = bit / 8
      var flipped = bytes
      flipped[byte] ^= 1 << (bit % 8)
      write(flipped, to: path)
      var folder = try scratch.open()
      let texts = folder.newTexts()
      #expect(folder.damage.map(\.path) == [path], "bit \(bit)")
      let offset = try Int(#require(folder.damage.first).offset)
      if byte < LogFormat.headerSize {
        #expect(texts == all && offset == 0, "bit \(bit)")
      } else if let start = prefix(of: byte, Self.appends, ends) {
        #expect(texts == all && offset == start, "bit \(bit)")
      } else {
        // What is behind it waits for what is damaged.
        let intact = ends.firstIndex { $0 > byte }!
        #expect(texts == Self.appends[..<intact].flatMap(\.self), "bit \(bit)")
        #expect(offset <= byte, "bit \(bit)")
      }
      #expect(folder.newTexts() == [])
      #expect(folder.damage.count == 1, "bit \(bit)")
      #expect(contents(path) == flipped)
    }
  }

  @Test func `survives any bytes`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix64(seed: seed)
    let (bytes, _) = log(session: Self.session, Self.appends)
    let all = Self.appends.flatMap(\.self)
    for _ in 0..<400 {
      var broken = bytes
      for _ in 0...random.below(4) {
        let at = random.below(broken.count)
        switch random.below(4) {
        case 0: broken[at] = UInt8(random.below(256))
        case 1: broken.removeSubrange(at..<min(broken.count, at + random.below(40)))
        case 2: broken.insert(contentsOf: random.bytes(random.below(40)), at: at)
        default:
          let from = random.below(broken.count)
          broken.insert(contentsOf: Array(broken[from...].prefix(50)), at: at)
        }
        if broken.isEmpty { broken = [0x8a] }
      }
      write(broken, to: path)
      var folder = try scratch.open()
      let texts = folder.newTexts()
      #expect(texts.count <= all.count && texts == Array(all.prefix(texts.count)), "seed \(seed)")
    }
  }

  @Test func `believes no length that the file does not have`() throws {
    let (bytes, ends) = log(session: Self.session, Self.appends)
    let longest = 1 << 26 - 8
    for length in [0, 9, longest, longest + 1, 1 << 27, 1 << 31 - 1, 1 << 31, 1 << 32 - 1] {
      var claim = Array(bytes[..<ends[0]])
      claim += (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + [1, 2, 3, 4, 5]
      write(claim, to: path)
      var folder = try scratch.open()
      #expect(folder.newTexts() == ["one"])
      #expect(folder.damage.isEmpty == (length == longest), "length \(length)")
    }
  }

  @Test func `reports zeros, as a power cut leaves them`() throws {
    let (bytes, ends) = log(session: Self.session, Self.appends)
    write(bytes[..<ends[1]] + [UInt8](repeating: 0, count: 4_096), to: path)
    var folder = try scratch.open()
    #expect(folder.newTexts() == ["one", "two", "three", ""])
    #expect(folder.damage.map(\.offset) == [UInt64(ends[1])])
    #expect(folder.damage.first?.path == path)
  }

  @Test func `goes on when a damaged file was repaired`() throws {
    let (bytes, _) = log(session: Self.session, Self.appends)
    var damaged = bytes
    damaged[bytes.count - 30] ^= 1
    write(damaged, to: path)
    var folder = try scratch.open()
    let before = folder.newTexts()
    #expect(folder.damage.count == 1)
    write(bytes + [1], to: path)
    #expect(before + folder.newTexts() == Self.appends.flatMap(\.self))
    #expect(folder.damage == [])
  }

  @Test func `refuses a file of a later format, without touching it`() throws {
    var (bytes, _) = log(session: Self.session, Self.appends)
    bytes[8] = 4
    bytes.setInteger(SHA256.prefix64(of: bytes[..<64]).byteSwapped, at: 64)
    write(bytes, to: path)
    var folder = try scratch.open()
    #expect(folder.newTexts() == [])
    #expect(folder.damage.first?.description.contains("later format") == true)
    #expect(contents(path) == bytes)
  }

  @Test func `numbers records past one byte`() throws {
    let appends = [(0..<20_000).map { "\($0)" }]
    write(log(session: Self.session, appends).bytes, to: path)
    var folder = try scratch.open()
    let records = folder.readNew()
    #expect(records.map(\.number) == Array(1...20_000))
    #expect(records.last?.payload == Array("19999".utf8))
  }
}
