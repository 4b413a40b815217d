internal import Bytes

/// The parts of a text in Markdown in which links may stand: each is what a code span can't reach beyond.
///
/// Code is what CommonMark 0.31 has as code: fenced (4.5) and indented (4.4), which depends on the items and quotes around it (5.1, 5.2), and a line that
/// goes on with a paragraph is none. Fences may be indented and stand in quotes and items, more freely than there, since notes are. Of HTML, comments
/// and `<pre>` are left out (4.6, kinds 1 and 2).
struct TextBlocks {
  /// The paragraphs, headings and items of lists, in order. O(n).
  static func ranges(of text: [UInt8]) -> [Range<Int>] {
    var blocks = TextBlocks()
    var line = 0
    while line < text.count {
      let end = text[...].endOfLine(from: line)
      blocks.read(text[line..<end].withoutLineEnd, upTo: end)
      line = end
    }
    blocks.close(at: line)
    return blocks.ranges
  }

  /// A quote, or an item, whose content begins in a column.
  enum Container: Equatable {
    case quote
    case item(column: Int)
  }

  /// Deeper signs are text: each line is held against all of them.
  private static let mostContainers = 100

  private var ranges: [Range<Int>] = []
  /// Where the block begins that is being read.
  private var start: Int?
  private var containers: [Container] = []
  /// True if the last of them is an item with nothing but its sign.
  private var isItemEmpty = false
  /// The fence of the code that is being read.
  private var fence: Fence?
  /// The kind of HTML that is being read.
  private var html: RawHTML?

  private mutating func close(at end: Int) {
    if let start { ranges.append(start..<end) }
    start = nil
  }

  /// Reads a line without its line end.
  private mutating func read(_ line: ArraySlice<UInt8>, upTo end: Int) {
    var content = LineContent(line)
    if let fence {
      content.skipSigns()
      if content.closes(fence) { self.fence = nil }
      return
    }
    if let html {
      if html.end(in: line) != nil { self.html = nil }
      return
    }
    if content.isBlank {
      // It ends a quote, and no item but one of which nothing has come yet.
      close(at: line.startIndex)
      if isItemEmpty { containers.removeLast() }
      isItemEmpty = false
      if let quote = containers.firstIndex(of: .quote) { containers.removeSubrange(quote...) }
      return
    }
    isItemEmpty = false
    var count = 0
    while count < containers.count, content.continues(containers[count]) { count += 1 }
    let isWhole = count == containers.count
    if start != nil, isWhole, content.indentation < 4, content.isUnderline {
      close(at: end)
      return
    }
    var isNew = false
    var inner: [Container] = []
    while !content.isBlank, count + inner.count < Self.mostContainers {
      // A line that is indented further goes on with a paragraph, or is code.
      if content.indentation >= 4 {
        if start != nil && !isNew { break }
        close(at: line.startIndex)
        containers = containers[..<count] + inner
        return
      }
      if content.isBreak { break }
      guard let container = content.takeContainer(inParagraph: start != nil && isWhole && !isNew)
      else {
        break
      }
      isNew = true
      inner.append(container)
    }
    let opening = content.fence
    // A part that ends in the line is passed over within it.
    let html = RawHTML(beginning: content.rest).flatMap {
      $0.end(of: content.rest) == nil ? $0 : nil
    }
    if content.isBlank {
      close(at: line.startIndex)
      containers = containers[..<count] + inner
      isItemEmpty = inner.last.map { $0 != .quote } ?? false
      return
    }
    let isAlone = content.indentation < 4 && (content.isHeading || content.isBreak)
    let isStart = isNew || isAlone || opening != nil || html != nil
    // A line of a paragraph may lack the signs of what the paragraph stands in.
    if isStart || start == nil || isWhole {
      if isStart || !isWhole { close(at: line.startIndex) }
      containers = containers[..<count] + inner
    }
    if let opening {
      fence = opening
    } else if let html {
      self.html = html
    } else {
      if start == nil { start = line.startIndex }
      if isAlone { close(at: end) }
    }
  }

  /// A row of backquotes or tildes that opens fenced code.
  struct Fence {
    var sign: UInt8
    var count: Int
  }
}

/// A line, read from its beginning on.
private struct LineContent {
  /// What was not read, without blanks at its beginning.
  private(set) var rest: ArraySlice<UInt8>
  /// The column from which on `indentation` counts, and the one of `rest`, from 0; a tab goes on to the next column that 4 divides.
  private var from = 0
  private var column = 0

  init(_ line: ArraySlice<UInt8>) {
    rest = line
    skipBlanks()
  }

  private mutating func skipBlanks() {
    while let first = rest.first, first.isBlank {
      column = first == .tab ? (column / 4 + 1) * 4 : column + 1
      rest.removeFirst()
    }
  }

  var isBlank: Bool { rest.isEmpty }
  /// The number of columns in front of `rest`.
  var indentation: Int { column - from }

  /// Goes on behind the indentation or the sign by which a line is within a container; false if it is not.
  mutating func continues(_ container: TextBlocks.Container) -> Bool {
    switch container {
    case .item(let start):
      guard column >= start || isBlank else { return false }
      from = max(from, start)
      return true
    case .quote:
      guard indentation < 4, rest.first == .greater else { return false }
      takeQuote()
      return true
    }
  }

  private mutating func takeQuote() {
    rest.removeFirst()
    column += 1
    from = column
    // One blank belongs to the sign; a tab counts as several.
    if rest.first?.isBlank == true { from += 1 }
    skipBlanks()
  }

  /// Takes the sign of a quote or an item at the beginning; nil if there is none.
  ///
  /// - Parameter inParagraph: whether the line comes behind one of a paragraph, which an empty item, or one with another number than 1, does not end.
  mutating func takeContainer(inParagraph: Bool) -> TextBlocks.Container? {
    if rest.first == .greater {
      takeQuote()
      return .quote
    }
    guard let count = itemSign else { return nil }
    if inParagraph {
      let isEmpty = rest.dropFirst(count).allSatisfy(\.isBlank)
      let number = rest.prefix(count - 1)
      if isEmpty || !number.isEmpty && !number.elementsEqual([UInt8(ascii: "1")]) { return nil }
    }
    rest.removeFirst(count)
    column += count
    let sign = column
    skipBlanks()
    // More blanks are those of indented code; in front of nothing one counts.
    from = rest.isEmpty || column - sign > 4 ? sign + 1 : column
    return .item(column: from)
  }

  /// Goes on behind all signs of quotes and items, however far they are indented.
  mutating func skipSigns() {
    while rest.first == .greater || itemSign != nil {
      hasItem = hasItem || rest.first != .greater
      rest = rest.dropFirst(itemSign ?? 1).drop(while: \.isBlank)
    }
  }
  private var hasItem = false

  /// The length of the sign of an item that `rest` begins with: `-`, `1.`.
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

  /// True for a row of at least three of the signs `-`, `*` or `_`.
  var isBreak: Bool {
    guard let first = rest.first, [.hyphen, UInt8(ascii: "*"), UInt8(ascii: "_")].contains(first)
    else { return false }
    let signs = rest.filter { !$0.isBlank }
    return signs.count >= 3 && signs.allSatisfy { $0 == first }
  }

  /// True for what makes a heading of the paragraph above.
  var isUnderline: Bool {
    let signs = rest.trimmed
    return (signs.first == .hyphen || signs.first == UInt8(ascii: "="))
      && signs.allSatisfy { $0 == signs.first }
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
    return !hasItem && count >= fence.count && rest.dropFirst(count).allSatisfy(\.isBlank)
  }
}
