/// Steps of a history, made again in a list: each names a position, and what is found there are names.
///
/// This is the same as making them in a tree (`ReplicatingArray+Edit.swift`), as far as each insertion goes between the neighbours that it is
/// between. A list (ElementList.swift) has the order, and what is visible stands in runs beside it (VisibleRuns.swift). The
/// tree is built of the list, once.
struct HistoryReplay: ~Copyable {
  private(set) var list: ElementList
  private var visible = VisibleRuns()

  /// In an empty list with room for so many elements of each author, which have enough numbers.
  init(_ totals: [Int] = []) {
    list = ElementList(totals)
  }

  /// The number of visible elements.
  var count: Int { visible.count }
  /// True if so much is here that a tree takes less time from now on.
  var isLarge: Bool { visible.isLarge }

  /// Inserts the next elements of an author, for which there is room, before a position, which is there. Returns the neighbours there,
  /// tombstones included.
  @inline(__always)
  mutating func insert(
    _ count: UInt32, by author: AuthorIndex, at position: Int
  ) -> (left: LocalID, right: LocalID) {
    let left = visible.moveToGap(at: position)
    let right = list.follower(of: left)
    visible.insert(list.next(by: author), count)
    list.insert(count, by: author, behind: left)
    return (list.element(left), list.element(right))
  }

  /// Removes visible elements by changes from `number` on. `record` is told the runs.
  @inline(__always)
  mutating func remove(
    _ range: Range<Int>, number: UInt64, _ order: RemovalRun.Order,
    _ record: (RemovalRun) -> Void
  ) {
    var number = number
    var rest = range
    while !rest.isEmpty {
      let most = UInt32(truncatingIfNeeded: rest.count)
      let removed =
        order == .backward
        ? visible.remove(most, upTo: rest.upperBound) : visible.remove(most, from: rest.lowerBound)
      rest = rest.lowerBound..<rest.upperBound &- Int(removed.count)
      let first = list.element(removed.first)
      // A visible element is removed for the first time, so the list never refuses it.
      _ = list.remove(first.offset, removed.count, of: first.author)
      record(
        RemovalRun(
          number: UInt32(truncatingIfNeeded: number), offset: first.offset, count: removed.count,
          target: first.author, order: order))
      if order != .atOnce { number &+= UInt64(removed.count) }
    }
  }
}
