// Loops over bytes, written so that the compiler makes them work on many at a time: one way out, and what makes an index
// valid said before the loop.

extension Span<UInt8> {
  /// True if a byte is 0. O(count).
  var containsZero: Bool {
    var zeros: UInt8 = 0
    for index in indices { zeros |= self[index] == 0 ? 1 : 0 }
    return zeros != 0
  }

  /// True if a byte is not of ASCII. O(count).
  var containsNonASCII: Bool {
    var all: UInt8 = 0
    for index in indices { all |= self[index] }
    return all >= 0x80
  }
}

extension MutableSpan<UInt8> {
  /// Overwrites bytes from `place` on.
  @inline(__always)
  mutating func copy(_ bytes: borrowing Span<UInt8>, to place: Int) {
    let length = bytes.count
    let end = place + length
    precondition(place >= 0 && end <= count)
    var index = 0
    while index < length {
      self[place + index] = bytes[index]
      index &+= 1
    }
  }
}
