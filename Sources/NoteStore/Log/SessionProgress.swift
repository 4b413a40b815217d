/// The position up to which a session is known, from any of its files or from snapshots.
struct SessionProgress {
  /// The position of the last record that is known.
  var head = ChainPosition()
  /// The position up to which the archive had it when the notebook was opened.
  var archived = ChainPosition()
  /// The ends of the segments after which the next segment was read, in their order.
  var ends: [ChainPosition] = []
  /// The files that wait for records, and the number of the last one that each waits for.
  var waiting: [String: UInt64] = [:]
  /// The number of the last record that is known from a snapshot. Ends of segments before it may not be known.
  var covered: UInt64 = 0

  /// The relation of a segment to what is known of its session.
  enum Fit {
    case fits
    /// Records before it are missing. They may come.
    case waits
    /// It belongs to a divergent history of the session.
    case differs
  }

  /// Compares the position in a segment's header with what is known; only a segment that fits can be read.
  mutating func fit(_ header: LogHeader) -> Fit {
    let before = ChainPosition(number: header.recordsBefore, hash: header.hashBefore)
    if before.number == 0 { return .fits }
    if before.number > head.number { return .waits }
    if let end = end(at: before.number) { return end == before ? .fits : .differs }
    if before == head {
      ends.append(before)
      return .fits
    }
    return before.number < min(covered, head.number) ? .fits : .differs
  }

  /// The end of the segment whose last record is `number`, if one was read after it. O(log segments).
  func end(at number: UInt64) -> ChainPosition? {
    guard number > 0, let end = firstEnd(after: number - 1), end.number == number else {
      return nil
    }
    return end
  }

  /// The position of the record `number`, if its hash is known.
  func known(at number: UInt64) -> ChainPosition? {
    if number == 0 { return ChainPosition() }
    return number == head.number ? head : end(at: number)
  }

  /// The end of the segment that begins after the record `number`, if one was read after it. O(log segments).
  func firstEnd(after number: UInt64) -> ChainPosition? {
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      if ends[middle].number <= number { low = middle + 1 } else { high = middle }
    }
    return low < ends.count ? ends[low] : nil
  }
}
