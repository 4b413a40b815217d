// Where among removed elements an insertion stands.
//
// What is inserted between two visible elements u and v may stand anywhere among the removed ones between them, and no reader sees a difference,
// until one of these comes back because the change that removed it is withdrawn (Withdrawals.swift). Then what was inserted is to stand on the side of it on
// which it was put beside what is there now in its place. So it stands directly behind u, but behind what u replaces:
//
// An element *replaces* a removed one if its author had removed that, by a change that is not withdrawn, when it inserted the element. Of those that replace
// the same one, in the gap and beside it, those count that were inserted first: by one change, and letter by letter behind that by the next. The others were
// put beside these.
//
//   1. A removed element belongs to the left if all that count are u or belong to the left, and to the right if all are v or belong to the right.
//   2. The insertion stands directly behind the last element that belongs to the left; behind u if there is none.
//
// A divider (Dividers.swift) is not replaced by the change that brought it. Where the last of what its author wrote in front of it was removed by its author,
// who writes again there, as far as that is known, the insertion stands directly in front of it, of the last one if there are several: who
// deletes what was typed, and types again, writes where that was.
//
// Both origins stand side by side, as those of any insertion. The rules of merging ask for no more than that, and that what goes on from a copy was put
// there by its author (DuplicateCoalescing.swift): so it stands behind no removed element that is one of a copy.

/// Removed elements between which and around which something is to be inserted.
struct Gap {
  /// The visible element in front of them; none at the beginning.
  let left: LocalID
  /// They, in their order: those that the author of the insertion knows.
  var removed: [Piece] = []
  /// The next element behind them that it knows; none at the end.
  var right: LocalID = .none

  /// The most pieces that are looked at.
  static var mostPieces: Int { 64 }
  /// True if that many are.
  var isFull: Bool { removed.count == Self.mostPieces }

  /// The origins of what stands directly in front of what is behind the gap, or directly behind what is before it.
  func origins(isInFront: Bool) -> (left: LocalID, right: LocalID) {
    isInFront ? (removed.last?.last ?? left, right) : (left, removed.first?.first ?? right)
  }
}

extension ReplicatingArray {
  /// Elements of a gap, or one beside it, of one author and side by side.
  private struct Part {
    let piece: Piece
    /// When the last of them was inserted.
    let change: LocalChange
    let lamport: UInt64
    /// The changes by which they were removed, as far as these matter.
    var removers: [LocalChange] = []
    /// True if the change that inserted them removed them, too.
    var isDivider = false

    /// True if these replace others.
    func replaces(_ other: Part) -> Bool {
      other.removers.contains { $0.author == change.author && $0.number <= change.number }
    }
  }

  /// On which side of a gap that stands which replaces a part.
  private enum Side { case left, right, both }

  /// The most runs of an author's removals that are looked at, beside those by one change.
  private static var mostRuns: Int { 256 }

  /// The elements between which an insertion stands that is made in a gap. Only changes of text are withdrawn, so in any other sequence
  /// it stands directly behind the visible element.
  ///
  /// O(log runs), and where something may have been replaced up to 64 pieces, and 256 runs of removals by the authors that wrote there.
  ///
  /// - Parameter author: who inserts; nil if that is not known.
  func origins(in gap: Gap, by author: ReplicaID? = nil) -> (left: LocalID, right: LocalID) {
    let origins = (gap.left, gap.removed.first?.first ?? gap.right)
    guard Element.self == UInt8.self, !gap.removed.isEmpty else { return origins }
    if let place = placeInFrontOfDivider(in: gap, by: author) { return place }
    if gap.left.isNone { return origins }
    let left = part(Piece(gap.left.author, gap.left.offset, 1))
    // An element does not replace what was inserted later.
    guard gap.removed.contains(where: { part($0.prefix(1)).lamport < left.lamport }) else {
      return origins
    }
    let parts = parts(of: gap)
    var decided = [(left, Side.left)]
    if !gap.right.isNone {
      decided.append((part(Piece(gap.right.author, gap.right.offset, 1)), .right))
    }
    var last: Int?
    // What replaces a part was inserted later.
    for index in parts.indices.sorted(by: { parts[$0].lamport > parts[$1].lamport })
    where !parts[index].isDivider {
      let replacing = decided.filter { $0.0.replaces(parts[index]) }
      let sides = Set(first(of: replacing).map(\.1))
      guard let side = sides.first else { continue }
      decided.append((parts[index], sides.count == 1 ? side : .both))
      if sides == [.left], !isOfCopy(parts[index].piece.last) { last = Swift.max(last ?? 0, index) }
    }
    guard let last else { return origins }
    let next = last + 1 < parts.count ? parts[last + 1].piece.first : gap.right
    return (parts[last].piece.last, next)
  }

  /// Those of some parts that were inserted first.
  private func first(of parts: [(Part, Side)]) -> [(Part, Side)] {
    guard let first = parts.map(\.0).min(by: { $0.lamport < $1.lamport }) else { return [] }
    var end = first.piece.last
    return parts.sorted { $0.0.piece.offset < $1.0.piece.offset }.filter { part, _ in
      if part.change == first.change {
        end = part.piece.last
        return true
      }
      guard part.piece.author == end.author, part.piece.offset > end.offset,
        authors[Int(end.author)].left(of: part.piece.offset, author: end.author) == end
      else { return false }
      end = part.piece.last
      return true
    }
  }

  /// The place in front of the last divider in a gap, or directly behind it, of which the element before it was removed by their author.
  private func placeInFrontOfDivider(
    in gap: Gap, by inserting: ReplicaID?
  ) -> (left: LocalID, right: LocalID)? {
    func isOwn(_ author: AuthorIndex) -> Bool {
      inserting.map { $0 == authors[Int(author)].id } ?? true
    }
    if let last = gap.removed.last?.last, last.author == gap.right.author, isOwn(last.author) {
      // It is shown behind the gap.
      let author = authors[Int(last.author)]
      let number = author.number(of: gap.right.offset)
      let isDivider = author.lastRemoved(by: number, of: last.author) {
        $0.contains(gap.right.offset)
      }
      if isDivider != nil, author.hasRemoved(last.offset, of: last.author, after: number) {
        return (last, gap.right)
      }
    }
    for (index, piece) in gap.removed.enumerated().reversed() where isOwn(piece.author) {
      let author = authors[Int(piece.author)]
      var end = piece.end
      while end > piece.offset {
        let stamps = author.stamps[author.stamps.index(holding: end - 1)]
        let start = Swift.max(piece.offset, stamps.first)
        defer { end = start }
        // A divider stands behind another element of its insertion.
        guard !stamps.isStepping, end - stamps.first > 1 else { continue }
        let number = stamps.number
        let removed = author.lastRemoved(by: number, of: piece.author) {
          $0.lowerBound >= start && $0.upperBound <= end
        }
        guard let divider = removed, divider.lowerBound > author.count(upTo: number - 1)
        else { continue }
        let before =
          divider.lowerBound > piece.offset
          ? LocalID(piece.author, divider.lowerBound - 1)
          : index > 0 ? gap.removed[index - 1].last : .none
        guard before.author == piece.author, !before.isNone,
          author.hasRemoved(before.offset, of: piece.author, after: number)
        else { continue }
        return (before, LocalID(piece.author, divider.lowerBound))
      }
    }
    return nil
  }

  private func part(_ piece: Piece) -> Part {
    let author = authors[Int(piece.author)]
    let last = piece.last.offset
    return Part(
      piece: piece, change: LocalChange(author: piece.author, number: author.number(of: last)),
      lamport: author.lamport(of: last))
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
      let number = authors[Int(element.author)].number(of: element.offset)
      latest[element.author] = Swift.max(latest[element.author] ?? 0, number)
    }
    var removals: [[(range: Range<UInt32>, change: LocalChange)]] = gap.removed.map { _ in [] }
    for (author, number) in latest {
      let runs = authors[Int(author)].removals
      let end = runs.firstIndex(after: number)
      var index = end
      while index > 0, end - index < Self.mostRuns || runs[index - 1].lastNumber == number {
        index -= 1
        let run = runs[index]
        guard gap.removed.contains(where: { run.overlaps($0) }) else { continue }
        for run in run.parts(of: authors[Int(author)].id, without: withdrawn) {
          let change = LocalChange(author: author, number: run.lastNumber)
          for (place, piece) in gap.removed.enumerated() where run.overlaps(piece) {
            let start = Swift.max(piece.offset, run.offset)
            let end = Swift.min(piece.end, run.offset + run.count)
            removals[place].append((start..<end, change))
          }
        }
      }
    }
    return zip(gap.removed, removals).flatMap { piece, removals in
      let cuts = Set(
        removals.flatMap { [$0.range.lowerBound, $0.range.upperBound] } + [piece.offset, piece.end]
      ).sorted()
      return zip(cuts, cuts.dropFirst()).map { start, end in
        var part = part(Piece(piece.author, start, end - start))
        part.removers = removals.filter { $0.range.contains(start) }.map(\.change)
        part.isDivider = part.removers.contains(part.change)
        return part
      }
    }
  }
}

extension AuthorLog {
  /// The last of the ranges of an author's elements that a change removed for which `isWanted` is true.
  fileprivate func lastRemoved(
    by number: UInt64, of target: AuthorIndex, where isWanted: (Range<UInt32>) -> Bool
  ) -> Range<UInt32>? {
    var last: Range<UInt32>?
    var index = removals.firstIndex(after: number - 1)
    while index < removals.count, UInt64(removals[index].number) <= number {
      let run = removals[index]
      index += 1
      guard run.target == target else { continue }
      let (offset, count) = run.dropping(upTo: number - 1).range(upTo: number)
      if isWanted(offset..<offset + count) { last = offset..<offset + count }
    }
    return last
  }

  /// True if one of the last removals, by a change after another one, removed an element of an author.
  fileprivate func hasRemoved(
    _ element: UInt32, of target: AuthorIndex, after number: UInt64
  ) -> Bool {
    removals.suffix(256).contains {
      guard $0.target == target, $0.lastNumber > number else { return false }
      let run = $0.dropping(upTo: number)
      return element >= run.offset && element - run.offset < run.count
    }
  }
}

extension RemovalRun {
  /// True if it removed elements of a piece.
  fileprivate func overlaps(_ piece: Piece) -> Bool {
    target == piece.author && offset < piece.end && piece.offset < offset + count
  }
}
