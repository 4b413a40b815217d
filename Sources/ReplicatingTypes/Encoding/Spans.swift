// Loops over bytes that work on many at a time: eight in a word, or such that the compiler does it: one way out, and what
// makes an index valid said before the loop.

extension Span<UInt8> {
  /// The eight bytes from `start` on, of which there must be eight, the first the lowest.
  @inline(__always)
  func word(at start: Int) -> UInt64 {
    UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
  }

  /// Marks, with the highest bit of a byte, that a byte from `start` on is 0: not always that byte alone.
  @inline(__always)
  private func zeros(at start: Int) -> UInt64 {
    let word = word(at: start)
    return (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
  }

  /// True if a byte is 0. O(count).
  var containsZero: Bool {
    var next = 0
    while count &- next >= 32 {
      let part = extracting(next..<next &+ 32)
      let first = part.zeros(at: 0) | part.zeros(at: 8)
      if first | part.zeros(at: 16) | part.zeros(at: 24) != 0 { return true }
      next &+= 32
    }
    while next < count {
      if self[next] == 0 { return true }
      next &+= 1
    }
    return false
  }

  /// True if a byte is not of ASCII. O(count).
  var containsNonASCII: Bool {
    var next = 0
    while count &- next >= 32 {
      let part = extracting(next..<next &+ 32)
      let all = part.word(at: 0) | part.word(at: 8) | part.word(at: 16) | part.word(at: 24)
      if all & 0x8080_8080_8080_8080 != 0 { return true }
      next &+= 32
    }
    while next < count {
      if self[next] >= 0x80 { return true }
      next &+= 1
    }
    return false
  }
}

/// The same value by another name of its type, for generic code that knows its type in one case.
///
/// The cast of an array to an array would go through the elements.
@inline(__always)
func same<Value, Other>(_ value: Value, as: Other.Type) -> Other { value as! Other }

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
