// The second rule of merging text: the same replacement made twice is one.
//
// An insertion is what one change put between the same two elements, its origins. It replaces one of these if its change removed
// that element, too. Two insertions with the same origins are copies if they insert the same bytes, and
//
//   1. both replace the left origin, or both the right one; or
//   2. their changes did the same to the text: the same bytes between the same origins, and the same elements removed; and that at more
//      than one place, by removing something, or by making a line feed another line end (LineEnds.swift).
//
// So are insertions that are copies of the same one. In the order of the text, let F be the first that somebody has gone on from: one of
// its elements is the left origin of something else. Shown are F, and of those behind F each of which one of these holds:
//
//   - Something else was inserted between its first and its last element.
//   - Its last element is the left origin of something that goes on with its last word, or, if the copy is one scalar, of anything but a line end:
//     one scalar is the first key of what was typed.
//   - Something was inserted directly in front of it: its right origin is the first element of the copy, its left origin that of the copy.
//
// If there is no F, one is shown: the last directly in front of which something was inserted, or else the first. The others are withheld. If exactly one
// is shown, it stands for all: whoever inserted or removed one of several counterparts inserted or removed its element, in the first rule, too, for which
// the others are not there.
//
// Changes that are withdrawn (Withdrawals.swift) insert no copies, and nobody goes on from one with them.
//
// It is a function of the set of changes. Insertions with the same origins did not know each other: who knows one of them has it
// between these origins, and so other origins. Which copies are shown depends on insertions only, so it comes before the first rule.
//
// An author who knows all others goes on from what is shown: the left origin of an insertion is an element that its author saw. And it puts nothing
// directly in front of a copy but of the first. So it changes nothing in which copies are shown.

extension ReplicatingArray<UInt8> {
  /// Finds out which insertions are copies after edits, by authors that did not know all others, that touched some elements.
  ///
  /// - Complexity: For each gap that the edits inserted into, O(pieces between its origins + what was inserted there).
  mutating func findCopies(around edits: [TouchedElements]) {
    settle()
    if !isIndexed { buildIndex() }
    findDividers()
    var gaps: Set<SiblingCache.Gap> = []
    for edits in edits {
      guard let index = index(known: edits.author) else { continue }
      for range in edits.ranges where range.author == edits.author {
        var offset = UInt32(range.offset)
        while offset < range.end {
          let change = LocalChange(author: index, number: authors[Int(index)].number(of: offset))
          let end = authors[Int(index)].count(upTo: change.number)
          if isRepeatable(change) {
            for insertion in insertions(of: index, in: offset..<end) {
              gaps.insert(gap(of: insertion))
            }
          }
          offset = end
        }
      }
    }
    var works: [LocalChange: Work] = [:]
    var found: [[Insertion]] = []
    for gap in gaps { found += copies(among: insertions(between: gap), &works) }
    if found.isEmpty { return }
    let members = Set(found.joined())
    copies.removeAll { $0.contains(where: members.contains) }
    copies += found
  }

  /// Shows no more of the copies than the rule says. Those are known that there are, and what is spared.
  ///
  /// - Complexity: O(runs × log runs), and the copies.
  mutating func withholdCopies(_ report: (Effect) -> Void) {
    if copies.isEmpty, dividers.lineEnds.isEmpty { return }
    settle()
    if !isIndexed { buildIndex() }
    withhold(withheldElements(at: nil, sparing: spared), report)
  }

  /// The elements that are withheld in a state, of whose removed elements some are spared, and in which some changes are withdrawn.
  mutating func withheldElements(
    at version: Version, sparing: [ElementRange], without withdrawn: ChangeRanges
  ) -> [ElementRange] {
    settle()
    findDividers()
    if copies.isEmpty, dividers.lineEnds.isEmpty { return [] }
    // A copy of the value shows nothing of it but this.
    self.withdrawn = withdrawn
    var spared: Set<LocalID> = []
    for range in sparing {
      let author = index(known: range.author)!
      for offset in range.offset..<range.end { spared.insert(LocalID(author, UInt32(offset))) }
    }
    return ranges(of: withheldElements(at: version, sparing: spared))
  }

  /// The copies, each list in the order of stamps.
  var copiedRanges: [[ElementRange]] {
    copies.map { $0.map { range(of: $0.author, $0.offsets) } }
      .sorted { ($0[0].author, $0[0].offset) < ($1[0].author, $1[0].offset) }
  }

  /// Knows the copies of the value from which this one was encoded. `withholdCopies` withholds them.
  ///
  /// - Parameter ranges: its `copiedRanges`.
  /// - Returns: false if these are no copies. Then the value is not to be used.
  mutating func restoreCopies(_ ranges: [[ElementRange]]) -> Bool {
    if ranges.isEmpty { return true }
    settle()
    if !isIndexed { buildIndex() }
    findDividers()
    var works: [LocalChange: Work] = [:]
    for list in ranges {
      var found: [Insertion] = []
      for range in list {
        guard let author = index(known: range.author), range.count > 0, range.offset >= 0,
          range.count <= authors[Int(author)].content.count - range.offset
        else { return false }
        found.append(
          Insertion(author: author, offset: UInt32(range.offset), count: UInt32(range.count)))
      }
      // Of changes that were applied and not settled there may be more.
      guard let first = found.first, found.count > 1,
        copies(among: insertions(between: gap(of: first)), &works)
          .contains(where: { $0.filter(found.contains) == found })
      else { return false }
      copies.append(found)
    }
    return copiedRanges == ranges && Set(copies.joined()).count == ranges.joined().count
  }

  // MARK: - Insertions

  private func change(of insertion: Insertion) -> LocalChange {
    LocalChange(
      author: insertion.author,
      number: authors[Int(insertion.author)].number(of: insertion.offset))
  }

  private func gap(of insertion: Insertion) -> SiblingCache.Gap {
    let author = authors[Int(insertion.author)]
    return SiblingCache.Gap(
      left: author.left(of: insertion.offset, author: insertion.author),
      right: author.right(of: insertion.offset))
  }

  private func bytes(of insertion: Insertion) -> ArraySlice<UInt8> {
    authors[Int(insertion.author)].content[
      Int(insertion.offset)..<Int(insertion.offset + insertion.count)]
  }

  /// The end of an insertion without its divider.
  private func textEnd(of insertion: Insertion) -> UInt32 {
    let end = insertion.offsets.upperBound
    return dividers.divider(holding: LocalID(insertion.author, end - 1))?.offsets.lowerBound ?? end
  }

  private func insertions(of author: AuthorIndex, in offsets: Range<UInt32>) -> [Insertion] {
    var insertions: [Insertion] = []
    var offset = offsets.lowerBound
    while offset < offsets.upperBound {
      let next = insertion(holding: LocalID(author, offset))
      insertions.append(next)
      offset = next.offsets.upperBound
    }
    return insertions
  }

  /// The insertions that have these origins.
  private mutating func insertions(between gap: SiblingCache.Gap) -> [Insertion] {
    if tree.isEmpty { return [] }
    var insertions: [Insertion] = []
    var skipped: UInt32 = 0
    if gap.left.isNone {
      tree.moveToStart()
    } else {
      locate(gap.left)
      skipped = gap.left.offset - tree.current.offset + 1
    }
    // Within a piece every element but the first has its neighbour as its left origin, so only the first can begin one.
    while true {
      if skipped == tree.current.count {
        if !tree.stepForward() { break }
        skipped = 0
      }
      let element = LocalID(tree.current.author, tree.current.offset + skipped)
      if element == gap.right { break }
      let insertion = insertion(holding: element)
      if insertion.first == element, self.gap(of: insertion) == gap {
        insertions.append(insertion)
      }
      if tree.current.contains(gap.right), gap.right.offset > element.offset { break }
      skipped = tree.current.count
    }
    return insertions
  }

  // MARK: - Copies

  /// All that a change did to the text.
  private struct Work: Hashable {
    struct Part: Hashable {
      var gap: SiblingCache.Gap
      var bytes: ArraySlice<UInt8>
    }

    var parts: Set<Part>
    var removed: [Removed]
  }

  private struct Removed: Hashable {
    var author: AuthorIndex
    var offsets: Range<UInt32>
  }

  private func removals(of change: LocalChange) -> some Sequence<RemovalRun> {
    let removals = authors[Int(change.author)].removals
    return removals[removals.firstIndex(after: change.number - 1)...]
      .prefix { UInt64($0.number) <= change.number }
      .lazy.map { $0.dropping(upTo: change.number - 1) }
  }

  /// False if it is certain that no insertion of a change is a copy: there is one only, and nothing was removed, not even a divider.
  private func isRepeatable(_ change: LocalChange) -> Bool {
    if removals(of: change).contains(where: { _ in true }) { return true }
    let author = authors[Int(change.author)]
    let start = author.count(upTo: change.number - 1)
    return start < author.count
      && insertion(holding: LocalID(change.author, start)).count
        < author.count(upTo: change.number) - start
  }

  private func removes(_ change: LocalChange, _ element: LocalID) -> Bool {
    removals(of: change).contains { run in
      let (offset, count) = run.range(upTo: change.number)
      return run.target == element.author && element.offset >= offset
        && element.offset - offset < count
    }
  }

  private func work(of change: LocalChange) -> Work {
    let author = authors[Int(change.author)]
    let offsets = author.count(upTo: change.number - 1)..<author.count(upTo: change.number)
    let parts = insertions(of: change.author, in: offsets).map {
      Work.Part(gap: gap(of: $0), bytes: bytes(of: $0))
    }
    var removed: [Removed] = removals(of: change).compactMap {
      let (offset, count) = $0.range(upTo: change.number)
      if dividers.divider(holding: LocalID($0.target, offset)) != nil, $0.target == change.author,
        author.number(of: offset) == change.number
      {
        return nil
      }
      return Removed(author: $0.target, offsets: offset..<offset + count)
    }
    removed.sort { ($0.author, $0.offsets.lowerBound) < ($1.author, $1.offsets.lowerBound) }
    // The same elements may have been named in other ranges.
    var joined: [Removed] = []
    for next in removed {
      if let last = joined.last, last.author == next.author,
        next.offsets.lowerBound <= last.offsets.upperBound
      {
        let end = Swift.max(last.offsets.upperBound, next.offsets.upperBound)
        joined[joined.count - 1].offsets = last.offsets.lowerBound..<end
      } else {
        joined.append(next)
      }
    }
    return Work(parts: Set(parts), removed: joined)
  }

  /// The lists of copies among insertions with the same origins, each in the order of stamps.
  private func copies(
    among insertions: [Insertion], _ works: inout [LocalChange: Work]
  ) -> [[Insertion]] {
    var lists: [[Insertion]] = []
    let following = insertions.filter { isRepeatable(change(of: $0)) }
    if following.count < 2 { return [] }
    for equal in Dictionary(grouping: following, by: { bytes(of: $0) }).values
    where equal.count > 1 {
      // Insertions found under the same key are copies of each other.
      var found: [Key: Int] = [:]
      var list = Array(equal.indices)
      func root(_ index: Int) -> Int {
        var index = index
        while list[index] != index { index = list[index] }
        return index
      }
      func unite(_ index: Int, _ key: Key) {
        if let other = found[key] {
          list[root(index)] = root(other)
        } else {
          found[key] = index
        }
      }
      let gap = gap(of: equal[0])
      for (index, insertion) in equal.enumerated() {
        let change = change(of: insertion)
        if !gap.left.isNone, removes(change, gap.left) { unite(index, .left) }
        if !gap.right.isNone, removes(change, gap.right) { unite(index, .right) }
        if works[change] == nil { works[change] = work(of: change) }
        unite(index, .work(works[change]!))
      }
      for group in Dictionary(grouping: equal.indices, by: root).values where group.count > 1 {
        lists.append(
          group.map { equal[$0] }.sorted { timestamp(of: $0.first) < timestamp(of: $1.first) })
      }
    }
    return lists
  }

  private enum Key: Hashable {
    case left, right
    case work(Work)
  }

  /// The lists of copies in a state; nil for the present one.
  func copies(at version: Version?) -> [[Insertion]] {
    if version == nil, withdrawn.isEmpty { return copies }
    var works: [LocalChange: Work] = [:]
    // Two may be copies only because of a third one, which is not in an earlier state.
    return copies.flatMap { list in
      copies(
        among: list.filter {
          let change = change(of: $0)
          return !isWithdrawn(change)
            && version.map { change.number <= $0[authors[Int(change.author)].id] } ?? true
        }, &works)
    }
  }

  /// The same elements, and all counterparts of them. O((ranges + copies) log, and the answer).
  func withCounterparts(_ ranges: [ElementRange]) -> [ElementRange] {
    if copies.isEmpty { return ranges }
    let counterparts = Counterparts(in: copies)
    var all = ranges
    for range in ranges {
      guard let author = index(known: range.author) else { continue }
      let offsets = UInt32(range.offset)..<UInt32(range.end)
      for (copy, list) in counterparts.copies(of: author, in: offsets) {
        let part = offsets.clamped(to: copy.offsets)
        for other in list where other != copy {
          let first = other.offset + (part.lowerBound - copy.offset)
          all.append(self.range(of: other.author, first..<first + UInt32(part.count)))
        }
      }
    }
    return all
  }

  // MARK: - What is withheld

  /// Which copies and converted line ends are shown in a state; nil for the present one.
  mutating func copyRoles(at version: Version?) -> CopyRoles {
    var roles = CopyRoles([])
    if !copies.isEmpty {
      let continuations = continuations(at: version)
      roles = CopyRoles(copies(at: version).map { ($0, shown(of: $0, continuations)) })
    }
    if !dividers.lineEnds.isEmpty {
      (roles.hiddenLineEnds, roles.converters) = lineEndRoles(at: version, without: roles)
    }
    return roles
  }

  private mutating func withheldElements(
    at version: Version?, sparing spared: Set<LocalID>
  ) -> Set<LocalID> {
    let removals = RemovalIndex(of: authors, without: withdrawn)
    return copyRoles(at: version).withheldElements(sparing: spared) { element in
      removals.removers(of: element).contains { change in
        version.map { change.number <= $0[authors[Int(change.author)].id] } ?? true
      }
    }
  }

  /// The text that was inserted in a copy, or beside it.
  private struct Continuations {
    /// The copies that something has its left origin in.
    var isContinued: Set<Insertion> = []
    /// Those in which that is not the last element, or goes on with the copy: it is no whole one.
    var isInterrupted: Set<Insertion> = []
    /// Those directly in front of which something was inserted.
    var isPreceded: Set<Insertion> = []
  }

  /// The copies of a list, which is in the order of stamps, that are shown.
  private func shown(of list: [Insertion], _ continuations: Continuations) -> [Insertion] {
    // Of those with the same origins the newest stands first.
    let ordered = Array(list.reversed())
    guard let first = ordered.firstIndex(where: continuations.isContinued.contains) else {
      return [ordered.last(where: continuations.isPreceded.contains) ?? ordered[0]]
    }
    return [ordered[first]]
      + ordered[(first + 1)...].filter {
        continuations.isInterrupted.contains($0) || continuations.isPreceded.contains($0)
      }
  }

  /// By author, runs of changes without which, if they are no withdrawals, the same copies are withheld: they insert a copy, go on from
  /// one, or remove something of one.
  ///
  /// - Complexity: O(runs × copies by the author of the elements).
  mutating func changesDecidingCopies() -> [[ClosedRange<UInt64>]] {
    var runs: [[ClosedRange<UInt64>]] = Array(repeating: [], count: authors.count)
    func insert(_ element: LocalID) {
      let number = authors[Int(element.author)].number(of: element.offset)
      runs[Int(element.author)].append(number...number)
    }
    let counterparts = Counterparts(in: copies)
    var copied: [AuthorIndex: [Range<UInt32>]] = [:]
    for copy in copies.joined() {
      insert(copy.first)
      copied[copy.author, default: []].append(copy.offsets)
      let end = copy.offsets.upperBound
      if end < authors[Int(copy.author)].count { insert(LocalID(copy.author, end)) }
    }
    for (index, author) in authors.enumerated() {
      for origin in author.origins
      where counterparts.copy(holding: origin.left) != nil
        || counterparts.copy(holding: origin.right) != nil
      {
        insert(LocalID(AuthorIndex(index), origin.first))
      }
      for run in author.removals {
        let removed = run.offset..<run.offset + run.count
        if copied[run.target]?.contains(where: removed.overlaps) == true {
          runs[index].append(UInt64(run.number)...run.lastNumber)
        }
      }
    }
    return runs
  }

  /// True if an element, directly behind one of a copy, goes on with the copy's last word, as far as bytes tell: letters, digits, and what is no ASCII.
  /// A copy of one scalar is the first key of something, which goes on with all but a line end.
  private func goesOn(_ next: LocalID, behind element: LocalID, of copy: Insertion) -> Bool {
    func isOfWord(_ byte: UInt8) -> Bool {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
      default: false
      }
    }
    let (last, first) = (byte(element), byte(next))
    let text = authors[Int(copy.author)].content[Int(copy.offset)..<Int(textEnd(of: copy))]
    if text.count <= 4, text.count == sizeOfScalar(beginningWith: text.first ?? 0) {
      return first != 0x0A && first != 0x0D
    }
    return isOfWord(last) && isOfWord(first)
  }

  private func continuations(at version: Version?) -> Continuations {
    func isHere(_ element: LocalID) -> Bool {
      let author = authors[Int(element.author)]
      let number = author.number(of: element.offset)
      return version.map { number <= $0[author.id] } ?? true
        && !isWithdrawn(LocalChange(author: element.author, number: number))
    }
    var continuations = Continuations()
    let counterparts = Counterparts(in: copies)
    for copy in copies.joined() {
      // Elements that the author has put behind it at once belong to the same run of origins.
      let end = copy.offsets.upperBound
      let author = authors[Int(copy.author)]
      if end < author.count,
        author.left(of: end, author: copy.author) == LocalID(copy.author, end - 1),
        isHere(LocalID(copy.author, end))
      {
        continuations.isContinued.insert(copy)
        if goesOn(LocalID(copy.author, end), behind: LocalID(copy.author, end - 1), of: copy) {
          continuations.isInterrupted.insert(copy)
        }
      }
    }
    for (index, author) in authors.enumerated() {
      for origin in author.origins where isHere(LocalID(AuthorIndex(index), origin.first)) {
        if let copy = counterparts.copy(holding: origin.left) {
          continuations.isContinued.insert(copy)
          if origin.left.offset + 1 < textEnd(of: copy)
            || goesOn(LocalID(AuthorIndex(index), origin.first), behind: origin.left, of: copy)
          {
            continuations.isInterrupted.insert(copy)
          }
        }
        if let copy = counterparts.copy(holding: origin.right), origin.right == copy.first,
          origin.left == gap(of: copy).left
        {
          continuations.isPreceded.insert(copy)
        }
      }
    }
    return continuations
  }

  /// Withholds these elements and no others.
  private mutating func withhold(_ wanted: Set<LocalID>, _ report: (Effect) -> Void) {
    let removals = RemovalIndex(of: authors, without: withdrawn)
    func isHidden(_ element: LocalID) -> Bool {
      let number = authors[Int(element.author)].number(of: element.offset)
      return isWithdrawn(LocalChange(author: element.author, number: number))
        || !spared.contains(element) && !removals.removers(of: element).isEmpty
    }
    let returned = withheld.subtracting(wanted).filter { !isHidden($0) }
    let withdrawn = wanted.subtracting(withheld).filter { !isHidden($0) }
    withheld = wanted
    for element in returned { makeVisible(element) }
    for element in withdrawn { makeTombstone(element) }
    for range in ranges(of: returned) { report(.returned(range)) }
    for range in ranges(of: withdrawn) { report(.withdrawn(range)) }
  }

  /// The elements as ranges, by author and offset.
  private func ranges(of elements: Set<LocalID>) -> [ElementRange] {
    ElementRanges(elements.map { range(of: $0) }).sorted
  }
}
