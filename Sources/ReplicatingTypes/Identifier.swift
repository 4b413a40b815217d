/// A globally unique name: a 128-bit number, random in practice.
public struct Identifier: Hashable, Comparable, Sendable {
  /// The upper 64 bits, which decide the order first.
  public let high: UInt64
  /// The lower 64 bits.
  public let low: UInt64

  /// The identity with these bits.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  public static func < (a: Self, b: Self) -> Bool {
    a.high == b.high ? a.low < b.low : a.high < b.high
  }
}

/// The identity of one replica: one running process, for as long as it runs.
///
/// It is never used again: not after a crash, not from a restored backup, not on a cloned disk. Identities break ties
/// between operations that nothing else orders, so their order is the same everywhere.
public typealias ReplicaID = Identifier

extension Identifier: CustomStringConvertible {
  /// 32 lower-case hexadecimal digits.
  public var description: String {
    var digits: [UInt8] = []
    digits.reserveCapacity(32)
    for half in [high, low] {
      var shift: UInt64 = 64
      while shift > 0 {
        shift &-= 4
        let digit = UInt8(truncatingIfNeeded: half &>> shift) & 15
        digits.append(digit < 10 ? 48 &+ digit : 87 &+ digit)
      }
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Reads what `description` writes; `nil` for anything else.
  @specialized(where Text == String)
  @specialized(where Text == Substring)
  public init?<Text: StringProtocol>(_ description: Text) {
    var halves: (UInt64, UInt64) = (0, 0)
    var count = 0
    for byte in description.utf8 {
      let digit: UInt64
      switch byte {
      case 48...57: digit = UInt64(byte) - 48
      case 97...102: digit = UInt64(byte) - 87
      default: return nil
      }
      guard count < 32 else { return nil }
      if count < 16 { halves.0 = halves.0 << 4 | digit } else { halves.1 = halves.1 << 4 | digit }
      count += 1
    }
    guard count == 32 else { return nil }
    self.init(high: halves.0, low: halves.1)
  }
}
