internal import Bytes

/// The parts of a text in Markdown in which links may stand: each is what a code span can't reach beyond.
enum TextBlocks {
  /// The paragraphs, headings and items of lists, without fenced code. O(n).
  ///
  /// Fences may be indented and stand in quotes and items, more freely than in CommonMark, since notes are. An unclosed one goes on to the end.
  static func ranges(of text: [UInt8]) -> [Range<Int>] {
    var blocks: [Range<Int>] = []
    var start: Int?
    var fence: Fence?
    var line = 0
    func close() {
      if let begin = start { blocks.append(begin..<line) }
      start = nil
    }
    while line < text.count {
      let end = text[...].endOfLine(from: line)
      let content = LineContent(text[line..<end].withoutLineEnd)
      if let open = fence {
        if content.closes(open) { fence = nil }
      } else if let open = content.fence {
        close()
        fence = open
      } else if content.rest.isEmpty {
        close()
      } else {
        if content.isItem || content.isHeading { close() }
        if start == nil { start = line }
      }
      line = end
      if content.isHeading { close() }
    }
    close()
    return blocks
  }

  /// A row of backquotes or tildes that opens fenced code.
  struct Fence {
    var sign: UInt8
    var count: Int
  }
}

/// A line without blanks, the signs of quotes and those of items at its beginning.
private struct LineContent {
  var rest: ArraySlice<UInt8>
  var isItem = false

  init(_ line: ArraySlice<UInt8>) {
    rest = line.drop(while: \.isBlank)
    while true {
      if rest.first == UInt8(ascii: ">") {
        rest = rest.dropFirst()
      } else if let count = itemSign {
        isItem = true
        rest = rest.dropFirst(count)
      } else {
        return
      }
      rest = rest.drop(while: \.isBlank)
    }
  }

  /// The length of the sign of an item that the line begins with: `-`, `1.`.
  private var itemSign: Int? {
    guard let first = rest.first else { return nil }
    var count = 1
    if first.isDigit {
      count = rest.prefix(10).prefix(while: \.isDigit).count
      guard count < 10, let sign = rest.dropFirst(count).first,
        sign == .dot || sign == UInt8(ascii: ")")
      else { return nil }
      count += 1
    } else if first != .hyphen, first != UInt8(ascii: "*"), first != UInt8(ascii: "+") {
      return nil
    }
    return rest.dropFirst(count).first.map(\.isBlank) ?? true ? count : nil
  }

  var isHeading: Bool {
    guard rest.first == .hash else { return false }
    return rest.drop { $0 == .hash }.first.map(\.isBlank) ?? true
  }

  var fence: TextBlocks.Fence? {
    guard let sign = rest.first, sign == .backquote || sign == UInt8(ascii: "~") else { return nil }
    let count = rest.prefix { $0 == sign }.count
    // In a code span the same signs come again.
    guard count >= 3, sign != .backquote || !rest.dropFirst(count).contains(sign) else {
      return nil
    }
    return TextBlocks.Fence(sign: sign, count: count)
  }

  func closes(_ fence: TextBlocks.Fence) -> Bool {
    let count = rest.prefix { $0 == fence.sign }.count
    return !isItem && count >= fence.count && rest.dropFirst(count).allSatisfy(\.isBlank)
  }
}
