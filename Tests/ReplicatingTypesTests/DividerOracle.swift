import ReplicatingTypes

/// What Dividers.swift says, with lists of elements and from scratch for every set of changes. It knows nothing of separators that are
/// spared, nor of copies.
struct DividerOracle {
  /// How the oracle is written wrong, to show that it can differ.
  enum Mistake: CaseIterable {
    case allAreShown
    case noneIsShown
    case withoutTheWorldOfTheOther
    case withoutTheOwnWorld
    case withoutExtent
    case extentBeyondWhatWasRemoved
    case extentThatEndsAtWhatOthersRemoved
    case withoutSiblings
    case siblingsThatReplaceNothing
    case besideWhiteSpace
    case betweenDividers
    case removedByOthers
    case ofWithdrawnChanges
    case besideWithdrawnChanges
  }

  private struct Element {
    var id: ElementID
    var byte: UInt8
    var inserter: Int
    var left: ElementID?
    var removers: [Int] = []
    var isDivider = false
  }

  private struct Insertion {
    var change: Int
    var left: ElementID?
    /// The places of the first element, and of the divider.
    var first: Int
    var divider: [Int]
  }

  private let mistake: Mistake?
  private let ids: [ChangeID]
  private let isKnown: [[Bool]]
  private let withdrawn: [ChangeRanges]
  private let document: [Element]
  private let places: [ElementID: Int]
  private let insertions: [Insertion]

  init(of changes: [SharedChange], mistake: Mistake? = nil) {
    self.mistake = mistake
    ids = changes.map(\.id)
    isKnown = changes.map { later in changes.map { later.past.contains($0.id) } }
    withdrawn = changes.map(\.withdrawn)
    var tree = FugueTree<UInt8>()
    var elements: [ElementID: Element] = [:]
    var counts: [ReplicaID: Int] = [:]
    var dividing: [(change: Int, left: ElementID?, ids: [ElementID], count: Int)] = []
    for (index, change) in changes.enumerated() {
      let author = change.id.replica
      var time = change.stamp.lamport
      for operation in change.operations {
        switch operation {
        case .insert(let bytes, let left, let right, let divider):
          var previous = left
          var ids: [ElementID] = []
          for (place, byte) in bytes.enumerated() {
            let id = ElementID(author: author, offset: counts[author, default: 0])
            counts[author, default: 0] += 1
            tree.integrate(
              FugueTree.Insertion(
                id: id, time: LamportTimestamp(count: time, replica: author), left: previous,
                right: right, value: byte))
            let isDivider = place >= bytes.count - divider
            elements[id] = Element(
              id: id, byte: byte, inserter: index, left: previous,
              removers: isDivider ? [index] : [], isDivider: isDivider)
            previous = id
            ids.append(id)
            time += 1
          }
          if divider > 0 { dividing.append((index, left, ids, divider)) }
        case .remove(let range):
          for offset in range.offset..<range.end {
            elements[ElementID(author: range.author, offset: offset)]!.removers.append(index)
          }
        }
      }
    }
    let document = tree.document.map { elements[$0]! }
    self.document = document
    let places = Dictionary(
      uniqueKeysWithValues: document.enumerated().map { ($0.element.id, $0.offset) })
    self.places = places
    insertions = dividing.map { change, left, ids, count in
      Insertion(
        change: change, left: left, first: places[ids[0]]!,
        divider: ids.suffix(count).map { places[$0]! })
    }
  }

  func text(of version: Version) -> String {
    let all = ids.indices.filter { version.contains(ids[$0]) }
    var gone: Set<Int> = []
    // What names a change comes behind it.
    for change in all.reversed() where !gone.contains(change) {
      for run in withdrawn[change].runs {
        gone.formUnion(
          all.filter {
            ids[$0].replica == run.replica && run.numbers.contains(ids[$0].number)
          })
      }
    }
    let members = Set(all).subtracting(gone)
    let everything = Set(all)
    let divided = insertions.filter {
      (mistake == .ofWithdrawnChanges ? everything : members).contains($0.change)
        && isCalledFor($0, mistake == .besideWithdrawnChanges ? everything : members)
    }
    let shown = Set(divided.flatMap(\.divider))
    let bytes = document.indices.filter { place in
      let element = document[place]
      let removers = element.removers.filter { members.contains($0) }
      guard members.contains(element.inserter) else {
        return mistake == .ofWithdrawnChanges && shown.contains(place)
      }
      if removers.isEmpty { return true }
      return shown.contains(place)
        && (mistake == .removedByOthers || removers.allSatisfy { $0 == element.inserter })
    }
    return String(decoding: bytes.map { document[$0].byte }, as: UTF8.self)
  }

  private func knows(_ change: Int, _ other: Int) -> Bool {
    change == other || isKnown[change][other]
  }

  /// Whether the element at a place is in the text of the world of a change.
  private func isThere(_ place: Int, inWorldOf change: Int, _ members: Set<Int>) -> Bool {
    func isInWorld(_ other: Int) -> Bool {
      members.contains(other) && (other == change || !isKnown[other][change])
    }
    let element = document[place]
    return isInWorld(element.inserter) && !element.removers.contains(where: isInWorld)
  }

  private func isCalledFor(_ insertion: Insertion, _ members: Set<Int>) -> Bool {
    if mistake == .allAreShown { return true }
    if mistake == .noneIsShown { return false }
    guard let pair = pair(insertion, members) else { return false }
    if mistake == .betweenDividers { return true }
    let others = insertions.filter {
      members.contains($0.change) && pair.last < $0.divider[0]
        && $0.divider[0] < insertion.divider[0]
    }
    return !others.contains {
      self.pair($0, members).map { $0.first > insertion.divider.last! } ?? false
    }
  }

  /// The last element in front of a divider and the first one behind it that it is to divide.
  private func pair(_ insertion: Insertion, _ members: Set<Int>) -> (last: Int, first: Int)? {
    let change = insertion.change
    let first = extent(of: insertion, members).first { place in
      !knows(change, document[place].inserter)
        && (mistake == .withoutTheOwnWorld
          ? !document[place].removers.contains(where: members.contains)
          : isThere(place, inWorldOf: change, members))
    }
    guard let first else { return nil }
    let other = document[first].inserter
    let span = insertion.first..<insertion.divider[0]
    let last = span.last { place in
      members.contains(document[place].inserter)
        && (mistake == .withoutTheWorldOfTheOther
          ? !document[place].removers.contains(where: members.contains)
          : isThere(place, inWorldOf: other, members))
    }
    guard let last else { return nil }
    let ends: [UInt8] = [0x0A, 0x0D]
    let isLine = insertion.divider.contains { ends.contains(document[$0].byte) }
    let white: [UInt8] = isLine ? ends : ends + [0x20, 0x09]
    if mistake != .besideWhiteSpace,
      white.contains(document[first].byte) || white.contains(document[last].byte)
    {
      return nil
    }
    return (last, first)
  }

  private func extent(of insertion: Insertion, _ members: Set<Int>) -> [Int] {
    let change = insertion.change
    var stretch: [Int] = []
    for place in document.indices where place > insertion.divider.last! {
      let element = document[place]
      guard members.contains(element.inserter) else { continue }
      if knows(change, element.inserter) {
        let removers = element.removers.filter { members.contains($0) }
        let isLeft =
          mistake == .extentThatEndsAtWhatOthersRemoved
          ? !removers.contains(change) : !removers.contains { knows(change, $0) }
        if isLeft { break }
      }
      stretch.append(place)
    }
    if mistake == .withoutExtent { return [] }
    if mistake == .extentBeyondWhatWasRemoved { return stretch }
    if let end = stretch.lastIndex(where: { document[$0].removers.contains(change) }) {
      return Array(stretch[...end])
    }
    guard let left = insertion.left, mistake != .withoutSiblings,
      document[places[left]!].removers.contains(change)
    else { return [] }
    var siblings: [Int] = []
    var isSibling = false
    for place in stretch where !knows(change, document[place].inserter) {
      let element = document[place]
      if element.left == left {
        isSibling =
          mistake == .siblingsThatReplaceNothing
          || document[places[left]!].removers.contains(element.inserter)
        if !isSibling { break }
      } else if element.left.map({ places[$0]! < insertion.divider.last! }) ?? true {
        break
      }
      if isSibling { siblings.append(place) }
    }
    return siblings
  }
}
