// The lines of a YAML header, and which of them begin a field.
//
// Of YAML only as much is known as is needed to tell its top-level fields from each other:
//
// - a *key line* begins in column 0 with a name, plain or in quotes, a colon, and a blank or the line's end;
// - what continues the field before it: an indented line; a list item (`- a`) in column 0; a line that begins with `]` or `}`; and, if
//   the field has open quotes or brackets (`OpenBrackets.swift`), all lines up to the one that closes them;
// - a blank line, or a comment in column 0: belongs to the field before it if that is continued behind it, and to the next one otherwise;
// - any other line: from here on to the end of the header nothing is understood, and all of it is one field.

/// The kind of a line within a header.
enum HeaderLine: Equatable {
  /// The line begins a field; the value is the number of bytes of its name.
  case key(Int)
  case continuation
  /// A blank line, or a comment in column 0.
  case gap
  case other

  init(_ line: ArraySlice<UInt8>) {
    let content = line.withoutLineEnd
    guard let first = content.first, let contentStart = content.firstIndex(where: { !$0.isBlank })
    else {
      self = .gap
      return
    }
    if first == .hash {
      self = .gap
    } else if first.isBlank || first == .closingBracket || first == .closingBrace
      || HeaderLine.isItem(content[contentStart...])
    {
      self = .continuation
    } else if let count = HeaderLine.keyCount(content) {
      self = .key(count)
    } else {
      self = .other
    }
  }

  var isKey: Bool { if case .key = self { true } else { false } }

  /// True for `- a` and `-`.
  static func isItem(_ content: ArraySlice<UInt8>) -> Bool {
    guard content.first == .hyphen else { return false }
    return content.count == 1 || content[content.startIndex + 1].isBlank
  }

  /// The most bytes that a key may have.
  static let longestKey = 200

  /// The bytes with which YAML begins something else than a plain word.
  private static let indicators: Set<UInt8> = Set("-?:,[]{}#&*!|>'\"%@`".utf8)

  private static func keyCount(_ content: ArraySlice<UInt8>) -> Int? {
    guard let first = content.first else { return nil }
    if first == .quote || first == .apostrophe { return quotedKeyCount(content) }
    guard !indicators.contains(first) else { return nil }
    var index = content.startIndex
    let end = min(content.endIndex, content.startIndex + longestKey + 1)
    while index < end {
      if content[index] == .colon, index + 1 == content.endIndex || content[index + 1].isBlank {
        var last = index
        while last > content.startIndex, content[last - 1].isBlank { last -= 1 }
        return last - content.startIndex
      }
      if content[index] == .hash, content[index - 1].isBlank { return nil }
      if content[index] < 0x20, content[index] != .tab { return nil }
      index += 1
    }
    return nil
  }

  private static func quotedKeyCount(_ content: ArraySlice<UInt8>) -> Int? {
    let reader = ScalarReader(bytes: Array(content))
    guard let end = reader.quoted(at: 0)?.range.upperBound, end <= longestKey else { return nil }
    let colon = reader.skippingBlanks(from: end)
    guard colon < content.count, reader.bytes[colon] == .colon,
      reader.isLineEnd(colon + 1) || reader.bytes[colon + 1].isBlank
    else { return nil }
    return end
  }

  /// The name that a key of a key line gives: without its quotes, unless the name would be reserved or no line.
  static func name(of key: ArraySlice<UInt8>) -> String {
    guard key.first == .quote || key.first == .apostrophe,
      let name = ScalarReader(bytes: Array(key)).quoted(at: 0)?.text, let first = name.utf8.first,
      first != .colon, !name.utf8.contains(where: { $0 < 0x20 })
    else { return key.text }
    return name
  }
}
