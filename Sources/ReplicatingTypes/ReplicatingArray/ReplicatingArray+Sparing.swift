// Removed elements that are shown all the same, because each change that removed them spares them (SeparatorPreservation.swift).

extension ReplicatingArray<UInt8> {
  /// Shows separators that were removed, as the value did from which this one was encoded. What copies it has was restored before.
  ///
  /// - Parameter wasContested: whether some may be spared in a state of the past.
  /// - Returns: false if they are not all removed separators and dividers, sorted and in ranges as long as can be. Then the value is not to be used.
  mutating func restoreSpared(_ ranges: [ElementRange], wasContested: Bool) -> Bool {
    settle()
    findDividers()
    isContested = wasContested
    let counterparts = Counterparts(in: copies)
    for range in ranges {
      guard let author = index(known: range.author), range.count > 0, range.offset >= 0,
        range.count <= authors[Int(author)].content.count - range.offset
      else { return false }
      for offset in range.offset..<range.end {
        let element = LocalID(author, UInt32(offset))
        locate(element)
        let isRemoved = tree.current.isRemoved
        guard
          isRemoved
            || !counterparts.copies(of: author, in: UInt32(offset)..<UInt32(offset) + 1).isEmpty,
          Self.isWhite(authors[Int(author)].content[offset])
            || dividers.divider(holding: element) != nil
        else { return false }
        _ = setSpared(element, true, isRemoved: isRemoved)
      }
    }
    return sparedElements.sorted == ranges && (wasContested || ranges.isEmpty)
  }
}

extension ReplicatingArray {
  /// The elements that were removed and are spared.
  public var sparedElements: ElementRanges {
    ElementRanges(spared.map { range(of: $0) })
  }

  /// Spares an element, or not any more; returns whether it is shown now and was not before, or the other way round.
  ///
  /// - Parameter isRemoved: false if it was not removed itself, but a counterpart that it stands for.
  mutating func setSpared(_ element: LocalID, _ isSpared: Bool, isRemoved: Bool) -> Bool {
    if isSpared { spared.insert(element) } else { spared.remove(element) }
    if withheld.contains(element) || !isRemoved { return false }
    if isSpared { makeVisible(element) } else { makeTombstone(element) }
    return true
  }

  /// Makes a tombstone visible.
  mutating func makeVisible(_ element: LocalID) {
    show(range(of: element), true) { _ in }
  }

  /// Makes a visible element a tombstone, and leaves it spared if it is.
  mutating func makeTombstone(_ element: LocalID) {
    show(range(of: element), false) { _ in }
  }
}
