// Where an insertion goes: FugueMax, ties to the newest.
//
// Each element was inserted between two others, its origins: `left`, the element before its place, and `right`, the one
// after it, tombstones included. As a tree: an element is the right child of `left`, unless `left` is also the left
// origin of `right`; then it is a left child of `right`. The document is the tree in order, left children, node, right
// children. Among the right children of one node, those whose right origin stands further to the right come first; among
// children with both origins equal, the newest comes first (Lamport count, then replica).
//
// No tree is kept. An insertion whose origins still stand side by side goes between them. If something was inserted there
// concurrently, the elements between the origins are looked through, a piece at a time: within a piece every element but
// the first has its neighbour as its left origin, so only the first can decide anything.

extension ReplicatingArray {
  /// Enters a run of elements of `author`, the next in its numbering, and returns the offset of the first.
  mutating func integrate(
    _ elements: [Element], by author: UInt32, stamped run: StampRun, left: Local?, right: Local?
  ) -> Int {
    let offset = authors[Int(author)].content.count
    authors[Int(author)].record(
      elements.count, stamped: run, left: left, right: right, me: author)
    authors[Int(author)].content.append(contentsOf: elements)
    lamport = max(lamport, run.lamport + UInt64(elements.count) - 1)

    var place = Cursor(piece: 0, start: 0)
    var skipped: UInt32 = 0
    if let left {
      place = locate(left)
      skipped = left.offset - pieces[place.piece].offset + 1
    }
    let new = Piece(
      author: author, offset: UInt32(offset), count: UInt32(elements.count), isRemoved: false)
    if element(behind: skipped, of: place.piece) != right {
      (place, skipped) = resolve(
        from: (place, skipped), left: left, right: right,
        timestamp: LamportTimestamp(count: run.lamport, replica: authors[Int(author)].id))
    }
    put(new, behind: skipped, of: place)
    return offset
  }

  /// The element that follows the first `skipped` elements of a piece.
  func element(behind skipped: UInt32, of piece: Int) -> Local? {
    guard piece < pieces.count else { return nil }
    if skipped < pieces[piece].count {
      return Local(author: pieces[piece].author, offset: pieces[piece].offset + skipped)
    }
    return piece + 1 < pieces.count ? pieces[piece + 1].first : nil
  }

  /// The gap for an insertion between whose origins something stands already.
  private func resolve(
    from gap: (Cursor, UInt32), left: Local?, right: Local?, timestamp: LamportTimestamp
  ) -> (Cursor, UInt32) {
    // A left child of `right` goes directly before it if `right` has no other: then the element before `right` is not
    // in its subtree, and so has another right origin.
    if let right, self.left(of: right) == left {
      let place = locate(right)
      if right.offset > pieces[place.piece].offset {
        let neighbour = Local(author: right.author, offset: right.offset - 1)
        if self.right(of: neighbour) != right {
          return (place, right.offset - pieces[place.piece].offset)
        }
      } else if place.piece > 0 {
        let piece = pieces[place.piece - 1]
        if self.right(of: piece.last) != right {
          let start = place.start - piece.visibleCount
          return (Cursor(piece: place.piece - 1, start: start), piece.count)
        }
      }
    }

    var (place, skipped) = gap
    var destination = gap
    var isPassing = false
    while let other = element(behind: skipped, of: place.piece), other != right {
      let otherLeft = self.left(of: other)
      if otherLeft == left {
        let otherRight = self.right(of: other)
        if otherRight == right {
          if timestamp > self.timestamp(of: other) { break }
          isPassing = false
        } else {
          isPassing = isOrdered(otherRight, before: right)
        }
      } else if otherLeft == nil || left != nil && isOrdered(otherLeft, before: left) {
        break
      }
      if skipped == pieces[place.piece].count {
        place.start += pieces[place.piece].visibleCount
        place.piece += 1
      }
      skipped = pieces[place.piece].count
      if !isPassing { destination = (place, skipped) }
    }
    return destination
  }

  private func left(of element: Local) -> Local? {
    authors[Int(element.author)].left(of: element.offset, author: element.author)
  }

  private func right(of element: Local) -> Local? {
    authors[Int(element.author)].origin(at: element.offset).right
  }

  private func timestamp(of element: Local) -> LamportTimestamp {
    let author = authors[Int(element.author)]
    return LamportTimestamp(count: author.lamport(of: element.offset), replica: author.id)
  }

  /// Whether one element stands before another in the document; `nil` is the end.
  func isOrdered(_ a: Local?, before b: Local?) -> Bool {
    guard let a else { return false }
    guard let b else { return true }
    let (first, second) = (locate(a).piece, locate(b).piece)
    return first == second ? a.offset < b.offset : first < second
  }

  /// Whether an operation from outside may be applied: its author can have made it, and every author would agree where it
  /// goes. `isKnown` tells whether the author had seen an element; what it refers to must be among those.
  ///
  /// O(1) when nothing was inserted concurrently at its place, else O(pieces between its origins).
  public func validate(
    _ operation: Operation, by author: ReplicaID, isKnown: (ChangeID) -> Bool
  ) throws(InvalidChange) {
    switch operation {
    case .insert(let elements, let left, let right):
      guard !elements.isEmpty else { throw InvalidChange("an insertion of nothing") }
      let present = authorIndex[author].map { authors[Int($0)].content.count } ?? 0
      guard elements.count <= Self.maximumCount - present else {
        throw InvalidChange("more than \(Self.maximumCount) elements by one author")
      }
      let leftElement = try checked(left, isKnown)
      let rightElement = try checked(right, isKnown)
      try validateGap(leftElement, rightElement, isKnown)
    case .remove(let range):
      guard range.count > 0, range.offset >= 0 else { throw InvalidChange("a removal of nothing") }
      guard let index = authorIndex[range.author],
        range.offset < authors[Int(index)].content.count,
        range.count <= authors[Int(index)].content.count - range.offset,
        isKnown(
          ChangeID(
            replica: range.author, number: authors[Int(index)].number(of: UInt32(range.end - 1))))
      else { throw InvalidChange("a removal of elements that its author could not know") }
    }
  }

  /// Between the origins of an insertion there may be only what its author had not seen.
  private func validateGap(
    _ left: Local?, _ right: Local?, _ isKnown: (ChangeID) -> Bool
  ) throws(InvalidChange) {
    var piece = 0
    var skipped: UInt32 = 0
    if let left {
      piece = locate(left).piece
      skipped = left.offset - pieces[piece].offset + 1
    }
    while let between = element(behind: skipped, of: piece), between != right {
      let author = authors[Int(between.author)]
      let change = ChangeID(replica: author.id, number: author.number(of: between.offset))
      if isKnown(change) { throw InvalidChange("origins that never stood side by side") }
      if skipped == pieces[piece].count {
        piece += 1
        skipped = 0
      }
      if let right, pieces[piece].contains(right), right.offset > between.offset { return }
      skipped = pieces[piece].count
    }
    if right != nil, element(behind: skipped, of: piece) == nil {
      throw InvalidChange("a right origin that stands before the left one")
    }
  }

  private func checked(
    _ element: ElementID?, _ isKnown: (ChangeID) -> Bool
  ) throws(InvalidChange) -> Local? {
    guard let element else { return nil }
    guard let index = authorIndex[element.author], element.offset >= 0,
      element.offset < authors[Int(index)].content.count,
      isKnown(
        ChangeID(
          replica: element.author,
          number: authors[Int(index)].number(of: UInt32(element.offset))))
    else { throw InvalidChange("an origin that its author could not know") }
    return Local(author: index, offset: UInt32(element.offset))
  }
}
