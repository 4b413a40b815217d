/// Eight bytes of a text at once, to find the first of a kind without looking at each.
///
/// A mark is the highest bit of a byte's eight. The first mark is always right. One above it can be wrong, because a subtraction borrows
/// from there (Warren, Hacker's Delight, 2nd edition, section 6-1), so only the first one is asked for.
struct ByteWord {
  static let size = 8

  private let bits: UInt64
  private static let low: UInt64 = 0x0101_0101_0101_0101
  private static let high: UInt64 = 0x8080_8080_8080_8080

  /// The bytes from `start` on, of which there must be eight.
  @inline(__always)
  init(_ bytes: Span<UInt8>, at start: Int) {
    bits = UInt64(
      littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
  }

  /// Puts the bytes in the place of the eight from `start` on.
  @inline(__always)
  func store(into bytes: inout MutableSpan<UInt8>, at start: Int) {
    var all = bytes.mutableBytes
    all.storeBytes(of: bits.littleEndian, toByteOffset: start, as: UInt64.self)
  }

  @inline(__always)
  func marks(of byte: UInt8) -> UInt64 {
    let difference = bits ^ (Self.low &* UInt64(byte))
    return (difference &- Self.low) & ~difference & Self.high
  }

  /// - Parameter limit: 128 at most.
  @inline(__always)
  func marks(below limit: UInt8) -> UInt64 {
    (bits &- Self.low &* UInt64(limit)) & ~bits & Self.high
  }

  @inline(__always)
  var marksBeyondASCII: UInt64 { bits & Self.high }

  /// How many bytes stand before the first marked one; all eight if there is none.
  @inline(__always)
  static func countBefore(_ marks: UInt64) -> Int { marks.trailingZeroBitCount >> 3 }
}

extension Span<UInt8> {
  /// Where a byte stands first, from `start` on; nil if it doesn't.
  ///
  /// - Complexity: O(distance), eight bytes at a time.
  public func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
    var next = start
    while count - next >= ByteWord.size {
      let marks = ByteWord(self, at: next).marks(of: byte)
      if marks != 0 { return next + ByteWord.countBefore(marks) }
      next += ByteWord.size
    }
    while next < count {
      if self[next] == byte { return next }
      next += 1
    }
    return nil
  }
}
