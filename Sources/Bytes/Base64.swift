/// Bytes as text: Base64 of RFC 4648.
///
/// The standard alphabet comes with padding, the one for URLs and file names (`urlSafe`) without.
public enum Base64 {
  /// Encodes `bytes`.
  ///
  /// - Complexity: O(`bytes.count`).
  public static func encode(_ bytes: some Collection<UInt8>, urlSafe: Bool = false) -> String {
    String(decoding: encoded(Array(bytes), urlSafe: urlSafe), as: UTF8.self)
  }

  /// Decodes `text`; nil unless it is exactly what `encode` makes of some bytes.
  ///
  /// So white space, a missing or superfluous padding, and bits that would be thrown away are refused:
  /// two texts never mean the same bytes.
  ///
  /// - Complexity: O(`text.count`).
  public static func decode(_ text: some Collection<UInt8>, urlSafe: Bool = false) -> [UInt8]? {
    decoded(Array(text), urlSafe: urlSafe)
  }

  private static func encoded(_ bytes: [UInt8], urlSafe: Bool) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count / 3 * 4 + 4)
    let alphabet = urlSafe ? urlSafeAlphabet : standardAlphabet
    let span = bytes.span
    let digits = alphabet.span
    var next = 0
    while span.count - next >= 3 {
      let group =
        UInt32(span[next]) << 16 | UInt32(span[next + 1]) << 8 | UInt32(span[next + 2])
      text.append(digits[Int(group >> 18)])
      text.append(digits[Int(group >> 12 & 63)])
      text.append(digits[Int(group >> 6 & 63)])
      text.append(digits[Int(group & 63)])
      next += 3
    }
    let rest = span.count - next
    if rest == 0 { return text }
    let group = UInt32(span[next]) << 16 | (rest == 2 ? UInt32(span[next + 1]) << 8 : 0)
    text.append(digits[Int(group >> 18)])
    text.append(digits[Int(group >> 12 & 63)])
    if rest == 2 { text.append(digits[Int(group >> 6 & 63)]) }
    if !urlSafe { text.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - rest)) }
    return text
  }

  private static func decoded(_ text: [UInt8], urlSafe: Bool) -> [UInt8]? {
    var length = text.count
    if !urlSafe {
      guard length % 4 == 0 else { return nil }
      for _ in 0..<2 where length > 0 && text[length - 1] == UInt8(ascii: "=") { length -= 1 }
    }
    // One digit alone is less than a byte.
    guard length % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length / 4 * 3 + 2)
    let values = urlSafe ? urlSafeValues : standardValues
    let span = text.span
    let table = values.span
    var next = 0
    while length - next >= 4 {
      let (a, b) = (table[Int(span[next])], table[Int(span[next + 1])])
      let (c, d) = (table[Int(span[next + 2])], table[Int(span[next + 3])])
      guard (a | b | c | d) < 64 else { return nil }
      bytes.append(a << 2 | b >> 4)
      bytes.append(b << 4 | c >> 2)
      bytes.append(c << 6 | d)
      next += 4
    }
    let rest = length - next
    if rest == 0 { return bytes }
    let (a, b) = (table[Int(span[next])], table[Int(span[next + 1])])
    let c = rest == 3 ? table[Int(span[next + 2])] : 0
    guard (a | b | c) < 64 else { return nil }
    bytes.append(a << 2 | b >> 4)
    if rest == 3 {
      bytes.append(b << 4 | c >> 2)
      return c & 0x3 == 0 ? bytes : nil
    }
    return b & 0xF == 0 ? bytes : nil
  }

  private static let common =
    Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8) + Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
  private static let standardAlphabet = common + Array("+/".utf8)
  private static let urlSafeAlphabet = common + Array("-_".utf8)

  private static let standardValues = values(of: standardAlphabet)
  private static let urlSafeValues = values(of: urlSafeAlphabet)

  /// The value of each byte as a digit; 255 if it is none.
  private static func values(of alphabet: [UInt8]) -> [UInt8] {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }
}
