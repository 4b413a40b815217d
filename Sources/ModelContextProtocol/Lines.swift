/// The lines of a text, without their line feeds.
struct Lines {
  let elements: [ArraySlice<UInt8>]

  init(_ text: [UInt8]) {
    elements = text.split(separator: 0x0A, omittingEmptySubsequences: false)
  }

  /// The lines in which something of a range of the text stands. If a line feed is the last of it, the line behind that is none of them.
  func range(of bytes: Range<Int>) -> Range<Int> {
    let first = line(of: bytes.lowerBound)
    return first..<line(of: bytes.isEmpty ? bytes.lowerBound : bytes.upperBound - 1) + 1
  }

  private func line(of offset: Int) -> Int {
    var (low, high) = (0, elements.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if elements[middle].startIndex <= offset { low = middle } else { high = middle }
    }
    return low
  }

  /// The place of some of these lines in another version of the text: from the nearest line before them that is in both to the nearest one behind them.
  ///
  /// - Complexity: O(both texts).
  func place(of lines: Range<Int>, in other: Lines) -> Range<Int> {
    let (ours, theirs) = (elements, other.elements)
    let prefix = CommonEnds(ours[..<lines.lowerBound], theirs[...]).prefix
    let suffix = CommonEnds(ours[lines.upperBound...], theirs[prefix...]).suffix
    let (ourEnd, theirEnd) = (ours.count - suffix, theirs.count - suffix)
    let places = Self.commonPlaces(ours[prefix..<ourEnd], theirs[prefix..<theirEnd])

    var (line, start) = (prefix, prefix)
    if let known = (line..<lines.lowerBound).last(where: { places[$0] != nil }) {
      (line, start) = (known + 1, places[known]! + 1)
    }
    while line < lines.lowerBound, start < theirEnd, ours[line] == theirs[start] {
      (line, start) = (line + 1, start + 1)
    }

    var (next, end) = (ourEnd, theirEnd)
    let isBehind = { (line: Int) in places[line].map { $0 >= start } ?? false }
    if let known = (lines.upperBound..<next).first(where: isBehind) {
      (next, end) = (known, places[known]!)
    }
    while next > lines.upperBound, end > start, ours[next - 1] == theirs[end - 1] {
      (next, end) = (next - 1, end - 1)
    }
    return start..<max(start, end)
  }

  /// For each line that occurs once in both texts, by its index in the first one, its index in the other.
  private static func commonPlaces(
    _ ours: ArraySlice<ArraySlice<UInt8>>, _ theirs: ArraySlice<ArraySlice<UInt8>>
  ) -> [Int: Int] {
    let other = singlePlaces(theirs)
    var places: [Int: Int] = [:]
    for (line, index) in singlePlaces(ours) {
      if let index, let place = other[line] { places[index] = place }
    }
    return places
  }

  /// For each line its index; nil if it occurs several times.
  private static func singlePlaces(
    _ lines: ArraySlice<ArraySlice<UInt8>>
  ) -> [ArraySlice<UInt8>: Int?] {
    var places: [ArraySlice<UInt8>: Int?] = [:]
    for (index, line) in zip(lines.indices, lines) {
      places.updateValue(places[line] == nil ? index : nil, forKey: line)
    }
    return places
  }
}

/// The numbers of elements that two sequences begin and end with in common. No element is counted twice.
struct CommonEnds {
  let prefix: Int
  let suffix: Int

  init<Element: Equatable>(_ one: ArraySlice<Element>, _ other: ArraySlice<Element>) {
    let most = min(one.count, other.count)
    let prefix =
      (0..<most).first { one[one.startIndex + $0] != other[other.startIndex + $0] } ?? most
    self.prefix = prefix
    suffix =
      (0..<most - prefix).first { one[one.endIndex - 1 - $0] != other[other.endIndex - 1 - $0] }
      ?? most - prefix
  }
}
