public import ReplicatingTypes

/// A queue of rows of changes, in the logical time of each row's next change. The rows are their owner's; here they are
/// numbers.
///
///     var order = LamportQueue(rows.map(\.time))
///     while let row = order.first {
///       use(rows[row].removeFirst())
///       if rows[row].isEmpty { order.removeFirst() } else { order.moveFirst(to: rows[row].time) }
///     }
public struct LamportQueue: Sendable {
  /// A heap: each is no later than the two at twice its place.
  private var heap: [(time: LamportTimestamp, row: Int)]

  /// The rows 0, 1, 2, …, each with the time of its next change. O(rows).
  public init(_ times: [LamportTimestamp]) {
    heap = times.enumerated().map { (time: $0.element, row: $0.offset) }
    for place in heap.indices.reversed() { sink(place) }
  }

  /// The row whose next change comes first; nil if none is left.
  public var first: Int? { heap.first?.row }

  /// Says when the first row goes on now: not before it did. O(log rows).
  public mutating func moveFirst(to time: LamportTimestamp) {
    heap[0].time = time
    sink(0)
  }

  /// The first row has ended. O(log rows).
  public mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    sink(0)
  }

  private mutating func sink(_ start: Int) {
    var place = start
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2]
      where child < heap.count && heap[child].time < heap[least].time { least = child }
      if least == place { return }
      heap.swapAt(place, least)
      place = least
    }
  }
}
