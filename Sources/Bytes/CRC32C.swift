/// The CRC-32C checksum (Castagnoli polynomial, reflected), fed piece by piece.
///
/// It finds accidents: flipped bits, torn and misplaced writes. It is no protection from intent.
///
///     CRC32C.checksum(of: Array("123456789".utf8)[...])  // 0xe3069283
public struct CRC32C: Sendable {
  private var register: UInt32 = ~0

  /// A checksum that has seen nothing yet.
  public init() {}

  /// The checksum of everything taken in so far.
  public var value: UInt32 { ~register }

  /// The checksum of `bytes` alone.
  ///
  /// - Complexity: O(`bytes.count`).
  public static func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
    var sum = CRC32C()
    sum.update(bytes)
    return sum.value
  }

  /// Takes in `bytes`.
  ///
  /// - Complexity: O(`bytes.count`), eight bytes at a step.
  public mutating func update(_ bytes: ArraySlice<UInt8>) {
    let span = bytes.span
    let table = Self.tables
    var crc = register
    var i = 0
    let whole = span.count & ~7
    while i < whole {
      let word = ByteWord(span, at: i).bits ^ UInt64(truncatingIfNeeded: crc)
      crc =
        table[Int(truncatingIfNeeded: word & 0xff) &+ 0x700]
        ^ table[Int(truncatingIfNeeded: word &>> 8 & 0xff) &+ 0x600]
        ^ table[Int(truncatingIfNeeded: word &>> 16 & 0xff) &+ 0x500]
        ^ table[Int(truncatingIfNeeded: word &>> 24 & 0xff) &+ 0x400]
        ^ table[Int(truncatingIfNeeded: word &>> 32 & 0xff) &+ 0x300]
        ^ table[Int(truncatingIfNeeded: word &>> 40 & 0xff) &+ 0x200]
        ^ table[Int(truncatingIfNeeded: word &>> 48 & 0xff) &+ 0x100]
        ^ table[Int(truncatingIfNeeded: word &>> 56)]
      i &+= 8
    }
    if span.count &- i >= 4 {
      let word =
        crc
        ^ (UInt32(span[i]) | UInt32(span[i &+ 1]) &<< 8 | UInt32(span[i &+ 2]) &<< 16
          | UInt32(span[i &+ 3]) &<< 24)
      crc =
        table[Int(word & 0xff) &+ 0x300] ^ table[Int(word &>> 8 & 0xff) &+ 0x200]
        ^ table[Int(word &>> 16 & 0xff) &+ 0x100] ^ table[Int(word &>> 24)]
      i &+= 4
    }
    while i < span.count {
      crc = table[Int((crc ^ UInt32(span[i])) & 0xff)] ^ crc &>> 8
      i &+= 1
    }
    register = crc
  }

  /// Eight tables of 256 entries, one after the other: entry `n` of table `t` is what byte `n` does
  /// to the register when `t` more bytes follow it.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for n in 0..<256 {
      var crc = UInt32(n)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82f6_3b78 : crc >> 1 }
      tables[n] = crc
    }
    for n in 256..<tables.count {
      let shorter = tables[n - 256]
      tables[n] = tables[Int(shorter & 0xff)] ^ shorter >> 8
    }
    return tables
  }()
}
