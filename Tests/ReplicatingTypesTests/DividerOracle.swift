import ReplicatingTypes

/// The rule on dividers of the README ("What stands between two replacements"), with lists and from scratch for every set of changes, written by
/// an author that had the text and not the implementation. It knows nothing of separators that are spared, nor of copies.
///
/// Where the text can be read in several ways, it is read thus:
/// - "Directly behind D" is the run of elements of siblings, and of what was written behind one of their elements, by anybody, up to the first
///   of another author that c has not seen removed.
/// - With a line end anywhere in D, blanks as u or v do not matter. If u or v is white, no other one is looked for.
/// - A divider between u and D counts with its own u and v, whether or not it is shown.
/// - Each element of a divider is shown or not by itself: no change but c may have removed it.
/// - What a withdrawn change inserted is not there, and what it removed is not removed. That c removed such an element still counts.
struct DividerOracle {
  /// How the oracle is written wrong, to show that it can differ.
  enum Mistake: CaseIterable {
    case allAreShown
    case noneIsShown
    case withoutTheWorldOfTheOther
    case withoutTheOwnWorld
    case withoutExtent
    case extentBeyondWhatWasRemoved
    case extentUpToWhatWasRemoved
    case extentThatEndsAtWhatOthersRemoved
    case withoutSiblings
    case siblingsThatReplaceNothing
    case besideWhiteSpace
    case betweenDividers
    case removedByOthers
    case ofWithdrawnChanges
    case besideWithdrawnChanges
  }

  private struct Insertion {
    /// The places of its elements in the text, the divider's last.
    var elements: [Int]
    var left: Int?
    var dividerCount: Int
    var divider: [Int] { Array(elements.suffix(dividerCount)) }
  }

  private struct Change {
    var id: ChangeID
    var withdrawn: ChangeRanges
    /// The changes that it knows.
    var known: Set<Int>
    var insertions: [Insertion] = []
    /// The places of the elements that it removed, its dividers among them.
    var removed: Set<Int> = []
  }

  private let mistake: Mistake?
  private let changes: [Change]
  /// By place in the text.
  private let bytes: [UInt8]
  private let inserters: [Int]

  init(of changes: [SharedChange], mistake: Mistake? = nil) {
    self.mistake = mistake
    var tree = FugueTree<UInt8>()
    var counts: [ReplicaID: Int] = [:]
    var byteOf: [ElementID: UInt8] = [:]
    var inserterOf: [ElementID: Int] = [:]
    var insertions: [(change: Int, ids: [ElementID], left: ElementID?, divider: Int)] = []
    for (index, change) in changes.enumerated() {
      let author = change.id.replica
      var time = change.stamp.lamport
      for case .insert(let bytes, let left, let right, let divider) in change.operations {
        var ids: [ElementID] = []
        for byte in bytes {
          let id = ElementID(author: author, offset: counts[author, default: 0])
          counts[author, default: 0] += 1
          tree.integrate(
            FugueTree.Insertion(
              id: id, time: LamportTimestamp(count: time, replica: author), left: ids.last ?? left,
              right: right, value: byte))
          (byteOf[id], inserterOf[id]) = (byte, index)
          ids.append(id)
          time += 1
        }
        insertions.append((index, ids, left, divider))
      }
    }
    let document = tree.document
    let places = Dictionary(
      uniqueKeysWithValues: document.enumerated().map { ($0.element, $0.offset) })
    bytes = document.map { byteOf[$0]! }
    inserters = document.map { inserterOf[$0]! }
    var all = changes.map { change in
      Change(
        id: change.id, withdrawn: change.withdrawn,
        known: Set(changes.indices.filter { change.past.contains(changes[$0].id) }))
    }
    for (index, ids, left, divider) in insertions {
      let insertion = Insertion(
        elements: ids.map { places[$0]! }, left: left.map { places[$0]! }, dividerCount: divider)
      all[index].insertions.append(insertion)
      all[index].removed.formUnion(insertion.divider)
    }
    for (index, change) in changes.enumerated() {
      for case .remove(let range) in change.operations {
        for offset in range.offset..<range.end {
          all[index].removed.insert(places[ElementID(author: range.author, offset: offset)]!)
        }
      }
    }
    self.changes = all
  }

  func text(of version: Version) -> String {
    let all = Set(changes.indices.filter { version.contains(changes[$0].id) })
    var gone: Set<Int> = []
    // What names a change comes behind it.
    for change in all.sorted(by: >) where !gone.contains(change) {
      for run in changes[change].withdrawn.runs {
        gone.formUnion(
          all.filter {
            changes[$0].id.replica == run.replica && run.numbers.contains(changes[$0].id.number)
          })
      }
    }
    // Those that are withdrawn are as if they were not in S.
    let s = all.subtracting(gone)
    let asked = mistake == .besideWithdrawnChanges ? all : s
    var result: [UInt8] = []
    for place in bytes.indices {
      let inserter = inserters[place]
      guard s.contains(inserter) || mistake == .ofWithdrawnChanges && all.contains(inserter) else {
        continue
      }
      let removers = s.filter { changes[$0].removed.contains(place) }
      let isOwn = removers.isSubset(of: [inserter]) || mistake == .removedByOthers
      let dividing = changes[inserter].insertions.first { $0.divider.contains(place) }
      if let dividing {
        if isOwn, isCalledFor(dividing, of: inserter, asked) { result.append(bytes[place]) }
      } else if removers.isEmpty, s.contains(inserter) {
        result.append(bytes[place])
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  // MARK: - What is called for

  private func isCalledFor(_ insertion: Insertion, of c: Int, _ s: Set<Int>) -> Bool {
    if mistake == .allAreShown { return true }
    guard mistake != .noneIsShown, let pair = pair(of: insertion, of: c, s) else { return false }
    let own = insertion.divider
    for other in s where mistake != .betweenDividers {
      for insertion in changes[other].insertions where insertion.dividerCount > 0 {
        let divider = insertion.divider
        // All of it stands between u and D, and the same holds for it.
        if divider != own, divider.allSatisfy({ pair.u < $0 && $0 < own.first! }),
          let pair = self.pair(of: insertion, of: other, s), pair.v > own.last!
        {
          return false
        }
      }
    }
    return true
  }

  /// The u and v of an insertion by c, if there are both and they need dividing.
  private func pair(of insertion: Insertion, of c: Int, _ s: Set<Int>) -> (u: Int, v: Int)? {
    guard insertion.dividerCount > 0 else { return nil }
    let (extent, last) = extent(of: insertion, of: c, s)
    let v = extent.first {
      inserters[$0] != c && !changes[c].known.contains(inserters[$0])
        && isInText(ofWorldOf: mistake == .withoutTheOwnWorld ? nil : c, $0, s)
    }
    guard let v else { return nil }
    if let last, v > last, mistake != .extentBeyondWhatWasRemoved {
      let common = changes[c].removed.filter { insertion.divider.last! < $0 && $0 <= last }
      if common.isDisjoint(with: changes[inserters[v]].removed) { return nil }
      if mistake == .extentUpToWhatWasRemoved { return nil }
    }
    let d = mistake == .withoutTheWorldOfTheOther ? nil : inserters[v]
    let span = insertion.elements[0]..<insertion.divider[0]
    guard let u = span.last(where: { isInText(ofWorldOf: d, $0, s) }) else { return nil }
    func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
    func isWhite(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    let hasLineEnd = insertion.divider.contains { isLineEnd(bytes[$0]) }
    let divides = hasLineEnd ? isLineEnd : isWhite
    if mistake != .besideWhiteSpace, divides(bytes[u]) || divides(bytes[v]) { return nil }
    return (u, v)
  }

  /// The extent of an insertion by c, and the last element of it that c removed.
  private func extent(
    of insertion: Insertion, of c: Int, _ s: Set<Int>
  ) -> (elements: [Int], last: Int?) {
    if mistake == .withoutExtent { return ([], nil) }
    let removed = changes[c].removed
    // Up to the first that is in the text after c.
    let before = (insertion.divider.last! + 1..<bytes.count).prefix { !isInText(after: c, $0, s) }
    if let last = before.last(where: removed.contains) { return (Array(before), last) }
    // c removed none there, but the left origin.
    guard let origin = insertion.left, removed.contains(origin), mistake != .withoutSiblings else {
      return ([], nil)
    }
    let siblings = siblings(of: c, behind: origin, s)
    // What c has seen removed is stepped over, as is what is not there, and what those wrote who know c.
    let others = before.filter { place in
      s.contains(inserters[place]) && !changes[c].known.contains(inserters[place])
        && !changes[inserters[place]].known.contains(c)
    }
    return (Array(others.prefix { siblings.contains($0) }), nil)
  }

  /// The elements of siblings, with what was written behind these, withdrawn or not.
  private func siblings(of c: Int, behind origin: Int, _ s: Set<Int>) -> Set<Int> {
    var result: Set<Int> = []
    for other in s where other != c && !changes[c].known.contains(other) {
      if !changes[other].removed.contains(origin), mistake != .siblingsThatReplaceNothing {
        continue
      }
      for insertion in changes[other].insertions where insertion.left == origin {
        result.formUnion(insertion.elements)
      }
    }
    var grows = true
    while grows {
      grows = false
      for insertion in changes.flatMap(\.insertions) {
        guard let left = insertion.left, result.contains(left),
          !result.isSuperset(of: insertion.elements)
        else { continue }
        result.formUnion(insertion.elements)
        grows = true
      }
    }
    return result
  }

  // MARK: - Terms

  /// True if an element is in the text after a change.
  private func isInText(after c: Int, _ place: Int, _ s: Set<Int>) -> Bool {
    let known = changes[c].known.union([c]).intersection(s)
    guard known.contains(inserters[place]) else { return false }
    let removers = mistake == .extentThatEndsAtWhatOthersRemoved ? [c] : known
    return !removers.contains { changes[$0].removed.contains(place) }
  }

  /// True if an element is in the text of the world of a change; of all changes if there is none.
  private func isInText(ofWorldOf c: Int?, _ place: Int, _ s: Set<Int>) -> Bool {
    let world = s.filter { c == nil || $0 == c || !changes[$0].known.contains(c!) }
    return world.contains(inserters[place])
      && !world.contains { changes[$0].removed.contains(place) }
  }
}
