// The fourth rule of merging text: a line end that was made one of another kind is one thing with what it was.
//
// A *converted end* E is a line end (a carriage return, a line feed, or both), all or the end of an insertion by a change c that brings the same once
// more as its divider (Dividers.swift), which tells it from one that was typed; that divider is never shown. E *replaces* those of its origins that are such
// characters and that c removed. If there are none, E is a carriage return and *extends* its right origin, a line feed. These are its *anchors*.
//
// E is hidden if
//
//   1. E extends a line feed that a change removed, or
//   2. E extends a line feed, and between the two stands another converted end that extends it, or an element that no change removed, or
//   3. E replaces its anchors, and one change removed all of them that puts no converted end in the place of one of them, or
//   4. E replaces an anchor, and another converted end that replaces it stands in front of E.
//
// An anchor counts as removed if its insertion is withdrawn, or is a copy that is withheld (EqualReplacements.swift). The rules on dividers and separators take a hidden
// converted end for absent. Changes that are withdrawn are not in S. Only converted ends by replicas that follow the rules are hidden.
//
// The rule is a function of S: insertions, removals and places are in the changes. An edit whose author knows all of S does what was typed, because such an edit never
// removes the line feed of a carriage return alone, and never inserts between the two (TextDifference/LineEndKinds.swift).

/// A converted end, and its anchors.
private struct ConvertedEnd {
  var elements: [LocalID]
  var change: LocalChange
  /// One that it extends, or one or two that it replaces.
  var anchors: [LocalID]
  var replaces: Bool

  var element: LocalID { elements.last! }
}

extension ReplicatingArray<UInt8> {
  /// The converted ends that are hidden in a state; nil for the present one. Where no changes are concurrent, and none is withdrawn, there are none.
  ///
  /// - Complexity: O(runs × log runs), and for each converted end O(log runs + pieces between it and its anchor).
  mutating func hiddenLineEnds(at version: Version?, without copies: CopyRoles) -> Set<LocalID> {
    guard isConcurrent || hasWithdrawals else { return [] }
    if !isIndexed { buildIndex() }
    // A state of the past may hide other line ends: texts are compared without their white characters (TextSum.swift). What is contested
    // counts as concurrent, also where a withdrawal alone hides a line end (`restoreMerge`).
    (isConcurrent, isContested) = (true, true)
    let removals = RemovalIndex(of: authors, without: withdrawn)
    var walker = self
    func isThere(_ change: LocalChange) -> Bool {
      version.map { change.number <= $0[authors[Int(change.author)].id] } ?? true
        && !isWithdrawn(change)
    }
    func isThere(_ element: LocalID) -> Bool {
      let number = authors[Int(element.author)].number(of: element.offset)
      return isThere(LocalChange(author: element.author, number: number))
        && !copies.isWithheld(element)
    }
    func removers(of element: LocalID) -> [LocalChange] {
      removals.removers(of: element).filter(isThere)
    }
    let ends = dividers.lineEnds.filter { isThere($0.change) }
      .compactMap { convertedEnd(of: $0, removals) }
    var converters: [LocalID: Set<LocalChange>] = [:]
    /// By anchor: the first of the converted ends that replace it, the last of those that extend it.
    var (first, last): ([LocalID: LocalID], [LocalID: LocalID]) = ([:], [:])
    for end in ends {
      for anchor in end.anchors {
        if end.replaces { converters[anchor, default: []].insert(end.change) }
        if copies.isWithheld(end.element) { continue }
        if end.replaces, first[anchor].map({ isOrdered(end.element, before: $0) }) ?? true {
          first[anchor] = end.element
        }
        if !end.replaces, last[anchor].map({ isOrdered($0, before: end.element) }) ?? true {
          last[anchor] = end.element
        }
      }
    }
    func isHidden(_ end: ConvertedEnd) -> Bool {
      if !end.anchors.allSatisfy({ isThere($0) }) { return true }
      let removers = end.anchors.map(removers)
      guard end.replaces else {
        return !removers[0].isEmpty || last[end.anchors[0]] != end.element
          || walker.isSeparated(end, removals, isThere, { isThere($0) })
      }
      let known = end.anchors.reduce(into: Set<LocalChange>()) { $0.formUnion(converters[$1]!) }
      let ofAll = removers.dropFirst().reduce(Set(removers[0])) { $0.intersection($1) }
      return !ofAll.isSubset(of: known) || end.anchors.contains { first[$0] != end.element }
    }
    var hidden: Set<LocalID> = []
    for end in ends
    where authors[Int(end.change.author)].id.sparesSeparators && !copies.isWithheld(end.element)
      && isHidden(end)
    {
      hidden.formUnion(end.elements)
    }
    return hidden
  }

  private func convertedEnd(of divider: Divider, _ removals: RemovalIndex) -> ConvertedEnd? {
    let end = divider.offsets.lowerBound
    let elements = (end - UInt32(divider.offsets.count)..<end).map { LocalID(divider.author, $0) }
    let author = authors[Int(divider.author)]
    let (left, right) = (left(of: elements[0]), author.right(of: divider.start))
    func isLineEnd(_ origin: LocalID) -> Bool {
      !origin.isNone && (byte(origin) == 0x0A || byte(origin) == 0x0D)
    }
    let replaced = [left, right].filter {
      isLineEnd($0) && removals.removers(of: $0).contains(divider.change)
    }
    if replaced.isEmpty {
      guard elements.count == 1, byte(elements[0]) == 0x0D, !right.isNone, byte(right) == 0x0A
      else { return nil }
    }
    return ConvertedEnd(
      elements: elements, change: divider.change, anchors: replaced.isEmpty ? [right] : replaced,
      replaces: !replaced.isEmpty)
  }

  /// True if between a carriage return and the line feed that it extends there is an element that no change removed.
  ///
  /// - Complexity: O(stretches that the same changes removed × log runs).
  private mutating func isSeparated(
    _ end: ConvertedEnd, _ removals: RemovalIndex,
    _ isChangeThere: (LocalChange) -> Bool, _ isElementThere: (LocalID) -> Bool
  ) -> Bool {
    let to = end.anchors[0]
    locate(end.element)
    var offset = end.element.offset + 1
    while true {
      if offset == tree.current.end {
        guard tree.stepForward() else { return false }
        offset = tree.current.offset
      }
      let element = LocalID(tree.current.author, offset)
      if element == to { return false }
      let (changes, offsets) = removals.removal(of: element)
      if changes.contains(where: isChangeThere) {
        offset = Swift.min(tree.current.end, offsets.upperBound)
        if element.author == to.author, element.offset < to.offset {
          offset = Swift.min(offset, to.offset)
        }
      } else if isElementThere(element) {
        return true
      } else {
        offset += 1
      }
    }
  }
}
