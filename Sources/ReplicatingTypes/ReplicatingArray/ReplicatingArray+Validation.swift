extension ReplicatingArray {
  /// True if a replica may write into the sequence.
  public func hasRoom(for author: ReplicaID) -> Bool {
    authors.count < Self.maximumAuthors || index(known: author) != nil
  }

  /// Looks whether an operation from outside may be applied, and throws when not: its author can have made it, and every
  /// author would agree where it goes. `isKnown` tells whether the author had seen a change; what the operation refers to
  /// must be among those.
  ///
  /// O(log n) when nothing was inserted concurrently at its place, else O(pieces between its origins). With `awareness` not even that
  /// where the author has typed on, or where many have inserted at one place whose awareness differs in little: O(log n) for each replica
  /// in which it does.
  public mutating func validate(
    _ operation: Operation, by author: ReplicaID, _ awareness: Awareness? = nil,
    isKnown: (ChangeID) -> Bool
  ) throws(InvalidChange) {
    settle()
    guard hasRoom(for: author) else {
      throw InvalidChange("more than \(Self.maximumAuthors) replicas in one sequence")
    }
    switch operation {
    case .insert(let elements, let left, let right, let divider):
      guard !elements.isEmpty else { throw InvalidChange("an insertion of nothing") }
      guard (0..<elements.count).contains(divider) else {
        throw InvalidChange("a divider of nothing")
      }
      let present = index(known: author).map { authors[Int($0)].content.count } ?? 0
      guard elements.count <= Self.maximumCount - present else {
        throw InvalidChange("more than \(Self.maximumCount) elements by one author")
      }
      let leftElement = try checked(left, isKnown)
      let rightElement = try checked(right, isKnown)
      if isTypedOn(leftElement, rightElement, by: author, awareness) { return }
      try validateGap(leftElement, rightElement, by: author, awareness, isKnown)
    case .remove(let range):
      guard range.count > 0, range.offset >= 0 else { throw InvalidChange("a removal of nothing") }
      guard let index = index(known: range.author),
        range.offset < authors[Int(index)].content.count,
        range.count <= authors[Int(index)].content.count - range.offset,
        isKnown(change(of: LocalID(index, UInt32(range.end - 1))))
      else { throw InvalidChange("a removal of elements that its author could not know") }
    }
  }

  /// The change that inserted an element.
  private func change(of element: LocalID) -> ChangeID {
    let authors = authors.span
    return ChangeID(
      replica: authors[Int(element.author)].id,
      number: authors[Int(element.author)].number(of: element.offset))
  }

  private func checked(
    _ element: ElementID?, _ isKnown: (ChangeID) -> Bool
  ) throws(InvalidChange) -> LocalID {
    guard let element else { return .none }
    guard let index = index(known: element.author), element.offset >= 0,
      element.offset < authors[Int(index)].content.count,
      isKnown(change(of: LocalID(index, UInt32(element.offset))))
    else { throw InvalidChange("an origin that its author could not know") }
    return LocalID(index, UInt32(element.offset))
  }

  /// True if an insertion goes on behind the last element of its author, before the same element as that, and the author has seen nothing new
  /// since then. Then all that stands between is as unknown to it as it was.
  private func isTypedOn(
    _ left: LocalID, _ right: LocalID, by author: ReplicaID, _ awareness: Awareness?
  ) -> Bool {
    guard let awareness, !left.isNone else { return false }
    let authors = authors.span
    return authors[Int(left.author)].id == author
      && left.offset + 1 == authors[Int(left.author)].count
      && authors[Int(left.author)].number(of: left.offset) >= awareness.since
      && authors[Int(left.author)].right(of: left.offset) == right
  }

  /// Between the origins of an insertion there may be only what its author had not seen.
  private mutating func validateGap(
    _ left: LocalID, _ right: LocalID, by author: ReplicaID, _ awareness: Awareness?,
    _ isKnown: (ChangeID) -> Bool
  ) throws(InvalidChange) {
    if tree.isEmpty { return }
    let gap = SiblingCache.Gap(left: left, right: right)
    if let awareness, siblings.isUnseen(at: gap, by: author, awareness.version) { return }
    var skipped: UInt32 = 0
    if left.isNone {
      tree.moveToStart()
    } else {
      locate(left)
      skipped = left.offset - tree.current.offset + 1
    }
    var between: [ChangeID] = []
    while true {
      if skipped == tree.current.count {
        guard tree.stepForward() else {
          if right.isNone { break }
          throw InvalidChange("a right origin that stands before the left one")
        }
        skipped = 0
      }
      let next = LocalID(tree.current.author, tree.current.offset + skipped)
      if next == right { break }
      let change = change(of: next)
      if isKnown(change) { throw InvalidChange("origins that never stood side by side") }
      between.append(change)
      if tree.current.contains(right), right.offset > next.offset { break }
      skipped = tree.current.count
    }
    if let awareness { siblings.remember(between, unseenBy: awareness.version, at: gap) }
  }
}

extension ReplicatingArray<UInt8> {
  /// True if a scalar begins at `offset` of what `author` inserted, or its text ends there or before.
  func isScalarBoundary(_ author: ReplicaID, _ offset: Int) -> Bool {
    guard let index = index(known: author) else { return true }
    let content = authors[Int(index)].content
    return offset >= content.count || content[offset] & 0xC0 != 0x80
  }

  /// True if everything in it is whole scalars: what was inserted, what stands side by side, and what was removed.
  func validateScalars() throws(InvalidChange) {
    for author in authors where !author.content.span.isText {
      throw InvalidChange("text that is not valid UTF-8, or holds U+0000")
    }
    if isASCII { return }
    for (place, author) in authors.enumerated() {
      for (index, run) in author.stamps.enumerated() {
        let end = index + 1 < author.stamps.count ? author.stamps[index + 1].first : author.count
        try author.validateScalars(run.first..<end, isStepping: run.isStepping)
      }
      for origin in author.origins {
        let goesOn =
          origin.first > 0 && origin.left == LocalID(AuthorIndex(place), origin.first - 1)
        guard goesOn || isScalarBoundary(origin.left, behind: 1),
          isScalarBoundary(origin.right, behind: 0)
        else { throw InvalidChange("an insertion inside a scalar") }
      }
      for run in author.removals { try validateScalars(of: run, authors[Int(run.target)].content) }
    }
    var previous: Piece?
    var isWhole = true
    tree.forEachPiece { piece in
      let byte = authors[Int(piece.author)].content[Int(piece.offset)]
      if byte & 0xC0 == 0x80 {
        isWhole =
          isWhole && previous?.end == piece.offset && previous?.author == piece.author
          && previous?.isRemoved == piece.isRemoved
      } else if let previous {
        let content = authors[Int(previous.author)].content
        let end = Int(previous.end)
        isWhole = isWhole && (end == content.count || content[end] & 0xC0 != 0x80)
      }
      previous = piece
    }
    guard isWhole else { throw InvalidChange("a scalar that is torn") }
  }

  private func isScalarBoundary(_ element: LocalID, behind: Int) -> Bool {
    if element.isNone { return true }
    let offset = Int(element.offset) + behind
    let content = authors[Int(element.author)].content
    return offset == content.count || content[offset] & 0xC0 != 0x80
  }

  private func validateScalars(
    of run: RemovalRun, _ content: [UInt8]
  ) throws(InvalidChange) {
    let (start, end) = (Int(run.offset), Int(run.offset + run.count))
    guard content[start] & 0xC0 != 0x80, end == content.count || content[end] & 0xC0 != 0x80,
      run.order == .atOnce || content[start..<end].allSatisfy({ $0 < 0x80 })
    else { throw InvalidChange("a removal of part of a scalar") }
  }

  /// True if changes that were joined here hold whole scalars and lie between whole scalars.
  ///
  /// A run may begin inside a scalar, if it goes on behind its author's element before it: runs are as long as stamps go,
  /// and these change inside a scalar when one of a single byte is followed by one of several.
  func validateScalars(of changes: Changes) throws(InvalidChange) {
    guard !changes.content.span.containsZero else {
      throw InvalidChange("text that is not valid UTF-8, or holds U+0000")
    }
    if isASCII { return }
    for insertion in changes.insertions {
      let author = authors[Int(authorIndex[changes.authors[Int(insertion.author)]]!)]
      let content = author.content
      var start = Int(insertion.offset)
      var end = start + Int(insertion.count)
      while start > 0, content[start] & 0xC0 == 0x80 { start -= 1 }
      while end < content.count, content[end] & 0xC0 == 0x80 { end += 1 }
      guard !content[start..<end].span.containsZero,
        String(validating: content[start..<end], as: UTF8.self) != nil
      else { throw InvalidChange("text that is not valid UTF-8, or holds U+0000") }
      try author.validateScalars(
        insertion.offset..<insertion.offset + insertion.count, isStepping: insertion.isStepping)
      let goesOn =
        insertion.left.author == insertion.author && insertion.left.offset &+ 1 == insertion.offset
      guard goesOn || isBoundary(insertion.left, behind: true, changes),
        isBoundary(insertion.right, behind: false, changes)
      else { throw InvalidChange("an insertion inside a scalar") }
    }
    for removal in changes.removals {
      let author = changes.authors[Int(removal.run.target)]
      let offset = Int(removal.run.offset)
      let isSingle = removal.run.order != .atOnce && removal.run.count > 1
      guard isScalarBoundary(author, offset),
        isScalarBoundary(author, offset + Int(removal.run.count)),
        !isSingle || isASCII(author, offset, Int(removal.run.count))
      else { throw InvalidChange("a removal of part of a scalar") }
    }
  }

  /// True if it is certain, before they are joined, that changes of one step hold whole scalars and lie between whole ones.
  /// Nothing is open.
  func areWholeScalars(_ changes: Changes) -> Bool {
    for insertion in changes.insertions {
      let author = index(known: changes.authors[Int(insertion.author)])
      // The part of it that is here may be other than it says.
      guard insertion.offset == author.map({ authors[Int($0)].count }) ?? 0,
        !changes.content.span.containsZero, !insertion.isStepping || !changes.content.span.isTorn(),
        String(validating: changes.content, as: UTF8.self) != nil,
        isBoundary(insertion.left, behind: true, changes),
        isBoundary(insertion.right, behind: false, changes)
      else { return false }
    }
    return changes.removals.isEmpty
  }

  private func isBoundary(_ element: LocalID, behind: Bool, _ changes: Changes) -> Bool {
    if element.isNone { return true }
    return isScalarBoundary(
      changes.authors[Int(element.author)], Int(element.offset) + (behind ? 1 : 0))
  }

  /// A run that is removed one by one consists of single bytes.
  private func isASCII(_ author: ReplicaID, _ offset: Int, _ count: Int) -> Bool {
    guard let index = authorIndex[author] else { return true }
    return authors[Int(index)].content.dropFirst(offset).prefix(count).allSatisfy { $0 < 0x80 }
  }
}

extension AuthorLog<UInt8> {
  /// True if each scalar that ends in a run of insertions was inserted by one change. Element by element, a change brings
  /// no more than the last byte of one, or the first.
  fileprivate func validateScalars(
    _ range: Range<UInt32>, isStepping: Bool
  ) throws(InvalidChange) {
    let first = range.lowerBound
    let bytes = content.span.extracting(Int(first)..<Int(range.upperBound))
    guard !isStepping || !bytes.isTorn(),
      bytes[0] & 0xC0 != 0x80 || first > 0 && number(of: first) == number(of: first - 1)
    else { throw InvalidChange("a scalar by more than one change") }
  }
}

extension Span<UInt8> {
  /// True if a byte behind the first one belongs to a scalar that began before it.
  fileprivate func isTorn() -> Bool {
    var continuations: UInt8 = 0
    for index in 1..<Swift.max(count, 1) {
      continuations |= self[index] & 0xC0 == 0x80 ? 1 : 0
    }
    return continuations != 0
  }
}
