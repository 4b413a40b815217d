// Loops over bytes that work on many at a time: eight in a word, or such that the compiler does it: one way out, and what
// makes an index valid said before the loop.

extension Span<UInt8> {
  /// The eight bytes from `start` on, of which there must be eight, the first the lowest.
  @inline(__always)
  func word(at start: Int) -> UInt64 {
    UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
  }

  /// True if a byte is 0. O(count).
  var containsZero: Bool {
    var next = 0
    while count &- next >= 8 {
      let word = word(at: next)
      // Such a difference has a mark if and only if a byte is 0, though it can have one too many then.
      if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { return true }
      next &+= 8
    }
    while next < count {
      if self[next] == 0 { return true }
      next &+= 1
    }
    return false
  }

  /// True if a byte is not of ASCII. O(count).
  var containsNonASCII: Bool {
    if count < 8 {
      var all: UInt8 = 0
      for index in indices { all |= self[index] }
      return all >= 0x80
    }
    let high: UInt64 = 0x8080_8080_8080_8080
    var next = 0
    while count &- next > 32 {
      if fourWords(at: next) & high != 0 { return true }
      next &+= 32
    }
    while count &- next > 8 {
      if word(at: next) & high != 0 { return true }
      next &+= 8
    }
    // The last word may overlap the one before.
    return word(at: count &- 8) & high != 0
  }

  /// The bits that are set in one of the four words from `start` on, of which there must be four.
  @inline(__always)
  private func fourWords(at start: Int) -> UInt64 {
    (word(at: start) | word(at: start &+ 8)) | (word(at: start &+ 16) | word(at: start &+ 24))
  }

  /// The place of the first byte from `start` on that is not of ASCII; `count` if there is none. O(count), by 32 bytes at a time.
  @inline(__always)
  func firstNonASCII(from start: Int) -> Int {
    let high: UInt64 = 0x8080_8080_8080_8080
    var next = start
    while count &- next >= 32, fourWords(at: next) & high == 0 { next &+= 32 }
    while count &- next >= 8 {
      let marks = word(at: next) & high
      if marks != 0 { return next &+ marks.trailingZeroBitCount &>> 3 }
      next &+= 8
    }
    while next < count, self[next] < 0x80 { next &+= 1 }
    return next
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
