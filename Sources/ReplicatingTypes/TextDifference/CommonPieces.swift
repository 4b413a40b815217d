/// The pieces that two rows of pieces, each told by its hash, have in common: pairs of places, in the same order on both sides, whose hashes
/// are equal. As many as there can be, or nearly so in long rows.
///
/// The standard library's `difference(from:)` finds them. Its time is the square of what differs, which nobody knows before, and it
/// can't be told to stop: two rows of 100,000 pieces without a common one would take a minute. So long rows are cut before.
struct CommonPieces {
  /// The rows; of those that are not quite short only pieces that may be on the other side too, as no others are common.
  private let old: [UInt64]
  private let new: [UInt64]
  private(set) var pairs: [(old: Int, new: Int)] = []
  /// The number of steps that may still be taken. Once there are none, no pairs are found.
  private(set) var budget: Int

  /// The most pieces, of both sides, that are compared at once.
  static let most = 256
  /// Rows of so many pieces are compared as they are.
  private static let few = 64
  /// The lengths of the runs by which long rows are cut.
  private static let lengths = [2, 8, 32]

  init(of old: [UInt64], _ new: [UInt64], budget: Int) {
    self.budget = budget
    guard old.count + new.count > Self.few else {
      (self.old, self.new) = (old, new)
      compare(Hunk(old: old.indices, new: new.indices))
      return
    }
    // Some of the pieces of one side only are taken for shared, so what is left is looked at again by other bits.
    var places = (old: Array(old.indices), new: Array(new.indices))
    for shift in [0, 32] as [UInt64] {
      places.old = placesOfShared(places.old, old, places.new, new, shift)
      places.new = placesOfShared(places.new, new, places.old, old, shift)
    }
    self.old = places.old.map { old[$0] }
    self.new = places.new.map { new[$0] }
    for part in parts() { compare(part) }
    pairs = pairs.map { (places.old[$0.old], places.new[$0.new]) }
  }

  private mutating func compare(_ part: Hunk) {
    let (rest, before, behind) = trimmed(part)
    guard Self.isLong(part) || hasNothingCommon(rest) else { return compareShort(part) }
    pairs += zip(before.old, before.new).map { ($0, $1) }
    if !Self.isLong(rest) { compareShort(rest) }
    pairs += zip(behind.old, behind.new).map { ($0, $1) }
  }

  /// True if a part is known to have no common pieces without comparing it.
  private func hasNothingCommon(_ part: Hunk) -> Bool {
    if part.old.isEmpty || part.new.isEmpty { return true }
    guard part.old.count * part.new.count <= Self.few else { return false }
    return !old[part.old].contains { new[part.new].contains($0) }
  }

  private mutating func compareShort(_ part: Hunk) {
    if part.old.isEmpty || part.new.isEmpty || budget <= 0 { return }
    let difference = new[part.new].difference(from: old[part.old])
    budget -= part.old.count + part.new.count + difference.count * difference.count
    var isRemoved = Array(repeating: false, count: part.old.count)
    var isInserted = Array(repeating: false, count: part.new.count)
    for change in difference {
      switch change {
      case .remove(let place, _, _): isRemoved[place] = true
      case .insert(let place, _, _): isInserted[place] = true
      }
    }
    pairs += zip(
      part.old.filter { !isRemoved[$0 - part.old.lowerBound] },
      part.new.filter { !isInserted[$0 - part.new.lowerBound] }
    ).map { ($0, $1) }
  }

  private static func isLong(_ part: Hunk) -> Bool { part.old.count + part.new.count > most }

  /// The rows, cut where a run of pieces occurs once in a long part on either side: a piece that occurs often seldom does so with
  /// the same neighbours.
  private func parts() -> [Hunk] {
    var parts = [Hunk(old: old.indices, new: new.indices)]
    // Hashes of the runs that begin at each place.
    var runs = (old: old, new: new)
    var length = 1
    for wanted in Self.lengths where parts.contains(where: Self.isLong) {
      while length < wanted {
        runs = (doubled(runs.old, length), doubled(runs.new, length))
        length *= 2
      }
      parts = parts.flatMap { Self.isLong($0) ? cut($0, at: runs) : [$0] }
    }
    return parts
  }

  private func doubled(_ runs: [UInt64], _ length: Int) -> [UInt64] {
    zip(runs, runs.dropFirst(length)).map { $0 &* 0x9E37_79B9_7F4A_7C15 ^ $1 }
  }

  private func cut(_ part: Hunk, at runs: (old: [UInt64], new: [UInt64])) -> [Hunk] {
    let (part, before, behind) = trimmed(part)
    let old = runs.old[part.old.clamped(to: runs.old.indices)]
    let new = runs.new[part.new.clamped(to: runs.new.indices)]
    var parts = [before]
    var (start, last) = (part.start, part.start)
    for pair in longestIncrease(uniquePairs(Array(old), Array(new))) {
      let place = (old: part.old.lowerBound + pair.old, new: part.new.lowerBound + pair.new)
      if Self.isLong(Hunk(from: start, to: place)), last != start {
        parts.append(Hunk(from: start, to: last))
        start = last
      }
      last = place
    }
    return parts + [Hunk(from: start, to: last), Hunk(from: last, to: part.end), behind]
  }

  /// A part without what both sides begin and end with, and these.
  private func trimmed(_ part: Hunk) -> (Hunk, before: Hunk, behind: Hunk) {
    var start = part.start
    while start.old < part.old.upperBound, start.new < part.new.upperBound,
      old[start.old] == new[start.new]
    {
      start = (start.old + 1, start.new + 1)
    }
    var end = part.end
    while end.old > start.old, end.new > start.new, old[end.old - 1] == new[end.new - 1] {
      end = (end.old - 1, end.new - 1)
    }
    return (
      Hunk(from: start, to: end), Hunk(from: part.start, to: start), Hunk(from: end, to: part.end)
    )
  }
}

/// Those of some places of a row whose pieces stand at some places of another one as well, and a few more: looked for by some bits of
/// their hashes. O(n).
private func placesOfShared(
  _ places: [Int], _ row: [UInt64], _ otherPlaces: [Int], _ other: [UInt64], _ shift: UInt64
) -> [Int] {
  var isThere = Array(repeating: false, count: 1 << 10)
  while isThere.count < 4 * otherPlaces.count { isThere += isThere }
  let mask = UInt64(isThere.count - 1)
  for place in otherPlaces { isThere[Int(other[place] >> shift & mask)] = true }
  return places.filter { isThere[Int(row[$0] >> shift & mask)] }
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
