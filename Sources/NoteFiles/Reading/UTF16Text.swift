/// Text in UTF-16, known by its bytes.
enum UTF16Text {
  /// True if a file begins with a byte order mark of UTF-16, or most pairs of bytes at its beginning have a zero at the same place, as text of European
  /// languages has, and none at the other.
  static func isLikely(_ bytes: [UInt8]) -> Bool {
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return true }
    if bytes.count % 2 != 0 { return false }
    let pairs = min(bytes.count, 4096) / 2
    var zeros = (0, 0)
    for pair in 0..<pairs {
      if bytes[2 * pair] == 0 { zeros.0 += 1 }
      if bytes[2 * pair + 1] == 0 { zeros.1 += 1 }
    }
    return min(zeros.0, zeros.1) == 0 && 2 * max(zeros.0, zeros.1) > pairs
  }
}
