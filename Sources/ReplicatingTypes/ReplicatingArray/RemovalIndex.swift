/// By which changes elements were removed that are not withdrawn: the removals of all authors, by what they removed.
struct RemovalIndex {
  private struct Entry {
    var run: RemovalRun
    var author: AuthorIndex
    /// The largest end among this entry and those before it.
    var reach: UInt32
  }

  /// By the author of the removed elements; sorted by where a run begins.
  private var entries: [[Entry]]

  /// O(runs × log runs).
  init<Element>(of authors: [AuthorLog<Element>], without withdrawn: ChangeRanges) {
    entries = Array(repeating: [], count: authors.count)
    for (index, author) in authors.enumerated() {
      for run in author.removals(without: withdrawn) {
        entries[Int(run.target)].append(Entry(run: run, author: AuthorIndex(index), reach: 0))
      }
    }
    for target in entries.indices {
      entries[target].sort { $0.run.offset < $1.run.offset }
      var reach: UInt32 = 0
      for index in entries[target].indices {
        reach = max(reach, entries[target][index].run.offset + entries[target][index].run.count)
        entries[target][index].reach = reach
      }
    }
  }

  /// The changes that removed an element. O(log runs + answer), and the runs that overlap it nearly.
  func removers(of element: LocalID) -> [LocalChange] { removal(of: element).changes }

  /// The changes that removed an element, and the elements around it, of the same author and side by side, that these removed and no others.
  ///
  /// - Complexity: as `removers(of:)`.
  func removal(of element: LocalID) -> (changes: [LocalChange], offsets: Range<UInt32>) {
    let list = entries[Int(element.author)]
    var low = 0
    var high = list.count
    while low < high {
      let middle = (low + high) / 2
      if list[middle].run.offset <= element.offset { low = middle + 1 } else { high = middle }
    }
    var changes: [LocalChange] = []
    var (start, end) = (UInt32(0), low < list.count ? list[low].run.offset : UInt32.max)
    while low > 0, list[low - 1].reach > element.offset {
      low -= 1
      let (run, author) = (list[low].run, list[low].author)
      guard element.offset - run.offset < run.count else {
        start = max(start, run.offset + run.count)
        continue
      }
      changes.append(LocalChange(author: author, number: run.number(removing: element.offset)))
      let isAtOnce = run.order == .atOnce
      start = max(start, isAtOnce ? run.offset : element.offset)
      end = min(end, isAtOnce ? run.offset + run.count : element.offset + 1)
    }
    if low > 0 { start = max(start, list[low - 1].reach) }
    return (changes, start..<end)
  }
}

/// A change by its author's place in `authors`.
struct LocalChange: Hashable {
  var author: AuthorIndex
  var number: UInt64
}

extension RemovalRun {
  /// The number of the change that removed one of its elements.
  fileprivate func number(removing element: UInt32) -> UInt64 {
    switch order {
    case .atOnce: UInt64(number)
    case .forward: UInt64(number) + UInt64(element - offset)
    case .backward: UInt64(number) + UInt64(offset + count - 1 - element)
    }
  }
}
