internal import ReplicatingTypes

/// Chooses, among edits that lead to the same text, those that people mean.
///
/// A word is a maximal run of letters, digits, marks and apostrophes.
struct WordSnapping {
  /// The text before the edits.
  let text: [UInt8]

  /// How far an edit is slid at most, in bytes.
  private static var reach: Int { 1024 }

  /// Slides pure insertions and deletions to where a line or a word begins or ends, if the text is the same then. Taking
  /// "two " out of "one two three" could be taking out "wo t" as well, and a concurrent change would tell the difference.
  func slide(_ edits: [Edit<UInt8>]) -> [Edit<UInt8>] {
    var result: [Edit<UInt8>] = []
    for (index, edit) in edits.enumerated() {
      guard edit.range.isEmpty != edit.replacement.isEmpty else {
        result.append(edit)
        continue
      }
      // Apart from the neighbours by a byte at least.
      let low = max(
        result.last.map { $0.range.upperBound + 1 } ?? 0, edit.range.lowerBound - Self.reach)
      let next = index + 1 < edits.count ? edits[index + 1].range.lowerBound - 1 : text.count
      let high = min(next, edit.range.upperBound + Self.reach)
      guard low <= edit.range.lowerBound, high >= edit.range.upperBound else {
        result.append(edit)
        continue
      }
      let middle = edit.range.isEmpty ? edit.replacement[...] : text[edit.range]
      let window = Array(
        text[low..<edit.range.lowerBound] + middle + text[edit.range.upperBound..<high])
      let start = edit.range.lowerBound - low
      let best = bestStart(in: window, from: start, count: middle.count, isAtBeginning: low == 0)
      let place = low + best
      result.append(
        edit.range.isEmpty
          ? Edit(range: place..<place, replacement: Array(window[best..<best + middle.count]))
          : Edit(range: place..<place + middle.count, replacement: []))
    }
    return result
  }

  /// Where among equivalent places the run of `count` bytes at `start` begins best.
  private func bestStart(
    in window: [UInt8], from start: Int, count: Int, isAtBeginning: Bool
  ) -> Int {
    func score(_ place: Int) -> Int {
      guard place > 0 || isAtBeginning else { return 0 }
      for edge in [place, place + count] where edge < window.count && window[edge] & 0xC0 == 0x80 {
        return -1
      }
      if place == 0 || window[place - 1] == 0x0A { return 2 }
      return isWordByte(window[place - 1]) != isWordByte(window[place]) ? 1 : 0
    }
    var best = (place: start, score: score(start))
    var place = start
    while place > 0, window[place - 1] == window[place + count - 1] {
      place -= 1
      let score = score(place)
      if score > best.score { best = (place, score) }
    }
    place = start
    while place + count < window.count, window[place] == window[place + count] {
      place += 1
      let score = score(place)
      if score > best.score { best = (place, score) }
    }
    return best.place
  }

  private func isWordByte(_ byte: UInt8) -> Bool {
    byte >= 0x80 || isWordScalar(Unicode.Scalar(byte))
  }

  /// Widens edits to whole words, where a word would both lose and gain letters. Pure insertions and pure deletions inside
  /// a word stay as they are.
  ///
  /// `edits` are sorted and apart from each other; so are those returned, and they lead to the same text. O(edits and the
  /// words they touch).
  func snap(_ edits: [Edit<UInt8>]) -> [Edit<UInt8>] {
    var result: [Edit<UInt8>] = []
    var index = 0
    while index < edits.count {
      // Edits of one word: nothing but letters between them.
      var end = index + 1
      while end < edits.count,
        isWord(edits[end - 1].range.upperBound..<edits[end].range.lowerBound)
      {
        end += 1
      }
      let cluster = edits[index..<end]
      let loses = cluster.contains { touchesWord(text[$0.range]) }
      let gains = cluster.contains { touchesWord($0.replacement[...]) }
      if loses && gains {
        result.append(widened(merged(cluster)))
      } else {
        result += cluster
      }
      index = end
    }
    return result
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
      while low > 0, isWord(at: scalar(before: low)) { low = scalar(before: low) }
    }
    if high > 0, isWord(at: scalar(before: high)) {
      while isWord(at: high) {
        high += PositionEncoding.utf8.units(ofScalarBeginningWith: text[high])
      }
    }
    return Edit(
      range: low..<high,
      replacement: text[low..<edit.range.lowerBound] + edit.replacement
        + text[edit.range.upperBound..<high])
  }

  private func scalar(before index: Int) -> Int {
    var index = index - 1
    while text[index] & 0xC0 == 0x80 { index -= 1 }
    return index
  }

  private func isWord(at index: Int) -> Bool {
    guard index < text.count else { return false }
    if text[index] < 0x80 { return isWordScalar(Unicode.Scalar(text[index])) }
    let length = PositionEncoding.utf8.units(ofScalarBeginningWith: text[index])
    return String(decoding: text[index..<index + length], as: UTF8.self).unicodeScalars
      .allSatisfy(isWordScalar)
  }

  /// Whether a range is not empty, and of letters only.
  private func isWord(_ range: Range<Int>) -> Bool {
    !range.isEmpty
      && String(decoding: text[range], as: UTF8.self).unicodeScalars.allSatisfy(isWordScalar)
  }

  private func touchesWord(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty
      && String(decoding: bytes, as: UTF8.self).unicodeScalars.contains(where: isWordScalar)
  }
}

private func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar {
  case "a"..."z", "A"..."Z", "0"..."9", "'", "\u{2019}": true
  case _ where scalar.isASCII: false
  default:
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark:
      true
    default: false
    }
  }
}
