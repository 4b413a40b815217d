internal import ReplicatingTypes

/// Which numbers of a row there are: of the records of a session, or of the changes of a replica.
struct NumberRanges: Equatable {
  /// In order, with gaps between them.
  private(set) var ranges: [ClosedRange<UInt64>] = []

  /// Adds numbers. O(ranges).
  mutating func insert(_ new: ClosedRange<UInt64>) {
    // Whatever it touches becomes a part of it.
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

  /// Whether all of these are here.
  func contains(_ numbers: ClosedRange<UInt64>) -> Bool {
    ranges.contains { $0.lowerBound <= numbers.lowerBound && $0.upperBound >= numbers.upperBound }
  }

  /// The last number up to which all from 1 on are here; 0 if the first is not.
  var reach: UInt64 {
    guard let first = ranges.first, first.lowerBound <= 1 else { return 0 }
    return first.upperBound
  }
}

/// Which numbers there are of several rows.
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

  /// Whether all records of a piece are here.
  func contains(_ piece: SessionPiece) -> Bool { contains(piece.numbers, of: piece.session) }
}
