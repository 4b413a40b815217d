internal import ReplicatingTypes

/// A set of numbers: of the records of a session, or of the changes of a replica.
struct NumberRanges: Equatable {
  /// The ranges in order, with gaps between them.
  private(set) var ranges: [ClosedRange<UInt64>] = []

  /// Adds numbers. O(ranges).
  mutating func insert(_ new: ClosedRange<UInt64>) {
    // Ranges that it touches become a part of it.
    var (low, high) = (new.lowerBound, new.upperBound)
    let first = ranges.firstIndex { $0.upperBound >= (low == 0 ? 0 : low - 1) } ?? ranges.count
    var end = first
    while end < ranges.count, ranges[end].lowerBound <= (high == .max ? high : high + 1) {
      low = min(low, ranges[end].lowerBound)
      high = max(high, ranges[end].upperBound)
      end += 1
    }
    ranges.replaceSubrange(first..<end, with: [low...high])
  }

  /// True if all of these numbers are in the set.
  func contains(_ numbers: ClosedRange<UInt64>) -> Bool {
    ranges.contains { $0.lowerBound <= numbers.lowerBound && $0.upperBound >= numbers.upperBound }
  }

  /// The largest number such that all from 1 up to it are in the set; 0 if 1 is not.
  var reach: UInt64 {
    guard let first = ranges.first, first.lowerBound <= 1 else { return 0 }
    return first.upperBound
  }
}

/// Sets of numbers, one for each session or replica.
extension [Identifier: NumberRanges] {
  mutating func insert(_ numbers: ClosedRange<UInt64>, of row: Identifier) {
    self[row, default: .init()].insert(numbers)
  }

  mutating func insert(_ pieces: [SessionPiece]) {
    for piece in pieces { insert(piece.numbers, of: piece.session) }
  }

  func contains(_ numbers: ClosedRange<UInt64>, of row: Identifier) -> Bool {
    self[row]?.contains(numbers) ?? false
  }

  /// True if all records of a piece are in the set of its session.
  func contains(_ piece: SessionPiece) -> Bool { contains(piece.numbers, of: piece.session) }
}
