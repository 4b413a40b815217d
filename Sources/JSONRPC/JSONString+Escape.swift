internal import Bytes

extension JSONString {
  /// Escapes the text that stands at the end of `bytes`, from `start` on, in place.
  ///
  /// In place, because text without anything to escape is the rule and then costs one look, and text
  /// with it needs no second buffer.
  static func escape(_ bytes: inout [UInt8], from start: Int) {
    let growth = escapedGrowth(bytes.span.extracting(start...))
    if growth == 0 { return }
    var source = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: growth))
    var target = bytes.count
    var text = bytes.mutableSpan
    // From here on down a word is looked at: of one with a mark each byte is looked at.
    var look = source
    // From the back, so that nothing is overwritten before it has moved. Once the two meet, what is
    // left is in its place.
    while source < target {
      if source <= look, source - start >= ByteWord.size {
        let word = ByteWord(text.span, at: source - ByteWord.size)
        if marks(word) == 0 {
          (source, target) = (source - ByteWord.size, target - ByteWord.size)
          word.store(into: &text, at: target)
          continue
        }
        look = source - ByteWord.size
      }
      source -= 1
      let byte = text[source]
      if standsForItself(byte) {
        target -= 1
        text[target] = byte
        continue
      }
      let length = 1 + escapeGrowth(of: byte)
      target -= length
      if byte == 0 {
        (text[target], text[target + 1], text[target + 2]) = (0xEF, 0xBF, 0xBD)
        continue
      }
      text[target] = UInt8(ascii: "\\")
      if length == 2 {
        text[target + 1] = shortName(of: byte)
        continue
      }
      text[target + 1] = UInt8(ascii: "u")
      text[target + 2] = UInt8(ascii: "0")
      text[target + 3] = UInt8(ascii: "0")
      text[target + 4] = UInt8(ascii: "0") + byte >> 4
      let digit = byte & 0xF
      text[target + 5] = (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) + digit
    }
  }

  /// The number of bytes by which a text grows when it is escaped.
  private static func escapedGrowth(_ text: Span<UInt8>) -> Int {
    var growth = 0
    var next = 0
    while next < text.count {
      if text.count - next >= 4 * ByteWord.size {
        // Four at a time, for the sake of vector instructions.
        let block = text.extracting(next..<next + 4 * ByteWord.size)
        let first = marks(ByteWord(block, at: 0)) | marks(ByteWord(block, at: ByteWord.size))
        let second =
          marks(ByteWord(block, at: 2 * ByteWord.size))
          | marks(ByteWord(block, at: 3 * ByteWord.size))
        if first | second == 0 {
          next += 4 * ByteWord.size
          continue
        }
      }
      if text.count - next >= ByteWord.size, marks(ByteWord(text, at: next)) == 0 {
        next += ByteWord.size
        continue
      }
      let end = min(next + ByteWord.size, text.count)
      while next < end {
        let byte = text[next]
        if !standsForItself(byte) { growth += escapeGrowth(of: byte) }
        next += 1
      }
    }
    return growth
  }

  /// Marks the bytes that need an escape sequence.
  @inline(__always)
  private static func marks(_ word: ByteWord) -> UInt64 {
    word.marks(below: 0x20) | word.marks(of: UInt8(ascii: "\""))
      | word.marks(of: UInt8(ascii: "\\"))
  }

  /// True if a byte needs no escape sequence: those of longer UTF-8 sequences never do.
  @inline(__always)
  private static func standsForItself(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// The number of bytes that escaping adds to a byte that must be escaped.
  private static func escapeGrowth(of byte: UInt8) -> Int {
    switch byte {
    case 0: return 2  // U+FFFD takes three
    case 0x08, 0x09, 0x0A, 0x0C, 0x0D, UInt8(ascii: "\""), UInt8(ascii: "\\"): return 1
    default: return 5
    }
  }

  /// The byte behind the backslash in an escape sequence of two bytes.
  private static func shortName(of byte: UInt8) -> UInt8 {
    switch byte {
    case 0x08: UInt8(ascii: "b")
    case 0x09: UInt8(ascii: "t")
    case 0x0A: UInt8(ascii: "n")
    case 0x0C: UInt8(ascii: "f")
    case 0x0D: UInt8(ascii: "r")
    default: byte
    }
  }
}
