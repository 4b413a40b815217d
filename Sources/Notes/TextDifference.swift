// From two texts to the edits that lead from one to the other.
//
// First the region: what both begin and end with is left out, byte by byte. Then lines: those that occur once in each text
// and stand in the same order are taken for the same (patience difference), which leaves hunks; a large hunk is cut once
// more, at words that occur once. In each hunk `String.difference` compares what a person sees, characters, by their
// bytes: two texts that differ only in how characters are composed do differ. It is quadratic, so a hunk of too many
// characters, or too many hunks, are replaced as they stand. At last what is ambiguous is settled as people mean it
// (`WordSnapping.swift`): a word that both loses and gains letters is replaced whole.

public import ReplicatingTypes

/// The edits that lead from `old` to `new`, both valid UTF-8: sorted, apart from each other, between scalars. Applied to
/// `old` they give exactly `new`.
///
/// O(n log n) in the lines of the region that differs, and bounded work within them.
public func textDifference(from old: [UInt8], to new: [UInt8]) -> [Edit<UInt8>] {
  let (prefix, suffix) = commonEnds(old[...], new[...])
  let region = (prefix..<old.count - suffix, prefix..<new.count - suffix)
  guard !region.0.isEmpty || !region.1.isEmpty else { return [] }
  var edits: [Edit<UInt8>] = []
  if region.0.isEmpty || region.1.isEmpty {
    edits = [Edit(range: region.0, replacement: Array(new[region.1]))]
  } else {
    var budget = DifferenceBudget()
    for hunk in hunks(from: old, region.0, to: new, region.1, at: .lines) {
      edits += difference(old[hunk.0], new[hunk.1], at: .lines, &budget)
    }
  }
  let snapping = WordSnapping(text: old)
  return snapping.snap(snapping.slide(edits.joiningNeighbours()))
}

/// What texts are cut into before their characters are compared.
private enum Cut { case lines, words }

/// How much may be spent on comparing characters: the square of how many there are, in one hunk and in all.
private struct DifferenceBudget {
  static let hunk = 1 << 20
  var rest = 1 << 26
}

/// How many bytes both begin and end with, between scalars.
private func commonEnds(
  _ old: ArraySlice<UInt8>, _ new: ArraySlice<UInt8>
) -> (prefix: Int, suffix: Int) {
  let most = min(old.count, new.count)
  var prefix = 0
  while prefix < most, old[old.startIndex + prefix] == new[new.startIndex + prefix] { prefix += 1 }
  func isInside(_ slice: ArraySlice<UInt8>, _ index: Int) -> Bool {
    index < slice.endIndex && slice[index] & 0xC0 == 0x80
  }
  while prefix > 0,
    isInside(old, old.startIndex + prefix) || isInside(new, new.startIndex + prefix)
  {
    prefix -= 1
  }
  var suffix = 0
  while suffix < most - prefix, old[old.endIndex - suffix - 1] == new[new.endIndex - suffix - 1] {
    suffix += 1
  }
  while suffix > 0, isInside(old, old.endIndex - suffix) || isInside(new, new.endIndex - suffix) {
    suffix -= 1
  }
  return (prefix, suffix)
}

/// The parts of two regions that lie between lines, or words, which are the same in both.
private func hunks(
  from old: [UInt8], _ oldRegion: Range<Int>, to new: [UInt8], _ newRegion: Range<Int>, at cut: Cut
) -> [(Range<Int>, Range<Int>)] {
  // Of more lines than this no table is made: a text may be nothing but line feeds.
  for (text, region) in [(old, oldRegion), (new, newRegion)]
  where text[region].count(where: { $0 == 0x0A || cut == .words && $0 == 0x20 }) > 1 << 19 {
    return [(oldRegion, newRegion)]
  }
  let oldLines = pieces(of: old, in: oldRegion, cut)
  let newLines = pieces(of: new, in: newRegion, cut)
  let anchors = commonLines(oldLines.map { old[$0] }, newLines.map { new[$0] })
  var hunks: [(Range<Int>, Range<Int>)] = []
  var start = (oldRegion.lowerBound, newRegion.lowerBound)
  for (oldLine, newLine) in anchors {
    let end = (oldLines[oldLine].lowerBound, newLines[newLine].lowerBound)
    hunks.append((start.0..<end.0, start.1..<end.1))
    start = (oldLines[oldLine].upperBound, newLines[newLine].upperBound)
  }
  hunks.append((start.0..<oldRegion.upperBound, start.1..<newRegion.upperBound))
  return hunks.filter { !$0.0.isEmpty || !$0.1.isEmpty }
}

/// Whole lines with their line feed, or words with the space behind them; but for the ends of the region.
private func pieces(of text: [UInt8], in region: Range<Int>, _ cut: Cut) -> [Range<Int>] {
  var pieces: [Range<Int>] = []
  var start = region.lowerBound
  for index in region where text[index] == 0x0A || cut == .words && text[index] == 0x20 {
    pieces.append(start..<index + 1)
    start = index + 1
  }
  if start < region.upperBound { pieces.append(start..<region.upperBound) }
  return pieces
}

/// Pairs of equal pieces, each the only one of its kind on either side, increasing on both sides: as many as there can be.
/// O(n log n).
private func commonLines(
  _ old: [ArraySlice<UInt8>], _ new: [ArraySlice<UInt8>]
) -> [(old: Int, new: Int)] {
  struct Occurrence {
    var counts = (old: 0, new: 0)
    var places = (old: 0, new: 0)
  }
  var occurrences: [ArraySlice<UInt8>: Occurrence] = [:]
  for (place, line) in old.enumerated() {
    occurrences[line, default: Occurrence()].counts.old += 1
    occurrences[line]!.places.old = place
  }
  for (place, line) in new.enumerated() {
    occurrences[line, default: Occurrence()].counts.new += 1
    occurrences[line]!.places.new = place
  }
  // A blank line that stands once in each text need not be the same one.
  let pairs = occurrences.filter { $0.value.counts == (1, 1) && $0.key.contains { $0 > 0x20 } }
    .map(\.value.places)
    .sorted { $0.old < $1.old }
  // The longest increasing subsequence: `ends[k]` is the pair with the smallest end of all of length k + 1.
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

/// The difference of two hunks by characters; the whole hunk where that would cost too much.
private func difference(
  _ old: ArraySlice<UInt8>, _ new: ArraySlice<UInt8>, at cut: Cut,
  _ budget: inout DifferenceBudget
) -> [Edit<UInt8>] {
  let (prefix, suffix) = commonEnds(old, new)
  let old = old.dropFirst(prefix).dropLast(suffix)
  let new = new.dropFirst(prefix).dropLast(suffix)
  let whole = Edit(range: old.startIndex..<old.endIndex, replacement: Array(new))
  if old.isEmpty || new.isEmpty { return old.isEmpty && new.isEmpty ? [] : [whole] }
  // Bytes tell enough of how many characters there can be.
  let size = old.count + new.count
  let isAffordable =
    size <= 1 << 10 && size * size <= min(DifferenceBudget.hunk, budget.rest)
  if !isAffordable {
    if cut == .words { return [whole] }
    let words = hunks(
      from: Array(old), 0..<old.count, to: Array(new), 0..<new.count, at: .words)
    return words.flatMap { hunk in
      difference(
        old[hunk.0.shifted(by: old.startIndex)], new[hunk.1.shifted(by: new.startIndex)],
        at: .words, &budget)
    }
  }
  budget.rest -= size * size
  let before = String(decoding: old, as: UTF8.self)
  let after = String(decoding: new, as: UTF8.self)
  let lengths = (before.map { $0.utf8.count }, after.map { $0.utf8.count })

  var removed = Array(repeating: false, count: lengths.0.count)
  var inserted = Array(repeating: false, count: lengths.1.count)
  for change in after.difference(from: before, by: { $0.utf8.elementsEqual($1.utf8) }) {
    switch change {
    case .remove(let offset, _, _): removed[offset] = true
    case .insert(let offset, _, _): inserted[offset] = true
    }
  }
  var edits: [Edit<UInt8>] = []
  var place = (old.startIndex, new.startIndex)
  var index = (0, 0)
  while index.0 < removed.count || index.1 < inserted.count {
    let start = place
    while index.0 < removed.count, removed[index.0] {
      place.0 += lengths.0[index.0]
      index.0 += 1
    }
    while index.1 < inserted.count, inserted[index.1] {
      place.1 += lengths.1[index.1]
      index.1 += 1
    }
    if place != start {
      edits.append(Edit(range: start.0..<place.0, replacement: Array(new[start.1..<place.1])))
    }
    if index.0 < removed.count, index.1 < inserted.count, !removed[index.0], !inserted[index.1] {
      place.0 += lengths.0[index.0]
      place.1 += lengths.1[index.1]
      index.0 += 1
      index.1 += 1
    }
  }
  return edits
}

extension Range<Int> {
  fileprivate func shifted(by distance: Int) -> Range<Int> {
    lowerBound + distance..<upperBound + distance
  }
}
