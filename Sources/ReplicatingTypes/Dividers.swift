// The third rule of merging text: what stands between two replacements of the same text that did not know each other.
//
// A change that replaces text brings what divides it from another replacement of the same text: a blank, or a line feed and the mark of
// the line. This *divider* is the end of an insertion, and the same change removes it, so it is shown nowhere but by this rule.
//
// S, *know*, *world* and *text of the world* are those of SeparatorPreservation.swift. Let I be an insertion by a change c, and D its divider.
//
// The *span* of I are the elements from its first one up to D. Its *extent* are the elements behind D, before the first that is in the
// text after c. Behind the last of them that c removed, v (see below) must be of a change that removed one of those that c removed, or there
// is none. If c removed none there, but the left origin of I, the extent is the run of elements behind D that are of siblings, or were
// written behind one of theirs; what c has seen removed is stepped over, and what those wrote who know c. A *sibling* is an insertion with
// the same left origin by a change that c does not know and that removed this origin, too.
//
// Let v be the first element of the extent that c does not know and that is in the text of the world of c, and d the change that inserted it. Let u be
// the last element of the span that is in the text of the world of d. D is *called for* if there are u and v, neither of them is white (if D
// has a line end: a line end), and between u and D there is no divider for which the same holds with an element behind D as its v.
//
// D is shown if it is called for, and no change but c removed it. Copies that are withheld (DuplicateCoalescing.swift) are not there; of one
// that stands for others v was inserted by several changes d, of which one is enough, and its divider was removed by the changes of all.
// Elements of dividers are no separators of the first rule. In a gap of c with a divider of c that is called for, c spares no separator
// by the second part of that rule, and none at all if the divider has a line end.
//
// It is a function of S. A change x that knows all others changes nothing: it is in no world but its own, and all that is behind the divider
// of its own insertion is known to it.

extension ReplicatingArray<UInt8> {
  /// Those of some dividers that edits may call for, or not any more: all but those that had no *v* and whose changes each of the edits
  /// knew.
  ///
  /// A change that is known by all edits has none of them in its world, so its divider has the same *v* without them. That holds while nothing
  /// stands for anything else and nothing is withdrawn.
  mutating func dividers<Asked: Causality>(
    among some: Set<Divider>, decidedBy edits: [TouchedElements], _ causality: inout Asked
  ) throws(Asked.Failure) -> Set<Divider> {
    var known: [LocalChange: Bool] = [:]
    var decided: Set<Divider> = []
    for divider in some {
      if dividers.isAlone(divider) {
        if known[divider.change] == nil {
          known[divider.change] = try isKnown(divider.change, by: edits, &causality)
        }
        if known[divider.change]! { continue }
      }
      decided.insert(divider)
    }
    return decided
  }

  /// True if each of some edits knew a change. Of an author who made several changes, only what it knew with all of them is asked.
  private func isKnown<Asked: Causality>(
    _ change: LocalChange, by edits: [TouchedElements], _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    let change = ChangeID(replica: authors[Int(change.author)].id, number: change.number)
    for edits in edits where !edits.known.contains(change) {
      guard let edit = edits.changes.only, edit != change, try causality.knows(edit, change) else {
        return false
      }
    }
    return true
  }

  /// False if it is certain that a divider is not called for: behind it there is nothing that its change did not know, before something that is shown
  /// and that the change knew.
  ///
  /// - Parameter copies: those that will be shown, which may be others than are shown now.
  /// - Complexity: O(pieces up to there, and the elements of the last).
  mutating func isPerhapsCalledFor<Asked: Causality>(
    _ divider: Divider, _ copies: CopyRoles, _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    let id = authors[Int(divider.author)].id
    let seen = try causality.seen(by: ChangeRanges.Run(id, divider.number...divider.number))
    let maySpareOrHide = !spared.isEmpty || !self.copies.isEmpty || !dividers.lineEnds.isEmpty
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
        let isPassed =
          maySpareOrHide
          && (offset..<tree.current.end).contains {
            let element = LocalID(tree.current.author, $0)
            return spared.contains(element) || copies.isWithheld(element)
          }
        if !isPassed { return false }
      }
      offset = tree.current.end
    }
  }
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

  /// True if no change removed an element of a divider but those that inserted the element, or its counterparts.
  mutating func isShown(
    dividing element: LocalID, in value: ReplicatingArray<UInt8>
  ) -> Bool {
    let own = inserters(of: element, value)
    return removers(of: element, value).allSatisfy(own.contains)
  }

  /// The kind of text that the dividers of a change divide in a gap of the change.
  enum Division { case nothing, words, lines }

  /// The kind of text that those dividers of a change divide in one of its gaps that are called for.
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

  // MARK: - Both sides of a divider

  private mutating func pair<Asked: Causality>(
    of divider: Divider, _ value: inout ReplicatingArray<UInt8>, _ causality: inout Asked
  ) throws(Asked.Failure) -> DividerNeighbours.Pair? {
    if let known = neighbours.pairs[divider.first] { return known }
    var pair: DividerNeighbours.Pair?
    let first = try firstOfExtent(behind: divider, &value, &causality)
    if first == nil { neighbours.alone.insert(divider.first) }
    if let first,
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
    guard isThere(change, value), !copies.isWithheld(divider.first) else { return nil }
    let left = value.left(of: divider.spanStart)
    let replacing = left.isNone ? [] : removers(of: left, value)
    var (first, ofSibling): ((element: LocalID, inserters: [LocalChange])?, LocalID?)
    var isRun = replacing.contains(change)
    /// The changes that removed one of the elements so far that the change removed.
    var overlapping: Set<LocalChange> = []
    /// The elements of siblings so far, and of what was written behind theirs.
    var run: [(author: AuthorIndex, offsets: Range<UInt32>)] = []
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
      let isWithheld = copies.isWithheld(element)
      var isKnown = false
      for inserter in inserters where !isKnown {
        isKnown = try knows(change, inserter, value, &causality)
      }
      if isKnown || inserters.isEmpty, !isWithheld {
        let removers = removers(of: element, value)
        if removers.contains(change) {
          if let first { return first.element }
          overlapping.formUnion(removers)
          continue
        }
      }
      if isKnown, !isWithheld {
        var isGone = false
        for remover in removers(of: element, value) where !isGone {
          isGone = try knows(change, remover, value, &causality)
        }
        if isGone { continue }
        break
      }
      if isKnown { continue }
      var isInWorld = false
      for inserter in inserters where !isInWorld {
        isInWorld = try !knows(inserter, change, value, &causality)
      }
      let isThere = isInWorld && !isWithheld
      var isOfRun = false
      if isRun {
        let origin = value.left(of: element)
        isOfRun =
          origin == left && inserters.contains(where: replacing.contains)
          || run.contains { $0.author == origin.author && $0.offsets.contains(origin.offset) }
        if isOfRun { run.append((element.author, element.offset..<offset)) }
        isRun = isOfRun || !isThere
      }
      guard isThere, first == nil || isOfRun && ofSibling == nil,
        try isInText(of: change, element, value, &causality)
      else { continue }
      if first == nil { first = (element, inserters) }
      if isOfRun, ofSibling == nil { ofSibling = element }
    }
    if overlapping.isEmpty { return ofSibling }
    return first.flatMap { $0.inserters.contains(where: overlapping.contains) ? $0.element : nil }
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
    let end = min(
      end, insertion.offsets.upperBound, removals.removal(of: element).offsets.upperBound)
    return value.dividers.part(of: element.offset..<end, holding: element).upperBound
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
