// Reading: the present, other states, and what leads from one to the other.

extension ReplicatingArray {
  /// The visible elements in order. O(count + n).
  public var values: [Element] { elements(withRoomFor: 0) }

  /// The visible elements in an array to which `more` can be appended before it is copied. O(count + n).
  func elements(withRoomFor more: Int) -> [Element] {
    if !open.isEmpty { return settled.elements(withRoomFor: more) }
    return elements(tree.visible, withRoomFor: more) { tree.forEachPiece($0) }
  }

  /// The visible elements of pieces, `count` of them.
  @inline(__always)
  func elements(
    _ count: Int, withRoomFor more: Int = 0, of pieces: ((Piece) -> Void) -> Void
  ) -> [Element] {
    [Element](unsafeUninitializedCapacity: count + more) { buffer, filled in
      // Most neighbours have one author: an array taken for each piece takes longer than to copy its elements.
      var author: AuthorIndex = 0
      var content = authors.first?.content ?? []
      pieces { piece in
        if piece.isRemoved { return }
        if piece.author != author {
          author = piece.author
          content = authors[Int(author)].content
        }
        let part = content.span.extracting(Int(piece.offset)..<Int(piece.end))
        // This is the bound of what is written below.
        precondition(part.count <= buffer.count &- filled)
        part.withUnsafeBufferPointer { part in
          guard let base = part.baseAddress, let end = buffer.baseAddress else { return }
          (end + filled).initialize(from: base, count: part.count)
        }
        filled &+= part.count
      }
    }
  }

  /// The state that a replica at `version` sees, without the changes that are withdrawn there: everything removed is revealed but what
  /// was removed by then, and what was inserted later is hidden. O(runs × log runs).
  public func view(
    at version: Version, without withdrawn: ChangeRanges = ChangeRanges()
  ) -> SequenceView {
    let value = settled
    var hidden = value.insertions(by: withdrawn)
    for author in value.authors {
      let last = version[author.id]
      let seen = Int(author.count(upTo: last))
      if seen < author.content.count {
        hidden.append(
          ElementRange(author: author.id, offset: seen, count: author.content.count - seen))
      }
      for removal in author.removals(without: withdrawn) {
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
    /// The elements it inserted; `nil` if it inserted none.
    public var inserted: ElementRange?
    /// The elements it removed, in the order in which it did.
    public var removed: [ElementRange] = []
  }

  /// The elements that each of some changes touched. O(n) for all, and for each O(log runs) and what it removed.
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

  /// The elements that a change inserted; nil if it inserted none. O(log runs).
  public func elements(insertedBy change: ChangeID) -> ElementRange? {
    let value = settled
    guard let index = value.index(known: change.replica), change.number > 0 else { return nil }
    let author = value.authors[Int(index)]
    let start = Int(author.count(upTo: change.number - 1))
    let count = Int(author.count(upTo: change.number)) - start
    return count > 0 ? ElementRange(author: change.replica, offset: start, count: count) : nil
  }

  /// The change that inserted an element; nil if that is not here. O(log runs).
  public func insertion(of element: ElementID) -> ChangeID? {
    let value = settled
    guard let index = value.index(known: element.author), element.offset >= 0,
      element.offset < value.authors[Int(index)].content.count
    else { return nil }
    let number = value.authors[Int(index)].number(of: UInt32(element.offset))
    return ChangeID(replica: element.author, number: number)
  }

  /// The number of elements that a replica has inserted.
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

  /// The edits that lead from `view` to the present, in offsets of `view`. Complexity as of `elements(in:)`.
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
  /// O(log n) for each, and the pieces it removes, or those that were removed where it inserts something (`origins(in:)`).
  ///
  /// - Parameter last: the change with which the edits go on: what they insert directly behind what that inserted stays beside it. What
  ///   was typed letter by letter in the place of a word is not to be parted by what others write behind the word.
  public func operations(
    for edits: [Edit<Element>], goingOnFrom last: ChangeID? = nil
  ) -> [Operation] {
    var value = self
    var operations: [Operation] = []
    value.forEachOperation(for: edits, goingOnFrom: last) { operations.append($0) }
    return operations
  }

  /// The same one after the other, without a copy of the value, whose cursor moves to where they are made.
  public mutating func forEachOperation(
    for edits: [Edit<Element>], goingOnFrom last: ChangeID? = nil, _ body: (Operation) -> Void
  ) {
    settle()
    // As a rule.
    if edits.count == 1 {
      return replace(edits[0], at: place(ofReplacementBy: edits[0]), goingOnFrom: last, body)
    }
    let edits = edits.joiningNeighbours()
    var places = edits.map { place(ofReplacementBy: $0) }
    places.part(edits)
    for (edit, place) in zip(edits, places) { replace(edit, at: place, goingOnFrom: last, body) }
  }

  /// The operations of one edit, which inserts at `place`.
  private mutating func replace(
    _ edit: Edit<Element>, at place: Int, goingOnFrom last: ChangeID?, _ body: (Operation) -> Void
  ) {
    if !edit.replacement.isEmpty {
      let (left, right) =
        edit.convertsLineEnd
        ? originsOfLineEnd(at: place, edit)
        : origins(
          at: place, isBeside: !edit.contains(place),
          goingOnFrom: edit.range.isEmpty ? last : nil)
      body(insertion(edit, left, right))
    }
    var rest = edit.range
    // A piece may end anywhere, inside a scalar too; a removal must not.
    var removed: ElementRange?
    while !rest.isEmpty {
      let skipped = tree.seek(rest.lowerBound)
      let count = Swift.min(tree.current.count - skipped, UInt32(rest.count))
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

  /// The same for edits in offsets of `view`. An element that is removed already is removed again, because it is
  /// visible in the view. What is inserted stands between elements that the view had not `unseen`. Complexity as of `elements(in:)`.
  public func operations(
    for edits: [Edit<Element>], in view: SequenceView, goingOnFrom last: ChangeID? = nil
  ) -> [Operation] {
    let value = settled
    let edits = edits.joiningNeighbours()
    var places = value.places(ofReplacementsBy: edits, in: view)
    places.part(edits)
    var operations: [Operation] = []
    var next = 0
    var isInserted = false
    var removed: [ElementRange] = []
    var offset = 0
    var before = LocalID.none
    /// Set when an insertion at a place waits for the element that follows. `isBeside` as of `origins(at:isBeside:goingOnFrom:)`.
    var waiting: (edit: Edit<Element>, place: Int, gap: Gap, isBeside: Bool)?
    func begin() {
      while next < edits.count, waiting == nil {
        let edit = edits[next]
        if offset == places[next], !edit.replacement.isEmpty, !isInserted {
          let goesOn = edit.range.isEmpty && value.isInserted(before, by: last)
          waiting = (edit, offset, Gap(left: before), !edit.contains(offset) && !goesOn)
          isInserted = true
        }
        guard offset == edit.range.upperBound else { return }
        operations += removed.map { .remove($0) }
        (next, isInserted, removed) = (next + 1, false, [])
      }
    }
    /// Inserts what waits.
    func insert(_ edit: Edit<Element>, at place: Int, _ gap: Gap) {
      let (left, right) =
        edit.convertsLineEnd
        ? gap.origins(isInFront: edit.isInFront(at: place))
        : value.origins(in: gap, by: last?.replica)
      operations.append(value.insertion(edit, left, right))
      waiting = nil
      begin()
    }
    begin()
    value.forEachSegment(in: view) { segment in
      let author = value.authors[Int(segment.author)].id
      var start = segment.offset
      let end = segment.offset + segment.count
      while start < end {
        if var waited = waiting {
          let unseen = view.unseen.run(of: author, from: start, to: end)
          if unseen.isMember {
            start = unseen.end
            continue
          }
          if waited.isBeside, !segment.isInView,
            !waited.gap.isFull || waited.edit.convertsLineEnd
          {
            waiting!.gap.removed.append(
              Piece(segment.author, UInt32(start), UInt32(unseen.end - start)))
            start = unseen.end
            continue
          }
          waited.gap.right = LocalID(segment.author, UInt32(start))
          insert(waited.edit, at: waited.place, waited.gap)
        }
        guard segment.isInView else { return }
        var stop = end
        if next < edits.count {
          let range = edits[next].range
          let edge =
            offset < range.lowerBound
            ? range.lowerBound : offset < places[next] ? places[next] : range.upperBound
          stop = Swift.min(end, start + edge - offset)
          if offset >= range.lowerBound {
            let range = ElementRange(author: author, offset: start, count: stop - start)
            if let whole = removed.last?.joined(with: range) {
              removed[removed.count - 1] = whole
            } else {
              removed.append(range)
            }
          }
        }
        offset += stop - start
        start = stop
        before = LocalID(segment.author, UInt32(stop - 1))
        begin()
      }
    }
    if let waiting { insert(waiting.edit, at: waiting.place, waiting.gap) }
    return operations
  }

  // MARK: - Insertions

  /// The elements between which something is inserted at a position.
  ///
  /// - Parameter isBeside: true if it may stand behind removed elements. What stands inside of what it replaces is parted from it by nothing.
  private mutating func origins(
    at position: Int, isBeside: Bool, goingOnFrom last: ChangeID?
  ) -> (left: LocalID, right: LocalID) {
    let (left, right, skipped) = moveToGap(at: position)
    guard isBeside, left.isNone ? !tree.isEmpty : skipped == tree.current.count,
      !isInserted(left, by: last)
    else { return (left, right) }
    let cursor = tree.cursor
    defer { tree.cursor = cursor }
    var gap = Gap(left: left)
    var isAtStart = left.isNone
    while isAtStart || tree.stepForward() {
      isAtStart = false
      if !tree.current.isRemoved || gap.isFull {
        gap.right = tree.current.first
        break
      }
      gap.removed.append(tree.current)
    }
    return origins(in: gap, by: last?.replica)
  }

  /// The insertion of an edit's replacement. Beside a line end that is spared it is no converted one (LineEnds.swift).
  private func insertion(_ edit: Edit<Element>, _ left: LocalID, _ right: LocalID) -> Operation {
    var edit = edit
    if edit.convertsLineEnd, spared.contains(left) || spared.contains(right) { edit.divider = [] }
    return edit.insertion(after: id(of: left), before: id(of: right))
  }

  /// The elements between which a converted line end is inserted at a position: one of them is that line end.
  private mutating func originsOfLineEnd(
    at position: Int, _ edit: Edit<Element>
  ) -> (left: LocalID, right: LocalID) {
    let (left, right, skipped) = moveToGap(at: position)
    guard edit.isInFront(at: position), left.isNone || skipped == tree.current.count else {
      return (left, right)
    }
    // Directly in front of the next visible element.
    let cursor = tree.cursor
    defer { tree.cursor = cursor }
    _ = tree.seek(position)
    let next = tree.current.first
    return (tree.stepBackward() ? tree.current.last : .none, next)
  }

  private func isInserted(_ element: LocalID, by change: ChangeID?) -> Bool {
    guard let change, !element.isNone else { return false }
    let author = authors[Int(element.author)]
    return author.id == change.replica && author.number(of: element.offset) == change.number
  }

  // MARK: - Replacements

  /// Where in the removed range what replaces it is inserted: behind its first scalar, or element.
  ///
  /// Inside it, because another replica may insert right before or right behind the range at the same time, a line above or
  /// the end of a sentence, and that text stays there. At its ends, which comes first would be left to chance. Of a single
  /// scalar there is no inside: behind it, if it begins a line, since lines are inserted whole; else before it.
  private static func place(
    ofReplacementOf range: Range<Int>, beginningWith first: Element, behind previous: Element?
  ) -> Int {
    guard Element.self == UInt8.self else {
      return range.count > 1 ? range.lowerBound + 1 : range.lowerBound
    }
    let byte = first as! UInt8
    let length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
    if length < range.count { return range.lowerBound + length }
    return previous.map { $0 as! UInt8 == 0x0A } ?? true ? range.upperBound : range.lowerBound
  }

  private mutating func place(ofReplacementBy edit: Edit<Element>) -> Int {
    let start = edit.range.lowerBound
    if edit.range.isEmpty { return start }
    let previous = start > 0 ? element(at: start - 1) : nil
    return Self.place(
      ofReplacementOf: edit.range, beginningWith: element(at: start), behind: previous)
  }

  private mutating func element(at position: Int) -> Element {
    let skipped = tree.seek(position)
    let piece = tree.current
    return authors[Int(piece.author)].content[Int(piece.offset &+ skipped)]
  }

  private func places(ofReplacementsBy edits: [Edit<Element>], in view: SequenceView) -> [Int] {
    var places = edits.map(\.range.lowerBound)
    var next = 0
    func skip() {
      while next < edits.count, edits[next].range.isEmpty || edits[next].replacement.isEmpty {
        next += 1
      }
    }
    skip()
    if next == edits.count { return places }
    var offset = 0
    var previous: Element?
    forEachSegment(in: view) { segment in
      guard segment.isInView else { return }
      let content = content(of: segment)
      while next < edits.count, edits[next].range.lowerBound < offset + segment.count {
        let start = edits[next].range.lowerBound
        let index = content.startIndex + start - offset
        places[next] = Self.place(
          ofReplacementOf: edits[next].range, beginningWith: content[index],
          behind: start > offset ? content[index - 1] : previous)
        next += 1
        skip()
      }
      offset += segment.count
      previous = content.last
    }
    return places
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

extension Edit {
  /// True if a place is inside of what the edit removes.
  fileprivate func contains(_ place: Int) -> Bool {
    range.lowerBound < place && place < range.upperBound
  }

  /// True if a converted line end is to stand directly in front of what is visible behind a place, and not directly behind what is before it.
  fileprivate func isInFront(at place: Int) -> Bool {
    range.isEmpty ? (divider as? [UInt8]) == [0x0D] : place == range.lowerBound
  }

  /// The insertion of the replacement, with the divider if something is replaced or a line end converted.
  fileprivate func insertion(
    after left: ElementID?, before right: ElementID?
  ) -> ReplicatingArray<Element>.Operation {
    if divider.isEmpty || range.isEmpty && !convertsLineEnd {
      return .insert(replacement, after: left, before: right)
    }
    return .insert(replacement + divider, after: left, before: right, divider: divider.count)
  }
}

extension [Int] {
  /// Moves the places of replacements of one scalar apart, so that of edits that touch each other no two insert at one place. An edit takes the
  /// first of its places that is free; `joiningNeighbours` leaves one for each.
  fileprivate mutating func part<Content>(_ edits: [Edit<Content>]) {
    func inserts(_ index: Int) -> Bool { !edits[index].replacement.isEmpty }
    func touches(_ index: Int) -> Bool {
      index > 0 && edits[index - 1].range.upperBound == edits[index].range.lowerBound
    }
    /// True if an edit inserts where the one before it does.
    func isBesidePrevious(_ index: Int) -> Bool {
      touches(index) && inserts(index - 1) && inserts(index) && self[index] == self[index - 1]
    }
    var start = 0
    while start < count {
      var end = start + 1
      while end < count, touches(end) { end += 1 }
      if (start..<end).contains(where: isBesidePrevious) {
        for index in start..<end where inserts(index) {
          let range = edits[index].range
          guard self[index] == range.lowerBound || self[index] == range.upperBound else { continue }
          self[index] = range.lowerBound
          if isBesidePrevious(index) { self[index] = range.upperBound }
        }
      }
      start = end
    }
  }
}
