extension LZ4 {
  /// The most bytes that can be compressed at once.
  public static let maximumCount = Int(Int32.max)

  /// A block that makes `bytes`, of which there are `maximumCount` at most. It may be longer than they are, by 1 byte in 255 and one more.
  ///
  /// The same bytes give the same block, as long as nothing is changed here: that decides which of many blocks it is.
  ///
  /// At each place the longest match is looked for among the last 8 that begin with bytes of the same hash, and if the place behind has a
  /// longer one, that is taken (as in zlib; Deutsch, RFC 1951, section 4). 48 bytes are long enough to look no further.
  ///
  /// - Complexity: O(`bytes.count`): for each byte at most 16 comparisons, and of those that are long only a few.
  public static func compress(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    precondition(bytes.count <= maximumCount, "too many bytes for a block")
    let source = bytes.span
    var block: [UInt8] = []
    block.reserveCapacity(source.count / 2 + 16)
    // No match begins behind `last`, and none ends behind `end`.
    let (last, end) = (source.count - 12, source.count - 5)
    var chains = Chains(for: source.count)
    var done = 0
    var place = 0
    while place < last {
      var match = chains.match(at: place, longerThan: shortestMatch - 1, in: source, end)
      if match.distance == 0 {
        place += 1
        continue
      }
      var next = place + 1
      while match.length < Chains.enough, next < last {
        let later = chains.match(at: next, longerThan: match.length, in: source, end)
        next += 1
        if later.distance == 0 { break }
        (match, place) = (later, next - 1)
      }
      write(bytes, done..<place, match, to: &block)
      place += match.length
      done = place
      while next < min(place, last) {
        _ = chains.add(next, source)
        next += 1
      }
    }
    write(bytes, done..<source.count, nil, to: &block)
    return block
  }

  /// Writes a sequence; the last one if it has no match.
  private static func write(
    _ bytes: ArraySlice<UInt8>, _ literals: Range<Int>, _ match: Match?, to block: inout [UInt8]
  ) {
    let length = match.map { $0.length - shortestMatch } ?? 0
    block.append(UInt8(min(literals.count, open) << 4 | min(length, open)))
    write(literals.count, to: &block)
    let start = bytes.startIndex
    block += bytes[start + literals.lowerBound..<start + literals.upperBound]
    guard let match else { return }
    block.append(UInt8(truncatingIfNeeded: match.distance))
    block.append(UInt8(truncatingIfNeeded: match.distance >> 8))
    write(length, to: &block)
  }

  /// Writes what half a token has not said of a number.
  private static func write(_ count: Int, to block: inout [UInt8]) {
    guard count >= open else { return }
    var rest = count - open
    while rest >= 255 {
      block.append(255)
      rest -= 255
    }
    block.append(UInt8(rest))
  }

  /// Bytes that stand before, too.
  private struct Match {
    var length: Int
    /// 0 if there are none.
    var distance: Int
  }

  /// The places of bytes that may be the same: for each hash of four the last place, and for each place the one before with that hash.
  private struct Chains {
    /// The number of places that are looked at.
    static let depth = 8
    /// A match of so many bytes is taken as it is.
    static let enough = 48

    private var latest: [Int32]
    /// The distance to the place before, at the last places; 0 for none.
    private var distances: [UInt16]
    private let shift: UInt32

    init(for count: Int) {
      // As many as there are bytes: for few, clearing the table would take longer than all else.
      let bits = min(14, max(8, Int.bitWidth - count.leadingZeroBitCount))
      latest = [Int32](repeating: -1, count: 1 << bits)
      distances = [UInt16](repeating: 0, count: min(count, longestDistance + 1))
      shift = UInt32(32 - bits)
    }

    /// Adds a place with eight bytes from there on; returns the one before with the same hash, or -1.
    @inline(__always)
    mutating func add(_ place: Int, _ source: Span<UInt8>) -> Int {
      let hash = (source.first4(at: place) &* 2_654_435_761) >> shift
      let before = Int(latest[Int(hash)])
      latest[Int(hash)] = Int32(truncatingIfNeeded: place)
      let isNear = before >= 0 && place - before <= longestDistance
      distances[place & longestDistance] = isNear ? UInt16(place - before) : 0
      return isNear ? before : -1
    }

    /// Adds a place, and looks for a match that is longer than `length`, at least 3, and does not end behind `end`, three bytes before the
    /// end of `source`.
    @inline(__always)
    mutating func match(
      at place: Int, longerThan length: Int, in source: Span<UInt8>, _ end: Int
    ) -> Match {
      var match = Match(length: length, distance: 0)
      var candidate = add(place, source)
      let first = source.first4(at: place)
      var left = Self.depth
      while candidate >= 0, left > 0, place + match.length < end {
        left -= 1
        // Its last four bytes tell soonest that a match is no longer.
        let tail = match.length - 3
        if source.first4(at: candidate + tail) == source.first4(at: place + tail),
          source.first4(at: candidate) == first
        {
          let length = source.equalCount(candidate, place, end)
          if length > match.length { match = Match(length: length, distance: place - candidate) }
          if length >= Self.enough { break }
        }
        let distance = Int(distances[candidate & longestDistance])
        if distance == 0 || place - candidate + distance > longestDistance { break }
        candidate -= distance
      }
      return match
    }
  }
}

extension Span<UInt8> {
  /// The four bytes at a place that has eight.
  @inline(__always)
  fileprivate func first4(at place: Int) -> UInt32 {
    UInt32(truncatingIfNeeded: ByteWord(self, at: place).bits)
  }

  /// The number of bytes from two places on that are the same, the second of them before `end`.
  @inline(__always)
  fileprivate func equalCount(_ first: Int, _ second: Int, _ end: Int) -> Int {
    var count = 0
    while end - second - count >= ByteWord.size {
      let different =
        ByteWord(self, at: first + count).bits ^ ByteWord(self, at: second + count).bits
      if different != 0 { return count + ByteWord.countBefore(different) }
      count += ByteWord.size
    }
    while second + count < end, self[first + count] == self[second + count] { count += 1 }
    return count
  }
}
