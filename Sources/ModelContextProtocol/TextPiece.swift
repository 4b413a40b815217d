/// The lines of a text that an agent asks for, counted from 1.
struct LineRange: Equatable {
  /// A greater number is no line's, and no offset.
  static let greatest = 1 << 31

  var first = 1
  /// The last line; nil for that of the text.
  var last: Int?
  /// The bytes of the first line that are left out.
  var offset = 0
}

/// A piece of a text that is long enough for one answer: lines with their ends, or a part of a line that is longer.
struct TextPiece {
  /// The length from which on a text is given in pieces, in bytes.
  static let mostBytes = 64 << 10

  /// The reason why a text has no such piece, in a sentence for an agent.
  struct Mistake: Error {
    let message: String
  }

  let bytes: ArraySlice<UInt8>
  /// The place where the text goes on; nil at its end.
  let next: LineRange?

  /// - Complexity: O(`text`).
  init(_ lines: LineRange, of text: [UInt8]) throws(Mistake) {
    let count = text.count { $0 == 0x0A } + 1
    guard lines.first <= count else {
      throw Mistake(
        message:
          "from_line: the note has \(count) lines. Give one of them, and call the tool again.")
    }
    guard lines.last.map({ $0 >= lines.first }) ?? true else {
      throw Mistake(
        message: "to_line: it is before from_line. Correct it, and call the tool again.")
    }
    let lineStart = Self.start(ofLine: lines.first, in: text[...])
    let lineEnd = text[lineStart...].firstIndex(of: 0x0A) ?? text.endIndex
    let start = lineStart + lines.offset
    guard start <= lineEnd, start == text.endIndex || text[start] & 0xC0 != 0x80 else {
      throw Mistake(
        message:
          "offset: no character begins there in line \(lines.first). Give the next_offset of the answer before, or leave it out."
      )
    }
    let rest = text[start...]
    var piece = rest
    if let last = lines.last {
      piece = rest[..<Self.start(ofLine: last - lines.first + 2, in: rest)]
    }
    if piece.count > Self.mostBytes {
      let most = piece.prefix(Self.mostBytes)
      let end = most.lastIndex(of: 0x0A).map { $0 + 1 }
      piece = piece[..<(end ?? Self.characterEnd(in: piece, atMost: most.endIndex))]
    }
    bytes = piece
    guard piece.endIndex < text.endIndex else {
      next = nil
      return
    }
    let line = lines.first + piece.count { $0 == 0x0A }
    let nextOffset = piece.last == 0x0A ? 0 : piece.count + lines.offset
    next = LineRange(
      first: line, last: lines.last.flatMap { $0 >= line ? $0 : nil }, offset: nextOffset)
  }

  /// The index at which a line begins, the first of which is 1; the end of the text if it has fewer lines.
  private static func start(ofLine number: Int, in text: ArraySlice<UInt8>) -> Int {
    var start = text.startIndex
    for _ in 1..<number {
      guard let end = text[start...].firstIndex(of: 0x0A) else { return text.endIndex }
      start = end + 1
    }
    return start
  }

  /// The last index at which a character ends, looked for in the last bytes before `end`; if one is longer, at which a code point ends.
  private static func characterEnd(in text: ArraySlice<UInt8>, atMost end: Int) -> Int {
    let start = codePointStart(in: text, atMost: end - 256)
    let stop = codePointStart(in: text, atMost: min(end + 256, text.endIndex))
    let string = String(decoding: text[start..<stop], as: UTF8.self)
    var last = start
    for character in string {
      let next = last + character.utf8.count
      if next > end { break }
      last = next
    }
    return last > start ? last : codePointStart(in: text, atMost: end)
  }

  private static func codePointStart(in text: ArraySlice<UInt8>, atMost end: Int) -> Int {
    var start = end
    while start < text.endIndex, text[start] & 0xC0 == 0x80 { start -= 1 }
    return start
  }
}

/// A text in which all lines end with a line feed alone, and the places of its bytes in the text that it was made of.
struct PlainLines {
  private(set) var bytes: [UInt8] = []
  /// The indices of the line feeds that have lost a carriage return, in order.
  private var shortened: [Int] = []

  /// - Complexity: O(`text`).
  init(_ text: some Collection<UInt8>) {
    bytes.reserveCapacity(text.count)
    for byte in text {
      if byte == 0x0A, bytes.last == 0x0D {
        bytes[bytes.count - 1] = byte
        shortened.append(bytes.count - 1)
      } else {
        bytes.append(byte)
      }
    }
  }

  /// The offset in the original text at which the byte with this index begins, with its carriage return if it has lost one.
  ///
  /// - Complexity: O(log line ends).
  func originalOffset(of index: Int) -> Int {
    var (low, high) = (0, shortened.count)
    while low < high {
      let middle = (low + high) / 2
      if shortened[middle] < index { low = middle + 1 } else { high = middle }
    }
    return index + low
  }
}
