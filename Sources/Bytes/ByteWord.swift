/// Eight bytes of a text at once, to find the first of a kind without looking at each.
///
/// A mark is the highest bit of a byte's eight. The first mark is always right. One above it can be wrong, because a subtraction borrows
/// from there (Warren, Hacker's Delight, 2nd edition, section 6-1), so only the first one is asked for.
@frozen public struct ByteWord: Equatable, Sendable {
  /// The number of bytes in a word.
  public static var size: Int { 8 }

  @usableFromInline let bits: UInt64
  @usableFromInline static var low: UInt64 { 0x0101_0101_0101_0101 }
  @usableFromInline static var high: UInt64 { 0x8080_8080_8080_8080 }

  /// Eight zeros.
  @inlinable
  public static var none: ByteWord { ByteWord(bits: 0) }

  /// The bytes from `start` on, of which there must be eight.
  @inlinable @inline(__always)
  public init(_ bytes: Span<UInt8>, at start: Int) {
    bits = UInt64(
      littleEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
  }

  /// `count` bytes from `start` on, fewer than eight, and zeros behind them.
  @inlinable @inline(__always)
  public init(_ bytes: Span<UInt8>, at start: Int, count: Int) {
    var bits: UInt64 = 0
    for index in 0..<count { bits |= UInt64(bytes[start + index]) << UInt64(index * 8) }
    self.bits = bits
  }

  @inlinable @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  /// True if all eight bytes are the same.
  @inlinable @inline(__always)
  public static func == (a: Self, b: Self) -> Bool { a.bits == b.bits }

  /// The number of bytes at the beginning that both words have; eight if they are the same.
  @inlinable @inline(__always)
  public func commonPrefix(with other: ByteWord) -> Int {
    (bits ^ other.bits).trailingZeroBitCount >> 3
  }

  /// The number of bytes at the end that both words have; eight if they are the same.
  @inlinable @inline(__always)
  public func commonSuffix(with other: ByteWord) -> Int {
    (bits ^ other.bits).leadingZeroBitCount >> 3
  }

  /// The first `count` bytes, up to eight, and zeros behind them.
  @inlinable @inline(__always)
  public func prefix(_ count: Int) -> ByteWord {
    count < Self.size ? ByteWord(bits: bits & (1 << UInt64(count * 8) - 1)) : self
  }

  /// Puts the bytes in the place of the eight from `start` on.
  @inlinable @inline(__always)
  public func store(into bytes: inout MutableSpan<UInt8>, at start: Int) {
    var all = bytes.mutableBytes
    all.storeBytes(of: bits.littleEndian, toByteOffset: start, as: UInt64.self)
  }

  /// Marks the bytes that are equal to `byte`.
  @inlinable @inline(__always)
  public func marks(of byte: UInt8) -> UInt64 {
    let difference = bits ^ (Self.low &* UInt64(byte))
    return (difference &- Self.low) & ~difference & Self.high
  }

  /// Marks the bytes that are less than `limit`.
  ///
  /// - Parameter limit: 128 at most.
  @inlinable @inline(__always)
  public func marks(below limit: UInt8) -> UInt64 {
    (bits &- Self.low &* UInt64(limit)) & ~bits & Self.high
  }

  /// Marks the bytes from 128 on.
  @inlinable @inline(__always)
  public var marksBeyondASCII: UInt64 { bits & Self.high }

  /// The number of bytes that go on with a scalar of UTF-8, and do not begin one.
  @inlinable @inline(__always)
  public var continuationCount: Int { (bits & ~(bits << 1) & Self.high).nonzeroBitCount }

  /// The number of bytes with which a scalar of four bytes of UTF-8 begins: one beyond U+FFFF.
  @inlinable @inline(__always)
  public var longScalarCount: Int {
    (bits & bits << 1 & bits << 2 & bits << 3 & Self.high).nonzeroBitCount
  }

  /// The bytes with ASCII letters in lower case.
  @inlinable @inline(__always)
  public var lowercased: ByteWord {
    let rest = bits & ~Self.high
    let isFromA = rest &+ Self.low &* (0x80 - 0x41)
    let isBeyondZ = rest &+ Self.low &* (0x80 - 0x5B)
    return ByteWord(bits: bits | (isFromA & ~isBeyondZ & ~bits & Self.high) >> 2)
  }

  /// The number of bytes before the first marked one; eight if there is none.
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
    // Four words to a jump, up to those that have it.
    while count &- next >= 4 &* ByteWord.size {
      var marks = ByteWord(self, at: next).marks(of: byte)
      marks |= ByteWord(self, at: next &+ ByteWord.size).marks(of: byte)
      marks |= ByteWord(self, at: next &+ 2 &* ByteWord.size).marks(of: byte)
      marks |= ByteWord(self, at: next &+ 3 &* ByteWord.size).marks(of: byte)
      if marks != 0 { break }
      next &+= 4 &* ByteWord.size
    }
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

extension ArraySlice<UInt8> {
  /// True if the bytes are those of `other`: as `==`, which in a debug build looks at each element by generic code.
  ///
  /// - Complexity: O(`count`), eight bytes at a time.
  public func isEqual(to other: ArraySlice<UInt8>) -> Bool {
    guard count == other.count else { return false }
    let a = span
    let b = other.span
    var next = 0
    while a.count - next >= ByteWord.size {
      if ByteWord(a, at: next).bits != ByteWord(b, at: next).bits { return false }
      next += ByteWord.size
    }
    while next < a.count {
      if a[next] != b[next] { return false }
      next += 1
    }
    return true
  }
}

/// A hash to find equal parts of texts with, taken in eight bytes at a time: the product of two words, its upper half folded
/// into the lower one (as in wyhash, Wang Yi 2019).
///
/// It is fast, and bytes that meet in one hash are easily made: what is taken for equal must be compared. Its values may
/// be others in the next version of the program: a format that keeps some gets a new version then.
@frozen public struct WordHash: Sendable {
  @usableFromInline var state: UInt64
  @usableFromInline static var seed: UInt64 { 0x9E37_79B9_7F4A_7C15 }
  @usableFromInline static var multiplier: UInt64 { 0xBF58_476D_1CE4_E500 }

  /// A hash that has seen nothing yet.
  @inlinable @inline(__always)
  public init() { state = Self.seed }

  /// The hash of all that was taken in.
  @inlinable @inline(__always)
  public var value: UInt64 { state }

  /// Takes in the first `count` bytes of a word, 1 to 8, of which the others are 0. O(1).
  @inlinable @inline(__always)
  public mutating func combine(_ word: ByteWord, count: Int) { combine(word.bits, count) }

  /// Takes in one byte. O(1).
  @inlinable @inline(__always)
  public mutating func combine(_ byte: UInt8) { combine(UInt64(byte), 1) }

  @inlinable @inline(__always)
  mutating func combine(_ bits: UInt64, _ count: Int) {
    // Multiplied by the count too, or zeros would count for nothing.
    let product = (state ^ bits).multipliedFullWidth(by: Self.multiplier &+ UInt64(count))
    state = product.high ^ product.low
  }
}
