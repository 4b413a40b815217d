// The first rule of merging text: a deletion spares a line feed, or a blank, where text of others would otherwise stand on one line,
// or in one word, with what nobody put beside it.
//
// S is a set of changes that contains whatever its changes know. A change *knows* those whose effects its author saw when making it.
// For a change c, the world of c is c and the changes of S that do not know c. The text of that world consists of the elements that a
// change of the world inserted and none removed; of the elements that a change y saw when it was made (*after* y) the same is said of
// the world that consists of y and what it knows.
//
// A gap is a longest stretch of elements that were inserted in the world of c and are not in its text. Let u be the element before it, v the one behind it
// (or the end of the text), and let its separators be the white characters in it that a change of the world removed.
//
//   1. If neither u nor v is a line feed or a carriage return, there are such among the separators, and nobody put u and v on one line, then c spares
//      the last of these, and if it is a line feed a carriage return directly before it in the gap.
//   2. Otherwise, if neither u nor v is white, v is not the end, and nobody put u and v side by side without white between them, then c spares
//      the last separator.
//
// A change of the world put them there if it is c, or inserted u or v, or removed one of these line ends (in 2: separators), and the text
// after it has u and v, or u where v is the end, and none of these line ends (separators).
//
// A removed element is shown if each change that removed it spares it. A line end that was only converted (LineEnds.swift) is none of the separators that
// are spared. Changes that are withdrawn (Withdrawals.swift) are not in S.
//
// It is a function of S: nothing in it speaks of the order of arrival. A change x that knows all others changes nothing but what it
// says: no world but its own contains x, and in its own u and v stand side by side after x, so it spares nothing. The same is true of each
// change that every other change knows or is known by: where no two changes are concurrent, nothing is spared, whichever are withdrawn.

extension ReplicatingArray<UInt8> {
  /// Finds out which removed separators are to be shown after changes have been applied that did not know all others, and after
  /// changes were withdrawn, and shows them.
  ///
  /// Changes nothing when it throws; whoever asks again gets the same.
  mutating func spareSeparators<Asked: Causality>(
    around edits: [TouchedElements], _ causality: inout Asked, _ report: (Effect) -> Void
  ) throws(Asked.Failure) {
    settle()
    if !isConcurrent {
      isConcurrent = edits.contains { edits in
        authors.contains { $0.lastNumber > edits.known[$0.id] }
      }
      guard isConcurrent else { return }
    }
    if !isIndexed { buildIndex() }
    findDividers()
    // Elements that a withdrawn change removed are not met as removed. In a state of the past they were.
    if hasWithdrawals, !edits.isEmpty { isContested = true }
    var candidates: [LocalID] = []
    var asked = ElementBitmap()
    let turned = try turnedEdits(&causality)
    /// True if each element that no change removed is there for the rules, and for itself alone. Otherwise any divider may turn.
    let areAllThere = turned.isEmpty && self.copies.isEmpty && dividers.lineEnds.isEmpty
    var divided = Set(areAllThere ? [] : dividers.all)
    func insert(_ found: [LocalID], areUndecided: Bool = true) {
      for element in found {
        if let divider = dividers.divider(holding: element) {
          if !divider.convertsLineEnd { divided.insert(divider) }
        } else if areUndecided, asked.insert(element) {
          candidates.append(element)
        }
      }
    }
    var stretches: ShownStretches?
    // Nothing is between elements where nothing was ever removed.
    for edits in hasRemovals ? edits : [] {
      let (found, meetsUnknown) = separators(around: edits, &stretches)
      if found.isEmpty { continue }
      // Nothing may be left to decide now, and yet have been in a state before the last changes of those that came together.
      isContested = true
      // Withheld elements count as text for this rule, and were passed like removed ones.
      let areUndecided =
        !withheld.isEmpty || meetsUnknown || removesUnknown(found, edits.known)
      insert(found, areUndecided: areUndecided)
    }
    // Others may have removed since what the authors had not seen. So there is more to decide than when the edits came.
    for edits in turned { insert(separators(around: edits, &stretches).found) }
    let copies = copyRoles(at: nil)
    insert(copies.elementsThatStandForOthers.filter { Self.isWhite(byte($0)) })
    // A hidden line end counts as absent, so any separator may turn with it.
    if !dividers.lineEnds.isEmpty { insert(removedSeparators()) }
    // For many authors, of whom each lacks what all others did, the lists of that would be as many times as long.
    if !candidates.isEmpty, edits.count == 1, areAllThere {
      let undecided = try removals(decidedBy: edits[0], &causality)
      candidates.removeAll { !undecided.contains(Int($0.offset), of: authors[Int($0.author)].id) }
    }
    if areAllThere {
      divided = try dividers(among: divided, decidedBy: edits, &causality)
    } else {
      dividers.forgetWhichAreAlone()
    }
    for divider in divided where !divider.elements.contains(where: spared.contains) {
      if try !isPerhapsCalledFor(divider, copies, &causality) {
        divided.remove(divider)
        dividers.setAlone(divider, areAllThere)
      }
    }
    if candidates.isEmpty, divided.isEmpty { return }
    var worlds = Worlds(of: self, copies)
    var flips: [(LocalID, Bool)] = []
    var isCandidate = ElementBitmap()
    for element in candidates { _ = isCandidate.insert(element) }
    for divider in divided {
      let isCalledFor = try worlds.isCalledFor(divider, in: &self, &causality)
      dividers.setAlone(divider, areAllThere && worlds.neighbours.isAlone(divider))
      // A divider that was shown was called for. One that another change removed may have been.
      var mayTurn = isCalledFor
      for element in divider.elements {
        let isLeft = worlds.isShown(dividing: element, in: self)
        let (wasShown, isShown) = (spared.contains(element), isCalledFor && isLeft)
        if isShown != wasShown { flips.append((element, isShown)) }
        mayTurn = mayTurn || wasShown || !isLeft
      }
      if !mayTurn { continue }
      for element in try worlds.separators(beside: divider, in: &self, &causality)
      where isCandidate.insert(element) {
        candidates.append(element)
      }
    }
    for element in candidates {
      let isShown = try worlds.isSpared(element, in: &self, &causality)
      if isShown != spared.contains(element) { flips.append((element, isShown)) }
    }
    // Those of one scalar are told of at once.
    var told: (range: ElementRange, isShown: Bool)?
    func tell() {
      if let told { report(told.isShown ? .returned(told.range) : .withdrawn(told.range)) }
    }
    for (element, isShown) in flips {
      if isShown { isContested = true }
      guard setSpared(element, isShown, isRemoved: worlds.isRemoved(element)) else { continue }
      let range = range(of: element)
      if let last = told, last.isShown == isShown, let joined = last.range.joined(with: range) {
        told = (joined, isShown)
      } else {
        tell()
        told = (range, isShown)
      }
    }
    tell()
  }

  /// The elements that the edits of an author removed, or that were removed by changes which one of the edits did not know.
  ///
  /// All others are spared or not as before: a change that is known by all edits has none of them in its world, so it spares what it spared
  /// without them. That holds while nothing stands for anything else and nothing is withdrawn.
  ///
  /// - Complexity: O(runs of removals by changes that the edits did not know for certain), and as many questions about a single edit's own author.
  private func removals<Asked: Causality>(
    decidedBy edits: TouchedElements, _ causality: inout Asked
  ) throws(Asked.Failure) -> ElementRanges {
    var removed = edits.ranges
    func insert(_ run: RemovalRun, upTo last: UInt64) {
      let (offset, count) = run.range(upTo: last)
      removed.append(
        ElementRange(
          author: authors[Int(run.target)].id, offset: Int(offset), count: Int(count)))
    }
    for author in authors {
      let last = edits.known[author.id]
      for run in author.removals[author.removals.firstIndex(after: last)...] {
        var late = run.dropping(upTo: last)
        let end = late.lastNumber
        guard author.id == edits.author, let edit = edits.changes.only else {
          insert(late, upTo: end)
          continue
        }
        // On one base it may have made many changes, which it knew.
        for number in UInt64(late.number)...end {
          late = late.dropping(upTo: number - 1)
          let change = ChangeID(replica: author.id, number: number)
          if change == edit { continue }
          if try causality.knows(edit, change) { continue }
          insert(late, upTo: number)
        }
      }
    }
    return ElementRanges(removed)
  }

  /// The white elements that were removed, spared or not. O(n).
  private func removedSeparators() -> [LocalID] {
    var found = Array(spared)
    tree.forEachPiece { piece in
      guard piece.isRemoved else { return }
      for offset in piece.offset..<piece.end {
        let element = LocalID(piece.author, offset)
        if Self.isWhite(byte(element)) { found.append(element) }
      }
    }
    return found
  }

  /// True if an element was removed. O(authors).
  private var hasRemovals: Bool { authors.contains { !$0.removals.isEmpty } }

  /// The elements touched by the changes that were withdrawn, or are not any more: whether a change counts makes the same difference as
  /// whether it has come.
  private func turnedEdits<Asked: Causality>(
    _ causality: inout Asked
  ) throws(Asked.Failure) -> [TouchedElements] {
    var all: [TouchedElements] = []
    for run in turned.runs {
      let touched = touched(by: ChangeRanges([run]))
      if touched.isEmpty { continue }
      // Another copy may be shown now.
      all.append(
        TouchedElements(
          author: run.replica, changes: ChangeRanges([run]), known: try causality.seen(by: run),
          ranges: touched + copiedRanges.joined()))
    }
    return all
  }

  /// The removed separators of which edits may decide whether they are shown, each once; and whether beside what the edits touched there
  /// is something that their author had not seen.
  private mutating func separators(
    around edits: TouchedElements, _ stretches: inout ShownStretches?
  ) -> (found: [LocalID], meetsUnknown: Bool) {
    var found: [LocalID] = []
    /// The pieces of removed elements, by the first of each, and the spared elements that were met.
    var covered = ElementBitmap()
    var meetsUnknown = false
    /// The number of elements of an author that the author of the edits had seen; as a rule of the same as before.
    var latest: (author: AuthorIndex, count: UInt32)?
    func knownCount(_ author: AuthorIndex) -> UInt32 {
      if let latest, latest.author == author { return latest.count }
      // Of a span the whole author would be copied, and counted as used once more with all that it holds.
      let count = authors[Int(author)].count(upTo: edits.known[authors[Int(author)].id])
      latest = (author, count)
      return count
    }
    func collectSpared(_ element: LocalID) {
      if spared.contains(element), covered.insert(element) { found.append(element) }
    }
    /// Goes over a part of a piece from its near side on, over a removed piece as a whole; true if the walk goes on behind it.
    func pass(_ piece: Piece, _ part: Range<UInt32>, isForward: Bool) -> Bool {
      if part.isEmpty { return true }
      if piece.isRemoved {
        guard covered.insert(piece.first) else { return false }
        // A later one of the edits, or another change, may have removed what the first had not seen.
        meetsUnknown = meetsUnknown || piece.end > knownCount(piece.author)
        let content = authors[Int(piece.author)].content
        for offset in piece.offset..<piece.end where Self.isWhite(content[Int(offset)]) {
          found.append(LocalID(piece.author, offset))
        }
        return true
      }
      let known = knownCount(piece.author)
      if spared.isEmpty {
        meetsUnknown =
          meetsUnknown || part.upperBound > known && (!isForward || part.lowerBound >= known)
        return part.lowerBound >= known
      }
      var left = part
      while !left.isEmpty {
        let offset = isForward ? left.lowerBound : left.upperBound - 1
        let element = LocalID(piece.author, offset)
        if spared.contains(element) {
          collectSpared(element)
        } else if offset < known {
          return false
        } else {
          meetsUnknown = true
        }
        left = isForward ? offset + 1..<left.upperBound : left.lowerBound..<offset
      }
      return true
    }
    func passWhole(isForward: Bool) -> Bool {
      pass(tree.current, tree.current.offset..<tree.current.end, isForward: isForward)
    }
    func walk(isForward: Bool) {
      var steps = 0
      while isForward ? tree.stepForward() : tree.stepBackward(), passWhole(isForward: isForward) {
        steps += 1
        // Where many have inserted, every walk would go over what all of them did.
        guard steps == ShownStretches.fewSteps, !tree.current.isRemoved else { continue }
        if stretches == nil { stretches = ShownStretches(of: tree, without: piecesWithSpared) }
        guard let last = stretches!.last(isForward: isForward, from: tree.at),
          last.offset >= knownCount(last.author)
        else { return }
      }
    }
    for range in withCounterparts(edits.ranges) {
      guard let target = index(known: range.author) else { continue }
      var offset = UInt32(range.offset)
      let end = UInt32(range.end)
      while offset < end {
        let first = LocalID(target, offset)
        locate(first)
        let piece = tree.current
        let stop = Swift.min(end, piece.end)
        offset = stop
        if piece.isRemoved {
          // Where a walk has been over it, that went on to both sides.
          guard passWhole(isForward: true) else { continue }
          walk(isForward: false)
          locate(first)
          walk(isForward: true)
        } else {
          for offset in first.offset..<stop { collectSpared(LocalID(target, offset)) }
          if pass(piece, piece.offset..<first.offset, isForward: false) {
            walk(isForward: false)
          }
          locate(first)
          if pass(piece, stop..<piece.end, isForward: true) { walk(isForward: true) }
        }
      }
    }
    return (found, meetsUnknown)
  }

  /// The first elements of the pieces that hold spared elements.
  private var piecesWithSpared: Set<LocalID> {
    var copy = self
    var pieces: Set<LocalID> = []
    for element in spared {
      copy.locate(element)
      pieces.insert(copy.tree.current.first)
    }
    return pieces
  }

  /// True if one of the elements was removed by a change that is not known.
  private func removesUnknown(_ elements: [LocalID], _ known: Version) -> Bool {
    let elements = Set(elements)
    for author in authors {
      let last = known[author.id]
      for run in author.removals[author.removals.firstIndex(after: last)...] {
        let late = run.dropping(upTo: last)
        if elements.count < late.count {
          if elements.contains(where: {
            $0.author == late.target && $0.offset >= late.offset
              && $0.offset - late.offset < late.count
          }) {
            return true
          }
        } else if (late.offset..<late.offset + late.count).contains(where: {
          elements.contains(LocalID(late.target, $0))
        }) {
          return true
        }
      }
    }
    return false
  }

  /// The elements that were removed by changes of `version` and spared in that state, in which some changes are withdrawn.
  mutating func sparedElements<Asked: Causality>(
    at version: Version, without withdrawn: ChangeRanges, _ causality: inout Asked
  ) throws(Asked.Failure) -> [ElementRange] {
    guard isContested else { return [] }
    settle()
    if !isIndexed { buildIndex() }
    findDividers()
    // A copy of the value shows nothing of it but this.
    self.withdrawn = withdrawn
    let copies = copyRoles(at: version)
    var worlds = Worlds(of: self, copies, at: version)
    var result: [ElementRange] = []
    var asked: Set<LocalID> = []
    for divider in dividers.all where try worlds.isCalledFor(divider, in: &self, &causality) {
      for element in divider.elements where worlds.isShown(dividing: element, in: self) {
        result.append(range(of: element))
      }
    }
    asked.formUnion(dividers.dividers.joined().flatMap(\.elements))
    for element in copies.elementsThatStandForOthers
    where Self.isWhite(byte(element)) && asked.insert(element).inserted {
      if try worlds.isSpared(element, in: &self, &causality) {
        result.append(range(of: element))
      }
    }
    for author in authors {
      for run in author.removals(without: withdrawn) {
        if UInt64(run.number) > version[author.id] { break }
        let (offset, count) = run.range(upTo: version[author.id])
        let content = authors[Int(run.target)].content
        for offset in offset..<offset + count where Self.isWhite(content[Int(offset)]) {
          let element = LocalID(run.target, offset)
          guard asked.insert(element).inserted else { continue }
          if try worlds.isSpared(element, in: &self, &causality) {
            result.append(range(of: element))
          }
        }
      }
    }
    return result
  }
}

extension Worlds {
  /// True if an element, or a counterpart that it stands for, was removed and each change that did so spares it.
  mutating func isSpared<Asked: Causality>(
    _ element: LocalID, in value: inout ReplicatingArray<UInt8>, _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    if copies.isWithheld(element) { return false }
    if value.isWithdrawn(inserter(of: element, value)) { return false }
    if isOnlyConverted(element, value) { return false }
    let removers = removers(of: element, value)
    for change in removers {
      guard try spares(change, element, in: &value, &causality) else { return false }
    }
    return !removers.isEmpty
  }

  /// True if no change removed a line end but such as put another one in its place.
  private mutating func isOnlyConverted(
    _ element: LocalID, _ value: ReplicatingArray<UInt8>
  ) -> Bool {
    guard let converters = copies.converters[element] else { return false }
    return removers(of: element, value).allSatisfy(converters.contains)
  }

  /// True if a change spares a separator that it removed.
  private mutating func spares<Asked: Causality>(
    _ change: LocalChange, _ element: LocalID, in value: inout ReplicatingArray<UInt8>,
    _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    if let answer = spared[change]?[element] { return answer }
    let (before, left) = try side(of: element, isForward: false, change, &value, &causality)
    let (behind, right) = try side(of: element, isForward: true, change, &value, &causality)
    let separators = before.reversed() + [element] + behind
    let division = try division(between: left, right, by: change, in: &value, &causality)
    var chosen = try chosen(separators, left, right, change, value, &causality)
    if division == .lines || division == .words && chosen?.isBetweenLines == false { chosen = nil }
    var carriageReturn: LocalID?
    if let (separator, isBetweenLines) = chosen, isBetweenLines, value.byte(separator) == 0x0A {
      carriageReturn = try self.carriageReturn(
        before: chosen!.separator, separators, change, &value, &causality)
    }
    var answers = spared.removeValue(forKey: change) ?? [:]
    for separator in separators {
      answers[separator] = separator == chosen?.separator || separator == carriageReturn
    }
    spared[change] = answers
    return answers[element]!
  }

  /// The separators of the gap that a divider is in, of its own change.
  mutating func separators<Asked: Causality>(
    beside divider: Divider, in value: inout ReplicatingArray<UInt8>, _ causality: inout Asked
  ) throws(Asked.Failure) -> [LocalID] {
    try side(of: divider.first, isForward: false, divider.change, &value, &causality).separators
      + side(of: divider.last, isForward: true, divider.change, &value, &causality).separators
  }

  /// The carriage return that belongs to a spared line feed: nothing that was inserted in the world stands between them.
  private mutating func carriageReturn<Asked: Causality>(
    before lineFeed: LocalID, _ separators: [LocalID], _ change: LocalChange,
    _ value: inout ReplicatingArray<UInt8>, _ causality: inout Asked
  ) throws(Asked.Failure) -> LocalID? {
    var next = lineFeed
    while let previous = value.neighbour(of: next, isForward: false) {
      next = previous
      guard !copies.isWithheld(previous), try isInserted(previous, in: change, value, &causality)
      else { continue }
      return value.byte(previous) == 0x0D && separators.contains(previous) ? previous : nil
    }
    return nil
  }

  /// The separator that a change spares in a gap, and whether it is a line feed that keeps lines apart.
  private mutating func chosen<Asked: Causality>(
    _ separators: [LocalID], _ left: LocalID?, _ right: LocalID?, _ change: LocalChange,
    _ value: ReplicatingArray<UInt8>, _ causality: inout Asked
  ) throws(Asked.Failure) -> (separator: LocalID, isBetweenLines: Bool)? {
    guard let left else { return nil }
    func isLineEnd(_ element: LocalID) -> Bool {
      value.byte(element) == 0x0A || value.byte(element) == 0x0D
    }
    let lineEnds = separators.filter(isLineEnd)
    let lost = separators.filter { !isOnlyConverted($0, value) }
    if let last = lost.last(where: isLineEnd), !isLineEnd(left), !(right.map(isLineEnd) ?? false),
      !(try areJoined(left, right, lineEnds, change, value, &causality))
    {
      return (last, true)
    }
    guard let right, !ReplicatingArray.isWhite(value.byte(left)),
      !ReplicatingArray.isWhite(value.byte(right)), let last = lost.last,
      !(try areJoined(left, right, separators, change, value, &causality))
    else { return nil }
    return (last, false)
  }

  /// True if two elements stand in the text after some change of a world with none of the separators between them.
  private mutating func areJoined<Asked: Causality>(
    _ left: LocalID, _ right: LocalID?, _ separators: [LocalID], _ change: LocalChange,
    _ value: ReplicatingArray<UInt8>, _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    var changes: Set<LocalChange> = [change]
    for end in [left, right].compactMap({ $0 }) {
      for element in [end] + copies.counterparts(of: end) {
        changes.insert(inserter(of: element, value))
      }
    }
    let separators = oneOfEachStretch(separators, value)
    for separator in separators { changes.formUnion(removers(of: separator, value)) }
    for other in changes {
      guard try isInWorld(of: change, other, value, &causality),
        try isAfter(other, left, value, &causality)
      else { continue }
      if let right, !(try isAfter(other, right, value, &causality)) { continue }
      var isSeparated = false
      for separator in separators where !isSeparated {
        isSeparated = try isAfter(other, separator, value, &causality)
      }
      if !isSeparated { return true }
    }
    return false
  }

  /// One of the elements of each stretch, of elements in the order of the text.
  private mutating func oneOfEachStretch(
    _ elements: [LocalID], _ value: ReplicatingArray<UInt8>
  ) -> [LocalID] {
    var stretch: Stretch?
    return elements.filter { element in
      if stretch?.contains(element) == true { return false }
      stretch = self.stretch(of: element, value)
      return true
    }
  }

  /// True if an element is in the text after a change.
  private mutating func isAfter<Asked: Causality>(
    _ change: LocalChange, _ element: LocalID, _ value: ReplicatingArray<UInt8>,
    _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    var isKnown = try knows(change, inserter(of: element, value), value, &causality)
    for counterpart in copies.counterparts(of: element) where !isKnown {
      isKnown = try knows(change, inserter(of: counterpart, value), value, &causality)
    }
    guard isKnown else { return false }
    for remover in removers(of: element, value) {
      if try knows(change, remover, value, &causality) { return false }
    }
    return true
  }
}

/// A set of elements, of which as a rule many are near each other: a bit for each, in pages of 1,024.
struct ElementBitmap {
  private static let pageSize: UInt32 = 1_024

  /// By the first element of a page, the place of the page in `words`.
  private var places: [LocalID: Int] = [:]
  private var words: [UInt64] = []
  /// The page that was asked about last, and its place.
  private var latest: (page: LocalID, place: Int)?

  /// Inserts an element; returns whether it was not there. O(1).
  mutating func insert(_ element: LocalID) -> Bool {
    let page = LocalID(element.author, element.offset & ~(Self.pageSize - 1))
    if latest?.page != page { latest = (page, place(of: page)) }
    let bit = Int(element.offset & (Self.pageSize - 1))
    let index = latest!.place + (bit >> 6)
    let mask: UInt64 = 1 << UInt64(bit & 63)
    let isNew = words[index] & mask == 0
    words[index] |= mask
    return isNew
  }

  private mutating func place(of page: LocalID) -> Int {
    if let place = places[page] { return place }
    let place = words.count
    places[page] = place
    words += repeatElement(0, count: Int(Self.pageSize) >> 6)
    return place
  }
}
