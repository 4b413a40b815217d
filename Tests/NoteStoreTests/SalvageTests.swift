import Foundation
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

@Suite struct `Behind damage` {
  static let session = Identifier(high: 0xaaaa, low: 0xbbbb)
  static let root = "/home/notes"
  static let path = "\(root)/log/\(session.description)/0.open"
  static let appends = [["one"], ["two", "three", ""], ["four"], ["five", "six"], ["seven"]]
  let bytes = log(session: Self.session, Self.appends).bytes
  let ends = log(session: Self.session, Self.appends).ends

  private func open(_ disk: MemoryDisk) throws(StoreError) -> LogFolder {
    try LogFolder(path: Self.root, on: disk, makeIdentifier: makeIdentifier)
  }

  @Test func `records wait until what is missing comes from elsewhere`() throws {
    for at in 72..<bytes.count where prefix(of: at, Self.appends, ends) == nil {
      let disk = MemoryDisk()
      var damaged = bytes
      damaged[at] ^= 0xff
      disk.put(damaged, at: Self.path)
      var reader = try open(disk)
      let append = ends.firstIndex { $0 > at }!
      #expect(reader.newTexts() == Self.appends[..<append].flatMap(\.self), "byte \(at)")
      #expect(reader.newTexts() == [])
      #expect(reader.damage.count == 1, "byte \(at)")
      // A copy of the beginning, from before. The hash at the end of an append is needed for the next one too.
      let isHash = ends[append] - at <= 8
      let copied = min(append + (isHash ? 1 : 0), ends.count - 1)
      disk.put(Array(bytes[..<ends[copied]]), at: "\(Self.root)/log/copy")
      #expect(reader.newTexts() == Self.appends[append...].flatMap(\.self), "byte \(at)")
      #expect(reader.damage.count == 1, "byte \(at)")
      #expect(reader.newTexts() == [])
      disk.put(bytes, at: Self.path)
      #expect(reader.newTexts() == [], "byte \(at)")
      #expect(reader.damage == [], "byte \(at)")
    }
  }

  @Test func `a record is kept whose length or checksum is damaged, however much`() throws {
    for at in [ends[0], ends[1], ends[3]] where prefix(of: at, Self.appends, ends) != nil {
      for field in [at..<at + 4, at + 4..<at + 8] {
        for byte in [0, 1, 0x7f, 0xff] as [UInt8] {
          let disk = MemoryDisk()
          var damaged = bytes
          for index in field { damaged[index] = byte }
          disk.put(damaged, at: Self.path)
          var reader = try open(disk)
          #expect(reader.newTexts() == Self.appends.flatMap(\.self))
          let damage = reader.damage
          #expect(
            damage == [
              .init(
                path: Self.path, offset: UInt64(at),
                description: "a wrong length or checksum; the record is kept", cause: .damaged)
            ])
          #expect(reader.newTexts() == [])
          #expect(reader.damage == damage)
          // In its place comes what it should be.
          disk.put(bytes, at: Self.path)
          #expect(reader.newTexts() == [])
          #expect(reader.damage == [])
        }
      }
    }
  }

  @Test(arguments: [1, 40, 1000])
  func `records are mended whatever is read at a time, but not without end`(limit: Int) throws {
    var all: [[String]] = []
    for number in 0..<2_000 { all.append(["record \(number)"]) }
    var (bytes, ends) = log(session: Self.session, all)
    // Wrong checksums, of all behind the first.
    for end in ends.dropLast() { bytes[end + 4] ^= 1 }
    let disk = MemoryDisk()
    disk.put(bytes, at: Self.path)
    var reader = try open(disk)
    var count = 0
    while true {
      let records = reader.readNew(.everything, limit: limit)
      if records.isEmpty { break }
      for record in records {
        count += 1
        #expect(record.number == count)
      }
    }
    #expect(count >= 65)
    #expect(reader.damage.count == 1)
  }

  @Test func `an append that is not all there is none, wherever it ends`() throws {
    // Its text looks like records of other sessions.
    let inner = String(
      decoding: log(session: Self.session, [["x"], ["y"], ["z"]]).bytes, as: UTF8.self)
    let (bytes, ends) = log(session: Self.session, [["a"], ["b", inner, "c"], [inner]])
    for count in 72...bytes.count {
      let disk = MemoryDisk()
      disk.put(Array(bytes[..<count]), at: Self.path)
      var reader = try open(disk)
      #expect(reader.newTexts().count == [0, 1, 4, 5][ends.count { $0 <= count }])
      #expect(reader.damage == [], "\(count) bytes")
    }
  }

  @Test func `records are found behind more damage, and bytes that are too many or missing`() throws
  {
    var all: [[String]] = []
    for number in 0..<60 { all.append(["record \(number)"]) }
    let (bytes, ends) = log(session: Self.session, all)
    for seed in seeds(100) {
      var random = SplitMix64(seed: seed)
      let disk = MemoryDisk()
      var damaged = bytes
      for _ in 0...random.below(3) {
        let at = 72 + random.below(damaged.count - 72)
        switch random.below(3) {
        case 0: damaged[at] ^= UInt8(1 + random.below(255))
        case 1: damaged.removeSubrange(at..<min(damaged.count, at + random.below(90)))
        default: damaged.insert(contentsOf: random.bytes(random.below(90)), at: at)
        }
      }
      disk.put(damaged, at: Self.path)
      var reader = try open(disk)
      var texts = reader.newTexts()
      #expect(texts == Array(all.joined().prefix(texts.count)), "seed \(seed)")
      // An older copy grows.
      var count = texts.count
      while texts.count < all.count, count < all.count {
        count += 1
        disk.put(Array(bytes[..<ends[count - 1]]), at: "\(Self.root)/log/copy")
        texts += reader.newTexts()
        #expect(texts == Array(all.joined().prefix(texts.count)), "seed \(seed)")
      }
      #expect(texts == Array(all.joined()), "seed \(seed)")
      #expect(reader.newTexts() == [], "seed \(seed)")
    }
  }

  @Test func `it is said what is kept and what waits`() throws {
    let disk = MemoryDisk()
    var damaged = bytes
    damaged[ends[1] + 10] ^= 1
    disk.put(damaged, at: Self.path)
    var reader = try open(disk)
    _ = reader.newTexts()
    #expect(
      reader.damage == [
        .init(
          path: Self.path, offset: UInt64(ends[1]),
          description: "a wrong checksum; the 4 records before it are kept, "
            + "3 records from byte \(ends[2]) on wait for what is missing", cause: .damaged)
      ])
  }

  /// If the time grew with the square of the size, this would take hours.
  @Test func `bytes that all look like long records take no time`() throws {
    let disk = MemoryDisk()
    var hostile = Array(bytes[..<ends[0]])
    hostile += [UInt8](repeating: 0, count: 20)
    // Everywhere a length of up to half a megabyte, and a number that comes later.
    for _ in 0..<(1 << 18) { hostile += [0, 0, 7, 0] }
    disk.put(hostile, at: Self.path)
    var reader = try open(disk)
    #expect(reader.newTexts() == ["one"])
    #expect(reader.damage.count == 1)
  }
}
