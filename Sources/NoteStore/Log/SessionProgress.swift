/// How far a session is known, from whatever files.
struct SessionProgress {
  /// The last record, and the hash after it.
  var head = ChainPosition()
  /// Where its segments end that others were read after, in their order.
  var ends: [ChainPosition] = []
  /// The files whose first record comes after the next one, by the number of records before it.
  var waiting: [String: UInt64] = [:]
  /// Up to which record a snapshot has told it: where segments end before that is not known.
  var covered: UInt64 = 0

  /// How a segment fits to what is known.
  enum Fit {
    case fits
    /// Something before it is missing. It may come.
    case waits
    /// It belongs to another history of the session.
    case differs
  }

  /// Whether a file that says in its header what stands before it can be read now.
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

  /// The hash after the record `number`, if that is known.
  func known(at number: UInt64) -> ChainPosition? {
    if number == 0 { return ChainPosition() }
    return number == head.number ? head : end(at: number)
  }

  /// Where the segment that begins after the record `number` ends, if one was read after it. O(log segments).
  func firstEnd(after number: UInt64) -> ChainPosition? {
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      if ends[middle].number <= number { low = middle + 1 } else { high = middle }
    }
    return low < ends.count ? ends[low] : nil
  }
}
