/// Numbers as they are written in JSON: the grammar, and exact integers.
enum JSONNumber {
  /// Moves `position` behind the number that starts there, with a minus sign or a digit.
  static func scan(_ bytes: Span<UInt8>, from position: inout Int) throws(JSONError) {
    let start = position
    if bytes[position] == UInt8(ascii: "-") { position += 1 }
    let leading = position
    try scanDigits(bytes, from: &position, of: start)
    if bytes[leading] == UInt8(ascii: "0"), position - leading > 1 {
      throw JSONError(offset: start, reason: "a number with a leading zero")
    }
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      position += 1
      try scanDigits(bytes, from: &position, of: start)
    }
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if position < bytes.count,
        bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
      {
        position += 1
      }
      try scanDigits(bytes, from: &position, of: start)
    }
  }

  private static func scanDigits(
    _ bytes: Span<UInt8>, from position: inout Int, of start: Int
  ) throws(JSONError) {
    let first = position
    while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
    guard position > first else {
      throw JSONError(offset: start, reason: "a number that lacks a digit")
    }
  }

  /// The value of a number that `scan` has accepted, if it is a whole one and fits.
  ///
  /// The digits without zeros at either end, times a power of ten: whole exactly if that power is not
  /// negative. So nothing depends on how many zeros, or how large an exponent, a sender writes.
  static func integer(_ number: Span<UInt8>) -> Int? {
    if let short = shortInteger(number) { return short }
    var significand: UInt64 = 0
    var zeros = 0  // since the last digit that counted
    var fractionDigits = 0
    var isFraction = false
    var next = 0
    let isNegative = number[0] == UInt8(ascii: "-")
    if isNegative { next = 1 }
    digits: while next < number.count {
      let byte = number[next]
      switch byte {
      case UInt8(ascii: "."):
        isFraction = true
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        if isFraction { fractionDigits += 1 }
        if byte == UInt8(ascii: "0") {
          if significand != 0 { zeros += 1 }
        } else {
          guard let shifted = scaled(significand, byPowerOfTen: significand == 0 ? 0 : zeros + 1)
          else { return nil }
          let (sum, overflow) = shifted.addingReportingOverflow(
            UInt64(byte - UInt8(ascii: "0")))
          if overflow { return nil }
          significand = sum
          zeros = 0
        }
      default:
        next += 1
        break digits
      }
      next += 1
    }
    if significand == 0 { return 0 }
    let power = exponent(number, from: next) - fractionDigits + zeros
    guard let magnitude = scaled(significand, byPowerOfTen: power) else { return nil }
    return isNegative ? Int(exactly: -Int128(magnitude)) : Int(exactly: magnitude)
  }

  /// The value of a number that consists of few enough digits to fit, and nothing else; nil for every other one.
  private static func shortInteger(_ number: Span<UInt8>) -> Int? {
    guard number.count <= 18 else { return nil }
    var value = 0
    for index in number.indices {
      let digit = number[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      value = value &* 10 &+ Int(digit)
    }
    return value
  }

  /// The exponent whose sign or first digit is at `start`, 0 if there is nothing.
  ///
  /// It stops growing where no document is long enough to make up for it with zeros.
  private static func exponent(_ number: Span<UInt8>, from start: Int) -> Int {
    var exponent = 0
    var isNegative = false
    for index in start..<max(start, number.count) {
      switch number[index] {
      case UInt8(ascii: "-"): isNegative = true
      case UInt8(ascii: "+"): break
      case let digit:
        if exponent < 1 << 40 { exponent = exponent * 10 + Int(digit - UInt8(ascii: "0")) }
      }
    }
    return isNegative ? -exponent : exponent
  }

  /// `value` times ten to `power`; nil if `power` is negative or the product does not fit.
  private static func scaled(_ value: UInt64, byPowerOfTen power: Int) -> UInt64? {
    guard (0...19).contains(power) else { return nil }
    var value = value
    for _ in 0..<power {
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      value = product
    }
    return value
  }
}
