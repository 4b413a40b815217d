internal import Bytes

/// A part of a text cut into lines with their line feeds, words with the space or line feed behind them, or characters.
///
/// Pieces are held against each other by hashes of their bytes. Different pieces can have the same one, by chance or by
/// intent: what is taken for equal must be compared.
struct Pieces {
  enum Cut { case lines, words, characters }

  /// Where pieces begin, and at last where they end.
  private var bounds: [Int]
  private(set) var hashes: [UInt64] = []

  /// Of more pieces than this no table is made: a text may be nothing but line feeds.
  private static let most = 1 << 19

  subscript(index: Int) -> Range<Int> { bounds[index]..<bounds[index + 1] }
  subscript(range: Range<Int>) -> Range<Int> {
    bounds[range.lowerBound]..<bounds[range.upperBound]
  }

  /// Reads eight bytes at a time: as one number, in which the bytes that end a piece can be found with a few instructions.
  init?(of text: [UInt8], in range: Range<Int>, cutAt cut: Cut) {
    bounds = [range.lowerBound]
    if cut == .characters {
      guard range.count <= Self.most else { return nil }
      cutAtCharacters(text[range])
      return
    }
    let text = text.span
    let lineFeed = UInt8(ascii: "\n")
    let space = cut == .words ? UInt8(ascii: " ") : lineFeed
    let guess = range.count / (cut == .words ? 5 : 32)
    bounds.reserveCapacity(guess)
    hashes.reserveCapacity(guess)
    var hash = WordHash()
    var place = range.lowerBound
    while place < range.upperBound {
      var count = min(ByteWord.size, range.upperBound - place)
      var word =
        count == ByteWord.size
        ? ByteWord(text, at: place) : ByteWord(text, at: place, count: count)
      let end = ByteWord.countBefore(word.marks(of: lineFeed) | word.marks(of: space))
      let isEnd = end < count
      if isEnd {
        count = end + 1
        word = word.prefix(count)
      }
      place += count
      hash.combine(word, count: count)
      if isEnd || place == range.upperBound {
        hashes.append(hash.value)
        bounds.append(place)
        hash = WordHash()
        if hashes.count > Self.most { return nil }
      }
    }
  }

  private mutating func cutAtCharacters(_ text: ArraySlice<UInt8>) {
    var place = text.startIndex
    for character in String(decoding: text, as: UTF8.self) {
      place += character.utf8.count
      hashes.append(Self.hash(of: text[(bounds.last!)..<place]))
      bounds.append(place)
    }
  }

  fileprivate static func hash(of text: ArraySlice<UInt8>) -> UInt64 {
    var hash = WordHash()
    for byte in text { hash.combine(byte) }
    return hash.value
  }
}

/// The words of a part of a text, without what is between them: runs of letters, and each symbol by itself, but no blanks and no
/// punctuation.
struct Words {
  private(set) var ranges: [Range<Int>] = []
  private(set) var hashes: [UInt64] = []

  init(of text: [UInt8], in range: Range<Int>) {
    var place = range.lowerBound
    while place < range.upperBound {
      let start = place
      while place < range.upperBound, let count = lengthOfLetter(in: text, at: place) {
        place += count
      }
      if place == start {
        place += PositionEncoding.utf8.units(ofScalarBeginningWith: text[start])
        guard isSymbol(in: text, at: start) else { continue }
      }
      ranges.append(start..<place)
      hashes.append(Pieces.hash(of: text[start..<place]))
    }
  }
}

/// The places of what occurs once on either side, in the order of `old`. O(n).
func uniquePairs(_ old: [UInt64], _ new: [UInt64]) -> [(old: Int, new: Int)] {
  let (nowhere, severalTimes) = (-1, -2)
  // The table grows with the number of different hashes, and half of it is free: most words occur often, and a small table
  // stays near the processor. Hashes can be made to meet in one slot, so none is looked for farther than this: one that
  // isn't found is taken for one that occurs several times.
  let reach = 64
  var slots = Array(repeating: (hash: 0 as UInt64, old: nowhere), count: 64)
  func slot(of hash: UInt64) -> Int? {
    let mask = slots.count - 1
    var index = Int(truncatingIfNeeded: hash) & mask
    for _ in 0..<reach {
      if slots[index].old == nowhere || slots[index].hash == hash { return index }
      index = (index + 1) & mask
    }
    return nil
  }
  var count = 0
  for (place, hash) in old.enumerated() {
    guard let index = slot(of: hash) else { continue }
    if slots[index].old != nowhere {
      slots[index].old = severalTimes
      continue
    }
    slots[index] = (hash, place)
    count += 1
    if count * 2 > slots.count {
      let filled = slots.filter { $0.old != nowhere }
      slots = Array(repeating: (0, nowhere), count: slots.count * 2)
      for entry in filled {
        if let index = slot(of: entry.hash) { slots[index] = entry }
      }
    }
  }
  var partners = Array(repeating: nowhere, count: old.count)
  for (place, hash) in new.enumerated() {
    guard let index = slot(of: hash), slots[index].old >= 0 else { continue }
    let partner = slots[index].old
    partners[partner] = partners[partner] == nowhere ? place : severalTimes
  }
  return partners.enumerated().filter { $0.element >= 0 }.map { ($0.offset, $0.element) }
}

/// As many of the pairs, which increase in `old`, as increase in `new` too. O(n log n).
func longestIncrease(_ pairs: [(old: Int, new: Int)]) -> [(old: Int, new: Int)] {
  // `ends[k]` is the pair with the smallest end of all increasing rows of length k + 1.
  var ends: [Int] = []
  var previous = Array(repeating: -1, count: pairs.count)
  for (index, pair) in pairs.enumerated() {
    var low = 0
    var high = ends.count
    while low < high {
      let middle = (low + high) / 2
      if pairs[ends[middle]].new < pair.new { low = middle + 1 } else { high = middle }
    }
    previous[index] = low > 0 ? ends[low - 1] : -1
    if low == ends.count { ends.append(index) } else { ends[low] = index }
  }
  var result: [(old: Int, new: Int)] = []
  var index = ends.last ?? -1
  while index >= 0 {
    result.append(pairs[index])
    index = previous[index]
  }
  return result.reversed()
}

/// The runs that two rows have in common, in order, so that as little as possible remains (E. W. Myers, "An O(ND)
/// Difference Algorithm and Its Variations", 1986). Nothing where more than a few hundred remain, or it takes too long.
///
/// `budget` goes down by what was done.
func commonRuns(_ old: [UInt64], _ new: [UInt64], _ budget: inout Int) -> [Hunk]? {
  let most = 256
  // Words that are all the same have long runs everywhere.
  let allowance = min(budget, 1 << 18)
  var work = 0
  defer { budget -= work }
  guard abs(old.count - new.count) <= most else { return nil }
  var reach = Reach()
  for steps in 0...most {
    let before = reach.rows.count - steps
    // The last step follows from the row before: it is the one that leads farther.
    var removing = steps == 0 ? 0 : -1
    for removals in 0...steps {
      let inserting = removals < steps ? Int(reach.rows[before + removals]) : -1
      let start = max(inserting, removing)
      var (oldPlace, newPlace) = (start, start + steps - 2 * removals)
      while oldPlace < old.count, newPlace < new.count, old[oldPlace] == new[newPlace] {
        oldPlace += 1
        newPlace += 1
      }
      reach.rows.append(Int32(oldPlace))
      removing = inserting + 1
      work += 1 + oldPlace - start
      if oldPlace == old.count, newPlace == new.count { return reach.runs(steps, removals) }
      if work > allowance { return nil }
    }
  }
  return nil
}

/// The place up to which `old` can be read with some number of steps, each a removal or an insertion, of which some are
/// removals.
private struct Reach {
  /// A row for each number of steps, with one entry more than steps.
  var rows: [Int32] = []

  private func entry(_ steps: Int, _ removals: Int) -> Int {
    Int(rows[steps * (steps + 1) / 2 + removals])
  }

  private func start(_ steps: Int, _ removals: Int) -> (old: Int, isRemoval: Bool) {
    let inserting = removals < steps ? entry(steps - 1, removals) : -1
    let removing = removals > 0 ? entry(steps - 1, removals - 1) + 1 : -1
    return removing > inserting ? (removing, true) : (inserting, false)
  }

  /// The runs that were read without a step on the way to an entry.
  func runs(_ steps: Int, _ removals: Int) -> [Hunk] {
    var runs: [Hunk] = []
    var (steps, removals) = (steps, removals)
    while true {
      let end = entry(steps, removals)
      let (start, isRemoval) = steps == 0 ? (0, false) : start(steps, removals)
      let shift = steps - 2 * removals
      if start < end { runs.append(Hunk(old: start..<end, new: start + shift..<end + shift)) }
      if steps == 0 { return runs.reversed() }
      steps -= 1
      if isRemoval { removals -= 1 }
    }
  }
}
