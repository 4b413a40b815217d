internal import ReplicatingTypes

/// Elements that undoing has inserted again, and the copies that stand for them.
struct ElementCopies {
  /// The copies by the author of the originals, in the order of the originals' offsets.
  private var copies: [ReplicaID: [(original: Range<Int>, copy: ElementRange)]] = [:]

  init() {}

  /// The elements of `copies` are copies of those of `originals`, in the same order. The ranges need not be the same, because an
  /// insertion may have been joined to the one before it.
  init(of originals: [[ElementRange]], as copies: [ElementRange]) {
    var rest = copies[...]
    var offset = 0
    for original in originals.joined() {
      var start = original.offset
      while start < original.end, let copy = rest.first {
        let count = min(original.end - start, copy.count - offset)
        self.copies[original.author, default: []].append(
          (
            start..<start + count,
            ElementRange(author: copy.author, offset: copy.offset + offset, count: count)
          ))
        start += count
        offset += count
        if offset == copy.count {
          rest = rest.dropFirst()
          offset = 0
        }
      }
    }
    for author in self.copies.keys {
      var end = 0
      // A damaged journal may name an element twice; only the first copy counts.
      self.copies[author] = self.copies[author]!
        .sorted { $0.original.lowerBound < $1.original.lowerBound }
        .filter { original, _ in
          guard !original.isEmpty, original.lowerBound >= end else { return false }
          end = original.upperBound
          return true
        }
    }
  }

  /// The originals and their copies, in the same order.
  var pairs: (originals: [ElementRange], copies: [ElementRange]) {
    let sorted = copies.sorted { $0.key < $1.key }
    return (
      sorted.flatMap { author, pairs in
        pairs.map {
          ElementRange(author: author, offset: $0.original.lowerBound, count: $0.original.count)
        }
      },
      sorted.flatMap { $0.value.map(\.copy) }
    )
  }

  /// The same elements with copies for those that have one; nil if none has.
  ///
  /// - Complexity: O(ranges × log copies).
  func replacing(_ ranges: [ElementRange]) -> [ElementRange]? {
    var result: [ElementRange]?
    for (index, range) in ranges.enumerated() {
      let parts = parts(of: range)
      if result == nil, parts != nil { result = Array(ranges[..<index]) }
      result?.append(contentsOf: parts ?? [range])
    }
    return result
  }

  private func parts(of range: ElementRange) -> [ElementRange]? {
    guard let all = copies[range.author] else { return nil }
    var low = 0
    var high = all.count
    while low < high {
      let middle = (low + high) / 2
      if all[middle].original.upperBound <= range.offset { low = middle + 1 } else { high = middle }
    }
    guard low < all.count, all[low].original.lowerBound < range.end else { return nil }
    var parts: [ElementRange] = []
    var offset = range.offset
    func keep(upTo end: Int) {
      if offset < end {
        parts.append(ElementRange(author: range.author, offset: offset, count: end - offset))
      }
    }
    while low < all.count, all[low].original.lowerBound < range.end {
      let (original, copy) = all[low]
      keep(upTo: original.lowerBound)
      let start = max(offset, original.lowerBound)
      let end = min(range.end, original.upperBound)
      parts.append(
        ElementRange(
          author: copy.author, offset: copy.offset + start - original.lowerBound,
          count: end - start))
      offset = end
      low += 1
    }
    keep(upTo: range.end)
    return parts
  }
}
