// The place of an insertion: FugueMax, ties to what goes on with a word, then to the newest.
//
// Each element was inserted between two others, its origins: `left`, the element before its place, and `right`, the one
// after it, tombstones included. As a tree: an element is the right child of `left`, unless `left` is also the left
// origin of `right`; then it is a left child of `right`. The document is the tree in order, left children, node, right
// children. Among the right children of one node, those whose right origin stands further to the right come first. Among
// children with both origins equal, in text behind anything but white space, what goes on with that comes before what begins with a blank, and
// this before what begins with a line end; of equal ones the newest comes first (Lamport count, then replica).
//
// No tree is kept. An insertion whose origins still stand side by side goes between them. If something was inserted there
// concurrently, the elements between the origins are looked through, a chain at a time: neighbours of one author of which every
// element but the first has the one before it as its left origin, so only the first can decide anything. As a rule that is a
// piece. It is not where an author names other origins than it saw: then the elements of a piece may be several chains, and
// where pieces are cut, which depends on the order of arrival, must not decide anything.

extension ReplicatingArray {
  /// Enters a run of elements of `author`, the next in its numbering, and returns the offset of the first.
  @inline(__always)
  mutating func integrate(
    _ elements: borrowing Span<Element>, by author: AuthorIndex, number: UInt64, lamport: UInt64,
    isStepping: Bool, left: LocalID, right: LocalID, whole: [Element]? = nil
  ) -> Int {
    let offset = authors[Int(author)].content.count
    var skipped: UInt32 = 0
    var next = LocalID.none
    if left.isNone {
      tree.moveToStart()
      if !tree.isEmpty { next = tree.current.first }
    } else {
      locate(left)
      let piece = tree.current
      skipped = left.offset &- piece.offset &+ 1
      next = skipped < piece.count ? LocalID(left.author, left.offset &+ 1) : tree.following
    }
    if next != right {
      skipped = resolve(
        behind: skipped, LocalID(author, UInt32(truncatingIfNeeded: offset)), number,
        Precedence(
          rank: rank(of: elements[0], behind: left), count: lamport,
          replica: authors[Int(author)].id), left, right)
    }
    insert(
      elements, by: author, number: number, lamport: lamport, isStepping: isStepping, left: left,
      right: right, behind: skipped, whole: whole)
    return offset
  }

  /// Moves the cursor to the piece that holds an element, which is here.
  @inline(__always)
  mutating func locate(_ element: LocalID) {
    if !tree.isEmpty, tree.current.contains(element) { return }
    locateFar(element)
  }

  @inline(never)
  private mutating func locateFar(_ element: LocalID) {
    if !isIndexed {
      // Local operations name elements near the last edit; they alone don't need the index.
      if tree.moveInLeaf(to: element) { return }
      buildIndex()
    }
    let leaf = authors[Int(element.author)].leaves[element.offset]
    let isThere: Bool
    if leaf == tree.cursor.leaf {
      isThere = tree.moveInLeaf(to: element)
    } else {
      tree.move(toLeaf: leaf)
      isThere = tree.moveForwardInLeaf(to: element)
    }
    precondition(isThere, "an element that is not where the index says")
  }

  mutating func buildIndex() {
    isIndexed = true
    for leaf in 0..<tree.nodes.leafCount {
      // Neighbours by their offsets, whichever comes first, are entered at once: a list that grows at its top has its
      // elements the other way round, each in a piece of its own.
      var author: AuthorIndex = 0
      var range: Range<UInt32> = 0..<0
      for piece in tree.pieces(of: leaf) {
        if piece.author == author, piece.offset == range.upperBound {
          range = range.lowerBound..<piece.end
        } else if piece.author == author, piece.end == range.lowerBound {
          range = piece.offset..<range.upperBound
        } else {
          if !range.isEmpty { authors[Int(author)].leaves.set(range, to: leaf) }
          author = piece.author
          range = piece.offset..<piece.end
        }
      }
      if !range.isEmpty { authors[Int(author)].leaves.set(range, to: leaf) }
    }
  }

  /// Removes elements by name, in the name of a change; reports those that had been visible until now.
  mutating func erase(
    _ range: ElementRange, by author: AuthorIndex, number: UInt64, _ report: (ElementRange) -> Void
  ) {
    let target = index(known: range.author)!
    authors[Int(author)].record(
      number: number, removing: target, UInt32(range.offset), UInt32(range.count))
    authors[Int(author)].lastNumber = Swift.max(authors[Int(author)].lastNumber, number)
    var offset = UInt32(range.offset)
    let end = UInt32(range.end)
    while offset < end {
      locate(LocalID(target, offset))
      let piece = tree.current
      let skipped = offset &- piece.offset
      let count = Swift.min(end &- offset, piece.count &- skipped)
      if !piece.isRemoved {
        bury(piece.dropping(skipped).prefix(count), behind: skipped)
        report(ElementRange(author: range.author, offset: Int(offset), count: Int(count)))
      }
      offset &+= count
    }
  }

  /// The gap for an insertion between whose origins something stands already: moves the cursor there, and returns how many
  /// elements of its piece are before the gap.
  @inline(never)
  private mutating func resolve(
    behind start: UInt32, _ new: LocalID, _ number: UInt64, _ precedence: Precedence,
    _ left: LocalID, _ right: LocalID
  ) -> UInt32 {
    if !isIndexed { buildIndex() }
    let origin = tree.cursor
    rememberUnseen(new, number, left, right)
    // A left child of `right` goes directly before it if `right` has no other: then the element before `right` is not in
    // its subtree, and so has another right origin.
    if !right.isNone, self.left(of: right) == left {
      locate(right)
      let skipped = right.offset &- tree.current.offset
      if skipped > 0 {
        if self.right(of: LocalID(right.author, right.offset &- 1)) != right { return skipped }
      } else if tree.stepBackward() {
        if self.right(of: tree.current.last) != right { return tree.current.count }
      } else {
        return 0
      }
      tree.cursor = origin
    }
    var skipped = start
    let gap = SiblingCache.Gap(left: left, right: right)
    if !siblings.isEmpty, let last = siblings.last(before: precedence, at: gap) {
      locate(last)
      skipped = last.offset &- tree.current.offset &+ 1
    }
    var destination = (tree.cursor, skipped)
    var isPassing = false
    var steps = 0
    while true {
      if skipped == tree.current.count {
        if !tree.stepForward() { break }
        skipped = 0
      }
      let other = LocalID(tree.current.author, tree.current.offset &+ skipped)
      if other == right { break }
      steps &+= 1
      let otherLeft = self.left(of: other)
      if otherLeft == left {
        let otherRight = self.right(of: other)
        if otherRight == right {
          if precedence > self.precedence(of: other, behind: left) { break }
          isPassing = false
        } else {
          isPassing = isOrdered(otherRight, before: right)
        }
      } else if otherLeft.isNone || !left.isNone && isOrdered(otherLeft, before: left) {
        break
      }
      skipped = endOfChain(from: skipped, before: right)
      if !isPassing { destination = (tree.cursor, skipped) }
    }
    tree.cursor = destination.0
    siblings.remember(new, precedence, at: gap, afterSteps: steps)
    return destination.1
  }

  /// The number of elements of the cursor's piece before the end of the chain that goes on behind `skipped` of them, or before `right`.
  private func endOfChain(from skipped: UInt32, before right: LocalID) -> UInt32 {
    let piece = tree.current
    let offset = piece.offset &+ skipped
    let end = chain(from: LocalID(piece.author, offset), upTo: piece.end, before: right)
    return end &- piece.offset
  }

  /// The end of the chain of an element, at most `end` or the offset of `right`.
  func chain(from element: LocalID, upTo end: UInt32, before right: LocalID) -> UInt32 {
    let holdsRight =
      right.author == element.author && right.offset > element.offset && right.offset < end
    return authors[Int(element.author)].endOfChain(
      from: element.offset, upTo: holdsRight ? right.offset : end, author: element.author)
  }

  /// Lets the crowds know of an insertion at one of their gaps, or between origins outside of it: it may come to stand there.
  private mutating func rememberUnseen(
    _ new: LocalID, _ number: UInt64, _ left: LocalID, _ right: LocalID
  ) {
    for gap in siblings.unseenGaps {
      guard
        left == gap.left || left.isNone || !gap.left.isNone && isOrdered(left, before: gap.left),
        right == gap.right || isOrdered(gap.right, before: right)
      else { continue }
      let change = ChangeID(replica: authors[Int(new.author)].id, number: number)
      siblings.remember(change, between: gap)
    }
  }

  func left(of element: LocalID) -> LocalID {
    authors[Int(element.author)].left(of: element.offset, author: element.author)
  }

  func right(of element: LocalID) -> LocalID {
    authors[Int(element.author)].right(of: element.offset)
  }

  /// The precedence of an insertion, of which an element is the first, behind another element.
  func precedence(of element: LocalID, behind left: LocalID) -> Precedence {
    let author = authors[Int(element.author)]
    return Precedence(
      rank: rank(of: author.content[Int(element.offset)], behind: left),
      count: author.lamport(of: element.offset), replica: author.id)
  }

  /// The rank of an insertion by its first element: in text behind anything but white space 2 for what goes on with that, 1 for a blank, 0 for a line
  /// end. 2 elsewhere.
  func rank(of first: Element, behind left: LocalID) -> UInt8 {
    guard let first = first as? UInt8, ReplicatingArray<UInt8>.isWhite(first), !left.isNone,
      let before = authors[Int(left.author)].content[Int(left.offset)] as? UInt8,
      !ReplicatingArray<UInt8>.isWhite(before)
    else { return 2 }
    return first == 0x0A || first == 0x0D ? 0 : 1
  }

  func timestamp(of element: LocalID) -> LamportTimestamp {
    LamportTimestamp(
      count: authors[Int(element.author)].lamport(of: element.offset),
      replica: authors[Int(element.author)].id)
  }

  /// True if one element stands before another in the document; `none` is the end. The index is there.
  func isOrdered(_ a: LocalID, before b: LocalID) -> Bool {
    if a.isNone { return false }
    if b.isNone { return true }
    let leafA = authors[Int(a.author)].leaves[a.offset]
    let leafB = authors[Int(b.author)].leaves[b.offset]
    if leafA != leafB { return tree.isLeaf(leafA, before: leafB) }
    for piece in tree.pieces(of: leafA) {
      let (holdsA, holdsB) = (piece.contains(a), piece.contains(b))
      if holdsA { return holdsB ? a.offset < b.offset : true }
      if holdsB { return false }
    }
    preconditionFailure("an element that is not where the index says")
  }
}

/// Decides which of two insertions between the same elements comes first: the greater one.
struct Precedence: Comparable {
  private let rank: UInt8
  private let timestamp: LamportTimestamp

  init(rank: UInt8, count: UInt64, replica: ReplicaID) {
    self.rank = rank
    timestamp = LamportTimestamp(count: count, replica: replica)
  }

  static func < (one: Self, other: Self) -> Bool {
    one.rank == other.rank ? one.timestamp < other.timestamp : one.rank < other.rank
  }
}
