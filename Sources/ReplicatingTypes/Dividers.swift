// The third rule of merging text: what stands between two replacements of the same text that did not know each other.
//
// A change that replaces text brings what divides it from another replacement of the same text: a blank, or a line feed and the mark of
// the line. This *divider* is the end of an insertion, and the same change removes it, so it is shown nowhere but by this rule.
//
// S, *know*, *world* and *text of the world* are those of SparedSeparators.swift. Let I be an insertion by a change c, and D its divider.
//
// The *span* of I are the elements from its first one up to D. Its *extent* are the elements behind D up to the last one that c removed,
// before the first that c left: one that c knew, and that neither c nor a change known to c removed. If c removed none there, but the left
// origin of I, the extent is what siblings put directly behind D: a *sibling* is an insertion with the same left origin by a change that c
// does not know and that removed this origin, too, with all that was written behind it.
//
// Let v be the first element of the extent that c does not know and that is in the text of the world of c, and d the change that inserted it. Let u be
// the last element of the span that is in the text of the world of d. D is *called for* if there are u and v, neither of them is white (if D
// has a line end: a line end), and between u and D there is no divider for which the same holds with an element behind D as its v.
//
// D is shown if it is called for, c is of a replica that follows this rule (`Identifier.sparesSeparators`), and nobody but c has removed it. Copies that are withheld (EqualReplacements.swift) are not there; of one
// that stands for others v was inserted by several changes d, of which one is enough, and its divider was removed by the changes of all.
// Elements of dividers are no separators of the first rule. In a gap of c with a divider of c that is called for, c spares no separator
// by the second part of that rule, and none at all if the divider has a line end.
//
// It is a function of S. A change x that knows all others changes nothing: it is in no world but its own, and all that is behind the divider
// of its own insertion is known to it.

/// What divides an insertion from others, the last elements of it.
struct Divider: Hashable, Sendable {
  var author: AuthorIndex
  /// The number of the change that inserted and removed it.
  var number: UInt64
  /// The offset of the first element of the insertion.
  var start: UInt32
  var offsets: Range<UInt32>

  var change: LocalChange { LocalChange(author: author, number: number) }
  var first: LocalID { LocalID(author, offsets.lowerBound) }
  var last: LocalID { LocalID(author, offsets.upperBound - 1) }
  /// The first element of the insertion.
  var spanStart: LocalID { LocalID(author, start) }
  var elements: [LocalID] { offsets.map { LocalID(author, $0) } }
}

/// The dividers in a sequence, found in the removals of its authors: each of these is looked at once.
struct DividerIndex: Sendable {
  /// By author, in the order of their offsets.
  fileprivate var dividers: [[Divider]] = []
  /// By author, how many of its removals were looked at.
  fileprivate var lookedAt: [Int] = []

  var isEmpty: Bool { dividers.allSatisfy(\.isEmpty) }
  var all: [Divider] { Array(dividers.joined()) }

  /// The divider that has an element. O(log dividers).
  func divider(holding element: LocalID) -> Divider? {
    guard Int(element.author) < dividers.count else { return nil }
    let list = dividers[Int(element.author)]
    let index = list.firstIndex { $0.offsets.upperBound > element.offset }
    guard index < list.count, list[index].offsets.contains(element.offset) else { return nil }
    return list[index]
  }

  /// The dividers that a change brought. O(log dividers).
  func dividers(of change: LocalChange) -> ArraySlice<Divider> {
    guard Int(change.author) < dividers.count else { return [] }
    let list = dividers[Int(change.author)]
    return list[list.firstIndex { $0.number >= change.number }...].prefix {
      $0.number == change.number
    }
  }
}

extension [Divider] {
  /// The first index from which on `isReached` is true. O(log n).
  fileprivate func firstIndex(where isReached: (Divider) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isReached(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension ReplicatingArray<UInt8> {
  /// True if bytes may divide replacements: at most 256, of which the first is white.
  static func isDivider(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.count <= 256 && bytes.first.map(isWhite) ?? false
  }

  /// Finds the dividers that came since the last time. O(removals since).
  mutating func findDividers() {
    for index in authors.indices {
      if index == dividers.dividers.count {
        dividers.dividers.append([])
        dividers.lookedAt.append(0)
      }
      let (start, count) = (dividers.lookedAt[index], authors[index].removals.count)
      // Of the last one that was looked at, what has been added since was inserted before.
      if start == count { continue }
      dividers.lookedAt[index] = count
      for run in authors[index].removals[start...] where isOfOneChange(run, AuthorIndex(index)) {
        restoreOrigins()
        if let divider = divider(removedBy: run) { dividers.dividers[index].append(divider) }
      }
      dividers.dividers[index].sort { $0.offsets.lowerBound < $1.offsets.lowerBound }
    }
  }

  /// True if the first change of a removal by an author inserted what it removes.
  private func isOfOneChange(_ run: RemovalRun, _ author: AuthorIndex) -> Bool {
    let (offset, _) = run.range(upTo: UInt64(run.number))
    return run.target == author && authors[Int(author)].number(of: offset) == UInt64(run.number)
  }

  /// The divider that the first change of a removal has removed, if it has.
  private func divider(removedBy run: RemovalRun) -> Divider? {
    let author = authors[Int(run.target)]
    let (offset, count) = run.range(upTo: UInt64(run.number))
    let end = offset + count
    let insertion = insertion(holding: LocalID(run.target, offset))
    guard insertion.offset < offset, insertion.offsets.upperBound == end,
      Self.isDivider(author.content[Int(offset)..<Int(end)])
    else { return nil }
    return Divider(
      author: run.target, number: UInt64(run.number), start: insertion.offset, offsets: offset..<end
    )
  }

  /// Those of some dividers of which the edits of an author may decide whether they are called for: the dividers of changes that one of the
  /// edits did not know, their own among them; those in whose spans the edits inserted or removed something; and those in whose spans one of these is.
  ///
  /// A change that is known by all edits has none of them in its world, so the extent of its divider is the same without them, and what is in it.
  /// That holds while nothing stands for anything else and nothing is withdrawn.
  ///
  /// - Complexity: O(dividers × those that are found by themselves × log pieces), and the pieces of the spans.
  mutating func dividers<Asked: Causality>(
    among some: Set<Divider>, decidedBy edits: TouchedElements, _ causality: inout Asked
  ) throws(Asked.Failure) -> Set<Divider> {
    let touched = ElementRanges(edits.ranges)
    var decided: [Divider] = []
    var rest: [Divider] = []
    for divider in some {
      let change = ChangeID(
        replica: authors[Int(divider.author)].id, number: divider.number)
      var isKnown = edits.known.contains(change)
      if !isKnown, let edit = edits.changes.only, edit != change {
        isKnown = try causality.knows(edit, change)
      }
      if !isKnown || isTouched(divider, touched) {
        decided.append(divider)
      } else {
        rest.append(divider)
      }
    }
    let holding = rest.filter { divider in
      decided.contains {
        isOrdered(divider.spanStart, before: $0.first) && isOrdered($0.last, before: divider.first)
      }
    }
    return Set(decided + holding)
  }

  /// True if a divider or something in its span is among some elements. O(pieces of the span).
  private mutating func isTouched(_ divider: Divider, _ touched: ElementRanges) -> Bool {
    locate(divider.last)
    var end = divider.offsets.upperBound
    while true {
      let piece = tree.current
      let isFirst = piece.contains(divider.spanStart)
      let start = isFirst ? divider.start : piece.offset
      let id = authors[Int(piece.author)].id
      var offset = Int(start)
      while offset < end {
        let run = touched.run(of: id, from: offset, to: Int(end))
        if run.isMember { return true }
        offset = run.end
      }
      guard !isFirst, tree.stepBackward() else { return false }
      end = tree.current.end
    }
  }

  /// False if it is certain that a divider is not called for: behind it there is nothing that its change did not know, before something that is shown
  /// and that the change knew.
  ///
  /// - Complexity: O(pieces up to there).
  mutating func isPerhapsCalledFor<Asked: Causality>(
    _ divider: Divider, _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    let id = authors[Int(divider.author)].id
    let seen = try causality.seen(by: ChangeRanges.Run(id, divider.number...divider.number))
    locate(divider.last)
    var offset = divider.offsets.upperBound
    while true {
      if offset == tree.current.end {
        guard tree.stepForward() else { return false }
        offset = tree.current.offset
      }
      let author = authors[Int(tree.current.author)]
      // Of its own author too: clients of one process do not see each other's changes before they are shown.
      let known = author.count(upTo: seen[author.id])
      if tree.current.end > known { return true }
      if !tree.current.isRemoved {
        let isSpared = (offset..<tree.current.end).contains {
          spared.contains(LocalID(tree.current.author, $0))
        }
        if spared.isEmpty || !isSpared { return false }
      }
      offset = tree.current.end
    }
  }
}

/// What is found out about dividers in the worlds of their changes.
struct DividerNeighbours {
  fileprivate struct Pair {
    /// The last element of the span, and the first of the extent.
    var last: LocalID
    var first: LocalID
    /// The dividers between the last element of the span and the divider.
    var between: [Divider]
  }

  /// By the first elements of dividers.
  fileprivate var pairs: [LocalID: Pair?] = [:]
}

extension Worlds {
  /// True if a divider is called for.
  mutating func isCalledFor<Asked: Causality>(
    _ divider: Divider, in value: inout ReplicatingArray<UInt8>, _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    guard let pair = try pair(of: divider, &value, &causality) else { return false }
    for other in pair.between {
      if let pair = try self.pair(of: other, &value, &causality),
        value.isOrdered(divider.last, before: pair.first)
      {
        return false
      }
    }
    return true
  }

  /// True if an element of a divider that is called for is shown: nobody else has removed it.
  mutating func isShown(
    dividing element: LocalID, in value: ReplicatingArray<UInt8>
  ) -> Bool {
    let own = inserters(of: element, value)
    return removers(of: element, value).allSatisfy(own.contains)
  }

  /// What is divided in a gap of a change by its own dividers.
  enum Division { case nothing, words, lines }

  /// What the dividers of a change divide in a gap of it, those that are called for.
  mutating func division<Asked: Causality>(
    between left: LocalID?, _ right: LocalID?, by change: LocalChange,
    in value: inout ReplicatingArray<UInt8>, _ causality: inout Asked
  ) throws(Asked.Failure) -> Division {
    var division = Division.nothing
    for divider in value.dividers.dividers(of: change) {
      guard left.map({ value.isOrdered($0, before: divider.first) }) ?? true,
        right.map({ value.isOrdered(divider.last, before: $0) }) ?? true,
        try isCalledFor(divider, in: &value, &causality)
      else { continue }
      if value.hasLineEnd(divider) { return .lines }
      division = .words
    }
    return division
  }

  /// The separators of the gap that a divider is in, of its own change.
  mutating func separators<Asked: Causality>(
    beside divider: Divider, in value: inout ReplicatingArray<UInt8>, _ causality: inout Asked
  ) throws(Asked.Failure) -> [LocalID] {
    try side(of: divider.first, isForward: false, divider.change, &value, &causality).separators
      + side(of: divider.last, isForward: true, divider.change, &value, &causality).separators
  }

  // MARK: - Both sides of a divider

  private mutating func pair<Asked: Causality>(
    of divider: Divider, _ value: inout ReplicatingArray<UInt8>, _ causality: inout Asked
  ) throws(Asked.Failure) -> DividerNeighbours.Pair? {
    if let known = neighbours.pairs[divider.first] { return known }
    var pair: DividerNeighbours.Pair?
    if let first = try firstOfExtent(behind: divider, &value, &causality),
      let (last, between) = try lastOfSpan(before: divider, beside: first, &value, &causality),
      value.needsDivider(divider, between: last, first)
    {
      pair = DividerNeighbours.Pair(last: last, first: first, between: between)
    }
    neighbours.pairs.updateValue(pair, forKey: divider.first)
    return pair
  }

  /// The first element of the extent that the change does not know, and that is in the text of its world.
  private mutating func firstOfExtent<Asked: Causality>(
    behind divider: Divider, _ value: inout ReplicatingArray<UInt8>, _ causality: inout Asked
  ) throws(Asked.Failure) -> LocalID? {
    let change = divider.change
    guard value.authors[Int(change.author)].id.sparesSeparators, isThere(change, value),
      !copies.isWithheld(divider.first)
    else { return nil }
    let left = value.left(of: divider.spanStart)
    let replacing = left.isNone ? [] : removers(of: left, value)
    let replacesLeft = replacing.contains(change)
    var (first, ofSibling): (LocalID?, LocalID?)
    var (isOfSibling, areSiblings, hasRemoved) = (false, replacesLeft, false)
    value.locate(divider.last)
    var offset = divider.offsets.upperBound
    while true {
      if offset == value.tree.current.end {
        guard value.tree.stepForward() else { break }
        offset = value.tree.current.offset
      }
      let element = LocalID(value.tree.current.author, offset)
      offset = end(ofPartFrom: element, upTo: value.tree.current.end, value)
      let inserters = inserters(of: element, value)
      if inserters.isEmpty || copies.isWithheld(element) { continue }
      var isKnown = false
      for inserter in inserters where !isKnown {
        isKnown = try knows(change, inserter, value, &causality)
      }
      if isKnown {
        let removers = removers(of: element, value)
        if removers.contains(change) {
          if first != nil { return first }
          hasRemoved = true
          continue
        }
        var isGone = false
        for remover in removers where !isGone {
          isGone = try knows(change, remover, value, &causality)
        }
        if isGone { continue }
        break
      }
      if areSiblings {
        let origin = value.left(of: element)
        if origin == left {
          isOfSibling = inserters.contains(where: replacing.contains)
          areSiblings = isOfSibling
        } else if origin.isNone
          || origin != divider.last && !value.isOrdered(divider.last, before: origin)
        {
          areSiblings = false
        }
      }
      guard first == nil || areSiblings && isOfSibling && ofSibling == nil,
        try isInText(of: change, element, value, &causality)
      else { continue }
      if first == nil { first = element }
      if areSiblings, isOfSibling, ofSibling == nil { ofSibling = element }
    }
    return hasRemoved ? nil : ofSibling
  }

  /// The last element of the span that is in the text of the world of a change that inserted another element, and the dividers behind it.
  private mutating func lastOfSpan<Asked: Causality>(
    before divider: Divider, beside element: LocalID, _ value: inout ReplicatingArray<UInt8>,
    _ causality: inout Asked
  ) throws(Asked.Failure) -> (last: LocalID, between: [Divider])? {
    var others: [LocalChange] = []
    for inserter in inserters(of: element, value) {
      if try !knows(inserter, divider.change, value, &causality) { others.append(inserter) }
    }
    var between: [Divider] = []
    value.locate(divider.first)
    var end = divider.offsets.lowerBound
    while true {
      if end == value.tree.current.offset {
        guard value.tree.stepBackward() else { return nil }
        end = value.tree.current.end
      }
      let piece = value.tree.current
      let isFirst = piece.contains(divider.spanStart) && divider.start < end
      var parts: [Range<UInt32>] = []
      var offset = isFirst ? divider.start : piece.offset
      while offset < end {
        let next = self.end(ofPartFrom: LocalID(piece.author, offset), upTo: end, value)
        parts.append(offset..<next)
        offset = next
      }
      for part in parts.reversed() {
        let last = LocalID(piece.author, part.upperBound - 1)
        if copies.isWithheld(last) { continue }
        if let other = value.dividers.divider(holding: last) { between.append(other) }
        for other in others {
          if try isInText(of: other, last, value, &causality) { return (last, between) }
        }
      }
      if isFirst { return nil }
      end = piece.offset
    }
  }

  /// The end of the elements from one on that were inserted together, and removed by the same changes.
  private func end(
    ofPartFrom element: LocalID, upTo end: UInt32, _ value: ReplicatingArray<UInt8>
  ) -> UInt32 {
    if !copies.counterparts(of: element).isEmpty { return element.offset + 1 }
    let insertion = value.insertion(holding: element)
    return min(
      end, insertion.offsets.upperBound, removals.removal(of: element).offsets.upperBound)
  }

  /// The changes that inserted an element, or a counterpart that it stands for, in the state that is asked about.
  private func inserters(of element: LocalID, _ value: ReplicatingArray<UInt8>) -> [LocalChange] {
    let all = [element] + copies.counterparts(of: element)
    return all.map { inserter(of: $0, value) }.filter { isThere($0, value) }
  }
}

extension ReplicatingArray<UInt8> {
  private func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

  /// True if a divider ends a line.
  func hasLineEnd(_ divider: Divider) -> Bool {
    let range = Int(divider.offsets.lowerBound)..<Int(divider.offsets.upperBound)
    return authors[Int(divider.author)].content[range].contains(where: isLineEnd)
  }

  /// False if one of two elements divides them already.
  fileprivate func needsDivider(
    _ divider: Divider, between left: LocalID, _ right: LocalID
  ) -> Bool {
    let divides = hasLineEnd(divider) ? isLineEnd : Self.isWhite
    return ![left, right].contains { divides(byte($0)) }
  }
}
