import ReplicatingTypes

@testable import Notes

private let lineFeed: UInt8 = 0x0A
private let carriageReturn: UInt8 = 0x0D
func isWhite(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

/// The text of any set of changes that contains all that its changes know.
struct TextOracle {
  /// How the oracle is written wrong, to show that it can differ.
  enum Mistake: CaseIterable {
    // What a deletion spares.
    case withoutTheSecondRule
    case theFirstLineFeed
    case theFirstSeparator
    case withoutWhoPutThemTogether
    case withoutCarriageReturns
    case ifOneRemovalSparesIt
    case nothingAtTheEnd
    case whoKnowsThem
    case whoRemovedAnySeparator
    case whatTheProcessHadSeen
    // The same replacement made twice.
    case withoutCopies
    case copiesOfWhatIsOnlyInserted
    case copiesWithoutOrigins
    case copiesOfReplacementsOfAnyOrigin
    case copiesWithoutWholeChanges
    case copiesOfPartsOfChanges
    case copiesOfOneAndNotOfEachOther
    case theLastCopy
    case theFirstCopyAlways
    case withoutWhatWasTypedInside
    case withoutWhatWasTypedBehind
    case withoutWhatWasTypedBefore
    case copiesOfBeginningsOfWords
    case withoutCounterparts
    case counterpartsOfSeveral
    case counterpartsThatAreSpared
    case copiesApartFromSeparators
    // What divides two replacements.
    case withoutDividers
    case dividersThatAreSeparators
    case dividersBesideSparedSeparators
    case dividersBesideWithheldCopies
    // Line ends of another kind.
    case withoutHiddenLineEnds
    case lineEndsWhoseAnchorIsRemoved
    case lineEndsOfRemovedLines
    case lineEndsApartFromTheirs
    case lineEndsThatReplaceTwice
    // Taking changes back.
    case withdrawalsThatAlwaysCount
    case withdrawalsThatNoOtherNames
    case withdrawalsFromTheFirst
    case withdrawalsBeforeTheyWereMade
    case withdrawalsOfOwnChanges
    case theEndsOfWithdrawnRuns
    case insertionsOfWithdrawnChanges
    case removalsOfWithdrawnChanges
    case withdrawnChangesInWorlds
    case withdrawnChangesInTextsAfter
    case withdrawnCopies
    case copiesThatWithdrawnChangesWentOnFrom
    case withdrawnElementsInsideOfCopies
    case insideOfCopiesByPlace
    case separatorsThatWithdrawnChangesInserted

    static var ofWithdrawing: [Mistake] {
      Array(allCases.drop { $0 != .withdrawalsThatAlwaysCount })
    }
    static var ofMerging: [Mistake] { allCases.filter { !ofWithdrawing.contains($0) } }
  }

  /// An element, and whether a set of changes shows it.
  struct Shown {
    var id: ElementID
    var byte: UInt8
    var isShown: Bool
    var isRemoved: Bool
  }

  private struct Element {
    var id: ElementID
    var byte: UInt8
    /// The index of the change that inserted it.
    var inserter: Int
    /// Those of the changes that removed it.
    var removers: [Int] = []
    /// True if its change brought it to divide what it inserts from other replacements.
    var isDivider = false
  }

  /// What one change put between the same two elements.
  private struct Insertion {
    var change: Int
    var left: ElementID?
    var right: ElementID?
    /// The time of the first element.
    var time: LamportTimestamp
    var ids: [ElementID]
    var bytes: [UInt8]
    /// The number of its last elements that divide it from others.
    var divider = 0
    /// The places of its elements in the document.
    var elements: [Int] = []
    var replacesLeft = false
    var replacesRight = false

    func hasSamePlaceAndBytes(as other: Insertion) -> Bool {
      left == other.left && right == other.right && bytes == other.bytes
    }
  }

  /// A set of changes, and the elements that they inserted, by their indices.
  private struct Members {
    var isMember: [Bool]
    var changes: [Int]
    var elements: [Int]

    init(of isMember: [Bool], _ document: [Element]) {
      self.isMember = isMember
      changes = isMember.indices.filter { isMember[$0] }
      elements = document.indices.filter { isMember[document[$0].inserter] }
    }
  }

  private let mistake: Mistake?
  private let ids: [ChangeID]
  /// `isKnown[y][x]`: whether change y knows change x.
  private let isKnown: [[Bool]]
  /// All elements that were ever inserted, in order.
  private let document: [Element]
  private let insertions: [Insertion]
  /// The left origin of each element.
  private let lefts: [ElementID: ElementID?]
  /// The elements that each change removed.
  private let removed: [Set<ElementID>]
  /// The changes that each change takes back.
  private let named: [Set<Int>]

  /// In an order in which each change comes after those that it follows.
  init(of changes: [KnownChange], in note: NoteID, mistake: Mistake? = nil) {
    self.mistake = mistake
    ids = changes.map(\.change.id)
    isKnown = changes.map { later in
      changes.map { earlier in
        mistake == .whatTheProcessHadSeen
          ? later.past.contains(earlier.change.id) : later.seen.contains(earlier.change.id)
      }
    }
    var tree = OrderTree()
    var elements: [ElementID: Element] = [:]
    var counts: [ReplicaID: Int] = [:]
    var ends: [ChangeID: UInt64] = [:]
    var lefts: [ElementID: ElementID?] = [:]
    var insertions: [Insertion] = []
    var removed = changes.map { _ in Set<ElementID>() }
    for (index, known) in changes.enumerated() {
      let author = known.change.id.replica
      let past = changes.filter { known.past.contains($0.change.id) }
      let start = past.map { ends[$0.change.id]! }.max() ?? 0
      // An insertion takes a tick for each byte, a place one, all else none; and a change at least one.
      var time = start
      for operation in known.change.operations {
        guard case .edit(note, .text(let edit)) = operation else {
          if case .place = operation { time += 1 }
          continue
        }
        switch edit {
        case .insert(let bytes, var left, let right, let divider):
          if bytes.isEmpty { continue }
          if let last = insertions.last, last.change == index, last.ids.last == left,
            last.right == right
          {
            insertions[insertions.count - 1].bytes += bytes
          } else {
            insertions.append(
              Insertion(
                change: index, left: left, right: right,
                time: LamportTimestamp(count: time + 1, replica: author), ids: [], bytes: bytes))
          }
          insertions[insertions.count - 1].divider = divider
          for (place, byte) in bytes.enumerated() {
            time += 1
            let id = ElementID(author: author, offset: counts[author, default: 0])
            counts[author, default: 0] += 1
            insertions[insertions.count - 1].ids.append(id)
            let isDivider = place >= bytes.count - divider
            elements[id] = Element(
              id: id, byte: byte, inserter: index, removers: isDivider ? [index] : [],
              isDivider: isDivider)
            let timestamp = LamportTimestamp(count: time, replica: author)
            tree.insert(id, byte, at: timestamp, left: left, right: right)
            lefts.updateValue(left, forKey: id)
            left = id
          }
        case .remove(let range):
          for offset in range.offset..<range.end {
            let id = ElementID(author: range.author, offset: offset)
            elements[id]!.removers.append(index)
            removed[index].insert(id)
          }
        }
      }
      ends[known.change.id] = max(time, start + 1)
    }
    let document = tree.document.map { elements[$0]! }
    self.document = document
    for index in insertions.indices {
      let insertion = insertions[index]
      let gone = removed[insertion.change]
      insertions[index].elements = insertion.ids.map { id in
        document.firstIndex { $0.id == id }!
      }
      insertions[index].replacesLeft = insertion.left.map { gone.contains($0) } ?? false
      insertions[index].replacesRight = insertion.right.map { gone.contains($0) } ?? false
    }
    self.insertions = insertions
    self.lefts = lefts
    self.removed = removed
    named = changes.map { known in
      let names = known.withdrawn(in: note).flatMap(\.runs)
      return Set(
        changes.indices.filter { index in
          let id = changes[index].change.id
          if mistake == .withdrawalsOfOwnChanges, id.replica != known.change.id.replica {
            return false
          }
          if mistake == .theEndsOfWithdrawnRuns {
            return names.contains { $0.first == id || $0.last == id }
          }
          return names.contains { $0.replica == id.replica && $0.numbers.contains(id.number) }
        })
    }
  }

  func text(of version: Version) -> [UInt8] { text { version.contains($0) } }

  /// The text of some changes.
  func text(_ contains: (ChangeID) -> Bool) -> [UInt8] {
    elements(contains).filter(\.isShown).map(\.byte)
  }

  /// What some changes inserted, in order.
  func elements(_ contains: (ChangeID) -> Bool) -> [Shown] {
    let all = Members(of: ids.map(contains), document)
    let withdrawn = withdrawn(of: all)
    let rest = Members(
      of: ids.indices.map { all.isMember[$0] && !withdrawn.contains($0) }, document)
    let isShown = shown(of: rest, all)
    return all.elements.map { element in
      let element = document[element]
      return Shown(
        id: element.id, byte: element.byte, isShown: isShown[element.id] ?? false,
        isRemoved: element.removers.contains { rest.isMember[$0] })
    }
  }

  /// True if each element is shown that some changes inserted which are not withdrawn; `all` has those that are, too.
  private func shown(of members: Members, _ all: Members) -> [ElementID: Bool] {
    let (withheldCopies, counterparts) = copies(of: members, all)
    let (hidden, converters) = hiddenLineEnds(of: members, without: withheldCopies)
    let withheld = withheldCopies.union(hidden)
    let isApart = mistake == .copiesApartFromSeparators
    var world = mistake == .withdrawnChangesInWorlds ? all : members
    let isCounted = mistake == .removalsOfWithdrawnChanges ? all.isMember : members.isMember
    var elements = mistake == .insertionsOfWithdrawnChanges ? all.elements : members.elements
    if mistake == .separatorsThatWithdrawnChangesInserted {
      elements = all.elements.filter { element in
        members.isMember[document[element].inserter]
          || document[element].removers.contains { members.isMember[$0] }
      }
      world.elements = elements
    }
    let rest = isApart ? world.elements : world.elements.filter { !withheld.contains($0) }
    let removers = Set(elements.flatMap { document[$0].removers }.filter { isCounted[$0] })
    let called = dividersCalledFor(among: members, withheld, counterparts)
    var spared: [Int: Set<Int>] = [:]
    for change in removers {
      spared[change] = self.spared(
        by: change, of: world, rest, isApart ? [:] : counterparts,
        dividing: called.filter { $0.change == change }, converters)
    }
    let divided = Set(called.flatMap { $0.elements.suffix($0.divider) })
    var shown: [ElementID: Bool] = [:]
    for element in elements {
      var isShown = !withheld.contains(element)
      let own = document[element].removers.filter { isCounted[$0] }
      if let converters = converters[element], own.allSatisfy(converters.contains), !own.isEmpty {
        isShown = false
      }
      let others = (counterparts[element] ?? []).flatMap { document[$0].removers }
        .filter { isCounted[$0] && !own.contains($0) }
      if document[element].isDivider, mistake != .dividersThatAreSeparators {
        let inserters = ([element] + (counterparts[element] ?? [])).map { document[$0].inserter }
        let isOwn = (own + others).allSatisfy { inserters.contains($0) }
        isShown = isShown && divided.contains(element) && isOwn
      } else if mistake == .ifOneRemovalSparesIt, !(own + others).isEmpty {
        isShown = isShown && (own + others).contains { spared[$0]!.contains(element) }
      } else {
        isShown = isShown && (own + others).allSatisfy { spared[$0]!.contains(element) }
      }
      if mistake == .counterpartsThatAreSpared, !others.isEmpty { isShown = false }
      if hidden.contains(element) { isShown = false }
      shown[document[element].id] = isShown
    }
    return shown
  }

  /// The elements that a change spares, of those that a set of changes inserted.
  private func spared(
    by change: Int, of members: Members, _ elements: [Int], _ counterparts: [Int: [Int]],
    dividing: [Insertion], _ converters: [Int: [Int]]
  ) -> Set<Int> {
    let world = members.changes.filter { !isKnown[$0][change] }
    var isWorld = ids.map { _ in false }
    for member in world { isWorld[member] = true }
    func all(_ element: Int) -> [Int] { [element] + (counterparts[element] ?? []) }
    func removers(of element: Int) -> [Int] { all(element).flatMap { document[$0].removers } }
    func isInserted(_ element: Int) -> Bool {
      all(element).contains { isWorld[document[$0].inserter] }
    }
    var spared: Set<Int> = []
    var before: Int?
    var gap: [Int] = []
    /// The bytes of the dividers of the change that divide something in a gap.
    func division(between before: Int, _ behind: Int?) -> [UInt8] {
      if mistake == .dividersBesideSparedSeparators { return [] }
      return dividing.flatMap { insertion in
        let elements = insertion.elements.suffix(insertion.divider)
        let isInGap = before < elements.first! && behind.map { elements.last! < $0 } ?? true
        return isInGap ? elements.map { document[$0].byte } : []
      }
    }
    func endGap(_ behind: Int?) {
      let separators = gap.filter { element in
        isWhite(document[element].byte) && removers(of: element).contains { isWorld[$0] }
          && (!document[element].isDivider || mistake == .dividersThatAreSeparators)
      }
      if let before, !separators.isEmpty {
        spare(
          separators, of: gap, between: before, behind, by: change, in: world, of: members,
          counterparts, divided: division(between: before, behind), converters, &spared)
      }
    }
    for element in elements {
      let isThere =
        isInserted(element) && !removers(of: element).contains { isWorld[$0] }
      if isThere {
        endGap(element)
        before = element
        gap = []
      } else if isInserted(element) || mistake == .separatorsThatWithdrawnChangesInserted {
        gap.append(element)
      }
    }
    endGap(nil)
    return spared
  }

  /// What a change spares of the separators of a gap that is between `before` and `behind`, or the end.
  private func spare(
    _ separators: [Int], of gap: [Int], between before: Int, _ behind: Int?, by change: Int,
    in world: [Int], of members: Members, _ counterparts: [Int: [Int]], divided: [UInt8],
    _ converters: [Int: [Int]], _ spared: inout Set<Int>
  ) {
    if divided.contains(lineFeed) || divided.contains(carriageReturn) { return }
    let isMember =
      mistake == .withdrawnChangesInTextsAfter ? ids.map { _ in true } : members.isMember
    func all(_ element: Int) -> [Int] { [element] + (counterparts[element] ?? []) }
    func isThere(_ element: Int, after change: Int) -> Bool {
      func isIn(_ other: Int) -> Bool {
        isMember[other] && (other == change || isKnown[change][other])
      }
      return all(element).contains { isIn(document[$0].inserter) }
        && !all(element).contains { document[$0].removers.contains(where: isIn) }
    }
    /// True if somebody put both side by side without any of these: the change itself, who inserted one of both, or who
    /// removed one of these. Who only knows such changes, each of a part, put nothing side by side.
    func isTogether(without missing: [Int]) -> Bool {
      if mistake == .withoutWhoPutThemTogether { return false }
      if behind == nil, mistake == .nothingAtTheEnd { return true }
      let inserters = [before, behind ?? before].flatMap(all).map { document[$0].inserter }
      let removers = (mistake == .whoRemovedAnySeparator ? separators : missing)
        .flatMap(all).flatMap { document[$0].removers }
      return world.contains { other in
        (other == change || (inserters + removers).contains(other) || mistake == .whoKnowsThem)
          && isThere(before, after: other)
          && behind.map { isThere($0, after: other) } ?? true
          && !missing.contains { isThere($0, after: other) }
      }
    }
    let ends = [document[before].byte] + (behind.map { [document[$0].byte] } ?? [])
    let lineFeeds = separators.filter { [lineFeed, carriageReturn].contains(document[$0].byte) }
    let isBesideLineEnd = ends.contains(lineFeed) || ends.contains(carriageReturn)
    /// True if it was removed, and not only made another line end.
    func isLost(_ element: Int) -> Bool {
      guard let converters = converters[element] else { return true }
      return all(element).flatMap { document[$0].removers }.contains {
        isMember[$0] && !converters.contains($0)
      }
    }
    let lost = separators.filter(isLost)
    let lostEnds = lineFeeds.filter(isLost)
    if !lostEnds.isEmpty, !isBesideLineEnd, !isTogether(without: lineFeeds) {
      let kept = mistake == .theFirstLineFeed ? lostEnds[0] : lostEnds.last!
      spared.insert(kept)
      let place = gap.firstIndex(of: kept)!
      if place > 0, document[kept].byte == lineFeed,
        document[gap[place - 1]].byte == carriageReturn,
        mistake != .withoutCarriageReturns
      {
        spared.insert(gap[place - 1])
      }
    } else if divided.isEmpty, !lost.isEmpty, behind != nil, !ends.contains(where: isWhite),
      !isTogether(without: separators), mistake != .withoutTheSecondRule
    {
      spared.insert(mistake == .theFirstSeparator ? lost[0] : lost.last!)
    }
  }
}

extension TextOracle {
  /// True if an insertion is a line end that was made one of another kind.
  private func convertsLineEnd(_ insertion: Insertion) -> Bool {
    let ends = [[lineFeed], [carriageReturn], [carriageReturn, lineFeed]]
    return ends.contains {
      insertion.divider == $0.count && insertion.bytes.suffix(2 * $0.count) == ($0 + $0)[...]
    }
  }

  /// The converted line ends that are not shown.
  private func hiddenLineEnds(
    of members: Members, without withheld: Set<Int>
  ) -> (hidden: Set<Int>, converters: [Int: [Int]]) {
    if mistake == .withoutHiddenLineEnds { return ([], [:]) }
    func place(_ id: ElementID?) -> Int? {
      id.flatMap { id in document.firstIndex { $0.id == id } }
    }
    func isLineEnd(_ place: Int) -> Bool {
      [lineFeed, carriageReturn].contains(document[place].byte)
    }
    /// The changes that removed an element, without the one that brought it as a divider.
    func removers(of place: Int) -> [Int] {
      document[place].removers.filter { members.isMember[$0] }
    }
    func isThere(_ place: Int) -> Bool {
      members.isMember[document[place].inserter] && !withheld.contains(place)
    }
    var ends: [(elements: [Int], change: Int, anchors: [Int], replaces: Bool)] = []
    for insertion in insertions
    where members.isMember[insertion.change] && convertsLineEnd(insertion) {
      let elements = Array(insertion.elements.dropLast(insertion.divider).suffix(insertion.divider))
      let isAlone = elements.count + insertion.divider == insertion.elements.count
      let (left, right) = (isAlone ? place(insertion.left) : nil, place(insertion.right))
      let taken = ends.last { $0.change == insertion.change }?.anchors ?? []
      var replaced = [left, right].compactMap { $0 }.filter {
        isLineEnd($0) && removers(of: $0).contains(insertion.change) && !taken.contains($0)
      }
      if replaced.map({ document[$0].byte }) != [carriageReturn, lineFeed] {
        replaced = Array(replaced.prefix(1))
      }
      if !replaced.isEmpty {
        ends.append((elements, insertion.change, replaced, true))
      } else if let right, document[right].byte == lineFeed, elements.count == 1,
        document[elements[0]].byte == carriageReturn
      {
        ends.append((elements, insertion.change, [right], false))
      }
    }
    ends.sort { $0.elements[0] < $1.elements[0] }
    var changes: [Int: [Int]] = [:]
    for end in ends where end.replaces {
      for anchor in end.anchors { changes[anchor, default: []].append(end.change) }
    }
    /// True if a line end is gone, whatever has become of the converted one `except` in its place.
    func isGone(_ place: Int, except: Int? = nil) -> Bool {
      removers(of: place).contains { !(changes[place] ?? []).contains($0) }
        || ends.contains {
          $0.replaces && $0.anchors.last == place && $0.elements.last != except
            && isGone($0.elements.last!)
        }
    }
    let hidden = ends.filter { end in
      guard !withheld.contains(end.elements[0]) else { return false }
      if !end.anchors.allSatisfy(isThere) { return mistake != .lineEndsOfRemovedLines }
      let converters = ends.filter { other in
        other.replaces && other.anchors.contains { end.anchors.contains($0) }
      }
      let first = converters.first { !withheld.contains($0.elements[0]) }
      if end.replaces {
        return isGone(end.anchors.last!, except: end.elements.last)
          && mistake != .lineEndsOfRemovedLines
          || first?.elements != end.elements && mistake != .lineEndsThatReplaceTwice
      }
      let isSeparated = (end.elements[0] + 1..<end.anchors[0]).contains { place in
        isThere(place) && !(document[place].isDivider && document[place].inserter == end.change)
      }
      return !removers(of: end.anchors[0]).isEmpty && mistake != .lineEndsWhoseAnchorIsRemoved
        || isSeparated && mistake != .lineEndsApartFromTheirs
    }
    return (Set(hidden.flatMap(\.elements)), changes)
  }

  /// The insertions whose dividers are called for.
  private func dividersCalledFor(
    among members: Members, _ withheld: Set<Int>, _ counterparts: [Int: [Int]]
  ) -> [Insertion] {
    if mistake == .withoutDividers { return [] }
    let withheld = mistake == .dividersBesideWithheldCopies ? [] : withheld
    let dividing = insertions.filter { insertion in
      insertion.divider > 0 && !convertsLineEnd(insertion) && members.isMember[insertion.change]
        && !withheld.contains(insertion.elements.last!)
    }
    let pairs = dividing.map { pair(dividedBy: $0, members, withheld, counterparts) }
    return dividing.indices.filter { index in
      guard let pair = pairs[index] else { return false }
      let divider = dividing[index].elements.suffix(dividing[index].divider)
      return !dividing.indices.contains { other in
        let place = dividing[other].elements.last!
        return pair.last < place && place < divider.first!
          && pairs[other].map { divider.last! < $0.first } ?? false
      }
    }.map { dividing[$0] }
  }

  /// The last element in front of a divider and the first one behind it that it is to divide.
  private func pair(
    dividedBy insertion: Insertion, _ members: Members, _ withheld: Set<Int>,
    _ counterparts: [Int: [Int]]
  ) -> (last: Int, first: Int)? {
    let change = insertion.change
    func knows(_ change: Int, _ other: Int) -> Bool { change == other || isKnown[change][other] }
    func all(_ element: Int) -> [Int] { [element] + (counterparts[element] ?? []) }
    func inserters(of element: Int) -> [Int] {
      all(element).map { document[$0].inserter }.filter { members.isMember[$0] }
    }
    func removers(of element: Int) -> [Int] {
      all(element).flatMap { document[$0].removers }.filter { members.isMember[$0] }
    }
    func isThere(_ element: Int, inWorldOf change: Int) -> Bool {
      func isInWorld(_ other: Int) -> Bool { other == change || !isKnown[other][change] }
      return !withheld.contains(element) && inserters(of: element).contains(where: isInWorld)
        && !removers(of: element).contains(where: isInWorld)
    }
    func isNew(_ element: Int) -> Bool {
      !inserters(of: element).contains { knows(change, $0) }
    }
    let divider = insertion.elements.suffix(insertion.divider)
    let extent = extent(
      behind: divider.last!, of: insertion, isNew, inserters, removers, withheld)
    let first = extent.elements.first { isNew($0) && isThere($0, inWorldOf: change) }
    guard let first else { return nil }
    if let last = extent.last, first > last.element,
      !inserters(of: first).contains(where: last.removers.contains)
    {
      return nil
    }
    let others = inserters(of: first).filter { !knows($0, change) }
    let last = (insertion.elements[0]..<divider.first!).last { element in
      others.contains { isThere(element, inWorldOf: $0) }
    }
    guard let last else { return nil }
    func isEnd(_ byte: UInt8) -> Bool { byte == lineFeed || byte == carriageReturn }
    let divides = divider.contains { isEnd(document[$0].byte) } ? isEnd : isWhite
    return [first, last].contains { divides(document[$0].byte) } ? nil : (last, first)
  }

  /// The extent, with the last element of it that the change of the insertion removed, and the changes that removed one of those.
  private func extent(
    behind end: Int, of insertion: Insertion, _ isNew: (Int) -> Bool,
    _ inserters: (Int) -> [Int], _ removers: (Int) -> [Int], _ withheld: Set<Int>
  ) -> (elements: [Int], last: (element: Int, removers: Set<Int>)?) {
    let change = insertion.change
    func knows(_ other: Int) -> Bool { change == other || isKnown[change][other] }
    // What a withdrawn change inserted is not there; what the change has removed of it counts.
    func isThere(_ element: Int) -> Bool {
      !inserters(element).isEmpty && !withheld.contains(element)
    }
    let stretch = document[(end + 1)...].indices.prefix { element in
      !isThere(element) || isNew(element) || removers(element).contains(where: knows)
    }
    let removed = stretch.filter {
      !withheld.contains($0) && (inserters($0).isEmpty || !isNew($0))
        && removers($0).contains(change)
    }
    if let last = removed.last {
      return (stretch.filter(isThere), (last, Set(removed.flatMap(removers))))
    }
    guard let left = insertion.left.flatMap({ id in document.firstIndex { $0.id == id } }),
      removers(left).contains(change)
    else { return ([], nil) }
    var run: Set<Int> = []
    var siblings: [Int] = []
    for element in stretch where inserters(element).isEmpty || isNew(element) {
      let origin = lefts[document[element].id]!
      let isSibling =
        origin == insertion.left && inserters(element).contains { removers(left).contains($0) }
      let isBehind = origin.map { id in run.contains { document[$0].id == id } } ?? false
      let isStepped = !isThere(element) || !inserters(element).contains { !isKnown[$0][change] }
      if isSibling || isBehind {
        run.insert(element)
        if !isStepped { siblings.append(element) }
      } else if !isStepped {
        break
      }
    }
    return (siblings, nil)
  }

  /// Those of a set of changes that are withdrawn. All that name a change come behind it.
  private func withdrawn(of members: Members) -> Set<Int> {
    let isMember =
      mistake == .withdrawalsBeforeTheyWereMade ? ids.map { _ in true } : members.isMember
    let withdrawals = ids.indices.filter { isMember[$0] && !named[$0].isEmpty }
    var withdrawn: Set<Int> = []
    switch mistake {
    case .withdrawalsThatAlwaysCount:
      for withdrawal in withdrawals { withdrawn.formUnion(named[withdrawal]) }
    case .withdrawalsThatNoOtherNames:
      let others = Set(withdrawals.flatMap { named[$0] })
      for withdrawal in withdrawals where !others.contains(withdrawal) {
        withdrawn.formUnion(named[withdrawal])
      }
    case .withdrawalsFromTheFirst:
      // What was withdrawn first is there again when one withdrawal of it is withdrawn.
      for withdrawal in withdrawals {
        withdrawn.formUnion(named[withdrawal])
        for other in named[withdrawal] { withdrawn.subtract(named[other]) }
      }
    default:
      for withdrawal in withdrawals.reversed() where !withdrawn.contains(withdrawal) {
        withdrawn.formUnion(named[withdrawal])
      }
    }
    return withdrawn
  }

  /// The elements of copies that are not shown, and, by element of a copy that is shown alone, its counterparts in the others.
  private func copies(
    of members: Members, _ all: Members
  ) -> (withheld: Set<Int>, counterparts: [Int: [Int]]) {
    var withheld: Set<Int> = []
    var counterparts: [Int: [Int]] = [:]
    if mistake == .withoutCopies { return (withheld, counterparts) }
    let isMember = mistake == .withdrawnCopies ? all.isMember : members.isMember
    for group in groups(of: insertions.filter { isMember[$0.change] }) {
      let shown = shown(of: group.sorted { $0.elements[0] < $1.elements[0] }, members, all)
      let others = group.filter { copy in !shown.contains { $0.time == copy.time } }
      for other in others { withheld.formUnion(other.elements) }
      guard shown.count == 1 || mistake == .counterpartsOfSeveral else { continue }
      if mistake == .withoutCounterparts { continue }
      for copy in shown {
        for (place, element) in copy.elements.enumerated() {
          counterparts[element] = others.map { $0.elements[place] }
        }
      }
    }
    return (withheld, counterparts)
  }

  /// Those of a group, in order, that are shown.
  private func shown(
    of group: [Insertion], _ members: Members, _ all: Members
  ) -> [Insertion] {
    let isMember =
      mistake == .copiesThatWithdrawnChangesWentOnFrom ? all.isMember : members.isMember
    let rest = insertions.filter { isMember[$0.change] }
    func isLeft(_ ids: some Sequence<ElementID>, _ insertions: [Insertion]) -> Bool {
      insertions.contains { $0.left.map { ids.contains($0) } ?? false }
    }
    func isWritten(in copy: Insertion) -> Bool {
      switch mistake {
      case .withdrawnElementsInsideOfCopies:
        isLeft(copy.ids.dropLast(), insertions.filter { all.isMember[$0.change] })
      case .insideOfCopiesByPlace: self.isWritten(in: copy, members.elements)
      default: isLeft(copy.ids.dropLast(copy.divider + 1), rest) || goesOn(copy)
      }
    }
    func isOfWord(_ byte: UInt8) -> Bool {
      byte >= 0x80 || Character(Unicode.Scalar(byte)).isLetter
        || Character(Unicode.Scalar(byte)).isNumber
    }
    func goesOn(_ copy: Insertion) -> Bool {
      let place = copy.ids.count - copy.divider - 1
      let last = copy.bytes[place]
      let isScalar = String(decoding: copy.bytes[...place], as: UTF8.self).unicodeScalars.count == 1
      return mistake != .copiesOfBeginningsOfWords
        && rest.contains { next in
          guard next.left == copy.ids[place] else { return false }
          if isScalar { return ![10, 13].contains(next.bytes[0]) }
          return isOfWord(last) && isOfWord(next.bytes[0])
        }
    }
    func isFollowed(_ copy: Insertion) -> Bool {
      mistake == .withoutWhatWasTypedBehind ? isWritten(in: copy) : isLeft(copy.ids, rest)
    }
    func isPreceded(_ copy: Insertion) -> Bool {
      mistake != .withoutWhatWasTypedBefore
        && rest.contains { $0.left == copy.left && $0.right == copy.ids[0] }
    }
    if mistake == .theFirstCopyAlways { return [group[0]] }
    guard let first = group.firstIndex(where: isFollowed) else {
      return [group.last(where: isPreceded) ?? (mistake == .theLastCopy ? group.last! : group[0])]
    }
    let behind = group[(first + 1)...].filter { copy in
      mistake != .withoutWhatWasTypedInside && isWritten(in: copy) || isPreceded(copy)
    }
    return [group[first]] + behind
  }

  /// Two or more that are copies of each other, because each is one of another of them.
  private func groups(of insertions: [Insertion]) -> [[Insertion]] {
    var groups: [[Insertion]] = []
    for insertion in insertions {
      func isCopy(_ group: [Insertion]) -> Bool {
        mistake == .copiesOfOneAndNotOfEachOther
          ? group.allSatisfy { areCopies($0, insertion) }
          : group.contains { areCopies($0, insertion) }
      }
      let joined = groups.filter(isCopy).flatMap { $0 } + [insertion]
      groups.removeAll(where: isCopy)
      groups.append(joined)
    }
    return groups.filter { $0.count > 1 }
  }

  private func areCopies(_ one: Insertion, _ other: Insertion) -> Bool {
    guard one.hasSamePlaceAndBytes(as: other) else { return false }
    if mistake == .copiesOfWhatIsOnlyInserted { return true }
    if mistake == .copiesOfReplacementsOfAnyOrigin,
      one.replacesLeft || one.replacesRight, other.replacesLeft || other.replacesRight
    {
      return true
    }
    if mistake != .copiesWithoutOrigins {
      if one.replacesLeft && other.replacesLeft { return true }
      if one.replacesRight && other.replacesRight { return true }
    }
    return mistake != .copiesWithoutWholeChanges && areAlike(one.change, other.change)
  }

  /// True if two changes did the same to the text.
  private func areAlike(_ one: Int, _ other: Int) -> Bool {
    if removed[one] != removed[other] { return false }
    let inserted = insertions.filter { $0.change == one }
    if removed[one].isEmpty, inserted.count < 2, !inserted.contains(where: convertsLineEnd) {
      return false
    }
    if mistake == .copiesOfPartsOfChanges { return true }
    func isContained(_ one: Int, _ other: Int) -> Bool {
      insertions.filter { $0.change == one }.allSatisfy { insertion in
        insertions.contains { $0.change == other && $0.hasSamePlaceAndBytes(as: insertion) }
      }
    }
    return isContained(one, other) && isContained(other, one)
  }

  /// True if something else stands between the first and the last element of an insertion.
  private func isWritten(in insertion: Insertion, _ elements: [Int]) -> Bool {
    let (first, last) = (insertion.elements.first!, insertion.elements.last!)
    return elements.contains { first < $0 && $0 < last && !insertion.elements.contains($0) }
  }
}

extension KnownChange {
  /// What it takes back of a note's text.
  func withdrawn(in note: NoteID) -> [ChangeRanges] {
    change.operations.compactMap {
      if case .edit(note, .withdraw(let changes)) = $0 { changes } else { nil }
    }
  }
}

/// The order of all elements, as a tree ("The order").
private struct OrderTree {
  private struct Node {
    var byte: UInt8
    var time: LamportTimestamp
    var left: ElementID?
    var right: ElementID?
    var leftChildren: [ElementID] = []
    var rightChildren: [ElementID] = []
  }

  private var nodes: [ElementID: Node] = [:]
  private var roots: [ElementID] = []

  var document: [ElementID] { roots.flatMap { subtree($0) } }

  private func subtree(_ id: ElementID) -> [ElementID] {
    let node = nodes[id]!
    return node.leftChildren.flatMap { subtree($0) } + [id]
      + node.rightChildren.flatMap { subtree($0) }
  }

  /// Of two insertions at one place, a word stands before blanks, and these before line ends, unless that is behind one; then the newest.
  private func isFirst(_ one: Node, _ other: Node) -> Bool {
    func rank(_ node: Node) -> Int {
      guard let left = node.left, nodes[left]!.byte != 32, !(9...13).contains(nodes[left]!.byte)
      else { return 0 }
      return [10, 13].contains(node.byte) ? 2 : [9, 11, 12, 32].contains(node.byte) ? 1 : 0
    }
    return (-rank(one), one.time.count, one.time.replica)
      > (-rank(other), other.time.count, other.time.replica)
  }

  mutating func insert(
    _ id: ElementID, _ byte: UInt8, at time: LamportTimestamp, left: ElementID?, right: ElementID?
  ) {
    let node = Node(byte: byte, time: time, left: left, right: right)
    if let right, nodes[right]!.left == left {
      let siblings = nodes[right]!.leftChildren
      let place = siblings.firstIndex { isFirst(node, nodes[$0]!) } ?? siblings.count
      nodes[right]!.leftChildren.insert(id, at: place)
    } else {
      let siblings = left.map { nodes[$0]!.rightChildren } ?? roots
      let document = siblings.isEmpty ? [] : document
      func position(_ id: ElementID?) -> Int {
        id.map { document.firstIndex(of: $0)! } ?? document.count
      }
      let place = siblings.firstIndex { sibling in
        let other = nodes[sibling]!
        if other.right == right { return isFirst(node, other) }
        return position(right) > position(other.right)
      }
      if let left {
        nodes[left]!.rightChildren.insert(id, at: place ?? siblings.count)
      } else {
        roots.insert(id, at: place ?? siblings.count)
      }
    }
    nodes[id] = node
  }
}
