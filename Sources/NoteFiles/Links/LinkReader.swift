internal import Bytes

/// Reads the links of a text, block by block, as CommonMark reads its own: code spans first, then brackets from the inside out, and no link
/// within another.
struct LinkReader {
  private struct Opener {
    var start: Int
    /// True for `![`.
    var isPicture: Bool
  }

  private let text: [UInt8]
  private(set) var links: [NoteLink] = []
  /// The brackets that were opened and not closed.
  private var openers: [Opener] = []
  /// So many of them have a link behind them: they begin none any more.
  private var passed = 0
  /// The `[[` that was opened last, if nothing came since that a name can't have.
  private var name: Opener?

  init(_ text: [UInt8]) { self.text = text }

  /// Reads a block of the text. O(its length).
  mutating func read(_ block: Range<Int>) {
    (openers, passed, name) = ([], 0, nil)
    var spans = CodeSpans(block)
    // Of these no other one ends in the rest of the block.
    var unended: Set<RawHTML> = []
    var index = block.lowerBound
    while index < block.upperBound {
      switch text[index] {
      case .backslash:
        index += index + 1 < block.upperBound && text[index + 1].isPunctuation ? 2 : 1
      case .backquote:
        if let end = spans.end(of: index, in: text) {
          index = end
          name = nil
        } else {
          index += text[index..<block.upperBound].prefix { $0 == .backquote }.count
        }
      case .less:
        let rest = text[index..<block.upperBound]
        if let kind = RawHTML(beginning: rest), !unended.contains(kind) {
          if let end = kind.end(of: rest) {
            index = end
            name = nil
            continue
          }
          unended.insert(kind)
        }
        index += 1
      case .exclamation where index + 1 < block.upperBound && text[index + 1] == .openingBracket:
        index += 1
        open(Opener(start: index, isPicture: true), in: block)
        index += 1
      case .openingBracket:
        open(Opener(start: index, isPicture: false), in: block)
        index += 1
      case .closingBracket: index = close(at: index, in: block)
      case .lineFeed:
        name = nil
        index += 1
      default: index += 1
      }
    }
  }

  private mutating func open(_ opener: Opener, in block: Range<Int>) {
    openers.append(opener)
    let next = opener.start + 1
    if next < block.upperBound, text[next] == .openingBracket {
      // Of three brackets the last two count.
      name = opener
    } else if name?.start != opener.start - 1 {
      name = nil
    }
  }

  /// Handles a closing bracket; returns where to read on.
  private mutating func close(at index: Int, in block: Range<Int>) -> Int {
    let next = index + 1 < block.upperBound ? text[index + 1] : 0
    if let opened = name, next == .closingBracket {
      name = nil
      while let last = openers.last, last.start >= opened.start { openers.removeLast() }
      passed = min(passed, openers.count)
      guard let link = link(opened.start..<index + 2), !opened.isPicture || Self.isNote(link) else {
        return index + 2
      }
      links.append(link)
      passed = openers.count
      return index + 2
    }
    name = nil
    guard let opener = openers.popLast() else { return index + 1 }
    let mayBegin = opener.isPicture || openers.count >= passed
    passed = min(passed, openers.count)
    guard mayBegin, next == .openingParenthesis,
      let destination = LinkDestination(text, from: index + 2, to: block.upperBound)
    else { return index + 1 }
    if opener.isPicture {
      // What stands in it describes it.
      while let last = links.last, last.range.lowerBound > opener.start { links.removeLast() }
    } else {
      passed = openers.count
      if let (path, heading) = destination.notePath(in: text) {
        links.append(
          NoteLink(
            range: opener.start..<destination.end, target: .path(path),
            targetRange: destination.range, heading: heading, hasWords: true))
      }
    }
    return destination.end
  }

  /// True for what has `://` in it, as the addresses of the web.
  private static func isAddress(_ name: ArraySlice<UInt8>) -> Bool {
    name.indices.dropLast(2).contains { index in
      name[index] == .colon && name[index + 1] == .slash && name[index + 2] == .slash
    }
  }

  /// True if what `![[…]]` shows is a note, and no picture or other file.
  private static func isNote(_ link: NoteLink) -> Bool {
    guard case .name(let name) = link.target, let dot = name.utf8.lastIndex(of: .dot) else {
      return true
    }
    let end = name.utf8[name.utf8.index(after: dot)...]
    let isSuffix = (2...5).contains(end.count) && !end.contains { $0.isBlank || $0.isPunctuation }
    return !isSuffix || end.allSatisfy(\.isDigit) || FileType(path: name) != nil
  }

  /// The link `[[…]]` at this place.
  private func link(_ range: Range<Int>) -> NoteLink? {
    let inner = text[range.lowerBound + 2..<range.upperBound - 2]
    let bar = inner.firstIndex(of: UInt8(ascii: "|"))
    var named = inner[..<(bar ?? inner.endIndex)]
    if bar != nil, named.last == .backslash { named.removeLast() }
    let sign = named.firstIndex(of: .hash)
    let name = named[..<(sign ?? named.endIndex)].trimmed
    if name.isEmpty || Self.isAddress(name) { return nil }
    let heading = sign.map { named[($0 + 1)...].trimmed.text } ?? ""
    return NoteLink(
      range: range, target: .name(name.text), targetRange: name.startIndex..<name.endIndex,
      heading: heading.isEmpty ? nil : heading, hasWords: bar != nil)
  }
}

/// The code spans of a block: each goes from a row of backquotes to the next one that is as long.
private struct CodeSpans {
  private let block: Range<Int>
  /// By length, where the rows of backquotes begin; nil before the first one was met.
  private var rows: [Int: ArraySlice<Int>]?

  init(_ block: Range<Int>) { self.block = block }

  /// Where the code span ends that begins with the backquote at `start`; nil if none does. O(1) on average over a block.
  mutating func end(of start: Int, in text: [UInt8]) -> Int? {
    if rows == nil { rows = Self.rows(in: block, of: text) }
    let count = text[start..<block.upperBound].prefix { $0 == .backquote }.count
    guard var same = rows![count] else { return nil }
    while let row = same.first, row <= start { same.removeFirst() }
    rows![count] = same
    return same.first.map { $0 + count }
  }

  private static func rows(in block: Range<Int>, of text: [UInt8]) -> [Int: ArraySlice<Int>] {
    var rows: [Int: ArraySlice<Int>] = [:]
    var index = block.lowerBound
    while index < block.upperBound {
      let count = text[index..<block.upperBound].prefix { $0 == .backquote }.count
      if count > 0 { rows[count, default: []].append(index) }
      index += max(1, count)
    }
    return rows
  }
}
