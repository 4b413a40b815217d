internal import Bytes

/// Strings as they are written in JSON: validating and unescaping.
enum JSONString {
  /// Moves `position` from a string's opening quotation mark to behind the closing one.
  ///
  /// Returns whether there are escape sequences in it.
  static func scan(_ bytes: Span<UInt8>, from position: inout Int) throws(JSONError) -> Bool {
    let start = position
    var next = position + 1
    var hasEscapes = false
    while true {
      next = endOfPlainBytes(bytes, from: next)
      guard next < bytes.count else {
        throw JSONError(offset: start, reason: "a string without end")
      }
      let byte = bytes[next]
      if byte >= 0x80 {
        // More of its kind may follow, also in scripts that have nothing else.
        repeat {
          next = try endOfScalar(bytes, from: next)
        } while next < bytes.count && bytes[next] >= 0x80
      } else if byte == UInt8(ascii: "\"") {
        position = next + 1
        return hasEscapes
      } else if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        next = try endOfEscape(bytes, from: next)
      } else {
        throw JSONError(offset: next, reason: "a control character in a string, not escaped")
      }
    }
  }

  /// Where the bytes end from `start` on that stand for themselves: ASCII, no control character, quotation mark or backslash.
  @inline(__always)
  private static func endOfPlainBytes(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var next = start
    while bytes.count - next >= ByteWord.size {
      let word = ByteWord(bytes, at: next)
      let marks = marksOfOthers(word)
      if marks != 0 { return next + ByteWord.countBefore(marks) }
      next += ByteWord.size
    }
    while next < bytes.count {
      let byte = bytes[next]
      if byte &- 0x20 >= 0x60 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
      next += 1
    }
    return next
  }

  /// Marks the bytes that do not stand for themselves.
  @inline(__always)
  static func marksOfOthers(_ word: ByteWord) -> UInt64 {
    word.marksBeyondASCII | word.marks(below: 0x20) | word.marks(of: UInt8(ascii: "\""))
      | word.marks(of: UInt8(ascii: "\\"))
  }

  /// The position behind the escape sequence at `start`: a whole pair, if it is a surrogate.
  private static func endOfEscape(
    _ bytes: Span<UInt8>, from start: Int
  ) throws(JSONError) -> Int {
    guard start + 1 < bytes.count else {
      throw JSONError(offset: start, reason: "a string without end")
    }
    switch bytes[start + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return start + 2
    case UInt8(ascii: "u"):
      guard let unit = codeUnit(bytes, at: start) else {
        throw JSONError(offset: start, reason: "\\u without four hexadecimal digits")
      }
      if unit & 0xF800 != 0xD800 { return start + 6 }
      guard unit < 0xDC00, let low = codeUnit(bytes, at: start + 6), low & 0xFC00 == 0xDC00 else {
        var error = JSONError(
          offset: start, reason: "an escaped surrogate that is not part of a pair")
        error.isLoneSurrogate = true
        throw error
      }
      return start + 12
    default:
      throw JSONError(offset: start, reason: "an unknown escape sequence")
    }
  }

  /// The document with U+FFFD in the place of each escaped surrogate that is not part of a pair. O(n).
  static func replacingLoneSurrogates(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    var next = 0
    while next + 1 < bytes.count {
      guard bytes[next] == UInt8(ascii: "\\") else {
        next += 1
        continue
      }
      do throws(JSONError) {
        next = try endOfEscape(bytes.span, from: next)
      } catch {
        if error.isLoneSurrogate {
          bytes.replaceSubrange(next + 2..<next + 6, with: Array("FFFD".utf8))
        }
        next += 2
      }
    }
    return bytes
  }

  /// The UTF-16 code unit that a `\u` sequence at `start` names, nil if there is no such sequence.
  private static func codeUnit(_ bytes: Span<UInt8>, at start: Int) -> UInt32? {
    guard start + 6 <= bytes.count, bytes[start] == UInt8(ascii: "\\"),
      bytes[start + 1] == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt32 = 0
    for index in start + 2..<start + 6 {
      let byte = bytes[index]
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: return nil
      }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  /// The position behind the UTF-8 sequence of two to four bytes at `start`.
  ///
  /// The second byte's range shuts out overlong forms, surrogates and what lies above U+10FFFF
  /// (table 3-7 of the Unicode standard).
  @inline(__always)
  private static func endOfScalar(
    _ bytes: Span<UInt8>, from start: Int
  ) throws(JSONError) -> Int {
    let length: Int
    let second: ClosedRange<UInt8>
    switch bytes[start] {
    case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: throw JSONError(offset: start, reason: "invalid UTF-8")
    }
    guard bytes.count - start >= length, second.contains(bytes[start + 1]) else {
      throw JSONError(offset: start, reason: "invalid UTF-8")
    }
    for index in 2..<max(length, 2) where bytes[start + index] & 0xC0 != 0x80 {
      throw JSONError(offset: start, reason: "invalid UTF-8")
    }
    return start + length
  }

  /// The text that a string's contents stand for, as UTF-8.
  ///
  /// - Parameter contents: What `scan` has accepted, without the quotation marks.
  static func unescaped(_ contents: Span<UInt8>) -> [UInt8] {
    var text = [UInt8](repeating: 0, count: contents.count)
    // An escape sequence is never shorter than what it stands for, so the text has room for the rest.
    var length = 0
    var target = text.mutableSpan
    var next = 0
    while next < contents.count {
      // The bytes behind the escape sequence are written over.
      while contents.count - next >= ByteWord.size {
        let word = ByteWord(contents, at: next)
        word.store(into: &target, at: length)
        let marks = word.marks(of: UInt8(ascii: "\\"))
        let count = marks == 0 ? ByteWord.size : ByteWord.countBefore(marks)
        (next, length) = (next + count, length + count)
        if marks != 0 { break }
      }
      while next < contents.count, contents[next] != UInt8(ascii: "\\") {
        target[length] = contents[next]
        (next, length) = (next + 1, length + 1)
      }
      guard next + 1 < contents.count else { break }
      let name = contents[next + 1]
      next += 2
      switch name {
      case UInt8(ascii: "b"): target[length] = 0x08
      case UInt8(ascii: "f"): target[length] = 0x0C
      case UInt8(ascii: "n"): target[length] = 0x0A
      case UInt8(ascii: "r"): target[length] = 0x0D
      case UInt8(ascii: "t"): target[length] = 0x09
      case UInt8(ascii: "u"):
        for byte in UTF8.encode(scalar(contents, after: &next))! {
          target[length] = byte
          length += 1
        }
        continue
      default: target[length] = name
      }
      length += 1
    }
    text.removeLast(text.count - length)
    return text
  }

  /// The scalar that a `\u` sequence stands for, or a pair of them; `position` is behind its `u`.
  private static func scalar(
    _ contents: Span<UInt8>, after position: inout Int
  ) -> Unicode.Scalar {
    let high = codeUnit(contents, at: position - 2) ?? 0xFFFD
    position += 4
    guard high & 0xFC00 == 0xD800 else { return Unicode.Scalar(high) ?? "\u{FFFD}" }
    let low = codeUnit(contents, at: position) ?? 0xDC00
    position += 6
    return Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + low & 0x3FF) ?? "\u{FFFD}"
  }
}

extension Span<UInt8> {
  @inline(__always)
  func hasSameBytes(as other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    for index in indices where self[index] != other[index] { return false }
    return true
  }
}
