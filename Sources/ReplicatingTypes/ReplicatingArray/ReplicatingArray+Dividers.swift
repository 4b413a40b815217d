// Finds what divides replacements from others (Dividers.swift), and the insertions that it is the end of.

extension ReplicatingArray<UInt8> {
  /// True if the byte is a white character, which a deletion may spare.
  static func isWhite(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  func byte(_ element: LocalID) -> UInt8 {
    authors[Int(element.author)].content[Int(element.offset)]
  }

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
        guard let divider = divider(removedBy: run) else { continue }
        dividers.dividers[index].append(divider)
        if divider.convertsLineEnd { dividers.lineEnds.append(divider) }
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
    let text = author.content[Int(insertion.offset)..<Int(offset)].suffix(Int(count))
    let isSame = text == author.content[Int(offset)..<Int(end)]
    return Divider(
      author: run.target, number: UInt64(run.number), start: insertion.offset,
      offsets: offset..<end, convertsLineEnd: isSame && Edit<UInt8>.isLineEnd(text))
  }

  /// The bytes that occur in dividers.
  var bytesOfDividers: Set<UInt8> {
    Set(
      dividers.all.flatMap { divider in
        authors[Int(divider.author)].content[
          Int(divider.offsets.lowerBound)..<Int(divider.offsets.upperBound)]
      })
  }

  /// The insertion that an element belongs to.
  func insertion(holding element: LocalID) -> Insertion {
    let author = authors[Int(element.author)]
    let number = author.number(of: element.offset)
    let place = author.origins.index(holding: element.offset)
    let start = Swift.max(author.count(upTo: number - 1), author.origins[place].first)
    var end = author.count(upTo: number)
    if place + 1 < author.origins.count { end = Swift.min(end, author.origins[place + 1].first) }
    return Insertion(author: element.author, offset: start, count: end - start)
  }
}
