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
// The order of two elements can be found out only by going from run to run. So an insertion beside more than a few
// concurrent ones ends this, and so does removing everything many times, and whatever valid changes don't have. The tree
// is built then, and the other steps are made as in any sequence.
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
  /// The steps of some changes that were made already.
  struct MadeSteps {
    var insertions = 0
    var removals = 0
    /// Of those insertions.
    var elements = 0
    /// The insertions, and the elements of them, that their authors have.
    var taken = (insertions: 0, elements: 0)
  }

  /// Joins the first steps of changes: all of them, as a rule, or none if anything is here already.
  mutating func load(_ changes: Changes, _ names: inout Names) -> MadeSteps {
    var made = MadeSteps()
    guard isBlank, !changes.insertions.isEmpty, var list = list(for: changes, &names)
    else { return made }
    while true {
      if made.removals < changes.removals.count,
        made.insertions == changes.insertions.count
          || changes.removals[made.removals].place <= made.insertions
      {
        guard load(changes.removals[made.removals], changes, &names, &list) else { break }
        made.removals &+= 1
      } else if made.insertions < changes.insertions.count {
        let insertion = changes.insertions[made.insertions]
        guard load(insertion, changes, &made, &names, &list) else { break }
        made.insertions &+= 1
        made.elements &+= Int(insertion.count)
      } else {
        break
      }
    }
    takeContent(of: changes, &made, &names)
    build(from: list)
    return made
  }

  /// True if nothing was ever inserted here. Then no removal is here either, but the last numbers of authors may be.
  private var isBlank: Bool { tree.isEmpty }

  private mutating func list(for changes: Changes, _ names: inout Names) -> ElementList? {
    var totals = Array(repeating: 0, count: authors.count)
    for insertion in changes.insertions {
      let author = Int(names.index(insertion.author, changes.authors, &self))
      while totals.count <= author { totals.append(0) }
      totals[author] &+= Int(insertion.count)
    }
    return ElementList.hasRoom(for: totals) ? ElementList(totals) : nil
  }

  // MARK: - Steps

  /// Makes an insertion, or, if that is not to be done here, nothing.
  @inline(__always)
  private mutating func load(
    _ insertion: Changes.Insertion, _ changes: Changes, _ made: inout MadeSteps,
    _ names: inout Names, _ list: inout ElementList
  ) -> Bool {
    let author = names.index(insertion.author, changes.authors, &self)
    let left = names.element(insertion.left, changes.authors, &self)
    let right = names.element(insertion.right, changes.authors, &self)
    let first = list.count(by: author)
    guard insertion.offset == first, insertion.count > 0, list.contains(left),
      list.contains(right)
    else { return false }
    var place = list.number(of: left)
    if list.follower(of: place) != list.number(of: right) {
      takeContent(of: changes, &made, &names)
      let precedence = Precedence(
        rank: rank(of: changes.content[made.elements], behind: left), count: insertion.lamport,
        replica: authors[Int(author)].id)
      guard let resolved = resolve(precedence, left, right, list) else { return false }
      place = resolved
    }
    list.insert(insertion.count, by: author, behind: place)
    authors[Int(author)].recordInsertion(
      first, count: insertion.count, number: insertion.number, lamport: insertion.lamport,
      isStepping: insertion.isStepping, left: left, right: right, me: author)
    let time = insertion.lamport &+ UInt64(insertion.count) &- 1
    if time > lamport {
      lamport = time
      latest.set(authors[Int(author)].id)
    }
    return true
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
      list.contains(LocalID(run.target, run.offset &+ run.count &- 1)),
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
    _ precedence: Precedence, _ left: LocalID, _ right: LocalID, _ list: borrowing ElementList
  ) -> ElementList.Number? {
    let (start, stop) = (list.number(of: left), list.number(of: right))
    var steps = 0
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

  /// Gives the authors the elements of the insertions made.
  private mutating func takeContent(
    of changes: Changes, _ made: inout MadeSteps, _ names: inout Names
  ) {
    let first = changes.insertions[0].author
    let isComplete = made.insertions == changes.insertions.count
    if isComplete, made.taken == (0, 0), changes.insertions.allSatisfy({ $0.author == first }) {
      authors[Int(names.index(first, changes.authors, &self))].content = changes.content
      return
    }
    var start = made.taken.elements
    for insertion in changes.insertions[made.taken.insertions..<made.insertions] {
      let author = Int(names.index(insertion.author, changes.authors, &self))
      let end = start &+ Int(insertion.count)
      authors[author].content.append(contentsOf: changes.content[start..<end])
      start = end
    }
    made.taken = (made.insertions, start)
  }

  /// Makes the tree of all that is in the list. The authors have its elements, or more.
  ///
  /// - Parameter isLast: false if `weigh` is called after it and other edits.
  mutating func build(from list: borrowing ElementList, isLast: Bool = true) {
    isIndexed = false
    let pieces = list.pieces(largest: tree.sizes.piece)
    guard isLast, !isASCII else {
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
