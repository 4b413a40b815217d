/// Texts in texts, as bytes. What is looked for is UTF-8, so it is found between code points only.
enum Occurrence {
  /// The places where a text stands in another one, as far as the first two of them, overlapping ones too; none of an empty text.
  ///
  /// - Complexity: O(text + pattern), whatever they are (Knuth, Morris, Pratt, 1977); four bytes of memory for each of the pattern.
  static func firstTwo(of pattern: [UInt8], in text: [UInt8]) -> [Int] {
    guard !pattern.isEmpty, pattern.count <= text.count else { return [] }
    let borders = borders(of: pattern)
    var found: [Int] = []
    var matched = 0
    for index in text.indices {
      while matched > 0, matched == pattern.count || pattern[matched] != text[index] {
        matched = Int(borders[matched - 1])
      }
      if pattern[matched] == text[index] { matched += 1 }
      if matched == pattern.count {
        found.append(index + 1 - matched)
        if found.count == 2 { break }
      }
    }
    return found
  }

  /// The range of a pattern in a text: at an offset if it stands there, else at its first place; if it occurs nowhere, an empty range at the end
  /// of a code point near the offset.
  static func nearest(of pattern: [UInt8], in text: [UInt8], to offset: Int) -> Range<Int> {
    if offset + pattern.count <= text.count,
      text[offset..<offset + pattern.count].elementsEqual(pattern), !pattern.isEmpty
    {
      return offset..<offset + pattern.count
    }
    if let first = firstTwo(of: pattern, in: text).first { return first..<first + pattern.count }
    var place = min(offset, text.count)
    while place < text.count, text[place] & 0xC0 == 0x80 { place += 1 }
    return place..<place
  }

  /// For each prefix of a text the length of the longest shorter prefix that it ends with.
  private static func borders(of pattern: [UInt8]) -> [Int32] {
    var borders = [Int32](repeating: 0, count: pattern.count)
    var length = 0
    for index in pattern.indices.dropFirst() {
      while length > 0, pattern[length] != pattern[index] { length = Int(borders[length - 1]) }
      if pattern[length] == pattern[index] { length += 1 }
      borders[index] = Int32(length)
    }
    return borders
  }
}
