internal import Bytes

/// What stands in the parentheses of `[words](destination "title")`.
struct LinkDestination {
  /// Where the destination stands, without `<` and `>`.
  let range: Range<Int>
  /// Where the link ends, behind the parenthesis.
  let end: Int

  /// The depth to which parentheses in a destination may be nested.
  private static let deepest = 32

  /// Reads what stands behind the parenthesis; nil if that is none of a link. O(its length).
  init?(_ text: [UInt8], from start: Int, to limit: Int) {
    func byte(_ index: Int) -> UInt8? { index < limit ? text[index] : nil }
    func skipBlanks(_ index: inout Int) {
      while let next = byte(index), next.isBlank || next == .lineFeed || next == .carriageReturn {
        index += 1
      }
    }
    var index = start
    skipBlanks(&index)
    if byte(index) == UInt8(ascii: "<") {
      let first = index + 1
      index = first
      while let next = byte(index), next != UInt8(ascii: ">") {
        if next == .lineFeed || next == UInt8(ascii: "<") { return nil }
        index += next == .backslash && byte(index + 1)?.isPunctuation == true ? 2 : 1
      }
      if index >= limit { return nil }
      range = first..<index
      index += 1
    } else {
      let first = index
      var depth = 0
      loop: while let next = byte(index), next > 0x20, next != 0x7F {
        switch next {
        case .backslash where byte(index + 1)?.isPunctuation == true: index += 1
        case .openingParenthesis:
          depth += 1
          if depth > Self.deepest { return nil }
        case .closingParenthesis:
          if depth == 0 { break loop }
          depth -= 1
        default: break
        }
        index += 1
      }
      if depth > 0 { return nil }
      range = first..<index
    }
    let behind = index
    skipBlanks(&index)
    if index > behind, let opening = byte(index), let closing = Self.titleEnds[opening] {
      index += 1
      while let next = byte(index), next != closing {
        if next == .openingParenthesis, closing == .closingParenthesis { return nil }
        index += next == .backslash && byte(index + 1)?.isPunctuation == true ? 2 : 1
      }
      index += 1
      skipBlanks(&index)
    }
    guard byte(index) == .closingParenthesis else { return nil }
    end = index + 1
  }

  private static let titleEnds: [UInt8: UInt8] = [
    .quote: .quote, .apostrophe: .apostrophe, .openingParenthesis: .closingParenthesis,
  ]

  /// The relative path of a note's file that this is, decoded, and the heading in it; nil if it is something else.
  func notePath(in text: [UInt8]) -> (path: String, heading: String?)? {
    let written = Self.unescaped(text[range])
    guard written.count <= 3 * NotePath.longest, written.first != .slash,
      !Self.hasScheme(written[...])
    else { return nil }
    let sign = written.firstIndex(of: .hash)
    guard let path = Self.decoded(written[..<(sign ?? written.count)]), !path.isEmpty,
      FileType(path: path) != nil
    else { return nil }
    let heading = sign.flatMap { Self.decoded(written[($0 + 1)...]) } ?? ""
    return (path, heading.isEmpty ? nil : heading)
  }

  private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var isEscaped = false
    for (index, byte) in zip(bytes.indices, bytes) {
      if !isEscaped, byte == .backslash, index + 1 < bytes.endIndex, bytes[index + 1].isPunctuation
      {
        isEscaped = true
      } else {
        isEscaped = false
        result.append(byte)
      }
    }
    return result
  }

  /// True for a web address and the like: a letter, then letters, digits and `+.-`, then a colon.
  private static func hasScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let colon = bytes.firstIndex(of: .colon), let first = bytes.first, first.isLetter else {
      return false
    }
    return bytes[..<colon].allSatisfy {
      $0.isLetter || $0.isDigit || $0 == .dot || $0 == .hyphen || $0 == UInt8(ascii: "+")
    }
  }

  /// The text with `%41` as `A`; nil if that is no text, or has a control character. What is no number stays as it is.
  private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
    var result: [UInt8] = []
    var index = bytes.startIndex
    while index < bytes.endIndex {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.endIndex,
        let high = bytes[index + 1].hexDigit, let low = bytes[index + 2].hexDigit
      {
        result.append(high << 4 | low)
        index += 3
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    guard result.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    return String(validating: result, as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var isLetter: Bool { (self | 0x20) &- 0x61 < 26 }

  fileprivate var hexDigit: UInt8? {
    if isDigit { return self - 0x30 }
    let letter = (self | 0x20) &- 0x61
    return letter < 6 ? letter + 10 : nil
  }
}
