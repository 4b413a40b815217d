/// Elements known to be removed, while many removals are made. Those that stand in many pieces are looked at once, and
/// not again by each removal that names them: changes that remove everything again and again take no more time than that.
struct KnownTombstones: Sendable {
  /// By author, then offset: up to where everything is removed, if that is known.
  private var ends: [[UInt32]] = []
  /// The number of tombstones that were met. A few are no reason to keep anything.
  private var met = 0

  private static var few: Int { 1024 }

  /// Up to where all elements from this one on are known to be removed.
  @inline(__always)
  mutating func end(from element: LocalID) -> UInt32 {
    ends.isEmpty ? element.offset : find(element)
  }

  private mutating func find(_ element: LocalID) -> UInt32 {
    let author = Int(element.author)
    guard author < ends.count else { return element.offset }
    var offset = element.offset
    // Halves the way for those who come after, wherever they begin.
    while offset < ends[author].count {
      let next = ends[author][Int(offset)]
      if next <= offset { break }
      let afterNext = next < ends[author].count ? max(ends[author][Int(next)], next) : next
      ends[author][Int(offset)] = afterNext
      offset = afterNext
    }
    return offset
  }

  /// Notes that all elements of an author in a range are removed, of `count` that it inserted.
  @inline(__always)
  mutating func insert(_ range: Range<UInt32>, by author: AuthorIndex, of count: UInt32) {
    met &+= 1
    if met > Self.few { keep(range, Int(author), count) }
  }

  @inline(never)
  private mutating func keep(_ range: Range<UInt32>, _ author: Int, _ count: UInt32) {
    while ends.count <= author { ends.append([]) }
    if ends[author].count < count {
      ends[author] += repeatElement(0, count: Int(count) - ends[author].count)
    }
    let start = Int(range.lowerBound)
    ends[author][start] = max(ends[author][start], range.upperBound)
  }
}

extension ReplicatingArray {
  /// Removes elements by name.
  mutating func bury(_ run: RemovalRun, _ known: inout KnownTombstones) {
    var offset = run.offset
    let end = run.offset &+ run.count
    while offset < end {
      let next = known.end(from: LocalID(run.target, offset))
      if next > offset {
        offset = next
        continue
      }
      locate(LocalID(run.target, offset))
      let piece = tree.current
      let skipped = offset &- piece.offset
      let count = Swift.min(end &- offset, piece.count &- skipped)
      if piece.isRemoved {
        known.insert(offset..<offset &+ count, by: run.target, of: authors[Int(run.target)].count)
      } else {
        bury(piece.dropping(skipped).prefix(count), behind: skipped)
      }
      offset &+= count
    }
  }
}
