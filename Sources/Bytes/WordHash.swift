/// A hash to find equal parts of texts with, taken in eight bytes at a time: the product of two words, its upper half folded
/// into the lower one (as in wyhash, Wang Yi 2019).
///
/// It is fast, and bytes that meet in one hash are easily made: what is taken for equal must be compared. Its values may
/// be others in the next version of the program: whoever keeps some writes down which they are.
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
