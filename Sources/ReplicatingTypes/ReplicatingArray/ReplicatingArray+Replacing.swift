// Edits of the present sequence, and another sequence that it shall be.

extension ReplicatingArray {
  /// Replaces ranges, by a change for each operation that takes. The edits are sorted, don't overlap and lie in the sequence.
  /// O(n + runs) to copy, and O(log n + elements, or pieces removed) for each.
  ///
  /// Dividers are left out: a change that only inserts replaces nothing.
  public mutating func replace(_ edits: [Edit<Element>], by replica: inout Replica) {
    let edits = edits.map { Edit(range: $0.range, replacement: $0.replacement) }
    for operation in operations(for: edits) {
      var ticks: UInt64 = 1
      if case .insert(let elements, _, _, _) = operation { ticks = UInt64(elements.count) }
      apply(operation, replica.stamp(after: lamport, ticks: ticks))
    }
  }

  /// Makes the sequence equal to `elements` by what differs, for those who only have the whole new one: what stays is not
  /// touched, so what others do beside it merges. No change if nothing differs.
  ///
  /// The difference is that of the standard library, `difference(from:)`, between the beginning and the end that both have. Where its time,
  /// the square of what differs, could exceed 2^22 comparisons, all between is replaced. An element that has moved is removed and
  /// inserted: where each is there once, that is what `ReplicatingOrderedSet` is for.
  ///
  /// O(count + n) beside that.
  public mutating func become(_ elements: some Sequence<Element>, by replica: inout Replica) {
    replace(sequenceDifference(from: values, to: Array(elements)), by: &replica)
  }
}

/// The edits that lead from `old` to `new`: sorted and apart from each other.
private func sequenceDifference<Element: Equatable & Sendable>(
  from old: [Element], to new: [Element]
) -> [Edit<Element>] {
  var start = 0
  while start < min(old.count, new.count), old[start] == new[start] { start += 1 }
  var (oldEnd, newEnd) = (old.count, new.count)
  while oldEnd > start, newEnd > start, old[oldEnd - 1] == new[newEnd - 1] {
    (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
  }
  let (before, after) = (old[start..<oldEnd], new[start..<newEnd])
  if before.isEmpty && after.isEmpty { return [] }
  let most = 1 << 22
  let length = before.count + after.count
  guard !before.isEmpty, !after.isEmpty, length <= most / length else {
    return [Edit(range: start..<oldEnd, replacement: Array(after))]
  }
  let difference = after.difference(from: before)
  var edits: [Edit<Element>] = []
  var removals = difference.removals[...]
  var insertions = difference.insertions[...]
  // At a place without a removal and an insertion both have the same element.
  var (place, target) = (start, start)
  while place < oldEnd || target < newEnd {
    let (from, to) = (place, target)
    while removals.first?.offset == place - start {
      removals.removeFirst()
      place += 1
    }
    while insertions.first?.offset == target - start {
      insertions.removeFirst()
      target += 1
    }
    if from == place && to == target {
      (place, target) = (place + 1, target + 1)
    } else {
      edits.append(Edit(range: from..<place, replacement: Array(new[to..<target])))
    }
  }
  return edits
}

extension CollectionDifference.Change {
  fileprivate var offset: Int {
    switch self {
    case .insert(let offset, _, _), .remove(let offset, _, _): offset
    }
  }
}
