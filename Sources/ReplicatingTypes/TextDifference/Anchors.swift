/// The words that two texts keep: pairs of places in the words of either side, in the same order on both.
struct Anchors {
  let old: Pieces
  let new: Pieces
  /// Places of words that are the same, increasing on both sides.
  private(set) var pairs: [(old: Int, new: Int)] = []

  init(old: Pieces, new: Pieces) {
    self.old = old
    self.new = new
  }

  /// The words of either side between two pairs.
  struct Gap {
    var old: Range<Int>
    var new: Range<Int>

    var count: Int { max(old.count, new.count) }
  }

  /// The gaps before, between and behind the pairs: one more than there are pairs.
  var gaps: [Gap] {
    var gaps: [Gap] = []
    gaps.reserveCapacity(pairs.count + 1)
    var (oldEnd, newEnd) = (0, 0)
    for pair in pairs {
      gaps.append(Gap(old: oldEnd..<pair.old, new: newEnd..<pair.new))
      (oldEnd, newEnd) = (pair.old + 1, pair.new + 1)
    }
    gaps.append(Gap(old: oldEnd..<old.ranges.count, new: newEnd..<new.ranges.count))
    return gaps
  }

  /// Adds pairs that `find` finds in gaps where both sides have words.
  mutating func fill(_ find: (Gap) -> [(old: Int, new: Int)]) {
    var result: [(old: Int, new: Int)] = []
    result.reserveCapacity(max(pairs.count, 16))
    for (index, gap) in gaps.enumerated() {
      if !gap.old.isEmpty, !gap.new.isEmpty { result += find(gap) }
      if index < pairs.count { result.append(pairs[index]) }
    }
    pairs = result
  }

  mutating func filter(_ isKept: ((old: Int, new: Int)) -> Bool) { pairs.removeAll { !isKept($0) } }

  // MARK: - Sentences

  /// Drops the pairs in sentences most of whose words are new, if words of the old text are gone there. A sentence ends with its line.
  ///
  /// A word that only stands elsewhere is not new: sorting lines and wrapping a paragraph move words. A pictograph is no new word.
  ///
  /// - Returns: the places in the old text of words that are no pairs any more.
  mutating func dropRewritten(in newText: [UInt8]) -> [Int] {
    if pairs.isEmpty || pairs.count == new.ranges.count || pairs.count == old.ranges.count {
      return []
    }
    var moved: [UInt64: Int]?
    func movedWords() -> [UInt64: Int] {
      var words: [UInt64: Int] = [:]
      for gap in gaps { for place in gap.old { words[old.hashes[place], default: 0] += 1 } }
      return words
    }
    /// The pairs of sentences most of whose words are new.
    var rewritten: [Range<Int>] = []
    var first = 0
    forEachSentence(in: newText) { sentence in
      var end = first
      while end < pairs.count, pairs[end].new < sentence.upperBound { end += 1 }
      defer { first = end }
      // A box is a part of the line's mark.
      let count = sentence.count { newText[new.ranges[$0].lowerBound] != UInt8(ascii: "[") }
      let keptCount = pairs[first..<end].count {
        newText[new.ranges[$0.new].lowerBound] != UInt8(ascii: "[")
      }
      guard end > first, keptCount * 2 < count else { return }
      var words = moved ?? movedWords()
      var newCount = 0
      var next = first
      for place in sentence {
        if next < end, pairs[next].new == place {
          next += 1
        } else if let count = words[new.hashes[place]], count > 0 {
          words[new.hashes[place]] = count - 1
        } else if isSpoken(newText, new.ranges[place]) {
          newCount += 1
        }
      }
      moved = words
      if newCount * 2 > count { rewritten.append(first..<end) }
    }
    return drop(rewritten.filter(isMissingWords), beside: rewritten)
  }

  /// Drops some pairs, and those of `others` that stand beside dropped ones: the words of these are gone there, too.
  ///
  /// - Returns: the places in the old text of the words.
  private mutating func drop(_ some: [Range<Int>], beside others: [Range<Int>]) -> [Int] {
    if some.isEmpty { return [] }
    let missing = Set(some.map(\.lowerBound))
    var isDropped = others.map { missing.contains($0.lowerBound) }
    for index in others.indices.dropFirst()
    where isDropped[index - 1] && others[index - 1].upperBound == others[index].lowerBound {
      isDropped[index] = true
    }
    for index in others.indices.dropLast().reversed()
    where isDropped[index + 1] && others[index].upperBound == others[index + 1].lowerBound {
      isDropped[index] = true
    }
    var dropped: [Int] = []
    var result: [(old: Int, new: Int)] = []
    result.reserveCapacity(pairs.count)
    var place = 0
    for index in others.indices where isDropped[index] {
      result += pairs[place..<others[index].lowerBound]
      dropped += pairs[others[index]].map { old.ranges[$0.old].lowerBound }
      place = others[index].upperBound
    }
    pairs = result + pairs[place...]
    return dropped
  }

  /// True if a word of the old text before, between or behind some pairs is gone.
  private func isMissingWords(_ some: Range<Int>) -> Bool {
    let low = some.lowerBound == 0 ? -1 : pairs[some.lowerBound - 1].old
    let high = some.upperBound == pairs.count ? old.ranges.count : pairs[some.upperBound].old
    return high - low - 1 > some.count
  }

  /// Calls `body` with the words of each sentence of the new text.
  private func forEachSentence(in text: [UInt8], _ body: (Range<Int>) -> Void) {
    var start = 0
    for place in new.ranges.indices.dropFirst() {
      let between = new.ranges[place - 1].upperBound..<new.ranges[place].lowerBound
      guard endsSentence(text, between) else { continue }
      body(start..<place)
      start = place
    }
    if start < new.ranges.count { body(start..<new.ranges.count) }
  }

  /// Drops a word that is all of a part of the new text, but for white space and full stops, where the old one has several: the first key typed over a
  /// selection may be a word of it.
  mutating func dropLoneWord(in newText: [UInt8], _ part: Range<Int>) {
    guard new.ranges.count == 1, old.ranges.count > 1, isSpoken(newText, new.ranges[0]),
      newText[part].count(where: { $0 > 0x20 && !isFullStop($0) }) == new.ranges[0].count
    else { return }
    pairs = []
  }

  // MARK: - Scripts without blanks

  /// Drops short runs of ideographs, and of letters of other scripts without blanks, between text that goes and text that comes: they are there by
  /// chance.
  mutating func dropChance(in oldText: [UInt8]) {
    guard pairs.count > 0 else { return }
    var result: [(old: Int, new: Int)] = []
    result.reserveCapacity(pairs.count)
    func gap(behind pair: (old: Int, new: Int), to next: (old: Int, new: Int)) -> Gap {
      Gap(old: pair.old + 1..<next.old, new: pair.new + 1..<next.new)
    }
    var first = 0
    while first < pairs.count {
      var end = first + 1
      while end < pairs.count, pairs[end].old == pairs[end - 1].old + 1,
        pairs[end].new == pairs[end - 1].new + 1
      {
        end += 1
      }
      let before = gap(behind: result.last ?? (-1, -1), to: pairs[first])
      let behind = gap(
        behind: pairs[end - 1],
        to: end < pairs.count ? pairs[end] : (old.ranges.count, new.ranges.count))
      let isChance =
        end - first <= min(before.count, behind.count)
        && !(before.old.isEmpty && behind.old.isEmpty || before.new.isEmpty && behind.new.isEmpty)
        && (first..<end).allSatisfy { isIdeograph(oldText, old.ranges[pairs[$0].old]) }
      if !isChance { result += pairs[first..<end] }
      first = end
    }
    pairs = result
  }

  /// True for an ideograph, and for a letter of another script without blanks.
  private func isIdeograph(_ text: [UInt8], _ range: Range<Int>) -> Bool {
    if text[range.lowerBound] < 0x80 { return false }
    let scalar = firstScalar(of: text, at: range.lowerBound)
    return !isWordScalar(scalar) && scalar.properties.isAlphabetic
  }

  /// False for pictographs, which no sentence is made of.
  private func isSpoken(_ text: [UInt8], _ range: Range<Int>) -> Bool {
    if text[range.lowerBound] < 0x80 { return text[range.lowerBound] != UInt8(ascii: "[") }
    let scalar = firstScalar(of: text, at: range.lowerBound)
    return isWordScalar(scalar) || scalar.properties.isAlphabetic
  }
}

/// True if a sentence ends in a part of a text, in which there is no word: at a line end, at a full stop and a blank.
private func endsSentence(_ text: [UInt8], _ range: Range<Int>) -> Bool {
  var isEnd = false
  for place in range {
    switch text[place] {
    case 0x0A: return true
    case 0x20 where isEnd, 0x09 where isEnd: return true
    case UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "?"): isEnd = true
    case 0xE2, 0xE3, 0xEF:
      switch firstScalar(of: text, at: place) {
      case "。", "！", "？": return true
      case "…": isEnd = true
      default: break
      }
    default: break
    }
  }
  return false
}
