// Reading: the present, other states, and what leads from one to the other.

extension ReplicatingArray {
  /// The same value with nothing open.
  var settled: Self {
    var copy = self
    copy.settle()
    return copy
  }

  /// The visible elements in order. O(count + n).
  public var elements: [Element] {
    if !open.isEmpty { return settled.elements }
    var result: [Element] = []
    result.reserveCapacity(tree.visible)
    tree.forEachPiece { piece in
      if piece.isRemoved { return }
      let start = Int(piece.offset)
      result.append(
        contentsOf: authors[Int(piece.author)].content[start..<start &+ Int(piece.count)])
    }
    return result
  }

  /// The state that a replica at `version` sees: everything removed is revealed but what was removed by then, and what
  /// was inserted later is hidden. O(runs × log runs).
  public func view(at version: Version) -> SequenceView {
    let value = settled
    var hidden: [ElementRange] = []
    for author in value.authors {
      let last = version[author.id]
      let seen = Int(author.count(upTo: last))
      if seen < author.content.count {
        hidden.append(
          ElementRange(author: author.id, offset: seen, count: author.content.count - seen))
      }
      for removal in author.removals {
        if UInt64(removal.number) > last { break }
        let (offset, count) = removal.range(upTo: last)
        hidden.append(
          ElementRange(
            author: value.authors[Int(removal.target)].id, offset: Int(offset), count: Int(count)))
      }
    }
    return SequenceView(hidden: ElementRanges(hidden), revealed: nil)
  }

  /// All elements that were inserted later than a replica at `version` sees. O(authors × log runs).
  public func insertions(after version: Version) -> ElementRanges {
    let value = settled
    var later: [ElementRange] = []
    for author in value.authors {
      let seen = Int(author.count(upTo: version[author.id]))
      later.append(
        ElementRange(author: author.id, offset: seen, count: author.content.count - seen))
    }
    return ElementRanges(later)
  }

  /// The elements that one change inserted and removed, whether or not others had removed the same before, or have since.
  public struct Touched: Equatable, Sendable {
    public var inserted: ElementRange?
    public var removed: [ElementRange] = []
  }

  /// What each of some changes touched. O(n) for all, and for each O(log runs) and what it removed.
  public func touched(by changes: some Sequence<ChangeID>) -> [Touched] {
    let value = settled
    return changes.map { change in
      guard change.number > 0, let index = value.index(known: change.replica) else {
        return Touched()
      }
      let author = value.authors[Int(index)]
      let start = Int(author.count(upTo: change.number - 1))
      let count = Int(author.count(upTo: change.number)) - start
      var touched = Touched()
      if count > 0 {
        touched.inserted = ElementRange(author: change.replica, offset: start, count: count)
      }
      for removal in author.removals[author.removals.firstIndex(after: change.number - 1)...] {
        if UInt64(removal.number) > change.number { break }
        let (offset, count) = removal.dropping(upTo: change.number - 1).range(upTo: change.number)
        touched.removed.append(
          ElementRange(
            author: value.authors[Int(removal.target)].id, offset: Int(offset), count: Int(count)))
      }
      return touched
    }
  }

  /// How many elements a replica has inserted.
  public func count(by replica: ReplicaID) -> Int {
    let value = settled
    return value.index(known: replica).map { value.authors[Int($0)].content.count } ?? 0
  }

  /// The elements visible in `view`, in order. O(count + n), and the logarithm of the view's ranges for each piece.
  public func elements(in view: SequenceView) -> [Element] {
    let value = settled
    var result: [Element] = []
    value.forEachSegment(in: view) { segment in
      if segment.isInView { result.append(contentsOf: value.content(of: segment)) }
    }
    return result
  }

  /// What leads from `view` to the present, in offsets of `view`. Complexity as of `elements(in:)`.
  public func edits(from view: SequenceView) -> [Edit<Element>] {
    let value = settled
    var edits: [Edit<Element>] = []
    var offset = 0
    var isOpen = false
    value.forEachSegment(in: view) { segment in
      if segment.isInView != segment.isInPresent {
        if !isOpen {
          edits.append(Edit(range: offset..<offset, replacement: []))
          isOpen = true
        }
        let last = edits.count - 1
        if segment.isInView {
          edits[last].range = edits[last].range.lowerBound..<offset + segment.count
        } else {
          edits[last].replacement.append(contentsOf: value.content(of: segment))
        }
      } else if segment.isInView {
        isOpen = false
      }
      if segment.isInView { offset += segment.count }
    }
    return edits
  }

  /// The operations that make `edits`, which are sorted and in offsets of the present.
  /// O(log n) for each, and the pieces it removes.
  public func operations(for edits: [Edit<Element>]) -> [Operation] {
    var value = self
    var operations: [Operation] = []
    value.forEachOperation(for: edits) { operations.append($0) }
    return operations
  }

  /// The same one after the other, without a copy of the value, whose cursor moves to where they are made.
  public mutating func forEachOperation(
    for edits: [Edit<Element>], _ body: (Operation) -> Void
  ) {
    settle()
    for edit in edits.joiningNeighbours() {
      if !edit.replacement.isEmpty {
        let (left, right, _) = moveToGap(at: edit.range.lowerBound)
        body(.insert(edit.replacement, after: id(of: left), before: id(of: right)))
      }
      var rest = edit.range
      // A piece may end anywhere, inside a scalar too; a removal must not.
      var removed: ElementRange?
      while !rest.isEmpty {
        let skipped = tree.seek(rest.lowerBound)
        let count = min(tree.current.count - skipped, UInt32(rest.count))
        let next = range(tree.current.dropping(skipped).prefix(count))
        if let whole = removed?.joined(with: next) {
          removed = whole
        } else {
          if let removed { body(.remove(removed)) }
          removed = next
        }
        rest = rest.lowerBound + Int(count)..<rest.upperBound
      }
      if let removed { body(.remove(removed)) }
    }
  }

  /// The same for edits in offsets of `view`. What somebody else has removed already is removed again: whoever shows the
  /// view has removed it too. Complexity as of `elements(in:)`.
  public func operations(for edits: [Edit<Element>], in view: SequenceView) -> [Operation] {
    let value = settled
    let edits = edits.joiningNeighbours()
    var operations: [Operation] = []
    var next = 0
    var offset = 0
    var before: ElementID?
    /// Set when an insertion waits for the element that follows its place.
    var waiting: (replacement: [Element], after: ElementID?)?
    func begin() {
      while next < edits.count, edits[next].range.lowerBound == offset, waiting == nil {
        if !edits[next].replacement.isEmpty { waiting = (edits[next].replacement, before) }
        if edits[next].range.isEmpty { next += 1 } else { break }
      }
    }
    begin()
    value.forEachSegment(in: view) { segment in
      let author = value.authors[Int(segment.author)].id
      var start = segment.offset
      let end = segment.offset + segment.count
      while start < end {
        if let (replacement, after) = waiting {
          operations.append(
            .insert(replacement, after: after, before: ElementID(author: author, offset: start)))
          waiting = nil
        }
        guard segment.isInView else { return }
        var stop = end
        if next < edits.count {
          let edge =
            offset < edits[next].range.lowerBound
            ? edits[next].range.lowerBound : edits[next].range.upperBound
          stop = min(end, start + edge - offset)
          if offset >= edits[next].range.lowerBound {
            let range = ElementRange(author: author, offset: start, count: stop - start)
            if case .remove(let last) = operations.last, let whole = last.joined(with: range) {
              operations[operations.count - 1] = .remove(whole)
            } else {
              operations.append(.remove(range))
            }
          }
        }
        offset += stop - start
        start = stop
        before = ElementID(author: author, offset: stop - 1)
        if next < edits.count, !edits[next].range.isEmpty, offset == edits[next].range.upperBound {
          next += 1
        }
        begin()
      }
    }
    if let (replacement, after) = waiting {
      operations.append(.insert(replacement, after: after, before: nil))
    }
    return operations
  }

  // MARK: - Segments

  /// A part of a piece that a view shows, or doesn't, as a whole.
  struct Segment {
    var author: AuthorIndex
    var offset: Int
    var count: Int
    var isInView: Bool
    var isInPresent: Bool
  }

  private func content(of segment: Segment) -> ArraySlice<Element> {
    authors[Int(segment.author)].content[segment.offset..<segment.offset + segment.count]
  }

  /// Visits all elements in order, cut where visibility in `view` changes. Nothing is open.
  func forEachSegment(in view: SequenceView, _ body: (Segment) -> Void) {
    tree.forEachPiece { piece in
      let author = authors[Int(piece.author)].id
      var offset = Int(piece.offset)
      let end = Int(piece.end)
      while offset < end {
        let hidden = view.hidden.run(of: author, from: offset, to: end)
        var stop = hidden.end
        var isInView = !hidden.isMember
        if isInView && piece.isRemoved, let revealed = view.revealed {
          let run = revealed.run(of: author, from: offset, to: stop)
          isInView = run.isMember
          stop = run.end
        }
        body(
          Segment(
            author: piece.author, offset: offset, count: stop - offset, isInView: isInView,
            isInPresent: !piece.isRemoved))
        offset = stop
      }
    }
  }
}
