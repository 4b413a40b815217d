internal import Bytes

// Texts whose line ends are of several kinds: line feeds, carriage returns, and both as one.
//
// They are compared as if each line end were a line feed. So a carriage return and its line feed are never divided, and a line is the same line when its
// end becomes one of another kind. What becomes one of another kind is an edit by itself then, a conversion (../LineEnds.swift):
//
//   `⏎` to `␍⏎`    inserts the carriage return
//   `␍⏎` to `⏎`    deletes it
//   others         replace the line end
//
// The divider of a conversion is what it inserts, which tells it from a line end that was typed.

/// A part of a text with line feeds for all of its line ends.
private struct UniformText {
  private struct End {
    /// The place of its line feed in `utf8`.
    var place: Int
    var isDouble: Bool
    /// The line ends of two bytes before it.
    var doublesBefore: Int
  }

  private(set) var utf8: [UInt8] = []
  private let start: Int
  /// Those that are no line feeds in the text.
  private var ends: [End] = []

  /// - Parameter part: does not divide a carriage return from its line feed.
  init(_ text: [UInt8], in part: Range<Int>) {
    start = part.lowerBound
    utf8.reserveCapacity(part.count)
    let bytes = text.span.extracting(0..<part.upperBound)
    var place = part.lowerBound
    var doubles = 0
    while let next = bytes.firstIndex(of: carriageReturn, from: place) {
      utf8 += text[place..<next]
      let isDouble = next + 1 < part.upperBound && text[next + 1] == lineFeed
      ends.append(End(place: utf8.count, isDouble: isDouble, doublesBefore: doubles))
      utf8.append(lineFeed)
      doubles += isDouble ? 1 : 0
      place = next + (isDouble ? 2 : 1)
    }
    utf8 += text[place..<part.upperBound]
  }

  /// The number of those line ends before a place. O(log of it).
  func index(from place: Int) -> Int {
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      if ends[middle].place < place { low = middle + 1 } else { high = middle }
    }
    return low
  }

  func place(ofEnd index: Int) -> Int? { index < ends.count ? ends[index].place : nil }

  /// The line end for which a line feed stands, the first of those from an index on or none of them.
  func lineEnd(at place: Int, _ index: Int) -> [UInt8] {
    guard index < ends.count, ends[index].place == place else { return [lineFeed] }
    return ends[index].isDouble ? [carriageReturn, lineFeed] : [carriageReturn]
  }

  /// The place in the text of one in `utf8`.
  func original(_ place: Int) -> Int {
    let index = index(from: place)
    guard index > 0 else { return start + place }
    let last = ends[index - 1]
    return start + place + last.doublesBefore + (last.isDouble ? 1 : 0)
  }

  /// The place in `utf8` of one in the text, which is not inside of a line end. O(log of line ends).
  func uniform(_ original: Int) -> Int {
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      let end = ends[middle]
      if start + end.place + end.doublesBefore < original {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low > 0 else { return original - start }
    return original - start - ends[low - 1].doublesBefore - (ends[low - 1].isDouble ? 1 : 0)
  }
}

/// The edits that `compare` finds between parts of two texts with line feeds for all line ends, as edits of the first text, and the conversions of the line
/// ends that both have.
private func edits(
  of old: [UInt8], _ part: Range<Int>, to new: [UInt8], _ newPart: Range<Int>,
  _ compare: (UniformText, UniformText) -> [Edit<UInt8>]
) -> [Edit<UInt8>] {
  let (before, after) = (UniformText(old, in: part), UniformText(new, in: newPart))
  var result: [Edit<UInt8>] = []
  var (place, newPlace) = (0, 0)
  /// Goes over what both texts have.
  func convert(upTo end: Int) {
    var (index, newIndex) = (before.index(from: place), after.index(from: newPlace))
    while true {
      let distance = before.place(ofEnd: index).map { $0 - place } ?? .max
      let newDistance = after.place(ofEnd: newIndex).map { $0 - newPlace } ?? .max
      let next = min(distance, newDistance)
      guard next < end - place else { break }
      let kind = before.lineEnd(at: place + next, index)
      let newKind = after.lineEnd(at: newPlace + next, newIndex)
      if kind != newKind { result.convert(kind, at: before.original(place + next), to: newKind) }
      if next == distance { index += 1 }
      if next == newDistance { newIndex += 1 }
    }
    (place, newPlace) = (end, newPlace + end - place)
  }
  for edit in compare(before, after) {
    convert(upTo: edit.range.lowerBound)
    let newEnd = newPlace + edit.replacement.count
    var original = Edit(
      range: before.original(place)..<before.original(edit.range.upperBound),
      replacement: Array(new[after.original(newPlace)..<after.original(newEnd)]))
    (place, newPlace) = (edit.range.upperBound, newEnd)
    if edit.divider.first == lineFeed {
      original.divider = lineEnd(in: after, from: newEnd) + edit.divider.dropFirst()
    } else {
      original.divider = edit.divider
    }
    result.append(original)
  }
  convert(upTo: before.utf8.count)
  return result
}

/// The kind of the next line end from a place on, or of the last one before it.
private func lineEnd(in text: UniformText, from place: Int) -> [UInt8] {
  let next =
    text.utf8.span.firstIndex(of: lineFeed, from: place)
    ?? text.utf8[..<place].lastIndex(of: lineFeed)
  return next.map { text.lineEnd(at: $0, text.index(from: $0)) } ?? [lineFeed]
}

extension [Edit<UInt8>] {
  fileprivate mutating func convert(_ kind: [UInt8], at place: Int, to newKind: [UInt8]) {
    if newKind == [lineFeed], kind.count == 2 {
      append(Edit(range: place..<place + 1, replacement: []))
      return
    }
    var edit = Edit(range: place..<place + kind.count, replacement: newKind)
    if kind == [lineFeed], newKind.count == 2 {
      edit = Edit(range: place..<place, replacement: [carriageReturn])
      // A change inserts once at one place.
      if let last, last.range == edit.range {
        self[count - 1].replacement.append(carriageReturn)
        self[count - 1].divider = [carriageReturn]
        return
      }
    }
    edit.divider = edit.replacement
    append(edit)
  }
}

// MARK: - Two texts

/// The edits between two texts, which `compare` finds where line ends are line feeds; nil if there is no carriage return where they differ, or near.
///
/// - Parameter rest: the parts that differ.
func editsBesideCarriageReturns(
  from old: [UInt8], to new: [UInt8], in rest: Hunk,
  _ compare: ([UInt8], [UInt8]) -> [Edit<UInt8>]
) -> [Edit<UInt8>]? {
  guard
    old.hasCarriageReturn(around: rest.old, WordSnapping.reach)
      || new.span.extracting(rest.new).firstIndex(of: carriageReturn) != nil
  else { return nil }
  let part = old.linesAround(rest.old)
  let newEnd = rest.new.upperBound + part.upperBound - rest.old.upperBound
  return edits(of: old, part, to: new, part.lowerBound..<newEnd) { compare($0.utf8, $1.utf8) }
}

/// The edits that `compare` makes of others where line ends are line feeds; nil if there is no carriage return in them or beside them, or near a replacement.
func editsBesideCarriageReturns(
  _ some: [Edit<UInt8>], of text: [UInt8],
  _ compare: ([Edit<UInt8>], [UInt8]) -> [Edit<UInt8>]
) -> [Edit<UInt8>]? {
  guard some.contains(where: { $0.touchesCarriageReturn(in: text) }) else { return nil }
  var whole: [Edit<UInt8>] = []
  for edit in some {
    let next = edit.withWholeLineEnds(in: text)
    guard let last = whole.last, last.range.upperBound >= next.range.lowerBound else {
      whole.append(next)
      continue
    }
    let overlap = last.range.upperBound - next.range.lowerBound
    whole[whole.count - 1] = Edit(
      range: last.range.lowerBound..<next.range.upperBound,
      replacement: last.replacement + next.replacement.dropFirst(overlap))
  }
  let part = text.linesAround(whole[0].range.lowerBound..<whole.last!.range.upperBound)
  var new: [UInt8] = []
  var place = part.lowerBound
  for edit in whole {
    new += text[place..<edit.range.lowerBound]
    new += edit.replacement
    place = edit.range.upperBound
  }
  new += text[place..<part.upperBound]
  return edits(of: text, part, to: new, new.indices) { before, _ in
    let uniform = whole.map {
      Edit(
        range: before.uniform($0.range.lowerBound)..<before.uniform($0.range.upperBound),
        replacement: UniformText($0.replacement, in: $0.replacement.indices).utf8)
    }
    return compare(uniform, before.utf8)
  }
}

extension Edit<UInt8> {
  fileprivate func touchesCarriageReturn(in text: [UInt8]) -> Bool {
    let isReplacing = !range.isEmpty && !replacement.isEmpty
    return text.hasCarriageReturn(around: range, isReplacing ? WordSnapping.reach : 1)
      || replacement.span.firstIndex(of: carriageReturn) != nil
  }

  /// The same edit with the rest of the line ends that it begins or ends in, in the text and in what comes of it.
  fileprivate func withWholeLineEnds(in text: [UInt8]) -> Edit<UInt8> {
    var edit = self
    let (low, high) = (range.lowerBound, range.upperBound)
    let next = high < text.count ? text[high] : 0
    let previous = low > 0 ? text[low - 1] : 0
    let first = low < text.count ? text[low] : 0
    if previous == carriageReturn, first == lineFeed || (replacement.first ?? next) == lineFeed {
      edit.range = low - 1..<high
      edit.replacement.insert(carriageReturn, at: 0)
    }
    let last = high > 0 ? text[high - 1] : 0
    if next == lineFeed, last == carriageReturn || (replacement.last ?? previous) == carriageReturn
    {
      edit.range = edit.range.lowerBound..<high + 1
      edit.replacement.append(lineFeed)
    }
    return edit
  }
}

extension [UInt8] {
  fileprivate func hasCarriageReturn(around part: Range<Int>, _ reach: Int) -> Bool {
    let around = Swift.max(0, part.lowerBound - reach)..<Swift.min(count, part.upperBound + reach)
    return span.extracting(around).firstIndex(of: carriageReturn) != nil
  }

  /// The lines that a part of the text begins and ends in, with some before and behind.
  fileprivate func linesAround(_ part: Range<Int>) -> Range<Int> {
    let margin = 4096
    var low = Swift.max(0, part.lowerBound - margin)
    while low > 0, self[low - 1] != lineFeed { low -= 1 }
    let high = Swift.min(count, part.upperBound + margin)
    return low..<(span.firstIndex(of: lineFeed, from: high).map { $0 + 1 } ?? count)
  }
}

private let lineFeed = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")
