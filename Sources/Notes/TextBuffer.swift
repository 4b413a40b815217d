internal import Bytes
public import ReplicatingTypes

/// A text as a client shows it: bytes of UTF-8, and the lengths of its lines.
///
/// Lines are separated by "\n" and by nothing else, so a text has one line more than it has line feeds. Looking a line up
/// starts from the line that was looked up last, and a position in a line from the last one there; neighbouring edits cost O(their size)
/// beside moving the bytes that follow.
public struct TextBuffer: Sendable {
  /// The text, in UTF-8.
  public private(set) var utf8: [UInt8]
  /// Bytes of each line, with its line feed. A text may be nothing but line feeds, so these are small.
  private var lengths: [UInt32]
  private var cursor = (line: 0, start: 0)
  /// The position that was looked up last, and its offset; nil if something has changed before it.
  private var known: (position: TextPosition, encoding: PositionEncoding, offset: Int)?
  /// The bytes that are not ASCII; nil as long as that was not needed.
  private var nonASCIICount: Int?
  private var hashed = HashedPieces()

  /// A text, valid UTF-8. O(bytes).
  public init(_ utf8: [UInt8]) {
    self.utf8 = utf8
    lengths = Self.lengths(of: utf8)
  }

  /// The present state of a text, with room for a sixteenth more: else the first letters that are typed would have all of it copied. O(bytes + pieces).
  public init(_ text: borrowing ReplicatingText) {
    self.init(text.utf8(withRoomFor: text.count / 16))
  }

  private static func lengths(of utf8: [UInt8]) -> [UInt32] {
    var lengths: [UInt32] = []
    let bytes = utf8.span
    var start = 0
    while let end = bytes.firstIndex(of: 0x0A, from: start) {
      lengths.append(UInt32(end + 1 - start))
      start = end + 1
    }
    lengths.append(UInt32(utf8.count - start))
    return lengths
  }

  /// The number of bytes. O(1).
  public var count: Int { utf8.count }
  /// The number of lines: one more than there are line feeds. O(1).
  public var lineCount: Int { lengths.count }

  /// Where a line begins; the line after the last begins at the end.
  public mutating func start(ofLine line: Int) -> Int? {
    guard (0...lengths.count).contains(line) else { return nil }
    // The cursor stays on a line that there is.
    if line == lengths.count { return utf8.count }
    if line < cursor.line / 2 { cursor = (0, 0) }
    while cursor.line < line {
      cursor.start += Int(lengths[cursor.line])
      cursor.line += 1
    }
    while cursor.line > line {
      cursor.line -= 1
      cursor.start -= Int(lengths[cursor.line])
    }
    return cursor.start
  }

  /// The line that holds an offset.
  public mutating func line(at offset: Int) -> Int {
    while offset < cursor.start {
      cursor.line -= 1
      cursor.start -= Int(lengths[cursor.line])
    }
    while cursor.line + 1 < lengths.count, offset >= cursor.start + Int(lengths[cursor.line]) {
      cursor.start += Int(lengths[cursor.line])
      cursor.line += 1
    }
    return cursor.line
  }

  /// So many bytes are counted through before it is found out whether all of the text is ASCII.
  private static let longDistance = 4096

  /// The offset of a position; `nil` if it lies outside the text or inside a scalar.
  ///
  /// O(1) in bytes, and in a text that is ASCII, once that is known; else O(distance from the position before it that was looked up last in the line, or
  /// from the beginning of the line).
  public mutating func offset(of position: TextPosition, _ encoding: PositionEncoding) -> Int? {
    guard position.line < lengths.count, position.character >= 0,
      let start = start(ofLine: position.line)
    else { return nil }
    let isLast = position.line == lengths.count - 1
    let end = start + Int(lengths[position.line]) - (isLast ? 0 : 1)
    var (first, units) = (start, 0)
    if let known, known.encoding == encoding, known.position.line == position.line,
      known.position.character <= position.character
    {
      (first, units) = (known.offset, known.position.character)
    }
    let rest = position.character - units
    // In ASCII each unit is a byte, so counting units is counting bytes.
    let counted = rest > Self.longDistance && isASCII ? .utf8 : encoding
    guard let size = counted.end(ofUnits: rest, in: utf8.span.extracting(first..<end)) else {
      return nil
    }
    known = (position, encoding, first + size)
    return first + size
  }

  /// The position of an offset that lies between scalars. As long as finding an offset takes.
  public mutating func position(of offset: Int, _ encoding: PositionEncoding) -> TextPosition {
    let line = line(at: offset)
    var (first, units) = (cursor.start, 0)
    if let known, known.encoding == encoding, known.position.line == line, known.offset <= offset {
      (first, units) = (known.offset, known.position.character)
    }
    let counted = offset - first > Self.longDistance && isASCII ? .utf8 : encoding
    units += counted.units(of: utf8.span.extracting(first..<offset))
    let position = TextPosition(line: line, character: units)
    known = (position, encoding, offset)
    return position
  }

  /// True if every byte is ASCII. O(bytes) for the first time, then O(1).
  private var isASCII: Bool {
    mutating get {
      if nonASCIICount == nil { nonASCIICount = Self.nonASCIICount(utf8.span) }
      return nonASCIICount == 0
    }
  }

  private static func nonASCIICount(_ bytes: Span<UInt8>) -> Int {
    var (count, index) = (0, 0)
    while bytes.count - index >= ByteWord.size {
      count += ByteWord(bytes, at: index).marksBeyondASCII.nonzeroBitCount
      index += ByteWord.size
    }
    while index < bytes.count {
      if bytes[index] >= 0x80 { count += 1 }
      index += 1
    }
    return count
  }

  /// The SHA-256 of the text, as 64 lower-case hexadecimal digits. O(bytes behind the first change since it was asked last, and 4,096).
  public mutating func hexDigest() -> String { hashed.hexDigest(of: utf8) }

  /// Makes edits that are sorted and apart from each other.
  ///
  /// - Complexity: O(bytes of the edits, and behind the first one).
  public mutating func apply(_ edits: [Edit<UInt8>]) {
    guard edits.count > Self.fewEdits else {
      for edit in edits.reversed() { replace(edit.range, with: edit.replacement) }
      return
    }
    // The bytes behind are moved once for each of a few edits. Of many, what they enclose is replaced at once.
    let range = edits[0].range.lowerBound..<edits[edits.count - 1].range.upperBound
    var new: [UInt8] = []
    new.reserveCapacity(edits.reduce(range.count) { $0 + $1.replacement.count })
    var place = range.lowerBound
    for edit in edits {
      new += utf8[place..<edit.range.lowerBound]
      new += edit.replacement
      place = edit.range.upperBound
    }
    replace(range, with: new)
  }

  private static let fewEdits = 4

  private mutating func replace(_ range: Range<Int>, with replacement: [UInt8]) {
    let last = line(at: range.upperBound)
    let end = cursor.start + Int(lengths[last])
    let first = line(at: range.lowerBound)
    let head = range.lowerBound - cursor.start
    if let known, range.lowerBound < known.offset { self.known = nil }
    if let count = nonASCIICount {
      nonASCIICount =
        count - Self.nonASCIICount(utf8.span.extracting(range))
        + Self.nonASCIICount(replacement.span)
    }
    hashed.change(from: range.lowerBound)
    utf8.replaceSubrange(range, with: replacement)
    if first == last && !replacement.contains(0x0A) {
      lengths[first] = UInt32(Int(lengths[first]) + replacement.count - range.count)
    } else {
      var new = Self.lengths(of: replacement)
      new[0] += UInt32(head)
      new[new.count - 1] += UInt32(end - range.upperBound)
      lengths.replaceSubrange(first...last, with: new)
    }
  }

  // MARK: - Whole lines

  /// Replacements of lines by others, as edits. All refer to the text as it is; `nil` if lines are named that are not there,
  /// or twice.
  ///
  /// A text without lines is empty, and so is one of one empty line.
  public mutating func edits(replacing replacements: [LineReplacement]) -> [Edit<UInt8>]? {
    guard replacements.allSatisfy({ $0.lines.upperBound <= lengths.count }) else { return nil }
    if replacements.count == 1, let only = replacements.first {
      if only.lines.isEmpty && only.text == nil { return [] }
      return edit(making: only).map { [$0] }
    }
    let order = replacements.indices.sorted {
      (replacements[$0].lines.lowerBound, replacements[$0].lines.upperBound, $0)
        < (replacements[$1].lines.lowerBound, replacements[$1].lines.upperBound, $1)
    }
    // Neighbours are made one, since what happens at the end of the text concerns the line feed before it.
    var joined: [LineReplacement] = []
    for next in order.map({ replacements[$0] }) {
      guard let last = joined.last, last.lines.upperBound >= next.lines.lowerBound else {
        joined.append(next)
        continue
      }
      guard last.lines.upperBound == next.lines.lowerBound else { return nil }
      joined[joined.count - 1].append(next)
    }
    var edits: [Edit<UInt8>] = []
    for replacement in joined where !replacement.lines.isEmpty || replacement.text != nil {
      guard let edit = edit(making: replacement) else { return nil }
      edits.append(edit)
    }
    return edits.joiningNeighbours()
  }

  /// The replacement of one line by one other, as the only edit of their difference, if it only inserts or only deletes; else nil.
  ///
  /// It is the edit of `differences(within:)` without a copy of the line. A line feed behind the line changes nothing: an edit inside it, that holds
  /// none, can't slide beyond, and a line feed is no part of a word or a number.
  public mutating func edit(inLineOf replacements: [LineReplacement]) -> Edit<UInt8>? {
    guard replacements.count == 1, let text = replacements[0].text,
      replacements[0].lines.count == 1, text.span.firstIndex(of: 0x0A) == nil
    else { return nil }
    let line = replacements[0].lines.lowerBound
    guard line < lengths.count, let start = start(ofLine: line) else { return nil }
    let isLast = line == lengths.count - 1
    let end = start + Int(lengths[line]) - (isLast ? 0 : 1)
    // The last line is replaced with the line feed before it.
    let low = isLast && line > 0 ? start - 1 : start
    return Edit(replacing: start..<end, of: utf8, with: text, lookingAt: low..<end)
  }

  private mutating func edit(making replacement: LineReplacement) -> Edit<UInt8>? {
    let lines = replacement.lines
    guard let start = start(ofLine: lines.lowerBound),
      let end = self.start(ofLine: lines.upperBound)
    else { return nil }
    if lines.upperBound < lengths.count {
      var text = replacement.text ?? []
      if replacement.text != nil { text.append(0x0A) }
      return Edit(range: start..<end, replacement: text)
    }
    // Up to the end of the text: with the line feed before, unless everything is replaced.
    if lines.lowerBound == 0 {
      return Edit(range: start..<end, replacement: replacement.text ?? [])
    }
    return Edit(
      range: (lines.isEmpty ? end : start - 1)..<end,
      replacement: replacement.text.map { [0x0A] + $0 } ?? [])
  }

  /// Edits as replacements of whole lines, from the top: those that change, and no others. Neighbouring lines that each become one are
  /// one replacement.
  public mutating func lineEdits(for edits: [Edit<UInt8>]) -> [LineReplacement] {
    var result: [LineReplacement] = []
    var isLastOneLine = false
    var index = 0
    while index < edits.count {
      let first = line(at: edits[index].range.lowerBound)
      let start = cursor.start
      var last = first
      var text: [UInt8] = []
      var offset = start
      var isOneLine = true
      repeat {
        isOneLine = isOneLine && !edits[index].replacement.contains(0x0A)
        text += utf8[offset..<edits[index].range.lowerBound]
        text += edits[index].replacement
        offset = edits[index].range.upperBound
        last = line(at: offset)
        index += 1
      } while index < edits.count && line(at: edits[index].range.lowerBound) == last
      let end = self.start(ofLine: last + 1)!
      text += utf8[offset..<end]
      // The line feed that ends the last of these lines belongs to the lines, not between them.
      if last + 1 < lengths.count { text.removeLast() }
      var next = LineReplacement(lines: first..<last + 1, text: text)
      isOneLine = isOneLine && first == last
      // A line of another length has changed.
      if !isOneLine || text.count == line(first).count { next = withoutEqualEnds(next) }
      if isOneLine, isLastOneLine, result.last?.lines.upperBound == next.lines.lowerBound {
        result[result.count - 1].append(next)
      } else {
        result.append(next)
      }
      isLastOneLine = isOneLine
    }
    return result
  }

  /// True if each edit is within a line, and there is no other one in that. O(edits × log lines).
  public mutating func areInLinesOfTheirOwn(_ edits: [Edit<UInt8>]) -> Bool {
    var next = 0
    for edit in edits {
      let line = line(at: edit.range.lowerBound)
      guard line >= next, line == self.line(at: edit.range.upperBound),
        !edit.replacement.contains(0x0A)
      else { return false }
      next = line + 1
    }
    return true
  }

  /// The same replacement without the lines that stay as they are at its beginning and end.
  private mutating func withoutEqualEnds(_ replacement: LineReplacement) -> LineReplacement {
    var lines = replacement.lines
    var rest = replacement.text?[...]
    while let text = rest, !lines.isEmpty {
      let end = text.firstIndex(of: 0x0A)
      guard text[..<(end ?? text.endIndex)] == line(lines.lowerBound) else { break }
      lines = lines.lowerBound + 1..<lines.upperBound
      rest = end.map { text[($0 + 1)...] }
    }
    while let text = rest, !lines.isEmpty {
      let start = text.lastIndex(of: 0x0A)
      guard text[(start.map { $0 + 1 } ?? text.startIndex)...] == line(lines.upperBound - 1) else {
        break
      }
      lines = lines.lowerBound..<lines.upperBound - 1
      rest = start.map { text[..<$0] }
    }
    return LineReplacement(lines: lines, text: rest.map(Array.init))
  }

  /// A line without its line feed.
  private mutating func line(_ line: Int) -> ArraySlice<UInt8> {
    let start = start(ofLine: line)!
    let isLast = line == lengths.count - 1
    return utf8[start..<start + Int(lengths[line]) - (isLast ? 0 : 1)]
  }
}

/// The replacement of whole lines by others.
public struct LineReplacement: Equatable, Sendable {
  /// From 0, the end excluded.
  public var lines: Range<Int>
  /// The new lines with line feeds between them, in one piece since there may be millions; `nil` for no lines at all.
  public var text: [UInt8]?

  /// The replacement of `lines` by `text`.
  public init(lines: Range<Int>, text: [UInt8]?) {
    self.lines = lines
    self.text = text
  }

  mutating func append(_ next: LineReplacement) {
    lines = lines.lowerBound..<next.lines.upperBound
    guard let more = next.text else { return }
    if text == nil { text = [] } else { text?.append(0x0A) }
    text?.append(contentsOf: more)
  }
}
