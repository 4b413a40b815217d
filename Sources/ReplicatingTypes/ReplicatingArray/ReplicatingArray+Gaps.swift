// Where among removed elements an insertion stands.
//
// What is inserted between two visible elements u and v may stand anywhere among the removed ones between them, and nobody sees a difference,
// until one of these comes back because the change that removed it is withdrawn (Withdrawals.swift). Then what was inserted is to stand on the side of it on
// which it was put beside what is there now in its place. So it stands directly behind u, but behind what u replaces:
//
// An element *replaces* a removed one if its author had removed that when it inserted the element. Of those that replace the same one, in the gap and beside
// it, those count that were inserted first, by one change: the others were put beside these.
//
//   1. A removed element belongs to the left if all that replace it are u or belong to the left, and to the right if all are v or belong to the right.
//   2. The insertion stands directly behind the last element that belongs to the left; behind u if there is none.
//
// Both origins stand side by side, as those of any insertion. The rules of merging ask for no more than that, and that what goes on from a copy was put
// there by its author (EqualReplacements.swift): so it stands behind no removed element that is one of a copy.

/// Removed elements between which and around which something is to be inserted.
struct Gap {
  /// The visible element in front of them; none at the beginning.
  let left: LocalID
  /// They, in their order: those that the author of the insertion knows.
  var removed: [Piece] = []
  /// The next element behind them that it knows; none at the end.
  var right: LocalID = .none

  /// So many pieces are looked at, at most.
  static var mostPieces: Int { 64 }
  /// True if that many are.
  var isFull: Bool { removed.count == Self.mostPieces }
}

extension ReplicatingArray {
  /// An element, and when it was inserted.
  private struct Inserted {
    let change: LocalChange
    let lamport: UInt64
  }

  /// Removed elements side by side that the same changes removed, as far as these are known.
  private struct Part {
    let piece: Piece
    let removers: [LocalChange]
  }

  /// On which side of a gap that stands which replaces a part.
  private enum Side { case left, right, both }

  /// So many runs of an author's removals are looked at, at most, beside those by one change.
  private static var mostRuns: Int { 256 }

  /// The elements between which an insertion stands that is made in a gap.
  ///
  /// O(log runs), and where something may have been replaced up to 64 pieces, and 256 runs of removals by the authors that wrote there.
  func origins(in gap: Gap) -> (left: LocalID, right: LocalID) {
    let origins = (gap.left, gap.removed.first?.first ?? gap.right)
    if gap.left.isNone || gap.removed.isEmpty { return origins }
    let left = inserted(gap.left)
    // An element does not replace what was inserted later.
    guard gap.removed.contains(where: { inserted($0.first).lamport < left.lamport }) else {
      return origins
    }
    let parts = parts(of: gap)
    var sides: [Side?] = parts.map { _ in nil }
    let beside = [(left, Side.left)] + (gap.right.isNone ? [] : [(inserted(gap.right), .right)])
    let times = parts.map { inserted($0.piece.last) }
    // What replaces a part was inserted later.
    for index in parts.indices.sorted(by: { times[$0].lamport > times[$1].lamport }) {
      let removers = parts[index].removers
      let known = zip(times, sides).compactMap { time, side in side.map { (time, $0) } }
      let replacing = (beside + known).filter { element, _ in
        removers.contains {
          $0.author == element.change.author && $0.number <= element.change.number
        }
      }
      guard let first = replacing.map(\.0).min(by: { $0.lamport < $1.lamport }) else { continue }
      let ofFirst = Set(replacing.filter { $0.0.change == first.change }.map(\.1))
      sides[index] = ofFirst.count == 1 ? ofFirst.first! : .both
    }
    let last = parts.indices.last { sides[$0] == .left && !isOfCopy(parts[$0].piece.last) }
    guard let last else { return origins }
    let next = last + 1 < parts.count ? parts[last + 1].piece.first : gap.right
    return (parts[last].piece.last, next)
  }

  private func inserted(_ element: LocalID) -> Inserted {
    let author = authors[Int(element.author)]
    return Inserted(
      change: LocalChange(author: element.author, number: author.number(of: element.offset)),
      lamport: author.lamport(of: element.offset))
  }

  private func isOfCopy(_ element: LocalID) -> Bool {
    copies.contains { list in
      list.contains {
        $0.author == element.author && element.offset &- $0.offset < $0.count
      }
    }
  }

  /// The removed elements of a gap, cut where other changes removed them.
  private func parts(of gap: Gap) -> [Part] {
    var latest: [AuthorIndex: UInt64] = [:]
    for element in [gap.left, gap.right] + gap.removed.map(\.last) where !element.isNone {
      latest[element.author] = Swift.max(
        latest[element.author] ?? 0, inserted(element).change.number)
    }
    var removals: [[(range: Range<UInt32>, change: LocalChange)]] = gap.removed.map { _ in [] }
    for (author, number) in latest {
      let runs = authors[Int(author)].removals
      let end = runs.firstIndex(after: number)
      var index = end
      while index > 0, end - index < Self.mostRuns || runs[index - 1].lastNumber == number {
        index -= 1
        let run = runs[index]
        let change = LocalChange(author: author, number: run.lastNumber)
        for (place, piece) in gap.removed.enumerated() where piece.author == run.target {
          let start = Swift.max(piece.offset, run.offset)
          let end = Swift.min(piece.end, run.offset + run.count)
          if start < end { removals[place].append((start..<end, change)) }
        }
      }
    }
    return zip(gap.removed, removals).flatMap { piece, removals in
      let cuts = Set(
        removals.flatMap { [$0.range.lowerBound, $0.range.upperBound] } + [piece.offset, piece.end]
      ).sorted()
      return zip(cuts, cuts.dropFirst()).map { start, end in
        Part(
          piece: Piece(piece.author, start, end - start),
          removers: removals.filter { $0.range.contains(start) }.map(\.change))
      }
    }
  }
}
