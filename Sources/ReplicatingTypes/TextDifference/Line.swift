/// A line of a part of a text: what stands in it, and its end, which is empty behind the last one.
struct Line {
  var content: Range<Int>
  var end: Range<Int>

  /// The lines of a part of a text, one more than there are line feeds.
  static func lines(of text: [UInt8], in range: Range<Int>) -> [Line] {
    var lines: [Line] = []
    var start = range.lowerBound
    for place in range where text[place] == 0x0A {
      lines.append(Line(content: start..<place, end: place..<place + 1))
      start = place + 1
    }
    lines.append(Line(content: start..<range.upperBound, end: range.upperBound..<range.upperBound))
    return lines
  }

  /// True if the content begins where a line of the text does.
  func isWhole(_ text: [UInt8]) -> Bool { isLineStart(text, content.lowerBound) }
}

func isLineStart(_ text: [UInt8], _ place: Int) -> Bool {
  place == 0 || text[place - 1] == 0x0A
}

/// The beginning of the line of a place, if it is near enough for a line's mark: 128 bytes before at most.
func startOfMarkedLine(_ text: [UInt8], _ place: Int) -> Int? {
  var start = place
  while !isLineStart(text, start) {
    start -= 1
    if place - start > 128 { return nil }
  }
  return start
}

/// The number of bytes of what a line begins with and keeps when it is rewritten: indentation, marks of quotes, lists, numbers and
/// headings, and a check box, each with the blank behind it.
func lengthOfLineMark(_ text: [UInt8], _ line: Range<Int>) -> Int {
  var place = line.lowerBound
  func skipBlanks() {
    while place < line.upperBound, text[place] == 0x20 || text[place] == 0x09 { place += 1 }
  }
  func isBlank(_ place: Int) -> Bool {
    place < line.upperBound && (text[place] == 0x20 || text[place] == 0x09)
  }
  skipBlanks()
  while place < line.upperBound {
    var next = place
    switch text[place] {
    case UInt8(ascii: ">"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "+"): next += 1
    case UInt8(ascii: "#"):
      while next < line.upperBound, text[next] == UInt8(ascii: "#") { next += 1 }
    case UInt8(ascii: "["):
      var scanner = TokenScanner(text, in: place..<line.upperBound)
      guard let box = scanner.next(), box.kind == .box else { return place - line.lowerBound }
      next = box.range.upperBound
    case 0x30...0x39:
      while next < line.upperBound, isASCIIDigit(text[next]) { next += 1 }
      guard next < line.upperBound,
        text[next] == UInt8(ascii: ".") || text[next] == UInt8(ascii: ")")
      else { return place - line.lowerBound }
      next += 1
    default: return place - line.lowerBound
    }
    guard isBlank(next) else { return place - line.lowerBound }
    place = next
    skipBlanks()
  }
  return place - line.lowerBound
}

// MARK: - Sentences

/// The place behind the last end of a line or a sentence before a place, or `low`.
func sentenceStart(in text: [UInt8], before place: Int, from low: Int) -> Int {
  var index = place
  while index > low {
    let byte = text[index - 1]
    if byte == 0x0A { return index }
    if byte == 0x20, index - 1 > low, isFullStop(text[index - 2]), index < place { return index }
    index -= 1
  }
  return index == 0 ? 0 : safePlace(in: text, before: place, from: low)
}

/// The place of the next line end behind a place, or the place behind the next end of a sentence, or `high`.
func sentenceEnd(in text: [UInt8], behind place: Int, to high: Int) -> Int {
  var index = place
  while index < high {
    let byte = text[index]
    if byte == 0x0A { return index }
    if index > place, byte == 0x20, isFullStop(text[index - 1]) { return index }
    index += 1
  }
  return index == text.count ? index : safePlace(in: text, behind: place, to: high)
}

func isFullStop(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: ".") || byte == UInt8(ascii: "!") || byte == UInt8(ascii: "?")
}

extension Edit<UInt8> {
  /// The same edit; of an insertion of several lines in front of an empty line's end, with an empty line among them, two insertions of whole lines: the
  /// empty line is the one that was there, and what others write above it stays in a line of its own.
  func keepingEmptyLine(in text: [UInt8]) -> [Edit<UInt8>] {
    let place = range.lowerBound
    guard range.isEmpty, place < text.count, text[place] == 0x0A, isLineStart(text, place),
      !isLineStart(replacement, replacement.count),
      let empty = replacement.indices.dropFirst().first(where: {
        replacement[$0] == 0x0A && replacement[$0 - 1] == 0x0A
      })
    else { return [self] }
    return [
      Edit(range: range, replacement: Array(replacement[..<empty])),
      Edit(range: place + 1..<place + 1, replacement: replacement[(empty + 1)...] + [0x0A]),
    ]
  }

  /// Of a deletion from within one line to within a later one two deletions of whole lines, if a line between these is just what is left of both; nil of any
  /// other edit. The texts don't tell the two apart, and so what others write between lines stays there.
  func keepingWholeLine(in text: [UInt8]) -> [Edit<UInt8>]? {
    let (low, high) = (range.lowerBound, range.upperBound)
    let start = text[..<low].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    guard replacement.isEmpty, start < low, let next = text[low..<high].firstIndex(of: 0x0A),
      let last = text[low..<high].lastIndex(of: 0x0A),
      let end = text[high...].firstIndex(of: 0x0A)
    else { return nil }
    let left = text[start..<low] + text[high...end]
    var line = next + 1
    while line <= last {
      let below = text[line...].firstIndex(of: 0x0A)! + 1
      if text[line..<below].elementsEqual(left) {
        return [
          Edit(range: start..<line, replacement: []),
          Edit(range: below..<end + 1, replacement: []),
        ]
      }
      line = below
    }
    return nil
  }
}
