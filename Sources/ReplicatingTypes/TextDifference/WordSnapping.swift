/// Chooses, among edits that lead to the same text, those that people mean.
///
/// A word is a maximal run of letters, digits, marks and apostrophes. Where words are written without spaces between them,
/// in ideographs, Hiragana, Thai, Lao, Myanmar and Khmer, each letter stands for itself: a sentence is not one word.
struct WordSnapping {
  /// The text before the edits.
  let text: [UInt8]
  /// The part of the text that the edits are made in: nothing else is looked at, as if it were all of it.
  let bounds: Range<Int>

  init(text: [UInt8], bounds: Range<Int>? = nil) {
    self.text = text
    self.bounds = bounds ?? text.indices
  }

  /// The most bytes by which an edit is slid.
  private static var reach: Int { 1024 }

  /// The edit that `slide` and `snap` make of a single one that only inserts or only deletes.
  func settle(_ edit: Edit<UInt8>) -> Edit<UInt8> {
    let low = max(bounds.lowerBound, edit.range.lowerBound - Self.reach)
    let high = min(bounds.upperBound, edit.range.upperBound + Self.reach)
    let edit = slid(edit, within: low..<high)
    // A word can't both lose and gain letters.
    return widenedToNumber(edit).map { snap([$0])[0] } ?? edit
  }

  /// Slides pure insertions and deletions to where a line or a word begins or ends, if the text is the same then. Taking
  /// "two " out of "one two three" could be taking out "wo t" as well, and a concurrent change would tell the difference. Of equally
  /// good places it is always the last, however the edit was found: a word goes with the blank behind it. If two people's words
  /// took the blanks of different sides, they would end up without one between them.
  func slide(_ edits: [Edit<UInt8>]) -> [Edit<UInt8>] {
    var result: [Edit<UInt8>] = []
    for (index, edit) in edits.enumerated() {
      guard edit.range.isEmpty != edit.replacement.isEmpty else {
        result.append(edit)
        continue
      }
      // Apart from the neighbours by a byte at least.
      let low = max(
        result.last.map { $0.range.upperBound + 1 } ?? bounds.lowerBound,
        edit.range.lowerBound - Self.reach)
      let next =
        index + 1 < edits.count ? edits[index + 1].range.lowerBound - 1 : bounds.upperBound
      let high = min(next, edit.range.upperBound + Self.reach)
      guard low <= edit.range.lowerBound, high >= edit.range.upperBound else {
        result.append(edit)
        continue
      }
      result.append(slid(edit, within: low..<high))
    }
    return result
  }

  /// The edit, a pure insertion or deletion, where among equivalent places it begins best.
  private func slid(_ edit: Edit<UInt8>, within limits: Range<Int>) -> Edit<UInt8> {
    let start = edit.range.lowerBound
    let isInsertion = edit.range.isEmpty
    let count = isInsertion ? edit.replacement.count : edit.range.count
    let end = isInsertion ? limits.upperBound + count : limits.upperBound
    // As a rule it slides nowhere, and nothing more has to be looked at.
    let moved = isInsertion ? edit.replacement[...] : text[edit.range]
    let next = edit.range.upperBound
    guard
      start > limits.lowerBound && text[start - 1] == moved.last
        || next < limits.upperBound && text[next] == moved.first
    else { return edit }
    if count == 1, let byte = moved.first, byte != 0x0A {
      return slid(edit, of: byte, within: limits)
    }
    // The text with what is inserted, or deleted, as far as it is looked at.
    let first = limits.lowerBound
    var around: [UInt8] = []
    around.reserveCapacity(end - first)
    around += text[first..<start]
    if isInsertion { around += edit.replacement }
    around += text[start..<limits.upperBound]
    let bytes = around.span
    func byte(_ place: Int) -> UInt8 { bytes[place &- first] }
    func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
    func score(_ place: Int) -> Int {
      guard place > limits.lowerBound || place == bounds.lowerBound else { return 0 }
      let byteBehind = byte(place)
      if isContinuation(byteBehind) || place + count < end && isContinuation(byte(place + count)) {
        return -1
      }
      if place == bounds.lowerBound { return 2 }
      let byteBefore = byte(place - 1)
      if byteBefore == 0x0A { return 2 }
      // In a run of one byte nothing more is asked.
      if byteBefore == byteBehind { return 0 }
      return isWordByte(byteBefore) != isWordByte(byteBehind) ? 1 : 0
    }
    var best = (place: start, score: score(start))
    var place = start
    while place > limits.lowerBound, byte(place - 1) == byte(place + count - 1) {
      place -= 1
      let score = score(place)
      if score > best.score { best = (place, score) }
    }
    place = start
    while place + count < end, byte(place) == byte(place + count) {
      place += 1
      let score = score(place)
      if score >= best.score { best = (place, score) }
    }
    if best.place == start { return edit }
    return isInsertion
      ? Edit(
        range: best.place..<best.place,
        replacement: Array(around[best.place - first..<best.place - first + count]))
      : Edit(range: best.place..<best.place + count, replacement: [])
  }

  /// The same for an edit of one byte, no line feed: it is in a run of equal ones, and in a run only its beginning can be the beginning of a
  /// line or a word. If it is none, all places are equally good.
  private func slid(
    _ edit: Edit<UInt8>, of byte: UInt8, within limits: Range<Int>
  ) -> Edit<UInt8> {
    var low = edit.range.lowerBound
    while low > limits.lowerBound, text[low - 1] == byte { low -= 1 }
    let isBeginning =
      low > limits.lowerBound
      ? text[low - 1] == 0x0A || isWordByte(text[low - 1]) != isWordByte(byte)
      : low == bounds.lowerBound
    if isBeginning {
      return Edit(range: low..<low + edit.range.count, replacement: edit.replacement)
    }
    var high = edit.range.upperBound
    while high < limits.upperBound, text[high] == byte { high += 1 }
    return Edit(range: high - edit.range.count..<high, replacement: edit.replacement)
  }

  private func isWordByte(_ byte: UInt8) -> Bool {
    byte >= 0x80 || isWordASCII(byte)
  }

  /// Widens edits to whole words, where a word would both lose and gain letters. Pure insertions and pure deletions inside
  /// a word stay as they are, but a number is always replaced whole: with an inserted digit it is another number, and one digit
  /// each of two people is a number that neither meant.
  ///
  /// `edits` are sorted and apart from each other; so are those returned, and they lead to the same text. O(edits and the
  /// words they touch).
  func snap(_ edits: [Edit<UInt8>]) -> [Edit<UInt8>] {
    var result: [Edit<UInt8>] = []
    var index = 0
    while index < edits.count {
      var end = index + 1
      while end < edits.count, areOfOneWord(edits[end - 1], edits[end]) { end += 1 }
      let cluster = edits[index..<end]
      let loses = cluster.contains { touchesWord(text[$0.range]) }
      let gains = cluster.contains { touchesWord($0.replacement[...]) }
      if loses && gains {
        result.append(widened(merged(cluster)))
      } else if let number = widenedToNumber(merged(cluster)) {
        result.append(number)
      } else {
        result += cluster
      }
      index = end
    }
    // An edit that has grown may touch its neighbour, or be of one word with it now.
    result = result.joiningNeighbours()
    return result == edits ? result : snap(result)
  }

  /// True if two edits are made to one word: there are nothing but letters between them, and a letter on either side, before or
  /// afterwards. A word that stands between them as it was is no part of either.
  private func areOfOneWord(_ edit: Edit<UInt8>, _ next: Edit<UInt8>) -> Bool {
    let (start, end) = (edit.range.upperBound, next.range.lowerBound)
    guard Self.isWord(text[start..<end]) else { return false }
    let isBehindLetter =
      start > bounds.lowerBound && isWord(at: scalar(before: start))
      || endsWithLetter(edit.replacement)
    return isBehindLetter && (isWord(at: end) || beginsWithLetter(next.replacement))
  }

  private func beginsWithLetter(_ utf8: [UInt8]) -> Bool {
    !utf8.isEmpty && isWordScalar(firstScalar(of: utf8[...]))
  }

  private func endsWithLetter(_ utf8: [UInt8]) -> Bool {
    utf8.lastIndex { $0 & 0xC0 != 0x80 }.map { isWordScalar(firstScalar(of: utf8[$0...])) } ?? false
  }

  private func merged(_ cluster: ArraySlice<Edit<UInt8>>) -> Edit<UInt8> {
    var edit = cluster.first!
    for next in cluster.dropFirst() {
      let between = text[edit.range.upperBound..<next.range.lowerBound]
      edit = Edit(
        range: edit.range.lowerBound..<next.range.upperBound,
        replacement: edit.replacement + between + next.replacement)
    }
    return edit
  }

  /// The edit with the rest of the words in which it begins and ends.
  private func widened(_ edit: Edit<UInt8>) -> Edit<UInt8> {
    var low = edit.range.lowerBound
    var high = edit.range.upperBound
    if isWord(at: low) {
      while low > bounds.lowerBound, isWord(at: scalar(before: low)) { low = scalar(before: low) }
    }
    if high > bounds.lowerBound, isWord(at: scalar(before: high)) {
      while isWord(at: high) {
        high += sizeOfScalar(beginningWith: text[high])
      }
    }
    return Edit(
      range: low..<high,
      replacement: text[low..<edit.range.lowerBound] + edit.replacement
        + text[edit.range.upperBound..<high])
  }

  /// The edit with the rest of the number in which it is made; nil if not one number takes the place of another.
  private func widenedToNumber(_ edit: Edit<UInt8>) -> Edit<UInt8>? {
    guard text[edit.range].allSatisfy(isDigit), edit.replacement.allSatisfy(isDigit) else {
      return nil
    }
    var low = edit.range.lowerBound
    while low > bounds.lowerBound, isDigit(text[low - 1]) { low -= 1 }
    var high = edit.range.upperBound
    while high < bounds.upperBound, isDigit(text[high]) { high += 1 }
    let replacement =
      text[low..<edit.range.lowerBound] + edit.replacement + text[edit.range.upperBound..<high]
    // Digits of a word such as "v10" are letters of it.
    guard low < high, !replacement.isEmpty,
      low == bounds.lowerBound || !isWord(at: scalar(before: low)), !isWord(at: high)
    else { return nil }
    return Edit(range: low..<high, replacement: Array(replacement))
  }

  private func scalar(before index: Int) -> Int {
    var index = index - 1
    while text[index] & 0xC0 == 0x80 { index -= 1 }
    return index
  }

  private func isWord(at index: Int) -> Bool {
    index < bounds.upperBound && isWordScalar(firstScalar(of: text[index..<bounds.upperBound]))
  }

  /// True if there are bytes, and all are of letters.
  static func isWord(_ utf8: ArraySlice<UInt8>) -> Bool {
    guard !utf8.isEmpty else { return false }
    var index = utf8.startIndex
    while index < utf8.endIndex {
      guard isWordScalar(firstScalar(of: utf8[index...])) else { return false }
      index += sizeOfScalar(beginningWith: utf8[index])
    }
    return true
  }

  private func touchesWord(_ utf8: ArraySlice<UInt8>) -> Bool {
    var index = utf8.startIndex
    while index < utf8.endIndex {
      if isWordScalar(firstScalar(of: utf8[index...])) { return true }
      index += sizeOfScalar(beginningWith: utf8[index])
    }
    return false
  }
}

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

/// The number of bytes of the letter that begins at a place; nil if what begins there is none.
func lengthOfLetter(in text: [UInt8], at place: Int) -> Int? {
  isWordScalar(firstScalar(of: text[place...]))
    ? sizeOfScalar(beginningWith: text[place]) : nil
}

/// True if what begins at a place, no letter, says something by itself, as an ideograph or a pictograph does, and a comma
/// doesn't.
func isSymbol(in text: [UInt8], at place: Int) -> Bool {
  if text[place] < 0x80 { return false }
  switch firstScalar(of: text[place...]).properties.generalCategory {
  case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
    .initialPunctuation, .finalPunctuation, .otherPunctuation, .spaceSeparator, .lineSeparator,
    .paragraphSeparator, .control, .format:
    return false
  default: return true
  }
}

/// Decoding a whole text to look at its first letters would cost as much as comparing it.
private func firstScalar(of utf8: ArraySlice<UInt8>) -> Unicode.Scalar {
  let first = utf8[utf8.startIndex]
  if first < 0x80 { return Unicode.Scalar(first) }
  let count = sizeOfScalar(beginningWith: first)
  var value = UInt32(first) & (0x7F >> UInt32(count))
  for byte in utf8.prefix(count).dropFirst() { value = value << 6 | UInt32(byte & 0x3F) }
  return Unicode.Scalar(value) ?? "\u{FFFD}"
}

private func isWordASCII(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "'"): true
  default: false
  }
}

private func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar {
  case _ where scalar.isASCII: isWordASCII(UInt8(truncatingIfNeeded: scalar.value))
  case "\u{2019}": true
  case "\u{0E00}"..."\u{0EFF}", "\u{1000}"..."\u{109F}", "\u{1780}"..."\u{17FF}": false
  case "\u{3040}"..."\u{309F}": false
  case _ where scalar.properties.isIdeographic: false
  default:
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark:
      true
    default: false
    }
  }
}
