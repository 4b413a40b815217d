// The fourth rule of merging text: a line end that was made one of another kind is one thing with what it was.
//
// A *converted end* E is a line end (a carriage return, a line feed, or both), all or the end of an insertion by a change c that brings the same once
// more as its divider (Dividers.swift), which tells it from one that was typed; that divider is never shown. E *replaces* those of its origins that are such
// characters, that c removed, and that the converted end before E by c does not replace; the left one of two, unless these are a carriage return and its
// line feed. If there are none, E is a carriage return and *extends* its right origin, a line feed. These are its *anchors*.
//
// A line end is *gone* if a change removed it that puts no converted end in its place, or if a converted end that replaces it is gone. Of a carriage return
// and its line feed as anchors that is asked of the line feed: who makes a line feed of both removes the carriage return only.
//
// E is hidden if
//
//   1. E extends a line feed that a change removed, or
//   2. E extends a line feed, and between the two stands anything but the divider of E, removed or not, or
//   3. E replaces its anchors, and the last of them is gone, and would be without E, or
//   4. E replaces an anchor, and another converted end that replaces it stands in front of E.
//
// An anchor counts as removed if its insertion is withdrawn, or is a copy that is withheld (DuplicateCoalescing.swift). The rules on dividers and separators take a hidden
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
  /// The converted ends that are hidden in a state, nil for the present one, and by line end the changes that put converted ends in its place. Where no
  /// changes are concurrent, and none is withdrawn, nothing is hidden, and nobody asks for the changes.
  ///
  /// - Complexity: O(runs × log runs), and for each converted end O(log runs + pieces between it and its anchor).
  mutating func lineEndRoles(
    at version: Version?, without copies: CopyRoles
  ) -> (hidden: Set<LocalID>, converters: [LocalID: Set<LocalChange>]) {
    guard isConcurrent || hasWithdrawals else { return ([], [:]) }
    if !isIndexed { buildIndex() }
    // A state of the past may hide other line ends: texts are compared without their white characters (TextFingerprint.swift). What is contested
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
    let ends = convertedEnds(isThere, removals)
    var converters: [LocalID: Set<LocalChange>] = [:]
    /// By anchor: the first of the converted ends that replace it.
    var first: [LocalID: LocalID] = [:]
    for end in ends where end.replaces {
      for anchor in end.anchors {
        converters[anchor, default: []].insert(end.change)
        if copies.isWithheld(end.element) { continue }
        if first[anchor].map({ isOrdered(end.element, before: $0) }) ?? true {
          first[anchor] = end.element
        }
      }
    }
    /// True if a change removed a line end that puts no converted end in its place.
    func isRemoved(_ element: LocalID) -> Bool {
      !removers(of: element).allSatisfy { converters[element]?.contains($0) ?? false }
    }
    /// By anchor: the converted ends in its place that are gone.
    var gone: [LocalID: [LocalID]] = [:]
    // A converted end came later than what it replaces.
    for end in ends.sorted(by: { timestamp(of: $0.element) > timestamp(of: $1.element) })
    where end.replaces && (gone[end.element] != nil || isRemoved(end.element)) {
      gone[end.anchors.last!, default: []].append(end.element)
    }
    func isHidden(_ end: ConvertedEnd) -> Bool {
      if !end.anchors.allSatisfy({ isThere($0) }) { return true }
      let anchor = end.anchors.last!
      guard end.replaces else {
        return !removers(of: anchor).isEmpty || walker.isSeparated(end, { isThere($0) })
      }
      return isRemoved(anchor) || gone[anchor]?.contains { $0 != end.element } ?? false
        || end.anchors.contains { first[$0] != end.element }
    }
    var hidden: Set<LocalID> = []
    for end in ends where !copies.isWithheld(end.element) && isHidden(end) {
      hidden.formUnion(end.elements)
    }
    return (hidden, converters)
  }

  /// The converted ends of changes that are in a state.
  private func convertedEnds(
    _ isThere: (LocalChange) -> Bool, _ removals: RemovalIndex
  ) -> [ConvertedEnd] {
    var ends: [ConvertedEnd] = []
    // Those of one change are in the order of the text.
    let ordered = dividers.lineEnds.sorted {
      ($0.author, $0.offsets.lowerBound) < ($1.author, $1.offsets.lowerBound)
    }
    for divider in ordered where isThere(divider.change) {
      let last = ends.last?.change == divider.change ? ends.last?.anchors : nil
      if let end = convertedEnd(of: divider, behind: last ?? [], removals) { ends.append(end) }
    }
    return ends
  }

  /// - Parameter taken: the anchors of the converted end before it by the same change.
  private func convertedEnd(
    of divider: Divider, behind taken: [LocalID], _ removals: RemovalIndex
  ) -> ConvertedEnd? {
    let end = divider.offsets.lowerBound
    let elements = (end - UInt32(divider.offsets.count)..<end).map { LocalID(divider.author, $0) }
    let author = authors[Int(divider.author)]
    let (left, right) = (left(of: elements[0]), author.right(of: divider.start))
    func isLineEnd(_ origin: LocalID) -> Bool {
      !origin.isNone && (byte(origin) == 0x0A || byte(origin) == 0x0D)
    }
    var replaced = [left, right].filter {
      isLineEnd($0) && !taken.contains($0)
        && removals.removers(of: $0).contains(divider.change)
    }
    if replaced.count == 2, byte(left) != 0x0D || byte(right) != 0x0A { replaced = [left] }
    if replaced.isEmpty {
      guard elements.count == 1, byte(elements[0]) == 0x0D, !right.isNone, byte(right) == 0x0A
      else { return nil }
    }
    return ConvertedEnd(
      elements: elements, change: divider.change, anchors: replaced.isEmpty ? [right] : replaced,
      replaces: !replaced.isEmpty)
  }

  /// True if between a carriage return and the line feed that it extends something else was inserted, removed or not: a change that removes it need not know
  /// the carriage return, which is hidden meanwhile.
  ///
  /// - Complexity: O(elements between of withdrawn changes and withheld copies).
  private mutating func isSeparated(_ end: ConvertedEnd, _ isThere: (LocalID) -> Bool) -> Bool {
    let to = end.anchors[0]
    // The carriage return is followed by its divider.
    let divider = LocalID(end.element.author, end.element.offset + 1)
    locate(divider)
    var offset = divider.offset + 1
    while true {
      if offset == tree.current.end {
        guard tree.stepForward() else { return false }
        offset = tree.current.offset
      }
      let element = LocalID(tree.current.author, offset)
      if element == to { return false }
      if isThere(element) { return true }
      offset += 1
    }
  }
}
