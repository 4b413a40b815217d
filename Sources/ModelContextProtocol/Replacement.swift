/// A text in which a part was replaced.
struct Replacement {
  let text: [UInt8]
  /// The place of what was put in.
  let range: Range<Int>

  /// So much of the lines is shown, in bytes.
  private static let mostShown = 2000

  init(of range: Range<Int>, in old: [UInt8], by new: [UInt8]) {
    text = Array(old[..<range.lowerBound]) + new + old[range.upperBound...]
    self.range = range.lowerBound..<range.lowerBound + new.count
  }

  /// The lines in which something is new, without what is too long.
  var lines: String {
    let start = text[..<range.lowerBound].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    // If a line end is the last that is new, the line behind it is as it was.
    let isEnded = !range.isEmpty && text[range.upperBound - 1] == 0x0A
    let end =
      isEnded
      ? range.upperBound - 1 : text[range.upperBound...].firstIndex(of: 0x0A) ?? text.count
    var shown = text[start..<max(start, end)]
    let isCut = shown.count > Self.mostShown
    shown = shown.prefix(Self.mostShown)
    // It may end inside a code point.
    while isCut, let last = shown.last, last >= 0x80 {
      shown.removeLast()
      if last >= 0xC0 { break }
    }
    return String(decoding: shown, as: UTF8.self) + (isCut ? "…" : "")
  }
}
