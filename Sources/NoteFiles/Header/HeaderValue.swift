/// What a field of a header says, as far as that is understood, and where.
struct HeaderValue {
  struct Item {
    /// Where the scalar stands, quotes and all.
    var range: Range<Int>
    var style: HeaderScalar.Style
    /// `nil` for an item that is nothing.
    var text: String?
    /// In a list with a line for each item: its line.
    var line: Range<Int> = 0..<0
  }

  enum Kind {
    case empty
    case scalar(HeaderScalar)
    /// `[a, b]`.
    case flow([Item])
    /// A line for each item.
    case block([Item])
    case other
  }

  let bytes: [UInt8]
  /// Where the key ends, with its colon.
  let keyEnd: Int
  /// Where the value stands. In a list with a line for each item, and where nothing is understood, it ends with the field.
  private(set) var range: Range<Int>
  private(set) var kind: Kind = .other
  let syntax: HeaderSyntax

  init(
    bytes: [UInt8], keyEnd: Int, range: Range<Int>, kind: Kind, syntax: HeaderSyntax
  ) {
    self.bytes = bytes
    self.keyEnd = keyEnd
    self.range = range
    self.kind = kind
    self.syntax = syntax
  }

  /// Reads the lines of a YAML field that begins with a key.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    syntax = .yaml
    var start = 0
    var keyEnd = 0
    while start < bytes.count {
      let end = bytes[...].endOfLine(from: start)
      if case .key(let count) = HeaderLine(bytes[start..<end]) {
        keyEnd = bytes[(start + count)...].firstIndex(of: .colon)! + 1
        break
      }
      start = end
    }
    self.keyEnd = keyEnd
    range = keyEnd..<bytes.count
    read(ScalarReader(bytes: bytes))
  }

  /// Marks the value as not understood.
  mutating func makeOther() {
    kind = .other
    range = keyEnd..<bytes.count
  }

  private mutating func read(_ reader: ScalarReader) {
    let start = reader.skippingBlanks(from: keyEnd)
    let end = reader.endOfContent(from: start)
    if start == end || bytes[start] == .hash && (start + 1 == end || bytes[start + 1].isBlank) {
      readBelow(reader)
      return
    }
    switch bytes[start] {
    case .quote, .apostrophe:
      guard let scalar = reader.quoted(at: start), reader.isDone(at: scalar.range.upperBound) else {
        return
      }
      set(scalar)
    case .openingBracket: readFlow(reader, start)
    case UInt8(ascii: "|"), UInt8(ascii: ">"):
      if let scalar = reader.block(at: start) { set(scalar) }
    default:
      if reader.isPlain(at: start) { readPlain(reader, start, end) }
    }
  }

  private mutating func set(_ scalar: HeaderScalar) {
    range = scalar.range
    kind = .scalar(scalar)
  }

  /// A plain sentence, which may go on in the lines below.
  private mutating func readPlain(_ reader: ScalarReader, _ start: Int, _ end: Int) {
    var scalar = reader.plain(at: start, end: end)
    guard !reader.isDone(at: scalar.range.upperBound) else {
      set(scalar)
      return
    }
    // A comment ends a sentence.
    guard scalar.range.upperBound == bytes[start..<end].trimmed.endIndex else { return }
    var breaks = 0
    for line in bytes[bytes[...].endOfLine(from: end)...].lines {
      let content = line.withoutLineEnd.trimmed
      if content.isEmpty {
        breaks += 1
        continue
      }
      guard line.first!.isBlank, !ScalarReader.isMap(content), !HeaderLine.isItem(content),
        content.first != .hash
      else { return }
      let part = reader.plain(at: content.startIndex, end: content.endIndex)
      guard part.range.upperBound == content.endIndex else { return }
      scalar.text += (breaks == 0 ? " " : String(repeating: "\n", count: breaks)) + part.text
      scalar.range = start..<content.endIndex
      breaks = 0
    }
    set(scalar)
  }

  // MARK: - Lists

  private mutating func readFlow(_ reader: ScalarReader, _ start: Int) {
    var items: [Item] = []
    var index = start + 1
    var isBehindItem = false
    let isOneLine = !bytes[start...].dropLast().contains(.lineFeed)
    while index < bytes.count {
      switch bytes[index] {
      case .space, .tab, .lineFeed, .carriageReturn: index += 1
      case .comma:
        isBehindItem = false
        index += 1
      case .closingBracket:
        guard reader.isDone(at: index + 1) else { return }
        range = start..<(index + 1)
        kind = .flow(items)
        return
      case .hash
      where reader.isLineEnd(index + 1) || bytes[index + 1].isBlank:
        index = reader.endOfContent(from: index)
      case _ where isBehindItem: return
      // A comment in YAML.
      case .hash where !isOneLine: return
      case .quote, .apostrophe:
        guard let scalar = reader.quoted(at: index) else { return }
        items.append(Item(range: scalar.range, style: scalar.style, text: scalar.text))
        index = scalar.range.upperBound
        isBehindItem = true
      default:
        guard let scalar = flowWord(reader, index) else { return }
        items.append(
          Item(range: scalar.range, style: .plain, text: scalar.isNull ? nil : scalar.text))
        index = scalar.range.upperBound
        isBehindItem = true
      }
    }
  }

  /// A plain word in a list: up to a comma, a bracket or the line's end.
  private func flowWord(_ reader: ScalarReader, _ start: Int) -> HeaderScalar? {
    guard reader.isPlain(at: start) else { return nil }
    var end = start
    while !reader.isLineEnd(end), bytes[end] != .comma, bytes[end] != .closingBracket {
      if [.openingBracket, .openingBrace, .closingBrace].contains(bytes[end]) { return nil }
      end += 1
    }
    let scalar = reader.plain(at: start, end: end)
    return ScalarReader.isMap(bytes[scalar.range]) ? nil : scalar
  }

  /// Nothing stands behind the colon: a list below it, or nothing at all.
  private mutating func readBelow(_ reader: ScalarReader) {
    var items: [Item] = []
    var indentation: ArraySlice<UInt8>?
    for line in bytes[bytes[...].endOfLine(from: keyEnd)...].lines where !ScalarReader.isGap(line) {
      let content = line.withoutLineEnd
      let before = content.prefix(while: \.isBlank)
      guard HeaderLine.isItem(content[before.endIndex...]),
        indentation?.elementsEqual(before) != false,
        var item = blockItem(reader, before.endIndex + 1)
      else { return }
      indentation = before
      item.line = line.startIndex..<line.endIndex
      items.append(item)
    }
    kind = items.isEmpty ? .empty : .block(items)
    if items.isEmpty { range = keyEnd..<keyEnd }
  }

  /// The item behind a hyphen, on one line; `nil` if it is a map or a list.
  private func blockItem(_ reader: ScalarReader, _ hyphenEnd: Int) -> Item? {
    let start = reader.skippingBlanks(from: hyphenEnd)
    let end = reader.endOfContent(from: start)
    if start == end || bytes[start] == .hash && (start + 1 == end || bytes[start + 1].isBlank) {
      return Item(range: hyphenEnd..<hyphenEnd, style: .plain, text: nil)
    }
    if bytes[start] == .quote || bytes[start] == .apostrophe {
      guard let scalar = reader.quoted(at: start), scalar.range.upperBound <= end,
        reader.isLineDone(at: scalar.range.upperBound)
      else { return nil }
      return Item(range: scalar.range, style: scalar.style, text: scalar.text)
    }
    guard reader.isPlain(at: start) else { return nil }
    let scalar = reader.plain(at: start, end: end)
    if ScalarReader.isMap(bytes[scalar.range]) { return nil }
    return Item(range: scalar.range, style: .plain, text: scalar.isNull ? nil : scalar.text)
  }
}
