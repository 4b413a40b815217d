internal import Bytes

/// The parts of a text that are held against those of another one: lines without the white space around them, words (`Token`) without
/// what is between them, or characters.
///
/// The white space between lines and words is no part of them, so a line is the same with another indentation, and a word where lines are broken anew.
/// White space by itself is no line: a blank line that stands in both texts need not be the same one.
///
/// Pieces are held against each other by hashes of their bytes. Different pieces can have the same one, by chance or by
/// intent: what is taken for equal must be compared.
struct Pieces {
  enum Cut { case lines, words, characters }

  private(set) var ranges: [Range<Int>] = []
  private(set) var hashes: [UInt64] = []

  /// Of more pieces than this no table is made: each takes 24 bytes.
  private static let most = 1 << 19

  /// Nothing if there are too many.
  init?(of text: [UInt8], in range: Range<Int>, cutAt cut: Cut) {
    let isDone =
      switch cut {
      case .lines: cutAtLines(text, range)
      case .words: cutAtWords(text, range)
      case .characters: cutAtCharacters(text, range)
      }
    guard isDone else { return nil }
  }

  private mutating func cutAtLines(_ text: [UInt8], _ range: Range<Int>) -> Bool {
    let bytes = text.span.extracting(0..<range.upperBound)
    var start = range.lowerBound
    while start < range.upperBound {
      let end = bytes.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? range.upperBound
      var line = start..<end
      while !line.isEmpty, text[line.lowerBound] <= 0x20 { line.removeFirst() }
      while !line.isEmpty, text[line.upperBound - 1] <= 0x20 { line.removeLast() }
      guard line.isEmpty || append(line, of: text) else { return false }
      start = end + 1
    }
    return true
  }

  /// Tokens, but no blanks and no punctuation.
  private mutating func cutAtWords(_ text: [UInt8], _ range: Range<Int>) -> Bool {
    var scanner = TokenScanner(text, in: range)
    while let token = scanner.next() {
      guard !token.isWord || append(token.range, of: text) else { return false }
    }
    return true
  }

  private mutating func cutAtCharacters(_ text: [UInt8], _ range: Range<Int>) -> Bool {
    var place = range.lowerBound
    for character in String(decoding: text[range], as: UTF8.self) {
      let end = place + character.utf8.count
      guard append(place..<end, of: text) else { return false }
      place = end
    }
    return true
  }

  private mutating func append(_ range: Range<Int>, of text: [UInt8]) -> Bool {
    guard ranges.count < Self.most else { return false }
    let text = text.span
    var hash = WordHash()
    var place = range.lowerBound
    while range.upperBound - place >= ByteWord.size {
      hash.combine(ByteWord(text, at: place), count: ByteWord.size)
      place += ByteWord.size
    }
    let count = range.upperBound - place
    if count > 0 { hash.combine(ByteWord(text, at: place, count: count), count: count) }
    ranges.append(range)
    hashes.append(hash.value)
    return true
  }
}
