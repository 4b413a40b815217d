// Joining changes into a sequence in which nothing is: by a list, and the tree once at the end.
//
// While changes are joined nobody asks for a position, so no tree is needed to count. The elements are linked in document
// order (ElementList.swift), a step changes a link or two, and at the end the tree is built of the pieces that stand in the
// list. What authors made, their runs of origins, stamps and removals, is recorded as by any other way.
//
// The value is the same as by making each step in the tree. An insertion whose origins are neighbours goes between them.
// For any other the rule of ReplicatingArray+Order.swift is followed from chain to chain, as it is there. A removal changes no order.
// Only the pieces may be cut otherwise, which is no part of the value, and no hint about a crowd is kept: a hint only saves time.
//
// A step that does not plainly keep the rules of `joinChecked`, one beside more than a few concurrent insertions, and removing
// everything many times end this. The tree is built then, and the other steps are made, and looked at, as in any sequence.
//
// O(runs × log authors + elements / 64) for all. A step takes O(1) where the origins of an insertion are neighbours, O(elements
// removed / 64) for a removal, and up to 64 steps from run to run beside concurrent insertions, each O(its elements / 64). 34 bits
// for each element meanwhile.

extension ReplicatingArray.Changes {
  /// True if joining them by a list takes less time than step by step: from some 64 steps on, unless these are few and long.
  var areWorthLoading: Bool {
    let steps = insertions.count + removals.count
    return steps >= 64 && content.count / 1024 <= steps
  }
}

extension ReplicatingArray {
  /// Joins the first steps of changes, all of them as a rule, if nothing is here and there are many. Returns the place behind these.
  mutating func load(_ changes: Changes, _ names: inout Names) -> Changes.StepIndex {
    changes.areWorthLoading ? loadByList(changes, &names) : Changes.StepIndex()
  }

  /// The same, however few there are.
  mutating func loadByList(_ changes: Changes, _ names: inout Names) -> Changes.StepIndex {
    var made = Changes.StepIndex()
    // Without pieces no removal is here either, but the last numbers of authors may be.
    guard tree.isEmpty, !changes.insertions.isEmpty, var list = list(for: changes, &names)
    else { return made }
    let bounds = changes.authors.map { (changes.since[$0], changes.version[$0]) }
    var next = made
    while let step = changes.step(at: &next) {
      let isMade =
        switch step {
        case .insertion(let insertion, let elements):
          bounds[Int(insertion.author)].0 < insertion.number
            && insertion.lastNumber <= bounds[Int(insertion.author)].1
            && load(insertion, elements, changes, &names, &list)
        case .removal(let removal):
          bounds[Int(removal.author)].0 < UInt64(removal.run.number)
            && removal.run.lastNumber <= bounds[Int(removal.author)].1
            && load(removal, changes, &names, &list)
        }
      guard isMade else { break }
      made = next
    }
    build(from: list)
    return made
  }

  private mutating func list(for changes: Changes, _ names: inout Names) -> ElementList? {
    var totals = Array(repeating: 0, count: authors.count)
    for insertion in changes.insertions {
      let author = Int(names.index(insertion.author, changes.authors, &self))
      while totals.count <= author { totals.append(0) }
      totals[author] &+= Int(insertion.count)
    }
    guard totals.allSatisfy({ $0 <= Self.maximumCount }), ElementList.hasRoom(for: totals) else {
      return nil
    }
    for (author, total) in totals.enumerated() { authors[author].content.reserveCapacity(total) }
    return ElementList(totals)
  }

  // MARK: - Steps

  /// Makes an insertion, or, if that is not to be done here, nothing.
  @inline(__always)
  private mutating func load(
    _ insertion: Changes.Insertion, _ elements: Range<Int>, _ changes: Changes,
    _ names: inout Names, _ list: inout ElementList
  ) -> Bool {
    let author = names.index(insertion.author, changes.authors, &self)
    let left = names.element(insertion.left, changes.authors, &self)
    let right = names.element(insertion.right, changes.authors, &self)
    let first = list.count(by: author)
    let end = insertion.lamport &+ UInt64(insertion.count) &- 1
    guard insertion.offset == first, insertion.count > 0, list.contains(left), list.contains(right),
      insertion.number > names.known[Int(insertion.author)],
      insertion.number >= authors[Int(author)].lastNumber, end <= changes.lamport,
      insertion.lamport >= leastTime(ofNext: insertion.number, by: author)
    else { return false }
    if insertion.lamport <= lamport {
      guard insertion.lamport > names.latestRemoved.time(of: author, in: self),
        isEarlier(left, than: insertion.lamport), isEarlier(right, than: insertion.lamport)
      else { return false }
    }
    var place = list.number(of: left)
    if list.follower(of: place) != list.number(of: right) {
      let precedence = Precedence(
        rank: rank(of: changes.content[elements.lowerBound], behind: left),
        count: insertion.lamport, replica: authors[Int(author)].id)
      guard let resolved = resolve(precedence, left, right, author, list) else { return false }
      place = resolved
    }
    list.insert(insertion.count, by: author, behind: place)
    authors[Int(author)].recordInsertion(
      first, count: insertion.count, number: insertion.number, lamport: insertion.lamport,
      isStepping: insertion.isStepping, left: left, right: right, me: author)
    authors[Int(author)].append(changes.content.span.extracting(elements))
    if end > lamport {
      lamport = end
      latest.set(authors[Int(author)].id)
    }
    return true
  }

  private func isEarlier(_ element: LocalID, than lamport: UInt64) -> Bool {
    element.isNone || authors[Int(element.author)].lamport(of: element.offset) < lamport
  }

  /// Makes a removal, or, if that is not to be done here, nothing.
  @inline(__always)
  private mutating func load(
    _ removal: Changes.Removal, _ changes: Changes, _ names: inout Names,
    _ list: inout ElementList
  ) -> Bool {
    let author = names.index(removal.author, changes.authors, &self)
    let known = names.known[Int(removal.author)]
    guard removal.run.lastNumber > known else { return true }
    var run = removal.run.dropping(upTo: known)
    run.target = names.index(run.target, changes.authors, &self)
    guard run.count > 0, run.offset &+ run.count > run.offset,
      UInt64(run.number) >= authors[Int(author)].lastNumber,
      list.contains(LocalID(run.target, run.offset &+ run.count &- 1)),
      !removesUnseen(run, of: run.target, by: author),
      list.remove(run.offset, run.count, of: run.target)
    else { return false }
    authors[Int(author)].record(run)
    return true
  }

  // MARK: - Order

  /// The element behind which an insertion goes between whose origins something stands already; `nil` if finding it takes
  /// more than a few steps from run to run.
  @inline(never)
  private func resolve(
    _ precedence: Precedence, _ left: LocalID, _ right: LocalID, _ author: AuthorIndex,
    _ list: borrowing ElementList
  ) -> ElementList.Number? {
    let (start, stop) = (list.number(of: left), list.number(of: right))
    var steps = 0
    let first = list.element(list.follower(of: start))
    guard right.isNone || isMet(stop, from: list.number(of: first), to: 0, list, &steps) == true,
      first.author != author, first.author != left.author || first.offset > left.offset,
      first.author != right.author || first.offset > right.offset
    else { return nil }
    // A left child of `right` that has no other.
    if !right.isNone, self.left(of: right) == left {
      var before = start
      repeat {
        let next = list.follower(of: before)
        if next == 0 || steps == Self.mostSteps { return nil }
        if next == stop { break }
        before = list.end(of: next)
        steps &+= 1
      } while true
      if self.right(of: list.element(before)) != right { return before }
    }
    var place = start
    var destination = start
    var isPassing = false
    while true {
      let next = list.follower(of: place)
      if next == stop || next == 0 { break }
      steps &+= 1
      if steps > Self.mostSteps { return nil }
      let other = list.element(next)
      let otherLeft = self.left(of: other)
      if otherLeft == left {
        let otherRight = self.right(of: other)
        if otherRight == right {
          if precedence > self.precedence(of: other, behind: left) { break }
          isPassing = false
        } else {
          let met =
            right.isNone
            ? !otherRight.isNone
            : isMet(list.number(of: otherRight), from: next, to: stop, list, &steps)
          guard let isBefore = met else { return nil }
          isPassing = isBefore
        }
      } else if otherLeft.isNone {
        break
      } else if !left.isNone {
        let met = isMet(
          list.number(of: otherLeft), from: list.follower(of: start), to: next, list, &steps)
        guard let isBehind = met else { return nil }
        if !isBehind { break }
      }
      let length = list.end(of: next) &- next &+ 1
      let end = chain(from: other, upTo: other.offset &+ length, before: right)
      place = next &+ (end &- other.offset) &- 1
      if !isPassing { destination = place }
    }
    return destination
  }

  /// So many steps from run to run are made for one insertion at most.
  private static var mostSteps: Int { 64 }

  /// True if an element stands between one, or is that, and the one at which to stop; 0 is the end. `nil` if that takes too
  /// many steps.
  private func isMet(
    _ element: ElementList.Number, from start: ElementList.Number, to stop: ElementList.Number,
    _ list: borrowing ElementList, _ steps: inout Int
  ) -> Bool? {
    var next = start
    while next != stop, next != 0 {
      let end = list.end(of: next)
      let holdsStop = next < stop && stop <= end
      if next <= element, element <= end { return !holdsStop || element < stop }
      if holdsStop { return false }
      steps &+= 1
      if steps > Self.mostSteps { return nil }
      next = list.follower(of: end)
    }
    return false
  }

  // MARK: - The end

  /// Makes the tree of all that is in the list. The authors have its elements.
  private mutating func build(from list: borrowing ElementList) {
    isIndexed = false
    let pieces = list.pieces(largest: tree.sizes.piece)
    guard !isASCII else {
      tree = PieceTree(tree.sizes, of: pieces, isASCII: true)
      return
    }
    var count = 0
    for piece in pieces { count &+= piece.visibleCount }
    let text = same(elements(count) { pieces.forEach($0) }, as: [UInt8].self)
    let span = text.span
    tree = PieceTree(tree.sizes, of: pieces, isASCII: false) { TextWeight(of: span.extracting($0)) }
  }
}
