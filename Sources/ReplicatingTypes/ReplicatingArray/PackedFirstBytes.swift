// The first bytes of steps in bits.
//
// The steps of changes at places far apart take three bytes each, of which the first (StepCode.swift) is one of few: 1,000 edits
// at random places have 23 different ones, and five bits tell these from each other. So changes may have the first bytes of all
// their steps and notes apart from what follows them:
//
//     used       a byte: how many different first bytes there are, at most 64; these, in ascending order
//     places     varint: how many first bytes, at least 64; the place of each among those used, in 4 bits if 16 or fewer are used,
//                in 5 if 32 or fewer, else in 6; the lowest bits of a byte first, and zeros behind the last place
//
// This is done if it takes fewer bytes. So the changes of a keystroke stay as they are, and those of a long history, which have more
// than 64 different first bytes.

private let fewestPlaces = 64
private let mostUsed = 64

/// The bits of a place among so many first bytes: 4 at least, so that a byte brings no more than two steps.
private func width(_ used: Int) -> Int { max(4, Int.bitWidth - (used - 1).leadingZeroBitCount) }

/// True if so many first bytes are packed, of which so many are different.
private func isPacked(_ count: Int, _ used: Int) -> Bool {
  guard count >= fewestPlaces, (1...mostUsed).contains(used) else { return false }
  var head = ByteWriter()
  head.varint(count)
  return 1 + used + head.bytes.count + (count * width(used) + 7) / 8 < count
}

/// Steps and notes of several authors, their first bytes apart.
struct SplitSteps {
  /// The first bytes of all of them, packed.
  private(set) var firstBytes = ByteWriter()
  /// The bytes behind the first ones, for each author.
  private(set) var rests: [[UInt8]] = []

  /// Nil if their first bytes are not packed.
  init?(_ authors: [[UInt8]]) {
    guard authors.reduce(0, { $0 + $1.count }) >= fewestPlaces else { return nil }
    var isUsed = Array(repeating: false, count: 256)
    var used: [UInt8] = []
    var starts: [[Int]] = []
    for steps in authors {
      var reader = ByteReader(steps)
      var own: [Int] = []
      while let first = try? reader.byte() {
        if !isUsed[Int(first)] {
          if used.count == mostUsed { return nil }
          isUsed[Int(first)] = true
          used.append(first)
        }
        own.append(reader.offset - 1)
        guard (try? reader.skipRest(behind: first)) != nil else { return nil }
      }
      starts.append(own)
    }
    guard isPacked(starts.reduce(0, { $0 + $1.count }), used.count) else { return nil }
    pack(zip(authors, starts).flatMap { steps, starts in starts.map { steps[$0] } }, used.sorted())
    rests = zip(authors, starts).map(Self.rest)
  }

  private static func rest(_ steps: [UInt8], _ starts: [Int]) -> [UInt8] {
    var rest: [UInt8] = []
    rest.reserveCapacity(steps.count - starts.count)
    for (start, end) in zip(starts, starts.dropFirst() + [steps.count]) {
      for index in (start + 1)..<end { rest.append(steps[index]) }
    }
    return rest
  }

  private mutating func pack(_ bytes: [UInt8], _ used: [UInt8]) {
    firstBytes.byte(UInt8(used.count))
    firstBytes.raw(used)
    firstBytes.varint(bytes.count)
    var places = Array(repeating: 0, count: 256)
    for (place, byte) in used.enumerated() { places[Int(byte)] = place }
    let width = width(used.count)
    var (bits, held) = (0, 0)
    for byte in bytes {
      bits |= places[Int(byte)] << held
      held += width
      if held >= 8 {
        firstBytes.byte(UInt8(truncatingIfNeeded: bits))
        bits >>= 8
        held -= 8
      }
    }
    if held > 0 { firstBytes.byte(UInt8(bits)) }
  }
}

/// The first bytes of steps and notes that are read apart from what follows them.
struct PackedFirstBytes {
  private var bytes: [UInt8] = []
  private var taken = 0

  var isAtEnd: Bool { taken == bytes.count }

  init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    let used = Array(try reader.raw(Int(try reader.byte())))
    guard zip(used, used.dropFirst()).allSatisfy(<) else {
      throw start.failure("first bytes out of order")
    }
    let count = try reader.count()
    guard isPacked(count, used.count) else {
      throw start.failure("\(count) first bytes, \(used.count) of them different, packed")
    }
    let width = width(used.count)
    let packed = try reader.raw((count * width + 7) / 8)
    bytes.reserveCapacity(count)
    var isUsed = Array(repeating: false, count: used.count)
    var (bits, held) = (0, 0)
    for byte in packed {
      bits |= Int(byte) << held
      held += 8
      while held >= width, bytes.count < count {
        let place = bits & (1 << width - 1)
        guard place < used.count else {
          throw start.failure("first byte \(place) of \(used.count)")
        }
        bytes.append(used[place])
        isUsed[place] = true
        bits >>= width
        held -= width
      }
    }
    guard bits == 0, !isUsed.contains(false) else {
      throw start.failure("first bytes written longer than they are")
    }
  }

  /// The first byte of the next step or note, which goes on at the reader.
  @inline(__always)
  mutating func next(_ reader: ByteReader) throws(DecodingFailure) -> UInt8 {
    guard taken < bytes.count else { throw reader.failure("a step without a first byte") }
    defer { taken &+= 1 }
    return bytes[taken]
  }
}
