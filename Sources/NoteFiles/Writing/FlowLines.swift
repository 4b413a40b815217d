/// A list in brackets over several lines, of which only the items that change are touched: comments and line breaks stay.
struct FlowLines {
  private let value: HeaderValue
  private let items: [HeaderValue.Item]
  private let change: TagChange
  private var edits: [(range: Range<Int>, bytes: [UInt8])] = []

  init(_ value: HeaderValue, _ items: [HeaderValue.Item], _ change: TagChange) {
    self.value = value
    self.items = items
    self.change = change
  }

  private var bytes: [UInt8] { value.bytes }
  private var reader: ScalarReader { ScalarReader(bytes: bytes) }

  /// The lines of the field.
  func patched() -> [UInt8] {
    var copy = self
    for item in items where !change.keeps(item) { copy.remove(item) }
    let style = items.last?.style ?? .plain
    let added = change.added(to: items).map { TagChange.token($0, style, change.syntax) }
    if !added.isEmpty { copy.insert(added) }
    var out: [UInt8] = []
    var start = 0
    let edits = copy.edits.sorted {
      ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
    }
    for edit in edits {
      out += bytes[start..<edit.range.lowerBound] + edit.bytes
      start = edit.range.upperBound
    }
    return out + bytes[start...]
  }

  /// Removes an item and the comma behind it; and its line if nothing else stands there.
  private mutating func remove(_ item: HeaderValue.Item) {
    let start = item.range.lowerBound
    var end = item.range.upperBound
    if let comma = comma(after: end) {
      if bytes[end..<comma].allSatisfy(\.isBlank) {
        end = comma + 1
      } else {
        edits.append((comma..<(comma + 1), []))
      }
    }
    let line = startOfLine(start)
    let isFirst = bytes[line..<start].allSatisfy(\.isBlank)
    let next = reader.skippingBlanks(from: end)
    if isFirst, reader.isLineEnd(next) {
      edits.append((line..<bytes[...].endOfLine(from: end), []))
      return
    }
    // A comment keeps its blanks behind another item.
    if !reader.isLineEnd(next), isFirst || bytes[next] != .hash { end = next }
    edits.append((start..<end, []))
  }

  /// Inserts tokens behind the last item that stays, or at the beginning.
  private mutating func insert(_ tokens: [[UInt8]]) {
    guard let last = items.last(where: change.keeps) else {
      insertFirst(tokens)
      return
    }
    let end = last.range.upperBound
    let line = startOfLine(last.range.lowerBound)
    let indentation = bytes[line..<last.range.lowerBound]
    let comma = comma(after: end)
    let place = bytes[...].endOfLine(from: comma ?? end)
    guard indentation.allSatisfy(\.isBlank), place < value.range.upperBound,
      !edits.contains(where: { $0.range.contains(place) && $0.range.lowerBound < place })
    else {
      edits.append((end..<end, tokens.flatMap { [.comma, .space] + $0 }))
      return
    }
    if comma == nil { edits.append((end..<end, [.comma])) }
    edits.append((place..<place, lines(tokens, indentation, hasLastComma: comma != nil)))
  }

  private mutating func insertFirst(_ tokens: [[UInt8]]) {
    let start = value.range.lowerBound + 1
    let place = bytes[...].endOfLine(from: start)
    if reader.isLineDone(at: start), place < value.range.upperBound {
      let next = items.first?.range.lowerBound ?? place
      let indentation = bytes[startOfLine(next)..<next]
      let isBlank = !indentation.isEmpty && indentation.allSatisfy(\.isBlank)
      edits.append(
        (
          place..<place,
          lines(tokens, isBlank ? indentation : [.space, .space], hasLastComma: true)
        )
      )
    } else {
      edits.append((start..<start, tokens.flatMap { $0 + [.comma, .space] }))
    }
  }

  private func lines(
    _ tokens: [[UInt8]], _ indentation: ArraySlice<UInt8>, hasLastComma: Bool
  ) -> [UInt8] {
    let lineEnd = bytes[..<bytes[...].endOfLine(from: value.range.lowerBound)].lineEnd
    return tokens.indices.flatMap {
      indentation + tokens[$0] + ($0 < tokens.count - 1 || hasLastComma ? [.comma] : []) + lineEnd
    }
  }

  /// The comma behind an item, with blanks, line ends and comments before it at most.
  private func comma(after end: Int) -> Int? {
    var index = end
    while index < value.range.upperBound {
      if bytes[index] == .comma { return index }
      if bytes[index] == .hash {
        index = reader.endOfContent(from: index)
      } else if bytes[index].isBlank || reader.isLineEnd(index) {
        index += 1
      } else {
        return nil
      }
    }
    return nil
  }

  private func startOfLine(_ index: Int) -> Int {
    bytes[..<index].lastIndex(of: .lineFeed).map { $0 + 1 } ?? 0
  }
}
