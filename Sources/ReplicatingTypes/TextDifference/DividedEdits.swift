/// Gives replacements the dividers that stand between them and other replacements of the same text: a line end and the line's mark where a line is
/// replaced, a blank between words, nothing in scripts without blanks.
struct DividedEdits {
  let text: [UInt8]
  /// The place of the last word that is replaced with its sentence, though the new text has it too.
  let lastRewritten: Int?

  init(of text: [UInt8], lastRewritten: Int? = nil) {
    self.text = text
    self.lastRewritten = lastRewritten
  }

  /// Edits of the text that replace whole tokens, each with its divider.
  func divided(_ edits: [Edit<UInt8>]) -> [Edit<UInt8>] {
    var result = edits
    for index in edits.indices
    where !edits[index].range.isEmpty && !edits[index].replacement.isEmpty {
      let next = index + 1 < edits.count ? edits[index + 1].range.lowerBound : text.count
      let edit = withFullStop(edits[index], before: next)
      result[index] = edit
      result[index].divider = divider(
        of: edit, behind: edits[..<index], before: edits[(index + 1)...])
    }
    return result
  }

  /// The edit with the full stop behind it, if all of a sentence up to there is replaced.
  private func withFullStop(_ edit: Edit<UInt8>, before next: Int) -> Edit<UInt8> {
    var edit = edit
    let end = edit.range.upperBound
    var stop = end
    while stop < min(next, end + 8), isFullStop(text[stop]) { stop += 1 }
    guard stop > end, stop < next || next == text.count,
      stop == text.count || text[stop] <= 0x20, isSentenceStart(edit.range.lowerBound)
    else { return edit }
    edit.replacement += text[end..<stop]
    edit.range = edit.range.lowerBound..<stop
    return edit
  }

  /// True if a sentence of several words may begin at a place.
  private func isSentenceStart(_ place: Int) -> Bool {
    if place >= 2, text[place - 1] == 0x20, isFullStop(text[place - 2]) { return true }
    return markStart(of: place) != nil
  }

  /// The beginning of the line of a place before which there is nothing but the line's mark.
  private func markStart(of place: Int) -> Int? {
    guard let start = startOfMarkedLine(text, place) else { return nil }
    return start + lengthOfLineMark(text, start..<place) == place ? start : nil
  }

  private func divider(
    of edit: Edit<UInt8>, behind previous: ArraySlice<Edit<UInt8>>,
    before next: ArraySlice<Edit<UInt8>>
  ) -> [UInt8] {
    let replacement = edit.replacement
    if replacement.first! <= 0x20 || replacement.last! <= 0x20 { return [] }
    if let line = lineDivider(of: edit, behind: previous, before: next) { return line }
    let isWithinWord =
      edit.range.lowerBound > 0 && isLetter(at: scalarStart(text, before: edit.range.lowerBound))
      && isWordStart(replacement)
      || isLetter(at: edit.range.upperBound) && isWordEnd(replacement)
    let isDivided =
      isWordStart(replacement) || isWordEnd(replacement)
      || !isSpoken(replacement) && isWordStart(Array(text[edit.range]))
    return !isWithinWord && isDivided ? [0x20] : []
  }

  private func isLetter(at place: Int) -> Bool {
    place < text.count && isWordScalar(firstScalar(of: text, at: place))
  }

  /// True if there is a letter or a digit. The first key typed over a word may be another sign.
  private func isSpoken(_ utf8: [UInt8]) -> Bool {
    String(decoding: utf8, as: UTF8.self).unicodeScalars.contains {
      $0.properties.isAlphabetic || $0.properties.numericType != nil
    }
  }

  private func isWordStart(_ utf8: [UInt8]) -> Bool {
    var scanner = TokenScanner(utf8, in: utf8.indices)
    return scanner.next()?.isDivisible ?? false
  }

  private func isWordEnd(_ utf8: [UInt8]) -> Bool {
    var low = safePlace(in: utf8, before: utf8.count, from: 0)
    if low == utf8.count { low = 0 }
    var scanner = TokenScanner(utf8, in: low..<utf8.count)
    var last: Token?
    while let token = scanner.next() { last = token }
    return last?.isDivisible ?? false
  }

  /// A line end and the line's mark, if all of the line behind its mark is replaced.
  private func lineDivider(
    of edit: Edit<UInt8>, behind previous: ArraySlice<Edit<UInt8>>,
    before next: ArraySlice<Edit<UInt8>>
  ) -> [UInt8]? {
    guard let start = markStart(of: edit.range.lowerBound) else { return nil }
    var end = edit.range.upperBound
    while end < text.count, text[end] == 0x20 || text[end] == 0x09 { end += 1 }
    let nextStart = next.first?.range.lowerBound ?? text.count + 1
    guard nextStart >= end, end == text.count || text[end] == 0x0A else { return nil }
    if end == text.count {
      let isLine =
        start > 0 || lengthOfLineMark(text, start..<end) > 0
        || isFullStop(edit.replacement.last!) || (lastRewritten.map(edit.range.contains) ?? false)
        || hasLineEnd(text[edit.range]) || hasLineEnd(edit.replacement[...])
      guard isLine else { return nil }
    }
    return [0x0A] + mark(start..<edit.range.lowerBound, previous)
  }

  private func hasLineEnd(_ utf8: ArraySlice<UInt8>) -> Bool {
    utf8.contains(0x0A)
  }

  /// A line's mark after the edits before.
  private func mark(_ range: Range<Int>, _ previous: ArraySlice<Edit<UInt8>>) -> [UInt8] {
    var mark = Array(text[range])
    for edit in previous.reversed() {
      if edit.range.lowerBound < range.lowerBound || edit.range.upperBound > range.upperBound {
        break
      }
      if edit.range.isEmpty, edit.range.lowerBound == range.lowerBound,
        edit.replacement.last == 0x0A
      {
        break
      }
      mark.replaceSubrange(
        edit.range.lowerBound - range.lowerBound..<edit.range.upperBound - range.lowerBound,
        with: edit.replacement)
    }
    return mark
  }
}

extension Token {
  /// True for what a blank stands between: what is written with blanks.
  fileprivate var isDivisible: Bool { kind == .word || kind == .number || kind == .box }
}
