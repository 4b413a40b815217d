/// Eight bytes of a text at once, to find the first of a kind without looking at each.
///
/// A mark is the highest bit of a byte's eight. The first mark is always right. One above it can be wrong, because a subtraction borrows
/// from there (Warren, Hacker's Delight, 2nd edition, section 6-1), so only the first one is asked for.
@frozen public struct ByteWord {
  public static var size: Int { 8 }

  @usableFromInline let bits: UInt64
  @usableFromInline static var low: UInt64 { 0x0101_0101_0101_0101 }
  @usableFromInline static var high: UInt64 { 0x8080_8080_8080_8080 }

  /// The bytes from `start` on, of which there must be eight.
  @inlinable @inline(__always)
  public init(_ bytes: Span<UInt8>, at start: Int) {
    bits = UInt64(
      littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
  }

  @inlinable @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  /// Puts the bytes in the place of the eight from `start` on.
  @inlinable @inline(__always)
  public func store(into bytes: inout MutableSpan<UInt8>, at start: Int) {
    var all = bytes.mutableBytes
    all.storeBytes(of: bits.littleEndian, toByteOffset: start, as: UInt64.self)
  }

  @inlinable @inline(__always)
  public func marks(of byte: UInt8) -> UInt64 {
    let difference = bits ^ (Self.low &* UInt64(byte))
    return (difference &- Self.low) & ~difference & Self.high
  }

  /// - Parameter limit: 128 at most.
  @inlinable @inline(__always)
  public func marks(below limit: UInt8) -> UInt64 {
    (bits &- Self.low &* UInt64(limit)) & ~bits & Self.high
  }

  @inlinable @inline(__always)
  public var marksBeyondASCII: UInt64 { bits & Self.high }

  /// The bytes with ASCII letters in lower case.
  @inlinable @inline(__always)
  public var lowercased: ByteWord {
    let rest = bits & ~Self.high
    let isFromA = rest &+ Self.low &* (0x80 - 0x41)
    let isBeyondZ = rest &+ Self.low &* (0x80 - 0x5B)
    return ByteWord(bits: bits | (isFromA & ~isBeyondZ & ~bits & Self.high) >> 2)
  }

  /// How many bytes stand before the first marked one; all eight if there is none.
  @inlinable @inline(__always)
  public static func countBefore(_ marks: UInt64) -> Int { marks.trailingZeroBitCount >> 3 }
}

extension Span<UInt8> {
  /// Where a byte stands first, from `start` on; nil if it doesn't.
  ///
  /// - Complexity: O(distance), eight bytes at a time.
  @inlinable
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
