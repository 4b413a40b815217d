internal import Bytes

/// The title that a text in Markdown begins with.
enum Headings {
  /// The words of the first line that isn't blank, if it is a heading of the first level (`# words`), and the only one.
  ///
  /// Lines in fenced code are no headings; underlined ones are (`===`). `nil` as well for a heading without words.
  ///
  /// - Complexity: O(n).
  static func soleFirst(in text: ArraySlice<UInt8>) -> String? {
    var found: String?
    var fence: (sign: UInt8, count: Int)?
    var isBehindWords = false
    var start = text.startIndex
    while start < text.endIndex {
      let end = text.endOfLine(from: start)
      let line = text[start..<end].withoutLineEnd
      start = end
      let content = line.drop(while: { $0 == .space })
      let first = content.first
      let isIndented = content.startIndex - line.startIndex > 3
      defer { isBehindWords = first != nil && first != .hash }
      if found == nil {
        if content.allSatisfy(\.isBlank) { continue }
        guard !isIndented, let words = heading(content), !words.isEmpty else { return nil }
        found = words.text
        continue
      }
      guard !isIndented, let first else { continue }
      if first == UInt8(ascii: "`") || first == UInt8(ascii: "~") {
        let count = content.prefix { $0 == first }.count
        if let open = fence {
          if first == open.sign, count >= open.count,
            content.dropFirst(count).allSatisfy(\.isBlank)
          {
            fence = nil
          }
        } else if count >= 3,
          first == UInt8(ascii: "~") || !content.dropFirst(count).contains(first)
        {
          fence = (first, count)
        }
      } else if fence == nil {
        if first == .hash, heading(content) != nil { return nil }
        if first == UInt8(ascii: "="), isBehindWords,
          content.trimmed.allSatisfy({ $0 == UInt8(ascii: "=") })
        {
          return nil
        }
      }
    }
    return found
  }

  /// The words of a heading of the first level.
  private static func heading(_ content: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let rest = content.dropFirst()
    guard content.first == .hash, rest.isEmpty || rest.first!.isBlank else { return nil }
    let words = rest.trimmed
    var end = words.endIndex
    while end > words.startIndex, words[end - 1] == .hash { end -= 1 }
    // A closing row of signs stands behind a blank.
    if end == words.startIndex { return [] }
    return end < words.endIndex && words[end - 1].isBlank ? words[..<end].trimmed : words
  }
}
