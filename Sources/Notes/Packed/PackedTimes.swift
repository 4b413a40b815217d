// The times of a block's changes, each as the milliseconds since the one before it. This file owns their encoding:
//
//     times    = group...                      until all changes have one
//     group    = count·2      elapsed          varint, signed varint: so many changes, all after the same time
//              | count·2 + 1  center k bits    varint, signed varint, a byte: so many changes, each after a time of its own
//
// Of each time in `bits` the distance from `center`, folded (0, −1, 1, −2 become 0, 1, 2, 3) is x; x + 2^k is written in
// binary, behind as many zeros as that has digits more than k + 1 (an Exp-Golomb code of order k). The highest bit comes
// first, and a group is filled up with zeros to a whole byte.
//
// A clock that ticks evenly takes a few bytes for all of a block. Of people's typing the milliseconds are noise that no code
// takes away: with 80 to 400 ms between keys, and a pause each 50 keys, 8.6 bits of it. This code takes 9.7, varints 16.

internal import ReplicatingTypes

enum PackedTimes {
  /// So many equal times are a group of their own.
  private static let leastRun = 8
  /// So many times share a center, which follows the pace of typing.
  private static let largestGroup = 256
  /// Times are bounded (`Change.clamped`), so that what is written of one has fewer digits than this.
  private static let mostDigits = 56

  static func encode(_ times: [Int64], into writer: inout ByteWriter) {
    var start = 0
    var next = 0
    while next < times.count {
      let run = run(of: times, from: next)
      if run.count < leastRun {
        next = run.upperBound
        continue
      }
      encode(different: times[start..<next], into: &writer)
      writer.varint(run.count << 1)
      writer.signed(times[next])
      next = run.upperBound
      start = next
    }
    encode(different: times[start...], into: &writer)
  }

  private static func run(of times: [Int64], from start: Int) -> Range<Int> {
    var end = start + 1
    while end < times.count, times[end] == times[start] { end += 1 }
    return start..<end
  }

  private static func encode(different times: ArraySlice<Int64>, into writer: inout ByteWriter) {
    var rest = times
    while !rest.isEmpty {
      encode(group: rest.prefix(largestGroup), into: &writer)
      rest = rest.dropFirst(largestGroup)
    }
  }

  private static func encode(group: ArraySlice<Int64>, into writer: inout ByteWriter) {
    let center = center(of: group)
    let distances = group.map { folded($0 - center) }
    let order = order(for: distances)
    writer.varint(group.count << 1 | 1)
    writer.signed(center)
    writer.byte(UInt8(order))
    var bits = BitWriter()
    for distance in distances {
      let number = distance + 1 << UInt64(order)
      let digits = UInt64.bitWidth - number.leadingZeroBitCount
      bits.write(0, count: digits - order - 1, into: &writer)
      bits.write(number, count: digits, into: &writer)
    }
    bits.finish(into: &writer)
  }

  /// The median of a sample: an outlier in either direction moves it little.
  private static func center(of group: ArraySlice<Int64>) -> Int64 {
    var sample: [Int64] = []
    for index in stride(from: group.startIndex, to: group.endIndex, by: 1 + group.count / 64) {
      sample.append(group[index])
    }
    sample.sort()
    return sample[sample.count / 2]
  }

  /// The order of the code that takes the least for numbers of so many digits, taking each for the least of them.
  private static func order(for distances: [UInt64]) -> Int {
    var counts = [Int](repeating: 0, count: UInt64.bitWidth + 1)
    for distance in distances { counts[UInt64.bitWidth - distance.leadingZeroBitCount] += 1 }
    var best = (order: 0, cost: Int.max)
    for order in 0...40 {
      var cost = -order * distances.count
      var digits = 0
      while digits < counts.count {
        let count = counts[digits]
        if count > 0 { cost += 2 * (digits > order ? digits : order + 1) * count }
        digits += 1
      }
      if cost < best.cost { best = (order, cost) }
    }
    return best.order
  }

  private static func folded(_ number: Int64) -> UInt64 {
    UInt64(bitPattern: number << 1 ^ number >> 63)
  }

  /// Reads the times of `count` changes.
  static func decode(_ count: Int, from reader: inout ByteReader) throws(DecodingFailure) -> [Int64]
  {
    var times: [Int64] = []
    times.reserveCapacity(count)
    while times.count < count {
      let start = reader
      let head = try reader.count()
      guard head > 1, head >> 1 <= count - times.count else {
        throw start.failure("times of \(head >> 1) changes, where \(count - times.count) have none")
      }
      let common = try reader.signed()
      guard common.magnitude < 1 << UInt64(mostDigits) else {
        throw start.failure("a time beyond all calendars")
      }
      if head & 1 == 0 {
        times.append(contentsOf: repeatElement(common, count: head >> 1))
      } else {
        try decode(group: head >> 1, center: common, from: &reader, into: &times)
      }
    }
    return times
  }

  private static func decode(
    group: Int, center: Int64, from reader: inout ByteReader, into times: inout [Int64]
  ) throws(DecodingFailure) {
    let start = reader
    let order = Int(try reader.byte())
    guard order < mostDigits else { throw start.failure("a code of order \(order)") }
    var bits = BitReader()
    for _ in 0..<group {
      var zeros = 0
      while try bits.read(1, from: &reader) == 0 {
        zeros += 1
        guard order + zeros < mostDigits else {
          throw reader.failure("a time beyond all calendars")
        }
      }
      let number = 1 << UInt64(order + zeros) | (try bits.read(order + zeros, from: &reader))
      let distance = number - 1 << UInt64(order)
      times.append(center + (Int64(distance >> 1) ^ -Int64(distance & 1)))
    }
    guard bits.isFinished else { throw reader.failure("bits that mean nothing") }
  }
}

/// Writes bits into bytes, the highest first.
private struct BitWriter {
  private var pending: UInt64 = 0
  private var count = 0

  /// Writes the lowest `count` bits, at most 56 of them.
  mutating func write(_ bits: UInt64, count added: Int, into writer: inout ByteWriter) {
    pending = pending &<< UInt64(added) | bits
    count &+= added
    while count >= 8 {
      count &-= 8
      writer.byte(UInt8(truncatingIfNeeded: pending &>> UInt64(count)))
    }
  }

  /// Fills the last byte.
  func finish(into writer: inout ByteWriter) {
    if count > 0 { writer.byte(UInt8(truncatingIfNeeded: pending << UInt64(8 - count))) }
  }
}

/// Reads what `BitWriter` writes.
private struct BitReader {
  private var pending: UInt64 = 0
  private var count = 0

  /// True if nothing is left but what fills the last byte.
  var isFinished: Bool { pending & (1 << UInt64(count) - 1) == 0 }

  /// Reads at most 56 bits.
  mutating func read(_ wanted: Int, from reader: inout ByteReader) throws(DecodingFailure) -> UInt64
  {
    while count < wanted {
      pending = pending &<< 8 | UInt64(try reader.byte())
      count &+= 8
    }
    count &-= wanted
    return pending &>> UInt64(count) & (1 &<< UInt64(wanted) &- 1)
  }
}
